"""Regression tests for reading and writing files: memory and scans agree, and outputs are atomic."""

import contextlib
import os
import stat
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import congruence as cg
from congruence.inputs.files import write_table
from congruence.machine.writing import check_target, replacing
from hostile.running import run


def names_read(path):
    """The labels of each column, in memory and scanned."""
    found = []
    for members in (cg.Ensemble(path, unassigned="drop"), cg.Ensemble(cg.scan(path), unassigned="drop")):
        found.append([list(m.names) for m in members])
    return found


TEXTS = {
    "decimals": ("a,b\n1.1,x\n1.10,x\n1.1,y\n2,y\n", [["1.1", "1.10", "2"], ["x", "y"]]),
    "leading zeros": ("a,b\n01,x\n1,x\n01,y\n2,y\n", [["01", "1", "2"], ["x", "y"]]),
    "exponents": ("a,b\n1e1,x\n10,x\n1e1,y\n2,y\n", [["10", "1e1", "2"], ["x", "y"]]),
    "truth": ("a,b\ntrue,x\nTrue,x\ntrue,y\nfalse,y\n", [["True", "false", "true"], ["x", "y"]]),
    "booleans": ("a,b\ntrue,x\nfalse,x\ntrue,y\nfalse,y\n", [[False, True], ["x", "y"]]),
    "times": ("a,b\n12:30,x\n12:30:00,x\n12:30,y\n12:31,y\n", [["12:30", "12:30:00", "12:31"], ["x", "y"]]),
    "whole": ("a,b\n10,x\n9,x\n10,y\n-1,y\n", [[-1, 9, 10], ["x", "y"]]),
    "whole floats": ("a,b\n1.0,x\n2.0,x\n1.0,y\nNA,y\n", [[1, 2], ["x", "y"]]),
    "long ids": (
        "a,b\n12345678901234567890123,x\n12345678901234567890124,x\n12345678901234567890123,y\n,y\n",
        [["12345678901234567890123", "12345678901234567890124"], ["x", "y"]],
    ),
    "one column, empty line": ("a\n0\n\n1\n1\n", [[0, 1]]),
    "quoted newlines": ('a,b\n"x\ny",1\n"x\ny",2\nz,2\n', [["x\ny", "z"], [1, 2]]),
}


@pytest.mark.parametrize("case", TEXTS)
def test_labels_of_text_files(case, tmp_path):
    """Labels are numbers only if different texts are always different numbers; the same in memory and scanned."""
    text, right = TEXTS[case]
    path = tmp_path / "x.csv"
    path.write_text(text, encoding="utf-8")
    memory, scan = names_read(path)
    assert memory == right
    assert scan == right


def test_an_empty_line_is_a_missing_label(tmp_path):
    """An empty line does not shift the rows below it."""
    path = tmp_path / "x.csv"
    path.write_text("a\n0\n\n1\n1\n", encoding="utf-8")
    assert len(cg.Ensemble(path, unassigned="drop")[0]) == 4
    with pytest.raises(cg.InputError, match="1 of 4 points are unassigned"):
        cg.compare_all(path)


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("route", [lambda p: p, cg.scan], ids=["memory", "scan"])
def test_text_is_utf_8_or_gives_a_warning(route, tmp_path):
    """One rule in memory and scanned: UTF-8; UTF-16 by its first bytes; else the code page of Windows, with a warning."""
    path = tmp_path / "x.csv"
    text = "a;b\né;0\né;1\nü;1\n"
    path.write_bytes(text.encode("latin-1"))
    with pytest.warns(UserWarning, match="is not UTF-8; it was read as cp1252"):
        e = cg.Ensemble(route(path))
    assert cg.compare_all(e)["ari"][0, 1] == pytest.approx(-0.5)
    for encoding in ("utf-8", "utf-8-sig", "utf-16"):
        path.write_bytes(text.encode(encoding))
        found = cg.compare_all(route(path))
        assert found.names == ("a", "b")
        assert found["ari"][0, 1] == pytest.approx(-0.5)
    path.write_bytes(b"a;b\n\xff\x81;0\nx;1\n")  # no character of any of them
    with pytest.raises(cg.InputError, match=r"it is not UTF-8 text; save it as UTF-8"):
        cg.compare_all(route(path))
    for lead in ("", "\n"):  # the mark of UTF-8 was a name in the code page, and hid an empty line before the header
        path.write_bytes(b"\xef\xbb\xbf" + (lead + text).encode("latin-1"))
        with pytest.raises(cg.InputError, match=r"it is not UTF-8 text; save it as UTF-8"):
            cg.compare_all(route(path))


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_a_file_that_changes_under_a_scan(kind, tmp_path):
    """Two versions of a file are never mixed in one result."""
    path = tmp_path / f"x.{kind}"
    data = {"a": [0, 0, 1, 1], "b": [0, 1, 1, 1], "c": [0, 1, 0, 1]}

    def write(columns):
        if kind == "parquet":
            parquet.write_table(pa.table(columns), path)
        else:
            write_table(columns, path)

    write(data)
    s = cg.scan(path)
    assert cg.ari(s["a"], s["b"]) == pytest.approx(cg.ari(data["a"], data["b"]))
    write({key: [*values, 0] for key, values in data.items()})
    with pytest.raises(cg.InputError, match="changed while it was read"):
        cg.ari(s["a"], s["c"])


