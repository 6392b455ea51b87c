"""One function per measure: `cg.ari(a, b)`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from congruence.formulas import find
from congruence.formulas.docstrings import LABELS, OPTIONS, TREES, TWO, document
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

    is_tree = record.family == "trees"
    sides = "cg.Hierarchy([[0, 1], [2, 3]]), cg.Hierarchy([[0, 1, 2], [3]])" if is_tree else LABELS
    args = {**(TREES if is_tree else TWO), "options": OPTIONS}
    return document(score, key, record, args, sides, "`cg.compare` for several measures at once.")


def _as_matrix(x: Any, who: str) -> Any:
    """Take square arrays as matrices in measures of matrices; `compare` needs `cg.Similarity`."""
    shape: Any = getattr(x, "shape", ())
    square = len(shape) == 2 and shape[0] == shape[1] and shape[0] > 1
    return Similarity(x, who=who) if square and not isinstance(x, Memberships) else x
