"""Quality of a clustering from the distances of its points: generalised Dunn indices, silhouette, and DQ."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from congruence.alternative_clustering.points import as_codes, as_knowns, as_points
from congruence.errors import InputError
from congruence.statistics.tables import Array
from congruence.typing import ClusteringLike, PointsLike

#: values of `inter` and `intra`, after Bezdek and Pal (1998)
INTER = {
    1: "smallest distance between points of two clusters",
    2: "largest distance",
    3: "mean distance",
    4: "distance of their centroids",
    5: "mean distance of the points of each to the centroid of the other",
    6: "Hausdorff distance",
}
INTRA = {1: "diameter", 2: "mean distance of two points", 3: "twice the mean distance to the centroid"}
#: most distances held at once
_CELLS = 4_000_000


def dunn(X: PointsLike, labels: ClusteringLike, inter: int = 4, intra: int = 3, *, scale: bool = False) -> float:
    """The generalised Dunn index: the smallest distance between clusters divided by the largest extent; higher is better.

    inter=1, intra=1 is Dunn's index. Only 4 and 5 with 3 cost O(n); the others use all pairs of points. A cluster of one
    point has extent 0; if all extents are 0, the index is infinite (0 if two clusters are also at distance 0). Reference:
    bezdek1998.

    Args:
        X: The data, points × attributes: an array or a frame.
        labels: One label per point, without gaps.
        inter: Distance δ between clusters: 1 single linkage, 2 complete, 3 average, 4 centroids (default), 5 points
            to the other centroid, 6 Hausdorff.
        intra: Extent Δ of a cluster: 1 diameter, 2 mean of all pairs, 3 twice the mean distance to the centroid
            (default).
        scale: Whether to standardise the attributes first. Default False.

    Returns:
        A float; higher is better.

    Raises:
        InputError: If an argument is invalid.

    See also:
        `cg.dissimilarity_quality`, `cg.alternatives`.

    >>> import congruence as cg
    >>> cg.dunn([[0.0], [1.0], [5.0], [6.0]], [0, 0, 1, 1])  # centroids 5 apart, extent 2 · 0.5
    5.0
    >>> cg.dunn([[0.0], [1.0], [5.0], [6.0]], [0, 0, 1, 1], inter=1, intra=1)
    4.0
    """
    points = as_points(X, scale=scale)
    return dunn_index(points.numbers, as_codes(labels, points.n, X=X), inter, intra)


def dissimilarity_quality(
    X: PointsLike, given: ClusteringLike, labels: ClusteringLike, inter: int = 4, intra: int = 3, *, scale: bool = False
) -> float:
    """DQ: the harmonic mean of 1 − Jaccard(given, labels) and the generalised Dunn index of the labels.

    Several given clusterings (columns, a list of label vectors) count by their mean dissimilarity. It is 0 if the
    labels are the given ones, or have no quality. The Dunn index is not bounded by 1, and random labels can score well with
    `inter=3, intra=1`: compare it with random labels. Reference: bae2010.

    Args:
        X: The data, points × attributes: an array or a frame.
        given: The given clustering, or several.
        labels: One label per point, without gaps.
        inter: Distance between clusters; see `cg.dunn`. Default 4.
        intra: Extent of a cluster; see `cg.dunn`. Default 3.
        scale: Whether to standardise the attributes first. Default False.

    Returns:
        A float; higher is better.

    Raises:
        InputError: If an argument is invalid.

    See also:
        `cg.dunn`, `cg.alternatives`.

    >>> import congruence as cg
    >>> X = [[0, 0], [0, 9], [9, 0], [9, 9]]
    >>> cg.dissimilarity_quality(X, [0, 0, 1, 1], [0, 1, 0, 1])
    1.0
    >>> cg.dissimilarity_quality(X, [0, 0, 1, 1], [1, 1, 0, 0])
    0.0
    """
    points = as_points(X, scale=scale)
    codes = as_codes(labels, points.n, X=X)
    apart = np.mean([dissimilarity(known, codes) for known in as_knowns(given, points.n, X).values()])
    return dq(float(apart), dunn_index(points.numbers, codes, inter, intra))


def dq(dissimilarity: float, quality: float) -> float:
    """The harmonic mean of the two; 0 if either is 0."""
    if dissimilarity <= 0 or quality <= 0:
        return 0.0
    return 2 / (1 / dissimilarity + 1 / quality)


def dissimilarity(a: Array, b: Array) -> float:
    """1 − the Jaccard index of two clusterings."""
    from congruence.comparison.pair import compare

    return 1.0 - compare(a, b, ["jaccard"])["jaccard"]


def check_index(inter: object, intra: object) -> None:
    """Raise if there is no such index."""
    if not all(isinstance(x, int | np.integer) for x in (inter, intra)) or inter not in INTER or intra not in INTRA:
        raise InputError(f"inter must be 1 to 6 and intra 1 to 3, not {inter!r} and {intra!r}")


def dunn_index(X: Array, codes: Array, inter: int = 4, intra: int = 3) -> float:
    """The index of points (n × d) and their codes 0 … k−1; every cluster must have points."""
    check_index(inter, intra)
    sizes = np.bincount(codes)
    k = len(sizes)
    if k < 2:
        raise InputError("the Dunn index needs at least two clusters; these labels have one")
    centres = centroids(X, codes, k)
    between, within = np.empty((k, k)), np.empty(k)
    if inter in (1, 2, 3, 6) or intra in (1, 2):
        order = np.argsort(codes, kind="stable")
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        low, high, total, far = (np.full((k, k), x) for x in (np.inf, 0.0, 0.0, 0.0))
        for rows, distances in _blocks(X[order], X[order]):
            own = codes[order][rows]
            nearest = np.minimum.reduceat(distances, starts, axis=1)
            np.minimum.at(low, own, nearest)
            np.maximum.at(far, own, nearest)
            np.maximum.at(high, own, np.maximum.reduceat(distances, starts, axis=1))
            np.add.at(total, own, np.add.reduceat(distances, starts, axis=1))
        pairs = np.outer(sizes, sizes)
        between = {1: low, 2: high, 3: total / pairs, 6: np.maximum(far, far.T)}.get(inter, between)
        within = {1: high.diagonal(), 2: total.diagonal() / np.maximum(sizes * (sizes - 1), 1)}.get(intra, within)
    if inter == 4:
        between = _distances(centres, centres)
    if inter == 5 or intra == 3:
        to_centres = np.zeros((k, k))  # (c, m): distances of the points of c to the centre of m, added up
        for rows, distances in _blocks(X, centres):
            np.add.at(to_centres, codes[rows], distances)
        if inter == 5:
            between = (to_centres + to_centres.T) / np.add.outer(sizes, sizes)
        if intra == 3:
            within = 2 * to_centres.diagonal() / sizes
    apart, extent = float(between[~np.eye(k, dtype=bool)].min()), float(within.max())
    if extent == 0:
        return math.inf if apart > 0 else 0.0
    return apart / extent


def silhouettes(X: Array, labellings: Sequence[Array]) -> list[float]:
    """The mean silhouette of each labelling, from one pass over all distances; a point alone in its cluster has 0."""
    ks = [int(codes.max()) + 1 for codes in labellings]
    indicators = np.hstack([np.eye(k)[codes] for k, codes in zip(ks, labellings, strict=True)])
    sizes = indicators.sum(axis=0)
    ends = np.cumsum(ks)
    totals = [0.0] * len(ks)
    for rows, distances in _blocks(X, X):
        sums = distances @ indicators
        for i, (k, end) in enumerate(zip(ks, ends, strict=True)):
            if k > 1:
                of = slice(end - k, end)
                totals[i] += _silhouettes_of(sums[:, of], sizes[of], labellings[i][rows])
    return [total / len(X) if k > 1 else math.nan for k, total in zip(ks, totals, strict=True)]


def _silhouettes_of(sums: Array, sizes: Array, own: Array) -> float:
    """The silhouettes of some points, added up, from their distances to the points of every cluster."""
    here = np.arange(len(own))
    within = sums[here, own] / np.maximum(sizes[own] - 1, 1)
    means = sums / np.maximum(sizes, 1)
    means[here, own] = np.inf
    other = means.min(axis=1)
    larger = np.maximum(within, other)
    scores = np.divide(other - within, larger, out=np.zeros(len(own)), where=larger > 0)
    return float(scores[sizes[own] > 1].sum())


def centroids(X: Array, codes: Array, k: int | None = None) -> Array:
    """The mean of each cluster, NaN for one without points; by default there are as many as the codes say."""
    k = int(codes.max()) + 1 if k is None else k
    sizes = np.bincount(codes, minlength=k)
    sums = np.stack([np.bincount(codes, weights=X[:, j], minlength=k) for j in range(X.shape[1])], axis=1)
    with np.errstate(invalid="ignore"):
        return np.asarray(sums / sizes[:, None])


def apart(X: Array, codes: Array) -> Array:
    """The points minus the means of their clusters."""
    return np.asarray(X - centroids(X, codes)[codes])


def _distances(A: Array, B: Array) -> Array:
    from scipy.spatial.distance import cdist

    return np.asarray(cdist(A, B))


def _blocks(A: Array, B: Array) -> Iterator[tuple[slice, Array]]:
    """Rows of the distances between A and B, in blocks within the memory budget."""
    step = max(1, _CELLS // len(B))
    for first in range(0, len(A), step):
        rows = slice(first, min(first + step, len(A)))
        yield rows, _distances(A[rows], B)
