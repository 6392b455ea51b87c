"""Values of single rows of scanned columns: those in memory, to the last bit, returned or written."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import congruence as cg

N = 700
#: two columns, and how missing labels are treated
PAIRS = [("truth", "near", "error"), ("word", "near", "error"), ("truth", "gaps", "drop")]


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    """Columns of integers, text and text with gaps, in memory and in files."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 4, N)
    near = np.where(rng.random(N) < 0.3, rng.integers(0, 5, N), truth)
    data = {
        "truth": truth.tolist(),
        "near": near.tolist(),
        "word": [f"w{x}" for x in np.where(rng.random(N) < 0.3, 0, near)],
        "gaps": [None if rng.random() < 0.2 else f"g{x}" for x in near],
    }
    folder = tmp_path_factory.mktemp("rows")
    table = pa.table({"name": [f"r{i}" for i in range(N)], **data})
    for i in range(2):
        parquet.write_table(table.slice(i * 350, 350), folder / f"{i}.parquet", row_group_size=120)
    return data, cg.scan(folder, id="name")


@pytest.mark.parametrize(("a", "b", "rule"), PAIRS)
def test_element_scores(rows, tmp_path, a, b, rule):
    """The score of each row, NaN where a label is missing."""
    data, s = rows
    expected = cg.element_scores(data[a], data[b], unassigned=rule)
    assert np.array_equal(cg.element_scores(s[a], s[b], unassigned=rule), expected, equal_nan=True)
    written = cg.element_scores(s[a], s[b], unassigned=rule, out=tmp_path / "out")
    found = written.read()
    assert found.column_names == ["name", "element_score"]
    assert written.n_rows == N
    assert found["name"].to_pylist() == [f"r{i}" for i in range(N)]
    assert np.array_equal(found["element_score"].to_numpy(), expected, equal_nan=True)


@pytest.mark.parametrize(
    ("a", "b", "rule"),
    [*PAIRS, ("truth", "word", "error")],
)
def test_relabel(rows, tmp_path, a, b, rule):
    """New names of the clusters, of the same type as in memory; missing labels stay missing."""
    data, s = rows
    expected = cg.relabel(data[a], data[b], unassigned=rule)
    found = cg.relabel(s[a], s[b], unassigned=rule)
    assert found.tolist() == expected.tolist()
    assert found.dtype.kind == expected.dtype.kind
    written = cg.relabel(s[a], s[b], unassigned=rule, out=tmp_path / "out")
    assert written.columns == ("name", b)
    assert written.read()[b].to_pylist() == expected.tolist()


@pytest.mark.parametrize("members", [["near", "word"], ["near", "gaps"]])
def test_item_consensus(rows, tmp_path, members):
    """Mean consensus of each row with each cluster of a column of the scan."""
    data, s = rows
    weights = [1, 3]
    e = cg.Ensemble({name: data[name] for name in members}, unassigned="partial", member_weight=weights)
    expected = cg.item_consensus(e, data["truth"])
    lazy = cg.Ensemble(s[members], unassigned="partial", member_weight=weights)
    assert np.array_equal(cg.item_consensus(lazy, s["truth"]), expected, equal_nan=True)
    found = cg.item_consensus(lazy, s["truth"], out=tmp_path / "out").read()
    assert found.column_names == ["name", *(f"consensus_{c}" for c in range(4))]
    values = np.column_stack([found[f"consensus_{c}"].to_numpy() for c in range(4)])
    assert np.array_equal(values, expected, equal_nan=True)


def test_impossible_requests_give_a_reason(rows, tmp_path):
    """Files are for scanned rows, partitions of a scan are its columns, and other rules need the labels in memory."""
    data, s = rows
    for call in (cg.element_scores, cg.relabel):
        with pytest.raises(cg.InputError, match="out=… writes values of scanned rows"):
            call(data["truth"], data["near"], out=tmp_path / "out")
    with pytest.raises(cg.InputError, match="out=… writes values of scanned rows"):
        cg.item_consensus([data["near"]], data["truth"], out=tmp_path / "out")
    with pytest.raises(cg.InputError, match="a column of the same scan"):
        cg.item_consensus(s[["near"]], data["truth"])
    with pytest.raises(cg.InputError, match="into memory for other values"):
        cg.element_scores(s["truth"], s["gaps"], unassigned="cluster")
