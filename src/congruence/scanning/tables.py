"""Counts of some of the rows: tables that can be added.

A code of 0 means "in no cluster" here; label i of a column has code i + 1, in order of appearance. Names are sorted and
`unassigned` is applied after everything is counted (`columns.tables_of_columns`).
"""

from __future__ import annotations

import io as bytes_io
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from congruence.errors import InputError, counted, known_name, names_in
from congruence.scanning.sampling import Piece
from congruence.scanning.vocabulary import LabelKind
from congruence.statistics.tables import Array, ClusterNames, Table
from congruence.typing import ColumnLike, Function, Label, Scalar

if TYPE_CHECKING:
    from congruence.scanning.columns import Column

#: conversion of labels to JSON and back
_WRITTEN: dict[LabelKind, tuple[Function, Function]] = {
    LabelKind.BYTES: (bytes.hex, bytes.fromhex),
    LabelKind.DECIMAL: (str, Decimal),
}


def _converted(kind: LabelKind, labels: Iterable[Label], way: int) -> tuple[Label, ...]:
    """Labels converted to JSON (way 0), or back (way 1); lists of clusters are converted one by one."""
    if kind.element is not None:
        return tuple(_converted(kind.element, one, way) for one in labels)
    return tuple(map(_WRITTEN[kind][way], labels)) if kind in _WRITTEN else tuple(labels)


