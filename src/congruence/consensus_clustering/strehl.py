"""The three methods of Strehl and Ghosh (2002), which partition a graph or a hypergraph: cspa, hgpa and mcla."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from congruence.consensus_clustering.evidence import GRAM_LIMIT, Evidence
from congruence.consensus_clustering.methods import Found, Method, Rule
from congruence.consensus_clustering.partition import Parts, partition_graph, partition_hypergraph
from congruence.formulas.record import Better
from congruence.statistics.tables import Array

# --- cspa: the consensus matrix is a graph, cut into k blocks of equal size ---------------------------------------------


def _cspa(
    e: Evidence, k: int, rng: np.random.Generator, solver: str = "auto", balance: float = 0.05, **_: object
) -> Found:
    half = (e.votes * np.sqrt(e.weight)[None, :]).tocsr()
    weights = (half @ half.T).toarray()  # a member without one of the two points adds nothing to their edge
    if not e.is_soft and np.ptp(e.share) == 0:
        weights = np.rint(weights * e.n_members)  # number of members: integers stay exact
    weights *= e.mass[:, None] * e.mass[None, :]
    np.fill_diagonal(weights, 0.0)
    parts = partition_graph(csr_array(weights), k, vertex_weight=e.mass, balance=balance, rng=rng, solver=solver)
    return Found(parts.labels, parts.cut, parts.solver, parts.notes)


cspa = Method(
    key="cspa", title="Cluster-based similarity partitioning", objective="weight of the cut edges", better=Better.LOWER,
    reference="strehl2002", run=_cspa, partitions=("",), limit=5_000, sampled=(),
    advice="blocks of equal size; on average worse than hbgf, for comparison only",
)  # fmt: skip


# --- hgpa: clusters are hyperedges, and k blocks of equal size cut as few of them as possible ----------------------------


def _hgpa(
    e: Evidence, k: int, rng: np.random.Generator, solver: str = "auto", balance: float = 0.05, variant: str = "unit",
    **_: object,
) -> Found:  # fmt: skip
    rows, members = np.nonzero(e.seen)
    incidence = csr_array((np.ones(len(rows)), (rows, e.column[rows, members])), shape=(e.n_rows, e.n_columns))
    weight = e.weight * e.n_members * (e.sizes if variant == "size" else 1.0)
    parts = partition_hypergraph(
        incidence, k, edge_weight=weight, vertex_weight=e.mass, balance=balance, rng=rng, solver=solver
    )
    notes = parts.notes + (("soft members were used as labels, by the largest membership",) if e.is_soft else ())
    return Found(parts.labels, parts.cut, parts.solver, notes)


hgpa = Method(
    key="hgpa", title="Hypergraph partitioning", objective="weight of the cut hyperedges", better=Better.LOWER,
    reference="strehl2002", run=_hgpa, partitions=("unit", "size"), variants=("unit", "size"), sampled=(),
    advice="blocks of equal size; never the best, for comparison only",
)  # fmt: skip


# --- mcla: clusters are grouped into k metaclusters, and each point goes to the one it is in most -------------------------


def _mcla(
    e: Evidence, k: int, rng: np.random.Generator, solver: str = "auto", balance: float = 0.05, variant: str = "unit",
    **_: object,
) -> Found:  # fmt: skip
    if e.n_columns <= k:
        parts = Parts(np.arange(e.n_columns), 0.0, "every cluster is a metacluster", ())
    else:
        weight = e.sizes_in_tables if variant == "strehl" else None
        parts = partition_graph(csr_array(jaccard(e)), k, vertex_weight=weight, balance=balance, rng=rng, solver=solver)
    support = association(e, parts.labels, k)
    labels = np.where(support.any(axis=1), support.argmax(axis=1), -1)
    # with gaps the mean is over the members that have the point: not a sum over its clusters
    rule = None if e.has_gaps else Rule(_shared(e, parts.labels, k), np.zeros(k))
    return Found(labels, parts.cut, parts.solver, parts.notes, rule)


def _shared(e: Evidence, meta: Array, k: int) -> Array:
    """The contribution of a vote for each cluster to the mean of each metacluster."""
    found = np.zeros((e.n_columns, k))
    found[np.arange(e.n_columns), meta] = e.weight / np.bincount(meta, weights=e.weight, minlength=k)[meta]
    return found


def jaccard(e: Evidence) -> Array:
    """Jaccard index of all pairs of clusters, with 0 on the diagonal."""
    both, sizes = e.tables, e.sizes_in_tables
    either = sizes[:, None] + sizes[None, :] - both
    found = np.divide(both, either, out=np.zeros(both.shape), where=either > 0)
    np.fill_diagonal(found, 0.0)
    return np.asarray(found)


def association(e: Evidence, meta: Array, k: int) -> Array:
    """Share of the clusters of a metacluster that contain the point, among members that label it."""
    one_hot = np.zeros((e.n_columns, k))
    one_hot[np.arange(e.n_columns), meta] = e.weight
    inside = e.scores(one_hot)
    per_member = np.zeros((e.n_members, k))
    np.add.at(per_member, e.member, one_hot)
    could = e.seen @ per_member if e.has_gaps else per_member.sum(axis=0)[None, :]
    return np.asarray(
        np.divide(inside, could, out=np.zeros_like(inside), where=np.broadcast_to(could > 0, inside.shape))
    )


mcla = Method(
    key="mcla", title="Meta-clustering algorithm", objective="cut of the graph of clusters (Jaccard weights)",
    better=Better.LOWER,
    reference="strehl2002", run=_mcla, cluster_limit=GRAM_LIMIT, variants=("unit", "strehl"), sampled=("unit", "strehl"),
    reads_tables=("unit", "strehl"), partitions=("unit", "strehl"),
    advice="good with sound members; collapses with poor ones",
)  # fmt: skip
