"""How each column is used is always printed, and no id or label is clustered as a measurement."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import congruence as cg

TABLE = "cell,kmeans,leiden,truth,n_genes\n" + "".join(
    f"c{i},{i // 4},{'abc'[i // 4]},{'xyz'[i % 3]},{100.5 + i}\n" for i in range(12)
)
GAPS = 'a,b,c\n0,0,0\n0,1,0\nNA,1,1\n,1,1\n0,0,"NA"\n0,1,n/a\n'


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("compare t.csv kmeans leiden", "labels: kmeans, leiden · id: cell · left out: truth, n_genes (not named)"),
        ("compare t.csv --columns kmeans --reference truth -m ari",
         "labels: kmeans · reference: truth · id: cell · left out: leiden, n_genes (not named)"),
        ("matrix t.csv --columns kmeans,leiden", "labels: kmeans, leiden · id: cell · left out: truth, n_genes (not named)"),
        ("matrix t.csv --columns kmeans,leiden --weight n_genes",
         "labels: kmeans, leiden · weight: n_genes · id: cell · left out: truth (not named)"),
        ("matrix t.csv --columns kmeans,leiden --checkpoint saved",
         "labels: kmeans, leiden · id: cell · left out: truth, n_genes (not named)"),
        ("matrix t.csv --checkpoint saved", "labels: kmeans, leiden, truth · id: cell · left out: n_genes (measurements)"),
        ("match t.csv kmeans leiden", "labels: kmeans, leiden · id: cell"),
        ("contingency t.csv --columns kmeans,leiden", "labels: kmeans, leiden · id: cell"),
        ("points t.csv --columns kmeans,leiden", "labels: kmeans, leiden · id: cell"),
        ("ensemble t.csv --columns kmeans,leiden --reference truth", "labels: kmeans, leiden · reference: truth · id: cell"),
        ("consensus t.csv --columns kmeans,leiden --k 3 --method voting", "labels: kmeans, leiden · id: cell"),
        ("consensus-matrix t.csv --columns kmeans,leiden --out m.npz", "labels: kmeans, leiden · id: cell"),
        ("resolutions t.csv --columns kmeans,leiden --order kmeans,leiden", "labels: kmeans, leiden · id: cell"),
        ("generate t.csv --columns n_genes --k 2 --members 2 --out g.csv",
         "data: n_genes · id: cell · left out: kmeans, leiden, truth (not named)"),
        ("drift t.csv --window leiden --labels kmeans --features n_genes",
         "features: n_genes · labels: kmeans · window: leiden · id: cell · left out: truth (not named)"),
        ("adco t.csv --labels kmeans --labels leiden --features n_genes", "features: n_genes · labels: kmeans, leiden"),
    ],
)  # fmt: skip
def test_every_command_says_how_it_uses_columns(command, words, line):
    """One line on stderr, also if the columns are named; --verbose adds the reasons."""
    Path("t.csv").write_text(TABLE)
    code, _, err = command(*words.split())
    assert code == 0, err
    assert f"note: {line}" in err
    _, _, err = command(*words.split(), "--verbose")
    assert re.search(r"note:   \w+: (named|\w+, )", err), err


def test_two_files_say_what_they_took(command):
    """Each of two files has its own line, and the line is printed before an error too."""
    Path("a.csv").write_text(TABLE)
    Path("b.csv").write_text(TABLE)
    code, _, err = command("compare", "a.csv", "b.csv", "--columns", "kmeans,leiden", "-m", "ari")
    assert code == 0
    assert "note: a.csv: labels: kmeans · id: cell · left out: leiden, truth, n_genes (not named)" in err
    assert "note: b.csv: labels: leiden · id: cell" in err
    code, _, err = command("compare", "a.csv", "b.csv")
    assert code == 2
    assert "note: a.csv: labels: kmeans, leiden, truth · id: cell" in err


@pytest.mark.parametrize(
    "words", ["compare t.csv a b", "matrix t.csv", "matrix t.csv --checkpoint saved", "contingency t.csv a b"]
)
def test_what_counts_as_missing_is_printed_before_an_error(command, words):
    """The list of missing fields is named when points without a label end a command, in memory and in a scan."""
    Path("t.csv").write_text(GAPS)
    code, _, err = command(*words.split())
    assert code == 2
    assert "fields that are empty, or unquoted NA, N/A, n/a, NaN, nan, null, NULL, None or <NA>" in err
    assert "congruence: a: 2 of" in err


def test_scans_count_missing_fields(command):
    """A scan of a text file counts what was missing; a quoted "NA" is a label."""
    Path("t.csv").write_text(GAPS)
    for more in ([], ["--checkpoint", "saved"]):
        _, out, err = command("matrix", "t.csv", "--unassigned", "drop", *more)
        assert "missing labels: 2 in a and 1 in c (fields that are empty" in err
        assert "3 to 5 of 6 points are compared per pair" in " ".join((out + err).split())
    _, _, err = command("matrix", "t.csv", "--unassigned", "drop", "--na-values", "n/a", "--checkpoint", "other")
    assert "missing labels: 1 in a and 1 in c (fields that are empty, or unquoted n/a; see --na-values)" in err


def test_a_folder_without_labels_is_refused_as_a_file_is(command):
    """Measurements are not counted as labels in a scan either; named columns are, as the message advises."""
    Path("parts").mkdir()
    rng = np.random.default_rng(0)
    for part in range(2):
        frame = pd.DataFrame({"x": rng.random(40), "y": rng.random(40)})
        frame.to_csv(f"parts/{part}.csv", index=False)
    code, _, err = command("matrix", "parts")
    assert code == 2
    assert "no column of parts looks like labels: x (measurements), y (measurements); name the columns" in err
    assert command("matrix", "parts", "--columns", "x,y")[0] == 0


def test_repeated_ids_of_a_folder_are_refused_and_the_advice_works(command):
    """A column called id with a repeated value is refused, in small files and in folders; --columns names the labels."""
    Path("parts").mkdir()
    for path in ("small.csv", "parts/1.csv"):
        Path(path).write_text("id,a,b\n1,0,0\n2,0,1\n2,1,1\n")
    for source in ("small.csv", "parts"):
        code, _, err = command("matrix", source)
        assert code == 2
        assert "1 id in column 'id' occurs more than once ('2'); keep one row per id, name the label columns" in err
        assert command("matrix", source, "--columns", "a,b")[0] == 0


@pytest.mark.slow
def test_a_clustering_left_with_one_cluster_is_named():
    """Pairs in which dropping leaves one cluster are listed, for any measure, weights and scans."""
    frame = pd.DataFrame({"a": [0, 0, None, None, 0, 0], "b": [0, 1, 1, 1, 0, 1], "c": [0, 0, 1, 1, None, None]})
    weights: list[dict[str, Any]] = [{}, {"sample_weight": [1.0, 2, 1, 1, 3, 1]}, {"frequency": [1, 2, 1, 1, 3, 1]}]
    left = "one cluster is left after points without a label were dropped: a (compared with b), a (compared with c), c"
    for weight in weights:
        for measure in ("ari", "vi"):
            said = cg.compare_all(frame, measure, unassigned="drop", **weight).cautions
            assert [c.code for c in said] == ["dropped", "one_cluster_left"]
            assert said[1].startswith(left)
        assert "one_cluster_left" in {
            c.code for c in cg.compare_to("b", frame, "ari", unassigned="drop", **weight).cautions
        }
    assert "one_cluster_left" in {c.code for c in cg.compare_all(cg.Ensemble(frame, unassigned="partial")).cautions}
    assert any("one cluster is left" in text.lower() for text in cg.report(frame, unassigned="drop").summary.careful)
    assert not cg.compare_all({"x": [0, 0, 1, None], "y": [0, 1, 1, 1]}, unassigned="drop").cautions[1:]


@pytest.mark.parametrize("weight", [None, "sample_weight", "frequency"])
def test_weighted_scans_count_what_they_drop(tmp_path, weight):
    """A scan reports dropped points like labels in memory, with and without weights."""
    frame = pd.DataFrame(
        {"a": [0, 0, None, None, 0, 1], "b": [0, 1, 1, 1, 0, 1], "c": [0, 0, 1, 1, 1, None], "w": [1, 2, 1, 1, 3, 1]}
    )
    frame.to_parquet(tmp_path / "t.parquet", index=False)
    scan = cg.scan(tmp_path / "t.parquet", ["a", "b", "c"])
    mine = {} if weight is None else {weight: frame["w"]}
    lazy = {} if weight is None else {weight: scan["w"]}
    labels = {name: frame[name] for name in "abc"}
    for of, other in ((labels, mine), (scan, lazy)):
        one = cg.compare(of["a"], of["b"], "ari", unassigned="drop", **other)
        assert one.cautions[0] == ("7 of 9" if weight == "frequency" else "4 of 6") + (
            " points are compared; 2 without a label were dropped"
        )
    every, scanned = (cg.compare_all(x, "ari", unassigned="drop", **w) for x, w in ((labels, mine), (scan, lazy)))
    assert every.cautions == scanned.cautions
    assert "points are compared per pair" in scanned.cautions[0]


RNG = np.random.default_rng(0)
LABELS = np.repeat([0, 1], 20)
NUMBERS = pd.DataFrame({"x": RNG.normal(size=40) + 6 * LABELS, "y": RNG.normal(size=40)})
TAKE_DATA = {
    "choose_k": lambda f: cg.choose_k(f, k=[2]),
    "generate": lambda f: cg.generate(f, 2, [2]),
    "alternatives": lambda f: cg.alternatives(f, LABELS, 2, method="coala"),
    "AlternativeClustering": lambda f: cg.AlternativeClustering(2, method="coala").fit(f, LABELS),
    "ConsensusClustering": lambda f: cg.ConsensusClustering(2, n_members=2).fit(f),
    "ConsensusClustering with a generator": lambda f: cg.ConsensusClustering(2, n_members=2, generator="kmeans").fit(f),
    "adco": lambda f: cg.adco(LABELS, LABELS[::-1], f),
    "density_profile": lambda f: cg.density_profile(f, LABELS),
    "Binning": lambda f: cg.Binning().fit(f),
    "dunn": lambda f: cg.dunn(f, LABELS),
    "dissimilarity_quality": lambda f: cg.dissimilarity_quality(f, LABELS, LABELS[::-1]),
    "report": lambda f: cg.report({"a": LABELS, "b": LABELS}, None, data=f),
    "drift": lambda f: cg.drift(
        {**{name: f[name] for name in f.columns}, "group_1": LABELS, "day": np.tile([0, 1], 20)}
        if not isinstance(f, pd.DataFrame)
        else f.assign(group_1=LABELS, day=np.tile([0, 1], 20)),
        "group_1", "day",
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", TAKE_DATA)
def test_data_are_never_ids_or_labels(name):
    """Every function that takes data refuses a frame with ids or labels with the same message, and its advice works."""
    function = TAKE_DATA[name]
    ids = {"customer_no": np.arange(1000, 1040), "cell": [f"c{i}" for i in range(40)]}
    for column, values in {**ids, "leiden": LABELS, "truth": LABELS.astype(str)}.items():
        kind = "ids" if column in ids else "labels"
        frame = NUMBERS.assign(**{column: values})
        with pytest.raises(
            cg.InputError, match=f"column '{column}' holds {kind}, by its name, not measurements; leave it out"
        ):
            function(frame)
        if column == "customer_no":
            function(frame.astype({column: float}))
    function(NUMBERS)


def test_a_frame_of_measurements_and_whole_numbers_is_refused_by_the_consensus():
    """Without a generator, whole numbers beside measurements may be labels or data: the message says what to pass."""
    frame = NUMBERS.assign(age=RNG.integers(20, 80, 40))
    with pytest.raises(cg.InputError, match="columns x, y hold measurements, and age whole numbers or words; pass"):
        cg.ConsensusClustering(2).fit(frame)
    assert cg.ConsensusClustering(2, generator="kmeans", n_members=2).fit(frame).n_clusters_ == 2
    runs = pd.DataFrame({"run_1": LABELS, "run_2": LABELS, "customer_no": np.arange(1000, 1040)})
    assert cg.ConsensusClustering(2).fit(runs).ensemble_.names == ("run_1", "run_2")
