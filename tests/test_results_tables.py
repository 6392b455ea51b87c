"""Matchings, element scores, tables and measures."""

from __future__ import annotations

import inspect
import math
import sys
from dataclasses import is_dataclass
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from results_cases import KEYS, A, B, U

import congruence as cg
from congruence.engine.plan import Progress

HISTORICAL = ("kappa_trace", "irm_greedy", "nsf_printed")


# --- matchings -------------------------------------------------------------------------------------------------------


def test_a_matching_names_the_clusters():
    """Each cluster of b is matched with at most one of a: the pairs with most common points, and the rest."""
    m = cg.match(["p", "p", "q", "q", "q", "r"], [3, 3, 7, 7, 3, 7])
    assert m.mapping == {3: "p", 7: "q"}
    assert m.rows == (("p", 3, 2, 2, 3), ("q", 7, 2, 3, 3))
    assert m.only_a == ("r",)
    assert m.only_b == ()
    assert m.n == 6
    frame = m.to_frame()
    assert frame["a"].tolist() == ["p", "q"]
    assert frame["jaccard"].tolist() == pytest.approx([2 / 3, 2 / 4])
    assert "2 clusters matched, 4 of 6 points in common" in repr(m)
    assert "only in a: r" in repr(m)
    assert sum(row[2] for row in m.rows) / m.n == cg.accuracy(["p", "p", "q", "q", "q", "r"], [3, 3, 7, 7, 3, 7])


def test_a_matching_takes_the_options_of_compare():
    """Weights, gaps and memberships are matched as they are compared."""
    assert cg.match(A, [None, *B[1:]], unassigned="drop").n == 7
    assert cg.match(A, B, frequency=[2] * 8).n == 16
    assert cg.match(U, A).n == pytest.approx(8)
    weighted = cg.match([0, 0, 1, 1], ["u", "v", "u", "v"], sample_weight=[1, 9, 9, 1])
    assert weighted.mapping == {"v": 0, "u": 1}


def test_relabelled_integers_are_integers():
    """b renamed to fit an integer reference is an integer array; clusters without a partner get the next number."""
    found = cg.relabel([0, 0, 1, 1, 2, 2], [7, 7, 3, 3, 5, 9])
    assert found.dtype == np.int64
    assert found.tolist() in ([0, 0, 1, 1, 2, 3], [0, 0, 1, 1, 3, 2])
    assert cg.relabel([10, 10, -4, -4], ["b", "b", "a", "c"]).tolist()[:3] == [10, 10, -4]
    assert cg.ari([7, 7, 3, 3, 5, 9], found) == 1.0


def test_relabelled_strings_are_strings():
    """b renamed to fit words is words; a cluster without a partner keeps its own name, altered if that is taken."""
    found = cg.relabel(["x", "x", "y", "y"], [0, 0, 1, 2])
    assert found.tolist() == ["x", "x", "y", "2"]
    assert found.dtype.kind == "U"
    taken = cg.relabel(["u", "u", "u", "v", "v"], ["w", "w", "w", "u", "v"]).tolist()
    assert taken[:3] == ["u"] * 3
    assert len(set(taken)) == 3


def test_relabelling_never_merges_clusters():
    """For any names and gaps, relabelling b does not change its partition."""
    rng = np.random.default_rng(0)
    for seed in range(30):
        a, b = rng.integers(0, 5, 12).astype(object), rng.integers(0, 6, 12).astype(object)
        a[rng.random(12) < 0.3] = None
        if not any(x is not None for x in a):
            continue
        renamed = cg.relabel(a.tolist(), b.tolist(), unassigned="drop")
        assert len(set(zip(b.tolist(), renamed.tolist(), strict=True))) == len(set(b.tolist())), seed
        assert len(set(renamed.tolist())) == len(set(b.tolist())), seed


def test_a_cluster_of_dropped_points_does_not_take_a_name_of_the_reference():
    """A cluster of b whose points are all dropped does not get a name that is in use."""
    assert len(set(cg.relabel([0, 0, 5, 5, None], [1, 1, 2, 2, 5], unassigned="drop").tolist())) == 3


