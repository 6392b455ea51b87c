"""What the machine does to a run: odd environment variables, a full disk, signals, folders that cannot be written."""

import gzip
import importlib
import os
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import congruence as cg
from congruence.machine import jit
from congruence.machine.compiled_cache import CompiledCache

LABELS = "a,b,c\n0,x,1\n0,x,2\n1,y,2\n1,x,1\n"


@pytest.mark.parametrize("threads", ["0", "-1"])
def test_no_threads_for_numba(threads, monkeypatch):
    """numba cannot be imported with NUMBA_NUM_THREADS=0: the error names the variable."""
    monkeypatch.setenv("NUMBA_NUM_THREADS", threads)
    with pytest.raises(cg.InputError, match=f"NUMBA_NUM_THREADS must be a number of at least 1; got '{threads}'"):
        jit.njit(len)


@pytest.mark.parametrize("address", ["", "nope", "tcp://", "tcp://h:x", "x://h:3"])
def test_an_address_that_is_none(address, tmp_path, capfd):
    """Refused at once: distributed.Client would take 20 s to give up, and print a traceback."""
    pytest.importorskip("distributed")
    (tmp_path / "x.csv").write_text(LABELS, encoding="utf-8")
    with pytest.raises(cg.InputError, match="no Dask scheduler answers at"):
        cg.compare_all(cg.scan(tmp_path / "x.csv", client=address))
    assert "Traceback" not in capfd.readouterr().err


KERNEL = """
def add(a, b):
    return a + b
"""


def kernel():
    """A function to be compiled, as a new process has it."""
    return jit.njit(importlib.import_module("added_by_a_test").add)


@pytest.fixture
def cached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with the source of a function that was compiled once, and its cache."""
    monkeypatch.setattr("numba.config.CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "added_by_a_test.py").write_text(KERNEL, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    assert kernel()(1, 2) == 3
    yield tmp_path
    del sys.modules["added_by_a_test"]


@pytest.mark.parametrize("kind", ["nbi", "nbc"])
def test_a_damaged_cache_is_replaced(cached, kind):
    """The function is compiled again, with a warning, and the next process loads it without one."""
    (path,) = (cached / "cache").rglob(f"*.{kind}")
    path.write_bytes(b"not what numba wrote")
    with pytest.warns(UserWarning, match="cannot be read; they are compiled again"):
        assert kernel()(1, 2) == 3
    again = kernel()
    assert CompiledCache(again.py_func).is_filled
    assert again(1, 2) == 3


def test_a_cache_without_room_is_no_error(cached, monkeypatch):
    """On a full disk the function is compiled in each process, with a warning."""

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("numba.core.caching.IndexDataCacheFile.save", full)
    with pytest.warns(
        UserWarning, match=r"cannot be kept in .* \(No space left on device\); each process compiles them"
    ):
        assert kernel()(1.5, 2) == 3.5


@pytest.mark.slow
def test_compiling_is_announced_to_a_person(cached, monkeypatch, capsys):
    """One line on a terminal, once per process; nothing is said without one, or if the function is in the cache."""
    monkeypatch.setattr("congruence.machine.compiled_cache._said", False)
    kernel()(2.5, 1)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("congruence.machine.compiled_cache.on_terminal", lambda: True)
    monkeypatch.setattr("congruence.machine.compiled_cache._said", False)
    kernel()(1, 2)
    assert capsys.readouterr().err == ""
    kernel()(True, True)
    kernel()(1, True)
    assert capsys.readouterr().err == "congruence: compiling loops for this machine; this takes some seconds, once\n"


def command(*words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """A command in a process of its own."""
    words = (sys.executable, "-m", "congruence", *words)
    return subprocess.run(words, text=True, capture_output=True, check=False, timeout=120, cwd=folder)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="--memory needs Linux to limit a process")
def test_a_csv_that_decompresses_to_more_than_the_memory(tmp_path):
    """720 MB in a file of 4 MB: its rows are counted in less memory than that."""
    block = (b"x" * 2_000 + b",b\n" + b"x" * 2_000 + b",c\n") * 200
    with gzip.open(tmp_path / "x.csv.gz", "wb", compresslevel=1) as file:
        file.write(b"a,b\n")
        for _ in range(900):
            file.write(block)
    assert os.path.getsize(tmp_path / "x.csv.gz") < 10e6
    done = command("compare", "x.csv.gz", "a", "b", "--measures", "jaccard", "--memory", "500MB", folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "note: labels: a, b\n")
    assert "a: 1 cluster, b: 2 clusters, 360,000 points" in done.stdout


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="--memory needs Linux to limit a process")
def test_a_sheet_of_more_cells_than_the_memory(tmp_path):
    """A workbook of some 100 kB with 3.2 million cells ends with one line, not with an abort of the reader."""
    pytest.importorskip("python_calamine")
    relations = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    sheet = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    package = 'xmlns="http://schemas.openxmlformats.org/package/2006/'
    targets = {
        "_rels/.rels": ("officeDocument", "xl/workbook.xml"),
        "xl/_rels/workbook.xml.rels": ("worksheet", "sheet1.xml"),
    }
    with zipfile.ZipFile(tmp_path / "x.xlsx", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as book:
        book.writestr("[Content_Types].xml", f'<Types {package}content-types"/>')
        for name, (kind, target) in targets.items():
            link = f'<Relationship Id="r1" Type="{relations}/{kind}" Target="{target}"/>'
            book.writestr(name, f'<Relationships {package}relationships">{link}</Relationships>')
        sheets = '<sheets><sheet name="s" sheetId="1" r:id="r1"/></sheets>'
        book.writestr("xl/workbook.xml", f'<workbook {sheet} xmlns:r="{relations}">{sheets}</workbook>')
        rows = "<row>" + "".join(f"<c><v>{i}</v></c>" for i in range(2)) + "</row>"
        book.writestr("xl/sheet1.xml", f"<worksheet {sheet}><sheetData>{rows * 1_600_000}</sheetData></worksheet>")
    done = command("compare", "x.xlsx", "0.0", "1.0", "--memory", "400MB", folder=tmp_path)
    assert done.returncode == 3
    assert done.stderr.startswith("congruence: this needs more than --memory 400MB")
    assert done.stderr.count("\n") == 1
