"""The clusterings of a report: names, measures and duplicates, and the labels or tables of single pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import cast

import numpy as np

from congruence.comparison.results import AllPairs
from congruence.engine.cpu import table_of
from congruence.errors import Caution, InputError, Option, hint, joined, some_of, unused_name
from congruence.figures.layout import Flow, Tree, distances, flow_of, map_of, tree_of
from congruence.formulas import find
from congruence.formulas.record import Measure
from congruence.formulas.references import REFERENCES
from congruence.inputs.ensemble import Ensemble
from congruence.inputs.kinds import Clustering, Unassigned
from congruence.statistics.tables import Array, Table
from congruence.typing import ClusteringLike, ColumnLike, EnsembleLike, NoiseLike, PointsLike, ProgressLike, Seed

#: the six measures of the page, for hard and for soft clusterings; the first is used for order, groups and ranking
HARD = ("ari", "ami_max", "nmi_sum", "vi", "jaccard", "element_centric")
SLOW, LARGE = ("ami_max",), 5_000_000  # only up to this many points × clusterings, unless requested
SOFT = ("fari", "nmi_sum", "vi", "ari_gram", "element_centric", "wallace")


@dataclass(frozen=True, eq=False)
class Member:
    """One clustering: its clusters and its agreement with the others."""

    name: str
    k: int
    n_assigned: int
    is_soft: bool
    is_reference: bool
    #: mean agreement with the other counted members, and agreement with the nearest one
    mean: float
    nearest: float
    #: its group (0: the largest; −1: none), and the first member with the same partition, if it is a different one
    group: int
    same_as: int | None
    #: why it is near-trivial, if it is
    trivial: Caution
    #: whether it counts in the answer
    counts: bool
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
    #: self-score of each member; below the best value for soft clusterings
    selfs: Array

    @property
    def quantised(self) -> tuple[float, float, Array]:
        """Lowest and highest value, and each as one of 65,535 steps between them; 65,535 if it is undefined."""
        known = self.values[~np.isnan(self.values)]
        low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
        steps = np.rint((self.values - low) / ((high - low) or 1.0) * 65534)
        return low, high, np.where(np.isnan(steps), 65535, steps).astype(np.uint16)


@dataclass(frozen=True, kw_only=True)
class Request:
    """What a report is asked for; the fields are the arguments of `cg.report`, except the options shown in its commands."""

    clusterings: EnsembleLike
    title: str
    reference: ClusteringLike | None = None
    data: PointsLike = None
    axes: Sequence[str] | None = None
    ids: ColumnLike = None
    measures: Sequence[str | Measure] | None = None
    n_clusters: int | None = None
    distinct: bool = False
    unassigned: str = "error"
    noise: NoiseLike = None
    command: str | None = None
    source: str | None = None
    options: str | None = None
    random_state: Seed = 0
    threads: int | None = None
    progress: ProgressLike = None


class EveryColumn(Ensemble):
    """All label columns of a table, for a reference that is named."""

    sets_reference_apart = False


def clusterings_shown(
    clusterings: EnsembleLike, reference: ClusteringLike | None, unassigned: str, noise: NoiseLike
) -> tuple[Ensemble, bool, list[Caution]]:
    """All clusterings with unique names, the reference first; and notes on those left out."""
    policy = cast("Unassigned", "partial" if unassigned == "drop" else unassigned)  # Ensemble checks it
    read = Ensemble if reference is None else EveryColumn
    e = clusterings if isinstance(clusterings, Ensemble) else read(clusterings, unassigned=policy, noise=noise)
    if e.mass is not None:
        raise InputError("a report counts every point once, but this ensemble has point weights; pass it without them")
    cautions = [note for note in e.notes if note.code != "reference"]  # the summary names it
    name = "reference"
    if e.reference is not None and (reference is None or (isinstance(reference, str) and reference == e.reference[0])):
        name, reference = e.reference
    if isinstance(reference, str):
        if reference not in e.names:
            near = hint(reference, e.names, "there are: " + some_of(e.names))
            raise InputError(f"there is no clustering {reference!r} to use as reference; {near}")
        place = e.names.index(reference)
        e = e[[place, *(i for i in range(len(e)) if i != place)]]
    elif reference is not None:
        own = noise if not isinstance(noise, dict) else noise.get(name)
        weight = None if e.member_weight is None else [1.0]
        e = Ensemble([reference], names=[name], unassigned=policy, noise=own, member_weight=weight) + e
    empty = [i for i, c in enumerate(e.members) if c.gaps == len(c)]
    if empty:
        if reference is not None and 0 in empty:
            raise InputError("the reference has no point with a label")
        gone = some_of([e.names[i] for i in empty], 5)
        cautions.append(Caution("empty", "", f"left out, because no point has a label: {gone}"))
        kept = [i for i in range(len(e)) if i not in set(empty)]
        if not kept:
            raise InputError("no clustering has a point with a label")
        e = e[kept]
    names: list[str] = []
    for name in e.names:
        names.append(unused_name(name, names) if name in names else name)
    e = e[list(range(len(e)))]
    e.names, e.notes = tuple(names), tuple(note for note in e.notes if note.code != "reference")
    return e, reference is not None, cautions


def measures_shown(measures: Sequence[str | Measure] | None, e: Ensemble) -> tuple[list[Measure], list[Caution]]:
    """The measures of the page, and notes on those left out because they are slow."""
    if measures is None:
        chosen = [find(key) for key in (SOFT if e.is_soft else HARD)]
        slow = [m for m in chosen if m.key in SLOW] if e.n_points * len(e) > LARGE else []
        if not slow:
            return chosen, []
        titles, how = joined(m.title for m in slow), f"name them in {Option('measures')} to show them"
        text = f"{titles} left out: too slow for this many labels; {how}"
        return [m for m in chosen if m not in slow], [Caution("left_out", "", text)]
    found = [find(m) for m in ([measures] if isinstance(measures, str | Measure) else measures)]
    if not 1 <= len(found) <= 6:
        raise InputError(f"a report shows one to six measures, not {len(found)}")
    for m in found:
        if not m.is_symmetric:
            raise InputError(f"{m.key} depends on the order of the two clusterings; a report shows symmetric measures")
    return found, []


def scale_of(scored: AllPairs, key: str) -> Scale:
    """One measure over all pairs."""
    m = scored.measures[key]
    away = distances(scored[key], m)
    place, shown = map_of(away) if m.is_metric and len(away) > 2 else (None, 0.0)
    upper = np.triu_indices(len(away), 1)
    selfs = np.diag(scored[key]).copy()
    return Scale(m, REFERENCES.get(m.reference, m.reference), scored[key][upper], tree_of(away), place, shown, selfs)


def relative(values: Array, m: Measure) -> Array:
    """Similarity values divided by the geometric mean of the self-scores; distances are unchanged.

    By most measures soft clusterings do not reach 1 even with themselves. Relative to the self-scores, identical ones do.

    >>> relative(np.array([[0.5, 0.4], [0.4, 0.32]]), find("ari_gram")).round(12).tolist()
    [[1.0, 1.0], [1.0, 1.0]]
    """
    own = np.diag(values)
    if m.better != "higher" or not (own > 0).all() or np.allclose(own, 1.0, rtol=0, atol=1e-12):
        return values
    return np.asarray(np.minimum(values / np.sqrt(np.outer(own, own)), 1.0))


def is_adjusted(m: Measure) -> bool:
    """Whether 0 is expected by chance and 1 is the best value."""
    return m.better == "higher" and "baseline" in m.axioms


def worse(value: float, m: Measure) -> float:
    """Sort key: smaller is better; undefined is worst."""
    return np.inf if np.isnan(value) else -value if m.better == "higher" else value


def agreement(square: Array, m: Measure, counted: Sequence[int]) -> tuple[list[float], list[float]]:
    """For each clustering, the mean value with the other counted ones, and the value with the nearest one."""
    values = np.where(np.eye(len(square), dtype=bool), np.nan, square)[:, list(counted)]
    known = ~np.isnan(values)
    some = known.any(axis=1)
    mean = np.where(known, values, 0.0).sum(axis=1) / np.maximum(known.sum(axis=1), 1)
    sign = 1.0 if m.better == "higher" else -1.0
    nearest = sign * np.where(known, sign * values, -np.inf).max(axis=1)
    return np.where(some, mean, np.nan).tolist(), np.where(some, nearest, np.nan).tolist()


def same_partitions(e: Ensemble) -> list[int | None]:
    """For each member, the first one with the same partition, regardless of cluster names."""
    from hashlib import blake2b

    first: dict[bytes, int] = {}
    found: list[int | None] = []
    for i, c in enumerate(e.members):
        if c.soft:
            key = b"soft" + c.digest
        else:
            key = blake2b(_by_appearance(c).tobytes(), digest_size=16).digest()
        earlier = first.setdefault(key, i)
        found.append(earlier if earlier != i else None)
    return found


def _by_appearance(c: Clustering) -> Array:
    """Codes in order of first appearance, equal for equal partitions; −1 for points without a label."""
    first = np.full(c.k + 1, len(c))
    first[c.codes[::-1]] = np.arange(len(c))[::-1]  # the last assignment wins
    rank = np.empty(c.k + 1, np.int32)
    rank[np.argsort(first[: c.k], kind="stable")] = np.arange(c.k)
    rank[c.k] = -1
    return rank[c.codes]


# --- single pairs: labels from which the page counts tables, or precomputed tables ------------------------------------

#: largest size of all labels in the page, in bytes; above it, only some pairs are shown
EMBEDDED = 4_000_000


@dataclass(frozen=True, eq=False)
class Pair:
    """A precomputed pair of clusterings, for pages that cannot hold all labels."""

    a: int
    b: int
    flow: Flow
    #: share of the points in matched clusters
    agreed: float
    #: name, side (0: a), size, best partner, Jaccard similarity with it; the worst first
    worst: tuple[tuple[str, int, float, str, float], ...]


@dataclass(frozen=True, eq=False)
class Pairs:
    """Data for single pairs: all labels, or tables of some pairs."""

    #: labels of every member (0 … k−1, k for none), or memberships; None if they are too large
    labels: tuple[Array, ...] | None
    tables: tuple[Pair, ...]
    #: size of the labels in the page, in bytes, even if they are left out
    n_bytes: int


def pairs_of(e: Ensemble, n_used: Array, reference: int | None, central: int) -> Pairs:
    """The labels of all members, or tables of the pairs with the reference and the most central one."""
    names = sum(len(str(x)) + 3 for c in e.members for x in c.names)
    raw = sum(2 * len(c) * c.k if c.soft else len(c) * c.codes.dtype.itemsize for c in e.members)
    n_bytes = -(-raw // 3) * 4 + names
    if n_bytes <= EMBEDDED:
        return Pairs(tuple(_embedded(c) for c in e.members), (), n_bytes)
    bases = [central] if reference is None else [reference, central]
    wanted = {(min(a, b), max(a, b)) for a in bases for b in range(len(e)) if a != b}
    meet = [(a, b) for a, b in sorted(wanted) if n_used[a, b]]  # other pairs have no table
    return Pairs(None, tuple(pair_of(e, a, b) for a, b in meet), n_bytes)


def _embedded(c: Clustering) -> Array:
    return np.asarray(np.rint(c.dense() * 65535).clip(0, 65535).astype(np.uint16)) if c.soft else c.codes


def pair_of(e: Ensemble, a: int, b: int) -> Pair:
    """One pair: the flow between its clusters, the share of points in matched clusters, and the clusters that match worst."""
    table, _ = table_of(e.members[a], e.members[b])
    flow = flow_of(table)
    return Pair(a, b, flow, compare_matched(table), worst_matches(table))


def compare_matched(table: Table) -> float:
    """Share of the points that are in clusters matched one to one."""
    from congruence.formulas.matching import assignment

    best = assignment(table.row, table.col, table.count, table.shape)
    return float(table.count[best].sum() / table.n)


def worst_matches(table: Table, most: int = 8) -> tuple[tuple[str, int, float, str, float], ...]:
    """Clusters of both sides by the Jaccard similarity with their best match, the worst first."""
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
