"""User stories: typical files and commands, and their output."""

from __future__ import annotations

import json
import re
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import typer.main

import congruence as cg
from congruence import cli
from congruence.cli import reading

RNG = np.random.default_rng(1)


def test_spellings_of_one_label_are_cautioned():
    """' Gold', 'gold' and 'Gold' are three clusters, and a caution says so; other labels have none."""
    labels = [" Gold", "gold", "Gold", "silver", "silver", "silver"]
    (caution,) = (c for c in cg.compare(labels, [0, 0, 0, 1, 1, 1]).cautions if c.code == "spelling")
    assert (
        caution
        == "a has labels that differ only in spaces or capitals, counted as different clusters: ' Gold', 'Gold', 'gold'"
    )
    assert [c.subject for c in cg.Ensemble({"x": labels, "y": [0] * 6}).cautions] == ["x"]
    assert not cg.compare(["gold", "silver"], [0, 1]).cautions


def test_what_is_dropped_is_counted():
    """Cautions give the number of points without a label, and say if only one cluster is left."""
    a = [0, 0, 1, 1, None, None]
    found = cg.compare(a, [0, 0, 1, 1, 1, 1], "ari", unassigned="drop")
    assert [str(c) for c in found.cautions] == ["4 of 6 points are compared; 2 without a label were dropped"]
    found = cg.compare([0, 0, None, None], [0, 1, 1, 1], "ari", unassigned="drop")
    assert [c.code for c in found.cautions] == ["dropped", "one_cluster_left"]
    assert found.cautions[1] == "a has one cluster left after points without a label were dropped"
    assert not cg.compare([0, 1], [0, 1], "ari", unassigned="drop").cautions
    three = {"a": a, "b": [0, 0, 1, 1, 1, 1], "c": [None, 0, 1, 1, 0, 1]}
    for several in (cg.compare_all(three, unassigned="drop"), cg.compare_to("b", three, unassigned="drop")):
        (caution,) = several.cautions
        assert caution.code == "dropped"
        assert re.fullmatch(r"[34] to 5 of 6 points are compared per pair; those without a label were dropped", caution)


def test_every_command_counts_what_it_drops(command):
    """Text files: which fields are missing, and how many points were dropped, in every command on labels."""
    Path("t.csv").write_text('a,b\nx,1\nx,1\ny,2\nNA,2\n"NA",2\n,1\n')
    pd.DataFrame({"a": ["x", "x", "y", None, "NA", None], "b": [1, 1, 2, 2, 2, 1]}).to_parquet("t.parquet", index=False)
    for file in ("t.csv", "t.parquet"):
        for words in (["compare"], ["contingency"], ["match"], ["matrix"]):
            code, out, err = command(*words, file, "--columns", "a,b", "--unassigned", "drop")
            assert code == 0, err
            assert "4 of 6 points are compared" in " ".join((out + err).split()), (words, file)
            assert ("missing labels: 2 in a (fields that are empty, or unquoted NA, N/A," in err) == (file == "t.csv")
        code, _, err = command("points", file, "--columns", "a,b", "--unassigned", "drop")
        assert "4 of 6 points have a score; 2 have too few labels for one" in err
    assert "unquoted x; see --na-values" in command("matrix", "t.csv", "--unassigned", "drop", "--na-values", "x")[2]


@pytest.mark.slow
def test_the_data_engineer_scans_large_files_by_default(command, monkeypatch, tmp_path):
    """A Parquet file above the limit is read in row groups, with the same values; ids are left out of both."""
    n = 4000
    table = pd.DataFrame({"row_id": np.arange(n), "a": RNG.integers(0, 5, n), "b": RNG.integers(0, 5, n)})
    table.to_parquet("large.parquet", index=False, row_group_size=500)
    assert not reading.is_large(Path("large.parquet"))
    whole = command("matrix", "large.parquet", "-f", "json")
    monkeypatch.setattr(reading, "LARGE", 1000)
    assert reading.is_large(Path("large.parquet"))
    scanned = command("matrix", "large.parquet", "-f", "json")
    assert json.loads(scanned[1])["ari"] == json.loads(whole[1])["ari"]
    assert "labels: a, b · id: row_id" in whole[2]
    assert "labels: a, b · id: row_id" in scanned[2] + scanned[1]


def test_the_analyst_writes_the_values(command):
    """compare --out writes what it prints, to a table or to JSON."""
    pd.DataFrame({"segment": ["x", "x", "y", "y"], "model": ["p", "q", "q", "q"]}).to_csv("t.csv", index=False)
    code, out, err = command("compare", "t.csv", "segment", "model", "-m", "ari,vi", "--out", "v.csv")
    assert (code, out) == (0, "")
    assert "wrote v.csv" in err
    found = pd.read_csv("v.csv").set_index("measure")["value"]
    assert found["ari"] == pytest.approx(cg.ari(["x", "x", "y", "y"], ["p", "q", "q", "q"]))
    assert command("compare", "t.csv", "segment", "model", "-m", "ari", "--out", "v.json")[0] == 0
    assert json.loads(Path("v.json").read_text())["values"]["ari"] == found["ari"]
    assert command("compare", "t.csv", "segment", "model", "--out", "v.npz")[0] == 2
    assert command("compare", "t.csv", "segment", "model", "--out", "t.csv")[0] == 2


