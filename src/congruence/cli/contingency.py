"""`congruence contingency`: how many points of one cluster are in another."""

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
)
from congruence.cli.parsing import noise_labels
from congruence.cli.printing import print_rows, say, write_table
from congruence.cli.reading import two_columns


@app.command()
def contingency(
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
    """Count how many points of each cluster of one clustering are in each cluster of another.

    Examples:

      congruence contingency labels.csv kmeans leiden

      congruence contingency mine.csv theirs.csv --id cell --out table.csv
    """
    import congruence as cg

    pair = two_columns(file, more or [], columns, id, long, noise_labels(noise), out)
    table = cg.contingency(*pair.values, unassigned=unassigned.value, noise=pair.noise)
    dense = table.to_array()
    corner = " × ".join(pair.names)
    cells: dict[str, Any] = {corner: [str(name) for name in table.rows]}
    cells |= {str(name): dense[:, j].tolist() for j, name in enumerate(table.columns)}
    say(pair.notes)
    if out is not None:
        write_table(cells, out)
        say([f"wrote {out}: {table.shape[0]} × {table.shape[1]} clusters"])
    if out is None or format is not Format.table:
        print_rows(
            [dict(zip(cells, row, strict=True)) for row in zip(*cells.values(), strict=True)], format, list(cells)
        )
