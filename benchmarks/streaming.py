"""Label columns scanned from Parquet, compared with pyarrow, DuckDB, polars and Dask: `python -m benchmarks.streaming`.

Each line runs in a separate process, so that its peak memory can be measured (with its largest child, for Dask). The
data are created once under --folder and kept there.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from unittest.mock import patch

import numpy as np

COLUMNS = 10


def make(folder: Path, rows: int, columns: int = COLUMNS) -> Path:
    """Noisy copies of one structure, with 10, 20, … 100 clusters, in Parquet files of ten million rows."""
    import pyarrow as pa
    from pyarrow import parquet

    path = folder / f"{rows}x{columns}"
    if (path / "_done").exists():
        return path
    path.mkdir(parents=True, exist_ok=True)
    step, names = 1_000_000, [f"run{j}" for j in range(columns)]
    schema = pa.schema([(name, pa.int32()) for name in names])
    for file, first in enumerate(range(0, rows, 10 * step)):
        with parquet.ParquetWriter(path / f"part-{file:03}.parquet", schema) as writer:
            for start in range(first, min(first + 10 * step, rows), step):
                rng = np.random.default_rng(start)
                n = min(step, rows - start)
                base = rng.integers(0, 100, n, dtype=np.int32)
                arrays = []
                for j in range(columns):
                    clusters = 10 * (1 + j % 10)
                    noise = rng.random(n, dtype=np.float32) < 0.05 + 0.3 * j / columns
                    arrays.append(np.where(noise, rng.integers(0, clusters, n, dtype=np.int32), base % clusters))
                writer.write_table(pa.table(dict(zip(names, arrays, strict=True)), schema), row_group_size=step)
    (path / "_done").touch()
    return path


# --- jobs, each in a separate process ---------------------------------------------------------------


def warm() -> None:
    """Load the compiled kernels, so that no line pays for numba's start."""
    import pyarrow as pa
    from pyarrow import parquet

    import congruence as cg

    table = pa.table({f"run{j}": np.arange(2_000_000, dtype=np.int32) % (j + 2) for j in range(3)})
    cg.compare_all(cg.scan(lambda: table.to_batches(max_chunksize=1 << 18)))
    with tempfile.TemporaryDirectory() as folder:
        parquet.write_table(table, Path(folder) / "labels.parquet")
        cg.compare_all(cg.scan(folder))
    cg.compare_all(cg.scan(lambda: table.to_batches(max_chunksize=1 << 18)), threads=1)
    cg.compare_all([(np.arange(400_000) % (j + 2)).astype(np.uint8) for j in range(10)])


def scan_only(path: Path) -> float:
    """pyarrow only reads the columns, with all its threads, batch after batch."""
    import pyarrow.dataset as ds

    total = 0
    for batch in ds.dataset(path).to_batches():
        total += batch.num_rows
    return float(total)


def ours(path: Path, **options: object) -> float:
    """All pairs of the scanned columns."""
    import congruence as cg

    return float(cg.compare_all(cg.scan(path, **options))["ari"][0, 1])


def memory_kernel(path: Path) -> float:
    """All pairs in memory; the time is that of the comparison alone, once the columns are loaded as bytes."""
    from pyarrow import parquet

    import congruence as cg

    columns = {}
    for name in parquet.ParquetFile(sorted(path.glob("*.parquet"))[0]).schema_arrow.names:
        columns[name] = np.concatenate(
            [
                parquet.read_table(f, columns=[name])[name].to_numpy().astype(np.uint8)
                for f in sorted(path.glob("*.parquet"))
            ]
        )
    global started, worked
    started, worked = time.perf_counter(), sum(os.times()[:4])
    return float(cg.compare_all(columns)["ari"][0, 1])


