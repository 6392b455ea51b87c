"""Chance: permutation tests, adjusted measures and intervals, compared with exhaustive enumeration."""

from __future__ import annotations

import itertools
import json
import math
import pickle
import sys
from collections import Counter
from fractions import Fraction
from functools import lru_cache

import naive
import naive_matrices
import numpy as np
import pandas as pd
import pytest
from doors import KEYS
from scipy import sparse, stats
from sklearn.metrics import mutual_info_score
from sklearn.metrics.cluster import contingency_matrix, expected_mutual_information

import congruence as cg
from congruence import cli
from congruence.chance import alongside, draws, many_tests, null_models, permutation
from congruence.chance.moments import Moments, subgraphs

A, B = (0, 0, 0, 1, 1, 2, 2), (0, 0, 1, 1, 1, 1, 2)
#: two clusterings that agree somewhat, of enough points for intervals and continuous p-values
RNG = np.random.default_rng(7)
LARGE = RNG.integers(0, 4, 300)
NOISY = np.where(RNG.random(300) < 0.5, LARGE, RNG.integers(0, 4, 300))


def close(value):
    return pytest.approx(value, rel=1e-10, abs=1e-12)


@lru_cache
def all_orders(b):
    """Every different order of the labels; each comes from the same number of permutations."""
    return sorted(set(itertools.permutations(b)))


@lru_cache
def all_partitions(n):
    """Every partition of n points, as labels."""
    found = [(0,)]
    for _ in range(n - 1):
        found = [(*labels, new) for labels in found for new in range(max(labels) + 2)]
    return found


@lru_cache
def naive_values(key):
    """The measure of A and every order of B, by naive code."""
    return np.array([naive.MEASURES[key](A, order) for order in all_orders(B)])


def as_good(key, values, value):
    """Share of the values as good as this one or better."""
    sign = 1 if cg.measure(key).better == "higher" else -1
    return float(np.mean(sign * np.array(values) >= sign * value - 1e-10))


def near(share, true, draws):
    """Within four standard errors of a share."""
    return abs(share - true) <= 4 * math.sqrt(true * (1 - true) / draws) + 2 / draws


# --- permutations -----------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("key", KEYS)
def test_every_measure_against_all_permutations(key):
    """Mean, deviation and p-values are those of all permutations of seven points, by naive code."""
    values = naive_values(key)
    value = naive.MEASURES[key](A, B)
    r = cg.permutation_test(A, B, key, 1000, random_state=1)
    assert r.value == close(value)
    if r.is_exact:
        assert r.expected == close(values.mean())
        assert r.standard_error == 0
    else:
        assert abs(r.expected - values.mean()) < 4 * r.standard_error
    if r.is_deviation_exact:
        assert r.standard_deviation == close(values.std())
    else:
        assert r.standard_deviation == pytest.approx(values.std(), rel=0.15)
    better, worse = as_good(key, values, value), as_good(key, -values, -value)
    assert near(r.p_value, better, 1000)
    assert near(r.p_two_sided / 2, min(better, worse, 0.5), 1000)
    assert set(np.round(r.draws, 9)) <= set(np.round(values, 9))


def test_which_means_are_exact():
    """Measures affine in Σn², and those affine in the mutual information, need no draws for their mean."""
    methods = {key: cg.permutation_test(A, B, key, 10, random_state=0).method for key in KEYS}
    counted = {key for key, how in methods.items() if how == "closed form"}
    informed = {key for key, how in methods.items() if how == "expected mutual information"}
    assert counted == {"rand", "ari", "ari_gram", "wallace", "wallace_ab", "wallace_ba", "mirkin", "dice", "hubert"}
    assert informed == {
        "mi", "nmi_max", "nmi_sum", "nmi_sqrt", "nmi_min", "vi", "homogeneity", "completeness", "v_measure",
        "ami_max", "ami_sum", "ami_sqrt", "ami_min",
    }  # fmt: skip
    assert all(how == "mean of 10 draws" for key, how in methods.items() if key not in counted | informed)
    assert cg.permutation_test(A, B, cg.measure("v_measure", beta=3)).is_exact


def test_expected_information_is_that_of_scikit_learn():
    """E[MI] agrees with scikit-learn's on random labels."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        n = int(rng.integers(5, 200))
        a, b = rng.integers(0, rng.integers(1, 12), n), rng.integers(0, rng.integers(1, 12), n)
        wanted = expected_mutual_information(contingency_matrix(a, b, sparse=True), n)
        r = cg.permutation_test(a, b, "mi", 1, random_state=0)
        assert r.expected == pytest.approx(wanted, rel=1e-9, abs=1e-12)
        assert r.value == pytest.approx(mutual_info_score(a, b), abs=1e-12)


@pytest.mark.parametrize("key", ["rand", "ari", "dice", "mirkin"])
def test_z_scores_of_the_literature(key):
    """The z-score of every measure affine in Σn² is zRand (netneurotools) and Lerman's (partitionComparison)."""
    sign = 1 if cg.measure(key).better == "higher" else -1

    def z(a, b):
        return sign * cg.permutation_test(a, b, key, 1, random_state=0).z

    x, y = np.repeat([0, 1], 100), np.repeat([1, 0], 100)
    assert z(x, y) == pytest.approx(140.356688476182, rel=1e-9)
    x, y = [0, 0, 0, 1, 1, 1, 2, 1, 1, 2, 0], [2, 0, 3, 3, 1, 0, 2, 1, 3, 1, 2]
    assert z(x, y) == pytest.approx(-0.06593804733957866, rel=1e-9)
    p, q, r, s = [0, 0, 1, 1, 1], [0, 0, 0, 1, 1], [0, 0, 1, 0, 0], [0, 0, 1, 2, 2]
    wanted = {(0, 1): 2 * 21**0.5 / 21, (0, 2): -(6**0.5) / 3, (0, 3): 3 * 14**0.5 / 7, (2, 3): 2}
    for (i, j), value in wanted.items():
        assert z((p, q, r, s)[i], (p, q, r, s)[j]) == pytest.approx(value, rel=1e-9)


