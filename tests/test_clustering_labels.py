"""Labels of every kind give the same result."""

from __future__ import annotations

import array
from collections import deque
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from clustering_cases import NUMBERS, OTHER, SIX, WORDS, OverDLPack, everything, objects, read_only
from hypothesis import given, settings
from hypothesis import strategies as st

import congruence as cg
from congruence.inputs.coerce import as_clustering

INTEGERS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]


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


@cache
def plain_numbers() -> tuple[dict[str, float], dict[str, float]]:
    """Every measure of the plain lists NUMBERS and OTHER, both ways."""
    return everything(NUMBERS, OTHER), everything(OTHER, NUMBERS)


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


def test_the_missing_number_of_r_is_missing():
    """NA of R is a signalling NaN; it is a missing label like any NaN, without a warning of numpy."""
    labels = np.array([1.0, 2.0, 0.0])
    labels[2:] = np.array([0x7FF00000000007A2], dtype=np.uint64).view(np.float64)
    assert as_clustering(labels).gaps == 1


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


def test_infinite_labels_are_labels():
    """inf and −inf are values like others; only NaN is missing."""
    inf = float("inf")
    assert cg.ari([1.5, inf, -inf, inf], [0, 1, 2, 1]) == 1.0
    assert cg.compare_all({"a": [1.5, inf, inf], "b": [0, 1, 1]})["ari"][0, 1] == 1.0
