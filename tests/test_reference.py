"""Reference documentation: every parameter of every public name is described, and the stub has the code's signatures."""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import congruence as cg
from tests import stub

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


#: rooms whose docstrings are still to be completed
PENDING = ("inputs.cover", "overlapping", "covers")


def is_pending(thing: Any) -> bool:
    return thing.__module__.removeprefix("congruence.").startswith(PENDING)


PUBLIC = {name: thing for name, thing in public() if not is_pending(thing)}


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


@pytest.mark.parametrize("name", [n for n, x in PUBLIC.items() if inspect.isfunction(x) and "." not in n])
def test_every_function_says_what_it_returns_and_shows_a_value(name):
    """A public function has a section Returns, and an example that prints a value."""
    doc = inspect.cleandoc(PUBLIC[name].__doc__ or "")
    assert "\nReturns:\n" in doc, name
    assert ">>> " in doc, name
    assert not doc.rstrip().endswith("\nTrue"), f"{name}: the example shows True, not a value"


def test_the_stub_is_up_to_date():
    """`congruence/__init__.pyi` says what tests/stub.py writes: the signatures of the code, whatever the layout."""
    written = Path(cg.__file__).with_suffix(".pyi").read_text(encoding="utf-8")
    assert stub.said_by(written) == stub.said_by(stub.stub()), "run `python -m tests.stub`"
