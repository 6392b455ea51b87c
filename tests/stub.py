"""Writes `congruence/__init__.pyi` from the public names and the registry: `python -m tests.stub`, then `ruff format`."""

from __future__ import annotations

from pathlib import Path

import congruence as cg
from congruence.formulas import find, names

KIND = {bool: "bool", float: "float", int: "int | None", str: "str"}


def stub() -> str:
    """The text of the stub: every public name from its home, and one function a measure."""
    lines = [
        '"""Types of the public names; `congruence/__init__.py` imports them when they are first asked for."""',
        "",
    ]
    lines += ["from typing import Any", ""]
    for home, public in sorted(cg._HOMES.items()):
        lines += [f"from congruence.{home} import (", *(f"    {name} as {name}," for name in sorted(public)), ")"]
    lines += ["", "__version__: str", "__all__: list[str]", ""]
    lines += ["def measure(name: str | Measure, **parameters: Any) -> Measure: ..."]
    for name in names():
        record = find(name)
        function = "lambda_statistic" if name == "lambda" else name
        if record.is_lone:
            lines.append(f"def {function}(x: Any, *, missing: str = ..., threads: int | None = ...) -> float: ...")
            continue
        if record.family == "profiles":
            lines.append(f"def {function}(a: Any, b: Any, X: Any = ..., X_b: Any = ..., **options: Any) -> float: ...")
            continue
        extra = "".join(f", {key}: {KIND[type(value)]} = ..." for key, value in record.parameters.items())
        star = f", *{extra}" if extra else ""
        lines.append(f"def {function}(a: Any, b: Any{star}, **options: Any) -> float: ...")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    Path(cg.__file__).with_suffix(".pyi").write_text(stub(), encoding="utf-8")
