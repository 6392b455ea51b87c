"""`congruence compare`: two columns, two files, or several columns with a reference."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from congruence.cli.app import (
    Checkpoint,
    Client,
    Columns,
    Correction,
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
    Reference,
    Seed,
    SkipBad,
    Threads,
    TwoSources,
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
from congruence.cli.pair_reading import columns_of_two_files, named
from congruence.cli.parsing import limits_of, named_measures, noise_labels
from congruence.cli.printing import fail_if_under, print_result, say, write_table
from congruence.cli.reading import check_noise_columns, listed, read_labels, table_of
from congruence.errors import some_of
from congruence.typing import ClusteringLike, Label, OptionValue

if TYPE_CHECKING:
    from congruence.cli.reading import FoundLabels
    from congruence.comparison.pair import Comparison
    from congruence.comparison.presenting import Result
    from congruence.comparison.results import AgainstReference
    from congruence.formulas.record import Measures as MeasuresLike


@app.command(
    needs={
        "permutations": ("--p-values", lambda given: given["p_values"]),
        "correction": ("--p-values", lambda given: given["p_values"]),
        "level": ("--ci", lambda given: given["ci"]),
        "seed": ("--p-values or --ci", lambda given: given["p_values"] or given["ci"]),
        **NEEDS_COVERS,
    }
)
def compare(
    file: Annotated[
        Path, typer.Argument(help="Table of labels: csv, tsv, parquet, feather, npy, npz; or a folder of them.")
    ],
    more: TwoSources = None,
    measures: Measures = None,
    columns: Columns = None,
    reference: Reference = None,
    id: Id = None,
    long: Long = None,
    unassigned: Unassigned = Policy.error,
    noise: Noise = None,
    weight: Weight = None,
    frequency: Frequency = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Write the values here: csv, tsv, parquet, feather, json.")
    ] = None,
    format: Output = Format.table,
    threads: Threads = None,
    engine: Engine = "auto",
    fail_under: FailUnder = None,
    p_values: Annotated[bool, typer.Option("--p-values", help="Add p-values of permutation tests.")] = False,
    ci: Annotated[bool, typer.Option("--ci", help="Add confidence intervals.")] = False,
    permutations: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Number of permutations for --p-values. Default: 1000, or none if the p-value can be computed without them.",
        ),
    ] = None,
    level: Annotated[float, typer.Option(help="Confidence level for --ci.")] = 0.95,
    correction: Annotated[
        Correction | None,
        typer.Option(help="How to correct p-values of several columns for multiple testing. Default: holm."),
    ] = None,
    seed: Seed = 0,
    client: Client = None,
    checkpoint: Checkpoint = None,
    skip_bad: SkipBad = False,
    format_in: ReadAs = None,
    n: NumberOfPoints = None,
    keys: KeysOfJson = Keys.clusters,
    counts: Annotated[
        bool,
        typer.Option(
            "--counts", help="The file is a table of counts: names of clusters of a, then a column per cluster of b."
        ),
    ] = False,
) -> None:
    """Compare two label columns, two files, or several columns with a reference.

    Examples:

      congruence compare labels.csv kmeans leiden

      congruence compare mine.csv theirs.csv --id cell --measures ari,vi,element_centric

      congruence compare labels.parquet --reference truth --fail-under ari=0.9

      congruence compare labels.csv kmeans leiden --measures ari,vi --p-values --ci

      congruence compare many-files/ kmeans leiden --checkpoint saved/

      congruence compare truth.cover found.cover --n 1134

      congruence compare --counts crosstab.csv
    """
    import congruence as cg
    from congruence.inputs import files

    more = more or []
    if out is not None:
        files.check_writable(out, file, *(x for x in more if Path(x).suffix))
        if files.suffix_of(out) == ".npz":
            raise cg.InputError(f"{out}: values are written as .csv, .tsv, .parquet, .feather or .json")
    options: dict[str, OptionValue] = {
        "unassigned": unassigned.value, "noise": noise_labels(noise), "threads": threads, "engine": engine
    }  # fmt: skip
    limits = limits_of(fail_under)
    wanted = named_measures(measures, limits)
    chance: dict[str, OptionValue] = {}
    if p_values or ci:
        chance = {
            "p_values": p_values, "intervals": ci, "n_permutations": permutations, "level": level, "random_state": seed
        }  # fmt: skip
    paths = [file, *(Path(x) for x in more)]
    if counts:
        for_labels = {"weight": weight, "frequency": frequency, "reference": reference, "long": long, "id": id}
        no_columns("the file holds counts", **for_labels, columns=columns)
        _one_pair(correction)
        a, b, mass = _counted_pair(file, more)
        result: Comparison | AgainstReference = _compare_pair(a, b, wanted, {**options, **mass}, "a", "b", chance)
    elif holds_covers(paths, format_in):
        no_columns(weight=weight, frequency=frequency, reference=reference, long=long, id=id, columns=columns)
        _one_pair(correction)
        if len(paths) != 2:
            raise cg.InputError(
                f"expected two covers, got {len(paths)} files; use `congruence matrix` for more than two"
            )
        (name_a, left), (name_b, right) = read_covers(paths, format_in, n, keys).items()
        result = _compare_pair(left, right, wanted, options, name_a, name_b, chance)
    elif len(more) == 1 and files.suffix_of(Path(more[0])) in files.READERS:
        _for_one_file(weight=weight, frequency=frequency, reference=reference, long=long)
        _for_one_file(client=client, checkpoint=checkpoint, **{"skip-bad": skip_bad or None})
        _one_pair(correction)
        result = _compare_files(file, Path(more[0]), wanted, columns, id, options, chance)
    else:
        scanning = {
            "client": client, "checkpoint": checkpoint, "skip_bad": skip_bad, "memory": memory_of_tables(),
            "threads": threads,
        }  # fmt: skip
        read, mass = read_labels(file, columns or more, id, long, weight, frequency, reference, scanning, True)
        result = _compare_columns(read, wanted, {**options, **mass}, chance, correction, file)
    if out is not None:
        _write(result, out)
        say([f"wrote {out}"])
    if out is None or format is not Format.table:
        print_result(result, format)
    fail_if_under(result, limits)


def _counted_pair(file: Path, more: list[str]) -> tuple[list[Label], list[Label], dict[str, OptionValue]]:
    """A point for each cell of a file of counts, as labels of a and of b, and how often it occurs."""
    import congruence as cg
    from congruence.inputs.counts import points_of

    if more:
        raise cg.InputError(f"--counts takes one file, which holds both clusterings; got {some_of([file, *more])}")
    names, *columns = table_of(file).items()
    counts = [[0 if x is None else x for x in listed(column)] for _, column in columns]
    if not columns:
        raise cg.InputError(f"{file} has one column; expected names of clusters of a, then a column per cluster of b")
    a, b, frequency = points_of(cg.Table(counts, [name for name, _ in columns], listed(names[1])).transposed())
    return a, b, {"frequency": frequency}


def _one_pair(correction: Correction | None) -> None:
    from congruence import InputError

    if correction is not None:
        raise InputError("--correction is for several columns and a reference, but two clusterings are compared")


def _compare_columns(
    read: FoundLabels,
    wanted: MeasuresLike,
    options: dict[str, OptionValue],
    chance: dict[str, OptionValue],
    correction: Correction | None,
    file: Path,
) -> Comparison | AgainstReference:
    """Compare two columns of a table, or all others with the reference."""
    import congruence as cg

    found, reference = read.columns, read.reference
    check_noise_columns(options["noise"], found)
    if reference is None:
        if len(found) != 2:
            raise cg.InputError(
                f"{file} has {len(found)} label columns ({some_of(found, 6)}); "
                "name two of them, or pass --reference COL, or use `congruence matrix` for all pairs"
            )
        _one_pair(correction)
        (name_a, a), (name_b, b) = found.items()
        return _compare_pair(a, b, wanted, options, name_a, name_b, chance)
    result = cg.compare_to(reference, found, wanted, **options)
    if not chance:
        return result
    from congruence.chance.alongside import Extras, beside_reference

    rest = {name: column for name, column in found.items() if name != reference}
    extras = Extras(**chance, correction=(correction or Correction.holm).value)
    return beside_reference(result, found[reference], rest, extras, **options)


def _write(result: Result, out: Path) -> None:
    from congruence.inputs import files
    from congruence.machine.writing import write_text

    if files.suffix_of(out) == ".json":
        write_text(out, result.to_json(indent=2))
    else:
        table = result.to_frame(backend="pyarrow")
        write_table({name: table[name].to_pylist() for name in table.column_names}, out)


def _for_one_file(**options: OptionValue) -> None:
    from congruence import InputError

    for name, value in options.items():
        if value is not None:
            raise InputError(f"--{name} names columns of one file, but two files were given; join them first")


def _compare_files(
    a: Path,
    b: Path,
    wanted: MeasuresLike,
    columns: str | None,
    id: str | None,
    options: dict[str, OptionValue],
    chance: dict[str, OptionValue],
) -> Comparison:
    pair = columns_of_two_files(a, b, columns, id, options["noise"])
    return _compare_pair(*pair.values, wanted, {**options, "noise": pair.noise}, *pair.names, chance)


def _compare_pair(
    a: ClusteringLike,
    b: ClusteringLike,
    wanted: MeasuresLike,
    options: dict[str, OptionValue],
    name_a: str,
    name_b: str,
    chance: dict[str, OptionValue],
) -> Comparison:
    """Compare two columns, and put their names into the cautions."""
    from dataclasses import replace

    import congruence as cg

    noise = options.get("noise")
    if isinstance(noise, dict):
        options = {**options, "noise": {k: noise[n] for k, n in (("a", name_a), ("b", name_b)) if n in noise}}
    with named((name_a, name_b)):
        result = cg.compare(a, b, wanted, **options)
        if chance:
            from congruence.chance.alongside import Extras, beside

            result = beside(result, a, b, Extras(**chance), **options)
    names = {"a": name_a, "b": name_b}
    return replace(result, names=(name_a, name_b), cautions=tuple(c.renamed(names) for c in result.cautions))
