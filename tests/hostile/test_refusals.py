"""Regression tests: inputs that crashed, hung, showed a traceback or wrote unsafe output now end with one line."""

import importlib
import io
import os
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import feather, parquet

import congruence as cg
from congruence.errors import visible
from congruence.inputs import files
from congruence.scanning import parts, schedule
from hostile.running import run


def test_a_pipe_is_not_a_file(refused, tmp_path):
    """A pipe is refused; reading it would block forever."""
    os.mkfifo(tmp_path / "pipe.csv")
    assert "is a pipe or a device" in refused("compare", "pipe.csv", "a", "b")
    with pytest.raises(cg.InputError, match="pipe or a device"):
        cg.scan(tmp_path / "pipe.csv")
    with pytest.raises(cg.InputError, match="pipe or a device"):
        cg.read_cover(tmp_path / "pipe.csv")


@pytest.mark.parametrize("command", ["compare", "matrix", "choose-k", "ensemble"])
def test_a_header_that_promises_too_much(command, refused, tmp_path):
    """No memory is allocated for data that the file does not have."""
    stream = io.BytesIO()
    np.save(stream, np.arange(4))
    data = stream.getvalue()
    header = b"{'descr': '<i8', 'fortran_order': False, 'shape': (99999999999999,), }"
    (tmp_path / "x.npy").write_bytes(data[:8] + len(header).to_bytes(2, "little") + header + data[-32:])
    assert "its header declares" in refused(command, "x.npy")


def test_data_that_hold_only_clusterings(refused):
    """A report on the file of its labels: no column is left for the scatter plot."""
    assert "labels.csv has no columns of numbers other than" in refused("report", "labels.csv", "--data", "labels.csv")
    with pytest.raises(cg.InputError, match="the data have no columns"):
        cg.report({"a": [0, 1], "b": [0, 1]}, data={})


BAD_SPARSE = {
    "far indices": {"indices": np.array([0, 10**9])},
    "negative indices": {"indices": np.array([0, -5])},
    "falling starts": {"indptr": np.array([0, 2, 1])},
    "starts beyond the data": {"indptr": np.array([0, 1, 99])},
    "a shape of another size": {"shape": np.array([10**9, 10**9])},
    "fractions": {"indices": np.array([0.5, 1.5])},
    "too few starts": {"indptr": np.array([0])},
}


@pytest.mark.parametrize("case", BAD_SPARSE)
def test_sparse_matrices_with_bad_indices(case, tmp_path):
    """Bad indices are refused before scipy reads beyond the array."""
    whole = {"data": np.ones(2), "indices": np.arange(2), "indptr": np.arange(3), "shape": np.array([2, 2])}
    np.savez(tmp_path / "m.npz", format=np.array(b"csr"), **whole)
    assert len(files.read_columns(tmp_path / "m.npz")["m"]) == 2
    np.savez(tmp_path / "m.npz", format=np.array(b"csr"), **{**whole, **BAD_SPARSE[case]})
    with pytest.raises(cg.InputError, match="sparse matrix"):
        files.read_columns(tmp_path / "m.npz")


@pytest.mark.parametrize("route", [files.read_columns, lambda p: cg.compare_all(cg.scan(p))])
def test_feather_with_bad_offsets(route, tmp_path):
    """Offsets beyond the text would crash the process: the file is validated in full, in memory and scanned."""
    offsets = pa.py_buffer(np.array([0, 1, 10**6, 3], np.int32))
    broken = pa.StringArray.from_buffers(3, offsets, pa.py_buffer(b"abc"))
    schema = pa.schema([("a", pa.string()), ("b", pa.int64())])
    with pa.OSFile(str(tmp_path / "x.arrow"), "wb") as sink, pa.ipc.new_file(sink, schema) as writer:
        writer.write_batch(pa.record_batch([broken, pa.array([0, 1, 1])], schema=schema))
    with pytest.raises(cg.InputError, match="could not be read"):
        route(tmp_path / "x.arrow")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("generate", "labels.csv", "--k", "2..1000000000", "--out", "o.csv"), "at most 10,000"),
        (("choose-k", "labels.csv", "--k", "2..1000000000"), "at most 10,000"),
        (("matrix", "labels.csv", "--long", "a,a,b"), "three columns"),
        (("compare", "labels.csv", "--client", "nope", "a", "b"), "client"),
        (("compare", "labels.csv", "a\udcff", "b"), "no column"),
        (("hierarchies", "labels.csv", "labels.csv", "--labels", "a", "--plot", "x.html"), "pass --curve"),
        (("compare", "b\udcff.csv", "a", "b"), "is not UTF-8; rename it"),
        (("matrix", "labels.csv", "--out", "labels.csv"), "is read by this command"),
        (("match", "labels.csv", "a", "b", "--out", "labels.csv"), "is read by this command"),
        (("points", "labels.csv", "--out", "labels.csv"), "is read by this command"),
    ],
)
def test_refused_at_once(words, said, refused):
    """Before any work, with the reason."""
    if "--client" in words:
        pytest.importorskip("distributed")
        said = ""
    assert said in refused(*words)


