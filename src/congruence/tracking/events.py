"""Which clusters of two steps are linked, by rule, and what became of them, with the probability of as much by chance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Literal, NamedTuple

import numpy as np
from scipy.special import ndtr

from congruence.inputs.steps import Step
from congruence.statistics.tables import Array
from congruence.tracking.overlaps import Overlap, probability, upper_tail
from congruence.typing import Label

Kind = Literal["kept", "grew", "shrank", "split", "merged", "regrouped", "new", "gone"]

#: a cluster grew or shrank if its size changed by more than this share and by more than this many standard errors
CHANGE, ERRORS = 0.25, 3.0
#: Greene et al. (2010) call a change of a tenth an expansion or contraction
GREENE_CHANGE = 0.1


class Event(NamedTuple):
    """What became of linked clusters from one step to the next.

    Attributes:
        step: Name of the later step.
        event: The kind of event.
        before: Lasting names of the clusters of the earlier step.
        after: Lasting names of those of the later step.
        clusters_before: Their names as given.
        clusters_after: The same for the later step.
        shared: Points in common, over all links.
        share_before: Their share of the earlier clusters.
        share_after: Their share of the later clusters.
        p_value: The probability of as much in common, or of as many points that come or go, if points were shuffled.
    """

    step: str
    event: Kind
    before: list[Label]
    after: list[Label]
    clusters_before: list[Label]
    clusters_after: list[Label]
    shared: float
    share_before: float
    share_after: float
    p_value: float


#: the columns of a table of events
EVENT_COLUMNS = Event._fields


def events_of(
    found: Groups,
    overlap: Overlap,
    steps: tuple[Step, Step],
    names: tuple[Sequence[Label], Sequence[Label]],
    rules: Rules,
) -> list[Event]:
    """The events from one step to the next, in the order of the earlier clusters; new clusters come last."""

    (old, new), (a, b) = names, steps

    def event(kind: Kind, before: Sequence[int], after: Sequence[int], *facts: float) -> Event:
        lasting = [old[i] for i in before], [new[i] for i in after]
        given = [a.clusters[i] for i in before], [b.clusters[i] for i in after]
        return Event(b.name, kind, lasting[0], lasting[1], given[0], given[1], *facts)

    one = overlap.only(found.single)
    kinds, p_values = _pairs(one, rules)
    facts = zip(
        one.shared.tolist(), one.share_before.tolist(), one.share_after.tolist(), p_values.tolist(), strict=True
    )
    name, given_a, given_b = b.name, a.clusters, b.clusters
    listed = [
        (i, Event(name, kind, [old[i]], [new[j]], [given_a[i]], [given_b[j]], *fact))
        for i, j, kind, fact in zip(one.row.tolist(), one.col.tolist(), kinds, facts, strict=True)
    ]
    every = np.array([pair for group in found.several for pair in group.pairs], dtype=np.int64)
    starts = np.cumsum([0, *(len(group.pairs) for group in found.several)])[:-1]
    likely = np.maximum.reduceat(probability(overlap.only(every)), starts).tolist() if len(every) else []
    for group, p_value in zip(found.several, likely, strict=True):
        pairs = list(group.pairs)
        shared = float(overlap.shared[pairs].sum())
        whole = [
            float(size[list(of)].sum()) for size, of in zip(overlap.sizes, (group.before, group.after), strict=True)
        ]
        kind: Kind = "split" if len(group.before) == 1 else "merged" if len(group.after) == 1 else "regrouped"
        shares = [min(shared / size, 1.0) if size else 0.0 for size in whole]
        listed.append((group.before[0], event(kind, group.before, group.after, shared, shares[0], shares[1], p_value)))
    last = len(overlap.sizes[0])
    for side, clusters, at in ((0, found.gone, 0), (1, found.new, last)):
        for c, p_value in zip(clusters.tolist(), _turnover(overlap, side, clusters).tolist(), strict=True):
            ends = (
                event("new", (), (c,), 0.0, 0.0, 0.0, p_value)
                if side
                else event("gone", (c,), (), 0.0, 0.0, 0.0, p_value)
            )
            listed.append((c + at, ends))
    return [found_event for _, found_event in sorted(listed, key=itemgetter(0))]


def _pairs(one: Overlap, rules: Rules) -> tuple[list[Kind], Array]:
    """The kind of each pair of clusters linked to each other only, and the probability of as much by chance.

    Only points that come or go change the size of a cluster if both steps have the same points.
    """
    size_a, size_b = one.sizes[0][one.row].astype(float), one.sizes[1][one.col].astype(float)
    come, go = (size_b, size_a) if one.came is None or one.left is None else (one.came[one.col], one.left[one.row])
    if rules == "greene":
        change = size_b - size_a
        clear = np.abs(change) > GREENE_CHANGE * size_a
    else:
        change = np.asarray(come - go, dtype=float)
        clear = (np.abs(change) > CHANGE * size_a) & (np.abs(change) > ERRORS * np.sqrt(come + go))
    p_value = probability(one)
    if one.came is None:
        p_value[clear] = 2 * ndtr(-np.abs(change[clear]) / np.sqrt(size_a[clear] + size_b[clear]))
    else:
        for side, of in ((1, one.col), (0, one.row)):
            here = clear & ((change > 0) == bool(side))
            p_value[here] = _turnover(one, side, of[here])
    kinds: list[Kind] = [
        "kept" if not c else "grew" if x > 0 else "shrank" for c, x in zip(clear.tolist(), change.tolist(), strict=True)
    ]
    return kinds, p_value


def _turnover(overlap: Overlap, side: int, clusters: Array) -> Array:
    """The probability that as many points of clusters come (or go), if those that do were shuffled among the clusters.

    If none do: the probability that the points of a cluster are spread as widely over the clusters of the other step. If
    steps have their own points: that an unlike cluster has as little in common with all clusters of the other step.
    """
    moved = (overlap.left, overlap.came)[side]
    here = (overlap.row, overlap.col)[side]
    if moved is None:
        likely = probability(overlap)
        return np.array([1.0 - likely[here == c].min(initial=1.0) for c in clusters.tolist()])
    n, those = overlap.totals[side]
    size = np.rint(overlap.sizes[side]).astype(np.int64)
    if those:
        return upper_tail(np.rint(moved[clusters]), n, np.full(len(clusters), those), size[clusters])
    other = np.rint(overlap.sizes[1 - side]).astype(np.int64)
    most = np.zeros(len(size))
    np.maximum.at(most, here, overlap.shared)
    return np.array(
        [
            np.prod(1 - upper_tail(np.full(len(other), most[c] + 1), n, other, np.full(len(other), size[c])))
            for c in clusters
        ]
    )


Rules = Literal["overlap", "monic", "greene"]
Naming = Literal["larger", "nested"]

#: the least share of either cluster that links two, for points; for profiles, whose tails overlap by chance, it is larger
LEAST_SHARE, LEAST_PROFILE = 0.25, 0.5
#: Greene et al. (2010): the least Jaccard similarity of two communities of successive steps
LEAST_JACCARD = 0.3
#: MONIC (Spiliopoulou et al., 2006): the share of a cluster that survives, and the share that goes to a part of a split
SURVIVAL, PART = 0.5, 0.25


@dataclass(frozen=True)
class Group:
    """Linked clusters of two steps, several on one side at least.

    Attributes:
        before: Clusters of the earlier step.
        after: Clusters of the later step.
        pairs: The positions of their links in the overlap.
    """

    before: tuple[int, ...]
    after: tuple[int, ...]
    pairs: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Groups:
    """All clusters of two steps, by how they are linked.

    Attributes:
        single: Positions in the overlap of the links of two clusters that are linked to no other.
        gone: Clusters of the earlier step without a link.
        new: Clusters of the later step without a link.
        several: The groups of more than two linked clusters.
    """

    single: Array
    gone: Array
    new: Array
    several: tuple[Group, ...]


def linked(overlap: Overlap, rules: Rules = "overlap", least: float = LEAST_SHARE) -> Array:
    """Whether each pair of clusters is linked.

    Args:
        overlap: What the clusters have in common.
        rules: "overlap" (default): they share at least a quarter of either; "monic" and "greene": the definitions of
            Spiliopoulou et al. (2006) and Greene et al. (2010).
        least: The least share for "overlap".
    """
    if rules == "overlap":
        return np.maximum(overlap.share_before, overlap.share_after) >= least - 1e-12
    if rules == "greene":
        union = overlap.sizes[0][overlap.row] + overlap.sizes[1][overlap.col] - overlap.shared
        return overlap.shared >= LEAST_JACCARD * union
    # MONIC: a cluster survives in the one that holds half of it, else it splits into parts that together hold half
    survives = overlap.share_before >= SURVIVAL
    part = overlap.share_before >= PART
    k = len(overlap.sizes[0])
    goes_on = np.bincount(overlap.row, weights=survives, minlength=k) > 0
    held = np.bincount(overlap.row, weights=overlap.share_before * part, minlength=k)
    splits = ~goes_on & (held >= SURVIVAL)
    return np.asarray(survives | (part & splits[overlap.row]))


def groups(overlap: Overlap, keep: Array) -> Groups:
    """The groups of linked clusters."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    k = tuple(len(sizes) for sizes in overlap.sizes)
    pairs = np.flatnonzero(keep)
    row, col = overlap.row[pairs], overlap.col[pairs]
    links = np.bincount(row, minlength=k[0]), np.bincount(col, minlength=k[1])
    alone = (links[0][row] == 1) & (links[1][col] == 1)
    rest = pairs[~alone]
    graph = coo_array((np.ones(len(rest)), (row[~alone], col[~alone] + k[0])), shape=(sum(k), sum(k)))
    part = connected_components(graph, directed=False)[1][row[~alone]]
    order = np.argsort(part, kind="stable")
    several = [rest[piece] for piece in np.split(order, np.flatnonzero(np.diff(part[order])) + 1) if len(piece)]
    return Groups(
        pairs[alone], np.flatnonzero(links[0] == 0), np.flatnonzero(links[1] == 0),
        tuple(
            Group(tuple(np.unique(overlap.row[p]).tolist()), tuple(np.unique(overlap.col[p]).tolist()), tuple(p.tolist()))
            for p in several
        ),
    )  # fmt: skip
