"""The compiled count of one pair of vectors, in a module of its own: it is compiled or loaded for loops over small pairs."""

from __future__ import annotations

import numpy as np

from congruence.engine.compiled_term import term
from congruence.machine.jit import njit, of_types
from congruence.statistics.tables import Array
from congruence.typing import Scalar

#: a table is dense up to this many cells, or as many cells as points
DENSE_CELLS = 4096
#: labels are counted by their distance to the lowest up to this range, or this many times the points
WIDEST, SPREAD = 65_536, 8
#: terms of sizes below this are computed once per pair
KEPT = 128


@njit
def limits(labels: Array) -> tuple[Scalar, Scalar]:
    """The lowest label, and the number of labels up to the highest; 0 if that does not fit."""
    low = high = labels[0]
    for p in range(len(labels)):
        low = labels[p] if labels[p] < low else low  # compiled faster than min and max
        high = labels[p] if labels[p] > high else high
    span = np.uint64(high) - np.uint64(low)  # right even if the difference overflows as a signed integer
    return low, np.int64(span) + 1 if span < np.uint64(1 << 40) else 0


@njit
def zeros(many: int) -> Array:
    """Counts of nothing; a loop is compiled in half the time of np.zeros."""
    made = np.empty(many, np.uint32)
    for c in range(many):
        made[c] = 0
    return made


@njit
def dense(a: Array, b: Array, low_a: int, low_b: int, k_a: int, k_b: int, sizes_a: Array, sizes_b: Array) -> Array:
    """The table of labels from low_a and low_b on, row by row; the sizes of the clusters are added to those given."""
    table: Array = zeros(k_a * k_b)
    wide = np.uint64(k_b)
    for p in range(len(a)):
        table[np.uint64(a[p] - low_a) * wide + np.uint64(b[p] - low_b)] += np.uint32(1)
    for i in range(k_a):
        for j in range(k_b):
            many = table[i * k_b + j]
            sizes_a[i] += many
            sizes_b[j] += many
    return table


@njit
def unknown() -> Array:
    """Terms of small sizes, −1 until they are computed; that of 0 is 0."""
    made = np.empty(KEPT, np.int64)
    for v in range(KEPT):
        made[v] = -(v > 0)
    return made


@njit
def over(sizes: Array, n: int, unit: float, known: Array) -> tuple[Scalar, Scalar, Scalar]:
    """How many of the sizes are not 0, and the sums of their squares and terms."""
    filled, square, units = np.int64(0), np.int64(0), np.int64(0)
    for c in range(len(sizes)):
        v = np.int64(sizes[c])
        filled += v > 0
        square += v * v
    if unit > 0:
        for c in range(len(sizes)):
            v = np.int64(sizes[c])
            if v >= KEPT:
                units += term(v, n, unit)
            else:
                if known[v] < 0:
                    known[v] = term(v, n, unit)
                units += known[v]
    return filled, square, units


LABELS = "Array(int64, 1, 'C', readonly=True)"


@of_types(f"UniTuple(int64, 10)({LABELS}, {LABELS}, float64)")
def count_two(a: Array, b: Array, unit: float) -> tuple[int, ...]:
    """The sums of `statistics.pairs.Sums` after n, then the lowest label of b; all 0 if the range of the labels is too wide.

    Sums of terms are 0 if `unit` is.
    Up to as many cells as points the table is dense; beyond that points are sorted by a, and the table has one row at a time.
    """
    n = len(a)
    (low_a, k_a), (low_b, k_b) = limits(a), limits(b)
    widest = max(WIDEST, SPREAD * n)
    if k_a == 0 or k_b == 0 or k_a > widest or k_b > widest:
        return 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
    sizes_a, sizes_b, known = zeros(k_a), zeros(k_b), unknown()
    if k_a * k_b <= max(DENSE_CELLS, n):
        table = dense(a, b, low_a, low_b, k_a, k_b, sizes_a, sizes_b)
        cells, both, units_both = over(table, n, unit, known)
    else:
        for p in range(n):
            sizes_a[a[p] - low_a] += np.uint32(1)
            sizes_b[b[p] - low_b] += np.uint32(1)
        start, member, row, counts = zeros(k_a + 1), zeros(n), zeros(k_b), zeros(n)
        for i in range(k_a):
            start[i + 1] = start[i] + sizes_a[i]
        for p in range(n):
            place = start[a[p] - low_a]  # afterwards the end of cluster i, where i + 1 begins
            member[place] = b[p] - low_b
            start[a[p] - low_a] = place + np.uint32(1)
        for i in range(k_a):
            first = np.int64(start[i - 1]) if i else np.int64(0)
            last = np.int64(start[i])
            for p in range(first, last):
                row[member[p]] += np.uint32(1)
            for p in range(first, last):
                counts[p] = row[member[p]]
                row[member[p]] = 0
        cells, both, units_both = over(counts, n, unit, known)
    rows, of_a, units_a = over(sizes_a, n, unit, known)
    columns, of_b, units_b = over(sizes_b, n, unit, known)
    return cells, rows, columns, both, of_a, of_b, units_both, units_a, units_b, low_b
