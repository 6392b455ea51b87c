"""Errors and cautions that every other module may raise or show, hints at similar names, and checks of single arguments."""

from __future__ import annotations

import math
import operator
import os
import re
from collections.abc import Callable, Container, Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from difflib import get_close_matches
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType

from congruence.typing import Label, OptionValue, Scalar

#: control characters, which a terminal interprets, and lone surrogates, which it cannot show
UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def visible(text: str, keep: str = "") -> str:
    """The text with control characters shown as escapes, as in \\u001b, so that a name cannot control the terminal.

    Args:
        text: Any text.
        keep: Control characters that stay as they are.

    >>> visible(chr(27) + "[31mred") == chr(92) + "u001b[31mred"
    True
    """
    return UNSEEN.sub(lambda found: found[0] if found[0] in keep else f"\\u{ord(found[0]):04x}", text)


#: copies of standard input and of files at addresses, and what the user called them
COPIES: dict[str, str] = {}


def as_called(text: str) -> str:
    """A message with the address, or "standard input", in place of the copy that was read.

    Args:
        text: Any text.
    """
    for copy, name in COPIES.items():
        text = text.replace(copy, name)
    return text


class Word(StrEnum):
    """A string enum: equals its plain string and prints as one."""

    def __repr__(self) -> str:
        return repr(self.value)


# --- what messages name: options and calls, shown in the words of the front end ---------------------------------------


class Option:
    """An option in a message, with values to give it: `unassigned='drop'`, or `--unassigned drop` while a command runs.

    Args:
        name: The name of the argument.
        values: Values to try; `...` stands for one of the user's. Default none: the name alone.

    >>> f"pass {Option('unassigned', 'drop', 'cluster')} or {Option('threshold', ...)}"
    "pass unassigned='drop' or 'cluster' or threshold=…"
    """

    def __init__(self, name: str, *values: object) -> None:
        self.name, self.values = name, values

    def __str__(self) -> str:
        return FRONT[-1].option(self)


class Call:
    """A call of the library in a message: `cg.consensus`, or `congruence consensus` while a command runs.

    Args:
        text: The call.
        command: What to show on the command line instead. Default None: the command of that name, if there is one.
    """

    def __init__(self, text: str, command: str | None = None) -> None:
        self.text, self.command = text, command

    def __str__(self) -> str:
        return FRONT[-1].call(self)


class With(Option):
    """ " with --columns" on the command line, where arguments are columns; nothing in Python, where they are data."""

    def __str__(self) -> str:
        return FRONT[-1].suffix(self)


class Side(str):
    """The clustering a or b in a message: `a`, or the name of its column while a command compares two.

    >>> f"{A} and {B} have 3 and 2 points"
    'a and b have 3 and 2 points'
    """

    __slots__ = ()

    def __str__(self) -> str:
        return FRONT[-1].names.get(self, str.__str__(self))

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)


A, B = Side("a"), Side("b")


class Python:
    """How Python shows options and calls; the command line has its own class."""

    #: what a and b are called
    names: Mapping[str, str] = MappingProxyType({})

    def option(self, x: Option) -> str:
        """The option with its values, as in a call."""
        values = ["…" if value is ... else repr(value) for value in x.values]
        return f"{x.name}={joined(values, 'or')}" if values else x.name

    def call(self, x: Call) -> str:
        """The call."""
        return x.text

    def suffix(self, x: Option) -> str:
        """What names columns: nothing."""
        return ""


#: the front ends in use, the one that shows messages last
FRONT = [Python()]


class InputError(ValueError):
    """An input that cannot be used; the message says what was given, what was expected and what to try.

    It is one line: line breaks become spaces, and other control characters are shown escaped.

    Args:
        message: The message.
        code: The kind of error, such as "no_label", for code that must recognise it. Default "": none.

    >>> import congruence as cg
    >>> try:
    ...     cg.ari([0, 0, 1], [0, 1])
    ... except cg.InputError as error:
    ...     print(error)
    a and b have 3 and 2 points; both must label the same points (pandas: pass align='index' to compare common points)
    """

    def __init__(self, message: str, code: str = "") -> None:
        super().__init__(visible(_one_line(as_called(message))))
        self.code = code


#: longest message: names of columns and values can have any length
LONGEST = 1500


def _one_line(text: str) -> str:
    text = " ".join(line.strip() for line in text.splitlines()) if "\n" in text or "\r" in text else text
    return text if len(text) <= LONGEST else f"{text[: LONGEST // 2]} … {text[-LONGEST // 2 :]}"


@contextmanager
def refused() -> Iterator[None]:
    """Turn another library's error about bad input into a one-line InputError.

    >>> with refused():
    ...     raise ValueError("Expected 2D array, got 1D array instead")
    Traceback (most recent call last):
    congruence.errors.InputError: Expected 2D array, got 1D array instead
    """
    try:
        yield
    except InputError:
        raise
    except ValueError as error:
        raise InputError(str(error)) from None


