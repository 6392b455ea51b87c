"""The report as plain data: everything the page shows, before anything is drawn."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any

import numpy as np

from congruence.agreement import certainty_random, consensus_cdf, lone_scorer
from congruence.arrangement import Cells, Flow, Tree, cells_of, distances, flow_of, groups_of, map_of, tree_of
from congruence.chance import confidence_interval, corrected, permutation_test
from congruence.clustering import Clustering, Labels, Memberships, check_index
from congruence.comparison import compare, compare_all, element_scores
from congruence.consensus_clustering.methods import find as method_of
from congruence.consensus_clustering.search import Consensus, consensus
from congruence.engine.plan import Progress
from congruence.ensemble import Ensemble
from congruence.formulas import find
from congruence.formulas.references import REFERENCES
from congruence.frames import frame_kind
from congruence.generators import as_data, seed_sequence
from congruence.registry import Measure, hint
from congruence.results import AllPairs
from congruence.selection import KChoice, choose_k
from congruence.statistics import Array, InputError, Table

#: the six measures of the page, for hard and for soft clusterings; the first one orders, groups and ranks
HARD = ("ari", "ami_max", "nmi_sum", "vi", "jaccard", "element_centric")
SOFT = ("ari_gram", "nmi_sum", "vi", "jaccard", "element_centric", "wallace")
#: bytes of labels, as the page writes them, up to which every pair can be looked at in the page
EMBEDDED = 4_000_000
#: the agreement of points is over all pairs of members up to so many, and so many points × pairs; above, over a sample
MOST_PAIRS, MOST_SCORES = 20_000, 200_000_000
#: up to so many points the distribution of the consensus is exact; above, so many pairs of points are drawn
EXACT_POINTS, DRAWN_PAIRS = 1000, 200_000
#: most points that are drawn and written one by one; most unstable ones that are listed
MOST_POINTS, LISTED = 200_000, 50
#: consensus methods that are tried; average linkage only up to so many points
METHODS, FEW = ("hbgf", "ncut", "kcc", "voting", "mcla"), 2000
#: most clusters of all members together for the methods that take eigenvectors of clusters × clusters
SPECTRAL, MOST_CLUSTERS = ("hbgf", "ncut"), 2000
#: most pairs of a cluster of the consensus and one of a member, for all methods but linkage
MOST_CENTRES = 5_000_000
#: most pairs of clusters for which chance is drawn; above FEW, or with so many clusterings, there are fewer draws
MOST_DRAWN, MANY = 1_000_000, 100


@dataclass(frozen=True, eq=False)
class Member:
    """One clustering: its clusters and how it stands to the others."""

    name: str
    k: int
    n_assigned: int
    is_soft: bool
    is_reference: bool
    #: mean agreement with the other members by the first measure, and with the one it is nearest to
    mean: float
    nearest: float
    #: its group (0: the largest), and the first member that is the same partition, if that is another
    group: int
    same_as: int | None
    #: names of the clusters
    clusters: tuple[str, ...] = field(repr=False)


@dataclass(frozen=True, eq=False)
class Scale:
    """One measure over all pairs: values above the diagonal row by row, the order and tree of members, a map for metrics."""

    measure: Measure
    reference: str
    values: Array
    tree: Tree
    place: Array | None
    shown: float

    @property
    def quantised(self) -> tuple[float, float, Array]:
        """Lowest and highest value, and each as one of 65,535 steps between them; 65,535 where it is undefined."""
        known = self.values[~np.isnan(self.values)]
        low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
        steps = np.rint((self.values - low) / ((high - low) or 1.0) * 65534)
        return low, high, np.where(np.isnan(steps), 65535, steps).astype(np.uint16)


@dataclass(frozen=True, eq=False)
class Pair:
    """Two clusterings that were looked at beforehand, because the labels are too many for the page."""

    a: int
    b: int
    flow: Flow
    #: share of the points in matched clusters
    agreed: float
    #: name, side (0: a), size, best partner, Jaccard similarity with it; the worst first
    worst: tuple[tuple[str, int, float, str, float], ...]


@dataclass(frozen=True, eq=False)
class Pairs:
    """What the page knows of single pairs: the labels themselves, or tables of some pairs."""

    #: labels of every member (0 … k−1, k for none), or memberships; None where they are too many
    labels: tuple[Array, ...] | None
    tables: tuple[Pair, ...]
    #: bytes that the labels take in the page, or would
    n_bytes: int


@dataclass(frozen=True, eq=False)
class Ranked:
    """One row of the agreement with the reference."""

    member: int
    values: dict[str, float]
    interval: tuple[float, float] | None = None
    p_value: float | None = None
    p_corrected: float | None = None
    note: str = ""


@dataclass(frozen=True, eq=False)
class Against:
    """Agreement with the reference, best first by the first measure."""

    name: str
    rows: tuple[Ranked, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Points:
    """How much the members agree on each point, and where the points are."""

    scores: Array
    ids: tuple[str, ...] | None
    #: counts and edges of the histogram
    counts: Array
    edges: Array
    #: the points the members agree least on, the worst first
    unstable: Array
    pairs_used: int
    pairs: int
    #: two coordinates of each point, what they are, and which points these are (None: all)
    place: Array | None = None
    axes: tuple[str, str] = ("", "")
    about: str = ""
    drawn: Array | None = None


@dataclass(frozen=True, eq=False)
class Together:
    """The ensemble: its consensus matrix, certainty, and consensus clusterings."""

    cells: Cells
    cdf_values: Array
    cdf: Array
    cdf_pairs: float
    cdf_is_exact: bool
    pac: float
    certainty: float
    random_certainty: float
    kmax: int
    n_clusters: int
    why_n_clusters: str
    #: one row a method: its scores, or why it was left out
    methods: tuple[dict[str, Any], ...]
    best: Consensus | None
    choice: KChoice | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Model:
    """Everything a report shows."""

    title: str
    n_points: int
    members: tuple[Member, ...]
    #: place of the reference among the members, and of the most central one
    reference: int | None
    central: int
    groups: tuple[tuple[int, ...], ...]
    silhouette: float
    scales: tuple[Scale, ...]
    pairs: Pairs
    against: Against | None
    points: Points | None
    together: Together | None
    cautions: tuple[str, ...]
    command: str | None
    source: str | None
    #: what `congruence compare` and `cg.compare` are told beside the pair, so that they count as the page does
    options: str
    arguments: str
    created: str
    version: str
    seconds: float

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the clusterings."""
        return tuple(m.name for m in self.members)

    @property
    def main(self) -> Scale:
        """The first measure."""
        return self.scales[0]

    def square(self, scale: Scale) -> Array:
        """The values of a measure as a square, NaN on the diagonal."""
        size = len(self.members)
        square = np.full((size, size), np.nan)
        square[np.triu_indices(size, 1)] = scale.values
        square.T[np.triu_indices(size, 1)] = scale.values
        return square


