"""Ensembles: how they are made, cut, joined, and what their members are."""

from __future__ import annotations

import math

import naive
import naive_matrices as dense
import numpy as np
import pytest
from doors import close
from ensemble_cases import OF_TWO, A, B, C, U, scores, several
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from strategies import partitions

import congruence as cg
from congruence.engine import matrices

# --- how an ensemble is made -----------------------------------------------------------------------------------------


def test_every_way_to_give_members(tmp_path):
    """An (n, L) array, frames, a list, a mapping, an ensemble and a file hold the same members; frames name them."""
    pd, pl, pa = (pytest.importorskip(x) for x in ("pandas", "polars", "pyarrow"))
    named = {"a": A, "b": B, "c": C}
    frame = pd.DataFrame(named)
    frame.to_csv(tmp_path / "runs.csv", index=False)
    frame.to_parquet(tmp_path / "runs.parquet")
    np.save(tmp_path / "runs.npy", np.array([A, B, C]).T)
    given = [
        np.array([A, B, C]).T, [A, B, C], (A, B, C), named, frame, pl.DataFrame(named), pa.table(named),
        tmp_path / "runs.csv", str(tmp_path / "runs.parquet"), tmp_path / "runs.npy", cg.Ensemble(named),
        [pd.Series(x, name=name) for name, x in named.items()],
    ]  # fmt: skip
    expected = dense.consensus([A, B, C])
    for data in given:
        e = cg.Ensemble(data)
        assert (len(e), e.n_points) == (3, 6), data
        assert e.names in (("a", "b", "c"), ("0", "1", "2"), ("runs_0", "runs_1", "runs_2")), data
        assert e.consensus_matrix() == close(expected), data
    assert cg.Ensemble(frame).names == cg.Ensemble(tmp_path / "runs.csv").names == ("a", "b", "c")
    assert cg.Ensemble([A, B], names=["x", "y"]).names == ("x", "y")
    with pytest.raises(cg.InputError, match="1 names for 2 clusterings"):
        cg.Ensemble([A, B], names=["x"])


def test_fuzzy_members():
    """A list of membership matrices, dense, sparse or declared as such, with labels among them."""
    v = np.array([[1, 0, 0], [0.5, 0.5, 0], [0, 1, 0], [0, 0.25, 0.75], [0, 0, 1], [0.5, 0, 0.5]])
    e = cg.Ensemble([np.array(U), sparse.csr_array(v), cg.Memberships(U), A])
    assert e.is_soft
    assert e.consensus_matrix() == close(dense.consensus([U, v.tolist(), U, A]))
    assert repr(e) == "Ensemble: 4 clusterings of 6 points, 2 to 3 clusters each"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([], "empty"),
        ([0, 1, 1], "one flat list of 3 labels"),
        (np.zeros(3), "1-D array"),
        (7, "got int"),
        ([[0, 1], [0, 1, 2]], "have 2 and 3 points"),
        ([[0, None], [0, 1]], "1 of 2 points are unassigned"),
    ],
)
def test_input_that_is_not_an_ensemble(given, said):
    """Said in one line, with what was expected."""
    with pytest.raises(cg.InputError, match=said) as error:
        cg.Ensemble(given)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("bad", [[1], [1, -1], [0, 0], [1, math.nan], ["x", "y"], [[1, 2]]])
def test_member_weights_are_checked(bad):
    """Member weights: one finite number per member, not negative, not all 0."""
    with pytest.raises(cg.InputError, match="member_weight"):
        cg.Ensemble([A, B], member_weight=bad)


def test_member_weights_count_members():
    """Weight 2 is the same as the member twice; the scale does not matter; slices keep their weights' proportions."""
    heavy, twice = cg.Ensemble([A, B, C], member_weight=[20, 10, 10]), cg.Ensemble([A, A, B, C])
    assert heavy.shares.tolist() == [0.5, 0.25, 0.25]
    assert heavy.consensus_matrix() == close(twice.consensus_matrix())
    assert scores(heavy, C) == close(scores(twice, C))
    assert cg.anmi(heavy, C) == close(cg.anmi(twice, C))
    assert heavy[1:].shares.tolist() == [0.5, 0.5]
    values = cg.compare_all(heavy, "ari")["ari"]
    pairs = [(0, 1, 200), (0, 2, 200), (1, 2, 100)]
    expected = sum(values[i, j] * w for i, j, w in pairs) / sum(w for *_, w in pairs)
    assert heavy.consensus_index("ari") == close(expected)
    with pytest.raises(cg.InputError, match="only one member has a weight"):
        cg.consensus_index(cg.Ensemble([A, B], member_weight=[1, 0]))


