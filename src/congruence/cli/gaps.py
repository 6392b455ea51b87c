"""Notes on points without a label: which fields of a text file are missing, and how many points were dropped."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from congruence.cli.app import settings
from congruence.cli.options import Policy
from congruence.errors import NoLabel, joined
from congruence.typing import ColumnLike

if TYPE_CHECKING:
    from congruence.cli.joining import TwoColumns
    from congruence.statistics.tables import Table


def missing_note(file: Path, columns: dict[str, ColumnLike]) -> list[str]:
    """How many fields of these columns of a text file are missing, and which fields count as missing."""
    from congruence.inputs.files import suffix_of

    if suffix_of(file) not in (".csv", ".tsv", ".txt"):
        return []
    return _note({name: getattr(column, "null_count", 0) for name, column in columns.items()})


def scanned_gaps(columns: dict[str, ColumnLike], error: BaseException | None) -> list[str]:
    """The same for scanned text, once it is counted; without numbers if the scan stopped at a missing label."""
    known = {name: (column.source.known(column), column.name) for name, column in columns.items()}
    counts = {name: int(part.gaps[part.names.index(own)]) for name, (part, own) in known.items() if part is not None}
    if not counts and isinstance(error, NoLabel):
        return _note(None)
    return _note(counts)


def _note(counts: dict[str, int] | None) -> list[str]:
    from congruence.inputs.files import MISSING

    gaps = [f"{count:,} in {name}" for name, count in (counts or {}).items() if count]
    if counts is not None and not gaps:
        return []
    words = [word for word in MISSING if word] if settings.na_values is None else settings.na_values.split(",")
    shown = gaps if len(gaps) <= 4 else [*gaps[:3], f"{len(gaps) - 3:,} more columns"]
    fields = f"fields that are empty, or unquoted {joined(words, 'or')}"
    if counts is None:
        return [f"missing labels: {fields}; see --na-values"]
    return [f"missing labels: {joined(shown)} ({fields}; see --na-values)"]


def cautions_of(pair: TwoColumns, unassigned: Policy, table: Table) -> list[str]:
    """Cautions about two columns and their table: points that were dropped, spellings of one label, label −1."""
    from congruence.inputs.alignment import InputOptions, prepared

    names = dict(zip(("a", "b"), pair.names, strict=True))
    both = prepared(*pair.values, InputOptions(unassigned=unassigned, noise=pair.noise))
    return [caution.renamed(names) for caution in both.cautions(table, int(table.n))]
