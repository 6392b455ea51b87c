"""Hierarchies: every form of a tree is read, cuts are right, points are aligned, and invalid trees are refused."""

from __future__ import annotations

import math

import naive_hierarchies as naive
import numpy as np
import pandas as pd
import pytest
from hierarchy_cases import close, linkage_of, random_linkage

import congruence as cg

# --- cuts -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["distinct", "tied", "inverted"])
def test_cuts_are_made_in_the_order_of_the_merges(kind):
    """A cut has k clusters, those of the first n − k merges, for any heights."""
    rng = np.random.default_rng(6)
    for n in (2, 3, 8, 15):
        rows = random_linkage(n, rng, kind)
        h = cg.Hierarchy(rows)
        for k in range(1, n + 1):
            assert h.cut(k).tolist() == naive.cut(rows, k)


@pytest.mark.slow
def test_cuts_where_scipy_is_wrong():
    """Centroid trees go down, and scipy's cut_tree then gives other numbers of clusters than requested."""
    from scipy.cluster.hierarchy import cut_tree, fcluster, linkage

    rng = np.random.default_rng(0)
    wrong = inverted = 0
    for _ in range(10):
        rows = linkage(rng.normal(size=(30, 2)), "centroid")
        h = cg.Hierarchy(rows)
        inverted += h.has_inversions
        for k in range(1, 31):
            assert len(np.unique(h.cut(k))) == k
            wrong += len(np.unique(cut_tree(rows, k))) != k
    assert inverted > 0
    assert wrong > 0
    tied = linkage(np.array([[0.0], [1], [2], [3], [4]]), "single")
    assert len(np.unique(fcluster(tied, 3, "maxclust"))) != 3
    assert len(np.unique(cg.Hierarchy(tied).cut(3))) == 3


def test_cutting_at_a_height():
    """Clusters are those with no merge above the height, as fcluster gives them, also for trees that go down."""
    from scipy.cluster.hierarchy import fcluster, linkage

    rng = np.random.default_rng(1)
    for method in ("average", "centroid", "single"):
        rows = linkage(rng.normal(size=(25, 2)), method)
        h = cg.Hierarchy(rows)
        for height in [0.0, *rows[::4, 2], 99.0]:
            assert cg.rand(h.cut(height=height), fcluster(rows, height, "distance")) == 1


def test_ties_are_named_and_can_be_left_out():
    """Cuts between equal heights are arbitrary: notes name them, and "heights" leaves them out."""
    rows = linkage_of([[0, 1, 1, 2], [2, 3, 1, 2], [4, 5, 2, 4]])
    h = cg.Hierarchy(rows)
    assert h.tied_ks.tolist() == [3]
    assert "k = 3" in h.cuts([2, 3]).notes[0]
    assert h.cuts([2]).notes == ()
    assert h.cuts("heights").names == ("k=4", "k=2", "k=1")
    assert cg.cut_curve(h, h, ks="heights").ks.tolist() == [2]
    assert any("heights tie" in note for note in cg.cut_curve(h, h).notes)


def test_a_node_with_three_children_has_no_cut_in_between():
    """Cuts that a node skips are refused, and the nearest cuts are named."""
    h = cg.Hierarchy("((a,b,c),d,e);")
    assert h.ks.tolist() == [5, 3, 1]
    with pytest.raises(cg.InputError, match=r"no cut has 4 clusters.*nearest cuts have 3 and 5"):
        h.cut(4)
    with pytest.raises(cg.InputError, match="1 to 5 clusters, not 6"):
        h.cut(6)
    for bad in ({}, {"k": 2, "height": 1.0}, {"k": 2.5}, {"k": True}):
        with pytest.raises(cg.InputError):
            h.cut(**bad)
    with pytest.raises(cg.InputError, match="'heights'"):
        h.cuts("levels")
    with pytest.raises(cg.InputError):
        h.cuts([])


# --- forms of a tree ----------------------------------------------------------------------------------------------------


def test_all_forms_are_the_same_tree():
    """A linkage, children with heights, R's merges, Newick, nested lists and scikit-learn give the same tree."""
    from scipy.cluster.hierarchy import linkage
    from sklearn.cluster import AgglomerativeClustering

    X = np.random.default_rng(2).normal(size=(12, 3))
    rows = linkage(X, "ward")
    h = cg.Hierarchy(rows)
    model = AgglomerativeClustering(compute_distances=True).fit(X)
    pairs = rows[:, :2].astype(int)
    r_merge = np.where(pairs < 12, -pairs - 1, pairs - 11)
    forms = {
        "scikit-learn": model, "children": (pairs, rows[:, 2]), "R": (r_merge, rows[:, 2]), "newick": h.to_newick(),
        "itself": h, "linkage": h.linkage,
    }  # fmt: skip
    for name, form in forms.items():
        other = cg.Hierarchy(form)
        for key, value in cg.compare(h, other).items():
            assert value == pytest.approx(cg.measure(key).best, abs=1e-9), (name, key)
    without = cg.Hierarchy(AgglomerativeClustering().fit(X))
    assert "compute_distances" in without.notes[0]
    assert cg.cophenetic_spearman(without, h) == 1


