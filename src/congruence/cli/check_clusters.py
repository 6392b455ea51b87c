"""`congruence check-clusters`: which clusters are real."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from congruence.cli.app import Features, FigureOut, Format, Id, Noise, Open, Output, Seed, app
from congruence.cli.parsing import noise_labels
from congruence.cli.plots import check_plot, write_plot
from congruence.cli.printing import print_result, say, write_table
from congruence.cli.reading import features_of, row_ids, table_of
from congruence.errors import some_of


@app.command("check-clusters")
def check_clusters(
    data: Annotated[Path, typer.Argument(help="Table of numbers, such as principal components, and a label column.")],
    labels: Annotated[str, typer.Option(help="Column of the clustering.")],
    features: Features = None,
    id: Id = None,
    noise: Noise = None,
    alpha: Annotated[float, typer.Option(help="Level of the tests, corrected over the borders.")] = 0.05,
    seed: Seed = 0,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Write the labels after merging here: csv, tsv, parquet, feather."),
    ] = None,
    plot: FigureOut = None,
    open_page: Open = False,
    format: Output = Format.table,
) -> None:
    """Say which clusters are real, which are pieces of one and should be merged, and which cannot be told.

    Examples:

      congruence check-clusters data.csv --labels kmeans

      congruence check-clusters data.csv --labels kmeans --features x,y,z --out merged.csv --plot clusters.html
    """
    import numpy as np

    import congruence as cg
    from congruence.inputs import files

    if out is not None:
        files.check_writable(out, data)
    check_plot(plot, data, open_page=open_page)
    table = table_of(data)
    given = files.pick(table, [labels], str(data))[labels]
    columns = features_of(table, features, {"labels": (labels,)}, data, id)
    found = {name: np.asarray(files.numbers_of(column)) for name, column in columns.items()}
    words = [name for name, x in found.items() if x.ndim != 1 or x.dtype.kind not in "iufb"]
    if len(words) == len(found) or (words and features is not None):
        what = f"column {words[0]!r} is not numbers" if words else "there are no columns of numbers"
        raise cg.InputError(f"{data}: {what}; name the columns in which the clusters were found with --features")
    if words:
        say([f"not numbers, and so not used: {some_of(words)}"])
    X = np.column_stack([x for name, x in found.items() if name not in words])
    result = cg.check_clusters(X, given, alpha=alpha, noise=noise_labels(noise), random_state=seed)
    written = []
    if out is not None:
        write_table({**row_ids(data, id, None), labels: given, "merged": result.merged}, out)
        written.append(f"wrote {out}: {len(set(result.group))} clusters of {len(result.codes):,} points")
    if plot is not None:
        written.append(write_plot(result, plot, open_page=open_page))
    print_result(result, format)
    say([result.sentence, *result.notes] if format in (Format.csv, Format.markdown) else [])
    say(written)
