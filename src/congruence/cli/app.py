"""The application and the options its commands share."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from enum import StrEnum
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Literal, TypeVar, get_type_hints

import typer
from typer.core import TyperCommand

from congruence.errors import FRONT, Call, Needs, Option, Python, joined
from congruence.typing import Dynamic, Function, OptionValue


@dataclass
class Settings:
    """Options that every command has, and its name."""

    #: the command that runs
    command: str = ""
    #: explain how each column was classified
    verbose: bool = False
    #: show the traceback of an internal error
    debug: bool = False
    #: write csv cells unchanged
    raw: bool = False
    #: unquoted fields of text files to treat as missing; None for the default list
    na_values: str | None = None
    #: layer or embedding of .h5ad files that holds the data
    layer: str | None = None
    #: sheet of .xlsx and .ods files
    sheet: str | None = None
    #: memory limit of the process, as in 2GB
    memory: str | None = None
    #: print progress, even without a terminal
    progress: bool = False


settings = Settings()
#: called with the error, if any, when a command ends: notes on what was found while scanning
at_end: list[Callable[[BaseException | None], None]] = []
F = TypeVar("F", bound=Function)


#: options that all commands share, and those that all commands that read files share
SHARED: dict[str, object] = {
    "verbose": Annotated[bool, typer.Option("--verbose", help="Explain how each column was classified.")],
    "debug": Annotated[bool, typer.Option("--debug", help="Show the traceback of an internal error.")],
    "raw": Annotated[
        bool,
        typer.Option("--raw", help="Write csv cells unchanged: no ' before text that begins with =, +, - or @."),
    ],
}
READING: dict[str, object] = {
    "na_values": Annotated[
        str | None,
        typer.Option(
            "--na-values",
            help="Unquoted fields of text files to treat as missing, as in NA,-; default: NA, N/A, n/a, NaN, nan, null, NULL, "
            "None and <NA>. Empty fields are always missing; a quoted 'NA' is a label.",
        ),
    ],
    "sheet": Annotated[
        str | None,
        typer.Option("--sheet", help="Sheet of .xlsx and .ods files, by name or number; default: the first."),
    ],
    "memory": Annotated[
        str | None,
        typer.Option(
            "--memory",
            help="Memory limit of the process, as in 2GB; the command stops with a one-line message if it needs more. Files are "
            "read in row groups where possible.",
        ),
    ],
    "progress": Annotated[
        bool, typer.Option("--progress", help="Print progress; without a terminal, one line per 10 %.")
    ],
}
DATA: dict[str, object] = {
    "layer": Annotated[
        str | None,
        typer.Option("--layer", help="Layer or embedding of .h5ad files that holds the data; default: X_pca, else X."),
    ],
}


def _reads_anndata(given: dict[str, OptionValue]) -> bool:
    from congruence.inputs.files import suffix_of
    from congruence.inputs.formats import ANNDATA

    return any(isinstance(x, Path) and (str(x) == "-" or suffix_of(x) in ANNDATA) for x in given.values())


#: groups of options in the help of a command with many; the others are its own
GROUPS = {
    "Input": "columns data_columns features id ids long partial noise unassigned weight frequency na_values sheet layer",
    "Output": "out format raw plot open verbose debug",
    "Running": "seed threads engine jobs client checkpoint skip_bad memory progress",
}


class Command(TyperCommand):
    """A command whose help shows flags without a type, and many options in groups."""

    def get_params(self, ctx: Dynamic) -> list[Dynamic]:  # noqa: D102
        found = list(super().get_params(ctx))
        group_of = {name: group for group, names in GROUPS.items() for name in names.split()}
        for option in found:
            if getattr(option, "is_flag", False):
                option.metavar = ""
            if len(found) > MANY and hasattr(option, "rich_help_panel") and option.rich_help_panel is None:
                option.rich_help_panel = group_of.get(option.name)
        return found


#: options above which the help of a command shows them in groups
MANY = 15


#: options whose names differ from those of arguments, the first that the command has, and commands from those of functions
CALLED = {
    "n_clusters": ("k",), "n_members": ("members",), "n_alternatives": ("n",), "points": ("n",), "n_points": ("n",),
    "sample_weight": ("weight",), "random_state": ("seed",), "n_jobs": ("jobs",), "n_permutations": ("permutations",),
    "X": ("data",), "dtype": ("float32",), "measure": ("measures",), "unassigned": ("unassigned", "partial"),
    "columns": ("columns", "data_columns", "features", "labels"), "data_columns": ("data_columns", "columns"),
}  # fmt: skip
COMMANDS = {"compare_all": "matrix", "compare_to": "compare"}


class CommandLine(Python):
    """Shows options and calls in messages as those of the command that runs, or says that they are for Python."""

    def __init__(self, params: list[Dynamic]) -> None:
        self.params = {p.name: p for p in params if p.opts[0].startswith("-")}

    def _param(self, name: str) -> Dynamic:
        return next((self.params[x] for x in CALLED.get(name, (name,)) if x in self.params), None)

    def option(self, x: Option) -> str:
        """The option of the command with its values."""
        param = self._param(x.name)
        if param is None or x.values == (None,):
            return super().option(x) + " in Python" * bool(x.values)
        option: str = param.opts[0]
        if x.values == (False,):
            return f"--no-{option[2:]}"
        plain = not x.values or x.values[0] in (True, ...) or getattr(param, "is_flag", False)
        return option if plain else f"{option} {joined(x.values, 'or')}"

    def call(self, x: Call) -> str:
        """The command of a function, or the call."""
        name = x.text.removeprefix("cg.")
        command = COMMANDS.get(name, name.replace("_", "-"))
        if x.command is not None:
            return x.command
        known = command in {c.name or getattr(c.callback, "__name__", "") for c in app.registered_commands}
        return f"`congruence {command}`" if known else f"{x.text} in Python"

    def suffix(self, x: Option) -> str:
        """The option that names columns, if there is one."""
        param = self._param(x.name)
        return f" with {param.opts[0]}" if param is not None else ""


def _check_needs(context: typer.Context, needs: Needs, given: dict[str, OptionValue]) -> None:
    """Refuse options that were given but have no effect for these values, which typer has converted to paths and choices."""
    from congruence.errors import InputError

    for name, (what, has_it) in needs.items():
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE" and not has_it(given):
            option = next(p.opts[0] for p in context.command.params if p.name == name)
            raise InputError(f"{option} has no effect without {what}; leave it out")


def _local(value: OptionValue) -> OptionValue:
    """Standard input (`-`) and addresses as files, including those in a list; other values unchanged."""
    if isinstance(value, list):
        return [str(_local(Path(x))) if isinstance(x, str) and _is_elsewhere(x) else _local(x) for x in value]
    if isinstance(value, Path) and _is_elsewhere(str(value)):
        from congruence.inputs.formats import local_file

        return local_file(value)
    return value


def _is_elsewhere(text: str) -> bool:
    return text == "-" or ":/" in text


#: memory of the program and its libraries after loading, and the smallest limit
PROGRAM, LEAST = 300e6, 400e6


@contextmanager
def watched() -> Iterator[None]:
    """Enforce --memory (the process ends with one line if it needs more) and switch on --progress."""
    if settings.progress:
        from congruence.engine.plan import Progress

        Progress.in_lines = True
    if settings.memory is None:
        yield
        return
    from congruence.errors import InputError
    from congruence.machine import memory
    from congruence.scanning.room import bytes_of

    limit = bytes_of(settings.memory)
    if limit < LEAST:
        raise InputError(
            f"--memory {settings.memory} is too little: the program and its libraries need about {PROGRAM / 1e6:.0f} MB; "
            f"pass at least --memory {LEAST / 1e6:.0f}MB"
        )
    with memory.at_most(limit, _out_of_memory):
        yield


def _out_of_memory(used: int) -> None:
    """End the process, because memory held by libraries cannot be released."""
    import os

    from congruence.machine.writing import discard_unfinished

    line = f"congruence: this needs more than --memory {settings.memory} ({used / 1e6:.0f} MB so far)"
    print(f"{line}; allow more memory, or name fewer columns", file=sys.stderr, flush=True)
    discard_unfinished()
    os._exit(3)


def memory_of_tables() -> float | None:
    """The part of --memory that is left for a scan after the program and its libraries; None without a limit."""
    if settings.memory is None:
        return None
    from congruence.scanning.room import bytes_of

    return bytes_of(settings.memory) - PROGRAM


class App(typer.Typer):
    """An application whose commands share options."""

    def command(self, name: str | None = None, needs: Needs | None = None, **options: OptionValue) -> Callable[[F], F]:
        """Declare a command, with the options that all commands share; `needs` gives the conditions of its options."""
        declare = super().command(name, cls=Command, **options)

        def declared(function: F) -> F:
            conditions: Needs = {**(needs or {}), "layer": ("an .h5ad file", _reads_anndata)}
            parameters = signature(function).parameters
            takes = parameters.keys()
            shared = {
                **SHARED,
                **(READING if takes & {"file", "data", "a"} else {}),
                **(DATA if takes & {"data", "data_columns"} else {}),
            }

            @wraps(function)
            def run(context: typer.Context, **given: OptionValue) -> object:
                _check_needs(context, conditions, given)
                given["command"] = name or function.__name__
                for option, value in asdict(Settings()).items():
                    setattr(settings, option, given.pop(option, value) if option in {*shared, "command"} else value)
                at_end.clear()
                FRONT.append(CommandLine(context.command.params))
                try:
                    with watched():
                        return function(**{option: _local(x) for option, x in given.items()})
                finally:
                    for notes in at_end:
                        notes(sys.exception())
                    FRONT.pop()

            hints = {"context": typer.Context, **get_type_hints(function, include_extras=True), **shared}
            own = [x.replace(annotation=hints[x.name]) for x in parameters.values()]
            kind, off = Parameter.KEYWORD_ONLY, vars(Settings())
            first = Parameter("context", kind, annotation=typer.Context)
            more = [Parameter(x, kind, default=off[x], annotation=hints[x]) for x in shared]
            run.__signature__ = Signature([first, *(x.replace(kind=kind) for x in own), *more])  # type: ignore[attr-defined]
            run.__annotations__ = hints
            declare(run)
            return function

        return declared


app = App(
    name="congruence",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="""Compare clusterings: two label columns, or hundreds.

    Examples:

      congruence demo

      congruence compare labels.csv kmeans leiden

      congruence matrix labels.parquet --measures ari,vi --out agreement.npz

      congruence compare --help

    Exit codes: 0 success; 1 a measure is worse than --fail-under allows; 2 invalid input; 3 out of memory, or an internal
    error (--debug shows where); 130 stopped by Ctrl-C.
    """,
)


class Format(StrEnum):
    """How results are printed."""

    table = "table"
    json = "json"
    csv = "csv"
    markdown = "markdown"


class Policy(StrEnum):
    """How to treat points without a label."""

    error = "error"
    drop = "drop"
    singletons = "singletons"
    cluster = "cluster"
    keep = "keep"


class Correction(StrEnum):
    """How to correct p-values for multiple testing."""

    holm = "holm"
    bh = "bh"
    none = "none"


def measures_like(incomplete: str) -> list[str]:
    """Shell completions: a key, or the last of several separated by commas."""
    from congruence.formulas import names

    done, comma, last = incomplete.rpartition(",")
    return [f"{done}{comma}{key}" for key in names() if key.startswith(last)]


Measures = Annotated[
    str | None,
    typer.Option(
        "--measures",
        "--measure",
        "-m",
        help="Measures by key, separated by commas, or 'all'.",
        autocompletion=measures_like,
    ),
]
LabelTable = Annotated[Path, typer.Argument(help="Table of labels: csv, tsv, parquet, feather, npy, npz.")]
MemberTable = Annotated[Path, typer.Argument(help="Table of label columns, one per member.")]
Partial = Annotated[bool, typer.Option("--partial", help="Members may label only some of the points.")]
FeatureTable = Annotated[Path, typer.Argument(help="Table of features and label columns.")]
PointTable = Annotated[Path, typer.Argument(metavar="DATA", help="Table of numbers, one row per point; or npy.")]
FigureOut = Annotated[Path | None, typer.Option(help="Write the figure here: .html, .png, .pdf or .svg.")]
TableOut = Annotated[Path | None, typer.Option("--out", "-o", help="Write the table here: csv, tsv, parquet, feather.")]
TwoSources = Annotated[
    list[str] | None, typer.Argument(metavar="[COL_A COL_B | FILE_B]", help="Two columns, or a second file.")
]
Columns = Annotated[
    str | None, typer.Option(help="The label columns to use, separated by commas; 'leiden*' is a pattern.")
]
Numbers = Annotated[
    str | None,
    typer.Option(
        "--columns", "--features", help="Columns to cluster by, separated by commas; default: all numeric columns."
    ),
]
DataColumns = Annotated[str | None, typer.Option(help="The same as --columns: columns of numbers, as in a,b or 'PC*'.")]
RowNames = Annotated[str | None, typer.Option(help="Column of row ids: kept, but not used for clustering.")]
Reference = Annotated[str | None, typer.Option(help="Compare every other column with this one.")]
Id = Annotated[str | None, typer.Option(help="Column of row ids, not a clustering; joins two files.")]
Long = Annotated[str | None, typer.Option(help="The file is a long table with these columns: id,method,label.")]
Unassigned = Annotated[
    Policy, typer.Option(help="How to treat points without a label; keep is for covers, and their default.")
]
Noise = Annotated[str | None, typer.Option(help="Labels that mean noise: -1, or -1,unknown, or by column 'a=-1;b=0'.")]
Weight = Annotated[str | None, typer.Option(help="Column of importance weights.")]
Frequency = Annotated[str | None, typer.Option(help="Column of counts: how often each row occurs.")]
Output = Annotated[Format, typer.Option("--format", "-f", help="How to print the result.")]

Threads = Annotated[int | None, typer.Option(min=1, help="Number of threads; default: all cores.")]
Engine = Annotated[Literal["auto", "cpu", "cuda"], typer.Option("--engine", help="Where to count; cuda is a CUDA GPU.")]
FailUnder = Annotated[
    list[str] | None,
    typer.Option(help="Exit with 1 if the measure is worse than this, as in ari=0.9; may be repeated."),
]
Client = Annotated[
    str | None, typer.Option(help="Count on a Dask cluster: the address of its scheduler, as in tcp://host:8786.")
]
Checkpoint = Annotated[Path | None, typer.Option(help="Folder for finished parts, from which a stopped run resumes.")]
SkipBad = Annotated[bool, typer.Option("--skip-bad", help="Skip unreadable parts; the result lists them.")]

NEEDS_PARTIAL: Needs = {"missing": ("--partial", lambda given: given["partial"])}
Missing = Annotated[
    Literal["ratio", "plain", "pooled"], typer.Option(help="How missing labels of partial members count.")
]
Open = Annotated[bool, typer.Option("--open", help="Open the written file in the browser.")]


def _version(wanted: bool) -> None:
    if wanted:
        from congruence import __version__

        print(f"congruence {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


Seed = Annotated[int | None, typer.Option(help="Random seed; the same seed gives the same result.")]

Features = Annotated[
    str | None, typer.Option(help="Columns the data were clustered by, separated by commas; default: all others.")
]
Nominal = Annotated[str | None, typer.Option(help="Features whose numbers are codes of nominal values.")]
BinsBy = Annotated[Literal["width", "frequency", "mdl"], typer.Option("--binning", help="How to bin features.")]
Bins = Annotated[int, typer.Option(min=1, help="Number of bins per numeric feature.")]
NEEDS_BINS: Needs = {"bins": ("--binning width or frequency", lambda given: given["binning"] != "mdl")}
