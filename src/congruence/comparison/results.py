"""Results of comparisons: named values as frames, dictionaries, JSON, and text for terminal or notebook."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, overload

import numpy as np

from congruence.comparison.presenting import (
    Result,
    figure_of,
    key_of,
    notes_text,
    number,
    short_names,
    shown_beside,
    shown_notes,
)
from congruence.errors import Caution, InputError, NoSuchName, Option, counted, joined
from congruence.formulas.record import Measure, is_among
from congruence.inputs.frames import html_grid, make_frame, square_frame, text_grid
from congruence.options import described
from congruence.statistics.tables import Array
from congruence.typing import Backend, ColumnLike, DataFrame, Figure, MatplotlibFigure, PlotlyFigure, Record

#: most clusterings whose values are shown as text; above FEW with two decimals, in numbered columns
MOST_SHOWN, FEW = 20, 6


def _square(values: Array, names: Sequence[str]) -> str:
    """All values as text, in blocks of columns that fit into 80 characters."""
    if len(names) <= FEW:
        rows = columns = short_names(names, max(8, 76 // (len(names) + 1) - 2))
        cells = [[number(x) for x in row] for row in values]
    else:
        columns = [str(j + 1) for j in range(len(names))]
        rows = [f"{j:>2} {name}" for j, name in zip(columns, short_names(names, 32), strict=True)]
        cells = [[f"{x + 0.0:.2f}".replace("-0.00", "0.00").replace("nan", "–") for x in row] for row in values]
    widths = [max(len(name), *(len(line[j]) for line in cells)) + 2 for j, name in enumerate(columns)]
    blocks, room = [[0]], 80 - max(map(len, rows))
    for j, width in enumerate(widths[1:], 1):
        if sum(widths[x] for x in blocks[-1]) + width > room:
            blocks.append([])
        blocks[-1].append(j)
    return "\n\n".join(
        text_grid([[line[j] for j in block] for line in cells], rows, [columns[j] for j in block]) for block in blocks
    )


class _Scores:
    """Base class of AllPairs and AgainstReference: arrays by measure, and names."""

    _values: dict[str, Array]

    def __getitem__(self, key: str) -> Array:
        name = key if key in self._values else key_of(key, self._values)
        if name not in self._values:
            raise NoSuchName(
                f"{name} was not computed; name it in {Option('measures')} (there are: {joined(self._values)})"
            )
        return self._values[name]

    def keys(self) -> tuple[str, ...]:
        """Keys of the measures that were computed."""
        return tuple(self._values)

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __contains__(self, key: object) -> bool:
        return key in self._values or is_among(key, self._values)


@dataclass(frozen=True, eq=False, kw_only=True)
class AllPairs(Result, _Scores):
    """Measures of all pairs of clusterings; `r["ari"]` is an L × L array, in the order of `r.names`.

    Attributes:
        measures: The records of the measures by key.
        names: Names of the clusterings, in the order of rows and columns.
        n_used: Number of points used for each pair, L × L.
        cautions: Cautions about the input, as `Caution` records.
        skipped: Measures that were skipped, and why.
        kind: Kind of frame of the inputs.

    >>> import congruence as cg
    >>> r = cg.compare_all({"x": [0, 0, 1, 1], "y": [1, 1, 0, 0], "z": [0, 1, 1, 1]})
    >>> r["ari"].round(3).tolist()
    [[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    >>> r.to_frame("ari").loc["x", "z"]
    np.float64(0.0)
    """

    _values: dict[str, Array]
    measures: dict[str, Measure]
    names: tuple[str, ...]
    n_used: Array = field(repr=False)
    cautions: tuple[Caution, ...] = ()
    skipped: dict[str, str] = field(default_factory=dict)
    kind: str | None = None

    @described
    def to_frame(self, measure: str | None = None, backend: str | None = None) -> DataFrame:  # type: ignore[override]
        """The matrix of one measure, named on both sides; without a measure, one row per pair with all measures.

        Args:
            measure: Key of the measure. Default None: all measures, one row per pair.
            backend: See `congruence.options`.

        Returns:
            A data frame.
        """
        if measure is not None:
            return square_frame(self[measure], self.names, self.names, backend or self.kind)
        i, j = np.triu_indices(len(self.names), 1)
        columns: dict[str, ColumnLike] = {"a": [self.names[x] for x in i], "b": [self.names[x] for x in j]}
        columns["n_used"] = self.n_used[i, j]
        for key, values in self._values.items():
            columns[key] = values[i, j]
            if not self.measures[key].is_symmetric:
                columns[f"{key} (b, a)"] = values[j, i]
        return make_frame(columns, backend or self.kind)

    def to_dict(self) -> Record:
        """Names, and for each measure the matrix as nested lists."""
        return {"names": list(self.names), **{key: values.tolist() for key, values in self._values.items()}}

    def facts(self) -> Record:
        """Everything in the result, for JSON."""
        return {**self.to_dict(), "n_used": self.n_used, "skipped": self.skipped, "cautions": self.cautions}

    @overload  # type: ignore[override]
    def plot(self, measure: str | None = ..., backend: Literal["plotly"] = ...) -> PlotlyFigure: ...
    @overload
    def plot(self, measure: str | None = ..., *, backend: Literal["matplotlib"]) -> MatplotlibFigure: ...
    def plot(self, measure: str | None = None, backend: Backend = "plotly") -> Figure:
        """A figure of the matrix of one measure (the first), ordered, with its dendrogram; see `cg.figure`.

        Args:
            measure: Key of the measure. Default None: the first.
            backend: "plotly" (default) or "matplotlib".

        Returns:
            A figure.

        See also:
            `cg.figure`.
        """
        return figure_of(self, backend, measure=measure)

    def summary(self, key: str) -> str:
        """A line on how the clusterings agree by one measure.

        Args:
            key: Key of the measure.

        Returns:
            Median and range over the pairs, as text.
        """
        values = self[key][np.triu_indices(len(self.names), 1)]
        values = values[~np.isnan(values)]
        if not len(values):
            return f"{key}: no two clusterings to compare"
        low, mid, high = np.quantile(values, [0, 0.5, 1])
        return (
            f"{key}: median {number(mid)}, from {number(low)} to {number(high)} ({self.measures[key].better} is better)"
        )

    def __repr__(self) -> str:
        count = len(self.names)
        lines = [f"{counted(count, 'clustering')}, {counted(count * (count - 1) // 2, 'pair')}"]
        for key in self._values:
            lines.append(self.summary(key))
            if count <= MOST_SHOWN:
                lines.append(_square(self[key], self.names))
        notes = shown_notes(self.cautions, self.skipped)
        return "\n".join(lines) + notes_text(notes)

    def _repr_html_(self) -> str:
        count = len(self.names)
        if count > 50:
            return html_grid([[self.summary(key)] for key in self._values], list(self._values), ["agreement"])
        return "".join(
            html_grid([[number(x) for x in row] for row in self[key]], self.names, self.names, self.summary(key))
            for key in self._values
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class AgainstReference(Result, _Scores):
    """Measures of several clusterings against one reference, a row per clustering; `r["ari"]` is an array.

    Attributes:
        measures: The records of the measures by key.
        names: Names of the clusterings, in the order of the values.
        reference: Name of the reference.
        n_used: Number of points used for each clustering.
        cautions: Cautions about the input, as `Caution` records.
        skipped: Measures that were skipped, and why.
        kind: Kind of frame of the inputs.
        further: Extra columns such as p-values, by name, then by measure.

    >>> import congruence as cg
    >>> r = cg.compare_to([0, 0, 1, 1], {"x": [1, 1, 0, 0], "y": [0, 1, 1, 1]}, ["ari", "vi"])
    >>> r.best("ari")
    'x'
    >>> r.to_dict()["y"]["ari"]
    0.0
    """

    _values: dict[str, Array]
    measures: dict[str, Measure]
    names: tuple[str, ...]
    reference: str
    n_used: Array = field(repr=False)
    cautions: tuple[Caution, ...] = ()
    skipped: dict[str, str] = field(default_factory=dict)
    kind: str | None = None
    further: dict[str, dict[str, Array]] = field(default_factory=dict)

    def best(self, key: str) -> str:
        """Name of the clustering that agrees best with the reference by this measure.

        Args:
            key: Key of the measure.

        Returns:
            The name.

        Raises:
            InputError: If the measure is undefined for every clustering.
        """
        values = self[key]
        values = values if self.measures[key_of(key, self._values)].better == "higher" else -values
        if np.isnan(values).all():
            raise InputError(f"{key} is undefined for every clustering")
        return self.names[int(np.nanargmax(values))]

    def table_columns(self) -> Record:
        """One row per clustering: its name, the points used, and every measure."""
        return {"clustering": list(self.names), "n_used": self.n_used, **self._values, **self._beside()}

    def _beside(self) -> dict[str, Array]:
        """The extra columns under unique names: the measure and the kind of value."""
        return {f"{key} {name}": values[key] for key in self._values for name, values in self.further.items()}

    def to_dict(self) -> dict[str, dict[str, float]]:
        """For each clustering its values by measure."""
        return {
            name: {key: float(values[i]) for key, values in self._values.items()} for i, name in enumerate(self.names)
        }

    def facts(self) -> Record:
        """Everything in the result, for JSON."""
        rows = [
            {
                "clustering": name,
                "n_used": self.n_used[i],
                **{k: v[i] for k, v in (self._values | self._beside()).items()},
            }
            for i, name in enumerate(self.names)
        ]
        return {"reference": self.reference, "rows": rows, "skipped": self.skipped, "cautions": self.cautions}

    def _grid(self) -> tuple[list[list[str]], list[str]]:
        """Cells and names of columns: each measure, and extra columns."""
        columns: list[list[str]] = []
        for key, values in self._values.items():
            columns.append([key, *map(number, values)])
            columns += [[name, *(shown_beside(name, x) for x in more[key])] for name, more in self.further.items()]
        names, *rows = zip(*columns, strict=True)
        return [list(row) for row in rows], list(names)

    def __repr__(self) -> str:
        shown = min(len(self.names), 40)
        head = f"{counted(len(self.names), 'clustering')} against {self.reference}"
        cells, columns = self._grid()
        width = max(12, 78 - sum(max(len(key), 8) + 2 for key in columns))
        grid = text_grid(cells[:shown], short_names(self.names[:shown], width), columns)
        more = f"\n… and {len(self.names) - shown} more" if shown < len(self.names) else ""
        notes = shown_notes(self.cautions, self.skipped)
        return f"{head}\n{grid}{more}" + notes_text(notes)

    def _repr_html_(self) -> str:
        cells, columns = self._grid()
        return html_grid(cells, self.names, columns, f"against {self.reference}")
