"""The command line, for tests of entry points."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

import pytest

from congruence import cli
from congruence.engine.plan import Progress


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    """The command in a new folder: (exit code, standard output, standard error)."""
    monkeypatch.chdir(tmp_path)

    def run(*words: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["congruence", *words])
        monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)
        monkeypatch.setattr(Progress, "in_lines", False)
        with pytest.raises(SystemExit) as done:
            cli.main()
        out, err = capsys.readouterr()
        return int(done.value.code or 0), out, err

    return run
