"""Results of comparisons: values, frames, JSON, text, HTML, matchings, tables, explanations."""

from __future__ import annotations

import copy
import html.parser
import inspect
import json
import math
import pickle
from collections.abc import Mapping
from dataclasses import is_dataclass
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

import congruence as cg

A = [0, 0, 0, 1, 1, 1, 2, 2]
B = ["x", "x", "y", "y", "y", "z", "z", "z"]
U = np.array([[0.5, 0.5], [1.0, 0.0], [0.0, 1.0], [0.25, 0.75], [1.0, 0.0], [0.0, 1.0], [0.9, 0.1], [0.3, 0.7]])
#: measures of pairs of labels with equal numbers of clusters
KEYS = tuple(cg.compare([0, 0, 1, 1], [0, 1, 1, 1], "all"))
HISTORICAL = ("kappa_trace", "irm_greedy", "nsf_printed")
ALIASES = [(alias, m.key) for m in cg.measures() for alias in m.aliases if m.key in KEYS]
EVIL = "<script>alert('&')</script>"


class Tags(html.parser.HTMLParser):
    """The tags of a page, and its text; fails on tags that are closed in the wrong order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.text: list[str] = []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        """A tag begins."""
        self.open.append(tag)
        self.seen.add(tag)

    def handle_endtag(self, tag: str) -> None:
        """A tag ends, and it is the one that began last."""
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        """Text between tags."""
        self.text.append(data)


def widest(text: str) -> int:
    return max(len(line) for line in text.split("\n"))


# --- one pair ---------------------------------------------------------------------------------------------------


def test_a_comparison_is_a_mapping():
    """A Comparison has the keys asked for, in that order, with Python floats for values."""
    r = cg.compare(A, B, ["vi", "ari", "jaccard"])
    assert isinstance(r, Mapping)
    assert list(r) == ["vi", "ari", "jaccard"]
    assert len(r) == 3
    assert dict(r) == r.to_dict() == {key: getattr(cg, key)(A, B) for key in r}
    assert all(type(value) is float for value in r.values())
    assert (r.n_points, r.n_used, r.n_clusters) == (8, 8, (3, 3))


def test_the_usual_measures_are_the_default():
    """measures=None means ari, ami_max, nmi_sum, vi, jaccard, accuracy and element_centric."""
    usual = ["ari", "ami_max", "nmi_sum", "vi", "jaccard", "accuracy", "element_centric"]
    assert list(cg.compare(A, B)) == usual
    assert list(cg.compare_to(A, [B])) == usual
    assert list(cg.compare_all([A, B])) == ["ari"]


@pytest.mark.parametrize("key", KEYS)
def test_scores_are_python_floats(key):
    """A score is a Python float from every door: the function, the record, the result."""
    name = "lambda_statistic" if key == "lambda" else key
    values = (getattr(cg, name)(A, B), cg.measure(key)(A, B), cg.compare(A, B, key)[key])
    assert len(set(values)) == 1
    assert all(type(value) is float for value in values)
    assert type(cg.compare_to(A, {"b": B}, key).to_dict()["b"][key]) is float


@pytest.mark.parametrize(("alias", "key"), ALIASES)
def test_aliases_are_understood_everywhere(alias, key):
    """An alias asks for and looks up the same measure; capitals and hyphens do not matter."""
    r = cg.compare(A, B, [alias])
    assert list(r) == [key]
    assert r[alias] == r[key] == r[alias.upper().replace("_", "-")]
    assert alias in r
    matrix, against = cg.compare_all([A, B], alias), cg.compare_to(A, [B], alias)
    assert matrix[alias] is matrix[key]
    assert against[alias] is against[key]
    assert alias in matrix
    assert alias in against


def test_asking_for_what_was_not_computed():
    """A measure that was not asked for is a KeyError that says so; one that was left out says why."""
    r = cg.compare(A, B, ["ari"])
    with pytest.raises(KeyError, match="vi was not computed; name it in `measures`"):
        r["vi"]
    soft = cg.compare(U, A, "all")
    with pytest.raises(KeyError, match=r"ami_max was not computed: .*not defined for soft memberships"):
        soft["ami_max"]
    with pytest.raises(KeyError, match="vi was not computed"):
        cg.compare_all([A, B])["vi"]
    assert "vi" not in r
    assert r.get("vi") is None
    assert r.get("vi", 3.0) == 3.0


def test_a_name_that_is_no_measure_is_not_in_a_result():
    """`in` and .get answer for any name, as those of every mapping do; [] answers with the nearest names."""
    for r in (cg.compare(A, B, "ari"), cg.compare_all([A, B]), cg.compare_to(A, [B], "ari")):
        with pytest.raises((KeyError, cg.InputError), match="ari"):
            r["aro"]
        assert "aro" not in r
    assert cg.compare(A, B, "ari").get("aro", 3.0) == 3.0


def test_all_says_what_it_left_out():
    """measures='all' gives what applies and the reason for what does not; a named measure raises the same reason."""
    hard = cg.compare(A, B, "all")
    assert set(KEYS) <= set(hard)
    unequal = cg.compare(A, [0, 0, 0, 0, 1, 1, 1, 1], "all")
    assert "equal numbers of clusters" in unequal.skipped["lambda"]
    soft = cg.compare(U, A, "all")
    assert {"ami_max", "ami_sum", "ami_sqrt", "ami_min"} <= set(soft.skipped)
    weighted = cg.compare(A, B, "all", sample_weight=range(1, 9))
    assert "pass `frequency`" in weighted.skipped["ami_max"]
    assert not set(soft) & set(soft.skipped)
    assert "is left out" in repr(soft)
    assert set(cg.compare_all([A, B], "all")) >= set(KEYS) - {"lambda"}
    with pytest.raises(cg.NotApplicable, match="equal numbers"):
        cg.compare(A, [0, 0, 0, 0, 1, 1, 1, 1], ["ari", "lambda"])


def test_soft_pairs_carry_their_self_values():
    """Each value of a soft pair is shown with the self-scores of both sides, and the result says why."""
    r = cg.compare(U, A, ["ari", "vi"])
    assert r.self_values is not None
    own_a, own_b = r.self_values
    assert own_a == dict(cg.compare(U, U, ["ari", "vi"]))
    assert own_b == pytest.approx(dict(cg.compare(A, A, ["ari", "vi"])), abs=1e-12)
    assert any("self-scores" in note for note in r.cautions)
    frame = r.to_frame("pandas")
    assert frame["self_a"].tolist() == [own_a["ari"], own_a["vi"]]
    assert {"self a", "self b"} <= {word.strip() for word in repr(r).split("\n")[1].split("  ")}
    assert json.loads(r.to_json())["self_values"]["a"] == own_a
    assert cg.compare(A, B).self_values is None


@pytest.mark.parametrize(
    ("make", "library"), [(pd.Series, "pandas"), (pl.Series, "polars"), (pa.array, "pyarrow"), (list, "pandas")]
)
def test_frames_are_of_the_kind_that_came_in(make, library):
    """to_frame gives the library of the input, pandas where there was none, and any other on request."""
    a, b = make(A), make(B)
    results = (
        cg.compare(a, b).to_frame(),
        cg.compare_all({"a": a, "b": b}).to_frame(),
        cg.compare_all({"a": a, "b": b}).to_frame("ari"),
        cg.compare_to(a, {"b": b}).to_frame(),
        cg.match(a, b).to_frame(),
        cg.contingency(a, b).to_frame(),
    )
    assert {type(frame).__module__.split(".")[0] for frame in results} == {library}
    for wanted in ("pandas", "polars", "pyarrow"):
        frame = cg.compare(a, b).to_frame(wanted)
        assert type(frame).__module__.split(".")[0] == wanted


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_frames_hold_the_values(backend):
    """Whatever the library, the columns and values of a result's frame are the same."""
    r = cg.compare(A, B, ["ari", "vi"])
    frame = r.to_frame(backend)
    rows = {"pandas": "to_dict", "polars": "to_dicts", "pyarrow": "to_pylist"}[backend]
    rows = getattr(frame, rows)(*(["records"] if backend == "pandas" else []))
    assert [row["measure"] for row in rows] == ["ari", "vi"]
    assert [row["value"] for row in rows] == list(r.values())
    assert [row["better"] for row in rows] == ["higher", "lower"]
    assert rows[1]["range_high"] == math.inf
    assert rows[0]["title"] == "Adjusted Rand index"