def build(
    clusterings: Any,
    *,
    reference: Any = None,
    data: Any = None,
    axes: Sequence[str] | None = None,
    ids: Any = None,
    measures: Sequence[str | Measure] | None = None,
    n_clusters: int | None = None,
    unassigned: str = "drop",
    noise: Any = None,
    title: str = "Clusterings",
    command: str | None = None,
    source: str | None = None,
    options: str | None = None,
    random_state: Any = 0,
    threads: int | None = None,
    progress: Callable[[int, int], Any] | bool | None = None,
) -> Model:
    """The data of a report; see `cg.report` for what is asked."""
    import congruence

    started = time.perf_counter()
    e, with_reference, cautions = _gathered(clusterings, reference, unassigned, noise)
    size = len(e)
    if n_clusters is not None and not 1 <= n_clusters <= e.n_points:
        raise InputError(f"n_clusters must be from 1 to the number of points ({e.n_points}), not {n_clusters}")
    scored = compare_all(e, _wanted(measures, e), threads=threads, progress=progress)
    cautions += [c for c in scored.cautions if c not in cautions]
    cautions += [f"{key} is left out: {why}" for key, why in scored.skipped.items()]
    own = [i for i in range(size) if not (with_reference and i == 0)]
    first = next(iter(scored))
    away = distances(scored[first], scored.measures[first])
    scales = tuple(_scale(scored, key) for key in scored)
    mean, nearest = _agreement(scored, first, own)
    central = min(own, key=lambda i: (_worse(mean[i], scored.measures[first]), i))
    inside = away[np.ix_(own, own)]
    group_of, silhouette = groups_of(inside)
    same = _same_partitions(e)
    everyone = np.full(size, -1)
    everyone[own] = group_of
    members = tuple(
        Member(
            e.names[i], c.k, len(c) - c.gaps, c.soft, with_reference and i == 0, mean[i], nearest[i], int(everyone[i]),
            same[i], tuple(str(x) for x in c.names),
        )
        for i, c in enumerate(e.members)
    )  # fmt: skip
    ensemble = e[own]
    sections = 2 + (len(own) > 1)
    with Progress(sections, progress if progress is False else None, "parts of the report") as bar:
        pairs = _pairs(e, scored.n_used, 0 if with_reference else None, central)
        bar.add(1)
        against = _against(e, scored, same, random_state, threads) if with_reference else None
        bar.add(1)
        points, together = None, None
        if len(own) > 1:
            points = _points(ensemble, ids, data, axes, random_state)
            together = _together(ensemble, n_clusters, random_state, threads)
            bar.add(1)
    return Model(
        title, e.n_points, members, 0 if with_reference else None, central,
        tuple(tuple(int(own[x]) for x in np.flatnonzero(group_of == g)) for g in range(int(group_of.max()) + 1)), silhouette,
        scales, pairs, against, points, together, tuple(dict.fromkeys(cautions)), command, source,
        f"--unassigned {unassigned}" if options is None else options,
        f"unassigned={unassigned!r}" + ("" if noise is None else f", noise={noise!r}"),
        time.strftime("%Y-%m-%d %H:%M"), congruence.__version__, time.perf_counter() - started,
    )  # fmt: skip