@pytest.mark.parametrize("make", [pd.Series, pl.Series])
def test_relabelling_a_series_gives_a_series(make):
    """A pandas series keeps index and name, a polars series its library; missing labels stay missing."""
    words = cg.relabel(make(["x", "x", "y", "y"]), make([5, 5, 6, 6]))
    assert type(words) is make
    assert list(words) == ["x", "x", "y", "y"]
    numbers = cg.relabel(make([0, 0, 1, 1]), make(["p", "p", "q", "q"]))
    assert list(numbers) == [0, 0, 1, 1]
    assert "int" in str(numbers.dtype).lower()
    gapped = cg.relabel(make([0, 0, 1, 1]), make(["p", "p", "q", None]), unassigned="drop")
    assert list(gapped)[:3] == [0, 0, 1]
    missing = gapped.is_null() if make is pl.Series else gapped.isna()
    assert list(missing) == [False, False, False, True]


def test_relabelled_polars_series_hold_one_type():
    """Names of two types (a number, and the old name of an unmatched cluster) are text in a polars series."""
    found = cg.relabel([0, 0, "x", "x", 0, "x"], pl.Series([7, 7, 8, 8, 9, 9]))
    assert found.to_list() == ["0", "0", "x", "x", "9", "9"]
    gapped = cg.relabel([1, 1, 2, None], pl.Series(["p", "p", "q", "r"]), unassigned="cluster")
    assert gapped.to_list()[:3] == ["1", "1", "2"]


def test_relabelled_series_keep_index_name_and_type():
    """pandas: the index and name of b; polars: whole numbers with a null, not objects."""
    b = pd.Series([5, 5, 6], index=["u", "v", "w"], name="leiden")
    found = cg.relabel([0, 0, 1], b)
    assert found.index.tolist() == ["u", "v", "w"]
    assert found.name == "leiden"
    category = pd.Series(["5", "5", "6"], dtype="category")
    assert list(cg.relabel(category, category)) == ["5", "5", "6"]
    gapped = cg.relabel(pl.Series([0, 0, 1, 1]), pl.Series([7, 7, 8, None]), unassigned="drop")
    assert gapped.dtype == pl.Int64
    assert gapped.to_list() == [0, 0, 1, None]


# --- element scores --------------------------------------------------------------------------------------------------


def test_element_scores_average_to_element_centric():
    """The mean over points is element_centric; dropped points are NaN; a series gives a series."""
    scores = cg.element_scores(A, B)
    assert scores.shape == (8,)
    assert scores.mean() == pytest.approx(cg.element_centric(A, B), rel=1e-12)
    soft = cg.element_scores(U, A)
    assert soft.mean() == pytest.approx(cg.element_centric(U, A), rel=1e-12)
    gapped = cg.element_scores([None, *A[1:]], B, unassigned="drop")
    assert np.isnan(gapped).tolist() == [True] + [False] * 7
    assert np.nanmean(gapped) == pytest.approx(cg.element_centric(A[1:], B[1:]), rel=1e-12)
    series = cg.element_scores(pd.Series(A, index=list("abcdefgh")), B)
    assert series.index.tolist() == list("abcdefgh")
    assert series.to_numpy().tolist() == scores.tolist()
    assert cg.element_scores(pl.Series(A), B).to_list() == scores.tolist()
    assert cg.element_scores(A, pl.Series(B)).to_list() == scores.tolist()


def test_element_scores_of_aligned_series_say_whose_they_are():
    """Scores of series joined by their index carry that index: a bare array could not be read."""
    a = pd.Series([0, 0, 1, 1], index=list("wxyz"))
    b = pd.Series([1, 0, 1], index=list("zxy"))
    scores = cg.element_scores(a, b, align="index")
    assert isinstance(scores, pd.Series)
    assert set(scores.index) >= {"x", "y", "z"}
    assert scores.loc[["x", "y", "z"]].tolist() == [1.0, 1.0, 1.0]


# --- tables ----------------------------------------------------------------------------------------------------------


def test_tables_in_every_form():
    """A table as array, sparse matrix and frame holds the same counts, with the names of the clusters."""
    t = cg.contingency(B, A)
    assert t.rows == ("x", "y", "z")
    assert t.columns == (0, 1, 2)
    assert t.to_array().tolist() == [[2, 0, 0], [1, 2, 0], [0, 1, 2]]
    assert t.to_array().dtype == np.int64
    assert sp.issparse(t.to_sparse())
    assert t.to_sparse().toarray().tolist() == t.to_array().tolist()
    assert t.shape == (3, 3)
    assert t.n == 8
    assert (t.row_sums.tolist(), t.col_sums.tolist()) == ([2, 3, 3], [3, 3, 2])
    frame = t.to_frame()
    assert frame.loc["y", 1] == 2
    assert frame.index.tolist() == ["x", "y", "z"]
    assert frame.columns.tolist() == [0, 1, 2]
    assert t.to_frame("polars").columns == ["a", "0", "1", "2"]
    assert t.to_frame("pyarrow").column_names == ["a", "0", "1", "2"]


