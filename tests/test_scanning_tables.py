"""Partial tables, and refusals of scans in one line."""

from __future__ import annotations

import itertools
import tracemalloc
from functools import reduce

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pytest
from pyarrow import parquet
from scanning_cases import KEYS, folder_of, labels, same

import congruence as cg
from congruence.inputs import files
from congruence.machine import jit
from congruence.scanning import parts, room
from congruence.scanning.room import bytes_of
from congruence.scanning.vocabulary import Vocabulary

# --- refusals in one line --------------------------------------------------------------------------------------------


def test_missing_labels_are_an_error_that_says_where(tmp_path):
    """Unassigned points stop the count at the first row group that has any, by name."""
    columns = {"a": [0, 1, 2, 3] * 50, "b": [0.0] * 150 + [np.nan] * 50}
    s = cg.scan(folder_of(columns, tmp_path / "d", files=2, groups=1))
    with pytest.raises(
        cg.InputError, match=r"^b: 50 of the 100 points of .*part-1.parquet, row group 0 are unassigned.*'drop'"
    ):
        cg.compare(s["a"], s["b"])


@pytest.mark.parametrize("broken", ["truncated", "no column", "another type", "no parquet", "dates"])
def test_what_cannot_be_read_is_named_or_left_out(tmp_path, broken):
    """The error names file and row group; with skip_bad the rest is counted, and the result lists what is missing."""
    columns = {k: v for k, v in labels(600).items() if k in ("int", "text")}
    folder = folder_of(columns, tmp_path / "d")
    bad = folder / "part-1.parquet"
    table = parquet.read_table(bad)
    where = r"part-1.parquet"
    if broken == "truncated":
        bad.write_bytes(bad.read_bytes()[:-40])
    elif broken == "no parquet":
        bad.write_bytes(b"this is no Parquet file, is it")
    elif broken == "no column":
        parquet.write_table(table.drop_columns(["text"]), bad)
        where = r"part-1.parquet, row group 0 has no column 'text'; it has: int"
    elif broken == "another type":
        parquet.write_table(table.set_column(0, "int", pa.array(["x"] * len(table))), bad)
        where = r"part-1.parquet, row group 0: column 'int' holds labels of kind text, and of kind integer elsewhere"
    else:
        parquet.write_table(table.set_column(0, "int", pa.array([0] * len(table), pa.timestamp("s"))), bad)
        where = r"column 'int' holds labels of kind timestamp\[ms\], and of kind integer elsewhere"
    with pytest.raises(cg.InputError, match=where):
        cg.compare_all(cg.scan(folder))
    r = cg.compare_all(cg.scan(folder), ["ari"], skip_bad=True)
    kept = {k: np.concatenate([v[:200], v[400:]]) for k, v in columns.items()}
    assert r["ari"].tolist() == cg.compare_all(kept)["ari"].tolist()
    assert r.n_used[0, 1] == 400
    assert any(c.startswith("left out: ") and "part-1.parquet" in c for c in r.cautions)
    assert cg.Ensemble(cg.scan(folder, skip_bad=True)).n_points == 400


def test_one_bad_row_group_of_a_file(tmp_path):
    """A page that was damaged: that row group is named, and left out by itself."""
    rng = np.random.default_rng(6)
    columns = {"a": rng.integers(0, 5, 900), "b": rng.integers(0, 5, 900)}
    path = tmp_path / "x.parquet"
    parquet.write_table(
        pa.table(columns), path, row_group_size=300, compression="none", use_dictionary=False, write_page_checksum=True
    )
    footer = parquet.ParquetFile(path).metadata
    start = footer.row_group(1).column(0).data_page_offset
    raw = bytearray(path.read_bytes())
    raw[start + 400] ^= 0xFF
    path.write_bytes(bytes(raw))
    with pytest.raises(cg.InputError, match=r"x.parquet, row group 1 could not be read"):
        cg.compare_all(cg.scan(path))
    r = cg.compare_all(cg.scan(path, skip_bad=True))
    assert r.n_used[0, 0] == 600
    kept = {k: np.concatenate([v[:300], v[600:]]) for k, v in columns.items()}
    assert r["ari"].tolist() == cg.compare_all(kept)["ari"].tolist()


