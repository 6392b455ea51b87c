"""The columns of a batch of rows, in any container; those of the first rows say which columns are labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from congruence.errors import InputError
from congruence.inputs.coerce import as_clustering
from congruence.inputs.column_kinds import Sorting, check_repeated, kind_of_column, named_sorting, none_taken
from congruence.inputs.column_names import names_rows
from congruence.inputs.encoding import arrow_library
from congruence.inputs.ensemble import columns_of
from congruence.inputs.files import distinct_numbers, numbers_of
from congruence.inputs.labels import Labels, in_memory, is_frame
from congruence.inputs.memberships import Memberships
from congruence.inputs.weights import weights_in, whole_numbers
from congruence.scanning.vocabulary import kind_of
from congruence.statistics.tables import Array
from congruence.typing import ColumnLike, Frame

if TYPE_CHECKING:
    from congruence.scanning.sources import Input


def batch_columns(batch: Frame) -> dict[str, ColumnLike]:
    """The columns of a batch as arrow arrays, or as Labels if arrow has no type for them."""
    pa = arrow_library()
    batch = in_memory(batch)
    if isinstance(batch, pa.RecordBatch | pa.Table):
        return dict(zip(batch.schema.names, batch.columns, strict=True))
    framed = is_frame(batch)
    columns = {str(x): batch[x] for x in batch.columns} if framed else dict(columns_of(batch)[0])
    return {name: _as_arrow(column, name) for name, column in columns.items()}


def _as_arrow(column: ColumnLike, name: str) -> ColumnLike:
    pa = arrow_library()
    if isinstance(column, pa.Array | pa.ChunkedArray):
        return column
    try:
        array = column.to_arrow() if hasattr(column, "to_arrow") else pa.array(column, from_pandas=True)
        kind_of(array.type)
    except InputError:
        raise
    except Exception:  # arrow has no type for it (each library raises another error): let as_clustering decide
        array = as_clustering(column, name)
    if isinstance(array, Memberships):
        raise InputError(f"{name}: tables of memberships are not counted in parts; pass columns of labels")
    if getattr(array, "what", "") == "a cover":
        raise InputError(f"{name}: pass a cover as a column of lists, the clusters of each row")
    return array


def mass_in(column: ColumnLike, mass: tuple[str, bool], where: str) -> Array:
    """Validated weights of a batch."""
    name, is_frequency = mass
    if isinstance(column, Labels):
        column = arrow_library().array(np.asarray(column.names)[column.codes])
    if arrow_library().types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    column = numbers_of(column)
    try:
        values = column.to_numpy(zero_copy_only=False) if not hasattr(column, "chunks") else column.to_numpy()
    except (TypeError, ValueError):
        raise InputError(f"{where}: column {name!r} of weights must be numbers") from None
    values = weights_in(values, f"{where}: column {name!r} of weights")
    return whole_numbers(values, f"{where}: column {name!r}") if is_frequency else values.astype(np.float64)


# --- the first rows -----------------------------------------------------------------------------------------------


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
