"""What formulas may look at: small statistics of one pair of clusterings, or of a whole tile of pairs at once.

Every statistic here is, or follows from, a contingency table, and tables add over points. All fields are arrays
with one entry a pair, so a formula is one array expression whether it serves one pair or ten thousand.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


class InputError(ValueError):
    """What was given cannot be used; the message says what was expected and what to try.

    `command` is the same line for those who type options instead of arguments, where it differs.
    """

    def __init__(self, message: str, command: str | None = None) -> None:
        super().__init__(message)
        self.command = command or message


class NotApplicable(InputError):
    """A measure is not defined for this input, or would cost more than its limit."""


def label_order(labels: Sequence[Any]) -> list[int]:
    """Positions of the labels in sorted order; labels that cannot be compared are ordered by type, then by text."""
    try:
        return sorted(range(len(labels)), key=labels.__getitem__)
    except TypeError:
        return sorted(range(len(labels)), key=lambda i: (type(labels[i]).__name__, str(labels[i])))


def xlogx(x: Array) -> Array:
    """x · log x, with 0 · log 0 = 0."""
    x = np.asarray(x, dtype=np.float64)
    return x * np.log(np.where(x > 0, x, 1.0))


@dataclass(frozen=True, eq=False)
class Table:
    """One contingency table: how much of cluster i of `a` lies in cluster j of `b`, as its non-zero cells.

    >>> from congruence import contingency
    >>> t = contingency(["x", "x", "y", "y"], [0, 0, 0, 1])
    >>> t.to_array().tolist()
    [[2, 0], [1, 1]]
    >>> t.rows, t.columns
    (('x', 'y'), (0, 1))
    >>> (t + t).to_array().tolist()
    [[4, 0], [2, 2]]
    """

    row: Array
    col: Array
    count: Array
    rows: Any
    columns: Any
    #: what each point makes with itself; taken off sums over ordered pairs (n for plain points, Σw² for weights)
    own: float
    frame_kind: str | None = field(default=None, repr=False)

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of clusters of a and of b."""
        return len(self.rows), len(self.columns)

    @cached_property
    def n(self) -> Any:
        """All points, or their total mass."""
        return self.count.sum()

    @cached_property
    def row_sums(self) -> Array:
        """Sizes of the clusters of a."""
        return _binned(self.row, self.count, self.shape[0])

    @cached_property
    def col_sums(self) -> Array:
        """Sizes of the clusters of b."""
        return _binned(self.col, self.count, self.shape[1])

    def to_array(self) -> Array:
        """The dense table, clusters of a in rows."""
        dense = np.zeros(self.shape, dtype=self.count.dtype)
        dense[self.row, self.col] = self.count
        return dense

    def to_sparse(self) -> Any:
        """The table as a scipy.sparse CSR array."""
        from scipy.sparse import csr_array

        return csr_array((self.count, (self.row, self.col)), shape=self.shape)

    def to_frame(self, backend: str | None = None) -> Any:
        """The table as a data frame; pandas carries the clusters of a in its index, others in a first column."""
        from congruence.frames import square_frame

        return square_frame(self.to_array(), self.rows, self.columns, backend or self.frame_kind, corner="a")

    def transposed(self) -> Table:
        """The table with the two clusterings exchanged."""
        order = np.lexsort((self.row, self.col))
        return Table(
            self.col[order], self.row[order], self.count[order], self.columns, self.rows, self.own, self.frame_kind
        )

    def __add__(self, other: Table) -> Table:
        if not isinstance(other, Table):
            return NotImplemented
        rows, row_maps = _union(self.rows, other.rows)
        columns, col_maps = _union(self.columns, other.columns)
        row = np.concatenate([row_maps[0][self.row], row_maps[1][other.row]])
        col = np.concatenate([col_maps[0][self.col], col_maps[1][other.col]])
        cells, where = np.unique(row * np.int64(len(columns)) + col, return_inverse=True)
        count = _binned(where, np.concatenate([self.count, other.count]), len(cells))
        return Table(
            cells // len(columns), cells % len(columns), count, rows, columns, self.own + other.own, self.frame_kind
        )

    def __repr__(self) -> str:
        from congruence.frames import text_grid

        k_a, k_b = self.shape
        head = f"Table: {k_a} clusters × {k_b} clusters, {self.n:g} points"
        if k_a > 30 or k_b > 12:
            return head + f", {len(self.count)} non-zero cells"
        cells = [[f"{x:g}" for x in line] for line in self.to_array()]
        return head + "\n" + text_grid(cells, [str(r) for r in self.rows], [str(c) for c in self.columns])

    def _repr_html_(self) -> str:
        from congruence.frames import html_grid

        k_a, k_b = self.shape
        if k_a > 100 or k_b > 100:
            return html_grid([[str(self)]], [""], [""])
        cells = [[f"{x:g}" for x in line] for line in self.to_array()]
        return html_grid(cells, [str(r) for r in self.rows], [str(c) for c in self.columns])


