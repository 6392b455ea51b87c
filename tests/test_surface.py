"""The public names: each exists, has a docstring, and is imported on first use."""

from __future__ import annotations

import ast
import inspect
import json
import pkgutil
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from types import ModuleType

import pytest

import congruence as cg
from congruence import errors

PACKAGE = Path(cg.__file__).parent
#: keys and aliases; the measure lambda cannot be called by its name, a keyword of Python
NAMES = [name for m in cg.measures() for name in (m.key, *m.aliases)]


def function_name(name: str) -> str:
    return "lambda_statistic" if name == "lambda" else name


def takes_two(key: str) -> bool:
    return not getattr(cg.measure(key), "is_lone", False)


#: measures of a pair of labels
PAIRS = (*cg.compare([0, 0, 1, 1], [0, 1, 1, 1], "all"), *(m.key for m in cg.measures() if m.is_historical))


@pytest.mark.parametrize("name", cg.__all__)
def test_public_names_are_there(name):
    """Every name of __all__ exists, and our own names have docstrings."""
    value = getattr(cg, name)
    if name != "__version__":
        assert inspect.getdoc(value)
    assert name in dir(cg)


def test_the_stable_names_exist():
    """The names that code outside the repository calls exist."""
    promised = {
        "compare", "compare_to", "compare_all", "measures", "measure", "contingency", "element_scores", "match",
        "relabel", "Memberships", "Ensemble", "from_long", "Measure", "Comparison", "AllPairs", "AgainstReference",
        "Matching", "Table", "InputError", "NotApplicable", "__version__",
    }  # fmt: skip
    assert promised <= set(cg.__all__)
    assert len(set(cg.__all__)) == len(cg.__all__)


def test_a_star_import_gives_the_public_names():
    """`from congruence import *` brings exactly the names of __all__."""
    space: dict[str, object] = {}
    exec("from congruence import *", space)
    assert set(space) - {"__builtins__"} == set(cg.__all__)


@pytest.mark.parametrize("name", NAMES)
def test_every_measure_is_a_function(name):
    """Every key and alias is a function with a docstring that says what it is and which way is better."""
    function = getattr(cg, function_name(name))
    assert callable(function)
    assert function.__name__ == function_name(name)
    record = cg.measure(name)
    assert record.title in function.__doc__
    assert function_name(name) in dir(cg)
    assert getattr(cg, function_name(name)) is function
    if takes_two(name):
        assert f"{record.better} is better" in function.__doc__


@pytest.mark.parametrize("name", [n for n in NAMES if cg.measure(n).key in PAIRS])
def test_every_function_gives_the_value_of_compare(name):
    """The function of a key or alias is compare with that one measure."""
    a, b = [0, 0, 1, 1, 2, 2], [0, 0, 0, 1, 1, 2]
    key = cg.measure(name).key
    assert getattr(cg, function_name(name))(a, b) == cg.compare(a, b, key)[key]


def test_no_two_names_are_the_same():
    """A key, an alias and a public name never mean different things."""
    assert len(set(NAMES)) == len(NAMES)
    assert not {function_name(n) for n in NAMES} & set(cg.__all__)
    assert "lambda" not in dir(cg)


def test_no_module_has_the_name_of_a_public_function():
    """`congruence.compare` must never become a module: importing one would overwrite the function."""
    modules = {info.name for info in pkgutil.iter_modules([str(PACKAGE)])}
    public = {*cg.__all__, *(function_name(n) for n in NAMES)}
    assert not modules & public
    for name in public:
        assert not isinstance(getattr(cg, name), ModuleType)


def test_unknown_names_give_similar_ones():
    """A misspelt attribute is an AttributeError with similar names; hasattr works."""
    with pytest.raises(AttributeError, match=r"no attribute 'v_mesure'; did you mean v_measure"):
        cg.v_mesure  # noqa: B018
    with pytest.raises(AttributeError, match=r"no attribute 'compre'; did you mean compare"):
        cg.compre  # noqa: B018
    with pytest.raises(AttributeError, match=r"no attribute 'qqqqqq'; see dir\(congruence\)"):
        cg.qqqqqq  # noqa: B018
    assert not hasattr(cg, "_private")
    assert not hasattr(cg, "__wrapped__")


def test_hints():
    """Names that begin like the requested one come first, then similar ones, three at most."""
    assert errors.hint("nmi", ["vi", "nmi_sum", "nmi_max"]) == "did you mean nmi_sum or nmi_max?"
    assert errors.hint("ARO", ["ari", "vi"]) == "did you mean ari?"
    assert errors.hint("", ["ari"], "none") == "none"
    assert errors.hint("a", [f"a{i}" for i in range(9)]).count(",") == 1