# --- the clusterings --------------------------------------------------------------------------------------------


def _gathered(clusterings: Any, reference: Any, unassigned: str, noise: Any) -> tuple[Ensemble, bool, list[str]]:
    """All clusterings, the reference first, with one name each; and what was left out."""
    policy: Any = "partial" if unassigned == "drop" else unassigned
    e = clusterings if isinstance(clusterings, Ensemble) else Ensemble(clusterings, unassigned=policy, noise=noise)
    if e.mass is not None:
        raise InputError(
            "a report counts every point once, and this ensemble has weights of points: pass it without them"
        )
    cautions = [*e.notes]
    if isinstance(reference, str):
        if reference not in e.names:
            near = hint(reference, e.names, "there are: " + ", ".join(e.names[:8]))
            raise InputError(f"there is no clustering {reference!r} to be the reference; {near}")
        place = e.names.index(reference)
        e = e[[place, *(i for i in range(len(e)) if i != place)]]
    elif reference is not None:
        own = noise if not isinstance(noise, dict) else noise.get("reference")
        weight = None if e.member_weight is None else [1.0]
        e = Ensemble([reference], names=["reference"], unassigned=policy, noise=own, member_weight=weight) + e
    empty = [i for i, c in enumerate(e.members) if c.gaps == len(c)]
    if empty:
        if reference is not None and 0 in empty:
            raise InputError("the reference has no point with a label")
        cautions.append(f"left out, because no point has a label: {_some([e.names[i] for i in empty])}")
        kept = [i for i in range(len(e)) if i not in set(empty)]
        if not kept:
            raise InputError("no clustering has a point with a label")
        e = e[kept]
    if len(e) < 2:
        raise InputError("a report compares at least two clusterings, and there is only one")
    names: list[str] = []
    for name in e.names:
        copy, unique = 2, name
        while unique in names:
            unique, copy = f"{name} ({copy})", copy + 1
        names.append(unique)
    e = e[list(range(len(e)))]
    e.names = tuple(names)
    return e, reference is not None, cautions


def _some(words: Sequence[str], most: int = 5) -> str:
    return ", ".join(words[:most]) + (f" and {len(words) - most} more" if len(words) > most else "")


def _wanted(measures: Sequence[str | Measure] | None, e: Ensemble) -> list[Measure]:
    if measures is None:
        return [find(key) for key in (SOFT if e.is_soft else HARD)]
    found = [find(m) for m in ([measures] if isinstance(measures, str | Measure) else measures)]
    if not 1 <= len(found) <= 6:
        raise InputError(f"a report shows one to six measures, not {len(found)}")
    for m in found:
        if not m.is_symmetric:
            raise InputError(f"{m.key} depends on the order of the two clusterings; a report shows symmetric measures")
    return found


def _scale(scored: AllPairs, key: str) -> Scale:
    m = scored.measures[key]
    away = distances(scored[key], m)
    place, shown = map_of(away) if m.is_metric and len(away) > 2 else (None, 0.0)
    upper = np.triu_indices(len(away), 1)
    return Scale(m, REFERENCES.get(m.reference, m.reference), scored[key][upper], tree_of(away), place, shown)


