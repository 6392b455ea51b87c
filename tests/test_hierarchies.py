"""Hierarchies: measures agree with their definitions and other programs, for whole trees and for cuts."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path

import naive_hierarchies as naive
import numpy as np
import pandas as pd
import pytest

import congruence as cg
from congruence.comparison.trees import level_info, pair_curve
from congruence.engine import tree_kernels, trees
from congruence.machine import jit

GOLDEN = json.loads((Path(__file__).parent / "golden" / "hierarchies.json").read_text())
EXAMPLES = json.loads((Path(__file__).parent / "golden" / "tree_counterexamples.json").read_text())
TREES = {case["id"]: case for case in GOLDEN["trees"]}
LEVELS = {case["id"]: case for case in GOLDEN["levels"]}
#: our key of each golden value
NAMES = {
    "cophenetic_pearson": "cophenetic", "cophenetic_spearman": "cophenetic_spearman", "goodman_kruskal_gamma": "gamma",
    "robinson_foulds": "robinson_foulds",
}  # fmt: skip
OF_TREES = ("cophenetic", "cophenetic_spearman", "gamma", "robinson_foulds")
OF_LEVELS = ("hmi", "nhmi", "ahmi")


def linkage_of(rows) -> np.ndarray:
    return np.array(rows, dtype=float).reshape(-1, 4)


def random_linkage(n: int, rng: np.random.Generator, kind: str = "distinct") -> np.ndarray:
    """Clusters merged at random, at heights that rise, tie, or go up and down."""
    alive, rows = list(range(n)), []
    heights = {
        "distinct": np.sort(rng.random(n - 1)), "tied": np.sort(rng.integers(1, 4, n - 1)).astype(float),
        "inverted": rng.random(n - 1),
    }[kind]  # fmt: skip
    sizes = [1] * n
    for m in range(n - 1):
        x, y = sorted(alive.pop(rng.integers(len(alive))) for _ in range(2))
        sizes.append(sizes[x] + sizes[y])
        alive.append(n + m)
        rows.append((x, y, heights[m], sizes[-1]))
    return linkage_of(rows)


def close(x, tolerance: float = 1e-10):
    return pytest.approx(x, rel=0, abs=tolerance, nan_ok=True)


# --- golden values ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", TREES)
def test_golden_trees(name):
    """Correlations, clades and element-centric scores are those of scipy, scikit-bio, DendroPy and clusim."""
    case = TREES[name]
    a, b = (cg.Hierarchy(linkage_of(case[side])) for side in "ab")
    expected = case["expected"]
    for golden, key in NAMES.items():
        if golden in expected:
            wanted = math.nan if expected[golden] is None else expected[golden]
            assert cg.compare(a, b, key)[key] == close(wanted), key
    heights = [[row[2] for row in case[side]] for side in "ab"]
    if all(len(set(h)) == len(h) for h in heights) and expected["bakers_gamma_dendextend"] is not None:
        assert cg.compare(a, b, "bakers_gamma")["cophenetic_spearman"] == close(expected["bakers_gamma_dendextend"])
    if "robinson_foulds_normalised" in expected:
        assert cg.robinson_foulds(a, b, normalised=True) == close(expected["robinson_foulds_normalised"])
        assert cg.robinson_foulds(a.collapsed(), b.collapsed()) == expected["robinson_foulds_ties_collapsed"]
    for how, value in expected["element_centric"].items():
        r, path = how.removeprefix("r=").split(",")
        assert cg.element_centric(a, b, r=float(r), path=path) == close(value), how
    if "element_scores_r=1,max" in expected:
        assert trees.point_scores(a, b).tolist() == close(expected["element_scores_r=1,max"])


@pytest.mark.parametrize("name", [name for name, case in TREES.items() if len(case["a"]) >= 3])
def test_golden_curves(name):
    """B_k, its mean and variance, and ari for all pairs of cuts."""
    case = TREES[name]
    a, b = (cg.Hierarchy(linkage_of(case[side])) for side in "ab")
    expected = case["expected"]
    curve = cg.cut_curve(a, b)
    wanted = np.array([[math.nan if x is None else x for x in expected["bk"][str(k)]] for k in curve.ks], dtype=float)
    assert curve.values.tolist() == close(wanted[:, 0].tolist())
    assert curve.mean.tolist() == close(wanted[:, 1].tolist())
    assert (curve.sd**2).tolist() == close(wanted[:, 2].tolist())
    ks = range(2, len(expected["ari_cuts"]) + 2)
    assert cg.compare_cuts(a, b, ks).values.ravel().tolist() == close(np.ravel(expected["ari_cuts"]).tolist())


def mean_of_hmi(a, b) -> float:
    """The mean over permutations that ahmi takes off."""
    return float(level_info(a, b).E_I[0])


@pytest.mark.parametrize("name", LEVELS)
def test_golden_levels(name):
    """Hierarchical mutual information is that of its authors, and its mean over permutations is exact."""
    case = LEVELS[name]
    a, b = (cg.Hierarchy(np.array(case[side]).T) for side in "ab")
    expected = case["expected"]
    assert cg.hmi(a, b) == close(expected["hmi"])
    assert (cg.hmi(a, a), cg.hmi(b, b)) == close((expected["hmi_self_a"], expected["hmi_self_b"]))
    for how in ("sum", "max", "sqrt"):
        assert cg.nhmi(a, b, normaliser=how) == close(expected[f"nhmi_{how}"])
    assert cg.ahmi(a, b) == close(expected["ahmi_max"])
    assert mean_of_hmi(a, b) == close(expected["hmi_mean_over_permutations"])


@pytest.mark.parametrize("name", TREES)
def test_golden_levels_of_full_trees(name):
    """A whole tree as levels counted from the root gives the values of the authors' notebook."""
    case = TREES[name]
    sides = []
    for side in "ab":
        nodes = sorted((set(p) for _, p in naive.tree_of(case[side])), key=len)
        n = len(case[side]) + 1
        ways = [[*[frozenset(p) for p in reversed(nodes) if i in p][1:], frozenset([i])] for i in range(n)]
        deepest = max(map(len, ways))
        sides.append([[sorted(way[min(d, len(way) - 1)]) for way in ways] for d in range(deepest)])
    a, b = (cg.Hierarchy({str(i): [str(x) for x in column] for i, column in enumerate(side)}) for side in sides)
    assert cg.hmi(a, b) == close(case["expected"]["hmi_singletons"])
    assert cg.hmi(a, a) == close(case["expected"]["hmi_singletons_self_a"])
    assert cg.hmi(b, b) == close(case["expected"]["hmi_singletons_self_b"])
    mean = case["expected"].get("hmi_singletons_mean_over_permutations")
    if mean is not None:
        assert mean_of_hmi(a, b) == close(mean)


