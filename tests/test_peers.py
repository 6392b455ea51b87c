"""The same numbers as scikit-learn and SciPy where they have the measure, and as exact arithmetic for E[MI]."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from doors import on_route
from scipy.stats import entropy
from sklearn import metrics
from sklearn.metrics.cluster import contingency_matrix, pair_confusion_matrix

import congruence as cg
from congruence.statistics.information import expected_mutual_information

NORMS = {"max": "max", "sum": "arithmetic", "sqrt": "geometric", "min": "min"}
PEERS = {
    "rand": metrics.rand_score,
    "ari": metrics.adjusted_rand_score,
    "wallace": metrics.fowlkes_mallows_score,
    "mi": metrics.mutual_info_score,
    "homogeneity": metrics.homogeneity_score,
    "completeness": metrics.completeness_score,
    "v_measure": metrics.v_measure_score,
    **{
        f"nmi_{ours}": lambda a, b, n=theirs: metrics.normalized_mutual_info_score(a, b, average_method=n)
        for ours, theirs in NORMS.items()
    },
    **{
        f"ami_{ours}": lambda a, b, n=theirs: metrics.adjusted_mutual_info_score(a, b, average_method=n)
        for ours, theirs in NORMS.items()
    },
}
#: (points, clusters of a, clusters of b, share of points on which b copies a)
SIZES = [(2, 2, 1, 0), (10, 3, 4, 0), (50, 7, 5, 0.5), (300, 40, 3, 0.2), (1000, 200, 300, 0.7), (100_000, 50, 20, 0.3)]


def labels(n: int, k_a: int, k_b: int, copied: float) -> tuple[np.ndarray, np.ndarray]:
    """Two label vectors that agree in part."""
    rng = np.random.default_rng([n, k_a, k_b])
    a, b = rng.integers(0, k_a, n), rng.integers(0, k_b, n)
    return a, np.where(rng.random(n) < copied, a % k_b, b)


@pytest.fixture(params=SIZES, ids=lambda s: f"n={s[0]} k={s[1]},{s[2]}", scope="module")
def pair(request) -> tuple[np.ndarray, np.ndarray]:
    return labels(*request.param)


@pytest.mark.parametrize("key", PEERS)
def test_scikit_learn_has_the_same_value(key, pair):
    """Every measure that scikit-learn has too has its value (to nine digits: terms cancel in its MI and E[MI])."""
    a, b = pair
    assert cg.compare(a, b, key)[key] == pytest.approx(PEERS[key](a, b), rel=1e-9, abs=1e-10)


@pytest.mark.parametrize("route", ["numpy", "compiled", "sparse", "sparse, compiled"])
def test_all_routes_have_the_value_of_scikit_learn(route):
    """The same on a hundred thousand points by every route, one pair and all pairs; sparse tables are larger."""
    k_a, k_b = (400, 300) if route.startswith("sparse") else (50, 20)
    a, b = labels(100_000, k_a, k_b, 0.3)
    keys = [key for key in PEERS if not key.startswith("ami_")]
    expected = {key: pytest.approx(PEERS[key](a, b), rel=1e-9, abs=1e-10) for key in keys}
    with on_route(route):
        assert cg.compare(a, b, keys).to_dict() == expected
        at_once = cg.compare_all([a, b], keys)
        assert {key: at_once[key][0, 1] for key in keys} == expected


@pytest.mark.parametrize("beta", [0.0, 0.5, 1.0, 3.0])
def test_v_measure_takes_the_beta_of_scikit_learn(beta, pair):
    """beta weighs completeness as in scikit-learn."""
    a, b = pair
    expected = metrics.v_measure_score(a, b, beta=beta)
    assert cg.v_measure(a, b, beta=beta) == pytest.approx(expected, rel=1e-9, abs=1e-10)
    assert cg.measure("v_measure", beta=beta)(a, b) == pytest.approx(expected, rel=1e-9, abs=1e-10)


def test_fowlkes_mallows_of_singletons_is_the_known_difference():
    """Identical singletons score 1 by the one rule for 0/0; scikit-learn says 0."""
    assert cg.fowlkes_mallows([0, 1, 2], [0, 1, 2]) == 1.0
    assert metrics.fowlkes_mallows_score([0, 1, 2], [0, 1, 2]) == 0.0


def test_contingency_matrix_of_scikit_learn(pair):
    """The same table, to the last integer."""
    assert np.array_equal(cg.contingency(*pair).to_array(), contingency_matrix(*pair))


def test_pair_confusion_matrix_of_scikit_learn(pair):
    """The same pair counts, to the last integer; scikit-learn counts ordered pairs."""
    (v00, v01), (v10, v11) = pair_confusion_matrix(*pair)
    symbols = cg.measure("rand").explain(*pair).symbols
    assert [2 * symbols[name] for name in ("v00", "v01", "v10", "v11")] == [v00, v01, v10, v11]


def test_entropies_of_scipy(pair):
    """H_a, H_b and H_ab are SciPy's entropies of the sizes and of the cells."""
    a, b = pair
    table = contingency_matrix(a, b)
    symbols = cg.measure("vi").explain(a, b).symbols
    assert symbols["H_a"] == pytest.approx(entropy(table.sum(1)), rel=1e-12)
    assert symbols["H_b"] == pytest.approx(entropy(table.sum(0)), rel=1e-12, abs=1e-14)
    assert symbols["H_ab"] == pytest.approx(entropy(table.ravel()), rel=1e-12)


