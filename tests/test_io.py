"""Files and tables as sources of label columns: every format, long tables, objects with .obs, unreadable files."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import feather, parquet
from scipy import sparse

import congruence as cg
from congruence.inputs import files, joining
from congruence.inputs.column_names import named_columns
from congruence.inputs.columns import without_ids

COLUMNS = {"cell": [f"c{i}" for i in range(6)], "truth": [0, 0, 1, 1, 2, 2], "leiden": ["a", "a", "b", "b", "b", "c"]}
FRAME = pd.DataFrame(COLUMNS)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the same labels in every kind of file."""
    FRAME.to_csv(tmp_path / "labels.csv", index=False)
    FRAME.to_csv(tmp_path / "labels.tsv", index=False, sep="\t")
    FRAME.to_csv(tmp_path / "labels.txt", index=False, sep=" ")
    FRAME.to_csv(tmp_path / "tabs.txt", index=False, sep="\t")
    FRAME.to_csv(tmp_path / "semicolons.csv", index=False, sep=";")
    FRAME.to_csv(tmp_path / "labels.csv.gz", index=False)
    FRAME.to_csv(tmp_path / "labels.tsv.bz2", index=False, sep="\t")
    FRAME.to_csv(tmp_path / "LABELS.CSV", index=False, encoding="utf-8-sig")
    parquet.write_table(pa.table(COLUMNS), tmp_path / "labels.parquet")
    feather.write_feather(pa.table(COLUMNS), str(tmp_path / "labels.feather"))
    feather.write_feather(pa.table(COLUMNS), str(tmp_path / "labels.arrow"))
    np.savez(tmp_path / "labels.npz", **{name: np.array(values) for name, values in COLUMNS.items()})
    return tmp_path


def listed(column: Any) -> list[Any]:
    return column.to_pylist() if hasattr(column, "to_pylist") else list(column)


@pytest.mark.parametrize(
    "name",
    [
        "labels.csv", "labels.tsv", "labels.txt", "tabs.txt", "semicolons.csv", "labels.csv.gz", "labels.tsv.bz2",
        "LABELS.CSV", "labels.parquet", "labels.feather", "labels.arrow", "labels.npz",
    ],
)  # fmt: skip
def test_every_kind_of_file_holds_the_same_columns(folder, name):
    """Names and values of the columns do not depend on the kind of file, its separator or its compression."""
    columns = files.read_columns(folder / name)
    assert list(columns) == ["cell", "truth", "leiden"]
    assert {key: listed(values) for key, values in columns.items()} == COLUMNS
    assert cg.ari(columns["truth"], columns["leiden"]) == cg.ari(COLUMNS["truth"], COLUMNS["leiden"])
    assert {key: listed(values) for key, values in files.read_columns(str(folder / name)).items()} == COLUMNS


@pytest.mark.parametrize("separator", ["\t", ";", ","])
def test_quoted_separators_do_not_count(tmp_path, separator):
    """A quoted name or label may hold the separators of other files, and line breaks."""
    frame = pd.DataFrame(
        {"cell": ["p", "q", "r"], "type, fine": ["1,5", "1;5", "a\tb"], "two\nlines; b": ["x", "x", "y"]}
    )
    frame.to_csv(tmp_path / "quoted.csv", index=False, sep=separator, quoting=1)
    columns = files.read_columns(tmp_path / "quoted.csv")
    assert {key: listed(values) for key, values in columns.items()} == frame.to_dict("list")
    (tmp_path / "few.csv").write_text(f'cell{separator}"type, fine"\np{separator}x\nq{separator}y\n')
    assert list(files.read_columns(tmp_path / "few.csv")) == ["cell", "type, fine"]


def test_listed_columns_may_begin_or_end_with_a_space():
    """Spaces around commas are left out, unless a column is called so."""
    there = ["B ", " lead", "x, y", "c"]
    assert named_columns("B , lead,x, y", there) == ["B ", " lead", "x, y"]
    assert named_columns(" c , 'x, y'", there) == ["c", "x, y"]


