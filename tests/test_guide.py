"""Help, README and docs: their statements are true, and their commands run."""

from __future__ import annotations

import importlib.util
import re
import shlex
import sys
import tomllib
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import typer.main

import congruence as cg
from congruence import cli
from congruence.cli import showcase
from congruence.figures import DRAWN
from congruence.formulas.explain import FUNCTIONS
from congruence.formulas.record import names
from congruence.formulas.symbols import symbols_of
from tests import measures_page

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
GROUP: Any = typer.main.get_command(cli.app)
COMMANDS: dict[str, Any] = GROUP.commands


def examples_of(text: str) -> list[str]:
    """The command lines of a text, with lines that end in a backslash joined, comments and what follows a pipe cut off."""
    found = []
    for line in text.replace("\\\n", " ").splitlines():
        for part in line.strip().split(" && "):
            command = re.split(r"\s+#|\s+\|\s|\s+>\s", part)[0].strip()
            if command.startswith("congruence "):
                found.append(command)
    return found


def examples_of_help(command: Any) -> list[str]:
    _, _, examples = (command.help or "").partition("Examples:")
    return examples_of(examples)


def blocks_of(page: Path) -> list[tuple[str, str]]:
    """The code blocks of a page: their language and their text; blocks indented by four spaces have none."""
    text = page.read_text(encoding="utf-8")
    fenced = re.findall(r"^```(\w*)\n(.*?)^```", text, flags=re.M | re.S)
    bare = re.sub(r"^```\w*\n.*?^```", "", text, flags=re.M | re.S)
    return [*fenced, *(("", block) for block in re.findall(r"(?:^    \S.*\n)+", bare, flags=re.M))]


IN_HELP = {name: examples_of_help(command) for name, command in COMMANDS.items()}
IN_PAGES = {
    f"{page.relative_to(ROOT)}: {line}": line
    for page in PAGES
    for language, block in blocks_of(page)
    if language != "python"
    for line in examples_of(block)
}


# --- the help of the commands ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself(name):
    """The help of a command has a sentence, a part "Examples:" with calls of this command, and a description of every option."""
    command = COMMANDS[name]
    assert re.match(r"[A-Z][^\n]+\.\n", command.help)
    assert IN_HELP[name]
    assert any(line.split()[1] == name for line in IN_HELP[name])
    for parameter in command.params:
        assert parameter.help, f"{name}: {parameter.opts} has no help"
        assert parameter.help.endswith((".", ")")), parameter.help


def test_the_help_of_all_has_examples_and_an_order():
    """`congruence --help` has examples, and the most common commands come first."""
    assert examples_of(GROUP.help)
    order = list(COMMANDS)
    assert order == sorted(order, key=lambda name: cli.ORDER.index(name))


def test_shells_complete_commands_and_measures(monkeypatch, capsys):
    """Shell completion offers the commands, the keys of measures, and the last of several keys."""

    def completed(words: str) -> list[str]:
        monkeypatch.setenv("_CONGRUENCE_COMPLETE", "complete_bash")
        monkeypatch.setenv("COMP_WORDS", f"congruence {words}")
        monkeypatch.setenv("COMP_CWORD", str(len(words.split(" "))))
        monkeypatch.setattr(sys, "argv", ["congruence"])
        with pytest.raises(SystemExit):
            cli.main()
        return capsys.readouterr().out.split()

    assert completed("mea") == ["measures"]
    assert completed("measures ar") == [key for key in names() if key.startswith("ar")]
    assert "ari,vi" in completed("matrix labels.csv --measures ari,v")


def test_the_definition_of_a_measure_says_what_its_letters_mean():
    """Every symbol of a definition is explained."""
    for m in cg.measures():
        made = {line.split(" = ", 1)[0] for line in m.definition}
        used = {word for line in m.definition for word in re.findall(r"[^\W\d]\w*", line)}
        known = {*made, *FUNCTIONS, *m.parameters, "if", "else"}
        assert used - known == set(symbols_of(m)), m.key


# --- the commands of the pages and of the help run --------------------------------------------------------------------

