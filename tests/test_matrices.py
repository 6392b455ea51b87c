"""Measures of similarity matrices: every kind of matrix and every route gives the numbers of plain loops."""

from __future__ import annotations

import json
import math
import multiprocessing
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import naive_matrices as dense
import numpy as np
import pytest
from doors import ROUTES, close, on_route
from doors import matrices as by_matrices
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from strategies import MOST_POINTS, clusterings, memberships, pairs, partitions, weights
from test_axioms import SIZES, mean_over_permutations

import congruence as cg
from congruence.engine import matrices, tiles
from congruence.statistics.matrices import MatrixSums

OF_TWO = ("arimp", "arimm", "kas", "nsf", "nsf_printed", "sms", "ssms")
CASES = json.loads((Path(__file__).parent / "golden" / "golden.json").read_text())["cases"]


class Sliced:
    """A minimal matrix: a shape, and slices in two dimensions (like a Dask or zarr array)."""

    def __init__(self, values: np.ndarray) -> None:
        self.values, self.shape, self.dtype, self.largest = values, values.shape, values.dtype, 0

    def __getitem__(self, where: tuple[slice, slice]) -> list[list[float]]:
        assert isinstance(where, tuple)
        block = self.values[where]
        self.largest = max(self.largest, block.size)
        return block.tolist()


def mapped(m: np.ndarray, path: Path) -> np.memmap:
    np.save(path, m)
    return np.load(path, mmap_mode="r")


def random_matrix(n: int, seed: int) -> np.ndarray:
    """Symmetric, in sixteenths, some zeros, any diagonal."""
    rng = np.random.default_rng(seed)
    m = rng.integers(0, 17, (n, n)) * (rng.random((n, n)) < 0.7) / 16
    return np.triu(m) + np.triu(m, 1).T


def coassociation(labels: Any) -> np.ndarray:
    return np.equal.outer(np.asarray(labels), np.asarray(labels)).astype(float)


def scores(p: Any, q: Any, keys: tuple[str, ...] = OF_TWO[1:], **options: Any) -> dict[str, float]:
    return {key: getattr(cg, key)(p, q, **options) for key in keys}


@contextmanager
def by_tiles(side: int = 3) -> Iterator[None]:
    """Ensembles are compared over pairs of points, in tiles of this size."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(matrices, "TABLE_COST", math.inf)
        patch.setattr(tiles, "SIDE", side)
        yield


@contextmanager
def by_tables() -> Iterator[None]:
    """Ensembles are compared by tables of their members."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(matrices, "TILE_COST", math.inf)
        yield


def numbers(s: MatrixSums) -> dict[str, float]:
    return {name: float(getattr(s, name)[0]) for name in MatrixSums.symbols}


# --- matrices of every kind ------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("side", [1, 4, 1024])
@pytest.mark.parametrize("kind", ["numpy", "float32", "Similarity", "frame", "sparse", "coo", "memmap", "sliced"])
def test_a_matrix_of_any_kind_gives_the_numbers_of_the_definition(kind, side, tmp_path, monkeypatch):
    """ndarray, frame, sparse, memory map or anything sliceable, with a matrix, labels or an ensemble: one result."""
    pd = pytest.importorskip("pandas")
    monkeypatch.setattr(tiles, "SIDE", side)
    n = 11
    p, q = random_matrix(n, 1), random_matrix(n, 2)
    rng = np.random.default_rng(3)
    labels = rng.integers(0, 3, n).tolist()
    members = [labels, rng.integers(0, 4, n).tolist(), rng.integers(0, 2, n).tolist()]
    made = {
        "numpy": lambda m: m,
        "float32": lambda m: m.astype(np.float32),
        "Similarity": cg.Similarity,
        "frame": pd.DataFrame,
        "sparse": sparse.csr_array,
        "coo": sparse.coo_matrix,
        "memmap": lambda m: mapped(m, tmp_path / f"{m.sum()}.npy"),
        "sliced": Sliced,
    }[kind]
    assert scores(made(p), made(q)) == close({k: v for k, v in dense.measures(p, q).items() if k != "arimp"})
    assert scores(made(p), q) == close({k: v for k, v in dense.measures(p, q).items() if k != "arimp"})
    of_labels = dense.measures(p, coassociation(labels))
    assert scores(made(p), labels, OF_TWO) == close(of_labels)
    assert scores(labels, made(p), OF_TWO) == close(of_labels)
    expected = {k: v for k, v in dense.measures(p, dense.consensus(members)).items() if k != "arimp"}
    assert scores(made(p), cg.Ensemble(members)) == close(expected)
    assert scores(cg.Ensemble(members), made(p)) == close(expected)
    assert cg.certainty(made(p)) == close(dense.certainty(p)) == close(1 - cg.uncertainty(made(p)))


def test_a_sliced_matrix_is_read_in_blocks(monkeypatch):
    """A matrix that is too large to check at once is never read whole: no block is larger than a tile."""
    monkeypatch.setattr(tiles, "SIDE", 4)
    monkeypatch.setattr(cg.Similarity, "CHECKED_AT_ONCE", 10)
    source = Sliced(random_matrix(13, 4))
    assert scores(source, random_matrix(13, 5)) == close(scores(source.values, random_matrix(13, 5)))
    assert 0 < source.largest <= 16


