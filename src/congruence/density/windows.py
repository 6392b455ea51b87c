"""Drift: how clusterings change from window to window, by density profiles counted in one pass."""

from __future__ import annotations

import os
import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from datetime import date
from itertools import pairwise
from typing import Literal

import numpy as np

from congruence.density.binning import Binning
from congruence.density.changes import Drift
from congruence.density.columns import Columns, as_columns, raw_columns
from congruence.density.counting import counted, ready
from congruence.density.profile import Profile, load_profile
from congruence.density.refining import folded, refined
from congruence.density.similarity import KEYS, compare_profiles
from congruence.density.watching import Finding, Watch
from congruence.engine.plan import Progress
from congruence.errors import InputError, Option, hint, joined, names_in, one_of, real_number
from congruence.inputs.alignment import InputOptions
from congruence.inputs.coerce import as_disjoint
from congruence.inputs.column_kinds import check_features
from congruence.inputs.effects import refuse_idle
from congruence.inputs.encoding import too_far_for_python
from congruence.inputs.files import pick
from congruence.inputs.kinds import Unassigned
from congruence.inputs.labels import Labels, frame_kind, in_memory, noise_caution
from congruence.options import described
from congruence.statistics.tables import Array
from congruence.typing import (
    ClusteringLike,
    ColumnLike,
    Frame,
    Label,
    NoiseLike,
    OptionValue,
    PathLike,
    PointsLike,
    ProgressLike,
)

#: windows with values outside the bins that have a note of their own
MOST_NOTES = 3


@dataclass
class Bins:
    """The bins of a stream: fitted on the first window that is counted, and never again.

    Attributes:
        coarse: The bins of the measure.
        fine: The finer bins in which windows are tested; None until the first window.
        unassigned: What points in no cluster are.
        noise: Labels that mean "in no cluster".
        threads: Number of threads.
    """

    coarse: Binning
    fine: Binning | None = None
    unassigned: Unassigned = "error"
    noise: NoiseLike = None
    threads: int | None = None

    @classmethod
    def of(
        cls,
        reference: Profile | str,
        binning: str | Binning,
        bins: int,
        nominal: Sequence[str | int],
        **same: OptionValue,
    ) -> Bins:
        """The bins of a reference: of a profile its own, else those that the options say."""
        if not isinstance(reference, Profile):
            chosen = (
                copy(binning) if isinstance(binning, Binning) else Binning(binning, bins, nominal=nominal, robust=True)  # type: ignore[arg-type]
            )
            chosen.spare = chosen.spare or not chosen.is_fitted
            return cls(chosen, **same)
        if binning != "width" or bins != Binning().bins or len(nominal):
            raise InputError("the bins are those of the reference profile; leave out binning, bins and nominal")
        levels = []
        for level in (reference, reference.detail or reference):
            levels.append(Binning())
            levels[-1].attributes = level.attributes
        return cls(*levels, **same)  # type: ignore[arg-type]

    def profile(self, name: Label, X: PointsLike, labels: ClusteringLike) -> Profile:
        """The profile of a window or of a part of it."""
        options = InputOptions(unassigned=self.unassigned, noise=self.noise)
        columns, clustering = ready(X, labels, self.coarse, options, f"window {name}")
        if self.fine is None:
            self.fine = refined(self.coarse, columns, clustering if isinstance(clustering, Labels) else None)
        return folded(counted(columns, [clustering], self.fine, threads=self.threads)[0], self.coarse.attributes)


