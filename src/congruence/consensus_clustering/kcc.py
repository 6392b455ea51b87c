"""K-means-based consensus clustering: k-means on the votes."""

from __future__ import annotations

import numpy as np

from congruence.consensus_clustering.evidence import Evidence
from congruence.consensus_clustering.lloyd import cheapest, lloyd
from congruence.consensus_clustering.methods import Found, Method
from congruence.formulas.record import Better
from congruence.statistics.tables import Array


def squared_error(e: Evidence, totals: Array) -> Array:
    """Squared distance of a vote to each centre, up to a constant: a_l (1 − 2 c_u + Σ_v c_v²).

    The centre of a cluster in member l is the mean over its points that l labels, or the mean of all points if there are none.
    """
    per_member = _by_member(e, totals)
    everywhere = _by_member(e, e.sizes[None, :])
    mean = np.where(
        per_member > 0, totals / np.where(per_member > 0, per_member, 1.0), e.sizes / np.maximum(everywhere, 1e-300)
    )
    squares = _by_member(e, mean**2)
    return np.asarray((e.weight * (1 - 2 * mean + squares)).T)


def _by_member(e: Evidence, values: Array) -> Array:
    """For each column the sum of the values over the clusters of its member."""
    sums = np.add.reduceat(values, np.searchsorted(e.member, np.arange(e.n_members)), axis=1)
    return np.asarray(sums[:, e.member])


def _run(e: Evidence, k: int, rng: np.random.Generator, n_init: int = 10, **_: object) -> Found:
    labels, total, start, notes = lloyd(e, k, rng, squared_error, n_init)
    if e.is_soft:  # |h|² is not 1; it is the same for every centre
        weights = e.weight
        total += float((e.mass * ((e.votes.power(2) @ weights) - e.seen_share)).sum())
    return Found(labels, total, f"k-means on the votes{start}", notes, cheapest(squared_error(e, e.totals(labels, k))))


kcc = Method(
    key="kcc", title="K-means-based consensus clustering", objective="squared error", better=Better.LOWER,
    reference="wu2015", run=_run, restarts=("",), advice="fast; as good as ncut on mixed algorithms; weak on runs of k-means",
)  # fmt: skip