def test_tables_add_by_name():
    """Tables of different points add up to the table of all points, even if each has clusters that the others lack."""
    whole = cg.contingency([*A, 9], [*B, "new"])
    parts = cg.contingency(A[:3], B[:3]) + cg.contingency([*A[3:], 9], [*B[3:], "new"])
    assert parts.rows == whole.rows
    assert parts.columns == whole.columns
    assert parts.to_array().tolist() == whole.to_array().tolist()
    assert parts.own == whole.own
    mixed = cg.contingency([1, "1"], [0, 1]) + cg.contingency(["1", "z"], [1, 0])
    assert mixed.rows == (1, "1", "z")
    assert mixed.to_array().tolist() == [[1, 0], [0, 2], [1, 0]]
    with pytest.raises(TypeError):
        _ = whole + 1


def test_transposed_tables():
    """Swapping the clusterings swaps rows and columns."""
    t = cg.contingency(A, B)
    turned = t.transposed()
    assert turned.rows == t.columns
    assert turned.to_array().tolist() == t.to_array().T.tolist()
    assert turned.to_array().tolist() == cg.contingency(B, A).to_array().tolist()
    assert turned.row.tolist() == sorted(turned.row.tolist())


def test_tables_of_weights_and_memberships():
    """Weighted tables hold the weights as given, so that they can be added; soft ones sum to the number of points."""
    weighted = cg.contingency(A, B, sample_weight=range(1, 9))
    assert weighted.n == 36
    half = [cg.contingency(A[s], B[s], sample_weight=range(1, 9)[s]) for s in (slice(0, 5), slice(5, 8))]
    assert (half[0] + half[1]).to_array().tolist() == weighted.to_array().tolist()
    assert (half[0] + half[1]).within.tolist() == weighted.within.tolist()
    assert cg.contingency(U, A).n == pytest.approx(8)
    counts = cg.contingency(A, B, frequency=range(1, 9))
    assert counts.n == 36
    assert counts.to_array().dtype == np.int64


def test_text_of_tables():
    """Small tables are shown, large ones described."""
    assert repr(cg.contingency(B, A)).split("\n")[0] == "Table: 3 clusters × 3 clusters, 8 points"
    assert "non-zero cells" in repr(cg.contingency(range(40), range(40)))
    assert "non-zero cells" in cg.contingency(range(200), range(200))._repr_html_()


# --- measures --------------------------------------------------------------------------------------------------------


def test_the_records_of_measures():
    """cg.measures() lists every measure once, with what the rest of the library reads."""
    records = cg.measures()
    assert len({m.key for m in records}) == len(records) >= 36
    for m in records:
        assert m.title
        assert m.better in ("higher", "lower")
        assert m.range[0] < m.range[1]
        assert m.best in m.range
        assert m.reference
        assert m.family in ("pairs", "information", "matching", "matrices", "profiles", "soft", "trees", "covers")
        assert m.key in repr(m)
    assert cg.measure("ari") is next(m for m in records if m.key == "ari")
    assert cg.measure(cg.measure("ari")) is cg.measure("ari")


def test_measures_kept_for_papers_are_reached_by_name_only():
    """A historical measure has a function and a record, and is in no default, in no "all" and in no main table."""
    assert tuple(m.key for m in cg.measures() if m.is_historical) == HISTORICAL
    e = cg.Ensemble([A, B])
    for key in HISTORICAL:
        assert cg.measure(key).status == "historical"
        assert cg.compare(A, B, key)[key] == getattr(cg, key)(A, B)
        for found in (
            cg.compare(A, B, "all"),
            cg.compare_all([A, B], "all"),
            cg.compare(e, e, "all"),
            cg.compare(e, e),
        ):
            assert key not in found
            assert key not in found.skipped


