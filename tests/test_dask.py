"""Dask clusters: the same integers as in memory, also after losing workers or schedulers, or with other versions."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pytest
from doors import OF_COVERS
from scanning_cases import KEYS, folder_of, labels, same
from test_cover_columns import in_memory, lists

import congruence as cg
from congruence.consensus_clustering import population
from congruence.engine import dask_matrices
from congruence.scanning import schedule

distributed = pytest.importorskip("distributed", reason='Dask is not installed: pip install "congruence[dask]"')
import dask.array as da  # noqa: E402
import dask.dataframe as dd  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
NAMES = ["int", "text", "negative"]


@pytest.fixture(scope="module")
def client():
    """A cluster of threads in this process: quick, and all of Dask's scheduling."""
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address="127.0.0.1:0", host="tcp://127.0.0.1"
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as made,
    ):
        yield made


@pytest.mark.slow
def test_a_client_and_an_address_count(client, tmp_path):
    """client= takes a client, which stays open, or an address; the integers are those of memory."""
    columns = labels(2000)
    s = cg.scan(folder_of(columns, tmp_path / "d"))
    expected = cg.compare_all(columns, KEYS)
    told: list[tuple[int, int]] = []
    same(cg.compare_all(s, KEYS, client=client, progress=lambda done, total: told.append((done, total))), expected)
    assert told[-1] == (2000, 2000)
    assert client.status == "running"
    again = cg.scan(tmp_path / "d")
    same(cg.compare_all(again, KEYS, client=client.scheduler.address), expected)
    same(cg.compare_all(cg.scan(tmp_path / "d"), KEYS, client=client.get_executor()), expected)
    pair = cg.compare(again["int"], again["text"], client=client)
    assert pair["ari"] == cg.ari(columns["int"], columns["text"])
    dataset = ds.dataset(tmp_path / "d")
    same(cg.compare_all(cg.scan(dataset), KEYS, client=client), expected)
    members = cg.Ensemble(cg.scan(tmp_path / "d", NAMES, client=client))
    assert members.certainty() == cg.Ensemble({k: columns[k] for k in NAMES}).certainty()


ENDED = threading.Event()


def stuck(*_, **__):
    """Work that does not finish before the test does."""
    ENDED.wait(20)


@pytest.mark.slow
@pytest.mark.parametrize("step", ["count", "add", "matrix"])
def test_workers_that_stop(step, client, tmp_path, monkeypatch, capsys):
    """Workers that finish nothing are reported and given up, also while they only add what they counted."""
    ENDED.clear()
    home, name = {"count": (schedule, "count_group"), "add": (schedule, "merged")}.get(
        step, (dask_matrices, "block_sums")
    )
    monkeypatch.setattr(home, name, stuck)
    monkeypatch.setattr(schedule, "SILENT", 0.3)
    monkeypatch.setattr(schedule, "GIVEN_UP", 0.9)
    s, given = cg.scan(folder_of(labels(200), tmp_path / "d")), (da.eye(6, chunks=3), np.eye(6))
    try:
        with pytest.raises(cg.InputError, match="the Dask workers finished nothing for"):
            cg.arimm(*given, client=client) if step == "matrix" else cg.compare_all(s, KEYS, client=client)
    finally:
        ENDED.set()
    assert "congruence: the Dask workers finished nothing for " in capsys.readouterr().err


@pytest.mark.slow
def test_covers_on_dask(client, tmp_path):
    """A cluster counts columns of lists, the clusters of each point, from files and from a frame."""
    columns = lists()
    folder = folder_of(columns, tmp_path / "d")
    expected = cg.compare_all(in_memory(columns), OF_COVERS)
    same(cg.compare_all(cg.scan(folder), OF_COVERS, client=client), expected)
    kind = pd.ArrowDtype(pa.list_(pa.string()))
    frame = pd.DataFrame({name: pd.Series(columns[name], dtype=kind) for name in "ab"} | {"labels": columns["labels"]})
    scanned = cg.scan(dd.from_pandas(frame, npartitions=3))
    same(cg.compare_all(scanned, OF_COVERS, client=client), expected)


@pytest.mark.slow
def test_a_checkpoint_is_shared_by_threads_and_cluster(client, tmp_path):
    """Threads resume from parts that a cluster finished, and vice versa."""
    columns = {k: labels(900)[k] for k in NAMES}
    folder = folder_of(columns, tmp_path / "d")
    same(cg.compare_all(cg.scan(folder), client=client, checkpoint=tmp_path / "saved"), cg.compare_all(columns))
    saved = sorted((tmp_path / "saved").glob("*.part"))
    assert len(saved) == 12
    for part in saved[::2]:
        part.unlink()
    same(cg.compare_all(cg.scan(folder), checkpoint=tmp_path / "saved"), cg.compare_all(columns))
    for part in saved[::3]:
        part.unlink()
    same(cg.compare_all(cg.scan(folder), client=client, checkpoint=tmp_path / "saved"), cg.compare_all(columns))


