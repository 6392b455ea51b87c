"""Density profiles and their similarity, compared with slow definitions."""

from __future__ import annotations

import itertools
import json
import math
import pickle
from functools import partial
from pathlib import Path
from typing import Any

import naive_density as naive
import numpy as np
import pandas as pd
import pytest
from density_cases import FIG3, close, clusterings, of
from hypothesis import given, settings
from hypothesis import strategies as st

import congruence as cg
from congruence.density import columns as columns_room
from congruence.density.counting import stratified_sample
from congruence.machine import jit
from reproductions import profile_kernels

CASES = json.loads((Path(__file__).parent / "golden" / "golden.json").read_text())["cases"]
PROFILES = [pytest.param(c, id=c["id"]) for c in CASES if c["kind"] == "adco_profile"]
DATA = [pytest.param(c, id=c["id"]) for c in CASES if c["kind"] == "adco_data"]


@st.composite
def profiles(draw: st.DrawFn, sides: int = 2) -> list[list[list[int]]]:
    """Tables of small counts over the same bins, none empty, at most 4 clusters."""
    width = draw(st.integers(1, 4))
    found = []
    for _ in range(sides):
        k = draw(st.integers(1, 4))
        rows = draw(st.lists(st.lists(st.integers(0, 5), min_size=width, max_size=width), min_size=k, max_size=k))
        rows[0][0] += 1
        found.append(rows)
    return found


# --- counting --------------------------------------------------------------------------------------------------------


@given(clusterings())
def test_a_profile_is_the_definition(data):
    """Counts of every cluster, attribute and bin equal the double loop."""
    X, a, _ = data
    b = cg.Binning(bins=3).fit(X)
    p = cg.density_profile(X, a, b)
    assert p.counts.tolist() == naive.profile(b.transform(X).tolist(), a, b.n_bins)
    assert p.clusters == tuple(sorted(set(a)))
    assert p.sizes.tolist() == [a.count(c) for c in p.clusters]
    assert p.n == len(a)


@settings(max_examples=60)
@given(clusterings(), st.integers(0, 12))
def test_the_profile_of_a_concatenation_is_the_sum(data, cut):
    """Profiles of any two parts add up to that of the whole, including clusters that occur in only one part."""
    X, a, _ = data
    cut = min(cut, len(a))
    b = cg.Binning(bins=4).fit(X)
    whole = cg.density_profile(X, a, b)
    parts = [cg.density_profile(X[s], a[s], b) for s in (slice(0, cut), slice(cut, None)) if len(a[s])]
    added = parts[0] if len(parts) == 1 else parts[0] + parts[1]
    assert added.counts.tolist() == whole.counts.tolist()
    assert added.clusters == whole.clusters
    assert added.sizes.tolist() == whole.sizes.tolist()