def in_files(path: Path, rows: int, columns_of: Callable[[int, int], dict]) -> Path:
    """Columns in Parquet files of ten million rows, made a million rows at a time from the number of the first row."""
    import pyarrow as pa
    from pyarrow import parquet

    if (path / "_done").exists():
        return path
    path.mkdir(parents=True, exist_ok=True)
    for file, first in enumerate(range(0, rows, 10_000_000)):
        writer = None
        for start in range(first, min(first + 10_000_000, rows), 1_000_000):
            table = pa.table(columns_of(start, min(1_000_000, rows - start)))
            writer = writer or parquet.ParquetWriter(path / f"part-{file:03}.parquet", table.schema)
            writer.write_table(table, row_group_size=1_000_000)
        if writer is not None:
            writer.close()
    (path / "_done").touch()
    return path


def make_members(folder: Path, rows: int, members: int = 20, clusters: int = 10) -> Path:
    """Twenty noisy copies of one clustering into ten, with the number of the row, in Parquet files of ten million rows."""
    return in_files(folder / f"members-{rows}x{members}", rows, lambda seed, n: members_of(seed, n, members, clusters))


def members_of(seed: int, n: int, members: int = 20, clusters: int = 10) -> dict[str, np.ndarray]:
    """Noisy copies of one clustering: 30 % of the labels are redrawn."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, clusters, n, dtype=np.int32)
    return {
        f"run{j}": np.where(rng.random(n, dtype=np.float32) < 0.3, rng.integers(0, clusters, n, dtype=np.int32), truth)
        for j in range(members)
    }


def make_steps(folder: Path, rows: int, steps: int = 20, clusters: int = 40) -> Path:
    """Steps of a history, in Parquet files of ten million rows: 1 % of the rows move at each step, 2 % have no label.

    At every fourth step a cluster falls into two and two others merge; cluster 5 is absent in three steps and comes back.
    """
    return in_files(folder / f"steps-{rows}x{steps}", rows, lambda seed, n: steps_of(seed, n, steps, clusters))


def steps_of(seed: int, n: int, steps: int = 20, clusters: int = 40) -> dict[str, object]:
    """Some rows of the steps, as arrow columns of whole numbers with gaps."""
    import pyarrow as pa

    rng = np.random.default_rng(seed)
    now, half = rng.integers(0, clusters, n, dtype=np.int32), rng.random(n) < 0.5
    found: dict[str, object] = {}
    for step in range(steps):
        moves = rng.random(n, dtype=np.float32) < 0.01
        now = np.where(moves, rng.integers(0, clusters, n, dtype=np.int32), now)
        if step % 4 == 3:
            now[(now == 8 + step) & half] = clusters + step
            now[now == 9 + step] = 10 + step
        absent = rng.random(n, dtype=np.float32) < 0.02
        found[f"step {step + 1}"] = pa.array(now, mask=absent | ((now == 5) & (5 <= step < 8)))
    return found


def warm_consensus() -> None:
    """Load the compiled kernels of a consensus."""
    import congruence as cg

    warm()
    cg.consensus(cg.Ensemble(members_of(0, 120_000)), 10, method, random_state=0, progress=False)


def consensus(path: Path, **options: object) -> float:
    """Consensus of the columns by `method`, written to Parquet files; the mean confidence."""
    import congruence as cg

    with tempfile.TemporaryDirectory(dir=path.parent) as out:
        found = cg.consensus(cg.scan(path), 10, method, random_state=0, out=out, progress=False, **options)
    return float(found.mean_confidence)


def tracked(path: Path) -> float:
    """Lasting names of the steps; the number of points that keep theirs."""
    import congruence as cg

    return float(sum(kept.lasting for kept in cg.track(cg.scan(path)).kept))


def copied(path: Path) -> float:
    """pyarrow reads the columns batch after batch and writes them as they are: what any writer of names takes."""
    import pyarrow.dataset as ds
    from pyarrow import parquet

    data = ds.dataset(path)
    with (
        tempfile.TemporaryDirectory(dir=path.parent) as out,
        parquet.ParquetWriter(f"{out}/all.parquet", data.schema) as w,
    ):
        for batch in data.to_batches(batch_size=1 << 20):
            w.write_batch(batch)
        return float(data.count_rows())


def named(path: Path) -> float:
    """Lasting names of the steps, written to Parquet files; the number of rows."""
    import congruence as cg

    t = cg.track(cg.scan(path))
    with tempfile.TemporaryDirectory(dir=path.parent) as out:
        return float(t.write_labels(out).n_rows)


def consensus_on_dask(path: Path) -> float:
    """The same on two worker processes, one of which is killed after three seconds; starting the cluster is not in the time."""
    import signal
    import threading

    from distributed import Client, LocalCluster

    cluster = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0", memory_limit=0)
    with cluster, Client(cluster, set_as_default=False) as client:
        client.run(warm_consensus)
        warm_consensus()
        first = next(iter(client.run(os.getpid).values()))
        global started, ended
        started = time.perf_counter()
        threading.Timer(3.0, os.kill, [first, signal.SIGKILL]).start()
        value = consensus(path, client=client)
        ended = time.perf_counter()
    return value


def streamed(rows: int) -> None:
    """All pairs and the consensus of rows that a generator makes, without a disk: clusters are computed and dropped."""
    import pyarrow as pa

    import congruence as cg
    from congruence.scanning import rows as row_values

    ready = [pa.RecordBatch.from_pydict(members_of(seed, 1_000_000)) for seed in range(2)]

    def batches():
        return (ready[i % 2].slice(0, min(1_000_000, rows - i * 1_000_000)) for i in range(-(-rows // 1_000_000)))

    warm_consensus()
    print(f"{rows:,} rows × 20 columns from a generator, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    start = time.perf_counter()
    value = cg.compare_all(cg.scan(batches), progress=False)["ari"][0, 1]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"  all 190 pairs  {time.perf_counter() - start:8.1f} s  peak {peak:.2f} GB  ari of the first pair {value:.9f}"
    )
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder, patch.object(row_values, "written", lambda *_: 0):
        found = cg.consensus(cg.scan(batches), 10, random_state=0, out=Path(folder) / "out", progress=False)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"  consensus      {time.perf_counter() - start:8.1f} s  peak {peak:.2f} GB  mean confidence {found.mean_confidence:.6f}"
    )


def _ari(counts: np.ndarray, a: np.ndarray, b: np.ndarray) -> float:
    counts = counts.astype(np.float64)
    rows, cols = np.bincount(a, weights=counts), np.bincount(b, weights=counts)
    n = counts.sum()
    both, s_a, s_b = ((x * (x - 1)).sum() / 2 for x in (counts, rows, cols))
    expected = s_a * s_b / (n * (n - 1) / 2)
    return float((both - expected) / ((s_a + s_b) / 2 - expected))


def by_duckdb(path: Path) -> float:
    """One GROUP BY per pair."""
    import duckdb

    base = duckdb.connect()
    names = [f"run{j}" for j in range(COLUMNS)]
    first = 0.0
    for number, (x, y) in enumerate(itertools.combinations(names, 2)):
        found = base.sql(f"select {x}, {y}, count(*) as n from '{path}/*.parquet' group by 1, 2").fetchnumpy()
        value = _ari(*(np.asarray(found[k]) for k in ("n", x, y)))
        first = value if number == 0 else first
    return first


def by_polars(path: Path) -> float:
    """One group_by per pair, all collected together, streaming."""
    import polars as pl

    frame = pl.scan_parquet(f"{path}/*.parquet")
    pairs = list(itertools.combinations([f"run{j}" for j in range(COLUMNS)], 2))
    found = pl.collect_all([frame.group_by(x, y).len() for x, y in pairs], engine="streaming")
    values = [_ari(*(t[k].to_numpy() for k in ("len", x, y))) for t, (x, y) in zip(found, pairs, strict=True)]
    return values[0]


def on_dask(path: Path) -> float:
    """All pairs on two worker processes of one thread; starting the cluster is not in the time."""
    from distributed import Client, LocalCluster

    cluster = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0", memory_limit=0)
    with cluster, Client(cluster, set_as_default=False) as client:
        client.run(warm)
        global started
        started = time.perf_counter()
        value = ours(path, client=client)
        global ended
        ended = time.perf_counter()
    return value


def ensembles(path: Path) -> float:
    """arimm of the first half of the columns and the second."""
    import congruence as cg

    s = cg.scan(path)
    half = len(s.names) // 2
    return cg.Ensemble(s[list(s.names[:half])]).arimm(cg.Ensemble(s[list(s.names[half:])]))


def checkpointed(path: Path) -> float:
    """All pairs, every finished part written to disk."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        return ours(path, checkpoint=folder)


