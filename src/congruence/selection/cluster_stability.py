"""Which clusters hold when points are drawn anew."""

from __future__ import annotations

import math
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

import numpy as np

from congruence.comparison.results import number
from congruence.engine.plan import Progress
from congruence.ensembles.generators import as_data, configured, hard, in_order, seed_of, seed_sequence
from congruence.errors import InputError
from congruence.inputs.frames import frame_kind, make_frame, text_grid
from congruence.statistics.tables import Array

__all__ = ["ClusterStability", "stability"]


@dataclass(frozen=True, eq=False)
class ClusterStability:
    """How well each cluster is found again when points are drawn anew.

    >>> import congruence as cg
    >>> import numpy as np
    >>> from sklearn.cluster import KMeans
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 2)) + np.repeat([[0, 0], [12, 0]], [40, 20], axis=0)
    >>> s = cg.stability(X, KMeans(3, n_init=10), n_resamples=20, random_state=0)
    >>> sum(value > 0.95 for value in s.mean.values())  # one group is found, the other cut in two at will
    1
    """

    #: cluster of each point in the clustering of all of them; −1 for noise
    labels: Array
    clusters: tuple[int, ...]
    #: Jaccard similarity to the best match, one row a resample, one column a cluster; NaN where no point of it was drawn
    jaccard: Array
    #: how often each point, when it was drawn, was in the best match of each cluster; NaN for points never drawn
    belonging: Array
    scheme: str
    #: what the points are called
    points: tuple[Any, ...] = field(repr=False)
    notes: tuple[str, ...] = ()

    @property
    def mean(self) -> dict[int, float]:
        """Mean Jaccard similarity of each cluster to its best match."""
        there = ~np.isnan(self.jaccard)
        with np.errstate(invalid="ignore"):  # 0/0: no point of the cluster was ever drawn
            means = np.where(there, self.jaccard, 0.0).sum(axis=0) / there.sum(axis=0)
        return dict(zip(self.clusters, means.tolist(), strict=True))

    @property
    def overall(self) -> float:
        """The mean over clusters, by the number of points in each."""
        sizes = np.array([int((self.labels == c).sum()) for c in self.clusters])
        means = np.array(list(self.mean.values()))
        drawn = ~np.isnan(means)
        return float(np.average(means[drawn], weights=sizes[drawn]))

    def to_frame(self, backend: str | None = None) -> Any:
        """One row a cluster: points, mean and standard error, how often it was recovered (≥ 0.75) and dissolved (≤ 0.5)."""
        there = ~np.isnan(self.jaccard)
        means = np.array(list(self.mean.values()))
        many = np.where(there.any(axis=0), there.sum(axis=0), np.nan)
        columns = {
            "cluster": list(self.clusters),
            "points": [int((self.labels == c).sum()) for c in self.clusters],
            "mean": means,
            "error": np.sqrt(np.where(there, (self.jaccard - means) ** 2, 0.0).sum(axis=0)) / many,
            "recovered": np.where(there, self.jaccard >= 0.75, False).sum(axis=0) / many,
            "dissolved": np.where(there, self.jaccard <= 0.5, False).sum(axis=0) / many,
            "verdict": [_verdict(x) for x in means.tolist()],
        }
        return make_frame(columns, backend)

    def unstable(self, cluster: int, limit: int = 10, backend: str | None = None) -> Any:
        """The points that make a cluster unstable, worst first: its own that leave its best match, others that join it.

        `share` is how often a point was in the best match; `error` is 1 − share for the cluster's own, share for others.
        """
        if cluster not in self.clusters:
            raise InputError(f"there is no cluster {cluster!r}; there are: {', '.join(map(str, self.clusters))}")
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
    """In the words of Hennig's advice."""
    if math.isnan(mean):
        return "never drawn"
    for limit, words in ((0.85, "highly stable"), (0.75, "stable"), (0.6, "a pattern; which points is doubtful")):
        if mean >= limit:
            return words
    return "not to be trusted"