@pytest.mark.slow
def test_p_values_are_uniform_under_the_null():
    """Independent clusterings give every p-value equally often, for hard, soft and weighted points; none too small."""
    rng = np.random.default_rng(3)
    found = {"ari": [], "accuracy": [], "soft": [], "weighted": []}
    for i in range(60):
        a, b = rng.integers(0, 5, 150), rng.integers(0, 4, 150)
        u, w = rng.dirichlet(np.ones(3), 40), rng.random(150)
        found["ari"].append(cg.permutation_test(a, b, "ari", 99, i).p_value)
        found["accuracy"].append(cg.permutation_test(a, b, "accuracy", 39, i).p_value)
        found["soft"].append(cg.permutation_test(u, a[:40], "ari_gram", 39, i).p_value)
        found["weighted"].append(cg.permutation_test(a, b, "ari", 39, i, sample_weight=w).p_value)
    for name in ("ari", "soft", "weighted"):
        assert stats.kstest(found[name], "uniform").pvalue > 0.01, name
    for name, values in found.items():  # accuracy has ties: its p-values may only be too large
        for level in (0.05, 0.1, 0.25, 0.5):
            assert np.mean(np.array(values) <= level) <= level + 3 * math.sqrt(level * (1 - level) / 60), name


@pytest.mark.slow
def test_p_values_under_stopping_are_valid():
    """Draws that stop after a number of hits give p = hits / draws, and small p-values are not too frequent."""
    rng = np.random.default_rng(4)
    values = []
    for i in range(100):
        r = cg.permutation_test(rng.integers(0, 5, 150), rng.integers(0, 4, 150), "ari", 200, i, stop_after=5)
        values.append(r.p_value)
    for level in (0.05, 0.1, 0.25, 0.5):
        assert np.mean(np.array(values) <= level) <= level + 3 * math.sqrt(level * (1 - level) / 100)


def test_sequential_stopping():
    """Stopping truncates the same draws at the last hit; with too few hits it changes nothing."""
    whole = cg.permutation_test(A, B, "ari", 500, 0)
    part = cg.permutation_test(A, B, "ari", 500, 0, stop_after=7)
    assert part.is_stopped
    assert np.array_equal(part.draws, whole.draws[: part.n_permutations])
    hits = part.draws >= part.value - 1e-9
    assert hits.sum() == 7
    assert hits[-1]
    assert part.p_value == 7 / part.n_permutations
    assert part.p_interval[0] < part.p_value < part.p_interval[1]
    assert "stopped early" in repr(part)
    alone = cg.permutation_test(LARGE, NOISY, "ari", 200, 0, stop_after=3)
    assert not alone.is_stopped
    assert alone.p_value == 1 / 201


def test_the_interval_of_the_p_value():
    """The interval is Clopper and Pearson's, or that of inverse sampling if drawing was stopped."""
    r = cg.permutation_test(A, B, "ari", 300, 0)
    hits = int((r.draws >= r.value - 1e-9).sum())
    wanted = stats.binomtest(hits, 300).proportion_ci(0.95, "exact")
    assert r.p_interval == pytest.approx((wanted.low, wanted.high), rel=1e-9)
    assert r.p_value == (hits + 1) / 301
    assert permutation._interval_of_p(0, 50, 0.9, False)[0] == 0
    assert permutation._interval_of_p(50, 50, 0.9, False)[1] == 1
    # inverse sampling: the bounds are where the observed number of draws, or a more extreme one, has probability 2.5 %
    low, high = permutation._interval_of_p(5, 40, 0.95, True)
    assert stats.nbinom.cdf(40 - 5, 5, low) == pytest.approx(0.025, rel=1e-6)
    assert stats.nbinom.sf(40 - 5 - 1, 5, high) == pytest.approx(0.025, rel=1e-6)


@pytest.mark.parametrize("sides", ["tables", "shuffles", "memberships", "ensembles"])
def test_threads_change_nothing(sides, monkeypatch):
    """The same seed gives the same draws for one thread and for three, and fewer draws are a prefix of more."""
    a, b = LARGE, NOISY
    if sides == "shuffles":
        monkeypatch.setattr(draws, "DRAW_COST", 10**9)
    if sides == "memberships":
        a = np.eye(4)[LARGE] * 0.9 + 0.025
    if sides == "ensembles":
        a = cg.Ensemble([LARGE, NOISY])
    key = "arimp" if sides == "ensembles" else "ari"
    one = cg.permutation_test(a, b, key, 150, 5, threads=1)
    many = cg.permutation_test(a, b, key, 150, 5, threads=3)
    fewer = cg.permutation_test(a, b, key, 70, np.random.SeedSequence(5), threads=2)
    assert np.array_equal(one.draws, many.draws)
    assert np.array_equal(one.draws[:70], fewer.draws)
    assert not np.array_equal(one.draws, cg.permutation_test(a, b, key, 150, 6).draws)


def test_progress_is_told():
    """The draws done are reported up to their number."""
    seen = []
    cg.permutation_test(
        LARGE, NOISY, "ari", 1000, 0, threads=1, progress=lambda done, total: seen.append((done, total))
    )
    assert seen[-1] == (1000, 1000)
    assert len(seen) >= 2
    seen.clear()
    cg.confidence_interval(LARGE, NOISY, n_resamples=300, random_state=0, progress=lambda *x: seen.append(x))
    assert seen[-1] == (600, 600)


# --- random tables ----------------------------------------------------------------------------------------------


def test_random_tables_are_those_of_permutations():
    """Tables drawn cell by cell are as frequent as permutations give them: the chance of each is exact."""
    counted = Counter(tuple(map(tuple, cg.contingency(A, order).to_array())) for order in all_orders(B))
    total = sum(counted.values())
    for cells, many in counted.items():  # the hypergeometric probability of a table is the share of the permutations
        margins = [sum(row) for row in cells] + [sum(column) for column in zip(*cells, strict=True)]
        ways = math.prod(map(math.factorial, margins))
        wanted = Fraction(ways, math.factorial(7) * math.prod(math.factorial(x) for row in cells for x in row))
        assert Fraction(many, total) == wanted
    sizes_a, sizes_b = (np.broadcast_to(np.bincount(x), (20_000, 3)) for x in (A, B))
    drawn = draws.random_tables(np.random.default_rng(0), sizes_a, sizes_b)
    found = Counter(tuple(map(tuple, t)) for t in drawn.tolist())
    assert set(found) == set(counted)
    expected = [20_000 * counted[t] / total for t in counted]
    assert stats.chisquare([found[t] for t in counted], expected).pvalue > 0.01


