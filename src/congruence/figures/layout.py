"""Layouts of figures as plain numbers: orders, trees, maps, flows and cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from congruence.alternative_clustering.results import Alternatives
from congruence.comparison.pair import Comparison, compare
from congruence.comparison.results import AllPairs
from congruence.ensembles.agreement import consensus_matrix
from congruence.ensembles.distribution import ConsensusCdf, consensus_cdf
from congruence.ensembles.items import neighbours
from congruence.errors import InputError, joined, whole_number
from congruence.formulas import find
from congruence.formulas import names as measure_names
from congruence.formulas.matching import assignment
from congruence.formulas.record import Measure
from congruence.inputs.cover import CoverLabels
from congruence.inputs.ensemble import Ensemble
from congruence.statistics.tables import Array, Table
from congruence.typing import ClusteringLike

if TYPE_CHECKING:
    from congruence.selection.choice import Criterion

#: colour-blind safe colours (Okabe and Ito), for clusters and curves
EIGHT = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#999999")
#: colours of the verdicts on clusters
VERDICTS = {"keep": "#0072B2", "merge": "#D55E00", "unsure": "#999999"}
#: most clusterings whose values are written into the figure
MOST_VALUES = 12
#: most names in a figure, and most points for an exact distribution; above it, pairs are sampled
MOST_NAMES, EXACT_POINTS, DRAWN_PAIRS = 60, 1000, 200_000

#: most members in optimal leaf order; above it, the order of the tree is kept
MOST_ORDERED = 1500
#: most pairs of matched clusters that a flow shows one by one
MOST_FLOWS = 120
#: most clusterings in a flow
MOST_COLUMNS = 8
#: most rows and columns of the figure of a consensus matrix
MOST_CELLS = 400
#: most groups of members, and the smallest silhouette of clear groups
MOST_GROUPS, CLEAR = 8, 0.25


# --- members ----------------------------------------------------------------------------------------------------


def distances(values: Array, measure: Measure) -> Array:
    """Distances of the members by a measure: best − value for a similarity; undefined pairs are farthest apart.

    For an unbounded similarity, such as mi, the best value is the largest one present.
    """
    best = measure.range[1] if np.isfinite(measure.range[1]) else np.max(values, initial=0.0, where=~np.isnan(values))
    away = best - values if measure.better == "higher" else values.copy()
    away = np.maximum((away + away.T) / 2, 0.0)
    known = away[~np.isnan(away)]
    away = np.where(np.isnan(away), known.max() if len(known) else 1.0, away)
    np.fill_diagonal(away, 0.0)
    return np.asarray(away)


@dataclass(frozen=True, eq=False)
class Tree:
    """A dendrogram by average linkage: the leaves from left to right, and its branches."""

    order: Array
    #: one row per merge: positions of the left and right stems, the heights they start from, the height of the merge
    branches: Array
    is_optimal: bool


def groups_of(away: Array) -> tuple[Array, float]:
    """Groups of members, the largest first, and their mean silhouette; one group if there are no clear groups.

    Ward's linkage, cut into 2 … 8 groups: the cut with the largest silhouette, or the first within 0.02 of it.

    >>> import numpy as np
    >>> place = np.array([0, 1, 10, 11, 12])
    >>> groups_of(np.abs(place[:, None] - place))[0].tolist()
    [1, 1, 0, 0, 0]
    """
    if len(away) < 3:
        return np.zeros(len(away), np.int64), 0.0
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import squareform
    from sklearn.metrics import silhouette_score

    merges = linkage(squareform(away, checks=False), "ward")
    found = []
    for many in range(2, min(MOST_GROUPS, len(away) - 1) + 1):
        labels = fcluster(merges, many, "maxclust") - 1
        if labels.max() + 1 == many:
            found.append((float(silhouette_score(away, labels, metric="precomputed")), labels))
    clearest = max((score for score, _ in found), default=0.0)
    if clearest < CLEAR:
        return np.zeros(len(away), np.int64), clearest
    score, labels = next((score, labels) for score, labels in found if score >= clearest - 0.02)
    rank = np.empty(labels.max() + 1, np.int64)
    rank[np.argsort(-np.bincount(labels), kind="stable")] = np.arange(labels.max() + 1)
    return np.asarray(rank[labels], dtype=np.int64), score


def tree_of(away: Array) -> Tree:
    """The dendrogram of a distance matrix, in optimal leaf order."""
    size = len(away)
    if size == 1:
        return Tree(np.zeros(1, np.int64), np.empty((0, 5)), True)
    from scipy.cluster.hierarchy import leaves_list, linkage, optimal_leaf_ordering
    from scipy.spatial.distance import squareform

    condensed = squareform(away, checks=False)
    merges = linkage(condensed, "average")
    if size <= MOST_ORDERED:
        merges = optimal_leaf_ordering(merges, condensed)
    order = np.asarray(leaves_list(merges), dtype=np.int64)
    place = np.empty(2 * size - 1)
    height = np.zeros(2 * size - 1)
    place[order] = np.arange(size)
    branches = np.empty((size - 1, 5))
    for i, (a, b, top, _) in enumerate(merges.tolist()):
        left, right = sorted((int(a), int(b)), key=lambda x: place[x])
        branches[i] = place[left], place[right], height[left], height[right], top
        place[size + i], height[size + i] = (place[left] + place[right]) / 2, top
    return Tree(order, branches, size <= MOST_ORDERED)


def map_of(away: Array) -> tuple[Array, float]:
    """Two coordinates for each member by classical scaling, and the share of the squared distances they show.

    >>> import numpy as np
    >>> place, share = map_of(np.array([[0, 3, 4], [3, 0, 5], [4, 5, 0]]))
    >>> round(float(np.hypot(*(place[1] - place[2]))), 6), round(share, 6)
    (5.0, 1.0)
    """
    squared = np.asarray(away, dtype=np.float64) ** 2
    centred = squared - squared.mean(axis=0) - squared.mean(axis=1)[:, None] + squared.mean()
    values, vectors = np.linalg.eigh(-centred / 2)
    largest = np.argsort(-values)[:2]
    place = vectors[:, largest] * np.sqrt(np.maximum(values[largest], 0.0))
    place = np.column_stack([place, np.zeros((len(away), 2 - place.shape[1]))])
    place *= np.where(
        place[np.abs(place).argmax(axis=0), [0, 1]] < 0, -1.0, 1.0
    )  # a sign that does not depend on the solver
    total = np.maximum(values, 0.0).sum()
    return place, float(np.maximum(values[largest], 0.0).sum() / total) if total > 0 else 1.0


# --- a pair -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Flow:
    """A contingency table for a figure: matched clusters opposite each other, then those without a partner."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    #: points in common, rows × columns
    counts: Array
    #: (row, column) of matched clusters, and of the merged pairs
    matched: tuple[tuple[int, int], ...]
    #: rows and columns that represent several clusters
    rest: tuple[tuple[int, ...], tuple[int, ...]]