def test_every_golden_number_is_checked():
    """All keys of the file are checked here and in test_resolutions.py, but for two quantities that we do not offer."""
    others = {"kendall_tau_b", "hmi_pairs", "hmi_pairs_self_a", "hmi_pairs_self_b"}
    checked = {
        *NAMES, "robinson_foulds_normalised", "robinson_foulds_ties_collapsed", "element_centric", "element_scores_r=1,max",
        "bk", "ari_cuts", "bakers_gamma_dendextend", "hmi_singletons", "hmi_singletons_self_a", "hmi_singletons_self_b",
        "hmi_singletons_mean_over_permutations",
    }  # fmt: skip
    assert {key for case in TREES.values() for key in case["expected"]} == checked | others
    assert {key for case in GOLDEN["resolutions"] for key in case["expected"]} == {"edges", "sc3_stability"}


# --- naive definitions --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["distinct", "tied", "inverted"])
def test_measures_of_random_trees(kind):
    """Each measure is what its definition by double loops says, with ties and inversions too."""
    rng = np.random.default_rng(4)
    for n in (3, 4, 5, 7, 9):
        one, two = random_linkage(n, rng, kind), random_linkage(n, rng, kind)
        a, b = cg.Hierarchy(one), cg.Hierarchy(two)
        p, q = naive.tree_of(one), naive.tree_of(two)
        for key in OF_TREES:
            assert cg.compare(a, b, key)[key] == close(getattr(naive, key)(p, q)), (key, n)
        for r, path in ((1, "max"), (-2, "min"), (3, "height"), (0, "max")):
            if path == "height" and kind == "inverted":
                continue  # the root may be lower than other nodes: levels below 0, tested by the golden values
            assert cg.element_centric(a, b, r=r, path=path) == close(naive.element_centric(p, q, r, path)), (r, path)
        assert cg.element_centric(a, b, alpha=0.5) == close(naive.element_centric(p, q, alpha=0.5))


