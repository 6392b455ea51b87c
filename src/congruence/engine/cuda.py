"""Counting on a CUDA card: the same statistics as cpu.py, from the same integers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from congruence import card
from congruence.card import ctype, cupy, kernel
from congruence.clustering import Clustering, Labels, Mass, Memberships
from congruence.engine import cpu
from congruence.engine.plan import MEMORY, Progress, Run, pairs_of, tiles
from congruence.nulls import as_tile
from congruence.numerics import distinct
from congruence.statistics import (
    Array,
    ChanceInfo,
    Gram,
    Info,
    MatrixSums,
    Maxima,
    MemberInfo,
    Pairs,
    Table,
    Tables,
)

# --- which route: the one table of crossovers, measured by benchmarks/gpu.py ---------------------------------------

#: threads of a block that counts in shared memory, by the least number of points
THREADS = ((1 << 15, 1024), (1 << 13, 512), (1 << 11, 256), (0, 128))
#: bytes of a table that is counted in shared memory, if that much fits there; larger ones go by sorted points, in slices
LARGEST = 1 << 20
#: tables of one block, at most
TABLES = 16
#: points from which few pairs are cut over the points, and the points of one part then
SPLIT_FROM, SPLIT_POINTS = 1 << 18, 1 << 16
#: clusterings on whose sorted points blocks work at the same time
SORTED_AT_ONCE = 64
#: a row of a large table has a cell a cluster while those are no more than this many a point, else it is hashed
DENSE = 5
#: cells a point of a hashed row, at least
SLOTS = 1.5
#: share of the shared memory of a multiprocessor that a row may take against 16 clusterings; larger ones, against fewer
ROW_SHARE = 0.5
#: increments of one tile of pairs: while the card counts the next, the host works out the measures of the last
TILE = 5e10
#: random tables are drawn cell by cell while they have no more cells than this many a point, else points are permuted
DRAWN_CELLS = 0.25
#: threads of a block that draws tables, one table each
DRAW_THREADS = 32
#: n·log n is looked up below this and computed above
LOOKUP = 1 << 20
#: share of the card's free memory that labels may take; the rest is for tables and sorted points
SHARE = 0.6

SQUARES, LOGS, ROWS, COLUMNS, REST, SUMS = range(6)
_i32, _i64, _u32 = np.int32, np.int64, np.uint32


@contextmanager
def _in_memory() -> Iterator[None]:
    """A card that is too small says so in one line."""
    try:
        yield
    except cupy().cuda.memory.OutOfMemoryError as error:
        raise card.refusal(f"the memory of the card does not suffice ({error})") from None


# --- labels on the card -----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Stack:
    """Codes of clusterings on the card, a row each; `k` and `sizes` by row."""

    codes: Any
    n: int
    k: Array
    sizes: Sequence[Array]

    @property
    def arguments(self) -> tuple[Any, ...]:
        """What kernels want to know first."""
        return self.codes, _i64(self.codes.strides[0] // self.codes.itemsize), _i64(self.n)


def _kind(labels: Sequence[Labels]) -> Any:
    """The type of codes that holds those of all these clusterings."""
    most = max(c.k for c in labels)
    if most > 0xFFFF:
        raise card.refusal(f"a CUDA card counts up to 65,535 clusters a clustering, and one has {most:,}")
    if len(labels[0]) >= 2**32:
        raise card.refusal(f"a CUDA card counts up to 2³² − 1 points, not {len(labels[0]):,}")
    return np.uint8 if most <= 0xFF else np.uint16


def _fill(codes: Any, labels: Sequence[Labels]) -> list[Any]:
    """Bring clusterings into rows of `codes`; those from the host are still on their way (futures)."""
    copies = []
    for row, c in enumerate(labels):
        if c.card is not None:
            codes[row, : len(c)] = c.card.codes
        else:
            copies.append((codes[row].data.ptr, c.codes.astype(codes.dtype, copy=False)))
    return card.upload(copies)


def _whole(labels: Sequence[Labels]) -> Stack | None:
    """All clusterings on the card at once; where they are if they are there already; None if there is no room."""
    n, kind = len(labels[0]), _kind(labels)
    k = np.array([c.k + (c.gaps > 0) for c in labels], dtype=np.int64)
    first = labels[0].card
    if first is not None and all(c.card is not None and c.card.stack is first.stack for c in labels):
        there = [c.card for c in labels if c.card is not None]
        if [c.row for c in there] == list(range(first.row, first.row + len(there))):
            return Stack(first.stack[first.row : first.row + len(there)], n, k, [c.sizes for c in there])
    if len(labels) * n * np.dtype(kind).itemsize > SHARE * card.free_memory():
        return None
    codes = card.stack_for(len(labels), n, kind)
    cupy().cuda.get_current_stream().synchronize()  # the memory may have been in use till now
    return Stack(codes, n, k, _arrived(codes, labels, _fill(codes, labels)))


def _arrived(codes: Any, labels: Sequence[Labels], coming: Sequence[Any]) -> list[Array]:
    """Wait till these labels are in their rows; the sizes of their clusters."""
    for copied in coming:
        copied.result()
    width = max(c.k + (c.gaps > 0) for c in labels)
    counted = card.cluster_sizes(codes[: len(labels)], len(labels[0]), width)
    return [sizes[: c.k].astype(np.int64) for c, sizes in zip(labels, counted, strict=True)]


# --- sums of pairs ----------------------------------------------------------------------------------------------


@lru_cache(4)
def _looked_up(size: int) -> Any:
    """v·log v for v below `size`."""
    cp = cupy()
    counts = cp.arange(size, dtype=np.float64)
    return counts * cp.log(cp.maximum(counts, 1.0))


def _logs(n: int) -> tuple[Any, Any]:
    """v·log v of counts v of n points, and below which v they are looked up; in hashed rows all are."""
    limit = min(n, LOOKUP) + 1
    return _looked_up(max(limit, 8, min(n, 0xFFFF) + 1)), _u32(limit)


@lru_cache(1)
def _side_streams() -> tuple[Any, Any]:
    """Streams for what goes to the card and what comes back while it counts."""
    stream = cupy().cuda.Stream
    return stream(non_blocking=True), stream(non_blocking=True)


class Sums:
    """Σn², Σ n log n and, if wanted, maxima of pairs of rows of a stack: started at once, waited for by `result`."""

    def __init__(self, stack: Stack, a: Array, b: Array, maxima: bool = False) -> None:
        cp = cupy()
        self.stack, self.maxima = stack, maxima
        self.held: list[Any] = [stack]  # what kernels still read
        # logarithms are added as whole multiples of 1/scale, so that the order of adding does not matter
        self.scale = 2.0 ** (61 - int(np.ceil(np.log2(stack.n * np.log(stack.n + 1.0) + 1))))
        self.logs = (*_logs(stack.n), np.float64(self.scale))
        self.k = self.upload(stack.k.astype(np.int32))
        # the clustering with more clusters goes first: of larger tables it is the one whose points are sorted
        self.turned = stack.k[a] < stack.k[b]
        x, y = np.where(self.turned, b, a), np.where(self.turned, a, b)
        inside = 4 * stack.k[x] * stack.k[y] <= min(LARGEST, _shared_bytes())
        if inside.all():
            self.out = self._in_shared(x, y)
        elif not inside.any():
            self.out = self._in_slices(x, y)
        else:
            self.out = cp.empty((len(a), SUMS), np.uint64)
            for chosen, route in ((inside, self._in_shared), (~inside, self._in_slices)):
                where = np.flatnonzero(chosen)
                self.out[self.upload(where)] = route(x[where], y[where])
        done = cp.cuda.get_current_stream().record()
        back = _side_streams()[1]
        back.wait_event(done)
        self.host = _pinned(self.out.shape)
        self.out.get(stream=back, out=self.host, blocking=False)
        self.arrived = back.record()

    def upload(self, data: Array) -> Any:
        """A small array on the card, kept till the end; it does not wait for kernels that are running."""
        there = _side_streams()[0]
        with there:
            copied = cupy().asarray(np.ascontiguousarray(data))
        there.synchronize()
        self.held.append(copied)
        return copied

    def result(self) -> tuple[Array, Array, Array, Array]:
        """(Σn², Σ n log n, Σ row maxima, Σ column maxima), one entry a pair."""
        self.arrived.synchronize()
        sums = np.array(self.host)
        self.held.clear()
        whole = sums.astype(np.int64)
        best = np.where(self.turned[:, None], whole[:, [COLUMNS, ROWS]], whole[:, [ROWS, COLUMNS]])
        return whole[:, SQUARES], (sums[:, LOGS] + sums[:, REST] / 2**32) / self.scale, best[:, 0], best[:, 1]

    # tables in shared memory

    def _in_shared(self, x: Array, y: Array) -> Any:
        """A block counts a clustering against a few others; tables live only as long as their sums are taken."""
        cp = cupy()
        n, k = self.stack.n, self.stack.k
        threads = next(t for least, t in THREADS if n >= least)
        slots = card.facts()[0] * 1024 // threads
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
        # registers suffice for 1024 threads a multiprocessor, and its shared memory is divided among their blocks
        room = (_shared_bytes() + 1024) * threads // 1024 - 1024
        per = np.clip(room // bytes_each, 1, min(TABLES, max(1, len(x) // slots)))
        first = np.flatnonzero((np.arange(len(x)) - start[group]) % per[group] == 0)
        many = np.diff(np.append(first, len(x)))
        need = bytes_each[group[first]] * many
        out = cp.zeros((len(x), SUMS), np.uint64)
        rows = self.upload(np.stack([x, y]).astype(np.int32))
        items = np.column_stack([first, many, k[x[first]], k[y[first]]]).astype(np.int32)
        chunks = n * self.stack.codes.itemsize // 16
        count = kernel(f"fused<{ctype(self.stack.codes)}, {str(self.maxima).lower()}>")
        for chosen, block in ((need <= room, threads), (need > room, 1024)):
            if chosen.any():
                wide = min(block, max(32, 1 << int(max(chunks - 1, 0)).bit_length()))
                count(
                    (int(chosen.sum()),), (block,),
                    (*self.stack.arguments, rows[0], rows[1], self.upload(items[chosen]), _i32(wide), *self.logs, out),
                    shared_mem=int(need[chosen].max() + 15) // 16 * 16,
                )  # fmt: skip
        if order is None:
            return out
        back = cp.empty_like(out)
        back[self.upload(order)] = out
        return back

    def _in_parts(self, x: Array, y: Array, slots: int) -> Any:
        """Few pairs of many points: parts of the points add to tables in the card's memory, then sums are taken."""
        cp = cupy()
        offset = np.concatenate([[0], np.cumsum(self.stack.k[x] * self.stack.k[y])])
        rows, offsets = self.upload(np.stack([x, y]).astype(np.int32)), self.upload(offset)
        tables = cp.zeros(int(offset[-1]), np.uint32)
        _count(self.stack, self.k, rows, offsets, np.diff(offset), None, tables, slots)
        out = cp.zeros((len(x), SUMS), np.uint64)
        kernel(f"sums_of<{str(self.maxima).lower()}>")(
            (len(x),), (256,), (tables, offsets, self.k, rows[0], rows[1], *self.logs, out)
        )
        self.held.append(tables)
        return out

    # tables larger than shared memory

    def _in_slices(self, x: Array, y: Array) -> Any:
        """Points sorted by one clustering; a block owns some of its clusters, that is a slice of the table."""
        out = self._sliced(x, y)
        if self.maxima:
            out[:, COLUMNS] = self._sliced(y, x)[:, ROWS]
        return out

    def _sliced(self, x: Array, y: Array) -> Any:
        cp = cupy()
        n, k = self.stack.n, self.stack.k
        out = cp.zeros((len(x), SUMS), np.uint64)
        others = np.unique(y)
        others = others[np.argsort(-k[others], kind="stable")]
        room = max(16, int(SHARE * card.free_memory()) // (2 * n) // 16 * 16)
        sorted_rows = np.unique(x)
        for left in range(0, len(others), room):
            some = others[left : left + room]
            side_by_side = cp.empty((-(-len(some) // 16), n, 16), np.uint16)
            kernel(f"tiled<{ctype(self.stack.codes)}>")(
                (-(-n // 64), len(side_by_side)), (256,),
                (*self.stack.arguments, self.upload(some.astype(np.int32)), _i32(len(some)), side_by_side),
            )  # fmt: skip
            place = np.full(len(k), -1)
            place[some] = np.arange(len(some))
            at_once = max(1, min(SORTED_AT_ONCE, int(card.free_memory() // 2 // (8 * n))))
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

    def _against(self, block: Array, side_by_side: Any, widths: Array, wanted: Array) -> Any:
        """Sums of each clustering of the block with those of the tiles it is wanted with (block × tiles, true or false)."""
        n, members, each = self.stack.n, len(widths), np.arange(len(block))
        order, begin = _sorted_points(self.stack, block, self.upload)
        starts = self.upload(begin.astype(np.uint32))
        sizes = np.diff(begin, axis=1)
        sums = cupy().zeros((len(block), members, SUMS), np.uint64)
        done = np.zeros(len(block), dtype=np.int64)
        groups = _alike(widths, np.flatnonzero(wanted.any(axis=0)))
        # rows of about one size together, the largest first
        for smallest in (1 << np.arange(int(sizes.max()).bit_length()))[::-1]:
            last = (sizes >= smallest).sum(axis=1)
            points = int((begin[each, last] - begin[each, done]).sum())
            if not points:
                continue
            new = last > done
            largest, mean = int(sizes[each[new], done[new]].max()), points / int((last - done).sum())
            units = _units(begin, done, last, points)
            done = last
            for group in groups:
                # one launch for tiles of about one width, so that few large units do not leave the card idle
                some = np.concatenate([_against_tile(units[wanted[units[:, 0], tile]], tile) for tile in group])
                if not len(some):
                    continue
                bits, others, threads, cells = _slice_shape(int(widths[group[0] * 16]), largest, mean)
                name = f"sliced<{str(bits > 0).lower()}, {others}, {threads}, {str(self.maxima).lower()}>"
                kernel(name)(
                    (len(some), 16 // others), (threads,),
                    (side_by_side, _i64(n), _u32(cells), _i32(bits), order, starts, _i32(starts.shape[1]), self.upload(some),
                     *self.logs, _i32(members), sums),
                    shared_mem=4 * others * cells,
                )  # fmt: skip
        return sums


def _shared_bytes() -> int:
    """Shared memory for tables of one block."""
    return card.facts()[1] - 1024


def _pinned(shape: tuple[int, ...]) -> Array:
    import cupyx

    return np.asarray(cupyx.empty_pinned(shape, np.uint64))


def _sorted_points(stack: Stack, block: Array, upload: Callable[[Array], Any]) -> tuple[Any, Array]:
    """For each of these clusterings: its points sorted by cluster, largest first, and where each cluster starts."""
    cp = cupy()
    widest = int(stack.k[block].max())
    sizes = np.zeros((len(block), widest), dtype=np.int64)
    for line, row in enumerate(block.tolist()):
        sizes[line, : len(stack.sizes[row])] = stack.sizes[row]
    begin = np.zeros((len(block), widest + 1), dtype=np.int64)
    np.cumsum(np.sort(sizes, axis=1)[:, ::-1], axis=1, out=begin[:, 1:])
    by_size = cp.argsort(-upload(sizes), axis=1)
    place = cp.empty(by_size.shape, np.uint16)
    place[cp.arange(len(block))[:, None], by_size] = cp.arange(widest, dtype=np.uint16)[None, :]
    order = cp.empty((len(block), stack.n), np.uint32)
    for line, row in enumerate(block.tolist()):
        order[line] = cp.argsort(place[line][stack.codes[row, : stack.n]])
    return order, begin


def _units(begin: Array, first: Array, last: Array, points: int) -> Array:
    """Ranges of rows of about equal numbers of points: (clustering, first row, last row)."""
    target = int(np.clip(points // (card.facts()[0] * 32), 1 << 10, 1 << 18))
    found = [np.empty((0, 3))]
    for x, (r0, r1) in enumerate(zip(first.tolist(), last.tolist(), strict=True)):
        if r1 > r0:
            ends = begin[x, r0 + 1 : r1 + 1]
            cut = np.searchsorted(ends, np.arange(begin[x, r0], ends[-1], target), side="right")
            edges = np.unique(np.concatenate([cut, [0, r1 - r0]])) + r0
            found.append(np.column_stack([np.full(len(edges) - 1, x), edges[:-1], edges[1:]]))
    return np.concatenate(found).astype(np.int32)


def _alike(widths: Array, tiles: Array) -> list[list[int]]:
    """Tiles of 16 clusterings each, the widest first, in groups whose widest tables are about as wide."""
    groups: list[list[int]] = []
    for tile in tiles.tolist():
        if groups and widths[tile * 16] > 0.95 * widths[groups[-1][0] * 16]:
            groups[-1].append(tile)
        else:
            groups.append([tile])
    return groups


def _against_tile(units: Array, tile: int) -> Array:
    return np.column_stack([units, np.full(len(units), tile, dtype=np.int32)])


def _slice_shape(width: int, largest: int, mean: float) -> tuple[int, int, int, int]:
    """How rows of up to `largest` points are counted: bits of a hash or 0, others at a time, threads, cells of a row."""
    most = (_shared_bytes() // 4 - 4) // 8 * 8 + 4  # cells come in fours, an odd number of them
    bits = 0
    if width > min(DENSE * mean, most):
        bits = min(max(2, int(SLOTS * largest - 1).bit_length()), most.bit_length() - 1)
    cells = 4 * (-(-(1 << bits if bits else width) // 4) | 1)
    if cells > most or (bits and largest > 1 << bits):
        raise card.refusal(f"this card cannot count a cluster of {largest:,} points against {width:,} others")
    others = next((j for j in (16, 8, 4, 2) if j * cells <= ROW_SHARE * most), 1)
    wanted = 1.1 * mean * max(1, others // 4) / 4  # four points a thread, each with four of the others
    threads = next((t for t in (32, 64, 96, 128, 192, 256, 384) if t >= wanted), 512)
    return bits, others, threads, cells


# --- tables that are kept ---------------------------------------------------------------------------------------


def _count(stack: Stack, k: Any, rows: Any, offset: Any, cells: Array, mass: Any, tables: Any, slots: int) -> None:
    """Add the tables of pairs of rows to dense tables in the card's memory."""
    held = _shared_bytes() // tables.itemsize
    inside = cells[cells <= held]
    parts = int(np.clip(-(-2 * slots // max(1, len(cells))), 1, max(1, stack.n // SPLIT_POINTS)))
    threads = next(t for least, t in THREADS if stack.n >= least)
    kernel(f"count<{ctype(stack.codes)}, {'double' if mass is not None else 'u32'}>")(
        (len(cells), parts), (threads,),
        (*stack.arguments, k, rows[0], rows[1], offset, np.uint64(0) if mass is None else mass, _i32(held), tables),
        shared_mem=int(inside.max(initial=0)) * tables.itemsize,
    )  # fmt: skip


class Cells:
    """Non-zero cells of tables, counted on the card; clusterings are brought there once."""

    def __init__(self) -> None:
        self.stack: Stack | None = None
        self.labels: Sequence[Labels] = ()

    def __call__(
        self, labels: Sequence[Labels], width: Array, pair_i: Array, pair_j: Array, mass: Mass | None, dense: bool
    ) -> tuple[Array, Array, Array, Array]:
        """(pair, row, column, count) of all non-zero cells of these pairs."""
        cp = cupy()
        if self.stack is None or self.labels is not labels:
            self.stack, self.labels = _whole(labels), labels
        if self.stack is None:
            raise card.refusal(
                f"{len(labels)} clusterings of {len(labels[0]):,} points do not fit on the card together, and measures that "
                "need whole tables want them there (fewer at a time may fit)"
            )
        weights = None if mass is None else cp.asarray(mass.values, dtype=np.float64)
        if not dense:
            return self._by_sorting(width, pair_i, pair_j, weights, mass)
        sizes = width[pair_i] * width[pair_j]
        offset = np.concatenate([[0], np.cumsum(sizes)])
        tables = cp.zeros(int(offset[-1]), np.uint32 if mass is None else np.float64)
        rows = cp.asarray(np.stack([pair_i, pair_j]).astype(np.int32))
        slots = card.facts()[0] * 2
        _count(self.stack, cp.asarray(width.astype(np.int32)), rows, cp.asarray(offset), sizes, weights, tables, slots)
        where = cp.flatnonzero(tables)
        return cpu._placed(where.get(), _counts(tables[where].get(), mass), offset, width[pair_j])

    def _by_sorting(
        self, width: Array, pair_i: Array, pair_j: Array, weights: Any, mass: Mass | None
    ) -> tuple[Array, Array, Array, Array]:
        """The same where tables would be larger than the data: points sorted by cell, pair by pair."""
        cp = cupy()
        assert self.stack is not None
        n, found = self.stack.n, []
        for p, (i, j) in enumerate(zip(pair_i.tolist(), pair_j.tolist(), strict=True)):
            cell = self.stack.codes[i, :n].astype(np.int64) * int(width[j]) + self.stack.codes[j, :n]
            order = cp.argsort(cell) if weights is not None else None
            cell = cp.sort(cell) if order is None else cell[order]
            new = cp.ones(n, bool)
            new[1:] = cell[1:] != cell[:-1]
            start = cp.flatnonzero(new)
            if order is None:
                count = cp.diff(cp.append(start, n))
            else:
                count = cp.bincount(cp.cumsum(new) - 1, weights=weights[order])
            cells, counts = cell[start].get(), _counts(count.get(), mass)
            kept = counts > 0
            cells, counts = cells[kept], counts[kept]
            found.append((np.full(len(cells), p), cells // width[j], cells % width[j], counts))
        pair, row, col, count = (np.concatenate(part) for part in zip(*found, strict=True))
        return pair, row, col, count


def _counts(values: Array, mass: Mass | None) -> Array:
    return values if mass is not None and not mass.is_frequency else np.rint(values).astype(np.int64)


def _product(left: Sequence[Clustering], right: Sequence[Clustering], weights: Array) -> Array:
    """UᵀWV with all memberships side by side, in float64 (on these cards no slower than float32)."""
    cp = cupy()
    across = sum(c.k for c in left), sum(c.k for c in right)
    whole = cp.zeros(across)
    chunk = max(1, int(min(1 << 30, card.free_memory() // 4)) // (8 * sum(across)))
    alike = len(left) == len(right) and all(x is y for x, y in zip(left, right, strict=True))
    for start in range(0, len(weights), chunk):
        piece = slice(start, start + chunk)
        u = cp.hstack([_rows(c, piece) for c in left])
        v = u if alike else cp.hstack([_rows(c, piece) for c in right])
        whole += u.T @ (v * cp.asarray(weights[piece, None]))
    return np.asarray(whole.get())


def _rows(clustering: Clustering, piece: slice) -> Any:
    """Memberships of some points on the card, dense."""
    cp = cupy()
    if isinstance(clustering, Memberships):
        return clustering.card[piece] if clustering.card is not None else cp.asarray(clustering.dense(piece))
    codes = clustering.card.codes[piece] if clustering.card is not None else cp.asarray(clustering.codes[piece])
    return (codes[:, None] == cp.arange(clustering.k)[None, :]).astype(np.float64)


# --- expected mutual information --------------------------------------------------------------------------------


def _expected_all(every_size: Sequence[Array], runs: Sequence[Run], n: int) -> Callable[[Array, Array], Array]:
    """E[MI] of pairs of complete clusterings: one grid over all sizes that occur, or pair by pair, whichever is less."""
    cp = cupy()
    own = [distinct(sizes) for sizes in every_size]
    members = len(own)
    every = np.unique(np.concatenate([sizes for sizes, _ in own]))
    different = np.array([len(sizes) for sizes, _ in own], dtype=np.int64)
    by_pair = sum(float(different[r.i]) * different[r.first : r.last].sum() for r in runs)
    start = np.concatenate([[0], np.cumsum(different)])
    sizes, many = (np.concatenate([pair[x] for pair in own]) for x in (0, 1))
    if float(len(every)) ** 2 <= by_pair and 32 * members * len(every) <= card.free_memory():
        histogram = cp.zeros((members, len(every)))
        histogram[cp.asarray(np.repeat(np.arange(members), different)), cp.asarray(np.searchsorted(every, sizes))] = (
            cp.asarray(many)
        )
        values = cp.zeros((members, members))
        on_card = cp.asarray(every)
        rows = max(1, int(min(1 << 30, card.free_memory() // 4)) // (8 * len(every)))
        for first in range(0, len(every), rows):
            part = on_card[first : first + rows]
            grid = cp.empty((len(part), len(every)))
            kernel("expected_grid")(
                (-(-grid.size // 256),), (256,),
                (part, _i32(len(part)), on_card, _i32(len(every)), np.float64(n), grid),
            )  # fmt: skip
            values += histogram[:, first : first + rows] @ (grid @ histogram.T)
        on_host = values.get()
        return lambda i, j: np.asarray(on_host[i, j])
    tables = [cp.asarray(x) for x in (sizes, many, start)]

    def of_pairs(i: Array, j: Array) -> Array:
        out = cp.empty(len(i))
        rows = [cp.asarray(x.astype(np.int32)) for x in (i, j)]
        kernel("expected_pairs")((len(i),), (256,), (*tables, *rows, np.float64(n), out))
        return np.asarray(out.get())

    return of_pairs


# --- all that formulas need, tile by tile -----------------------------------------------------------------------

#: what sums of pairs suffice for
FUSED = {Pairs, Gram, Info, ChanceInfo, MemberInfo, MatrixSums, Maxima}


def statistics(
    members: Sequence[Clustering], runs: Sequence[Run], needs: set[type], *, mass: Mass | None = None,
    threads: int | None = None, progress: Progress | None = None, memory: float = MEMORY,
) -> Iterator[cpu.Counted]:  # fmt: skip
    """The statistics of these kinds for all pairs of the runs, tile by tile, as `cpu.statistics` gives them."""
    wanted = {Tables if need is Table else need for need in needs}
    hard = [c for c in members if isinstance(c, Labels)]
    whole = len(hard) == len(members) and not any(c.gaps for c in hard) and (mass is None or mass.is_frequency)
    with _in_memory():
        expected = None
        if whole and mass is None and wanted <= FUSED:
            yield from _fused_tiles(hard, runs, wanted, progress)
            return
        if ChanceInfo in wanted and whole:
            total = len(hard[0]) if mass is None else int(mass.values.sum())
            expected = _expected_all([cpu._sizes(c, mass) for c in hard], runs, total)
        counted = cpu._table_tiles(members, runs, mass, memory, cpu.default_threads(threads), Cells(), _product)
        yield from cpu._of_tables(counted, wanted, expected, progress)


def table_of(
    a: Clustering, b: Clustering, mass: Mass | None = None, threads: int | None = None
) -> tuple[Table, Tables]:
    """The table of one pair, with names, and the tile that holds it."""
    with _in_memory():
        return cpu.table_of(a, b, mass, threads, Cells(), _product)


def _fused_tiles(
    labels: Sequence[Labels], runs: Sequence[Run], wanted: set[type], progress: Progress | None
) -> Iterator[cpu.Counted]:
    """Sums of all pairs; while the card counts a tile, whoever reads this works on the one before."""
    n, maxima = len(labels[0]), Maxima in wanted
    stack = _whole(labels)
    sizes: Sequence[Array]
    if stack is not None:
        sizes, jobs = stack.sizes, _resident(stack, runs, maxima)
    else:
        blocks = _Blocks(labels)
        sizes, jobs = blocks.sizes(), blocks.sums(runs, maxima)
    own = cpu.Own(n, sizes)
    expected = _expected_all(sizes, runs, n) if ChanceInfo in wanted else None

    def finished(job: tuple[Array, Array, Sums]) -> cpu.Counted:
        pair_i, pair_j, sums = job
        counted = own.counted(pair_i, pair_j, wanted, *sums.result(), expected)
        if progress is not None:
            progress.add(len(pair_i))
        return counted

    waiting = None
    for job in jobs:
        if waiting is not None:
            yield finished(waiting)
        waiting = job
    if waiting is not None:
        yield finished(waiting)


def _resident(stack: Stack, runs: Sequence[Run], maxima: bool) -> Iterator[tuple[Array, Array, Sums]]:
    """Pairs of clusterings that are all on the card."""
    most = np.sort(stack.k)[-2:].prod()
    # large tables are counted by sorted points, and those are sorted anew in each tile: then all pairs are one
    cost = 0.0 if 4 * most > min(LARGEST, _shared_bytes()) else float(stack.n)
    for tile in tiles(runs, lambda i, j: np.full(len(j), cost), TILE):
        pair_i, pair_j = pairs_of(tile)
        yield pair_i, pair_j, Sums(stack, pair_i, pair_j, maxima)


class _Blocks:
    """More clusterings than the card holds: it has room for three blocks, and the next comes while two are counted."""

    def __init__(self, labels: Sequence[Labels]) -> None:
        self.n, kind = len(labels[0]), _kind(labels)
        bytes_each = self.n * np.dtype(kind).itemsize
        self.room = room = int(SHARE * card.free_memory()) // bytes_each // 3
        if room < 1:
            raise card.refusal(
                f"three clusterings of {self.n:,} points take {3 * bytes_each / 2**30:.3g} GB, and the card has "
                f"{card.free_memory() / 2**30:.3g} GB free"
            )
        self.codes = card.stack_for(3 * room, self.n, kind)
        cupy().cuda.get_current_stream().synchronize()
        self.labels = [labels[start : start + room] for start in range(0, len(labels), room)]
        self.there: dict[int, int] = {}  # block → third of the stack
        self.coming: dict[int, list[Any]] = {}
        self.used: dict[int, Any] = {}  # third → when the card is done with it
        self.known: dict[int, list[Array]] = {}

    def bring(self, block: int, keep: set[int]) -> None:
        """Begin to copy a block to a third that holds none of those to keep, if there is one."""
        if block in self.there:
            return
        third = next((third for third in range(3) if third not in self.there.values()), None)
        if third is None:
            old = next((old for old in self.there if old not in keep), None)
            if old is None:
                return
            third = self.there.pop(old)
            for copied in self.coming.pop(old, []):
                copied.result()
        if third in self.used:
            self.used[third].synchronize()
        self.there[block] = third
        at = slice(third * self.room, third * self.room + len(self.labels[block]))
        self.coming[block] = _fill(self.codes[at], self.labels[block])

    def wait(self, block: int) -> slice:
        """The rows of a block, once it is there."""
        first = self.there[block] * self.room
        at = slice(first, first + len(self.labels[block]))
        coming = self.coming.pop(block, [])
        if block not in self.known:
            self.known[block] = _arrived(self.codes[at], self.labels[block], coming)
        for copied in coming:
            copied.result()
        return at

    def sizes(self) -> list[Array]:
        """Sizes of the clusters of all clusterings, in a pass of their own."""
        for block in range(len(self.labels)):
            self.bring(block, {block})
            if block + 1 < len(self.labels):
                self.bring(block + 1, {block})
            self.wait(block)
        return [sizes for block in range(len(self.labels)) for sizes in self.known[block]]

    def sums(self, runs: Sequence[Run], maxima: bool) -> Iterator[tuple[Array, Array, Sums]]:
        """Pairs of one block with another."""
        pair_i, pair_j = pairs_of(runs)
        block_i, block_j = pair_i // self.room, pair_j // self.room
        order = sorted(set(zip(block_i.tolist(), block_j.tolist(), strict=True)))
        for number, (a, b) in enumerate(order):
            k = np.ones(3 * self.room, dtype=np.int64)
            sizes: list[Array] = [np.empty(0)] * (3 * self.room)
            for block in (a, b):
                self.bring(block, {a, b})
                at = self.wait(block)
                k[at], sizes[at] = [c.k for c in self.labels[block]], self.known[block]
            where = np.flatnonzero((block_i == a) & (block_j == b))
            i, j = pair_i[where], pair_j[where]
            first_a, first_b = self.there[a] * self.room, self.there[b] * self.room
            sums = Sums(Stack(self.codes, self.n, k, sizes), i % self.room + first_a, j % self.room + first_b, maxima)
            self.used[self.there[a]] = self.used[self.there[b]] = cupy().cuda.get_current_stream().record()
            following = order[number + 1] if number + 1 < len(order) else ()
            for block in following:
                self.bring(block, {a, b, *following})
            yield i, j, sums


# --- two clusterings by chance ----------------------------------------------------------------------------------


def draws_at_once(need: type, sizes: tuple[int, int], n: int, free: bool) -> int:
    """Draws of one batch, by the data alone, so that the same seed gives the same draws on every card."""
    k_a, k_b = sizes
    if not by_tables(k_a, k_b, n):
        return int(np.clip((1 << 27) // n, 1, 1024))
    if need in FUSED and not free:
        return int(np.clip((1 << 27) // k_b, 32, 1 << 14))
    return int(np.clip((1 << 26) // (k_a * k_b), 1, 1024))


def by_tables(k_a: int, k_b: int, n: int) -> bool:
    """Are the cells of tables drawn, or points permuted?"""
    return k_a * k_b <= DRAWN_CELLS * n


def random_statistic(need: type, a: Array, b: Array, seed: int, information: float | None = None) -> Any:
    """The statistic of pairs that are independent given their sizes (draws × clusters), drawn on the card.

    `information` is E[MI] where all draws have the same sizes.
    """
    with _in_memory():
        draws = len(a)
        fixed = [not x.strides[0] or draws == 1 for x in (a, b)]
        if need not in FUSED:
            tables = _random_sums(a, b, fixed, seed, False, True)[-1]
            return need.from_tables(as_tile(tables))  # type: ignore[attr-defined]
        sums = _random_sums(a, b, fixed, seed, need is Maxima, False)
        sizes = [line[line > 0] for x, same in zip((a, b), fixed, strict=True) for line in (x[:1] if same else x)]
        i = np.zeros(draws, dtype=np.int64) if fixed[0] else np.arange(draws)
        j = np.full(draws, len(sizes) - 1) if fixed[1] else np.arange(draws) + len(sizes) - draws
        n = int(sizes[0].sum())
        expected: Callable[[Array, Array], Array] | None = None
        if need is ChanceInfo and information is not None:
            expected = lambda i, _: np.full(len(i), information)  # noqa: E731
        elif need is ChanceInfo:
            runs = [Run(x, y, y + 1) for x, y in zip(i.tolist(), j.tolist(), strict=True)]
            expected = _expected_all(sizes, runs, n)
        return cpu.Own(n, sizes).counted(i, j, {need}, *sums[:4], expected).statistics[need]


def _random_sums(
    a: Array, b: Array, fixed: Sequence[bool], seed: int, maxima: bool, whole: bool
) -> tuple[Array, Array, Array, Array, Array]:
    """(Σn², Σ n log n, Σ row maxima, Σ column maxima) of random tables, and if wanted the tables (draws, k_a, k_b)."""
    cp = cupy()
    draws, n = len(a), int(a[0].sum())
    sides: list[Any] = []
    for x, same in zip((a, b), fixed, strict=True):
        there = cp.asarray(np.ascontiguousarray(x[:1] if same else x, dtype=np.uint32))
        sides += [there, _i32(x.shape[1]), _i32(0 if same else x.shape[1])]
    left = cp.empty((b.shape[1], draws), np.uint32)
    tops = cp.empty_like(left) if maxima else left
    sums, logs = cp.empty((draws, 3), np.uint64), cp.empty(draws)
    tables = cp.zeros((draws, a.shape[1], b.shape[1]), np.uint32) if whole else None
    kernel(f"random_tables<{str(maxima).lower()}>")(
        (-(-draws // DRAW_THREADS),), (DRAW_THREADS,),
        (np.uint64(seed), _i32(draws), _i64(n), *sides, left, tops, *_logs(n), sums, logs,
         np.uint64(0) if tables is None else tables),
    )  # fmt: skip
    squares, best_a, best_b = sums.get().astype(np.int64).T
    found = np.empty(0) if tables is None else tables.get().astype(np.int64)
    return squares, np.asarray(logs.get()), best_a, best_b, found


def permuted(a: Labels, b: Labels, orders: Iterable[Any]) -> Iterator[list[Labels]]:
    """a, then b in each of these orders (permutations × points, host or card), all on the card, batch by batch."""
    cp = cupy()
    n, kind = len(a), _kind([a, b])
    on_card = [c.card.codes if c.card is not None else cp.asarray(c.codes) for c in (a, b)]
    sizes = [cpu._sizes(c) for c in (a, b)]
    with _in_memory():
        for batch in orders:
            given = cp.asarray(batch)
            codes = card.stack_for(len(given) + 1, n, kind)
            codes[0, :n] = on_card[0]
            codes[1:, :n] = on_card[1][given]
            yield [
                Labels(None, card=card.Codes(codes, row, n, np.asarray(c.names), own))
                for row, (c, own) in enumerate([(a, sizes[0]), *[(b, sizes[1])] * len(given)])
            ]


def permuted_statistic(need: type, a: Labels, b: Labels, draws: int, seed: int) -> Iterator[Any]:
    """The statistic of a with so many random permutations of b, batch by batch."""
    kind = Tables if need is Table else need
    for members in permuted(a, b, permutations(len(a), draws, seed)):
        for tile in statistics(members, [Run(0, 1, len(members))], {need}):
            yield tile.statistics[kind]


def permutations(n: int, many: int, seed: int) -> Iterator[Any]:
    """Batches of random orders of n points, on the card: random keys, sorted. The orders follow from the seed alone."""
    cp = cupy()
    batch = max(1, min(many, int(card.free_memory() // 4 // (24 * n)), (1 << 27) // n))
    for start in range(0, many, batch):
        keys = cp.empty((min(batch, many - start), n), np.uint64)
        kernel("random_keys")((_key_blocks(n), len(keys)), (256,), (np.uint64(seed), _i64(start), _i64(n), keys))
        yield cp.argsort(keys, axis=1)


def _key_blocks(n: int) -> int:
    return max(1, min(256, n // 1024))


# --- agreement of points ----------------------------------------------------------------------------------------


class Points:
    """Complete clusterings on the card, a point a row: in how many of them two points are together."""

    def __init__(self, labels: Sequence[Labels]) -> None:
        cp = cupy()
        stack = _whole(labels)
        if stack is None:
            raise card.refusal(f"{len(labels)} clusterings of {len(labels[0]):,} points do not fit on the card")
        self.n, self.members = stack.n, len(labels)
        self.kind = ctype(stack.codes)
        packed = 4 // stack.codes.itemsize
        self.words = -(-self.members // packed)
        self.padding = self.words * packed - self.members
        self.labels = cp.empty((self.n, self.words * packed), stack.codes.dtype)
        kernel(f"by_point<{self.kind}>")(
            (-(-self.n // 32), -(-self.labels.shape[1] // 32)), (256,),
            (*stack.arguments, _i32(self.members), _i32(self.labels.shape[1]), self.labels),
        )  # fmt: skip

    def _run(self, rows: slice, many: Any, out: Any, shared: int) -> None:
        kind = "u64" if out.dtype == np.uint64 else ctype(out)
        high = rows.stop - rows.start
        kernel(f"agreement<{self.kind}, {kind}>")(
            (-(-self.n // 64), -(-high // 64)), (256,),
            (self.labels, _i32(self.words), _i64(self.n), _i64(rows.start), _i64(high), _i64(0), _i64(self.n),
             _i32(self.padding), np.uint64(0) if many is None else many, out),
            shared_mem=shared,
        )  # fmt: skip

    def counts(self, rows: slice) -> Any:
        """How many members put these points together with each point; uint8 or uint16, on the card."""
        out = cupy().empty((rows.stop - rows.start, self.n), np.uint8 if self.members <= 0xFF else np.uint16)
        self._run(rows, None, out, 0)
        return out

    def histogram(self, many: Array | None, progress: Progress) -> Array:
        """How many pairs of points are together in 0, 1, … all members; `many` says how often each point occurs."""
        cp = cupy()
        bins = cp.zeros(self.members + 1, np.uint64)
        often = None if many is None else cp.asarray(many, dtype=np.uint32)
        for start in range(0, self.n, 4096):
            rows = slice(start, min(start + 4096, self.n))
            self._run(rows, often, bins, 8 * (self.members + 1))
            cp.cuda.get_current_stream().synchronize()
            progress.add((rows.stop - rows.start) * (2 * self.n - rows.start - rows.stop + 1) // 2)
        return np.asarray(bins.get().astype(np.int64))
