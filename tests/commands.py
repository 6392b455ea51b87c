"""The command line, run in the process of a test."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import pytest
import typer.main

from congruence import cli

#: typer builds all commands in every call, which takes 35 ms: build them once
typer.main.get_command = cache(typer.main.get_command)


class Said(NamedTuple):
    """The result of a command: its exit code and both streams."""

    code: int
    out: str
    err: str

    @property
    def refusal(self) -> list[str]:
        """The lines of the second stream that are not notes."""
        return [line for line in self.err.splitlines() if not line.startswith("note: ")]


def commands(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Said]:
    """The command line, run in this process."""

    def run(*words: str) -> Said:
        monkeypatch.setattr(sys, "argv", ["congruence", *words])
        monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)  # the command sets its own filters
        with pytest.raises(SystemExit) as done:
            cli.main()
        out, err = capsys.readouterr()
        return Said(done.value.code, out, err)

    return run
