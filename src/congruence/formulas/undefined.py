"""The rule for 0/0."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from congruence.statistics.segments import Array

if TYPE_CHECKING:
    from congruence.formulas.record import Measure

#: tolerance for float sums at the bounds
ROUNDING = 1e-12


def settled(m: Measure, raw: Array, identical: Array) -> Array:
    """The values of a measure from those of its formula: with the rule for 0/0, and without rounding errors at the bounds."""
    if raw.shape != identical.shape:
        raw, identical = np.broadcast_arrays(raw, identical)
    values = raw.copy()
    low, high = m.range
    if not ((values >= low) & (values <= high)).all():  # some are 0/0, or rounded past a bound
        undefined = np.isnan(m.at_zero)  # also undefined for identical clusterings
        filled = m.at_zero if undefined else np.where(identical, m.best, m.at_zero)
        values = np.where(np.isnan(values), filled, values)
        values[(values < low) & (values > low - ROUNDING)] = low
        values[(values > high) & (values < high + ROUNDING)] = high
    if identical.any():
        with np.errstate(invalid="ignore"):  # the best value may be infinite
            near = np.abs(values - m.best) < ROUNDING
        values[identical & near] = m.best
    return values
