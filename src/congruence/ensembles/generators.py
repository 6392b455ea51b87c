"""Ensembles from data or at random: many clusterings of the same points, each with its own random stream."""

from __future__ import annotations

import math
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from congruence.engine.plan import Progress, default_threads, generator_of, seed_sequence
from congruence.ensembles.soft_generators import Mixtures, fuzzy, possibilistic, seed_of
from congruence.errors import MOST_RUNS, Caution, InputError, Option, known_name, real_number, whole_number
from congruence.inputs.coerce import as_clustering
from congruence.inputs.column_kinds import check_features
from congruence.inputs.effects import refuse_idle
from congruence.inputs.ensemble import Ensemble
from congruence.inputs.formats import is_anndata, matrix_of
from congruence.inputs.labels import Labels, frame_kind, in_memory
from congruence.options import described
from congruence.statistics.tables import Array
from congruence.typing import CovarianceType, Estimator, Frame, Index, PointsLike, ProgressLike, Seed, SparseMatrix

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator
    from sklearn.cluster import KMeans

    from congruence.inputs.kinds import Clustering


#: makes one member, labels (NaN if missing) or memberships, from data, a number of clusters and a random stream
Maker = Callable[[Array | SparseMatrix, int, np.random.Generator], Array]

#: a member, and its warnings
_Made = tuple[Array, list[str]]

T = TypeVar("T")

#: largest absolute value of data: sums of squares of larger ones overflow
LARGEST = 1e140

MISSING = "the data have missing or infinite values; fill them in or drop those points first"


def takes_numbers(method: object) -> bool:
    """Whether a method, or one of several clusterers, has a number of clusters; methods by name have one."""
    clusterers = list(method) if isinstance(method, list | tuple) else [method]
    return any(not is_clusterer(c) or counts_of(c) for c in clusterers)


@described
def generate(
    X: PointsLike,
    n_members: int = 100,
    n_clusters: int | Iterable[int] = range(2, 11),
    method: str | Estimator = "kmeans",
    random_state: Seed = 0,
    *,
    fraction: float = 0.8,
    complete: bool = True,
    protocol: str | None = None,
    covariance_type: CovarianceType | None = None,
    n_jobs: int | None = None,
    progress: ProgressLike = None,
) -> Ensemble:
    """A diverse ensemble of clusterings of X.

    The same `random_state` gives the same members for any `n_jobs`. Warnings of a method, such as a mixture that did
    not converge, are in `.notes`.

    Args:
        X: See `congruence.options`.
        n_members: Number of members, at least 1. Default 100.
        n_clusters: Number of clusters, or several to draw from for each member. Default range(2, 11).
        method: "kmeans" (default; random starts), "projection" (Gaussian random projections), "features" (random
            subsets of attributes), "subsample" (k-means on a fraction of the points), "em" (Gaussian mixtures:
            memberships), "fuzzy" (fuzzy c-means: memberships), "possibilistic" (possibilistic c-means: memberships that do
            not add up to 1), "mixed" (kmeans, features and subsample in turn), a
            scikit-learn clusterer or pipeline, or a list of these, used in turn. Points that a clusterer labels −1
            have no label.
        random_state: See `congruence.options`.
        fraction: Share of the points that a subsample has, above 0 and at most 1. Default 0.8.
        complete: Whether points outside a subsample get the nearest centre; if False they have no label. Default
            True.
        protocol: "paper": mixtures as in Lei et al. (2014), where means start at random points, covariances at the
            variances of the attributes, and iterations stop when no mean moves by 1e-3 or after 100 steps. Default
            None: scikit-learn's.
        covariance_type: Covariances of mixtures: "full", "tied" (one for all components), "diag" (without correlations)
            or "spherical" (one variance per component). Default None: "diag" with protocol "paper", else "full".
        n_jobs, progress: See `congruence.options`.

    Returns:
        An `Ensemble`.

    See also:
        `cg.consensus`, `cg.choose_k`, `cg.random_partitions`.

    >>> import congruence as cg
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(60, 4))
    >>> cg.generate(X, 5, n_clusters=3, random_state=0)
    Ensemble: 5 clusterings of 60 points, 3 clusters each
    """
    refuse_idle(generate, {**locals(), "numbered": takes_numbers(method)})
    data = as_data(X)
    n = data.shape[0]
    choices = numbers_of(n_clusters, "n_clusters")
    whole_number(n_members, "n_members", 1, MOST_RUNS)
    if takes_numbers(method) and (not choices or choices[0] < 1 or choices[-1] > n):
        raise InputError(f"numbers of clusters must be from 1 to the number of points ({n}), not {choices or 'none'}")
    if not 0 < (fraction := real_number(fraction, "fraction")) <= 1:
        raise InputError(f"fraction must be above 0 and at most 1, not {fraction}")
    makers = makers_of(method, fraction, complete, hasattr(data, "tocsr"), Mixtures(protocol, covariance_type))
    names = [f"{makers[i % len(makers)][0]} {i}" for i in range(n_members)]
    with Progress(n_members, progress, "members") as bar:
        made, warned = made_members(makers, data, choices, seed_sequence(random_state).spawn(n_members), n_jobs, bar)
    ensemble = Ensemble(with_index(made, X), names=names, unassigned="partial")
    notes = (f"{many} of {n_members} members: {text}" for text, many in warned.items())
    ensemble.notes += tuple(Caution("generated", "", note) for note in notes)
    return ensemble