def _binned(where: Array, mass: Array, size: int) -> Array:
    """Sum of mass falling on each of `size` places, in the dtype of mass (integers exact below 2⁵³)."""
    return np.bincount(where, weights=mass, minlength=size).astype(mass.dtype, copy=False)


def _union(left: tuple[Any, ...], right: tuple[Any, ...]) -> tuple[tuple[Any, ...], tuple[Array, Array]]:
    """All names in order, and where each side's names went."""
    names = list(dict.fromkeys(left + right))
    names = [names[i] for i in label_order(names)]
    place = {name: i for i, name in enumerate(names)}
    maps = tuple(np.array([place[x] for x in side], dtype=np.int64) for side in (left, right))
    return tuple(names), (maps[0], maps[1])


@dataclass(frozen=True, eq=False)
class Tables:
    """A tile of contingency tables, as one flat list of non-zero cells in row-major order, pair after pair."""

    row: Array
    col: Array
    count: Array
    #: cells of pair p are starts[p]:starts[p+1]
    starts: Array
    #: (pairs, 2): numbers of clusters
    shapes: Array
    #: (pairs,): what points make with themselves, see Table.own
    own: Array
    #: (pairs,): points that took part
    n_used: Array
    #: soft pairs only: are the two clusterings the same, and the pair sums of their Gram matrices
    same: Array | None = None
    gram: Pairs | None = None

    def __len__(self) -> int:
        return len(self.shapes)

    @cached_property
    def pair(self) -> Array:
        """The pair each cell belongs to."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))

    def sum(self, per_cell: Array) -> Array:
        """Sum over the cells of each pair."""
        return _segment_sum(per_cell, self.starts)

    @cached_property
    def n(self) -> Array:
        """Total mass of each pair."""
        return self.sum(self.count)

    def _margin(self, code: Array, axis: int) -> tuple[Array, Array, Array]:
        offsets = np.concatenate([[0], np.cumsum(self.shapes[:, axis])])
        place = code + offsets[:-1][self.pair]
        return _binned(place, self.count, int(offsets[-1])), offsets, place

    @cached_property
    def _rows(self) -> tuple[Array, Array, Array]:
        return self._margin(self.row, 0)

    @cached_property
    def _cols(self) -> tuple[Array, Array, Array]:
        return self._margin(self.col, 1)

    @property
    def row_total(self) -> Array:
        """For each cell, the size of its cluster of a."""
        return self._rows[0][self._rows[2]]

    @property
    def col_total(self) -> Array:
        """For each cell, the size of its cluster of b."""
        return self._cols[0][self._cols[2]]

    def over_rows(self, per_row: Callable[[Array], Array]) -> Array:
        """Sum over the clusters of a of a function of their sizes."""
        return _segment_sum(per_row(self._rows[0]), self._rows[1])

    def over_cols(self, per_col: Callable[[Array], Array]) -> Array:
        """Sum over the clusters of b of a function of their sizes."""
        return _segment_sum(per_col(self._cols[0]), self._cols[1])

    def best_of_rows(self, per_cell: Array) -> Array:
        """Sum over the clusters of a of the largest value among their cells."""
        return self._sum_of_best(per_cell, self._rows)

    def best_of_cols(self, per_cell: Array) -> Array:
        """Sum over the clusters of b of the largest value among their cells."""
        return self._sum_of_best(per_cell, self._cols)

    def _sum_of_best(self, per_cell: Array, margin: tuple[Array, Array, Array]) -> Array:
        sums, offsets, place = margin
        best = np.zeros(len(sums), dtype=per_cell.dtype)
        np.maximum.at(best, place, per_cell)
        return _segment_sum(best, offsets)

    @cached_property
    def a_decides(self) -> Array:
        """Does a cluster of a lie in one cluster of b, for all of them (is a as fine as b or finer)?"""
        return np.asarray(np.diff(self.starts) == self.over_rows(lambda size: (size > 0).astype(np.int64)))

    @cached_property
    def b_decides(self) -> Array:
        """The same with the clusterings exchanged."""
        return np.asarray(np.diff(self.starts) == self.over_cols(lambda size: (size > 0).astype(np.int64)))

    @cached_property
    def identical(self) -> Array:
        """Are the two clusterings of the pair the same partition?"""
        return self.same if self.same is not None else self.a_decides & self.b_decides

    def each(self) -> Iterator[Table]:
        """The tables one by one, clusters named by their codes."""
        for p, (k_a, k_b) in enumerate(self.shapes.tolist()):
            cells = slice(self.starts[p], self.starts[p + 1])
            own = self.own[p].item()
            yield Table(self.row[cells], self.col[cells], self.count[cells], range(k_a), range(k_b), own)

    def swapped(self) -> Tables:
        """The same pairs with the two clusterings exchanged."""
        order = np.lexsort((self.row, self.col, self.pair))
        gram = self.gram.swapped() if self.gram is not None else None
        return Tables(
            self.col[order], self.row[order], self.count[order], self.starts, self.shapes[:, ::-1],
            self.own, self.n_used, self.same, gram,
        )  # fmt: skip

    @classmethod
    def from_tables(cls, tables: Tables) -> Tables:
        """Itself: some formulas read every cell."""
        return tables

    @classmethod
    def of(cls, table: Table) -> Tables:
        """The tile that holds this one table."""
        return cls(
            table.row, table.col, table.count, np.array([0, len(table.count)]), np.array([table.shape]),
            np.array([table.own]), np.array([table.n]),
        )  # fmt: skip


def _segment_sum(values: Array, starts: Array) -> Array:
    """Sums of values[starts[p]:starts[p+1]]; empty segments give 0, integers stay exact."""
    if len(starts) == 2:  # one pair: numpy's pairwise sum
        return np.array([values.sum()])
    if values.dtype.kind in "iub":
        running = np.concatenate([[0], np.cumsum(values, dtype=np.int64)])
        return np.asarray(running[starts[1:]] - running[starts[:-1]])
    total = np.zeros(len(starts) - 1)
    filled = np.flatnonzero(np.diff(starts))
    if len(filled):
        total[filled] = np.add.reduceat(values, starts[:-1][filled])
    return total


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs of points: how many there are, how many are together in a, in b, in both. Diagonals are already removed."""

    pairs: Array
    same_a: Array
    same_b: Array
    same_both: Array
    only_a: Array
    only_b: Array
    identical: Array
    #: what counts as 0: nothing more for integers, rounding for sums of weights and memberships
    tiny: Array
    symbols: ClassVar[tuple[str, ...]] = ("pairs", "v11", "v10", "v01", "v00", "s_a", "s_b")

    @classmethod
    def from_squares(cls, n: Array, own: Array, both: Array, a: Array, b: Array, identical: Array) -> Self:
        """From Σn_ij², Σa_i², Σb_j² over ordered pairs; differences are formed before anything is rounded."""
        halves = [np.asarray(x) / 2.0 for x in (n * n - own, a - own, b - own, both - own, a - both, b - both)]
        tiny = np.zeros(len(both))
        if np.asarray(both).dtype.kind not in "iu":
            tiny = 1e-13 * np.square(n)
            halves = [np.where(np.abs(x) <= tiny, 0.0, x) for x in halves]
        pairs, same_a, same_b, same_both, only_a, only_b = halves
        return cls(pairs, same_a, same_b, same_both, only_a, only_b, identical, tiny)

    @classmethod
    def from_tables(cls, t: Tables) -> Self:
        """Pair sums of every table of the tile."""
        square = np.square
        return cls.from_squares(
            t.n, t.own, t.sum(square(t.count)), t.over_rows(square), t.over_cols(square), t.identical
        )

    @property
    def v11(self) -> Array:
        """Together in both."""
        return self.same_both

    @property
    def v10(self) -> Array:
        """Together in a only."""
        return self.only_a

    @property
    def v01(self) -> Array:
        """Together in b only."""
        return self.only_b

    @property
    def v00(self) -> Array:
        """Together in neither."""
        return self.pairs - self.same_both - self.only_a - self.only_b

    @property
    def s_a(self) -> Array:
        """Together in a."""
        return self.same_a

    @property
    def s_b(self) -> Array:
        """Together in b."""
        return self.same_b

    def swapped(self) -> Self:
        """The same with the two clusterings exchanged."""
        return replace(self, same_a=self.same_b, same_b=self.same_a, only_a=self.only_b, only_b=self.only_a)


