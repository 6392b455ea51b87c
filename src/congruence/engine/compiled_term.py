"""The compiled term of entropies, which all kernels call."""

from __future__ import annotations

import math

import numpy as np

from congruence.machine.jit import njit
from congruence.statistics.information import ATANH, LN2, SQRT2
from congruence.typing import Scalar


@njit
def term(x: int, n: int, unit: float) -> Scalar:
    """x·log(n/x) in whole units: the operations of `statistics.information.log_ratio`, in the same order."""
    whole, part = float(n), float(x)
    top, top_bits = math.frexp(whole)
    low, low_bits = math.frexp(part)
    shift = top_bits - low_bits
    if top > low * SQRT2:
        shift += 1
    elif top * SQRT2 < low:
        shift -= 1
    near = math.ldexp(part, shift)
    z = (whole - near) / (whole + near)
    square = z * z
    series = ATANH[0]
    for c in range(1, len(ATANH)):
        series = series * square + ATANH[c]
    return np.int64(np.rint(part * (shift * LN2 + 2.0 * (z * series)) * unit))
