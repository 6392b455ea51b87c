"""The commands compare, matrix, ensemble and consensus-matrix."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from cli_cases import KMEANS, LABELS, LEIDEN, TRUTH, refused, shown
from pyarrow import feather, parquet

import congruence as cg

# --- compare ---------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_compare_two_columns(congruence):
    """`compare FILE A B` prints the default measures of the two columns, by name."""
    said = congruence("compare", "labels.csv", "truth", "kmeans")
    assert said.code == 0
    assert said.err == "note: labels: truth, kmeans · id: cell · left out: leiden, weight, count (not named)\n"
    assert said.out.startswith("truth: 3 clusters, kmeans: 3 clusters, 8 points\n")
    expected = cg.compare(TRUTH, KMEANS)
    assert shown(said.out) == pytest.approx(dict(expected), abs=5e-5)


@pytest.mark.slow
@pytest.mark.parametrize(
    "write",
    {
        "labels.tsv": lambda name: LABELS.to_csv(name, index=False, sep="\t"),
        "labels.csv.gz": lambda name: LABELS.to_csv(name, index=False),
        "semicolons.csv": lambda name: LABELS.to_csv(name, index=False, sep=";"),
        "labels.parquet": lambda name: parquet.write_table(pa.Table.from_pandas(LABELS), name),
        "labels.feather": lambda name: feather.write_feather(LABELS, name),
        "labels.npz": lambda name: np.savez(name, truth=TRUTH, kmeans=np.array(KMEANS)),
    }.items(),
    ids=lambda item: item[0],
)
def test_every_kind_of_file(congruence, write):
    """csv, tsv, compressed and semicolon csv, parquet, feather and npz give the same result."""
    name, make = write
    make(name)
    said = congruence("compare", name, "truth", "kmeans", "--measures", "ari,vi", "--format", "json")
    assert said.code == 0
    assert json.loads(said.out)["values"] == cg.compare(TRUTH, KMEANS, ["ari", "vi"]).to_dict()


@pytest.mark.slow
def test_npy_files(congruence):
    """Columns of an integer npy file are numbered; a file of memberships is compared as soft."""
    np.save("labels.npy", LABELS[["truth", "leiden"]].to_numpy())
    said = congruence("compare", "labels.npy", "-m", "ari", "-f", "json")
    about = json.loads(said.out)
    assert about["clusterings"] == ["labels_0", "labels_1"]
    assert about["values"]["ari"] == cg.ari(TRUTH, LEIDEN)
    np.savez("soft.npz", u=np.eye(3)[TRUTH] * 0.8 + 0.2 / 3, truth=TRUTH)
    said = congruence("compare", "soft.npz", "-m", "ari", "-f", "json")
    assert json.loads(said.out)["self_values"] is not None


def test_columns_by_option(congruence):
    """--columns names the columns too, with or without an id column."""
    said = congruence("compare", "labels.csv", "--columns", "truth, kmeans", "-m", "ari", "-f", "json")
    assert json.loads(said.out)["values"] == {"ari": cg.ari(TRUTH, KMEANS)}
    LABELS[["cell", "truth", "kmeans"]].to_csv("three.csv", index=False)
    said = congruence("compare", "three.csv", "-m", "ari", "-f", "json")
    assert json.loads(said.out)["clusterings"] == ["truth", "kmeans"]
    assert said.err == "note: labels: truth, kmeans · id: cell\n"


def test_columns_whose_names_hold_commas(congruence):
    """Columns named one by one may have commas and spaces in their names."""
    Path("odd.csv").write_text('"k=3, seed 1","b"\n0,0\n0,0\n1,1\n')
    said = congruence("compare", "odd.csv", "k=3, seed 1", "b", "-m", "ari", "-f", "json")
    assert json.loads(said.out)["clusterings"] == ["k=3, seed 1", "b"]


def test_compare_with_a_reference(congruence):
    """--reference compares every other column with one: one row per clustering."""
    said = congruence(
        "compare", "labels.csv", "--reference", "truth", "--columns", "kmeans,leiden", "-m", "ari", "-f", "csv"
    )
    rows = list(csv.DictReader(io.StringIO(said.out)))
    assert [row["clustering"] for row in rows] == ["kmeans", "leiden"]
    assert [float(row["ari"]) for row in rows] == pytest.approx([cg.ari(TRUTH, KMEANS), cg.ari(TRUTH, LEIDEN)])
    said = congruence(
        "compare", "labels.csv", "--reference", "truth", "--weight", "weight", "--id", "cell", "-m", "ari"
    )
    assert said.code == 0
    assert "3 clusterings against truth" in said.out  # count is a column of labels here, weight and cell are not


def test_weights_and_counts(congruence):
    """--weight and --frequency name the columns that say how much each row counts."""
    said = congruence("compare", "labels.csv", "truth", "kmeans", "--weight", "weight", "-m", "ari", "-f", "json")
    expected = cg.ari(TRUTH, KMEANS, sample_weight=LABELS["weight"])
    assert json.loads(said.out)["values"]["ari"] == pytest.approx(expected, rel=1e-12)
    said = congruence("compare", "labels.csv", "truth", "kmeans", "--frequency", "count", "-m", "ari", "-f", "json")
    about = json.loads(said.out)
    assert about["values"]["ari"] == cg.ari(TRUTH, KMEANS, frequency=LABELS["count"])
    assert about["n_points"] == 12


@pytest.mark.slow
def test_compare_two_files_by_id(congruence):
    """Two files are joined by --id, in any order, and the command says how many rows did not match."""
    LABELS[["cell", "leiden"]].to_csv("a.csv", index=False)
    LABELS[["cell", "kmeans"]].iloc[[7, 3, 1, 0, 5, 2]].to_csv("b.csv", index=False)
    said = congruence("compare", "a.csv", "b.csv", "--id", "cell", "-m", "ari", "-f", "json")
    lost = "2 of 8 rows of a.csv have no partner and are left out"
    assert said.err.splitlines() == [
        f"note: rows are joined by 'cell': 6 points; {lost}",
        "note: a.csv: labels: leiden · id: cell",
        "note: b.csv: labels: kmeans · id: cell",
    ]
    about = json.loads(said.out)
    both = [0, 1, 2, 3, 5, 7]
    assert about["clusterings"] == ["leiden", "kmeans"]
    assert about["values"]["ari"] == cg.ari([LEIDEN[i] for i in both], [KMEANS[i] for i in both])
    LABELS[["cell", "leiden"]].iloc[::-1].to_csv("c.csv", index=False)
    said = congruence("compare", "a.csv", "c.csv", "--id", "cell", "-m", "ari", "-f", "json")
    assert said.err.startswith("note: rows are joined by 'cell': 8 points\n")
    about = json.loads(said.out)
    assert about["values"] == {"ari": 1.0}
    assert about["clusterings"] == ["a.csv:leiden", "c.csv:leiden"]


@pytest.mark.slow
def test_compare_two_files_row_by_row(congruence):
    """Files without ids are compared row by row, with a note; files that name their rows are joined, in any order."""
    LABELS[["truth"]].to_csv("a.csv", index=False)
    LABELS[["kmeans"]].to_csv("b.csv", index=False)
    said = congruence("compare", "a.csv", "b.csv", "-m", "ari", "-f", "json")
    assert json.loads(said.out)["values"]["ari"] == cg.ari(TRUTH, KMEANS)
    assert "no column of ids in common: row 1 of a.csv is compared with row 1 of b.csv" in said.err
    said = congruence("compare", "labels.csv", "labels.csv", "--columns", "truth,kmeans", "-m", "ari", "-f", "json")
    assert json.loads(said.out)["values"]["ari"] == cg.ari(TRUTH, KMEANS)
    LABELS[["cell", "kmeans"]].iloc[::-1].to_csv("c.csv", index=False)
    LABELS[["cell", "truth"]].to_csv("d.csv", index=False)
    said = congruence("compare", "d.csv", "c.csv", "-m", "ari", "-f", "json")
    assert json.loads(said.out)["values"]["ari"] == cg.ari(TRUTH, KMEANS)
    assert "joined by 'cell': 8 points" in said.err


# --- matrix ----------------------------------------------------------------------------------------------------------


def test_matrix_to_a_file(congruence):
    """`matrix FILE --measure ari --out m.csv` writes the matrix with names on both sides, and prints nothing else."""
    said = congruence("matrix", "labels.csv", "--columns", "truth,kmeans,leiden", "--measure", "ari", "--out", "m.csv")
    assert said.code == 0
    assert said.out == ""
    assert said.err.endswith("note: wrote m.csv\n")
    found = pd.read_csv("m.csv", index_col=0)
    expected = cg.compare_all([TRUTH, KMEANS, LEIDEN])["ari"]
    assert found.columns.tolist() == found.index.tolist() == ["truth", "kmeans", "leiden"]
    assert found.to_numpy() == pytest.approx(expected, rel=1e-12)
    assert not list(Path().glob("*.part"))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["m.tsv", "m.parquet", "m.feather", "m.npz", "m.json"])
def test_matrix_to_every_kind_of_file(congruence, name):
    """The matrix of one measure, and the pairs of several, can be written to every kind of file and read back."""
    expected = cg.compare_all([TRUTH, KMEANS, LEIDEN], ["ari", "vi"])
    for keys in ("ari", "ari,vi"):
        congruence("matrix", "labels.csv", "--columns", "truth,kmeans,leiden", "--measures", keys, "--out", name)
        if name == "m.npz":
            with np.load(name, allow_pickle=False) as found:
                assert found["names"].tolist() == ["truth", "kmeans", "leiden"]
                assert found["ari"].tolist() == expected["ari"].tolist()
        elif name == "m.json":
            assert json.loads(Path(name).read_text())["ari"] == expected["ari"].tolist()
        else:
            read = {
                "m.tsv": lambda f: pd.read_csv(f, sep="\t"),
                "m.parquet": pd.read_parquet,
                "m.feather": pd.read_feather,
            }
            frame = read[name](name)
            if keys == "ari":
                assert frame["clustering"].tolist() == ["truth", "kmeans", "leiden"]
                assert frame["kmeans"].tolist() == pytest.approx(expected["ari"][:, 1].tolist())
            else:
                assert frame["a"].tolist() == ["truth", "truth", "kmeans"]
                assert frame["vi"].tolist() == pytest.approx(expected["vi"][[0, 0, 1], [1, 2, 2]].tolist())


@pytest.mark.slow
def test_matrix_of_a_long_table(congruence):
    """--long id,method,label reads one row per point and method; --columns picks methods."""
    long = LABELS.melt(id_vars="cell", value_vars=["truth", "kmeans", "leiden"], var_name="method", value_name="label")
    long.sample(frac=1, random_state=0).iloc[1:].to_csv("long.csv", index=False)
    refused(congruence("matrix", "long.csv", "--long", "cell,method,label"), "1 of 8 points are unassigned")
    said = congruence("matrix", "long.csv", "--long", "cell,method,label", "--unassigned", "drop", "-f", "json")
    about = json.loads(said.out)
    assert sorted(about["names"]) == ["kmeans", "leiden", "truth"]
    assert min(min(row) for row in about["n_used"]) == 7
    said = congruence(
        "matrix",
        "long.csv",
        "--long",
        "cell,method,label",
        "--columns",
        "truth,leiden",
        "--unassigned",
        "drop",
        "-f",
        "json",
    )
    assert json.loads(said.out)["names"] == ["truth", "leiden"]


@pytest.mark.slow
def test_unassigned_and_noise(congruence):
    """--noise -1, --noise COLUMN=-1 and empty fields are unassigned; --unassigned says what becomes of them."""
    Path("gaps.csv").write_text("x,y\n0,0\n-1,0\n1,-1\n,1\n1,1\n")
    refused(congruence("compare", "gaps.csv", "x", "y"), "x: 1 of 5 points are unassigned")
    refused(congruence("compare", "gaps.csv", "x", "y", "--noise", "-1"), "2 of 5 points are unassigned")
    refused(
        congruence("compare", "gaps.csv", "x", "y"),
        "pass --unassigned drop, singletons or cluster to say how they count",
    )
    x, y = [0, -1, 1, None, 1], [0, 0, -1, 1, 1]
    for words, options in (
        (["--unassigned", "drop"], {"unassigned": "drop"}),
        (["--unassigned", "singletons"], {"unassigned": "singletons"}),
        (["--unassigned", "cluster"], {"unassigned": "cluster"}),
        (["--unassigned", "drop", "--noise", "-1"], {"unassigned": "drop", "noise": -1}),
        (["--unassigned", "drop", "--noise", "-1,0"], {"unassigned": "drop", "noise": {-1, 0}}),
        (["--unassigned", "drop", "--noise", "y=-1"], {"unassigned": "drop", "noise": {"b": -1}}),
        (["--unassigned", "drop", "--noise", "x=-1;y=-1,0"], {"unassigned": "drop", "noise": {"a": -1, "b": {-1, 0}}}),
    ):
        said = congruence("compare", "gaps.csv", "x", "y", "-m", "ari,vi", "-f", "json", *words)
        expected = cg.compare(x, y, ["ari", "vi"], **options)
        assert json.loads(said.out)["values"] == expected.to_dict(), words
        assert json.loads(said.out)["n_points"] == expected.n_used
        named = {{"a": "x", "b": "y"}.get(k, k): v for k, v in options["noise"].items()} if "=" in words[-1] else None
        noise = named if named is not None else options.get("noise")
        matrix = cg.compare_all({"x": x, "y": y}, unassigned=options["unassigned"], noise=noise)
        said = congruence("matrix", "gaps.csv", "-f", "json", *words)
        assert json.loads(said.out)["ari"] == matrix["ari"].tolist()


def test_cautions_name_the_columns(congruence):
    """The caution about −1 names the column of the file."""
    said = congruence("compare", "labels.csv", "truth", "leiden", "-m", "ari")
    assert "! leiden has label −1 among others" in said.out


# --- ensembles and matrices ------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_an_ensemble_is_described(congruence):
    """Agreement, certainty with its baseline, diversity, members by agreement with the rest, and the reference."""
    said = congruence(
        "ensemble", "labels.csv", "--columns", "kmeans,leiden", "--reference", "truth", "--format", "json"
    )
    assert said.code == 0
    about = json.loads(said.out)
    members = cg.Ensemble({"kmeans": KMEANS, "leiden": LEIDEN})
    facts = about["ensemble"]
    assert facts["members"] == 2
    assert facts["certainty"] == members.certainty()
    assert facts["certainty of random members"] == cg.certainty_random(4, 2)
    assert facts["pnmi (low is diverse)"] == members.pnmi()
    assert facts["mean ari"] == cg.ari(KMEANS, LEIDEN)
    assert facts["arimp with truth"] == pytest.approx(members.arimp(TRUTH), rel=1e-12)
    assert about["mean ari of members with the rest"].keys() == {"kmeans", "leiden"}
    shown = congruence("ensemble", "labels.csv", "--columns", "kmeans,leiden", "--reference", "truth")
    assert "certainty of random members" in shown.out
    assert "mean ari with the rest" in shown.out


@pytest.mark.slow
def test_two_ensembles_are_compared(congruence):
    """--against reads a second ensemble of the same points."""
    LABELS[["truth", "kmeans"]].to_csv("second.csv", index=False)
    said = congruence("ensemble", "labels.csv", "--columns", "kmeans,leiden", "--against", "second.csv", "-f", "json")
    first, second = cg.Ensemble({"k": KMEANS, "l": LEIDEN}), cg.Ensemble({"t": TRUTH, "k": KMEANS})
    assert json.loads(said.out)["against"]["arimm"] == pytest.approx(first.arimm(second), rel=1e-12)
    LABELS[["truth", "kmeans"]].iloc[:5].to_csv("short.csv", index=False)
    wrong = congruence("ensemble", "labels.csv", "--columns", "kmeans,leiden", "--against", "short.csv")
    assert wrong.code == 2
    assert "labels.csv has 8 rows and short.csv has 5" in wrong.err


@pytest.mark.slow
def test_partial_members_need_an_option(congruence):
    """A file with gaps is refused without --partial."""
    pd.DataFrame({"x": [0, 0, 1, None], "y": [0, None, 1, 1], "z": [0, 0, 1, 1]}).to_csv("gaps.csv", index=False)
    assert "are unassigned" in congruence("ensemble", "gaps.csv").err
    said = congruence("ensemble", "gaps.csv", "--partial", "--missing", "plain", "--format", "json")
    members = cg.Ensemble("gaps.csv", unassigned="partial")
    facts = json.loads(said.out)["ensemble"]
    assert facts["certainty"] == cg.certainty(members, missing="plain")


@pytest.mark.slow
@pytest.mark.parametrize("out", ["M.npz", "M.npy"])
def test_a_consensus_matrix_is_written_and_compared(congruence, out):
    """consensus-matrix writes what compare reads back as a similarity matrix."""
    assert congruence("consensus-matrix", "labels.csv", "--columns", "kmeans,leiden", "--out", out).code == 0
    LABELS[["truth"]].to_csv("truth.csv", index=False)
    said = congruence("compare", out, "truth.csv", "--format", "json")
    values = json.loads(said.out)["values"]
    members = cg.Ensemble({"kmeans": KMEANS, "leiden": LEIDEN})
    assert values["arimp"] == pytest.approx(members.arimp(TRUTH), rel=1e-12)
    assert values["kas"] == pytest.approx(members.kas(TRUTH), rel=1e-12)


@pytest.mark.slow
def test_a_sparse_consensus_matrix_is_written_and_compared(congruence):
    """With --threshold only larger entries are kept, in a file that scipy.sparse can load too."""
    from scipy.sparse import load_npz

    said = congruence(
        "consensus-matrix", "labels.csv", "--columns", "kmeans,leiden", "-o", "S.npz", "--threshold", "0.9"
    )
    assert said.code == 0
    members = cg.Ensemble({"kmeans": KMEANS, "leiden": LEIDEN})
    kept = members.consensus_matrix(threshold=0.9)
    assert load_npz("S.npz").toarray().tolist() == kept.toarray().tolist()
    LABELS[["truth"]].to_csv("truth.csv", index=False)
    said = congruence("compare", "S.npz", "truth.csv", "--measures", "arimp", "--format", "json")
    assert json.loads(said.out)["values"]["arimp"] == pytest.approx(cg.arimp(kept, TRUTH), rel=1e-12)


def test_a_consensus_matrix_goes_into_a_file_of_its_kind(congruence):
    """A csv of n × n numbers is not offered; the error names what is."""
    said = congruence("consensus-matrix", "labels.csv", "--columns", "kmeans,leiden", "--out", "M.csv")
    assert said.code == 2
    assert ".npz or .npy" in said.err


def test_an_interrupt_ends_with_one_line(congruence, monkeypatch):
    """Ctrl-C ends with exit code 130 and a message, not with a traceback."""

    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(cg, "compare_all", interrupted)
    said = congruence("matrix", "labels.csv", "--columns", "truth,kmeans")
    assert said.code == 130
    (line,) = said.refusal
    assert line.startswith("congruence: stopped; with --checkpoint FOLDER")


@pytest.mark.slow
def test_threads_reach_a_single_pair(congruence, monkeypatch):
    """--threads is passed on for two columns and for two files, not only for many."""
    seen = []
    plain = cg.compare
    monkeypatch.setattr(
        cg, "compare", lambda *args, **options: seen.append(options["threads"]) or plain(*args, **options)
    )
    LABELS[["truth"]].to_csv("truth.csv", index=False)
    LABELS[["kmeans"]].to_csv("kmeans.csv", index=False)
    assert congruence("compare", "labels.csv", "truth", "kmeans", "--threads", "1").code == 0
    assert congruence("compare", "truth.csv", "kmeans.csv", "--threads", "1").code == 0
    assert seen == [1, 1]


def test_a_reference_that_a_long_table_lacks_is_one_line(congruence):
    """An unknown method gives an error with similar names, not a traceback."""
    rows = [(i, method, i // 4) for method in ("x", "y") for i in range(8)]
    pd.DataFrame(rows, columns=["id", "method", "label"]).to_csv("long.csv", index=False)
    said = congruence("ensemble", "long.csv", "--long", "id,method,label", "--reference", "z")
    assert said.code == 2
    assert "no column 'z'" in said.err


@pytest.mark.slow
def test_ensembles_in_another_order_are_joined(congruence):
    """Row names in another order are the same points; the values are those of rows in one order."""
    turned = LABELS[["cell", "truth", "kmeans"]].iloc[::-1]
    turned.to_csv("turned.csv", index=False)
    for extra in ((), ("--id", "cell")):
        said = congruence(
            "ensemble", "labels.csv", "--columns", "kmeans,leiden", "--against", "turned.csv", *extra, "-f", "json"
        )
        assert "joined by 'cell': 8 points" in said.err
        first, second = cg.Ensemble({"k": KMEANS, "l": LEIDEN}), cg.Ensemble({"t": TRUTH, "k": KMEANS})
        assert json.loads(said.out)["against"]["arimm"] == pytest.approx(first.arimm(second), rel=1e-12)


@pytest.mark.parametrize(
    "words",
    [
        ("compare", "labels.csv", "truth", "kmeans"), ("match", "labels.csv", "truth", "kmeans"),
        ("contingency", "labels.csv", "truth", "kmeans"), ("matrix", "labels.csv"), ("points", "labels.csv"),
        ("ensemble", "labels.csv", "--reference", "truth"), ("consensus", "labels.csv", "--k", "3", "--seed", "0"),
    ],
    ids=lambda words: words[0],
)  # fmt: skip
def test_a_file_is_parsed_once_per_command(congruence, monkeypatch, words):
    """Ids, weights and labels of a command come from one reading of its file."""
    from congruence.inputs import files

    opened, own = [], files.text_reader
    monkeypatch.setattr(files, "text_reader", lambda *given, **how: opened.append(given) or own(*given, **how))
    assert congruence(*words, "--id", "cell").code == 0
    assert len(opened) == 1


def test_the_pairs_of_an_ensemble_are_counted_once(congruence, monkeypatch):
    """One pass over all pairs of members serves every mean of pairs and the ranking of members."""
    from congruence.engine import cpu

    passes, own = [], cpu.statistics
    monkeypatch.setattr(cpu, "statistics", lambda *given, **how: passes.append(given[1:]) or own(*given, **how))
    assert congruence("ensemble", "labels.csv", "--id", "cell").code == 0
    assert [{need.__name__ for need in needs} for runs, needs in passes if len(runs) > 1] == [{"Gram", "Info", "Pairs"}]


def test_help_quiet_json_and_replaced_files(congruence):
    """`help` shows the help of a command, -q prints no notes, --json is a format, and a file that was there is named."""
    assert congruence("help", "match").out == congruence("match", "--help").out
    assert "Commands" in congruence("help").out
    words = ("compare", "labels.csv", "kmeans", "leiden", "--measures", "ari")
    loud, quiet = congruence(*words, "--json"), congruence(*words, "--json", "-q")
    assert "note: " in loud.err
    assert quiet.err == ""
    assert quiet.out == loud.out == congruence(*words, "--format", "json").out
    assert "replaced" not in congruence(*words, "--out", "v.csv").err
    assert "note: replaced v.csv, which was there before" in congruence(*words, "--out", "v.csv").err


def test_two_files_and_more_columns(congruence, folder):
    """Three columns of two files are refused: column a of one would be compared with column b of the other."""
    (folder / "b.csv").write_bytes((folder / "labels.csv").read_bytes())
    code, _, err = congruence("compare", "labels.csv", "b.csv", "--columns", "kmeans,leiden,truth")
    assert code == 2
    assert "--columns names 3 columns (kmeans, leiden, truth)" in err


@pytest.mark.parametrize("name", ["u.csv", "u.parquet"])
def test_columns_that_add_up_to_1_are_memberships(congruence, folder, name):
    """Memberships come from a table: the values are those of the matrix."""
    rng = np.random.default_rng(0)
    first, second = rng.dirichlet([1, 1, 1], 20), rng.dirichlet([1, 1], 20)
    for file, matrix in ((name, first), ("v.csv", second)):
        frame = pd.DataFrame(matrix, columns=list("pqr")[: matrix.shape[1]]).assign(cell=[f"c{i}" for i in range(20)])
        frame.to_csv(file, index=False) if file.endswith("csv") else frame.to_parquet(file)
    found = json.loads(congruence("compare", name, "v.csv", "--measures", "fari,ndc", "--json").out)["values"]
    assert found == pytest.approx({key: cg.compare(first, second, [key])[key] for key in ("fari", "ndc")}, rel=1e-9)


def test_choose_k_fits_a_terminal_and_writes_labels(congruence, folder):
    """The table of 8 criteria is at most 80 wide, with a legend; the warning about scales comes before the verdict."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60, 2)) + np.repeat([[0, 0], [9, 9]], 30, axis=0)
    pd.DataFrame({"cell": [f"c{i}" for i in range(60)], "x": x[:, 0], "wide": x[:, 1] * 1e4}).to_csv(
        "n.csv", index=False
    )
    criteria = "silhouette,gap,bic,icl,calinski_harabasz,davies_bouldin,pac,jump"
    words = ("choose-k", "n.csv", "--k", "1..3", "--criteria", criteria)
    said = congruence(*words, "--labels", "l.csv")
    assert max(map(len, said.out.splitlines())) <= 80
    assert "One row per k; ↑ higher is better, ↓ lower is better, * the k that this" in said.out
    assert said.out.index("differ in") < said.out.index("One row per k") < said.out.index("of 8 criteria")
    written = pd.read_csv("l.csv")
    assert written["cell"].tolist() == [f"c{i}" for i in range(60)]
    assert len(written["cluster"]) == 60
    assert "--labels labels.csv" in congruence(*words).err
