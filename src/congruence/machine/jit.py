"""When to use compiled code: numba is imported only if there is enough work."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any

#: inner steps, over all calls, that are interpreted before numba is loaded (about half a second, once per process)
INTERPRETED_STEPS = 300_000

_compiled: dict[str, Callable[..., Any]] = {}

_walked: dict[str, float] = {}


def compiled(function: Callable[..., Any], steps: float = math.inf) -> Callable[..., Any]:
    """The function, compiled by numba once there has been enough work to pay for it."""
    name = function.__name__
    if name not in _compiled:
        _walked[name] = _walked.get(name, 0.0) + steps
        if _walked[name] < INTERPRETED_STEPS:
            return function
        _compiled[name] = njit(function)
    return _compiled[name]


def njit(function: Callable[..., Any]) -> Callable[..., Any]:
    """numba.njit without the GIL, cached on disk if a folder is writable."""
    import numba

    try:
        kernel: Callable[..., Any] = numba.njit(nogil=True, cache=True)(function)
    except RuntimeError:  # numba: "no locator available", a read-only installation without a home folder
        kernel = numba.njit(nogil=True)(function)
    return kernel


#: increments, over all calls, after which loading the compiled kernels (half a second, once) pays off; numpy before that
COMPILED_FROM = 10_000_000

#: minimum number of increments to use them once they are loaded
LOADED_FROM = 50_000


_counted = 0.0


def use_kernels(increments: float) -> bool:
    """Whether to use the compiled kernels: for large work, and for small work once they are loaded."""
    global _counted
    if "congruence.engine.kernels" in sys.modules:
        return increments >= LOADED_FROM
    _counted += increments
    return _counted >= COMPILED_FROM
