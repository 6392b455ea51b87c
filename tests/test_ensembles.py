"""Ensembles: construction, selection and agreement, compared with the full n × n matrix."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import naive
import naive_matrices as dense
import numpy as np
import pytest
from doors import close
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from strategies import MOST_POINTS, clusterings, memberships, partitions, weights

import congruence as cg
from congruence.engine import matrices, tiles
from congruence.ensembles import agreement

A, B, C = [0, 0, 1, 1, 2, 2], [0, 0, 0, 1, 1, 1], [0, 1, 0, 1, 0, 1]
U = [[0.5, 0.5], [1, 0], [0.25, 0.75], [0, 1], [0.5, 0.5], [0.75, 0.25]]
OF_TWO = ("arimm", "kas", "nsf", "nsf_printed", "sms", "ssms")


def members(n: int, gaps: bool = False, most: int = 4) -> st.SearchStrategy[list[list[Any]]]:
    hard = clusterings(n, 4)
    if gaps:
        holes = st.lists(st.booleans(), min_size=n, max_size=n).filter(lambda h: not all(h))
        hard = st.tuples(hard, holes).map(lambda lh: [None if hole else x for x, hole in zip(*lh, strict=True)])
    return st.lists(hard, min_size=1, max_size=most)


def several(gaps: bool = False, least: int = 2) -> st.SearchStrategy[list[list[Any]]]:
    return st.integers(least, MOST_POINTS - 2).flatmap(lambda n: members(n, gaps))


def with_labels(gaps: bool = False) -> st.SearchStrategy[tuple[list[list[Any]], list[int]]]:
    return st.integers(2, MOST_POINTS - 2).flatmap(lambda n: st.tuples(members(n, gaps), clusterings(n, 3)))


def partial(given: list[list[Any]], **options: Any) -> cg.Ensemble:
    return cg.Ensemble(given, unassigned="partial", **options)


def scores(p: Any, q: Any, **options: Any) -> dict[str, float]:
    return dict(cg.compare(p, q, [cg.measure(key, **options) for key in OF_TWO]))


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
    """A list of membership matrices, dense, sparse or said to be such, with labels among them."""
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
        ([[0, 1], [0, 1, 2]], "have 2 and 3 elements"),
        ([[0, None], [0, 1]], "1 of 2 points are unassigned"),
    ],
)
def test_what_is_no_ensemble(given, said):
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
    [("x", "no member 'x'; the members are: a, b"), (["a", "x"], "no member 'x'"), ([], "no members were")],
)
def test_selection_of_what_is_not_there(which, said):
    """A name that is not there is an InputError that lists those that are; an ensemble is never empty."""
    with pytest.raises(cg.InputError, match=said):
        cg.Ensemble({"a": A, "b": B})[which]


@pytest.mark.parametrize("mask", [[True], [True, False, True], [False, True, False, True]])
def test_a_mask_has_one_entry_a_member(mask):
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
    """Different lengths are an InputError of one line, whichever measure asks."""
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
    """anmi goes another way than the sums over pairs, and refuses different lengths in one line all the same."""
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


# --- measures of ensembles -------------------------------------------------------------------------------------------


@pytest.mark.slow
@given(with_labels())
def test_an_ensemble_and_a_partition(given_):
    """arimp, anmi and all others of an ensemble and labels, either way round and by the methods, as the definitions."""
    runs, q = given_
    e = cg.Ensemble(runs)
    expected = {
        **dense.measures(dense.consensus(runs), dense.consensus([q])),
        "anmi": dense.anmi(runs, q),
        "pooled_ami": dense.pooled_ami(runs, q),
    }
    assert cg.nsf_printed(e, q) == close(expected.pop("nsf_printed"))  # only by name
    if len(runs) == 1:
        expected["ari_gram"] = expected["arimm"]  # of two partitions it has both names
    assert dict(cg.compare(e, q)) == close(expected)
    assert dict(cg.compare(q, e)) == close(expected)
    for key in ("arimp", "arimm", "kas", "nsf", "sms", "ssms", "anmi", "pooled_ami"):
        assert [getattr(e, key)(q), getattr(cg, key)(e, q), getattr(cg, key)(q, e)] == [close(expected[key])] * 3, key
    matrix = cg.Similarity(dense.consensus(runs))
    of_matrix = {k: v for k, v in expected.items() if k not in ("anmi", "pooled_ami", "ari_gram")}
    assert dict(cg.compare(matrix, q)) == close(of_matrix)


@pytest.mark.slow
@given(several())
def test_one_ensemble_alone(runs):
    """certainty is Var(M) / (m(1 − m)) and arimm of the ensemble with itself; pnmi and consensus_index are means."""
    e, m = cg.Ensemble(runs), dense.consensus(runs)
    assert cg.certainty(e) == e.certainty() == close(dense.certainty(m))
    assert cg.certainty(e) == close(cg.arimm(e, e)) == close(cg.certainty(m))
    assert cg.uncertainty(e) == e.uncertainty() == close(1 - dense.certainty(m))
    if len(runs) != len(runs[0]):  # a square array would be a matrix
        assert cg.certainty(np.array(runs).T) == cg.certainty(e)
    if len(runs) > 1:
        assert cg.pnmi(e) == e.pnmi() == close(dense.consensus_index(runs, "nmi_sqrt"))
        assert cg.pnmi_sum(e) == close(len(runs) * (len(runs) - 1) * cg.pnmi(e))
        for key in ("nmi_sum", "vi", "ari", "wallace_ab"):
            assert cg.consensus_index(runs, key) == e.consensus_index(key) == close(dense.consensus_index(runs, key))
    else:
        assert math.isnan(cg.pnmi(e))
        assert cg.pnmi_sum(e) == 0.0


@pytest.mark.parametrize("a", [[1, 2, 4], [1, 1, 1], [3, 1, 7], [1, 10, 100], [2, 5, 6]])
def test_equal_constant_matrices_score_1_whatever_the_weights(a):
    """All points together in every member, or all apart, on both sides: 0/0, which is 1 for equal matrices."""
    u = [[1.0, 0.0]] * 5
    for same in ([0] * 5, list(range(5))):
        e = cg.Ensemble([same] * 3, member_weight=a)
        assert cg.arimm(e, same) == cg.arimp(same, e) == cg.arimm(e, cg.consensus_matrix(e)) == 1.0
        assert cg.arimm(partial([[*same[:4], None], same, same], member_weight=a), same) == 1.0
    assert cg.arimm(cg.Ensemble([cg.Memberships(u)] * 3, member_weight=a), [0] * 5) == 1.0


def test_certainty_reaches_its_bounds():
    """1 for equal members; 0 for the three pairings of four points, though random members would have 1/3."""
    assert cg.certainty(cg.Ensemble([A, A, A])) == 1.0
    pairings = cg.Ensemble([[0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 1, 0]])
    assert cg.certainty(pairings) == pytest.approx(0, abs=1e-15)
    assert cg.certainty_random(2, 3) == close(1 / 3)


@pytest.mark.slow
@given(several(), st.data())
@settings(max_examples=20)
def test_equal_ensembles_score_exactly_1(runs, data):
    """kas, nsf and sms of equal ensembles are 1.0, not nearly: in any order of members, weighted, counted or fuzzy."""
    n = len(runs[0])
    order = data.draw(st.permutations(range(len(runs))))
    a, w = data.draw(weights(len(runs))), data.draw(weights(n))
    u = data.draw(memberships(n))
    shuffled = [runs[i] for i in order]
    pairs = [
        (cg.Ensemble(runs), cg.Ensemble(shuffled)),
        (cg.Ensemble(runs + runs), cg.Ensemble(runs)),
        (cg.Ensemble(runs, member_weight=a), cg.Ensemble(shuffled, member_weight=[a[i] for i in order])),
        (cg.Ensemble(runs, member_weight=[1] * len(runs)), cg.Ensemble(runs)),
        (cg.Ensemble(runs, sample_weight=w), cg.Ensemble(shuffled, sample_weight=w)),
        (cg.Ensemble([*runs, cg.Memberships(u)]), cg.Ensemble([cg.Memberships(u), *shuffled])),
    ]
    for p, q in pairs:
        found = scores(p, q)
        assert found["kas"] == found["nsf"] == found["nsf_printed"] == 1.0
        assert found["sms"] == 1.0 or math.isnan(found["sms"])
    m = cg.consensus_matrix(runs)
    assert cg.nsf(m, cg.Ensemble(runs)) == cg.nsf(sparse.csr_array(m), cg.Ensemble(runs)) == 1.0


@pytest.mark.slow
@given(several(gaps=True), st.data())
@settings(max_examples=15)
def test_orders_and_names_do_not_matter(runs, data):
    """Permuting points, members, or the names of clusters changes no measure."""
    n = len(runs[0])
    q = data.draw(clusterings(n, 3))
    points, order = data.draw(st.permutations(range(n))), data.draw(st.permutations(range(len(runs))))
    other = [[runs[m][i] for i in points] for m in order]
    other = [
        [None if x is None else "zyxwvu"[x] for x in m] if max(filter(None, m), default=0) < 6 else m for m in other
    ]
    for missing in ("ratio", "plain", "pooled"):
        expected = scores(partial(runs), q, missing=missing)
        assert scores(partial(other), [q[i] for i in points], missing=missing) == close(expected)
        assert cg.certainty(partial(other), missing=missing) == close(cg.certainty(partial(runs), missing=missing))


# --- partial members -------------------------------------------------------------------------------------------------


@pytest.mark.slow
@given(with_labels())
@settings(max_examples=25)
def test_complete_members_leave_nothing_to_decide(given_):
    """Without gaps the three meanings of a gap are one, by the scorer and by a measure with a parameter."""
    runs, q = given_
    for key in ("arimp", "arimm", "kas", "sms"):
        values = [getattr(cg, key)(partial(runs), q, missing=missing) for missing in ("ratio", "plain", "pooled")]
        assert values[0] == values[1] == values[2] or np.isnan(values).all()
        assert cg.measure(key, missing="plain")(partial(runs), q) == close(values[1])


def test_the_three_meanings_of_a_gap():
    """By hand: pairs never seen together are left out (ratio), apart (plain), or counted as often as seen (pooled)."""
    e, q = partial([[0, 0, None, None], [None, 0, 0, 1]]), [0, 0, 0, 1]
    ratio = e.consensus_matrix()
    assert ratio.tolist()[0] == close([1, 1, math.nan, math.nan])
    assert ratio.tolist()[1] == [1, 1, 1, 0]
    assert e.consensus_matrix(missing="plain").tolist() == [
        [1, 0.5, 0, 0],
        [0.5, 1, 0.5, 0],
        [0, 0.5, 1, 0],
        [0, 0, 0, 1],
    ]
    # seen: 01 (together), 12 (together), 13 and 23 (apart); all as in q
    assert cg.arimp(e, q) == cg.arimp(e, q, missing="ratio") == e.arimp(q, missing="ratio") == 1.0
    # plain: 6 pairs, s_p = 1, s_q = 3, s_pq = 1
    assert cg.arimp(e, q, missing="plain") == close((1 - 0.5) / (2 - 0.5))
    # pooled over (pair, member): 1 + 3 pairs, s_p = s_q = s_pq = 2, each times 1/2
    assert cg.arimp(e, q, missing="pooled") == 1.0
    assert cg.measure("arimm", missing="plain")(e, q) == cg.arimm(e, q, missing="plain")
    assert cg.compare(e, q, [cg.measure("kas", missing="plain")])["kas"] == cg.kas(e, q, missing="plain")
    assert cg.certainty(e) == 1.0
    plain = dense.consensus([[0, 0, None, None], [None, 0, 0, 1]], missing="plain")
    assert cg.certainty(e, missing="plain") == close(dense.certainty(plain))
    with pytest.raises(cg.InputError, match="missing must be 'ratio', 'plain' or 'pooled', not 'x'"):
        cg.arimm(e, q, missing="x")
    with pytest.raises(cg.NotApplicable, match="anmi is not defined for members that label only some of the points"):
        cg.anmi(e, q)
    with pytest.raises(cg.InputError, match="missing='ratio' or 'plain', not 'pooled'"):
        e.consensus_matrix(missing="pooled")


@pytest.mark.slow
@given(with_labels(gaps=True))
@settings(max_examples=25)
def test_partial_ensembles_alone_and_with_a_partition(given_):
    """arimp, kas, nsf, sms and certainty of a partial ensemble are those of its ratio (or plain) matrix."""
    runs, q = given_
    for missing in ("ratio", "plain"):
        m = dense.consensus(runs, missing=missing)
        expected = {k: v for k, v in dense.measures(m, dense.consensus([q])).items() if k in OF_TWO}
        assert scores(partial(runs), q, missing=missing) == close(expected)
        assert cg.certainty(partial(runs), missing=missing) == close(dense.certainty(m))
    shares = [1 / len(runs)] * len(runs)
    assert cg.arimp(partial(runs), q, missing="pooled") == close(
        dense.arimm(dense.pooled_sums(runs, [q], shares, [1.0]))
    )


def nodes(n: int, count: int, seed: int) -> tuple[list[list[Any]], list[int]]:
    """The distributed scenario: each node has a random half of the points and clusters them, nearly right."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, n)
    runs: list[list[Any]] = []
    for _ in range(count):
        found = (rng.permutation(3)[np.where(rng.random(n) < 0.85, truth, rng.integers(0, 3, n))]).tolist()
        runs.append([x if here else None for x, here in zip(found, rng.random(n) < 0.5, strict=True)])
    return runs, truth.tolist()


