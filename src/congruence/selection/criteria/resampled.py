"""Criteria from clustering resampled points, or reference data without clusters."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np

from congruence.selection import halves, kmeans
from congruence.selection.criteria.record import Context, Curve, Peer, largest, top
from congruence.statistics.tables import Array

# --- the gap statistic of Tibshirani, Walther and Hastie (2001), with two rules for k -----------------------------------

#: gap statistic: data sets drawn from the box, and starts on each; the same number of starts on bootstrap samples
REFERENCES, STARTS = 20, 5


def gap(context: Context, references: int = REFERENCES) -> tuple[Array, Array]:
    """Mean log sum of squares of uniform data minus that of the data, and its simulation error s_k, for each k.

    The reference data are uniform in the box around the points in their principal axes, as in R's
    `clusGap(spaceH0 = "scaledPCA", d.power = 2)`.
    """
    rng = context.rng("gap")
    low, high = context.points.min(axis=0), context.points.max(axis=0)
    drawn = rng.uniform(low, high, (references, *context.points.shape))
    drawn -= drawn.mean(axis=1, keepdims=True)
    starts = kmeans.seeds(drawn, context.ks[-1], STARTS, rng)
    found = np.log(np.stack([kmeans.fit(drawn, starts[:, :, :k])[1] for k in context.ks], axis=1))
    ours = np.log(np.maximum([fit.halves.inertia for fit in context.fits.values()], 1e-300))
    return found.mean(axis=0) - ours, found.std(axis=0) * np.sqrt(1 + 1 / references)


def first_rule(ks: list[int], values: Array, errors: Array) -> int:
    """The first k whose gap is at least that of the next k minus its error; the last k if there is none."""
    for i in range(len(ks) - 1):
        if values[i] >= values[i + 1] - errors[i + 1]:
            return ks[i]
    return ks[-1]


def global_rule(ks: list[int], values: Array, errors: Array) -> int:
    """The first k whose gap is at least the largest gap minus its error."""
    most = int(values.argmax())
    return ks[int(np.flatnonzero(values >= values[most] - errors[most])[0])]


def _gap(rule: Callable[[list[int], Array, Array], int], context: Context) -> Curve:
    values, errors = context.once(gap)
    return Curve(values, rule(context.ks, values, errors), errors)


# --- prediction strength, clusterboot and nselectboot -------------------------------------------------------------------

#: smallest prediction strength and stability of an accepted number of clusters
STRENGTH, STABLE = 0.8, 0.85
#: bootstrap samples (nselectboot: pairs of them)
BOOTSTRAPS = 30


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
    return Curve(values, largest(context.ks, values, STRENGTH), errors)


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
    return Curve(values, largest(context.ks, values, STABLE), errors)


def _nselectboot(context: Context) -> Curve:
    """Fang and Wang (2012): share of pairs of points that two bootstrap samples disagree on, as fpc's nselectboot."""
    rng = context.rng("nselectboot")
    points = context.points
    n = len(points)
    drawn = points[rng.integers(0, n, (2 * BOOTSTRAPS, n))]
    starts = kmeans.seeds(drawn, context.ks[-1], STARTS, rng)
    values, errors = np.full(len(context.ks), np.nan), np.full(len(context.ks), np.nan)
    for i, k in enumerate(context.ks):
        if k > 1:
            labels = kmeans.nearest(points, kmeans.fit(drawn, starts[:, :, :k])[0])
            found = [_disagreement(a, b, k) for a, b in labels.reshape(-1, 2, n)]
            values[i], errors[i] = np.mean(found), np.std(found, ddof=1) / np.sqrt(BOOTSTRAPS)
    return Curve(values, top(context.ks, values, "lower"), errors)


def _disagreement(a: Array, b: Array, k: int) -> float:
    """Share of the n² ordered pairs of points that are together in a and apart in b."""
    table = np.bincount(a * k + b, minlength=k * k).reshape(k, k).astype(np.float64)
    return float(((table.sum(axis=1) ** 2).sum() - (table**2).sum()) / len(a) ** 2)


# --- consensus clustering of subsamples: PAC, and PAC against reference data (M3C) ---------------------------------------

#: PAC: subsamples, the share of the points in each, and k-means starts on each
SUBSAMPLES, SHARE, PART_STARTS = 50, 0.8, 3
#: M3C: reference data sets, subsamples of each, and the most points used
M3C_REFERENCES, REFERENCE_SUBSAMPLES, MOST_POINTS = 12, 40, 400
#: a PAC of zero counts as this in logarithms, as in M3C
LEAST = 1e-7


def ambiguous(
    points: Array, ks: list[int], rng: np.random.Generator, subsamples: int = SUBSAMPLES, starts: int = PART_STARTS
) -> Array:
    """PAC per k: proportion of pairs of points that are together in 10% to 90% of the subsamples with both.

    Args:
        points: Points × features.
        ks: Numbers of clusters in order; 1 gives NaN.
        rng: Generator for subsamples and starts.
        subsamples: Random subsets of 80% of the points, at most 255, each clustered by k-means.
        starts: k-means++ starts on each.
    """
    n = len(points)
    rows = np.sort(np.argsort(rng.random((subsamples, n)), axis=1)[:, : round(SHARE * n)], axis=1)
    parts = points[rows]
    seeds = kmeans.seeds(parts, ks[-1], starts, rng)
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
    return Curve(values, top(context.ks, values, "lower"))


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
        for _ in range(M3C_REFERENCES)
    ])  # fmt: skip
    index, p = relative(ours, references)
    best = top(ks, index)
    if best is not None and context.ks[0] == 1 and p[ks.index(best)] > 0.05:
        best = 1
    one = [math.nan] * (len(context.ks) - len(ks))
    error = references.std(axis=0, ddof=1) / np.maximum(references.mean(axis=0), LEAST) / np.sqrt(M3C_REFERENCES)
    return Curve(np.array([*one, *index]), best, np.array([*one, *error]), note)


PEERS = (
    Peer("gap", "Gap statistic, first k (Tibshirani et al. 2001)", "higher", partial(_gap, first_rule)),
    Peer("gap_max", "Gap statistic, global maximum minus one standard error", "higher", partial(_gap, global_rule)),
    Peer("prediction_strength", "Prediction strength (Tibshirani and Walther 2005)", "higher", _prediction_strength),
    Peer("clusterboot", "Stability of the worst cluster under the bootstrap (Hennig 2007)", "higher", _clusterboot),
    Peer("nselectboot", "Instability of pairs of bootstrap samples (Fang and Wang 2012)", "lower", _nselectboot),
    Peer("pac", "Proportion of ambiguous pairs of subsamples (Şenbabaoğlu et al. 2014)", "lower", _pac),
    Peer("m3c", "PAC against references of the same covariance (M3C, John et al. 2020)", "higher", _m3c),
)