class Gram(Pairs):
    """Pair sums of the two co-membership matrices UUᵀ and VVᵀ; for hard clusterings the same as Pairs."""

    @classmethod
    def from_tables(cls, t: Tables) -> Self:
        """Pair sums of the Gram matrices; a soft tile carries its own."""
        return cls(**vars(t.gram if t.gram is not None else Pairs.from_tables(t)))


@dataclass(frozen=True, eq=False)
class MatrixSums(Pairs):
    """Pair sums of two similarity matrices P and Q, the sums of their squares, and those of their diagonals."""

    n: Array
    squares_a: Array
    squares_b: Array
    diagonal: Array
    diagonal_a: Array
    diagonal_b: Array
    symbols: ClassVar[tuple[str, ...]] = (
        "n", "pairs", "s_p", "s_q", "s_pq", "s_pp", "s_qq", "d_pq", "d_pp", "d_qq",
    )  # fmt: skip

    @classmethod
    def of(
        cls, *, n: float, pairs: float, s_p: float, s_q: float, s_pq: float, s_pp: float, s_qq: float,
        diagonal: tuple[float, float, float],
    ) -> Self:  # fmt: skip
        """One pair of matrices: sums over i < j, then Σ P_ii Q_ii, Σ P_ii², Σ Q_ii²."""
        p, q, pq, every = (np.array([float(x)]) for x in (s_p, s_q, s_pq, pairs))
        return cls(
            every, p, q, pq, p - pq, q - pq, np.abs(p - q) <= 1e-12 * every, np.maximum(1e-13 * np.maximum(p, q), 1e-15 * every),
            *(np.array([float(x)]) for x in (n, s_pp, s_qq, *diagonal)),
        )  # fmt: skip

    @classmethod
    def from_tables(cls, t: Tables) -> Self:
        """Of the co-association matrices of two clusterings: entries are 0 and 1, so squares are the sums themselves."""
        if t.gram is not None:
            raise NotApplicable("squares of soft co-memberships are not in the table; compare cg.Ensemble([u]) instead")
        return cls.of_partitions(Pairs.from_tables(t), t.n, t.own)

    @classmethod
    def of_partitions(cls, p: Pairs, n: Array, own: Array) -> Self:
        """From pairs of points together in two partitions."""
        total, diagonal = np.asarray(n, dtype=np.float64), np.asarray(own, dtype=np.float64)
        return cls(**vars(p), n=total, squares_a=p.same_a, squares_b=p.same_b, diagonal=diagonal, diagonal_a=diagonal,
                   diagonal_b=diagonal)  # fmt: skip

    def alone(self, side: str) -> Self:
        """The sums of one of the two matrices with itself."""
        own, squares, diagonal = (
            (self.same_a, self.squares_a, self.diagonal_a)
            if side == "a"
            else (self.same_b, self.squares_b, self.diagonal_b)
        )
        return replace(
            self, same_a=own, same_b=own, same_both=squares, only_a=own - squares, only_b=own - squares,
            identical=np.ones_like(self.identical), squares_a=squares, squares_b=squares, diagonal=diagonal,
            diagonal_a=diagonal, diagonal_b=diagonal,
        )  # fmt: skip

    s_p = property(lambda self: self.same_a, doc="Σ P over i < j.")
    s_q = property(lambda self: self.same_b, doc="Σ Q over i < j.")
    s_pq = property(lambda self: self.same_both, doc="Σ P·Q over i < j.")
    s_pp = property(lambda self: self.squares_a, doc="Σ P² over i < j.")
    s_qq = property(lambda self: self.squares_b, doc="Σ Q² over i < j.")
    d_pq = property(lambda self: self.diagonal, doc="Σ P_ii·Q_ii.")
    d_pp = property(lambda self: self.diagonal_a, doc="Σ P_ii².")
    d_qq = property(lambda self: self.diagonal_b, doc="Σ Q_ii².")

    def swapped(self) -> Self:
        """The same with the two matrices exchanged."""
        turned = super().swapped()
        return replace(
            turned,
            squares_a=self.squares_b,
            squares_b=self.squares_a,
            diagonal_a=self.diagonal_b,
            diagonal_b=self.diagonal_a,
        )


