"""The columns of a batch of rows, in any container."""

from __future__ import annotations

import numpy as np

from congruence.errors import InputError
from congruence.inputs.coerce import as_clustering
from congruence.inputs.encoding import arrow_library
from congruence.inputs.ensemble import columns_of
from congruence.inputs.files import numbers_of
from congruence.inputs.labels import Labels, in_memory, is_frame
from congruence.inputs.memberships import Memberships
from congruence.inputs.weights import weights_in, whole_numbers
from congruence.scanning.vocabulary import kind_of
from congruence.statistics.tables import Array
from congruence.typing import ColumnLike, Frame


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
