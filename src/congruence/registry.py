"""Every measure is declared once, in `formulas/`, with the facts that the rest of the library reads.

Ask for measures through `congruence.formulas` (or `cg.measure`): importing it is what declares them.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from congruence.statistics import (
    Alone,
    Array,
    ChanceInfo,
    InputError,
    MatrixSums,
    NotApplicable,
    Profiles,
    Table,
    Tables,
)

AXIOMS = MappingProxyType(
    {
        "symmetric": "swapping the two clusterings changes nothing",
        "definite": "only identical clusterings reach the best value",
        "triangle": "the measure (or 1 − the measure, for similarities) obeys the triangle inequality",
        "baseline": "independent clusterings score 0 on average, whatever their numbers of clusters",
    }
)


@dataclass(frozen=True, eq=False)
class Measure:
    """One measure: its name, what it reads, its formula, and what is true of it.

    >>> import congruence as cg
    >>> m = cg.measure("v_measure", beta=2)
    >>> m.key, m.better, m.range
    ('v_measure', 'higher', (0.0, 1.0))
    >>> round(m([0, 0, 1, 1], [0, 0, 1, 2]), 6)
    0.75
    """

    key: str
    title: str
    needs: type
    formula: Callable[..., Any]
    better: Literal["higher", "lower"]
    range: tuple[float, float]
    #: lines of Python, `name = expression`, over the symbols of the statistic; the last one is the measure
    definition: tuple[str, ...]
    axioms: frozenset[str]
    #: value at 0/0 when the clusterings are not identical; identical ones get the best value; NaN: undefined for both
    at_zero: float
    reference: str
    caution: str = ""
    #: more names for the symbols of `definition`, worked out from the table
    workings: Callable[..., dict[str, Any]] | None = None
    aliases: tuple[str, ...] = ()
    #: of matrices: does it need one side to be a partition; does it take kernels with entries beyond 0 … 1
    wants_partition: bool = False
    takes_kernels: bool = False
    parameters: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def best(self) -> float:
        """The value of identical clusterings wherever the formula is 0/0."""
        return self.range[1] if self.better == "higher" else self.range[0]

    @property
    def family(self) -> str:
        """The file of `formulas/` it is declared in."""
        return self.formula.__module__.rsplit(".", 1)[-1]

    @property
    def is_lone(self) -> bool:
        """Does it describe one ensemble or matrix, rather than compare two?"""
        return self.needs is Alone

    @property
    def is_symmetric(self) -> bool:
        """Does swapping the clusterings change nothing?"""
        return "symmetric" in self.axioms

    @property
    def is_metric(self) -> bool:
        """Is the measure (or 1 − it) a metric on partitions?"""
        return {"symmetric", "definite", "triangle"} <= self.axioms

    def check(self, *, soft: bool, weighted: bool) -> None:
        """Raise NotApplicable where this measure is not defined for the kind of input."""
        if self.needs is ChanceInfo and (soft or weighted):
            what = "soft memberships" if soft else "sample_weight"
            advice = "use ari_gram, or harden the memberships" if soft else "pass `frequency` for whole-number counts"
            raise NotApplicable(
                f"{self.key} is not defined for {what}: its expectation is over permutations of whole points; {advice}"
            )

        if self.needs is Profiles:
            raise NotApplicable(
                f"{self.key} compares where clusters lie in the data, which it needs: cg.{self.key}(a, b, X)"
            )
        if self.is_lone:
            raise NotApplicable(f"{self.key} describes one ensemble or matrix: cg.{self.key}(x)")
        if self.needs is MatrixSums and soft:
            raise NotApplicable(
                f"{self.key} of memberships needs their matrix: pass cg.Ensemble([u]), or cg.Similarity(m) if the array is "
                "a similarity matrix"
            )

    def raw(self, statistic: Any) -> Array:
        """The formula for every pair of a tile; NaN at 0/0."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            if self.needs is Table:
                return np.array([self.formula(t, **self.parameters) for t in statistic.each()], dtype=np.float64)
            return np.asarray(self.formula(statistic, **self.parameters), dtype=np.float64)

    def values(self, statistic: Any) -> Array:
        """The measure of every pair of a tile, with 0/0 decided by the one rule."""
        raw = self.raw(statistic)
        undefined = np.isnan(self.at_zero)  # then it is so for identical clusterings too
        filled = self.at_zero if undefined else np.where(statistic.identical, self.best, self.at_zero)
        values = np.where(np.isnan(raw), filled, raw)
        for bound in self.range:  # what rounding pushed over a bound is put back on it
            values = np.where(np.abs(values - bound) < 1e-13, bound, values) if np.isfinite(bound) else values
        return values

    def __call__(self, a: Any, b: Any, **options: Any) -> float:
        """The measure of two clusterings; the options are those of `compare`."""
        import congruence  # through the public door: comparing is a room above this one

        if self.needs is Profiles:
            return float(getattr(congruence, self.key)(a, b, **{**self.parameters, **options}))
        return float(congruence.compare(a, b, [self], **options)[self.key])

    def explain(self, a: Any, b: Any, **options: Any) -> Explanation:
        """The formula with this pair's numbers in it.

        >>> import congruence as cg
        >>> print(cg.measure("jaccard").explain([0, 0, 1, 1], [0, 0, 0, 1]))
        jaccard: Jaccard index of pairs (higher is better, 0 to 1)
          v11 = 1, v10 = 1, v01 = 2
          jaccard = v11 / (v11 + v10 + v01)
                  = 1 / (1 + 1 + 2)
                  = 0.25
        """
        import congruence

        result = congruence.compare(a, b, [self], **options)
        if result.tables is None:
            raise InputError("explain works the formula through for two clusterings, not for matrices or ensembles")
        return explanation(self, result.tables, float(result[self.key]))

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self.key, dict(self.parameters))  # formulas are found by name, also in another process

    def __repr__(self) -> str:
        low, high = (f"{x:g}" for x in self.range)
        extra = "".join(f", {k}={v!r}" for k, v in self.parameters.items())
        return f"Measure({self.key}{extra}: {self.title}, {self.better} is better, {low} to {high})"