class TooLarge(InputError, MemoryError):
    """Data that do not fit in memory: an InputError, and a MemoryError as numpy raises it; the command line exits with 3."""


class NotApplicable(InputError):
    """A measure that is not defined for this input, or would exceed its cost limit.

    >>> import congruence as cg
    >>> try:
    ...     cg.confidence_interval([0, 0, 1, 1], [0, 1, 1, 1])
    ... except cg.NotApplicable as error:
    ...     print(error)
    an interval needs at least 16 points; there are 4
    """


class NotInstalled(InputError, ModuleNotFoundError):
    """A package that is not installed: an InputError, and a ModuleNotFoundError as Python raises it."""


class NoSuchName(InputError, KeyError):
    """A name that a result does not have: an InputError, and a KeyError like that of any mapping."""

    def __str__(self) -> str:
        return str(self.args[0])


class Caution(str):
    """A one-line note or warning about a result. It is a string with a `.code`, its kind, and a `.subject`.

    Args:
        code: Its kind, such as "noise_label"; programs should check this, not the text.
        subject: What it is about: the name of a clustering or measure, or "" for the whole result.
        text: The text to show; "{subject}" in it is replaced by the subject.

    >>> c = Caution("noise_label", "a", "{subject} has label −1")
    >>> c, c.code, c.about("leiden")
    ('a has label −1', 'noise_label', 'leiden has label −1')
    """

    code: str
    subject: str
    text: str
    __slots__ = ("code", "subject", "text")

    def __new__(cls, code: str, subject: str, text: str) -> Caution:  # noqa: D102
        line = super().__new__(cls, text.replace("{subject}", subject))
        line.code, line.subject, line.text = code, subject, text
        return line

    def __getnewargs__(self) -> tuple[str, str, str]:  # type: ignore[override]
        return self.code, self.subject, self.text

    def about(self, subject: str) -> Caution:
        """The same caution with another subject."""
        return Caution(self.code, subject, self.text)

    def renamed(self, names: Mapping[str, str]) -> Caution:
        """The same caution with the subject renamed, if the mapping has a name for it."""
        return self.about(names.get(self.subject, self.subject))


def joined(names: Iterable[object], word: str = "and") -> str:
    """Names as part of a sentence.

    >>> joined(["a"]), joined(["a", "b"]), joined(["a", "b", "c"], "or")
    ('a', 'a and b', 'a, b or c')
    """
    *most, last = [str(name) for name in names] or [""]
    return f"{', '.join(most)} {word} {last}" if most else last


def some_of(names: Iterable[object], most: int = 8) -> str:
    """The first few names, and how many more there are.

    >>> some_of("abc"), some_of("abcdef", 3)
    ('a, b, c', 'a, b, c and 3 more')
    """
    listed = [str(name) for name in names]
    more = f" and {len(listed) - most} more" if len(listed) > most else ""
    return ", ".join(listed[:most]) + more


def counted(many: float, thing: str) -> str:
    """'1 point', '2 points', '1,000 points'."""
    return f"{many:,} {thing}{'' if many == 1 else 's'}"


def unused_name(wanted: str, taken: Container[str]) -> str:
    """The name, with primes added until it differs from those taken.

    >>> unused_name("x", ["x", "x′"])
    'x′′'
    """
    name, primes = wanted, ""
    while name in taken:
        primes += "′"
        name = wanted + primes
    return name


def hint(name: object, known: Iterable[str], listing: str = "`congruence measures` lists all") -> str:
    """'did you mean …?' with the most similar known names, or where to find all of them."""
    known, name = [str(k) for k in known if len(str(k)) <= 100], str(name)[:100]  # comparing long texts takes minutes
    near = [k for k in known if name and k.startswith(name.lower())]
    near += get_close_matches(name.lower(), [k for k in known if k not in near], n=3, cutoff=0.6)
    return f"did you mean {joined(near[:3], 'or')}?" if near else listing


#: for an option that does not always apply: a description of what it needs, and whether the given arguments have it
Needs = dict[str, tuple[str, Callable[[dict[str, OptionValue]], object]]]


def warn(message: str, kind: type[Warning] | None = None) -> None:
    """Warn with the location of the user's call: the first line outside this package."""
    import warnings  # late imports: commands need neither to start
    from sys import _getframe

    level, frame = 2, _getframe(1)
    ours = ("congruence", "numba")  # which compiles for us
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in ours:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, kind, stacklevel=level)


def deprecated(old: str, new: str, since: str, until: str) -> None:
    """Warn that a spelling still works, until which version, and what replaces it."""
    warn(f"since {since}, {old} is spelled {new}; the old spelling works until {until}", DeprecationWarning)