@pytest.mark.slow
@pytest.mark.parametrize("bivariate", [False, True])
def test_compiled_and_threaded_counting_gives_the_same_integers(monkeypatch, bivariate):
    """numpy, the compiled kernels, and any number of threads and pieces count the same."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5000, 4))
    X[rng.random(X.shape) < 0.05] = np.nan
    frame = {**{f"x{i}": X[:, i] for i in range(4)}, "w": rng.choice(["u", "v", None], 5000)}
    labels = np.where(rng.random(5000) < 0.1, -1, rng.integers(0, 5, 5000))
    b = cg.Binning(bins=7).fit({k: v[:2000] for k, v in frame.items()})
    options: dict[str, Any] = {"noise": -1, "unassigned": "drop", "bivariate": bivariate}
    monkeypatch.setattr(jit, "use_kernels", lambda increments: False)
    plain = cg.density_profile(frame, labels, b, threads=1, **options)
    codes = b.transform(frame)
    monkeypatch.setattr(jit, "use_kernels", lambda increments: True)
    for size, threads in ((1 << 17, 1), (700, 1), (700, 3)):
        monkeypatch.setattr(columns_room, "PIECE", size)
        found = cg.density_profile(frame, labels, b, threads=threads, **options)
        assert np.array_equal(found.counts, plain.counts)
        assert np.array_equal(found.outside, plain.outside)
        assert np.array_equal(found.sizes, plain.sizes)
    assert np.array_equal(b.transform(frame), codes)
    assert plain.outside.sum() > 0


def test_bivariate_profiles():
    """The bins are all pairs of bins of two attributes; summing one attribute out gives the other's profile."""
    rng = np.random.default_rng(1)
    X, a = rng.normal(size=(60, 3)), rng.integers(0, 3, 60)
    b = cg.Binning(bins=4).fit(X)
    single, double = (cg.density_profile(X, a, b, bivariate=x) for x in (False, True))
    assert double.names == ("x0 × x1", "x0 × x2", "x1 × x2")
    assert double.n_bins == (16, 16, 16)
    codes = b.transform(X)
    joint = [[int(r[i] * 4 + r[j]) for i, j in itertools.combinations(range(3), 2)] for r in codes]
    assert double.counts.tolist() == naive.profile(joint, a.tolist(), (16, 16, 16))
    assert double.counts[:, :16].reshape(3, 4, 4).sum(axis=2).tolist() == single.counts[:, :4].tolist()
    assert len(double.attributes[0].bins) == 16


def test_memberships_count_by_their_amounts():
    """Hard memberships give the counts of the labels; soft ones divide each point."""
    rng = np.random.default_rng(2)
    X, a = rng.normal(size=(50, 2)), rng.integers(0, 3, 50)
    b = cg.Binning(bins=5).fit(X)
    hard = cg.density_profile(X, np.eye(3)[a], b)
    assert np.array_equal(hard.counts, cg.density_profile(X, a, b).counts)
    u = rng.dirichlet(np.ones(3), 50)
    soft = cg.density_profile(X, u, b)
    codes = b.transform(X)
    expected = [
        [sum(u[p, k] for p in range(50) if codes[p, i] == j) for i in range(2) for j in range(5)] for k in range(3)
    ]
    assert soft.counts == pytest.approx(np.array(expected), rel=1e-12)
    assert cg.adco(u, u[:, [2, 0, 1]], X) == 1.0
    assert cg.adco_metric(u, u[:, [2, 0, 1]], X) == 0.0


def test_profiles_that_were_stored_add_up():
    """A profile from another process has the same bins, also of an attribute that had no value."""
    X = [[np.nan, 1.0], [np.nan, 2.0]]
    p = cg.density_profile(X, [0, 1])
    stored = pickle.loads(pickle.dumps(p))  # noqa: S301  (our own)
    assert (stored + p).n == 4
    assert len({p.attributes, stored.attributes}) == 1
    with pytest.raises(cg.InputError, match="different bins for x0"):
        p + cg.density_profile([[5.0, 1.0], [5.0, 2.0]], [0, 1])


def test_profiles_show_themselves():
    """A profile prints in a line and becomes a frame with a row for each cluster and bin."""
    p = cg.density_profile({"x": [0.0, 1.0], "w": ["u", "v"]}, ["k", "l"], cg.Binning(bins=2))
    frame = p.to_frame("polars")
    assert frame["attribute"].to_list() == ["x", "x", "w", "w"] * 2
    assert frame["count"].to_list() == [1, 0, 1, 0, 0, 1, 0, 1]
    assert repr(p) == "Profile: 2 clusters, 2 points, 2 attributes in 4 bins"
    assert repr(cg.Binning()) == "Binning('width', bins=10), not fitted"


# --- adco ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", PROFILES)
def test_golden_profiles(case):
    """Every profile of the golden cases: sim, the norms, adco, the distance and the metric."""
    a, b = (of(case["inputs"][k]) for k in ("VC", "VD"))
    r, want = cg.compare_profiles(a, b), case["expected"]
    got = {
        "sim": r.statistic.sim[0], "sim_CC": r.statistic.sim_aa[0], "sim_DD": r.statistic.sim_bb[0],
        "adco": r["adco"], "d_adco": r["adco_distance"], "d_adco_prime": r["adco_metric"],
    }  # fmt: skip
    assert set(want) <= set(got)
    for name, value in want.items():
        assert got[name] == close(value), name
    assert cg.adco(b, a) == cg.adco(a, b)


