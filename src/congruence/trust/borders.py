"""Whether two clusters are one: a valley tested at their border, and the gain in likelihood of two groups over one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from congruence.selection import kmeans
from congruence.statistics.tables import Array
from congruence.trust.clouds import same_columns

#: parts of the points; each is looked at along an axis that the others chose
FOLDS = 5
#: half-width of the windows at the border and in the middle of each cluster, as a share of the distance between the two
WIDTH = 0.25
#: neighbours in each cluster whose mean distance says how near it is
NEAR = 5
#: a valley counts if the window at the border holds at most this share of the points of each window beside it
HALF = 0.5
#: smallest share of the variance of all axes in the covariance of the axis that separates best
SHRINKAGE = 0.1
#: two clusters are one below this gain of two groups over one, or below the second where the valley has a p-value above the third
ONE, ONE_WITHOUT_VALLEY, NO_VALLEY = 2.4, 2.8, 0.2
#: how much wider the clouds are taken to be: agglomerative methods follow gaps that the cuts of k-means do not
WIDER = 1.4
#: fewer points than this are not enough to say that two clusters are one
FEW = 20
#: steps of the fit of two groups, and their smallest standard deviation as a share of that of all points
STEPS, NARROW = 30, 0.05


@dataclass(frozen=True)
class Border:
    """The border between two clusters.

    Attributes:
        p_value: If there is no valley; at most uniform for one cloud that was cut, and mostly 1.
        filled: Points in the window at the border, as a share of the emptier of the windows beside it; 0 is an empty border.
        gain: Log-likelihood of two normal groups less that of one, of the distances to neighbours, by the root of the points.
    """

    p_value: float
    filled: float
    gain: float

    @property
    def oneness(self) -> float:
        """How far the gain is below its limit: 1 if two groups explain nothing, below 0 if the clusters are not merged."""
        return 1 - self.gain / (ONE_WITHOUT_VALLEY if self.p_value > NO_VALLEY else ONE)


def border_of(a: Array, b: Array, rng: np.random.Generator) -> Border:
    """The border between two clusters of points, by a straight axis and by distances to neighbours, which follow any shape.

    The p-value is of a valley. The density along an axis falls monotonically away from its peak if there is one cloud, so that
    it cannot be lower at the border than on both sides. Both one-sided binomial tests must reject. The axis is found without
    the points that are counted. Distances to neighbours follow the labels more closely, so their p-value is replaced by its
    root (`python -m reproductions.check_clusters` shows how often one cloud that was cut is rejected).

    A valley is seldom significant for clusters of few points, so whether the two are one is decided by the gain: two normal
    groups explain the differences of distances to the neighbours in both clusters much better than one, or they do not.

    >>> rng = np.random.default_rng(0)
    >>> cloud = rng.normal(size=(400, 2))
    >>> left, right = cloud[cloud[:, 0] < 0], cloud[cloud[:, 0] > 0]
    >>> border_of(left, right, rng).p_value, border_of(left, right + 2, rng).p_value < 0.001
    (1.0, True)
    """
    away = _by_neighbours(a, b)
    straight, near = _valley(_along_axis(a, b, rng)), _valley(None if away is None else _about_zero(away, len(a)))
    p_value = min(1.0, 2 * min(straight[0], near[0] ** 0.5))
    return Border(p_value, min(straight[1], near[1]), 0.0 if away is None else _gain(away, len(a)))


def refitted(a: Array, b: Array, rng: np.random.Generator, draws: int) -> float:
    """The p-value of the border among those of clouds like the two clusters together, cut in two by k-means.

    The cut was made on the data, so the border is emptier than another place: it is so in the clouds too. The statistic is the
    logarithm of the filled share along the axis; the clouds give its mean and its spread. It is near uniform for one cloud
    that was cut, whatever its tails (`python -m reproductions.check_clusters --nulls`). The clouds keep the values of each
    column, so a valley that one column shows is in them too: the binomial tests of `border_of` find it.

    >>> rng = np.random.default_rng(0)
    >>> cloud = rng.normal(size=(400, 9))
    >>> above = cloud.sum(axis=1) > 0
    >>> refitted(cloud[above], cloud[~above], rng, 8) > 0.05, refitted(cloud[above] + 1, cloud[~above], rng, 8) < 0.001
    (True, True)
    """
    from scipy.stats import t

    points = np.concatenate([a, b])
    points = points - points.mean(axis=0)
    value = _log_filled(points[: len(a)], points[len(a) :], rng)
    start = np.stack([points[: len(a)].mean(axis=0), points[len(a) :].mean(axis=0)])
    drawn = []
    for _ in range(draws if value is not None else 0):
        cloud = same_columns(points, rng)
        centres = kmeans.fit(cloud[None], start[None, None])[0][0]
        in_a = kmeans.squares(centres, cloud).argmin(axis=1) == 0
        if min(in_a.sum(), (~in_a).sum()) > FOLDS:
            drawn.append(_log_filled(cloud[in_a], cloud[~in_a], rng))
    known = np.array([x for x in drawn if x is not None])
    if value is None or len(known) < 3:
        return 1.0
    spread = WIDER * max(float(known.std(ddof=1)), NARROW) * (1 + 1 / len(known)) ** 0.5
    return float(t.cdf((value - known.mean()) / spread, len(known) - 1))


def _log_filled(a: Array, b: Array, rng: np.random.Generator) -> float | None:
    """Logarithm of the filled share along the axis; None where there is no axis."""
    counts = _along_axis(a, b, rng)
    return None if counts is None else float(np.log((counts[::2] + 0.5) / (counts[1::2] + 0.5)).max())


def _valley(counts: Array | None) -> tuple[float, float]:
    """The p-value and the filled share, for counts at the border and in a, with windows of the one width, then for b."""
    if counts is None:
        return 1.0, 0.0
    from scipy.stats import binom

    border, beside = counts[::2], counts[1::2]
    filled = float((border / np.maximum(beside, 1)).max())
    p_value = float(binom.cdf(border, border + beside, 0.5).max())
    return (p_value if filled <= HALF else 1.0), filled


def _windows(z: Array, at: float, high: float, low: float) -> list[int]:
    """Points in the windows: at the border and about `high`, then at the border and about `low`."""
    wide, narrow = WIDTH * (high - at), WIDTH * (at - low)
    places = ((at, wide), (high, wide), (at, narrow), (low, narrow))
    return [int((np.abs(z - place) < half).sum()) for place, half in places]


def _along_axis(a: Array, b: Array, rng: np.random.Generator) -> Array | None:
    """Counts along the axis that separates best; the axis and the place of the border come from the other parts."""
    parts = [rng.permutation(np.arange(len(x)) % FOLDS) for x in (a, b)]
    counts = np.zeros(4, dtype=np.int64)
    for fold in range(FOLDS):
        mine, theirs = a[parts[0] != fold], b[parts[1] != fold]
        if min(len(mine), len(theirs)) < 2:
            return None
        axis = _axis(mine, theirs)
        high, low = np.sort(mine @ axis), np.sort(theirs @ axis)
        top, bottom = float(np.median(high)), float(np.median(low))
        if top <= bottom:
            return None
        at = _emptiest(np.sort(np.concatenate([high, low])), bottom, top)
        left_out = np.concatenate([a[parts[0] == fold], b[parts[1] == fold]]) @ axis
        counts += _windows(left_out, at, top, bottom)
    return counts


def _axis(a: Array, b: Array) -> Array:
    """Fisher's discriminant, with a covariance shrunk towards equal variances."""
    centres = a.mean(axis=0), b.mean(axis=0)
    own = [x - centre for x, centre in zip((a, b), centres, strict=True)]
    d, n = a.shape[1], len(a) + len(b)
    inside = (own[0].T @ own[0] + own[1].T @ own[1]) / max(n - 2, 1)
    size = float(np.trace(inside)) / d
    share = max(SHRINKAGE, min(1.0, d / n))
    return np.linalg.solve((1 - share) * inside + (share * size + 1e-12) * np.eye(d), centres[0] - centres[1])


