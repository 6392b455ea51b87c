"""Results of comparisons: named values as frames, dictionaries, JSON, and text for terminal or notebook."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from congruence.errors import Caution, InputError
from congruence.formulas.record import Measure
from congruence.formulas.registry import find, is_among
from congruence.inputs.frames import html_grid, make_frame, square_frame, text_grid
from congruence.statistics.tables import Array, Table, Tables


def counted(many: float, thing: str) -> str:
    """'1 point', '2 points', '1,000 points'."""
    return f"{many:,} {thing}{'' if many == 1 else 's'}"


def number(x: float) -> str:
    """A score with four decimals, or in short scientific notation if that is too long."""
    if math.isnan(x):
        return "undefined"
    return f"{x:.4f}" if abs(x) < 1e5 else f"{x:.5g}"


def _beside(name: str, x: float) -> str:
    """A number in an extra column; p-values are short, and missing values are a dash."""
    if math.isnan(x):
        return "–"
    if name == "k":
        return f"{x:.0f}"
    return f"{x:.3g}" if name == "p" else number(x)


def span(measure: Measure) -> str:
    """The range of a measure, as in '0 to 1'."""
    low, high = (f"{'-' if x < 0 else ''}∞" if math.isinf(x) else f"{x:.4g}" for x in measure.range)
    return f"{low} to {high}"


def plain(value: Any) -> Any:
    """The value for JSON: arrays as lists, NaN as null, numpy numbers as Python numbers."""
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, str | int | float | bool) or value is None else str(value)


def _key_of(name: str, known: Mapping[str, Any]) -> str:
    """The key of a measure, or a KeyError with similar names. Adjusted measures are not in the registry."""
    if name in known:
        return name
    try:
        return find(name).key
    except InputError as error:
        raise KeyError(str(error)) from None


def _figure(result: Any, backend: Any, **options: Any) -> Any:
    import congruence  # late import; avoids a cycle: figures are a higher layer

    return congruence.figure(result, backend, **options)


def shortened(text: str, width: int) -> str:
    """The text, truncated to the width."""
    return text if len(text) <= width else text[: width - 1] + "…"


def _notes_text(notes: Sequence[str]) -> str:
    import textwrap

    return "".join("\n" + textwrap.fill(n, 80, initial_indent="! ", subsequent_indent="  ") for n in notes)


@dataclass(frozen=True, eq=False, kw_only=True)
class Comparison(Mapping[str, float]):
    """The measures of one pair of clusterings; `r["ari"]` is a float.

    >>> import congruence as cg
    >>> r = cg.compare([0, 0, 1, 1], ["x", "x", "y", "z"], ["ari", "vi"])
    >>> round(r["ari"], 4), r.n_points, r.n_clusters
    (0.5714, 4, (2, 3))
    >>> r
    a: 2 clusters, b: 3 clusters, 4 points
          value       better
    ari  0.5714  ↑ -0.5 to 1  Adjusted Rand index
    vi   0.3466     ↓ 0 to ∞  Variation of information
    """

    values_: dict[str, float]
    measures: dict[str, Measure]
    counted: Table | None = field(repr=False)
    tables: Tables | None = field(repr=False)
    n_used: int
    cautions: tuple[Caution, ...] = ()
    skipped: dict[str, str] = field(default_factory=dict)
    #: soft clusterings: self-scores of a and of b
    self_values: tuple[dict[str, float], dict[str, float]] | None = None
    kind: str | None = None
    names: tuple[str, str] = ("a", "b")
    #: descriptions of the two sides if they are not single clusterings
    about: tuple[str, str] | None = None
    #: extra columns, such as p-values: one number per measure
    further: dict[str, dict[str, float]] = field(default_factory=dict)

    def __getitem__(self, key: str) -> float:
        name = _key_of(key, self.values_)
        if name not in self.values_:
            why = self.skipped.get(name)
            raise KeyError(f"{name} was not computed" + (f": {why}" if why else "; name it in `measures`"))
        return self.values_[name]

    def __contains__(self, key: object) -> bool:
        return key in self.values_ or is_among(key, self.values_)

    def __iter__(self) -> Iterator[str]:
        return iter(self.values_)

    def __len__(self) -> int:
        return len(self.values_)

    @property
    def n_points(self) -> int:
        """Number of points used."""
        return self.n_used

    @property
    def n_clusters(self) -> tuple[int, int]:
        """Numbers of clusters of a and of b."""
        return self._counted.shape

    @property
    def _counted(self) -> Table:
        if self.counted is None:
            raise InputError(
                "matrices and ensembles have no contingency table; their measures come from sums over pairs"
            )
        return self.counted

    @cached_property
    def table(self) -> Table:
        """The contingency table, with the names of the clusters."""
        return named_table(self._counted, self.kind)

    def to_dict(self) -> dict[str, float]:
        """The values by key."""
        return dict(self.values_)

    def to_frame(self, backend: str | None = None) -> Any:
        """One row per measure: value, direction, range, title, and for soft pairs the self-scores."""
        rows = [self.measures[key] for key in self]
        columns: dict[str, Any] = {
            "measure": list(self),
            "value": list(self.values()),
            "better": [m.better for m in rows],
            "low": [m.range[0] for m in rows],
            "high": [m.range[1] for m in rows],
            "title": [m.title for m in rows],
        }
        if self.self_values is not None:
            columns["self_a"], columns["self_b"] = ([own[key] for key in self] for own in self.self_values)
        for name, column in self.further.items():  # low and high of an interval are not those of the range
            columns[f"interval_{name}" if name in columns else name] = [column[key] for key in self]
        return make_frame(columns, backend or self.kind)

    def to_json(self, **options: Any) -> str:
        """The comparison as JSON, with cautions and options."""
        about = {
            "clusterings": self.names,
            "n_points": self.n_used,
            "n_clusters": self.n_clusters if self.counted is not None else None,
            "about": self.about,
            "values": self.values_,
            **self.further,
            "self_values": self.self_values and dict(zip(("a", "b"), self.self_values, strict=True)),
            "skipped": self.skipped,
            "cautions": self.all_cautions,
        }
        return json.dumps(plain(about), ensure_ascii=False, **options)

    @property
    def all_cautions(self) -> tuple[Caution, ...]:
        """Cautions about the input, then those of the measures shown."""
        own = {k: self.measures[k].caution for k in self}
        return (*self.cautions, *(Caution("measure", k, f"{{subject}}: {text}") for k, text in own.items() if text))

    def grid(self) -> tuple[list[list[str]], list[str], list[str]]:
        """Cells, row names and column names of the displayed table."""
        cells = []
        for key, value in self.items():
            m = self.measures[key]
            own = [number(side[key]) for side in self.self_values] if self.self_values else []
            own += [_beside(name, column[key]) for name, column in self.further.items()]
            cells.append([number(value), *own, f"{'↑' if m.better == 'higher' else '↓'} {span(m)}", m.title])
        extra = [*(["self a", "self b"] if self.self_values else []), *self.further]
        return cells, list(self), ["value", *extra, "better", ""]

    def plot(self, backend: Any = "plotly", most: int = 24) -> Any:
        """A figure of the flow between the clusters, the `most` largest on each side; see `cg.figure`."""
        return _figure(self, backend, most=most)

    def headline(self) -> str:
        """A line that says what was compared."""
        a, b = self.names
        if self.about is not None:
            return f"{a}: {self.about[0]}, {b}: {self.about[1]}, {self.n_used:,} points"
        k_a, k_b = self.n_clusters
        return f"{a}: {counted(k_a, 'cluster')}, {b}: {counted(k_b, 'cluster')}, {counted(self.n_used, 'point')}"

    def __repr__(self) -> str:
        cells, rows, columns = self.grid()
        lines = text_grid([line[:-1] for line in cells], rows, columns[:-1]).split("\n")
        shown = [lines[0], *(shortened(f"{line}  {cell[-1]}", 80) for line, cell in zip(lines[1:], cells, strict=True))]
        notes = [*self.all_cautions, *(f"{k} is left out: {why}" for k, why in self.skipped.items())]
        return "\n".join([shortened(self.headline(), 80), *shown]) + _notes_text(notes)

    def _repr_html_(self) -> str:
        from html import escape

        notes = [*self.all_cautions, *(f"{k} is left out: {why}" for k, why in self.skipped.items())]
        listed = "".join(f"<li>{escape(n)}</li>" for n in notes)
        return html_grid(*self.grid(), caption=self.headline()) + (f"<ul>{listed}</ul>" if notes else "")


def named_table(table: Table, kind: str | None) -> Table:
    """The table with names as Python values."""
    rows, columns = (
        tuple(names.tolist()) if isinstance(names, np.ndarray) else tuple(names)
        for names in (table.rows, table.columns)
    )
    return replace(table, rows=rows, columns=columns, frame_kind=kind)


class _Scores:
    """What AllPairs and AgainstReference share: arrays by measure, and names."""

    _values: dict[str, Array]

    def __getitem__(self, key: str) -> Array:
        name = _key_of(key, self._values)
        if name not in self._values:
            raise KeyError(f"{name} was not computed; name it in `measures` (there are: {', '.join(self._values)})")
        return self._values[name]

    def keys(self) -> tuple[str, ...]:
        """Keys of the measures that were computed."""
        return tuple(self._values)

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __contains__(self, key: object) -> bool:
        return key in self._values or is_among(key, self._values)


@dataclass(frozen=True, eq=False, kw_only=True)
class AllPairs(_Scores):
    """Measures of all pairs of clusterings; `r["ari"]` is an L × L array, in the order of `r.names`.

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

    def to_frame(self, measure: str | None = None, backend: str | None = None) -> Any:
        """The matrix of one measure, named on both sides; without a measure, one row per pair with all measures."""
        if measure is not None:
            return square_frame(self[measure], self.names, self.names, backend or self.kind)
        i, j = np.triu_indices(len(self.names), 1)
        columns: dict[str, Any] = {"a": [self.names[x] for x in i], "b": [self.names[x] for x in j]}
        columns["n_used"] = self.n_used[i, j]
        for key, values in self._values.items():
            columns[key] = values[i, j]
            if not self.measures[key].is_symmetric:
                columns[f"{key} (b, a)"] = values[j, i]
        return make_frame(columns, backend or self.kind)

    def to_dict(self) -> dict[str, Any]:
        """Names, and for each measure the matrix as nested lists."""
        return {"names": list(self.names), **{key: values.tolist() for key, values in self._values.items()}}

    def to_json(self, **options: Any) -> str:
        """The same as JSON, with cautions and the numbers of points used; undefined values are null."""
        about = {
            **self.to_dict(), "n_used": self.n_used, "skipped": self.skipped, "cautions": self.cautions,
        }  # fmt: skip
        return json.dumps(plain(about), ensure_ascii=False, **options)

    def plot(self, measure: str | None = None, backend: Any = "plotly") -> Any:
        """A figure of the matrix of one measure (the first), ordered, with its dendrogram; see `cg.figure`."""
        return _figure(self, backend, measure=measure)

    def summary(self, key: str) -> str:
        """A line on how the clusterings agree by one measure."""
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
            if count <= 6:
                short = [shortened(name, max(8, 76 // (count + 1) - 2)) for name in self.names]
                lines.append(text_grid([[number(x) for x in row] for row in self[key]], short, short))
        notes = [*self.cautions, *(f"{k} is left out: {why}" for k, why in self.skipped.items())]
        return "\n".join(lines) + _notes_text(notes)

    def _repr_html_(self) -> str:
        count = len(self.names)
        if count > 50:
            return html_grid([[self.summary(key)] for key in self._values], list(self._values), ["agreement"])
        return "".join(
            html_grid([[number(x) for x in row] for row in self[key]], self.names, self.names, self.summary(key))
            for key in self._values
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class AgainstReference(_Scores):
    """Measures of several clusterings against one reference, a row per clustering; `r["ari"]` is an array.

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
    #: extra columns, such as p-values: by name and measure, one number per clustering
    further: dict[str, dict[str, Array]] = field(default_factory=dict)

    def best(self, key: str) -> str:
        """Name of the clustering that agrees best with the reference by this measure."""
        values = self[key] if self.measures[_key_of(key, self._values)].better == "higher" else -self[key]
        if np.isnan(values).all():
            raise InputError(f"{key} is undefined for every clustering")
        return self.names[int(np.nanargmax(values))]

    def to_frame(self, backend: str | None = None) -> Any:
        """One row per clustering: its name, the points used, and every measure."""
        columns = {"clustering": list(self.names), "n_used": self.n_used, **self._values, **self._beside()}
        return make_frame(columns, backend or self.kind)

    def _beside(self) -> dict[str, Array]:
        """The further columns by names that are all different: the measure, and what it is."""
        return {f"{key} {name}": values[key] for key in self._values for name, values in self.further.items()}

    def to_dict(self) -> dict[str, dict[str, float]]:
        """For each clustering its values by measure."""
        return {
            name: {key: float(values[i]) for key, values in self._values.items()} for i, name in enumerate(self.names)
        }

    def to_json(self, **options: Any) -> str:
        """The same as JSON; undefined values are null."""
        rows = [
            {
                "clustering": name,
                "n_used": self.n_used[i],
                **{k: v[i] for k, v in (self._values | self._beside()).items()},
            }
            for i, name in enumerate(self.names)
        ]
        about = {"reference": self.reference, "rows": rows, "skipped": self.skipped, "cautions": self.cautions}
        return json.dumps(plain(about), ensure_ascii=False, **options)

    def _grid(self) -> tuple[list[list[str]], list[str]]:
        """Cells and names of columns: each measure, and extra columns."""
        columns: list[list[str]] = []
        for key, values in self._values.items():
            columns.append([key, *map(number, values)])
            columns += [[name, *(_beside(name, x) for x in more[key])] for name, more in self.further.items()]
        names, *rows = zip(*columns, strict=True)
        return [list(row) for row in rows], list(names)

    def __repr__(self) -> str:
        shown = min(len(self.names), 40)
        head = f"{counted(len(self.names), 'clustering')} against {self.reference}"
        cells, columns = self._grid()
        width = max(12, 78 - sum(max(len(key), 8) + 2 for key in columns))
        grid = text_grid(cells[:shown], [shortened(name, width) for name in self.names[:shown]], columns)
        more = f"\n… and {len(self.names) - shown} more" if shown < len(self.names) else ""
        notes = [*self.cautions, *(f"{k} is left out: {why}" for k, why in self.skipped.items())]
        return f"{head}\n{grid}{more}" + _notes_text(notes)

    def _repr_html_(self) -> str:
        cells, columns = self._grid()
        return html_grid(cells, self.names, columns, f"against {self.reference}")


@dataclass(frozen=True, eq=False, kw_only=True)
class Matching:
    """Which cluster of b is which of a: matched pairs with their overlaps, and what is left over.

    >>> import congruence as cg
    >>> m = cg.match(["x", "x", "y", "y"], [7, 7, 8, 9])
    >>> m.mapping, m.only_b
    ({7: 'x', 8: 'y'}, (9,))
    """

    #: name in a, name in b, points in common, size in a, size in b
    rows: tuple[tuple[Any, Any, float, float, float], ...]
    only_a: tuple[Any, ...]
    only_b: tuple[Any, ...]
    n: float
    kind: str | None = None
    #: may a point be in several matched clusters?
    overlapping: bool = False

    @property
    def mapping(self) -> dict[Any, Any]:
        """For each matched cluster of b, its partner in a."""
        return {b: a for a, b, *_ in self.rows}

    def to_frame(self, backend: str | None = None) -> Any:
        """One row per matched pair: both names, points in common, sizes, and the Jaccard similarity of the two."""
        a, b, common, size_a, size_b = (list(x) for x in zip(*self.rows, strict=True)) if self.rows else ([],) * 5
        jaccard = [c / (x + y - c) for c, x, y in zip(common, size_a, size_b, strict=True)]
        columns = {"a": a, "b": b, "common": common, "size_a": size_a, "size_b": size_b, "jaccard": jaccard}
        return make_frame(columns, backend or self.kind)

    def __repr__(self) -> str:
        cells = [
            [str(b), f"{common:g}", f"{x:g}", f"{y:g}", f"{common / (x + y - common):.3f}"]
            for _, b, common, x, y in self.rows
        ]
        grid = text_grid(cells, [str(a) for a, *_ in self.rows], ["b", "common", "size a", "size b", "jaccard"])
        total = sum(row[2] for row in self.rows)
        left = [
            f"only in {side}: {', '.join(map(str, names))}"
            for side, names in (("a", self.only_a), ("b", self.only_b))
            if names
        ]
        of_all = "points" if self.overlapping else f"of {self.n:g} points"
        return "\n".join([f"{counted(len(self.rows), 'cluster')} matched, {total:g} {of_all} in common", grid, *left])