@pytest.mark.parametrize("seed", range(4))
def test_measures_of_trees_with_many_children(seed):
    """Nodes with several children are one node: nested lists and label columns agree with sets of points."""
    rng = np.random.default_rng(seed)
    n = 9
    sides, naively = [], []
    for _ in range(2):
        fine = rng.integers(0, 5, n)
        coarse = rng.integers(0, 2, 5)[fine]
        sides.append(cg.Hierarchy({"coarse": coarse, "fine": fine}))
        tree = {frozenset(range(n)): 3.0}
        for height, column in ((2.0, coarse), (1.0, fine)):
            for c in np.unique(column):
                points = frozenset(np.flatnonzero(column == c).tolist())
                if len(points) > 1:
                    tree[points] = height
        naively.append([(h, p) for p, h in tree.items()])
    a, b = sides
    for key in OF_TREES:
        assert cg.compare(a, b, key)[key] == close(getattr(naive, key)(*naively)), key
    for path in ("max", "min", "height"):
        assert cg.element_centric(a, b, path=path) == close(naive.element_centric(*naively, 1, path)), path
    assert cg.hmi(a, b) == close(naive.hmi(a.levels.tolist(), b.levels.tolist()))


@pytest.mark.slow
def test_the_mean_of_hmi_over_permutations_is_exact():
    """E is the mean of hmi over all permutations of the points, so ahmi is 0 on average."""
    a = cg.Hierarchy({"1": [0, 0, 0, 1, 1], "2": [0, 0, 1, 2, 2]})
    columns = np.array([[0, 0, 1, 1, 1], [0, 0, 1, 1, 2]])
    found = [
        cg.compare(a, cg.Hierarchy(columns[:, list(order)].T), ["hmi", "ahmi"])
        for order in itertools.permutations(range(5))
    ]
    assert np.mean([r["ahmi"] for r in found]) == close(0)
    b = cg.Hierarchy(columns.T)
    most = max(cg.hmi(a, a), cg.hmi(b, b))
    mean = np.mean([r["hmi"] for r in found])
    assert cg.ahmi(a, b) == close((cg.hmi(a, b) - mean) / (most - mean))


def test_curve_moments_by_enumeration():
    """Mean and standard deviation of the curve are those over all permutations of the points."""
    rng = np.random.default_rng(8)
    one, two = random_linkage(6, rng), random_linkage(6, rng)
    curve = cg.cut_curve(cg.Hierarchy(one), cg.Hierarchy(two))
    for k, value, mean, sd in zip(curve.ks, curve.values, curve.mean, curve.sd, strict=True):
        a, b = naive.cut(one, k), naive.cut(two, k)
        assert value == close(naive.wallace(a, b))
        assert (mean, sd**2) == close(naive.wallace_moments(a, b))


# --- what is declared is true -----------------------------------------------------------------------------------------


def ranked_trees(n: int) -> list[cg.Hierarchy]:
    """Every order of merges of n points, heights 1 … n − 1."""
    found = []

    def grow(alive: tuple[int, ...], rows: tuple[tuple[int, int], ...]) -> None:
        if len(alive) == 1:
            found.append(cg.Hierarchy((list(rows), np.arange(1.0, n))))
            return
        for x, y in itertools.combinations(alive, 2):
            rest = tuple(c for c in alive if c not in (x, y))
            grow((*rest, n + len(rows)), (*rows, (x, y)))

    grow(tuple(range(n)), ())
    return found


def distance(key: str, value: float) -> float:
    return value if cg.measure(key).better == "lower" else 1 - value


