"""The CUDA GPU: whether there is one, kernels compiled for it, and labels stored on it.

CuPy is imported, and a GPU searched for, only when one is requested or an array on a GPU is passed.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray

from congruence.errors import Call, InputError, Option
from congruence.typing import DeviceArray, Scalar

if TYPE_CHECKING:
    from queue import SimpleQueue
    from types import ModuleType

    import cupy as cp

Array = NDArray[Scalar]

#: bytes per chunk of a copy to the GPU, and how many chunks are in flight at once
PIECE, LANES = 8 << 20, 6

#: labels further apart than this are sorted to encode them
WIDEST = 1 << 16

#: most blocks of a grid in its second dimension
MOST_ACROSS = 65_535

#: devices of the DLPack standard that are CUDA GPUs: plain and managed memory
_CUDA = (2, 13)


def refusal(reason: str) -> InputError:
    """The error for work that the GPU cannot do and the host can."""
    return InputError(f"{reason}; pass {Option('engine', 'cpu')}")


@cache
def cupy() -> ModuleType:
    """CuPy, after a check that it is installed and finds a GPU."""
    try:
        import cupy as cp
    except ImportError:
        needed = "work on a CUDA GPU needs CuPy, which is not installed: pip install 'congruence[cuda]', or pass"
        raise InputError(f"{needed} {Option('engine', 'cpu')}{Call(' and arrays on the host', '')}") from None
    try:
        found = cp.cuda.runtime.getDeviceCount()
    except cp.cuda.runtime.CUDARuntimeError as error:
        raise refusal(f"no CUDA GPU can be used here ({error})") from None
    if not found:
        raise refusal("CuPy finds no CUDA GPU on this machine")
    library: ModuleType = cp
    return library


def is_on_card(data: object) -> bool:
    """Whether this array is on a CUDA GPU. Asks the array itself, so neither CuPy nor torch is imported."""
    if isinstance(data, np.ndarray) or not hasattr(data, "__dlpack_device__"):
        return False
    try:
        return int(data.__dlpack_device__()[0]) in _CUDA
    except (RuntimeError, TypeError, ValueError, BufferError):
        return False


def array(data: object) -> DeviceArray:
    """The same memory as a CuPy array; a copy if it is on another GPU than the current one."""
    cp = cupy()
    if not isinstance(data, cp.ndarray):
        data = cp.from_dlpack(data.detach() if hasattr(data, "detach") else data)
    return here(data)


def here(data: DeviceArray) -> DeviceArray:
    """The array itself if it is on the current GPU, else a copy there: kernels read memory of their own GPU only."""
    if data.device.id == current_card():
        return data
    with data.device:  # the copy does not wait for what this GPU still computes
        data = data.astype(data.dtype, order="A", copy=False)
        data.device.synchronize()
    return data.copy(order="A")


def free_memory() -> int:
    """Available bytes on the GPU: free memory, and memory that CuPy keeps for the next array."""
    cp = cupy()
    return int(cp.cuda.runtime.memGetInfo()[0]) + int(cp.get_default_memory_pool().free_bytes())


def cards() -> list[int]:
    """The numbers of the GPUs that CuPy sees, the current one first."""
    cp = cupy()
    current = current_card()
    return [current, *(card for card in range(cp.cuda.runtime.getDeviceCount()) if card != current)]


def current_card() -> int:
    """The number of the GPU that this thread uses."""
    return int(cupy().cuda.Device().id)


def facts() -> tuple[int, int]:
    """(number of multiprocessors, bytes of shared memory per block) of the current GPU."""
    return _facts(current_card())


@cache
def _facts(card: int) -> tuple[int, int]:
    told = cupy().cuda.Device(card).attributes
    return int(told["MultiProcessorCount"]), int(told["MaxSharedMemoryPerBlockOptin"])


#: the kernels of kernels.cu
Kernel: TypeAlias = Literal[
    "agreement", "binned", "by_point", "chunked", "count", "expected_grid", "expected_pairs", "expected_rows",
    "expected_sums", "fused", "limits", "pair_table", "profiled", "random_keys", "random_tables", "renumbered",
    "run_sums", "sizes", "sliced", "sums_of", "terms_below", "tiled", "to_rows", "weighted_cells",
]  # fmt: skip

#: kernels that use shared memory more than the L1 cache
IN_SHARED_MEMORY = frozenset({"fused", "sliced", "count", "chunked"})


def kernel_name(which: Kernel, *choices: str | bool | int) -> str:
    """The C++ name of a kernel with these template arguments (0 for none), as in fused<unsigned char, true, false>."""
    said = [str(x).lower() if isinstance(x, (bool, np.bool_)) else str(x) for x in choices or (0,)]
    return f"{which}<{', '.join(said)}>"


def kernel(which: Kernel, *choices: str | bool | int) -> cp.RawKernel:
    """A kernel with these template arguments, on the current GPU; CuPy caches compiled kernels on disk."""
    return _kernel(which, kernel_name(which, *choices), current_card())


@cache
def _kernel(which: Kernel, name: str, card: int) -> cp.RawKernel:
    source = Path(__file__).with_name("kernels.cu").read_text(encoding="utf-8")
    # without fused multiply-adds, sums of doubles have the same bits as on the CPU
    module = cupy().RawModule(code=source, options=("--std=c++17", "--fmad=false"), name_expressions=(name,))
    function = module.get_function(name)
    function.max_dynamic_shared_size_bytes = _facts(card)[1] - int(function.shared_size_bytes)
    if which in IN_SHARED_MEMORY:
        function.preferred_shared_memory_carveout = 100
    return function


@cache
def prepare(card: int, *wanted: tuple[Kernel, tuple[str | bool | int, ...]]) -> None:
    """Compile several kernels for a GPU at the same time."""

    def one(which: Kernel, choices: tuple[str | bool | int, ...]) -> None:
        with cupy().cuda.Device(card):
            kernel(which, *choices)

    with ThreadPoolExecutor(len(wanted)) as pool:
        for done in [pool.submit(one, *each) for each in wanted]:
            done.result()


def ctype(array: DeviceArray) -> str:
    """The name that kernels.cu has for the type of these integers."""
    sizes = {1: "char", 2: "short", 4: "int", 8: "long long"}
    return ("unsigned " if array.dtype.kind == "u" else "signed ") + sizes[array.dtype.itemsize]


# --- copies -----------------------------------------------------------------------------------------------------


@cache
def _lanes(card: int) -> tuple[SimpleQueue[tuple[cp.cuda.Stream, Array]], ThreadPoolExecutor]:
    """Streams of a GPU with a pinned buffer each, for copies in the background."""
    from queue import SimpleQueue

    import cupyx

    free: SimpleQueue[tuple[cp.cuda.Stream, Array]] = SimpleQueue()
    for _ in range(LANES):
        free.put((cupy().cuda.Stream(non_blocking=True), cupyx.empty_pinned(PIECE, np.uint8)))
    return free, ThreadPoolExecutor(LANES, thread_name_prefix="to card")


def upload(copies: Sequence[tuple[int, Array]]) -> list[Future[None]]:
    """Start copying host arrays to addresses on the GPU, in pieces through pinned memory; futures to wait for."""
    cp = cupy()
    device = current_card()
    free, pool = _lanes(device)

    def one(address: int, piece: Array) -> None:
        stream, buffer = free.get()
        try:
            with cp.cuda.Device(device):
                np.copyto(buffer[: piece.size], piece)
                cp.cuda.runtime.memcpyAsync(address, buffer.ctypes.data, piece.size, 1, stream.ptr)
                stream.synchronize()
        finally:
            free.put((stream, buffer))

    started = []
    for address, source in copies:
        flat = np.ascontiguousarray(source).reshape(-1).view(np.uint8)
        for start in range(0, flat.size, PIECE):
            started.append(pool.submit(one, address + start, flat[start : start + PIECE]))
    return started


def moved(data: Array) -> DeviceArray:
    """A copy of a host array on the GPU, in the same order of memory."""
    cp = cupy()
    order = "F" if data.ndim == 2 and data.flags.f_contiguous and not data.flags.c_contiguous else "C"
    there = cp.empty(data.shape, data.dtype, order=order)
    cp.cuda.get_current_stream().synchronize()  # the memory may have been in use until now
    for done in upload([(there.data.ptr, data.T if order == "F" else data)]):
        done.result()
    return there


# --- labels stored on the GPU ---------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Codes:
    """One clustering on the GPU: its codes are a row of a stack of clusterings."""

    stack: DeviceArray
    row: int
    n: int
    names: Array
    sizes: Array

    @property
    def codes(self) -> DeviceArray:
        """0 … k−1, on the current GPU."""
        return here(self.stack[self.row, : self.n])

    def on_host(self, dtype: DTypeLike) -> Array:
        """A copy of the codes."""
        return np.asarray(self.stack[self.row, : self.n].get().astype(dtype, copy=False))


def encoded(values: DeviceArray) -> list[Codes | None]:
    """Columns of integers on the GPU (points × clusterings) as codes; None for those that the host must encode.

    Labels that are codes already, in columns with the alignment that kernels need, are used in place.
    """
    cp = cupy()
    n, columns = values.shape
    if values.dtype.kind not in "iu" or values.dtype == np.uint64 or not n or n >= 2**32:
        return [None] * columns
    steps = [s // values.itemsize for s in values.strides]
    if 1 not in steps:
        values = cp.ascontiguousarray(values)
        steps = [s // values.itemsize for s in values.strides]
    if n == 1 or columns == 1:  # strides of such arrays have no meaning
        values = cp.ascontiguousarray(values)
        steps = [1, n] if columns == 1 else [columns, 1]
    low, high = _limits(values, steps)
    span = high - low + 1
    if (span > WIDEST).any() or (span < 1).any():  # below 1: the range does not fit in 64 bits
        return [_sorted(values[:, 0])] if columns == 1 else [encoded(values[:, j : j + 1])[0] for j in range(columns)]
    width = int(span.max())
    kind: type[np.unsignedinteger] = np.uint8 if width <= 256 else np.uint16
    apart = steps[1] * values.itemsize
    as_it_is = steps[0] == 1 and values.dtype == kind and not low.any() and apart % 16 == 0 and columns > 1
    if as_it_is and values.data.ptr % 16 == 0:
        stack = values.T
    else:
        as_it_is = False
        stack = stack_for(columns, n, kind)
        grid = (-(-n // 32), -(-columns // 32))
        arguments = (values, np.int64(n), np.int32(columns), np.int64(steps[0]), np.int64(steps[1]), cp.asarray(low))
        kernel("to_rows", ctype(values), ctype(stack))(
            grid, (256,), (*arguments, stack, np.int64(stack.strides[0] // stack.itemsize))
        )
    sizes = cluster_sizes(stack, n, width)
    present = sizes > 0
    many = present.sum(axis=1)
    used = np.arange(width)[None, :] < many[:, None]
    if not (present == used).all():
        if as_it_is:
            fresh = stack_for(columns, n, kind)
            fresh[:, :n] = stack[:, :n]
            stack = fresh
        place = cp.asarray((np.cumsum(present, axis=1) - present).astype(kind))
        for part in parts(columns):
            kernel("renumbered", ctype(stack))(
                (_blocks(n), part.stop - part.start), (256,),
                (stack[part], np.int64(stack.strides[0] // stack.itemsize), np.int64(n), np.int32(width), place[part]),
            )  # fmt: skip
    found: list[Codes | None] = []
    for j in range(columns):
        labels = np.flatnonzero(present[j]) if not present[j, : many[j]].all() else np.arange(many[j])
        found.append(Codes(stack, j, n, labels + low[j], sizes[j, labels].astype(np.int64)))
    return found


def encoded_together(vectors: Sequence[DeviceArray]) -> list[Codes | None]:
    """Label vectors of one type and length on the GPU as codes: as columns of one array, as many at once as fit."""
    cp = cupy()
    at_once = max(1, int(free_memory() // 3 // max(1, vectors[0].nbytes)))
    found: list[Codes | None] = []
    for start in range(0, len(vectors), at_once):
        found += encoded(cp.stack(vectors[start : start + at_once]).T)
    return found


def _sorted(values: DeviceArray) -> Codes:
    """Integers of any range on the GPU as codes."""
    names, codes, sizes = cupy().unique(values, return_inverse=True, return_counts=True)
    stack = stack_for(1, len(values), code_kind(len(names)))
    stack[0, : len(values)] = codes.reshape(-1)
    return Codes(stack, 0, len(values), names.get(), sizes.get().astype(np.int64))


def code_kind(k: int) -> type[np.unsignedinteger[Scalar]]:
    """The type of codes 0 … k on the GPU."""
    return np.uint8 if k <= 0xFF else np.uint16 if k <= 0xFFFF else np.uint32


def stack_for(rows: int, n: int, dtype: DTypeLike) -> DeviceArray:
    """Memory for the codes of this many clusterings, in rows aligned to 16 bytes."""
    itemsize = np.dtype(dtype).itemsize
    return cupy().empty((rows, -(-n * itemsize // 16) * 16 // itemsize), dtype)


def parts(rows: int, most: int | None = None) -> list[slice]:
    """Slices of at most this many rows, by default as many as a grid has blocks in its second dimension."""
    step = min(most or MOST_ACROSS, MOST_ACROSS)
    return [slice(start, min(start + step, rows)) for start in range(0, rows, step)]


def _blocks(n: int) -> int:
    return max(1, min(64, n // 4096))


def _limits(values: DeviceArray, steps: Sequence[int]) -> tuple[Array, Array]:
    """Smallest and largest label of each column."""
    cp = cupy()
    n, columns = values.shape
    ends = np.iinfo(np.int64)
    low, high = (cp.asarray(np.full(columns, end)) for end in (ends.max, ends.min))  # cp.full would be compiled
    for part in parts(columns):
        many = part.stop - part.start
        grid = (_blocks(n), many) if steps[0] == 1 else (-(-many // 256), max(1, min(2048, n // 64)))
        arguments = (np.int64(n), np.int32(many), np.int64(steps[0]), np.int64(steps[1]), low[part], high[part])
        kernel("limits", ctype(values))(grid, (256,), (values[:, part], *arguments))
    return low.get(), high.get()


def cluster_sizes(stack: DeviceArray, n: int, width: int) -> Array:
    """How many points have each code, for every row."""
    cp = cupy()
    inside = width * 4 <= facts()[1] // 2
    found = []
    for part in parts(len(stack), max(1, (1 << 28) // width)):
        some = stack[part]
        out = cp.zeros((len(some), width), np.uint32)
        arguments = (
            some,
            np.int64(stack.strides[0] // stack.itemsize),
            np.int64(n),
            np.int32(width),
            np.bool_(inside),
            out,
        )
        kernel("sizes", ctype(stack))((_blocks(n), len(some)), (512,), arguments, shared_mem=width * 4 if inside else 0)
        found.append(out.get())
    return np.asarray(np.concatenate(found))
