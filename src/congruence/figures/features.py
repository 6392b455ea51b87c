"""Effect sizes of features: how each cluster differs from the other points."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from congruence.ensembles.generators import as_data
from congruence.errors import InputError
from congruence.inputs.labels import is_frame, names_of_columns
from congruence.statistics.tables import Array
from congruence.typing import PointsLike

#: features named for a cluster, and most features of the heat map
NAMED, MOST_FEATURES = 5, 30


@dataclass(frozen=True, eq=False)
class Features:
    """Standardised differences of features between each cluster and all other points (Cohen's d)."""

    names: tuple[str, ...]
    #: clusters × features of the heat map, the feature that differs most first
    effects: Array
    #: for each cluster, the features that differ most, as (name, effect)
    named: tuple[tuple[tuple[str, float], ...], ...]


def features_of(X: Array, names: tuple[str, ...], labels: Array, k: int) -> Features | None:
    """Effect sizes of dense data; None for sparse data, or if there is nothing to compare.

    >>> x = np.array([[0.0, 5], [1, 6], [4, 5], [5, 6]])
    >>> found = features_of(x, ("a", "b"), np.array([0, 0, 1, 1]), 2)
    >>> [[(name, round(d, 3)) for name, d in cluster] for cluster in found.named]
    [[('a', -5.657)], [('a', 5.657)]]
    """
    if hasattr(X, "toarray") or k < 2:
        return None
    effects = np.zeros((k, X.shape[1]))
    known = labels < k
    for c in range(k):
        inside, outside = X[known & (labels == c)], X[known & (labels != c)]
        if not len(inside) or not len(outside):
            continue
        n, m = len(inside), len(outside)
        spread = np.sqrt((n * inside.var(axis=0) + m * outside.var(axis=0)) / max(n + m - 2, 1))
        difference = inside.mean(axis=0) - outside.mean(axis=0)
        effects[c] = np.where(spread > 0, difference / np.where(spread > 0, spread, 1.0), 0.0)
    strongest = np.argsort(-np.abs(effects).max(axis=0), kind="stable")[:MOST_FEATURES]
    named = []
    for row in effects:
        top = np.argsort(-np.abs(row), kind="stable")[:NAMED]
        named.append(tuple((names[j], float(row[j])) for j in top.tolist() if row[j] != 0))
    return Features(tuple(names[j] for j in strongest.tolist()), effects[:, strongest], tuple(named))


def numbers_of(data: PointsLike, n: int) -> tuple[Array, tuple[str, ...]]:
    """The data as points × features, and the names of the features; default names if the data have none."""
    names = None
    if is_frame(data):
        names = [str(x) for x in names_of_columns(data)]
    elif isinstance(data, dict):
        if not data:
            raise InputError("the data have no columns")
        names, data = [str(x) for x in data], np.column_stack([np.asarray(x) for x in data.values()])
    X = as_data(data)
    X = X.toarray() if hasattr(X, "toarray") and X.shape[1] <= 50 else X
    if X.shape[0] != n:
        raise InputError(
            f"the data have {X.shape[0]} rows and the clusterings {n} points; both must have the same points"
        )
    return X, tuple(names or (f"column {j + 1}" for j in range(X.shape[1])))
