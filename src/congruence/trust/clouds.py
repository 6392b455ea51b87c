"""Data without clusters that keep what else is known of given data."""

from __future__ import annotations

import numpy as np

from congruence.statistics.tables import Array


def gaussian(data: Array, rng: np.random.Generator) -> Array:
    """Normal points with the covariance of the data."""
    _, spread, axes = np.linalg.svd(data - data.mean(axis=0), full_matrices=False)
    return np.asarray(rng.normal(size=(len(data), len(spread))) * (spread / max(len(data) - 1, 1) ** 0.5) @ axes)


def same_columns(data: Array, rng: np.random.Generator) -> Array:
    """The values of each column in another order: that of normal points with the correlations of the normal scores."""
    from scipy.special import ndtri
    from scipy.stats import rankdata

    drawn = gaussian(ndtri((rankdata(data, axis=0) - 0.5) / len(data)), rng)
    made = np.empty_like(data)
    np.put_along_axis(made, drawn.argsort(axis=0), np.sort(data, axis=0), axis=0)
    return made


def uniform(data: Array, rng: np.random.Generator) -> Array:
    """Points in the box of the principal axes of the data."""
    centred = data - data.mean(axis=0)
    axes = np.linalg.svd(centred, full_matrices=False)[2]
    along = centred @ axes.T
    return np.asarray(rng.uniform(along.min(axis=0), along.max(axis=0), size=along.shape) @ axes)


#: kinds of data without clusters, those that come nearest to the data first
CLOUDS = (same_columns, gaussian, uniform)
