"""`congruence matrix`: all pairs of label columns."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from congruence.cli.app import (
    Checkpoint,
    Client,
    Columns,
    Engine,
    FailUnder,
    Format,
    Frequency,
    Id,
    Long,
    Measures,
    Noise,
    Output,
    Policy,
    SkipBad,
    Threads,
    Unassigned,
    Weight,
    app,
    memory_of_tables,
)
from congruence.cli.covers import (
    NEEDS_COVERS,
    Keys,
    KeysOfJson,
    NumberOfPoints,
    ReadAs,
    holds_covers,
    no_columns,
    read_covers,
)
from congruence.cli.joining import columns_of_files
from congruence.cli.parsing import MOST_COLUMNS, check_number, check_width, limits_of, named_measures, noise_labels
from congruence.cli.printing import fail_if_under, print_result, say, square_columns, write_table
from congruence.cli.reading import check_noise_columns, read_labels
from congruence.typing import Frame, OptionValue, Record

if TYPE_CHECKING:
    from congruence.comparison.results import AllPairs


@app.command(needs=NEEDS_COVERS)
def matrix(
    file: Annotated[
        Path, typer.Argument(help="Table of label columns: csv, tsv, parquet, feather, npy, npz; or a folder of them.")
    ],
    more: Annotated[
        list[Path] | None, typer.Argument(metavar="[FILE...]", help="More files of the same points.")
    ] = None,
    measures: Measures = None,
    columns: Columns = None,
    id: Id = None,
    long: Long = None,
    unassigned: Unassigned = Policy.error,
    noise: Noise = None,
    weight: Weight = None,
    frequency: Frequency = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Output file: csv, tsv, parquet, feather, json, npz.")
    ] = None,
    format: Output = Format.table,
    threads: Threads = None,
    engine: Engine = "auto",
    fail_under: FailUnder = None,
    client: Client = None,
    checkpoint: Checkpoint = None,
    skip_bad: SkipBad = False,
    format_in: ReadAs = None,
    n: NumberOfPoints = None,
    keys: KeysOfJson = Keys.clusters,
) -> None:
    """Compare all pairs of label columns, or of cover files.

    Examples:

      congruence matrix labels.csv --measure ari --out ari.csv

      congruence matrix labels.parquet --measures ari,nmi_sum,vi --out agreement.npz

      congruence matrix runs.csv --long cell,method,cluster --unassigned drop

      congruence matrix many-files/ --memory 2GB --client tcp://scheduler:8786

      congruence matrix january.csv february.csv march.csv --id customer_no

      congruence matrix truth.cover first.cover second.cover --n 5013 --measures omega,onmi_max
    """
    import congruence as cg
    from congruence.comparison.results import MOST_SHOWN
    from congruence.inputs import files

    limits = limits_of(fail_under)
    if out is not None:
        files.check_writable(out, file, *(more or []))
    scanning = {"client": client, "checkpoint": checkpoint, "skip_bad": skip_bad, "memory": memory_of_tables()}
    paths = [file, *(more or [])]
    mass: dict[str, OptionValue] = {}
    if holds_covers(paths, format_in):
        no_columns(weight=weight, frequency=frequency, long=long, id=id, columns=columns)
        found = read_covers(paths, format_in, n, keys)
    elif more:
        for option, value in ({"weight": weight, "frequency": frequency, "long": long} | scanning).items():
            if value not in (None, False) and option != "memory":
                raise cg.InputError(f"--{option.replace('_', '-')} is for one table, but {len(paths)} files were given")
        found = columns_of_files(paths, columns, id).columns
    else:
        check_width(file, columns, long, MOST_COLUMNS, ", or call compare_all in Python")
        read, mass = read_labels(file, columns, id, long, weight, frequency, None, scanning)
        found = read.columns
    measures = measures or ("omega" if holds_covers(paths, format_in) else "ari")
    options: dict[str, OptionValue] = {"unassigned": unassigned.value, "noise": noise_labels(noise), **mass}
    check_noise_columns(options["noise"], found)
    check_number(found, MOST_COLUMNS, ", or call compare_all in Python")
    result = cg.compare_all(found, named_measures(measures, limits), threads=threads, engine=engine, **options)
    if out is not None:
        _write_matrix(result, out)
        say([*result.cautions, f"wrote {out}"])
    if out is None or format is not Format.table:
        print_result(result, format)
        if format is Format.table and len(result.names) > MOST_SHOWN:
            say([f"{len(result.names)} columns: --format csv prints all values, --out FILE writes them"])
    fail_if_under(result, limits)


def _write_matrix(result: AllPairs, out: Path) -> None:
    import numpy as np

    from congruence.inputs import files
    from congruence.machine.writing import replacing, write_text

    if files.suffix_of(out) == ".json":
        write_text(out, result.to_json(indent=2))
    elif files.suffix_of(out) == ".npz":
        arrays: Record = {"names": np.array(result.names), **{key: result[key] for key in result}}
        with replacing(out) as stream:
            np.savez_compressed(stream, **arrays)
    elif len(result.keys()) == 1:
        write_table(square_columns(result), out)
    else:
        table: Frame = result.to_frame(backend="pyarrow")
        write_table({name: table[name].to_pylist() for name in table.column_names}, out)
