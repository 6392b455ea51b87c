"""Whether clusters are more compact than those of the same setting in data without clusters, for which no border is empty."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from congruence.alternative_clustering.quality import silhouettes
from congruence.errors import InputError
from congruence.statistics.tables import Array
from congruence.trust.clouds import CLOUDS

#: draws of each kind of data without clusters, and most points of a silhouette
DRAWS, MOST_POINTS = 4, 2_000
#: a silhouette must exceed the largest mean of a kind by this much and by so many standard deviations, and the largest value
#: of all draws by the last; found with the DEV half of reproductions.sweep
MARGIN, DEVIATIONS, LEAST = 0.05, 5.0, 0.01

#: makes labels, −1 for none, from data and a random stream
Labelling = Callable[[Array, np.random.Generator], Array]


def beyond_chance(data: Array, labels: Array, again: Labelling, stream: np.random.SeedSequence) -> float:
    """How far the mean silhouette is above that in data without clusters, NaN if it is not clearly above.

    Points without a cluster have a silhouette of 0. The data without clusters are Gaussian with the covariance of the data;
    have the columns of the data, put together like Gaussian ones of the same rank correlations; or are uniform in the box of
    the principal axes. None of the draws may come near.

    >>> rng = np.random.default_rng(0)
    >>> cloud = rng.normal(size=(200, 9))
    >>> apart = cloud + np.repeat([[0] * 9, [3] * 9], 100, axis=0)
    >>> def halves(x, rng):
    ...     return (x.sum(axis=1) > x.sum(axis=1).mean()).astype(int)
    >>> [round(beyond_chance(x, halves(x, rng), halves, np.random.SeedSequence(0)), 1) for x in (cloud, apart)]
    [nan, 0.2]
    """
    rng = np.random.default_rng(stream)
    value = _silhouette(data, labels, rng)
    means, variances = [], []
    for cloud_of in CLOUDS:
        drawn: list[float] = []
        for _ in range(DRAWS):
            cloud = cloud_of(data, rng)
            try:
                drawn.append(_silhouette(cloud, again(cloud, rng), rng))
            except InputError:
                drawn.append(0.0)
            if drawn[-1] + LEAST >= value:
                return float("nan")
        means.append(float(np.mean(drawn)))
        variances.append(float(np.var(drawn, ddof=1)))
    beyond = value - max(means)
    return beyond if beyond > max(MARGIN, DEVIATIONS * float(np.mean(variances)) ** 0.5) else float("nan")


def _silhouette(data: Array, labels: Array, rng: np.random.Generator) -> float:
    """The mean silhouette, of a sample of many points; 0 for points without a cluster, and for fewer than two clusters."""
    if len(data) > MOST_POINTS:
        some = rng.choice(len(data), MOST_POINTS, replace=False)
        data, labels = data[some], labels[some]
    inside = labels >= 0
    codes = np.unique(labels[inside], return_inverse=True)[1]
    if len(codes) == 0 or not 0 < codes.max() < len(codes) - 1:
        return 0.0
    return silhouettes(data[inside], [codes])[0] * float(inside.mean())
