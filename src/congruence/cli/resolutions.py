"""`congruence resolutions`: follow clusters over a resolution sweep."""

from functools import partial
from pathlib import Path

from congruence.cli.app import app
from congruence.cli.options import FIGURE, TABLE, Figure, Gaps, Printing, Reading, argument, option
from congruence.cli.parsing import MOST_SHOWN_COLUMNS, check_number, check_width, noise_labels
from congruence.cli.printing import print_columns, print_result, say, show, write_plot, wrote
from congruence.cli.reading import label_columns, missing_note, said_of, split, table_of

PLOT = ("--plot", lambda given: given.plot is not None)


class Given(Reading, Gaps, Figure, Printing):
    """The options of the command."""

    file: Path = argument("Table of label columns, one per resolution.")
    columns: str | None = option(None)
    order: str | None = option(
        None, "Columns in order, separated by commas, or n_clusters; default: by the numbers in their names."
    )
    normalised: bool = option(False, "Rescale the SC3 stability to a maximum of 1; the published form does not.")
    threshold: float = option(0.9, "Minimum adjusted Rand index of any two columns of a plateau.")
    color: str | None = option(
        None, "Colour the plot by this column: the mean of numbers, or the most frequent label.", needs=PLOT
    )
    plot: Path | None = option(None, "Write the tree of clusters here: .html, .png, .pdf or .svg.", writes=FIGURE)
    least: float = option(0.1, "Hide edges with a smaller in_prop.", needs=PLOT)
    nodes: Path | None = option(None, "Write the clusters here, one row per cluster.", writes=TABLE)
    edges: Path | None = option(None, "Write the edges here, one row per edge.", writes=TABLE)
    id: str | None = option(None)
    threads: int | None = option(None)


@app.command()
def resolutions(given: Given) -> None:
    """Show how clusters split and mix over a resolution sweep, and which columns form a plateau.

    Examples:

      congruence resolutions labels.csv --columns 'leiden_*' --plot tree.html

      congruence resolutions labels.csv --columns 'leiden_*' --color cell_type --plot tree.png --edges edges.csv
    """
    import congruence as cg
    from congruence.inputs import files

    check_width(given.file, given.columns, None, MOST_SHOWN_COLUMNS)
    table = table_of(given.file)
    colour = files.pick(table, [given.color], str(given.file))[given.color] if given.color is not None else None
    files.pick(table, [given.id] if given.id is not None else [], str(given.file))
    sorting = label_columns(table, given.columns, str(given.file), given.id, (given.color,), find_reference=True)
    found = {name: column for name, column in sorting.taken.items() if name != sorting.reference}
    say([*said_of(sorting), *missing_note(given.file, found)])
    check_number(found, MOST_SHOWN_COLUMNS)
    ordered = given.order if given.order in (None, "n_clusters") else split(given.order)
    how = given.values_of("normalised threshold unassigned threads")
    result = cg.resolutions(found, ordered, noise=noise_labels(given.noise), **how)
    values = {} if colour is None else {"color": colour.to_numpy()}
    written = write_plot(given, result, least=given.least, **values)
    written += [*wrote(given.nodes, result.node_columns), *wrote(given.edges, result.edge_columns)]
    if given.format == "table":
        show(f"{result}\n")
    rows = partial(print_columns, result.summary_columns, given.format)
    print_result(result, given.format, rows, text=rows)
    say(written)