# --- cutting and joining ---------------------------------------------------------------------------------------------


def test_selection():
    """By position, name, slice, list of either, or a mask; weights of points and members stay."""
    e = cg.Ensemble({"a": A, "b": B, "c": C}, sample_weight=[1, 2, 1, 1, 1, 1], member_weight=[1, 2, 1])
    assert e[0].codes.tolist() == e["a"].codes.tolist() == A
    assert e[-1].codes.tolist() == C
    for which in (
        slice(0, 3, 2),
        [0, 2],
        ["a", "c"],
        [True, False, True],
        np.array([True, False, True]),
        np.array([0, 2]),
    ):
        part = e[which]
        assert part.names == ("a", "c")
        assert part.mass is e.mass
        assert part.shares.tolist() == [0.5, 0.5]
    assert [c.codes.tolist() for c in e] == [A, B, C]
    assert e[["c", "a"]].names == ("c", "a")


@pytest.mark.parametrize(
    ("which", "said"),
    [("x", "no member 'x'; there are: a, b"), (["a", "x"], "no member 'x'"), ([], "no members were")],
)
def test_selection_of_what_is_not_there(which, said):
    """A name that is not there is an InputError that lists those that are; an ensemble is never empty."""
    with pytest.raises(cg.InputError, match=said):
        cg.Ensemble({"a": A, "b": B})[which]


@pytest.mark.parametrize("mask", [[True], [True, False, True], [False, True, False, True]])
def test_a_mask_has_one_entry_per_member(mask):
    """A mask that is too short or too long is refused."""
    with pytest.raises(cg.InputError):
        cg.Ensemble({"a": A, "b": B})[np.array(mask)]


def test_adding_members():
    """e + more has the members of both, and the mean of both matrices by their numbers of members."""
    e, more = cg.Ensemble({"a": A, "b": B}), cg.Ensemble({"c": C})
    both = e + more
    assert both.names == ("a", "b", "c")
    assert both.consensus_matrix() == close(dense.consensus([A, B, C]))
    listed = [C]
    assert (e + listed).consensus_matrix() == close(dense.consensus([A, B, C]))
    assert len(e) == 2
    assert (e + {"d": [0, None, 1, 1, 0, 0]}).has_gaps
    weighed = cg.Ensemble([A, B], member_weight=[3, 1]) + cg.Ensemble([C], member_weight=[1])
    assert weighed.shares == close(np.array([1.5, 0.5, 1]) / 3)
    with pytest.raises(cg.InputError, match="one ensemble has member weights"):
        cg.Ensemble([A, B], member_weight=[3, 1]) + e
    with pytest.raises(cg.InputError, match=r"6 and 3 points; both must have the same points$"):
        e + {"d": [0, 1, 2]}


def test_ensembles_of_different_points():
    """Different lengths are a one-line InputError for every measure."""
    e, other = cg.Ensemble([A, B]), cg.Ensemble([[0, 1, 2], [0, 0, 1]])
    for key in (*OF_TWO, "arimp"):
        with pytest.raises(cg.InputError) as error:
            getattr(cg, key)(e, other if key in OF_TWO else [0, 1, 2])
        assert "\n" not in str(error.value), key
        assert "6" in str(error.value), key
    for ask in (cg.item_consensus, cg.cluster_consensus, cg.consensus_silhouette):
        with pytest.raises(cg.InputError, match="has 6 points and the labels 3; both must have the same points"):
            ask(e, [0, 1, 1])


def test_anmi_of_different_points():
    """anmi takes another route than the sums over pairs, and also refuses different lengths in one line."""
    with pytest.raises(cg.InputError, match="6"):
        cg.anmi(cg.Ensemble([A, B]), [0, 1, 2])


@pytest.mark.parametrize("how", ["compare", "labels", "add"])
def test_frames_of_other_points_are_not_compared_by_position(how):
    """Two ensembles whose indexes differ are of different points: refused, as compare and compare_all do."""
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"a": A, "b": B})
    e, turned = cg.Ensemble(frame), frame.iloc[::-1]
    ask = {
        "compare": lambda: cg.arimm(e, cg.Ensemble(turned)),
        "labels": lambda: cg.arimp(e, turned["a"]),
        "add": lambda: e + cg.Ensemble(turned),
    }[how]
    with pytest.raises(cg.InputError, match="index"):
        ask()


