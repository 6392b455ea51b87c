"""One count of two vectors of integers that gives sums only, without a table and without names of clusters."""

from __future__ import annotations

import numpy as np

from congruence.engine.cpu import dense_in_place
from congruence.machine import jit
from congruence.statistics.information import sums_of_parts, unit_of_points
from congruence.statistics.sums import Sums
from congruence.statistics.tables import Array

KERNEL = "congruence.engine.pair_kernels"
#: what one pair costs in numpy besides counting, in increments: a process that compares many pairs loads the kernel
PER_PAIR = 50_000
#: numbers of points that are counted in one thread; larger tables are counted in threads
MOST = 2_000_000


def sums_of(a: Array, b: Array, entropies: bool) -> Sums | None:
    """The sums of the table of two vectors of integers; None if their ranges are too wide to count by distance."""
    n = len(a)
    if n <= MOST and jit.use_kernels(n + PER_PAIR, KERNEL):
        from congruence.engine.pair_kernels import count_two

        unit = unit_of_points(n) if entropies else 0.0
        found = count_two(np.ascontiguousarray(a, np.int64), np.ascontiguousarray(b, np.int64), unit)
        return Sums(n, *found) if found[0] else None
    counted = dense_in_place(a, b, None)
    if counted is None:
        return None
    table = counted[2]
    return sums_of_parts(n, table.ravel(), table.sum(axis=1), table.sum(axis=0), entropies)
