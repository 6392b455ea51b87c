"""Measures that count pairs of points: together in both (v11), in a only (v10), in b only (v01), in neither (v00).

s_a = v11 + v10 pairs are together in a, s_b = v11 + v01 in b.
"""

import math

import numpy as np

from congruence.formulas.record import measure, ratio
from congruence.statistics.pairs import Gram, Pairs
from congruence.statistics.tables import Array, Table, Tables

METRIC = ("symmetric", "definite", "triangle")
#: with few points, pairs of memberships can count less than 0, and denominators vanish
ANY = (-math.inf, math.inf)


@measure(
    "rand", title="Rand index", needs=Pairs, better="higher", range=(0, 1), soft_range=(-1, 1), axioms=METRIC,
    reference="rand1971", at_zero=1.0,
    aliases=("rand_score", "rand_index",),
    definition="rand = (v11 + v00) / pairs",
    caution="near 1 for any two clusterings with many clusters; ari corrects for that",
)  # fmt: skip
def rand(p: Pairs) -> Array:
    """Share of pairs of points on which both agree."""
    return ratio(p.v11 + p.v00, p.pairs, p.tiny)


@measure(
    "mari", title="Modified adjusted Rand index", needs=Tables, better="higher", range=(-math.inf, 1),
    axioms=("symmetric", "definite"), reference="sundqvist2023", workings=lambda t: _mari_of_one(t),
    definition="mari = (theta - theta_0) / (theta_max - theta_0)", whole_points=True,
    caution="centred for randomly drawn points, not for permutations; equals ari for many points",
)  # fmt: skip
def mari(t: Tables) -> Array:
    """The adjusted Rand index with its expectation estimated from pairs of disjoint pairs; undefined below 4 points."""
    p, n = Pairs.from_tables(t), t.n.astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        above, room = (p.pairs * x for x in p.beyond_chance)
    # theta − theta_0 and theta_max − theta_0, times the pairs of disjoint pairs, as differences from those of ari
    triples, same = _triples(t), p.s_a + p.s_b
    above, room = above - (2 * (n - 1) * p.v11 - triples), room - (same * (n - 1.5) + p.v11 - triples)
    return np.where(n > 3, ratio(above, room, 1e-14 * same * n), np.nan)


def _mari_of_one(t: Table) -> dict[str, float]:
    """The workings of one table."""
    return {name: float(value[0]) for name, value in _mari_workings(Tables.of(t)).items()}


def _triples(t: Tables) -> Array:
    """Pairs of a pair together in a and one together in b with a point in common; the same pair counts twice."""
    return t.sum(t.count * (t.row_total - 1.0) * (t.col_total - 1.0))


def _mari_workings(t: Tables) -> dict[str, Array]:
    """theta, theta_0 and theta_max: shares of pairs together in both, of disjoint pairs of pairs, and the maximum."""

    def pairs(x: Array) -> Array:
        return x * (x - 1.0) / 2

    n = t.n.astype(np.float64)
    a, b, both = t.over_rows(pairs), t.over_cols(pairs), t.sum(pairs(t.count))
    disjoint = a * b - both - (_triples(t) - 2 * both)
    quadruples = n * (n - 1) * (n - 2) * (n - 3) / 4
    with np.errstate(divide="ignore", invalid="ignore"):
        every = n * (n - 1) / 2
        theta_0 = np.where(quadruples > 0, disjoint / quadruples, np.nan)
        return {"theta": both / every, "theta_0": theta_0, "theta_max": (a + b) / 2 / every}


@measure(
    "ari", title="Adjusted Rand index", needs=Pairs, better="higher", range=(-0.5, 1), weighted_range=(-1, 1), soft_range=ANY,
    aliases=("adjusted_rand_score", "adjusted_rand_index",),
    axioms=("symmetric", "definite", "baseline"), reference="hubert1985",
    definition=("E = s_a * s_b / pairs", "ari = (v11 - E) / ((s_a + s_b) / 2 - E)"),
)  # fmt: skip
def ari(p: Pairs) -> Array:
    """Pairs together in both minus the expected number, divided by the largest possible difference."""
    return ratio(*p.beyond_chance, p.tiny)


