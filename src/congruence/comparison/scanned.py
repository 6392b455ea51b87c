"""Values per row of scanned columns, computed from tables: scores, new names, consensus with clusters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from congruence.scanning.checkpoint import digest
from congruence.scanning.columns import Column, named_labels
from congruence.scanning.rows import Rows, Values, Written, joined_rows, values_of_rows, written_rows
from congruence.statistics.names import plain_names
from congruence.statistics.tables import Array, ClusterNames, Table
from congruence.typing import ColumnLike, Label, PathLike

#: a column to write, the codes of some cells by the position of the column they are of, and the value of each cell
ValuesOfCells: TypeAlias = tuple[str, list[tuple[int, Array]], Array]


def names_by_code(column: Column) -> tuple[tuple[Label, ...], list[Label]]:
    """The labels of a scanned column in order of appearance, and the name of each code: no label, the labels, other labels."""
    part = column.source.facts(column)
    c = part.names.index(column.name)
    rank, names = named_labels(part, c)
    sorted_names = plain_names(names)
    return part.labels[c], [None, *(sorted_names[i] for i in rank.tolist()), None]


def places(column: Column, names: ClusterNames) -> tuple[tuple[Label, ...], Array]:
    """The labels of a scanned column, and the position of each code among these names; −1 if it is not among them."""
    labels, by_code = names_by_code(column)
    at = {name: i for i, name in enumerate(plain_names(names))}
    found = [-1, *(at.get(name, -1) for name in by_code[1:-1]), -1]
    return labels, np.array(found, dtype=np.int64)


def row_values(
    columns: Sequence[Column], values: Values, labels: Sequence[tuple[Label, ...]], out: PathLike | None, what: str
) -> dict[str, Array] | Written:
    """The values of all rows by name, or the folder they were written to."""
    joins = out is not None and isinstance(values, Cells | Names)
    rows = Rows(columns, joins=joins)
    if out is None:
        return values_of_rows(rows, values, tuple(labels))[0]
    if rows.scan.input.joins and isinstance(values, Cells | Names):
        joined = [
            (name, {columns[c].name: [labels[c][code - 1] for code in codes.tolist()] for c, codes in of_cells}, found)
            for name, of_cells, found in values.cells()
        ]
        return joined_rows(rows, joined, out)
    return written_rows(rows, values, tuple(labels), out, what)


@dataclass(frozen=True, eq=False)
class Cells:
    """The value of the table cell of each row; NaN for rows in no cell."""

    name: str
    table: Table
    values: Array
    places: tuple[Array, Array]

    def __call__(self, codes: list[Array], group: int, first: int) -> dict[str, Array]:
        """The values of the rows of a batch."""
        row, col = (place[code] for place, code in zip(self.places, codes, strict=True))
        found = np.full(len(row), np.nan)
        used = (row >= 0) & (col >= 0)
        found[used] = values_at(self.table, self.values, row[used], col[used])
        return {self.name: found}

    def cells(self) -> list[ValuesOfCells]:
        """The codes of the cells in both columns, and their values."""
        codes = []
        for c, (place, at) in enumerate(zip(self.places, (self.table.row, self.table.col), strict=True)):
            code = np.zeros(place.max(initial=0) + 1, np.int64)
            code[place[place >= 0]] = np.flatnonzero(place >= 0)
            codes.append((c, code[at]))
        return [(self.name, codes, self.values)]


def values_at(table: Table, values: Array, row: Array, col: Array) -> Array:
    """The values of some cells of a table, which are in order of row and column."""
    width = np.int64(table.shape[1])
    return np.asarray(values[np.searchsorted(table.row * width + table.col, row * width + col)])


def scanned_scores(a: Column, b: Column, table: Table, values: Array, out: PathLike | None) -> Array | Written:
    """The value of a cell of the table of two scanned columns for each row: an array, or the folder it was written to."""
    (one, row), (other, col) = places(a, table.rows), places(b, table.columns)
    cells = Cells("element_score", table, values, (row, col))
    what = digest("cells", *(x.tobytes() for x in (table.row, table.col, values, row, col)))
    found = row_values([a, b], cells, [one, other], out, what)
    return found if isinstance(found, Written) else found["element_score"]


@dataclass(frozen=True, eq=False)
class Names:
    """New names of the labels of some columns, by the name of the column to write: no label, the labels, other labels."""

    names: Mapping[str, Array]

    def __call__(self, codes: list[Array], group: int, first: int) -> dict[str, ColumnLike]:
        """The names of the rows of a batch."""
        return {name: own[code] for (name, own), code in zip(self.names.items(), codes, strict=True)}

    def cells(self) -> list[ValuesOfCells]:
        """The codes of the labels of each column, and their new names."""
        return [
            (name, [(c, np.arange(1, len(own) - 1))], own[1:-1]) for c, (name, own) in enumerate(self.names.items())
        ]


def scanned_names(b: Column, new: Mapping[Label, Label], whole: bool, out: PathLike | None) -> Array | Written:
    """The labels of a scanned column under new names: an array, or the folder it was written to."""
    b = b.as_counted()
    labels, by_code = names_by_code(b)
    part = b.source.facts(b)
    names = np.array([None, *(new[name] for name in by_code[1:-1]), None], dtype=object)
    complete = not part.gaps[part.names.index(b.name)]
    if complete and whole:
        names = np.array([0, *names[1:-1].tolist(), 0])
    elif complete and all(isinstance(x, str) for x in new.values()):
        names = np.array(["", *names[1:-1].tolist(), ""])
    elif out is not None and len({type(x) for x in names[1:-1].tolist()}) > 1:  # a column of a file has one type
        names[1:-1] = [str(x) for x in names[1:-1].tolist()]
    found = row_values([b], Names({b.name: names}), [labels], out, digest("names", repr(names.tolist())))
    return found if isinstance(found, Written) else found[b.name]
