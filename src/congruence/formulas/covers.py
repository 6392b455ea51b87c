"""Measures of covers: clusters may overlap, and a point may be in none. Labels are covers too.

t_a and t_b are the numbers of clusters that hold both points of a pair; n_kl points are in cluster k of a and l of b.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

import numpy as np

from congruence.errors import one_of
from congruence.formulas.record import measure, ratio
from congruence.statistics.concordance import Concordance
from congruence.statistics.covers import Intersections, Overlap, SharedPairs, overlap_of
from congruence.statistics.tables import Array, Table
from congruence.typing import Record


@measure(
    "omega", title="Omega index", needs=SharedPairs, better="higher", range=(-1, 1), axioms=("symmetric", "baseline"),
    reference="collins1988", at_zero=1.0, definition="omega = (observed - expected) / (1 - expected)",
)  # fmt: skip
def omega(s: SharedPairs) -> Array:
    """Pairs with the same number of common clusters in both, corrected for chance; for partitions the adjusted Rand index."""
    return ratio(s.above, s.room)


@measure(
    "omega_soft", title="Omega index with partial credit", needs=SharedPairs, better="higher", range=(-1, 1),
    axioms=("symmetric", "baseline"), reference="lutov2019", at_zero=1.0,
    definition="omega_soft = (soft_observed - soft_expected) / (1 - soft_expected)",
)  # fmt: skip
def omega_soft(s: SharedPairs) -> Array:
    """The same with partial credit: a pair with different numbers of common clusters counts min / max."""
    return ratio(s.soft_above, s.soft_room)


@measure(
    "comembership_jaccard", title="Jaccard index of shared clusters", needs=SharedPairs, better="higher", range=(0, 1),
    axioms=("symmetric", "triangle"), reference="jaccard1912", definition="comembership_jaccard = least / most",
)  # fmt: skip
def comembership_jaccard(s: SharedPairs) -> Array:
    """Numbers of clusters shared by pairs of points, Σ min / Σ max; for partitions the Jaccard index."""
    return ratio(s.least, s.most)


@measure(
    "ndc", title="Normalised degree of concordance", needs=Concordance, better="higher", range=(0, 1),
    axioms=("symmetric", "triangle"), reference="hullermeier2012", at_zero=1.0, definition="ndc = 1 - discord",
    caution="a point in no cluster has similarity 1/2 with covered points; counted as a singleton it has a cluster",
)  # fmt: skip
def ndc(c: Concordance) -> Array:
    """Agreement on the similarity of pairs of points (1 − half the L1 distance of memberships); for partitions `rand`."""
    return np.asarray(1 - c.discord)


@measure(
    "aci", title="Adjusted concordance index", needs=Concordance, better="higher", range=(-1, 1),
    axioms=("symmetric", "baseline"), reference="dambrosio2021", at_zero=1.0, definition="aci = (chance - discord) / chance",
    caution="a point in no cluster has similarity 1/2 with covered points; counted as a singleton it has a cluster",
)  # fmt: skip
def aci(c: Concordance) -> Array:
    """The degree of concordance, corrected for chance; for partitions the adjusted Rand index."""
    return ratio(c.chance - c.discord, c.chance)


# --- overlapping normalised mutual information ------------------------------------------------------------------


@measure(
    "onmi_max", title="Overlapping NMI (max)", needs=Intersections, better="higher", range=(0, 1), axioms=("symmetric",),
    reference="mcdaid2011", definition="onmi_max = I / max(H_a, H_b)",
)  # fmt: skip
def onmi_max(i: Intersections) -> Array:
    """Information shared by the clusters, divided by the larger entropy; a cluster of all points does not count."""
    return ratio(i.I, np.maximum(i.H_a, i.H_b))


@measure(
    "onmi_sum", title="Overlapping NMI (mean)", needs=Intersections, better="higher", range=(0, 1), axioms=("symmetric",),
    reference="mcdaid2011", definition="onmi_sum = I / ((H_a + H_b) / 2)",
)  # fmt: skip
def onmi_sum(i: Intersections) -> Array:
    """Information shared by the clusters, divided by the mean entropy."""
    return ratio(i.I, (i.H_a + i.H_b) / 2)


@measure(
    "onmi_joint", title="Overlapping NMI (joint)", needs=Intersections, better="higher", range=(0, 1),
    axioms=("symmetric",), reference="mcdaid2011", definition="onmi_joint = I / (H_a + H_b - I)",
)  # fmt: skip
def onmi_joint(i: Intersections) -> Array:
    """Information shared by the clusters, divided by the joint entropy."""
    return ratio(i.I, i.H_a + i.H_b - i.I)


@measure(
    "onmi_lfk", title="Overlapping NMI of Lancichinetti, Fortunato and Kertész", needs=Intersections, better="higher",
    range=(0, 1), axioms=("symmetric",), reference="lancichinetti2009", definition="onmi_lfk = 1 - (lost_a + lost_b) / 2",
    caution="a mean over clusters in which small and large ones count the same; onmi_max is the corrected form",
)  # fmt: skip
def onmi_lfk(i: Intersections) -> Array:
    """1 minus the mean share of a cluster's entropy that the other cover does not explain."""
    return np.asarray(1 - (i.lost_a + i.lost_b) / 2)