# --- members ---------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@given(several(), st.sampled_from(["ari", "vi", "nmi_sum"]))
@settings(max_examples=25)
def test_member_agreement(runs, key):
    """For each member the mean with all the others, best first, whichever direction is better."""
    found = cg.member_agreement(runs, key)
    expected = {
        str(i): float(np.mean([naive.MEASURES[key](a, b) for j, b in enumerate(runs) if j != i]))
        if len(runs) > 1
        else 0.0
        for i, a in enumerate(runs)
    }
    assert found == close(expected)
    values = list(found.values())
    assert values == sorted(values, reverse=key != "vi")


def test_members_of_one_name_are_all_listed():
    """Joining two ensembles repeats the names 0, 1, …; none of the members is lost."""
    found = cg.member_agreement(cg.Ensemble([A, B]) + cg.Ensemble([C, A]))
    assert len(found) == 4
    assert list(found.values()) == sorted(found.values(), reverse=True)


def test_random_partitions():
    """n points, the requested number of members, k from 2 to kmax, the same for the same seed; invalid arguments are refused."""
    e = cg.random_partitions(500, 60, 4, random_state=7)
    assert (len(e), e.n_points) == (60, 500)
    assert {c.k for c in e} == {2, 3, 4}
    again = cg.random_partitions(500, 60, 4, random_state=7)
    assert all(np.array_equal(a.codes, b.codes) for a, b in zip(e, again, strict=True))
    sizes = np.bincount(next(c for c in e if c.k == 4).codes)
    assert sizes.min() > 90
    for bad in ((0, 1, 2), (5, 0, 2), (5, 1, 1)):
        with pytest.raises(cg.InputError, match="must be at least"):
            cg.random_partitions(*bad)


@pytest.mark.slow
def test_every_small_ensemble_of_two_members():
    """Pairs of partitions of 4 points as ensembles against partitions: arimp is that of the whole matrix."""
    every = partitions(4)
    for a in every[::3]:
        for b in every:
            m = dense.consensus([a, b])
            for q in every[::4]:
                assert cg.arimp(cg.Ensemble([a, b]), q) == close(dense.measures(m, dense.consensus([q]))["arimp"])


@pytest.mark.slow
def test_a_large_ensemble_needs_no_matrix(monkeypatch):
    """100,000 points: all measures of two ensembles from tables, where the matrix would have 10¹⁰ entries."""
    certainty = cg.certainty  # the example in its docstring is computed now, from a small matrix
    monkeypatch.setattr(matrices, "tile_sums", None)
    p, q = cg.random_partitions(100_000, 4, 5, random_state=1), cg.random_partitions(100_000, 3, 5, random_state=2)
    found = cg.compare(p, q)
    assert abs(found["arimm"]) < 1e-3
    assert abs(found["sms"]) < 1e-3
    assert found["kas"] > 0.5
    assert cg.kas(p, p) == cg.nsf(p, p) == cg.sms(p, p) == 1.0
    assert certainty(p) == close(cg.arimm(p, p))
    labels = p[0].codes
    assert cg.arimp(p, labels) > 0.2
    assert cg.item_consensus(p, labels).shape == (100_000, p[0].k)


def test_a_sampled_distribution_says_how_far_off_it_may_be():
    """The sample's distribution lies within a few standard errors of the exact one, which has none."""
    e = cg.random_partitions(200, 12, 5, random_state=3)
    exact, sampled = e.cdf(), e.cdf(sample=20_000, random_state=0)
    assert exact.standard_error(0.3) == 0.0
    for x in (0.1, 0.25, 0.4):
        assert 0 < sampled.standard_error(x) < 0.01
        assert abs(sampled(x) - exact(x)) < 5 * sampled.standard_error(x)


def test_align_is_not_ignored_for_ensembles():
    """'position' compares frames with other indexes by position, 'index' is refused, with advice."""
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"a": A, "b": B})
    moved = frame.set_axis(range(10, 10 + len(frame)))
    e = cg.Ensemble(frame)
    assert cg.compare(e, cg.Ensemble(moved), "kas", align="position")["kas"] == 1.0
    with pytest.raises(cg.InputError, match="reindex the frames"):
        cg.compare(e, cg.Ensemble(moved), "kas", align="index")


def test_self_values_count_gaps_as_their_measure_does():
    """Measures that count gaps differently have different self-scores."""
    e = cg.Ensemble([[0, 0, 1, 1, None, 0], [0, 1, 1, None, 2, 0], [0, 0, 1, 2, 2, 2]], unassigned="partial")
    measures = [cg.measure("arimm", missing="plain"), cg.measure("kas", missing="ratio")]
    for order in (measures, measures[::-1]):
        own = cg.compare(e, e, order).self_values[0]
        assert own["arimm"] == pytest.approx(cg.certainty(e, missing="plain"), rel=1e-12)
