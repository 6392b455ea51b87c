"""How many further views the residuals hold, and where: independent parts of them, each with its number of clusters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from congruence.alternative_clustering.quality import apart, centroids
from congruence.alternative_clustering.residual import Residuals, whitening
from congruence.statistics.tables import Array

#: most clusters of a view, and of all views together: independent views of 2 and 3 clusters make 6
MOST_CLUSTERS, MOST_TOGETHER = 10, 24
#: a direction separates clusters if their means vary along it this many times as much as those of shuffled labels
BEYOND_CHANCE = 2.0
#: two components belong to the same view if the adjusted mutual information of their bins exceeds this, and three views are
#: one if the clusters of one are known from those of the others to this extent
DEPENDENT, KNOWN_FROM_OTHERS = 0.05, 0.3
BINS = 6


@dataclass(frozen=True, eq=False)
class View:
    """Coordinates in which a view shows, its number of clusters, and its clusters by k-means."""

    coordinates: Array
    n_clusters: int
    labels: Array


def views(left: Residuals) -> list[View]:
    """The views left in the residuals, by `choose_k`; none if they are one cluster, or it cannot tell.

    Several views at once look like one clustering into all combinations of their clusters. The directions that separate these
    clusters are turned into independent components; components that depend on each other belong to one view.
    """
    if not len(left.variances):
        return []
    X = left.compact
    together = _view(X, MOST_TOGETHER)
    if together is None:
        return []
    components = _components(X, left.refined(together.labels, together.n_clusters, X))
    parts = [components[:, group] for group in _groups(_dependence(components))]
    found = [view for part in parts if len(parts) > 1 and (view := _view(part, MOST_CLUSTERS)) is not None]
    return _joined(found) or [together]


def _view(X: Array, most: int) -> View | None:
    from congruence.selection.number_of_clusters import choose_k

    choice = choose_k(X, range(1, min(most, len(X) // 4) + 1), "kmeans", progress=False)
    if choice.k is None or choice.k == 1:
        return None
    return View(X, choice.k, choice.partitions[choice.k])


def _components(X: Array, labels: Array) -> Array:
    """Independent components of the directions that separate the clusters beyond chance."""
    from sklearn.decomposition import FastICA

    Y = (X - X.mean(axis=0)) @ whitening(apart(X, labels))

    def between(codes: Array) -> tuple[Array, Array]:
        means = centroids(Y, codes)[codes]
        values, vectors = np.linalg.eigh(means.T @ means / len(means))
        return values, vectors

    rng = np.random.default_rng(0)
    chance = max(float(between(rng.permutation(labels))[0][-1]) for _ in range(5))
    values, vectors = between(labels)
    directions = Y @ vectors[:, values > BEYOND_CHANCE * chance]
    if directions.shape[1] < 2:
        return np.asarray(directions)
    return np.asarray(FastICA(whiten="unit-variance", random_state=0, max_iter=500).fit_transform(directions))


def _dependence(components: Array) -> Array:
    """The adjusted mutual information of the bins of each two components."""
    cuts = np.quantile(components, np.linspace(0, 1, BINS + 1)[1:-1], axis=0)
    binned = [np.searchsorted(cuts[:, j], column) for j, column in enumerate(components.T)]
    found = np.eye(len(binned))
    for i, j in combinations(range(len(binned)), 2):
        found[i, j] = found[j, i] = _ami(binned[i], binned[j])
    return found


def _joined(found: Sequence[View]) -> list[View]:
    """The views, with those joined that are independent in pairs but not together, as the sides of a tetrahedron."""
    tied = np.eye(len(found))
    for each in combinations(range(len(found)), 3):
        a, b, c = (found[i].labels for i in each)
        if _ami(a, b * MOST_TOGETHER + c) > KNOWN_FROM_OTHERS:
            tied[np.ix_(each, each)] = 1
    joined = [[found[i] for i in group] for group in _groups(tied)]
    wholes = [
        _view(np.hstack([x.coordinates for x in x_s]), MOST_CLUSTERS) if len(x_s) > 1 else x_s[0] for x_s in joined
    ]
    return [whole for whole in wholes if whole is not None]


def _groups(dependence: Array) -> list[Array]:
    from scipy.sparse.csgraph import connected_components

    many, group = connected_components(dependence > DEPENDENT)
    return [np.flatnonzero(group == j) for j in range(many)]


def _ami(a: Array, b: Array) -> float:
    from congruence.comparison.pair import compare

    return float(compare(a, b, ["ami"])["ami"])
