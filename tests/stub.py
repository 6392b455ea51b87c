"""Writes `congruence/__init__.pyi` from the public names and the signatures of the code: `python -m tests.stub`."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
from pathlib import Path

import congruence as cg
from congruence import typing
from congruence.formulas import names


def stub() -> str:
    """The text of the stub: every public name from its module, and one function per measure with its signature."""
    lines = [
        '"""Types of the public names; `congruence/__init__.py` imports them on first use."""',
        "",
    ]
    lines += ["from collections.abc import Sequence", "from typing import Literal, Protocol, overload", ""]
    lines += ["from congruence.inputs.alignment import Align", "from congruence.inputs.kinds import Unassigned"]
    place = len(lines)
    for home, public in sorted(cg._HOMES.items()):
        lines += [f"from congruence.{home} import (", *(f"    {name} as {name}," for name in sorted(public)), ")"]
    lines += ["", "__version__: str", "__all__: list[str]", ""]
    lines += ["def measure(name: str | Measure, **parameters: OptionValue) -> Measure: ..."]
    plain = signature(cg.ari)
    lines += ["class _Pair(Protocol):", *(f"    {line}" for line in overloads("__call__", plain, "self, "))]
    for name in names():
        function = "lambda_statistic" if name == "lambda" else name
        text = signature(getattr(cg, function))
        if text == plain:
            lines.append(f"{function}: _Pair")
        elif "(a: ClusteringLike, b: ClusteringLike, *" in text:
            lines += overloads(function, text)
        else:
            lines.append(f"def {function}{text}: ...")
    words = set(re.findall(r"\w+", "\n".join(lines)))
    lines.insert(place, f"from congruence.typing import {', '.join(sorted(words & typing.__annotations__.keys()))}")
    return "\n".join(lines) + "\n"


def overloads(name: str, text: str, own: str = "") -> list[str]:
    """A function of two clusterings, which may also be called labels_true and labels_pred as in scikit-learn."""
    first = text.replace("(", f"({own}", 1)
    sides = "labels_true: ClusteringLike, labels_pred: ClusteringLike"
    named = text.replace("(a: ClusteringLike, b: ClusteringLike, *", f"({own}*, {sides}", 1)
    return ["@overload", f"def {name}{first}: ...", "@overload", f"def {name}{named}: ..."]


def signature(function: object) -> str:
    """A signature as text, with annotations as they are written and defaults left out."""
    found = inspect.signature(function)
    parts, star = [], False
    for p in found.parameters.values():
        if p.kind is p.KEYWORD_ONLY and not star:
            parts, star = [*parts, "*"], True
        mark = "**" if p.kind is p.VAR_KEYWORD else ""
        parts.append(f"{mark}{p.name}: {p.annotation}" + (" = ..." if p.default is not p.empty else ""))
    return f"({', '.join(parts)}) -> {found.return_annotation}"


def said_by(text: str) -> set[str]:
    """The content of a stub regardless of order and layout: one entry per name."""
    found = set()
    for node in ast.parse(text).body:
        if isinstance(node, ast.ImportFrom):
            found |= {f"from {node.module} import {ast.unparse(name)}" for name in node.names}
        else:
            found.add(ast.unparse(node))
    return found


def formatted() -> str:
    """The stub as ruff formats it."""
    ruff = [sys.executable, "-m", "ruff"]
    text = stub()
    for step in (["check", "--fix-only", "--select", "I"], ["format"]):
        text = subprocess.run(
            [*ruff, *step, "--quiet", "--stdin-filename", "src/congruence/__init__.pyi", "-"],
            input=text, capture_output=True, text=True, encoding="utf-8", cwd=Path(__file__).parents[1],
        ).stdout  # fmt: skip
    return text


if __name__ == "__main__":
    Path(cg.__file__).with_suffix(".pyi").write_text(formatted(), encoding="utf-8")