def numbers_of(k: int | Iterable[int], name: str) -> list[int]:
    """Distinct numbers of clusters in order, from one number or several."""
    listed = [k] if not isinstance(k, Iterable) else list(k)
    if not all(map(_is_whole, listed)):
        raise InputError(f"{name} must be a whole number or several, as in 5, range(2, 11) or [2, 3, 5]; got {k!r}")
    return sorted({int(x) for x in listed})


def _is_whole(x: object) -> bool:
    return isinstance(x, int | np.integer) and not isinstance(x, bool | np.timedelta64)


def with_index(members: Sequence[Array], X: PointsLike) -> list[Array] | list[Clustering]:
    """Clusterings of the rows of X, with its index if there is one, so that they are not compared with other rows."""
    if frame_kind(X) != "pandas":
        return list(members)
    index: Index = getattr(X, "index", None)
    found = map(as_clustering, members)
    return [replace(c, index=index) if isinstance(c, Labels) else c.taken(np.arange(len(c)), index) for c in found]


def made_members(
    makers: Sequence[tuple[str, Maker]],
    data: Array | SparseMatrix,
    choices: Sequence[int],
    streams: Sequence[np.random.SeedSequence],
    n_jobs: int | None,
    bar: Progress,
) -> tuple[list[Array], Counter[str]]:
    """One member per random stream, and how many of them gave each warning."""
    jobs = [partial(_member, makers[i % len(makers)][1], data, choices, stream) for i, stream in enumerate(streams)]
    members, warned = [], Counter[str]()
    for member, said in in_order(jobs, n_jobs):
        members.append(member)
        warned.update(set(said))
        bar.add(1)
    return members, warned


def as_data(X: PointsLike) -> Array | SparseMatrix:
    """A 2-D array of finite numbers, or a sparse matrix of them."""
    table: Frame = matrix_of(X)[0] if is_anndata(X) else in_memory(X)
    kind = frame_kind(table)
    if kind == "pandas" and np.asarray(table.isna()).any():
        raise InputError(MISSING)
    if kind is not None:
        table = table.collect() if hasattr(table, "collect") else table
        check_features(table, takes_text=False)
        framed = kind == "pyarrow" and bool(getattr(table, "columns", None))
        table = np.column_stack([np.asarray(c) for c in table.columns]) if framed else np.asarray(table)
    data: Array | SparseMatrix
    if hasattr(table, "tocsr"):
        sparse: SparseMatrix = table.tocsr().astype(np.float64)
        data, cells = sparse, sparse.data
    else:
        try:
            given = np.asarray(table)
            if given.dtype.kind == "c":
                raise TypeError
            if given.dtype.kind in "iu" and given.size and max(int(given.max()), -int(given.min())) > 2**53:
                raise InputError("the data hold integers above 2⁵³, which floats round; subtract a constant first")
            cells = data = np.asarray(given, dtype=np.float64)
        except InputError:
            raise
        except (TypeError, ValueError):
            raise InputError("the data must be numbers; encode nominal columns first (one column per value)") from None
    if data.ndim != 2 or 0 in data.shape:
        raise InputError(f"the data must be a 2-D array, points × features; got shape {data.shape}")
    if not np.isfinite(cells).all():
        raise InputError(MISSING)
    largest = float(np.abs(cells).max(initial=0.0))
    if largest > LARGEST or 0 < largest < 1 / LARGEST:
        raise InputError(f"the data reach {largest:.3g}, and squares of such numbers overflow; rescale the data")
    return data


