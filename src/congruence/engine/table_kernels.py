"""The compiled count of one table of two vectors, and its sums, in a module of their own like `pair_kernels`."""

from __future__ import annotations

import numpy as np

from congruence.engine.pair_kernels import LABELS, dense, limits, over, unknown
from congruence.machine.jit import njit, of_types
from congruence.statistics.tables import Array


@of_types(f"UniTuple(int64, 9)({LABELS}, {LABELS}, {LABELS}, int64, float64)")
def add_cells(cells: Array, rows: Array, columns: Array, n: int, unit: float) -> tuple[int, ...]:
    """The same sums of a table with these counts of cells, rows and columns."""
    known = unknown()
    filled, both, units_both = over(cells, n, unit, known)
    filled_a, of_a, units_a = over(rows, n, unit, known)
    filled_b, of_b, units_b = over(columns, n, unit, known)
    return filled, filled_a, filled_b, both, of_a, of_b, units_both, units_a, units_b


@njit
def _filled(sizes: Array, low: int) -> Array:
    """The labels that occur; their sizes are moved to the beginning."""
    names, at = np.empty(len(sizes), np.int64), 0
    for c in range(len(sizes)):
        if sizes[c] > 0:
            names[at], sizes[at] = low + c, sizes[c]
            at += 1
    return names[:at]


@of_types(f"UniTuple(int64[::1], 7)({LABELS}, {LABELS}, int64)")
def cells_of_two(a: Array, b: Array, most: int) -> tuple[Array, ...]:
    """Rows, columns and counts of the cells, the labels of both sides and their sizes; none above `most` cells."""
    (low_a, k_a), (low_b, k_b) = limits(a), limits(b)
    if k_a == 0 or k_b == 0 or k_a > most or k_b > most or k_a * k_b > most:
        none = np.empty(0, np.int64)
        return none, none, none, none, none, none, none
    sizes_a, sizes_b = np.zeros(k_a, np.int64), np.zeros(k_b, np.int64)
    table = dense(a, b, low_a, low_b, k_a, k_b, sizes_a, sizes_b)
    names_a, names_b = _filled(sizes_a, low_a), _filled(sizes_b, low_b)
    cells = 0
    for c in range(len(table)):
        cells += table[c] > 0
    row, col, count = np.empty(cells, np.int64), np.empty(cells, np.int64), np.empty(cells, np.int64)
    at = 0
    for i in range(len(names_a)):
        for j in range(len(names_b)):
            v = table[(names_a[i] - low_a) * k_b + (names_b[j] - low_b)]
            if v > 0:
                row[at], col[at], count[at] = i, j, v
                at += 1
    return row, col, count, names_a, names_b, sizes_a[: len(names_a)], sizes_b[: len(names_b)]
