"""Notes on points without a label: which fields of a text file are missing, and how many points were dropped."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from congruence.cli.app import Policy, settings
from congruence.errors import joined

if TYPE_CHECKING:
    from congruence.cli.pair_reading import TwoColumns
    from congruence.statistics.tables import Table


def missing_note(file: Path, columns: dict[str, Any]) -> list[str]:
    """How many fields of these columns of a text file are missing, and which fields count as missing."""
    from congruence.inputs.files import MISSING, suffix_of

    counts = {name: getattr(column, "null_count", 0) for name, column in columns.items()}
    gaps = [f"{count:,} in {name}" for name, count in counts.items() if count]
    if not gaps or suffix_of(file) not in (".csv", ".tsv", ".txt"):
        return []
    words = [word for word in MISSING if word] if settings.na_values is None else settings.na_values.split(",")
    shown = gaps if len(gaps) <= 4 else [*gaps[:3], f"{len(gaps) - 3:,} more columns"]
    return [
        f"missing labels: {joined(shown)} (fields that are empty, or unquoted {joined(words, 'or')}; see --na-values)"
    ]


def cautions_of(pair: TwoColumns, unassigned: Policy, table: Table) -> list[str]:
    """Cautions about two columns and their table: points that were dropped, spellings of one label, label −1."""
    from congruence.inputs.alignment import InputOptions, prepared

    names = dict(zip(("a", "b"), pair.names, strict=True))
    both = prepared(*pair.values, InputOptions(unassigned=unassigned.value, noise=pair.noise))
    return [caution.renamed(names) for caution in both.cautions(table)]
