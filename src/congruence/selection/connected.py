"""Connected groups of any shape, separated from each other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from congruence.selection import kmeans
from congruence.statistics.tables import Array

#: number of neighbours that define the density at a point
NEIGHBOURS = 5
#: smallest share of the points in a group, and in all groups together
SMALLEST, COVER = 0.05, 0.8
#: span above which groups are certainly separated; data without clusters rarely reach it
SPAN = 0.5
#: the same for distances relative to the local density: neighbours that define a connection, the neighbour whose distance
#: is the local scale (as in Zelnik-Manor and Perona 2004), the span, and the fewest points: fewer form groups by chance
LOCAL_NEIGHBOURS, LOCAL_SCALE, LOCAL_SPAN, LOCAL_POINTS = 2, 7, 0.3, 60


@dataclass(frozen=True, eq=False)
class Groups:
    """The number of connected groups that persists over the longest span of distances."""

    k: int
    #: log of the largest to the smallest distance over which there are k groups
    span: float
    #: group of each point
    labels: Array


def groups(points: Array, most: int, local: bool = False) -> Groups:
    """Connected groups of the points: their number, the span of distances over which it persists, and the group of each point.

    Two points are connected at a distance if each has five neighbours within it and they are that close to each other.
    As the distance grows, groups of at least 5 % of the points appear and merge. The result is the number of groups that
    persists over the longest span while groups have 80 % of the points. One group has span 0.

    Args:
        points: Points × features.
        most: The largest number of groups to consider.
        local: Divide each distance by the local scales of both points (the root of the product of their distances to the
            seventh neighbour), for groups whose density varies along them. One group if many points are identical.
    """
    n = len(points)
    start, end, length = _tree(points, local)
    if not len(length):
        return Groups(1, 0.0, np.zeros(n, dtype=np.int64))
    logs = np.log(np.maximum(length, 1e-300))
    smallest = max(NEIGHBOURS, round(SMALLEST * n))
    parent, size = list(range(n)), [1] * n
    spans, longest, cut = np.zeros(most + 1), np.zeros(most + 1), np.zeros(most + 1, dtype=int)
    big = cover = 0
    for i in range(n - 1):
        a, b = _root(parent, int(start[i])), _root(parent, int(end[i]))
        for x in (a, b):
            if size[x] >= smallest:
                big, cover = big - 1, cover - size[x]
        parent[b] = a
        size[a] += size[b]
        if size[a] >= smallest:
            big, cover = big + 1, cover + size[a]
        if i + 1 < n - 1 and 2 <= big <= most and cover >= COVER * n:
            step = logs[i + 1] - logs[i]
            spans[big] += step
            if step > longest[big]:
                longest[big], cut[big] = step, i + 1
    k = int(spans.argmax())
    if spans[k] <= 0:
        return Groups(1, 0.0, np.zeros(n, dtype=np.int64))
    return Groups(k, float(spans[k]), _labels(n, start, end, int(cut[k]), smallest))


def _tree(points: Array, local: bool = False) -> tuple[Array, Array, Array]:
    """Edges of the minimum spanning tree of mutual reachability distances, the shortest first (Prim's algorithm).

    No edges if distances are local and some point has only copies near it.
    """
    n = len(points)
    apart = np.sqrt(kmeans.squares(points, points))
    near = min(LOCAL_NEIGHBOURS if local else NEIGHBOURS, n - 1)
    scale = np.sqrt(_to_neighbour(apart, min(LOCAL_SCALE, n - 1))) if local else np.ones(n)
    if scale.min() <= 1e-6 * scale.max():
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0)
    dense = _to_neighbour(apart, near)
    outside, nearest, via = np.ones(n, dtype=bool), np.full(n, np.inf), np.zeros(n, dtype=np.int64)
    start, end, length = np.empty(n - 1, dtype=np.int64), np.empty(n - 1, dtype=np.int64), np.empty(n - 1)
    last = 0
    outside[0] = False
    for i in range(n - 1):
        reach = np.maximum(np.maximum(apart[last], dense), dense[last])
        if local:
            reach /= scale * scale[last]
        closer = (reach < nearest) & outside
        nearest[closer], via[closer] = reach[closer], last
        last = int(np.where(outside, nearest, np.inf).argmin())
        start[i], end[i], length[i] = via[last], last, nearest[last]
        outside[last] = False
    order = np.argsort(length, kind="stable")
    return start[order], end[order], length[order]


def _to_neighbour(apart: Array, which: int) -> Array:
    """The distance of each point to a neighbour, by its rank."""
    return np.asarray(np.partition(apart, which, axis=1)[:, which])


def _root(parent: list[int], x: int) -> int:
    while parent[x] != x:
        parent[x] = parent[parent[x]]
        x = parent[x]
    return x


def _labels(n: int, start: Array, end: Array, cut: int, smallest: int) -> Array:
    """Groups after the first `cut` edges; small ones join along the shortest edge that reaches a group."""
    parent = list(range(n))
    size = [1] * n
    for i in range(n - 1):
        a, b = _root(parent, int(start[i])), _root(parent, int(end[i]))
        if i >= cut and min(size[a], size[b]) >= smallest:
            continue  # two groups stay apart
        if size[a] < size[b]:
            a, b = b, a
        parent[b] = a
        size[a] += size[b]
    found: Array = np.unique([_root(parent, i) for i in range(n)], return_inverse=True)[1]
    return found
