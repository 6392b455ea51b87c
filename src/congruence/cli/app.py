"""The application: its commands, how they run, and how they show options in messages."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from inspect import Parameter, Signature
from pathlib import Path
from typing import Annotated, TypeVar, get_type_hints

import typer
from typer.core import TyperCommand

import congruence.options as options
from congruence.cli.options import REPLACED, Data, Options, check_needs, check_outputs
from congruence.errors import FRONT, Call, InputError, Option, Python, joined
from congruence.typing import Dynamic, Function, OptionValue

#: the options of the command that runs about messages and files
settings = Data()
#: called with the error, if any, when a command ends: notes on what was found while scanning
at_end: list[Callable[[BaseException | None], None]] = []
F = TypeVar("F", bound=Function)
#: options that several commands have
SHARED = {x.name for x in Data.declared()}

#: groups of options in the help of a command with many; the others are its own
GROUPS = {
    "Input": "columns data_columns features id ids long partial noise unassigned weight frequency na_values sheet layer",
    "Output": "out format json raw plot open verbose quiet debug",
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


#: commands whose names differ from those of functions
COMMANDS = {"compare_all": "matrix", "compare_to": "compare"}


class CommandLine(Python):
    """Shows options and calls in messages as those of the command that runs, or says that they are for Python."""

    def __init__(self, params: list[Dynamic]) -> None:
        self.params = {p.name: p for p in params if p.opts[0].startswith("-")}

    def _param(self, name: str) -> Dynamic:
        called = options.OPTIONS.get(name, options.Shared()).called or (name,)
        return next((self.params[x] for x in called if x in self.params), None)

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


def _said_replaced(error: BaseException | None) -> None:
    """Say which files the command has replaced."""
    from congruence.cli.printing import say

    if error is None and REPLACED:
        say([f"replaced {path}, which was there before" for path in REPLACED])


class App(typer.Typer):
    """An application whose commands are functions of an object with their options."""

    def command(self, name: str | None = None, **more: OptionValue) -> Callable[[F], F]:
        """Declare a command: a function of one argument, `given`, whose class declares the options."""
        declare = super().command(name, cls=Command, **more)

        def declared(function: F) -> F:
            kind: type[Options] = get_type_hints(function)["given"]

            def run(context: typer.Context, **values: OptionValue) -> object:
                def was_given(name: str) -> bool:
                    source = context.get_parameter_source(name)
                    return source is not None and source.name == "COMMANDLINE"

                if values.get("json"):
                    values["format"] = "json"
                given = kind(**values)
                vars(settings).clear()
                vars(settings).update({x: value for x, value in values.items() if x in SHARED})
                at_end.clear()
                REPLACED.clear()
                FRONT.append(CommandLine(context.command.params))
                try:
                    check_needs(given, was_given)
                    with watched():
                        vars(given).update({x: _local(value) for x, value in values.items()})
                        check_outputs(given)
                        return function(given)
                finally:
                    for notes in (*at_end, _said_replaced):
                        notes(sys.exception())
                    FRONT.pop()

            hints = {"context": typer.Context, **kind.annotations()}
            defaults = {"context": Parameter.empty} | {x.name: x.default for x in kind.declared()}
            run.__name__, run.__doc__, run.__annotations__ = function.__name__, function.__doc__, hints
            run.__signature__ = Signature(  # type: ignore[attr-defined]
                [
                    Parameter(
                        x, Parameter.KEYWORD_ONLY, annotation=hints[x], default=Parameter.empty if y is ... else y
                    )
                    for x, y in defaults.items()
                ]
            )
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
