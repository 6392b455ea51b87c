"""The number of clusters for any clusterer: the largest k whose clusters are found again in halves and are separated."""

from __future__ import annotations

import numpy as np

from congruence.selection import calibration, families
from congruence.selection.agreement_curves import check_counts
from congruence.selection.choice import KChoice, curve_of
from congruence.selection.partitions import Question, placed
from congruence.typing import Estimator


def is_clusterer(method: str | Estimator) -> bool:
    """Whether this names a clusterer other than k-means, or is a scikit-learn clusterer."""
    if isinstance(method, str):
        return method in families.NAMES
    return hasattr(method, "fit_predict") and not isinstance(method, type)


def by_rule(asked: Question) -> KChoice:
    """The largest k whose clusters are found again in halves and are separated; if there is none, the most stable k."""
    from threadpoolctl import threadpool_limits

    check_counts(asked.method)
    able, notes, refused = asked.able(asked.called)
    if refused is not None:
        return refused
    clusterer = families.clusterer_of(asked.method)
    with threadpool_limits(1):
        found = families.family_of(asked.points.sample, able, clusterer, asked.seeds, asked.progress)
    if not found.is_complete:
        notes.append(f"stopped: {found.halvings} of {families.HALVINGS} halvings of the points are done")
    several = np.asarray(able) > 1
    holds = several & (found.returns >= calibration.RETURNS) & (found.border >= families.BORDER)
    returns = np.where(several, found.returns, np.nan)
    best = able[0] if able[0] == 1 else able[int(np.nanargmax(returns))]
    if holds.any():
        best = max(k for k, held in zip(able, holds, strict=True) if held)
    border = np.where(several & np.isfinite(found.border), found.border, np.nan)
    curves = [
        curve_of("rule", "Stable and separated", holds.astype(float), best, votes=True),
        curve_of("returns", "Stability of the worst cluster in halves", returns),
        curve_of("border", "Emptiness of the border between the nearest clusters", border),
    ]
    partitions = {k: placed(asked.points, labels) for k, labels in found.labels.items()}
    return asked.answer(able, {c.name: c for c in curves}, partitions, notes, found.is_complete, method=asked.called)
