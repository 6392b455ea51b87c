"""The agreement of two trees at each number of clusters, with its band under chance, and for every pair of numbers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from congruence.comparison.many import compare_to
from congruence.comparison.presenting import Result, number, plain
from congruence.comparison.trees import (
    OF_TREES,
    best_cut,
    checked_ks,
    clustering_of,
    curve_values,
    cut_range,
    pair_curve,
)
from congruence.errors import Call, InputError, NoSuchName, NotApplicable, Option
from congruence.formulas import find
from congruence.formulas.record import Measure
from congruence.inputs.frames import square_frame
from congruence.inputs.hierarchy import Hierarchy, same_points
from congruence.inputs.labels import Labels
from congruence.options import described
from congruence.statistics.pairs import Gram, Pairs
from congruence.statistics.tables import Array
from congruence.typing import ColumnLike, Frame, Record, TreeLike


@dataclass(frozen=True, eq=False, kw_only=True)
class CutCurve(Result):
    """A measure of two hierarchies, or of a hierarchy and labels, at each number of clusters.

    Attributes:
        measure: The record of the measure.
        ks: Numbers of clusters, in increasing order.
        values: The measure at each of them.
        mean: Its exact mean over permutations of the points, or None if no exact mean is known.
        sd: Its standard deviation over permutations, or None.
        notes: Notes on the curve.

    >>> import congruence as cg
    >>> a, b = cg.Hierarchy("(((a:1,b:1):1,c:2):1,d:3);"), cg.Hierarchy("((a:1,b:1):2,(c:2,d:2):1);")
    >>> curve = cg.cut_curve(a, b)
    >>> curve.measure.key, curve.ks.tolist(), curve.values.round(4).tolist()
    ('wallace', [2, 3], [0.4082, 1.0])
    """

    measure: Measure
    ks: Array
    values: Array
    mean: Array | None = None
    sd: Array | None = None
    notes: tuple[str, ...] = ()

    @property
    def band(self) -> tuple[Array, Array] | None:
        """Mean ± 2 standard deviations under chance. The distribution is skewed for small k, so this is not a test."""
        if self.mean is None or self.sd is None:
            return None
        return self.mean - 2 * self.sd, self.mean + 2 * self.sd

    @property
    def z(self) -> Array | None:
        """(value − mean) / standard deviation, NaN if the deviation is 0."""
        if self.mean is None or self.sd is None:
            return None
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.sd > 0, (self.values - self.mean) / self.sd, np.nan)

    @property
    def best(self) -> int:
        """The number of clusters with the best value; the smallest in a tie."""
        return int(self.ks[best_cut(self.measure, self.values)])

    def __getitem__(self, k: int) -> float:
        at = np.flatnonzero(self.ks == k)
        if not len(at):
            raise NoSuchName(f"the curve has no cut into {k} clusters")
        return float(self.values[at[0]])

    def __len__(self) -> int:
        return len(self.ks)

    def table_columns(self) -> Record:
        """One row per cut: k, value and, if known, mean, sd and z."""
        columns: dict[str, ColumnLike] = {"k": self.ks, self.measure.key: self.values}
        if self.mean is not None:
            columns |= {"mean": self.mean, "sd": self.sd, "z": self.z}
        return columns

    def to_dict(self) -> Record:
        """The curve as plain lists, for JSON."""
        found = {"measure": self.measure.key, "k": self.ks, "value": self.values, "mean": self.mean, "sd": self.sd}
        return dict(plain({**found, "notes": self.notes}))

    def __repr__(self) -> str:
        best = self.best
        text = f"{self.measure.key} at {len(self)} cuts, k = {self.ks[0]} to {self.ks[-1]}: "
        text += f"best {number(self[best])} at k = {best}"
        if self.mean is not None:
            text += f" (chance {number(float(self.mean[self.ks == best][0]))})"
        return "\n".join([text, *(f"! {note}" for note in self.notes)])


def cut_curve(
    a: TreeLike, b: TreeLike, measure: str | Measure = "wallace", ks: Iterable[int] | Literal["heights"] | None = None
) -> CutCurve:
    """The agreement of two hierarchies, or of a hierarchy and labels, at each number of clusters.

    Measures that count pairs of points (wallace, which makes Fowlkes and Mallows' B_k curve, ari, rand, jaccard …) take one
    pass over the merges for all cuts together, O(n log² n). The others are computed from one table per cut.

    Args:
        a: A Hierarchy, or one label per point if `b` is a Hierarchy. The reference if the measure is asymmetric.
        b: A Hierarchy of the same points, or one label per point.
        measure: Key or record of a measure of two clusterings. Default: "wallace".
        ks: Numbers of clusters, or "heights" to skip cuts that are arbitrary because heights tie. Default: every cut
            from 2 to n − 1 for measures that count pairs, up to 50 clusters (or twice those of the labels) for others.

    Returns:
        A CutCurve with `ks`, `values` and, for measures that are linear in the number of pairs together in both, the exact
        `mean` and `sd` over permutations of the points.

    Raises:
        InputError: If neither side is a hierarchy, or the points differ.
        NotApplicable: If the measure compares whole trees, or is undefined at all cuts.

    See also:
        `cg.compare_cuts` for cuts with different numbers of clusters.

    >>> import congruence as cg
    >>> a, b = cg.Hierarchy("(((a:1,b:1):1,c:2):1,d:3);"), cg.Hierarchy("((a:1,b:1):2,(c:2,d:2):1);")
    >>> curve = cg.cut_curve(a, b)
    >>> curve.ks.tolist(), curve.values.round(4).tolist(), curve.mean.round(4).tolist()
    ([2, 3], [0.4082, 1.0], [0.4082, 0.1667])
    """
    m = find(measure)
    if m.needs in OF_TREES:
        raise NotApplicable(
            f"{m.key} compares whole trees: {Call(f'cg.compare(a, b, {m.key!r})')}; a curve needs a measure of cuts"
        )
    m.check(soft=False, weighted=False)
    first, second, swapped = _sides(a, b)
    trees = [x for x in (first, second) if isinstance(x, Hierarchy)]
    of_pairs = m.needs in (Pairs, Gram)
    points = first.n_points
    if ks is None or isinstance(ks, str):
        chosen = checked_ks(ks, trees)
        chosen = chosen[(chosen > 1) & (chosen < points)] if points > 2 else chosen
        if not of_pairs:
            most = cut_range(first, second)[-1] if isinstance(second, Labels) else 50
            chosen = chosen[chosen <= most]
    else:
        chosen = checked_ks(ks, trees)
    if not len(chosen):
        raise InputError(f"no number of clusters has a cut in both trees; name some in {Option('ks')}")
    values = curve_values(first, second, [m], chosen, swapped)[m.key]
    best_cut(m, values)  # raises if there is none
    mean = sd = None
    if of_pairs:
        mean, sd = _by_chance(m, *pair_curve(first, second, chosen), swapped)
    notes = [note for x in trees for note in (*x.notes, *x.tie_notes(chosen.tolist()))]
    return CutCurve(
        measure=m, ks=chosen, values=values, mean=mean, sd=sd,
        notes=tuple(dict.fromkeys(notes)),
    )  # fmt: skip


def _sides(a: TreeLike, b: TreeLike) -> tuple[Hierarchy, Hierarchy | Labels, bool]:
    """The hierarchy first, and whether that swapped the sides."""
    if isinstance(a, Hierarchy):
        return a, same_points(a, b) if isinstance(b, Hierarchy) else clustering_of(b, a, "b"), False
    if isinstance(b, Hierarchy):
        return b, clustering_of(a, b, "a"), True
    raise InputError(f"at least one side must be a hierarchy: {Call('cg.cut_curve(cg.Hierarchy(linkage), b)')}")


def _by_chance(
    m: Measure, pairs: Pairs, together: Array, variance: Array, swapped: bool
) -> tuple[Array | None, Array | None]:
    """Mean and standard deviation of a measure that is linear in v11, given the sizes; None if it is not linear."""
    if np.isnan(together).all():
        return None, None

    def at(v11: Array) -> Array:
        moved = replace(pairs, same_both=v11, only_a=pairs.same_a - v11, only_b=pairs.same_b - v11)
        return m.values(moved.swapped() if swapped else moved)

    step = np.maximum(np.sqrt(variance), 1e-3 * (together + 1))
    low, middle, high = at(together - step), at(together), at(together + step)
    if not np.allclose(low + high, 2 * middle, rtol=1e-9, atol=1e-9):
        return None, None
    return middle, np.asarray(np.abs(high - middle) * np.sqrt(variance) / step)


@dataclass(frozen=True, eq=False, kw_only=True)
class CutTable(Result):
    """A measure for every cut of one hierarchy (rows) with every cut of another (columns).

    Attributes:
        measure: The record of the measure.
        ks_a: Numbers of clusters of the rows.
        ks_b: Numbers of clusters of the columns.
        values: The measure, rows × columns.
        notes: Notes on the table.

    >>> import congruence as cg
    >>> a, b = cg.Hierarchy("(((a:1,b:1):1,c:2):1,d:3);"), cg.Hierarchy("((a:1,b:1):2,(c:2,d:2):1);")
    >>> table = cg.compare_cuts(a, b, [2, 3])
    >>> table.ks_a.tolist(), table.best
    ([2, 3], (3, 3))
    """

    measure: Measure
    ks_a: Array
    ks_b: Array
    values: Array
    notes: tuple[str, ...] = ()

    @property
    def best(self) -> tuple[int, int]:
        """Numbers of clusters of the two cuts that agree best."""
        signed = self.values if self.measure.better == "higher" else -self.values
        i, j = np.unravel_index(int(np.nanargmax(signed)), signed.shape)
        return int(self.ks_a[i]), int(self.ks_b[j])

    def __getitem__(self, ks: tuple[int, int]) -> float:
        if not isinstance(ks, tuple) or len(ks) != 2:
            raise InputError(f"name two numbers of clusters, as in table[2, 3]; got {ks!r}")
        i, j = np.flatnonzero(self.ks_a == ks[0]), np.flatnonzero(self.ks_b == ks[1])
        if not len(i) or not len(j):
            raise NoSuchName(f"the table has no cuts into {ks[0]} and {ks[1]} clusters")
        return float(self.values[i[0], j[0]])

    @described
    def to_frame(self, backend: str | None = None) -> Frame:
        """The table with numbers of clusters on both sides.

        Args:
            backend: See `congruence.options`.

        Returns:
            A data frame.
        """
        rows, columns = (tuple(f"k={k}" for k in ks.tolist()) for ks in (self.ks_a, self.ks_b))
        return square_frame(self.values, rows, columns, backend)

    def to_dict(self) -> Record:
        """The table as plain lists, for JSON."""
        found = {"measure": self.measure.key, "k_a": self.ks_a, "k_b": self.ks_b, "values": self.values}
        return dict(plain({**found, "notes": self.notes}))

    def __repr__(self) -> str:
        a, b = self.best
        text = f"{self.measure.key} of {len(self.ks_a)} × {len(self.ks_b)} cuts: best {number(self[a, b])} at k = {a} and {b}"
        return "\n".join([text, *(f"! {note}" for note in self.notes)])


@described
def compare_cuts(
    a: TreeLike,
    b: TreeLike,
    ks: Iterable[int] | None = None,
    ks_b: Iterable[int] | None = None,
    measure: str | Measure = "ari",
    *,
    threads: int | None = None,
) -> CutTable:
    """A measure for every cut of one hierarchy with every cut of another: the heat map k × k′.

    Args:
        a: A Hierarchy, or what `cg.Hierarchy` takes. The reference if the measure is asymmetric.
        b: A Hierarchy of the same points, or what `cg.Hierarchy` takes.
        ks: Numbers of clusters of the cuts of a. Default: 2 to 10, at most the number of points.
        ks_b: Numbers of clusters of the cuts of b. Default: the same.
        measure: Key or record of any measure of two clusterings. Default: "ari".
        threads: See `congruence.options`.

    Returns:
        A CutTable: `table[3, 5]` is the value of a cut into 3 and b into 5 clusters; `best` names the two that agree best.

    Raises:
        InputError: If a cut does not exist, or the points differ.

    See also:
        `cg.cut_curve` for equal numbers of clusters, with the band under chance.

    >>> import congruence as cg
    >>> a, b = cg.Hierarchy("(((a:1,b:1):1,c:2):1,d:3);"), cg.Hierarchy("((a:1,b:1):2,(c:2,d:2):1);")
    >>> table = cg.compare_cuts(a, b, [2, 3])
    >>> table.values.round(4).tolist(), table.best
    ([[0.0, 0.3333], [0.5714, 1.0]], (3, 3))
    """
    m = find(measure)
    first, second = (x if isinstance(x, Hierarchy) else Hierarchy(x) for x in (a, b))
    second = same_points(first, second)
    given = None if ks is None else list(ks)
    rows = _ks(first, given)
    columns = _ks(second, given if ks_b is None else list(ks_b))
    cuts = second.cuts(columns.tolist())
    values = np.array([compare_to(first.cut(int(k)), cuts, [m], threads=threads)[m.key] for k in rows])
    notes = (*first.notes, *second.notes, *first.tie_notes(rows.tolist()), *second.tie_notes(columns.tolist()))
    return CutTable(measure=m, ks_a=rows, ks_b=columns, values=values, notes=tuple(dict.fromkeys(notes)))


def _ks(h: Hierarchy, ks: list[int] | None) -> Array:
    """Numbers of clusters of the cuts, checked; 2 to 10 if none were named."""
    found = [k for k in range(2, 11) if k in h.ks] if ks is None else [h.checked_k(k) for k in ks]
    if not found:
        raise InputError("no numbers of clusters were named")
    return np.array(found, dtype=np.int64)