def test_a_matrix_with_itself():
    """kas, nsf and sms of a matrix with itself are exactly 1; arimm is its certainty, 1 only for zeros and ones."""
    p = random_matrix(9, 6)
    for same in (p, sparse.csr_array(p), cg.Similarity(p)):
        assert scores(same, p.copy(), ("kas", "nsf", "nsf_printed", "sms", "ssms")) == dict.fromkeys(
            ("kas", "nsf", "nsf_printed", "sms", "ssms"), 1.0
        )
        assert cg.arimm(same, p) == close(cg.certainty(p))
    assert cg.certainty(coassociation([0, 0, 1, 2, 2])) == 1.0
    assert cg.certainty(p) < 0.9


def test_weights_of_points_with_a_matrix():
    """sample_weight of the labels weighs the pairs of the matrix too; frequency needs repeated rows, and says so."""
    p, labels, w = random_matrix(7, 8), [0, 1, 1, 0, 2, 2, 1], [1, 2, 0.5, 1, 3, 1, 0.25]
    expected = dense.measures(p, coassociation(labels), w)
    assert scores(p, cg.Ensemble([labels], sample_weight=w), OF_TWO) == close(expected)
    assert scores(cg.Ensemble([labels], sample_weight=w), sparse.csr_array(p), OF_TWO) == close(expected)
    with pytest.raises(cg.InputError, match="weights of points belong to the ensemble"):
        cg.arimp(p, labels, sample_weight=w)
    with pytest.raises(cg.InputError, match="repeat their rows and columns"):
        cg.arimp(p, cg.Ensemble([labels], frequency=[1, 2, 1, 1, 1, 1, 1]))
    first = cg.Ensemble([labels], sample_weight=w)
    with pytest.raises(cg.InputError, match="different"):
        cg.arimm(first, cg.Ensemble([labels], sample_weight=[1] * 6 + [2]))


def test_gaps_with_a_matrix():
    """Labels with gaps against a matrix: pairs with a gap are left out of all sums ("drop"), or counted as apart."""
    p, labels = random_matrix(7, 9), [0, 1, None, 0, 2, 2, 1]
    keep = [i for i, x in enumerate(labels) if x is not None]
    cut = dense.measures(p[np.ix_(keep, keep)], coassociation([labels[i] for i in keep]))
    assert cg.arimp(p, labels, unassigned="drop") == close(cut["arimp"])
    assert cg.sms(p, labels, unassigned="drop") == close(cut["sms"])
    plain = dense.measures(p, dense.consensus([labels], missing="plain"))
    assert cg.arimp(p, cg.Ensemble([labels], unassigned="partial"), missing="plain") == close(plain["arimp"])
    with pytest.raises(cg.InputError, match="pooled"):
        cg.arimp(p, labels, unassigned="drop", missing="pooled")


# --- what a matrix must be -------------------------------------------------------------------------------------------


def asymmetric(n: int = 9) -> np.ndarray:
    m = random_matrix(n, 10)
    m[7, 2] = m[2, 7] + 0.25
    return m


def read(m: Any, how: str, path: Path) -> float:
    made = {"at once": lambda: m, "memmap": lambda: mapped(m, path / "m.npy"), "sparse": lambda: sparse.csr_array(m)}
    return cg.kas(made.get(how, lambda: Sliced(m))(), np.eye(len(m)))