def test_json_is_json():
    """to_json parses, keeps names, and writes undefined and infinite values as null."""
    r = cg.compare([0, 0], [1, 1], "all")
    about = json.loads(r.to_json(), parse_constant=lambda name: pytest.fail(name))
    assert about["values"]["lambda"] is None
    assert about["values"]["ari"] == 1.0
    assert about["n_clusters"] == [1, 1]
    assert set(about["values"]) == set(r)
    matrix = cg.compare_all({"é": [0, 0, None], "b": [None, None, 1]}, unassigned="drop")
    about = json.loads(matrix.to_json(indent=1), parse_constant=lambda name: pytest.fail(name))
    assert about["names"] == ["é", "b"]
    assert about["ari"] == [[1.0, None], [None, 1.0]]
    assert about["n_used"] == [[2, 0], [0, 1]]
    against = cg.compare_to([0, 0, None], {"b": [None, None, 1], "c": [1, 1, 1]}, "ari", unassigned="drop")
    about = json.loads(against.to_json(), parse_constant=lambda name: pytest.fail(name))
    assert [row["ari"] for row in about["rows"]] == [None, 1.0]
    assert [row["n_used"] for row in about["rows"]] == [0, 2]
    assert about["reference"] == "reference"


def test_text_fits_a_terminal():
    """No line of a Comparison is wider than 80 columns: all measures, soft pairs, cautions, long names."""
    long = "a clustering with a name that somebody thought about for a long time, and then some"
    for r in (
        cg.compare(A, B, "all"),
        cg.compare(U, A, "all"),
        cg.compare(np.column_stack([U, np.zeros(8)]), np.where(np.array(A) == 0, -1, A)),
        cg.compare(pd.Series(A, name=EVIL), pd.Series(B, name="b" * 30)),
        cg.compare(pd.Series(A, name=long), pd.Series(B, name=long[::-1])),
    ):
        assert widest(repr(r)) <= 80


