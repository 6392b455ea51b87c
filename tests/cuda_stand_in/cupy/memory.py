"""Memory of pretended GPUs: the current GPU of a thread, and blocks of bytes that notice writes beyond their ends."""

from __future__ import annotations

import os
import threading
import weakref
from typing import Any, ClassVar

import numpy as np

#: bytes of each pretended GPU
TOTAL = 8 << 30
#: the values of memory that nothing was written to yet, and of the bytes around each block
UNSET, UNTOUCHED = 0xA5, 0x5C
#: bytes around each block; blocks are aligned as CuPy aligns them
GUARD = ALIGNED = 512

_local = threading.local()
_lock = threading.Lock()
_used: dict[int, int] = {}
_blocks: weakref.WeakValueDictionary[int, Block] = weakref.WeakValueDictionary()


def many_devices() -> int:
    """The number of pretended GPUs: the value of CONGRUENCE_CUDA_STAND_IN."""
    return int(os.environ.get("CONGRUENCE_CUDA_STAND_IN", "1"))


class OutOfMemoryError(MemoryError):
    """There is not enough memory on the pretended GPU."""


class Device:
    """A pretended GPU, the current one by default; as a context, the current one inside it."""

    #: those of an H200, but few multiprocessors, so that blocks of small data have much to do too
    attributes: ClassVar[dict[str, int]] = {"MultiProcessorCount": 4, "MaxSharedMemoryPerBlockOptin": 232_448}

    def __init__(self, number: int | None = None) -> None:
        self.id = current() if number is None else int(number)
        if not 0 <= self.id < many_devices():
            raise ValueError(f"there is no device {self.id}")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and self.id == other.id

    def __hash__(self) -> int:
        return hash(self.id)

    def __enter__(self) -> Device:
        _stack().append(self.id)
        return self

    def __exit__(self, *_: object) -> None:
        _stack().pop()

    def synchronize(self) -> None:
        pass


def _stack() -> list[int]:
    if not hasattr(_local, "devices"):
        _local.devices = [0]
    devices: list[int] = _local.devices
    return devices


def current() -> int:
    """The number of the GPU that this thread uses."""
    return _stack()[-1]


def free() -> int:
    """Bytes that are free on the current GPU."""
    return TOTAL - _used.get(current(), 0)


class Block:
    """Bytes on the current GPU, unset, between guards."""

    def __init__(self, size: int) -> None:
        self.size, self.device = size, current()
        if size > free():
            raise OutOfMemoryError(f"Out of memory allocating {size:,} bytes")
        whole = np.empty(size + 2 * GUARD + ALIGNED, np.uint8)
        skip = -whole.ctypes.data % ALIGNED
        self.bytes = whole[skip + GUARD : skip + GUARD + size]
        self.guards = whole[skip : skip + GUARD], whole[skip + GUARD + size : skip + 2 * GUARD + size]
        self.bytes[:] = UNSET
        for guard in self.guards:
            guard[:] = UNTOUCHED
        self.address = whole.ctypes.data + skip + GUARD
        with _lock:
            _used[self.device] = _used.get(self.device, 0) + size
            _blocks[self.address] = self
        weakref.finalize(self, _freed, self.device, size)

    def is_intact(self) -> bool:
        """Whether nothing was written just before or after the block."""
        return all((guard == UNTOUCHED).all() for guard in self.guards)


def _freed(device: int, size: int) -> None:
    with _lock:
        _used[device] -= size


def check_range(address: int, size: int) -> None:
    """Raise if these bytes are not all in one block of a pretended GPU."""
    with _lock:
        blocks = list(_blocks.values())
    if not any(b.address <= address and address + size <= b.address + b.size for b in blocks):
        raise RuntimeError(f"{size} bytes at {address:#x} are not in the memory of a GPU")


class Pointer:
    """An address in a block: `array.data`."""

    def __init__(self, block: Block, address: int) -> None:
        self.block, self.ptr = block, address

    def copy_from_device(self, source: Pointer, size: int) -> None:
        start, first = self.ptr - self.block.address, source.ptr - source.block.address
        if start + size > self.block.size or first + size > source.block.size:
            raise RuntimeError(f"a copy of {size} bytes leaves its memory")
        self.block.bytes[start : start + size] = source.block.bytes[first : first + size]

    copy_from_device_async = copy_from_device


class Pool:
    """The memory pool, which keeps nothing for later."""

    def free_bytes(self) -> int:
        return 0

    def used_bytes(self) -> int:
        return _used.get(current(), 0)


class Event:
    """A moment on a stream; all work is done when it is started, so nothing waits."""

    def synchronize(self) -> None:
        pass


class Stream:
    """A stream; all work is done when it is started."""

    ptr = 0

    def __init__(self, non_blocking: bool = False) -> None:
        self.device = current()

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def synchronize(self) -> None:
        pass

    def record(self, event: Any = None) -> Event:
        return event or Event()

    def wait_event(self, event: Event) -> None:
        if not isinstance(event, Event):
            raise TypeError("not an event")
