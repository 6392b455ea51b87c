"""Writes `congruence/__init__.pyi` from the public names and the signatures of the code: `python -m tests.stub`."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterable, Mapping
from pathlib import Path

import congruence as cg
from congruence import typing
from congruence.comparison.pair import PairKeywords
from congruence.consensus_clustering.method_names import ALIASES, METHODS
from congruence.formulas import names

#: options that all measures of a pair share
PAIR = PairKeywords.__annotations__
HEAD = '''"""Types of the public names; `congruence/__init__.py` imports them on first use. Written by `python -m tests.stub`."""

# fmt: off
from collections.abc import Sequence
from typing import Literal, Protocol, TypeAlias, Unpack, overload

from congruence.comparison.pair import PairKeywords
from congruence.inputs.kinds import Unassigned'''


def stub() -> str:
    """The text of the stub: every public name from its module, and every measure with its options and first sentence."""
    kinds: dict[str, str] = {}
    groups: dict[tuple[str, str], list[str]] = {}
    for name in names():
        function = "lambda_statistic" if name == "lambda" else name
        value = getattr(cg, function)
        kind = kinds.setdefault(protocol(value), f"_{name.title().replace('_', '')}Function")
        groups.setdefault((kind, inspect.getdoc(value).splitlines()[0]), []).append(function)
    shared = sorted({kind for (kind, _), group in groups.items() if len(group) > 1})
    functions = ["", *(f"{kind.lower()}: {kind}" for kind in shared)]
    for (kind, first), group in groups.items():  # a measure with its aliases
        made = f"{group[0]}: {kind}" if len(group) == 1 else f"{' = '.join(group)} = {kind.lower()}"
        functions += [made, f'"""{first}"""']
    body = [
        "__version__: str", listed("__all__ = [", cg.__all__, "]"), "",
        "#: keys and aliases of the measures, and the consensus methods",
        listed("MeasureName: TypeAlias = Literal[", names(), "]"),
        listed("MethodName: TypeAlias = Literal[", ["auto", *METHODS, *ALIASES], "]"), "",
        "def measure(name: str | Measure, **parameters: OptionValue) -> Measure: ...", "",
        *(text.replace("_Kind", kind) for text, kind in kinds.items()), *functions,
    ]  # fmt: skip
    words = set(re.findall(r"\w+", "\n".join(body)))
    types = ", ".join(sorted(words & typing.__annotations__.keys()))
    homes = (f"from congruence.{home} import {', '.join(sorted(public))}" for home, public in sorted(cg._HOMES.items()))
    return "\n".join([HEAD, f"from congruence.typing import {types}", *homes, "", *body]) + "\n"


def listed(first: str, values: Iterable[str], last: str) -> str:
    """A list of texts on as many lines as it needs."""
    text = textwrap.fill(", ".join(f'"{x}"' for x in values), 128, initial_indent="    ", subsequent_indent="    ")
    return f"{first}\n{text},\n{last}"


def protocol(function: object) -> str:
    """The type of a measure's function; functions with equal options share it."""
    given = inspect.signature(function).parameters
    head = "class _Kind(Protocol):\n"
    if "b" not in given or "X" in given:
        return f"{head}    def __call__(\n        self, {arguments(given)}\n    ) -> float: ..."
    own = {name: p.annotation for name, p in given.items() if p.kind is p.KEYWORD_ONLY and name not in PAIR}
    options = "_" + next(iter(own)).partition("_")[0].title() if own else "PairKeywords"
    mine = f"class {options}(PairKeywords, total=False):\n" * bool(own)
    fields = "".join(f"    {name}: {kind}\n" for name, kind in own.items())
    sides = ("a: ClusteringLike, b: ClusteringLike", "*, labels_true: ClusteringLike, labels_pred: ClusteringLike")
    calls = (f"    @overload\n    def __call__(self, {x}, **options: Unpack[{options}]) -> float: ..." for x in sides)
    return mine + fields + head + "\n".join(calls)


def arguments(given: Mapping[str, inspect.Parameter]) -> str:
    """Parameters as text, with annotations as they are written and defaults left out."""
    parts, star = [], False
    for p in given.values():
        if p.kind is p.KEYWORD_ONLY and not star:
            parts, star = [*parts, "*"], True
        parts.append(f"{p.name}: {p.annotation}" + (" = ..." if p.default is not p.empty else ""))
    return textwrap.fill(", ".join(parts), 112, subsequent_indent=" " * 8)


def said_by(text: str) -> set[str]:
    """The content of a stub regardless of order and layout: one entry per name."""
    found = set()
    for node in ast.parse(text).body:
        if isinstance(node, ast.ImportFrom):
            found |= {f"from {node.module} import {ast.unparse(name)}" for name in node.names}
        else:
            found.add(ast.unparse(node))
    return found


def sorted_imports() -> str:
    """The stub with imports as ruff sorts them."""
    return subprocess.run(
        [sys.executable, "-m", "ruff", "check", "--fix-only", "--select", "I", "-q", "--stdin-filename", "src/a.pyi", "-"],
        input=stub(), capture_output=True, text=True, encoding="utf-8", cwd=Path(__file__).parents[1],
    ).stdout  # fmt: skip


if __name__ == "__main__":
    Path(cg.__file__).with_suffix(".pyi").write_text(sorted_imports(), encoding="utf-8")
