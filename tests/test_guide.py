"""What people read: the help of every command, README and the pages of docs/ say what is true, and their commands run."""

from __future__ import annotations

import importlib.util
import re
import shlex
import sys
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import typer.main

import congruence as cg
from congruence import cli
from congruence.formulas.symbols import symbols_of
from congruence.registry import _FUNCTIONS, names
from tests import measures_page

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
GROUP: Any = typer.main.get_command(cli.app)
COMMANDS: dict[str, Any] = GROUP.commands


def examples_of(text: str) -> list[str]:
    """The command lines of a text, with lines that end in a backslash joined, comments and what follows a pipe cut off."""
    found = []
    for line in text.replace("\\\n", " ").splitlines():
        for part in line.strip().split(" && "):
            command = re.split(r"\s+#|\s+\|\s|\s+>\s", part)[0].strip()
            if command.startswith("congruence "):
                found.append(command)
    return found


def examples_of_help(command: Any) -> list[str]:
    _, _, examples = (command.help or "").partition("Examples:")
    return examples_of(examples)


def blocks_of(page: Path) -> list[tuple[str, str]]:
    """The code blocks of a page: their language and their text; those set in by four spaces have none."""
    text = page.read_text(encoding="utf-8")
    fenced = re.findall(r"^```(\w*)\n(.*?)^```", text, flags=re.M | re.S)
    bare = re.sub(r"^```\w*\n.*?^```", "", text, flags=re.M | re.S)
    return [*fenced, *(("", block) for block in re.findall(r"(?:^    \S.*\n)+", bare, flags=re.M))]


IN_HELP = {name: examples_of_help(command) for name, command in COMMANDS.items()}
IN_PAGES = {
    f"{page.relative_to(ROOT)}: {line}": line
    for page in PAGES
    for language, block in blocks_of(page)
    if language != "python"
    for line in examples_of(block)
}


# --- the help of the commands ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself(name):
    """The help of a command has a sentence, a part "Examples:" with calls of this command, and a word on every option."""
    command = COMMANDS[name]
    assert re.match(r"[A-Z][^\n]+\.\n", command.help)
    assert IN_HELP[name]
    assert any(line.split()[1] == name for line in IN_HELP[name])
    for parameter in command.params:
        assert parameter.help, f"{name}: {parameter.opts} has no help"
        assert parameter.help.endswith((".", ")")), parameter.help


def test_the_help_of_all_has_examples_and_an_order():
    """`congruence --help` has examples, and what people do first comes first."""
    assert examples_of(GROUP.help)
    order = list(COMMANDS)
    assert order == sorted(order, key=lambda name: cli.ORDER.index(name))


def test_shells_complete_commands_and_measures(monkeypatch, capsys):
    """A shell that completes is told the commands, the keys of measures, and the last of several keys."""

    def completed(words: str) -> list[str]:
        monkeypatch.setenv("_CONGRUENCE_COMPLETE", "complete_bash")
        monkeypatch.setenv("COMP_WORDS", f"congruence {words}")
        monkeypatch.setenv("COMP_CWORD", str(len(words.split(" "))))
        monkeypatch.setattr(sys, "argv", ["congruence"])
        with pytest.raises(SystemExit):
            cli.main()
        return capsys.readouterr().out.split()

    assert completed("mea") == ["measures"]
    assert completed("measures ar") == [key for key in names() if key.startswith("ar")]
    assert "ari,vi" in completed("matrix labels.csv --measures ari,v")


def test_the_definition_of_a_measure_says_what_its_letters_mean():
    """No letter of a definition is left unexplained."""
    for m in cg.measures():
        made = {line.split(" = ", 1)[0] for line in m.definition}
        used = {word for line in m.definition for word in re.findall(r"[^\W\d]\w*", line)}
        known = {*made, *_FUNCTIONS, *m.parameters, "if", "else"}
        assert used - known == set(symbols_of(m)), m.key