@pytest.mark.slow
def test_fuzzed_files_are_read_right_or_refused(tmp_path):
    """Any byte changed: one clear error, or the right answer; never a wrong one, never another kind of error."""
    rng = np.random.default_rng(7)
    columns = {"a": rng.integers(0, 5, 400), "b": np.array(list("wxyz"))[rng.integers(0, 4, 400)]}
    path = tmp_path / "x.parquet"
    parquet.write_table(pa.table(columns), path, row_group_size=100, write_page_checksum=True)
    right = cg.compare_all(columns)["ari"][0, 1]
    whole = path.read_bytes()
    refused = []
    for trial in range(120):
        raw = bytearray(whole)
        if trial % 3 == 0:
            raw = raw[: int(rng.integers(0, len(raw)))]
        else:
            for at in rng.integers(0, len(raw), 1 + trial % 4):
                raw[at] ^= int(rng.integers(1, 256))
        path.write_bytes(bytes(raw))
        try:
            r = cg.compare_all(cg.scan(path, ["a", "b"]))
        except cg.InputError as error:
            refused.append(str(error))
        else:
            if r.n_used[0, 0] == 400 and r.names == ("a", "b"):
                assert r["ari"][0, 1] == right
    assert len(refused) > 60
    assert not any("\n" in said for said in refused)


def test_everything_unreadable_is_an_error_even_if_skipped(tmp_path, monkeypatch):
    """If nothing is left to count, there is no result."""
    s = cg.scan(folder_of(labels(100), tmp_path / "d", files=2), ["int", "text"], skip_bad=True)

    def unreadable(*_):
        raise OSError("no such block")

    monkeypatch.setattr("congruence.scanning.parts.RowGroup.batches", unreadable)
    with pytest.raises(cg.InputError, match=r"has no rows that can be read"):
        cg.compare_all(s)


def test_sources_that_cannot_be_scanned(tmp_path):
    """What was given, what is expected, in one line."""
    (tmp_path / "empty").mkdir()
    (tmp_path / "x.json").write_text("{}")
    folder = folder_of(labels(30), tmp_path / "d")
    s = cg.scan(folder)
    for call, said in (
        (lambda: cg.scan(tmp_path / "no.parquet"), r"there is no file"),
        (lambda: cg.scan(tmp_path / "empty"), r"no files to scan in .*empty"),
        (lambda: cg.scan(tmp_path / "*.parquet"), r"no file matches"),
        (lambda: cg.scan(tmp_path / "x.json"), r"files of kind .json cannot be scanned"),
        (lambda: cg.scan(3), r"scan takes the path of a file or folder.*got int"),
        (lambda: cg.scan(folder, ["itn"]), r"has no column 'itn'; did you mean int"),
        (lambda: cg.scan(folder, id="cell"), r"has no column 'cell'"),
        (lambda: cg.scan(folder, memory="lots"), r"memory must be a size, as in '2GB'"),
        (lambda: cg.scan(iter([])), r"yielded no batch"),
        (lambda: s["nope"], r"has no column 'nope'"),
        (lambda: cg.compare(s["int"], [0] * 30), r"b is in memory but 'int' is scanned"),
        (lambda: cg.compare(s["int"], cg.scan(folder)["text"]), r"come from different sources"),
        (lambda: cg.compare_all(s, unassigned="never"), r"unassigned must be"),
        (lambda: cg.compare_all(s, sample_weight=cg.scan(folder)["int"]), r"weights are a column of another source"),
        (lambda: cg.compare([0, 1], [0, 1], memory="1GB"), r"memory=… needs scanned columns"),
        (lambda: cg.compare_all([[0, 1], [0, 1]], client="tcp://x:1"), r"client=… needs scanned columns"),
        (lambda: cg.compare_all(s, client=7), r"client must be a Dask client, the address.*got int"),
        (lambda: cg.Ensemble(s[["int", "text"]]).consensus_matrix(), r"needs the label of every point"),
        (lambda: cg.consensus_silhouette(cg.Ensemble(s[["int", "text"]]), s["int"]), r"needs the label of every point"),
        (lambda: cg.Ensemble(s[["int", "text"]]).arimm(np.eye(30)), r"similarity matrix with scanned members"),
        (lambda: cg.compare_all(s, noise={"nope": 1}), r"noise names an unknown column 'nope'"),
        (lambda: cg.merge(cg.partial_tables({"a": [1]}), 3), r"merge adds two results of the same kind"),
        (lambda: cg.partial_tables({"a": [1]}) + cg.partial_tables({"b": [1]}), r"cannot be added: use the same columns"),
        (lambda: cg.PartialTables.from_bytes(b"nonsense"), r"these bytes are not partial tables"),
        (lambda: cg.partial_tables({"a": [1], "b": ["x"]}) + cg.partial_tables({"a": ["1"], "b": ["x"]}), r"kind text"),
        (lambda: cg.partial_tables({"a": [1]}, ["b"]), r"no column 'b'; it has: a"),
    ):  # fmt: skip
        with pytest.raises(cg.InputError, match=said) as error:
            call()
        assert "\n" not in str(error.value)


