"""Reading covers: lists of clusters, 0/1 matrices, mappings, long tables and labels, as memberships point by cluster."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeGuard

import numpy as np

from congruence.errors import Call, InputError
from congruence.inputs.coerce import as_clustering
from congruence.inputs.labels import Labels, frame_kind, is_frame, names_of_columns
from congruence.inputs.memberships import Memberships
from congruence.statistics.names import plain_names, ranked
from congruence.statistics.tables import Array, ClusterNames
from congruence.typing import Frame, Label, MatrixLike

Keys = Literal["clusters", "points"]
#: names of the columns of a long table
POINT_NAMES = ("point", "id", "node", "item", "gene", "protein", "element", "user")
CLUSTER_NAMES = ("cluster", "community", "group", "module", "label", "complex")


@dataclass
class Members:
    """Memberships as codes of points and clusters; `total` if the input gives the number of points."""

    ids: Sequence[Label]
    point: Array
    cluster: Array
    names: ClusterNames
    total: int | None = None


def memberships_of(data: object, keys: Keys, who: str) -> Members:
    """Memberships from anything that is a cover."""
    if isinstance(data, Members):
        return data
    if hasattr(data, "tocsr") and hasattr(data, "nnz") and hasattr(data, "shape"):
        return _of_matrix(data, range(data.shape[0]), range(data.shape[1]), who)
    if isinstance(data, Mapping):
        return _of_mapping(data, keys, who)
    if is_frame(data):
        return _of_frame(data, who)
    if isinstance(data, Labels) or frame_kind(data) is not None or (isinstance(data, np.ndarray) and data.ndim == 1):
        return _of_labels(data, who)
    if isinstance(data, np.ndarray):
        if data.ndim != 2:
            raise InputError(f"{who}: a cover as an array is 2-D, points × clusters, not {data.ndim}-D")
        return _of_matrix(data, range(data.shape[0]), range(data.shape[1]), who)
    if isinstance(data, Memberships):
        raise InputError(f"{who}: memberships become a cover by a threshold, as in {Call('cg.Cover(u >= 0.3)')}")
    if isinstance(data, str | bytes) or not isinstance(data, Iterable):
        raise InputError(
            f"{who}: expected a list of clusters, a 0/1 matrix, a mapping or a long table, got {type(data).__name__}"
            + (f"; {Call('cg.read_cover')} reads files" if isinstance(data, str) else "")
        )
    listed = list(data)
    if listed and not any(_is_group(x) for x in listed):
        return _of_labels(listed, who)
    for i, cluster in enumerate(listed):
        if not _is_group(cluster):
            raise InputError(f"{who}: cluster {i} is {cluster!r}; each cluster is a list of points")
    return _of_groups(listed, range(len(listed)), who)


def _is_group(x: object) -> TypeGuard[Iterable[Label]]:
    return isinstance(x, Iterable) and not isinstance(x, str | bytes)


def plain(values: Iterable[Label]) -> list[Label]:
    """The values as Python objects."""
    if isinstance(values, np.ndarray):
        return list(values.tolist())
    if hasattr(values, "to_list"):
        return list(values.to_list())
    if hasattr(values, "to_pylist"):
        return list(values.to_pylist())
    return [x.item() if isinstance(x, np.generic) else x for x in values]


def _coded(values: list[Label], who: str, what: str) -> tuple[list[Label], Array]:
    """Different values in order, and the code of each."""
    place: dict[Label, int] = {}
    try:
        raw = np.array([place.setdefault(x, len(place)) for x in values], dtype=np.int64)
    except TypeError:
        bad = next(x for x in values if not isinstance(x, Hashable))
        raise InputError(f"{who}: {bad!r} cannot be {what}: it is not hashable") from None
    if any(x is None or x != x for x in place):
        raise InputError(f"{who}: {what} is missing (None or NaN)")
    names, rank = ranked(list(place))
    return names, rank[raw] if len(raw) else raw


def _of_groups(groups: Sequence[Iterable[Label]], names: Sequence[Label], who: str) -> Members:
    members = [plain(group) for group in groups]
    ids, point = _coded([x for group in members for x in group], who, "a point")
    cluster = np.repeat(np.arange(len(members)), [len(group) for group in members])
    return Members(ids, point, cluster, names)


def _of_mapping(data: Mapping[Label, object], keys: Keys, who: str) -> Members:
    groups = [value if _is_group(value) else [value] for value in data.values()]
    if keys == "clusters":
        return _of_groups(groups, list(data), who)
    names, cluster = _coded([x for group in groups for x in plain(group)], who, "a cluster")
    point = np.repeat(np.arange(len(groups)), [len(plain(group)) for group in groups])
    return Members(list(data), point, cluster, names, len(data))


def _of_matrix(data: MatrixLike, ids: Sequence[Label], names: Sequence[Label], who: str) -> Members:
    sparse = hasattr(data, "tocsr")
    values = data.tocsr().data if sparse else np.asarray(data)
    if values.dtype.kind not in "biuf":
        raise InputError(f"{who}: a matrix of a cover holds 0 and 1, not {values.dtype}")
    odd = ~((values == 0) | (values == 1))
    if odd.any():
        raise InputError(
            f"{who}: a matrix of a cover must hold only 0 and 1, not {values[odd].ravel()[0]:.6g}; memberships become a cover "
            f"by a threshold, as in {Call('cg.Cover(u >= 0.3)')}"
        )
    if sparse:
        entries = data.tocoo()
        there = entries.data != 0
        point, cluster = entries.row[there], entries.col[there]
    else:
        point, cluster = np.nonzero(values)
    return Members(ids, point.astype(np.int64), cluster.astype(np.int64), names, len(ids))


def long_columns(columns: Sequence[str]) -> Sequence[str] | None:
    """The columns of points and of clusters of a long table, by their names, or the only two; None for another table."""
    found = [c for known in (POINT_NAMES, CLUSTER_NAMES) for c in [x for x in columns if x.lower() in known][:1]]
    return found if len(found) == 2 else columns if len(columns) == 2 else None


def _of_frame(data: Frame, who: str) -> Members:
    given = names_of_columns(data)
    columns = [str(c) for c in given]
    if (names := long_columns(columns)) is not None:
        point, cluster = (plain(data[name]) for name in names)
        ids, at = _coded(point, who, "a point")
        clusters, of = _coded(cluster, who, "a cluster")
        return Members(ids, at, of, clusters)
    if not columns:
        raise InputError(f"{who}: a frame without columns is not a cover")
    matrix = np.column_stack([np.asarray(plain(data[c])) for c in given])
    if matrix.dtype.kind not in "biuf":
        raise InputError(
            f"{who}: a frame is a cover as a long table with columns 'point' and 'cluster', or as 0/1 columns, one per cluster"
        )
    index = getattr(data, "index", None)
    return _of_matrix(matrix, range(len(matrix)) if index is None else plain(index), columns, who)


def _of_labels(data: object, who: str) -> Members:
    labels = as_clustering(data, who)
    if not isinstance(labels, Labels):
        raise InputError(f"{who}: expected labels, one per point")
    point = np.flatnonzero(labels.codes < labels.k)
    names = plain_names(labels.names)
    ids = range(len(labels)) if labels.index is None else plain(labels.index)
    return Members(ids, point, labels.codes[point].astype(np.int64), names, len(labels))
