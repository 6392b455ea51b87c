"""`congruence points`: which points the clusterings disagree on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from congruence.cli.app import app
from congruence.cli.options import TABLE, Gaps, Labels, Policy, Printing, option
from congruence.cli.parsing import MOST_SHOWN_COLUMNS, check_number, check_width, noise_labels
from congruence.cli.printing import print_rows, say, wrote
from congruence.cli.reading import check_noise_columns, labels_of, listed, row_ids
from congruence.typing import ColumnLike, NoiseLike

if TYPE_CHECKING:
    from congruence.statistics.tables import Array


class Given(Labels, Gaps, Printing):
    """The options of the command."""

    reference: str | None = option(None)
    least: int | None = option(
        None, "How many of the least stable points to print; default: 20, or none with --out.", least=1
    )
    out: Path | None = option(None, "Write the score of every point here: csv, tsv, parquet, feather.", writes=TABLE)


@app.command()
def points(given: Given) -> None:
    """Show the points that the clusterings place least consistently.

    A point's score is its element-centric agreement, 0 to 1, averaged over all pairs of clusterings, or over the
    clusterings with the reference.

    Examples:

      congruence points labels.csv --columns kmeans,leiden,ward

      congruence points labels.parquet --reference truth --least 50 --out scores.csv
    """
    import numpy as np

    from congruence.inputs import files
    from congruence.inputs.labels import Labels

    if given.reference is None:
        check_width(given.file, given.columns, given.long, MOST_SHOWN_COLUMNS, ", or name a --reference")
    found = labels_of(given).columns
    labels = noise_labels(given.noise)
    check_noise_columns(labels, found)
    names = list(found)
    if given.reference is not None:
        files.pick(found, [given.reference], str(given.file))
    else:
        check_number(found, MOST_SHOWN_COLUMNS, ", or name a --reference")
    mean, seen = _mean_scores(found, given.reference, labels, given.unassigned, given.file)
    named: dict[str, ColumnLike] = row_ids(given.file, given.id, given.long) or {"row": np.arange(len(mean))}
    table = {**named, "score": mean}
    gone = int((seen == 0).sum())
    if gone:
        say([f"{len(mean) - gone:,} of {len(mean):,} points have a score; {gone:,} have too few labels for one"])
    written = {name: listed(column) if isinstance(column, Labels) else column for name, column in found.items()}
    say(wrote(given.out, {**table, **written}, f"{len(mean):,} points"))
    order = np.argsort(np.where(np.isnan(mean), np.inf, mean), kind="stable")[: given.least or 20].tolist()
    (who, ids), *_ = named.items()
    called = listed(ids)
    plain = {name: listed(column) for name, column in found.items()}
    shown = names if len(names) <= 8 else []
    rows = [{who: called[i], "score": float(mean[i]), **{name: plain[name][i] for name in shown}} for i in order]
    if given.out is None or given.least is not None or given.format != "table":
        print_rows(rows, given.format)
    if given.out is None and given.format == "table":
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
        scores.append(cg.element_scores(found[a], found[b], unassigned=unassigned, noise=noise_of(noise, a, b)))
    if not scores:
        raise cg.InputError(f"{file} has {len(found)} label columns; point scores need at least two")
    stacked = np.array([np.asarray(score, dtype=float) for score in scores])
    seen = (~np.isnan(stacked)).sum(axis=0)
    return np.divide(np.nansum(stacked, axis=0), seen, out=np.full(stacked.shape[1], np.nan), where=seen > 0), seen
