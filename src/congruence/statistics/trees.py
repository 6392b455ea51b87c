"""Statistics of two hierarchies: merge heights of pairs of points, clades, affinities, levels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from congruence.statistics.sides import TwoSided
from congruence.statistics.tables import Array


@dataclass(frozen=True, eq=False)
class MergeHeights(TwoSided):
    """Over pairs of points, merged at height u in a and v in b: sums about the means, of heights and of their ranks."""

    s_uv: Array
    s_uu: Array
    s_vv: Array
    #: the same for the mid-ranks of the heights
    r_uv: Array
    r_uu: Array
    r_vv: Array
    #: pairs of pairs that both trees put in the same order, and in opposite order
    concordant: Array
    discordant: Array
    identical: Array
    symbols: ClassVar[tuple[str, ...]] = ("s_uv", "s_uu", "s_vv", "r_uv", "r_uu", "r_vv", "concordant", "discordant")


@dataclass(frozen=True, eq=False)
class Clades(TwoSided):
    """Clusters of 2 … n − 1 points that are nodes of a, of b, of both."""

    clades_a: Array
    clades_b: Array
    clades_ab: Array
    identical: Array
    symbols: ClassVar[tuple[str, ...]] = ("clades_a", "clades_b", "clades_ab")


@dataclass(frozen=True, eq=False)
class LevelInfo(TwoSided):
    """Hierarchical mutual information in nats: of a and b, of each with itself, and its mean over permutations."""

    I_ab: Array
    I_aa: Array
    I_bb: Array
    E_I: Array
    identical: Array
    symbols: ClassVar[tuple[str, ...]] = ("I_ab", "I_aa", "I_bb", "E_I")


@dataclass(frozen=True, eq=False)
class PointScores:
    """Mean over points of the similarity of their affinities in two trees."""

    mean: Array
    identical: Array
    symbols: ClassVar[tuple[str, ...]] = ("mean",)
