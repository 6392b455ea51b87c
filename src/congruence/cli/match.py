"""`congruence match`: which cluster of one clustering is which of another."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from congruence.cli.app import Columns, Format, Id, Long, Noise, Output, Policy, TwoSources, Unassigned, app
from congruence.cli.printing import print_rows, say, show, write_table
from congruence.cli.reading import noise_labels, two_columns


@app.command()
def match(
    file: Annotated[Path, typer.Argument(help="Table of labels: csv, tsv, parquet, feather, npy, npz.")],
    more: TwoSources = None,
    columns: Columns = None,
    id: Id = None,
    long: Long = None,
    unassigned: Unassigned = Policy.error,
    noise: Noise = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Write the matched clusters here: csv, tsv, parquet, feather.")
    ] = None,
    format: Output = Format.table,
) -> None:
    """Find the one-to-one matching of clusters with the most points in common.

    Examples:

      congruence match labels.csv kmeans leiden

      congruence match mine.csv theirs.csv --id cell --format csv
    """
    import congruence as cg
    from congruence.inputs import files

    if out is not None:
        files.check_writable(out, file, *map(Path, more or []))
    pair = two_columns(file, more or [], columns, id, long, noise_labels(noise))
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
