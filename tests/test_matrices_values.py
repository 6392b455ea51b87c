"""Measures of matrices, compared with slow definitions and published values."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import naive_matrices as dense
import numpy as np
import pytest
from doors import ROUTES, close, on_route
from doors import matrices as by_matrices
from hypothesis import given, settings
from hypothesis import strategies as st
from matrices_cases import OF_TWO, coassociation, random_matrix, scores
from strategies import MOST_POINTS, clusterings, memberships, pairs, partitions, weights
from test_axioms import SIZES, mean_over_permutations

import congruence as cg
from congruence.engine import matrices, tiles
from congruence.statistics.matrices import MatrixSums

CASES = json.loads((Path(__file__).parent / "golden" / "golden.json").read_text())["cases"]


@contextmanager
def by_tiles(side: int = 3) -> Iterator[None]:
    """Ensembles are compared over pairs of points, in tiles of this size."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(matrices, "TABLE_COST", math.inf)
        patch.setattr(tiles, "SIDE", side)
        yield


@contextmanager
def by_tables() -> Iterator[None]:
    """Ensembles are compared by tables of their members."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(matrices, "TILE_COST", math.inf)
        yield


def numbers(s: MatrixSums) -> dict[str, float]:
    return {name: float(getattr(s, name)[0]) for name in MatrixSums.symbols}


# --- two partitions --------------------------------------------------------------------------------------------------


@pytest.mark.slow
@given(pairs())
@settings(max_examples=25)
def test_two_partitions_by_the_definition(ab):
    """Of label vectors the matrix measures are those of their co-association matrices, on every route of counting."""
    a, b = ab
    expected = {
        **dense.measures(coassociation(a), coassociation(b)),
        "anmi": dense.anmi([a], b),
        "pooled_ami": dense.pooled_ami([a], b),
    }
    keys = list(expected)
    for route in ROUTES:
        with on_route(route):
            assert dict(cg.compare(a, b, keys)) == close(expected), route
            every = cg.compare_all([a, b, a], keys, threads=1)
            assert {key: every[key][1, 2] for key in keys} == close(expected), route
            assert {key: every[key][0, 1] for key in keys} == close(expected), route
    every = cg.compare(a, b, "all")
    assert {key: every[key] for key in keys if key in every} == close({k: v for k, v in expected.items() if k in every})
    assert set(keys) - set(every) == {"nsf_printed"}
    assert dict(cg.compare(cg.Ensemble([a]), cg.Similarity(coassociation(b)), list(OF_TWO))) == close(
        {key: expected[key] for key in OF_TWO}
    )


@given(pairs())
def test_proposition_1(ab):
    """ari == arimp == arimm on labels and on co-association matrices."""
    a, b = ab
    expected = close(cg.ari(a, b))
    p, q = (cg.Similarity(coassociation(x)) for x in (a, b))
    assert [cg.arimp(p, b), cg.arimp(a, q), cg.arimm(p, q), cg.arimm(a, b), cg.arimp(a, b)] == [expected] * 5
    assert cg.arimm(cg.Ensemble([a]), cg.Ensemble([b])) == cg.arimm(cg.Ensemble([a, a]), cg.Ensemble([b])) == expected


@pytest.mark.parametrize("key", [*OF_TWO, "anmi", "pooled_ami"])
def test_declared_axioms(key):
    """symmetric, definite and triangle hold for all partitions of n ≤ 4 points where declared (NaN: undefined)."""
    m = cg.measure(key)
    assert m.is_symmetric
    assert "definite" in m.axioms
    for n in range(1, 5):
        values = by_matrices(partitions(n), [key])[key]
        assert values == close(values.T)
        own, others = np.diag(values), values[~np.eye(len(values), dtype=bool)]
        assert ((own == 1.0) | np.isnan(own)).all()
        assert ((others < 1 - 1e-3) | np.isnan(others)).all()
        low, high = m.range
        assert ((values >= low) & (values <= high) | np.isnan(values)).all()
        if key not in ("sms", "ssms"):
            assert not np.isnan(values).any()
        if "triangle" in m.axioms:
            d = 1 - values
            assert (d[:, None, :] <= d[:, :, None] + d[None, :, :] + 1e-12).all()


@pytest.mark.slow
def test_axioms_not_declared_are_false():
    """A counter-example for each: 1 − kas, arimm, sms and anmi break the triangle; kas, nsf, anmi have no zero."""
    declared = {key: cg.measure(key).axioms for key in (*OF_TWO, "anmi", "pooled_ami")}
    assert {key for key in declared if "triangle" in declared[key]} == {"nsf", "nsf_printed"}
    assert {key for key in declared if "baseline" in declared[key]} == {"arimp", "arimm"}
    every = partitions(4)
    for key in set(declared) - {"nsf", "nsf_printed"}:
        d = 1 - by_matrices(every, [key])[key]
        assert np.nanmax(d[:, None, :] - d[:, :, None] - d[None, :, :]) > 1e-3, key
    for key in ("kas", "nsf", "nsf_printed", "ssms", "anmi"):
        assert max(abs(mean_over_permutations(key, a, b)) for a, b in SIZES) > 0.1, key
    assert max(abs(mean_over_permutations("pooled_ami", a, b)) for a, b in SIZES) > 0.01  # chance only to first order


@pytest.mark.parametrize("key", ["arimp", "arimm"])
def test_declared_baseline(key):
    """The mean over all permutations of the points of one partition is 0."""
    for a, b in SIZES:
        assert mean_over_permutations(key, a, b) == pytest.approx(0, abs=1e-12), (a, b)


def test_sms_has_baseline_0_wherever_it_is_defined():
    """The permutation mean of the correlation is 0, but one that is undefined somewhere declares no baseline."""
    defined = [(a, b) for a, b in SIZES if not math.isnan(cg.sms(a, b))]
    assert 0 < len(defined) < len(SIZES)
    assert [mean_over_permutations("sms", a, b) for a, b in defined] == pytest.approx([0] * len(defined), abs=1e-12)


def test_undefined_correlations():
    """sms is NaN where a matrix is constant above the diagonal (any constant), and for fewer than three points."""
    other = random_matrix(20, 13)
    for value in [*np.linspace(0, 1, 41), 1 / 3, 0.1]:
        constant = np.full((20, 20), value)
        np.fill_diagonal(constant, 1)
        assert math.isnan(cg.sms(constant, other)), value
        assert math.isnan(cg.ssms(other, constant)), value
        assert math.isnan(cg.sms(constant, constant)), value
    assert math.isnan(cg.sms([0, 1], [0, 1]))
    assert math.isnan(cg.sms(np.eye(2), np.eye(2)))
    assert math.isnan(cg.sms([0, 0, 0, 0], [0, 0, 1, 1]))


# --- tables and tiles ------------------------------------------------------------------------------------------------


def members_of(n: int, soft: bool = False, gaps: bool = False) -> st.SearchStrategy[list[list[Any]]]:
    hard = clusterings(n, 4)
    if gaps:
        holes = st.lists(st.booleans(), min_size=n, max_size=n).filter(lambda h: not all(h))
        hard = st.tuples(hard, holes).map(lambda lh: [None if hole else x for x, hole in zip(*lh, strict=True)])
    kinds = st.one_of(hard, memberships(n)) if soft else hard
    return st.lists(kinds, min_size=1, max_size=4)


def two_ensembles(soft: bool = False, gaps: bool = False) -> st.SearchStrategy[tuple[list[Any], list[Any]]]:
    least = 2 if soft else 1
    return st.integers(least, MOST_POINTS - 3).flatmap(
        lambda n: st.tuples(members_of(n, soft, gaps), members_of(n, soft, gaps))
    )


def as_ensemble(members: list[Any], **options: Any) -> cg.Ensemble:
    made = [cg.Memberships(m) if isinstance(m[0], list) else m for m in members]
    return cg.Ensemble(made, unassigned="partial", **options)


@pytest.mark.slow
@given(two_ensembles())
def test_tables_and_tiles_of_complete_ensembles(pq):
    """The sums of two ensembles: tables and tiles give the same floats as the whole matrices."""
    p, q = pq
    expected = dense.sums(dense.consensus(p), dense.consensus(q))
    with by_tables():
        tables = numbers(matrices.sums_of(cg.Ensemble(p), cg.Ensemble(q)))
    with by_tiles():
        tiled = numbers(matrices.sums_of(cg.Ensemble(p), cg.Ensemble(q)))
    assert tables == tiled == close(expected)
    by_measure = {k: v for k, v in dense.measures(dense.consensus(p), dense.consensus(q)).items() if k != "arimp"}
    assert scores(cg.Ensemble(p), cg.Ensemble(q)) == close(by_measure)


@pytest.mark.slow
@given(two_ensembles(), st.data())
def test_weights_of_members_and_points(pq, data):
    """member_weight, sample_weight (scale does not matter) and frequency (a point twice) against the whole matrices."""
    p, q = pq
    n = len(p[0])
    a, b = (data.draw(weights(len(x))) for x in (p, q))
    by_member = dense.consensus(p, a), dense.consensus(q, b)
    first, second = as_ensemble(p, member_weight=a), as_ensemble(q, member_weight=b)
    assert numbers(matrices.sums_of(first, second)) == close(dense.sums(*by_member))
    with by_tiles():
        assert numbers(matrices.sums_of(first, cg.Similarity(by_member[1]))) == close(dense.sums(*by_member))

    w = data.draw(weights(n))
    expected = dense.sums(*by_member, w)
    for scale in (1, 1000):
        mass = [scale * x for x in w]
        one, two = (as_ensemble(x, member_weight=c, sample_weight=mass) for x, c in ((p, a), (q, b)))
        assert numbers(matrices.sums_of(one, two)) == close(expected)

    f = data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n).filter(any))
    repeated = [[[m[i] for i in range(n) for _ in range(f[i])] for m in members] for members in (p, q)]
    expected = dense.sums(dense.consensus(repeated[0], a), dense.consensus(repeated[1], b))
    counted = [as_ensemble(x, member_weight=c, frequency=f) for x, c in ((p, a), (q, b))]
    assert numbers(matrices.sums_of(*counted)) == close(expected)


@pytest.mark.slow
@given(two_ensembles(soft=True), st.data())
def test_fuzzy_ensembles(pq, data):
    """Members given by memberships, with labels among them, weighted or counted: the sums of the whole matrices."""
    p, q = pq
    n = len(p[0])
    a = data.draw(weights(len(p)))
    m, o = dense.consensus(p, a), dense.consensus(q)
    expected = dense.sums(m, o)
    assert numbers(matrices.sums_of(as_ensemble(p, member_weight=a), as_ensemble(q))) == close(expected)
    assert cg.consensus_matrix(as_ensemble(p, member_weight=a)) == close(m)
    w = data.draw(weights(n))
    weighed = [as_ensemble(x, member_weight=c, sample_weight=w) for x, c in ((p, a), (q, None))]
    assert numbers(matrices.sums_of(*weighed)) == close(dense.sums(m, o, w))
    f = data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n).filter(any))
    repeated = [[[x[i] for i in range(n) for _ in range(f[i])] for x in members] for members in (p, q)]
    counted = [as_ensemble(x, member_weight=c, frequency=f) for x, c in ((p, a), (q, None))]
    expected = dense.sums(dense.consensus(repeated[0], a), dense.consensus(repeated[1]))
    assert numbers(matrices.sums_of(*counted)) == close(expected)


@pytest.mark.slow
@settings(max_examples=20)
@given(two_ensembles(gaps=True), st.data())
def test_partial_ensembles(pq, data):
    """Ratio and plain against the whole matrices, pooled against loops over members: by patterns, tables and tiles."""
    p, q = pq
    a, b = ([x + 1 / 8 for x in data.draw(weights(len(e)))] for e in (p, q))
    w = data.draw(weights(len(p[0])))
    shares = [[x / sum(c) for x in c] for c in (a, b)]
    first, second = as_ensemble(p, member_weight=a), as_ensemble(q, member_weight=b)
    pooled = numbers(matrices.sums_of(first, second, missing="pooled"))
    assert {k: pooled[k] for k in ("pairs", "s_p", "s_q", "s_pq")} == close(dense.pooled_sums(p, q, *shares))
    for missing in ("ratio", "plain"):
        m, o = dense.consensus(p, a, missing), dense.consensus(q, b, missing)
        expected = dense.sums(m, o)
        assert numbers(matrices.sums_of(first, second, missing=missing)) == close(expected)
        with by_tiles():
            read = [tiles.tiles_of(e, missing) for e in (first, second)]
            assert numbers(tiles.tile_sums(*read)) == close(expected)
        weighed = [as_ensemble(x, member_weight=c, sample_weight=w) for x, c in ((p, a), (q, b))]
        assert numbers(matrices.sums_of(*weighed, missing=missing)) == close(dense.sums(m, o, w))


@pytest.mark.slow
@settings(max_examples=20)
@given(two_ensembles(gaps=True), st.data())
def test_counted_points_of_partial_ensembles(pq, data):
    """frequency of a partial ensemble is the same as repeating its points, under every way to count gaps."""
    p, q = pq
    n = len(p[0])
    f = data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n).filter(any))
    repeated = [[[m[i] for i in range(n) for _ in range(f[i])] for m in members] for members in (p, q)]
    counted = [as_ensemble(x, frequency=f) for x in (p, q)]
    for missing in ("ratio", "plain", "pooled"):
        expected = numbers(matrices.sums_of(*(as_ensemble(x) for x in repeated), missing=missing))
        assert numbers(matrices.sums_of(*counted, missing=missing)) == close(expected), missing


@pytest.mark.slow
@given(two_ensembles(soft=True, gaps=True))
@settings(max_examples=25)
def test_memberships_beside_members_with_gaps(pq):
    """An ensemble may have fuzzy and partial members: ratio and plain as the definition, pooled refused."""
    p, q = (as_ensemble(x) for x in pq)
    for missing in ("ratio", "plain"):
        m, o = (dense.consensus(x, missing=missing) for x in pq)
        assert numbers(matrices.sums_of(p, q, missing=missing)) == close(dense.sums(m, o))
        assert cg.consensus_matrix(p, missing=missing) == close(m)
    if (p.is_soft or q.is_soft) and (p.has_gaps or q.has_gaps):
        with pytest.raises(cg.InputError, match="pooled"):
            cg.arimm(p, q, missing="pooled")


def test_many_members_of_few_points_go_by_tiles(monkeypatch):
    """With L ≫ n the pass over pairs of points is chosen automatically, and gives the same floats as the tables."""
    p, q = cg.random_partitions(12, 150, 4, random_state=1), cg.random_partitions(12, 100, 3, random_state=2)
    taken = []
    tile_sums = tiles.tile_sums
    monkeypatch.setattr(matrices, "tile_sums", lambda *x: taken.append(1) or tile_sums(*x))
    found = scores(p, q)
    assert taken
    taken.clear()
    with by_tables():
        assert scores(p, q) == found
    assert not taken
    big, few = cg.random_partitions(3000, 2, 4, random_state=3), cg.random_partitions(3000, 3, 4, random_state=4)
    scores(big, few)
    assert not taken


@pytest.mark.parametrize("route", list(ROUTES))
def test_compiled_tiles_count_the_same(route):
    """The compiled kernels of agreement and of tables give the floats of numpy."""
    p, q = cg.random_partitions(60, 9, 5, random_state=5), cg.random_partitions(60, 4, 3, random_state=6)
    expected = dense.measures(*(dense.consensus([m.codes.tolist() for m in e]) for e in (p, q)))
    expected.pop("arimp")
    with on_route(route):
        with by_tiles(16):
            tiles = scores(p, q)
            assert scores(p, p, ("kas", "nsf", "sms")) == {"kas": 1.0, "nsf": 1.0, "sms": 1.0}
        with by_tables():
            assert scores(p, q) == tiles == close(expected)


def test_a_pass_of_hours_is_refused(monkeypatch):
    """A pass over too many pairs of points is refused beforehand, with its length and what to do instead."""
    monkeypatch.setattr(matrices, "PAIR_LIMIT", 10)
    with pytest.raises(cg.InputError, match=r"66 pairs of points \(.* hours\); use complete members"):
        cg.arimm(np.eye(12), cg.Ensemble([[0] * 12]))


# --- golden.json -----------------------------------------------------------------------------------------------------


ASYMMETRIC = {"000_toy_M1_M2_as_printed", "rand_matrix_10", "rand_matrix_11"}
NAMES = {"arimm": "arimm", "nsf_printed": "nsf_printed", "nsf_unit": "nsf", "kas": "kas", "sms": "sms", "ssms": "ssms"}


def cases(kind: str) -> list[Any]:
    return [pytest.param(case, id=case["id"]) for case in CASES if case["kind"] == kind]


@pytest.mark.parametrize("case", cases("matrix"))
def test_golden_matrices(case):
    """The papers' matrices; asymmetric ones are refused; 0/0 of arimm is 1 if both are the same constant."""
    a, b = (np.array(case["inputs"][x], dtype=float) for x in "AB")
    expected = case["expected"]
    assert set(expected) == {*NAMES, "arimm_AA", "arimm_BB", "nsf_msq"}
    if case["id"] in ASYMMETRIC:
        with pytest.raises(cg.InputError, match="not symmetric: entries"):
            cg.arimm(a, b)
        return
    fill = {"arimm": 1.0, "sms": math.nan, "ssms": math.nan}
    values = {key: fill[key] if expected[name] is None else expected[name] for name, key in NAMES.items()}
    assert scores(a, b) == close(values)
    own = {x: 1.0 if expected[f"arimm_{x}{x}"] is None else expected[f"arimm_{x}{x}"] for x in "AB"}
    assert (cg.certainty(a), cg.certainty(b)) == (close(own["A"]), close(own["B"]))
    assert cg.arimm(a, a) == close(own["A"])
    assert (1 - cg.nsf(a, b)) ** 2 == close(1 - expected["nsf_msq"])


