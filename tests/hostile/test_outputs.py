"""Regression tests: no output destroys an input or another output, and none steers a terminal or a spreadsheet."""

import csv
import os
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import congruence as cg
from congruence.inputs.files import write_table
from congruence.machine.writing import check_apart, check_target
from hostile.running import run, state_of

LABELS = "id,a,b,c\np0,0,0,1\np1,0,1,1\np2,1,1,0\np3,1,0,0\n"
NUMBERS = "x,y,lab\n0.1,0.2,0\n0.3,0.1,0\n5.5,5.1,1\n5.2,5.3,1\n"

#: words of the command, the input that its output would destroy, the option, the ending of the output
COMMANDS = {
    "compare": (["compare", "labels.csv", "a", "b"], "labels.csv", "--out", "csv"),
    "compare two files": (["compare", "labels.csv", "other.csv", "--id", "id", "--columns", "a"], "other.csv", "--out", "csv"),
    "match": (["match", "labels.csv", "a", "b"], "labels.csv", "--out", "csv"),
    "contingency": (["contingency", "labels.csv", "other.csv", "--id", "id", "--columns", "a"], "other.csv", "--out", "csv"),
    "points": (["points", "labels.csv"], "labels.csv", "--out", "csv"),
    "matrix": (["matrix", "labels.csv", "other.csv"], "other.csv", "--out", "csv"),
    "generate": (["generate", "numbers.csv", "--k", "2", "--columns", "x,y"], "numbers.csv", "--out", "csv"),
    "consensus-matrix": (["consensus-matrix", "labels.csv"], "labels.csv", "--out", "npz"),
    "consensus": (["consensus", "labels.csv", "--k", "2"], "labels.csv", "--out", "csv"),
    "choose-k": (["choose-k", "numbers.csv", "--columns", "x,y"], "numbers.csv", "--out", "csv"),
    "choose-k, plot": (["choose-k", "numbers.csv", "--columns", "x,y"], "numbers.csv", "--plot", "html"),
    "resolutions, plot": (["resolutions", "labels.csv"], "labels.csv", "--plot", "html"),
    "resolutions, edges": (["resolutions", "labels.csv"], "labels.csv", "--edges", "csv"),
    "resolutions, nodes": (["resolutions", "labels.csv"], "labels.csv", "--nodes", "csv"),
    "hierarchies, plot": (["hierarchies", "a.nwk", "b.nwk"], "b.nwk", "--plot", "html"),
    "hierarchies, curve": (["hierarchies", "a.nwk", "b.nwk"], "b.nwk", "--curve", "html"),
    "alternatives": (["alternatives", "numbers.csv", "--labels", "lab"], "numbers.csv", "--out", "csv"),
    "report": (["report", "labels.csv"], "labels.csv", "--out", "html"),
    "report, data": (["report", "labels.csv", "--data", "numbers.csv"], "numbers.csv", "--out", "html"),
    "covers": (["compare", "a.cover", "b.cover"], "b.cover", "--out", "csv"),
    "report of covers": (["report", "a.cover", "b.cover"], "b.cover", "--out", "html"),
    "folder": (["matrix", "parts"], "parts/1.csv", "--out", "csv"),
    "folder of folders": (["compare", ".", "a", "b"], "parts/1.csv", "--out", "csv"),
    "pattern": (["compare", "parts/*.csv", "a", "b"], "parts/1.csv", "--out", "csv"),
}  # fmt: skip


@pytest.fixture
def there(tmp_path):
    """A folder with inputs of every kind."""
    for name in ("labels.csv", "other.csv", "parts/0.csv", "parts/1.csv"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(LABELS, encoding="utf-8")
    (tmp_path / "numbers.csv").write_text(NUMBERS, encoding="utf-8")
    for name, text in (("a.nwk", "((a,b),(c,d));"), ("b.nwk", "((a,c),(b,d));"), ("a.cover", "1 2 3\n3 4\n")):
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "b.cover").write_text("1 2\n3 4\n", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("how", ["path", "detour", "symbolic link", "hard link"])
@pytest.mark.parametrize("command", COMMANDS)
def test_no_output_is_an_input(command, how, there):
    """Refused before the work, and every file stays as it was."""
    words, victim, option, ending = COMMANDS[command]
    out = Path(f"link.{ending}")
    if how == "path" or how == "detour":
        if not victim.endswith(ending):
            pytest.skip("another kind of file")
        out = Path(victim) if how == "path" else Path("parts/..") / victim
    else:
        (os.symlink if how == "symbolic link" else os.link)(there / victim, there / out)
    before = state_of(there)
    said = run([*words, option, str(out)], there)
    assert (said.code, said.out) == (2, "")
    assert "is read by this command; write the result to another file" in said.err
    assert state_of(there) == before


def test_a_result_in_the_folder_of_its_input_may_be_replaced(there):
    """It is not a table that a scan of the folder reads."""
    for _ in range(2):
        assert run(["matrix", "parts", "--out", "parts/agreement.npz"], there).code == 0


def test_a_report_from_python_does_not_replace_its_input(there):
    """The labels and the data, by a link that ends in html."""
    for name in ("labels.csv", "numbers.csv"):
        (there / "link.html").unlink(missing_ok=True)
        (there / "link.html").symlink_to(there / name)
        with pytest.raises(cg.InputError, match="is read by this command"):
            cg.report(there / "labels.csv", there / "link.html", data=there / "numbers.csv")


def test_scanned_rows_are_not_written_among_those_read(there):
    """A checkpoint allows a folder that holds files, but not the folder of the input."""
    for folder in (there / "parts", there):
        before = state_of(there)
        with pytest.raises(cg.InputError, match="holds the files that are read"):
            cg.consensus(cg.scan(there / "parts", id="id"), 2, out=folder, checkpoint=there / "kept")
        found = state_of(there)
        assert {name: found[name] for name in before} == before


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["hierarchies", "a.nwk", "b.nwk", "--plot", "x.html", "--curve", "./x.html"], "--plot and --curve write"),
        (["resolutions", "labels.csv", "--nodes", "x.csv", "--edges", "x.csv"], "--nodes and --edges write"),
    ],
)
def test_two_outputs_are_two_files(words, said, there):
    """The second would replace the first."""
    found = run(words, there)
    assert found.code == 2
    assert said in found.err
    check_apart(plot=there / "x", nodes=None, edges=there / "y")