def flow_of(table: Table, most: int = MOST_FLOWS) -> Flow:
    """The flow between the clusters of a table: at most `most` pairs separately, the smaller pairs merged.

    Matched clusters are always opposite each other. Clusters without a partner follow, separately while there is room, then
    merged.

    >>> import congruence as cg
    >>> flow = flow_of(cg.contingency([0, 0, 1, 1, 1], ["v", "v", "u", "u", "v"]))
    >>> flow.rows, flow.columns, flow.counts.tolist(), flow.matched
    (('1', '0'), ('u', 'v'), [[2, 1], [0, 2]], ((0, 0), (1, 1)))
    """
    best = assignment(table.row, table.col, table.count, table.shape)
    by_size = np.lexsort((table.row[best], -table.row_sums[table.row[best]]))
    pairs = [(int(table.row[best][x]), int(table.col[best][x])) for x in by_size.tolist()]
    most = whole_number(most, "most", 0)
    shown = most if len(pairs) > most + 1 else len(pairs)
    names, places, rest = [], [], []
    for side, (listed, sums) in enumerate(((table.rows, table.row_sums), (table.columns, table.col_sums))):
        nodes = [[pair[side]] for pair in pairs[:shown]] + (
            [[pair[side] for pair in pairs[shown:]]] if shown < len(pairs) else []
        )
        taken = {pair[side] for pair in pairs}
        alone = [i for i in np.argsort(-sums, kind="stable").tolist() if i not in taken]
        room = max(most - len(nodes), 0)
        if len(alone) > room + 1:
            nodes += [[i] for i in alone[:room]] + [alone[room:]]
        else:
            nodes += [[i] for i in alone]
        place = np.empty(len(listed), dtype=np.int64)
        for at, clusters in enumerate(nodes):
            place[clusters] = at
        places.append(place)
        rest.append(tuple(at for at, clusters in enumerate(nodes) if len(clusters) > 1))
        names.append(
            tuple(
                str(listed[clusters[0]]) if len(clusters) == 1
                else f"{len(clusters)} other pairs" if clusters[0] in taken else f"{len(clusters)} without a partner"
                for clusters in nodes
            )
        )  # fmt: skip
    counts = np.zeros((len(names[0]), len(names[1])), dtype=table.count.dtype)
    np.add.at(counts, (places[0][table.row], places[1][table.col]), table.count)
    matched = tuple((i, i) for i in range(min(shown + 1, len(pairs)) if shown < len(pairs) else shown))
    return Flow(names[0], names[1], counts, matched, (rest[0], rest[1]))


