"""Formats and limits of what the commands print."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pandas as pd
import pytest
from cli_cases import KMEANS, TRUTH, shown
from commands import Said

import congruence as cg

# --- formats ---------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_json_of_everything_is_json(congruence):
    """--format json of every command parses, and holds full precision."""
    pair = congruence("compare", "labels.csv", "truth", "kmeans", "-m", "all", "-f", "json")
    assert json.loads(pair.out)["values"] == cg.compare(TRUTH, KMEANS, "all").to_dict()
    against = congruence("compare", "labels.csv", "--reference", "truth", "--columns", "kmeans,leiden", "-f", "json")
    assert [row["clustering"] for row in json.loads(against.out)["rows"]] == ["kmeans", "leiden"]
    listed = congruence("measures", "-f", "json")
    assert [row["key"] for row in json.loads(listed.out)] == [m.key for m in cg.measures() if not m.is_historical]
    assert json.loads(congruence("measures", "vi", "-f", "json").out)[0]["better"] == "lower"


@pytest.mark.slow
def test_csv_of_everything_is_csv(congruence):
    """--format csv of every command has a header and rows as wide as it, at full precision."""
    for words in (
        ["compare", "labels.csv", "truth", "kmeans", "-m", "all"],
        ["compare", "labels.csv", "--reference", "truth", "--columns", "kmeans,leiden"],
        ["matrix", "labels.csv", "--columns", "truth,kmeans,leiden"],
        ["matrix", "labels.csv", "--columns", "truth,kmeans,leiden", "-m", "ari,vi"],
        ["measures"],
        ["measures", "ari"],
    ):
        said = congruence(*words, "--format", "csv")
        head, *rows = csv.reader(io.StringIO(said.out))
        assert rows
        assert {len(row) for row in rows} == {len(head)}
    said = congruence("matrix", "labels.csv", "--columns", "truth,kmeans", "-f", "csv")
    first = next(csv.DictReader(io.StringIO(said.out)))
    assert first["kmeans"] == repr(cg.ari(TRUTH, KMEANS))


@pytest.mark.slow
def test_markdown_of_everything_is_a_table(congruence):
    """--format markdown has the same number of cells in every line; bars in names are escaped."""
    Path("bars.csv").write_text("x|y,b\n0,0\n0,1\n1,1\n")
    for words in (
        ["compare", "labels.csv", "truth", "kmeans", "-m", "all"],
        ["compare", "labels.csv", "--reference", "truth", "--columns", "kmeans,leiden"],
        ["matrix", "bars.csv"],
        ["matrix", "bars.csv", "-m", "ari,vi"],
        ["measures"],
    ):
        said = congruence(*words, "--format", "markdown")
        lines = said.out.rstrip("\n").split("\n")
        assert set(lines[1]) <= set("|- ")
        assert len({line.replace("\\|", "").count("|") for line in lines}) == 1
        assert all(line.startswith("| ") and line.endswith(" |") for line in lines)


@pytest.mark.slow
def test_a_clustering_may_be_called_clustering(congruence):
    """A column named like the corner of the matrix does not overwrite the names of the rows."""
    Path("names.csv").write_text("clustering,b\n0,0\n0,1\n1,1\n")
    said = congruence("matrix", "names.csv", "-f", "csv")
    head, *rows = csv.reader(io.StringIO(said.out))
    assert head[1:] == ["clustering", "b"]
    assert [row[0] for row in rows] == ["clustering", "b"]
    congruence("matrix", "names.csv", "--out", "m.csv")
    assert pd.read_csv("m.csv", index_col=0).index.tolist() == ["clustering", "b"]


@pytest.mark.slow
def test_one_clustering_alone_has_no_rows(congruence):
    """The pairs of one clustering are an empty table in every format, not a crash."""
    for shape in ("table", "json", "csv", "markdown"):
        said = congruence("matrix", "labels.csv", "--columns", "truth", "-m", "ari,vi", "-f", shape)
        assert said.code == 0
        assert said.out


@pytest.mark.slow
def test_threads_change_nothing(congruence):
    """Both commands take --threads, which does not change the values."""
    one, two = (
        congruence("matrix", "labels.csv", "--columns", "truth,kmeans,leiden", "--threads", t, "-f", "json")
        for t in "12"
    )
    assert one.code == 0
    assert one.out == two.out
    assert congruence("compare", "labels.csv", "truth", "kmeans", "--threads", "2").code == 0


@pytest.mark.slow
def test_measures_are_listed_and_explained(congruence):
    """`measures` lists the keys; `measures KEY`, or an alias of it, shows definition, range, facts and reference."""
    said = congruence("measures")
    first_words = [line.split()[0] for line in said.out.split("\n")[1:] if line]
    assert first_words == [m.key for m in cg.measures() if not m.is_historical]
    kept = congruence("measures", "--historical").out.split("\n")[1:]
    assert [line.split()[0] for line in kept if line] == [m.key for m in cg.measures() if m.is_historical]
    assert "kept only to reproduce a paper" in congruence("measures", "irm_greedy").out
    said = congruence("measures", "fowlkes-mallows")
    assert said.out.startswith("wallace (also fowlkes_mallows, fowlkes_mallows_score): Wallace index")
    said = congruence("measures", "ari")
    assert "ari = (v11 - E) / ((s_a + s_b) / 2 - E)" in said.out
    assert "Hubert, Arabie (1985)" in said.out
    for m in cg.measures():
        assert congruence("measures", m.key).code == 0


@pytest.mark.slow
def test_version_and_help(congruence):
    """--version prints the version; -h and --help explain, with examples, and name all commands."""
    assert congruence("--version") == Said(0, f"congruence {cg.__version__}\n", "")
    for words in (["--help"], ["-h"]):
        said = congruence(*words)
        assert said.code == 0
        for command in ("compare", "matrix", "measures", "demo"):
            assert command in said.out
    assert "congruence compare labels.csv kmeans leiden" in congruence("compare", "--help").out


# --- limits ----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("limits", "code"),
    [
        (["ari=0.5"], 0),
        (["ari=0.9"], 1),
        (["vi=0.6"], 0),
        (["vi=0.1"], 1),
        (["ari=0.5", "vi=0.6"], 0),
        (["ari=0.5", "vi=0.1"], 1),
        (["fowlkes_mallows=0.1"], 0),
        (["ari=1e9"], 1),
        (["ari=-inf"], 0),
    ],
)
def test_fail_under(congruence, limits, code):
    """--fail-under exits with 1 when a similarity is below its limit or a distance above; the result is printed."""
    words = [word for limit in limits for word in ("--fail-under", limit)]
    said = congruence("compare", "labels.csv", "truth", "kmeans", *words)
    assert said.code == code
    assert shown(said.out)["ari"] == pytest.approx(cg.ari(TRUTH, KMEANS), abs=5e-5)
    assert len(said.refusal) == code
    if code:
        assert "the limit of" in said.err
        assert "Traceback" not in said.err


@pytest.mark.slow
def test_fail_under_in_every_command(congruence):
    """The limit holds for each clustering against a reference and for each pair of a matrix, except the diagonal."""
    reference = ["compare", "labels.csv", "--reference", "truth", "--columns", "kmeans,leiden", "--fail-under"]
    assert congruence(*reference, "ari=0.3").code == 0
    assert congruence(*reference, "ari=0.5").code == 1
    matrix = ["matrix", "labels.csv", "--columns", "truth,kmeans,leiden", "--fail-under"]
    assert congruence(*matrix, "ari=0.3").code == 0
    assert congruence(*matrix, "ari=0.4").code == 1
    assert congruence(*matrix, "vi=0.1").code == 1
    assert congruence("matrix", "labels.csv", "--columns", "truth", "--fail-under", "ari=0.9").code == 0


def test_fail_under_a_measure_without_a_value(congruence):
    """A measure that is undefined, or was left out of 'all', fails its limit, in one line."""
    said = congruence("compare", "labels.csv", "truth", "leiden", "-m", "all", "--fail-under", "lambda=0.1")
    assert said.code == 1
    assert said.refusal == [
        "congruence: lambda was not computed: lambda is defined only for equal numbers of clusters, "
        "but these have 3 and 4; kappa_max takes any"
    ]
    Path("one.csv").write_text("x,y\n0,0\n0,0\n")
    said = congruence("compare", "one.csv", "x", "y", "-m", "lambda", "--fail-under", "lambda=0.1")
    assert said.code == 1
    assert len(said.refusal) == 1
