"""Every measure of hard labels equals its definition (`naive.py`), by every entry point, on every route."""

from __future__ import annotations

import math
import sys

import naive
import numpy as np
import pytest
from doors import (
    KEYS,
    OF_COVERS,
    OF_MATRICES,
    OF_PROFILES,
    OF_TREES,
    ROUTES,
    applicable,
    by_need,
    close,
    everywhere,
    matrices,
    on_route,
)
from hypothesis import example, given, settings
from hypothesis import strategies as st
from measure_cases import AMI, SOFT
from strategies import pairs, partitions, several

import congruence as cg
from congruence.machine import jit

#: ties decide these two, and rounding decides ties of real numbers
TIED = {"kappa_trace", "irm_greedy"}


def test_naive_has_every_measure():
    """Every measure has a slow definition, and every definition a measure."""
    declared = {m.key for m in cg.measures()} - set(OF_MATRICES) - set(OF_PROFILES) - set(OF_TREES) - set(OF_COVERS)
    assert declared == set(naive.MEASURES) == set(KEYS)
    assert set(SOFT) == declared - set(AMI) - TIED - set(naive.OF_POINTS)
    assert set(naive.WEIGHTED) == declared - set(AMI) - set(naive.OF_COUNTS) - set(naive.OF_POINTS) - {
        "ari_gram",
        "fari",
    }


# --- hard labels -----------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", ROUTES)
@settings(max_examples=2)
@given(pairs())
@example(([0], [0]))
@example(([0, 1], [0, 0]))
@example(([0, 0, 0, 0], [0, 1, 2, 3]))
@example(([0, 1, 2, 3], [0, 1, 2, 3]))
@example(([0, 0, 0, 1], [0, 0, 1, 0]))
def test_every_door_on_every_route_gives_the_definition(name, pair):
    """compare, the measure's own function, compare_all (both orders) and compare_to all equal the slow definition."""
    a, b = pair
    for key, value in everywhere(a, b, applicable(a, b), [name]).items():
        assert value == close(naive.MEASURES[key](a, b)), f"{key}: {a}, {b}"


@pytest.mark.slow
@settings(max_examples=40)
@given(pairs())
def test_compare_gives_the_definition(pair):
    """cg.compare equals the slow definition for every measure."""
    a, b = pair
    for key, value in cg.compare(a, b, applicable(a, b)).items():
        assert value == close(naive.MEASURES[key](a, b)), f"{key}: {a}, {b}"


@pytest.fixture(scope="module")
def defined() -> dict[tuple[str, tuple[int, ...], tuple[int, ...]], float]:
    """The slow definition of every measure for all pairs of partitions of 1 to 4 points."""
    return {
        (key, tuple(a), tuple(b)): naive.MEASURES[key](a, b)
        for n in range(1, 5)
        for a in partitions(n)
        for b in partitions(n)
        for key in applicable(a, b)
    }


@pytest.mark.slow
@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_all_partitions_of_few_points(n, route, defined):
    """On all ordered pairs of partitions of n ≤ 4 points, all pairs at once equal the slow definition."""
    every = partitions(n)
    for group in by_need([key for key in KEYS if key != "lambda"]):
        found = cg.compare_all(every, group, threads=1)
        for key in group:
            expected = [[defined[key, tuple(a), tuple(b)] for b in every] for a in every]
            assert found[key] == close(np.array(expected)), f"{key}, n = {n}"
    for k in range(1, n + 1):  # lambda compares equal numbers of clusters
        alike = [p for p in every if max(p) + 1 == k]
        expected = [[defined["lambda", tuple(a), tuple(b)] for b in alike] for a in alike]
        assert cg.compare_all(alike, "lambda", threads=1)["lambda"] == close(np.array(expected)), f"lambda, k = {k}"


@pytest.mark.slow
@settings(max_examples=15)
@given(several(4, 8))
def test_all_pairs_equal_pair_by_pair(clusterings):
    """compare_all holds compare's value at [i, j] and at [j, i], for asymmetric measures too."""
    keys = [key for key in KEYS if key != "lambda" or len({len(set(c)) for c in clusterings}) == 1]
    at_once = cg.compare_all(list(clusterings), keys, threads=1)
    for i, a in enumerate(clusterings):
        for j, b in enumerate(clusterings):
            for key, value in cg.compare(a, b, keys).items():
                assert at_once[key][i, j] == close(value), f"{key} of {i}, {j}: {clusterings}"