@pytest.mark.slow
def test_points_clustered_on_several_nodes(monkeypatch):
    """Overlapping subsets on nodes: arimp with the truth by patterns of observation is that of the n × n matrix."""
    runs, truth = nodes(60, 5, 1)
    e = partial(runs)
    m = dense.consensus(runs)
    assert np.isnan(m).any()
    expected = {k: v for k, v in dense.measures(m, dense.consensus([truth])).items() if k in OF_TWO}
    assert matrices.pattern_sums(e, cg.Ensemble([truth])) is not None
    assert scores(e, truth) == close(expected)
    assert cg.arimp(e, truth) == close(expected["arimm"])
    assert 0.3 < cg.arimp(e, truth) < 1
    monkeypatch.setattr(tiles, "SIDE", 16)
    monkeypatch.setattr(matrices, "pattern_sums", lambda *_: None)
    assert scores(e, truth) == close(expected)


@pytest.mark.slow
def test_more_patterns_than_the_limit():
    """Where nearly every point is seen by other members the pairs are walked in tiles, with the same result."""
    runs, truth = nodes(300, 12, 2)
    e, q = partial(runs), cg.Ensemble([truth])
    assert matrices.pattern_sums(e, q) is None
    by_patterns = matrices.pattern_sums(e, q, limit=1000)
    assert by_patterns is not None
    tiles = matrices.sums_of(e, q)
    for name in tiles.symbols:
        assert getattr(tiles, name)[0] == pytest.approx(getattr(by_patterns, name)[0], rel=1e-12), name
    x, y = e.consensus_matrix(), np.equal.outer(truth, truth).astype(float)
    upper = np.triu(~np.isnan(x), 1)
    s_p, s_q, s_pq, pairs = x[upper].sum(), y[upper].sum(), (x * y)[upper].sum(), upper.sum()
    expected = s_p * s_q / pairs
    assert cg.arimp(e, truth) == close((s_pq - expected) / ((s_p + s_q) / 2 - expected))


