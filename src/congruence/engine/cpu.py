"""Counting on the CPU: by numpy for small work, by compiled kernels in threads for larger work, with the same integers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import cast

import numpy as np

from congruence.engine.cells import named_table, sorted_cells, tables_of, weighted_cells
from congruence.engine.fused import BLOCKED_FROM, fused_tiles, stacked
from congruence.engine.interface import Cells, Draws, Product
from congruence.engine.plan import (
    MEMORY,
    Counted,
    Progress,
    Run,
    default_threads,
    in_threads,
    pairs_of,
    tiles,
)
from congruence.engine.soft_tables import dense_product, soft_tiles
from congruence.inputs.alignment import Mass
from congruence.inputs.kinds import Clustering
from congruence.inputs.labels import Labels, above, limits_of, shifted, tally
from congruence.machine import jit
from congruence.statistics import Statistic
from congruence.statistics.canonical import canonical
from congruence.statistics.information import (
    MOST_IN_UNITS,
    ChanceInfo,
    Info,
    distinct,
    expected_of,
    expected_terms,
    in_order,
    places,
    sums_of_parts,
    unit_of_points,
    weighted_rows,
)
from congruence.statistics.matrices import MatrixSums, MemberInfo
from congruence.statistics.maxima import Maxima
from congruence.statistics.pairs import Gram, Pairs, Sums
from congruence.statistics.tables import Array, Table, Tables, table_of_cells

on_card = False
#: random pairs are drawn by the host
drawing: Draws | None = None

#: points per chunk of a numpy pass
CHUNK = 1 << 16

#: a table is dense up to this many cells, or as many cells as points
DENSE_CELLS = 1 << 16

#: bytes of the tables of a tile: arrays of more are given back to the system, and their pages are fresh every time
TILE = 2 << 20


def table_of(
    a: Clustering, b: Clustering, mass: Mass | None = None, threads: int | None = None,
    cells: Cells | None = None, product: Product | None = None,
) -> tuple[Table, Tables]:  # fmt: skip
    """The table of one pair, with names, and its tile; another engine passes `cells` or `product`."""
    if isinstance(a, Labels) and isinstance(b, Labels) and mass is None and cells is None:
        counted = count_in_place(a, b, threads)
        if counted is not None:
            return counted[0], in_one_order(counted[1])
    _, _, tables = next(table_tiles([a, b], [Run(0, 1, 2)], mass, MEMORY, default_threads(threads), cells, product))
    return named_table(tables, (a.names, b.names), 0 if mass is None else mass.exponent), in_one_order(tables)


# --- all that formulas need, tile by tile -----------------------------------------------------------------------


def in_one_order(t: Tables) -> Tables:
    """The tables with their clusters in an order that does not depend on that of the points."""
    return t if t.is_sorted else canonical(t)


#: statistics that follow from sums over the cells of each table
SUMMED = frozenset({Pairs, Gram, Info, ChanceInfo, MemberInfo, MatrixSums, Maxima})


def _fused_kinds(labels: Sequence[Labels]) -> frozenset[type]:
    """Statistics the fused kernel can compute: sums always; maxima only if every table can be scanned cell by cell."""
    widest = max(c.k for c in labels)
    return SUMMED if widest**2 <= max(DENSE_CELLS, len(labels[0])) else SUMMED - {Maxima}


def statistics(
    members: Sequence[Clustering], runs: Sequence[Run], needs: set[type], *, mass: Mass | None = None,
    threads: int | None = None, progress: Progress | None = None, memory: float = MEMORY,
) -> Iterator[Counted]:  # fmt: skip
    """The statistics of these kinds for all pairs of the runs, tile by tile."""
    wanted = {Tables if need is Table else need for need in needs}
    workers = default_threads(threads)
    hard = [c for c in members if isinstance(c, Labels)]
    pairs = sum(len(run) for run in runs)
    complete = len(hard) == len(members) and mass is None and not any(c.gaps or c.clusters is not None for c in hard)
    whole = len(hard) == len(members) and not any(c.gaps for c in hard) and (mass is None or mass.is_frequency)
    by_chance = ChanceInfo in wanted and whole and pairs > 1
    summed = complete and pairs > 1 and wanted <= _fused_kinds(hard) and jit.use_kernels(float(len(hard[0])) * pairs)
    sizes: list[Array] = []
    if by_chance or summed:
        sizes = in_threads(
            workers if len(hard[0]) >= BLOCKED_FROM else 1, [partial(cluster_sizes, c, mass) for c in hard]
        )
    expected = expected_all(sizes, runs, workers) if by_chance else None
    if summed:
        yield from fused_tiles(hard, sizes, runs, wanted, expected, workers, progress)
        return
    yield from statistics_of_tables(table_tiles(members, runs, mass, memory, workers), wanted, expected, progress)


def cluster_sizes(labels: Labels, mass: Mass | None = None) -> Array:
    """Number of points (or total frequency) per cluster."""
    if mass is None and labels.sizes is not None:
        return labels.sizes
    if mass is None and jit.use_kernels(len(labels.codes)):
        return np.asarray(jit.compiled(tally)(labels.codes, 0, labels.k + 1)[: labels.k + (labels.gaps > 0)])
    if mass is None:
        return np.bincount(labels.codes, minlength=labels.k).astype(np.int64, copy=False)
    counts = np.zeros(labels.k + (labels.gaps > 0), np.int64)
    np.add.at(counts, labels.codes, mass.values)
    return counts


def expected_all(sizes: Sequence[Array], runs: Sequence[Run], threads: int) -> Callable[[Array, Array], Array]:
    """E[MI] of pairs of complete clusterings: from one grid over all sizes, if that is less work than pair by pair."""
    n, own = int(sizes[0].sum()), [distinct(x) for x in sizes]
    every = np.unique(np.concatenate([sizes for sizes, _ in own]))
    different = np.array([len(sizes) for sizes, _ in own], dtype=np.float64)
    by_pair = sum(different[r.i] * different[r.first : r.last].sum() for r in runs)
    if len(every) ** 2 / 2 <= by_pair and len(every) <= 8_000:
        grid = expected_terms(every, every, n, threads)
        at = [np.searchsorted(every, sizes) for sizes, _ in own]
        rows = np.array(
            in_threads(threads, [partial(weighted_rows, grid[x], many) for x, (_, many) in zip(at, own, strict=True)])
        )
        place = places(own)

        def of_grid(i: Array, j: Array) -> Array:
            inner, outer = np.where(place[i] > place[j], (j, i), (i, j))
            out = np.empty(len(i))
            for x in np.unique(outer):
                pairs = np.flatnonzero(outer == x)
                out[pairs] = in_order(rows[np.ix_(inner[pairs], at[x])], own[x][1])
            return out

        return of_grid

    def of_pairs(i: Array, j: Array) -> Array:
        jobs = [partial(expected_of, own[x], own[y], n) for x, y in zip(i.tolist(), j.tolist(), strict=True)]
        return np.array(in_threads(threads, jobs))

    return of_pairs


def statistics_of_tables(
    tiles: Iterator[tuple[Array, Array, Tables]], wanted: set[type],
    expected: Callable[[Array, Array], Array] | None = None, progress: Progress | None = None,
) -> Iterator[Counted]:  # fmt: skip
    """The statistics of tiles of tables."""
    for pair_i, pair_j, tables in tiles:
        found: dict[type, Statistic] = {}
        cells = in_one_order(tables)
        for need in wanted:
            if need is ChanceInfo and expected is not None:
                found[need] = ChanceInfo.with_expected(Info.from_tables(cells), expected(pair_i, pair_j))
            else:
                found[need] = need.from_tables(cells)  # type: ignore[attr-defined]
        if progress is not None:
            progress.add(len(pair_i))
        yield Counted(pair_i, pair_j, tables.n_used, found)
        del tables, cells, found  # before the next are counted


# --- one pair, in numbers ---------------------------------------------------------------------------------------------

#: statistics that follow from sums, and whether these include entropies
OF_SUMS: dict[type, bool] = {Pairs: False, Gram: False, Info: True}


def sums_of(a: Array, b: Array, entropies: bool) -> Sums | None:
    """The sums of the table of two vectors of integers; None if their ranges are too wide to count by distance."""
    n = len(a)
    if jit.use_pair_kernels(n):
        from congruence.engine.pair_kernels import count_two

        unit = unit_of_points(n) if entropies else 0.0
        found = count_two(np.ascontiguousarray(a, np.int64), np.ascontiguousarray(b, np.int64), unit)
        return Sums(n, *found[:-1]) if found[0] else None
    counted = dense_in_place(a, b, None)
    if counted is None:
        return None
    table = counted[2]
    return sums_of_parts(n, table.ravel(), table.sum(axis=1), table.sum(axis=0), entropies)


def sums_of_table(n: int, cells: Array, margins: tuple[Array, Array], entropies: bool) -> Sums:
    """The sums of a table with these counts of cells and sizes of clusters."""
    if not jit.use_pair_kernels(len(cells), jit.TABLE_KERNELS):
        return sums_of_parts(n, cells, *margins, entropies)
    from congruence.engine.table_kernels import add_cells

    return Sums(n, *add_cells(cells, *margins, n, unit_of_points(n) if entropies else 0.0))


def statistics_of_one(t: Tables, kinds: Collection[type]) -> dict[type, Statistic]:
    """The statistics of these kinds of a tile of one pair: in numbers, if it is a table of counts and they follow from sums."""
    if t.count.dtype.kind not in "iu" or t.maps is not None or not 1 < t.n[0] < MOST_IN_UNITS:
        return {kind: kind.from_tables(t) for kind in kinds}  # type: ignore[attr-defined]
    sums = sums_of_table(int(t.n[0]), t.count, t.margins, Info in kinds or ChanceInfo in kinds)
    vars(t)["identical"] = np.array([sums.cells == sums.rows == sums.columns])
    asked = {Info, *kinds} if ChanceInfo in kinds else kinds
    found: dict[type, Statistic] = {
        kind: kind.of_sums(sums) if kind in OF_SUMS else kind.from_tables(t)  # type: ignore[attr-defined]
        for kind in asked if kind is not ChanceInfo
    }  # fmt: skip
    if ChanceInfo in kinds:
        found[ChanceInfo] = ChanceInfo.of_margins(cast("Info", found[Info]), *t.margins)
    return found


# --- tables of hard clusterings -----------------------------------------------------------------------------------


def count_in_place(a: Labels, b: Labels, threads: int | None) -> tuple[Table, Tables] | None:
    """Count two raw integer vectors with small ranges without encoding them; None if that is not possible."""
    if a.values is None or b.values is None:
        return None
    n = len(a)
    if jit.use_pair_kernels(n, jit.TABLE_KERNELS) and np.uint64 not in (a.values.dtype, b.values.dtype):
        from congruence.engine.table_kernels import cells_of_two

        x, y = np.ascontiguousarray(a.values, np.int64), np.ascontiguousarray(b.values, np.int64)
        found = cells_of_two(x, y, max(DENSE_CELLS, n))
        if not len(found):
            return None
        cells, k_a, k_b = found[:3].tolist()
        row, col, count = found[3 : 3 + 3 * cells].reshape(3, cells)
        rows, *margins = found[3 + 3 * cells : 3 + 3 * cells + 2 * k_a].reshape(2, k_a)
        columns, size = found[3 + 3 * cells + 2 * k_a :].reshape(2, k_b)
        margins.append(size)
    elif (counted := dense_in_place(a.values, b.values, threads)) is not None:
        low_a, low_b, dense = counted
        margins = [dense.sum(axis=1), dense.sum(axis=0)]
        rows, columns = (x.nonzero()[0] for x in margins)
        if len(rows) * len(columns) < dense.size:
            dense, margins = dense[np.ix_(rows, columns)], [margins[0][rows], margins[1][columns]]
        row, col = dense.nonzero()
        count, rows, columns = dense[row, col], shifted(rows, low_a), shifted(columns, low_b)
    else:
        return None
    table = table_of_cells(row, col, count, rows, columns, n)
    return (table, Tables.of(table, (margins[0], margins[1]))) if len(row) else None


def dense_in_place(x: Array, y: Array, threads: int | None) -> tuple[int, int, Array] | None:
    """The lowest labels of two integer vectors, and their table over the ranges; None if that has too many cells."""
    # numba has no common integer type for uint64 and the offset: use numpy
    loops = len(x) >= jit.LOADED_FROM and np.uint64 not in (x.dtype, y.dtype)
    workers = default_threads(threads) if loops or threads is not None else 1
    if loops and jit.use_kernels(len(x)) and (counted := _count_sampled_range(x, y, workers)) is not None:
        return counted
    (low_a, high_a), (low_b, high_b) = limits_of(x), limits_of(y)
    k_a, k_b = high_a - low_a + 1, high_b - low_b + 1
    if k_a * k_b > max(DENSE_CELLS, len(x)):
        return None
    return low_a, low_b, _bincount(x, y, k_a, k_b, low_a, low_b).reshape(k_a, k_b)


def _count_sampled_range(x: Array, y: Array, threads: int) -> tuple[int, int, Array] | None:
    """Guess the range from a sample and count in one pass; if the kernel finds labels outside, scan all of them."""
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
        pieces = in_threads(threads, jobs)
        if all(piece.size for piece in pieces):
            return low_a, low_b, np.sum(pieces, axis=0)
    return None


def _bincount(
    a: Array, b: Array, k_a: int, k_b: int, low_a: int = 0, low_b: int = 0, mass: Array | None = None
) -> Array:
    """The flat table of two vectors, by numpy, without a second copy of the input; frequencies add exactly."""
    chunk = max(CHUNK, 4 * k_a * k_b)
    table = np.zeros(k_a * k_b, dtype=np.int64)
    for start in range(0, len(a), chunk):
        piece = slice(start, start + chunk)
        place = above(a[piece], low_a) * k_b + above(b[piece], low_b)
        if mass is None:
            table += np.bincount(place, minlength=k_a * k_b)
        else:
            np.add.at(table, place, mass[piece])
    return table


def table_tiles(
    members: Sequence[Clustering], runs: Sequence[Run], mass: Mass | None, budget: float, threads: int,
    cells: Cells | None = None, product: Product | None = None,
) -> Iterator[tuple[Array, Array, Tables]]:  # fmt: skip
    """Tables of all pairs of the runs, tile by tile."""
    if any(c.soft for c in members):
        yield from soft_tiles(members, runs, mass, budget, product or dense_product)
        return
    labels = [c for c in members if isinstance(c, Labels)]
    n = len(labels[0])
    width = np.array([c.k + (c.gaps > 0) for c in labels], dtype=np.int64)
    complete = mass is None and not any(c.gaps or c.clusters is not None for c in labels)
    pairs = sum(len(run) for run in runs)
    compiled = cells is None and pairs > 1 and jit.use_kernels(float(n) * pairs)
    stack: Array | None = None

    def price(i: int, j: Array) -> Array:
        places = width[i] * width[j]
        listing = np.minimum(places, n) * (80.0 if compiled else 24.0)
        return np.asarray(listing + np.where(places <= max(n, DENSE_CELLS), places * 8.0, 0.0))

    for tile in tiles(runs, price, min(budget, TILE)):
        pair_i, pair_j = pairs_of(tile)
        dense = width[pair_i] * width[pair_j] <= max(n, DENSE_CELLS)
        if cells is not None:
            parts = cells(labels, width, pair_i, pair_j, mass, bool(dense.all()))
        elif dense.all():
            if stack is None and compiled:
                stack = stacked(labels)
            if stack is not None and complete:
                yield from listed(stack, width, pair_i, pair_j, threads)
                continue
            parts = _dense_cells(labels, stack, width, pair_i, pair_j, mass, threads)
        else:
            parts = _sparse_cells(labels, width, pair_i, pair_j, mass)
        yield pair_i, pair_j, _finished(labels, pair_i, pair_j, mass, parts)


#: increments that pay for a further thread and a further tile
PER_PART = 2_000_000


def listed(codes: Array, k: Array, pair_i: Array, pair_j: Array, threads: int) -> Iterator[tuple[Array, Array, Tables]]:
    """The tables of pairs of complete clusterings, listed by the kernel with the sizes of their clusters: a tile per thread."""
    from congruence.engine.listing_kernels import list_pairs

    n, most = codes.shape[1], np.minimum(k[pair_i] * k[pair_j], codes.shape[1])
    parts = max(1, min(threads, len(pair_i), len(pair_i) * n // PER_PART))
    cuts = np.linspace(0, len(pair_i), parts + 1).astype(int)
    pieces = [(pair_i[p:q], pair_j[p:q], int(most[p:q].sum())) for p, q in pairwise(cuts)]
    found = in_threads(threads, [partial(list_pairs, codes, k, *piece) for piece in pieces])
    for (i, j, _), (cells, sizes_a, sizes_b, ends) in zip(pieces, found, strict=True):
        row, col, count, place_a, place_b = cells[:, : ends[0, -1]]
        points = np.full(len(i), n, dtype=np.int64)
        made = Tables(row, col, count, ends[0], np.diff(ends[1:]).T, points, points)
        vars(made).update(n=points, _rows=(sizes_a, ends[1], place_a), _cols=(sizes_b, ends[2], place_b))
        yield i, j, made


def _dense_cells(
    labels: Sequence[Labels],
    stack: Array | None,
    width: Array,
    pair_i: Array,
    pair_j: Array,
    mass: Mass | None,
    threads: int,
) -> tuple[Array, ...]:
    """Non-zero cells (pair, row, column, count, and for weights within), by dense tables side by side."""
    sizes = width[pair_i] * width[pair_j]
    offset = np.concatenate([[0], np.cumsum(sizes)])
    weights = None if mass is None else mass.values
    if mass is not None and not mass.is_frequency:

        def one(i: int, j: int) -> tuple[Array, Array]:
            key = labels[i].codes.astype(np.int64) * width[j] + labels[j].codes
            return weighted_cells(key, mass.values, int(width[i] * width[j]))

        found = in_threads(threads, [partial(one, i, j) for i, j in zip(pair_i.tolist(), pair_j.tolist(), strict=True)])
        flat, within = (np.concatenate(x) for x in zip(*found, strict=True))
        where = np.flatnonzero(flat)
        return (*placed(where, flat[where], offset, width[pair_j]), within[where])
    if stack is not None:
        from congruence.engine.kernels import count_blocks

        flat = np.zeros(offset[-1], dtype=np.int64 if weights is None else weights.dtype)
        given = np.empty(0, flat.dtype) if weights is None else weights
        cuts = np.linspace(0, len(pair_i), min(len(pair_i), 8 * threads) + 1).astype(int)
        jobs = [
            partial(count_blocks, stack, width, pair_i[p:q], pair_j[p:q], offset[p:q], given, flat)
            for p, q in pairwise(cuts)
        ]
        in_threads(threads, jobs)
    elif mass is None and len(pair_i) > 1 and len(labels) * len(labels[0]) <= 64 * CHUNK:
        flat = _bincounts(labels, width, pair_i, pair_j, offset)
    else:
        flat = np.concatenate(
            [
                _bincount(labels[i].codes, labels[j].codes, width[i], width[j], mass=weights)
                for i, j in zip(pair_i.tolist(), pair_j.tolist(), strict=True)
            ]
        )
    where = np.flatnonzero(flat)
    return placed(where, flat[where], offset, width[pair_j])


def _bincounts(labels: Sequence[Labels], width: Array, pair_i: Array, pair_j: Array, offset: Array) -> Array:
    """The flat tables of many pairs of few points, by numpy, as many pairs at once as a chunk has points for."""
    codes = np.array([c.codes for c in labels], dtype=np.int64)
    step = max(1, 4 * CHUNK // codes.shape[1])
    found = []
    for start in range(0, len(pair_i), step):
        some = slice(start, start + step)
        last = min(start + step, len(pair_i))
        place = codes[pair_i[some]] * width[pair_j[some], None]
        place += codes[pair_j[some]] + (offset[start:last] - offset[start])[:, None]
        found.append(np.bincount(place.ravel(), minlength=offset[last] - offset[start]))
    return np.concatenate(found)


def placed(where: Array, count: Array, offset: Array, across: Array) -> tuple[Array, Array, Array, Array]:
    """(pair, row, column, count) of the non-zero cells of consecutive dense tables."""
    pair = np.repeat(np.arange(len(offset) - 1), np.diff(np.searchsorted(where, offset)))
    local, wide = where - offset[pair], across[pair]
    row = local // wide
    return pair, row, local - row * wide, count


def _sparse_cells(
    labels: Sequence[Labels], width: Array, pair_i: Array, pair_j: Array, mass: Mass | None
) -> tuple[Array, ...]:
    """The same if tables would be larger than the data: memory O(n) per pair."""
    weights = None if mass is None else mass.values
    found = []
    for p, (i, j) in enumerate(zip(pair_i.tolist(), pair_j.tolist(), strict=True)):
        cells = sorted_cells(labels[i].codes, labels[j].codes, int(width[i]), int(width[j]), weights)
        found.append((np.full(len(cells[0]), p), *cells))
    return tuple(np.concatenate(x) for x in zip(*found, strict=True))


def _finished(
    labels: Sequence[Labels], pair_i: Array, pair_j: Array, mass: Mass | None, cells: Sequence[Array]
) -> Tables:
    """Tables from cells, without points in no cluster and empty clusters."""
    k, gaps = (np.array([getattr(c, key) for c in labels], dtype=np.int64) for key in ("k", "gaps"))
    shapes = np.column_stack([k[pair_i], k[pair_j]])
    maps = used = own = None
    if any(c.clusters is not None for c in labels):
        maps = [(labels[i].clusters, labels[j].clusters) for i, j in zip(pair_i.tolist(), pair_j.tolist(), strict=True)]
    if mass is not None and not mass.is_frequency:
        used = np.full(len(pair_i), mass.points, dtype=np.int64)
        own = np.full(len(pair_i), float((mass.values**2).sum()))
        for p, (i, j) in enumerate(zip(pair_i.tolist(), pair_j.tolist(), strict=True)):
            if gaps[i] or gaps[j]:
                there = (labels[i].codes < k[i]) & (labels[j].codes < k[j])
                used[p], own[p] = there.sum(), (mass.values[there] ** 2).sum()
    elif mass is None and not gaps.any():  # all points are in a cluster, and all clusters have points
        pair, row, col, count = cells
        n = np.full(len(pair_i), len(labels[0]), dtype=np.int64)
        starts = np.searchsorted(pair, np.arange(len(pair_i) + 1))
        return Tables(row, col, count, starts, shapes, n, n, maps=maps)
    return tables_of(cells, shapes, used, own, maps)
