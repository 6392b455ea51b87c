"""Scanned labels: the same integers as in memory, for any division of the rows."""

from __future__ import annotations

import itertools
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import reduce
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import csv, feather, parquet

import congruence as cg
from congruence.inputs import files
from congruence.scanning import accumulate, parts, scan
from congruence.scanning.scan import bytes_of

KEYS = ["ari", "rand", "mirkin", "vi", "nmi_sum", "ami_max", "accuracy", "purity", "element_centric", "van_dongen"]


def labels(n: int = 3000, seed: int = 0) -> dict[str, np.ndarray]:
    """Columns of every kind: integers narrow and wide, negative, text, booleans, whole floats."""
    rng = np.random.default_rng(seed)
    base = rng.integers(0, 6, n)
    noisy = [np.where(rng.random(n) < 0.3, rng.integers(0, 6, n), base) for _ in range(6)]
    return {
        "int": noisy[0],
        "wide": noisy[1].astype(np.int64) * 10**12 - 3,
        "negative": (noisy[2] - 4).astype(np.int8),
        "text": np.array(["a", "b", "cc", "ddd", "é", ""])[noisy[3]],
        "flag": noisy[4] > 2,
        "float": noisy[5].astype(float),
    }


def folder_of(columns: dict, path: Path, files: int = 3, groups: int = 4) -> Path:
    """The columns in Parquet files of several row groups each."""
    table = pa.table(columns)
    path.mkdir(exist_ok=True)
    rows = -(-len(table) // files)
    for i in range(files):
        parquet.write_table(table.slice(i * rows, rows), path / f"part-{i}.parquet", row_group_size=-(-rows // groups))
    return path


def same(a: cg.AllPairs, b: cg.AllPairs, exact: bool = True) -> None:
    """The same numbers of points and the same values to the last bit; not exact: weights, whose sums depend on the order."""
    assert a.names == b.names
    assert (a.n_used == b.n_used).all()
    for key in a:
        if exact:
            assert a[key].tobytes() == b[key].tobytes(), key
        else:
            assert a[key] == pytest.approx(b[key], rel=1e-12, abs=1e-12, nan_ok=True), key


# --- the same as in memory ---------------------------------------------------------------------------------------


@pytest.mark.slow
def test_all_pairs_of_a_folder_are_those_in_memory(tmp_path, route):
    """Every kind of label, every route of counting: the integers and the scores of the in-memory result."""
    columns = labels()
    s = cg.scan(folder_of(columns, tmp_path / "d"))
    assert s.names == tuple(columns)
    assert s.n_rows == 3000
    same(cg.compare_all(s, KEYS), cg.compare_all(columns, KEYS))
    for a, b in itertools.combinations(columns, 2):
        ours, theirs = cg.contingency(s[a], s[b]), cg.contingency(columns[a], columns[b])
        assert ours.to_array().tolist() == theirs.to_array().tolist()
        assert (ours.rows, ours.columns) == (theirs.rows, theirs.columns)


def test_one_pair_and_a_reference(tmp_path):
    """compare and compare_to give what they give in memory, for all measures."""
    columns = labels()
    s = cg.scan(folder_of(columns, tmp_path / "d"))
    ours, theirs = cg.compare(s["int"], s["text"], "all"), cg.compare(columns["int"], columns["text"], "all")
    assert ours.to_dict() == theirs.to_dict()
    assert ours.n_points == 3000
    assert ours.names == ("int", "text")
    a, b = cg.compare_to("int", s, KEYS), cg.compare_to("int", columns, KEYS)
    assert a.names == b.names
    for key in KEYS:
        assert a[key].tobytes() == b[key].tobytes()
    only = cg.compare_to("text", cg.scan(s, ["int", "flag"]), "ari")
    assert (
        only["ari"].tolist()
        == cg.compare_to(columns["text"], {k: columns[k] for k in ("int", "flag")}, "ari")["ari"].tolist()
    )
    assert cg.ari(s["int"], s["flag"]) == cg.ari(columns["int"], columns["flag"])


def test_ensembles_of_a_scan(tmp_path):
    """Ensembles of scanned members: every measure that tables can give, and the same value."""
    columns = labels()
    s = cg.scan(folder_of(columns, tmp_path / "d"))
    p, q = cg.Ensemble(s[["int", "wide", "negative"]]), cg.Ensemble(s[["text", "flag"]])
    p2, q2 = (cg.Ensemble({k: columns[k] for k in e.names}) for e in (p, q))
    for key in ("arimm", "kas", "nsf", "sms", "ssms"):
        assert getattr(p, key)(q) == getattr(p2, key)(q2)
    assert p.arimp(s["float"]) == p2.arimp(columns["float"])
    assert p.certainty() == p2.certainty()
    assert p.anmi(s["float"]) == p2.anmi(columns["float"])
    assert p.pnmi() == p2.pnmi()
    assert cg.member_agreement(p) == cg.member_agreement(p2)
    assert cg.compare(p, q).to_dict() == cg.compare(p2, q2).to_dict()
    assert p.n_points == 3000
    assert [c.k for c in p] == [c.k for c in p2]
    heavy = cg.Ensemble(s[["int", "wide"]], member_weight=[1, 3]).certainty()
    assert heavy == cg.Ensemble([columns["int"], columns["wide"]], member_weight=[1, 3]).certainty()


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["drop", "cluster", "singletons"])
def test_points_in_no_cluster(tmp_path, policy, route):
    """Missing labels and noise count as in memory, by every policy; nulls, NaN and noise labels are all of them."""
    rng = np.random.default_rng(1)
    columns: dict = {k: v.astype(object) for k, v in labels(600).items() if k in ("int", "text")}
    columns["float"] = labels(600)["float"].copy()
    columns["int"][rng.random(600) < 0.1] = None
    columns["text"][rng.random(600) < 0.2] = None
    columns["float"][rng.random(600) < 0.1] = np.nan
    columns = {k: pa.array(v.tolist(), from_pandas=True) for k, v in columns.items()}
    s = cg.scan(folder_of(columns, tmp_path / "d"))
    options = {"unassigned": policy, "noise": {"int": 5, "text": ["a", "cc"]}}
    same(cg.compare_all(s, KEYS, **options), cg.compare_all(columns, KEYS, **options))
    ours, theirs = (cg.contingency(x["int"], x["text"], unassigned=policy, noise=5) for x in (s, columns))
    assert sorted(ours.count.tolist()) == sorted(theirs.count.tolist())
    assert set(ours.rows) == set(theirs.rows)
    assert set(ours.columns) == set(theirs.columns)


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["error", "drop", "cluster", "singletons"])
def test_every_measure_has_the_same_bits_on_every_route(tmp_path, policy):
    """All measures and rules for points in no cluster: in memory, all pairs and one, by scan, threads, parts and executor."""
    rng = np.random.default_rng(5)
    base = rng.integers(0, 9, 400)
    columns = {}
    for j in range(3):
        own = np.where(rng.random(400) < 0.3, rng.integers(0, 9, 400), base)
        columns[f"c{j}"] = [None if policy != "error" and rng.random() < 0.15 else int(x) for x in own]
    expected = cg.compare_all(columns, "all", unassigned=policy)
    assert len(list(expected)) > 60
    folder = folder_of(columns, tmp_path / "d")
    shuffled = pa.table(columns).take(rng.permutation(400))
    parts = [cg.partial_tables(shuffled.slice(start, 130)) for start in (260, 0, 130, 390)]
    with ThreadPoolExecutor(2) as executor:
        for r in (
            cg.compare_all(cg.scan(folder), "all", unassigned=policy, threads=1),
            cg.compare_all(cg.scan(folder, memory="30kB"), "all", unassigned=policy, threads=3),
            cg.compare_all(cg.scan(folder), "all", unassigned=policy, client=executor),
            cg.compare_all(reduce(cg.merge, parts), "all", unassigned=policy),
            cg.compare_all(shuffled, "all", unassigned=policy),
        ):
            assert list(r) == list(expected)
            same(r, expected)
    for x in (columns, cg.scan(folder)):
        pair = cg.compare(x["c0"], x["c2"], list(expected), unassigned=policy)
        assert pair.to_dict() == {key: expected[key][0, 2] for key in expected}


def test_gaps_of_ensembles(tmp_path):
    """Partial members: plain and pooled come from tables; ratio needs pairs of points and says so."""
    rng = np.random.default_rng(2)
    columns = {k: v.astype(float) for k, v in labels(500).items() if k in ("int", "negative", "float")}
    for column in columns.values():
        column[rng.random(500) < 0.2] = np.nan
    s = cg.scan(folder_of(columns, tmp_path / "d"))
    ours, theirs = cg.Ensemble(s, unassigned="partial"), cg.Ensemble(columns, unassigned="partial")
    for missing in ("plain", "pooled"):
        assert ours.certainty(missing=missing) == pytest.approx(theirs.certainty(missing=missing), rel=1e-12)
    assert ours.has_gaps
    with pytest.raises(
        cg.NotApplicable, match=r"missing='ratio' need a pass over pairs of points.*'plain' or 'pooled'"
    ):
        ours.certainty()


@pytest.mark.slow
@pytest.mark.parametrize("gaps", [False, True])
def test_weights_and_frequencies(tmp_path, gaps, route):
    """sample_weight and frequency are columns of the scan, and count as in memory."""
    rng = np.random.default_rng(3)
    columns: dict = {k: v.astype(float) for k, v in labels(400).items() if k in ("int", "negative", "float")}
    if gaps:
        for column in columns.values():
            column[rng.random(400) < 0.2] = np.nan
    columns["w"], columns["f"] = rng.random(400).round(3), rng.integers(0, 4, 400)
    s = cg.scan(folder_of(columns, tmp_path / "d"), ["int", "negative", "float"])
    plain = {k: columns[k] for k in s.names}
    keys = ["ari", "vi", "purity"]
    same(
        cg.compare_all(s, keys, sample_weight=s["w"], unassigned="drop"),
        cg.compare_all(plain, keys, sample_weight=columns["w"], unassigned="drop"),
        exact=False,
    )
    same(
        cg.compare_all(s, [*keys, "ami_max"], frequency=s["f"], unassigned="drop"),
        cg.compare_all(plain, [*keys, "ami_max"], frequency=columns["f"], unassigned="drop"),
    )
    if not gaps:
        p = cg.Ensemble(s, sample_weight=s["w"]).certainty()
        assert p == pytest.approx(cg.Ensemble(plain, sample_weight=columns["w"]).certainty(), rel=1e-12)
        f = cg.Ensemble(s, frequency=s["f"]).certainty()
        assert f == pytest.approx(cg.Ensemble(plain, frequency=columns["f"]).certainty(), rel=1e-12)
    with pytest.raises(cg.InputError, match=r"a column of the same scan"):
        cg.compare_all(s, sample_weight=columns["w"])


# --- sources ------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_every_source_gives_the_same(tmp_path):
    """A file, a folder, a list, a pattern, feather, csv, an Arrow dataset, a function and an iterator of batches."""
    columns = {k: v for k, v in labels(500).items() if k != "flag"}
    table = pa.table(columns)
    folder = folder_of(columns, tmp_path / "d")
    parquet.write_table(table, tmp_path / "one.parquet")
    feather.write_feather(table, str(tmp_path / "one.feather"), chunksize=70)
    (tmp_path / "text").mkdir()
    for i in range(2):
        csv.write_csv(table.slice(250 * i, 250), tmp_path / "text" / f"{i}.csv")
    sources = {
        "file": tmp_path / "one.parquet",
        "feather": tmp_path / "one.feather",
        "folder": folder,
        "list": [str(folder / f"part-{i}.parquet") for i in range(3)],
        "pattern": str(folder / "*.parquet"),
        "dataset": ds.dataset(folder),
        "dataset of text": ds.dataset(tmp_path / "text", format="csv"),
        "function": lambda: table.to_batches(max_chunksize=70),
        "iterator": iter(table.to_batches(max_chunksize=70)),
        "pandas": lambda: iter([table.to_pandas().iloc[:100], table.to_pandas().iloc[100:]]),
        "polars": lambda: [pl.from_arrow(table)],
        "mappings": lambda: [{k: v.tolist() for k, v in columns.items()}],
    }
    names = [name for name in columns if name != "text"]  # csv has no empty text
    expected = cg.compare_all({name: columns[name] for name in names}, KEYS)
    for what, source in sources.items():
        try:
            same(cg.compare_all(cg.scan(source, names), KEYS), expected)
        except AssertionError as error:
            raise AssertionError(what) from error


def test_text_files_are_read_as_files_in_memory_are(tmp_path, monkeypatch):
    """Missing fields, dates that are labels and other delimiters of csv files mean what they mean to `compare`."""
    (tmp_path / "x.csv").write_text("cell;a;b\nc1;NA;2024-05-01\nc2;1;2024-05-02\nc3;1;2024-05-01\nc4;2;2024-05-01\n")
    s = cg.scan(tmp_path / "x.csv")
    assert s.names == ("a", "b")
    assert s.notes == ("labels: a, b · id: cell",)
    assert cg.contingency(s["a"], s["b"], unassigned="drop").to_array().tolist() == [[1, 1], [1, 0]]
    assert s.notes[0] in cg.compare_all(s, unassigned="drop").cautions


def test_categories_grow_and_unused_ones_are_no_clusters(tmp_path):
    """Files with other categories, in another order, some of them unused or missing: labels are identified by name."""
    pieces = [
        pd.Categorical(["b", "a", "b"], categories=["b", "zz", "a"]),
        pd.Categorical(["c", None, "a"], categories=["a", "c"]),
        pd.Categorical([None, None, None], categories=["a"]),
    ]
    for i, piece in enumerate(pieces):
        parquet.write_table(pa.table({"a": pa.array(piece), "b": pa.array([0, 1, 1])}), tmp_path / f"{i}.parquet")
    s = cg.scan(tmp_path)
    table = cg.contingency(s["a"], s["b"], unassigned="drop")
    assert table.rows == ("a", "b", "c")
    assert table.to_array().tolist() == [[0, 2], [1, 1], [1, 0]]
    assert s["a"].with_policy("drop", None, "a").gaps == 4


def test_an_iterator_is_one_pass():
    """A bare iterator can be counted once; a second question is answered from the tables, or refused."""
    table = pa.table(labels(300))
    s = cg.scan(iter(table.to_batches(max_chunksize=40)), ["int", "float", "flag"])
    first = cg.compare_all(s)
    assert cg.compare_all(s, "vi").n_used[0, 0] == 300
    assert cg.ari(s["int"], s["flag"]) == first["ari"][0, 2]
    with pytest.raises(cg.InputError, match=r"can be read only once; pass a function"):
        cg.ari(s["int"], s["wide"])


def test_few_large_row_groups_are_counted_by_all_threads(tmp_path, monkeypatch):
    """One row group for everything: rows are read by one and counted by all, with the same integers."""
    columns = labels(3000)
    parquet.write_table(pa.table(columns), tmp_path / "one.parquet")
    monkeypatch.setattr(scan, "BATCH", 1)
    monkeypatch.setattr(scan.np, "clip", lambda value, low, high: 100)
    s = cg.scan(tmp_path / "one.parquet", threads=4)
    same(cg.compare_all(s, KEYS), cg.compare_all(columns, KEYS))


# --- any split, any order, any workers ----------------------------------------------------------------------------


@pytest.mark.slow
@given(st.data())
def test_any_split_any_order_the_same_integers(data):
    """Rows cut anywhere, batches in any order, merged in any tree: the same tables to the last integer."""
    n = data.draw(st.integers(1, 30))
    label = st.one_of(st.none(), st.integers(-3, 3))
    columns = {
        "a": data.draw(st.lists(label, min_size=n, max_size=n)),
        "b": data.draw(st.lists(st.sampled_from(["x", "y", "z", None]), min_size=n, max_size=n)),
        "c": data.draw(st.lists(st.integers(0, 2**40), min_size=n, max_size=n)),
    }
    cuts = sorted({0, n, *data.draw(st.lists(st.integers(0, n), max_size=5))})
    pieces = [{k: v[i:j] for k, v in columns.items()} for i, j in itertools.pairwise(cuts)]
    pieces = data.draw(st.permutations(pieces))
    whole = cg.partial_tables(columns)
    parts = [cg.partial_tables(p) for p in pieces]
    while len(parts) > 1:  # any tree
        at = data.draw(st.integers(0, len(parts) - 2))
        parts[at : at + 2] = [cg.merge(parts[at], parts[at + 1])]
    (total,) = parts
    again = cg.PartialTables.from_bytes(total.to_bytes())
    for part in (total, again):
        assert part.rows == n
        for a, b in itertools.permutations(columns, 2):
            ours, theirs = part.table(a, b), whole.table(a, b)
            assert ours.to_array().tolist() == theirs.to_array().tolist()
            assert (tuple(ours.rows), tuple(ours.columns)) == (tuple(theirs.rows), tuple(theirs.columns))
        if any(x is not None for x in columns["a"]):
            assert (
                cg.compare_all(part, unassigned="cluster")["ari"].tolist()
                == cg.compare_all(columns, unassigned="cluster")["ari"].tolist()
            )


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("memory", ["1GB", "30kB"])
def test_threads_and_memory_change_nothing(tmp_path, threads, memory):
    """Any number of threads and of passes, one pair, all pairs and parts that were added give the bits of labels in memory."""
    columns = labels(2000)
    s = cg.scan(folder_of(columns, tmp_path / "d"), memory=memory)
    keys = ["ari", "vi", "mi", "nmi_sqrt", "nmi_max", "ami_sum", "ami_max", "v_measure", "purity", "accuracy"]
    expected = cg.compare_all(columns, keys)
    table = pa.table(columns)
    parts = [cg.partial_tables(table.slice(start, 700)) for start in (1400, 0, 700)]
    for r in (cg.compare_all(s, keys, threads=threads), cg.compare_all(reduce(lambda x, y: x + y, parts), keys)):
        for key in keys:
            assert r[key].tobytes() == expected[key].tobytes(), key
    a, b = list(columns)[:2]
    for pair in (cg.compare(s[a], s[b], keys), cg.compare(columns[a], columns[b], keys)):
        assert pair.to_dict() == {key: expected[key][0, 1] for key in keys}


def test_tables_stay_under_the_budget_in_several_passes(tmp_path, monkeypatch):
    """Tables that do not fit together are counted in squares of columns, and only those columns are read."""
    rng = np.random.default_rng(4)
    columns = {f"c{i}": rng.integers(0, 60, 4000) for i in range(8)}
    folder = folder_of(columns, tmp_path / "d")
    passes = []
    original = scan.fold

    def watched(groups, counting, **options):
        passes.append(counting.names)
        part = original(groups, counting, **options)
        assert 16 * len(part.count) <= 2 * 400_000
        return part

    monkeypatch.setattr(scan, "fold", watched)
    r = cg.compare_all(cg.scan(folder, memory=400_000), threads=1)
    same(r, cg.compare_all(columns))
    assert len(passes) > 3
    assert max(map(len, passes)) < 8
    monkeypatch.setattr(accumulate, "DENSE_CELLS", 0)
    with pytest.raises(cg.InputError, match=r"the table of 'c0' and 'c1' takes more than memory=0MB; use more memory"):
        cg.compare_all(cg.scan(folder, memory="10kB"), threads=1)
    with pytest.raises(cg.InputError, match=r"pass a function that creates it"):
        cg.compare_all(cg.scan(iter(pa.table(columns).to_batches()), memory="10kB"), threads=1)


@pytest.mark.slow
def test_many_clusters_are_counted_without_dense_tables(tmp_path, monkeypatch, route):
    """Vocabularies that grow to the number of rows: cells are kept, not squares."""
    monkeypatch.setattr(accumulate, "DENSE_CELLS", 100)
    monkeypatch.setattr(accumulate, "MOST_DENSE_CELLS", 100)
    rng = np.random.default_rng(5)
    columns = {"id": np.arange(5000), "many": rng.integers(0, 900, 5000), "few": rng.integers(0, 3, 5000)}
    s = cg.scan(folder_of(columns, tmp_path / "d"), ["id", "many", "few"])
    same(cg.compare_all(s, KEYS[:5]), cg.compare_all(columns, KEYS[:5]))


def test_only_the_columns_needed_are_read(tmp_path, monkeypatch):
    """Comparing two columns reads two columns; asking for more of them reads nothing."""
    s = cg.scan(folder_of(labels(300), tmp_path / "d"))
    read = []
    original = parts.RowGroup.batches

    def watched(self, columns, rows):
        read.append(tuple(columns))
        return original(self, columns, rows)

    monkeypatch.setattr(parts.RowGroup, "batches", watched)
    cg.compare(s["int"], s["flag"])
    assert set(read) == {("int", "flag")}
    many = len(read)
    cg.compare(s["flag"], s["int"], "all")
    cg.Ensemble(s[["int", "flag"]]).certainty()
    assert len(read) == many


@pytest.mark.slow
@pytest.mark.parametrize("pool", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_any_executor_counts(tmp_path, pool):
    """client= takes an executor, and leaves it open."""
    import multiprocessing

    columns = labels(1000)
    s = cg.scan(folder_of(columns, tmp_path / "d"))
    options = {"mp_context": multiprocessing.get_context("spawn")} if pool is ProcessPoolExecutor else {}
    with pool(2, **options) as executor:
        same(cg.compare_all(s, KEYS, client=executor), cg.compare_all(columns, KEYS))
        assert executor.submit(len, "open").result() == 4


def test_progress_tells_rows(tmp_path):
    """Progress is reported in rows, from the first to the last."""
    s = cg.scan(folder_of(labels(1200), tmp_path / "d"))
    told: list[tuple[int, int]] = []
    cg.compare_all(s, progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (1200, 1200)
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    again: list[tuple[int, int]] = []
    stream = cg.scan(lambda: pa.table(labels(50)).to_batches(max_chunksize=20))
    cg.compare(stream["int"], stream["text"], progress=lambda done, total: again.append((done, total)))
    assert again[-1] == (50, 50)


# --- what is wrong is said in one line ------------------------------------------------------------------------------


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
        (lambda: cg.compare([0, 1], [0, 1], memory="1GB"), r"memory= needs scanned columns"),
        (lambda: cg.compare_all([[0, 1], [0, 1]], client="tcp://x:1"), r"client= needs scanned columns"),
        (lambda: cg.compare_all(s, client=7), r"client must be a Dask client, the address.*got int"),
        (lambda: cg.Ensemble(s[["int", "text"]]).consensus_matrix(), r"needs the label of every point"),
        (lambda: cg.consensus_silhouette(cg.Ensemble(s[["int", "text"]]), s["int"]), r"needs the label of every point"),
        (lambda: cg.Ensemble(s[["int", "text"]]).arimm(np.eye(30)), r"similarity matrix with scanned members"),
        (lambda: cg.compare_all(s, noise={"nope": 1}), r"noise names an unknown column 'nope'"),
        (lambda: cg.merge(cg.partial_tables({"a": [1]}), 3), r"merge adds two partial results of one kind"),
        (lambda: cg.partial_tables({"a": [1]}) + cg.partial_tables({"b": [1]}), r"cannot be added: use the same columns"),
        (lambda: cg.PartialTables.from_bytes(b"nonsense"), r"these bytes are not partial tables"),
        (lambda: cg.partial_tables({"a": [1], "b": ["x"]}) + cg.partial_tables({"a": ["1"], "b": ["x"]}), r"kind text"),
        (lambda: cg.partial_tables({"a": [1]}, ["b"]), r"no column 'b'; it has: a"),
    ):  # fmt: skip
        with pytest.raises(cg.InputError, match=said) as error:
            call()
        assert "\n" not in str(error.value)


def test_sizes_of_memory():
    """Sizes as people write them."""
    assert bytes_of("2GB") == 2e9
    assert bytes_of("500 MB") == 5e8
    assert bytes_of("1GiB") == 2**30
    assert bytes_of("64k") == 64e3
    for wrong in ("", "GB", "-1GB", "1.2.3GB", 0, -5):
        with pytest.raises(cg.InputError, match="memory must be a size"):
            bytes_of(wrong)


# --- partial tables -------------------------------------------------------------------------------------------------


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
    """The sum of partial tables answers like the columns: compare, compare_to, compare_all, ensembles."""
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
    assert cg.scan(folder_of(columns, tmp_path / "d")).names == ("a",)  # b is left out, unless it is asked for
    s = cg.scan(tmp_path / "d", ["a", "b"])
    r = cg.compare_all(s)
    assert any("a has label −1 among others" in c for c in r.cautions)
    assert any("look like measurements" in c for c in r.cautions)
    assert any("a has label −1" in c for c in cg.compare(s["a"], s["b"]).cautions)
    assert not any("−1" in c for c in cg.compare_all(s, noise=-1, unassigned="drop").cautions)


@pytest.mark.parametrize(("index", "k"), [("int8", 128), ("uint8", 256), ("int16", 300), ("uint64", 5)])
@pytest.mark.parametrize("gap", [False, True])
def test_dictionaries_that_fill_their_codes(index, k, gap):
    """Categories with as many names as their integers can count, with and without missing labels."""
    names = [f"c{i}" for i in range(k)]
    labels = [None if gap and i % 7 == 0 else names[i % k] for i in range(900)]
    codes = pa.array([None if x is None else names.index(x) for x in labels], index)
    column = pa.DictionaryArray.from_arrays(codes, pa.array(names))
    other = [i % 4 for i in range(900)]
    part = cg.partial_tables(pa.table({"a": column, "b": other}))
    assert part.table("a", "b").to_array().tolist() == (
        cg.contingency(labels, other, unassigned="drop").to_array().tolist()
    )


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
    """What pandas wrote as the index of a frame is not a clustering, whatever its name, unless it is asked for."""
    frame = pd.DataFrame({"a": [0, 0, 1], "b": [0, 1, 1]}, index=pd.Index(["x", "y", "z"], name="who"))
    frame.to_parquet(tmp_path / "x.parquet")
    s = cg.scan(tmp_path / "x.parquet")
    assert s.names == ("a", "b")
    assert s.notes == ("labels: a, b · id: who",)
    assert cg.scan(tmp_path / "x.parquet", columns=["a", "who"]).names == ("a", "who")


def test_a_name_twice_in_one_file(tmp_path):
    """Two columns of one name in a later file are said to be two."""
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
