"""The demo: data sets of scikit-learn, clustered in several ways."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from congruence.comparison.many import compare_all, compare_to
from congruence.comparison.matching import element_scores
from congruence.comparison.pair import compare
from congruence.comparison.results import AllPairs
from congruence.ensembles.agreement import why_trivial
from congruence.ensembles.generators import generate
from congruence.inputs.ensemble import Ensemble
from congruence.reporting.answer import counted_of
from congruence.reporting.html import Report, report
from congruence.reporting.members import same_partitions
from congruence.statistics.tables import Array
from congruence.typing import ClusteringLike


def data_of(name: str) -> tuple[Array, Array]:
    """The numbers of a data set, and its classes."""
    from sklearn.datasets import load_digits, load_wine
    from sklearn.preprocessing import StandardScaler

    if name == "digits":
        data, truth = load_digits(return_X_y=True)
        return data, truth
    data, truth = load_wine(return_X_y=True)
    return StandardScaler().fit_transform(data), truth


def features_of(name: str) -> list[str]:
    """The names of the features of a data set."""
    from sklearn.datasets import load_digits, load_wine

    return [str(x) for x in (load_digits() if name == "digits" else load_wine()).feature_names]


def clusterings(name: str) -> tuple[Array, dict[str, ClusteringLike]]:
    """The classes of a data set, and 29 clusterings of it: several algorithms and seeds, and various numbers of clusters."""
    from sklearn.cluster import AgglomerativeClustering, KMeans

    data, truth = data_of(name)
    k = len(np.unique(truth))
    found: dict[str, ClusteringLike] = {}
    for seed in range(4):
        found[f"kmeans, seed {seed}"] = KMeans(k, init="random", n_init=1, random_state=seed).fit_predict(data)
    for linkage in ("ward", "average"):
        found[f"{linkage} linkage"] = AgglomerativeClustering(k, linkage=linkage).fit_predict(data)
    found[f"kmeans, k={k + 2}"] = KMeans(k + 2, n_init=5, random_state=0).fit_predict(data)
    found[f"kmeans, k={k - 1}"] = KMeans(k - 1, n_init=5, random_state=0).fit_predict(data)
    runs = generate(data, 21, range(k - 1, k + 4) if k < 5 else range(k - 2, k + 3), random_state=0)
    return truth, {**found, **{f"random {i + 1}, k={c.k}": c for i, c in enumerate(runs)}}


def page(folder: Path, name: str, truth: Array, found: dict[str, ClusteringLike]) -> Report:
    """The report on one data set."""
    data, _ = data_of(name)
    return report(
        {"classes": truth, **found}, folder / f"{name}.html", reference="classes",
        data=dict(zip(features_of(name), data.T, strict=True)), title=f"Clusterings of {name}",
        command="congruence demo",
    )  # fmt: skip


def pages(folder: Path, names: Sequence[str] = ("wine", "digits")) -> list[Report]:
    """A report on wine and one on digits."""
    return [page(folder, name, *clusterings(name)) for name in names]


def show(folder: Path) -> list[Path]:
    """Print the demo and write its reports to a folder; returns the pages."""
    import sklearn.cluster  # noqa: F401  (only loaded libraries can be limited to one thread)
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):  # threads that wait for one another took half of the processor time on busy cores
        return _show(folder)


def _show(folder: Path) -> list[Path]:
    from sklearn.mixture import GaussianMixture

    made = {name: clusterings(name) for name in ("wine", "digits")}
    for name, (truth, found) in made.items():
        print(f"\n{name}: {len(truth)} points, {how_many(found)}\n{'=' * 60}")
        print("\nHow well does each clustering agree with the classes? (compare_to; the first eight)\n")
        named = dict(list(found.items())[:8])
        print(compare_to(truth, named, ["ari", "ami_max", "vi", "accuracy", "element_centric"]))
        print(f"\nClosest to the classes by ari: {compare_to(truth, found, 'ari').best('ari')}.")
        print("\nDo the clusterings agree with each other? (compare_all)\n")
        everything = compare_all(found, ["ari", "nmi_sum", "vi"])
        print("\n".join(everything.summary(key) for key in everything))
        print(_most_and_least(everything))
    data, _ = data_of("wine")
    soft = GaussianMixture(3, covariance_type="diag", n_init=3, random_state=0).fit(data).predict_proba(data)
    truth, found = made["wine"]
    print(f"\nwine: classes against the memberships of a Gaussian mixture (soft)\n{'=' * 60}\n")
    print(compare(truth, soft))
    scores = element_scores(truth, found["ward linkage"])
    shaky = np.argsort(scores)[:5]
    print(f"\nPoints on which the classes and ward linkage agree least: {', '.join(map(str, shaky.tolist()))}")
    folder.mkdir(parents=True, exist_ok=True)
    reports = {name: page(folder, name, *clustered) for name, clustered in made.items()}
    print("\nNext: congruence report FILE · congruence compare FILE A B · congruence matrix FILE · congruence measures")
    print(f"\nA report on each, to open in a browser:\n{'=' * 60}\n")
    for one in reports.values():
        assert one.path is not None
        print(f"  {one.path}  ({one.path.stat().st_size / 1e6:.1f} MB)")
    for name, one in reports.items():
        print(f"\n{name}: {one.summary.answer}")
    return [one.path for one in reports.values() if one.path is not None]


def how_many(found: dict[str, ClusteringLike]) -> str:
    """The number of clusterings in the report's answer, and the total with near-trivial ones."""
    e = Ensemble(found)
    counted = counted_of(range(len(e)), [why_trivial(c) for c in e.members], same_partitions(e))
    if len(counted) == len(e):
        return f"{len(e)} clusterings"
    return f"{len(counted)} clusterings ({len(e)} with near-trivial ones)"


def _most_and_least(r: AllPairs) -> str:
    values = np.where(np.eye(len(r.names), dtype=bool), np.nan, r["ari"])
    pairs = []
    for word, where in (("most", np.nanargmax(values)), ("least", np.nanargmin(values))):
        i, j = np.unravel_index(where, values.shape)
        pairs.append(f"{word} similar: {r.names[i]} and {r.names[j]} (ari {values[i, j]:.3f})")
    return "\n".join(pairs)
