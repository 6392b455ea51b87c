"""The statistic that density measures read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from congruence.statistics.sides import TwoSided
from congruence.statistics.tables import Array


@dataclass(frozen=True, eq=False)
class Profiles(TwoSided):
    """Two density profiles: sim of the best matching, of each with itself, and its mean over matchings."""

    sim: Array
    sim_aa: Array
    sim_bb: Array
    #: mean of sim over all matchings of the clusters
    E: Array
    identical: Array
    symbols: ClassVar[tuple[str, ...]] = ("sim", "sim_aa", "sim_bb", "E")

    @classmethod
    def of(cls, sim: float, sim_aa: float, sim_bb: float, E: float) -> Self:
        """One pair; if |V − ρ(V')|² is 0, the profiles are equal up to the order of clusters."""
        gap = sim_aa + sim_bb - 2 * sim
        same = gap <= 1e-13 * max(sim_aa, sim_bb)
        one, aa, bb, mean = (np.array([float(x)]) for x in (sim, sim_aa, sim_bb, E))
        return cls(one, aa, bb, mean, np.array([same]))
