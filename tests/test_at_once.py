"""One measure of two vectors without options: the same bits as from the table, by few functions."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from doors import on_route

import congruence as cg
from congruence.comparison import at_once
from congruence.engine import cpu
from congruence.engine.in_place import counted_in_place
from congruence.engine.plan import all_pairs
from congruence.statistics.pairs import Pairs

PAIRS = "compiled, pair by pair"
#: measures that read sums alone
KEYS = tuple(m.key for m in cg.measures() if m.needs in cpu.OF_SUMS)


def pairs() -> dict[str, tuple[Any, Any]]:
    """Two vectors of integers each: ordinary ones, and those with strange ranges, types and layouts."""
    rng = np.random.default_rng(0)
    a, b, n = rng.integers(0, 5, 60), rng.integers(0, 7, 60), 60
    near = np.where(rng.random(n) < 0.8, a, b)
    return {
        "independent": (a, b),
        "near": (a, near),
        "identical": (a, a * 3 - 8),
        "refined": (a, 10 * a + b),
        "one cluster": (a, np.zeros(n, int)),
        "both one cluster": (np.zeros(n, int), np.full(n, -3)),
        "singletons": (np.arange(n), rng.permutation(n)),
        "one against singletons": (np.zeros(n, int), np.arange(n)),
        "two points": (np.array([0, 1]), np.array([5, 5])),
        "more cells than are dense": (rng.integers(0, 90, 200), rng.integers(0, 90, 200)),
        "wide": (a * 10_000, b - 30_000),
        "too wide": (a * 2**40, b),
        "extremes": (np.where(a > 2, 2**63 - 1, -(2**63)), b),
        "bytes": (a.astype(np.uint8), b.astype(np.int8)),
        "large unsigned": (a.astype(np.uint64) + np.uint64(2**63), b.astype(np.uint64)),
        "strided": (np.repeat(a, 2)[::2], b[::-1]),
        "big-endian": (a.astype(">i4"), b),
        "large": (np.tile(a, 100), np.tile(near, 100)),
    }


def read_only(vector: Any) -> Any:
    """The same vector as an array that may not be written."""
    copy = vector.copy()
    copy.flags.writeable = False
    return copy


@pytest.mark.parametrize("route", ["numpy", PAIRS])
@pytest.mark.parametrize("which", pairs())
def test_the_bits_are_those_of_the_table(route, which):
    """By sums and by a table each measure has the same bits, interpreted and compiled."""
    a, b = pairs()[which]
    with on_route(route):
        for x, y in ((a, b), (b, a), (read_only(a), b)):
            table = cg.compare(x, y, KEYS)
            for key in KEYS:
                found = at_once.value_at_once(cg.measure(key), x, y)
                assert found is None or np.float64(found).tobytes() == np.float64(table[key]).tobytes(), key
                assert np.float64(getattr(cg, key)(x, y)).tobytes() == np.float64(table[key]).tobytes(), key


def test_usual_pairs_are_compared_at_once(monkeypatch):
    """Only ranges that are too wide need a table, and the compiled count gives the sums of numpy's."""
    sums = {}
    for route in ("numpy", PAIRS):
        with on_route(route):
            sums[route] = {name: cpu.sums_of(a, b, True) for name, (a, b) in pairs().items()}
    assert {name for name, found in sums[PAIRS].items() if found is None} == {"too wide", "extremes"}
    assert all(found in (None, sums[PAIRS][name]) for name, found in sums["numpy"].items())
    assert all(type(x) is int for x in sums[PAIRS]["near"])


def kinds() -> dict[str, Callable[[list[int]], Any]]:
    """Ways to pass labels that are read without names."""
    texts = ["b", "a", "ä", "", "a "]
    return {
        "list": list,
        "tuple": tuple,
        "list of numpy integers": lambda x: [np.int32(v) for v in x],
        "floats": lambda x: np.array(x, float),
        "bools": lambda x: np.array(x) > 1,
        "texts": lambda x: [texts[v] for v in x],
        "numpy texts": lambda x: np.array([texts[v] for v in x]),
        "numpy bytes": lambda x: np.array([b"x", b"yy", b"", b"z", b"zz"])[x],
        "objects": lambda x: np.array([texts[v] for v in x], dtype=object),
        "pandas": pd.Series,
        "pandas floats": lambda x: pd.Series(x, dtype=float),
        "pandas texts": lambda x: pd.Series([texts[v] for v in x]),
        "pandas strings": lambda x: pd.Series([texts[v] for v in x], dtype="string"),
        "pandas categories": lambda x: pd.Series([texts[v] for v in x], dtype="category"),
        "polars": pl.Series,
        "polars texts": lambda x: pl.Series([texts[v] for v in x]),
        "arrow": lambda x: pa.array(x),
        "arrow texts": lambda x: pa.chunked_array([[texts[v] for v in x]]),
    }


