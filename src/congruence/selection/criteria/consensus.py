"""Criteria from consensus clustering of subsamples: PAC, and PAC against reference data (M3C)."""

from __future__ import annotations

import math

import numpy as np

from congruence.selection import kmeans
from congruence.selection.criteria.record import Context, Curve, Peer, top, unknown
from congruence.statistics.tables import Array

#: subsamples, the share of the points in each, and k-means starts on each
SUBSAMPLES, SHARE, STARTS = 50, 0.8, 3
#: M3C: reference data sets, subsamples of each, and the most points used
REFERENCES, REFERENCE_SUBSAMPLES, MOST_POINTS = 12, 40, 400
#: a PAC of zero counts as this in logarithms, as in M3C
LEAST = 1e-7


def ambiguous(
    points: Array, ks: list[int], rng: np.random.Generator, subsamples: int = SUBSAMPLES, starts: int = STARTS
) -> Array:
    """PAC per k: proportion of pairs of points that are together in 10 % to 90 % of the subsamples with both.

    Args:
        points: Points × features.
        ks: Numbers of clusters in order; 1 gives NaN.
        rng: Generator for subsamples and starts.
        subsamples: Random subsets of 80 % of the points, at most 255, each clustered by k-means.
        starts: k-means++ starts on each.
    """
    n = len(points)
    rows = np.sort(np.argsort(rng.random((subsamples, n)), axis=1)[:, : round(SHARE * n)], axis=1)
    parts = points[rows]
    step = max(1, kmeans.ROOM // (starts * kmeans.CANDIDATES * rows.shape[1]))
    seeds = np.concatenate([kmeans.seeds(parts[i : i + step], ks[-1], starts, rng) for i in range(0, subsamples, step)])
    which = np.arange(subsamples)[:, None]
    drawn = np.zeros((subsamples, n), dtype=np.float32)
    drawn[which, rows] = 1
    both = drawn.T @ drawn
    known = np.triu(both > 0, 1)
    found = np.full(len(ks), np.nan)
    for i, k in enumerate(ks):
        if k == 1:
            continue
        labels = np.full((subsamples, n), -1, dtype=np.int16)
        labels[which, rows] = kmeans.nearest(parts, kmeans.fit(parts, seeds[:, :, :k])[0])
        others = np.where(labels < 0, -2, labels)  # a point that was not drawn is together with no other
        together = np.zeros((n, n), dtype=np.uint8)
        for mine, theirs in zip(labels, others, strict=True):
            together += mine[:, None] == theirs
        share = together / np.maximum(both, 1)
        found[i] = float(((share > 0.1) & (share < 0.9))[known].mean())
    return found


def _pac(context: Context) -> Curve:
    """Şenbabaoğlu et al. (2014), on the consensus matrix of Monti et al. (2003)."""
    values = ambiguous(context.points, context.ks, context.rng("pac"))
    return Curve(values, unknown(values), top(context.ks, values, "lower"))


def relative(ours: Array, references: Array) -> tuple[Array, Array]:
    """M3C's index and p-value for each k.

    The index (RCSI) is the log of the mean PAC of the references minus that of the data. The p-value is the probability of a
    PAC as low as that of the data in a beta distribution with the mean and variance of the references.

    Args:
        ours: PAC of the data, one value per k.
        references: PAC of each reference data set (rows) and k.
    """
    from scipy.special import betainc

    mean, variance = references.mean(axis=0), references.var(axis=0, ddof=1)
    index = np.log(np.maximum(mean, LEAST)) - np.log(np.maximum(ours, LEAST))
    many = mean * (1 - mean) / np.maximum(variance, 1e-300) - 1
    p = np.array([
        betainc(m * c, (1 - m) * c, min(max(x, LEAST), 1.0)) if v > 0 and c > 0 else float(x >= m)
        for x, m, v, c in zip(ours, mean, variance, many, strict=True)
    ])  # fmt: skip
    return index, p


def _m3c(context: Context) -> Curve:
    """John et al. (2020): PAC against Gaussian reference data of the same covariance; 1 if the best has p > 0.05."""
    rng = context.rng("m3c")
    ks = [k for k in context.ks if k > 1]
    points, note = context.points, ""
    if len(points) > MOST_POINTS:
        note = f"m3c used {MOST_POINTS} of {len(points):,} points, drawn at random"
        points = points[np.sort(rng.choice(len(points), MOST_POINTS, replace=False))]
    spread = points.std(axis=0, ddof=1)
    centred = points - points.mean(axis=0)
    axes = np.linalg.svd(centred, full_matrices=False)[2] if note else np.eye(points.shape[1])
    if note:  # the sample has other principal axes than all points
        spread = (centred @ axes.T).std(axis=0, ddof=1)
    ours = ambiguous(points, ks, rng, REFERENCE_SUBSAMPLES)
    references = np.stack([
        ambiguous(rng.normal(size=(len(points), len(spread))) * spread @ axes, ks, rng, REFERENCE_SUBSAMPLES)
        for _ in range(REFERENCES)
    ])  # fmt: skip
    index, p = relative(ours, references)
    best = top(ks, index)
    if best is not None and context.ks[0] == 1 and p[ks.index(best)] > 0.05:
        best = 1
    one = [math.nan] * (len(context.ks) - len(ks))
    error = references.std(axis=0, ddof=1) / np.maximum(references.mean(axis=0), LEAST) / np.sqrt(REFERENCES)
    return Curve(np.array([*one, *index]), np.array([*one, *error]), best, note)


PEERS = (
    Peer("pac", "Proportion of ambiguous pairs of subsamples (Şenbabaoğlu et al. 2014)", "lower", False, _pac),
    Peer("m3c", "PAC against references of the same covariance (M3C, John et al. 2020)", "higher", True, _m3c),
)
