"""Reference documentation: every parameter of every public name is described, and the stub has the code's signatures."""

from __future__ import annotations

import ast
import dataclasses
import doctest
import inspect
import json
import re
import tempfile
from collections.abc import Callable, Iterator
from enum import Enum
from pathlib import Path
from typing import Any

import pytest

import congruence as cg
from congruence.comparison.presenting import Result
from congruence.errors import Caution
from congruence.figures import DRAWN
from congruence.options import MARK, sentences
from congruence.reporting.cover_report import CoverModel
from congruence.reporting.model import Model
from tests import stub

#: nodes of Python that have decorators and docstrings
Documented = ast.FunctionDef | ast.ClassDef
SECTION = re.compile(r"^(Args|Attributes|Returns|Raises|See also):$")


def described(doc: str) -> set[str]:
    """Names in the sections Args and Attributes of a docstring."""
    found: set[str] = set()
    section = ""
    for line in inspect.cleandoc(doc).split("\n"):
        if head := SECTION.match(line):
            section = head[1]
        elif line and not line.startswith(" "):
            section = ""
        elif section in ("Args", "Attributes") and (entry := re.match(r"    \*{0,2}(\w+)(?: \(.*?\))?: ", line)):
            found.add(entry[1])
    return found


def parameters(thing: Any) -> list[str]:
    """Public parameters of a function or of the constructor of a class."""
    return [p for p in inspect.signature(thing).parameters if p not in ("self", "cls") and not p.startswith("_")]


def public() -> Iterator[tuple[str, Any]]:
    """Every public function and class by name, and every public method of a class by Class.method."""
    for name in cg.__all__:
        thing = getattr(cg, name)
        if inspect.isclass(thing) and not issubclass(thing, BaseException | str):
            yield name, thing
            for method, value in inspect.getmembers(thing, inspect.isfunction):
                if not method.startswith("_") and value.__module__.startswith("congruence."):
                    yield f"{name}.{method}", value
        elif inspect.isfunction(thing):
            yield name, thing
    for m in cg.measures():
        name = "lambda_statistic" if m.key == "lambda" else m.key
        yield name, getattr(cg, name)


PUBLIC = dict(public())


@pytest.mark.parametrize("name", PUBLIC)
def test_every_parameter_is_described(name):
    """Args (or Attributes, for the fields of a result) names every parameter, and nothing else."""
    thing = PUBLIC[name]
    doc = thing.__doc__ or ""
    wanted = set(parameters(thing))
    if dataclasses.is_dataclass(thing) and len(thing.__mro__) > 2 and dataclasses.is_dataclass(thing.__mro__[1]):
        wanted -= set(parameters(thing.__mro__[1]))  # described there
    assert wanted <= described(doc), f"{name}: {sorted(wanted - described(doc))} not described"
    if inspect.isfunction(thing):
        assert described(doc) <= wanted, f"{name}: {sorted(described(doc) - wanted)} described, but not there"


@pytest.mark.parametrize("name", PUBLIC)
def test_brackets_are_no_links(name):
    """No sentence of a docstring has "][", which Markdown reads as a link."""
    assert "][" not in re.sub(r"`[^`]*`|^ *(>>>|\.\.\.|\[).*$", "", PUBLIC[name].__doc__ or "", flags=re.M)


def test_shared_options_are_described_where_a_docstring_names_them():
    """A docstring that refers to `congruence.options` is that of a described function or class, which shows the sentences."""
    for path in Path(cg.__file__).parent.rglob("*.py"):
        nodes = [x for x in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(x, Documented)]
        for node in nodes:
            decorated = "described" in {ast.unparse(x) for x in node.decorator_list}
            assert (MARK in (ast.get_docstring(node) or "")) == decorated or path.name == "options.py", (
                path,
                node.name,
            )
    assert not [name for name, x in PUBLIC.items() if MARK in (x.__doc__ or "")]
    assert "\n    Raises:\n        InputError: If an argument is invalid.\n\n    See also:\n" in (
        cg.generate.__doc__ or ""
    )
    assert (
        cg.compare.__doc__.count("Number of threads that count; it does not change results. Default None: all cores.")
        == 1
    )


