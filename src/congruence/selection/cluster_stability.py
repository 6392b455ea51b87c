"""Cluster stability under resampling."""

from __future__ import annotations

import math
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Literal

import numpy as np

from congruence.comparison.presenting import Result, number, plain
from congruence.engine.plan import Progress, seed_sequence
from congruence.ensembles.generators import as_data, configured, hard, in_order
from congruence.ensembles.soft_generators import seed_of
from congruence.errors import MOST_RUNS, InputError, joined, real_number, whole_number
from congruence.inputs.effects import refuse_idle
from congruence.inputs.frames import make_frame, text_grid
from congruence.inputs.labels import frame_kind
from congruence.options import described
from congruence.statistics.tables import Array
from congruence.typing import (
    ClusteringLike,
    Estimator,
    Frame,
    Label,
    PointsLike,
    ProgressLike,
    Record,
    Seed,
    SparseMatrix,
)

__all__ = ["ClusterStability", "stability"]


@dataclass(frozen=True, eq=False, kw_only=True)
class ClusterStability(Result):
    """How well each cluster is found again in resampled data.

    Attributes:
        labels: Cluster of each point when all points are clustered; −1 for noise.
        clusters: Numbers of the clusters.
        jaccard: Jaccard similarity to the best match, one row per resample and one column per cluster.
        belonging: How often each point, when drawn, was in the best match of each cluster.
        scheme: How the data were resampled.
        points: Names of the points.
        notes: Notes on the resamples.

    >>> import congruence as cg
    >>> import numpy as np
    >>> from sklearn.cluster import KMeans
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 2)) + np.repeat([[0, 0], [12, 0]], [40, 20], axis=0)
    >>> s = cg.stability(X, KMeans(3, n_init=10), n_resamples=20, random_state=0)
    >>> sum(value > 0.95 for value in s.mean.values())  # one group is found; the other is split arbitrarily
    1
    """

    labels: Array
    clusters: tuple[int, ...]
    jaccard: Array
    belonging: Array
    scheme: str
    points: tuple[Label, ...] = field(repr=False)
    notes: tuple[str, ...] = ()

    @property
    def mean(self) -> dict[int, float]:
        """Mean Jaccard similarity of each cluster to its best match."""
        there = ~np.isnan(self.jaccard)
        with np.errstate(invalid="ignore"):  # 0/0: no point of the cluster was drawn
            means = np.where(there, self.jaccard, 0.0).sum(axis=0) / there.sum(axis=0)
        return dict(zip(self.clusters, means.tolist(), strict=True))

    @property
    def overall(self) -> float:
        """The mean over clusters, weighted by their sizes."""
        sizes = np.array([int((self.labels == c).sum()) for c in self.clusters])
        means = np.array(list(self.mean.values()))
        drawn = ~np.isnan(means)
        return float(np.average(means[drawn], weights=sizes[drawn]))

    def to_dict(self) -> Record:
        """The scheme, the labels, the columns of `to_frame`, and the notes, as plain Python values."""
        about = {"scheme": self.scheme, "n_resamples": len(self.jaccard), "overall": self.overall}
        columns = self.table_columns()
        return dict(plain({**about, "clusters": columns, "labels": self.labels, "notes": self.notes}))

    def table_columns(self) -> Record:
        """One row per cluster: points, mean and standard error, how often it was recovered (≥ 0.75) and dissolved (≤ 0.5)."""
        there = ~np.isnan(self.jaccard)
        means = np.array(list(self.mean.values()))
        many = np.where(there.any(axis=0), there.sum(axis=0), np.nan)
        return {
            "cluster": list(self.clusters),
            "points": [int((self.labels == c).sum()) for c in self.clusters],
            "mean": means,
            "error": np.sqrt(np.where(there, (self.jaccard - means) ** 2, 0.0).sum(axis=0)) / many,
            "recovered": np.where(there, self.jaccard >= 0.75, False).sum(axis=0) / many,
            "dissolved": np.where(there, self.jaccard <= 0.5, False).sum(axis=0) / many,
            "verdict": [_verdict(x) for x in means.tolist()],
        }

    @described
    def unstable(self, cluster: int, limit: int = 10, backend: str | None = None) -> Frame:
        """The points that make a cluster unstable, worst first: points of the cluster that leave it, and others that join it.

        `share` is how often a point was in the best match; `error` is 1 − share for points of the cluster, share for others.

        Args:
            cluster: Number of the cluster.
            limit: Largest number of points listed.
            backend: See `congruence.options`.

        Returns:
            A data frame.
        """
        if cluster not in self.clusters:
            raise InputError(f"there is no cluster {cluster!r}; there are: {joined(self.clusters)}")
        share = self.belonging[:, self.clusters.index(cluster)]
        own = self.labels == cluster
        error = np.nan_to_num(np.where(own, 1 - share, share))
        worst = [i for i in np.argsort(-error, kind="stable")[:limit].tolist() if error[i] > 0]
        columns = {
            "point": [self.points[i] for i in worst],
            "cluster": self.labels[worst],
            "does": ["leaves" if own[i] else "joins" for i in worst],
            "share": share[worst],
            "error": error[worst],
        }
        return make_frame(columns, backend)

    def __repr__(self) -> str:
        table = self.to_frame("pyarrow").to_pylist()
        cells = [
            [str(r["points"]), *(number(r[x]) for x in ("mean", "error")), *(_share(r[x]) for x in ("recovered", "dissolved")),
             r["verdict"]]
            for r in table
        ]  # fmt: skip
        grid = text_grid(
            cells, [str(r["cluster"]) for r in table], ["points", "mean", "error", "recovered", "dissolved", ""]
        )
        head = f"Jaccard similarity of each cluster to its best match, {len(self.jaccard)} resamples ({self.scheme})"
        return "\n".join([head, grid, *(f"! {note}" for note in self.notes)])


