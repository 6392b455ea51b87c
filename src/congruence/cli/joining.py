"""Label columns of several files, joined by their ids; or two columns, as `FILE COL_A COL_B` or one of each of two files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from congruence.cli.options import TABLE, Gaps, Labels, Policy, Printing, argument, option
from congruence.cli.parsing import check_width, noise_labels
from congruence.cli.printing import say
from congruence.cli.reading import (
    Columns,
    FoundLabels,
    check_noise_columns,
    label_columns,
    labels_of,
    missing_note,
    row_ids,
    said_of,
    split,
    table_of,
)
from congruence.errors import FRONT, InputError, some_of
from congruence.typing import ColumnLike, NoiseLike

if TYPE_CHECKING:
    from congruence.inputs.joining import JoinedRows
    from congruence.statistics.tables import Table


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


def call_sides(names: tuple[str, str]) -> None:
    """Let the messages of this command call a and b by the names of their columns."""
    FRONT[-1].names = dict(zip("ab", names, strict=True))


@dataclass(frozen=True)
class TwoColumns:
    """Two clusterings of the same rows, their names, and the noise labels that apply."""

    names: tuple[str, str]
    values: tuple[ColumnLike, ColumnLike]
    noise: NoiseLike
    #: row ids by the name of their column; empty if rows have no names
    ids: dict[str, ColumnLike]


class TwoLabels(Labels, Gaps, Printing):
    """Two label columns, and where the result is written."""

    more: list[str] | None = argument("Two columns, or a second file.", None, metavar="[COL_A COL_B | FILE_B]")
    out: Path | None = option(None, writes=TABLE)


def expect_two(file: Path, found: Collection[str], *, named: bool, otherwise: str = "") -> None:
    """Refuse other numbers of label columns than two; a single clustering is described by `congruence report`."""
    if len(found) == 1:
        (name,) = found
        first = f"only {name} is named; name two columns" if named else f"{file} has one label column ({name})"
        raise InputError(f"{first}; `congruence report` describes a single clustering")
    if len(found) != 2:
        raise InputError(f"{file} has {len(found)} label columns ({some_of(found, 6)}); name two of them{otherwise}")


def two_columns(given: TwoLabels) -> TwoColumns:
    """The two clusterings of `FILE COL_A COL_B` or `FILE_A FILE_B`, which messages name."""
    from congruence.inputs import files

    more, noise = given.more or [], noise_labels(given.noise)
    if len(more) == 1 and files.suffix_of(Path(more[0])) in files.READERS:
        if given.long is not None:
            raise InputError("--long names columns of one file, but two files were given; join them first")
        pair = columns_of_two_files(given.file, Path(more[0]), given.columns, given.id, noise)
    else:
        check_width(given.file, given.columns or " ".join(more), given.long)
        found = labels_of(given, given.columns or more).columns
        expect_two(given.file, found, named=bool(given.columns or more))
        check_noise_columns(noise, found)
        (name_a, a), (name_b, b) = found.items()
        pair = TwoColumns((name_a, name_b), (a, b), noise, row_ids(given.file, given.id, given.long))
    call_sides(pair.names)
    return pair


def columns_of_two_files(a: Path, b: Path, columns: Columns, id: str | None, noise: NoiseLike) -> TwoColumns:
    """One clustering of each file, joined by their ids, or row by row if neither has ids."""
    from congruence.inputs.joining import joined_rows, rows_of

    paths = (a, b)
    tables = [table_of(path) for path in paths]
    rows = joined_rows(tables, (str(a), str(b)), id)
    say(rows.notes)
    (name_a, left), (name_b, right) = _one_of_each(tables, paths, columns, rows.names)
    if rows.take is not None:
        left, right = rows_of(left, rows.take[0]), rows_of(right, rows.take[1])
    check_noise_columns(noise, {name_a: left, name_b: right})
    if name_a == name_b:
        if isinstance(noise, dict):
            noise = noise[name_a]
        name_a, name_b = (f"{path.name if a.name != b.name else path}:{name_a}" for path in (a, b))
    say([*missing_note(a, {name_a: left}), *missing_note(b, {name_b: right})])
    return TwoColumns((name_a, name_b), (left, right), noise, rows.ids)


def _one_of_each(
    tables: list[dict[str, ColumnLike]], paths: tuple[Path, Path], columns: Columns, ids: tuple[str | None, str | None]
) -> list[tuple[str, ColumnLike]]:
    """The clustering of each of two files: a matrix, the column named, or the only one."""
    from congruence.inputs.column_names import named_columns
    from congruence.inputs.similarity import Similarity

    there = list(dict.fromkeys(name for table in tables for name in table))
    named = named_columns(columns, there, f"neither {paths[0]} nor {paths[1]}") if columns else []
    if len(named) > 2:
        raise InputError(
            f"--columns names {len(named)} columns ({some_of(named, 6)}), but two files are compared by one column each; pass "
            f"COL_A,COL_B, or compare all columns of both with `congruence matrix`"
        )
    chosen = []
    for side, (table, path) in enumerate(zip(tables, paths, strict=True)):
        matrices = [(name, column) for name, column in table.items() if isinstance(column, Similarity)]
        own = [name for name in named if name in table]
        if matrices:
            chosen.append(matrices[0])
            continue
        name = own[0] if len(own) == 1 else named[min(side, len(named) - 1)] if named else None
        found = label_columns(table, name and [name], str(path), ids[side])
        say([f"{path}: {line}" for line in said_of(found)])
        if len(found.taken) != 1:
            raise InputError(
                f"{path} has {len(found.taken)} label columns ({some_of(found.taken, 6)}); pass --columns COL_A,COL_B, the "
                f"first of {paths[0]}, the second of {paths[1]}"
            )
        chosen.append(next(iter(found.taken.items())))
    return chosen


def rows_of_two(given: Labels, other: Path) -> JoinedRows:
    """Which rows of two files are the same points; long tables have their points in the order of `from_long`."""
    import numpy as np

    from congruence.inputs.joining import joined_rows

    paths = (given.file, other)
    if given.long is None:
        return joined_rows([table_of(path) for path in paths], (str(paths[0]), str(paths[1])), given.id)
    tables = [{name: np.array(x) for name, x in row_ids(path, None, given.long).items()} for path in paths]
    return joined_rows(tables, (str(paths[0]), str(paths[1])), split(given.long)[0])


def cautions_of(pair: TwoColumns, unassigned: Policy, table: Table) -> list[str]:
    """Cautions about two columns and their table: points that were dropped, spellings of one label, label −1."""
    from congruence.inputs.alignment import InputOptions, prepared

    names = dict(zip(("a", "b"), pair.names, strict=True))
    both = prepared(*pair.values, InputOptions(unassigned=unassigned, noise=pair.noise))
    return [caution.renamed(names) for caution in both.cautions(table, int(table.n))]
