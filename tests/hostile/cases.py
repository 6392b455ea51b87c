"""One hostile case: a command line or a call, by its number."""

from __future__ import annotations

import tempfile
import traceback
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from hostile import calls, chains, commands, surface


def one_case(seed: int, number: int, *, loud: bool = False, quick: bool = False) -> tuple[str, list[str], str]:
    """(what was run, its faults, its kind); the same seed and number give the same case.

    `quick` skips functions that cluster data, which take a second or more.
    """
    rng = Random(f"{seed}:{number}")
    draw = rng.random()
    commands.QUICK = calls.QUICK = quick
    maker: Any = commands.complaints_of if draw < 0.45 else calls.complaints_of
    if draw > 0.65:
        maker = partial(surface.any_call, quick=quick)
    if draw > 0.8:
        maker = partial(chains.chained, quick=quick)
    if draw > 0.9:
        maker = surface.further_doors if draw > 0.95 else chains.valued
    with tempfile.TemporaryDirectory(prefix="hostile-") as name:
        folder = Path(name)
        if loud:
            traced(commands, calls)
        try:
            what, wrong, kind = maker(rng, folder)
        finally:
            for path in folder.rglob("*"):
                if not path.is_symlink():
                    path.chmod(0o700)
    return what, wrong, kind


def traced(*modules: object) -> None:
    """Print tracebacks where they are caught."""
    run = commands.run

    def shown(argv: list[str], folder: Path) -> commands.Said:
        said = run(argv, folder)
        if said.raised is not None:
            traceback.print_exception(said.raised)
        print(f"exit {said.code}\n--- stdout\n{said.out[:3000]}\n--- stderr\n{said.err[:3000]}")
        return said

    commands.run = shown
    allowed = calls.allowed

    def told(error: BaseException) -> bool:
        traceback.print_exception(error)
        return allowed(error)

    calls.allowed = told
