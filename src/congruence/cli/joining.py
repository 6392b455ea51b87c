"""Label columns of several files, joined by their ids."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from congruence.cli.gaps import missing_note
from congruence.cli.printing import say
from congruence.cli.reading import Columns, FoundLabels, label_columns, said_of, table_of
from congruence.typing import ColumnLike


def columns_of_files(paths: Sequence[Path], columns: Columns, id: str | None) -> FoundLabels:
    """The clusterings of several files of the same points, in the order of the first; points missing in a file are dropped."""
    import numpy as np

    from congruence import InputError
    from congruence.inputs.column_names import named_columns
    from congruence.inputs.joining import joined_rows, rows_of

    tables = [table_of(path) for path in paths]
    there = list(dict.fromkeys(name for table in tables for name in table))
    named = named_columns(columns, there, f"none of the {len(paths)} files", (id,)) if columns else None
    first = tables[0]
    places = [np.arange(len(next(iter(first.values()))))]
    ids: list[str | None] = [id]
    kept: dict[str, ColumnLike] = {}
    for path, table in zip(paths[1:], tables[1:], strict=True):
        rows = joined_rows([first, table], (str(paths[0]), str(path)), id)
        place = places[0].copy()
        if rows.take is not None:
            place = np.full(len(place), -1)
            place[rows.take[0]] = rows.take[1]
        places.append(place)
        ids[0] = ids[0] or rows.names[0]
        ids.append(rows.names[1])
        kept = kept or rows.ids
        say([f"{path}: {note}" for note in rows.notes])
    common = np.flatnonzero(np.all([place >= 0 for place in places], axis=0))
    if not len(common):
        raise InputError(f"the {len(paths)} files have no point in common")
    found: list[tuple[Path, str, ColumnLike]] = []
    for path, table, place, own in zip(paths, tables, places, ids, strict=True):
        sorting = label_columns(table, named and [name for name in named if name in table], str(path), own)
        say([f"{path}: {line}" for line in [*said_of(sorting), *missing_note(path, sorting.taken)]])
        found += [(path, name, rows_of(column, place[common])) for name, column in sorting.taken.items()]
    often = Counter(name for _, name, _ in found)
    whole = Counter(path.name for path in paths)
    called = {
        name if often[name] == 1 else f"{path.name if whole[path.name] == 1 else path}:{name}": column
        for path, name, column in found
    }
    return FoundLabels(called, None, kept)
