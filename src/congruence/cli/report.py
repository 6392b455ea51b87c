"""`congruence report`: one HTML page."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from congruence.cli.app import app, settings
from congruence.cli.covers import NO_COLUMNS, Covers, read_covers
from congruence.cli.options import Data, Gaps, Measured, Printing, argument, option, refuse
from congruence.cli.parsing import check_width, noise_labels
from congruence.cli.printing import print_json, print_rows, say, show, show_page
from congruence.cli.reading import embeddings_in, labels_of, numbers_in, picture_in, row_ids, said_of, split, table_of
from congruence.typing import ColumnLike, Label, OptionValue, PointsLike

if TYPE_CHECKING:
    from congruence.reporting.html import Report


class Given(Covers, Data, Gaps, Measured, Printing):
    """The options of the command."""

    file: Path = argument("Table of label columns, or of memberships in columns NAME:CLUSTER; or a cover.")
    more: list[Path] | None = argument("More cover files.", None, metavar="[FILE...]")
    data: Path | None = option(
        None, "Table of numeric features of the same points, for a scatter plot and the answer of choose-k."
    )
    reference: str | None = option(
        None, "Column to compare with; default: a column called truth, class, label or reference; none: no column."
    )
    out: Path = option(Path("report.html"), "Write the page here.", writes=(".html", ".htm"))
    data_columns: str | None = option(
        None, "Columns of the data for the scatter plot, as in a,b,c; default: all numeric columns."
    )
    axes: str | None = option(None, "Two columns of the data as axes of the scatter plot, as in x,y; default: PCA.")
    k: int | None = option(None, "Number of clusters of the consensus clusterings.", least=1)
    distinct: bool = option(False, "Count clusterings that are the same once; default: as often as they occur.")
    title: str | None = option(None, "Title of the page; default: the name of the file.")
    seed: int = option(0, "Random seed; the same seed gives the same page.")
    threads: int | None = option(None)
    open: bool = option(False)


@app.command()
def report(given: Given) -> None:
    """Write a report on the clusterings of a file: one offline page that shows how well they agree and where they differ.

    Examples:

      congruence report labels.csv --reference truth

      congruence report runs.parquet --data numbers.csv --axes x,y --out runs.html

      congruence report cells.csv --id barcode --noise -1 --measures ari,vi,jaccard

      congruence report truth.cover first.cover second.cover --reference truth --n 5013
    """
    import congruence as cg
    from congruence.inputs.column_kinds import with_memberships
    from congruence.inputs.column_names import are_steps
    from congruence.reporting.html import report_of
    from congruence.reporting.members import Request
    from congruence.reporting.model import MOST_CLUSTERINGS

    common: dict[str, OptionValue] = {
        "measures": split(given.measures) or None, "unassigned": given.unassigned, "noise": noise_labels(given.noise),
        "random_state": given.seed, "threads": given.threads, "command": shlex.join(["congruence", *sys.argv[1:]]),
    }  # fmt: skip
    if given.holds_covers:
        refuse(given, "columns id long", NO_COLUMNS)
        for_labels = "data axes data_columns k distinct"
        refuse(given, for_labels, "is for reports of labels, but the files hold covers; leave it out")
        covers = read_covers(given)
        _written(given, cg.report(covers, given.out, reference=given.reference, title=given.title, **common), [])
        return
    if len(given.paths) > 1:
        raise cg.InputError(
            f"{len(given.paths)} files were given; put label columns into one table; covers are files named .cover"
        )
    check_width(given.file, given.columns, given.long, MOST_CLUSTERINGS, ", or use `congruence matrix --out`")
    read = labels_of(given, find_reference=True)
    found, notes = with_memberships(read.columns), list[str]()
    if given.reference is None and read.reference is not None:
        notes.append(f"pass --reference none to count {read.reference!r} as a clustering")
    if are_steps(clusterings := [name for name in found if name != read.reference]):
        steps = f"columns {clusterings[0]} to {clusterings[-1]} look like steps"
        notes.append(f"{steps}: congruence track {given.file} --plot flow.html follows their clusters over time")
    ids = next(iter(row_ids(given.file, given.id, given.long).values()), None)
    numbers, drawn, said = _data_of_plot(given, found)
    beside = ["--unassigned", given.unassigned] if given.unassigned != "error" else []
    beside += ["--noise", given.noise] if given.noise else []
    beside += ["--long", given.long] if given.long else []
    request = Request(
        clusterings=found, title=given.title or given.file.name, reference=read.reference, data=numbers, axes=drawn or None,
        ids=ids, n_clusters=given.k, distinct=given.distinct, source=str(given.file), options=shlex.join(beside), **common,
    )  # fmt: skip
    _written(given, report_of(request, given.out), [*notes, *said])


def _data_of_plot(given: Given, labels: dict[str, ColumnLike]) -> tuple[PointsLike, list[str], list[str]]:
    """The data of the scatter plot, in the order of the labels, its axes, and notes on both."""
    from congruence import InputError
    from congruence.inputs import files
    from congruence.inputs.formats import ANNDATA, picture_of, read_anndata

    file, data, axes, chosen, id, long = given.file, given.data, given.axes, given.data_columns, given.id, given.long
    if data is None:
        if long is None and files.suffix_of(file) in ANNDATA and (axes or picture_in(file)):
            numbers = read_anndata(file)
            own = picture_of(numbers, settings.layer) if not axes and settings.layer is not None else ()
            return numbers, list(own) or split(axes), []
        if axes is not None or chosen is not None:
            option = "--axes" if axes is not None else "--data-columns"
            raise InputError(f"{option} names columns of the data; pass them with --data FILE")
        return None, [], []
    name, ids = next(iter(row_ids(file, id, long).items()), (None, None))
    by = id if long is None else name
    numbers, named, said = _numbers(data, split(axes), chosen, by, [*table_of(file)])
    if files.suffix_of(data) != ".npy" and (by is None or by in named):
        numbers, joined = _placed(numbers, {name: ids} if long is not None else table_of(file), by, (file, data))
        said += joined
    elif by is not None:
        said.append(f"{data} has no column {by!r}: assuming that its rows are those of {file}, in the same order")
    numbers, left_out = _without_labels(numbers, labels, [*split(axes), *split(chosen)])
    if not numbers:
        raise InputError(
            f"{data} has no columns of numbers other than clusterings and ids; name those to use with --data-columns"
        )
    return numbers, split(axes), [*said, *left_out, f"columns of the scatter plot: {', '.join(numbers)}"]


def _written(given: Given, made: Report, notes: list[str]) -> None:
    """Print the report in the format requested and the path of the page; open it if requested."""
    if given.format == "json":
        print_json(made.to_dict())
    elif given.format == "csv":
        print_rows(made.to_frame("pyarrow").to_pylist(), given.format)
    else:
        show(made.to_markdown() if given.format == "markdown" else made)
    say([*notes, f"wrote {given.out}: {given.out.stat().st_size / 1e6:.1f} MB"])
    if given.open:
        show_page(given.out)


def _numbers(
    file: Path, axes: list[str], chosen: str | None, id: str | None, labels: list[str]
) -> tuple[dict[str, ColumnLike], dict[str, ColumnLike], list[str]]:
    """The numeric columns of the data file by name: the named ones, or all that are not label columns or the reference."""
    from congruence.inputs import files
    from congruence.inputs.column_kinds import Sorting, sorted_columns
    from congruence.inputs.column_names import PICTURE_NAMES, named_columns
    from congruence.inputs.formats import ANNDATA

    if files.suffix_of(file) == ".npy" or (files.suffix_of(file) in ANNDATA and not chosen):
        read = numbers_in(file, None, id)
        there = embeddings_in(file) if axes else picture_in(file)
        return {**read.numbers, **{x: c for x, c in there.items() if x in axes or not axes}}, read.others, read.notes
    table = {**table_of(file), **embeddings_in(file)}
    own, notes = id if id in table else None, []
    if chosen:
        wanted = named_columns(chosen, table, str(file), (own,))
    else:
        drawn = [x for x in table if PICTURE_NAMES.fullmatch(x)]
        rest = {x: c for x, c in table.items() if (x not in labels and x not in drawn) or x == own}
        found = sorted_columns(rest, id=own, is_data=True) if len(rest) > (own is not None) else Sorting({}, "data")
        wanted = [*found.taken, *drawn]
        notes = [f"of {file}: {line}" for line in said_of(found)]
    read = numbers_in(file, list(dict.fromkeys([*wanted, *axes])), own, more=embeddings_in(file))
    return read.numbers, read.others, notes


def _without_labels(
    numbers: dict[str, ColumnLike], found: dict[str, ColumnLike], named: list[str]
) -> tuple[dict[str, ColumnLike], list[str]]:
    """The numeric columns without those that repeat a clustering under another name, unless named explicitly."""
    import numpy as np

    import congruence as cg
    from congruence.inputs.memberships import Memberships

    same = []
    for name, x in numbers.items():
        values = np.asarray(x)
        if name in named or (values != np.round(values)).any() or len(np.unique(values)) > len(values) / 2:
            continue
        hard = {other: labels for other, labels in found.items() if not isinstance(labels, Memberships)}
        codes = values.astype(np.int64)
        for other, labels in hard.items():
            if len(labels) == len(codes) and cg.ari(labels, codes, unassigned="singletons") == 1.0:
                same.append((name, other))
                break
    kept = {name: x for name, x in numbers.items() if name not in dict(same)}
    return kept, [
        f"column {name!r} of the data is the clustering {other!r}: not used for the scatter plot"
        for name, other in same
    ]


def _placed(
    numbers: dict[str, ColumnLike], labels: dict[Label, ColumnLike], by: str | None, paths: tuple[Path, Path]
) -> tuple[dict[str, ColumnLike], list[str]]:
    """The rows of the data in the order of the labels, by their ids."""
    import numpy as np

    from congruence import InputError
    from congruence.inputs.joining import joined_rows

    table = {name: np.array(x) if isinstance(x, list) else x for name, x in labels.items()}
    rows = joined_rows([table, table_of(paths[1])], (str(paths[0]), str(paths[1])), by)
    if rows.take is None:
        return numbers, rows.notes
    n, found = len(next(iter(table.values()))), len(rows.take[0])
    if found < n:
        raise InputError(f"{n - found} of the {n} ids of {paths[0]} are not in {paths[1]}")
    return {key: column[rows.take[1]] for key, column in numbers.items()}, rows.notes