def in_order(jobs: Sequence[Callable[[], T]], n_jobs: int | None, backend: str | None = None) -> Iterable[T]:
    """Results of the jobs in order, computed by n_jobs processes, or with backend "threading" by threads."""
    if n_jobs in (None, 1):
        return (job() for job in jobs)
    if not _is_whole(n_jobs) or n_jobs == 0:
        raise InputError(f"{Option('n_jobs')} must be a number of processes, or -1 for all cores; got {n_jobs!r}")
    from joblib import Parallel, delayed

    n_jobs = min(n_jobs, len(jobs), default_threads(None))  # more processes than cores waste memory
    parallel = Parallel(n_jobs=n_jobs, backend=backend, return_as="generator")
    found: Iterable[T] = parallel(delayed(job)() for job in jobs)
    return found


def _member(make: Maker, data: Array | SparseMatrix, choices: Sequence[int], stream: np.random.SeedSequence) -> _Made:
    """One member and its warnings; uses one thread, so that sums are added in the same order on every machine."""
    import sklearn.cluster  # noqa: F401  (only loaded libraries can be limited to one thread)
    from threadpoolctl import threadpool_limits

    rng = np.random.default_rng(stream)
    k = int(rng.choice(np.asarray(choices)))
    with threadpool_limits(1), warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        made = make(data, k, rng)
    # with fewer distinct points than clusters, the member has fewer clusters and is kept
    return made, [str(w.message).splitlines()[0] for w in said if "distinct clusters" not in str(w.message)]


# --- the methods ------------------------------------------------------------------------------------------------


def makers_of(
    method: str | Estimator, fraction: float, complete: bool, sparse: bool, mixtures: Mixtures
) -> list[tuple[str, Maker]]:
    """(name, maker) of the methods to use in turn."""
    mixtures.check(method)
    subsample = partial(_subsample, fraction=fraction, complete=complete)
    known: dict[str, list[tuple[str, Maker]]] = {
        "kmeans": [("kmeans", _kmeans)],
        "projection": [("projection", _projection)],
        "features": [("features", _features)],
        "subsample": [("subsample", subsample)],
        "em": [("em", mixtures.maker)],
        "fuzzy": [("fuzzy", fuzzy)],
        "possibilistic": [("possibilistic", possibilistic)],
        "mixed": [("kmeans", _kmeans), ("features", _features), ("subsample", subsample)],
    }
    if isinstance(method, str):
        known_name("method", method, known)
        if sparse and method in ("em", "fuzzy", "possibilistic"):
            raise InputError(f"method {method!r} needs dense data; pass X.toarray(), or use kmeans or projection")
        return known[method]
    clusterers = list(method) if isinstance(method, list | tuple) else [method]
    if not clusterers or not all(map(is_clusterer, clusterers)):
        raise InputError("method must be a name, a scikit-learn clusterer or a list of them")
    return [(type(c).__name__, partial(_by_clusterer, c)) for c in clusterers]


def is_clusterer(x: object) -> bool:
    """Whether it is a scikit-learn clusterer, not its class."""
    return hasattr(x, "fit") and hasattr(x, "get_params") and not isinstance(x, type)


def _fitted_kmeans(data: Array | SparseMatrix, k: int, rng: np.random.Generator) -> KMeans:
    from sklearn.cluster import KMeans

    return KMeans(k, init="random", n_init=1, random_state=seed_of(rng)).fit(data)