def test_seeds_and_jobs_have_one_meaning():
    """`random_state` is 0 by default everywhere, and `threads` and `n_jobs` have one sentence and one default each."""
    for name, thing in PUBLIC.items():
        found = inspect.signature(thing).parameters if inspect.isfunction(thing) or "Clustering" in name else {}
        for option, value in (("random_state", 0), ("threads", None), ("n_jobs", None)):
            if option in found and name != "Scan.tables":
                assert found[option].default == value, name
                doc = " ".join((thing.__doc__ or "").split())
                own = name in ("adjusted", "scan")  # a whole number, as part of a key; the threads of each comparison
                assert own or sentences(option, {option: value})[:60] in doc, (name, option)


def test_an_old_spelling_warns():
    """The old spelling works, with a warning at the user's line that names the version."""
    with pytest.warns(DeprecationWarning, match=r"since 0\.2, .* works until 0\.3") as caught:
        shown = cg.Ensemble([[0, 0, 1], [0, 1, 1]]).plot("plotly")
    assert caught[0].filename == __file__
    assert type(shown).__module__.startswith("plotly")


@pytest.mark.parametrize("name", [n for n, x in PUBLIC.items() if inspect.isfunction(x) and "." not in n])
def test_every_function_says_what_it_returns_and_shows_a_value(name):
    """A public function has a section Returns, and an example that prints a value."""
    doc = inspect.cleandoc(PUBLIC[name].__doc__ or "")
    assert "\nReturns:\n" in doc, name
    assert ">>> " in doc, name
    assert not doc.rstrip().endswith("\nTrue"), f"{name}: the example shows True, not a value"


@pytest.mark.parametrize("name", [name for name, x in PUBLIC.items() if inspect.isclass(x)])
def test_every_class_has_an_example(name):
    """A public class shows how it is made or got, and a value."""
    assert ">>> " in (PUBLIC[name].__doc__ or "")


@pytest.mark.parametrize("name", PUBLIC)
def test_no_example_shows_only_that_something_is_true(name):
    """An example prints a value, not True."""
    for example in doctest.DocTestParser().get_examples(PUBLIC[name].__doc__ or ""):
        assert example.want.strip() not in ("True", "False"), example.source


# --- results ----------------------------------------------------------------------------------------------------------