MOST = {
    "matrix": ("cli.matrix.MOST_COLUMNS", 5_000, "at most 2 columns can be compared with each other, but there are 3"),
    "ensemble": ("cli.ensemble.MOST_COLUMNS", 5_000, "at most 2 columns can be compared"),
    "consensus": ("cli.consensus.MOST_COLUMNS", 5_000, "at most 2 columns can be compared"),
    "points": ("cli.points.MOST_SHOWN_COLUMNS", 200, "or name a --reference"),
    "resolutions": ("cli.resolutions.MOST_SHOWN_COLUMNS", 200, "at most 2 columns can be compared"),
    "report": ("reporting.model.MOST_CLUSTERINGS", 1_000, "at most 2 clusterings"),
}


@pytest.mark.parametrize("command", MOST)
def test_too_many_columns(command, refused, monkeypatch):
    """Commands that compare all pairs of columns refuse more than they can do in seconds."""
    place, most, said = MOST[command]
    room, _, name = place.rpartition(".")
    home = importlib.import_module(f"congruence.{room}")
    assert getattr(home, name) == most
    monkeypatch.setattr(home, name, 2)
    assert said in refused(command, "labels.csv")


@pytest.fixture(scope="module")
def wide(tmp_path_factory):
    """Tables of 10,000 columns and two rows, of every kind whose header tells their number."""
    folder = tmp_path_factory.mktemp("wide")
    columns = {f"c{i}": [0, 1] for i in range(10_000)}
    for kind in ("csv", "parquet", "feather"):
        files.write_table(columns, folder / f"wide.{kind}")
    np.savez(folder / "wide.npz", **columns)
    np.save(folder / "wide.npy", np.zeros((2, 10_000), np.int64))
    return folder


@pytest.mark.parametrize("kind", ["csv", "parquet", "feather", "npz", "npy"])
@pytest.mark.parametrize("command", [*MOST, "match", "contingency"])
def test_ten_thousand_columns(command, kind, wide, refused, monkeypatch):
    """Refused by the header: the table is not read."""
    monkeypatch.setattr(files, "read_columns", None)
    path = wide / f"wide.{kind}"
    assert f"wide.{kind} has 10,000 columns, but at most" in refused(command, str(path))
    if command == "report":
        with pytest.raises(cg.InputError, match="has 10,000 columns"):
            cg.report(path)


@pytest.mark.parametrize(
    "call",
    [
        lambda X: cg.generate(X, 10**9, [2]),
        lambda X: cg.choose_k(X, [2], criteria=["certainty"], n_members=10**9),
        lambda X: cg.permutation_test(X[0].argsort(), X[1].argsort(), "vi", n_permutations=10**9),
        lambda X: cg.permutation_tests([[0, 1, 1], [0, 0, 1], [0, 1, 0]], "vi", n_permutations=10**9),
        lambda X: cg.alternatives(X, [0, 1] * 4, 2, method="mincentropy", n_init=10**9),
        lambda X: cg.adjusted("jaccard", null="permutation", n_draws=10**9),
        lambda X: cg.stability(X, [0, 1] * 4, n_resamples=10**9),
    ],
)
def test_more_runs_than_memory_holds(call):
    """Clusterings, draws and random starts are all kept: refused before the first."""
    with pytest.raises(cg.InputError, match="must be at most 10"):
        call(np.random.default_rng(0).normal(size=(8, 4)))


