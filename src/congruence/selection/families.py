"""Clusterers other than k-means: the largest k whose clusters are found again in halves and have empty borders."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from congruence.engine.plan import Progress
from congruence.ensembles.generators import configured, hard
from congruence.selection import calibration, halves, kmeans, mixtures
from congruence.selection.agreement_curves import check_counts
from congruence.selection.choice import KChoice, curve_of
from congruence.selection.partitions import Question, placed
from congruence.statistics.tables import Array
from congruence.typing import Estimator, ProgressLike

#: points and numbers of clusters → labels for each number
Clusterer = Callable[[Array, Sequence[int], int], dict[int, Array]]
#: linkages of agglomerative clustering, and all clusterers with a name; "agglomerative" is Ward's
LINKAGES = ("ward", "average", "complete", "single")
NAMES = ("gaussian", "agglomerative", *LINKAGES, "spectral")
#: random halvings; fewer than for k-means, which is cheaper
HALVINGS = 6
#: value above which a border between clusters is emptier than the clusters
BORDER = 0.0
NEIGHBOURS, DENSITY = 8, 5
#: neighbours of each point in the graph of spectral clustering, and most points for which all eigenvectors are computed
GRAPH, FEW = 10, 200


@dataclass(frozen=True, eq=False)
class Family:
    """Results of one clusterer for each number of clusters."""

    #: cluster of each point, by number of clusters
    labels: dict[int, Array]
    #: stability of the worst cluster in halves, by k; 0 if the clusterer returned another number of clusters
    returns: Array
    #: emptiness of the border between the two nearest clusters, as z; infinite if no point is at a border
    border: Array
    #: halvings that were done, and whether these are all
    halvings: int
    is_complete: bool


def clusterer_of(method: str | Estimator) -> Clusterer:
    """The clusterer for a name (see `NAMES`) or a scikit-learn object."""
    if not isinstance(method, str):
        return partial(_by_object, method)
    if method in ("agglomerative", *LINKAGES):
        return partial(_agglomerative, "ward" if method == "agglomerative" else method)
    known: dict[str, Clusterer] = {"gaussian": _gaussian, "spectral": _spectral}
    return known[method]


def _gaussian(points: Array, ks: Sequence[int], seed: int) -> dict[int, Array]:
    starts = kmeans.seeds(points[None], max(ks), 10, np.random.default_rng(seed))
    found = {}
    for k in ks:
        labels = kmeans.nearest(points, kmeans.fit(points[None], starts[:, :, :k])[0][0])
        fitted = mixtures.fits_of_two(points, labels, k)
        found[k] = max(fitted, key=lambda f: f.bic).memberships.argmax(axis=0) if fitted else labels
    return found


def _agglomerative(linkage_name: str, points: Array, ks: Sequence[int], seed: int) -> dict[int, Array]:
    from scipy.cluster.hierarchy import cut_tree, linkage

    cuts = cut_tree(linkage(points, linkage_name), n_clusters=list(ks))
    return {k: cuts[:, i] for i, k in enumerate(ks)}


def _spectral(points: Array, ks: Sequence[int], seed: int) -> dict[int, Array]:
    vectors = _eigenvectors(points, max(ks))
    return {k: _by_pivots(vectors[:, :k]) if k > 1 else np.zeros(len(points), dtype=np.int64) for k in ks}


def _eigenvectors(points: Array, many: int) -> Array:
    """First eigenvectors of the normalised Laplacian of the graph that joins each point to its nearest ten."""
    from scipy import sparse
    from scipy.linalg import eigh
    from scipy.sparse.csgraph import connected_components
    from scipy.sparse.linalg import eigsh
    from scipy.spatial import cKDTree

    n = len(points)
    near = cKDTree(points).query(points, k=min(GRAPH, n - 1) + 1)[1][:, 1:]
    edges = np.ones(near.size), (np.repeat(np.arange(n), near.shape[1]), near.ravel())
    graph = sparse.csr_array(edges, shape=(n, n))
    graph = graph + graph.T
    pieces, piece = connected_components(graph)
    if pieces >= many:  # as of repeated points: the smallest eigenvalue has more eigenvectors than are asked for
        largest = np.argsort(-np.bincount(piece), kind="stable")[:many]
        inside = (piece[:, None] == largest) * np.sqrt(graph.sum(axis=1))[:, None]
        return np.asarray(inside / np.linalg.norm(inside, axis=0))
    scale = sparse.diags_array(1 / np.sqrt(np.maximum(graph.sum(axis=1), 1e-300)))
    # adding 0.001 to the diagonal makes the matrix definite and keeps its eigenvectors
    laplacian = sparse.eye_array(n) * 1.001 - scale @ graph @ scale
    if n <= FEW or many >= n - 1:
        return np.asarray(eigh(laplacian.toarray(), subset_by_index=(0, min(many, n) - 1))[1])
    start = np.random.default_rng(0).normal(size=n)
    values, vectors = eigsh(laplacian.tocsc(), k=many, sigma=0, which="LM", v0=start)
    return np.asarray(vectors[:, np.argsort(values)])


def _by_pivots(vectors: Array) -> Array:
    """Clusters from eigenvectors (points × k) by column-pivoted QR (Damle, Minden and Ying 2019), which is deterministic."""
    from scipy.linalg import qr, svd

    k = vectors.shape[1]
    pivots = qr(vectors.T, mode="r", pivoting=True)[1][:k]
    left, _, right = svd(vectors[pivots].T)
    return np.asarray(np.abs(vectors @ (left @ right)).argmax(axis=1))


def _by_object(clusterer: Estimator, points: Array, ks: Sequence[int], seed: int) -> dict[int, Array]:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "graph is not fully connected": expected for separated clusters
        return {
            k: hard(np.asarray(configured(clusterer, seed, k).fit_predict(points)))
            if k > 1
            else np.zeros(len(points), dtype=np.int64)
            for k in ks
        }


def family_of(
    points: Array,
    ks: Sequence[int],
    clusterer: Clusterer,
    seeds: np.random.SeedSequence,
    progress: ProgressLike = False,
) -> Family:
    """Clusterings of all points, the stability of the worst cluster of each, and the emptiness of its border.

    Ctrl-C keeps the finished halvings, if there are any.
    """
    rng = np.random.default_rng(seeds)
    done: list[dict[int, Array]] = []
    with Progress(2 * HALVINGS + 1, progress, "clusterings") as bar:
        whole = clusterer(points, ks, int(rng.integers(2**31 - 1)))
        try:
            bar.add(1)
            for _ in range(HALVINGS):
                order = rng.permutation(len(points))
                for rows in (order[: len(points) // 2], order[len(points) // 2 :]):
                    seed = int(rng.integers(2**31 - 1))
                    done.append(_returned(points, rows, whole, clusterer(points[rows], ks, seed)))
                    bar.add(1)
        except KeyboardInterrupt:
            if len(done) < 2:
                raise
    return Family(whole, _worst(whole, done), borders(points, whole), len(done) // 2, len(done) == 2 * HALVINGS)


def _returned(points: Array, rows: Array, whole: dict[int, Array], half: dict[int, Array]) -> dict[int, Array]:
    """How well each cluster is found again in a half; other points join their nearest neighbour in it."""
    from scipy.spatial import cKDTree

    near = cKDTree(points[rows]).query(points)[1]
    found = {}
    for k, labels in whole.items():
        many = max(int(labels.max()), int(half[k].max())) + 1
        found[k] = halves.returned(labels, half[k][near][None], many)[0][: labels.max() + 1]
    return found


def _worst(whole: dict[int, Array], done: Sequence[dict[int, Array]]) -> Array:
    means = {k: float(np.mean([x[k] for x in done], axis=0).min()) for k in whole}
    return np.array([mean if len(np.unique(whole[k])) == k else 0.0 for k, mean in means.items()])


def borders(points: Array, whole: dict[int, Array]) -> Array:
    """Emptiness of the border between the two nearest clusters of each clustering, as z (see `Family.border`)."""
    from scipy.spatial import cKDTree

    n = len(points)
    distance, near = cKDTree(points).query(points, k=min(NEIGHBOURS, n - 1) + 1)
    sparse = np.log(np.maximum(distance[:, min(DENSITY, n - 1)], 1e-300))
    return np.array([_border(labels, near[:, 1:], sparse) for labels in whole.values()])


def _border(labels: Array, near: Array, sparse: Array) -> float:
    """For the two least separated clusters: how much sparser the points with a neighbour in the other are than the rest, as z.

    With fewer than three such points the value is at least 0; with none it is infinite.
    """
    worst = math.inf
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


def is_clusterer(method: str | Estimator) -> bool:
    """Whether this names a clusterer other than k-means, or is a scikit-learn clusterer."""
    if isinstance(method, str):
        return method in NAMES
    return hasattr(method, "fit_predict") and not isinstance(method, type)


def by_rule(asked: Question) -> KChoice:
    """The largest k whose clusters are found again in halves and are separated; if there is none, the most stable k."""
    from threadpoolctl import threadpool_limits

    check_counts(asked.method)
    able, notes, refused = asked.able(asked.called)
    if refused is not None:
        return refused
    clusterer = clusterer_of(asked.method)
    with threadpool_limits(1):
        found = family_of(asked.points.sample, able, clusterer, asked.seeds, asked.progress)
    if not found.is_complete:
        notes.append(f"stopped: {found.halvings} of {HALVINGS} halvings of the points are done")
    several = np.asarray(able) > 1
    holds = several & (found.returns >= calibration.RETURNS) & (found.border >= BORDER)
    returns = np.where(several, found.returns, np.nan)
    best = able[0] if able[0] == 1 else able[int(np.nanargmax(returns))]
    if holds.any():
        best = max(k for k, held in zip(able, holds, strict=True) if held)
    border = np.where(several & np.isfinite(found.border), found.border, np.nan)
    curves = [
        curve_of("rule", "Stable and separated", holds.astype(float), best, votes=True),
        curve_of("returns", "Stability of the worst cluster in halves", returns),
        curve_of("border", "Emptiness of the border between the nearest clusters", border),
    ]
    partitions = {k: placed(asked.points, labels) for k, labels in found.labels.items()}
    return asked.answer(able, {c.name: c for c in curves}, partitions, notes, found.is_complete, method=asked.called)
