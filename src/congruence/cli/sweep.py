"""`congruence sweep`: which parameters of a clusterer to use."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from congruence.cli.app import DataColumns, FigureOut, Format, Numbers, Open, Output, RowNames, Seed, app
from congruence.cli.parsing import one_list
from congruence.cli.plots import check_plot, write_plot
from congruence.cli.printing import print_result, say, write_table
from congruence.cli.reading import numbers_in, split
from congruence.errors import InputError
from congruence.typing import OptionValue

if TYPE_CHECKING:
    from congruence.typing import Estimator

#: most values of one range
MOST_VALUES = 1_000


@app.command()
def sweep(
    data: Annotated[Path, typer.Argument(help="Table of numbers, one row per point; or npy.")],
    clusterer: Annotated[
        Literal["kmeans", "hdbscan", "dbscan", "agglomerative", "spectral", "gaussian"],
        typer.Option(help="The clusterer of scikit-learn."),
    ],
    grid: Annotated[
        list[str],
        typer.Option(
            help="Values of a parameter: min_cluster_size=5..50, eps=0.1,0.2 or linkage=ward,average; may be repeated."
        ),
    ],
    repeats: Annotated[int, typer.Option(min=1, help="Parts of 80 % of the points per setting.")] = 10,
    columns: Numbers = None,
    data_columns: DataColumns = None,
    id: RowNames = None,
    seed: Seed = 0,
    jobs: Annotated[int, typer.Option(help="Settings computed in parallel; -1 for all cores.")] = 1,
    checkpoint: Annotated[
        Path | None, typer.Option(help="File of finished settings, from which a stopped run continues.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Write the labels of the best setting here: csv, tsv, parquet, feather."),
    ] = None,
    plot: FigureOut = None,
    open_page: Open = False,
    format: Output = Format.table,
) -> None:
    """Say which parameters of a clusterer to use, or that no setting finds separated clusters.

    Ctrl-C stops the computation; finished settings are printed.

    Examples:

      congruence sweep data.csv --clusterer kmeans --grid n_clusters=2..5

      congruence sweep data.csv --clusterer hdbscan --grid min_cluster_size=5..50 --grid min_samples=2,5 --out labels.csv
    """
    import congruence as cg
    from congruence.inputs import files

    if out is not None:
        files.check_writable(out, data)
    check_plot(plot, data, open_page=open_page)
    settings = dict(_values(text) for text in grid)
    found = numbers_in(data, one_list(columns, data_columns), id)
    say(found.notes)
    result = cg.sweep(
        found.matrix,
        _clusterer(clusterer),
        settings,
        n_repeats=repeats,
        random_state=seed,
        n_jobs=jobs,
        checkpoint=checkpoint,
    )
    print_result(result, format)
    written = [result.sentence, *result.notes] if format in (Format.csv, Format.markdown) else []
    if out is not None and result.best is not None:
        write_table({**found.ids, "cluster": result.labels}, out)
        written.append(f"wrote {out}: {result.n_clusters} clusters of {len(result.labels):,} points")
    elif out is not None:
        written.append(f"{out} was not written, because no setting is recommended")
    if plot is not None:
        written.append(write_plot(result, plot, open_page=open_page))
    say(written)
    if not result.is_complete:
        raise typer.Exit(130)


def _clusterer(name: str) -> Estimator:
    from sklearn import cluster
    from sklearn.mixture import GaussianMixture

    made: dict[str, type] = {
        "kmeans": cluster.KMeans, "hdbscan": cluster.HDBSCAN, "dbscan": cluster.DBSCAN,
        "agglomerative": cluster.AgglomerativeClustering, "spectral": cluster.SpectralClustering, "gaussian": GaussianMixture,
    }  # fmt: skip
    return made[name]()


def _values(text: str) -> tuple[str, list[OptionValue]]:
    """The name and the values of NAME=2..5 or NAME=0.1,0.2.

    >>> _values("min_cluster_size=5..8"), _values("eps=0.1,0.2")
    (('min_cluster_size', [5, 6, 7, 8]), ('eps', [0.1, 0.2]))
    """
    name, sign, values = text.partition("=")
    low, dots, high = values.partition("..")
    if dots and low.strip().isdigit() and high.strip().isdigit():
        if not 0 <= int(high) - int(low) < MOST_VALUES:
            raise InputError(f"--grid {text}: expected a range of 1 to {MOST_VALUES:,} values, as in 2..5")
        return name.strip(), list(range(int(low), int(high) + 1))
    if not sign or not name.strip() or not split(values):
        raise InputError(f"--grid takes NAME=VALUES, as in min_cluster_size=5..50 or eps=0.1,0.2; got {text!r}")
    return name.strip(), [_value(x) for x in split(values)]


def _value(text: str) -> OptionValue:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
