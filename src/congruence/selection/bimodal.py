"""Two clusters along one axis that k-means overlooks, because other columns vary as much."""

from __future__ import annotations

import numpy as np

from congruence.selection import mixtures
from congruence.statistics.tables import Array

#: fewest points, and most columns, also as a share of the points
LEAST, MOST_COLUMNS, COLUMNS_SHARE = 200, 30, 0.05
#: smallest share of the points in a cluster
SHARE = 0.05
#: depth of the valley between the two, in standard errors
DEPTH = 3.5
#: how far points halfway may lie from the line between the clusters, in standard deviations, and how much narrower or
#: wider across it they may be: arcs and rings also have a valley between their ends
STRAIGHT, NARROW, WIDE = 0.6, 0.6, 1.5


def two_along_an_axis(points: Array) -> Array | None:
    """The cluster of each point, if the density along the axis that separates two clusters best has a deep valley.

    The axis found in one half of the points is looked at in the other half, where one cloud has no valley.

    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 3)) * 2
    >>> two_along_an_axis(X) is None
    True
    >>> X[:, 0] = rng.normal(size=2000) + 3.5 * (np.arange(2000) < 800)
    >>> found = two_along_an_axis(X)
    >>> bool(abs(found[:800].mean() - found[800:].mean()) > 0.8)
    True
    """
    n, d = points.shape
    if n < LEAST or d > min(MOST_COLUMNS, COLUMNS_SHARE * n):
        return None
    X = points - points.mean(axis=0)
    order = np.random.default_rng(0).permutation(n)
    halves = order[: n // 2], order[n // 2 :]
    parts = [_windows(X[one], X[other]) for one, other in (halves, halves[::-1])]
    if any(part is None for part in parts):
        return None
    a, middle, b = (np.concatenate(each) for each in zip(*(part for part in parts if part is not None), strict=True))
    least = min(len(a), len(b))
    if (least - len(middle)) < DEPTH * np.sqrt(least + len(middle) + 1):
        return None
    if d > 1 and len(middle):
        bend = np.linalg.norm(middle.mean(axis=0) - (a.mean(axis=0) + b.mean(axis=0)) / 2)
        across = middle.var(axis=0).sum() / max(a.var(axis=0).sum(), b.var(axis=0).sum(), 1e-300)
        if bend > STRAIGHT or not NARROW <= across <= WIDE:
            return None
    return mixtures.along(X, 2)


def _windows(seen: Array, points: Array) -> tuple[Array, Array, Array] | None:
    """The points near the first centre, halfway, and near the second, without their coordinate on the axis between them."""
    labels = mixtures.along(seen, 2)
    sizes = np.bincount(labels, minlength=2)
    if sizes.min() < SHARE * len(seen):
        return None
    centres = np.stack([seen[labels == j].mean(axis=0) for j in (0, 1)])
    apart = seen - centres[labels]
    within = apart.T @ apart / len(seen)
    factor = np.linalg.cholesky(np.linalg.inv(within + 1e-6 * np.trace(within) / len(within) * np.eye(len(within))))
    white, axis = (points - centres[0]) @ factor, (centres[1] - centres[0]) @ factor
    length = float(axis @ axis)
    if length <= 0:
        return None
    at = white @ axis / length
    rest = white - np.outer(at, axis)
    a, middle, b = (rest[np.abs(at - x) < mixtures.WINDOW] for x in (0.0, 0.5, 1.0))
    return (a, middle, b) if sizes[0] >= sizes[1] else (b, middle, a)
