"""Sums over the tables of many pairs, counted in shared memory."""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np

from congruence.engine.cuda.chunks import COLUMNS, LOGS, ROWS, SQUARES, SUMS, any_shape, by_size
from congruence.engine.cuda.slices import (
    against_tile,
    alike,
    most_hashed,
    shared_bytes,
    slice_shape,
    sliceable,
    sorted_points,
    units_of,
)
from congruence.engine.cuda.stacks import SHARE, Stack, i32, i64, u32
from congruence.machine import device
from congruence.machine.device import ctype, cupy, kernel
from congruence.statistics.information import unit_of
from congruence.statistics.tables import Array
from congruence.typing import DeviceArray

if TYPE_CHECKING:
    import cupy as cp

# --- choice of route: all crossovers, measured by benchmarks/gpu.py -------- ---------------------------------------

#: threads of a block that counts in shared memory, by the least number of points
THREADS = ((1 << 15, 1024), (1 << 13, 512), (1 << 11, 256), (0, 128))

#: bytes of a table that is counted in shared memory, if it fits there; larger tables are counted in slices of sorted points
#: (`slices.sliceable`), and all others in chunks of them (`chunks.CHUNKS`)
LARGEST = 1 << 20

#: maximum number of tables per block
TABLES = 16

#: number of points above which few pairs are split over points, and the points per part
SPLIT_FROM, SPLIT_POINTS = 1 << 18, 1 << 16

#: clusterings on whose sorted points blocks work at the same time
SORTED_AT_ONCE = 64

#: n_ij·log(n/n_ij) is looked up for counts below this and computed above
LOOKUP = 1 << 20


# --- sums of pairs ----------------------------------------------------------------------------------------------


def terms_for(n: int) -> tuple[DeviceArray, ...]:
    """The arguments of kernels for v·log(n/v) in whole units: a table for small counts and its size, n, and units per 1."""
    unit = np.float64(unit_of(n))
    return _terms_below(n, min(n, LOOKUP) + 1, device.current_card()), u32(min(n, LOOKUP) + 1), np.float64(n), unit


