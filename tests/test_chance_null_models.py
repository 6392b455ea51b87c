"""Null models, and permutation tests of memberships, weighted points, matrices and ensembles."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction
from functools import lru_cache

import naive
import naive_matrices
import numpy as np
import pytest
from chance_cases import (
    LARGE,
    NOISY,
    RNG,
    SIDES,
    SOFT_A,
    SOFT_B,
    A,
    B,
    all_orders,
    as_good,
    close,
    near,
)
from scipy import stats

import congruence as cg
from congruence.chance import null_models


@lru_cache
def all_partitions(n):
    """Every partition of n points, as labels."""
    found = [(0,)]
    for _ in range(n - 1):
        found = [(*labels, new) for labels in found for new in range(max(labels) + 2)]
    return found


# --- the null models of Gates and Ahn --------------------------------------------------------------------------------


MODELS = [("n_clusters", "two"), ("n_clusters", "one"), ("all", "two"), ("all", "one")]


def drawn_from(null, sided, a, b):
    """All pairs of partitions that the model draws from, equally likely."""
    pools = []
    for own, is_free in ((a, sided == "two"), (b, True)):
        pool = all_partitions(len(own)) if is_free else [own]
        pools.append([x for x in pool if null == "all" or not is_free or len(set(x)) == len(set(own))])
    return itertools.product(*pools)


@pytest.mark.parametrize(("null", "sided"), MODELS)
@pytest.mark.parametrize(
    "key", ["rand", "mirkin", "wallace_ab", "mi", "vi", "homogeneity", "jaccard", "nmi_sum", "ari"]
)
def test_null_models_against_all_partitions(key, null, sided):
    """Expectations are the means over all partitions of four points, exactly if they claim to be exact."""
    a, b = (0, 0, 1, 1), (0, 0, 1, 2)
    values = np.array([naive.MEASURES[key](x, y) for x, y in drawn_from(null, sided, a, b)])
    m = cg.adjusted(key, null, sided=sided)
    e = m.expectation(a, b)
    assert e.is_exact == (
        key in ("rand", "mirkin", "mi", "vi") or (key in ("wallace_ab", "homogeneity") and sided == "one")
    )
    assert e.value == close(values.mean()) if e.is_exact else abs(e.value - values.mean()) < 4 * e.standard_error
    value = naive.MEASURES[key](a, b)
    best = (
        max(naive.entropy(map(Fraction, (2, 2))), naive.entropy(map(Fraction, (2, 1, 1))))
        if key == "mi"
        else m.base.best
    )
    assert m(a, b) == close((value - e.value) / (best - e.value))
    r = cg.permutation_test(a, b, key, 1000, 1, null=null, sided=sided)
    assert near(r.p_value, as_good(key, values, value), 1000)
    assert r.expected == close(e.value) if e.is_exact else True
    assert ("a fixed" in r.null) == (sided == "one")


def test_known_values_of_clusim():
    """Expected Rand and mutual information of clusim's tests (there the second clustering is the fixed one)."""
    a, b = [0, 1, 1, 1], [0, 0, 1, 1]
    rand = {"permutation": (0.5, 0.5), "n_clusters": (0.510204081632653, 0.5), "all": (0.555555555555556, 0.5)}
    bits = {
        "permutation": (0.311278124459133,) * 2,
        "n_clusters": (0.309927805548467, 0.301825892084476),
        "all": (0.611635721962606, 0.419448541053684),
    }
    for null in rand:
        for place, sided in enumerate(("two", "one") if null != "permutation" else ("two",)):
            assert cg.adjusted("rand", null, sided=sided).expectation(a, b).value == pytest.approx(
                rand[null][place], rel=1e-12
            )
            information = cg.adjusted("mi", null, sided=sided).expectation(a, b).value / math.log(2)
            assert information == pytest.approx(bits[null][place], rel=1e-12)
    c1, c2 = [0, 1, 1, 0, 2, 1], [0, 1, 1, 0, 2, 2]
    wanted = {
        ("n_clusters", "two"): 0.5015384615384617, ("n_clusters", "one"): 0.45454545454545453,
        ("all", "two"): 0.4751782985226697, ("all", "one"): 0.43454038997214506,
    }  # fmt: skip
    for (null, sided), value in wanted.items():
        assert cg.adjusted("rand", null, sided=sided)(c2, c1) == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize("k", [None, 1, 2, 3, 5, 6, 7])
