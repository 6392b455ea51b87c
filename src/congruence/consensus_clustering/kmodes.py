"""k-modes: the centre of a cluster is its most frequent label in each member."""

from __future__ import annotations

import numpy as np

from congruence.consensus_clustering.evidence import Evidence
from congruence.consensus_clustering.lloyd import cheapest, lloyd
from congruence.consensus_clustering.methods import Found, Method
from congruence.formulas.record import Better
from congruence.statistics.tables import Array


def disagreement(e: Evidence, totals: Array) -> Array:
    """a_l if a vote is not the mode of the cluster in member l, else 0."""
    starts = np.searchsorted(e.member, np.arange(e.n_members + 1))
    cost = np.tile(e.weight, (len(totals), 1))
    for first, last in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
        mode = first + totals[:, first:last].argmax(axis=1)
        some = np.flatnonzero(totals[np.arange(len(totals)), mode] > 0)  # without points there is no mode
        cost[some, mode[some]] = 0.0
    return np.asarray(cost.T)


def _run(e: Evidence, k: int, rng: np.random.Generator, n_init: int = 10, **_: object) -> Found:
    labels, total, start, notes = lloyd(e, k, rng, disagreement, n_init)
    notes += ("memberships were used as shares of votes; the modes are labels",) if e.is_soft else ()
    return Found(labels, total, f"alternating modes{start}", notes, cheapest(disagreement(e, e.totals(labels, k))))


kmodes = Method(
    key="kmodes", title="k-modes", objective="labels that differ from the mode, mean over members", better=Better.LOWER,
    reference="huang1998", run=_run, restarts=("",), advice="similar to kcc, slightly worse; never the best on average",
)  # fmt: skip
