"""Columns of Parquet files that are read as the codes they are stored as."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import congruence as cg
from congruence.machine import jit
from congruence.scanning import coded_pages, page_kernels, parts
from congruence.scanning.coded_pages import NotCoded, coded_columns
from congruence.scanning.parts import RowGroup
from congruence.scanning.vocabulary import Vocabulary

TYPES = [
    pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64(),
    pa.string(), pa.large_string(),
]  # fmt: skip


def labels(rng: np.random.Generator, n: int, k: int, kind: pa.DataType, gaps: float | None = None) -> pa.Array:
    """A column of k labels in runs and alone, some of them missing."""
    codes = np.where(rng.random(n) < 0.5, np.repeat(rng.integers(0, k, n // 40 + 1), 40)[:n], rng.integers(0, k, n))
    mask = None if gaps is None else rng.random(n) < gaps
    if pa.types.is_integer(kind):
        return pa.array((codes * 3 + 1).astype(kind.to_pandas_dtype()), kind, mask=mask)
    return pa.array([f"cluster {code}" for code in codes.tolist()], kind, mask=mask)


def read_as_codes(path: Path, sizes: list[int]) -> dict[str, pa.ChunkedArray]:
    """The columns of the first row group that are read as codes, in batches of these sizes in turn."""
    footer = parquet.read_metadata(path)
    types = {field.name: field.type for field in footer.schema.to_arrow_schema()}
    rows = footer.row_group(0).num_rows
    found: dict[str, pa.ChunkedArray] = {}
    with coded_columns(str(path), row_group(path)._chunks(types), rows, types) as columns:
        for name, column in columns.items():
            pieces, done = [], 0
            while done < rows:
                pieces.append(column.take(min(sizes[len(pieces) % len(sizes)], rows - done)))
                done += len(pieces[-1])
            assert all(pa.types.is_dictionary(piece.type) for piece in pieces)
            found[name] = pa.chunked_array([piece.cast(types[name]) for piece in pieces], types[name])
    return found


@pytest.mark.parametrize("seed", range(60))
def test_codes_equal_what_pyarrow_reads(seed: int, tmp_path: Path) -> None:
    """Types, numbers of labels, gaps, compression, sizes and versions of pages: the labels are those of pyarrow."""
    rng = np.random.default_rng(seed)
    n = int(rng.choice([1, 8, 1_001, 20_011]))
    columns = {
        f"c{j}": labels(
            rng, n, int(rng.choice([1, 2, 10, 255, 256, 257, 1_000])), kind, rng.choice([None, 0.001, 0.5, 1.0])
        )
        for j, kind in enumerate(rng.choice(np.array(TYPES, dtype=object), 3))
    }
    fields = [pa.field(name, x.type, nullable=bool(x.null_count or rng.random() < 0.5)) for name, x in columns.items()]
    path = tmp_path / "labels.parquet"
    parquet.write_table(
        pa.table(list(columns.values()), schema=pa.schema(fields)), path,
        compression=str(rng.choice(["NONE", "SNAPPY", "GZIP", "ZSTD", "BROTLI"])),
        data_page_version=str(rng.choice(["1.0", "2.0"])), version=str(rng.choice(["1.0", "2.6"])),
        data_page_size=(size := int(rng.choice([64, 1_000, 1 << 20]))), write_page_checksum=bool(rng.random() < 0.3),
        row_group_size=n,
    )  # fmt: skip
    found = read_as_codes(path, rng.choice([7, 64, 1_000, 4_099], 3).tolist())
    wanted = parquet.read_table(path)
    for name, column in found.items():
        assert column.equals(wanted[name]), name
    if n > 20_000 and size > 64:  # headers of small pages take more room than codes
        assert {name for name, x in columns.items() if 0 < len(x.unique()) < 100} <= set(found)


def test_many_pages_of_snappy(tmp_path: Path) -> None:
    """Copies and literals of snappy, in pages that are read in several steps."""
    rng = np.random.default_rng(0)
    n = 300_000
    some = np.where(rng.random(n) < 0.9, np.arange(n) // 7 % 5, rng.integers(0, 200, n))
    path = tmp_path / "labels.parquet"
    table = pa.table({"a": some, "b": np.tile(rng.integers(0, 100, 1_000), n // 1_000)})
    parquet.write_table(table, path, compression="snappy", data_page_size=20_000, row_group_size=n)
    found = read_as_codes(path, [50_000])
    assert found.keys() == {"a", "b"}
    assert all(found[name].equals(table[name]) for name in found)


def test_a_page_longer_than_its_header_says_leaves_no_room_for_the_next() -> None:
    """An uncompressed page of more bytes than declared is refused, so that the next page is not written beyond the memory."""
    pages = np.zeros((2, page_kernels.PAGE_COLUMNS), np.int64)
    pages[0, [page_kernels.STORED, page_kernels.SIZE]] = 30, 10
    pages[1, [page_kernels.START, page_kernels.STORED, page_kernels.SIZE, page_kernels.COMPRESSED]] = 30, 52, 50, 1
    out = np.zeros(60, np.uint8)
    assert not page_kernels.unpack_pages(np.array([0] * 30 + [50, 196] + [1] * 50, np.uint8), pages, out)


@pytest.mark.parametrize(
    "column",
    [
        pa.array(np.arange(70_000)),
        pa.array(np.arange(70_000) / 7),
        pa.array([[1, 2]] * 5_000),
        pa.array([True, False] * 5_000),
        pa.array([f"label {i}" for i in range(5_000)] * 10),
        pa.array([{"x": 1}] * 5_000),
    ],
    ids=["ids", "numbers", "lists", "booleans", "many texts", "structures"],
)
def test_other_columns_are_left_to_pyarrow(column: pa.Array, tmp_path: Path) -> None:
    """Columns that do not hold codes of few labels are not read here."""
    path = tmp_path / "labels.parquet"
    parquet.write_table(pa.table({"x": column}), path)
    assert read_as_codes(path, [1_000]) == {}


def row_group(path: Path) -> RowGroup:
    return RowGroup(str(path), rows=parquet.read_metadata(path).row_group(0).num_rows, path=str(path))


@pytest.fixture
def always_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiled loops are used for small files too."""
    monkeypatch.setattr(jit, "loaded", lambda: True)
    monkeypatch.setattr(jit, "was_compiled", lambda function: True)
    monkeypatch.setattr(jit, "LOADED_FROM", 0)
    monkeypatch.setattr(jit, "use_kernels", lambda work: work > 1_000)


