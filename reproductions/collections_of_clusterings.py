"""Collections of clusterings with a known truth, to score consensus methods on: generated data and members, members of
real data, and clusterings that others made. Every set of data belongs to one half, DEV or TEST: generated sets by their
draw (TEST was drawn when `auto` was done), the others by a hash of their name.
"""

from __future__ import annotations

import hashlib
import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import congruence as cg
from reproductions import consensus_real, datasets

#: real sets with numbers to cluster, by the names of `reproductions.datasets`
REAL = (
    "australian", "breast_w_diagnostic", "breast_w_original", "bupa", "glass", "haberman", "heart_statlog", "hepatitis",
    "ionosphere", "iris", "new_thyroid", "pima", "sonar", "synthetic_control", "vehicle", "waveform21", "wine",
)  # fmt: skip
#: most points of a real set; more are sampled, with a fixed seed
MOST = 1_000
#: shares of five clusters of very unequal sizes
UNEQUAL = (0.45, 0.27, 0.15, 0.08, 0.05)


@dataclass(frozen=True, kw_only=True)
class Collection:
    """A truth and members: what data, which members, which half."""

    name: str
    #: "generated", "real data" or "others' clusterings"
    source: str
    #: the kind of members
    members: str
    half: str
    make: Callable[[], tuple[cg.Ensemble, np.ndarray]]
    #: the points that were clustered, if they are known
    data: Callable[[], np.ndarray] | None = None


#: draws of generated data: the first four were looked at while `auto` was built, the others drawn when it was done
DRAWS = {0: "DEV", 1: "DEV", 2: "DEV", 3: "DEV", 4: "TEST", 5: "TEST"}


def half(name: str) -> str:
    """DEV or TEST, decided by the name of real data."""
    return "DEV" if hashlib.sha256(name.encode()).digest()[0] % 2 else "TEST"


def seed(name: str) -> np.random.Generator:
    """A random stream determined by the name."""
    return np.random.default_rng(zlib.crc32(name.encode()))


# --- data -------------------------------------------------------------------------------------------------------


