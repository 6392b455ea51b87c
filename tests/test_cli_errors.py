"""Errors of the command line, and the command as a process."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from cli_cases import LABELS, refused

import congruence as cg

# --- what is wrong ---------------------------------------------------------------------------------------------------


MISTAKES = {
    "no such file": (["compare", "nowhere.csv", "a", "b"], "there is no file nowhere.csv"),
    "no such second file": (["compare", "labels.csv", "nowhere.csv"], "there is no file nowhere.csv"),
    "no such column": (["compare", "labels.csv", "truth", "kmean"], "no column 'kmean'; did you mean kmeans?"),
    "no such column in --columns": (["matrix", "labels.csv", "--columns", "truht,kmeans"], "did you mean truth?"),
    "no such id": (["compare", "labels.csv", "labels.csv", "--columns", "truth", "--id", "cel"], "did you mean cell?"),
    "no such reference": (["compare", "labels.csv", "--reference", "trut"], "did you mean truth?"),
    "no such weight": (["matrix", "labels.csv", "--weight", "wait"], "no column 'wait'"),
    "no such noise column": (["matrix", "labels.csv", "--columns", "truth,leiden", "--noise", "leidn=-1"], "leiden?"),
    "weights of words": (["compare", "labels.csv", "truth", "leiden", "--weight", "kmeans"], "must be numbers"),
    "two kinds of weights": (
        ["compare", "labels.csv", "truth", "leiden", "--weight", "weight", "--frequency", "count"],
        "not both",
    ),
    "no such option": (["compare", "labels.csv", "truth", "kmeans", "--mesures", "ari"], "--mesures"),
    "no such command": (["compar", "labels.csv"], "No such command 'compar'"),
    "no file": (["compare"], "Missing argument"),
    "no such measure": (["compare", "labels.csv", "truth", "kmeans", "-m", "aro"], "did you mean ari?"),
    "no measure": (["compare", "labels.csv", "truth", "kmeans", "-m", ","], "no measures were named"),
    "no such measure to show": (["measures", "aro"], "did you mean ari?"),
    "no such format": (["matrix", "labels.csv", "-f", "xml"], "'xml' is not one of"),
    "no such policy": (["matrix", "labels.csv", "--unassigned", "ignore"], "'ignore' is not one of"),
    "no threads": (["matrix", "labels.csv", "--threads", "0"], "--threads"),
    "a measure that does not apply": (["compare", "labels.csv", "truth", "leiden", "-m", "lambda"], "equal numbers"),
    "a limit without a number": (
        ["compare", "labels.csv", "truth", "kmeans", "--fail-under", "ari"],
        "ari=0.9; got 'ari'",
    ),
    "a limit that is none": (["compare", "labels.csv", "truth", "kmeans", "--fail-under", "ari=x"], "got 'ari=x'"),
    "a limit that is NaN": (["compare", "labels.csv", "truth", "kmeans", "--fail-under", "ari=nan"], "got 'ari=nan'"),
    "a limit of no measure": (["matrix", "labels.csv", "--fail-under", "aro=1"], "did you mean ari?"),
    "too many columns": (
        ["compare", "labels.csv", "--reference", "none"],
        "has 5 label columns (truth, kmeans, leiden,",
    ),
    "one column": (["compare", "labels.csv", "truth"], "only truth is named; name two columns"),
    "one column of two": (["match", "labels.csv", "truth"], "`congruence report` describes a single clustering"),
    "a column twice": (["compare", "labels.csv", "truth", "truth"], "column 'truth' is named twice"),
    "several columns in two files": (["compare", "labels.csv", "labels.csv"], "pass --columns COL_A,COL_B"),
    "weights of two files": (["compare", "labels.csv", "labels.csv", "--weight", "weight"], "--weight is for one file"),
    "a reference in two files": (
        ["compare", "labels.csv", "labels.csv", "--reference", "truth"],
        "--reference is for one file",
    ),
    "a long table of two columns": (
        ["matrix", "labels.csv", "--long", "cell,truth"],
        "--long takes three column names",
    ),
    "a long table without the column": (["matrix", "labels.csv", "--long", "cell,truth,kmean"], "did you mean kmeans?"),
    "a folder": (["consensus-matrix", ".", "-o", "m.npz"], "is a folder"),
    "a place that is not there": (["matrix", "labels.csv", "--out", "nowhere/m.csv"], "no folder nowhere"),
    "an option for covers": (["matrix", "labels.csv", "--n", "40"], "--n has no effect without covers"),
    "an option for AnnData": (["choose-k", "labels.csv", "--layer", "z"], "--layer has no effect without an"),
    "an empty reference": (["ensemble", "labels.csv", "--reference", "", "--memory", "1GB"], "has no column ''"),
    "an empty weight": (["matrix", "labels.csv", "--weight", "", "--memory", "1GB"], "has no column ''"),
    "one cluster compared with none": (
        ["choose-k", "labels.csv", "--columns", "weight,count", "--k", "1", "--members", "3"],
        "these criteria need k of at least 2",
    ),
    "a kind that cannot be written": (["matrix", "labels.csv", "--out", "m.xlsx"], "--out is written as .csv"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_are_one_line(congruence, name):
    """Every user error gives one helpful line on stderr, exit code 2, and no traceback."""
    words, text = MISTAKES[name]
    refused(congruence(*words), text)


@pytest.mark.slow
def test_folders(congruence):
    """A folder is read as one table in many files; a folder without any is refused."""
    Path("none").mkdir()
    refused(congruence("matrix", "none"), "there are no files to scan in none")
    Path("some").mkdir()
    LABELS.iloc[:5].to_csv("some/1.csv", index=False)
    LABELS.iloc[5:].to_csv("some/2.csv", index=False)
    words = ["--columns", "truth,kmeans", "--format", "csv"]
    assert congruence("matrix", "some", *words).out == congruence("matrix", "labels.csv", *words).out


FILES = {
    "empty.csv": b"",
    "head.csv": b"a,b\n",
    "ragged.csv": b"a,b\n1,2\n3\n",
    "torn.parquet": b"PAR1 and then nothing",
    "torn.feather": b"ARROW1",
    "torn.npz": b"PK\x03\x04",
    "text.npy": b"a,b\n",
    "labels.pkl": b"\x80\x04.",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_unreadable_files_are_one_line(congruence, name):
    """Empty, truncated and foreign files: one line that names the file."""
    Path(name).write_bytes(FILES[name])
    refused(congruence("compare", name, "a", "b"), name)
    refused(congruence("matrix", name), name)


@pytest.mark.parametrize("command", ["ensemble", "consensus", "compare"])
def test_one_column_of_memberships_is_not_a_reference(congruence, command):
    """The columns m:0 and m:1 are one clustering, so neither can be the reference."""
    Path("soft.csv").write_text("m:0,m:1,k\n0.2,0.8,1\n0.9,0.1,0\n0.5,0.5,1\n", encoding="utf-8")
    refused(congruence(command, "soft.csv", "--reference", "m:0"), "'m:0' is part of a clustering")


def test_pickled_arrays_are_refused(congruence):
    """An npy file of objects would have to be unpickled: it is refused."""
    np.save("objects.npy", np.array(["a", 1, None], dtype=object), allow_pickle=True)
    refused(congruence("compare", "objects.npy"), "objects.npy could not be read: it holds Python objects")


@pytest.mark.slow
def test_rows_that_do_not_match(congruence):
    """Files of different lengths need ids; repeated ids, or ids without a match, are refused."""
    LABELS[["truth"]].to_csv("a.csv", index=False)
    LABELS[["kmeans"]].iloc[:5].to_csv("b.csv", index=False)
    refused(congruence("compare", "a.csv", "b.csv"), "a.csv has 8 rows and b.csv has 5, and they have no column of ids")
    LABELS[["cell", "truth"]].to_csv("a.csv", index=False)
    pd.concat([LABELS, LABELS.iloc[:1]])[["cell", "kmeans"]].to_csv("twice.csv", index=False)
    refused(
        congruence("compare", "a.csv", "twice.csv", "--id", "cell"),
        "1 id in column 'cell' occurs more than once ('c0')",
    )
    refused(congruence("compare", "a.csv", "twice.csv"), "1 id in column 'cell' occurs more than once ('c0')")
    LABELS.assign(cell=LABELS["cell"] + "x")[["cell", "kmeans"]].to_csv("other.csv", index=False)
    refused(congruence("compare", "a.csv", "other.csv", "--id", "cell"), "no id of a.csv is in other.csv")
    Path("gap.csv").write_text("cell,k\nc0,1\nc1,\nc2,2\n")
    refused(congruence("compare", "a.csv", "gap.csv", "--id", "cell"), "1 of 3 points are unassigned")


def test_no_command_shows_the_help(congruence):
    """Without a command the help is shown and the exit code says that nothing was done."""
    said = congruence()
    assert said.code == 2
    assert "Usage" in said.out + said.err


# --- as a process ----------------------------------------------------------------------------------------------------


def spawn(*words: str, **options: Any) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **options.pop("env", {})}
    return subprocess.run(
        [sys.executable, "-m", "congruence", *words], text=True, check=False, timeout=120, env=environment, **options
    )


IS_ROOT = hasattr(os, "geteuid") and os.geteuid() == 0
#: the rights by which root may write everywhere
RIGHTS = "-dac_override,-dac_read_search"


def spawn_unprivileged(*words: str) -> subprocess.CompletedProcess[str]:
    """A command that must obey the permissions of files, also if root runs the tests."""
    without = ["setpriv", "--bounding-set", RIGHTS, "--inh-caps", RIGHTS] if IS_ROOT else []
    words = (*without, sys.executable, "-m", "congruence", *words)
    return subprocess.run(words, text=True, check=False, timeout=120, capture_output=True)


@pytest.mark.slow
def test_a_reader_that_closes_the_pipe(folder):
    """A pipe closed by its reader, as by `head`, gives no error and no traceback, with or without buffered output."""
    for unbuffered in ("", "1"):
        reader, writer = os.pipe()
        os.close(reader)
        try:
            done = spawn(
                "measures", "-f", "json", stdout=writer, stderr=subprocess.PIPE, env={"PYTHONUNBUFFERED": unbuffered}
            )
        finally:
            os.close(writer)
        assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.slow
def test_a_terminal_without_the_signs(folder):
    """If the terminal cannot show arrows, they are replaced; the command does not crash."""
    done = spawn("compare", "labels.csv", "truth", "leiden", capture_output=True, env={"PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0
    assert "Adjusted Rand index" in done.stdout
    assert done.stderr.startswith("note: labels: truth, leiden ? id: cell")


@pytest.mark.slow
def test_warnings_are_one_line(folder):
    """A warning of the library is a line on stderr, without file names and source code."""
    values = np.random.default_rng(0).random(50)
    pd.DataFrame({"x": values, "y": np.arange(50) % 2}).to_csv("floats.csv", index=False)
    done = spawn("compare", "floats.csv", "x", "y", "-m", "ari", capture_output=True)
    assert done.returncode == 0
    _, warning = done.stderr.splitlines()
    assert warning == "warning: x: 50 different fractional values in 50 points look like measurements, not labels"


def test_the_command_is_installed(folder):
    """The installed `congruence` is this command."""
    command = Path(sys.executable).with_name("congruence")
    if not command.exists():
        pytest.skip("the package is on the path but not installed")
    done = subprocess.run([command, "--version"], text=True, capture_output=True, check=False, timeout=120)
    assert done.stdout == f"congruence {cg.__version__}\n"


FULL = """
import resource, signal, sys
from congruence import cli
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
cli.main()
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limits of resources")
@pytest.mark.parametrize("out", ["r.html", "r.csv", "r.parquet", "r.npz", "r.json", "r.feather"])
def test_a_full_disk_is_named_with_the_file(folder, out):
    """If a result cannot be written whole, one line names its file, and nothing is left of it."""
    words = ("report", "labels.csv") if out == "r.html" else ("matrix", "labels.csv", "-m", "ari,vi,nmi_sum")
    done = subprocess.run(
        [sys.executable, "-c", FULL, *words, "--out", out], text=True, capture_output=True, check=False, timeout=120
    )
    assert done.returncode == 2
    said = done.stderr.splitlines()[-1]
    assert said.startswith(f"congruence: {out}: ")
    assert "too large" in said
    assert [x for x in os.listdir() if "r." in x[:3]] == []