# --- the consensus matrix --------------------------------------------------------------------------------------------


@pytest.mark.slow
@given(several(gaps=True), st.integers(1, 5), st.sampled_from([np.float32, "float64"]))
def test_consensus_matrix(runs, rows, dtype):
    """Dense in either precision, in blocks of rows, sparse above a threshold: as defined, 1 on the diagonal."""
    for missing in ("ratio", "plain"):
        e, expected = partial(runs), dense.consensus(runs, missing=missing)
        m = e.consensus_matrix(dtype=dtype, missing=missing)
        assert m.dtype == np.dtype(dtype)
        assert (np.diag(m) == 1).all()
        assert m == pytest.approx(expected, abs=1e-7 if dtype == np.float32 else 1e-15, nan_ok=True)
        blocks = list(e.consensus_blocks(rows=rows, dtype=dtype, missing=missing))
        assert [b.shape for _, b in blocks] == [(s.stop - s.start, e.n_points) for s, _ in blocks]
        assert np.array_equal(np.concatenate([b for _, b in blocks]), m, equal_nan=True)
        thin = e.consensus_matrix(threshold=0.5, dtype=dtype, missing=missing)
        assert sparse.issparse(thin)
        assert thin.dtype == np.dtype(dtype)
        assert np.array_equal(thin.toarray(), np.where(m >= 0.5, m, 0))


