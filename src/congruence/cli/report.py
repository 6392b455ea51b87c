"""`congruence report`: one page of HTML."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from congruence.cli.app import Columns, Id, Long, Measures, Noise, Policy, Threads, Unassigned, app
from congruence.cli.printing import say
from congruence.cli.reading import (
    check_same_row_names,
    data_columns,
    label_columns,
    noise_labels,
    row_ids,
    split,
    table_of,
)


@app.command()
def report(
    file: Annotated[Path, typer.Argument(help="Table of label columns, or of memberships in columns NAME:CLUSTER.")],
    data: Annotated[
        Path | None, typer.Option(help="Table of numbers of the same points, for a picture of them.")
    ] = None,
    reference: Annotated[str | None, typer.Option(help="Column to hold the clusterings against; not a member.")] = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="Write the page here.")] = Path("report.html"),
    axes: Annotated[
        str | None, typer.Option(help="Two columns of the data for the picture, as in x,y; else PCA.")
    ] = None,
    measures: Measures = None,
    k: Annotated[
        int | None, typer.Option("--k", min=1, help="Number of clusters of the consensus clusterings.")
    ] = None,
    columns: Columns = None,
    id: Id = None,
    long: Long = None,
    unassigned: Unassigned = Policy.drop,
    noise: Noise = None,
    title: Annotated[str | None, typer.Option(help="Title of the page; by default the name of the file.")] = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same page.")] = 0,
    threads: Threads = None,
) -> None:
    """Explain the clusterings of a file on one page that works offline: how they agree, on what, where they differ.

    Examples:

      congruence report labels.csv --reference truth

      congruence report runs.parquet --data numbers.csv --axes x,y --out runs.html

      congruence report cells.csv --id barcode --noise -1 --measures ari,vi,jaccard
    """
    import shlex

    import congruence as cg
    from congruence.inputs import files
    from congruence.machine.writing import check_target
    from congruence.reporting.html import Report, check_page
    from congruence.reporting.model import build

    check_page(out)
    check_target(out, [file])
    found, notes = label_columns(file, split(columns), id, long, (), reference)
    found, more = files.with_memberships(found)
    if reference is not None:
        files.pick(found, [reference], str(file))
    name, ids = next(iter(row_ids(file, id, long).items()), (None, None))
    numbers: Any = None
    if data is not None:
        by = id if long is None else name
        numbers, named, said = _numbers(data, split(axes), by)
        if by is None and files.suffix_of(data) != ".npy":
            check_same_row_names([table_of(file), table_of(data)], (file, data))
        elif by in named:
            numbers, joined = _placed(numbers, named[by], ids, (file, data))
            said += joined
        elif by is not None:
            said.append(f"{data} has no column {by!r}: its rows are taken to be those of {file}, in the same order")
        more += said
    elif axes is not None:
        raise cg.InputError("--axes names columns of the data; pass them with --data FILE")
    beside = ["--unassigned", unassigned.value, *(["--noise", noise] if noise else [])]
    beside += ["--long", long] if long else []
    model = build(
        found, reference=reference, data=numbers, axes=split(axes) or None, ids=ids, measures=split(measures) or None,
        n_clusters=k, unassigned=unassigned.value, noise=noise_labels(noise), title=title or file.name,
        command=shlex.join(["congruence", *sys.argv[1:]]), source=str(file), options=shlex.join(beside),
        random_state=seed, threads=threads,
    )  # fmt: skip
    made = Report(model, out)
    made.save(out)
    print(made)
    say([*notes, *more, f"wrote {out}: {out.stat().st_size / 1e6:.1f} MB"])


def _numbers(file: Path, axes: list[str], id: str | None) -> tuple[Any, dict[str, Any], list[str]]:
    """The numbers of the data file: the two axes by name, or all columns."""
    from congruence.inputs import files

    if axes and files.suffix_of(file) != ".npy":
        X, named, notes = data_columns(file, axes, id if id in table_of(file) else None)
        return {name: X[:, j] for j, name in enumerate(axes)}, named, notes
    has_id = id is not None and files.suffix_of(file) != ".npy" and id in table_of(file)
    return data_columns(file, [], id if has_id else None)


def _placed(numbers: Any, own: Any, ids: Any, paths: tuple[Path, Path]) -> tuple[Any, list[str]]:
    """The rows of the data in the order of the labels, by their ids."""
    from congruence import InputError
    from congruence.inputs import files

    there, rows, notes = files.join(ids, own, (str(paths[0]), str(paths[1])))
    if len(there) < len(ids):
        raise InputError(f"{len(ids) - len(there)} of the {len(ids)} ids of {paths[0]} are not in {paths[1]}")
    placed = {key: column[rows] for key, column in numbers.items()} if isinstance(numbers, dict) else numbers[rows]
    return placed, notes
