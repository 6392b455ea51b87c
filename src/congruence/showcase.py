"""The demo: data that ships with scikit-learn, clustered in several ways, and what the comparison says."""

from __future__ import annotations

from typing import Any

import numpy as np

from congruence.comparison import compare, compare_all, compare_to, element_scores
from congruence.results import AllPairs


def clusterings(name: str) -> tuple[Any, dict[str, Any]]:
    """The classes of a data set, and clusterings of it by several algorithms and seeds."""
    from sklearn.cluster import AgglomerativeClustering, KMeans
    from sklearn.datasets import load_digits, load_wine
    from sklearn.preprocessing import StandardScaler

    if name == "wine":
        data, truth = load_wine(return_X_y=True)
        data, k = StandardScaler().fit_transform(data), 3
    else:
        (data, truth), k = load_digits(return_X_y=True), 10
    found: dict[str, Any] = {}
    for seed in range(4):
        found[f"kmeans, seed {seed}"] = KMeans(k, init="random", n_init=1, random_state=seed).fit_predict(data)
    for linkage in ("ward", "average"):
        found[f"{linkage} linkage"] = AgglomerativeClustering(k, linkage=linkage).fit_predict(data)
    found[f"kmeans, k={k + 2}"] = KMeans(k + 2, n_init=5, random_state=0).fit_predict(data)
    found[f"kmeans, k={k - 1}"] = KMeans(k - 1, n_init=5, random_state=0).fit_predict(data)
    return truth, found


def show() -> None:
    """Print the demo."""
    from sklearn.datasets import load_wine
    from sklearn.mixture import GaussianMixture
    from sklearn.preprocessing import StandardScaler

    for name in ("wine", "digits"):
        truth, found = clusterings(name)
        print(f"\n{name}: {len(truth)} points, {len(found)} clusterings\n{'=' * 60}")
        print("\nHow well does each clustering agree with the classes? (compare_to)\n")
        against = compare_to(truth, found, ["ari", "ami_max", "vi", "accuracy", "element_centric"])
        print(against)
        print(f"\nNearest to the classes by ari: {against.best('ari')}.")
        print("\nDo the clusterings agree with each other? (compare_all)\n")
        everything = compare_all(found, ["ari", "nmi_sum", "vi"])
        print("\n".join(everything.summary(key) for key in everything))
        print(_most_and_least(everything))
    data = StandardScaler().fit_transform(load_wine().data)
    soft = GaussianMixture(3, covariance_type="diag", n_init=3, random_state=0).fit(data).predict_proba(data)
    truth, found = clusterings("wine")
    print(f"\nwine: classes against the memberships of a Gaussian mixture (soft)\n{'=' * 60}\n")
    print(compare(truth, soft))
    scores = element_scores(truth, found["ward linkage"])
    shaky = np.argsort(scores)[:5]
    print(f"\nPoints on which the classes and ward linkage agree least: {', '.join(map(str, shaky.tolist()))}")
    print("\nNext: congruence compare FILE COL_A COL_B · congruence matrix FILE · congruence measures")


def _most_and_least(r: AllPairs) -> str:
    values = np.where(np.eye(len(r.names), dtype=bool), np.nan, r["ari"])
    pairs = []
    for word, where in (("most", np.nanargmax(values)), ("least", np.nanargmin(values))):
        i, j = np.unravel_index(where, values.shape)
        pairs.append(f"{word} alike: {r.names[i]} and {r.names[j]} (ari {values[i, j]:.3f})")
    return "\n".join(pairs)
