"""The declared measures, and how to find one by name.

Import `congruence.formulas` (or use `cg.measure`): importing the families declares the measures.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Literal

from congruence.errors import InputError, hint
from congruence.formulas.record import AXIOMS, Better, Measure, Status

_RECORDS: dict[str, Measure] = {}

_NAMES: dict[str, str] = {}


def measure(
    key: str,
    *,
    title: str,
    needs: type,
    better: Literal["higher", "lower"],
    range: tuple[float, float],
    definition: str | Sequence[str],
    axioms: Iterable[str] = (),
    at_zero: float = 0.0,
    reference: str,
    caution: str = "",
    workings: Callable[..., dict[str, Any]] | None = None,
    aliases: Sequence[str] = (),
    wants_partition: bool = False,
    takes_kernels: bool = False,
    takes_covers: bool = False,
    whole_points: bool = False,
    status: Literal["current", "historical"] = "current",
    axioms_for: Callable[..., frozenset[str]] | None = None,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Declare the decorated formula as a measure. Its keyword parameters, with defaults, become the measure's."""

    def declare(formula: Callable[..., Any]) -> Callable[..., Any]:
        defaults = {
            p.name: p.default for p in inspect.signature(formula).parameters.values() if p.default is not p.empty
        }
        lines = (definition,) if isinstance(definition, str) else tuple(definition)
        low, high = range
        record = Measure(
            key=key, title=title, needs=needs, formula=formula, better=Better(better), range=(float(low), float(high)),
            definition=lines, axioms=frozenset(axioms), at_zero=at_zero, reference=reference, caution=caution,
            status=Status(status), workings=workings, aliases=tuple(aliases), wants_partition=wants_partition,
            takes_kernels=takes_kernels, takes_covers=takes_covers, whole_points=whole_points,
            parameters=MappingProxyType(defaults), axioms_for=axioms_for,
        )  # fmt: skip
        unknown = record.axioms - set(AXIOMS)
        if unknown or key in _NAMES:
            raise ValueError(f"measure {key!r}: declared twice, or unknown axioms {sorted(unknown)}")
        _RECORDS[key] = record
        for name in (key, *record.aliases):
            _NAMES[name] = key
        return formula

    return declare


def keys() -> tuple[str, ...]:
    """Keys of all measures, in the order of declaration."""
    return tuple(_RECORDS)


def names() -> tuple[str, ...]:
    """Keys and aliases of all measures."""
    return tuple(_NAMES)


def current_measures() -> tuple[Measure, ...]:
    """The records of the measures that "all" stands for: those not kept only to reproduce a paper."""
    return tuple(m for m in _RECORDS.values() if not m.is_historical)


def measures() -> tuple[Measure, ...]:
    """The records of all measures, with those kept only to reproduce a paper (`m.is_historical`).

    Returns:
        A tuple of `Measure` records, in the order of declaration.

    See also:
        `cg.measure`; the page of measures.

    >>> import congruence as cg
    >>> [m.key for m in cg.measures() if m.is_metric][:3]
    ['rand', 'jaccard', 'mirkin']
    """
    return tuple(_RECORDS.values())


def find(name: str | Measure, **parameters: Any) -> Measure:
    """The measure of this key or alias, with these parameters.

    Args:
        name: Key, alias or record of a measure.
        parameters: Parameters of the measure, as `beta=2` for v_measure.

    Returns:
        A `Measure`, usable wherever a key is.

    Raises:
        InputError: If there is no such measure or parameter; similar names are suggested.

    See also:
        `cg.measures`, `cg.adjusted`.

    >>> import congruence as cg
    >>> cg.measure("fowlkes_mallows").key
    'wallace'
    >>> cg.measure("nmi")
    Traceback (most recent call last):
    congruence.errors.InputError: there is no measure 'nmi'; did you mean nmi_joint, nmi_max or nmi_sum?
    """
    if isinstance(name, Measure):
        record = name
    elif isinstance(name, str) and name.lower().replace("-", "_") in _NAMES:
        record = _RECORDS[_NAMES[name.lower().replace("-", "_")]]
    else:
        raise InputError(f"there is no measure {name!r}; {hint(str(name), names())}")
    if not parameters:
        return record
    unknown = set(parameters) - set(record.parameters)
    if unknown:
        known = ", ".join(record.parameters) or "none"
        raise InputError(f"{record.key} has no parameter {sorted(unknown)[0]!r}; its parameters: {known}")
    every = {**record.parameters, **parameters}
    axioms = record.axioms if record.axioms_for is None else record.axioms_for(**every)
    return replace(record, parameters=MappingProxyType(every), axioms=axioms)


def is_among(name: object, keys: Iterable[str]) -> bool:
    """Whether the measure of this key or alias is among these keys."""
    return isinstance(name, str) and _NAMES.get(name.lower().replace("-", "_")) in set(keys)
