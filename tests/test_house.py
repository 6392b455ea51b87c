"""Structure: no private names across modules, no long files, few modules per call."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np
import pandas as pd
import pytest

import congruence as cg
from congruence.inputs.alignment import MATCHED
from congruence.inputs.cover import CoverLabels
from congruence.inputs.files import READERS
from congruence.inputs.kinds import Clustering
from congruence.inputs.labels import Labels
from congruence.inputs.memberships import Memberships
from congruence.machine.writing import TABLES
from congruence.options import OPTIONS
from congruence.scanning.columns import Column
from congruence.scanning.sources import OPENERS

PACKAGE = Path(cg.__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))
TESTS = Path(__file__).parent
#: files that may be longer than 500 lines: one set of kernels, and one table of definitions
LONG = {"machine/kernels.cu", "naive.py"}


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


@cache
def read(path: Path) -> ast.Module:
    """The syntax tree of a file."""
    return ast.parse(path.read_text(encoding="utf-8"))


def own_names(tree: ast.Module) -> set[str]:
    """Private names that a module defines: functions, classes, variables, fields, attributes of self."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            found.add(node.attr)
    return found


def reached(path: Path) -> Iterator[str]:
    """Private names of other modules of the package that a module imports or uses."""
    tree = read(path)
    known = own_names(tree) | FOREIGN
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("congruence"):
            yield from (f"line {node.lineno}: {a.name}" for a in node.names if is_private(a.name))
        elif isinstance(node, ast.Attribute) and is_private(node.attr) and node.attr not in known:
            yield f"line {node.lineno}: {node.attr}"


#: private names of Python and of other packages
FOREIGN = {
    "_meta",
    "_exit",
    "_cache_file",
    "_load_index",
    "_asdict",
    "_fields",
}  # of Dask frames; os; numba; named tuples


@pytest.mark.slow
def test_no_private_name_is_used_across_modules():
    """A name with an underscore belongs to its module."""
    assert not {str(path.relative_to(PACKAGE)): found for path in FILES if (found := list(reached(path)))}


def test_no_file_is_too_long():
    """No file of the package or of the tests has more than 500 lines, unless it is one table or one set of kernels."""
    for folder in (PACKAGE, TESTS):
        files = [p for kind in ("*.py", "*.pyi", "*.js", "*.cu") for p in folder.rglob(kind)]
        long = {
            p.relative_to(folder).as_posix() for p in files if len(p.read_text(encoding="utf-8").splitlines()) > 500
        }
        assert long <= LONG


def test_no_package_hides_a_public_name():
    """No folder or module at the root has a public name: importing it would hide cg.consensus and the like."""
    rooms = {p.stem for p in PACKAGE.iterdir() if p.suffix == ".py" or (p / "__init__.py").exists()} - {"__init__"}
    assert not rooms & set(dir(cg))


def test_engines_are_distinguished_by_their_properties():
    """No code checks which module an engine is."""
    for path in FILES:
        text = path.read_text(encoding="utf-8")
        assert "is cpu" not in text, path
        assert "is not cpu" not in text, path


@pytest.mark.slow
def test_any_is_named_in_one_module_only():
    """Signatures say what they take and return: only `congruence/typing.py` uses `Any`, under names that say what is meant."""
    for path in [*FILES, PACKAGE / "__init__.pyi"]:
        if path != PACKAGE / "typing.py":
            tree = read(path)
            imported = {a.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for a in node.names}
            reached = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
            texts = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
            assert "Any" not in imported | reached | texts, path


def test_every_name_of_a_type_is_described_and_used():
    """Each name in `congruence/typing.py` has one line that says what it stands for, and some signature uses it."""
    lines = (PACKAGE / "typing.py").read_text(encoding="utf-8").splitlines()
    words = {node.id for path in FILES for node in ast.walk(read(path)) if isinstance(node, ast.Name)}
    for before, line in pairwise(lines):
        if ": TypeAlias" in line:
            name = line.partition(":")[0]
            assert before.startswith("#: "), f"{name} is not described"
            assert name in words, f"no annotation uses {name}"