@pytest.mark.parametrize("key", OF_TREES)
def test_declared_axioms_of_trees(key):
    """Symmetry, triangle and baseline hold for all ranked trees of 4 points, where they are declared."""
    every = ranked_trees(4)
    assert len(every) == 18
    d = np.array([[distance(key, cg.compare(a, b, key)[key]) for b in every] for a in every])
    axioms = cg.measure(key).axioms
    assert "symmetric" in axioms
    assert d == close(d.T, 1e-12)
    if "triangle" in axioms:
        assert (d[:, None, :] <= d[:, :, None] + d[None, :, :] + 1e-12).all()
    if "baseline" in axioms:
        a, b = every[0], every[7]
        scores = []
        for order in itertools.permutations(range(4)):
            named = cg.Hierarchy((b.children, b.heights), points=[f"p{i}" for i in order])
            scores.append(
                cg.compare(cg.Hierarchy((a.children, a.heights), points=[f"p{i}" for i in range(4)]), named, key)[key]
            )
        assert np.mean(scores) == close(0)


@pytest.mark.parametrize("key", [*OF_TREES, *OF_LEVELS])
def test_every_axiom_of_tree_measures_is_decided(key):
    """Declared, or refuted by a stored counter-example."""
    declared = cg.measure(key).axioms
    refuted = EXAMPLES[key]
    assert declared | set(refuted) == {"symmetric", "definite", "triangle", "baseline"}
    assert not declared & set(refuted)
    for axiom, texts in refuted.items():
        trees_ = [cg.Hierarchy(np.array(x)) if isinstance(x, list) else cg.Hierarchy(x) for x in texts]
        if axiom == "definite":
            a, b = trees_
            assert texts[0] != texts[1]
            own, other = (distance(key, cg.compare(a, x, key)[key]) for x in (a, b))
            assert other <= own + 1e-12
        elif axiom == "triangle":
            a, b, c = trees_
            direct, first, second = (distance(key, cg.compare(x, y, key)[key]) for x, y in ((a, c), (a, b), (b, c)))
            assert direct > first + second + 1e-3
        else:
            a, b = trees_
            n = a.n_points
            scores = []
            for order in itertools.permutations(range(n)):
                points = [f"p{i}" for i in order]
                x = cg.Hierarchy(a, points=[f"p{i}" for i in range(n)])
                scores.append(cg.compare(x, cg.Hierarchy(b, points=points), key)[key])
            assert abs(np.mean(scores)) > 1e-3


def test_identical_trees_score_the_best():
    """A tree with rotated branches scores exactly the best value with itself."""
    rng = np.random.default_rng(5)
    for n in (3, 5, 20):
        rows = random_linkage(n, rng)
        turned = rows.copy()
        turned[:, [0, 1]] = turned[:, [1, 0]]
        a, b = cg.Hierarchy(rows), cg.Hierarchy((turned[:, :2], turned[:, 2]))
        for key, value in cg.compare(a, b).items():
            assert value == cg.measure(key).best, key


def test_undefined_and_small():
    """Star trees and fewer than three points have no correlation; they have no clades to differ in."""
    star, other = cg.Hierarchy("(a,b,c,d);"), cg.Hierarchy("((a,b),(c,d));")
    r = cg.compare(star, other)
    assert all(math.isnan(r[key]) for key in ("cophenetic", "cophenetic_spearman", "gamma"))
    assert r["robinson_foulds"] == 2
    two = cg.Hierarchy("(a,b);")
    r = cg.compare(two, two)
    assert math.isnan(r["cophenetic"])
    assert (r["robinson_foulds"], r["element_centric"]) == (0, 1)
    assert cg.robinson_foulds(two, two, normalised=True) == 0
    one = cg.Hierarchy(np.empty((0, 4)))
    assert one.n_points == 1
    assert one.cut(1).tolist() == [0]
    assert cg.compare(one, one)["element_centric"] == 1


# --- against labels -----------------------------------------------------------------------------------------------------