@pytest.mark.slow
def test_errors_of_workers_reach_the_person(client, tmp_path):
    """A file that cannot be read, a budget that is too small: the same line as without a cluster."""
    folder = folder_of(labels(600), tmp_path / "d")
    (folder / "part-1.parquet").write_bytes(b"broken")
    with pytest.raises(cg.InputError, match=r"part-1.parquet could not be read"):
        cg.compare_all(cg.scan(folder, NAMES), client=client)
    r = cg.compare_all(cg.scan(folder, NAMES), client=client, skip_bad=True)
    assert r.n_used[0, 0] == 400
    assert any("part-1.parquet" in c for c in r.cautions)
    gone = folder_of(labels(60), tmp_path / "gone")
    s = cg.scan(gone, NAMES)
    for file in gone.iterdir():
        file.unlink()
    with pytest.raises(cg.InputError, match=r"part-\d.parquet, row group \d could not be read"):
        cg.compare_all(s, client=client)


@pytest.mark.slow
def test_another_version_on_the_workers_is_an_error(client, tmp_path, monkeypatch):
    """Client and workers must have the same congruence."""
    s = cg.scan(folder_of(labels(60), tmp_path / "d"), NAMES)
    monkeypatch.setattr(schedule, "_version", lambda: "9.9")
    with pytest.raises(
        cg.InputError, match=rf"has congruence {cg.__version__} but this process has 9.9; install the same"
    ):
        cg.compare_all(s, client=client)
    with pytest.raises(cg.InputError, match=r"w has no congruence but this process has 1"):
        schedule._check_version({"w": None}, "1")


def test_a_cluster_without_workers_is_an_error(tmp_path, monkeypatch):
    """Waiting for workers that do not appear has a limit."""
    monkeypatch.setattr(schedule, "PATIENCE", 0.2)
    s = cg.scan(folder_of(labels(60), tmp_path / "d"), NAMES)
    with (
        distributed.LocalCluster(n_workers=0, processes=False, dashboard_address="127.0.0.1:0") as empty,
        distributed.Client(empty, set_as_default=False) as made,
        pytest.raises(cg.InputError, match=r"the Dask cluster has no workers"),
    ):
        cg.compare_all(s, client=made)


@pytest.mark.slow
def test_dask_frames_and_series(client):
    """A Dask frame is a source; with a client its partitions are counted where they are."""
    columns = labels(800)
    frame = dd.from_pandas(pd.DataFrame(columns), npartitions=5)
    same(cg.compare_all(frame, KEYS), cg.compare_all(columns, KEYS))
    same(cg.compare_all(frame, KEYS, client=client), cg.compare_all(columns, KEYS))
    assert cg.ari(frame["int"], frame["text"]) == cg.ari(columns["int"], columns["text"])
    ours = cg.compare_to("int", frame, "ari")["ari"].tolist()
    assert ours == cg.compare_to("int", columns, "ari")["ari"].tolist()
    assert cg.scan(frame).n_rows is None
    assert cg.Ensemble(cg.scan(frame, NAMES)).n_points == 800
    with pytest.raises(cg.InputError, match=r"Dask series can be compared only with Dask series"):
        cg.ari(frame["int"], frame["text"].repartition(npartitions=2))
    assert cg.ari(frame["int"], columns["text"]) == cg.ari(columns["int"], columns["text"])
    with pytest.raises(cg.InputError, match=r"a Dask frame of 5 partitions cannot be identified"):
        cg.compare_all(frame, checkpoint="nowhere")


@pytest.mark.slow
@pytest.mark.parametrize("chunks", [(50, 50), (33, 60)])
def test_dask_arrays_by_block_sums(client, chunks):
    """Matrices in blocks: arimp, arimm, kas, nsf, sms, ssms and certainty are those of the whole, any chunks."""
    rng = np.random.default_rng(0)
    p, q = (cg.Ensemble(rng.integers(0, 4, (100, 6))) for _ in range(2))
    m, k = p.consensus_matrix(), q.consensus_matrix()
    x, y = (da.from_array(z, chunks=chunks) for z in (m, k))
    truth = rng.integers(0, 4, 100)
    memberships = rng.dirichlet(np.ones(3), 100)
    for key in ("arimm", "kas", "nsf", "sms", "ssms"):
        score = getattr(cg, key)
        for a, b, c, d in ((x, y, m, k), (x, q, m, q), (m, y, m, k)):
            assert score(a, b) == pytest.approx(score(c, d), rel=1e-12)
    assert cg.arimm(x, y, client=client) == cg.arimm(x, y)
    assert cg.arimm(x, y, client=client.scheduler.address) == cg.arimm(x, y)
    assert cg.arimp(x, truth) == pytest.approx(cg.arimp(m, truth), rel=1e-12)
    assert cg.kas(x, cg.Ensemble([memberships])) == pytest.approx(cg.kas(m, cg.Ensemble([memberships])), rel=1e-12)
    assert cg.certainty(x) == pytest.approx(cg.certainty(m), rel=1e-12)