def test_random_partitions_are_uniform(k):
    """Sizes are drawn as all partitions of seven points have them, and their means are exact."""
    pool = [p for p in all_partitions(7) if k is None or len(set(p)) == k]
    counted = Counter(tuple(sorted(Counter(p).values(), reverse=True)) for p in pool)
    drawn = null_models.random_sizes(np.random.default_rng(0), 7, k, 10_000)
    found = Counter(tuple(x for x in line if x) for line in drawn.tolist())
    assert set(found) <= set(counted)
    if len(counted) > 1:
        shares = np.array(list(counted.values())) / len(pool)
        assert stats.chisquare([found[s] for s in counted], 10_000 * shares).pvalue > 0.01
    pairs = np.mean([sum(x * (x - 1) for x in Counter(p).values()) for p in pool]) / 42
    assert null_models.together(7, k) == pytest.approx(pairs, rel=1e-12)
    sizes, many = null_models.expected_blocks(7, k)
    for size, count in zip(sizes.tolist(), many.tolist(), strict=True):
        assert count == pytest.approx(np.mean([list(Counter(p).values()).count(size) for p in pool]), rel=1e-10)


@pytest.mark.parametrize(("n", "k"), [(5000, 8), (300, 290), (5000, None), (400, 150)])
def test_random_partitions_of_many_points(n, k):
    """Sizes add up, none is empty, and pairs are together as often as the exact probability says."""
    sizes = null_models.random_sizes(np.random.default_rng(0), n, k, 400)
    assert (sizes.sum(axis=1) == n).all()
    assert k is None or ((sizes > 0).sum(axis=1) == k).all()
    share = (sizes * (sizes - 1.0)).sum(axis=1) / (n * (n - 1))
    assert abs(share.mean() - null_models.together(n, k)) < 4 * share.std() / 20
    blocks, many = null_models.expected_blocks(n, k)
    assert (many * blocks * (blocks - 1)).sum() / (n * (n - 1)) == pytest.approx(null_models.together(n, k), rel=1e-8)


# --- memberships, weights, gaps --------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", ["ari", "rand", "ari_gram", "jaccard", "nmi_sum", "vi", "accuracy", "element_centric"])
def test_memberships_against_all_permutations(key):
    """Rows of memberships are permuted; means are exact for measures affine in Σn²."""
    rows = [SOFT_B[list(order)].tolist() for order in itertools.permutations(range(5))]
    values = np.array([naive.SOFT[key](SOFT_A.tolist(), r) for r in rows])
    r = cg.permutation_test(SOFT_A, SOFT_B, key, 600, 0)
    assert r.is_exact == (key in ("ari", "rand", "ari_gram"))
    if r.is_exact:
        assert r.expected == pytest.approx(values.mean(), rel=1e-9, abs=1e-12)
    else:
        assert abs(r.expected - values.mean()) < 4 * r.standard_error
    if key == "ari_gram":
        assert r.expected == 0
        assert r.standard_deviation == pytest.approx(values.std(), rel=1e-9)
    assert near(r.p_value, as_good(key, values, r.value), 600)


def test_the_mean_of_the_soft_ari_is_not_zero():
    """Of Dirichlet(1) memberships of thirty points it is clearly below 0, and exact; the Gram form is centred."""
    rng = np.random.default_rng(0)
    u, v = rng.dirichlet(np.ones(3), 30), rng.dirichlet(np.ones(3), 30)
    soft = cg.permutation_test(u, v, "ari", 300, 0)
    assert soft.is_exact
    assert soft.expected < -0.04
    assert abs(soft.draws.mean() - soft.expected) < 4 * soft.draws.std() / math.sqrt(300)
    assert cg.permutation_test(u, v, "ari_gram", 10, 0).expected == 0


def test_possibilistic_memberships_have_no_closed_form():
    """If rows do not add up to 1, the scale of the table changes with every draw, so the mean comes from the draws."""
    assert not cg.permutation_test(SOFT_A * RNG.uniform(0.3, 1, (5, 1)), SOFT_B, "ari", 50, 0).is_exact