@pytest.mark.parametrize("key", ["ari", "nmi_joint", "accuracy", "purity", "ami_max", "kas"])
def test_both_ways_to_draw_have_one_distribution(key, monkeypatch):
    """Shuffled labels and drawn tables give the same distribution."""
    by_tables = cg.permutation_test(LARGE[:60], NOISY[:60], key, 1000, 1).draws
    monkeypatch.setattr(draws, "DRAW_COST", 10**9)
    by_labels = cg.permutation_test(LARGE[:60], NOISY[:60], key, 1000, 2).draws
    assert stats.ks_2samp(np.round(by_tables, 9), np.round(by_labels, 9)).pvalue > 0.01


@pytest.mark.slow
def test_the_compiled_shuffle_is_fair(monkeypatch):
    """Every order of four labels is equally likely, and large label vectors have the distribution of tables."""
    from congruence.engine.kernels import shuffle

    rng = np.random.default_rng(0)
    found = Counter()
    for _ in range(24_000):
        codes = np.arange(4, dtype=np.uint8)
        shuffle(codes, rng.integers(2**63))
        found[tuple(codes.tolist())] += 1
    assert len(found) == 24
    assert stats.chisquare(list(found.values())).pvalue > 0.01
    a, b = np.tile(LARGE, 20), np.tile(NOISY, 20)
    by_tables = cg.permutation_test(a, b, "ari", 600, 1).draws
    monkeypatch.setattr(draws, "DRAW_COST", 10**9)
    by_labels = cg.permutation_test(a, b, "ari", 600, 2).draws
    assert stats.ks_2samp(by_tables, by_labels).pvalue > 0.01


def test_the_number_of_points_costs_nothing():
    """Tables of half a thousand million points are drawn; more are refused."""
    r = cg.permutation_test([0, 0, 1, 1], [0, 1, 0, 1], "ari", 20, 0, frequency=[2e8, 1e8, 1e8, 1e8])
    assert abs(r.draws).max() < 1e-3
    with pytest.raises(cg.InputError, match=r"fewer than 1,000,000,000 points.*sample"):
        cg.permutation_test([0, 1], [0, 1], "ari", frequency=[10**9, 1])


# --- the null models of Gates and Ahn ---------------------------------------------------------------------------

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
        for place, sided in enumerate(("two", "one")):
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


# --- memberships, weights, gaps ---------------------------------------------------------------------------------

SOFT_A = RNG.dirichlet([1, 1], 5)
SOFT_B = RNG.dirichlet([0.5, 0.5, 0.5], 5)


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


# --- matrices and ensembles -------------------------------------------------------------------------------------

MEMBERS_P = [[0, 0, 1, 1, 2, 2], [0, 0, 0, 1, 1, 1], [0, 1, 1, 1, 2, 2]]
MEMBERS_Q = [[0, 0, 1, 1, 1, 2], [0, 1, 0, 1, 1, 0]]
KERNEL = np.round(RNG.random((6, 6)), 2)
KERNEL = (KERNEL + KERNEL.T) / 2
SIDES = {
    "ensemble, labels": (cg.Ensemble(MEMBERS_P), MEMBERS_Q[0], [MEMBERS_Q[0]]),
    "labels, ensemble": (MEMBERS_Q[0], cg.Ensemble(MEMBERS_P), MEMBERS_P),
    "two ensembles": (cg.Ensemble(MEMBERS_P), cg.Ensemble(MEMBERS_Q), MEMBERS_Q),
    "matrix, labels": (cg.Similarity(KERNEL), MEMBERS_Q[0], [MEMBERS_Q[0]]),
    "matrix, ensemble": (cg.Similarity(KERNEL), cg.Ensemble(MEMBERS_Q), MEMBERS_Q),
    "sparse matrix, labels": (cg.Similarity(sparse.csr_array(np.where(KERNEL > 0.5, KERNEL, 0))), MEMBERS_Q[0], None),
    "two matrices": (cg.Similarity(KERNEL), cg.Similarity(np.round(KERNEL[::-1, ::-1] ** 2, 3)), None),
    "sparse, dense matrix": (
        cg.Similarity(sparse.csr_array(np.where(KERNEL > 0.5, KERNEL, 0))),
        cg.Similarity(KERNEL),
        None,
    ),
}


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


# --- strange input ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", [k for k in KEYS if k != "lambda"])  # undefined for these
@pytest.mark.parametrize(
    ("a", "b"),
    [([0] * 5, [0, 0, 1, 1, 2]), (range(5), [0, 0, 1, 1, 2]), ([0] * 5, range(5)), (range(5), range(5)), ([0], [0])],
)
def test_where_chance_has_no_choice(key, a, b):
    """One cluster, or singletons, against anything: every permutation gives the value itself, so p is 1."""
    r = cg.permutation_test(list(a), list(b), key, 40, 0)
    assert r.p_value == r.p_two_sided == 1
    assert r.expected == close(r.value)
    assert r.standard_deviation == pytest.approx(0, abs=1e-9)
    assert r.adjusted in (0, 1)