def _share(x: float) -> str:
    return "–" if math.isnan(x) else f"{x:.0%}"


def _verdict(mean: float) -> str:
    """The interpretation that Hennig recommends."""
    if math.isnan(mean):
        return "never drawn"
    for limit, words in ((0.85, "highly stable"), (0.75, "stable"), (0.6, "a pattern, but its points are uncertain")):
        if mean >= limit:
            return words
    return "unreliable"


@described
def stability(
    X: PointsLike,
    clusterer: Estimator,
    *,
    scheme: Literal["bootstrap", "subsample", "jitter", "noise"] = "bootstrap",
    n_resamples: int = 100,
    fraction: float | None = None,
    jitter: float = 0.05,
    noise: tuple[float, float] = (0.05, 4.0),
    random_state: Seed = 0,
    n_jobs: int | None = None,
    progress: ProgressLike = None,
) -> ClusterStability:
    """How well each cluster is found again in resampled or perturbed data (Hennig's clusterboot).

    The data are clustered, and then `n_resamples` resampled or perturbed copies. Each cluster is compared with its best
    match among the new clusters, by their Jaccard similarity on the common points.

    Args:
        X: Points × features (array, frame or sparse matrix).
        clusterer: A scikit-learn clusterer or mixture, as in KMeans(3), or a function from data to labels; −1 is noise,
            and a point with memberships belongs to the cluster of its largest.
        scheme: "bootstrap" (default): a sample of the same size with replacement, without the repeats; "subsample": a
            `fraction` without replacement (fpc: subset); "jitter": all points, each moved a little; "noise": some
            points replaced by uniform noise. The last two need dense data.
        n_resamples: Number of copies; default 100.
        fraction: Share of the points of a subsample; default 0.8 (fpc's subtuning is 0.5).
        jitter: On each principal axis the standard deviation of the moves is this quantile of the steps between
            neighbouring values; default 0.05, as fpc's jittertuning.
        noise: Probability that a point is replaced, and the half-width of the noise in standard deviations along the
            principal axes; default (0.05, 4), as fpc's noisetuning.
        random_state, n_jobs: See `congruence.options`.
        progress: Called with (done, total); None or True for a bar on a terminal, False for none.

    Returns:
        ClusterStability: `.mean` by cluster, `.overall`, `.to_frame()`, `.unstable(cluster)`.

    Raises:
        InputError: A parameter is out of range, or the clusterer failed or gave no labels.

    See also:
        `choose_k`: the number of clusters.

    >>> import congruence as cg
    >>> from sklearn.cluster import KMeans
    >>> from sklearn.datasets import load_iris
    >>> s = cg.stability(load_iris().data, KMeans(3, n_init=10), n_resamples=20, random_state=0)
    >>> {cluster: round(value, 2) for cluster, value in s.mean.items()}
    {0: 1.0, 1: 0.94, 2: 0.93}
    """
    refuse_idle(stability, locals())
    data = as_data(X)
    n = data.shape[0]
    share = 0.8 if fraction is None else real_number(fraction, "fraction")
    n_resamples = whole_number(n_resamples, "n_resamples", 1, MOST_RUNS)
    if not 0 < share < 1:
        raise InputError(f"fraction must be between 0 and 1, not {share}")
    change = _change(scheme, data, share, jitter, noise)
    first, *streams = seed_sequence(random_state).spawn(1 + n_resamples)
    _, whole, said = _clustered(clusterer, data, partial(_as_it_is, n), first)
    clusters = np.unique(whole[whole >= 0])
    if not len(clusters):
        raise InputError("the clusterer found no cluster in the data: all points are noise")
    jobs = [partial(_clustered, clusterer, data, change, stream) for stream in streams]
    jaccard = np.full((n_resamples, len(clusters)), np.nan)
    inside, drawn, warned = np.zeros((n, len(clusters))), np.zeros(n), Counter(set(said))
    with Progress(n_resamples, progress, "resamples") as bar:
        for r, (chosen, again, said) in enumerate(in_order(jobs, n_jobs)):
            warned.update(set(said))
            jaccard[r], match = matched(whole[chosen], again, clusters)
            inside[chosen] += (again[:, None] == match[None, :]) & (again >= 0)[:, None]
            drawn[chosen] += 1
            bar.add(1)
    with np.errstate(invalid="ignore", divide="ignore"):
        belonging = np.where(drawn[:, None] > 0, inside / drawn[:, None], np.nan)
    points = tuple(X.index) if frame_kind(X) == "pandas" else tuple(range(n))  # type: ignore[attr-defined]
    notes = tuple(f"{many} of {n_resamples + 1} clusterings: {text}" for text, many in warned.items())
    return ClusterStability(
        labels=whole, clusters=tuple(clusters.tolist()), jaccard=jaccard, belonging=belonging, scheme=scheme,
        points=points, notes=notes,
    )  # fmt: skip


