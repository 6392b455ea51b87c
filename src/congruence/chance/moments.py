"""P-values of pair-counting measures without draws, from exact moments under permutation.

S = Σ_ij C(n_ij, 2) counts the pairs of points that two partitions both keep together. When the points of one are permuted,
the first three moments of S follow from how often each graph of up to three edges occurs among the pairs that each partition
keeps together. A Pearson type III distribution with these moments gives the tail.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np

from congruence.statistics.information import distinct
from congruence.statistics.tables import Array
from congruence.typing import Scalar

#: ordered pairs and ordered triples of edges per graph below: twice the same edge, and so on
PAIRS = np.array([1, 2, 2])
TRIPLES = np.array([1, 6, 6, 6, 6, 6, 6, 6])

#: for the three pairs in a triple of edges: how many are the same edge, share a point, share none
WITHIN = ((3, 0, 0), (1, 2, 0), (1, 0, 2), (0, 3, 0), (0, 3, 0), (0, 2, 1), (0, 1, 2), (0, 0, 3))


def subgraphs(sizes: Sequence[int] | Array) -> tuple[int, ...]:
    """How often each graph occurs among the pairs of points that a partition with these cluster sizes keeps together.

    In order: one edge; two edges that share a point; two that do not; three edges: a triangle, a star, a path through four
    points, a path of two edges and a separate edge, three separate edges.

    >>> subgraphs([3, 2])
    (4, 3, 3, 1, 0, 0, 3, 0)
    """
    size, many = (x.astype(object) for x in distinct(np.asarray(sizes)))
    edge, triangle, four = (int((many * _choose(size, r)).sum()) for r in (2, 3, 4))
    # an edge separate from a path avoids its three points, which have 3s − 6 edges in a clique of s points
    mixed = int((many * 3 * _choose(size, 3) * (edge - 3 * size + 6)).sum())
    three = math.comb(edge, 3) - triangle - 16 * four - mixed
    return edge, 3 * triangle, math.comb(edge, 2) - 3 * triangle, triangle, 4 * four, 12 * four, mixed, three


def _choose(x: Array, r: int) -> Array:
    """Binomial coefficients of integers of any size."""
    product = np.full(len(x), 1, dtype=object)
    for i in range(r):
        product = product * (x - i)
    return product // math.factorial(r)


@lru_cache(maxsize=16)
def _whole(n: int) -> tuple[int, ...]:
    """The graphs among all pairs of n points."""
    return subgraphs([n])


@dataclass(frozen=True, eq=False)
class Margin:
    """The sums of one partition that the moments need: one pass over the cluster sizes, shared by all pairs."""

    sizes: Array

    @cached_property
    def n(self) -> int:
        """Number of points."""
        return int(self.sizes.sum())

    @cached_property
    def pairs(self) -> int:
        """Number of pairs of points together."""
        return subgraphs(self.sizes)[0]

    @cached_property
    def centred(self) -> tuple[Array, Array]:
        """Mean product of two and of three centred entries of the co-membership matrix, by the graph that they form.

        Exact until the last step: they are small differences of large numbers.
        """
        counts, whole = subgraphs(self.sizes), _whole(self.n)
        share = [Fraction(x, y) if y else Fraction(0) for x, y in zip(counts, whole, strict=True)]
        mean, two = share[0], share[:3]
        second = [float(x - mean**2) for x in two]
        third = [
            float(x - mean * sum(k * y for k, y in zip(inside, two, strict=True)) + 2 * mean**3)
            for x, inside in zip([share[0], *share[1:]], WITHIN, strict=True)
        ]
        return np.array(second), np.array(third)

    @cached_property
    def limits(self) -> tuple[Array, Array]:
        """tr Cʳ and pᵀCʳ⁻¹p for r = 2, 3, 4, with C = diag(p) − ppᵀ and the shares p of the clusters.

        In large samples a table is normal with covariance n · C_a ⊗ C_b, and these give the cumulants of S.
        """
        p = self.sizes / self.n
        s2, s3, s4, s5 = (float((p**r).sum()) for r in (2, 3, 4, 5))
        traces = [
            s2 - 2 * s3 + s2**2, s3 - 3 * s4 + 3 * s2 * s3 - s2**3,
            s4 - 4 * s5 + 4 * s2 * s4 + 2 * s3**2 - 4 * s2**2 * s3 + s2**4,
        ]  # fmt: skip
        forms, x = [], p
        for _ in range(3):
            x = p * x - p * float(p @ x)
            forms.append(float(p @ x))
        return np.array(traces), np.array(forms)


@dataclass(frozen=True, eq=False)
class Moments:
    """Mean, standard deviation and skewness of S for every pair of partitions, one from each of two lists.

    `fineness` is the logarithm of the approximate number of likely tables: with few, S takes coarse steps.
    `excess` is how much the kurtosis exceeds that of the Pearson type III distribution with this skewness, in large
    samples: if it is not small, the tail is heavier than that of the distribution.

    >>> m = Moments.of([[2, 2]], [[2, 2]])
    >>> m.mean.round(6).tolist(), m.deviation.round(6).tolist(), m.skewness.round(6).tolist()
    ([[0.666667]], [[0.942809]], [[0.707107]])
    """

    mean: Array
    deviation: Array
    skewness: Array
    excess: Array
    fineness: Array
    n: Array

    @classmethod
    def of(cls, a: Sequence[Margin], b: Sequence[Margin]) -> Moments:
        """The moments of partitions of the same number of points, given as cluster sizes or `Margin`."""
        rows, columns = ([x if isinstance(x, Margin) else Margin(np.asarray(x)) for x in side] for side in (a, b))
        whole = np.array([float(x) for x in _whole(rows[0].n)])
        pairs_a, pairs_b = (np.array([float(m.pairs) for m in side]) for side in (rows, columns))
        central = []
        for order, times in enumerate((PAIRS, TRIPLES)):
            left, right = (np.stack([m.centred[order] for m in side]) for side in (rows, columns))
            central.append((left * (times * whole[: len(times)])) @ right.T)
        variance, cubes = np.maximum(central[0], 0.0), central[1]
        deviation = np.sqrt(variance)
        with np.errstate(divide="ignore", invalid="ignore"):
            skewness = np.where(deviation > 0, cubes / deviation**3, 0.0)
        mean = np.outer(pairs_a, pairs_b) / max(whole[0], 1.0)
        n = np.full(mean.shape, rows[0].n)
        return cls(mean, deviation, skewness, _excess(rows, columns), _fineness(rows, columns), n)

    def of_pairs(self, i: Array, j: Array) -> Moments:
        """The moments of some of the pairs, by their positions in the two lists."""
        return Moments(*(getattr(self, x.name)[i, j] for x in fields(self)))

    def quantiles(self, many: int) -> Array:
        """Quantiles of the first pair's S at the midpoints of equal steps of probability."""
        from scipy.stats import pearson3

        z = pearson3.ppf((np.arange(many) + 0.5) / many, self.skewness.flat[0])
        return np.asarray(np.maximum(0.0, self.mean.flat[0] + self.deviation.flat[0] * z))

    def tail(self, together: Scalar) -> Array:
        """Probability of a sum at least as large, by the Pearson type III distribution.

        >>> zero, one = np.zeros(1), np.ones(1)
        >>> chi2 = Moments(zero, one, np.array([8**0.5]), zero, one, one)  # one degree of freedom, standardised
        >>> chi2.tail((3.841458820694124 - 1) / 2**0.5).round(6).tolist()
        [0.05]
        """
        from scipy.special import gammainc, gammaincc, ndtr

        with np.errstate(divide="ignore", invalid="ignore"):
            z = np.where(self.deviation > 0, (np.asarray(together) - self.mean) / self.deviation, -np.inf)
            shape = np.minimum(4 / self.skewness**2, 1e12)
            at = np.maximum(0.0, shape + np.sign(self.skewness) * z * np.sqrt(shape))
        gamma = np.where(self.skewness > 0, gammaincc(shape, at), gammainc(shape, at))
        return np.asarray(np.where(np.abs(self.skewness) < 1e-3, ndtr(-z), gamma))


