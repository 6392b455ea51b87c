"""Measures of two hierarchies: u and v are the heights at which two points are merged in a and in b."""

from __future__ import annotations

import numpy as np

from congruence.errors import one_of
from congruence.formulas.record import measure, ratio
from congruence.statistics.tables import Array
from congruence.statistics.trees import Clades, LevelInfo, MergeHeights


@measure(
    "cophenetic", title="Cophenetic correlation", needs=MergeHeights, better="higher", range=(-1, 1),
    axioms=("symmetric", "baseline"), at_zero=np.nan, reference="sokal1962",
    definition="cophenetic = s_uv / sqrt(s_uu * s_vv)",
)  # fmt: skip
def cophenetic(h: MergeHeights) -> Array:
    """Pearson correlation of the merge heights over all pairs of points."""
    return ratio(h.s_uv, np.sqrt(h.s_uu * h.s_vv))


@measure(
    "cophenetic_spearman", title="Rank correlation of merge heights (Baker's gamma)", needs=MergeHeights, better="higher",
    range=(-1, 1), axioms=("symmetric", "baseline"), at_zero=np.nan, reference="baker1974", aliases=("bakers_gamma",),
    definition="cophenetic_spearman = r_uv / sqrt(r_uu * r_vv)",
)  # fmt: skip
def cophenetic_spearman(h: MergeHeights) -> Array:
    """Correlation of the mid-ranks of the merge heights: only the order of the heights matters; ties share a rank."""
    return ratio(h.r_uv, np.sqrt(h.r_uu * h.r_vv))


@measure(
    "gamma", title="Goodman–Kruskal gamma of merge heights", needs=MergeHeights, better="higher", range=(-1, 1),
    axioms=("symmetric",), at_zero=np.nan, reference="goodman1954",
    definition="gamma = (concordant - discordant) / (concordant + discordant)",
)  # fmt: skip
def gamma(h: MergeHeights) -> Array:
    """Concordant minus discordant pairs of pairs, divided by their sum; ties do not count."""
    return ratio(h.concordant - h.discordant, h.concordant + h.discordant)


@measure(
    "robinson_foulds", title="Robinson–Foulds distance (rooted)", needs=Clades, better="lower", range=(0, np.inf),
    axioms=("symmetric", "triangle"), reference="robinson1981",
    definition="robinson_foulds = clades_a + clades_b - 2 * clades_ab",
    caution="moving a few points changes most clades; heights do not count",
)  # fmt: skip
def robinson_foulds(c: Clades, normalised: bool = False) -> Array:
    """Clades in only one of the trees, for rooted trees; normalised: divided by the number of clades of both, 0 to 1."""
    apart = c.clades_a + c.clades_b - 2.0 * c.clades_ab
    return ratio(apart, c.clades_a + c.clades_b) if normalised else np.asarray(apart)


@measure(
    "hmi", title="Hierarchical mutual information", needs=LevelInfo, better="higher", range=(0, np.inf),
    axioms=("symmetric",), reference="perotti2015", definition="hmi = I_ab",
    caution="levels are compared from the root, so an extra level at the top changes everything",
)  # fmt: skip
def hmi(info: LevelInfo) -> Array:
    """Mutual information of the levels, each within the clusters of the level above, summed."""
    return info.I_ab


def _largest(info: LevelInfo, normaliser: str) -> Array:
    """The normaliser: sum (arithmetic mean), max or sqrt (geometric mean) of the self-informations."""
    one_of("normaliser", normaliser, ("sum", "max", "sqrt"))
    if normaliser == "sum":
        return np.asarray((info.I_aa + info.I_bb) / 2)
    return np.asarray(np.maximum(info.I_aa, info.I_bb) if normaliser == "max" else np.sqrt(info.I_aa * info.I_bb))


@measure(
    "nhmi", title="Normalised hierarchical mutual information", needs=LevelInfo, better="higher", range=(0, 1),
    axioms=("symmetric",), reference="perotti2015", definition="nhmi = I_ab / ((I_aa + I_bb) / 2)",
    caution="not corrected for chance (ahmi is); 1 − nhmi is not a metric",
)  # fmt: skip
def nhmi(info: LevelInfo, normaliser: str = "sum") -> Array:
    """hmi divided by the mean of the self-informations; `normaliser`: "sum" (arithmetic mean), "max" or "sqrt"."""
    return ratio(info.I_ab, _largest(info, normaliser))


@measure(
    "ahmi", title="Adjusted hierarchical mutual information", needs=LevelInfo, better="higher", range=(-np.inf, 1),
    axioms=("symmetric", "baseline"), reference="perotti2020",
    definition="ahmi = (I_ab - E_I) / (max(I_aa, I_bb) - E_I)",
)  # fmt: skip
def ahmi(info: LevelInfo, normaliser: str = "max") -> Array:
    """hmi minus its exact mean over permutations of the points, divided by the largest difference; `normaliser` as in nhmi."""
    most = _largest(info, normaliser) - info.E_I
    return ratio(info.I_ab - info.E_I, most, 1e-12)