def test_sizes_of_memory():
    """Sizes as users write them."""
    assert bytes_of("2GB") == 2e9
    assert bytes_of("500 MB") == 5e8
    assert bytes_of("1GiB") == 2**30
    assert bytes_of("64k") == 64e3
    for wrong in ("", "GB", "-1GB", "1.2.3GB", 0, -5):
        with pytest.raises(cg.InputError, match="memory must be a size"):
            bytes_of(wrong)


# --- partial tables --------------------------------------------------------------------------------------------------


def test_partial_tables_of_every_kind_of_batch():
    """Arrow, pandas, polars, mappings and arrays give the same tables; weights and pairs may be chosen."""
    columns = {k: v for k, v in labels(200).items() if k in ("int", "text", "negative")}
    expected = cg.contingency(columns["int"], columns["text"]).to_array().tolist()
    for batch in (
        pa.table(columns), pa.table(columns).to_batches()[0], pd.DataFrame(columns), pl.DataFrame(columns), columns,
        {k: v.tolist() for k, v in columns.items()}, {k: pd.Categorical(v) for k, v in columns.items()},
    ):  # fmt: skip
        assert cg.partial_tables(batch).table("int", "text").to_array().tolist() == expected
    some = cg.partial_tables(columns, pairs=[("text", "int")])
    assert some.table("int", "text").to_array().tolist() == expected
    with pytest.raises(cg.InputError, match=r"the table of 'int' and 'negative' was not counted"):
        some.table("int", "negative")
    stacked = np.column_stack([columns["int"], columns["negative"]])
    assert cg.partial_tables(stacked).names == ("0", "1")
    twice = cg.partial_tables({**columns, "f": [2] * 200}, frequency="f")
    assert twice.table("int", "text").to_array().tolist() == (2 * np.array(expected)).tolist()
    assert sum([some, some]).rows == 400


def test_partial_tables_are_a_source():
    """The sum of partial tables can be used like the columns: compare, compare_to, compare_all, ensembles."""
    columns = {k: v for k, v in labels(400).items() if k != "flag"}
    pieces = [{k: v[i : i + 90] for k, v in columns.items()} for i in range(0, 400, 90)]
    total = reduce(cg.merge, map(cg.partial_tables, pieces))
    same(cg.compare_all(total, KEYS), cg.compare_all(columns, KEYS))
    assert cg.compare(total["int"], total["text"]).to_dict() == cg.compare(columns["int"], columns["text"]).to_dict()
    assert cg.compare_to("int", total, "ari")["ari"].tolist() == cg.compare_to("int", columns, "ari")["ari"].tolist()
    assert cg.Ensemble(total).certainty() == cg.Ensemble(columns).certainty()
    with pytest.raises(cg.InputError, match=r"pass weights when counting"):
        cg.compare_all(total, sample_weight=total["int"])


