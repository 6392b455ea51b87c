"""User stories: typical files and commands, and their output."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import congruence as cg
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
    text = command(words[0], "--help")[1]
    for option in re.findall(r"--[a-z][a-z-]+", err):
        assert option in text, f"{words[0]} has no {option}: {err}"
    assert not re.search(r"\b[a-z_]+='", err), err