# --- schemes: the data to cluster, the points to compare, and their positions in these data --------------

Changed = tuple[Array | SparseMatrix, Array, Array]


def _change(
    scheme: str, data: Array | SparseMatrix, fraction: float, jitter: float, noise: tuple[float, float]
) -> Callable[[Array | SparseMatrix, np.random.Generator], Changed]:
    n = data.shape[0]
    if scheme == "bootstrap":
        return partial(_bootstrapped, n)
    if scheme == "subsample":
        return partial(_subsampled, n, max(1, round(fraction * n)))
    if scheme not in ("jitter", "noise"):
        raise InputError(f"scheme must be 'bootstrap', 'subsample', 'jitter' or 'noise', not {scheme!r}")
    if hasattr(data, "tocsr"):
        raise InputError(f"scheme {scheme!r} changes every value and needs dense data; pass X.toarray()")
    if n < 2:
        raise InputError(f"scheme {scheme!r} needs at least 2 points; there is {n}")
    centre = data.mean(axis=0)
    variances, axes = np.linalg.eigh(np.atleast_2d(np.cov(data.T)))
    if scheme == "noise":
        try:
            chance, width = (real_number(x, "noise") for x in noise)
        except TypeError:
            raise InputError(f"noise is a probability and a half-width in standard deviations, not {noise!r}") from None
        if not 0 <= chance < 1 or width <= 0:
            raise InputError(f"noise must be a probability and a half-width in standard deviations, not {noise!r}")
        return partial(_noisy, chance, width * np.sqrt(np.maximum(variances, 0.0)), centre, axes)
    if not 0 <= real_number(jitter, "jitter") <= 1:
        raise InputError(f"jitter must be a quantile between 0 and 1, not {jitter!r}")
    steps = np.diff(np.sort(data @ axes, axis=0), axis=0)
    spread = [np.quantile(x[x > 0], jitter) if (x > 0).any() else 0.0 for x in steps.T]
    return partial(_moved, np.array(spread), axes)


def _as_it_is(n: int, data: Array | SparseMatrix, rng: np.random.Generator) -> Changed:
    return data, np.arange(n), np.arange(n)


def _bootstrapped(n: int, data: Array | SparseMatrix, rng: np.random.Generator) -> Changed:
    chosen = np.unique(rng.integers(0, n, n))
    return data[chosen], chosen, np.arange(len(chosen))


