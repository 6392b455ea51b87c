"""Consensus of scanned columns: the labels of a consensus in memory, from two passes over rows that stay in their files."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pyarrow as pa
import pytest
from consensus_cases import taken_by
from pyarrow import csv, parquet

import congruence as cg
from congruence.consensus_clustering import population, search
from congruence.scanning import parts
from congruence.scanning.room import Overfull
from congruence.scanning.scan import Scan

N = 1_200

pytestmark = pytest.mark.slow


def columns(gaps=0.0, seed=0, members=6, k=4):
    """Noisy copies of one clustering, as strings, with gaps if requested."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, k, N)
    found = {}
    for j in range(members):
        own = np.where(rng.random(N) < 0.25, rng.integers(0, k, N), truth)
        values = [None if rng.random() < gaps else f"c{x}" for x in own] if gaps else own
        found[f"m{j}"] = values
    return found


@pytest.fixture
def few(monkeypatch):
    """Many rows are more than 600 here, and 300 of them take part in the search."""
    monkeypatch.setattr(search, "ALL_UP_TO", 600)
    monkeypatch.setattr(search, "SAMPLED", 300)
    monkeypatch.setattr(search, "PER_CLUSTER", 20)


def stored(folder, data, group=250, files=3):
    """A folder of Parquet files with an id column."""
    folder.mkdir()
    table = pa.table({"name": [f"row {i}" for i in range(N)], **data})
    for i in range(files):
        part = table.slice(i * N // files, N // files)
        parquet.write_table(part, folder / f"{i}.parquet", row_group_size=group)
    return folder


def read(folder):
    """All rows of the files that were written."""
    return pa.concat_tables([parquet.read_table(path) for path in sorted(folder.glob("part-*.parquet"))])


@pytest.mark.parametrize("method", ["auto", "hbgf", "ncut", "mcla", "voting", "kcc"])
def test_the_labels_are_those_in_memory(tmp_path, few, method):
    """A consensus of scanned columns has the labels and the confidence of one in memory, to the last bit."""
    data = columns()
    r = cg.consensus(data, 4, method, 0, progress=False, **taken_by(method, n_init=2))
    s = cg.consensus(
        cg.scan(stored(tmp_path / "in", data), id="name"), 4, method, 0, progress=False, **taken_by(method, n_init=2)
    )
    assert (s.labels == r.labels).all()
    assert np.array_equal(s.confidence, r.confidence)
    assert (s.method, s.n_clusters, s.notes) == (r.method, r.n_clusters, r.notes)
    assert s["pooled_ami"] == r["pooled_ami"]
    with pytest.raises(cg.NotApplicable, match="not stored"):
        s.memberships  # noqa: B018


@pytest.mark.parametrize(("sampled", "method"), [(300, "hbgf"), (450, "mcla"), (599, "ncut")])
def test_tables_of_all_rows_by_scan_and_in_memory(tmp_path, few, monkeypatch, sampled, method):
    """Methods that read tables of all rows give the same bits for any sample, threads, parts, text labels and memory limit."""
    monkeypatch.setattr(search, "SAMPLED", sampled)
    data = {name: [f"c{x}" for x in own] for name, own in columns(seed=4).items()}
    r = cg.consensus(data, 4, method, 1, progress=False, **taken_by(method, n_init=2))
    assert any("those of all points" in note for note in r.notes)
    for group, way in (
        (90, {"threads": 3}),
        (1000, {"threads": 1, "memory": "3kB"}),
        (200, {"client": ThreadPoolExecutor(2)}),
    ):
        memory = {"memory": way.pop("memory")} if "memory" in way else {}
        scan = cg.scan(stored(tmp_path / f"in{group}", data, group), id="name", **memory)
        s = cg.consensus(scan, 4, method, 1, progress=False, **way, **taken_by(method, n_init=2))
        assert (s.labels == r.labels).all()
        assert np.array_equal(s.confidence, r.confidence)
        assert s.notes == r.notes


@pytest.mark.parametrize(("group", "files"), [(70, 1), (400, 3), (10_000, 2)])
def test_parts_do_not_show(tmp_path, few, group, files):
    """Row groups, files, threads and executors change nothing; the files hold the names of the rows in order."""
    data = columns()
    expected = cg.consensus(data, 4, "kcc", 0, n_init=2, progress=False)
    folder = stored(tmp_path / "in", data, group, files)
    for way in ({"threads": 1}, {"threads": 3}, {"client": ThreadPoolExecutor(2)}):
        out = tmp_path / f"out{len(list(tmp_path.iterdir()))}"
        r = cg.consensus(cg.scan(folder, id="name"), 4, "kcc", 0, n_init=2, out=out, progress=False, **way)
        found = read(out)
        assert found["name"].to_pylist() == [f"row {i}" for i in range(N)]
        assert (found["cluster"].to_numpy() == expected.labels).all()
        assert (found["confidence"].to_numpy() == expected.confidence.astype(np.float32)).all()
        assert r.sizes == tuple(np.bincount(expected.labels).tolist())
        assert (r.n_points, r.n_clusters, r.columns) == (N, 4, ("name", "cluster", "confidence"))
        assert r.mean_confidence == pytest.approx(expected.confidence.mean(), rel=1e-6)
        assert "written to" in repr(r)
        assert r.to_dict()["sizes"] == list(r.sizes)


def test_gaps_noise_text_and_csv(tmp_path, few):
    """Partial members, labels that mean noise, and text files are read as in memory."""
    data = columns(gaps=0.2)
    expected = cg.consensus(cg.Ensemble(data, unassigned="partial", noise="c3"), 3, "hbgf", 1, n_init=2, progress=False)
    folder = stored(tmp_path / "in", data)
    lazy = cg.Ensemble(cg.scan(folder, id="name"), unassigned="partial", noise="c3")
    found = cg.consensus(lazy, 3, "hbgf", 1, n_init=2, progress=False)
    assert (found.labels == expected.labels).all()
    assert np.array_equal(found.confidence, expected.confidence, equal_nan=True)
    with pytest.raises(cg.InputError, match="unassigned"):
        cg.consensus(cg.scan(folder, id="name"), 3, "hbgf", 1, progress=False)
    plain = columns()
    csv.write_csv(pa.table(plain), tmp_path / "rows.csv")
    expected = cg.consensus(plain, 4, "voting", 0, progress=False)
    found = cg.consensus(cg.scan(tmp_path / "rows.csv"), 4, "voting", 0, progress=False)
    assert (found.labels == expected.labels).all()
    batches = pa.table(plain).to_batches(max_chunksize=170)
    found = cg.consensus(cg.scan(lambda: iter(batches)), 4, "voting", 0, progress=False)
    assert (found.labels == expected.labels).all()


def test_few_rows_are_read_as_a_whole(tmp_path):
    """Up to the limit every method works, and has the labels it has in memory."""
    data = columns()
    scan = cg.scan(stored(tmp_path / "in", data), id="name")
    for method in ("average", "kcc"):
        expected = cg.consensus(data, 4, method, 0, progress=False, **taken_by(method, n_init=2))
        out = tmp_path / method
        r = cg.consensus(scan, 4, method, 0, out=out, progress=False, **taken_by(method, n_init=2))
        assert (read(out)["cluster"].to_numpy() == expected.labels).all()
        assert r.notes == expected.notes


def test_a_stopped_run_continues(tmp_path, few, monkeypatch):
    """With a checkpoint, files that are there and whole are not written again; the bytes are those of one run."""
    folder = stored(tmp_path / "in", columns(), 100)
    whole, out, saved = tmp_path / "whole", tmp_path / "out", tmp_path / "saved"
    cg.consensus(cg.scan(folder, id="name"), 4, "kcc", 0, n_init=2, out=whole, progress=False)
    cg.consensus(cg.scan(folder, id="name"), 4, "kcc", 0, n_init=2, out=out, checkpoint=saved, progress=False)
    files = sorted(out.iterdir())
    assert [x.read_bytes() for x in files] == [x.read_bytes() for x in sorted(whole.iterdir())]
    files[1].unlink()
    files[2].write_bytes(b"half")
    kept = files[0].stat().st_mtime_ns
    r = cg.consensus(cg.scan(folder, id="name"), 4, "kcc", 0, n_init=2, out=out, checkpoint=saved, progress=False)
    assert [x.read_bytes() for x in sorted(out.iterdir())] == [x.read_bytes() for x in sorted(whole.iterdir())]
    assert files[0].stat().st_mtime_ns == kept
    assert r.n_points == N
    assert sum(r.sizes) == N
    with pytest.raises(cg.InputError, match="holds other files"):
        cg.consensus(cg.scan(folder, id="name"), 4, "kcc", 0, n_init=2, out=out, progress=False)


def test_impossible_requests_give_a_reason(tmp_path, few):
    """Methods that need all points, weights, one-pass streams and wrong places are refused in one line."""
    data = columns()
    scan = cg.scan(stored(tmp_path / "in", data), id="name")
    with pytest.raises(cg.InputError, match=r"cspa: needs all 1,200 rows.*auto, hbgf, ncut, kcc"):
        cg.consensus(scan, 4, "cspa", progress=False)
    with pytest.raises(cg.InputError, match="only once"):
        cg.consensus(cg.scan(iter(pa.table(data).to_batches())), 4, progress=False)
    with pytest.raises(cg.InputError, match="out needs scanned columns"):
        cg.consensus(data, 4, out=tmp_path / "out", progress=False)
    with pytest.raises(cg.InputError, match="is a file"):
        cg.consensus(scan, 4, "kcc", out=tmp_path / "in" / "0.parquet", progress=False)
    with pytest.raises(cg.InputError, match="needs scanned columns"):
        cg.consensus(data, 4, checkpoint=tmp_path / "saved", progress=False)
    with pytest.raises(cg.InputError, match="need points in memory"):
        cg.consensus(scan, 4, unseen="nearest", X=np.zeros((N, 2)), progress=False)
    with pytest.raises(cg.InputError, match="whole number from 1"):
        cg.consensus(scan, 0, progress=False)


def test_unreadable_parts_are_left_out(tmp_path, few):
    """skip_bad leaves out what cannot be read, and a note says so."""
    folder = stored(tmp_path / "in", columns())
    (folder / "9.parquet").write_bytes(b"no parquet")
    with pytest.raises(cg.InputError, match="could not be read"):
        cg.consensus(cg.scan(folder, id="name"), 4, "kcc", 0, progress=False)
    r = cg.consensus(cg.scan(folder, id="name", skip_bad=True), 4, "kcc", 0, n_init=2, progress=False)
    assert len(r.labels) == N
    assert any(note.startswith("left out") for note in r.notes)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["kcc", "hbgf"])
