"""The columns of a batch of rows, in any container."""

from __future__ import annotations

from congruence.errors import InputError
from congruence.inputs.coerce import as_clustering
from congruence.inputs.encoding import arrow_library
from congruence.inputs.ensemble import columns_of
from congruence.inputs.labels import frame_kind, in_memory
from congruence.inputs.memberships import Memberships
from congruence.scanning.vocabulary import kind_of
from congruence.typing import Dynamic


def batch_columns(batch: Dynamic) -> dict[str, Dynamic]:
    """The columns of a batch as arrow arrays, or as Labels if arrow has no type for them."""
    pa = arrow_library()
    batch = in_memory(batch)
    if isinstance(batch, pa.RecordBatch | pa.Table):
        return dict(zip(batch.schema.names, batch.columns, strict=True))
    framed = frame_kind(batch) is not None and hasattr(batch, "columns")
    columns = {str(x): batch[x] for x in batch.columns} if framed else dict(columns_of(batch)[0])
    return {name: _as_arrow(column, name) for name, column in columns.items()}


def _as_arrow(column: Dynamic, name: str) -> Dynamic:
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
    return array
