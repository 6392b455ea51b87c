"""Meta clustering: many k-means of differently weighted attributes, grouped, and the medoid that differs most.

Caruana, Elhawary, Nguyen, Smith (2006).
"""

from __future__ import annotations

import numpy as np

from congruence.alternative_clustering.restarts import Found, Task, start


def metaclusters(task: Task, *, groups: int = 10) -> Found:
    """The labels, among the medoids of the groups of base clusterings, whose mean Rand distance to the known ones is largest.

    Every second base clustering weights the attributes by Zipf's law, 1/rank^α in random order with α ~ U(0, 1.5); the
    others are restarts of k-means. They are grouped by average linkage of 1 − Rand.
    """
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import squareform

    from congruence.comparison.many import compare_all

    base = []
    for b, rng in enumerate(task.restarts()):
        X = task.points.numbers
        if b % 2:
            ranks = rng.permutation(X.shape[1]) + 1
            X = X * ranks ** -rng.uniform(0, 1.5)
        base.append(np.asarray(start(X, task.k, rng, init="random").labels_, dtype=np.int64))
    apart = 1 - compare_all([*base, *task.knowns], ["rand"], progress=False)["rand"]
    between = np.clip(apart[: len(base), : len(base)], 0, None)
    np.fill_diagonal(between, 0)
    to_known = apart[: len(base), len(base) :].mean(axis=1)
    if len(base) == 1:
        return Found(base[0], "1 base clustering")
    tree = linkage(squareform((between + between.T) / 2, checks=False), "average")
    group = fcluster(tree, groups, "maxclust")
    medoids = []
    for g in np.unique(group):
        members = np.flatnonzero(group == g)
        medoids.append(members[between[np.ix_(members, members)].sum(axis=1).argmin()])
    chosen = max(medoids, key=lambda m: to_known[m])
    return Found(base[chosen], f"medoid of {len(base)} base clusterings in {len(medoids)} groups")
