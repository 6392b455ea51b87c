"""The points of a report: how much the members agree on each, and where they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from congruence.comparison.matching import element_scores
from congruence.ensembles.generators import as_data
from congruence.errors import InputError, hint
from congruence.inputs.alignment import check_index
from congruence.inputs.ensemble import Ensemble
from congruence.inputs.frames import frame_kind
from congruence.inputs.labels import Labels
from congruence.statistics.tables import Array

#: the agreement of points is over all pairs of members up to so many, and so many points × pairs; above, over a sample
MOST_PAIRS, MOST_SCORES = 20_000, 200_000_000
#: most points that are drawn and written one by one; most unstable ones that are listed
MOST_POINTS, LISTED = 200_000, 50


@dataclass(frozen=True, eq=False)
class Points:
    """How much the members agree on each point, and where the points are."""

    scores: Array
    ids: tuple[str, ...] | None
    #: counts and edges of the histogram
    counts: Array
    edges: Array
    #: the points the members agree least on, the worst first
    unstable: Array
    pairs_used: int
    pairs: int
    #: two coordinates of each point, what they are, and which points these are (None: all)
    place: Array | None = None
    axes: tuple[str, str] = ("", "")
    about: str = ""
    drawn: Array | None = None


def consistency(e: Ensemble, random_state: Any = 0) -> tuple[Array, int]:
    """Mean element-centric agreement on each point over pairs of members, and how many pairs that was.

    Pairs are drawn at random where there are too many of them. Points that no two members have are NaN.

    >>> import congruence as cg
    >>> scores, pairs = consistency(cg.Ensemble([[0, 0, 1, 1], [0, 0, 1, 1], [0, 1, 1, 1]]))
    >>> scores.round(3).tolist(), pairs
    ([0.667, 0.556, 0.778, 0.778], 3)
    """
    pairs = np.array(list(combinations(range(len(e)), 2)))
    most = max(min(MOST_PAIRS, MOST_SCORES // e.n_points), 1)
    if len(pairs) > most:
        pairs = pairs[np.random.default_rng(random_state).choice(len(pairs), most, replace=False)]
    total, seen = np.zeros(e.n_points), np.zeros(e.n_points)
    for a, b in pairs.tolist():
        first, second = e.members[a], e.members[b]
        if isinstance(first, Labels) and isinstance(second, Labels):
            _add_scores(first, second, total, seen)
        else:
            scores = np.asarray(element_scores(first, second, unassigned="drop"))
            here = ~np.isnan(scores)
            total[here] += scores[here]
            seen += here
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(seen > 0, total / seen, np.nan), len(pairs)


def _add_scores(a: Labels, b: Labels, total: Array, seen: Array) -> None:
    """Add |A ∩ B| / max(|A|, |B|) of the clusters of each point that both have."""
    left, right = a.codes, b.codes
    here = None
    if a.gaps or b.gaps:
        here = np.flatnonzero((left < a.k) & (right < b.k))
        left, right = left[here], right[here]
    cell = left.astype(np.int64) * b.k + right
    if a.k * b.k <= 16 * len(cell) + 1024:
        common = np.bincount(cell, minlength=a.k * b.k).reshape(a.k, b.k)
        size = np.maximum(common.sum(axis=1)[:, None], common.sum(axis=0)[None, :])
        scores = (common / np.maximum(size, 1)).ravel()[cell]
    else:
        _, place, counts = np.unique(cell, return_inverse=True, return_counts=True)
        size = np.maximum(np.bincount(left, minlength=a.k)[left], np.bincount(right, minlength=b.k)[right])
        scores = counts[place.ravel()] / size
    if here is None:
        total += scores
        seen += 1
    else:
        total[here] += scores
        seen[here] += 1


def points_of(e: Ensemble, ids: Any, data: Any, axes: Sequence[str] | None, random_state: Any) -> Points:
    """The agreement on each point, and with data where the points are."""
    scores, used = consistency(e, random_state)
    known = scores[~np.isnan(scores)]
    counts, edges = np.histogram(known, bins=40, range=(0.0, 1.0))
    unstable = np.argsort(np.where(np.isnan(scores), np.inf, scores), kind="stable")[:LISTED]
    unstable = unstable[~np.isnan(scores[unstable])]
    named = _ids(ids, e)
    found = Points(scores, named, counts, edges, unstable, used, len(e) * (len(e) - 1) // 2)
    if data is None:
        return found
    if frame_kind(data) == "pandas" and len(data) == e.n_points:
        check_index(e, data, "the data", "the clusterings")
    place, shown, about = _plane(data, axes, e.n_points)
    drawn = None
    if e.n_points > MOST_POINTS:
        drawn = np.sort(np.random.default_rng(random_state).choice(e.n_points, MOST_POINTS, replace=False))
    return replace(found, place=place, axes=shown, about=about, drawn=drawn)


def _ids(ids: Any, e: Ensemble) -> tuple[str, ...] | None:
    if ids is None:
        if e.index is None:
            return None
        ids = e.index
    listed = tuple(str(x) for x in (ids.to_pylist() if hasattr(ids, "to_pylist") else ids))
    if len(listed) != e.n_points:
        raise InputError(f"{len(listed)} ids for {e.n_points} points")
    return listed


def _plane(data: Any, axes: Sequence[str] | None, n: int) -> tuple[Array, tuple[str, str], str]:
    """Two coordinates of each point: the columns named, the only two there are, or principal components."""
    names = None
    if frame_kind(data) is not None and hasattr(data, "columns"):
        names = [str(x) for x in (data.column_names if frame_kind(data) == "pyarrow" else data.columns)]
    elif isinstance(data, dict):
        names, data = [str(x) for x in data], np.column_stack([np.asarray(x) for x in data.values()])
    X = as_data(data)
    X = X.toarray() if hasattr(X, "toarray") and axes is None and X.shape[1] <= 50 else X
    if X.shape[0] != n:
        raise InputError(
            f"the data have {X.shape[0]} rows and the clusterings {n} points; both must have the same points"
        )
    if axes is not None:
        if len(axes) != 2:
            raise InputError(f"a picture has two axes, not {len(axes)}; name two columns of the data")
        names = names or [str(j) for j in range(X.shape[1])]
        for axis in axes:
            if str(axis) not in names:
                near = hint(str(axis), names, "there are: " + ", ".join(names[:8]))
                raise InputError(f"the data have no column {axis!r}; {near}")
        chosen = X[:, [names.index(str(axis)) for axis in axes]]
        place = np.asarray(chosen.toarray() if hasattr(chosen, "toarray") else chosen)
        return place, (str(axes[0]), str(axes[1])), "the columns named"
    if X.shape[1] <= 2 or n < 2:
        place = np.column_stack([X[:, :2], np.zeros((n, max(2 - X.shape[1], 0)))])
        listed = [*(names or ["first column", "second column"])[: X.shape[1]], ""]
        return place, (listed[0], listed[1]), "the columns of the data"
    from sklearn.decomposition import PCA, TruncatedSVD

    if hasattr(X, "toarray"):
        svd = TruncatedSVD(2, random_state=0)
        return svd.fit_transform(X), ("component 1", "component 2"), "the first two components of the sparse data"
    spread = X.std(axis=0)
    scaled = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    pca = PCA(2, random_state=0)
    with np.errstate(invalid="ignore"):  # columns that are all constant have no variance to share
        place = pca.fit_transform(scaled)
    share = pca.explained_variance_ / max(scaled.var(axis=0, ddof=1).sum(), np.finfo(float).tiny)
    labels = (f"component 1 ({share[0]:.0%} of the variance)", f"component 2 ({share[1]:.0%})")
    return place, labels, "principal components of the standardised columns"