def exact_expected_mi(a: np.ndarray, b: np.ndarray) -> float:
    """Σ_ij Σ_x P(n_ij = x) (x/n) log(n x / (a_i b_j)): whole numbers and fractions up to each logarithm."""
    n = int(a.sum())
    terms = []
    for a_i, b_j in [(int(x), int(y)) for x in a for y in b]:
        for x in range(max(1, a_i + b_j - n), min(a_i, b_j) + 1):
            probability = Fraction(math.comb(a_i, x) * math.comb(n - a_i, b_j - x), math.comb(n, b_j))
            terms.append(float(probability * x / n) * log_of(Fraction(n * x, a_i * b_j)))
    return math.fsum(terms)


def log_of(x: Fraction) -> float:
    """log x without the loss near 1."""
    return math.log1p(float(x - 1))


MARGINS = [
    ([1], [1]),
    ([2, 2], [1, 3]),
    ([5, 1], [3, 3]),
    ([1] * 12, [4, 4, 4]),
    ([30, 20, 10], [15, 15, 15, 15]),
    ([99, 1], [50, 50]),
    ([1] * 50 + [50], [2] * 25 + [50]),
    ([150, 150], [100, 100, 100]),
    ([297, 1, 1, 1], [298, 2]),
    ([120, 80, 60, 25, 10, 4, 1], [140, 90, 40, 20, 9, 1]),
]


@pytest.mark.parametrize(("a", "b"), MARGINS, ids=lambda sizes: "-".join(map(str, sizes[:7])))
def test_expected_mutual_information_is_exact(a, b):
    """E[MI] has all its digits: no term cancels another."""
    a, b = np.array(a), np.array(b)
    assert expected_mutual_information(a, b) == pytest.approx(exact_expected_mi(a, b), rel=1e-12, abs=1e-15)
    assert expected_mutual_information(b, a) == pytest.approx(exact_expected_mi(a, b), rel=1e-12, abs=1e-15)


def test_expected_mutual_information_of_all_pairs_is_exact():
    """All pairs at once share one grid of sizes: ami is that of exact arithmetic, for every pair and route."""
    rng = np.random.default_rng(5)
    columns = [rng.integers(0, k, 120) for k in (2, 3, 4, 7, 11)]
    sizes = [np.unique(c, return_counts=True)[1] for c in columns]
    for route in ("numpy", "compiled"):
        with on_route(route):
            found = cg.compare_all(columns, ["ami_sum", "nmi_sum", "mi"])
        for i, j in zip(*np.triu_indices(5, 1), strict=True):
            expected, mi = exact_expected_mi(sizes[i], sizes[j]), found["mi"][i, j]
            norm = mi / found["nmi_sum"][i, j]
            assert found["ami_sum"][i, j] == pytest.approx((mi - expected) / (norm - expected), rel=1e-11, abs=1e-12)


def test_many_small_clusters_do_not_overflow():
    """scikit-learn's overflow case: 75,278 points; values are finite and those of the table."""
    sizes = [(52632, 2529), (14660, 793), (3271, 204), (814, 39), (316, 20)]
    a = np.repeat(np.arange(5), [sum(s) for s in sizes])
    b = np.concatenate([np.repeat([0, 1], s) for s in sizes])
    found = cg.compare(a, b, ["mi", "wallace", "ami_max", "ari"])
    table = np.array(sizes, dtype=object)
    squares = sum(x * x for x in table.ravel()) - len(a)
    rows, columns = (sum(x * x for x in margin) - len(a) for margin in (table.sum(1), table.sum(0)))
    assert found["wallace"] == pytest.approx(squares / math.sqrt(rows * columns), rel=1e-12)
    assert found["mi"] == pytest.approx(metrics.mutual_info_score(a, b), rel=1e-7)
    assert all(math.isfinite(value) for value in found.values())
    assert expected_mutual_information(np.array([70000]), np.array([70000])) == 0.0
