"""The CUDA engine: what `engine_for("cuda")` returns. Importing it needs no CUDA GPU."""

from congruence.engine.cuda import draws
from congruence.engine.cuda.counting import FUSED, statistics, table_of
from congruence.engine.cuda.draws import (
    by_tables,
    draws_at_once,
    permutations,
    permuted,
    permuted_statistic,
    random_statistic,
)
from congruence.engine.interface import Draws

on_card = True
drawing: Draws | None = draws

__all__ = [
    "FUSED",
    "by_tables",
    "drawing",
    "draws_at_once",
    "on_card",
    "permutations",
    "permuted",
    "permuted_statistic",
    "random_statistic",
    "statistics",
    "table_of",
]  # fmt: skip
