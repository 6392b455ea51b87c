"""Stopped runs: finished parts are on disk with checksums, and a second run gives the identical result."""

from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from scanning_cases import folder_of, labels, same

import congruence as cg
from congruence.scanning import checkpoint, parts
from congruence.scanning.checkpoint import MAGIC, Checkpoint

NAMES = ["int", "text", "negative"]


def parts_of(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.part"))


def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The reads from now on."""
    read: list[str] = []
    original = parts.RowGroup.batches

    def watched(self, columns, rows):
        read.append(self.where)
        return original(self, columns, rows)

    monkeypatch.setattr(parts.RowGroup, "batches", watched)
    return read


def test_a_failed_run_resumes(tmp_path, monkeypatch):
    """Parts counted before the failure are not read again, and the result is identical."""
    columns = labels(1200)
    folder = folder_of(columns, tmp_path / "d")
    last = folder / "part-2.parquet"
    about, raw = last.stat(), last.read_bytes()
    expected = cg.compare_all(columns, ["ari", "vi"])
    s = cg.scan(folder, NAMES, threads=1)

    def failing(self, columns, rows):
        if "part-2" in self.path:
            raise OSError("the disk went away")
        return original(self, columns, rows)

    original = parts.RowGroup.batches
    with monkeypatch.context() as patch:
        patch.setattr(parts.RowGroup, "batches", failing)
        with pytest.raises(cg.InputError, match=r"part-2.parquet, row group 0 could not be read: the disk went away"):
            cg.compare_all(s, ["ari", "vi"], checkpoint=tmp_path / "saved")
    assert len(parts_of(tmp_path / "saved")) == 8  # all that came before it, also what ended at the same moment
    assert (last.stat().st_mtime_ns, last.read_bytes()) == (about.st_mtime_ns, raw)
    read = counted(monkeypatch)
    again = cg.compare_all(cg.scan(folder, NAMES), ["ari", "vi"], checkpoint=tmp_path / "saved")
    assert {where.split(",")[0][-14:] for where in read[1:]} == {"part-2.parquet"}  # the first is a look at the labels
    same(again, cg.compare_all({k: columns[k] for k in NAMES}, ["ari", "vi"]))
    assert again["ari"][0, 1] == expected["ari"][0, 3]
    del read[:]
    third = cg.compare_all(cg.scan(folder, NAMES, checkpoint=tmp_path / "saved"), ["ari", "vi"])
    assert len(read) == 1
    assert third["ari"].tolist() == again["ari"].tolist()


def test_a_checkpoint_of_other_data_is_refused(tmp_path):
    """Other rows, another folder's data, a folder of other files: one line, and nothing is mixed up."""
    folder = folder_of(labels(300), tmp_path / "d")
    cg.compare_all(cg.scan(folder, NAMES), checkpoint=tmp_path / "saved")
    other = folder_of(labels(300, seed=1), tmp_path / "other")
    with pytest.raises(cg.InputError, match=r"is of other data \(.*d, as it was then\), not of .*other as it is now"):
        cg.compare_all(cg.scan(other, NAMES), checkpoint=tmp_path / "saved")
    parquet.write_table(parquet.read_table(folder / "part-0.parquet").slice(1), folder / "part-0.parquet")
    with pytest.raises(cg.InputError, match=r"is of other data"):
        cg.compare_all(cg.scan(folder, NAMES), checkpoint=tmp_path / "saved")
    with pytest.raises(cg.InputError, match=r"holds other files; name an empty or a new folder"):
        cg.compare_all(cg.scan(folder, NAMES), checkpoint=folder)
    with pytest.raises(cg.InputError, match=r"is a file; name a folder"):
        cg.compare_all(cg.scan(folder, NAMES), checkpoint=folder / "part-0.parquet")
    with pytest.raises(cg.InputError, match=r"a callable that yields batches cannot be identified"):
        cg.compare_all(cg.scan(lambda: [pa.table(labels(20))], NAMES), checkpoint=tmp_path / "new")
    (tmp_path / "saved" / "congruence-checkpoint.json").write_text("{")
    with pytest.raises(cg.InputError, match=r"cannot be read; name another folder"):
        cg.compare_all(cg.scan(folder, NAMES), checkpoint=tmp_path / "saved")


@pytest.mark.slow
def test_other_columns_noise_or_weights_are_other_parts(tmp_path):
    """One folder serves several counts of the same data without mixing them."""
    columns = {**labels(400), "w": np.arange(400) % 5}
    folder = folder_of(columns, tmp_path / "d")
    where = tmp_path / "saved"
    for _ in range(2):  # the second time from the checkpoint
        s = cg.scan(folder, NAMES, checkpoint=where)
        plain = {k: columns[k] for k in NAMES}
        same(cg.compare_all(s), cg.compare_all(plain))
        same(cg.compare_all(s, noise=2, unassigned="drop"), cg.compare_all(plain, noise=2, unassigned="drop"))
        same(cg.compare_all(s, frequency=s["w"]), cg.compare_all(plain, frequency=columns["w"]))
        same(cg.compare_all(s, sample_weight=s["w"]), cg.compare_all(plain, sample_weight=columns["w"]), exact=False)
        assert cg.ari(s["int"], s["flag"]) == cg.ari(columns["int"], columns["flag"])


@pytest.mark.slow
@pytest.mark.parametrize("how", ["truncated", "flipped", "empty", "pickle", "swapped"])
def test_damaged_parts_are_counted_again(tmp_path, how):
    """A truncated, changed or foreign part is recomputed, and the result says so."""
    columns = {k: labels(600)[k] for k in NAMES}
    folder = folder_of(columns, tmp_path / "d")
    cg.compare_all(cg.scan(folder), checkpoint=tmp_path / "saved")
    first, second, *_ = parts_of(tmp_path / "saved")
    raw = first.read_bytes()
    ran = tmp_path / "ran"

    class Evil:
        def __reduce__(self):
            return os.mkdir, (str(ran),)

    first.write_bytes(
        {
            "truncated": raw[:-10],
            "flipped": raw[:-20] + bytes([raw[-20] ^ 1]) + raw[-19:],
            "empty": b"",
            "pickle": pickle.dumps(Evil()),
            "swapped": second.read_bytes(),
        }[how]
    )
    r = cg.compare_all(cg.scan(folder), checkpoint=tmp_path / "saved")
    same(r, cg.compare_all(columns))
    assert r.cautions == ("counted again: 1 damaged part of the checkpoint",)
    assert not ran.exists()


def test_no_pickle_is_read_even_with_a_right_checksum(tmp_path):
    """A part with a checksum but other contents is refused, not unpickled."""
    store = Checkpoint(tmp_path / "saved", "x", "data")
    store.put("key", pickle.dumps({"evil": 1}))
    assert store.get("key") == pickle.dumps({"evil": 1})
    assert (tmp_path / "saved").joinpath(parts_of(tmp_path / "saved")[0]).read_bytes().startswith(MAGIC)
    with pytest.raises(cg.InputError, match=r"these bytes are not partial tables"):
        cg.PartialTables.from_bytes(store.get("key") or b"")
    objects = np.array([{"a": 1}], dtype=object)
    np.savez(tmp_path / "x.npz", about=objects)
    with pytest.raises(cg.InputError, match=r"these bytes are not partial tables"):
        cg.PartialTables.from_bytes((tmp_path / "x.npz").read_bytes())


SCRIPT = """
import sys, time
import congruence as cg
from congruence.scanning import parts
original = parts.RowGroup.batches
def slow(self, columns, rows):
    time.sleep(0.15)
    return original(self, columns, rows)
parts.RowGroup.batches = slow
r = cg.compare_all(cg.scan(sys.argv[1], ["int", "text", "negative"], threads=1), ["ari", "vi"], checkpoint=sys.argv[2])
print(r["ari"].tolist())
"""


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_killed_run_resumes(tmp_path, how, monkeypatch):
    """After kill -9 or Ctrl-C, finished parts are kept, and the second run gives the identical result."""
    columns = {k: labels(1200)[k] for k in NAMES}
    folder = folder_of(columns, tmp_path / "d")
    saved = tmp_path / "saved"
    run = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(folder), str(saved)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    deadline = time.monotonic() + 60
    while len(parts_of(saved)) < 3 and run.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    run.send_signal(how)
    out, _ = run.communicate(timeout=30)
    assert out == b""
    done = len(parts_of(saved))
    assert 3 <= done < 12
    read = counted(monkeypatch)
    r = cg.compare_all(cg.scan(folder), ["ari", "vi"], checkpoint=saved)
    assert len(read) - 2 == 12 - done  # the first rows are looked at twice: which columns are labels, and of which type
    same(r, cg.compare_all(columns, ["ari", "vi"]))


# --- on the command line -------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_command_line_scans(command, tmp_path):
    """Folders and the options of scans: the same figures as in memory, bad files named or left out, checkpoints kept."""
    columns = {k: labels(600)[k] for k in NAMES}
    folder_of({**columns, "w": np.arange(600)}, tmp_path / "d")
    parquet.write_table(pa.table({**columns, "w": np.arange(600)}), "whole.parquet")
    for words in (
        ("compare", "{}", "int", "text", "--format", "json"),
        ("compare", "{}", "--reference", "int", "--columns", "text,negative", "--format", "csv"),
        ("compare", "{}", "--reference", "int", "--weight", "w", "-m", "ari", "--format", "csv"),
        ("matrix", "{}", "--columns", "int,text,negative", "-m", "ari,vi", "--format", "csv"),
        ("matrix", "{}", "--frequency", "w", "--format", "csv"),
        ("ensemble", "{}", "--columns", "int,text", "--reference", "negative", "--format", "csv"),
    ):
        scanned, whole = (command(*(w.format(x) for w in words)) for x in ("d", "whole.parquet"))
        assert (scanned.code, whole.code) == (0, 0), scanned.err
        ours, theirs = (
            [[_rounded(x) for x in line.split(",")] for line in s.out.splitlines()] for s in (scanned, whole)
        )
        assert ours == theirs
    said = command("matrix", "whole.parquet", "--memory", "1GB", "--checkpoint", "saved", "--columns", "int,text")
    assert said.code == 0
    assert len(parts_of(Path("saved"))) == 1
    Path("d/part-1.parquet").write_bytes(b"broken")
    said = command("matrix", "d", "--columns", "int,text")
    assert (said.code, said.out) == (2, "")
    assert said.refusal[0].startswith("congruence: d/part-1.parquet could not be read")
    said = command("matrix", "d", "--columns", "int,text", "--skip-bad")
    assert said.code == 0
    assert "left out: d/part-1.parquet" in said.out.replace("\n  ", " ")
    for words, text in (
        (("matrix", "d", "--checkpoint", "saved"), "is of other data"),
        (("matrix", "d", "--memory", "much"), "memory must be a size"),
        (("matrix", "d", "--long", "a,b,c"), "--long tables are read into memory"),
        (("compare", "d", "whole.parquet", "--memory", "1GB"), "d is a folder, not a file; name a file in it"),
        (("compare", "d", "whole.parquet", "--checkpoint", "x"), "two files were given"),
        (("ensemble", "d", "--against", "whole.parquet"), "put both into one table"),
        (("compare", "d", "int", "txt"), "has no column 'txt'; did you mean text"),
    ):
        said = command(*words)
        assert said.code == 2
        assert text in said.err
        assert len(said.refusal) == 1


def _rounded(cell: str) -> str:
    try:
        return f"{float(cell):.10g}"
    except ValueError:
        return cell


WAITING = """
import sys, congruence as cg
from congruence.scanning import schedule
original = schedule.count_part
def slow(*args, **given):
    print("reading", flush=True)
    sys.stdin.readline()
    return original(*args, **given)
schedule.count_part = slow
print(cg.compare_all(cg.scan(sys.argv[1], ["a", "b"], checkpoint=sys.argv[2], threads=1))["ari"].tolist())
"""


@pytest.mark.slow
def test_two_runs_on_one_checkpoint(tmp_path):
    """The second prints that it is waiting, then finds the parts of the first; a killed run leaves no lock and no stray files."""
    parquet.write_table(pa.table({"a": [0, 0, 1, 1], "b": [0, 1, 1, 1]}), tmp_path / "x.parquet")

    def start() -> subprocess.Popen:
        words = [sys.executable, "-c", WAITING, str(tmp_path / "x.parquet"), str(tmp_path / "kept")]
        pipe = subprocess.PIPE
        return subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=pipe, text=True)

    killed = start()
    assert killed.stdout.readline() == "reading\n"
    (tmp_path / "kept" / ".0123.part.half").write_bytes(b"half written")
    killed.kill()
    killed.communicate()
    first = start()
    assert first.stdout.readline() == "reading\n"
    second = start()
    assert "is in use by another run; waiting for it" in second.stderr.readline()
    (out, said), (again, _) = first.communicate("\n", timeout=60), second.communicate("", timeout=60)
    assert (first.returncode, second.returncode, said) == (0, 0, "")
    assert again == out  # the second read nothing
    assert all(path.suffix in (".part", ".json") for path in (tmp_path / "kept").iterdir())


