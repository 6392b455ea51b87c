"""Counting on a CUDA GPU: the same statistics as cpu.py, from the same integers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from queue import SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING

import numpy as np

from congruence.engine import cpu, fused, plan
from congruence.engine.cuda import sums as routes
from congruence.engine.cuda.slices import shared_bytes
from congruence.engine.cuda.stacks import SHARE, Stack, arrived, code_kind, fill, i32, i64, in_memory, whole_stack
from congruence.engine.cuda.sums import Sums, count_tables
from congruence.engine.plan import MEMORY, Progress, Run, pairs_of, tiles
from congruence.inputs.alignment import Mass
from congruence.inputs.kinds import Clustering
from congruence.inputs.labels import Labels
from congruence.machine import device
from congruence.machine.device import cupy, kernel
from congruence.statistics.information import ChanceInfo, Info, distinct, places
from congruence.statistics.matrices import MatrixSums, MemberInfo
from congruence.statistics.maxima import Maxima
from congruence.statistics.pairs import Gram, Pairs
from congruence.statistics.tables import Array, Table, Tables
from congruence.typing import DeviceArray

if TYPE_CHECKING:
    import cupy as cp

#: increments per tile of pairs; while the GPU counts the next tile, the host computes the measures of the last
TILE = 5e10

#: tables up to this many cells are copied whole: CuPy compiles half a second for the cells that are not 0, once per process
ON_HOST = 1 << 20

#: increments above which the pairs are distributed over all GPUs
DEALT_FROM = 1e11


class Cells:
    """Non-zero cells of tables, counted on the GPU; clusterings are copied there once."""

    def __init__(self) -> None:
        self.stack: Stack | None = None
        self.labels: Sequence[Labels] = ()

    def __call__(
        self, labels: Sequence[Labels], width: Array, pair_i: Array, pair_j: Array, mass: Mass | None, dense: bool
    ) -> tuple[Array, ...]:
        """(pair, row, column, count) of all non-zero cells of these pairs, and for weighted points the pairs within them."""
        cp = cupy()
        if self.stack is None or self.labels is not labels:
            self.stack, self.labels = whole_stack(labels), labels
        if self.stack is None:
            raise device.refusal(
                f"{len(labels)} clusterings of {len(labels[0]):,} points do not fit on the GPU together, but measures that "
                "need whole tables need all of them there (fewer clusterings may fit)"
            )
        weights = None if mass is None else cp.asarray(mass.values, dtype=np.float64)
        if not dense or (mass is not None and not mass.is_frequency):
            return self._by_sorting(width, pair_i, pair_j, weights, mass)
        sizes = width[pair_i] * width[pair_j]
        offset = np.concatenate([[0], np.cumsum(sizes)])
        tables = cp.zeros(int(offset[-1]), np.uint32 if mass is None else np.float64)
        rows = cp.asarray(np.stack([pair_i, pair_j]).astype(np.int32))
        slots = device.facts()[0] * 2
        count_tables(
            self.stack, cp.asarray(width.astype(np.int32)), rows, cp.asarray(offset), sizes, weights, tables, slots
        )
        if tables.size <= ON_HOST:
            whole = tables.get()
            found = np.flatnonzero(whole)
            return cpu.placed(found, _whole(whole[found]), offset, width[pair_j])
        where = cp.flatnonzero(tables)
        return cpu.placed(where.get(), _whole(tables[where].get()), offset, width[pair_j])

    def _by_sorting(
        self, width: Array, pair_i: Array, pair_j: Array, weights: DeviceArray, mass: Mass | None
    ) -> tuple[Array, ...]:
        """The same for weighted points, and for tables larger than the data: points sorted by cell, pair by pair."""
        cp = cupy()
        assert self.stack is not None
        n = self.stack.n
        found: list[tuple[Array, ...]] = []
        for p, (i, j) in enumerate(zip(pair_i.tolist(), pair_j.tolist(), strict=True)):
            cell = self.stack.codes[i, :n].astype(np.int64) * int(width[j]) + self.stack.codes[j, :n]
            order = cp.argsort(cell) if weights is not None else None
            cell = cp.sort(cell) if order is None else cell[order]
            new = cp.ones(n, bool)
            new[1:] = cell[1:] != cell[:-1]
            start = cp.flatnonzero(new)
            if order is None:
                counts = [cp.diff(cp.append(start, n)).get()]
            else:
                total, within = cp.empty(len(start)), cp.empty(len(start))
                kernel("weighted_cells")(
                    (len(start),), (128,), (order, start, i64(len(start)), i64(n), weights, total, within)
                )
                counts = [total.get(), within.get()] if mass and not mass.is_frequency else [_whole(total.get())]
            cells, kept = cell[start].get(), counts[0] > 0
            cells = cells[kept]
            found.append((np.full(len(cells), p), cells // width[j], cells % width[j], *(x[kept] for x in counts)))
        return tuple(np.concatenate(part) for part in zip(*found, strict=True))


def _whole(values: Array) -> Array:
    return np.rint(values).astype(np.int64)


def _product(left: Sequence[Clustering], right: Sequence[Clustering], weights: Array) -> Array:
    """UᵀWV with all memberships as columns, in float64 (on these GPUs as fast as float32)."""
    cp = cupy()
    across = sum(c.k for c in left), sum(c.k for c in right)
    whole = cp.zeros(across)
    chunk = max(1, int(min(1 << 30, device.free_memory() // 4)) // (8 * sum(across)))
    alike = len(left) == len(right) and all(x is y for x, y in zip(left, right, strict=True))
    for start in range(0, len(weights), chunk):
        piece = slice(start, start + chunk)
        u = cp.hstack([_rows(c, piece) for c in left])
        v = u if alike else cp.hstack([_rows(c, piece) for c in right])
        whole += u.T @ (v * cp.asarray(weights[piece, None]))
    return np.asarray(whole.get())


def _rows(clustering: Clustering, piece: slice) -> DeviceArray:
    """Memberships of some points on the GPU, dense."""
    cp = cupy()
    if clustering.soft:
        return (
            device.here(clustering.card[piece]) if clustering.card is not None else cp.asarray(clustering.dense(piece))
        )
    codes = clustering.card.codes[piece] if clustering.card is not None else cp.asarray(clustering.codes[piece])
    return (codes[:, None] == cp.arange(clustering.k)[None, :]).astype(np.float64)


# --- expected mutual information --------------------------------------------------------------------------------


def expected_all(every_size: Sequence[Array], runs: Sequence[Run], n: int) -> Callable[[Array, Array], Array]:
    """E[MI] of pairs of complete clusterings: one grid over all sizes that occur, or pair by pair, whichever is less.

    Sums run in the order of `statistics.information`, so they have the same bits.
    """
    cp = cupy()
    own = [distinct(sizes) for sizes in every_size]
    place, members = places(own), len(own)
    every = np.unique(np.concatenate([sizes for sizes, _ in own]))
    different = np.array([len(sizes) for sizes, _ in own], dtype=np.int64)
    by_pair = sum(float(different[r.i]) * different[r.first : r.last].sum() for r in runs)
    start = np.concatenate([[0], np.cumsum(different)])
    sizes, many = (np.concatenate([pair[x] for pair in own]) for x in (0, 1))
    there = [cp.asarray(x) for x in (many, start)]

    def ordered(i: Array, j: Array) -> list[DeviceArray]:
        inner, outer = np.where(place[i] > place[j], (j, i), (i, j))
        return [cp.asarray(x.astype(np.int32)) for x in (inner, outer)]

    if float(len(every)) ** 2 <= by_pair and 16 * members * len(every) <= device.free_memory():
        sums = cp.zeros((members, len(every)))
        at, on_card = cp.asarray(np.searchsorted(every, sizes)), cp.asarray(every)
        rows = max(1, int(min(1 << 30, device.free_memory() // 4)) // (8 * len(every)))
        wide = i64(len(every))
        for first in range(0, len(every), rows):
            part = on_card[first : first + rows]
            grid = cp.empty((len(part), len(every)))
            kernel("expected_grid")(
                (-(-grid.size // 256),), (256,),
                (part, i32(len(part)), on_card, i32(len(every)), np.float64(n), grid),
            )  # fmt: skip
            for some in device.parts(members):
                kernel("expected_rows")(
                    (-(-len(every) // 256), some.stop - some.start), (256,),
                    (grid, i64(first), i64(len(part)), wide, at, there[0], there[1][some.start :], sums[some]),
                )  # fmt: skip

        def of_grid(i: Array, j: Array) -> Array:
            out = cp.empty(len(i))
            kernel("expected_sums")(
                (-(-len(i) // 128),), (128,), (sums, wide, at, *there, *ordered(i, j), i32(len(i)), out)
            )
            return np.asarray(out.get())

        return of_grid
    given = cp.asarray(sizes)

    def of_pairs(i: Array, j: Array) -> Array:
        need = (different[i] + 1) * (different[j] + 1)
        room = max(int(need.max()), int(min(1 << 30, device.free_memory() // 4)) // 8)
        part = np.cumsum(need) // room
        found = []
        for number in np.unique(part):
            some = np.flatnonzero(part == number)
            offset = np.concatenate([[0], np.cumsum(need[some])])
            out = cp.empty(len(some))
            kernel("expected_pairs")(
                (len(some),), (256,),
                (given, *there, *ordered(i[some], j[some]), cp.asarray(offset), np.float64(n), cp.empty(int(offset[-1])), out),
            )  # fmt: skip
            found.append(out.get())
        return np.concatenate(found)

    return of_pairs


# --- statistics, tile by tile -----------------------------------------------------------------------------------

#: statistics that pair sums suffice for
FUSED = {Pairs, Gram, Info, ChanceInfo, MemberInfo, MatrixSums, Maxima}


def statistics(
    members: Sequence[Clustering], runs: Sequence[Run], needs: set[type], *, mass: Mass | None = None,
    threads: int | None = None, progress: Progress | None = None, memory: float = MEMORY,
) -> Iterator[plan.Counted]:  # fmt: skip
    """The statistics of these kinds for all pairs of the runs, tile by tile, as `cpu.statistics` gives them."""
    wanted = {Tables if need is Table else need for need in needs}
    hard = [c for c in members if isinstance(c, Labels)]
    whole = len(hard) == len(members) and not any(c.gaps for c in hard) and (mass is None or mass.is_frequency)
    whole = whole and not any(c.clusters is not None for c in hard)
    with in_memory():
        expected = None
        if whole and mass is None and wanted <= FUSED:
            yield from _dealt_tiles(hard, runs, wanted, progress)
            return
        if ChanceInfo in wanted and whole:
            total = len(hard[0]) if mass is None else int(mass.values.sum())
            expected = expected_all([cpu.cluster_sizes(c, mass) for c in hard], runs, total)
        counted = cpu.table_tiles(members, runs, mass, memory, plan.default_threads(threads), Cells(), _product)
        yield from cpu.statistics_of_tables(counted, wanted, expected, progress)


def table_of(
    a: Clustering, b: Clustering, mass: Mass | None = None, threads: int | None = None
) -> tuple[Table, Tables]:
    """The table of one pair, with names, and the tile that holds it."""
    with in_memory():
        return cpu.table_of(a, b, mass, threads, Cells(), _product)


def _dealt_tiles(
    labels: Sequence[Labels], runs: Sequence[Run], wanted: set[type], progress: Progress | None
) -> Iterator[plan.Counted]:
    """Sums of all pairs; if there are several GPUs and much to count, each counts some rows of the grid of pairs."""
    cards = device.cards()
    increments = float(len(labels[0])) * sum(len(run) for run in runs)
    if len(cards) == 1 or len(runs) == 1 or increments < DEALT_FROM:
        yield from _fused_tiles(labels, runs, wanted, progress)
        return

    def one(card: int, own: Sequence[Run], found: SimpleQueue[plan.Counted | BaseException | None]) -> None:
        try:
            with cupy().cuda.Device(card), in_memory():
                for counted in _fused_tiles(labels, own, wanted, None):
                    found.put(counted)
            found.put(None)
        except BaseException as error:  # raised again by the thread that waits
            found.put(error)

    waiting: list[SimpleQueue[plan.Counted | BaseException | None]] = []
    for card, own in zip(cards, dealt(runs, len(cards)), strict=True):
        waiting.append(SimpleQueue())
        Thread(target=one, args=(card, own, waiting[-1]), daemon=True).start()
    for queue in waiting:  # one GPU after the other, so that tiles always come in the same order
        while (counted := queue.get()) is not None:
            if isinstance(counted, BaseException):
                raise counted
            if progress is not None:
                progress.add(len(counted.i))
            yield counted


def dealt(runs: Sequence[Run], hands: int) -> list[list[Run]]:
    """Rows of the grid of pairs in this many groups with about equally many pairs; the longest rows are assigned first."""
    found: list[list[Run]] = [[] for _ in range(hands)]
    pairs = [0] * hands
    for run in sorted(runs, key=len, reverse=True):
        hand = pairs.index(min(pairs))
        found[hand].append(run)
        pairs[hand] += len(run)
    return [sorted(hand, key=lambda run: (run.i, run.first)) for hand in found]


def _fused_tiles(
    labels: Sequence[Labels], runs: Sequence[Run], wanted: set[type], progress: Progress | None
) -> Iterator[plan.Counted]:
    """Sums of all pairs; while the GPU counts a tile, the caller works on the previous one."""
    n, maxima = len(labels[0]), Maxima in wanted
    stack = whole_stack(labels)
    sizes: Sequence[Array]
    if stack is not None:
        sizes, jobs = stack.sizes, _resident(stack, runs, maxima)
    else:
        blocks = _Blocks(labels)
        sizes, jobs = blocks.sizes(), blocks.sums(runs, maxima)
    own = fused.Own(n, sizes)
    expected = expected_all(sizes, runs, n) if ChanceInfo in wanted else None

    def finished(job: tuple[Array, Array, Sums]) -> plan.Counted:
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
    """Pairs of clusterings that are all on the GPU."""
    most = np.sort(stack.k)[-2:].prod()
    # large tables are counted over sorted points, which each tile would sort again: count all pairs as one tile
    cost = 0.0 if 4 * most > min(routes.LARGEST, shared_bytes()) else float(stack.n)
    for tile in tiles(runs, lambda i, j: np.full(len(j), cost), TILE):
        pair_i, pair_j = pairs_of(tile)
        yield pair_i, pair_j, Sums(stack, pair_i, pair_j, maxima)


class _Blocks:
    """More clusterings than the GPU holds: it holds three blocks, and the next is copied while two are counted."""

    def __init__(self, labels: Sequence[Labels]) -> None:
        self.n, kind = len(labels[0]), code_kind(labels)
        bytes_each = self.n * np.dtype(kind).itemsize
        self.room = room = int(SHARE * device.free_memory()) // bytes_each // 3
        if room < 1:
            raise device.refusal(
                f"three clusterings of {self.n:,} points take {3 * bytes_each / 2**30:.3g} GB, but the GPU has "
                f"{device.free_memory() / 2**30:.3g} GB free"
            )
        self.codes = device.stack_for(3 * room, self.n, kind)
        cupy().cuda.get_current_stream().synchronize()
        self.labels = [labels[start : start + room] for start in range(0, len(labels), room)]
        self.there: dict[int, int] = {}  # block → third of the stack
        self.coming: dict[int, list[Future[None]]] = {}
        self.used: dict[int, cp.cuda.Event] = {}  # third → event after which the GPU no longer uses it
        self.known: dict[int, list[Array]] = {}

    def bring(self, block: int, keep: set[int]) -> None:
        """Start copying a block to a third of the stack that is not in use, if there is one."""
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
        self.coming[block] = fill(self.codes[at], self.labels[block])

    def wait(self, block: int) -> slice:
        """The rows of a block, once it is copied."""
        first = self.there[block] * self.room
        at = slice(first, first + len(self.labels[block]))
        coming = self.coming.pop(block, [])
        if block not in self.known:
            self.known[block] = arrived(self.codes[at], self.labels[block], coming)
        for copied in coming:
            copied.result()
        return at

    def sizes(self) -> list[Array]:
        """Sizes of the clusters of all clusterings, in a separate pass."""
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