@dataclass(frozen=True)
class Explanation:
    """A measure's formula, the numbers of one pair, and the value; prints as lines."""

    measure: Measure
    symbols: dict[str, Any]
    lines: tuple[str, ...]
    value: float

    def __str__(self) -> str:
        return "\n".join(self.lines)

    __repr__ = __str__


#: what a definition may use beside the symbols
_FUNCTIONS: dict[str, Callable[..., Any]] = {"log": np.log, "sqrt": np.sqrt, "exp": np.exp, "max": max, "min": min}


def explanation(measure: Measure, tables: Tables, value: float) -> Explanation:
    """Work a definition through for one pair; a line that comes out 0/0 is said to fall back on the rule for it."""
    known: dict[str, Any] = {}
    if measure.workings is not None:
        (table,) = tables.each()
        known.update(measure.workings(table, **measure.parameters))
    statistic: Any = tables
    if measure.needs not in (Table, Tables):
        statistic = measure.needs.from_tables(tables)  # type: ignore[attr-defined]
        known.update({s: getattr(statistic, s)[0] for s in statistic.symbols})
    known.update(measure.parameters)
    # numpy's floats give inf and NaN where Python's would raise
    known = {k: v if isinstance(v, str) or v is None else np.float64(v) for k, v in known.items()}

    low, high = (f"{x:g}" for x in measure.range)
    lines = [f"{measure.key}: {measure.title} ({measure.better} is better, {low} to {high})"]
    words = set(re.findall(r"[A-Za-z_]\w*", " ".join(measure.definition)))
    lines.append("  " + ", ".join(f"{k} = {_number(v)}" for k, v in known.items() if k in words))
    for line in measure.definition:
        name, expression = line.split(" = ", 1)
        numbers = re.sub(r"[A-Za-z_]\w*", lambda m: _number(known[m[0]]) if m[0] in known else m[0], expression)
        with np.errstate(all="ignore"):
            # the expressions are the literals of our own decorators, checked against the formulas by a test
            result = eval(expression, {"__builtins__": {}}, {**_FUNCTIONS, **known})  # noqa: S307
        if line is measure.definition[-1] and np.isnan(measure.raw(statistic)[0]):
            result = np.nan  # 0/0, or a denominator that is 0 but for rounding
        known[name] = result
        pad = " " * len(name)
        lines += [f"  {_pretty(line)}", f"  {pad} = {_pretty(numbers)}"]
        if np.isnan(result):
            lines.append(f"  {pad} = 0/0, by the rule for 0/0: {_number(value)}")
        else:
            lines.append(f"  {pad} = {_number(result)}")
    if measure.caution:
        lines.append(f"  Caution: {measure.caution}")
    return Explanation(measure, known, tuple(lines), value)