def test_refusals():
    """Bad input is one clear line."""
    with pytest.raises(cg.InputError, match=r"no null model 'num'; did you mean|no null model 'num'; there are"):
        cg.permutation_test(A, B, null="num")
    with pytest.raises(cg.InputError, match="sided must be 'two'"):
        cg.permutation_test(A, B, sided="both")
    with pytest.raises(cg.InputError, match="n_permutations must be a whole number above 0, not 0"):
        cg.permutation_test(A, B, n_permutations=0)
    with pytest.raises(cg.InputError, match="level must be between 0 and 1"):
        cg.permutation_test(A, B, level=95)
    with pytest.raises(cg.InputError, match="stop_after must be a number of draws"):
        cg.permutation_test(A, B, stop_after=0)
    with pytest.raises(cg.InputError, match="lambda is undefined for this pair"):
        cg.permutation_test([0, 0], [0, 0], "lambda")
    with pytest.raises(cg.InputError, match="did you mean ari"):
        cg.permutation_test(A, B, "aari")
    with pytest.raises(cg.NotApplicable, match="describes one ensemble"):
        cg.permutation_test(A, B, "certainty")
    with pytest.raises(cg.NotApplicable, match="ami_max is not defined for soft"):
        cg.permutation_test(SOFT_A, SOFT_B, "ami_max")
    with pytest.raises(cg.NotApplicable, match="draws partitions, but there are memberships"):
        cg.permutation_test(SOFT_A, SOFT_B, "ari", null="all")
    with pytest.raises(cg.NotApplicable, match="draws partitions, but there are matrices"):
        cg.permutation_test(cg.Similarity(KERNEL), MEMBERS_P[0], "arimp", null="all")
    with pytest.raises(cg.InputError, match="random_state must be"):
        cg.permutation_test(A, B, random_state="x")
    with pytest.raises(cg.InputError, match="no point is assigned in both"):
        cg.permutation_test([0, None], [None, 1], unassigned="drop")


def test_the_result_reads_well():
    """Numbers by name, as a frame, as JSON, and as four lines of text."""
    r = cg.permutation_test(pd.Series(A, name="mine"), pd.Series(B, name="theirs"), "vi", 50, 0)
    assert r.names == ("mine", "theirs")
    assert isinstance(r.to_frame(), pd.DataFrame)
    assert r.to_frame().loc[0, "p_value"] == r.p_value == r.to_dict()["p_value"]
    assert json.loads(r.to_json())["method"] == "expected mutual information"
    assert repr(r).startswith("vi of mine and theirs: ")
    assert "(exact)" in repr(r)
    assert "cluster sizes fixed; 50 draws" in repr(r)
    assert r.z < 0
    other = cg.permutation_test(A, B, "jaccard", 50, 0)
    assert "±" in repr(other)
    assert "counted as a cluster" in repr(cg.permutation_test([-1, 0, 1, 1], [0, 0, 1, 1], n_permutations=5))


# --- adjusted measures ------------------------------------------------------------------------------------------


def test_adjusted_measures_that_have_names():
    """Rand becomes ARI; the mutual informations become the AMIs; distances become similarities."""
    pairs = [("rand", "ari"), ("mirkin", "ari"), ("hubert", "ari"), ("dice", "ari"), ("ari", "ari"), ("vi", "ami_sum")]
    pairs += [
        ("mi", "ami_max"),
        ("v_measure", "ami_sum"),
        *((f"nmi_{x}", f"ami_{x}") for x in ("max", "sum", "sqrt", "min")),
    ]
    for key, known in pairs:
        assert cg.adjusted(key)(A, B) == close(cg.compare(A, B, known)[known]), key
    assert cg.adjusted("wallace")(
        [1] * 6 + [2] * 6 + [3] * 5, [1, 1, 1, 1, 2, 1, 2, 2, 2, 2, 3, 1, 3, 3, 3, 2, 2]
    ) == pytest.approx(0.2670541542546392, rel=1e-9)  # genieclust's adjusted Fowlkes–Mallows


@pytest.mark.slow
@pytest.mark.parametrize("key", [k for k in KEYS if k != "lambda"])
def test_adjusted_measures_against_all_permutations(key):
    """(value − mean) / (best − mean) with the mean over all permutations; 1 for identical clusterings."""
    m = cg.adjusted(key, n_draws=500)
    mean = naive_values(key).mean()
    best = m.base.best  # a measure without one: the better self-score
    if not math.isfinite(best):
        best = max(naive.MEASURES[key](x, x) for x in (A, B))
    wanted = (naive.MEASURES[key](A, B) - mean) / (best - mean)
    error = m.standard_error(A, B)
    assert (error == 0) == (not m.method.startswith("mean of"))
    assert abs(m(A, B) - wanted) < 4 * error + 1e-9
    assert m(A, A) == 1
    assert m.range[1] == 1
    assert m.better == "higher"
    if m.is_symmetric:
        assert m(A, B) == m(B, A)


def test_the_standard_error_of_an_adjusted_measure():
    """It is the deviation of the values under different seeds."""
    values = [cg.adjusted("jaccard", n_draws=200, random_state=s)(A, B) for s in range(60)]
    assert np.std(values) == pytest.approx(cg.adjusted("jaccard", n_draws=200).standard_error(A, B), rel=0.35)


def test_adjusted_measures_go_where_keys_go():
    """compare, compare_to, compare_all, explain, pickle; memberships and matrices when called directly."""
    m = cg.adjusted("jaccard")
    assert m.key == "adjusted_jaccard"
    r = cg.compare(A, B, [m, "ari"])
    assert r["adjusted_jaccard"] == m(A, B) == cg.compare(A, B, m)[m.key]
    assert "adjusted_jaccard" in r
    assert any("mean of 1,000 draws" in c for c in r.all_cautions)
    rows = cg.compare_to(A, {"b": B, "a": A}, [m])
    assert rows["adjusted_jaccard"].tolist() == [m(A, B), 1.0]
    assert rows.best("adjusted_jaccard") == "a"
    square = cg.compare_all([A, B, B], [m, "ari"])["adjusted_jaccard"]
    assert square[0, 1] == square[1, 0] == m(A, B)
    assert "best = 1" in str(m.explain(A, B))
    assert "mean of 1,000 draws" in repr(m)
    assert pickle.loads(pickle.dumps(m))(A, B) == m(A, B)  # noqa: S301
    assert (
        cg.permutation_test(A, B, cg.adjusted("rand"), 100, 0).p_value
        == cg.permutation_test(A, B, "ari", 100, 0).p_value
    )
    both = cg.compare(A, B, [cg.adjusted("rand"), cg.adjusted("rand", "all"), cg.adjusted("rand", "all", sided="one")])
    assert list(both) == ["adjusted_rand", "adjusted_rand_all", "adjusted_rand_all_one_sided"]
    beta = cg.adjusted(cg.measure("v_measure", beta=3))
    assert beta.parameters["beta"] == 3
    assert beta(A, B) == close(cg.permutation_test(A, B, cg.measure("v_measure", beta=3), 1, 0).adjusted)