def _excess(rows: Sequence[Margin], columns: Sequence[Margin]) -> Array:
    """Kurtosis in large samples, minus 1.5 times the squared skewness."""
    (traces_a, forms_a), (traces_b, forms_b) = (
        [np.stack([m.limits[i] for m in side]).T for i in (0, 1)] for side in (rows, columns)
    )
    cumulants = [
        2 ** (r - 1) * math.factorial(r - 1) * np.outer(traces_a[r - 2], traces_b[r - 2])
        + math.factorial(r) * 2 ** (r - 1) * rows[0].n * np.outer(forms_a[r - 2], forms_b[r - 2])
        for r in (2, 3, 4)
    ]
    with np.errstate(divide="ignore", invalid="ignore"):
        excess = cumulants[2] / cumulants[0] ** 2 - 1.5 * cumulants[1] ** 2 / cumulants[0] ** 3
    return np.where(np.isfinite(excess), excess, np.inf)


def _fineness(rows: Sequence[Margin], columns: Sequence[Margin]) -> Array:
    """Free cells of the table, times the logarithm of the number of likely counts per cell."""
    a, b = (np.array([float(((m.sizes / m.n) ** 2).sum()) for m in side]) for side in (rows, columns))
    free = np.outer(1 / a - 1, 1 / b - 1)
    variance = rows[0].n * np.outer(a * (1 - a), b * (1 - b))
    return np.asarray(free / 2 * np.log1p(12 * variance))


