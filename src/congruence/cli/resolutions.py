"""`congruence resolutions`: follow clusters over a resolution sweep."""

from pathlib import Path
from typing import Annotated

import typer

from congruence.cli.app import Format, Id, Noise, Open, Output, Policy, Threads, Unassigned, app
from congruence.cli.gaps import missing_note
from congruence.cli.parsing import MOST_SHOWN_COLUMNS, check_number, check_width, noise_labels
from congruence.cli.plots import check_plot, write_plot
from congruence.cli.printing import print_json, print_rows, say, show, write_table
from congruence.cli.reading import said_of, split, table_of
from congruence.typing import ColumnLike


@app.command(needs={"least": ("--plot", lambda given: given["plot"] is not None)})
def resolutions(
    file: Annotated[Path, typer.Argument(help="Table of label columns, one per resolution.")],
    columns: Annotated[
        str | None, typer.Option(help="The label columns, separated by commas; * stands for anything: 'leiden_*'.")
    ] = None,
    order: Annotated[
        str | None,
        typer.Option(
            help="Columns in order, separated by commas, or n_clusters; default: by the numbers in their names."
        ),
    ] = None,
    normalised: Annotated[
        bool,
        typer.Option("--normalised", help="Rescale the SC3 stability to a maximum of 1; the published form does not."),
    ] = False,
    threshold: Annotated[
        float, typer.Option(help="Minimum adjusted Rand index of any two columns of a plateau.")
    ] = 0.9,
    color: Annotated[
        str | None,
        typer.Option(help="Colour the plot by this column: the mean of numbers, or the most frequent label."),
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Write the tree of clusters here: .html, .png, .pdf or .svg.")
    ] = None,
    open_page: Open = False,
    least: Annotated[float, typer.Option(help="Hide edges with a smaller in_prop.")] = 0.1,
    nodes: Annotated[Path | None, typer.Option(help="Write the clusters here, one row per cluster.")] = None,
    edges: Annotated[Path | None, typer.Option(help="Write the edges here, one row per edge.")] = None,
    id: Id = None,
    unassigned: Unassigned = Policy.error,
    noise: Noise = None,
    format: Output = Format.table,
    threads: Threads = None,
) -> None:
    """Show how clusters split and mix over a resolution sweep, and which columns form a plateau.

    Examples:

      congruence resolutions labels.csv --columns 'leiden_*' --plot tree.html

      congruence resolutions labels.csv --columns 'leiden_*' --color cell_type --plot tree.png --edges edges.csv
    """
    import congruence as cg
    from congruence.inputs import files
    from congruence.machine.writing import check_apart

    check_plot(plot, file, open_page=open_page)
    for path in (nodes, edges):
        if path is not None:
            files.check_writable(path, file)
    check_apart(plot=plot, nodes=nodes, edges=edges)
    if color is not None and plot is None:
        raise cg.InputError("--color colours the plot; pass --plot too")
    check_width(file, columns, None, MOST_SHOWN_COLUMNS)
    table = table_of(file)
    colour = files.pick(table, [color], str(file))[color] if color is not None else None
    found = _columns(table, columns, id, color, file)
    check_number(found, MOST_SHOWN_COLUMNS)
    ordered = order if order in (None, "n_clusters") else split(order)
    result = cg.resolutions(
        found, ordered, normalised=normalised, threshold=threshold, unassigned=unassigned.value,
        noise=noise_labels(noise), threads=threads,
    )  # fmt: skip
    written = []
    if plot is not None:
        values = {} if colour is None else {"color": colour.to_numpy(zero_copy_only=False)}
        written.append(write_plot(result, plot, open_page=open_page, least=least, **values))
    for path, rows in ((nodes, result.node_columns), (edges, result.edge_columns)):
        if path is not None:
            write_table(rows, path)
            written.append(f"wrote {path}")
    if format is Format.json:
        print_json(result.to_dict())
    else:
        if format is Format.table:
            show(result)
            show()
        summary = result.summary_columns
        print_rows([dict(zip(summary, row, strict=True)) for row in zip(*summary.values(), strict=True)], format)
    say(written)


def _columns(
    table: dict[str, ColumnLike], columns: str | None, id: str | None, colour: str | None, file: Path
) -> dict[str, ColumnLike]:
    """The requested label columns, by name or pattern; prints how columns are used."""
    from congruence.inputs import files
    from congruence.inputs.column_kinds import named_sorting, sorted_columns
    from congruence.inputs.column_names import named_columns

    files.pick(table, [id] if id is not None else [], str(file))
    if columns is None:
        found = sorted_columns(table, id=id, apart=(colour,), source=str(file))
    else:
        picked = files.pick(table, named_columns(columns, table, str(file), (id, colour)), str(file))
        found = named_sorting(table, picked, id=id, apart=(colour,))
    say([*said_of(found), *missing_note(file, found.taken)])
    return found.taken
