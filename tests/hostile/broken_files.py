"""Odd and broken files from a seeded generator."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import feather, ipc, parquet

NAMES = [
    "a", "b", "c", "kmeans", "leiden", "Truth", "x y", "id", "cell", "é", "日本", "=1+1", "@cmd", "-x", "+y", "a|b", "a:b",
    "\x1b[31mred", "line\nbreak", "tab\there", "bell\x07", "\u202eevil", "<b>", "{subject}", "%s", "quote\"d", "'", "n",
    "a,b", "very" * 40, " lead", "trail ", "None", "0", "1", "-1", "nan", "*", "clustering", "row", "score", "\x9b31m",
]  # fmt: skip
POOLS: dict[str, list[Any]] = {
    "small": ["0", "1", "2"],
    "words": ["x", "y", "zebra"],
    "decimals": ["1.1", "1.10", "2", "2.0"],
    "zeros": ["01", "1", "001", "2"],
    "exponents": ["1e1", "10", "1E1", "2"],
    "truth": ["true", "True", "false", "FALSE"],
    "times": ["12:30", "12:30:00", "2024-01-01", "2024-01-01T00:00:00"],
    "signs": ["-0", "0", "+1", "1", "-1"],
    "zero floats": ["0.0", "-0.0", "1.5"],
    "huge": ["12345678901234567890123", "12345678901234567890124", "9007199254740993", "9007199254740992"],
    "limits": ["18446744073709551615", "9223372036854775807", "-9223372036854775808", "9223372036854775808"],
    "floats": ["0.5", "0.25", "inf", "-inf", "1e308", "1e309"],
    "blank": [" ", "  ", "x", "\u00a0"],
    "unicode": ["é", "e\u0301", "Ω", "😀", "\ufeff"],
    "controls": ["\x1b[2J", "\x07", "ok", "a\x00b"],
    "breaks": ["one\ntwo", "one", "two\r\nthree", 'q"uote', "com,ma"],
    "formulas": ["=1+1", "+x", "-x", "@x", "|"],
    "one": ["0"],
    "noise": ["-1", "0", "1"],
}
MISSING = ["", "NA", "nan", "None", "null", "N/A", "NULL", "<NA>", "NaN"]


@dataclass
class Made:
    """A file, and whether it is intact."""

    path: Path
    whole: bool
    how: str


def columns(rng: Random, gaps: bool | None = None) -> dict[str, list[str | None]]:
    """Named text columns; None is a missing value."""
    n = rng.choice([1, 2, 3, 5, 8, 12, 20])
    count = rng.choice([1, 2, 2, 2, 3, 3, 4])
    pick = NAMES if rng.random() < 0.35 else ["a", "b", "c", "kmeans", "leiden", "ward"]
    names = rng.sample(pick, count)
    gaps = rng.random() < 0.3 if gaps is None else gaps
    made: dict[str, list[str | None]] = {}
    for name in names:
        pool = POOLS[rng.choice(list(POOLS))] if rng.random() < 0.6 else POOLS[rng.choice(["small", "words", "noise"])]
        chosen: list[str | None] = [rng.choice(pool) for _ in range(n)]
        if rng.random() < 0.05:
            chosen = [f"p{i}" for i in range(n)]
        if gaps and rng.random() < 0.6:
            chosen = [None if rng.random() < 0.2 else x for x in chosen]
        made[name] = chosen
    if rng.random() < 0.1:
        made["w"] = [rng.choice(["1", "2", "0.5", "3", "0"]) for _ in range(n)]
    if rng.random() < 0.1:
        made["n"] = [rng.choice(["1", "2", "3"]) for _ in range(n)]
    return made


def text_bytes(rng: Random, data: dict[str, list[str | None]], delimiter: str) -> bytes:
    """A delimited text file, in one of many dialects."""
    out = io.StringIO(newline="")
    ending = rng.choice(["\n", "\n", "\r\n"])
    quoting = rng.choice([csv.QUOTE_MINIMAL, csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC])
    writer = csv.writer(out, delimiter=delimiter, lineterminator=ending, quoting=quoting)
    writer.writerow(list(data))
    rows = list(zip(*data.values(), strict=True))
    for row in rows:
        gap = rng.choice(MISSING) if quoting == csv.QUOTE_MINIMAL else ""  # a quoted NA is a label
        writer.writerow([gap if x is None else x for x in row])
        if rng.random() < 0.02:
            out.write(ending)
    text = out.getvalue()
    if rng.random() < 0.2:
        text = text.rstrip("\r\n")
    if rng.random() < 0.1:
        text += ending * 2
    if rng.random() < 0.05:
        text = ending + text
    return text.encode(rng.choice(["utf-8"] * 8 + ["utf-8-sig"]))


def arrow_table(rng: Random, data: dict[str, list[str | None]]) -> pa.Table:
    """The same columns as arrow arrays of many types."""
    arrays = [arrow_array(rng, values) for values in data.values()]
    return pa.table(arrays, names=list(data))


def arrow_array(rng: Random, texts: list[str | None]) -> Any:
    """A column of one of the types of arrow."""
    codes = [None if x is None else sorted({y for y in texts if y is not None}).index(x) for x in texts]
    makers: list[Callable[[], Any]] = [
        lambda: pa.array(texts, pa.string()),
        lambda: pa.array(texts, pa.large_string()),
        lambda: pa.array([x or "" for x in texts]).dictionary_encode(),
        lambda: pa.array(codes, pa.int8()),
        lambda: pa.array(codes, pa.uint64()),
        lambda: pa.array(codes, pa.int64()),
        lambda: pa.array([None if c is None else c / 2 for c in codes], pa.float64()),
        lambda: pa.array(
            [None if c is None else [0.0, -0.0, float("nan"), 2.5, 3.0][c % 5] for c in codes], pa.float64()
        ),
        lambda: pa.array([None if c is None else c % 2 == 0 for c in codes], pa.bool_()),
        lambda: pa.array([None if c is None else 2**62 + c for c in codes], pa.int64()),
        lambda: pa.array(codes, pa.timestamp("ns")),
        lambda: pa.array(codes, pa.date32()),
        lambda: pa.array([None if c is None else b"\xff" + bytes([c]) for c in codes], pa.binary()),
        lambda: pa.array([None if c is None else [c] for c in codes], pa.list_(pa.int64())),
        lambda: pa.array([None if c is None else {"k": c} for c in codes]),
        lambda: pa.nulls(len(codes)),
        lambda: pa.array(codes, pa.int64()).cast(pa.decimal128(30, 2)),
        lambda: pa.array(codes, pa.duration("s")),
    ]
    usual = rng.random() < 0.6
    made = rng.choice(makers[:7] if usual else makers)()
    return pa.chunked_array([made[: len(made) // 2], made[len(made) // 2 :]]) if rng.random() < 0.2 else made


def arrow_bytes(rng: Random, table: pa.Table, kind: str) -> bytes:
    """A Parquet, Feather or Arrow file."""
    sink = io.BytesIO()
    if kind == "parquet":
        parquet.write_table(
            table,
            sink,
            row_group_size=rng.choice([1, 3, 1000]),
            compression=rng.choice(["none", "snappy", "zstd", "gzip"]),
            write_page_checksum=rng.random() < 0.7,
        )
    elif kind == "feather":
        feather.write_feather(table, sink, compression=rng.choice(["uncompressed", "lz4", "zstd"]))
    else:
        writer = (ipc.new_file if rng.random() < 0.8 else ipc.new_stream)(sink, table.schema)
        with writer:
            writer.write_table(table)
    return sink.getvalue()


def numpy_array(rng: Random) -> Any:
    """An array of one of many types and shapes."""
    n, columns = rng.choice([1, 2, 4, 9]), rng.choice([1, 2, 3, 9])
    numbers = np.random.default_rng(rng.randrange(2**32))
    shape = rng.choice([(n,), (n, columns), (n, columns), (n, n), (n, 1), (1, n), (0,), (n, 0), (), (n, 2, 2)])
    makers: list[Callable[[], Any]] = [
        lambda: numbers.integers(0, 3, shape),
        lambda: numbers.integers(-1, 3, shape).astype(np.int8),
        lambda: numbers.integers(0, 3, shape).astype(np.uint64) + np.uint64(2**63),
        lambda: numbers.random(shape),
        lambda: numbers.random(shape).astype(np.float16),
        lambda: numbers.random(shape) > 0.5,
        lambda: numbers.integers(0, 3, shape).astype(str),
        lambda: numbers.integers(0, 3, shape).astype(bytes),
        lambda: numbers.random(shape) + 1j,
        lambda: numbers.integers(0, 3, shape).astype("datetime64[D]"),
        lambda: np.where(numbers.random(shape) > 0.8, np.nan, numbers.integers(0, 3, shape)),
        lambda: numbers.integers(0, 3, shape).astype(object),
        lambda: np.zeros(shape, dtype=[("a", "i4"), ("b", "f8")]),
        lambda: numbers.dirichlet(np.ones(max(columns, 2)), n),
        lambda: np.asfortranarray(numbers.integers(0, 3, shape)),
        lambda: numbers.integers(0, 3, shape).astype(">i4"),
        lambda: np.full(shape, np.inf),
    ]
    return rng.choice(makers)()


def numpy_bytes(rng: Random, kind: str) -> bytes:
    """An npy or npz file; npz also as scipy writes sparse matrices, with indices of all sorts."""
    sink = io.BytesIO()
    if kind == "npy":
        np.save(sink, numpy_array(rng))
        data = sink.getvalue()
        if rng.random() < 0.15:
            shapes = [b"(-1,)", b"(99999999999999,)", b"(2, )", b"('x',)", b"(1e9,)", b"()", b"(" + b"2," * 40 + b")"]
            start, end = data.find(b"(", 10), data.find(b")", 10)
            data = data[:start] + rng.choice(shapes) + data[end + 1 :]
        return data
    if rng.random() < 0.3:
        n = rng.choice([2, 4])
        sparse = {
            "data": np.ones(n),
            "indices": np.arange(n),
            "indptr": np.arange(n + 1),
            "shape": np.array([n, n]),
            "format": np.array(rng.choice([b"csr", b"csc", b"coo", b"nope"] if rng.random() < 0.3 else [b"csr"])),
        }
        spoiled = rng.choice(list(sparse)) if rng.random() < 0.8 else None
        spoils: list[Any] = [
            np.array([10**9] * n), np.array([-5] * n), np.array([0.5] * n), np.array("x"), np.array([]),
            np.array([2**62, 2**62]), np.arange(n)[::-1], np.full(n + 1, n), np.array([[1, 2], [3, 4]]), np.array([-1, -1]),
            np.array([np.nan] * n), np.array([n, n, n]), np.array([np.inf] * n),
        ]  # fmt: skip
        if spoiled:
            sparse[spoiled] = rng.choice(spoils)
        np.savez(sink, **sparse)
        return sink.getvalue()
    names = rng.sample(["a", "b", "labels", "x:y", "é", "arr_0"], rng.choice([0, 1, 2, 3]))
    (np.savez_compressed if rng.random() < 0.5 else np.savez)(sink, **{name: numpy_array(rng) for name in names})
    return sink.getvalue()


def cover_bytes(rng: Random) -> tuple[bytes, str]:
    """A cover file in one of its formats, or nearly so."""
    points = [str(i) for i in range(rng.choice([1, 3, 6]))]
    clusters = [rng.sample(points, rng.randint(1, len(points))) for _ in range(rng.choice([1, 2, 3]))]
    kind = rng.choice(["cover", "points", "long", "json"])
    if kind == "cover":
        text = "\n".join(" ".join(c) for c in clusters) + "\n"
    elif kind == "points":
        text = "\n".join(f"{p}: {' '.join(str(j) for j, c in enumerate(clusters) if p in c)}" for p in points)
    elif kind == "long":
        text = "point,cluster\n" + "\n".join(f"{p},{j}" for j, c in enumerate(clusters) for p in c)
    else:
        text = json.dumps(
            rng.choice([clusters, {str(j): c for j, c in enumerate(clusters)}, 3, None, {"a": {"b": 1}}, [[[]]]])
        )
    return text.encode(), kind


def spoil(rng: Random, data: bytes) -> tuple[bytes, str]:
    """The bytes with one of many kinds of damage."""

    def flipped(times: int) -> bytes:
        out = bytearray(data)
        for _ in range(times if out else 0):
            out[rng.randrange(len(out))] ^= 1 << rng.randrange(8)
        return bytes(out)

    at = rng.randrange(len(data) + 1)
    kinds: dict[str, Callable[[], bytes]] = {
        "truncated": lambda: data[:at],
        "head lost": lambda: data[at:],
        "bits flipped": lambda: flipped(rng.choice([1, 1, 2, 8, 64])),
        "zeros inside": lambda: data[:at] + b"\0" * rng.choice([1, 64, 5000]) + data[at:],
        "noise at the end": lambda: data + rng.randbytes(rng.choice([1, 7, 300])),
        "noise inside": lambda: data[:at] + rng.randbytes(9) + data[at:],
        "doubled": lambda: data + data,
        "empty": lambda: b"",
        "latin-1": lambda: data.decode("utf-8", "replace").replace("a", "é").encode("latin-1", "replace"),
        "utf-16": lambda: data.decode("utf-8", "replace").encode("utf-16"),
        "ragged": lambda: data[:at] + b"," + data[at:],
        "a quote": lambda: data[:at] + b'"' + data[at:],
        "a line end": lambda: data[:at] + rng.choice([b"\n", b"\r", b"\r\n", b"\n\n"]) + data[at:],
        "old mac": lambda: data.replace(b"\n", b"\r"),
        "only noise": lambda: rng.randbytes(rng.choice([1, 100, 3000])),
        "a block lost": lambda: data[:at] + data[at + 16 :],
        "largest numbers": lambda: data[:at] + b"\xff" * 8 + data[at + 8 :],
    }  # fmt: skip
    how = rng.choice(list(kinds))
    return kinds[how](), how


def odd_place(rng: Random, folder: Path, name: str, data: bytes) -> Made:
    """A path that is not a regular file: a folder, a link, a pipe, or missing."""
    path = folder / name
    how = rng.choice(["folder", "nothing", "link", "dangling link", "loop", "pipe", "folder of files", "not permitted"])
    if how == "folder":
        path.mkdir()
    elif how == "link":
        real = folder / f"real_{name}"
        real.write_bytes(data)
        path.symlink_to(real)
        return Made(path, True, how)
    elif how == "dangling link":
        path.symlink_to(folder / "gone")
    elif how == "loop":
        path.symlink_to(path)
    elif how == "pipe":
        os.mkfifo(path)
    elif how == "folder of files":
        path.mkdir()
        for i in range(2):
            (path / f"part{i}.{name.rpartition('.')[2]}").write_bytes(data if i == 0 else spoil(rng, data)[0])
    elif how == "not permitted":
        path.write_bytes(data)
        path.chmod(0)
    return Made(path, False, how)


KINDS = ("csv", "csv", "csv", "tsv", "txt", "parquet", "parquet", "feather", "arrow", "npy", "npz")


def a_file(rng: Random, folder: Path, whole: float = 0.6, kinds: tuple[str, ...] = KINDS) -> Made:
    """One file: intact with this probability, else damaged or at an odd path."""
    kind = rng.choice(kinds)
    data = columns(rng)
    if kind in ("csv", "tsv", "txt"):
        delimiter = {"csv": ",", "tsv": "\t", "txt": ","}[kind]
        if kind != "tsv" and len(data) > 1 and rng.random() < 0.15:
            delimiter = rng.choice([";", "\t"])
        content = text_bytes(rng, data, delimiter)
        if rng.random() < 0.05:
            content, kind = rng.choice([(gzip.compress(content), f"{kind}.gz"), (bz2.compress(content), f"{kind}.bz2")])
    elif kind in ("parquet", "feather", "arrow"):
        content = arrow_bytes(rng, arrow_table(rng, data), kind)
    else:
        content = numpy_bytes(rng, kind)
    stems = ["labels", "labels", "labels", "my labels", "é", "a\nb", "--out", "x.y", "=x", "\x1b[31m", "b\udcff"]
    name = f"{rng.choice(stems) if rng.random() < 0.2 else 'labels'}.{kind}"
    if rng.random() < 0.03:
        name = name.replace(kind, rng.choice(["xlsx", "CSV", "parquet", "npy", "csv", "", "h5", "feather"]))
    if rng.random() < whole:
        path = folder / name
        path.write_bytes(content)
        return Made(path, True, kind)
    if rng.random() < 0.15:
        return odd_place(rng, folder, name, content)
    content, how = spoil(rng, content)
    (folder / name).write_bytes(content)
    return Made(folder / name, False, f"{kind}, {how}")


def numbers_file(rng: Random, folder: Path) -> Made:
    """A table of numbers to cluster, sometimes with invalid columns."""
    n = rng.choice([1, 2, 5, 12, 30])
    draws = np.random.default_rng(rng.randrange(2**32))
    X = draws.normal(size=(n, rng.choice([1, 2, 3]))) + 5 * draws.integers(0, 2, (n, 1))
    how = rng.choice(["plain", "plain", "plain", "constant", "missing", "infinite", "huge", "text", "integers", "same"])
    if how == "constant":
        X[:, 0] = 1
    elif how == "same":
        X[:] = 3
    elif how == "missing":
        X[rng.randrange(n), 0] = np.nan
    elif how == "infinite":
        X[rng.randrange(n), 0] = np.inf
    elif how == "huge":
        X = X * 10.0 ** rng.choice([160, 300, -200])
    kind = rng.choice(["csv", "npy", "parquet"])
    path = folder / f"numbers.{kind}"
    names = [f"x{j}" for j in range(X.shape[1])]
    labels = [str(v) for v in draws.integers(0, 2, n)]
    if kind == "npy":
        np.save(path, X if how != "text" else X.astype(str))
    else:
        table: dict[str, Any] = {name: X[:, j].tolist() for j, name in enumerate(names)}
        if how == "text":
            table["x0"] = [f"t{i % 3}" for i in range(n)]
        if how == "integers":
            table["x0"] = [2**53 + i for i in range(n)]
        table |= {"lab": labels, "lab2": labels[::-1], "win": [str(i % 2) for i in range(n)]}
        if kind == "parquet":
            parquet.write_table(pa.table(table), path)
        else:
            with path.open("w", newline="", encoding="utf-8") as stream:
                writer = csv.writer(stream)
                writer.writerow(table)
                writer.writerows(zip(*table.values(), strict=True))
    if rng.random() < 0.25:
        content, what = spoil(rng, path.read_bytes())
        path.write_bytes(content)
        return Made(path, False, f"numbers, {how}, {what}")
    return Made(path, True, f"numbers, {how}")
