"""Tables of databases by address, as in duckdb:labels.db#runs or postgresql://host/db#runs, opened by Ibis."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

from congruence.errors import InputError
from congruence.inputs.files import existing_file, why_unreadable
from congruence.inputs.formats import database_of
from congruence.typing import Frame

if TYPE_CHECKING:
    import narwhals as nw


def table_at(address: str) -> tuple[nw.LazyFrame[Frame], str] | None:
    """A table of a database as a lazy frame, and its name in messages; None if this is no address of one."""
    found = database_of(address)
    if found is None:
        return None
    scheme, place, table = found
    text = f"table {table!r} of {scheme}"
    try:
        import ibis
        import narwhals as nw
    except ImportError:
        raise InputError(f'{text} is read by Ibis: pip install "congruence[warehouse]"') from None
    *database, name = table.rsplit(".", 1)
    if scheme in ("duckdb", "sqlite"):
        path = str(existing_file(place))
    try:
        if scheme == "duckdb":
            connection = ibis.duckdb.connect(path, read_only=True)
        elif scheme == "sqlite":
            connection = ibis.sqlite.connect(path)
        else:
            connection = ibis.connect(_url(scheme, place))
        frame = nw.from_native(connection.table(name, database=database[0] if database else None))
        weakref.finalize(frame, connection.disconnect)
        return frame, text
    except Exception as error:  # each driver raises another error
        raise InputError(f"{text} could not be opened: {type(error).__name__}, {why_unreadable(error)}") from None


def _url(scheme: str, place: str) -> str:
    """The address with both slashes, one of which `Path` removes; without a host if there is only a database."""
    rest = place.lstrip("/")
    return f"{scheme}://{rest if '/' in rest.partition('?')[0] else '/' + rest}"
