"""Pages that `mkdocs build` generates: the home page, contributing and changes from files of the root, the reference of Python
and the command line from the code, the figures, and two sample reports. Also fences the examples of docstrings.
"""

from __future__ import annotations

import html
import inspect
import re
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import griffe
from mkdocs.structure.files import File, Files

sys.path.insert(0, str(Path(__file__).parent))
import site_figures

from congruence.options import MARK

ROOT = Path(__file__).parents[1]
#: pages made from files of the root
ABOVE = {
    "index.md": "README.md",
    "contributing.md": "CONTRIBUTING.md",
    "changes.md": "CHANGELOG.md",
    "security.md": "SECURITY.md",
}
#: names of figures with a heat map
HEAT_MAPS: set[str] = set()
#: sections of the reference: a question, and the packages whose public names answer it; other packages follow by name
SECTIONS = {
    "Compare clusterings": ("comparison",),
    "Inputs": ("inputs", "statistics"),
    "Measures": ("formulas",),
    "Is the agreement more than chance?": ("chance",),
    "What does an ensemble agree on?": ("ensembles",),
    "One clustering from many": ("consensus_clustering",),
    "How many clusters?": ("selection",),
    "Hierarchies and resolutions": ("hierarchies",),
    "Clusters over time": ("tracking",),
    "Where do clusters lie in the data?": ("density",),
    "Other good clusterings": ("alternative_clustering",),
    "Data larger than memory": ("scanning",),
    "Figures and reports": ("figures", "reporting"),
    "Errors": ("errors",),
}


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that are not in docs/."""
    pages = {name: from_above((ROOT / source).read_text(encoding="utf-8")) for name, source in ABOVE.items()}
    pages |= {"reference.md": reference(), "commands.md": commands()}
    for name, text in pages.items():
        files.append(File.generated(config, name, content=text))
    shown = {name: draw() for name, (_, draw) in site_figures.FIGURES.items()}
    for page in site_figures.DRAWN:
        shown |= site_figures.drawn(page)[1]
    for name, one in shown.items():
        text = site_figures.svg(name, one)
        HEAT_MAPS.update([name] if "<image" in text else [])
        files.append(File.generated(config, f"figures/{name}.svg", content=text))
    for name, text in site_figures.samples().items():
        files.append(File.generated(config, f"samples/{name}.html", content=text))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Put its figures into a page and the sample reports onto the home page, and show output as Python prints it.

    site.css inverts figures where the page is dark, except heat maps, whose addresses end in #heat.
    """
    text = with_figures(page.file.src_path.removesuffix(".md"), markdown).replace("<BLANKLINE>\n", "\n")
    text = re.sub(r"(?<=\(figures/)(\w+)\.svg", lambda m: f"{m[0]}#heat" if m[1] in HEAT_MAPS else m[0], text)
    return re.sub(r"^```python\n(?=>>>)", "```pycon\n", text, flags=re.M)


def with_figures(name: str, markdown: str) -> str:
    """The text of a page with its figures, or with links to the sample reports."""
    if name in ("index", "report"):  # these have their own picture
        return markdown.replace("\n## ", f"\n{site_figures.SAMPLES}\n\n## ", 1)
    if name in site_figures.DRAWN:
        return site_figures.drawn(name)[0]
    is_guide = name in site_figures.FIGURES or name in site_figures.opening()
    return site_figures.illustrated(name, markdown) if is_guide else markdown


def from_above(text: str) -> str:
    """A page of the root with its links as seen from docs/."""
    pages = {source: name for name, source in ABOVE.items()}
    return re.sub(rf"(?<=\]\()(?:docs/)?({'|'.join(pages)})?", lambda m: pages.get(m[1], ""), text)


def reference() -> str:
    """The public names, grouped by question."""
    import congruence as cg

    lines = [
        "# Python reference",
        "",
        "`import congruence as cg`. Every measure is a function too, `cg.ari(a, b)`: see [the measures](measures.md).",
        "",
    ]
    rooms: dict[str, list[str]] = {}
    for home, names in cg._HOMES.items():
        rooms.setdefault(home.split(".")[0], []).extend(names)
    known = {room for listed in SECTIONS.values() for room in listed}
    titles = SECTIONS | {room.capitalize(): (room,) for room in rooms if room not in known}
    for title, listed in titles.items():
        lines += [f"## {title}", ""]
        for name in (
            name for room in listed for name in sorted(rooms.get(room, ()), key=lambda n: (n[0].isupper(), n))
        ):
            lines += [f"::: {path_of(name)}", ""]
        if title == "Measures":
            lines += ["::: congruence.formulas.record.find", "    options:", "      heading: measure", ""]
    return "\n".join([*lines, *types()])


def path_of(name: str) -> str:
    """The full path of a public name, by which the reference knows it."""
    import congruence as cg

    return f"{getattr(cg, name).__module__}.{name}"


def types() -> list[str]:
    """The names of types in signatures, with what each stands for."""
    text = (ROOT / "src" / "congruence" / "typing.py").read_text(encoding="utf-8")
    lines = [
        "## Types",
        "",
        "Signatures use these names of `congruence.typing`.",
        "",
        "| name | stands for |",
        "|---|---|",
    ]
    return [*lines, *(f"| `{name}` | {what} |" for what, name in re.findall(r"^#: (.*)\n(\w+): TypeAlias", text, re.M))]


def commands() -> str:
    """Every command with its examples, arguments and options, as `--help` has them."""
    import typer.main

    from congruence.cli import app

    group: Any = typer.main.get_command(app)
    lines = [
        "# Command line",
        "",
        "`congruence COMMAND --help` shows the same in the terminal; `congruence --install-completion` installs shell "
        "completion of commands, options and measures. Results go to stdout, notes to stderr; the exit code is 0, 1 (a limit of "
        "`--fail-under` is not met), 2 (bad input, explained in one line) or 130 (stopped by Ctrl-C).",
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
            lines.append(
                f"| {words} | {html.escape(parameter.help or '', quote=False).replace('|', chr(92) + '|')}{tail} |"
            )
        lines.append("")
    return "\n".join(lines)


def metavar(parameter: Any) -> str:
    """The name of an argument in the help."""
    return str(parameter.metavar or parameter.name.upper())


class Examples(griffe.Extension):
    """Takes docstrings as Python shows them, with shared options described, links names, and puts a fence around examples."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Take, link and fence one docstring."""
        if obj.docstring is not None:
            found = shown(obj.path) if MARK in obj.docstring.value else obj.docstring.value
            obj.docstring.value = fenced(linked(found))


def linked(text: str) -> str:
    """The text with the public names under "See also" as links."""
    import congruence as cg

    def link(found: re.Match[str]) -> str:
        known = any(found[1] in names for names in cg._HOMES.values())
        return f"[`cg.{found[1]}`][{path_of(found[1])}]" if known else found[0]

    return re.sub(r"(?<=See also:\n)(?:.*\S.*\n?)+", lambda m: re.sub(r"`cg\.(\w+)`", link, m[0]), text)


def shown(path: str) -> str:
    """The docstring of an object of a module, as `help` shows it."""
    module, _, name = path.rpartition(".")
    try:
        owner = import_module(module)
    except ModuleNotFoundError:  # a method: the module has its class
        home, _, kind = module.rpartition(".")
        owner = getattr(import_module(home), kind)
    return inspect.getdoc(getattr(owner, name)) or ""


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
        lines.append("" if line.strip() == "<BLANKLINE>" else line)
    return "\n".join([*lines, *(["```"] if inside else [])])
