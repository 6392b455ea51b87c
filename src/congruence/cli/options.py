"""What commands take: a class of options has one attribute for each, with its type and default; shared sentences are those of
`congruence.options`.

    class Given(Labels):
        least: int | None = option(None, "How many points to print.", least=1)

A command is a function of an object of such a class.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from os.path import isfile  # also for names that are too long
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeVar, cast, get_type_hints

import typer

import congruence.options as options
from congruence.errors import InputError, Option, joined
from congruence.typing import Dynamic, EngineName, OptionValue

if TYPE_CHECKING:  # it imports numpy
    from congruence.inputs.kinds import Unassigned

T = TypeVar("T")
#: how results are printed
Format = Literal["table", "json", "csv", "markdown"]
#: what to do with points without a label; "partial" is for ensembles
Policy = Literal["error", "drop", "singletons", "cluster", "keep"]
#: endings of files that hold a table, values, a figure, a saved result
TABLE = (".csv", ".tsv", ".parquet", ".feather", ".arrow")
VALUES = (*TABLE, ".json")
FIGURE = (".html", ".htm", ".png", ".pdf", ".svg")
SAVED = (".npz",)


class Declared:
    """One option or argument of commands.

    Args:
        default: Its value if it is not given; `...` if it must be.
        help: What it is. Default: the sentence of `congruence.options`.
        words: Its words on the command line. Default: its name after two dashes.
        needs: What it has no effect without, and whether that is given.
        writes: Endings of the file that it names, which is written.
        least: The smallest number.
        more: Settings of `typer.Option` or `typer.Argument`.
    """

    name = ""

    def __init__(
        self, default: OptionValue, help: str, words: tuple[str, ...], *, needs: Needs | None = None,
        writes: tuple[str, ...] = (), least: int | None = None, is_argument: bool = False, **more: OptionValue,
    ) -> None:  # fmt: skip
        self.is_argument = is_argument
        self.default, self.help, self.words = default, help, words
        self.needs, self.writes, self.least, self.more = needs, writes, least, more

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, given: object, owner: type) -> OptionValue:
        return self if given is None else self.default

    def annotation(self, kind: object) -> object:
        """The type, annotated as typer reads it."""
        shared = next(
            (x for name, x in options.OPTIONS.items() if self.name in (x.called or (name,))), options.Shared()
        )
        shared = options.OPTIONS.get(self.name, shared)
        about = {"help": self.help or shared.help, "min": self.least or shared.least, **self.more}
        if self.is_argument:
            return Annotated[Dynamic if kind is None else kind, typer.Argument(**about)]
        plain = f"--{self.name.replace('_', '-')}"
        flag = (f"{plain}/--no-{plain[2:]}",) if self.default is True else (plain,)
        return Annotated[kind, typer.Option(*(self.words or shared.words or flag), **about)]


def option(
    default: T, help: str = "", *words: str, needs: Needs | None = None, writes: tuple[str, ...] = (),
    least: int | None = None, **more: OptionValue,
) -> T:  # fmt: skip
    """Declare an option as an attribute of a class."""
    return cast("T", Declared(default, help, words, needs=needs, writes=writes, least=least, **more))


def required(help: str, *words: str, writes: tuple[str, ...] = ()) -> Dynamic:
    """Declare an option that must be given."""
    return Declared(..., help, words, writes=writes)


def argument(help: str, default: OptionValue = ..., **more: OptionValue) -> Dynamic:
    """Declare an argument, which has no name on the command line; arguments of a class are in this order."""
    return Declared(default, help, (), is_argument=True, **more)


#: files that were there before the command wrote them
REPLACED: list[Path] = []
#: files that a command reads and goes on with
CONTINUED = ("checkpoint", "previous")


class Options:
    """The options of every command, and those given: each is an attribute."""

    verbose: bool = option(False)
    quiet: bool = option(False)
    debug: bool = option(False)
    raw: bool = option(False)

    def __init__(self, **given: OptionValue) -> None:
        vars(self).update(given)

    @classmethod
    def declared(cls) -> Iterator[Declared]:
        """The options, those of the class itself before those that it shares."""
        found = {name: x for base in reversed(cls.__mro__) for name, x in vars(base).items() if isinstance(x, Declared)}
        order = [name for base in cls.__mro__ for name, x in vars(base).items() if isinstance(x, Declared)]
        arguments = [
            name for name, x in found.items() if x.is_argument
        ]  # that of a file is first, as the first class has it
        return (found[name] for name in dict.fromkeys([*arguments, *order]))

    @classmethod
    def annotations(cls) -> dict[str, object]:
        """The types of the options as typer reads them."""
        hints = get_type_hints(cls)
        return {x.name: x.annotation(hints[x.name]) for x in cls.declared()}

    def values_of(self, names: str) -> dict[str, OptionValue]:
        """These options by name."""
        return {name: getattr(self, name) for name in names.split()}

    def inputs(self) -> list[Path]:
        """The files that are read."""
        named = [getattr(self, x.name) for x in self.declared() if not x.writes and x.name not in CONTINUED]
        listed = [y for x in named for y in (x if isinstance(x, list) else [x])]
        return [Path(x) for x in listed if isinstance(x, Path) or (isinstance(x, str) and isfile(x))]


#: what an option needs, in words, and whether the command has it
Needs = tuple[str, Callable[[Dynamic], object]]


def check_needs(given: Options, was_given: Callable[[str], bool]) -> None:
    """Refuse options that were given but have no effect for the values of others."""
    for x in given.declared():
        if x.needs is not None and was_given(x.name) and not x.needs[1](given):
            raise InputError(f"{Option(x.name)} has no effect without {x.needs[0]}; leave it out")


def check_outputs(given: Options) -> None:
    """Refuse, before any work, files that cannot be written, are read too, have another kind, or are written twice."""
    from congruence.inputs.files import suffix_of
    from congruence.machine.writing import check_apart, check_target

    found = {x.name: (x, getattr(given, x.name)) for x in given.declared() if x.writes}
    for x, path in found.values():
        if path is not None and (path.suffix or "" not in x.writes):
            if suffix_of(path) not in x.writes:
                raise InputError(f"{path}: {Option(x.name)} is written as {joined(x.writes, 'or')}")
            check_target(path, given.inputs())
            if isfile(path):
                REPLACED.append(path)
    check_apart(**{name: path for name, (_, path) in found.items()})


def refuse(given: Options, names: str, why: str) -> None:
    """Refuse options that were given but do not fit what is read."""
    for name in names.split():
        if getattr(given, name, None) not in (None, False):
            raise InputError(f"{Option(name)} {why}")


# --- options that several commands have -------------------------------------------------------------------------------


class Reading(Options):
    """How files are read."""

    na_values: str | None = option(None)
    sheet: str | None = option(None)
    memory: str | None = option(None)
    progress: bool = option(False)


def _reads_anndata(given: Options) -> bool:
    from congruence.inputs.files import suffix_of
    from congruence.inputs.formats import ANNDATA

    values = (getattr(given, x.name) for x in given.declared())
    return any(isinstance(x, Path) and (str(x) == "-" or suffix_of(x) in ANNDATA) for x in values)


class Data(Reading):
    """A table of numbers."""

    layer: str | None = option(None, needs=("an .h5ad file", _reads_anndata))


class Printing(Options):
    """How a result is printed."""

    format: Format = option("table")
    json: bool = option(False)


class Labels(Reading):
    """A table of label columns, and what its columns are; some commands have none of the options without a declaration."""

    file: Path = argument("Table of labels: csv, tsv, parquet, feather, npy, npz.")
    columns: str | None = option(None)
    id: str | None = option(None)
    long: str | None = option(None)
    reference: str | None = None
    weight: str | None = None
    frequency: str | None = None
    client: str | None = None
    checkpoint: Path | None = None
    skip_bad: bool = False
    threads: int | None = None

    @property
    def mass(self) -> dict[str, str]:
        """The columns of weights or counts, by the option of `compare`."""
        named = {"sample_weight": self.weight, "frequency": self.frequency}
        return {option: name for option, name in named.items() if name is not None}

    @property
    def beside(self) -> dict[str, tuple[str, ...]]:
        """The same by their role."""
        return {
            role: (name,) for role, name in (("weight", self.weight), ("frequency", self.frequency)) if name is not None
        }

    def scanning(self, memory: float | None = None) -> dict[str, OptionValue]:
        """The options of a scan that were given."""
        named = {"client": self.client, "checkpoint": self.checkpoint, "skip_bad": self.skip_bad, "memory": memory}
        return {option: value for option, value in named.items() if value not in (None, False)}


class Noise(Options):
    """Labels of points in no cluster."""

    noise: str | None = option(None)


class Gaps(Noise):
    """Points in no cluster."""

    unassigned: Policy = option("error")


class Weights(Labels):
    """Columns of importance weights or counts."""

    weight: str | None = option(None)
    frequency: str | None = option(None)


class Scanned(Labels):
    """How rows are counted that stay where they are."""

    threads: int | None = option(None)
    client: str | None = option(None)
    checkpoint: Path | None = option(None)
    skip_bad: bool = option(False)


class Members(Labels, Noise):
    """Label columns, one per member of an ensemble."""

    file: Path = argument("Table of label columns, one per member.")
    reference: str | None = option(
        None, "Column to compare with, not a member; default: a column called truth or class; none: no column."
    )
    partial: bool = option(False)

    @property
    def policy(self) -> Unassigned:
        """How the members treat points without a label."""
        return "partial" if self.partial else "error"


class Gappy(Members):
    """Members that may have gaps, and how these count."""

    missing: Literal["ratio", "plain", "pooled"] = option("ratio", needs=("--partial", lambda given: given.partial))


class Measured(Options):
    """Measures by name."""

    measures: str | None = option(None, autocompletion=lambda incomplete: measures_like(incomplete))


class Limits(Measured):
    """Measures, and values that they must reach."""

    fail_under: list[str] | None = option(None)


class Bins(Data):
    """Features of a table, and how they are cut."""

    features: str | None = option(None)
    nominal: str | None = option(None)
    binning: Literal["width", "frequency", "mdl"] = option("width")
    bins: int = option(10, least=1, needs=("--binning width or frequency", lambda given: given.binning != "mdl"))


class Features(Bins):
    """A table of features and label columns."""

    data: Path = argument("Table of features and label columns.")


class Numbers(Data):
    """A table of numbers to cluster."""

    file: Path = argument("Table of numbers, one row per point; or npy.", metavar="DATA")
    columns: str | None = option(
        None, "Columns to cluster by, separated by commas; default: all numeric columns.", "--columns", "--features"
    )
    data_columns: str | None = option(None)
    id: str | None = option(None, "Column of row ids: kept, but not used for clustering.")

    @property
    def named(self) -> str | None:
        """The columns named by --columns, or by its other name."""
        if self.columns and self.data_columns:
            raise InputError("--columns and --data-columns are the same option; give one of them")
        return self.columns or self.data_columns


class Figure(Options):
    """A figure that is written."""

    plot: Path | None = option(None, writes=FIGURE)
    open: bool = option(False, needs=("--plot", lambda given: given.plot is not None))


class Engine(Options):
    """Where clusterings are counted."""

    threads: int | None = option(None)
    engine: EngineName = option("auto")


def measures_like(incomplete: str) -> list[str]:
    """Shell completions: a key, or the last of several separated by commas."""
    from congruence.formulas import names

    done, comma, last = incomplete.rpartition(",")
    return [f"{done}{comma}{key}" for key in names() if key.startswith(last)]
