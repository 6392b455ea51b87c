"""Commands for density profiles: adco, drift."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from congruence.cli.app import Engine, Format, Noise, Output, Policy, Threads, Unassigned, app
from congruence.cli.printing import print_rows, say
from congruence.cli.reading import noise_labels, split

Features = Annotated[
    str | None, typer.Option(help="Columns the clustering was made from, separated by commas; by default all others.")
]
Nominal = Annotated[str | None, typer.Option(help="Features whose numbers are codes of nominal values.")]
BinsBy = Annotated[str, typer.Option("--binning", help="How features are cut: width, frequency or mdl.")]
Bins = Annotated[int, typer.Option(min=1, help="Bins of each numeric feature.")]


def features_of(table: dict[str, Any], features: str | None, taken: list[str], file: Path) -> dict[str, Any]:
    """The columns of the data: those named, or all that hold no labels, ids or windows."""
    from congruence.inputs import files

    if features is not None:
        return files.pick(table, split(features), str(file))
    kept, notes = files.without_ids({name: column for name, column in table.items() if name not in taken})
    say([*notes, f"features: {', '.join(kept)} (name them with --features)"])
    return kept


@app.command()
def adco(
    data: Annotated[Path, typer.Argument(help="Table of features and label columns.")],
    labels: Annotated[list[str], typer.Option(help="Label columns: two of the table, or one of each table.")],
    against: Annotated[Path | None, typer.Option(help="Table of other points, with the second label column.")] = None,
    features: Features = None,
    nominal: Nominal = None,
    binning: BinsBy = "width",
    bins: Bins = 10,
    adjusted: Annotated[bool, typer.Option("--adjusted", help="Take off what any two clusterings score.")] = False,
    bivariate: Annotated[bool, typer.Option("--bivariate", help="Bins of all pairs of features.")] = False,
    kernel: Annotated[str, typer.Option(help="linear, polynomial or rbf.")] = "linear",
    matching: Annotated[str, typer.Option(help="one (to one) or soft.")] = "one",
    sizes: Annotated[str, typer.Option(help="Unequal numbers of points: given, sample or scaled.")] = "given",
    seed: Annotated[int | None, typer.Option(help="Random seed of --sizes sample.")] = None,
    unassigned: Unassigned = Policy.error,
    noise: Noise = None,
    format: Output = Format.table,
    threads: Threads = None,
    engine: Engine = "auto",
) -> None:
    """Compare two clusterings by where their clusters lie in the data; they may be of different points.

    Examples:

      congruence adco data.csv --labels kmeans --labels truth

      congruence adco monday.csv --against friday.csv --labels cluster --labels cluster --features x,y
    """
    import congruence as cg
    from congruence.inputs import files

    if len(labels) != 2:
        raise cg.InputError(f"--labels names two columns, as in --labels a --labels b; got {len(labels)}")
    first, second = labels
    table = files.read_columns(data)
    other = files.read_columns(against) if against is not None else table
    a = files.pick(table, [first], str(data))[first]
    b = files.pick(other, [second], str(against or data))[second]
    X = features_of(table, features, labels, data)
    X_b = files.pick(other, list(X), str(against)) if against is not None else None
    options: dict[str, Any] = {"binning": binning, "bins": bins, "nominal": split(nominal), "adjusted": adjusted}
    options |= {"bivariate": bivariate, "kernel": kernel, "matching": matching, "sizes": sizes, "random_state": seed}
    options |= {"unassigned": unassigned.value, "noise": noise_labels(noise), "threads": threads}
    options |= {"engine": engine}
    result = cg.compare_profiles(a, b, X, X_b, **options)
    if format is Format.table:
        print(result)
    elif format is Format.json:
        print(result.to_json(indent=2))
    else:
        say(result.notes)
        print_rows([{"measure": key, "value": value} for key, value in result.to_dict().items()], format)
        print()
        print_rows(result.cluster_rows(), format, ["a", "b", "weight", "similarity", "size_a", "size_b"])
        print()
        print_rows(result.attribute_rows(), format)


@app.command()
def drift(
    data: Annotated[Path, typer.Argument(help="Table with features, a label column and a window column.")],
    window: Annotated[str, typer.Option(help="Column that says which window a row belongs to.")],
    labels: Annotated[str, typer.Option(help="Column of cluster labels.")],
    features: Features = None,
    nominal: Nominal = None,
    binning: BinsBy = "width",
    bins: Bins = 10,
    measure: Annotated[str, typer.Option(help="adco, adco_cosine, adco_distance or adco_metric.")] = "adco",
    sizes: Annotated[str, typer.Option(help="Windows of unequal size: given or scaled.")] = "given",
    unassigned: Unassigned = Policy.error,
    noise: Noise = None,
    format: Output = Format.table,
    threads: Threads = None,
) -> None:
    """Say how the clusters of one window after another change, and which features and clusters moved.

    Examples:

      congruence drift log.csv --window day --labels cluster

      congruence drift log.parquet --window hour --labels cluster --features bytes,duration,protocol
    """
    import congruence as cg
    from congruence.inputs import files

    table = files.read_columns(data)
    kept = files.pick(table, [labels, window], str(data))
    X = features_of(table, features, [labels, window], data)
    options: dict[str, Any] = {"binning": binning, "bins": bins, "nominal": split(nominal), "measure": measure}
    options |= {"sizes": sizes, "unassigned": unassigned.value, "noise": noise_labels(noise), "threads": threads}
    result = cg.drift({**X, **kept}, labels, window, features=list(X), **options)
    if format is Format.table:
        print(result)
    elif format is Format.json:
        print(result.to_json(indent=2))
    else:
        say(result.notes)
        print_rows(result.rows(), format)
