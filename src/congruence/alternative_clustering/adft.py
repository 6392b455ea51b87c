"""ADFT: k-means after a linear map that shrinks what separates the given clusters (Davidson and Qi 2008, 2009)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from congruence.alternative_clustering.points import Points
from congruence.alternative_clustering.quality import centroids
from congruence.alternative_clustering.restarts import Done, Found, Streams, kmeans
from congruence.statistics.tables import Array


def adft(points: Points, knowns: Sequence[Array], k: int, streams: Streams, done: Done) -> Found:
    """k-means after the map."""
    return kmeans(transformed(points, knowns), k, streams, done)


def transformed(points: Points, knowns: Sequence[Array]) -> Array:
    """X·Σ^(−1/2), Σ the mean of (x − m)(x − m)ᵀ over the points x and the centroids m of the clusters x is not in."""
    X = points.numbers - points.numbers.mean(axis=0)
    spread = np.zeros((X.shape[1], X.shape[1]))
    for codes in knowns:
        for c, centre in enumerate(centroids(X, codes, int(codes.max()) + 1)):
            others = X[codes != c] - centre
            spread += others.T @ others / len(X)
    values, vectors = np.linalg.eigh(spread)
    kept = values > 1e-9 * values.max()  # drop directions in which the points do not differ
    return np.asarray(X @ (vectors[:, kept] / np.sqrt(values[kept])) @ vectors[:, kept].T)