def test_errors_are_value_errors():
    """Code that catches ValueError catches ours, and NotApplicable is an InputError."""
    assert issubclass(cg.InputError, ValueError)
    assert issubclass(cg.NotApplicable, cg.InputError)


def test_the_stub_names_what_the_package_names():
    """Editors and type checkers see the names of __all__ and a function for each measure."""
    stub = PACKAGE / "__init__.pyi"
    assert (PACKAGE / "py.typed").exists()
    known: set[str] = set()
    for node in ast.walk(ast.parse(stub.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            known |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            known.add(node.name)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            known.add(node.target.id)
        elif isinstance(node, ast.Assign):  # a measure and its aliases
            known |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    missing = {*cg.__all__, *(function_name(n) for n in NAMES)} - known
    assert "__getattr__" in known or not missing


def test_editors_show_the_first_sentence_of_a_measure():
    """In the stub, each measure is followed by the first line of its docstring, which editors show where it is used."""
    body = ast.parse((PACKAGE / "__init__.pyi").read_text(encoding="utf-8")).body
    said = {}
    for node, after in pairwise(body):
        if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
            targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
            said |= {x.id: after.value.value for x in targets if isinstance(x, ast.Name)}
    for name in NAMES:
        function = getattr(cg, function_name(name))
        assert said[function_name(name)] == inspect.getdoc(function).splitlines()[0]


SCRIPT = """
import json, sys
HEAVY = ("numpy", "numba", "sklearn", "pyarrow", "plotly", "pandas", "polars", "scipy", "typer", "rich")
def loaded():
    return sorted(name for name in HEAVY if name in sys.modules)
seen = {}
import congruence
seen["import"] = loaded()
sys.argv = ["congruence", "--help"]
from congruence.cli import main
try:
    main()
except SystemExit as done:
    seen["exit"] = done.code
seen["help"] = loaded()
import numpy as np
a, b = np.arange(1000) % 7, np.arange(1000) % 5
congruence.compare(a, b)
seen["compare"] = loaded()
congruence.compare_all([a, b, a], ["ari", "vi", "ami_sum"])
congruence.compare_to(a, [b])
seen["all pairs"] = loaded()
print(json.dumps(seen), file=sys.stderr)
"""


@pytest.mark.slow
def test_imports_wait_until_they_are_needed():
    """`import congruence` and `congruence --help` load no numpy; comparing 1000 points loads no numba, no sklearn."""
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=False, timeout=120)
    seen = json.loads(done.stderr.strip().split("\n")[-1])
    assert seen["import"] == []
    assert seen["exit"] == 0
    assert not {"numpy", "numba", "sklearn", "pyarrow", "plotly", "pandas", "scipy"} & set(seen["help"])
    assert not {"numba", "sklearn", "plotly", "pandas"} & set(seen["compare"])
    assert not {"numba", "sklearn", "plotly", "pandas"} & set(seen["all pairs"])


def test_the_number_of_clusters_is_called_n_clusters():
    """The functions that take n_clusters are these; `choose_k`, which takes several, calls it k, as do cuts of trees."""
    taking = [getattr(cg, name) for name in cg.__all__]
    functions = [f for f in taking if inspect.isfunction(f) or (inspect.isclass(f) and hasattr(f, "get_params"))]
    named = {f.__name__ for f in functions if "n_clusters" in inspect.signature(f).parameters}
    assert named == {
        "AlternativeClustering", "ConsensusClustering", "alternatives", "consensus", "generate", "rank", "report",
    }  # fmt: skip
    methods = {f"{name}.{x}": f for name in cg.__all__ if inspect.isclass(getattr(cg, name))
               for x, f in inspect.getmembers(getattr(cg, name), inspect.isfunction) if x[0] != "_"}  # fmt: skip
    every = {f.__name__: f for f in functions} | methods
    cutting = {name for name, f in every.items() if {"k", "ks"} & set(inspect.signature(f).parameters)}
    assert cutting - {"Hierarchy.at_levels", "Hierarchy.tie_notes", "Hierarchy.checked_k"} == {
        "choose_k", "cut_curve", "compare_cuts", "Hierarchy.cut", "Hierarchy.cuts",
    }  # fmt: skip
    for name in named - {"alternatives"}:
        with pytest.raises(TypeError, match="'k'"):
            getattr(cg, name)([[0.0], [1.0]], k=3)
    with pytest.raises(cg.InputError, match="no option 'k'"):
        cg.alternatives([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1], k=2)
    with pytest.raises(TypeError, match="'n_clusters'"):
        cg.choose_k([[0.0]], n_clusters=3)