@pytest.mark.slow
def test_dask_arrays_are_checked_where_they_are(tmp_path):
    """Blocks that are not symmetric, not finite, or beyond 0 … 1 are refused by their place; zarr is read in blocks."""
    zarr = pytest.importorskip("zarr")
    rng = np.random.default_rng(1)
    m = cg.Ensemble(rng.integers(0, 4, (60, 5))).consensus_matrix()
    stored = zarr.create_array(store=str(tmp_path / "m.zarr"), shape=m.shape, chunks=(25, 25), dtype=m.dtype)
    stored[:] = m
    assert cg.arimm(stored, m) == pytest.approx(cg.arimm(m, m), rel=1e-12)
    assert cg.arimm(da.from_zarr(str(tmp_path / "m.zarr")), m) == pytest.approx(cg.arimm(m, m), rel=1e-12)
    for change, said in (
        (0.25, r"not symmetric: entries \(7, 40\) and \(40, 7\) differ"),
        (np.nan, r"row 7, column 40 is missing"),
    ):
        wrong = m.copy()
        wrong[7, 40] = wrong[40, 7] + change
        with pytest.raises(cg.InputError, match=said):
            cg.arimm(da.from_array(wrong, chunks=20), m)
    with pytest.raises(cg.NotApplicable, match=r"needs entries between 0 and 1"):
        cg.arimm(da.from_array(3 * m, chunks=20), m)
    assert cg.kas(da.from_array(3 * m, chunks=20), m) == pytest.approx(1.0)


# --- real processes ------------------------------------------------------------------------------------------------

SLOW = """
import time
from congruence.scanning import parts
def slow(self, columns, rows, original=parts.RowGroup.batches):
    time.sleep(0.25)
    return original(self, columns, rows)
if parts.RowGroup.batches.__name__ != "slow":
    parts.RowGroup.batches = slow
"""


class Cluster:
    """A scheduler and two slow workers, started from Dask's command line; killed ones are replaced."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.processes: list[subprocess.Popen] = []
        self.scheduler: subprocess.Popen | None = None
        self.workers: list[subprocess.Popen] = []
        (folder / "slow.py").write_text(SLOW)

    def start(self, *words: str) -> tuple[subprocess.Popen, Path]:
        """A process, and what it writes."""
        log = self.folder / f"{len(self.processes)}.log"
        with log.open("w") as stream:
            process = subprocess.Popen([sys.executable, "-m", "dask", *words], stderr=stream, stdout=subprocess.DEVNULL)
        self.processes.append(process)
        return process, log

    def ready(self) -> Cluster:
        """The cluster, once the scheduler and two workers run."""
        if self.scheduler is None or self.scheduler.poll() is not None:
            self.stop()
            words = ("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--no-show")
            self.scheduler, log = self.start(*words)
            self.address = said(self.scheduler, log, "Scheduler at:").split()[-1]
        self.workers = [worker for worker in self.workers if worker.poll() is None]
        quiet = ("--no-nanny", "--nthreads", "1", "--no-dashboard", "--memory-limit", "0", "--death-timeout", "20")
        own = ("--preload", str(self.folder / "slow.py"), "--local-directory", str(self.folder))
        new = [self.start("worker", self.address, *quiet, *own) for _ in range(2 - len(self.workers))]
        for process, log in new:
            said(process, log, "Registered to")
            self.workers.append(process)
        return self

    def stop(self) -> None:
        """Kill every process."""
        for process in reversed(self.processes):
            process.kill()
            process.wait()


def said(process: subprocess.Popen, log: Path, ready: str) -> str:
    """The line in which the process says this, once it does."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        for line in log.read_text().splitlines():
            if ready in line:
                return line
        time.sleep(0.05)
    raise AssertionError(f"a process of Dask did not start: {log.read_text()[-500:]}")


@pytest.fixture(scope="module")
def processes(tmp_path_factory):
    """A cluster of processes that several tests use."""
    made = Cluster(tmp_path_factory.mktemp("cluster"))
    yield made
    made.stop()


