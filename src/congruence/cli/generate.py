"""`congruence generate`: many clusterings of a table of numbers."""

from pathlib import Path
from typing import Literal

from congruence.cli.app import app
from congruence.cli.options import TABLE, Numbers, option, required
from congruence.cli.parsing import whole_numbers
from congruence.cli.printing import say, write_table
from congruence.cli.reading import numbers_in
from congruence.typing import CovarianceType

OF_PARTS = ("--method subsample or mixed", lambda given: given.method in ("subsample", "mixed"))


class Given(Numbers):
    """The options of the command."""

    out: Path = required("Write the labels here: csv, tsv, parquet, feather.", writes=TABLE)
    k: str = option("2..10", "Numbers of clusters to choose from: 5, 2..10, or 2,3,5.")
    members: int = option(100, "Number of clusterings.", least=1)
    method: Literal["kmeans", "projection", "features", "subsample", "em", "fuzzy", "possibilistic", "mixed"] = option(
        "kmeans", "How to cluster; mixed takes several methods in turn."
    )
    fraction: float = option(0.8, "Share of the points, for subsample and mixed.", needs=OF_PARTS)
    partial: bool = option(False, "Leave points outside the subsample without a label.", needs=OF_PARTS)
    standardise: bool = option(False, "Give every column mean 0 and variance 1 first.")
    covariance_type: CovarianceType | None = option(None, "Covariances of the mixtures of --method em. Default: full.")
    seed: int | None = option(0)
    jobs: int = option(1)


@app.command()
def generate(given: Given) -> None:
    """Cluster a table of numbers many times and write the labels, one column each.

    Examples:

      congruence generate data.csv --k 2..10 --members 100 --out labels.parquet

      congruence generate data.parquet --id cell --method subsample --partial --out runs.csv
    """
    import numpy as np

    import congruence as cg

    data = numbers_in(given.file, given.named, given.id)
    X, notes = data.scaled(given.standardise), list(data.notes)
    ensemble = cg.generate(
        X, given.members, whole_numbers(given.k), given.method, given.seed, complete=not given.partial, n_jobs=given.jobs,
        **given.values_of("fraction covariance_type"),
    )  # fmt: skip
    table = dict(data.ids)
    for name, member in zip(ensemble.names, ensemble.members, strict=True):
        codes = member.codes.astype(np.int64)
        table[name] = [None if c == member.k else c for c in codes.tolist()] if member.gaps else codes
    write_table(table, given.out)
    if ensemble.is_soft:
        notes.append("the cluster with the largest membership was written; cg.generate in Python keeps memberships")
    say([*notes, *ensemble.notes, f"wrote {given.out}: {len(ensemble)} clusterings of {ensemble.n_points:,} points"])