def test_a_link_to_nowhere_is_found_before_the_work(there):
    """The folder that it names is missing; a link to a new file in a folder that is there is followed."""
    (there / "link.csv").symlink_to("none/x.csv")
    with pytest.raises(cg.InputError, match=r"there is no folder .*none"):
        check_target(there / "link.csv")
    (there / "link.csv").unlink()
    (there / "link.csv").symlink_to("new.csv")
    assert run(["matrix", "labels.csv", "--out", "link.csv"], there).code == 0
    assert (there / "new.csv").exists()
    assert (there / "link.csv").is_symlink()


# --- what outputs hold ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["csv", "tsv"])
@pytest.mark.parametrize(
    "made", [list, np.array, pa.array, lambda x: pa.chunked_array([x]), lambda x: pa.array(x).dictionary_encode()]
)
def test_cells_of_any_column_are_guarded(kind, made, tmp_path):
    """Arrow columns, as files have them, like lists: no cell is run by a spreadsheet."""
    cells = ["=1+1", "+x", "-y", "@z", "\t=1", "\r=1", "\n=1", "\uff1d1", "-1", "plain"]
    path = tmp_path / f"x.{kind}"
    assert write_table({"=name": made(cells), "'=name": made(cells)}, path) == 18  # eight cells and the name, twice
    with path.open(encoding="utf-8", newline="") as stream:
        head, *rows = csv.reader(stream, delimiter="," if kind == "csv" else "\t")
    assert head == ["'=name", "'=name′"]
    assert [row[0] for row in rows] == [f"'{x}" for x in cells[:-2]] + cells[-2:]
    assert write_table({"=name": made(cells)}, path, raw=True) == 0
    assert path.read_text(encoding="utf-8").startswith('"=name"\n"=1+1"\n')


@pytest.mark.parametrize("command", ["points", "consensus", "alternatives"])
def test_ids_in_written_tables_are_guarded(command, tmp_path):
    """Row names and labels of the input are cells of the output."""
    n = range(8)
    names = {"id": [f"=p{i}" for i in n], "a": [["@x", "+y"][i % 2] for i in n], "b": [["@x", "+y"][i // 4] for i in n]}
    numbers = {"v": [float(i % 2) + i / 99 for i in n], "w": [float(i // 4) for i in n]}
    parquet.write_table(pa.table({**names, **(numbers if command == "alternatives" else {})}), tmp_path / "x.parquet")
    more = {"consensus": ["--k", "2"], "alternatives": ["--labels", "a", "--method", "coala", "--k", "2"], "points": []}
    said = run([command, "x.parquet", *more[command], "--out", "o.csv"], tmp_path)
    assert said.code == 0, said.err
    text = (tmp_path / "o.csv").read_text(encoding="utf-8")
    assert "'=p0" in text or command == "alternatives"
    assert not re.search(r'(^|,)"?[=@+]', text, re.MULTILINE)


def test_tables_in_arrow_files_keep_their_types(tmp_path):
    """Only text files change cells."""
    ids = pa.array([1, 2], pa.uint8())
    write_table({"=id": ids, "when": pa.array([0, 1], pa.date32())}, tmp_path / "x.parquet")
    found = parquet.read_table(tmp_path / "x.parquet")
    assert found.schema.types == [pa.uint8(), pa.date32()]
    assert found.column_names == ["=id", "when"]


def test_no_control_character_reaches_a_page(tmp_path):
    """Names in the page of a report of labels, and of covers."""
    odd = "\x1b]0;own\x07x"
    cg.report({odd: [0, 0, 1, 1], "b": [f"{odd}1", f"{odd}2", f"{odd}2", "z"]}, tmp_path / "a.html")
    covers = {odd: cg.Cover([[0, 1], [1, 2]], 4), "b": cg.Cover([[0, 1], [2, 3]], 4)}
    cg.report(covers, tmp_path / "b.html")
    for name in ("a.html", "b.html"):
        text = (tmp_path / name).read_text(encoding="utf-8")
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f]", text)
        assert "\\u001b]0;own" in text