@pytest.mark.parametrize("kind", kinds())
def test_labels_of_any_kind_are_compared_at_once(kind):
    """Lists, texts and columns are read without names, and give the bits of `compare`."""
    rng = np.random.default_rng(3)
    a, b = (kinds()[kind](rng.integers(0, 5, 40).tolist()) for _ in range(2))
    for key in ("ari", "vi"):
        found = at_once.value_at_once(cg.measure(key), a, b)
        assert found == getattr(cg, key)(a, b) == cg.compare(a, b, key)[key]
        assert found == getattr(cg, key)(
            a, kinds()["numpy texts"](kinds()["list"](np.unique(b, return_inverse=True)[1]))
        )


def unread() -> dict[str, Any]:
    """Labels that need a check, a name or a message."""
    return {
        "missing": ["a", None, "b"],
        "mixed": [1, "1", 1.0],
        "texts and bytes": ["a", b"a", "b"],
        "surrogates": ["a", "\ud800", "b"],
        "large": [2**70, 1, 2],
        "fractions": np.array([0.5, 1.0, 1.5]),
        "nan": np.array([0.0, np.nan, 1.0]),
        "pandas missing": pd.Series(["a", None, "b"], dtype="category"),
        "pandas mixed": pd.Series([1, "a", "b"], dtype=object),
        "polars missing": pl.Series([1, None, 2]),
        "arrow missing": pa.array(["a", None, "b"]),
        "mapping": {"x": 1, "y": 2, "z": 1},
    }


@pytest.mark.parametrize("kind", unread())
def test_labels_that_need_a_check_are_left_to_compare(kind):
    """Missing values, mixed types and fractions are not read at once."""
    assert at_once.value_at_once(cg.measure("ari"), unread()[kind], [0, 1, 1]) is None


def test_indexes_are_compared():
    """Series with equal indexes are compared at once; other indexes raise, as in `compare`."""
    a = pd.Series([0, 0, 1, 1], index=list("wxyz"))
    assert at_once.value_at_once(cg.measure("ari"), a, a.copy()) == 1.0
    assert at_once.value_at_once(cg.measure("ari"), a, a.to_numpy()) == 1.0
    with pytest.raises(cg.InputError, match="different order"):
        cg.ari(a, a[::-1])


def test_other_inputs_are_left_to_compare():
    """Unequal lengths, no points, one point, two dimensions and options are read by `compare`, with its messages."""
    with pytest.raises(cg.InputError, match="3 and 2 points"):
        cg.ari(np.array([0, 1, 1]), np.array([0, 1]))
    with pytest.raises(cg.InputError, match="no points"):
        cg.ari(np.array([], int), np.array([], int))
    with pytest.raises(cg.InputError, match="2-D array of integers"):
        cg.ari(np.zeros((3, 2), int), np.zeros(3, int))
    assert cg.ari(np.array([4]), np.array([7])) == cg.nmi([4], [7]) == 1.0
    with pytest.raises(cg.InputError, match="unassigned"):
        cg.ari(np.array([0, -1, 1]), np.array([0, 1, 1]), noise=-1)


def entered(call: Callable[[], Any]) -> list[str]:
    """The Python functions entered by a call, ours and others'."""
    names: list[str] = []

    def note(frame: Any, event: str, _: Any) -> None:
        if event == "call":
            names.append(frame.f_code.co_qualname)

    call()  # so that imports and caching are done before
    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return names


@pytest.mark.parametrize(("route", "most"), [("numpy", 48), (PAIRS, 30)])
def test_one_call_enters_few_functions(route, most):
    """One measure of two arrays enters at most 48 Python functions (367 before there was a way without a table)."""
    a, b = np.array([0, 0, 1, 1, 2]), np.array([0, 1, 1, 2, 2])
    with on_route(route):
        for key in ("ari", "rand", "nmi"):
            function = getattr(cg, key)
            assert len(entered(lambda function=function: function(a, b))) <= most, key


def test_a_comparison_enters_few_functions():
    """The seven measures of `compare` enter at most 380 Python functions (432 when empty clusters were counted twice)."""
    a, b = np.array([0, 0, 1, 1, 2]), np.array([0, 1, 1, 2, 2])
    with on_route("numpy"):
        assert len(entered(lambda: cg.compare(a, b))) <= 380


def against_one() -> dict[str, tuple[Any, Any]]:
    """A reference and several vectors of integers: with gaps between labels, −1, narrow types, steps, and in every container."""
    rng = np.random.default_rng(3)
    a, n = rng.integers(0, 4, 40), 40
    vectors = [
        rng.integers(0, 3, n), a * 7 - 30, a - 1, np.full(n, -1), rng.permutation(n), a.astype(np.int8), np.repeat(a, 2)[::2],
        (a > 1).astype(np.uint32),
    ]  # fmt: skip
    names = [f"c{i}" for i in range(len(vectors))]
    return {
        "arrays": (a, vectors),
        "lists": (a.tolist(), [v.tolist() for v in vectors]),
        "columns": (a - 1, np.column_stack([v.astype(np.int64) for v in vectors])),
        "names": (a, dict(zip(names, vectors, strict=True))),
        "a name": ("c2", dict(zip(names, vectors, strict=True))),
        "singletons": (np.arange(n), vectors),
        "one cluster": (np.zeros(n, int), vectors),
        "more than bytes hold": (a * 90, vectors),
        "several blocks": (np.tile(a, 50), [np.tile(v, 50) for v in vectors * 3]),
    }


