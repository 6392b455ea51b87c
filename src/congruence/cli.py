"""The command line: parse, call, print. Heavy imports happen inside the commands."""

from __future__ import annotations

import math
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

app = typer.Typer(
    name="congruence",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Compare clusterings: two label columns, or six hundred.",
)


class Format(StrEnum):
    """How results are printed."""

    table = "table"
    json = "json"
    csv = "csv"
    markdown = "markdown"


class Policy(StrEnum):
    """What becomes of points without a label."""

    error = "error"
    drop = "drop"
    singletons = "singletons"
    cluster = "cluster"


Measures = Annotated[
    str | None, typer.Option("--measures", "--measure", "-m", help="Measures by key, separated by commas, or 'all'.")
]
Columns = Annotated[str | None, typer.Option(help="The label columns to use, separated by commas.")]
Reference = Annotated[str | None, typer.Option(help="Compare every other column with this one.")]
Id = Annotated[str | None, typer.Option(help="Column of row ids: left out of the labels, and joins two files.")]
Long = Annotated[str | None, typer.Option(help="The file is a long table with these columns: id,method,label.")]
Unassigned = Annotated[Policy, typer.Option(help="What becomes of points without a label.")]
Noise = Annotated[
    str | None, typer.Option(help="Labels that mean noise: -1, or -1,unknown, or COLUMN=-1 (repeat after a semicolon).")
]
Weight = Annotated[str | None, typer.Option(help="Column of importance weights.")]
Frequency = Annotated[str | None, typer.Option(help="Column of counts: how often each row occurs.")]
Output = Annotated[Format, typer.Option("--format", "-f", help="How to print the result.")]
Threads = Annotated[int | None, typer.Option(min=1, help="Threads to use; by default all cores.")]
FailUnder = Annotated[
    list[str] | None,
    typer.Option(help="Exit with 1 if the measure is worse than this, as in ari=0.9; may be repeated."),
]


def _version(wanted: bool) -> None:
    if wanted:
        from congruence import __version__

        print(f"congruence {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


@app.command()
def compare(
    file: Annotated[Path, typer.Argument(help="Table of labels: csv, tsv, parquet, feather, npy, npz.")],
    more: Annotated[
        list[str] | None, typer.Argument(metavar="[COL_A COL_B | FILE_B]", help="Two columns, or a second file.")
    ] = None,
    measures: Measures = None,
    columns: Columns = None,
    reference: Reference = None,
    id: Id = None,
    long: Long = None,
    unassigned: Unassigned = Policy.error,
    noise: Noise = None,
    weight: Weight = None,
    frequency: Frequency = None,
    format: Output = Format.table,
    threads: Threads = None,
    fail_under: FailUnder = None,
) -> None:
    """Compare two label columns, two files, or several columns with a reference.

    Examples:

      congruence compare labels.csv kmeans leiden

      congruence compare mine.csv theirs.csv --id cell --measures ari,vi,element_centric

      congruence compare labels.parquet --reference truth --fail-under ari=0.9
    """
    import congruence as cg
    from congruence import io

    more = more or []
    options: dict[str, Any] = {"unassigned": unassigned.value, "noise": _noise(noise), "threads": threads}
    limits = _limits(fail_under)
    wanted = _keys(measures, limits)
    if len(more) == 1 and io.suffix_of(Path(more[0])) in io.READABLE:
        _for_one_file(weight=weight, frequency=frequency, reference=reference, long=long)
        result: Any = _compare_files(file, Path(more[0]), wanted, columns, id, options)
    else:
        found, notes = _label_columns(file, _split(columns) or more, id, long, (weight, frequency), reference)
        _check_noise(options["noise"], found)
        options.update(_mass(file, weight, frequency))
        if reference is not None:
            result = cg.compare_to(reference, found, wanted, **options)
        elif len(found) == 2:
            (name_a, a), (name_b, b) = found.items()
            result = _compare_pair(a, b, wanted, options, name_a, name_b)
        else:
            raise cg.InputError(
                f"{file} has {len(found)} label columns ({', '.join(list(found)[:6])}{', …' if len(found) > 6 else ''}); "
                "name two of them, or pass --reference COL, or use `congruence matrix` for all pairs"
            )
        _say(notes)
    _print(result, format)
    _fail_if_under(result, limits)


@app.command()
def matrix(
    file: Annotated[Path, typer.Argument(help="Table of label columns: csv, tsv, parquet, feather, npy, npz.")],
    measures: Measures = "ari",
    columns: Columns = None,
    id: Id = None,
    long: Long = None,
    unassigned: Unassigned = Policy.error,
    noise: Noise = None,
    weight: Weight = None,
    frequency: Frequency = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Write it here: csv, tsv, parquet, feather, json, npz.")
    ] = None,
    format: Output = Format.table,
    threads: Threads = None,
    fail_under: FailUnder = None,
) -> None:
    """Compare all pairs of label columns.

    Examples:

      congruence matrix labels.csv --measure ari --out ari.csv

      congruence matrix labels.parquet --measures ari,nmi_sum,vi --out agreement.npz

      congruence matrix runs.csv --long cell,method,cluster --unassigned drop
    """
    import congruence as cg
    from congruence import io

    limits = _limits(fail_under)
    if out is not None:
        io.check_writable(out)
    found, notes = _label_columns(file, _split(columns), id, long, (weight, frequency), None)
    options = {"unassigned": unassigned.value, "noise": _noise(noise), **_mass(file, weight, frequency)}
    _check_noise(options["noise"], found)
    result = cg.compare_all(found, _keys(measures, limits), threads=threads, **options)
    _say(notes)
    if out is not None:
        _write_matrix(result, out)
        _say([*result.cautions, f"wrote {out}"])
    if out is None or format is not Format.table:
        _print(result, format)
    _fail_if_under(result, limits)