@pytest.mark.slow
def test_consensus_matrix_over_several_tiles():
    """Tiles of 512 points, on one thread or two, fuzzy and weighted members too."""
    e = cg.random_partitions(1100, 4, 5, random_state=0)
    codes = np.stack([c.codes for c in e])
    expected = (codes[:, :, None] == codes[:, None, :]).mean(axis=0)
    for threads in (1, 2):
        assert np.array_equal(e.consensus_matrix(threads=threads), expected)
    blocks = np.concatenate([b for _, b in e.consensus_blocks(rows=300)])
    assert np.array_equal(blocks, expected)
    heavy = cg.Ensemble(e, member_weight=[1, 2, 3, 4]).consensus_matrix(dtype="float32")
    assert np.abs(heavy - np.average(codes[:, :, None] == codes[:, None, :], axis=0, weights=[1, 2, 3, 4])).max() < 1e-6
    assert e.consensus_matrix(threshold=0.75).nnz == (expected >= 0.75).sum()


def test_diagonal_is_1_for_every_ensemble():
    """Also for fuzzy members, points seen by some members, and a point seen by none."""
    for e in (cg.Ensemble([np.array(U), A]), partial([[0, None, 1], [None, None, 0]])):
        for m in (
            e.consensus_matrix(),
            e.consensus_matrix(missing="plain"),
            e.consensus_matrix(threshold=0.9).toarray(),
        ):
            assert (np.diag(m) == 1).all()


