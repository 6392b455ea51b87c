"""Which of several clusterings to trust: the one that agrees best with the others, their consensus and the data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from congruence.comparison.presenting import Result, verdict_text
from congruence.consensus_clustering.results import Consensus
from congruence.consensus_clustering.search import consensus
from congruence.engine.plan import Progress, seed_sequence
from congruence.ensembles.agreement import as_ensemble, why_trivial
from congruence.errors import Caution, InputError, counted, some_of
from congruence.inputs.alignment import check_index
from congruence.inputs.ensemble import Ensemble
from congruence.inputs.frames import make_frame
from congruence.options import described
from congruence.statistics.tables import Array
from congruence.trust.scores import (
    KNOWN,
    PARTS,
    UNKNOWN,
    Nearness,
    agreement_of,
    fit_to,
    mean_with,
    numbers_of_clusters,
    p_value_of_agreement,
    p_values,
    score_of,
)
from congruence.typing import EnsembleLike, Frame, PointsLike, ProgressLike, Record, Seed

#: clusterings agree no more than unrelated ones, or are as good as the best one, if the p-value is above this
ALPHA = 0.05
#: most clusterings listed in text
SHOWN = 20


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Ranking(Result):
    """Clusterings of the same points, ranked by their agreement with the others, with the consensus and with the data.

    Attributes:
        names: Names of the clusterings, as given.
        score: Weighted mean of the next three: agreement 1, nearness 1/2 (1 if the number of clusters is given), fit 3/4.
        agreement: Mean adjusted Rand index of each with the others that count.
        nearness: Mean adjusted Rand index of each with the consensuses into 2 to 8 clusters, or into the number given; NaN
            if fewer than two count.
        fit: 2/3 of the mean adjusted Rand index of each with the partitions of `cg.choose_k` by their probability, and 1/3 of
            its silhouette; NaN without data.
        as_good: P-value of the difference between the score of each and that of the best one, by leaving out parts of the points.
        n_clusters: Number of clusters of each.
        trivial: Why a clustering is near-trivial and does not count; "" if it counts.
        same_as: Position of the first clustering with the same partition; −1 if there is none before.
        consensus: The consensus of those that count; None if there are fewer than two.
        p_value: Of the mean agreement of distinct clusterings, against unrelated ones of the same sizes; NaN if all are the same.
        notes: Where the number of clusters of the consensus comes from, and other notes.
        kind: Kind of frame of the clusterings.

    >>> import congruence as cg
    >>> runs = {"x": [0, 0, 0, 0, 1, 1, 1, 1] * 3, "y": [0, 0, 0, 1, 1, 1, 1, 1] * 3, "z": [0, 0, 0, 0, 1, 1, 1, 2] * 3}
    >>> r = cg.rank(runs)
    >>> r.best, r.second, r.equal
    ('x', None, ('x', 'z'))
    """

    _told = ("best second equal sentence p_value notes", "rows")
    names: tuple[str, ...]
    score: Array = field(repr=False)
    agreement: Array = field(repr=False)
    nearness: Array = field(repr=False)
    fit: Array = field(repr=False)
    as_good: Array = field(repr=False)
    n_clusters: tuple[int, ...]
    trivial: tuple[str, ...]
    same_as: tuple[int, ...]
    consensus: Consensus | None = field(repr=False)
    p_value: float
    notes: tuple[str, ...] = ()
    kind: str | None = None

    @property
    def order(self) -> list[int]:
        """Positions of the clusterings: those that count first, each group by score and then by agreement."""
        keys = [(bool(why), *(-np.nan_to_num(x[i], nan=-2.0) for x in (self.score, self.agreement)), i)
                for i, why in enumerate(self.trivial)]  # fmt: skip
        return [int(key[-1]) for key in sorted(keys)]

    @property
    def counting(self) -> list[int]:
        """Positions of the clusterings that count: all but the near-trivial ones."""
        return [i for i, why in enumerate(self.trivial) if not why]

    @property
    def is_related(self) -> bool:
        """Whether the clusterings agree more than unrelated ones."""
        return self.consensus is not None and not self.p_value > ALPHA

    @property
    def best(self) -> str | None:
        """The clustering with the largest score; None if they agree no more than unrelated ones, or fewer than two count."""
        return self.names[self.order[0]] if self.is_related else None

    @property
    def second(self) -> str | None:
        """The one that agrees most with the others, or if that is the best, the nearest to the consensus; None if both are."""
        others = [i for i in (self._most(self.agreement), self._most(self.nearness)) if self._differs(i)]
        return self.names[others[0]] if self.is_related and others else None

    def _most(self, values: Array) -> int:
        """The position of the largest value; among equal ones, of the best clustering or the first."""
        known = np.round(np.nan_to_num(values, nan=-2.0), 12)
        return max(self.counting, key=lambda i: (known[i], i == self.order[0], -i), default=0)

    def _differs(self, i: int) -> bool:
        """Whether it is another partition than the best one."""
        return self._first(i) != self._first(self.order[0])

    @property
    def equal(self) -> tuple[str, ...]:
        """The clusterings that cannot be told from the best one by resampling the points; the best one first."""
        return tuple(self.names[i] for i in self._equal) if self.is_related else ()

    @property
    def _equal(self) -> list[int]:
        return [i for i in self.order if not self.trivial[i] and (i == self.order[0] or self.as_good[i] > ALPHA)]

    def _first(self, i: int) -> int:
        return i if self.same_as[i] < 0 else self.same_as[i]

    @property
    def sentence(self) -> str:
        """Which clustering to use, how near it is beside the median clustering, and which others are as good."""
        many = len(self.counting)
        if self.consensus is None:
            return f"No clustering can be recommended: {many or 'none'} of {len(self.names)} has clusters to compare."
        if not self.is_related:
            return (
                f"No clustering can be recommended: the {many} clusterings agree no more than unrelated ones of the same sizes "
                f"(p = {self.p_value:.2g})."
            )
        if np.isnan(self.p_value):
            return f"All {many} clusterings are the same; use “{self.best}”."
        best, middle = self.order[0], float(np.nanmedian(self.score[self.counting]))
        to = (
            "the others and their consensus" if np.isnan(self.fit).all() else "the others, their consensus and the data"
        )
        text = (
            f"Use “{self.best}”: of {many} clusterings it agrees best with {to} (score {self.score[best]:.2f}, the median "
            f"clustering {middle:.2f})."
        )
        others = [i for i in self._equal if self._differs(i) and self.same_as[i] < 0]
        if others:
            named = some_of([f"“{self.names[i]}”" for i in others], 3)
            text += f" {counted(len(others), 'other')} cannot be told from it by resampling the points: {named}."
        if self.second is not None:
            i = self.names.index(self.second)
            values, how = (
                (self.agreement, "agrees most with the others")
                if i == self._most(self.agreement)
                else (self.nearness, "is nearest to the consensus")
            )
            text += f" “{self.second}” {how} ({values[i]:.2f} on average, “{self.best}” {values[best]:.2f})."
        return text

    @property
    def frame(self) -> Frame:
        """One row per clustering, the best first: its name, score, agreement, nearness, fit, as_good, equal, n_clusters, note."""
        return make_frame(self.table_columns(), self.kind)

    def table_columns(self) -> Record:
        """The columns of `frame`."""
        order, equal = self.order, set(self._equal if self.is_related else [])
        return {
            "clustering": [self.names[i] for i in order],
            **{name: getattr(self, name)[order] for name in ("score", *self._parts, "as_good")},
            "equal": [i in equal for i in order], "n_clusters": [self.n_clusters[i] for i in order],
            "note": [self._note(i) for i in order],
        }  # fmt: skip

    @property
    def _parts(self) -> tuple[str, ...]:
        return ("agreement", "nearness") if np.isnan(self.fit).all() else ("agreement", "nearness", "fit")

    def _note(self, i: int) -> str:
        return self.trivial[i] or (f"the same as {self.names[self.same_as[i]]}" if self.same_as[i] >= 0 else "")

    def __repr__(self) -> str:
        columns = self.table_columns()
        names, _ = columns.pop("clustering"), columns.pop("equal")
        return verdict_text(self.sentence, columns, names, self.notes, SHOWN)


@described
def rank(
    clusterings: EnsembleLike,
    X: PointsLike = None,
    n_clusters: int | None = None,
    random_state: Seed = 0,
    *,
    threads: int | None = None,
    progress: ProgressLike = None,
) -> Ranking:
    """Which of several clusterings of the same points to trust: the one that agrees best with the others and their consensus.

    The score of a clustering is a weighted mean of its adjusted Rand index (of memberships the Frobenius one) with the others,
    with consensuses of all, and, if X is given, of how well it fits the data. Near-trivial clusterings do not count, and
    repeated ones count each time. With known classes, this pick is far better than the median clustering and far worse than
    the best (docs/trust.md). It says nothing if the clusterings agree no more than unrelated ones.

    Args:
        clusterings: An `Ensemble`, or input for one: a list of label vectors, label columns, a frame, a mapping.
        X: The data, one row per point. Clusterings that are like those of `cg.choose_k` and have a high silhouette then get a
            higher score. Default None.
        n_clusters: Number of clusters, if you know it, also with X. Default None: consensuses into 2 to 8 clusters count alike,
            within the numbers of clusters of the clusterings.
        random_state, threads: See `congruence.options`.
        progress: True or a function of (done, total) to follow the parts of the points that are left out; False for none.
            Default None: a bar on a terminal.

    Returns:
        A `Ranking`: `.best` (a name or None), `.second` (the one that agrees most with the others, if it differs), `.equal`
        (those that cannot be told from the best), `.frame`, `.sentence`, `.consensus`, `.plot()`.

    See also:
        `cg.consensus`, `cg.member_agreement`, `cg.check_clusters`.

    >>> import congruence as cg
    >>> runs = {"x": [0, 0, 0, 0, 1, 1, 1, 1] * 3, "y": [0, 0, 0, 1, 1, 1, 1, 1] * 3, "z": [0, 0, 0, 0, 1, 1, 1, 2] * 3}
    >>> print(cg.rank(runs).sentence)  # doctest: +NORMALIZE_WHITESPACE
    Use “x”: of 3 clusterings it agrees best with the others and their consensus (score 0.75, the median clustering 0.68).
    1 other cannot be told from it by resampling the points: “z”.
    """
    e = as_ensemble(clusterings)
    if e.is_lazy or e.has_covers:
        what = "covers, whose clusters overlap" if e.has_covers else "columns of a scan, which are not in memory"
        raise InputError(f"rank compares partitions in memory, but these are {what}")
    if len(e) < 2:
        raise InputError("rank chooses among several clusterings, but there is only one")
    check_index(e, X, "X", "the clusterings")
    seeds = seed_sequence(random_state)
    trivial = tuple(why_trivial(c) for c in e.members)
    counting = [i for i, why in enumerate(trivial) if not why]
    notes: list[str] = [str(x) for x in e.notes]
    fit, k = None, n_clusters
    if X is not None:
        fit, k, why = fit_to(X, e, seeds, n_clusters)
        notes += why
    found = None
    if len(counting) > 1:
        found = consensus(e, k, "auto", random_state, threads=threads, progress=False)
        notes += [x for x in found.notes if isinstance(x, Caution) and x.code == "n_clusters"]
    known = Known(n_clusters is not None, fit, notes)
    return ranking_of(e, found, trivial, seeds, known, threads=threads, progress=progress)


@dataclass(frozen=True, eq=False)
class Known:
    """What is known of clusterings: whether their number of clusters is right, how well each fits the data, and notes."""

    is_k_known: bool = False
    fit: Array | None = None
    notes: Sequence[str] = ()


def ranking_of(
    e: Ensemble,
    found: Consensus | None,
    trivial: Sequence[str],
    seeds: np.random.SeedSequence,
    known: Known,
    *,
    finds_equal: bool = True,
    threads: int | None = None,
    progress: ProgressLike = None,
) -> Ranking:
    """The ranking for a consensus that is there already.

    Args:
        e: The clusterings.
        found: The consensus of those that count; None if there are fewer than two.
        trivial: Why each is near-trivial; "" if it counts.
        seeds: Seeds for the samples of points and the permutations.
        known: If the number of clusters is not known, several numbers count alike.
        finds_equal: Whether to find those that are as good as the best.
        threads: Number of threads.
        progress: How to follow the parts of the points that are left out.
    """
    fit, (drawing, permuting) = known.fit, seeds.spawn(2)
    square = agreement_of(e, threads)
    counting = np.array([i for i, why in enumerate(trivial) if not why], dtype=np.int64)
    same_as = _repeats(square)
    agreement, nearness = mean_with(square, counting, e.shares), np.full(len(e), np.nan)
    p_value, numbers = 1.0, []
    if found is not None:
        many = [] if known.is_k_known else [e.members[i].k for i in counting]
        numbers = numbers_of_clusters(many) if many else [found.n_clusters]
        near = Nearness.of(e, numbers, found, np.random.default_rng(drawing), threads)
        nearness = near.mean
        distinct = [i for i in counting.tolist() if same_as[i] < 0]
        p_value = float("nan")
        if len(distinct) > 1:
            inside = square[np.ix_(distinct, distinct)]
            p_value = p_value_of_agreement(e[distinct], inside, np.random.default_rng(permuting), threads)
    weight = KNOWN if known.is_k_known else UNKNOWN
    ranking = Ranking(
        names=e.names, score=score_of(agreement, nearness, fit, weight), agreement=agreement, nearness=nearness,
        fit=np.full(len(e), np.nan) if fit is None else fit, as_good=np.full(len(e), np.nan),
        n_clusters=tuple(c.k for c in e.members), trivial=tuple(trivial), same_as=same_as, consensus=found,
        p_value=p_value, notes=tuple(dict.fromkeys(known.notes)), kind=e.kind,
    )  # fmt: skip
    if found is None or not ranking.is_related or not finds_equal:
        return ranking
    best, without, rng = ranking.order[0], [], np.random.default_rng(drawing)
    with Progress(PARTS, progress, "parts of the points") as bar:
        for part, near_part in near.parts(rng):
            apart = mean_with(agreement_of(part, threads), counting, e.shares)
            values = score_of(apart, near_part, fit, weight)
            without.append(values[best] - values)
            bar.add(1)
    below, share = ranking.score[best] - ranking.score, near.few.n_points / e.n_points
    return replace(ranking, as_good=p_values(below, without, counting, share))


def _repeats(square: Array) -> tuple[int, ...]:
    """For each clustering, the first one with the same partition; −1 if there is none before."""
    found = []
    for i in range(len(square)):
        before = np.flatnonzero(square[i, :i] == 1.0)
        found.append(int(before[0]) if len(before) else -1)
    return tuple(found)
