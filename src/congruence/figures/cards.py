"""A card per cluster of a consensus, as plain data: its size, its votes, and the features that distinguish it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from congruence.comparison.presenting import short_names
from congruence.consensus_clustering.results import Consensus
from congruence.figures.features import NAMED, features_of, numbers_of
from congruence.typing import PointsLike

#: most cards of a figure, the largest clusters first
MOST_CARDS = 12


@dataclass(frozen=True)
class Card:
    """One cluster: a title, a line about its points, and up to five bars with their names."""

    cluster: int
    size: int
    #: mean vote share of its points, and the number of points with less than half of their votes here
    vote_share: float
    n_disputed: int
    bars: tuple[tuple[str, float], ...]

    @property
    def title(self) -> str:
        """The cluster and its size."""
        return f"cluster {self.cluster}: {self.size:,} point{'' if self.size == 1 else 's'}"

    @property
    def line(self) -> str:
        """Its votes, and its disputed points."""
        return f"vote share {self.vote_share:.2f}, {self.n_disputed:,} disputed"


@dataclass(frozen=True)
class Cards:
    """The cards of a figure, the meaning of their bars, and the number of clusters."""

    cards: tuple[Card, ...]
    axis: str
    headline: str


def cards_of(found: Consensus, data: PointsLike = None) -> Cards:
    """The cards of a consensus; their bars are features of the data, if given, else the votes for each cluster.

    >>> import congruence as cg
    >>> r = cg.consensus([[0, 0, 1, 1, 2], [1, 1, 0, 0, 2], [0, 0, 0, 1, 2]], 3, method="average")
    >>> cards = cards_of(r).cards
    >>> cards[0].title, cards[0].line, [(name, round(share, 2)) for name, share in cards[0].bars]
    ('cluster 0: 2 points', 'vote share 0.89, 0 disputed', [('cluster 0', 0.89), ('cluster 1', 0.11)])
    """
    k, share = found.n_clusters, found.vote_share
    features = None
    if data is not None:
        numbers, names = numbers_of(data, len(found.labels))
        features = features_of(numbers, names, np.where(found.labels < 0, k, found.labels), k)
    cards = []
    for c in range(min(k, MOST_CARDS)):
        inside = found.labels == c
        if features is not None:
            named = features.named[c]
            short = short_names([name for name, _ in named], 22)
            bars = tuple((name, d) for name, (_, d) in zip(short, named, strict=True))
        else:
            mean = found.memberships[inside].mean(axis=0) if inside.any() else np.zeros(k)
            order = np.argsort(-mean, kind="stable")[:NAMED]
            bars = tuple((f"cluster {j}", float(mean[j])) for j in order.tolist() if mean[j] > 0)
        mean_share = float(share[inside].mean()) if inside.any() else float("nan")
        cards.append(Card(c, int(inside.sum()), mean_share, int((share[inside] < 0.5).sum()), bars))
    axis = "sd from the other points" if features is not None else "share of votes"
    shown = f"{k} clusters" if k <= MOST_CARDS else f"the {MOST_CARDS} largest of {k} clusters"
    return Cards(tuple(cards), axis, f"{shown} by {found.method}")
