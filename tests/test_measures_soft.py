"""Measures of memberships and weighted points equal their definitions, and describe themselves correctly."""

from __future__ import annotations

import ast

import naive
import numpy as np
import pytest
from doors import (
    KEYS,
    ROUTES,
    applicable,
    close,
    doors,
    everywhere,
    on_route,
    scorer,
)
from hypothesis import example, given, settings
from hypothesis import strategies as st
from measure_cases import AMI, SOFT
from scipy import sparse
from strategies import counted_pairs, pairs, pairs_of_memberships, several, weighted_pairs

import congruence as cg
from congruence.engine import cpu
from congruence.machine import device
from congruence.statistics import bonds

# --- soft clusterings ------------------------------------------------------------------------------------------------


def soft_keys(u: list[list[float]], v: list[list[float]]) -> list[str]:
    """Keys with a soft definition; lambda needs equal numbers of non-empty clusters."""
    k_u, k_v = (int(np.any(x, axis=0).sum()) for x in (u, v))
    return [key for key in SOFT if key != "lambda" or k_u == k_v]


def assert_soft(u: list[list[float]], v: list[list[float]]) -> None:
    """Dense and sparse memberships give the slow definition, by compare and by compare_all.

    Soft pair counts can be negative and their sums nearly 0, so that ratios lose digits: nine are compared.
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
@settings(max_examples=15)
@given(pairs_of_memberships())
@example(([[0.875, 0.125]] * 2 + [[0.125, 0.875]] * 2, [[0.875, 0.125]] * 2 + [[0.125, 0.875]] * 2))
@example(([[1.0, 0.0]] * 3, [[0.5, 0.5]] * 3))
@example(([[0.5, 0.5]] * 4, [[0.5, 0.5]] * 4))  # the same, and yet independent
def test_probabilistic_memberships_give_the_definition(pair):
    """Memberships that add up to 1, dense or sparse, equal the slow definition through N* = φ UᵀV."""
    assert_soft(*pair)


@pytest.mark.slow
@settings(max_examples=15)
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
    """Memberships of 0 and 1 are labels: same values, also if only one side is given in this way."""
    a, b = pair
    keys = [key for key in applicable(a, b) if key not in AMI and key not in naive.OF_POINTS]
    u, v = (np.eye(max(x) + 1)[x] for x in (a, b))
    expected = close(cg.compare(a, b, keys).to_dict())
    wide = [cg.Memberships(x) for x in (u, v)]
    assert cg.compare(*wide, keys).to_dict() == expected
    assert cg.compare(sparse.csr_array(u), sparse.csr_array(v), keys).to_dict() == expected
    assert cg.compare(a, wide[1], keys).to_dict() == expected
    assert cg.compare(wide[0], b, keys).to_dict() == expected


#: memberships of seven points, and classes
U = np.array(
    [0.9, 0.1, 0, 0.8, 0.1, 0.1, 0.3, 0.6, 0.1, 0.1, 0.7, 0.2, 0.2, 0.2, 0.6, 0, 0.1, 0.9, 0.4, 0.3, 0.3]
).reshape(-1, 3)
V = np.array([0.7, 0.3, 0.6, 0.4, 0.5, 0.5, 0.2, 0.8, 0.1, 0.9, 0.3, 0.7, 1, 0]).reshape(-1, 2)
CLASSES = [0, 0, 1, 1, 2, 2, 0]


@pytest.mark.parametrize(
    ("a", "b", "values"),
    [
        (CLASSES, U, (0.733727810650888, 0.376076790548856, 0.383561643835616, 0.421140378369195, 0.628571428571429)),
        (U, V, (0.532846715328467, 0.056646403787186, 0.300546448087432, 0.100024026354005, 0.714285714285714)),
        (U, U, (0.652509652509653, 0.281354051054384, 0.403973509933775, 1.0, 1.0)),
    ],
    ids=["classes", "two", "itself"],
)
def test_values_of_the_authors_packages(a, b, values):
    """RI.F, ARI.F and JACCARD.F of R's fclust, and fari and the concordance of R's FARI, whose code was run in R 4.2."""
    found = cg.compare(a, b, ["rand_campello", "ari_campello", "jaccard_campello", "fari", "ndc"])
    assert list(found.values()) == pytest.approx(values, rel=1e-13)


def test_identical_memberships_rank_above_a_hardened_copy():
    """aci, ndc and fari are 1 for memberships with themselves; they lead the default set, and reports rank by fari."""
    rng = np.random.default_rng(0)
    t = rng.dirichlet([0.5] * 3, 60)
    hardened, other = np.eye(3)[t.argmax(axis=1)], rng.dirichlet([0.5] * 3, 60)
    same, near = cg.compare(t, t.copy()), cg.compare(t, hardened)
    assert list(same)[:3] == ["aci", "ndc", "fari"]
    for key in ("aci", "ndc", "fari"):
        assert same[key] == 1.0 > near[key]
        assert same.self_values[0][key] == 1.0
    assert cg.compare(t, t, "ari_gram")["ari_gram"] < cg.compare(t, hardened, "ari_gram")["ari_gram"]
    report = cg.report({"t": t, "other": other, "hardened": hardened, "same": t.copy()}, reference="t")
    assert [report.model.names[row.member] for row in report.model.against.rows][:2] == ["same", "hardened"]


def test_independent_memberships_have_a_mean_of_0():
    """Over permutations of the points, fari is 0 on average, for memberships of any crispness."""
    rng = np.random.default_rng(0)
    for alpha in (0.3, 1.0, 5.0):
        u, v = rng.dirichlet([alpha] * 3, 12), rng.dirichlet([alpha] * 4, 12)
        drawn = [cg.fari(u, v[rng.permutation(12)]) for _ in range(400)]
        assert abs(np.mean(drawn)) < 4 * np.std(drawn) / 20


def test_large_memberships_leave_out_measures_of_all_pairs():
    """Above 4,000 points the default set and "all" skip what compares all pairs of points, and say so."""
    rng = np.random.default_rng(0)
    u = rng.dirichlet([1, 1], 4_001)
    r = cg.compare(u, u[::-1])
    assert next(iter(r)) == "fari"
    assert "all pairs of the 4,001 points" in r.skipped["aci"]


def test_the_compiled_loop_of_degrees_is_the_numpy_loop(monkeypatch):
    """Campello's sums are the same from blocks of numpy and pair by pair, for rows that repeat too."""
    rng = np.random.default_rng(0)
    u, v = rng.dirichlet([0.5] * 3, 40)[rng.integers(0, 40, 60)], rng.dirichlet([0.5] * 4, 60)
    keys = ["rand_campello", "ari_campello", "jaccard_campello"]
    expected = close(cg.compare(u, v, keys).to_dict())
    monkeypatch.setattr(bonds, "COMPILED_FROM", 0)
    assert cg.compare(u, v, keys).to_dict() == expected
    monkeypatch.setattr(bonds, "COMPILED_FROM", np.inf)
    monkeypatch.setattr(bonds, "BLOCK", 100)
    assert cg.compare(u, v, keys).to_dict() == expected


