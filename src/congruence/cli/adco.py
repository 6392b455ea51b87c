"""`congruence adco`: where clusters lie in the data."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from congruence.cli.app import (
    NEEDS_BINS,
    Bins,
    BinsBy,
    Engine,
    Features,
    FeatureTable,
    Format,
    Noise,
    Nominal,
    Output,
    Policy,
    Threads,
    Unassigned,
    app,
)
from congruence.cli.parsing import noise_labels
from congruence.cli.printing import print_result, print_rows, say, show
from congruence.cli.reading import features_of, split, table_of
from congruence.typing import OptionValue


@app.command(needs={**NEEDS_BINS, "seed": ("--sizes sample", lambda given: given["sizes"] == "sample")})
def adco(
    data: FeatureTable,
    labels: Annotated[list[str], typer.Option(help="Label columns: two of the table, or one of each table.")],
    against: Annotated[Path | None, typer.Option(help="Table of other points, with the second label column.")] = None,
    features: Features = None,
    nominal: Nominal = None,
    binning: BinsBy = "width",
    bins: Bins = 10,
    adjusted: Annotated[bool, typer.Option("--adjusted", help="Subtract the mean score over matchings.")] = False,
    bivariate: Annotated[bool, typer.Option("--bivariate", help="Use bins of all pairs of features.")] = False,
    matching: Annotated[
        Literal["one", "soft"], typer.Option(help="How to match clusters: one to one, or with shares (soft).")
    ] = "one",
    sizes: Annotated[
        Literal["given", "sample", "scaled"], typer.Option(help="How to treat unequal numbers of points.")
    ] = "given",
    seed: Annotated[int | None, typer.Option(help="Random seed for --sizes sample.")] = None,
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
    table = table_of(data)
    other = table_of(against) if against is not None else table
    a = files.pick(table, [first], str(data))[first]
    b = files.pick(other, [second], str(against or data))[second]
    X = features_of(table, features, {"labels": tuple(dict.fromkeys(labels if against is None else [first]))}, data)
    X_b = files.pick(other, list(X), str(against)) if against is not None else None
    options: dict[str, OptionValue] = {
        "binning": binning,
        "bins": bins,
        "nominal": split(nominal),
        "adjusted": adjusted,
    }
    options |= {"bivariate": bivariate, "matching": matching, "sizes": sizes, "random_state": seed}
    options |= {"unassigned": unassigned.value, "noise": noise_labels(noise), "threads": threads}
    options |= {"engine": engine}
    result = cg.compare_profiles(a, b, X, X_b, **options)

    def rows() -> None:
        say(result.notes)
        print_rows([{"measure": key, "value": value} for key, value in result.to_dict().items()], format)
        show()
        print_rows(result.cluster_rows(), format, ["a", "b", "weight", "similarity", "size_a", "size_b"])
        show()
        print_rows(result.attribute_rows(), format)

    print_result(result, format, rows)
