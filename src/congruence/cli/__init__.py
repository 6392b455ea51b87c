"""The command line: parse, call, print. Heavy imports happen inside the commands."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import NoReturn

import typer

from congruence.cli.app import app, settings

#: the commands in the order of `congruence --help`, the most common first; each has its own file
ORDER = (
    "demo", "report", "compare", "match", "contingency", "points", "matrix", "measures", "generate", "ensemble",
    "consensus-matrix", "consensus", "rank", "check-clusters", "sweep", "choose-k", "resolutions", "hierarchies",
    "track", "alternatives", "adco", "drift",
)  # fmt: skip
for _name in ORDER:
    import_module(f"congruence.cli.{_name.replace('-', '_')}")  # declares the command


def _refuse(message: str, code: int = 2) -> NoReturn:
    from congruence.errors import visible

    print(f"congruence: {visible(' '.join(message.split()))}", file=sys.stderr)
    sys.exit(code)


def _unwind_when_ended() -> None:
    """End the command as after Ctrl-C if it is told to end, so that files that are being written are removed."""
    import signal
    import threading

    def ended(number: int, frame: object) -> NoReturn:
        raise SystemExit(128 + number)

    for name in ("SIGTERM", "SIGHUP"):  # the second when the terminal is closed; Windows has none
        number = getattr(signal, name, None)
        is_main = threading.current_thread() is threading.main_thread()
        if number is not None and is_main and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, ended)


def main() -> None:
    """Run the command. Bad input prints one line to stderr and exits with 2; lack of memory and internal errors exit with 3."""
    import os
    import warnings

    _unwind_when_ended()
    if sys.argv[1:2] == ["help"]:
        sys.argv[1:] = [*sys.argv[2:3], "--help"]

    def one_line(message: object, *_: object, **__: object) -> None:
        from congruence.errors import as_called, visible

        print(f"warning: {visible(as_called(' '.join(str(message).split())))}", file=sys.stderr)

    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # closed, as in `congruence … 2>&-`
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115
    warnings.showwarning = one_line
    for stream in (sys.stdout, sys.stderr):  # show a question mark if the terminal has no ↑
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    # typer bundles click or depends on it, depending on its version; the base class of its error is right in both cases
    usage_error = next(c for c in typer.BadParameter.__mro__ if c.__name__ == "ClickException")
    try:
        code = app(standalone_mode=False, prog_name="congruence")  # also as `python -m congruence`
        sys.stdout.flush()
    except (typer.Abort, KeyboardInterrupt):
        code = 130
    except (BrokenPipeError, SystemExit) as error:  # closed pipe, as in `congruence measures | head`
        if isinstance(error, SystemExit) and not isinstance(error.__context__, BrokenPipeError):
            if isinstance(error.code, int) and error.code > 128:
                print(f"congruence: stopped{_how_to_resume(sys.argv)}", file=sys.stderr)
            raise  # typer turns a closed pipe into exit code 1, the code of --fail-under
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except MemoryError as error:
        from congruence.errors import TooLarge

        why = error if isinstance(error, TooLarge) else f"not enough memory: {error or 'the data do not fit'}"
        _refuse(f"{why}; use fewer rows or columns, or --memory", 3)
    except Exception as error:
        from congruence.errors import InputError

        if isinstance(error, InputError):
            _refuse(str(error))
        if isinstance(error, UnicodeEncodeError):
            _refuse(f"{error.object!r} is not UTF-8; rename the file or column")
        if isinstance(error, OSError):  # a result that cannot be written
            _refuse(f"{error.filename or ''}: {error.strerror or error}".removeprefix(": "))
        if not isinstance(error, usage_error) or not hasattr(error, "format_message"):
            if settings.debug:
                raise
            _refuse(f"internal error, {type(error).__name__}: {error}; please report it (--debug shows where)", 3)
        if type(error).__name__ == "NoArgsIsHelpError":  # the help was printed already
            sys.exit(2)
        message = error.format_message().replace("Value error, ", "").rstrip(".")  # typer's prefix of choices
        _refuse(f"{message} (see `congruence {_command(error)}--help`)")
    if code == 130:  # Ctrl-C, here or inside typer
        print(f"congruence: stopped{_how_to_resume(sys.argv)}", file=sys.stderr)
    sys.exit(code if isinstance(code, int) else 0)


def _how_to_resume(words: list[str]) -> str:
    """What to do after Ctrl-C: run the same command again, or keep finished parts next time."""
    if any(word.startswith("--checkpoint") for word in words):
        return "; run the same command again to continue from the checkpoint"
    if len(words) > 1 and words[1] in ("compare", "matrix", "ensemble"):
        return "; with --checkpoint FOLDER a scan keeps its finished parts, and the same command continues from there"
    return ""


def _command(error: BaseException) -> str:
    context = getattr(error, "ctx", None)
    return f"{context.info_name} " if context is not None and context.parent is not None else ""
