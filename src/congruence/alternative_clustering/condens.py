"""CondEns: k-means inside every given cluster, each extended to all points, and their consensus (Gondek, Hofmann 2005)."""

from __future__ import annotations

import numpy as np

from congruence.alternative_clustering.restarts import Found, Task, start
from congruence.statistics.tables import Array


def condens(task: Task) -> Found:
    """The consensus of local clusterings, one per stream; the one that explains most of their variance."""
    best, most = None, -1.0
    for rng in task.restarts():
        votes = conditional_ensemble(task, rng)
        model = start(votes, task.k, rng)
        explained = 1 - model.inertia_ / max(float(np.square(votes).sum()), 1e-300)
        if explained > most:
            best, most = model, explained
    assert best is not None
    return Found(np.asarray(best.labels_, dtype=np.int64), f"consensus explains {most:.0%} of the local clusterings")


def conditional_ensemble(task: Task, rng: np.random.Generator) -> Array:
    """The local clusterings of all given clusters as columns of indicators, centred: k-means on them is the consensus.

    That consensus maximises the quadratic mutual information with the local clusterings (Topchy, Jain, Punch 2005).
    """
    X = task.points.numbers
    blocks = []
    for codes in task.knowns:
        for c in range(int(codes.max()) + 1):
            inside = X[codes == c]
            many = min(task.k, len(np.unique(inside, axis=0)))
            if many < 2:
                continue
            blocks.append(np.eye(many)[start(inside, many, rng).predict(X)])
    if not blocks:  # all points of each given cluster coincide
        return X
    indicators = np.hstack(blocks)
    return np.asarray(indicators - indicators.mean(axis=0))
