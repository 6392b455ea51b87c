"""Counting on the CPU: numpy while the work is small, compiled kernels in threads above that; the same integers."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from congruence.clustering import Clustering, Labels, Mass, Memberships
from congruence.engine.plan import MEMORY, Progress, Run, pairs_of, tiles
from congruence.numerics import distinct, expected_terms
from congruence.statistics import (
    Array, ChanceInfo, Gram, Info, InputError, Maxima, Pairs, Statistic, Table, Tables, xlogx,
)  # fmt: skip

#: increments above which the compiled kernels are loaded (half a second, once); below, numpy.bincount
COMPILED_FROM = 5_000_000
#: once they are loaded, they are used from here on
LOADED_FROM = 50_000
#: n·log n is looked up below this and computed above
LOOKUP = 1 << 20
#: points in one piece of a chunked numpy pass
CHUNK = 1 << 16
#: a table may be dense while it has no more cells than this, or than there are points
DENSE_CELLS = 1 << 16


def default_threads(threads: int | None) -> int:
    """How many threads to use: as many as asked for, else as many as there are cores to use."""
    if threads is not None and threads < 1:
        raise InputError(f"threads must be at least 1, not {threads}")
    return threads or len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else threads or os.cpu_count() or 1


def _use_kernels(increments: float) -> bool:
    loaded = "congruence.engine.kernels" in sys.modules
    return increments >= (LOADED_FROM if loaded else COMPILED_FROM)


# --- one pair ---------------------------------------------------------------------------------------------------


def table_of(a: Clustering, b: Clustering, mass: Mass | None = None, threads: int | None = None) -> tuple[Table, Tables]:
    """The table of one pair, with names, and the tile that holds it."""
    if isinstance(a, Labels) and isinstance(b, Labels) and mass is None:
        counted = _count_in_place(a, b, default_threads(threads))
        if counted is not None:
            return counted, Tables.of(counted)
    _, _, tile = next(_table_tiles([a, b], [Run(0, 1, 2)], mass, MEMORY, default_threads(threads)))
    table = next(tile.each())
    if tile.present is not None:
        rows, columns = (_picked(c.names, keep) for c, keep in zip((a, b), tile.present, strict=True))
    else:
        rows, columns = a.names, b.names
    return Table(table.row, table.col, table.count, rows, columns, table.own), tile.tables


def _picked(names: Any, keep: Array) -> Any:
    return names[keep] if isinstance(names, np.ndarray) else tuple(names[i] for i in keep)


def _count_in_place(a: Labels, b: Labels, threads: int) -> Table | None:
    """Count two raw integer vectors with small ranges without encoding them; None where that does not suit."""
    if a.values is None or b.values is None:
        return None
    x, y = a.values, b.values
    if _use_kernels(len(x)) and (counted := _count_sampled_range(x, y, threads)) is not None:
        low_a, low_b, dense = counted
    else:
        (low_a, high_a), (low_b, high_b) = a.limits, b.limits
        k_a, k_b = high_a - low_a + 1, high_b - low_b + 1
        if k_a * k_b > max(DENSE_CELLS, len(x)):
            return None
        dense = _bincount(x, y, k_a, k_b, low_a, low_b).reshape(k_a, k_b)
    rows, columns = np.flatnonzero(dense.any(axis=1)), np.flatnonzero(dense.any(axis=0))
    if len(rows) * len(columns) < dense.size:
        dense = dense[np.ix_(rows, columns)]
    row, col = np.nonzero(dense)
    return Table(row, col, dense[row, col], rows + low_a, columns + low_b, int(len(x)))


def _count_sampled_range(x: Array, y: Array, threads: int) -> tuple[int, int, Array] | None:
    """Guess the range from a sample and count in one pass; the kernel refuses labels outside, then look at them all."""
    from congruence.engine.kernels import count_raw

    step = max(1, len(x) // 4096)
    sampled = [(int(v[::step].min()), int(v[::step].max())) for v in (x, y)]
    for limits in (sampled, None):
        (low_a, high_a), (low_b, high_b) = limits or [(int(v.min()), int(v.max())) for v in (x, y)]
        k_a, k_b = high_a - low_a + 1, high_b - low_b + 1
        if k_a * k_b > max(DENSE_CELLS, len(x) // 4) or max(abs(low_a), abs(low_b)) > 2**62:
            continue
        cuts = np.linspace(0, len(x), (threads if len(x) > 2_000_000 else 1) + 1).astype(int)
        pieces = _in_threads(
            threads,
            [
                lambda s=slice(start, stop): count_raw(x[s], y[s], low_a, low_b, k_a, k_b)  # type: ignore[misc]
                for start, stop in zip(cuts[:-1], cuts[1:], strict=True)
            ],
        )
        if all(piece.size for piece in pieces):
            return low_a, low_b, np.sum(pieces, axis=0)
    return None


def _in_threads(threads: int, jobs: Sequence[Callable[[], Any]]) -> list[Any]:
    """Results of the jobs, in order; Ctrl-C drops those that have not begun."""
    if threads == 1 or len(jobs) == 1:
        return [job() for job in jobs]
    pool = ThreadPoolExecutor(min(threads, len(jobs)))
    try:
        return [future.result() for future in [pool.submit(job) for job in jobs]]
    finally:
        pool.shutdown(cancel_futures=True)


def _bincount(a: Array, b: Array, k_a: int, k_b: int, low_a: int = 0, low_b: int = 0, mass: Array | None = None) -> Array:
    """The flat table of two vectors, by numpy, without a second copy of the input."""
    chunk = max(CHUNK, 4 * k_a * k_b)
    table = np.zeros(k_a * k_b, dtype=np.int64 if mass is None else np.float64)
    base_a, base_b = a.dtype.type(low_a), b.dtype.type(low_b)
    for start in range(0, len(a), chunk):
        piece = slice(start, start + chunk)
        place = (a[piece] - base_a).astype(np.int64) * k_b + (b[piece] - base_b).astype(np.int64)
        table += np.bincount(place, weights=None if mass is None else mass[piece], minlength=k_a * k_b)
    return table


# --- tiles of tables --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Tile:
    """Tables of a tile and, where clusters vanished with dropped points, which are left (one pair only)."""

    tables: Tables
    present: tuple[Array, Array] | None = None

    def each(self) -> Iterator[Table]:
        return self.tables.each()


def _table_tiles(
    members: Sequence[Clustering], runs: Sequence[Run], mass: Mass | None, budget: float, threads: int
) -> Iterator[tuple[Array, Array, _Tile]]:
    """Tables of all pairs of the runs, tile by tile."""
    if any(c.soft for c in members):
        yield from _soft_tiles(members, runs, mass, budget)
        return
    labels = [c for c in members if isinstance(c, Labels)]
    n = len(labels[0])
    width = np.array([c.k + (c.gaps > 0) for c in labels], dtype=np.int64)
    stack: Array | None = None

    def cells(i: int, j: Array) -> Array:
        return np.minimum(width[i] * width[j], np.maximum(n, DENSE_CELLS)) * 24.0

    for tile in tiles(runs, cells, budget):
        pair_i, pair_j = pairs_of(tile)
        dense = width[pair_i] * width[pair_j] <= max(n, DENSE_CELLS)
        if dense.all():
            if stack is None and len(pair_i) > 1 and _use_kernels(float(n) * len(pair_i)):
                stack = _stacked(labels)
            parts = _dense_cells(labels, stack, width, pair_i, pair_j, mass, threads)
        else:
            parts = _sparse_cells(labels, width, pair_i, pair_j, mass)
        yield pair_i, pair_j, _assemble(labels, pair_i, pair_j, mass, *parts)


def _stacked(labels: Sequence[Labels]) -> Array:
    """All codes as one array, a clustering a row, in the widest of their types."""
    return np.stack([c.codes for c in labels]).astype(np.result_type(*[c.codes.dtype for c in labels]), copy=False)


def _dense_cells(
    labels: Sequence[Labels], stack: Array | None, width: Array, pair_i: Array, pair_j: Array, mass: Mass | None, threads: int
) -> tuple[Array, Array, Array, Array]:
    """Non-zero cells (pair, row, column, count), by dense tables side by side."""
    sizes = width[pair_i] * width[pair_j]
    offset = np.concatenate([[0], np.cumsum(sizes)])
    weights = None if mass is None else mass.values
    if stack is not None:
        from congruence.engine.kernels import count_blocks

        flat = np.zeros(offset[-1], dtype=np.int64 if weights is None else weights.dtype)
        given = np.empty(0, flat.dtype) if weights is None else weights
        cuts = np.linspace(0, len(pair_i), min(len(pair_i), 8 * threads) + 1).astype(int)
        _in_threads(
            threads,
            [
                lambda s=slice(p, q): count_blocks(stack, width, pair_i[s], pair_j[s], offset[s], given, flat)  # type: ignore[misc]
                for p, q in zip(cuts[:-1], cuts[1:], strict=True)
            ],
        )
    else:
        flat = np.concatenate(
            [
                _bincount(labels[i].codes, labels[j].codes, width[i], width[j], mass=weights)
                for i, j in zip(pair_i.tolist(), pair_j.tolist(), strict=True)
            ]
        )
        if mass is not None and mass.is_frequency:
            flat = flat.astype(np.int64)
    where = np.flatnonzero(flat)
    pair = np.searchsorted(offset, where, side="right") - 1
    local = where - offset[pair]
    across = width[pair_j][pair]
    return pair, local // across, local % across, flat[where]


def _sparse_cells(
    labels: Sequence[Labels], width: Array, pair_i: Array, pair_j: Array, mass: Mass | None
) -> tuple[Array, Array, Array, Array]:
    """The same where tables would be larger than the data: memory O(n) a pair."""
    found = []
    for p, (i, j) in enumerate(zip(pair_i.tolist(), pair_j.tolist(), strict=True)):
        a, b = labels[i].codes, labels[j].codes
        if mass is None and _use_kernels(len(a)):
            from congruence.engine.kernels import count_sorted

            row, col, count = count_sorted(a, b, int(width[i]), int(width[j]))
        else:
            key = a.astype(np.int64) * width[j] + b
            order = np.argsort(key, kind="stable")
            key = key[order]
            start = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]]))
            if mass is None:
                count = np.diff(np.append(start, len(key)))
            else:
                count = np.add.reduceat(mass.values[order], start)
            row, col = key[start] // width[j], key[start] % width[j]
            row, col, count = row[count > 0], col[count > 0], count[count > 0]
        found.append((np.full(len(row), p), row, col, count))
    pair, row, col, count = (np.concatenate(x) for x in zip(*found, strict=True))
    return pair, row, col, count


def _assemble(
    labels: Sequence[Labels], pair_i: Array, pair_j: Array, mass: Mass | None, pair: Array, row: Array, col: Array, count: Array
) -> _Tile:
    """Tables from cells: points in no cluster taken out, clusters without points closed up, weights scaled to mean 1."""
    k = np.array([c.k for c in labels], dtype=np.int64)
    shapes = np.column_stack([k[pair_i], k[pair_j]])
    total = len(labels[0]) if mass is None or not mass.is_frequency else int(mass.values.sum())
    n_used = np.full(len(pair_i), total, dtype=np.int64)
    weights = mass.values if mass is not None and not mass.is_frequency else None
    own: Array = n_used if weights is None else np.full(len(pair_i), float((weights**2).sum()))
    has_gaps = np.array([c.gaps > 0 for c in labels])
    present = None
    if has_gaps.any() or mass is not None:
        kept = (row < k[pair_i][pair]) & (col < k[pair_j][pair])
        pair, row, col, count = pair[kept], row[kept], col[kept], count[kept]
        if weights is not None:
            n_used, own = _used_under_gaps(labels, pair_i, pair_j, weights, has_gaps, n_used, own)
        elif has_gaps.any():
            n_used = np.bincount(pair, weights=count, minlength=len(pair_i)).astype(np.int64)
            own = n_used
        row, shape_a, keep_a = _closed_up(pair, row, shapes[:, 0])
        col, shape_b, keep_b = _closed_up(pair, col, shapes[:, 1])
        shapes = np.column_stack([shape_a, shape_b])
        present = (keep_a, keep_b) if len(pair_i) == 1 else None
    starts = np.searchsorted(pair, np.arange(len(pair_i) + 1))
    if weights is not None:
        scale = n_used / np.maximum(np.bincount(pair, weights=count, minlength=len(pair_i)), np.finfo(float).tiny)
        count, own = count * scale[pair], own * scale**2
    return _Tile(Tables(row, col, count, starts, shapes, own, n_used), present)


def _used_under_gaps(
    labels: Sequence[Labels], pair_i: Array, pair_j: Array, weights: Array, has_gaps: Array, n_used: Array, own: Array
) -> tuple[Array, Array]:
    """Weighted pairs with dropped points: how many points are left, and their Σw²."""
    n_used, own = n_used.copy(), own.copy()
    for p, (i, j) in enumerate(zip(pair_i.tolist(), pair_j.tolist(), strict=True)):
        if has_gaps[i] or has_gaps[j]:
            used = (labels[i].codes < labels[i].k) & (labels[j].codes < labels[j].k)
            n_used[p], own[p] = used.sum(), (weights[used] ** 2).sum()
    return n_used, own


def _closed_up(pair: Array, code: Array, k: Array) -> tuple[Array, Array, Array]:
    """Codes renumbered so that each pair has only clusters with points; their numbers; which codes were kept."""
    offset = np.concatenate([[0], np.cumsum(k)])
    seen = np.zeros(offset[-1], dtype=bool)
    seen[offset[:-1][pair] + code] = True
    rank = np.concatenate([[0], np.cumsum(seen)])
    left = rank[offset[1:]] - rank[offset[:-1]]
    place = offset[:-1][pair] + code
    return rank[place] - rank[offset[:-1]][pair], left, np.flatnonzero(seen)


# --- soft clusterings -------------------------------------------------------------------------------------------


def _soft_tiles(
    members: Sequence[Clustering], runs: Sequence[Run], mass: Mass | None, budget: float
) -> Iterator[tuple[Array, Array, _Tile]]:
    """Tables N* = φ UᵀV of memberships (labels count as memberships of 0 and 1), a run of pairs a product."""
    n = len(members[0])
    k = np.array([c.k for c in members], dtype=np.int64)
    if any(c.gaps for c in members):
        raise InputError("unassigned='drop' is not defined between memberships and labels with gaps; drop those points first")
    weights = np.ones(n) if mass is None else mass.values.astype(np.float64)
    total = float(n)
    if mass is not None and mass.is_frequency:
        own_weights, total = weights, float(weights.sum())
    else:
        weights = weights * (n / weights.sum())
        own_weights = weights**2
    column = [_Columns(c, weights, own_weights) for c in members]
    digests = [c.digest if isinstance(c, Memberships) else _crisp_digest(c) for c in members]
    own = own_weights.sum()
    for tile in tiles(runs, lambda i, j: k[i] * k[j] * 24.0, budget):
        pair_i, pair_j = pairs_of(tile)
        blocks = [(i, j, column[i].table(column[j])) for i, j in zip(pair_i.tolist(), pair_j.tolist(), strict=True)]
        row, col, count, starts = [], [], [], [0]
        for _, _, block in blocks:
            r, c = np.nonzero(block)
            row.append(r), col.append(c), count.append(block[r, c] * (total / block.sum()))
            starts.append(starts[-1] + len(r))
        same = np.array([digests[i] == digests[j] for i, j, _ in blocks])
        gram = Pairs.from_squares(
            np.full(len(blocks), total),
            np.full(len(blocks), own),
            *(np.array(x) + own for x in zip(*(_gram(column[i], column[j], block) for i, j, block in blocks), strict=True)),
            same,
        )
        yield pair_i, pair_j, _Tile(Tables(
            np.concatenate(row), np.concatenate(col), np.concatenate(count), np.array(starts),
            np.column_stack([k[pair_i], k[pair_j]]), np.full(len(blocks), own),
            np.full(len(blocks), int(total), dtype=np.int64), same, gram,
        ))  # fmt: skip


def _crisp_digest(labels: Labels) -> bytes:
    return Memberships(np.eye(labels.k)[labels.codes]).digest


class _Columns:
    """One clustering as columns of memberships, with the sums that Gram matrices need."""

    def __init__(self, clustering: Clustering, weights: Array, own_weights: Array) -> None:
        self.clustering, self.weights, self.own_weights = clustering, weights, own_weights
        self.norms = np.ones(len(clustering))
        if isinstance(clustering, Memberships):
            squares = clustering.matrix.multiply(clustering.matrix) if hasattr(clustering.matrix, "tocsr") else clustering.matrix**2
            self.norms = np.asarray(squares.sum(axis=1)).ravel()
        self.margin = self._margin()
        #: Σ over ordered pairs of different points of what the Gram matrix holds
        self.together = float((self.margin**2).sum() - (own_weights * self.norms).sum())

    def _margin(self) -> Array:
        c = self.clustering
        if isinstance(c, Memberships):
            return np.asarray(c.matrix.T @ self.weights).ravel()
        return np.bincount(c.codes, weights=self.weights, minlength=c.k)

    def table(self, other: _Columns) -> Array:
        """UᵀWV in float64, dense k × k; chunked over points unless both are sparse."""
        a, b = self.clustering, other.clustering
        out = np.zeros((a.k, b.k))
        chunk = max(1, (16 << 20) // (8 * (a.k + b.k)))
        for start in range(0, len(a), chunk):
            piece = slice(start, start + chunk)
            out += _rows(a, piece).T @ (_rows(b, piece) * self.weights[piece, None])
        return out


def _rows(clustering: Clustering, piece: slice) -> Array:
    if isinstance(clustering, Memberships):
        return clustering.dense(piece)
    codes = clustering.codes[piece]
    rows = np.zeros((len(codes), clustering.k))
    rows[np.arange(len(codes)), codes] = 1.0
    return rows


def _gram(a: _Columns, b: _Columns, block: Array) -> tuple[float, float, float]:
    """Σ over ordered pairs of different points: of P·Q, of P, of Q, for the Gram matrices P and Q."""
    both = float((block**2).sum() - (a.own_weights * a.norms * b.norms).sum())
    return both, a.together, b.together


# --- all that formulas need, tile by tile -----------------------------------------------------------------------


def _fused_kinds(labels: Sequence[Labels]) -> set[type]:
    """What the fused kernel gives: sums always; maxima only while every table may be scanned cell by cell."""
    widest = max(c.k for c in labels)
    return {Pairs, Gram, Info, ChanceInfo} | ({Maxima} if widest**2 <= max(DENSE_CELLS, len(labels[0])) else set())


@dataclass(frozen=True)
class Counted:
    """A tile of pairs and their statistics."""

    i: Array
    j: Array
    n_used: Array
    statistics: dict[type, Statistic]


def statistics(
    members: Sequence[Clustering], runs: Sequence[Run], needs: set[type], *, mass: Mass | None = None,
    threads: int | None = None, progress: Progress | None = None, memory: float = MEMORY,
) -> Iterator[Counted]:  # fmt: skip
    """The statistics of these kinds for all pairs of the runs, tile by tile."""
    wanted = {Tables if need is Table else need for need in needs}
    workers = default_threads(threads)
    hard = [c for c in members if isinstance(c, Labels)]
    pairs = sum(len(run) for run in runs)
    complete = len(hard) == len(members) and mass is None and not any(c.gaps for c in hard)
    whole = len(hard) == len(members) and not any(c.gaps for c in hard) and (mass is None or mass.is_frequency)
    expected = _expected_all(hard, runs, mass, workers) if ChanceInfo in wanted and whole and pairs > 1 else None
    if complete and pairs > 1 and wanted <= _fused_kinds(hard) and _use_kernels(float(len(hard[0])) * pairs):
        yield from _fused_tiles(hard, runs, wanted, expected, workers, progress)
        return
    for pair_i, pair_j, tile in _table_tiles(members, runs, mass, memory, workers):
        found: dict[type, Statistic] = {}
        for need in wanted:
            if need is ChanceInfo and expected is not None:
                found[need] = ChanceInfo.with_expected(Info.from_tables(tile.tables), expected(pair_i, pair_j))
            else:
                found[need] = need.from_tables(tile.tables)  # type: ignore[attr-defined]
        if progress is not None:
            progress.add(len(pair_i))
        yield Counted(pair_i, pair_j, tile.tables.n_used, found)


def _sizes(labels: Labels, mass: Mass | None = None) -> Array:
    counts = np.bincount(labels.codes, weights=None if mass is None else mass.values, minlength=labels.k)
    return counts.astype(np.int64)


def _expected_all(
    labels: Sequence[Labels], runs: Sequence[Run], mass: Mass | None, threads: int
) -> Callable[[Array, Array], Array]:
    """E[MI] of pairs of complete clusterings: one grid over all sizes that occur, if that is less work than pair by pair."""
    n = len(labels[0]) if mass is None else int(mass.values.sum())
    own = [distinct(_sizes(c, mass)) for c in labels]
    every = np.unique(np.concatenate([sizes for sizes, _ in own]))
    different = np.array([len(sizes) for sizes, _ in own], dtype=np.float64)
    by_pair = sum(different[r.i] * different[r.first : r.last].sum() for r in runs)
    if len(every) ** 2 / 2 <= by_pair and len(every) <= 8_000:
        from scipy.sparse import csr_array

        grid = expected_terms(every, every, n, threads)
        histogram = csr_array(
            (
                np.concatenate([many for _, many in own]),
                np.concatenate([np.searchsorted(every, sizes) for sizes, _ in own]),
                np.concatenate([[0], np.cumsum(different)]).astype(np.int64),
            ),
            shape=(len(labels), len(every)),
        )
        rows = sorted({r.i for r in runs})
        place = {i: p for p, i in enumerate(rows)}
        values = (histogram @ (histogram[rows] @ grid).T).T
        return lambda i, j: np.asarray(values[[place[x] for x in i.tolist()], j])

    def one(i: int, j: int) -> float:
        (a, many_a), (b, many_b) = own[i], own[j]
        return float(many_a @ expected_terms(a, b, n) @ many_b)

    def of_pairs(i: Array, j: Array) -> Array:
        jobs = [lambda x=x, y=y: one(x, y) for x, y in zip(i.tolist(), j.tolist(), strict=True)]  # type: ignore[misc]
        return np.array(_in_threads(threads, jobs))

    return of_pairs


def _fused_tiles(
    labels: Sequence[Labels], runs: Sequence[Run], wanted: set[type], expected: Callable[[Array, Array], Array] | None,
    threads: int, progress: Progress | None,
) -> Iterator[Counted]:  # fmt: skip
    """Sums of all pairs by the fused kernel: a table lives only while its own sums are taken."""
    from congruence.engine.kernels import fused

    n = len(labels[0])
    stack = _stacked(labels)
    k = np.array([c.k for c in labels], dtype=np.int64)
    size = [_sizes(c) for c in labels]
    own_squares = np.array([int((x**2).sum()) for x in size])
    own_logs = np.array([float(xlogx(x).sum()) for x in size])
    nlogn = xlogx(np.arange(min(n, LOOKUP) + 1))
    maxima = Maxima in wanted
    per_task = max(1, int(5_000_000 // n))
    for tile in tiles(runs, lambda i, j: np.full(len(j), 64.0), MEMORY):
        pair_i, pair_j = pairs_of(tile)
        many = len(pair_i)
        squares, logs = np.empty(many, np.int64), np.empty(many)
        best_a, best_b = (np.empty(many if maxima else 0, np.int64) for _ in range(2))
        jobs, start = [], 0
        for run in tile:
            for first in range(run.first, run.last, per_task):
                last = min(first + per_task, run.last)
                at = slice(start, start + last - first)
                start = at.stop

                def job(i: int = run.i, first: int = first, last: int = last, at: slice = at) -> int:
                    fused(stack, k, i, first, last, nlogn, maxima, squares[at], logs[at], best_a[at], best_b[at])
                    return last - first

                jobs.append(job)
        _run_counted(jobs, threads, progress)
        square_a, square_b = own_squares[pair_i], own_squares[pair_j]
        a_decides, b_decides = squares == square_a, squares == square_b
        identical = a_decides & b_decides
        total = np.full(many, n, dtype=np.int64)
        found: dict[type, Statistic] = {}
        for need in wanted & {Pairs, Gram}:
            found[need] = need.from_squares(total, total, squares, square_a, square_b, identical)  # type: ignore[attr-defined]
        if wanted & {Info, ChanceInfo}:
            info = Info.from_sums(total, own_logs[pair_i], own_logs[pair_j], logs, a_decides, b_decides, identical)
            found[Info] = info
            if ChanceInfo in wanted:
                assert expected is not None
                found[ChanceInfo] = ChanceInfo.with_expected(info, expected(pair_i, pair_j))
        if maxima:
            found[Maxima] = Maxima(total, best_a, best_b, identical)
        yield Counted(pair_i, pair_j, total, found)


def _run_counted(jobs: Sequence[Callable[[], int]], threads: int, progress: Progress | None) -> None:
    """Run the jobs in threads and tell the progress as they end."""
    pool = ThreadPoolExecutor(threads)
    try:
        for future in [pool.submit(job) for job in jobs]:
            done = future.result()
            if progress is not None:
                progress.add(done)
    finally:
        pool.shutdown(cancel_futures=True)
