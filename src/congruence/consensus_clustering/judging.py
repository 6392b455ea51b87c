"""How well a clustering of the signatures stands for the members: pooled AMI, from one pass over their tables."""

from __future__ import annotations

import numpy as np

from congruence.consensus_clustering.evidence import Evidence
from congruence.statistics.tables import Array


def pooled_ami(e: Evidence, labels: Array) -> float:
    """Pooled AMI with the members, each on the points it has; −∞ for one cluster, which says nothing.

    Σ a_l (I_l − E_l) ÷ Σ a_l ((H(P) + H(l)) / 2 − E_l), with E_l = min((k − 1)(k_l − 1) / (2 n_l), H(P), H(l)).
    """
    k = int(labels.max()) + 1
    totals = e.totals(labels, k)
    starts = np.searchsorted(e.member, np.arange(e.n_members))
    per_cluster = np.add.reduceat(totals, starts, axis=1)  # k × members
    n = per_cluster.sum(axis=0)
    sizes = totals.sum(axis=0)
    h_labels = _entropy(per_cluster, n)
    h_member = np.log(n) - np.add.reduceat(_xlogx(sizes), starts) / n
    h_both = np.log(n) - np.add.reduceat(_xlogx(totals).sum(axis=0), starts) / n
    k_labels = (per_cluster > 0).sum(axis=0)
    k_member = np.add.reduceat(sizes > 0, starts, dtype=np.int64)
    if k_labels.max() < 2:
        return -np.inf
    chance = (k_labels - 1) * (k_member - 1) / (2 * n * e.points_per_mass)
    chance = np.minimum(chance, np.minimum(h_labels, h_member))
    above = e.share @ (np.maximum(h_labels + h_member - h_both, 0.0) - chance)
    most = e.share @ ((h_labels + h_member) / 2 - chance)
    return float(above / most) if most > 1e-13 else -np.inf


def _xlogx(x: Array) -> Array:
    return np.asarray(x * np.log(np.where(x > 0, x, 1.0)))


def _entropy(counts: Array, n: Array) -> Array:
    return np.asarray(np.log(n) - _xlogx(counts).sum(axis=0) / n)
