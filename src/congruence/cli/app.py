"""The application and the options its commands share."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    name="congruence",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="""Compare clusterings: two label columns, or six hundred.

    Examples:

      congruence demo

      congruence compare labels.csv kmeans leiden

      congruence matrix labels.parquet --measures ari,vi --out agreement.npz

      congruence compare --help
    """,
)


class Format(StrEnum):
    """How results are printed."""

    table = "table"
    json = "json"
    csv = "csv"
    markdown = "markdown"


class Policy(StrEnum):
    """What becomes of points without a label."""

    error = "error"
    drop = "drop"
    singletons = "singletons"
    cluster = "cluster"


class Correction(StrEnum):
    """How p-values are corrected for their number."""

    holm = "holm"
    bh = "bh"
    none = "none"


def measures_like(incomplete: str) -> list[str]:
    """What a shell may complete: a key, or the last of several with commas between."""
    from congruence.formulas import names

    done, comma, last = incomplete.rpartition(",")
    return [f"{done}{comma}{key}" for key in names() if key.startswith(last)]


Measures = Annotated[
    str | None,
    typer.Option(
        "--measures",
        "--measure",
        "-m",
        help="Measures by key, separated by commas, or 'all'.",
        autocompletion=measures_like,
    ),
]
TwoSources = Annotated[
    list[str] | None, typer.Argument(metavar="[COL_A COL_B | FILE_B]", help="Two columns, or a second file.")
]
Columns = Annotated[str | None, typer.Option(help="The label columns to use, separated by commas.")]
Numbers = Annotated[
    str | None,
    typer.Option(
        "--columns", "--features", help="Columns to cluster by, separated by commas; else all that are numbers."
    ),
]
RowNames = Annotated[str | None, typer.Option(help="Column of row ids: not clustered by, but kept.")]
Reference = Annotated[str | None, typer.Option(help="Compare every other column with this one.")]
Id = Annotated[str | None, typer.Option(help="Column of row ids: left out of the labels, and joins two files.")]
Long = Annotated[str | None, typer.Option(help="The file is a long table with these columns: id,method,label.")]
Unassigned = Annotated[Policy, typer.Option(help="What becomes of points without a label.")]
Noise = Annotated[
    str | None, typer.Option(help="Labels that mean noise: -1, or -1,unknown, or COLUMN=-1 (repeat after a semicolon).")
]
Weight = Annotated[str | None, typer.Option(help="Column of importance weights.")]
Frequency = Annotated[str | None, typer.Option(help="Column of counts: how often each row occurs.")]
Output = Annotated[Format, typer.Option("--format", "-f", help="How to print the result.")]
Threads = Annotated[int | None, typer.Option(min=1, help="Threads to use; by default all cores.")]
Engine = Annotated[str, typer.Option("--engine", help="Where to count: auto, cpu, or cuda (a CUDA GPU).")]
FailUnder = Annotated[
    list[str] | None,
    typer.Option(help="Exit with 1 if the measure is worse than this, as in ari=0.9; may be repeated."),
]
Client = Annotated[
    str | None, typer.Option(help="Count on a Dask cluster: the address of its scheduler, as in tcp://host:8786.")
]
Checkpoint = Annotated[
    Path | None, typer.Option(help="Folder for finished parts: a run that was stopped goes on from there.")
]
SkipBad = Annotated[
    bool, typer.Option("--skip-bad", help="Go on without what cannot be read; the result lists what was left out.")
]
Memory = Annotated[str | None, typer.Option(help="Read in row groups; tables may take this much, as in 2GB.")]

Missing = Annotated[str, typer.Option(help="How gaps of partial members count: ratio, plain or pooled.")]


def _version(wanted: bool) -> None:
    if wanted:
        from congruence import __version__

        print(f"congruence {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


Seed = Annotated[int | None, typer.Option(help="The same seed gives the same result.")]

Features = Annotated[
    str | None, typer.Option(help="Columns the clustering was made from, separated by commas; by default all others.")
]
Nominal = Annotated[str | None, typer.Option(help="Features whose numbers are codes of nominal values.")]
BinsBy = Annotated[str, typer.Option("--binning", help="How features are cut: width, frequency or mdl.")]
Bins = Annotated[int, typer.Option(min=1, help="Bins of each numeric feature.")]
