"""`congruence match`: which clusters of two clusterings correspond."""

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
from congruence.cli.printing import print_rows, say, show, write_table
from congruence.cli.reading import two_columns


@app.command()
def match(
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
    """Find the one-to-one matching of clusters with the most points in common.

    Examples:

      congruence match labels.csv kmeans leiden

      congruence match mine.csv theirs.csv --id cell --format csv
    """
    import congruence as cg

    pair = two_columns(file, more or [], columns, id, long, noise_labels(noise), out)
    result = cg.match(*pair.values, unassigned=unassigned.value, noise=pair.noise)
    rows: list[dict[str, Any]] = result.to_frame(backend="pyarrow").to_pylist()
    say(pair.notes)
    if out is not None:
        write_table({name: [row[name] for row in rows] for name in rows[0]} if rows else {}, out)
        say([f"wrote {out}: {len(rows)} matched clusters"])
    if format is Format.table:
        if out is None:
            show(f"a = {pair.names[0]}, b = {pair.names[1]}")
            show(result)
    else:
        print_rows(rows, format)
