"""What is fitted for each number of clusters: k-means in halves of the points, valleys between neighbours, and mixtures."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from congruence.engine.plan import Progress
from congruence.ensembles.generators import in_order
from congruence.selection import kmeans, mixtures
from congruence.statistics.tables import Array
from congruence.typing import ProgressLike

#: random halvings; each gives two halves
HALVINGS = 15
#: starts on each half, besides the one from the centres of all points
HALF_STARTS = 4
#: starts on all points, up to ten clusters and above
STARTS, MORE_STARTS = 20, 30


@dataclass(frozen=True, eq=False)
class Evidence:
    """Results of halves of the points for one number of clusters."""

    k: int
    labels: Array
    centres: Array
    #: sum of squared distances to the centres
    inertia: float
    #: stability of each cluster: mean over halves of its Jaccard similarity to its best match
    returns: Array
    #: depth of the valley of the worst pair of clusters, median over halves, on the points of the other half
    valley: float
    #: the same for all points at once, and the pair
    valley_of_all: float
    pair: tuple[int, int]


@dataclass(frozen=True, eq=False)
class Sample:
    """The points, their halves, and the starts on each; the same for every k."""

    points: Array
    #: (halves, points in a half): the two halves of a halving follow each other
    halves: Array
    others: Array
    starts: Array
    half_starts: Array

    @classmethod
    def of(cls, points: Array, most: int, seed: np.random.SeedSequence, halvings: int = HALVINGS) -> Sample:
        """Random halves of the points, and starts for up to `most` clusters."""
        rng = np.random.default_rng(seed)
        n = len(points)
        orders = rng.permuted(np.tile(np.arange(n), (halvings, 1)), axis=1)
        size = n // 2
        first, second = orders[:, :size], orders[:, size : 2 * size]
        halves = np.stack([first, second], axis=1).reshape(2 * halvings, size)
        others = np.stack([second, first], axis=1).reshape(2 * halvings, size)
        starts = kmeans.seeds(points[None], most, STARTS if most <= 10 else MORE_STARTS, rng)
        return cls(points, halves, others, starts, kmeans.seeds(points[halves], most, HALF_STARTS, rng))


def evidence(sample: Sample, k: int) -> Evidence:
    """Partition of all points into k clusters, their stability in halves, and the valleys between them."""
    points = sample.points
    centres, inertia = (x[0] for x in kmeans.fit(points[None], sample.starts[:, :, :k]))
    labels = kmeans.nearest(points, centres)
    depth, pair = valley(kmeans.squares(points, centres), labels, centres)
    if k == 1:
        return Evidence(1, labels, centres, float(inertia), np.ones(1), np.inf, 0.0, (0, 0))
    returns, depths = np.zeros((len(sample.halves), k)), np.zeros(len(sample.halves))
    for at, found in fitted(sample, k, centres):
        apart = kmeans.squares(points, found)
        again = apart.argmin(axis=-2)
        returns[at] = returned(labels, again, k)
        for i, half in enumerate(range(*at.indices(len(depths)))):
            other = sample.others[half]
            depths[half] = valley(apart[i][:, other], again[i][other], found[i])[0]
    return Evidence(
        k, labels, centres, float(inertia), returns.mean(axis=0), float(np.median(depths)), float(depth), pair
    )


def fitted(sample: Sample, k: int, centres: Array) -> Iterator[tuple[slice, Array]]:
    """Centres fitted on some halves at a time; the last start uses the centres of all points, which avoids poor local optima."""
    size = sample.halves.shape[1]
    step = max(1, kmeans.ROOM // ((HALF_STARTS + 1) * k * size))
    for first in range(0, len(sample.halves), step):
        at = slice(first, first + step)
        cold = sample.half_starts[at, :, :k]
        warm = np.broadcast_to(centres, (len(cold), 1, *centres.shape))
        yield at, kmeans.fit(sample.points[sample.halves[at]], np.concatenate([cold, warm], axis=1))[0]


def returned(labels: Array, again: Array, k: int) -> Array:
    """Jaccard similarity of each cluster of `labels` to its best match in each row of `again`."""
    clusters = np.arange(k)
    mine = (labels == clusters[:, None]).astype(np.float64)
    theirs = (again[:, None, :] == clusters[:, None]).astype(np.float64)
    common = mine @ np.swapaxes(theirs, -1, -2)
    either = mine.sum(axis=1)[:, None] + theirs.sum(axis=2)[:, None, :] - common
    return np.asarray((common / np.maximum(either, 1.0)).max(axis=2))


def valley(apart: Array, labels: Array, centres: Array) -> tuple[float, tuple[int, int]]:
    """Depth of the valley between the two least separated clusters, and their numbers.

    Points of a and b are projected on the line through the two centres (0 at a, 1 at b). With n_m points within 0.15 of
    the middle, and m the smaller number within 0.15 of a centre: z = (m − n_m)/√(m + n_m + 1). Clusters of fewer than two
    points have no valley: −1.

    Args:
        apart: Squared distances, centres × points.
        labels: Cluster of each point.
        centres: Clusters × features.
    """
    k = len(centres)
    if k == 1:
        return 0.0, (0, 0)
    between = np.maximum(kmeans.squares(centres, centres), 1e-300)
    own = (labels == np.arange(k)[:, None]).astype(np.float64)
    along = (apart[labels, np.arange(len(labels))] - apart + between[:, labels]) / (2 * between[:, labels])
    along[labels, np.arange(len(labels))] = np.inf
    near = own @ (np.abs(along) < mixtures.WINDOW).T.astype(np.float64)  # [a, b]: points of a near a, seen from b
    middle = own @ (np.abs(along - 0.5) < mixtures.WINDOW).T.astype(np.float64)
    middle = middle + middle.T
    least = np.minimum(near, near.T)
    depth = (least - middle) / np.sqrt(least + middle + 1)
    few = own.sum(axis=1) < 2
    depth[few], depth[:, few] = -1.0, -1.0
    depth[np.tril_indices(k)] = np.inf
    a, b = divmod(int(depth.argmin()), k)
    return float(depth[a, b]), (a, b)


# --- halves and mixtures together ---------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Fits:
    """What was fitted for one number of clusters."""

    halves: Evidence
    #: the clustering by the Gaussian mixture with the best BIC, and the depth of its shallowest valley
    mixture: Array
    fisher: float
    #: best ICL of each kind of covariance; empty if there are too few points to fit a mixture
    icls: dict[str, float]
    #: BIC of the best mixture (NaN if there is none), and whether its components are round, of one size, and apart
    bic: float
    is_round: bool


def fits_of(
    parts: Sample, ks: Sequence[int], n_jobs: int | None = None, progress: ProgressLike = False
) -> tuple[dict[int, Fits], bool]:
    """The evidence for each k, and whether all k are done; Ctrl-C keeps the finished k if there are at least two."""
    done: dict[int, Fits] = {}
    with Progress(len(ks), progress, "numbers of clusters") as bar:
        try:
            for each in in_order([partial(_fits_at, parts, x) for x in ks], n_jobs, "threading"):
                done[each.halves.k] = each
                bar.add(1)
        except KeyboardInterrupt:
            if len(done) < 2:
                raise
    return done, len(done) == len(ks)


def _fits_at(parts: Sample, k: int) -> Fits:
    found = evidence(parts, k)
    axes = mixtures.first_axes(parts.points)
    fitted = mixtures.fits_of_two(axes, found.labels, k)
    if not fitted:
        fisher = 0.0 if k == 1 else found.valley_of_all
        return Fits(found, found.labels, fisher, {}, math.nan, False)
    best = max(fitted, key=lambda f: f.bic)
    labels = best.memberships.argmax(axis=0)
    fisher = mixtures.fisher_valley(axes, labels, k) if k > 1 else 0.0
    icls: dict[str, float] = {}
    for fit in fitted:
        icls[fit.kind] = max(fit.icl, icls.get(fit.kind, -math.inf))
    if k == 1 and "full" in icls:
        icls["tied"] = icls["full"]  # one component: the two are the same
    return Fits(found, labels, fisher, icls, best.bic, mixtures.is_round(axes, best))


def comparable_icl(fitted: Sequence[Fits], k: int) -> Array:
    """The best ICL for each number of clusters, among the kinds of covariance that could be fitted for k clusters.

    Kinds with many parameters are left out as the number of clusters grows, and ICL would fall for want of a kind.

    Args:
        fitted: The evidence for each number of clusters.
        k: One of them. If no kind could be fitted for it, all kinds are compared.
    """
    kinds = next((set(x.icls) for x in fitted if x.halves.k == k), set()) or set(mixtures.KINDS)
    return np.array([max((x.icls[kind] for kind in kinds & set(x.icls)), default=math.nan) for x in fitted])
