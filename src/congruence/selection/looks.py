"""What is found out about each number of clusters: k-means in halves, and Gaussian mixtures."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from congruence.engine.plan import Progress
from congruence.errors import InputError
from congruence.selection import calibration, connected, halves, mixtures
from congruence.statistics.tables import Array

#: mixtures of data with more features than this are fitted to the first axes
MOST_AXES, SOME_AXES = 15, 10
#: k-means cuts across connected groups where more than this share of the points is on the wrong side
MOST_CUT = 0.05


@dataclass(frozen=True, eq=False)
class Look:
    """What was found about one number of clusters."""

    halves: halves.Evidence
    #: the clustering by the Gaussian mixture with the best BIC, and the depth of its shallowest valley
    mixture: Array
    fisher: float
    #: of the mixture that has the best; NaN where there are too few points to fit one
    icl: float


def look_at(
    parts: halves.Sample, ks: Sequence[int], n_jobs: int | None = None, progress: Any = False
) -> tuple[dict[int, Look], bool]:
    """What was found for each k, and whether all are done; Ctrl-C keeps two or more.

    Args:
        parts: the points, their halves and starts, for at least as many clusters.
        ks: numbers of clusters in order.
        n_jobs: numbers of clusters worked on at the same time; they do not change the answer.
        progress: called with (done, total); None or True for a bar on a terminal, False for none.
    """

    done: dict[int, Look] = {}
    with Progress(len(ks), progress, "numbers of clusters") as bar:
        try:
            for each in _in_threads([partial(_look, parts, x) for x in ks], n_jobs):
                done[each.halves.k] = each
                bar.add(1)
        except KeyboardInterrupt:
            if len(done) < 2:
                raise
    return done, len(done) == len(ks)


def _look(parts: halves.Sample, k: int) -> Look:
    found = halves.evidence(parts, k)
    n, d = parts.points.shape
    axes = parts.points if d <= MOST_AXES else parts.points[:, : max(2, min(SOME_AXES, n // 10))]
    fitted = mixtures.fits(axes, found.labels, k)
    if not fitted:
        return Look(found, found.labels, 0.0 if k == 1 else found.valley_of_all, math.nan)
    labels = max(fitted, key=lambda f: f.bic).memberships.argmax(axis=0)
    fisher = mixtures.fisher_valley(axes, labels, k) if k > 1 else 0.0
    return Look(found, labels, fisher, max(f.icl for f in fitted))


def is_cut(found: connected.Groups, k: int, look: Look) -> bool:
    """Do k-means and the mixture cut across connected groups, or split them where no valley is?

    Args:
        found: the connected groups.
        k: number of clusters that k-means and the mixture speak for.
        look: what was found for that number.
    """
    if found.span < connected.SPAN:
        return False
    cut = min(_across(labels, found.labels) for labels in (look.halves.labels, look.mixture))
    held = float(calibration.holds([k], look.halves.returns.min(keepdims=True), np.array([look.halves.valley]))[0])
    return cut > MOST_CUT or (k > found.k and held < 0.5 and look.fisher < 1)


def _across(labels: Array, groups: Array) -> float:
    """Share of the points that are not in the group that most points of their cluster are in."""
    table = np.zeros((labels.max() + 1, groups.max() + 1))
    np.add.at(table, (labels, groups), 1)
    return float(1 - table.max(axis=1).sum() / len(labels))


def _in_threads(jobs: Sequence[Callable[[], Any]], n_jobs: int | None) -> Iterable[Any]:
    if n_jobs in (None, 1):
        return (job() for job in jobs)
    if not isinstance(n_jobs, int | np.integer) or n_jobs == 0:
        raise InputError(f"n_jobs is a number of jobs, or -1 for all cores; got {n_jobs!r}")
    from joblib import Parallel, delayed

    from congruence.engine.plan import default_threads

    n_jobs = min(int(n_jobs), len(jobs), default_threads(None))  # more threads than cores only cost memory
    found: Iterable[Any] = Parallel(n_jobs=n_jobs, backend="threading", return_as="generator")(
        delayed(job)() for job in jobs
    )
    return found
