"""Every route of counting gives the same tables."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from engine_cases import KEYS, ROUTES, cells, counted, random_labels, take

import congruence as cg
from congruence.inputs.coerce import as_clustering
from congruence.machine import jit


@pytest.mark.slow
@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("mass", [None, "sample_weight", "frequency"])
@pytest.mark.parametrize("gaps", [False, True])
def test_every_route_gives_the_same_matrices(monkeypatch, route, mass, gaps):
    """numpy, compiled and sparse counting agree on all pairs for every measure, with weights, counts and gaps."""
    rng = np.random.default_rng(4)
    vectors = random_labels(200, [6, 6, 6, 6, 6])
    if gaps:
        vectors = [np.where(rng.random(200) < 0.1, np.nan, v) for v in vectors]
    options: dict[str, Any] = {"unassigned": "drop"}
    if mass is not None:
        options[mass] = rng.integers(1, 4, 200) if mass == "frequency" else rng.random(200)
    keys = [key for key in KEYS if mass != "sample_weight" or cg.measure(key).takes_weights]
    take(monkeypatch, "numpy")
    expected = cg.compare_all(vectors, keys, **options)
    take(monkeypatch, route)
    found = cg.compare_all(vectors, keys, **options)
    assert found.n_used.tolist() == expected.n_used.tolist()
    for key in keys:
        if mass != "sample_weight":
            assert found[key].tobytes() == expected[key].tobytes(), key
        else:
            np.testing.assert_allclose(found[key], expected[key], rtol=1e-11, atol=1e-12, err_msg=key)


@pytest.mark.slow
@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize(
    "sizes", [[2, 3], [40, 50], [150, 1], [1, 1], [400, 400], [300, 4, 300]], ids=lambda x: "x".join(map(str, x))
)
def test_every_route_counts_every_shape_of_table(monkeypatch, route, sizes):
    """Tables small and large, with one row or more cells than points, are those of a plain dictionary."""
    take(monkeypatch, route)
    vectors = random_labels(500, sizes, seed=2)
    a, b = vectors[0], vectors[1]
    assert cells(cg.contingency(a, b)) == counted(a, b)
    assert cells(cg.contingency(a.astype(str), b)) == counted(a.astype(str), b)
    for key in ("ari", "vi", "van_dongen"):
        matrix = cg.compare_all(vectors, [key])[key]
        assert matrix[0, 1] == getattr(cg, key)(a, b)
        assert matrix[-1, -1] == (1.0 if key == "ari" else 0.0)


@pytest.mark.slow
@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("clusters", [200, 300, 70_000])
def test_codes_of_every_width_are_counted(monkeypatch, route, clusters):
    """uint8, uint16 and int32 codes, alone and mixed in one ensemble, are counted the same way."""
    take(monkeypatch, route)
    n = max(1000, clusters + 500)
    rng = np.random.default_rng(1)
    wide = np.concatenate([np.arange(clusters), rng.integers(0, clusters, n - clusters)])
    narrow = rng.integers(0, 3, n)
    assert as_clustering(wide).codes.dtype == {200: np.uint8, 300: np.uint16, 70_000: np.int32}[clusters]
    assert cells(cg.contingency(wide, narrow)) == counted(wide, narrow)
    assert cells(cg.contingency(narrow, wide)) == counted(narrow, wide)
    found = cg.compare_all([wide, narrow, narrow[::-1]], ["rand", "mi"])
    assert found["rand"][0, 1] == cg.rand(wide, narrow)
    assert found["mi"][1, 2] == pytest.approx(cg.mi(narrow, narrow[::-1]), rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("route", "kind"),
    [
        *(("numpy", kind) for kind in ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", ">i4", ">i8")),
        *((route, kind) for route in ("compiled", "sparse", "sparse, compiled") for kind in ("i1", "u8", ">i8")),
    ],
)
def test_raw_integers_of_every_type_are_counted(monkeypatch, route, kind):
    """Two raw vectors of any integer type, narrow, wide or of the other byte order, give the plain list's table."""
    take(monkeypatch, route)
    a, b = random_labels(300, [5, 4], seed=3)
    low = -2 if "i" in kind else 3
    x = (a + low).astype(kind)
    assert cells(cg.contingency(x, b)) == counted(a + low, b)
    assert cells(cg.contingency(b, x)) == counted(b, a + low)
    assert cg.compare_all([x, b])["ari"][0, 1] == cg.ari(a, b)


