"""The commands generate and consensus: files in, files out, one line for errors."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine

import congruence as cg
from congruence.consensus_clustering.method_names import METHODS
from congruence.engine import cpu, matrices


@pytest.fixture
def wine(tmp_path):
    """Wine as a table with names of the rows and the class, and the truth."""
    table = load_wine(as_frame=True).frame
    features = table.drop(columns="target")
    features = (features - features.mean()) / features.std()
    features.insert(0, "bottle", [f"b{i}" for i in range(len(table))])
    features.assign(grower=[f"g{i % 3}" for i in range(len(table))]).to_csv(tmp_path / "wine.csv", index=False)
    return table["target"].to_numpy()


@pytest.mark.slow
def test_from_data_to_consensus(command, wine, tmp_path):
    """generate writes the ids and one column per member; consensus writes a cluster and a confidence per id."""
    said = command(
        "generate", "wine.csv", "--id", "bottle", "--k", "2..5", "--members", "12", "--seed", "1", "--out", "runs.csv"
    )
    assert said.code == 0
    assert "left out: grower (labels)" in said.err
    runs = pd.read_csv(tmp_path / "runs.csv")
    assert runs.shape == (178, 13)
    assert runs.columns[0] == "bottle"
    X = pd.read_csv(tmp_path / "wine.csv").drop(columns=["bottle", "grower"])
    same = cg.generate(X, 12, range(2, 6), random_state=1)
    assert all(cg.ari(runs.iloc[:, i + 1], c) == 1 for i, c in enumerate(same))
    said = command("consensus", "runs.csv", "--id", "bottle", "--k", "3", "--seed", "0", "--out", "found.csv")
    assert said.code == 0
    assert "own objective" in said.out
    found = pd.read_csv(tmp_path / "found.csv")
    assert found.columns.tolist() == ["bottle", "cluster", "confidence"]
    assert cg.ari(found["cluster"], wine) > 0.75
    assert found["cluster"].tolist() == cg.consensus(runs.drop(columns="bottle"), 3, random_state=0).labels.tolist()


@pytest.mark.slow
def test_partial_members_are_written_with_gaps(command, wine, tmp_path):
    """--partial leaves gaps in the file; consensus takes them with --partial and refuses them without."""
    words = ["--method", "subsample", "--fraction", "0.7", "--partial", "--members", "8", "--k", "3", "--seed", "0"]
    assert command("generate", "wine.csv", *words, "--out", "runs.csv").code == 0
    assert pd.read_csv(tmp_path / "runs.csv").drop(columns="bottle").isna().any().all()
    refused = command("consensus", "runs.csv", "--k", "3")
    assert refused.code == 2
    assert len(refused.refusal) == 1
    said = command("consensus", "runs.csv", "--k", "3", "--partial", "--method", "ncut", "--format", "json")
    assert said.code == 0
    result = json.loads(said.out)
    assert result["method"] == "ncut"
    assert cg.ari(result["labels"], wine) > 0.75


@pytest.mark.slow
def test_soft_members_are_written_as_labels_with_a_note(command, wine, tmp_path):
    """A table cannot hold memberships: the largest counts, and a note says so."""
    said = command("generate", "wine.csv", "--method", "fuzzy", "--members", "2", "--k", "3", "--out", "runs.parquet")
    assert said.code == 0
    assert "the cluster with the largest membership was written" in said.err
    assert pd.read_parquet(tmp_path / "runs.parquet").shape == (178, 3)  # with the names of the rows


@pytest.mark.slow
def test_what_is_written_names_its_points(command, tmp_path):
    """The column that names the rows, or the ids of a long table in their order, are written next to the clusters."""
    cells = ["b", "a", "d", "c"]
    wide = pd.DataFrame({"cell": cells, "x": [0, 0, 1, 1], "y": [1, 1, 0, 0]})
    wide.to_csv(tmp_path / "wide.csv", index=False)
    wide.melt("cell", var_name="run", value_name="label").to_csv(tmp_path / "long.csv", index=False)
    assert command("consensus", "wide.csv", "--k", "2", "--out", "wide_out.csv").code == 0
    said = command("consensus", "long.csv", "--long", "cell,run,label", "--k", "2", "--out", "long_out.csv")
    assert said.code == 0
    found = pd.read_csv(tmp_path / "wide_out.csv")
    assert found["cell"].tolist() == cells
    again = pd.read_csv(tmp_path / "long_out.csv").set_index("cell")["cluster"]
    assert again.index.tolist() == ["a", "b", "c", "d"]
    assert cg.ari(again.loc[cells].to_numpy(), found["cluster"].to_numpy()) == 1.0
    numbers = pd.DataFrame({"cell": cells, "x": [0.0, 0.1, 5.0, 5.1], "y": [0.0, 0.2, 0.0, 0.1], "known": [0, 1, 0, 1]})
    numbers.to_csv(tmp_path / "numbers.csv", index=False)
    assert (
        command("generate", "numbers.csv", "--columns", "x,y", "--k", "2", "--members", "2", "--out", "runs.csv").code
        == 0
    )
    assert pd.read_csv(tmp_path / "runs.csv").columns.tolist()[0] == "cell"
    said = command(
        "alternatives", "numbers.csv", "--labels", "known", "--k", "2", "--method", "orthogonal", "--out", "a.csv"
    )
    assert said.code == 0, said.err
    assert pd.read_csv(tmp_path / "a.csv").columns.tolist() == ["cell", "known", "alternative_1"]
    frame = cg.consensus(cg.from_long(pd.read_csv(tmp_path / "long.csv"), "cell", "run", "label"), 2).to_frame()
    assert frame.index.tolist() == ["a", "b", "c", "d"]


def test_long_tables_are_joined_by_their_ids(command, tmp_path):
    """Two long tables are compared on the points they have in common, and the others are counted."""
    for name, cells in (("one", "abcd"), ("two", "abce")):
        wide = pd.DataFrame({"cell": list(cells), "x": [0, 0, 1, 1], "y": [1, 1, 0, 1]})
        wide.melt("cell", var_name="run", value_name="label").to_csv(tmp_path / f"{name}.csv", index=False)
    said = command("ensemble", "one.csv", "--long", "cell,run,label", "--against", "two.csv")
    assert said.code == 0
    assert "joined by 'cell': 3 points; 1 of 4 rows of one.csv have no partner" in said.err


def test_every_column_that_names_rows_may_join_two_files(command, tmp_path):
    """Not only the first of them: two files may have only the second in common."""
    runs = {"x": [0, 0, 1, 1], "y": [1, 1, 0, 1]}
    pd.DataFrame({"bottle": list("pqrs"), "cell": list("abcd"), **runs}).to_csv(tmp_path / "one.csv", index=False)
    pd.DataFrame({"cell": list("abdc"), **runs}).to_csv(tmp_path / "two.csv", index=False)
    said = command("ensemble", "one.csv", "--against", "two.csv", "--format", "json")
    assert "joined by 'cell': 4 points" in said.err
    first, second = cg.Ensemble(runs), cg.Ensemble({name: [x[i] for i in (0, 1, 3, 2)] for name, x in runs.items()})
    assert json.loads(said.out)["against"]["arimm"] == pytest.approx(first.arimm(second), rel=1e-12)


@pytest.mark.slow
def test_consensus_against_a_reference(command, wine, tmp_path):
    """--reference is compared with the result and is not a member; several methods give one row each."""
    rng = np.random.default_rng(0)
    noisy = {f"run{i}": np.where(rng.random(178) < 0.2, rng.integers(3, size=178), wine) for i in range(9)}
    pd.DataFrame({**noisy, "class": wine}).to_csv(tmp_path / "runs.csv", index=False)
    said = command("consensus", "runs.csv", "--k", "3", "--reference", "class", "--method", "kcc,average")
    assert "against class: ari 1.0000" in said.out
    rows = command(
        "consensus", "runs.csv", "--k", "3", "--reference", "class", "--method", "kcc,average", "--format", "csv"
    ).out
    assert {line.split(",")[0] for line in rows.splitlines()} == {"method", "kcc", "average"}
    picked = command(
        "consensus",
        "runs.csv",
        "--k",
        "3",
        "--reference",
        "class",
        "--select",
        "3",
        "--select-by",
        "quality",
        "--seed",
        "0",
    )
    assert picked.err.partition("members used")[2].count("run") == 3


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["consensus", "runs.csv", "--k", "3", "--method", "mcal"], "did you mean mcla"),
        (["consensus", "runs.csv", "--k", "9"], "--k must be a whole number from 1 to the number of points (4)"),
        (["consensus", "runs.csv", "--k", "0"], "greater than or equal to 1"),
        (["consensus", "runs.csv", "--k", "2", "--out", "x.docx"], "x.docx"),
        (["consensus", "runs.csv", "--k", "2", "--method", "kcc", "--variant", "metis"], "kcc has no variants"),
        (["generate", "runs.csv", "--k", "two", "--out", "x.csv"], "--k takes numbers of clusters"),
        (["generate", "words.csv", "--out", "x.csv"], "no column of words.csv looks like numbers to cluster"),
        (["generate", "runs.csv", "--k", "2..9", "--out", "x.csv"], "from 1 to the number of points"),
        (["generate", "runs.csv", "--method", "kmean", "--k", "2", "--out", "x.csv"], "'kmean' is not one of 'kmeans'"),
    ],
)
def test_errors_are_one_line(command, tmp_path, words, text):
    """Exit code 2 and one line that says what to try; nothing is written."""
    (tmp_path / "runs.csv").write_text("a,b\n0,0\n0,1\n1,1\n1,1\n")
    (tmp_path / "words.csv").write_text("a,b\nx,y\nx,z\ny,y\n")
    said = command(*words)
    assert (said.code, said.out) == (2, "")
    assert text in said.err
    assert len(said.refusal) == 1
    assert not (tmp_path / "x.csv").exists()


@pytest.mark.slow
def test_notes_are_printed_in_every_format(command, tmp_path):
    """csv and markdown hold only the scores; notes on missing clusters and the reference go to stderr."""
    pd.DataFrame({"x": [0, 0, 1, 1], "y": [1, 1, 0, 0], "truth": [0, 0, 1, 1]}).to_csv(tmp_path / "r.csv", index=False)
    for format in ("table", "csv", "markdown"):
        said = command("consensus", "r.csv", "--k", "3", "--reference", "truth", "--format", format)
        everything = said.out + said.err
        assert everything.count("3 clusters were requested, but 2 were found") == 1
        assert everything.count("against truth: ari 1.0000") == 1


@pytest.mark.slow
def test_every_method_is_listed_and_refined_on_request(command, tmp_path):
    """--help names all methods; --refine adds a refined row to any of them, --no-refine leaves auto as it is."""
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], 20)
    runs = {f"m{i}": np.where(rng.random(60) < 0.45, rng.integers(0, 3, 60), truth) for i in range(8)}
    pd.DataFrame(runs).to_csv(tmp_path / "runs.csv", index=False)
    listed = " ".join(command("consensus", "--help").out.replace("│", " ").split())
    assert all(name in listed for name in ("auto", *METHODS))
    for words, kept in ((["--method", "lwea", "--refine"], True), (["--no-refine"], False)):
        said = command("consensus", "runs.csv", "--seed", "0", "--format", "json", *words)
        assert said.code == 0
        result = json.loads(said.out)
        assert any(row["refined"] for row in result["scores"]) is kept
        assert any(note.startswith("n_clusters = 3: all members have this number") for note in result["notes"])


@pytest.mark.parametrize("options", [[], *(["--partial", "--missing", x] for x in ("plain", "pooled", "ratio"))])
def test_an_ensemble_takes_one_pass(command, tmp_path, monkeypatch, options):
    """`congruence ensemble` counts every pair of members once, and its certainty is that of `cg.certainty` to the bit.

    With gaps and missing="ratio", pairs of points have different denominators: their sums need a separate pass.
    """
    rng = np.random.default_rng(0)
    runs = {f"r{i}": rng.integers(1, 5, size=40).astype(float) for i in range(6)}
    if options:
        runs["r3"][:7] = np.nan
    pd.DataFrame(runs).to_csv(tmp_path / "runs.csv", index=False)
    counted, statistics = [], cpu.statistics
    monkeypatch.setattr(
        cpu, "statistics", lambda members, runs, *a, **b: counted.append(runs) or statistics(members, runs, *a, **b)
    )
    by_pattern, inner = [], matrices._inner
    monkeypatch.setattr(matrices, "_inner", lambda tables: by_pattern.append(len(tables)) or inner(tables))
    found = json.loads(command("ensemble", "runs.csv", "--format", "json", *options).out)["ensemble"]["certainty"]
    assert len(by_pattern) == (2 if "ratio" in options else 0)  # tables of all members, and their sizes
    pairs = sum(len(run) for passes in counted for run in passes if len(passes) > 1)
    assert pairs == 6 * 7 / 2
    e = cg.Ensemble(runs, unassigned="partial")
    assert found == cg.certainty(e, missing=options[-1] if options else "ratio")


def test_help_groups_many_options(command):
    """The help of consensus shows its own options first, and those that commands share in three groups."""
    _, out, _ = command("consensus", "--help")
    heads = [line for line in out.splitlines() if line.startswith(("╭─", "+-"))]
    assert [name for name in ("Options", "Input", "Output", "Running") if any(f" {name} " in x for x in heads)] == [
        "Options", "Input", "Output", "Running"
    ]  # fmt: skip
    own = out[out.index(" Options ") : min(out.index(f" {name} ─") for name in ("Input", "Output", "Running"))]
    assert "--solver" in own
    assert "--sheet" not in own