@pytest.mark.parametrize("how", ["appended", "cut", "emptied", "gone", "fewer row groups", "another kind"])
@pytest.mark.parametrize("kind", ["parquet", "feather", "csv"])
def test_a_file_that_is_damaged_under_a_scan(kind, how, tmp_path):
    """One line for each, whatever reads the file first."""
    path = tmp_path / f"x.{kind}"
    data = {"a": [0, 0, 1, 1] * 100, "b": [0, 1, 1, 1] * 100, "c": [0, 1, 0, 1] * 100}

    def write(rows, group):
        if kind == "parquet":
            parquet.write_table(pa.table(data).slice(0, rows), path, row_group_size=group)
        else:
            write_table({name: x[:rows] for name, x in data.items()}, path)

    write(400, 40)
    s = cg.scan(path)
    assert cg.ari(s["a"], s["b"]) == pytest.approx(cg.ari(data["a"], data["b"]))
    whole = path.read_bytes()
    if how == "gone":
        path.unlink()
    elif how == "fewer row groups":
        write(399, 400)
    else:
        changed = {
            "appended": whole + b"x",
            "cut": whole[: len(whole) // 2],
            "emptied": b"",
            "another kind": b"PK\x03\x04",
        }
        path.write_bytes(changed[how])
    with pytest.raises(cg.InputError, match=r"changed while it was read|could not be read|there is no file"):
        cg.ari(s["a"], s["c"])


def test_zeros_of_both_signs_in_a_dictionary():
    """0.0 and −0.0 are one label."""
    column = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 0]), pa.array([0.0, -0.0, 1.5]))
    assert cg.contingency(column, [0, 0, 1, 1]).to_array().tolist() == [[2, 1], [0, 1]]
    part = cg.partial_tables({"a": column, "b": [0, 0, 1, 1]})
    assert part.table("a", "b").to_array().tolist() == [[2, 1], [0, 1]]


# --- writing ----------------------------------------------------------------------------------------------------


def test_a_planted_link_is_not_followed(tmp_path):
    """Existing files next to the target are never written to."""
    victim, out = tmp_path / "victim.txt", tmp_path / "out.csv"
    victim.write_text("precious", encoding="utf-8")
    (tmp_path / "out.csv.part").symlink_to(victim)
    write_table({"a": [1, 2]}, out)
    assert victim.read_text(encoding="utf-8") == "precious"
    assert out.read_text(encoding="utf-8").splitlines()[1:] == ["1", "2"]