@pytest.mark.parametrize("key", ["aci", "ndc", "fari"])
def test_criteria_that_are_1_for_identical_runs_count(key):
    """choose_k counts the votes of aci, ndc and fari for runs of memberships, without a caution about crispness."""
    X = np.vstack([np.random.default_rng(0).normal(size=(30, 2)) + 8 * c for c in range(2)])
    found = cg.choose_k(X, [2, 3], "em", n_members=3, criteria=[key], random_state=0)
    criterion = found.criteria[key]
    assert criterion.votes
    assert criterion.caution is None or criterion.caution.code != "crisp"


# --- weights and frequencies -----------------------------------------------------------------------------------------


@pytest.mark.slow
@settings(max_examples=12)
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
@pytest.mark.parametrize("name", ROUTES)
@settings(max_examples=2)
@given(counted_pairs())
@example(([0, 1], [0, 0], [2, 1]))
@example(([0, 1, 2], [0, 1, 1], [1, 0, 3]))
def test_a_frequency_repeats_the_point(name, case):
    """Frequency 2 is the same point twice, and 0 removes the point, for every measure, entry point and route."""
    a, b, times = case
    long_a, long_b = (np.repeat(x, times).tolist() for x in (a, b))
    keys = applicable(long_a, long_b)
    assert everywhere(a, b, keys, [name], frequency=times) == close(cg.compare(long_a, long_b, keys).to_dict())


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


# --- the description of a measure ------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("key", KEYS)
@settings(max_examples=8)
@given(pairs(8))
@example(([0], [0]))
@example(([0, 0, 0], [0, 0, 0]))
@example(([0, 0, 0], [0, 1, 2]))
@example(([0, 1, 2], [0, 1, 2]))
@example(([0, 0, 1, 1], [0, 1, 0, 1]))
def test_the_definition_evaluates_to_the_formula(key, pair):
    """The printed definition, with the pair's numbers in it, gives the value of the measure, or is 0/0."""
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
    """The values of the lines of a definition, and the denominator of the last one."""
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
    from congruence.engine import kernels, listing_kernels, pair_kernels, table_kernels

    taken = set()

    def spy(module, name):
        original = getattr(module, name)
        monkeypatch.setattr(module, name, lambda *args, **more: (taken.add(name), original(*args, **more))[1])

    for module, names in (
        (cpu, ["_bincount", "_sparse_cells"]),
        (kernels, ["count_raw", "count_blocks", "fused"]),
        (listing_kernels, ["list_pairs"]),
        (pair_kernels, ["count_two"]),
        (table_kernels, ["cells_of_two", "add_cells"]),
    ):
        for name in names:
            spy(module, name)
    spy(kernels, "count_sorted")
    a, b = [0, 1, 2, 3, 0], [0, 0, 1, 2, 3]
    keys = [key for key in KEYS if key != "lambda"]
    expected = {
        "numpy": {"_bincount"},
        "compiled": {"count_raw", "list_pairs", "fused"},
        "compiled, pair by pair": {"count_two", "cells_of_two", "add_cells", "list_pairs", "fused"},
        "compiled, few logarithms looked up": {"count_raw", "list_pairs", "fused"},
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

        def named(which, *choices):
            taken.update(name for name in of_tables if device.kernel_name(which, *choices).startswith(name))
            return kernel(which, *choices)

        for module in (counting, sums, chunks):
            monkeypatch.setattr(module, "kernel", named)
    for name in ROUTES:
        taken.clear()
        with on_route(name):
            list(doors(a, b, keys))
        assert taken == expected[name], name