def test_adjusted_measures_of_points():
    """Memberships, weights, ensembles and matrices are adjusted by permuting their points."""
    soft = cg.adjusted("rand", n_draws=50)
    assert soft(SOFT_A, SOFT_B) == close(cg.permutation_test(SOFT_A, SOFT_B, "rand", 50, 0).adjusted)
    assert soft.standard_error(SOFT_A, SOFT_B) == 0
    weighted = cg.adjusted("rand", n_draws=200)
    assert weighted.standard_error(A, B, sample_weight=[1, 2, 3, 1, 2, 3, 1]) > 0
    assert cg.adjusted("arimm")(cg.Ensemble(MEMBERS_P), MEMBERS_Q[0]) == close(
        cg.arimm(cg.Ensemble(MEMBERS_P), MEMBERS_Q[0])
    )
    kas = cg.adjusted("kas")(cg.Similarity(KERNEL), MEMBERS_Q[0])
    assert kas == close(cg.permutation_test(cg.Similarity(KERNEL), MEMBERS_Q[0], "kas", 1, 0).adjusted)
    with pytest.raises(cg.NotApplicable, match=r"adjusted_rand of memberships needs the points.*m\(a, b\)"):
        cg.compare(SOFT_A, SOFT_B, [soft])
    with pytest.raises(cg.NotApplicable, match="no best value to adjust to"):
        cg.adjusted("mi")(SOFT_A, SOFT_B)


def test_what_cannot_be_adjusted():
    """Measures of one ensemble, adjusted ones, and unknown null models are refused."""
    with pytest.raises(cg.NotApplicable, match="cannot be adjusted"):
        cg.adjusted("certainty")
    with pytest.raises(cg.InputError, match="adjusted for chance already"):
        cg.adjusted(cg.adjusted("rand"))
    with pytest.raises(cg.InputError, match="no null model 'perm'; did you mean permutation"):
        cg.adjusted("rand", "perm")
    with pytest.raises(cg.InputError, match="random_state must be a whole number here"):
        cg.adjusted("rand", random_state=None)
    with pytest.raises(cg.InputError, match="n_draws"):
        cg.adjusted("rand", n_draws=1)


# --- many pairs -------------------------------------------------------------------------------------------------