measure(
    "ari_gram", title="Adjusted Rand index of the co-membership matrices", needs=Gram, better="higher", range=(-1, 1),
    soft_range=ANY,
    axioms=("symmetric", "definite", "baseline"), reference="zhang2012",
    definition=("E = s_a * s_b / pairs", "ari_gram = (v11 - E) / ((s_a + s_b) / 2 - E)"),
    caution="for soft clusterings the sums are over pairs of points of the products UUᵀ and VVᵀ",
)(ari)  # fmt: skip


@measure(
    "jaccard", title="Jaccard index of pairs", needs=Pairs, better="higher", range=(0, 1), soft_range=ANY, axioms=METRIC,
    reference="jaccard1912", definition="jaccard = v11 / (v11 + v10 + v01)",
)  # fmt: skip
def jaccard(p: Pairs) -> Array:
    """Share of the pairs together in either that are together in both."""
    return ratio(p.v11, p.v11 + (p.v10 + p.v01), p.tiny)


@measure(
    "wallace", title="Wallace index, geometric mean (Fowlkes–Mallows)", needs=Pairs, better="higher", range=(0, 1),
    soft_range=ANY,
    axioms=("symmetric", "definite"), reference="fowlkes1983", aliases=("fowlkes_mallows", "fowlkes_mallows_score"),
    definition="wallace = v11 / sqrt(s_a * s_b)",
)  # fmt: skip
def wallace(p: Pairs) -> Array:
    """Geometric mean of the two Wallace coefficients."""
    return ratio(p.v11, np.sqrt(p.s_a * p.s_b), p.tiny)


@measure(
    "wallace_ab", title="Wallace coefficient: pairs of a kept in b", needs=Pairs, better="higher", range=(0, 1), soft_range=ANY,
    reference="wallace1983", definition="wallace_ab = v11 / s_a",
)  # fmt: skip
def wallace_ab(p: Pairs) -> Array:
    """Share of the pairs together in a that are also together in b."""
    return ratio(p.v11, p.s_a, p.tiny)


@measure(
    "wallace_ba", title="Wallace coefficient: pairs of b found in a", needs=Pairs, better="higher", range=(0, 1), soft_range=ANY,
    reference="wallace1983", definition="wallace_ba = v11 / s_b",
)  # fmt: skip
def wallace_ba(p: Pairs) -> Array:
    """Share of the pairs together in b that are also together in a."""
    return ratio(p.v11, p.s_b, p.tiny)


@measure(
    "mirkin", title="Mirkin distance", needs=Pairs, better="lower", range=(0, float("inf")), axioms=METRIC,
    reference="mirkin1996", definition="mirkin = 2 * (v10 + v01)",
    caution="grows with n², so compare it only between clusterings of the same points",
)  # fmt: skip
def mirkin(p: Pairs) -> Array:
    """Ordered pairs on which the two disagree."""
    return 2 * (p.v10 + p.v01)


@measure(
    "partition_difference", title="Partition difference", needs=Pairs, better="higher", range=(0, float("inf")),
    axioms=("symmetric",), reference="li2004", definition="partition_difference = v00",
    caution="a count that grows with the numbers of points and of clusters: it judges neither agreement nor difference",
)  # fmt: skip
def partition_difference(p: Pairs) -> Array:
    """Pairs of points that are apart in both."""
    return p.v00


@measure(
    "dice", title="Dice index of pairs (pair F1)", needs=Pairs, better="higher", range=(0, 1), soft_range=ANY,
    axioms=("symmetric", "definite"), reference="dice1945", definition="dice = 2 * v11 / (2 * v11 + v10 + v01)",
)  # fmt: skip
def dice(p: Pairs) -> Array:
    """Harmonic mean of the two Wallace coefficients."""
    return ratio(2 * p.v11, 2 * p.v11 + (p.v10 + p.v01), p.tiny)


@measure(
    "hubert", title="Hubert index", needs=Pairs, better="higher", range=(-1, 1), soft_range=(-3, 1), axioms=METRIC,
    reference="hubert1985", at_zero=1.0, definition="hubert = (v11 + v00 - v10 - v01) / pairs",
)  # fmt: skip
def hubert(p: Pairs) -> Array:
    """Agreements minus disagreements, as a share of the pairs."""
    return ratio(p.v11 + p.v00 - (p.v10 + p.v01), p.pairs, p.tiny)
