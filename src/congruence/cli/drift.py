"""`congruence drift`: clusters of a stream, window by window."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Annotated, Literal

import typer

from congruence.cli.app import (
    NEEDS_BINS,
    Bins,
    BinsBy,
    Features,
    Format,
    Noise,
    Nominal,
    Open,
    Output,
    Policy,
    Threads,
    Unassigned,
    app,
)
from congruence.cli.parsing import noise_labels
from congruence.cli.plots import check_plot, write_plot
from congruence.cli.printing import print_result, print_rows, say, show, write_table
from congruence.cli.reading import features_of, na_list, split, table_of
from congruence.typing import Label, OptionValue, Record

#: fields of a followed stream that are missing, if --na-values names no others
MISSING = ("", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "None", "<NA>")


@app.command(needs=NEEDS_BINS)
def drift(
    window: Annotated[str, typer.Option(help="Column with the window of each row.")],
    labels: Annotated[str, typer.Option(help="Column of cluster labels.")],
    data: Annotated[
        Path | None, typer.Argument(help="Table with features, a label column and a window column.")
    ] = None,
    features: Features = None,
    nominal: Nominal = None,
    binning: BinsBy = "width",
    bins: Bins = 10,
    measure: Annotated[
        Literal["adco", "adco_cosine", "adco_distance", "adco_metric"], typer.Option(help="Measure of two windows.")
    ] = "adco",
    sizes: Annotated[Literal["given", "scaled"], typer.Option(help="How to treat windows of unequal size.")] = "given",
    reference: Annotated[
        Literal["first", "previous"], typer.Option(help="The window that each window is tested against.")
    ] = "first",
    reference_profile: Annotated[
        Path | None, typer.Option(help="Test every window against this saved profile (.npz), in its bins.")
    ] = None,
    save_profile: Annotated[
        Path | None, typer.Option(help="Save the profile of the reference here (.npz) for a later --reference-profile.")
    ] = None,
    alpha: Annotated[float, typer.Option(help="Probability of any false alarm over all windows.")] = 0.01,
    threshold: Annotated[
        float | None, typer.Option(help="Alarm too if the measure with the reference is worse than this.")
    ] = None,
    fail_on_alarm: Annotated[
        bool, typer.Option("--fail-on-alarm", help="Exit with 1 if a window is an alarm.")
    ] = False,
    moved: Annotated[Path | None, typer.Option(help="Write what moved here, one row per change.")] = None,
    follow: Annotated[
        bool,
        typer.Option(
            "--follow", help="Read rows from standard input (csv or JSON lines); print a JSON line per window."
        ),
    ] = False,
    plot: Annotated[
        Path | None,
        typer.Option(help="Write the curves and the heat map of the tests here: .html, .png, .pdf or .svg."),
    ] = None,
    open_page: Open = False,
    unassigned: Unassigned = Policy.error,
    noise: Noise = None,
    format: Output = Format.table,
    threads: Threads = None,
) -> None:
    """Test each window of a stream for changes of its clusters, and list which features and clusters moved.

    Examples:

      congruence drift log.csv --window day --labels cluster --fail-on-alarm

      congruence drift log.parquet --window hour --labels cluster --features bytes,duration,protocol --moved moved.csv

      congruence drift may.csv --window day --labels cluster --save-profile may.npz

      tail -f log.csv | congruence drift --follow --window hour --labels cluster --reference-profile may.npz
    """
    import congruence as cg
    from congruence.inputs import files
    from congruence.machine.writing import check_apart, check_target

    inputs = [path for path in (data, reference_profile) if path is not None]
    check_plot(plot, *inputs, open_page=open_page)
    if moved is not None:
        files.check_writable(moved, *inputs)
    if save_profile is not None:
        if files.suffix_of(save_profile) != ".npz":
            raise cg.InputError(f"{save_profile}: profiles are saved as .npz")
        check_target(save_profile, inputs)
    check_apart(plot=plot, moved=moved, save_profile=save_profile)
    if reference_profile is not None and reference != "first":
        raise cg.InputError("--reference names a window, --reference-profile a file; leave one of them out")
    options: dict[str, OptionValue] = {"binning": binning, "bins": bins, "nominal": split(nominal), "measure": measure}
    options |= {"unassigned": unassigned.value, "noise": noise_labels(noise), "threads": threads}
    options |= {"reference": reference}
    if reference_profile is not None:
        options["reference"] = cg.load_profile(reference_profile)
        features = features or ",".join(options["reference"].names)
    options |= {"alpha": alpha, "threshold": threshold}
    if follow:
        if data is not None or plot is not None or moved is not None or save_profile is not None or sizes != "given":
            raise cg.InputError(
                "--follow reads standard input and prints a line per window; leave out files and --sizes"
            )
        _fail(_follow(window, labels, split(features), options), fail_on_alarm)
        return
    if data is None:
        raise cg.InputError("name a table, or pass --follow to read rows from standard input")
    table = table_of(data)
    kept = files.pick(table, [labels, window], str(data))
    X = features_of(table, features, {"labels": (labels,), "window": (window,)}, data)
    result = cg.drift({**X, **kept}, labels, window, features=list(X), sizes=sizes, **options)

    def rows() -> None:
        say(result.notes)
        print_rows(result.rows(), format)

    print_result(result, format, rows)
    written = []
    if plot is not None:
        written.append(write_plot(result, plot, open_page=open_page))
    if moved is not None:
        write_table(result.moved_columns(), moved)
        written.append(f"wrote {moved}")
    if save_profile is not None:
        result.reference.save(save_profile)
        written.append(f"wrote {save_profile}")
    say(written)
    _fail([name for name, alarm in zip(result.windows, result.alarms, strict=True) if alarm], fail_on_alarm)


def _fail(alarms: list[Label], fail_on_alarm: bool) -> None:
    """Exit with code 1 if there is an alarm and it was asked for."""
    from congruence.errors import some_of, visible

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
    from itertools import chain

    from congruence import InputError
    from congruence.cli.app import settings
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
