"""Labels of many clusterings on a CUDA GPU."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from congruence.inputs.labels import Labels
from congruence.machine import device
from congruence.machine.device import cupy
from congruence.statistics.tables import Array
from congruence.typing import DeviceArray, Scalar

#: share of the GPU's free memory that labels may take; the rest is for tables and sorted points
SHARE = 0.6

#: Σn² of more points would not fit in 63 bits
MOST_POINTS = 3_037_000_499

i32, i64, u32 = np.int32, np.int64, np.uint32


@contextmanager
def in_memory() -> Iterator[None]:
    """Turn an out-of-memory error of the GPU into one line."""
    try:
        yield
    except cupy().cuda.memory.OutOfMemoryError as error:
        raise device.refusal(f"the GPU does not have enough memory ({error})") from None


# --- labels on the GPU -----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Stack:
    """Codes of clusterings on the GPU, one row each; `k` and `sizes` by row."""

    codes: DeviceArray
    n: int
    k: Array
    sizes: Sequence[Array]

    @property
    def arguments(self) -> tuple[object, ...]:
        """The first arguments of a kernel."""
        return self.codes, i64(self.codes.strides[0] // self.codes.itemsize), i64(self.n)


def code_kind(labels: Sequence[Labels]) -> type[np.unsignedinteger[Scalar]]:
    """The code type that fits all these clusterings."""
    if len(labels[0]) > MOST_POINTS:
        raise device.refusal(f"a CUDA GPU counts up to {MOST_POINTS:,} points, not {len(labels[0]):,}")
    return device.code_kind(max(c.k for c in labels))


def fill(codes: DeviceArray, labels: Sequence[Labels]) -> list[Future[None]]:
    """Copy clusterings into rows of `codes`; returns futures for copies from the host."""
    copies = []
    for row, c in enumerate(labels):
        if c.card is not None and c.card.stack.device == codes.device:
            if c.card.stack.dtype == codes.dtype:  # CuPy compiles assignments
                codes[row].data.copy_from_device_async(c.card.codes.data, len(c) * codes.itemsize)
            else:
                codes[row, : len(c)] = c.card.codes
        elif c.card is not None:  # from another GPU: converted there, then copied
            with c.card.stack.device:
                there = c.card.codes.astype(codes.dtype)
                there.device.synchronize()
            codes[row].data.copy_from_device(there.data, there.nbytes)
        else:
            copies.append((codes[row].data.ptr, c.codes.astype(codes.dtype, copy=False)))
    return device.upload(copies)


def whole_stack(labels: Sequence[Labels]) -> Stack | None:
    """All clusterings on the GPU, in place if they are there already; None if they do not fit."""
    n, kind = len(labels[0]), code_kind(labels)
    k = np.array([c.k + (c.gaps > 0) for c in labels], dtype=np.int64)
    there = [c.card for c in labels if c.card is not None]
    if len(there) == len(labels) and all(c.stack is there[0].stack for c in there):
        first = there[0]
        in_order = [c.row for c in there] == list(range(first.row, first.row + len(there)))
        if in_order and first.stack.device.id == device.current_card():
            return Stack(first.stack[first.row : first.row + len(there)], n, k, [c.sizes for c in there])
    if len(labels) * n * np.dtype(kind).itemsize > SHARE * device.free_memory():
        return None
    codes = device.stack_for(len(labels), n, kind)
    cupy().cuda.get_current_stream().synchronize()  # the memory may have been in use until now
    return Stack(codes, n, k, arrived(codes, labels, fill(codes, labels)))


def arrived(codes: DeviceArray, labels: Sequence[Labels], coming: Sequence[Future[None]]) -> list[Array]:
    """Wait until these labels are copied; returns the sizes of their clusters."""
    for copied in coming:
        copied.result()
    width = max(c.k + (c.gaps > 0) for c in labels)
    counted = device.cluster_sizes(codes[: len(labels)], len(labels[0]), width)
    return [sizes[: c.k].astype(np.int64) for c, sizes in zip(labels, counted, strict=True)]