def test_text_shows_values_and_cautions():
    """The text names both sides, shows four decimals, which way is better, and the cautions."""
    text = repr(cg.compare(pd.Series([-1, *A[1:]], name="leiden"), pd.Series(B, name="truth"), ["ari", "vi", "mi"]))
    assert text.startswith("leiden: 4 clusters, truth: 3 clusters, 8 points")
    assert f"{cg.ari([-1, *A[1:]], B):.4f}  ↑" in text
    assert "↓" in text
    assert "! a has label −1" in text or "! leiden has label −1" in text
    assert "mi: grows with the number of clusters" in " ".join(text.split())
    assert "undefined" in repr(cg.compare([0, 0], [0, 0], "lambda"))


def test_html_escapes_what_came_from_outside():
    """Names of clusterings and clusters are text in a notebook, never markup; the table is well formed."""
    evil = pd.Series([EVIL if x == "x" else x for x in B], name=EVIL)
    pair = cg.compare(pd.Series(A, name="a&b"), evil)
    views = (
        pair,
        pair.table,
        cg.compare_all({EVIL: A, "b": B}),
        cg.compare_to(A, {EVIL: B}),
        cg.compare_all({f"{EVIL}{i}": A for i in range(60)}),
    )
    for view in views:
        page = Tags(view._repr_html_())
        assert "script" not in page.seen
        assert "table" in page.seen
    assert any(EVIL in text for text in Tags(pair._repr_html_()).text)
    assert EVIL in Tags(pair.table._repr_html_()).text


# --- all pairs --------------------------------------------------------------------------------------------------


def test_all_pairs_are_named_matrices():
    """r['ari'] is L × L in the order of r.names, symmetric where the measure is, best on the diagonal."""
    data = {"x": A, "y": B, "z": [0, 1, 0, 1, 0, 1, 0, 1]}
    r = cg.compare_all(data, ["ari", "vi", "purity"])
    assert r.names == ("x", "y", "z")
    assert r.keys() == tuple(r) == ("ari", "vi", "purity")
    for key in r:
        assert r[key].shape == (3, 3)
        assert r[key].dtype == np.float64
        for i, a in enumerate(data.values()):
            for j, b in enumerate(data.values()):
                assert r[key][i, j] == pytest.approx(getattr(cg, key)(a, b), rel=1e-12, abs=1e-15)
    assert r.n_used.tolist() == [[8] * 3] * 3
    assert r["purity"][0, 2] != r["purity"][2, 0]
    assert r.to_dict() == {"names": ["x", "y", "z"], **{key: r[key].tolist() for key in r}}
    assert "ari" in r
    assert "mi" not in r


