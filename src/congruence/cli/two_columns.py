"""Commands on two label columns, `FILE COL_A COL_B` or `FILE_A FILE_B`: one way in."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from congruence.cli.app import (
    Columns,
    Format,
    Id,
    LabelTable,
    Long,
    Noise,
    Output,
    Policy,
    TableOut,
    TwoSources,
    Unassigned,
    app,
)  # fmt: skip
from congruence.cli.parsing import noise_labels
from congruence.cli.reading import TwoColumns, two_columns

#: what such a command does with the two columns and the rule for unassigned points; where to write, and how to print
Work = Callable[[TwoColumns, Policy, Path | None, Format], None]


def on_two_columns(work: Work) -> Work:
    """Declare a command: it reads the two columns, and the function does the rest."""

    def command(
        file: LabelTable,
        more: TwoSources = None,
        columns: Columns = None,
        id: Id = None,
        long: Long = None,
        unassigned: Unassigned = Policy.error,
        noise: Noise = None,
        out: TableOut = None,
        format: Output = Format.table,
    ) -> None:
        pair = two_columns(file, more or [], columns, id, long, noise_labels(noise), out)
        work(pair, unassigned, out, format)

    described: Any = command
    described.__name__, described.__doc__ = work.__name__, work.__doc__
    app.command()(command)
    return work
