"""The memory of scans: what labels, parts and readers hold counts against the limit, and is given back."""

import os

import pyarrow as pa
import pytest
from pyarrow import feather, parquet

import congruence as cg
from congruence.scanning import parts, room, scan
from congruence.scanning.accumulate import Accumulator, Counting
from congruence.scanning.room import Overfull, Room
from congruence.scanning.tables import pair_positions

NAMES = ("a", "b", "c", "d", "e", "f")


def counting(limit):
    """What to count: all pairs of six columns."""
    return Counting(NAMES, pair_positions(NAMES), (None,) * 6, (None,) * 6, limit=limit)


def batch(rows):
    """Six columns of labels that all differ."""
    return {name: pa.array([f"{name} label {i}" for i in range(rows)]) for name in NAMES}


def test_columns_of_one_batch_share_the_room():
    """Each column takes of what those before it left: the first three fill the room, and no other label is made."""
    one = Accumulator(counting(1e9))
    one.add_batch(batch(4_000))
    size = room.COPIES * one.words[0].size
    total = Accumulator(counting(3.5 * size - room.FREE))
    with pytest.raises(Overfull):
        total.add_batch(batch(4_000))
    assert [word.width > 1 for word in total.words] == [True, True, True, False, False, False]


def test_memory_is_given_back_while_rows_are_counted(monkeypatch):
    """What allocators hold unused is given back above the limit, and again only if the process grew since."""
    now, given_back = [100e6], []
    monkeypatch.setattr(room, "used", lambda: now[0])
    monkeypatch.setattr(room, "trim", lambda: given_back.append(now[0]))
    held = Room(50e6)
    for now[0] in (120e6, 151e6, 152e6, 155e6, 157e6, 158e6):
        held.tidy()
    assert given_back == [151e6, 157e6]


def test_memory_is_given_back_between_passes(tmp_path, monkeypatch):
    """The tables of one pass are gone before those of the next are made."""
    table = pa.table({name: [i * (n + 3) % 97 for i in range(500)] for n, name in enumerate(NAMES)})
    parquet.write_table(table, tmp_path / "x.parquet", row_group_size=100)
    events = []
    monkeypatch.setattr(scan, "release", lambda: events.append("release"))
    monkeypatch.setattr(scan, "fold", lambda *a, f=scan.fold, **k: (events.append("pass"), f(*a, **k))[1])
    s = cg.scan(tmp_path / "x.parquet", list(NAMES), memory="300kB", threads=1)
    assert cg.compare_all(s)["ari"].shape == (6, 6)
    assert events.count("pass") > 2
    assert "pass pass" not in " ".join(events)


@pytest.mark.parametrize("mapped", [False, True])
def test_arrow_files_are_read_batch_by_batch(mapped, tmp_path, monkeypatch):
    """Only the columns that are asked for, in any order, whether batches are read or mapped."""
    monkeypatch.setattr(parts, "MAPPED", 0 if mapped else 1 << 30)
    table = pa.table({"a": [0, 1, 1, 2] * 50, "text": ["x", "y"] * 100, "b": [0, 0, 1, 1] * 50})
    path = tmp_path / "x.feather"
    feather.write_feather(table, path, chunksize=30)
    s = cg.scan(path, ["b", "a"])
    found = list(s.input.listed[0].batches(["b", "a"], 20))
    assert [x.schema.names for x in found] == [["b", "a"]] * len(found)
    assert pa.Table.from_batches(found) == table.select(["b", "a"])
    assert cg.ari(s["b"], s["a"]) == cg.ari(table["b"], table["a"])


def test_an_arrow_file_that_is_cut_while_it_is_read(tmp_path):
    """One line: a mapped file would crash the process."""
    n = 200_000
    path = tmp_path / "x.arrow"
    feather.write_feather(
        pa.table({"a": list(range(n)), "b": [0, 1] * (n // 2)}), path, chunksize=1000, compression="uncompressed"
    )
    s = cg.scan(path, ["a", "b"])
    batches = s.input.listed[0].batches(["a", "b"], 1000)
    next(batches)
    os.truncate(path, path.stat().st_size // 2)
    with pytest.raises((cg.InputError, pa.ArrowException, OSError)):
        list(batches)
    with pytest.raises(cg.InputError, match=r"changed while it was read|could not be read"):
        cg.ari(s["a"], s["b"])


def test_an_arrow_file_that_changes_while_it_is_read(tmp_path):
    """Found after the last batch as before the first."""
    path = tmp_path / "x.feather"
    feather.write_feather(pa.table({"a": [0, 1] * 50, "b": [0, 0, 1, 1] * 25}), path, chunksize=10)
    s = cg.scan(path)
    batches = s.input.listed[0].batches(["a", "b"], 10)
    next(batches)
    os.utime(path, ns=(1, 1))
    with pytest.raises(cg.InputError, match="changed while it was read"):
        list(batches)
