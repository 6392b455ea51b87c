"""Checks of statements, declared by the beginning of the statement."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parent.parent

#: what was found, and whether the statement holds
Check = Callable[[], tuple[str, bool]]
#: the beginning of a statement, and its check
CHECKS: dict[str, Check] = {}


def checks(beginning: str) -> Callable[[Check], Check]:
    """Declare the check of the statement that begins like this."""

    def declared(check: Check) -> Check:
        CHECKS[beginning] = check
        return check

    return declared


def kept(path: str) -> str:
    """An output that is kept in the docs."""
    return (ROOT / "docs" / path).read_text(encoding="utf-8")