def test_exit_codes_are_documented(command):
    """The help names every exit code."""
    text = " ".join(command("--help")[1].split())
    for code in ("0 success", "1 a measure", "2 invalid input", "3 out of memory", "130 stopped"):
        assert code in text


#: errors, and the options that their messages name
MISTAKES = [
    ["compare", "t.csv"],
    ["compare", "t.csv", "t.csv"],
    ["compare", "t.csv", "a", "gaps"],
    ["consensus", "t.csv", "--k", "2"],
    ["ensemble", "t.csv"],
    ["matrix", "twice.csv"],
    ["matrix", "numbers.csv"],
    ["generate", "t.csv", "--out", "x.csv"],
    ["report", "t.csv", "--axes", "x,y"],
    ["matrix", "t.csv", "--long", "a"],
    ["matrix", "t.csv", "--fail-under", "ari"],
]


@pytest.mark.parametrize("words", MISTAKES, ids=" ".join)
def test_errors_name_options_that_exist(command, words):
    """Every option that an error of the command line names is an option of that command, and none is an argument."""
    frame = pd.DataFrame({"a": [0, 0, 1, 1], "b": [0, 1, 1, 1], "c": [1, 1, 0, 0], "gaps": [1, None, 1, 2]})
    frame.to_csv("t.csv", index=False)
    pd.DataFrame({"id": [1, 1, 2, 3, 4], "a": [0, 0, 1, 1, 1]}).to_csv("twice.csv", index=False)
    pd.DataFrame({"x": RNG.random(30), "y": RNG.random(30)}).to_csv("numbers.csv", index=False)
    code, _, err = command(*words)
    assert code == 2, err
    found = typer.main.get_command(cli.app).commands[words[0]]  # type: ignore[attr-defined]
    options = {option for parameter in found.params for option in parameter.opts}
    for option in re.findall(r"--[a-z][a-z-]+", err):
        assert option in options, f"{words[0]} has no {option}: {err}"
    assert not re.search(r"\b[a-z_]+='", err), err


# --- five users, from their files to their results -------------------------------------------------------------------


