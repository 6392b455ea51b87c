"""The statistics that formulas read: of one pair of clusterings, or of a tile of many pairs.

Every statistic is, or follows from, a contingency table, and tables of different points can be added. Fields are arrays
with one entry per pair, so a formula is one array expression for one pair or ten thousand.
"""

from __future__ import annotations

from congruence.statistics.bonds import Frobenius
from congruence.statistics.concordance import Concordance
from congruence.statistics.covers import Intersections, SharedPairs
from congruence.statistics.information import Info
from congruence.statistics.matrices import Alone, MemberInfo
from congruence.statistics.maxima import Maxima
from congruence.statistics.pairs import Pairs
from congruence.statistics.profiles import Profiles
from congruence.statistics.sides import TwoSided
from congruence.statistics.tables import Table, Tables
from congruence.statistics.trees import Clades, LevelInfo, MergeHeights, PointScores

#: allowed values of a measure's `needs`, and PointScores, which element-centric similarity of trees reads
Statistic = (
    Pairs | Info | Maxima | Tables | MemberInfo | Alone | Profiles | MergeHeights | Clades | LevelInfo | SharedPairs
    | Concordance | Frobenius | Intersections | PointScores
)  # fmt: skip

__all__ = ["Statistic", "Table", "TwoSided"]
