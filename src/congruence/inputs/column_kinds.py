"""Classify the columns of a table as ids, labels, measurements or reference, by the same rule for all files and frames."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from congruence.errors import Call, InputError, With, some_of, unused_name
from congruence.inputs.column_names import (
    DESCRIBE,
    LABEL_NAMES,
    MEASURED_NAMES,
    PICTURE_NAMES,
    Annotations,
    describing_columns,
    kind_by_name,
    names_rows,
    other_references,
    reference_among,
    says_id,
)
from congruence.inputs.encoding import arrow_texts, plain_arrow
from congruence.inputs.memberships import Memberships
from congruence.typing import ColumnLike, Frame, Label

if TYPE_CHECKING:
    import pyarrow as pa

Kind = Literal["id", "labels", "memberships", "measurements", "dates"]

#: smallest number of rows for which distinct whole numbers are row ids; with fewer rows, every point may be its own cluster
MANY_ROWS = 10
#: share of distinct values above which a column is "nearly all different"
NEARLY = 0.95
#: most distinct whole numbers 0, 1, 2, … that are class codes in a table of measurements
FEW_CODES = 10
#: rows checked before the whole column
LOOK = 4096


@dataclass(frozen=True)
class ColumnKind:
    """The kind of a column, and the reason."""

    kind: Kind
    why: str
    #: repeated ids, if the column is named like an id
    repeated: tuple[str, ...] = ()
    #: whole numbers that look like codes of clusters: 0, 1, 2, … without gaps; or texts that are whole numbers
    is_codes: bool = False
    is_number: bool = False
    is_float: bool = False
    distinct: int = 0
    is_fractional: bool = False
    #: whether its name alone makes it measurements
    is_named: bool = False
    #: whether it divides points in two by true and false, or not at all
    is_flag: bool = False


def kind_of_column(name: str, column: ColumnLike) -> ColumnKind:
    """The kind of a column, by its name and its values, and the reason; memberships and matrices are recognised as such.

    >>> import pyarrow as pa
    >>> node, genes = pa.chunked_array([list(range(115))]), pa.chunked_array([[x * x % 97 + 200 for x in range(115)]])
    >>> kind_of_column("node", node).kind, kind_of_column("genes", genes).kind
    ('id', 'measurements')
    >>> kind_of_column("k", pa.chunked_array([[0, 1] * 50])).kind, kind_of_column("x", pa.array([0.1, 0.25, 0.5, 3.5, 7])).kind
    ('labels', 'measurements')
    """
    import pyarrow as pa

    if len(column) > 2 * LOOK:  # a few rows show that most label columns repeat values
        few = kind_of_column(name, _every(column, -(-len(column) // LOOK)))
        if few.kind in ("labels", "dates", "memberships"):
            return few
    values = arrow_column(column)
    if values is None:
        return ColumnKind("memberships", "a matrix of memberships or similarities")
    type_ = values.type.value_type if pa.types.is_dictionary(values.type) else values.type
    if pa.types.is_temporal(type_):
        return ColumnKind("dates", "dates or times")
    solid = values.drop_null() if values.null_count else values
    if pa.types.is_boolean(type_) or len(solid) < 2:
        why = "true or false" if len(solid) > 1 else "too few values to tell"
        return ColumnKind("labels", why, is_number=pa.types.is_boolean(type_), is_flag=len(solid) > 1)
    if pa.types.is_integer(type_) or pa.types.is_floating(type_):
        return _kind_of_numbers(name, solid.cast(type_), pa.types.is_floating(type_))
    return _kind_of_words(name, solid)


def _kind_of_words(name: str, solid: ColumnLike) -> ColumnKind:
    import pyarrow as pa
    import pyarrow.compute as pc

    n = len(solid)
    try:
        distinct = pc.count_distinct(
            solid.cast(solid.type.value_type) if pa.types.is_dictionary(solid.type) else solid
        ).as_py()
    except pa.ArrowNotImplementedError:  # lists and structures: refused later, with a reason
        return ColumnKind("labels", "lists or structures")
    if distinct == n:
        return ColumnKind("id", "texts that are all different")
    if says_id(name) or (names_rows(name) and distinct > max(n / 2, 3)):
        return ColumnKind("id", "its name says so", _repeated(solid))
    if distinct > NEARLY * n and n >= MANY_ROWS:
        return ColumnKind("id", f"texts that are nearly all different ({distinct:,} of {n:,})")
    numbers = all(str(x).isdecimal() for x in solid.unique().to_pylist()) if distinct <= LOOK else False
    return ColumnKind("labels", f"{distinct:,} different texts", is_codes=numbers, is_flag=distinct == 1)


def _kind_of_numbers(name: str, solid: ColumnLike, is_float: bool) -> ColumnKind:
    import pyarrow.compute as pc

    n, distinct = len(solid), pc.count_distinct(solid).as_py()
    fractional = is_float and not pc.all(pc.equal(pc.round(solid), solid)).as_py()
    values = "fractional values" if fractional else "whole numbers"
    many = f"{distinct:,} different {values}"
    if MEASURED_NAMES.fullmatch(name) and distinct > 3 and (fractional or pc.max(solid).as_py() > n):
        return ColumnKind(
            "measurements", f"its name says so; {many}", is_number=True, is_fractional=fractional, is_named=True
        )
    if fractional:
        kind: Kind = "measurements" if distinct > min(10, 2 * math.sqrt(n)) or distinct == n else "labels"
        return ColumnKind(kind, many, is_number=True, is_float=True, is_fractional=True, is_flag=distinct == 1)
    if says_id(name) or (names_rows(name) and distinct > max(n / 2, 3 if distinct < n else 1)):
        why = "its name says so, and its values are all different" if distinct == n else "its name says so"
        return ColumnKind("id", why, _repeated(solid) if distinct < n else (), is_number=True)
    low, high = (x if math.isinf(x) else int(x) for x in pc.min_max(solid).as_py().values())
    codes = low in (-1, 0, 1) and 0.8 * (high - low + 1) <= distinct <= n / 2
    if n >= MANY_ROWS and distinct > NEARLY * n:
        nearly = "all different" if distinct == n else f"nearly all different ({distinct:,} of {n:,})"
        return ColumnKind("id", f"whole numbers that are {nearly}", is_number=True)
    if distinct > max(2 * math.sqrt(n), 10) and not codes and not LABEL_NAMES.fullmatch(name):
        return ColumnKind("measurements", f"{many} from {low:,} to {high:,}", is_number=True)
    return ColumnKind(
        "labels", many, is_codes=codes, is_number=True, is_float=is_float, distinct=distinct, is_flag=distinct == 1
    )


def _repeated(values: ColumnLike) -> tuple[str, ...]:
    """The repeated values as text, in order of first occurrence."""
    import pyarrow as pa
    import pyarrow.compute as pc

    values = values.cast(values.type.value_type) if pa.types.is_dictionary(values.type) else values
    try:
        counts = pc.value_counts(values)
    except pa.ArrowNotImplementedError:  # lists and structures
        counts = pc.value_counts(arrow_texts(values.to_pylist()))
    return tuple(str(x) for x in counts.filter(pc.greater(counts.field(1), 1)).field(0).to_pylist())


def _every(column: ColumnLike, step: int) -> ColumnLike:
    """Every n-th value of a column of any library."""
    import numpy as np

    if hasattr(column, "gather_every"):
        return column.gather_every(step)
    if hasattr(column, "iloc"):
        return column.iloc[::step]
    if isinstance(column, np.ndarray):
        return column[::step]
    return column.take(np.arange(0, len(column), step)) if hasattr(column, "to_pylist") else column


def arrow_column(column: ColumnLike) -> pa.Array | pa.ChunkedArray | None:
    """A column of any library as arrow; None if it is not a plain column."""
    import numpy as np
    import pyarrow as pa

    if isinstance(column, pa.Array | pa.ChunkedArray):
        return plain_arrow(column)
    try:
        if hasattr(column, "to_arrow"):
            return plain_arrow(column.to_arrow())
        if isinstance(column, np.ndarray):
            return plain_arrow(pa.array(column, from_pandas=True)) if column.ndim == 1 else None
        return pa.Array.from_pandas(column) if hasattr(column, "iloc") and column.ndim == 1 else None
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError, UnicodeError):
        return arrow_texts(column) if getattr(column, "ndim", 1) == 1 else None


# --- a table ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Sorting:
    """The columns of a table by kind; `line` is a one-line summary, `reasons` explains it."""

    #: the columns to use: label columns, or numbers to cluster
    taken: dict[str, ColumnLike]
    #: "labels" or "data"
    purpose: str
    ids: dict[str, ColumnLike] = field(default_factory=dict)
    reference: str | None = None
    #: columns left out, and what they are
    left_out: dict[str, str] = field(default_factory=dict)
    why: dict[str, str] = field(default_factory=dict)
    kinds: Mapping[str, ColumnKind] = field(default_factory=dict)
    #: further columns by their role, as weight
    beside: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def line(self) -> str:
        """How the columns are used, in one line."""
        soft = [name for name, x in self.taken.items() if isinstance(x, Memberships) and name != self.reference]
        hard = [name for name in self.taken if name != self.reference and name not in soft]
        parts = [f"{self.purpose}: {some_of(hard, 12)}"] if hard else []
        parts += [f"memberships: {some_of(soft, 12)}"] if soft else []
        parts += [f"reference: {self.reference}"] if self.reference is not None else []
        parts += [f"{role}: {some_of(names)}" for role, names in self.beside.items()]
        parts += [f"id: {', '.join(self.ids)}"] if self.ids else []
        words: dict[str, list[str]] = {}
        for name, word in self.left_out.items():
            words.setdefault(word, []).append(name)
        out = ", ".join(f"{some_of(names)} ({word})" for word, names in words.items())
        return " · ".join([*parts, *([f"left out: {out}"] if out else [])])

    @property
    def reasons(self) -> list[str]:
        """The reason for each column, one line per column."""
        return [f"{name}: {why}" for name, why in self.why.items()]

    @property
    def is_plain(self) -> bool:
        """Whether every column is used, so that no note is needed."""
        return not self.ids and not self.left_out and self.reference is None


def with_memberships(columns: Mapping[str, ColumnLike]) -> dict[str, ColumnLike]:
    """Columns NAME:CLUSTER of fractions that add up to 1 over the clusters become memberships called NAME.

    If all other columns of fractions add up to 1, they become memberships called "memberships".

    >>> import numpy as np
    >>> found = with_memberships({"run:a": np.array([0.9, 0.2]), "run:b": np.array([0.1, 0.8]), "x": np.array([0, 1])})
    >>> found["run"].k, list(found)
    (2, ['run', 'x'])
    >>> list(with_memberships({"cell": np.array(["a", "b"]), "p": np.array([0.9, 0.2]), "q": np.array([0.1, 0.8])}))
    ['cell', 'memberships']
    """
    import numpy as np

    groups: dict[str, list[str]] = {}
    for name in columns:
        group, colon, cluster = name.rpartition(":")
        if colon and group and cluster and group not in columns:
            groups.setdefault(group, []).append(name)
    made: dict[str, Memberships] = {}
    for group, names in groups.items():
        values = [np.asarray(columns[name]) for name in names]
        if (
            len(names) < 2
            or not all(v.dtype.kind in "fiu" for v in values)
            or not any(v.dtype.kind == "f" for v in values)
        ):
            continue
        matrix = np.column_stack(values).astype(np.float64)
        if (matrix >= 0).all() and (matrix <= 1 + 1e-6).all() and (np.abs(matrix.sum(axis=1) - 1) < 0.05).all():
            made[group] = Memberships(matrix, [name.rpartition(":")[2] for name in names], who=group)
    grouped = {name: group for group, names in groups.items() if group in made for name in names}
    loose = [name for name, column in columns.items() if name not in grouped and _is_float(column)]
    if len(loose) > 1:
        matrix = np.column_stack([np.asarray(columns[name], dtype=np.float64) for name in loose])
        if (matrix >= 0).all() and (np.abs(matrix.sum(axis=1) - 1) < 1e-3).all() and (matrix % 1 > 0).any():
            title = unused_name("memberships", columns)
            made[title] = Memberships(matrix, loose, who=title)
            grouped |= dict.fromkeys(loose, title)
    whole: dict[str, ColumnLike] = {}
    for name, column in columns.items():
        whole[grouped.get(name, name)] = made.get(grouped.get(name, ""), column)
    return whole


def _is_float(column: ColumnLike) -> bool:
    """Whether a column of any library has the type of floats."""
    kind = str(getattr(column, "type", getattr(column, "dtype", ""))).lower()
    return kind.startswith(("float", "double")) and getattr(column, "ndim", 1) == 1


def sorted_columns(
    columns: Mapping[str, ColumnLike],
    *,
    id: str | None = None,
    reference: str | None = None,
    apart: Sequence[str | None] = (),
    is_data: bool = False,
    find_reference: bool = False,
    source: str = "the table",
) -> Sorting:
    """The label columns of a table, or with `is_data` its numbers to cluster, and the kinds of the other columns.

    `id` names the rows, by default as names and values say; `apart` are columns with another role, such as weights. With
    `find_reference`, a column called truth or class is the reference, unless `reference` is "none". Repeated ids are an error.

    >>> import numpy as np
    >>> table = {"cell": np.array(list("abcdef")), "kmeans": np.array([0, 0, 1, 1, 2, 2]), "pct_mito": np.linspace(0, 0.1, 6)}
    >>> sorted_columns(table).line
    'labels: kmeans · id: cell · left out: pct_mito (measurements)'
    """
    said = reference if reference not in (None, "none") else None
    rest = {name: column for name, column in columns.items() if name not in (id, *apart)}
    rest = rest if is_data else with_memberships(rest)
    kinds = {name: kind_of_column(name, column) for name, column in rest.items()}
    ids = {id: columns[id]} if id is not None else {}
    if id is not None:
        check_distinct(columns[id], id, source)
    taken: dict[str, ColumnLike] = {}
    left_out: dict[str, str] = {}
    describing = describing_columns(kinds, said) if isinstance(columns, Annotations) and not is_data else {}
    measured = any(k.kind == "measurements" and k.is_number for k in kinds.values())
    for name, found in kinds.items():
        word = _not_data(name, rest[name], found, measured) if is_data else _not_labels(found)
        word = DESCRIBE if name in describing and word == "" else word
        if name == said or len(rest) == 1:
            word = "" if not is_data or len(rest) == 1 else "reference"
        if word == "":
            taken[name] = rest[name]
        elif word == "id" and not ids:
            check_repeated(name, found, source)
            ids[name] = rest[name]
        elif word != "reference":
            left_out[name] = "ids" if word == "id" else word
    if find_reference and reference is None and not is_data and len(taken) > 2:
        said = reference_among(taken)
        for name in other_references(taken, said):
            left_out[name] = "another reference"
            del taken[name]
    if not taken and columns:
        raise none_taken(source, ids, left_out, is_data)
    why = {name: describing.get(name, f"{found.kind}, {found.why}") for name, found in kinds.items()}
    return Sorting(taken, "data" if is_data else "labels", ids, said, left_out, why, kinds)


def none_taken(
    source: str, ids: Mapping[str, ColumnLike], left_out: Mapping[str, str], is_data: bool = False
) -> InputError:
    """The error for a table whose columns are all left out."""
    what = "numbers to cluster" if is_data else "labels"
    listed = ", ".join(f"{name} ({word})" for name, word in [*((x, "id") for x in ids), *left_out.items()][:6])
    return InputError(
        f"no column of {source} looks like {what}: {listed}; name the columns to use"
        f"{With('data_columns' if is_data else 'columns')}"
    )


def named_sorting(
    columns: Mapping[str, ColumnLike],
    taken: Mapping[str, ColumnLike],
    *,
    id: str | None = None,
    reference: str | None = None,
    apart: Sequence[str | None] = (),
    is_data: bool = False,
) -> Sorting:
    """The columns that were named; the first other column of distinct ids names the rows, and the rest are left out.

    >>> import numpy as np
    >>> table = {"cell": np.array(list("abcdef")), "kmeans": np.array([0, 0, 1, 1, 2, 2]), "age": np.arange(6)}
    >>> named_sorting(table, {"kmeans": table["kmeans"]}).line
    'labels: kmeans · id: cell · left out: age (not named)'
    """
    others = {name: column for name, column in columns.items() if name not in {*taken, id, *apart}}
    kinds = {name: kind_of_column(name, column) for name, column in others.items()}
    own = [id] if id is not None else [name for name, x in kinds.items() if x.kind == "id" and not x.repeated][:1]
    left_out = {name: "not named" for name in others if name not in own}
    why = dict.fromkeys((*taken, *([id] if id is not None else [])), "named")
    why |= {name: f"{found.kind}, {found.why}" for name, found in kinds.items()}
    ids = {name: columns[name] for name in own}
    return Sorting(dict(taken), "data" if is_data else "labels", ids, reference, left_out, why)


def feature_columns(columns: Mapping[str, ColumnLike], source: str = "the table") -> Sorting:
    """Columns that describe the points, numeric or text; without ids, dates and columns named like labels."""
    kinds = {name: kind_of_column(name, column) for name, column in columns.items()}
    left_out, ids = {}, {}
    for name, found in kinds.items():
        word = _not_data(name, columns[name], found, measured=False)
        if word == "id":
            ids[name] = columns[name]
        elif word == "dates" or (word == "labels" and (reference_among([name]) or LABEL_NAMES.fullmatch(name))):
            left_out[name] = word
    kept = {name: column for name, column in columns.items() if name not in left_out and name not in ids}
    if not kept:
        raise InputError(f"no column of {source} is a feature; name some{With('features')}")
    return Sorting(kept, "features", ids, None, left_out, {name: f"{x.kind}, {x.why}" for name, x in kinds.items()})


def check_features(frame: Frame, apart: Collection[Label] = (), takes_text: bool = True) -> None:
    """Refuse columns of a frame that are ids, or named like labels: they would be clustered as measurements.

    Floats are always measurements, and columns in a mapping are chosen by name. Columns `apart` are not checked.

    >>> import pandas as pd
    >>> check_features(pd.DataFrame({"x": [0.1, 0.2], "customer_no": [7, 9]}))
    Traceback (most recent call last):
    congruence.errors.InputError: column 'customer_no' holds ids, by its name, not measurements; leave it out, or convert it \
    to floats to cluster by it
    """
    import narwhals as nw

    if len(getattr(frame, "shape", ())) != 2 or not hasattr(frame, "columns"):
        return
    for name, type in nw.from_native(frame, eager_only=True).schema.items():
        whole, number = type.is_integer(), type.is_numeric() or type.is_temporal() or type == nw.Boolean
        if str(name) in apart or (number and not whole):
            continue
        kind, why = kind_by_name(str(name)), "by its name"
        words = ", or rename it to use it as an attribute" if takes_text else ""
        if kind is None and not whole and len(frame) >= MANY_ROWS:
            found = kind_of_column(str(name), frame[name])
            if found.kind == "id" and not found.is_number:
                kind, why, words = "ids", found.why, ""
        if kind is not None:
            instead = ", or convert it to floats to cluster by it" if whole else words
            raise InputError(f"column {name!r} holds {kind}, {why}, not measurements; leave it out{instead}")


def id_columns(columns: Mapping[str, ColumnLike]) -> dict[str, ColumnLike]:
    """The columns of a table that name its rows without repeats."""
    if len(columns) < 2:
        return {}
    kinds = {name: kind_of_column(name, column) for name, column in columns.items()}
    return {name: columns[name] for name, found in kinds.items() if found.kind == "id" and not found.repeated}


def first_ids(columns: Mapping[str, ColumnLike]) -> dict[str, ColumnLike]:
    """The first column that names the rows of a table of numbers: by its name, or as text."""
    for name, column in columns.items():
        if _not_data(name, column, kind_of_column(name, column), measured=False) == "id":
            return {name: column}
    return {}


def _not_labels(found: ColumnKind) -> str:
    """The kind of a column that is not a clustering, else ""."""
    return "" if found.kind in ("labels", "memberships") else found.kind


#: why coordinates of UMAP or t-SNE are left out
PICTURE = "coordinates of a picture"


def _not_data(name: str, column: ColumnLike, found: ColumnKind, measured: bool) -> str:
    """The kind of a column that is not a feature (id, label, text, or class codes), else ""."""
    import pyarrow.compute as pc

    if not found.is_number:
        return {"id": "id", "dates": "dates", "memberships": ""}.get(found.kind, "labels")
    if found.kind == "id" and not names_rows(name):
        ends = pc.min_max(arrow_column(column)).as_py()
        counting = ends["max"] - ends["min"] == len(column) - 1  # 0, 1, 2, …: row numbers
        return "id" if counting else ""
    if found.kind == "id":
        return "id"
    if PICTURE_NAMES.fullmatch(name):
        return PICTURE
    if not found.is_fractional and (reference_among([name]) or LABEL_NAMES.fullmatch(name)):
        return "labels"
    few = found.is_codes and found.distinct <= FEW_CODES
    return "labels" if few and measured and not MEASURED_NAMES.fullmatch(name) else ""


def check_distinct(column: ColumnLike, name: str, source: str) -> None:
    """Refuse an id column with repeated ids."""
    values = arrow_column(column)
    if values is not None:
        check_repeated(name, ColumnKind("id", "", _repeated(values.drop_null())), source)


def check_repeated(name: str, found: ColumnKind, source: str) -> None:
    """Refuse ids that occur more than once, by name."""
    if not found.repeated:
        return
    many, twice = len(found.repeated), some_of([repr(x) for x in found.repeated], 3)
    occur = "id in column {0!r} occurs" if many == 1 else "ids in column {0!r} occur"
    said = f"{source}: {many} {occur.format(name)} more than once ({twice})"
    raise InputError(
        f"{said}; keep one row per id, name the label columns{With('columns')}, or pass a long table through "
        f"{Call('cg.from_long', '--long')}"
    )
