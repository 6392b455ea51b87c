"""The consensus matrix, its items and clusters, and the distribution of its values."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import naive_matrices as dense
import numpy as np
import pytest
from doors import close
from ensemble_cases import A, B, C, U, partial, several, with_labels
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from strategies import memberships, weights

import congruence as cg
from congruence.ensembles import agreement

# --- the consensus matrix --------------------------------------------------------------------------------------------


@pytest.mark.slow
@given(several(gaps=True), st.integers(1, 5), st.sampled_from([np.float32, "float64"]))
def test_consensus_matrix(runs, rows, dtype):
    """Dense in either precision, in blocks of rows, sparse above a threshold: as defined, 1 on the diagonal."""
    for missing in ("ratio", "plain"):
        e, expected = partial(runs), dense.consensus(runs, missing=missing)
        m = e.consensus_matrix(dtype=dtype, missing=missing)
        assert m.dtype == np.dtype(dtype)
        assert (np.diag(m) == 1).all()
        assert m == pytest.approx(expected, abs=1e-7 if dtype == np.float32 else 1e-15, nan_ok=True)
        blocks = list(e.consensus_blocks(rows=rows, dtype=dtype, missing=missing))
        assert [b.shape for _, b in blocks] == [(s.stop - s.start, e.n_points) for s, _ in blocks]
        assert np.array_equal(np.concatenate([b for _, b in blocks]), m, equal_nan=True)
        thin = e.consensus_matrix(threshold=0.5, dtype=dtype, missing=missing)
        assert sparse.issparse(thin)
        assert thin.dtype == np.dtype(dtype)
        assert np.array_equal(thin.toarray(), np.where(m >= 0.5, m, 0))


@pytest.mark.slow
def test_consensus_matrix_over_several_tiles():
    """Tiles of 512 points, on one thread or two, fuzzy and weighted members too."""
    e = cg.random_partitions(1100, 4, 5, random_state=0)
    codes = np.stack([c.codes for c in e])
    expected = (codes[:, :, None] == codes[:, None, :]).mean(axis=0)
    for threads in (1, 2):
        assert np.array_equal(e.consensus_matrix(threads=threads), expected)
    blocks = np.concatenate([b for _, b in e.consensus_blocks(rows=300)])
    assert np.array_equal(blocks, expected)
    heavy = cg.Ensemble(e, member_weight=[1, 2, 3, 4]).consensus_matrix(dtype="float32")
    assert np.abs(heavy - np.average(codes[:, :, None] == codes[:, None, :], axis=0, weights=[1, 2, 3, 4])).max() < 1e-6
    assert e.consensus_matrix(threshold=0.75).nnz == (expected >= 0.75).sum()


def test_blocks_of_integers_count_members():
    """An integer type gives the number of members; shares would be cut to 0 or 1."""
    runs = [[0, 0, 1, 1], [0, 1, 1, 1], [0, 0, 0, 1]]
    codes = np.array(runs)
    expected = (codes[:, :, None] == codes[:, None, :]).sum(axis=0)
    for some, counts in ((runs, expected), (runs[:1], codes[0][:, None] == codes[0])):
        blocks = [b for _, b in cg.consensus_blocks(some, rows=3, dtype="uint8")]
        assert {b.dtype for b in blocks} == {np.dtype("uint8")}
        assert np.concatenate(blocks).tolist() == np.array(counts, dtype=int).tolist()
    gaps = cg.Ensemble([[0, 0, None], [0, None, 0]], unassigned="partial")
    ((_, plain),) = gaps.consensus_blocks(dtype=int, missing="plain")
    assert plain.tolist() == [[2, 1, 1], [1, 2, 0], [1, 0, 2]]
    for shares in (gaps, cg.Ensemble(runs, member_weight=[1, 2, 3]), [np.eye(2), np.full((2, 2), 0.5)]):
        with pytest.raises(cg.InputError, match="counts members, which must be labels of equal weight"):
            cg.consensus_blocks(shares, dtype=int)
    with pytest.raises(cg.InputError, match="uint8 cannot count 256 members; pass dtype='int32'"):
        cg.consensus_blocks(np.zeros((2, 256), int), dtype="uint8")


def test_diagonal_is_1_for_every_ensemble():
    """Also for fuzzy members, points seen by some members, and a point seen by none."""
    for e in (cg.Ensemble([np.array(U), A]), partial([[0, None, 1], [None, None, 0]])):
        for m in (
            e.consensus_matrix(),
            e.consensus_matrix(missing="plain"),
            e.consensus_matrix(threshold=0.9).toarray(),
        ):
            assert (np.diag(m) == 1).all()


@pytest.mark.slow
def test_a_matrix_larger_than_memory_is_refused(monkeypatch):
    """With the size it would take, what there is, and what to do instead; measures go on without it."""
    e = cg.random_partitions(100_000, 3, 4, random_state=0)
    monkeypatch.setattr(agreement, "_available_memory", lambda: 2.0 * 2**30)
    said = r"of 100,000 points takes 74\.5 GB, but 2\.0 GB are free; pass dtype='float32'"
    with pytest.raises(cg.InputError, match=said) as error:
        e.consensus_matrix()
    for way_out in ("float32", "threshold", "consensus_blocks", "measures"):
        assert way_out in str(error.value)
    with pytest.raises(cg.InputError, match=r"takes 37\.3 GB"):
        e.consensus_matrix(dtype="float32")
    assert cg.certainty_random(4, 3) == pytest.approx(cg.certainty(e), rel=0.5)
    assert next(iter(e.consensus_blocks(rows=2)))[1].shape == (2, 100_000)
    monkeypatch.setattr(agreement, "_available_memory", lambda: 300.0)
    assert cg.consensus_matrix([A, B], dtype="float32").shape == (6, 6)
    with pytest.raises(cg.InputError, match=r"takes 0.0 GB"):
        cg.consensus_matrix([A, B])


def test_options_of_the_consensus_matrix():
    """Other types, a threshold that keeps everything, and blocks without rows are refused when they are requested."""
    with pytest.raises(cg.InputError, match="float32 or float64, not int64"):
        cg.consensus_matrix([A, B], dtype=int)
    with pytest.raises(cg.InputError, match="threshold must be above 0"):
        cg.consensus_matrix([A, B], threshold=0)
    with pytest.raises(cg.InputError, match="at least one row, not 0"):
        cg.consensus_blocks([A, B], rows=0)
    with pytest.raises(cg.InputError, match="not 'pooled'"):
        cg.consensus_blocks([A, B], missing="pooled")


def test_available_memory_is_a_number():
    """The available memory is above 0."""
    assert agreement._available_memory() > 2**20


# --- items, clusters, silhouettes ------------------------------------------------------------------------------------


@pytest.mark.slow
@given(with_labels(), st.data())
def test_items_and_clusters(given_, data):
    """item_consensus and cluster_consensus are means over the n × n matrix; one point alone has none with itself."""
    runs, q = given_
    n = len(q)
    for mixed in (runs, [*runs, data.draw(memberships(n))]):
        made = [cg.Memberships(m) if isinstance(m[0], list) else m for m in mixed]
        e, m = cg.Ensemble(made), dense.consensus(mixed)
        assert cg.item_consensus(e, q) == close(dense.item_consensus(m, q))
        assert e.item_consensus(q) == close(dense.item_consensus(m, q))
        assert cg.cluster_consensus(e, q) == close(dense.cluster_consensus(m, q))
        assert e.cluster_consensus(q) == close(dense.cluster_consensus(m, q))


@pytest.mark.slow
@given(with_labels(), st.data())
@settings(max_examples=25)
def test_items_and_clusters_of_counted_points(given_, data):
    """frequency is the same as repeating the points, also for a point that occurs 0 times."""
    runs, q = given_
    n = len(q)
    f = data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n).filter(any))
    at = [i for i in range(n) for _ in range(f[i])]
    m = dense.consensus([[r[i] for i in at] for r in runs])
    again = [q[i] for i in at]
    items, clusters = dense.item_consensus(m, again), dense.cluster_consensus(m, again)
    e = cg.Ensemble(runs, frequency=f)
    found = cg.cluster_consensus(e, q)
    for name, value in found.items():
        assert value == close(clusters.get(name, math.nan))
    kept = [k for k, name in enumerate(sorted(set(q))) if name in again]
    assert cg.item_consensus(e, q)[at][:, kept] == close(items)
    missing = [i for i in range(n) if not f[i]]
    for i in missing:  # a point that does not occur still has a consensus with those that do
        others = [j for j in at if q[j] == q[i]]
        if others:
            row = dense.consensus(runs)[i]
            where = sorted(set(q)).index(q[i])
            assert cg.item_consensus(e, q)[i, where] == close(np.mean([row[j] for j in others]))


def test_items_of_weighted_points():
    """Means weighted by the other points; the scale of the weights does not matter, however small."""
    w = [1.0, 2.0, 0.5, 1.0, 4.0, 1.0]
    m = dense.consensus([A, B, C])
    q = [0, 0, 0, 1, 1, 1]
    expected = np.empty((6, 2))
    for i in range(6):
        for k in (0, 1):
            others = [j for j in range(6) if j != i and q[j] == k]
            expected[i, k] = np.average([m[i][j] for j in others], weights=[w[j] for j in others])
    for scale in (1, 1e-15, 1e9):
        e = cg.Ensemble([A, B, C], sample_weight=[x * scale for x in w])
        assert cg.item_consensus(e, q) == close(expected)
        pairs = [(i, j) for i in range(3) for j in range(i + 1, 3)]
        inside = np.average([m[i][j] for i, j in pairs], weights=[w[i] * w[j] for i, j in pairs])
        assert cg.cluster_consensus(e, q)[0] == close(inside)


def test_items_of_partial_members():
    """A member counts for a point once per labelled pair with a point of the cluster; without such a pair it is undefined."""
    e = partial([[0, 0, 1, None], [0, None, 0, None]])
    found = cg.item_consensus(e, ["x", "x", "y", "y"])
    # point 0 with x: point 1 once, together; with y: point 2 twice, together once; point 3 never
    assert found[0].tolist() == [1.0, 0.5]
    assert found[2].tolist() == close([1 / 3, math.nan])
    assert np.isnan(found[3]).all()
    assert cg.cluster_consensus(e, ["x", "x", "y", "y"]) == close({"x": 1.0, "y": math.nan})


@pytest.mark.slow
@given(with_labels(), st.data())
def test_silhouette(given_, data):
    """The silhouettes of scikit-learn with distance 1 − consensus, in a fraction of the memory."""
    metrics = pytest.importorskip("sklearn.metrics")
    runs, q = given_
    n = len(q)
    u = data.draw(memberships(n))
    if len(set(q)) < 2:
        with pytest.raises(cg.InputError, match="at least two clusters"):
            cg.consensus_silhouette(runs, q)
        return
    if len(set(q)) == n:
        assert cg.consensus_silhouette(runs, q).tolist() == [0.0] * n
        return
    for mixed, made in ((runs, runs), ([*runs, u], [*runs, cg.Memberships(u)])):
        expected = metrics.silhouette_samples(1 - dense.consensus(mixed), q, metric="precomputed")
        assert cg.consensus_silhouette(made, q) == pytest.approx(expected, abs=1e-9)
        assert cg.Ensemble(made).silhouette(q) == pytest.approx(expected, abs=1e-9)


def test_labels_of_items_are_a_complete_partition():
    """Memberships and labels with gaps have no clusters to take means over."""
    for labels in (np.array(U), [0, 0, 1, 1, None, 1]):
        with pytest.raises(cg.InputError, match="one complete partition"):
            cg.item_consensus([A, B], labels)


# --- the distribution of consensus values ----------------------------------------------------------------------------


def as_dict(cdf: Any) -> dict[float, float]:
    return dict(zip(cdf.values.tolist(), cdf.shares.tolist(), strict=True))


@pytest.mark.slow
@given(several(gaps=True), st.data())
def test_cdf(runs, data):
    """Values and shares are the histogram of the n × n matrix; the area is 1 − the mean; PAC is (lower, upper]."""
    a = [x + 1 / 8 for x in data.draw(weights(len(runs)))]
    for shares in (None, a):
        for missing in ("ratio", "plain"):
            expected = dense.histogram(dense.consensus(runs, shares, missing))
            e = partial(runs, member_weight=shares)
            if not expected:
                with pytest.raises(cg.InputError, match="no member labels any pair of points"):
                    e.cdf(missing=missing)
                continue
            f = e.cdf(missing=missing)
            assert f.is_exact
            assert as_dict(f) == close(expected)
            assert f.area == close(1 - sum(x * share for x, share in expected.items()))
            for x in (-0.1, 0, 0.3, 0.5, 1):
                assert f(x) == close(sum(share for value, share in expected.items() if value <= x + 1e-12))
            low, high = 0.25, 0.75
            assert e.pac(low, high, missing=missing) == close(
                sum(share for x, share in expected.items() if low + 1e-12 < x <= high + 1e-12)
            )


@pytest.mark.slow
@given(several(gaps=True), st.data())
@settings(max_examples=25)
def test_cdf_of_counted_points(runs, data):
    """frequency is the same as repeating the points, for hard, fuzzy and partial members; copies are pairs too."""
    n = len(runs[0])
    f = data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n).filter(lambda x: sum(x) > 1))
    at = [i for i in range(n) for _ in range(f[i])]
    u = data.draw(memberships(n))
    complete = [[0 if x is None else x for x in m] for m in runs]
    for mixed in (complete, runs, [*complete, u]):
        made = [cg.Memberships(m) if isinstance(m[0], list) else m for m in mixed]
        for missing in ("ratio", "plain"):
            expected = dense.histogram(dense.consensus([[m[i] for i in at] for m in mixed], missing=missing))
            if expected:
                found = cg.consensus_cdf(partial(made, frequency=f), missing=missing)
                assert as_dict(found) == close(expected), missing


def test_cdf_of_many_points():
    """Over several tiles, by groups of points with equal labels, and with weights where groups are not formed."""
    e = cg.random_partitions(1200, 4, 4, random_state=1)
    expected = dense.histogram(e.consensus_matrix())
    assert as_dict(e.cdf()) == close(expected)
    assert e.cdf().pairs == 1200 * 1199 / 2
    assert as_dict(cg.Ensemble(e, member_weight=[1, 1, 1, 1]).cdf()) == close(expected)
    seen: list[tuple[int, int]] = []
    cg.consensus_cdf(cg.Ensemble(e, member_weight=[1, 1, 1, 1]), progress=lambda *x: seen.append(x))
    assert len(seen) == 6


def test_a_sampled_cdf_says_so():
    """is_exact is False; the shares are near; the same seed gives the same sample."""
    e = cg.random_partitions(400, 5, 4, random_state=2)
    exact, sampled = e.cdf(), e.cdf(sample=20_000, random_state=3)
    assert not sampled.is_exact
    assert sampled.pairs == 20_000
    assert "a sample of 20,000 pairs" in repr(sampled)
    assert "all 79,800 pairs" in repr(exact)
    assert np.abs(sampled(np.linspace(0, 1, 11)) - exact(np.linspace(0, 1, 11))).max() < 0.02
    assert sampled.shares.tolist() == e.cdf(sample=20_000, random_state=3).shares.tolist()
    fuzzy = cg.Ensemble([np.array(U), A])
    assert fuzzy.cdf(sample=5000, random_state=0).area == pytest.approx(fuzzy.cdf().area, abs=0.02)
    gaps = partial([[0, 0, None, 1], [0, 1, 1, None]])
    for missing in ("ratio", "plain"):
        exact = gaps.cdf(missing=missing).area
        assert gaps.cdf(sample=5000, random_state=0, missing=missing).area == pytest.approx(exact, abs=0.03)


def test_a_sampled_cdf_draws_points_as_often_as_they_occur():
    """With frequency the sample is of the repeated points: a point that occurs 0 times is never drawn."""
    e = cg.Ensemble([[0, 0, 1, 2], [0, 1, 1, 2]], frequency=[30, 1, 5, 0])
    exact, sampled = e.cdf(), e.cdf(sample=20_000, random_state=0)
    assert set(sampled.values) <= set(exact.values)
    assert sampled(exact.values) == pytest.approx(exact(exact.values), abs=0.02)
    for bad in ({"sample": 0}, {"sample": -1}):
        with pytest.raises(cg.InputError, match="sample must be at least 1"):
            e.cdf(**bad)
    with pytest.raises(cg.InputError, match="from 1 points"):
        cg.consensus_cdf([[0], [0]], sample=3)


def test_cdf_refuses_what_it_has_no_pairs_for():
    """Importance weights, bounds in the wrong order, the pooled meaning of gaps, and a single point."""
    with pytest.raises(cg.InputError, match="no sample_weight"):
        cg.consensus_cdf(cg.Ensemble([A, B], sample_weight=[1, 2, 1, 1, 1, 1]))
    with pytest.raises(cg.InputError, match=r"pac needs 0 ≤ lower < upper ≤ 1, not 0.9 and 0.1"):
        cg.Ensemble([A, B]).pac(0.9, 0.1)
    with pytest.raises(cg.InputError, match="pooled"):
        cg.consensus_cdf([A, B], missing="pooled")
    with pytest.raises(cg.InputError, match="no member labels any pair of points"):
        cg.consensus_cdf([[0], [1]])


def test_cdf_as_a_frame():
    """Columns: value, share, cumulative share up to 1."""
    frame = cg.consensus_cdf([A, B, C]).to_frame()
    assert list(frame.columns) == ["consensus", "share", "cumulative"]
    assert frame["cumulative"].iloc[-1] == close(1.0)


@pytest.mark.slow
@given(st.lists(several(gaps=True), min_size=1, max_size=3))
@settings(max_examples=25)
def test_delta_area(ensembles):
    """The area is 1 − the mean consensus, as that of the distribution; then its relative growth from k to k."""
    by_k = {k: partial(runs) for k, runs in enumerate(ensembles, 2)}
    try:
        areas = [e.cdf().area for e in by_k.values()]
    except cg.InputError:
        return  # an ensemble without any pair seen together
    found = cg.delta_area(dict(reversed(by_k.items())))
    assert list(found) == list(by_k)
    assert found[2] == pytest.approx(areas[0], abs=1e-9)
    for k, (before, now) in enumerate(pairwise(areas), 3):
        if before > 1e-9:
            assert found[k] == pytest.approx((now - before) / before, abs=1e-9)
        else:
            assert math.isnan(found[k])


def test_area_of_fuzzy_weighted_and_counted_members():
    """1 − the mean consensus in each case, without the matrix."""
    upper = np.triu_indices(6, 1)
    fuzzy = cg.Ensemble([np.array(U), A], member_weight=[1, 3])
    assert cg.delta_area({2: fuzzy})[2] == close(1 - fuzzy.consensus_matrix()[upper].mean())
    counted = cg.Ensemble([A, B], frequency=[1, 2, 0, 1, 1, 3])
    assert cg.delta_area({2: counted})[2] == close(counted.cdf().area)