@pytest.mark.parametrize("route", ["numpy", PAIRS])
@pytest.mark.parametrize("which", against_one())
def test_many_vectors_in_place_have_the_bits_of_encoded_ones(route, which):
    """`compare_to` of vectors of integers has the bits and notes of `Ensemble`, which reads them if an option is given."""
    reference, vectors = against_one()[which]
    assert counts_in_place(reference, vectors)
    more: Any = "all" if which == "names" else [*KEYS, "ami_max", "accuracy", "element_centric", "wallace"]
    for keys in (KEYS, more):
        with on_route(route):
            found, expected = (cg.compare_to(reference, vectors, keys, unassigned=rule) for rule in ("error", "drop"))
        assert found.cautions == expected.cautions
        assert (found.names, found.reference, found.kind) == (expected.names, expected.reference, expected.kind)
        assert (found.n_used.tolist(), found.skipped) == (expected.n_used.tolist(), expected.skipped)
        for key in expected.measures:
            assert found[key].tobytes() == expected[key].tobytes(), key


def counts_in_place(reference: Any, others: Any) -> bool:
    """Whether `compare_to` counts these without encoding them."""
    vectors = at_once.integer_vectors(reference, others)
    return vectors is not None and counted_in_place(vectors.values, {Pairs}) is not None


A, LONG = [0, 0, 1, 1], np.zeros(5000, int)


@pytest.mark.parametrize(
    ("reference", "others"),
    [
        (A, [A, [0, 1]]), (A, [A, [0, 1, 1.5, 2]]), (A, ["abba", A]), (A, [A, [0, None, 1, 1]]), (A, [A]), (A, A),
        ("c", [A, A]), (A, [np.array(A, np.uint64), A]), (A, [np.array(A, bool), A]), (A, np.zeros((4, 2))), (A, [A, None]),
        (A, [[-(2**63), 0, 1, 2**63 - 1], A]), (A, [[0, 10**6, 1, 1], A]), (LONG, [LONG, LONG]), (None, [A, A]),
        (np.array(5), [A, A]), ([], [[], []]), (A, [pd.Series(A), A]),
    ],
)  # fmt: skip
def test_other_inputs_are_left_to_ensemble(reference, others):
    """What is not a few small integers in every vector is read, and refused, by `Ensemble`."""
    assert not counts_in_place(reference, others)


@pytest.mark.parametrize(("route", "few", "most"), [("numpy", 130, 215), (PAIRS, 100, 170)])
def test_many_vectors_enter_few_functions(route, few, most):
    """100 clusterings against one enter at most 130 Python functions for one measure (7,555 when each was encoded alone)."""
    rng = np.random.default_rng(0)
    a, vectors = rng.integers(0, 5, 60), [rng.integers(0, 5, 60) for _ in range(100)]
    with on_route(route):
        assert len(entered(lambda: cg.compare_to(a, vectors, "ari"))) <= few
        assert len(entered(lambda: cg.compare_to(a, vectors, ["ari", "nmi_sum", "vi", "jaccard"]))) <= most


@pytest.mark.parametrize("k", [1, 4, 40])
def test_tables_are_listed_as_numpy_lists_them(k):
    """The compiled list has the cells, their order and the sizes of numpy's, also swapped, and in tiles of few pairs."""
    rng = np.random.default_rng(k)
    members = cg.Ensemble([rng.integers(0, k, 60) for _ in range(7)]).members
    found = {}
    for route, memory in (("numpy", 1e9), ("compiled", 1e4)):
        with on_route(route):
            tiles = [tile for _, _, tile in cpu.table_tiles(members, all_pairs(7), None, memory, 2)]
        given = [
            each for tile in tiles for both in zip(tile.each(), tile.swapped().each(), strict=True) for each in both
        ]
        margins = [np.concatenate(x).tolist() for x in zip(*(tile.margins for tile in tiles), strict=True)]
        totals = [np.concatenate([getattr(t, x) for t in tiles]).tolist() for x in ("row_total", "col_total", "n")]
        found[route] = [(*t.shape, t.row.tolist(), t.col.tolist(), t.count.tolist()) for t in given], margins, totals
    assert found["numpy"] == found["compiled"]


def test_swapped_tables_have_the_order_of_their_new_rows():
    """Swapping sorts cells by pair, column and row, and keeps the sizes of clusters, also of more than two bytes hold."""
    rng = np.random.default_rng(0)
    for k in (5, 70_000):
        a, b = rng.integers(0, k, (2, 100_000))
        tile = next(cpu.table_tiles(cg.Ensemble([a, b, a]).members, all_pairs(3), None, 1e9, 1))[2]
        turned, order = tile.swapped(), np.lexsort((tile.row, tile.col, tile.pair))
        for found, expected in ((turned.row, tile.col), (turned.col, tile.row), (turned.count, tile.count)):
            assert (found == expected[order]).all()
        for x, y in zip(turned.sides, replace(turned).sides, strict=True):
            assert all((one == other).all() for one, other in zip(x, y, strict=True))