@described
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
    reference: Literal["first", "previous"] | Profile | PathLike = "first",
    alpha: float = 0.01,
    threshold: float | None = None,
    threads: int | None = None,
    progress: ProgressLike = None,
) -> Drift:
    """How a clustering changes from window to window: ADCO, a p-value and an alarm for each, and what moved.

    The windows of a table are sorted: numbers and dates ascending, ordered categories as listed, text alphabetically.
    Parts of a stream with the same name are added. Bins are fitted on the first window, or the first part of a stream, and
    never again, so later windows do not change what was said of earlier ones. Values outside count in the first or last
    bin, and a note says so.

    Every window is tested against the reference: the sizes of the clusters, and every feature within each cluster. Clusters
    are matched by where they lie, so renamed labels are no change. The p-value is corrected for all tests of the window.
    Window i is an alarm if its p-value is at most its share of alpha, 1 / (1.07 (i + 2) ln² (i + 2)).

    Args:
        windows: A table, or a stream of (X, labels) or (name, X, labels), read once.
        labels: Column of labels, for one table. Default None.
        window: Column that names the window of each row, for one table. Default None.
        features: Columns that are attributes, for one table. Default None: all others.
        binning, bins, nominal: See `congruence.options`.
        measure: "adco" (default), "adco_distance", "adco_metric" or "adco_cosine" (which ignores the sizes of
            windows).
        sizes: "given" (default), or "scaled", which makes two windows equally large; see `cg.compare_profiles`.
        unassigned, noise: See `congruence.options`.
        reference: What windows are tested against: "first" (default) or "previous" window, or a `Profile`, or the path of a
            saved one; its bins are then used.
        alpha: Probability of any false alarm over all windows, however many follow. Default 0.01.
        threshold: There is an alarm too if the measure with the first window (or with the profile given) is worse than
            this. Default None.
        threads, progress: See `congruence.options`.

    Returns:
        A `Drift`: `.frame` with one row per window, `.moved` with one row per change, `.previous`, `.first`, `.sentence`.

    See also:
        `cg.adco`, `cg.compare_profiles`.

    >>> import congruence as cg
    >>> table = {"day": [1, 1, 2, 2, 3, 3], "x": [0, 9, 0, 9, 9, 9], "kind": ["a", "b", "a", "b", "a", "b"]}
    >>> cg.drift(table, labels="kind", window="day").previous.round(3).tolist()
    [1.0, 0.5]
    >>> import numpy as np
    >>> x = np.random.default_rng(0).normal(size=(5, 200)) + 3 * np.arange(200) % 2 * 9
    >>> x[4, ::2] += 1
    >>> d = cg.drift([(day[:, None], np.arange(200) % 2) for day in x])
    >>> d.frame["alarm"].tolist(), d.moved[["window", "cluster", "feature", "direction"]].values.tolist()
    ([False, False, False, False, True], [[4, 0, 'x0', 'up']])
    """
    refuse_idle(drift, locals())
    record = _measure_of(measure)
    one_of("sizes", sizes, ("given", "scaled"))
    alpha = real_number(alpha, "alpha", 0, 1)
    threshold = None if threshold is None else real_number(threshold, "threshold", 0, 2)
    reference = reference_of(reference)
    own = Bins.of(reference, binning, bins, nominal, unassigned=unassigned, noise=noise, threads=threads)
    notes: list[str] = []
    if labels is not None or window is not None:
        parts, total = _from_table(windows, labels, window, features, own.coarse)
    else:
        if features is not None:
            raise InputError(
                "features names columns of a table; a stream yields (X, labels), where X has only the features"
            )
        parts, total = _from_stream(windows), 0
    profiles: dict[Label, Profile] = {}
    with Progress(total, progress if total else False, "windows") as bar:
        for i, (name, X, marks) in enumerate(parts):
            title = i if name is None else name
            profile = own.profile(title, X, marks)
            alone = unassigned == "singletons" and "unassigned 1" in profile.clusters
            if alone and title in profiles and "unassigned 1" in profiles[title].clusters:
                raise InputError(
                    f"window {title} comes in parts, so singletons cannot be counted; pass {Option('unassigned', 'drop')} or "
                    "'cluster'"
                )
            profiles[title] = profiles[title] + profile if title in profiles else profile
            bar.add(1)
    if len(profiles) < 2 - isinstance(reference, Profile):
        raise InputError(f"drift needs at least two windows, but there {'is only one' if profiles else 'are none'}")
    notes += _outside(profiles)
    listed = list(profiles.values())
    # a measure that ignores sizes also ignores them in the changes
    even: Literal["given", "scaled"] = "scaled" if record == "adco_cosine" else sizes
    steps = [compare_profiles(p, q, sizes=even) for p, q in pairwise(listed)]
    start = reference if isinstance(reference, Profile) else listed[0]
    tested = listed if isinstance(reference, Profile) else listed[1:]
    first = [steps[0] if q is listed[1] and start is listed[0] else compare_profiles(start, q, sizes=even)
             for q in tested] if len(listed) > 1 else [compare_profiles(start, q, sizes=even) for q in tested]  # fmt: skip
    watch = Watch(
        start.detail or start, alpha, "previous" if isinstance(reference, str) and reference == "previous" else "first"
    )
    findings: list[Finding | None] = [None] * (len(listed) - len(tested))
    findings += [watch.test(name, q.detail or q) for name, q in zip([*profiles][-len(tested) :], tested, strict=True)]
    if noise is None:
        notes += noise_caution([c for p in listed for c in p.clusters], "the clustering")
    many = [p.n for p in listed]
    if sizes == "given" and record != "adco_cosine" and max(many) > 1.1 * min(many):
        notes.append(
            f"windows have {min(many):g} to {max(many):g} points, which alone lowers {record}; see adco_cosine, or "
            f"pass {Option('sizes', 'scaled')}"
        )
    return Drift(
        windows=tuple(profiles), profiles=tuple(listed), steps=tuple(steps), from_first=tuple(first), reference=start,
        findings=tuple(findings), alpha=alpha, threshold=threshold, measure=record, notes=tuple(notes),
    )  # fmt: skip