def _kmeans(data: Array | SparseMatrix, k: int, rng: np.random.Generator) -> Array:
    return np.asarray(_fitted_kmeans(data, k, rng).labels_)


def _fewer(features: int, rng: np.random.Generator) -> int:
    """Between half of the features and all but one; at least one."""
    return int(rng.integers(max(1, math.ceil(features / 2)), max(2, features)))


def _projection(data: Array | SparseMatrix, k: int, rng: np.random.Generator) -> Array:
    to = _fewer(data.shape[1], rng)
    return _kmeans(data @ (rng.normal(size=(data.shape[1], to)) / math.sqrt(to)), k, rng)


def _features(data: Array | SparseMatrix, k: int, rng: np.random.Generator) -> Array:
    chosen = np.sort(rng.choice(data.shape[1], _fewer(data.shape[1], rng), replace=False))
    return _kmeans(data[:, chosen], k, rng)


def _subsample(
    data: Array | SparseMatrix, k: int, rng: np.random.Generator, *, fraction: float, complete: bool
) -> Array:
    n = data.shape[0]
    chosen = np.sort(rng.choice(n, max(k, round(fraction * n)), replace=False))
    model = _fitted_kmeans(data[chosen], k, rng)
    if complete:
        return np.asarray(model.predict(data))
    labels = np.full(n, np.nan)
    labels[chosen] = model.labels_
    return labels


def _by_clusterer(clusterer: Estimator, data: Array | SparseMatrix, k: int, rng: np.random.Generator) -> Array:
    """A copy of a scikit-learn clusterer with this number of clusters and random state, if it has these parameters.

    Noise (label −1, as in DBSCAN) becomes a missing label.
    """
    made = np.asarray(configured(clusterer, seed_of(rng), k).fit_predict(data))
    return np.where(made == -1, np.nan, made) if made.ndim == 1 and made.dtype.kind in "if" else made


def counts_of(clusterer: BaseEstimator) -> list[str]:
    """The parameter of a scikit-learn clusterer for the number of clusters, in a list that is empty if it has none."""
    last = f"{clusterer.steps[-1][0]}__" if hasattr(clusterer, "steps") else ""  # a pipeline clusters in its last step
    known = clusterer.get_params(deep=True)
    return [name for name in (f"{last}n_clusters", f"{last}n_components") if name in known][:1]


def configured(clusterer: Estimator, seed: int, k: int | None = None) -> BaseEstimator:
    """A copy of a scikit-learn clusterer with this random state in every step, and with k clusters."""
    from sklearn.base import clone

    model = clone(clusterer)
    settings = {name: seed for name in model.get_params(deep=True) if name.split("__")[-1] == "random_state"}
    if k is not None:
        settings |= dict.fromkeys(counts_of(model), k)
    return model.set_params(**settings)


def hard(made: Array) -> Array:
    """Labels of a clusterer; for memberships, the cluster with the largest."""
    return made.argmax(axis=1) if made.ndim == 2 else made


# --- random members ----------------------------------------------------------------------------------------------


@described
def random_partitions(n: int, n_members: int, kmax: int, random_state: Seed = 0) -> Ensemble:
    """Random members: each has k ~ U{2 … kmax} clusters and assigns every point to one of them at random.

    Args:
        n: Number of points.
        n_members: Number of members.
        kmax: Largest number of clusters, at least 2.
        random_state: See `congruence.options`.

    Returns:
        An `Ensemble`.

    See also:
        `cg.certainty_random`.

    >>> import congruence as cg
    >>> cg.random_partitions(100, 5, 4, random_state=0)
    Ensemble: 5 clusterings of 100 points, 2 to 4 clusters each
    """
    n, n_members = whole_number(n, "n", 1, 2**40), whole_number(n_members, "n_members", 1, MOST_RUNS)
    kmax = whole_number(kmax, "kmax", 2, 2**62)
    rng = generator_of(random_state)
    return Ensemble([rng.integers(0, rng.integers(2, kmax + 1), n) for _ in range(n_members)])
