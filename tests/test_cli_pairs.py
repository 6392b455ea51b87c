"""The commands match, contingency and points print what the corresponding functions return."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest

import congruence as cg
from congruence import errors
from congruence.cli import joining

KMEANS, LEIDEN, WARD = [0, 0, 1, 1, 1], ["a", "a", "b", "b", "c"], ["x", "x", "y", "x", "y"]


@pytest.fixture
def labels(tmp_path):
    path = tmp_path / "labels.csv"
    rows = zip(["c1", "c2", "c3", "c4", "c5"], KMEANS, LEIDEN, WARD, strict=True)
    path.write_text("cell,kmeans,leiden,ward\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))
    return path


def test_match_prints_the_matched_clusters(command, labels):
    """The table names both columns, and csv holds the rows of cg.match."""
    assert command("match", str(labels), "kmeans", "leiden").out.startswith(
        "a = kmeans, b = leiden\n2 clusters matched"
    )
    rows = list(csv.DictReader(io.StringIO(command("match", str(labels), "kmeans", "leiden", "-f", "csv").out)))
    found = cg.match(KMEANS, LEIDEN)
    assert [(int(r["a"]), r["b"], int(r["common"])) for r in rows] == [row[:3] for row in found.rows]


def test_contingency_writes_the_table(command, labels, tmp_path):
    """One row per cluster of the first clustering, one column per cluster of the second."""
    out = tmp_path / "table.csv"
    command("contingency", str(labels), "kmeans", "leiden", "--out", str(out))
    head, *rows = csv.reader(out.read_text().splitlines())
    assert head[1:] == ["a", "b", "c"]
    assert [[int(x) for x in row[1:]] for row in rows] == cg.contingency(KMEANS, LEIDEN).to_array().tolist()


def test_points_are_the_mean_of_element_scores(command, labels):
    """The least stable point comes first; the score is the mean over all pairs of columns."""
    rows = json.loads(command("points", str(labels), "-f", "json").out)
    pairs = ((KMEANS, LEIDEN), (KMEANS, WARD), (LEIDEN, WARD))
    mean = np.mean([cg.element_scores(a, b) for a, b in pairs], axis=0)
    assert [row["cell"] for row in rows] == [f"c{i + 1}" for i in np.argsort(mean, kind="stable")]
    assert [row["score"] for row in rows] == pytest.approx(np.sort(mean), rel=1e-12)


def test_three_columns_are_refused_by_name(command, labels):
    """match compares two; the message lists what the file has."""
    refused = command("match", str(labels))
    assert "has 3 label columns (kmeans, leiden, ward); name two of them" in refused.err


@pytest.mark.parametrize("name", ["compare", "match"])
def test_a_single_clustering_is_sent_to_the_report(command, name):
    """A file with one label column cannot be compared; the message names the command that describes it."""
    Path("one.csv").write_text("kmeans\n1\n1\n2\n2\n")
    refused = command(name, "one.csv")
    assert "one.csv has one label column (kmeans); `congruence report` describes a single clustering" in refused.err
    assert command("report", "one.csv", "-o", "one.html").code == 0


def test_a_message_about_both_columns_names_both(monkeypatch):
    """Messages call a and b by the names of their columns, wherever in the sentence they are."""
    monkeypatch.setattr(errors, "FRONT", [errors.Python()])
    monkeypatch.setattr(joining, "FRONT", errors.FRONT)
    joining.call_sides(("kmeans", "leiden"))
    with pytest.raises(cg.InputError, match="kmeans and leiden have 3 and 2 points"):
        cg.ari([0, 0, 1], [0, 1])