def test_crisp_memberships_are_labels():
    """Memberships of 0 and 1 have the exact numbers of their labels."""
    hard, soft = (cg.permutation_test(a, B, "ari", 400, 0) for a in (A, np.eye(3)[list(A)]))
    assert (soft.value, soft.expected) == (close(hard.value), close(hard.expected))
    gram = cg.permutation_test(np.eye(3)[list(A)], B, "ari_gram", 10, 0)
    assert gram.standard_deviation == close(hard.standard_deviation)
    assert soft.p_value == pytest.approx(hard.p_value, abs=0.1)


def test_weights_stay_with_their_points():
    """The labels of b are permuted over weighted points: the draws are those of all orders."""
    a, b, w = A[:6], (0, 0, 1, 1, 1, 2), [1, 2, 0.5, 3, 1, 1]
    values = np.array([cg.ari(a, order, sample_weight=w) for order in all_orders(b)])
    r = cg.permutation_test(a, b, "ari", 800, 0, sample_weight=w)
    assert not r.is_exact
    assert abs(r.expected - values.mean()) < 4 * r.standard_error
    assert near(r.p_value, as_good("ari", values, r.value), 800)
    assert r.standard_deviation == pytest.approx(values.std(), rel=0.1)


def test_frequency_is_repetition():
    """A point counted twice is two points, hard or soft."""
    counts = [2, 1, 3, 0, 1, 2, 1]
    place = np.repeat(np.arange(7), counts)
    for a in (np.array(A), np.eye(3)[list(A)] * 0.8 + 0.2 / 3):
        counted = cg.permutation_test(a, B, "ari", 200, 3, frequency=counts)
        repeated = cg.permutation_test(a[place], np.array(B)[place], "ari", 200, 3)
        assert np.allclose(counted.draws, repeated.draws)
        assert counted.expected == close(repeated.expected)
        assert (counted.n_points, counted.p_value) == (10, repeated.p_value)


def test_frequency_of_an_ensemble_is_repetition():
    """Copies of a point are permuted separately, also for ensembles: the expected value is 0."""
    counts = [2, 1, 3, 0, 1, 2, 1]
    place = np.repeat(np.arange(7), counts)
    runs = [np.array(A), np.array(B), np.array(A)[::-1]]
    counted = cg.permutation_test(cg.Ensemble(runs, frequency=counts), B, "arimp", 200, 3)
    repeated = cg.permutation_test(cg.Ensemble([run[place] for run in runs]), np.array(B)[place], "arimp", 200, 3)
    assert (counted.value, counted.expected, counted.n_points) == (close(repeated.value), 0.0, 10)
    assert np.allclose(counted.draws, repeated.draws)
    many = np.repeat(np.arange(7), 5)
    interval = cg.confidence_interval(
        cg.Ensemble([run[many] for run in runs], frequency=np.full(35, 2)), np.array(B)[many], "arimp", random_state=0,
        n_resamples=50,
    )  # fmt: skip
    assert interval.n_points == 70
    with pytest.raises(cg.InputError, match="point by point"):
        cg.permutation_test(cg.Ensemble(runs, frequency=[10**8] * 7), B, "arimp")


@pytest.mark.parametrize("weighted", [False, True])
def test_points_without_a_label_are_left_out_of_the_draws(weighted):
    """unassigned="drop" tests the points both have; noise is unassigned."""
    a, b = [*A, 0, None, 1], [*B, -1, 1, None]
    weights = {"sample_weight": np.arange(1, 11)} if weighted else {}
    kept = {"sample_weight": np.arange(1, 8)} if weighted else {}
    r = cg.permutation_test(a, b, "ari", 100, 0, unassigned="drop", noise=-1, **weights)
    plain = cg.permutation_test(A, B, "ari", 100, 0, **kept)
    assert (r.n_points, r.p_value, r.expected) == (7, plain.p_value, close(plain.expected))
    with pytest.raises(cg.InputError, match="unassigned"):
        cg.permutation_test(a, b, "ari")