N = 60
#: large numbers are replaced by small ones, so that each command takes a moment
CUT = (
    ("--members 100", "--members 4"), ("--permutations 10000", "--permutations 50"),
    ("--k 1..12", "--k 1..3"), ("--k 1..20", "--k 1..3"), ("--n 2 --method maximus", "--n 1 --method maximus"),
    ("--n 5013", "--n 50"),
)  # fmt: skip


def tables(words: list[str]) -> dict[str, pd.DataFrame]:
    """The tables that a command line reads, by what it does with them."""
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], N // 3)
    cells = {"cell": [f"c{i}" for i in range(N)]}

    def moved(count: int) -> np.ndarray:
        labels = truth.copy()
        labels[rng.choice(N, count, replace=False)] += 1
        return labels % 3

    verb = words[1]
    files = [
        w
        for i, w in enumerate(words)
        if (w.endswith((".csv", ".parquet", ".h5ad")) or w.startswith("duckdb:"))
        and words[i - 1] not in ("--out", "--plot", "--edges", "--nodes")
    ]
    folders = [w for i, w in enumerate(words) if w.endswith("/") and words[i - 1] != "--checkpoint"]
    files += [f"{folder}part-{i}.parquet" for folder in folders for i in range(2)]
    if "--long" in words:
        long = pd.DataFrame({"method": ["a"] * N + ["b"] * N, "cluster": [*truth, *moved(3)]})
        table = long.assign(cell=cells["cell"] * 2)
    elif verb == "hierarchies":
        table = pd.DataFrame({"name": list("dcba"), "species": list("xxyy")})
    elif verb == "resolutions" or any(w.endswith(".h5ad") for w in words):
        table = pd.DataFrame({f"leiden_{r}": truth + 3 * (rng.random(N) < r / 4) for r in (0.2, 0.5, 1.0)})
        table["cell_type"] = [f"t{x}" for x in truth]
    elif verb == "track":
        table = pd.DataFrame({"customer": cells["cell"], **{f"week_{i}": moved(2) for i in range(3)}})
        if "week_*" not in words:
            table = table.rename(columns={"week_0": "cluster"})[["customer", "cluster"]]
            table = table.assign(x=truth + rng.normal(size=N) / 9, y=rng.normal(size=N))
    elif folders:
        table = pd.DataFrame(
            {"truth": truth, **{name: moved(2) for name in ("kmeans", "leiden", "run0", "run1", "run2")}}
        )
    elif verb in ("compare", "matrix", "match", "contingency") and (len(files) == 2 or words[2].endswith(".npz")):
        table = pd.DataFrame({**cells, "cluster": moved(2)})
    elif verb in ("compare", "matrix", "report", "match", "contingency", "points"):
        table = pd.DataFrame({**cells, "truth": truth, "kmeans": moved(1), "leiden": [f"l{x}" for x in moved(1)]})
        table["ward"] = moved(2)
    elif verb in ("ensemble", "consensus", "consensus-matrix"):
        table = pd.DataFrame({"truth": truth, **{f"m{i}": moved(9) for i in range(4)}})
        if "--partial" in words:
            table = table.drop(columns="truth").astype("Int64").mask(rng.random((N, 4)) < 0.2)
            table.iloc[:2] = -1
    else:
        X = rng.normal(size=(N, 5)) + 6 * np.eye(5)[truth]
        table = pd.DataFrame({**cells, **dict(zip(["x", "y", "z", "bytes", "duration"], X.T, strict=True))})
        for name in ("truth", "kmeans", "colour", "species", "cluster", "a", "b"):
            table[name] = [f"{name[0]}{x}" for x in moved(3)]
        table["protocol"] = np.where(truth == 2, "tcp", "udp")
        table["day"], table["hour"] = ["early", "late"] * (N // 2), np.repeat(["early", "late"], N // 2)
    if verb == "alternatives":
        table = table[::2]
    if "--id" in words and words[words.index("--id") + 1] not in table:
        table.insert(0, words[words.index("--id") + 1], cells["cell"])
    found = dict.fromkeys(files, table)
    if "--data" in words:
        found[words[words.index("--data") + 1]] = pd.DataFrame(rng.normal(size=(N, 2)), columns=["x", "y"])
    return found


def write(name: str, table: pd.DataFrame) -> None:
    """A table as a file of the kind that its name says, or as a table of a database."""
    path, _, inside = name.removeprefix("duckdb:").partition("#")
    if inside:
        with pytest.importorskip("duckdb").connect(path) as base:
            base.register("given", table)
            base.execute(f"create table {inside} as select * from given")
    elif path.endswith(".h5ad"):
        numbers = np.random.default_rng(0).normal(size=(len(table), 3))
        obs = table.set_index(pd.Index([f"cell{i}" for i in range(len(table))])).astype(str)
        pytest.importorskip("anndata").AnnData(numbers, obs=obs).write_h5ad(path)
    else:
        Path(path).parent.mkdir(exist_ok=True)
        table.to_csv(path, index=False) if path.endswith(".csv") else table.to_parquet(path, index=False)


def lines() -> dict[str, str]:
    """Every command line of the pages and of the help, once, with its place."""
    found = {f"{name} --help: {line}": line for name, said in IN_HELP.items() for line in said} | IN_PAGES
    return {
        line: where for where, line in found.items() if line != "congruence demo"
    }  # .ci/run runs the demo without options


@pytest.mark.slow
@pytest.mark.parametrize("line", lines())
def test_the_commands_run(line, tmp_path, monkeypatch, capsys):
    """Each command line that users may copy succeeds on a small table of the right kind."""
    if "--plot" in line:
        pytest.importorskip("plotly")
    for option, need in (("--engine cuda", "a CUDA GPU"), ("--client", "a cluster"), ("postgresql:", "a server")):
        if option in line:
            pytest.skip(f"needs {need}")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(showcase, "data_of", lambda name, of=showcase.data_of: [x[::8] for x in of(name)])
    for much, little in CUT:
        line = line.replace(much, little)
    words = shlex.split(line)
    if words[1] == "choose-k" and "--k" not in words:
        words += ["--k", "1..3"]
    if words[1] == "generate" and "--members" not in words:
        words += ["--members", "4"]
    for name, table in tables(words).items():
        write(name, table)
    for name, tree in (("a.nwk", "((a:1,b:1):2,(c:2,d:2):1);"), ("b.nwk", "(((a:1,b:1):1,c:2):1,d:3);")):
        if name in words:
            Path(name).write_text(tree, encoding="utf-8")
    for name in words:
        if name.endswith(".cover"):
            Path(name).write_text("g1 g2 g3\ng3 g4\n", encoding="utf-8")
        elif name.endswith(".json") and "--keys" in words:
            Path(name).write_text('{"g1": ["x"], "g2": ["x", "y"], "g3": ["y"]}', encoding="utf-8")
    if "crosstab.csv" in words:
        Path("crosstab.csv").write_text("cluster,a,b\nx,5,1\ny,0,4\n", encoding="utf-8")
    if "tracks.npz" in words:
        names = pd.Index([f"c{i}" for i in range(N)], name="customer")
        cg.track([pd.Series(np.arange(N) % 3, index=names, name="w3")]).save("tracks.npz")
    if "--reference-profile" in words:
        table = tables(words)["june.csv"][["x", "y", "z", "bytes", "duration", "protocol"]]
        cg.density_profile(table, ["c0"] * N, cg.Binning(spare=True)).save("may.npz")
    if words[2:3] == ["M.npz"]:
        labels = pd.read_csv("labels.csv")["cluster"].to_numpy()
        np.savez("M.npz", matrix=(labels[:, None] == labels).astype(float))
    if "--counts" in words:
        Path(words[-1]).write_text("a,x,y\nu,2,0\nv,1,4\n", encoding="utf-8")
    monkeypatch.setattr(sys, "argv", words)
    warnings.simplefilter("ignore")  # k-means warns on a handful of points; pytest restores the filters
    with pytest.raises(SystemExit) as done:
        cli.main()
    said = capsys.readouterr()
    assert done.value.code in ((0, 1) if "--fail-on-alarm" in words else (0,)), said.err
    for option in ("--out", "--plot", "--edges"):
        if option in words:
            assert (tmp_path / words[words.index(option) + 1]).stat().st_size


# --- the pages ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_python_of_the_pages_is_run(page):
    """Every block of Python has prompts, which pytest runs; what needs a GPU is at least Python, and R is in test_r_users."""
    for language, block in blocks_of(page):
        assert language in ("python", "") or (language == "r" and page.name == "r.md"), (
            f"{page.name}: a block of {language}"
        )
        if language == "python" and ">>>" not in block:
            assert page.name == "gpu.md", block
            compile(block, page.name, "exec")


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_of_the_pages_lead_somewhere(page):
    """Every relative link is a file of the repository."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
        if not target.startswith(("http:", "https:")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_the_page_of_measures_is_up_to_date():
    """docs/measures.md is what the declarations say: `python -m tests.measures_page` writes it."""
    assert measures_page.PAGE.read_text(encoding="utf-8") == measures_page.page()


def test_every_page_is_in_the_site():
    """Every page of docs/ has a line in mkdocs.yml, and every line a page (some are made when the site is built)."""
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:")[2]
    named = set(re.findall(r"(\w+\.md)$", text, flags=re.M))
    assert named == {page.name for page in (ROOT / "docs").rglob("*.md")} | {
        "index.md", "contributing.md", "changes.md", "security.md", "reference.md", "commands.md",
    }  # fmt: skip


def test_every_package_is_in_the_table():
    """docs/how_it_works.md lists the packages of the import contract, in its order."""
    contract = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ][0]
    text = (ROOT / "docs" / "how_it_works.md").read_text(encoding="utf-8").partition("## The packages")[2]
    rooms = [word for cell in re.findall(r"^\| (`.*?) \|", text, flags=re.M) for word in re.findall(r"`(\w+)/?`", cell)]
    layers = [
        word for layer in contract["layers"] for word in re.findall(r"congruence\.(\w+)", layer) if word != "__main__"
    ]
    assert rooms == layers, f"rows for {set(layers) ^ set(rooms) or sorted(layers)} in docs/how_it_works.md"


def figures(text: str) -> set[str]:
    """The numbers of a page that measure something: with a decimal point, in per cent, or as "3 of 7"."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    return set(re.findall(r"\d+\.\d+|\d+ ?%|\b\d+ of \d+", text))


def test_figures_of_the_page_on_trust_were_printed():
    """Each figure of docs/which_measure.md is in the kept output of a reproduction or benchmark, or printed on the page."""
    page = (ROOT / "docs" / "which_measure.md").read_text(encoding="utf-8")
    kept = " ".join(" ".join(p.read_text(encoding="utf-8").split()) for p in (ROOT / "docs").glob("*/*.txt"))
    shown = " ".join(block for language, block in blocks_of(ROOT / "docs" / "which_measure.md"))
    assert len(figures(page)) > 20
    assert not {f for f in figures(page) if f not in kept and f not in shown}


def test_the_readme_counts_the_measures():
    """The numbers of measures in the README are those of the registry."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    historical = sum(m.is_historical for m in cg.measures())
    many = len(cg.measures()) - historical
    assert f"{many} measures (" in text
    assert f"| {many}, and {historical} historical |" in text


def test_times_of_the_readme_were_printed():
    """Each time and size in the README's table is, up to rounding, in the output that the row names."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    text = readme.partition("## Compared with other packages")[2].partition("\n## ")[0]
    rows = [line for line in text.splitlines() if re.search(r"\d ?(ms|s|MB|GB)\b", line) and line.startswith("|")]
    assert len(rows) > 5
    for row in rows:
        name = re.findall(r"(\w+)(?:\]\([^)]*\))? \|$", row)[0]
        printed = (ROOT / "docs" / "benchmarks" / f"{name}.txt").read_text(encoding="utf-8")
        known = np.array([float(x.replace(",", "")) for x in re.findall(r"\d[\d,]*\.?\d*", printed)])
        for number, unit in re.findall(r"(?<![\d,⁴⁵⁶⁷])([\d.]+) (ms|s|MB|GB)\b", row):
            value, digits = float(number), len(number.partition(".")[2])
            same = [known, known / 1000] if unit == "s" else [known]
            assert any(np.any(np.abs(k - value) <= 0.5001 * 10.0**-digits) for k in same), f"{number} {unit} in: {row}"


def test_the_site_has_every_public_name():
    """The reference that the site is built with names each public object once, and the commands each command."""
    pytest.importorskip("mkdocs")
    pytest.importorskip("griffe")
    spec = importlib.util.spec_from_file_location("site_pages", ROOT / "docs" / "site_pages.py")
    assert spec is not None
    assert spec.loader is not None
    site = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(site)
    named = re.findall(r"^::: congruence\.(?:\w+\.)*(\w+)$", site.reference(), flags=re.M)
    assert sorted(named) == sorted({*cg.__all__, "find"} - {"__version__", "measure"})
    assert re.findall(r"^## (\S+)$", site.commands(), flags=re.M) == list(COMMANDS)
    assert site.fenced("One.\n\n>>> 1\n1\n\nTwo.") == "One.\n\n\n```pycon\n>>> 1\n1\n```\n\nTwo."
    assert site.from_above("[a](docs/x.md) [b](CONTRIBUTING.md)") == "[a](x.md) [b](contributing.md)"
    for source in site.ABOVE.values():
        text = site.from_above((ROOT / source).read_text(encoding="utf-8"))
        linked = set(re.findall(r"\]\((\w+\.md)", text))
        pages = {*site.ABOVE, "reference.md", "commands.md", *(x.name for x in (ROOT / "docs").glob("*.md"))}
        assert linked <= pages, source


@pytest.mark.slow
def test_every_guide_has_a_figure():
    """The site draws a figure for every guide except that on the report, which has a picture and links to two sample reports."""
    pytest.importorskip("matplotlib")
    site = importlib.import_module("docs.site_figures")
    guides = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("- Guides:")[2].partition("- Measures:")[0]
    pages = re.findall(r"(\w+)\.md$", guides, flags=re.M)
    assert len(pages) == len(set(pages))
    assert {*pages, "report"} - {*site.FIGURES, *site.opening()} == {"report"}
    shown = site.illustrated("gpu", "# One\n\nText.\n\n## Two\n")
    assert re.fullmatch(r"# One\n\nText\.\n\n!\[.*\]\(figures/gpu\.svg\)\n\n\*.*\*\n\n## Two\n", shown)
    assert site.svg("gpu", site.FIGURES["gpu"][1]()).startswith("<?xml")
    text, figures = site.drawn("gallery")
    assert re.findall(r"^!\[.*\]\(figures/(\w+)\.svg\)$", text, flags=re.M) == list(figures)


def test_the_gallery_has_every_picture():
    """Each kind of result that has a figure is drawn in docs/gallery.md, and each command with --plot or --curve is there."""
    text = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    known = re.findall(r"`(\w+)`", cg.figure.__doc__.partition("The result of")[2].partition("backend:")[0])
    assert len(known) == len(DRAWN)
    code = "".join(block for language, block in blocks_of(ROOT / "docs" / "gallery.md") if language == "python")
    assert {name for name in known if f"cg.{name}(" not in code} == set()
    assert text.count(">>> figure = ") == len(DRAWN) + 2  # two flows and two pictures of an ensemble
    drawing = {name for name, command in COMMANDS.items() for p in command.params if p.opts[0] in ("--plot", "--curve")}
    assert drawing - {"hierarchies"} == {line.split()[1] for line in examples_of(text) if "--plot" in line} - {
        "hierarchies"
    }
    assert {"--plot", "--curve"} == {
        word for line in examples_of(text) if " hierarchies " in line for word in line.split() if word[:2] == "--"
    }


def test_the_lowest_versions_are_those_that_are_tested():
    """Each lower bound of what the tests install is a line of .github/lowest.txt."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    bounds = [x.split(";")[0] for x in (*project["dependencies"], *project["optional-dependencies"]["test"])]
    wanted = {re.sub(r"\[.*\]", "", name): low for name, low in (x.split(">=") for x in bounds)}
    lines = (ROOT / ".github" / "lowest.txt").read_text(encoding="utf-8").splitlines()
    tested = dict(line.split("==") for line in lines if not line.startswith("#"))
    assert tested.keys() >= wanted.keys()
    assert not {name: low for name, low in wanted.items() if not f"{tested[name]}.".startswith(f"{low}.")}


def test_actions_are_pinned():
    """Actions of other repositories are named by the hash of a commit."""
    for path in (ROOT / ".github" / "workflows").glob("*.yml"):
        used = re.findall(r"uses: (?!\./)(\S+)", path.read_text(encoding="utf-8"))
        assert [x for x in used if not re.search(r"@[0-9a-f]{40}$", x)] == []
