"""Results of one pair, of all pairs and against a reference."""

from __future__ import annotations

import copy
import html.parser
import json
import math
import pickle
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from results_cases import KEYS, A, B, U

import congruence as cg

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


# --- one pair --------------------------------------------------------------------------------------------------------


def test_a_comparison_is_a_mapping():
    """A Comparison has the requested keys, in that order, with Python floats as values."""
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
    """A score is a Python float from the function, the record and the result."""
    name = "lambda_statistic" if key == "lambda" else key
    values = (getattr(cg, name)(A, B), cg.measure(key)(A, B), cg.compare(A, B, key)[key])
    assert len(set(values)) == 1
    assert all(type(value) is float for value in values)
    assert type(cg.compare_to(A, {"b": B}, key).to_dict()["b"][key]) is float


@pytest.mark.parametrize(("alias", "key"), ALIASES)
def test_aliases_are_understood_everywhere(alias, key):
    """An alias requests and looks up the same measure; capitals and hyphens do not matter."""
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
    """A measure that was not requested is a KeyError that says so; for one that was left out it gives the reason."""
    r = cg.compare(A, B, ["ari"])
    with pytest.raises(KeyError, match="vi was not computed; name it in measures"):
        r["vi"]
    soft = cg.compare(U, A, "all")
    with pytest.raises(KeyError, match=r"ami_max was not computed: .*not defined for soft memberships"):
        soft["ami_max"]
    with pytest.raises(KeyError, match="vi was not computed"):
        cg.compare_all([A, B])["vi"]
    assert "vi" not in r
    assert r.get("vi") is None
    assert r.get("vi", 3.0) == 3.0


def test_a_name_that_is_not_a_measure_is_not_in_a_result():
    """`in` and .get work for any name, like those of every mapping; [] raises an error with similar names."""
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
    assert "pass frequency" in weighted.skipped["ami_max"]
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
    """to_frame uses the library of the input, pandas if there is none, and any other on request."""
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
    """The columns and values of a result's frame are the same in every library."""
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


# --- all pairs -------------------------------------------------------------------------------------------------------


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
    """A clustering called 'clustering', or a cluster called 'a', does not replace the names of the rows."""
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


@pytest.mark.parametrize("backend", ["polars", "pyarrow"])
def test_labels_beside_the_word_unassigned_become_text_in_a_frame(backend):
    """Columns of these libraries have one type: numbers beside "unassigned" are written as text, others stay numbers."""
    frame = cg.Ensemble([[0, 1, None], [0, 1, 1]], unassigned="cluster").to_frame(backend)
    columns = [list(frame[name]) if backend == "polars" else frame[name].to_pylist() for name in "01"]
    assert columns == [["0", "1", "unassigned"], [0, 1, 1]]


def test_clusterings_of_the_same_name_stay_apart_in_a_frame():
    """Two clusterings of one name both have a column, in every library."""
    r = cg.compare_all([pd.Series(A, name="same"), pd.Series(B, name="same")])
    for backend in ("pandas", "polars", "pyarrow"):
        frame = r.to_frame("ari", backend=backend)
        width = frame.shape[1] - (backend != "pandas")
        assert width == 2


def test_text_of_all_pairs():
    """Few clusterings are shown as a matrix, many as a summary; one alone has no pairs."""
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


# --- against a reference ---------------------------------------------------------------------------------------------


def test_against_a_reference_by_name_or_as_labels():
    """The reference may be one of the clusterings, by name, or separate labels; rows keep their order."""
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
    """best() is the largest similarity or the smallest distance, and skips undefined values."""
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


# --- results as objects ----------------------------------------------------------------------------------------------


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
    """cg.ari is pickled by its name."""
    assert pickle.loads(pickle.dumps(cg.ari)) is cg.ari  # noqa: S301  (our own bytes)


def test_results_can_be_compared():
    """== between two results works, although they hold arrays."""
    for make in (lambda: cg.compare_all([A, B]), lambda: cg.compare_to(A, [B]), lambda: cg.compare(A, B)):
        assert (make() == make()) in (True, False)
        assert (make() != 3) is True
