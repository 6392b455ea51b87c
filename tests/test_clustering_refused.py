"""Input that is not a clustering is refused in one line."""

from __future__ import annotations

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from clustering_cases import SIX, WORDS, U, one_line

import congruence as cg

CUBE = np.zeros((2, 2, 2))
BAD = {
    "lengths": (SIX, SIX[1:], "a and b have 6 and 5 points"),
    "empty list": ([], [], "a: there are no points"),
    "empty array": (np.array([]), SIX, "a: there are no points"),
    "empty series": (SIX, pd.Series([], dtype=object), "b: there are no points"),
    "empty polars": (SIX, pl.Series([], dtype=pl.String), "b: there are no points"),
    "empty arrow": (SIX, pa.array([], pa.int64()), "b: there are no points"),
    "empty memberships": (np.empty((0, 2)), SIX, "a: there are no points"),
    "three dimensions": (CUBE, SIX, "a: expected 1-D labels or 2-D memberships, got a 3-D array"),
    "no dimension": (np.array(3), SIX, "a: expected 1-D labels"),
    "a number": (SIX, 5, "b: expected one label per point .*, got int"),
    "nothing": (None, SIX, "a: expected one label per point .*, got NoneType"),
    "a string": (SIX, "abcdef", "b: expected one label per point .*, got str"),
    "bytes": (b"abcdef", SIX, "a: expected one label per point .*, got bytes"),
    "a mapping": ({0: 1}, SIX, "a: expected one label per point .*, got dict"),
    "a generator": ((x for x in SIX), SIX, "a: expected one label per point .*, got generator"),
    "a set": (set(SIX), [0, 1, 2], "a: expected one label per point .*, got set"),
    "negative memberships": (np.where(U == 0.25, -0.2, U), SIX, r"must not be negative \(row 3, column 0 is -0.2\)"),
    "missing memberships": (np.where(U == 0.25, np.nan, U), SIX, "must not be missing .row 3, column 0"),
    "memberships above 1": (np.where(U == 0.25, 1.1, U), SIX, "must not exceed 1 .row 3, column 0 is 1.1"),
    "infinite memberships": (np.where(U == 0.25, np.inf, U), SIX, "must not exceed 1"),
    "memberships of a lost point": (U * (np.arange(6) != 3)[:, None], SIX, "row 3 of the memberships is all zero"),
    "sparse negative": (sp.coo_array(np.where(U == 0.25, -1, U)), SIX, "must not be negative .row 3, column 0"),
    "sparse missing": (sp.csr_array(np.where(U == 0.25, np.nan, U)), SIX, "must not be missing .row 3, column 0"),
    "sparse lost point": (sp.csr_array(U * (np.arange(6) != 3)[:, None]), SIX, "row 3 .* is all zero"),
    "columns of integers": (np.array([SIX, SIX]).T, SIX, "a 2-D array of integers .* use compare_all"),
    "columns of strings": (np.array([WORDS, WORDS]).T, WORDS, "a 2-D array of strings .* use compare_all"),
    "frame of labels": (pd.DataFrame({"u": SIX, "v": SIX}), SIX, "a frame of 2 columns .* compare_all"),
    "polars frame of labels": (pl.DataFrame({"u": SIX, "v": WORDS[:6]}), SIX, "a frame of 2 columns .* compare_all"),
    "complex list": ([1j, 0, 0, 1, 2, 3], SIX, "complex numbers cannot be labels"),
    "complex array": (np.arange(6) * 1j, SIX, "a: complex numbers cannot be labels"),
    "dates": ([datetime.date(2024, 1, 1)] * 6, SIX, "look like dates"),
    "numpy dates": (np.arange(6).astype("M8[D]"), SIX, "look like dates"),
    "numpy durations": (np.arange(6).astype("m8[s]"), SIX, "look like dates"),
    "pandas dates": (pd.Series(pd.date_range("2024", periods=6)), SIX, "look like dates"),
    "pandas dates with a zone": (pd.Series(pd.date_range("2024", periods=6, tz="UTC")), SIX, "look like dates"),
    "polars dates": (pl.Series([datetime.date(2024, 1, 1)] * 6), SIX, "look like dates"),
    "arrow dates": (pa.array([datetime.date(2024, 1, 1)] * 6), SIX, "look like dates"),
    "not hashable": ([0, {}, 0, 1, 1, 1], SIX, r"label \{\} \(a dict\) at position 1 .* not hashable"),
    "a list among labels": ([0, [1], 0, 1, 1, 1], SIX, "different lengths|not hashable"),
    "ragged": ([[1, 2], [3]], [0, 1], "a list of lists of different lengths is neither labels nor memberships"),
    "an object with obs": (type("Data", (), {"obs": pd.DataFrame({"x": SIX})})(), SIX, r"x\.obs\['leiden'\]"),
}


