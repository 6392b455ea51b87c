"""Scanned columns give the results of columns in memory, from any source, in any split."""

from __future__ import annotations

import itertools
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import reduce

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import csv, feather, parquet
from scanning_cases import KEYS, folder_of, labels, same

import congruence as cg
from congruence.scanning import accumulate, parts, scan

# --- the same as in memory -------------------------------------------------------------------------------------------


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
    """Missing labels and noise count as in memory, by every rule; nulls, NaN and noise labels all count."""
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
        assert ours.certainty(missing=missing) == theirs.certainty(missing=missing)
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
        assert f == cg.Ensemble(plain, frequency=columns["f"]).certainty()
    with pytest.raises(cg.InputError, match=r"a column of the same scan"):
        cg.compare_all(s, sample_weight=columns["w"])


# --- sources ---------------------------------------------------------------------------------------------------------


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
    """Missing fields, dates that are labels and other delimiters of csv files are read as by `compare`."""
    (tmp_path / "x.csv").write_text("cell;a;b\nc1;NA;2024-05-01\nc2;1;2024-05-02\nc3;1;2024-05-01\nc4;2;2024-05-01\n")
    s = cg.scan(tmp_path / "x.csv")
    assert s.names == ("a", "b")
    assert s.notes == ("labels: a, b · id: cell",)
    assert cg.contingency(s["a"], s["b"], unassigned="drop").to_array().tolist() == [[1, 1], [1, 0]]
    assert s.notes[0] in cg.compare_all(s, unassigned="drop").cautions


def test_categories_grow_and_unused_ones_are_not_clusters(tmp_path):
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
    """A bare iterator can be counted once; a second comparison uses its tables, or is refused."""
    table = pa.table(labels(300))
    s = cg.scan(iter(table.to_batches(max_chunksize=40)), ["int", "float", "flag"])
    first = cg.compare_all(s)
    assert cg.compare_all(s, "vi").n_used[0, 0] == 300
    assert cg.ari(s["int"], s["flag"]) == first["ari"][0, 2]
    with pytest.raises(cg.InputError, match=r"can be read only once; pass a function"):
        cg.ari(s["int"], s["wide"])


def test_few_large_row_groups_are_counted_by_all_threads(tmp_path, monkeypatch):
    """One row group for everything: one thread reads and all count, with the same integers."""
    columns = labels(3000)
    parquet.write_table(pa.table(columns), tmp_path / "one.parquet")
    monkeypatch.setattr(scan.Scan, "_rows_of_batch", lambda *_: 100)
    s = cg.scan(tmp_path / "one.parquet", threads=4)
    same(cg.compare_all(s, KEYS), cg.compare_all(columns, KEYS))


# --- any split, any order, any workers -------------------------------------------------------------------------------


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


@pytest.mark.slow
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
    with pytest.raises(cg.InputError, match=r"the table of 'c0' and 'c1' takes more than 0 MB; allow more memory"):
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
    """Comparing two columns reads two columns; further measures of them read nothing."""
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


def test_progress_is_reported_in_rows(tmp_path):
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
