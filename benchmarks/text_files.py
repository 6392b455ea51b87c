"""Reading a csv file of labels, compared with pandas and pyarrow: `python -m benchmarks.text_files [rows]`.

Labels are read as exact text and by one thread, so that 01 and 1 stay distinct. CPU seconds are printed, which other work on the
machine does not change much; pyarrow and pandas guess types, which is less work and merges such labels.
"""

import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import csv

import congruence as cg
from congruence.inputs import files


def make(path: Path, rows: int) -> None:
    rng = np.random.default_rng(0)
    columns = {f"k{k}": rng.integers(0, k, rows) for k in (5, 20, 100)}
    columns["words"] = np.array([f"cell type {i}" for i in range(30)])[rng.integers(0, 30, rows)]
    csv.write_csv(pa.table(columns), path)


def scanned(path: Path) -> None:
    s = cg.scan(path, threads=1)
    cg.ari(s["k5"], s["k20"])


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "labels.csv"
        make(path, rows)
        size = path.stat().st_size / 1e6
        ways = {
            "congruence, in memory": lambda: files.read_columns(path),
            "congruence, scanned, with the count of one pair": lambda: scanned(path),
            "pyarrow, types guessed": lambda: csv.read_csv(path, read_options=csv.ReadOptions(use_threads=False)),
            "pandas, types guessed": lambda: pd.read_csv(path),
            "pandas, all text": lambda: pd.read_csv(path, dtype=str),
        }
        print(f"{rows:,} rows, 4 columns, {size:.0f} MB; CPU seconds, best of 3")
        for name, way in ways.items():
            way()
            best = np.inf
            for _ in range(3):
                began = time.process_time()
                way()
                best = min(best, time.process_time() - began)
            print(f"{name:<50} {best:>7.2f} s {size / best:>7.0f} MB/s")


if __name__ == "__main__":
    main()
