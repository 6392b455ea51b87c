"""Normalised cuts by eigenvectors: hbgf cuts the graph of points and clusters, ncut the graph of the consensus matrix."""

from __future__ import annotations

import numpy as np

from congruence.consensus_clustering.evidence import GRAM_LIMIT, Evidence
from congruence.consensus_clustering.methods import Found, Method, Rule
from congruence.consensus_clustering.partition import partition_graph
from congruence.formulas.record import Better
from congruence.statistics.tables import Array
from congruence.typing import OptionValue

#: with more clusters than this, and many more than vectors wanted, Lanczos iteration is faster than the dense matrix
LANCZOS_ABOVE = 500
#: points on which the starts of k-means are tried; the best start continues with all of them
STARTS_ON = 20_000


# --- leading eigenvectors through the clusters × clusters matrix, and k-means on their directions ----------------------


def eigenvectors(e: Evidence, row_scale: Array, column_scale: Array, k: int) -> tuple[Array, Array, Array, str]:
    """Top k singular vectors of B = diag(√mass · row_scale) · H · diag(column_scale): parts of the left ones, left, right.

    The left vectors are returned for one point of each signature, without √mass: row_scale times the sum of the parts
    of its clusters. They come from the eigenvectors of BᵀB, clusters × clusters (Li, Wu and Chang's transfer cut), so
    no points × points matrix is built. If these points are a sample, BᵀB is that of all points as far as their tables give it.
    """
    k = min(k, e.n_columns, e.n_rows)
    few = e.n_columns <= LANCZOS_ABOVE or 8 * k > min(e.n_columns, e.n_rows)
    if e.everyone is None and few and LANCZOS_ABOVE < e.n_columns > e.n_rows <= GRAM_LIMIT:
        # few points in many members
        from scipy.linalg import eigh

        b = (e.votes.multiply((np.sqrt(e.mass) * row_scale)[:, None])).tocsr().multiply(column_scale[None, :]).tocsr()
        values, left = eigh((b @ b.T).toarray(), subset_by_index=(e.n_rows - k, e.n_rows - 1))
        singular, left = np.sqrt(np.maximum(values[::-1], 0.0)), left[:, ::-1]
        right = (b.T @ left) / np.where(singular > 0, singular, 1.0)
        solver = "eigenvectors of the points × points matrix"
    elif few and e.n_columns <= GRAM_LIMIT:
        from scipy.linalg import eigh
        from threadpoolctl import threadpool_limits

        gram = e.scaled_tables(row_scale**2) * column_scale[:, None] * column_scale[None, :]
        with threadpool_limits(1 if e.n_columns <= LANCZOS_ABOVE else None):  # threads do not pay for small matrices
            values, right = eigh(gram, subset_by_index=(e.n_columns - k, e.n_columns - 1))
        singular, right = np.sqrt(np.maximum(values[::-1], 0.0)), right[:, ::-1]
        solver = "eigenvectors of the clusters × clusters matrix"
    elif e.everyone is not None:
        from scipy.sparse.linalg import eigsh

        gram = e.scaled_tables(row_scale**2) * column_scale[:, None] * column_scale[None, :]
        values, right = eigsh(gram, k=k, which="LA", v0=np.random.default_rng(0).normal(size=e.n_columns))
        order = np.argsort(-values)
        singular, right = np.sqrt(np.maximum(values[order], 0.0)), right[:, order]
        solver = "eigenvectors of the clusters × clusters matrix by Lanczos iteration (ARPACK)"
    else:
        from scipy.sparse import diags_array
        from scipy.sparse.linalg import svds

        b = diags_array(np.sqrt(e.mass) * row_scale) @ e.votes @ diags_array(column_scale)
        _, singular, transposed = svds(
            b, k=min(k, min(b.shape) - 1), v0=np.random.default_rng(0).normal(size=min(b.shape))
        )
        singular, right = singular[::-1], transposed[::-1].T
        solver = "singular vectors by Lanczos iteration (ARPACK)"
    kept = singular > 1e-7 * singular[0]
    singular, right = singular[kept], right[:, kept]
    right = right * np.where(np.abs(right).max(axis=0) == right.max(axis=0), 1.0, -1.0)  # fix the sign
    places = column_scale[:, None] * right / singular
    return places, e.scores(places) * row_scale[:, None], right, solver


def directions(x: Array) -> Array:
    """Rows of length 1."""
    length = np.linalg.norm(x, axis=1, keepdims=True)
    return np.asarray(np.divide(x, length, out=np.zeros_like(x), where=length > 0))


