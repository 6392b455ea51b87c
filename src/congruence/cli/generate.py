"""`congruence generate`: many clusterings of a table of numbers."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from congruence.cli.app import DataColumns, Numbers, PointTable, RowNames, Seed, app
from congruence.cli.parsing import one_list, whole_numbers
from congruence.cli.printing import say, write_table
from congruence.cli.reading import numbers_in


@app.command(
    needs={
        option: ("--method subsample or mixed", lambda given: given["method"] in ("subsample", "mixed"))
        for option in ("fraction", "partial")
    }
)
def generate(
    file: PointTable,
    out: Annotated[Path, typer.Option("--out", "-o", help="Write the labels here: csv, tsv, parquet, feather.")],
    k: Annotated[str, typer.Option("--k", help="Numbers of clusters to choose from: 5, 2..10, or 2,3,5.")] = "2..10",
    members: Annotated[int, typer.Option(min=1, help="Number of clusterings.")] = 100,
    method: Annotated[
        Literal["kmeans", "projection", "features", "subsample", "em", "fuzzy", "possibilistic", "mixed"],
        typer.Option(help="How to cluster; mixed takes several methods in turn."),
    ] = "kmeans",
    columns: Numbers = None,
    data_columns: DataColumns = None,
    id: RowNames = None,
    fraction: Annotated[float, typer.Option(help="Share of the points, for subsample and mixed.")] = 0.8,
    partial: Annotated[
        bool, typer.Option("--partial", help="Leave points outside the subsample without a label.")
    ] = False,
    standardise: Annotated[
        bool, typer.Option("--standardise", help="Give every column mean 0 and variance 1 first.")
    ] = False,
    covariance_type: Annotated[
        Literal["full", "tied", "diag", "spherical"] | None,
        typer.Option(help="Covariances of the mixtures of --method em. Default: full."),
    ] = None,
    seed: Seed = None,
    jobs: Annotated[int, typer.Option(help="Number of processes; -1 for all cores.")] = 1,
) -> None:
    """Cluster a table of numbers many times and write the labels, one column each.

    Examples:

      congruence generate data.csv --k 2..10 --members 100 --out labels.parquet

      congruence generate data.parquet --id cell --method subsample --partial --out runs.csv
    """
    import numpy as np

    import congruence as cg
    from congruence.inputs import files

    files.check_writable(out, file)
    data = numbers_in(file, one_list(columns, data_columns), id)
    X, notes = data.scaled(standardise), list(data.notes)
    ensemble = cg.generate(
        X,
        members,
        whole_numbers(k),
        method,
        seed,
        fraction=fraction,
        complete=not partial,
        covariance_type=covariance_type,
        n_jobs=jobs,
    )
    table = dict(data.ids)
    for name, member in zip(ensemble.names, ensemble.members, strict=True):
        codes = member.codes.astype(np.int64)
        table[name] = [None if c == member.k else c for c in codes.tolist()] if member.gaps else codes
    write_table(table, out)
    if ensemble.is_soft:
        notes.append("the cluster with the largest membership was written; cg.generate in Python keeps memberships")
    say([*notes, *ensemble.notes, f"wrote {out}: {len(ensemble)} clusterings of {ensemble.n_points:,} points"])
