"""Servers that the tests start: PostgreSQL on a socket in a temporary folder, Spark in a process of its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd


def postgres_programs() -> Path | None:
    """The folder of PostgreSQL's programs; Debian keeps them off the path."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    on_path = shutil.which("initdb")
    return found[-1].parent if found else Path(on_path).parent if on_path else None


@contextmanager
def postgres() -> Iterator[dict[str, str]]:
    """Where a new server listens: a socket, no port; it runs as another user if this is root, which it refuses."""
    programs = postgres_programs()
    assert programs is not None
    user: dict[str, str] = {"user": "nobody", "group": "nogroup"} if os.geteuid() == 0 else {}
    folder = tempfile.mkdtemp(prefix="pg")
    try:
        if user:
            shutil.chown(folder, **user)
        data = f"{folder}/data"
        quiet = {"check": True, "stdout": subprocess.DEVNULL, "cwd": folder, **user}
        subprocess.run(
            [programs / "initdb", "-D", data, "-U", "tests", "-A", "trust", "-E", "UTF8", "--no-sync"], **quiet
        )
        options = f"-k {folder} -c listen_addresses= -c fsync=off -c max_connections=20"
        control = [programs / "pg_ctl", "-D", data, "-w"]
        subprocess.run([*control, "-o", options, "-l", f"{folder}/log", "start"], **quiet)
        try:
            yield {"host": folder, "user": "tests", "database": "postgres"}
        finally:
            subprocess.run([*control, "-m", "immediate", "stop"], **quiet)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def in_postgres(connection: Any, frame: pd.DataFrame) -> Any:
    """The rows of a frame as a table of PostgreSQL, through a connection of Ibis."""
    kinds = {"i": "bigint", "f": "float8", "b": "boolean", "O": "text"}
    columns = ", ".join(f"{json.dumps(name, ensure_ascii=False)} {kinds[frame[name].dtype.kind]}" for name in frame)
    with connection.con.cursor() as cursor:
        cursor.execute(f"drop table if exists runs; create table runs ({columns})")
        with cursor.copy("copy runs from stdin") as copy:
            for row in frame.astype(object).where(frame.notna(), None).itertuples(index=False):
                copy.write_row(row)
    return connection.table("runs")


def has_java() -> bool:
    """Whether Java runs."""
    java = shutil.which("java") or f"{os.environ.get('JAVA_HOME', '')}/bin/java"
    return Path(java).exists()


@contextmanager
def spark() -> Iterator[object]:
    """A small session of Spark in this machine, without its page."""
    from pyspark.sql import SparkSession

    options = {
        "spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": "1g", "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1", "spark.sql.shuffle.partitions": "2", "spark.log.level": "ERROR",
        "spark.sql.session.timeZone": "UTC",
    }  # fmt: skip
    builder = SparkSession.builder.master("local[2]")
    for key, value in options.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    try:
        yield session
    finally:
        session.stop()
