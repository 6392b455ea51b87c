"""`congruence drift`: clusters of a stream, window by window."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, groupby
from operator import itemgetter
from pathlib import Path
from typing import Literal

import typer

from congruence.cli.app import app, settings
from congruence.cli.options import (
    FIGURE,
    SAVED,
    TABLE,
    Bins,
    Figure,
    Gaps,
    Printing,
    argument,
    option,
    refuse,
    required,
)
from congruence.cli.parsing import noise_labels
from congruence.cli.printing import print_result, print_rows, say, show, write_plot, wrote
from congruence.cli.reading import features_of, na_list, split, table_of
from congruence.errors import Option, some_of, visible
from congruence.typing import Label, OptionValue, Record

#: fields of a followed stream that are missing, if --na-values names no others
MISSING = ("", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "None", "<NA>")


#: why an option does not fit a stream
ONLINE = "is for a table; --follow reads standard input, and prints a line per window"


class Given(Bins, Gaps, Figure, Printing):
    """The options of the command."""

    window: str = required("Column with the window of each row.")
    labels: str = required("Column of cluster labels.")
    data: Path | None = argument("Table with features, a label column and a window column.", None)
    measure: Literal["adco", "adco_cosine", "adco_distance", "adco_metric"] = option("adco", "Measure of two windows.")
    sizes: Literal["given", "scaled"] = option("given", "How to treat windows of unequal size.")
    reference: Literal["first", "previous"] = option("first", "The window that each window is tested against.")
    reference_profile: Path | None = option(None, "Test every window against this saved profile (.npz), in its bins.")
    save_profile: Path | None = option(
        None, "Save the profile of the reference here (.npz) for a later --reference-profile.", writes=SAVED
    )
    alpha: float = option(0.01, "Probability of any false alarm over all windows.")
    threshold: float | None = option(None, "Alarm too if the measure with the reference is worse than this.")
    fail_on_alarm: bool = option(False, "Exit with 1 if a window is an alarm.")
    moved: Path | None = option(None, "Write what moved here, one row per change.", writes=TABLE)
    follow: bool = option(False, "Read rows from standard input (csv or JSON lines); print a JSON line per window.")
    plot: Path | None = option(
        None, "Write the curves and the heat map of the tests here: .html, .png, .pdf or .svg.", writes=FIGURE
    )
    threads: int | None = option(None)


@app.command()
def drift(given: Given) -> None:
    """Test each window of a stream for changes of its clusters, and list which features and clusters moved.

    Examples:

      congruence drift log.csv --window day --labels cluster --fail-on-alarm

      congruence drift log.parquet --window hour --labels cluster --features bytes,duration,protocol --moved moved.csv

      congruence drift may.csv --window day --labels cluster --save-profile may.npz

      tail -f log.csv | congruence drift --follow --window hour --labels cluster --reference-profile may.npz
    """
    import congruence as cg
    from congruence.inputs import files

    if given.reference_profile is not None and given.reference != "first":
        raise cg.InputError("--reference names a window, --reference-profile a file; leave one of them out")
    options: dict[str, OptionValue] = {
        "nominal": split(given.nominal), "noise": noise_labels(given.noise),
        **given.values_of("binning bins measure unassigned threads reference alpha threshold"),
    }  # fmt: skip
    features = given.features
    if given.reference_profile is not None:
        options["reference"] = cg.load_profile(given.reference_profile)
        features = features or ",".join(options["reference"].names)
    if given.follow:
        refuse(given, "data plot moved save_profile", ONLINE)
        if given.sizes != "given":
            raise cg.InputError(f"{Option('sizes')} {ONLINE}")
        _fail(_follow(given.window, given.labels, split(features), options), given.fail_on_alarm)
        return
    if given.data is None:
        raise cg.InputError("name a table, or pass --follow to read rows from standard input")
    table = table_of(given.data)
    kept = files.pick(table, [given.labels, given.window], str(given.data))
    X = features_of(table, features, {"labels": (given.labels,), "window": (given.window,)}, given.data)
    result = cg.drift({**X, **kept}, given.labels, given.window, features=list(X), sizes=given.sizes, **options)

    def rows() -> None:
        say(result.notes)
        print_rows(result.rows(), given.format)

    print_result(result, given.format, rows)
    written = [*write_plot(given, result), *wrote(given.moved, result.moved_columns())]
    if given.save_profile is not None:
        result.reference.save(given.save_profile)
        written.append(f"wrote {given.save_profile}")
    say(written)
    _fail([name for name, alarm in zip(result.windows, result.alarms, strict=True) if alarm], given.fail_on_alarm)


def _fail(alarms: list[Label], fail_on_alarm: bool) -> None:
    """Exit with code 1 if there is an alarm and it was asked for."""

    if alarms and fail_on_alarm:
        import sys

        print(f"congruence: alarm in window {visible(some_of(map(str, alarms)))}", file=sys.stderr)
        raise typer.Exit(1)


def _follow(window: str, labels: str, features: list[str], options: dict[str, OptionValue]) -> list[Label]:
    """Print a JSON line for each window of standard input when the next one begins; returns the windows that are alarms."""
    import json
    import sys

    from congruence.comparison.presenting import plain
    from congruence.density.following import followed
    from congruence.density.profile import Profile

    start = options["reference"]
    nominal = set(options["nominal"])
    words = {a.name for a in start.attributes if a.values is not None} if isinstance(start, Profile) else None

    def parts() -> Iterator[tuple[Label, Record, list[Label]]]:
        nonlocal words, features
        for name, group in groupby(_rows(sys.stdin, (window, labels, *features)), key=itemgetter(window)):
            rows = list(group)
            features = features or [x for x in rows[0] if x not in (window, labels)]
            columns = {x: [row[x] for row in rows] for x in features}
            if words is None:
                words = {x for x, values in columns.items() if x not in nominal and not all(map(_is_number, values))}
            X = {x: values if x in words else _numbers(x, values, name) for x, values in columns.items()}
            yield name, X, [row[labels] for row in rows]

    alarms = []
    for row in followed(parts(), **options):
        show(json.dumps(plain(row), ensure_ascii=False))
        sys.stdout.flush()
        if row["alarm"]:
            alarms.append(row["window"])
    return alarms


def _rows(stream: Iterator[str], needed: Sequence[str]) -> Iterator[Record]:
    """The rows of csv with a header, or of JSON lines; missing fields are None."""
    import csv
    import json

    from congruence import InputError
    from congruence.inputs.files import pick

    missing = {"", *(na_list(settings.na_values) or MISSING)}
    lines = (line for line in stream if line.strip())
    first = next(lines, None)
    if first is None:
        raise InputError("standard input is empty")
    try:
        found: Iterator[Record] = (
            map(json.loads, chain([first], lines))
            if first.lstrip().startswith("{")
            else csv.DictReader(chain([first], lines))
        )
        for i, row in enumerate(found):
            if i == 0 or not all(name in row for name in needed):
                pick(row, list(needed), f"row {i + 1} of standard input")
            yield {name: None if x in missing else x for name, x in row.items() if name is not None}
    except json.JSONDecodeError as error:
        raise InputError(f"standard input: a line is not JSON ({error})") from None


def _is_number(value: object) -> bool:
    try:
        float(value) if value is not None else 0.0  # type: ignore[arg-type]
    except ValueError:
        return False
    return True


def _numbers(feature: str, values: list[object], window: Label) -> list[float]:
    from congruence import InputError

    try:
        return [float("nan") if x is None else float(x) for x in values]  # type: ignore[arg-type]
    except ValueError as error:
        raise InputError(f"window {window}: feature {feature!r} was numbers in the first window ({error})") from None
