"""The GPU engine on a GPU.

Every test of counting, of measures and of matrices runs on the GPU too, as routes of doors.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from doors import needs_card

import congruence as cg
from congruence.engine import cpu, plan
from congruence.inputs.coerce import as_clustering
from congruence.machine import device


def labels(n: int, clusters: list[int], seed: int = 0) -> list[Any]:
    rng = np.random.default_rng(seed)
    return [rng.integers(0, k, n) for k in clusters]


@needs_card
@pytest.mark.parametrize("kind", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", [(1, 2), (63, 1), (1_000, 5), (1_003, 37), (4_096, 3)])
def test_columns_are_encoded_on_the_card_as_on_the_host(kind, order, shape):
    """Codes, names and sizes of label columns of any type and order of memory are those of the host."""
    rng = np.random.default_rng(1)
    low = 3 if kind[0] == "u" else -3
    for clusters in (7, 100 if kind[1] == "1" else 300):
        columns = np.array(rng.integers(low, low + clusters, shape), dtype=kind, order=order)
        columns[columns == low + 2] = low + 1  # an unused label in between
        for there in (device.cupy().asarray(columns, order=order), device.moved(columns)):
            before = there.copy()
            ensemble = cg.Ensemble(there)
            assert (there == before).all(), "the caller's labels were changed"
            for j, member in enumerate(ensemble):
                expected = as_clustering(columns[:, j].copy())
                assert (member.card is not None) == (kind != "u8")
                assert member.codes.dtype == expected.codes.dtype
                assert member.codes.tolist() == expected.codes.tolist()
                assert np.asarray(member.names).tolist() == np.asarray(expected.names).tolist()
                assert cpu.cluster_sizes(member).tolist() == np.bincount(expected.codes).tolist()


@needs_card
def test_labels_far_apart_are_encoded():
    """Labels of a wide range are sorted to get their codes, on the GPU."""
    cp = device.cupy()
    a, b = labels(500, [5, 4])
    far = cp.asarray(np.stack([a * 10**12, b, a - 2**62], axis=1))
    found = cg.compare_all(far, ["ari"])["ari"]
    assert found.tolist() == cg.compare_all([a, b, a], ["ari"], engine="cpu")["ari"].tolist()


@needs_card
def test_auto_counts_where_the_labels_are():
    """CuPy arrays are counted on the GPU by default, and are never copied to the host."""
    cp = device.cupy()
    columns = np.stack(labels(2_000, [5, 9, 3]), axis=1)
    ensemble = cg.Ensemble(cp.asarray(columns))
    found = cg.compare_all(ensemble, ["ari", "vi", "purity"])
    assert plan.engine_for("auto", ensemble.members).__name__.endswith("cuda")
    assert all("_encoded" not in vars(member) for member in ensemble)
    expected = cg.compare_all(columns, ["ari", "vi", "purity"])
    for key in expected:
        np.testing.assert_allclose(found[key], expected[key], rtol=1e-12, atol=1e-14)
    assert cg.ari(cp.asarray(columns[:, 0]), cp.asarray(columns[:, 1])) == expected["ari"][0, 1]
    assert cg.compare_all(cp.asarray(columns), engine="cpu")["ari"].tolist() == expected["ari"].tolist()


@needs_card
def test_torch_tensors_stay_on_the_card():
    """Labels and memberships of torch, on the GPU, give the values of the host."""
    torch = pytest.importorskip("torch")
    columns = torch.randint(0, 9, (1_000, 4), device="cuda", dtype=torch.int32)
    on_host = columns.cpu().numpy()
    assert cg.compare_all(columns)["ari"].tolist() == cg.compare_all(on_host, engine="cpu")["ari"].tolist()
    u = torch.rand((500, 4), device="cuda", dtype=torch.float64)
    u /= u.sum(1, keepdim=True)
    expected = cg.compare(u.cpu().numpy(), on_host[:500, 0], ["ari", "nmi_sum"])
    assert cg.compare(u, columns[:500, 0], ["ari", "nmi_sum"]).to_dict() == pytest.approx(expected.to_dict(), rel=1e-12)


@needs_card
@pytest.mark.parametrize("room", [1, 2, 5, 8])
def test_more_labels_than_the_card_holds(monkeypatch, room):
    """Streaming blocks of members gives the same matrices as all members at once."""
    from congruence.engine.cuda import counting, stacks

    vectors = labels(3_001, np.random.default_rng(3).integers(2, 60, 23).tolist())
    keys = ["ari", "vi", "purity"]
    expected = cg.compare_all(vectors, keys, engine="cpu")
    monkeypatch.setattr(counting, "whole_stack", lambda _: None)
    monkeypatch.setattr(device, "free_memory", lambda: int(3_001 * 3 * room / stacks.SHARE) + 10)
    found = cg.compare_all(cg.Ensemble(vectors), keys, engine="cuda")
    row = cg.compare_to(vectors[0], vectors[1:], keys, engine="cuda")
    for key in keys:
        np.testing.assert_allclose(found[key], expected[key], rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(row[key], expected[key][0, 1:], rtol=1e-12, atol=1e-14)


@needs_card
def test_a_card_that_is_too_small_says_so(monkeypatch):
    """Not even three clusterings fit: one line with both sizes and what to pass."""
    monkeypatch.setattr(device, "free_memory", lambda: 1_000)
    with pytest.raises(cg.InputError, match=r"three clusterings of 5,000 points take .* pass engine='cpu'"):
        cg.compare_all(cg.Ensemble(labels(5_000, [4, 4])), engine="cuda")


@needs_card
@pytest.mark.parametrize("clusters", [[4, 4], [30, 200], [600, 700], [7, 900], [9_000, 5_000], [30_000, 50_000]])
def test_skewed_sorted_and_equal_labels(clusters):
    """One huge cluster, clusters of every size, sorted labels and copies give the sums of the CPU: no counter overflows."""
    n = 200_000
    a, b = labels(n, clusters)
    rng = np.random.default_rng(2)
    every_size = (clusters[0] * rng.random(n) ** 4).astype(np.int64)
    vectors = [a, np.where(rng.random(n) < 0.9, 0, a), np.sort(b), a.copy(), b, every_size, rng.permutation(every_size)]
    keys = ["ari", "vi", "purity", "van_dongen"]
    found, expected = (cg.compare_all(vectors, keys, engine=engine) for engine in ("cuda", "cpu"))
    for key in keys:
        assert found[key].tobytes() == expected[key].tobytes(), key


@needs_card
@pytest.mark.parametrize(
    ("n", "clusters"),
    [(150_000, [70_000, 100_000, 3, 500]), (300_000, [62_042, 60_000, 200_000]), (70_000, [70_000, 2])],
)
def test_any_number_of_clusters_and_any_size(n, clusters):
    """More clusters than 16 bits can count, and large clusters against many others, give the bits of the CPU."""
    vectors = labels(n, clusters)
    vectors.append(np.where(np.arange(n) < 40_237, 0, vectors[0]))
    vectors.append(np.arange(n))
    keys = ["ari", "vi", "nmi_max", "ami_sum", "purity", "van_dongen"]
    found, expected = (cg.compare_all(vectors, keys, engine=engine) for engine in ("cuda", "cpu"))
    for key in keys:
        assert found[key].tobytes() == expected[key].tobytes(), key
    whole = ["accuracy"] if n < 100_000 else []
    for key in [*whole, "rand", "mi"]:
        assert cg.compare(*vectors[:2], key, engine="cuda") == cg.compare(*vectors[:2], key, engine="cpu")


@needs_card
@pytest.mark.parametrize("kind", [np.int64, np.uint8])
def test_vectors_on_the_card_are_encoded_together(monkeypatch, kind):
    """A list or mapping of vectors on the GPU gives what one array gives, also if not all fit at once."""
    cp = device.cupy()
    columns = np.stack(labels(1_000, [5, 9, 3, 200]), axis=1).astype(kind)
    vectors = [cp.asarray(column) for column in columns.T]
    expected = cg.compare_all(columns, ["ari", "vi"], engine="cpu")
    e = cg.Ensemble(vectors)
    assert len({id(member.card.stack) for member in e}) == 1
    for data in (e, vectors, dict(zip("abcd", vectors, strict=True)), [*vectors[:3], columns[:, 3]]):
        found = cg.compare_all(data, ["ari", "vi"], engine="cuda")
        for key in expected:
            assert found[key].tobytes() == expected[key].tobytes()
    free = device.free_memory
    monkeypatch.setattr(device, "free_memory", lambda: 2 * 3 * vectors[0].nbytes)
    e = cg.Ensemble(vectors)
    monkeypatch.setattr(device, "free_memory", free)
    assert len({id(member.card.stack) for member in e}) == 2
    assert cg.compare_all(e, ["vi"])["vi"].tobytes() == expected["vi"].tobytes()


def test_rows_are_dealt_evenly():
    """Each row of the grid of pairs goes to one GPU, and all get about equally many pairs."""
    from congruence.engine.cuda import counting

    runs = [plan.Run(i, i + 1, 100) for i in range(99)]
    for hands in (1, 2, 3, 8):
        found = counting.dealt(runs, hands)
        assert sorted(run.i for hand in found for run in hand) == list(range(99))
        pairs = [sum(len(run) for run in hand) for hand in found]
        assert max(pairs) - min(pairs) < 100


@needs_card
def test_several_cards_give_what_one_gives(monkeypatch):
    """Two stand-ins for GPUs, which are the same one, each count some rows; an error of one is raised."""
    from congruence.engine.cuda import counting

    vectors = labels(5_000, [5, 9, 300, 40, 9, 5])
    expected = cg.compare_all(vectors, ["ari", "vi", "ami_sum"], engine="cpu")
    monkeypatch.setattr(device, "cards", lambda: [0, 0])
    monkeypatch.setattr(counting, "DEALT_FROM", 0)
    for data in (vectors, device.moved(np.stack(vectors, axis=1))):
        found = cg.compare_all(data, ["ari", "vi", "ami_sum"], engine="cuda")
        for key in expected:
            assert found[key].tobytes() == expected[key].tobytes()
    monkeypatch.setattr(counting, "whole_stack", lambda _: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        cg.compare_all(vectors, ["ari"], engine="cuda")


@pytest.mark.parametrize("shared", [232_448, 101_376])
def test_rows_of_large_tables_fit(monkeypatch, shared):
    """For any sizes, a row of a large table has room for its labels, and no counter of the kernel overflows."""
    from congruence.engine.cuda import slices

    monkeypatch.setattr(device, "facts", lambda: (132, shared))
    most = slices.shared_bytes() // 4 // 8 * 8 - 4
    for width in (241, 1_000, 3_000, 10_000, 24_000, most - 1, most, most + 1, most + 4, 65_535):
        for largest in (1, 2, 7, 31, 100, 1_000, 5_000, 20_000, 32_768, 60_000, 10**6):
            for mean in {max(1.0, largest / 2), largest * 0.8, float(largest)}:
                if not slices.sliceable(np.array([50_000]), np.array([largest]), np.array([width]))[0]:
                    assert width > most
                    assert largest > 1 << most.bit_length() - 1
                    continue
                bits, others, threads, cells = slices.slice_shape(width, largest, mean)
                assert cells % 8 == 4
                assert others * cells <= most
                assert -(-(cells // 4) // (threads // others)) * 4 < 255
                if bits:
                    assert largest <= 1 << bits <= min(cells, 1 << 15)
                else:
                    assert width <= cells
    assert slices.slice_shape(1_000, 1_100, 1_000.0)[0] == 0
    assert slices.slice_shape(10_000, 130, 100.0)[0] == 8


@needs_card
def test_the_same_bits_every_time():
    """Sums are added as integers or in a fixed order, so all runs, on the GPU and the CPU, give the same bits."""
    vectors = labels(100_000, [20, 300, 1_000, 5_000, 20])
    keys = ["ari", "vi", "nmi_sqrt", "ami_sum", "ami_max", "v_measure"]
    first, *others = (cg.compare_all(vectors, keys, engine=engine) for engine in ("cpu", "cuda", "cuda"))
    one = cg.compare(vectors[1], vectors[3], keys, engine="cuda")
    for key in first:
        assert one[key] == first[key][1, 3]
        for other in others:
            assert first[key].tobytes() == other[key].tobytes(), key
    many = np.arange(100_000) % 3
    here, there = (cg.compare_all(vectors, keys, frequency=many, engine=engine) for engine in ("cpu", "cuda"))
    for key in keys:
        assert here[key].tobytes() == there[key].tobytes(), key


def test_chunks_have_room():
    """No chunk holds more points than the hash table of its kind has room for."""
    from congruence.engine.cuda import chunks

    for most, points, bits, threads in chunks.CHUNKS:
        assert points + most <= 0.6 * 2**bits
        assert threads <= 512


@needs_card
@pytest.mark.parametrize(("n", "members", "k"), [(1, 2, 1), (130, 300, 4), (333, 9, 300), (1_000, 7, 5)])
def test_consensus_on_the_card(n, members, k):
    """Counts in blocks, their distribution, uncertainty and item consensus are those of the host."""
    rng = np.random.default_rng(5)
    columns = rng.integers(0, k, (n, members))
    whole = (columns[:, None, :] == columns[None, :, :]).sum(axis=2)
    for where, block in cg.consensus_blocks(columns, rows=100, dtype=np.uint16, engine="cuda"):
        assert (block.get() == whole[where]).all()
    for where, block in cg.consensus_blocks(columns, rows=64, engine="cuda"):
        np.testing.assert_allclose(block.get(), whole[where] / members, rtol=1e-15)
    if n < 2:
        return
    for options in ({}, {"frequency": rng.integers(0, 4, n)}):
        e = cg.Ensemble(columns, **options)
        found, expected = (cg.consensus_cdf(e, engine=engine) for engine in ("cuda", "cpu"))
        assert found.pairs == expected.pairs
        assert found.values.tolist() == expected.values.tolist()
        assert found.shares.tolist() == expected.shares.tolist()
        values = [cg.uncertainty(e, engine=engine) for engine in ("cuda", "cpu")]
        assert values[0] == pytest.approx(values[1], rel=1e-12)
        items = [cg.item_consensus(e, columns[:, 0] % 3, engine=engine) for engine in ("cuda", "cpu")]
        np.testing.assert_allclose(*items, rtol=1e-12)


@needs_card
@pytest.mark.parametrize("how", [None, "frequency", "sample_weight"])
def test_covers_are_counted_on_the_card(how):
    """Tables of signatures are counted as those of labels are, with frequencies and weights: every measure is that of the CPU."""
    from doors import OF_COVERS

    rng = np.random.default_rng(0)
    n = 2_000
    covers = [cg.Cover(rng.random((n, k)) < 2 / k) for k in (5, 9, 14)]
    keys = [*OF_COVERS, "bcubed_f", "element_centric"]
    weights = {"frequency": rng.integers(1, 5, n), "sample_weight": rng.random(n)}
    options = {} if how is None else {how: weights[how]}
    sides = [*covers, rng.integers(0, 6, n)]
    expected, found = (cg.compare_all(sides, keys, engine=engine, **options) for engine in ("cpu", "cuda"))
    for key in keys:
        np.testing.assert_allclose(found[key], expected[key], rtol=1e-9, atol=1e-9)
    one, other = (
        cg.compare(*covers[:2], keys, engine=engine, unassigned="drop", **options) for engine in ("cpu", "cuda")
    )
    assert other.to_dict() == pytest.approx(one.to_dict(), rel=1e-9, abs=1e-9)


@needs_card
def test_unsupported_input_on_the_card_is_an_error(tmp_path):
    """Partial, soft or weighted members have no consensus counts on the GPU, and that is an error, not another engine."""
    partial = cg.Ensemble([[0, 0, None], [0, 1, 1]], unassigned="partial")
    weighted = cg.Ensemble([[0, 0, 1], [0, 1, 1]], member_weight=[1, 2])
    covers = cg.Ensemble([cg.Cover([[0, 1], [1, 2]], 3), [0, 1, 1]])
    for e in (partial, weighted, cg.Ensemble([np.full((3, 2), 0.5)]), covers):
        with pytest.raises(cg.InputError, match="pass engine='cpu'"):
            cg.consensus_cdf(e, engine="cuda")
    with pytest.raises(cg.InputError, match="pass engine='cpu'"):
        cg.item_consensus(covers, [0, 0, 1], engine="cuda")
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pa.table({"a": [0, 0, 1], "b": [0, 1, 1]}), tmp_path / "labels.parquet")
    scan = cg.scan(tmp_path / "labels.parquet")
    for call in (lambda: cg.compare(scan["a"], scan["b"], engine="cuda"), lambda: cg.compare_all(scan, engine="cuda")):
        with pytest.raises(cg.InputError, match=r"scan are counted on the CPU.*pass engine='cpu'"):
            call()
    with pytest.raises(cg.InputError, match="pass engine='cpu'"):
        cg.permutation_test(cg.Cover([[0, 1], [1, 2]], 3), [0, 1, 1], "omega", 20, engine="cuda")


@needs_card
def test_permuted_labels():
    """`permuted` gives a and each permutation of b; random orders are permutations, however many fit on the GPU at once."""
    from congruence.engine.cuda import draws

    a, b = labels(3_000, [7, 9])
    orders = np.stack([np.random.default_rng(s).permutation(3_000) for s in range(4)])
    (members,) = draws.permuted(as_clustering(a), as_clustering(b), [orders])
    assert members[0].codes.tolist() == a.tolist()
    assert [m.codes.tolist() for m in members[1:]] == [b[order].tolist() for order in orders]
    drawn = np.concatenate([batch.get() for batch in draws.permutations(50, 300, 1)])
    assert (np.sort(drawn, axis=1) == np.arange(50)).all()
    assert len({tuple(x) for x in drawn.tolist()}) == 300


@needs_card
@pytest.mark.parametrize("sizes", [((3, 2), (4, 1)), ((300, 200, 500), (250, 650, 100)), ((9, 1, 1), (5, 6))])
def test_random_tables(sizes):
    """Tables drawn on the GPU have the requested sizes, matching sums, and hypergeometric cells."""
    from scipy.stats import hypergeom

    from congruence.engine.cuda import draws
    from congruence.statistics.information import terms_of

    many = 20_000
    a, b = (np.broadcast_to(np.array(x), (many, len(x))) for x in sizes)
    squares, logs, best_a, best_b, tables = draws.random_sums(a, b, [True, True], 7, True, True)
    assert (tables.sum(axis=2) == a).all()
    assert (tables.sum(axis=1) == b).all()
    assert (squares == (tables**2).sum(axis=(1, 2))).all()
    assert (best_a == tables.max(axis=2).sum(axis=1)).all()
    assert (best_b == tables.max(axis=1).sum(axis=1)).all()
    assert (logs == terms_of(tables, int(a[0].sum())).sum(axis=(1, 2))).all()
    for i, row in enumerate(sizes[0]):
        for j, column in enumerate(sizes[1]):
            exact = hypergeom(sum(sizes[0]), row, column)
            x = np.arange(column + 1)
            far = np.abs((tables[:, i, j, None] <= x).mean(axis=0) - exact.cdf(x)).max()
            assert far < 2.2 / np.sqrt(many), "Kolmogorov's bound, passed by chance once in 8,000"
    again = draws.random_sums(a, b, [True, True], 7, True, False)
    assert (again[0] == squares).all()
    assert (draws.random_sums(a, b, [True, True], 8, True, False)[0] != squares).any()


@needs_card
@pytest.mark.parametrize("cells", [0.25, 0.0])
@pytest.mark.parametrize("key", ["ari", "nmi_sum", "ami_max", "vi", "purity", "accuracy"])
def test_permutation_tests_on_the_card(monkeypatch, key, cells):
    """Value and exact mean are those of the CPU; draws are similar, and equal for equal seeds; both ways to draw."""
    from scipy.stats import ks_2samp

    from congruence.engine.cuda import draws

    monkeypatch.setattr(draws, "DRAWN_CELLS", cells)
    a, b = labels(2_000, [6, 9])
    b = np.where(np.random.default_rng(1).random(len(a)) < 0.02, a, b)
    options = [{}, {"frequency": np.arange(len(a)) % 3}, {"null": "n_clusters"}] if key == "ari" else [{}]
    for more in options:
        there, here = (
            cg.permutation_test(a, b, key, 800, random_state=3, engine=engine, **more) for engine in ("cuda", "cpu")
        )
        assert there.value == pytest.approx(here.value, rel=1e-12)
        assert there.method == here.method
        if here.is_exact:
            assert there.expected == pytest.approx(here.expected, rel=1e-12, abs=1e-12)
        assert ks_2samp(there.draws, here.draws).pvalue > 1e-4
        again = cg.permutation_test(a, b, key, 500, random_state=3, engine="cuda", **more)
        assert again.draws.tobytes() == there.draws[:500].tobytes()
    cp = device.cupy()
    assert cg.permutation_test(cp.asarray(a), cp.asarray(b), key, 50, random_state=3).draws.tolist() == (
        cg.permutation_test(a, b, key, 50, random_state=3, engine="cuda").draws.tolist()
    )


@needs_card
def test_memberships_and_weights_are_permuted_as_on_the_host():
    """The orders of points come from the host, so that even the draws are the same."""
    rng = np.random.default_rng(4)
    a, b = labels(300, [4, 5])
    for left, more in ((rng.dirichlet(np.ones(3), 300), {}), (a, {"sample_weight": rng.random(300)})):
        there, here = (
            cg.permutation_test(left, b, "ari", 100, random_state=3, engine=engine, **more)
            for engine in ("cuda", "cpu")
        )
        np.testing.assert_allclose(there.draws, here.draws, rtol=1e-10, atol=1e-12)


@needs_card
@pytest.mark.parametrize("bivariate", [False, True])
@pytest.mark.parametrize("method", ["width", "frequency", "mdl"])
def test_density_profiles_on_the_card(monkeypatch, method, bivariate):
    """Counts, sizes, bins and values outside are the same integers, wherever data and labels are."""
    cp = device.cupy()
    rng = np.random.default_rng(6)
    X = rng.normal(size=(3_001, 5))
    X[:, 3] = np.round(X[:, 3])
    X[rng.random(X.shape) < 0.02] = np.nan
    a, wide = rng.integers(0, 6, len(X)), rng.integers(0, 400, len(X))
    frame = {"x": X[:, 0], "word": np.array(["p", "q", "r"])[a % 3], "y": X[:, 1]}
    whole = np.nan_to_num(X * 9).astype(np.int32)

    def binning():
        """Bins that are not fitted yet: each call fits them where its data are."""
        return cg.Binning(method) if method == "mdl" else cg.Binning(method, 7)

    for data in (X, X.astype(np.float32), np.asfortranarray(X), whole, frame):
        for marks in (a, wide, np.where(a == 5, np.nan, a)):
            options: dict[str, Any] = {"bivariate": bivariate, "unassigned": "drop"}
            p = cg.density_profile(data, marks, binning(), engine="cpu", **options)
            found = [cg.density_profile(data, marks, binning(), engine="cuda", **options)]
            if isinstance(data, np.ndarray):
                found.append(cg.density_profile(cp.asarray(data), cp.asarray(marks), binning(), **options))
            for q in found:
                assert q.attributes == p.attributes
                assert q.counts.dtype == p.counts.dtype
                assert (q.counts == p.counts).all()
                assert (q.sizes == p.sizes).all()
                assert (q.outside == p.outside).all()
    here = cg.compare_profiles(a, wide, X, bivariate=bivariate)
    there = cg.compare_profiles(a, wide, cp.asarray(X), bivariate=bivariate)
    assert here.values == there.values
    monkeypatch.setattr(device, "free_memory", lambda: 36 * 2 * 500)  # pieces of 500 points
    assert cg.compare_profiles(a, wide, X, bivariate=bivariate, engine="cuda").values == here.values


@needs_card
def test_memberships_have_profiles_on_the_card():
    """Amounts are sums of floats: equal up to rounding."""
    rng = np.random.default_rng(7)
    X, u = rng.normal(size=(2_000, 3)), rng.dirichlet(np.ones(4), 2_000)
    for bivariate in (False, True):
        p, q = (cg.density_profile(X, u, bivariate=bivariate, engine=engine) for engine in ("cpu", "cuda"))
        np.testing.assert_allclose(q.counts, p.counts, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(q.sizes, p.sizes, rtol=1e-12)


@needs_card
@pytest.mark.parametrize("kinds", ["i8 i8", "u1 i4", "i2 u4"])
@pytest.mark.parametrize(("n", "clusters"), [(2, [1, 2]), (1_000, [7, 5]), (40_000, [100, 90])])
def test_one_pair_is_counted_without_codes(kinds, n, clusters):
    """One measure of two vectors on the GPU is that of the host, from one table over the ranges of the labels."""
    from congruence.comparison.at_once import value_at_once

    a, b = (x.astype(kind) for x, kind in zip(labels(n, clusters), kinds.split(), strict=True))
    there = [device.cupy().asarray(x) for x in (a + a.dtype.type(2), b[::-1].copy())]
    for key in ("ari", "vi", "rand", "nmi_joint"):
        expected = cg.compare(a, b[::-1], key, engine="cpu")[key]
        assert value_at_once(cg.measure(key), *there) == getattr(cg, key)(*there) == expected
    assert value_at_once(cg.measure("ari"), there[0], b) is None
    far = device.cupy().asarray(np.array([0, 10**12, 5]))
    assert value_at_once(cg.measure("ari"), far, far) is None
    assert cg.ari(far, far) == 1.0
