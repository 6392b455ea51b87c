"""Tables counted where the rows are, a scan that streams the rows, and hand-written SQL: `python -m benchmarks.lazy`.

Each place holds the same kind of labels. The ways run after each other, and the less of two calls is printed, or the first if it
takes half a minute: CPU seconds of this process and of the server or Java, and the time on the clock.
`--places` names some of duckdb, postgres and spark; PostgreSQL is started in a temporary folder, Spark in a process of Java.
`--rows` and `--columns` hold in all places: `python -m benchmarks.lazy --places duckdb,spark --rows 1e8 --columns 5`. Data
are made in a temporary folder, which is removed, unless `--folder` names one.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import congruence as cg
from benchmarks.streaming import make

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
import warehouses

Frame = Any
#: most labels that Spark sends: its driver holds all of them at once
MOST_SENT = 20_000_000
#: a query → its cells, as columns a, b, n
Ask = Callable[[str], Any]


def by_hand(ask: Ask, names: list[str], table: str) -> dict[tuple[str, str], float]:
    """ARI of all pairs from one GROUP BY per pair, written by hand."""
    found = {}
    for a, b in itertools.combinations(names, 2):
        cells = ask(f"select {a} as a, {b} as b, count(*) as n from {table} group by 1, 2")
        found[a, b] = cg.ari(
            cells.column("a").to_numpy(), cells.column("b").to_numpy(), frequency=cells.column("n").to_numpy()
        )
    return found


def arrow_table(connection: Any, query: str) -> Any:
    """The cells of a query of PostgreSQL."""
    with connection.cursor() as cursor:
        cells = np.array(cursor.execute(query).fetchall())
    return pa.table(dict(zip("abn", cells.T, strict=True)))


def there(frame: Frame) -> Frame:
    """ARI of all pairs of a lazy frame, counted where it is."""
    return cg.compare_all(frame, ["ari"])


def streamed(batches: Callable[[], Iterator[Any]]) -> Frame:
    """ARI of all pairs of rows that are streamed to this process."""
    return cg.compare_all(cg.scan(batches), ["ari"])


def spent(server: int | None) -> float:
    """CPU seconds of this process, of a server, and of the processes that they started (Linux)."""
    about = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it has ended
            fields = path.read_text().rpartition(")")[2].split()
            about[int(path.parent.name)] = int(fields[1]), sum(map(int, fields[11:15]))
    mine = {os.getpid(), server}
    while more := {pid for pid, (parent, _) in about.items() if parent in mine} - mine:
        mine |= more
    return sum(ticks for pid, (_, ticks) in about.items() if pid in mine) / os.sysconf("SC_CLK_TCK")


def least(work: Callable[[], Any], server: int | None) -> tuple[float, float, Any]:
    """CPU seconds and seconds of the cheaper of two calls, or of the first if it takes half a minute, and its result."""
    times = []
    for _ in range(2):
        began, started = spent(server), time.perf_counter()
        found = work()
        times.append((spent(server) - began, time.perf_counter() - started))
        if times[-1][1] > 30:
            break
    return *min(times), found


def shown(place: str, rows: int, columns: int, ways: dict[str, Callable[[], Any]], server: int | None = None) -> None:
    """One line per way, with the ratio to the first."""
    print(f"\n{place}: {rows:,} rows, {columns} columns, {columns * (columns - 1) // 2} pairs")
    first, expected = None, None
    for name, work in ways.items():
        seconds, clock, found = least(work, server)
        first = first or seconds
        values = list(found.values()) if isinstance(found, dict) else found["ari"][np.triu_indices(columns, 1)].tolist()
        expected = values if expected is None else expected
        assert values == expected, (name, values, expected)
        print(f"  {name:38} {seconds:8.2f} CPU-s   {seconds / first:6.2f} x   {clock:8.2f} s", flush=True)


def duckdb_place(folder: Path, rows: int, columns: int) -> None:
    """A table of a DuckDB file, and the Parquet files it was made from."""
    import duckdb

    path = make(folder, rows, columns)
    names = [f"run{j}" for j in range(columns)]
    file = folder / f"{rows}x{columns}.db"
    with duckdb.connect(str(file)) as connection:
        if not connection.sql("show tables").fetchall():
            connection.execute(f"create table runs as select * from read_parquet('{path}/*.parquet')")
        relation = connection.table("runs")
        parquet = connection.read_parquet(f"{path}/*.parquet")
        ask = lambda query: connection.sql(query).to_arrow_table()  # noqa: E731
        shown("DuckDB, table of a file", rows, columns, {
            "counted there": lambda: there(relation),
            "one GROUP BY per pair, by hand": lambda: by_hand(ask, names, "runs"),
            "streamed: cg.scan(to_arrow_reader)": lambda: streamed(lambda: relation.to_arrow_reader(200_000)),
        })  # fmt: skip
        shown("DuckDB, Parquet files", rows, columns, {
            "counted there": lambda: there(parquet),
            "cg.scan of the files": lambda: cg.compare_all(cg.scan(str(path)), ["ari"]),
        })  # fmt: skip


def postgres_place(folder: Path, rows: int, columns: int) -> None:
    """A table of PostgreSQL."""
    import ibis
    from pyarrow import dataset

    table = dataset.dataset(make(folder, rows, columns)).to_table()
    with warehouses.postgres() as where:
        server = int((Path(where["host"]) / "data" / "postmaster.pid").read_text().split()[0])
        connection = ibis.postgres.connect(**where)
        runs = warehouses.in_postgres(connection, table.to_pandas())
        connection.con.cursor().execute("analyze runs")
        ask = lambda query: arrow_table(connection.con, query)  # noqa: E731
        shown("PostgreSQL 15, table", rows, columns, {
            "counted there": lambda: there(runs),
            "one GROUP BY per pair, by hand": lambda: by_hand(ask, table.column_names, "runs"),
            "streamed: cg.scan(to_pyarrow_batches)": lambda: streamed(lambda: runs.to_pyarrow_batches()),
        }, server)  # fmt: skip
        connection.disconnect()


def spark_place(folder: Path, rows: int, columns: int) -> None:
    """Parquet files read by Spark."""
    path = make(folder, rows, columns)
    with warehouses.spark() as session:
        frame = session.read.parquet(str(path))
        frame.createOrReplaceTempView("runs")
        ask = lambda query: session.sql(query).toArrow()  # noqa: E731
        ways = {
            "counted there": lambda: there(frame),
            "one GROUP BY per pair, by hand": lambda: by_hand(ask, frame.columns, "runs"),
            "streamed: cg.scan(toArrow)": lambda: streamed(lambda: frame.toArrow().to_batches()),
            "cg.scan of the files": lambda: cg.compare_all(cg.scan(str(path)), ["ari"]),
        }
        if rows * columns > MOST_SENT:
            del ways["streamed: cg.scan(toArrow)"]
        shown("Spark 4, Parquet files", rows, columns, ways)


PLACES = {
    "duckdb": (duckdb_place, 10_000_000, 5),
    "postgres": (postgres_place, 1_000_000, 3),
    "spark": (spark_place, 10_000_000, 2),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--places", default=",".join(PLACES))
    parser.add_argument("--rows", type=float, help="number of rows, in every place")
    parser.add_argument("--columns", type=int, help="number of columns, in every place")
    parser.add_argument("--folder", type=Path, help="keep the data here")
    given = parser.parse_args()
    print(
        "The cheaper of two calls of each way (the first if it takes half a minute): CPU time of all processes, and time on the "
        f"clock; every way gives the same digits. {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}."
    )
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for name in given.places.split(","):
            place, rows, columns = PLACES[name]
            place(folder, int(given.rows or rows), given.columns or columns)


if __name__ == "__main__":
    main()
