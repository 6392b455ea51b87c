"""Measures of density profiles: sim is the product of two profiles under the best matching of their clusters."""

from __future__ import annotations

import numpy as np

from congruence.formulas.record import measure, ratio
from congruence.statistics.profiles import Profiles
from congruence.statistics.tables import Array

NF = "NF = max(sim_aa, sim_bb)"


@measure(
    "adco", title="Attribute distribution clustering orthogonality", needs=Profiles, better="higher", range=(0, 1),
    axioms=("symmetric",), reference="bae2010", definition=(NF, "adco = sim / NF"),
    caution="two clusterings of the same points, of K and K' clusters, score at least 1/max(K, K'), however different they are: "
    "the adjusted form subtracts that",
)  # fmt: skip
def adco(p: Profiles, adjusted: bool = False) -> Array:
    """Similarity of the matched profiles relative to the denser one; adjusted: (sim − E) / (NF − E)."""
    floor = p.E if adjusted else 0.0
    return ratio(p.sim - floor, np.maximum(p.sim_aa, p.sim_bb) - floor)


@measure(
    "adco_distance", title="1 − ADCO", needs=Profiles, better="lower", range=(0, 1), axioms=("symmetric",),
    reference="bae2010", definition=(NF, "adco_distance = 1 - sim / NF"),
    caution="not a metric: profiles (3,0|0,4), (3,3|0,1) and (1,0|2,4) break the triangle inequality",
)  # fmt: skip
def adco_distance(p: Profiles) -> Array:
    """1 − adco."""
    return np.asarray(1 - adco(p))


@measure(
    "adco_metric", title="2 − ADCO, or 0 for equal profiles", needs=Profiles, better="lower", range=(0, 2),
    axioms=("symmetric", "triangle"), reference="bae2010",
    definition=(NF, "adco_metric = 0 if sim_aa + sim_bb == 2 * sim else 2 - sim / NF"),
    caution="a metric on profiles, not on partitions; its values are 0 or 1 to 2, where every symmetric function is a metric",
)  # fmt: skip
def adco_metric(p: Profiles) -> Array:
    """2 − adco, and 0 if the profiles are equal up to the order of clusters."""
    return np.where(p.identical, 0.0, 2 - adco(p))


@measure(
    "adco_cosine", title="Cosine of matched density profiles", needs=Profiles, better="higher", range=(0, 1),
    axioms=("symmetric",), reference="bae2010", definition="adco_cosine = sim / sqrt(sim_aa * sim_bb)",
    caution="ignores sizes: a profile and its double score 1",
)  # fmt: skip
def adco_cosine(p: Profiles) -> Array:
    """Cosine of the angle between the two profiles, clusters matched; sizes of the data do not matter."""
    return ratio(p.sim, np.sqrt(p.sim_aa * p.sim_bb))
