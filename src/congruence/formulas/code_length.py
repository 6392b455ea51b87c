"""Code lengths of labels in nats, alone or given another clustering (Jerdee, Kirkley & Newman)."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from congruence.statistics.tables import Array

#: search range for the concentration of the Dirichlet-multinomial
LEAST, MOST = 1e-4, 1e4
#: up to this many factors are multiplied one by one, which stays precise for large concentrations
ONE_BY_ONE = 1_000
#: grid size and number of refinements: the last grid has steps of 10⁻⁶ on a log scale, where the length is flat
GRID, ROUNDS = 33, 6


def code_length(groups: Array, parts: Array, clusters: int) -> float:
    """Code length in nats, minus n log q, of the labels of the points of each group; `parts` are the counts by label.

    The smallest over α of Σ_j log (qα)^(b_j) − Σ_ij log α^(n_ij), with rising factorials and q clusters, minus the n log q
    of equally likely labels: the difference is small and is computed precisely.

    >>> float(round(code_length(np.array([4]), np.array([4]), 2) + 4 * np.log(2), 4))
    0.6933
    """
    found = [x.astype(np.int64).tobytes() for sizes in (groups, parts) for x in np.unique(sizes, return_counts=True)]
    return _least(*found, clusters)


@lru_cache(maxsize=4096)
def _least(group_sizes: bytes, group_counts: bytes, part_sizes: bytes, part_counts: bytes, clusters: int) -> float:
    """The same from the distinct sizes and their counts; cached, because sizes repeat over pairs."""
    packed = (group_sizes, group_counts, part_sizes, part_counts)
    group, many, part, times = (np.frombuffer(x, np.int64) for x in packed)

    def cost(log_alpha: Array) -> Array:
        alpha = np.exp(log_alpha)
        return np.asarray(_log_rising(clusters * alpha, group) @ many - _log_rising(alpha, part) @ times)

    low, high = ends = math.log(LEAST), math.log(MOST)
    least = math.inf
    for _ in range(ROUNDS):  # refine the grid around the best value
        grid = np.linspace(low, high, GRID)
        values = cost(grid)
        best = int(np.argmin(values))
        least = min(least, float(values[best]))
        step = (high - low) / (GRID - 1)
        low, high = max(ends[0], float(grid[best]) - step), min(ends[1], float(grid[best]) + step)
    return least


def _log_rising(alpha: Array, m: Array) -> Array:
    """log (1 + 1/α) (1 + 2/α) … (1 + (m − 1)/α) for each α (rows) and m (columns)."""
    from scipy.special import gammaln

    few = m <= ONE_BY_ONE
    factors = np.log1p(np.arange(int(m[few].max(initial=0))) / alpha[:, None])
    steps = np.concatenate([np.zeros((len(alpha), 1)), np.cumsum(factors, axis=1)], axis=1)
    out = np.empty((len(alpha), len(m)))
    out[:, few] = steps[:, m[few]]
    out[:, ~few] = gammaln(alpha[:, None] + m[~few]) - gammaln(alpha)[:, None] - m[~few] * np.log(alpha)[:, None]
    return out
