"""Permutation tests of many pairs, corrected for their number."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Literal

import numpy as np

from congruence.chance.permutation import PermutationTest, check_counts, permutation_test
from congruence.comparison.presenting import Result, number
from congruence.engine.plan import Progress
from congruence.errors import Caution, InputError, hint
from congruence.formulas import find
from congruence.formulas.record import Measure
from congruence.inputs.arrays import seed_sequence
from congruence.inputs.ensemble import columns_of
from congruence.inputs.frames import square_frame, text_grid
from congruence.statistics.tables import Array

Correction = Literal["holm", "bh", "none"]


CORRECTIONS = {"holm": "Holm", "bh": "Benjamini–Hochberg", "none": "no correction"}


def corrected(p_values: Any, correction: Correction = "holm") -> Array:
    """P-values corrected for their number: "holm" (any false discovery), "bh" (the share of them), "none".

    >>> corrected([0.01, 0.04, 0.03]).round(3).tolist(), corrected([0.01, 0.04, 0.03], "bh").round(3).tolist()
    ([0.03, 0.06, 0.06], [0.03, 0.04, 0.04])
    """
    if correction not in CORRECTIONS:
        raise InputError(
            f"there is no correction {correction!r}; {hint(str(correction), CORRECTIONS, 'there are: holm, bh, none')}"
        )
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
class PermutationTests(Result):
    """Permutation tests of several pairs, with p-values corrected for their number.

    Attributes:
        pairs: Names of the two clusterings of each test.
        tests: The tests, in the same order.
        p_corrected: Their corrected p-values.
        correction: "holm", "bh" or "none".
        names: Names of all clusterings.
        cautions: What to know about the input.
        kind: Kind of frame that the clusterings came in.

    >>> import congruence as cg
    >>> r = cg.permutation_tests({"x": [0, 0, 0, 1, 1, 1], "y": [0, 0, 0, 1, 1, 1], "z": [0, 1, 0, 1, 0, 1]}, random_state=0)
    >>> r.correction, r.pairs[0], r.tests[0].value
    ('holm', ('x', 'y'), 1.0)
    """

    pairs: tuple[tuple[str, str], ...]
    tests: tuple[PermutationTest, ...]
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
        return np.array([t.value for t in self.tests])

    @property
    def p_values(self) -> Array:
        """The p-value of each pair, not corrected."""
        return np.array([t.p_value for t in self.tests])

    def matrix(
        self, what: Literal["value", "p_value", "p_corrected"] = "p_corrected", backend: str | None = None
    ) -> Any:
        """One of the numbers as a square frame, named on both sides; NaN for pairs that were not tested.

        Args:
            what: "value", "p_value" or "p_corrected" (default).
            backend: Kind of frame: "pandas", "polars" or "pyarrow". Default None: the kind that came in, else pandas
                if it is installed, else pyarrow.

        Returns:
            A square data frame.

        Raises:
            InputError: If an argument is not what is described here.
        """
        place = {name: i for i, name in enumerate(self.names)}
        numbers = {"value": self.values, "p_value": self.p_values, "p_corrected": self.p_corrected}
        if what not in numbers:
            raise InputError(f"matrix shows value, p_value or p_corrected, not {what!r}")
        square = np.full((len(place), len(place)), np.nan)
        for (a, b), x in zip(self.pairs, numbers[what].tolist(), strict=True):
            square[place[a], place[b]] = square[place[b], place[a]] = x
        return square_frame(square, self.names, self.names, backend or self.kind)

    def table_columns(self) -> dict[str, Any]:
        """One row per pair."""
        rows = [t.to_dict() for t in self.tests]
        columns: dict[str, list[Any]] = {"a": [a for a, _ in self.pairs], "b": [b for _, b in self.pairs]}
        columns |= {name: [row[name] for row in rows] for name in rows[0]}
        return {**columns, "p_corrected": self.p_corrected.tolist(), "correction": [self.correction] * len(rows)}

    def to_dict(self) -> dict[str, Any]:
        """Columns by name, one entry per pair."""
        return self.table_columns()

    def facts(self) -> dict[str, Any]:
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


def permutation_tests(
    clusterings: Any,
    measure: str | Measure = "ari",
    n_permutations: int = 1000,
    random_state: Any = None,
    *,
    reference: Any = None,
    correction: Correction = "holm",
    threads: int | None = None,
    progress: Callable[[int, int], Any] | bool | None = None,
    **options: Any,
) -> PermutationTests:
    """Permutation tests of all pairs of clusterings, or of each with a reference, corrected for their number.

    Args:
        clusterings: Label columns, or a list or mapping of clusterings.
        measure: Key or record of a measure; `cg.measures()` lists them. Default "ari".
        n_permutations: Number of draws per pair. Default 1000.
        random_state: Seed, `numpy.random.Generator` or `SeedSequence`. Default None: different at every call.
        reference: A clustering, or the name of one: each is tested with it. Default None: all pairs.
        correction: "holm" (default) bounds the probability of any false discovery, "bh" the share of false
            discoveries, "none" corrects nothing.
        threads: Number of threads; it does not change results. Default None: all cores.
        progress: Function of (done, total), True for a progress bar, or False for none. Default None: a bar on a
            terminal.
        options: Options of `permutation_test`.

    Returns:
        A `PermutationTests`: `.p_values`, `.p_corrected`, `.matrix()`, `.to_frame()`.

    Raises:
        NotApplicable: If a named measure is not defined for this input. InputError: If the clusterings cannot be
            compared.

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
    check_counts(n_permutations, options.get("level", 0.95), options.get("stop_after"))
    corrected([], correction)
    columns, notes, kind = columns_of(clusterings)
    named = dict(columns)
    if len(named) < len(columns):
        raise InputError("two clusterings have the same name; give them different ones")
    if reference is None:
        pairs = list(combinations(named, 2))
    else:
        title = reference if isinstance(reference, str) else "reference"
        if isinstance(reference, str) and reference not in named:
            near = hint(reference, named, "there are: " + ", ".join(list(named)[:8]))
            raise InputError(f"there is no clustering {reference!r} to use as reference; {near}")
        pairs = [(title, name) for name in named if name != title]
        named = {title: named[title] if isinstance(reference, str) else reference, **named}
    if not pairs:
        raise InputError("there is no pair of clusterings to test")
    noise = options.pop("noise", None)
    tests = []
    streams = seed_sequence(random_state).spawn(len(pairs))
    with Progress(len(pairs), progress) as bar:
        for (name_a, name_b), stream in zip(pairs, streams, strict=True):
            test = permutation_test(
                named[name_a], named[name_b], m, n_permutations, stream, threads=threads, progress=False,
                noise=noise_of(noise, name_a, name_b), **options,
            )  # fmt: skip
            tests.append(replace(test, names=(name_a, name_b)))
            bar.add(1)
    p = corrected([t.p_value for t in tests], correction)
    said = [c.renamed(dict(zip(("a", "b"), t.names, strict=True))) for t in tests for c in t.cautions]
    cautions = tuple(dict.fromkeys([*notes, *said]))
    few = correction != "none" and len(pairs) / (n_permutations + 1) > 0.05
    if few and p.min() > 0.05:  # by Benjamini and Hochberg, many small p-values help each other
        text = (
            f"{n_permutations:,} permutations cannot give a p-value below {1 / (n_permutations + 1):.2g}, and corrected for "
            f"{len(pairs)} pairs that is above 0.05; pass n_permutations={20 * len(pairs):_} or more"
        )
        cautions += (Caution("few_permutations", m.key, text),)
    return PermutationTests(
        pairs=tuple(pairs), tests=tuple(tests), p_corrected=p, correction=correction, names=tuple(named),
        cautions=cautions, kind=kind,
    )  # fmt: skip


def noise_of(noise: Any, a: str, b: str) -> Any:
    """Noise labels by the names of columns, as noise labels of a and b."""
    if not isinstance(noise, dict):
        return noise
    return {who: noise[name] for who, name in (("a", a), ("b", b)) if name in noise} or None
