"""Inputs and results of criteria for the number of clusters."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeVar, cast

import numpy as np

from congruence.selection.halves import Fits, Sample
from congruence.statistics.tables import Array

Made = TypeVar("Made")


@dataclass(frozen=True, eq=False)
class Clusterings:
    """Points, and one clustering of them for each number of clusters, by any clusterer."""

    points: Array
    labels: Mapping[int, Array]

    @property
    def ks(self) -> list[int]:
        """Numbers of clusters in order."""
        return list(self.labels)


@dataclass(frozen=True, eq=False)
class Context:
    """The points used, and the results for each number of clusters."""

    parts: Sample
    fits: Mapping[int, Fits]
    seed: np.random.SeedSequence
    #: results shared by two criteria, by the functions that compute them
    shared: dict[Hashable, object] = field(default_factory=dict)

    def once(self, make: Callable[[Context], Made]) -> Made:
        """The result of a function of this context, computed once."""
        if make not in self.shared:
            self.shared[make] = make(self)
        return cast("Made", self.shared[make])

    @property
    def points(self) -> Array:
        """Points × features, in principal axes."""
        return self.parts.points

    @property
    def ks(self) -> list[int]:
        """Numbers of clusters in order."""
        return list(self.fits)

    @property
    def clusterings(self) -> Clusterings:
        """The k-means clusterings."""
        return Clusterings(self.points, {k: fit.halves.labels for k, fit in self.fits.items()})

    def rng(self, name: str) -> np.random.Generator:
        """A separate random stream for each criterion."""
        words = np.frombuffer(name.encode(), dtype=np.uint8).astype(int).tolist()
        return np.random.default_rng(
            np.random.SeedSequence(self.seed.entropy, spawn_key=(*self.seed.spawn_key, *words))
        )


@dataclass(frozen=True, eq=False)
class Curve:
    """Values over k, the k chosen by the criterion's rule, standard errors (None: unknown), and notes."""

    values: Array
    best: int | None
    errors: Array | None = None
    note: str = ""


@dataclass(frozen=True)
class Peer:
    """A published criterion: its title, which way is better, and how it is computed."""

    name: str
    title: str
    better: Literal["higher", "lower"]
    #: for k-means
    curve: Callable[[Context], Curve]
    #: for any clusterer; None if the criterion is defined only for k-means or mixtures
    of_any: Callable[[Clusterings], Curve] | None = None


def top(ks: list[int], values: Array, better: str = "higher") -> int | None:
    """The k with the best value; None if no value is defined.

    >>> top([1, 2, 3], np.array([np.nan, 0.2, 0.5]))
    3
    """
    if np.isnan(values).all():
        return None
    return ks[int(np.nanargmax(values) if better == "higher" else np.nanargmin(values))]


def largest(ks: list[int], values: Array, least: float) -> int:
    """The largest k whose value reaches the threshold; 1 if there is none.

    >>> largest([2, 3, 4], np.array([0.9, 0.85, 0.3]), 0.8)
    3
    """
    return max((k for k, value in zip(ks, values, strict=True) if k > 1 and value >= least), default=1)
