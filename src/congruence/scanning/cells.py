"""Tables of pairs of columns, which grow with new labels; columns with few labels are counted together."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from itertools import chain

import numpy as np

from congruence.engine.cells import merge_weighted, sorted_cells, weighted_cells
from congruence.engine.joint_codes import MOST, JointCodes, JointTables
from congruence.machine import jit
from congruence.statistics.tables import Array

#: of tables without cells
NONE: dict[type[np.number], Array] = {np.int64: np.empty(0, np.int64), np.float64: np.empty(0)}


class Cells:
    """The table of one pair: dense while it is small, else its sorted non-zero cells and a buffer of cells to merge.

    For weighted rows it also holds Σ w_p·w_q over the pairs of rows of each cell (`within`). Adding two of these takes
    one extra product.
    """

    __slots__ = ("dense", "dtype", "inside", "key", "many", "most", "total", "waiting", "weighted", "within")

    def __init__(self, dtype: type[np.number], most: float) -> None:
        self.dtype, self.most, self.weighted = dtype, most, bool(dtype == np.float64)
        self.clear()

    def clear(self) -> None:
        """Forget all cells."""
        dtype = self.dtype
        self.dense: Array | None = np.zeros((0, 0), dtype)
        self.within = np.zeros((0, 0)) if self.weighted else None
        self.key, self.total, self.inside = NONE[np.int64], NONE[dtype], NONE[np.float64]
        self.waiting: list[tuple[Array, Array, Array]] = []
        self.many = 0

    @property
    def size(self) -> int:
        """Size in bytes."""
        cells = self.dense.nbytes if self.dense is not None else 16 * (len(self.key) + self.many)
        return 2 * cells if self.weighted else cells

    @property
    def number(self) -> int:
        """Number of cells, at most."""
        return self.dense.size if self.dense is not None else len(self.key) + self.many

    def _shape(self, wide: int, across: int) -> tuple[int, int] | None:
        """The shape to grow to, if this many codes do not fit in the dense table."""
        if self.dense is None or (wide <= self.dense.shape[0] and across <= self.dense.shape[1]):
            return None
        rows, columns = self.dense.shape
        return wide + wide // 4 if wide > rows else rows, across + across // 4 if across > columns else columns

    def growth(self, wide: int, across: int) -> int:
        """Bytes that `fit` will add."""
        shape = self._shape(wide, across)
        if shape is None or self.dense is None or shape[0] * shape[1] > self.most:
            return 0
        return (shape[0] * shape[1] - self.dense.size) * (16 if self.weighted else 8)

    def fit(self, wide: int, across: int) -> None:
        """Grow to this many codes on both sides."""
        shape, old, inside = self._shape(wide, across), self.dense, self.within
        if shape is None or old is None:
            return
        if shape[0] * shape[1] > self.most:
            row, col = np.nonzero(old)
            self.dense = self.within = None
            self.put(row, col, old[row, col], None if inside is None else inside[row, col])
            return
        self.dense = np.zeros(shape, self.dtype)
        self.dense[: old.shape[0], : old.shape[1]] = old
        if inside is not None:
            self.within = np.zeros(shape)
            self.within[: old.shape[0], : old.shape[1]] = inside

    def put(self, row: Array, col: Array, count: Array, within: Array | None = None) -> None:
        """Add these cells."""
        if self.dense is not None and self.within is not None:
            place = row.astype(np.int64) * self.dense.shape[1] + col
            merge_weighted(place, count, within, self.dense.ravel(), self.within.ravel())
            return
        if self.dense is not None:
            np.add.at(self.dense, (row, col), count)
            return
        if not len(row):
            return
        inside = within if within is not None else np.empty(0)
        self.waiting.append(((row.astype(np.int64) << 32) | col.astype(np.int64), count, inside))
        self.many += len(row)
        if self.many > max(len(self.key), 1 << 16):
            self.settle()

    def settle(self) -> None:
        """Merge the buffered cells, after those there; cells of the same key keep their order."""
        if not self.waiting:
            return
        first = self.waiting[0][0]
        if not len(self.key) and len(self.waiting) == 1 and (first[1:] > first[:-1]).all():  # nothing to merge
            self.key, total, self.inside = self.waiting.pop()
            self.total, self.many = total.astype(self.dtype), 0
            return
        more = np.unique(np.concatenate([key for key, _, _ in self.waiting]))
        if len(self.key):
            at = np.searchsorted(self.key, more)
            new = self.key[np.minimum(at, len(self.key) - 1)] != more
            more, at = more[new], at[new] + np.arange(np.count_nonzero(new))  # places of the new keys after merging
            old = np.ones(len(self.key) + len(more), bool)
            old[at] = False
            key = np.empty(len(old), np.int64)
            key[at], key[old] = more, self.key
            total = np.zeros(len(old), self.dtype)
            total[old] = self.total
            self.key, self.total = key, total
            if self.weighted:
                inside = np.zeros(len(old))
                inside[old] = self.inside
                self.inside = inside
        else:
            self.key, self.total = more, np.zeros(len(more), self.dtype)
            self.inside = np.zeros(len(more) if self.weighted else 0)
        while self.waiting:
            key, count, within = self.waiting.pop(0)
            where = np.searchsorted(self.key, key)
            if self.weighted:
                merge_weighted(where, count, within, self.total, self.inside)
            else:
                np.add.at(self.total, where, count)
        self.many = 0

    def count(self, a: Array, b: Array, wide: int, across: int, mass: Array | None) -> None:
        """Add the points of a batch."""
        self.fit(wide, across)
        if self.dense is None or (self.weighted and self.dense.size > len(a)):
            self.put(*sorted_cells(a, b, wide, across, mass))
        elif self.weighted and mass is not None:
            assert self.within is not None
            place = a.astype(np.int64) * self.dense.shape[1] + b
            counted = weighted_cells(place, mass, self.dense.size)
            merge_weighted(np.arange(self.dense.size), *counted, self.dense.ravel(), self.within.ravel())
        elif jit.use_kernels(len(a)):
            from congruence.engine.kernels import count_mass, count_more

            if mass is None:
                count_more(a, b, self.dense)
            else:
                count_mass(a, b, mass, self.dense)
        else:
            place = a.astype(np.int64) * self.dense.shape[1] + b
            flat = self.dense.ravel()
            if mass is None:
                flat += np.bincount(place, minlength=flat.size)
            else:
                np.add.at(flat, place, mass)

    def add(self, table: Array) -> None:
        """Add a dense table of counts."""
        self.fit(*table.shape)
        if self.dense is not None:
            self.dense[: table.shape[0], : table.shape[1]] += table
            return
        row, col = np.nonzero(table)
        self.put(row, col, table[row, col].astype(self.dtype))

    def scale(self, exponent: int) -> None:
        """Divide the weights so far by 2**exponent."""
        self.settle()
        self.total, self.inside = np.ldexp(self.total, -exponent), np.ldexp(self.inside, -2 * exponent)
        if self.dense is not None and self.within is not None:
            self.dense, self.within = np.ldexp(self.dense, -exponent), np.ldexp(self.within, -2 * exponent)

    def cells(self) -> tuple[Array, Array, Array, Array]:
        """Its non-zero cells, row after row: row, column, count, and the sums within for weighted rows."""
        none = np.empty(0)
        if self.dense is not None:
            row, col = np.nonzero(self.dense)
            inside = none if self.within is None else self.within[row, col]
            return row.astype(np.int32), col.astype(np.int32), self.dense[row, col], inside
        self.settle()
        there = self.total != 0
        key = self.key[there]
        inside = self.inside[there] if self.weighted else none
        return (key >> 32).astype(np.int32), (key & 0xFFFFFFFF).astype(np.int32), self.total[there], inside


# --- columns with few labels --------------------------------------------------------------------------------------


#: most cells of the tables of groups of columns, and points that they count before they are split
MOST_CELLS, MOST_POINTS = 1 << 23, 1 << 31

#: bytes of memory per cell of these tables, so that they take a small part of it
SHARE = 64


class JointCounts:
    """Tables of groups of columns with few labels, and the tables of pairs of columns to which they are added at the end.

    `limit` is the memory of this thread, in bytes.
    """

    def __init__(self, pairs: Sequence[tuple[int, int]], tables: Sequence[Cells], limit: float) -> None:
        self.pairs, self.tables, self.most = pairs, tables, min(MOST_CELLS, limit / SHARE)
        self.widths: list[int] = []
        self.counts: JointTables | None = None
        #: the columns that are counted together, and the positions of their pairs
        self.columns: list[int] = []
        self.places: set[int] = set()

    @property
    def nbytes(self) -> int:
        """Bytes of the tables of groups."""
        return 0 if self.counts is None else self.counts.counts.nbytes

    def count(self, codes: Sequence[Array], widths: list[int], fit: Callable[[int], object]) -> Collection[int]:
        """Count a batch; returns the positions of the pairs that it counts. `fit` makes room in the table of a pair."""
        n = len(codes[0])
        if widths != self.widths or (self.counts is not None and self.counts.n + n > MOST_POINTS):
            if not jit.use_kernels(float(n) * len(self.pairs)):
                return ()
            self.settle()
            self._begin(widths)
            for place in self.places:
                fit(place)
        if self.counts is not None:
            self.counts.add(self.counts.joint.encoded([codes[c] for c in self.columns]))
        return self.places

    def _begin(self, widths: list[int]) -> None:
        """Form groups of the columns with few codes, if that pays."""
        self.widths, self.counts, self.places = widths, None, set()
        self.columns = [c for c in sorted({*chain.from_iterable(self.pairs)}) if widths[c] <= MOST]
        inside = {*self.columns}
        places = {p for p, pair in enumerate(self.pairs) if inside.issuperset(pair)}
        if len(self.columns) < 3 or 2 * len(places) < len(self.columns) * (len(self.columns) - 1):
            return
        joint = JointCodes([widths[c] for c in self.columns], MOST**2)
        if joint.pays and joint.cells <= self.most:
            self.counts, self.places = JointTables(joint), places

    def settle(self) -> None:
        """Add the counts so far to the tables of the pairs."""
        if self.counts is None or not self.counts.n:
            return
        found, at = self.counts.split(), {column: x for x, column in enumerate(self.columns)}
        for place in self.places:
            i, j = self.pairs[place]
            self.tables[place].add(found[at[i], at[j]])