Missing = Annotated[str, typer.Option(help="How gaps of partial members count: ratio, plain or pooled.")]


@app.command()
def ensemble(
    file: Annotated[Path, typer.Argument(help="Table of label columns, one a member.")],
    reference: Annotated[str | None, typer.Option(help="Column to hold the ensemble against; not a member.")] = None,
    against: Annotated[Path | None, typer.Option(help="File of a second ensemble of the same points.")] = None,
    columns: Columns = None,
    id: Id = None,
    long: Long = None,
    partial: Annotated[bool, typer.Option("--partial", help="Members may cover part of the points.")] = False,
    missing: Missing = "ratio",
    noise: Noise = None,
    format: Output = Format.table,
    threads: Threads = None,
) -> None:
    """Say how much the members of an ensemble agree, with each other, with a reference, with another ensemble.

    Examples:

      congruence ensemble runs.csv --reference truth

      congruence ensemble mine.parquet --against theirs.parquet

      congruence ensemble nodes.csv --partial --missing ratio
    """
    import congruence as cg

    found, notes = _label_columns(file, _split(columns), id, long, (), reference)
    truth = found.pop(reference) if reference is not None else None
    options: dict[str, Any] = {"unassigned": "partial" if partial else "error", "noise": _noise(noise)}
    members = cg.Ensemble(found, **options)
    ranked = cg.member_agreement(members, "ari", threads=threads) if len(members) > 1 else {}
    kmax = max(max(c.k for c in members), 2)
    facts: dict[str, Any] = {
        "members": len(members),
        "points": members.n_points,
        "certainty": cg.certainty(members, missing=missing, threads=threads),
        "certainty of random members": cg.certainty_random(kmax, len(members)),
    }
    if len(members) > 1:
        for name, key in (("mean ari", "ari"), ("mean nmi_sum", "nmi_sum"), ("mean vi", "vi")):
            facts[name] = cg.consensus_index(members, key, threads=threads)
        facts["pnmi (low is diverse)"] = cg.pnmi(members, threads=threads)
    if truth is not None:
        facts[f"arimp with {reference}"] = cg.arimp(members, truth, missing=missing)
        if not members.has_gaps:
            facts[f"anmi with {reference}"] = cg.anmi(members, truth)
    result = None
    if against is not None:
        other, more = _label_columns(against, [], id, long, (), None)
        _same_rows((file, against), id)
        keys = [cg.measure(key, missing=missing) for key in ("arimm", "kas", "nsf", "sms")]
        result = cg.compare(members, cg.Ensemble(other, **options), keys, threads=threads)
        notes += more
    _say([*notes, *members.cautions])
    _print_ensemble(facts, ranked, result, format)


