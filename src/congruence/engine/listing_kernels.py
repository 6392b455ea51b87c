"""The compiled list of the cells of many tables: each is counted, listed and forgotten while it is in the cache."""

from __future__ import annotations

import numpy as np

from congruence.engine.kernels import REPLICATED_CELLS, count_cells
from congruence.engine.pair_kernels import limits
from congruence.machine.jit import njit
from congruence.statistics.tables import Array


@njit
def _listed(
    table: Array, k_a: int, k_b: int, sides: Array, cells: Array, sizes_a: Array, sizes_b: Array, ends: Array, p: int
) -> None:
    """Append the cells of a table, which is emptied, and the sizes of its clusters; ends[:, p] are the numbers of all so far.

    A cell is its row, column and count, and the places of its clusters among all sizes. `sides` has room for the sizes.
    """
    sides[:, : max(k_a, k_b)] = 0
    for i in range(k_a):
        for j in range(k_b):
            many = table[i * k_b + j]
            sides[0, i] += many
            sides[1, j] += many
    at, first_a, first_b = ends[0, p], ends[1, p], ends[2, p]
    row, col = 0, 0
    for i in range(k_a):
        if sides[0, i] > 0:
            sizes_a[first_a + row] = sides[0, i]
            col = 0
            for j in range(k_b):
                many = table[i * k_b + j]
                if many > 0:
                    table[i * k_b + j] = 0
                    cells[0, at], cells[1, at], cells[2, at] = row, col, many
                    cells[3, at], cells[4, at] = first_a + row, first_b + col
                    at += 1
                col += sides[1, j] > 0
            row += 1
    col = 0
    for j in range(k_b):
        if sides[1, j] > 0:
            sizes_b[first_b + col] = sides[1, j]
            col += 1
    ends[0, p + 1], ends[1, p + 1], ends[2, p + 1] = at, first_a + row, first_b + col


@njit
def list_pairs(labels: Array, k: Array, pair_i: Array, pair_j: Array, room: int) -> tuple[Array, Array, Array, Array]:
    """Of these pairs of coded vectors the cells as in `_listed`, sizes of clusters, and where those of each pair end.

    `room` is the most cells that there can be.
    """
    widest, all_a, all_b = 0, 0, 0
    for p in range(len(pair_i)):
        widest = max(widest, k[pair_i[p]] * k[pair_j[p]])
        all_a += k[pair_i[p]]
        all_b += k[pair_j[p]]
    table, none = np.zeros(widest, np.uint32), np.zeros((0, 0), np.uint32)
    spares = np.zeros((3, min(widest, REPLICATED_CELLS)), np.uint32)
    sides, ends = np.zeros((2, k.max()), np.int64), np.zeros((3, len(pair_i) + 1), np.int64)
    cells, sizes_a, sizes_b = np.empty((5, room), np.int64), np.empty(all_a, np.int64), np.empty(all_b, np.int64)
    for p in range(len(pair_i)):
        i, j = pair_i[p], pair_j[p]
        count_cells(labels[i], labels[j], k[j], k[i] * k[j], table, spares, none)
        _listed(table, k[i], k[j], sides, cells, sizes_a, sizes_b, ends, p)
    return cells, sizes_a[: ends[1, -1]], sizes_b[: ends[2, -1]], ends


@njit
def code(labels: Array, codes: Array, low: Array, k: Array) -> None:
    """Of rows of integers the lowest, the length of the range, and the distances to the lowest.

    A range above 255, which the bytes of the codes do not hold, is given as 0.
    """
    for i in range(len(labels)):
        low[i], k[i] = limits(labels[i])
        if k[i] > 255:
            k[i] = 0
        for p in range(labels.shape[1]):
            codes[i, p] = np.uint8(labels[i, p] - low[i])


@njit
def tally_rows(codes: Array, sizes: Array) -> None:
    """Add to the sizes how often each code occurs in each row."""
    for i in range(len(codes)):
        for p in range(codes.shape[1]):
            sizes[i, codes[i, p]] += 1
