"""k-means of many samples of the same size at once: greedy k-means++ starts and Lloyd's steps as matrix products."""

from __future__ import annotations

import numpy as np

from congruence.statistics.tables import Array

#: points tried for each new centre of a start; the one that lowers the sum of squares most is taken
CANDIDATES = 4
#: steps that every start makes before only the best few go on
FIRST_STEPS, KEPT = 5, 3
STEPS = 60
#: distances held at once
ROOM = 100_000


def squares(points: Array, centres: Array, norms: Array | None = None) -> Array:
    """Squared distances, (…, centres, points); `norms` are those of the points, if they are known.

    >>> squares(np.array([[0.0], [3.0]]), np.array([[1.0]])).tolist()
    [[1.0, 4.0]]
    """
    if norms is None:
        norms = np.einsum("...ij,...ij->...i", points, points)
    apart = centres @ np.swapaxes(points, -1, -2)
    apart *= -2.0
    apart += norms[..., None, :]
    apart += np.einsum("...ij,...ij->...i", centres, centres)[..., None]
    return np.asarray(np.maximum(apart, 0.0, out=apart))


def seeds(points: Array, most: int, starts: int, rng: np.random.Generator) -> Array:
    """Greedy k-means++ centres, (samples, starts, most, features), in the order in which they were found.

    The first k of them are the start for k clusters, so that one search serves every k.
    """
    samples, size, d = points.shape
    draws = rng.random((most, samples, starts, CANDIDATES))
    found = np.empty((samples, starts, most, d))
    norms = np.einsum("sij,sij->si", points, points)
    which = np.arange(samples)[:, None, None]
    nearest = np.ones((samples, starts, size))  # every point is equally likely to be the first
    for j in range(most):
        total = np.cumsum(nearest, axis=-1)
        wanted = draws[j] * total[..., -1:]
        chosen = np.minimum((total[:, :, None, :] <= wanted[..., None]).sum(axis=-1), size - 1)
        if j == 0:
            chosen = chosen[..., :1]
        there = points[which, chosen]
        apart = squares(points, there.reshape(samples, -1, d), norms).reshape(samples, starts, -1, size)
        if j:
            np.minimum(apart, nearest[:, :, None, :], out=apart)
        best = apart.sum(axis=-1).argmin(axis=-1)[..., None]
        found[:, :, j] = np.take_along_axis(there, best[..., None], axis=2)[:, :, 0]
        nearest = np.take_along_axis(apart, best[..., None], axis=2)[:, :, 0]
        nearest[nearest.sum(axis=-1) <= 0] = 1.0  # fewer distinct points than centres: any point will do
    return found


def fit(points: Array, start: Array) -> tuple[Array, Array]:
    """Centres (samples, k, features) and sums of squares, the best of several starts (samples, starts, k, features)."""
    samples, starts, k, _ = start.shape
    size = points.shape[1]
    step = max(1, ROOM // (starts * k * size))
    centres, costs = [], []
    for first in range(0, samples, step):
        part = slice(first, first + step)
        found, cost = _fit(points[part], start[part])
        centres.append(found)
        costs.append(cost)
    return np.concatenate(centres), np.concatenate(costs)


def _fit(points: Array, start: Array) -> tuple[Array, Array]:
    centres, cost, _ = _lloyd(points, start, FIRST_STEPS)
    kept = np.argsort(cost, axis=1, kind="stable")[:, :KEPT]
    centres = np.take_along_axis(centres, kept[:, :, None, None], axis=1)
    going = np.arange(len(points))
    final, finest = np.empty_like(centres), np.empty(kept.shape)
    for _ in range(FIRST_STEPS, STEPS, 5):  # samples that moved no more drop out
        centres, cost, moved = _lloyd(points[going], centres, 5)
        final[going], finest[going] = centres, cost
        going, centres = going[moved], centres[moved]
        if not len(going):
            break
    best = finest.argmin(axis=1)
    rows = np.arange(len(points))
    return final[rows, best], finest[rows, best]


def _lloyd(points: Array, centres: Array, steps: int) -> tuple[Array, Array, Array]:
    """Centres after some steps, the sum of squares before the last, and which samples still moved.

    A point as near to two centres counts half for each, so that ties, common in answers and counts, need no order.
    """
    samples, starts, k, d = centres.shape
    norms = np.einsum("sij,sij->si", points, points)
    spread = points.var(axis=1).mean(axis=1)
    for _ in range(steps):
        apart = squares(points, centres.reshape(samples, -1, d), norms).reshape(samples, starts, k, -1)
        least = apart.min(axis=2, keepdims=True)
        own = (apart <= least).astype(np.float64)
        ties = own.sum(axis=2, keepdims=True)
        if (ties > 1).any():
            own /= ties
        many = own.sum(axis=-1)[..., None]
        totals = (own.reshape(samples, starts * k, -1) @ points).reshape(centres.shape)
        new = np.where(many > 0, totals / np.maximum(many, 1e-300), centres)
        shift = ((new - centres) ** 2).sum(axis=(2, 3))
        centres = new
        if (shift <= 1e-8 * spread[:, None]).all():
            break
    return centres, least.sum(axis=(2, 3)), (shift > 1e-8 * spread[:, None]).any(axis=1)


def nearest(points: Array, centres: Array) -> Array:
    """The nearest centre of each point, (…, points); of equals the first."""
    return np.asarray(squares(points, centres).argmin(axis=-2))
