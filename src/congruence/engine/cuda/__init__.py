"""The CUDA engine: what `engine_for("cuda")` returns. Importing it needs no CUDA GPU."""

from congruence.engine.cuda import draws
from congruence.engine.cuda.counting import statistics, table_of
from congruence.engine.interface import Draws

on_card = True
drawing: Draws | None = draws

__all__ = ["drawing", "on_card", "statistics", "table_of"]