@pytest.mark.slow
def test_a_matrix_larger_than_memory_is_refused(monkeypatch):
    """With the size it would take, what there is, and what to do instead; measures go on without it."""
    e = cg.random_partitions(100_000, 3, 4, random_state=0)
    monkeypatch.setattr(agreement, "_available_memory", lambda: 2.0 * 2**30)
    said = r"of 100,000 points takes 74\.5 GB, but 2\.0 GB are free; pass dtype='float32'"
    with pytest.raises(cg.InputError, match=said) as error:
        e.consensus_matrix()
    for way_out in ("float32", "threshold", "consensus_blocks", "measures"):
        assert way_out in str(error.value)
    with pytest.raises(cg.InputError, match=r"takes 37\.3 GB"):
        e.consensus_matrix(dtype="float32")
    assert cg.certainty_random(4, 3) == pytest.approx(cg.certainty(e), rel=0.5)
    assert next(iter(e.consensus_blocks(rows=2)))[1].shape == (2, 100_000)
    monkeypatch.setattr(agreement, "_available_memory", lambda: 300.0)
    assert cg.consensus_matrix([A, B], dtype="float32").shape == (6, 6)
    with pytest.raises(cg.InputError, match=r"takes 0.0 GB"):
        cg.consensus_matrix([A, B])


def test_options_of_the_consensus_matrix():
    """Other types, a threshold that keeps everything, and blocks without rows are refused when they are asked for."""
    with pytest.raises(cg.InputError, match="float32 or float64, not int64"):
        cg.consensus_matrix([A, B], dtype=int)
    with pytest.raises(cg.InputError, match="threshold must be above 0"):
        cg.consensus_matrix([A, B], threshold=0)
    with pytest.raises(cg.InputError, match="at least one row, not 0"):
        cg.consensus_blocks([A, B], rows=0)
    with pytest.raises(cg.InputError, match="not 'pooled'"):
        cg.consensus_blocks([A, B], missing="pooled")


def test_available_memory_is_a_number():
    """The available memory is above 0."""
    assert agreement._available_memory() > 2**20


# --- items, clusters, silhouettes ------------------------------------------------------------------------------------


@pytest.mark.slow
@given(with_labels(), st.data())
def test_items_and_clusters(given_, data):
    """item_consensus and cluster_consensus are means over the n × n matrix; one point alone has none with itself."""
    runs, q = given_
    n = len(q)
    for mixed in (runs, [*runs, data.draw(memberships(n))]):
        made = [cg.Memberships(m) if isinstance(m[0], list) else m for m in mixed]
        e, m = cg.Ensemble(made), dense.consensus(mixed)
        assert cg.item_consensus(e, q) == close(dense.item_consensus(m, q))
        assert e.item_consensus(q) == close(dense.item_consensus(m, q))
        assert cg.cluster_consensus(e, q) == close(dense.cluster_consensus(m, q))
        assert e.cluster_consensus(q) == close(dense.cluster_consensus(m, q))