def test_on_dask(tmp_path, few, method):
    """Workers place the rows and write the files: the same bytes as here, from files and from a Dask frame."""
    distributed = pytest.importorskip("distributed")
    folder = stored(tmp_path / "in", columns())
    cg.consensus(cg.scan(folder, id="name"), 4, method, 0, n_init=2, out=tmp_path / "here", progress=False)
    with (
        distributed.LocalCluster(n_workers=2, processes=False, dashboard_address=None) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        out = tmp_path / "there"
        cg.consensus(cg.scan(folder, id="name"), 4, method, 0, n_init=2, out=out, client=client, progress=False)
        assert [x.read_bytes() for x in sorted(out.iterdir())] == [
            x.read_bytes() for x in sorted((tmp_path / "here").iterdir())
        ]
        pandas, frames = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
        frame = frames.from_pandas(pandas.DataFrame(columns()), npartitions=3)
        labels = cg.consensus(frame, 4, method, 0, n_init=2, client=client, progress=False).labels
        assert (labels == read(out)["cluster"].to_numpy()).all()


def test_the_command(tmp_path, few, monkeypatch):
    """`congruence consensus labels/ --k 4 --out consensus/` writes the files and leaves a column called truth out."""
    from typer.testing import CliRunner

    from congruence.cli import app

    data = columns()
    stored(tmp_path / "labels", {**data, "truth": data["m0"]})
    monkeypatch.chdir(tmp_path)
    args = "consensus labels/ --k 4 --id name --method kcc --seed 0 --out consensus/"
    done = CliRunner().invoke(app, args.split())
    assert done.exit_code == 0, done.output
    assert "truth is not a member" in done.output
    expected = cg.consensus(data, 4, "kcc", 0, progress=False)
    assert (read(tmp_path / "consensus")["cluster"].to_numpy() == expected.labels).all()


# --- passes over the rows ----------------------------------------------------------------------------------------


@pytest.fixture
def reads(monkeypatch):
    """Names of the parts that were read to their end, in order."""
    found, own = [], parts.RowGroup.batches

    def batches(part, *how):
        yield from own(part, *how)
        found.append(part.where)

    monkeypatch.setattr(parts.RowGroup, "batches", batches)
    return found


@pytest.mark.parametrize("method", ["auto", "hbgf", "ncut", "mcla", "lwgp", "voting"])
@pytest.mark.parametrize(("group", "way"), [(100, {}), (400, {"threads": 3}), (100, {"client": ThreadPoolExecutor(2)})])
def test_two_passes(tmp_path, few, reads, method, group, way):
    """One pass takes the sample and counts the tables, the second places the rows; no part is read a third time."""
    scan = cg.scan(stored(tmp_path / "in", columns(), group), id="name")
    cg.consensus(scan, 4, method, 0, out=tmp_path / "out", progress=False, **way, **taken_by(method, n_init=2))
    assert sorted(reads) == sorted(2 * [part.where for part in scan.input.listed])


def test_two_passes_over_large_parts(tmp_path, few, reads, monkeypatch):
    """Few large parts are read in one thread and counted in all; rows are taken on the way too."""
    data = columns(seed=2)
    monkeypatch.setattr(Scan, "_rows_of_batch", lambda *_: 70)
    scan = cg.scan(stored(tmp_path / "in", data, N), id="name", threads=4)
    s = cg.consensus(scan, 4, "hbgf", 0, n_init=2, progress=False)
    assert sorted(reads) == sorted(2 * [part.where for part in scan.input.listed])
    assert (s.labels == cg.consensus(data, 4, "hbgf", 0, n_init=2, progress=False).labels).all()


def test_tables_that_are_there_are_not_counted_again(tmp_path, few, reads):
    """After a comparison of the same columns, or from a checkpoint, only the rows of the sample are read."""
    data, saved = columns(seed=3), tmp_path / "saved"
    expected = cg.consensus(data, 4, "ncut", 0, n_init=2, progress=False)
    folder = stored(tmp_path / "in", data, 100)
    scan = cg.scan(folder, id="name")
    cg.compare_all(scan)
    once = len(reads)
    assert (cg.consensus(scan, 4, "ncut", 0, n_init=2, progress=False).labels == expected.labels).all()
    assert len(reads) == 3 * once
    for _ in range(2):  # counted and taken, then only taken
        scan = cg.scan(folder, id="name", checkpoint=saved)
        found = cg.consensus(scan, 4, "ncut", 0, n_init=2, progress=False)
        assert (found.labels == expected.labels).all()
        assert np.array_equal(found.confidence, expected.confidence)
    assert len(reads) == 7 * once


def test_many_clusters_are_sampled_first(tmp_path, few, reads, monkeypatch):
    """Tables of too many clusters are not counted; the sample is taken before tables that exceed the memory with it."""
    data = columns(seed=5)
    folder = stored(tmp_path / "in", data, 100)
    expected = cg.consensus(data, 4, "hbgf", 0, n_init=2, progress=False)
    own = Scan._fold

    def fold(scan, *how):
        if how[-1] is not None:
            raise Overfull(np.full(6, 5), 0.0, N)
        return own(scan, *how)

    with monkeypatch.context() as patched:
        patched.setattr(Scan, "_fold", fold)
        found = cg.consensus(cg.scan(folder, id="name"), 4, "hbgf", 0, n_init=2, progress=False)
    assert len(reads) == 3 * 12
    assert (found.labels == expected.labels).all()
    reads.clear()
    monkeypatch.setattr(population, "GRAM_LIMIT", 20)
    found = cg.consensus(cg.scan(folder, id="name"), 4, "hbgf", 0, n_init=2, progress=False)
    assert len(reads) == 2 * 12
    assert (found.labels == cg.consensus(data, 4, "hbgf", 0, n_init=2, progress=False).labels).all()


@pytest.mark.parametrize(("method", "few_rows"), [("hbgf", False), ("auto", False), ("kcc", True)])
def test_rows_behind_a_part_that_was_left_out(tmp_path, monkeypatch, few, method, few_rows):
    """A part whose labels have another type is left out: the other rows have the labels they have without it."""
    if few_rows:
        monkeypatch.setattr(search, "ALL_UP_TO", N)
    data = columns()
    folder = stored(tmp_path / "in", data, 400)
    good = {name: np.concatenate([own[:400], own[800:]]) for name, own in data.items()}
    text = pa.table(
        {name: own if name == "name" else own.cast("string") for name, own in read_one(folder / "1.parquet")}
    )
    parquet.write_table(text, folder / "1.parquet")
    expected = cg.consensus(good, 4, method, 0, progress=False, **taken_by(method, n_init=2))
    scan = cg.scan(folder, id="name", skip_bad=True)
    r = cg.consensus(scan, 4, method, 0, out=tmp_path / "out", progress=False, **taken_by(method, n_init=2))
    assert (read(tmp_path / "out")["cluster"].to_numpy() == expected.labels).all()
    assert any("1.parquet" in note and note.startswith("left out") for note in r.notes)


def read_one(path):
    """The columns of a file, by name."""
    table = parquet.read_table(path)
    return zip(table.column_names, table.columns, strict=True)
