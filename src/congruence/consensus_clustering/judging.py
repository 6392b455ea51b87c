"""How well a clustering of the signatures agrees with the members: pooled AMI, in one pass over their tables."""

from __future__ import annotations

import numpy as np

from congruence.consensus_clustering.evidence import Evidence
from congruence.formulas import find
from congruence.statistics.information import Info
from congruence.statistics.matrices import PooledInfo
from congruence.statistics.tables import Array, xlogx


def pooled_ami(e: Evidence, labels: Array) -> float:
    """Pooled AMI with the members, each on the points it labels; −∞ for a single cluster, which has no information."""
    totals = e.totals(labels, int(labels.max()) + 1) * e.points_per_mass
    starts = np.searchsorted(e.member, np.arange(e.n_members))
    inside, sizes = np.add.reduceat(totals, starts, axis=1), totals.sum(axis=0)
    if (inside > 0).sum(axis=0).max() < 2:
        return -np.inf
    never = np.zeros(e.n_members, dtype=bool)
    info = Info.from_sums(
        inside.sum(axis=0), xlogx(inside).sum(axis=0), np.add.reduceat(xlogx(sizes), starts),
        np.add.reduceat(xlogx(totals).sum(axis=0), starts), never, never, never,
    )  # fmt: skip
    counts = (inside > 0).sum(axis=0), np.add.reduceat(sizes > 0, starts, dtype=np.int64)
    return float(find("pooled_ami").values(PooledInfo(info, e.share, *counts))[0])
