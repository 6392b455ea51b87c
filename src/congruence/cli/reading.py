"""Inputs of the commands: label columns, weights, and values of options."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from congruence.cli.printing import say


def read_labels(
    file: Path, named: list[str], id: str | None, long: str | None, weight: str | None, frequency: str | None,
    reference: str | None, scanning: dict[str, Any],
) -> tuple[dict[str, Any], list[str], dict[str, Any]]:  # fmt: skip
    """Columns, notes, and weights as options: in memory, or scanned."""
    threads = scanning.pop("threads", None)
    extra = (weight, frequency)
    scanned = scanned_columns(file, named, id, long, extra, reference, **scanning)
    if scanned is None:
        found, notes = label_columns(file, named, id, long, extra, reference)
        return found, notes, mass_columns(file, weight, frequency)
    found, notes, source = scanned
    source = source.with_options(threads=threads)
    mass = {key: source[name] for key, name in (("sample_weight", weight), ("frequency", frequency)) if name}
    return {name: source[name] for name in found}, notes, mass


def table_of(file: Path) -> dict[str, Any]:
    """The columns of a file by name; a file is parsed once per command."""
    from congruence.inputs import files

    try:
        state = file.stat()
    except OSError:
        return files.read_columns(file)  # raises with the reason
    return dict(_parsed(file, state.st_mtime_ns, state.st_size))


@lru_cache(maxsize=2)
def _parsed(file: Path, *_state: int) -> dict[str, Any]:
    from congruence.inputs import files

    return files.read_columns(file)


def split(text: str | None) -> list[str]:
    """The items of a comma-separated list."""
    return [part.strip() for part in text.split(",") if part.strip()] if text else []


def label_columns(
    file: Path,
    named: list[str],
    id: str | None,
    long: str | None,
    extra: tuple[str | None, ...],
    reference: str | None,
) -> tuple[dict[str, Any], list[str]]:
    """The clusterings of a file by name, and notes on columns that were left out."""
    from congruence import InputError
    from congruence.inputs import files

    table = table_of(file)
    if len(set(named)) < len(named):
        raise InputError(f"column {next(name for name in named if named.count(name) > 1)!r} is named twice")
    if long is not None:
        parts = split(long)
        if len(parts) != 3:
            raise InputError(f"--long takes three column names, as in id,method,label; got {long!r}")
        table = dict(files.from_long(files.pick(table, parts, str(file)), *parts))
        if reference is not None:
            files.pick(table, [reference], str(file))
        if not named:
            return table, []
    if named:
        return files.pick(
            table, [*([reference] if reference and reference not in named else []), *named], str(file)
        ), []
    for name in (id, reference, *extra):
        if name is not None:
            files.pick(table, [name], str(file))
    rest = {name: column for name, column in table.items() if name != id and name not in extra}
    return files.without_ids(rest)


def scanned_columns(
    file: Path,
    named: list[str],
    id: str | None,
    long: str | None,
    extra: tuple[str | None, ...],
    reference: str | None,
    **options: Any,
) -> tuple[dict[str, Any], list[str], Any] | None:
    """The columns of a folder, or of a file read in row groups; None if it is read into memory."""
    given = {key: value for key, value in options.items() if value not in (None, False)}
    if not file.is_dir() and "*" not in file.name and not given:
        return None
    import congruence as cg

    if long is not None:
        raise cg.InputError(
            "--long tables are read into memory; leave out --client, --checkpoint, --skip-bad and --memory"
        )
    everything = cg.scan(file, None, id, **given)
    names = named or [name for name in everything.names if name not in extra]
    if reference is not None and reference not in names:
        names = [reference, *names]
    found = everything.narrowed(names)
    return {name: found[name] for name in names}, [] if named else list(everything.notes), found


def mass_columns(file: Path, weight: str | None, frequency: str | None) -> dict[str, Any]:
    """The weights or counts of the points, as options of `compare`."""
    from congruence.inputs import files

    found = {}
    for option, name in (("sample_weight", weight), ("frequency", frequency)):
        if name is not None:
            column = files.pick(table_of(file), [name], str(file))[name]
            column = files.numbers_of(column)
            found[option] = column.to_numpy() if hasattr(column, "to_numpy") else column
    return found


def check_noise_columns(noise: Any, columns: dict[str, Any]) -> None:
    """Raise if --noise COLUMN=LABEL names an unknown column: its noise would count as a cluster."""
    from congruence.inputs import files

    if isinstance(noise, dict):
        files.pick(columns, list(noise), "--noise: the comparison")


def check_same_row_names(tables: list[dict[str, Any]], paths: tuple[Path, Path]) -> None:
    """Raise if two files of the same length name their rows differently."""
    from congruence import InputError
    from congruence.inputs import files

    names = [set(table) - set(files.without_ids(table)[0]) for table in tables]
    for name in sorted(names[0] & names[1]):
        left, right = (table[name] for table in tables)
        if len(left) == len(right) and left.to_pylist() != right.to_pylist():
            raise InputError(
                f"the rows of {paths[0]} and {paths[1]} are not in the same order by column {name!r}; pass "
                f"--id {name} to join them on it"
            )


@dataclass(frozen=True)
class TwoColumns:
    """Two clusterings of the same rows, their names, the noise labels that apply, and notes."""

    names: tuple[str, str]
    values: tuple[Any, Any]
    noise: Any
    notes: list[str]
    #: row ids by the name of their column; empty where rows have no names
    ids: dict[str, Any]


def two_columns(
    file: Path, more: list[str], columns: str | None, id: str | None, long: str | None, noise: Any
) -> TwoColumns:
    """The two clusterings of `FILE COL_A COL_B` or `FILE_A FILE_B`."""
    from congruence import InputError
    from congruence.inputs import files

    if len(more) == 1 and files.suffix_of(Path(more[0])) in files.READABLE:
        if long is not None:
            raise InputError("--long names columns of one file, and two were given; join the two files first")
        return columns_of_two_files(file, Path(more[0]), columns, id, noise)
    found, notes = label_columns(file, split(columns) or more, id, long, (), None)
    if len(found) != 2:
        raise InputError(
            f"{file} has {len(found)} label columns ({', '.join(list(found)[:6])}{', …' if len(found) > 6 else ''}); "
            "name two of them"
        )
    check_noise_columns(noise, found)
    (name_a, a), (name_b, b) = found.items()
    return TwoColumns((name_a, name_b), (a, b), noise, notes, row_ids(file, id, long))


def columns_of_two_files(a: Path, b: Path, columns: str | None, id: str | None, noise: Any) -> TwoColumns:
    """One clustering of each file: joined on an id, or row by row."""
    from congruence import InputError
    from congruence.inputs import files
    from congruence.inputs.similarity import Similarity

    tables = [table_of(path) for path in (a, b)]
    if id is None:
        check_same_row_names(tables, (a, b))
    named = split(columns)
    chosen = []
    for side, (table, path) in enumerate(zip(tables, (a, b), strict=True)):
        matrices = [(name, column) for name, column in table.items() if isinstance(column, Similarity)]
        if matrices:
            chosen.append(matrices[0])
            continue
        if named:
            name = named[min(side, len(named) - 1)]
            chosen.append((name, files.pick(table, [name], str(path))[name]))
            continue
        rest, _ = files.without_ids({key: column for key, column in table.items() if key != id})
        if len(rest) != 1:
            raise InputError(
                f"{path} has {len(rest)} label columns ({', '.join(list(rest)[:6])}); pass --columns COL_A,COL_B"
            )
        chosen.append(next(iter(rest.items())))
    (name_a, left), (name_b, right) = chosen
    notes: list[str] = []
    rows = row_ids(a, id, None)
    if id is not None:
        ids = [files.pick(table, [id], str(path))[id] for table, path in zip(tables, (a, b), strict=True)]
        take_a, take_b, notes = files.join(ids[0], ids[1], (str(a), str(b)))
        left, right = _taken(left, take_a), _taken(right, take_b)
        rows = {id: _taken(ids[0], take_a)}
        notes = notes or [f"all {len(take_a)} ids of {a} and {b} have a partner"]
    elif len(left) != len(right):
        raise InputError(f"{a} has {len(left)} rows and {b} has {len(right)}; pass --id COLUMN to join them on an id")
    check_noise_columns(noise, {name_a: left, name_b: right})
    if name_a == name_b:
        if isinstance(noise, dict):
            noise = noise[name_a]
        name_a, name_b = (f"{path.name if a.name != b.name else path}:{name_a}" for path in (a, b))
    return TwoColumns((name_a, name_b), (left, right), noise, notes, rows)


def _taken(column: Any, rows: Any) -> Any:
    return column.take(rows) if hasattr(column, "take") else column.taken(rows)


def row_ids(file: Path, id: str | None, long: str | None) -> dict[str, Any]:
    """The names of the points: the id column, or the first column of row names, if any."""
    return dict(list(_all_row_ids(file, id, long).items())[:1])


def _all_row_ids(file: Path, id: str | None, long: str | None) -> dict[str, Any]:
    from congruence.inputs import files
    from congruence.inputs.coerce import as_clustering

    if files.suffix_of(file) == ".npy":
        return {}
    table = table_of(file)
    if long is not None:
        name = split(long)[0]
        return {name: list(as_clustering(table[name]).names)}  # in the order of `from_long`
    if id is not None:
        return files.pick(table, [id], str(file))
    labels, _ = files.without_ids(table)
    return {name: column for name, column in table.items() if name not in labels}


def check_same_rows(paths: tuple[Path, Path], id: str | None, long: str | None) -> None:
    """Raise if the row names or ids of two ensembles differ: they are compared row by row."""
    from congruence import InputError

    left, right = (_all_row_ids(file, id, long) for file in paths)
    for name in left:
        if name in right and [str(x) for x in left[name]] != [str(x) for x in right[name]]:
            raise InputError(
                f"the rows of {paths[0]} and {paths[1]} are not the same by column {name!r}; sort both by it"
            )


def noise_labels(text: str | None) -> Any:
    """-1 · -1,unknown · COLUMN=-1;OTHER=0"""
    if text is None:
        return None

    def value(word: str) -> Any:
        try:
            return int(word)
        except ValueError:
            return word.strip()

    if "=" not in text:
        return {value(word) for word in text.split(",")}
    parts = (part.split("=", 1) for part in text.split(";") if part)
    return {part[0].strip(): {value(word) for word in part[1].split(",")} for part in parts if len(part) == 2}


def wanted_measures(measures: str | None, limits: dict[str, float]) -> Any:
    """The named measures, including those with a limit; None for the default measures."""
    import congruence as cg

    if measures is None or measures.strip() == "all":
        if not limits:
            return None if measures is None else "all"
        from congruence.comparison.evaluation import DEFAULT

        return [*DEFAULT, *limits] if measures is None else "all"
    return [cg.measure(key) for key in [*split(measures), *limits]]


def limits_of(fail_under: list[str] | None) -> dict[str, float]:
    """{measure: limit} of `--fail-under ari=0.9`."""
    import congruence as cg

    found = {}
    for text in fail_under or []:
        key, _, value = text.partition("=")
        try:
            limit = float(value)
        except ValueError:
            limit = math.nan
        if math.isnan(limit):
            raise cg.InputError(f"--fail-under takes MEASURE=NUMBER, as in ari=0.9; got {text!r}")
        found[cg.measure(key.strip()).key] = limit
    return found


def whole_numbers(text: str, option: str = "--k") -> list[int]:
    """2..12, or 2,3,5, or both: 2..6,10."""
    from congruence import InputError

    found: list[int] = []
    try:
        for word in split(text):
            first, dots, last = word.partition("..")
            found += range(int(first), int(last) + 1) if dots else [int(first)]
    except ValueError:
        found = []
    if not found:
        raise InputError(f"{option} takes numbers of clusters, as in 2..12 or 2,3,5; got {text!r}")
    return found


def data_columns(
    file: Path, named: list[str], id: str | None, apart: tuple[str | None, ...] = ()
) -> tuple[Any, dict[str, Any], list[str]]:
    """The numbers of a file (points × features), the named columns, and notes on columns that were left out."""
    import numpy as np

    from congruence import InputError
    from congruence.inputs import files

    if files.suffix_of(file) == ".npy" and file.is_file():
        if named or id or any(apart):
            raise InputError(f"{file} has no column names; options that name columns are for tables")
        with file.open("rb") as stream:
            return np.load(stream, allow_pickle=False), {}, []
    table = table_of(file)
    others = files.pick(table, [x for x in (id, *apart) if x is not None], str(file))
    if named:
        rest, notes = files.pick(table, named, str(file)), list[str]()
    else:
        rest, notes = files.without_ids(
            {name: column for name, column in table.items() if name not in others}, is_data=True
        )
    numbers = {name: np.asarray(files.numbers_of(column)) for name, column in rest.items()}
    words = [name for name, column in numbers.items() if column.ndim != 1 or column.dtype.kind not in "iufb"]
    if words and (named or len(words) == len(numbers)):
        raise InputError(f"{file}: column {words[0]!r} is not numbers; clustering needs numbers, so encode it first")
    if words:
        notes.append(f"columns that are not numbers were left out: {', '.join(words)}")
    return np.column_stack([c for name, c in numbers.items() if name not in words]), others, notes


def features_of(table: dict[str, Any], features: str | None, taken: list[str], file: Path) -> dict[str, Any]:
    """The columns of the data: the named ones, or all without labels, ids or windows."""
    from congruence.inputs import files

    if features is not None:
        return files.pick(table, split(features), str(file))
    rest = {name: column for name, column in table.items() if name not in taken}
    kept, notes = files.without_ids(rest, is_data=True)
    say([*notes, f"features: {', '.join(kept)} (name them with --features)"])
    return kept
