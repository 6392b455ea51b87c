"""Write figures: HTML by plotly, images by matplotlib."""

from __future__ import annotations

from pathlib import Path
from typing import Any

#: files that matplotlib writes
IMAGES = (".png", ".pdf", ".svg")


def check_plot(path: Path | None) -> None:
    """Raise before any work is done if a figure cannot be written to this path."""
    from congruence import InputError
    from congruence.inputs import files

    if path is None:
        return
    if files.suffix_of(path) not in (".html", ".htm", *IMAGES):
        raise InputError(f"{path}: figures are written as .html, {', '.join(IMAGES[:-1])} or {IMAGES[-1]}")
    if not path.parent.is_dir():
        raise InputError(f"there is no folder {path.parent} to write {path.name} in")


def write_plot(result: Any, path: Path, **options: Any) -> str:
    """Write the figure of a result, whole or not at all; returns what was done, in words."""
    from congruence.inputs import files

    part = path.with_name(path.name + ".part")
    if files.suffix_of(path) in IMAGES:
        result.plot("matplotlib", **options).savefig(part, format=files.suffix_of(path)[1:], dpi=200)
    else:
        result.plot(**options).write_html(part, include_plotlyjs=True)
    part.replace(path)
    return f"wrote {path}"
