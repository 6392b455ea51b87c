"""Input validation: every form of a clustering gives the same result, and invalid input is refused in one line."""

from __future__ import annotations

import array
import datetime
from collections import deque
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import congruence as cg
from congruence.inputs.coerce import as_clustering

NUMBERS = [2, 0, 0, 5, 2, 2, 0, 5, 1, 1, 7, 7]
WORDS = [f"c{x}" for x in NUMBERS]
OTHER = [1, 1, 2, 2, 3, 1, 1, 3, 3, 2, 1, 4]
#: memberships of six points
U = np.array([[0.5, 0.5], [1.0, 0.0], [0.0, 1.0], [0.25, 0.75], [1.0, 0.0], [0.0, 1.0]])
SIX = [0, 0, 1, 1, 2, 2]
INTEGERS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]


class OverDLPack:
    """An array of an unknown library that supports only DLPack."""

    def __init__(self, values: Any) -> None:
        self._values = np.asarray(values)

    def __dlpack__(self, **options: Any) -> Any:
        return self._values.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self._values.__dlpack_device__()


class OldDLPack(OverDLPack):
    """DLPack before 2023: no keyword but `stream`; with a length and a number of dimensions, as torch has."""

    def __dlpack__(self, stream: Any = None) -> Any:
        return self._values.__dlpack__()

    def __len__(self) -> int:
        return len(self._values)

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return self._values.ndim


def read_only(values: Any) -> Any:
    found = np.array(values)
    found.flags.writeable = False
    return found


def objects(values: Any) -> Any:
    found = np.empty(len(values), dtype=object)
    found[:] = values
    return found


def everything(a: Any, b: Any, **options: Any) -> dict[str, float]:
    """Every measure that applies."""
    return cg.compare(a, b, "all", **options).to_dict()


@cache
def plain(a: tuple[int, ...], b: tuple[int, ...]) -> dict[str, float]:
    """Every measure of two plain lists."""
    return everything(list(a), list(b))


@cache
def plain_numbers() -> tuple[dict[str, float], dict[str, float]]:
    """Every measure of the plain lists NUMBERS and OTHER, both ways."""
    return everything(NUMBERS, OTHER), everything(OTHER, NUMBERS)


@cache
def plain_memberships() -> tuple[dict[str, float], dict[str, float], dict[str, float]]:
    """Every measure of the plain array U with SIX, both ways, and with U reversed."""
    return everything(U, SIX), everything(SIX, U), everything(U, U[::-1])


def one_line(error: pytest.ExceptionInfo[BaseException]) -> str:
    message = str(error.value)
    assert "\n" not in message
    return message


# --- labels of every kind ---------------------------------------------------------------------------------------

DICTIONARIES = pa.chunked_array(
    [
        pa.DictionaryArray.from_arrays(pa.array([1, 0, 0, 2, 1]), ["c0", "c2", "c5", "never"]),
        pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 3, 3, 4, 4]), ["c2", "c0", "c5", "c1", "c7"]),
    ]
)
PIECES = pa.chunked_array([NUMBERS[:5], [], NUMBERS[5:]])

SAME_NUMBERS = {
    "tuple": tuple(NUMBERS),
    "deque": deque(NUMBERS),
    "array.array": array.array("i", NUMBERS),
    "memoryview": memoryview(np.array(NUMBERS)),
    "list of numpy integers": [np.int16(x) for x in NUMBERS],
    "list of floats": [float(x) for x in NUMBERS],
    "list of floats and integers": [float(x) if i % 2 else x for i, x in enumerate(NUMBERS)],
    **{f"numpy {np.dtype(t).name}": np.array(NUMBERS, dtype=t) for t in INTEGERS},
    "numpy big-endian": np.array(NUMBERS, dtype=">i4"),
    "numpy float16": np.array(NUMBERS, dtype=np.float16),
    "numpy float32": np.array(NUMBERS, dtype=np.float32),
    "numpy float64": np.array(NUMBERS, dtype=np.float64),
    "numpy longdouble": np.array(NUMBERS, dtype=np.longdouble),
    "numpy object": objects(NUMBERS),
    "numpy, one column": np.array(NUMBERS)[:, None],
    "numpy, strided": np.repeat(NUMBERS, 3)[::3],
    "numpy, backwards": np.array(NUMBERS[::-1])[::-1],
    "numpy, a column of C order": np.column_stack([NUMBERS, NUMBERS])[:, 1],
    "numpy, read-only": read_only(NUMBERS),
    "numpy, not aligned": np.array(list(zip(NUMBERS, NUMBERS, strict=True)), dtype=[("u", "i1"), ("v", "i4")])["v"],
    "masked, nothing hidden": np.ma.array(NUMBERS),
    "pandas int": pd.Series(NUMBERS),
    "pandas Int8": pd.Series(NUMBERS, dtype="Int8"),
    "pandas Float64": pd.Series(NUMBERS, dtype="Float64"),
    "pandas object": pd.Series(NUMBERS, dtype=object),
    "pandas arrow": pd.Series(NUMBERS, dtype="int16[pyarrow]"),
    "pandas category": pd.Series(NUMBERS).astype(pd.CategoricalDtype([9, 7, 5, 2, 1, 0])),
    "pandas Categorical": pd.Categorical(NUMBERS, categories=[9, 7, 5, 2, 1, 0]),
    "pandas Index": pd.Index(NUMBERS),
    "pandas frame of one column": pd.DataFrame({"x": NUMBERS}),
    "polars": pl.Series(NUMBERS),
    "polars UInt8": pl.Series(NUMBERS, dtype=pl.UInt8),
    "polars Float32": pl.Series(NUMBERS, dtype=pl.Float32),
    "polars frame of one column": pl.DataFrame({"x": NUMBERS}),
    "arrow": pa.array(NUMBERS),
    "arrow uint8": pa.array(NUMBERS, pa.uint8()),
    "arrow double": pa.array(NUMBERS, pa.float64()),
    "arrow, chunked": PIECES,
    "arrow dictionary": pa.array(NUMBERS).dictionary_encode(),
    "arrow table of one column": pa.table({"x": NUMBERS}),
    "DLPack": OverDLPack(NUMBERS),
    "DLPack, old": OldDLPack(NUMBERS),
}
SAME_WORDS = {
    "list": WORDS,
    "tuple": tuple(WORDS),
    "numpy str": np.array(WORDS),
    "numpy StringDType": np.array(WORDS, dtype=np.dtypes.StringDType()),
    "numpy object": objects(WORDS),
    "masked": np.ma.array(WORDS),
    "pandas str": pd.Series(WORDS, dtype="str"),
    "pandas string": pd.Series(WORDS, dtype="string"),
    "pandas object": pd.Series(WORDS, dtype=object),
    "pandas category": pd.Series(WORDS).astype(pd.CategoricalDtype(["zz", *sorted(set(WORDS), reverse=True)])),
    "polars": pl.Series(WORDS),
    "polars Categorical": pl.Series(WORDS, dtype=pl.Categorical),
    "polars Enum": pl.Series(WORDS, dtype=pl.Enum(["zz", *sorted(set(WORDS), reverse=True)])),
    "arrow": pa.array(WORDS),
    "arrow large_string": pa.array(WORDS, pa.large_string()),
    "arrow, chunked": pa.chunked_array([WORDS[:4], WORDS[4:]]),
    "arrow dictionary": pa.array(WORDS).dictionary_encode(),
    "arrow dictionaries, chunked": DICTIONARIES,
}


