"""Density profiles: bins, counts that add, ADCO and its relatives against slow definitions, drift, and the commands."""

from __future__ import annotations

import itertools
import json
import math
import pickle
import sys
from datetime import date
from pathlib import Path
from typing import Any

import naive_density as naive
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.datasets import load_iris

import congruence as cg
from congruence import cli
from congruence.density import columns as columns_room
from congruence.density.binning import mdl_cuts
from congruence.density.similarity import stratified_sample
from congruence.machine import jit

CASES = json.loads((Path(__file__).parent / "golden" / "golden.json").read_text())["cases"]
PROFILES = [pytest.param(c, id=c["id"]) for c in CASES if c["kind"] == "adco_profile"]
DATA = [pytest.param(c, id=c["id"]) for c in CASES if c["kind"] == "adco_data"]
FIG3 = ([[8, 0, 5, 3], [0, 6, 3, 3]], [[5, 2, 2, 5], [3, 4, 6, 1]])


def close(x: float) -> Any:
    return pytest.approx(x, rel=1e-12, abs=1e-12)


def of(counts: list[list[float]], widths: list[int] | None = None) -> cg.Profile:
    return cg.Profile.of(counts, widths)


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


@st.composite
def clusterings(draw: st.DrawFn) -> tuple[np.ndarray, list[int], list[int]]:
    """Data on a grid of eighths, and two clusterings of their points."""
    n, r = draw(st.integers(1, 12)), draw(st.integers(1, 3))
    cells = draw(st.lists(st.integers(-8, 8), min_size=n * r, max_size=n * r))
    labels = st.lists(st.integers(0, 3), min_size=n, max_size=n)
    return np.array(cells).reshape(n, r) / 8, draw(labels), draw(labels)


# --- bins ------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@settings(max_examples=80)
@given(clusterings(), st.integers(1, 12))
def test_equal_width_is_the_definition(data, bins):
    """A value is in bin j if it is at or above the j-th of equal steps over the range, and the last bin is closed."""
    X, _, _ = data
    b = cg.Binning("width", bins).fit(X)
    expected = [[naive.width_bin(x, X[:, i].tolist(), bins) for i, x in enumerate(row)] for row in X.tolist()]
    assert b.transform(X).tolist() == expected
    assert all(q == (1 if np.ptp(X[:, i]) == 0 else bins) for i, q in enumerate(b.n_bins))


def test_values_on_an_edge_and_at_the_ends():
    """A value on a cut is in the bin above it, the largest is in the last bin."""
    b = cg.Binning(bins=4).fit([[0.0], [8.0]])
    assert b.transform([[0.0], [1.99], [2.0], [4.0], [6.0], [8.0]])[:, 0].tolist() == [0, 0, 1, 2, 3, 3]
    assert b.cuts == {"x0": (2.0, 4.0, 6.0)}


def test_a_range_wider_than_the_largest_float():
    """Bins of equal width do not overflow; more bins than memory has room for are refused."""
    assert cg.Binning(bins=2).fit([[-1.7e308], [1.7e308]]).transform([[-1.0], [1.0]])[:, 0].tolist() == [0, 1]
    with pytest.raises(cg.InputError, match="from 1 to 1,000,000, not 1000000000"):
        cg.Binning(bins=10**9)


def test_equal_frequency_merges_edges_that_coincide():
    """Iris has 10, 9, 10 and 9 bins, as scikit-learn's quantile binning finds; and bins hold about as many points."""
    X = load_iris().data
    b = cg.Binning("frequency").fit(X)
    assert b.n_bins == (10, 9, 10, 9)
    even = cg.Binning("frequency", 5).fit(np.arange(100.0)[:, None])
    assert np.bincount(even.transform(np.arange(100.0)[:, None])[:, 0]).tolist() == [20] * 5
    assert cg.Binning("frequency", 4).fit([[1.0], [1.0], [1.0], [2.0]]).n_bins[0] >= 1


def test_mdl_cuts_of_iris():
    """The cuts that Fayyad and Irani's criterion makes on iris, which Orange finds too."""
    iris = load_iris()
    b = cg.Binning("mdl").fit(iris.data, iris.target)
    expected = [(5.55, 6.15), (2.95, 3.35), (2.45, 4.75), (0.8, 1.75)]
    for cuts, want in zip(b.cuts.values(), expected, strict=True):
        assert cuts == pytest.approx(want, abs=1e-9)


