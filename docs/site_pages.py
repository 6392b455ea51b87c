"""What `mkdocs build` makes beside the pages in docs/: the front page, contributing and changes from the files above, and the
reference of Python and of the command line from the code. Also dresses the examples of docstrings for the reference.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import griffe
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[1]
#: pages that are files above docs/
ABOVE = {"index.md": "README.md", "contributing.md": "CONTRIBUTING.md", "changes.md": "CHANGELOG.md"}
#: sections of the reference: a title, and the rooms whose public names it has; other rooms follow under their own names
SECTIONS = {
    "Compare": ("comparison", "results"),
    "What goes in": ("clustering", "ensemble", "io", "statistics"),
    "Measures": ("formulas", "registry"),
    "Chance": ("chance",),
    "Ensembles": ("agreement", "generators"),
    "Consensus": ("consensus_clustering",),
    "How many clusters": ("selection",),
    "Hierarchies and resolutions": ("hierarchies", "resolution_sweeps"),
    "Density profiles": ("density",),
    "Alternatives": ("alternative_clustering",),
}


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that are not in docs/."""
    pages = {name: from_above((ROOT / source).read_text(encoding="utf-8")) for name, source in ABOVE.items()}
    pages |= {"reference.md": reference(), "commands.md": commands()}
    for name, text in pages.items():
        files.append(File.generated(config, name, content=text))
    return files


def from_above(text: str) -> str:
    """A page of the root with its links as seen from docs/."""
    return re.sub(r"(\]\()(?:docs/)?(README|CONTRIBUTING|CHANGELOG)?", lambda m: m[1] + _page(m[2]), text)


def _page(name: str | None) -> str:
    return {"README": "index", "CONTRIBUTING": "contributing", "CHANGELOG": "changes"}[name] if name else ""


def reference() -> str:
    """The public names, by what they are for."""
    import congruence as cg

    lines = [
        "# Python reference",
        "",
        "`import congruence as cg`. Every measure is a function too, `cg.ari(a, b)`: see [the measures](measures.md).",
        "",
    ]
    rest = dict(cg._HOMES)
    titles = dict(SECTIONS)
    for home in cg._HOMES:
        room = home.split(".")[0]
        if not any(room in rooms for rooms in titles.values()):
            titles[room.capitalize()] = (room,)
    for title, rooms in titles.items():
        homes = [home for home in rest if home.split(".")[0] in rooms]
        lines += [f"## {title}", ""]
        for home in sorted(homes, key=lambda home: rooms.index(home.split(".")[0])):
            for name in sorted(rest.pop(home), key=lambda name: (name[0].isupper(), name)):
                real = "registry.measures" if (home, name) == ("formulas", "measures") else f"{home}.{name}"
                lines += [f"::: congruence.{real}", ""]
        if title == "Measures":
            lines += ["::: congruence.formulas.registry.find", "    options:", "      heading: measure", ""]
    return "\n".join(lines)


def commands() -> str:
    """Every command with its examples, arguments and options, as `--help` has them."""
    import typer.main

    from congruence.cli import app

    group: Any = typer.main.get_command(app)
    lines = [
        "# Command line",
        "",
        "`congruence COMMAND --help` says the same in the terminal; `congruence --install-completion` teaches your shell to "
        "complete commands, options and measures. Results go to stdout, notes to stderr; the exit code is 0, 1 (a limit of "
        "`--fail-under` is not met), 2 (bad input, said in one line) or 130 (stopped by Ctrl-C).",
        "",
    ]
    for name, command in group.commands.items():
        said, _, examples = command.help.partition("Examples:")
        lines += [f"## {name}", "", said.strip(), "", "```"]
        lines += [line.strip() for line in examples.splitlines() if line.strip()]
        lines += ["```", "", *(["| option | meaning |", "|---|---|"] if command.params else [])]
        for parameter in command.params:
            is_option = parameter.opts[0].startswith("-")
            words = ", ".join(f"`{word}`" for word in parameter.opts) if is_option else f"`{metavar(parameter)}`"
            default = getattr(parameter.default, "value", parameter.default)
            tail = (
                f" Default: {default}."
                if isinstance(default, str | int | float | Path) and default is not False
                else ""
            )
            lines.append(f"| {words} | {(parameter.help or '').replace('|', chr(92) + '|')}{tail} |")
        lines.append("")
    return "\n".join(lines)


def metavar(parameter: Any) -> str:
    """What stands for an argument."""
    return str(parameter.metavar or parameter.name.upper())


class Examples(griffe.Extension):
    """Examples of docstrings stand bare in the text (`>>> …`); a fence around them makes them code."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Dress one docstring."""
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)


def fenced(text: str) -> str:
    """The text with a fence around each run of lines that starts with a prompt and ends with an empty line."""
    lines: list[str] = []
    inside = False
    for line in text.splitlines():
        if line.lstrip().startswith(">>>") and not inside:
            lines += ["", "```pycon"]
            inside = True
        if inside and not line.strip():
            lines.append("```")
            inside = False
        lines.append(line)
    return "\n".join([*lines, *(["```"] if inside else [])])
