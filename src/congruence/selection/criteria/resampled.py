"""Criteria from clustering resampled points: prediction strength, clusterboot and nselectboot."""

from __future__ import annotations

import numpy as np

from congruence.selection import halves, kmeans
from congruence.selection.criteria.record import Context, Curve, Peer, largest, top
from congruence.statistics.tables import Array

#: smallest prediction strength and stability of an accepted number of clusters
STRENGTH, STABLE = 0.8, 0.85
#: bootstrap samples (nselectboot: pairs of them), and k-means starts on each
BOOTSTRAPS, STARTS = 30, 5


def _prediction_strength(context: Context) -> Curve:
    """Tibshirani and Walther (2005): over both halves, the worst cluster's share of pairs that the other half keeps."""
    parts, points = context.parts, context.points
    values, errors = np.ones(len(context.ks)), np.zeros(len(context.ks))
    for i, (k, fit) in enumerate(context.fits.items()):
        if k == 1:
            continue
        centres = np.concatenate([found for _, found in halves.fitted(parts, k, fit.halves.centres)])
        worst = np.empty(len(centres))
        for half, other in enumerate(parts.others):
            own, told = (kmeans.nearest(points[other], centres[x]) for x in (half ^ 1, half))
            worst[half] = _kept(own, told, k)
        pairs = worst.reshape(-1, 2).mean(axis=1)
        values[i], errors[i] = pairs.mean(), pairs.std(ddof=1) / np.sqrt(len(pairs))
    return Curve(values, errors, largest(context.ks, values, STRENGTH))


def _kept(own: Array, told: Array, k: int) -> float:
    """The smallest share, over clusters, of pairs of points that the other clustering keeps together."""
    table = np.zeros((k, k))
    np.add.at(table, (own, told), 1)
    many = table.sum(axis=1)
    several = many > 1
    together = (table * (table - 1)).sum(axis=1)[several] / (many * (many - 1))[several]
    return float(together.min()) if several.any() else 0.0


def _clusterboot(context: Context) -> Curve:
    """Hennig (2007): over bootstrap samples, the mean Jaccard similarity of the worst cluster to its best match."""
    rng = context.rng("clusterboot")
    points = context.points
    n = len(points)
    drawn = [np.unique(rng.integers(0, n, n)) for _ in range(BOOTSTRAPS)]
    starts = [kmeans.seeds(points[rows][None], context.ks[-1], STARTS, rng) for rows in drawn]
    values, errors = np.ones(len(context.ks)), np.zeros(len(context.ks))
    for i, (k, fit) in enumerate(context.fits.items()):
        if k == 1:
            continue
        found = np.full((BOOTSTRAPS, k), np.nan)
        for b, rows in enumerate(drawn):
            centres = kmeans.fit(points[rows][None], starts[b][:, :, :k])[0][0]
            labels = fit.halves.labels[rows]
            there = np.bincount(labels, minlength=k) > 0
            best = halves.returned(labels, kmeans.nearest(points[rows], centres)[None], k)[0]
            found[b, there] = best[there]
        means = np.nanmean(found, axis=0)
        worst = int(means.argmin())
        values[i], errors[i] = means[worst], np.nanstd(found[:, worst], ddof=1) / np.sqrt(BOOTSTRAPS)
    return Curve(values, errors, largest(context.ks, values, STABLE))


def _nselectboot(context: Context) -> Curve:
    """Fang and Wang (2012): share of pairs of points that two bootstrap samples disagree on, as fpc's nselectboot."""
    rng = context.rng("nselectboot")
    points = context.points
    n = len(points)
    rows = rng.integers(0, n, (2 * BOOTSTRAPS, n))
    step = max(1, kmeans.ROOM // (STARTS * kmeans.CANDIDATES * n))
    labels = {k: np.empty((2 * BOOTSTRAPS, n), dtype=np.int64) for k in context.ks}
    for first in range(0, len(rows), step):
        drawn = points[rows[first : first + step]]
        starts = kmeans.seeds(drawn, context.ks[-1], STARTS, rng)
        for k in context.ks:
            centres = kmeans.fit(drawn, starts[:, :, :k])[0]
            labels[k][first : first + step] = kmeans.nearest(points, centres)
    values, errors = np.full(len(context.ks), np.nan), np.full(len(context.ks), np.nan)
    for i, k in enumerate(context.ks):
        if k > 1:
            found = [_disagreement(a, b, k) for a, b in labels[k].reshape(-1, 2, n)]
            values[i], errors[i] = np.mean(found), np.std(found, ddof=1) / np.sqrt(BOOTSTRAPS)
    return Curve(values, errors, top(context.ks, values, "lower"))


def _disagreement(a: Array, b: Array, k: int) -> float:
    """Share of the n² ordered pairs of points that are together in a and apart in b."""
    table = np.bincount(a * k + b, minlength=k * k).reshape(k, k).astype(np.float64)
    return float(((table.sum(axis=1) ** 2).sum() - (table**2).sum()) / len(a) ** 2)


PEERS = (
    Peer(
        "prediction_strength", "Prediction strength (Tibshirani and Walther 2005)", "higher", True, _prediction_strength
    ),
    Peer(
        "clusterboot", "Stability of the worst cluster under the bootstrap (Hennig 2007)", "higher", True, _clusterboot
    ),
    Peer("nselectboot", "Instability of pairs of bootstrap samples (Fang and Wang 2012)", "lower", False, _nselectboot),
)