TOLD = """
import os, signal, sys
from congruence import cli
number, whole = getattr(signal, sys.argv.pop(1)), os.fsync
signal.signal(number, signal.SIG_DFL)  # nohup ignores SIGHUP
os.fsync = lambda file: (os.kill(os.getpid(), number), whole(file))
cli.main()
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_a_command_that_is_told_to_end_leaves_nothing(folder, name):
    """Half a file is removed, and the exit code is that of the signal."""
    words = [sys.executable, "-c", TOLD, name, "report", "labels.csv", "--out", "r.html"]
    done = subprocess.run(words, text=True, capture_output=True, check=False, timeout=120)
    assert done.returncode == 128 + getattr(signal, name)
    assert done.stderr.splitlines()[-1] == "congruence: stopped"
    assert [x for x in os.listdir() if "html" in x] == []


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="Windows has other permissions")
@pytest.mark.skipif(IS_ROOT and not shutil.which("setpriv"), reason="root may write everywhere")
def test_a_folder_that_cannot_be_written(folder):
    """Without --out nothing is written; with it, and with a checkpoint, one line names what cannot be written."""
    os.chmod(".", 0o555)
    try:
        assert spawn_unprivileged("matrix", "labels.csv").returncode == 0
        for words, said in (
            (("matrix", "labels.csv", "--out", "r.csv"), "r.csv cannot be written: permission denied"),
            (("report", "labels.csv", "--out", "r.html"), "r.html cannot be written: permission denied"),
            (("matrix", "labels.csv", "--checkpoint", "kept"), "checkpoint kept cannot be created: Permission denied"),
        ):
            done = spawn_unprivileged(*words)
            assert (done.returncode, done.stderr.splitlines()[-1]) == (2, f"congruence: {said}")
    finally:
        os.chmod(".", 0o755)
