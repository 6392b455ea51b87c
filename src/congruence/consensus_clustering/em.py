"""A mixture of multinomials: within a consensus cluster the members vote independently of each other."""

from __future__ import annotations

import numpy as np

from congruence.consensus_clustering.evidence import Evidence, medoid
from congruence.consensus_clustering.lloyd import spread
from congruence.consensus_clustering.methods import Found, Method, Rule, filled, unsettled, won_nothing
from congruence.formulas.record import Better
from congruence.statistics.tables import Array

STEPS, TOLERANCE = 300, 1e-7
#: added to the share of each vote in each consensus cluster, so that a vote not seen there is unlikely but not impossible
SMOOTHING = 1e-6


def _run(e: Evidence, k: int, rng: np.random.Generator, n_init: int = 10, **_: object) -> Found:
    central = medoid(e, k)
    starts = [spread(e, k, rng) for _ in range(n_init)] + ([] if central is None else [central])
    best = max((_fit(e, labels, k) for labels in starts), key=lambda fit: fit[0])
    likelihood, table, bias, settled = best
    support = e.scores(table) + bias
    labels = support.argmax(axis=1)
    empty = filled(labels, -support.max(axis=1), e.mass, k)
    notes = won_nothing(empty) + unsettled(settled, STEPS)
    return Found(labels, likelihood, "EM of a mixture of votes", notes, None if empty else Rule(table, bias))


def _fit(e: Evidence, labels: Array, k: int) -> tuple[float, Array, Array, bool]:
    """Log-likelihood per unit of mass, log of the votes of each cluster × weight, log of the shares, whether it converged."""
    share = np.eye(k)[labels]
    weight = e.weight * e.n_members
    total, before = float(e.mass.sum()), -np.inf
    for _ in range(STEPS):
        mass = e.mass[:, None] * share
        counts = np.asarray(e.votes.T @ mass) + SMOOTHING * total
        table = weight[:, None] * np.log(counts / e.by_member(counts, axis=0)[e.member])
        bias = np.log((mass.sum(axis=0) + SMOOTHING * total) / (total * (1 + k * SMOOTHING)))
        logs = e.scores(table) + bias
        top = logs.max(axis=1, keepdims=True)
        raised = np.exp(logs - top)
        share = raised / raised.sum(axis=1, keepdims=True)
        likelihood = float(e.mass @ (top[:, 0] + np.log(raised.sum(axis=1)))) / total
        if likelihood - before < TOLERANCE * max(1.0, abs(likelihood)):
            return likelihood, table, bias, True
        before = likelihood
    return likelihood, table, bias, False


em = Method(
    key="em", title="Mixture of multinomials (EM)", objective="log-likelihood per point", better=Better.HIGHER,
    reference="topchy2005", run=_run, restarts=("",), advice="members that err independently of each other",
)  # fmt: skip
