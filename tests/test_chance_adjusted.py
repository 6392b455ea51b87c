"""Adjusted measures, tests of many pairs, and exact moments instead of draws."""

from __future__ import annotations

import itertools
import json
import math
import pickle
from fractions import Fraction

import naive
import numpy as np
import pandas as pd
import pytest
from chance_cases import (
    KERNEL,
    LARGE,
    MEMBERS_P,
    MEMBERS_Q,
    NOISY,
    RNG,
    SOFT_A,
    SOFT_B,
    A,
    B,
    close,
    naive_values,
)
from doors import KEYS
from scipy import stats

import congruence as cg
from congruence.chance import many_tests
from congruence.chance.moments import Moments, subgraphs

# --- adjusted measures -----------------------------------------------------------------------------------------------


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
    m = cg.adjusted(key, n_draws=200)
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


# --- many pairs ------------------------------------------------------------------------------------------------------


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
    with pytest.raises(cg.InputError, match="no clustering 'xx'; did you mean x"):
        cg.permutation_tests(runs, reference="xx")
    with pytest.raises(cg.InputError, match="no pair"):
        cg.permutation_tests({"x": LARGE})
    with pytest.raises(cg.InputError, match="named 's'"):
        cg.permutation_tests([pd.Series(LARGE, name="s"), pd.Series(NOISY, name="s")])


# --- exact moments instead of draws ----------------------------------------------------------------------------------


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
    """Near the middle and at p of about 0.01, and for measures where lower is better."""
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
    """Few tables, a requested number of draws, other measures and null models use draws; a forced method may be refused."""
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


@pytest.mark.parametrize("n", [6, 7, 22, 26])
def test_a_measure_that_is_always_best_is_0_unless_the_clusterings_are_identical(n):
    """The homogeneity with a single cluster is 1 for any clustering: nothing above chance, for any number of points."""
    single, split = [0] * n, [i % 3 for i in range(n)]
    for b, value in ((split, 0.0), (single, 1.0)):
        assert cg.adjusted("homogeneity")(single, b) == value
        assert cg.permutation_test(single, b, "homogeneity", 20, random_state=0).adjusted == value


def partitions_of(n):
    """All partitions of n points, as labels."""
    found = [[]]
    for _ in range(n):
        found = [[*labels, c] for labels in found for c in range(max(labels, default=-1) + 2)]
    return found


@pytest.mark.parametrize("null", ["all", "n_clusters"])
@pytest.mark.parametrize("key", ["ari", "jaccard", "rand", "nmi_joint", "homogeneity", "completeness", "mi", "vi"])
def test_one_sided_expectations_count_the_clustering_that_is_identical(key, null):
    """With a fixed, the exact mean is that over all partitions, of which one may be identical to a and best at 0/0."""
    measure = cg.measure(key)
    adjusted = cg.adjusted(key, null=null, sided="one", n_draws=2)
    for n in (1, 2, 3, 4):
        every = partitions_of(n)
        for a in every:
            for b in every:
                found = adjusted.expectation(a, b)
                pool = [x for x in every if null == "all" or len(set(x)) == len(set(b))]
                if found.is_exact:
                    assert found.value == pytest.approx(np.mean([measure(a, x) for x in pool]), abs=1e-12), (a, b)
    if key == "ari":
        assert adjusted.expectation([0, 0, 0], [0, 0, 0]).value == pytest.approx(0.2 if null == "all" else 1.0)
        assert adjusted.expectation([0, 0, 0], [0, 0, 0]).is_exact
