"""The agreement of two trees for every pair of numbers of clusters."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from congruence.comparison.many import compare_to
from congruence.comparison.presenting import Result, number, plain
from congruence.errors import InputError, NoSuchName
from congruence.formulas import find
from congruence.formulas.record import Measure
from congruence.inputs.frames import square_frame
from congruence.inputs.hierarchy import Hierarchy, same_points
from congruence.options import described
from congruence.statistics.tables import Array
from congruence.typing import Frame, Record, TreeLike


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