def test_public_names_are_those_of_their_modules():
    """A public function or class is the very object that its module defines: nothing wraps, patches or replaces it."""
    for home, names in cg._HOMES.items():
        for name in names:
            assert getattr(cg, name) is getattr(import_module(f"congruence.{home}"), name)
    for name in (n for n in cg.__all__ if n != "__version__"):
        public = getattr(cg, name)
        members = [x for x in getattr(public, "__dict__", {}).items() if isinstance(public, type)]
        methods = [x for key, x in members if isinstance(x, FunctionType) and (key == "__init__" or key[0] != "_")]
        methods = [x for x in methods if x.__name__ != "transform"]  # scikit-learn wraps it for `set_output`
        ours = [x for x in (public, *methods) if getattr(x, "__module__", "").startswith("congruence")]
        assert not [x.__qualname__ for x in ours if hasattr(x, "__wrapped__")], name


def test_every_public_class_says_something():
    """No object of the package is shown as its class and address, nor as all its values."""
    for name in cg.__all__:
        if isinstance(public := getattr(cg, name), type):
            assert public.__repr__ is not object.__repr__, name
    runs = cg.Ensemble({"a": [0, 0, None, 1], "b": [1, 1, 0, 0]}, unassigned="partial")
    assert [repr(x) for x in (runs["a"], cg.Memberships([[0.5, 0.5], [1, 0]]), cg.Similarity([[1.0]]))] == [
        "Labels: 2 clusters of 4 points, 1 point in no cluster", "Memberships: 2 clusters of 2 points", "Similarity: 1 × 1",
    ]  # fmt: skip


def test_the_package_sets_no_attributes_by_name():
    """`__init__.py` sets nothing on functions and classes, and no module sets attributes of others by name."""
    tree = read(PACKAGE / "__init__.py")
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)]
    for path in FILES:
        calls = [node for node in ast.walk(read(path)) if isinstance(node, ast.Call)]
        named = {ast.unparse(node.args[0]) for node in calls if ast.unparse(node.func) == "setattr"}
        assert named <= SET_BY_NAME, path


#: objects whose attributes are set by name: the standard streams, the settings of a command, and a copy of a scan
SET_BY_NAME = {"sys", "settings", "other"}


def test_files_read_in_parts_are_read_whole_too():
    """Kinds of files that are scanned are those that a folder is searched for, and each has a reader for memory."""
    assert {*OPENERS} == {*TABLES}
    assert {*OPENERS} < {*READERS}


def test_a_kind_of_clustering_is_its_own_class():
    """Scanned columns are no labels: each kind answers the protocol of `inputs/kinds.py`, and says how its points are matched."""
    assert not issubclass(Column, Labels)
    kinds = [Labels, Memberships, CoverLabels, Column]
    assert all(issubclass(kind, Clustering) and "what" in vars(kind) for kind in kinds)
    assert {kind.matched_by for kind in kinds} <= {*MATCHED}


def test_an_engine_does_not_ask_whether_clusterings_are_scanned():
    """Scanned columns are counted by an engine of their own: no engine imports from a scan what `engine_for` returns."""
    names = ("statistics", "table_of", "on_card", "drawing")
    assert all(hasattr(import_module(f"congruence.{home}"), name) for home in ENGINES for name in names)
    for path in (PACKAGE / "engine").rglob("*.py"):
        asked = {x.attr for x in ast.walk(read(path)) if isinstance(x, ast.Attribute)} & {"lazy", "is_lazy"}
        assert not asked, path


def parameters(node: ast.FunctionDef) -> int:
    """Number of parameters of a function, apart from self and cls."""
    listed = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    return len([x for x in listed if x.arg not in ("self", "cls")])


def test_no_function_hands_on_many_arguments():
    """Only public functions, estimators and compiled loops have more than 8 parameters."""
    loops = "".join(path.read_text(encoding="utf-8") for path in FILES)
    for path in (x for x in FILES if "kernels" not in x.name):
        for x in (x for x in ast.walk(read(path)) if isinstance(x, ast.FunctionDef) and parameters(x) > 8):
            compiled = {ast.unparse(y) for y in x.decorator_list} & {"helper", "jit.subroutine"}
            public = x.name in dir(cg) or (x.name == "__init__" and path.stem in ("estimator", "ensemble"))
            assert public or compiled or f"compiled({x.name}" in loops, (path, x.name)


#: what `engine_for` can return
ENGINES = ("engine.cpu", "engine.cuda", "scanning.columns")


def imported(path: Path) -> set[str]:
    """The modules that a file imports, by their first names."""
    nodes = list(ast.walk(read(path)))
    plain = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    return plain | {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}


