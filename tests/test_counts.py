"""Contingency tables from counts alone: `cg.Table(counts)`, `cg.compare(table)`, `congruence compare --counts`."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from strategies import partitions

import congruence as cg

A, B = ["x", "x", "y", "y", "z", "z"], [1, 2, 2, 2, 1, 3]


@pytest.mark.parametrize("a", partitions(4))
def test_a_table_of_counts_has_the_measures_of_its_clusterings(a):
    """Every measure of a pair of partitions is a function of the counts."""
    b = [0, 0, 1, 2]
    table = cg.contingency(a, b)
    again = cg.Table(table.to_array(), table.rows, table.columns)
    assert again == table
    expected, found = cg.compare(a, b, "all"), cg.compare(again, measures="all")
    assert found.n_points == len(a)
    assert found.to_dict() == pytest.approx(expected.to_dict(), nan_ok=True, rel=1e-12)


@pytest.mark.parametrize("make", [np.asarray, csr_array, lambda x: x.tolist(), lambda x: x.astype(float)])
def test_counts_come_as_any_matrix(make):
    """Arrays, sparse matrices, nested lists and whole floats give the same table; clusters without points are left out."""
    counts = np.array([[1, 0, 1], [2, 0, 0]])
    table = cg.Table(make(counts), rows=["u", "v"])
    assert table.to_dict() == {"rows": ["u", "v"], "columns": [0, 2], "counts": [[1, 1], [2, 0]]}
    assert table.count.dtype == np.int64


def test_a_crosstab_names_its_clusters():
    """The index and the columns of a frame are the names, and the table gives back the same kind of frame."""
    frame = pd.crosstab(pd.Series(A), pd.Series(B))
    table = cg.Table(frame)
    assert table == cg.contingency(A, B)
    assert isinstance(table.to_frame(), pd.DataFrame)


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ([[1, -1]], "row 0, column 1 is -1"),
        ([[0.5, 1]], "row 0, column 0 is 0.5"),
        ([[1, np.nan]], "column 1 is nan"),
        ([["a", "b"]], "counts must be numbers"),
        ([1, 2], "clusters of a × clusters of b"),
        ([[0, 0]], "they are 0"),
    ],
)
def test_counts_are_checked(counts, message):
    """What is not a table of whole numbers is refused with the cell that is wrong."""
    with pytest.raises(cg.InputError, match=message):
        cg.Table(counts)


def test_a_table_stands_for_both_clusterings():
    """A second clustering or weights beside a table, a table of memberships, and one clustering alone are refused."""
    soft = cg.contingency(np.full((3, 2), 0.5), np.full((3, 2), 0.5))
    for call, message in (
        (lambda: cg.compare(cg.Table([[1]]), A), "pass it alone"),
        (lambda: cg.compare(cg.Table([[1]]), frequency=[1]), "pass it alone"),
        (lambda: cg.compare(soft), "compare the clusterings themselves"),
        (lambda: cg.compare(A), "two are compared"),
        (lambda: cg.Table([[1, 2]], columns=["u", "u"]), "2 different names"),
    ):
        with pytest.raises(cg.InputError, match=message):
            call()


def test_the_command_reads_counts(tmp_path, command):
    """A file of counts, as `congruence contingency` writes it, gives the values of the labels."""
    labels, counts = str(tmp_path / "labels.csv"), str(tmp_path / "counts.csv")
    pd.DataFrame({"a": A, "b": B}).to_csv(labels, index=False)
    assert command("contingency", labels, "a", "b", "--out", counts).code == 0
    direct, found = command("compare", labels, "a", "b"), command("compare", "--counts", counts)
    assert "ari" in found.out
    assert found.out == direct.out
    refused = command("compare", "--counts", counts, "--id", "a")
    assert refused.code == 2
    assert "the file holds counts" in refused.err
