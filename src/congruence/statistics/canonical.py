"""One order of the cells of a table, so that every route to it gives the same sums and matchings, bit by bit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from congruence.statistics.covers import ClusterMap
from congruence.statistics.tables import Array, Tables


def canonical(t: Tables) -> Tables:
    """The tables in a fixed order of clusters that have no name to sort by; sums of floats and ties depend on the order.

    With `unassigned="singletons"`, points in no cluster come in the order of the points, or of the cells of a scan; they are
    sorted by their cluster on the other side. Signatures of covers, in the order of appearance, are sorted by content.
    """
    if t.count.dtype.kind not in "iu" or not len(t.count):
        return t
    own = np.zeros((2, len(t)), np.int64)
    if t.maps is not None:
        t, own = _signatures_by_content(t)
    return _single_points_by_partner(t, own)


def _single_points_by_partner(t: Tables, own: Array) -> Tables:
    """The trailing clusters of one point on each side, from `own` on, sorted by their cluster on the other side."""
    first = [np.maximum(_first_of_ones(sizes, k), x) for sizes, k, x in zip(t.margins, t.shapes.T, own, strict=True)]
    alone = [code >= start[t.pair] for code, start in zip((t.row, t.col), first, strict=True)]
    if not (alone[0].any() or alone[1].any()):
        return t
    sides = []
    for code, other, mine, theirs, start in (
        (t.row, t.col, alone[0], alone[1], first[0]),
        (t.col, t.row, alone[1], alone[0], first[1]),
    ):
        cells = np.flatnonzero(mine)
        # the points that are alone on both sides come last, in the same order on both
        order = cells[np.lexsort((t.row[cells], np.where(theirs, 0, other)[cells], theirs[cells], t.pair[cells]))]
        before = np.searchsorted(t.pair[order], np.arange(len(t)))
        moved = code.astype(np.int64)
        moved[order] = (start - before)[t.pair[order]] + np.arange(len(order))
        sides.append(moved)
    return _sorted(t, *sides)


def _first_of_ones(sizes: Array, k: Array) -> Array:
    """For each pair, where its trailing clusters of one point begin."""
    ends = np.cumsum(k)
    place = np.arange(len(sizes)) - np.repeat(ends - k, k) + 1
    first = np.zeros(len(k), np.int64)
    some = np.flatnonzero(k)
    first[some] = np.maximum.reduceat(np.where(sizes == 1, 0, place), (ends - k)[some])
    return first


def _signatures_by_content(t: Tables) -> tuple[Tables, Array]:
    """The tables with sorted signatures, and for both sides of each pair where signatures with own clusters begin."""
    assert t.maps is not None
    made: dict[int, tuple[ClusterMap, Array, int]] = {}

    def sorted_map(m: ClusterMap) -> tuple[ClusterMap, Array, int]:
        if id(m) not in made:
            many, own = len(m.lengths), _first_with_own_cluster(m)
            order = np.append(np.argsort(_hashes(m)[:own], kind="stable"), np.arange(own, many))
            place = np.empty(many, np.int64)
            place[order] = np.arange(many)
            made[id(m)] = ClusterMap(*m.rows(order), m.names), place, own
        return made[id(m)]

    row, col = t.row.astype(np.int64), t.col.astype(np.int64)
    first = np.zeros((2, len(t)), np.int64)
    maps = []
    for p, pair in enumerate(t.maps):
        cells = slice(t.starts[p], t.starts[p + 1])
        sides: list[ClusterMap | None] = [None, None]
        for side, (m, code) in enumerate(zip(pair, (row, col), strict=True)):
            if m is not None:
                sides[side], place, first[side, p] = sorted_map(m)
                code[cells] = place[code[cells]]
        maps.append((sides[0], sides[1]))
    return replace(_sorted(t, row, col), maps=maps), first


def _first_with_own_cluster(m: ClusterMap) -> int:
    """Where the trailing signatures begin that each have one cluster to themselves, in order."""
    many = len(m.lengths)
    ends = np.append(m.clusters, -1)[np.minimum(m.starts[:-1], len(m.clusters))]
    alone = (m.lengths == 1) & (ends == m.k - many + np.arange(many)) & (ends >= 0)
    alone &= np.bincount(m.clusters, minlength=m.k + 1)[ends] == 1
    others = np.flatnonzero(~alone)
    return int(others[-1]) + 1 if len(others) else 0


def _hashes(m: ClusterMap) -> Array:
    """A number of 64 bits for each set of clusters: the sum of the hashes of its clusters (the finaliser of splitmix64)."""
    rank = np.unique(m.clusters, return_inverse=True)[1].ravel()  # clusters without points do not matter
    x = (rank.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1)):
        x = (x ^ (x >> np.uint64(shift))) * np.uint64(factor)
    running = np.concatenate([np.zeros(1, np.uint64), np.cumsum(x, dtype=np.uint64)])
    return np.asarray(running[m.starts[1:]] - running[m.starts[:-1]])


def _sorted(t: Tables, row: Array, col: Array) -> Tables:
    """The tables with these rows and columns, in row-major order."""
    wide, tall = int(col.max()) + 1, int(row.max()) + 1
    if wide * tall * len(t) < 2**63:  # one key is sorted faster, above all if most cells are in order
        order = np.argsort((t.pair * np.int64(tall) + row) * np.int64(wide) + col, kind="stable")
    else:
        order = np.lexsort((col, row, t.pair))
    within = None if t.within is None else t.within[order]
    return replace(t, row=row[order], col=col[order], count=t.count[order], within=within)