def test_measures_with_parameters():
    """A measure with a changed parameter is usable wherever a key is, and leaves the record unchanged."""
    twice = cg.measure("v_measure", beta=2)
    h, c = cg.homogeneity(A, B), cg.completeness(A, B)
    assert twice(A, B) == pytest.approx(3 * h * c / (2 * h + c), rel=1e-12)
    assert cg.v_measure(A, B, beta=2) == twice(A, B)
    assert cg.compare(A, B, [twice, "ari"])["v_measure"] == twice(A, B)
    assert cg.compare(A, B, twice)["v_measure"] == twice(A, B)
    assert cg.compare_all([A, B], [twice])["v_measure"][0, 1] == pytest.approx(twice(A, B), rel=1e-12)
    assert cg.compare_to(A, [B], twice)["v_measure"][0] == pytest.approx(twice(A, B), rel=1e-12)
    assert cg.measure("v_measure").parameters["beta"] == 1
    assert cg.measure(twice, beta=1)(A, B) == cg.v_measure(A, B)
    assert cg.lambda_statistic(A, B, zero_cells=1e-5) != cg.lambda_statistic(A, B)
    assert "beta=2" in repr(twice)
    with pytest.raises(TypeError):
        twice.parameters["beta"] = 3


def test_measures_take_the_options_of_compare():
    """cg.ari(a, b, …) takes weights, gaps and noise like compare does."""
    assert cg.ari([None, *A[1:]], B, unassigned="drop") == cg.ari(A[1:], B[1:])
    assert cg.ari([-1, *A[1:]], B, unassigned="drop", noise=-1) == cg.ari(A[1:], B[1:])
    assert cg.ari(A, B, frequency=[2] * 8) == cg.ari(A * 2, B * 2)


CASES = {
    "usual": (A, B, {}),
    "identical": (A, A, {}),
    "independent": ([0, 0, 1, 1], [0, 1, 0, 1], {}),
    "one cluster": ([0, 0, 0], [0, 0, 0], {}),
    "one point": ([0], [0], {}),
    "one against many": ([0, 0, 0], [0, 1, 2], {}),
    "many against one": ([0, 1, 2], [0, 0, 0], {}),
    "weighted": (A, B, {"sample_weight": [1, 2, 3, 4, 5, 6, 7, 8]}),
    "soft": (U, A, {}),
}


@pytest.mark.parametrize("key", KEYS)
def test_explanations_arrive_at_the_value(key):
    """explain() shows title, numbers and formula, and its last number is the value, 0/0 or not."""
    for a, b, options in CASES.values():
        check_explanation(cg.measure(key), a, b, options)


def check_explanation(m, a, b, options):
    try:
        value = m(a, b, **options)
    except cg.NotApplicable:
        with pytest.raises(cg.NotApplicable):
            m.explain(a, b, **options)
        return
    e = m.explain(a, b, **options)
    lines = str(e).split("\n")
    assert lines[0].startswith(f"{m.key}: {m.title}")
    assert e.value == value or (math.isnan(e.value) and math.isnan(value))
    result = next(line for line in reversed(lines) if " = " in line and "Caution" not in line)
    shown = float(result.rsplit(" ", 1)[1])
    assert shown == pytest.approx(value, rel=1e-4, abs=1e-6, nan_ok=True)
    assert repr(e) == str(e)


def test_an_explanation_reads_like_the_paper():
    """The example of the documentation: symbols with numbers, formula, numbers in the formula, value."""
    text = str(cg.measure("ari").explain([0, 0, 1, 1], [0, 0, 0, 1]))
    assert text.split("\n")[0] == "ari: Adjusted Rand index (higher is better, -0.5 to 1)"
    assert "E = s_a · s_b / pairs" in text
    assert "= 2 · 3 / 6" in text


def test_names_of_a_matrix_never_look_the_same():
    """Up to 20 clusterings have their values shown, under names that differ; above, the summary alone."""
    names = [f"a_very_long_common_beginning_{i:02}_and_a_long_common_end_of_the_name" for i in range(21)]
    runs = {name: [0, 0, 1, 1, i % 2, i % 3] for i, name in enumerate(names)}
    for many in (3, 6, 7, 20):
        lines = repr(cg.compare_all(dict(list(runs.items())[:many]))).split("\n")
        assert max(map(len, lines)) <= (130 if many <= 6 else 80)
        shown = [line for line in lines if "_" in line]
        heads = shown[-many:]
        assert len({line[:60] for line in heads}) == many
    assert len(repr(cg.compare_all(runs)).split("\n")) == 2


@pytest.mark.parametrize("name", [n for n in cg.__all__ if is_dataclass(getattr(cg, n))])
def test_results_are_made_by_name(name):
    """Classes of results take their fields by name, so that a new field cannot shift the others; a Table is a statistic."""
    fields = inspect.signature(getattr(cg, name)).parameters.values()
    assert name == "Table" or sum(f.kind is not f.KEYWORD_ONLY for f in fields) <= 2