# --- tables that add --------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, kw_only=True)
class PartialTables:
    """The contingency tables of pairs of columns over some of the rows; they add with `+`, in any order, exactly.

    Created by `cg.partial_tables`; `to_bytes` and `from_bytes` send them to other machines. The sum over
    all rows is a source of clusterings: `cg.compare_all(total)`, `cg.compare(total["a"], total["b"])`, `cg.Ensemble(total)`.

    Attributes:
        names: Names of the columns.
        kinds: Type of the labels of each column.
        labels: Labels of each column, in order of appearance: label i has code i + 1, and code 0 is "in no cluster".
        pairs: Positions of the two columns of each pair; each column is also a pair with itself.
        starts: Where the cells of each pair begin.
        row: Row of each cell.
        col: Column of each cell.
        count: Count of each cell.
        gaps: Rows without a label, by column.
        rows: Number of rows.
        mass: Name of the column of weights, if there is one.
        total: Sum of the weights.
        squares: Sum of their squares.
        used: For weighted rows, their number in no cluster or a cluster of the first column (rows) and of the second (columns).
        own: The same for the sum of their squared weights.
        left_out: Parts that were skipped because they could not be read.
        within: For weighted rows: weight of the pairs within each cell.
        exponent: Weights are counted divided by 2**exponent.
        taken: Rows that were taken on the way, by position.
        lowest: The smallest weight above 0 is less than 2**lowest, and at least half of it.

    >>> import congruence as cg
    >>> first = cg.partial_tables({"a": [0, 0, 1], "b": ["x", "y", "y"]})
    >>> total = first + cg.partial_tables({"a": [1, 2], "b": ["y", "z"]})
    >>> total
    PartialTables: 2 columns, 1 pair, 5 rows
    >>> total.table("a", "b").to_array().tolist()
    [[1, 1, 0], [0, 2, 0], [0, 0, 1]]
    >>> round(cg.ari(total["a"], total["b"]), 4)
    0.2105
    """

    names: tuple[str, ...]
    kinds: tuple[LabelKind, ...]
    labels: tuple[tuple[Label, ...], ...]
    pairs: Array
    starts: Array
    row: Array
    col: Array
    count: Array
    gaps: Array
    rows: int
    mass: str | None
    total: Scalar
    squares: float
    used: Array
    own: Array
    within: Array
    exponent: int | None = None
    lowest: int | None = None
    left_out: tuple[str, ...] = ()
    taken: dict[int, Piece] = field(default_factory=dict)

    def __add__(self, other: PartialTables) -> PartialTables:
        if not isinstance(other, PartialTables):
            return NotImplemented
        from congruence.scanning.accumulate import merged

        return merged([self, other])

    def __radd__(self, other: object) -> PartialTables:
        return self if other == 0 else NotImplemented  # so that sum() works

    def __getitem__(self, name: str) -> Column:
        from congruence.scanning.columns import Ready

        return Ready(self)[name]

    def lazy_columns(self) -> list[tuple[str, ColumnLike]]:
        """Its columns by name, as clusterings."""
        return [(name, self[name]) for name in self.names]

    @cached_property
    def place(self) -> dict[tuple[int, int], int]:
        """The position of the table of each pair of columns."""
        return {(int(i), int(j)): p for p, (i, j) in enumerate(self.pairs)}

    @property
    def of_two(self) -> Array:
        """The pairs of different columns."""
        return np.asarray(self.pairs[self.pairs[:, 0] != self.pairs[:, 1]])

    def cells(self, i: int, j: int) -> tuple[Array, Array, Array, Array]:
        """Row, column, count and weight within the cells of the table of two columns, or of a column with itself.

        Args:
            i: Position of a column.
            j: Position of another that is not before it.
        """
        if (i, j) not in self.place:
            raise InputError(
                f"there is no table of columns {i} and {j}: give two of {len(self.names)}, from 0, in order"
            )
        p = self.place[i, j]
        here = slice(self.starts[p], self.starts[p + 1])
        return self.row[here], self.col[here], self.count[here], self.within[here]

    @property
    def sizes(self) -> tuple[Array, ...]:
        """Cluster sizes of each column, by code."""
        found = []
        for c, words in enumerate(self.labels):
            code, _, count, _ = self.cells(c, c)
            found.append(np.zeros(len(words) + 1, count.dtype))
            found[c][code] = count
        return tuple(found)

    @cached_property
    def named(self) -> dict[int, tuple[Array, ClusterNames]]:
        """The names of columns in order, once they are sorted."""
        return {}

    @property
    def held(self) -> set[tuple[str, str]]:
        """The pairs of names whose tables are here, in both orders, and each name with itself."""
        found = {(self.names[i], self.names[j]) for i, j in self.pairs.tolist()} | {(name, name) for name in self.names}
        return found | {(b, a) for a, b in found}

    @property
    def points(self) -> int:
        """Number of points: the sum of frequencies, or all rows."""
        return int(self.total) if self.mass == "frequency" else self.rows

    @property
    def nbytes(self) -> int:
        """Bytes of its cells."""
        return int(self.row.nbytes + self.col.nbytes + self.count.nbytes + self.within.nbytes)

    def of_column(self, c: int) -> PartialTables:
        """Labels and sizes of one column.

        Args:
            c: Its position.
        """
        if (c, c) not in self.place:
            raise InputError(f"there is no column {c}; the tables have {len(self.names)} columns, from 0")
        p, own = self.place[c, c], slice(c, c + 1)
        row, col, count, within = (x.copy() for x in self.cells(c, c))  # the cells of all pairs may be released
        return replace(
            self, names=self.names[own], kinds=self.kinds[own], labels=self.labels[own], gaps=self.gaps[own],
            pairs=np.zeros((1, 2), np.int64), starts=np.array([0, len(row)]), row=row, col=col, count=count,
            used=self.used[p : p + 1], own=self.own[p : p + 1], within=within,
        )  # fmt: skip

    def scaled(self, less: int) -> PartialTables:
        """The same with weights divided by a further 2**less.

        Args:
            less: Further power of two.
        """
        if not less or self.exponent is None:
            return self
        once = {key: np.ldexp(getattr(self, key), -less) for key in ("count", "total")}
        twice = {key: np.ldexp(getattr(self, key), -2 * less) for key in ("own", "within")}
        squares = float(np.ldexp(self.squares, -2 * less))
        return replace(self, **once, **twice, squares=squares, exponent=self.exponent + less)

    def table(self, a: str, b: str) -> Table:
        """The contingency table of two columns; rows without a label in either are left out.

        Args:
            a: Name of a column.
            b: Name of another.

        Returns:
            A `Table`.
        """
        from congruence.scanning.columns import one_table

        return one_table(self, self[a].with_policy("drop", None, a), self[b].with_policy("drop", None, b))[0]

    def to_bytes(self) -> bytes:
        """The tables as bytes, without pickle."""
        if LabelKind.MIXED in self.kinds:
            raise InputError("labels of mixed types cannot be written; convert them to strings")
        words = [_converted(kind, labels, 0) for kind, labels in zip(self.kinds, self.labels, strict=True)]
        about = {
            "format": 4, "names": self.names, "kinds": self.kinds, "labels": words, "rows": self.rows, "mass": self.mass,
            "total": self.total.item(), "squares": self.squares, "left_out": self.left_out, "exponent": self.exponent,
            "lowest": self.lowest,
        }  # fmt: skip
        arrays = {key: getattr(self, key) for key in _ARRAYS}
        stream = bytes_io.BytesIO()
        np.savez(stream, about=np.frombuffer(json.dumps(about).encode(), dtype=np.uint8), **arrays)
        return stream.getvalue()

    @classmethod
    def from_bytes(cls, data: bytes) -> PartialTables:
        """The tables that `to_bytes` wrote.

        >>> import congruence as cg
        >>> part = cg.partial_tables({"a": [0, 1], "b": [1, 1]})
        >>> cg.PartialTables.from_bytes(part.to_bytes()).rows
        2
        """
        try:
            with np.load(bytes_io.BytesIO(data), allow_pickle=False) as stored:
                arrays = {key: stored[key] for key in _ARRAYS}
                about = json.loads(stored["about"].tobytes())
            if about["format"] != 4:
                raise ValueError(f"format {about['format']}")
            kinds = tuple(map(LabelKind, about["kinds"]))
            labels = tuple(_converted(kind, words, 1) for kind, words in zip(kinds, about["labels"], strict=True))
            part = cls(
                names=tuple(about["names"]), kinds=kinds, labels=labels, exponent=about["exponent"],
                lowest=about["lowest"], rows=about["rows"], mass=about["mass"], total=arrays["count"].dtype.type(about["total"]),
                squares=about["squares"], left_out=tuple(about["left_out"]), **arrays,
            )  # fmt: skip
            part._check()
        except MemoryError:
            raise
        except Exception as error:
            raise InputError(f"these bytes are not partial tables ({type(error).__name__})") from None
        return part

    def _check(self) -> None:
        """Raise ValueError if the pieces are inconsistent, for example because the bytes were changed."""
        columns, cells, pairs = len(self.names), len(self.count), len(self.pairs)
        weighted = self.mass == "sample_weight"
        sizes = [len(words) + 1 for words in self.labels]
        kind = "f" if weighted else "i"
        fits = (
            isinstance(self.rows, int)
            and self.mass in (None, "frequency", "sample_weight")
            and len(self.kinds) == len(self.labels) == columns
            and all(isinstance(name, str) for name in self.names)
            and all(len(set(words)) == len(words) for words in self.labels)
            and self.count.dtype.kind == kind
            and all(x.dtype.kind == "i" for x in (self.pairs, self.starts, self.row, self.col, self.gaps, self.used))
            and self.pairs.shape == (pairs, 2)
            and self.starts.shape == (pairs + 1,)
            and self.row.shape == self.col.shape == self.count.shape == (cells,)
            and self.within.shape == ((cells,) if weighted else (0,))
            and self.gaps.shape == (columns,)
            and self.used.shape == self.own.shape == (pairs if weighted else 0, 2, 2)
            and {(c, c) for c in range(columns)} <= self.place.keys()
            and ((self.pairs >= 0) & (self.pairs < columns)).all()
            and self.starts[0] == 0
            and self.starts[-1] == cells
            and (np.diff(self.starts) >= 0).all()
            and all(np.isfinite(x).all() and (x >= 0).all() for x in (self.count, self.within))
        )
        if not fits:
            raise ValueError("pieces do not fit together")
        width = np.array(sizes)
        for code, side in ((self.row, 0), (self.col, 1)):
            most = np.repeat(width[self.pairs[:, side]], np.diff(self.starts))
            if ((code < 0) | (code >= most)).any():
                raise ValueError("codes beyond the labels")

    def __repr__(self) -> str:
        return f"PartialTables: {len(self.names)} columns, {counted(len(self.of_two), 'pair')}, {self.rows:,} rows"


_ARRAYS = ("pairs", "starts", "row", "col", "count", "gaps", "used", "own", "within")


def pair_positions(names: Sequence[str], pairs: Sequence[tuple[str, str]] | None = None) -> Array:
    """(pairs, 2): positions of all pairs of different columns, or of the pairs named."""
    if pairs is None:
        return np.column_stack(np.triu_indices(len(names), 1))
    place = {name: i for i, name in enumerate(names)}
    if not all(isinstance(pair, list | tuple) and len(pair) == 2 for pair in names_in(pairs, "pairs")):
        raise InputError(f"pairs must be a list of pairs of names, as in [('a', 'b')]; got {pairs!r}")
    for name in (name for pair in pairs for name in pair):
        known_name("column", name, names)
    found = sorted({(min(place[a], place[b]), max(place[a], place[b])) for a, b in pairs if a != b})
    return np.array(found, dtype=np.int64).reshape(-1, 2)
