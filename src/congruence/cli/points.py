"""`congruence points`: which points the clusterings disagree on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from congruence.cli.app import Columns, Format, Id, Long, Noise, Output, Policy, Reference, Unassigned, app
from congruence.cli.parsing import MOST_SHOWN_COLUMNS, check_number, check_width, noise_labels
from congruence.cli.printing import print_rows, say, write_table
from congruence.cli.reading import check_noise_columns, labels_of, listed, row_ids
from congruence.typing import ColumnLike, NoiseLike

if TYPE_CHECKING:
    from congruence.statistics.tables import Array


@app.command()
def points(
    file: Annotated[Path, typer.Argument(help="Table of label columns: csv, tsv, parquet, feather, npy, npz.")],
    columns: Columns = None,
    reference: Reference = None,
    id: Id = None,
    long: Long = None,
    unassigned: Unassigned = Policy.error,
    noise: Noise = None,
    least: Annotated[
        int | None,
        typer.Option(min=1, help="How many of the least stable points to print; default: 20, or none with --out."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Write the score of every point here: csv, tsv, parquet, feather."),
    ] = None,
    format: Output = Format.table,
) -> None:
    """Show the points that the clusterings place least consistently.

    A point's score is its element-centric agreement, 0 to 1, averaged over all pairs of clusterings, or over the
    clusterings with the reference.

    Examples:

      congruence points labels.csv --columns kmeans,leiden,ward

      congruence points labels.parquet --reference truth --least 50 --out scores.csv
    """
    import numpy as np

    from congruence.inputs import files

    if out is not None:
        files.check_writable(out, file)
    if reference is None:
        check_width(file, columns, long, MOST_SHOWN_COLUMNS, ", or name a --reference")
    found = labels_of(file, columns, id, long, (), reference).columns
    labels = noise_labels(noise)
    check_noise_columns(labels, found)
    names = list(found)
    if reference is not None:
        files.pick(found, [reference], str(file))
    else:
        check_number(found, MOST_SHOWN_COLUMNS, ", or name a --reference")
    mean, seen = _mean_scores(found, reference, labels, unassigned, file)
    named: dict[str, ColumnLike] = row_ids(file, id, long) or {"row": np.arange(len(mean))}
    table = {**named, "score": mean}
    gone = int((seen == 0).sum())
    if gone:
        say([f"{len(mean) - gone:,} of {len(mean):,} points have a score; {gone:,} have too few labels for one"])
    if out is not None:
        write_table({**table, **{name: found[name] for name in names}}, out)
        say([f"wrote {out}: {len(mean):,} points"])
    order = np.argsort(np.where(np.isnan(mean), np.inf, mean), kind="stable")[: least or 20].tolist()
    (who, ids), *_ = named.items()
    called = listed(ids)
    plain = {name: listed(column) for name, column in found.items()}
    shown = names if len(names) <= 8 else []
    rows = [{who: called[i], "score": float(mean[i]), **{name: plain[name][i] for name in shown}} for i in order]
    if out is None or least is not None or format is not Format.table:
        print_rows(rows, format)
    if out is None and format is Format.table:
        say(
            [
                f"the {len(rows)} least stable of {len(mean):,} points; mean score {np.nanmean(mean):.3f}; --out writes all"
            ]
        )


def _mean_scores(
    found: dict[str, ColumnLike], reference: str | None, noise: NoiseLike, unassigned: Policy, file: Path
) -> tuple[Array, Array]:
    """The mean score of each point over pairs of columns, and in how many pairs it has a score."""
    import itertools

    import numpy as np

    import congruence as cg
    from congruence.chance.many_tests import noise_of

    others = [name for name in found if name != reference]
    scores = []
    for a, b in itertools.product([reference], others) if reference else itertools.combinations(others, 2):
        scores.append(cg.element_scores(found[a], found[b], unassigned=unassigned.value, noise=noise_of(noise, a, b)))
    if not scores:
        raise cg.InputError(f"{file} has {len(found)} label columns; point scores need at least two")
    stacked = np.array([np.asarray(score, dtype=float) for score in scores])
    seen = (~np.isnan(stacked)).sum(axis=0)
    return np.divide(np.nansum(stacked, axis=0), seen, out=np.full(stacked.shape[1], np.nan), where=seen > 0), seen