def test_minus_one_and_measurements_are_cautioned(tmp_path):
    """The cautions of labels in memory are those of scanned ones."""
    rng = np.random.default_rng(8)
    columns = {"a": rng.integers(-1, 3, 300), "b": rng.random(300)}
    assert cg.scan(folder_of(columns, tmp_path / "d")).names == ("a",)  # b is left out, unless it is named
    s = cg.scan(tmp_path / "d", ["a", "b"])
    r = cg.compare_all(s)
    assert any("a has label −1 among others" in c for c in r.cautions)
    assert any("look like measurements" in c for c in r.cautions)
    assert any("a has label −1" in c for c in cg.compare(s["a"], s["b"]).cautions)
    assert not any("−1" in c for c in cg.compare_all(s, noise=-1, unassigned="drop").cautions)


@pytest.mark.parametrize(
    ("index", "k"), [("int8", 128), ("uint8", 256), ("uint8", 9), ("uint16", 300), ("int16", 300), ("uint64", 5)]
)
@pytest.mark.parametrize("gap", [False, True])
@pytest.mark.parametrize("compiled", [False, True])
def test_dictionaries_that_fill_their_codes(index, k, gap, compiled, monkeypatch):
    """Categories with as many names as their integers can count, with and without missing labels, on both paths."""
    monkeypatch.setattr(jit, "use_kernels", lambda _: compiled)
    names = [f"c{i}" for i in range(k)]
    labels = [None if gap and i % 7 == 0 else names[i % k] for i in range(900)]
    codes = pa.array([None if x is None else names.index(x) for x in labels], index)
    column = pa.DictionaryArray.from_arrays(codes, pa.array(names))
    other = [i % 4 for i in range(900)]
    part = cg.partial_tables(pa.table({"a": column, "b": other}))
    assert part.table("a", "b").to_array().tolist() == (
        cg.contingency(labels, other, unassigned="drop").to_array().tolist()
    )
    word = Vocabulary(frozenset(), False)
    first = word.codes(column, "a")
    assert word.codes(column, "a").tolist() == first.tolist()  # labels that are known already are looked up


def test_a_column_missing_in_a_partition(tmp_path):
    """A partitioned dataset has columns from its folders; a column that a file lacks is an error, not missing labels."""
    for name, columns in (("p=0", {"a": [0, 1], "b": [0, 0]}), ("p=1", {"a": [1, 1]})):
        (tmp_path / name).mkdir()
        parquet.write_table(pa.table(columns), tmp_path / name / "x.parquet")
    s = cg.scan(ds.dataset(tmp_path, partitioning="hive"))
    assert cg.compare_all(s[["a", "p"]], "ari").n_used[0, 1] == 4
    with pytest.raises(cg.InputError, match=r"x\.parquet, row group 0 has no column 'b'"):
        cg.compare_all(s, "ari", unassigned="drop")
    assert cg.compare_all(s, "ari", skip_bad=True).n_used[0, 1] == 2


def test_filtered_datasets_are_refused(tmp_path):
    """An Arrow dataset that was filtered has no parts to read; the error says what to pass, and that works."""
    parquet.write_table(pa.table({"a": [0, 1, 1, 0], "b": [0, 1, 0, 0]}), tmp_path / "x.parquet")
    some = ds.dataset(tmp_path / "x.parquet").filter(ds.field("a") == 0)
    with pytest.raises(cg.InputError, match=r"cg.scan\(lambda: dataset.to_batches\(\)\)"):
        cg.scan(some)
    assert cg.compare_all(cg.scan(lambda: some.to_batches()), "ari").n_used[0, 1] == 2


@pytest.mark.slow
@pytest.mark.parametrize("order", list(itertools.permutations("abc")))
def test_what_is_left_out_does_not_depend_on_the_memory(tmp_path, order):
    """A file without a column is left out of all pairs, in one pass or in several, and the result says so each time."""
    rng = np.random.default_rng(0)
    for i in range(3):
        columns = {name: rng.integers(0, 50, 1000) for name in order if i != 1 or name != "c"}
        parquet.write_table(pa.table(columns), tmp_path / f"{i}.parquet")
    for memory in ("1GB", "40kB"):
        s = cg.scan(tmp_path, memory=memory, threads=1, skip_bad=True)
        for _ in range(2):
            r = cg.compare_all(s, "ari")
            assert (r.n_used == 2000).all()
            assert [c.partition(", row")[0] for c in r.cautions] == [f"left out: {tmp_path / '1.parquet'}"]


