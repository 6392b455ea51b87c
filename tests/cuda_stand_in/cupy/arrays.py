"""Arrays on a pretended GPU: numpy computes, but host arrays and arrays of another GPU are refused as CuPy refuses them."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from . import memory

#: what a CuPy operation takes beside arrays
SCALARS = (bool, int, float, complex, np.generic)


class ndarray:
    """An array on the GPU. It is no numpy array, and becomes one by `get` only."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, here: np.ndarray, block: memory.Block) -> None:
        self.here, self.block = here, block

    # facts

    shape = property(lambda self: self.here.shape)
    dtype = property(lambda self: self.here.dtype)
    ndim = property(lambda self: self.here.ndim)
    size = property(lambda self: self.here.size)
    nbytes = property(lambda self: self.here.nbytes)
    itemsize = property(lambda self: self.here.itemsize)
    strides = property(lambda self: self.here.strides)
    flags = property(lambda self: self.here.flags)
    device = property(lambda self: memory.Device(self.block.device))
    data = property(lambda self: memory.Pointer(self.block, self.here.ctypes.data))
    T = property(lambda self: ndarray(self.here.T, self.block))

    def __len__(self) -> int:
        return len(self.here)

    def __repr__(self) -> str:
        return repr(self.here)

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, self.block.device

    def __dlpack__(self, **_: Any) -> Any:
        raise BufferError("the stand-in has no GPU memory to share")

    # to and from the host

    def get(self, stream: Any = None, order: str = "C", out: Any = None, blocking: bool = True) -> np.ndarray:
        if out is None:
            return self.here.copy(order)
        if out.dtype != self.dtype or out.shape != self.shape:
            raise TypeError("out has another type or shape")
        out[...] = self.here
        return out

    def copy(self, order: str = "C") -> ndarray:
        return wrapped(self.here, order)  # on the current GPU, also if this array is on another

    def set(self, host: np.ndarray, stream: Any = None) -> None:
        if host.dtype != self.dtype or host.shape != self.shape:
            raise TypeError("the host array has another type or shape")
        self.here[...] = host

    def tolist(self) -> Any:
        return self.here.tolist()

    def item(self) -> Any:
        return self.here.item()

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise TypeError("Implicit conversion to a NumPy array is not allowed. Please use `.get()`")

    def __bool__(self) -> bool:
        return bool(self.here)

    def __int__(self) -> int:
        return int(self.here.item())

    def __index__(self) -> int:
        return operator.index(self.here[()])

    def __float__(self) -> float:
        return float(self.here.item())

    # elements

    def __getitem__(self, key: Any) -> ndarray:
        found = self.here[_with_ellipsis(_key(key))]
        return ndarray(found, self.block) if np.may_share_memory(found, self.here) else wrapped(found)

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(value, np.ndarray):
            raise TypeError("a host array cannot be assigned to a part of a GPU array")
        self.here[_key(key)] = plain(value)

    def __iter__(self) -> Iterator[ndarray]:
        return (self[i] for i in range(len(self)))

    # numpy's functions of arrays go to this module's, as in CuPy

    def __array_ufunc__(self, function: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if method != "__call__" or set(options) - {"dtype"}:
            return NotImplemented
        return wrapped(function(*map(plain, inputs), **options))

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        import cupy

        own = getattr(cupy, function.__name__, None)
        return NotImplemented if own is None else own(*args, **kwargs)


def _key(key: Any) -> Any:
    if isinstance(key, tuple):
        return tuple(map(_key, key))
    return plain(key) if isinstance(key, ndarray) else key


def _with_ellipsis(key: Any) -> Any:
    """The key that gives an array of no dimensions instead of a scalar."""
    keys = key if isinstance(key, tuple) else (key,)
    return key if any(k is Ellipsis for k in keys) or isinstance(key, np.ndarray) else (*keys, Ellipsis)


def plain(value: Any) -> Any:
    """The numpy array or scalar that a function of CuPy may read: on the current GPU, and not on the host."""
    if isinstance(value, ndarray):
        if value.block.device != memory.current():
            raise RuntimeError(f"array on GPU {value.block.device} used on GPU {memory.current()}")
        return value.here
    if value is None or isinstance(value, SCALARS):
        return value
    raise TypeError(f"Unsupported type {type(value)}")


def empty(shape: Any, dtype: Any = float, order: str = "C") -> ndarray:
    """A new array with unset bytes."""
    shape = (int(shape),) if np.ndim(shape) == 0 else tuple(int(s) for s in shape)
    dtype = np.dtype(dtype)
    block = memory.Block(int(np.prod(shape, dtype=object)) * dtype.itemsize)
    return ndarray(np.ndarray(shape, dtype, block.bytes.data, order=order), block)  # type: ignore[call-overload]


def wrapped(value: Any, order: str = "K") -> ndarray:
    """A copy of a numpy array or scalar on the current GPU."""
    value = np.asarray(value)
    if value.dtype.kind not in "biufc":
        raise ValueError(f"Unsupported dtype {value.dtype}")
    # CuPy keeps the order of arrays that are contiguous in one; others get C order
    fortran = order == "F" or (order in "KA" and value.flags.f_contiguous and not value.flags.c_contiguous)
    found = empty(value.shape, value.dtype, "F" if fortran else "C")
    found.here[...] = value
    return found


def _operation(apply: Callable[..., Any]) -> Callable[..., ndarray]:
    return lambda self, *others: wrapped(apply(plain(self), *map(plain, others)))


def _turned(apply: Callable[[Any, Any], Any]) -> Callable[[ndarray, Any], ndarray]:
    return lambda self, other: wrapped(apply(plain(other), plain(self)))


def _in_place(apply: Callable[[Any, Any], Any]) -> Callable[[ndarray, Any], ndarray]:
    def changed(self: ndarray, other: Any) -> ndarray:
        apply(plain(self), plain(other))  # numpy writes into the array, and refuses unsafe types
        return self

    return changed


def _method(name: str) -> Callable[..., ndarray]:
    return lambda self, *args, **options: wrapped(getattr(plain(self), name)(*args, **options))


def _view(name: str) -> Callable[..., ndarray]:
    def changed(self: ndarray, *args: Any, **options: Any) -> ndarray:
        found = getattr(self.here, name)(*args, **options)
        return ndarray(found, self.block) if np.may_share_memory(found, self.here) else wrapped(found)

    return changed


for _name in (
    "add",
    "sub",
    "mul",
    "truediv",
    "floordiv",
    "mod",
    "and",
    "or",
    "xor",
    "lshift",
    "rshift",
    "matmul",
    "pow",
):
    _apply = getattr(operator, f"__{_name}__")
    setattr(ndarray, f"__{_name}__", _operation(_apply))
    setattr(ndarray, f"__r{_name}__", _turned(_apply))
    setattr(ndarray, f"__i{_name}__", _in_place(getattr(operator, f"__i{_name}__")))
for _name in ("eq", "ne", "lt", "le", "gt", "ge", "neg", "pos", "abs", "invert"):
    setattr(ndarray, f"__{_name}__", _operation(getattr(operator, f"__{_name}__")))
for _name in ("sum", "min", "max", "any", "all", "mean", "cumsum", "argsort", "argmax", "argmin", "astype"):
    setattr(ndarray, _name, _method(_name))
for _name in ("reshape", "ravel", "view", "transpose"):
    setattr(ndarray, _name, _view(_name))