@pytest.mark.parametrize("case", DATA)
def test_golden_data(case):
    """Every data set of the golden cases: its bins and its adco."""
    x = case["inputs"]
    b = cg.Binning(bins=x["Q"]).fit(x["X"])
    assert b.transform(x["X"]).tolist() == case["expected"]["bins"]
    assert cg.adco(x["a"], x["b"], x["X"], bins=x["Q"]) == close(case["expected"]["adco"])


def test_there_are_golden_cases():
    """There are twenty golden cases."""
    assert len(PROFILES) == 10
    assert len(DATA) == 10


@pytest.mark.slow
@settings(max_examples=80)
@given(profiles())
def test_the_measures_are_their_definitions(tables):
    """adco, its relatives, the adjusted and the kernelised forms equal the search over all matchings, both ways round."""
    a, b = tables
    p, q = of(a), of(b)
    for x, y in ((p, q), (q, p)):
        assert cg.adco(x, y) == close(naive.adco(a, b))
        assert cg.adco_distance(x, y) == close(1 - naive.adco(a, b))
        assert cg.adco_cosine(x, y) == close(naive.adco_cosine(a, b))
        assert cg.adco_metric(x, y) == close(naive.adco_metric(a, b))
        assert cg.adco(x, y, adjusted=True) == close(naive.adjusted(a, b))

    def polynomial(v, w):
        return (naive.product(v, w) + 0.5) ** 3

    def rbf(v, w):
        return math.exp(-0.01 * sum((s - t) ** 2 for s, t in zip(v, w, strict=True)))

    for kernel, ours in (
        (polynomial, profile_kernels.polynomial(3, 0.5)),
        (rbf, profile_kernels.rbf(0.01)),
    ):
        assert profile_kernels.adco(p, q, ours) == close(naive.kernel_of_profiles(a, b, kernel))
        assert profile_kernels.adco(p, q, ours, "clusters") == close(naive.kernel_of_clusters(a, b, kernel))


@pytest.mark.slow
@settings(max_examples=80)
@given(profiles(), st.randoms(use_true_random=False))
def test_properties_of_profiles(tables, random):
    """Between 0 and 1, independent of the order of clusters, adco at most the cosine, 1 for a profile and itself."""
    a, b = tables
    shuffled = random.sample(b, len(b))
    ways = [
        cg.adco,
        partial(profile_kernels.adco, kernel=profile_kernels.polynomial()),
        partial(profile_kernels.adco, kernel=profile_kernels.rbf()),
        partial(profile_kernels.adco, kernel=profile_kernels.rbf(), on="clusters"),
    ]
    for way in ways:
        value = way(of(a), of(b))
        assert 0 <= value <= 1
        assert way(of(a), of(shuffled)) == close(value)
        assert way(of(b), of(shuffled)) == close(1)
    assert cg.adco(of(a), of(b)) <= cg.adco_cosine(of(a), of(b)) + 1e-12
    assert cg.adco_metric(of(b), of(shuffled)) == 0


@pytest.mark.slow
@settings(max_examples=80)
@given(clusterings())
def test_the_floor_of_the_same_points(data):
    """Two clusterings of the same points score at least 1/max(K, K'); the adjusted form is between 0 and 1."""
    X, a, b = data
    value = cg.adco(a, b, X, bins=3)
    assert value >= 1 / max(len(set(a)), len(set(b))) - 1e-12
    assert -1e-12 <= cg.adco(a, b, X, bins=3, adjusted=True) <= 1
    assert cg.adco(a, b, X, bins=3, adjusted=True) <= value + 1e-12