def _number(x: Any) -> str:
    return f"{float(x):.6g}" if x is not None and not isinstance(x, str) else str(x)


def _pretty(text: str) -> str:
    return text.replace(" ** 2", "²").replace("*", "·").replace(" - ", " − ")


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
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Declare the decorated formula as a measure. Its keyword parameters, with defaults, become the measure's."""

    def declare(formula: Callable[..., Any]) -> Callable[..., Any]:
        defaults = {
            p.name: p.default for p in inspect.signature(formula).parameters.values() if p.default is not p.empty
        }
        lines = (definition,) if isinstance(definition, str) else tuple(definition)
        low, high = range
        record = Measure(
            key, title, needs, formula, better, (float(low), float(high)), lines, frozenset(axioms), at_zero,
            reference, caution, workings, tuple(aliases), wants_partition, takes_kernels,
            MappingProxyType(defaults),
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


def measures() -> tuple[Measure, ...]:
    """The records of all measures.

    >>> import congruence as cg
    >>> [m.key for m in cg.measures() if m.is_metric][:3]
    ['rand', 'jaccard', 'mirkin']
    """
    return tuple(_RECORDS.values())


def find(name: str | Measure, **parameters: Any) -> Measure:
    """The measure of this key or alias, with parameters of its own if given.

    >>> import congruence as cg
    >>> cg.measure("fowlkes_mallows").key
    'wallace'
    >>> cg.measure("nmi")
    Traceback (most recent call last):
    congruence.statistics.InputError: there is no measure 'nmi'; did you mean nmi_joint, nmi_max or nmi_sum?
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
    return replace(record, parameters=MappingProxyType({**record.parameters, **parameters}))


def _again(key: str, parameters: dict[str, Any]) -> Measure:
    import congruence

    return congruence.measure(key, **parameters)


def is_among(name: object, keys: Iterable[str]) -> bool:
    """Is the measure of this key or alias among these keys?"""
    return isinstance(name, str) and _NAMES.get(name.lower().replace("-", "_")) in set(keys)


def hint(name: str, known: Iterable[str], listing: str = "`congruence measures` lists all") -> str:
    """'did you mean …?' with the nearest known names, or where to find them all."""
    known = list(known)
    near = [k for k in known if name and k.startswith(name.lower())]
    near += get_close_matches(name.lower(), [k for k in known if k not in near], n=3, cutoff=0.6)
    near = near[:3]
    if not near:
        return listing
    *most, last = near
    return f"did you mean {', '.join(most) + ' or ' if most else ''}{last}?"


def ratio(numerator: Array, denominator: Array, tiny: Array | float = 0.0) -> Array:
    """numerator / denominator, NaN where the denominator is 0 (or within `tiny` of it): the 0/0 rule then decides."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(np.abs(denominator) <= tiny, np.nan, np.divide(numerator, denominator))
