"""CondEns: k-means inside every given cluster, each extended to all points, and their consensus (Gondek, Hofmann 2005)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from congruence.alternative_clustering.points import Points
from congruence.alternative_clustering.restarts import Done, Found, Streams, seed
from congruence.statistics.tables import Array


def condens(points: Points, knowns: Sequence[Array], k: int, streams: Streams, done: Done) -> Found:
    """The consensus of local clusterings, one per stream; the one that explains most of their variance."""
    from sklearn.cluster import KMeans

    best, most = None, -1.0
    for stream in streams:
        rng = np.random.default_rng(stream)
        votes = conditional_ensemble(points, knowns, k, rng)
        model = KMeans(k, n_init=1, random_state=seed(rng)).fit(votes)
        explained = 1 - model.inertia_ / max(float(np.square(votes).sum()), 1e-300)
        if explained > most:
            best, most = model, explained
        done(1)
    assert best is not None
    return Found(np.asarray(best.labels_, dtype=np.int64), f"consensus explains {most:.0%} of the local clusterings")


def conditional_ensemble(points: Points, knowns: Sequence[Array], k: int, rng: np.random.Generator) -> Array:
    """The local clusterings of all given clusters as columns of indicators, centred: k-means on them is the consensus.

    That consensus maximises the quadratic mutual information with the local clusterings (Topchy, Jain, Punch 2005).
    """
    from sklearn.cluster import KMeans

    X = points.numbers
    blocks = []
    for codes in knowns:
        for c in range(int(codes.max()) + 1):
            inside = X[codes == c]
            many = min(k, len(np.unique(inside, axis=0)))
            if many < 2:
                continue
            model = KMeans(many, n_init=1, random_state=seed(rng)).fit(inside)
            blocks.append(np.eye(many)[model.predict(X)])
    if not blocks:  # all points of each given cluster coincide
        return X
    indicators = np.hstack(blocks)
    return np.asarray(indicators - indicators.mean(axis=0))