def gaussians(
    name: str, shares: Any, dims: int, separation: float, noise_dims: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Gaussian clusters of the given shares of 400 points; some columns may be noise."""
    rng = seed(name)
    shares = np.asarray(shares)
    y = np.repeat(np.arange(len(shares)), np.maximum(np.round(400 * shares).astype(int), 8))
    centres = rng.normal(size=(len(shares), dims)) * separation
    spread = rng.uniform(0.6, 1.4, size=len(shares))
    X = centres[y] + rng.normal(size=(len(y), dims)) * spread[y][:, None]
    return np.hstack([X, rng.normal(size=(len(y), noise_dims)) * X.std()]), y


def generated(draws: Iterable[int]) -> dict[str, Callable[[], tuple[np.ndarray, np.ndarray]]]:
    """Sets of Gaussian clusters: 2 to 12 clusters, equal and unequal sizes, near and far, with and without noise."""
    found: dict[str, Callable[[], tuple[np.ndarray, np.ndarray]]] = {}

    def add(name: str, *what: Any) -> None:
        found[name] = lambda: gaussians(name, *what)

    for draw in draws:
        for k, dims in ((2, 2), (3, 5), (5, 3), (8, 4), (12, 6)):
            near = seed(f"near {draw} {k}").uniform(1.2, 2.8)
            add(f"equal k={k} {draw}", np.full(k, 1 / k), dims, near)
        for dims in (2, 4, 8):
            near = seed(f"near unequal {draw} {dims}").uniform(1.2, 2.8)
            add(f"45/27/15/8/5 d={dims} {draw}", UNEQUAL, dims, near)
        for k in (3, 8):
            near = seed(f"near geometric {draw} {k}").uniform(1.4, 3.0)
            ratio = 0.5 ** np.arange(k) if k == 3 else 0.7 ** np.arange(k)
            add(f"geometric k={k} {draw}", ratio / ratio.sum(), 4, near)
        add(f"noise columns k=4 {draw}", np.full(4, 0.25), 3, 2.5, 3)
    return found


def real(name: str) -> tuple[np.ndarray, np.ndarray]:
    """A real set, standardised, at most MOST points of it."""
    X, y = datasets.load(name, standardise=True)
    if len(y) > MOST:
        some = np.sort(seed(name).choice(len(y), MOST, replace=False))
        X, y = X[some], y[some]
    return X, y


# --- members ----------------------------------------------------------------------------------------------------


def kmeans(X: np.ndarray, k: int, rng: np.random.Generator, n_init: int = 1) -> np.ndarray:
    """One run of k-means from one random start."""
    from sklearn.cluster import KMeans
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = KMeans(k, init="random", n_init=n_init, max_iter=50, random_state=int(rng.integers(2**31)))
        return np.asarray(model.fit_predict(X))


def right_k(X: np.ndarray, y: np.ndarray, rng: np.random.Generator) -> list[np.ndarray]:
    """30 runs of k-means with the true k."""
    return [kmeans(X, len(set(y.tolist())), rng) for _ in range(30)]


def around_k(X: np.ndarray, y: np.ndarray, rng: np.random.Generator) -> list[np.ndarray]:
    """30 runs of k-means with k from 2 to twice the true one."""
    most = max(2 * len(set(y.tolist())), 4)
    return [kmeans(X, int(rng.integers(2, most + 1)), rng) for _ in range(30)]


def up_to_root(X: np.ndarray, y: np.ndarray, rng: np.random.Generator) -> list[np.ndarray]:
    """20 runs of k-means with k from 2 to the root of the number of points."""
    return [kmeans(X, int(rng.integers(2, int(len(y) ** 0.5) + 1)), rng) for _ in range(20)]


def mixed(X: np.ndarray, y: np.ndarray, rng: np.random.Generator) -> list[np.ndarray]:
    """30 members by k-means, four linkages and Gaussian mixtures, random k and half of the columns: many are near-trivial."""
    from scipy.cluster.hierarchy import fcluster, linkage
    from sklearn.mixture import GaussianMixture

    found = []
    for i in range(30):
        some = rng.choice(X.shape[1], max(X.shape[1] // 2, min(2, X.shape[1])), replace=False)
        part, k = X[:, some], int(rng.integers(2, max(2 * len(set(y.tolist())), 4) + 1))
        how = ("kmeans", "single", "average", "complete", "ward", "mixture")[i % 6]
        if how == "kmeans":
            found.append(kmeans(part, k, rng))
        elif how == "mixture":
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model = GaussianMixture(k, covariance_type="diag", max_iter=50, random_state=int(rng.integers(2**31)))
                found.append(model.fit_predict(part))
        else:
            found.append(fcluster(linkage(part, how), k, "maxclust"))
    return found


def poor(X: np.ndarray, y: np.ndarray, rng: np.random.Generator) -> list[np.ndarray]:
    """12 runs of k-means with the true k, and 18 that split single points off one cluster or are random."""
    found, k = [kmeans(X, len(set(y.tolist())), rng) for _ in range(12)], len(set(y.tolist()))
    for i in range(18):
        labels = rng.integers(k, size=len(y)) if i % 2 else np.zeros(len(y), int)
        if not i % 2:
            labels[rng.choice(len(y), k - 1, replace=False)] = np.arange(1, k)
        found.append(labels)
    return found


def copies(X: np.ndarray, y: np.ndarray, rng: np.random.Generator) -> list[np.ndarray]:
    """10 copies of the truth with a share of the labels, 20 to 70 %, redrawn."""
    share, k = rng.uniform(0.2, 0.7), len(set(y.tolist()))
    return [np.where(rng.random(len(y)) < share, rng.integers(k, size=len(y)), y) for _ in range(10)]


MEMBERS = {
    "k-means, true k": right_k, "k-means, 2..2k": around_k, "k-means, 2..√n": up_to_root, "mixed algorithms": mixed,
    "60 % poor": poor, "noisy copies": copies,
}  # fmt: skip
#: kinds of members made for real data
ON_REAL = ("k-means, 2..2k", "k-means, 2..√n", "mixed algorithms")


def collections(draws: Iterable[int] = tuple(DRAWS)) -> Iterator[Collection]:
    """All collections, generated ones of these draws; those of missing data are skipped."""

    def made(name: str, kind: str, data: Callable[[], tuple[np.ndarray, np.ndarray]]) -> Callable[[], Any]:
        def make() -> tuple[cg.Ensemble, np.ndarray]:
            X, y = data()
            return cg.Ensemble(MEMBERS[kind](X, y, seed(f"{name}, {kind}"))), y

        return make

    for name, data in generated(draws).items():
        for kind in MEMBERS:
            yield Collection(
                name=name,
                source="generated",
                members=kind,
                half=DRAWS[int(name.split()[-1])],
                make=made(name, kind, data),
                data=lambda data=data: data()[0],  # type: ignore[misc]
            )
    for name in REAL:
        if datasets.local(name) is None and name not in datasets.BUNDLED:
            continue
        for kind in ON_REAL:
            where = made(name, kind, lambda name=name: real(name))  # type: ignore[misc]
            points = lambda name=name: real(name)[0]  # type: ignore[misc]  # noqa: E731
            yield Collection(name=name, source="real data", members=kind, half=half(name), make=where, data=points)
    for source in consensus_real.SETS:
        if consensus_real.path_of(source) is not None:

            def others(source: Any = source) -> tuple[cg.Ensemble, np.ndarray]:
                members, truth = consensus_real.load(source)
                return members, truth if source.noise is None else np.where(truth == source.noise, -1, truth)

            yield Collection(
                name=source.title, source="others' clusterings", members="others'", half=half(source.title), make=others
            )
