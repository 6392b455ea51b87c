"""`congruence choose-k`: the number of clusters."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import typer

from congruence.cli.app import app
from congruence.cli.options import FIGURE, TABLE, VALUES, Figure, Numbers, Printing, option
from congruence.cli.parsing import whole_numbers
from congruence.cli.printing import print_result, print_rows, say, write_plot, write_result, write_table, wrote
from congruence.cli.reading import numbers_in, split
from congruence.typing import CovarianceType

if TYPE_CHECKING:
    from congruence.selection.choice import KChoice


class Given(Numbers, Figure, Printing):
    """The options of the command."""

    k: str = option("1..10", "Numbers of clusters to try: 1..12, or 2,3,5; 1 (no clusters) is always tried.")
    k_min: int = option(1, "Smallest number of clusters; 2 if you know that there are clusters.")
    method: Literal[
        "auto", "kmeans", "gaussian", "ward", "average", "complete", "single", "spectral", "em", "fuzzy", "projection",
        "features", "subsample", "mixed",
    ] = option("auto", "How to cluster; em and the methods after it need agreement criteria.")  # fmt: skip
    members: int | None = option(None, "Add the agreement of this many clusterings per k.", least=2)
    criteria: str | None = option(
        None, "Let these criteria vote, separated by commas: silhouette, gap, bic, …, any measure, certainty; or paper."
    )
    reference: str | None = option(None, "Column of classes to compare the clusterings with.")
    protocol: Literal["paper"] | None = option(None, "EM as in Lei et al. 2014, with --method em.")
    covariance_type: CovarianceType | None = option(None, "Covariances of the mixtures of --method em.")
    standardise: bool = option(False, "Give every column mean 0 and variance 1.")
    seed: int = option(0)
    jobs: int = option(1)
    threads: int | None = option(None)
    out: Path | None = option(None, "Write the scores here: csv, tsv, parquet, feather, json.", writes=VALUES)
    labels: Path | None = option(
        None, "Write the cluster of each point at the chosen k here: csv, tsv, parquet, feather.", writes=TABLE
    )
    plot: Path | None = option(None, "Write the curves here: .html, .png, .pdf or .svg.", writes=FIGURE)


@app.command("choose-k")
def choose_k(given: Given) -> None:
    """Estimate the number of clusters, with a probability for each number, or find that there are no clusters.

    Ctrl-C stops the computation; finished results are printed and written.

    Examples:

      congruence choose-k data.csv

      congruence choose-k data.csv --k 1..20 --standardise --jobs 2

      congruence choose-k data.csv --labels labels.csv

      congruence choose-k iris.csv --reference species --out scores.csv --plot k.html
    """
    import congruence as cg

    ks = whole_numbers(given.k)
    data = numbers_in(given.file, given.named, given.id, (given.reference,))
    truth = data.others.get(given.reference) if given.reference is not None else None
    say(data.notes)
    wanted = given.criteria if given.criteria in (None, "paper") else split(given.criteria)
    choice = cg.choose_k(
        data.frame, ks, given.method, given.members, wanted, reference=truth, random_state=given.seed, n_jobs=given.jobs,
        **given.values_of("k_min protocol covariance_type standardise threads"),
    )  # fmt: skip
    written = []
    if given.out is not None:
        _write(choice, given.out)
        written.append(f"wrote {given.out}")
    written += write_plot(given, choice)
    if given.labels is not None:
        written += wrote(given.labels, {**data.ids, "cluster": choice.labels}, f"k = {choice.k}, {choice.verdict}")
    elif choice.partitions and choice.verdict != "none":
        words = [x for x in sys.argv[1:] if x != "--json"]
        written.append(
            f"next, to write the cluster of each point: {shlex.join(['congruence', *words])} --labels labels.csv"
        )

    def rows() -> None:
        table = choice.to_frame("pyarrow", errors=True)
        print_rows(table.to_pylist(), given.format, table.column_names)
        say([choice.recommendation, *choice.notes])

    print_result(choice, given.format, rows)
    say(written)
    if not choice.is_complete:
        raise typer.Exit(130)


def _write(choice: KChoice, out: Path) -> None:
    from congruence.inputs import files

    if files.suffix_of(out) == ".json":
        write_result(choice, out)
    else:
        write_table(choice.columns(errors=True), out)
