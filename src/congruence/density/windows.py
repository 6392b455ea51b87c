"""Drift: how clusterings change from window to window, by density profiles counted in one pass."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from datetime import date
from itertools import pairwise
from typing import Literal

import numpy as np

from congruence.comparison.presenting import Result, number, plain
from congruence.density.binning import Binning
from congruence.density.columns import Columns, as_columns, raw_columns
from congruence.density.counting import profile_of
from congruence.density.profile import Profile
from congruence.density.similarity import ProfileComparison, compare_profiles
from congruence.engine.plan import Progress
from congruence.errors import InputError, hint, joined, names_in, one_of
from congruence.inputs.alignment import InputOptions
from congruence.inputs.coerce import as_disjoint
from congruence.inputs.column_kinds import check_features
from congruence.inputs.effects import refuse_idle
from congruence.inputs.encoding import too_far_for_python
from congruence.inputs.files import pick
from congruence.inputs.frames import text_grid
from congruence.inputs.kinds import Unassigned
from congruence.inputs.labels import Labels, frame_kind, in_memory, noise_caution
from congruence.statistics.tables import Array
from congruence.typing import (
    ClusteringLike,
    ColumnLike,
    Frame,
    Label,
    NoiseLike,
    PointsLike,
    ProgressLike,
    Record,
)

#: number of attributes and clusters named per step
SHOWN = 3


@dataclass(frozen=True, eq=False, kw_only=True)
class Drift(Result):
    """ADCO of each window with the previous and with the first, and what changed.

    Attributes:
        windows: Names of the windows.
        profiles: Profile of each window.
        steps: Comparison of each window with the previous one.
        from_first: Comparison of each window with the first.
        measure: Key of the measure.
        notes: Cautions about the input.

    >>> import congruence as cg
    >>> early, late = [[0.0], [1.0], [9.0], [10.0]], [[0.0], [1.0], [4.0], [5.0]]
    >>> d = cg.drift([(early, [0, 0, 1, 1]), (early, [1, 1, 0, 0]), (late, [0, 0, 1, 1])], bins=5)
    >>> d.previous.tolist(), d.first.tolist()
    ([1.0, 0.5], [1.0, 0.5])
    >>> d.moved_clusters(2)
    [(0, None, 0.0), (None, 1, 0.0)]
    """

    windows: tuple[Label, ...]
    profiles: tuple[Profile, ...] = field(repr=False)
    steps: tuple[ProfileComparison, ...] = field(repr=False)
    from_first: tuple[ProfileComparison, ...] = field(repr=False)
    measure: str = "adco"
    notes: tuple[str, ...] = ()

    @property
    def previous(self) -> Array:
        """The measure of each window, from the second on, with the previous one."""
        return np.array([step[self.measure] for step in self.steps])

    @property
    def first(self) -> Array:
        """The measure of each window, from the second on, with the first."""
        return np.array([step[self.measure] for step in self.from_first])

    def moved_attributes(
        self, window: int, since: Literal["previous", "first"] = "previous"
    ) -> list[tuple[str, float]]:
        """Attributes of a window (1 is the second), the most changed first, with their similarity to the earlier window.

        Args:
            window: Number of the window; 1 is the second.
            since: "previous" (default) or "first": what it is compared with.

        Raises:
            InputError: If an argument is invalid.
        """
        rows = self._step(window, since).attributes
        return sorted(((name, own) for name, _, own, *_ in rows), key=lambda row: row[1])

    def moved_clusters(
        self, window: int, since: Literal["previous", "first"] = "previous"
    ) -> list[tuple[Label, Label, float]]:
        """Clusters before and now, the most changed first, with their similarity; None if one has no counterpart.

        Args:
            window: Number of the window; 1 is the second.
            since: "previous" (default) or "first": what it is compared with.

        Raises:
            InputError: If an argument is invalid.
        """
        step = self._step(window, since)
        rows: list[tuple[Label, Label, float]] = [
            (a, b, similar) for a, b, _, similar, *_ in step.matches if similar < 1 - 1e-12
        ]
        rows += [(a, None, 0.0) for a in step.only_a] + [(None, b, 0.0) for b in step.only_b]
        return sorted(rows, key=lambda row: row[2])

    def _step(self, window: int, since: str) -> ProfileComparison:
        one_of("since", since, ("previous", "first"))
        if not 1 <= window < len(self.windows):
            raise InputError(f"window must be from 1 (the second) to {len(self.windows) - 1}, not {window}")
        return (self.steps if since == "previous" else self.from_first)[window - 1]

    def rows(self) -> list[Record]:
        """One row per window: points, clusters, the measure with the previous and the first window, and what changed most."""
        found = []
        for i, (name, profile) in enumerate(zip(self.windows, self.profiles, strict=True)):
            row: Record = {"window": name, "points": profile.n, "clusters": len(profile.clusters)}
            row |= {
                "previous": None,
                "first": None,
                "outside": int(profile.outside.sum()),
                "attributes": "",
                "clusters moved": "",
            }
            if i:
                row["previous"], row["first"] = self.steps[i - 1][self.measure], self.from_first[i - 1][self.measure]
                moved = [n for n, own in self.moved_attributes(i)[:SHOWN] if own < 1 - 1e-12]
                row["attributes"] = ", ".join(moved)
                row["clusters moved"] = ", ".join(_moved(*m) for m in self.moved_clusters(i)[:SHOWN])
            found.append(row)
        return found

    def table_columns(self) -> Record:
        """One row per window: points, clusters, the measure, and what changed most."""
        rows = self.rows()
        columns = {name: [row[name] for row in rows] for name in rows[0]}
        return {**columns, "window": [str(name) for name in columns["window"]]}

    def to_dict(self) -> Record:
        """The measure, one row per window, all steps, and the notes, as plain Python values."""
        return dict(
            plain(
                {
                    "measure": self.measure,
                    "windows": self.rows(),
                    "steps": [step.facts() for step in self.steps],
                    "from_first": [step.facts() for step in self.from_first],
                    "notes": self.notes,
                }
            )
        )

    def __repr__(self) -> str:
        rows = self.rows()
        head = ["points", "clusters", "previous", "first", "attributes moved", "clusters moved"]
        cells = [
            [
                f"{row['points']:g}", str(row["clusters"]),
                *("" if row[x] is None else number(row[x]) for x in ("previous", "first")),
                row["attributes"], row["clusters moved"],
            ]
            for row in rows
        ]  # fmt: skip
        title = f"{len(rows)} windows, {self.measure} with the previous and with the first"
        grid = text_grid(cells, [str(row["window"]) for row in rows], head, left=True)
        return "\n".join([title, grid, *(f"note: {n}" for n in self.notes)])


def _moved(before: Label, now: Label, similar: float) -> str:
    if before is None:
        return f"{now} (new)"
    if now is None:
        return f"{before} (gone)"
    return f"{now if before == now else f'{before} → {now}'} ({similar:.2f})"


def drift(
    windows: PointsLike,
    labels: str | None = None,
    window: str | None = None,
    *,
    features: Sequence[str] | None = None,
    binning: str | Binning = "width",
    bins: int = 10,
    nominal: Sequence[str | int] = (),
    measure: str = "adco",
    sizes: Literal["given", "scaled"] = "given",
    unassigned: Unassigned = "error",
    noise: NoiseLike = None,
    threads: int | None = None,
    progress: ProgressLike = None,
) -> Drift:
    """How a clustering changes from window to window: ADCO with the previous and the first window, and what changed.

    The windows of a table are sorted: numbers and dates ascending, ordered categories as listed, text alphabetically.
    Parts of a stream with the same name are added. Bins are fitted on the whole table, or on the first part of a stream;
    later values outside them count in the first or last bin, and a note says so.

    Args:
        windows: A table, or a stream of (X, labels) or (name, X, labels), read once.
        labels: Column of labels, for one table. Default None.
        window: Column that names the window of each row, for one table. Default None.
        features: Columns that are attributes, for one table. Default None: all others.
        binning: How attributes are cut: "width" (default), "frequency", "mdl", or a fitted or unfitted `Binning`.
        bins: Number of bins of a numeric attribute. Default 10.
        nominal: Names of numeric attributes to treat as nominal. Default: none.
        measure: "adco" (default), "adco_distance", "adco_metric" or "adco_cosine" (which ignores the sizes of
            windows).
        sizes: "given" (default), or "scaled", which makes two windows equally large; see `cg.compare_profiles`.
        unassigned: What to do with points in no cluster, which are missing labels and labels named by `noise`:
            "error" (default) raises, "drop" leaves the points out, "singletons" makes each a separate cluster,
            "cluster" puts all in one cluster.
        noise: Labels that mean "in no cluster": one label, several, or a mapping from the name of a clustering to
            labels. Default None.
        threads: Number of threads; it does not change results. Default None: all cores.
        progress: Function of (done, total), True for a progress bar, or False for none. Default None: a bar on a
            terminal.

    Returns:
        A `Drift`: `.previous`, `.first`, `.moved_clusters(i)`, `.moved_attributes(i)`, `.to_frame()`.

    Raises:
        InputError: If an argument is invalid.

    See also:
        `cg.adco`, `cg.compare_profiles`.

    >>> import congruence as cg
    >>> table = {"day": [1, 1, 2, 2, 3, 3], "x": [0, 9, 0, 9, 9, 9], "kind": ["a", "b", "a", "b", "a", "b"]}
    >>> cg.drift(table, labels="kind", window="day").previous.round(3).tolist()
    [1.0, 0.5]
    """
    refuse_idle(drift, locals())
    record = _measure_of(measure)
    one_of("sizes", sizes, ("given", "scaled"))
    chosen = copy(binning) if isinstance(binning, Binning) else Binning(binning, bins, nominal=nominal, spare=True)  # type: ignore[arg-type]
    notes: list[str] = []
    if labels is not None or window is not None:
        parts, total = _from_table(windows, labels, window, features, chosen)
    else:
        if features is not None:
            raise InputError(
                "features names columns of a table; a stream yields (X, labels), where X has only the features"
            )
        parts, total = _from_stream(windows), 0
    profiles: dict[Label, Profile] = {}
    options = InputOptions(unassigned=unassigned, noise=noise)
    with Progress(total, progress if total else False, "windows") as bar:
        for i, (name, X, marks) in enumerate(parts):
            title = i if name is None else name
            profile = profile_of(X, marks, chosen, options, f"window {title}", threads=threads)
            alone = unassigned == "singletons" and "unassigned 1" in profile.clusters
            if alone and title in profiles and "unassigned 1" in profiles[title].clusters:
                raise InputError(
                    f"window {title} comes in parts, so singletons cannot be counted; pass unassigned='drop' or "
                    "'cluster'"
                )
            profiles[title] = profiles[title] + profile if title in profiles else profile
            bar.add(1)
    if len(profiles) < 2:
        raise InputError(f"drift needs at least two windows, but there {'is only one' if profiles else 'are none'}")
    for name, profile in profiles.items():
        if profile.outside.any():
            worst, beyond = int(np.argmax(profile.outside)), int(profile.outside.sum())
            values = "1 value is" if beyond == 1 else f"{beyond} values are"
            notes.append(f"window {name}: {values} outside the bins, most in {profile.names[worst]}")
    listed = list(profiles.values())
    # a measure that ignores sizes also ignores them in the changes
    even: Literal["given", "scaled"] = "scaled" if record == "adco_cosine" else sizes
    steps = [compare_profiles(p, q, sizes=even) for p, q in pairwise(listed)]
    first = [steps[0], *(compare_profiles(listed[0], q, sizes=even) for q in listed[2:])]
    if noise is None:
        notes += noise_caution([c for p in listed for c in p.clusters], "the clustering")
    many = [p.n for p in listed]
    if sizes == "given" and record != "adco_cosine" and max(many) > 1.1 * min(many):
        notes.append(
            f"windows have {min(many):g} to {max(many):g} points, which alone lowers {record}; see adco_cosine, or "
            "pass sizes='scaled'"
        )
    return Drift(
        windows=tuple(profiles), profiles=tuple(listed), steps=tuple(steps), from_first=tuple(first), measure=record,
        notes=tuple(notes),
    )  # fmt: skip


def _measure_of(name: str) -> str:
    from congruence.density.similarity import KEYS

    if name not in KEYS:
        raise InputError(
            f"drift is measured by {joined(KEYS, 'or')}, not {name!r}; {hint(str(name), KEYS, '')}".rstrip("; ")
        )
    return name


def _from_stream(windows: object) -> Iterable[tuple[Label, PointsLike, ClusteringLike]]:
    is_table = isinstance(windows, str) or frame_kind(windows) is not None
    if is_table or not isinstance(windows, Iterable) or getattr(windows, "ndim", None) == 0:
        raise InputError("name the columns of a table, as in drift(table, labels='cluster', window='day')")
    named: bool | None = None
    parts: Iterable[object] = windows
    if isinstance(windows, Mapping):
        parts = ((name, *part) if isinstance(part, tuple | list) else part for name, part in windows.items())
    for item in parts:
        if not isinstance(item, tuple | list) or len(item) not in (2, 3):
            raise InputError(
                "a stream must yield (X, labels) or (name, X, labels); for a table name its columns: "
                "labels='cluster', window='day'"
            )
        name, X, labels = (None, *item) if len(item) == 2 else item
        if named is not None and named != (name is not None):
            raise InputError(
                "name all parts of a stream or none: yield each as (name, X, labels), or each as (X, labels)"
            )
        named = name is not None
        if not isinstance(name, Hashable) or name != name:
            raise InputError(f"the name of a window must be text, a number or a date, not {name!r}")
        yield name, X, labels


def _from_table(
    table: Frame, labels: str | None, window: str | None, features: Sequence[str] | None, binning: Binning
) -> tuple[Iterable[tuple[Label, PointsLike, ClusteringLike]], int]:
    """The windows of a table one by one, and their number; fits the bins on the whole table."""
    if labels is None or window is None:
        raise InputError("a table needs both names: labels='cluster' and window='day'")
    if labels == window:
        raise InputError(f"column {labels!r} cannot hold both the labels and the windows")
    table = in_memory(table)
    names, raw = raw_columns(table)
    columns = dict(zip(names, raw, strict=True))
    features = None if features is None else names_in(features, "features")
    pick(columns, [labels, window, *(features or [])], "the table")
    chosen = list(features) if features is not None else [n for n in names if n not in (labels, window)]
    for name in (labels, window):
        if name in chosen:
            raise InputError(
                f"column {name!r} cannot be a feature: it holds the {'labels' if name == labels else 'windows'}"
            )
    if features is None and frame_kind(table) is not None:
        check_features(table, (labels, window, *binning.nominal_names))
    if not chosen:
        raise InputError("the table has no columns besides labels and windows; the features are missing")
    order, when = _in_order(columns[window], f"column {window!r}")
    what = as_disjoint(columns[labels], f"column {labels!r}")
    if not isinstance(what, Labels):
        raise InputError("labels and windows must have one value per row")
    if (gaps := int((when == len(order)).sum())) > 0:
        raise InputError(f"{gaps} rows have no window (column {window!r}); drop them first")
    data = as_columns({name: columns[name] for name in chosen}, binning.nominal_names)
    if not binning.is_fitted:
        binning.fit(data, what)

    def parts() -> Iterable[tuple[Label, Columns, Labels]]:
        ends = np.cumsum(np.bincount(when, minlength=len(order)))
        for name, rows in zip(order, np.split(np.argsort(when, kind="stable"), ends[:-1]), strict=True):
            yield name, data.taken(rows), what.taken(rows)

    return parts(), len(order)


def _in_order(column: ColumnLike, who: str) -> tuple[list[Label], Array]:
    """The windows in a column, and the index of the window of each row; one past the last if it has none.

    Numbers and dates ascend, ordered categories keep their order, and text is sorted alphabetically, with the numbers
    in it by value: week 9, week 10.
    """
    found = _times(column, who)
    if found is None:
        labels = as_disjoint(column, who)
        if not isinstance(labels, Labels):
            raise InputError("labels and windows must have one value per row")
        names = labels.names.tolist() if isinstance(labels.names, np.ndarray) else list(labels.names)
        codes = labels.codes.astype(np.int64)
        order = list(range(len(names)))
        if all(isinstance(name, str) for name in names):
            order.sort(key=lambda i: [int(x) if x.isdecimal() else x for x in re.split(r"(\d+)", names[i])])
    else:
        names, codes, order = found
    many = np.bincount(codes, minlength=len(names))
    used = [i for i in order if many[i]]
    place = np.full(len(names) + 1, len(used))
    place[used] = np.arange(len(used))
    return [names[i] for i in used], place[codes]


def _times(column: ColumnLike, who: str) -> tuple[list[Label], Array, list[int]] | None:
    """Names, codes and order of dates or ordered categories; None for other columns."""
    import pyarrow as pa

    if frame_kind(column) == "pandas" and hasattr(column, "cat"):
        if not column.cat.ordered:
            return None
        names = [x if isinstance(x, str | int | float) else str(x) for x in column.cat.categories.tolist()]
        codes = column.cat.codes.to_numpy().astype(np.int64)
        return names, np.where(codes < 0, len(names), codes), list(range(len(names)))
    if str(getattr(column, "dtype", "")).startswith("period"):
        column = column.dt.to_timestamp()
    is_enum = (
        type(getattr(column, "dtype", None)).__name__ == "Enum"
    )  # polars Enum: ordered, although arrow says otherwise
    if hasattr(column, "to_arrow"):
        column = column.to_arrow()
    kind = getattr(getattr(column, "dtype", None), "kind", "O")
    if not isinstance(column, pa.Array | pa.ChunkedArray):
        first = next((x for x in column if x is not None), None) if kind == "O" else None
        if kind != "M" and not isinstance(first, date):
            return None
        column = pa.array(column, from_pandas=True)
    is_time = pa.types.is_temporal(column.type)
    if not is_time and not (pa.types.is_dictionary(column.type) and (column.type.ordered or is_enum)):
        return None
    if is_time:
        if far := too_far_for_python(column):
            raise InputError(f"{who} holds {far}")
        column = column.dictionary_encode()
    if isinstance(column, pa.ChunkedArray):
        column = column.unify_dictionaries().combine_chunks()
    names = column.dictionary.to_pylist()
    codes = column.indices.fill_null(len(names)).to_numpy(zero_copy_only=False).astype(np.int64)
    if not is_time:
        return names, codes, list(range(len(names)))
    order = sorted(range(len(names)), key=names.__getitem__)
    shown = [str(name) for name in names]
    if all(name.endswith(" 00:00:00") for name in shown):  # days
        shown = [name.removesuffix(" 00:00:00") for name in shown]
    return shown, codes, order
