"""Numbers that are weights or frequencies of points, validated."""

from __future__ import annotations

import numpy as np

from congruence.errors import InputError, Option
from congruence.statistics.tables import Array
from congruence.typing import WeightsLike

#: the largest weight is at most about 2**SPREAD times the smallest above 0, so that products of two do not underflow
SPREAD = 500

#: power of two above the largest weight: 1e8 points of 1e300 add up to a number
LARGEST = 997


def check_spread(least: int, most: int, name: str) -> None:
    """Raise if weights reach from 2**least to 2**most, so that products of the small ones or the sum would be lost."""
    if most > LARGEST:
        raise InputError(
            f"{name} reaches 1e{0.30103 * most:.0f}, and weights may be at most 1e300; divide all by one number"
        )
    if most - least > SPREAD:
        raise InputError(
            f"{name} reaches from about 1e{0.30103 * least:.0f} to 1e{0.30103 * most:.0f}: the largest weight may be at most "
            "1e150 times the smallest above 0"
        )


def least_exponent(values: Array) -> int:
    """The power of two above the smallest weight above 0."""
    return int(np.frexp(values[values > 0].min())[1])


#: the total of frequencies stays below this, so that counts fit in 64 bits
MOST_POINTS = 2**62


def weights_in(given: WeightsLike, name: str) -> Array:
    """Checked weights, as an array of integers or floats."""
    try:
        values = np.asarray(given)
        if values.dtype.kind in "cmM":  # complex numbers, times and dates
            raise TypeError
        if values.dtype.kind not in "iu":
            values = values.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{name} must be numbers, one for each") from None
    if not np.isfinite(values).all() or (values < 0).any():
        raise InputError(f"{name} must be finite, not missing and not negative")
    return values


def whole_numbers(values: Array, who: str) -> Array:
    """Checked frequencies as int64."""
    if values.dtype.kind == "f" and (values != np.rint(values)).any():
        raise InputError(
            f"{who} must be whole numbers (how often each point occurs); for importance use {Option('sample_weight')}"
        )
    if float(values.sum(dtype=np.float64)) >= MOST_POINTS:
        raise InputError(f"{who} adds up to {values.sum(dtype=np.float64):.3g}; counts are exact below 2⁶² ≈ 4.6e18")
    return values.astype(np.int64)
