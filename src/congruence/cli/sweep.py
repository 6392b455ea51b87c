"""`congruence sweep`: which parameters of a clusterer to use."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import typer

from congruence.cli.app import app
from congruence.cli.options import TABLE, Figure, Numbers, Printing, option, required
from congruence.cli.parsing import value_of
from congruence.cli.printing import print_result, say, write_plot, wrote
from congruence.cli.reading import numbers_in, split
from congruence.errors import InputError
from congruence.typing import Estimator, OptionValue

#: most values of one range
MOST_VALUES = 1_000


class Given(Numbers, Figure, Printing):
    """The options of the command."""

    clusterer: Literal["kmeans", "hdbscan", "dbscan", "agglomerative", "spectral", "gaussian"] = required(
        "The clusterer of scikit-learn."
    )
    grid: list[str] = required(
        "Values of a parameter: min_cluster_size=5..50, eps=0.1,0.2 or linkage=ward,average; may be repeated."
    )
    repeats: int = option(10, "Parts of 80% of the points per setting.", least=1)
    seed: int | None = option(0)
    jobs: int = option(1)
    checkpoint: Path | None = option(None, "File of finished settings, from which a stopped run continues.")
    out: Path | None = option(
        None, "Write the labels of the best setting here: csv, tsv, parquet, feather.", writes=TABLE
    )


@app.command()
def sweep(given: Given) -> None:
    """Say which parameters of a clusterer to use, or that no setting finds separated clusters.

    Ctrl-C stops the computation; finished settings are printed.

    Examples:

      congruence sweep data.csv --clusterer kmeans --grid n_clusters=2..5

      congruence sweep data.csv --clusterer hdbscan --grid min_cluster_size=5..50 --grid min_samples=2,5 --out labels.csv
    """
    import congruence as cg

    settings = dict(_values(text) for text in given.grid)
    found = numbers_in(given.file, given.named, given.id)
    say(found.notes)
    result = cg.sweep(
        found.matrix, _clusterer(given.clusterer), settings, n_repeats=given.repeats, random_state=given.seed, n_jobs=given.jobs,
        checkpoint=given.checkpoint,
    )  # fmt: skip
    print_result(result, given.format, notes=[result.sentence, *result.notes])
    written = []
    if result.best is not None:
        rows = {**found.ids, "cluster": result.labels}
        written = wrote(given.out, rows, f"{result.n_clusters} clusters of {len(result.labels):,} points")
    elif given.out is not None:
        written = [f"{given.out} was not written, because no setting is recommended"]
    written += write_plot(given, result)
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
    return name.strip(), [value_of(x) for x in split(values)]
