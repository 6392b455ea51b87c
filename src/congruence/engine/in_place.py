"""One vector of integers against many, counted over their ranges, without encoding them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from congruence.engine.cpu import OF_SUMS, SUMMED, expected_all, listed, placed, statistics_of_tables
from congruence.engine.fused import LOOKUP, Own
from congruence.engine.plan import Counted, Progress, against_first, default_threads
from congruence.machine import jit
from congruence.statistics.information import ChanceInfo, Info, terms_below, unit_of, unit_of_points
from congruence.statistics.matrices import MemberInfo
from congruence.statistics.maxima import Maxima
from congruence.statistics.tables import Array, Table, Tables

#: points that are read at a time: larger arrays come from fresh pages every time, which costs as much as the counting
BLOCK = 1 << 14

#: most cells of one table over its ranges, and of all tables: with more, encoding the vectors is less work
CELLS, ALL_CELLS = 1 << 12, 1 << 17


@dataclass(frozen=True)
class Ranges:
    """The lowest integer of each vector, and the shape of the tables of the first vector and each of the others."""

    low: Array
    shape: tuple[int, int, int]

    @classmethod
    def of(cls, vectors: Sequence[Array]) -> Ranges | None:
        """The ranges of these vectors; None if they are too wide to count by distance."""
        ends = [(np.minimum.reduce(x, axis=1), np.maximum.reduce(x, axis=1)) for _, x in _blocks(vectors)]
        low, high = (np.concatenate(x) for x in zip(*ends, strict=True))
        if max(-int(low.min()), int(high.max())) > 2**62:
            return None
        spans = high - low + 1
        shape = len(vectors) - 1, int(spans[0]), int(spans[1:].max())
        return cls(low, shape) if shape[1] * shape[2] <= min(CELLS, ALL_CELLS // shape[0]) else None


def _blocks(vectors: Sequence[Array]) -> Iterator[tuple[slice, Array]]:
    """The vectors as rows of int64, some at a time, and which."""
    n = len(vectors[0])
    step = max(1, BLOCK // n)
    for start in range(0, len(vectors), step):
        some = slice(start, start + step)
        yield some, np.concatenate(vectors[some], dtype=np.int64).reshape(-1, n)


def counted_in_place(
    vectors: Sequence[Array], needs: set[type], threads: int | None = None, progress: Progress | None = None
) -> tuple[Array, Iterator[Counted]] | None:
    """The lowest integer of each vector, and the statistics of the first and each of the others; None if ranges are too wide."""
    wanted = {Tables if need is Table else need for need in needs}
    if wanted <= OF_SUMS.keys() and jit.use_pair_kernels(len(vectors) * len(vectors[0]), jit.REFERENCE_KERNELS):
        sums = _sums(vectors, Info in wanted)
        return (sums[-1], iter([_of_sums(len(vectors[0]), sums, wanted, progress)])) if sums[0].all() else None
    if jit.use_pair_kernels(len(vectors) * len(vectors[0]), jit.LISTING_KERNELS):
        coded = Coded.of(vectors)
        if coded is not None:
            return coded.low, _counted(coded, wanted, threads, progress)
    ranges = Ranges.of(vectors)
    return None if ranges is None else (ranges.low, _counted(Dense(vectors, ranges), wanted, threads, progress))


def _sums(vectors: Sequence[Array], entropies: bool) -> Array:
    """The sums of the first vector and each of the others, as in `statistics.pairs.Sums` without n, and the lowest labels."""
    from congruence.engine.reference_kernels import count_to

    n = len(vectors[0])
    unit = unit_of_points(n) if entropies else 0.0
    found = np.empty((len(vectors), 10), np.int64)
    first = np.ascontiguousarray(vectors[0], np.int64)
    for some, labels in _blocks(vectors):
        count_to(first, labels, unit, found[some])
    return np.ascontiguousarray(found.T)


def _of_sums(n: int, sums: Array, wanted: set[type], progress: Progress | None) -> Counted:
    """The statistics of each vector but the first by their sums."""
    cells, rows, columns, both, a, b, units_both, units_a, units_b = sums[:9, 1:]
    total, identical = np.full(len(cells), n), (cells == rows) & (rows == columns)
    if progress is not None:
        progress.add(len(cells))
    return Counted(np.zeros(len(cells), np.int64), np.arange(1, len(cells) + 1), total, {
        need: Info.from_units(total, units_a, units_b, units_both, identical) if need is Info
        else need.from_squares(total, total, both, a, b, identical)  # type: ignore[attr-defined]
        for need in wanted
    })  # fmt: skip


def _counted(
    given: Coded | Dense, wanted: set[type], threads: int | None, progress: Progress | None
) -> Iterator[Counted]:
    """The same from tables."""
    workers, many = default_threads(threads), given.many
    expected = None
    if ChanceInfo in wanted:
        expected = expected_all([x[x > 0] for x in given.sizes], against_first(many + 1), workers)
    pair_i, pair_j = np.zeros(many, np.int64), np.arange(1, many + 1)
    if wanted <= SUMMED:
        sums = given.sums(bool(wanted & {Info, ChanceInfo, MemberInfo}), Maxima in wanted)
        if progress is not None:
            progress.add(many)
        yield Own(given.n, given.sizes).counted(pair_i, pair_j, wanted, *sums, expected)
        return
    yield from statistics_of_tables(given.cells(pair_i, pair_j), wanted, expected, progress)


@dataclass(frozen=True)
class Coded:
    """The vectors for compiled loops: the lowest integers, the distances to them in bytes, and the lengths of the ranges."""

    low: Array
    codes: Array
    k: Array

    @classmethod
    def of(cls, vectors: Sequence[Array]) -> Coded | None:
        """The codes of these vectors; None if ranges are too wide."""
        from congruence.engine.listing_kernels import code

        many = len(vectors)
        low, k = np.empty(many, np.int64), np.empty(many, np.int64)
        codes = np.empty((many, len(vectors[0])), np.uint8)
        for some, labels in _blocks(vectors):
            code(labels, codes[some], low[some], k[some])
        return cls(low, codes, k) if k.all() else None

    @cached_property
    def sizes(self) -> Array:
        """How often each code occurs in each vector."""
        from congruence.engine.listing_kernels import tally_rows

        sizes = np.zeros((len(self.k), int(self.k.max())), np.int64)
        tally_rows(self.codes, sizes)
        return sizes

    @property
    def n(self) -> int:
        """Number of points."""
        return int(self.codes.shape[1])

    @property
    def many(self) -> int:
        """Number of tables."""
        return len(self.k) - 1

    def sums(self, logs: bool, maxima: bool) -> tuple[Array, Array, Array, Array]:
        """The sums of `fused`."""
        from congruence.engine.kernels import fused

        n, many = self.n, self.many
        squares, units = np.empty(many, np.int64), np.empty(many, np.int64)
        best = np.empty((2, many if maxima else 0), np.int64)
        known = terms_below(n, min(n, LOOKUP) + 1)
        fused(self.codes, self.k, 0, 1, many + 1, known, float(unit_of(n)), maxima, squares, units, best[0], best[1])
        return squares, units, best[0], best[1]

    def cells(self, pair_i: Array, pair_j: Array) -> Iterator[tuple[Array, Array, Tables]]:
        """The tables as lists of cells."""
        return listed(self.codes, self.k, pair_i, pair_j, 1)


class Dense:
    """Tables of the first vector and each of the others over their ranges, by numpy."""

    def __init__(self, vectors: Sequence[Array], ranges: Ranges) -> None:
        self.n, self.many, self.tables = len(vectors[0]), len(vectors) - 1, _tables(vectors, ranges)
        self.sizes = np.zeros((len(vectors), max(ranges.shape[1:])), np.int64)
        self.sizes[0, : ranges.shape[1]] = self.tables[0].sum(axis=1)
        self.sizes[1:, : ranges.shape[2]] = self.tables.sum(axis=1)

    def sums(self, logs: bool, maxima: bool) -> tuple[Array, Array, Array, Array]:
        """The same sums."""
        flat = self.tables.reshape(len(self.tables), -1)
        squares = np.einsum("ij,ij->i", flat, flat)
        units = terms_below(self.n, self.n + 1)[flat].sum(axis=1) if logs else squares
        best = [self.tables.max(axis=axis).sum(axis=1) if maxima else squares for axis in (2, 1)]
        return squares, units, best[0], best[1]

    def cells(self, pair_i: Array, pair_j: Array) -> Iterator[tuple[Array, Array, Tables]]:
        """The same lists, without clusters that have no points."""
        yield pair_i, pair_j, _listed(self.tables, self.sizes > 0, self.n)


def _tables(vectors: Sequence[Array], ranges: Ranges) -> Array:
    """The table of the first vector and each of the others, over their ranges."""
    _, wide, across = ranges.shape
    first = (vectors[0].astype(np.int64) - ranges.low[0]) * across
    low, found = ranges.low[1:], []
    for some, place in _blocks(vectors[1:]):
        place += (np.arange(len(place)) * (wide * across) - low[some])[:, None]
        place += first
        found.append(np.bincount(place.ravel(), minlength=len(place) * wide * across))
    return np.concatenate(found).reshape(ranges.shape)


def _listed(tables: Array, present: Array, n: int) -> Tables:
    """The same as a list of cells, without clusters that have no points."""
    many, wide, across = tables.shape
    flat = tables.ravel()
    where = flat.nonzero()[0]
    pair, row, col, count = placed(where, flat[where], wide * across * np.arange(many + 1), np.full(many, across))
    rank, points = present.cumsum(axis=1) - 1, np.full(many, n, dtype=np.int64)
    k = present.sum(axis=1)
    shapes = np.column_stack([np.full(many, k[0]), k[1:]])
    starts = np.searchsorted(pair, np.arange(many + 1))
    return Tables(rank[0, row], rank[1 + pair, col], count, starts, shapes, points, points)