def test_the_best_cut_for_labels():
    """compare(h, labels) gives, for each measure, the best value over the cuts and its k."""
    rng = np.random.default_rng(9)
    rows = random_linkage(20, rng)
    h, labels = cg.Hierarchy(rows), rng.integers(0, 4, 20)
    keys = ["ari", "nmi_sum", "vi", "jaccard", "accuracy", "wallace_ab", "element_centric"]
    r, back = cg.compare(h, labels, keys), cg.compare(labels, h, keys)
    for key in keys:
        curve = [cg.compare(h.cut(k), labels, key)[key] for k in range(1, 21)]
        turned = [cg.compare(labels, h.cut(k), key)[key] for k in range(1, 21)]
        pick = max if cg.measure(key).better == "higher" else min
        assert r[key] == close(pick(curve))
        assert curve[int(r.further["k"][key]) - 1] == close(pick(curve))
        assert back[key] == close(pick(turned))
        assert cg.cut_curve(h, labels, key, ks=range(1, 21)).values.tolist() == close(curve)
        assert cg.cut_curve(labels, h, key, ks=range(1, 21)).values.tolist() == close(turned)
    assert cg.compare(h, labels).further["k"].keys() == set(cg.compare(h, labels))
    assert cg.cut_curve(h, labels, "ari").best == int(cg.compare(h, labels, "ari").further["k"]["ari"])


def test_labels_follow_the_names_of_the_points():
    """A series whose index names the points is put in their order."""
    h = cg.Hierarchy("((a,b),(c,d));")
    assert cg.compare(h, pd.Series([1, 0, 1, 0], index=list("cadb")), "ari")["ari"] == 1
    with pytest.raises(cg.InputError, match="4 points and b 3"):
        cg.compare(h, [0, 1, 1])
    with pytest.raises(cg.NotApplicable, match="two hierarchies"):
        cg.compare(h, [0, 0, 1, 1], "cophenetic")
    with pytest.raises(cg.InputError, match="is neither"):
        cg.compare(h, np.eye(4))


def test_measures_that_are_not_defined_at_every_cut():
    """lambda needs equal numbers of clusters: it is found at that cut, and skipped where there is none."""
    rng = np.random.default_rng(3)
    h, labels = cg.Hierarchy(random_linkage(12, rng)), rng.integers(0, 3, 12)
    everything = cg.compare(h, labels, "all")
    assert everything.further["k"]["lambda"] == 3
    assert "cophenetic" in everything.skipped
    assert np.isnan(cg.cut_curve(h, labels, "lambda")[2])
    assert cg.cut_curve(h, labels, "lambda").best == 3
    with pytest.raises(cg.NotApplicable, match="any of the cuts"):
        cg.cut_curve(h, labels, "lambda", ks=[2])


def test_what_does_not_apply_is_said():
    """Measures of partitions on trees, of trees on labels, of levels on trees without any."""
    a = cg.Hierarchy("((a,b),(c,d));")
    with pytest.raises(cg.NotApplicable, match="cut_curve"):
        cg.compare(a, a, "ari")
    with pytest.raises(cg.NotApplicable, match="hierarchies"):
        cg.compare([0, 0, 1], [0, 1, 1], "cophenetic")
    with pytest.raises(cg.NotApplicable, match="at_levels"):
        cg.compare(a, a, "hmi")
    with pytest.raises(cg.NotApplicable, match="whole trees"):
        cg.cut_curve(a, a, "cophenetic")
    with pytest.raises(cg.InputError, match="path must be"):
        cg.element_centric(a, a, path="long")
    with pytest.raises(cg.InputError, match="alpha is a probability between 0 and 1; got 1"):
        cg.element_centric(a, a, alpha=1)
    with pytest.raises(cg.InputError, match="normaliser"):
        cg.nhmi(a.at_levels([2, 3]), a.at_levels([2, 3]), normaliser="min")
    with pytest.raises(cg.InputError, match="sample_weight"):
        cg.compare(a, a, sample_weight=[1, 1, 1, 1])
    assert cg.nhmi(a.at_levels([2, 3]), a.at_levels([2, 3])) == 1
    assert "hmi" in cg.compare(a, a, "all").skipped
    with pytest.raises(cg.InputError, match="at least one side"):
        cg.cut_curve([0, 1], [0, 1])


