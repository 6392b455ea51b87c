"""How the commands print and write: tables, JSON, csv, markdown, figures; notes go to stderr."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from congruence.cli.app import settings
from congruence.cli.options import Figure, Format
from congruence.errors import as_called, unused_name, visible
from congruence.typing import ColumnLike, Frame, OptionValue, Record

if TYPE_CHECKING:
    from congruence.comparison.pair import Comparison
    from congruence.comparison.presenting import Result
    from congruence.comparison.results import AgainstReference, AllPairs


def say(notes: Iterable[str]) -> None:
    """Print notes to stderr, one per line; with --quiet none."""
    if settings.quiet:
        return
    for note in notes:
        print(f"note: {visible(as_called(str(note)))}", file=sys.stderr)


def show(text: object = "") -> None:
    """Print a result to stdout, with control characters escaped."""
    print(visible(as_called(str(text)), keep="\n\t"))


def write_table(columns: Mapping[str, ColumnLike], out: Path) -> None:
    """Write columns to a file, and print how many csv cells were prefixed."""
    from congruence.inputs import files

    changed = files.write_table(columns, out, raw=settings.raw)
    if changed:
        say([f"{changed} cells that begin with =, +, - or @ got a ' in front; --raw writes them unchanged"])


def wrote(out: Path | None, columns: Mapping[str, ColumnLike], what: str = "") -> list[str]:
    """Write a table if a file is named; a note that says so."""
    if out is None:
        return []
    write_table(columns, out)
    return [f"wrote {out}{what and ': '}{what}"]


def write_result(result: Result, out: Path) -> None:
    """Write the values of a result as JSON, or its frame."""
    from congruence.inputs import files
    from congruence.machine.writing import write_text

    if files.suffix_of(out) == ".json":
        write_text(out, result.to_json(indent=2))
    else:
        table: Frame = result.to_frame(backend="pyarrow")
        write_table({name: table[name].to_pylist() for name in table.column_names}, out)


def print_result(
    result: Result, format: Format, rows: Callable[[], None] | None = None, notes: Iterable[str] = (),
    text: Callable[[], None] | None = None,
) -> None:  # fmt: skip
    """Print a result in the requested format; `rows` prints csv and markdown if they are not the frame of the result.

    `text` prints the table, if it is not the text of the result. `notes` are part of it and of JSON, and are printed beside csv
    and markdown.
    """
    import congruence as cg

    if format == "table":
        (text or partial(show, result))()
    elif format == "json":
        show(result.to_json(indent=2))
    elif rows is not None:
        rows()
    elif isinstance(result, cg.AllPairs) and len(result.keys()) == 1:
        print_columns(square_columns(result), format)
    else:
        table = result.to_frame(backend="pyarrow")
        print_rows(table.to_pylist(), format, table.column_names)
    if format in ("csv", "markdown"):
        say(notes)


def square_columns(result: AllPairs) -> dict[str, ColumnLike]:
    """The columns of a matrix of one measure; the first holds the names of the rows, under a name that no clustering has."""
    (key,) = result.keys()
    return {
        unused_name("clustering", result.names): result.names,
        **dict(zip(result.names, result[key].T.tolist(), strict=True)),
    }


def print_json(value: object) -> None:
    """Print values as JSON: enums by their names, numpy numbers and arrays as numbers and lists."""
    import json

    from congruence.comparison.presenting import plain

    show(json.dumps(plain(value), indent=2, ensure_ascii=False))


def print_columns(columns: Mapping[str, ColumnLike], format: Format) -> None:
    """Columns as rows."""
    from congruence.comparison.presenting import rows_of

    print_rows(rows_of(columns), format, list(columns))


def print_rows(rows: list[Record], format: Format, names: list[str] | None = None) -> None:
    """Rows with the same keys, as a text table, JSON, csv or markdown; `names` are used if there are no rows."""
    from congruence.inputs.frames import text_grid

    columns = names or list(rows[0])
    if format == "json":
        print_json(rows)
    elif format == "csv":
        import csv
        import io

        from congruence.inputs.frames import guarded

        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        for line in (columns, *([row[c] for c in columns] for row in rows)):
            writer.writerow(line if settings.raw else map(guarded, line))
        if settings.raw:
            print(text.getvalue(), end="")
        else:
            show(text.getvalue().removesuffix("\n"))
    elif format == "markdown":
        head, *cells = [[_escaped(x) for x in line] for line in (columns, *(r.values() for r in rows))]
        lines = [head, ["---"] * len(columns), *cells]
        show("\n".join("| " + " | ".join(line) + " |" for line in lines))
    else:
        shown = [c for c in columns if c in ("key", "title", "better", "range")] or columns
        cells = [[_cell(row[c]) for c in shown[1:]] for row in rows]
        show(text_grid(cells, [_cell(row[shown[0]]) for row in rows], shown[1:], left=True))


def _cell(value: object) -> str:
    if isinstance(value, float):
        return "–" if value != value else f"{value:.6g}"
    return visible(str(value))


def _escaped(value: object) -> str:
    """A cell of a markdown table, with bars and backslashes escaped."""
    return _cell(value).replace("\\", "\\\\").replace("|", "\\|")


def fail_if_under(result: Comparison | AgainstReference | AllPairs, limits: dict[str, float]) -> None:
    """Exit with code 1 if a value is worse than its limit (above it, for distances) or undefined."""
    import numpy as np

    for key, limit in limits.items():
        if key in result.skipped:
            print(f"congruence: {key} was not computed: {visible(result.skipped[key])}", file=sys.stderr)
            raise typer.Exit(1)
        values = np.asarray(result[key], dtype=float)
        if values.ndim == 2:
            values = values[~np.eye(len(values), dtype=bool)]
        higher = result.measures[key].better == "higher"
        good = values >= limit if higher else values <= limit
        if not good.all():
            worst = float(np.nanmin(values) if higher else np.nanmax(values)) if not np.isnan(values).all() else np.nan
            print(
                f"congruence: {key} is {worst:.6g}, {'under' if higher else 'over'} the limit of {limit:g}",
                file=sys.stderr,
            )
            raise typer.Exit(1)


#: files that matplotlib writes
IMAGES = (".png", ".pdf", ".svg")


def write_plot(given: Figure, result: Result, path: Path | None = None, **options: OptionValue) -> list[str]:
    """Write the figure of a result atomically if a file is named, and open it if requested; a note that says so."""
    from congruence.inputs import files
    from congruence.machine.writing import replacing, write_text

    path = path or given.plot
    if path is None:
        return []
    if files.suffix_of(path) in IMAGES:
        with replacing(path) as stream:
            result.plot("matplotlib", **options).savefig(stream, format=files.suffix_of(path)[1:], dpi=200)
    else:
        write_text(path, result.plot(**options).to_html(include_plotlyjs=True))
    if given.open:
        show_page(path)
    return [f"wrote {path}"]


def show_page(path: Path) -> None:
    """Open a file that was written in the browser."""
    import webbrowser

    webbrowser.open(path.resolve().as_uri())
