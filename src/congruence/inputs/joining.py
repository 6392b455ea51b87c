"""Rows of two tables that are the same points: by a common column of ids, or in the same order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from congruence.errors import InputError
from congruence.inputs.column_kinds import arrow_column, check_distinct, id_columns, kind_of_column
from congruence.inputs.column_names import names_rows
from congruence.inputs.files import pick
from congruence.inputs.similarity import Similarity
from congruence.statistics.tables import Array
from congruence.typing import ColumnLike


@dataclass(frozen=True)
class JoinedRows:
    """Which rows of two tables belong together."""

    #: the id columns of both tables, or None
    names: tuple[str | None, str | None] = (None, None)
    #: rows of the first and of the second table; None for all, in their order
    take: tuple[Array, Array] | None = None
    #: the ids of the joined rows by the name of their column
    ids: dict[str, ColumnLike] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def joined_rows(tables: Sequence[Mapping[str, ColumnLike]], who: tuple[str, str], id: str | None = None) -> JoinedRows:
    """The rows of two tables that are the same points: by the column `id`, or one found by name and values, or in order.

    Repeated ids, ids without common values, and rows in another number or order without ids are errors.

    >>> import numpy as np
    >>> first = {"cell": np.array(["a", "b", "c"]), "x": np.array([0, 0, 1])}
    >>> joined_rows([first, {"cell": np.array(["c", "b", "a"]), "y": np.array([5, 6, 6])}], ("1.csv", "2.csv")).take[1].tolist()
    [2, 1, 0]
    """
    names = (id, id) if id is not None else _common_ids(tables, who)
    if names is None:
        return JoinedRows(notes=_row_by_row(tables, who))
    ids = [pick(table, [name], path)[name] for table, name, path in zip(tables, names, who, strict=True)]
    for column, name, path in zip(ids, names, who, strict=True):
        check_distinct(column, name, path)
    take_a, take_b = join(ids[0], ids[1], who)
    by = (
        f"rows are joined by {names[0]!r}"
        if names[0] == names[1]
        else f"rows are joined by {names[0]!r} and {names[1]!r}"
    )
    lost = [len(column) - len(rows) for column, rows in zip(ids, (take_a, take_b), strict=True)]
    left = [f"{gone:,} of {len(column):,} rows of {path} have no partner and are left out"
            for gone, column, path in zip(lost, ids, who, strict=True) if gone]  # fmt: skip
    said = [f"{by}: {len(take_a):,} points" + (f"; {'; '.join(left)}" if left else "")]
    return JoinedRows(names, (take_a, take_b), {names[0]: rows_of(ids[0], take_a)}, said)


def join(ids_a: ColumnLike, ids_b: ColumnLike, who: tuple[str, str]) -> tuple[Array, Array]:
    """Rows of both sides with the same id, in the order of the first side."""
    sides = []
    for ids, name in zip((ids_a, ids_b), who, strict=True):
        listed = [None if x is None else str(x) for x in (ids.to_pylist() if hasattr(ids, "to_pylist") else list(ids))]
        place = {x: i for i, x in enumerate(listed) if x is not None}
        if len(place) < len(listed) - listed.count(None):
            twice = next(x for x in place if listed.count(x) > 1)
            raise InputError(f"{name}: id {twice!r} occurs more than once")
        sides.append(place)
    a, b = sides
    common = [x for x in a if x in b]
    if not common:
        raise InputError(
            f"no id of {who[0]} is in {who[1]} (as in {next(iter(a), None)!r} and {next(iter(b), None)!r})"
        )
    return np.array([a[x] for x in common]), np.array([b[x] for x in common])


def rows_of(column: ColumnLike, rows: Array) -> ColumnLike:
    """These rows of a column, of memberships, or of a matrix (rows and columns)."""
    if isinstance(column, Similarity):
        return Similarity(column.matrix[rows][:, rows], who=column.who)
    return column.take(rows) if hasattr(column, "take") else column.taken(rows)


def _common_ids(tables: Sequence[Mapping[str, ColumnLike]], who: tuple[str, str]) -> tuple[str, str] | None:
    """The id columns of both tables: with the same name, else the only one of each if they have common values."""
    found = [_possible_ids(table) for table in tables]
    both = [name for name in found[0] if name in found[1]]
    if both:
        name = next((x for x in both if names_rows(x)), both[0])
        return name, name
    if len(found[0]) == len(found[1]) == 1:
        (a, left), (b, right) = (next(iter(x.items())) for x in found)
        if _texts(left) & _texts(right):
            return a, b
    for table, mine, path in ((tables[0], found[1], who[0]), (tables[1], found[0], who[1])):
        for name in mine:  # ids in the other table, repeated in this one
            if name in table and names_rows(name):
                check_distinct(table[name], name, path)
    return None


def _possible_ids(table: Mapping[str, ColumnLike]) -> dict[str, ColumnLike]:
    """Columns that name the rows; repeated values are allowed here if the column is named like an id, and refused later."""
    named = {
        name: column for name, column in table.items() if names_rows(name) and kind_of_column(name, column).kind == "id"
    }
    return named or id_columns(table)


def _texts(column: ColumnLike) -> set[str]:
    values = arrow_column(column)
    return {str(x) for x in values.to_pylist() if x is not None} if values is not None else set()


def _row_by_row(tables: Sequence[Mapping[str, ColumnLike]], who: tuple[str, str]) -> list[str]:
    """A note that rows are compared in order; raises if the orders differ."""
    rows = [len(next(iter(table.values()))) for table in tables]
    if rows[0] != rows[1]:
        raise InputError(
            f"{who[0]} has {rows[0]:,} rows and {who[1]} has {rows[1]:,}, and they have no column of ids in common; add one "
            "to both files"
        )
    for name in (x for x in tables[0] if x in tables[1]):
        left, right = (arrow_column(table[name]) for table in tables)
        if left is None or right is None or left.to_pylist() == right.to_pylist():
            continue
        if sorted(map(str, left.to_pylist())) == sorted(map(str, right.to_pylist())) and len(left.unique()) > 1:
            raise InputError(
                f"the rows of {who[0]} and {who[1]} are not in the same order by column {name!r}, and they have no column of "
                "ids in common; add one to both files"
            )
    return [f"no column of ids in common: row 1 of {who[0]} is compared with row 1 of {who[1]}, and so on"]
