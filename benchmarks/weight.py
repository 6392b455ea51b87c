"""Megabytes that `pip install congruence` puts on the disk, by package: `python -m benchmarks.weight`.

Sizes are those of the versions in this environment, without compiled Python files. The last column adds what only this package
brings.
"""

from __future__ import annotations

import re
import tomllib
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).parents[1]
NAME = re.compile(r"[A-Za-z0-9_.-]+")


def needed(requirements: list[str]) -> set[str]:
    """The packages of these requirements, and all that they need; extras and other platforms are left out."""
    found: set[str] = set()
    todo = [line for line in requirements if ";" not in line]
    while todo:
        name = NAME.match(todo.pop())[0].lower()  # type: ignore[index]
        if name not in found:
            found.add(name)
            todo += [line for line in metadata.requires(name) or [] if ";" not in line]
    return found


def megabytes(name: str) -> float:
    """Size of the files of a package."""
    files = (Path(str(file.locate())) for file in metadata.files(name) or [] if file.suffix != ".pyc")
    return sum(path.stat().st_size for path in files if path.exists()) / 1e6


def main() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    every = needed(project["dependencies"])
    size = {name: megabytes(name) for name in every}
    own = (
        sum(x.stat().st_size for x in (ROOT / "src").rglob("*.*") if x.is_file() and "__pycache__" not in x.parts) / 1e6
    )
    print(f"{'package':16} {'version':>9} {'MB':>6} {'with what only it brings':>26}")
    for name in sorted(every, key=lambda name: -size[name]):
        others = [line for line in project["dependencies"] if NAME.match(line)[0].lower() != name]  # type: ignore[index]
        only = every - needed(others) | {name}
        direct = len(others) < len(project["dependencies"])
        shown = f"{sum(size[x] for x in only):26.0f}" if direct else f"{'':26}"
        print(f"{name:16} {metadata.version(name):>9} {size[name]:6.1f} {shown}")
    print(f"{'congruence':16} {'':>9} {own:6.1f}")
    print(f"{'all':16} {'':>9} {sum(size.values()) + own:6.0f}")
    for extra in ("plot", "warehouse"):
        more = needed(project["optional-dependencies"][extra]) - every
        print(
            f"extra {extra:10} {'':>9} {sum(map(megabytes, more)):6.0f}   ({', '.join(sorted(more)) or 'with other extras'})"
        )


if __name__ == "__main__":
    main()
