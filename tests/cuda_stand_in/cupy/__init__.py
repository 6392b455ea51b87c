"""A stand-in for CuPy that needs no GPU: arrays of numpy, and the kernels compiled by g++ and run on the CPU.

It has what this package uses of CuPy, and is as strict: host arrays are not taken for those on a GPU, new memory is unset,
and kernels may write only to memory that is theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import cuda, memory
from .arrays import empty, ndarray, plain, wrapped
from .kernels import RawModule

__all__ = ["RawModule", "cuda", "empty", "ndarray"]


def _function(name: str) -> Callable[..., Any]:
    """Numpy's function of arrays on the current GPU."""
    apply = getattr(np, name)

    def call(*args: Any, **options: Any) -> Any:
        found = apply(*map(_given, args), **{key: _given(value) for key, value in options.items()})
        return tuple(map(wrapped, found)) if isinstance(found, tuple) else wrapped(found)

    return call


def _given(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return type(value)(map(_given, value))
    return value if isinstance(value, str | type | np.dtype) else plain(value)


append, bincount, concatenate, cumsum, diff = map(_function, ("append", "bincount", "concatenate", "cumsum", "diff"))
arange, flatnonzero, full, hstack, isnan = map(_function, ("arange", "flatnonzero", "full", "hstack", "isnan"))
max, min, ones, searchsorted, sort = map(_function, ("max", "min", "ones", "searchsorted", "sort"))
stack, tile, unique, where, zeros = map(_function, ("stack", "tile", "unique", "where", "zeros"))


def argsort(a: ndarray, axis: int = -1) -> ndarray:
    """The order of sorted elements; CuPy sorts stably."""
    return wrapped(np.argsort(plain(a), axis=axis, kind="stable"))


def empty_like(a: ndarray) -> ndarray:
    """A new array of this shape and type, with unset bytes."""
    return empty(a.shape, a.dtype)


def asarray(a: Any, dtype: Any = None, order: str | None = None) -> ndarray:
    """This array on the GPU: as it is if it is there already in this type and order."""
    if isinstance(a, ndarray):
        if a.block.device != memory.current():
            a = a.copy(order or "A")
        here = np.asarray(plain(a), dtype, order=order)  # type: ignore[call-overload]
        return a if here is a.here else wrapped(here)
    if isinstance(a, Sequence) and any(isinstance(x, ndarray) for x in a):
        return stack([asarray(x, dtype) for x in a])
    return wrapped(np.asarray(a, dtype), order or "K")


def ascontiguousarray(a: Any) -> ndarray:
    """This array on the GPU, in C order."""
    return asarray(a, order="C")


def from_dlpack(a: Any) -> ndarray:
    """The same array: the stand-in shares memory with no other library."""
    if not isinstance(a, ndarray):
        raise BufferError("the stand-in has no GPU memory to share")
    return a


def get_default_memory_pool() -> memory.Pool:
    """The memory pool."""
    return memory.Pool()