@pytest.mark.slow
@given(with_labels(), st.data())
@settings(max_examples=25)
def test_items_and_clusters_of_counted_points(given_, data):
    """frequency is the same as repeating the points, also for a point that occurs 0 times."""
    runs, q = given_
    n = len(q)
    f = data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n).filter(any))
    at = [i for i in range(n) for _ in range(f[i])]
    m = dense.consensus([[r[i] for i in at] for r in runs])
    again = [q[i] for i in at]
    items, clusters = dense.item_consensus(m, again), dense.cluster_consensus(m, again)
    e = cg.Ensemble(runs, frequency=f)
    found = cg.cluster_consensus(e, q)
    for name, value in found.items():
        assert value == close(clusters.get(name, math.nan))
    kept = [k for k, name in enumerate(sorted(set(q))) if name in again]
    assert cg.item_consensus(e, q)[at][:, kept] == close(items)
    missing = [i for i in range(n) if not f[i]]
    for i in missing:  # a point that does not occur still has a consensus with those that do
        others = [j for j in at if q[j] == q[i]]
        if others:
            row = dense.consensus(runs)[i]
            where = sorted(set(q)).index(q[i])
            assert cg.item_consensus(e, q)[i, where] == close(np.mean([row[j] for j in others]))


def test_items_of_weighted_points():
    """Means weighted by the other points; the scale of the weights does not matter, however small."""
    w = [1.0, 2.0, 0.5, 1.0, 4.0, 1.0]
    m = dense.consensus([A, B, C])
    q = [0, 0, 0, 1, 1, 1]
    expected = np.empty((6, 2))
    for i in range(6):
        for k in (0, 1):
            others = [j for j in range(6) if j != i and q[j] == k]
            expected[i, k] = np.average([m[i][j] for j in others], weights=[w[j] for j in others])
    for scale in (1, 1e-15, 1e9):
        e = cg.Ensemble([A, B, C], sample_weight=[x * scale for x in w])
        assert cg.item_consensus(e, q) == close(expected)
        pairs = [(i, j) for i in range(3) for j in range(i + 1, 3)]
        inside = np.average([m[i][j] for i, j in pairs], weights=[w[i] * w[j] for i, j in pairs])
        assert cg.cluster_consensus(e, q)[0] == close(inside)


def test_items_of_partial_members():
    """A member counts for a point as often as it has seen it with one of the cluster; never seen is undefined."""
    e = partial([[0, 0, 1, None], [0, None, 0, None]])
    found = cg.item_consensus(e, ["x", "x", "y", "y"])
    # point 0 with x: point 1 once, together; with y: point 2 twice, together once; point 3 never
    assert found[0].tolist() == [1.0, 0.5]
    assert found[2].tolist() == close([1 / 3, math.nan])
    assert np.isnan(found[3]).all()
    assert cg.cluster_consensus(e, ["x", "x", "y", "y"]) == close({"x": 1.0, "y": math.nan})


@pytest.mark.slow
@given(with_labels(), st.data())
def test_silhouette(given_, data):
    """The silhouettes of scikit-learn with distance 1 − consensus, in a fraction of the memory."""
    metrics = pytest.importorskip("sklearn.metrics")
    runs, q = given_
    n = len(q)
    u = data.draw(memberships(n))
    if len(set(q)) < 2:
        with pytest.raises(cg.InputError, match="at least two clusters"):
            cg.consensus_silhouette(runs, q)
        return
    if len(set(q)) == n:
        assert cg.consensus_silhouette(runs, q).tolist() == [0.0] * n
        return
    for mixed, made in ((runs, runs), ([*runs, u], [*runs, cg.Memberships(u)])):
        expected = metrics.silhouette_samples(1 - dense.consensus(mixed), q, metric="precomputed")
        assert cg.consensus_silhouette(made, q) == pytest.approx(expected, abs=1e-9)
        assert cg.Ensemble(made).silhouette(q) == pytest.approx(expected, abs=1e-9)


def test_labels_of_items_are_a_complete_partition():
    """Memberships and labels with gaps have no clusters to take means over."""
    for labels in (np.array(U), [0, 0, 1, 1, None, 1]):
        with pytest.raises(cg.InputError, match="one complete partition"):
            cg.item_consensus([A, B], labels)


# --- the distribution of consensus values ----------------------------------------------------------------------------


def as_dict(cdf: Any) -> dict[float, float]:
    return dict(zip(cdf.values.tolist(), cdf.shares.tolist(), strict=True))