@pytest.mark.parametrize("name", SAME_NUMBERS)
def test_numbers_of_every_kind_give_the_result_of_the_plain_list(name):
    """Numbers in any container and of any type are the same labels: same table, names and scores."""
    data = SAME_NUMBERS[name]
    table = cg.contingency(data, OTHER)
    assert table.rows == (0, 1, 2, 5, 7)
    assert table.to_array().tolist() == cg.contingency(NUMBERS, OTHER).to_array().tolist()
    assert (everything(data, OTHER), everything(OTHER, data)) == plain_numbers()
    both = cg.compare_all({"x": data, "y": OTHER}, ["ari", "vi"])
    plain = cg.compare_all({"x": NUMBERS, "y": OTHER}, ["ari", "vi"])
    assert both["ari"].tolist() == plain["ari"].tolist()
    assert both["vi"].tolist() == plain["vi"].tolist()


@pytest.mark.parametrize("name", SAME_WORDS)
def test_words_of_every_kind_give_the_result_of_the_plain_list(name):
    """Strings and categories are labels; a category that no point has is not a cluster."""
    data = SAME_WORDS[name]
    table = cg.contingency(data, OTHER)
    assert table.rows == ("c0", "c1", "c2", "c5", "c7")
    assert everything(data, OTHER) == plain_numbers()[0]
    assert cg.compare_all([data, OTHER])["ari"].tolist() == cg.compare_all([NUMBERS, OTHER])["ari"].tolist()


def test_bytes_and_booleans_are_labels():
    """Byte strings and truth values, from any library, are labels like any other."""
    truth = [x > 1 for x in NUMBERS]
    expected = everything([int(x) for x in truth], OTHER)
    for data in (
        truth,
        np.array(truth),
        np.repeat(truth, 2)[::2],
        pd.Series(truth),
        pd.Series(truth, dtype="boolean"),
        pl.Series(truth),
        pa.array(truth),
        OverDLPack(np.array(truth)),
    ):
        assert everything(data, OTHER) == expected
        assert cg.contingency(data, OTHER).rows == (False, True)
    assert everything(np.array(WORDS, dtype="S"), OTHER) == everything(NUMBERS, OTHER)


def test_fractional_floats_are_labels_in_every_precision():
    """Labels like 0.5 and 1.5 may be half, single, double or long double, in either byte order; none of them warns."""
    half = [x + 0.5 for x in NUMBERS]
    expected = everything(NUMBERS, OTHER)
    for kind in (np.float16, np.float32, np.float64, np.longdouble, ">f8"):
        assert everything(np.array(half, dtype=kind), OTHER) == expected, kind


def test_zero_and_minus_zero_are_one_label():
    """0.0 == −0.0, so they are the same cluster even among fractional labels."""
    assert cg.contingency([0.0, -0.0, 0.5, 0.5], [0, 0, 1, 1]).shape == (2, 2)


def test_infinities_and_enormous_floats_are_labels():
    """Infinite values and floats beyond every integer type are distinct labels like any others."""
    labels = [np.inf, np.inf, -np.inf, 1e300, 1e300, 1e300] * 4
    plain = [2, 2, 0, 1, 1, 1] * 4
    assert everything(labels, OTHER * 2) == everything(plain, OTHER * 2)


