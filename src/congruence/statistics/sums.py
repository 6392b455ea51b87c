"""Sums over one table of counts, from which `Pairs` and `Info` follow without the table itself."""

from __future__ import annotations

from typing import NamedTuple

from congruence.typing import Scalar


class Sums(NamedTuple):
    """Sums of one table, over its cells, its rows (clusters of a) and its columns (clusters of b), in Python's integers."""

    n: Scalar
    #: cells, rows and columns that are not empty
    cells: Scalar
    rows: Scalar
    columns: Scalar
    #: Σ n_ij², Σ a_i², Σ b_j²
    both: Scalar
    a: Scalar
    b: Scalar
    #: Σ x·log(n/x) in whole units (see `statistics.information.unit_of`); 0 if they were not requested
    units_both: Scalar
    units_a: Scalar
    units_b: Scalar
