"""Measures of covers, compared with slow definitions and published values."""

from __future__ import annotations

import itertools
import json
import math
from collections import Counter
from pathlib import Path

import naive_covers as naive
import numpy as np
import pytest
from cover_cases import GOLDEN, KEYS, cover, pairs_of_covers
from doors import OF_COVERS, close, everywhere
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment
from scipy.special import gammaln
from strategies import partitions

import congruence as cg
from congruence.statistics import sharing

COUNTEREXAMPLES = json.loads((Path(__file__).parent / "golden" / "counterexamples_covers.json").read_text())
SHARED = ("bcubed_precision", "bcubed_recall", "bcubed_f", "element_centric")


def by_rule(key, a, b, value):
    """0/0 by the rule of all measures: identical covers get the best value, others 0."""
    return value if not math.isnan(value) else float(naive.same(a, b))


@pytest.fixture(params=["numpy", "compiled"])
def walk(request, monkeypatch):
    """Pairs of cells are visited by numpy, or by the compiled loop."""
    monkeypatch.setattr(sharing, "COMPILED_FROM", math.inf if request.param == "numpy" else -1)


# --- values ----------------------------------------------------------------------------------------------------------


def test_every_cover_measure_has_a_definition():
    """Every measure has a slow definition to compare with."""
    assert set(KEYS) == set(OF_COVERS) | set(SHARED)
    assert all(cg.measure(key).accepts_covers for key in KEYS)


