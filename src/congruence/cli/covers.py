"""Cover files on the command line: how they are recognised and read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from congruence.cli.options import Labels, Reading, option
from congruence.cli.printing import say
from congruence.errors import some_of
from congruence.typing import OptionValue

if TYPE_CHECKING:
    from congruence.inputs.cover import Cover

#: suffixes of files that are read as covers
SUFFIXES = (".cover", ".cnl", ".communities")


#: options that name columns, which covers and counts do not have, and why files of covers have none
COLUMNS = "weight frequency reference long id columns"
NO_COLUMNS = "names columns of a table, but the files hold covers; leave it out"


def is_cover_file(file: Path) -> bool:
    """Whether a file holds a cover, by its name, or if it is JSON by what it holds."""
    from congruence.inputs.cover_files import is_json_cover
    from congruence.inputs.files import suffix_of

    return suffix_of(file) in SUFFIXES or is_json_cover(file)


class CoverFiles(Reading):
    """Files that may hold covers."""

    file: Path
    more: OptionValue = None
    format_in: Literal["cover", "points", "long", "json"] | None = option(
        None,
        "The files hold covers: one cluster per line (cover), a point and its clusters per line (points), a table of points and "
        "clusters (long), or json. Files named .cover are read as covers without this option.",
    )
    n: int | None = option(
        None, "For covers: number of points, including those in no cluster.", least=1,
        needs=("covers", lambda given: given.holds_covers),
    )  # fmt: skip
    keys: Literal["clusters", "points"] = option(
        "clusters", "For covers in a JSON mapping: what its keys are.",
        needs=("covers in JSON", lambda given: given.format_in == "json" or given.holds_covers),
    )  # fmt: skip

    @property
    def paths(self) -> list[Path]:
        """All files that are named."""
        return [self.file, *map(Path, self.more or [])]

    @property
    def holds_covers(self) -> bool:
        """Whether these files are covers, by --format-in or by their names."""
        return self.format_in is not None or any(map(is_cover_file, self.paths))


class Covers(CoverFiles, Labels):
    """Files of labels, or of covers."""


def read_covers(given: CoverFiles) -> dict[str, Cover]:
    """The covers of the files by name. A table given together with .cover files holds labels, one per row."""
    import congruence as cg
    from congruence.inputs.columns import without_ids
    from congruence.inputs.files import read_columns, suffix_of

    found: dict[str, Cover] = {}
    for file in given.paths:
        if given.format_in is None and not is_cover_file(file):
            columns, _ = without_ids(read_columns(file))
            if len(columns) != 1:
                raise cg.InputError(
                    f"{file} has {len(columns)} label columns ({some_of(columns, 6)}); to compare it with a cover, keep one, "
                    "or pass --format-in long"
                )
            clustering = next(iter(columns.values()))
        else:
            in_json = suffix_of(file) == ".json"
            if given.format_in is None and in_json:
                say([f"{file}: a cover; if it is a mapping, its keys are {given.keys} (--keys says otherwise)"])
            kind = given.format_in or ("json" if in_json else "cover")
            clustering = cg.read_cover(file, kind, points=given.n, keys=given.keys if kind == "json" else "clusters")
        name = file.name.split(".")[0]
        found[name if name not in found else str(file)] = clustering
    return found
