"""The points of a report: their names, their coordinates in the data, and the number of clusters that the data support."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from congruence.comparison.pair import compare
from congruence.errors import InputError, counted, hint, names_in, some_of
from congruence.figures.features import numbers_of
from congruence.inputs.alignment import check_index
from congruence.inputs.column_names import PICTURE_NAMES
from congruence.inputs.ensemble import Ensemble
from congruence.inputs.formats import embedding_columns, matrix_of, picture_of
from congruence.inputs.frames import make_frame
from congruence.inputs.kinds import Clustering
from congruence.inputs.labels import frame_kind
from congruence.reporting.answer import Answer
from congruence.reporting.consensus_section import LARGE
from congruence.selection.choice import KChoice
from congruence.selection.number_of_clusters import choose_k
from congruence.selection.points import MOST_POINTS, scales_to_standardise
from congruence.statistics.tables import Array
from congruence.trust.cluster_check import MOST_CLUSTERS, ClusterCheck, check_clusters
from congruence.typing import ColumnLike, Frame, PointsLike, Seed

#: most points that are drawn one by one, and most cells of the data in which groups are checked
MOST_DRAWN, MOST_CHECKED = 200_000, 20_000_000


@dataclass(frozen=True, eq=False)
class Points:
    """The names of the points, and their coordinates if there are data."""

    ids: tuple[str, ...] | None
    #: two coordinates of each point, the names of the axes, and which points are drawn (None: all)
    place: Array | None = None
    axes: tuple[str, str] = ("", "")
    about: str = ""
    drawn: Array | None = None
    #: the numbers, points × features, and the names of the features
    numbers: Array | None = None
    features: tuple[str, ...] = ()
    #: what the numbers are, as X_pca, 30 columns
    source: str = ""


def points_of(e: Ensemble, ids: ColumnLike, data: PointsLike, axes: Sequence[str] | None, random_state: Seed) -> Points:
    """The names of the points, and their coordinates if there are data."""
    named = _ids(ids, e)
    if data is None:
        return Points(named)
    frame: Frame = data
    if frame_kind(data) == "pandas" and len(frame) == e.n_points:
        check_index(e, data, "the data", "the clusterings")
    plane, source = None, ""
    if hasattr(data, "obsm"):  # AnnData: an embedding to draw, and the data themselves for choose_k
        plane = embedding_columns(data) if axes is not None else picture_of(data)
        matrix, called, source = matrix_of(data)
        X, names = numbers_of(matrix, e.n_points)[0], tuple(called)
    else:
        X, names = numbers_of(data, e.n_points)
    pictured = [j for j, name in enumerate(names) if PICTURE_NAMES.fullmatch(name)]
    if pictured and plane is None and axes is None and len(pictured) > 1:
        plane = {names[j]: X[:, j] for j in pictured[:2]}
    place, shown, about = _plane(*numbers_of(plane, e.n_points), axes) if plane else _plane(X, names, axes)
    if pictured:
        kept = [j for j in range(len(names)) if j not in pictured]
        X, names = X[:, kept], tuple(names[j] for j in kept)
    source = f"{source + ', ' if source else ''}{counted(len(names), 'column')}: {some_of(names, 6)}"
    drawn = None
    if e.n_points > MOST_DRAWN:
        drawn = np.sort(np.random.default_rng(random_state).choice(e.n_points, MOST_DRAWN, replace=False))
    return Points(named, place, shown, about, drawn, X if names else None, names, source)


def _ids(ids: ColumnLike, e: Ensemble) -> tuple[str, ...] | None:
    if ids is None:
        if e.index is None:
            return None
        ids = e.index
    if not isinstance(ids, Iterable) or getattr(ids, "ndim", 1) != 1:
        raise InputError(f"ids must be a list of names, one per point; got {ids!r}")
    listed = tuple(str(x) for x in (ids.to_pylist() if hasattr(ids, "to_pylist") else ids))
    if len(listed) != e.n_points:
        raise InputError(f"{len(listed)} ids for {e.n_points} points")
    return listed


def _plane(X: Array, names: tuple[str, ...], axes: Sequence[str] | None) -> tuple[Array, tuple[str, str], str]:
    """Two coordinates of each point: the named columns, the only two columns, or principal components."""
    n = X.shape[0]
    if axes is not None:
        axes = names_in(axes, "axes")
        if len(axes) != 2:
            raise InputError(f"a scatter plot has two axes, not {len(axes)}; name two columns of the data")
        for axis in axes:
            if str(axis) not in names:
                near = hint(str(axis), names, "there are: " + some_of(names))
                raise InputError(f"the data have no column {axis!r}; {near}")
        chosen = X[:, [names.index(str(axis)) for axis in axes]]
        place = np.asarray(chosen.toarray() if hasattr(chosen, "toarray") else chosen)
        return place, (str(axes[0]), str(axes[1])), "the columns named"
    if X.shape[1] <= 2 or n < 2:
        place = np.column_stack([X[:, :2], np.zeros((n, max(2 - X.shape[1], 0)))])
        listed = [*names, ""]
        return place, (listed[0], listed[1]), "the columns of the data"
    from sklearn.decomposition import PCA, TruncatedSVD

    if hasattr(X, "toarray"):
        svd = TruncatedSVD(2, random_state=0)
        return svd.fit_transform(X), ("component 1", "component 2"), "the first two components of the sparse data"
    spread = X.std(axis=0)
    scaled = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    pca = PCA(2, random_state=0)
    with np.errstate(invalid="ignore"):  # constant columns have no variance
        place = pca.fit_transform(scaled)
    share = pca.explained_variance_ / max(scaled.var(axis=0, ddof=1).sum(), np.finfo(float).tiny)
    labels = (f"component 1 ({share[0]:.0%} of the variance)", f"component 2 ({share[1]:.0%})")
    return place, labels, "principal components of the standardised columns"


# --- the number of clusters in the data, by `choose_k` ----------------------------------------------------------------

ONLY_PICTURE = (
    "the only numbers are coordinates of a picture, such as UMAP or t-SNE, where gaps are not gaps between clusters; pass the "
    "data, or name these columns to `congruence choose-k`"
)
#: most cells of the points used; more would take minutes
MOST_CELLS = 1_000_000


@dataclass(frozen=True, eq=False)
class Support:
    """The answer of `choose_k` on the data, or why there is none."""

    choice: KChoice | None
    #: why there is no answer; empty if there is one
    left_out: str
    #: that one column dominates the distances, if it does
    scales: tuple[str, ...]
    #: the clustering that agrees best with the clusters found, and its adjusted Rand index; None for one cluster
    nearest: tuple[int, float] | None
    seconds: float


def support_of(points: Points, e: Ensemble, counted: Sequence[int], random_state: Seed) -> Support | None:
    """The answer of `choose_k` on the data of a report; None without data.

    It is that of `cg.choose_k(data, random_state=random_state)`: 1 to 10 clusters, on a sample if there are many points.

    Args:
        points: The points of the report.
        e: The clusterings.
        counted: Indices of the counted clusterings.
        random_state: Seed.
    """
    X = points.numbers
    if X is None:
        return None if points.place is None else Support(None, ONLY_PICTURE, (), None, 0.0)
    started = time.perf_counter()
    n, d = X.shape
    if min(n, MOST_POINTS) * d > MOST_CELLS:
        why = f"{d:,} columns are too many for a report; use `congruence choose-k`"
        return Support(None, why, (), None, 0.0)
    is_sparse = hasattr(X, "tocsr")
    named = X if is_sparse else make_frame({name: X[:, j] for j, name in enumerate(points.features)}, "pyarrow")
    try:
        choice = choose_k(named if len(set(points.features)) == d else X, random_state=random_state, progress=False)
    except InputError as reason:
        return Support(None, str(reason), (), None, 0.0)
    scales = () if is_sparse else tuple(scales_to_standardise(points.features, X.std(axis=0)))
    nearest = None
    if choice.k is not None and choice.k > 1 and choice.k in choice.partitions and n * len(counted) <= LARGE:
        found = {i: _agreement(choice.labels, e.members[i]) for i in counted}
        best = max(counted, key=lambda i: (found[i], -i))
        nearest = (best, found[best]) if found[best] > -math.inf else None
    return Support(choice, "", scales, nearest, time.perf_counter() - started)


def silhouettes_of(points: Points, labels: Array, k: int, random_state: Seed) -> Array | None:
    """The mean silhouette of each group, of a sample if there are many points; None without dense data or with one group.

    >>> X = np.array([[0.0], [1.0], [8.0], [9.0], [20.0], [30.0]])
    >>> points = Points(None, numbers=X, features=("x",))
    >>> silhouettes_of(points, np.array([0, 0, 1, 1, 2, 2]), 3, 0).round(2).tolist()
    [0.87, 0.87, 0.33]
    """
    from sklearn.metrics import silhouette_samples

    X, known = points.numbers, np.flatnonzero(labels < k)
    if X is None or hasattr(X, "tocsr") or X.shape[1] * min(len(X), MOST_POINTS) > MOST_CELLS:
        return None
    if len(known) > MOST_POINTS:
        known = np.sort(np.random.default_rng(random_state).choice(known, MOST_POINTS, replace=False))
    own = labels[known]
    if not 1 < len(np.unique(own)) < len(own):
        return None
    sizes = np.bincount(own, minlength=k)
    with np.errstate(invalid="ignore"):  # a group of no sampled point has none
        return np.asarray(np.bincount(own, silhouette_samples(X[known], own), k) / sizes)


def _agreement(labels: Array, c: Clustering) -> float:
    """Adjusted Rand index on the points that the clustering labels; −∞ if it labels none."""
    codes = c.codes
    known = codes < c.k
    return compare(labels[known], codes[known], ["ari"])["ari"] if known.any() else -math.inf


# --- whether the groups are separated, by `check_clusters` ------------------------------------------------------------


def check_of(
    points: Points, support: Support | None, a: Answer, names: Sequence[str], random_state: Seed
) -> ClusterCheck | None:
    """What `cg.check_clusters` says of the groups in the data; None for one group, and where `choose_k` takes no data."""
    X = points.numbers
    if X is None or support is None or support.choice is None or not 1 < a.k <= MOST_CLUSTERS:
        return None
    if X.shape[0] * X.shape[1] > MOST_CHECKED:
        return None
    found = check_clusters(X, np.where(a.labels < a.k, a.labels, -1), noise=-1, random_state=random_state)
    return replace(found, names=tuple(names[int(str(i))] for i in found.names))
