"""Steps of a history: clusterings of points that come and go, with rows joined by their ids."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from congruence.errors import InputError, Option, check_different, names_in
from congruence.inputs.alignment import check_rule, noise_for
from congruence.inputs.coerce import as_clustering
from congruence.inputs.column_kinds import arrow_column, check_distinct, kind_of_column
from congruence.inputs.column_names import listed_names, names_rows
from congruence.inputs.cover import Cover
from congruence.inputs.frames import matrix_of
from congruence.inputs.kinds import Unassigned
from congruence.inputs.labels import Labels, frame_kind, in_memory, is_frame, is_sparse, names_of_columns
from congruence.inputs.memberships import Memberships
from congruence.statistics.names import plain_names
from congruence.statistics.tables import Array
from congruence.typing import (
    ClusteringLike,
    ColumnLike,
    EnsembleLike,
    Frame,
    Label,
    NoiseLike,
    PointsLike,
    SparseMatrix,
)

Kind = Literal["labels", "memberships", "cover"]


class Step:
    """One clustering of a history: its clusters, and what they have in common with those of other steps.

    Attributes:
        name: The name of the step.
        clusters: The names of its clusters, as given.
        members: Points × clusters: 0 and 1 (sparse) for labels and covers, else the memberships.
        kind: What was given.
    """

    name: str
    clusters: tuple[Label, ...]
    members: SparseMatrix
    kind: Kind

    @property
    def is_soft(self) -> bool:
        """Whether points belong to clusters in part."""
        return self.kind == "memberships"

    @cached_property
    def present(self) -> Array:
        """Whether each point is in some cluster of this step."""
        return np.asarray(self.members.sum(axis=1)).ravel() > 0

    @cached_property
    def sizes(self) -> Array:
        """The number of points of each cluster, or the sum of their memberships."""
        return np.asarray(self.members.sum(axis=0)).ravel()

    @cached_property
    def codes(self) -> Array:
        """The cluster of each point, the one with the largest membership; −1 if it is absent."""
        if self.is_soft:
            return np.where(self.present, np.asarray(self.members.argmax(axis=1)).ravel(), -1)
        first = np.full(self.members.shape[0], -1, dtype=np.int64)
        counts = np.diff(self.members.indptr)
        first[counts > 0] = self.members.indices[self.members.indptr[:-1][counts > 0]]
        return first

    @property
    def n_present(self) -> int:
        """How many points are in some cluster of this step."""
        return int(self.present.sum())

    def shared(
        self, other: Step, mine: Sequence[int] | None = None, theirs: Sequence[int] | None = None
    ) -> SparseMatrix:
        """The points that clusters of both steps share, own clusters × those of the other; all of them, or those given."""
        from scipy.sparse import coo_array

        a = self.members if mine is None else self.members[:, mine]
        b = other.members if theirs is None else other.members[:, theirs]
        return coo_array(a.T @ b)

    def also_in(self, other: Step) -> tuple[int, Array]:
        """How many points are present in both steps, and how many of each own cluster these are."""
        both = self.present & other.present
        return int(both.sum()), np.asarray(self.members.T @ both.astype(np.int64)).ravel()

    def cells_with(self, other: Step) -> tuple[Array, Array, Array]:
        """The cluster of points in both steps, here and there, and how many points these are."""
        both = self.present & other.present
        return self.codes[both], other.codes[both], np.ones(int(both.sum()), dtype=np.int64)

    def placed(self, rows: Array, n: int) -> Step:
        """The same step among n points, of which its own are these."""
        if self.is_soft:
            members = np.zeros((n, self.members.shape[1]))
            members[rows] = self.members
        else:
            found = self.members.tocoo()
            members = incidence(rows[found.row], found.col, (n, self.members.shape[1]))
        return HeldStep(self.name, self.clusters, members, self.kind)


@dataclass(frozen=True, eq=False)
class HeldStep(Step):
    """A step whose points are in memory."""

    name: str
    clusters: tuple[Label, ...]
    members: SparseMatrix
    kind: Kind


@dataclass(frozen=True, eq=False)
class History:
    """Steps whose rows are the same points, and what names these points.

    Attributes:
        steps: The steps, in order.
        ids: What names the points, or None for rows without names.
        id_name: The name of the column or index of ids, or None.
        frame_kind: The library of the frames given, or None.
        own_points: Whether every step has its own points.
    """

    steps: tuple[Step, ...]
    ids: tuple[Label, ...] | None = None
    id_name: str | None = None
    frame_kind: str | None = None
    own_points: bool = False

    def __len__(self) -> int:
        return len(self.steps)


def incidence(point: Array, cluster: Array, shape: tuple[int, int]) -> SparseMatrix:
    """A points × clusters matrix of 0 and 1."""
    from scipy.sparse import csr_array

    found = csr_array((np.ones(len(point), dtype=np.int64), (point, cluster)), shape=shape)
    found.sum_duplicates()
    return found


def history_of(
    steps: EnsembleLike,
    *,
    unassigned: Unassigned = "drop",
    noise: NoiseLike = None,
    names: Sequence[str] | None = None,
    own_points: bool = False,
    first_number: int = 0,
) -> History:
    """The steps of a history, checked, with rows joined by ids unless every step has its `own_points`.

    `steps` is a frame or 2-D array with one label column per step, or a list or mapping of label vectors, memberships, frames
    with a column of ids, or covers. Steps without names are numbered from `first_number`.

    >>> import numpy as np
    >>> found = history_of({"may": ["a", "a", None], "june": ["a", "b", "b"]})
    >>> found.steps[0].clusters, found.steps[0].present.tolist(), found.steps[1].sizes.tolist()
    (('a',), [True, True, False], [1, 2])
    """
    listed, ids, id_name, kind = _listed(in_memory(steps), first_number)
    if not listed:
        raise InputError("there are no steps (an empty collection was given)")
    called = listed_names(names) if names is not None else [name for name, _ in listed]
    if len(called) != len(listed):
        raise InputError(f"{len(called)} names for {len(listed)} steps")
    check_different(called, "steps")
    found: list[Step] = []
    own_ids: list[tuple[str | None, Sequence[Label]] | None] = []
    kinds = [kind]
    for name, (_, data) in zip(called, listed, strict=True):
        step, own, library = _step(data, name, unassigned, noise)
        found.append(step)
        own_ids.append(own)
        kinds.append(library)
    library = next((k for k in kinds if k is not None), None)
    if own_points:
        return History(tuple(found), frame_kind=library, own_points=True)
    if ids is not None or all(own is None for own in own_ids):
        return History(_same_rows(found), ids, id_name, library)
    return _joined(found, own_ids, library)


def _listed(
    steps: EnsembleLike, first_number: int
) -> tuple[list[tuple[str, ClusteringLike]], tuple[Label, ...] | None, str | None, str | None]:
    """(name, data) of each step, and the ids that all have in common with their name and library."""
    if is_frame(steps):
        return _columns_of(steps)
    if isinstance(steps, np.ndarray) and steps.ndim == 2:
        return [(str(first_number + j), steps[:, j]) for j in range(steps.shape[1])], None, None, None
    if isinstance(steps, Mapping):
        return [(str(name), data) for name, data in steps.items()], None, None, None
    if isinstance(steps, str | bytes) or not isinstance(steps, Sequence | np.ndarray):
        raise InputError(
            f"expected steps as a frame with one column per step, or a list or mapping of clusterings; got {type(steps).__name__}"
        )
    if len(steps) and not any(hasattr(x, "__len__") for x in steps):
        raise InputError(
            "expected several steps; got one list of labels: pass a list of steps, as in [monday, tuesday]"
        )
    names = [getattr(x, "name", None) for x in steps]
    named = all(isinstance(x, str) and x for x in names) and len(set(names)) == len(names)
    return (
        [(str(names[i] if named else first_number + i), x) for i, x in enumerate(steps)], None, None, None,
    )  # fmt: skip


def _columns_of(
    frame: Frame,
) -> tuple[list[tuple[str, ClusteringLike]], tuple[Label, ...] | None, str | None, str | None]:
    """The columns of a frame that are steps; a column that names the rows gives the ids."""
    kind = frame_kind(frame)
    names = names_of_columns(frame)
    check_different(map(str, names), "columns", "the steps")
    columns = {str(name): frame[name] for name in names}
    ids = _id_column(columns)
    if ids is not None:
        check_distinct(columns[ids], ids, "the frame of steps")
    listed = [(name, column) for name, column in columns.items() if name != ids]
    index = getattr(frame, "index", None)
    if ids is not None:
        return listed, tuple(_values(columns[ids])), ids, kind
    if index is not None and type(index).__name__ != "RangeIndex":
        if not index.is_unique:
            raise InputError("the index of the frame of steps has repeated values; points need one row each")
        return listed, tuple(index.tolist()), None if index.name is None else str(index.name), kind
    return listed, None, None, kind


def _id_column(columns: Mapping[str, ColumnLike]) -> str | None:
    """The column that names the rows, if there is one: by its name, or the first if its texts are all different."""
    named = [name for name in columns if names_rows(name)]
    if named or len(columns) < 2:
        return named[0] if named else None
    first = next(iter(columns))
    return first if kind_of_column(first, columns[first]).kind == "id" else None


def _values(column: ColumnLike) -> list[Label]:
    found = arrow_column(column)
    return list(column) if found is None else found.to_pylist()


def _step(
    data: ClusteringLike, name: str, unassigned: Unassigned, noise: NoiseLike
) -> tuple[Step, tuple[str | None, Sequence[Label]] | None, str | None]:
    """One step, its own ids with their name if it has some, and the library it came from."""
    check_rule(unassigned)
    data = in_memory(data)
    ids: tuple[str | None, Sequence[Label]] | None
    ids = None
    if is_frame(data):
        listed, found, id_name, _ = _columns_of(data)
        ids = None if found is None else (id_name, found)
        if len(listed) == 1:
            data = listed[0][1]
        elif listed:
            data = Memberships(np.column_stack([np.asarray(column) for _, column in listed]), [x for x, _ in listed])
    clustering = as_clustering(data, name)
    if isinstance(clustering, Cover):
        cover = clustering.with_policy(unassigned, noise_for(noise, (name,)), name)
        own = None if isinstance(cover.ids, range) else (None, cover.points)
        return HeldStep(name, cover.names, cover.to_sparse(), "cover"), ids or own, None
    index = clustering.index
    if ids is None and index is not None and type(index).__name__ != "RangeIndex":
        if not index.is_unique:
            raise InputError(f"the index of {name} has repeated values; points need one row each")
        ids = (None if index.name is None else str(index.name), index.tolist())
    if not isinstance(clustering, Labels):
        return HeldStep(name, tuple(clustering.names), clustering.dense(), "memberships"), ids, clustering.kind
    labels = clustering.with_policy(unassigned, noise_for(noise, (name,)), name)
    names = plain_names(labels.names)
    codes = labels.codes.astype(np.int64)
    point = np.flatnonzero(codes < labels.k)
    members = incidence(point, codes[point], (len(codes), labels.k))
    filled = np.flatnonzero(np.asarray(members.sum(axis=0)).ravel())
    return (
        HeldStep(name, tuple(names[i] for i in filled), members[:, filled], "labels"), ids, clustering.kind,
    )  # fmt: skip


def _same_rows(steps: Sequence[Step]) -> tuple[Step, ...]:
    rows = [step.members.shape[0] for step in steps]
    if len(set(rows)) > 1:
        i = next(i for i, many in enumerate(rows) if many != rows[0])
        raise InputError(
            f"steps {steps[0].name} and {steps[i].name} have {rows[0]:,} and {rows[i]:,} points and nothing names them; give "
            f"series or frames with an index or a column of ids, or pass {Option('data', ...)} if every step has its own points"
        )
    return tuple(steps)


def _joined(
    steps: Sequence[Step], own: Sequence[tuple[str | None, Sequence[Label]] | None], library: str | None
) -> History:
    """Steps on the union of their points, in order of first appearance."""
    place: dict[Label, int] = {}
    rows = []
    id_name: str | None = None
    for step, mine in zip(steps, own, strict=True):
        if mine is None:
            raise InputError(
                f"the points of step {step.name} have no ids, but those of other steps do; name them in every step"
            )
        name, ids = mine
        id_name = id_name or name
        if len(set(ids)) < len(ids):
            raise InputError(f"the ids of step {step.name} have repeated values; points need one row each")
        rows.append(np.array([place.setdefault(x, len(place)) for x in names_in(ids, "ids")], dtype=np.int64))
    placed = tuple(step.placed(where, len(place)) for step, where in zip(steps, rows, strict=True))
    return History(placed, tuple(place), id_name, library)


def points_of(data: Sequence[PointsLike] | Mapping[str, PointsLike], history: History) -> list[Array]:
    """The numbers that describe the points of each step: points × features, the same features in every step."""
    listed = list(data.values()) if isinstance(data, Mapping) else list(data)
    if len(listed) != len(history):
        raise InputError(f"data has {len(listed)} tables, but there are {len(history)} steps; give one per step")
    found: list[Array] = []
    for step, given in zip(history.steps, listed, strict=True):
        matrix, *_ = matrix_of(in_memory(given))
        try:
            x = np.asarray(matrix.toarray() if is_sparse(matrix) else matrix, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError(f"data of step {step.name}: expected numbers, points × features") from None
        x = x[:, None] if x.ndim == 1 else x
        rows = step.members.shape[0]
        if x.ndim != 2 or len(x) != rows:
            raise InputError(f"data of step {step.name} have {len(x):,} rows, but the step has {rows:,} points")
        if not np.isfinite(x).all():
            raise InputError(
                f"data of step {step.name} have missing or infinite values; fill them or drop those points"
            )
        if found and x.shape[1] != found[0].shape[1]:
            raise InputError(
                f"data of step {step.name} have {x.shape[1]} features, and those of the first {found[0].shape[1]}"
            )
        found.append(x)
    return found
