"""The answer of a report: which clusterings count, which clusters they share, and which points are disputed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from congruence.formulas import find
from congruence.formulas.matching import assignment
from congruence.inputs.ensemble import Ensemble
from congruence.statistics.pairs import Pairs
from congruence.statistics.tables import Array

#: a point is disputed if fewer clusterings than this share put it with its cluster
CONSISTENT = 0.75
#: adjusted Rand index with the shared clusters above which a clustering finds them
FOUND = 0.65
#: most rounds in which points move to the group that most clusterings vote for
ROUNDS = 5
#: most points of the shuffled clusterings, and how often they are shuffled: fewer times if there are many
MOST_SHUFFLED, LEAST_ROUNDS, MOST_ROUNDS, SHUFFLES = 500, 5, 19, 2000
#: most points × clusters for which the destinations of disputed points are computed
MOST_CAST = 50_000_000


@dataclass(frozen=True, eq=False)
class Chance:
    """What the same figures are for unrelated clusterings of the same sizes: labels shuffled point by point, several times."""

    #: share of the points placed consistently: mean and largest value
    consistent: float
    highest: float
    #: largest agreement of a clustering with the shared clusters
    agreement: float
    #: mean stability of each shared cluster
    stability: Array


@dataclass(frozen=True, eq=False)
class Answer:
    """The clusters that represent all clusterings, and how well the counted clusterings agree with them."""

    #: counted clusterings: without the reference and near-trivial ones
    counted: tuple[int, ...]
    #: where the shared clusters come from: "consensus", "vote" or "clustering", and the method or the name of the clustering
    source: str
    by: str
    #: cluster of each point, 0 … k−1, the largest cluster first; k if no clustering labels the point
    labels: Array
    k: int
    #: share of the counted clusterings that put each point with its cluster (NaN: none labels it), and where the others put it
    placed: Array
    elsewhere: Array
    #: mean Jaccard similarity of each cluster with the points that a clustering puts there
    stability: Array
    #: adjusted Rand index of every clustering with the shared clusters, after merging clusters that split a shared one
    agreement: Array
    is_pair: bool
    chance: Chance

    @property
    def is_beyond_chance(self) -> bool:
        """Whether more points are placed consistently than in any of the shuffled clusterings."""
        return self.consistent > self.chance.highest + 1e-12

    @property
    def firmness(self) -> Array:
        """Stability of each cluster above that of unrelated clusterings: 0 by chance, 1 at most."""
        return above_chance(self.stability, self.chance.stability)

    @property
    def sizes(self) -> Array:
        """Points of each cluster."""
        return np.bincount(self.labels[self.labels < self.k], minlength=self.k)

    @property
    def disputed(self) -> Array:
        """The disputed points, the worst first."""
        doubtful = np.flatnonzero(self.placed < CONSISTENT - 1e-12)
        return doubtful[np.argsort(self.placed[doubtful], kind="stable")]

    @property
    def consistent(self) -> float:
        """Share of the points that are placed consistently."""
        known = int((~np.isnan(self.placed)).sum())
        return 1 - len(self.disputed) / known if known else float("nan")

    @property
    def n_found(self) -> int:
        """How many of the counted clusterings find the shared clusters."""
        return sum(self.agreement[i] >= FOUND for i in self.counted)


def counted_of(
    own: Sequence[int], trivial: Sequence[str], same: Sequence[int | None], distinct: bool = False
) -> tuple[int, ...]:
    """The counted clusterings: near-trivial ones only if there are no others; if `distinct`, each partition once."""
    kept = [i for i in own if not trivial[i]] or list(own)
    first = {(i if same[i] is None else same[i]): i for i in reversed(kept)}
    return tuple(sorted(first.values()) if distinct else kept)


def answer_of(
    e: Ensemble, counted: tuple[int, ...], labels: Array, k: int, source: tuple[str, str], is_pair: bool
) -> Answer:
    """How well the counted clusterings agree with the shared clusters; in a pair, clusters are matched one to one."""
    base = _largest_first(labels, k)
    codes = [(c.codes, c.k) for c in e.members]
    votes = votes_of(base, k, codes, [i in counted for i in range(len(e))], is_pair)
    chance = chance_of(base, k, [codes[i] for i in counted], is_pair)
    return Answer(
        counted, *source, base, k, votes.placed, votes.elsewhere, votes.stability, votes.agreement, is_pair, chance
    )


def names_of_groups(e: Ensemble, a: Answer) -> tuple[str, ...]:
    """The names of the groups: A, B, … or, with two clusterings, those of the clusters of the first, the largest first."""
    if not a.is_pair:
        return tuple(letters(i) for i in range(a.k))
    first = e.members[e.names.index(a.by)]
    sizes = np.bincount(first.codes[first.codes < first.k], minlength=first.k)
    return tuple(str(first.names[i]) for i in np.argsort(-sizes, kind="stable").tolist())


def letters(i: int) -> str:
    """A to Z, AA, AB, …

    >>> letters(0), letters(25), letters(26), letters(52)
    ('A', 'Z', 'AA', 'BA')
    """
    before, last = divmod(i, 26)
    return (letters(before - 1) if before else "") + chr(ord("A") + last)


def _largest_first(labels: Array, k: int) -> Array:
    """Clusters numbered by size; `k` for points without one."""
    labels = np.where((labels < 0) | (labels >= k), k, labels).astype(np.int64)
    sizes = np.bincount(labels, minlength=k + 1)[:k]
    rank = np.full(k + 1, k)
    rank[np.argsort(-sizes, kind="stable")] = np.arange(k)
    return np.asarray(rank[labels])


@dataclass(frozen=True, eq=False)
class Votes:
    """Where clusterings put each point, how well they find each shared cluster, and how well each clustering agrees."""

    placed: Array
    elsewhere: Array
    stability: Array
    agreement: Array
    #: the shared cluster with the most votes; in a tie, the point's own cluster
    plurality: Array


def votes_of(
    base: Array, k: int, members: Sequence[tuple[Array, int]], counts: Sequence[bool], one_to_one: bool
) -> Votes:
    """Votes of the members: each of their clusters votes for the shared cluster with which it has most points in common.

    The agreement of a member is the adjusted Rand index of the shared clusters and its votes: clusters that split a shared
    one count as one. The other values use the counted members only.

    >>> import numpy as np
    >>> base = np.array([0, 0, 0, 1, 1, 1])
    >>> members = [(np.array([0, 0, 1, 2, 2, 2]), 3), (np.array([0, 0, 1, 1, 1, 1]), 2)]
    >>> votes = votes_of(base, 2, members, [True, True], False)
    >>> votes.placed.tolist(), votes.elsewhere.tolist(), votes.stability.round(3).tolist()
    ([1.0, 1.0, 0.5, 1.0, 1.0, 1.0], [2, 2, 1, 2, 2, 2], [0.833, 0.875])
    >>> votes.agreement.round(3).tolist()
    [1.0, 0.324]
    """
    n, known = len(base), base < k
    # how often each point is put into each shared cluster, into none of them (k), or has no label (k + 1)
    cast = np.zeros(n * (k + 2), np.int32) if n * (k + 2) <= MOST_CAST else None
    start = np.arange(n) * (k + 2)
    agree, absent = np.zeros(n, np.int32), np.zeros(n, np.int32)
    stability, weight = np.zeros(k), np.zeros(k)
    agreement = np.full(len(members), np.nan)
    for place, ((codes, own), counted) in enumerate(zip(members, counts, strict=True)):
        row, col, count = cells_of_pair(base, k, codes, own)
        to = np.full(own + 1, k)
        to[own] = k + 1
        if one_to_one:
            best = assignment(row, col, count.astype(np.int64), (k, own)) if len(row) else np.zeros(0, np.int64)
            to[col[best]] = row[best]
            agreement[place] = ari_of_cells(row, col, count)
        else:
            order = np.lexsort((row, -count, col))
            first = order[np.unique(col[order], return_index=True)[1]]
            to[col[first]] = row[first]
            agreement[place] = ari_of_cells(row, to[col], count)
        if not counted:
            continue
        vote = to[codes]
        agree += vote == base
        absent += vote > k
        if cast is not None:
            cast[start + vote] += 1
        sizes, votes = np.bincount(row, count, k), np.bincount(to[col], count, k + 1)[:k]
        common = np.bincount(row, count * (to[col] == row), k)
        stability += common / np.maximum(sizes + votes - common, 1)
        weight += sizes > 0
    seen = np.where(known, sum(counts) - absent, 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        placed = np.where(seen > 0, agree / seen, np.nan)
        found = np.where(weight > 0, stability / weight, np.nan)
    elsewhere, plurality = np.full(n, k), base
    if cast is not None and k:
        there = cast.reshape(n, k + 2)[:, :k]
        there[~known] = 0
        plurality = np.where(there.max(axis=1) > agree * known, there.argmax(axis=1), base)
        there[known, base[known]] = 0
        elsewhere = np.where(there.max(axis=1) > 0, there.argmax(axis=1), k)
    return Votes(placed, elsewhere, found, agreement, plurality)


def chance_of(base: Array, k: int, members: Sequence[tuple[Array, int]], one_to_one: bool) -> Chance:
    """The figures of `votes_of` for shuffled labels. The page has the same shuffles, so that both have the same values.

    >>> import numpy as np
    >>> base, other = np.repeat([0, 1], [70, 30]), np.repeat([0, 1, 0, 1], [49, 21, 21, 9])
    >>> found = chance_of(base, 2, [(other, 2)] * 10, False)
    >>> 0.5 < found.consistent < 0.8, bool(found.stability[0] > found.stability[1])
    (True, True)
    """
    widest = max((own for _, own in members), default=1)
    rounds = min(max(SHUFFLES // (max(len(members), 1) * (1 + widest // 50)), LEAST_ROUNDS), MOST_ROUNDS)
    shares, agreement, stability = [], [-1.0], []
    for turn in range(rounds):
        at = [shuffled(len(base), turn * 4096 + i) for i in range(len(members) + 1)]
        drawn = [(codes[where], own) for (codes, own), where in zip(members, at[1:], strict=True)]
        votes = votes_of(base[at[0]], k, drawn, [True] * len(drawn), one_to_one)
        known = votes.placed[~np.isnan(votes.placed)]
        shares.append(float((known >= CONSISTENT - 1e-12).mean()) if len(known) else float("nan"))
        agreement += [ari_of_cells(*cells_of_pair(base[at[0]], k, *own)) for own in drawn]
        stability.append(np.nan_to_num(votes.stability))
    return Chance(float(np.mean(shares)), max(shares), float(np.nanmax(agreement)), np.mean(stability, axis=0))


def shuffled(n: int, stream: int) -> Array:
    """The points in an order that depends on the stream only; of many points, some of them drawn at random."""
    few = np.arange(min(n, MOST_SHUFFLED), dtype=np.uint64)
    key = (few * 0x9E3779B1 + (stream + 1) * 0x85EBCA6B) & 0xFFFFFFFF
    for shift, factor in ((16, 0x7FEB352D), (15, 0x846CA68B), (16, 1)):
        key = ((key ^ (key >> np.uint64(shift))) * np.uint64(factor)) & np.uint64(0xFFFFFFFF)
    return np.argsort(key, kind="stable") if n <= MOST_SHUFFLED else (key % np.uint64(n)).astype(np.int64)


def above_chance(value: Array, chance: Array) -> Array:
    """(value − chance) ÷ (1 − chance); 1 where both are 1.

    >>> import numpy as np
    >>> above_chance(np.array([0.9, 1.0]), np.array([0.6, 1.0])).round(2).tolist()
    [0.75, 1.0]
    """
    room = 1 - chance
    return np.where(room > 1e-12, (value - chance) / np.maximum(room, 1e-12), np.where(value >= 1 - 1e-12, 1.0, 0.0))


def settled(e: Ensemble, counted: Sequence[int], start: int) -> Array:
    """Shared clusters without a consensus method: start from one clustering and move each point to the cluster with most votes.

    >>> import congruence as cg
    >>> runs = cg.Ensemble([[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1], [0, 0, 0, 1, 1, 2]])
    >>> settled(runs, (0, 1, 2), 1).tolist()
    [0, 0, 0, 1, 1, 1]
    """
    base, k = e.members[start].codes.astype(np.int64), e.members[start].k
    members = [(e.members[i].codes, e.members[i].k) for i in counted]
    for _ in range(ROUNDS):
        moved = votes_of(base, k, members, [True] * len(members), False).plurality
        if np.array_equal(moved, base):
            break
        base = moved
    return base


def cells_of_pair(a: Array, ka: int, b: Array, kb: int) -> tuple[Array, Array, Array]:
    """The non-empty cells of the table of two label vectors, row by row; labels of k and above are ignored."""
    here = (a < ka) & (b < kb)
    whole = here.all()
    cell = a.astype(np.int64) * kb + b if whole else a[here].astype(np.int64) * kb + b[here]
    if ka * kb <= 16 * len(a) + 1024:
        counts = np.bincount(cell, minlength=ka * kb)
        used = np.flatnonzero(counts)
        counts = counts[used]
    else:
        used, counts = np.unique(cell, return_counts=True)
    return used // kb, used % kb, counts.astype(np.float64)


def ari_of_cells(row: Array, col: Array, count: Array) -> float:
    """Adjusted Rand index of a table from its cells, which may repeat; NaN without points.

    >>> import numpy as np
    >>> ari_of_cells(np.array([0, 1]), np.array([1, 0]), np.array([2, 2]))
    1.0
    """
    if not len(count):
        return float("nan")
    wide = int(col.max()) + 1
    _, place = np.unique(row * wide + col, return_inverse=True)
    sums = [np.bincount(x, count).astype(np.int64) for x in (place.ravel(), row, col)]
    n = sums[0].sum(keepdims=True)
    both, a, b = (np.square(x).sum(keepdims=True) for x in sums)
    pairs = Pairs.from_squares(n, n, both, a, b, (both == a) & (both == b))
    return float(find("ari").values(pairs)[0])
