"""The measures, one family per file; importing this package declares all of them, in this order."""

from congruence.formulas import pairs  # noqa: I001  (pairs first: the best-known measures)
from congruence.formulas import information, matching, covers, soft, matrices, profiles, trees
from congruence.formulas.record import current_measures, find, measures, names
from congruence.errors import hint

__all__ = [
    "covers", "current_measures", "find", "hint", "information", "matching", "matrices", "measures", "names", "pairs",
    "profiles", "soft", "trees",
]  # fmt: skip