def test_frames_of_all_pairs():
    """One measure gives the matrix with names on both sides; without, one row per pair, or both directions if they differ."""
    r = cg.compare_all({"x": A, "y": B, "z": A}, ["ari", "purity"])
    square = r.to_frame("ari")
    assert square.index.tolist() == square.columns.tolist() == ["x", "y", "z"]
    assert square.to_numpy().tolist() == r["ari"].tolist()
    assert r.to_frame("ari", backend="polars").columns == ["clustering", "x", "y", "z"]
    rows = r.to_frame()
    assert rows[["a", "b"]].to_numpy().tolist() == [["x", "y"], ["x", "z"], ["y", "z"]]
    assert rows["ari"].tolist() == [r["ari"][0, 1], 1.0, r["ari"][1, 2]]
    assert rows["purity (b, a)"].tolist() == r["purity"][[1, 2, 2], [0, 0, 1]].tolist()
    assert "ari (b, a)" not in rows


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_a_clustering_may_have_any_name_in_a_frame(backend):
    """A clustering called 'clustering', or a cluster called 'a', does not push the names of the rows out."""
    r = cg.compare_all({"clustering": A, "b": B})
    t = cg.contingency(A, ["a" if x == "x" else "b" for x in B])
    for frame, rows, values in (
        (r.to_frame("ari", backend), r.names, r["ari"]),
        (t.to_frame(backend), t.rows, t.to_array()),
    ):
        if backend == "pandas":
            assert frame.index.tolist() == list(rows)
            assert frame.to_numpy().tolist() == values.tolist()
        else:
            names = frame.columns if backend == "polars" else frame.column_names
            columns = [frame[name].to_list() if backend == "polars" else frame[name].to_pylist() for name in names]
            assert len(names) == 1 + values.shape[1]
            assert columns[0] == [str(x) for x in rows]
            assert np.column_stack(columns[1:]).tolist() == values.tolist()


def test_clusterings_of_the_same_name_stay_apart_in_a_frame():
    """Two clusterings of one name both have a column, in every library."""
    r = cg.compare_all([pd.Series(A, name="same"), pd.Series(B, name="same")])
    for backend in ("pandas", "polars", "pyarrow"):
        frame = r.to_frame("ari", backend=backend)
        width = frame.shape[1] - (backend != "pandas")
        assert width == 2


def test_text_of_all_pairs():
    """Few clusterings are shown as a matrix, many as a summary; one alone has no pair to speak of."""
    text = repr(cg.compare_all({"x": A, "y": B}, ["ari", "vi"]))
    assert text.startswith("2 clusterings, 1 pair\n")
    assert "ari: median" in text
    assert "(lower is better)" in text
    many = repr(cg.compare_all([A] * 30))
    assert len(many.split("\n")) <= 3
    assert "435 pairs" in many
    alone = cg.compare_all([A])
    assert "no two clusterings to compare" in repr(alone)
    assert alone["ari"].tolist() == [[1.0]]
    assert len(alone.to_frame()) == 0
    assert "table" in Tags(alone._repr_html_()).seen


def test_text_of_all_pairs_tells_undefined_ones():
    """A pair without common points is 'undefined' in the matrix, and named below it."""
    text = repr(cg.compare_all({"x": [0, 0, None], "y": [None, None, 1]}, unassigned="drop"))
    assert "undefined" in text
    assert "x and y" in text


# --- against a reference ----------------------------------------------------------------------------------------


