"""Methods that make many clusterings first: CondEns and meta clustering."""

from __future__ import annotations

import numpy as np

from congruence.alternative_clustering.points import Found, Task, start
from congruence.statistics.tables import Array

# --- k-means inside every given cluster, extended to all points, and the consensus (Gondek, Hofmann 2005) -------------


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


# --- k-means of weighted attributes, and the medoid that differs most (Caruana et al. 2006) ---------------------------


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
