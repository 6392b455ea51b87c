"""Errors name options on the command line and arguments in Python, and their advice works."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import typer

import congruence as cg
from congruence import cli
from congruence.cli.words import ARGUMENT, in_words_of, options_of

PACKAGE = Path(cg.__file__).parent
COMMANDS = list(typer.main.get_command(cli.app).commands)  # type: ignore[attr-defined]
OPTION = r"--[a-z][a-z0-9-]+"
RAISED = ("InputError", "NotApplicable", "BadBatch")


def text_of(node: ast.AST) -> str | None:
    """The text of a string, with {} for what is filled in."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return f"{text_of(node.left) or '{}'}{text_of(node.right) or '{}'}"
    return None


def messages() -> Iterator[tuple[str, str, str]]:
    """(place, message of Python, message of the command line) of every error of the library."""
    for file in sorted(PACKAGE.rglob("*.py")):
        if file.parent.name == "cli":
            continue
        text = file.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if any(kind in text for kind in RAISED) else ():
            name = getattr(getattr(node, "func", None), "id", "") if isinstance(node, ast.Call) else ""
            if name in RAISED and isinstance(node, ast.Call) and node.args:
                said = text_of(node.args[0]) or ""
                yield f"{file.name}:{node.lineno}", said, (text_of(node.args[1]) or "") if len(node.args) > 1 else said


@pytest.fixture(scope="module")
def every_message() -> list[tuple[str, str, str]]:
    return list(messages())


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
    return found | {"limit", "sample", "path", "height", "compute_distances"}  # of measures, of cuts, of scikit-learn


@pytest.mark.slow
def test_errors_in_python_name_arguments(every_message):
    """No message of the library names an option of the command line; every argument it names exists."""
    assert len(every_message) > 300
    known = parameters()
    for place, said, _ in every_message:
        assert not re.search(r"(?<!-)--[a-z]", said), f"{place}: {said}"
        for found in ARGUMENT.finditer(said):
            assert found[1] in known, f"{place} names {found[1]}=: {said}"


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_errors_on_the_command_line_name_options(every_message, command):
    """In each command, messages name only its options; other arguments are marked "in Python"."""
    options = options_of(command)
    assert "--help" not in options
    for place, said, own in every_message:
        text = in_words_of(command, own)
        if own == said:
            for option in re.findall(OPTION, text):
                assert option in options, f"{place}: {text}"
        for found in ARGUMENT.finditer(text):
            rest = text[found.end() :]
            inside = re.search(r"\b\w+\([^()]*$", text[: found.start()])
            assert found[2] == "" or inside or rest.startswith(" in Python"), f"{place}, {command}: {text}"
        assert not re.search(r"\bcg\.\w+(?!.*in Python)", text), f"{place}, {command}: {text}"


@pytest.mark.slow
def test_messages_for_the_command_line_name_options_that_exist(every_message):
    """A message written for the command line names options that some command has."""
    every = {option for command in COMMANDS for option in options_of(command)}
    for place, said, own in every_message:
        if own != said:
            for option in re.findall(OPTION, own):
                assert option in every, f"{place}: {own}"


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
    ("matrix numbers.csv", "name them with --columns", "matrix numbers.csv --columns x,y"),
    ("choose-k ids.csv --k 2", "name them with --data-columns", "choose-k ids.csv --k 2 --data-columns kmeans"),
    ("report t.csv --axes x,y", "pass them with --data FILE", "report t.csv --axes x,y --data numbers.csv"),
    ("matrix t.csv --fail-under ari", "as in ari=0.9", "matrix t.csv --columns a,b --fail-under ari=-1"),
    ("matrix t.csv --memory 1MB", "pass at least --memory 400MB", "matrix t.csv --columns a,b --memory 4000MB"),
    ("resolutions t.csv --columns a,b --color c", "pass --plot too", "resolutions t.csv --columns a,b --color c --plot p.html"),
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
    for option in re.findall(OPTION, err.splitlines()[-1]):
        assert option in options_of(mistake.split()[0]) | {"--help"}, err
    code, _, err = command(*fix.split())
    assert code == 0, err
