"""Several clusterings at once, memberships and weights."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from clustering_cases import NUMBERS, OTHER, SIX, OverDLPack, U, everything, one_line, read_only

import congruence as cg


@cache
def plain_memberships() -> tuple[dict[str, float], dict[str, float], dict[str, float]]:
    """Every measure of the plain array U with SIX, both ways, and with U reversed."""
    return everything(U, SIX), everything(SIX, U), everything(U, U[::-1])


# --- several clusterings at once -------------------------------------------------------------------------------------


COLUMNS = {"first": NUMBERS, "second": OTHER, "third": NUMBERS[::-1]}


@pytest.mark.parametrize(
    "data",
    [
        list(COLUMNS.values()),
        tuple(np.array(x) for x in COLUMNS.values()),
        COLUMNS,
        np.column_stack(list(COLUMNS.values())),
        np.asfortranarray(np.column_stack(list(COLUMNS.values()))),
        np.column_stack(list(COLUMNS.values())).astype(float),
        np.column_stack(list(COLUMNS.values())).astype(str),
        np.ma.array(np.column_stack(list(COLUMNS.values()))),
        OverDLPack(np.column_stack(list(COLUMNS.values()))),
        pd.DataFrame(COLUMNS),
        pl.DataFrame(COLUMNS),
        pa.table(COLUMNS),
        [pd.Series(v, name=k) for k, v in COLUMNS.items()],
    ],
    ids=lambda x: type(x).__name__,
)
def test_ensembles_of_every_kind_are_the_same(data):
    """Label columns, frames, mappings and lists of vectors give the same matrix, with the names they carry."""
    expected = cg.compare_all(list(COLUMNS.values()))["ari"]
    ensemble = cg.Ensemble(data)
    assert (len(ensemble), ensemble.n_points) == (3, 12)
    assert cg.compare_all(ensemble)["ari"] == pytest.approx(expected, rel=1e-12)
    assert cg.compare_all(data)["ari"] == pytest.approx(expected, rel=1e-12)
    named = isinstance(data, dict | pd.DataFrame | pl.DataFrame | pa.Table) or (
        isinstance(data, list) and isinstance(data[0], pd.Series)
    )
    assert ensemble.names == (("first", "second", "third") if named else ("0", "1", "2"))


def test_series_keep_their_names_against_a_reference():
    """A list of named series keeps its names in compare_to, as it does in compare_all."""
    series = [pd.Series(NUMBERS, name="kmeans"), pd.Series(OTHER, name="leiden")]
    assert cg.compare_all(series).names == ("kmeans", "leiden")
    assert cg.compare_to(OTHER, series).names == ("kmeans", "leiden")


def test_members_of_an_ensemble_by_name_and_place():
    """e[1] and e['second'] are the same member; an unknown name raises an error that lists the known ones."""
    ensemble = cg.Ensemble(COLUMNS)
    assert ensemble["second"] is ensemble[1]
    assert list(ensemble)[1] is ensemble[1]
    assert "3 clusterings of 12 points" in repr(ensemble)
    with pytest.raises((KeyError, cg.InputError), match="second"):
        ensemble["secnd"]


# --- memberships -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "data",
    [
        U.tolist(),
        U.astype(np.float32),
        np.asfortranarray(U),
        read_only(U),
        cg.Memberships(U),
        OverDLPack(U),
        pd.DataFrame(U, columns=["p", "q"]),
        pl.DataFrame(U, schema=["p", "q"]),
        pa.table({"p": U[:, 0], "q": U[:, 1]}),
        *(
            make(U)
            for make in (
                sp.csr_array,
                sp.csc_array,
                sp.coo_array,
                sp.lil_array,
                sp.dok_array,
                sp.bsr_array,
                sp.dia_array,
                sp.csr_matrix,
            )
        ),
    ],
    ids=lambda x: type(x).__name__,
)
def test_memberships_of_every_kind_give_the_same_result(data):
    """Memberships may be lists, arrays, frames or sparse of any format; every measure agrees with the dense array."""
    first, second, reversed_too = plain_memberships()
    assert everything(data, SIX) == pytest.approx(first, rel=1e-12, abs=1e-12)
    assert everything(SIX, data) == pytest.approx(second, rel=1e-12, abs=1e-12)
    assert everything(data, U[::-1]) == pytest.approx(reversed_too, rel=1e-12, abs=1e-12)


def test_wholly_certain_memberships_are_labels():
    """Memberships of 0 and 1 score the same as the labels they represent, for every measure that takes memberships."""
    one_hot = np.eye(4)[[x - 1 for x in OTHER]]
    soft, hard = everything(NUMBERS, one_hot), everything(NUMBERS, OTHER)
    assert soft == pytest.approx({key: hard[key] for key in soft}, rel=1e-9, abs=1e-9)


def test_a_frame_of_memberships_names_its_clusters():
    """Columns of a frame, or names passed, are the clusters' names in the table."""
    assert cg.contingency(pd.DataFrame(U, columns=["p", "q"]), SIX).rows == ("p", "q")
    assert cg.contingency(cg.Memberships(U, names=["u", "v"]), SIX).rows == ("u", "v")


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_an_empty_cluster_is_dropped_with_a_note(make):
    """A membership column that is all zero is not a cluster: it is left out, and the result says so."""
    padded = make(np.column_stack([U[:, 0], np.zeros(6), U[:, 1]]))
    result = cg.compare(padded, SIX, ["ari", "accuracy"])
    assert result.n_clusters == (2, 3)
    assert dict(result) == pytest.approx(dict(cg.compare(U, SIX, ["ari", "accuracy"])), rel=1e-12)
    assert any("clusters without any membership were dropped: 1" in note for note in result.cautions)