def test_all_pairs_are_the_same_for_any_number_of_threads(route, monkeypatch):
    """Two threads give the same result as one, to the last bit."""
    monkeypatch.setattr(jit, "_compiled", {})
    monkeypatch.setattr(jit, "INTERPRETED_STEPS", math.inf)
    rng = np.random.default_rng(7)
    columns = [rng.integers(0, k, 500) for k in (1, 2, 3, 5, 8, 13)]
    for group in by_need([key for key in KEYS if key != "lambda"]):
        one, two = (cg.compare_all(columns, group, threads=t) for t in (1, 2))
        for key in group:
            assert np.array_equal(one[key], two[key], equal_nan=True), key


@pytest.mark.parametrize("key", [pytest.param("irm", marks=pytest.mark.slow), "irm_greedy", "ami_sum"])
def test_a_value_does_not_depend_on_what_was_computed_before(key, monkeypatch):
    """Loops are interpreted until there is enough work, and compiled from then on: the same value, to the last bit."""
    monkeypatch.setattr(jit, "_compiled", {})
    rng = np.random.default_rng(7)
    columns = [rng.integers(0, k, 500) for k in (1, 2, 3, 5, 8, 13)]
    monkeypatch.setattr(jit, "INTERPRETED_STEPS", math.inf)
    early = cg.compare_all(columns, key, threads=1)[key]
    monkeypatch.setattr(jit, "INTERPRETED_STEPS", 0)
    late = cg.compare_all(columns, key, threads=1)[key]
    assert jit._compiled
    assert early == close(late)
    assert np.array_equal(early, late)


def test_a_loop_is_interpreted_longer_while_numba_is_not_loaded(monkeypatch):
    """Loading numba for one loop pays later than compiling one more: the demo of a new installation does neither."""
    monkeypatch.setattr(jit, "_compiled", {})
    monkeypatch.setattr(jit, "_work", {})
    monkeypatch.setattr(jit, "njit", lambda function: f"compiled {function.__name__}")
    monkeypatch.delitem(sys.modules, "numba", raising=False)
    assert jit.compiled(close, jit.INTERPRETED_STEPS * 2) is close
    monkeypatch.setitem(sys.modules, "numba", np)
    assert jit.compiled(close, 1) == "compiled close"