@dataclass(frozen=True, eq=False)
class Info:
    """Entropies in nats: of a, of b, of both together."""

    n: Array
    H_a: Array
    H_b: Array
    H_ab: Array
    identical: Array
    symbols: ClassVar[tuple[str, ...]] = ("H_a", "H_b", "H_ab", "MI")

    @classmethod
    def from_sums(
        cls, n: Array, a: Array, b: Array, both: Array, a_decides: Array, b_decides: Array, identical: Array
    ) -> Self:
        """From Σ x log x of the cluster sizes and of the cells.

        Where one clustering decides the other, the joint entropy IS that clustering's entropy: taking the same float
        makes identical partitions score exactly 1, or a distance of exactly 0.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            h_a, h_b, h_ab = (np.log(n) - x / n for x in (a, b, both))
            # less than rounding leaves of log n: one cluster (two clusters have more up to 10¹² points)
            h_a, h_b, h_ab = (np.where(h < 1e-13, 0.0, h) for h in (h_a, h_b, h_ab))
        h_b = np.where(a_decides & b_decides, h_a, h_b)
        h_ab = np.where(a_decides, h_a, np.where(b_decides, h_b, h_ab))
        return cls(n, h_a, h_b, h_ab, identical)

    @classmethod
    def from_tables(cls, t: Tables) -> Self:
        """Entropies of every table of the tile."""
        sums = t.over_rows(xlogx), t.over_cols(xlogx), t.sum(xlogx(t.count))
        return cls.from_sums(t.n, *sums, t.a_decides, t.b_decides, t.identical)

    @property
    def MI(self) -> Array:
        """Mutual information, never below 0."""
        return np.asarray(np.maximum(self.H_a + self.H_b - self.H_ab, 0.0))

    def swapped(self) -> Self:
        """The same with the two clusterings exchanged."""
        return replace(self, H_a=self.H_b, H_b=self.H_a)


@dataclass(frozen=True, eq=False)
class ChanceInfo(Info):
    """Entropies, and the mutual information two clusterings with these cluster sizes have by chance."""

    E_MI: Array = field(default_factory=lambda: np.empty(0))
    symbols: ClassVar[tuple[str, ...]] = ("H_a", "H_b", "MI", "E_MI")

    @classmethod
    def from_tables(cls, t: Tables) -> Self:
        """Entropies of every table and the expected mutual information given its margins."""
        from congruence.numerics import expected_mutual_information

        expected = [
            expected_mutual_information(table.row_sums, table.col_sums) if table.n else np.nan for table in t.each()
        ]
        return cls.with_expected(Info.from_tables(t), np.array(expected))

    @classmethod
    def with_expected(cls, info: Info, expected: Array) -> Self:
        """Entropies joined with E[MI]."""
        return cls(info.n, info.H_a, info.H_b, info.H_ab, info.identical, expected)


@dataclass(frozen=True, eq=False)
class Maxima:
    """How much of each cluster lies in the one cluster of the other side that holds most of it."""

    n: Array
    best_of_a: Array
    best_of_b: Array
    identical: Array
    symbols: ClassVar[tuple[str, ...]] = ("n", "best_of_a", "best_of_b")

    @classmethod
    def from_tables(cls, t: Tables) -> Self:
        """Σ_i max_j n_ij and Σ_j max_i n_ij of every table of the tile."""
        return cls(t.n, t.best_of_rows(t.count), t.best_of_cols(t.count), t.identical)

    def swapped(self) -> Self:
        """The same with the two clusterings exchanged."""
        return replace(self, best_of_a=self.best_of_b, best_of_b=self.best_of_a)


@dataclass(frozen=True, eq=False)
class MemberInfo:
    """Entropies of each member of an ensemble with one partition; for two partitions, their own entropies."""

    info: Info
    #: shares of the members, or None where every entry is a pair of its own
    weights: Array | None = None
    symbols: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def from_tables(cls, t: Tables) -> Self:
        """One member a table."""
        return cls(Info.from_tables(t))

    @classmethod
    def of_table(cls, table: Table) -> Self:
        """The single table of a pair."""
        return cls.from_tables(Tables.of(table))

    @property
    def identical(self) -> Array:
        """Are the two the same partition?"""
        return self.info.identical if self.weights is None else np.array([bool(self.info.identical.all())])

    def mean(self, values: Array) -> Array:
        """Mean over the members, by their shares."""
        return values if self.weights is None else np.array([float(values @ self.weights)])

    def swapped(self) -> Self:
        """The same with the two clusterings exchanged."""
        return replace(self, info=self.info.swapped())


@dataclass(frozen=True, eq=False)
class Alone:
    """One matrix or ensemble by itself: its sums with itself, and the mean of a measure over pairs of its members."""

    sums: MatrixSums
    members: int
    mean_of_members: Callable[[str], Array]
    symbols: ClassVar[tuple[str, ...]] = ()
    identical: Array = field(default_factory=lambda: np.array([True]))


@dataclass(frozen=True, eq=False)
class Attribute:
    """How the values of one attribute fall into bins: between cuts, or one bin a value; equal ones bin alike."""

    name: str
    #: numbers: a value on a cut belongs to the bin above it; the range that was fitted
    cuts: tuple[float, ...] = ()
    low: float = math.nan
    high: float = math.nan
    #: nominal attributes: their values, one bin each
    values: tuple[Any, ...] | None = None
    #: bins beside the regular ones, in this order: for values never seen before, for missing values
    takes_unseen: bool = False
    takes_missing: bool = False
    #: the two attributes of a pair, each bin of one with each of the other
    pair: tuple[Attribute, Attribute] | None = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Attribute) and self._facts() == other._facts()

    def __hash__(self) -> int:
        return hash(self._facts())

    def _facts(self) -> tuple[Any, ...]:
        """What makes two of them equal: a range that is not there equals another, though NaN does not."""
        ends = (self.low, self.high) if self.low == self.low else None
        return self.name, self.cuts, ends, self.values, self.takes_unseen, self.takes_missing, self.pair

    @property
    def regular(self) -> int:
        """Number of bins, but for the spare ones."""
        if self.pair is not None:
            return self.pair[0].n_bins * self.pair[1].n_bins
        if self.values is not None:
            return len(self.values)
        return len(self.cuts) + 1 if self.low == self.low or self.takes_unseen else 0

    @property
    def n_bins(self) -> int:
        """Number of bins, all together."""
        return self.regular + (self.values is not None and self.takes_unseen) + self.takes_missing

    @property
    def bins(self) -> tuple[str, ...]:
        """What each bin holds, in words."""
        if self.pair is not None:
            first, second = (part.bins for part in self.pair)
            return tuple(f"{x} & {y}" for x in first for y in second)
        if self.values is not None:
            spare = ("(never seen)",) * self.takes_unseen
            return (*(str(v) for v in self.values), *spare, *(("(missing)",) * self.takes_missing))
        edges = [f"{x:.6g}" for x in (self.low, *self.cuts, self.high)]
        closed = [*(")" * (self.regular - 1)), "]"]
        inner = [f"[{x}, {y}{end}" for x, y, end in zip(edges, edges[1:], closed, strict=False)][: self.regular]
        return (*inner, *(("(missing)",) * self.takes_missing))


@dataclass(frozen=True, eq=False)
class Profile:
    """Density profile of a clustering: how many points of each cluster fall in each bin of each attribute. Profiles add.

    >>> import congruence as cg
    >>> p = cg.density_profile([[0.0], [1.0], [9.0], [10.0]], ["x", "x", "y", "y"], cg.Binning(bins=2))
    >>> p
    Profile: 2 clusters, 4 points, 1 attribute in 2 bins
    >>> p.counts.tolist(), (p + p).counts.tolist()
    ([[2, 0], [0, 2]], [[4, 0], [0, 4]])
    """

    #: clusters × bins, the bins of all attributes side by side
    counts: Array
    clusters: tuple[Any, ...]
    attributes: tuple[Attribute, ...]
    #: points in each cluster
    sizes: Array
    #: for each attribute, the values beyond the fitted range (counted in the end bins) or never seen before
    outside: Array

    @classmethod
    def of(cls, counts: Any, n_bins: Sequence[int] | None = None, clusters: Sequence[Any] | None = None) -> Profile:
        """The profile with these counts (clusters × bins); `n_bins` of each attribute, by default one attribute.

        >>> Profile.of([[8, 0, 5, 3], [0, 6, 3, 3]], n_bins=[2, 2])
        Profile: 2 clusters, 14 points, 2 attributes in 4 bins
        """
        table = np.asarray(counts)
        if table.ndim != 2 or 0 in table.shape or table.dtype.kind not in "iuf" or not (table >= 0).all():
            raise InputError(
                f"a profile is a table of counts, clusters × bins, none negative; got {table.dtype} of shape {table.shape}"
            )
        widths = [table.shape[1]] if n_bins is None else [int(q) for q in n_bins]
        if sum(widths) != table.shape[1] or min(widths) < 1:
            raise InputError(f"n_bins {widths} are {sum(widths)} bins, and the counts have {table.shape[1]} columns")
        names = tuple(range(len(table))) if clusters is None else tuple(clusters)
        if len(names) != len(table) or len(set(names)) < len(names):
            raise InputError(f"{len(table)} clusters need {len(table)} different names, not {list(names)}")
        table = table.astype(np.float64 if table.dtype.kind == "f" else np.int64)
        attributes = tuple(Attribute(f"x{i}", values=tuple(range(q))) for i, q in enumerate(widths))
        sizes = table[:, : widths[0]].sum(axis=1)
        return cls(table, names, attributes, sizes, np.zeros(len(widths), dtype=np.int64))

    @property
    def n_bins(self) -> tuple[int, ...]:
        """Number of bins of each attribute."""
        return tuple(a.n_bins for a in self.attributes)

    @cached_property
    def starts(self) -> Array:
        """The bins of attribute i are columns starts[i]:starts[i+1] of the counts."""
        return np.concatenate([[0], np.cumsum(self.n_bins)]).astype(np.int64)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the attributes."""
        return tuple(a.name for a in self.attributes)

    @property
    def n(self) -> Any:
        """Number of points."""
        return self.sizes.sum().item()

    @property
    def totals(self) -> Array:
        """Points in each bin, all clusters together."""
        return np.asarray(self.counts.sum(axis=0))

    def scaled(self, factor: float) -> Profile:
        """Every count times a factor: what a stratified sample of that share holds on average."""
        return replace(self, counts=self.counts * factor, sizes=self.sizes * factor)

    def check_same_bins(self, other: Profile) -> None:
        """Refuse to put two profiles together that were counted in different bins."""
        if self.attributes == other.attributes:
            return
        if self.names != other.names:
            raise InputError(
                f"the profiles are of different attributes ({_few(self.names)} and {_few(other.names)}); count both with "
                "one Binning"
            )
        different = [a.name for a, b in zip(self.attributes, other.attributes, strict=True) if a != b]
        raise InputError(f"the profiles have different bins for {_few(different)}; count both with one fitted Binning")

    def __add__(self, other: Profile) -> Profile:
        if not isinstance(other, Profile):
            return NotImplemented
        self.check_same_bins(other)
        clusters, places = _union(self.clusters, other.clusters)
        counts = np.zeros((len(clusters), self.counts.shape[1]), dtype=np.result_type(self.counts, other.counts))
        sizes = np.zeros(len(clusters), dtype=np.result_type(self.sizes, other.sizes))
        for profile, place in zip((self, other), places, strict=True):
            counts[place] += profile.counts
            sizes[place] += profile.sizes
        return Profile(counts, clusters, self.attributes, sizes, self.outside + other.outside)

    def to_frame(self, backend: str | None = None) -> Any:
        """One row a cluster and bin: cluster, attribute, bin, count."""
        from congruence.frames import make_frame

        k = len(self.clusters)
        cells = [(a.name, b) for a in self.attributes for b in a.bins]
        columns = {
            "cluster": np.repeat(np.array([str(c) for c in self.clusters], dtype=object), len(cells)).tolist(),
            "attribute": [name for name, _ in cells] * k,
            "bin": [b for _, b in cells] * k,
            "count": self.counts.ravel().tolist(),
        }
        return make_frame(columns, backend)

    def __repr__(self) -> str:
        k, r = len(self.clusters), len(self.attributes)
        return (
            f"Profile: {k} cluster{'s' * (k != 1)}, {self.n:g} points, {r} attribute{'s' * (r != 1)} in "
            f"{self.counts.shape[1]} bins"
        )


