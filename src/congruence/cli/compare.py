"""`congruence compare`: two columns, two files, or several columns with a reference."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from congruence.cli.app import app
from congruence.cli.covers import COLUMNS, NO_COLUMNS, Covers, read_covers
from congruence.cli.joining import call_sides, columns_of_two_files, expect_two
from congruence.cli.options import VALUES, Engine, Gaps, Limits, Printing, Scanned, Weights, argument, option, refuse
from congruence.cli.parsing import limits_of, named_measures, noise_labels
from congruence.cli.printing import fail_if_under, print_result, say, write_result
from congruence.cli.reading import FoundLabels, check_noise_columns, listed, read_labels, table_of
from congruence.errors import InputError, some_of
from congruence.typing import ClusteringLike, Label, OptionValue

if TYPE_CHECKING:
    from congruence.comparison.pair import Comparison
    from congruence.comparison.results import AgainstReference
    from congruence.formulas.record import Measures as MeasuresLike

P_VALUES = ("--p-values", lambda given: given.p_values)


class Given(Weights, Scanned, Covers, Gaps, Limits, Printing, Engine):
    """The options of the command."""

    file: Path = argument("Table of labels: csv, tsv, parquet, feather, npy, npz; or a folder of them.")
    more: list[str] | None = argument("Two columns, or a second file.", None, metavar="[COL_A COL_B | FILE_B]")
    reference: str | None = option(None)
    out: Path | None = option(None, "Write the values here: csv, tsv, parquet, feather, json.", writes=VALUES)
    p_values: bool = option(False, "Add p-values of permutation tests.")
    ci: bool = option(False, "Add confidence intervals.")
    permutations: int | None = option(
        None,
        "Number of permutations for --p-values. Default: 1000, or none if the p-value can be computed without them.",
        needs=P_VALUES,
        least=1,
    )
    level: float = option(0.95, "Confidence level for --ci.", needs=("--ci", lambda given: given.ci))
    correction: Literal["holm", "bh", "none"] | None = option(
        None, "How to correct p-values of several columns for multiple testing. Default: holm.", needs=P_VALUES
    )
    seed: int | None = option(0, needs=("--p-values or --ci", lambda given: given.p_values or given.ci))
    counts: bool = option(
        False, "The file is a table of counts: names of clusters of a, then a column per cluster of b."
    )


@app.command()
def compare(given: Given) -> None:
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
    from congruence.inputs import files

    options: dict[str, OptionValue] = {
        "unassigned": given.unassigned, "noise": noise_labels(given.noise), "threads": given.threads, "engine": given.engine
    }  # fmt: skip
    limits = limits_of(given.fail_under)
    wanted = named_measures(given.measures, limits)
    chance: dict[str, OptionValue] = {}
    if given.p_values or given.ci:
        chance = {
            "p_values": given.p_values, "intervals": given.ci, "n_permutations": given.permutations, "level": given.level,
            "random_state": given.seed,
        }  # fmt: skip
    more = given.more or []
    result: Comparison | AgainstReference
    if given.counts:
        refuse(given, COLUMNS, "names columns of a table, but the file holds counts; leave it out")
        _one_pair(given)
        a, b, mass = _counted_pair(given.file, more)
        result = _compare_pair(a, b, wanted, {**options, **mass}, ("a", "b"), chance)
    elif given.holds_covers:
        refuse(given, COLUMNS, NO_COLUMNS)
        _one_pair(given)
        if len(given.paths) != 2:
            raise InputError(
                f"expected two covers, got {len(given.paths)} files; use `congruence matrix` for more than two"
            )
        (name_a, left), (name_b, right) = read_covers(given).items()
        result = _compare_pair(left, right, wanted, options, (name_a, name_b), chance)
    elif len(more) == 1 and files.suffix_of(Path(more[0])) in files.READERS:
        for_one = "weight frequency reference long client checkpoint skip_bad"
        refuse(given, for_one, "is for one file, but two files were given; join them first")
        _one_pair(given)
        pair = columns_of_two_files(given.file, Path(more[0]), given.columns, given.id, options["noise"])
        result = _compare_pair(*pair.values, wanted, {**options, "noise": pair.noise}, pair.names, chance)
    else:
        read, mass = read_labels(given, given.columns or more, find_reference=True)
        result = _compare_columns(given, read, wanted, {**options, **mass}, chance)
    if given.out is not None:
        write_result(result, given.out)
        say([f"wrote {given.out}"])
    if given.out is None or given.format != "table":
        print_result(result, given.format)
    fail_if_under(result, limits)


def _counted_pair(file: Path, more: list[str]) -> tuple[list[Label], list[Label], dict[str, OptionValue]]:
    """A point for each cell of a file of counts, as labels of a and of b, and how often it occurs."""
    import congruence as cg
    from congruence.inputs.counts import points_of

    if more:
        raise InputError(f"--counts takes one file, which holds both clusterings; got {some_of([file, *more])}")
    names, *columns = table_of(file).items()
    counts = [[0 if x is None else x for x in listed(column)] for _, column in columns]
    if not columns:
        raise InputError(f"{file} has one column; expected names of clusters of a, then a column per cluster of b")
    a, b, frequency = points_of(cg.Table(counts, [name for name, _ in columns], listed(names[1])).transposed())
    return a, b, {"frequency": frequency}


def _one_pair(given: Given) -> None:
    refuse(given, "correction", "is for several columns and a reference, but two clusterings are compared")


def _compare_columns(
    given: Given,
    read: FoundLabels,
    wanted: MeasuresLike,
    options: dict[str, OptionValue],
    chance: dict[str, OptionValue],
) -> Comparison | AgainstReference:
    """Compare two columns of a table, or all others with the reference."""
    import congruence as cg

    found, reference = read.columns, read.reference
    check_noise_columns(options["noise"], found)
    if reference is None:
        otherwise = ", or pass --reference COL, or use `congruence matrix` for all pairs"
        expect_two(given.file, found, named=bool(given.columns or given.more), otherwise=otherwise)
        _one_pair(given)
        (name_a, a), (name_b, b) = found.items()
        return _compare_pair(a, b, wanted, options, (name_a, name_b), chance)
    result = cg.compare_to(reference, found, wanted, **options)
    if not chance:
        return result
    from congruence.chance.alongside import Extras, beside_reference

    rest = {name: column for name, column in found.items() if name != reference}
    extras = Extras(**chance, correction=given.correction or "holm")
    return beside_reference(result, found[reference], rest, extras, **options)


def _compare_pair(
    a: ClusteringLike,
    b: ClusteringLike,
    wanted: MeasuresLike,
    options: dict[str, OptionValue],
    names: tuple[str, str],
    chance: dict[str, OptionValue],
) -> Comparison:
    """Compare two columns, and put their names into the cautions."""
    from dataclasses import replace

    import congruence as cg

    noise = options.get("noise")
    if isinstance(noise, dict):
        options = {**options, "noise": {k: noise[n] for k, n in zip("ab", names, strict=True) if n in noise}}
    call_sides(names)
    result = cg.compare(a, b, wanted, **options)
    if chance:
        from congruence.chance.alongside import Extras, beside

        result = beside(result, a, b, Extras(**chance), **options)
    called = dict(zip("ab", names, strict=True))
    return replace(result, names=names, cautions=tuple(c.renamed(called) for c in result.cautions))
