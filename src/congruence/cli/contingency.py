"""`congruence contingency`: how many points of one cluster are in another."""

from pathlib import Path

from congruence.cli.app import Format, Policy
from congruence.cli.gaps import cautions_of
from congruence.cli.pair_reading import TwoColumns
from congruence.cli.printing import print_rows, say, write_table
from congruence.cli.two_columns import on_two_columns
from congruence.typing import ColumnLike


@on_two_columns
def contingency(pair: TwoColumns, unassigned: Policy, out: Path | None, format: Format) -> None:
    """Count how many points of each cluster of one clustering are in each cluster of another.

    Examples:

      congruence contingency labels.csv kmeans leiden

      congruence contingency mine.csv theirs.csv --id cell --out table.csv
    """
    import congruence as cg

    table = cg.contingency(*pair.values, unassigned=unassigned.value, noise=pair.noise)
    dense = table.to_array()
    corner = " × ".join(pair.names)
    cells: dict[str, ColumnLike] = {corner: [str(name) for name in table.rows]}
    cells |= {str(name): dense[:, j].tolist() for j, name in enumerate(table.columns)}
    say([*cautions_of(pair, unassigned, table)])
    if out is not None:
        write_table(cells, out)
        say([f"wrote {out}: {table.shape[0]} × {table.shape[1]} clusters"])
    if out is None or format is not Format.table:
        print_rows(
            [dict(zip(cells, row, strict=True)) for row in zip(*cells.values(), strict=True)], format, list(cells)
        )
