"""The record of one measure (its name, statistic, formula and properties), and the registry of all.

Import `congruence.formulas` (or use `cg.measure`): importing the families declares the measures.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from congruence.errors import Call, InputError, NotApplicable, Option, Word, hint, joined, real_number, yes_or_no
from congruence.formulas.explain import Explanation, explanation
from congruence.statistics.bonds import Frobenius
from congruence.statistics.concordance import Concordance
from congruence.statistics.covers import Intersections, SharedPairs
from congruence.statistics.information import ChanceInfo
from congruence.statistics.matrices import Alone, MatrixSums, PooledInfo
from congruence.statistics.profiles import Profiles
from congruence.statistics.tables import Array, Table
from congruence.statistics.trees import Clades, LevelInfo, MergeHeights
from congruence.typing import ClusteringLike, Function, OptionValue, Record, Scalar, Several

if TYPE_CHECKING:
    from congruence import MeasureName
    from congruence.statistics import Statistic

AXIOMS = MappingProxyType(
    {
        "symmetric": "swapping the two clusterings changes nothing",
        "definite": "only identical clusterings reach the best value",
        "triangle": "the measure (or 1 − the measure, for similarities) obeys the triangle inequality",
        "baseline": "independent clusterings score 0 on average, for any numbers of clusters",
    }
)

#: tolerance for float sums at the bounds
ROUNDING = 1e-12
#: advice on memberships where covers are compared
COVER = Call("convert the memberships to a cover: cg.Cover(u >= 0.3)")


class Better(Word):
    """Which values of a measure mean more agreement."""

    HIGHER = "higher"
    LOWER = "lower"


class Status(Word):
    """Whether a measure is current, or kept only to reproduce a paper and skipped by "all" and the default tables."""

    CURRENT = "current"
    HISTORICAL = "historical"


@dataclass(frozen=True, eq=False, kw_only=True)
class Measure:
    """One measure: its name, statistic, formula and properties.

    Attributes:
        key: Its key, such as "ari".
        title: Its name in full.
        needs: The statistic that the formula reads.
        formula: The formula.
        better: "higher" or "lower".
        range: Smallest and largest value for points that count once, or by whole frequencies.
        definition: The formula as lines of Python over the symbols of the statistic; the last one is the measure.
        axioms: Which of "symmetric", "definite", "triangle" and "baseline" hold.
        at_zero: Value at 0/0 if the clusterings differ; identical ones get the best value. NaN: undefined for both.
        reference: Key of the paper.
        caution: A caution for users, if any.
        status: "current", or "historical" if it is kept only to reproduce a paper.
        workings: Further symbols of the definition, from the table.
        aliases: Other names.
        wants_partition: For matrices: whether one side must be a partition.
        takes_kernels: For matrices: whether entries may be outside 0 … 1.
        takes_covers: Whether it is defined for overlapping clusters too.
        whole_points: Whether it counts whole points, so that memberships and weights are refused.
        of_members: For one ensemble: whether it describes the members, which a matrix does not have.
        axioms_for: The axioms for given parameters, if they depend on them.
        parameters: Its parameters and their values.
        weighted_range: Smallest and largest value with `sample_weight`, if that is wider; None if it is not.
        soft_range: Smallest and largest value of memberships, if that is wider; None if it is not.

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
    formula: Function
    better: Better
    range: tuple[float, float]
    definition: tuple[str, ...]
    axioms: frozenset[str]
    at_zero: float
    reference: str
    caution: str = ""
    status: Status = Status.CURRENT
    workings: Callable[..., Record] | None = None
    aliases: tuple[str, ...] = ()
    wants_partition: bool = False
    takes_kernels: bool = False
    takes_covers: bool = False
    whole_points: bool = False
    of_members: bool = False
    parameters: Mapping[str, OptionValue] = field(default_factory=lambda: MappingProxyType({}))
    axioms_for: Callable[..., frozenset[str]] | None = None
    weighted_range: tuple[float, float] | None = None
    soft_range: tuple[float, float] | None = None

    def range_for(self, *, soft: bool = False, weighted: bool = False) -> tuple[float, float]:
        """Smallest and largest value for this kind of input.

        Args:
            soft: Whether either clustering is soft. Default False.
            weighted: Whether points have importance weights. Default False.

        Returns:
            The two bounds.

        >>> import congruence as cg
        >>> cg.measure("ari").range_for(weighted=True), cg.measure("rand").range_for(soft=True)
        ((-1.0, 1.0), (-1.0, 1.0))
        """
        wider = [self.weighted_range if weighted else None, self.soft_range if soft else None]
        bounds = [self.range, *(x for x in wider if x is not None)]
        return float(min(low for low, _ in bounds)), float(max(high for _, high in bounds))

    @property
    def best(self) -> float:
        """The value of identical clusterings if the formula is 0/0."""
        return self.range[1] if self.better is Better.HIGHER else self.range[0]

    @property
    def family(self) -> str:
        """The file of `formulas/` it is declared in."""
        return self.formula.__module__.rsplit(".", 1)[-1]

    @property
    def takes_weights(self) -> bool:
        """Whether it is defined for sample_weight; measures that count whole points are not."""
        return self.needs not in (ChanceInfo, PooledInfo, Frobenius) and not self.whole_points

    @property
    def is_lone(self) -> bool:
        """Whether it describes one ensemble or matrix instead of comparing two."""
        return self.needs is Alone

    @property
    def is_historical(self) -> bool:
        """Whether it is kept only to reproduce a paper."""
        return self.status is Status.HISTORICAL

    @property
    def is_symmetric(self) -> bool:
        """Whether swapping the clusterings changes nothing."""
        return "symmetric" in self.axioms

    @property
    def is_metric(self) -> bool:
        """Whether the measure (or 1 − it) is a metric on partitions."""
        return {"symmetric", "definite", "triangle"} <= self.axioms

    @property
    def accepts_covers(self) -> bool:
        """Whether it is defined for overlapping clusters."""
        return self.takes_covers or self.needs in (SharedPairs, Intersections, Concordance)

    def check(self, *, soft: bool, weighted: bool, covers: bool = False) -> None:
        """Raise NotApplicable if this measure is not defined for this kind of input.

        Args:
            soft: Whether either clustering is soft.
            weighted: Whether points have importance weights.
            covers: Whether clusters overlap. Default False.

        Raises:
            NotApplicable: If it is not defined for them.
        """
        if soft and covers and self.needs is not Concordance:
            raise NotApplicable(f"{self.key} does not compare memberships with covers; ndc and aci do, or {COVER}")
        if soft and self.needs in (SharedPairs, Intersections):
            raise NotApplicable(f"{self.key} compares covers and labels; {COVER}")
        if (self.needs is ChanceInfo or self.whole_points) and (soft or weighted):
            what = "soft memberships" if soft else Option("sample_weight")
            advice = "use fari, aci or ari_gram, or harden them" if soft else f"pass {Option('frequency')} for counts"
            why = "it counts" if self.whole_points else "its expectation is over permutations of"
            raise NotApplicable(f"{self.key} is not defined for {what}: {why} whole points; {advice}")
        if self.needs in (PooledInfo, Frobenius) and weighted:
            raise NotApplicable(f"{self.key} counts points: pass {Option('frequency')}, not {Option('sample_weight')}")
        if self.needs is Profiles:
            raise NotApplicable(
                f"{self.key} compares where clusters lie in the data, so it needs the data: cg.{self.key}(a, b, X)"
            )
        if self.needs in (MergeHeights, Clades, LevelInfo):
            raise NotApplicable(
                f"{self.key} compares hierarchies: {Call(f'cg.{self.key}(cg.Hierarchy(a), cg.Hierarchy(b))')}"
            )
        if self.is_lone:
            raise NotApplicable(f"{self.key} describes one ensemble or matrix: cg.{self.key}(x)")
        if self.needs is MatrixSums and soft:
            raise NotApplicable(
                f"{self.key} of memberships needs their matrix: pass {Call('cg.Ensemble([u])')}, or "
                f"{Call('cg.Similarity(m)')} if the array is a similarity matrix"
            )
        if covers and not self.accepts_covers:
            raise NotApplicable(
                f"{self.key} compares partitions, but this is a cover; omega, onmi_max, average_f1, bcubed_f and "
                "element_centric take covers"
            )

    def raw(self, statistic: Statistic) -> Array:
        """The formula for every pair of a tile; NaN at 0/0.

        Args:
            statistic: The statistic that it needs.
        """
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            if self.needs is Table:
                return np.array([self.formula(t, **self.parameters) for t in statistic.each()], dtype=np.float64)  # type: ignore[union-attr, call-arg]
            return np.asarray(self.formula(statistic, **self.parameters), dtype=np.float64)

    def values(self, statistic: Statistic) -> Array:
        """The measure of every pair of a tile, with the rule for 0/0 applied.

        Args:
            statistic: The statistic that it needs.
        """
        raw, identical = self.raw(statistic), np.asarray(statistic.identical)
        if raw.shape != identical.shape:
            raw, identical = np.broadcast_arrays(raw, identical)
        values = raw.copy()
        low, high = self.range
        if not ((values >= low) & (values <= high)).all():  # some are 0/0, or rounded past a bound
            undefined = np.isnan(self.at_zero)  # also undefined for identical clusterings
            filled = self.at_zero if undefined else np.where(identical, self.best, self.at_zero)
            values = np.where(np.isnan(values), filled, values)
            values[(values < low) & (values > low - ROUNDING)] = low
            values[(values > high) & (values < high + ROUNDING)] = high
        if identical.any():
            with np.errstate(invalid="ignore"):  # the best value may be infinite
                near = np.abs(values - self.best) < ROUNDING
            values[identical & near] = self.best
        return values

    def value(self, statistic: Statistic) -> float:
        """The measure of one pair: the same as `values`, also of a statistic whose fields are numbers instead of arrays.

        Args:
            statistic: The statistic that it needs.
        """
        same: Scalar = statistic.identical
        raw: Scalar = self.formula(statistic, **self.parameters) if type(same) is bool else self.raw(statistic).item()
        needs_no_rule = self.range[0] <= raw <= self.range[1] and (raw == self.best or not same)
        return float(raw) if needs_no_rule else float(self.values(statistic).item())

    def __call__(self, a: ClusteringLike, b: ClusteringLike, **options: OptionValue) -> float:
        """The measure of two clusterings; the options are those of `compare`."""
        import congruence  # late import; avoids a cycle: comparison is a higher layer

        if self.needs is Profiles:
            return float(getattr(congruence, self.key)(a, b, **{**self.parameters, **options}))
        return float(congruence.compare(a, b, [self], **options)[self.key])

    def explain(self, a: ClusteringLike, b: ClusteringLike, **options: OptionValue) -> Explanation:
        """The formula with this pair's numbers in it.

        Args:
            a: First clustering: labels (a list, numpy, pandas, polars, arrow or DLPack array, 1-D), memberships (2-D
                floats or sparse, points × clusters).
            b: Second clustering, of the same points in the same order.
            options: Options of `compare`: `unassigned`, `noise`, `sample_weight`, `frequency`, `align`, `threads`,
                `engine`, and those of a scan.

        Returns:
            An `Explanation`, which prints as lines; `.symbols`, `.value`.

        Raises:
            InputError: If an argument is invalid.

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
            raise InputError("explain shows the formula for two clusterings, not for matrices or ensembles")
        return explanation(self, result.tables, float(result[self.key]))

    def __reduce__(self) -> tuple[object, ...]:
        return _again, (self.key, dict(self.parameters))  # formulas are found by name, also in another process

    def __repr__(self) -> str:
        low, high = (f"{x:g}" for x in self.range)
        extra = "".join(f", {k}={v!r}" for k, v in self.parameters.items())
        return f"Measure({self.key}{extra}: {self.title}, {self.better} is better, {low} to {high})"


def _again(key: str, parameters: dict[str, OptionValue]) -> Measure:
    import congruence

    return congruence.measure(key, **parameters)


def ratio(numerator: Array, denominator: Array, tiny: Array | float = 0.0) -> Array:
    """numerator / denominator, NaN if the denominator is 0 (or within `tiny` of it); the rule for 0/0 applies then."""
    if isinstance(denominator, float):  # of one pair
        return numerator / denominator if abs(denominator) > tiny else math.nan
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(np.abs(denominator) <= tiny, np.nan, np.divide(numerator, denominator))


# --- the registry -----------------------------------------------------------------------------------------------

_RECORDS: dict[str, Measure] = {}

_NAMES: dict[str, str] = {}


def measure(
    key: str,
    *,
    better: Literal["higher", "lower"],
    range: tuple[float, float],
    definition: str | Sequence[str],
    axioms: Iterable[str] = (),
    at_zero: float = 0.0,
    aliases: Sequence[str] = (),
    status: Literal["current", "historical"] = "current",
    **facts: OptionValue,
) -> Callable[[Function], Function]:
    """Declare the decorated formula as a measure, with further facts of its record; its parameters become the measure's."""

    def declare(formula: Function) -> Function:
        defaults = {
            p.name: p.default for p in inspect.signature(formula).parameters.values() if p.default is not p.empty
        }
        lines = (definition,) if isinstance(definition, str) else tuple(definition)
        low, high = range
        record = Measure(
            key=key, formula=formula, better=Better(better), range=(float(low), float(high)), definition=lines,
            axioms=frozenset(axioms), at_zero=at_zero, status=Status(status), aliases=tuple(aliases),
            parameters=MappingProxyType(defaults), **facts,
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
    """The records of the measures in "all": those not kept only to reproduce a paper."""
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
    return Catalogue(_RECORDS.values())


class Catalogue(tuple[Measure, ...]):
    """Records of measures, shown as a table in a notebook."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        from congruence.inputs.frames import html_table  # late import; formulas do not need frames

        rows = [(m.key, m.title, m.better, m.range) for m in self]
        return html_table(dict(zip(("key", "title", "better", "range"), zip(*rows, strict=True), strict=True)))


def find(name: str | Measure, **parameters: OptionValue) -> Measure:
    """The measure of this key or alias, with these parameters.

    Args:
        name: Key, alias or record of a measure.
        parameters: Parameters of the measure, such as `beta=2` for v_measure.

    Returns:
        A `Measure`, usable wherever a key is.

    Raises:
        InputError: If there is no such measure or parameter; similar names are suggested.

    See also:
        `cg.measures`, `cg.adjusted`.

    >>> import congruence as cg
    >>> cg.measure("fowlkes_mallows").key
    'wallace'
    >>> cg.measure("nmi").key
    'nmi_sum'
    >>> cg.measure("v_mesure")
    Traceback (most recent call last):
    congruence.errors.InputError: there is no measure 'v_mesure'; did you mean v_measure, f_measure or v_measure_score?
    """
    if isinstance(name, Measure):
        record = name
    elif isinstance(name, str) and name.lower().replace("-", "_") in _NAMES:
        record = _RECORDS[_NAMES[name.lower().replace("-", "_")]]
    else:
        raise InputError(f"there is no measure {name!r}; {hint(str(name), names())}")
    if not parameters:
        return record
    if unknown := set(parameters) - set(record.parameters):
        known = joined(record.parameters) or "none"
        raise InputError(f"{record.key} has no parameter {sorted(unknown)[0]!r}; its parameters: {known}")
    for parameter, value in parameters.items():
        _check_parameter(parameter, value, record.parameters[parameter])
    every = {**record.parameters, **parameters}
    axioms = record.axioms if record.axioms_for is None else record.axioms_for(**every)
    return replace(record, parameters=MappingProxyType(every), axioms=axioms)


def _check_parameter(name: str, value: object, default: object) -> None:
    """Raise an InputError if a parameter of a measure is of another kind than its default."""
    if isinstance(default, bool):
        yes_or_no(value, name)
    elif isinstance(default, int | float) and value is not None:
        real_number(value, name)
    elif isinstance(default, str) and not isinstance(value, str):
        raise InputError(f"{name} must be a text, as in {default!r}; got {value!r}")


def is_among(name: object, keys: Iterable[str]) -> bool:
    """Whether the measure of this key or alias is among these keys."""
    return isinstance(name, str) and _NAMES.get(name.lower().replace("-", "_")) in set(keys)


#: measures that a user requests
Measures: TypeAlias = "MeasureName | Measure | Literal['all'] | Several[str | Measure] | None"


def chosen_measures(measures: Measures, default: Iterable[str]) -> tuple[list[Measure], bool]:
    """The requested measures, and whether they were named (then one that does not apply is an error)."""
    if measures is None:
        return [_RECORDS[key] for key in default], False
    if isinstance(measures, str) and measures == "all":
        return list(current_measures()), False
    if not isinstance(measures, str | Measure | Iterable):
        raise InputError(f"measures must be keys, as in ['ari', 'vi'], or 'all'; got {measures!r}")
    listed = [measures] if isinstance(measures, str | Measure) else list(measures)
    if not listed:
        raise InputError(f"no measures were named; omit {Option('measures')} for the default set, or pass 'all'")
    chosen: dict[str, Measure] = {}
    for m in (find(x) for x in listed):
        if chosen.setdefault(m.key, m).parameters != m.parameters:
            raise InputError(f"{m.key} is named twice with different parameters; compare once with each")
    return list(chosen.values()), True