@pytest.mark.parametrize("name", BAD)
def test_input_that_is_not_a_clustering_is_refused_in_one_line(name):
    """Bad input is an InputError that says in one line which side is wrong, and what was expected."""
    a, b, text = BAD[name]
    with pytest.raises(cg.InputError, match=text) as error:
        cg.compare(a, b)
    one_line(error)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"measures": "aro"}, "there is no measure 'aro'; did you mean ari"),
        ({"measures": ["ari", "nmi_"]}, "there is no measure 'nmi_'; did you mean nmi_joint, nmi_max or nmi_sum?"),
        ({"measures": "zzzzzz"}, "`congruence measures` lists all"),
        ({"measures": []}, "no measures were named"),
        ({"measures": 3}, "measure"),
        ({"measures": [3]}, "there is no measure 3"),
        ({"measures": "lambda"}, "lambda is defined only for equal numbers of clusters, but these have 3 and 2"),
        ({"unassigned": "ignore"}, "unassigned must be 'error', 'drop', 'singletons' or 'cluster', not 'ignore'"),
        ({"align": "rows"}, "align must be"),
    ],
)
def test_options_that_are_wrong_are_refused_in_one_line(options, text):
    """An unknown measure gives an error with similar names, an unknown `unassigned` one with the known values, gaps or not."""
    with pytest.raises(cg.InputError, match=text) as error:
        cg.compare(SIX, [0, 0, 0, 1, 1, 1], **options)
    one_line(error)
    if "unassigned" in options:
        with pytest.raises(cg.InputError, match=text):
            cg.compare([None, *SIX[1:]], SIX, **options)
        with pytest.raises(cg.InputError, match=text):
            cg.compare_all([SIX, SIX], **options)


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ([], "there are no clusterings"),
        ({}, "there are no clusterings"),
        (np.empty((6, 0)), "there are no clusterings"),
        (np.empty((0, 3)), "clustering 0: there are no points"),
        (pd.DataFrame(), "there are no clusterings"),
        (SIX, "expected several clusterings, got one flat list of 6 labels"),
        (np.array(SIX), "expected several clusterings as a 2-D array"),
        (CUBE, "expected several clusterings as a 2-D array"),
        (5, "expected several clusterings .*, got int"),
        ("nowhere.csv", "there is no file nowhere.csv"),
        (pd.DataFrame([[0, 1], [1, 1]], columns=["x", "x"]), "two columns are named 'x'"),
        ([SIX, SIX[1:]], "clustering 0 and clustering 1 have 6 and 5 points"),
        ({"u": SIX, "v": [None, *SIX[1:]]}, "v: 1 of 6 points are unassigned"),
    ],
    ids=str,
)
def test_input_that_is_not_an_ensemble_is_refused_in_one_line(data, text):
    """The same for several clusterings: which one is wrong, and why."""
    with pytest.raises(cg.InputError, match=text) as error:
        cg.compare_all(data)
    one_line(error)