@pytest.mark.usefixtures("always_compiled")
def test_a_column_that_changes_its_encoding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the dictionary is full after some pages, pyarrow reads the other rows, and no row is lost or read twice."""
    monkeypatch.setattr(coded_pages, "PER_ROW", 100.0)
    monkeypatch.setattr(coded_pages, "READ", 1_000)
    values = np.concatenate([np.arange(30_000) % 50, np.arange(30_000)])
    table = pa.table({"x": values, "y": np.arange(60_000) % 3})
    path = tmp_path / "labels.parquet"
    parquet.write_table(table, path, dictionary_pagesize_limit=1_000, data_page_size=500, row_group_size=60_000)
    with pytest.raises(NotCoded):
        read_as_codes(path, [1_000])
    batches = list(row_group(path).batches(["x", "y"], 700))
    assert pa.types.is_dictionary(batches[0].column(0).type)
    assert not pa.types.is_dictionary(batches[-1].column(0).type)
    for name in ("x", "y"):
        assert pa.chunked_array([b.column(name).cast(pa.int64()) for b in batches]).equals(table[name])


@pytest.mark.usefixtures("always_compiled")
def test_damaged_pages(tmp_path: Path) -> None:
    """Changed bytes of pages end in an error wherever pyarrow raises one, or in the labels that it reads; never in a crash."""
    rng = np.random.default_rng(0)
    path, outcomes = tmp_path / "labels.parquet", set()
    for version, compression in (("1.0", "SNAPPY"), ("2.0", "SNAPPY"), ("1.0", "NONE"), ("2.0", "ZSTD")):
        table = pa.table({"x": labels(rng, 3_000, 10, pa.int32(), 0.1), "y": labels(rng, 3_000, 300, pa.string())})
        parquet.write_table(table, path, compression=compression, data_page_version=version, data_page_size=300)
        whole, footer = path.read_bytes(), parquet.read_metadata(path)
        first = footer.row_group(0).column(0).dictionary_page_offset
        last = footer.row_group(0).column(1)
        end = last.dictionary_page_offset + last.total_compressed_size
        for _ in range(150):
            bad = bytearray(whole)
            for at in rng.integers(first, end, 2):
                bad[at] = rng.integers(0, 256)
            path.write_bytes(bad)
            found = []
            for read in (row_group(path)._coded, row_group(path)._plain):
                try:
                    batches = list(read(dict(zip(table.column_names, table.schema.types, strict=True)), 777, footer))
                except Exception:  # readers raise errors of many kinds
                    batches = []
                found.append(pa.Table.from_batches([_decoded(batch) for batch in batches]) if batches else None)
            by_codes, by_pyarrow = found
            if by_codes is not None and len(by_codes) == 3_000:
                outcomes.add("read by both")
                assert by_pyarrow is not None
                assert by_codes.equals(by_pyarrow)
            else:
                outcomes.add("left to pyarrow")
    assert outcomes == {"read by both", "left to pyarrow"}


def _decoded(batch: pa.RecordBatch) -> pa.RecordBatch:
    columns = [x.dictionary_decode() if pa.types.is_dictionary(x.type) else x for x in batch.columns]
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


@pytest.mark.usefixtures("always_compiled")
def test_codes_are_left_to_pyarrow_on_request(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """CONGRUENCE_READ_CODES=0 reads all columns by pyarrow."""
    path = tmp_path / "labels.parquet"
    parquet.write_table(pa.table({"a": np.arange(30_000) % 7}), path)
    for value, is_coded in (("1", True), ("0", False)):
        monkeypatch.setenv("CONGRUENCE_READ_CODES", value)
        (batch,) = row_group(path).batches(["a"], 30_000)
        assert pa.types.is_dictionary(batch.column(0).type) == is_coded


@pytest.mark.usefixtures("always_compiled")
def test_a_wrong_checksum_is_reported(tmp_path: Path) -> None:
    """A page whose checksum is wrong raises the same error as without codes."""
    path = tmp_path / "labels.parquet"
    table = pa.table({"a": np.arange(30_000) % 7, "b": np.arange(30_000) % 5})
    parquet.write_table(table, path, write_page_checksum=True, compression="NONE")
    assert read_as_codes(path, [1_000]).keys() == {"a", "b"}
    bad = bytearray(path.read_bytes())
    chunk = parquet.read_metadata(path).row_group(0).column(0)
    bad[chunk.data_page_offset + chunk.total_compressed_size // 2] ^= 1
    path.write_bytes(bad)
    with pytest.raises(cg.InputError, match="could not be read"):
        cg.compare_all(cg.scan(path))


@pytest.mark.usefixtures("always_compiled")
def test_scans_have_the_same_bits_with_and_without_codes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables, labels in order of appearance, weights and a consensus do not depend on how the columns are read."""
    rng = np.random.default_rng(1)
    n = 120_000
    truth = rng.integers(0, 6, n)
    table = pa.table(
        {
            "id": np.arange(n),
            **{
                name: pa.array(
                    np.where(rng.random(n) < 0.2, rng.integers(0, 6, n), truth) - 2, mask=rng.random(n) < gaps
                )
                for name, gaps in (("a", 0.0), ("b", 0.0), ("c", 0.01))
            },
            "text": [f"cluster {x}" for x in truth.tolist()],
            "times": rng.integers(1, 4, n),
        }
    )
    path = tmp_path / "labels.parquet"
    parquet.write_table(table, path, row_group_size=40_000)
    coded = []
    real = parts.coded_columns
    found = []
    for use in (True, False):
        monkeypatch.setattr(parts, "coded_columns", real if use else _none)
        scan = cg.scan(path, id="id")
        members = scan[["a", "b", "c", "text"]]
        if use:
            coded += [batch.schema for batch in row_group(path).batches(["id", "a", "text"], 10_000)]
        values = cg.compare_all(members, ["ari", "vi"], unassigned="drop", frequency=scan["times"])
        ensemble = cg.Ensemble(members, unassigned="partial")
        r = cg.consensus(ensemble, 6, random_state=0, out=tmp_path / f"out {use}", progress=False)
        words = [Vocabulary(()) for _ in "abc"]
        for batch in row_group(path).batches(["a", "b", "c"], 9_000):
            for word, column in zip(words, batch.columns, strict=True):
                word.codes(column, "a test")
        written = parquet.read_table(r.folder).replace_schema_metadata()
        found.append((values["ari"].tolist(), values["vi"].tolist(), written, [word.labels for word in words]))
    assert [pa.types.is_dictionary(x.type) for x in coded[0]] == [False, True, True]
    assert found[0] == found[1]