# --- curves, tables, pairs of trees -------------------------------------------------------------------------------------


@pytest.mark.parametrize("measure", ["ari", "rand", "jaccard", "wallace_ab", "mirkin", "nmi_sum", "accuracy"])
def test_curves_of_any_measure(measure):
    """Every value is that of compare on the two cuts; the mean is known for measures linear in the pairs together."""
    rng = np.random.default_rng(10)
    a, b = (cg.Hierarchy(random_linkage(15, rng)) for _ in range(2))
    curve = cg.cut_curve(a, b, measure)
    assert curve.ks.tolist() == list(range(2, 15))
    for k in curve.ks.tolist():
        assert curve[k] == close(cg.compare(a.cut(k), b.cut(k), measure)[measure])
    linear = measure in ("ari", "rand", "wallace_ab", "mirkin")
    assert (curve.mean is not None) == linear
    if measure == "ari":
        assert curve.mean.tolist() == close([0.0] * 13)
    if linear:
        wallace = cg.cut_curve(a, b)
        assert np.abs(curve.z) == pytest.approx(np.abs(wallace.z), rel=1e-9)
        assert curve.band[0] == pytest.approx(curve.mean - 2 * curve.sd)
    assert list(curve.to_frame()["k"]) == curve.ks.tolist()
    assert json.dumps(curve.to_dict())
    with pytest.raises(KeyError):
        curve[1]


def test_tables_of_cuts():
    """Rows are cuts of a, columns cuts of b; asymmetric measures have a as the reference."""
    rng = np.random.default_rng(11)
    a, b = (cg.Hierarchy(random_linkage(12, rng)) for _ in range(2))
    table = cg.compare_cuts(a, b, [2, 4], [3, 5, 7], "wallace_ab")
    assert table.values.shape == (2, 3)
    assert table[4, 5] == close(cg.wallace_ab(a.cut(4), b.cut(5)))
    assert table.to_frame().shape == (2, 3)
    assert cg.compare_cuts(a, b).ks_a.tolist() == list(range(2, 11))
    assert table[table.best] == table.values.max()
    with pytest.raises(KeyError):
        table[3, 3]
    with pytest.raises(cg.InputError):
        cg.compare_cuts(a, b, [13])


def test_all_pairs_of_trees():
    """compare_all takes a mapping of hierarchies."""
    rng = np.random.default_rng(12)
    found = {name: cg.Hierarchy(random_linkage(8, rng)) for name in "xyz"}
    r = cg.compare_all(found, ["cophenetic", "robinson_foulds"])
    assert r.names == ("x", "y", "z")
    assert r["cophenetic"][0, 2] == cg.cophenetic(found["x"], found["z"])
    assert np.diag(r["robinson_foulds"]).tolist() == [0, 0, 0]
    assert list(cg.compare_all(list(found.values()))) == ["cophenetic"]
    rows = cg.compare_to(found["x"], {k: found[k] for k in "yz"}, "cophenetic")
    assert rows["cophenetic"].tolist() == [r["cophenetic"][0, 1], r["cophenetic"][0, 2]]


@pytest.mark.slow
def test_compiled_and_interpreted_are_the_same(monkeypatch):
    """The kernels give the same numbers as plain Python, on trees large enough for every branch of them."""
    rng = np.random.default_rng(13)
    a, b = (cg.Hierarchy(random_linkage(60, rng, kind)) for kind in ("distinct", "tied"))
    labels = rng.integers(0, 5, 60)
    found = []
    for steps in (math.inf, 0):
        monkeypatch.setattr(jit, "INTERPRETED_STEPS", steps)
        for name in ("range_maxima", "pair_sums", "overlap_curve", "spread", "point_scores"):
            jit._compiled.pop(f"{tree_kernels.__name__}.{name}", None)
            assert hasattr(tree_kernels, name)
        values = list(cg.compare(a, b).values())
        found.append([*values, *cg.cut_curve(a, b).values, *cg.cut_curve(a, labels, "ari").values])
    assert found[0] == close(found[1], 1e-13)