def _print_ensemble(facts: dict[str, Any], ranked: dict[str, float], result: Any, format: Format) -> None:
    import json

    from congruence.results import plain

    if format is Format.json:
        about = {"ensemble": facts, "mean ari of members with the rest": ranked, "against": result and result.to_dict()}
        print(json.dumps(plain(about), indent=2, ensure_ascii=False))
        return
    _print_rows([{"": name, "value": value} for name, value in facts.items()], format)
    if ranked:
        print()
        rows = [{"member": name, "mean ari with the rest": value} for name, value in ranked.items()]
        shown = rows if format is not Format.table or len(rows) <= 20 else [*rows[:10], *rows[-5:]]
        _print_rows(shown, format)
        if len(shown) < len(rows):
            print(f"(the 10 most and the 5 least central of {len(rows)} members; --format csv shows all)")
    if result is not None:
        print()
        _print(result, format)


@app.command("consensus-matrix")
def consensus_matrix(
    file: Annotated[Path, typer.Argument(help="Table of label columns, one a member.")],
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Write it here: npz (dense, or sparse with --threshold) or npy.")
    ],
    columns: Columns = None,
    id: Id = None,
    long: Long = None,
    partial: Annotated[bool, typer.Option("--partial", help="Members may cover part of the points.")] = False,
    missing: Missing = "ratio",
    noise: Noise = None,
    threshold: Annotated[float | None, typer.Option(help="Keep entries at or above this, as a sparse matrix.")] = None,
    float32: Annotated[bool, typer.Option("--float32", help="Half the memory.")] = False,
    threads: Threads = None,
) -> None:
    """Write the share of the members that put each two points together.

    Examples:

      congruence consensus-matrix runs.csv --out M.npz

      congruence compare M.npz labels.csv
    """
    import numpy as np

    import congruence as cg
    from congruence import io

    if io.suffix_of(out) not in (".npz", ".npy") or (threshold is not None and io.suffix_of(out) != ".npz"):
        raise cg.InputError(f"{out}: a consensus matrix is written as .npz or .npy, and with --threshold as .npz")
    found, notes = _label_columns(file, _split(columns), id, long, (), None)
    members = cg.Ensemble(found, unassigned="partial" if partial else "error", noise=_noise(noise))
    dtype = np.float32 if float32 else np.float64
    matrix = cg.consensus_matrix(members, dtype=dtype, threshold=threshold, missing=missing, threads=threads)
    part = out.with_name(out.name + ".part")
    with part.open("wb") as stream:
        if threshold is not None:
            parts = {"data": matrix.data, "indices": matrix.indices, "indptr": matrix.indptr}
            np.savez_compressed(stream, format=np.array(b"csr"), shape=np.array(matrix.shape), **parts)
        elif io.suffix_of(out) == ".npz":
            np.savez_compressed(stream, matrix=matrix)
        else:
            np.save(stream, matrix, allow_pickle=False)
    part.replace(out)
    _say([*notes, *members.cautions, f"wrote {out}: {members.n_points:,} × {members.n_points:,}"])


@app.command()
def measures(
    key: Annotated[str | None, typer.Argument(help="Show all about this one.")] = None,
    format: Output = Format.table,
) -> None:
    """List the measures, or show the definition of one.

    Examples:

      congruence measures

      congruence measures ari
    """
    import congruence as cg
    from congruence.formulas.references import REFERENCES
    from congruence.results import span

    if key is not None:
        m = cg.measure(key)
        if format is not Format.table:
            _print_rows([_facts(m)], format)
            return
        names = f" (also {', '.join(m.aliases)})" if m.aliases else ""
        lines = [
            f"{m.key}{names}: {m.title}",
            "",
            f"  {m.formula.__doc__.splitlines()[0] if m.formula.__doc__ else ''}",
            "",
        ]
        lines += [f"  {line}" for line in m.definition]
        lines += [
            "",
            f"  {m.better} is better, {span(m)}",
            f"  true of it: {', '.join(sorted(m.axioms)) or 'none of the axioms'}",
        ]
        lines += [f"  parameter {name} = {value}" for name, value in m.parameters.items()]
        lines += [f"  caution: {m.caution}"] if m.caution else []
        lines += [f"  {REFERENCES[m.reference]}"]
        print("\n".join(lines))
        return
    _print_rows([_facts(m) for m in cg.measures()], format)


@app.command()
def demo() -> None:
    """Cluster wine and digits with several algorithms and compare the results."""
    from congruence.showcase import show

    show()


# --- reading ----------------------------------------------------------------------------------------------------


