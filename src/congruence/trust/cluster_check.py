"""Which clusters of a clustering are real, and which should be merged."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from congruence.chance.many_tests import corrected
from congruence.comparison.presenting import Result, verdict_text
from congruence.engine.plan import seed_sequence
from congruence.ensembles.generators import as_data
from congruence.errors import InputError, counted, real_number, some_of
from congruence.inputs.alignment import check_index
from congruence.inputs.coerce import as_disjoint
from congruence.inputs.ensemble import Ensemble
from congruence.inputs.frames import make_frame
from congruence.inputs.kinds import Clustering
from congruence.inputs.labels import frame_kind
from congruence.options import described
from congruence.selection import kmeans
from congruence.selection.points import different_scales, names_of_columns
from congruence.statistics.tables import Array
from congruence.trust.borders import Border, border_of, refitted
from congruence.typing import ClusteringLike, Frame, Label, NoiseLike, PointsLike, Record, Seed

#: most points of one cluster at a border, and most points that are searched for neighbours
AT_BORDER, SEARCHED, LEAST = 500, 5_000, 50
#: neighbours of a point that make clusters adjacent or predict its cluster, and nearest centres that are adjacent in any case
NEIGHBOURS, CENTRES = 5, 2
#: most columns; of more, the first principal axes are used
MOST_COLUMNS = 50
#: most variance that is added to a column of few values, as a share of its own
SPREAD = 0.25
#: clouds without clusters that are cut for the p-value of a border
REFITS = 8
#: most clusters, and most listed in text
MOST_CLUSTERS, SHOWN = 1_000, 30


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ClusterCheck(Result):
    """Which clusters a valley separates from their neighbours, and which are pieces of one.

    Attributes:
        names: Labels of the clusters.
        sizes: Number of points of each.
        nearest: Position of the neighbour from which each is separated least.
        stability: Jaccard similarity of each cluster in one half of the points with its prediction from the other half.
        filled: Points at the border with that neighbour, as a share of those beside it.
        p_value: Of the border with that neighbour, if both are one cloud that was cut; corrected over the borders that are left.
        gain: How much better two groups explain the two clusters than one: log-likelihood by the root of the points.
        verdict: "keep", "merge" or "unsure" for each.
        group: Position of the cluster that gives its label to each after merging.
        codes: Position of the cluster of each point, −1 for none.
        alpha: Level of the tests.
        notes: What was sampled.
        kind: Kind of frame of the data.

    >>> import congruence as cg
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(600, 2)) + np.repeat([[0, 0], [9, 0], [0, 9]], 200, axis=0)
    >>> labels = np.repeat(["a", "b", "c"], 200)
    >>> labels[:200][X[:200, 0] > 0] = "d"
    >>> c = cg.check_clusters(X, labels)
    >>> dict(zip(c.names, c.verdict))
    {'a': 'merge', 'b': 'keep', 'c': 'keep', 'd': 'merge'}
    """

    _told = ("sentence n_merged alpha merged notes", "clusters")
    names: tuple[Label, ...]
    sizes: Array
    nearest: tuple[int, ...]
    stability: Array
    filled: Array
    p_value: Array
    gain: Array
    verdict: tuple[str, ...]
    group: tuple[int, ...]
    codes: Array = field(repr=False)
    alpha: float
    notes: tuple[str, ...] = ()
    kind: str | None = None

    @property
    def merged(self) -> Array:
        """The labels after merging: each group has the label of its largest cluster; None for points without one."""
        names = np.array([self.names[i] for i in self.group], dtype=object)
        found = np.full(len(self.codes), None, dtype=object)
        found[self.codes >= 0] = names[self.codes[self.codes >= 0]]
        return found if (self.codes < 0).any() else np.array(found.tolist())

    @property
    def n_merged(self) -> int:
        """Number of clusters after merging."""
        return len(set(self.group))

    @property
    def valley(self) -> Array:
        """How much emptier the border is than the clusters beside it: 1 is empty, 0 or less is no valley."""
        return 1 - self.filled

    @property
    def clusters(self) -> Frame:
        """One row per cluster: cluster, size, nearest, stability, valley, p_value, gain, verdict, merged."""
        return make_frame(self.table_columns(), self.kind)

    def table_columns(self) -> Record:
        """The columns of `clusters`."""
        return {
            "cluster": list(self.names), "size": self.sizes,
            "nearest": [self.names[i] if i >= 0 else None for i in self.nearest], "stability": self.stability,
            "valley": self.valley, "p_value": self.p_value, "gain": self.gain, "verdict": list(self.verdict),
            "merged": [self.names[i] for i in self.group],
        }  # fmt: skip

    @property
    def sentence(self) -> str:
        """How many clusters are real, which are pieces of one, and which cannot be told."""
        many = len(self.names)
        if many == 1:
            return "There is one cluster, and nothing to compare it with."
        groups = [[i for i, g in enumerate(self.group) if g == to] for to in dict.fromkeys(self.group)]
        pieces = [" + ".join(f"“{self.names[i]}”" for i in group) for group in groups if len(group) > 1]
        text = "No two clusters need merging."
        if pieces:
            each = " each" if len(pieces) > 1 else ""
            text = f"Merge {many} clusters into {self.n_merged}: {some_of(pieces, 3)} look like one cluster{each}."
        kept = sum(v == "keep" for v in self.verdict)
        unsure = [f"“{name}”" for name, v in zip(self.names, self.verdict, strict=True) if v == "unsure"]
        if kept:
            text += f" {counted(kept, 'cluster')} {'is' if kept == 1 else 'are'} separated from all neighbours."
        if unsure:
            text += f" {len(unsure)} cannot be told: {some_of(unsure, 5)}."
        return text

    def __repr__(self) -> str:
        columns = self.table_columns()
        return verdict_text(self.sentence, columns, list(map(str, columns.pop("cluster"))), self.notes, SHOWN)


@described
def check_clusters(
    X: PointsLike, labels: ClusteringLike, *, alpha: float = 0.05, noise: NoiseLike = None, random_state: Seed = 0
) -> ClusterCheck:
    """Which clusters are real, which are pieces of one and should be merged, and which cannot be told.

    Two clusters are separated if their border is clearly emptier than the clusters beside it. The labels may come from any
    method and the clusters may have any shape. Adjacent clusters that two groups explain hardly better than one are pieces of
    one: they are merged, the most alike first, and the borders of the merged cluster are tested again.

    Args:
        X: Points × features in which the clusters were found, such as principal components; not t-SNE or UMAP, which
            make valleys of their own. Columns are not scaled; few values, such as integers, are spread to the next ones.
        labels: One label per point; points without a label are in no cluster.
        alpha: Level of the tests, corrected over the borders (Holm). Default 0.05.
        noise: Labels that mean "in no cluster". Default None.
        random_state: See `congruence.options`.

    Returns:
        A `ClusterCheck`: `.clusters` (a frame: cluster, size, nearest, stability, valley, p_value, gain, verdict), `.merged`
        (labels after merging; only clusters of verdict "merge" change), `.sentence`, `.plot()`.

    Raises:
        InputError: If the data and the labels have different numbers of points, or an argument is invalid.

    See also:
        `cg.choose_k`, `cg.stability`, `cg.rank`.

    >>> import congruence as cg
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(600, 2)) + np.repeat([[0, 0], [9, 0], [0, 9]], 200, axis=0)
    >>> labels = np.repeat(["a", "b", "c"], 200)
    >>> labels[:200][X[:200, 0] > 0] = "d"
    >>> cg.check_clusters(X, labels).sentence
    'Merge 4 clusters into 3: “a” + “d” look like one cluster. 2 clusters are separated from all neighbours.'
    """
    return checked(X, labels, alpha=alpha, noise=noise, random_state=random_state)


def checked(
    X: PointsLike,
    labels: ClusteringLike,
    *,
    alpha: float = 0.05,
    noise: NoiseLike = None,
    random_state: Seed = 0,
    refits: int = REFITS,
) -> ClusterCheck:
    """The same as `check_clusters`; with `refits` 0, p-values are those of the valleys, which are conservative."""
    alpha = real_number(alpha, "alpha")
    if not 0 < alpha < 1:
        raise InputError(f"alpha must be between 0 and 1, not {alpha:g}")
    data = as_data(X)
    members = Ensemble({"labels": as_disjoint(labels, "labels")}, unassigned="partial", noise=noise)
    given: Clustering = members[0]
    if len(given) != data.shape[0]:
        raise InputError(f"X has {data.shape[0]:,} rows and labels {len(given):,}; both must have the same points")
    if given.soft:
        raise InputError("check_clusters needs one label per point; pass the cluster of the largest membership")
    check_index(given, X, "the labels")
    if given.k == 0 or given.k > MOST_CLUSTERS:
        raise InputError(f"labels have {given.k:,} clusters; expected 1 to {MOST_CLUSTERS:,}")
    codes = np.where(given.codes < given.k, given.codes.astype(np.int64), -1)
    present = np.unique(codes[codes >= 0])
    codes = np.where(codes >= 0, np.searchsorted(present, codes), -1)
    rng = np.random.default_rng(seed_sequence(random_state))
    dense = np.asarray(data.toarray() if hasattr(data, "toarray") else data)
    notes = [str(note) for note in (*members.notes, *members.cautions)]
    notes += different_scales(names_of_columns(X, dense.shape[1]), dense.std(axis=0))
    points, own = _sampled(data, codes, len(present), rng, notes)
    found = _Merging(points, own, rng, refits)
    found.merge()
    worst, verdict = found.judged(alpha)
    sizes = np.bincount(codes[codes >= 0], minlength=len(present))
    group = np.empty(len(present), dtype=np.int64)
    for members_of in found.groups:
        group[members_of] = max(members_of, key=lambda i: (sizes[i], -i))
    return ClusterCheck(
        names=tuple(_plain(given.names[i]) for i in present.tolist()), sizes=sizes, nearest=tuple(x[0] for x in worst),
        stability=_stability(points, own, len(present), rng), filled=np.array([b.filled for _, b in worst]),
        p_value=np.array([b.p_value for _, b in worst]), gain=np.array([b.gain for _, b in worst]), verdict=tuple(verdict),
        group=tuple(group.tolist()), codes=codes,
        alpha=alpha, notes=tuple(notes), kind=frame_kind(X) if frame_kind(X) in ("pandas", "polars", "pyarrow") else None,
    )  # fmt: skip


def _plain(name: Label) -> Label:
    return name.item() if hasattr(name, "item") else name


def _sampled(data: Array, codes: Array, k: int, rng: np.random.Generator, notes: list[str]) -> tuple[Array, Array]:
    """The points used, in at most MOST_COLUMNS columns, and the cluster of each: all of small clusters, a part of large ones."""
    sizes = np.bincount(codes[codes >= 0], minlength=k)
    share = np.maximum(np.minimum(sizes, max(LEAST, AT_BORDER)), (sizes * SEARCHED) // max(int(sizes.sum()), 1))
    chosen = np.sort(
        np.concatenate([rng.permutation(np.flatnonzero(codes == i))[:many] for i, many in enumerate(share.tolist())])
    )
    if len(chosen) < sizes.sum():
        notes.append(
            f"{len(chosen):,} of {sizes.sum():,} points were used, drawn at random within clusters, at most {AT_BORDER} of a "
            "cluster at a border; all points get merged labels"
        )
    points = data[chosen]
    points = np.asarray(points.toarray() if hasattr(points, "toarray") else points, dtype=np.float64)
    points = _spread(points - points.mean(axis=0), rng)
    if points.shape[1] > MOST_COLUMNS:
        _, axes = np.linalg.eigh(points.T @ points) if points.shape[1] <= 2 * SEARCHED else (0, np.eye(points.shape[1]))
        points = points @ axes[:, ::-1][:, :MOST_COLUMNS]
        notes.append(f"the first {MOST_COLUMNS} principal axes of {data.shape[1]:,} columns were used")
    return points, codes[chosen]


def _spread(points: Array, rng: np.random.Generator) -> Array:
    """The points with repeated values, such as integers, spread evenly to the next ones: the gaps between them are no valleys.

    A wide gap is filled by twice the narrow one on the other side of the value at most. A column that would get more variance
    than SPREAD of its own, such as one of two values, is left as it is.

    >>> rng = np.random.default_rng(0)
    >>> _spread(np.array([[1.0], [2], [3], [11], [12], [13]] * 20), rng)[:3].round(1).ravel().tolist()
    [1.1, 1.8, 2.6]
    """
    points = points.copy()
    for column in points.T:
        low, high = column.min(), column.max()
        if low == high:
            continue
        values, where = np.unique(np.round((column - low) / (high - low), 9), return_inverse=True)
        if not 3 <= len(values) <= len(column) / 2:
            continue
        gaps = np.diff(values)
        before, after = np.append(gaps[0], gaps), np.append(gaps, gaps[-1])
        narrow = 2 * np.minimum(before, after)
        added = rng.uniform(-np.minimum(before, narrow)[where], np.minimum(after, narrow)[where]) / 2
        added *= high - low
        if added.var() <= SPREAD * column.var():
            column += added
    return points


class _Merging:
    """Groups of clusters, which are adjacent, and the borders tested so far."""

    def __init__(self, points: Array, own: Array, rng: np.random.Generator, refits: int) -> None:
        self.points, self.own, self.rng = points, own.copy(), rng
        self.refits, self.refitting = refits, rng.spawn(1)[0]
        k = int(own.max()) + 1
        self.groups = [[i] for i in range(k)]
        self.sums = np.stack([points[own == i].sum(axis=0) for i in range(k)])
        self.many = np.bincount(own, minlength=k).astype(np.float64)
        near = _neighbours(points)
        self.edges = np.zeros((k, k))
        np.add.at(self.edges, (np.repeat(own, near.shape[1]), own[near].ravel()), 1)
        self.edges += self.edges.T
        self.tested: dict[tuple[tuple[int, ...], tuple[int, ...]], Border] = {}
        #: for each cluster that was merged: the cluster it was merged with first, and their border
        self.merged_with: dict[int, tuple[int, Border]] = {}

    def borders(self) -> dict[tuple[int, int], Border]:
        """The border of every pair of adjacent groups."""
        k = len(self.groups)
        centres = self.sums / self.many[:, None]
        away = kmeans.squares(centres, centres)
        np.fill_diagonal(away, np.inf)
        adjacent = self.edges > 0
        for i in range(k):
            adjacent[i, np.argsort(away[i], kind="stable")[: min(CENTRES, k - 1)]] = True
        adjacent |= adjacent.T
        return {(int(i), int(j)): self._border(int(i), int(j)) for i, j in np.argwhere(np.triu(adjacent, 1))}

    def _border(self, i: int, j: int) -> Border:
        key = tuple(self.groups[i]), tuple(self.groups[j])
        if key not in self.tested:
            self.tested[key] = border_of(*self._drawn(i, j, self.rng), self.rng)
        return self.tested[key]

    def _drawn(self, i: int, j: int, rng: np.random.Generator) -> tuple[Array, Array]:
        """The points of two groups; a part of large ones."""
        a, b = (self.points[rng.permutation(np.flatnonzero(self.own == x))[:AT_BORDER]] for x in (i, j))
        return a, b

    def _shown(self, border: Border, i: int, j: int, borders: int = 1) -> Border:
        """The border of two groups with the p-value among refitted clouds, corrected over so many borders, if it is smaller."""
        if not self.refits:
            return border
        p = borders * refitted(*self._drawn(i, j, self.refitting), self.refitting, self.refits)
        return replace(border, p_value=min(p, border.p_value))

    def merge(self) -> None:
        """Merge adjacent groups that look like one, those that do so most first."""
        while len(self.groups) > 1:
            borders = self.borders()
            i, j = max(borders, key=lambda pair: borders[pair].oneness)
            border = borders[i, j]
            if border.oneness <= 0:
                return
            new = [x for x in self.groups[i] + self.groups[j] if x not in self.merged_with]
            border = self._shown(border, i, j) if new else border
            for one, other in ((i, j), (j, i)):
                for cluster in self.groups[one]:
                    self.merged_with.setdefault(cluster, (self.groups[other][0], border))
            self._join(i, j)

    def _join(self, i: int, j: int) -> None:
        self.groups[i] = sorted(self.groups[i] + self.groups[j])
        del self.groups[j]
        self.own[self.own == j] = i
        self.own[self.own > j] -= 1
        self.sums[i] += self.sums[j]
        self.many[i] += self.many[j]
        self.sums, self.many = np.delete(self.sums, j, axis=0), np.delete(self.many, j)
        self.edges[i] += self.edges[j]
        self.edges[:, i] += self.edges[:, j]
        self.edges = np.delete(np.delete(self.edges, j, axis=0), j, axis=1)

    def judged(self, alpha: float) -> tuple[list[tuple[int, Border]], list[str]]:
        """For each cluster its nearest neighbour and their border, with a corrected p-value; and its verdict."""
        k = sum(map(len, self.groups))
        worst: list[tuple[int, Border]] = [(-1, Border(*[float("nan")] * 3))] * k
        left = self.borders()
        fixed = corrected([b.p_value for b in left.values()], "holm").tolist() if left else []
        left = {pair: replace(b, p_value=p) for (pair, b), p in zip(left.items(), fixed, strict=True)}
        verdict, shown = [""] * k, dict[tuple[int, int], Border]()
        for g, group in enumerate(self.groups):
            beside = [(b, i + j - g) for (i, j), b in left.items() if g in (i, j)]
            weakest = max(beside, key=lambda x: (x[0].p_value, x[0].filled, x[1]), default=None)
            word = "merge" if len(group) > 1 else "keep" if weakest is None or weakest[0].p_value <= alpha else "unsure"
            pair = None if weakest is None else (min(g, weakest[1]), max(g, weakest[1]))
            if pair is not None and len(group) == 1 and pair not in shown:
                shown[pair] = self._shown(left[pair], *pair, borders=len(left))
            for i in group:
                verdict[i] = word
                if weakest is not None and pair in shown:
                    worst[i] = (self.groups[weakest[1]][0], shown[pair])
        for i, piece in self.merged_with.items():
            worst[i] = piece
        return worst, verdict


def _neighbours(points: Array) -> Array:
    """The nearest other points of each point."""
    few = min(NEIGHBOURS, len(points) - 1)
    found = np.empty((len(points), few), dtype=np.int64)
    for first in range(0, len(points), 1_000):
        here = slice(first, first + 1_000)
        apart = kmeans.squares(points, points[here])
        apart[np.arange(apart.shape[0]), np.arange(first, first + apart.shape[0])] = np.inf
        found[here] = np.argpartition(apart, few - 1, axis=1)[:, :few] if few else 0
    return found


def _stability(points: Array, own: Array, k: int, rng: np.random.Generator) -> Array:
    """Jaccard similarity of each cluster in one half with the prediction from the other half, by nearest neighbours."""
    halves = np.zeros(len(points), dtype=bool)
    halves[rng.permutation(len(points))[: len(points) // 2]] = True
    common, either = np.zeros(k), np.zeros(k)
    for known, asked in ((halves, ~halves), (~halves, halves)):
        if not known.any():
            return np.full(k, np.nan)
        few = min(NEIGHBOURS, int(known.sum()))
        votes = np.zeros((int(asked.sum()), k), dtype=np.int32)
        rows = np.flatnonzero(asked)
        for first in range(0, len(rows), 1_000):
            apart = kmeans.squares(points[known], points[rows[first : first + 1_000]])
            near = np.argpartition(apart, few - 1, axis=1)[:, :few]
            np.add.at(votes, (np.arange(first, first + len(near))[:, None], own[known][near]), 1)
        said, truth = votes.argmax(axis=1), own[rows]
        same = np.bincount(truth[said == truth], minlength=k)
        common += same
        either += np.bincount(truth, minlength=k) + np.bincount(said, minlength=k) - same
    return np.asarray(np.divide(common, either, out=np.full(k, np.nan), where=either > 0))
