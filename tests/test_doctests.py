"""Every example in a docstring is run."""

from __future__ import annotations

import doctest
import pkgutil
from importlib import import_module

import pytest

import congruence as cg

#: `congruence.__main__` is the command: importing it runs it
MODULES = [
    "congruence",
    *(info.name for info in pkgutil.walk_packages(cg.__path__, "congruence.") if not info.name.endswith("__main__")),
]
FUNCTIONS = ["lambda_statistic" if m.key == "lambda" else m.key for m in cg.measures()]


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_modules(name):
    """The examples in the docstrings of this module give the results shown."""
    found = doctest.testmod(import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE)
    assert found.failed == 0


def test_there_are_examples():
    """The public functions and results have examples."""
    finder = doctest.DocTestFinder(exclude_empty=True)
    for name in (
        "compare",
        "compare_all",
        "compare_to",
        "contingency",
        "element_scores",
        "match",
        "relabel",
        "from_long",
    ):
        assert any(test.examples for test in finder.find(getattr(cg, name))), name


@pytest.mark.parametrize("name", FUNCTIONS)
def test_examples_of_measures(name):
    """The example in the generated docstring of each measure gives the result shown."""
    test = doctest.DocTestParser().get_doctest(getattr(cg, name).__doc__, {}, name, None, None)
    assert test.examples
    found = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test)
    assert found.failed == 0
