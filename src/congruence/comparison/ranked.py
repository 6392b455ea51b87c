"""The ranked adjusted Rand index: pairs of points by how near their clusters are to each other."""

from __future__ import annotations

import numpy as np

from congruence.ensembles.generators import as_data
from congruence.errors import InputError, Option, counted
from congruence.inputs.alignment import whole_labels
from congruence.inputs.coerce import as_clustering
from congruence.inputs.labels import Labels
from congruence.statistics.tables import Array
from congruence.typing import ClusteringLike, PointsLike


def ranked_ari(
    a: ClusteringLike,
    b: ClusteringLike,
    X: PointsLike = None,
    *,
    X_b: PointsLike = None,
    distances: PointsLike = None,
    distances_b: PointsLike = None,
) -> float:
    """The adjusted Rand index with the ranks of the distances between clusters (Pinto et al. 2007).

    A pair of points has a rank in each clustering: 0 in one cluster, 1 in nearest clusters, and so on, seen from the cluster
    of each point. Ranks are scaled to 0…1. The index is 1 − d ÷ e, where d is the mean difference of the two ranks of a pair,
    and e its value if the ranks were independent. A pair that b separates into neighbouring clusters counts less than one that
    it puts far apart. Without distances all other clusters are equally near, and the index is `ari`.

    Args:
        a: First clustering: one label per point, none missing.
        b: Second clustering of the same points.
        X: The data, points × attributes: the distance of two clusters is that of their means. Default None: no distances.
        X_b: The data of b, where that is another source. Default None: X.
        distances: Distances between the points, n × n, in place of X: clusters are as far apart as their points on average.
        distances_b: The same for b. Default None: those of a.

    Returns:
        1 if all pairs have the same ranks, also where that is 0/0; 0 on average for independent ranks.

    Raises:
        InputError: If lengths differ, a label is missing, or both X and distances are given.

    See also:
        `cg.ari`, `cg.adco`.

    >>> import congruence as cg
    >>> X = [[0.0], [1.0], [10.0], [11.0], [90.0], [91.0]]
    >>> near, far = [0, 0, 0, 1, 2, 2], [0, 0, 1, 1, 2, 0]
    >>> truth = [0, 0, 1, 1, 2, 2]
    >>> round(cg.ranked_ari(truth, near, X), 3), round(cg.ranked_ari(truth, far, X), 3)
    (0.688, 0.298)
    >>> round(cg.ranked_ari(truth, near), 3), round(cg.ari(truth, near), 3), round(cg.ari(truth, far), 3)
    (0.444, 0.444, 0.444)
    """
    one = whole_labels(a, len(as_clustering(a, "a")), "a")
    two = whole_labels(b, len(one), "b")
    for points, matrix, suffix in ((X, distances, ""), (X_b, distances_b, "_b")):
        if points is not None and matrix is not None:
            raise InputError(f"pass X{suffix} or {Option('distances' + suffix)}, not both")
    ranks_a = _ranks(one, X, distances, "")
    ranks_b = _ranks(two, *((X, distances) if X_b is None and distances_b is None else (X_b, distances_b)), "_b")
    counts = _pairs(one, two, ranks_a, ranks_b)
    off = np.abs(np.linspace(0, 1, counts.shape[0])[:, None] - np.linspace(0, 1, counts.shape[1])[None, :])
    chance = float(counts.sum(axis=1) @ off @ counts.sum(axis=0)) / max(float(counts.sum()), 1.0)
    return 1 - float((counts * off).sum()) / chance if chance else 1.0


def _ranks(labels: Labels, X: PointsLike, distances: PointsLike, suffix: str) -> Array:
    """Rank of each cluster (row) seen from each cluster (column): 0 for itself, equal distances have equal ranks."""
    k, codes = labels.k, labels.codes.astype(np.int64)
    if X is None and distances is None:
        return np.asarray(1 - np.eye(k, dtype=np.int64))
    between = (
        _between_means(labels, X, suffix) if distances is None else _mean_distances(labels, codes, distances, suffix)
    )
    between = np.round(
        between / max(float(np.abs(between).max(initial=0.0)), 1e-300), 12
    )  # equal up to rounding is equal
    np.fill_diagonal(between, -1.0)  # a cluster is nearest to itself, also among clusters with the same mean
    return np.column_stack([np.unique(column, return_inverse=True)[1] for column in between.T]).astype(np.int64)


def _between_means(labels: Labels, X: PointsLike, suffix: str) -> Array:
    points = _dense(X)
    if len(points) != len(labels):
        raise InputError(f"X{suffix} has {counted(len(points), 'row')} and the labels {len(labels)} elements")
    codes, sizes = labels.codes.astype(np.int64), np.bincount(labels.codes, minlength=labels.k)
    means = np.column_stack([np.bincount(codes, column, labels.k) for column in points.T]) / sizes[:, None]
    return np.asarray(np.sqrt(np.square(means[:, None] - means[None, :]).sum(axis=2)))


def _mean_distances(labels: Labels, codes: Array, distances: PointsLike, suffix: str) -> Array:
    matrix, n = _dense(distances), len(labels)
    if matrix.shape != (n, n):
        shape = " × ".join(map(str, matrix.shape))
        raise InputError(f"{Option('distances' + suffix)} must be n × n for {n} points; got {shape}")
    from scipy.sparse import csr_array

    member = csr_array((np.ones(n), (codes, np.arange(n))), shape=(labels.k, n))
    sizes = np.bincount(codes, minlength=labels.k)
    return np.asarray((member @ (member @ matrix.T).T) / np.outer(sizes, sizes))


def _dense(given: PointsLike) -> Array:
    data = as_data(given)
    return np.asarray(data.toarray() if hasattr(data, "toarray") else data)


def _pairs(a: Labels, b: Labels, ranks_a: Array, ranks_b: Array) -> Array:
    """Number of ordered pairs of different points by their rank in a and in b."""
    table = (
        np.bincount(a.codes.astype(np.int64) * b.k + b.codes, minlength=a.k * b.k).reshape(a.k, b.k).astype(np.float64)
    )
    rows = int(ranks_a.max(initial=0)) + 1
    found = np.stack(
        [
            np.bincount(ranks_a.ravel(), (table @ (ranks_b == rank) @ table.T).ravel(), rows)
            for rank in range(int(ranks_b.max(initial=0)) + 1)
        ],
        axis=1,
    )
    found[0, 0] -= len(a)  # a point with itself
    return found
