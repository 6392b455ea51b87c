"""Plurality voting: match each member's clusters with those of the consensus, let members vote, and repeat until convergence."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from scipy.optimize import linear_sum_assignment

from congruence.consensus_clustering.evidence import Evidence, medoid
from congruence.consensus_clustering.lloyd import kcc
from congruence.consensus_clustering.methods import Found, Method, Rule, filled, won_nothing
from congruence.formulas.record import Better
from congruence.statistics.tables import Array

STEPS = 100
#: distinct points on which the most central member is found
SAMPLE = 20_000


def _run(e: Evidence, k: int, rng: np.random.Generator, n_init: int = 10, **_: object) -> Found:
    few = e
    if e.n_rows > SAMPLE:
        few = e.taken(e.drawn(SAMPLE, rng))
    labels, start = medoid(e, k, few), "the most central member"
    if labels is None:
        labels, start = kcc(e, k, rng, n_init=n_init).labels, f"kcc, because no complete member has {k} clusters"
    before: list[bytes] = []
    for _step in range(STEPS):
        table = matched(e, labels, k)
        support = e.scores(table)
        voted = support.argmax(axis=1)
        before.append(labels.tobytes())
        if voted.tobytes() in before:  # converged, or in a cycle
            break
        labels = voted
    settled = voted.tobytes() == before[-1]
    empty = filled(voted, e.seen_share - support.max(axis=1), e.mass, k)
    agreed = float((support[np.arange(e.n_rows), voted] * e.mass).sum() / (e.seen_share * e.mass).sum())
    notes = won_nothing(empty)
    if not settled:
        notes = ("voting did not converge; the last round was used", *notes)
    rule = None if empty else Rule(table, np.zeros(k))
    return Found(voted, agreed, f"matching and voting, started from {start}", notes, rule)


def matched(e: Evidence, labels: Array, k: int) -> Array:
    """Votes of each cluster: a_l for the consensus cluster it is matched with, 0 for the others.

    One to one if possible; remaining clusters go to the one they overlap most.
    """
    totals = e.totals(labels, k)
    votes = np.zeros((e.n_columns, k))
    for (first, last), share in zip(pairwise(e.ends.tolist()), e.share.tolist(), strict=True):
        table = totals[:, first:last]
        to = table.argmax(axis=0)
        rows, cols = linear_sum_assignment(table, maximize=True)
        to[cols] = np.where(table[rows, cols] > 0, rows, to[cols])
        votes[np.arange(first, last), to] = share
    return votes


voting = Method(
    key="voting", title="Iterated plurality voting", objective="share of the votes for the winner", better=Better.HIGHER,
    reference="dimitriadou2002", run=_run, restarts=("",),
    advice="best with sound members and very unequal sizes, or hundreds of clusters; collapses with poor members",
)  # fmt: skip
