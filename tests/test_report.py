"""Reports on small and odd input, and the page."""

from __future__ import annotations

import json
import re
from hashlib import sha256

import numpy as np
import pytest
from report_cases import RNG, RUNS, TRUTH, data_of, made_report, unpacked

import congruence as cg
from congruence.reporting import members

NASTY = "</script><script>document.title='gone'</script> & \"quoted\" '"


@pytest.fixture
def made():
    """One report that several tests use."""
    return made_report()


# --- small and strange -----------------------------------------------------------------------------------------------


def test_data_of_other_rows_are_refused():
    """A frame whose index is not that of the clusterings is not taken row by row; its values are."""
    import pandas as pd

    runs = pd.DataFrame({"a": [0, 0, 1, 1], "b": [0, 1, 1, 1]}, index=list("wxyz"))
    data = pd.DataFrame({"x": [1.0, 2, 3, 4], "y": [0.0, 1, 0, 1]}, index=list("zyxw"))
    with pytest.raises(cg.InputError, match="index of the data differs from that of the clusterings; reindex"):
        cg.report(runs, data=data, progress=False)
    for same, x in ((data.loc[runs.index], [4, 3, 2, 1]), (data.to_numpy(), [1, 2, 3, 4])):
        assert cg.report(runs, data=same, progress=False).model.points.place[:, 0].tolist() == x


def test_members_that_agree_on_no_point():
    """Unrelated clusterings: the answer says that they do not find the same groups."""
    rng = np.random.default_rng(0)
    said = cg.report({str(i): rng.integers(0, 4, 200) for i in range(6)}, progress=False).summary
    assert said.answer.startswith("These 6 clusterings do not find the same groups.")
    assert "disputed" in said.answer


@pytest.mark.parametrize("k", [0, -1, 61])
def test_numbers_of_clusters_that_cannot_be(k):
    """A consensus of no clusters, or of more clusters than points, is refused."""
    with pytest.raises(cg.InputError, match="n_clusters must be from 1 to the number of points"):
        cg.report(RUNS, n_clusters=k, progress=False)


@pytest.mark.filterwarnings("error")
def test_data_without_variance():
    """Data that are all the same have a picture of one place, and 0% of the variance."""
    r = cg.report(RUNS, data=np.ones((60, 3)), progress=False)
    assert r.model.points.axes == ("component 1 (0% of the variance)", "component 2 (0%)")
    assert (r.model.points.place == 0).all()


def test_measures_to_trust_are_those_of_the_page():
    """The caution about numbers of clusters names the measures that are shown, and no others."""
    runs = {"a": [0, 0, 1, 1, 2], "b": [0, 0, 1, 1, 1]}
    said = cg.report(runs, measures=["vi", "ari_gram"], progress=False).summary.careful[0]
    assert "change with that number alone: distance (variation of information);" in said
    assert "trust agreement (adjusted Rand of memberships) first" in said
    alone = cg.report(runs, measures="ari", progress=False).summary.careful
    assert not any("corrected for chance" in text for text in alone)


def test_one_clustering_and_the_reference():
    """A single clustering is described in the singular."""
    said = cg.report({"a": [0, 0, 1, 1], "t": [0, 1, 1, 1]}, reference="t", progress=False).summary.findings[0]
    assert "There is 1 clustering" in said
    assert "It is compared with the reference" in said


def test_names_of_clusters_that_look_like_numbers():
    """Clusters called '--1' or '²', or by numbers beyond what a script can count with, keep their names."""
    codes = np.array([0, 1, 2, 2, 1])
    big = 2**53 + 1
    runs = {
        "dashes": np.array(["--1", "--2", "--3"])[codes],
        "powers": np.array(["²", "³", "¹"])[codes],
        "big": codes + big,
    }
    sent = data_of(cg.report({**runs, "below": codes - 2}, progress=False).html)
    assert sent["clusters"] == [
        ["--1", "--2", "--3"], ["²", "³", "¹"], [str(big), str(big + 1), str(big + 2)], {"first": -2},
    ]  # fmt: skip


