"""Translate messages of the library for the command line: options instead of arguments, commands instead of functions."""

from __future__ import annotations

import re
from functools import lru_cache

#: options whose names differ from the argument
OPTIONS = {
    "n_clusters": "--k", "n_members": "--members", "n_alternatives": "--n", "points": "--n", "n_points": "--n",
    "sample_weight": "--weight", "random_state": "--seed", "n_jobs": "--jobs", "n_permutations": "--permutations",
    "dtype": "--float32", "measure": "--measures", "k": "--k", "a": "--labels",
}  # fmt: skip
#: commands that correspond to functions
COMMANDS = {
    "compare": "compare", "compare_all": "matrix", "compare_to": "compare", "consensus": "consensus", "rank": "rank",
    "consensus_matrix": "consensus-matrix", "choose_k": "choose-k", "resolutions": "resolutions", "match": "match",
    "contingency": "contingency", "report": "report", "generate": "generate", "alternatives": "alternatives",
    "adco": "adco", "drift": "drift", "track": "track",
}  # fmt: skip
#: a call or name of the library, as in `cg.Cover(u >= 0.3)`, cg.adjusted or Binning(spare=True)
CALL = re.compile(
    r"\b(?!cg\.)[A-Za-z_]+\([^()]*\b[a-z_]+=[^()]*\)|`?\bcg\.([A-Za-z_]+)((?:\.[a-z_]+)*)(\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)(?:\.[a-z_]+)*)?`?"
)
#: an argument with the value to give it, as in method='auto' or standardise=True, and other values after it
ARGUMENT = re.compile(
    r"(?<![\w.'\"])([a-z][a-z_]*)=(True|False|None|'[^'\s]*'|\"[^\"\s]*\"|…|\[…\]|DIR|(?=[\s;,.)]|$))"
    r"((?:,?\s+(?:or\s+)?'[^'\s]*')*)"
)
#: an argument by its name alone: at the beginning of a message, between backquotes, or one that means nothing else
BARE = re.compile(r"^([a-z]+(?:_[a-z]+)+)(?= must )|`([a-z]+(?:_[a-z]+)*)`|(?<![\w'\"])(sample_weight)(?![\w'\"=])")


@lru_cache(maxsize=32)
def options_of(command: str) -> frozenset[str]:
    """The options of a command."""
    import typer

    from congruence.cli.app import app

    commands = getattr(typer.main.get_command(app), "commands", {})
    return frozenset(o for p in commands[command].params for o in p.opts) if command in commands else frozenset()


def in_words_of(command: str, message: str) -> str:
    """The message with options of this command instead of arguments; other calls get "in Python" appended.

    >>> in_words_of("choose-k", "standardise the columns (standardise=True)")
    'standardise the columns (--standardise)'
    >>> in_words_of("compare", "pass unassigned='drop' or 'cluster', or align='index'")
    "pass --unassigned drop or cluster, or align='index' in Python"
    >>> in_words_of("compare", "make a cover: cg.Cover(u >= 0.3)")
    'make a cover: cg.Cover(u >= 0.3) in Python'
    >>> in_words_of("compare", "ami_max is not defined for sample_weight; pass `frequency`")
    'ami_max is not defined for --weight; pass --frequency'
    >>> in_words_of("generate", "n_jobs must be a number of processes; got 0")
    '--jobs must be a number of processes; got 0'
    """
    there = options_of(command)

    def call(found: re.Match[str]) -> str:
        name, rest, arguments = found.groups()
        if name is not None and name in COMMANDS and not rest and not arguments:
            return f"`congruence {COMMANDS[name]}`"
        return f"{found[0]} in Python"

    def argument(found: re.Match[str]) -> str:
        name, value, more = found.groups()
        option = OPTIONS.get(name, f"--{name.replace('_', '-')}")
        if option not in there or value == "None":
            return found[0] if value == "" else f"{found[0]} in Python"
        others = more.replace("'", "")
        if value in ("True", "'float32'"):
            return option
        if value == "False":
            return f"--no-{option[2:]}"
        return f"{option} {value.strip(chr(39) + chr(34))}{others}".rstrip() if value else option

    calls: list[str] = []

    def kept(found: re.Match[str]) -> str:
        calls.append(call(found))
        return f"\0{len(calls) - 1}\0"

    def bare(found: re.Match[str]) -> str:
        name = next(x for x in found.groups() if x)
        option = OPTIONS.get(name, f"--{name.replace('_', '-')}")
        return option if option in there else found[0]

    text = BARE.sub(bare, ARGUMENT.sub(argument, CALL.sub(kept, message)))
    text = re.sub(r"\buse compare_all\b", "use `congruence matrix`", text)
    return _lacking(re.sub("\0(\\d+)\0", lambda found: calls[int(found[1])], text), there)


#: alternative options for commands that lack the first
INSTEAD = {"--columns": ("--data-columns", "--features", "--labels"), "--unassigned": ("--partial",)}


def _lacking(text: str, there: frozenset[str]) -> str:
    """The text with equivalent options of this command, or without them if there are none."""

    def other(found: re.Match[str]) -> str:
        return next((o for o in INSTEAD.get(found[0], ()) if o in there and found[0] not in there), found[0])

    text = re.sub(r"--[a-z][a-z0-9-]+", other, text)
    return re.sub(r" with (--columns|--features)\b", lambda found: found[0] if found[1] in there else "", text)
