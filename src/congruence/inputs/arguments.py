"""Find arguments of a call with a wrong name or without effect and, after an error, those of the wrong type."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable as AnyCallable
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Literal, Union, get_args, get_origin

import numpy as np

from congruence.errors import InputError, check_needs, joined
from congruence.typing import Function, Label

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

#: words for plain types
WORDS: dict[object, str] = {
    bool: "True or False",
    int: "a whole number",
    float: "a number",
    str: "a text",
    type(None): "None",
}


def misfit(
    function: Function,
    args: tuple[object, ...],
    given: Mapping[str, object],
    others: Function | None = None,
) -> Exception | None:
    """The error for an argument of another type than its parameter; None if there is none.

    Args:
        function: The function that was called.
        args: Arguments by position.
        given: Arguments by name.
        others: A function whose parameters describe the `**options` of this one.

    >>> def f(n: int, flag: bool = False) -> None: ...
    >>> misfit(f, (2,), {"flag": "x"})
    InputError("flag must be True or False; got 'x'")
    >>> misfit(f, (2,), {}) is None
    True
    """
    try:
        bound = inspect.signature(function).bind(*args, **given).arguments
    except TypeError:  # too many, too few or unknown arguments: Python raises
        return None
    kinds = {**(_kinds(others) if others else {}), **_kinds(function)}
    for options in [name for name, p in inspect.signature(function).parameters.items() if p.kind is p.VAR_KEYWORD]:
        bound |= bound.pop(options, {})
    for name, value in bound.items():
        if not fits(value, kinds.get(name, object)):
            return InputError(f"{name} must be {in_words(kinds[name])}; got {_shown(value)}")
        if isinstance(value, type) and name != "dtype":
            return InputError(f"{name} is the class {value.__name__}; pass an object of it")
    return None


def check_names_and_effects(function: Function, args: tuple[object, ...], given: Mapping[str, object]) -> None:
    """Refuse known wrong names, and arguments that have no effect in this call, according to the `needs` of the function.

    Args:
        function: The function that was called.
        args: Arguments by position.
        given: Arguments by name.
    """
    for name, right in getattr(function, "misnamed", {}).items():
        if name in given:
            called = function.__qualname__.removesuffix(".__init__")
            raise TypeError(f"{name} is called {right}: {called}({right}={given[name]!r})")
    try:
        bound = inspect.signature(function).bind(*args, **given)
    except TypeError:  # too many, too few or unknown arguments: Python raises in the call
        return
    bound.apply_defaults()
    check_needs(function, bound.arguments)


def check_argument(function: Function, name: str, value: object) -> None:
    """Raise an InputError if this value does not have the type of the named parameter."""
    kind = _kinds(function).get(name, object)
    if not fits(value, kind):
        raise InputError(f"{name} must be {in_words(kind)}; got {_shown(value)}")


def check_parameters(estimator: BaseEstimator) -> None:
    """Raise an InputError if a parameter of an estimator does not have the type that its constructor names."""
    for name, value in estimator.get_params(deep=False).items():
        check_argument(type(estimator).__init__, name, value)


def _kinds(function: Function) -> dict[str, object]:
    """The types of annotated parameters."""
    names = getattr(inspect.unwrap(function), "__globals__", {})
    found = {p.name: _resolved(p.annotation, names) for p in inspect.signature(function).parameters.values()}
    return {name: kind for name, kind in found.items() if kind is not object}


def _resolved(annotation: object, names: Mapping[str, object]) -> object:
    """The type of an annotation; object if it cannot be resolved."""
    if annotation is inspect.Parameter.empty:
        return object
    text = getattr(annotation, "__forward_arg__", annotation)
    if not isinstance(text, str):
        return text
    try:
        return eval(text, dict(names))  # noqa: S307 -- an annotation of our own source
    except NameError:  # imported only for type checkers
        return object


def fits(value: object, kind: object) -> bool:
    """Whether a value has a type. numpy numbers count as numbers, and types that are not plain are not checked.

    >>> fits(np.int64(2), int), fits(np.array([2, 3]), int), fits(None, int | None), fits("x", Literal["y"])
    (True, False, True, False)
    """
    if kind in (object, Label):
        return True
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return any(fits(value, k) for k in inner)
    if origin is Literal:
        return isinstance(value, str) and value in inner
    if origin is AnyCallable:
        return callable(value)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return isinstance(value, Mapping)
    if isinstance(origin, type) and issubclass(origin, Iterable):
        return _listed(value, inner[0] if inner else object, ordered=issubclass(origin, Sequence))
    if kind is None or kind is type(None):
        return value is None
    if not isinstance(kind, type):
        return True
    if kind is bool:
        return isinstance(value, bool | np.bool_)
    if kind in (int, float):
        numbers = int | np.integer if kind is int else int | float | np.integer | np.floating
        return isinstance(value, numbers) and not isinstance(value, np.timedelta64)
    if issubclass(kind, Enum):
        return isinstance(value, str) and value in [x.value for x in kind]
    return isinstance(value, kind)


def _listed(value: object, kind: object, ordered: bool) -> bool:
    if isinstance(value, str | bytes) or not isinstance(value, Iterable) or getattr(value, "ndim", 1) != 1:
        return False
    countable = isinstance(value, Sequence | np.ndarray | set | frozenset) or hasattr(value, "dtype")
    return all(fits(x, kind) for x in value) if countable else not ordered or hasattr(value, "__len__")


def in_words(kind: object) -> str:
    """A type as part of a sentence.

    >>> in_words(int | None), in_words(Literal["drop", "keep"]), in_words(Sequence[str])
    ('a whole number or None', "'drop' or 'keep'", 'a list')
    """
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return joined(dict.fromkeys(in_words(k) for k in inner), "or")
    if origin is Literal:
        return joined(map(repr, inner), "or")
    if origin is AnyCallable:
        return "a function"
    if isinstance(origin, type):
        return "a mapping" if issubclass(origin, Mapping) else "a list"
    return WORDS.get(kind, f"a {getattr(kind, '__name__', kind)}")


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:76]} …"