def test_columns_of_one_soft_clustering_count_once(tmp_path):
    """NAME:CLUSTER are memberships; a file whose header does not give the number of columns is read."""
    for name, width in (("x.csv", 3), ("x.parquet", 3), ("x.arrow", 3)):
        files.write_table({"u:a": [0.5], "u:b": [0.5], "v": [1], "w": [1]}, tmp_path / name)
        assert files.width_of(tmp_path / name) == width
    (tmp_path / "x.parquet").write_bytes(b"no table")
    assert files.width_of(tmp_path / "x.parquet") == 0


def test_threads_and_jobs_are_bounded(tmp_path):
    """The number of threads is capped at a sensible number."""
    assert cg.compare_all([[0, 0, 1], [0, 1, 1]], threads=10**9)["ari"][0, 1] == pytest.approx(-0.5)
    X = np.random.default_rng(0).normal(size=(12, 2))
    assert len(cg.generate(X, 1, [2], random_state=0, n_jobs=100_000)) == 1


def test_too_little_memory_is_one_line(refused, monkeypatch):
    """Exit 3, no traceback."""

    def full(*_, **__):
        raise MemoryError("Unable to allocate 9 TiB")

    monkeypatch.setattr(cg, "compare", full)
    assert "not enough memory: Unable to allocate 9 TiB" in refused("compare", "labels.csv", "a", "b", code=3)


def full_memory(*_, **__):
    """Stand-in for a reader that runs out of memory."""
    raise pa.ArrowMemoryError("malloc of size 9570149208162368 failed")


@pytest.mark.parametrize("kind", ["csv", "feather", "arrow", "parquet", "npy"])
@pytest.mark.parametrize("more", [(), ("--memory", "1GB")], ids=["memory", "scan"])
def test_too_little_memory_for_a_file_is_one_line(kind, more, refused, tmp_path, monkeypatch):
    """Exit 3 as for any other lack of memory, in memory and scanned; in Python an InputError that is a MemoryError too."""
    if kind == "npy" and more:
        pytest.skip("arrays are not scanned")
    path = tmp_path / f"x.{kind}"
    if kind == "npy":
        np.save(path, np.array([[0, 1], [1, 1]]))
        monkeypatch.setattr(np, "frombuffer", full_memory)
    else:
        files.write_table({"a": [0, 1, 1], "b": [0, 0, 1]}, path)
        for reader in ("read_table", "ParquetFile"):
            monkeypatch.setattr(parquet, reader, full_memory)
        monkeypatch.setattr(feather, "read_table", full_memory)
        monkeypatch.setattr(pa.ipc, "open_file", full_memory)
        for module in (files, parts):
            monkeypatch.setattr(module, "text_reader", full_memory)
    assert "not enough memory, or the file is broken (malloc" in refused("matrix", path.name, *more, code=3)
    with pytest.raises(MemoryError, match="not enough memory"):
        cg.compare_all(cg.scan(path) if more else path)


def test_a_figure_without_curves():
    """Three points: no criterion applies, and the figure shows the headline."""
    choice = cg.choose_k([[1.0], [2.0], [2.0]], [2, 3], method="kmeans", random_state=0)
    assert choice.plot().layout.title.text == choice.headline


def test_an_internal_error_is_one_line(refused, monkeypatch):
    """Exit 3; the traceback is shown only with --debug."""

    def broken(*_, **__):
        raise ZeroDivisionError("oops")

    monkeypatch.setattr(cg, "compare", broken)
    assert "internal error, ZeroDivisionError: oops" in refused("compare", "labels.csv", "a", "b", code=3)


@pytest.mark.slow
def test_closed_stdout(tmp_path):
    """`congruence … | head` ends quietly."""
    done = subprocess.run(
        f"{sys.executable} -m congruence measures | head -1", shell=True, capture_output=True, text=True, check=False
    )
    assert done.stderr == ""