# --- the consensus of an ensemble -------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Cells:
    """A consensus matrix for a figure: ordered points in groups of neighbours, and the mean consensus of all pairs of groups."""

    #: the points from left to right, and where each group begins (one more entry than groups)
    order: Array
    edges: Array
    values: Array

    @property
    def is_aggregated(self) -> bool:
        """Whether a cell represents several points."""
        return len(self.values) < len(self.order)


def cells_of(
    e: Ensemble, labels: ClusteringLike | None = None, most: int = MOST_CELLS, order: Array | None = None
) -> Cells:
    """The consensus matrix of an ensemble in at most `most` × `most` cells, without a matrix of points.

    Few points are ordered by their tree. Many points are ordered by a clustering (`labels`, else the first member without
    gaps): similar clusters are next to each other, and points within a cluster are sorted by their second-best cluster. A
    given `order` is kept.

    >>> import congruence as cg
    >>> cells = cells_of(cg.Ensemble([[0, 1, 0, 1], [0, 1, 0, 0]]))
    >>> cells.order.tolist(), cells.values[0].tolist()
    ([0, 2, 3, 1], [1.0, 1.0, 0.5, 0.0])
    """
    n, most = e.n_points, whole_number(most, "most")
    if order is not None:
        pass
    elif n <= most:
        matrix = np.nan_to_num(consensus_matrix(e))
        order = tree_of(np.maximum(1 - matrix, 0)).order
    else:
        order = _point_order(e, labels)
    edges = np.linspace(0, n, min(n, most) + 1).astype(np.int64)
    return Cells(order, edges, _block_means(e, order, edges))


def _point_order(e: Ensemble, labels: ClusteringLike | None) -> Array:
    if labels is None:
        labels = next((c for c in e.members if not c.soft and not c.gaps), np.zeros(e.n_points, np.int64))
    if hasattr(labels, "codes"):
        codes = labels.codes.astype(np.int64)
    else:
        codes = np.unique(np.asanyarray(labels), return_inverse=True)[1]
    own, between, second = neighbours(e, codes)
    k = len(between)
    if k == 1:
        return np.asarray(np.argsort(-own, kind="stable"))
    away = between + between.T  # in place from here on: fresh pages for many clusters take longer than the sums
    away *= -0.5
    away += 1
    np.maximum(away, 0, out=away)
    np.fill_diagonal(away, 0)
    rank = np.empty(k, np.int64)
    rank[tree_of(away).order] = np.arange(k)
    side = np.sign(rank[second] - rank[codes])  # sort towards the second-best cluster
    return np.asarray(np.lexsort((-side * own, side, rank[codes])))


def _block_means(e: Ensemble, order: Array, edges: Array) -> Array:
    """Mean consensus between the points of all pairs of groups, over the pairs that some member labels."""
    many = len(edges) - 1
    group = np.empty(e.n_points, np.int64)
    group[order] = np.repeat(np.arange(many), np.diff(edges))
    together, seen = np.zeros((many, many)), np.zeros((many, many))
    own_pairs, own_points = np.zeros(many), np.zeros(many)
    full = np.bincount(group, minlength=many).astype(float)
    whole = 0.0
    for member, share in zip(e.members, e.shares.tolist(), strict=True):
        here = full
        if member.soft:
            u = member.dense()
            table = np.stack([np.bincount(group, weights=column, minlength=many) for column in u.T], axis=1)
            own = np.bincount(group, weights=(u**2).sum(axis=1), minlength=many)
        else:
            counted = np.bincount(group * (member.k + 1) + member.codes, minlength=many * (member.k + 1))
            table = counted.reshape(many, member.k + 1)[:, : member.k].astype(float)
            own = here = table.sum(axis=1) if member.gaps else full
        if isinstance(member, CoverLabels):  # points are together if they share a cluster
            together += share * (table @ member.meeting @ table.T)
            own = table @ (member.clusters.lengths > 0)
        else:
            together += table @ (share * table.T)
        own_pairs += share * own
        own_points += share * here
        if here is full:
            whole += share
        else:
            seen += np.outer(here, share * here)
    seen += whole * np.outer(full, full)
    together[np.diag_indices(many)] -= own_pairs
    seen[np.diag_indices(many)] -= own_points
    with np.errstate(invalid="ignore", divide="ignore"):
        means = np.where(seen > 1e-12, together / seen, np.nan)
    alone = np.isnan(np.diag(means))
    means[alone, alone] = 1.0
    return np.asarray(np.clip(means, 0.0, 1.0))