def test_arrays_in_numpy_files(tmp_path):
    """A 1-D array is a column, 2-D integers are label columns, a 2-D float array is one clustering of memberships."""
    np.save(tmp_path / "one.npy", np.array([0, 0, 1]))
    np.save(tmp_path / "two.npy", np.array([[0, 5], [0, 6], [1, 6]]))
    np.save(tmp_path / "soft.npy", np.array([[0.5, 0.5], [1.0, 0.0], [0.0, 1.0]]))
    np.save(tmp_path / "column.npy", np.array([[0.0], [0.0], [1.0]]))
    np.save(tmp_path / "words.npy", np.array(["x", "y", "y"]))
    assert {k: listed(v) for k, v in files.read_columns(tmp_path / "one.npy").items()} == {"one": [0, 0, 1]}
    assert {k: listed(v) for k, v in files.read_columns(tmp_path / "two.npy").items()} == {
        "two_0": [0, 0, 1],
        "two_1": [5, 6, 6],
    }
    soft = files.read_columns(tmp_path / "soft.npy")["soft"]
    assert isinstance(soft, cg.Memberships)
    assert listed(files.read_columns(tmp_path / "column.npy")["column"]) == [0, 0, 1]
    assert listed(files.read_columns(tmp_path / "words.npy")["words"]) == ["x", "y", "y"]


@pytest.mark.parametrize("word", ["", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "None", "<NA>", '""'])
def test_missing_labels_in_text(tmp_path, word):
    """Empty fields and the default NA values are missing labels, among numbers and among text."""
    file = tmp_path / "gaps.csv"
    file.write_text(f"number,word\n1,x\n{word},{word}\n2,y\n1,x\n")
    columns = files.read_columns(file)
    assert listed(columns["number"]) == [1, None, 2, 1]
    assert listed(columns["word"]) == ["x", None, "y", "x"]
    assert cg.compare(columns["number"], columns["word"], "ari", unassigned="drop").n_used == 3


def test_dates_in_text_are_labels(tmp_path):
    """Dates in a text file are labels, as written."""
    file = tmp_path / "dates.csv"
    file.write_text(
        "day,time,stamp,k\n2024-05-01,12:30,2024-05-01 12:30:00,0\n2024-05-02,12:31,2024-05-02 00:00:00,1\n"
    )
    columns = files.read_columns(file)
    assert listed(columns["day"]) == ["2024-05-01", "2024-05-02"]
    assert cg.compare_all({k: columns[k] for k in columns})["ari"].tolist() == [[1.0] * 4] * 4