#: public dataclasses that are not results: records, statistics that add, a source of rows, a page, files of rows
NO_RESULTS = {"Adjusted", "Measure", "PairSums", "PartialTables", "Profile", "Report", "Scan", "Table", "Written"}
A, B, C = [0, 0, 0, 1, 1, 1, 2, 2], [0, 0, 1, 1, 1, 1, 2, 2], [0, 1, 0, 1, 0, 1, 0, 1]
X = [[float(i // 4), float(i % 4 // 2)] for i in range(16)]
TREE = "((a:1,b:1):1,(c:1,d:1):1);"


def choice() -> Any:
    return cg.choose_k({2: [[0, 0, 1, 1], [0, 0, 0, 1]], 3: [[0, 0, 1, 2]] * 2}, criteria=["ari", "vi"])


def sweep() -> Any:
    return cg.resolutions({"r1": A, "r2": A, "r3": A, "r4": B})


def files() -> Any:
    with tempfile.TemporaryDirectory() as folder:
        rows = cg.scan(lambda: iter([{"a": A, "b": B, "c": C}]))
        return cg.consensus(rows, 3, "average", out=Path(folder) / "out", progress=False)


RESULTS: dict[str, Callable[[], Any]] = {
    "AgainstReference": lambda: cg.compare_to(A, {"b": B, "c": C}),
    "AllPairs": lambda: cg.compare_all([A, B, C]),
    "Alternative": lambda: cg.alternatives(X, [i // 8 for i in range(16)], random_state=0, n_init=1)[0],
    "ClusterCheck": lambda: cg.check_clusters(X, [i // 8 for i in range(16)]),
    "ClusterStability": lambda: cg.stability(X, lambda x: x[:, 0] > 1.5, n_resamples=3, random_state=0),
    "Comparison": lambda: cg.compare(A, B),
    "ConfidenceInterval": lambda: cg.confidence_interval(A * 20, B * 20, "ari"),
    "Consensus": lambda: cg.consensus([A, B, C], 3, method="average"),
    "ConsensusFiles": files,
    "Criterion": lambda: choice().criteria["ari"],
    "CutCurve": lambda: cg.cut_curve(cg.Hierarchy(TREE), cg.Hierarchy(TREE)),
    "CutTable": lambda: cg.compare_cuts(cg.Hierarchy(TREE), cg.Hierarchy(TREE)),
    "Drift": lambda: cg.drift([(X, [i // 8 for i in range(16)]), (X, [i % 2 for i in range(16)])]),
    "KChoice": choice,
    "Matching": lambda: cg.match(A, B),
    "PermutationTest": lambda: cg.permutation_test(A, B, "ari", 20, 0),
    "PermutationTests": lambda: cg.permutation_tests([A, B, C], measure="ari", n_permutations=20, random_state=0),
    "Plateau": lambda: sweep().plateau,
    "ProfileComparison": lambda: cg.compare_profiles(A * 2, B * 2, X),
    "Ranking": lambda: cg.rank([A, B, C]),
    "Resolutions": sweep,
    "Sweep": lambda: cg.sweep(X, lambda x, seed, cut: x[:, 0] > cut, {"cut": [1, 2]}, n_repeats=2),
    "Tanglegram": lambda: cg.tanglegram(cg.Hierarchy(TREE), cg.Hierarchy(TREE)),
    "Tracks": lambda: cg.track([A, B]),
    "Vote": lambda: choice().vote,
}


def test_every_public_result_is_in_the_list_of_results():
    """Every new result class is tested below, or listed as not a result."""
    classes = {name for name in cg.__all__ if dataclasses.is_dataclass(getattr(cg, name))}
    assert set(RESULTS) | NO_RESULTS == classes


@pytest.mark.parametrize("name", RESULTS)
def test_every_result_has_the_same_methods_and_keyword_fields(name):
    """A result gives a dict, JSON, a frame, HTML and a figure (or one line that there is none), and is made by keywords."""
    kind, result = getattr(cg, name), RESULTS[name]()
    assert type(result) is kind
    assert issubclass(kind, Result)
    assert {p.kind for p in inspect.signature(kind).parameters.values()} == {inspect.Parameter.KEYWORD_ONLY}
    assert result.to_dict()
    assert json.loads(result.to_json())
    assert len(result.to_frame()) > 0
    names = result.to_frame(backend="pyarrow").column_names
    assert len(set(names)) == len(names) > 0
    assert "<" in result._repr_html_()
    if kind not in DRAWN:
        with pytest.raises(cg.InputError, match=f"there is no figure of a {name}"):
            result.plot()


def test_facts_are_enums():
    """Direction, status and exactness are enums that equal their plain text."""
    test = cg.permutation_test(A, B, "ari", 20, 0)
    for value, text in ((cg.measure("ari").better, "higher"), (cg.measure("ari").status, "current")):
        assert isinstance(value, Enum)
        assert value == text
    assert isinstance(test.exactness, Enum)
    assert all(isinstance(m.better, Enum) and isinstance(m.status, Enum) for m in cg.measures())


def test_cautions_are_records():
    """Every field called caution or cautions, of results and of the report, is declared as `Caution` records."""
    for kind in [*(getattr(cg, name) for name in RESULTS), Model, CoverModel]:
        for field in dataclasses.fields(kind):
            assert not field.name.startswith("caution") or "Caution" in str(field.type), (kind, field)
    noisy = {"a": [-1, 0, 0, 1], "b": [0, 0, 1, 1], "c": [None] * 4}
    page = cg.report(noisy, measures=["ari", "rand"], unassigned="drop", progress=False).model
    some = (cg.compare(noisy["a"], noisy["b"]), cg.compare_all([noisy["a"], noisy["b"]]), page)
    for cautions in (x.cautions for x in some):
        assert cautions
        assert all(isinstance(c, Caution) and c.code for c in cautions)
    assert {c.code for c in page.cautions} >= {"empty"}


def test_the_stub_is_up_to_date():
    """`congruence/__init__.pyi` says what tests/stub.py writes: the signatures of the code, regardless of layout."""
    written = Path(cg.__file__).with_suffix(".pyi").read_text(encoding="utf-8")
    assert stub.said_by(written) == stub.said_by(stub.stub()), "run `python -m tests.stub`"
