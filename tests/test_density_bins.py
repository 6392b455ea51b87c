"""Bins, compared with slow definitions."""

from __future__ import annotations

import math
from typing import Any

import naive_density as naive
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from density_cases import clusterings, of
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.datasets import load_iris

import congruence as cg
from congruence.density import columns as columns_room
from congruence.density.binning import mdl_cuts


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
    """Iris has 10, 9, 10 and 9 bins, as scikit-learn's quantile binning finds; bins hold about equally many points."""
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
    """Dropped points are not a class: the cuts are those of the labelled points, through every entry point."""
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
        assert all(p.counts[:, 11:][:, :4].sum() == p.n for p in d.profiles)
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


def test_a_note_on_minus_one():
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
