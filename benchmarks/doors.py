"""Time and memory of `congruence matrix` on a large Parquet file, by default and with --memory: `python -m benchmarks.doors`."""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import parquet

#: rows that are made and written at a time
BLOCK = 1_000_000


def make(file: Path, rows: int) -> None:
    """A table of ids and three clusterings with this many rows, written in row groups."""
    rng = np.random.default_rng(0)
    schema = pa.schema([("row_id", pa.int64()), ("truth", pa.int16()), ("kmeans", pa.int16()), ("leiden", pa.int16())])
    with parquet.ParquetWriter(file, schema) as writer:
        for first in range(0, rows, BLOCK):
            n = min(BLOCK, rows - first)
            truth = rng.integers(0, 20, n, dtype=np.int16)
            noisy = [
                np.where(rng.random(n) < share, rng.integers(0, 20, n, dtype=np.int16), truth) for share in (0.1, 0.3)
            ]
            columns = [np.arange(first, first + n), truth, *noisy]
            writer.write_table(pa.table([pa.array(x) for x in columns], schema=schema))


def run(*words: str) -> tuple[float, float, int]:
    """Seconds, peak memory in GB and exit code of one command, in a separate process."""
    code = "import resource, subprocess, sys; p = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=sys.stderr); "
    code += "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, p.returncode)"
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", code, sys.executable, "-m", "congruence", *words],
        capture_output=True,
        text=True,
        check=True,
    )
    seconds = time.perf_counter() - began
    peak, status = (int(x) for x in done.stdout.split())
    return seconds, peak / (1 << 20), status


def main() -> None:
    """Print one line per way of reading."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=50_000_000)
    rows = parser.parse_args().rows
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "large.parquet"
        make(file, rows)
        print(f"{rows:,} rows, three clusterings and ids, {file.stat().st_size / 1e6:.0f} MB of Parquet")
        for name, words in (("by default", ()), ("--memory 500MB", ("--memory", "500MB"))):
            seconds, peak, status = run("matrix", str(file), "--measure", "ari", "--format", "json", *words)
            print(f"congruence matrix, {name}: {seconds:.1f} s, peak {peak:.2f} GB, exit code {status}")
    print(f"this process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 20):.2f} GB")


if __name__ == "__main__":
    main()