@given(st.data())
def test_mdl_is_the_definition(data):
    """The vectorised search finds the cuts of the slow one."""
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    n, k = int(rng.integers(2, 50)), int(rng.integers(1, 4))
    classes = rng.integers(0, k, n)
    values = np.round(classes * rng.uniform(0, 3) + rng.normal(size=n), 1)
    cuts = mdl_cuts(values, classes)
    assert cuts.tolist() == pytest.approx(naive.mdl_cuts(values.tolist(), classes.tolist()), rel=1e-12)


def test_mdl_does_not_look_at_points_in_no_cluster():
    """Dropped points have no class of their own: the cuts are those of the labelled points, by every door."""
    X, y = load_iris(return_X_y=True)
    cuts = cg.Binning("mdl").fit(X[:100], y[:100]).cuts
    some = pd.Series(y).where(pd.Series(y) < 2)
    assert cg.Binning("mdl").fit(X, some).cuts == cuts
    for labels, noise in ((some, None), (y, 2)):
        binning = cg.Binning("mdl")
        p = cg.density_profile(X, labels, binning, unassigned="drop", noise=noise)
        r = cg.compare_profiles(labels, y, X, binning="mdl", unassigned="drop", noise=noise)
        d = cg.drift([(X, labels), (X, labels)], binning="mdl", unassigned="drop", noise=noise)
        assert {a.name: a.cuts for a in p.attributes} == binning.cuts == cuts
        assert r.profiles[0].attributes == p.attributes
        assert [a.cuts for a in d.profiles[0].attributes] == list(cuts.values())


def test_mdl_needs_labels_and_may_find_no_cut():
    """Without labels MDL is an error; classes that do not separate leave one bin."""
    with pytest.raises(cg.InputError, match="pass labels"):
        cg.Binning("mdl").fit([[1.0], [2.0]])
    with pytest.raises(cg.InputError, match="2 points and 3 labels"):
        cg.Binning("mdl").fit([[1.0], [2.0]], [0, 1, 1])
    assert cg.Binning("mdl").fit(np.arange(8.0)[:, None], [0, 1] * 4).n_bins == (1,)


FRAME = pd.DataFrame(
    {
        "x": [0.0, 1, 2, np.nan],
        "word": ["b", "a", None, "b"],
        "kind": pd.Categorical([2, 1, 2, 1], categories=[1, 2, 3]),
        "whole": pd.array([1, None, 3, 4], dtype="Int64"),
        "flag": [True, False, True, True],
        "same": [7, 7, 7, 7],
    }
)
CODES = [[0, 1, 1, 0, 1, 0], [1, 0, 0, 2, 0, 0], [1, 2, 1, 1, 1, 0], [2, 1, 0, 1, 1, 0]]


def _frames() -> dict[str, Any]:
    arrow = pa.Table.from_pandas(FRAME)
    columns = {name: arrow.column(name) for name in arrow.column_names}
    objects = FRAME.astype(object).where(FRAME.notna(), None).to_numpy()
    return {"pandas": FRAME, "polars": pl.from_pandas(FRAME), "arrow": arrow, "mapping": columns, "objects": objects}


@pytest.mark.parametrize("kind", _frames())
def test_frames_of_every_kind(kind):
    """Strings, categories and booleans have one bin per value, missing values their own, a constant attribute one."""
    frame = _frames()[kind]
    nominal = [2] if kind == "objects" else ()
    b = cg.Binning(bins=2, nominal=nominal).fit(frame)
    assert b.n_bins == (3, 3, 2, 3, 2, 1)
    assert b.transform(frame).tolist() == CODES
    if kind != "objects":
        assert b.names == tuple(FRAME.columns)
        assert b.attributes[1].bins == ("a", "b", "(missing)")
    assert b.attributes[0].bins == ("[0, 1)", "[1, 2]", "(missing)")


def test_numbers_may_be_named_nominal():
    """Codes of nominal values get one bin each, by name or by position."""
    assert cg.Binning(bins=2, nominal=["x"]).fit({"x": [5, 7, 9, 5]}).n_bins == (3,)
    assert cg.Binning(bins=2, nominal=[0]).fit([[5], [7], [9]]).n_bins == (3,)
    with pytest.raises(cg.InputError, match="nominal names an unknown attribute 'y'"):
        cg.Binning(nominal=["y"]).fit({"x": [1, 2]})


