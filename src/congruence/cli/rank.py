"""`congruence rank`: which clustering to trust."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from congruence.cli.app import app
from congruence.cli.joining import rows_of_two
from congruence.cli.options import TABLE, Data, Figure, Members, Printing, argument, option
from congruence.cli.parsing import MOST_COLUMNS, check_number, check_width, noise_labels
from congruence.cli.printing import print_result, say, write_plot, wrote
from congruence.cli.reading import labels_of, numbers_in

if TYPE_CHECKING:
    from congruence.inputs.ensemble import Ensemble
    from congruence.statistics.tables import Array
    from congruence.typing import ColumnLike


class Given(Members, Data, Figure, Printing):
    """The options of the command."""

    file: Path = argument("Table of label columns, one per clustering.")
    k: int | None = option(None, "Number of clusters, if known; chosen from the clusterings if omitted.", least=1)
    data: Path | None = option(None, "Table of numbers of the same rows, which the clusterings should fit.")
    data_columns: str | None = option(None, needs=("--data", lambda given: given.data is not None))
    seed: int | None = option(0)
    out: Path | None = option(None, writes=TABLE)
    threads: int | None = option(None)


@app.command()
def rank(given: Given) -> None:
    """Say which of several clusterings to trust: the one that agrees best with the others, and those as good.

    Examples:

      congruence rank labels.csv

      congruence rank runs.csv --k 5 --plot ranking.html

      congruence rank labels.csv --data numbers.csv --format json
    """
    import congruence as cg

    check_width(given.file, given.columns, given.long, MOST_COLUMNS, ", or call rank in Python")
    read = labels_of(given, find_reference=True)
    found, truth = read.without_reference()
    check_number(found, MOST_COLUMNS, ", or call rank in Python")
    members = whole = cg.Ensemble(found, unassigned=given.policy, noise=noise_labels(given.noise))
    X = None
    if given.data is not None:
        members, X = _with_data(members, given, given.data)
    result = cg.rank(members, X, given.k, given.seed, threads=given.threads)
    written = [] if truth is None else [_against(whole, truth, str(read.reference), result.best)]
    written += [*wrote(given.out, result.table_columns()), *write_plot(given, result)]
    print_result(result, given.format, notes=[result.sentence, *result.notes])
    say([*written, *members.cautions])


def _with_data(members: Ensemble, given: Given, data: Path) -> tuple[Ensemble, Array]:
    """The clusterings and the numbers of the same rows."""
    numbers = numbers_in(data, given.data_columns, given.id)
    say(numbers.notes)
    X = numbers.matrix
    rows = rows_of_two(given, data)
    say(rows.notes)
    return (members, X) if rows.take is None else (members.taken(rows.take[0]), X[rows.take[1]])


def _against(members: Ensemble, truth: ColumnLike, reference: str, best: str | None) -> str:
    """How well the best, the median and the closest clustering agree with a reference that did not take part."""
    import numpy as np

    import congruence as cg

    values = cg.compare_to(truth, members, ["ari"], unassigned="drop")["ari"]
    own = "" if best is None else f"“{best}” {values[members.names.index(best)]:.2f}, "
    return f"ari with {reference}, which did not take part: {own}median {np.nanmedian(values):.2f}, best {np.nanmax(values):.2f}"