@pytest.mark.parametrize("n", [3, 200_000])
def test_columns_of_different_lengths(n):
    """A batch whose columns differ in length is refused, small or large, as labels and as weights."""
    ragged = {"a": np.arange(n) % 3, "b": np.arange(n - 1) % 2}
    with pytest.raises(cg.InputError, match=f"column 'a' has {n} rows and column 'b' has {n - 1}"):
        cg.partial_tables(ragged)
    with pytest.raises(cg.InputError, match=f"batch 1: column 'a' has {n} rows and column 'b' has {n - 1}"):
        cg.compare_all(cg.scan(lambda: [{"a": [0], "b": [0]}, ragged]), "ari", unassigned="drop")
    with pytest.raises(cg.InputError, match=f"column 'a' has {n} rows and column 'w' has 1"):
        cg.partial_tables({"a": ragged["a"], "b": ragged["a"], "w": [1.0]}, sample_weight="w")


def test_the_index_of_a_pandas_frame_names_rows(tmp_path):
    """What pandas wrote as the index of a frame is not a clustering under any name, unless it is requested."""
    frame = pd.DataFrame({"a": [0, 0, 1], "b": [0, 1, 1]}, index=pd.Index(["x", "y", "z"], name="who"))
    frame.to_parquet(tmp_path / "x.parquet")
    s = cg.scan(tmp_path / "x.parquet")
    assert s.names == ("a", "b")
    assert s.notes == ("labels: a, b · id: who",)
    assert cg.scan(tmp_path / "x.parquet", columns=["a", "who"]).names == ("a", "who")


def test_a_name_twice_in_one_file(tmp_path):
    """Two columns with the same name in a later file are an error."""
    parquet.write_table(pa.table({"a": [0, 1], "b": [0, 1]}), tmp_path / "0.parquet")
    parquet.write_table(pa.table([[0, 1], [0, 1], [1, 1]], names=["a", "b", "b"]), tmp_path / "1.parquet")
    with pytest.raises(cg.InputError, match=r"1\.parquet, row group 0: two columns are named 'b'"):
        cg.compare_all(cg.scan(tmp_path), "ari")


