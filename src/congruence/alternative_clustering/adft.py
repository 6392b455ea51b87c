"""ADFT: k-means after a linear map that shrinks what separates the given clusters (Davidson and Qi 2008, 2009)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from congruence.alternative_clustering.quality import centroids
from congruence.alternative_clustering.residual import residuals
from congruence.alternative_clustering.restarts import Found, Task, kmeans
from congruence.statistics.tables import Array


def adft(task: Task) -> Found:
    """k-means after the map."""
    return kmeans(transformed(task.points.numbers, task.knowns), task)


def transformed(X: Array, knowns: Sequence[Array]) -> Array:
    """The points after a map of the span of the given centroids: their total covariance there becomes that within clusters.

    The papers whiten by the covariance about the centroids of other clusters. That covariance is nearly the total one, so the
    map whitens every direction, and directions of noise count as much as those of a second view. Here the directions
    orthogonal to the span stay as they are.
    """
    X = X - X.mean(axis=0)
    given = np.vstack([centroids(X, codes, int(codes.max()) + 1) for codes in knowns])
    _, strength, directions = np.linalg.svd(given, full_matrices=False)
    span = directions[strength > 1e-9 * max(float(strength.max()), 1e-300)].T
    inside, left = X @ span, residuals(X, knowns) @ span
    values, vectors = np.linalg.eigh(inside.T @ inside)
    root = vectors * np.sqrt(values)  # the total covariance there is root @ root.T
    shares, turned = np.linalg.eigh(np.linalg.solve(root, left.T @ left) @ np.linalg.inv(root).T)
    basis = np.linalg.inv(root).T @ turned
    shrunk = (inside @ basis * np.sqrt(np.clip(shares, 0.0, 1.0))) @ np.linalg.inv(basis)
    return np.asarray(X + (shrunk - inside) @ span.T)
