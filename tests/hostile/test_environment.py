"""What the machine does to a run: odd environment variables, a full disk, signals, folders that cannot be written."""

import pytest

import congruence as cg
from congruence.machine import jit

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