@pytest.mark.slow
@pytest.mark.parametrize("k", [2, 30, 200, 1000])
def test_routes_agree_on_larger_data(k):
    """Tables that are replicated, scanned, read again or visited in sorted order have the same sums."""
    rng = np.random.default_rng(k)
    columns = [rng.integers(0, k, 3000), rng.integers(0, k, 3000), rng.integers(0, max(2, k // 3), 3000)]
    columns[1][:1500] = columns[0][:1500]
    matched = {"accuracy", "clustering_error", "nca", "npa", "psi"}  # slow with hundreds of clusters
    limited = {"kappa_max", "kappa_trace", "irm", "irm_greedy", "lambda", *matched} if k > 30 else {"lambda"}
    groups = by_need([key for key in KEYS if key not in limited])
    expected: dict[str, np.ndarray] = {}
    for name in ROUTES:
        with on_route(name):
            results = [(group, cg.compare_all(columns, group, threads=2)) for group in groups]
            found = {key: result[key] for group, result in results for key in group}
            expected = expected or found
            for key, values in found.items():
                assert values == close(expected[key]), f"{key}, {name}"


@pytest.mark.slow
def test_many_points_in_threads():
    """More than two million points are counted in pieces, and nothing is lost between them."""
    rng = np.random.default_rng(3)
    a, b = rng.integers(0, 4, 2_000_003, dtype=np.int8), rng.integers(0, 3, 2_000_003, dtype=np.int8)
    expected = np.bincount(a.astype(np.int64) * 3 + b, minlength=12).reshape(4, 3)
    for name in ("numpy", "compiled"):
        with on_route(name):
            assert np.array_equal(cg.contingency(a, b).to_array(), expected), name


def test_a_rare_label_outside_the_sampled_range_is_counted(route):
    """The range of labels is guessed from a sample: a label that the sample missed is not lost."""
    a, b = np.zeros(10_000, dtype=np.int64), np.arange(10_000) % 2
    a[1], a[3] = 40, -7
    table = cg.contingency(a, b)
    assert table.rows == (-7, 0, 40)
    assert table.to_array().tolist() == [[0, 1], [5000, 4998], [0, 1]]


def test_cells_come_in_row_major_order(route):
    """Every route lists the cells of a table row by row, columns ascending, each cell once."""
    rng = np.random.default_rng(4)
    for k in (3, 40):
        table = cg.contingency(rng.integers(0, k, 200), rng.integers(0, k, 200))
        assert (np.diff(table.row.astype(np.int64) * k + table.col) > 0).all()
        assert (table.count > 0).all()


def typed_labels() -> list[np.ndarray]:
    """Labels at the ends of every integer type: differences of labels do not fit the type."""
    found = []
    for kind in (np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64):
        low, high = int(np.iinfo(kind).min), int(np.iinfo(kind).max)
        found.append(np.array([low, low + 1, high, high - 1, low, high] * 5, dtype=kind))
        found.append(np.array([high, high - 1, high - 3, high - 1, high - 2, high] * 5, dtype=kind))
    found.append(np.resize(np.arange(-100, 101), 300).astype(np.int8))
    found.append(np.resize(np.arange(-30_000, 30_001, 7), 10_000).astype(np.int16))
    found.append(np.array([2**53, 2**53 + 1, 2**53 + 2] * 10, dtype=np.uint64))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("labels", typed_labels(), ids=lambda x: f"{x.dtype} {x.min()} to {x.max()}")
def test_the_integer_type_changes_nothing(labels, route):
    """Labels may use the whole range of their integer type: clusters and their names are those of plain integers."""
    other = np.arange(len(labels)) % 3
    found = cg.contingency(labels, other)
    cells = zip(found.row.tolist(), found.col.tolist(), found.count.tolist(), strict=True)
    expected: dict[tuple[int, int], int] = {}
    for cell in zip(labels.tolist(), other.tolist(), strict=True):
        expected[cell] = expected.get(cell, 0) + 1
    assert {(found.rows[i], found.columns[j]): count for i, j, count in cells} == expected
    plain = [str(x) for x in labels.tolist()]
    assert cg.compare_all([labels, other], "vi")["vi"][0, 1] == close(cg.vi(plain, other))


def test_lambda_refuses_unequal_numbers_of_clusters():
    """lambda is defined for equal numbers of clusters: the error names both, and 'all' leaves lambda out."""
    with pytest.raises(cg.NotApplicable, match=r"equal numbers of clusters.* 2 and 3"):
        cg.lambda_statistic([0, 0, 1], [0, 1, 2])
    assert "equal numbers" in cg.compare([0, 0, 1], [0, 1, 2], "all").skipped["lambda"]


def test_lambda_of_one_cluster_each_is_undefined():
    """One cluster on each side has no NMI, so lambda is undefined (NaN), identical or not."""
    assert math.isnan(cg.lambda_statistic([0, 0, 0], [1, 1, 1]))


# --- names and order do not matter -----------------------------------------------------------------------------------


@pytest.mark.slow
@settings(max_examples=30)
@given(pairs(), st.data())
def test_permuting_points_changes_nothing(pair, data):
    """The order of the points does not matter."""
    a, b = pair
    order = data.draw(st.permutations(range(len(a))))
    moved = cg.compare([a[i] for i in order], [b[i] for i in order], applicable(a, b))
    assert moved.to_dict() == close(cg.compare(a, b, applicable(a, b)).to_dict())


@pytest.mark.slow
@settings(max_examples=30)
@given(pairs(), st.data())
def test_renaming_clusters_changes_nothing(pair, data):
    """The names of the clusters do not matter (irm_greedy breaks ties by their order, and says so)."""
    a, b = pair
    names = data.draw(st.permutations([-3, 0, 7, 8, 1000, 12345]))
    words = data.draw(st.permutations(["b", "a", "Z", "", "ä", "10"]))
    keys = [key for key in applicable(a, b) if key != "irm_greedy"]
    renamed = cg.compare([names[x] for x in a], [words[x] for x in b], keys)
    assert renamed.to_dict() == close(cg.compare(a, b, keys).to_dict())


@pytest.mark.parametrize("keys", by_need([key for key in KEYS if key != "lambda"]), ids=lambda keys: keys[0])
def test_swapping_asymmetric_measures_gives_the_other_way(keys, route):
    """compare_all's [j, i] of an asymmetric measure is the measure with j as the reference."""
    rng = np.random.default_rng(11)
    columns = [rng.integers(0, k, 40) for k in (2, 3, 5, 7)]
    at_once, ordered = cg.compare_all(columns, keys, threads=1), matrices(columns, keys)
    for key in keys:
        assert at_once[key] == close(ordered[key]), key
