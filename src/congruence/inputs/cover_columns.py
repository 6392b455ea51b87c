"""Columns of lists: each row lists the clusters of a point, so the column is a cover."""

from __future__ import annotations

import numpy as np

from congruence.errors import InputError
from congruence.inputs.cover import Cover, signatures
from congruence.inputs.cover_reading import Members, plain
from congruence.inputs.encoding import arrow_library, encode_arrow, refuse_type
from congruence.statistics.covers import ClusterMap
from congruence.statistics.names import plain_names, ranked
from congruence.statistics.tables import Array
from congruence.typing import ColumnLike, Dynamic, Index, Label


def sets_of_rows(column: ColumnLike, who: str) -> tuple[Array, ClusterMap]:
    """Codes of the sets of clusters in an arrow column of lists, and the clusters of each; a missing list is empty."""
    pa = arrow_library()
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    lengths = column.value_lengths().fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    values = column.flatten()
    refuse_type(values.type)
    codes, names = np.empty(0, np.int64), []
    if len(values):
        raw, found, missing = encode_arrow(values)
        codes, names = raw.astype(np.int64), plain_names(found)
        if missing:
            raise InputError(f"{who}: a list of clusters holds a missing value; leave it out of the list")
        names = [_whole(x, who) for x in names]
    k = max(len(names), 1)
    pairs = np.unique(np.repeat(np.arange(len(column)), lengths) * np.int64(k) + codes)
    return signatures(pairs // k, pairs % k, len(column), tuple(names))


def _whole(name: Label, who: str) -> Label:
    if isinstance(name, float):
        if not name.is_integer():
            raise InputError(
                f"{who}: a list of clusters holds {name:.6g}; expected names of clusters (memberships are a 2-D float array)"
            )
        return int(name)
    return name


def map_of_sets(sets: tuple[tuple[Label, ...], ...]) -> ClusterMap:
    """The map of these sets of clusters, clusters ordered by name."""
    names, _ = ranked(list(dict.fromkeys(name for one in sets for name in one)))
    place = {name: i for i, name in enumerate(names)}
    starts = np.concatenate([[0], np.cumsum([len(one) for one in sets], dtype=np.int64)])
    members = np.array([place[name] for one in sets for name in one], dtype=np.int64)
    return ClusterMap(starts, members, tuple(names))


def cover_of_rows(column: ColumnLike, who: str, index: Index = None) -> Cover:
    """The cover in an arrow column of lists: row i is the clusters of point i, or of the point that the index names."""
    codes, clusters = sets_of_rows(column, who)
    starts, members = clusters.rows(codes.astype(np.int64))
    point = np.repeat(np.arange(len(codes)), np.diff(starts))
    ids = range(len(codes)) if index is None else plain(index)
    members_of_rows: Dynamic = Members(ids, point, members, clusters.names, len(codes))
    return Cover(members_of_rows, who=who)