def test_the_floor_is_reached():
    """Orthogonal clusters score 1/K, and 0 after adjustment."""
    X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    a, b = [0, 0, 1, 1], [0, 1, 0, 1]
    assert cg.adco(a, b, [[0], [0], [1], [1]], bins=2) == 0.5
    assert cg.adco(a, b, X, bins=2, adjusted=True) == pytest.approx((8 - 8) / (12 - 8), abs=1e-12)
    assert cg.measure("adco", adjusted=True)(a, b, X=X, bins=2) == cg.adco(a, b, X, bins=2, adjusted=True)


@settings(max_examples=60)
@given(profiles(sides=3))
def test_the_metric_obeys_the_triangle_inequality(tables):
    """adco_metric is a metric on profiles."""
    p, q, r = (of(t) for t in tables)
    assert cg.adco_metric(p, r) <= cg.adco_metric(p, q) + cg.adco_metric(q, r) + 1e-12


def test_the_distance_is_not_a_metric():
    """The paper's counter-example works as 2 clusters × 2 bins, not as printed (1 × 4) and not as 4 × 1."""
    rows = [(3, 0, 0, 4), (3, 3, 0, 1), (1, 0, 2, 4)]

    def excess(shape):
        one, two, three = (of(np.reshape(r, shape)) for r in rows)
        d = cg.adco_distance
        return d(one, two) - d(one, three) - d(three, two)

    assert excess((2, 2)) == close(0.48 - 0.24 - 1 / 7)
    assert excess((1, 4)) == close(0.48 - 0.24 - 2 / 3)
    assert excess((4, 1)) <= 0
    first, last, between = (of([list(r)]) for r in ((0, 0, 2), (0, 2, 0), (0, 1, 2)))
    assert cg.adco_distance(first, last) == 1
    assert cg.adco_distance(first, between) + cg.adco_distance(between, last) == close(0.2 + 0.6)


def test_figure_3():
    """sim 110, norms 152 and 120, adco 110/152, cosine 0.8145; c1 goes with c1', c2 with c2'."""
    p, q = (of(t, [2, 2]) for t in FIG3)
    r = cg.compare_profiles(p, q)
    assert (r.statistic.sim[0], r.statistic.sim_aa[0], r.statistic.sim_bb[0]) == (110, 152, 120)
    assert r["adco"] == 110 / 152
    assert r["adco_cosine"] == pytest.approx(0.8145, abs=5e-5)
    assert r.mapping == {0: 0, 1: 1}
    assert p.totals.tolist() == q.totals.tolist() == [8, 6, 8, 6]
    assert sum(row[1] for row in r.attributes) == close(110 / 152)
    assert [row[1] for row in r.attributes] == [close(64 / 152), close(46 / 152)]
    assert [row[2] for row in r.attributes] == [close(64 / 100), close(46 / 66)]


def test_magnitude_bob_and_the_cosine_example():
    """(1,1) against (100,100) is 0.01; Bob and Alice are 1 where Rand is 1/3; the cosine hardly depends on concentration."""
    assert cg.adco(of([[1, 1]]), of([[100, 100]])) == 0.01
    assert cg.adco_cosine(of([[1, 1]]), of([[100, 100]])) == 1
    names, a, b = [["Bob"], ["Bob"], ["Alice"], ["Alice"]], [0, 1, 0, 1], [1, 0, 0, 1]
    assert cg.adco(a, b, names) == 1
    assert cg.adco_metric(a, b, names) == 0
    assert cg.rand(a, b) == close(1 / 3)
    one, two, three = (of([[first, *[4] * 9]]) for first in (14, 11, 32))
    assert [round(cg.adco(one, x), 2) for x in (two, three)] == [0.88, 0.51]
    assert [round(cg.adco_cosine(one, x), 2) for x in (two, three)] == [0.99, 0.94]


