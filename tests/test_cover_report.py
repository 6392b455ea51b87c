"""Reports on covers: the page shows the results of compare_all, match and permutation_test, and text is escaped."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import numpy as np
import pytest
from test_cli_trees import run

import congruence as cg
from congruence.reporting import cover_report

NAMES = ("truth", "<b>near</b>", "far", "labels")


def runs(n: int = 60) -> dict[str, object]:
    """A cover of six clusters, one like it, one unlike it, and labels."""
    rng = np.random.default_rng(0)
    truth = [np.flatnonzero((np.arange(n) // 10 == i) | (rng.random(n) < 0.04)).tolist() for i in range(5)]
    near = [[x for x in c if rng.random() > 0.1] for c in truth]
    far = [rng.permutation(n)[:10].tolist() for _ in range(5)]
    return dict(zip(NAMES, (*(cg.Cover(x, n) for x in (truth, near, far)), np.arange(n) // 10), strict=True))


@pytest.fixture(scope="module")
def made():
    return cg.report(runs(), reference="truth")


@pytest.mark.slow
def test_the_model_is_what_comparisons_give(made):
    """Matrix, ranking, matched clusters and p-values are those of the public functions."""
    model, covers = made.model, runs()
    assert model.names == NAMES
    assert [m.key for m in model.measures] == ["omega", "onmi_max", "average_f1", "bcubed_f", "element_centric"]
    expected = cg.compare_all(covers, ["omega", "average_f1"])
    for key in expected:
        assert model.squares[key] == pytest.approx(expected[key], rel=1e-12, abs=1e-12)
    ranked = cg.compare_to("truth", covers, "omega")
    assert [NAMES[row.member] for row in model.ranking] == [ranked.names[i] for i in np.argsort(-ranked["omega"])]
    assert model.ranking[0].p_value == pytest.approx(1 / 200)
    assert model.ranking[-1].p_value > 0.01
    assert len(model.pairs) == 6
    first = next(p for p in model.pairs if (p.a, p.b) == (0, 1))
    matched = cg.match(covers["truth"], covers["<b>near</b>"])
    assert first.n_matched == len(matched.rows)
    assert {(row[0], row[1], row[2]) for row in first.rows} == {(str(a), str(b), c) for a, b, c, *_ in matched.rows}
    assert model.sizes[0] == (5, 60 - covers["truth"].n_unassigned, int(covers["truth"].to_sparse().sum(axis=1).max()))


def test_words_and_page(made):
    """The words name the best cover; names are escaped; the page has no script and loads nothing."""
    assert "agrees best with “truth”" in repr(made)
    assert made.summary.findings[0].startswith("4 covers of 60 points: Omega index from")
    page = made.html
    assert "&lt;b&gt;near&lt;/b&gt;" in page
    assert "<b>near</b>" not in page
    assert "<script" not in page
    assert "default-src 'none'" in page
    assert page.count("<details") == 4 + 6
    assert "<iframe srcdoc=" in made._repr_html_()


def test_the_headline_is_in_words():
    """It says how well covers agree, in words where the measure is 0 by chance, and that chance may explain it where it may."""
    rng, covers = np.random.default_rng(0), runs()
    truth, near = covers["truth"], covers["<b>near</b>"]
    said = cg.report({"truth": truth, "near": near}, reference="truth").summary
    omega = cg.omega(truth, near)
    word = next(
        x for low, x in ((0.9, "almost completely"), (0.8, "well"), (0.65, "moderately")) if round(omega, 2) >= low
    )
    assert said.answer == f"“near” recovers “truth” {word}."
    assert cg.report({"a": truth, "b": near}).summary.answer == f"“a” and “b” agree {word}."
    drawn = [cg.Cover([rng.permutation(60)[:10].tolist() for _ in range(5)], 60) for _ in range(4)]
    assert "agree hardly at all: a typical pair has" in cg.report(drawn).summary.answer
    alone = cg.report({"truth": truth, "drawn": drawn[0]}, reference="truth").summary.answer
    assert alone.startswith("“drawn” recovers “truth” hardly at all (as well as unrelated covers may, p = 0.")
    assert cg.report(drawn, measures=["average_f1"]).summary.answer.startswith("4 covers of 60 points: ")
    whole = cg.Cover([[0, 1, 2], [3, 4]], 5)
    assert "Every point is in a cluster of every cover." in cg.report([whole, whole]).summary.findings


def test_long_names_of_covers_fit_the_page():
    """Columns of the matrix and dots of the map have the numbers of the rows, and stay inside the picture."""
    covers = {f"clique percolation with noise {i}, seed {i}": x for i, x in enumerate(runs().values())}
    page = cg.report(covers).html
    assert '<th class="head" title="clique percolation with noise 0, seed 0">' in page
    found = re.findall(r'<text x="([\d.]+)" text-anchor="(\w+)" [^>]*>([^<]+)</text>', page)
    assert sorted(text for _, _, text in found) == ["1", "2", "3", "4"]
    for whole in (page, cg.report(runs()).html):
        for left, anchor, text in re.findall(r'<text x="([\d.]+)" text-anchor="(\w+)" [^>]*>([^<]+)</text>', whole):
            end = float(left) + (9 * len(text) if anchor == "start" else -9 * len(text))
            assert 0 <= end <= 640


def test_without_a_reference_and_many(monkeypatch):
    """Covers are ranked by their mean agreement; of many, pairs with the central one are shown; large ones have no p-value."""
    covers = runs()
    model = cg.report(covers).model
    mean = (cg.compare_all(covers, ["omega"])["omega"].sum(axis=1) - 1) / 3
    assert model.ranking[0].member == model.central == int(np.argmax(mean))
    assert model.ranking[0].p_value is None
    monkeypatch.setattr(cover_report, "MOST_PAIRS", 2)
    monkeypatch.setattr(cover_report, "MOST_SIGNATURES", 1)
    given = covers.pop("truth")
    r = cg.report(covers, reference=given)
    assert r.model.names[0] == "reference"
    assert {p.a for p in r.model.pairs} == {0}
    assert "no p-value: more than 1" in r.model.ranking[0].note
    assert cg.report(cg.Ensemble(covers)).model.n_points == 60


def test_what_is_not_for_covers():
    """Options of reports of labels are refused; so are a measure that is not symmetric, alone, and memberships."""
    for options in ({"n_clusters": 3}, {"data": np.zeros((60, 2))}):
        with pytest.raises(cg.InputError, match="has no effect for covers; leave it out"):
            cg.report(runs(), **options)
    with pytest.raises(cg.InputError, match="a report needs a symmetric measure"):
        cg.report(runs(), measures=["nf1"])
    with pytest.raises(cg.InputError, match="a report on covers does not take memberships"):
        cg.report({**runs(), "soft": np.full((60, 2), 0.5)}, measures=["ndc"])


@pytest.mark.slow
def test_the_command(tmp_path, monkeypatch, capsys):
    """`congruence report *.cover` writes the page; options of label reports are refused with exit 2."""
    monkeypatch.chdir(tmp_path)
    for name, clusters in (("truth", "a b c\nc d\n"), ("found", "a b\nc d e\n"), ("other", "a e\nb c\n")):
        Path(f"{name}.cover").write_text(clusters)
    files = "report truth.cover found.cover other.cover"
    out, _ = run(f"{files} --reference truth --n 6 -o page.html", monkeypatch, capsys)
    assert "3 covers of 6 points" in " ".join(out.split())
    assert f"congruence {files}" in Path("page.html").read_text()
    _, said = run(f"{files} --k 2 -o page.html", monkeypatch, capsys, code=2)
    assert "--k is for reports of labels" in said
    _, said = run("report truth.csv found.csv", monkeypatch, capsys, code=2)
    assert "put label columns into one table; covers are files named .cover" in said


def test_json_covers_are_recognised(command, tmp_path):
    """A JSON file of lists of different lengths is a cover, also compressed; columns of one length are a table."""
    for name, clusters in (("a", {"x": [0, 1, 2], "y": [2, 3]}), ("b", {"x": [0, 1], "y": [2, 3, 4]})):
        (tmp_path / f"{name}.json.gz").write_bytes(gzip.compress(json.dumps(clusters).encode()))
    said = command("compare", "a.json.gz", "b.json.gz", "--n", "5", "--measures", "omega", "--format", "json")
    assert said.code == 0, said.err
    assert "a.json.gz: a cover; if it is a mapping, its keys are clusters" in said.err
    a, b = cg.Cover([[0, 1, 2], [2, 3]], points=5), cg.Cover([[0, 1], [2, 3, 4]], points=5)
    assert json.loads(said.out)["values"]["omega"] == pytest.approx(cg.compare(a, b, ["omega"])["omega"], rel=1e-12)
    (tmp_path / "t.json").write_text(json.dumps({"clusters": [0, 0, 1], "b": [0, 1, 1]}))
    assert command("compare", "t.json", "--measures", "ari").code == 0
