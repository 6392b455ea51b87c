"""Presentation of results: numbers as text, JSON, and the base class of results."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Literal, overload

import numpy as np

from congruence.errors import InputError, NoSuchName
from congruence.formulas.record import Measure, find
from congruence.inputs.frames import html_table, make_frame, text_grid
from congruence.options import described
from congruence.statistics.tables import Table, changed
from congruence.typing import Backend, DataFrame, Figure, Json, MatplotlibFigure, OptionValue, PlotlyFigure, Record

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa


def number(x: float, decimals: int = 4) -> str:
    """A score with four decimals, or in short scientific notation if that is too long."""
    if math.isnan(x):
        return "undefined"
    return f"{x:z.{decimals}f}" if abs(x) < 1e5 else f"{x:.5g}"


def span(measure: Measure) -> str:
    """The range of a measure, as in '0 to 1'."""
    low, high = (f"{'-' if x < 0 else ''}∞" if math.isinf(x) else f"{x:.4g}" for x in measure.range)
    return f"{low} to {high}"


def plain(value: object) -> Json:
    """The value for JSON: arrays as lists, NaN as null, numpy numbers as Python numbers."""
    if isinstance(value, np.ndarray):
        return value.tolist() if value.dtype.kind in "iub" else plain(value.tolist())
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, str | int | float | bool) or value is None else str(value)


def figure_of(result: object, backend: Backend, **options: OptionValue) -> Figure:
    """The figure of a result."""
    import congruence  # late import; avoids a cycle: figures are a higher layer

    return congruence.figure(result, backend, **options)


def shortened(text: str, width: int) -> str:
    """The text, truncated to the width."""
    return text if len(text) <= width else text[: width - 1] + "…"


def short_names(names: Sequence[str], width: int) -> list[str]:
    """Names of at most this width, shortened in the middle; wider if different names would look the same.

    >>> short_names(["kmeans_seed_1", "kmeans_seed_2", "ward"], 8)
    ['kmea…d_1', 'kmea…d_2', 'ward']
    >>> short_names(["a_1_of_many_runs", "a_2_of_many_runs"], 6)
    ['a_1…ns', 'a_2…ns']
    """
    different, longest = len(set(names)), max(map(len, names), default=0)
    while width < longest:
        short = [n if len(n) <= width else f"{n[: width // 2]}…{n[len(n) - (width - 1) // 2 :]}" for n in names]
        if len(set(short)) == different:
            return short
        width += 1
    return list(names)


def shown_notes(cautions: Iterable[str], left_out: Mapping[str, str]) -> list[str]:
    """These cautions, and which measures are left out."""
    return [*cautions, *(f"{key} is left out: {why}" for key, why in left_out.items())]


def notes_text(notes: Sequence[str]) -> str:
    """Notes as lines of 80 characters, each with a mark."""
    import textwrap

    return "".join("\n" + textwrap.fill(n, 80, initial_indent="! ", subsequent_indent="  ") for n in notes)


def rows_of(columns: Mapping[str, Iterable[object]]) -> list[Record]:
    """The rows of a table by the names of its columns.

    >>> rows_of({"k": [2, 3], "value": [0.5, 1.0]})
    [{'k': 2, 'value': 0.5}, {'k': 3, 'value': 1.0}]
    """
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def verdict_text(
    sentence: str,
    columns: Mapping[str, Sequence[object]],
    names: Sequence[str],
    notes: Sequence[str],
    most: int,
    decimals: int = 4,
) -> str:
    """A sentence, a grid with the first rows of a table, and notes."""
    import textwrap

    cells = [
        [number(x, decimals) if isinstance(x, float) else str(x) for x in row]
        for row in zip(*(column[:most] for column in columns.values()), strict=True)
    ]
    grid = text_grid(cells, short_names(names[:most], 30), list(columns))
    more = f"\n… and {len(names) - most} more" if len(names) > most else ""
    return textwrap.fill(sentence, 80) + f"\n\n{grid}{more}" + notes_text(notes)


class Result:
    """Base class of results. A result defines its content (`to_dict`, `facts`) and its rows (`table_columns`)."""

    kind: str | None = None
    #: the facts of `to_dict`, and what it calls the rows of the table; by default the fields that the text shows
    _told: tuple[str, str] | None = None

    def facts(self) -> Record:
        """Everything in the result, for JSON: by default `to_dict`, and the cautions if there are any."""
        cautions = getattr(self, "cautions", None)
        return self.to_dict() if cautions is None else {**self.to_dict(), "cautions": cautions}

    def to_dict(self) -> Record:
        """What the text of the result shows, by name, as plain Python values."""
        if self._told is None:
            return plain({f.name: getattr(self, f.name) for f in fields(self) if f.repr})  # type: ignore[arg-type, no-any-return]
        names, rows = self._told
        return dict(plain({**{x: getattr(self, x) for x in names.split()}, rows: rows_of(self.table_columns())}))

    def table_columns(self) -> Record:
        """The columns of `to_frame`: by default one row with all numbers."""
        return {name: [value] for name, value in self.to_dict().items()}

    @overload
    def to_frame(self, backend: Literal["pandas"]) -> pd.DataFrame: ...
    @overload
    def to_frame(self, backend: Literal["polars"]) -> pl.DataFrame: ...
    @overload
    def to_frame(self, backend: Literal["pyarrow"]) -> pa.Table: ...
    @overload
    def to_frame(self, backend: str | None = ...) -> DataFrame: ...
    @described
    def to_frame(self, backend: str | None = None) -> DataFrame:
        """The result as a data frame.

        Args:
            backend: See `congruence.options`.

        Returns:
            A data frame.
        """
        return make_frame(self.table_columns(), self.kind if backend is None else backend)

    def to_json(self, **options: OptionValue) -> str:
        """Everything in the result, as JSON; undefined values are null.

        Args:
            options: Options of `json.dumps`, such as `indent=2`.

        Returns:
            A JSON string.
        """
        return json.dumps(plain(self.facts()), ensure_ascii=False, **options)

    def __eq__(self, other: object) -> bool:
        """Whether the other is a result of the same kind with the same content."""
        if type(other) is not type(self) or not isinstance(other, Result):
            return bool(super().__eq__(other) is True)
        return other is self or self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash(type(self))

    def _repr_html_(self) -> str:
        notes = [str(x) for x in getattr(self, "notes", None) or getattr(self, "cautions", None) or ()]
        return html_table(self.shown_columns(), getattr(self, "sentence", "") or repr(self).split("\n")[0], notes)

    def shown_columns(self) -> Record:
        """The columns of the table in a notebook: by default those of `to_frame`."""
        return self.table_columns()

    @overload
    def plot(self, backend: Literal["plotly"] = ..., **options: OptionValue) -> PlotlyFigure: ...
    @overload
    def plot(self, backend: Literal["matplotlib"], **options: OptionValue) -> MatplotlibFigure: ...
    def plot(self, backend: Backend = "plotly", **options: OptionValue) -> Figure:
        """A figure of the result; see `cg.figure`.

        Args:
            backend: "plotly" (default) or "matplotlib".
            options: Options of the figure.

        Returns:
            A figure.
        """
        return figure_of(self, backend, **options)


def shown_beside(name: str, x: float) -> str:
    """A number in an extra column; p-values are short, and missing values are a dash."""
    if math.isnan(x):
        return "–"
    if name == "k":
        return f"{x:.0f}"
    return f"{x:.3g}" if name == "p" else number(x)


def key_of(name: str, known: Mapping[str, object]) -> str:
    """The key of a measure, or a KeyError with similar names. Adjusted measures are not in the registry."""
    if name in known:
        return name
    try:
        return find(name).key
    except InputError as error:
        raise NoSuchName(str(error)) from None


def named_table(table: Table, kind: str | None) -> Table:
    """The table with names as Python values."""
    rows, columns = (
        tuple(names.tolist()) if isinstance(names, np.ndarray) else tuple(names)
        for names in (table.rows, table.columns)
    )
    return changed(table, rows=rows, columns=columns, frame_kind=kind)
