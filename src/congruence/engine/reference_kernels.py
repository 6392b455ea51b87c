"""The compiled counts of one vector against many, in a module of their own like `pair_kernels`."""

from __future__ import annotations

from congruence.engine.pair_kernels import LABELS, count_two
from congruence.machine.jit import of_types
from congruence.statistics.tables import Array


@of_types(f"void({LABELS}, Array(int64, 2, 'C', readonly=True), float64, int64[:, ::1])")
def count_to(reference: Array, others: Array, unit: float, found: Array) -> None:
    """For each row of labels, the numbers of `count_two` for the reference and it."""
    for i in range(len(others)):
        sums = count_two(reference, others[i], unit)
        for c in range(len(sums)):
            found[i, c] = sums[c]
