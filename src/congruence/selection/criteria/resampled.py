"""Criteria from clustering parts of the points again: prediction strength, clusterboot, and M3C."""

from __future__ import annotations

import math

import numpy as np

from congruence.selection import halves, kmeans
from congruence.selection.criteria.record import Context, Curve, Peer, largest, top
from congruence.statistics.tables import Array

#: prediction strength and stability from which a number of clusters is taken
STRENGTH, STABLE = 0.8, 0.85
#: bootstrap samples of clusterboot; subsamples, references and the share of points of M3C
BOOTSTRAPS, SUBSAMPLES, REFERENCES, SHARE = 30, 40, 12, 0.8


def _prediction_strength(context: Context) -> Curve:
    """Tibshirani and Walther (2005): over both halves, the worst cluster's share of pairs that the other half keeps."""
    parts, points = context.parts, context.points
    values, errors = np.ones(len(context.ks)), np.zeros(len(context.ks))
    for i, (k, look) in enumerate(context.looks.items()):
        if k == 1:
            continue
        centres = np.concatenate([found for _, found in halves.fitted(parts, k, look.halves.centres)])
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
    starts = [kmeans.seeds(points[rows][None], context.ks[-1], 5, rng) for rows in drawn]
    values = np.ones(len(context.ks))
    for i, (k, look) in enumerate(context.looks.items()):
        if k == 1:
            continue
        found = np.full((BOOTSTRAPS, k), np.nan)
        for b, rows in enumerate(drawn):
            centres = kmeans.fit(points[rows][None], starts[b][:, :, :k])[0][0]
            labels = look.halves.labels[rows]
            there = np.bincount(labels, minlength=k) > 0
            best = halves.returned(labels, kmeans.nearest(points[rows], centres)[None], k)[0]
            found[b, there] = best[there]
        values[i] = np.nanmean(found, axis=0).min()
    return Curve(values, np.full(len(values), np.nan), largest(context.ks, values, STABLE))


def ambiguous(points: Array, ks: list[int], rng: np.random.Generator, subsamples: int = SUBSAMPLES) -> Array:
    """Proportion of pairs that k-means of 80 % of the points puts together in 10 % to 90 % of the subsamples, per k."""
    n = len(points)
    size = round(SHARE * n)
    rows = np.sort(np.argsort(rng.random((subsamples, n)), axis=1)[:, :size], axis=1)
    parts = points[rows]
    step = max(1, kmeans.ROOM // (5 * kmeans.CANDIDATES * size))
    starts = np.concatenate([kmeans.seeds(parts[i : i + step], ks[-1], 5, rng) for i in range(0, subsamples, step)])
    drawn = np.zeros((subsamples, n))
    drawn[np.arange(subsamples)[:, None], rows] = 1
    both = drawn.T @ drawn
    upper = np.triu_indices(n, 1)
    found = np.full(len(ks), np.nan)
    for i, k in enumerate(ks):
        if k == 1:
            continue
        centres = kmeans.fit(parts, starts[:, :, :k])[0]
        labels = kmeans.nearest(parts, centres)
        together = np.zeros((n, n))
        for j in range(k):
            member = np.zeros((subsamples, n))
            member[np.arange(subsamples)[:, None], rows] = labels == j
            together += member.T @ member
        share = together[upper] / np.maximum(both[upper], 1)
        found[i] = float(((share > 0.1) & (share < 0.9))[both[upper] > 0].mean())
    return found


def _m3c(context: Context) -> Curve:
    """John et al. (2020): log ratio of the ambiguity of reference data of the same covariance to that of the data.

    The answer is 1 where no k has fewer ambiguous pairs than all but 5 % of the references.
    """
    rng = context.rng("m3c")
    ks = [k for k in context.ks if k > 1]
    ours = ambiguous(context.points, ks, rng)
    spread = context.points.std(axis=0)
    references = np.stack(
        [ambiguous(rng.normal(size=context.points.shape) * spread, ks, rng) for _ in range(REFERENCES)]
    )
    little = 1e-4
    ratio = np.log10(references + little).mean(axis=0) - np.log10(ours + little)
    error = np.log10(references + little).std(axis=0, ddof=1) / np.sqrt(REFERENCES)
    score = -ratio / np.maximum(np.log10(references + little).std(axis=0, ddof=1), 1e-9)
    one = [math.nan] * (len(context.ks) - len(ks))
    best = top(ks, ratio)
    if best is not None and context.ks[0] == 1 and score[ks.index(best)] > -1.64:
        best = 1
    return Curve(np.array([*one, *ratio]), np.array([*one, *error]), best)


PEERS = (
    Peer(
        "prediction_strength", "Prediction strength (Tibshirani and Walther 2005)", "higher", True, _prediction_strength
    ),
    Peer(
        "clusterboot", "Stability of the worst cluster under the bootstrap (Hennig 2007)", "higher", True, _clusterboot
    ),
    Peer("m3c", "Ambiguity against references of the same covariance (M3C, John et al. 2020)", "higher", True, _m3c),
)
