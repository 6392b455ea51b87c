"""One measure of two vectors without options, from one count of sums: the shortest row of the table of plans."""

from __future__ import annotations

import numpy as np

from congruence.engine import plan
from congruence.engine.vectors import sums_of
from congruence.formulas.record import Measure
from congruence.statistics.information import Info
from congruence.statistics.pairs import Gram, Pairs
from congruence.statistics.tables import Array
from congruence.typing import ClusteringLike

#: statistics that follow from sums, and whether these include entropies
OF_SUMS: dict[type, bool] = {Pairs: False, Gram: False, Info: True}


def value_at_once(measure: Measure, a: ClusteringLike, b: ClusteringLike) -> float | None:
    """The measure of two vectors of labels, with the same bits as `compare`; None if `compare` has to read them."""
    if measure.needs not in OF_SUMS or plan.AUTO is not None:
        return None
    x, y = _vector(a), _vector(b)
    if x is None or y is None or not 1 < len(x) == len(y):
        return None
    sums = sums_of(x, y, OF_SUMS[measure.needs])
    return None if sums is None else measure.value(measure.needs.of_sums(sums))  # type: ignore[attr-defined]


def _vector(data: ClusteringLike) -> Array | None:
    """Integers that are equal where labels are; None for all that needs a check."""
    if type(data) is np.ndarray and data.ndim == 1 and data.dtype.kind in "iu":
        return data
    return None