@pytest.mark.slow
@given(several(gaps=True), st.data())
def test_cdf(runs, data):
    """Values and shares are the histogram of the n × n matrix; the area is 1 − the mean; PAC is (lower, upper]."""
    a = [x + 1 / 8 for x in data.draw(weights(len(runs)))]
    for shares in (None, a):
        for missing in ("ratio", "plain"):
            expected = dense.histogram(dense.consensus(runs, shares, missing))
            e = partial(runs, member_weight=shares)
            if not expected:
                with pytest.raises(cg.InputError, match="no member labels any pair of points"):
                    e.cdf(missing=missing)
                continue
            f = e.cdf(missing=missing)
            assert f.is_exact
            assert as_dict(f) == close(expected)
            assert f.area == close(1 - sum(x * share for x, share in expected.items()))
            for x in (-0.1, 0, 0.3, 0.5, 1):
                assert f(x) == close(sum(share for value, share in expected.items() if value <= x + 1e-12))
            low, high = 0.25, 0.75
            assert e.pac(low, high, missing=missing) == close(
                sum(share for x, share in expected.items() if low + 1e-12 < x <= high + 1e-12)
            )


@pytest.mark.slow
@given(several(gaps=True), st.data())
@settings(max_examples=25)
def test_cdf_of_counted_points(runs, data):
    """frequency is the same as repeating the points, for hard, fuzzy and partial members; copies are pairs too."""
    n = len(runs[0])
    f = data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n).filter(lambda x: sum(x) > 1))
    at = [i for i in range(n) for _ in range(f[i])]
    u = data.draw(memberships(n))
    complete = [[0 if x is None else x for x in m] for m in runs]
    for mixed in (complete, runs, [*complete, u]):
        made = [cg.Memberships(m) if isinstance(m[0], list) else m for m in mixed]
        for missing in ("ratio", "plain"):
            expected = dense.histogram(dense.consensus([[m[i] for i in at] for m in mixed], missing=missing))
            if expected:
                found = cg.consensus_cdf(partial(made, frequency=f), missing=missing)
                assert as_dict(found) == close(expected), missing


def test_cdf_of_many_points():
    """Over several tiles, by groups of points with equal labels, and with weights where groups are not formed."""
    e = cg.random_partitions(1200, 4, 4, random_state=1)
    expected = dense.histogram(e.consensus_matrix())
    assert as_dict(e.cdf()) == close(expected)
    assert e.cdf().pairs == 1200 * 1199 / 2
    assert as_dict(cg.Ensemble(e, member_weight=[1, 1, 1, 1]).cdf()) == close(expected)
    seen: list[tuple[int, int]] = []
    cg.consensus_cdf(cg.Ensemble(e, member_weight=[1, 1, 1, 1]), progress=lambda *x: seen.append(x))
    assert len(seen) == 6


def test_a_sampled_cdf_says_so():
    """is_exact is False; the shares are near; the same seed gives the same sample."""
    e = cg.random_partitions(400, 5, 4, random_state=2)
    exact, sampled = e.cdf(), e.cdf(sample=20_000, random_state=3)
    assert not sampled.is_exact
    assert sampled.pairs == 20_000
    assert "a sample of 20,000 pairs" in repr(sampled)
    assert "all 79,800 pairs" in repr(exact)
    assert np.abs(sampled(np.linspace(0, 1, 11)) - exact(np.linspace(0, 1, 11))).max() < 0.02
    assert sampled.shares.tolist() == e.cdf(sample=20_000, random_state=3).shares.tolist()
    fuzzy = cg.Ensemble([np.array(U), A])
    assert fuzzy.cdf(sample=5000, random_state=0).area == pytest.approx(fuzzy.cdf().area, abs=0.02)
    gaps = partial([[0, 0, None, 1], [0, 1, 1, None]])
    for missing in ("ratio", "plain"):
        exact = gaps.cdf(missing=missing).area
        assert gaps.cdf(sample=5000, random_state=0, missing=missing).area == pytest.approx(exact, abs=0.03)


def test_a_sampled_cdf_draws_points_as_often_as_they_occur():
    """With frequency the sample is of the repeated points: a point that occurs 0 times is never drawn."""
    e = cg.Ensemble([[0, 0, 1, 2], [0, 1, 1, 2]], frequency=[30, 1, 5, 0])
    exact, sampled = e.cdf(), e.cdf(sample=20_000, random_state=0)
    assert set(sampled.values) <= set(exact.values)
    assert sampled(exact.values) == pytest.approx(exact(exact.values), abs=0.02)
    for bad in ({"sample": 0}, {"sample": -1}):
        with pytest.raises(cg.InputError, match="sample must be at least 1"):
            e.cdf(**bad)
    with pytest.raises(cg.InputError, match="from 1 points"):
        cg.consensus_cdf([[0], [0]], sample=3)