def _worse(value: float, m: Measure) -> float:
    """Smaller is better; undefined is worst."""
    return np.inf if np.isnan(value) else -value if m.better == "higher" else value


def _agreement(scored: AllPairs, key: str, own: Sequence[int]) -> tuple[list[float], list[float]]:
    """Of each clustering the mean value with the other members, and that with the member it is nearest to."""
    values = np.where(np.eye(len(scored.names), dtype=bool), np.nan, scored[key])[:, list(own)]
    known = ~np.isnan(values)
    some = known.any(axis=1)
    mean = np.where(known, values, 0.0).sum(axis=1) / np.maximum(known.sum(axis=1), 1)
    sign = 1.0 if scored.measures[key].better == "higher" else -1.0
    nearest = sign * np.where(known, sign * values, -np.inf).max(axis=1)
    return np.where(some, mean, np.nan).tolist(), np.where(some, nearest, np.nan).tolist()


def _same_partitions(e: Ensemble) -> list[int | None]:
    """For each member the first one that is the same partition, whatever its clusters are called."""
    from hashlib import blake2b

    first: dict[bytes, int] = {}
    found: list[int | None] = []
    for i, c in enumerate(e.members):
        if isinstance(c, Memberships):
            key = b"soft" + c.digest
        else:
            key = blake2b(_by_appearance(c).tobytes(), digest_size=16).digest()
        earlier = first.setdefault(key, i)
        found.append(earlier if earlier != i else None)
    return found


