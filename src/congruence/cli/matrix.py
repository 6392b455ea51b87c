"""`congruence matrix`: all pairs of label columns."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from congruence.cli.app import app
from congruence.cli.covers import COLUMNS, NO_COLUMNS, Covers, read_covers
from congruence.cli.joining import columns_of_files
from congruence.cli.options import VALUES, Engine, Gaps, Limits, Printing, Scanned, Weights, argument, option, refuse
from congruence.cli.parsing import MOST_COLUMNS, check_number, check_width, limits_of, named_measures, noise_labels
from congruence.cli.printing import fail_if_under, print_result, say, square_columns, write_result, write_table
from congruence.cli.reading import check_noise_columns, read_labels
from congruence.typing import ClusteringLike, OptionValue, Record

if TYPE_CHECKING:
    from congruence.comparison.results import AllPairs


class Given(Weights, Scanned, Covers, Gaps, Limits, Printing, Engine):
    """The options of the command."""

    file: Path = argument("Table of label columns: csv, tsv, parquet, feather, npy, npz; or a folder of them.")
    more: list[Path] | None = argument("More files of the same points.", None, metavar="[FILE...]")
    out: Path | None = option(None, "Output file: csv, tsv, parquet, feather, json, npz.", writes=(*VALUES, ".npz"))


@app.command()
def matrix(given: Given) -> None:
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

    limits = limits_of(given.fail_under)
    mass: dict[str, OptionValue] = {}
    found: dict[str, ClusteringLike]
    if given.holds_covers:
        refuse(given, COLUMNS, NO_COLUMNS)
        found = dict(read_covers(given))
    elif given.more:
        for_one = "weight frequency long client checkpoint skip_bad"
        refuse(given, for_one, f"is for one table, but {len(given.paths)} files were given")
        found = columns_of_files(given.paths, given.columns, given.id).columns
    else:
        check_width(given.file, given.columns, given.long, MOST_COLUMNS, ", or call compare_all in Python")
        read, mass = read_labels(given)
        found = read.columns
    measures = given.measures or ("omega" if given.holds_covers else "ari")
    options: dict[str, OptionValue] = {"unassigned": given.unassigned, "noise": noise_labels(given.noise), **mass}
    check_noise_columns(options["noise"], found)
    check_number(found, MOST_COLUMNS, ", or call compare_all in Python")
    result = cg.compare_all(
        found, named_measures(measures, limits), threads=given.threads, engine=given.engine, **options
    )
    if given.out is not None:
        _write_matrix(result, given.out)
        say([*result.cautions, f"wrote {given.out}"])
    if given.out is None or given.format != "table":
        print_result(result, given.format)
        if given.format == "table" and len(result.names) > MOST_SHOWN:
            say([f"{len(result.names)} columns: --format csv prints all values, --out FILE writes them"])
    fail_if_under(result, limits)


def _write_matrix(result: AllPairs, out: Path) -> None:
    import numpy as np

    from congruence.inputs.files import suffix_of
    from congruence.machine.writing import replacing

    if suffix_of(out) == ".npz":
        arrays: Record = {"names": np.array(result.names), **{key: result[key] for key in result}}
        with replacing(out) as stream:
            np.savez_compressed(stream, **arrays)
    elif suffix_of(out) != ".json" and len(result.keys()) == 1:
        write_table(square_columns(result), out)
    else:
        write_result(result, out)