JOBS = {
    "scan": ("pyarrow read alone", scan_only, False),
    "kernel": ("congruence in memory", memory_kernel, True),
    "ours": ("congruence, scanned", ours, True),
    "checkpoint": ("congruence, scanned, checkpoint", checkpointed, True),
    "dask": ("congruence, Dask, two workers", on_dask, False),
    "duckdb": ("DuckDB, one GROUP BY per pair", by_duckdb, False),
    "polars": ("polars, streaming group_by", by_polars, False),
    "ensembles": ("congruence, arimm of two ensembles", ensembles, True),
    "copy": ("pyarrow, read and written", copied, False),
    "track": ("congruence, tables and lasting names", tracked, True),
    "names": ("congruence, names written too", named, True),
    "consensus": ("congruence, consensus written", consensus, True),
    "consensus_dask": ("congruence, Dask, one worker killed", consensus_on_dask, False),
}
started, ended = 0.0, None
#: of the consensus
method = "auto"
#: CPU seconds when the work began, for jobs that do not begin at once
worked: float | None = None


def _child(job: str, path: Path) -> None:
    global started
    import pyarrow.dataset
    import pyarrow.parquet  # noqa: F401

    _, work, warmed = JOBS[job]
    if warmed:
        (warm_consensus if job == "consensus" else warm)()
    started = time.perf_counter()
    before = sum(os.times()[:4])
    value = work(path)
    cpu = sum(os.times()[:4]) - (before if worked is None else worked)
    seconds = (ended or time.perf_counter()) - started
    # only Dask has workers; other children are short-lived copies of this process
    whose = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN) if "dask" in job else (resource.RUSAGE_SELF,)
    peak = sum(resource.getrusage(w).ru_maxrss for w in whose) / 2**20
    print(json.dumps({"value": value, "seconds": seconds, "peak": peak, "cpu": cpu}))