def test_points_without_a_label_are_left_out_of_the_draws_of_an_ensemble():
    """Points dropped by unassigned="drop" are not permuted either."""
    runs = np.array([A, B, A[::-1]])
    more = cg.Ensemble(list(np.hstack([runs, [[0, 1], [1, 1], [0, 0]]])))
    r = cg.permutation_test(more, [*B, None, None], "arimp", 100, 0, unassigned="drop")
    plain = cg.permutation_test(cg.Ensemble(list(runs)), B, "arimp", 100, 0)
    assert (r.n_points, r.expected, r.value) == (7, 0.0, close(plain.value))
    assert np.allclose(r.draws, plain.draws)


# --- matrices and ensembles ------------------------------------------------------------------------------------------


def dense(x):
    if isinstance(x, cg.Similarity):
        return x.matrix.toarray() if x.is_sparse else x.matrix
    return naive_matrices.consensus([c.codes.tolist() for c in x] if isinstance(x, cg.Ensemble) else [x])


@lru_cache
def naive_matrix_values(sides):
    """The measures of both sides with the points of one permuted in every way, by naive code."""
    left, right = map(dense, SIDES[sides][:2])
    return [naive_matrices.measures(left, right[np.ix_(o, o)]) for o in itertools.permutations(range(6))]


@pytest.mark.slow
@pytest.mark.parametrize("key", ["arimm", "kas", "nsf", "sms"])
@pytest.mark.parametrize("sides", SIDES)
def test_matrices_against_all_permutations(sides, key):
    """Rows and columns of one side are permuted together; means and deviations are exact where affine in Σ PQ."""
    p, q, _ = SIDES[sides]
    left, right = dense(p), dense(q)
    values = np.array([found[key] for found in naive_matrix_values(sides)])
    r = cg.permutation_test(p, q, key, 500, 0)
    assert r.value == close(values[0])
    same_diagonal = min(np.ptp(np.diag(left)), np.ptp(np.diag(right))) == 0
    assert r.is_exact == (key != "nsf" and same_diagonal)
    if r.is_exact:
        assert r.expected == pytest.approx(values.mean(), rel=1e-9, abs=1e-12)
        assert r.standard_deviation == pytest.approx(values.std(), rel=1e-9)
    assert abs(r.draws.mean() - values.mean()) < 4 * values.std() / math.sqrt(500)
    assert set(np.round(r.draws, 8)) <= set(np.round(values, 8))
    assert near(r.p_value, as_good(key, values, r.value), 500)


@pytest.mark.slow
def test_other_ensembles():
    """Weighted members, memberships, weighted points, gaps and anmi take different routes to the same distribution."""
    rng = np.random.default_rng(0)
    a, b = LARGE[:40], NOISY[:40]
    weighted = cg.Ensemble([a, b], member_weight=[1, 3])
    r = cg.permutation_test(weighted, a, "arimm", 200, 0)
    matrix = cg.permutation_test(cg.Similarity(weighted.consensus_matrix()), a, "arimm", 200, 0)
    assert np.allclose(r.draws, matrix.draws)
    assert (r.expected, r.standard_deviation) == (0, close(matrix.standard_deviation))
    soft = cg.Ensemble([rng.dirichlet([1, 1], 40), np.eye(4)[b] * 0.9 + 0.025])
    r = cg.permutation_test(soft, a, "arimp", 200, 0)
    assert abs(r.draws.mean()) < 4 * r.standard_deviation / math.sqrt(200)
    assert r.draws.std() == pytest.approx(r.standard_deviation, rel=0.2)
    heavy = cg.Ensemble([a, b], sample_weight=rng.random(40))
    assert not cg.permutation_test(heavy, a, "arimp", 30, 0).is_exact
    gaps = [[None if rng.random() < 0.2 else int(x) for x in a] for _ in range(3)]
    partial = cg.Ensemble(gaps, unassigned="partial")
    r = cg.permutation_test(partial, a, "arimp", 40, 0)
    assert r.p_value == 1 / 41
    assert abs(r.expected) < 0.05
    assert cg.permutation_test(cg.Ensemble([a, b]), b, "anmi", 40, 0).p_value == 1 / 41
    assert (
        cg.permutation_test(b, cg.Similarity(partial.consensus_matrix(missing="plain")), "arimp", 40, 0).p_value
        == 1 / 41
    )