# --- what both backends draw -------------------------------------------------------------------------------------


def arranged(result: AllPairs, measure: str | None) -> tuple[Measure, Tree, Array, list[str]]:
    """The record of the measure, the tree, the values in its order, and the names in its order."""
    key = find(measure).key if measure is not None else next(iter(result))
    if key not in result:
        raise InputError(f"{key} was not measured here; there are: {joined(result)}")
    m = result.measures[key]
    values = result[m.key]
    tree = tree_of(distances(values, m))
    return m, tree, values[np.ix_(tree.order, tree.order)], [result.names[i] for i in tree.order]


@dataclass(frozen=True, eq=False)
class Alluvial:
    """Several clusterings side by side: names and colours of their clusters, and common points of neighbours."""

    titles: tuple[str, ...]
    names: tuple[tuple[str, ...], ...]
    colours: tuple[tuple[str, ...], ...]
    #: for each pair of neighbours: points in common, clusters of the left × clusters of the right
    counts: tuple[Array, ...]


def flow_between(result: Comparison, most: int) -> Alluvial:
    """The clusters of two clusterings side by side; matched ones share their colour."""
    flow = flow_of(result.table, most)
    grey = [set(side) for side in flow.rest]
    left = [EIGHT[7] if i in grey[0] else EIGHT[i % 7] for i in range(len(flow.rows))]
    partner = {j: i for i, j in flow.matched}
    right = [left[partner[j]] if j in partner else EIGHT[7] for j in range(len(flow.columns))]
    return Alluvial(result.names, (flow.rows, flow.columns), (tuple(left), tuple(right)), (flow.counts,))


def alluvial_of(e: Ensemble, most: int = 40) -> Alluvial:
    """The members of an ensemble from left to right, each ordered so that matched clusters are opposite each other.

    >>> shown = alluvial_of(Ensemble({"a": [0, 0, 1, 1], "b": [1, 1, 0, 0], "c": [0, 0, 0, 1]}))
    >>> shown.names, [c.tolist() for c in shown.counts]
    ((('0', '1'), ('1', '0'), ('0', '1')), [[[2, 0], [0, 2]], [[2, 0], [1, 1]]])
    """
    if not 2 <= len(e) <= MOST_COLUMNS:
        raise InputError(
            f"a flow shows 2 to {MOST_COLUMNS} clusterings, not {len(e)}; choose some, as in e[[0, 3, 5]].plot('flow')"
        )
    tables = [compare(a, b, "rand", unassigned="drop").table for a, b in zip(e.members, e.members[1:], strict=False)]
    listed = [list(tables[0].rows), *(list(t.columns) for t in tables)]
    order = np.argsort(-tables[0].row_sums, kind="stable").tolist()
    colours = [[EIGHT[i % 7] for i in range(len(order))]]
    orders = [order]
    for table in tables:
        place = {name: i for i, name in enumerate(table.rows)}
        before = [place[listed[len(orders) - 1][i]] for i in orders[-1] if listed[len(orders) - 1][i] in place]
        best = assignment(table.row, table.col, table.count, table.shape)
        partner = dict(zip(table.row[best].tolist(), table.col[best].tolist(), strict=True))
        beside = [partner[i] for i in before if i in partner]
        alone = [j for j in np.argsort(-table.col_sums, kind="stable").tolist() if j not in set(beside)]
        colour = {partner[i]: colours[-1][x] for x, i in enumerate(before) if i in partner}
        orders.append([*beside, *alone])
        colours.append([colour.get(j, EIGHT[7]) for j in orders[-1]])
    names, counts, most = [], [], whole_number(most, "most", 0)
    for order, clusters in zip(orders, listed, strict=True):
        rest = len(order) - most
        names.append(
            (
                *(str(clusters[i]) for i in (order[:most] if rest > 1 else order)),
                *([f"{rest} others"] if rest > 1 else []),
            )
        )
    for x, table in enumerate(tables):
        places = []
        for side, found in enumerate((table.rows, table.columns)):
            at = {listed[x + side][i]: min(y, len(names[x + side]) - 1) for y, i in enumerate(orders[x + side])}
            places.append(np.array([at[name] for name in found]))
        shared = np.zeros((len(names[x]), len(names[x + 1])), dtype=table.count.dtype)
        np.add.at(shared, (places[0][table.row], places[1][table.col]), table.count)
        counts.append(shared)
    cut = tuple(tuple(c[: len(n)]) for c, n in zip(colours, names, strict=True))
    return Alluvial(tuple(e.names), tuple(names), cut, tuple(counts))