def test_nominal_attributes_of_a_binning_are_so_everywhere():
    """drift and alternatives take from a Binning, fitted or not, which numbers are nominal; and never treat all as missing."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x": rng.normal(size=40), "g": rng.integers(0, 4, 40), "day": [1, 2] * 20})
    y = rng.integers(0, 2, 40)
    for binning in (cg.Binning(nominal="g"), cg.Binning(nominal=[1], spare=True).fit(table[["x", "g"]])):
        was_fitted = binning.is_fitted
        d = cg.drift(table.assign(y=y), "y", "day", binning=binning)
        assert all(p.counts[:, 10 + was_fitted :][:, :4].sum() == p.n for p in d.profiles)
        found = cg.alternatives(table[["x", "g"]], y, binning=binning, method="coala", min_size=9)[0]
        same = cg.alternatives(table[["x", "g"]].astype({"g": str}), y, method="coala", min_size=9)[0]
        assert found.labels.tolist() == same.labels.tolist()
        assert found.adco == same.adco
        assert binning.is_fitted == was_fitted
    with pytest.raises(cg.InputError, match="unknown attribute 'gg'; did you mean g"):
        cg.drift(table.assign(y=y), "y", "day", nominal=["gg"])
    with pytest.raises(cg.InputError, match="'g' was fitted as nominal but holds numbers"):
        cg.Binning(nominal="g").fit(table).columns(columns_room.as_columns(table))


def test_other_columns():
    """Masked and object numbers are numbers, all missing is one bin, dates and sparse matrices are refused in a line."""
    masked = np.ma.MaskedArray([[1.0], [2.0], [3.0]], mask=[[False], [True], [False]])
    assert cg.Binning(bins=2).fit({"x": masked[:, 0]}).transform({"x": masked[:, 0]})[:, 0].tolist() == [0, 2, 1]
    assert cg.Binning(bins=2).fit({"x": [1, 2.5, None]}).n_bins == (3,)
    mixed = np.array([np.int64(1), np.float32(2), None], dtype=object)
    assert cg.Binning(bins=2).fit({"x": mixed}).transform({"x": mixed})[:, 0].tolist() == [0, 1, 2]
    gap = pd.DataFrame(
        {"x": pd.Series([1.0, pd.NA, 3.0], dtype=object), "y": pd.Series(["a", pd.NA, "b"], dtype=object)}
    )
    assert cg.Binning(bins=2).fit(gap).transform(gap).tolist() == [[0, 0], [2, 2], [1, 1]]
    assert cg.Binning(bins=2).fit(pl.LazyFrame({"x": [1.0, 2.0]})).n_bins == (2,)
    empty = cg.Binning().fit({"x": [None, None], "y": np.array([np.nan, np.nan])})
    assert empty.n_bins == (1, 1)
    assert empty.transform({"x": [None], "y": [np.nan]}).tolist() == [[0, 0]]
    with pytest.raises(cg.InputError, match="convert it to numbers or strings"):
        cg.Binning().fit({"day": np.array(["2024-01-01"], dtype="datetime64[D]")})
    with pytest.raises(cg.InputError, match="sparse"):
        cg.Binning().fit(csr_array(np.eye(2)))


def test_values_outside_the_range_go_to_the_end_bins_and_are_counted():
    """Below the range is the first bin, above it the last, infinities too; the profile says how many there were."""
    b = cg.Binning(bins=2).fit([[0.0, 0.0], [1.0, 1.0]])
    X = [[-5.0, 0.0], [9.0, 1.0], [math.inf, 0.5]]
    assert b.transform(X).tolist() == [[0, 0], [1, 1], [1, 1]]
    assert b.outside(X) == {"x0": 3, "x1": 0}
    p = cg.density_profile(X, [0, 0, 1], b)
    assert p.outside.tolist() == [3, 0]
    assert (p + p).outside.tolist() == [6, 0]
    r = cg.compare_profiles([0, 1], [0, 0, 1], [[0.0, 0], [1, 1]], X, binning=b)
    assert any("3 values of x0 in b are outside" in note for note in r.notes)


def test_a_word_on_minus_one():
    """Label −1 among others is counted as a cluster, with a note, unless it is named as noise."""
    X = [[0.0], [1.0], [2.0]]
    assert "label −1" in cg.compare_profiles([0, 1, -1], [0, 1, 1], X).notes[0]
    named = cg.compare_profiles([0, 1, -1], [0, 1, 1], X, noise=-1, unassigned="drop")
    assert named.profiles[0].n == 2
    assert not any("label −1" in note for note in named.notes)


def test_spare_bins():
    """Values never seen and missing ones raise where there is no bin for them, and are counted where there is."""
    seen = {"x": [0.0, 1.0], "w": ["a", "b"]}
    later = {"x": [0.5, None], "w": ["c", None]}
    with pytest.raises(cg.InputError, match=r"new values, such as 'c', that were not fitted; .*spare=True"):
        cg.Binning(bins=2).fit(seen).transform({"x": [0.5], "w": ["c"]})
    with pytest.raises(cg.InputError, match=r"'x' has 1 missing values here .*spare=True"):
        cg.Binning(bins=2).fit(seen).transform({"x": [None, 1.0], "w": ["a", "a"]})
    b = cg.Binning(bins=2, spare=True).fit(seen)
    assert b.n_bins == (3, 4)
    assert b.transform(later).tolist() == [[1, 2], [2, 3]]
    assert b.outside(later) == {"x": 0, "w": 1}


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: cg.Binning("wide"), "no binning 'wide'"),
        (lambda: cg.Binning(bins=0), "from 1 to 1,000,000, not 0"),
        (lambda: cg.Binning().transform([[1.0]]), "no bins yet"),
        (lambda: cg.Binning().fit([1.0, 2.0]), r"got shape \(2,\)"),
        (lambda: cg.Binning().fit([[1.0], [math.inf]]), "infinite"),
        (lambda: cg.Binning().fit([[1.0, 2.0], [1.0]]), "different lengths"),
        (lambda: cg.Binning().fit({"a": [1, 2], "b": [1]}), "different lengths: 1 and 2"),
        (lambda: cg.Binning().fit([[1.0]]).transform([[1.0, 2.0]]), "'x1' is on one side only"),
        (lambda: cg.Binning().fit({"a": [1.0, 2]}).transform({"a": ["u", "v"]}), "fitted as numbers"),
        (lambda: cg.density_profile([[1.0], [2.0]], [0]), "2 points and 1 labels"),
        (lambda: cg.density_profile([[1.0], [2.0]], [0, None]), "1 of 2 points are unassigned"),
        (lambda: cg.density_profile([[1.0], [2.0]], [0, 1], bivariate=True), "two attributes"),
        (lambda: cg.adco([0, 1], [0, 1]), "pass X"),
        (lambda: cg.adco([0, 1], [0, 1, 1], [[1.0], [2.0]]), "b has 3 labels for 2 points.*X_b"),
        (lambda: cg.adco([0, 1], [0, 1], [[1.0], [2.0]], kernel="rbg"), "did you mean rbf"),
        (
            lambda: cg.adco([0, 1], [0, 1], [[1.0], [2.0]], kernel_on="cluster"),
            "'profile' or 'clusters', not 'cluster'",
        ),
        (lambda: cg.adco([0, 1], [0, 1], [[1.0], [2.0]], matching="hard"), "'one' or 'soft'"),
        (lambda: cg.adco([0, 1], [0, 1], [[1.0], [2.0]], sizes="equal"), "'given', 'sample' or 'scaled'"),
        (lambda: cg.adco([0, 1], [0, 1], [[1.0], [2.0]], adjusted=True, matching="soft"), "mean over matchings"),
        (lambda: cg.adco_cosine([0, 1], [0, 1], [[1.0], [2.0]], adjusted=True), "no adjusted form"),
        (lambda: cg.adco(of([[1, 2]]), [0, 1], [[1.0], [2.0]]), "one side is a profile"),
        (lambda: cg.adco(of([[1, 2]]), of([[1, 2]]), [[1.0]]), "leave X out"),
        (lambda: cg.adco(of([[1, 2]]), of([[1, 2]]), sizes="sample"), "no points to sample"),
        (lambda: cg.adco(of([[1, 2, 3]]), of([[1, 2]])), "different bins for x0"),
        (lambda: cg.adco(of([[1, 2]], [1, 1]), of([[1, 2]])), "different attributes"),
        (lambda: of([[-1, 2]]), "non-negative counts"),
        (lambda: of([[1, 2]], [1]), "are 1 bins, but the counts have 2 columns"),
    ],
)
def test_one_line_for_what_is_wrong(make, text):
    """Bad input is an InputError whose one line says what was given and what to try."""
    with pytest.raises(cg.InputError, match=text) as caught:
        make()
    assert "\n" not in str(caught.value)


def test_the_index_of_labels_and_data_must_agree():
    """A series of labels in another order than the frame is not silently taken row by row."""
    X = pd.DataFrame({"x": [0.0, 1.0]}, index=["p", "q"])
    labels = pd.Series([0, 1], index=["q", "p"])
    with pytest.raises(cg.InputError, match="index of a differs"):
        cg.adco(labels, labels, X)
    with pytest.raises(cg.InputError, match="index of labels differs"):
        cg.density_profile(X, labels)
    with pytest.raises(cg.InputError, match="index of the labels of window 1 differs"):
        cg.drift([(X, labels[::-1]), (X, labels)])


# --- counting --------------------------------------------------------------------------------------------------------


@settings(max_examples=60)
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
    """Profiles add over points: any two parts give the whole, clusters that are in one part only included."""
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
    """Hard memberships give the counts of the labels, soft ones share each point out."""
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

    for name, kernel, options in (
        ("polynomial", polynomial, {"degree": 3, "coef0": 0.5}),
        ("rbf", rbf, {"gamma": 0.01}),
    ):
        assert cg.adco(p, q, kernel=name, **options) == close(naive.kernel_of_profiles(a, b, kernel))
        clusters = cg.adco(p, q, kernel=name, kernel_on="clusters", **options)
        assert clusters == close(naive.kernel_of_clusters(a, b, kernel))


@pytest.mark.slow
@settings(max_examples=80)
@given(profiles(), st.randoms(use_true_random=False))
def test_properties_of_profiles(tables, random):
    """Between 0 and 1, blind to the order of clusters, adco at most the cosine, 1 for a profile and itself."""
    a, b = tables
    shuffled = random.sample(b, len(b))
    options: list[dict[str, Any]] = [
        {},
        {"kernel": "polynomial"},
        {"kernel": "rbf"},
        {"kernel": "rbf", "kernel_on": "clusters"},
    ]
    for how in options:
        value = cg.adco(of(a), of(b), **how)
        assert 0 <= value <= 1
        assert cg.adco(of(a), of(shuffled), **how) == close(value)
        assert cg.adco(of(b), of(shuffled), **how) == close(1)
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


def test_the_distance_is_no_metric():
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
    """(1,1) against (100,100) is 0.01; Bob and Alice are 1 where Rand is 1/3; the cosine hardly sees concentration."""
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
    """Scaled sides are equally large but for rounding; empty clusters and empty sides divide nothing by 0."""
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
    """Values, matched clusters, what is left over and what each attribute adds; as frames, JSON and text."""
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


# --- the registry ----------------------------------------------------------------------------------------------------


def test_they_are_measures_that_need_the_data():
    """Named without data they raise one clear line, "all" leaves them out and says why, and the records are whole."""
    a, b = [0, 0, 1, 1], [0, 1, 1, 1]
    keys = [m.key for m in cg.measures() if m.family == "profiles"]
    assert keys == ["adco", "adco_distance", "adco_metric", "adco_cosine"]
    for key in keys:
        with pytest.raises(cg.NotApplicable, match=rf"so it needs the data: cg.{key}\(a, b, X\)"):
            cg.compare(a, b, key)
        with pytest.raises(cg.NotApplicable, match="so it needs the data"):
            cg.compare_all([a, b], key)
        with pytest.raises(cg.NotApplicable, match="so it needs the data"):
            cg.compare(cg.Ensemble([a, b]), a, key)
        assert "so it needs the data" in cg.compare(a, b, "all").skipped[key]
        assert cg.measure(key)(a, b, X=[[0], [1], [2], [3]]) == getattr(cg, key)(a, b, [[0], [1], [2], [3]])


def test_the_definitions_give_the_values():
    """The lines of each definition, worked through with the statistic's numbers, are the formula."""
    for a, b in ((FIG3[0], FIG3[1]), (FIG3[0], FIG3[0]), ([[1, 1]], [[100, 100]])):
        r = cg.compare_profiles(of(a), of(b))
        for key, value in r.to_dict().items():
            m = cg.measure(key)
            known = {s: float(getattr(r.statistic, s)[0]) for s in r.statistic.symbols}
            for line in m.definition:
                name, expression = line.split(" = ", 1)
                known[name] = eval(expression, {"max": max, "sqrt": math.sqrt}, known)  # noqa: S307
            assert known[key] == close(value), key
            assert m.range[0] <= value <= m.range[1]


