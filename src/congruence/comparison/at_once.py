"""One measure of two vectors without options, from one count of sums: the shortest row of the table of plans."""

from __future__ import annotations

import numpy as np

from congruence.engine import plan
from congruence.engine.cpu import OF_SUMS, sums_of
from congruence.formulas.record import Measure
from congruence.inputs.vectors import vector_of
from congruence.statistics.sums import Sums
from congruence.typing import ClusteringLike, DeviceArray


def value_at_once(measure: Measure, a: ClusteringLike, b: ClusteringLike) -> float | None:
    """The measure of two vectors of labels, with the same bits as `compare`; None if `compare` has to read them."""
    if measure.needs not in OF_SUMS or plan.AUTO is not None:
        return None
    (x, of_x), (y, of_y) = vector_of(a), vector_of(b)
    if x is None or y is None or not 1 < len(x) == len(y) or not (of_x is None or of_y is None or of_x.equals(of_y)):
        return None
    on_host = [isinstance(v, np.ndarray) for v in (x, y)]
    if any(on_host) and not all(on_host):
        return None
    sums = (sums_of if on_host[0] else _sums_on_card)(x, y, OF_SUMS[measure.needs])
    return None if sums is None else measure.value(measure.needs.of_sums(sums))  # type: ignore[attr-defined]


def _sums_on_card(a: DeviceArray, b: DeviceArray, entropies: bool) -> Sums | None:
    from congruence.engine.cuda.vectors import sums_of

    return sums_of(a, b, entropies)