@pytest.mark.slow
def test_the_bioinformatician_with_anndata(command):
    """.h5ad: labels from .obs, QC columns left out, the number of clusters from X_pca, a report with the UMAP."""
    anndata = pytest.importorskip("anndata", reason="anndata makes the file", exc_type=ImportError)
    rng = np.random.default_rng(5)
    kind = np.repeat(["B", "T", "NK"], 30)
    place = np.repeat([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]], 30, axis=0) + rng.normal(size=(90, 2))
    obs = pd.DataFrame({"cell_type": pd.Categorical(kind), "n_genes": rng.integers(500, 6000, 90)})
    obs["leiden"] = pd.Categorical([str(x) for x in np.where(rng.random(90) < 0.1, 0, pd.factorize(kind)[0])])
    obs["louvain"] = pd.Categorical([str(x) for x in pd.factorize(kind)[0]])
    obs.index = [f"AAAC{i:04}-1" for i in range(90)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        anndata.settings.allow_write_nullable_strings = True
        data = anndata.AnnData(rng.poisson(2.0, size=(90, 6)).astype("float32"), obs=obs)
        data.obsm["X_pca"], data.obsm["X_umap"] = place, place[:, ::-1].copy()
        data.write_h5ad("cells.h5ad")
    code, out, err = command("compare", "cells.h5ad", "--reference", "cell_type", "-m", "ari", "-f", "json")
    assert code == 0, err
    assert "left out: n_genes (measurements)" in err
    rows = {
        row["clustering"]: row["ari"] for row in cg.compare_to("cell_type", data, "ari").to_frame("pyarrow").to_pylist()
    }
    assert rows["louvain"] == 1.0
    assert all(str(value) in out for value in rows.values())
    assert "3 clusters" in command("choose-k", "cells.h5ad", "--k", "2..4")[1]
    assert command("report", "cells.h5ad", "--reference", "cell_type")[0] == 0
    assert "X_umap_1" in Path("report.html").read_text(encoding="utf-8")
    assert cg.compare_all(data).names == ("cell_type", "leiden", "louvain")


def test_the_analyst_with_excel_exports(command):
    """Two workbooks with rows in another order are joined by the customer number; a semicolon export gives the same."""
    pytest.importorskip("openpyxl", reason="openpyxl makes the file")
    pytest.importorskip("python_calamine", reason="python-calamine reads it")
    rng = np.random.default_rng(6)
    frame = pd.DataFrame(
        {"customer_no": rng.permutation(np.arange(1000, 1060)), "segment": rng.choice(["Gold", "Silver"], 60)}
    )
    frame["churn_group"] = np.where(rng.random(60) < 0.8, frame["segment"], "Gold")
    frame[["customer_no", "segment"]].to_excel("crm.xlsx", index=False)
    frame[["customer_no", "churn_group"]].sample(frac=1, random_state=1).to_excel("model.xlsx", index=False)
    frame[["customer_no", "churn_group"]].to_csv("model.csv", index=False, sep=";", encoding="utf-16")
    known = cg.ari(frame["segment"].tolist(), frame["churn_group"].tolist())
    for other in ("model.xlsx", "model.csv"):
        code, out, err = command("compare", "crm.xlsx", other, "-m", "ari", "-f", "json")
        assert code == 0, err
        assert "rows are joined by 'customer_no': 60 points" in err
        assert json.loads(out)["values"]["ari"] == known
    assert command("match", "crm.xlsx", "model.xlsx", "--out", "pairs.csv")[0] == 0
    assert len(pd.read_csv("pairs.csv")) >= 2


@pytest.mark.slow
def test_the_engineer_with_scikit_learn_pipelines():
    """Consensus in a pipeline and a grid search with our scorer gives the value of sklearn.metrics."""
    from sklearn.datasets import make_blobs
    from sklearn.metrics import adjusted_rand_score
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    X, y = make_blobs(90, centers=3, random_state=0, cluster_std=0.6)
    model = make_pipeline(StandardScaler(), cg.ConsensusClustering(3, generator="kmeans", n_members=5, random_state=0))
    search = GridSearchCV(model, {"consensusclustering__n_clusters": [2, 3, 5]}, scoring=cg.scorer("ari"), cv=2).fit(
        X, y
    )
    assert search.best_params_ == {"consensusclustering__n_clusters": 3}
    found = search.best_estimator_.predict(X)
    assert cg.adjusted_rand_score(labels_true=y, labels_pred=found) == pytest.approx(adjusted_rand_score(y, found))


def test_the_statistician_from_r(command):
    """A table as write.csv leaves it: row names in an unnamed first column, factors as quoted words, NA for missing."""
    Path("iris.csv").write_text(
        '"","Species","mclust"\n' + "".join(f'"{i}","{s}",{m}\n' for i, (s, m) in enumerate(
            [("setosa", 1)] * 10 + [("virginica", 2)] * 9 + [("virginica", "NA")], 1)))  # fmt: skip
    code, _, err = command("compare", "iris.csv", "Species", "mclust", "-m", "ari")
    assert code == 2
    assert "pass --unassigned drop" in err
    code, out, err = command("compare", "iris.csv", "-m", "ari,accuracy", "--unassigned", "drop", "-f", "json")
    assert code == 0, err
    assert "labels: Species, mclust" in err
    assert json.loads(out)["values"] == {"ari": 1.0, "accuracy": 1.0}
    assert "19 of 20 points" in str(json.loads(out)["cautions"])


@pytest.mark.slow
def test_the_data_engineer_with_many_rows(command, monkeypatch, tmp_path):
    """A partitioned folder: scanned within a memory limit, with progress, a checkpoint, a damaged part, and the same values."""
    rng = np.random.default_rng(7)
    (tmp_path / "events").mkdir()
    parts = []
    for day in range(6):
        truth = rng.integers(0, 5, 2000)
        part = pd.DataFrame({"event_id": np.arange(2000) + 2000 * day, "truth": truth})
        part["model_a"] = np.where(rng.random(2000) < 0.2, 0, truth)
        part["model_b"] = np.where(rng.random(2000) < 0.4, 0, truth)
        part.to_parquet(tmp_path / "events" / f"day={day}.parquet", index=False)
        parts.append(part)
    whole = pd.concat(parts)
    words = ("compare", "events", "-m", "ari", "-f", "json", "--memory", "4GB", "--progress", "--checkpoint", "saved")
    code, out, err = command(*words)
    assert code == 0, err
    assert "reference: truth" in err
    assert "100% (" in err
    known = cg.compare_to("truth", whole[["truth", "model_a", "model_b"]].reset_index(drop=True), "ari")
    assert json.loads(out) == json.loads(known.to_json())
    assert command(*words)[1] == out
    (tmp_path / "events" / "day=3.parquet").write_bytes(b"cut off")
    code, _, err = command("matrix", "events")
    (said,) = (line for line in err.splitlines() if not line.startswith("note: "))
    assert code == 2
    assert "day=3.parquet could not be read" in said
    assert command("matrix", "events", "--skip-bad")[0] == 0
