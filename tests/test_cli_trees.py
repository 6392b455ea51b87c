"""The commands `resolutions` and `hierarchies`: what they print and write, and one line for bad input."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import congruence as cg
from congruence import cli

ONE, TWO = "((a:1,b:1):2,(c:2,d:2):1);", "(((a:1,b:1):1,c:2):1,d:3);"


@pytest.fixture
def here(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("a.nwk").write_text(ONE)
    Path("b.nwk").write_text(TWO)
    pd.DataFrame({"name": list("dcba"), "species": list("xxyy")}).to_csv("truth.csv", index=False)
    i = np.arange(40)
    sweep = {"cell": [f"c{x}" for x in i], "leiden_1.0": i // 10, "leiden_0.2": i // 20, "leiden_0.5": i // 14}
    pd.DataFrame({**sweep, "depth": i / 40, "type": np.where(i < 20, "<b>", "y")}).to_csv("labels.csv", index=False)
    return tmp_path


def run(line: str, monkeypatch, capsys, code: int = 0) -> tuple[str, str]:
    monkeypatch.setattr(sys, "argv", ["congruence", *line.split()])
    with pytest.raises(SystemExit) as done:
        cli.main()
    said = capsys.readouterr()
    assert done.value.code == code, said.err
    return said.out, said.err


def test_hierarchies(here, monkeypatch, capsys):
    """The values are those of compare; the figures are written; labels are joined by name."""
    out, _ = run("hierarchies a.nwk b.nwk -f json --curve curve.html --plot tangle.html", monkeypatch, capsys)
    assert json.loads(out)["values"]["cophenetic"] == pytest.approx(cg.cophenetic(cg.Hierarchy(ONE), cg.Hierarchy(TWO)))
    assert Path("curve.html").stat().st_size > 1000
    assert Path("tangle.html").stat().st_size > 1000
    out, _ = run("hierarchies a.nwk truth.csv --labels species --id name --measures ari -f json", monkeypatch, capsys)
    assert json.loads(out)["values"] == {"ari": 1.0}
    assert json.loads(out)["k"] == {"ari": 2.0}
    run("hierarchies a.nwk b.nwk --fail-under cophenetic=0.9", monkeypatch, capsys, code=1)
    np.save("linkage.npy", cg.Hierarchy(ONE).linkage)
    pd.DataFrame({"name": list("abcd"), "top": [0, 0, 1, 1]}).to_csv("levels.csv", index=False)
    out, _ = run("hierarchies linkage.npy linkage.npy --measures robinson_foulds", monkeypatch, capsys)
    assert "0.0000" in out
    out, _ = run("hierarchies a.nwk levels.csv --id name --measures robinson_foulds", monkeypatch, capsys)
    assert "0.0000" in out


@pytest.mark.slow
def test_resolutions(here, monkeypatch, capsys):
    """Columns are found by pattern and put in order; nodes, edges and figures are written."""
    line = "resolutions labels.csv --columns leiden_* --plot tree.html --nodes nodes.csv --edges edges.csv -f json"
    out, err = run(line, monkeypatch, capsys)
    assert [column["column"] for column in json.loads(out)["columns"]] == ["leiden_0.2", "leiden_0.5", "leiden_1.0"]
    assert err.count("wrote") == 3
    assert pd.read_csv("edges.csv")["count"].sum() == 80
    assert pd.read_csv("nodes.csv")["size"].sum() == 120
    out, _ = run("resolutions labels.csv --columns leiden_0.2,leiden_0.5", monkeypatch, capsys)
    assert "There is no plateau" in out
    for color in ("depth", "type"):
        run(f"resolutions labels.csv --columns leiden_* --color {color} --plot {color}.html", monkeypatch, capsys)
    assert "most frequent" in Path("type.html").read_text()
    pytest.importorskip("matplotlib")
    run("resolutions labels.csv --columns leiden_* --plot tree.pdf -f csv", monkeypatch, capsys)
    assert Path("tree.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("resolutions labels.csv --columns louvain_*", "labels.csv has no column 'louvain_*'"),
        ("resolutions labels.csv --columns leiden_* --plot tree.gif", "--plot is written as .html"),
        ("resolutions labels.csv --columns leiden_* --plot no/tree.html", "there is no folder no"),
        ("resolutions labels.csv --columns leiden_* --color type", "--color has no effect without --plot"),
        ("resolutions labels.csv --columns leiden_0.2", "at least two columns"),
        ("hierarchies a.nwk none.nwk", "nor a file"),
        ("hierarchies a.nwk none.npy", "there is no file none.npy"),
        ("hierarchies a.nwk truth.csv --labels species --id name --plot x.html", "pass --curve"),
        ("hierarchies a.nwk truth.csv --labels genus", "genus"),
        ("hierarchies a.nwk b.nwk --measures ari", "cut_curve"),
        ("hierarchies a.nwk matrix.npz --labels matrix --id matrix", "'matrix' is a matrix, not a column"),
    ],
)
def test_bad_input_is_one_line(line, message, here, monkeypatch, capsys):
    """Exit code 2 and one line that says what to do."""
    np.savez("matrix.npz", matrix=np.eye(3))
    _, err = run(line, monkeypatch, capsys, code=2)
    assert message in err
    assert len([line for line in err.splitlines() if not line.startswith("note: ")]) == 1


NEXUS = """#NEXUS
BEGIN TAXA; DIMENSIONS NTAX=5; TAXLABELS A B C D 'E e'; END;
Begin trees;
  Translate 1 A, 2 B, 3 C, 4 D, 5 'E e';
  TREE one = [&R] ((1:1,2:1):1,(3:1.5,(4:1,5:1):0.5):0.5);
  tree two = [&U] ((1,2),((3,4),5));
