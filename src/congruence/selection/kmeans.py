"""k-means on many samples of the same size at once: greedy k-means++ starts, and Lloyd's steps as matrix products."""

from __future__ import annotations

import numpy as np

from congruence.statistics.tables import Array

#: candidates for each new centre; the one that lowers the sum of squares most is used
CANDIDATES = 4
#: steps of every start, before only the best few continue
FIRST_STEPS, KEPT = 5, 3
STEPS = 60
#: distances held at once
ROOM = 100_000


def squares(points: Array, centres: Array, norms: Array | None = None) -> Array:
    """Squared distances, (…, centres, points); `norms` are the squared norms of the points, if known.

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

    The first k of them are the start for k clusters, so one search is enough for every k.
    """
    step = max(1, ROOM // (starts * CANDIDATES * points.shape[1]))
    parts = [_seeds(points[i : i + step], most, starts, rng) for i in range(0, len(points), step)]
    return np.concatenate(parts)


def _seeds(points: Array, most: int, starts: int, rng: np.random.Generator) -> Array:
    samples, size, d = points.shape
    draws = rng.random((most, samples, starts, CANDIDATES))
    found = np.empty((samples, starts, most, d))
    norms = np.einsum("sij,sij->si", points, points)
    which = np.arange(samples)[:, None, None]
    nearest = np.ones((samples, starts, size))  # the first centre is drawn uniformly
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
    wide = np.concatenate([points, np.ones((*points.shape[:-1], 1))], axis=-1)
    norms = np.einsum("sij,sij->s", points, points)
    still = 1e-8 * points.var(axis=1).mean(axis=1)
    centres, cost, _ = _lloyd(wide, start, FIRST_STEPS, still)
    kept = np.argsort(cost, axis=1, kind="stable")[:, :KEPT]
    centres = np.take_along_axis(centres, kept[:, :, None, None], axis=1)
    going = np.arange(len(points))
    final, finest = np.empty_like(centres), np.empty(kept.shape)
    for _ in range(FIRST_STEPS, STEPS, 5):  # converged samples drop out
        centres, cost, moved = _lloyd(wide[going], centres, 5, still[going])
        final[going], finest[going] = centres, cost
        going, centres = going[moved], centres[moved]
        if not len(going):
            break
    best = finest.argmin(axis=1)
    rows = np.arange(len(points))
    return final[rows, best], np.maximum(finest[rows, best] + norms, 0.0)


def _lloyd(wide: Array, centres: Array, steps: int, still: Array) -> tuple[Array, Array, Array]:
    """Centres after some steps, the sum of squares before the last step minus that of the points, and which samples still moved.

    With a column of ones appended to the points, one product gives the distances (minus the norm of the point, which is the
    same for all centres), and another the sums and sizes of the clusters. A point equally near to two centres counts half
    for each, so the order does not matter in ties, which are common in survey answers and counts.
    """
    samples, starts, k, d = centres.shape
    size = wide.shape[1]
    across = np.ascontiguousarray(np.swapaxes(wide, -1, -2))
    factors = np.empty((samples, starts, k, d + 1))
    for _ in range(steps):
        np.multiply(centres, -2.0, out=factors[..., :d])
        factors[..., d] = np.einsum("srkd,srkd->srk", centres, centres)
        apart = (factors.reshape(samples, -1, d + 1) @ across).reshape(samples, starts, k, size)
        least = apart.min(axis=2)
        own = (apart <= least[:, :, None]).astype(np.float64)
        totals = (own.reshape(samples, starts * k, size) @ wide).reshape(samples, starts, k, d + 1)
        if totals[..., d].sum() > samples * starts * size:
            own /= own.sum(axis=2, keepdims=True)
            totals = (own.reshape(samples, starts * k, size) @ wide).reshape(samples, starts, k, d + 1)
        many = totals[..., d:]
        new = np.where(many > 0, totals[..., :d] / np.maximum(many, 1e-300), centres)
        shift = ((new - centres) ** 2).sum(axis=(2, 3))
        centres = new
        if (shift <= still[:, None]).all():
            break
    return centres, least.sum(axis=2), (shift > still[:, None]).any(axis=1)


def nearest(points: Array, centres: Array) -> Array:
    """The nearest centre of each point, (…, points); the first in a tie."""
    return np.asarray(squares(points, centres).argmin(axis=-2))