def test_corrections():
    """Holm's and Benjamini and Hochberg's p-values, by their definitions."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        p = rng.random(rng.integers(1, 9)) ** 2
        assert np.allclose(many_tests.corrected(p, "bh"), stats.false_discovery_control(p))
        holm = [min(1, max(np.sort(p)[i] * (len(p) - i) for i in range(r + 1))) for r in range(len(p))]
        assert np.allclose(np.sort(many_tests.corrected(p, "holm")), holm)
        assert np.array_equal(many_tests.corrected(p, "none"), p)
    with pytest.raises(cg.InputError, match="no correction 'bonferroni'"):
        many_tests.corrected([0.1], "bonferroni")


def test_all_pairs_and_a_reference():
    """Each pair has its own test; the correction is named; too few permutations are pointed out."""
    runs = {"x": LARGE, "y": NOISY, "z": RNG.integers(0, 3, 300)}
    r = cg.permutation_tests(runs, "ari", 200, 0)
    assert r.pairs == (("x", "y"), ("x", "z"), ("y", "z"))
    assert np.allclose(r.p_corrected, many_tests.corrected(r.p_values, "holm"))
    assert r.p_corrected[0] == pytest.approx(3 / 201)
    assert r.p_corrected[1] > 0.05
    assert np.array_equal(r.p_values, cg.permutation_tests(runs, "ari", 200, 0, threads=1).p_values)
    assert "corrected by Holm" in repr(r)
    frame = r.to_frame()
    assert frame["correction"].tolist() == ["holm"] * 3
    assert frame["a"].tolist() == ["x", "x", "y"]
    assert r.matrix("value").loc["x", "y"] == cg.ari(LARGE, NOISY)
    assert json.loads(r.to_json())["tests"][0]["measure"] == "ari"
    one = cg.permutation_tests(runs, "ari", 100, 0, reference="x", correction="bh")
    assert one.pairs == (("x", "y"), ("x", "z"))
    assert "Benjamini–Hochberg" in repr(one)
    other = cg.permutation_tests({"y": NOISY}, "ari", 100, 0, reference=LARGE)
    assert other.pairs == (("reference", "y"),)
    few = cg.permutation_tests(runs, "ari", 20, 0)
    assert any("n_permutations=60" in c for c in few.cautions)
    with pytest.raises(cg.InputError, match="no clustering 'xx' to use as reference; did you mean x"):
        cg.permutation_tests(runs, reference="xx")
    with pytest.raises(cg.InputError, match="no pair"):
        cg.permutation_tests({"x": LARGE})
    with pytest.raises(cg.InputError, match="same name"):
        cg.permutation_tests([pd.Series(LARGE, name="s"), pd.Series(NOISY, name="s")])


# --- intervals --------------------------------------------------------------------------------------------------


def population(k, agreement):
    """Shares of the cells of a table: so much of the points agree, the others are independent."""
    return (1 - agreement) * np.ones((k, k)) / k**2 + agreement * np.eye(k) / k


def labels_of(table):
    row, col = np.nonzero(table)
    return np.repeat(row, table[row, col]), np.repeat(col, table[row, col])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("key", "k", "n", "agreement"),
    [("ari", 30, 200, 0.5), ("ari", 30, 200, 0), ("jaccard", 10, 200, 0.9), ("nmi_sum", 4, 400, 0.5), ("vi", 3, 300, 0.3),
     ("accuracy", 5, 200, 0.6)],
)  # fmt: skip
def test_intervals_cover_what_they_should(key, k, n, agreement):
    """Nearly all 95 % intervals contain the value of the population."""
    rng = np.random.default_rng(5)
    shares = population(k, agreement)
    truth = cg.compare(*labels_of(np.rint(shares * 10**6).astype(int)), key)[key]
    held = []
    for i in range(50):
        a, b = labels_of(rng.multinomial(n, shares.ravel()).reshape(k, k))
        r = cg.confidence_interval(a, b, key, n_resamples=128, random_state=i, threads=1)
        held.append(r.low <= truth <= r.high)
    assert sum(held) >= 43  # fewer of 50 have a chance of 0.4 % under a true 95 %


def test_the_bootstrap_is_wrong_and_this_is_not():
    """Two hundred points in thirty independent clusters: copies of points agree, halves do not."""
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 30, 200), rng.integers(0, 30, 200)
    copies = [cg.ari(a[i], b[i]) for i in rng.integers(0, 200, (200, 200))]
    assert np.quantile(copies, 0.025) > 0.08
    low, high = cg.confidence_interval(a, b, "ari", random_state=0)
    assert low < 0 < high
    assert high < 0.08


@pytest.mark.parametrize(
    ("key", "k", "n", "agreement"), [("nmi_sum", 30, 200, 0.5), ("vi", 10, 200, 0.9), ("ami_sum", 30, 1000, 0.7)]
)
def test_too_small_clusters_are_refused(key, k, n, agreement):
    """If the entropy cannot be estimated, the interval is refused with the reason."""
    a, b = labels_of(np.random.default_rng(0).multinomial(n, population(k, agreement).ravel()).reshape(k, k))
    with pytest.raises(
        cg.NotApplicable, match=f"alone in their cell.*too small for an interval of {key}.*pair-counting"
    ):
        cg.confidence_interval(a, b, key, random_state=0)


def test_matchings_by_chance_are_refused():
    """The bias of the best of many equal matchings is of order 1/√n, so there is no interval."""
    a, b = labels_of(np.random.default_rng(0).multinomial(200, population(10, 0).ravel()).reshape(10, 10))
    with pytest.raises(cg.NotApplicable, match="depends too much on the number of points"):
        cg.confidence_interval(a, b, "accuracy", random_state=0)


@pytest.mark.slow
def test_intervals_of_everything():
    """Memberships, weights, ensembles and matrices have intervals too, by halves of their points."""
    u = np.eye(4)[LARGE] * 0.8 + 0.05
    ensemble = cg.Ensemble([LARGE, NOISY])
    for a, b, key, options in [
        (u, NOISY, "ari", {}),
        (LARGE, NOISY, "ari", {"sample_weight": RNG.random(300)}),
        (ensemble, NOISY, "arimp", {}),
        (cg.Similarity(ensemble.consensus_matrix()), NOISY, "arimp", {}),
    ]:
        r = cg.confidence_interval(a, b, key, n_resamples=60, random_state=0, **options)
        assert r.low < r.value < r.high
    crisp = cg.confidence_interval(np.eye(4)[LARGE], NOISY, "ari", n_resamples=300, random_state=0)
    hard = cg.confidence_interval(LARGE, NOISY, "ari", n_resamples=300, random_state=0)
    assert crisp.standard_error == pytest.approx(hard.standard_error, rel=0.2)


def test_intervals_read_well_and_repeat():
    """The same seed gives the same interval for any threads; wider for a higher level; within the range of the measure."""
    r = cg.confidence_interval(LARGE, NOISY, "nmi_sum", random_state=0, threads=1)
    assert tuple(r) == tuple(cg.confidence_interval(LARGE, NOISY, "nmi_sum", random_state=0, threads=3))
    low, high = cg.confidence_interval(LARGE, NOISY, "nmi_sum", 0.99, random_state=0)
    assert low < r.low
    assert r.high < high
    assert r.bias > 0
    assert "without replacement" in repr(r)
    assert r.to_dict()["low"] == r.low == r.to_frame()["low"][0]
    assert json.loads(r.to_json())["level"] == 0.95
    with pytest.raises(cg.NotApplicable, match="no point lies outside"):
        cg.confidence_interval(LARGE, LARGE, "ari", random_state=0)
    nearly = np.where(np.arange(300) < 12, 1 - (LARGE > 0), LARGE)
    assert cg.confidence_interval(LARGE, nearly, "ari", random_state=0).high <= 1
    hardly = np.where(np.arange(300) < 2, 1 - (LARGE > 0), LARGE)
    with pytest.raises(cg.NotApplicable, match="so few differences"):
        cg.confidence_interval(LARGE, hardly, "ari", random_state=0)
    with pytest.raises(cg.NotApplicable, match="at least 16 points"):
        cg.confidence_interval(A, B)
    with pytest.raises(cg.InputError, match="at least 20 resamples"):
        cg.confidence_interval(LARGE, NOISY, n_resamples=5)
    with pytest.raises(cg.InputError, match="level must be"):
        cg.confidence_interval(LARGE, NOISY, "ari", 95)


# --- the command line -------------------------------------------------------------------------------------------


@pytest.fixture
def congruence(tmp_path, monkeypatch, capsys):
    """The command in a folder with labels.csv (truth, good, bad) and other.csv (good)."""
    bad = np.random.default_rng(1).integers(0, 4, 300)
    rows = [f"{t},{g},{b}" for t, g, b in zip(LARGE, NOISY, bad, strict=True)]
    (tmp_path / "labels.csv").write_text("truth,good,bad\n" + "\n".join(rows) + "\n")
    (tmp_path / "truth.csv").write_text("truth\n" + "\n".join(map(str, LARGE)) + "\n")
    (tmp_path / "good.csv").write_text("good\n" + "\n".join(map(str, NOISY)) + "\n")
    monkeypatch.chdir(tmp_path)

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["congruence", *words])
        with pytest.raises(SystemExit) as done:
            cli.main()
        out, err = capsys.readouterr()
        return done.value.code, out, err

    return run


@pytest.mark.slow
def test_the_command_adds_p_values_and_intervals(congruence):
    """`compare --p-values --ci` shows both, for two columns and for two files, and as JSON the numbers of the library."""
    code, out, _ = congruence("compare", "labels.csv", "truth", "good", "-m", "ari,vi", "--p-values", "--ci")
    assert code == 0
    assert out.splitlines()[1].split() == ["value", "p", "low", "high", "better"]
    pair = ("compare", "labels.csv", "truth", "good", "-m", "ari", "--p-values")
    _, said, _ = congruence(*pair, "--ci", "-f", "json", "--seed", "3")
    found = json.loads(said)
    assert found["p"]["ari"] == cg.permutation_test(LARGE, NOISY, "ari", 1000, 3).p_value
    interval = cg.confidence_interval(LARGE, NOISY, "ari", random_state=3)
    assert (found["low"]["ari"], found["high"]["ari"]) == tuple(interval)
    _, files, _ = congruence("compare", "truth.csv", "good.csv", "-m", "ari", "--p-values", "-f", "json", "--seed", "3")
    assert json.loads(files)["p"] == found["p"]
    _, rows, _ = congruence(*pair, "-f", "csv")
    assert rows.splitlines()[0].endswith(",p")


@pytest.mark.slow
def test_the_command_corrects_p_values_of_several_columns(congruence):
    """With --reference p-values are corrected for the number of columns, and the correction is named."""
    code, out, _ = congruence(
        "compare", "labels.csv", "--reference", "truth", "-m", "ari,accuracy", "--p-values", "--ci"
    )
    assert code == 0
    assert out.splitlines()[1].split() == ["ari", "p", "low", "high", "accuracy", "p", "low", "high"]
    assert "corrected by Holm" in " ".join(out.split())
    _, said, _ = congruence(
        "compare", "labels.csv", "--reference", "truth", "-m", "ari", "--p-values", "-f", "json", "--permutations", "99"
    )
    good, _ = json.loads(said)["rows"]
    assert good["ari p"] == pytest.approx(2 / 100)
    _, said, _ = congruence(
        "compare", "labels.csv", "--reference", "truth", "-m", "ari", "--p-values", "--correction", "none"
    )
    assert "not corrected" in said


def test_the_command_refuses_in_one_line(congruence):
    """An invalid level is refused; a measure without an interval has a dash and the reason."""
    code, _, err = congruence("compare", "labels.csv", "truth", "good", "--ci", "--level", "95")
    assert (code, err.count("\n")) == (2, 1)
    assert "level must be between 0 and 1" in err
    code, out, _ = congruence("compare", "labels.csv", "truth", "bad", "-m", "accuracy,ari", "--ci")
    assert code == 0
    assert "–" in out.splitlines()[2]
    assert "no interval of accuracy" in out


def test_an_adjusted_measure_is_definite_where_the_measure_is():
    """Adjusting leaves the best value to identical clusterings alone, so the measure may vote in choose_k."""
    assert "definite" in cg.adjusted("jaccard").axioms
    assert "definite" not in cg.adjusted("purity").axioms
    runs = {2: [[0, 0, 0, 1, 1, 1], [0, 0, 0, 0, 1, 1]], 3: [[0, 0, 1, 1, 2, 2]] * 2}
    assert cg.choose_k(runs, criteria=[cg.adjusted("jaccard")]).k == 3


@pytest.mark.filterwarnings("error")
def test_one_draw_and_undefined_draws_are_silent():
    """One draw has no deviation, and a measure that is undefined for one cluster has no mean: NaN, without a warning."""
    r = cg.permutation_test(A, B, "jaccard", 1, 0)
    assert math.isnan(r.z)
    assert "nan" in repr(r)
    assert math.isnan(cg.adjusted("sms", n_draws=20).expectation([0, 0, 0], [0, 0, 1]).value)
    with pytest.raises(cg.InputError, match="stop_after"):
        cg.permutation_test(A, B, "jaccard", stop_after=2.5)


def test_too_few_permutations_are_said_only_where_they_are():
    """Small p-values of all pairs stay small by Benjamini and Hochberg; by Holm they cannot."""
    runs = {str(i): np.repeat([0, 1, 2], 10) for i in range(4)}
    assert any("n_permutations" in c for c in cg.permutation_tests(runs, "ari", 50, 0).cautions)
    by_share = cg.permutation_tests(runs, "ari", 50, 0, correction="bh")
    assert by_share.p_corrected.max() < 0.05
    assert not any("n_permutations" in c for c in by_share.cautions)


def test_an_interval_of_nothing_that_varies_is_doubted_beside_the_values_too():
    """All singletons: every half has the same value, so there is no interval, and compare says so."""
    a, b = np.arange(60), np.arange(60) % 3
    r = cg.confidence_interval(a, b, "ari", random_state=0, n_resamples=50)
    assert any("every half" in c for c in r.cautions)
    pair = alongside.beside(cg.compare(a, b, ["ari"]), a, b, p_values=False, intervals=True)
    assert any(c.startswith("interval of ari: every half") for c in pair.cautions)
    against = alongside.beside_reference(
        cg.compare_to(a, {"x": b}, ["ari"]), a, {"x": b}, p_values=False, intervals=True
    )
    assert any(c.startswith("interval of ari for x: every half") for c in against.cautions)


# --- exact moments instead of draws -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("a", "b"),
    [([3, 2, 1], [2, 2, 2]), ([4, 1, 1], [3, 3]), ([5, 2], [3, 3, 1]), ([2, 1], [2, 1]), ([1, 1, 1], [3]), ([1], [1])],
)
def test_moments_against_all_permutations(a, b):
    """Mean, standard deviation and skewness of the pairs together, from every permutation of the points."""
    x, y = (np.repeat(np.arange(len(s)), s) for s in (a, b))
    together = []
    for order in itertools.permutations(range(len(x))):
        table = np.zeros((len(a), len(b)), dtype=int)
        np.add.at(table, (x, y[list(order)]), 1)
        together.append((table * (table - 1) // 2).sum())
    drawn = np.array(together, dtype=float)
    found = Moments.of([a], [b])
    assert found.mean[0, 0] == pytest.approx(drawn.mean())
    assert found.deviation[0, 0] == pytest.approx(drawn.std(), abs=1e-12)
    skewness = ((drawn - drawn.mean()) ** 3).mean() / drawn.std() ** 3 if drawn.std() else 0
    assert found.skewness[0, 0] == pytest.approx(skewness, abs=1e-9)


def test_moments_of_large_clusters_do_not_cancel():
    """At 10⁷ points the moments are those of rational numbers."""
    a, b = [9 * 10**6, *[10] * 10**5], [5 * 10**6, 3 * 10**6, 2 * 10**6]
    x, y, all_pairs = (subgraphs(s) for s in (a, b, [10**7]))
    first, second, third = (
        sum(Fraction(int(c) * p * q, r) for c, p, q, r in zip(times, x, y, all_pairs, strict=False))
        for times in ([1], [1, 2, 2], [1] + [6] * 7)
    )
    variance = second - first**2
    found = Moments.of([a], [b])
    assert found.deviation[0, 0] == pytest.approx(float(variance) ** 0.5, rel=1e-9)
    cubes = third - 3 * first * second + 2 * first**3
    assert found.skewness[0, 0] == pytest.approx(float(cubes) / float(variance) ** 1.5, rel=1e-6)


@pytest.mark.parametrize("key", ["ari", "rand", "jaccard", "mirkin", "fowlkes_mallows"])
def test_p_values_by_moments_are_those_of_draws(key):
    """Near the middle and at p of about 0.01, and for measures of which less is better."""
    rng = np.random.default_rng(5)
    a = rng.integers(0, 5, 2000)
    for share in (0.0, 0.06):
        b = np.where(rng.random(2000) < share, a, rng.integers(0, 4, 2000))
        by_moments, by_draws = cg.permutation_test(a, b, key), cg.permutation_test(a, b, key, 4000, 0)
        assert not by_moments.is_drawn
        assert by_draws.is_drawn
        assert by_moments.value == by_draws.value
        low, high = by_draws.p_interval
        assert 0.85 * low < by_moments.p_value < 1.15 * high
        assert by_moments.expected == pytest.approx(by_draws.expected, rel=1e-3, abs=1e-3)
        assert by_moments.standard_deviation == pytest.approx(by_draws.standard_deviation, rel=0.1)
        assert "(moments)" in repr(by_moments)
        assert "no draws" in repr(by_moments)


def test_draws_are_made_where_moments_are_not_reliable():
    """Few tables, many draws asked for, other measures and null models: draws; a forced method is refused if it cannot be."""
    a, b = [0] * 30 + [1] * 30, [0] * 20 + [1] * 30 + [0] * 10
    assert cg.permutation_test(a, b, random_state=0).is_drawn  # two by two clusters: coarse steps
    assert not cg.permutation_test(a, b, method="moments").is_drawn
    large = [np.random.default_rng(seed).integers(0, 6, 3000) for seed in (1, 2)]
    assert not cg.permutation_test(*large).is_drawn
    assert cg.permutation_test(*large, "ari", 20, 0).is_drawn
    assert cg.permutation_test(*large, "ari", method="draws", random_state=0).n_permutations == 1000
    for options in ({"measure": "vi"}, {"null": "all"}, {"sample_weight": np.linspace(1, 2, 3000)}):
        with pytest.raises(cg.NotApplicable, match="pass method='draws'"):
            cg.permutation_test(*large, **options, method="moments")
    with pytest.raises(cg.InputError, match="leave out n_permutations and stop_after"):
        cg.permutation_test(*large, n_permutations=10, method="moments")
    with pytest.raises(cg.InputError, match="there is no method 'moment'; did you mean moments"):
        cg.permutation_test(*large, method="moment")


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"reference": "r2"}, {"frequency": np.arange(600) % 3 + 1}])
def test_many_pairs_at_once_are_the_pairs_one_by_one(options):
    """Values, means and p-values of one pass over the labels; pairs that need draws are drawn."""
    rng = np.random.default_rng(2)
    first = rng.integers(0, 6, 600)
    runs = {f"r{i}": np.where(rng.random(600) < i / 20, first, rng.integers(0, 3 + i, 600)) for i in range(4)}
    runs["coarse"] = (np.arange(600) < 3).astype(int)
    for key in ("ari", "mirkin", "jaccard"):
        r = cg.permutation_tests(runs, key, random_state=0, **options)
        alone = {x: v for x, v in options.items() if x != "reference"}
        for (a, b), test in zip(r.pairs, r.tests, strict=True):
            single = cg.permutation_test(runs[a], runs[b], key, random_state=0, **alone)
            assert test.names == (a, b)
            assert test.is_drawn == single.is_drawn
            assert test.is_drawn or "coarse" not in (a, b)
            assert test.value == pytest.approx(single.value, abs=1e-12)
            assert test.expected == pytest.approx(single.expected, abs=1e-2)
            if not test.is_drawn:
                assert test.p_value == pytest.approx(single.p_value)
                assert test.p_two_sided == pytest.approx(single.p_two_sided)
                assert test.standard_deviation == pytest.approx(single.standard_deviation)
        assert r.p_values.tolist() == [t.p_value for t in r.tests]
        assert r.tests[-1].p_value == r.p_values[-1]
        assert len(r.to_frame()) == len(r.pairs)


def test_nearly_balanced_clusterings_are_tested_without_draws_at_both_ends():
    """Of all pairs of random clusterings, those that agree less than 95 % of the draws need no draws either."""
    rng = np.random.default_rng(0)
    runs = [rng.integers(0, 10, 5_000) for _ in range(24)]
    r = cg.permutation_tests(runs, random_state=0)
    assert not any(t.is_drawn for t in r.tests)
    low = int(np.argmin(r.values))
    assert r.tests[low].p_value > 0.99
    drawn = cg.permutation_test(*(runs[int(x)] for x in r.pairs[low]), "ari", 4000, 1)
    hits = (drawn.draws <= drawn.value).sum()
    assert r.tests[low].p_two_sided / 2 == pytest.approx(hits / 4000, abs=4 * math.sqrt(hits) / 4000)


def test_intervals_of_few_differences_reach_towards_agreement():
    """At the smallest number of differences with an interval it includes the best value; with many, nothing is added."""
    a = [0] * 300 + [1] * 300

    def bounds(astray, measure):
        return cg.confidence_interval(a, [0] * (300 - astray) + [1] * (300 + astray), measure, random_state=0)

    assert bounds(10, "ari").high == 1
    assert bounds(10, "vi").low == 0
    few, many = bounds(14, "ari"), bounds(120, "ari")
    assert few.high < 1
    assert few.high - few.value > 1.1 * (few.value - few.low)
    assert many.high - many.value == pytest.approx(many.value - many.low, rel=0.2)
