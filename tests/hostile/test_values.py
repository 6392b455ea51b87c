"""Regression tests for wrong numbers: each is named after the fault and has the right value."""

import naive
import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import congruence as cg
from congruence.engine import kernels
from congruence.machine import jit
from congruence.statistics import information
from congruence.statistics.information import terms_of, unit_of
from congruence.statistics.pairs import Pairs

LARGE = [2_000_000_000, 1_000_000_000, 2_000_000_000, 500_000_000, 1_000_000_000]


def scanned(tmp_path, data, **options):
    """The columns in a Parquet file of several row groups, scanned."""
    path = tmp_path / "columns.parquet"
    parquet.write_table(pa.table(data), path, row_group_size=2)
    return cg.scan(path, **options)


@pytest.mark.parametrize("times", [1, 10**5, 10**8])
def test_pair_counts_beyond_64_bits(times):
    """n above 3·10⁹: sums of squares do not wrap around."""
    r = cg.compare([0, 0, 1, 1, 2], [0, 1, 1, 0, 2], ["ari", "rand"], frequency=[x * times for x in LARGE])
    assert r["ari"] == pytest.approx(0.4, abs=1e-8)
    assert r["rand"] == pytest.approx(0.7159763313, abs=1e-8)


def test_merged_tables_beyond_64_bits():
    """The same where partial tables are merged."""
    half = {"a": [0, 0, 1, 1, 2], "b": [0, 1, 1, 0, 2], "n": [x // 2 for x in LARGE]}
    total = cg.merge(cg.partial_tables(half, frequency="n"), cg.partial_tables(half, frequency="n"))
    assert cg.ari(total["a"], total["b"]) == pytest.approx(0.4, abs=1e-8)


@pytest.mark.slow
def test_expected_information_of_huge_clusters():
    """E[MI] of clusters of 10⁹ points does not step through all counts, and equals the value by moments."""
    a, b = np.array([10**9, 3 * 10**8 + 7]), np.array([4 * 10**8, 9 * 10**8 + 7])
    n = int(a.sum())
    walked, by_moments = np.empty((2, 2)), np.empty((2, 2))
    namespace = {**vars(information), "WIDE": 1e6}
    moments = type(information._terms)(information._terms.__code__, namespace)
    moments(a, b, n, False, 0, 2, by_moments)
    jit.compiled(information._terms)(a, b, n, False, 0, 2, walked)
    assert by_moments == pytest.approx(walked, rel=1e-12)
    assert cg.ami_max([0, 0, 1, 1], [0, 1, 1, 0], frequency=[2**40, 2**39, 2**40, 7]) == pytest.approx(0.25, abs=0.2)


@pytest.mark.parametrize("scale", [1e-200, 1e-9, 1.0, 1e200])
@pytest.mark.parametrize("route", ["memory", "scan"])
def test_scale_of_weights_does_not_matter(scale, route, tmp_path):
    """Equal weights of 1e-200 or 1e200 give the same values as weights of 1."""
    a, b, w = [0, 0, 1, 1, 2, 2], [0, 0, 1, 2, 2, 2], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    keys = ["ari", "jaccard", "vi", "mirkin", "element_centric", "nmi_sum", "accuracy"]
    right = cg.compare(a, b, keys, sample_weight=w)
    scaled = [x * scale for x in w]
    if route == "memory":
        r = cg.compare(a, b, keys, sample_weight=scaled)
    else:
        s = scanned(tmp_path, {"a": a, "b": b, "w": scaled})
        r = cg.compare(s["a"], s["b"], keys, sample_weight=s["w"])
    for key in keys:
        assert r[key] == pytest.approx(right[key], rel=1e-13), key


def ari_with(route, w, tmp_path):
    """The ari of two clusterings, which is 0, with these equal weights, by a route."""
    a, b = [0, 0, 1, 1], [0, 1, 1, 1]
    if route == "scan":
        s = scanned(tmp_path, {"a": a, "b": b, "w": w}, columns=["a", "b"])
        return cg.compare(s["a"], s["b"], sample_weight=s["w"])["ari"]
    if route == "many":
        return cg.compare_all([a, b], sample_weight=w)["ari"][0, 1]
    if route == "table":
        return cg.contingency(a, b, sample_weight=w).n / w[0] - 4
    return cg.compare(np.eye(2)[a] if route == "soft" else a, b, ["ari"], sample_weight=w)["ari"]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("route", ["memory", "scan", "many", "table", "soft"])
def test_weights_whose_sum_is_no_number(route, tmp_path):
    """Refused in one line on every route, without a warning of numpy; 1e300 is not."""
    assert ari_with(route, [1e300] * 4, tmp_path) == pytest.approx(0, abs=1e-12)
    with pytest.raises(cg.InputError, match="at most 1e300"):
        ari_with(route, [1e308] * 4, tmp_path)


def test_weights_of_very_different_size_do_not_cancel():
    """Pairs within clusters are added up, not found by subtraction from totals."""
    a, b, w = [0, 1, 2, 2, 3, 3], [0, 1, 2, 2, 3, 4], [1e7, 1e7, 1, 1, 1, 1]
    assert cg.jaccard(a, b, sample_weight=w) == pytest.approx(0.5, rel=1e-14)
    r = cg.compare([0, 0, 1, 1], [0, 0, 0, 1], ["wallace_ba", "wallace_ab"], sample_weight=[1e9, 1e-9, 1e-9, 1e9])
    assert 0 <= r["wallace_ba"] <= 1
    assert r["wallace_ab"] == pytest.approx(0.5, rel=1e-12)


@pytest.mark.slow
def test_unit_weights_of_almost_all_singletons():
    """Weights that are all 1 give the values without weights, however few pairs are together."""
    n = 200_000
    a, b = np.arange(n), np.arange(n)
    a[:5], b[:4] = 0, 0
    assert cg.ari(a, b, sample_weight=np.ones(n)) == pytest.approx(cg.ari(a, b), rel=1e-12)
    assert cg.ari(a, b) == pytest.approx(0.75, rel=1e-9)


@pytest.mark.slow
def test_rand_of_different_clusterings_is_below_1():
    """One pair in 5·10¹¹ apart: not the same clustering."""
    n = 1_000_000
    a = np.arange(n)
    b = a.copy()
    b[1] = 0
    assert cg.rand(a, b) < 1
    assert cg.rand(a, b) == pytest.approx(1 - 2 / (n * (n - 1)), rel=1e-15)


def test_information_of_tiny_clusters():
    """Two points of 10⁸ differ: entropies keep their precision."""
    f = [10**8 - 2, 1, 1]
    n = sum(f)
    small = 2 / n * np.log(n) - (1 - 2 / n) * np.log1p(-2 / n)
    r = cg.compare([0, 1, 2], [0, 1, 1], ["vi", "nmi_max", "homogeneity"], frequency=f)
    assert r["vi"] == pytest.approx(2 / n * np.log(2), rel=1e-9)
    assert r["nmi_max"] == pytest.approx(1 - 2 / n * np.log(2) / small, rel=1e-9)
    many = cg.compare_all([[0, 1, 2], [0, 1, 1]], ["vi"], frequency=f)
    assert many["vi"][0, 1] == r["vi"]


def test_terms_of_entropy_have_the_same_bits_compiled():
    """The compiled loop and numpy round x·log(n/x) to the same unit."""
    rng = np.random.default_rng(1)
    for n in (3, 1000, 10**7, 2**31 + 5, 10**15):
        x = np.unique(np.concatenate([rng.integers(1, n, 500), [1, n, n - 1, n // 2]]))
        unit = float(unit_of(n))
        assert [kernels.term(int(v), n, unit) for v in x] == terms_of(x, n).tolist()
        expected = x * np.log(n / x.astype(float))
        assert terms_of(x, n) / unit == pytest.approx(expected, rel=1e-11, abs=1e-6 * n / 1e3)


@pytest.mark.slow
def test_one_value_on_every_route(tmp_path, monkeypatch):
    """Small work, compiled kernels, tables with more measures, scans and single pairs give identical bits."""
    rng = np.random.default_rng(0)
    columns = {name: rng.integers(0, k, 700).tolist() for name, k in (("a", 4), ("b", 9), ("c", 60))}
    keys = ["ari", "vi", "nmi_sum", "ami_max", "nvi", "mirkin"]
    first = cg.compare_all(columns, keys)
    with_tables = cg.compare_all(columns, [*keys, "accuracy", "element_centric"])
    monkeypatch.setattr(jit, "LOADED_FROM", 0)
    compiled = cg.compare_all(columns, keys)
    scan = cg.compare_all(scanned(tmp_path, columns), keys)
    for key in keys:
        for other in (with_tables, compiled, scan):
            assert (first[key] == other[key]).all(), key
        assert cg.compare(columns["a"], columns["c"], key)[key] == first[key][0, 2]


@pytest.mark.slow
def test_weighted_scans_have_the_same_bits_for_any_threads(tmp_path):
    """Sums of weights are added in the order of the row groups, also after a resumption."""
    rng = np.random.default_rng(0)
    n = 20_000
    columns = {"a": rng.integers(0, 9, n), "b": rng.integers(0, 7, n), "w": rng.random(n)}
    path = tmp_path / "x.parquet"
    parquet.write_table(pa.table(columns), path, row_group_size=500)

    def value(threads, **options):
        s = cg.scan(path, ["a", "b"], **options)
        return cg.compare(s["a"], s["b"], "ari", sample_weight=s["w"], threads=threads)["ari"]

    kept = {"checkpoint": tmp_path / "kept"}
    assert len({value(1), value(2), value(2), value(3), value(2, **kept), value(1, **kept)}) == 1


POLICIES = [("cluster", None), ("drop", None), ("drop", -1), ("cluster", -1), ("singletons", -1), ("partial", None)]


@pytest.mark.parametrize(("unassigned", "noise"), POLICIES)
@pytest.mark.parametrize("weights", [None, "sample_weight", "frequency"])
def test_scanned_ensembles_keep_their_rule(unassigned, noise, weights, tmp_path):
    """`unassigned` and `noise` of an Ensemble of a scan apply to everything computed from it."""
    if unassigned == "singletons" and weights:
        pytest.skip("needs every single point")
    columns = {"a": [0, 0, 1, 1, None, None], "b": [0, 1, 1, 1, 0, 0], "c": [0, 0, 1, 1, 2, -1]}
    mass = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0] if weights == "sample_weight" else [1, 2, 3, 1, 2, 3]
    s = scanned(tmp_path, {**columns, "w": mass}, columns=list(columns))
    options = {"unassigned": unassigned, "noise": noise}
    here = cg.Ensemble(columns, **options, **({weights: mass} if weights else {}))
    there = cg.Ensemble(s, **options, **({weights: s["w"]} if weights else {}))
    keys = ["ari", "vi", "mirkin", "accuracy"]
    x, y = cg.compare_all(here, keys), cg.compare_all(there, keys)
    assert (x.n_used == y.n_used).all()
    for key in keys:
        assert y[key] == pytest.approx(x[key], rel=1e-12, nan_ok=True), key
    assert cg.compare_to("b", there, "ari")["ari"] == pytest.approx(cg.compare_to("b", here, "ari")["ari"])
    assert there.consensus_index("ari") == pytest.approx(here.consensus_index("ari"), rel=1e-12)
    if not here.has_gaps:
        assert there.certainty() == pytest.approx(here.certainty(), rel=1e-12)
        assert there.kas(there[["b"]]) == pytest.approx(here.kas(here[["b"]]), rel=1e-12)
        assert there.pnmi() == pytest.approx(here.pnmi(), rel=1e-12)


def test_the_values_of_the_scanned_ensemble(tmp_path):
    """Edge cases of unassigned points keep their values."""
    s = scanned(tmp_path, {"a": [0, 0, 1, 1, None, None], "b": [0, 1, 1, 1, 0, 0]})
    assert cg.compare_all(cg.Ensemble(s, unassigned="cluster"))["ari"][0, 1] == pytest.approx(0.2424, abs=1e-4)
    with pytest.raises(cg.InputError, match="unassigned"):
        cg.compare_all(cg.Ensemble(s))


def test_weighted_gaps_of_partial_tables():
    """Rows with a gap that count as a cluster take part: in Σw_p·w_q and in n_used."""
    a, b, w = [0, 0, 1, 1, None], [0, 1, 1, 1, 0], [1, 2, 3, 4, 5]
    part = cg.partial_tables({"a": a, "b": b, "w": w}, sample_weight="w")
    r = cg.compare(part["a"], part["b"], "ari", unassigned="cluster")
    assert r["ari"] == pytest.approx(cg.ari(a, b, unassigned="cluster", sample_weight=w), rel=1e-13)
    assert r["ari"] == pytest.approx(0.396, abs=1e-3)
    assert r.n_used == 5


def test_weighted_tables_add():
    """The sum of the tables of two halves is the table of the whole, and gives its values."""
    rng = np.random.default_rng(2)
    a, b, w = rng.integers(0, 4, 60), rng.integers(0, 3, 60), rng.random(60) * 10.0 ** rng.integers(-6, 6, 60)
    parts = [
        cg.partial_tables({"a": a[s], "b": b[s], "w": w[s]}, sample_weight="w") for s in (slice(0, 25), slice(25, 60))
    ]
    total = cg.merge(*parts)
    for key in ("ari", "jaccard", "vi"):
        assert cg.compare(total["a"], total["b"], key)[key] == pytest.approx(
            cg.compare(a, b, key, sample_weight=w)[key], rel=1e-12
        )
    halves = [cg.contingency(a[s], b[s], sample_weight=w[s]) for s in (slice(0, 25), slice(25, 60))]
    assert cg.merge(*halves).to_array() == pytest.approx(cg.contingency(a, b, sample_weight=w).to_array(), rel=1e-13)


@pytest.mark.parametrize("weights", ["sample_weight", "frequency"])
def test_no_common_weight(weights):
    """Where all common points have weight 0 a value is undefined: NaN among many, an error for a pair."""
    a, b, w = [0, 0, 1, None], [None, None, 0, 1], [1, 1, 0, 1]
    r = cg.compare_all([a, b], unassigned="drop", **{weights: w})
    assert np.isnan(r["ari"][0, 1])
    assert r.n_used[0, 1] == 0
    with pytest.raises(cg.InputError, match="no point is assigned in both"):
        cg.compare(a, b, unassigned="drop", **{weights: w})


def test_scanned_ensembles_with_the_same_frequency_column(tmp_path):
    """Two ensembles of one scan, weighted by the same column, have the same weights."""
    s = scanned(tmp_path, {"a": [0, 0, 1, 1], "b": [0, 1, 1, 1], "f": [1, 2, 3, 4]}, columns=["a", "b"])
    first, second = (cg.Ensemble(s[[x]], frequency=s["f"]) for x in "ab")
    assert first.arimm(second) == pytest.approx(cg.ari([0, 0, 1, 1], [0, 1, 1, 1], frequency=[1, 2, 3, 4]), rel=1e-12)


def test_the_declared_range_of_weighted_values():
    """With weights ari falls to −1, not −0.5: the record says so."""
    ari = cg.measure("ari")
    low = cg.ari([0, 0, 1], [0, 1, 1], sample_weight=[1, 1000, 1])
    assert low == pytest.approx(-0.999, abs=1e-5)
    assert ari.weighted_range[0] <= low < ari.range[0]
    for m in cg.measures():
        for other in (m.weighted_range, m.soft_range, m.range_for(soft=True, weighted=True)):
            lowest, highest = other or m.range
            assert lowest <= m.range[0] <= m.range[1] <= highest


@pytest.mark.parametrize("kind", ["labels", "weights", "probabilistic", "possibilistic", "soft and hard"])
def test_values_are_within_the_declared_range(kind):
    """Few points, where pairs of memberships can count less than 0: the record says so for each kind of input."""
    rng = np.random.default_rng(5)
    for n in (2, 3, 3, 4, 5, 6, 8):
        a, b = rng.integers(0, 3, n), rng.integers(0, 4, n)
        u, v = rng.dirichlet(np.ones(3), n), rng.dirichlet(np.ones(2), n)
        x, y = {
            "probabilistic": (u, v), "possibilistic": (rng.random((n, 3)), rng.random((n, 2))), "soft and hard": (u, np.eye(4)[b]),
        }.get(kind, (a, b))  # fmt: skip
        mass = {"sample_weight": rng.random(n) * 10.0 ** rng.integers(-3, 3, n)} if kind == "weights" else {}
        r = cg.compare(x, y, "all", **mass)
        for key in r:
            low, high = cg.measure(key).range_for(soft=x is not a, weighted=kind == "weights")
            assert np.isnan(r[key]) or low - 1e-9 <= r[key] <= high + 1e-9, (key, n)


def test_weights_of_1_and_one_member_change_nothing():
    """Every measure: equal weights of any scale, counts, and ensembles of one member give the values of the labels."""
    rng = np.random.default_rng(0)
    for n in (2, 3, 5, 8):
        a, b, f, w = rng.integers(0, 3, n), rng.integers(0, 3, n), rng.integers(1, 4, n), rng.random(n) + 0.01
        same = [
            (cg.compare(a, b, "all", sample_weight=np.full(n, 7.0)), cg.compare(a, b, "all")),
            (cg.compare(a, b, "all", sample_weight=w * 1e-150), cg.compare(a, b, "all", sample_weight=w)),
            (cg.compare(a, b, "all", frequency=f), cg.compare(np.repeat(a, f), np.repeat(b, f), "all")),
        ]
        for mass in ({}, {"sample_weight": w}, {"frequency": f}):
            alone = [cg.Ensemble([x], **mass) for x in (a, b)]
            same.append((cg.compare(*alone, "all"), cg.compare(a, b, "all", **mass)))
        for x, y in same:
            assert {"kas", "nsf"} <= set(x) & set(y)
            for key in set(x) & set(y):
                assert x[key] == pytest.approx(y[key], rel=1e-9, abs=1e-12, nan_ok=True), (key, n)


def test_soft_values_outside_the_usual_range_have_a_caution():
    """Memberships of two points: pair counts are negative, and ari follows its formula to −15."""
    u, v = [[0.5, 0.5], [0.5, 0.5]], [[0.25, 0.75], [0.5, 0.5]]
    r = cg.compare(u, v, ["ari", "nmi_sum"])
    assert r["ari"] == pytest.approx(-15, rel=1e-9)
    assert r["ari"] == pytest.approx(naive.SOFT["ari"](u, v), rel=1e-9)
    said = {c.code: str(c) for c in r.cautions}
    assert said["soft_pairs"].startswith("ari: outside the range of partitions")
    assert r.to_frame("pyarrow")["range_low"].to_pylist() == [float("-inf"), 0.0]
    for many in (cg.compare_all([cg.Memberships(u), cg.Memberships(v)], ["ari"]), cg.compare_to(u, {"v": v}, ["ari"])):
        assert "soft_pairs" in [c.code for c in many.cautions]
    assert "soft_pairs" not in [c.code for c in cg.compare(np.eye(2), np.eye(2), ["ari"]).cautions]


def test_ties_are_decided_by_the_order_of_labels():
    """Points without a label are the last cluster: a greedy matching with ties follows that order on every route."""
    a, b = [0, None, None, 1, 0, 0], [0, 0, 0, 0, 0, None]
    filled = naive.MEASURES["irm_greedy"]([0, 2, 2, 1, 0, 0], [0, 0, 0, 0, 0, 1])
    s = cg.scan(lambda: iter([pa.record_batch({"a": a, "b": b})]))
    for x, y in ((a, b), (s["a"], s["b"])):
        assert cg.irm_greedy(x, y, unassigned="cluster") == pytest.approx(filled, rel=1e-12)
    assert cg.compare_all([a, b], ["irm_greedy"], unassigned="cluster")["irm_greedy"][1, 0] == pytest.approx(filled)


def test_a_part_of_weight_0_in_a_checkpoint(tmp_path):
    """A row group whose weights are all 0 is stored and added like others."""
    columns = {"a": [0, 1, 2, 3], "b": [0, 1, 0, 0], "w": [0.0, 2.0, 1.0, 2.0]}
    path = tmp_path / "x.parquet"
    parquet.write_table(pa.table(columns), path, row_group_size=1)
    s = cg.scan(path, ["a", "b"], checkpoint=tmp_path / "kept")
    right = cg.vi(columns["a"], columns["b"], sample_weight=columns["w"])
    for _ in range(2):
        assert cg.compare(s["a"], s["b"], "vi", sample_weight=s["w"])["vi"] == pytest.approx(right, rel=1e-12)
        s = cg.scan(path, ["a", "b"], checkpoint=tmp_path / "kept")  # from the stored parts


@pytest.mark.parametrize("key", [m.key for m in cg.measures() if m.needs is Pairs and "symmetric" in m.axioms])
def test_pair_counts_have_the_same_bits_in_both_orders(key):
    """Sums of pairs together only in a and only in b are added in a symmetric way."""
    rng = np.random.default_rng(3)
    for _ in range(20):
        a, b = rng.integers(0, 5, 40), rng.integers(0, 7, 40)
        assert getattr(cg, key)(a, b) == getattr(cg, key)(b, a)