def _split(text: str | None) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()] if text else []


def _label_columns(
    file: Path,
    named: list[str],
    id: str | None,
    long: str | None,
    extra: tuple[str | None, ...],
    reference: str | None,
) -> tuple[dict[str, Any], list[str]]:
    """The clusterings of a file by name, and notes on columns that were left out."""
    from congruence import InputError, io

    table = io.read_columns(file)
    if len(set(named)) < len(named):
        raise InputError(f"column {next(name for name in named if named.count(name) > 1)!r} is named twice")
    if long is not None:
        parts = _split(long)
        if len(parts) != 3:
            raise InputError(f"--long takes three column names, as in id,method,label; got {long!r}")
        table = dict(io.from_long(io.pick(table, parts, str(file)), *parts))
        if reference is not None:
            io.pick(table, [reference], str(file))
        if not named:
            return table, []
    if named:
        return io.pick(table, [*([reference] if reference and reference not in named else []), *named], str(file)), []
    for name in (id, reference, *extra):
        if name is not None:
            io.pick(table, [name], str(file))
    rest = {name: column for name, column in table.items() if name != id and name not in extra}
    return io.without_ids(rest)


def _mass(file: Path, weight: str | None, frequency: str | None) -> dict[str, Any]:
    from congruence import io

    found = {}
    for option, name in (("sample_weight", weight), ("frequency", frequency)):
        if name is not None:
            column = io.pick(io.read_columns(file), [name], str(file))[name]
            found[option] = column.to_numpy() if hasattr(column, "to_numpy") else column
    return found


def _for_one_file(**options: str | None) -> None:
    from congruence import InputError

    for name, value in options.items():
        if value is not None:
            raise InputError(f"--{name} names columns of one file, and two were given; join the two files first")


def _check_noise(noise: Any, columns: dict[str, Any]) -> None:
    """A column named by --noise COLUMN=LABEL must be there: one misspelt would count its noise as a cluster."""
    from congruence import io

    if isinstance(noise, dict):
        io.pick(columns, list(noise), "--noise: the comparison")


def _compare_files(a: Path, b: Path, wanted: Any, columns: str | None, id: str | None, options: dict[str, Any]) -> Any:
    import congruence as cg
    from congruence import io
    from congruence.clustering import Similarity

    tables = [io.read_columns(path) for path in (a, b)]
    if id is None:
        _same_row_names(tables, (a, b))
    named = _split(columns)
    chosen = []
    for side, (table, path) in enumerate(zip(tables, (a, b), strict=True)):
        matrices = [(name, column) for name, column in table.items() if isinstance(column, Similarity)]
        if matrices:
            chosen.append(matrices[0])
            continue
        if named:
            name = named[min(side, len(named) - 1)]
            chosen.append((name, io.pick(table, [name], str(path))[name]))
            continue
        rest, _ = io.without_ids({key: column for key, column in table.items() if key != id})
        if len(rest) != 1:
            raise cg.InputError(
                f"{path} has {len(rest)} label columns ({', '.join(list(rest)[:6])}); pass --columns COL_A,COL_B"
            )
        chosen.append(next(iter(rest.items())))
    (name_a, left), (name_b, right) = chosen
    notes: list[str] = []
    if id is not None:
        ids = [io.pick(table, [id], str(path))[id] for table, path in zip(tables, (a, b), strict=True)]
        take_a, take_b, notes = io.join(ids[0], ids[1], (str(a), str(b)))
        left, right = _taken(left, take_a), _taken(right, take_b)
        notes = notes or [f"all {len(take_a)} ids of {a} and {b} have a partner"]
    elif len(left) != len(right):
        raise cg.InputError(
            f"{a} has {len(left)} rows and {b} has {len(right)}; pass --id COLUMN to join them on an id"
        )
    _check_noise(options["noise"], {name_a: left, name_b: right})
    if name_a == name_b:
        if isinstance(options["noise"], dict):
            options = {**options, "noise": options["noise"][name_a]}
        name_a, name_b = (f"{path.name if a.name != b.name else path}:{name_a}" for path in (a, b))
    result = _compare_pair(left, right, wanted, options, name_a, name_b)
    _say(notes)
    return result


