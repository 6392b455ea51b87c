"""`congruence check-clusters`: which clusters are real."""

from __future__ import annotations

from pathlib import Path

from congruence.cli.app import app
from congruence.cli.options import TABLE, Data, Figure, Noise, Printing, argument, option, required
from congruence.cli.parsing import noise_labels
from congruence.cli.printing import print_result, say, write_plot, wrote
from congruence.cli.reading import features_of, row_ids, table_of
from congruence.errors import some_of


class Given(Data, Noise, Figure, Printing):
    """The options of the command."""

    data: Path = argument("Table of numbers, such as principal components, and a label column.")
    labels: str = required("Column of the clustering.")
    features: str | None = option(None)
    id: str | None = option(None)
    alpha: float = option(0.05, "Level of the tests, corrected over the borders.")
    seed: int | None = option(0)
    out: Path | None = option(None, "Write the labels after merging here: csv, tsv, parquet, feather.", writes=TABLE)


@app.command("check-clusters")
def check_clusters(given: Given) -> None:
    """Say which clusters are real, which are pieces of one and should be merged, and which cannot be told.

    Examples:

      congruence check-clusters data.csv --labels kmeans

      congruence check-clusters data.csv --labels kmeans --features x,y,z --out merged.csv --plot clusters.html
    """
    import numpy as np

    import congruence as cg
    from congruence.inputs import files

    table = table_of(given.data)
    labels = files.pick(table, [given.labels], str(given.data))[given.labels]
    columns = features_of(table, given.features, {"labels": (given.labels,)}, given.data, given.id)
    found = {name: np.asarray(files.numbers_of(column)) for name, column in columns.items()}
    words = [name for name, x in found.items() if x.ndim != 1 or x.dtype.kind not in "iufb"]
    if len(words) == len(found) or (words and given.features is not None):
        what = f"column {words[0]!r} is not numbers" if words else "there are no columns of numbers"
        raise cg.InputError(f"{given.data}: {what}; name the columns in which the clusters were found with --features")
    if words:
        say([f"not numbers, and so not used: {some_of(words)}"])
    X = np.column_stack([x for name, x in found.items() if name not in words])
    result = cg.check_clusters(X, labels, alpha=given.alpha, noise=noise_labels(given.noise), random_state=given.seed)
    columns = {**row_ids(given.data, given.id, None), given.labels: labels, "merged": result.merged}
    written = wrote(given.out, columns, f"{len(set(result.group))} clusters of {len(result.codes):,} points")
    written += write_plot(given, result)
    print_result(result, given.format, notes=[result.sentence, *result.notes])
    say(written)