class _none:
    """No column is read as codes."""

    def __init__(self, *_: object) -> None:
        pass

    def __enter__(self) -> dict[str, object]:
        return {}

    def __exit__(self, *_: object) -> None:
        pass


@pytest.mark.parametrize("library", ["polars", "duckdb"])
def test_files_of_other_writers(library: str, tmp_path: Path) -> None:
    """Columns of labels written by other libraries are read as codes, with the same labels."""
    module = pytest.importorskip(library)
    rng = np.random.default_rng(0)
    frame = pa.table({"a": labels(rng, 50_000, 12, pa.int64()), "b": labels(rng, 50_000, 12, pa.string(), 0.1)})
    path = tmp_path / "labels.parquet"
    if library == "polars":
        module.from_arrow(frame).write_parquet(path)
    else:
        module.sql(f"copy (from frame) to '{path}' (format parquet)")
    found = read_as_codes(path, [9_999])
    wanted = parquet.read_table(path)
    footer = parquet.read_metadata(path).row_group(0)
    if not footer.column(0).has_dictionary_page:
        pytest.skip(f"this version of {library} does not store codes, or does not say so in the footer")
    assert "a" in found
    assert all(
        column.cast(wanted[name].type).equals(wanted[name].slice(0, len(column))) for name, column in found.items()
    )
