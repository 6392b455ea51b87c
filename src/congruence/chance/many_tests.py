"""Permutation tests of many pairs, corrected for their number."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal, cast, overload

import numpy as np

from congruence.chance.draws import NULLS, Exactness, RandomPair, pairs_value
from congruence.chance.moments import Margin, Moments, is_reliable, p_values
from congruence.chance.permutation import (
    DRAWS,
    Method,
    PermutationTest,
    check_counts,
    is_to_be_drawn,
    permutation_test,
    without_draws,
)
from congruence.comparison.presenting import Result, number
from congruence.engine.cpu import cluster_sizes
from congruence.engine.plan import Progress, against_first, all_pairs, engine_for, on_card, seed_sequence
from congruence.errors import Caution, InputError, Option, check_different, known_name
from congruence.formulas import find
from congruence.formulas.record import Measure
from congruence.inputs.alignment import left_out
from congruence.inputs.effects import refuse_idle
from congruence.inputs.ensemble import Ensemble, columns_of
from congruence.inputs.frames import square_frame, text_grid
from congruence.inputs.labels import Labels
from congruence.options import described
from congruence.statistics.pairs import Pairs
from congruence.statistics.tables import Array
from congruence.typing import (
    ClusteringLike,
    EnsembleLike,
    Frame,
    NoiseLike,
    OptionValue,
    ProgressLike,
    Record,
    Scalar,
    Seed,
)

Correction = Literal["holm", "bh", "none"]


CORRECTIONS = {"holm": "Holm", "bh": "Benjamini–Hochberg", "none": "no correction"}


def corrected(p_values: Sequence[float] | Array, correction: Correction = "holm") -> Array:
    """P-values corrected for their number: "holm" (family-wise error rate), "bh" (false discovery rate), "none".

    >>> corrected([0.01, 0.04, 0.03]).round(3).tolist(), corrected([0.01, 0.04, 0.03], "bh").round(3).tolist()
    ([0.03, 0.06, 0.06], [0.03, 0.04, 0.04])
    """
    known_name("correction", correction, CORRECTIONS)
    p = np.asarray(p_values, dtype=np.float64)
    if correction == "none" or not len(p):
        return p.copy()
    order = np.argsort(p, kind="stable")
    rank = np.arange(len(p))
    if correction == "holm":
        ordered = np.maximum.accumulate(p[order] * (len(p) - rank))
    else:
        ordered = np.minimum.accumulate((p[order] * len(p) / (rank + 1))[::-1])[::-1]
    out = np.empty(len(p))
    out[order] = np.minimum(ordered, 1.0)
    return out


@dataclass(frozen=True, eq=False, kw_only=True)
class TestsByMoments(Sequence[PermutationTest]):
    """Tests of many pairs, stored as columns of numbers; each test object is created on request."""

    __test__ = False

    common: PermutationTest
    pairs: tuple[tuple[str, str], ...]
    columns: dict[str, Array]
    #: tests that needed draws, by position
    drawn: dict[int, PermutationTest]

    def __len__(self) -> int:
        return len(self.pairs)

    @overload
    def __getitem__(self, i: int) -> PermutationTest: ...
    @overload
    def __getitem__(self, i: slice) -> tuple[PermutationTest, ...]: ...
    def __getitem__(self, i: int | slice) -> PermutationTest | tuple[PermutationTest, ...]:
        if isinstance(i, slice):
            return tuple(self[j] for j in range(*i.indices(len(self))))
        at = range(len(self))[i]
        if at in self.drawn:
            return self.drawn[at]
        numbers: Record = {name: float(x[at]) for name, x in self.columns.items()}
        return replace(self.common, names=self.pairs[at], **numbers)

    def column(self, name: str) -> Array:
        """One number of all tests."""
        return self.columns[name]


@dataclass(frozen=True, eq=False, kw_only=True)
class PermutationTests(Result):
    """Permutation tests of several pairs, with p-values corrected for their number.

    Attributes:
        pairs: Names of the two clusterings of each test.
        tests: The tests, in the same order.
        p_corrected: Their corrected p-values.
        correction: "holm", "bh" or "none".
        names: Names of all clusterings.
        cautions: Cautions about the input.
        kind: Kind of frame of the inputs.

    >>> import congruence as cg
    >>> r = cg.permutation_tests({"x": [0, 0, 0, 1, 1, 1], "y": [0, 0, 0, 1, 1, 1], "z": [0, 1, 0, 1, 0, 1]}, random_state=0)
    >>> r.correction, r.pairs[0], r.tests[0].value
    ('holm', ('x', 'y'), 1.0)
    """

    pairs: tuple[tuple[str, str], ...]
    tests: Sequence[PermutationTest]
    p_corrected: Array
    correction: str
    names: tuple[str, ...]
    cautions: tuple[Caution, ...] = ()
    kind: str | None = None

    @property
    def measure(self) -> Measure:
        """The measure tested."""
        return self.tests[0].measure

    @property
    def values(self) -> Array:
        """The value of each pair."""
        return self._column("value")

    @property
    def p_values(self) -> Array:
        """The p-value of each pair, not corrected."""
        return self._column("p_value")

    def _column(self, name: str) -> Array:
        if isinstance(self.tests, TestsByMoments):
            return self.tests.column(name)
        return np.array([getattr(t, name) for t in self.tests])

    @described
    def matrix(
        self, what: Literal["value", "p_value", "p_corrected"] = "p_corrected", backend: str | None = None
    ) -> Frame:
        """Values or p-values as a square frame with names on both sides; NaN for pairs that were not tested.

        Args:
            what: "value", "p_value" or "p_corrected" (default).
            backend: See `congruence.options`.

        Returns:
            A square data frame.

        Raises:
            InputError: If an argument is invalid.
        """
        place = {name: i for i, name in enumerate(self.names)}
        numbers = {"value": self.values, "p_value": self.p_values, "p_corrected": self.p_corrected}
        if what not in numbers:
            raise InputError(f"matrix shows value, p_value or p_corrected, not {what!r}")
        square = np.full((len(place), len(place)), np.nan)
        for (a, b), x in zip(self.pairs, numbers[what].tolist(), strict=True):
            square[place[a], place[b]] = square[place[b], place[a]] = x
        return square_frame(square, self.names, self.names, backend or self.kind)

    def table_columns(self) -> Record:
        """One row per pair."""
        rows = [t.to_dict() for t in self.tests]
        columns: dict[str, list[Scalar]] = {"a": [a for a, _ in self.pairs], "b": [b for _, b in self.pairs]}
        columns |= {name: [row[name] for row in rows] for name in rows[0]}
        return {**columns, "p_corrected": self.p_corrected.tolist(), "correction": [self.correction] * len(rows)}

    def to_dict(self) -> Record:
        """Columns by name, one entry per pair."""
        return self.table_columns()

    def facts(self) -> Record:
        """Rows, and the cautions, for JSON."""
        columns = self.table_columns()
        rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        return {"tests": rows, "cautions": self.cautions}

    def __repr__(self) -> str:
        shown = min(len(self.tests), 40)
        cells = [
            [number(t.value), number(t.expected), f"{t.p_value:.4g}", f"{p:.4g}"]
            for t, p in zip(self.tests[:shown], self.p_corrected.tolist(), strict=False)
        ]
        names = [f"{a}, {b}" for a, b in self.pairs[:shown]]
        name = CORRECTIONS[self.correction]
        grid = text_grid(cells, names, [self.measure.key, "by chance", "p", name])
        head = f"{len(self.tests)} pairs, p-values corrected by {name}" if self.correction != "none" else (
            f"{len(self.tests)} pairs, p-values not corrected for multiple testing"
        )  # fmt: skip
        more = [f"… and {len(self.tests) - shown} more"] if shown < len(self.tests) else []
        return "\n".join([head, grid, *more, *(f"! {c}" for c in self.cautions)])


@described
def permutation_tests(
    clusterings: EnsembleLike,
    measure: str | Measure = "ari",
    n_permutations: int | None = None,
    random_state: Seed = 0,
    *,
    method: Method = "auto",
    reference: ClusteringLike | None = None,
    correction: Correction = "holm",
    threads: int | None = None,
    progress: ProgressLike = None,
    **options: OptionValue,
) -> PermutationTests:
    """Permutation tests of all pairs of clusterings, or of each with a reference, corrected for their number.

    Pair-counting measures of hard clusterings are tested without draws, all pairs at once: 1,000 clusterings take seconds.

    Args:
        clusterings: Label columns, or a list or mapping of clusterings.
        measure: See `congruence.options`.
        n_permutations: Number of draws per pair; p is then computed from draws. Default None: 1000 if draws are needed.
        random_state: See `congruence.options`.
        method: How p is computed, as in `permutation_test`: "auto" (default), "draws" or "moments".
        reference: A clustering, or the name of one: each is tested with it. Default None: all pairs.
        correction: "holm" (default) bounds the probability of any false discovery, "bh" the share of false
            discoveries, "none" applies no correction.
        threads, progress: See `congruence.options`.
        options: Options of `permutation_test`.

    Returns:
        A `PermutationTests`: `.p_values`, `.p_corrected`, `.matrix()`, `.to_frame()`.

    Raises:
        NotApplicable: If a named measure is not defined for this input.
        InputError: If the clusterings cannot be compared.

    See also:
        `cg.permutation_test`, `cg.compare_to`.

    >>> import congruence as cg
    >>> runs = {"x": [0, 0, 0, 0, 1, 1, 1, 1], "y": [0, 0, 0, 0, 1, 1, 1, 2], "z": [0, 1, 0, 1, 0, 1, 0, 1]}
    >>> cg.permutation_tests(runs, random_state=0)
    3 pairs, p-values corrected by Holm
              ari  by chance        p    Holm
    x, y   0.7742     0.0000  0.03297  0.0989
    x, z  -0.1667     0.0000        1       1
    y, z  -0.1290     0.0000        1       1
    """
    m = find(measure)
    check_counts(n_permutations, options.get("level", 0.95), options.get("stop_after"), method)
    refuse_idle(permutation_test, {"method": method, "null": "permutation", "progress": progress, **options})
    corrected([], correction)
    columns, notes, kind = columns_of(clusterings)
    check_different((name for name, _ in columns), "clusterings")
    named = dict(columns)
    named, pairs = _paired(named, reference)
    noise = options.pop("noise", None)
    root = seed_sequence(random_state)

    def tested_alone(place: int, how: Method) -> PermutationTest:
        key = (*root.spawn_key, root.n_children_spawned + place)  # this child alone, without spawning the others
        stream = np.random.SeedSequence(root.entropy, spawn_key=key)
        name_a, name_b = pairs[place]
        test = permutation_test(
            named[name_a], named[name_b], m, n_permutations, stream, method=how, threads=threads, progress=False,
            noise=noise_of(noise, name_a, name_b), **options,
        )  # fmt: skip
        return replace(test, names=(name_a, name_b))

    tests: Sequence[PermutationTest] | None = None
    said: list[Caution] = []
    with Progress(len(pairs), progress) as bar:
        if not is_to_be_drawn(method, n_permutations, options.get("stop_after")):
            found = _at_once(named, pairs, m, reference is not None, threads, {"noise": noise, **options}, bar)
            if found is not None:
                tests, reliable, said = found
                for i in np.flatnonzero(~reliable).tolist() if method == "auto" else []:
                    test = tests.drawn[i] = tested_alone(i, "draws")
                    for name, x in tests.columns.items():
                        x[i] = getattr(test, name)
        if tests is None:
            tests = []
            for i in range(len(pairs)):
                tests.append(tested_alone(i, method))
                bar.add(1)
            said = [c.renamed(dict(zip(("a", "b"), t.names, strict=True))) for t in tests for c in t.cautions]
            tests = tuple(tests)
    p = corrected(
        tests.column("p_value") if isinstance(tests, TestsByMoments) else [t.p_value for t in tests], correction
    )
    is_drawn = not isinstance(tests, TestsByMoments) and all(t.is_drawn for t in tests)
    few = _too_few(n_permutations or DRAWS, p, m) if is_drawn and correction != "none" else ()
    return PermutationTests(
        pairs=tuple(pairs), tests=tests, p_corrected=p, correction=correction, names=tuple(named),
        cautions=(*dict.fromkeys([*notes, *said]), *few), kind=kind,
    )  # fmt: skip


def _paired(
    named: dict[str, ClusteringLike], reference: ClusteringLike | None
) -> tuple[dict[str, ClusteringLike], list[tuple[str, str]]]:
    """The clusterings by name, the reference first if there is one, and the names of the pairs to test."""
    if reference is None:
        pairs = list(combinations(named, 2))
    else:
        title = reference if isinstance(reference, str) else "reference"
        if isinstance(reference, str):
            known_name("clustering", reference, named)
        pairs = [(title, name) for name in named if name != title]
        named = {title: named[title] if isinstance(reference, str) else reference, **named}
    if not pairs:
        raise InputError("there is no pair of clusterings to test")
    return named, pairs


def _too_few(draws: int, p: Array, m: Measure) -> tuple[Caution, ...]:
    """A caution if so many draws cannot give a small p-value of so many pairs, and none is small."""
    many = len(p)
    if many / (draws + 1) <= 0.05 or p.min() <= 0.05:  # with Benjamini and Hochberg, small p-values support each other
        return ()
    text = (
        f"{draws:,} permutations cannot give a p-value below {1 / (draws + 1):.2g}, and corrected for "
        f"{many} pairs that is above 0.05; pass {Option('n_permutations', 20 * many)} or more"
    )
    return (Caution("few_permutations", m.key, text),)


def _at_once(
    named: dict[str, ClusteringLike], pairs: list[tuple[str, str]], m: Measure, is_first_reference: bool,
    threads: int | None,
    options: dict[str, OptionValue], bar: Progress,
) -> tuple[TestsByMoments, Array, list[Caution]] | None:  # fmt: skip
    """All pairs tested by their moments in one pass over the labels, and for which pairs that is reliable.

    None if the pairs must be tested one by one: memberships, weights, gaps, or a measure that is not affine in the pairs
    together.
    """
    level, engine = options.pop("level", 0.95), options.pop("engine", "auto")
    if (
        options.pop("null", "permutation") != "permutation"
        or not issubclass(m.needs, Pairs)
        or not math.isfinite(m.best)
    ):
        return None
    options.pop("sided", None)
    if any(isinstance(x, Ensemble) for x in named.values()):
        return None
    e = Ensemble(on_card(named, engine), **options)
    weighted = e.mass is not None and not e.mass.is_frequency
    if e.is_soft or e.has_covers or e.has_gaps or weighted:
        return None
    size = len(e)
    counter = engine_for(engine, e.members)
    runs = against_first(size) if is_first_reference else all_pairs(size)
    value, together = np.empty((size, size)), np.empty((size, size))
    for tile in counter.statistics(e.members, runs, {m.needs}, mass=e.mass, threads=threads):
        statistic = cast("Pairs", tile.statistics[m.needs])
        value[tile.i, tile.j], together[tile.i, tile.j] = m.values(statistic), statistic.same_both
        bar.add(int((tile.i != tile.j).sum()))
    sizes = [cluster_sizes(c, e.mass) for c in e.members if isinstance(c, Labels)]  # complete, and of any mass
    margins = [Margin(x[x > 0]) for x in sizes]
    n = margins[0].n
    if n < 2 or RandomPair(margins[0].sizes, margins[1].sizes).deviation(m) is None:
        return None
    place = {name: i for i, name in enumerate(named)}
    i, j = np.array([[place[a], place[b]] for a, b in pairs]).T
    moments = Moments.of(margins[:1], margins) if is_first_reference else Moments.of(margins, margins)
    at = moments.of_pairs(i, j)
    same = np.array([float(x.pairs) for x in margins])
    middle, next_to_it = (pairs_value(m, n, np.stack([same[i], same[j], s])) for s in (at.mean, at.mean + at.deviation))
    more, fewer = p_values(at, together[i, j])
    reliable = is_reliable(at, more, fewer)
    if (m.better == "higher") != bool((next_to_it >= middle).all()):
        more, fewer = fewer, more
    columns = {
        "value": value[i, j], "expected": np.where(np.abs(middle) < 1e-14, 0.0, middle),
        "standard_deviation": np.abs(next_to_it - middle), "p_value": more,
        "p_two_sided": np.minimum(1.0, 2 * np.minimum(more, fewer)),
    }  # fmt: skip
    if np.isnan(columns["value"]).any():
        return None
    common = without_draws(
        measure=m, exactness=Exactness.CLOSED_FORM, is_deviation_exact=True, level=level, null=NULLS["permutation"],
        n_points=n, best=m.best, kind=e.kind, **dict.fromkeys(columns, 0.0),
    )  # fmt: skip
    tests = TestsByMoments(common=common, pairs=tuple(pairs), columns=columns, drawn={})
    return tests, reliable, [*left_out(e.members), *e.cautions]


def noise_of(noise: NoiseLike, a: str, b: str) -> NoiseLike:
    """Noise labels by the names of columns, as noise labels of a and b."""
    if not isinstance(noise, dict):
        return noise
    return {who: noise[name] for who, name in (("a", a), ("b", b)) if name in noise} or None