#: the tail is reliable if S takes small steps (standard deviation, fineness), is not skewed to the left, and its tails are
#: not lighter than those of the distribution; otherwise the distribution may end before S does, or after it
LEAST_DEVIATION, LEAST_FINENESS, LEAST_SKEWNESS, LEAST_EXCESS = 8.0, 6.5, -0.02, -0.02

#: the smallest fineness plus the logarithm of the p-value of a lower tail: few tables reach far into it, and many share one S
LEAST_FINENESS_BELOW = 7.5

#: for lower tails down to each of these p-values: the largest absolute excess, the same divided by the squared skewness, and
#: the smallest number of points. Further down, the distribution ends before S does
BELOW = ((0.05, math.inf, math.inf, 0), (1e-2, 0.03, math.inf, 250), (1e-4, 0.03, 0.008, 1000))

#: for p-values down to each of these: the largest absolute excess and the smallest number of points. The tails differ more
#: the further out they are
LIMITS = ((1e-2, 0.4, 100), (1e-3, 0.06, 1000), (1e-4, 0.02, 1000), (0.0, 0.01, 1000))

#: no probability smaller than this is reported
SMALLEST = 1e-300


def is_reliable(moments: Moments, more: Array, fewer: Array) -> Array:
    """Whether both tails are within 15% of the exact ones, down to 10⁻⁵ and 10⁻⁴ (reproductions/permutation_moments.py)."""
    excess, points = (np.select([more >= row[0] for row in LIMITS], [row[at] for row in LIMITS]) for at in (1, 2))
    is_fine = (moments.deviation >= LEAST_DEVIATION) & (moments.fineness >= LEAST_FINENESS)
    is_fine &= moments.fineness + np.log(fewer) >= LEAST_FINENESS_BELOW
    away = np.abs(moments.excess)
    relative = away / np.maximum(moments.skewness**2, 1e-12)
    is_fine &= np.any(
        [
            (fewer >= least) & (away <= most) & (relative <= share) & (moments.n >= few)
            for least, most, share, few in BELOW
        ],
        axis=0,
    )
    is_fine &= (moments.skewness >= LEAST_SKEWNESS) & (moments.excess >= LEAST_EXCESS)
    return np.asarray(is_fine & (away <= excess) & (moments.n >= points))


def p_values(moments: Moments, together: Scalar) -> tuple[Array, Array]:
    """The two tails of S: at least as many pairs together, and at most as many. S is an integer, hence the half steps."""
    high = np.maximum(moments.tail(np.asarray(together) - 0.5), SMALLEST)
    low = np.maximum(1.0 - moments.tail(np.asarray(together) + 0.5), SMALLEST)
    fixed = moments.deviation == 0
    return np.where(fixed, 1.0, high), np.where(fixed, 1.0, low)
