"""Hard EM on the votes: each distinct point goes to its most probable cluster, until no point moves.

The size of a cluster counts like the vote of one more member. Without it, large clusters of noisy members lose points to
small ones.
"""

from __future__ import annotations

import numpy as np

from congruence.consensus_clustering.evidence import Evidence
from congruence.consensus_clustering.methods import Rule
from congruence.statistics.tables import Array

STEPS = 50


def refined(e: Evidence, labels: Array) -> Array:
    """Labels after classification EM of Topchy's mixture (2004), started at the given labels; no cluster is lost."""
    k = int(labels.max()) + 1
    for _ in range(STEPS):
        rule = likeliest(e, labels, k)
        better = (e.scores(rule.table) + rule.bias).argmax(axis=1)
        if (better == labels).all() or len(np.unique(better)) < k:
            break
        labels = better
    return labels


def likeliest(e: Evidence, labels: Array, k: int) -> Rule:
    """The rule that puts a point into the cluster that its votes make most probable, given the clusters of others."""
    size = np.bincount(labels, weights=e.mass, minlength=k)
    return Rule(log_chances(e, e.totals(labels, k)), np.log(np.maximum(size, 1e-300)) / e.n_members)


def log_chances(e: Evidence, totals: Array) -> Array:
    """a_l · log p(cluster u of member l | consensus cluster c), clusters × k, from the tables of both.

    One pseudo-point is added to each consensus cluster, distributed over the member's clusters like all its points.
    """
    totals, sizes = totals * e.points_per_mass, e.sizes * e.points_per_mass
    starts = np.searchsorted(e.member, np.arange(e.n_members))
    inside = np.add.reduceat(totals, starts, axis=1)[:, e.member]
    everywhere = np.add.reduceat(sizes, starts)[e.member]
    chance = (totals + sizes / np.where(everywhere > 0, everywhere, 1.0)) / (inside + 1)
    return np.asarray(
        (e.weight * np.log(np.where(chance > 0, chance, 1.0))).T
    )  # clusters of weight 0 have no information