UNREADABLE = {
    "missing.csv": (None, "there is no file .*missing.csv"),
    "empty.csv": (b"", "empty.csv could not be read: Empty CSV file"),
    "head.csv": (b"a,b\n", "head.csv has no rows"),
    "ragged.csv": (b"a,b\n1,2\n3\n", "ragged.csv could not be read: .*Expected 2 columns, got 1"),
    "twice.csv": (b"a,a\n1,2\n", "two columns are named 'a'"),
    "labels.docx": (b"PK", r"files of kind .docx cannot be read; use .csv"),
    "labels.xlsx": (b"PK", r"labels.xlsx(: Excel and ODS files are read by| could not be read)"),
    "labels.json": (b"{", r"labels.json is not JSON"),
    "flat.json": (b"[1, 2]", r"a table in JSON is a list of records"),
    "labels.pkl": (pickle.dumps([1, 2]), "files of kind .pkl cannot be read"),
    "labels": (b"a,b\n1,2\n", r"files of kind \(none\) cannot be read"),
    "labels.csv.xz": (b"\xfd7zXZ", "files of kind .xz cannot be read"),
    "not.parquet": (b"a,b\n1,2\n", "not.parquet could not be read"),
    "empty.parquet": (b"", "empty.parquet could not be read"),
    "not.feather": (b"a,b\n1,2\n", "not.feather could not be read"),
    "not.npy": (b"a,b\n1,2\n", "not.npy could not be read"),
    "empty.npy": (b"", "empty.npy could not be read"),
    "not.npz": (b"a,b\n1,2\n", "not.npz could not be read"),
    "zip.npz": (b"PK\x03\x04 and no more", "zip.npz could not be read"),
    "not.csv.gz": (b"a,b\n1,2\n", "not.csv.gz could not be read"),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_unreadable_files_are_an_error_of_one_line(tmp_path, name):
    """Missing, empty, truncated and foreign files are InputErrors that name the file in one line."""
    content, text = UNREADABLE[name]
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(cg.InputError, match=text) as error:
        files.read_columns(tmp_path / name)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", ["labels.csv.gz", "labels.parquet", "labels.feather", "labels.npz"])
def test_torn_files_are_refused(folder, name):
    """A truncated file is refused, not read in part."""
    whole = (folder / name).read_bytes()
    for kept in (10, len(whole) // 2, len(whole) - 5):
        (folder / name).write_bytes(whole[:kept])
        with pytest.raises(cg.InputError, match="could not be read") as error:
            files.read_columns(folder / name)
        assert "\n" not in str(error.value)


def test_a_folder_is_not_a_file(tmp_path):
    """A folder is refused by name."""
    (tmp_path / "labels.csv").mkdir()
    with pytest.raises(cg.InputError, match="is a folder, not a file"):
        files.read_columns(tmp_path / "labels.csv")


class Bomb:
    """Runs code when it is unpickled."""

    def __init__(self, target: str) -> None:
        self.target = target

    def __reduce__(self) -> Any:
        return Path.touch, (Path(self.target),)


def test_nothing_is_ever_unpickled(tmp_path):
    """Object arrays in npy and npz files, which would run code, are refused and their code does not run."""
    trace = tmp_path / "code-ran"
    bombs = np.array([Bomb(str(trace))] * 2, dtype=object)
    np.save(tmp_path / "bomb.npy", bombs, allow_pickle=True)
    np.savez(tmp_path / "bomb.npz", x=bombs, allow_pickle=True)
    (tmp_path / "raw.npy").write_bytes(pickle.dumps(bombs))
    (tmp_path / "raw.npz").write_bytes(pickle.dumps(bombs))
    for name in ("bomb.npy", "bomb.npz", "raw.npy", "raw.npz"):
        with pytest.raises(cg.InputError, match=f"{name}.* could not be read"):
            files.read_columns(tmp_path / name)
    assert not trace.exists()


def test_arrays_that_do_not_fit(tmp_path):
    """Arrays of different lengths, of three dimensions, or none at all, are refused."""
    np.savez(tmp_path / "uneven.npz", x=np.zeros(3, int), y=np.zeros(4, int))
    np.save(tmp_path / "cube.npy", np.zeros((2, 2, 2)))
    np.savez(tmp_path / "nothing.npz")
    np.save(tmp_path / "negative.npy", -np.ones((3, 2)))
    for name, text in (
        ("uneven.npz", "arrays have different lengths .3 and 4."),
        ("cube.npy", "array cube has 3 dimensions"),
        ("nothing.npz", "holds no arrays"),
        ("negative.npy", "negative: memberships must not be negative"),
    ):
        with pytest.raises(cg.InputError, match=text):
            files.read_columns(tmp_path / name)


# --- choosing columns -------------------------------------------------------------------------------------------


def test_picking_columns():
    """Columns come in the requested order; a missing one raises an error with similar names, or with all names."""
    assert list(files.pick(COLUMNS, ["leiden", "truth"], "x.csv")) == ["leiden", "truth"]
    with pytest.raises(cg.InputError, match=r"x\.csv has no column 'leidn'; did you mean leiden\?"):
        files.pick(COLUMNS, ["leidn"], "x.csv")
    with pytest.raises(cg.InputError, match="it has: cell, truth, leiden"):
        files.pick(COLUMNS, ["zzz"], "x.csv")


def test_columns_of_row_names_are_left_out():
    """A column of words that differ in every row names the rows; so does a unique 'id' of numbers; labels stay."""
    arrow = {name: pa.chunked_array([values]) for name, values in COLUMNS.items()}
    kept, notes = without_ids(arrow)
    assert list(kept) == ["truth", "leiden"]
    assert notes == ["labels: truth, leiden · id: cell"]
    numbers = pa.chunked_array([[10, 11, 12]])
    assert list(without_ids({"id": numbers, "x": numbers})[0]) == ["x"]
    assert list(without_ids({"": numbers, "x": numbers})[0]) == ["x"]
    assert list(without_ids({"x": numbers, "y": numbers})[0]) == ["x", "y"]
    assert list(without_ids({"cell": arrow["cell"]})[0]) == ["cell"]


def test_joining_ids():
    """Rows are joined by id in the order of the first side; a note counts those without a partner."""
    a, b = joining.join(["p", "q", "r", None], ["r", "p", "s"], ("A", "B"))
    assert a.tolist() == [0, 2]
    assert b.tolist() == [1, 0]
    tables = [{"id": pa.array(ids)} for ids in (["p", "q", "r"], ["r", "p", "s"])]
    assert joining.joined_rows(tables, ("A", "B"), "id").notes == [
        "rows are joined by 'id': 2 points; 1 of 3 rows of A have no partner and are left out; "
        "1 of 3 rows of B have no partner and are left out"
    ]
    with pytest.raises(cg.InputError, match="A: id 'p' occurs more than once"):
        joining.join(["p", "p"], ["p"], ("A", "B"))
    with pytest.raises(cg.InputError, match=r"no id of A is in B \(as in 'p' and 'q'\)"):
        joining.join(["p"], ["q"], ("A", "B"))


@pytest.mark.parametrize("name", ["out.csv", "out.tsv", "out.parquet", "out.feather"])
def test_what_is_written_can_be_read(tmp_path, name):
    """A table written to any format is read back unchanged, and no partial file is left."""
    columns = {"clustering": ["x", "y"], "a, b": [1.0, 0.25], 'quo"te': [0.25, 1.0]}
    files.write_table(columns, tmp_path / name)
    assert {key: listed(values) for key, values in files.read_columns(tmp_path / name).items()} == columns
    assert [path.name for path in tmp_path.iterdir()] == [name]
    with pytest.raises(cg.InputError, match="can be written as"):
        files.write_table(columns, tmp_path / "out.xlsx")


# --- long tables ------------------------------------------------------------------------------------------------

LONG = {
    "id": ["p", "q", "r", "r", "p", "q", "q"],
    "method": ["x", "x", "x", "y", "y", "y", "z"],
    "label": ["0", "0", "1", "b", "a", "a", "0"],
}


@pytest.mark.parametrize("make", [dict, pd.DataFrame, pl.DataFrame, pa.table, lambda d: pd.DataFrame(d, index=[3] * 7)])
def test_long_tables_of_every_kind(make):
    """One row per point and method becomes one clustering per method; points are joined by id, missing ones are unassigned."""
    found = cg.from_long(make(LONG))
    assert list(found) == ["x", "y", "z"]
    assert [c.gaps for c in found.values()] == [0, 0, 2]
    r = cg.compare_all(found, ["ari"], unassigned="drop")
    assert r.names == ("x", "y", "z")
    assert r["ari"][0, 1] == 1.0
    assert r.n_used.tolist() == [[3, 3, 1], [3, 3, 1], [1, 1, 1]]
    with pytest.raises(cg.InputError, match="z: 2 of 3 points are unassigned"):
        cg.compare_all(found)
    assert cg.compare(found["x"], found["y"])["ari"] == 1.0


def test_long_tables_with_other_names_and_types():
    """The columns may have any names; ids, methods and labels may be numbers, and missing labels are gaps."""
    table = {"cell": [3, 1, 2, 1, 2, 3], "k": [5, 5, 5, 10, 10, 10], "cluster": [1, 0, 0, None, 7, 8]}
    found = cg.from_long(table, id="cell", method="k", label="cluster")
    assert list(found) == ["5", "10"]
    assert [c.gaps for c in found.values()] == [0, 1]
    assert cg.compare(*found.values(), "ari", unassigned="drop")["ari"] == 1.0
    assert found["5"].names.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("table", "options", "text"),
    [
        ({**LONG, "id": ["p", "p", *LONG["id"][2:]]}, {}, "two labels of method 'x' for id p"),
        ({**LONG, "id": [None, *LONG["id"][1:]]}, {}, "1 rows without 'id'"),
        ({**LONG, "method": [None, *LONG["method"][1:]]}, {}, "1 rows without 'method'"),
        ({**LONG, "id": LONG["id"][:3]}, {}, "have 3, 7 and 7 rows"),
        (LONG, {"method": "metod"}, "the long table has no column 'metod'; did you mean method?"),
        ([1, 2], {}, "expected a frame with columns for id, method and label, got list"),
    ],
)
def test_long_tables_that_make_no_sense(table, options, text):
    """Two labels for a point, rows without an id, columns that are missing or of other lengths: one line each."""
    with pytest.raises(cg.InputError, match=text) as error:
        cg.from_long(table, **options)
    assert "\n" not in str(error.value)


# --- objects with .obs ------------------------------------------------------------------------------------------


class Annotated:
    """A single-cell object: a frame of annotations, one row per cell."""

    def __init__(self, obs: pd.DataFrame) -> None:
        self.obs = obs


OBS = pd.DataFrame(
    {
        "leiden": pd.Categorical(["0", "0", "1", "1"], categories=["0", "1", "2"]),
        "cell_type": ["T", "T", "B", "B"],
        "doublet": [True, False, False, False],
        "nullable": pd.array([True, False, None, False], dtype="boolean"),
        "n_genes": [100, 200, 300, 400],
        "score": [0.1, 0.2, 0.3, 0.4],
        "barcode": ["AA", "AC", "AG", "AT"],
        "day": pd.to_datetime(["2024", "2024", "2025", "2025"]),
    },
    index=["c1", "c2", "c3", "c4"],
)


def test_label_columns_of_obs():
    """Columns of .obs that describe the points are no clusterings; a warning and a note say how each column is used."""
    with pytest.warns(
        UserWarning, match=r"\.obs: left out: doublet, nullable \(describe the points\); .* {'doublet': …}"
    ):
        r = cg.compare_all(Annotated(OBS), unassigned="drop")
    assert r.names == ("leiden", "cell_type")
    assert r["ari"][0, 1] == 1.0
    (note,) = (note for note in r.cautions if ".obs" in note)
    out = "doublet, nullable (describe the points), n_genes, score (measurements), day (dates)"
    assert note.endswith(f"· id: barcode · left out: {out}")
    assert type(r.to_frame("ari")).__module__.startswith("pandas")
    assert len(cg.Ensemble(Annotated(OBS[["leiden", "cell_type"]]))) == 2


def test_floats_of_obs_are_scores():
    """Floats of few values in .obs are no clustering unless their name says so, as of a clustering that leaves points out."""
    obs = pd.DataFrame(
        {"leiden": [0.0, 0.0, 1.0, np.nan] * 5, "kmeans": [0, 0, 1, 1] * 5, "quality": [0.25, 0.5, 1.0, 1.0] * 5}
    )
    with pytest.warns(UserWarning, match=r"left out: quality \(describe the points\)"):
        e = cg.Ensemble(Annotated(obs), unassigned="partial")
    assert e.names == ("leiden", "kmeans")


METADATA = pd.DataFrame(
    {
        "batch": ["1", "2", "1", "2"] * 5, "donor": list("abcd") * 5, "sex": list("FFMM") * 5, "phase": ["G1", "S"] * 10,
        "orig.ident": ["p1", "p2"] * 10, "predicted_doublet": [True, False] * 10, "chemistry": ["v3"] * 20,
        "n_genes_by_counts": [100, 200, 300, 400] * 5, "tissue_of_origin": ["lung", "gut"] * 10,
        "RNA_snn_res.0.8": pd.Categorical(["0"] * 8 + ["1"] * 12), "leiden": pd.Categorical(["0"] * 9 + ["1"] * 11),
        "louvain_2": pd.Categorical(["0"] * 10 + ["1"] * 10), "cell_type": ["T"] * 10 + ["B"] * 10,
    }
)  # fmt: skip


def test_obs_as_a_whole_answers_like_its_clusterings():
    """The usual annotations of cells change neither consensus nor report; cell types are the reference."""
    names = ["RNA_snn_res.0.8", "leiden", "louvain_2"]
    with pytest.warns(UserWarning, match="obs|reference") as said:
        whole = cg.Ensemble(Annotated(METADATA))
    assert whole.names == tuple(names)
    assert whole.reference[0] == "cell_type"
    texts = [str(one.message) for one in said]
    assert "batch, donor, sex, phase" in texts[0]
    assert "'cell_type' is the reference" in texts[1]
    alone = cg.consensus(METADATA[names], 2, random_state=0)
    assert cg.consensus(whole, 2, random_state=0).labels.tolist() == alone.labels.tolist()
    with pytest.warns(UserWarning, match="obs|reference"):
        report = cg.report(Annotated(METADATA))
    assert report.to_dict()["answer"]["labels"] == cg.report(METADATA[names]).to_dict()["answer"]["labels"]
    assert report.summary.answer.startswith("“louvain_2” recovers the reference")


def test_a_column_called_truth_does_not_vote():
    """A frame, a file and the command line set the reference apart; a mapping counts every column."""
    votes = {"a": [0, 0, 0, 1, 1, 1], "b": [0, 0, 1, 1, 1, 1], "truth": [0, 1, 1, 1, 2, 2]}
    with pytest.warns(UserWarning, match=r"column 'truth' is the reference, by its name, .* pass a mapping"):
        found = cg.consensus(pd.DataFrame(votes), 2, random_state=0)
    assert found.confidence.tolist() == cg.consensus({x: votes[x] for x in "ab"}, 2, random_state=0).confidence.tolist()
    assert "'truth' is the reference" in found.notes[0]
    assert len(cg.Ensemble(votes)) == 3
    assert cg.compare_all(pd.DataFrame(votes)).names == ("a", "b", "truth")
    with pytest.warns(UserWarning, match="truth"):
        by_name = cg.report(pd.DataFrame(votes))
    assert by_name.to_dict() | {"created": 0, "seconds": 0} == cg.report(pd.DataFrame(votes), reference="truth").to_dict() | {
        "created": 0, "seconds": 0,
    }  # fmt: skip


def test_obs_against_a_reference():
    """A column of .obs may be the reference, by name."""
    obs = OBS[["leiden", "cell_type"]].assign(louvain=["a", "b", "b", "a"])
    r = cg.compare_to("cell_type", Annotated(obs), "ari")
    assert r.names == ("leiden", "louvain")
    assert r.best("ari") == "leiden"


def test_obs_without_labels():
    """An .obs that has no label column is refused with the columns it has."""
    with pytest.raises(
        cg.InputError, match=r"no column of \.obs looks like labels: n_genes \(meas.*, score \(meas"
    ) as error:
        cg.compare_all(Annotated(OBS[["n_genes", "score"]]))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("format", ["csr", "csc", "bsr", "coo", "dia"])
def test_every_format_of_scipy_is_a_similarity_matrix(format, tmp_path):
    """save_npz of each format gives the same matrix; indices beyond its shape are refused."""
    matrix = np.array([[1.0, 0.5, 0.0], [0.5, 1.0, 0.0], [0.0, 0.0, 1.0]])
    sparse.save_npz(tmp_path / "m.npz", sparse.csr_array(matrix).asformat(format))
    found = files.read_columns(tmp_path / "m.npz")["m"]
    assert cg.arimp(found, [0, 0, 1]) == cg.arimp(cg.Similarity(matrix), [0, 0, 1])
    arrays = dict(np.load(tmp_path / "m.npz"))
    name = {"coo": "row", "dia": "offsets"}.get(format, "indices")
    arrays[name] = arrays[name] + (3 if format != "dia" else arrays[name] * 0 - arrays[name])
    np.savez(tmp_path / "m.npz", **arrays)
    with pytest.raises(cg.InputError, match="do not fit its shape"):
        files.read_columns(tmp_path / "m.npz")


@pytest.mark.parametrize(
    "kind", [pa.timestamp("ms"), pa.timestamp("us", "UTC"), pa.date32(), pa.duration("s"), pa.timestamp("s")], ids=str
)
def test_times_that_python_cannot_hold(kind, tmp_path):
    """They are read as text, with a warning; times that it can hold stay times."""
    whole = pa.int32() if kind == pa.date32() else pa.int64()
    for name, far in (("far", 2**30 if whole == pa.int32() else 2**61), ("near", 3)):
        feather.write_feather(
            pa.table({"when": pa.array([far, 0, None], whole).cast(kind)}), tmp_path / f"{name}.feather"
        )
    with pytest.warns(UserWarning, match="column 'when' holds times that Python cannot hold"):
        found = files.read_columns(tmp_path / "far.feather")["when"]
    assert found.to_pylist()[1:] == ["0", None]
    assert pa.types.is_temporal(files.read_columns(tmp_path / "near.feather")["when"].type)
    table = (
        feather.read_table(tmp_path / "far.feather").append_column("a", [[0, 1, 1]]).append_column("v", [[0.5, 1, 2]])
    )
    with pytest.raises(cg.InputError, match="holds times that Python cannot hold"):
        cg.drift(table, "a", "when")


def test_whole_numbers_that_are_left_out_of_a_frame_give_a_warning():
    """Labels with gaps look like measurements: a frame without them would be compared in silence."""
    few = np.arange(60) % 3
    gaps = np.arange(60) % 20 * 7 + 40
    with pytest.warns(
        UserWarning, match="gaps looks like measurements .* whole numbers from 40 to 173.; convert labels"
    ):
        assert cg.compare_all(pd.DataFrame({"a": few, "b": few, "gaps": gaps})).names == ("a", "b")
    assert cg.compare_all(pd.DataFrame({"a": few, "gaps": gaps}).astype({"gaps": str})).names == ("a", "gaps")
