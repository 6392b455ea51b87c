"""What the methods share: what they are given and return, and k-means from many starts."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from congruence.alternative_clustering.points import Points
from congruence.ensembles.soft_generators import seed_of
from congruence.statistics.tables import Array
from congruence.typing import OptionValue

if TYPE_CHECKING:
    from sklearn.cluster import KMeans


@dataclass(frozen=True, eq=False)
class Task:
    """What a method is given: points, known clusterings as codes 0 … k−1, and a number of clusters."""

    points: Points
    knowns: Sequence[Array]
    k: int
    #: one random stream per restart
    streams: Sequence[np.random.SeedSequence] = ()
    #: called with the number of finished restarts
    done: Callable[[int], object] = int  # does nothing

    def restarts(self) -> Iterator[np.random.Generator]:
        """A source of random numbers per restart, which is done when the next one begins."""
        for stream in self.streams:
            yield np.random.default_rng(stream)
            self.done(1)


@dataclass(frozen=True, eq=False)
class Found:
    """Labels 0 … k−1 (clusters may be empty), solver status and gap."""

    labels: Array
    status: str = "done"
    #: relative gap to the proved bound; NaN if there is none
    gap: float = math.nan
    notes: tuple[str, ...] = ()


def best_of(runs: Sequence[tuple[Array, float, bool]], what: str) -> Found:
    """The run (labels, value, whether it converged) with the largest value."""
    labels, _, rested = max(runs, key=lambda run: run[1])
    return Found(labels, f"converged: no {what}" if rested else "stopped while some points still moved")


def kmeans(X: Array, task: Task) -> Found:
    """k-means from one start per stream; the labels of smallest cost."""
    best = None
    for rng in task.restarts():
        model = start(X, task.k, rng)
        if best is None or model.inertia_ < best.inertia_:
            best = model
    assert best is not None
    rested = "k-means converged" if best.n_iter_ < best.max_iter else f"k-means stopped after {best.max_iter} steps"
    return Found(np.asarray(best.labels_, dtype=np.int64), rested)


def start(X: Array, k: int, rng: np.random.Generator, **options: OptionValue) -> KMeans:
    """One start of k-means; every cluster has a point if there are k distinct points."""
    from sklearn.cluster import KMeans

    return KMeans(k, n_init=1, random_state=seed_of(rng), **options).fit(X)
