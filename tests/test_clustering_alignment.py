"""Clusterings of different points are aligned or refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from clustering_cases import SIX, U, everything, one_line

import congruence as cg

FIRST = pd.Series([0, 0, 1, 1, 2], index=list("vwxyz"), name="first")
SHUFFLED = pd.Series([5, 3, 4, 3, 4], index=list("zvxwy"), name="shuffled")
SHORTER = pd.Series([1, 0, 0, 9], index=list("ywvq"), name="shorter")


def test_the_same_points_in_another_order_need_an_option():
    """Two series with the same index in another order are not silently compared by position."""
    with pytest.raises(cg.InputError, match="same points in a different order; pass align='index'") as error:
        cg.compare(FIRST, SHUFFLED)
    one_line(error)
    assert cg.ari(FIRST, SHUFFLED, align="index") == 1.0
    assert cg.ari(FIRST, SHUFFLED, align="position") == cg.ari(FIRST.tolist(), SHUFFLED.tolist())
    assert cg.compare_all([FIRST, SHUFFLED], align="index")["ari"][0, 1] == 1.0
    assert cg.compare_to(FIRST, [SHUFFLED], align="index")["ari"][0] == 1.0


def test_different_points_need_an_option():
    """Indexes that differ raise; align='index' compares the common points and says how many were left out."""
    with pytest.raises(cg.InputError, match="indexes of a and b differ; pass align='index'") as error:
        cg.compare(FIRST, SHORTER)
    one_line(error)
    result = cg.compare(FIRST, SHORTER, "all", align="index")
    assert result.n_used == 3
    assert result.to_dict() == everything([0, 0, 1], [0, 0, 1])
    assert any("a: points left out because they are not in all clusterings: 2" in note for note in result.cautions)
    assert any("b: points left out because they are not in all clusterings: 1" in note for note in result.cautions)
    matrix = cg.compare_all([FIRST, SHUFFLED, SHORTER], align="index")
    assert matrix.n_used.tolist() == [[3] * 3] * 3
    assert matrix["ari"].tolist() == [[1.0] * 3] * 3


def test_equal_indexes_or_none_need_no_option():
    """Equal indexes, repeated values among them, or a list and a series, are compared by position."""
    twice = pd.Series([0, 0, 1], index=["a", "a", "b"])
    assert cg.ari(twice, twice) == 1.0
    assert cg.ari(FIRST, [0, 0, 1, 1, 2]) == 1.0
    assert cg.ari(FIRST, np.array([0, 0, 1, 1, 2])) == 1.0
    assert cg.ari(FIRST, pl.Series([0, 0, 1, 1, 2])) == 1.0


def test_weights_in_a_series_follow_the_index():
    """Weights with an index are aligned with their points; an index that does not match is an error."""
    weights = pd.Series([1.0, 2.0, 3.0, 4.0, 5.0], index=list("zyxwv"))
    for name, values in (("sample_weight", weights), ("frequency", weights.astype(int))):
        in_order = values.reindex(FIRST.index)
        other = pd.Series([0, 1, 1, 0, 2], index=FIRST.index)
        expected = pytest.approx(cg.ari(FIRST.tolist(), other.tolist(), **{name: in_order.tolist()}), rel=1e-12)
        assert cg.ari(FIRST, other, align="index", **{name: values}) == expected
        assert cg.ari(FIRST, other, **{name: in_order}) == expected
        assert cg.compare_all([FIRST, other], align="index", **{name: values})["ari"][0, 1] == expected
        with pytest.raises(cg.InputError, match=f"index of {name} differs") as error:
            cg.ari(FIRST, other, **{name: values})
        one_line(error)
        with pytest.raises(cg.InputError, match=f"index of {name} differs"):
            cg.ari(FIRST, other, align="index", **{name: values.iloc[:3]})
        assert cg.ari(FIRST, other, align="position", **{name: values}) == cg.ari(
            FIRST.tolist(), other.tolist(), **{name: values.tolist()}
        )
    shorter = cg.ari(FIRST, SHORTER, align="index", sample_weight=weights)
    assert shorter == cg.ari([0, 0, 1], [0, 0, 1], sample_weight=[5, 4, 2])


def test_weights_with_a_repeated_index_are_refused():
    """Two weights for one point: the error says what is wrong, not what pandas could not do."""
    weights = pd.Series([1.0, 2, 3, 4, 5, 6], index=list("zyxwvv"))
    with pytest.raises(cg.InputError, match="sample_weight") as error:
        cg.ari(FIRST, SHUFFLED, align="index", sample_weight=weights)
    one_line(error)


def test_memberships_in_a_frame_are_aligned_too():
    """A frame of memberships and a series of labels are aligned by their index."""
    labels = pd.Series(SIX, index=list("abcdef"))
    frame = pd.DataFrame(U, index=list("abcdef"))
    expected = cg.ari(U, SIX)
    assert cg.ari(frame.iloc[::-1], labels, align="index") == pytest.approx(expected, rel=1e-12)
    with pytest.raises(cg.InputError, match="a different order"):
        cg.ari(frame.iloc[::-1], labels)


@pytest.mark.parametrize(
    ("a", "b", "align", "text"),
    [
        (FIRST, SHORTER.set_axis(list("vvwx")), "index", "without repeated values; that of b has repeated values"),
        (FIRST, [0, 0, 1, 1, 2], "index", "needs an index on every clustering, but b has none"),
        (FIRST, pd.Series([0], index=["k"]), "index", "have no point in common"),
        (FIRST, SHORTER, "position", "have 5 and 4 points"),
        (FIRST, FIRST, "rows", "align must be 'index' or 'position', not 'rows'"),
    ],
)
def test_what_cannot_be_aligned_is_refused(a, b, align, text):
    """Repeated values, a missing index, nothing in common, other lengths: each has its own message."""
    with pytest.raises(cg.InputError, match=text) as error:
        cg.compare(a, b, align=align)
    one_line(error)
