"""Compare two hierarchies, or a hierarchy with labels (the best cut)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from congruence.comparison.pair import Comparison, applied
from congruence.comparison.plans import DEFAULT, Plan
from congruence.comparison.results import AgainstReference, AllPairs
from congruence.engine import cpu, trees, walks
from congruence.engine.plan import engine_for
from congruence.errors import A, B, Call, Caution, InputError, NotApplicable, Option, counted
from congruence.formulas import current_measures
from congruence.formulas.record import Measure, Measures, chosen_measures
from congruence.inputs.alignment import InputOptions, check_no_options, whole_labels
from congruence.inputs.coerce import as_clustering
from congruence.inputs.cover import Cover
from congruence.inputs.hierarchy import Hierarchy, same_points
from congruence.inputs.labels import Labels
from congruence.inputs.nested_cover import NestedCover
from congruence.statistics.information import ChanceInfo
from congruence.statistics.pairs import Gram, Pairs
from congruence.statistics.tables import Array, Tables
from congruence.statistics.trees import Clades, LevelInfo, MergeHeights, PointScores
from congruence.typing import ClusteringLike, EngineName, Label, SparseMatrix

if TYPE_CHECKING:
    from congruence.statistics import Statistic

#: statistics of two trees
OF_TREES = (MergeHeights, Clades, LevelInfo)
#: largest number of clusters tried for measures that need a table per cut, unless the labels have more
MOST_CUTS = 50


def said(notes: Iterable[str]) -> tuple[Caution, ...]:
    """Notes about trees as cautions."""
    return tuple(Caution("tree", "", note) for note in notes)


def takes_trees(m: Measure) -> bool:
    """Whether the measure compares hierarchies; element-centric similarity has parameters for them."""
    return m.needs in OF_TREES or "path" in m.parameters


def pair_of_trees(a: ClusteringLike, b: ClusteringLike, options: InputOptions) -> tuple[ClusteringLike, ClusteringLike]:
    """Both sides: two hierarchies, or a hierarchy and labels or a cover."""
    check_no_options(options)
    return a, b


def compare_trees(
    pair: tuple[ClusteringLike, ClusteringLike], measures: Measures, threads: int | None, engine: EngineName = "auto"
) -> Comparison:
    """Measures of two hierarchies, or of a hierarchy and labels or a cover."""
    check_cpu(engine)
    a, b = pair
    if isinstance(a, Cover | NestedCover) or isinstance(b, Cover | NestedCover):
        return compare_by_walks(pair, measures)
    if isinstance(a, Hierarchy) and isinstance(b, Hierarchy):
        return compare_hierarchies(a, b, measures, threads)
    if isinstance(a, Hierarchy):
        return compare_with_labels(a, b, measures, swapped=False)
    assert isinstance(b, Hierarchy)
    return compare_with_labels(b, a, measures, swapped=True)


def check_cpu(engine: EngineName) -> None:
    """Refuse a GPU: hierarchies are compared on the CPU."""
    if engine_for(engine, []).on_card:
        raise InputError(f"hierarchies are compared on the CPU; pass {Option('engine', 'cpu')} or leave it out")


def compare_hierarchies(a: Hierarchy, b: Hierarchy, measures: Measures, threads: int | None = None) -> Comparison:
    """Measures of two hierarchies of the same points."""
    b = same_points(a, b)
    with_levels = a.levels is not None and b.levels is not None
    default = [m.key for m in current_measures() if takes_trees(m) and (with_levels or m.needs is not LevelInfo)]
    found, strict = chosen_measures(measures, default)
    counted: dict[type, Statistic] = {}
    values, skipped = applied(found, strict, lambda m: float(m.values(_statistic(m, a, b, counted, threads))[0]))
    if measures == "all":  # measures of partitions do not apply here
        skipped = {key: why for key, why in skipped.items() if takes_trees(next(m for m in found if m.key == key))}
    about = tuple(_described(h) for h in (a, b))
    notes = (*a.notes, *b.notes)
    clades = counted.get(Clades)
    if isinstance(clades, Clades) and "robinson_foulds" in values:
        most = int(np.asarray(clades.clades_a + clades.clades_b).item())
        notes += (f"robinson_foulds compares rooted trees; at most {most} here, all clades of both",)
    return Comparison(
        values_=values, measures={m.key: m for m in found if m.key in values},
        n_used=a.n_points, cautions=said(notes), skipped=skipped, about=(about[0], about[1]),
    )  # fmt: skip


def compare_by_walks(pair: tuple[ClusteringLike, ClusteringLike], measures: Measures) -> Comparison:
    """Element-centric similarity of a cover and a hierarchy, or of nested covers: the one measure of both."""
    found, strict = chosen_measures(measures, ["element_centric"])
    sides = [x for x in pair if isinstance(x, Cover | Hierarchy | NestedCover)]
    values: dict[str, float] = {}
    scores = np.empty(0)
    for m in found:
        if "path" in m.parameters:
            scores = scores_of_points(*pair, m)
            values[m.key] = float(scores.mean())
        elif strict:
            one, other = (x.what for x in sides)
            cut = (
                f", and {m.key} compares the cover with {Call('h.cut(k)')}"
                if NestedCover.what not in (one, other)
                else ""
            )
            raise NotApplicable(f"{m.key} does not compare {one} with {other}; element_centric does{cut}")
    cautions = tuple(x for side in sides for x in (side.cautions if isinstance(side, Cover) else said(side.notes)))
    about = [
        _described(x) if isinstance(x, Hierarchy)
        else f"{x.what.split(' ', 1)[1]} of {counted(len(x.names), 'cluster')}" for x in sides
    ]  # fmt: skip
    return Comparison(
        values_=values, measures={m.key: m for m in found if m.key in values},
        n_used=len(scores), cautions=cautions, about=(about[0], about[1]),
    )  # fmt: skip


def scores_of_points(a: ClusteringLike, b: ClusteringLike, m: Measure, threads: int | None = None) -> Array:
    """The element-centric score of each point, in the order of the points of the first side that is no cover."""
    r, path, alpha, limit = (m.parameters[name] for name in ("r", "path", "alpha", "limit"))
    if isinstance(a, Hierarchy) and isinstance(b, Hierarchy):
        return trees.point_scores(a, same_points(a, b), r=float(r), path=path, alpha=float(alpha), threads=threads)
    nested = [x for x in (a, b) if isinstance(x, Hierarchy | NestedCover)]
    if not nested or not all(isinstance(x, Hierarchy | NestedCover | Cover) for x in (a, b)):
        raise NotApplicable(
            f"scores of points compare two hierarchies, or a hierarchy and a cover; cut the hierarchy, as in {Call('h.cut(k)')}, "
            f"or make the labels a cover: {Call('cg.Cover(labels)')}"
        )
    order = range(nested[0].n_points) if nested[0].points is None else nested[0].points
    place = {point: i for i, point in enumerate(order)}
    one, other = (_walk_of(x, place, float(r), path) for x in (a, b))
    return walks.point_scores(one, other, float(alpha), limit)


def _walk_of(x: ClusteringLike, place: Mapping[Label, int], r: float, path: trees.Path) -> SparseMatrix:
    """The points × clusters matrix of a cover, a hierarchy or a nested cover: weights of clusters, points in this order."""
    from scipy.sparse import csr_array

    n = len(place)
    own: Sequence[Label]
    total: int | None
    if isinstance(x, Hierarchy):
        own, found = range(x.n_points) if x.points is None else x.points, walks.nodes_of_points(x, r, path)
        total, what = x.n_points, "hierarchy"
    elif isinstance(x, NestedCover):
        point, cluster = x.memberships()
        own, total, what = x.points, x.n_points, "nested cover"
        found = csr_array((walks.weights_of_nested(x, r, path)[cluster], (point, cluster)), shape=(total, len(x.names)))
    else:
        assert isinstance(x, Cover)
        members, what = x.members, "cover"
        own, total = members.ids, members.total
        shape = len(own), x.k
        found = csr_array((np.ones(len(members.point)), (members.point, members.cluster)), shape=shape)
    unknown = [point for point in own if point not in place]
    if unknown or (total is not None and total != n):
        said_ = f"{unknown[0]!r} is a point of the {what} only" if unknown else f"the {what} has {total} points"
        raise InputError(f"{said_}; the other side has {n} points, and both must be of the same")
    entries = found.tocoo()
    rows = np.array([place[point] for point in own], dtype=np.int64)[entries.row]
    return csr_array((entries.data, (rows, entries.col)), shape=(n, found.shape[1]))


def _described(h: Hierarchy) -> str:
    return f"hierarchy of {h.described.partition(' (')[0]}"


def _statistic(
    m: Measure, a: Hierarchy, b: Hierarchy, counted: dict[type, Statistic], threads: int | None
) -> Statistic:
    """The statistic of a measure, computed once for all measures that read it."""
    if not takes_trees(m):
        raise NotApplicable(
            f"{m.key} compares two clusterings; compare cuts of the trees: {Call(f'cg.cut_curve(a, b, {m.key!r})')}"
        )
    if m.needs in OF_TREES:
        made: dict[type, Callable[[], Statistic]] = {
            MergeHeights: lambda: trees.merge_heights(a, b),
            Clades: lambda: trees.clades(a, b),
            LevelInfo: lambda: level_info(a, b),
        }
        if m.needs not in counted:
            counted[m.needs] = made[m.needs]()
        return counted[m.needs]
    return PointScores(np.array([scores_of_points(a, b, m, threads).mean()]), np.array([False]))


def level_info(a: Hierarchy, b: Hierarchy) -> LevelInfo:
    """Hierarchical mutual information of named levels, and its exact mean when the points of b are permuted.

    With MI(l, m) of level l of a and level m of b, level 0 being the root, it is the sum over levels of
    MI(l, l) + MI(l − 1, l − 1) − MI(l, l − 1) − MI(l − 1, l); the mean is the same sum of expected values.
    """
    if a.levels is None or b.levels is None:
        who = A if a.levels is None else B
        raise NotApplicable(
            f"hierarchical mutual information compares named levels, but {who} has none; pass h.at_levels([2, 5, 10]), "
            "nested label columns, or nested lists"
        )
    sides = [[as_clustering(np.asarray(level), "level") for level in h.levels] for h in (a, b) if h.levels is not None]
    own = [float(ChanceInfo.from_tables(cpu.table_of(s[-1], s[-1])[1]).H_a[0]) for s in sides]
    total = expected = 0.0
    for x in range(min(map(len, sides))):
        for y in range(max(x - 1, 0), min(x + 2, *map(len, sides))):
            # the cell (l, l) counts twice, as the upper corner of one level and the lower one of the next
            last = x == y == min(map(len, sides)) - 1
            times = (1 if last else 2) if x == y else -1
            info = ChanceInfo.from_tables(cpu.table_of(sides[0][x], sides[1][y])[1])
            total += times * float(info.MI[0])
            expected += times * float(info.E_MI[0])
    same = a.levels.shape == b.levels.shape and own[0] == own[1] and bool(np.isclose(total, own[0], rtol=0, atol=1e-12))
    return LevelInfo(*[*(np.array([x]) for x in (max(total, 0.0), *own, expected)), np.array([same])])


# --- cuts -------------------------------------------------------------------------------------------------------


def pair_curve(a: Hierarchy, b: Hierarchy | Labels, ks: Array) -> tuple[Pairs, Array, Array]:
    """Pair counts of the cuts of a with those of b, or with one clustering; mean and variance of v11 by chance.

    The moments are those over permutations of the points (Fowlkes and Mallows 1983).
    """
    n = a.n_points
    merges = n - ks
    same_a, third_a = (x[merges] for x in trees.squares(a))
    if isinstance(b, Hierarchy):
        both = trees.overlaps(a, b)[merges]
        same_b, third_b = (x[merges] for x in trees.squares(b))
    else:
        codes = np.asarray(b.codes, dtype=np.int64)
        both = trees.overlaps(a, (codes, b.k))[merges]
        size = np.bincount(codes, minlength=b.k).astype(np.float64)
        same_b, third_b = (
            np.full(len(ks), x) for x in ((size * (size - 1)).sum(), (size * (size - 1) * (size - 2)).sum())
        )
    whole = np.full(len(ks), n, dtype=np.int64)
    identical = (same_a == both) & (same_b == both)
    pairs = Pairs.from_squares(
        whole, whole, both + n, same_a.astype(np.int64) + n, same_b.astype(np.int64) + n, identical
    )
    return pairs, *_moments(n, same_a, same_b, third_a, third_b)


def _moments(n: int, p: Array, q: Array, p3: Array, q3: Array) -> tuple[Array, Array]:
    """Mean and variance of the number of pairs together in both when the points of one side are permuted."""
    if n < 2:
        return np.full(len(p), np.nan), np.full(len(p), np.nan)
    mean = p * q / (n * (n - 1))
    with np.errstate(divide="ignore", invalid="ignore"):
        share = 2 / (n * (n - 1)) - p * q / (n**2 * (n - 1.0) ** 2)
        if n > 2:  # two pairs with a point in common
            share += 4 * p3 * q3 / (n * (n - 1) * (n - 2) * p * q)
        if n > 3:  # two pairs without
            share += (p - 2 - 4 * p3 / p) * (q - 2 - 4 * q3 / q) / (n * (n - 1) * (n - 2) * (n - 3))
    variance = np.where((p > 0) & (q > 0), np.maximum(share, 0.0) * p * q, 0.0)
    return mean / 2, variance / 4


def curve_values(
    a: Hierarchy, b: Hierarchy | Labels, found: Sequence[Measure], ks: Array, swapped: bool = False
) -> dict[str, Array]:
    """Each measure at each cut; pair measures in one pass over the merges, the others from one table per cut."""
    values: dict[str, Array] = {}
    of_pairs = [m for m in found if m.needs in (Pairs, Gram)]
    if of_pairs:
        pairs, _, _ = pair_curve(a, b, ks)
        for m in of_pairs:
            values[m.key] = m.values(pairs.swapped() if swapped else pairs)
    others = [m for m in found if m.needs not in (Pairs, Gram)]
    if others:
        rows = []
        for k in ks.tolist():
            pair = [as_clustering(a.cut(k), "a"), as_clustering(b.cut(k), "b") if isinstance(b, Hierarchy) else b]
            _, tile = cpu.table_of(*(reversed(pair) if swapped else pair))
            rows.append([_at_cut(m, tile) for m in others])
        values |= dict(zip((m.key for m in others), np.array(rows).reshape(len(ks), -1).T, strict=True))
    return {m.key: values[m.key] for m in found}


def _at_cut(m: Measure, tile: Tables) -> float:
    """The measure of one cut; NaN if it is undefined, such as lambda for different numbers of clusters."""
    try:
        return float(m.values(m.needs.from_tables(tile) if hasattr(m.needs, "from_tables") else tile)[0])
    except NotApplicable:
        return float("nan")


def best_cut(m: Measure, curve: Array) -> int:
    """The index of the best value of a curve."""
    if np.isnan(curve).all():
        raise NotApplicable(f"{m.key} is not defined at any of the cuts")
    return int(np.nanargmax(curve if m.better == "higher" else -curve))


def clustering_of(labels: object, h: Hierarchy, who: str) -> Labels:
    """Labels of the points of a hierarchy; a mapping or series with point names is put in their order."""
    if isinstance(labels, Mapping):
        missing = [x for x in (h.points or ()) if x not in labels]
        if h.points is None or missing:
            what = f"lack {missing[0]!r}" if missing else "name points, but those of the hierarchy have no names"
            raise InputError(f"the labels of {who} {what}; give one label for each of the {h.n_points} points")
        if len(labels) != h.n_points:
            raise InputError(f"the hierarchy has {h.n_points} points and {who} {len(labels)}")
        labels = [labels[x] for x in h.points]
    found = as_clustering(labels, who)
    if not isinstance(found, Labels):
        raise InputError(f"a hierarchy is compared with a hierarchy or with labels in memory; {who} is neither")
    found = whole_labels(found, h.n_points, who)
    if h.points is not None and found.index is not None and set(found.index) == set(h.points):
        return found.taken(np.asarray(found.index.get_indexer(list(h.points))))
    return found


def cut_range(h: Hierarchy, labels: Labels) -> Array:
    """Numbers of clusters at which measures that need a table per cut are tried."""
    most = max(MOST_CUTS, 2 * labels.k)
    return np.sort(h.ks[h.ks <= most])


def compare_with_labels(h: Hierarchy, labels: ClusteringLike, measures: Measures, *, swapped: bool) -> Comparison:
    """For each measure, the best value of a cut of the hierarchy with the labels, and its number of clusters."""
    who = A if swapped else B
    own = clustering_of(labels, h, who)
    found, strict = chosen_measures(measures, DEFAULT)

    def check(m: Measure) -> None:
        if takes_trees(m) and m.needs in OF_TREES:
            raise NotApplicable(f"{m.key} compares two hierarchies, but {who} is labels")
        m.check(soft=False, weighted=False)

    checked, skipped = applied(found, strict, check)
    fit = [m for m in found if m.key in checked]
    everywhere, few = np.sort(h.ks), cut_range(h, own)
    ks = {m.key: everywhere if m.needs in (Pairs, Gram) else few for m in fit}
    curves: dict[str, Array] = {}
    for every in (everywhere, few):
        curves |= curve_values(h, own, [m for m in fit if ks[m.key] is every], every, swapped)
    cuts, without = applied(fit, strict, lambda m: best_cut(m, curves[m.key]))
    skipped |= without
    fit = [m for m in fit if m.key in cuts]
    values = {m.key: float(curves[m.key][cuts[m.key]]) for m in fit}
    best = {m.key: float(ks[m.key][cuts[m.key]]) for m in fit}
    notes = h.notes + h.tie_notes(sorted({int(k) for k in best.values()}))
    if len(few) < len(everywhere) and any(m.needs not in (Pairs, Gram) for m in fit):
        notes = (*notes, f"measures that do not count pairs of points were tried up to k = {few[-1]}")
    about = [_described(h), f"{own.k} cluster{'s' * (own.k != 1)}"]
    return Comparison(
        values_=values, measures={m.key: m for m in fit}, n_used=h.n_points,
        cautions=said(notes), skipped=skipped, about=(about[1], about[0]) if swapped else (about[0], about[1]),
        further={"k": best},
    )  # fmt: skip


def checked_ks(ks: Iterable[int] | str | None, trees_: Sequence[Hierarchy]) -> Array:
    """Numbers of clusters with a cut in all these trees, in increasing order; "heights": only cuts without ties."""
    common = set(range(1, trees_[0].n_points + 1))
    for h in trees_:
        common &= set(h.ks.tolist())
        if isinstance(ks, str):
            common -= set(h.tied_ks.tolist())
    if isinstance(ks, str) and ks != "heights":
        raise InputError(f"ks must be a list of numbers of clusters, or 'heights'; got {ks!r}")
    if ks is None or isinstance(ks, str):
        return np.array(sorted(common), dtype=np.int64)
    listed = sorted({h.checked_k(k) for k in ks for h in trees_})
    return np.array(listed, dtype=np.int64)


# --- several trees ----------------------------------------------------------------------------------------------


def all_pairs_of_trees(
    named: Sequence[tuple[str, Hierarchy]], measures: Measures, threads: int | None, options: InputOptions
) -> AllPairs:
    """Measures of all pairs of hierarchies."""
    check_no_options(options)
    size = len(named)
    square: dict[str, Array] = {}
    result = None
    for i in range(size):
        for j in range(i, size):
            result = compare_hierarchies(named[i][1], named[j][1], measures, threads)
            for key, value in result.items():
                matrix = square.setdefault(key, np.empty((size, size)))
                matrix[i, j] = matrix[j, i] = value
    if result is None:
        raise InputError("there are no hierarchies to compare")
    notes = tuple(dict.fromkeys(f"{name}: {note}" for name, h in named for note in h.notes))
    used = np.full((size, size), named[0][1].n_points, dtype=np.int64)
    return AllPairs(
        _values=square, measures=dict(result.measures), names=tuple(name for name, _ in named), n_used=used,
        cautions=said(notes), skipped=result.skipped,
    )  # fmt: skip


def trees_to(
    reference: ClusteringLike,
    named: Sequence[tuple[str, Hierarchy]],
    measures: Measures,
    threads: int | None,
    options: InputOptions,
) -> AgainstReference:
    """Measures of several hierarchies against one hierarchy, or against labels: then of the best cut of each."""
    check_no_options(options)
    title = "reference"
    by_name = dict(named)
    if isinstance(reference, str) and reference in by_name:
        title, named = reference, [x for x in named if x[0] != reference]
        reference = by_name[title]
    if not named:
        raise InputError("there are no hierarchies to compare with the reference")
    found = [compare_trees((reference, h), measures, threads) for _, h in named]
    rows = {key: np.array([r[key] for r in found]) for key in found[0]}
    further = {
        name: {key: np.array([r.further[name][key] for r in found]) for key in column}
        for name, column in found[0].further.items()
    }
    notes = tuple(dict.fromkeys(note for r in found for note in r.cautions))
    return AgainstReference(
        _values=rows, measures=dict(found[0].measures), names=tuple(name for name, _ in named), reference=title,
        n_used=np.full(len(named), found[0].n_used, dtype=np.int64), cautions=notes, skipped=found[0].skipped,
        further=further,
    )  # fmt: skip


PLAN = Plan(
    pair_of_trees,
    compare_trees,
    "hierarchies have no contingency table; cut them first: h.cut(k)",
    "hierarchies have no null model here; cut them first, as in h.cut(k), or see cg.cut_curve",
)
