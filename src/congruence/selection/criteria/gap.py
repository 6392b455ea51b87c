"""The gap statistic of Tibshirani, Walther and Hastie (2001), with two rules for k."""

from __future__ import annotations

import numpy as np

from congruence.selection import kmeans
from congruence.selection.criteria.record import Context, Curve, Peer
from congruence.statistics.tables import Array

#: data sets drawn from the box, and starts on each
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
    found = np.empty((references, len(context.fits)))
    step = max(1, kmeans.ROOM // (STARTS * kmeans.CANDIDATES * len(context.points)))
    for first in range(0, references, step):
        part = drawn[first : first + step]
        starts = kmeans.seeds(part, context.ks[-1], STARTS, rng)
        for j, k in enumerate(context.ks):
            found[first : first + step, j] = np.log(kmeans.fit(part, starts[:, :, :k])[1])
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


def _first(context: Context) -> Curve:
    values, errors = context.once(gap)
    return Curve(values, errors, first_rule(context.ks, values, errors))


def _global(context: Context) -> Curve:
    values, errors = context.once(gap)
    return Curve(values, errors, global_rule(context.ks, values, errors))


PEERS = (
    Peer("gap", "Gap statistic, first k (Tibshirani et al. 2001)", "higher", True, _first),
    Peer("gap_max", "Gap statistic, global maximum minus one standard error", "higher", True, _global),
)
