"""Orthogonal views: k-means after projecting out the directions of the given centroids (Cui et al. 2007)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from congruence.alternative_clustering.points import Points
from congruence.alternative_clustering.quality import centroids
from congruence.alternative_clustering.restarts import Found, Task, kmeans
from congruence.errors import NotApplicable, Option
from congruence.statistics.tables import Array


def orthogonal(task: Task, *, weakest: bool = False) -> Found:
    """k-means after the projection; `weakest` keeps the direction in which the given clusters differ least if they span all."""
    return kmeans(left_over(task.points, task.knowns, weakest), task)


def left_over(points: Points, knowns: Sequence[Array], weakest: bool = False) -> Array:
    """The points projected orthogonally to the span of the centred given centroids."""
    X = points.numbers - points.numbers.mean(axis=0)
    given = np.vstack([centroids(X, codes, int(codes.max()) + 1) for codes in knowns])
    _, strength, directions = np.linalg.svd(given, full_matrices=False)
    taken = directions[strength > 1e-9 * max(float(strength.max()), 1e-300)]
    rest = X - (X @ taken.T) @ taken
    while weakest and len(taken) and _is_empty(rest, X, taken):
        taken = taken[:-1]
        rest = X - (X @ taken.T) @ taken
    if _is_empty(rest, X, taken):
        raise NotApplicable(
            f"the given clusters span all {X.shape[1]} dimensions of the data, so no direction is orthogonal to them; "
            f"use {Option('method', 'maximus', 'mincentropy')}, or pass {Option('weakest', True)} to keep the "
            "direction in which they differ least"
        )
    return np.asarray(rest)


def _is_empty(rest: Array, X: Array, taken: Array) -> bool:
    """Whether nothing remains of the points after these directions are removed."""
    return bool(len(taken) >= X.shape[1] or np.square(rest).sum() <= 1e-12 * np.square(X).sum())