def _by_appearance(c: Labels) -> Array:
    """Codes in the order in which clusters appear: the same for the same partition; −1 for points without a label."""
    codes = c.codes.astype(np.int64)
    here = codes < c.k
    _, first, place = np.unique(codes[here], return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    whole = np.full(len(codes), -1, np.int32)
    whole[here] = rank[place.ravel()]
    return whole


# --- pairs ------------------------------------------------------------------------------------------------------


def _pairs(e: Ensemble, n_used: Array, reference: int | None, central: int) -> Pairs:
    names = sum(len(str(x)) + 3 for c in e.members for x in c.names)
    raw = sum(len(c) * c.codes.dtype.itemsize if isinstance(c, Labels) else 2 * len(c) * c.k for c in e.members)
    n_bytes = -(-raw // 3) * 4 + names
    if n_bytes <= EMBEDDED:
        return Pairs(tuple(_embedded(c) for c in e.members), (), n_bytes)
    bases = [central] if reference is None else [reference, central]
    wanted = {(min(a, b), max(a, b)) for a in bases for b in range(len(e)) if a != b}
    meet = [(a, b) for a, b in sorted(wanted) if n_used[a, b]]  # of others there is no table
    return Pairs(None, tuple(pair_of(e, a, b) for a, b in meet), n_bytes)


def _embedded(c: Clustering) -> Array:
    if isinstance(c, Labels):
        return c.codes
    return np.asarray(np.rint(c.dense() * 65535).clip(0, 65535).astype(np.uint16))


def pair_of(e: Ensemble, a: int, b: int) -> Pair:
    """One pair: the flow between its clusters, the share of points in matched ones, the clusters that match worst."""
    table = compare(e.members[a], e.members[b], "rand", unassigned="drop").table
    flow = flow_of(table)
    return Pair(a, b, flow, compare_matched(table), worst_matches(table))


def compare_matched(table: Table) -> float:
    """Share of the points that are in clusters matched one to one."""
    from congruence.numerics import assignment

    best = assignment(table.row, table.col, table.count, table.shape)
    return float(table.count[best].sum() / table.n)


def worst_matches(table: Table, most: int = 8) -> tuple[tuple[str, int, float, str, float], ...]:
    """Clusters of both sides by the Jaccard similarity with the cluster they are most like, the worst first."""
    size_a, size_b = table.row_sums, table.col_sums
    jaccard = table.count / (size_a[table.row] + size_b[table.col] - table.count)
    found = []
    for side, here, there, sizes, names, others in (
        (0, table.row, table.col, size_a, table.rows, table.columns),
        (1, table.col, table.row, size_b, table.columns, table.rows),
    ):
        order = np.lexsort((-jaccard, here))
        best = order[np.unique(here[order], return_index=True)[1]]
        found += [
            (str(names[here[x]]), side, float(sizes[here[x]]), str(others[there[x]]), float(jaccard[x]))
            for x in best.tolist()
        ]
    return tuple(sorted(found, key=lambda row: (row[4], -row[2]))[:most])


# --- the reference ----------------------------------------------------------------------------------------------


def _against(
    e: Ensemble, scored: AllPairs, same: Sequence[int | None], random_state: Any, threads: int | None
) -> Against:
    """Every member with the reference: all measures, and for the first one an interval and a p-value."""
    first = next(iter(scored))
    m = scored.measures[first]
    order = sorted(range(1, len(e)), key=lambda i: (_worse(scored[first][0, i], m), i))
    streams = seed_sequence(random_state).spawn(len(order))
    drawn: dict[int, Any] = {}
    found = []
    for i, stream in zip(order, streams, strict=True):
        values = {key: float(scored[key][0, i]) for key in scored}
        first_one = same[i]
        one = i if first_one is None else first_one  # the same partition has the same interval, whatever was drawn
        if one not in drawn:
            drawn[one] = _chance(e.members[0], e.members[i], m, stream, threads, len(order) > MANY)
        found.append((i, values, *drawn[one]))
    p = [x[3] for x in found if x[3] is not None]
    fixed = dict(zip((x[0] for x in found if x[3] is not None), corrected(p, "bh").tolist(), strict=True)) if p else {}
    rows = tuple(Ranked(i, values, interval, p, fixed.get(i), note) for i, values, interval, p, note, _ in found)
    draws = sorted({x[5] for x in found if x[3] is not None})
    notes = []
    if any(x[2] for x in found):
        notes.append(
            f"The intervals are for {m.key}, 95%, from random halves of the points: where the value lies for the population that "
            "the points are a sample of."
        )
    if draws:
        many = " to ".join(dict.fromkeys(f"{x:,}" for x in (draws[0], draws[-1])))
        notes.append(
            f"p is how often {many} random permutations of the points agree as well as that or better, corrected for the number "
            "of clusterings by Benjamini and Hochberg."
        )
    why = dict.fromkeys(x[4] for x in found if x[4])
    notes += [f"{sum(x[4] == text for x in found)} without an interval or p-value: {text}." for text in list(why)[:3]]
    return Against(e.names[0], rows, tuple(notes))


def _chance(
    a: Clustering, b: Clustering, m: Measure, stream: np.random.SeedSequence, threads: int | None, many: bool
) -> tuple[tuple[float, float] | None, float | None, str, int]:
    """Interval, p-value, why one of them is not there, and the number of permutations."""
    cells = a.k * b.k
    if cells > MOST_DRAWN:
        return None, None, f"more than {MOST_DRAWN:,} pairs of clusters", 0
    draws = 99 if a.soft or b.soft else 199 if many or cells > FEW else 999  # soft ones are dealt out point by point
    test, interval = stream.spawn(2)
    options: Any = {"random_state": test, "unassigned": "drop", "progress": False, "threads": threads}
    p, low_high, why = None, None, ""
    try:
        p = permutation_test(a, b, m, draws, **options).p_value
        options["random_state"] = interval
        low, high = confidence_interval(a, b, m, n_resamples=min(draws + 1, 400), **options)
        low_high = (low, high)
    except InputError as reason:
        why = str(reason)
    return low_high, p, why, draws


# --- the points -------------------------------------------------------------------------------------------------


def consistency(e: Ensemble, random_state: Any = 0) -> tuple[Array, int]:
    """Mean element-centric agreement on each point over pairs of members, and how many pairs that was.

    Pairs are drawn at random where there are too many of them. Points that no two members have are NaN.

    >>> import congruence as cg
    >>> scores, pairs = consistency(cg.Ensemble([[0, 0, 1, 1], [0, 0, 1, 1], [0, 1, 1, 1]]))
    >>> scores.round(3).tolist(), pairs
    ([0.667, 0.556, 0.778, 0.778], 3)
    """
    pairs = np.array(list(combinations(range(len(e)), 2)))
    most = max(min(MOST_PAIRS, MOST_SCORES // e.n_points), 1)
    if len(pairs) > most:
        pairs = pairs[np.random.default_rng(random_state).choice(len(pairs), most, replace=False)]
    total, seen = np.zeros(e.n_points), np.zeros(e.n_points)
    for a, b in pairs.tolist():
        first, second = e.members[a], e.members[b]
        if isinstance(first, Labels) and isinstance(second, Labels):
            _add_scores(first, second, total, seen)
        else:
            scores = np.asarray(element_scores(first, second, unassigned="drop"))
            here = ~np.isnan(scores)
            total[here] += scores[here]
            seen += here
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(seen > 0, total / seen, np.nan), len(pairs)


def _add_scores(a: Labels, b: Labels, total: Array, seen: Array) -> None:
    """Add |A ∩ B| / max(|A|, |B|) of the clusters of each point that both have."""
    left, right = a.codes, b.codes
    here = None
    if a.gaps or b.gaps:
        here = np.flatnonzero((left < a.k) & (right < b.k))
        left, right = left[here], right[here]
    cell = left.astype(np.int64) * b.k + right
    if a.k * b.k <= 16 * len(cell) + 1024:
        common = np.bincount(cell, minlength=a.k * b.k).reshape(a.k, b.k)
        size = np.maximum(common.sum(axis=1)[:, None], common.sum(axis=0)[None, :])
        scores = (common / np.maximum(size, 1)).ravel()[cell]
    else:
        _, place, counts = np.unique(cell, return_inverse=True, return_counts=True)
        size = np.maximum(np.bincount(left, minlength=a.k)[left], np.bincount(right, minlength=b.k)[right])
        scores = counts[place.ravel()] / size
    if here is None:
        total += scores
        seen += 1
    else:
        total[here] += scores
        seen[here] += 1


def _points(e: Ensemble, ids: Any, data: Any, axes: Sequence[str] | None, random_state: Any) -> Points:
    scores, used = consistency(e, random_state)
    known = scores[~np.isnan(scores)]
    counts, edges = np.histogram(known, bins=40, range=(0.0, 1.0))
    unstable = np.argsort(np.where(np.isnan(scores), np.inf, scores), kind="stable")[:LISTED]
    unstable = unstable[~np.isnan(scores[unstable])]
    named = _ids(ids, e)
    found = Points(scores, named, counts, edges, unstable, used, len(e) * (len(e) - 1) // 2)
    if data is None:
        return found
    if frame_kind(data) == "pandas" and len(data) == e.n_points:
        check_index(e, data, "the data", "the clusterings")
    place, shown, about = _plane(data, axes, e.n_points)
    drawn = None
    if e.n_points > MOST_POINTS:
        drawn = np.sort(np.random.default_rng(random_state).choice(e.n_points, MOST_POINTS, replace=False))
    return replace(found, place=place, axes=shown, about=about, drawn=drawn)


def _ids(ids: Any, e: Ensemble) -> tuple[str, ...] | None:
    if ids is None:
        if e.index is None:
            return None
        ids = e.index
    listed = tuple(str(x) for x in (ids.to_pylist() if hasattr(ids, "to_pylist") else ids))
    if len(listed) != e.n_points:
        raise InputError(f"{len(listed)} ids for {e.n_points} points")
    return listed


def _plane(data: Any, axes: Sequence[str] | None, n: int) -> tuple[Array, tuple[str, str], str]:
    """Two coordinates of each point: the columns named, the only two there are, or principal components."""
    names = None
    if frame_kind(data) is not None and hasattr(data, "columns"):
        names = [str(x) for x in (data.column_names if frame_kind(data) == "pyarrow" else data.columns)]
    elif isinstance(data, dict):
        names, data = [str(x) for x in data], np.column_stack([np.asarray(x) for x in data.values()])
    X = as_data(data)
    X = X.toarray() if hasattr(X, "toarray") and axes is None and X.shape[1] <= 50 else X
    if X.shape[0] != n:
        raise InputError(
            f"the data have {X.shape[0]} rows and the clusterings {n} points; both must be of the same points"
        )
    if axes is not None:
        if len(axes) != 2:
            raise InputError(f"a picture has two axes, not {len(axes)}; name two columns of the data")
        names = names or [str(j) for j in range(X.shape[1])]
        for axis in axes:
            if str(axis) not in names:
                near = hint(str(axis), names, "there are: " + ", ".join(names[:8]))
                raise InputError(f"the data have no column {axis!r}; {near}")
        chosen = X[:, [names.index(str(axis)) for axis in axes]]
        place = np.asarray(chosen.toarray() if hasattr(chosen, "toarray") else chosen)
        return place, (str(axes[0]), str(axes[1])), "the columns named"
    if X.shape[1] <= 2 or n < 2:
        place = np.column_stack([X[:, :2], np.zeros((n, max(2 - X.shape[1], 0)))])
        listed = [*(names or ["first column", "second column"])[: X.shape[1]], ""]
        return place, (listed[0], listed[1]), "the columns of the data"
    from sklearn.decomposition import PCA, TruncatedSVD

    if hasattr(X, "toarray"):
        svd = TruncatedSVD(2, random_state=0)
        return svd.fit_transform(X), ("component 1", "component 2"), "the first two components of the sparse data"
    spread = X.std(axis=0)
    scaled = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    pca = PCA(2, random_state=0)
    with np.errstate(invalid="ignore"):  # columns that are all constant have no variance to share
        place = pca.fit_transform(scaled)
    share = pca.explained_variance_ / max(scaled.var(axis=0, ddof=1).sum(), np.finfo(float).tiny)
    labels = (f"component 1 ({share[0]:.0%} of the variance)", f"component 2 ({share[1]:.0%})")
    return place, labels, "principal components of the standardised columns"


# --- the ensemble -----------------------------------------------------------------------------------------------


def _together(e: Ensemble, n_clusters: int | None, random_state: Any, threads: int | None) -> Together:
    choice = _choice(e, threads)
    k, why = _number_of_clusters(e, n_clusters, choice)
    best, rows = _consensus_rows(e, k, random_state)
    cells = cells_of(e, None if best is None else best.labels)
    exact = e.n_points <= EXACT_POINTS
    cdf = consensus_cdf(e, progress=False) if exact else consensus_cdf(e, sample=DRAWN_PAIRS, random_state=0)
    kmax = max(max(c.k for c in e.members), 2)
    values = np.unique(np.concatenate([[0.0], cdf.values, [1.0]]))
    if len(values) > 201:
        values = np.linspace(0, 1, 201)
    return Together(
        cells, values, np.asarray(cdf(values)), cdf.pairs, cdf.is_exact, cdf.pac(), lone_scorer("certainty")(e, threads=threads),
        float(certainty_random(kmax, len(e))), kmax, k, why, rows, best, choice,
        () if best is None else best.notes,
    )  # fmt: skip


def _choice(e: Ensemble, threads: int | None) -> KChoice | None:
    """The curves over the number of clusters, where two numbers or more have two members or more."""
    by_k: dict[int, list[int]] = {}
    for i, c in enumerate(e.members):
        by_k.setdefault(c.k, []).append(i)
    several = {k: e[found] for k, found in sorted(by_k.items()) if k > 1 and len(found) > 1}
    if len(several) < 2 or e.has_gaps:
        return None
    return choose_k(several, threads=threads, progress=False)


def _number_of_clusters(e: Ensemble, given: int | None, choice: KChoice | None) -> tuple[int, str]:
    if given is not None:
        return given, "as asked for"
    if choice is not None and choice._voters:
        return choice.k, "what most criteria favour"
    ks = sorted(c.k for c in e.members)
    middle = max(ks[(len(ks) - 1) // 2], 1)
    return middle, "what all members have" if ks[0] == ks[-1] else "the middle of what the members have"


def _consensus_rows(e: Ensemble, k: int, random_state: Any) -> tuple[Consensus | None, tuple[dict[str, Any], ...]]:
    """The best consensus clustering by arimp, and one row for each method tried."""
    k, clusters = min(k, e.n_points), sum(c.k for c in e.members)
    able, left_out = [], []
    for method in (*METHODS, *(["average"] if e.n_points <= FEW else [])):
        most = method_of(method).cluster_limit
        if (method in SPECTRAL and clusters > MOST_CLUSTERS) or (most is not None and clusters > most):
            why = f"slow for the {clusters:,} clusters of all members"
        elif method in METHODS and k * clusters > MOST_CENTRES:
            why = f"slow for {k:,} clusters out of the {clusters:,} of all members"
        else:
            able.append(method)
            continue
        left_out.append({"method": method, "left_out": f"{why}; `congruence consensus --method {method}` may run it"})
    if not able:
        return None, tuple(left_out)
    try:
        best = consensus(e, k, able, random_state, progress=False)
    except InputError as reason:  # there is nothing to find a consensus of
        return None, (*({"method": method, "left_out": str(reason)} for method in able), *left_out)
    return best, (*map(dict, best.tried), *left_out)