END;
"""


def test_a_nexus_file_is_its_first_tree(tmp_path):
    """The names of the translation are used, and a note says that further trees were not read."""
    path = tmp_path / "trees.nex"
    path.write_text(NEXUS)
    tree = cg.Hierarchy(path)
    assert tree.points == ("A", "B", "C", "D", "E e")
    same = cg.Hierarchy("((A:1,B:1):1,(C:1.5,(D:1,'E e':1):0.5):0.5);")
    assert tree.to_newick() == same.to_newick()
    assert tree.notes == ("the first of 2 trees was read: one; not read: two",)
    with pytest.raises(cg.InputError, match="this NEXUS file has no tree"):
        cg.Hierarchy("#NEXUS begin data; (end);")


def test_trees_of_different_points(command, tmp_path):
    """What is missing is listed on both sides; --common compares the points that both have, as trees of them alone do."""
    (tmp_path / "a.nwk").write_text("((A:1,B:1):2,(C:2,(D:1,E:1):1):1);")
    (tmp_path / "b.nwk").write_text("((A:1,C:1):2,(B:2,(D:1,F:1):1):1);")
    refused = command("hierarchies", "a.nwk", "b.nwk")
    assert refused.code == 2
    assert "only in the first: E; only in the second: F; --common keeps common points" in refused.err
    said = command("hierarchies", "a.nwk", "b.nwk", "--common", "--format", "json")
    assert "4 points in both trees; left out: E, F" in said.err
    alone = cg.compare(cg.Hierarchy("((A:1,B:1):2,(C:2,D:2):1);"), cg.Hierarchy("((A:1,C:1):2,(B:2,D:2):1);"))
    found = json.loads(said.out)
    assert found["values"] == alone.to_dict()
    assert "robinson_foulds compares rooted trees; at most 4 here, all clades of both" in found["cautions"]
    assert (
        "a.nwk holds a tree, not labels; `congruence hierarchies` reads trees"
        in command("compare", "a.nwk", "b.nwk").err
    )


@pytest.mark.parametrize("seed", range(5))
def test_a_tree_of_some_points_has_their_merges(seed):
    """Two kept points merge at the height at which they merge in the whole tree."""
    rng = np.random.default_rng(seed)
    from scipy.cluster.hierarchy import cophenet, linkage
    from scipy.spatial.distance import squareform

    names = [f"p{i}" for i in range(12)]
    whole = linkage(rng.normal(size=(12, 3)), "average")
    kept = rng.choice(12, 6, replace=False).tolist()
    part = cg.Hierarchy(whole, points=names).only([names[i] for i in kept])
    expected = squareform(cophenet(whole))[np.ix_(kept, kept)]
    assert squareform(cophenet(part.linkage)) == pytest.approx(expected, rel=1e-12)
