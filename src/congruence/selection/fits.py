"""Fits for each number of clusters: k-means in halves, and Gaussian mixtures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from congruence.engine.plan import Progress
from congruence.ensembles.generators import in_order
from congruence.selection import halves, mixtures
from congruence.statistics.tables import Array
from congruence.typing import ProgressLike


@dataclass(frozen=True, eq=False)
class Fits:
    """What was fitted for one number of clusters."""

    halves: halves.Evidence
    #: the clustering by the Gaussian mixture with the best BIC, and the depth of its shallowest valley
    mixture: Array
    fisher: float
    #: best ICL of each kind of covariance; empty if there are too few points to fit a mixture
    icls: dict[str, float]
    #: BIC of the best mixture (NaN if there is none), and whether its components are round, of one size, and apart
    bic: float
    is_round: bool


def fits_of(
    parts: halves.Sample, ks: Sequence[int], n_jobs: int | None = None, progress: ProgressLike = False
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


def _fits_at(parts: halves.Sample, k: int) -> Fits:
    found = halves.evidence(parts, k)
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
