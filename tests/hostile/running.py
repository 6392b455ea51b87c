"""A command, run in this process, and the files that it leaves."""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path

from typer.main import get_command

from congruence import cli
from congruence.engine.plan import Progress

#: the command line parser, built once because that takes longer than most commands
APP = cli.app
COMMAND = get_command(APP)


@dataclass
class Said:
    """The output of a command."""

    code: int | None
    out: str
    err: str
    raised: BaseException | None = None


def run(argv: list[str], folder: Path) -> Said:
    """Run a command as the console script does, in this folder."""
    streams = [io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2)]
    before, here, shown = sys.argv, os.getcwd(), warnings.showwarning
    sys.argv, cli.app = ["congruence", *argv], COMMAND
    os.chdir(folder)
    code: int | None = None
    raised: BaseException | None = None
    try:
        with (
            warnings.catch_warnings(),
            contextlib.redirect_stdout(streams[0]),
            contextlib.redirect_stderr(streams[1]),
        ):
            cli.main()
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else 0
    except BaseException as error:
        raised = error
    finally:
        sys.argv, warnings.showwarning, cli.app, Progress.in_lines = before, shown, APP, False
        os.chdir(here)
    out, err = (stream.buffer.getvalue().decode("utf-8", "replace") for stream in streams)  # type: ignore[attr-defined]
    return Said(code, out, err, raised)


def state_of(folder: Path) -> dict[str, str]:
    """Every file below a folder with a digest of its bytes."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_symlink():
            found[name] = f"link to {os.readlink(path)}"
        elif path.is_file() and os.access(path, os.R_OK):
            found[name] = hashlib.sha256(path.read_bytes()).hexdigest()
        else:
            found[name] = "other"
    return found
