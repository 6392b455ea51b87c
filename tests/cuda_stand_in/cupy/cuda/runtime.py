"""Calls of the CUDA runtime."""

import ctypes

from .. import memory

TO_DEVICE = 1


class CUDARuntimeError(RuntimeError):
    """An error of the CUDA runtime."""


def getDeviceCount() -> int:
    """The number of pretended GPUs."""
    return memory.many_devices()


def memGetInfo() -> tuple[int, int]:
    """Free and all bytes of the current GPU."""
    return memory.free(), memory.TOTAL


def memcpyAsync(to: int, source: int, size: int, kind: int, stream: int) -> None:
    """Copy bytes of the host to a GPU."""
    if kind != TO_DEVICE:
        raise CUDARuntimeError("the stand-in copies from the host to a GPU only")
    memory.check_range(to, size)
    ctypes.memmove(to, source, size)
