"""Pairs of clusterings drawn under a null model."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Literal

import numpy as np

from congruence.chance import null_models
from congruence.engine import cpu
from congruence.engine.interface import Draws, Engine
from congruence.engine.plan import Run
from congruence.errors import InputError, Word, known_name, one_of
from congruence.formulas.record import Measure
from congruence.inputs.cover import CoverLabels
from congruence.inputs.kinds import Clustering
from congruence.inputs.labels import Labels
from congruence.statistics import tables
from congruence.statistics.concordance import Concordance
from congruence.statistics.covers import ClusterMap, SharedPairs
from congruence.statistics.information import ChanceInfo, Info, distinct, expected_of
from congruence.statistics.matrices import MatrixSums
from congruence.statistics.pairs import Pairs
from congruence.statistics.tables import Array, Table, Tables, code_type

Null = Literal["permutation", "n_clusters", "all"]


class Exactness(Word):
    """How the mean of a measure under a null model was computed."""

    CLOSED_FORM = "closed form"
    EXPECTED_MI = "expected mutual information"
    DRAWS = "mean of draws"
    MOMENTS = "three exact moments of the pairs together"

    @property
    def is_exact(self) -> bool:
        """Whether the mean is exact."""
        return self not in (Exactness.DRAWS, Exactness.MOMENTS)

    def in_words(self, draws: int) -> str:
        """The same as text, with the number of draws."""
        return f"mean of {draws:,} draws" if self is Exactness.DRAWS else self.value


#: descriptions of the null models
NULLS = {
    "permutation": "points permuted at random, cluster sizes fixed",
    "n_clusters": "partitions into the same numbers of clusters, all equally likely",
    "all": "partitions into any number of clusters, all equally likely",
}

#: numpy draws hypergeometric counts up to this many points
MOST_POINTS = 10**9

#: measured cost (ns) of drawing a cell of a table, of shuffling and counting a point, and per label vector
DRAW_COST, SHUFFLE_COST, SHUFFLE_START = 600, 6, 40_000

#: number of points above which labels are shuffled by a compiled loop; fixed, so that draws are reproducible
COMPILED_FROM = 5_000

#: draws per random stream, of tables and of points: one unit of work, so that results do not depend on threads
TABLE_BATCH, BATCH = 128, 64

#: maximum number of cells of tables, or labels, per batch
BATCH_CELLS = 4_000_000


def check_null(null: str, sided: str) -> None:
    """Raise for an unknown null model, with similar names."""
    known_name("null model", null, NULLS)
    one_of("sided", sided, ("two", "one"))


def in_words(null: str, sided: str) -> str:
    """The description of a null model."""
    return NULLS[null] + (", a fixed" if null != "permutation" and sided == "one" else "")


# --- two hard clusterings under a null model --------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class RandomPair:
    """Two random clusterings, by the cluster sizes of those observed."""

    sizes_a: Array
    sizes_b: Array
    null: str = "permutation"
    sided: str = "two"
    #: the engine that draws: cpu, or that of a CUDA GPU
    engine: Engine = cpu
    #: for covers, whose sizes are those of signatures: the clusters of each signature
    maps: tuple[ClusterMap, ClusterMap] | None = None

    @cached_property
    def n(self) -> int:
        """Number of points."""
        return int(self.sizes_a.sum())

    @property
    def is_free(self) -> tuple[bool, bool]:
        """Whether the sizes of a, and those of b, are random too."""
        return self.null != "permutation" and self.sided == "two", self.null != "permutation"

    def _k(self, sizes: Array) -> int | None:
        return len(sizes) if self.null == "n_clusters" else None

    @cached_property
    def batch(self) -> int:
        """Draws per stream; depends only on the data."""
        k_a, k_b = len(self.sizes_a), len(self.sizes_b)
        if self._by_tables(k_a, k_b):
            return int(max(1, min(TABLE_BATCH, BATCH_CELLS // (k_a * k_b))))
        return int(max(1, min(BATCH, BATCH_CELLS // (2 * self.n))))

    def _by_tables(self, k_a: int, k_b: int) -> bool:
        """Whether drawing the cells of a table is cheaper than shuffling the labels."""
        return k_a * k_b * DRAW_COST <= self.n * SHUFFLE_COST + SHUFFLE_START

    def values(self, m: Measure, rng: np.random.Generator, draws: int) -> Array:
        """The measure of this many random pairs."""
        sizes = [
            null_models.random_sizes(rng, self.n, self._k(own), draws)
            if free
            else np.broadcast_to(own, (draws, len(own)))
            for own, free in zip((self.sizes_a, self.sizes_b), self.is_free, strict=True)
        ]
        kind = Tables if m.needs is Table else m.needs
        if self.engine.drawing is not None:
            return self._values_by_card(self.engine.drawing, m, kind, sizes, rng, draws)
        if self._by_tables(sizes[0].shape[1], sizes[1].shape[1]):
            tile = tables.as_tile(random_tables(rng, *sizes))
            if self.maps is not None:
                tile = replace(tile, maps=[self.maps] * draws)
            if kind is ChanceInfo and self.null == "permutation":
                return m.values(ChanceInfo.with_expected(Info.from_tables(tile), np.full(draws, self.information)))
            return m.values(kind.from_tables(tile))  # type: ignore[attr-defined]
        if self.is_free[1]:
            return self._of_labels(m, kind, sizes, rng, draws)
        # a against many permutations of b
        a, b = self.maps or (None, None)
        members = [_labels(self.sizes_a, clusters=a), *(_labels(self.sizes_b, rng, b) for _ in range(draws))]
        tiles = cpu.statistics(members, [Run(0, 1, draws + 1)], {m.needs}, threads=1)
        return np.concatenate([m.values(tile.statistics[kind]) for tile in tiles])

    def _of_labels(self, m: Measure, kind: type, sizes: list[Array], rng: np.random.Generator, draws: int) -> Array:
        """Label vectors of both sides, drawn one by one."""
        members = [_labels(s, r) for a, b in zip(*sizes, strict=True) for s, r in ((a, None), (b, rng))]
        runs = [Run(2 * i, 2 * i + 1, 2 * i + 2) for i in range(draws)]
        tiles = self.engine.statistics(members, runs, {m.needs}, threads=1)
        return np.concatenate([m.values(tile.statistics[kind]) for tile in tiles])

    def _values_by_card(
        self, card: Draws, m: Measure, kind: type, sizes: list[Array], rng: np.random.Generator, draws: int
    ) -> Array:
        """The same on a CUDA GPU, with its own random numbers."""
        if card.by_tables(sizes[0].shape[1], sizes[1].shape[1], self.n):
            seed = int(rng.integers(2**64, dtype=np.uint64))
            known = self.information if kind is ChanceInfo and self.null == "permutation" else None
            return m.values(card.random_statistic(kind, sizes[0], sizes[1], seed, known))
        if self.is_free[1]:
            return self._of_labels(m, kind, sizes, rng, draws)
        seed = int(rng.integers(2**64, dtype=np.uint64))
        fixed = _labels(self.sizes_a), _labels(self.sizes_b)
        return np.concatenate([m.values(s) for s in card.permuted_statistic(m.needs, *fixed, draws, seed)])

    def draws_at_once(self, m: Measure) -> int | None:
        """Draws per stream on a CUDA GPU; None on the CPU, where it is `batch`."""
        if self.engine.drawing is None:
            return None
        kind = Tables if m.needs is Table else m.needs
        return int(
            self.engine.drawing.draws_at_once(
                kind, (len(self.sizes_a), len(self.sizes_b)), self.n, self.null != "permutation"
            )
        )

    @cached_property
    def blocks(self) -> list[tuple[Array, Array]]:
        """For a and b: cluster sizes, and the expected number of clusters of each size."""
        return [
            null_models.expected_blocks(self.n, self._k(own)) if free else distinct(own)
            for own, free in zip((self.sizes_a, self.sizes_b), self.is_free, strict=True)
        ]

    @cached_property
    def information(self) -> float:
        """E[MI] in nats."""
        a, b = self.blocks
        return expected_of(a, b, self.n)

    def expected(self, m: Measure) -> tuple[float, Exactness] | None:
        """The exact mean of a measure that is affine in the random quantity, and how it was computed; None for others."""
        if self.n < 2:
            return None
        if self.maps is not None or m.needs in (SharedPairs, Concordance):
            return self._expected_of_covers(m)
        if issubclass(m.needs, Pairs) and (self.null == "permutation" or not issubclass(m.needs, MatrixSums)):
            pairs = self.n * (self.n - 1) / 2
            same = [
                pairs * null_models.together(self.n, self._k(own)) if free else float((own * (own - 1.0)).sum()) / 2
                for own, free in zip((self.sizes_a, self.sizes_b), self.is_free, strict=True)
            ]
            at = np.array([*same, same[0] * same[1] / pairs])
            f, own = partial(pairs_value, m, self.n), same[0]
            probes = _probes(self.is_free, at, pairs, lambda a, b: (np.maximum(0.0, a + b - pairs), np.minimum(a, b)))
            how = Exactness.CLOSED_FORM
        elif issubclass(m.needs, Info) and (self.null == "permutation" or m.needs is Info):
            entropies = [null_models.expected_entropy(self.n, blocks) for blocks in self.blocks]
            at = np.array([*entropies, sum(entropies) - self.information])
            f, own = partial(_of_info, m, self.n, self.information), entropies[0]
            probes = _probes(self.is_free, at, math.log(self.n), lambda a, b: (np.maximum(a, b), a + b))
            how = Exactness.EXPECTED_MI
        else:
            return None
        mean = float(f(at[:, None])[0]) if is_affine(f, probes) else None
        if self.is_free == (False, True):
            mean = self._with_equal(m, f, at, np.full(3, own), mean)
        return None if mean is None else (mean, how)

    def _with_equal(
        self, m: Measure, f: Callable[[Array], Array], at: Array, equal: Array, mean: float | None
    ) -> float | None:
        """The mean if a is fixed, and so b may equal it, where a measure that is 0/0 has its best value and is not affine."""
        k = self._k(self.sizes_b)
        chance = 0.0 if k is not None and k != len(self.sizes_a) else null_models.chance_of_one(self.n, k)
        there, middle = map(float, f(np.stack([equal, (at + equal) / 2], axis=1)))
        there = m.best if math.isnan(there) else there
        if chance >= 1:
            return there
        if mean is None or abs(gap := there - (2 * middle - mean)) < 1e-9:
            return mean
        return mean + chance * gap

    def _expected_of_covers(self, m: Measure) -> tuple[float, Exactness] | None:
        """The mean of a measure that is affine in the agreement of pairs of points; it follows from each side alone."""
        if m.needs not in (SharedPairs, Concordance) or self.null != "permutation":
            return None
        a, b = self.maps or (None, None)
        _, tile = cpu.table_of(_labels(self.sizes_a, clusters=a), _labels(self.sizes_b, clusters=b))
        value = float(m.raw(m.needs.from_tables(tile).at_chance())[0])
        return None if math.isnan(value) else (value, Exactness.CLOSED_FORM)

    def deviation(self, m: Measure) -> float | None:
        """The exact standard deviation under permutation of a measure that is affine in Σ n²; None for others."""
        if self.null != "permutation" or not issubclass(m.needs, Pairs) or self.expected(m) is None:
            return None
        a, b = (sums_of_sizes(sizes) for sizes in (self.sizes_a, self.sizes_b))
        at = np.array([[a[0] / 2] * 2, [b[0] / 2] * 2, [0.0, 1.0]])
        low, high = pairs_value(m, self.n, at)
        return abs(float(high - low)) * math.sqrt(variance_of_sums(self.n, a, b))


def _labels(sizes: Array, rng: np.random.Generator | None = None, clusters: ClusterMap | None = None) -> Labels:
    """A clustering with these cluster sizes, the points in order or shuffled."""
    codes = np.repeat(np.arange(len(sizes), dtype=code_type(len(sizes))), sizes)
    if rng is not None and len(codes) < COMPILED_FROM:
        codes = rng.permutation(codes)
    elif rng is not None:
        from congruence.engine.kernels import shuffle

        shuffle(codes, rng.integers(2**63))
    encoded = codes, np.arange(len(sizes))
    return Labels(None, encoded) if clusters is None else CoverLabels(None, encoded, clusters=clusters)


def pairs_value(m: Measure, n: int, at: Array) -> Array:
    """The measure at s_a, s_b, v11 (rows of `at`)."""
    a, b, both = at
    many = np.ones(len(both))
    pairs = Pairs(n * (n - 1) / 2 * many, a, b, both, a - both, b - both, many < 0, 0 * many)
    return m.raw(MatrixSums.of_partitions(pairs, n * many, n * many) if issubclass(m.needs, MatrixSums) else pairs)


def _of_info(m: Measure, n: int, information: float, at: Array) -> Array:
    """The measure at H_a, H_b, H_ab (rows of `at`)."""
    many = np.ones(at.shape[1])
    h_a, h_b, h_ab = at
    info = Info(n * many, h_a, h_b, h_ab, many < 0)
    return m.raw(ChanceInfo.with_expected(info, information * many) if m.needs is ChanceInfo else info)


def _probes(
    free: tuple[bool, bool], at: Array, top: float, between: Callable[[Array, Array], tuple[Array, Array]]
) -> Array:
    """Test points (3, 64) of a statistic: fixed quantities are kept, the others take possible values."""
    rng = np.random.default_rng(0)
    a, b = (rng.uniform(0, top, 64) if loose else np.full(64, x) for x, loose in zip(at, free, strict=False))
    low, high = between(a, b)
    return np.stack([a, b, low + (high - low) * rng.random(64)])


def is_affine(f: Callable[[Array], Array], probes: Array) -> bool:
    """Whether the value at the midpoint of two points is the mean of their values."""
    x, y = probes[:, ::2], probes[:, 1::2]
    ends, middle = (f(x) + f(y)) / 2, f((x + y) / 2)
    with np.errstate(invalid="ignore"):
        return bool((np.abs(ends - middle) <= 1e-9 * np.maximum(1.0, np.abs(ends))).all())


# --- points permuted, sizes fixed ---------------------------------------------------------------------------------


def check_points(n: float) -> None:
    """Raise for more points than numpy can draw from."""
    if n >= MOST_POINTS:
        raise InputError(
            f"random tables are drawn for fewer than {MOST_POINTS:,} points; there are {n:,.0f}; use a sample"
        )


def random_tables(rng: np.random.Generator, sizes_a: Array, sizes_b: Array) -> Array:
    """Tables (draws, k_a, k_b) of clusterings that are independent given their sizes (draws, k_a) and (draws, k_b).

    The same distribution as counting a against a random permutation of b.

    >>> table = random_tables(np.random.default_rng(0), np.array([[3, 2]]), np.array([[4, 1]]))[0]
    >>> table.sum(axis=1).tolist(), table.sum(axis=0).tolist()
    ([3, 2], [4, 1])
    """
    tables = np.zeros((len(sizes_a), sizes_a.shape[1], sizes_b.shape[1]), dtype=np.int64)
    left = sizes_b.copy()  # remaining column sums for the rows that follow
    for i in range(sizes_a.shape[1] - 1):
        wanted, rest = sizes_a[:, i].copy(), left.sum(axis=1)
        for j in range(sizes_b.shape[1] - 1):
            rest -= left[:, j]
            tables[:, i, j] = rng.hypergeometric(left[:, j], rest, wanted)
            wanted -= tables[:, i, j]
        tables[:, i, -1] = wanted
        left -= tables[:, i]
    tables[:, -1] = left
    return tables


def variance_of_sums(n: int, a: tuple[float, float, float], b: tuple[float, float, float]) -> float:
    """Variance of Σ_{i<j} P_ij Q_σ(i)σ(j) over permutations σ (Mantel 1967), without cancellation of large sums.

    For each matrix: Σ_{i≠j} P_ij, Σ_{i≠j} P_ij², Σ_i (Σ_{j≠i} P_ij)².
    """
    if n < 3:
        return 0.0
    centred = []
    for total, squares, rows in (a, b):
        mean = total / (n * (n - 1))
        centred.append((squares - total * mean, rows - total**2 / n))
    (square_p, row_p), (square_q, row_q) = centred
    variance = 2 * square_p * square_q / (n * (n - 1))
    variance += 4 * (row_p - square_p) * (row_q - square_q) / (n * (n - 1) * (n - 2))
    if n > 3:
        variance += (2 * square_p - 4 * row_p) * (2 * square_q - 4 * row_q) / (n * (n - 1) * (n - 2) * (n - 3))
    return max(float(variance), 0.0) / 4


def sums_of_sizes(sizes: Array) -> tuple[float, float, float]:
    """The sums that `variance_of_sums` takes, of the co-association matrix of a partition with these cluster sizes."""
    sizes = sizes.astype(np.float64)
    ordered = float((sizes * (sizes - 1)).sum())
    return ordered, ordered, float((sizes * (sizes - 1) ** 2).sum())


def sums_of_gram(u: Array) -> tuple[float, float, float]:
    """The sums that `variance_of_sums` takes, of the matrix UUᵀ of memberships."""
    own = (u**2).sum(axis=1)
    rows = u @ u.sum(axis=0) - own
    return float(rows.sum()), float(((u.T @ u) ** 2).sum() - (own**2).sum()), float((rows**2).sum())


def chance_bound(a: Clustering, b: Clustering) -> float:
    """An upper bound of the p-value of the adjusted Rand index, without draws or assumptions on the distribution.

    The sum over pairs of points of the products of co-memberships has a known mean and variance when the points are
    permuted. A value t standard deviations above the mean is reached with p ≤ 1 / (1 + t²) (Cantelli's inequality).

    >>> import congruence as cg
    >>> halves = np.repeat([0, 1], 500)
    >>> runs = cg.Ensemble([halves, halves, np.arange(1000) % 2]).members
    >>> chance_bound(runs[0], runs[1]) < 0.001, chance_bound(runs[0], runs[2])
    (True, 1.0)
    """
    if isinstance(a, Labels) and isinstance(b, Labels):
        table, _ = cpu.table_of(a, b)
        n, together = int(table.n), sums_of_sizes(table.count)[0]
        one, two = sums_of_sizes(table.row_sums), sums_of_sizes(table.col_sums)
    else:
        both = [x.dense() for x in (a, b)]
        here = (both[0].sum(axis=1) > 0) & (both[1].sum(axis=1) > 0)
        u, v = (x[here] for x in both)
        n, one, two = len(u), sums_of_gram(u), sums_of_gram(v)
        together = float(((u.T @ v) ** 2).sum() - ((u**2).sum(axis=1) * (v**2).sum(axis=1)).sum())
    above = (together - one[0] * two[0] / max(n * (n - 1), 1)) / 2
    variance = variance_of_sums(n, one, two)
    if n < 4 or above <= 1e-12 * together or variance <= 0:
        return 1.0
    return min(1.0, variance / (variance + above**2) * (1 + 1e-12))  # rounded up: no p-value exceeds it
