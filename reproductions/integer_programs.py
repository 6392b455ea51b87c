"""Linear and integer programs, by scipy's HiGHS."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from congruence.alternative_clustering.program import SOLVED
from congruence.errors import InputError
from congruence.statistics.tables import Array
from congruence.typing import SparseMatrix


@dataclass(frozen=True)
class Solution:
    """Solver status and bounds on the optimum."""

    #: None if no feasible solution was found
    x: Array | None
    value: float
    #: (value − proved bound) / value; NaN if there is no proved bound
    gap: float
    status: str

    @property
    def is_optimal(self) -> bool:
        """Whether the requested gap was reached."""
        return self.status == "optimal"

    def variables(self) -> Array:
        """The variables; a program without a solution is an error that says why."""
        if self.x is None:
            raise InputError(
                f"the program was not solved ({self.status}); pass a longer time_limit or a larger epsilon"
            )
        return self.x


def solve(
    objective: Array,
    *,
    at_most: tuple[SparseMatrix, Array] | None = None,
    equal: tuple[SparseMatrix, Array] | None = None,
    integer: Array | None = None,
    time_limit: float = 60.0,
    gap: float = 1e-3,
) -> Solution:
    """Minimise objective · x over x ≥ 0 with A x ≤ b and A x = b; `integer` marks variables that must be whole.

    >>> solve(np.array([-1.0, -1.0]), at_most=(np.array([[2.0, 2.0]]), np.array([3.0]))).value
    -1.5
    >>> solve(np.array([-1.0, -1.0]), at_most=(np.array([[2.0, 2.0]]), np.array([3.0])), integer=np.ones(2)).value
    -1.0
    """
    from scipy.optimize import linprog

    options = {
        "time_limit": float(time_limit),
        "presolve": True,
        **({"mip_rel_gap": gap} if integer is not None else {}),
    }
    found = linprog(
        objective,
        *(at_most or (None, None)),
        *(equal or (None, None)),
        bounds=(0, None),
        # the interior point method is faster for large programs (with crossover to a vertex), simplex for small ones
        method="highs" if integer is not None or len(objective) < 20_000 else "highs-ipm",
        integrality=integer,
        options=options,
    )
    status = SOLVED.get(int(found.status), str(found.message))
    value = float(found.fun) if found.x is not None else np.nan
    if integer is not None and found.x is not None:
        left = float(found.mip_gap)
    else:
        left = 0.0 if found.status == 0 else np.nan
    return Solution(None if found.x is None else np.asarray(found.x), value, left, status)