@pytest.mark.parametrize("most", [100, members.EMBEDDED])
@pytest.mark.parametrize("reference", [None, "b"])
def test_members_without_a_point_in_common(monkeypatch, most, reference):
    """Two clusterings of different points have a page, with or without their labels; it says that nothing can be compared."""
    monkeypatch.setattr(members, "EMBEDDED", most)
    half = [0, 1, 1, *[None] * 57], [*[None] * 57, 1, 1, 0]
    r = cg.report({"a": half[0], "b": half[1]}, reference=reference, unassigned="drop", progress=False)
    sent = data_of(r.html)
    assert sorted(sent["first"]) == [0, 1]
    assert sent["tables"] == []
    assert any("No point is assigned in both" in text for text in r.summary.careful)
    assert not any("Closest to the reference" in text for text in r.summary.findings)


@pytest.mark.parametrize(
    "runs",
    [
        {"a": [0, 1], "b": [0, 1]},
        {"a": [0, 0, 0], "b": [0, 0, 0]},
        {"a": [0, 1, 2], "b": [0, 1, 2], "c": [2, 1, 0]},
        {"a": [0, 1, 2], "b": [1, 1, 1], "c": [0, 0, 0]},
        {"a": [0, 0, 1, 1], "b": ["x", None, "y", None], "c": [None, 1, None, 2]},
        {str(i): [0, 1, 0, 1, 1] for i in range(12)},
        {"long": [f"cluster number {i}" for i in range(40)], "b": [0, 1] * 20},
    ],
)
@pytest.mark.parametrize("with_reference", [False, True])
def test_strange_clusterings_have_a_report(runs, with_reference):
    """Identical, trivial, tiny, partial clusterings: the page is made, and its data are JSON without NaN."""
    first = next(iter(runs))
    r = cg.report(runs, reference=first if with_reference else None, unassigned="drop", progress=False)
    sent = data_of(r.html)
    assert sent["names"][0] == first
    assert "NaN" not in json.dumps(sent)


def test_soft_clusterings_have_a_report():
    """Memberships are compared by the measures for them, and the page stores them in steps of 1/65535."""
    u = RNG.dirichlet([1, 1, 1], 40)
    r = cg.report([cg.Memberships(u), cg.Memberships(RNG.dirichlet([1, 1], 40)), u.argmax(axis=1)], progress=False)
    assert [s.measure.key for s in r.model.scales] == list(members.SOFT)
    sent = data_of(r.html)
    assert unpacked(sent["labels"][0]).reshape(40, 3) / 65535 == pytest.approx(u, abs=1e-5)
    assert any("Soft clusterings" in text for text in r.summary.careful)


def test_identical_memberships_rank_above_a_hardened_copy():
    """On the page a copy of the soft reference comes first; `ari_gram`, whose self-score is below 1, prefers the hardened one."""
    u = np.random.default_rng(0).dirichlet([0.5, 0.5, 0.5], 60)
    runs = {"hardened": np.eye(3)[u.argmax(axis=1)], "reordered": u[:, [2, 0, 1]], "identical": u}
    runs = {name: cg.Memberships(x) for name, x in runs.items()}
    r = cg.report(runs, reference=cg.Memberships(u), progress=False)
    rows = {r.model.names[row.member]: row for row in r.model.against.rows}
    assert set(list(rows)[:2]) == {"identical", "reordered"}
    assert rows["identical"].values["fari"] == pytest.approx(1, abs=1e-12)
    assert rows["hardened"].values["fari"] < 0.95
    assert rows["hardened"].values["ari_gram"] > rows["identical"].values["ari_gram"]


def test_an_empty_member_is_left_out():
    """A column without any label is left out, with a note."""
    r = cg.report({"a": [0, 1, 1], "b": [None] * 3, "c": [0, 0, 1]}, unassigned="drop", progress=False)
    assert r.model.names == ("a", "c")
    assert any("no point has a label: b" in text for text in r.summary.careful)


