"""`congruence choose-k`: the number of clusters."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from congruence.cli.app import DataColumns, Format, Numbers, Open, Output, PointTable, RowNames, Threads, app
from congruence.cli.parsing import one_list, whole_numbers
from congruence.cli.plots import check_plot, write_plot
from congruence.cli.printing import print_result, print_rows, say, write_table
from congruence.cli.reading import numbers_in, split

if TYPE_CHECKING:
    from congruence.selection.choice import KChoice


@app.command("choose-k")
def choose_k(
    file: PointTable,
    k: Annotated[
        str, typer.Option("--k", help="Numbers of clusters to try: 1..12, or 2,3,5; 1 (no clusters) is always tried.")
    ] = "1..10",
    k_min: Annotated[
        int, typer.Option("--k-min", help="Smallest number of clusters; 2 if you know that there are clusters.")
    ] = 1,
    method: Annotated[
        Literal[
            "auto",
            "kmeans",
            "gaussian",
            "ward",
            "average",
            "complete",
            "single",
            "spectral",
            "em",
            "fuzzy",
            "projection",
            "features",
            "subsample",
            "mixed",
        ],
        typer.Option(help="How to cluster; em and the methods after it need agreement criteria."),
    ] = "auto",
    members: Annotated[
        int | None, typer.Option(min=2, help="Add the agreement of this many clusterings per k.")
    ] = None,
    criteria: Annotated[
        str | None,
        typer.Option(
            help="Let these criteria vote, separated by commas: silhouette, gap, bic, …, any measure, certainty; or paper."
        ),
    ] = None,
    reference: Annotated[str | None, typer.Option(help="Column of classes to compare the clusterings with.")] = None,
    columns: Numbers = None,
    data_columns: DataColumns = None,
    id: RowNames = None,
    protocol: Annotated[
        Literal["paper"] | None, typer.Option(help="EM as in Lei et al. 2014, with --method em.")
    ] = None,
    covariance_type: Annotated[
        Literal["full", "tied", "diag", "spherical"] | None,
        typer.Option(help="Covariances of the mixtures of --method em."),
    ] = None,
    standardise: Annotated[
        bool, typer.Option("--standardise", help="Give every column mean 0 and variance 1.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Random seed; the result is the same for any --jobs.")] = 0,
    jobs: Annotated[int, typer.Option(help="Values of k computed in parallel; -1 for all cores.")] = 1,
    threads: Threads = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Write the scores here: csv, tsv, parquet, feather, json.")
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="Write the curves here: .html, .png, .pdf or .svg.")] = None,
    open_page: Open = False,
    format: Output = Format.table,
) -> None:
    """Estimate the number of clusters, with a probability for each number, or find that there are no clusters.

    Ctrl-C stops the computation; finished results are printed and written.

    Examples:

      congruence choose-k data.csv

      congruence choose-k data.csv --k 1..20 --standardise --jobs 2

      congruence choose-k iris.csv --reference species --out scores.csv --plot k.html
    """
    import congruence as cg
    from congruence.inputs import files

    ks = whole_numbers(k)
    if out is not None:
        files.check_writable(out, file)
        if files.suffix_of(out) == ".npz":
            raise cg.InputError(f"{out}: scores can be written as .csv, .tsv, .parquet, .feather or .json")
    check_plot(plot, file, open_page=open_page)
    data = numbers_in(file, one_list(columns, data_columns), id, (reference,))
    truth = data.others.get(reference) if reference is not None else None
    say(data.notes)
    wanted = criteria if criteria is None or criteria == "paper" else split(criteria)
    choice = cg.choose_k(
        data.frame, ks, method, members, wanted, k_min=k_min, reference=truth, random_state=seed, protocol=protocol,
        covariance_type=covariance_type, standardise=standardise, n_jobs=jobs, threads=threads,
    )  # fmt: skip
    written = []
    if out is not None:
        _write(choice, out)
        written.append(f"wrote {out}")
    if plot is not None:
        written.append(write_plot(choice, plot, open_page=open_page))

    def rows() -> None:
        table = choice.to_frame("pyarrow", errors=True)
        print_rows(table.to_pylist(), format, table.column_names)
        say([choice.recommendation, *choice.notes])

    print_result(choice, format, rows)
    say(written)
    if not choice.is_complete:
        raise typer.Exit(130)


def _write(choice: KChoice, out: Path) -> None:
    from congruence.inputs import files
    from congruence.machine.writing import write_text

    if files.suffix_of(out) == ".json":
        write_text(out, choice.to_json(indent=2))
    else:
        write_table(choice.columns(errors=True), out)
