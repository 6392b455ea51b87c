"""Overlapping clusters: validates a `Cover` and encodes it as labels of signatures and a signature × cluster map."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Literal

import numpy as np

from congruence.errors import (
    Call,
    Caution,
    InputError,
    Option,
    check_different,
    counted,
    joined,
    names_in,
    one_of,
    whole_number,
)  # fmt: skip
from congruence.inputs.cover_reading import Keys, Members, memberships_of, plain
from congruence.inputs.effects import refuse_idle
from congruence.inputs.frames import html_table
from congruence.inputs.kinds import Clustering
from congruence.inputs.labels import Labels, frame_kind, names_of_unassigned
from congruence.inputs.memberships import Memberships
from congruence.statistics.covers import ClusterMap
from congruence.statistics.names import plain_names
from congruence.statistics.tables import Array, ClusterNames, code_type
from congruence.typing import ClusteringLike, Label, Record, SparseMatrix

Duplicates = Literal["keep", "drop"]

#: most points of a cover; each takes about 200 bytes
MOST_POINTS = 50_000_000


class Cover:
    """Overlapping clusters of points: a point may be in several clusters, or in none.

    Args:
        clusters: One of
            a list of clusters, each a list (set, array) of points;
            a points × clusters matrix of 0 and 1 (numpy, scipy.sparse, frame);
            a mapping, see `keys`;
            a long table (frame) with a column of points and one of clusters, one row per membership;
            labels, one per point (a partition; missing values are in no cluster).
        points: All points, covered or not: a list of them, or their number. Default None: the points that occur; two
            such covers are compared on all points that occur in either. A matrix, a point → clusters mapping and labels
            name their points themselves.
        duplicates: "keep" (default) counts repeated clusters separately; "drop" keeps only the first.
        keys: What the keys of a mapping are: "clusters" (cluster → its points, the default) or "points" (point → its
            clusters).
        names: Names of the clusters of a list or matrix; default 0, 1, 2, …
        who: Name used in messages; default "cover".

    Raises:
        InputError: If the points or clusters cannot be read, or a point is not among `points`.

    See also:
        `read_cover` for files; `compare`, which takes covers and labels alike.

    >>> import congruence as cg
    >>> a = cg.Cover([[0, 1, 2], [2, 3], [4, 5]], points=7)
    >>> a
    Cover: 3 clusters of 7 points, up to 2 clusters per point, 1 point in none
    >>> b = cg.Cover({"x": [0, 1, 2], "y": [2, 3, 5], "z": [4, 5]}, points=7)
    >>> round(cg.omega(a, b), 4), round(cg.onmi_max(a, b), 4)
    (0.7692, 0.818)
    """

    what = "a cover"
    matched_by = "names"

    def __init__(
        self,
        clusters: ClusteringLike,
        points: Sequence[Label] | int | None = None,
        *,
        duplicates: Duplicates = "keep",
        keys: Keys = "clusters",
        names: Sequence[Label] | None = None,
        who: str = "cover",
    ) -> None:
        one_of("duplicates", duplicates, ("keep", "drop"))
        one_of("keys", keys, ("clusters", "points"))
        self.kind = frame_kind(clusters)
        self.title: str | None = None
        self.cautions: tuple[Caution, ...] = ()
        refuse_idle(Cover, locals())
        found = memberships_of(clusters.members if isinstance(clusters, Cover) else clusters, keys, who)
        ids, self._point, self._cluster, listed = found.ids, found.point, found.cluster, list(found.names)
        if names is not None:
            names = names_in(names, "names")
            if len(names) != len(listed):
                raise InputError(f"{who}: {len(names)} names for {len(listed)} clusters")
            listed = list(names)
        check_different(listed, "clusters", who)
        #: the names of all points, or of those that occur; the number of points if it was given
        self.ids, self.total, self.is_listed = ids, found.total, found.total is not None
        if points is not None:
            self._set_points(points, who)
        self._close_up(listed, duplicates, who)

    def _set_points(self, points: Sequence[Label] | int | None, who: str) -> None:
        """Number the points as the user lists them."""
        if isinstance(points, bool) or (not isinstance(points, int | np.integer) and not isinstance(points, Iterable)):
            raise InputError(f"{who}: points must be a list of the points or their number, not {points!r}")
        if isinstance(points, int | np.integer):
            many = whole_number(points, f"{who}: points", 1, MOST_POINTS)
            numbered = all(isinstance(x, int) and 0 <= x < many for x in self.ids)
            if many < len(self.ids):
                raise InputError(
                    f"{who}: {Option('points', many)}, but {len(self.ids)} different points are in its clusters"
                )
            if not numbered:  # names, and the total number of points
                self.total = many
                return
            points = range(many)
        listed = range(len(points)) if isinstance(points, range) and points == range(len(points)) else plain(points)
        place = {x: i for i, x in enumerate(listed)}
        if len(place) < len(listed):
            raise InputError(f"{who}: the points are listed with repeated values")
        unknown = [x for x in self.ids if x not in place]
        if unknown:
            raise InputError(
                f"{who}: point {unknown[0]!r} is in a cluster, but not among the {len(listed)} points listed"
            )
        moved = np.array([place[x] for x in self.ids], dtype=np.int64)
        self._point = moved[self._point]
        self.ids, self.total, self.is_listed = listed, len(listed), True

    def _close_up(self, names: list[Label], duplicates: Duplicates, who: str) -> None:
        """Each membership once, sorted by point; empty clusters are dropped, repeated ones counted."""
        k = len(names)
        pairs = np.unique(self._point * np.int64(max(k, 1)) + self._cluster)
        self._point, self._cluster = pairs // max(k, 1), pairs % max(k, 1)
        filled = np.bincount(self._cluster, minlength=k) > 0
        if not filled.all():
            empty = [str(names[i]) for i in np.flatnonzero(~filled)[:5]]
            text = f"{{subject}}: clusters without points were dropped: {joined(empty)}"
            self.cautions += (Caution("empty_clusters", who, text),)
        keep = filled
        repeats = _repeats(self._point, self._cluster, k) & filled
        if repeats.any() and duplicates == "drop":
            keep = filled & ~repeats
        elif repeats.any():
            many = f"{int(repeats.sum())} of {int(filled.sum())} clusters"
            once = f"pass {Option('duplicates', 'drop')} to count each once"
            text = f"{{subject}}: {many} repeat another cluster and count separately; {once}"
            self.cautions += (Caution("repeated_clusters", who, text),)
        place = np.cumsum(keep) - 1
        kept = keep[self._cluster] if k else np.zeros(0, dtype=bool)
        self._point, self._cluster = self._point[kept], place[self._cluster[kept]] if k else self._cluster
        self.names: tuple[Label, ...] = tuple(names[i] for i in np.flatnonzero(keep))

    @property
    def members(self) -> Members:
        """Point and cluster of each membership."""
        return Members(self.ids, self._point, self._cluster, self.names, self.total if self.is_listed else None)

    @property
    def k(self) -> int:
        """Number of clusters."""
        return len(self.names)

    @property
    def points(self) -> Sequence[Label]:
        """The points, in order: those listed, else those that occur in a cluster."""
        return list(self.ids) if not isinstance(self.ids, range) else self.ids

    @property
    def n_points(self) -> int:
        """Number of points: as given, else of those that occur."""
        return len(self.ids) if self.total is None else self.total

    def __len__(self) -> int:
        return self.n_points

    @property
    def sizes(self) -> Array:
        """Number of points of each cluster."""
        return np.bincount(self._cluster, minlength=self.k)

    @property
    def n_unassigned(self) -> int:
        """Number of points in no cluster."""
        return self.n_points - len(np.unique(self._point))

    @property
    def clusters(self) -> dict[Label, list[Label]]:
        """The points of each cluster, by name."""
        found: dict[Label, list[Label]] = {name: [] for name in self.names}
        for point, cluster in zip(self._point.tolist(), self._cluster.tolist(), strict=True):
            found[self.names[cluster]].append(self.ids[point])
        return found

    def to_sparse(self) -> SparseMatrix:
        """The points × clusters matrix of 0 and 1 as a scipy.sparse CSR array, points in the order of `points`.

        Its numbers have 64 bits, so that products of such matrices count points.
        """
        from scipy.sparse import csr_array

        ones = np.ones(len(self._point), dtype=np.int64)
        return csr_array((ones, (self._point, self._cluster)), shape=(self.n_points, self.k))

    def _repr_html_(self) -> str:
        found = {"clusters": [self.k], "points": [self.n_points], "points in none": [self.n_unassigned]}
        return html_table(found, repr(self))

    def __repr__(self) -> str:
        most = int(np.bincount(self._point).max(initial=0))
        alone = self.n_unassigned
        text = f"Cover: {counted(self.k, 'cluster')} of {counted(self.n_points, 'point')}"
        text += f", up to {counted(most, 'cluster')} per point"
        return text + (f", {counted(alone, 'point')} in none" if alone else "")

    def with_policy(self, unassigned: str, noise: Collection[Hashable] | None, who: str) -> Cover:
        """The cover without noise clusters; points in no cluster are handled later, when all points are known.

        Args:
            unassigned: Not used here.
            noise: Names of clusters to leave out, or None.
            who: Name used in messages for the cover.

        Returns:
            A `Cover`.
        """
        if not noise:
            return self
        wanted = set(noise) | {str(x) for x in noise}
        kept = {
            name: points for name, points in self.clusters.items() if name not in wanted and str(name) not in wanted
        }
        return Cover(kept, self.ids if self.is_listed else self.total, who=who)

    def encoded(self, ids: Sequence[Label], total: int) -> CoverLabels:
        """Labels of signatures for these points in this order, followed by unnamed points up to `total`.

        Args:
            ids: The points, in order.
            total: Number of points, at least as many as `ids`.

        Returns:
            Labels in which points with the same set of clusters have the same code.
        """
        point = self._point
        if ids is not self.ids:
            ids, total = names_in(ids, "ids"), whole_number(total, "total", len(ids), MOST_POINTS)
            place = {x: i for i, x in enumerate(ids)}
            moved = np.array([place.get(x, -1) for x in self.ids], dtype=np.int64)
            point = moved[point] if len(point) else point
        kept = point >= 0
        point, cluster = point[kept], self._cluster[kept]
        order = np.lexsort((cluster, point))
        codes, clusters = signatures(point[order], cluster[order], total, self.names)
        return CoverLabels(
            None, (codes, np.arange(len(clusters.lengths))), title=self.title, kind=self.kind, cautions=self.cautions,
            clusters=clusters, points=ids if len(ids) == total else None,
        )  # fmt: skip


def signatures(point: Array, cluster: Array, n: int, names: ClusterNames) -> tuple[Array, ClusterMap]:
    """Codes of the points' sets of clusters, and their map; memberships must be sorted by point, then cluster."""
    starts = np.searchsorted(point, np.arange(n + 1))
    packed = np.ascontiguousarray(cluster, dtype=np.int32).tobytes()
    ends = (4 * starts).tolist()
    seen: dict[bytes, int] = {}
    codes = np.empty(n, dtype=np.int64)
    for i in range(n):
        codes[i] = seen.setdefault(packed[ends[i] : ends[i + 1]], len(seen))
    lengths = np.array([len(key) // 4 for key in seen], dtype=np.int64)
    members = np.frombuffer(b"".join(seen), dtype=np.int32).astype(np.int64)
    return codes.astype(code_type(len(seen))), ClusterMap(np.concatenate([[0], np.cumsum(lengths)]), members, names)


@dataclass(frozen=True, eq=False, repr=False)
class CoverLabels(Labels):
    """A cover as labels of signatures (the sets of clusters points are in), with the clusters of each signature."""

    what = "a cover"
    overlapping = True
    clusters: ClusterMap = None  # type: ignore[assignment, misc]
    #: names of the points, in order
    points: Sequence[Label] | None = None

    @cached_property
    def empty(self) -> int:
        """The code of the points in no cluster; −1 if there are none."""
        found = np.flatnonzero(self.clusters.lengths == 0)
        return int(found[0]) if len(found) else -1

    @property
    def in_none(self) -> Array:
        """Which points are in no cluster."""
        return np.asarray(self.codes == self.empty)

    def doubts(self, who: str, noise: Collection[Hashable] | None, names: ClusterNames | None = None) -> list[Caution]:
        """None: clusters are numbers or have names, which mean nothing."""
        return []

    def as_columns(self, name: str) -> Record:
        """The clusters of each point; None for points that were left out."""
        names, members = plain_names(self.clusters.names), self.clusters.clusters.tolist()
        sets = [[names[i] for i in members[first:last]] for first, last in pairwise(self.clusters.starts.tolist())]
        return {name: [sets[c] if c < len(sets) else None for c in self.codes.tolist()]}

    def taken(self, points: Array, index: Array | None = None) -> CoverLabels:
        """The same cover of these points only, in this order."""
        part = super().taken(points, index)
        named = None if self.points is None else [self.points[i] for i in points.tolist()]
        return replace(self._with_rows(part, part.names), points=named)

    def _with_rows(self, part: Labels, rows: SparseMatrix) -> CoverLabels:
        starts, members = self.clusters.rows(np.asarray(rows, dtype=np.int64))
        clusters = ClusterMap(starts, members, self.clusters.names)
        assert isinstance(part, CoverLabels)
        return replace(part, encoded=(part.codes, np.arange(len(clusters.lengths))), clusters=clusters)

    @property
    def meeting(self) -> SparseMatrix:
        """Which signatures have a cluster in common: a sparse matrix of 0 and 1."""
        rows = self.clusters.sparse(np.arange(len(self.clusters.lengths)))
        found = (rows @ rows.T).tocsr()
        found.data = np.ones(len(found.data))
        return found

    def sparse(self, points: slice | Array = slice(None)) -> SparseMatrix:
        """Rows of the points × clusters matrix; empty for points that were left out."""
        from scipy.sparse import csr_array, vstack

        codes = self.codes[points].astype(np.int64)
        rows = self.clusters.sparse(np.arange(len(self.clusters.lengths)))
        return vstack([rows, csr_array((1, self.clusters.k))]).tocsr()[codes] if self.gaps else rows[codes]

    def dense(self, points: slice = slice(None)) -> Array:
        """The same as a dense array."""
        return np.asarray(self.sparse(points).toarray())

    def together(self, rows: slice, cols: slice) -> tuple[Array, Array]:
        """Which of these points share a cluster (each does with itself), and whether both were kept."""
        shared = (self.sparse(rows) @ self.sparse(cols).T).toarray() > 0
        first, second = (np.arange(len(self.codes))[x] for x in (rows, cols))
        both = super().together(rows, cols)[1]
        return (shared | (first[:, None] == second[None, :])) & both, both

    def pairwise(self, first: Array, second: Array) -> tuple[Array, Array]:
        """The same for the first and the second point of each pair."""
        shared = np.asarray(self.sparse(first).multiply(self.sparse(second)).sum(axis=1)).ravel() > 0
        both = super().pairwise(first, second)[1]
        return (shared | (first == second)) & both, both

    def with_policy(self, unassigned: str, noise: Collection[Hashable] | None, who: str) -> CoverLabels:
        """The cover with points in no cluster kept, dropped or made into clusters, and without noise clusters."""
        cover = self._without_noise(noise)
        if unassigned in ("error", "keep", "partial") or cover.empty < 0:
            return cover
        codes, g = cover.codes.astype(np.int64), len(cover.clusters.lengths)
        alone = codes == cover.empty
        if unassigned == "drop":
            rows = np.delete(np.arange(g), cover.empty)
            place = np.full(g, g - 1)
            place[rows] = np.arange(g - 1)
            codes = place[codes].astype(code_type(g - 1))
            part = replace(cover, encoded=(codes, np.arange(g - 1)), gaps=int(alone.sum()))
            return cover._with_rows(part, rows)
        many = int(alone.sum()) if unassigned == "singletons" else 1
        codes[alone] = g + np.arange(many)
        clusters = cover.clusters.with_own(names_of_unassigned(cover.clusters.names, unassigned, many))
        whole = replace(cover, encoded=(codes.astype(code_type(g + many)), np.arange(g + many)), clusters=clusters)
        return whole.taken(np.arange(len(codes)), cover.index)

    def _without_noise(self, noise: Collection[Hashable] | None) -> CoverLabels:
        if not noise:
            return self
        wanted = set(noise) | {str(x) for x in noise}
        bad = np.array([name in wanted or str(name) in wanted for name in self.clusters.names], dtype=bool)
        if not bad.any():
            return self
        starts, members = self.clusters.rows(self.codes.astype(np.int64))
        point = np.repeat(np.arange(len(self.codes)), np.diff(starts))
        kept = ~bad[members]
        place = np.cumsum(~bad) - 1
        names = tuple(name for name, is_noise in zip(self.clusters.names, bad.tolist(), strict=True) if not is_noise)
        codes, clusters = signatures(point[kept], place[members[kept]], len(self.codes), names)
        return replace(self, encoded=(codes, np.arange(len(clusters.lengths))), clusters=clusters)


class SharedMemberships(Memberships):
    """A cover as memberships: a point in r clusters has membership 1/r in each, and none if r = 0."""

    overlapping = True

    @staticmethod
    def _check(matrix: SparseMatrix, cells: Array, sparse: bool, who: str) -> None:
        """No checks: the cover is valid, and rows may be all zero."""

    @classmethod
    def of(cls, cover: CoverLabels) -> SharedMemberships:
        """The memberships of a cover; one without clusters has one column of zeros."""
        if cover.gaps:
            raise InputError(
                f"{Option('unassigned', 'drop')} is not defined between memberships and covers; drop those points first"
            )
        rows = cover.sparse()
        rows = rows.multiply(1 / np.maximum(rows.sum(axis=1), 1.0)[:, None]).tocsr()
        made = cls(rows, cover.clusters.names)
        made.index, made.title, made.kind = cover.index, cover.title, cover.kind
        made.cautions = (*cover.cautions, *made.cautions)
        return made


def check_one_kind(members: Sequence[Clustering]) -> None:
    """Raise if covers and memberships are mixed: they have no common consensus matrix."""
    if any(c.soft for c in members) and any(c.overlapping for c in members):
        raise InputError(
            "covers and memberships have no common consensus matrix; convert the memberships to covers: "
            f"{Call('cg.Cover(u >= 0.3)')}"
        )


def as_cover_labels(labels: Labels) -> CoverLabels:
    """A partition as a cover: one cluster per signature; points without a label are in no cluster."""
    if isinstance(labels, CoverLabels):
        return labels
    k = labels.k
    starts = np.append(np.arange(k + 1), [k] * (labels.gaps > 0))
    clusters = ClusterMap(starts, np.arange(k), labels.names)
    return CoverLabels(
        None, (labels.codes, np.arange(len(starts) - 1)), index=labels.index, title=labels.title, kind=labels.kind,
        cautions=labels.cautions, clusters=clusters,
    )  # fmt: skip


def _repeats(point: Array, cluster: Array, k: int) -> Array:
    """Which clusters repeat an earlier one."""
    order = np.lexsort((point, cluster))
    packed = np.ascontiguousarray(point[order], dtype=np.int64).tobytes()
    ends = (8 * np.searchsorted(cluster[order], np.arange(k + 1))).tolist()
    seen: set[bytes] = set()
    found = np.zeros(k, dtype=bool)
    for i in range(k):
        key = packed[ends[i] : ends[i + 1]]
        found[i] = key in seen
        seen.add(key)
    return found