@lru_cache(8)
def _terms_below(n: int, end: int, card: int) -> DeviceArray:
    """v·log(n/v) in whole units for v = 0 … end − 1, on a GPU, and for all counts of hashed rows."""
    size = max(end, 8, min(n, 0xFFFF) + 1)
    out = cupy().empty(size, np.uint64)
    kernel("terms_below")((-(-size // 256),), (256,), (u32(size), np.float64(n), np.float64(unit_of(n)), out))
    return out


@lru_cache(16)
def _side_streams(card: int) -> tuple[cp.cuda.Stream, cp.cuda.Stream]:
    """Streams for copies to and from a GPU while it counts."""
    stream = cupy().cuda.Stream
    return stream(non_blocking=True), stream(non_blocking=True)


class Sums:
    """Σn², Σ n_ij·log(n/n_ij) and, if requested, maxima of pairs of rows of a stack; starts at once, `result` waits."""

    def __init__(self, stack: Stack, a: Array, b: Array, maxima: bool = False) -> None:
        cp = cupy()
        self.stack, self.maxima = stack, maxima
        self.held: list[DeviceArray] = [stack]  # arrays that running kernels read
        self.streams = _side_streams(device.current_card())
        self.terms = terms_for(stack.n)
        self.k = self.upload(stack.k.astype(np.int32))
        # the clustering with more clusters comes first: in large tables, its points are sorted
        self.turned = stack.k[a] < stack.k[b]
        x, y = np.where(self.turned, b, a), np.where(self.turned, a, b)
        routes = (self._in_shared, self._in_slices, self._in_chunks)
        choice = self._choice(x, y)
        if (choice == choice[0]).all():
            self.out = routes[choice[0]](x, y)
        else:
            self.out = cp.empty((len(a), SUMS), np.uint64)
            for route in np.unique(choice):
                where = np.flatnonzero(choice == route)
                self.out[self.upload(where)] = routes[route](x[where], y[where])
        done = cp.cuda.get_current_stream().record()
        back = self.streams[1]
        back.wait_event(done)
        self.host = _pinned(self.out.shape)
        self.out.get(stream=back, out=self.host, blocking=False)
        self.arrived = back.record()

    def upload(self, data: Array) -> DeviceArray:
        """A small array on the GPU, kept until the end; it does not wait for kernels that are running."""
        there = self.streams[0]
        with there:
            copied = cupy().asarray(np.ascontiguousarray(data))
        there.synchronize()
        self.held.append(copied)
        return copied

    def result(self) -> tuple[Array, Array, Array, Array]:
        """(Σn², Σ n_ij·log(n/n_ij) in whole units, Σ row maxima, Σ column maxima), one entry per pair."""
        self.arrived.synchronize()
        sums = self.host.astype(np.int64)
        self.held.clear()
        best = np.where(self.turned[:, None], sums[:, [COLUMNS, ROWS]], sums[:, [ROWS, COLUMNS]])
        return sums[:, SQUARES], sums[:, LOGS], best[:, 0], best[:, 1]

    @cached_property
    def largest(self) -> Array:
        """Points of the largest cluster of each clustering."""
        return np.array([sizes.max(initial=0) for sizes in self.stack.sizes])

    def _choice(self, x: Array, y: Array) -> Array:
        """How each pair is counted: 0 in shared memory, 1 in slices of sorted points, 2 in chunks of them."""
        k = self.stack.k
        inside = 4 * k[x] * k[y] <= min(LARGEST, shared_bytes())
        if inside.all():
            return np.zeros(len(x), dtype=np.int64)
        fits = sliceable(k[x], self.largest[x], k[y])
        if self.maxima:
            fits &= sliceable(k[y], self.largest[y], k[x])
        return np.where(inside, 0, np.where(fits, 1, 2))

    # tables in shared memory

    def _in_shared(self, x: Array, y: Array) -> DeviceArray:
        """A block counts a clustering against a few others and keeps tables only while they are summed."""
        cp = cupy()
        n, k = self.stack.n, self.stack.k
        threads = next(t for least, t in THREADS if n >= least)
        slots = device.facts()[0] * 1024 // threads
        if len(x) < slots and n >= SPLIT_FROM:
            return self._in_parts(x, y, slots)
        ascending = x[1:] > x[:-1]
        in_order = bool((ascending | ((x[1:] == x[:-1]) & (k[y[1:]] <= k[y[:-1]]))).all())
        order = None if in_order else np.lexsort((-k[y], x))
        if order is not None:
            x, y = x[order], y[order]
        new = np.append(True, x[1:] != x[:-1])
        start = np.flatnonzero(new)
        group = np.cumsum(new) - 1
        bytes_each = 4 * k[x[start]] * k[y[start]]  # of the widest table of the group
        # there are registers for 1024 threads per multiprocessor; its shared memory is divided among their blocks
        room = (shared_bytes() + 1024) * threads // 1024 - 1024
        per = np.clip(room // bytes_each, 1, min(TABLES, max(1, len(x) // slots)))
        first = np.flatnonzero((np.arange(len(x)) - start[group]) % per[group] == 0)
        many = np.diff(np.append(first, len(x)))
        need = bytes_each[group[first]] * many
        out = cp.zeros((len(x), SUMS), np.uint64)
        rows = self.upload(np.stack([x, y]).astype(np.int32))
        items = np.column_stack([first, many, k[x[first]], k[y[first]]]).astype(np.int32)
        chunks = n * self.stack.codes.itemsize // 16
        count = kernel("fused", ctype(self.stack.codes), self.maxima, n <= LOOKUP)
        for chosen, block in ((need <= room, threads), (need > room, 1024)):
            if chosen.any():
                wide = min(block, max(32, 1 << int(max(chunks - 1, 0)).bit_length()))
                count(
                    (int(chosen.sum()),), (block,),
                    (*self.stack.arguments, rows[0], rows[1], self.upload(items[chosen]), i32(wide), *self.terms, out),
                    shared_mem=int(need[chosen].max() + 15) // 16 * 16,
                )  # fmt: skip
        if order is None:
            return out
        back = cp.empty_like(out)
        back[self.upload(order)] = out
        return back

    def _in_parts(self, x: Array, y: Array, slots: int) -> DeviceArray:
        """Few pairs of many points: parts of the points add to tables in the GPU's memory, then sums are taken."""
        cp = cupy()
        offset = np.concatenate([[0], np.cumsum(self.stack.k[x] * self.stack.k[y])])
        rows, offsets = self.upload(np.stack([x, y]).astype(np.int32)), self.upload(offset)
        tables = cp.zeros(int(offset[-1]), np.uint32)
        count_tables(self.stack, self.k, rows, offsets, np.diff(offset), None, tables, slots)
        out = cp.zeros((len(x), SUMS), np.uint64)
        kernel("sums_of", self.maxima, self.stack.n <= LOOKUP)(
            (len(x),), (256,), (tables, offsets, self.k, rows[0], rows[1], *self.terms, out)
        )
        self.held.append(tables)
        return out

    # tables larger than shared memory

    def _in_slices(self, x: Array, y: Array) -> DeviceArray:
        """Points are sorted by one clustering; a block handles some of its clusters, a slice of the table."""
        out = self._sliced_alike(x, y)
        if self.maxima:
            out[:, COLUMNS] = self._sliced_alike(y, x)[:, ROWS]
        return out

    def _sliced_alike(self, x: Array, y: Array) -> DeviceArray:
        """Clusterings with a large cluster are counted apart: tiles of the others hold no rows too long for them."""
        large = self.largest[x] > most_hashed()
        if large.all() or not large.any():
            return self._sliced(x, y)
        out = cupy().empty((len(x), SUMS), np.uint64)
        for some in (np.flatnonzero(large), np.flatnonzero(~large)):
            out[self.upload(some)] = self._sliced(x[some], y[some])
        return out

    def _in_chunks(self, x: Array, y: Array) -> DeviceArray:
        """Tables of any shape: blocks count chunks of sorted points by hashing."""
        out = self._chunked(x, y)
        if self.maxima:
            out[:, COLUMNS] = self._chunked(y, x)[:, ROWS]
        return out

    def _chunked(self, x: Array, y: Array) -> DeviceArray:
        out = cupy().empty((len(x), SUMS), np.uint64)
        rows = np.unique(x)
        for top in range(0, len(rows), SORTED_AT_ONCE):
            some = rows[top : top + SORTED_AT_ONCE].tolist()
            for row, clusters in zip(some, by_size(self.stack, some, self.upload), strict=True):
                where = np.flatnonzero(x == row)
                out[self.upload(where)] = any_shape(
                    self.stack, row, clusters, y[where], self.terms, self.maxima, self.upload
                )
        return out

    def _sliced(self, x: Array, y: Array) -> DeviceArray:
        cp = cupy()
        n, k = self.stack.n, self.stack.k
        out = cp.zeros((len(x), SUMS), np.uint64)
        others = np.unique(y)
        others = others[np.argsort(-k[others], kind="stable")]
        room = max(16, int(SHARE * device.free_memory()) // (2 * n) // 16 * 16)
        sorted_rows = np.unique(x)
        for left in range(0, len(others), room):
            some = others[left : left + room]
            side_by_side = cp.empty((-(-len(some) // 16), n, 16), np.uint16)
            kernel("tiled", ctype(self.stack.codes))(
                (-(-n // 64), len(side_by_side)), (256,),
                (*self.stack.arguments, self.upload(some.astype(np.int32)), i32(len(some)), side_by_side),
            )  # fmt: skip
            place = np.full(len(k), -1)
            place[some] = np.arange(len(some))
            at_once = max(1, min(SORTED_AT_ONCE, int(device.free_memory() // 2 // (8 * n))))
            for top in range(0, len(sorted_rows), at_once):
                block = sorted_rows[top : top + at_once]
                where = np.flatnonzero((place[y] >= 0) & (x >= block[0]) & (x <= block[-1]))
                if not len(where):
                    continue
                i, j = np.searchsorted(block, x[where]), place[y[where]]
                wanted = np.zeros((len(block), len(side_by_side)), dtype=bool)
                wanted[i, j // 16] = True
                sums = self._against(block, side_by_side, k[some], wanted)
                out[self.upload(where)] = sums[self.upload(i), self.upload(j)]
        return out

    def _against(self, block: Array, side_by_side: DeviceArray, widths: Array, wanted: Array) -> DeviceArray:
        """Sums of each clustering of the block with the requested clusterings of the tiles (a mask, block × tiles)."""
        n, members, each = self.stack.n, len(widths), np.arange(len(block))
        order, begin = sorted_points(self.stack, block, self.upload)
        starts = self.upload(begin.astype(np.uint32))
        sizes = np.diff(begin, axis=1)
        sums = cupy().zeros((len(block), members, SUMS), np.uint64)
        done = np.zeros(len(block), dtype=np.int64)
        groups = alike(widths, np.flatnonzero(wanted.any(axis=0)))
        # group rows of similar size, largest first
        for smallest in (1 << np.arange(int(sizes.max()).bit_length()))[::-1]:
            last = (sizes >= smallest).sum(axis=1)
            points = int((begin[each, last] - begin[each, done]).sum())
            if not points:
                continue
            new = last > done
            largest, mean = int(sizes[each[new], done[new]].max()), points / int((last - done).sum())
            units = units_of(begin, done, last, points)
            done = last
            for group in groups:
                # one launch for tiles of similar width, so that few large units do not leave the GPU idle
                some = np.concatenate([against_tile(units[wanted[units[:, 0], tile]], tile) for tile in group])
                if not len(some):
                    continue
                bits, others, threads, cells = slice_shape(int(widths[group[0] * 16]), largest, mean)
                kernel("sliced", bits > 0, others, threads, self.maxima, largest <= LOOKUP)(
                    (len(some), 16 // others), (threads,),
                    (side_by_side, i64(n), u32(cells), i32(bits), order, starts, i32(starts.shape[1]), self.upload(some),
                     *self.terms, i32(members), sums),
                    shared_mem=4 * others * cells,
                )  # fmt: skip
        return sums


def _pinned(shape: tuple[int, ...]) -> Array:
    import cupyx

    return np.asarray(cupyx.empty_pinned(shape, np.uint64))


# --- tables that are kept ---------------------------------------------------------------------------------------


def count_tables(
    stack: Stack,
    k: DeviceArray,
    rows: DeviceArray,
    offset: DeviceArray,
    cells: Array,
    mass: DeviceArray,
    tables: DeviceArray,
    slots: int,
) -> None:
    """Add the tables of pairs of rows to dense tables in the GPU's memory."""
    held = shared_bytes() // tables.itemsize
    inside = cells[cells <= held]
    parts = int(np.clip(-(-2 * slots // max(1, len(cells))), 1, max(1, stack.n // SPLIT_POINTS)))
    threads = next(t for least, t in THREADS if stack.n >= least)
    kernel("count", ctype(stack.codes), "double" if mass is not None else "u32")(
        (len(cells), parts), (threads,),
        (*stack.arguments, k, rows[0], rows[1], offset, np.uint64(0) if mass is None else mass, i32(held), tables),
        shared_mem=int(inside.max(initial=0)) * tables.itemsize,
    )  # fmt: skip
