"""K-means on the rows of the consensus matrix, which is never built."""

from __future__ import annotations

import numpy as np

from congruence.consensus_clustering.evidence import Evidence
from congruence.consensus_clustering.methods import Found, Method, Rule, filled, won_nothing
from congruence.formulas.record import Better
from congruence.statistics.tables import Array


def _run(e: Evidence, k: int, rng: np.random.Generator, n_init: int = 10, **_: object) -> Found:
    from sklearn.cluster import KMeans
    from threadpoolctl import threadpool_limits

    # rows i and j of C = H W Hᵀ differ by (h_i − h_j) W Hᵀ; with M the masses of the columns, their squared distance is that
    # of h_i R and h_j R for any R with R Rᵀ = W Hᵀ M H W, which has clusters × clusters entries
    root = _root(e.weight[:, None] * e.tables * e.weight[None, :])
    points = e.scores(root)
    with threadpool_limits(1):
        model = KMeans(k, n_init=n_init, random_state=int(rng.integers(2**31 - 1))).fit(points, sample_weight=e.mass)
    labels, centres = model.labels_.astype(np.int64), model.cluster_centers_
    empty = filled(labels, np.square(points - centres[labels]).sum(axis=1), e.mass, k)
    rule = None if empty else Rule(2 * root @ centres.T, -np.square(centres).sum(axis=1))
    solver = "k-means on the rows of the consensus matrix"
    return Found(labels, float(model.inertia_), solver, won_nothing(empty), rule)


def _root(matrix: Array) -> Array:
    """R with R Rᵀ equal to a positive semidefinite matrix."""
    values, vectors = np.linalg.eigh(matrix)
    some = values > 1e-12 * values[-1]
    return np.asarray(vectors[:, some] * np.sqrt(values[some]))


kmeans_matrix = Method(
    key="kmeans_matrix", title="K-means on the rows of the consensus matrix", objective="squared error", better=Better.LOWER,
    reference="kuncheva2006", run=_run, cluster_limit=3_000, restarts=("",),
    advice="groups points that agree with the same other points",
)  # fmt: skip
