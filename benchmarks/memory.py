"""What a scan holds beside `memory=`, shape by shape: `python -m benchmarks.memory [--rows N] [--only WORD …]`.

Each line runs in a separate process. Libraries are loaded and a small scan is made first; the peak is that of the resident
memory after that, above what the process held then. Shapes of few labels are also scanned with the default limit of 1 GB.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

LIMITS = (100, 200, 500)

#: shapes, the files in which they are scanned, numbers of threads
PLAN = (
    ("strings, all different", "one.parquet", 1),
    ("strings, all different", "many.parquet", 2),
    ("strings, all different", "x.feather", 2),
    ("strings, all different", "x.csv", 2),
    ("six columns, all different", "many.parquet", 2),
    ("six columns, all different", "x.feather", 2),
    ("six columns, all different", "x.csv", 2),
    ("integers, all different", "many.parquet", 2),
    ("strings, 2,000 different", "x.csv", 2),
    ("wide, 20 different", "many.parquet", 2),
    ("ordinary, 50 different", "many.parquet", 2),
    ("strings, 10 % different", "many.parquet", 2),
    ("strings, 10 % different", "x.feather", 2),
    ("strings, 10 % different", "x.csv", 2),
    ("strings, 10 % different, long", "many.parquet", 2),
    ("dictionaries, 10 % different", "x.feather", 2),
    ("integers, 10 % different", "many.parquet", 1),
    ("integers, 10 % different", "many.parquet", 2),
    ("integers, 10 % different", "x.csv", 2),
    ("weights, 10 % different", "many.parquet", 2),
    ("weights, 10 % different", "x.feather", 2),
    ("weights, 10 % different", "x.csv", 2),
    ("weights, 500 different", "many.parquet", 2),
    ("weights, 500 different", "x.csv", 2),
)

#: name: columns, distinct labels in each, how a label is written, share of the rows
SHAPES: dict[str, tuple[int, float, str, float]] = {
    "strings, all different": (2, 1.0, "text", 1.0),
    "six columns, all different": (6, 1.0, "text", 1.0),
    "weights, 10 % different": (2, 0.1, "text", 1.0),
    "weights, 500 different": (6, 0.0005, "text", 1.0),
    "strings, 10 % different": (6, 0.1, "text", 1.0),
    "strings, 10 % different, long": (2, 0.1, "long", 1.0),
    "integers, all different": (2, 1.0, "integer", 1.0),
    "integers, 10 % different": (6, 0.1, "integer", 1.0),
    "dictionaries, 10 % different": (6, 0.1, "dictionary", 1.0),
    "strings, 2,000 different": (10, 0.002, "text", 1.0),
    "wide, 20 different": (300, 0.0002, "integer", 0.1),
    "ordinary, 50 different": (10, 0.00005, "integer", 4.0),
}


def make(path: Path, shape: str, rows: int) -> None:
    """Write labels of this shape: the same numbers of clusters in each column, independent of each other."""
    import pyarrow as pa

    columns, distinct, kind, share = SHAPES[shape]
    k, n, rng = max(2, int(distinct * rows)), int(share * rows), np.random.default_rng(0)
    table = {}
    for j in range(columns):
        codes = rng.permutation(n) if distinct == 1 else rng.integers(0, k, n)
        if kind == "integer":
            table[f"run{j}"] = pa.array(codes)
            continue
        names = pa.array([f"cluster {c:07}" + ("-" * 200 if kind == "long" else "") for c in range(k)])
        coded = pa.DictionaryArray.from_arrays(pa.array(codes, "int32"), names)
        table[f"run{j}"] = coded if kind == "dictionary" else coded.dictionary_decode()
    if "weights" in shape:
        table["weight"] = pa.array(rng.random(n))
    write(pa.table(table), path, rows // 4 if "many" in path.name else None)


def write(table: object, path: Path, row_group: int | None) -> None:
    """Write a table in the format of the name."""
    from pyarrow import csv, feather, parquet

    if path.suffix == ".parquet":
        parquet.write_table(table, path, row_group_size=row_group)
    elif path.suffix == ".feather":
        feather.write_feather(table, path)
    else:
        csv.write_csv(table, path)


def held(what: str) -> float:
    """A line of the status of this process, in MB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(what)) / 1e3


