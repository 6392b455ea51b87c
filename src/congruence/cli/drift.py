"""`congruence drift`: clusters of a stream, window by window."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from congruence.cli.app import (
    NEEDS_BINS,
    Bins,
    BinsBy,
    Features,
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
from congruence.cli.printing import print_result, print_rows, say
from congruence.cli.reading import features_of, split, table_of
from congruence.typing import OptionValue


@app.command(needs=NEEDS_BINS)
def drift(
    data: Annotated[Path, typer.Argument(help="Table with features, a label column and a window column.")],
    window: Annotated[str, typer.Option(help="Column with the window of each row.")],
    labels: Annotated[str, typer.Option(help="Column of cluster labels.")],
    features: Features = None,
    nominal: Nominal = None,
    binning: BinsBy = "width",
    bins: Bins = 10,
    measure: Annotated[
        Literal["adco", "adco_cosine", "adco_distance", "adco_metric"], typer.Option(help="Measure of two windows.")
    ] = "adco",
    sizes: Annotated[Literal["given", "scaled"], typer.Option(help="How to treat windows of unequal size.")] = "given",
    unassigned: Unassigned = Policy.error,
    noise: Noise = None,
    format: Output = Format.table,
    threads: Threads = None,
) -> None:
    """Show how clusters change from window to window, and which features and clusters moved.

    Examples:

      congruence drift log.csv --window day --labels cluster

      congruence drift log.parquet --window hour --labels cluster --features bytes,duration,protocol
    """
    import congruence as cg
    from congruence.inputs import files

    table = table_of(data)
    kept = files.pick(table, [labels, window], str(data))
    X = features_of(table, features, {"labels": (labels,), "window": (window,)}, data)
    options: dict[str, OptionValue] = {"binning": binning, "bins": bins, "nominal": split(nominal), "measure": measure}
    options |= {"sizes": sizes, "unassigned": unassigned.value, "noise": noise_labels(noise), "threads": threads}
    result = cg.drift({**X, **kept}, labels, window, features=list(X), **options)

    def rows() -> None:
        say(result.notes)
        print_rows(result.rows(), format)

    print_result(result, format, rows)
