"""Inputs of the commands: label columns, weights, and values of options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from os.path import isfile  # also for names that are too long
from pathlib import Path
from typing import TYPE_CHECKING

from congruence.cli.app import at_end, memory_of_tables, settings
from congruence.cli.options import Labels
from congruence.cli.printing import say
from congruence.errors import InputError, Option, joined, some_of
from congruence.typing import ColumnLike, NoiseLike, OptionValue, PointsLike, Scalar

if TYPE_CHECKING:
    import pyarrow as pa

    from congruence.inputs.column_kinds import Sorting
    from congruence.scanning.scan import Scan
    from congruence.statistics.tables import Array

#: columns as an option gives them, separated by commas, or one by one
Columns = str | Sequence[str] | None


def read_labels(
    given: Labels, named: Columns = None, find_reference: bool = False
) -> tuple[FoundLabels, dict[str, OptionValue]]:
    """The clusterings and weights as options: in memory, or scanned."""
    scanned = scanned_columns(given, named, find_reference)
    if scanned is None:
        return labels_of(given, named, find_reference), mass_columns(given)
    found, source = scanned
    source = source.with_options(threads=given.threads)
    mass = {key: source[name] for key, name in given.mass.items()}
    return replace(found, columns={name: source[name] for name in found.columns}), mass


def table_of(file: Path) -> dict[str, ColumnLike]:
    """The columns of a file by name; a file is parsed once per command."""
    from congruence.inputs import files

    try:
        state = file.stat()
    except OSError:
        return files.read_columns(file)  # raises with the reason
    parsed = _parsed(file, settings.na_values, settings.sheet, state.st_mtime_ns, state.st_size)
    return type(parsed)(parsed)


@lru_cache(maxsize=2)
def _parsed(file: Path, na_values: str | None, sheet: str | None, *_state: int) -> dict[str, ColumnLike]:
    from congruence.inputs import files

    return files.read_columns(file, na_list(na_values), sheet)


def na_list(text: str | None) -> list[str] | None:
    """The fields that --na-values names; None for the default list."""
    return None if text is None else text.split(",")


def split(text: str | None) -> list[str]:
    """The items of a comma-separated list."""
    return [part.strip() for part in text.split(",") if part.strip()] if text else []


@dataclass(frozen=True)
class FoundLabels:
    """The clusterings of a file (with the reference, if any), and its row ids."""

    columns: dict[str, ColumnLike]
    reference: str | None = None
    ids: dict[str, ColumnLike] = field(default_factory=dict)

    def without_reference(self) -> tuple[dict[str, ColumnLike], ColumnLike | None]:
        """The clusterings without the reference, and the reference, or None."""
        rest = {name: column for name, column in self.columns.items() if name != self.reference}
        return rest, self.columns.get(self.reference) if self.reference is not None else None


def check_reference(reference: str | None, id: str | None) -> None:
    """Refuse the column of ids as the reference: it is not a clustering."""

    if reference is not None and reference == id:
        raise InputError(f"column {id!r} holds the ids (--id), so it cannot be the reference; name another column")


def labels_of(given: Labels, named: Columns = None, find_reference: bool = False) -> FoundLabels:
    """The clusterings of a file, by the common rule for columns; prints how it used them.

    `find_reference` looks for a column named truth or class.
    """
    file, id, long, reference = given.file, given.id, given.long, given.reference
    named, extra = named or given.columns, tuple(given.mass.values())
    check_reference(reference, id)
    from congruence.inputs import files
    from congruence.inputs.column_kinds import named_sorting, sorted_columns
    from congruence.inputs.column_names import named_columns

    table = table_of(file)
    asked = None if is_none(reference) else reference
    if not isinstance(named, str) and named is not None and len(set(named)) < len(named):
        raise InputError(f"column {next(name for name in named if named.count(name) > 1)!r} is named twice")
    ids = {} if long is not None else _ids_named(table, id, file)
    if long is not None:
        parts = split(long)
        if len(parts) != 3:
            raise InputError(f"--long takes three column names, as in id,method,label; got {long!r}")
        table = dict(files.from_long(files.pick(table, parts, str(file)), *parts))
        id = None
    for name in (asked, *extra):
        if name is not None:
            files.pick(table, [name], str(file))
    if named or long is not None:
        chosen = named_columns(named, table, str(file), (id, *extra)) if named else list(table)
        names = [*([asked] if asked is not None and asked not in chosen else []), *chosen]
        picked = files.pick(table, names, str(file))
        found = named_sorting(table, picked, id=id, reference=asked, apart=extra)
        kept = ids
    else:
        found = sorted_columns(
            table, id=id, reference=reference, apart=extra, find_reference=find_reference, source=str(file)
        )
        kept = found.ids
    found = replace(found, beside=given.beside)
    if found.reference is not None and found.reference not in found.taken:
        raise InputError(
            f"{file}: {found.reference!r} is part of a clustering and cannot be the reference; there are: "
            f"{some_of(found.taken)}"
        )
    say([*said_of(found), *missing_note(file, found.taken)])
    return FoundLabels(found.taken, found.reference, kept)


def is_none(reference: str | None) -> bool:
    """Whether `--reference none` says that there is no reference."""
    return reference is None or reference.lower() == "none"


def label_columns(
    table: Mapping[str, ColumnLike],
    named: Columns,
    source: str,
    id: str | None,
    apart: Sequence[str | None] = (),
    find_reference: bool = False,
) -> Sorting:
    """The label columns of a table: those that are named, or all that are labels; `find_reference` looks for a reference."""
    from congruence.inputs import files
    from congruence.inputs.column_kinds import named_sorting, sorted_columns
    from congruence.inputs.column_names import named_columns

    if named is None:
        return sorted_columns(table, id=id, apart=apart, find_reference=find_reference, source=source)
    picked = files.pick(table, named_columns(named, table, source, (id, *apart)), source)
    return named_sorting(table, picked, id=id, apart=apart)


def said_of(found: Sorting) -> list[str]:
    """One line that says how columns are used; with --verbose also why."""
    why = [f"  {line}" for line in found.reasons] if settings.verbose else []
    from congruence.inputs.column_names import DESCRIBE

    out = [x for x, word in found.left_out.items() if word == DESCRIBE]
    if out:
        why.append(f"to count other columns, name them or a pattern: --columns '{next(iter(found.taken))},{out[0]}*'")
    return [found.line, *why]


def _ids_named(table: dict[str, ColumnLike], id: str | None, file: Path) -> dict[str, ColumnLike]:
    from congruence.inputs import files
    from congruence.inputs.column_kinds import check_distinct

    if id is None:
        return {}
    found = files.pick(table, [id], str(file))
    check_distinct(found[id], id, str(file))
    return found


#: number of cells above which a Parquet file is read in row groups
LARGE = 30_000_000


def is_large(file: Path) -> bool:
    """Whether a Parquet file is read in row groups because of its size, by its footer."""
    from congruence.inputs import files

    if files.suffix_of(file) != ".parquet" or not isfile(file):
        return False
    from pyarrow import ArrowInvalid, parquet

    try:
        footer = parquet.read_metadata(file)
    except (ArrowInvalid, OSError):
        return False  # reading it raises the right error
    return bool(footer.num_rows * footer.num_columns > LARGE)


def scanned_columns(
    given: Labels, named: Columns = None, find_reference: bool = False, always: bool = False
) -> tuple[FoundLabels, Scan] | None:
    """The columns of a folder, or of a file read in row groups, and their scan; None if it is read into memory.

    `always` scans a file of any size.
    """
    file, id, long, reference = given.file, given.id, given.long, given.reference
    named, extra = named or given.columns, tuple(given.mass.values())
    check_reference(reference, id)
    from congruence.inputs.formats import database_of

    options = given.scanning(memory_of_tables())
    many = always or database_of(str(file)) is not None or file.is_dir() or "*" in file.name
    if not many and not options and (long is not None or not is_large(file)):
        return None
    import congruence as cg
    from congruence.inputs import files
    from congruence.inputs.column_names import named_columns, other_references, reference_among
    from congruence.scanning.batches import named_names
    from congruence.scanning.sources import OPENERS, source_of

    if options.keys() <= {"memory"} and not many and (long is not None or files.suffix_of(file) not in OPENERS):
        return None  # --memory stops the run if it needs more
    if long is not None:
        raise cg.InputError("--long tables are read into memory; leave out --client, --checkpoint and --skip-bad")
    source = source_of(file, na_list(settings.na_values))
    there = [name for name in source.schema.names if name not in (id, *extra)]
    asked = None if is_none(reference) else reference
    if named:
        names = named_columns(named, there, str(file))
        names = [*([asked] if asked is not None and asked not in names else []), *names]
        everything = cg.scan(source, names, id, **options)
        sorting = named_names(source, names, [name for name in there if name not in names], id)
    else:
        everything = cg.scan(source, None, id, **options)
        names = [name for name in everything.names if name not in extra]
        others = list[str]()
        if reference is None and find_reference and len(names) > 2:
            asked = reference_among(names)
            others = other_references(names, asked)
            names = [name for name in names if name not in others]
        names = [*([asked] if asked is not None and asked not in names else []), *names]
        sorting = everything.found or named_names(source, names, [], id)
        left_out = {x: word for x, word in sorting.left_out.items() if x not in (asked, *extra)}
        sorting = replace(sorting, left_out=left_out | dict.fromkeys(others, "another reference"))
    sorting = replace(sorting, taken=dict.fromkeys(names), reference=asked, beside=given.beside)
    say(said_of(sorting))
    found = everything.narrowed(names)
    columns = {name: found[name] for name in names}
    if source.fields:
        at_end.append(lambda error: say(scanned_gaps(columns, error)))
    return FoundLabels(columns, asked), found


def missing_note(file: Path, columns: dict[str, ColumnLike]) -> list[str]:
    """How many fields of these columns of a text file are missing, and which fields count as missing."""
    from congruence.inputs.files import suffix_of

    if suffix_of(file) not in (".csv", ".tsv", ".txt"):
        return []
    return _note({name: getattr(column, "null_count", 0) for name, column in columns.items()})


def scanned_gaps(columns: dict[str, ColumnLike], error: BaseException | None) -> list[str]:
    """The same for scanned text, once it is counted; without numbers if the scan stopped at a missing label."""
    known = {name: (column.source.known(column), column.name) for name, column in columns.items()}
    counts = {name: int(part.gaps[part.names.index(own)]) for name, (part, own) in known.items() if part is not None}
    if not counts and isinstance(error, InputError) and error.code == "no_label":
        return _note(None)
    return _note(counts)


def _note(counts: dict[str, int] | None) -> list[str]:
    from congruence.inputs.files import MISSING

    gaps = [f"{count:,} in {name}" for name, count in (counts or {}).items() if count]
    if counts is not None and not gaps:
        return []
    words = [word for word in MISSING if word] if settings.na_values is None else settings.na_values.split(",")
    shown = gaps if len(gaps) <= 4 else [*gaps[:3], f"{len(gaps) - 3:,} more columns"]
    fields = f"fields that are empty, or unquoted {joined(words, 'or')}"
    if counts is None:
        return [f"missing labels: {fields}; see --na-values"]
    return [f"missing labels: {joined(shown)} ({fields}; see --na-values)"]


def mass_columns(given: Labels) -> dict[str, ColumnLike]:
    """The weights or counts of the points, as options of `compare`."""
    from congruence.inputs import files

    found = {}
    for option, name in given.mass.items():
        column = files.numbers_of(files.pick(table_of(given.file), [name], str(given.file))[name])
        found[option] = column.to_numpy() if hasattr(column, "to_numpy") else column
    return found


def check_noise_columns(noise: NoiseLike, columns: dict[str, ColumnLike]) -> None:
    """Raise if --noise COLUMN=LABEL names an unknown column: its noise would count as a cluster."""
    from congruence.inputs import files

    if isinstance(noise, dict):
        files.pick(columns, list(noise), "--noise: the comparison")


def listed(column: ColumnLike) -> list[Scalar]:
    """The original values of a column."""
    if hasattr(column, "as_columns"):  # labels of a long table
        return list(column.as_columns("labels")["labels"])
    for name in ("to_pylist", "tolist"):
        if hasattr(column, name):
            return list(getattr(column, name)())
    return list(column)


def row_ids(file: Path, id: str | None, long: str | None) -> dict[str, ColumnLike]:
    """The names of the points: the id column, or the first column of row names, if any."""
    return dict(list(_all_row_ids(file, id, long).items())[:1])


def _all_row_ids(file: Path, id: str | None, long: str | None) -> dict[str, ColumnLike]:
    from congruence.inputs import files
    from congruence.inputs.coerce import as_clustering
    from congruence.inputs.column_kinds import id_columns

    if files.suffix_of(file) == ".npy":
        return {}
    table = table_of(file)
    if long is not None:
        name = split(long)[0]
        return {name: list(as_clustering(table[name]).names)}  # in the order of `from_long`
    return files.pick(table, [id], str(file)) if id is not None else id_columns(table)


@dataclass(frozen=True)
class FoundData:
    """The numeric columns of a file by name, columns with a special role, row ids, and notes for the user."""

    numbers: dict[str, ColumnLike]
    others: dict[str, ColumnLike] = field(default_factory=dict)
    ids: dict[str, ColumnLike] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @property
    def matrix(self) -> Array:
        """Points × features."""
        import numpy as np

        return np.column_stack(list(self.numbers.values()))

    @property
    def frame(self) -> pa.Table:
        """The same with the names of the columns, as floats if that is exact, because floats are always read as measurements."""
        import numpy as np
        import pyarrow as pa

        if words := [name for name, x in self.numbers.items() if x.dtype.kind not in "biuf"]:
            raise InputError(f"column {words[0]!r} holds text, not numbers; choose others with --columns")
        exact = {
            name: x if x.size and np.abs(x).max() > np.float64(2**53) else x.astype(float)
            for name, x in self.numbers.items()
        }
        return pa.table({name: pa.array(x) for name, x in exact.items()})

    def scaled(self, standardise: bool) -> PointsLike:
        """Points × features, standardised if requested; otherwise a note if scales differ much."""
        import numpy as np

        from congruence.selection.points import different_scales

        try:
            X = self.matrix.astype(np.float64)
        except ValueError as error:  # an array of text
            raise InputError(f"expected numbers, one row per point ({error})") from None
        with np.errstate(over="ignore", invalid="ignore"):
            spread = np.nanstd(X, axis=0)
        if standardise:
            return (X - np.nanmean(X, axis=0)) / np.where(spread > 0, spread, 1)
        self.notes.extend(f"{x} ({Option('standardise', True)})" for x in different_scales(list(self.numbers), spread))
        return X


def picture_in(file: Path) -> dict[str, ColumnLike]:
    """The embedding of an .h5ad file for scatter plots; empty for other files."""
    from congruence.inputs import files
    from congruence.inputs.formats import ANNDATA, picture_of, read_anndata

    return picture_of(read_anndata(file), settings.layer) if files.suffix_of(file) in ANNDATA else {}


def embeddings_in(file: Path) -> dict[str, ColumnLike]:
    """The columns of the embeddings of an .h5ad file; empty for other files."""
    from congruence.inputs import files
    from congruence.inputs.formats import ANNDATA, embedding_columns, read_anndata

    return embedding_columns(read_anndata(file)) if files.suffix_of(file) in ANNDATA else {}


def numbers_in(
    file: Path,
    named: Columns,
    id: str | None,
    apart: tuple[str | None, ...] = (),
    more: dict[str, ColumnLike] | None = None,
) -> FoundData:
    """The numbers of a file to cluster by: the named columns, or all except ids, labels and dates.

    `more` are further columns that can be named.
    """
    import numpy as np

    from congruence.inputs import files
    from congruence.inputs.column_kinds import first_ids, named_sorting, sorted_columns
    from congruence.inputs.column_names import named_columns
    from congruence.inputs.formats import ANNDATA

    if files.suffix_of(file) == ".npy":
        if named or id or any(apart):
            raise InputError(f"{file} has no column names; options that name columns are for tables")
        X = files.read_array(file)
        if X.ndim != 2:
            raise InputError(f"{file}: expected an array of points × features; this array has {X.ndim} dimensions")
        return FoundData({f"column {j + 1}": X[:, j] for j in range(X.shape[1])})
    if files.suffix_of(file) in ANNDATA and not named:
        return _numbers_of_anndata(file, id, apart)
    table = {**table_of(file), **(more or {})}
    others = files.pick(table, [x for x in apart if x is not None], str(file))
    ids = _ids_named(table, id, file)
    if named:
        rest = files.pick(table, named_columns(named, table, str(file), (id, *apart)), str(file))
        ids = ids or first_ids({name: column for name, column in table.items() if name not in rest})
        found = named_sorting(table, rest, id=next(iter(ids), None), apart=tuple(others), is_data=True)
    else:
        found = sorted_columns(table, id=id, apart=tuple(others), is_data=True, source=str(file))
        rest, ids = found.taken, found.ids
    notes = said_of(replace(found, reference=next(iter(others), None)))
    numbers = {name: np.asarray(files.numbers_of(column)) for name, column in rest.items()}
    words = [name for name, column in numbers.items() if column.ndim != 1 or column.dtype.kind not in "iufb"]
    if words:
        raise InputError(f"{file}: column {words[0]!r} is not numbers; clustering needs numbers, so encode it first")
    return FoundData(numbers, others | ids, ids, notes)


def _numbers_of_anndata(file: Path, id: str | None, apart: tuple[str | None, ...]) -> FoundData:
    """The numbers of an .h5ad file: `.obsm["X_pca"]`, else `.X`, or the named layer."""
    import numpy as np

    from congruence.inputs import files
    from congruence.inputs.formats import matrix_of, obs_columns, read_anndata

    data = read_anndata(file)
    matrix, names, where = matrix_of(data, settings.layer)
    X = np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix)
    table = obs_columns(data)
    ids = {id: table[id]} if id is not None and id in table else dict(list(table.items())[:1])
    others = files.pick(table, [x for x in apart if x is not None], str(file))
    note = f"data: {where} of {file}, {X.shape[1]:,} columns · id: {next(iter(ids))}"
    return FoundData({name: X[:, j] for j, name in enumerate(names)}, others | ids, ids, [note])


def features_of(
    table: dict[str, ColumnLike],
    features: str | None,
    beside: dict[str, tuple[str, ...]],
    file: Path,
    id: str | None = None,
) -> dict[str, ColumnLike]:
    """The feature columns: the named ones, or all except labels, ids and windows. `beside` are columns by their role."""
    from congruence.inputs import files
    from congruence.inputs.column_kinds import feature_columns, named_sorting
    from congruence.inputs.column_names import named_columns

    apart = [name for names in beside.values() for name in names]
    if features is not None:
        picked = files.pick(table, named_columns(features, table, str(file), (*apart, id)), str(file))
        found = replace(named_sorting(table, picked, id=id, apart=apart), purpose="features")
    else:
        rest = {name: column for name, column in table.items() if name not in (*apart, id)}
        found = feature_columns(rest, str(file))
        found = replace(found, ids={id: table[id]}) if id is not None else found
    say(said_of(replace(found, beside=beside)))
    return found.taken