def warm(path: Path, threads: int) -> None:
    """Load what scans need: readers, kernels of small and of large tables."""
    import pyarrow as pa

    import congruence as cg

    write(pa.table({name: ["x", "y", "z", "x"] * 5000 for name in ("a", "b")}), path, 1000)
    cg.compare_all(cg.scan(path, threads=threads))
    for k, n in ((4, 2_000_000), (90_000, 300_000)):
        rng = np.random.default_rng(0)
        table = pa.table({**{name: rng.integers(0, k, n) for name in ("a", "b")}, "w": rng.random(n)})
        batches = table.to_batches(max_chunksize=1 << 17)
        scan = cg.scan(lambda some=batches: some, ["a", "b"])
        for weights in ({}, {"sample_weight": scan["w"]}):
            cg.compare_all(scan, ["ari", "vi"], threads=threads, **weights)


def child(path: Path, limit: float | None, threads: int, columns: int) -> None:
    """Scan the file once and print the peak, the seconds and what came of it."""
    import congruence as cg
    from congruence.machine.memory import release

    with tempfile.TemporaryDirectory() as folder:
        warm(Path(folder) / f"small{path.suffix}", threads)
    release()
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts from here
    before, began = held("VmRSS"), time.perf_counter()
    options = {} if limit is None else {"memory": limit * 1e6}
    try:
        names = [f"run{j}" for j in range(columns)]
        scan = cg.scan(path, names, threads=threads, **options)
        weights = {"sample_weight": scan["weight"]} if "weight" in scan.input.schema.names else {}
        found = cg.compare_all(scan, ["ari", "vi"], **weights)
        said = f"{float(np.nanmean(found['ari'])):.9f}"
    except cg.InputError as error:
        said = str(error)
    seconds = time.perf_counter() - began
    print(json.dumps({"peak": held("VmHWM") - before, "seconds": seconds, "said": said}))


def run(path: Path, limit: float | None, threads: int, columns: int) -> dict[str, object]:
    """The same in a separate process."""
    given = [str(path), str(limit or ""), str(threads), str(columns)]
    command = [sys.executable, "-m", "benchmarks.memory", "--child", *given]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        return {"peak": float("nan"), "seconds": float("nan"), "said": done.stderr.strip().splitlines()[-1:]}
    found: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    """Print one line per shape, file, number of threads and limit."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--only", nargs="*", default=[""], help="words in the names of shapes")
    parser.add_argument("--limits", nargs="*", type=float, default=LIMITS, help="in MB")
    parser.add_argument("--child", nargs=4)
    given = parser.parse_args()
    if given.child:
        path, limit, threads, columns = given.child
        child(Path(path), float(limit) if limit else None, int(threads), int(columns))
        return
    print(f"{given.rows:,} rows of most shapes; peak above what the process held before, in MB\n")
    print(f"{'labels':<30} {'file':<13} threads {'limit':>6} {'peak':>6} {'s':>6}  result")
    over = 0
    for shape, name, threads in PLAN:
        if not any(word in shape for word in given.only):
            continue
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / name
            make(path, shape, given.rows)
            values = set()
            for limit in (*((None,) if SHAPES[shape][1] < 0.001 else ()), *given.limits):
                found = run(path, limit, threads, SHAPES[shape][0])
                said, peak = str(found["said"]), float(str(found["peak"]))
                refused = " " in said
                values |= set() if refused else {said}
                is_over = limit is not None and not peak <= limit
                over += is_over
                shown = "refused: " + said.split(";")[0].replace(str(path), name) if refused else f"mean ari {said}"
                print(
                    f"{shape:<30} {name:<13} {threads:>7} {limit or 'none':>6} {peak:>6.0f} {found['seconds']:>6.2f}  "
                    f"{shown}{' OVER' * is_over}", flush=True,
                )  # fmt: skip
            if len(values) > 1:
                print("  the values differ")
    print(f"\n{over} peaks above their limit")


if __name__ == "__main__":
    main()
