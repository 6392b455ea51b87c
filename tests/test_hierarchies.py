"""Hierarchies against labels, curves of cuts, and tanglegrams."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hierarchy_cases import TREES, close, linkage_of, random_linkage

import congruence as cg
from congruence.comparison.trees import pair_curve
from congruence.engine import tree_kernels
from congruence.machine import jit

# --- against labels --------------------------------------------------------------------------------------------------


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
    with pytest.raises(cg.InputError, match="b: 3 labels for 4 points"):
        cg.compare(h, [0, 1, 1])
    with pytest.raises(cg.NotApplicable, match="two hierarchies"):
        cg.compare(h, [0, 0, 1, 1], "cophenetic")
    with pytest.raises(cg.InputError, match="a hierarchy can be compared with: labels"):
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


def test_measures_that_do_not_apply_give_a_reason():
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


# --- curves, tables, pairs of trees ----------------------------------------------------------------------------------


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


# --- tanglegrams -----------------------------------------------------------------------------------------------------


def crossings(one: list[int], two: list[int]) -> int:
    place = {p: i for i, p in enumerate(two)}
    return sum(place[x] > place[y] for x, y in itertools.combinations(one, 2))


def test_tanglegrams_untangle():
    """Orders are those of the trees, crossings are counted right, and small trees reach the fewest possible."""
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
    """The values that dendextend printed (docs/reproductions/dendextend_r.txt) are ours, except for cor_FM_index."""
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


def test_a_curve_of_three_points_has_its_mean():
    """Mean and deviation over permutations are those of all 3! orders; with three points no two pairs are disjoint."""
    a, b = cg.Hierarchy("((a:1,b:1):1,c:2);"), cg.Hierarchy("((a:1,c:1):1,b:2);")
    curve = cg.cut_curve(a, b)
    values = [cg.wallace([0, 0, 1], labels) for labels in itertools.permutations([0, 1, 0])]
    assert curve.mean.tolist() == pytest.approx([np.mean(values)])
    assert curve.sd.tolist() == pytest.approx([np.std(values)])