@pytest.mark.parametrize("route", ROUTES)
def test_raw_integers_at_the_ends_of_their_type_are_counted(monkeypatch, route):
    """Labels near the smallest and largest integers of their type are distinct on every route."""
    take(monkeypatch, route)
    a, b = random_labels(300, [3, 4], seed=3)
    # a compiled loop is made for each pair of types, a second each: three of them there
    for kind in (np.int8, np.int64, np.uint64, *(() if "compiled" in route else (np.int16, np.uint8))):
        limits = np.iinfo(kind)
        for values in ([limits.min, limits.min + 1, limits.min + 2], [limits.max - 2, limits.max - 1, limits.max]):
            x = np.array(values, dtype=kind)[a]
            assert cells(cg.contingency(x, b)) == counted(x, b), (kind, values)
        x = np.array([limits.min, 5, limits.max], dtype=kind)[a]
        assert cells(cg.contingency(x, b)) == counted(x, b), kind
    x = np.array([2**60, 2**60 + 1, 2**60 + 2], dtype=np.uint64)[a]
    assert cells(cg.contingency(x, b)) == counted(x, b)


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 7])
def test_few_points(monkeypatch, route, n):
    """One point, or fewer than a kernel takes at a stride, are counted like many."""
    take(monkeypatch, route)
    a, b = np.arange(n) % 2, np.arange(n) // 2
    assert cells(cg.contingency(a, b)) == counted(a, b)
    assert cg.compare_all([a, a, b], ["ari", "vi"])["ari"][0, 1] == 1.0
    assert cg.compare([0] * n, [7] * n, "ari")["ari"] == 1.0


@pytest.mark.slow
@pytest.mark.parametrize("route", ROUTES)
def test_arrays_of_any_layout(monkeypatch, route):
    """Strided, reversed, read-only, Fortran-ordered and unaligned arrays are counted like fresh ones."""
    take(monkeypatch, route)
    a, b = random_labels(400, [4, 5], seed=8)
    table = counted(a, b)
    frozen = a.copy()
    frozen.flags.writeable = False
    matrix = np.asfortranarray(np.column_stack([a, b]))
    record = np.zeros(400, dtype=[("pad", "i1"), ("x", "i8")])
    record["x"] = a
    for x in (
        np.repeat(a, 2)[::2],
        a[::-1].copy()[::-1],
        frozen,
        matrix[:, 0],
        np.column_stack([b, a])[:, 1],
        record["x"],
    ):
        assert cells(cg.contingency(x, b)) == table
        assert cells(cg.contingency(b, x)) == {(j, i): count for (i, j), count in table.items()}
        assert cg.compare_all([x, b])["ari"][0, 1] == cg.ari(a, b)
    for columns in (matrix, np.ascontiguousarray(matrix), np.repeat(matrix, 2, axis=0)[::2]):
        assert cg.compare_all(columns)["ari"].tolist() == cg.compare_all([a, b])["ari"].tolist()


@pytest.mark.parametrize("kind", [np.int64, np.int8, np.uint64])
@pytest.mark.parametrize("side", ["above", "below", "both"])
def test_a_rare_label_outside_the_sampled_range_is_counted(monkeypatch, kind, side):
    """The range of large vectors is guessed from a sample; labels outside it are found and counted all the same."""
    take(monkeypatch, "compiled")
    n = 120_000
    a, b = (v + 20 for v in random_labels(n, [5, 6], seed=5))
    step = n // 4096
    places = {"above": [(step + 1, 90)], "below": [(n - 3, 1)], "both": [(step + 1, 90), (n - 3, 1)]}[side]
    for place, label in places:
        assert place % step != 0
        a[place] = label
    x = a.astype(kind)
    assert cells(cg.contingency(x, b)) == counted(a, b)
    assert cells(cg.contingency(b, x)) == counted(b, a)


def test_a_rare_label_far_away_is_counted(monkeypatch):
    """A single label so far from the others that no dense table fits is a separate cluster."""
    take(monkeypatch, "compiled")
    a, b = random_labels(120_000, [5, 6], seed=5)
    a[31] = 10**15
    assert cells(cg.contingency(a, b)) == counted(a, b)
    a[77] = -(10**15)
    assert cells(cg.contingency(a, b)) == counted(a, b)


def test_numpy_counts_until_kernels_pay(monkeypatch):
    """Calls add up: the kernels are loaded once all together have had enough to count; work too small for them adds nothing."""
    monkeypatch.delitem(sys.modules, "congruence.engine.kernels", raising=False)
    monkeypatch.setattr(jit, "_work", {})
    monkeypatch.setattr(jit, "COMPILED_FROM", 100)
    monkeypatch.setattr(jit, "LOADED_FROM", 30)
    assert not any(jit.use_kernels(29) for _ in range(9))
    assert [jit.use_kernels(40) for _ in range(4)] == [False, False, True, True]