def test_no_command_reads_its_messages_again():
    """Commands print messages as they are: none of their modules has regular expressions, and none parses what it prints."""
    for path in (x for x in FILES if x.parent.name == "cli"):
        assert "re" not in imported(path), path
        assert "json.loads" not in {ast.unparse(x.func) for x in ast.walk(read(path)) if isinstance(x, ast.Call)}, path


#: what finds words in a text, or cuts it
APART = (
    "replace",
    "removeprefix",
    "removesuffix",
    "split",
    "partition",
    "rpartition",
    "startswith",
    "endswith",
    "find",
)
#: names of messages, and of what holds them
MESSAGES = (
    "caution",
    "cautions",
    "error",
    "message",
    "note",
    "notes",
    "reason",
    "sentence",
    "trivial",
    "verdict",
    "why",
)


def is_a_message(x: ast.expr, caught: set[str]) -> bool:
    """Whether an expression is the text of an error that was caught, or has the name of a message."""
    if isinstance(x, ast.Call) and ast.unparse(x.func) == "str" and x.args:
        inner = x.args[0]
        return is_a_message(inner, caught) or getattr(inner, "attr", "") == "message"
    if isinstance(x, ast.Subscript):
        return is_a_message(x.value, caught)
    name = x.attr if isinstance(x, ast.Attribute) else x.id if isinstance(x, ast.Name) else ""
    return name in caught or name in MESSAGES


def messages_taken_apart(tree: ast.AST) -> list[str]:
    """Where code looks for words in a message, or cuts one."""
    caught = {x.name for x in ast.walk(tree) if isinstance(x, ast.ExceptHandler) and x.name}
    found: list[tuple[ast.AST, list[ast.expr]]] = []
    for x in ast.walk(tree):
        if isinstance(x, ast.Call) and isinstance(x.func, ast.Attribute) and x.func.attr in APART and x.args:
            found.append((x, [x.func.value]))
        elif isinstance(x, ast.Call) and ast.unparse(x.func).startswith("re."):
            found.append((x, x.args))
        elif isinstance(x, ast.Compare) and any(isinstance(y, ast.In | ast.NotIn) for y in x.ops):
            texts = isinstance(x.left, ast.Constant) and isinstance(x.left.value, str)
            found.append((x, [y for y in x.comparators if texts and ast.unparse(y).startswith("str(")]))
        elif isinstance(x, ast.Subscript) and isinstance(x.slice, ast.Slice):
            found.append((x, [x.value] if isinstance(x.value, ast.Call) else []))
    return [ast.unparse(x) for x, texts in found if any(is_a_message(y, caught) for y in texts)]


#: messages of pyarrow and scikit-learn, which tell by words what happened
OF_OTHERS = {
    ("files.py", "'UTF8' in str(error)"), ("files.py", "'UTF-8' in str(error)"),
    ("generators.py", "'distinct clusters' not in str(w.message)"),
}  # fmt: skip


def test_the_words_of_a_message_are_looked_at_by_nobody():
    """No code finds out what an error, a note or a verdict is by its text, or takes one apart."""
    found = {(path.name, text) for path in FILES for text in messages_taken_apart(read(path))}
    assert found == OF_OTHERS


@pytest.mark.parametrize(
    "line",
    [
        'notes = [note for note in found.notes if note.startswith("n_clusters")]',
        'number, _, kind = one.trivial.rpartition("% ")', 'rest = sentence.removeprefix("Cannot tell")',
        'is_gap = "unassigned" in str(error)', 'named = str(one.message).replace("a", "x")',
    ],
)  # fmt: skip
def test_a_message_that_is_taken_apart_is_found(line):
    """The rule above finds what was once done."""
    assert messages_taken_apart(ast.parse(line))


def test_percent_signs_follow_their_number():
    """83%, in messages, docstrings, pages and guides."""
    apart = re.compile(
        r"[0-9}][ \u00a0\u202f]%(?=[,.;:)'\"\]|]|$)|[0-9][ \u00a0\u202f]% (?:of|or|and|noise|interval)|\" %\"", re.M
    )
    pages = sorted(p for p in PACKAGE.rglob("*") if p.suffix in {".js", ".html"})
    guides = [*(TESTS.parent / "docs").glob("*.md"), *TESTS.parent.glob("*.md")]
    found = [
        (p.name, m.group()) for p in (*FILES, *pages, *guides) for m in apart.finditer(p.read_text(encoding="utf-8"))
    ]
    assert found == []