@pytest.mark.slow
@pytest.mark.parametrize("kind", INTEGERS)
@settings(derandomize=True, deadline=None, max_examples=40)
@given(st.data())
def test_integers_anywhere_in_the_range_of_their_type_stay_apart(kind, data):
    """For any integers, codes and names are those of numpy.unique, and the table is right."""
    limits = np.iinfo(kind)
    edges = [limits.min, limits.max, limits.min // 2, limits.max // 2]
    some = st.lists(st.integers(limits.min, limits.max) | st.sampled_from(edges) | st.integers(0, 5), min_size=1)
    values = np.array(data.draw(some), dtype=kind)
    names, codes = np.unique(values, return_inverse=True)
    labels = as_clustering(values)
    assert labels.codes.tolist() == codes.tolist()
    assert [int(x) for x in labels.names] == names.tolist()
    table = cg.contingency(values, values)
    assert [int(x) for x in table.rows] == names.tolist()
    assert table.to_array().tolist() == np.diag(np.bincount(codes)).tolist()


def test_narrow_integers_do_not_wrap():
    """int8 labels −100, 50 and −5 are three clusters, though 50 − (−100) does not fit in int8."""
    values = [-100, 100, 50, -5, 0, 0, -100]
    for kind in (np.int8, np.int16, np.int64):
        labels = as_clustering(np.array(values, dtype=kind))
        assert labels.codes.tolist() == [0, 4, 3, 1, 2, 2, 0]
        assert labels.names.tolist() == [-100, -5, 0, 50, 100]
        assert cg.ari(np.array(values, dtype=kind), values) == 1.0


@pytest.mark.parametrize(
    "values",
    [
        [2**63 + 5, 2**63 + 9, 2**63 + 5, 2**63 + 6],
        [2**64 - 1, 0, 2**64 - 1, 1],
        [2**60, 2**60 + 1, 2**60, 2**60 + 2],
        [2**63, 2**63 + 1, -1, 2**63],
        [2**70, 2**70 + 1, 3, 2**70],
        [-(2**63), -(2**63) + 1, 2**63 - 1, -(2**63)],
        [10**9, -(10**9), 0, 10**9],
    ],
)
def test_huge_integers_in_a_list_stay_apart(values):
    """Integers of any size, of which neighbours differ by one, are different labels and keep their names."""
    first = sorted(set(values))
    table = cg.contingency(values, [first.index(x) for x in values])
    assert list(table.rows) == first
    assert (table.to_array() > 0).tolist() == np.eye(3, dtype=bool).tolist()
    assert cg.compare_all([values, values])["ari"].tolist() == [[1.0, 1.0], [1.0, 1.0]]


def test_huge_integers_survive_beside_missing_values():
    """2⁶⁰ and 2⁶⁰ + 1 stay apart, and uint64 above 2⁶³ stays whole, where other points have no label."""
    big = [2**60, 2**60 + 1, None, 2**60]
    high = [2**63 + 1, 2**63 + 2, None, 2**63 + 1]
    for values in (
        big,
        pd.Series(big, dtype="Int64"),
        pl.Series(big),
        pa.array(big),
        np.ma.array([2**60, 2**60 + 1, 0, 2**60], mask=[0, 0, 1, 0]),
        [*big[:2], float("nan"), big[3]],
    ):
        assert cg.contingency(values, [0, 1, 1, 0], unassigned="drop").rows == (2**60, 2**60 + 1)
    for values in (
        high,
        pd.Series(high, dtype="UInt64"),
        pl.Series(high, dtype=pl.UInt64),
        pa.array(high, pa.uint64()),
    ):
        assert cg.contingency(values, [0, 1, 1, 0], unassigned="drop").rows == (2**63 + 1, 2**63 + 2)


@pytest.mark.parametrize(
    ("clusters", "kind"), [(2, np.uint8), (255, np.uint8), (256, np.uint16), (65_535, np.uint16), (65_536, np.int32)]
)
def test_codes_take_the_smallest_type(clusters, kind):
    """Labels are encoded to the smallest type that holds 0 … k, k being the code of a point in no cluster."""
    numbers = np.arange(clusters) * 3 - 7
    kinds = [numbers, numbers.astype(float), *([pa.array(numbers).cast(pa.string())] if clusters < 1000 else [])]
    for values in kinds:
        labels = as_clustering(values)
        assert labels.codes.dtype == kind
        assert labels.k == clusters


def test_mixed_types_are_told_apart():
    """1 and '1' in one list are two labels; labels that cannot be compared are ordered by type and text."""
    assert cg.contingency([1, "1", 1, 2.5], [0, 1, 0, 1]).rows == (2.5, 1, "1")
    assert cg.contingency(objects([("a", 1), "a", None, ("a", 1)]), [0, 1, 1, 0], unassigned="drop").shape == (2, 2)


def test_clusters_are_ordered_by_label():
    """Rows and columns of a table are the sorted labels, for any order of points and categories."""
    table = cg.contingency(pd.Categorical(["b", "a", "c"], categories=["c", "b", "a"], ordered=True), [30, 4, 100])
    assert table.rows == ("a", "b", "c")
    assert table.columns == (4, 30, 100)


def test_interval_categories_are_labels():
    """The result of pandas.cut is a clustering whose clusters can be printed, matched and renamed."""
    binned = pd.cut(pd.Series([1, 2, 3, 4, 5, 6]), 3)
    assert cg.ari(binned, SIX) == 1.0
    assert cg.relabel(SIX, binned).tolist() == SIX


# --- several clusterings at once --------------------------------------------------------------------------------

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
    """e[1] and e['second'] are the same member; a name that is not there is answered with the names there are."""
    ensemble = cg.Ensemble(COLUMNS)
    assert ensemble["second"] is ensemble[1]
    assert list(ensemble)[1] is ensemble[1]
    assert "3 clusterings of 12 points" in repr(ensemble)
    with pytest.raises((KeyError, cg.InputError), match="second"):
        ensemble["secnd"]


# --- memberships ------------------------------------------------------------------------------------------------


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
    """Memberships of 0 and 1 score what the labels they stand for score, for every measure that takes memberships."""
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


def test_possibilistic_memberships_are_said_to_be():
    """Rows that do not add up to 1 are taken, and the result says what that means for entropies."""
    result = cg.compare(U * 0.5, SIX)
    assert any("possibilistic" in note for note in result.cautions)
    assert not any("possibilistic" in note for note in cg.compare(U, SIX).cautions)


# --- points in no cluster ---------------------------------------------------------------------------------------

GAPPED = {
    "None": [2, None, 0, None, 1, 1],
    "NaN in a list": [2, float("nan"), 0, float("nan"), 1, 1],
    "None and NaN": [2, None, 0, float("nan"), 1, 1],
    "NaN in an array": np.array([2, np.nan, 0, np.nan, 1, 1]),
    "NaN in float32": np.array([2, np.nan, 0, np.nan, 1, 1], dtype=np.float32),
    "NaN in float16": np.array([2, np.nan, 0, np.nan, 1, 1], dtype=np.float16),
    "NaN among fractions": [2.5, float("nan"), 0.5, float("nan"), 1.5, 1.5],
    "object": objects([2, None, 0, np.nan, 1, 1]),
    "pandas NA in a list": [2, pd.NA, 0, pd.NA, 1, 1],
    "pandas NA among words": ["c", pd.NA, "a", None, "b", "b"],
    "pandas NA among mixed": ["c", pd.NA, 0, None, 1, 1],
    "pandas Int64": pd.Series([2, None, 0, None, 1, 1], dtype="Int64"),
    "pandas float": pd.Series([2, None, 0, None, 1, 1]),
    "pandas object": pd.Series([2, None, 0, pd.NA, 1, 1], dtype=object),
    "pandas object, mixed": pd.Series(["2", None, 0, pd.NA, 1, 1], dtype=object),
    "pandas str": pd.Series(["c", None, "a", None, "b", "b"]),
    "pandas category": pd.Series(["c", None, "a", None, "b", "b"], dtype="category"),
    "polars": pl.Series([2, None, 0, None, 1, 1]),
    "polars NaN and null": pl.Series([2.0, None, 0.0, float("nan"), 1.0, 1.0]),
    "polars words": pl.Series(["c", None, "a", None, "b", "b"]),
    "polars Categorical": pl.Series(["c", None, "a", None, "b", "b"], dtype=pl.Categorical),
    "arrow": pa.array([2, None, 0, None, 1, 1]),
    "arrow uint8": pa.array([2, None, 0, None, 1, 1], pa.uint8()),
    "arrow double": pa.array([2, None, 0, float("nan"), 1, 1], pa.float64()),
    "arrow words": pa.array(["c", None, "a", None, "b", "b"]),
    "arrow, chunked": pa.chunked_array([[2, None], [0, None, 1, 1]]),
    "arrow dictionary": pa.array(["c", None, "a", None, "b", "b"]).dictionary_encode(),
    "arrow dictionary with a null word": pa.DictionaryArray.from_arrays(
        pa.array([0, 1, 2, None, 3, 3]), pa.array(["c", None, "a", "b"])
    ),
    "masked": np.ma.array([2, 9, 0, 9, 1, 1], mask=[0, 1, 0, 1, 0, 0]),
    "masked words": np.ma.array(["c", "z", "a", "z", "b", "b"], mask=[0, 1, 0, 1, 0, 0]),
    "masked floats": np.ma.array([2.0, 9.0, 0.0, np.nan, 1.0, 1.0], mask=[0, 1, 0, 0, 0, 0]),
}


@pytest.mark.parametrize("name", GAPPED)
def test_missing_labels_of_every_kind_are_unassigned(name):
    """None, NaN, NA, null and masked values mean "in no cluster" and never silently form a cluster."""
    data = GAPPED[name]
    result = cg.compare(data, SIX, "all", unassigned="drop")
    assert result.n_used == 4
    assert result.to_dict() == pytest.approx(plain((2, 0, 1, 1), (0, 1, 2, 2)), rel=1e-12, nan_ok=True)
    with pytest.raises(cg.InputError, match="2 of 6 points are unassigned"):
        cg.compare(data, SIX)
    assert cg.compare_all([data, SIX], unassigned="drop").n_used.tolist() == [[4, 4], [4, 6]]


def random_gapped(seed: int, members: int = 4, n: int = 60) -> list[list[Any]]:
    """Label vectors with a fifth of the points in no cluster; all have the same number of clusters, for lambda."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(members):
        labels = rng.integers(0, 4, n).astype(object)
        labels[rng.random(n) < 0.2] = None
        found.append(labels.tolist())
    return found


def mass_of(kind: str | None, n: int) -> dict[str, Any]:
    rng = np.random.default_rng(5)
    if kind is None:
        return {}
    return {kind: rng.random(n) + 0.1 if kind == "sample_weight" else rng.integers(0, 4, n)}


@pytest.mark.parametrize("kind", [None, "sample_weight", "frequency"])
def test_dropping_is_comparing_the_rest(kind):
    """unassigned='drop' compares the points that both label, for every measure, with and without weights, in every function."""
    vectors = random_gapped(3, members=3)
    mass = mass_of(kind, 60)
    matrix = cg.compare_all(vectors, "all", unassigned="drop", **mass)
    against = cg.compare_to(vectors[0], vectors[1:], "all", unassigned="drop", **mass)
    assert len(matrix.keys()) >= 36 - 5
    for i, a in enumerate(vectors):
        for j, b in enumerate(vectors):
            kept = [p for p in range(60) if a[p] is not None and b[p] is not None]
            rest = {name: values[kept] for name, values in mass.items()}
            by_hand = cg.compare([a[p] for p in kept], [b[p] for p in kept], "all", **rest)
            direct = cg.compare(a, b, "all", unassigned="drop", **mass)
            used = int(mass["frequency"][kept].sum()) if kind == "frequency" else len(kept)
            assert direct.n_used == by_hand.n_used == matrix.n_used[i, j] == used
            assert direct.to_dict() == pytest.approx(by_hand.to_dict(), rel=1e-9, abs=1e-9)
            assert direct.table.to_array() == pytest.approx(by_hand.table.to_array(), rel=1e-12)
            for key in matrix:
                assert matrix[key][i, j] == pytest.approx(by_hand[key], rel=1e-9, abs=1e-9), key
            if i == 0 and j > 0:
                assert against.n_used[j - 1] == used
                for key in against:
                    assert against[key][j - 1] == pytest.approx(by_hand[key], rel=1e-9, abs=1e-9), key


@pytest.mark.parametrize("kind", [None, "sample_weight", "frequency"])
def test_clusters_that_lose_all_their_points_are_gone(kind):
    """A cluster whose points are all dropped does not count: not for accuracy, not for the number of clusters."""
    a = [0, 0, 1, 1, 9, 9]
    b = [0, 0, 1, 1, None, None]
    mass = mass_of(kind, 6) if kind != "frequency" else {"frequency": [1, 2, 1, 3, 1, 1]}
    result = cg.compare(a, b, ["ari", "accuracy", "psi", "lambda"], unassigned="drop", **mass)
    assert result.n_clusters == (2, 2)
    assert result.table.rows == (0, 1)
    assert (result["ari"], result["accuracy"], result["psi"]) == (1.0, 1.0, 1.0)
    assert cg.compare_all([a, b], ["psi"], unassigned="drop", **mass)["psi"][0, 1] == pytest.approx(1.0, rel=1e-12)


@pytest.mark.parametrize("kind", [None, "sample_weight", "frequency"])
def test_members_without_a_common_point_are_undefined_and_named(kind):
    """Two members that label no point in common score NaN by every measure, and the cautions name them."""
    keys = list(cg.compare([0, 0, 1, 1], [0, 1, 1, 1], "all"))
    if kind == "sample_weight":
        keys = [key for key in keys if cg.measure(key).takes_weights]
    assert len(keys) > 40
    vectors = {"left": [0, 0, 1, 1, None, None, None], "right": [None] * 4 + [0, 1, 1], "whole": [0, 0, 1, 1, 0, 1, 0]}
    mass = mass_of(kind, 7) if kind != "frequency" else {"frequency": [1, 2, 1, 1, 3, 1, 1]}
    result = cg.compare_all(vectors, keys, unassigned="drop", **mass)
    against = cg.compare_to("left", vectors, keys, unassigned="drop", **mass)
    for key in keys:
        assert np.isnan(result[key][[0, 1], [1, 0]]).all(), key
        assert not np.isnan(result[key][[0, 1, 2, 2], [0, 1, 0, 1]]).any(), key
        assert np.isnan(against[key]).tolist() == [True, False], key
    assert result.n_used[0, 1] == 0
    assert any("left and right" in note for note in result.cautions)
    assert any("right" in note for note in against.cautions)


def test_a_member_without_any_point_is_named():
    """A member that labels no point at all is undefined everywhere, itself included, and is named."""
    result = cg.compare_all({"none": [None] * 4, "some": [0, 0, 1, 1]}, ["ari", "vi"], unassigned="drop")
    assert np.isnan(result["ari"]).tolist() == [[True, True], [True, False]]
    assert any("no point is assigned in: none" in note for note in result.cautions)


def test_one_pair_without_a_common_point_is_refused():
    """For a single pair without common points there is no result: an error says so."""
    with pytest.raises(cg.InputError, match="no point is assigned in both clusterings") as error:
        cg.compare([None, None, 1], [0, 0, None], unassigned="drop")
    one_line(error)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [None, "sample_weight", "frequency"])
def test_singletons_and_cluster_say_what_unassigned_points_are(kind):
    """'singletons' gives each unassigned point a cluster of its own, 'cluster' puts them all in one."""
    a, b = random_gapped(11, members=2)
    mass = mass_of(kind, 60)
    alone = [[f"alone {i}" if x is None else str(x) for i, x in enumerate(v)] for v in (a, b)]
    together = [["together" if x is None else str(x) for x in v] for v in (a, b)]
    for policy, (left, right) in (("singletons", alone), ("cluster", together)):
        got = cg.compare(a, b, "all", unassigned=policy, **mass)
        wanted = cg.compare(left, right, "all", **mass)
        assert got.to_dict() == pytest.approx(wanted.to_dict(), rel=1e-9, abs=1e-9)
        assert got.n_used == wanted.n_used
        matrix = cg.compare_all([a, b], ["ari", "vi", "accuracy"], unassigned=policy, **mass)
        for key in matrix:
            assert matrix[key][0, 1] == pytest.approx(wanted[key], rel=1e-9, abs=1e-9)


def test_the_cluster_of_the_unassigned_does_not_meet_a_label_of_that_name():
    """Points labelled 'unassigned' and points without a label are two clusters with two names."""
    table = cg.contingency(["unassigned", "unassigned", None, "b"], [0, 0, 1, 1], unassigned="cluster")
    assert table.shape == (3, 2)
    assert len(set(table.rows)) == 3


def test_memberships_with_labels_that_have_gaps():
    """Memberships have no unassigned points; with labels that have gaps, 'drop' is refused and 'cluster' works."""
    gaps = [None, *SIX[1:]]
    with pytest.raises(cg.InputError, match="not defined between memberships and labels with gaps") as error:
        cg.compare(U, gaps, unassigned="drop")
    one_line(error)
    assert cg.ari(U, gaps, unassigned="cluster") == cg.ari(U, ["z", *(str(x) for x in SIX[1:])])


# --- noise ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("noise", [-1, {-1}, [-1], (-1,), np.array([-1]), "-1", frozenset([-1, 99])])
@pytest.mark.parametrize("make", [list, np.array, pd.Series, pl.Series, pa.array, lambda x: [str(v) for v in x]])
def test_noise_labels_are_unassigned(noise, make):
    """Labels named as noise, by number or by text, in any container, count as missing."""
    a = make([0, 0, 1, 1, -1, -1])
    b = make([0, -1, 1, 1, 0, 1])
    result = cg.compare(a, b, "all", noise=noise, unassigned="drop")
    assert result.n_used == 3
    assert result.to_dict() == pytest.approx(plain((0, 1, 1), (0, 1, 1)), nan_ok=True)
    with pytest.raises(cg.InputError, match="2 of 6 points are unassigned") as error:
        cg.compare(a, b, noise=noise)
    assert "unassigned='drop'" in one_line(error)


def test_several_noise_labels_and_categories():
    """A set of noise labels applies to all columns; categories and strings are matched by name."""
    words = ["a", "b", "unknown", "b", "doublet", "a"]
    for data in (words, pd.Series(words, dtype="category"), pl.Series(words, dtype=pl.Categorical)):
        result = cg.compare(data, SIX, "ari", noise={"unknown", "doublet"}, unassigned="drop")
        assert result.n_used == 4
        assert result.n_clusters[0] == 2
    coded = pd.Series([-1, 0, 1, 1, 0, 0], dtype="category")
    assert cg.compare(coded, SIX, "ari", noise=-1, unassigned="drop").n_used == 5


def test_noise_by_column():
    """A mapping names the noise of some columns only: by name in an ensemble, by series name or a/b in a pair."""
    x, y = [-1, 0, 0, 1, 1, 1], [0, 0, -1, -1, 1, 1]
    result = cg.compare_all({"x": x, "y": y}, noise={"x": -1}, unassigned="drop")
    assert result.n_used.tolist() == [[5, 5], [5, 6]]
    result = cg.compare_all({"x": x, "y": y}, noise={"x": -1, "y": {-1, 0}}, unassigned="drop")
    assert result.n_used.tolist() == [[5, 2], [2, 2]]
    assert cg.compare(x, y, noise={"b": -1}, unassigned="drop").n_used == 4
    assert cg.compare(pd.Series(x, name="hdbscan"), y, noise={"hdbscan": [-1]}, unassigned="drop").n_used == 5
    assert cg.compare_to("x", {"x": x, "y": y}, noise={"y": -1}, unassigned="drop").n_used.tolist() == [4]


def test_noise_that_no_point_has_changes_nothing():
    """Noise labels that do not occur, of any type, are accepted and leave every point in."""
    assert cg.compare([-1, 0, 0], [0, 0, 1], noise=-1.0, unassigned="drop").n_used == 2
    for noise in (-1, 99, "x", 0.5, float("nan"), float("inf"), None, set()):
        assert cg.compare(SIX, SIX[::-1], "ari", noise=noise).n_used == 6


@pytest.mark.parametrize(
    "data",
    [
        [-1, 0, 1, 1, 0, 0],
        np.array([-1, 0, 1, 1, 0, 0], dtype=np.int8),
        np.array([-1.0, 0, 1, 1, 0, 0]),
        pd.Series([-1, 0, 1, 1, 0, 0], dtype="Int64"),
        pd.Series([-1, 0, 1, 1, 0, 0], dtype="category"),
        pl.Series([-1, 0, 1, 1, 0, 0]),
        pa.array([-1, 0, 1, 1, 0, 0]).dictionary_encode(),
    ],
    ids=lambda x: str(getattr(x, "dtype", type(x).__name__)),
)
def test_minus_one_among_other_labels_is_pointed_out(data):
    """−1 among non-negative labels often means noise: the result says it was counted as a cluster."""
    for result in (cg.compare(data, SIX), cg.compare_all({"a": data, "b": SIX}), cg.compare_to(SIX, {"a": data})):
        assert any("a has label −1 among others" in note for note in result.cautions)
    silent = cg.compare(data, SIX, noise=-1, unassigned="drop")
    assert not any("−1" in note for note in silent.cautions)


@pytest.mark.parametrize("policy", ["drop", "cluster", "singletons"])
def test_minus_one_is_pointed_out_whatever_becomes_of_missing_labels(policy):
    """The word on −1 does not depend on what is done with points that have no label at all."""
    result = cg.compare([-1, 0, 1, 1, 0, None], SIX, unassigned=policy)
    assert any("label −1" in note for note in result.cautions)


def test_minus_one_is_not_pointed_out_where_it_is_an_ordinary_label():
    """All −1, or −1 among other negative labels, does not suggest noise."""
    for data in ([-1] * 6, [-2, -1, 0, 0, 1, 1], [0, 1, 2, 0, 1, 2]):
        assert not cg.compare(data, SIX).cautions


# --- alignment --------------------------------------------------------------------------------------------------

FIRST = pd.Series([0, 0, 1, 1, 2], index=list("vwxyz"), name="first")
SHUFFLED = pd.Series([5, 3, 4, 3, 4], index=list("zvxwy"), name="shuffled")
SHORTER = pd.Series([1, 0, 0, 9], index=list("ywvq"), name="shorter")


def test_the_same_elements_in_another_order_must_be_asked_for():
    """Two series with the same index in another order are not silently compared by position."""
    with pytest.raises(cg.InputError, match="same elements in a different order; pass align='index'") as error:
        cg.compare(FIRST, SHUFFLED)
    one_line(error)
    assert cg.ari(FIRST, SHUFFLED, align="index") == 1.0
    assert cg.ari(FIRST, SHUFFLED, align="position") == cg.ari(FIRST.tolist(), SHUFFLED.tolist())
    assert cg.compare_all([FIRST, SHUFFLED], align="index")["ari"][0, 1] == 1.0
    assert cg.compare_to(FIRST, [SHUFFLED], align="index")["ari"][0] == 1.0


def test_different_elements_must_be_asked_for():
    """Indexes that differ raise; align='index' compares the common elements and says how many were left out."""
    with pytest.raises(cg.InputError, match="indexes of a and b differ; pass align='index'") as error:
        cg.compare(FIRST, SHORTER)
    one_line(error)
    result = cg.compare(FIRST, SHORTER, "all", align="index")
    assert result.n_used == 3
    assert result.to_dict() == everything([0, 0, 1], [0, 0, 1])
    assert any("2 elements of a are not in all clusterings" in note for note in result.cautions)
    assert any("1 elements of b are not in all clusterings" in note for note in result.cautions)
    matrix = cg.compare_all([FIRST, SHUFFLED, SHORTER], align="index")
    assert matrix.n_used.tolist() == [[3] * 3] * 3
    assert matrix["ari"].tolist() == [[1.0] * 3] * 3


def test_the_same_index_or_none_needs_no_word():
    """Equal indexes, repeated values among them, or a list and a series, are compared by position."""
    twice = pd.Series([0, 0, 1], index=["a", "a", "b"])
    assert cg.ari(twice, twice) == 1.0
    assert cg.ari(FIRST, [0, 0, 1, 1, 2]) == 1.0
    assert cg.ari(FIRST, np.array([0, 0, 1, 1, 2])) == 1.0
    assert cg.ari(FIRST, pl.Series([0, 0, 1, 1, 2])) == 1.0


def test_weights_in_a_series_follow_the_index():
    """Weights with an index are aligned with their elements; an index that does not match is an error."""
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


def test_weights_that_name_an_element_twice_are_refused():
    """Two weights for one element: the error says what is wrong, not what pandas could not do."""
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
        (FIRST, pd.Series([0], index=["k"]), "index", "have no element in common"),
        (FIRST, SHORTER, "position", "have 5 and 4 elements"),
        (FIRST, FIRST, "rows", "align must be 'index' or 'position', not 'rows'"),
    ],
)
def test_what_cannot_be_aligned_is_refused(a, b, align, text):
    """Repeated values, a missing index, nothing in common, other lengths: each has its own message."""
    with pytest.raises(cg.InputError, match=text) as error:
        cg.compare(a, b, align=align)
    one_line(error)


# --- weights ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mass", "text"),
    [
        ({"sample_weight": [1, 2]}, r"sample_weight has shape \(2,\), but there are 6 points"),
        ({"sample_weight": 3}, "but there are 6 points"),
        ({"sample_weight": [[1]] * 6}, "but there are 6 points"),
        ({"sample_weight": [1, 1, 1, 1, 1, -1]}, "sample_weight must be finite and not negative"),
        ({"sample_weight": [1, 1, 1, 1, 1, np.nan]}, "sample_weight must be finite and not negative"),
        ({"sample_weight": [1, 1, 1, 1, 1, np.inf]}, "sample_weight must be finite and not negative"),
        ({"sample_weight": [0] * 6}, "sample_weight is 0 for every point"),
        ({"sample_weight": ["heavy"] * 6}, "sample_weight must be numbers"),
        ({"frequency": [1, 2]}, "frequency has shape"),
        ({"frequency": [1, 1, 1, 1, 1, -1]}, "frequency must be finite and not negative"),
        ({"frequency": [1, 1, 1, 1, 1, np.nan]}, "frequency must be finite and not negative"),
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


# --- what is no clustering --------------------------------------------------------------------------------------

CUBE = np.zeros((2, 2, 2))
BAD = {
    "lengths": (SIX, SIX[1:], "a and b have 6 and 5 elements"),
    "empty list": ([], [], "a: there are no points"),
    "empty array": (np.array([]), SIX, "a: there are no points"),
    "empty series": (SIX, pd.Series([], dtype=object), "b: there are no points"),
    "empty polars": (SIX, pl.Series([], dtype=pl.String), "b: there are no points"),
    "empty arrow": (SIX, pa.array([], pa.int64()), "b: there are no points"),
    "empty memberships": (np.empty((0, 2)), SIX, "a: there are no points"),
    "three dimensions": (CUBE, SIX, "a: expected 1-D labels or 2-D memberships, got a 3-D array"),
    "no dimension": (np.array(3), SIX, "a: expected 1-D labels"),
    "a number": (SIX, 5, "b: expected one label per point .*, got int"),
    "nothing": (None, SIX, "a: expected one label per point .*, got NoneType"),
    "a string": (SIX, "abcdef", "b: expected one label per point .*, got str"),
    "bytes": (b"abcdef", SIX, "a: expected one label per point .*, got bytes"),
    "a mapping": ({0: 1}, SIX, "a: expected one label per point .*, got dict"),
    "a generator": ((x for x in SIX), SIX, "a: expected one label per point .*, got generator"),
    "a set": (set(SIX), [0, 1, 2], "a: expected one label per point .*, got set"),
    "negative memberships": (np.where(U == 0.25, -0.2, U), SIX, r"must not be negative \(row 3, column 0 is -0.2\)"),
    "missing memberships": (np.where(U == 0.25, np.nan, U), SIX, "must not be missing .row 3, column 0"),
    "memberships above 1": (np.where(U == 0.25, 1.1, U), SIX, "must not exceed 1 .row 3, column 0 is 1.1"),
    "infinite memberships": (np.where(U == 0.25, np.inf, U), SIX, "must not exceed 1"),
    "memberships of a lost point": (U * (np.arange(6) != 3)[:, None], SIX, "row 3 of the memberships is all zero"),
    "sparse negative": (sp.coo_array(np.where(U == 0.25, -1, U)), SIX, "must not be negative .row 3, column 0"),
    "sparse missing": (sp.csr_array(np.where(U == 0.25, np.nan, U)), SIX, "must not be missing .row 3, column 0"),
    "sparse lost point": (sp.csr_array(U * (np.arange(6) != 3)[:, None]), SIX, "row 3 .* is all zero"),
    "columns of integers": (np.array([SIX, SIX]).T, SIX, "a 2-D array of integers .* use compare_all"),
    "columns of strings": (np.array([WORDS, WORDS]).T, WORDS, "a 2-D array of strings .* use compare_all"),
    "frame of labels": (pd.DataFrame({"u": SIX, "v": SIX}), SIX, "a frame of 2 columns .* compare_all"),
    "polars frame of labels": (pl.DataFrame({"u": SIX, "v": WORDS[:6]}), SIX, "a frame of 2 columns .* compare_all"),
    "complex list": ([1j, 0, 0, 1, 2, 3], SIX, "complex numbers are not labels"),
    "complex array": (np.arange(6) * 1j, SIX, "a: complex numbers are not labels"),
    "dates": ([datetime.date(2024, 1, 1)] * 6, SIX, "look like dates"),
    "numpy dates": (np.arange(6).astype("M8[D]"), SIX, "look like dates"),
    "numpy durations": (np.arange(6).astype("m8[s]"), SIX, "look like dates"),
    "pandas dates": (pd.Series(pd.date_range("2024", periods=6)), SIX, "look like dates"),
    "pandas dates with a zone": (pd.Series(pd.date_range("2024", periods=6, tz="UTC")), SIX, "look like dates"),
    "polars dates": (pl.Series([datetime.date(2024, 1, 1)] * 6), SIX, "look like dates"),
    "arrow dates": (pa.array([datetime.date(2024, 1, 1)] * 6), SIX, "look like dates"),
    "not hashable": ([0, {}, 0, 1, 1, 1], SIX, r"label \{\} \(a dict\) at position 1 .* not hashable"),
    "a list among labels": ([0, [1], 0, 1, 1, 1], SIX, "different lengths|not hashable"),
    "ragged": ([[1, 2], [3]], [0, 1], "a list of lists of different lengths is neither labels nor memberships"),
    "an object with obs": (type("Data", (), {"obs": pd.DataFrame({"x": SIX})})(), SIX, r"x\.obs\['leiden'\]"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_no_clustering_is_refused_in_one_line(name):
    """Bad input is an InputError that says in one line which side is wrong, and what was expected."""
    a, b, text = BAD[name]
    with pytest.raises(cg.InputError, match=text) as error:
        cg.compare(a, b)
    one_line(error)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"measures": "aro"}, "there is no measure 'aro'; did you mean ari"),
        ({"measures": ["ari", "nmi_"]}, "there is no measure 'nmi_'; did you mean nmi_joint, nmi_max or nmi_sum?"),
        ({"measures": "zzzzzz"}, "`congruence measures` lists all"),
        ({"measures": []}, "no measures were named"),
        ({"measures": 3}, "measure"),
        ({"measures": [3]}, "there is no measure 3"),
        ({"measures": "lambda"}, "lambda is defined only for equal numbers of clusters, but these have 3 and 2"),
        ({"unassigned": "ignore"}, "unassigned must be 'error', 'drop', 'singletons' or 'cluster', not 'ignore'"),
        ({"align": "rows"}, "align must be"),
    ],
)
def test_options_that_are_wrong_are_refused_in_one_line(options, text):
    """Unknown measures are answered with the nearest names, unknown policies with the known ones, gaps or not."""
    with pytest.raises(cg.InputError, match=text) as error:
        cg.compare(SIX, [0, 0, 0, 1, 1, 1], **options)
    one_line(error)
    if "unassigned" in options:
        with pytest.raises(cg.InputError, match=text):
            cg.compare([None, *SIX[1:]], SIX, **options)
        with pytest.raises(cg.InputError, match=text):
            cg.compare_all([SIX, SIX], **options)


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ([], "there are no clusterings"),
        ({}, "there are no clusterings"),
        (np.empty((6, 0)), "there are no clusterings"),
        (np.empty((0, 3)), "clustering 0: there are no points"),
        (pd.DataFrame(), "there are no clusterings"),
        (SIX, "expected several clusterings, got one flat list of 6 labels"),
        (np.array(SIX), "expected several clusterings as a 2-D array"),
        (CUBE, "expected several clusterings as a 2-D array"),
        (5, "expected several clusterings .*, got int"),
        ("nowhere.csv", "there is no file nowhere.csv"),
        (pd.DataFrame([[0, 1], [1, 1]], columns=["x", "x"]), "two columns named 'x'"),
        ([SIX, SIX[1:]], "clustering 0 and clustering 1 have 6 and 5 elements"),
        ({"u": SIX, "v": [None, *SIX[1:]]}, "v: 1 of 6 points are unassigned"),
    ],
    ids=str,
)
def test_what_is_no_ensemble_is_refused_in_one_line(data, text):
    """The same for several clusterings: which one is wrong, and why."""
    with pytest.raises(cg.InputError, match=text) as error:
        cg.compare_all(data)
    one_line(error)


def test_other_refusals_of_the_border():
    """Names that do not fit, memberships of words, and an unknown reference have their own words."""
    for call, text in (
        (lambda: cg.Ensemble([SIX, SIX], names=["x"]), "1 names for 2 clusterings"),
        (lambda: cg.Memberships([["a", "b"]]), "memberships must be numbers"),
        (lambda: cg.Memberships([0.1, 0.9]), "must be a 2-D array"),
        (lambda: cg.Memberships(U, names=["p"]), "1 names for 2 clusters"),
        (lambda: cg.compare_to("tru", {"truth": SIX, "x": SIX}), "no clustering 'tru' .* did you mean truth?"),
        (lambda: cg.compare_to("truth", {"truth": SIX}), "no clusterings to compare with the reference"),
        (lambda: cg.compare_all([SIX, SIX], engine="abacus"), "engine 'abacus' is not available"),
        (lambda: cg.ari(SIX, SIX, engine=np.array([1, 2])), r"engine array\(\[1, 2\]\) is not available"),
        (lambda: cg.compare_all([SIX, SIX], threads=0), "threads must be at least 1"),
        (lambda: cg.measure("ari", beta=2), "ari has no parameter 'beta'; its parameters: none"),
        (lambda: cg.measure("v_measure", gamma=2), "v_measure has no parameter 'gamma'; its parameters: beta"),
        (lambda: cg.element_scores(SIX, SIX, sample_weight=[1] * 6), "element_scores scores single points"),
        (lambda: cg.relabel(SIX, U), "relabel renames labels"),
        (lambda: cg.compare(U, SIX, "ami_max"), "ami_max is not defined for soft memberships.*ari_gram"),
        (lambda: cg.compare(SIX, SIX, "ami_max", sample_weight=[2] * 6), "ami_max is not defined for sample_weight"),
    ):
        with pytest.raises(cg.InputError, match=text) as error:
            call()
        one_line(error)


def test_an_option_that_does_not_exist_is_not_swallowed():
    """A misspelt option is an error in every function that takes the options of compare."""
    for call in (cg.ari, cg.compare, cg.contingency, cg.match, cg.relabel, cg.element_scores):
        with pytest.raises((TypeError, cg.InputError), match="unasigned"):
            call(SIX, SIX, unasigned="drop")


def test_floats_that_look_like_measurements_warn():
    """A hundred different fractional values are probably not labels: a warning says so, and the result is given."""
    rng = np.random.default_rng(0)
    with pytest.warns(UserWarning, match="a: 100 different fractional values in 100 points look like measurements"):
        assert cg.ari(rng.random(100), np.zeros(100, dtype=int)) == 0.0
    assert cg.ari(rng.integers(0, 3, 100) + 0.5, np.zeros(100, dtype=int)) == 0.0


def test_noise_of_a_column_that_is_not_there_is_refused():
    """A misspelt column in the mapping of noise labels would silently leave noise in."""
    for call in (
        lambda: cg.compare(SIX, SIX, noise={"leidn": -1}),
        lambda: cg.compare_all({"leiden": SIX, "x": SIX}, noise={"leidn": -1}),
    ):
        with pytest.raises(cg.InputError, match="noise names an unknown column 'leidn'") as error:
            call()
        one_line(error)
    assert str(error.value).endswith("the columns are: leiden, x")  # each once


def test_noise_of_one_column_leaves_the_caution_of_another():
    """The word on −1 is silenced only for columns whose noise was named."""
    data = {"x": [-1, 0, 1, 1, 0, 0], "y": [-1, 0, 1, 1, 0, 0]}
    cautions = cg.compare_all(data, noise={"x": -1}, unassigned="drop").cautions
    assert [c for c in cautions if "label −1" in c] == [c for c in cautions if c.startswith("y has label −1")] != []


def test_noise_may_be_any_collection():
    """A series or a range of noise labels works like a list."""
    for noise in (pd.Series([-1]), range(-1, 0), {-1: "x"}.keys()):
        assert cg.compare([-1, 0, 0, 1], [0, 0, 0, 1], "ari", noise=noise, unassigned="drop").n_used == 3


def test_partial_is_for_ensembles():
    """A pair cannot be partial: the error names the allowed values."""
    with pytest.raises(cg.InputError, match="for a pair pass 'drop'"):
        cg.compare(SIX, SIX, unassigned="partial")


def test_a_measure_named_twice_with_different_parameters_is_refused():
    """Two forms of one measure would share a key in the result."""
    with pytest.raises(cg.InputError, match="v_measure is named twice"):
        cg.compare(SIX, SIX, [cg.measure("v_measure", beta=2), "v_measure"])


def test_noise_of_a_column_that_is_not_there():
    """The error lists every column once."""
    with pytest.raises(cg.InputError, match=r"unknown column 'z'; the columns are: a, b$"):
        cg.compare_all({"a": [0, 1], "b": [0, 1]}, "ari", noise={"z": 0})