# --- best matches -----------------------------------------------------------------------------------------------

Weights = Literal["clusters", "points"]
Mean = Literal["arithmetic", "harmonic"]


def _f1(common: Array, a: Array, b: Array) -> Array:
    return np.asarray(2 * common / (a + b))


def _jaccard(common: Array, a: Array, b: Array) -> Array:
    return np.asarray(common / (a + b - common))


def _best(o: Overlap, alike: Callable[[Array, Array, Array], Array], weights: str) -> tuple[float, float]:
    """Mean over the clusters of a of the best match in b, and vice versa; NaN if a side has no clusters."""
    one_of("weights", weights, ("clusters", "points"))
    (row, col, common), (a, b) = o.common, o.sizes
    if not len(a) or not len(b):
        return math.nan, math.nan
    value = alike(common, a[row], b[col])
    found = []
    for place, sizes in ((row, a), (col, b)):
        best = np.zeros(len(sizes))
        np.maximum.at(best, place, value)
        found.append(float(np.average(best, weights=sizes if weights == "points" else None)))
    return found[0], found[1]


def _average(i: Intersections, alike: Callable[[Array, Array, Array], Array], weights: str, mean: str) -> Array:
    one_of("mean", mean, ("arithmetic", "harmonic"))
    both = np.array([_best(o, alike, weights) for o in i.overlaps], dtype=np.float64).reshape(-1, 2)
    a, b = both[:, 0], both[:, 1]
    return ratio(2 * a * b, a + b) if mean == "harmonic" else (a + b) / 2


def _best_workings(alike: Callable[[Array, Array, Array], Array]) -> Callable[..., Record]:
    def workings(t: Table, weights: Weights = "clusters", mean: Mean = "arithmetic") -> Record:
        best_a, best_b = _best(overlap_of(t), alike, weights)
        return {"best_a": best_a, "best_b": best_b}

    return workings


@measure(
    "average_f1", title="Average F1 of best matches", needs=Intersections, better="higher", range=(0, 1),
    axioms=("symmetric",), reference="yang2013", definition="average_f1 = (best_a + best_b) / 2",
    workings=_best_workings(_f1),
    caution="not corrected for chance: it grows with the number of clusters; cg.adjusted corrects it",
)  # fmt: skip
def average_f1(i: Intersections, weights: Weights = "clusters", mean: Mean = "arithmetic") -> Array:
    """Mean over clusters of the F1 with their best match, in both directions; weights="points" weights clusters by size."""
    return _average(i, _f1, weights, mean)


@measure(
    "average_jaccard", title="Average Jaccard index of best matches", needs=Intersections, better="higher", range=(0, 1),
    axioms=("symmetric",), reference="yang2013", definition="average_jaccard = (best_a + best_b) / 2",
    workings=_best_workings(_jaccard),
)  # fmt: skip
def average_jaccard(i: Intersections, weights: Weights = "clusters", mean: Mean = "arithmetic") -> Array:
    """Mean over clusters of the Jaccard index with their best match, in both directions; weights="points" weights by size."""
    return _average(i, _jaccard, weights, mean)


def _nf1_workings(t: Table) -> Record:
    F, coverage, redundancy = _nf1(overlap_of(t))
    return {"F": F, "coverage": coverage, "redundancy": redundancy}


def _nf1(o: Overlap) -> tuple[float, float, float]:
    """Mean F1 of the clusters of b with the cluster of a they share most points with; coverage; redundancy."""
    (row, col, common), (a, b) = o.common, o.sizes
    if not len(a) or not len(b):
        return math.nan, math.nan, math.nan
    # for each cluster of b: most common points first, then the smallest, then the first cluster of a
    order = np.lexsort((row, _ranks(a, o.tiny * float(o.n))[row], -_ranks(common, o.tiny * float(o.n)), col))
    first = order[np.flatnonzero(np.diff(col[order], prepend=-1))]
    if not len(first):
        return 0.0, 0.0, math.inf
    matched = len(np.unique(row[first]))
    return float(_f1(common[first], a[row[first]], b[col[first]]).mean()), matched / len(a), len(b) / matched


def _ranks(sizes: Array, tiny: float) -> Array:
    """The order of the sizes, the same for sizes that differ only by rounding errors."""
    order = np.argsort(sizes, kind="stable")
    ranks = np.empty(len(sizes), dtype=np.int64)
    ranks[order] = np.cumsum(np.diff(sizes[order], prepend=sizes[order[:1]]) > tiny)
    return ranks


@measure(
    "nf1", title="Normalised F1", needs=Intersections, better="higher", range=(0, 1), reference="rossetti2016",
    definition="nf1 = F * coverage / redundancy", workings=_nf1_workings,
    caution="if several clusters of a share equally many points with one of b, the smallest is used, then the first, so the "
    "value may depend on their order; that of average_f1 does not",
)  # fmt: skip
def nf1(i: Intersections) -> Array:
    """Mean F1 of the clusters of b with the one they share most points with, lower if clusters of a are missed or repeated."""

    def value(o: Overlap) -> float:
        f, coverage, redundancy = _nf1(o)
        return f * coverage / redundancy

    return i.each(value)
