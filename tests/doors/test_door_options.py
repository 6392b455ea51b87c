"""Options of the commands: flags, choices, pages that open, sheets, memory, progress."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import typer

import congruence as cg
from congruence import cli
from congruence.machine import memory
from congruence.scanning.scan import scan

RNG = np.random.default_rng(3)
app = import_module("congruence.cli.app")  # `congruence.cli.app` is the application
COMMANDS = typer.main.get_command(cli.app).commands  # type: ignore[attr-defined]


def labels(n: int = 60) -> pd.DataFrame:
    return pd.DataFrame({name: RNG.integers(0, 3, n) for name in ("truth", "kmeans", "leiden")})


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_flags_show_as_flags(command, monkeypatch, name):
    """An option that takes no value has no type in the help; lists of words are choices."""
    monkeypatch.setenv("COLUMNS", "200")
    text = command(name, "--help")[1]
    assert "bool" not in text
    for line in text.splitlines():
        if "<str>" in line:
            assert not re.search(r"<str>\s+\w+(, \w+)+ or \w+\.", line), line


def test_the_matrix_is_printed(command, monkeypatch):
    """Long names are shortened in the middle, never to the same text; above 20 columns the option that shows all is named."""
    monkeypatch.setenv("COLUMNS", "200")
    name = "a_very_long_name_of_a_clustering_with_seed_{}_and_resolution_1.0"
    pd.DataFrame({name.format(i): RNG.integers(0, 3, 30) for i in range(3)}).to_csv("long.csv", index=False)
    shown = [line.split()[0] for line in command("matrix", "long.csv")[1].splitlines()[3:6]]
    assert len(set(shown)) == 3
    assert all("…" in x and x.startswith("a_very") and x.endswith("resolution_1.0") for x in shown)
    for many in (20, 21):
        pd.DataFrame({f"run{i}": RNG.integers(0, 3, 30) for i in range(many)}).to_csv("many.csv", index=False)
        _, out, err = command("matrix", "many.csv")
        assert (out.count(" 1.00") == 20) == (many == 20)
        assert ("21 columns: --format csv prints all values, --out FILE writes them" in err) == (many == 21)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            "compare t.csv kmeans leiden --permutations 10",
            "--permutations has no effect without --p-values; leave it out",
        ),
        ("compare t.csv kmeans leiden --correction bh", "--correction has no effect without --p-values; leave it out"),
        (
            "compare t.csv kmeans leiden --p-values --correction bh",
            "--correction is for several columns and a reference",
        ),
        ("compare t.csv kmeans leiden --level 0.9", "--level has no effect without --ci; leave it out"),
        ("compare t.csv kmeans leiden --keys points", "--keys has no effect without covers in JSON; leave it out"),
        ("matrix t.csv --n 40", "--n has no effect without covers; leave it out"),
        ("ensemble t.csv --missing plain", "--missing has no effect without --partial; leave it out"),
        ("consensus-matrix t.csv --missing ratio -o m.npz", "--missing has no effect without --partial; leave it out"),
        ("consensus t.csv --k 2 --select-by joint", "--select-by has no effect without --select; leave it out"),
        ("generate t.csv -o g.csv --fraction 0.5", "--fraction has no effect without --method subsample or mixed"),
        (
            "consensus t.csv --k 2 --solver builtin",
            "--solver has no effect without a method that cuts a graph, such as mcla",
        ),
        (
            "consensus t.csv --k 2 --method kcc --balance 0.2",
            "--balance has no effect without a method that cuts a graph",
        ),
        ("measures ari --historical", "--historical has no effect without the list of all measures"),
        ("compare t.csv kmeans leiden --seed 1", "--seed has no effect without --p-values or --ci; leave it out"),
        ("adco t.csv --labels kmeans --labels leiden --seed 1", "--seed has no effect without --sizes sample"),
        ("hierarchies a.nwk b.nwk --id name", "--id has no effect without a table; leave it out"),
        (
            "alternatives t.csv --labels truth --features kmeans --method coala --n-init 3",
            "--n-init has no effect without a method with random",
        ),
        ("choose-k t.csv --columns truth --data-columns kmeans", "are the same option; give one of them"),
        ("resolutions t.csv --least 0.2", "--least has no effect without --plot; leave it out"),
        (
            "drift t.csv --window kmeans --labels leiden --binning mdl --bins 5",
            "--bins has no effect without --binning width",
        ),
        (
            "adco t.csv --labels kmeans --labels leiden --layer X_pca",
            "--layer has no effect without an .h5ad file; leave it out",
        ),
    ],
)
def test_an_option_without_effect_is_an_error(command, line, said):
    """Options are never ignored: one line names the option and what it needs, even if the value is the default."""
    labels().to_csv("t.csv", index=False)
    code, out, err = command(*line.split())
    assert (code, out) == (2, "")
    *notes, last = err.splitlines()
    assert last.startswith("congruence: ")
    assert said in last
    assert all(line.startswith("note: ") for line in notes)


def choices(command: str, option: str) -> set[str]:
    found = next(p for p in COMMANDS[command].params if option in p.opts)
    described: Any = getattr(found, "type_descriptor", None) or found.type  # newer and older versions of typer
    return set(described.choices)


def test_choices_are_those_of_the_library():
    """The choices in the help are those that the functions accept."""
    from congruence.alternative_clustering import search
    from congruence.density.binning import METHODS
    from congruence.ensembles.generators import makers_of
    from congruence.ensembles.soft_generators import Mixtures

    assert choices("alternatives", "--method") == {"auto", *search.METHODS}
    assert choices("alternatives", "--binning") == choices("drift", "--binning") == set(METHODS)
    assert choices("compare", "--engine") == {"auto", "cpu", "cuda"}
    for method in choices("generate", "--method"):
        assert makers_of(method, 0.8, True, False, Mixtures())
    for way in choices("consensus", "--select-by"):
        assert len(cg.select_members(cg.Ensemble(dict(labels())), 2, way, random_state=0)) == 2
    for word in choices("ensemble", "--missing"):
        assert 0 <= cg.certainty(cg.Ensemble(dict(labels())), missing=word) <= 1


def test_a_wrong_choice_is_one_line(command):
    """The line names the choices."""
    labels().to_csv("t.csv", index=False)
    code, _, err = command("matrix", "t.csv", "--engine", "gpu")
    assert code == 2
    assert err.count("\n") == 1
    assert "'cuda'" in err


@pytest.mark.slow
def test_open_shows_what_was_written(command, monkeypatch):
    """--open is an option of every command that writes a page; without a file to write it is an error."""
    pages: list[str] = []
    monkeypatch.setattr("webbrowser.open", pages.append)
    frame = pd.DataFrame({"leiden_1": [0, 0, 0, 1, 1, 1] * 3, "leiden_2": [0, 0, 1, 1, 2, 2] * 3})
    frame.to_csv("r.csv", index=False)
    Path("a.nwk").write_text("((x:1,y:1):1,(z:1,w:1):1);")
    Path("b.nwk").write_text("((x:1,z:1):1,(y:1,w:1):1);")
    pd.DataFrame(RNG.normal(size=(30, 2)), columns=["x", "y"]).to_csv("n.csv", index=False)
    for words in (
        ("resolutions", "r.csv", "--plot", "tree.html"),
        ("hierarchies", "a.nwk", "b.nwk", "--plot", "two.html"),
        ("choose-k", "n.csv", "--k", "2..3", "--plot", "k.html"),
        ("report", "r.csv", "--out", "report.html"),
    ):
        assert command(*words, "--open")[0] == 0
        assert pages.pop() == Path(words[-1]).resolve().as_uri()
        assert Path(words[-1]).stat().st_size > 1000
    code, _, err = command("resolutions", "r.csv", "--open")
    assert code == 2
    assert "--open has no effect without --plot" in err
    assert "--open" in command("demo", "--help")[1]


@pytest.mark.slow
def test_a_sheet_is_chosen(command):
    """--sheet takes a name or a number; without it the first is read, with a warning."""
    pytest.importorskip("openpyxl", reason="openpyxl makes the file")
    pytest.importorskip("python_calamine", reason="python-calamine reads it")
    first, second = labels(), labels()
    with pd.ExcelWriter("book.xlsx") as book:
        first.to_excel(book, sheet_name="January", index=False)
        second.to_excel(book, sheet_name="February", index=False)
    words = ("compare", "book.xlsx", "kmeans", "leiden", "-m", "ari", "-f", "json")
    for sheet, frame in (("January", first), ("February", second), ("2", second)):
        found = json.loads(command(*words, "--sheet", sheet)[1])["values"]["ari"]
        assert found == cg.ari(frame["kmeans"].tolist(), frame["leiden"].tolist())
    assert "2 sheets; the first, 'January', was read" in command(*words)[2]
    assert "has no sheet 'Febuary'; did you mean February?" in command(*words, "--sheet", "Febuary")[2]
    first.to_csv("t.csv", index=False)
    assert "t.csv has no sheets; leave out --sheet" in command("matrix", "t.csv", "--sheet", "1")[2]


def test_progress_without_a_terminal(command, tmp_path):
    """One line per 10% on stderr, of work in memory and of scans; none without --progress."""
    frame = pd.DataFrame({f"c{i}": RNG.integers(0, 3, 50) for i in range(6)})
    frame.to_csv("t.csv", index=False)
    folder = tmp_path / "d"
    folder.mkdir()
    for part in range(20):
        frame.to_parquet(folder / f"{part:02}.parquet", index=False)
    for file in ("t.csv", "d"):
        code, _, err = command("matrix", file, "--progress", "--threads", "1")
        lines = re.findall(r"^(\d+)% \(", err, re.MULTILINE)
        assert code == 0
        assert lines == sorted(set(lines), key=int)
        assert lines[-1] == "100"
        assert len(lines) <= 10
        assert "%" not in command("matrix", file)[2]
    said: list[tuple[int, int]] = []
    cg.compare_all(frame, progress=lambda done, total: said.append((done, total)))
    assert said[-1][0] == said[-1][1]


def test_a_damaged_part_is_reported_when_it_is_met(command, tmp_path, caplog):
    """With --skip-bad the line comes while the scan runs, before the result; the result lists it too."""
    folder = tmp_path / "d"
    folder.mkdir()
    for part in range(4):
        labels().to_parquet(folder / f"{part}.parquet", index=False)
    (folder / "2.parquet").write_bytes(b"broken")
    met: list[str] = []

    def heard(done: int, total: int) -> None:
        met.extend(record.getMessage() for record in caplog.records)

    result = cg.compare_all(scan(folder, skip_bad=True, threads=1), progress=heard)
    assert any("2.parquet could not be read" in line for line in met)
    assert any("2.parquet could not be read" in line for line in result.cautions)


def test_memory_is_a_limit(command, monkeypatch):
    """Too little is refused; a run that needs more ends with one line and exit code 3; a scan gets what libraries leave."""
    labels().to_csv("t.csv", index=False)
    for name in ("matrix", "compare", "consensus", "points", "generate", "choose-k", "report", "resolutions"):
        assert "--memory" in {o for p in COMMANDS[name].params for o in p.opts}
    code, _, err = command("matrix", "t.csv", "--memory", "100MB")
    assert code == 2
    assert "pass at least --memory 400MB" in err
    assert command("matrix", "t.csv", "--memory", "4GB")[0] == 0
    monkeypatch.setattr(app.settings, "memory", "900MB")
    assert app.memory_of_tables() == 600e6
    over: list[int] = []
    with memory.at_most(1, over.append):
        while not over:
            pass
    assert over[0] > 1
    with memory.at_most(1e15, over.append):
        pass
    assert len(over) == 1


@pytest.mark.slow
def test_a_run_that_needs_more_memory_ends_with_one_line(tmp_path):
    """In memory and scanned: exit code 3 or 2, one line, and nothing half written."""
    n = 600_000
    column = np.where(np.arange(n) < 20_000, np.arange(n) % 20, np.arange(n))
    pd.DataFrame({"a": RNG.integers(0, 9, n), "late": column}).to_parquet(
        tmp_path / "t.parquet", row_group_size=100_000
    )
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    code = "import sys; from congruence.cli import main; sys.modules['congruence.cli.app'].LEAST = 0; main()"
    for words, status, line in (
        (["match", "t.parquet", "a", "late", "--memory", "150MB"], 3, "this needs more than --memory 150MB"),
        (["matrix", "t.parquet", "--columns", "a,late", "--memory", "500MB", "--out", "m.csv"], 2,
         "column 'late' of t.parquet looks like ids, not clusters"),
    ):  # fmt: skip
        done = subprocess.run(
            [sys.executable, "-c", code, *words], cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        assert done.returncode == status, done.stderr
        (said,) = (x for x in done.stderr.splitlines() if not x.startswith("note: "))
        assert line in said
    assert sorted(x.name for x in tmp_path.iterdir()) == ["t.parquet"]


def test_scans_follow_the_rules_of_memory(command, tmp_path):
    """The reference by its name, --na-values, encodings, repeated ids: as for a file that is read at once."""
    frame = labels().assign(kmeans=lambda f: f["kmeans"].map({0: "-", 1: "x", 2: "y"}))
    frame.to_csv("t.csv", index=False)
    (tmp_path / "d").mkdir()
    frame.to_csv("d/t.csv", index=False)
    frame.to_csv("d16.csv", index=False, sep=";", encoding="utf-16")
    words = ("-m", "ari", "-f", "json", "--unassigned", "drop", "--na-values", "-")
    whole, scanned = (command("compare", file, *words) for file in ("t.csv", "d"))
    assert "reference: truth" in whole[2]
    assert "reference: truth" in scanned[2]
    assert json.loads(whole[1]) == json.loads(scanned[1])
    assert json.loads(command("compare", "d16.csv", *words, "--memory", "4GB")[1]) == json.loads(whole[1])
    pd.DataFrame({"id": [1, 1, 2], "a": [0, 0, 1], "b": [0, 1, 1]}).to_csv("d/t.csv", index=False)
    code, _, err = command("matrix", "d")
    assert code == 2
    assert "1 id in column 'id' occurs more than once ('1')" in err


def test_one_of_several_references_is_used(command, tmp_path):
    """The first reference is compared with; others are neither clusterings nor members, in memory and in scans."""
    frame = labels().assign(reference_coarse=lambda f: f["truth"] // 2).rename(columns={"truth": "reference_fine"})
    (tmp_path / "d").mkdir()
    for file in ("t.csv", "d/t.csv"):
        frame.to_csv(file, index=False)
    for words in (
        ("compare", "t.csv"),
        ("compare", "d"),
        ("ensemble", "t.csv"),
        ("report", "t.csv", "--out", "x.html"),
    ):
        code, out, err = command(*words)
        assert code == 0, err
        assert "reference: reference_fine" in err
        assert "left out: reference_coarse (another reference)" in err
        assert "reference_coarse" not in out
    code, _, err = command("consensus", "d", "--k", "3", "--out", "parts")
    assert code == 0, err
    assert "reference_coarse (another reference)" in err


def test_a_column_called_id_stays_an_id(command):
    """Even three rows with a repeated id are refused, by name; a column of groups is a clustering."""
    pd.DataFrame({"id": [1, 1, 2], "a": [0, 0, 1], "b": [0, 1, 1]}).to_csv("t.csv", index=False)
    code, _, err = command("matrix", "t.csv")
    assert code == 2
    assert "1 id in column 'id' occurs more than once ('1')" in err
    assert command("matrix", "t.csv", "--columns", "a,b")[0] == 0
    pd.DataFrame({"sample_id": ["p", "p", "q"] * 5, "a": [0, 0, 1] * 5}).to_csv("t.csv", index=False)
    assert "labels: sample_id, a" in command("matrix", "t.csv")[2]
