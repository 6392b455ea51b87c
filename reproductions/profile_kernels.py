"""ADCO with a kernel in place of the product of two profiles, or of their clusters: the variants of the paper.

On whole profiles a polynomial kernel is little more than a power of ADCO, so the package has the plain product only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
from scipy.optimize import linear_sum_assignment

from congruence.density.counting import similarity_matrix
from congruence.density.profile import Profile
from congruence.formulas import find
from congruence.statistics.profiles import Profiles
from congruence.statistics.tables import Array

#: (product, squared length of a, of b, the square that lengths are measured by) → the kernel
Kernel = Callable[[Array, Array, Array, float], Array]


def polynomial(degree: float = 2.0, coef0: float = 1.0) -> Kernel:
    """((product + coef0) / (scale + coef0))^degree; divided by the scale, so that large counts do not overflow."""
    return lambda product, _a, _b, scale: ((product + coef0) / (scale + coef0)) ** degree


def rbf(gamma: float | None = None) -> Kernel:
    """exp(−gamma · squared distance); gamma is 1 / scale by default."""

    def kernel(product: Array, square_a: Array, square_b: Array, scale: float) -> Array:
        away = np.maximum(square_a + square_b - 2 * product, 0.0)
        return np.asarray(np.exp(-away * (1 / scale if gamma is None else gamma)))

    return kernel


def adco(p: Profile, q: Profile, kernel: Kernel, on: Literal["profile", "clusters"] = "profile") -> float:
    """ADCO of two profiles with a kernel of the matched profiles, or of their clusters.

    >>> p, q = Profile.of([[3, 1], [0, 4]]), Profile.of([[2, 2], [1, 3]])
    >>> round(adco(p, q, polynomial()), 4), round(adco(p, q, rbf(0.1), "clusters"), 4)
    (0.6049, 0.8187)
    """
    product = similarity_matrix(p, q)
    squares = [np.square(x.counts.astype(np.float64)).sum(axis=1) for x in (p, q)]
    if on == "clusters":
        scale = max(float(x.mean()) for x in squares)
        product = kernel(product, squares[0][:, None], squares[1][None, :], scale)
        own = [float(kernel(x, x, x, scale).sum()) for x in squares]
    else:
        own = [float(x.sum()) for x in squares]
    both = float(product[linear_sum_assignment(product, maximize=True)].sum())
    if on == "profile":
        scale = max(own)
        both = float(kernel(np.array(both), np.array(own[0]), np.array(own[1]), scale))
        own = [float(kernel(np.array(x), np.array(x), np.array(x), scale)) for x in own]
    return float(find("adco").values(Profiles.of(both, *own, np.nan))[0])