def test_other_points():
    """b may label other points; the bins are fitted on both sides together, mdl on the side of a."""
    rng = np.random.default_rng(3)
    X, Y = rng.normal(size=(80, 2)), rng.normal(1, 2, size=(50, 2))
    a, b = (X[:, 0] > 0).astype(int), rng.integers(0, 3, 50)
    pooled = cg.Binning().fit(np.vstack([X, Y]))
    expected = cg.adco(cg.density_profile(X, a, pooled), cg.density_profile(Y, b, pooled))
    assert cg.adco(a, b, X, Y) == expected == cg.adco(b, a, Y, X)
    assert cg.adco(a, b, X, Y, binning=pooled) == expected
    assert cg.adco(a, b, X, Y, binning=cg.Binning()) == expected
    by_a = cg.Binning("mdl").fit(X, a)
    assert cg.adco(a, b, X, Y, binning="mdl") == cg.adco(a, b, X, Y, binning=by_a)
    words = cg.compare_profiles([0, 1], [0, 1, 1], {"w": ["u", "v"]}, {"w": ["v", "t", "t"]})
    assert words.profiles[0].n_bins == (3,)
    with pytest.raises(cg.InputError, match="numeric on one side and nominal on the other"):
        cg.adco([0, 1], [0, 1], {"w": ["u", "v"]}, {"w": [1.0, 2.0]})
    with pytest.raises(cg.InputError, match="'w' is on one side only"):
        cg.adco([0, 1], [0, 1], {"w": ["u", "v"]}, {"v": ["u", "v"]})


def test_a_stratified_sample():
    """The larger side is cut to the size of the smaller, each cluster in its proportion, the same for the same seed."""
    rng = np.random.default_rng(4)
    codes = np.repeat([0, 1, 2], [600, 300, 100])
    for size in (10, 100, 333):
        points = stratified_sample(codes, 3, size, 0)
        assert len(np.unique(points)) == size
        assert np.abs(np.bincount(codes[points], minlength=3) - size * np.array([0.6, 0.3, 0.1])).max() < 1
    X = rng.normal(codes[:, None] * 3, 1, size=(1000, 2))
    keep = np.r_[0:60, 600:630, 900:910]
    plain = cg.adco(codes, codes[keep], X, X[keep])
    sampled = cg.adco(codes, codes[keep], X, X[keep], sizes="sample", random_state=1)
    assert plain == pytest.approx(0.1, abs=0.02)
    assert sampled > 0.8
    assert sampled == cg.adco(codes, codes[keep], X, X[keep], sizes="sample", random_state=1)
    assert sampled == cg.adco(codes[keep], codes, X[keep], X, sizes="sample", random_state=1)
    scaled = cg.adco(codes, codes[keep], X, X[keep], sizes="scaled")
    many = [cg.adco(codes, codes[keep], X, X[keep], sizes="sample", random_state=s) for s in range(20)]
    assert np.mean(many) < scaled < np.mean(many) + 0.1  # the mean counts, without the noise of single samples
    one, hundred = of([[1, 1]]), of([[100, 100]])
    assert cg.adco(one, hundred, sizes="scaled") == close(1)


def test_scaled_and_empty_profiles():
    """Scaled sides are equally large, up to rounding; empty clusters and empty sides divide nothing by 0."""
    rng = np.random.default_rng(0)
    a, c = rng.integers(0, 3, 150), rng.integers(0, 3, 13)
    r = cg.compare_profiles(a, c, rng.normal(size=(150, 3)), rng.normal(size=(13, 3)), sizes="scaled")
    assert r.notes == ()
    p, q, nothing = of([[0, 0], [1, 2]]), of([[1, 0], [1, 2]]), of([[0, 0]])
    soft = cg.compare_profiles(p, q, matching="soft")
    assert soft["adco"] == close(cg.adco(of([[1, 2]]), q, matching="soft"))
    assert cg.adco(nothing, q, sizes="scaled") == 0
    assert cg.adco(nothing, nothing) == 1
    b = cg.Binning(spare=True).fit([["u", 0.0], ["v", 1.0]])
    late = cg.compare_profiles([0, 0], [0, 0], [["u", 0.0], ["v", 1.0]], [["u", 5.0], ["w", 9.0]], binning=b)
    assert late.notes[0] == "1 value of x0 in b is new, in an extra bin"
    assert late.notes[1] == "2 values of x1 in b are outside, counted in the first or last bin"
    with pytest.raises(cg.InputError, match="one side has none"):
        cg.adco(nothing, q, matching="soft")


