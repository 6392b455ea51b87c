"""docs/coming_from.md: the values that R printed are those of the calls the page puts next to them."""

from __future__ import annotations

import pytest

from reproductions import coming_from
from reproductions.coming_from import CLOSE, DIFFERS, SAME, Line

#: the 400 bootstrap samples of clusterboot take a while
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def lines() -> list[Line]:
    return coming_from.lines_of(coming_from.both()[1])


def test_every_difference_is_explained(lines):
    """A value that differs from R's has a reason on its line; most values are the same."""
    assert not [line.call for line in lines if line.verdict == DIFFERS and not line.why]
    assert sum(line.verdict == SAME for line in lines) > 80


@pytest.mark.parametrize("call", list(coming_from.CALLS))
@pytest.mark.parametrize("pair", ["a, b", "b, a", "c, d"])
def test_values_of_two_clusterings_are_those_of_r(lines, call, pair):
    """clue and mclust give the value of the call that the page names, in both orders."""
    assert [line.verdict for line in lines if line.call == call.format(pair)] == [SAME]


def test_the_error_of_mclust_is_not_a_matching_error(lines):
    """mclust lets two clusters share a partner; the error of the best one-to-one matching is larger."""
    theirs = next(line for line in lines if line.call == "classError(c, d)$errorRate")
    assert float(theirs.theirs) == pytest.approx(7 / 12)
    assert coming_from.cg.clustering_error(coming_from.C, coming_from.D) == pytest.approx(8 / 12)


def test_resamples_give_the_consensus_matrix_of_r(lines):
    """Counting the labels that ConsensusClusterPlus recorded gives its matrix and its clusters."""
    found = {line.call: line.verdict for line in lines if line.package == "ConsensusClusterPlus"}
    for k in (2, 3, 4):
        assert found[f"[[{k}]]$consensusMatrix[1, ]"] == SAME
        assert found[f"[[{k}]]$consensusClass"] == SAME


def test_stability_is_close_to_clusterboot(lines):
    """Two sets of 400 bootstrap samples give the same mean Jaccard similarities, except for chance."""
    assert [line.verdict for line in lines if "clusterboot" in line.call] == [CLOSE]


def test_the_tree_of_a_sweep_is_that_of_clustree(lines):
    """Sizes, stabilities, colours and edges of six k-means clusterings are those of clustree's own code."""
    found = {line.call: line for line in lines if line.package == "clustree"}
    assert len(found) == 8
    assert {line.verdict for line in found.values()} == {SAME}
    assert min(found["edges: in_prop"].ours) < 0.9  # clusters that mix, not only nested ones


def test_verdicts():
    """Nine digits are the same; an error or another number of values is a difference."""
    assert Line("p", "f", "0.5 1", (0.5, 1 + 1e-10)).verdict == SAME
    assert Line("p", "f", "0.5", (0.51,)).verdict == DIFFERS
    assert Line("p", "clusterboot", "0.5", (0.51,)).verdict == CLOSE
    assert Line("p", "f", "error: no", (0.5,)).verdict == DIFFERS
    assert Line("p", "f", "NaN", (1.0,)).verdict == DIFFERS
    assert Line("p", "f", "1 1", (1.0,)).verdict == DIFFERS
