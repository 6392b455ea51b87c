"""The ensemble of a report: consensus matrix, consensus clusterings, number of clusters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from congruence.consensus_clustering.methods import find as method_of
from congruence.consensus_clustering.results import Consensus
from congruence.consensus_clustering.search import consensus
from congruence.ensembles.agreement import lone_value
from congruence.ensembles.distribution import consensus_cdf
from congruence.errors import InputError
from congruence.figures.layout import Cells, cells_of
from congruence.formulas.matrices import certainty_random
from congruence.inputs.ensemble import Ensemble
from congruence.selection.choice import KChoice
from congruence.selection.number_of_clusters import choose_k
from congruence.statistics.tables import Array

#: most points for an exact distribution of the consensus; above it, this many pairs of points are drawn
EXACT_POINTS, DRAWN_PAIRS = 1000, 200_000
#: consensus methods to try; average linkage only up to this many points
METHODS, FEW = ("hbgf", "ncut", "kcc", "voting", "mcla"), 2000
#: most clusters of all members together for methods that need eigenvectors of clusters × clusters
SPECTRAL, MOST_CLUSTERS = ("hbgf", "ncut"), 2000
#: points × clusterings above which no method is tried, and certainty and slow measures are skipped
LARGE = 5_000_000
#: most pairs of a consensus cluster and a member's cluster, for all methods except linkage
MOST_CENTRES = 5_000_000


@dataclass(frozen=True, eq=False)
class Together:
    """The ensemble: its consensus matrix, certainty, and consensus clusterings."""

    cells: Cells
    cdf_values: Array
    cdf: Array
    cdf_pairs: float
    cdf_is_exact: bool
    pac: float
    #: None if it would take too long
    certainty: float | None
    random_certainty: float
    kmax: int
    n_clusters: int
    why_n_clusters: str
    #: one row per method: its scores, or why it was skipped
    methods: tuple[dict[str, Any], ...]
    best: Consensus | None
    choice: KChoice | None = None
    notes: tuple[str, ...] = ()


def together_of(
    e: Ensemble, n_clusters: int | None, random_state: Any, threads: int | None, central: Array
) -> Together:
    """The ensemble as a whole: number of clusters, consensus clusterings, consensus matrix."""
    choice = _choice(e, threads)
    k, why = _number_of_clusters(e, n_clusters, choice)
    best, rows = _consensus_rows(e, k, random_state)
    is_large = e.n_points * len(e) > LARGE
    cells = cells_of(
        e, None if best is None else best.labels, order=np.argsort(central, kind="stable") if is_large else None
    )
    exact = e.n_points <= EXACT_POINTS
    cdf = consensus_cdf(e, progress=False) if exact else consensus_cdf(e, sample=DRAWN_PAIRS, random_state=0)
    kmax = max(max(c.k for c in e.members), 2)
    values = np.unique(np.concatenate([[0.0], cdf.values, [1.0]]))
    if len(values) > 201:
        values = np.linspace(0, 1, 201)
    return Together(
        cells, values, np.asarray(cdf(values)), cdf.pairs, cdf.is_exact, cdf.pac(),
        None if is_large else lone_value("certainty", e, threads=threads), float(certainty_random(kmax, len(e))), kmax, k, why,
        rows, best, choice,
        () if best is None else best.notes,
    )  # fmt: skip


def _choice(e: Ensemble, threads: int | None) -> KChoice | None:
    """The curves over the number of clusters, if at least two numbers have at least two members each."""
    by_k: dict[int, list[int]] = {}
    for i, c in enumerate(e.members):
        by_k.setdefault(c.k, []).append(i)
    several = {k: e[found] for k, found in sorted(by_k.items()) if k > 1 and len(found) > 1}
    if len(several) < 2 or e.has_gaps:
        return None
    return choose_k(several, threads=threads, progress=False)


def _number_of_clusters(e: Ensemble, given: int | None, choice: KChoice | None) -> tuple[int, str]:
    if given is not None:
        return given, "as asked"
    if choice is not None and choice.k is not None:
        return choice.k, "the number of clusters that the curves favour"
    ks = sorted(c.k for c in e.members)
    middle = max(ks[(len(ks) - 1) // 2], 1)
    return middle, "as in every clustering" if ks[0] == ks[-1] else "the middle of the numbers of clusters in the file"


def _consensus_rows(e: Ensemble, k: int, random_state: Any) -> tuple[Consensus | None, tuple[dict[str, Any], ...]]:
    """The best consensus clustering by arimp, and one row for each method tried."""
    k, clusters = min(k, e.n_points), sum(c.k for c in e.members)
    able, left_out = [], []
    methods = (*METHODS, *(["average"] if e.n_points <= FEW else []))
    for method in methods:
        most = method_of(method).cluster_limit
        if e.n_points * len(e) > LARGE:
            why = f"slow for {len(e):,} clusterings of {e.n_points:,} points"
        elif (method in SPECTRAL and clusters > MOST_CLUSTERS) or (most is not None and clusters > most):
            why = f"slow for the {clusters:,} clusters of all members"
        elif method in METHODS and k * clusters > MOST_CENTRES:
            why = f"slow for {k:,} clusters out of the {clusters:,} of all members"
        else:
            able.append(method)
            continue
        left_out.append({"method": method, "left_out": f"{why}; `congruence consensus --method {method}` may run it"})
    if not able:
        return None, tuple(left_out)
    try:
        best = consensus(e, k, able, random_state, progress=False)
    except InputError as reason:  # no consensus of nothing
        return None, (*({"method": method, "left_out": str(reason)} for method in able), *left_out)
    return best, (*map(dict, best.tried), *left_out)
