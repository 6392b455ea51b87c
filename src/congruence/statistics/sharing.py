"""Sums over pairs of points that share a cluster, from pairs of cells of a table of signatures, in O(cells) memory."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike

from congruence.machine.jit import compiled
from congruence.statistics.tables import Array
from congruence.typing import Scalar, SparseMatrix

Rows = tuple[Array, Array]
#: number of pairs of cells above which the loop is compiled; below it, numpy is faster than loading numba
COMPILED_FROM = 3_000_000
#: most cells for which dense products are faster than sparse ones
FEW_CELLS = 256


@dataclass(frozen=True, eq=False)
class Walk:
    """Pairs of points by their numbers of common clusters in a and in b; sides are (a, b)."""

    #: pairs that share 0, 1, 2 … clusters
    sharing: tuple[Array, Array]
    #: pairs with the same number of common clusters in a and b; Σ min and Σ max of the two numbers; pairs that share in both
    agree: Scalar
    least: Scalar
    most: Scalar
    both: Scalar
    #: Σ min / max of the two numbers, pairs that share nothing in either counting 1
    soft: float
    #: for each cell, the points that share a cluster with one of its points, and Σ min / own number over them
    reach: tuple[Array, Array]
    share: tuple[Array, Array]
    #: Σ over pairs of |E_a − E_b|, and the values of E of each side with the number of pairs that have them
    discord: float
    values: tuple[tuple[Array, Array], tuple[Array, Array]]


def walked(mass: Array, own: Array, a: Rows, b: Rows, pairs: SparseMatrix) -> Walk:
    """The sums over all pairs of cells that share a cluster of a or of b; `pairs` is the number of all pairs of points."""
    whole = mass.dtype.kind in "iu"
    large = whole and pairs >= 2**61  # squares do not fit 64 bits: Python integers
    kind: DTypeLike = np.object_ if large else np.int64 if whole else np.float64
    mass = mass.astype(kind, copy=False)
    squares = mass * mass - own
    inside = squares // 2 if whole else squares / 2
    sides = [_lists(*rows) for rows in (a, b)]
    lengths = [np.diff(rows[0]) for rows in (a, b)]
    longest = [int(length.max(initial=0)) for length in lengths]
    ranks = [np.unique(length, return_inverse=True) for length in lengths]
    sharing = [np.zeros(most + 1, dtype=kind) for most in longest]
    hists = [np.zeros((most + 1, len(rank[0])), dtype=kind) for most, rank in zip(longest, ranks, strict=True)]
    reach, share = ([np.zeros(len(mass), dtype=t) for _ in range(2)] for t in (kind, np.float64))
    counts, sums = np.zeros(5, dtype=kind), np.zeros(2)
    steps = sum(float((np.diff(at).astype(np.float64) ** 2).sum()) / 2 for _, at, _ in sides) + len(mass)
    arguments = [
        mass, inside, *a, *sides[0], *b, *sides[1], *lengths, ranks[0][1], ranks[1][1], *sharing, *hists, *reach, *share,
        counts, sums,
    ]  # fmt: skip
    (compiled(_walk) if steps > COMPILED_FROM and not large else _walk_by_numpy)(*arguments)
    seen, agree, least, most, both = counts.tolist()
    rest = pairs - seen
    if not whole and rest < 1e-12 * pairs:
        rest = 0.0
    for side in sharing:
        side[0] += rest
    covered = [length > 0 for length in lengths]
    apart, values = _apart(mass, own, covered, pairs, whole)
    return Walk(
        (sharing[0], sharing[1]), agree + rest, least, most, both, float(sums[0] + rest), (_floats(reach[0]), _floats(reach[1])),
        (share[0], share[1]), max(float(sums[1] + apart), 0.0),
        (_values(hists[0], ranks[0][0], values[0], pairs), _values(hists[1], ranks[1][0], values[1], pairs)),
    )  # fmt: skip


def _floats(x: Array) -> Array:
    """Python integers as floats; other numbers as they are."""
    return x.astype(np.float64) if x.dtype.kind == "O" else x


def _lists(starts: Array, clusters: Array) -> tuple[Array, Array, Array]:
    """The cells of each cluster, concatenated; the starts of these lists; the position of each row entry in them."""
    cells = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    order = np.argsort(clusters, kind="stable")
    at = np.searchsorted(clusters[order], np.arange(int(clusters.max(initial=-1)) + 2))
    place = np.empty(len(clusters), dtype=np.int64)
    place[order] = np.arange(len(clusters))
    return place, at, cells[order]


def _apart(
    mass: Array, own: Array, covered: list[Array], pairs: SparseMatrix, whole: bool
) -> tuple[float, list[tuple[float, float]]]:
    """Σ |E_a − E_b| if no pair shared anything, and for each side the pairs with E = 1/2 and E = 1 without sharing.

    E is 1 for two points in no cluster, 1/2 for a point in none and one in some.
    """
    groups = {}
    for in_a in (True, False):
        for in_b in (True, False):
            chosen = (covered[0] == in_a) & (covered[1] == in_b)
            groups[in_a, in_b] = float(mass[chosen].sum()), float(own[chosen].sum())
    total = 0.0
    halves, ones = [0.0, 0.0], [0.0, 0.0]
    listed = list(groups)
    for i, first in enumerate(listed):
        for second in listed[i:]:
            (m, o), (other, _) = groups[first], groups[second]
            many = (m * m - o) / 2 if first == second else m * other
            alike = [_unshared(x, y) for x, y in zip(first, second, strict=True)]
            total += many * abs(alike[0] - alike[1])
            for side, e in enumerate(alike):
                halves[side] += many * (e == 0.5)
                ones[side] += many * (e == 1.0)
    return total, list(zip(halves, ones, strict=True))


def _unshared(first: bool, second: bool) -> float:
    return 0.0 if first and second else 0.5 if first or second else 1.0


def _values(hist: Array, lengths: Array, special: tuple[float, float], pairs: SparseMatrix) -> tuple[Array, Array]:
    """Distinct values of E and their numbers of pairs."""
    shared, rank = np.nonzero(hist)
    value = np.concatenate([shared / lengths[rank], [0.5, 1.0, 0.0]])
    count = np.concatenate([hist[shared, rank].astype(np.float64), special, [0.0]])
    count[-1] = max(float(pairs) - count.sum(), 0.0)
    return value, count


def _walk(
    mass: Array, inside: Array, starts_a: Array, clusters_a: Array, place_a: Array, at_a: Array, list_a: Array,
    starts_b: Array, clusters_b: Array, place_b: Array, at_b: Array, list_b: Array, length_a: Array, length_b: Array,
    rank_a: Array, rank_b: Array, sharing_a: Array, sharing_b: Array, hist_a: Array, hist_b: Array, reach_a: Array,
    reach_b: Array, share_a: Array, share_b: Array, counts: Array, sums: Array,
) -> None:  # fmt: skip
    """Every pair of cells with a common cluster once, and every cell with itself.

    One function: what it does per pair of cells is one step of an inner loop, too little for a helper (see `jit.helper`).
    """
    cells = len(mass)
    t_a, t_b = np.zeros(cells, np.int64), np.zeros(cells, np.int64)
    met = np.empty(cells, np.int64)
    for x in range(cells):
        many = 0
        for e in range(starts_a[x], starts_a[x + 1]):
            for p in range(place_a[e] + 1, at_a[clusters_a[e] + 1]):
                y = list_a[p]
                if t_a[y] == 0:
                    met[many] = y
                    many += 1
                t_a[y] += 1
        for e in range(starts_b[x], starts_b[x + 1]):
            for p in range(place_b[e] + 1, at_b[clusters_b[e] + 1]):
                y = list_b[p]
                if t_a[y] == 0 and t_b[y] == 0:
                    met[many] = y
                    many += 1
                t_b[y] += 1
        t_a[x], t_b[x] = length_a[x], length_b[x]
        for q in range(many + 1):
            y = met[q] if q < many else x
            i, j = t_a[y], t_b[y]
            t_a[y] = 0
            t_b[y] = 0
            w = mass[x] * mass[y] if y != x else inside[x]
            low, high = min(i, j), max(i, j)
            sharing_a[i] += w
            sharing_b[j] += w
            counts[0] += w
            counts[1] += w if i == j else 0
            counts[2] += w * low
            counts[3] += w * high
            counts[4] += w if low > 0 else 0
            sums[0] += w * (low / high) if high > 0 else w
            # B-cubed: x sees the points of y and y those of x; a cell sees itself once
            if i > 0:
                reach_a[x] += mass[y]
                share_a[x] += mass[y] * (low / i)
                if y != x:
                    reach_a[y] += mass[x]
                    share_a[y] += mass[x] * (low / i)
            if j > 0:
                reach_b[x] += mass[y]
                share_b[x] += mass[y] * (low / j)
                if y != x:
                    reach_b[y] += mass[x]
                    share_b[y] += mass[x] * (low / j)
            # the difference of the two sides on this pair, minus the difference if nothing were shared
            e_a = (0.5 if length_a[x] == 0 else 0.0) + (0.5 if length_a[y] == 0 else 0.0)
            e_b = (0.5 if length_b[x] == 0 else 0.0) + (0.5 if length_b[y] == 0 else 0.0)
            before = abs(e_a - e_b)
            if i > 0:
                longer = x if length_a[x] >= length_a[y] else y
                hist_a[i, rank_a[longer]] += w
                e_a = i / length_a[longer]
            if j > 0:
                longer = x if length_b[x] >= length_b[y] else y
                hist_b[j, rank_b[longer]] += w
                e_b = j / length_b[longer]
            sums[1] += w * (abs(e_a - e_b) - before)


def _walk_by_numpy(*arguments: Array) -> None:
    """The same for small inputs: all pairs of cells with a common cluster at once."""
    mass, inside, starts_a, clusters_a, _, at_a, _, starts_b, clusters_b, _, at_b, _, *sides, counts, sums = arguments
    each = [sides[0::2], sides[1::2]]  # of a and of b: lengths, their ranks, sharing, hist, reach, share
    (length_a, *_), (length_b, *_) = each
    cells = len(mass)
    x, y, i, j = _meeting(cells, (starts_a, clusters_a, at_a), (starts_b, clusters_b, at_b))
    w, own = mass[x] * mass[y], np.arange(cells)
    x, y, w = (np.concatenate(z) for z in ((x, own), (y, own), (w, inside)))
    i, j = np.concatenate([i, length_a]), np.concatenate([j, length_b])
    low, high = np.minimum(i, j), np.maximum(i, j)
    counts += np.array([w.sum(), w[i == j].sum(), (w * low).sum(), (w * high).sum(), w[low > 0].sum()], dtype=w.dtype)
    sums[0] += (w * np.where(high > 0, low / np.maximum(high, 1), 1.0)).sum()
    apart = []
    for t, (length, rank, sharing, hist, reach, share) in zip((i, j), each, strict=True):
        np.add.at(sharing, t, w)
        met = np.flatnonzero(t > 0)
        part = low[met] / t[met]
        for here, there, chosen in ((x, y, met), (y, x, met[x[met] != y[met]])):
            np.add.at(reach, here[chosen], mass[there[chosen]])
            np.add.at(share, here[chosen], _floats(mass[there[chosen]]) * part[: len(chosen)])
        longer = np.where(length[x] >= length[y], x, y)
        np.add.at(hist, (t[met], rank[longer[met]]), w[met])
        unshared = (length[x] == 0) / 2 + (length[y] == 0) / 2
        apart.append((unshared, np.where(t > 0, t / np.maximum(length[longer], 1), unshared)))
    (before_a, e_a), (before_b, e_b) = apart
    sums[1] += (w * (np.abs(e_a - e_b) - np.abs(before_a - before_b))).sum()


def _meeting(cells: int, *sides: tuple[Array, Array, Array]) -> tuple[Array, Array, Array, Array]:
    """Pairs of different cells that share a cluster of a or of b: the two, and how many clusters of a and of b."""
    if cells <= FEW_CELLS:
        counts = []
        for starts, clusters, at in sides:
            rows = np.zeros((cells, len(at) - 1))
            rows[np.repeat(np.arange(cells), np.diff(starts)), clusters] = 1.0
            counts.append((rows @ rows.T).astype(np.int64))
        x, y = np.nonzero(np.triu(counts[0] + counts[1], 1))
        return x, y, counts[0][x, y], counts[1][x, y]
    from scipy.sparse import csr_array, triu

    found = []
    for starts, clusters, at in sides:
        sparse = csr_array((np.ones(len(clusters), np.int64), clusters, starts), shape=(cells, len(at) - 1))
        upper = triu(sparse @ sparse.T, 1).tocoo()
        found.append((upper.row * np.int64(cells) + upper.col, upper.data))
    keys = np.unique(np.concatenate([found[0][0], found[1][0]]))
    i, j = (np.zeros(len(keys), np.int64) for _ in range(2))
    for t, (key, many) in zip((i, j), found, strict=True):
        t[np.searchsorted(keys, key)] = many
    return keys // cells, keys % cells, i, j
