"""Similarity matrices of every kind, their requirements, and matrices stored in parts."""

from __future__ import annotations

import json
import math
import multiprocessing
from itertools import pairwise
from pathlib import Path
from typing import Any

import naive_matrices as dense
import numpy as np
import pytest
from doors import close
from hypothesis import given
from hypothesis import strategies as st
from matrices_cases import OF_TWO, coassociation, random_matrix, scores
from scipy import sparse

import congruence as cg
from congruence.engine import tiles


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


# --- requirements of a matrix ----------------------------------------------------------------------------------------


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
    """Two mirrored entries that differ by more than the tolerance are refused, with their position."""
    with pytest.raises(
        cg.InputError, match=r"not symmetric: entries \((2, 7|7, 2)\) and \((2, 7|7, 2)\) differ by 0.25"
    ):
        read(asymmetric(), how, tmp_path)
    near = random_matrix(9, 10)
    near[7, 2] += 1e-10
    assert read(near, how, tmp_path) == pytest.approx(read(random_matrix(9, 10), how, tmp_path), abs=1e-9)


@pytest.mark.parametrize("where", [(0, 1), (1, 0), (2, 7), (7, 2), (8, 8), "both"])
def test_missing_entries_are_refused(how, where, tmp_path):
    """NaN anywhere, above, below or on the diagonal, is refused however the matrix is read."""
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
    """compare(…, "all") of matrices and ensembles accounts for every measure; naming one that is left out raises the reason."""
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
    """A matrix has no members, and the message says what to use."""
    with pytest.raises(cg.NotApplicable, match=f"{key} describes the members of an ensemble; for a matrix use cert"):
        getattr(cg, key)(random_matrix(4, 1))


# --- matrices in parts -----------------------------------------------------------------------------------------------


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
    """A block that is left out, added twice, or replaced by another of its size is an error, not a number."""
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
    """The work of one process: read its rows of both files, and return a few numbers."""
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
