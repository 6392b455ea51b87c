"""The statistics that formulas read: of one pair of clusterings, or of a tile of many pairs.

Every statistic is, or follows from, a contingency table, and tables of different points can be added. Fields are arrays
with one entry per pair, so a formula is one array expression for one pair or ten thousand.
"""

from __future__ import annotations

from congruence.statistics.bonds import Bonds, Degrees, Frobenius
from congruence.statistics.concordance import Concordance
from congruence.statistics.covers import Intersections, SharedPairs
from congruence.statistics.information import ChanceInfo, Info
from congruence.statistics.matrices import Alone, MatrixSums, MemberInfo, PooledInfo
from congruence.statistics.maxima import Maxima
from congruence.statistics.names import label_order
from congruence.statistics.pairs import Gram, Pairs
from congruence.statistics.profiles import Profiles
from congruence.statistics.sides import TwoSided
from congruence.statistics.tables import Array, Table, Tables, as_tile, xlogx
from congruence.statistics.trees import Clades, LevelInfo, MergeHeights, PointScores

#: allowed values of a measure's `needs`, and PointScores, which element-centric similarity of trees reads
Statistic = (
    Pairs | Info | Maxima | Tables | MemberInfo | Alone | Profiles | MergeHeights | Clades | LevelInfo | SharedPairs
    | Concordance | Frobenius | Intersections | PointScores
)  # fmt: skip


__all__ = [
    "Alone", "Array", "Bonds", "ChanceInfo", "Clades", "Concordance", "Degrees", "Frobenius", "Gram", "Info",
    "Intersections", "LevelInfo", "MatrixSums", "Maxima", "MemberInfo", "MergeHeights", "Pairs", "PointScores",
    "PooledInfo", "Profiles", "SharedPairs", "Statistic", "Table", "Tables", "TwoSided", "as_tile", "label_order",
    "xlogx",
]  # fmt: skip
