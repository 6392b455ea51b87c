"""One measure of two vectors without options, from one count of sums: the shortest row of the table of plans."""

from __future__ import annotations

from collections.abc import Collection

from congruence.engine import plan
from congruence.engine.vectors import sums_of
from congruence.formulas.record import Measure
from congruence.inputs.vectors import vector_of
from congruence.statistics import Statistic
from congruence.statistics.information import MOST_IN_UNITS, ChanceInfo, Info, sums_of_parts
from congruence.statistics.pairs import Gram, Pairs
from congruence.statistics.tables import Tables
from congruence.typing import ClusteringLike

#: statistics that follow from sums, and whether these include entropies
OF_SUMS: dict[type, bool] = {Pairs: False, Gram: False, Info: True}


def value_at_once(measure: Measure, a: ClusteringLike, b: ClusteringLike) -> float | None:
    """The measure of two vectors of labels, with the same bits as `compare`; None if `compare` has to read them."""
    if measure.needs not in OF_SUMS or plan.AUTO is not None:
        return None
    (x, of_x), (y, of_y) = vector_of(a), vector_of(b)
    if x is None or y is None or not 1 < len(x) == len(y) or not (of_x is None or of_y is None or of_x.equals(of_y)):
        return None
    sums = sums_of(x, y, OF_SUMS[measure.needs])
    return None if sums is None else measure.value(measure.needs.of_sums(sums))  # type: ignore[attr-defined]


def statistics_of_one(t: Tables, kinds: Collection[type]) -> dict[type, Statistic]:
    """The statistics of these kinds of a tile of one pair: in numbers, if it is a table of counts and they follow from sums."""
    if t.count.dtype.kind not in "iu" or t.maps is not None or t.n[0] >= MOST_IN_UNITS:
        return {kind: kind.from_tables(t) for kind in kinds}  # type: ignore[attr-defined]
    sums = sums_of_parts(int(t.n[0]), t.count, *t.margins, bool({Info, ChanceInfo} & set(kinds)))
    found: dict[type, Statistic] = {}
    for kind in kinds:
        if kind is ChanceInfo:
            found[kind] = ChanceInfo.of_margins(sums, *t.margins)
        else:
            found[kind] = kind.of_sums(sums) if kind in OF_SUMS else kind.from_tables(t)  # type: ignore[attr-defined]
    return found
