"""What the first call of a process costs, and 100 small clusterings at once: `python -m benchmarks.first_calls`.

Seconds of processor time in processes of their own, the smallest of some tries: importing numpy alone, the first ARI of two
lists with and without the import of numpy, the first scan after an installation (with an empty cache of compiled functions),
and `congruence demo` after an installation. Then microseconds per pair and measure of `compare_to` and `compare_all`.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.sizes import seconds_of

CLOCK = """
import json, time
began, compiled = time.process_time(), [0.0]
"""
#: adds the time of the functions that numba compiles, each with those that it calls
WATCH = """
import numba.core.event
class Compiling(numba.core.event.Listener):
    depth = 0
    def on_start(self, event):
        self.depth += 1
        if self.depth == 1: self.since = time.process_time()
    def on_end(self, event):
        self.depth -= 1
        if self.depth == 0: compiled[0] += time.process_time() - self.since
numba.core.event.register("numba:compile", Compiling())
"""
SAID = "\nprint(json.dumps([time.process_time() - began, *compiled]))"
LISTS = "import congruence as cg; cg.ari([0, 0, 1, 1, 2] * 20, [0, 1, 1, 1, 2] * 20)"
SCAN = "import congruence as cg; cg.compare_all(cg.scan({path!r}), progress=False)"
DEMO = """
import contextlib, os, sys
from congruence.cli import main
sys.argv = ["congruence", "demo", "--out", {path!r}]
with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere), contextlib.suppress(SystemExit): main()
"""


def measured(program: str, watch: bool = False, tries: int = 3) -> tuple[float, float]:
    """CPU seconds of a program, and those of compiling, each time with an empty cache of compiled functions."""
    found = []
    for _ in range(tries):
        with tempfile.TemporaryDirectory() as cache:
            environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
            words = [sys.executable, "-c", CLOCK + (WATCH if watch else "") + program + SAID]
            done = subprocess.run(words, capture_output=True, text=True, check=True, env=environment)
            found.append(json.loads(done.stdout.splitlines()[-1]))
    return min(seconds for seconds, _ in found), min(compiled for _, compiled in found)


def firsts(rows: int, tries: int) -> None:
    """First calls."""
    import pyarrow as pa
    from pyarrow import parquet

    alone, _ = measured("import numpy", tries=tries)
    lists, _ = measured(LISTS, tries=tries)
    print(f"import numpy                                   {alone:6.2f} s")
    print(f"first ari of two lists                         {lists:6.2f} s, {lists - alone:.2f} s without numpy")
    with tempfile.TemporaryDirectory() as folder:
        rng = np.random.default_rng(0)
        table = pa.table({f"run{j}": rng.integers(0, 10 * (j + 1), rows, np.int32) for j in range(10)})
        parquet.write_table(table, Path(folder) / "labels.parquet", row_group_size=1_000_000)
        scan, compiled = measured(SCAN.format(path=folder), True, tries)
        print(f"first scan, {rows:,} rows × 10 columns       {scan:6.2f} s, {compiled:.2f} s of it compiling")
        demo, compiled = measured(DEMO.format(path=str(Path(folder) / "demo")), True, tries)
        print(f"congruence demo                                {demo:6.2f} s, {compiled:.2f} s of it compiling")


def many() -> None:
    """100 clusterings that agree with one on about 70 % of the points."""
    import congruence as cg

    print("\nmicroseconds of processor time per pair and measure, 100 clusterings of n points")
    print(f"{'measures':<36}{'n':>7}{'compare_to':>13}{'compare_all':>13}")
    named: dict[str, Any] = {
        "ari": ["ari"], "ari, nmi_sum, vi, jaccard": ["ari", "nmi_sum", "vi", "jaccard"],
        "element_centric": ["element_centric"], "ami_max (expected information)": ["ami_max"],
        "accuracy (an assignment)": ["accuracy"],
    }  # fmt: skip
    for n in (20, 100, 1_000):
        rng, k = np.random.default_rng(n), max(2, min(10, n // 5))
        base = rng.integers(0, k, n)
        runs = [np.where(rng.random(n) < 0.7, base, rng.integers(0, k, n)) for _ in range(100)]
        for words, keys in named.items():
            calls = {
                "to": lambda keys=keys, base=base, runs=runs: cg.compare_to(base, runs, keys),
                "all": lambda keys=keys, runs=runs: cg.compare_all(runs, keys, threads=1),
            }
            seconds = seconds_of(calls)
            to, every = seconds["to"] / 100 / len(keys), seconds["all"] / 4950 / len(keys)
            print(f"{words:<36}{n:>7,}{1e6 * to:>13.2f}{1e6 * every:>13.2f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=float, default=2e6, help="of the scan")
    parser.add_argument("--tries", type=int, default=3)
    options = parser.parse_args()
    firsts(int(options.rows), options.tries)
    many()


if __name__ == "__main__":
    main()