def test_whole_numbers_that_floats_cannot_tell_apart(tmp_path):
    """Ids of 64 bits in a text file are different labels, read or scanned; large measurements stay numbers."""
    file = tmp_path / "ids.csv"
    rows = [(2**64 - 1 - i % 3, 1e20 * (i % 4) + 0.5, "" if i == 5 else i % 2) for i in range(40)]
    file.write_text("\n".join(["cell,x,b", *(f"{a},{x!r},{b}" for a, x, b in rows)]))
    read = files.read_columns(file)
    want = cg.contingency([a for a, *_ in rows], [b if b != "" else None for *_, b in rows], unassigned="drop")
    s = cg.scan(file, columns=["cell", "x", "b"])
    for found in (cg.compare(read["cell"], read["b"], "ari", unassigned="drop"),
                  cg.compare(s["cell"], s["b"], "ari", unassigned="drop")):  # fmt: skip
        assert found.table.to_array().tolist() == want.to_array().tolist()
        assert list(found.table.rows) == list(want.rows)
    assert pa.types.is_floating(read["x"].type)
    assert list(s["x"].names) == sorted({x for _, x, _ in rows})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("k", "memory", "threads", "fits"), [(15_000, 6e6, 2, False), (600, 6e6, 1, True), (600, 9e6, 2, True)]
)
def test_memory_bounds_all_that_a_scan_holds(tmp_path, k, memory, threads, fits):
    """Labels, tables of all threads and rows that are read: they fit, in more passes if need be, or are refused with the size."""
    n = 15_000
    rng = np.random.default_rng(0)
    columns = {f"c{j}": [f"cluster {c:05}" for c in (np.arange(n) % k + j * n).tolist()] for j in range(3)}
    columns["c1"] = [columns["c1"][i] for i in rng.permutation(n)]
    parquet.write_table(pa.table(columns), tmp_path / "x.parquet", row_group_size=n // 4)
    expected = cg.compare_all(columns)["ari"] if fits else None
    cg.compare_all(cg.scan(tmp_path, list(columns), threads=threads))  # kernels are loaded
    pool, before = pa.proxy_memory_pool(pa.default_memory_pool()), pa.default_memory_pool()
    pa.set_memory_pool(pool)
    tracemalloc.start()
    try:
        s = cg.scan(tmp_path, list(columns), memory=memory, threads=threads)
        if fits:
            assert cg.compare_all(s)["ari"].tolist() == expected.tolist()
        else:
            with pytest.raises(cg.InputError, match=r"different labels in the first .* which take more than 6 MB"):
                cg.compare_all(s)
        assert tracemalloc.get_traced_memory()[1] + pool.max_memory() < memory + room.FREE
    finally:
        tracemalloc.stop()
        pa.set_memory_pool(before)


def test_columns_of_nothing_take_no_memory(tmp_path):
    """Columns without a type or a label are counted with any limit."""
    parquet.write_table(pa.table({"a": pa.nulls(3), "b": pa.nulls(3)}), tmp_path / "x.parquet")
    s = cg.scan(tmp_path / "x.parquet", ["a", "b"], memory="1MB")
    assert cg.ari(s["a"], s["b"], unassigned="cluster") == 1


# --- text files ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("header", ["a,b", "a,b" + "b" * 300])
def test_rows_of_text_files_may_be_longer_than_the_blocks_that_are_read(tmp_path, monkeypatch, header):
    """A header or a row that does not fit into the small blocks is read with larger ones, each row once."""
    monkeypatch.setattr(parts, "BLOCKS", (128, 1 << 20))
    rows = [f"{i % 3},x{i % 5}" for i in range(300)]
    rows[200] = '1,"' + "long\n" * 200 + '"'
    (tmp_path / "x.csv").write_text("\n".join([header, *rows]))
    s, table = cg.scan(tmp_path / "x.csv"), files.read_columns(tmp_path / "x.csv")
    a, b = s.names
    found = [batch.num_rows for batch in s.input.listed[0].batches([a], 90)]
    assert found == [90, 90, 90, 30]
    assert cg.compare(s[a], s[b], KEYS).to_dict() == cg.compare(table[a], table[b], KEYS).to_dict()


def test_little_of_a_text_file_is_read_ahead(tmp_path):
    """Of a csv file of 12 MB, less than 6 MB are held while it is read."""
    (tmp_path / "x.csv").write_text("a,b\n" + "1,cluster2\n" * 1_100_000)
    s = cg.scan(tmp_path / "x.csv", ["a", "b"])
    pool, before = pa.proxy_memory_pool(pa.default_memory_pool()), pa.default_memory_pool()
    pa.set_memory_pool(pool)
    try:
        assert sum(batch.num_rows for batch in s.input.listed[0].batches(s.names, 1 << 14)) == 1_100_000
        assert pool.max_memory() < 6e6
    finally:
        pa.set_memory_pool(before)


def test_a_memory_too_small_to_read_the_files_is_refused_at_once(tmp_path, monkeypatch):
    """Libraries need some memory for large files; small files can be scanned with less."""
    (tmp_path / "x.csv").write_text("a,b\n" + "1,2\n" * 100)
    assert cg.scan(tmp_path, memory="50MB").memory == 50e6
    monkeypatch.setattr(room, "SMALL", 300)
    with pytest.raises(cg.InputError, match=r"^memory='50MB' is too little to scan .*; use at least memory='100MB'$"):
        cg.scan(tmp_path, memory="50MB")
    with pytest.raises(cg.InputError, match=r"^memory='50MB' is too little"):
        cg.compare_all(cg.scan(tmp_path), memory="50MB")
    assert cg.scan(tmp_path, memory="100MB").memory == 100e6