@pytest.mark.parametrize("case", GOLDEN["covers"], ids=lambda case: case["id"])
def test_golden(case, walk):
    """All values of the golden file, to 1e-10; null is 0/0 and decided by the rule."""
    a, b = (cover(case[side], case["n"]) for side in "ab")
    found = cg.compare(a, b, list(KEYS))
    for key in KEYS:
        value = case["expected"][key]
        value = by_rule(key, case["a"], case["b"], math.nan if value is None else value)
        assert found[key] == pytest.approx(value, rel=1e-10, abs=1e-10), key
    expected = case["expected"]
    shown = cg.measure("omega").explain(a, b).symbols
    assert shown["observed"] == pytest.approx(expected["omega_unadjusted"], rel=1e-10)
    assert shown["expected"] == pytest.approx(expected["omega_expected"], rel=1e-10)
    harmonic = cg.average_f1(a, b, mean="harmonic")
    assert harmonic == pytest.approx(expected["average_f1_harmonic"], rel=1e-10)
    best = cg.measure("average_f1").explain(a, b).symbols
    by_size = cg.measure("average_f1", weights="points").explain(a, b).symbols
    for mean, key in ((best["best_a"], "ab"), (best["best_b"], "ba"), (by_size["best_a"], "ab_weighted")):
        if case["a"] and case["b"]:  # a side without clusters has no best match
            assert mean == pytest.approx(expected[f"average_f1_{key}"], rel=1e-10)
    if (
        expected.get("matching_ratio") is not None
    ):  # not a measure of ours: read from the points clusters have in common
        table = cg.contingency(a, b)
        shares = table.to_array() ** 2 / np.outer(table.row_sums, table.col_sums)
        matched = shares[linear_sum_assignment(shares, maximize=True)].sum() / len(case["a"])
        assert matched == pytest.approx(expected["matching_ratio"], rel=1e-10)
    if expected.get("element_scores"):
        assert cg.element_scores(a, b) == pytest.approx(np.array(expected["element_scores"]), rel=1e-10, abs=1e-10)
    if "element_centric_alpha_0.5" in expected:
        half = cg.element_centric(a, b, alpha=0.5)
        assert half == pytest.approx(expected["element_centric_alpha_0.5"], rel=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("case", GOLDEN["chance"], ids=lambda case: case["id"])
def test_means_over_all_permutations(case):
    """The mean over every permutation of the points of b is the golden one; what is called exact is exact."""
    a, n = cover(case["a"], case["n"]), case["n"]
    times: Counter[tuple[tuple[int, ...], ...]] = Counter()  # many permutations give the same cover
    for order in itertools.permutations(range(n)):
        times[tuple(sorted(tuple(sorted(order[i] for i in c)) for c in case["b"]))] += 1
    moved, weights = [cover(x, n) for x in times], np.array(list(times.values()))
    keys = [key for key in case["expected_over_permutations"] if key in KEYS]
    rows = cg.compare_to(a, moved, [*keys, "omega_soft", "aci"], threads=1)
    for key in keys:
        mean = case["expected_over_permutations"][key]
        assert np.average(rows[key], weights=weights) == pytest.approx(mean, abs=1e-12), key
        test = cg.permutation_test(a, moved[0], key, 2, random_state=0)
        assert not test.is_exact or test.expected == pytest.approx(mean, abs=1e-12)
    shown = cg.measure("omega").explain(a, moved[0]).symbols
    assert shown["expected"] == pytest.approx(case["expected_over_permutations"]["omega_unadjusted"], abs=1e-12)
    for key in ("omega", "omega_soft", "aci", "ndc"):
        test = cg.permutation_test(a, moved[0], key, 2, random_state=0)
        assert test.method == "closed form"
        if key in rows:
            assert test.expected == pytest.approx(np.average(rows[key], weights=weights), abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("case", GOLDEN["partitions"], ids=lambda case: case["id"])
def test_golden_partition_measures(case):
    """rmi, nrmi, mari, nca and npa of the golden file; its rmi are totals, ours are per point."""
    a, b, expected = case["a"], case["b"], case["expected"]
    n = len(a)
    found = {
        "rmi": cg.rmi(a, b) * n,
        "rmi_of_b": cg.rmi(b, a) * n,
        "rmi_normalised": cg.nrmi(a, b),
        "mari": cg.mari(a, b),
        "nca": cg.nca(a, b),
        "npa": cg.npa(a, b),
    }
    for key, value in found.items():
        # the file's own rmi were summed from lgamma of up to 10⁵: they carry 10⁻¹⁰ per point
        assert value == pytest.approx(expected[key], abs=1e-10 * (n if key.startswith("rmi") else 1)), key
    assert cg.mi(a, b) == pytest.approx(expected["mi"], abs=1e-10)
    counts = cg.contingency(a, b)
    micro = gammaln(n + 1) + gammaln(counts.count + 1).sum()
    micro -= gammaln(counts.row_sums + 1).sum() + gammaln(counts.col_sums + 1).sum()
    assert micro == pytest.approx(expected["mi_microcanonical"], abs=1e-9)
    assert micro - math.log(expected["tables"]) == pytest.approx(expected["rmi_flat"], abs=1e-9)
    shown = cg.measure("mari").explain(a, b).symbols
    assert shown["theta"] - shown["theta_0"] == pytest.approx(expected["mari_raw"], abs=1e-10)
    by_chance = {key: cg.permutation_test(a, b, key, 2, random_state=0) for key in ("fowlkes_mallows", "rand")}
    if expected["fm_mean"] is not None:
        assert by_chance["fowlkes_mallows"].expected == pytest.approx(expected["fm_mean"], abs=1e-10)
    if expected["fm_variance"] is not None:
        assert by_chance["fowlkes_mallows"].standard_deviation ** 2 == pytest.approx(expected["fm_variance"], abs=1e-10)
    if expected["z_rand"] is not None:
        assert by_chance["rand"].z == pytest.approx(expected["z_rand"], abs=1e-10)
    if n <= 6 and expected.get("smi") is not None:
        values = cg.compare_to(a, [[b[i] for i in o] for o in itertools.permutations(range(n))], "mi", threads=1)["mi"]
        assert (expected["mi"] - values.mean()) / values.std() == pytest.approx(expected["smi"], abs=1e-9)


def test_every_golden_number_is_checked():
    """No key of the golden file is without a check in this module."""
    checked = {
        *KEYS, "omega_unadjusted", "omega_expected", "average_f1_ab", "average_f1_ba", "average_f1_ab_weighted",
        "average_f1_harmonic", "element_scores", "element_centric_alpha_0.5", "matching_ratio",
    }  # fmt: skip
    assert {key for case in GOLDEN["covers"] for key in case["expected"]} <= checked
    of_partitions = {
        "mi", "mi_microcanonical", "tables", "rmi_flat", "rmi", "rmi_of_b", "rmi_normalised", "mari", "mari_raw",
        "z_rand", "fm_mean", "fm_variance", "nca", "npa", "smi",
    }  # fmt: skip
    assert {key for case in GOLDEN["partitions"] for key in case["expected"]} <= of_partitions


@settings(max_examples=25, deadline=None)
@given(pairs_of_covers(6))
@example(([[0]], [[0]], 1))
@example(([], [], 2))
@example(([[0, 1]], [[0, 1], [0, 1]], 2))
@example(([[0, 1, 2], [0, 1, 2]], [[0, 1, 2]], 3))
def test_compare_gives_the_definition(case):
    """cg.compare equals the slow definition for every measure of covers."""
    a, b, n = case
    found = cg.compare(cover(a, n), cover(b, n), list(KEYS))
    for key in KEYS:
        assert found[key] == close(by_rule(key, a, b, naive.MEASURES[key](a, b, n))), f"{key}: {case}"


@pytest.mark.slow
@settings(max_examples=2, deadline=None)
@given(pairs_of_covers(5))
def test_every_door_on_every_route(case):
    """compare, functions, compare_all both ways and compare_to give the same, however tables are counted."""
    a, b, n = case
    everywhere(cover(a, n), cover(b, n), KEYS)


@settings(max_examples=8, deadline=None)
@given(pairs_of_covers(), st.sampled_from(["average_f1", "average_jaccard"]))
def test_parameters_of_averages(case, key):
    """weights="points" and mean="harmonic" are those of the definition."""
    a, b, n = case
    for weights, mean in itertools.product(("clusters", "points"), ("arithmetic", "harmonic")):
        value = naive.MEASURES[key](a, b, n, weights=weights, mean=mean)
        assert getattr(cg, key)(cover(a, n), cover(b, n), weights=weights, mean=mean) == close(value)


def test_large_counts_stay_exact():
    """Squares of pairs pass 2⁶³ at 78,000 points; frequencies of 10⁶ give what repeated points would, in whole numbers."""
    a, b = cover([[0, 1, 2], [2, 3]], 5), cover([[0, 1], [1, 2, 3]], 5)
    exact = cg.measure("omega").explain(a, b, frequency=[10**6] * 5).symbols
    n = 5 * 10**6
    pairs = n * (n - 1) // 2
    inside = 10**6 * (10**6 - 1) // 2
    agree = sum(
        inside if i == j else 10**12
        for i in range(5)
        for j in range(i, 5)
        if naive.shared([[0, 1, 2], [2, 3]], i, j) == naive.shared([[0, 1], [1, 2, 3]], i, j)
    )
    assert exact["observed"] == agree / pairs


@settings(max_examples=8, deadline=None)
@given(pairs_of_covers(5), st.data())
def test_frequencies_are_repeated_points(case, data):
    """A frequency of 2 is the point given twice, for every measure."""
    a, b, n = case
    times = data.draw(st.lists(st.integers(1, 3), min_size=n, max_size=n))
    first = np.concatenate([[0], np.cumsum(times)])

    def repeated(clusters):
        return [[x for i in c for x in range(first[i], first[i + 1])] for c in clusters]

    expected = cg.compare(cover(repeated(a), int(first[-1])), cover(repeated(b), int(first[-1])), list(KEYS))
    found = cg.compare(cover(a, n), cover(b, n), list(KEYS), frequency=times)
    assert found.to_dict() == close(expected.to_dict())


@settings(max_examples=6, deadline=None)
@given(pairs_of_covers(6))
def test_equal_weights_change_nothing(case):
    """Weights that are all the same give the values without weights."""
    a, b, n = case
    expected = cg.compare(cover(a, n), cover(b, n), list(KEYS))
    found = cg.compare(cover(a, n), cover(b, n), list(KEYS), sample_weight=[0.3] * n)
    assert found.to_dict() == pytest.approx(expected.to_dict(), rel=1e-9, abs=1e-9)


def test_weights_of_pairs():
    """omega with weights counts a pair with the product of its weights, and no point with itself."""
    a, b, n = [[0, 1, 2], [2, 3], [4]], [[0, 1], [1, 2, 3, 4]], 5
    w = np.array([0.5, 1.0, 2.0, 1.5, 0.25])
    pairs = naive.of_pairs(n)
    mass = np.array([w[i] * w[j] for i, j in pairs])
    t_a, t_b = (np.array([naive.shared(x, i, j) for i, j in pairs]) for x in (a, b))
    observed = mass[t_a == t_b].sum() / mass.sum()
    expected = sum(mass[t_a == t].sum() * mass[t_b == t].sum() for t in range(4)) / mass.sum() ** 2
    value = cg.omega(cover(a, n), cover(b, n), sample_weight=w)
    assert value == pytest.approx((observed - expected) / (1 - expected), rel=1e-12)


# --- partitions ------------------------------------------------------------------------------------------------------


#: what the key is for partitions
SAME = {
    "omega": "ari",
    "omega_soft": "ari",
    "comembership_jaccard": "jaccard",
    "ndc": "rand",
    "aci": "ari",
    **{key: key for key in SHARED},
}


@pytest.mark.slow
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_a_partition_is_a_cover(n):
    """Labels as a cover, with a cover, or unchanged give the partition's value, for every shared key."""
    for a, b in itertools.islice(itertools.product(partitions(n), repeat=2), 0, None, {5: 151, 4: 7}.get(n, 1)):
        labels = cg.compare(a, b, [*SAME, *SAME.values()])
        as_covers = [cg.Cover(np.array(x)) for x in (a, b)]
        for first, second in ((as_covers[0], as_covers[1]), (a, as_covers[1]), (as_covers[0], b)):
            found = cg.compare(first, second, list(KEYS))
            expected = cg.compare(a, b, list(KEYS))
            assert found.to_dict() == close(expected.to_dict()), (a, b)
        for key, twin in SAME.items():
            if n > 1:  # one point has no pair: omega is 1 and so are all
                assert labels[key] == close(labels[twin]), (key, a, b)


# --- axioms ----------------------------------------------------------------------------------------------------------


def small_covers(n, most=2):
    """Covers of n points with at most this many clusters."""
    clusters = [list(c) for size in range(1, n + 1) for c in itertools.combinations(range(n), size)]
    return [list(c) for many in range(most + 1) for c in itertools.combinations_with_replacement(clusters, many)]


def reordered(clusters, order):
    """The cover with its points in another order, in one notation."""
    return tuple(sorted(tuple(sorted(order[i] for i in c)) for c in clusters))


@pytest.fixture(scope="module")
def all_pairs():
    """Every measure between all covers of three points with up to two clusters.

    The order of the points does not matter, so covers that differ in it alone are compared with the others once.
    """
    covers = small_covers(3)
    made, place = [cover(b, 3) for b in covers], {reordered(b, range(3)): i for i, b in enumerate(covers)}
    rows: list[dict[str, np.ndarray]] = []
    for i, a in enumerate(covers):
        first, order = min((place[reordered(a, order)], order) for order in itertools.permutations(range(3)))
        if first == i:
            row = cg.compare_to(made[i], made, list(OF_COVERS), threads=1)
            rows.append({key: np.asarray(row[key]) for key in OF_COVERS})
        else:
            there = [place[reordered(b, order)] for b in covers]
            rows.append({key: rows[first][key][there] for key in OF_COVERS})
    return covers, {key: np.array([row[key] for row in rows]) for key in OF_COVERS}


def test_every_axiom_is_decided():
    """Declared, or refuted by a stored pair of covers."""
    refuted = {(key, axiom) for key, found in COUNTEREXAMPLES.items() for axiom in found}
    declared = {(key, axiom) for key in OF_COVERS for axiom in cg.measure(key).axioms}
    axioms = ("symmetric", "definite", "triangle", "baseline")
    assert refuted.isdisjoint(declared)
    assert refuted | declared == {(key, axiom) for key in OF_COVERS for axiom in axioms}


@pytest.mark.slow
@pytest.mark.parametrize("key", OF_COVERS)
def test_declared_axioms_and_ranges_hold(key, all_pairs):
    """On all pairs of small covers: range, symmetry, triangle, identical covers best."""
    _, found = all_pairs
    values, record = found[key], cg.measure(key)
    low, high = record.range
    assert ((values >= low) & (values <= high)).all()
    assert (np.diag(values) == record.best).all() or key == "nf1"
    if "symmetric" in record.axioms:
        assert values == close(values.T)
    if "triangle" in record.axioms:
        d = 1 - values
        assert (d[:, None, :] <= d[:, :, None] + d[None, :, :] + 1e-12).all()


@pytest.mark.parametrize("key", [key for key in OF_COVERS if "baseline" in cg.measure(key).axioms])
def test_baseline(key):
    """The mean over all permutations of the points is 0."""
    cases = [
        ([[0, 1], [1, 2, 3]], [[0, 1, 2], [3, 4]], 5),
        ([[0]], [[0, 1], [0, 1]], 4),
        ([[0, 1, 2]], [[1, 2], [3]], 4),
    ]
    for a, b, n in cases:
        moved = [cover([[order[i] for i in c] for c in b], n) for order in itertools.permutations(range(n))]
        assert cg.compare_to(cover(a, n), moved, key, threads=1)[key].mean() == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize(
    ("key", "axiom"), [(key, axiom) for key, found in COUNTEREXAMPLES.items() for axiom in found], ids=str
)
def test_counterexamples(key, axiom):
    """The stored covers break the axiom that the measure does not declare."""
    stored = COUNTEREXAMPLES[key][axiom]
    n, sides = stored["n"], [cover(stored[x], stored["n"]) for x in "abc" if x in stored]
    measure = getattr(cg, key)
    if axiom == "symmetric":
        assert abs(measure(*sides) - measure(*sides[::-1])) > 1e-3
    elif axiom == "definite":
        assert not naive.same(stored["a"], stored["b"])
        assert measure(*sides) >= measure(sides[0], sides[0]) - 1e-12
    elif axiom == "triangle":
        a, b, c = sides
        assert 1 - measure(a, c) > 2 - measure(a, b) - measure(b, c) + 1e-3
    else:
        moved = [cover([[o[i] for i in c] for c in stored["b"]], n) for o in itertools.permutations(range(n))]
        assert abs(cg.compare_to(sides[0], moved, key, threads=1)[key].mean()) > 1e-3


@pytest.mark.parametrize(
    ("key", "a", "b", "weights"),
    [
        ("onmi_lfk", [0] * 9, [3, 0, 6, 4, 2, 7, 1, 5, 6], [0.79, 0.87, 0.37, 0.12, 0.34, 0.01, 0.88, 0.65, 0.63]),
        ("nf1", [2, 1, 0, 1, 2, 1], [2, 2, 0, 3, 3, 2], [0.3, 0.1, 0.3, 0.2, 0.1, 0.2]),
    ],
)
def test_the_unit_of_weights_does_not_matter(key, a, b, weights):
    """A cluster of all points has entropy 0, and clusters of equal weight stay equal, in any unit of the weights."""
    measure = getattr(cg, key)
    whole = measure(a, b, frequency=[round(100 * w) for w in weights])
    for unit in (1, 100, 7.5, 0.1, 3):
        assert measure(a, b, sample_weight=[w * unit for w in weights]) == pytest.approx(whole, abs=1e-12)
