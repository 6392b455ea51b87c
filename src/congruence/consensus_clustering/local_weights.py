"""Locally weighted consensus: clusters are weighted by how certain the other members are of them (Huang, Wang and Lai 2018)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from congruence.consensus_clustering.evidence import GRAM_LIMIT, Evidence
from congruence.consensus_clustering.linkage import average_run
from congruence.consensus_clustering.methods import Found, Method
from congruence.consensus_clustering.spectral import spectral_run
from congruence.formulas.record import Better
from congruence.statistics.tables import Array
from congruence.typing import OptionValue

#: θ of the paper: a smaller value gives less weight to clusters that other members cut
THETA = 0.4


def certainties(e: Evidence, theta: float = THETA) -> Array:
    """exp(−h / θ) for each cluster, h the mean over members of the entropy, in bits, of its points in the member.

    Computed from the clusters × clusters table. A member without any of its points is ignored.
    """
    tables = e.tables
    inside = e.by_member(tables)
    logs = e.by_member(tables * np.log2(np.where(tables > 0, tables, 1.0)))
    some = np.where(inside > 0, inside, 1.0)
    entropy = np.where(inside > 0, np.maximum(np.log2(some) - logs / some, 0.0), 0.0)
    known = (inside > 0) * e.share
    return np.asarray(np.exp(-(entropy * known).sum(axis=1) / known.sum(axis=1) / theta))


def _weighted(e: Evidence) -> Evidence:
    return replace(e, certainty=certainties(e))


def _lwea(e: Evidence, k: int | None, rng: np.random.Generator, **options: OptionValue) -> Found:
    return average_run(_weighted(e), k, rng, **options)


def _lwgp(e: Evidence, k: int, rng: np.random.Generator, n_init: int = 10, **_: object) -> Found:
    return spectral_run(_weighted(e), k, rng, n_init)


lwea = Method(
    key="lwea", title="Locally weighted evidence accumulation", objective="height of the last merge", better=Better.LOWER,
    reference="huang2018", run=_lwea, limit=100_000, cluster_limit=GRAM_LIMIT, variants=("full", "sample"),
    sampled=("sample",),
    advice="good on pools of k-means with more clusters than requested, for six or more clusters; poor for two or three",
)  # fmt: skip
lwgp = Method(
    key="lwgp", title="Locally weighted graph partitioning", objective="normalised cut of the bipartite graph",
    better=Better.LOWER,
    reference="huang2018", run=_lwgp, cluster_limit=GRAM_LIMIT, reads_tables=("",), restarts=("",),
    advice="like lwea, without comparing points; poor for two or three clusters",
)  # fmt: skip
