"""Hypergraph partitioning: clusters are hyperedges, and k blocks of equal size cut as few of them as possible."""

from __future__ import annotations

import numpy as np

from congruence.consensus_clustering.evidence import Evidence
from congruence.consensus_clustering.methods import Found, Method
from congruence.consensus_clustering.partition import partition_hypergraph
from congruence.formulas.record import Better


def _run(
    e: Evidence, k: int, rng: np.random.Generator, solver: str = "auto", balance: float = 0.05, variant: str = "unit",
    **_: object,
) -> Found:  # fmt: skip
    from scipy.sparse import csr_array

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
    reference="strehl2002", run=_run, partitions=("unit", "size"), variants=("unit", "size"), sampled=(),
    advice="blocks of equal size; never the best, for comparison only",
)  # fmt: skip