def test_curves_of_larger_trees():
    """Every overlap of a larger pair is that of the table of the cuts."""
    rng = np.random.default_rng(14)
    a, b = (cg.Hierarchy(random_linkage(400, rng)) for _ in range(2))
    ks = np.array([2, 7, 50, 200, 399])
    pairs, _, _ = pair_curve(a, b, ks)
    assert pairs.v11.tolist() == [
        sum(c * (c - 1) / 2 for c in np.unique(a.cut(k) * 1000 + b.cut(k), return_counts=True)[1]) for k in ks
    ]


# --- tanglegrams --------------------------------------------------------------------------------------------------------


def crossings(one: list[int], two: list[int]) -> int:
    place = {p: i for i, p in enumerate(two)}
    return sum(place[x] > place[y] for x, y in itertools.combinations(one, 2))


def test_tanglegrams_untangle():
    """Orders are those of the trees, crossings are counted right, and small trees reach the fewest there can be."""
    rng = np.random.default_rng(15)
    for _ in range(10):
        a, b = (cg.Hierarchy(random_linkage(6, rng)) for _ in range(2))
        t = cg.tanglegram(a, b)
        assert t.crossings == crossings(t.order_a.tolist(), t.order_b.tolist())
        fewest = min(crossings(x, y) for x in all_orders(a) for y in all_orders(b))
        assert t.crossings == fewest
        for tree, order in ((a, t.order_a), (b, t.order_b)):
            assert order.tolist() in all_orders(tree)
    assert cg.tanglegram(a, a).crossings == 0
    assert t.segments("a").shape == (5 + 10, 4)
    big = cg.Hierarchy((np.column_stack([np.arange(1, 6001), [0, *range(6001, 12000)]]), np.arange(6000.0)))
    with pytest.raises(cg.InputError, match="is unreadable"):
        cg.tanglegram(big, big)


def all_orders(h: cg.Hierarchy) -> list[list[int]]:
    """Every order of the points in which all clusters are intervals."""
    orders: list[list[list[int]]] = [[[i]] for i in range(h.n_points)]
    for x, y in h.children.tolist():
        orders.append(
            [[*p, *q] for p in orders[x] for q in orders[y]] + [[*q, *p] for p in orders[x] for q in orders[y]]
        )
    return orders[-1]


def test_values_of_dendextend():
    """The values that dendextend printed (docs/reproductions/dendextend_r.txt) are ours, but for cor_FM_index."""
    from scipy.cluster.hierarchy import linkage
    from sklearn.datasets import load_iris

    text = (Path(__file__).parents[1] / "docs" / "reproductions" / "dendextend_r.txt").read_text(encoding="utf-8")
    printed = {}
    for line in text.splitlines()[1:]:
        words = line.split()
        numbers = [w for w in words if w[0].isdigit() and "." in w]
        printed[line[: line.index(numbers[0])].strip()] = [float(w) for w in numbers]
    X = load_iris().data
    a, b = (cg.Hierarchy(linkage(X, method)) for method in ("average", "complete"))
    case = TREES["mtcars5_average_ward"]
    p, q = (cg.Hierarchy(linkage_of(case[side])) for side in "ab")
    curve = cg.cut_curve(a, b)
    ours = {
        "cor_cophenetic": [cg.cophenetic(a, b)],
        "FM_index of cutree, k = 3": [curve[3]],
        "its E_FM, V_FM": [curve.mean[1], curve.sd[1] ** 2],
        "mtcars[1:5, ]: cor_cophenetic": [cg.cophenetic(p, q)],
        "mtcars[1:5, ]: cor_bakers_gamma": [cg.bakers_gamma(p, q)],
        "mtcars[1:5, ]: FM_index of cutree, k = 2": [cg.cut_curve(p, q)[2]],
    }
    for name, values in ours.items():
        assert values == pytest.approx(printed[name], rel=1e-8), name
    # merges of equal height: theirs by the order of the merges, ours by mid-ranks
    assert cg.bakers_gamma(a, b) == pytest.approx(printed["cor_bakers_gamma"][0], abs=1e-4)
    assert printed["mtcars[1:5, ]: cor_FM_index, k = 2"] != pytest.approx([cg.cut_curve(p, q)[2]], abs=0.1)