def test_cdf_refuses_what_it_has_no_pairs_for():
    """Importance weights, bounds in the wrong order, the pooled meaning of gaps, and a single point."""
    with pytest.raises(cg.InputError, match="no sample_weight"):
        cg.consensus_cdf(cg.Ensemble([A, B], sample_weight=[1, 2, 1, 1, 1, 1]))
    with pytest.raises(cg.InputError, match=r"pac needs 0 ≤ lower < upper ≤ 1, not 0.9 and 0.1"):
        cg.Ensemble([A, B]).pac(0.9, 0.1)
    with pytest.raises(cg.InputError, match="pooled"):
        cg.consensus_cdf([A, B], missing="pooled")
    with pytest.raises(cg.InputError, match="no member labels any pair of points"):
        cg.consensus_cdf([[0], [1]])


def test_cdf_as_a_frame():
    """Columns: value, share, cumulative share up to 1."""
    frame = cg.consensus_cdf([A, B, C]).to_frame()
    assert list(frame.columns) == ["consensus", "share", "cumulative"]
    assert frame["cumulative"].iloc[-1] == close(1.0)


@pytest.mark.slow
@given(st.lists(several(gaps=True), min_size=1, max_size=3))
@settings(max_examples=25)
def test_delta_area(ensembles):
    """The area is 1 − the mean consensus, as that of the distribution; then its relative growth from k to k."""
    by_k = {k: partial(runs) for k, runs in enumerate(ensembles, 2)}
    try:
        areas = [e.cdf().area for e in by_k.values()]
    except cg.InputError:
        return  # an ensemble without any pair seen together
    found = cg.delta_area(dict(reversed(by_k.items())))
    assert list(found) == list(by_k)
    assert found[2] == pytest.approx(areas[0], abs=1e-9)
    for k, (before, now) in enumerate(pairwise(areas), 3):
        if before > 1e-9:
            assert found[k] == pytest.approx((now - before) / before, abs=1e-9)
        else:
            assert math.isnan(found[k])


def test_area_of_fuzzy_weighted_and_counted_members():
    """1 − the mean consensus in each case, without the matrix."""
    upper = np.triu_indices(6, 1)
    fuzzy = cg.Ensemble([np.array(U), A], member_weight=[1, 3])
    assert cg.delta_area({2: fuzzy})[2] == close(1 - fuzzy.consensus_matrix()[upper].mean())
    counted = cg.Ensemble([A, B], frequency=[1, 2, 0, 1, 1, 3])
    assert cg.delta_area({2: counted})[2] == close(counted.cdf().area)


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
    """n points, as many members as asked, k from 2 to kmax, the same for the same seed; invalid arguments are refused."""
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


def test_a_large_ensemble_needs_no_matrix(monkeypatch):
    """100,000 points: all measures of two ensembles from tables, where the matrix would have 10¹⁰ entries."""
    monkeypatch.setattr(matrices, "tile_sums", None)
    p, q = cg.random_partitions(100_000, 4, 5, random_state=1), cg.random_partitions(100_000, 3, 5, random_state=2)
    found = cg.compare(p, q)
    assert abs(found["arimm"]) < 1e-3
    assert abs(found["sms"]) < 1e-3
    assert found["kas"] > 0.5
    assert cg.kas(p, p) == cg.nsf(p, p) == cg.sms(p, p) == 1.0
    assert cg.certainty(p) == close(cg.arimm(p, p))
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
    """'position' compares frames with other indexes by position, 'index' is refused with what to do."""
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"a": A, "b": B})
    moved = frame.set_axis(range(10, 10 + len(frame)))
    e = cg.Ensemble(frame)
    assert cg.compare(e, cg.Ensemble(moved), "kas", align="position")["kas"] == 1.0
    with pytest.raises(cg.InputError, match="reindex the frames"):
        cg.compare(e, cg.Ensemble(moved), "kas", align="index")


def test_self_values_count_gaps_as_their_measure_does():
    """Measures that count gaps differently have self-values of their own."""
    e = cg.Ensemble([[0, 0, 1, 1, None, 0], [0, 1, 1, None, 2, 0], [0, 0, 1, 2, 2, 2]], unassigned="partial")
    measures = [cg.measure("arimm", missing="plain"), cg.measure("kas", missing="ratio")]
    for order in (measures, measures[::-1]):
        own = cg.compare(e, e, order).self_values[0]
        assert own["arimm"] == pytest.approx(cg.certainty(e, missing="plain"), rel=1e-12)