def _subsampled(n: int, size: int, data: Array | SparseMatrix, rng: np.random.Generator) -> Changed:
    chosen = np.sort(rng.choice(n, size, replace=False))
    return data[chosen], chosen, np.arange(size)


def _moved(spread: Array, axes: Array, data: Array | SparseMatrix, rng: np.random.Generator) -> Changed:
    everything = np.arange(len(data))
    return data + (rng.normal(size=data.shape) * spread) @ axes.T, everything, everything


def _noisy(
    chance: float, width: Array, centre: Array, axes: Array, data: Array | SparseMatrix, rng: np.random.Generator
) -> Changed:
    """Some points replaced by uniform noise; the others are compared."""
    replaced = rng.random(len(data)) < chance
    disturbed = data.copy()
    disturbed[replaced] = rng.uniform(-width, width, (int(replaced.sum()), data.shape[1])) @ axes.T + centre
    kept = np.flatnonzero(~replaced)
    return disturbed, kept, kept


def _clustered(
    clusterer: Estimator,
    data: Array | SparseMatrix,
    change: Callable[[Array | SparseMatrix, np.random.Generator], Changed],
    stream: np.random.SeedSequence,
) -> tuple[Array, Array, list[str]]:
    """The points to compare, their labels in the resampled data, and warnings of the clusterer."""
    from threadpoolctl import threadpool_limits

    rng = np.random.default_rng(stream)
    changed, chosen, at = change(data, rng)
    n = changed.shape[0]
    fit = _fit(clusterer, seed_of(rng))
    with threadpool_limits(1), warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            made = hard(np.asarray(fit(changed)))
        except ValueError as error:
            raise InputError(f"the clusterer failed on {n} points: {str(error).splitlines()[0]}") from None
    if made.shape != (n,) or made.dtype.kind not in "iufb":
        raise InputError(
            f"the clusterer must return a whole number for each of {n} points; it returned {made.dtype} of shape {made.shape}"
        )
    if made.dtype.kind == "f" and not (np.isfinite(made) & (made == np.rint(made))).all():
        other = made[~(np.isfinite(made) & (made == np.rint(made)))][0]
        raise InputError(f"the clusterer must return whole numbers, −1 for noise; it returned {other:g}")
    return chosen, made.astype(np.int64)[at], [str(w.message).splitlines()[0] for w in said]


def _fit(clusterer: Estimator, seed: int) -> Callable[[Array | SparseMatrix], ClusteringLike]:
    """Data → labels, by a copy of a scikit-learn clusterer with this random state, or by a function."""
    if hasattr(clusterer, "fit") and hasattr(clusterer, "get_params") and not isinstance(clusterer, type):
        fit: Callable[[Array | SparseMatrix], ClusteringLike] = configured(clusterer, seed).fit_predict
        return fit
    if callable(clusterer) and not isinstance(clusterer, type):
        return clusterer
    raise InputError(
        f"clusterer must be a scikit-learn clusterer, as in KMeans(3), or a function of the data; got {clusterer!r}"
    )


def matched(before: Array, after: Array, clusters: Array) -> tuple[Array, Array]:
    """For each cluster, the Jaccard similarity to its best match among the new ones, and that match; −1 if there is none.

    Negative labels are in no cluster; the similarity of a cluster without points is NaN.

    >>> matched(np.array([0, 0, 1, 1]), np.array([5, 5, 5, 7]), np.array([0, 1]))
    (array([0.66666667, 0.5       ]), array([5, 7]))
    """
    new = np.unique(after[after >= 0])
    size = (before[:, None] == clusters).sum(axis=0)
    if not len(new):
        return np.where(size > 0, 0.0, np.nan), np.full(len(clusters), -1)
    both = (before >= 0) & (after >= 0)
    cells = np.searchsorted(clusters, before[both]) * len(new) + np.searchsorted(new, after[both])
    common = np.bincount(cells, minlength=len(clusters) * len(new)).reshape(len(clusters), len(new))
    theirs = np.bincount(np.searchsorted(new, after[after >= 0]))
    jaccard = common / np.maximum(size[:, None] + theirs - common, 1)
    best = jaccard.argmax(axis=1)
    top = jaccard[np.arange(len(clusters)), best]
    return np.where(size > 0, top, np.nan), np.where(top > 0, new[best], -1)