@pytest.mark.parametrize("case", cases("ensemble"))
def test_golden_ensembles(case):
    """arimp, certainty, anmi, pnmi as printed and as a mean, consensus indices and the consensus matrix."""
    parts, q, expected = case["inputs"]["parts"], case["inputs"]["q"], case["expected"]
    e = cg.Ensemble(parts)
    assert cg.arimp(e, q) == e.arimp(q) == close(expected["arimp"])
    assert cg.certainty(e) == e.certainty() == close(expected["arimm_self"]) == close(1 - e.uncertainty())
    assert cg.arimm(e, e) == close(expected["arimm_self"])
    assert cg.anmi(e, q) == e.anmi(q) == close(expected["anmi_sqrt"])
    assert cg.pnmi_sum(e) == close(expected["pnmi_eq7_sum"])
    assert cg.compare_to(q, e, "ari")["ari"].mean() == close(expected["mean_ari"])
    assert e.consensus_matrix() == close(np.array(expected["consensus"]))
    if len(parts) == 1:
        assert math.isnan(cg.pnmi(e))
        with pytest.raises(cg.InputError, match="only one member"):
            e.consensus_index()
        return
    assert cg.pnmi(e) == e.pnmi() == close(expected["pnmi_mean"])
    for name, key in (("ci_nmi_sum", "nmi_sum"), ("ci_vi", "vi"), ("ci_ari", "ari")):
        assert cg.consensus_index(e, key) == close(expected[name])