@pytest.fixture
def without_folder_locks(monkeypatch):
    """As on Windows: no fcntl."""
    monkeypatch.setitem(sys.modules, "fcntl", None)
    monkeypatch.setattr(checkpoint, "LOOK", 0.005)


def test_a_lock_file_where_folders_cannot_be_locked(without_folder_locks, tmp_path, capsys):
    """The second run waits for the first, says so once, and nothing is left behind."""
    order, holds = [], threading.Event()

    def first():
        with checkpoint.checkpoint_in(tmp_path / "kept", lambda: "data", "x") as kept:
            order.append("first")
            holds.set()
            time.sleep(0.05)
            kept.put("part", b"counts")
            order.append("first done")

    thread = threading.Thread(target=first)
    thread.start()
    holds.wait()
    with checkpoint.checkpoint_in(tmp_path / "kept", lambda: "data", "x") as kept:
        order.append("second")
        assert kept.get("part") == b"counts"
        assert (tmp_path / "kept" / checkpoint.LOCK).exists()
    thread.join()
    assert order == ["first", "first done", "second"]
    assert capsys.readouterr().err.count("is in use by another run; waiting for it") == 1
    assert not (tmp_path / "kept" / checkpoint.LOCK).exists()


def test_the_lock_file_of_a_killed_run_expires(without_folder_locks, tmp_path, monkeypatch):
    """A lock that its owner no longer touches is taken over; one that is touched is not."""
    monkeypatch.setattr(checkpoint, "ABANDONED", 0.15)
    monkeypatch.setattr(checkpoint, "BEAT", 0.01)
    lock = tmp_path / "kept" / checkpoint.LOCK
    lock.parent.mkdir()
    lock.write_text("{}", encoding="utf-8")
    with checkpoint.checkpoint_in(lock.parent, lambda: "data", "x"):
        held = lock.read_text(encoding="utf-8")
        assert json.loads(held)["process"] == os.getpid()
        touched = lock.stat().st_mtime_ns
        time.sleep(0.1)
        assert lock.stat().st_mtime_ns > touched


def test_an_abandoned_lock_is_removed_once(tmp_path):
    """Two runs that both find a lock abandoned: the second leaves the new lock of the first."""
    lock = tmp_path / checkpoint.LOCK
    lock.touch()
    os.utime(lock, ns=(1, 1))
    removing = lock.with_name(f"{lock.name}.removing")
    removing.touch()
    checkpoint.remove_abandoned(lock, 1)  # the other run is removing it
    assert lock.exists()
    removing.unlink()
    checkpoint.remove_abandoned(lock, 1)
    assert list(tmp_path.iterdir()) == []
    lock.touch()  # the new lock of the first
    checkpoint.remove_abandoned(lock, 1)
    assert list(tmp_path.iterdir()) == [lock]
