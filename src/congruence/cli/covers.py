"""Cover files on the command line: how they are recognised and read."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from congruence.errors import Needs, some_of
from congruence.typing import OptionValue

if TYPE_CHECKING:
    from congruence.inputs.cover import Cover

#: suffixes of files that are read as covers
SUFFIXES = (".cover", ".cnl", ".communities")


class FormatIn(StrEnum):
    """Formats of cover files."""

    cover = "cover"
    points = "points"
    long = "long"
    json = "json"


class Keys(StrEnum):
    """What the keys of a JSON mapping are."""

    clusters = "clusters"
    points = "points"


ReadAs = Annotated[
    FormatIn | None,
    typer.Option(
        help="The files hold covers: one cluster per line (cover), a point and its clusters per line (points), a table of "
        "points and clusters (long), or json. Files named .cover are read as covers without this option.",
    ),
]
NumberOfPoints = Annotated[
    int | None, typer.Option("--n", min=1, help="For covers: number of points, including those in no cluster.")
]
KeysOfJson = Annotated[Keys, typer.Option("--keys", help="For covers in a JSON mapping: what its keys are.")]


def holds_covers(files: Sequence[Path], format_in: FormatIn | None) -> bool:
    """Whether these files are covers, by --format-in or by their names."""
    from congruence.inputs.files import suffix_of

    return format_in is not None or any(suffix_of(file) in SUFFIXES for file in files)


#: what the options of covers need
NEEDS_COVERS: Needs = {
    "n": ("covers", lambda given: holds_covers([given["file"], *map(Path, given["more"] or [])], given["format_in"])),
    "keys": ("--format-in json", lambda given: given["format_in"] is FormatIn.json),
}


def no_columns(why: str = "the files hold covers", /, **options: OptionValue) -> None:
    """Refuse options that name columns: a file of covers, or of counts, has none."""
    from congruence import InputError

    for name, value in options.items():
        if value is not None:
            raise InputError(f"--{name} names columns of a table, but {why}; leave it out")


def read_covers(files: Sequence[Path], format_in: FormatIn | None, n: int | None, keys: Keys) -> dict[str, Cover]:
    """The covers of the files by name. A table given together with .cover files holds labels, one per row."""
    import congruence as cg
    from congruence.inputs.column_kinds import without_ids
    from congruence.inputs.files import read_columns, suffix_of

    found: dict[str, Cover] = {}
    for file in files:
        if format_in is None and suffix_of(file) not in SUFFIXES:
            columns, _ = without_ids(read_columns(file))
            if len(columns) != 1:
                raise cg.InputError(
                    f"{file} has {len(columns)} label columns ({some_of(columns, 6)}); to compare it with a cover, keep one, "
                    "or pass --format-in long"
                )
            clustering = next(iter(columns.values()))
        else:
            clustering = cg.read_cover(
                file, format_in.value if format_in is not None else "cover", points=n, keys=keys.value
            )
        name = file.name.split(".")[0]
        found[name if name not in found else str(file)] = clustering
    return found
