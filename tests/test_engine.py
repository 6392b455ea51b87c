"""Threads, tiles, progress and many clusters."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from engine_cases import KEYS, ROUTES, cells, counted, random_labels, take
from hypothesis import given, settings
from hypothesis import strategies as st

import congruence as cg
from congruence.engine import cpu, fused, soft_tables
from congruence.engine.plan import Run, against_first, all_pairs, pairs_of, tiles
from congruence.inputs.coerce import as_clustering
from congruence.statistics import information
from congruence.statistics.information import Info
from congruence.statistics.maxima import Maxima
from congruence.statistics.pairs import Pairs
from congruence.statistics.tables import Table, Tables

# --- threads, tiles, progress ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("route", [r for r in ("numpy", "compiled", "cuda") if r in ROUTES])
def test_any_number_of_threads_gives_the_same_bits(monkeypatch, route):
    """1, 2 and 8 threads give identical matrices to the last bit, for every kind of points."""
    take(monkeypatch, route)
    n = 1000
    vectors = random_labels(n, [5, 9, 5, 40, 9, 5], seed=6)
    soft = np.random.default_rng(1).dirichlet(np.ones(4), n)
    for data, options in (
        (vectors, {}),
        (vectors, {"sample_weight": np.random.default_rng(2).random(n)}),
        (vectors, {"frequency": np.arange(n) % 4}),
        ([np.where(v == 0, np.nan, v) for v in vectors], {"unassigned": "drop"}),
        ([soft, *vectors[:2]], {}),
    ):
        keys = ["ari", "vi", "nmi_sum", "van_dongen", "element_centric", "accuracy"]
        keys += ["ami_sum"] if "sample_weight" not in options and data[0] is not soft else []
        first, *others = (cg.compare_all(data, keys, threads=t, **options) for t in (1, 2, 8))
        for other in others:
            for key in keys:
                if route == "cuda" and "sample_weight" in options:  # floats are added in any order
                    np.testing.assert_allclose(other[key], first[key], rtol=1e-12, atol=1e-13, err_msg=key)
                else:
                    assert other[key].tobytes() == first[key].tobytes(), key


@settings(derandomize=True, deadline=None, max_examples=60)
@given(st.integers(1, 12), st.floats(0.5, 60), st.integers(0, 2**32 - 1))
def test_tiles_hold_every_pair_once_and_in_order(members, budget, seed):
    """Tiles cut the runs without losing, repeating or reordering a pair, and only a single pair exceeds the budget."""
    price = np.random.default_rng(seed).random((members, members)) * 10
    for runs in (all_pairs(members), against_first(members), [Run(0, 0, members), Run(members - 1, 0, 1)]):
        cut = list(tiles(runs, lambda i, j: price[i, j], budget))
        assert all(cut)
        expected = [x.tolist() for x in pairs_of(runs)]
        found = [np.concatenate([pairs_of(t)[side] for t in cut]).tolist() if cut else [] for side in (0, 1)]
        assert found == expected
        for tile in cut:
            i, j = pairs_of(tile)
            assert len(i) == 1 or price[i, j].sum() <= budget * (1 + 1e-12)


def test_runs_name_the_pairs():
    """All pairs are every i ≤ j once; against the first are (0, 1), (0, 2), …"""
    i, j = pairs_of(all_pairs(4))
    assert list(zip(i.tolist(), j.tolist(), strict=True)) == [(x, y) for x in range(4) for y in range(x, 4)]
    i, j = pairs_of(against_first(4))
    assert list(zip(i.tolist(), j.tolist(), strict=True)) == [(0, 1), (0, 2), (0, 3)]
    assert pairs_of([])[0].tolist() == []


@pytest.mark.parametrize("memory", [1, 5_000, 1 << 28])
def test_any_memory_budget_gives_the_same_statistics(monkeypatch, memory):
    """Tables counted one at a time or all together give the same sums."""
    take(monkeypatch, "numpy")
    members = [as_clustering(v) for v in random_labels(300, [3, 7, 20, 4], seed=7)]
    found = list(cpu.statistics(members, all_pairs(4), {Pairs, Info, Maxima, Tables}, memory=memory))
    whole = list(cpu.statistics(members, all_pairs(4), {Pairs, Info, Maxima, Tables}))
    assert len(whole) == 1
    assert len(found) == {1: 10, 5_000: len(found), 1 << 28: 1}[memory]
    assert np.concatenate([t.i for t in found]).tolist() == whole[0].i.tolist()
    assert np.concatenate([t.j for t in found]).tolist() == whole[0].j.tolist()
    for kind, names in ((Pairs, ("same_both", "only_a", "only_b")), (Info, ("H_ab",)), (Maxima, ("best_of_a",))):
        for name in names:
            pieces = np.concatenate([getattr(t.statistics[kind], name) for t in found])
            np.testing.assert_allclose(pieces, getattr(whole[0].statistics[kind], name), rtol=1e-12)


def test_a_small_budget_changes_no_result(monkeypatch):
    """compare_all cut into tiles of single pairs gives the matrices of one tile, hard and soft."""
    vectors = random_labels(200, [4, 6, 5], seed=9)
    soft = [np.random.default_rng(k).dirichlet(np.ones(k), 200) for k in (2, 3, 4)]
    for data in (vectors, soft, [*soft, vectors[0]]):
        whole = cg.compare_all(data, ["ari", "vi", "ari_gram", "f_measure"])
        with monkeypatch.context() as small:
            original = cpu.statistics
            small.setattr(cpu, "statistics", lambda *args, _f=original, **kw: _f(*args, **{**kw, "memory": 1}))
            cut = cg.compare_all(data, ["ari", "vi", "ari_gram", "f_measure"])
        for key in whole:
            np.testing.assert_allclose(cut[key], whole[key], rtol=1e-12, atol=1e-13)


def test_soft_products_dense_or_sparse_are_the_same(monkeypatch):
    """Memberships are multiplied dense, or sparse where the tables would be large; the values are the same."""
    soft = [np.random.default_rng(k).dirichlet(np.ones(k), 80) for k in (2, 3, 4)]
    soft.append(np.random.default_rng(9).integers(0, 3, 80))
    dense = cg.compare_all(soft, ["ari", "nmi_sum", "ari_gram", "accuracy"])
    monkeypatch.setattr(soft_tables, "MEMORY", 4)
    sparse = cg.compare_all(soft, ["ari", "nmi_sum", "ari_gram", "accuracy"])
    for key in dense:
        np.testing.assert_allclose(sparse[key], dense[key], rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("route", [r for r in ("numpy", "compiled", "cuda") if r in ROUTES])
@pytest.mark.parametrize("threads", [1, 2])
def test_progress_is_reported(monkeypatch, route, threads):
    """A callable sees (done, total) rise to the total, in pairs, each clustering with itself among them."""
    take(monkeypatch, route)
    vectors = random_labels(2000, [4] * 7, seed=1)
    for run, total in (
        (lambda report: cg.compare_all(vectors, progress=report, threads=threads), 28),
        (lambda report: cg.compare_to(vectors[0], vectors[1:], progress=report, threads=threads), 6),
    ):
        seen: list[tuple[int, int]] = []
        run(lambda done, of, seen=seen: seen.append((done, of)))
        done = [d for d, _ in seen]
        assert done == sorted(set(done))
        assert seen[-1] == (total, total)
        assert {of for _, of in seen} == {total}


def test_progress_may_be_switched_off(capsys):
    """progress=False and progress=None print nothing where there is no terminal."""
    for wish in (None, False):
        cg.compare_all(random_labels(50, [3, 3]), progress=wish)
    assert capsys.readouterr() == ("", "")


def test_an_error_in_the_progress_callable_reaches_the_caller():
    """A callable that raises stops the work; the exception is not swallowed by the threads."""

    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cg.compare_all(random_labels(50, [3, 3, 3]), progress=stop, threads=2)


# --- many clusters ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "route",
    ["numpy", *(pytest.param(r, marks=pytest.mark.slow) for r in ("compiled", "cuda", "cuda, slices") if r in ROUTES)],
)
def test_many_clusters_need_no_dense_table(monkeypatch, route):
    """With about as many clusters as points the table is kept as its cells; a dense one would take gigabytes."""
    take(monkeypatch, route)
    n = 30_000
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 20_000, n), rng.integers(0, 20_000, n) * 10**12
    table = cg.contingency(a, b)
    assert table.shape[0] * table.shape[1] > 2e8
    assert cells(table) == counted(a, b)
    together = sum(c * (c - 1) // 2 for c in counted(a, b).values())
    same_a, same_b = (sum(c * (c - 1) // 2 for c in Counter(v.tolist()).values()) for v in (a, b))
    pairs = n * (n - 1) // 2
    assert cg.rand(a, b) == pytest.approx((pairs + 2 * together - same_a - same_b) / pairs, rel=1e-12)
    assert cg.compare_all([a, b, a], ["ari", "vi"])["ari"][0, 2] == 1.0
    assert table.to_sparse().sum() == n


def matching_keys() -> list[str]:
    return [key for key in KEYS if "limit" in cg.measure(key).parameters and cg.measure(key).needs is Table]


@pytest.mark.parametrize("key", matching_keys())
def test_matching_measures_refuse_before_they_take_long(key):
    """Above its limit a matching measure is refused at once; the message says how to lift the limit, and 'all' skips it."""
    limit = cg.measure(key).parameters["limit"]
    many = np.arange(limit + 1)
    with pytest.raises(cg.NotApplicable, match="its limit is") as error:
        cg.compare(many, many[::-1], key)
    assert f"cg.measure('{key}', limit=None)" in str(error.value)
    assert "\n" not in str(error.value)
    with pytest.raises(cg.NotApplicable, match=f"cg.measure.'{key}', limit=None"):
        cg.compare_all([many, many], [key])


@pytest.mark.parametrize("key", matching_keys())
def test_a_limit_can_be_lowered_and_lifted(key):
    """limit=3 refuses four clusters, limit=None takes any number, and neither changes the value."""
    a, b = (v % 4 for v in random_labels(60, [4, 4], seed=3))
    with pytest.raises(cg.NotApplicable, match="would match 4 with 4 clusters"):
        cg.measure(key, limit=3)(a, b)
    assert cg.measure(key, limit=None)(a, b) == getattr(cg, key)(a, b)
    fewer = a % 3
    assert cg.measure(key, limit=3)(fewer, fewer) == getattr(cg, key)(fewer, fewer)


@pytest.mark.slow
def test_a_large_matching_is_done_when_forced():
    """limit=None does the matching of more clusters than the limit: here 2,001 singletons with themselves."""
    many = np.arange(2_001)
    assert cg.measure("kappa_max", limit=None)(many, many[::-1]) == pytest.approx(1.0, rel=1e-12)


def test_all_skips_what_would_take_long():
    """measures='all' leaves matchings above their limit out, says why, and gives the rest."""
    many = np.arange(2_001)
    result = cg.compare(many, many % 2_001, "all")
    assert "its limit is 2,000" in result.skipped["kappa_max"]
    assert result["ari"] == 1.0
    assert result["accuracy"] == 1.0


def test_one_cluster_and_singletons():
    """All points together, all apart, and one against the other have values; lambda and correlations are undefined."""
    together, apart = [0] * 5, list(range(5))
    for a, b in ((together, together), (apart, apart), (together, apart), (apart, together)):
        result = cg.compare(a, b, "all")
        undefined = {key for key, value in result.items() if math.isnan(value)}
        assert undefined <= {"lambda", "cramers_v", "sms", "ssms"}
        same = a == b
        assert result["ari"] == (1.0 if same else 0.0)
        assert result["accuracy"] == (1.0 if same else 0.2)
        matrix = cg.compare_all([a, b], [key for key in result if key != "lambda"])
        for key in matrix:
            assert matrix[key][0, 1] == pytest.approx(result[key], rel=1e-12, abs=1e-12, nan_ok=True), key


def test_the_cuda_engine_offers_what_is_asked_of_an_engine():
    """Both engines count pairs and tiles; the CUDA engine also draws. Checked without a GPU."""
    from congruence.engine import cuda

    for name in ("statistics", "table_of"):
        assert callable(getattr(cpu, name))
        assert callable(getattr(cuda, name))
    for name in ("by_tables", "draws_at_once", "permuted_statistic", "random_statistic"):
        assert callable(getattr(cuda.drawing, name))


def test_expected_information_is_kept(monkeypatch):
    """Permuted labels have the same cluster sizes, so E[MI] is computed once; the value has the same bits in both orders."""
    calls = []
    terms, ami = information.expected_terms, cg.ami_max
    monkeypatch.setattr(information, "expected_terms", lambda *given: calls.append(given) or terms(*given))
    monkeypatch.setattr(information, "_expected", {})
    a, b = np.repeat([0, 1, 2], [3, 5, 9]), np.repeat([0, 1], [6, 11])
    values = [ami(a, np.random.default_rng(i).permutation(b)) for i in range(3)]
    assert len(calls) == 1
    assert ami(b, a) == ami(a, b)
    assert len(calls) == 1
    information._expected.clear()
    assert [ami(a, np.random.default_rng(i).permutation(b)) for i in range(3)] == values


INTEGERS = {
    "codes": (np.uint8, lambda x: x),
    "wide codes": (np.int64, lambda x: x),
    "negative": (np.int8, lambda x: x - 120),
    "with gaps": (np.int32, lambda x: 7 * x - 3),
    "unsigned": (np.uint64, lambda x: x + (1 << 63)),
    "far apart": (np.int64, lambda x: x * (1 << 50)),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", INTEGERS)
def test_block_by_block_gives_the_same_bits_for_integers_of_any_kind(kind, monkeypatch):
    """Many points are counted block by block from the arrays that were given: the values equal those of one stack of codes."""
    dtype, of = INTEGERS[kind]
    rng = np.random.default_rng(0)
    plain = [rng.integers(0, k, 70_001) for k in (3, 12, 20)]
    whole = {str(j): of(x.astype(dtype)).astype(dtype) for j, x in enumerate(plain)}
    measures = ["ari", "nmi_sum", "ami_max", "vi", "purity"]
    take(monkeypatch, "compiled")
    expected = cg.compare_all({name: x.astype(str) for name, x in whole.items()}, measures)
    counted = []
    by_blocks = fused._by_blocks
    monkeypatch.setattr(fused, "_by_blocks", lambda *given: counted.append(1) or by_blocks(*given))
    monkeypatch.setattr(fused, "BLOCKED_FROM", 1)
    monkeypatch.setattr(fused, "BLOCK", 1000)
    monkeypatch.setattr("congruence.inputs.labels.PIECE", 30_000)
    found = cg.compare_all(whole, measures)
    assert counted
    for key in measures:
        np.testing.assert_array_equal(found[key], expected[key], err_msg=key)


@pytest.mark.slow
def test_many_points_are_compared_without_a_copy_of_their_labels(monkeypatch):
    """All pairs of integers need less memory than one byte per label: only one block is copied at a time."""
    import tracemalloc

    take(monkeypatch, "compiled")
    monkeypatch.setattr(fused, "BLOCKED_FROM", 1)
    columns = [np.arange(1_000_000) % k for k in (3, 4, 5, 7)]
    cg.compare_all(columns, threads=2)
    tracemalloc.start()
    try:
        cg.compare_all(columns, threads=2)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 1_000_000


def test_changing_the_arrays_later_does_not_change_an_ensemble():
    """An ensemble keeps its own codes: labels that were changed in place, even to values out of range, do not reach it."""
    for dtype in (np.uint8, np.int64):
        given = [(np.arange(300) % k).astype(dtype) for k in (2, 3, 5)]
        plain = cg.Ensemble(given)
        noisy = cg.Ensemble(given, noise=99)
        before = cg.compare_all(given)["ari"]
        for x in given:
            x[:] = 200
        for e in (plain, noisy):
            np.testing.assert_array_equal(cg.compare_all(e)["ari"], before)
            assert [c.k for c in e] == [2, 3, 5]