def test_against_a_reference_by_name_or_as_labels():
    """The reference may be one of the clusterings, by name, or labels of its own; rows keep their order."""
    data = {"truth": A, "x": B, "y": A[::-1]}
    by_name = cg.compare_to("truth", data, ["ari", "purity"])
    as_labels = cg.compare_to(A, {"x": B, "y": A[::-1]}, ["ari", "purity"])
    assert by_name.reference == "truth"
    assert as_labels.reference == "reference"
    assert by_name.names == as_labels.names == ("x", "y")
    for key in by_name:
        assert by_name[key].tolist() == as_labels[key].tolist()
        assert by_name[key].tolist() == pytest.approx([getattr(cg, key)(A, B), getattr(cg, key)(A, A[::-1])], rel=1e-12)
    assert by_name.to_dict()["x"] == {key: by_name[key][0] for key in by_name}
    for frame in (pd.DataFrame(data), pl.DataFrame(data), pa.table(data)):
        assert cg.compare_to("truth", frame, "ari")["ari"].tolist() == by_name["ari"].tolist()


def test_the_best_clustering_is_the_nearest():
    """best() is the largest similarity or the smallest distance, and passes over undefined values."""
    r = cg.compare_to(A, {"far": [0, 1, 2, 0, 1, 2, 0, 1], "near": [0, 0, 0, 1, 1, 1, 2, 1], "gone": [None] * 8},
                      ["ari", "vi", "fowlkes_mallows"], unassigned="drop")  # fmt: skip
    assert r.best("ari") == r.best("vi") == r.best("fowlkes_mallows") == "near"
    nothing = cg.compare_to(A, {"gone": [None] * 8}, "ari", unassigned="drop")
    with pytest.raises(cg.InputError, match="ari is undefined for every clustering"):
        nothing.best("ari")


def test_text_and_frame_of_a_reference():
    """One row per clustering: name, points used, every measure; long lists are shortened in the text only."""
    r = cg.compare_to(A, {"x": B, "y": A}, ["ari", "vi"])
    frame = r.to_frame()
    assert frame.columns.tolist() == ["clustering", "n_used", "ari", "vi"]
    assert frame["clustering"].tolist() == ["x", "y"]
    text = repr(r)
    assert text.startswith("2 clusterings against reference")
    assert "1.0000" in text
    many = cg.compare_to(A, [B] * 50, "ari")
    assert "… and 10 more" in repr(many)
    assert len(many.to_frame()) == 50


# --- results as objects -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make",
    [
        lambda: cg.compare(A, B),
        lambda: cg.compare(U, A),
        lambda: cg.compare_all({"x": A, "y": B}),
        lambda: cg.compare_to(A, [B]),
        lambda: cg.match(A, B),
        lambda: cg.contingency(A, B),
        lambda: cg.measure("v_measure", beta=2),
        lambda: cg.Ensemble([A, B]),
        lambda: cg.Memberships(U),
    ],
)
def test_results_survive_pickling_and_copying(make):
    """Results can be pickled and copied, as parallel tools do."""
    thing = make()
    for again in (pickle.loads(pickle.dumps(thing)), copy.deepcopy(thing)):  # noqa: S301  (our own bytes)
        assert type(again) is type(thing)
        if not isinstance(thing, cg.Memberships):
            assert repr(again) == repr(thing)


def test_functions_of_measures_can_be_pickled():
    """cg.ari goes to another process by its name."""
    assert pickle.loads(pickle.dumps(cg.ari)) is cg.ari  # noqa: S301  (our own bytes)


def test_results_can_be_compared():
    """== between two results answers, and does not trip over the arrays inside."""
    for make in (lambda: cg.compare_all([A, B]), lambda: cg.compare_to(A, [B]), lambda: cg.compare(A, B)):
        assert (make() == make()) in (True, False)
        assert (make() != 3) is True


# --- matchings --------------------------------------------------------------------------------------------------


def test_a_matching_names_who_is_who():
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
    """A cluster of b that lies wholly on dropped points is not renamed into one that is in use."""
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


# --- element scores ---------------------------------------------------------------------------------------------


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


# --- tables -----------------------------------------------------------------------------------------------------


def test_tables_in_every_form():
    """A table as array, sparse matrix and frame holds the same counts, with the clusters' own names."""
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
    """Tables of different points add up to the table of all points, also where each has clusters of its own."""
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
    """Weighted tables hold the weights as given, so that they add; soft ones hold as much as there are points."""
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


# --- measures ---------------------------------------------------------------------------------------------------


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
        assert m.family in ("pairs", "information", "matching", "matrices", "profiles", "trees", "covers")
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
    """A measure with a parameter of its own is usable wherever a key is, and leaves the record as it was."""
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