def measured(job: str, path: Path, tries: int = 1) -> tuple[float, float, float, float]:
    """Value, shortest time, peak memory (GB) and CPU seconds of a job in a separate process."""
    best = (0.0, float("inf"), 0.0, 0.0)
    for _ in range(tries):
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.streaming", "--child", job, "--path", str(path), "--method", method],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode:
            sys.exit(f"{job} failed: {done.stderr[-800:]}")
        found = json.loads(done.stdout.strip().splitlines()[-1])
        if found["seconds"] < best[1]:
            best = found["value"], found["seconds"], found["peak"], found["cpu"]
    return best


#: what the value of a job is
SAID = {"track": "rows × steps keep their name: {:,.0f}", "names": "rows: {:,.0f}", "copy": "rows: {:,.0f}"}


def beside_reading(path: Path, what: str, jobs: Sequence[str], tries: int) -> None:
    """Print the time of some jobs as multiples of that of reading the same files."""
    files = sorted(path.glob("*.parquet"))
    rows, size = path.name.partition("-")[2].partition("x")[0], sum(f.stat().st_size for f in files) / 1e9
    print(f"\n{what}, {int(rows):,} rows, {size:.2f} GB of Parquet")
    measured("scan", path)  # so that the files are in memory
    reading = (0.0, 0.0)
    for job in ("scan", *jobs):
        value, seconds, peak, cpu = measured(job, path, tries)
        if job == "scan":
            reading, said = (seconds, cpu), ""
        else:
            times = f"{seconds / reading[0]:.1f} × reading, {cpu / reading[1]:.1f} × its CPU"
            said = f"  {times}, {SAID.get(job, 'mean confidence {:.9f}').format(value)}"
        print(f"  {JOBS[job][0]:<36} {seconds:8.2f} s  CPU {cpu:7.1f} s  peak {peak:6.2f} GB{said}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=float, default=1e8)
    parser.add_argument("--folder", type=Path, default=Path("/tmp/congruence-streaming"))
    parser.add_argument("--quick", action="store_true", help="a million rows")
    parser.add_argument("--ensembles", action="store_true", help="arimm of 20 + 20 members instead")
    parser.add_argument("--consensus", action="store_true", help="the consensus of 20 columns instead")
    parser.add_argument("--track", action="store_true", help="lasting names of 20 steps instead")
    parser.add_argument("--method", default="auto", help="of the consensus")
    parser.add_argument("--stream", type=float, help="number of rows from a generator, without a disk")
    parser.add_argument("--peers", default="duckdb,polars,dask", help="of these, separated by commas")
    parser.add_argument("--tries", type=int, default=1, help="number of runs; the shortest time is shown")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--path", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    global method
    method = options.method
    if options.child:
        _child(options.child, options.path)
        return
    rows = 1_000_000 if options.quick else int(options.rows)
    if options.stream:
        streamed(int(options.stream))
        return
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    if options.track:
        beside_reading(
            make_steps(options.folder, rows), "lasting names of 20 steps", ("copy", "track", "names"), options.tries
        )
        return
    if options.consensus:
        jobs = ("consensus", *(["consensus_dask"] if "dask" in options.peers else []))
        beside_reading(make_members(options.folder, rows), f"consensus of 20 columns by {method}", jobs, options.tries)
        return
    if options.ensembles:
        path = make(options.folder, rows, 40)
        value, seconds, peak, cpu = measured("ensembles", path, options.tries)
        print(
            f"arimm of 20 + 20 members, {rows:,} rows: {value:.6f} in {seconds:.1f} s ({cpu:.1f} s of CPU), peak {peak:.2f} GB"
        )
        return
    sizes = [n for n in (10**6, 10**7, 10**8, 10**9) if n < rows] + [rows]
    print(f"\ncost per row, {COLUMNS} columns, {COLUMNS * (COLUMNS - 1) // 2} pairs")
    for n in sizes:
        _, seconds, peak, cpu = measured("ours", make(options.folder, n), options.tries)
        print(f"  {n:>13,} rows  {seconds:8.2f} s  {1e9 * cpu / n:7.1f} ns of CPU per row  peak {peak:.2f} GB")
    path = make(options.folder, rows)
    size = sum(f.stat().st_size for f in path.glob("*.parquet")) / 1e9
    print(f"\n{rows:,} rows × {COLUMNS} columns, {size:.2f} GB of Parquet, all {COLUMNS * (COLUMNS - 1) // 2} pairs")
    times, values, work = {}, {}, {}
    for job in ("scan", "kernel", "ours", "checkpoint", *(p for p in options.peers.split(",") if p)):
        values[job], times[job], peak, work[job] = measured(job, path, options.tries)
        same = "" if job == "scan" else f"  ari of the first pair {values[job]:.12f}"
        print(
            f"  {JOBS[job][0]:<36} {times[job]:8.2f} s  CPU {work[job]:7.1f} s  peak {peak:6.2f} GB{same}", flush=True
        )
    floor = times["scan"] + times["kernel"]
    print(f"\nscanned / (reading + in memory) = {times['ours'] / floor:.2f}")
    print(f"in memory / scanned = {times['kernel'] / times['ours']:.2f}, of CPU {work['kernel'] / work['ours']:.2f}")
    assert values["kernel"] == values["ours"] == values["checkpoint"]
    assert all(abs(v - values["ours"]) < 1e-9 for job, v in values.items() if job != "scan")


if __name__ == "__main__":
    main()
