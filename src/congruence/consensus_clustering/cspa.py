"""Cluster-based similarity partitioning: the consensus matrix as a graph, cut into k blocks of equal size."""

from __future__ import annotations

import numpy as np

from congruence.consensus_clustering.evidence import Evidence
from congruence.consensus_clustering.methods import Found, Method
from congruence.consensus_clustering.partition import partition_graph
from congruence.formulas.record import Better


def _run(
    e: Evidence, k: int, rng: np.random.Generator, solver: str = "auto", balance: float = 0.05, **_: object
) -> Found:
    from scipy.sparse import csr_array

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
    reference="strehl2002", run=_run, partitions=("",), limit=5_000, sampled=(),
    advice="blocks of equal size; on average worse than hbgf, for comparison only",
)  # fmt: skip