def stability(
    X: Any,
    clusterer: Any,
    *,
    scheme: Literal["bootstrap", "subsample"] = "bootstrap",
    n_resamples: int = 100,
    fraction: float = 0.8,
    random_state: Any = None,
    n_jobs: int | None = None,
    progress: Callable[[int, int], Any] | bool | None = None,
) -> ClusterStability:
    """Cluster by cluster, how well it is found again when points are drawn anew (as Hennig's clusterboot).

    The data are clustered, then each of `n_resamples` draws of points: "bootstrap" (as many as there are, with
    replacement, each point used once) or "subsample" (a `fraction`, without). Of each cluster the points drawn are held
    against the clusters of that draw, and the best Jaccard similarity is kept. `clusterer` is a scikit-learn clusterer
    or mixture, or a function of the data that gives labels; −1 is noise, and memberships count by their largest.

    >>> import congruence as cg
    >>> from sklearn.cluster import KMeans
    >>> from sklearn.datasets import load_iris
    >>> s = cg.stability(load_iris().data, KMeans(3, n_init=10), n_resamples=20, random_state=0)
    >>> {cluster: round(value, 2) for cluster, value in s.mean.items()}
    {0: 1.0, 1: 0.94, 2: 0.93}
    """
    data = as_data(X)
    n = data.shape[0]
    if scheme not in ("bootstrap", "subsample"):
        raise InputError(f"scheme must be 'bootstrap' or 'subsample', not {scheme!r}")
    if n_resamples < 1 or not 0 < fraction < 1:
        raise InputError(
            f"n_resamples must be at least 1 and fraction between 0 and 1, not {n_resamples} and {fraction}"
        )
    first, *streams = seed_sequence(random_state).spawn(1 + n_resamples)
    _, whole, said = _clustered(clusterer, data, lambda rng: np.arange(n), first)
    clusters = np.unique(whole[whole >= 0])
    if not len(clusters):
        raise InputError("the clusterer found no cluster in the data: all points are noise")
    part = max(1, round(fraction * n))
    draw = partial(_bootstrapped, n) if scheme == "bootstrap" else partial(_subsampled, n, part)
    jobs = [partial(_clustered, clusterer, data, draw, stream) for stream in streams]
    jaccard = np.full((n_resamples, len(clusters)), np.nan)
    inside, drawn, warned = np.zeros((n, len(clusters))), np.zeros(n), Counter(set(said))
    with Progress(n_resamples, progress, "resamples") as bar:
        for r, (chosen, again, said) in enumerate(in_order(jobs, n_jobs)):
            warned.update(set(said))
            jaccard[r], match = _matched(whole[chosen], again, clusters)
            inside[chosen] += (again[:, None] == match[None, :]) & (again >= 0)[:, None]
            drawn[chosen] += 1
            bar.add(1)
    with np.errstate(invalid="ignore", divide="ignore"):
        belonging = np.where(drawn[:, None] > 0, inside / drawn[:, None], np.nan)
    points = tuple(X.index) if frame_kind(X) == "pandas" else tuple(range(n))
    notes = tuple(f"{many} of {n_resamples + 1} clusterings: {text}" for text, many in warned.items())
    return ClusterStability(whole, tuple(clusters.tolist()), jaccard, belonging, scheme, points, notes)


def _bootstrapped(n: int, rng: np.random.Generator) -> Array:
    return np.unique(rng.integers(0, n, n))


def _subsampled(n: int, size: int, rng: np.random.Generator) -> Array:
    return np.sort(rng.choice(n, size, replace=False))


def _clustered(
    clusterer: Any, data: Any, draw: Callable[[np.random.Generator], Array], stream: np.random.SeedSequence
) -> tuple[Array, Array, list[str]]:
    """The points drawn, their labels, and what was warned of."""
    from threadpoolctl import threadpool_limits

    rng = np.random.default_rng(stream)
    chosen = draw(rng)
    fit = _fit(clusterer, seed_of(rng))
    with threadpool_limits(1), warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            made = hard(np.asarray(fit(data[chosen])))
        except ValueError as error:
            raise InputError(f"the clusterer failed on {len(chosen)} points: {str(error).splitlines()[0]}") from None
    if made.shape != (len(chosen),) or made.dtype.kind not in "iufb":
        raise InputError(
            f"the clusterer must give a whole number for each of {len(chosen)} points; it gave {made.dtype} of shape {made.shape}"
        )
    if made.dtype.kind == "f" and not (np.isfinite(made) & (made == np.rint(made))).all():
        other = made[~(np.isfinite(made) & (made == np.rint(made)))][0]
        raise InputError(f"the clusterer must give whole numbers, −1 for noise; it gave {other:g}")
    return chosen, made.astype(np.int64), [str(w.message).splitlines()[0] for w in said]


def _fit(clusterer: Any, seed: int) -> Callable[[Any], Any]:
    """Data → labels, by a copy of a scikit-learn clusterer with this random state, or by a function."""
    if hasattr(clusterer, "fit") and hasattr(clusterer, "get_params") and not isinstance(clusterer, type):
        return partial(_fit_predict, configured(clusterer, seed))
    if callable(clusterer) and not isinstance(clusterer, type):
        return clusterer  # type: ignore[no-any-return]
    raise InputError(
        f"clusterer must be a scikit-learn clusterer, as in KMeans(3), or a function of the data; got {clusterer!r}"
    )


def _fit_predict(model: Any, data: Any) -> Any:
    return model.fit_predict(data)


def _matched(before: Array, after: Array, clusters: Array) -> tuple[Array, Array]:
    """Of each cluster the Jaccard similarity to its best match among the new ones, and that match; −1 where there is none."""
    new = np.unique(after[after >= 0])
    mine, theirs = (before[:, None] == clusters).astype(np.int64), (after[:, None] == new).astype(np.int64)
    size = mine.sum(axis=0)
    if not len(new):
        return np.where(size > 0, 0.0, np.nan), np.full(len(clusters), -1)
    common = mine.T @ theirs
    jaccard = common / np.maximum(size[:, None] + theirs.sum(axis=0) - common, 1)
    best = jaccard.argmax(axis=1)
    top = jaccard[np.arange(len(clusters)), best]
    return np.where(size > 0, top, np.nan), np.where(top > 0, new[best], -1)
