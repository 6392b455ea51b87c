"""COALA: average linkage that avoids joining points of one given cluster (Bae and Bailey 2006)."""

from __future__ import annotations

import numpy as np

from congruence.alternative_clustering.points import Found, Task
from congruence.statistics.tables import Array


def coala(task: Task, *, omega: float = 0.6) -> Found:
    """Labels by merging; the status says how many merges were for quality and for dissimilarity.

    Each step merges the two closest clusters if their distance is less than `omega` times that of the two closest clusters
    without a given cluster in common; otherwise it merges the latter. An `omega` near 0 favours dissimilarity; 1 or more
    favours quality.
    """
    from scipy.spatial.distance import pdist, squareform

    n = task.points.n
    apart = squareform(pdist(task.points.numbers))
    np.fill_diagonal(apart, np.inf)
    #: the given clusters that a cluster has points of; sharing one is a conflict
    holds = np.hstack([np.eye(int(codes.max()) + 1, dtype=np.float32)[codes] for codes in task.knowns])
    sizes, alive, labels = np.ones(n), np.ones(n, dtype=bool), np.arange(n)

    def nearest(rows: Array, admissible: bool) -> tuple[Array, Array]:
        distances = apart[rows]
        if admissible:
            distances = np.where(holds[rows] @ holds.T > 0, np.inf, distances)
        found = distances.argmin(axis=1)
        return found, distances[np.arange(len(rows)), found]

    merges = {"quality": 0, "dissimilarity": 0}
    near: dict[bool, tuple[Array, Array]] = {}
    for admissible in (False, True):
        near[admissible] = np.empty(n, dtype=np.int64), np.empty(n)
        for part in np.array_split(np.arange(n), max(1, n // 500)):
            near[admissible][0][part], near[admissible][1][part] = nearest(part, admissible)
    for _ in range(n - task.k):
        i = int(near[False][1].argmin())
        o = int(near[True][1].argmin())
        for_quality = near[False][1][i] < omega * near[True][1][o] or not np.isfinite(near[True][1][o])
        merges["quality" if for_quality else "dissimilarity"] += 1
        first = i if for_quality else o
        second = int(near[not for_quality][0][first])
        # the mean distance to a union lies between those to its parts: only rows whose nearest was a part change
        mixed = (sizes[first] * apart[first] + sizes[second] * apart[second]) / (sizes[first] + sizes[second])
        mixed[first] = np.inf
        apart[first] = apart[:, first] = mixed
        apart[second] = apart[:, second] = np.inf
        alive[second] = False
        sizes[first] += sizes[second]
        holds[first] = np.maximum(holds[first], holds[second])
        labels[labels == second] = first
        for admissible, (who, distance) in near.items():
            distance[second] = np.inf
            stale = np.flatnonzero(alive & np.isfinite(distance) & ((who == first) | (who == second)))
            # if the union is as near as the part was (coinciding points), it is now the nearest
            still = mixed[stale] <= distance[stale]
            if admissible:
                still &= holds[stale] @ holds[first] == 0
            who[stale[still]] = first
            stale = np.union1d(stale[~still], [first])
            who[stale], distance[stale] = nearest(stale, admissible)
    task.done(1)
    words = f"{merges['quality']} merges for quality, {merges['dissimilarity']} for dissimilarity"
    return Found(np.unique(labels, return_inverse=True)[1], words)