def test_other_refusals_of_the_border():
    """Names that do not fit, memberships of words, and an unknown reference have specific messages."""
    for call, text in (
        (lambda: cg.Ensemble([SIX, SIX], names=["x"]), "1 names for 2 clusterings"),
        (lambda: cg.Memberships([["a", "b"]]), "memberships must be numbers"),
        (lambda: cg.Memberships([0.1, 0.9]), "must be a 2-D array"),
        (lambda: cg.Memberships(U, names=["p"]), "1 names for 2 clusters"),
        (lambda: cg.compare_to("tru", {"truth": SIX, "x": SIX}), "no clustering 'tru'; did you mean truth?"),
        (lambda: cg.compare_to("truth", {"truth": SIX}), "no clusterings to compare with the reference"),
        (lambda: cg.compare_all([SIX, SIX], engine="abacus"), "engine 'abacus' is not available"),
        (lambda: cg.ari(SIX, SIX, engine=np.array([1, 2])), r"engine array\(\[1, 2\]\) is not available"),
        (lambda: cg.compare_all([SIX, SIX], threads=0), "threads must be at least 1"),
        (lambda: cg.measure("ari", beta=2), "ari has no parameter 'beta'; its parameters: none"),
        (lambda: cg.measure("v_measure", gamma=2), "v_measure has no parameter 'gamma'; its parameters: beta"),
        (
            lambda: cg.element_scores(SIX, SIX, sample_weight=[1] * 6),
            "sample_weight has no effect on the scores of single",
        ),
        (lambda: cg.relabel(SIX, cg.Cover([[0, 1], [2]], 6)), "relabel renames labels and reorders memberships"),
        (lambda: cg.compare(U, SIX, "ami_max"), "ami_max is not defined for soft memberships.*ari_gram"),
        (lambda: cg.compare(SIX, SIX, "ami_max", sample_weight=[2] * 6), "ami_max is not defined for sample_weight"),
    ):
        with pytest.raises(cg.InputError, match=text) as error:
            call()
        one_line(error)


def test_an_option_that_does_not_exist_is_not_swallowed():
    """A misspelt option is an error in every function that takes the options of compare."""
    for call in (cg.ari, cg.compare, cg.contingency, cg.match, cg.relabel, cg.element_scores):
        with pytest.raises((TypeError, cg.InputError), match="unasigned"):
            call(SIX, SIX, unasigned="drop")


def test_floats_that_look_like_measurements_warn():
    """A hundred different fractional values are probably not labels: a warning says so, and the result is given."""
    rng = np.random.default_rng(0)
    with pytest.warns(UserWarning, match="a: 100 different fractional values in 100 points look like measurements"):
        assert cg.ari(rng.random(100), np.zeros(100, dtype=int)) == 0.0
    assert cg.ari(rng.integers(0, 3, 100) + 0.5, np.zeros(100, dtype=int)) == 0.0


def test_noise_of_a_missing_column_is_refused():
    """A misspelt column in the mapping of noise labels would silently leave noise in."""
    for call in (
        lambda: cg.compare(SIX, SIX, noise={"leidn": -1}),
        lambda: cg.compare_all({"leiden": SIX, "x": SIX}, noise={"leidn": -1}),
    ):
        with pytest.raises(cg.InputError, match="noise names an unknown column 'leidn'") as error:
            call()
        one_line(error)
    assert str(error.value).endswith("the columns are: leiden, x")  # each once


def test_noise_of_one_column_leaves_the_caution_of_another():
    """The caution about −1 is left out only for columns whose noise was named."""
    data = {"x": [-1, 0, 1, 1, 0, 0], "y": [-1, 0, 1, 1, 0, 0]}
    cautions = cg.compare_all(data, noise={"x": -1}, unassigned="drop").cautions
    assert [c for c in cautions if "label −1" in c] == [c for c in cautions if c.startswith("y has label −1")] != []


def test_noise_may_be_any_collection():
    """A series or a range of noise labels works like a list."""
    for noise in (pd.Series([-1]), range(-1, 0), {-1: "x"}.keys()):
        assert cg.compare([-1, 0, 0, 1], [0, 0, 0, 1], "ari", noise=noise, unassigned="drop").n_used == 3


def test_partial_is_for_ensembles():
    """A pair cannot be partial: the error names the allowed values."""
    with pytest.raises(cg.InputError, match="for a pair pass 'drop'"):
        cg.compare(SIX, SIX, unassigned="partial")


def test_a_measure_named_twice_with_different_parameters_is_refused():
    """Two forms of one measure would share a key in the result."""
    with pytest.raises(cg.InputError, match="v_measure is named twice"):
        cg.compare(SIX, SIX, [cg.measure("v_measure", beta=2), "v_measure"])


def test_noise_of_a_missing_column():
    """The error lists every column once."""
    with pytest.raises(cg.InputError, match=r"unknown column 'z'; the columns are: a, b$"):
        cg.compare_all({"a": [0, 1], "b": [0, 1]}, "ari", noise={"z": 0})
