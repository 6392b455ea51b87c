"""One measure of two vectors without options, from one count of sums: the shortest row of the table of plans."""

from __future__ import annotations

from congruence.engine import plan
from congruence.engine.cpu import OF_SUMS, sums_of
from congruence.formulas.record import Measure
from congruence.inputs.vectors import vector_of
from congruence.typing import ClusteringLike


def value_at_once(measure: Measure, a: ClusteringLike, b: ClusteringLike) -> float | None:
    """The measure of two vectors of labels, with the same bits as `compare`; None if `compare` has to read them."""
    if measure.needs not in OF_SUMS or plan.AUTO is not None:
        return None
    (x, of_x), (y, of_y) = vector_of(a), vector_of(b)
    if x is None or y is None or not 1 < len(x) == len(y) or not (of_x is None or of_y is None or of_x.equals(of_y)):
        return None
    sums = sums_of(x, y, OF_SUMS[measure.needs])
    return None if sums is None else measure.value(measure.needs.of_sums(sums))  # type: ignore[attr-defined]