def test_soft_matching_lets_clusters_split():
    """Splitting a cluster into two similar halves costs nothing; soft matching of equal profiles is 1."""
    X = np.repeat([[0.0], [1.0], [5.0], [6.0]], 10, axis=0)
    a, b = np.repeat([0, 0, 1, 1], 10), np.repeat([0, 0, 1, 1], 10)
    b[::2] += 2  # both clusters are halved, point by point
    assert cg.adco(a, b, X) < 0.6
    assert cg.adco(a, b, X, matching="soft") == close(1)
    assert cg.adco(a, a, X, matching="soft") == 1
    r = cg.compare_profiles(a, b, X, matching="soft")
    assert sum(m[2] for m in r.matches) == close(1)
    assert [m[3] for m in r.matches] == [close(1)] * 4
    other = np.random.default_rng(0).integers(0, 3, 40)
    s = cg.compare_profiles(a, other, X, matching="soft")
    assert 0 < s["adco"] < 1
    assert sum(row[1] for row in s.attributes) == close(s["adco"])
    assert cg.adco(other, a, X, matching="soft") == close(s["adco"])


@settings(max_examples=40)
@given(clusterings())
def test_soft_matching_is_the_best_plan(data):
    """The soft value is the optimum of the transport problem, solved here by a general solver."""
    from scipy.optimize import linprog

    X, a, b = data
    r = cg.compare_profiles(a, b, X, bins=3, matching="soft")
    p, q = r.profiles
    u, v = p.counts / p.sizes[:, None], q.counts / q.sizes[:, None]
    alike = (u @ v.T) / np.maximum((u**2).sum(1)[:, None], (v**2).sum(1)[None])
    k, m = alike.shape
    rows = [np.outer(np.eye(k)[i], np.ones(m)).ravel() for i in range(k)]
    rows += [np.outer(np.ones(k), np.eye(m)[j]).ravel() for j in range(m)]
    margins = np.r_[p.sizes, q.sizes] / len(a)
    best = linprog(-alike.ravel(), A_eq=np.array(rows), b_eq=margins, method="highs")
    assert r["adco"] == pytest.approx(-best.fun, rel=1e-9)


def test_what_a_comparison_shows():
    """Values, matched and unmatched clusters, and the contribution of each attribute; as frames, JSON and text."""
    rng = np.random.default_rng(5)
    X = pd.DataFrame(rng.normal(size=(90, 2)), columns=["len", "wid"])
    a, b = np.repeat(["u", "v", "w"], 30), np.repeat([0, 1], 45)
    r = cg.compare_profiles(a, b, X)
    assert len(r.matches) == 2
    assert len(r.only_a) == 1
    assert r.only_b == ()
    assert sum(x[1] for x in r.attributes) == close(r["adco"])
    assert r.to_frame()["attribute"].tolist() == ["len", "wid"]
    assert r.to_frame("clusters", "polars").columns == ["a", "b", "weight", "similarity", "size_a", "size_b"]
    about = json.loads(r.to_json())
    assert about["values"]["adco"] == r["adco"]
    assert about["only_a"] == list(r.only_a)
    assert "only in a: " in repr(r)
    assert set(r.to_dict()) == {"adco", "adco_distance", "adco_metric", "adco_cosine"}
    with pytest.raises(KeyError, match="ari is not a measure of density profiles"):
        r["ari"]
    with pytest.raises(cg.InputError, match="'attributes' or 'clusters'"):
        r.to_frame("bins")
