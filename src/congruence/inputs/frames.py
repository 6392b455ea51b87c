"""Data frames of any kind, and small tables as text and HTML."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from importlib.util import find_spec

import numpy as np

from congruence.errors import InputError, one_of, some_of, unused_name, visible
from congruence.inputs.encoding import arrow_library, arrow_texts, arrow_values
from congruence.inputs.labels import FRAMES, frame_kind, from_dlpack, is_frame, is_sparse, names_of_columns
from congruence.statistics.tables import Array, ClusterNames
from congruence.typing import ColumnLike, Frame, Index, Label, MatrixLike, Scalar


def make_frame(columns: Mapping[str, ColumnLike], backend: str | None = None) -> Frame:
    """A data frame of the requested kind: pandas, polars or pyarrow; by default pandas if installed, else arrow.

    >>> make_frame({"x": [1, 2]}, "pyarrow").column_names
    ['x']
    """
    import narwhals as nw

    chosen = ("pandas" if find_spec("pandas") else "pyarrow") if backend is None else backend
    one_of("backend", chosen, FRAMES)
    if find_spec(chosen) is None:
        raise InputError(f"a frame of {chosen} needs {chosen}, which is not installed: pip install {chosen}")
    if chosen in ("pyarrow", "polars"):  # their columns have one type: labels of mixed types become text
        columns = {
            name: arrow_values(values) if isinstance(values, list | tuple) else values
            for name, values in columns.items()
        }
    elif chosen == "pandas":
        import pandas as pd

        columns = {
            name: pd.Series(values, dtype=object) if _has_gaps_in_text(values) else values
            for name, values in columns.items()
        }
    return nw.from_dict(dict(columns), backend=chosen).to_native()  # type: ignore[arg-type]


def _has_gaps_in_text(values: ColumnLike) -> bool:
    """Texts and None: pandas 3 would make None NaN, pandas 2 keeps it."""
    return (
        (isinstance(values, list | tuple) or (isinstance(values, np.ndarray) and values.dtype == object))
        and any(x is None for x in values)
        and any(isinstance(x, str) for x in values)
    )


def square_frame(
    values: Array, rows: ClusterNames, columns: ClusterNames, backend: str | None, corner: str = "clustering"
) -> Frame:
    """A matrix with names on both sides; pandas holds the row names in its index, others in a first column."""
    names = [str(c) for c in columns]
    body: dict[str, ColumnLike] = {}
    for j, name in enumerate(names):
        body[unused_name(name, body)] = values[:, j]  # a frame needs distinct column names
    corner = unused_name(corner, body)
    frame = make_frame({corner: [str(r) for r in rows], **body}, backend)
    if type(frame).__module__.split(".")[0] == "pandas":
        frame = frame.set_index(corner)
        frame.index = type(frame.index)(list(rows), name=corner)
        if len(set(map(str, columns))) == len(columns):
            frame.columns = list(columns)
    return frame


def text_grid(cells: Sequence[Sequence[str]], rows: Sequence[str], columns: Sequence[str], left: bool = False) -> str:
    """A table as text, with row and column names; numbers are right-aligned, words left-aligned."""
    lines = [["", *columns], *([name, *line] for name, line in zip(rows, cells, strict=True))]
    lines = [[visible(cell) for cell in line] for line in lines]
    widths = [max(len(line[j]) for line in lines) for j in range(len(lines[0]))]

    def shown(line: Sequence[str]) -> str:
        first, *rest = (
            cell.ljust(w) if left or j == 0 else cell.rjust(w)
            for j, (cell, w) in enumerate(zip(line, widths, strict=True))
        )
        return "  ".join([first, *rest]).rstrip()

    return "\n".join(shown(line) for line in lines)


def html_grid(cells: Sequence[Sequence[str]], rows: Sequence[str], columns: Sequence[str], caption: str = "") -> str:
    """The same as an HTML table, with all text escaped."""
    esc = html.escape
    head = "".join(f"<th>{esc(c)}</th>" for c in ("", *columns))
    body = "".join(
        f"<tr><th>{esc(name)}</th>{''.join(f'<td>{esc(cell)}</td>' for cell in line)}</tr>"
        for name, line in zip(rows, cells, strict=True)
    )
    top = f"<caption>{esc(caption)}</caption>" if caption else ""
    return f"<table>{top}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


#: most rows of a table in a notebook
MOST_ROWS = 25


def html_table(columns: Mapping[str, Sequence[object]], caption: str = "", notes: Sequence[str] = ()) -> str:
    """The first rows of a table as HTML, with a caption above and notes below; all text is escaped.

    >>> html_table({"k": [2], "value": [float("nan")]}, "Two <b>").count("<td>")
    2
    """
    rows = list(zip(*columns.values(), strict=True))
    cells = [[_html_cell(x) for x in row] for row in rows[:MOST_ROWS]]
    table = html_grid(cells, [""] * len(cells), list(columns), caption)
    more = [f"… and {len(rows) - MOST_ROWS:,} more rows"] if len(rows) > MOST_ROWS else []
    said = "".join(f"<li>{html.escape(note)}</li>" for note in (*more, *notes))
    return table + (f"<ul>{said}</ul>" if said else "")


def _html_cell(value: object) -> str:
    if isinstance(value, float | np.floating):
        return "–" if np.isnan(value) else f"{value:.4g}"
    if isinstance(value, np.ndarray | list | tuple | dict):
        return some_of(value, 6)
    return "–" if value is None else str(value)


def matrix_of(data: MatrixLike) -> tuple[MatrixLike, Index, str | None, Sequence[Label] | None]:
    """(matrix, index, frame kind, column names) of a 2-D input."""
    if is_frame(data):
        kind = frame_kind(data)
        names = names_of_columns(data)
        if kind == "pyarrow":
            matrix = np.column_stack([c.to_numpy() for c in data.columns]) if names else np.empty((0, 0))
        else:
            matrix = data.to_numpy()
        return matrix, getattr(data, "index", None), kind, names
    if is_sparse(data):
        return data, None, None, None
    if not isinstance(data, np.ndarray) and hasattr(data, "__dlpack__") and frame_kind(data) is None:
        data = from_dlpack(data)
    try:
        return np.asarray(data), None, None, None
    except ValueError:
        raise InputError(
            "a list of lists of different lengths is not a matrix; give every row the same number of values"
        ) from None


# --- cells of csv and tsv files: text that a spreadsheet does not run ---------------------------------------------


#: how a formula of a spreadsheet begins, also in full width and after spaces that it ignores
FORMULAS = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def guarded(cell: Scalar) -> Scalar:
    """A csv cell that a spreadsheet does not run as a formula: text that begins with =, +, - or @ is prefixed with '.

    Text that is a number is unchanged.

    >>> guarded("=1+1"), guarded("-1"), guarded(-1), guarded("a")
    ("'=1+1", '-1', -1, 'a')
    """
    if not isinstance(cell, str) or not cell.startswith(FORMULAS):
        return cell
    try:
        float(cell)
    except ValueError:
        return f"'{cell}"
    return cell


def as_text(columns: Mapping[str, ColumnLike], raw: bool) -> tuple[dict[str, ColumnLike], int]:
    """Columns that a text file can hold (no bytes, no lists), and the number of cells that were prefixed."""
    pa = arrow_library()
    kept = (pa.types.is_primitive, pa.types.is_string, pa.types.is_large_string, pa.types.is_null)
    found: dict[str, ColumnLike] = {}
    changed = 0
    for name, values in columns.items():
        cells = values.to_pylist() if hasattr(values, "to_pylist") else list(values)
        if not raw:
            given, called = cells, name
            cells, name = [guarded(x) for x in cells], unused_name(str(guarded(name)), found)
            changed += (name != called) + sum(x is not y for x, y in zip(cells, given, strict=True))
        try:
            column = pa.array(cells)
        except (pa.ArrowException, OverflowError):  # integers above 2⁶³, or of mixed types
            found[name] = arrow_texts(cells)
            continue
        found[name] = column if any(of(column.type) for of in kept) else arrow_texts(cells)
    return found, changed
