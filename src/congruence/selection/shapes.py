"""Clusters that valleys do not show: groups and spectral clusters of any shape, two along one axis, round ones that overlap."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from congruence.selection import calibration, families, kmeans, mixtures
from congruence.selection.halves import Fits
from congruence.statistics.tables import Array

#: k-means cuts through a shape if more than this share of the points is on the wrong side
MOST_CUT = 0.05
#: k-means is uncertain below this probability; its clusters are fragments if their border is less empty than this
DOUBT, EMPTY = 0.6, 3.0
#: smallest emptiness of the border, and smallest stability of the worst cluster, of accepted spectral clusters
SPECTRAL_BORDER, SPECTRAL_RETURNS = 8.0, 0.85
#: two clusters along an axis are looked for if no others are found, or two with less than this probability
HIDDEN = 0.9
#: overlapping clusters count if their BIC exceeds that of one Gaussian by this much ("strong" after Kass and Raftery 1995)
STRONG = 6.0
#: number of neighbours that define the density at a point
NEIGHBOURS = 5
#: smallest share of the points in a group, and in all groups together
SMALLEST, COVER = 0.05, 0.8
#: span above which groups are certainly separated; data without clusters rarely reach it
SPAN = 0.5
#: the same for distances relative to the local density: neighbours that define a connection, the neighbour whose distance
#: is the local scale (as in Zelnik-Manor and Perona 2004), the span, and the fewest points: fewer form groups by chance
LOCAL_NEIGHBOURS, LOCAL_SCALE, LOCAL_SPAN, LOCAL_POINTS = 2, 7, 0.3, 60
#: two clusters along an axis: fewest points, and most columns, also as a share of the points
AXIS_POINTS, AXIS_COLUMNS, COLUMNS_SHARE = 200, 30, 0.05
#: their smallest share of the points
SHARE = 0.05
#: depth of the valley between the two, in standard errors
DEPTH = 3.5
#: how far points halfway may lie from the line between the clusters, in standard deviations, and how much narrower or
#: wider across it they may be: arcs and rings also have a valley between their ends
STRAIGHT, NARROW, WIDE = 0.6, 0.6, 1.5


@dataclass(frozen=True, eq=False)
class Shapes:
    """Clusters of any shape: the method, their number, their probability, and the cluster of each point."""

    method: str
    k: int
    probability: float
    labels: Array


def shapes(
    points: Array, ks: Sequence[int], k: int, probability: float, fit: Fits, seeds: np.random.SeedSequence
) -> Shapes | None:
    """Shapes that k-means and the mixture cut through; None if there are none.

    Connected groups are tried first. If there are none and k-means finds no clusters, groups by distances relative to the
    local density are tried. If there are none of these and k-means finds no clusters or is uncertain, spectral clusters are
    tried; they can also separate groups that nearly touch. In one dimension there are no shapes to cut through.
    """
    if points.shape[1] == 1:
        return None
    there = connected_groups(points, ks)
    if there is not None and is_cut(points, there.labels, k, probability, fit):
        return there
    if k > 1 and (probability >= DOUBT or (there is not None and there.k == k)):
        return None
    if k == 1 and (there := connected_groups(points, ks, local=True)) is not None:
        return there
    clusters = spectral_clusters(points, ks, seeds)
    return clusters if clusters is not None and is_cut(points, clusters.labels, k, probability, fit) else None


def overlapping(fits: Mapping[int, Fits]) -> Shapes | None:
    """Round clusters of one size that overlap, so that no valley separates them, if there are any.

    Of all mixtures, with any number of components of any shape, the one with the best BIC has such components, and it is
    clearly better than one Gaussian of any shape.
    """
    known = {k: fit for k, fit in fits.items() if fit.bic == fit.bic}
    if 1 not in known:
        return None
    k = max(known, key=lambda x: known[x].bic)
    best = known[k]
    if not best.is_round or k == max(fits) or best.bic < known[1].bic + STRONG or len(np.unique(best.mixture)) < k:
        return None
    return Shapes("gaussian", k, calibration.certainty_of("overlapping"), best.mixture)


def along_an_axis(points: Array, ks: Sequence[int], k: int, probability: float) -> Shapes | None:
    """Two clusters separated along one axis, if k-means finds none or is in doubt; other columns that vary as much hide them."""
    if 2 not in ks or k > 2 or (k == 2 and probability >= HIDDEN):
        return None
    labels = two_along_an_axis(points)
    return None if labels is None else Shapes("axis", 2, calibration.certainty_of("axis"), labels)


def connected_groups(points: Array, ks: Sequence[int], local: bool = False) -> Shapes | None:
    """Connected groups that stay separated over a long span of distances, if there are any; see `groups`."""
    if local and len(points) < LOCAL_POINTS:
        return None
    found = groups(points, ks[-1], local)
    if found.k not in ks or found.span < (LOCAL_SPAN if local else SPAN):
        return None
    sure = calibration.certainty_of("local") if local else calibration.certainty_of_groups(found.span)
    return Shapes("connected groups", found.k, sure, found.labels)


def spectral_clusters(points: Array, ks: Sequence[int], seeds: np.random.SeedSequence) -> Shapes | None:
    """The largest number of spectral clusters that are found again in halves and have empty borders, if there is one."""
    clusterer = families.clusterer_of("spectral")
    whole = clusterer(points, ks, 0)
    parted = [x for x, z in zip(ks, families.borders(points, whole), strict=True) if x > 1 and z >= SPECTRAL_BORDER]
    if not parted:
        return None
    found = families.family_of(points, parted, clusterer, seeds)
    kept = [x for x, again in zip(parted, found.returns, strict=True) if again >= SPECTRAL_RETURNS]
    if not kept:
        return None
    return Shapes("spectral", kept[-1], calibration.certainty_of("spectral"), found.labels[kept[-1]])


def is_cut(points: Array, shape: Array, k: int, probability: float, fit: Fits) -> bool:
    """Whether k-means and the mixture, with k clusters, cut through a shape, or split it without an empty border."""
    clusterings = (fit.halves.labels, fit.mixture)
    if min(_across(labels, shape) for labels in clusterings) > MOST_CUT:
        return True
    if k <= len(np.unique(shape)):
        return False
    held = float(calibration.holds([k], fit.halves.returns.min(keepdims=True), np.array([fit.halves.valley]))[0])
    if held < 0.5 and fit.fisher < 1:
        return True
    return probability < DOUBT and bool(families.borders(points, dict(enumerate(clusterings))).max() < EMPTY)


def _across(labels: Array, groups: Array) -> float:
    """Share of the points outside the majority group of their cluster."""
    table = np.zeros((labels.max() + 1, groups.max() + 1))
    np.add.at(table, (labels, groups), 1)
    return float(1 - table.max(axis=1).sum() / len(labels))


# --- connected groups ---------------------------------------------------------------------------------------------


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
    As the distance grows, groups of at least 5% of the points appear and merge. The result is the number of groups that
    persists over the longest span while groups have 80% of the points. One group has span 0.

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


# --- two clusters along an axis -----------------------------------------------------------------------------------


def two_along_an_axis(points: Array) -> Array | None:
    """The cluster of each point, if the density along the axis that separates two clusters best has a deep valley.

    The axis found in one half of the points is looked at in the other half, where one cloud has no valley.

    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 3)) * 2
    >>> two_along_an_axis(X) is None
    True
    >>> X[:, 0] = rng.normal(size=2000) + 3.5 * (np.arange(2000) < 800)
    >>> found = two_along_an_axis(X)
    >>> bool(abs(found[:800].mean() - found[800:].mean()) > 0.8)
    True
    """
    n, d = points.shape
    if n < AXIS_POINTS or d > min(AXIS_COLUMNS, COLUMNS_SHARE * n):
        return None
    X = points - points.mean(axis=0)
    order = np.random.default_rng(0).permutation(n)
    halves = order[: n // 2], order[n // 2 :]
    parts = [_windows(X[one], X[other]) for one, other in (halves, halves[::-1])]
    if any(part is None for part in parts):
        return None
    a, middle, b = (np.concatenate(each) for each in zip(*(part for part in parts if part is not None), strict=True))
    least = min(len(a), len(b))
    if (least - len(middle)) < DEPTH * np.sqrt(least + len(middle) + 1):
        return None
    if d > 1 and len(middle):
        bend = np.linalg.norm(middle.mean(axis=0) - (a.mean(axis=0) + b.mean(axis=0)) / 2)
        across = middle.var(axis=0).sum() / max(a.var(axis=0).sum(), b.var(axis=0).sum(), 1e-300)
        if bend > STRAIGHT or not NARROW <= across <= WIDE:
            return None
    return mixtures.along(X, 2)


def _windows(seen: Array, points: Array) -> tuple[Array, Array, Array] | None:
    """The points near the first centre, halfway, and near the second, without their coordinate on the axis between them."""
    labels = mixtures.along(seen, 2)
    sizes = np.bincount(labels, minlength=2)
    if sizes.min() < SHARE * len(seen):
        return None
    centres = np.stack([seen[labels == j].mean(axis=0) for j in (0, 1)])
    apart = seen - centres[labels]
    within = apart.T @ apart / len(seen)
    factor = np.linalg.cholesky(np.linalg.inv(within + 1e-6 * np.trace(within) / len(within) * np.eye(len(within))))
    white, axis = (points - centres[0]) @ factor, (centres[1] - centres[0]) @ factor
    length = float(axis @ axis)
    if length <= 0:
        return None
    at = white @ axis / length
    rest = white - np.outer(at, axis)
    a, middle, b = (rest[np.abs(at - x) < mixtures.WINDOW] for x in (0.0, 0.5, 1.0))
    return (a, middle, b) if sizes[0] >= sizes[1] else (b, middle, a)