def kmeans(
    x: Array, weight: Array, k: int, rng: np.random.Generator, n_init: int
) -> tuple[Array, Array, tuple[str, ...]]:
    """Labels and centres by k-means; starts are tried on a sample, and the best one continues with all points."""
    import warnings

    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1), warnings.catch_warnings():  # one thread: the same sums on all machines
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer distinct directions than k; n_clusters shows it
        few, own = x, weight
        if len(x) > STARTS_ON:
            chosen = np.sort(rng.choice(len(x), STARTS_ON, replace=False, p=weight / weight.sum()))
            few, own = x[chosen], np.ones(STARTS_ON)
        found: KMeans | None = None
        for start in ["k-means++"] * n_init + [_orthogonal(few, k, rng)]:
            seed = int(rng.integers(2**31 - 1))
            model = KMeans(k, init=start, n_init=1, max_iter=200, random_state=seed).fit(few, sample_weight=own)
            if found is None or model.inertia_ < found.inertia_ * (1 - 1e-9):
                found = model
        assert found is not None
        if few is not x:
            found = KMeans(k, init=found.cluster_centers_, n_init=1, max_iter=200).fit(x, sample_weight=weight)
    stopped = found.n_iter_ >= 200
    notes = ("k-means stopped after 200 steps",) if stopped else ()
    return found.labels_.astype(np.int64), found.cluster_centers_, notes


def nearest_direction(places: Array, centres: Array) -> Rule:
    """The rule that assigns a point to the centre nearest to the direction of the sum of its clusters."""
    return Rule(places, -np.square(centres).sum(axis=1) / 2, centres)


def _orthogonal(x: Array, k: int, rng: np.random.Generator) -> Array:
    """A start of maximally different directions (Fern and Brodley): each has the least overlap with the previous ones."""
    chosen = [int(rng.integers(len(x)))]
    overlap = np.zeros(len(x))
    for _ in range(k - 1):
        overlap += np.abs(x @ x[chosen[-1]])
        chosen.append(int(overlap.argmin()))
    return x[chosen]


# --- hbgf: points and clusters are the vertices of one graph ------------------------------------------------------------


def spectral_run(
    e: Evidence, k: int, rng: np.random.Generator, n_init: int = 10, variant: str = "spectral", solver: str = "auto",
    balance: float = 0.05, **_options: OptionValue,
) -> Found:  # fmt: skip
    """k-means on the leading eigenvectors of the graph of points and clusters, or its cut by METIS."""
    if variant == "metis":
        return _by_cut(e, k, rng, solver, balance)
    # degrees are the weight of the edges of a point, and weight · size for a cluster
    row, column = 1 / np.sqrt(e.scores(e.weight)), np.sqrt(e.weight / e.sizes_in_tables)
    places, left, right, solver = eigenvectors(e, row, column, k)
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
    reads_tables=("spectral",), partitions=("metis",), restarts=("spectral",),
    advice="a good first choice; sensitive to small clusters and single points of poor members",
)  # fmt: skip


# --- ncut: the weights of the graph are the consensus matrix ------------------------------------------------------------


def degrees(e: Evidence) -> Array:
    """Row sums of the consensus matrix."""
    return e.scores(e.weight * e.sizes)


def _ncut(e: Evidence, k: int, rng: np.random.Generator, n_init: int = 10, **_options: OptionValue) -> Found:
    degree = degrees(e)
    of_all = e.scores(e.weight * e.sizes_in_tables)
    places, left, _, solver = eigenvectors(e, 1 / np.sqrt(of_all), np.sqrt(e.weight), k)
    labels, centres, notes = kmeans(directions(left), e.mass, k, rng, n_init)
    inside = (e.totals(labels, k) ** 2 * e.weight).sum(axis=1)
    volume = np.bincount(labels, weights=degree * e.mass, minlength=k)
    cut = float((1 - inside[volume > 0] / volume[volume > 0]).sum())
    rule = nearest_direction(places, centres)
    return Found(labels, cut, f"spectral: {solver}, k-means on directions", notes, rule)


ncut = Method(
    key="ncut", title="Normalised cut of the consensus matrix", objective="normalised cut", better=Better.LOWER,
    reference="yu2007", run=_ncut, reads_tables=("",), restarts=("",),
    advice="best if many members are nearly one cluster; loses small true clusters",
)  # fmt: skip