@pytest.fixture
def cluster(processes):
    """A scheduler and two slow workers."""
    return processes.ready()


def when(path: Path, many: int, then, *words, files: str = "*.part") -> threading.Thread:
    """Call this after a number of finished parts."""

    def watch() -> None:
        deadline = time.monotonic() + 60
        while len(list(path.glob(files))) < many and time.monotonic() < deadline:
            time.sleep(0.02)
        then(*words)

    thread = threading.Thread(target=watch)
    thread.start()
    return thread


@pytest.mark.slow
def test_a_cluster_of_processes(cluster, tmp_path):
    """Parts and tables travel between processes, and are added on the workers."""
    columns = labels(600)
    folder = folder_of(columns, tmp_path / "d", files=2)
    same(cg.compare_all(cg.scan(folder), KEYS, client=cluster.address), cg.compare_all(columns, KEYS))


@pytest.mark.slow
def test_a_cluster_of_processes_from_the_command_line(cluster, tmp_path, command):
    """`--client tcp://…` counts on the cluster and prints what threads print."""
    folder_of({k: labels(300)[k] for k in NAMES}, tmp_path / "d", files=1)
    there = command("matrix", "d", "--client", cluster.address, "--format", "csv")
    here = command("matrix", "d", "--format", "csv")
    assert there.code == 0, there.err
    assert there.out == here.out


@pytest.mark.slow
@pytest.mark.parametrize("stage", ["tables", "placing"])
def test_a_consensus_survives_a_killed_worker_with_the_same_bytes(cluster, tmp_path, monkeypatch, stage):
    """A worker that is killed while it counts tables or places rows does not change a byte of the files that are written."""
    address, workers = cluster.address, cluster.workers
    for name, value in {"ALL_UP_TO": 300, "SAMPLED": 150, "PER_CLUSTER": 20}.items():
        monkeypatch.setattr(f"congruence.consensus_clustering.search.{name}", value)
    folder = folder_of({k: labels(600)[k] for k in NAMES}, tmp_path / "d", groups=2)
    here, there = tmp_path / "here", tmp_path / "there"
    cg.consensus(cg.scan(folder), 3, "hbgf", 0, n_init=1, out=here, progress=False)
    if stage == "placing":
        killer = when(there, 1, workers[0].send_signal, signal.SIGKILL, files="part-*.parquet")
    else:
        killer = threading.Timer(0.3, workers[0].send_signal, [signal.SIGKILL])  # in the middle of a part of 0.25 s

        def counted(e, columns, cells):
            killer.start()
            return original(e, columns, cells)

        original = population._everyone
        monkeypatch.setattr(population, "_everyone", counted)
    r = cg.consensus(cg.scan(folder), 3, "hbgf", 0, n_init=1, out=there, client=address, progress=False)
    killer.join()
    assert workers[0].wait(timeout=10) == -signal.SIGKILL
    assert r.n_points == 600
    names = sorted(x.name for x in here.iterdir())
    assert len(names) > 1
    assert sorted(x.name for x in there.iterdir()) == names
    for name in names:
        assert (there / name).read_bytes() == (here / name).read_bytes(), name


@pytest.mark.slow
def test_a_worker_and_then_the_scheduler_killed_in_the_middle(cluster, tmp_path):
    """Killing a worker does not change the result; losing the scheduler gives one clear line, and a second run resumes."""
    address, scheduler, workers = cluster.address, cluster.scheduler, cluster.workers
    columns = {k: labels(1200)[k] for k in NAMES}
    folder = folder_of(columns, tmp_path / "d")
    expected = cg.compare_all(columns, ["ari", "vi"])
    killer = threading.Timer(1.0, workers[0].send_signal, [signal.SIGKILL])  # 12 parts of 0.25 s on two workers
    killer.start()
    r = cg.compare_all(cg.scan(folder), ["ari", "vi"], client=address)
    killer.join()
    same(r, expected)
    assert workers[0].wait(timeout=10) == -signal.SIGKILL
    saved = tmp_path / "saved"
    killer = when(saved, 2, scheduler.send_signal, signal.SIGKILL)
    with pytest.raises(
        cg.InputError,
        match=r"the connection to the Dask scheduler was lost before the count was done; with a checkpoint folder",
    ):
        cg.compare_all(cg.scan(folder), ["ari", "vi"], client=address, checkpoint=saved)
    killer.join()
    done = len(list(saved.glob("*.part")))
    assert 2 <= done < 12
    same(cg.compare_all(cg.scan(folder), ["ari", "vi"], checkpoint=saved), expected)
    with pytest.raises(cg.InputError, match=r"no Dask scheduler answers at tcp://127.0.0.1"):
        cg.compare_all(cg.scan(folder), client=address)