def _few(names: Sequence[str]) -> str:
    return ", ".join(map(str, names[:4])) + (", …" if len(names) > 4 else "")


@dataclass(frozen=True, eq=False)
class Profiles:
    """Two density profiles held against each other: sim of the best matching, each with itself, and the mean matching."""

    sim: Array
    sim_aa: Array
    sim_bb: Array
    #: mean of sim over all matchings of the clusters
    E: Array
    identical: Array
    symbols: ClassVar[tuple[str, ...]] = ("sim", "sim_aa", "sim_bb", "E")

    @classmethod
    def of(cls, sim: float, sim_aa: float, sim_bb: float, E: float) -> Self:
        """One pair; the profiles are the same but for the order of clusters where |V − ρ(V')|² is 0."""
        gap = sim_aa + sim_bb - 2 * sim
        same = gap <= 1e-13 * max(sim_aa, sim_bb)
        one, aa, bb, mean = (np.array([float(x)]) for x in (sim, sim_aa, sim_bb, E))
        return cls(one, aa, bb, mean, np.array([same]))

    def swapped(self) -> Self:
        """The same with the two clusterings exchanged."""
        return replace(self, sim_aa=self.sim_bb, sim_bb=self.sim_aa)


#: what a measure's `needs` may be
Statistic = Pairs | Info | Maxima | Tables | MemberInfo | Alone | Profiles
