"""Shared code of commands on two label columns, `FILE COL_A COL_B` or `FILE_A FILE_B`."""

from collections.abc import Callable
from pathlib import Path

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
from congruence.cli.pair_reading import TwoColumns, named, two_columns
from congruence.cli.parsing import noise_labels

#: the function of such a command: takes the two columns, the rule for unassigned points, the output path and format
Work = Callable[[TwoColumns, Policy, Path | None, Format], None]


def on_two_columns(work: Work) -> Work:
    """Declare a command that reads the two columns and calls the function."""

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
        with named(pair.names):
            work(pair, unassigned, out, format)

    command.__name__, command.__doc__ = work.__name__, work.__doc__
    app.command()(command)
    return work
