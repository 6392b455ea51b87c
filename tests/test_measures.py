"""Every measure equals its definition (`naive.py`), through every door, on every route, for every kind of input."""

from __future__ import annotations

import ast
import math

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
    doors,
    everywhere,
    matrices,
    on_route,
    scorer,
)
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import sparse
from strategies import counted_pairs, pairs, pairs_of_memberships, partitions, several, weighted_pairs

import congruence as cg
from congruence.engine import cpu
from congruence.machine import device, jit

AMI = [key for key in KEYS if key.startswith("ami_")]
#: soft measures of `naive`, and those whose formula takes any table
SOFT = {
    **naive.SOFT,
    "kappa_max": naive.counted(naive.soft_table, naive.kappa_max),
    "lambda": naive.counted(naive.soft_table, naive.lambda_),
}
#: ties decide these two, and rounding decides ties of real numbers
TIED = {"kappa_trace", "irm_greedy"}


def test_naive_has_every_measure():
    """Every measure has a slow definition, and every definition a measure."""
    declared = {m.key for m in cg.measures()} - set(OF_MATRICES) - set(OF_PROFILES) - set(OF_TREES) - set(OF_COVERS)
    assert declared == set(naive.MEASURES) == set(KEYS)
    assert set(SOFT) == declared - set(AMI) - TIED - set(naive.OF_POINTS)
    assert set(naive.WEIGHTED) == declared - set(AMI) - set(naive.OF_COUNTS) - set(naive.OF_POINTS) - {"ari_gram"}


# --- hard labels -----------------------------------------------------------------------------------------------------


@pytest.mark.slow
@settings(max_examples=6)
@given(pairs())
@example(([0], [0]))
@example(([0, 1], [0, 0]))
@example(([0, 0, 0, 0], [0, 1, 2, 3]))
@example(([0, 1, 2, 3], [0, 1, 2, 3]))
@example(([0, 0, 0, 1], [0, 0, 1, 0]))
def test_every_door_on_every_route_gives_the_definition(pair):
    """compare, the measure's own function, compare_all (both orders) and compare_to all equal the slow definition."""
    a, b = pair
    for key, value in everywhere(a, b, applicable(a, b)).items():
        assert value == close(naive.MEASURES[key](a, b)), f"{key}: {a}, {b}"


@pytest.mark.slow
@settings(max_examples=60)
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
    """Two threads give what one gives, to the last bit."""
    monkeypatch.setattr(jit, "_compiled", {})
    monkeypatch.setattr(jit, "INTERPRETED_STEPS", math.inf)
    rng = np.random.default_rng(7)
    columns = [rng.integers(0, k, 500) for k in (1, 2, 3, 5, 8, 13)]
    for group in by_need([key for key in KEYS if key != "lambda"]):
        one, two = (cg.compare_all(columns, group, threads=t) for t in (1, 2))
        for key in group:
            assert np.array_equal(one[key], two[key]), key


@pytest.mark.parametrize("key", ["irm", "irm_greedy", "ami_sum"])
def test_a_value_does_not_depend_on_what_was_computed_before(key, monkeypatch):
    """Loops are interpreted until there was much to do, and compiled from then on: the same value, to the last bit."""
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


