"""How probably each point is in the right cluster: votes, turned into probabilities that were calibrated on planted ensembles."""

from __future__ import annotations

import numpy as np

from congruence.consensus_clustering.evidence import Evidence
from congruence.consensus_clustering.refinement import log_chances
from congruence.statistics.tables import Array

#: log odds of being right: a constant, and how much the log odds of the posterior and of the share of votes count, where
#: members err independently (r = 0) and how that changes until they all err alike (r = 1), and r itself;
#: fitted by `python -m reproductions.consensus_confidence --fit` on the DEV half of its planted ensembles
CONSTANT, POSTERIOR, POSTERIOR_R, SHARE, SHARE_R, R = 1.49, 0.18, -0.19, 1.02, -0.25, -3.47
#: log odds beyond these are those of too few points to be known
MOST_POSTERIOR, MOST_SHARE = 8.0, 3.9


def shares(e: Evidence, labels: Array, k: int) -> Array:
    """For each signature and cluster the mean, over members, of the share of its cluster there that is in the cluster."""
    weight = e.weight * (e.sizes > 0)
    towards = e.totals(labels, k) / np.where(e.sizes > 0, e.sizes, 1.0) * weight
    said = e.scores(weight)[:, None]  # nothing, for a point that weighs nothing and is with no other
    return np.asarray(np.divide(e.scores(towards.T), said, out=np.full((e.n_rows, k), np.nan), where=said > 0))


def confidence(e: Evidence, labels: Array, k: int, votes: Array) -> Array:
    """Probability that each signature is in the right cluster; 1 where all members agree, NaN where there are no votes.

    Args:
        e: The votes.
        labels: Cluster of each signature, 0 to k − 1.
        k: Number of clusters.
        votes: What `shares` gives for them.
    """
    own = votes[np.arange(e.n_rows), labels]
    odds = CONSTANT + features(e, labels, k, votes) @ np.array([POSTERIOR, POSTERIOR_R, SHARE, SHARE_R, R])
    return np.where(own > 1 - 1e-9, 1.0, np.where(np.isnan(own), np.nan, 1 / (1 + np.exp(-odds))))


def features(e: Evidence, labels: Array, k: int, votes: Array) -> Array:
    """For each signature the log odds of the posterior and of the share of votes, each also times r, and r.

    The posterior is that of naive Bayes with as many members as err independently. r = log(overlap) ÷ log(members).
    """
    rows = np.arange(e.n_rows)
    logs = log_chances(e, e.totals(labels, k))
    overlap = design_effect(e, labels, logs, k)
    size = np.bincount(labels, weights=e.mass, minlength=k)
    logits = e.scores(logs) * (e.n_members / overlap) + np.log(np.maximum(size, 1e-300) / size.sum())
    own = logits[rows, labels]
    logits[rows, labels] = -np.inf
    best = np.maximum(logits.max(axis=1), -1e300)  # of one cluster there is no other
    others = best + np.log(np.exp(logits - best[:, None]).sum(axis=1) + 1e-300)
    share = np.clip(votes[rows, labels], 1e-9, 1 - 1e-9)
    share = np.clip(np.log(share / (1 - share)), -MOST_SHARE, MOST_SHARE)
    posterior = np.clip(own - others, -MOST_POSTERIOR, MOST_POSTERIOR)
    r = np.log(overlap) / np.log(e.n_members) if e.n_members > 1 else 1.0
    return np.column_stack([posterior, posterior * r, share, share * r, np.full(e.n_rows, r)])


def design_effect(e: Evidence, labels: Array, logs: Array, k: int) -> float:
    """How many members say the same thing as one: 1 if they err independently, their number if they err together.

    The variance, within consensus clusters, of the summed surprise of a point's votes ÷ what it would be for independent ones.
    """
    plain = np.vstack([logs / np.where(e.weight > 0, e.weight, 1.0)[:, None], np.zeros((1, k))])  # the last: a gap
    together, alone = np.zeros(e.n_rows), 0.0
    mass = np.maximum(np.bincount(labels, weights=e.mass, minlength=k), 1e-300)
    for column in e.column.T:
        surprise = -plain[column, labels]
        mean = np.bincount(labels, weights=e.mass * surprise, minlength=k) / mass
        surprise -= mean[labels]
        together += surprise
        alone += float(e.mass @ surprise**2)
    return float(np.clip(e.mass @ together**2 / alone, 1.0, e.n_members)) if alone > 0 else float(e.n_members)
