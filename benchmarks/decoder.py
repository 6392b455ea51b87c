"""Parquet columns read as codes by our own loops, compared with the same columns read by pyarrow: `python -m benchmarks.decoder`.

Each line is the CPU time of a scan in a separate process, of one thread, with the compiled kernels loaded and the files in
memory, the smallest of some tries that take turns: all pairs of ten integer columns, all pairs of four columns of texts, and
the codes alone, without counting. `CONGRUENCE_READ_CODES=0` leaves all pages to pyarrow, as it does for users; texts are
then read as the dictionaries that the file stores, and integers are looked up in a table.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from benchmarks.streaming import make, warm

ROUTES = {"own": "1", "pyarrow": "0"}


def make_texts(folder: Path, rows: int) -> Path:
    """Four columns of ten to forty short texts, in row groups of a million."""
    import pyarrow as pa
    from pyarrow import parquet

    path = folder / f"texts-{rows}"
    if (path / "_done").exists():
        return path
    path.mkdir(parents=True, exist_ok=True)
    rng, names = np.random.default_rng(0), np.array([f"cell type {i}" for i in range(40)])
    schema = pa.schema([(f"text{j}", pa.string()) for j in range(4)])
    with parquet.ParquetWriter(path / "part.parquet", schema) as writer:
        for start in range(0, rows, 1_000_000):
            n = min(1_000_000, rows - start)
            columns = [pa.DictionaryArray.from_arrays(rng.integers(0, 10 * (j + 1), n), names) for j in range(4)]
            writer.write_table(
                pa.table([x.cast(pa.string()) for x in columns], schema=schema), row_group_size=1_000_000
            )
    (path / "_done").touch()
    return path


def codes(path: Path) -> float:
    """The codes of all columns, without counting."""
    import congruence as cg
    from congruence.scanning.vocabulary import Vocabulary

    scan = cg.scan(path)
    words, total = [Vocabulary() for _ in scan.names], 0
    for part in scan.input.parts(scan.names):
        for batch in part.batches(scan.names, 1 << 18):
            for word, column in zip(words, batch.columns, strict=True):
                total += int(word.codes(column, "a column")[-1])
    return float(total)


def pairs(path: Path) -> float:
    """The ARI of the first of all pairs."""
    import congruence as cg

    return float(cg.compare_all(cg.scan(path, threads=1), progress=False)["ari"][0, 1])


def only_read(path: Path) -> float:
    """pyarrow reads the columns with one thread."""
    from pyarrow import parquet

    batches = (b for f in sorted(path.glob("*.parquet")) for b in parquet.ParquetFile(f).iter_batches(1 << 18))
    return float(sum(batch.num_rows for batch in batches))


JOBS = {"all pairs": pairs, "codes alone": codes}


def child(job: str, path: Path) -> None:
    """Print the value and the CPU seconds of a job."""
    warm()
    began = time.process_time()
    value = {**JOBS, "read": only_read}[job](path)
    print(json.dumps([value, time.process_time() - began]))


def measured(job: str, path: Path, route: str) -> tuple[float, float]:
    """Value and CPU seconds of a job in a separate process."""
    command = [sys.executable, "-m", "benchmarks.decoder", "--child", job, "--path", str(path)]
    environment = {**os.environ, "CONGRUENCE_READ_CODES": ROUTES[route]}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    value, seconds = json.loads(done.stdout.strip().splitlines()[-1])
    return value, seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=float, default=1e8, help="of the integers; a fifth of them for the texts")
    parser.add_argument("--folder", type=Path, default=Path("/tmp/congruence-streaming"))
    parser.add_argument("--tries", type=int, default=3)
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--path", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(options.child, options.path)
        return
    rows = int(options.rows)
    for kind, path, many in (
        ("10 integer columns", make(options.folder, rows), rows),
        ("4 columns of texts", make_texts(options.folder, rows // 5), rows // 5),
    ):
        reading = min(measured("read", path, "pyarrow")[1] for _ in range(options.tries))
        print(f"{many:,} rows, {kind}; pyarrow only reads them in {reading:.2f} s of CPU")
        for job in JOBS:
            found = [{route: measured(job, path, route) for route in ROUTES} for _ in range(options.tries)]
            assert len({value for each in found for value, _ in each.values()}) == 1
            best = {route: min(each[route][1] for each in found) for route in ROUTES}
            print(
                f"  {job:<12} own loops {best['own']:7.2f} s   pyarrow {best['pyarrow']:7.2f} s"
                f"   {best['pyarrow'] / best['own']:.2f} times as long",
                flush=True,
            )


if __name__ == "__main__":
    main()