@pytest.fixture(params=["at once", "memmap", "sliced", "sparse"])
def how(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The ways a matrix is checked: when it is wrapped, or while it is read in tiles of 4 × 4."""
    monkeypatch.setattr(tiles, "SIDE", 4)
    if request.param != "at once":
        monkeypatch.setattr(cg.Similarity, "CHECKED_AT_ONCE", 10)
    return request.param


def test_symmetry_is_checked_and_the_place_named(how, tmp_path):
    """Two mirrored entries that differ by more than the tolerance are refused, with where they are."""
    with pytest.raises(
        cg.InputError, match=r"not symmetric: entries \((2, 7|7, 2)\) and \((2, 7|7, 2)\) differ by 0.25"
    ):
        read(asymmetric(), how, tmp_path)
    near = random_matrix(9, 10)
    near[7, 2] += 1e-10
    assert read(near, how, tmp_path) == pytest.approx(read(random_matrix(9, 10), how, tmp_path), abs=1e-9)


@pytest.mark.parametrize("where", [(0, 1), (1, 0), (2, 7), (7, 2), (8, 8), "both"])
def test_missing_entries_are_refused(how, where, tmp_path):
    """NaN anywhere, above, below or on the diagonal, is refused whichever way the matrix is read."""
    m = random_matrix(9, 11)
    for i, j in [(2, 7), (7, 2)] if where == "both" else [where]:
        m[i, j] = math.nan
    with pytest.raises(cg.InputError, match=r"missing \(NaN\)"):
        read(m, how, tmp_path)


def test_infinite_entries_are_refused(how, tmp_path):
    """An infinite similarity has no sums: it is refused, not warned about."""
    m = random_matrix(9, 11)
    m[2, 7] = m[7, 2] = math.inf
    with pytest.raises(cg.InputError):
        read(m, how, tmp_path)


@pytest.mark.parametrize("m", [np.ones((3, 4)), np.ones(4), np.ones((2, 2, 2)), np.empty((0, 0))])
def test_a_matrix_is_square(m):
    """Anything else is refused with its shape."""
    with pytest.raises(cg.InputError, match=r"square, points × points; got shape \("):
        cg.Similarity(m)


def test_a_matrix_is_of_numbers_and_of_the_same_points():
    """Strings, and matrices of different sizes, are refused in one line."""
    with pytest.raises(cg.InputError, match="must be numbers"):
        cg.Similarity(np.full((2, 2), "x"))
    for a, b in ((np.eye(3), np.eye(4)), (np.eye(3), [0, 1, 2, 3]), (cg.Ensemble([[0, 1, 2]]), np.eye(4))):
        with pytest.raises(cg.InputError, match=r"have 3 and 4 points; both must have the same points$") as error:
            cg.arimm(a, b)
        assert "\n" not in str(error.value)


@pytest.mark.parametrize("kind", ["numpy", "memmap", "sparse"])
def test_kernels_beyond_0_and_1(kind, tmp_path):
    """A kernel has an alignment and a correlation; measures that need 0 … 1 refuse it by name, with its entries."""
    rng = np.random.default_rng(12)
    x = rng.integers(-3, 4, (8, 2)) / 2
    kernel, labels = x @ x.T, rng.integers(0, 2, 8).tolist()
    expected = dense.measures(kernel, coassociation(labels))
    made = {"numpy": kernel, "memmap": mapped(kernel, tmp_path / "k.npy"), "sparse": sparse.csr_array(kernel)}[kind]
    assert scores(made, labels, ("kas", "sms", "ssms")) == close({k: expected[k] for k in ("kas", "sms", "ssms")})
    for key in ("arimp", "arimm", "nsf", "nsf_printed"):
        with pytest.raises(cg.NotApplicable, match=f"{key} needs entries between 0 and 1; a has -"):
            getattr(cg, key)(made, labels)
    for key in ("certainty", "uncertainty"):
        with pytest.raises(cg.NotApplicable, match=f"{key} needs entries between 0 and 1"):
            getattr(cg, key)(made)
    shown = cg.compare(labels, cg.Similarity(made))
    assert set(shown) == {"kas", "sms", "ssms"}
    assert "needs entries between 0 and 1; b has" in shown.skipped["nsf"]
    assert cg.arimm(kernel.clip(0, 1) + 1e-7, labels) == pytest.approx(cg.arimm(kernel.clip(0, 1), labels), abs=1e-5)


# --- what applies ----------------------------------------------------------------------------------------------------


def test_compare_shows_all_that_apply():
    """Matrix × labels: all but the measures of members; ensemble × ensemble: all but those of one partition."""
    labels = [0, 0, 1, 1, 2]
    e = cg.Ensemble([labels, [0, 1, 1, 0, 0]])
    found = cg.compare(cg.Similarity(random_matrix(5, 1)), labels)
    assert set(found) == set(OF_TWO) - {"nsf_printed"}
    assert found.skipped["anmi"] == "anmi compares the members of an ensemble with one partition"
    assert set(cg.compare(e, e)) == set(OF_TWO) - {"arimp", "nsf_printed"}
    assert "neither side is a partition; use arimm" in cg.compare(e, e).skipped["arimp"]
    of_labels = {*OF_TWO, "anmi", "pooled_ami"} - {"nsf_printed"}
    assert set(cg.compare(e, labels)) == set(cg.compare(labels, e)) == of_labels
    assert set(cg.compare(cg.Similarity(random_matrix(5, 1)), e)) == set(OF_TWO) - {"arimp", "nsf_printed"}


def test_every_measure_is_shown_or_left_out_with_a_reason():
    """compare(…, "all") of matrices and ensembles accounts for every measure; naming one left out raises why."""
    m, e, labels = cg.Similarity(random_matrix(4, 1)), cg.Ensemble([[0, 0, 1, 1], [0, 1, 1, 0]]), [0, 1, 1, 1]
    for a, b in ((m, labels), (e, e), (m, e), (m, m), (e, labels)):
        found = cg.compare(a, b, "all")
        assert set(found) | set(found.skipped) == {x.key for x in cg.measures() if not x.is_historical}
        assert not set(found) & set(found.skipped)
        for key in ("vi", "certainty", "pnmi", *({"arimp", "anmi"} & set(found.skipped))):
            with pytest.raises(cg.NotApplicable) as reason:
                cg.compare(a, b, key)
            assert str(reason.value) == found.skipped[key]
    assert "cg.certainty(a)" in cg.compare(m, labels, "all").skipped["certainty"]


@pytest.mark.parametrize("key", ["pnmi", "pnmi_sum"])
def test_measures_of_members_refuse_a_matrix(key):
    """A matrix has no members, and the message says what it does have."""
    with pytest.raises(cg.NotApplicable, match=f"{key} describes the members of an ensemble; for a matrix use cert"):
        getattr(cg, key)(random_matrix(4, 1))


# --- two partitions --------------------------------------------------------------------------------------------------


@pytest.mark.slow
@given(pairs())
@settings(max_examples=25)
def test_two_partitions_by_the_definition(ab):
    """Of label vectors the matrix measures are those of their co-association matrices, on every route of counting."""
    a, b = ab
    expected = {
        **dense.measures(coassociation(a), coassociation(b)),
        "anmi": dense.anmi([a], b),
        "pooled_ami": dense.pooled_ami([a], b),
    }
    keys = list(expected)
    for route in ROUTES:
        with on_route(route):
            assert dict(cg.compare(a, b, keys)) == close(expected), route
            every = cg.compare_all([a, b, a], keys, threads=1)
            assert {key: every[key][1, 2] for key in keys} == close(expected), route
            assert {key: every[key][0, 1] for key in keys} == close(expected), route
    every = cg.compare(a, b, "all")
    assert {key: every[key] for key in keys if key in every} == close({k: v for k, v in expected.items() if k in every})
    assert set(keys) - set(every) == {"nsf_printed"}
    assert dict(cg.compare(cg.Ensemble([a]), cg.Similarity(coassociation(b)), list(OF_TWO))) == close(
        {key: expected[key] for key in OF_TWO}
    )


@given(pairs())
def test_proposition_1(ab):
    """ari == arimp == arimm on labels and on co-association matrices."""
    a, b = ab
    expected = close(cg.ari(a, b))
    p, q = (cg.Similarity(coassociation(x)) for x in (a, b))
    assert [cg.arimp(p, b), cg.arimp(a, q), cg.arimm(p, q), cg.arimm(a, b), cg.arimp(a, b)] == [expected] * 5
    assert cg.arimm(cg.Ensemble([a]), cg.Ensemble([b])) == cg.arimm(cg.Ensemble([a, a]), cg.Ensemble([b])) == expected


@pytest.mark.parametrize("key", [*OF_TWO, "anmi", "pooled_ami"])
def test_declared_axioms(key):
    """symmetric, definite and triangle hold for all partitions of n ≤ 4 points where declared (NaN: undefined)."""
    m = cg.measure(key)
    assert m.is_symmetric
    assert "definite" in m.axioms
    for n in range(1, 5):
        values = by_matrices(partitions(n), [key])[key]
        assert values == close(values.T)
        own, others = np.diag(values), values[~np.eye(len(values), dtype=bool)]
        assert ((own == 1.0) | np.isnan(own)).all()
        assert ((others < 1 - 1e-3) | np.isnan(others)).all()
        low, high = m.range
        assert ((values >= low) & (values <= high) | np.isnan(values)).all()
        if key not in ("sms", "ssms"):
            assert not np.isnan(values).any()
        if "triangle" in m.axioms:
            d = 1 - values
            assert (d[:, None, :] <= d[:, :, None] + d[None, :, :] + 1e-12).all()


@pytest.mark.slow
def test_axioms_not_declared_are_false():
    """A counter-example for each: 1 − kas, arimm, sms and anmi break the triangle; kas, nsf, anmi have no zero."""
    declared = {key: cg.measure(key).axioms for key in (*OF_TWO, "anmi", "pooled_ami")}
    assert {key for key in declared if "triangle" in declared[key]} == {"nsf", "nsf_printed"}
    assert {key for key in declared if "baseline" in declared[key]} == {"arimp", "arimm"}
    every = partitions(4)
    for key in set(declared) - {"nsf", "nsf_printed"}:
        d = 1 - by_matrices(every, [key])[key]
        assert np.nanmax(d[:, None, :] - d[:, :, None] - d[None, :, :]) > 1e-3, key
    for key in ("kas", "nsf", "nsf_printed", "ssms", "anmi"):
        assert max(abs(mean_over_permutations(key, a, b)) for a, b in SIZES) > 0.1, key
    assert max(abs(mean_over_permutations("pooled_ami", a, b)) for a, b in SIZES) > 0.01  # chance only to first order


@pytest.mark.parametrize("key", ["arimp", "arimm"])
def test_declared_baseline(key):
    """The mean over all permutations of the points of one partition is 0."""
    for a, b in SIZES:
        assert mean_over_permutations(key, a, b) == pytest.approx(0, abs=1e-12), (a, b)


def test_sms_has_baseline_0_wherever_it_is_defined():
    """The permutation mean of the correlation is 0, but one that is undefined somewhere declares no baseline."""
    defined = [(a, b) for a, b in SIZES if not math.isnan(cg.sms(a, b))]
    assert 0 < len(defined) < len(SIZES)
    assert [mean_over_permutations("sms", a, b) for a, b in defined] == pytest.approx([0] * len(defined), abs=1e-12)


def test_undefined_correlations():
    """sms is NaN where a matrix is constant above the diagonal (any constant), and for fewer than three points."""
    other = random_matrix(20, 13)
    for value in [*np.linspace(0, 1, 41), 1 / 3, 0.1]:
        constant = np.full((20, 20), value)
        np.fill_diagonal(constant, 1)
        assert math.isnan(cg.sms(constant, other)), value
        assert math.isnan(cg.ssms(other, constant)), value
        assert math.isnan(cg.sms(constant, constant)), value
    assert math.isnan(cg.sms([0, 1], [0, 1]))
    assert math.isnan(cg.sms(np.eye(2), np.eye(2)))
    assert math.isnan(cg.sms([0, 0, 0, 0], [0, 0, 1, 1]))


# --- tables and tiles ------------------------------------------------------------------------------------------------


def members_of(n: int, soft: bool = False, gaps: bool = False) -> st.SearchStrategy[list[list[Any]]]:
    hard = clusterings(n, 4)
    if gaps:
        holes = st.lists(st.booleans(), min_size=n, max_size=n).filter(lambda h: not all(h))
        hard = st.tuples(hard, holes).map(lambda lh: [None if hole else x for x, hole in zip(*lh, strict=True)])
    kinds = st.one_of(hard, memberships(n)) if soft else hard
    return st.lists(kinds, min_size=1, max_size=4)


def two_ensembles(soft: bool = False, gaps: bool = False) -> st.SearchStrategy[tuple[list[Any], list[Any]]]:
    least = 2 if soft else 1
    return st.integers(least, MOST_POINTS - 3).flatmap(
        lambda n: st.tuples(members_of(n, soft, gaps), members_of(n, soft, gaps))
    )


def as_ensemble(members: list[Any], **options: Any) -> cg.Ensemble:
    made = [cg.Memberships(m) if isinstance(m[0], list) else m for m in members]
    return cg.Ensemble(made, unassigned="partial", **options)


@pytest.mark.slow
@given(two_ensembles())
def test_tables_and_tiles_of_complete_ensembles(pq):
    """The sums of two ensembles: by tables and by tiles the same floats, and those of the whole matrices."""
    p, q = pq
    expected = dense.sums(dense.consensus(p), dense.consensus(q))
    with by_tables():
        tables = numbers(matrices.sums_of(cg.Ensemble(p), cg.Ensemble(q)))
    with by_tiles():
        tiled = numbers(matrices.sums_of(cg.Ensemble(p), cg.Ensemble(q)))
    assert tables == tiled == close(expected)
    by_measure = {k: v for k, v in dense.measures(dense.consensus(p), dense.consensus(q)).items() if k != "arimp"}
    assert scores(cg.Ensemble(p), cg.Ensemble(q)) == close(by_measure)


@pytest.mark.slow
@given(two_ensembles(), st.data())
def test_weights_of_members_and_points(pq, data):
    """member_weight, sample_weight (scale does not matter) and frequency (a point twice) against the whole matrices."""
    p, q = pq
    n = len(p[0])
    a, b = (data.draw(weights(len(x))) for x in (p, q))
    by_member = dense.consensus(p, a), dense.consensus(q, b)
    first, second = as_ensemble(p, member_weight=a), as_ensemble(q, member_weight=b)
    assert numbers(matrices.sums_of(first, second)) == close(dense.sums(*by_member))
    with by_tiles():
        assert numbers(matrices.sums_of(first, cg.Similarity(by_member[1]))) == close(dense.sums(*by_member))

    w = data.draw(weights(n))
    expected = dense.sums(*by_member, w)
    for scale in (1, 1000):
        mass = [scale * x for x in w]
        one, two = (as_ensemble(x, member_weight=c, sample_weight=mass) for x, c in ((p, a), (q, b)))
        assert numbers(matrices.sums_of(one, two)) == close(expected)

    f = data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n).filter(any))
    repeated = [[[m[i] for i in range(n) for _ in range(f[i])] for m in members] for members in (p, q)]
    expected = dense.sums(dense.consensus(repeated[0], a), dense.consensus(repeated[1], b))
    counted = [as_ensemble(x, member_weight=c, frequency=f) for x, c in ((p, a), (q, b))]
    assert numbers(matrices.sums_of(*counted)) == close(expected)


@pytest.mark.slow
@given(two_ensembles(soft=True), st.data())
def test_fuzzy_ensembles(pq, data):
    """Members given by memberships, with labels among them, weighted or counted: the sums of the whole matrices."""
    p, q = pq
    n = len(p[0])
    a = data.draw(weights(len(p)))
    m, o = dense.consensus(p, a), dense.consensus(q)
    expected = dense.sums(m, o)
    assert numbers(matrices.sums_of(as_ensemble(p, member_weight=a), as_ensemble(q))) == close(expected)
    assert cg.consensus_matrix(as_ensemble(p, member_weight=a)) == close(m)
    w = data.draw(weights(n))
    weighed = [as_ensemble(x, member_weight=c, sample_weight=w) for x, c in ((p, a), (q, None))]
    assert numbers(matrices.sums_of(*weighed)) == close(dense.sums(m, o, w))
    f = data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n).filter(any))
    repeated = [[[x[i] for i in range(n) for _ in range(f[i])] for x in members] for members in (p, q)]
    counted = [as_ensemble(x, member_weight=c, frequency=f) for x, c in ((p, a), (q, None))]
    expected = dense.sums(dense.consensus(repeated[0], a), dense.consensus(repeated[1]))
    assert numbers(matrices.sums_of(*counted)) == close(expected)


@pytest.mark.slow
@given(two_ensembles(gaps=True), st.data())
def test_partial_ensembles(pq, data):
    """Ratio and plain against the whole matrices, pooled against loops over members: by patterns, tables and tiles."""
    p, q = pq
    a, b = ([x + 1 / 8 for x in data.draw(weights(len(e)))] for e in (p, q))
    w = data.draw(weights(len(p[0])))
    shares = [[x / sum(c) for x in c] for c in (a, b)]
    first, second = as_ensemble(p, member_weight=a), as_ensemble(q, member_weight=b)
    pooled = numbers(matrices.sums_of(first, second, missing="pooled"))
    assert {k: pooled[k] for k in ("pairs", "s_p", "s_q", "s_pq")} == close(dense.pooled_sums(p, q, *shares))
    for missing in ("ratio", "plain"):
        m, o = dense.consensus(p, a, missing), dense.consensus(q, b, missing)
        expected = dense.sums(m, o)
        assert numbers(matrices.sums_of(first, second, missing=missing)) == close(expected)
        with by_tiles():
            read = [tiles.tiles_of(e, missing) for e in (first, second)]
            assert numbers(tiles.tile_sums(*read)) == close(expected)
        weighed = [as_ensemble(x, member_weight=c, sample_weight=w) for x, c in ((p, a), (q, b))]
        assert numbers(matrices.sums_of(*weighed, missing=missing)) == close(dense.sums(m, o, w))


@pytest.mark.slow
@given(two_ensembles(gaps=True), st.data())
def test_counted_points_of_partial_ensembles(pq, data):
    """frequency of a partial ensemble is the same as repeating its points, under every meaning of a gap."""
    p, q = pq
    n = len(p[0])
    f = data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n).filter(any))
    repeated = [[[m[i] for i in range(n) for _ in range(f[i])] for m in members] for members in (p, q)]
    counted = [as_ensemble(x, frequency=f) for x in (p, q)]
    for missing in ("ratio", "plain", "pooled"):
        expected = numbers(matrices.sums_of(*(as_ensemble(x) for x in repeated), missing=missing))
        assert numbers(matrices.sums_of(*counted, missing=missing)) == close(expected), missing


@pytest.mark.slow
@given(two_ensembles(soft=True, gaps=True))
@settings(max_examples=25)
def test_memberships_beside_members_with_gaps(pq):
    """An ensemble may have fuzzy and partial members: ratio and plain as the definition, pooled refused."""
    p, q = (as_ensemble(x) for x in pq)
    for missing in ("ratio", "plain"):
        m, o = (dense.consensus(x, missing=missing) for x in pq)
        assert numbers(matrices.sums_of(p, q, missing=missing)) == close(dense.sums(m, o))
        assert cg.consensus_matrix(p, missing=missing) == close(m)
    if (p.is_soft or q.is_soft) and (p.has_gaps or q.has_gaps):
        with pytest.raises(cg.InputError, match="pooled"):
            cg.arimm(p, q, missing="pooled")


def test_many_members_of_few_points_go_by_tiles(monkeypatch):
    """With L ≫ n the pass over pairs of points is chosen by itself, and gives the floats that the tables give."""
    p, q = cg.random_partitions(12, 150, 4, random_state=1), cg.random_partitions(12, 100, 3, random_state=2)
    taken = []
    tile_sums = tiles.tile_sums
    monkeypatch.setattr(matrices, "tile_sums", lambda *x: taken.append(1) or tile_sums(*x))
    found = scores(p, q)
    assert taken
    taken.clear()
    with by_tables():
        assert scores(p, q) == found
    assert not taken
    big, few = cg.random_partitions(3000, 2, 4, random_state=3), cg.random_partitions(3000, 3, 4, random_state=4)
    scores(big, few)
    assert not taken


@pytest.mark.parametrize("route", list(ROUTES))
def test_compiled_tiles_count_the_same(route):
    """The compiled kernels of agreement and of tables give the floats of numpy."""
    p, q = cg.random_partitions(60, 9, 5, random_state=5), cg.random_partitions(60, 4, 3, random_state=6)
    expected = dense.measures(*(dense.consensus([m.codes.tolist() for m in e]) for e in (p, q)))
    expected.pop("arimp")
    with on_route(route):
        with by_tiles(16):
            tiles = scores(p, q)
            assert scores(p, p, ("kas", "nsf", "sms")) == {"kas": 1.0, "nsf": 1.0, "sms": 1.0}
        with by_tables():
            assert scores(p, q) == tiles == close(expected)


def test_a_pass_of_hours_is_refused(monkeypatch):
    """A pass over too many pairs of points is refused beforehand, with its length and what to do instead."""
    monkeypatch.setattr(matrices, "PAIR_LIMIT", 10)
    with pytest.raises(cg.InputError, match=r"66 pairs of points \(.* hours\); use complete members"):
        cg.arimm(np.eye(12), cg.Ensemble([[0] * 12]))


# --- matrices that live apart ----------------------------------------------------------------------------------------


@given(st.integers(2, 9), st.integers(0, 99), st.data())
def test_any_split_into_blocks_adds_up(n, seed, data):
    """Blocks of any sizes, all of them or those on and above the diagonal, in any order, rows and columns permuted."""
    p, q = (0.25 + random_matrix(n, s) / 2 for s in (seed, seed + 100))
    order = np.array(data.draw(st.permutations(range(n))))
    cuts = sorted({0, n, *data.draw(st.lists(st.integers(1, n - 1), max_size=3))})
    pieces = [order[i:j] for i, j in pairwise(cuts)]
    every = [(r, c) for r in pieces for c in pieces]
    if data.draw(st.booleans()):
        pieces = [np.arange(i, j) for i, j in pairwise(cuts)]
        every = [(r, c) for x, r in enumerate(pieces) for c in pieces[x:]]
    blocks = [cg.pair_sums(p[np.ix_(r, c)], q[np.ix_(r, c)], r, c) for r, c in data.draw(st.permutations(every))]
    total = sum(blocks)
    for key in ("arimp", "arimm", "kas", "nsf", "sms", "ssms"):
        assert getattr(total, key)() == close(dense.measures(p, q)[key]), key
    assert total.arimm() == close(cg.arimm(p, q))
    assert cg.PairSums(**json.loads(json.dumps(total.to_dict()))) == total
    assert blocks[0] + cg.PairSums() == blocks[0]
    with pytest.raises(cg.InputError, match="a block is missing or was added twice"):
        (total + next(b for b in blocks if b.pairs or b.points)).arimm()


@pytest.mark.parametrize("layout", ["rows", "squares", "above"])
def test_a_missing_or_doubled_block_is_refused(layout):
    """Each block left out, added twice, or exchanged for another of its size: no number is given."""
    n, side = 6, 2
    p, q = random_matrix(n, 1), random_matrix(n, 2)
    pieces = [slice(i, i + side) for i in range(0, n, side)]
    every = {
        "rows": [(r, slice(0, n)) for r in pieces],
        "squares": [(r, c) for r in pieces for c in pieces],
        "above": [(r, c) for x, r in enumerate(pieces) for c in pieces[x:]],
    }[layout]
    blocks = {(r.start, c.start): cg.pair_sums(p[r, c], q[r, c], r, c) for r, c in every}
    assert sum(blocks.values()).arimm() == close(cg.arimm(p, q))
    matters = [at for at, block in blocks.items() if block.pairs or block.points]
    for at in matters:
        rest = sum(b for other, b in blocks.items() if other != at)
        with pytest.raises(cg.InputError, match="missing or was added twice"):
            rest.arimm()
        with pytest.raises(cg.InputError, match="missing or was added twice"):
            (sum(blocks.values()) + blocks[at]).kas()
        for instead in matters:
            if instead != at and blocks[instead].pairs == blocks[at].pairs:
                with pytest.raises(cg.InputError, match="missing or was added twice"):
                    (rest + blocks[instead]).sms()


def test_blocks_of_the_wrong_shape_or_with_gaps():
    """A block must fit its indices and have all entries; sparse blocks and other things to add are handled."""
    with pytest.raises(cg.InputError, match=r"shape \(2, 2\) and \(2, 2\) do not fit 2 rows and 3 columns"):
        cg.pair_sums(np.eye(2), np.eye(2), range(2), range(3))
    with pytest.raises(cg.InputError, match="do not fit"):
        cg.pair_sums(np.eye(2), np.eye(3), range(2), range(2))
    with pytest.raises(cg.InputError, match="NaN"):
        cg.pair_sums(np.full((2, 2), np.nan), np.eye(2), range(2), range(2))
    with pytest.raises(TypeError):
        cg.PairSums() + 1
    p, q = random_matrix(4, 1), random_matrix(4, 2)
    block = cg.pair_sums(sparse.csr_array(p), q, slice(None, 4), slice(0, 4))
    assert block.nsf() == close(cg.nsf(p, q))


def sums_of_rows(task: tuple[str, str, int, int]) -> dict[str, float]:
    """What one process does: read its rows of both files, and send a few numbers back."""
    first, second, start, stop = task
    p, q = (np.load(name, mmap_mode="r") for name in (first, second))
    return cg.pair_sums(p[start:stop], q[start:stop], range(start, stop), range(len(p))).to_dict()


@pytest.mark.slow
def test_matrices_on_disk_in_separate_processes(tmp_path):
    """Two processes, each with its rows of two .npy files, exchange only records: arimm of the whole matrices."""
    p, q = random_matrix(40, 1), random_matrix(40, 2)
    files = [str(tmp_path / name) for name in ("p.npy", "q.npy")]
    for name, m in zip(files, (p, q), strict=True):
        np.save(name, m)
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        records = pool.map(sums_of_rows, [(*files, 0, 13), (*files, 13, 40)])
        pool.close()
        pool.join()
    assert sum(cg.PairSums(**record) for record in records).arimm() == close(dense.measures(p, q)["arimm"])


# --- golden.json -----------------------------------------------------------------------------------------------------

ASYMMETRIC = {"000_toy_M1_M2_as_printed", "rand_matrix_10", "rand_matrix_11"}
NAMES = {"arimm": "arimm", "nsf_printed": "nsf_printed", "nsf_unit": "nsf", "kas": "kas", "sms": "sms", "ssms": "ssms"}


def cases(kind: str) -> list[Any]:
    return [pytest.param(case, id=case["id"]) for case in CASES if case["kind"] == kind]


@pytest.mark.parametrize("case", cases("matrix"))
def test_golden_matrices(case):
    """The papers' matrices; asymmetric ones are refused; 0/0 of arimm is 1 if both are the same constant."""
    a, b = (np.array(case["inputs"][x], dtype=float) for x in "AB")
    expected = case["expected"]
    assert set(expected) == {*NAMES, "arimm_AA", "arimm_BB", "nsf_msq"}
    if case["id"] in ASYMMETRIC:
        with pytest.raises(cg.InputError, match="not symmetric: entries"):
            cg.arimm(a, b)
        return
    fill = {"arimm": 1.0, "sms": math.nan, "ssms": math.nan}
    values = {key: fill[key] if expected[name] is None else expected[name] for name, key in NAMES.items()}
    assert scores(a, b) == close(values)
    own = {x: 1.0 if expected[f"arimm_{x}{x}"] is None else expected[f"arimm_{x}{x}"] for x in "AB"}
    assert (cg.certainty(a), cg.certainty(b)) == (close(own["A"]), close(own["B"]))
    assert cg.arimm(a, a) == close(own["A"])
    assert (1 - cg.nsf(a, b)) ** 2 == close(1 - expected["nsf_msq"])


@pytest.mark.parametrize("case", cases("ensemble"))
def test_golden_ensembles(case):
    """arimp, certainty, anmi, pnmi as printed and as a mean, consensus indices and the consensus matrix."""
    parts, q, expected = case["inputs"]["parts"], case["inputs"]["q"], case["expected"]
    e = cg.Ensemble(parts)
    assert cg.arimp(e, q) == e.arimp(q) == close(expected["arimp"])
    assert cg.certainty(e) == e.certainty() == close(expected["arimm_self"]) == close(1 - e.uncertainty())
    assert cg.arimm(e, e) == close(expected["arimm_self"])
    assert cg.anmi(e, q) == e.anmi(q) == close(expected["anmi_sqrt"])
    assert cg.pnmi_sum(e) == close(expected["pnmi_eq7_sum"])
    assert cg.compare_to(q, e, "ari")["ari"].mean() == close(expected["mean_ari"])
    assert e.consensus_matrix() == close(np.array(expected["consensus"]))
    if len(parts) == 1:
        assert math.isnan(cg.pnmi(e))
        with pytest.raises(cg.InputError, match="only one member"):
            e.consensus_index()
        return
    assert cg.pnmi(e) == e.pnmi() == close(expected["pnmi_mean"])
    for name, key in (("ci_nmi_sum", "nmi_sum"), ("ci_vi", "vi"), ("ci_ari", "ari")):
        assert cg.consensus_index(e, key) == close(expected[name])


@pytest.mark.parametrize("case", cases("formula"))
def test_golden_baseline_of_certainty(case):
    """Eq. 35: the certainty that random members have on average."""
    assert cg.certainty_random(case["inputs"]["kmax"], case["inputs"]["L"]) == close(case["expected"]["eq35"])


HARD = {**NAMES, "arimp_Ma_b": "arimp", "arimp_Mb_a": "arimp"}


@pytest.mark.parametrize("case", [case for case in cases("hard") if "kas" in case.values[0]["expected"]])
def test_golden_matrix_measures_of_labels(case):
    """The matrix measures of the papers' label vectors."""
    a, b, expected = case["inputs"]["a"], case["inputs"]["b"], case["expected"]
    expected = {**expected, **case.get("expected_with_convention", {})}
    found = cg.compare(a, b, list(OF_TWO))
    for name, key in HARD.items():
        if expected[name] is not None:
            assert found[key] == close(expected[name]), name
        elif key in ("sms", "ssms"):
            assert math.isnan(found[key]), name


def test_random_partitions_reach_the_baseline():
    """certainty of random members is near certainty_random, on both sides of it: a mean, not a bound."""
    values = [cg.certainty(cg.random_partitions(300, 10, 6, random_state=seed)) for seed in range(20)]
    expected = cg.certainty_random(6, 10)
    assert np.mean(values) == pytest.approx(expected, rel=0.03)
    assert min(values) < expected < max(values)
