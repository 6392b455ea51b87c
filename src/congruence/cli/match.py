"""`congruence match`: which clusters of two clusterings correspond."""

from pathlib import Path

from congruence.cli.app import Format, Policy
from congruence.cli.gaps import cautions_of
from congruence.cli.pair_reading import TwoColumns
from congruence.cli.printing import print_rows, say, show, write_table
from congruence.cli.two_columns import on_two_columns
from congruence.typing import Record


@on_two_columns
def match(pair: TwoColumns, unassigned: Policy, out: Path | None, format: Format) -> None:
    """Find the one-to-one matching of clusters with the most points in common.

    Examples:

      congruence match labels.csv kmeans leiden

      congruence match mine.csv theirs.csv --id cell --format csv
    """
    import congruence as cg

    result = cg.match(*pair.values, unassigned=unassigned.value, noise=pair.noise)
    rows: list[Record] = result.to_frame(backend="pyarrow").to_pylist()
    table = cg.contingency(*pair.values, unassigned=unassigned.value, noise=pair.noise)
    say([*cautions_of(pair, unassigned, table)])
    if out is not None:
        write_table({name: [row[name] for row in rows] for name in rows[0]} if rows else {}, out)
        say([f"wrote {out}: {len(rows)} matched clusters"])
    if format is Format.table:
        if out is None:
            show(f"a = {pair.names[0]}, b = {pair.names[1]}")
            show(result)
    else:
        print_rows(rows, format)