#: most clusterings, random starts and subsamples of one call, and most random draws, which are all held in memory
MOST_RUNS, MOST_DRAWS = 100_000, 10_000_000


def whole_number(value: Scalar, name: str, least: int = 1, most: int | None = None) -> int:
    """The value as an int, or an InputError that names it.

    >>> whole_number(3, "threads")
    3
    """
    try:
        number = operator.index(value)
    except TypeError:
        raise InputError(f"{Option(name)} must be a whole number; got {value!r}") from None
    if number < least:
        raise InputError(f"{Option(name)} must be at least {least}, not {number}")
    if most is not None and number > most:
        raise InputError(f"{Option(name)} must be at most {most:,}, not {number:,}")
    return number


def real_number(value: Scalar, name: str, least: float = -math.inf, most: float = math.inf) -> float:
    """The value as a float within bounds, or an InputError that names it.

    >>> real_number(0.5, "fraction", 0, 1)
    0.5
    """
    try:
        found = float(value) if not isinstance(value, str | bytes) else math.nan
    except (TypeError, ValueError, OverflowError):
        found = math.nan
    if math.isnan(found) or not least <= found <= most:
        within = (
            f" from {least:g} to {most:g}" if math.isfinite(most) else f" of at least {least:g}" * math.isfinite(least)
        )
        raise InputError(f"{Option(name)} must be a number{within}; got {value!r}")
    return found


def path_of(value: object, name: str = "path") -> Path:
    """The value as a path, or an InputError that names it.

    >>> path_of("labels.csv").suffix
    '.csv'
    """
    if not isinstance(value, str | os.PathLike):
        raise InputError(f"{Option(name)} must be a path, as in 'labels.csv'; got {type(value).__name__}")
    return Path(value)


def names_in(value: object, name: str) -> list[Label]:
    """The names of a list, or of one text; an InputError for anything else.

    >>> names_in("x", "nominal"), names_in(("x", "y"), "nominal")
    (['x'], ['x', 'y'])
    """
    if isinstance(value, str):
        return [value]
    if not isinstance(value, Iterable) or getattr(value, "ndim", 1) != 1:
        raise InputError(f"{Option(name)} must be a list of names; got {value!r}")
    # numpy and arrow values as plain ones
    found = [x.as_py() if hasattr(x, "as_py") else x.item() if getattr(x, "ndim", 1) == 0 else x for x in value]
    if not all(isinstance(x, Hashable) for x in found):
        raise InputError(f"{Option(name)} must be a list of names; got {value!r}")
    return found


def yes_or_no(value: object, name: str) -> bool:
    """The value as a bool, or an InputError that names it; arrays are refused.

    >>> yes_or_no(1, "scale")
    True
    """
    if not isinstance(value, int | float | None) and type(value).__name__ not in ("bool", "bool_"):
        raise InputError(f"{Option(name)} must be True or False; got {value!r}")
    return bool(value)


def one_of(name: str, value: object, known: tuple[str, ...]) -> None:
    """Raise for an unknown value."""
    if not isinstance(value, str) or value not in known:
        raise InputError(f"{Option(name)} must be {joined(map(repr, known), 'or')}, not {value!r}")


def known_name(what: str, name: object, known: Iterable[str]) -> None:
    """Raise for a name that is not known, with the most similar known ones, or a list.

    >>> known_name("method", "kmean", ["kmeans", "ward"])
    Traceback (most recent call last):
    congruence.errors.InputError: there is no method 'kmean'; did you mean kmeans?
    """
    listed = list(known)
    if not isinstance(name, str) or name not in listed:
        raise InputError(f"there is no {what} {name!r}; {hint(name, listed, 'there are: ' + some_of(listed))}")


def known_column(name: object, there: Iterable[str], source: str, kind: type[InputError] = InputError) -> None:
    """Raise for a column that the source does not have, with the most similar ones, or a list.

    >>> known_column("truht", ["truth", "id"], "labels.csv")
    Traceback (most recent call last):
    congruence.errors.InputError: labels.csv has no column 'truht'; did you mean truth?
    """
    listed = list(there)
    if not isinstance(name, str) or name not in listed:
        raise kind(f"{source} has no column {name!r}; {hint(name, listed, 'it has: ' + some_of(listed))}")


def check_different(names: Iterable[Label], things: str, who: str = "") -> None:
    """Raise if two of these things have one name.

    >>> check_different(["a", "b", "a"], "columns", "the frame")
    Traceback (most recent call last):
    congruence.errors.InputError: the frame: two columns are named 'a'; give them different names
    """
    seen: set[Label] = set()
    for name in names:
        if name in seen:
            raise InputError(f"{who}{': ' * bool(who)}two {things} are named {name!r}; give them different names")
        seen.add(name)
