"""The options that functions and commands share, each declared once: its sentence, what None means, its name in a command.

A docstring names such options in one line, "threads, engine: See `congruence.options`."; `described` puts their sentences
there, with the defaults of the signature, and says what every public function raises, if the docstring names no errors.
Commands show the same sentence, or that for columns of a file (`cli`).
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

from congruence.typing import Dynamic, Function, OptionValue

T = TypeVar("T")


@dataclass(frozen=True)
class Shared:
    """An option that several functions or commands have.

    Args:
        says: What it is, in the words of Python: options in backticks, values in quotes.
        none: What the default None means.
        called: Its names as an option of commands, the first that a command has. Default: the name of the argument.
        cli: What it is in a command, if that differs.
        words: The words of the command line, if they are not its name after two dashes.
        least: The smallest number that a command takes.
    """

    says: str = ""
    none: str = ""
    called: tuple[str, ...] = ()
    cli: str = ""
    words: tuple[str, ...] = ()
    least: int | None = None

    @property
    def help(self) -> str:
        """The sentence that a command shows."""
        plain = self.says.replace('"', "").replace("`", "")
        return self.cli or f"{plain} Default: {self.none}." if self.none else self.cli or plain


OPTIONS = {
    # what is compared
    "a": Shared(
        "First clustering: labels (a list, numpy, pandas, polars, arrow or DLPack array, 1-D), memberships (2-D floats or "
        "sparse, points × clusters), or an `Ensemble`, `Similarity` or `Hierarchy`. It is the reference for asymmetric measures."
    ),
    "b": Shared("Second clustering, of the same points in the same order."),
    "ensemble": Shared("An `Ensemble`, or input for one: label columns, a frame, a list or mapping of clusterings."),
    "X": Shared("The data, points × attributes: an array or a frame.", called=("data",)),
    "measure": Shared("Key or record of a measure; `cg.measures()` lists them.", called=("measures",)),
    # which points count, and how
    "unassigned": Shared(
        'What to do with points in no cluster, which are missing labels and labels named by `noise`: "error" raises, "drop" '
        'leaves the points out, "singletons" makes each a separate cluster, "cluster" puts all in one cluster.',
        called=("unassigned", "partial"),
        cli="How to treat points without a label; keep is for covers, and their default.",
    ),
    "noise": Shared(
        'Labels that mean "in no cluster": one label, several, or a mapping from the name of a clustering to labels.',
        cli="Labels that mean noise: -1, or -1,unknown, or by column 'a=-1;b=0'.",
    ),
    "sample_weight": Shared(
        "Importance of each point, numbers of at least 0; only ratios matter.",
        none="all points are equal",
        called=("weight",),
        cli="Column of importance weights.",
    ),
    "frequency": Shared(
        "How often each point occurs, whole numbers.", none="once", cli="Column of counts: how often each row occurs."
    ),
    "align": Shared(
        'How pandas indexes are joined: "index" keeps common points, "position" ignores indexes.',
        none="indexes must be equal",
    ),
    "missing": Shared(
        'How pairs of points without a label in a member count: "ratio" or "plain"; see the guide to ensembles.',
        cli="How missing labels of partial members count.",
    ),
    "options": Shared(
        "How the clusterings are read, as in `compare`: `unassigned`, `noise`, `sample_weight`, `frequency`, `align`."
    ),
    # how it is computed
    "threads": Shared("Number of threads that count; it does not change results.", none="all cores", least=1),
    "engine": Shared('Where to count: "auto" uses the GPU if the labels are on one, else the CPU; "cpu"; or "cuda".'),
    "n_jobs": Shared(
        "Number of clusterings computed at the same time, −1 for one on every core; it does not change results.",
        none="one",
        called=("jobs",),
    ),
    "random_state": Shared(
        "Seed, `numpy.random.Generator` or `SeedSequence`; None draws anew at every call.",
        called=("seed",),
        cli="Random seed; the same seed gives the same result.",
    ),
    "progress": Shared(
        "Function of (done, total), True for a progress bar, or False for none.",
        none="a bar on a terminal",
        cli="Print progress; without a terminal, one line per 10%.",
    ),
    # columns of a scan
    "client": Shared(
        "Dask client, for columns of a `cg.scan`.",
        cli="Count on a Dask cluster: the address of its scheduler, as in tcp://host:8786.",
    ),
    "checkpoint": Shared(
        "Folder in which a count of scanned columns saves finished parts.",
        cli="Folder for finished parts, from which a stopped run resumes.",
    ),
    "memory": Shared(
        'Most memory that scanned columns may take, such as "2GB", or a number of bytes.',
        cli="Memory limit of the process, as in 2GB; the command stops with a one-line message if it needs more. Files are "
        "read in row groups where possible.",
    ),
    "skip_bad": Shared(
        "Whether to skip parts of a scan that cannot be read.",
        none="no",
        cli="Skip unreadable parts; the result lists them.",
    ),
    # clusters and bins
    "n_init": Shared("Number of random starts.", none="depends on the method"),
    "min_size": Shared(
        "Smallest number of points of a cluster.", none="max(2, n/(3k)) for maximus, none for the others"
    ),
    "scale": Shared("Whether to standardise numeric attributes first."),
    "nominal": Shared(
        "Names of numeric attributes to treat as nominal.", cli="Features whose numbers are codes of nominal values."
    ),
    "binning": Shared(
        'How attributes are cut: "width", "frequency", "mdl", or a `Binning`.', cli="How to bin features."
    ),
    "bins": Shared("Number of bins of a numeric attribute.", cli="Number of bins per numeric feature."),
    "bivariate": Shared("Whether to bin all pairs of attributes."),
    "backend": Shared(
        'Kind of frame: "pandas", "polars" or "pyarrow".',
        none="the kind of the inputs, else pandas if it is installed, else pyarrow",
    ),
    "n_clusters": Shared("Number of clusters.", called=("k",), least=1),
    # files of commands, their columns, and what is written
    "measures": Shared(
        cli="Measures by key, separated by commas, or 'all'.", words=("--measures", "--measure", "-m"),
    ),
    "columns": Shared(
        cli="The label columns to use, separated by commas; 'leiden*' is a pattern.",
        called=("columns", "data_columns", "features", "labels"),
    ),
    "data_columns": Shared(
        cli="The same as --columns: columns of numbers, as in a,b or 'PC*'.", called=("data_columns", "columns")
    ),
    "features": Shared(cli="Columns the data were clustered by, separated by commas; default: all others."),
    "id": Shared(cli="Column of row ids, not a clustering; joins two files."),
    "long": Shared(cli="The file is a long table with these columns: id,method,label."),
    "reference": Shared(cli="Compare every other column with this one."),
    "partial": Shared(cli="Members may label only some of the points."),
    "format": Shared(cli="How to print the result.", words=("--format", "-f")),
    "out": Shared(cli="Write the table here: csv, tsv, parquet, feather.", words=("--out", "-o")),
    "plot": Shared(cli="Write the figure here: .html, .png, .pdf or .svg."),
    "open": Shared(cli="Open the written file in the browser."),
    "fail_under": Shared(cli="Exit with 1 if the measure is worse than this, as in ari=0.9; may be repeated."),
    "na_values": Shared(
        cli="Unquoted fields of text files to treat as missing, as in NA,-; default: NA, N/A, n/a, NaN, nan, null, NULL, None "
        "and <NA>. Empty fields are always missing; a quoted 'NA' is a label."
    ),
    "sheet": Shared(cli="Sheet of .xlsx and .ods files, by name or number; default: the first."),
    "layer": Shared(cli="Layer or embedding of .h5ad files that holds the data; default: X_pca, else X."),
    "verbose": Shared(cli="Explain how each column was classified."),
    "quiet": Shared(cli="Print no notes.", words=("--quiet", "-q")),
    "json": Shared(cli="The same as --format json."),
    "debug": Shared(cli="Show the traceback of an internal error."),
    "raw": Shared(cli="Write csv cells unchanged: no ' before text that begins with =, +, - or @."),
    # arguments of other names in commands
    "n_members": Shared(called=("members",)),
    "n_alternatives": Shared(called=("n",)),
    "points": Shared(called=("n",)),
    "n_points": Shared(called=("n",)),
    "n_permutations": Shared(called=("permutations",)),
    "dtype": Shared(called=("float32",)),
}  # fmt: skip

#: ends the line of a docstring that names shared options
MARK = ": See `congruence.options`."
#: what a described function raises, if its docstring does not say, and the section before which that stands
RAISES, NEXT = ("Raises:", "    InputError: If an argument is invalid.", ""), "See also:"


def described(thing: T) -> T:
    """The same function or class, whose docstring describes the shared options that it names.

    >>> @described
    ... def count(threads=None, bins=10):
    ...     "threads, bins: See `congruence.options`."
    >>> print(count.__doc__)
    threads: Number of threads that count; it does not change results. Default None: all cores.
    bins: Number of bins of a numeric attribute. Default 10.
    """
    if thing.__doc__ is not None:
        own: Dynamic = vars(thing).get("__init__", thing) if isinstance(thing, type) else thing
        lines = [line for given in thing.__doc__.split("\n") for line in _expanded(given, _defaults(own))]
        heads = [line.strip() for line in lines]
        if NEXT in heads and RAISES[0] not in heads:
            at = heads.index(NEXT)
            indent = lines[at].removesuffix(NEXT)
            lines[at:at] = [f"{indent}{line}".rstrip() for line in RAISES]
        thing.__doc__ = "\n".join(lines)
    return thing


def sentences(name: str, defaults: Mapping[str, OptionValue]) -> str:
    """What an option is, and its default if it has one."""
    shared = OPTIONS[name]
    if name not in defaults:
        return shared.says
    value = defaults[name]
    shown = f'"{value}"' if isinstance(value, str) else "none" if value == () else repr(value)
    return f"{shared.says} Default {shown}{f': {shared.none}' if value is None and shared.none else ''}."


def _defaults(function: Function) -> dict[str, OptionValue]:
    """The defaults of a function by name."""
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    return {
        **dict(zip(reversed(names), reversed(function.__defaults__ or ()), strict=False)),
        **(function.__kwdefaults__ or {}),
    }


def _expanded(line: str, defaults: Mapping[str, OptionValue]) -> Iterator[str]:
    """The line, or those of the options that it names."""
    names, mark, more = line.partition(MARK)
    if not mark:
        yield line
        return
    indent = " " * (len(line) - len(line.lstrip()))
    for name in names.replace(" ", "").split(","):
        text = f"{name}: {sentences(name, defaults)}{more}"
        yield from textwrap.wrap(text, 118, initial_indent=indent, subsequent_indent=f"{indent}    ")
