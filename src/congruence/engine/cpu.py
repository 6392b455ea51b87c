"""Counting on the CPU: numpy while the work is small, compiled kernels in threads above that; the same integers."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from congruence.clustering import Clustering, Labels, Mass, Memberships, above, shifted
from congruence.engine.plan import MEMORY, Progress, Run, pairs_of, tiles
from congruence.numerics import distinct, expected_terms
from congruence.statistics import (
    Array,
    ChanceInfo,
    Gram,
    Info,
    InputError,
    MatrixSums,
    Maxima,
    MemberInfo,
    Pairs,
    Statistic,
    Table,
    Tables,
    xlogx,
)  # fmt: skip

#: increments, all calls together, after which loading the compiled kernels (half a second, once) pays; till then numpy
COMPILED_FROM = 10_000_000
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
    return (
        threads or len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else threads or os.cpu_count() or 1
    )


_counted = 0.0


def _use_kernels(increments: float) -> bool:
    """Is this work for the compiled kernels? Small work is, too, once there has been enough of it to load them."""
    global _counted
    if "congruence.engine.kernels" in sys.modules:
        return increments >= LOADED_FROM
    _counted += increments
    return _counted >= COMPILED_FROM


# --- one pair ---------------------------------------------------------------------------------------------------


#: (labels, numbers of clusters with gaps, pair_i, pair_j, mass, dense?) → non-zero cells: (pair, row, column, count)
Cells = Callable[[Sequence[Labels], Array, Array, Array, Mass | None, bool], tuple[Array, Array, Array, Array]]


def table_of(
    a: Clustering, b: Clustering, mass: Mass | None = None, threads: int | None = None,
    cells: Cells | None = None, product: Product | None = None,
) -> tuple[Table, Tables]:  # fmt: skip
    """The table of one pair, with names, and the tile that holds it; another engine gives `cells` or `product`."""
    if a.lazy:
        from congruence.engine import partials

        return partials.table_of(a, b, mass, threads)
    if isinstance(a, Labels) and isinstance(b, Labels) and mass is None and cells is None:
        counted = _count_in_place(a, b, default_threads(threads))
        if counted is not None:
            return counted, Tables.of(counted)
    _, _, tile = next(_table_tiles([a, b], [Run(0, 1, 2)], mass, MEMORY, default_threads(threads), cells, product))
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
    # numba has no common integer type for uint64 and the offset, so those labels stay with numpy
    signed = np.uint64 not in (x.dtype, y.dtype)
    if signed and _use_kernels(len(x)) and (counted := _count_sampled_range(x, y, threads)) is not None:
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
    return Table(row, col, dense[row, col], shifted(rows, low_a), shifted(columns, low_b), len(x))


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
        jobs = [
            partial(count_raw, x[start:stop], y[start:stop], low_a, low_b, k_a, k_b) for start, stop in pairwise(cuts)
        ]
        pieces = _in_threads(threads, jobs)
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


def _bincount(
    a: Array, b: Array, k_a: int, k_b: int, low_a: int = 0, low_b: int = 0, mass: Array | None = None
) -> Array:
    """The flat table of two vectors, by numpy, without a second copy of the input."""
    chunk = max(CHUNK, 4 * k_a * k_b)
    table = np.zeros(k_a * k_b, dtype=np.int64 if mass is None else np.float64)
    for start in range(0, len(a), chunk):
        piece = slice(start, start + chunk)
        place = above(a[piece], low_a) * k_b + above(b[piece], low_b)
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
    members: Sequence[Clustering], runs: Sequence[Run], mass: Mass | None, budget: float, threads: int,
    cells: Cells | None = None, product: Product | None = None,
) -> Iterator[tuple[Array, Array, _Tile]]:  # fmt: skip
    """Tables of all pairs of the runs, tile by tile."""
    if any(c.soft for c in members):
        yield from _soft_tiles(members, runs, mass, budget, product or _product)
        return
    labels = [c for c in members if isinstance(c, Labels)]
    n = len(labels[0])
    width = np.array([c.k + (c.gaps > 0) for c in labels], dtype=np.int64)
    stack: Array | None = None

    def price(i: int, j: Array) -> Array:
        return np.asarray(np.minimum(width[i] * width[j], np.maximum(n, DENSE_CELLS)) * 24.0)

    for tile in tiles(runs, price, budget):
        pair_i, pair_j = pairs_of(tile)
        dense = width[pair_i] * width[pair_j] <= max(n, DENSE_CELLS)
        if cells is not None:
            parts = cells(labels, width, pair_i, pair_j, mass, bool(dense.all()))
        elif dense.all():
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
    labels: Sequence[Labels],
    stack: Array | None,
    width: Array,
    pair_i: Array,
    pair_j: Array,
    mass: Mass | None,
    threads: int,
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
        jobs = [
            partial(count_blocks, stack, width, pair_i[p:q], pair_j[p:q], offset[p:q], given, flat)
            for p, q in pairwise(cuts)
        ]
        _in_threads(threads, jobs)
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
    return _placed(where, flat[where], offset, width[pair_j])


def _placed(where: Array, count: Array, offset: Array, across: Array) -> tuple[Array, Array, Array, Array]:
    """(pair, row, column, count) of cells of dense tables that lie one after the other."""
    pair = np.searchsorted(offset, where, side="right") - 1
    local = where - offset[pair]
    return pair, local // across[pair], local % across[pair], count


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
    labels: Sequence[Labels],
    pair_i: Array,
    pair_j: Array,
    mass: Mass | None,
    pair: Array,
    row: Array,
    col: Array,
    count: Array,
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


#: (members of the rows, of the columns, weights) → UᵀWV with all their memberships side by side
Product = Callable[[Sequence[Clustering], Sequence[Clustering], Array], Array]


def _soft_tiles(
    members: Sequence[Clustering], runs: Sequence[Run], mass: Mass | None, budget: float, product: Product
) -> Iterator[tuple[Array, Array, _Tile]]:
    """Tables N* = φ UᵀV of memberships (labels count as memberships of 0 and 1), a tile of pairs a product."""
    if any(c.gaps for c in members):
        raise InputError(
            "unassigned='drop' is not defined between memberships and labels with gaps; drop those points first"
        )
    n = len(members[0])
    k = np.array([c.k for c in members], dtype=np.int64)
    weights = np.ones(n) if mass is None else mass.values.astype(np.float64)
    if mass is None or not mass.is_frequency:
        weights = weights * (n / weights.sum())
    own_weights = weights if mass is not None and mass.is_frequency else weights**2
    total, own = float(weights.sum() if mass is not None and mass.is_frequency else n), float(own_weights.sum())
    crisp = np.array([isinstance(c, Labels) or c.is_crisp for c in members])
    columns = [_Columns(c, weights, own_weights) for c in members]
    for tile in tiles(runs, lambda i, j: k[i] * k[j] * 24.0, budget):
        pair_i, pair_j = pairs_of(tile)
        cells, grams = [], []
        for i, j, (row, col, value) in _products(members, k, pair_i, pair_j, weights, product):
            grams.append(_gram(columns[i], columns[j], value))
            cells.append((row, col, value * (total / value.sum())))
        row, col, count = (np.concatenate(x) for x in zip(*cells, strict=True))
        starts = np.concatenate([[0], np.cumsum([len(c[0]) for c in cells])])
        each = np.ones(len(cells))
        shapes = np.column_stack([k[pair_i], k[pair_j]])
        tables = Tables(row, col, count, starts, shapes, own * each, np.full(len(cells), int(total), dtype=np.int64))
        alike = [members[i].digest == members[j].digest for i, j in zip(pair_i, pair_j, strict=True)]
        same = np.where(crisp[pair_i] & crisp[pair_j], tables.identical, alike)
        same |= (shapes == 1).all(axis=1)  # all in one cluster: there is but one such partition
        both, same_a, same_b = (np.array(x) + own for x in zip(*grams, strict=True))
        gram = Pairs.from_squares(total * each, own * each, both, same_a, same_b, same)
        yield pair_i, pair_j, _Tile(replace(tables, same=same, gram=gram))


def _products(
    members: Sequence[Clustering], k: Array, pair_i: Array, pair_j: Array, weights: Array, product: Product
) -> Iterator[tuple[int, int, tuple[Array, Array, Array]]]:
    """(i, j, non-zero cells of UᵀWV): one dense product for the whole tile, or sparse ones where tables are large."""
    left, right = np.unique(pair_i), np.unique(pair_j)
    at_i, at_j = (np.concatenate([[0], np.cumsum(k[side])]) for side in (left, right))
    pairs = zip(pair_i.tolist(), pair_j.tolist(), strict=True)
    if int(at_i[-1]) * int(at_j[-1]) > MEMORY // 4:
        for i, j in pairs:
            cells = (_sparse(members[i]).T @ _sparse(members[j]).multiply(weights[:, None])).tocsr().tocoo()
            yield i, j, (cells.row, cells.col, cells.data)
        return
    whole = product([members[i] for i in left], [members[j] for j in right], weights)
    for i, j in pairs:
        x, y = at_i[np.searchsorted(left, i)], at_j[np.searchsorted(right, j)]
        block = whole[x : x + k[i], y : y + k[j]]
        row, col = np.nonzero(block)
        yield i, j, (row, col, block[row, col])


def _product(left: Sequence[Clustering], right: Sequence[Clustering], weights: Array) -> Array:
    """UᵀWV with all memberships side by side, a chunk of the points at a time."""
    across = sum(c.k for c in left), sum(c.k for c in right)
    whole = np.zeros(across)
    chunk = max(1, (32 << 20) // (8 * sum(across)))
    alike = len(left) == len(right) and all(x is y for x, y in zip(left, right, strict=True))
    for start in range(0, len(weights), chunk):
        piece = slice(start, start + chunk)
        u = np.hstack([_rows(c, piece) for c in left])
        v = u if alike else np.hstack([_rows(c, piece) for c in right])
        whole += u.T @ (v * weights[piece, None])
    return whole


def _rows(clustering: Clustering, piece: slice) -> Array:
    """Memberships of some points, dense; labels as 0 and 1."""
    if isinstance(clustering, Memberships):
        return clustering.dense(piece)
    codes = clustering.codes[piece]
    rows = np.zeros((len(codes), clustering.k))
    rows[np.arange(len(codes)), codes] = 1.0
    return rows


def _sparse(clustering: Clustering) -> Any:
    from scipy.sparse import csr_array

    if isinstance(clustering, Memberships):
        return csr_array(clustering.matrix)
    n = len(clustering)
    return csr_array((np.ones(n), clustering.codes, np.arange(n + 1)), shape=(n, clustering.k))


class _Columns:
    """One clustering as columns of memberships: the sums that its Gram matrix UUᵀ needs, over different points."""

    def __init__(self, clustering: Clustering, weights: Array, own_weights: Array) -> None:
        self.own_weights = own_weights
        if isinstance(clustering, Memberships):
            matrix = clustering.matrix
            squares = matrix.multiply(matrix) if hasattr(matrix, "tocsr") else matrix**2
            self.norms, margin = np.asarray(squares.sum(axis=1)).ravel(), np.asarray(matrix.T @ weights).ravel()
        else:
            self.norms = np.ones(len(clustering))
            margin = np.bincount(clustering.codes, weights=weights, minlength=clustering.k)
        self.together = float((margin**2).sum() - (own_weights * self.norms).sum())


def _gram(a: _Columns, b: _Columns, cells: Array) -> tuple[float, float, float]:
    """Σ over ordered pairs of different points: of P·Q, of P, of Q, for the Gram matrices P and Q."""
    both = float((cells**2).sum() - (a.own_weights * a.norms * b.norms).sum())
    return both, a.together, b.together


# --- all that formulas need, tile by tile -----------------------------------------------------------------------


def _fused_kinds(labels: Sequence[Labels]) -> set[type]:
    """What the fused kernel gives: sums always; maxima only while every table may be scanned cell by cell."""
    widest = max(c.k for c in labels)
    return {Pairs, Gram, Info, ChanceInfo, MemberInfo, MatrixSums} | (
        {Maxima} if widest**2 <= max(DENSE_CELLS, len(labels[0])) else set()
    )


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
    if members[0].lazy:
        from congruence.engine import partials

        yield from partials.statistics(members, runs, needs, mass, threads, progress)
        return
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
    yield from _of_tables(_table_tiles(members, runs, mass, memory, workers), wanted, expected, progress)


def _of_tables(
    tables: Iterator[tuple[Array, Array, _Tile]], wanted: set[type],
    expected: Callable[[Array, Array], Array] | None, progress: Progress | None,
) -> Iterator[Counted]:  # fmt: skip
    """The statistics of tiles of tables."""
    for pair_i, pair_j, tile in tables:
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
    if labels.card is not None and mass is None:
        return labels.card.sizes
    if mass is None and _use_kernels(len(labels.codes)):
        from congruence.engine.kernels import count_sizes

        return np.asarray(count_sizes(labels.codes, labels.k + 1)[: labels.k + (labels.gaps > 0)])
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
        jobs = [partial(one, x, y) for x, y in zip(i.tolist(), j.tolist(), strict=True)]
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
    own = Own(n, [_sizes(c) for c in labels])
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

                outputs = squares[at], logs[at], best_a[at], best_b[at]
                jobs.append((last - first, partial(fused, stack, k, run.i, first, last, nlogn, maxima, *outputs)))
        _run_counted(jobs, threads, progress)
        yield own.counted(pair_i, pair_j, wanted, squares, logs, best_a, best_b, expected)


class Own:
    """What each complete clustering has by itself, Σ size² and Σ size·log size; with sums of pairs it makes statistics."""

    def __init__(self, n: int, sizes: Sequence[Array]) -> None:
        self.n = n
        self.squares = np.array([int((x**2).sum()) for x in sizes])
        self.logs = np.array([float(xlogx(x).sum()) for x in sizes])

    def counted(
        self, pair_i: Array, pair_j: Array, wanted: set[type], squares: Array, logs: Array, best_a: Array, best_b: Array,
        expected: Callable[[Array, Array], Array] | None,
    ) -> Counted:  # fmt: skip
        """The statistics of pairs from their Σn², Σ n log n, and maxima where those are wanted."""
        square_a, square_b = self.squares[pair_i], self.squares[pair_j]
        a_decides, b_decides = squares == square_a, squares == square_b
        identical = a_decides & b_decides
        total = np.full(len(pair_i), self.n, dtype=np.int64)
        found: dict[type, Statistic] = {}
        for need in wanted & {Pairs, Gram}:
            found[need] = need.from_squares(total, total, squares, square_a, square_b, identical)  # type: ignore[attr-defined]
        if MatrixSums in wanted:
            found[MatrixSums] = MatrixSums.of_partitions(
                Pairs.from_squares(total, total, squares, square_a, square_b, identical), total, total
            )
        if wanted & {Info, ChanceInfo, MemberInfo}:
            info = Info.from_sums(total, self.logs[pair_i], self.logs[pair_j], logs, a_decides, b_decides, identical)
            found[Info], found[MemberInfo] = info, MemberInfo(info)
            if ChanceInfo in wanted:
                assert expected is not None
                found[ChanceInfo] = ChanceInfo.with_expected(info, expected(pair_i, pair_j))
        if Maxima in wanted:
            found[Maxima] = Maxima(total, best_a, best_b, identical)
        return Counted(pair_i, pair_j, total, found)


def _run_counted(jobs: Sequence[tuple[int, Callable[[], Any]]], threads: int, progress: Progress | None) -> None:
    """Run the jobs in threads and tell the progress, in pairs, as they end; Ctrl-C drops those not begun."""
    pool = ThreadPoolExecutor(threads)
    try:
        for pairs, future in [(pairs, pool.submit(job)) for pairs, job in jobs]:
            future.result()
            if progress is not None:
                progress.add(pairs)
    finally:
        pool.shutdown(cancel_futures=True)