def reference_of(reference: str | Profile | PathLike) -> Literal["first", "previous"] | Profile:
    """What windows are tested against: a word, or a profile, which may be in a file."""
    if isinstance(reference, str | os.PathLike) and reference not in ("first", "previous"):
        if os.path.splitext(reference)[1] != ".npz":
            one_of("reference", reference, ("first", "previous"))
        return load_profile(reference)
    if not isinstance(reference, Profile | str):
        raise InputError(
            f"reference must be 'first', 'previous', a Profile or its path; got {type(reference).__name__}"
        )
    return reference  # type: ignore[return-value]


def _outside(profiles: Mapping[Label, Profile]) -> list[str]:
    """Notes on values outside the bins: one per window, or one for all if there are many windows."""
    found = {name: p for name, p in profiles.items() if p.outside.any()}
    said = []
    for name, profile in found.items():
        worst, beyond = int(np.argmax(profile.outside)), int(profile.outside.sum())
        values = "1 value is" if beyond == 1 else f"{beyond:,} values are"
        said.append((beyond, f"window {name}: {values} outside the bins, most in {profile.names[worst]}"))
    if len(said) <= MOST_NOTES:
        return [note for _, note in said]
    total = f"{sum(x for x, _ in said):,} values in {len(said):,} windows are outside the bins"
    return [f"{total}; most in {max(said)[1]}"]


def _measure_of(name: str) -> str:
    if name not in KEYS:
        raise InputError(
            f"drift is measured by {joined(KEYS, 'or')}, not {name!r}; {hint(str(name), KEYS, '')}".rstrip("; ")
        )
    return name


def _from_stream(windows: object) -> Iterable[tuple[Label, PointsLike, ClusteringLike]]:
    is_table = isinstance(windows, str) or frame_kind(windows) is not None
    if is_table or not isinstance(windows, Iterable) or getattr(windows, "ndim", None) == 0:
        raise InputError(
            f"name the columns of a table, as in drift(table, {Option('labels', 'cluster')}, {Option('window', 'day')})"
        )
    named: bool | None = None
    parts: Iterable[object] = windows
    if isinstance(windows, Mapping):
        parts = ((name, *part) if isinstance(part, tuple | list) else part for name, part in windows.items())
    for item in parts:
        if not isinstance(item, tuple | list) or len(item) not in (2, 3):
            raise InputError(
                "a stream must yield (X, labels) or (name, X, labels); for a table name its columns: "
                f"{Option('labels', 'cluster')}, {Option('window', 'day')}"
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
    """The windows of a table one by one, and their number."""
    if labels is None or window is None:
        raise InputError(f"a table needs both names: {Option('labels', 'cluster')} and {Option('window', 'day')}")
    for option, name in (("labels", labels), ("window", window)):
        if not isinstance(name, Hashable):
            raise InputError(
                f"{option} must be the name of a column of the table, not an object of type {type(name).__name__}; put it "
                "into the table, or pass a stream of (name, X, labels)"
            )
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
    what = _per_row(columns[labels], f"column {labels!r}")
    if (gaps := int((when == len(order)).sum())) > 0:
        raise InputError(f"{gaps} rows have no window (column {window!r}); drop them first")
    data = as_columns({name: columns[name] for name in chosen}, binning.nominal_names)

    def parts() -> Iterable[tuple[Label, Columns, Labels]]:
        ends = np.cumsum(np.bincount(when, minlength=len(order)))
        for name, rows in zip(order, np.split(np.argsort(when, kind="stable"), ends[:-1]), strict=True):
            yield name, data.taken(rows), what.taken(rows)

    return parts(), len(order)


def _per_row(column: ColumnLike, who: str) -> Labels:
    found = as_disjoint(column, who)
    if not isinstance(found, Labels):
        raise InputError("labels and windows must have one value per row")
    return found


def _in_order(column: ColumnLike, who: str) -> tuple[list[Label], Array]:
    """The windows in a column, and the index of the window of each row; one past the last if it has none.

    Numbers and dates ascend, ordered categories keep their order, and text is sorted alphabetically, with the numbers
    in it by value: week 9, week 10.
    """
    found = _times(column, who)
    if found is None:
        labels = _per_row(column, who)
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