def _same_row_names(tables: list[dict[str, Any]], files: tuple[Path, Path]) -> None:
    """Files of the same length are compared row by row; refuse to if they name their rows and the names differ."""
    from congruence import InputError, io

    names = [set(table) - set(io.without_ids(table)[0]) for table in tables]
    for name in sorted(names[0] & names[1]):
        left, right = (table[name] for table in tables)
        if len(left) == len(right) and left.to_pylist() != right.to_pylist():
            raise InputError(
                f"the rows of {files[0]} and {files[1]} are not in the same order by column {name!r}; pass "
                f"--id {name} to join them on it"
            )


def _same_rows(files: tuple[Path, Path], id: str | None) -> None:
    """Two ensembles are compared row by row: their row names, or ids, must be the same in the same order."""
    from congruence import InputError, io

    tables = [io.read_columns(file) for file in files]
    names = [set(table) - set(io.without_ids(table)[0]) for table in tables]
    for name in [id] if id is not None else sorted(names[0] & names[1]):
        left, right = (io.pick(table, [name], str(file))[name] for table, file in zip(tables, files, strict=True))
        if left.to_pylist() != right.to_pylist():
            raise InputError(
                f"the rows of {files[0]} and {files[1]} are not the same by column {name!r}; sort both by it"
            )


def _taken(column: Any, rows: Any) -> Any:
    return column.take(rows) if hasattr(column, "take") else column.taken(rows)


def _compare_pair(a: Any, b: Any, wanted: Any, options: dict[str, Any], name_a: str, name_b: str) -> Any:
    """Compare two columns; what `compare` says of a and b is said of the columns by their names."""
    from dataclasses import replace

    import congruence as cg

    def named(text: str) -> str:
        return f"{ {'a': name_a, 'b': name_b}[text[0]] }{text[1:]}" if text[:2] in ("a ", "b ", "a:", "b:") else text

    noise = options.get("noise")
    if isinstance(noise, dict):
        options = {**options, "noise": {k: noise[n] for k, n in (("a", name_a), ("b", name_b)) if n in noise}}
    try:
        result = cg.compare(a, b, wanted, **options)
    except cg.InputError as error:
        raise type(error)(named(str(error))) from None
    return replace(result, names=(name_a, name_b), cautions=tuple(named(c) for c in result.cautions))


def _noise(text: str | None) -> Any:
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


def _keys(measures: str | None, limits: dict[str, float]) -> Any:
    import congruence as cg

    if measures is None or measures.strip() == "all":
        if not limits:
            return None if measures is None else "all"
        from congruence.comparison import DEFAULT

        return [*DEFAULT, *limits] if measures is None else "all"
    return [cg.measure(key) for key in [*_split(measures), *limits]]


def _limits(fail_under: list[str] | None) -> dict[str, float]:
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


# --- printing ---------------------------------------------------------------------------------------------------


def _say(notes: Any) -> None:
    for note in notes:
        print(f"note: {note}", file=sys.stderr)


def _print(result: Any, format: Format) -> None:
    import congruence as cg

    if format is Format.table:
        print(result)
    elif format is Format.json:
        print(result.to_json(indent=2))
    elif isinstance(result, cg.AllPairs) and len(result.keys()) == 1:
        columns = _square_columns(result)
        _print_rows([dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)], format)
    else:
        table = result.to_frame(backend="pyarrow")
        _print_rows(table.to_pylist(), format, table.column_names)


def _square_columns(result: Any) -> dict[str, Any]:
    """The columns of a matrix of one measure; the first holds the rows' names, and its own name is no clustering's."""
    (key,) = result.keys()
    corner = "clustering"
    while corner in result.names:
        corner += "_"
    return {corner: result.names, **dict(zip(result.names, result[key].T.tolist(), strict=True))}


def _facts(m: Any) -> dict[str, Any]:
    from congruence.results import span

    return {
        "key": m.key, "title": m.title, "better": m.better, "range": span(m), "family": m.family,
        "axioms": " ".join(sorted(m.axioms)), "caution": m.caution,
    }  # fmt: skip