def test_permissions_stay_and_nothing_is_left_behind(tmp_path):
    """The file keeps its permissions; a failure leaves it as it was and no other file."""
    out = tmp_path / "out.txt"
    out.write_text("old", encoding="utf-8")
    out.chmod(0o640)
    with replacing(out) as stream:
        stream.write(b"new")
    assert stat.S_IMODE(out.stat().st_mode) == 0o640

    def fail():
        with replacing(out) as stream:
            stream.write(b"half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert out.read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["out.txt"]


def test_a_new_file_has_the_usual_permissions(tmp_path):
    """New files get the permissions that open() gives."""
    mask = os.umask(0o022)
    try:
        with replacing(tmp_path / "x") as stream:
            stream.write(b"x")
    finally:
        os.umask(mask)
    assert stat.S_IMODE((tmp_path / "x").stat().st_mode) == 0o644


@pytest.mark.parametrize(("name", "words"), [("é" * 300, "File name too long"), ("a\0b", "null byte")])
def test_names_that_no_file_can_have_are_one_line(name, words):
    """A profile is not written to a name that is too long or holds a null byte."""
    profile = cg.density_profile([[0.0], [1.0], [2.0]], [0, 0, 1])
    with pytest.raises(cg.InputError, match=f"cannot be written: .*{words}"):
        profile.save(name)


def test_targets_are_checked_before_the_work(tmp_path):
    """No folder, a folder, or one of the inputs."""
    given = tmp_path / "labels.csv"
    given.write_text("a\n0\n", encoding="utf-8")
    link = tmp_path / "link.csv"
    link.symlink_to(given)
    for target, inputs, said in (
        (tmp_path / "none" / "x.csv", [], "no folder"),
        (tmp_path, [], "is a folder"),
        (given, [given], "is read by this command"),
        (link, [None, given], "is read by this command"),
    ):
        with pytest.raises(cg.InputError, match=said):
            check_target(target, inputs)


@pytest.mark.parametrize("kind", ["csv", "tsv", "parquet", "feather"])
def test_tables_are_written_whole(kind, tmp_path):
    """Every kind of table is written by the same writer."""
    out = tmp_path / f"x.{kind}"
    write_table({"a": [1, 2, 2], "b": ["x", "y", "y"]}, out)
    assert [list(m.names) for m in cg.Ensemble(out)] == [[1, 2], ["x", "y"]]
    assert os.listdir(tmp_path) == [out.name]


# --- further values ---------------------------------------------------------------------------------------------


def test_an_asymmetric_parameter_is_not_mirrored():
    """V-measure with beta 2 is not symmetric, and its record says so."""
    a, b = [0, 0, 0, 0, 1, 1, 2, 2], [0, 0, 1, 1, 2, 2, 3, 4]
    m = cg.measure("v_measure", beta=2)
    assert not m.is_symmetric
    assert cg.measure("v_measure").is_symmetric
    r = cg.compare_all([a, b], [m])["v_measure"]
    assert r[1, 0] == cg.compare(b, a, [m])["v_measure"] == pytest.approx(0.857, abs=1e-3)
    assert r[0, 1] == cg.compare(a, b, [m])["v_measure"] == pytest.approx(0.75, abs=1e-3)
    with pytest.raises(cg.InputError, match="beta must be a number"):
        cg.measure("v_measure", beta=-1)


@pytest.mark.parametrize(("key", "options"), [("v_measure", {"beta": 0.5}), ("lambda", {"zero_cells": 1e-5})])
def test_declared_symmetry_holds_for_parameters(key, options):
    """A measure with a parameter is symmetric if its record says so."""
    rng = np.random.default_rng(0)
    m = cg.measure(key, **options)
    pairs = [(rng.permutation([0, 1, 2] * 4), rng.permutation([0, 0, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2])) for _ in range(10)]
    differ = [abs(cg.compare(x, y, [m])[key] - cg.compare(y, x, [m])[key]) > 1e-9 for x, y in pairs]
    assert any(differ) is not m.is_symmetric


def test_silhouette_at_distance_0_from_all():
    """All members put all points together: 0, not a quotient of rounding errors."""
    assert cg.consensus_silhouette([[0, 0, 0, 0]] * 3, [0, 0, 1, 1]).tolist() == [0, 0, 0, 0]


def test_cluster_consensus_of_partial_members():
    """The pooled ratio over members and pairs that both have a label."""
    e = cg.Ensemble([[0, 0, 0], [0, 1, None]], unassigned="partial")
    assert cg.cluster_consensus(e, [0, 0, 0]) == {0: 0.75}


def test_trace_of_large_counts():
    """At counts of 10⁹ the matching with the largest trace is found, not one a few points short."""
    r = cg.compare([0, 0, 1, 1], [0, 1, 0, 1], ["kappa_trace"], frequency=[10**9, 10**9 - 1, 10**9, 10**9])
    assert r["kappa_trace"] == pytest.approx(2.5e-10, rel=1e-3)


def test_alignment_of_a_zero_matrix():
    """0/0 between different matrices is not agreement."""
    assert cg.kas(np.zeros((3, 3)), [0, 1, 2]) == 0


def test_empty_clusters_of_weightless_memberships():
    """A cluster whose points all have weight 0 is not counted."""
    u = np.array([[1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]])
    assert cg.psi(u, [0, 0, 1, 1], sample_weight=[1, 1, 1, 0]) == pytest.approx(1)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("lead", ["\n", "\r\n\r\n", "\r"])
@pytest.mark.parametrize(("text", "names"), [("a\n0\n\n1\n", ["a"]), ("a,b\n0,1\n1,1\n", ["a", "b"])])
def test_empty_lines_before_the_header(encoding, lead, text, names, tmp_path):
    """They are not rows, with or without a mark of the encoding, in memory and scanned."""
    path = tmp_path / "x.csv"
    path.write_bytes((lead + text).encode(encoding))
    assert list(cg.Ensemble(path, unassigned="drop").names) == names
    assert len(cg.Ensemble(path, unassigned="drop")[0]) == (3 if names == ["a"] else 2)
    assert list(cg.scan(path).names) == names


@pytest.mark.parametrize("route", [cg.compare_all, lambda p: cg.compare_all(cg.scan(p))], ids=["memory", "scan"])
def test_page_checksums_are_verified(route, tmp_path):
    """One changed bit of a page is found in memory and scanned."""
    path = tmp_path / "x.parquet"
    table = pa.table({"a": [0, 1] * 300, "b": [0, 1, 2] * 200})
    parquet.write_table(table, path, compression="none", use_dictionary=False, write_page_checksum=True)
    raw = bytearray(path.read_bytes())
    raw[parquet.ParquetFile(path).metadata.row_group(0).column(0).data_page_offset + 400] ^= 1
    path.write_bytes(bytes(raw))
    with pytest.raises(cg.InputError, match="could not be read"):
        route(path)


def test_control_characters_do_not_end_the_header(tmp_path):
    """Only line ends do: the separator is looked for in the whole first line."""
    path = tmp_path / "x.csv"
    path.write_bytes(b"a\x0bb;c\n0;1\n1;1\n")
    assert list(cg.Ensemble(path).names) == ["a\x0bb", "c"]
    assert list(cg.scan(path).names) == ["a\x0bb", "c"]


@pytest.mark.parametrize("route", [cg.compare_all, lambda p: cg.compare_all(cg.scan(p))], ids=["memory", "scan"])
def test_arrow_files_with_a_damaged_head(route, tmp_path):
    """Refused in memory and scanned, although the end of the file is whole."""
    path = tmp_path / "x.arrow"
    write_table({"a": [0, 1, 1], "b": [0, 0, 1]}, path)
    assert len(route(path).names) == 2
    path.write_bytes(b"AR\xff\xff\xff\xff" + path.read_bytes()[6:])
    with pytest.raises(cg.InputError, match="could not be read"):
        route(path)


def test_a_line_break_in_the_header_does_not_hide_the_separator(tmp_path):
    """The separator is found in the first record, not the first line; a ragged row is refused."""
    path = tmp_path / "x.csv"
    path.write_bytes(b'"line\nbreak"\tb\n0\t1\n1\t1\n')
    assert list(cg.Ensemble(path).names) == ["line\nbreak", "b"]
    path.write_bytes(b'"line\nbreak"\tb\n0\t1\n1\t1\t0\n')
    with pytest.raises(cg.InputError):
        cg.Ensemble(path)


SCAN_EACH = """
import sys, congruence as cg
for path in sys.argv[1:]:
    try:
        cg.compare_all(cg.scan(path), ["ari"], unassigned="drop")
    except cg.InputError as error:
        assert "\\n" not in str(error)
"""


@pytest.mark.slow
def test_a_damaged_footer_does_not_end_the_process(tmp_path):
    """pyarrow aborts if a footer that contradicts itself is asked for a column; each flipped bit is read or refused."""
    path = tmp_path / "x.parquet"
    table = pa.table({"a": [0, 1, None, 1], "b": ["x", "y", "x", "x"]})
    parquet.write_table(table, path, store_schema=False, compression="none")
    whole = path.read_bytes()
    bad = []
    for at in range(len(whole) - 8 - int.from_bytes(whole[-8:-4], "little"), len(whole) - 8):
        bad.append(tmp_path / f"{at}.parquet")
        bad[-1].write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
    run = subprocess.run([sys.executable, "-c", SCAN_EACH, *bad], check=False, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("cell", "said"), [("XFD1048576", "delete cells far from the table"), ("XFD9", "row 9, column 16384")]
)
def test_one_cell_far_from_the_table(cell, said, tmp_path):
    """calamine asks for memory for all cells up to the last one, and ends the process if there is not enough."""
    pytest.importorskip("python_calamine", reason="calamine reads workbooks")
    book = pytest.importorskip("openpyxl", reason="openpyxl makes the file").Workbook()
    for row in (["a", "b"], *[[i % 3, i % 2] for i in range(5)]):
        book.active.append(row)
    book.save(tmp_path / "x.xlsx")
    assert len(cg.Ensemble(tmp_path / "x.xlsx")) == 2
    book.active[cell] = "x"
    book.save(tmp_path / "x.xlsx")
    with pytest.raises(cg.InputError, match=said):
        cg.Ensemble(tmp_path / "x.xlsx")


@pytest.mark.slow
@pytest.mark.parametrize("module", ["python_calamine", "resource", "h5py"])
def test_modules_in_the_folder_of_the_data_are_not_run(module, tmp_path, monkeypatch):
    """Workbooks and HDF5 files are tried in a child process, which imports no module of the current folder."""
    kind = "h5ad" if module == "h5py" else "xlsx"
    pytest.importorskip("anndata" if kind == "h5ad" else "python_calamine", reason="it reads the file")
    monkeypatch.chdir(tmp_path)
    (tmp_path / f"{module}.py").write_text("open('ran', 'w').close()")
    if kind == "xlsx":
        book = pytest.importorskip("openpyxl", reason="openpyxl makes the file").Workbook()
        for row in (["a", "b"], [0, 1], [1, 1]):
            book.active.append(row)
        book.save("x.xlsx")
    else:
        (tmp_path / "x.h5ad").write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(100))
    with contextlib.suppress(cg.InputError):
        cg.Ensemble(f"x.{kind}")
    assert not (tmp_path / "ran").exists()


def test_a_parquet_file_that_declares_less_than_no_rows(tmp_path):
    """One line: pyarrow ends the process if it is asked for such rows without any columns."""
    path = tmp_path / "x.parquet"
    parquet.write_table(pa.table({"a": ["x", "y", "x"] * 9, "b": [0, 1, 0] * 9}), path)
    whole = path.read_bytes()
    rows = bytes([2 * 27])  # 27 in the footer, twice its value; 2·27 − 1 means −27
    bad = b"".join([whole[:4], whole[4:].replace(b"\x16" + rows, b"\x16" + bytes([2 * 27 - 1]))])
    path.write_bytes(bad)
    assert parquet.read_metadata(path).row_group(0).num_rows == -27
    said = subprocess.run(
        [sys.executable, "-c", f"import congruence as cg; cg.compare_all(cg.scan({str(path)!r}, columns=['a', 'b']))"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert said.stderr.rstrip().endswith("it declares a negative number of rows")
    assert run(["matrix", "x.parquet", "--checkpoint", "kept"], tmp_path).code == 2