def test_memberships_a_rounding_above_one_pass():
    """Sums of floats may exceed 1 by 1e-7; that is not an error."""
    assert cg.ari(np.where(U == 1, 1 + 1e-7, U), SIX) == pytest.approx(cg.ari(U, SIX), rel=1e-5)


def test_possibilistic_memberships_get_a_caution():
    """Rows that do not add up to 1 are taken, and the result says what that means for entropies."""
    result = cg.compare(U * 0.5, SIX)
    assert any("possibilistic" in note for note in result.cautions)
    assert not any("possibilistic" in note for note in cg.compare(U, SIX).cautions)


# --- weights ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mass", "text"),
    [
        ({"sample_weight": [1, 2]}, r"sample_weight has shape \(2,\), but there are 6 points"),
        ({"sample_weight": 3}, "but there are 6 points"),
        ({"sample_weight": [[1]] * 6}, "but there are 6 points"),
        ({"sample_weight": [1, 1, 1, 1, 1, -1]}, "sample_weight must be finite, not missing and not negative"),
        ({"sample_weight": [1, 1, 1, 1, 1, np.nan]}, "sample_weight must be finite, not missing and not negative"),
        ({"sample_weight": [1, 1, 1, 1, 1, np.inf]}, "sample_weight must be finite, not missing and not negative"),
        ({"sample_weight": [0] * 6}, "sample_weight is 0 for every point"),
        ({"sample_weight": ["heavy"] * 6}, "sample_weight must be numbers"),
        ({"frequency": [1, 2]}, "frequency has shape"),
        ({"frequency": [1, 1, 1, 1, 1, -1]}, "frequency must be finite, not missing and not negative"),
        ({"frequency": [1, 1, 1, 1, 1, np.nan]}, "frequency must be finite, not missing and not negative"),
        ({"frequency": [0.5] * 6}, "frequency must be whole numbers"),
        ({"frequency": [0] * 6}, "frequency is 0 for every point"),
        ({"sample_weight": [1] * 6, "frequency": [1] * 6}, "sample_weight .* or frequency .*, not both"),
    ],
)
def test_weights_that_make_no_sense_are_refused(mass, text):
    """Negative, missing, fractional counts, all zero, of the wrong length, or both kinds: refused in one line."""
    for call in (
        lambda: cg.compare(SIX, SIX, **mass),
        lambda: cg.compare_all([SIX, SIX], **mass),
        lambda: cg.compare_to(SIX, [SIX], **mass),
    ):
        with pytest.raises(cg.InputError, match=text) as error:
            call()
        one_line(error)


@pytest.mark.parametrize("make", [list, np.array, pd.Series, pl.Series, pa.array])
def test_weights_of_every_kind(make):
    """Weights and counts may come as a list, an array, or a series of any library."""
    counts = [1, 2, 3, 1, 2, 1]
    b = [0, 1, 1, 1, 2, 0]
    assert cg.ari(SIX, b, sample_weight=make(counts)) == cg.ari(SIX, b, sample_weight=counts)
    repeated = [[x for x, c in zip(v, counts, strict=True) for _ in range(c)] for v in (SIX, b)]
    assert everything(SIX, b, frequency=make(counts)) == pytest.approx(everything(*repeated), rel=1e-12)


def test_a_sparse_matrix_in_a_dictionary_is_no_mapping():
    """A dok_array counts as a matrix where a mapping has another meaning: in ensembles, and as data of choose_k."""
    U = sp.dok_array(np.repeat(np.eye(3), 4, axis=0))
    with pytest.raises(cg.InputError, match=r"expected several clusterings .* got dok_array"):
        cg.Ensemble(U)
    assert cg.choose_k(U) == cg.choose_k(sp.csr_array(U))
