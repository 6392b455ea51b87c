"""The command that makes one page of a file of clusterings: report."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from congruence.cli.app import Columns, Id, Long, Measures, Noise, Policy, Threads, Unassigned, app
from congruence.cli.printing import say
from congruence.cli.reading import data_columns, label_columns, noise_labels, split


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
    from congruence import io
    from congruence.reporting.html import check_page

    check_page(out)
    found, notes = label_columns(file, split(columns), id, long, (), reference)
    found, more = io.with_memberships(found)
    if reference is not None:
        io.pick(found, [reference], str(file))
    ids = None
    if long is None:
        table = io.read_columns(file)
        apart = id if id is not None else next(iter(set(table) - set(io.without_ids(table)[0])), None)
        ids = None if apart is None else table[apart]
    numbers: Any = None
    if data is not None:
        numbers, named, said = _numbers(data, split(axes), id)
        more += said
        if id is not None and id in named and ids is not None and named[id].to_pylist() != ids.to_pylist():
            raise cg.InputError(f"the rows of {file} and {data} are not the same by column {id!r}; sort both by it")
    elif axes is not None:
        raise cg.InputError("--axes names columns of the data; pass them with --data FILE")
    made = cg.report(
        found, out, reference=reference, data=numbers, axes=split(axes) or None, ids=ids, measures=split(measures) or None,
        n_clusters=k, unassigned=unassigned.value, noise=noise_labels(noise), title=title or file.name,
        command=shlex.join(["congruence", *sys.argv[1:]]), source=str(file), random_state=seed, threads=threads,
    )  # fmt: skip
    print(made)
    say([*notes, *more, f"wrote {out}: {out.stat().st_size / 1e6:.1f} MB"])


def _numbers(file: Path, axes: list[str], id: str | None) -> tuple[Any, dict[str, Any], list[str]]:
    """The numbers of the data file: the two axes by name, or all columns."""
    from congruence import io

    if axes and io.suffix_of(file) != ".npy":
        X, named, notes = data_columns(file, axes, id if id in io.read_columns(file) else None)
        return {name: X[:, j] for j, name in enumerate(axes)}, named, notes
    has_id = id is not None and io.suffix_of(file) != ".npy" and id in io.read_columns(file)
    return data_columns(file, [], id if has_id else None)
