"""When compiled code pays: numba is imported only when there is enough work."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any

#: inner steps, all calls together, that are interpreted before numba is loaded (about half a second, once a process)
INTERPRETED_STEPS = 300_000

_compiled: dict[str, Callable[..., Any]] = {}

_walked: dict[str, float] = {}


def compiled(function: Callable[..., Any], steps: float = math.inf) -> Callable[..., Any]:
    """The function, compiled by numba once there was work enough to pay for it; till then as it is."""
    name = function.__name__
    if name not in _compiled:
        _walked[name] = _walked.get(name, 0.0) + steps
        if _walked[name] < INTERPRETED_STEPS:
            return function
        _compiled[name] = njit(function)
    return _compiled[name]


def njit(function: Callable[..., Any]) -> Callable[..., Any]:
    """numba.njit that releases the GIL, cached on disk where there is a place to write to."""
    import numba

    try:
        kernel: Callable[..., Any] = numba.njit(nogil=True, cache=True)(function)
    except RuntimeError:  # numba: "no locator available", a read-only installation without a home folder
        kernel = numba.njit(nogil=True)(function)
    return kernel


#: increments, all calls together, after which loading the compiled kernels (half a second, once) pays; till then numpy
COMPILED_FROM = 10_000_000

#: once they are loaded, they are used from here on
LOADED_FROM = 50_000


_counted = 0.0


def use_kernels(increments: float) -> bool:
    """Is this work for the compiled kernels? Small work is, too, once there has been enough of it to load them."""
    global _counted
    if "congruence.engine.kernels" in sys.modules:
        return increments >= LOADED_FROM
    _counted += increments
    return _counted >= COMPILED_FROM
