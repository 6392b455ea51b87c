"""k-means after a linear map that removes, or shrinks, what separates the given clusters."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from congruence.alternative_clustering.points import Found, Points, Task, kmeans
from congruence.alternative_clustering.quality import centroids
from congruence.alternative_clustering.residual import residuals
from congruence.errors import NotApplicable, Option
from congruence.statistics.tables import Array


def span(X: Array, knowns: Sequence[Array]) -> Array:
    """An orthonormal basis (rows) of the span of the given centroids, for centred points."""
    given = np.vstack([centroids(X, codes) for codes in knowns])
    _, strength, directions = np.linalg.svd(given, full_matrices=False)
    return np.asarray(directions[strength > 1e-9 * max(float(strength.max()), 1e-300)])


# --- orthogonal views (Cui et al. 2007) ---------------------------------------------------------------------------------


def orthogonal(task: Task, *, weakest: bool = False) -> Found:
    """k-means after the projection; `weakest` keeps the direction in which the given clusters differ least if they span all."""
    return kmeans(left_over(task.points, task.knowns, weakest), task)


def left_over(points: Points, knowns: Sequence[Array], weakest: bool = False) -> Array:
    """The points projected orthogonally to the span of the centred given centroids."""
    X = points.numbers - points.numbers.mean(axis=0)
    taken = span(X, knowns)
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


# --- ADFT (Davidson and Qi 2008, 2009) ----------------------------------------------------------------------------------


def adft(task: Task) -> Found:
    """k-means after `transformed`."""
    return kmeans(transformed(task.points.numbers, task.knowns), task)


def transformed(X: Array, knowns: Sequence[Array]) -> Array:
    """The points after a map of the span of the given centroids: their total covariance there becomes that within clusters.

    The papers whiten by the covariance about the centroids of other clusters. That covariance is nearly the total one, so the
    map whitens every direction, and directions of noise count as much as those of a second view. Here the directions
    orthogonal to the span stay as they are.
    """
    X = X - X.mean(axis=0)
    axes = span(X, knowns).T
    inside, left = X @ axes, residuals(X, knowns) @ axes
    values, vectors = np.linalg.eigh(inside.T @ inside)
    root = vectors * np.sqrt(values)  # the total covariance there is root @ root.T
    shares, turned = np.linalg.eigh(np.linalg.solve(root, left.T @ left) @ np.linalg.inv(root).T)
    basis = np.linalg.inv(root).T @ turned
    shrunk = (inside @ basis * np.sqrt(np.clip(shares, 0.0, 1.0))) @ np.linalg.inv(basis)
    return np.asarray(X + (shrunk - inside) @ axes.T)
