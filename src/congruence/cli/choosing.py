"""The command choose-k: how many clusters the data support."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from congruence.cli.app import Columns, Format, Id, Output, Threads, app
from congruence.cli.printing import print_rows, say
from congruence.cli.reading import split


@app.command("choose-k")
def choose_k(
    file: Annotated[Path, typer.Argument(metavar="DATA", help="Table of numbers, one row a point; or npy.")],
    k: Annotated[str, typer.Option("--k", help="Numbers of clusters to try: 2..12, or 2,3,5.")] = "2..10",
    method: Annotated[
        str, typer.Option(help="kmeans, em, fuzzy, projection, features, subsample or mixed.")
    ] = "kmeans",
    members: Annotated[int, typer.Option(min=2, help="Clusterings for each k.")] = 100,
    criteria: Annotated[
        str | None,
        typer.Option(help="Measures, measure/self, certainty, pac, delta_area, stability; separated by commas."),
    ] = None,
    reference: Annotated[str | None, typer.Option(help="Column of classes to hold the members against.")] = None,
    columns: Columns = None,
    id: Id = None,
    protocol: Annotated[str | None, typer.Option(help="'paper': EM as Lei et al. 2014, with --method em.")] = None,
    standardise: Annotated[
        bool, typer.Option("--standardise", help="Give every column mean 0 and variance 1.")
    ] = False,
    seed: Annotated[int, typer.Option(help="The same seed gives the same answer, whatever the --jobs.")] = 0,
    jobs: Annotated[int, typer.Option(help="Processes to cluster with; -1 for all cores.")] = 1,
    threads: Threads = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Write the scores here: csv, tsv, parquet, feather, json.")
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="Write the curves here, as one HTML file (needs plotly).")] = None,
    format: Output = Format.table,
) -> None:
    """Say how many clusters the data support, by what many clusterings of each number agree on.

    Ctrl-C ends the work; what is done by then is printed and written.

    Examples:

      congruence choose-k data.csv --k 2..12 --method em --members 100

      congruence choose-k iris.csv --reference species --out scores.csv --plot k.html
    """
    import congruence as cg
    from congruence import io
    from congruence.selection import _need_plotly

    ks = _range(k)
    if out is not None:
        io.check_writable(out)
        if io.suffix_of(out) == ".npz":
            raise cg.InputError(f"{out}: scores can be written as .csv, .tsv, .parquet, .feather or .json")
    if plot is not None:
        _need_plotly()
        if io.suffix_of(plot) not in (".html", ".htm"):
            raise cg.InputError(f"{plot}: the curves are written as .html")
        if not plot.parent.is_dir():
            raise cg.InputError(f"there is no folder {plot.parent} to write {plot.name} in")
    X, truth, notes = _data(file, split(columns), id, reference)
    say(notes)
    if standardise:
        spread = X.std(axis=0)
        X = (X - X.mean(axis=0)) / (spread + (spread == 0))
    choice = cg.choose_k(
        X, ks, method, members, split(criteria) if criteria is not None else None, reference=truth, random_state=seed,
        protocol=protocol, n_jobs=jobs, threads=threads,
    )  # fmt: skip
    written = []
    if out is not None:
        _write(choice, out)
        written.append(f"wrote {out}")
    if plot is not None:
        part = plot.with_name(plot.name + ".part")
        choice.plot().write_html(part, include_plotlyjs=True)
        part.replace(plot)
        written.append(f"wrote {plot}")
    if format is Format.table:
        print(choice)
    elif format is Format.json:
        print(choice.to_json(indent=2))
    else:
        table = choice.to_frame("pyarrow", errors=True)
        print_rows(table.to_pylist(), format, table.column_names)
        say([choice.recommendation, *choice.notes])
    say(written)
    if not choice.is_complete:
        raise typer.Exit(130)


def _range(text: str) -> list[int]:
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
        raise InputError(f"--k takes numbers of clusters, as in 2..12 or 2,3,5; got {text!r}")
    return found


def _data(file: Path, named: list[str], id: str | None, reference: str | None) -> tuple[Any, Any, list[str]]:
    """The numbers of a file, the reference if one was named, and notes on columns that were left out."""
    import numpy as np

    from congruence import InputError, io

    if io.suffix_of(file) == ".npy" and file.is_file():
        if named or id or reference:
            raise InputError(f"{file} has no column names; --columns, --id and --reference are for tables")
        with file.open("rb") as stream:
            return np.load(stream, allow_pickle=False), None, []
    table = io.read_columns(file)
    truth = None if reference is None else io.pick(table, [reference], str(file))[reference]
    if named:
        rest, notes = io.pick(table, named, str(file)), list[str]()
    else:
        apart = io.pick(table, [x for x in (id, reference) if x is not None], str(file))
        rest, notes = io.without_ids({name: column for name, column in table.items() if name not in apart})
    numbers = {name: np.asarray(column) for name, column in rest.items()}
    words = [name for name, column in numbers.items() if column.ndim != 1 or column.dtype.kind not in "iufb"]
    if words and (named or len(words) == len(numbers)):
        raise InputError(f"{file}: column {words[0]!r} is not numbers; clustering needs numbers, so encode it first")
    if words:
        notes.append(f"columns that are not numbers were left out: {', '.join(words)}")
    return np.column_stack([c for name, c in numbers.items() if name not in words]), truth, notes


def _write(choice: Any, out: Path) -> None:
    from congruence import io

    if io.suffix_of(out) == ".json":
        part = out.with_name(out.name + ".part")
        part.write_text(choice.to_json(indent=2), encoding="utf-8")
        part.replace(out)
    else:
        io.write_table(choice.columns(errors=True), out)
