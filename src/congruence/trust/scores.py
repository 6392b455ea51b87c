"""The parts of the score of a clustering among others: agreement with them, with their consensuses, and fit to the data.

And whether the clusterings agree more than unrelated ones, whose points are permuted independently.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass

import numpy as np
from scipy.special import erfc

from congruence.alternative_clustering.quality import silhouettes
from congruence.chance.draws import chance_bound
from congruence.comparison.many import compare_all, compare_to
from congruence.consensus_clustering.results import Consensus
from congruence.consensus_clustering.search import consensus
from congruence.ensembles.generators import as_data
from congruence.errors import InputError
from congruence.inputs.ensemble import Ensemble
from congruence.selection.choice import Verdict
from congruence.selection.number_of_clusters import choose_k
from congruence.selection.points import prepare
from congruence.statistics.tables import Array
from congruence.typing import PointsLike

#: weight of the nearness to the consensus if its number of clusters is given, and if several numbers count alike; and of the
#: fit to the data; the agreement with the others has the weight 1 (see reproductions.rank)
KNOWN, UNKNOWN, FIT = 1.0, 0.5, 0.75
#: part of the silhouette in the fit
SMOOTH = 1 / 3
#: largest number of clusters of a consensus, unless all clusterings have more
MOST_CLUSTERS = 8
#: most points whose consensus is made, and most points that are left out in parts
SOME, FEW = 1_000, 400
#: number of these parts
PARTS = 20


def score_of(agreement: Array, nearness: Array, fit: Array | None, weight: float) -> Array:
    """The weighted mean of the parts."""
    total = agreement + weight * nearness
    return np.asarray(total / (1 + weight) if fit is None else (total + FIT * fit) / (1 + weight + FIT))


def numbers_of_clusters(ks: Sequence[int]) -> list[int]:
    """The numbers of clusters of the consensuses, for clusterings with these numbers.

    >>> numbers_of_clusters([1, 3, 20]), numbers_of_clusters([12, 30])
    ([2, 3, 4, 5, 6, 7, 8], [12])
    """
    least = max(min(ks), 2)
    return list(range(least, max(least, min(MOST_CLUSTERS, max(ks))) + 1))


def mean_with(square: Array, others: Array, shares: Array | None = None) -> Array:
    """Mean agreement of each clustering with others but itself."""
    values = square[:, others]
    weight = np.ones(len(others)) if shares is None else shares[others]
    weight = np.where(np.isnan(values) | (np.arange(len(square))[:, None] == others), 0.0, weight)
    total = weight.sum(axis=1)
    sums = (np.nan_to_num(values) * weight).sum(axis=1)
    return np.asarray(np.divide(sums, total, out=np.full(len(square), np.nan), where=total > 0))


@dataclass(frozen=True, eq=False)
class Nearness:
    """Agreement of clusterings with consensuses of all that count."""

    #: mean agreement of each clustering with the consensuses
    mean: Array
    #: some points of the clusterings, and the consensuses of these points
    few: Ensemble
    consensuses: Sequence[Array]

    @classmethod
    def of(
        cls, e: Ensemble, numbers: Sequence[int], found: Consensus, rng: np.random.Generator, threads: int | None
    ) -> Nearness:
        """The consensuses into these numbers of clusters; many points are sampled."""
        chosen = _drawn(e.n_points, SOME, rng)
        some = e if len(chosen) == e.n_points else e.taken(chosen)
        few = _drawn(len(chosen), FEW, rng)
        values, labels = [], []
        for k in numbers:
            if k == found.n_clusters:
                values.append(_with(found.labels, e))
                labels.append(found.labels[chosen])
            elif k <= some.n_points:
                made = consensus(some, k, "auto", rng, threads=threads, progress=False)
                values.append(_with(made.labels, some))
                labels.append(made.labels)
        if not values:
            values, labels = [_with(found.labels, e)], [found.labels[chosen]]
        return cls(np.mean(values, axis=0), some.taken(few), [x[few] for x in labels])

    def parts(self, rng: np.random.Generator) -> Iterator[tuple[Ensemble, Array]]:
        """The clusterings without each of PARTS random parts of the points, and their nearness to the same consensuses."""
        n = self.few.n_points
        part = rng.permutation(n) % PARTS
        for i in range(min(PARTS, n) if n > 1 else 0):
            kept = np.flatnonzero(part != i)
            e = self.few.taken(kept)
            yield e, np.mean([_with(labels[kept], e) for labels in self.consensuses], axis=0)


def _drawn(n: int, most: int, rng: np.random.Generator) -> Array:
    """Positions of at most this many of n points."""
    return np.arange(n) if n <= most else np.sort(rng.choice(n, most, replace=False))


def p_values(below: Array, without: Sequence[Array], counting: Array, share: float) -> Array:
    """Two-sided p-values of differences of scores, by a jackknife over parts of the points.

    All have the standard error pooled over the clusterings that count, so that a lower score has a lower p-value.

    Args:
        below: The differences.
        without: The differences without each part of the points.
        counting: Positions of the clusterings that count.
        share: Of all points, those that the parts are made of.

    >>> below, without = np.array([0.0, 0.1, 0.2]), [np.array([0.0, 0.1, 0.3]), np.array([0.0, 0.1, 0.1])]
    >>> p_values(below, without, np.arange(3), 1.0).round(2).tolist()
    [1.0, 0.32, 0.05]
    """
    away = np.where(np.abs(below) <= 1e-12, 0.0, np.abs(below))
    squares = np.var(without, axis=0)[counting] * (len(without) - 1) * share if len(without) else np.zeros(1)
    error = np.sqrt(squares[squares > 1e-24].mean()) if (squares > 1e-24).any() else 1e-12
    return np.asarray(erfc(away / error / np.sqrt(2)))


def _with(labels: Array, e: Ensemble) -> Array:
    """Adjusted Rand index of each clustering with the labels; points without a label (−1) are in no clustering either."""
    placed = np.flatnonzero(labels >= 0)
    if len(placed) < len(labels):
        labels, e = labels[placed], e.taken(placed)
    index = index_of(e)
    return np.array(compare_to(labels, e, [index], unassigned="drop" if e.has_gaps else "error")[index])


def fit_to(
    X: PointsLike, e: Ensemble, seeds: np.random.SeedSequence, known: int | None
) -> tuple[Array, int | None, list[str]]:
    """How well each clustering fits the data, the number of clusters, if it is known or the data say it, and notes."""
    ks = range(1, 11) if known is None else [known]
    choice = choose_k(X, ks, random_state=seeds.spawn(1)[0], progress=False)
    some = next(iter(choice.partitions.values()), None)
    if some is not None and len(some) != e.n_points:
        raise InputError(
            f"X has {len(some)} rows and the clusterings {e.n_points} points; both must have the same points"
        )
    likely = {k: p for k, p in choice.probabilities.items() if k > 1 and k in choice.partitions}
    fit = np.zeros(len(e))
    for k, p in likely.items():
        fit += p / max(sum(likely.values()), 1e-300) * _with(choice.partitions[k], e)
    fit = (1 - SMOOTH) * fit + SMOOTH * _silhouettes(X, e, seeds.spawn(1)[0])
    if known is not None:
        return fit, known, []
    if choice.k is not None and choice.k > 1 and choice.verdict in (Verdict.CLUSTERS, Verdict.TIE):
        return fit, choice.k, [f"n_clusters = {choice.k}, from the data: {choice.sentence}"]
    return fit, None, [f"the data do not say how many clusters: {choice.sentence}"]


def _silhouettes(X: PointsLike, e: Ensemble, seed: np.random.SeedSequence) -> Array:
    """Silhouette of each clustering, of a sample if there are many points; 0 where it is undefined."""
    points = prepare(X, as_data(X), False, seed)
    found = []
    for c in e.members:
        codes = np.asarray(c.dense()).argmax(axis=1) if c.soft else c.codes
        codes = codes if points.chosen is None else codes[points.chosen]
        inside = codes < c.k  # the others have no label
        labels = np.unique(codes[inside], return_inverse=True)[1]
        found += silhouettes(points.given[inside], [labels]) if inside.any() else [0.0]
    return np.asarray(np.nan_to_num(np.array(found)))


#: most members whose pairs are compared in each draw, and the number of draws
MOST_DRAWN, DRAWS = 30, 199
#: draws stop when this many agree at least as well: the p-value is then clearly above 0.05
ENOUGH = 20
#: no draws are made if the bound from exact moments is below this p-value
BEYOND_DOUBT = 0.001


def mean_off_diagonal(square: Array) -> float:
    """Mean over pairs of different members; NaN without a defined pair."""
    values = square[np.triu_indices(len(square), 1)]
    known = ~np.isnan(values)
    return float(values[known].mean()) if known.any() else float("nan")


def p_value_of_agreement(e: Ensemble, square: Array, rng: np.random.Generator, threads: int | None = None) -> float:
    """P-value of the mean adjusted Rand index of all pairs, if the members were unrelated clusterings of the same sizes.

    The closest pair is tested first: after Bonferroni's correction, the bound of its p-value from exact moments needs no
    draws. Otherwise the points of every member are permuted independently.

    >>> import congruence as cg
    >>> halves, other = np.repeat([0, 1], 50), np.tile([0, 1], 50)
    >>> def p_value(*runs):
    ...     square = cg.compare_all(runs, ["ari"])["ari"]
    ...     return p_value_of_agreement(cg.Ensemble(runs), square, np.random.default_rng(0))
    >>> p_value(halves, other) > 0.2, p_value(halves, np.roll(halves, 5)) <= 0.01
    (True, True)
    """
    several = len(e) * (len(e) - 1) // 2
    away = np.where(np.eye(len(e), dtype=bool) | np.isnan(square), -np.inf, square)
    a, b = np.unravel_index(int(away.argmax()), away.shape)
    if np.isfinite(away[a, b]):
        bound = several * chance_bound(e.members[int(a)], e.members[int(b)])
        if bound < BEYOND_DOUBT and e.mass is None and not e.has_gaps:
            return float(bound)
    if len(e) > MOST_DRAWN:
        chosen = np.sort(rng.choice(len(e), MOST_DRAWN, replace=False))
        e, square = e[chosen.tolist()], square[np.ix_(chosen, chosen)]
    value = mean_off_diagonal(square)
    if np.isnan(value):
        return 1.0
    as_well = 0
    for done in range(1, DRAWS + 1):
        as_well += mean_off_diagonal(agreement_of(_permuted(e, rng), threads)) >= value - 1e-12
        if as_well >= ENOUGH:
            return (as_well + 1) / (done + 1)
    return (as_well + 1) / (DRAWS + 1)


def agreement_of(e: Ensemble, threads: int | None = None) -> Array:
    """Adjusted Rand index of all pairs of members, each on the points that both label."""
    index = index_of(e)
    found = compare_all(e, [index], threads=threads, progress=False, unassigned="drop" if e.has_gaps else "error")
    return np.array(found[index])


def index_of(e: Ensemble) -> str:
    """The adjusted Rand index of labels; of memberships the Frobenius one, which is 1 for the same ones, however soft.

    >>> import congruence as cg
    >>> soft = [[0.6, 0.4], [0.5, 0.5], [0.1, 0.9]]
    >>> agreement_of(cg.Ensemble([soft, soft])).round(12).tolist()
    [[1.0, 1.0], [1.0, 1.0]]
    """
    return "fari" if e.is_soft else "ari"


def _permuted(e: Ensemble, rng: np.random.Generator) -> Ensemble:
    """The members with their points in independent random orders."""
    part = copy(e)
    part.members = tuple(c.taken(rng.permutation(len(c))) for c in e.members)
    return part
