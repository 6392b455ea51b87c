"""Permutation tests, compared with exhaustive enumeration."""

from __future__ import annotations

import json
import math
from collections import Counter
from fractions import Fraction

import naive
import numpy as np
import pandas as pd
import pytest
from chance_cases import (
    KERNEL,
    LARGE,
    MEMBERS_P,
    NOISY,
    SOFT_A,
    SOFT_B,
    A,
    B,
    all_orders,
    as_good,
    close,
    naive_values,
    near,
)
from doors import KEYS
from scipy import stats
from sklearn.metrics import mutual_info_score
from sklearn.metrics.cluster import contingency_matrix, expected_mutual_information

import congruence as cg
from congruence.chance import draws, permutation

# --- permutations ----------------------------------------------------------------------------------------------------


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
    assert counted == {
        "rand", "rand_brouwer", "rand_campello", "ari", "ari_brouwer", "ari_campello", "ari_gram", "wallace", "wallace_ab",
        "wallace_ba", "mirkin", "partition_difference", "dice", "hubert",
    }  # fmt: skip
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


def test_progress_is_reported():
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


# --- random tables ---------------------------------------------------------------------------------------------------


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


def test_the_cost_does_not_depend_on_the_number_of_points():
    """Tables of half a billion points are drawn; more are refused."""
    r = cg.permutation_test([0, 0, 1, 1], [0, 1, 0, 1], "ari", 20, 0, frequency=[2e8, 1e8, 1e8, 1e8])
    assert abs(r.draws).max() < 1e-3
    with pytest.raises(cg.InputError, match=r"fewer than 1,000,000,000 points.*sample"):
        cg.permutation_test([0, 1], [0, 1], "ari", frequency=[10**9, 1])


# --- strange input ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", [k for k in KEYS if k != "lambda"])  # undefined for these
@pytest.mark.parametrize(
    ("a", "b"),
    [([0] * 5, [0, 0, 1, 1, 2]), (range(5), [0, 0, 1, 1, 2]), ([0] * 5, range(5)), (range(5), range(5)), ([0], [0])],
)
def test_where_chance_has_no_choice(key, a, b):
    """One cluster, or singletons, against anything: every permutation gives the value itself, so p is 1."""
    if key == "cramers_v" and 1 in (len(set(a)), len(set(b))):
        with pytest.raises(cg.InputError, match="cramers_v is undefined for this pair"):
            cg.permutation_test(list(a), list(b), key, 40, 0)
        return
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
        cg.permutation_test(A, B, null="all", sided="both")
    with pytest.raises(cg.InputError, match="n_permutations must be at least 1, not 0"):
        cg.permutation_test(A, B, n_permutations=0)
    with pytest.raises(cg.InputError, match="level must be between 0 and 1"):
        cg.permutation_test(A, B, level=95)
    with pytest.raises(cg.InputError, match="stop_after must be at least 1, not 0"):
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