def _emptiest(z: Array, low: float, high: float) -> float:
    """The place between two medians with the fewest of the sorted values about it."""
    places = low + (high - low) * np.linspace(0.2, 0.8, 25)
    half = WIDTH * (high - low) / 2
    many = np.searchsorted(z, places + half) - np.searchsorted(z, places - half)
    return float(np.median(places[many == many.min()]))


def _by_neighbours(a: Array, b: Array) -> Array | None:
    """Mean distance of each point to its nearest other points in b, less that in a; 0 is the border."""
    few = min(NEAR, len(a) - 1, len(b) - 1)
    if few < 1:
        return None
    points = np.concatenate([a, b])
    apart = np.sqrt(kmeans.squares(points, points))
    np.fill_diagonal(apart, np.inf)
    to_a, to_b = (
        np.partition(part, few - 1, axis=1)[:, :few].mean(axis=1) for part in (apart[:, : len(a)], apart[:, len(a) :])
    )
    return np.asarray(to_b - to_a)


def _about_zero(away: Array, of_a: int) -> Array:
    """Counts at the border and in the middle of each cluster."""
    high, low = float(np.median(away[:of_a])), float(np.median(away[of_a:]))
    if high <= 0 or low >= 0:
        return np.array([1, 0, 1, 0])  # most points of a cluster are nearer to the other one
    return np.array(_windows(away, 0.0, high, low))


def _gain(z: Array, of_a: int) -> float:
    """Log-likelihood of two normal groups, fitted by EM from the clusters, less that of one, by the root of the points.

    Of fewer than FEW points it is the gain per point, times the root of FEW: their sum is too small to say anything.
    """
    spread = float(z.std())
    if spread == 0:
        return 0.0
    z = (z - z.mean()) / spread
    in_a = (np.arange(len(z)) < of_a).astype(np.float64)
    best = -np.inf
    for _ in range(STEPS):
        part = np.stack([in_a, 1 - in_a])
        many = np.maximum(part.sum(axis=1), 1e-9)
        mean = part @ z / many
        sd = np.maximum(np.sqrt((part * (z - mean[:, None]) ** 2).sum(axis=1) / many), NARROW)
        each = np.log(many / len(z) / sd)[:, None] - ((z - mean[:, None]) / sd[:, None]) ** 2 / 2
        both = np.logaddexp(*each)
        last, best = best, max(best, float(both.sum()))
        if best - last < 1e-4 * len(z):
            break
        in_a = np.exp(each[0] - both)
    return float((best + len(z) / 2) / len(z) * np.sqrt(max(len(z), FEW)))