def test_a_frame_of_a_package_that_is_not_installed(monkeypatch):
    """One line says what to install."""
    monkeypatch.setattr("congruence.inputs.frames.find_spec", lambda name: None)
    with pytest.raises(cg.InputError, match="needs polars, which is not installed: pip install polars"):
        cg.compare([0, 0, 1], [0, 1, 1]).to_frame(backend="polars")


def test_columns_of_partial_tables_by_position():
    """A position beyond the columns is refused in one line."""
    part = cg.partial_tables({"a": [0, 0, 1], "b": [0, 1, 1]})
    assert part.of_column(1).names == ("b",)
    with pytest.raises(cg.InputError, match="there is no column 2; the tables have 2 columns, from 0"):
        part.of_column(2)
    with pytest.raises(cg.InputError, match="there is no table of columns 1 and -5: give two of 2"):
        part.cells(1, -5)


def test_results_are_tables_in_notebooks():
    """Every kind of result shows a table, not its text; labels with markup are escaped, and gaps are dashes."""
    a, b = ["<b>", "<b>", "y", "y", "z", "z"] * 3, ["p", "p", "p", "q", "q", "q"] * 3
    X = np.array([[x, x % 5] for x in range(18)], dtype=float)
    runs = {"<i>": a, "second": b, "third": a[::-1]}
    h, other = cg.Hierarchy("((a:1,b:1):2,(c:2,d:2):1);"), cg.Hierarchy("((a:1,c:1):2,(b:2,d:2):1);")
    shown = [
        cg.match(a, b), cg.consensus(runs, 2, random_state=0), cg.permutation_test(a, b, "ari", 99, random_state=0),
        cg.resolutions(runs), cg.cut_curve(h, other, "wallace"), cg.tanglegram(h, other), cg.Ensemble(runs), h,
        cg.Cover([[1, 2], [2, 3]], points=4), cg.density_profile(X, a, cg.Binning().fit(X)), cg.measures(), cg.rank(runs),
        cg.alternatives(X, b, 2, method="residual", random_state=0), cg.Ensemble(runs)[0], cg.compare(a, b),
    ]  # fmt: skip
    for result in shown:
        html = result._repr_html_()
        assert "<table" in html, type(result)
        assert "<pre>" not in html, type(result)
        assert "<b>" not in html, type(result)
        assert "<i>" not in html, type(result)
        assert "nan" not in html.replace("nance", ""), type(result)


# --- notebooks --------------------------------------------------------------------------------------------------------------


class Notebook:
    """A stand-in for IPython in the kernel of a notebook: keeps what is displayed."""

    def __init__(self) -> None:
        self.display, self.shown, self.kernel = SimpleNamespace(display=self.draw, HTML=str), [], None

    def get_ipython(self):
        """The shell, which has a kernel."""
        return self

    def draw(self, text, display_id):
        """What is displayed; `update` changes it."""
        self.shown.append([text])
        return self

    def update(self, text):
        """Display this instead."""
        self.shown[-1].append(text)


def test_progress_is_one_bar_in_a_notebook(monkeypatch, capsys):
    """progress=True draws one bar below the cell and removes it; nested work adds none, and nothing is printed."""
    notebook = Notebook()
    monkeypatch.setitem(sys.modules, "IPython", notebook)
    cg.compare_all(list(np.random.default_rng(0).integers(0, 3, (5, 40))), "ari", progress=True)
    (bar,) = notebook.shown
    assert "<progress max='15'" in bar[0]
    assert any("15 of 15 pairs" in text for text in bar)
    assert bar[-1] == ""
    with Progress(2, True, "parts") as outer:
        cg.compare_all(list(np.random.default_rng(0).integers(0, 3, (5, 40))), "ari", progress=True)
        outer.add(2)
    assert len(notebook.shown) == 2
    cg.compare_all(list(np.random.default_rng(0).integers(0, 3, (5, 40))), "ari")
    assert len(notebook.shown) == 2
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    "result", [cg.compare([0, 0, 1], [0, 1, 1]), cg.compare_all([[0, 0, 1], [0, 1, 1], [1, 1, 1]])]
)
def test_plots_show_in_an_exported_notebook(monkeypatch, result):
    """Without a renderer of the user's choice, a plot has HTML besides plotly's own type, which exports cannot draw."""
    from plotly import io

    used = []
    monkeypatch.setattr(io, "show", lambda _, renderer: used.append(renderer))
    for default in ("plotly_mimetype", "svg"):
        monkeypatch.setattr(type(io.renderers), "default", property(lambda _, name=default: name))
        result.plot()._ipython_display_()
    assert used == ["plotly_mimetype+notebook_connected", "svg"]
