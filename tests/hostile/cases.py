"""One hostile case: a command line or a call, by its number."""

from __future__ import annotations

import tempfile
import traceback
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from hostile import calls, chains, commands, surface, values

#: the kinds of cases, in turn
KINDS = ["command", "any", "call", "chain", "command", "any", "doors", "command", "call", "values",
         "command", "any", "call", "chain", "command", "any", "call", "command", "command", "command"]  # fmt: skip
TURNS = KINDS.count("any")


def one_case(seed: int, number: int, *, loud: bool = False, quick: bool = False) -> tuple[str, list[str], str]:
    """(what was run, its faults, its kind); the same seed and number give the same case.

    `quick` skips functions that cluster data, which take a second or more.
    """
    rng = Random(f"{seed}:{number}")
    place = number % len(KINDS)
    commands.QUICK = calls.QUICK = quick
    maker: Any = {
        "command": commands.complaints_of, "call": calls.complaints_of, "values": values.valued, "doors": surface.further_doors,
        "chain": partial(chains.chained, quick=quick),
        "any": partial(surface.any_call, quick=quick, turn=TURNS * (500 * seed + number // len(KINDS)) + KINDS[:place].count("any")),
    }[KINDS[place]]  # fmt: skip
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

    def told(error: BaseException, *call: Any) -> bool:
        traceback.print_exception(error)
        return allowed(error, *call)

    calls.allowed = told
