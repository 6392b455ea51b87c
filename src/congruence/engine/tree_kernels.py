"""Loops over trees, plain Python that numba compiles when there is enough work (see `machine.jit`).

A tree is its merges: `children` (n − 1) × 2, `order` the points from left to right, `starts` and `sizes` of the clusters.
"""

from __future__ import annotations

import numpy as np

from congruence.machine.jit import helper
from congruence.statistics.tables import Array


def range_maxima(joins: Array) -> Array:
    """Row r holds the largest of 2^r neighbours, starting at each position."""
    n = len(joins)
    rows = 1
    while (1 << rows) <= n:
        rows += 1
    table = np.empty((rows, n), np.int32)
    for p in range(n):
        table[0, p] = joins[p]
    for r in range(1, rows):
        half = 1 << (r - 1)
        for p in range(n - (1 << r) + 1):
            x, y = table[r - 1, p], table[r - 1, p + half]
            table[r, p] = x if x > y else y
    return table


def pair_sums(
    children: Array, order: Array, starts: Array, sizes: Array, by_level: Array, level_a: Array,
    place_b: Array, maxima: Array, level_b: Array, height_a: Array, height_b: Array, rank_a: Array, rank_b: Array,
) -> tuple[float, ...]:  # fmt: skip
    """Sums over pairs of points, each merged at one level of a and one of b.

    Returns Σ height_a·height_b, Σ rank_a·rank_b, and the pairs of pairs in the same and in opposite order. Heights and
    ranks are centred, one per level. One row of the table levels of a × levels of b is held at a time.
    """
    log = np.zeros(len(order) + 1, np.int64)
    for i in range(2, len(log)):
        log[i] = log[i // 2] + 1
    row = np.zeros(len(height_b), np.int64)
    below = np.zeros(len(height_b), np.int64)
    products = ranks = concordant = discordant = 0.0
    seen = 0
    at = 0
    while at < len(by_level):
        level = level_a[by_level[at]]
        row[:] = 0
        while at < len(by_level) and level_a[by_level[at]] == level:
            merge = by_level[at]
            at += 1
            left, right = children[merge, 0], children[merge, 1]
            first, second = starts[left], starts[right]
            for p in range(first, first + sizes[left]):
                i = place_b[order[p]]
                for q in range(second, second + sizes[right]):
                    j = place_b[order[q]]
                    low, high = (i, j) if i < j else (j, i)
                    r = log[high - low]
                    x, y = maxima[r, low], maxima[r, high - (1 << r)]
                    row[level_b[x if x > y else y]] += 1
        heights = 0.0
        placed = 0.0
        before = 0
        for t in range(len(row)):
            many = row[t]
            if many:
                heights += many * height_b[t]
                placed += many * rank_b[t]
                concordant += float(many) * float(before)
                discordant += float(many) * float(seen - before - below[t])
            before += below[t]
        products += height_a[level] * heights
        ranks += rank_a[level] * placed
        for t in range(len(row)):
            below[t] += row[t]
            seen += row[t]
    return products, ranks, concordant, discordant


def overlap_curve(rows: Array, columns: Array, column: Array, n_columns: int) -> Array:
    """Σ n_ij² − n after each step, where step m makes merge m of the rows and, if there is one, of the columns.

    The cells of the table are linked by row, by column and by hash bucket; the shorter row or column is put into the
    longer one, so every cell moves O(log n) times. `column` is the column of each point at the start.
    """
    n = len(column)
    where = np.empty((2, n), np.int64)  # row and column of each cell
    for c in range(n):
        where[0, c], where[1, c] = c, column[c]
    head, length, after, ahead = _linked(where, max(n, n_columns))
    bucket, chain = _hashed(where)
    count = np.ones(n, np.int64)
    slot_rows = np.empty(2 * n, np.int64)
    slot_columns = np.empty(n_columns + len(columns) + 1, np.int64)
    for c in range(n):
        slot_rows[c] = c
    for c in range(n_columns):
        slot_columns[c] = c
    squares = np.zeros(len(rows) + 1, np.int64)
    total = 0
    for m in range(len(rows)):
        for side in range(2):
            if side == 1 and m >= len(columns):
                continue
            if side == 0:
                x, y = slot_rows[rows[m, 0]], slot_rows[rows[m, 1]]
            else:
                x, y = slot_columns[columns[m, 0]], slot_columns[columns[m, 1]]
            if length[side, x] > length[side, y]:
                x, y = y, x
            if side == 0:
                slot_rows[n + m] = y
            else:
                slot_columns[n_columns + m] = y
            total += _put_into(side, x, y, where, count, head, length, after, ahead, bucket, chain)
        squares[m + 1] = total
    return squares


@helper
def _linked(where: Array, lists: int) -> tuple[Array, ...]:
    """Lists of the cells of each row and column: first cell, length, and for each cell the next one and the one before."""
    n = where.shape[1]
    head, length = np.full((2, lists), -1, np.int64), np.zeros((2, lists), np.int64)
    after, ahead = np.full((2, n), -1, np.int64), np.full((2, n), -1, np.int64)
    for c in range(n):
        for side in range(2):
            slot = where[side, c]
            after[side, c] = head[side, slot]
            if head[side, slot] >= 0:
                ahead[side, head[side, slot]] = c
            head[side, slot] = c
            length[side, slot] += 1
    return head, length, after, ahead


@helper
def _hashed(where: Array) -> tuple[Array, ...]:
    """A hash table of the cells by row and column: first cell of each bucket, and for each cell the next one."""
    n, size = where.shape[1], 1
    while size < 2 * n:
        size *= 2
    bucket, chain = np.full(size, -1, np.int64), np.full(n, -1, np.int64)
    for c in range(n):
        key = (where[0, c] * 40503 + where[1, c] * 10007) & (size - 1)
        chain[c] = bucket[key]
        bucket[key] = c
    return bucket, chain


@helper
def _put_into(
    side: int, x: int, y: int, where: Array, count: Array, head: Array, length: Array, after: Array, ahead: Array,
    bucket: Array,
    chain: Array,
) -> int:  # fmt: skip
    """Move the cells of row (or column) x into y; returns by how much this increases Σ n_ij²."""
    other, mask, more = 1 - side, len(bucket) - 1, 0
    cell = head[side, x]
    while cell >= 0:
        following = after[side, cell]
        # out of its bucket
        key = (where[0, cell] * 40503 + where[1, cell] * 10007) & mask
        if bucket[key] == cell:
            bucket[key] = chain[cell]
        else:
            p = bucket[key]
            while chain[p] != cell:
                p = chain[p]
            chain[p] = chain[cell]
        where[side, cell] = y
        key = (where[0, cell] * 40503 + where[1, cell] * 10007) & mask
        p = bucket[key]
        while p >= 0 and not (where[side, p] == y and where[other, p] == where[other, cell]):
            p = chain[p]
        if p >= 0:  # the cell coincides with another: join them, and remove it from the list of the other side
            more += 2 * count[p] * count[cell]
            count[p] += count[cell]
            slot = where[other, cell]
            if ahead[other, cell] >= 0:
                after[other, ahead[other, cell]] = after[other, cell]
            else:
                head[other, slot] = after[other, cell]
            if after[other, cell] >= 0:
                ahead[other, after[other, cell]] = ahead[other, cell]
            length[other, slot] -= 1
        else:
            chain[cell] = bucket[key]
            bucket[key] = cell
            ahead[side, cell] = -1
            after[side, cell] = head[side, y]
            if head[side, y] >= 0:
                ahead[side, head[side, y]] = cell
            head[side, y] = cell
            length[side, y] += 1
        cell = following
    head[side, x] = -1
    length[side, x] = 0
    return more


def spread(parent: Array, size: Array, weight: Array, n: int, alpha: float) -> Array:
    """Element-centric affinities of one tree in closed form: x, x·d and own affinity per point, and y per node.

    With these, the affinity of points i ≠ j whose lowest common node is v is (1 − alpha)·x_i·y_v·x_j·d_j.
    """
    total = len(parent)
    d = np.zeros(total)
    for v in range(total - 1, -1, -1):
        d[v] = weight[v] + (d[parent[v]] if v < total - 1 else 0.0)
    u = np.zeros(total)
    below = np.zeros(total)
    beta = np.zeros(total)
    stretch = np.ones(total)
    for v in range(total):
        t = alpha * weight[v] / size[v]
        if v < n:
            u[v] = 1.0 / (d[v] - t)
        else:
            beta[v] = t / (1.0 - t * below[v])
            stretch[v] = 1.0 + beta[v] * below[v]
            u[v] = below[v] * stretch[v]
        if v < total - 1:
            below[parent[v]] += u[v]
    y = np.zeros(total)
    gamma = np.zeros(total)
    grown = np.ones(total)
    for v in range(total - 1, n - 1, -1):
        grown[v] = stretch[v] * (grown[parent[v]] if v < total - 1 else 1.0)
        gamma[v] = beta[v] + (stretch[v] * stretch[v] * gamma[parent[v]] if v < total - 1 else 0.0)
        y[v] = gamma[v] / (grown[v] * grown[v])
    x = np.empty(n)
    own = np.empty(n)
    for i in range(n):
        up = parent[i]
        x[i] = u[i] * grown[up]
        own[i] = (1.0 - alpha) * d[i] * (u[i] + u[i] * u[i] * gamma[up])
    return x, x * d[:n], own, y


def point_scores(
    first: int, last: int, alpha: float,
    parent_a: Array, start_a: Array, size_a: Array, x_a: Array, reach_a: Array, own_a: Array, y_a: Array,
    parent_b: Array, start_b: Array, size_b: Array, x_b: Array, reach_b: Array, own_b: Array, y_b: Array,
    place: Array,
) -> tuple[Array, Array]:  # fmt: skip
    """Element-centric score of the points first … last − 1: 1 − half the summed differences of affinities / alpha.

    Affinities of a are held in the order of its leaves; `place` holds the positions in it of the leaves of b, from left to right.
    `reach` is in the order of the leaves.
    """
    n = len(x_a)
    scores = np.empty(last - first)
    row = np.empty(n)
    for i in range(first, last):
        low = start_a[i]
        high = low + 1
        row[low] = own_a[i]
        v = parent_a[i]
        while v >= 0:
            factor = (1.0 - alpha) * x_a[i] * y_a[v]
            begin, end = start_a[v], start_a[v] + size_a[v]
            for p in range(begin, low):
                row[p] = factor * reach_a[p]
            for p in range(high, end):
                row[p] = factor * reach_a[p]
            low, high = begin, end
            v = parent_a[v]
        low = start_b[i]
        high = low + 1
        difference = abs(row[place[low]] - own_b[i])
        v = parent_b[i]
        while v >= 0:
            factor = (1.0 - alpha) * x_b[i] * y_b[v]
            begin, end = start_b[v], start_b[v] + size_b[v]
            for p in range(begin, low):
                difference += abs(row[place[p]] - factor * reach_b[p])
            for p in range(high, end):
                difference += abs(row[place[p]] - factor * reach_b[p])
            low, high = begin, end
            v = parent_b[v]
        scores[i - first] = 1.0 - difference / (2.0 * alpha)
    return scores