# --- drift -----------------------------------------------------------------------------------------------------------


def _stream(windows: int = 4, n: int = 200) -> list[tuple[np.ndarray, np.ndarray]]:
    """Two clusters; in the last window the second one has moved along the first attribute."""
    rng = np.random.default_rng(6)
    found = []
    for w in range(windows):
        labels = np.repeat([0, 1], n // 2)
        X = rng.normal(size=(n, 3)) + labels[:, None] * 4
        X[labels == 1, 0] += 6 * (w == windows - 1)
        found.append((X, labels))
    return found


def test_drift_finds_what_moved():
    """adco falls where a cluster moves, and the attribute and the cluster that moved come first."""
    stream = _stream()
    d = cg.drift(iter(stream), bins=8)
    assert d.windows == (0, 1, 2, 3)
    assert d.previous[:2].min() > 0.9 > 0.85 > d.previous[2]
    assert d.first[0] == d.previous[0]
    assert d.moved_attributes(3)[0][0] == "x0"
    assert d.moved_clusters(3)[0][:2] == (1, 1)
    assert d.moved_attributes(3, "first")[0][0] == "x0"
    b = cg.Binning(bins=8, spare=True).fit(stream[0][0])
    p = [cg.density_profile(X, y, b) for X, y in stream]
    assert d.previous.tolist() == [cg.adco(p[i], p[i + 1]) for i in range(3)]
    assert d.first.tolist() == [cg.adco(p[0], p[i]) for i in (1, 2, 3)]
    assert any("window 3" in note and "outside the bins, most in x0" in note for note in d.notes)


def test_a_stream_adds_up():
    """Parts of a window may come in pieces, in any order: profiles add, and the result is the same."""
    stream = _stream()
    b = cg.Binning(bins=5).fit(np.vstack([X for X, _ in stream]))
    whole = cg.drift(dict(enumerate(stream)), binning=b)
    pieces = [(w, X[s], y[s]) for s in (slice(0, 90), slice(90, None)) for w, (X, y) in enumerate(stream)]
    added = cg.drift((piece for piece in pieces), binning=b)
    assert added.previous.tolist() == whole.previous.tolist()
    assert added.first.tolist() == whole.first.tolist()
    assert [p.counts.tolist() for p in added.profiles] == [p.counts.tolist() for p in whole.profiles]


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow", "mapping"])
def test_a_table_with_a_window_column(kind):
    """Columns are named; features are those named, or all others; the bins are fitted on the whole table."""
    stream = _stream(3, 40)
    frame = pd.DataFrame(np.vstack([X for X, _ in stream]), columns=["p", "q", "r"])
    frame["cluster"] = np.concatenate([y for _, y in stream])
    frame["day"] = np.repeat(["mo", "tu", "we"], 40)
    frame["noise"] = np.arange(120)
    table = {
        "pandas": frame, "polars": pl.from_pandas(frame), "arrow": pa.Table.from_pandas(frame),
        "mapping": frame.to_dict("list"),
    }[kind]  # fmt: skip
    d = cg.drift(table, "cluster", "day", features=["p", "q", "r"])
    b = cg.Binning().fit(frame[["p", "q", "r"]])
    p = [cg.density_profile(g[["p", "q", "r"]], g["cluster"], b) for _, g in frame.groupby("day")]
    assert d.windows == ("mo", "tu", "we")
    assert d.previous.tolist() == [close(cg.adco(p[0], p[1])), close(cg.adco(p[1], p[2]))]
    assert not d.notes
    everything = cg.drift(table, "cluster", "day")
    assert everything.profiles[0].names == ("p", "q", "r", "noise")
    assert d.to_frame("polars").height == 3
    assert json.loads(d.to_json())["windows"][1]["previous"] == d.previous[0]
    assert "3 windows, adco with the previous" in repr(d)


MONTHS = ["Jan", "Feb", "Mar", "Apr"]
DAYS = ["2024-03-01", "2024-01-01", "2024-02-01"]


@pytest.mark.parametrize(
    ("windows", "order"),
    [
        ([11, 9, 10], (9, 10, 11)),
        (["week 11", "week 9", "week 10"], ("week 9", "week 10", "week 11")),
        (np.array(DAYS, dtype="M8[D]"), tuple(sorted(DAYS))),
        (pd.Series(pd.to_datetime(DAYS)), tuple(sorted(DAYS))),
        (pl.Series(DAYS).str.to_date(), tuple(sorted(DAYS))),
        ([date.fromisoformat(day) for day in DAYS], tuple(sorted(DAYS))),
        (pa.chunked_array([pd.to_datetime(DAYS[:1]), pd.to_datetime(DAYS[1:])]), tuple(sorted(DAYS))),
        (pd.Series(pd.Categorical(["Mar", "Jan", "Feb"], MONTHS, ordered=True)), ("Jan", "Feb", "Mar")),
        (pl.Series(["Mar", "Jan", "Feb"], dtype=pl.Enum(MONTHS)), ("Jan", "Feb", "Mar")),
    ],
)
def test_windows_come_in_order(windows, order):
    """Numbers, dates, ordered categories and numbers in text are in their order, not that of the rows or the alphabet."""
    d = cg.drift({"w": windows, "x": [3.0, 1.0, 2.0], "y": ["c", "a", "b"]}, "y", "w")
    assert d.windows == order
    assert [p.clusters for p in d.profiles] == [("a",), ("b",), ("c",)]


def test_windows_may_be_periods_and_miss_some():
    """Periods of pandas are dates; a row without a date has no window."""
    table = pd.DataFrame({"w": pd.period_range("2024-01", periods=2, freq="M")[::-1], "x": [1.0, 2.0], "y": [0, 0]})
    assert cg.drift(table, "y", "w").windows == ("2024-01-01", "2024-02-01")
    table["w"] = pd.to_datetime(["2024-01-01", None])
    with pytest.raises(cg.InputError, match="1 rows have no window"):
        cg.drift(table, "y", "w")


def test_what_moved_is_blind_to_sizes_where_the_measure_is():
    """A window that contains another twice has cosine 1 with it, and nothing moved."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 2)), rng.integers(0, 2, 50)
    parts = [(X, y), (np.vstack([X, X, X]), np.concatenate([y, y, y]))]
    last = cg.drift(parts, measure="adco_cosine").rows()[1]
    assert last["previous"] == close(1.0)
    assert (last["attributes"], last["clusters moved"]) == ("", "")
    assert cg.drift(parts).rows()[1]["attributes"] != ""


def test_a_window_without_points_and_a_word_on_noise():
    """A window whose points are all unassigned has nothing in common with others; −1 is called a cluster."""
    X = [[0.0], [1.0], [2.0]]
    for sizes in ("given", "scaled"):
        d = cg.drift([(X, [0, 1, 1]), (X, [None] * 3), (X, [None] * 3)], unassigned="drop", sizes=sizes)
        assert d.previous.tolist() == [0.0, 1.0]
    assert "label −1" in cg.drift([(X, [0, 1, -1]), (X, [0, 1, 1])]).notes[-1]
    assert cg.drift([(X, [0, 1, -1]), (X, [0, 1, 1])], noise=-1, unassigned="cluster").notes == ()


def test_windows_of_unequal_size_and_new_values():
    """Unequal windows are said, and scaled on request; values never seen before have their own bin in a stream."""
    one = ({"w": ["u", "u", "v", "v"]}, [0, 0, 1, 1])
    two = ({"w": ["u", "v"] * 10}, [0, 1] * 10)
    d = cg.drift([one, two])
    assert d.previous.tolist() == [close(8 * 5 / 200)]
    assert "windows have 4 to 20 points" in d.notes[-1]
    assert cg.drift([one, two], sizes="scaled").previous.tolist() == [close(1)]
    assert cg.drift([one, two], measure="adco_cosine").previous.tolist() == [close(1)]
    new = cg.drift([one, ({"w": ["t", None, "v", "v"]}, [0, 0, 1, 2])])
    assert new.profiles[1].counts.tolist() == [[0, 0, 1, 1], [0, 1, 0, 0], [0, 1, 0, 0]]
    assert (None, 2, 0.0) in new.moved_clusters(1) or (None, 1, 0.0) in new.moved_clusters(1)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: cg.drift([]), "there are none"),
        (lambda: cg.drift([([[1.0]], [0])]), "there is only one"),
        (lambda: cg.drift(pd.DataFrame({"x": [1]})), "name the columns of a table"),
        (lambda: cg.drift([[1.0]]), r"\(X, labels\) or \(name, X, labels\)"),
        (lambda: cg.drift({"x": [1], "y": [0]}, "y"), "both names"),
        (lambda: cg.drift({"x": [1], "y": [0]}, "y", "dat"), "no column 'dat'"),
        (lambda: cg.drift({"x": [1], "y": [0]}, "y", "y"), "'y' cannot hold both"),
        (lambda: cg.drift({"y": [1], "d": [0]}, "y", "d"), "features are missing"),
        (lambda: cg.drift({"x": [1], "y": [1], "d": [0]}, "y", "d", features=["y"]), "cannot be a feature"),
        (lambda: cg.drift({"x": [1, 2], "y": [1, 2], "d": [0, None]}, "y", "d"), "1 rows have no window"),
        (lambda: cg.drift([([[1.0]], [0]), ([[1.0]], [0, 1])]), "window 1 has 1 points and 2 labels"),
        (lambda: cg.drift([], measure="adco_cos"), "did you mean adco_cosine"),
        (lambda: cg.drift([], features=["x"]), "features names columns of a table"),
        (lambda: cg.drift([([[1.0]], [0]), (0, [[1.0]], [0])]), "name all parts of a stream or none"),
        (lambda: cg.drift([(math.nan, [[1.0]], [0]), (math.nan, [[1.0]], [0])]), "a number or a date, not nan"),
        (lambda: cg.drift([([1], [[1.0]], [0])]), r"a number or a date, not \[1\]"),
        (lambda: cg.drift([(0, [[1.0]], [None])] * 2, unassigned="singletons"), "window 0 comes in parts"),
        (lambda: cg.drift({"x": [1], "y": [1], "d": [0]}, "y", "d", features="xy"), "no column 'xy'"),
        (lambda: cg.drift(_stream(2)).moved_attributes(2), r"from 1 \(the second\) to 1, not 2"),
    ],
)
def test_one_line_for_what_drift_cannot_do(make, text):
    """Bad input of drift is an InputError of one line."""
    with pytest.raises(cg.InputError, match=text) as caught:
        make()
    assert "\n" not in str(caught.value)


# --- the commands ----------------------------------------------------------------------------------------------------


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """iris with its species, a second clustering and a window, as a csv file."""
    iris = load_iris()
    frame = pd.DataFrame(iris.data, columns=["sl", "sw", "pl", "pw"])
    frame["species"] = iris.target_names[iris.target]
    frame["other"] = (frame["pl"] > 2.5).astype(int)
    frame["day"] = np.arange(150) % 3
    frame.to_csv(tmp_path / "iris.csv", index=False)
    return tmp_path / "iris.csv"


def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *words: Any) -> tuple[int, str, str]:
    monkeypatch.setattr(sys, "argv", ["congruence", *map(str, words)])
    with pytest.raises(SystemExit) as done:
        cli.main()
    said = capsys.readouterr()
    return int(done.value.code or 0), said.out, said.err


def test_the_command_adco(table, capsys, monkeypatch):
    """`congruence adco` prints what compare_profiles finds, as text, JSON and csv, and takes a table of other points."""
    frame = pd.read_csv(table)
    X = frame[["sl", "sw", "pl", "pw"]]
    words = ("adco", table, "--labels", "species", "--labels", "other", "--features", "sl,sw,pl,pw")
    code, out, err = run(capsys, monkeypatch, *words, "--format", "json")
    r = cg.compare_profiles(frame["species"], frame["other"], X)
    assert (code, err) == (0, "")
    assert json.loads(out)["values"] == {k: close(v) for k, v in r.to_dict().items()}
    code, out, _ = run(capsys, monkeypatch, *words, "--adjusted", "--binning", "mdl")
    assert code == 0
    assert f"{cg.adco(frame['species'], frame['other'], X, binning='mdl', adjusted=True):.4f}" in out
    code, out, _ = run(capsys, monkeypatch, *words, "-f", "csv")
    assert out.startswith("measure,value\nadco,")
    code, out, _ = run(capsys, monkeypatch, *words, "--against", table, "-f", "json")
    assert json.loads(out)["n_points"] == [150, 150]
    code, out, err = run(capsys, monkeypatch, *words[:6])
    assert "note: features: sl, sw, pl, pw, day" in err
    code, out, err = run(capsys, monkeypatch, "adco", table, "--labels", "species")
    assert (code, out) == (2, "")
    assert err.strip() == "congruence: --labels names two columns, as in --labels a --labels b; got 1"


def test_the_command_drift(table, capsys, monkeypatch):
    """`congruence drift` prints one row per window, and refuses a misspelt column in one line."""
    frame = pd.read_csv(table)
    words = ("drift", table, "--window", "day", "--labels", "species", "--features", "sl,sw,pl,pw")
    code, out, err = run(capsys, monkeypatch, *words, "-f", "json")
    d = cg.drift(frame, "species", "day", features=["sl", "sw", "pl", "pw"])
    assert (code, err) == (0, "")
    rows = json.loads(out)["windows"]
    assert [row["previous"] for row in rows[1:]] == [close(x) for x in d.previous]
    code, out, _ = run(capsys, monkeypatch, *words)
    assert code == 0
    assert out.startswith("3 windows, adco with the previous")
    code, out, err = run(capsys, monkeypatch, *words, "-f", "csv")
    assert out.splitlines()[0] == "window,points,clusters,previous,first,outside,attributes,clusters moved"
    code, _, err = run(capsys, monkeypatch, "drift", table, "--window", "dya", "--labels", "species")
    assert code == 2
    assert err.count("\n") == 1
    assert "no column 'dya'; did you mean day?" in err
