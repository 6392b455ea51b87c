"""Measures made for memberships; for partitions they equal `ari`, `rand` and `jaccard`."""

from __future__ import annotations

import math

import numpy as np

from congruence.formulas.pairs import ari, jaccard, rand
from congruence.formulas.record import measure, ratio
from congruence.statistics.bonds import Bonds, Degrees, Frobenius
from congruence.statistics.tables import Array

ADJUSTED = ("E = s_a * s_b / pairs", "{} = (v11 - E) / ((s_a + s_b) / 2 - E)")
BELOW_1 = "a soft clustering compared with itself scores below 1; aci, ndc and fari are 1"


@measure(
    "fari", title="Frobenius adjusted Rand index", needs=Frobenius, better="higher", range=(-0.5, 1), soft_range=(-math.inf, 1),
    axioms=("symmetric", "definite", "baseline"), reference="andrews2022", at_zero=1.0,
    definition="fari = (chance - distance) / chance",
)  # fmt: skip
def fari(f: Frobenius) -> Array:
    """Agreement of the scaled co-membership matrices, corrected for chance; 1 for a membership matrix with itself."""
    return ratio(f.chance - f.distance, f.chance, f.tiny)


@measure(
    "rand_campello", title="Fuzzy Rand index of Campello", needs=Degrees, better="higher", range=(0, 1),
    axioms=("symmetric", "definite", "triangle"), reference="campello2007", at_zero=1.0,
    definition="rand_campello = (v11 + v00) / pairs", caution=BELOW_1,
)  # fmt: skip
def rand_campello(d: Degrees) -> Array:
    """The Rand index of pairs that are together to a degree max_c min(u_ic, u_jc) and apart to another."""
    return np.asarray(rand(d))


@measure(
    "ari_campello", title="Fuzzy adjusted Rand index of Campello", needs=Degrees, better="higher", range=(-0.5, 1),
    soft_range=(-1, 1), axioms=("symmetric", "definite", "baseline"), reference="campello2007",
    definition=(ADJUSTED[0], ADJUSTED[1].format("ari_campello")), caution=BELOW_1,
)  # fmt: skip
def ari_campello(d: Degrees) -> Array:
    """The adjusted Rand index of pairs that are together to a degree max_c min(u_ic, u_jc) and apart to another."""
    return np.asarray(ari(d))


@measure(
    "jaccard_campello", title="Fuzzy Jaccard index of Campello", needs=Degrees, better="higher", range=(0, 1),
    axioms=("symmetric", "definite", "triangle"), reference="campello2007",
    definition="jaccard_campello = v11 / (v11 + v10 + v01)", caution=BELOW_1,
)  # fmt: skip
def jaccard_campello(d: Degrees) -> Array:
    """The Jaccard index of pairs that are together to a degree max_c min(u_ic, u_jc) and apart to another."""
    return np.asarray(jaccard(d))


@measure(
    "rand_brouwer", title="Fuzzy Rand index of Brouwer", needs=Bonds, better="higher", range=(0, 1),
    axioms=("symmetric", "definite", "triangle"), reference="brouwer2009", at_zero=1.0,
    definition="rand_brouwer = (v11 + v00) / pairs", caution=BELOW_1,
)  # fmt: skip
def rand_brouwer(b: Bonds) -> Array:
    """The Rand index of pairs that are together to the degree of the cosine of their memberships."""
    return np.asarray(rand(b))


@measure(
    "ari_brouwer", title="Fuzzy adjusted Rand index of Brouwer", needs=Bonds, better="higher", range=(-0.5, 1),
    weighted_range=(-1, 1), soft_range=(-1, 1), axioms=("symmetric", "definite", "baseline"), reference="brouwer2009",
    definition=(ADJUSTED[0], ADJUSTED[1].format("ari_brouwer")), caution=BELOW_1,
)  # fmt: skip
def ari_brouwer(b: Bonds) -> Array:
    """The adjusted Rand index of pairs that are together to the degree of the cosine of their memberships."""
    return np.asarray(ari(b))


@measure(
    "jaccard_brouwer", title="Fuzzy Jaccard index of Brouwer", needs=Bonds, better="higher", range=(0, 1),
    axioms=("symmetric", "definite", "triangle"), reference="brouwer2009",
    definition="jaccard_brouwer = v11 / (v11 + v10 + v01)", caution=BELOW_1,
)  # fmt: skip
def jaccard_brouwer(b: Bonds) -> Array:
    """The Jaccard index of pairs that are together to the degree of the cosine of their memberships."""
    return np.asarray(jaccard(b))