@pytest.mark.slow
@pytest.mark.parametrize("k", [2, 30, 200, 1000])
def test_routes_agree_on_larger_data(k):
    """Tables that are replicated, scanned, touched again or walked in sorted order have the same sums."""
    rng = np.random.default_rng(k)
    columns = [rng.integers(0, k, 3000), rng.integers(0, k, 3000), rng.integers(0, max(2, k // 3), 3000)]
    columns[1][:1500] = columns[0][:1500]
    limited = {"kappa_max", "kappa_trace", "irm", "irm_greedy", "lambda"} if k > 30 else {"lambda"}
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
    """The names of the clusters are no part of a clustering (irm_greedy breaks ties by their order, and says so)."""
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


# --- soft clusterings ------------------------------------------------------------------------------------------------


def soft_keys(u: list[list[float]], v: list[list[float]]) -> list[str]:
    """Keys with a soft definition; lambda wants equal numbers of clusters that have members."""
    k_u, k_v = (int(np.any(x, axis=0).sum()) for x in (u, v))
    return [key for key in SOFT if key != "lambda" or k_u == k_v]


def assert_soft(u: list[list[float]], v: list[list[float]]) -> None:
    """Dense and sparse memberships give the slow definition, by compare and by compare_all.

    Soft pair counts can be negative and their sums nearly 0, so that ratios lose digits: nine are asked for.
    """

    def close(value: float) -> object:
        return pytest.approx(value, rel=1e-9, abs=1e-9, nan_ok=True)

    keys = soft_keys(u, v)
    expected = {key: SOFT[key](u, v) for key in keys}
    dense = [cg.Memberships(np.array(x)) for x in (u, v)]
    thin = [sparse.csr_array(np.array(x)) for x in (u, v)]
    for first, second in (dense, thin, (dense[0], thin[1])):
        found = cg.compare(first, second, keys)
        for key in keys:
            assert found[key] == close(expected[key]), f"{key}: {u}, {v}"
    at_once = cg.compare_all(dense, keys)
    rows = cg.compare_to(dense[0], dense, keys)
    for key in keys:
        assert at_once[key][0, 1] == close(expected[key]), f"{key}, compare_all: {u}, {v}"
        assert rows[key][1] == close(expected[key]), f"{key}, compare_to: {u}, {v}"


@pytest.mark.slow
@settings(max_examples=25)
@given(pairs_of_memberships())
@example(([[0.875, 0.125]] * 2 + [[0.125, 0.875]] * 2, [[0.875, 0.125]] * 2 + [[0.125, 0.875]] * 2))
@example(([[1.0, 0.0]] * 3, [[0.5, 0.5]] * 3))
@example(([[0.5, 0.5]] * 4, [[0.5, 0.5]] * 4))  # the same, and yet independent
def test_probabilistic_memberships_give_the_definition(pair):
    """Memberships that add up to 1, dense or sparse, equal the slow definition through N* = φ UᵀV."""
    assert_soft(*pair)


@pytest.mark.slow
@settings(max_examples=25)
@given(pairs_of_memberships(probabilistic=False))
@example(([[0.5]] * 3, [[0.25]] * 3))
def test_possibilistic_memberships_give_the_definition(pair):
    """Memberships that add up to anything, dense or sparse, equal the slow definition through N* = φ UᵀV."""
    assert_soft(*pair)


@pytest.mark.slow
@settings(max_examples=20)
@given(pairs())
@example(([0], [0]))
def test_crisp_memberships_give_the_crisp_value(pair):
    """Memberships of 0 and 1 are labels: same values, also where only one side is given so."""
    a, b = pair
    keys = [key for key in applicable(a, b) if key not in AMI and key not in naive.OF_POINTS]
    u, v = (np.eye(max(x) + 1)[x] for x in (a, b))
    expected = close(cg.compare(a, b, keys).to_dict())
    wide = [cg.Memberships(x) for x in (u, v)]
    assert cg.compare(*wide, keys).to_dict() == expected
    assert cg.compare(sparse.csr_array(u), sparse.csr_array(v), keys).to_dict() == expected
    assert cg.compare(a, wide[1], keys).to_dict() == expected
    assert cg.compare(wide[0], b, keys).to_dict() == expected


# --- weights and frequencies -----------------------------------------------------------------------------------------


@pytest.mark.slow
@settings(max_examples=20)
@given(weighted_pairs())
@example(([0, 1, 2, 3], [0, 0, 1, 2], [0.125, 0.375, 1.25, 0.875]))
@example(([0, 1, 2], [0, 1, 2], [0.375, 1.75, 0.625]))
def test_weights_give_the_definition(case):
    """Importance weights equal the slow definition, by every function and route; a weight of 0 removes a point."""
    a, b, w = case
    expected = {key: formula(a, b, w) for key, formula in naive.WEIGHTED.items()}
    for name in ("numpy", "compiled", "sparse"):
        with on_route(name):
            assert cg.compare(a, b, list(expected), sample_weight=w).to_dict() == close(expected)
            at_once = cg.compare_all([a, b], list(expected), sample_weight=w)
            rows = cg.compare_to(a, [a, b], list(expected), sample_weight=w)
            for key, value in expected.items():
                assert at_once[key][0, 1] == close(value), f"{key}, compare_all: {case}"
                assert rows[key][1] == close(value), f"{key}, compare_to: {case}"


@pytest.mark.slow
@settings(max_examples=40)
@given(weighted_pairs(), st.sampled_from([1e-6, 1 / 3, 7.0, 1e9]))
def test_scaling_weights_changes_nothing(case, factor):
    """Only the proportions of importance weights matter."""
    a, b, w = case
    keys = [key for key in naive.WEIGHTED if key != "irm_greedy"]
    scaled = cg.compare(a, b, keys, sample_weight=[factor * x for x in w])
    assert scaled.to_dict() == close(cg.compare(a, b, keys, sample_weight=w).to_dict())


@settings(max_examples=30)
@given(several(2, 9))
def test_equal_weights_are_no_weights(pair):
    """A weight of 0.7 for every point gives every measure its plain value."""
    a, b = pair
    keys = [key for key in applicable(a, b) if cg.measure(key).takes_weights]
    weighted = cg.compare(a, b, keys, sample_weight=[0.7] * len(a))
    assert weighted.to_dict() == close(cg.compare(a, b, keys).to_dict())


@pytest.mark.slow
@settings(max_examples=5)
@given(counted_pairs())
@example(([0, 1], [0, 0], [2, 1]))
@example(([0, 1, 2], [0, 1, 1], [1, 0, 3]))
def test_a_frequency_is_the_point_so_many_times(case):
    """Frequency 2 is the same point twice, and 0 is no point, for every measure, door and route."""
    a, b, times = case
    long_a, long_b = (np.repeat(x, times).tolist() for x in (a, b))
    keys = applicable(long_a, long_b)
    assert everywhere(a, b, keys, frequency=times) == close(cg.compare(long_a, long_b, keys).to_dict())


@pytest.mark.parametrize("key", AMI)
def test_ami_refuses_weights_and_memberships(key):
    """The expectation of ami is over permutations of whole points: the error says so, and what to do instead."""
    a, b = [0, 0, 1, 1], [0, 1, 1, 1]
    with pytest.raises(cg.NotApplicable, match=f"{key} is not defined for sample_weight.*frequency"):
        cg.compare(a, b, key, sample_weight=[1, 2, 1, 1])
    u = cg.Memberships([[0.5, 0.5], [1, 0], [0, 1], [0, 1]])
    with pytest.raises(cg.NotApplicable, match=f"{key} is not defined for soft memberships.*ari_gram"):
        scorer(key)(u, b)
    with pytest.raises(cg.NotApplicable, match=f"{key} is not defined for soft memberships"):
        cg.compare_all([u, u], key)
    with pytest.raises(cg.NotApplicable, match=f"{key} is not defined for sample_weight"):
        cg.compare_to(a, [b], key, sample_weight=[1, 2, 1, 1])
    assert key in cg.compare(a, b, "all", sample_weight=[1, 2, 1, 1]).skipped


# --- what a measure says of itself -----------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("key", KEYS)
@settings(max_examples=15)
@given(pairs(8))
@example(([0], [0]))
@example(([0, 0, 0], [0, 0, 0]))
@example(([0, 0, 0], [0, 1, 2]))
@example(([0, 1, 2], [0, 1, 2]))
@example(([0, 0, 1, 1], [0, 1, 0, 1]))
def test_the_definition_evaluates_to_the_formula(key, pair):
    """The printed definition, with the pair's numbers in it, comes to the value of the measure, or is 0/0."""
    a, b = pair
    if key not in applicable(a, b):
        return
    measure = cg.measure(key)
    value = cg.compare(a, b, key)[key]
    found = measure.explain(a, b)
    assert found.value == close(value)
    result, divisors = evaluated(measure.definition, found.symbols)
    last = [line.strip() for line in str(found).splitlines() if not line.startswith("  Caution")][-1]
    if last.startswith("= 0/0"):
        assert last == f"= 0/0, by the rule for 0/0: {value:.6g}"
        assert any(not abs(x) > 1e-12 for x in divisors), f"{divisors} are not 0, and {result} is not {value}"
    else:
        assert result == close(value)
        assert last == f"= {value:.6g}"


def evaluated(definition: tuple[str, ...], symbols: dict[str, object]) -> tuple[float, list[float]]:
    """What the lines of a definition come to, and what the last one divides by."""
    known = {"sqrt": np.sqrt, "exp": np.exp, "max": max, "min": min, **symbols}

    def value(expression: str) -> float:
        with np.errstate(all="ignore"):
            return eval(expression, {"__builtins__": {}}, known)  # noqa: S307  (the library's own definitions)

    for line in definition:
        name, expression = line.split(" = ", 1)
        known[name] = value(expression)
    tree = ast.walk(ast.parse(expression, mode="eval"))
    divisions = [node for node in tree if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div)]
    return known[name], [value(ast.unparse(node.right)) for node in divisions]


@pytest.mark.slow
@settings(max_examples=40)
@given(pairs())
def test_element_scores_are_those_of_the_definition(pair):
    """The scores of points equal the slow definition, and their mean is element_centric."""
    a, b = pair
    scores = cg.element_scores(a, b)
    assert scores == close(np.array(naive.element_scores(a, b)))
    assert scores.mean() == close(cg.element_centric(a, b))


@pytest.mark.slow
@settings(max_examples=30)
@given(pairs_of_memberships())
def test_soft_element_scores_have_the_measure_as_their_mean(pair):
    """For memberships too, the mean of the scores of points is element_centric."""
    u, v = (cg.Memberships(np.array(x)) for x in pair)
    assert cg.element_scores(u, v).mean() == close(cg.element_centric(u, v))


@pytest.mark.slow
def test_routes_are_really_taken(monkeypatch):
    """The helper that forces routes works: each calls only its own counting functions."""
    from congruence.engine import kernels

    taken = set()

    def spy(module, name):
        original = getattr(module, name)
        monkeypatch.setattr(module, name, lambda *args, **more: (taken.add(name), original(*args, **more))[1])

    for module, names in (
        (cpu, ["_bincount", "_sparse_cells"]),
        (kernels, ["count_raw", "count_blocks", "fused"]),
    ):
        for name in names:
            spy(module, name)
    spy(kernels, "count_sorted")
    a, b = [0, 1, 2, 3, 0], [0, 0, 1, 2, 3]
    keys = [key for key in KEYS if key != "lambda"]
    expected = {
        "numpy": {"_bincount"},
        "compiled": {"count_raw", "count_blocks", "fused"},
        "compiled, few logarithms looked up": {"count_raw", "count_blocks", "fused"},
        "sparse": {"_sparse_cells"},
        "sparse, compiled": {"_sparse_cells", "count_sorted", "fused"},
        "cuda": {"count<", "fused<"},
        "cuda, few logarithms looked up": {"count<", "fused<"},
        "cuda, slices": {"count<", "tiled<", "sliced<false"},
        "cuda, hashed slices": {"count<", "tiled<", "sliced<true"},
        "cuda, chunks": {"count<", "chunked<"},
        "cuda, sorted cells": {"count<", "run_sums<"},
        "cuda, parts": {"count<", "sums_of<"},
        "cuda, sparse": {"_by_sorting", "fused<"},
    }
    if "cuda" in ROUTES:
        from congruence.engine.cuda import chunks, counting, sums

        spy(counting.Cells, "_by_sorting")
        kernel = device.kernel
        of_tables = ("fused<", "count<", "tiled<", "sums_of<", "sliced<false", "sliced<true", "chunked<", "run_sums<")

        def named(instance):
            taken.update(name for name in of_tables if instance.startswith(name))
            return kernel(instance)

        for module in (counting, sums, chunks):
            monkeypatch.setattr(module, "kernel", named)
    for name in ROUTES:
        taken.clear()
        with on_route(name):
            list(doors(a, b, keys))
        assert taken == expected[name], name
