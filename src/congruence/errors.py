"""Errors that every other module may raise, and hints at similar names."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class InputError(ValueError):
    """An input that cannot be used; the message says what was given, what was expected and what to try.

    `command` is the message for the command line, if it names options instead of arguments.
    """

    def __init__(self, message: str, command: str | None = None) -> None:
        super().__init__(message)
        self.command = command or message


class NotApplicable(InputError):
    """A measure that is not defined for this input, or would exceed its cost limit."""


def hint(name: str, known: Iterable[str], listing: str = "`congruence measures` lists all") -> str:
    """'did you mean …?' with the most similar known names, or where to find all of them."""
    known = list(known)
    near = [k for k in known if name and k.startswith(name.lower())]
    near += get_close_matches(name.lower(), [k for k in known if k not in near], n=3, cutoff=0.6)
    near = near[:3]
    if not near:
        return listing
    *most, last = near
    return f"did you mean {', '.join(most) + ' or ' if most else ''}{last}?"
