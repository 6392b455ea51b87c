"""Measures adjusted for chance under a null model."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from types import MappingProxyType

import numpy as np

from congruence.chance.draws import Exactness, Null, RandomPair, check_null, check_points
from congruence.chance.permutation import clean, tested
from congruence.chance.problems import Problem, Sided, best_value, drawn, measured, problem_of, random_pair
from congruence.errors import MOST_DRAWS, Call, InputError, NotApplicable, Option, whole_number
from congruence.formulas import find
from congruence.formulas.record import Better, Measure, ratio
from congruence.inputs.effects import refuse_idle
from congruence.options import described
from congruence.statistics.tables import Array, Table, Tables
from congruence.typing import ClusteringLike, OptionValue, Record


@dataclass(frozen=True)
class Expectation:
    """The expected value of a measure under a null model, and how it was computed."""

    value: float
    #: 0 if the value is exact
    standard_error: float
    exactness: Exactness
    #: number of draws, if it is not exact
    n_draws: int = 0

    @property
    def method(self) -> str:
        """How it was computed: "closed form", "expected mutual information", or "mean of … draws"."""
        return self.exactness.in_words(self.n_draws)

    @property
    def is_exact(self) -> bool:
        """Whether no draws were needed."""
        return self.exactness.is_exact


@lru_cache(maxsize=4096)
def _expectation(m: Measure, null: str, sided: str, draws: int, seed: int, a: bytes, b: bytes) -> Expectation:
    """The expected value for these cluster sizes, as bytes in descending order; cached."""
    return _mean_of(RandomPair(np.frombuffer(a, np.int64), np.frombuffer(b, np.int64), null, sided), m, draws, seed)


def _mean_of(random: RandomPair, m: Measure, draws: int, seed: int) -> Expectation:
    """The exact mean of a random pair, or else the mean of draws."""
    exact = random.expected(m)
    if exact is not None:
        return Expectation(clean(exact[0]), 0.0, exact[1])
    values = drawn(partial(random.values, m), draws, random.batch, seed, 1, False)
    known = values[~np.isnan(values)]
    error = float(known.std(ddof=1)) / math.sqrt(draws) if len(known) > 1 else math.nan
    return Expectation(float(known.mean()) if len(known) else math.nan, error, Exactness.DRAWS, draws)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Adjusted(Measure):
    """A measure rescaled so that its expected value is 0 and its best value 1; created by `cg.adjusted`.

    Attributes:
        base: The record of the base measure.
        null: Null model: "permutation", "n_clusters" or "all".
        sided: "two" or "one".
        n_draws: Number of draws if the mean is not known exactly.
        random_state: Seed of the draws.

    See also:
        `cg.Measure` for the other attributes.

    >>> import congruence as cg
    >>> measure = cg.adjusted("rand")
    >>> round(measure([0, 0, 1, 1], [0, 1, 1, 1]), 4), measure.null
    (0.0, 'permutation')
    """

    base: Measure
    null: str = "permutation"
    sided: str = "two"
    n_draws: int = 1000
    random_state: int = 0

    @property
    def exactness(self) -> Exactness:
        """How its expected value is computed."""
        example = RandomPair(np.array([5, 4, 3]), np.array([6, 4, 2]), self.null, self.sided)
        exact = example.expected(self._base)
        return Exactness.DRAWS if exact is None else exact[1]

    @property
    def method(self) -> str:
        """The same as text: "closed form", "expected mutual information", or "mean of … draws"."""
        return self.exactness.in_words(self.n_draws)

    @property
    def _base(self) -> Measure:
        """The base measure with the parameters of this one."""
        return find(self.base, **self.parameters)

    def _problem(self, a: ClusteringLike, b: ClusteringLike, options: dict[str, OptionValue]) -> Problem:
        return problem_of(a, b, self._base, self.null, self.sided, None, **options)

    def _of_sizes(self, a: Array, b: Array) -> Expectation:
        a, b = (np.ascontiguousarray(-np.sort(-x[x > 0].astype(np.int64))) for x in (a, b))
        if self.base.is_symmetric and not (self.null != "permutation" and self.sided == "one"):
            a, b = sorted((a, b), key=lambda x: x.tolist())  # both orders use the same draws
        check_points(float(a.sum()))
        base = _same_record(self._base)
        return _expectation(base, self.null, self.sided, self.n_draws, self.random_state, a.tobytes(), b.tobytes())

    def of_table(self, table: Table) -> Expectation:
        """The expected value given the cluster sizes of this table; for covers, the sizes of their signatures.

        Args:
            table: The contingency table of the pair.
        """
        if table.maps is None:
            return self._of_sizes(table.row_sums, table.col_sums)
        if self.null != "permutation":
            raise NotApplicable(
                f"{Option('null', self.null)} draws partitions, but there are covers; use {Option('null', 'permutation')}"
            )
        random = random_pair(table, self.null, self.sided)
        return _mean_of(random, self._base, self.n_draws, self.random_state)

    @described
    def expectation(self, a: ClusteringLike, b: ClusteringLike, **options: OptionValue) -> Expectation:
        """The expected value of the base measure for these two, its standard error, and how it was computed.

        Args:
            a, b, options: See `congruence.options`.

        Returns:
            An `Expectation`: `.value`, `.standard_error`, `.method`.

        Raises:
            NotApplicable: If a named measure is not defined for this input.
            InputError: If the clusterings cannot be compared.
        """
        t = self._problem(a, b, options)
        if t.sizes is not None:
            return self._of_sizes(*t.sizes)
        test = tested(t, self.n_draws, self.random_state, None, 0.95, None, False)
        return Expectation(test.expected, test.standard_error, test.exactness, test.n_permutations)

    @described
    def standard_error(self, a: ClusteringLike, b: ClusteringLike, **options: OptionValue) -> float:
        """Standard error of the adjusted value, propagated from the expected value; 0 if exact.

        Args:
            a, b, options: See `congruence.options`.

        Returns:
            A float.

        Raises:
            NotApplicable: If a named measure is not defined for this input.
            InputError: If the clusterings cannot be compared.
        """
        t = self._problem(a, b, options)
        e = self.expectation(a, b, **options)
        # d/dE of (x − E)/(best − E)
        room = t.best - e.value
        return abs(t.value - t.best) / room**2 * e.standard_error if room else 0.0

    def check(self, *, soft: bool, weighted: bool, covers: bool = False) -> None:
        """As for the base measure; also raises for memberships and weights, whose tables do not give the expected value.

        Args:
            soft: Whether either clustering is soft.
            weighted: Whether points have importance weights.
            covers: Whether clusters overlap. Default False.

        Raises:
            NotApplicable: If it is not defined for them.
        """
        self.base.check(soft=soft, weighted=weighted, covers=covers)
        if soft or weighted:
            what = "memberships" if soft else Option("sample_weight")
            raise NotApplicable(
                f"{self.key} of {what} needs the points, not only their table: call the measure, as in m(a, b), or "
                f"{Call('cg.permutation_test(a, b, …).adjusted')}"
            )

    def __call__(self, a: ClusteringLike, b: ClusteringLike, **options: OptionValue) -> float:
        """The adjusted measure of two clusterings, matrices or ensembles; the options are those of `compare`."""
        t = self._problem(a, b, options)
        if t.sizes is not None:
            return super().__call__(a, b, **options)
        if math.isnan(t.best):
            raise NotApplicable(
                f"{self.base.key} of memberships has no best value to adjust to; adjust a normalised measure, such as nmi_sum"
            )
        return tested(t, self.n_draws, self.random_state, None, 0.95, None, False).adjusted

    def __reduce__(self) -> tuple[object, ...]:
        same = {name: getattr(self, name) for name in ("null", "sided", "n_draws", "random_state")}
        return partial(adjusted, **same), (self._base,)

    def __repr__(self) -> str:
        return f"Adjusted({self.key}: {self.title}, {self.method}, higher is better, at most 1)"


_RECORDS: dict[tuple[str, tuple[tuple[str, OptionValue], ...]], Measure] = {}


def _same_record(m: Measure) -> Measure:
    """One record per key and parameters, so that expected values are cached."""
    if isinstance(m, Adjusted):
        return m
    return _RECORDS.setdefault((m.key, tuple(sorted(m.parameters.items(), key=str))), m)


def adjusted(
    measure: str | Measure,
    null: Null = "permutation",
    *,
    sided: Sided = "two",
    n_draws: int = 1000,
    random_state: int = 0,
) -> Adjusted:
    """The measure adjusted for chance, (value − expected) / (best − expected): 0 if expected by chance, 1 for the best value.

    The expectation under the null model (see `congruence.chance`) is exact if the measure is affine in Σ n² or in the
    mutual information. Otherwise it is the mean of `n_draws` draws. `.method` says which, and `.expectation(a, b)`
    returns it with its standard error. Distances become similarities; `mi`, which has no best value, is compared with the
    larger entropy. With `sided="one"`, a is a fixed reference and only b is random. In `compare`, `compare_to` and
    `compare_all` it takes hard clusterings; called directly, also memberships, weights, ensembles and matrices.

    Args:
        measure: Key or record of a measure; `cg.measures()` lists them.
        null: Null model: "permutation" (default), "n_clusters" or "all"; see `cg.permutation_test`.
        sided: "two" (default) or "one": a is a fixed reference and only b is random.
        n_draws: Number of draws if the mean is not known exactly, at least 2. Default 1000.
        random_state: Seed of the draws, a whole number. Default 0.

    Returns:
        An `Adjusted` measure, usable wherever a key is: `m(a, b)`, `cg.compare(a, b, [m])`.

    Raises:
        NotApplicable: If the measure describes one ensemble.
        InputError: If an argument is invalid.

    See also:
        `cg.permutation_test`, `cg.ari`, `cg.ami_max`.

    >>> import congruence as cg
    >>> m = cg.adjusted("jaccard")
    >>> a, b = [0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 2, 2]
    >>> m.method, round(m(a, b), 3), round(m.standard_error(a, b), 3)
    ('mean of 1,000 draws', 0.136, 0.005)
    >>> cg.adjusted("rand").method, round(cg.adjusted("rand")(a, b), 6), round(cg.ari(a, b), 6)
    ('closed form', 0.242424, 0.242424)
    >>> round(cg.adjusted("rand", null="all")([0, 1, 1, 0, 2, 1], [0, 1, 1, 0, 2, 2]), 6)
    0.475178
    """
    refuse_idle(adjusted, locals())
    base = find(measure)
    check_null(null, sided)
    if base.is_lone:
        raise NotApplicable(
            f"{base.key} describes one ensemble or matrix, not a pair; it cannot be adjusted for chance"
        )
    if isinstance(base, Adjusted):
        raise InputError(f"{base.key} is adjusted for chance already")
    whole_number(n_draws, "n_draws", 2, MOST_DRAWS)
    if not isinstance(random_state, int | np.integer):
        raise InputError(
            f"{Option('random_state')} must be a whole number here, so that the measure has the same value every time"
        )
    suffix = "" if null == "permutation" else f"_{null}" + ("_one_sided" if sided == "one" else "")
    if null == "permutation":
        sided = "two"  # the same
    axioms = base.axioms & ({"symmetric", "definite"} if sided == "two" else {"definite"}) | (
        {"baseline"} if null == "permutation" else set()
    )
    record: list[Adjusted] = []

    def formula(t: Tables, **parameters: OptionValue) -> Array:
        return _adjusted_values(replace(record[0], parameters=MappingProxyType(parameters)), t)

    def workings(table: Table, **parameters: OptionValue) -> Record:
        m, tile = replace(record[0], parameters=MappingProxyType(parameters)), Tables.of(table)
        one = find(base, **parameters)
        e = m.of_table(table)
        return {"value": float(measured(one, tile)[0]), "E": e.value, "best": best_value(one, tile)}

    made = Adjusted(
        key=f"adjusted_{base.key}{suffix}", title=f"{base.title}, adjusted for chance", needs=Tables, formula=formula,
        better=Better.HIGHER, range=(-math.inf, 1.0), definition=(f"adjusted_{base.key}{suffix} = (value - E) / (best - E)",),
        axioms=frozenset(axioms), at_zero=0.0, reference="hubert1985" if null == "permutation" else "gates2017",
        workings=workings, takes_covers=base.accepts_covers,
        whole_points=base.whole_points, parameters=base.parameters, base=base, null=null, sided=sided, n_draws=int(n_draws),
        random_state=int(random_state),
    )  # fmt: skip
    words = [] if made.exactness.is_exact else [f"its expected value is the {made.method}, not exact"]
    words += [base.caution] if base.caution and base.key == "lambda" else []
    made = replace(made, caution="; ".join(words))
    record.append(made)
    return made


def _adjusted_values(m: Adjusted, t: Tables) -> Array:
    """The adjusted measure of every pair of a tile; NaN at 0/0."""
    base = find(m.base, **m.parameters)
    value = measured(base, t)
    expected, best = np.empty(len(t)), np.full(len(t), base.best)
    for i, table in enumerate(t.each()):
        expected[i] = m.of_table(table).value if table.n else np.nan
        if not math.isfinite(base.best):
            best[i] = best_value(base, Tables.of(table))
    return ratio(value - expected, best - expected, 1e-12)
