"""The reproduction on tracks agrees with ReporTree's record, and its costs do not depend on the order of columns."""

import numpy as np
import pytest

from reproductions import tracks
from reproductions.datasets import folders

needs_data = pytest.mark.skipif(
    not any((folder / "tracking" / "INDEX.csv").is_file() for folder in folders()),
    reason="no data folder: set CONGRUENCE_DATA to the folder that holds tracking/",
)


@needs_data
@pytest.mark.parametrize(("column", "many", "split"), [("MST-4x1.0", 564, 2), ("MST-7x1.0", 491, 3)])
def test_listeria_agrees_with_the_record(column, many, split):
    """Every old cluster has the new cluster of the record; kinds agree, but for clusters that lost an isolate from the table."""
    found = tracks.listeria(tracks.tracking(), column)
    assert found["pairs"] == found["same pairs"] == many
    assert found["kept in both"] == many - split
    assert (found["their split, one part is left"], found["other"], found["new in both"]) == (split, 0, True)


def test_cost_of_equal_runs():
    """Equal runs cost 0, and two that are opposite cost 1."""
    u = np.eye(2)[[0, 1, 1]]
    assert tracks.mean_cost({"a": u, "b": u}) == 0
    assert tracks.mean_cost({"a": u, "b": u[:, ::-1]}) == 1