@pytest.mark.parametrize("case", cases("formula"))
def test_golden_baseline_of_certainty(case):
    """Eq. 35: the certainty that random members have on average."""
    assert cg.certainty_random(case["inputs"]["kmax"], case["inputs"]["L"]) == close(case["expected"]["eq35"])


HARD = {**NAMES, "arimp_Ma_b": "arimp", "arimp_Mb_a": "arimp"}


@pytest.mark.parametrize("case", [case for case in cases("hard") if "kas" in case.values[0]["expected"]])
def test_golden_matrix_measures_of_labels(case):
    """The matrix measures of the papers' label vectors."""
    a, b, expected = case["inputs"]["a"], case["inputs"]["b"], case["expected"]
    expected = {**expected, **case.get("expected_with_convention", {})}
    found = cg.compare(a, b, list(OF_TWO))
    for name, key in HARD.items():
        if expected[name] is not None:
            assert found[key] == close(expected[name]), name
        elif key in ("sms", "ssms"):
            assert math.isnan(found[key]), name


def test_random_partitions_reach_the_baseline():
    """certainty of random members is near certainty_random, on both sides of it: a mean, not a bound."""
    values = [cg.certainty(cg.random_partitions(300, 10, 6, random_state=seed)) for seed in range(20)]
    expected = cg.certainty_random(6, 10)
    assert np.mean(values) == pytest.approx(expected, rel=0.03)
    assert min(values) < expected < max(values)
