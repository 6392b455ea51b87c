"""Errors name options on the command line and arguments in Python, and their advice works."""

from __future__ import annotations

import ast
import html
import inspect
import json
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import typer

import congruence as cg
from congruence import cli
from congruence.cli.app import CommandLine
from congruence.errors import Call, Option, With

PACKAGE = Path(cg.__file__).parent
COMMANDS = list(typer.main.get_command(cli.app).commands)  # type: ignore[attr-defined]


def named(kind: str) -> Iterator[tuple[str, ast.Call]]:
    """(place, call) of every `Option(…)`, `With(…)` or `Call(…)` of the library."""
    for file in sorted(PACKAGE.rglob("*.py")):
        text = file.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if f"{kind}(" in text and file.name != "errors.py" else ():
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == kind:
                yield f"{file.name}:{node.lineno}", node


def parameters() -> set[str]:
    """The parameters of all public functions, classes and methods."""
    found: set[str] = set()
    for name in dir(cg):
        thing = getattr(cg, name)
        methods = [m for _, m in inspect.getmembers(thing, inspect.isroutine)] if inspect.isclass(thing) else []
        for one in (thing, *methods):
            if callable(one):
                try:
                    found |= set(inspect.signature(one).parameters)
                except (TypeError, ValueError):
                    continue
    for file in (PACKAGE / "alternative_clustering").glob("*.py"):  # options of methods
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                found |= {a.arg for a in (*node.args.args, *node.args.kwonlyargs)}
    return found | {"limit", "sample", "path", "height", "data_columns", "sheet"}  # of measures, of cuts, of commands


@pytest.mark.slow
def test_messages_name_arguments_that_exist():
    """Every option that a message of the library names is a parameter of a public function."""
    known = parameters()
    found = [(place, x.args[0].value) for place, x in named("Option") if isinstance(x.args[0], ast.Constant)]
    assert len(found) > 100
    assert not [x for x in found if x[1] not in known]


def written_in(node: ast.AST) -> Iterator[str]:
    """The texts of a message, without those of its options and calls."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif not (isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("Option", "With", "Call")):
        for part in ast.iter_child_nodes(node):
            yield from written_in(part)


def test_no_message_has_an_option_written_out():
    """An option with its value in a message of the library is an `Option`, and none is written as on the command line."""
    for file in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))) if file.parent.name != "cli" else ():
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in RAISED:
                said = " ".join(text for x in node.args for text in written_in(x))
                assert not re.search(r"(?<![\w(])[a-z_]+=(True|False|None\b|'[a-z]|…)|(?<![\w-])--[a-z]", said), (
                    file,
                    said,
                )


RAISED = ("InputError", "NotApplicable", "Caution", "TooLarge", "warn")


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_shows_options_as_its_own(command):
    """A command shows each option of a message as one it has, with the value, or says that it is for Python."""
    shown = CommandLine(typer.main.get_command(cli.app).commands[command].params)
    options = {option for param in shown.params.values() for option in param.opts}
    for name in sorted({x.args[0].value for _, x in named("Option") if isinstance(x.args[0], ast.Constant)}):
        text = shown.option(Option(name, "drop"))
        if text.startswith("--"):
            assert text.split()[0] in options
        else:
            assert text == f"{name}='drop' in Python"
        assert shown.suffix(With(name)).removeprefix(" with ") in {"", *options}


def test_options_and_calls_show_themselves_as_the_front_end_does():
    """The same option is an argument in Python and an option of the command that runs."""
    shown = CommandLine(typer.main.get_command(cli.app).commands["choose-k"].params)
    for option, python, own in (
        (
            Option("unassigned", "drop", "cluster"),
            "unassigned='drop' or 'cluster'",
            "unassigned='drop' or 'cluster' in Python",
        ),
        (Option("random_state", 3), "random_state=3", "--seed 3"),
        (Option("standardise", True), "standardise=True", "--standardise"),
        (Option("n_jobs"), "n_jobs", "--jobs"),
        (Option("limit", None), "limit=None", "limit=None in Python"),
        (Option("threads", ...), "threads=…", "--threads"),
    ):
        assert (str(option), shown.option(option)) == (python, own)
    assert shown.call(Call("cg.choose_k")) == "`congruence choose-k`"
    assert shown.call(Call("compare_all")) == "`congruence matrix`"
    assert shown.call(Call("cg.Cover(u >= 0.3)")) == "cg.Cover(u >= 0.3) in Python"


@pytest.mark.parametrize(
    "names", [("refine=True", "k=None"), ("n_clusters", "sample_weight"), ("unassigned='drop'", "cg.consensus")]
)
def test_names_of_columns_come_out_as_they_went_in(command, names):
    """A column may be called like an option or a call: notes, errors, tables, JSON and pages show its name unchanged."""
    a, b = names
    frame = pd.DataFrame({a: [-1, 0, 0, 1, 1, 1], b: [0, 0, 1, 1, 1, None]})
    frame.to_csv("t.csv", index=False)
    for format in ("table", "json", "csv"):
        code, out, err = command("compare", "t.csv", "--columns", f"{a},{b}", "--unassigned", "drop", "-f", format)
        assert code == 0, err
        assert f"{a} has label" in " ".join((out + err).split()) or format == "csv"
        assert "--refine" not in out + err
    _, out, _ = command("matrix", "t.csv", "--unassigned", "drop", "-f", "json")
    assert a in json.loads(out)["names"]
    _, _, err = command("compare", "t.csv", "--columns", f"{a},{b}")
    assert f"congruence: {b}: 1 of 6 points are unassigned" in err
    code, _, err = command("report", "t.csv", "--unassigned", "drop", "--out", "r.html")
    assert code == 0, err
    page = html.unescape(Path("r.html").read_text(encoding="utf-8"))
    assert a in page
    assert b in page


def test_notes_name_options_too(command):
    """A note on scales says standardise=True in Python and --standardise on the command line, in text and in JSON."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=40), "y": 1000 * rng.normal(size=40)})
    frame.to_csv("n.csv", index=False)
    assert any("(standardise=True)" in note for note in cg.choose_k(frame, k=[2]).notes)
    for format in ("table", "json", "csv"):
        _, out, err = command("choose-k", "n.csv", "--k", "2", "-f", format)
        assert "(--standardise)" in " ".join((out + err).split())
        assert "standardise=True" not in out + err


