"""One function per measure: `cg.ari(a, b)`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from congruence.formulas import find
from congruence.inputs.memberships import Memberships
from congruence.inputs.similarity import Similarity


def scorer(key: str) -> Callable[..., float]:
    """The function of one measure: `scorer("ari")(a, b)` is the adjusted Rand index."""
    record = find(key)

    def score(a: Any, b: Any, **options: Any) -> float:
        own = {name: options.pop(name) for name in list(options) if name in record.parameters}
        if record.family == "matrices":
            a, b = (_as_matrix(x, who) for x, who in ((a, "a"), (b, "b")))
        return find(record, **own)(a, b, **options)

    score.__name__ = score.__qualname__ = "lambda_statistic" if key == "lambda" else key
    score.__module__ = "congruence"
    low, high = record.range
    sides = "[0, 0, 1, 1], [0, 1, 1, 0]"
    if record.family == "trees":
        sides = "cg.Hierarchy([[0, 1], [2, 3]]), cg.Hierarchy([[0, 1, 2], [3]])"
    parameters = "".join(f", {name}={value!r}" for name, value in record.parameters.items())
    score.__doc__ = (
        f"{record.title}: {record.better} is better, {low:g} to {high:g}.\n\n"
        f"    {score.__name__}(a, b{parameters}, **options of compare) → float\n\n"
        f"    {'; '.join(record.definition)}\n\n{record.formula.__doc__}\n"
        + (f"\nCaution: {record.caution}.\n" if record.caution else "")
        + f"\n>>> import congruence as cg\n>>> isinstance(cg.{score.__name__}({sides}), float)\nTrue\n"
    )
    return score


def _as_matrix(x: Any, who: str) -> Any:
    """Take square arrays as matrices in measures of matrices; `compare` needs `cg.Similarity`."""
    shape: Any = getattr(x, "shape", ())
    square = len(shape) == 2 and shape[0] == shape[1] and shape[0] > 1
    return Similarity(x, who=who) if square and not isinstance(x, Memberships) else x
