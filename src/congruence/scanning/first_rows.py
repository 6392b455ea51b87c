"""Classify scanned columns by their first rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from congruence.errors import InputError
from congruence.inputs.column_kinds import Sorting, check_repeated, kind_of_column, named_sorting, none_taken
from congruence.inputs.column_names import names_rows
from congruence.inputs.encoding import arrow_library
from congruence.inputs.files import distinct_numbers
from congruence.scanning.batches import batch_columns
from congruence.typing import ColumnLike

if TYPE_CHECKING:
    from congruence.scanning.sources import Input

#: number of rows checked
LOOK = 1 << 14


def sorted_names(source: Input, names: Sequence[str], text: str = "the scan", id: str | None = None) -> Sorting:
    """The columns by kind, as for a table in memory; only by name if no row can be read."""
    index = (getattr(source.schema, "pandas_metadata", None) or {}).get("index_columns", ())
    seen = _first_rows(source, names)
    taken: dict[str, ColumnLike] = {}
    ids: dict[str, ColumnLike] = {} if id is None else {id: None}
    left_out: dict[str, str] = {}
    why: dict[str, str] = {}
    for name in names:
        if name in index or (name not in seen and names_rows(name)):
            ids[name], why[name] = None, "it was the index of a pandas frame" if name in index else "its name says so"
            continue
        found = kind_of_column(name, seen[name]) if name in seen else None
        why[name] = f"{found.kind}, {found.why}" if found else "not checked"
        if found is None or found.kind in ("labels", "memberships"):
            taken[name] = None
        elif found.kind == "id" and not ids:
            check_repeated(name, found, text)
            ids[name] = None
        elif found.kind == "id":
            left_out[name] = "ids"
        else:
            left_out[name] = found.kind
    if not taken and not seen:  # counting reports why no row can be read
        return Sorting(dict.fromkeys(names), "labels")
    if not taken:
        raise none_taken(text, ids, left_out)
    return Sorting(taken, "labels", ids, None, left_out, why)


def named_names(source: Input, names: Sequence[str], others: Sequence[str], id: str | None) -> Sorting:
    """The columns that were named, and what the others are."""
    seen = _first_rows(source, others)
    return named_sorting({**dict.fromkeys([id] if id is not None else []), **seen}, dict.fromkeys(names), id=id)


def _first_rows(source: Input, names: Sequence[str]) -> dict[str, ColumnLike]:
    """The first rows of these columns; empty if they cannot be read (counting reports the error)."""
    pa = arrow_library()
    if not names:
        return {}
    try:
        if source.once:
            rows = batch_columns(source.waiting[0])
        else:
            rows = batch_columns(next(iter(next(iter(source.parts(names))).batches(names, LOOK))))
    except (InputError, OSError, ValueError, KeyError, StopIteration, NotImplementedError, pa.ArrowException):
        return {}
    plain = {
        name: column.slice(0, LOOK) for name, column in rows.items() if isinstance(column, pa.Array | pa.ChunkedArray)
    }
    return {name: _as_numbers(column) if source.fields else column for name, column in plain.items() if name in names}


def _as_numbers(column: ColumnLike) -> ColumnLike:
    """Numeric fields of a text file as numbers, as for files in memory."""
    pa = arrow_library()
    if not pa.types.is_string(column.type):
        return column
    coded = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    coded = coded.dictionary_encode()
    numbers = distinct_numbers(coded.dictionary)
    return column if numbers is None else numbers.take(coded.indices)
