"""Errors and near-name hints: what every other module may raise."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class InputError(ValueError):
    """What was given cannot be used; the message says what was expected and what to try.

    `command` is the same line for those who type options instead of arguments, where it differs.
    """

    def __init__(self, message: str, command: str | None = None) -> None:
        super().__init__(message)
        self.command = command or message


class NotApplicable(InputError):
    """A measure is not defined for this input, or would cost more than its limit."""


def hint(name: str, known: Iterable[str], listing: str = "`congruence measures` lists all") -> str:
    """'did you mean …?' with the nearest known names, or where to find them all."""
    known = list(known)
    near = [k for k in known if name and k.startswith(name.lower())]
    near += get_close_matches(name.lower(), [k for k in known if k not in near], n=3, cutoff=0.6)
    near = near[:3]
    if not near:
        return listing
    *most, last = near
    return f"did you mean {', '.join(most) + ' or ' if most else ''}{last}?"
