"""Hybrid bipartite graph formulation: points and clusters are the vertices of one graph, cut into k."""

from __future__ import annotations

from typing import Any

import numpy as np

from congruence.consensus_clustering.evidence import Evidence
from congruence.consensus_clustering.methods import Found, Method
from congruence.consensus_clustering.partition import partition_graph
from congruence.consensus_clustering.spectral import directions, eigenvectors, kmeans, nearest_direction
from congruence.formulas.record import Better
from congruence.statistics.tables import Array


def spectral_run(
    e: Evidence, k: int, rng: np.random.Generator, n_init: int = 10, variant: str = "spectral", solver: str = "auto",
    balance: float = 0.05, **_options: Any,
) -> Found:  # fmt: skip
    """k-means on the leading eigenvectors of the graph of points and clusters, or its cut by METIS."""
    if variant == "metis":
        return _by_cut(e, k, rng, solver, balance)
    # degrees are the weight of the edges of a point, and weight · size for a cluster
    row, column = 1 / np.sqrt(e.scores(e.weight)), np.sqrt(e.weight / e.sizes)
    places, left, right, solver = eigenvectors(e, row, column, k, rng)
    both = directions(np.vstack([left, right]))
    labels, centres, notes = kmeans(both, np.concatenate([e.mass, np.ones(e.n_columns)]), k, rng, n_init)
    points, clusters = labels[: e.n_rows], labels[e.n_rows :]
    cut, how = normalised_cut(e, points, clusters, k), f"spectral: {solver}, k-means on directions"
    return Found(points, cut, how, notes, nearest_direction(places, centres))


def normalised_cut(e: Evidence, points: Array, clusters: Array, k: int) -> float:
    """Sum over blocks of the weight of the edges that leave it ÷ the degrees in it, 0 to k: Σ_c (1 − inside_c / degree_c)."""
    totals = e.totals(points, k) * e.weight
    inside = np.array([2 * totals[c, clusters == c].sum() for c in range(k)])
    degree = totals.sum(axis=1) + np.bincount(clusters, weights=totals.sum(axis=0), minlength=k)
    return float((1 - inside[degree > 0] / degree[degree > 0]).sum())


def _by_cut(e: Evidence, k: int, rng: np.random.Generator, solver: str, balance: float) -> Found:
    from scipy.sparse import block_array, diags_array

    edges = diags_array(e.mass) @ e.votes @ diags_array(e.weight * e.n_members)
    graph = block_array([[None, edges], [edges.T, None]], format="csr")
    weight = np.concatenate([e.mass, np.ones(e.n_columns)])
    parts = partition_graph(graph, k, vertex_weight=weight, balance=balance, rng=rng, solver=solver)
    labels = parts.labels[: e.n_rows]
    return Found(labels, normalised_cut(e, labels, parts.labels[e.n_rows :], k), parts.solver, parts.notes)


hbgf = Method(
    key="hbgf", title="Hybrid bipartite graph formulation", objective="normalised cut of the bipartite graph",
    better=Better.LOWER,
    reference="fern2004", run=spectral_run, variants=("spectral", "metis"), sampled=("spectral",),
    advice="a good first choice; sensitive to small clusters and single points of poor members",
)  # fmt: skip
