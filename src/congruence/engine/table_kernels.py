"""The compiled count of one table of two vectors, and its sums, in a module of their own like `pair_kernels`."""

from __future__ import annotations

import numpy as np

from congruence.engine.pair_kernels import LABELS, dense, limits, over, unknown, zeros
from congruence.machine.jit import of_types
from congruence.statistics.tables import Array


@of_types(f"UniTuple(int64, 9)({LABELS}, {LABELS}, {LABELS}, int64, float64)")
def add_cells(cells: Array, rows: Array, columns: Array, n: int, unit: float) -> tuple[int, ...]:
    """The same sums of a table with these counts of cells, rows and columns."""
    known = unknown()
    filled, both, units_both = over(cells, n, unit, known)
    filled_a, of_a, units_a = over(rows, n, unit, known)
    filled_b, of_b, units_b = over(columns, n, unit, known)
    return filled, filled_a, filled_b, both, of_a, of_b, units_both, units_a, units_b


@of_types(f"int64[::1]({LABELS}, {LABELS}, int64)")
def cells_of_two(a: Array, b: Array, most: int) -> Array:
    """One after the other: how many cells and clusters of a and of b there are; rows, columns and counts of the cells; labels
    and sizes of the clusters of a, then of b. Nothing if the table over the ranges has more than `most` cells."""
    (low_a, k_a), (low_b, k_b) = limits(a), limits(b)
    if k_a == 0 or k_b == 0 or k_a > most or k_b > most or k_a * k_b > most:
        return np.empty(0, np.int64)
    sizes_a, sizes_b = zeros(k_a), zeros(k_b)
    table = dense(a, b, low_a, low_b, k_a, k_b, sizes_a, sizes_b)
    rows, columns, cells = 0, 0, 0
    for i in range(k_a):
        rows += sizes_a[i] > 0
    for j in range(k_b):
        columns += sizes_b[j] > 0
    for c in range(len(table)):
        cells += table[c] > 0
    made = np.empty(3 + 3 * cells + 2 * (rows + columns), np.int64)
    made[0], made[1], made[2] = cells, rows, columns
    row, at = 0, 3
    of_a = 3 + 3 * cells
    of_b = of_a + 2 * rows
    for i in range(k_a):
        if sizes_a[i] > 0:
            made[of_a + row], made[of_a + rows + row] = low_a + i, sizes_a[i]
            col = 0
            for j in range(k_b):
                v = table[i * k_b + j]
                if v > 0:
                    made[at], made[at + cells], made[at + 2 * cells] = row, col, v
                    at += 1
                col += sizes_b[j] > 0
            row += 1
    col = 0
    for j in range(k_b):
        if sizes_b[j] > 0:
            made[of_b + col], made[of_b + columns + col] = low_b + j, sizes_b[j]
            col += 1
    return made
