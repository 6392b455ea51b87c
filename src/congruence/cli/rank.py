"""`congruence rank`: which clustering to trust."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from congruence.cli.app import (
    Columns,
    DataColumns,
    FigureOut,
    Format,
    Id,
    Long,
    Noise,
    Open,
    Output,
    Seed,
    TableOut,
    Threads,
    app,
)
from congruence.cli.parsing import MOST_COLUMNS, check_number, check_width, noise_labels
from congruence.cli.plots import check_plot, write_plot
from congruence.cli.printing import print_result, say, write_table
from congruence.cli.reading import labels_of, numbers_in, rows_of_two

if TYPE_CHECKING:
    from congruence.inputs.ensemble import Ensemble
    from congruence.statistics.tables import Array
    from congruence.typing import ColumnLike


@app.command(needs={"data_columns": ("--data", lambda given: given["data"] is not None)})
def rank(
    file: Annotated[Path, typer.Argument(help="Table of label columns, one per clustering.")],
    k: Annotated[
        int | None,
        typer.Option("--k", min=1, help="Number of clusters, if known; chosen from the clusterings if omitted."),
    ] = None,
    data: Annotated[
        Path | None, typer.Option("--data", help="Table of numbers of the same rows, from which --k is then chosen.")
    ] = None,
    data_columns: DataColumns = None,
    reference: Annotated[
        str | None,
        typer.Option(help="Column that does not take part; default: a column called truth or class; none: no column."),
    ] = None,
    columns: Columns = None,
    id: Id = None,
    long: Long = None,
    partial: Annotated[bool, typer.Option("--partial", help="Clusterings may label only some of the points.")] = False,
    noise: Noise = None,
    seed: Seed = 0,
    out: TableOut = None,
    plot: FigureOut = None,
    open_page: Open = False,
    format: Output = Format.table,
    threads: Threads = None,
) -> None:
    """Say which of several clusterings to trust: the one nearest to their consensus, and those that are as good.

    Examples:

      congruence rank labels.csv

      congruence rank runs.csv --k 5 --plot ranking.html

      congruence rank labels.csv --data numbers.csv --format json
    """
    import congruence as cg
    from congruence.inputs import files

    if out is not None:
        files.check_writable(out, file)
    check_plot(plot, file, open_page=open_page)
    check_width(file, columns, long, MOST_COLUMNS, ", or call rank in Python")
    read = labels_of(file, columns, id, long, (), reference, find_reference=True)
    found, truth = read.without_reference()
    check_number(found, MOST_COLUMNS, ", or call rank in Python")
    members = whole = cg.Ensemble(found, unassigned="partial" if partial else "error", noise=noise_labels(noise))
    X = None
    if data is not None:
        members, X = _with_data(members, file, data, data_columns, id, long)
    result = cg.rank(members, X, k, seed, threads=threads)
    written = [] if truth is None else [_against(whole, truth, str(read.reference), result.best)]
    if out is not None:
        write_table(result.table_columns(), out)
        written.append(f"wrote {out}")
    if plot is not None:
        written.append(write_plot(result, plot, open_page=open_page))
    print_result(result, format)
    say([result.sentence, *result.notes] if format in (Format.csv, Format.markdown) else [])
    say([*written, *members.cautions])


def _with_data(
    members: Ensemble, file: Path, data: Path, columns: str | None, id: str | None, long: str | None
) -> tuple[Ensemble, Array]:
    """The clusterings and the numbers of the same rows."""
    numbers = numbers_in(data, columns, id)
    say(numbers.notes)
    X = numbers.matrix
    rows = rows_of_two((file, data), id, long)
    say(rows.notes)
    return (members, X) if rows.take is None else (members.taken(rows.take[0]), X[rows.take[1]])


def _against(members: Ensemble, truth: ColumnLike, reference: str, best: str | None) -> str:
    """How well the best, the median and the closest clustering agree with a reference that did not take part."""
    import numpy as np

    import congruence as cg

    values = cg.compare_to(truth, members, ["ari"], unassigned="drop")["ari"]
    own = "" if best is None else f"“{best}” {values[members.names.index(best)]:.2f}, "
    return f"ari with {reference}, which did not take part: {own}median {np.nanmedian(values):.2f}, best {np.nanmax(values):.2f}"
