"""`congruence track`: lasting names of clusters over steps, and what became of each."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from congruence.cli.app import app
from congruence.cli.covers import CoverFiles, read_covers
from congruence.cli.options import FIGURE, SAVED, TABLE, Figure, Gaps, Policy, Printing, argument, option, refuse
from congruence.cli.parsing import noise_labels
from congruence.cli.printing import print_result, print_rows, say, show, write_plot, wrote
from congruence.cli.reading import Columns as Named
from congruence.cli.reading import label_columns, missing_note, numbers_in, said_of, split, table_of
from congruence.typing import ColumnLike, Record

if TYPE_CHECKING:
    from congruence.tracking.results import Tracks

#: most lives and events that are printed as text
MOST_PRINTED = 20


class Given(CoverFiles, Gaps, Figure, Printing):
    """The options of the command."""

    file: Path = argument("Table with one label column per step, or the table or cover of the first step.")
    more: list[Path] | None = argument(
        "Tables or covers of later steps, joined by ids.", None, metavar="[FILE_2 FILE_3 …]"
    )
    columns: str | None = option(None)
    id: str | None = option(None)
    features: str | None = option(
        None, "Every file has its own points, and these columns describe them: match clusters by their profiles."
    )
    memberships: bool = option(False, "Every file holds memberships, one column per cluster.")
    naming: Literal["larger", "nested"] = option(
        "larger", "The larger part of a split keeps the name, or parts of G are named G.1, G.2, …."
    )
    rules: Literal["overlap", "monic", "greene"] = option(
        "overlap", "Which clusters are linked; monic and greene as published."
    )
    previous: Path | None = option(None, "Go on from this result of --save; its names never change.")
    save: Path | None = option(None, "Save the result here (.npz) for a later --previous.", writes=SAVED)
    out: Path | None = option(None, "Write the lasting name of each point here.", writes=TABLE)
    events: Path | None = option(None, "Write the events here, one row per event.", writes=TABLE)
    lives: Path | None = option(None, "Write the lives of clusters here, one row per lasting name.", writes=TABLE)
    plot: Path | None = option(None, "Write the flow over the steps here: .html, .png, .pdf or .svg.", writes=FIGURE)
    unassigned: Policy = option("drop")


@app.command()
def track(given: Given) -> None:
    """Give clusters lasting names over weeks, runs or releases, and list what became of each.

    Examples:

      congruence track labels.csv --columns 'week_*' --plot flow.html

      congruence track w1.csv w2.parquet w3.csv --id customer --out names.csv --events events.csv

      congruence track w4.csv --id customer --previous tracks.npz --save tracks.npz

      congruence track may.cover june.cover july.cover
    """
    import congruence as cg

    inputs = [given.file, *(given.more or [])]
    options = given.values_of("naming rules previous unassigned") | {"noise": noise_labels(given.noise)}
    id = given.id
    if given.holds_covers:
        refuse(
            given, "columns id features memberships", "is for tables of labels, but the files hold covers; leave it out"
        )
        steps: dict[str, ColumnLike] = dict(read_covers(given))
    elif given.memberships:
        if given.features is not None:
            raise cg.InputError("--features describes points with labels; leave out --memberships or --features")
        steps = {name: _memberships(path, given.columns, given.id) for name, path in _named(inputs).items()}
    else:
        steps, options["data"], id = _steps(inputs, given.columns, given.id, split(given.features))
    result = cg.track(steps, **options)
    written = write_plot(given, result)
    if given.save is not None:
        result.save(given.save)
        written.append(f"wrote {given.save}")
    labels = _labels(result, id)
    tables = ((given.events, result.event_columns()), (given.lives, result.track_columns()), (given.out, labels))
    for path, found in tables:
        written += wrote(path, {name: _in_cells(column) for name, column in found.items()})
    rows = [{name: _in_cell(x) for name, x in event._asdict().items()} for event in result.happened]
    names = list(result.event_columns())
    print_result(result, given.format, lambda: print_rows(rows, given.format, names), text=lambda: _show(result))
    say(written)


def _named(paths: list[Path]) -> dict[str, Path]:
    """The files by the names of their steps: without the ending if that tells them apart."""
    stems = [path.name.partition(".")[0] for path in paths]
    names = stems if len(set(stems)) == len(stems) else [str(path) for path in paths]
    return dict(zip(names, paths, strict=True))


def _steps(
    paths: list[Path], columns: Named, id: str | None, features: list[str]
) -> tuple[dict[str, ColumnLike], list[ColumnLike] | None, str | None]:
    """The steps by name, as frames with ids if there are any, their data if they have own points, and the column of ids."""
    import numpy as np
    import pyarrow as pa

    from congruence.errors import InputError
    from congruence.inputs import files

    steps: dict[str, ColumnLike] = {}
    ids: dict[str, ColumnLike] = {}
    data: list[ColumnLike] = []
    for step, path in _named(paths).items():
        table = table_of(path)
        beside = files.pick(table, features, str(path))
        own = files.pick(table, [id] if id is not None else [], str(path))
        table = {name: column for name, column in table.items() if name not in beside}
        found = label_columns(table, columns or None, str(path), id)
        where = f"{path}: " if len(paths) > 1 else ""
        say([f"{where}{line}" for line in [*said_of(found), *missing_note(path, found.taken)]])
        if features and len(found.taken) != 1:
            raise InputError(f"{path} has {len(found.taken)} label columns; name the one to track with --columns")
        own = own or found.ids
        id = id or next(iter(own), None)
        for name, column in found.taken.items():
            called = step if len(found.taken) == 1 else name if len(paths) == 1 else f"{step}:{name}"
            steps[called] = column
            if own and not features:
                ids[called] = next(iter(own.values()))
        if features:
            data.append(np.column_stack([np.asarray(files.numbers_of(x)) for x in beside.values()]))
    if not ids:
        return steps, data or None, id
    if missing := [name for name in steps if name not in ids]:
        raise InputError(f"step {missing[0]} has no column of ids, but others do; name it with --id")
    named = {name: pa.array(x) if isinstance(x, np.ndarray) else x for name, x in ids.items()}
    if len({str(x.type) for x in named.values()}) > 1:
        named = {name: [None if i is None else str(i) for i in x.to_pylist()] for name, x in named.items()}
    return {name: pa.table({"id": named[name], "label": column}) for name, column in steps.items()}, None, id


def _memberships(path: Path, columns: Named, id: str | None) -> ColumnLike:
    """The memberships of a file: all its columns of numbers, with ids if --id names them."""
    import numpy as np
    import pyarrow as pa

    found = numbers_in(path, columns, id)
    numbers = {name: np.asarray(x, dtype=float) for name, x in found.numbers.items()}
    ids = next(iter(found.ids.values()), None)
    return np.column_stack(list(numbers.values())) if ids is None else pa.table({"id": ids, **numbers})


def _labels(result: Tracks, id: str | None) -> Record:
    """The columns of `labels`, with the ids under the name that was given."""
    return {(id or name) if name == "id" else name: column for name, column in result.label_columns().items()}


def _in_cell(value: object) -> object:
    return "; ".join(map(str, value)) if isinstance(value, list) else value


def _in_cells(column: list[object]) -> list[object]:
    """Lists of names as text; names of different types as text."""
    found = [_in_cell(x) for x in column]
    return [x if x is None else str(x) for x in found] if len({type(x) for x in found if x is not None}) > 1 else found


def _show(result: Tracks) -> None:
    from congruence.comparison.presenting import rows_of

    show(result.sentence)
    rows = sorted(rows_of(result.track_columns()), key=lambda row: -row["size_max"])
    changed = [event for event in result.happened if event.event != "kept"]
    parts = [
        ("lasting names", rows),
        (
            "events",
            [
                {"step": x.step, "event": x.event, "before": _short(x.before), "after": _short(x.after), "shared": x.shared,
                 "p_value": x.p_value} for x in changed
            ],
        ),
    ]  # fmt: skip
    for title, listed in parts:
        if listed:
            show()
            print_rows(listed[:MOST_PRINTED], "table")
            if len(listed) > MOST_PRINTED:
                show(f"… and {len(listed) - MOST_PRINTED:,} more {title}")


def _short(names: list[object]) -> str:
    from congruence.errors import some_of

    return some_of(map(str, names), 4) if names else ""