@pytest.mark.slow
@pytest.mark.parametrize("closed", ["2>&-", "<&-", "2>&- <&-", "2>&- >&-"])
def test_closed_standard_streams(closed, tmp_path):
    """A service may start a command without standard streams: it was an internal error."""
    (tmp_path / "x.csv").write_text("a,b\n0,0\n0,1\n1,1\n1,1\n")
    command = f"{sys.executable} -m congruence matrix x.csv --out o.csv {closed}"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "o.csv").exists()


def test_no_standard_error(monkeypatch):
    """The same in Python, where `sys.stderr` may be None."""
    monkeypatch.setattr(sys, "stderr", None)
    assert cg.compare_all([[0, 0, 1], [0, 1, 1]])["ari"][0, 1] == -0.5


ODD = ["=1+1", "\x1b[31mred", "line\nbreak", "a|b"]


@pytest.mark.parametrize("format", ["table", "csv", "markdown", "json"])
def test_names_cannot_steer_a_terminal(format, tmp_path):
    """Control characters are shown escaped, lines of tables stay lines, and spreadsheets run nothing."""
    parquet.write_table(pa.table([[0, 0, 1]] * 4, names=ODD), tmp_path / "x.parquet")
    said = run(["matrix", "x.parquet", "--format", format, "--measures", "ari"], tmp_path)
    assert said.code == 0
    assert "\x1b" not in said.out
    assert "\\u001b[31mred" in said.out
    if format == "markdown":
        assert len(said.out.splitlines()) == 2 + len(ODD)
        assert "a\\|b" in said.out
    if format == "csv":
        assert "'=1+1" in said.out
        raw = run(["matrix", "x.parquet", "--format", "csv", "--measures", "ari", "--raw"], tmp_path).out
        assert "'=1+1" not in raw
        assert "\x1b[31mred" in raw


def test_guarded_cells_of_files(tmp_path):
    """Text that a spreadsheet would run gets a quote before it; numbers and --raw do not."""
    columns = {"id": ["=x", "-1", "+y", "ok"], "n": [-1, 2, 3, 4]}
    assert files.write_table(columns, tmp_path / "x.csv") == 2
    assert (tmp_path / "x.csv").read_text(encoding="utf-8").splitlines()[1:] == [
        '"\'=x",-1',
        '"-1",2',
        '"\'+y",3',
        '"ok",4',
    ]
    assert files.write_table(columns, tmp_path / "x.csv", raw=True) == 0
    assert files.write_table(columns, tmp_path / "x.parquet") == 0
    assert parquet.read_table(tmp_path / "x.parquet")["id"].to_pylist() == columns["id"]


def test_messages_are_one_line():
    """Any wrong value gives an InputError."""
    error = cg.InputError("got [1\n 2]\x1b[31m")
    assert str(error) == "got [1 2]\\u001b[31m"
    assert visible("a\tb", keep="\t") == "a\tb"


@pytest.mark.slow
def test_labels_count_against_the_memory(tmp_path):
    """A vocabulary of 60,000 words does not fit in four megabytes, and the error states its size."""
    n = 60_000
    parquet.write_table(
        pa.table({"a": [f"a long label {i}" for i in range(n)], "b": [0, 1] * (n // 2)}), tmp_path / "x.parquet"
    )
    s = cg.scan(tmp_path / "x.parquet", memory="4MB", threads=1)
    with pytest.raises(cg.InputError, match=r"'a' and 'b' takes more than 4 MB.*at least 5 MB, with 8,192 labels"):
        cg.ari(s["a"], s["b"])


def test_a_silent_cluster_is_named_and_given_up(monkeypatch, capsys):
    """Workers that finish nothing are reported, and the run stops waiting for them."""
    monkeypatch.setattr(schedule, "SILENT", 0.02)
    monkeypatch.setattr(schedule, "GIVEN_UP", 0.05)
    import threading

    forever = threading.Event()

    def silent():
        forever.wait(5)
        yield None

    with pytest.raises(cg.InputError, match="finished nothing for"):
        list(schedule._heard(silent(), object()))
    forever.set()
    assert "the Dask workers finished nothing" in capsys.readouterr().err