def test_two_clusterings_may_have_the_same_name():
    """Members of the same name get different names."""
    import pandas as pd

    columns = [pd.Series([0, 1, 1], name="x"), pd.Series([0, 0, 1], name="x")]
    assert cg.report(columns, progress=False).model.names == ("x", "x′")


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"reference": "trith"}, "there is no clustering 'trith' to use as reference; did you mean truth"),
        ({"measures": ["homogeneity"]}, "homogeneity depends on the order"),
        ({"measures": ["ari"] * 7}, "one to six measures, not 7"),
        ({"data": np.zeros((5, 2))}, "the data have 5 rows and the clusterings 60 points"),
        ({"data": np.zeros((60, 3)), "axes": ["column 1"]}, "a scatter plot has two axes, not 1"),
        ({"data": np.zeros((60, 3)), "axes": ["column 1", "7"]}, "the data have no column '7'"),
        ({"ids": ["p"]}, "1 ids for 60 points"),
        ({"out": "report.pdf"}, "a report is written as .html"),
        ({"out": "/nowhere/at/all/report.html"}, "there is no folder"),
    ],
)
def test_bad_input_is_one_line(options, text):
    """The message says what is wrong, and what would be right."""
    with pytest.raises(cg.InputError, match=re.escape(text)) as error:
        cg.report(**{"clusterings": {"truth": TRUTH, **RUNS}, "progress": False, **options})
    assert "\n" not in str(error.value)


# --- the page --------------------------------------------------------------------------------------------------------


def test_names_cannot_become_markup(tmp_path):
    """A name with a script in it stays text: in the summary, in the data, in the clusters."""
    runs = {NASTY: [NASTY, "b", "b", NASTY], "<b>": ["&amp;", "&lt;", "&lt;", "&lt;"], "c": [0, 0, 1, 1]}
    r = cg.report(
        runs,
        tmp_path / "r.html",
        reference=NASTY,
        ids=[NASTY, "1", "2", "3"],
        title=NASTY,
        command=NASTY,
        progress=False,
    )
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert page == r.html
    assert page.count("<script") == 2
    assert "document.title='gone'</script>" not in page
    assert "<b>x" not in page
    assert data_of(page)["names"][0] == NASTY
    assert data_of(page)["clusters"][0] == [NASTY, "b"]


def test_the_page_may_run_its_own_script_only(made):
    """The policy in the page allows the one script by its hash and no request at all."""
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', made.html)[1]
    script = re.findall(r"<script>(.*?)</script>", made.html, re.S)
    assert len(script) == 1
    from base64 import b64encode

    digest = b64encode(sha256(script[0].encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy
    assert not re.search(r'(src|href)="https?:', made.html)


def test_the_parts_are_in_order(made):
    """The answer, then its parts; with two clusterings the comparison comes first."""
    parts = re.findall(r'<section id="(\w+)">', made.html)
    assert parts == ["answer", "clusters", "many", "ranking", "relations", "compare", "points", "details"]
    two = re.findall(r'<section id="(\w+)">', cg.report({"a": [0, 0, 1], "b": [0, 1, 1]}, progress=False).html)
    assert two[:2] == ["answer", "compare"]
    for m in made.model.scales:
        assert m.measure.title in made.html
        assert m.reference.split(".")[0] in made.html


def test_results_show_themselves(made):
    """In a terminal the findings fit 80 columns, in a notebook the page is in a separate frame."""
    assert all(len(line) <= 80 for line in repr(made).split("\n"))
    assert made._repr_html_().startswith('<iframe srcdoc="&lt;!doctype html&gt;')


@pytest.mark.slow
def test_the_same_seed_gives_the_same_page(made):
    """Two builds have the same data."""
    runs = {"truth": TRUTH, **RUNS}
    one, two = (data_of(cg.report(runs, reference="truth", progress=False).html) for _ in range(2))
    for x in (one, two):
        for row in x["together"]["methods"]:
            row.pop("seconds")
    assert one == two


def test_only_clusterings_that_are_not_trivial_are_the_same():
    """A near-trivial clustering is not said to be the same as the others, nor one clustering to be two."""
    good, lump = [0] * 50 + [1] * 50, [0] * 99 + [1]
    assert cg.report({"a": good, "lump": lump}).summary.answer == "Only “a” counts: 2 groups."
    assert (
        cg.report({"a": good, "b": good[::-1], "lump": lump}).summary.answer
        == "Both clusterings are the same: 2 groups."
    )