def test_an_option_is_declared_once():
    """A sentence about an option stands once: in `congruence/options.py`, or with the one class of options that has it."""
    known = {shared.help for shared in OPTIONS.values()} - {""}
    assert len(known) == len([x for x in OPTIONS.values() if x.help])
    for path in (x for x in FILES if x.parent.name == "cli"):
        for node in (x for x in ast.walk(read(path)) if isinstance(x, ast.Call)):
            called = ast.unparse(node.func)
            assert called != "typer.Option" or path.name in ("options.py", "app.py"), path
            if called in ("option", "required"):
                given = [x.value for x in node.args if isinstance(x, ast.Constant) and isinstance(x.value, str)]
                texts = {text for text in given if " " in text}
                assert not texts & known, (path.name, texts)
                known |= texts


#: rooms that validate and count
COUNTING = ("inputs", "engine", "scanning", "statistics", "comparison", "ensembles", "chance", "formulas", "machine")


def test_unknown_and_repeated_names_are_refused_by_errors():
    """That a column is missing, or a name given twice, is said in `errors.py`; two readers of columns know more."""
    for path in (x for room in COUNTING for x in (PACKAGE / room).rglob("*.py")):
        texts = [x.value for x in ast.walk(read(path)) if isinstance(x, ast.Constant) and isinstance(x.value, str)]
        own = [
            text for text in texts if "\n" not in text and (" has no column " in text or "give them different" in text)
        ]
        assert not own or path.name in ("column_names.py", "parts.py"), (path, own)


def test_statistics_are_swapped_by_the_names_of_their_fields():
    """Only statistics that hold other objects swap these; the others have fields of two sides (`statistics/sides.py`)."""
    found = set()
    for path in (PACKAGE / "statistics").glob("*.py"):
        for kind in (x for x in ast.walk(read(path)) if isinstance(x, ast.ClassDef)):
            found |= {kind.name for x in kind.body if isinstance(x, ast.FunctionDef) and x.name == "swapped"}
    assert found == {"TwoSided", "MemberInfo", "Overlap", "Intersections", "Tables"}


def test_options_of_docstrings_are_those_of_the_table():
    """No public docstring repeats the sentence of a shared option: it names the option, and the table has the words."""
    sentences = {" ".join(x.says.split()) for x in OPTIONS.values() if len(x.says) > 60}
    for path in (x for x in FILES if x.name != "options.py"):
        for node in ast.walk(read(path)):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                text = " ".join((ast.get_docstring(node) or "").split())
                assert not [x for x in sentences if x in text], (path.name, node.name)


# --- the path of a call through the packages --------------------------------------------------------------------------

RUNS = pd.DataFrame({name: np.random.default_rng(i).integers(0, 5, 1000) for i, name in enumerate("abcd")})


def modules_entered(call: Callable[[], Any]) -> set[str]:
    """Modules of the package in which some function ran, apart from imports."""
    entered: set[str] = set()

    def note(frame: Any, event: str, _: Any) -> None:
        name = frame.f_globals.get("__name__", "")
        if event == "call" and name.startswith("congruence.") and frame.f_code.co_name != "<module>":
            entered.add(name)

    call()  # so that imports, compilation and caching are done before
    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return entered


WAYS: dict[str, Callable[[], Any]] = {
    "compare": lambda: cg.compare(RUNS["a"], RUNS["b"]),
    "compare_all": lambda: cg.compare_all(RUNS, threads=1),
    "consensus": lambda: cg.consensus(RUNS, 3, random_state=0),
    "permutation_test": lambda: cg.permutation_test(RUNS["a"], RUNS["b"], "ari", 20, 0, threads=1),
    "report": lambda: cg.report(RUNS, random_state=0),
}


def table_of_ways() -> dict[str, tuple[int, int]]:
    """Numbers of packages and modules in the table of docs/how_it_works.md."""
    text = (Path(__file__).parents[1] / "docs" / "how_it_works.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `cg\.(\w+)` \| .* \| (\d+) \| (\d+) \|$", text, flags=re.M)
    return {name: (int(rooms), int(modules)) for name, rooms, modules in rows}


@pytest.mark.parametrize("name", WAYS)
def test_a_call_enters_no_more_modules_than_the_guide_says(name):
    """A call enters at most as many modules as the table in docs/how_it_works.md says."""
    entered = modules_entered(WAYS[name])
    rooms, modules = table_of_ways()[name]
    assert len({module.split(".")[1] for module in entered}) <= rooms
    assert len(entered) <= modules, sorted(entered)
