"""The number of clusters in the data of a report, by `choose_k`, and what that means for the clusterings."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from congruence.comparison.pair import compare
from congruence.errors import InputError
from congruence.inputs.coerce import Clustering
from congruence.inputs.ensemble import Ensemble
from congruence.inputs.frames import make_frame
from congruence.reporting.answer import hard_labels
from congruence.reporting.points import Points
from congruence.reporting.together import LARGE
from congruence.selection.choice import KChoice
from congruence.selection.number_of_clusters import choose_k
from congruence.selection.points import MOST_POINTS
from congruence.statistics.tables import Array

#: most cells of the points used; more would take minutes
MOST_CELLS = 1_000_000


@dataclass(frozen=True, eq=False)
class Support:
    """The answer of `choose_k` on the data, or why there is none."""

    choice: KChoice | None
    #: why there is no answer; empty if there is one
    left_out: str
    #: the clustering that agrees best with the clusters found, and its adjusted Rand index; None for one cluster
    nearest: tuple[int, float] | None
    seconds: float


def support_of(points: Points, e: Ensemble, counted: Sequence[int], random_state: Any) -> Support | None:
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
        return None
    started = time.perf_counter()
    n, d = X.shape
    if min(n, MOST_POINTS) * d > MOST_CELLS:
        why = f"{d:,} columns are too many for a report; use `congruence choose-k`"
        return Support(None, why, None, 0.0)
    is_sparse = hasattr(X, "tocsr")
    named = X if is_sparse else make_frame({name: X[:, j] for j, name in enumerate(points.features)}, "pyarrow")
    try:
        choice = choose_k(named if len(set(points.features)) == d else X, random_state=random_state, progress=False)
    except InputError as reason:
        return Support(None, str(reason), None, 0.0)
    nearest = None
    if choice.k is not None and choice.k > 1 and choice.k in choice.partitions and n * len(counted) <= LARGE:
        found = {i: _agreement(choice.labels, e.members[i]) for i in counted}
        best = max(counted, key=lambda i: (found[i], -i))
        nearest = (best, found[best]) if found[best] > -math.inf else None
    return Support(choice, "", nearest, time.perf_counter() - started)


def _agreement(labels: Array, c: Clustering) -> float:
    """Adjusted Rand index on the points that the clustering labels; −∞ if it labels none."""
    codes = hard_labels(c)
    known = codes < c.k
    return compare(labels[known], codes[known], ["ari"])["ari"] if known.any() else -math.inf