#: a mistake, what the message says, and the command that follows its advice
ADVICE = [
    ("compare t.csv", "name two of them", "compare t.csv a b"),
    ("compare t.csv", "pass --reference COL", "compare t.csv --columns a,b,c --reference a"),
    ("compare t.csv", "use `congruence matrix`", "matrix t.csv --columns a,b,c"),
    ("compare t.csv a gaps", "pass --unassigned drop", "compare t.csv a gaps --unassigned drop"),
    ("consensus t.csv --k 2", "pass --partial", "consensus t.csv --k 2 --partial"),
    ("ensemble t.csv", "pass --partial", "ensemble t.csv --partial"),
    ("matrix twice.csv", "name the label columns with --columns", "matrix twice.csv --columns a,b"),
    ("matrix numbers.csv", "name the columns to use with --columns", "matrix numbers.csv --columns x,y"),
    ("choose-k ids.csv --k 2", "name the columns to use with --data-columns", "choose-k ids.csv --k 2 --data-columns kmeans"),
    ("report t.csv --axes x,y", "pass them with --data FILE", "report t.csv --columns a,b --axes x,y --data numbers.csv"),
    ("matrix t.csv --fail-under ari", "as in ari=0.9", "matrix t.csv --columns a,b --fail-under ari=-1"),
    ("matrix t.csv --memory 1MB", "pass at least --memory 400MB", "matrix t.csv --columns a,b --memory 4000MB"),
    ("resolutions t.csv --columns a,b --color c", "without --plot", "resolutions t.csv --columns a,b --color c --plot p.html"),
    ("matrix t.csv --measures arii", "did you mean ari", "matrix t.csv --columns a,b --measures ari"),
    ("compare one.csv t.csv", "pass --columns COL_A,COL_B", "compare one.csv t.csv --columns z,a"),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*look like measurements")
@pytest.mark.parametrize(("mistake", "advice", "fix"), ADVICE, ids=lambda x: x.partition(" --")[0])
def test_following_the_advice_works(command, mistake, advice, fix):
    """The message gives the advice, every option in it exists, and the command that follows it runs."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {"a": [0, 0, 1, 1] * 8, "b": [0, 1, 1, 1] * 8, "c": [1, 1, 0, 0] * 8, "gaps": [1, None, 1, 2] * 8}
    )
    frame.to_csv("t.csv", index=False)
    frame[["a"]].rename(columns={"a": "z"}).to_csv("one.csv", index=False)
    pd.DataFrame({"id": [1, 1, 2, 3, 4], "a": [0, 0, 1, 1, 1], "b": [0, 1, 1, 1, 0]}).to_csv("twice.csv", index=False)
    pd.DataFrame({"id": range(32), "kmeans": [0, 1] * 16}).to_csv("ids.csv", index=False)
    pd.DataFrame({"x": rng.random(32), "y": rng.random(32)}).to_csv("numbers.csv", index=False)
    code, _, err = command(*mistake.split())
    assert code == 2, err
    assert err.count("\n") == 1 or err.startswith("note: ")
    assert advice in err
    has = {x for p in typer.main.get_command(cli.app).commands[mistake.split()[0]].params for x in p.opts}  # type: ignore[attr-defined]
    assert set(re.findall(r"--[a-z][a-z0-9-]+", err.splitlines()[-1])) <= has | {"--help"}, err
    code, _, err = command(*fix.split())
    assert code == 0, err
