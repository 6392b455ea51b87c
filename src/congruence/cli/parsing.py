"""Options given as text: noise labels, measures, limits and whole numbers."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from congruence.cli.reading import split
from congruence.errors import InputError
from congruence.typing import OptionValue

if TYPE_CHECKING:
    from congruence.formulas.record import Measures


def value_of(text: str) -> OptionValue:
    """The value of an option given as text: a number, or a word."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


#: the most numbers of clusters that one option may name
MOST_NUMBERS = 10_000


def noise_labels(text: str | None) -> set[int | str] | dict[str, set[int | str]] | None:
    """Noise labels of an option: -1, or -1,unknown, or by column COLUMN=-1;OTHER=0."""
    if text is None:
        return None

    def value(word: str) -> int | str:
        try:
            return int(word)
        except ValueError:
            return word.strip()

    if "=" not in text:
        return {value(word) for word in text.split(",")}
    parts = (part.split("=", 1) for part in text.split(";") if part)
    return {part[0].strip(): {value(word) for word in part[1].split(",")} for part in parts if len(part) == 2}


def named_measures(measures: str | None, limits: dict[str, float], default: Sequence[str] | None = None) -> Measures:
    """The named measures, or those by default, including those with a limit; None if nothing was named."""
    import congruence as cg
    from congruence.comparison.plans import DEFAULT

    if measures is None and not limits:
        return None
    if measures is not None and measures.strip() == "all":
        return "all"
    named = split(measures) if measures is not None else DEFAULT if default is None else default
    return [cg.measure(key) for key in [*named, *limits]]


def limits_of(fail_under: list[str] | None) -> dict[str, float]:
    """{measure: limit} of `--fail-under ari=0.9`."""
    import congruence as cg

    found = {}
    for text in fail_under or []:
        key, _, value = text.partition("=")
        try:
            limit = float(value)
        except ValueError:
            limit = math.nan
        if math.isnan(limit):
            raise cg.InputError(f"--fail-under takes MEASURE=NUMBER, as in ari=0.9; got {text!r}")
        found[cg.measure(key.strip()).key] = limit
    return found


def whole_numbers(text: str, option: str = "--k") -> list[int]:
    """2..12, or 2,3,5, or both: 2..6,10."""
    from congruence import InputError

    found: list[int] = []
    try:
        for word in split(text):
            first, dots, last = word.partition("..")
            several = range(int(first), int(last) + 1) if dots else range(int(first), int(first) + 1)
            if len(several) > MOST_NUMBERS:
                raise InputError(
                    f"{option} {word} names {len(several):,} numbers of clusters; name at most {MOST_NUMBERS:,}"
                )
            found += several
    except InputError:
        raise
    except (ValueError, OverflowError):
        found = []
    if not found:
        raise InputError(f"{option} takes numbers of clusters, as in 2..12 or 2,3,5; got {text!r}")
    return found


#: most columns of commands that compare all pairs; more take minutes and gigabytes
MOST_COLUMNS = 5_000
#: the same for commands that keep a table or a score per point for every pair
MOST_SHOWN_COLUMNS = 200


def check_width(file: Path, columns: str | None, long: str | None, most: int = MOST_COLUMNS, instead: str = "") -> None:
    """Refuse a table of very many columns by its header, before it is read, unless columns are named."""
    from congruence.inputs.files import width_of

    width = 0 if columns or long else width_of(file)
    if width > max(most, MOST_COLUMNS):
        raise InputError(
            f"{file} has {width:,} columns, but at most {most:,} can be compared with each other; choose some with "
            f"--columns{instead}"
        )


def check_number(columns: Collection[object], most: int, instead: str = "") -> None:
    """Refuse, before the work, more columns than a command can compare with each other."""
    if len(columns) > most:
        raise InputError(
            f"at most {most:,} columns can be compared with each other, but there are {len(columns):,}; choose some with "
            f"--columns{instead}"
        )