def flow_heights(counts: Array, room: float, slot: float) -> tuple[tuple[Array, Array], ...]:
    """Tops and heights of the bars of both sides, downwards from 0; no two labels of height `slot` overlap.

    >>> import numpy as np
    >>> left, right = flow_heights(np.array([[98, 0], [0, 2]]), 100.0, 10.0)
    >>> left[0].tolist(), left[1].tolist()
    ([0.0, 104.5], [98.0, 2.0])
    """
    total = float(counts.sum()) or 1.0
    sides = []
    for axis in (1, 0):
        heights = counts.sum(axis=axis) / total * room
        steps = np.maximum(heights, slot) / 2
        centres = np.cumsum(np.concatenate([[steps[0]], steps[:-1] + steps[1:] + 0.25 * slot]))
        sides.append((centres, heights))
    shift = min(float((c - h / 2).min()) for c, h in sides)
    return tuple((c - h / 2 - shift, h) for c, h in sides)


def cdf_of(e: Ensemble) -> ConsensusCdf:
    """The distribution of the consensus values: exact, or of random pairs of many points."""
    if e.n_points <= EXACT_POINTS:
        return consensus_cdf(e, progress=False)
    return consensus_cdf(e, sample=DRAWN_PAIRS, random_state=0)


def ensemble_parts(e: Ensemble, labels: ClusteringLike | None) -> tuple[Cells, ConsensusCdf, str]:
    """The cells of the consensus matrix, its distribution, and the title of the figure."""
    cells, cdf = cells_of(e, labels), cdf_of(e)
    size = len(cells.values)
    said = f"{len(e)} clusterings of {e.n_points:,} points"
    said += f", in {size} × {size} cells of their means" if cells.is_aggregated else ""
    return cells, cdf, said


def steps(cdf: ConsensusCdf) -> tuple[list[float], list[float]]:
    """A distribution as the corners of its steps."""
    total = np.cumsum(cdf.shares)
    x, y = [0.0], [0.0]
    for value, before, now in zip(cdf.values.tolist(), [0.0, *total.tolist()], total.tolist(), strict=False):
        x += [value, value]
        y += [before, now]
    return [*x, 1.0], [*y, 1.0]


def limits_of(key: str) -> tuple[float | None, float | None]:
    """The lowest and the highest value of a measure, None if there is no limit or it is not a measure.

    >>> limits_of("ari"), limits_of("vi"), limits_of("elbow of something")
    ((-0.5, 1.0), (0.0, None), (None, None))
    """
    if key not in measure_names():
        return None, None
    low, high = (float(x) for x in find(key).range)
    return (low if np.isfinite(low) else None), (high if np.isfinite(high) else None)


def error_bars(c: Criterion) -> Array:
    """Two standard errors below and above each value of a criterion, clipped to the range of the measure."""
    low, high = limits_of(c.measure or c.name)
    reach = np.nan_to_num(2 * c.errors)
    below = reach if low is None else np.minimum(reach, np.maximum(c.values - low, 0))
    above = reach if high is None else np.minimum(reach, np.maximum(high - c.values, 0))
    return np.asarray(np.nan_to_num(np.stack([below, above])))


def curve_title(c: Criterion) -> str:
    """The name of a criterion, and which direction is better."""
    return f"{c.name} ({c.better} is better)" if c.better != "elbow" else str(c.name)


def views(found: Alternatives) -> tuple[Array, list[tuple[str, Array]]]:
    """The data in two dimensions, and the given clusterings and alternatives to colour it by."""
    X = found.data
    if X.shape[1] > 2:
        from sklearn.decomposition import PCA

        with np.errstate(invalid="ignore", divide="ignore"):  # equal points have no variance to explain
            X = PCA(2, random_state=0).fit_transform(X)
    X = np.column_stack([X, np.zeros((len(X), 2 - X.shape[1]))])
    shown = [(f"given: {name}", codes) for name, codes in found.given.items()]
    for i, one in enumerate(found):
        scores = one.scores
        shown.append(
            (f"alternative {i + 1}: dissimilarity {scores['dissimilarity']:.2f}, dq {scores['dq']:.2f}", one.labels)
        )
    return X, shown
