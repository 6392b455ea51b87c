"""How many clusters by another clusterer than k-means: the largest number that comes back in halves and is parted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from congruence.engine.plan import Progress
from congruence.ensembles.generators import configured, hard
from congruence.selection import halves, kmeans, mixtures
from congruence.statistics.tables import Array

#: points and numbers of clusters → labels for each number
Clusterer = Callable[[Array, Sequence[int], int], dict[int, Array]]
#: random halvings: fewer than for k-means, which costs less
HALVINGS = 6
#: from this on, a border between clusters is emptier than the clusters
BORDER = 0.0
NEIGHBOURS, DENSITY = 8, 5


def clusterer_of(method: Any) -> Clusterer:
    """The clusterer of a name ("gaussian", "agglomerative", "spectral") or of a scikit-learn object."""
    known: dict[str, Clusterer] = {"gaussian": _gaussian, "agglomerative": _agglomerative, "spectral": _spectral}
    return known[method] if isinstance(method, str) else partial(_by_object, method)


def _gaussian(points: Array, ks: Sequence[int], seed: int) -> dict[int, Array]:
    starts = kmeans.seeds(points[None], max(ks), 10, np.random.default_rng(seed))
    found = {}
    for k in ks:
        labels = kmeans.nearest(points, kmeans.fit(points[None], starts[:, :, :k])[0][0])
        fitted = mixtures.fits(points, labels, k)
        found[k] = max(fitted, key=lambda f: f.bic).memberships.argmax(axis=0) if fitted else labels
    return found


def _agglomerative(points: Array, ks: Sequence[int], seed: int) -> dict[int, Array]:
    from scipy.cluster.hierarchy import fcluster, linkage

    tree = linkage(points, "ward")
    return {k: fcluster(tree, k, "maxclust") - 1 for k in ks}


def _spectral(points: Array, ks: Sequence[int], seed: int) -> dict[int, Array]:
    from sklearn.cluster import SpectralClustering

    near = min(10, len(points) - 1)
    model = SpectralClustering(affinity="nearest_neighbors", n_neighbors=near, assign_labels="cluster_qr")
    return _by_object(model, points, ks, seed)


def _by_object(clusterer: Any, points: Array, ks: Sequence[int], seed: int) -> dict[int, Array]:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "graph is not fully connected": that is what parted clusters look like
        return {k: hard(np.asarray(configured(clusterer, seed, k).fit_predict(points))) for k in ks if k > 1} | {
            k: np.zeros(len(points), dtype=np.int64) for k in ks if k == 1
        }


def looked(
    points: Array, ks: Sequence[int], clusterer: Clusterer, seeds: np.random.SeedSequence, progress: Any
) -> tuple[dict[int, Array], Array, Array]:
    """The clusterings of all points, how well the worst cluster of each comes back, and how empty its border is.

    Args:
        points: points × features.
        ks: numbers of clusters in order.
        clusterer: gives labels for each number.
        seeds: for the halves.
        progress: called with (done, total); None or True for a bar on a terminal, False for none.
    """
    from scipy.spatial import cKDTree

    rng = np.random.default_rng(seeds)
    n = len(points)
    with Progress(2 * HALVINGS + 1, progress, "clusterings") as bar:
        whole = clusterer(points, ks, int(rng.integers(2**31 - 1)))
        bar.add(1)
        found = {k: np.zeros((2 * HALVINGS, labels.max() + 1)) for k, labels in whole.items()}
        for h in range(HALVINGS):
            order = rng.permutation(n)
            for side, rows in enumerate((order[: n // 2], order[n // 2 :])):
                near = cKDTree(points[rows]).query(points)[1]
                for k, labels in clusterer(points[rows], ks, int(rng.integers(2**31 - 1))).items():
                    many = max(int(labels.max()), int(whole[k].max())) + 1
                    again = halves.returned(whole[k], labels[near][None], many)[0]
                    found[k][2 * h + side] = again[: found[k].shape[1]]
                bar.add(1)
    returns = np.array([found[k].mean(axis=0).min() for k in ks])
    tree = cKDTree(points)
    distance, near = tree.query(points, k=min(NEIGHBOURS, n - 1) + 1)
    sparse = np.log(np.maximum(distance[:, min(DENSITY, n - 1)], 1e-300))
    return whole, returns, np.array([_border(whole[k], near[:, 1:], sparse) for k in ks])


def _border(labels: Array, near: Array, sparse: Array) -> float:
    """Of the two clusters parted least: how much sparser points with a neighbour in the other are than the rest, as z.

    Fewer than three such points count as 0 at least, none at all as parted for sure.
    """
    worst = np.inf
    for a in range(int(labels.max()) + 1):
        for b in range(a):
            pair = (labels == a) | (labels == b)
            other = np.where(labels == a, b, a)
            edge = pair & (labels[near] == other[:, None]).any(axis=1)
            rest = pair & ~edge
            if not edge.any():
                continue
            few = edge.sum() < 3
            if rest.sum() < 2:
                worst = min(worst, 0.0 if few else -1.0)
                continue
            spread = np.sqrt(sparse[edge].var() / edge.sum() + sparse[rest].var() / rest.sum()) + 1e-12
            z = float((sparse[edge].mean() - sparse[rest].mean()) / spread)
            worst = min(worst, max(z, 0.0) if few else z)
    return float(worst)