def test_nested_lists_are_levels_as_written():
    """[0, 1] is a lowest cluster; [[0], [1]] splits it further."""
    whole, split = cg.Hierarchy([[0, 1], [2, 3]]), cg.Hierarchy([[[0], [1]], [[2], [3]]])
    assert whole.levels.shape == (1, 4)
    assert split.levels.shape == (2, 4)
    assert cg.hmi(whole, whole) == close(math.log(2))
    assert cg.hmi(split, split) == close(math.log(4))
    assert cg.robinson_foulds(whole, split) == 0
    assert cg.Hierarchy([["x", "y"], ["z"]]).points == ("x", "y", "z")
    assert cg.Hierarchy([[2, 0], [1]]).cut(2).tolist() == [0, 1, 0]


def test_newick():
    """Quotes, comments, inner names, missing lengths and spaces are read; names are points."""
    h = cg.Hierarchy("(('a b':1,'c''s':1)inner:2[note],\n d:3)root;")
    assert h.points == ("a b", "c's", "d")
    assert h.heights.tolist() == [1, 3]
    assert cg.Hierarchy(h.to_newick()).points == h.points
    assert cg.Hierarchy("((a,b),c);").heights.tolist() == [1, 2]
    assert "no length" in cg.Hierarchy("((a:1,b):1,c:2);").notes[0]
    assert "equally far" in cg.Hierarchy("((a:1,b:5):1,c:2);").notes[0]
    # sums of lengths that differ by rounding tie
    assert len(set(cg.Hierarchy("((a:0.3,b:0.3):1,((c:0.1,d:0.1):0.2,e:0.3):1);").heights.tolist())) == 3
    deep = "(" * 3000 + "x0" + "".join(f",x{i})" for i in range(1, 3001)) + ";"
    assert cg.Hierarchy(deep).n_points == 3001


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        ("", "empty text"),
        ("(a,b);(c,d);", "several Newick trees"),
        ({"x": [0, 0, None]}, "label every point"),
        ("((a,b);", "brackets"),
        ("(a,b))x;", "unexpected"),
        ("(a,,b);", "unexpected"),
        ("(a,a);", "named 'a'"),
        ("(a:x,b:1);", "not a number"),
        ("(a:-1,b:1);", "not negative"),
        ("no_such_file.nwk", "neither Newick text nor a file"),
        (np.array([[0.0, 1, 1, 2], [0, 2, 1, 2]]), "not the merges of a tree"),
        (np.zeros((3, 3)), "floats is read as scipy's linkage"),
        (([[0, 1], [2, 3]], [1.0]), "finite heights"),
        ([[0, 1], [1, 2]], "twice"),
        ([[0, 1], []], "empty"),
        ({"x": [0, 0, 1, 1], "y": [0, 1, 0, 1]}, "not nested"),
        (7, "expected a tree"),
    ],
)
def test_input_that_is_not_a_tree_is_refused(tree, message):
    """One line says what is wrong."""
    with pytest.raises(cg.InputError, match=message) as error:
        cg.Hierarchy(tree)
    assert "\n" not in str(error.value)


def test_columns_are_put_in_order():
    """Nested label columns in any order, of any kind, are levels from coarse to fine."""
    frame = pd.DataFrame({"fine": list("aabbcc"), "coarse": list("xxyyyy")}, index=list("ponmlk"))
    h = cg.Hierarchy(frame)
    assert h.level_names == ("coarse", "fine")
    assert h.points == tuple("ponmlk")
    assert h.ks.tolist() == [6, 5, 4, 3, 2, 1]
    assert cg.rand(h.cut(2), frame["coarse"].to_numpy()) == 1
    with pytest.raises(cg.InputError, match="cluster 1 of y"):
        cg.Hierarchy({"x": [0, 0, 1, 1], "y": [0, 1, 1, 2]})


# --- the same points ----------------------------------------------------------------------------------------------------


def test_points_are_aligned_by_name():
    """Newick trees whose points come in another order are the same tree; other points are refused."""
    a, b = cg.Hierarchy("((a:1,b:1):2,(c:2,d:2):1);"), cg.Hierarchy("((d:2,c:2):1,(b:1,a:1):2);")
    assert cg.compare(a, b)["cophenetic"] == 1
    assert cg.cut_curve(a, b).values.tolist() == [1, 1]
    with pytest.raises(cg.InputError, match="not the same ones"):
        cg.compare(a, cg.Hierarchy("((a,b),(c,e));"))
    with pytest.raises(cg.InputError, match="4 and 3 points"):
        cg.compare(a, cg.Hierarchy("((a,b),c);"))
    with pytest.raises(cg.InputError, match="of only one hierarchy have names"):
        cg.compare(a, cg.Hierarchy([[0, 1], [2, 3]]))
    named = cg.Hierarchy([[0, 1], [2, 3]])
    assert cg.compare(cg.Hierarchy("((0,1),(2,3));"), named)["robinson_foulds"] == 0
    with pytest.raises(cg.InputError, match="3 names for 4 points"):
        cg.Hierarchy(named, points=["a", "b", "c"])
    with pytest.raises(cg.InputError, match="differ"):
        cg.Hierarchy(named, points=["a", "b", "c", "a"])


def test_a_hierarchy_is_not_a_clustering():
    """If one clustering is expected, the message says to cut the tree; labels must cover every point."""
    h = cg.Hierarchy([[0, 1], [2, 3]])
    with pytest.raises(cg.InputError, match="cut it first"):
        cg.Ensemble([h, h])
    with pytest.raises(cg.InputError, match="1 of 4 points have no label"):
        cg.compare(h, ["a", "a", "b", None])