def _print_rows(rows: list[dict[str, Any]], format: Format, names: list[str] | None = None) -> None:
    """Rows of the same keys, as a text table, JSON, csv or markdown; the names matter where there is no row."""
    import json

    from congruence.frames import text_grid
    from congruence.results import plain

    columns = names or list(rows[0])
    if format is Format.json:
        print(json.dumps(plain(rows), indent=2, ensure_ascii=False))
    elif format is Format.csv:
        import csv

        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows([row[c] for c in columns] for row in rows)
    elif format is Format.markdown:
        head, *cells = [[_cell(x).replace("|", "\\|") for x in line] for line in (columns, *(r.values() for r in rows))]
        lines = [head, ["---"] * len(columns), *cells]
        print("\n".join("| " + " | ".join(line) + " |" for line in lines))
    else:
        shown = [c for c in columns if c in ("key", "title", "better", "range")] or columns
        cells = [[_cell(row[c]) for c in shown[1:]] for row in rows]
        print(text_grid(cells, [_cell(row[shown[0]]) for row in rows], shown[1:], left=True))


def _cell(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _write_matrix(result: Any, out: Path) -> None:
    import numpy as np

    from congruence import io

    if io.suffix_of(out) == ".json":
        part = out.with_name(out.name + ".part")
        part.write_text(result.to_json(indent=2), encoding="utf-8")
        part.replace(out)
    elif io.suffix_of(out) == ".npz":
        part = out.with_name(out.name + ".part")
        with part.open("wb") as stream:
            np.savez_compressed(stream, names=np.array(result.names), **{key: result[key] for key in result})
        part.replace(out)
    elif len(result.keys()) == 1:
        io.write_table(_square_columns(result), out)
    else:
        table = result.to_frame(backend="pyarrow")
        io.write_table({name: table[name].to_pylist() for name in table.column_names}, out)


def _fail_if_under(result: Any, limits: dict[str, float]) -> None:
    """Exit with 1 where a value is worse than its limit (above it, for distances) or undefined."""
    import numpy as np

    for key, limit in limits.items():
        if key in result.skipped:
            print(f"congruence: {key} was not computed: {result.skipped[key]}", file=sys.stderr)
            raise typer.Exit(1)
        values = np.asarray(result[key], dtype=float)
        if values.ndim == 2:
            values = values[~np.eye(len(values), dtype=bool)]
        higher = result.measures[key].better == "higher"
        good = values >= limit if higher else values <= limit
        if not good.all():
            worst = float(np.nanmin(values) if higher else np.nanmax(values)) if not np.isnan(values).all() else np.nan
            print(
                f"congruence: {key} is {worst:.6g}, {'under' if higher else 'over'} the limit of {limit:g}",
                file=sys.stderr,
            )
            raise typer.Exit(1)


def _refuse(message: str) -> NoReturn:
    print(f"congruence: {' '.join(message.split())}", file=sys.stderr)
    sys.exit(2)


def main() -> None:
    """Run the command; bad input is one line on stderr and exit code 2."""
    import os
    import warnings

    def one_line(message: Any, *_: Any, **__: Any) -> None:
        print(f"warning: {message}", file=sys.stderr)

    warnings.showwarning = one_line
    for stream in (sys.stdout, sys.stderr):  # a terminal that has no ↑ shows a question mark
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    # typer carries a copy of click or depends on it, by version: its own public error leads to the right base class
    usage_error = next(c for c in typer.BadParameter.__mro__ if c.__name__ == "ClickException")
    try:
        code = app(standalone_mode=False)
        sys.stdout.flush()
    except (typer.Abort, KeyboardInterrupt):
        code = 130
    except (BrokenPipeError, SystemExit) as error:  # the reader has seen enough, as in `congruence measures | head`
        if isinstance(error, SystemExit) and not isinstance(error.__context__, BrokenPipeError):
            raise  # but where the pipe broke inside typer, it made an exit of it, with the code of --fail-under
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except Exception as error:
        from congruence.statistics import InputError

        if isinstance(error, InputError):
            _refuse(str(error))
        if isinstance(error, OSError):  # a result that cannot be written
            _refuse(f"{error.filename or ''}: {error.strerror or error}".removeprefix(": "))
        if not isinstance(error, usage_error):
            raise
        said: Any = error
        if type(error).__name__ == "NoArgsIsHelpError":  # the help was printed already
            sys.exit(2)
        _refuse(f"{said.format_message().rstrip('.')} (see `congruence {_command(error)}--help`)")
    if code == 130:  # Ctrl-C, here or inside typer
        print("congruence: stopped", file=sys.stderr)
    sys.exit(code if isinstance(code, int) else 0)


def _command(error: Any) -> str:
    context = getattr(error, "ctx", None)
    return f"{context.info_name} " if context is not None and context.parent is not None else ""
