"""Windows tested one after the other against a reference: p-values, alarms, and what moved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
from scipy.special import ndtri

from congruence.density.evidence import (
    LOCATION,
    SHAPE,
    SPREAD,
    VALUES,
    Cells,
    cells_of,
    conservative,
    kin_sizes,
    size_tests,
    united,
)
from congruence.density.identities import Kin, kin_of
from congruence.density.profile import Attribute, Profile
from congruence.errors import some_of
from congruence.statistics.tables import Array
from congruence.typing import Label

Kind = Literal["moved", "size", "new", "gone", "split", "merged"]
Against = Literal["first", "previous"]

#: what is listed as moved: p-values corrected for all tests of the window up to this
LISTED = 0.05
#: at a smaller p-value, clusters are matched without their names too
SURE = 0.01
#: amounts are in standard deviations of the cluster, or of all points if the cluster varies by less than this share of them
HARDLY = 0.05


class Moved(NamedTuple):
    """One change of a window.

    Attributes:
        window: Name of the window.
        cluster: The cluster, by its name in the reference; a new one by its own.
        feature: The feature, for clusters that moved; else None.
        kind: What changed.
        amount: Moved: standard deviations of the cluster in the reference (of all points, if the cluster hardly varies).
            Size: relative change of its share. New, split: share of the window's points; gone, merged: of the reference's.
        direction: "up", "down", "wider", "narrower", "shape", a value or "missing" with ↑ or ↓; for a split its parts, for
            a merger what it became part of.
        p_value: Of this change, corrected for all tests of the window.
        alarm: Whether it passes the level of the window.
    """

    window: Label
    cluster: Label
    feature: str | None
    kind: Kind
    amount: float
    direction: str
    p_value: float
    alarm: bool


#: the columns of a table of changes
MOVED_COLUMNS = Moved._fields


#: the sum of 1 / ((i + 2) ln² (i + 2)) over i = 1, 2, …
WHOLE = 1.06906


def share_of(i: int) -> float:
    """The share of alpha that window i may spend: they add up to 1, however many windows follow.

    >>> round(share_of(1), 3), round(1 / share_of(100))
    (0.258, 2332)
    """
    return float(1 / (WHOLE * (i + 2) * np.log(i + 2) ** 2))


@dataclass(frozen=True, eq=False)
class Finding:
    """What the tests of a window say.

    Attributes:
        p_value: The probability of evidence as strong as the strongest if nothing changed.
        level: The level below which the p-value is an alarm.
        alarm: Whether it is one.
        moved: The changes, the strongest evidence first.
        clusters: The clusters of the reference that were tested.
        log10_p: Clusters × (size, features): logarithm of each p-value to base 10, before correction.
    """

    p_value: float
    level: float
    alarm: bool
    moved: tuple[Moved, ...]
    clusters: tuple[Label, ...]
    log10_p: Array


@dataclass
class Watch:
    """Tests windows one after the other; memory does not grow with their number.

    Attributes:
        reference: Profile of the reference, in fine bins.
        alpha: Probability of any false alarm over all windows.
        against: "first" keeps the reference; "previous" replaces it by each window that was tested.
        tested: Number of windows tested so far.

    >>> import numpy as np
    >>> from congruence.density.profile import Profile
    >>> watch = Watch(Profile.of([[50, 50, 0, 0], [0, 0, 50, 50]], clusters=["x", "y"]))
    >>> watch.test("monday", Profile.of([[48, 52, 0, 0], [0, 0, 49, 51]], clusters=["x", "y"])).alarm
    False
    >>> found = watch.test("tuesday", Profile.of([[5, 95, 0, 0], [0, 0, 49, 51]], clusters=["x", "y"]))
    >>> found.alarm, found.moved[0].cluster, found.moved[0].kind
    (True, 'x', 'moved')
    """

    reference: Profile
    alpha: float = 0.01
    against: Against = "first"
    tested: int = 0
    names: dict[Label, Label] = field(default_factory=dict)
    _known: dict[tuple[int, ...], float] = field(default_factory=dict)
    _kin: list[Kin] = field(default_factory=list)

    def test(self, window: Label, profile: Profile) -> Finding:
        """The evidence that a window differs from the reference."""
        self.tested += 1
        level = self.alpha * share_of(self.tested)
        found = self._tested(window, profile, level)
        if self.against == "previous" and profile.n:
            self._go_on(profile)
        return found

    def _tested(self, window: Label, profile: Profile, level: float) -> Finding:
        """The finding of a window. If names as given make it a change, but clusters matched without names do not, these count."""
        tried = [self._kin_and_finding(window, profile, level, named=True)]
        if tried[0][1].p_value <= SURE:
            tried.append(self._kin_and_finding(window, profile, level, named=False))
        self._kin, found = tried[-1] if tried[-1][1].p_value > LISTED else tried[0]
        return found

    def _kin_and_finding(
        self, window: Label, profile: Profile, level: float, *, named: bool
    ) -> tuple[list[Kin], Finding]:
        kin = kin_of(self.reference, profile, named)
        return kin, _tested(_Case(window, self.reference, profile, kin, level, self.names), self._known)

    def _go_on(self, profile: Profile) -> None:
        """Take the window as the next reference, under the lasting names of its clusters."""
        names, taken = {}, set(self.names.values()) | set(self.reference.clusters)
        for kin in self._kin:
            for j in kin.after:
                own = profile.clusters[j]
                names[own] = (
                    self._name(self.reference.clusters[kin.before[0]])
                    if kin.before and j == kin.after[0]
                    else (own if own not in taken else f"{own}′")
                )
        self.names, self.reference, self._known = names, profile, {}

    def _name(self, cluster: Label) -> Label:
        return self.names.get(cluster, cluster)


@dataclass(frozen=True, eq=False)
class _Case:
    """A window beside the reference: their clusters by kinship, the level of an alarm, and the lasting names."""

    window: Label
    a: Profile
    b: Profile
    kin: Sequence[Kin]
    level: float
    names: dict[Label, Label]

    @cached_property
    def both(self) -> list[Kin]:
        """The clusters that are in both."""
        return [x for x in self.kin if x.before and x.after]

    @cached_property
    def ends(self) -> list[Kin]:
        """Parts of splits and mergers that are in one of both only, as if new or gone."""
        new = [Kin((), (j,), "split") for x in self.both if x.fate == "split" for j in x.after[1:]]
        return new + [Kin((i,), (), "merged") for x in self.both if x.fate == "merged" for i in x.before[1:]]

    def name(self, i: int) -> Label:
        """The lasting name of a cluster of the reference."""
        return self.names.get(self.a.clusters[i], self.a.clusters[i])


def _tested(case: _Case, known: dict[tuple[int, ...], float]) -> Finding:
    a, b, kin, both, ends = case.a, case.b, case.kin, case.both, case.ends
    before, after = united(a, [x.before for x in both]), united(b, [x.after for x in both])
    cells = cells_of(before, after, a.attributes)
    counts = kin_sizes(a, b, kin)
    sizes = size_tests(*counts) if all(x.sum() for x in counts) else np.zeros(len(kin))
    parts = _alone(a, b, ends)
    key = tuple(np.rint(np.log2(np.maximum(after.sum(axis=1) / max(len(a.attributes), 1), 1.0))).astype(int).tolist())
    if key not in known:
        known[key] = conservative(before, 2.0 ** np.array(key), a.attributes)
    n_tests = max(1.0, cells.log_p.size * known[key] + len(kin) + len(ends))
    strongest = min([0.0, *cells.log_p.ravel().tolist(), *sizes.tolist(), *parts.tolist()])
    p_value = _corrected(strongest, n_tests)
    rows = _changes(case, cells, parts, n_tests)
    called = [case.name(x.before[0]) for x in both]
    of_both = sizes[[bool(x.before and x.after) for x in kin]]
    table = np.column_stack([of_both, cells.log_p]) / np.log(10) if both else np.zeros((0, len(a.attributes) + 1))
    return Finding(p_value, case.level, p_value <= case.level, rows, tuple(called), table)


def _corrected(log_p: float, n_tests: float) -> float:
    """The p-value of the smallest of so many."""
    return float(-np.expm1(n_tests * np.log1p(-np.exp(log_p)))) if log_p < 0 else 1.0


def _alone(a: Profile, b: Profile, ends: Sequence[Kin]) -> Array:
    """Logarithm of the p-value of each cluster that is in one profile only."""
    whole = float(a.sizes.sum()), float(b.sizes.sum())
    found = []
    for x in ends:
        n, m = (float(p.sizes[list(of)].sum()) for p, of in ((a, x.before), (b, x.after)))
        found.append(float(size_tests(np.array([n, whole[0] - n]), np.array([m, whole[1] - m]))[0]))
    return np.array(found)


def _changes(case: _Case, cells: Cells, parts: Array, n_tests: float) -> tuple[Moved, ...]:
    """The changes whose corrected p-value is at most `LISTED`, the strongest evidence first."""
    a, b, both, name = case.a, case.b, case.both, case.name
    least = float(np.log(LISTED))
    found: list[tuple[float, Moved]] = []

    def add(log_p: float, cluster: Label, feature: str | None, kind: Kind, amount: float, direction: str) -> None:
        p_value = _corrected(log_p, n_tests)
        if p_value <= LISTED:
            row = Moved(case.window, cluster, feature, kind, amount, direction, p_value, p_value <= case.level)
            found.append((log_p, row))

    whole = [float(p.sizes.sum()) or 1.0 for p in (a, b)]
    for x, log_p in zip(case.ends, parts.tolist(), strict=True):
        if x.fate == "split":
            group = next(y for y in both if x.after[0] in y.after)
            into = some_of([b.clusters[j] for j in group.after], 4)
            add(log_p, name(group.before[0]), None, "split", float(b.sizes[x.after[0]]) / whole[1], f"into {into}")
        else:
            group = next(y for y in both if x.before[0] in y.before)
            share, into = float(a.sizes[x.before[0]]) / whole[0], name(group.before[0])
            add(log_p, name(x.before[0]), None, "merged", share, f"into {into}")
    for x, log_p, amount, up in _sizes(a, b, case.kin, least, n_tests):
        if x.fate == "new":
            add(log_p, b.clusters[x.after[0]], None, "new", float(b.sizes[x.after[0]]) / whole[1], "up")
        elif x.fate == "gone":
            add(log_p, name(x.before[0]), None, "gone", float(a.sizes[x.before[0]]) / whole[0], "down")
        else:
            add(log_p, name(x.before[0]), None, "size", amount, "up" if up else "down")
    for i, f in zip(*np.nonzero(cells.log_p <= least - np.log(max(n_tests, 1.0)) + 0.1), strict=True):
        amount, direction = _shift(a, b, both[i], int(f), int(cells.which[i, f]), float(cells.sign[i, f]))
        add(float(cells.log_p[i, f]), name(both[i].before[0]), a.names[f], "moved", amount, direction)
    return tuple(row for _, row in sorted(found, key=lambda x: x[0]))


def _sizes(
    a: Profile, b: Profile, kin: Sequence[Kin], least: float, n_tests: float
) -> list[tuple[Kin, float, float, bool]]:
    """The clusters whose share changed: the clearest, then the clearest among the others, until none is left."""
    left = list(kin)
    found: list[tuple[Kin, float, float, bool]] = []
    while len(left) > 1 or (left and not found):
        before, after = kin_sizes(a, b, left)
        if not before.sum() or not after.sum():
            break
        log_p = size_tests(before, after)
        ends = [k for k, x in enumerate(left) if not x.before or not x.after]
        best = int(min(ends, key=lambda k: log_p[k])) if ends and log_p[ends].min() <= least else int(log_p.argmin())
        if _corrected(float(log_p[best]), n_tests) > LISTED:
            break
        shares = float(before[best] / before.sum()), float(after[best] / after.sum())
        amount = shares[1] / shares[0] - 1 if shares[0] else float("inf")
        found.append((left.pop(best), float(log_p[best]), abs(amount), shares[1] > shares[0]))
    return found


def _shift(a: Profile, b: Profile, kin: Kin, f: int, which: int, sign: float) -> tuple[float, str]:
    """How far a cluster moved along a feature, in its standard deviations, and which way."""
    attribute = a.attributes[f]
    own = slice(a.starts[f], a.starts[f + 1])
    p, q = (np.asarray(x.counts[list(of)].sum(axis=0)[own], dtype=float) for x, of in ((a, kin.before), (b, kin.after)))
    arrow = "↑" if sign > 0 else "↓"
    if attribute.values is not None or which == VALUES:
        at, what = (-1, "missing") if attribute.values is None else (which, attribute.bins[which])
        shares = p[at] / max(p.sum(), 1.0), q[at] / max(q.sum(), 1.0)
        spread = np.sqrt(max(shares[0] * (1 - shares[0]), 1 / max(p.sum(), 1.0)))
        return float(abs(shares[1] - shares[0]) / spread), f"{what} {arrow}"
    p, q = p[: attribute.regular], q[: attribute.regular]
    levels = np.linspace(0.05, 0.95, 19)
    x, y = quantiles(attribute, p, levels), quantiles(attribute, q, levels)
    spreads = [float(np.std(z) / np.std(ndtri(levels))) for z in (x, y)]  # 1 for a normal distribution of variance 1
    whole = quantiles(attribute, a.counts[:, own].sum(axis=0)[: attribute.regular].astype(float), levels)
    every = float(np.std(whole) / np.std(ndtri(levels))) or float(np.ptp(np.concatenate([x, y]))) or 1.0
    unit = spreads[0] if spreads[0] > HARDLY * every else every
    moved = float(np.mean(y - x))
    apart, wider = float(np.mean(np.abs(y - x))), spreads[1] - spreads[0]
    if which == LOCATION or (which == SHAPE and abs(moved) >= apart / 2 > 0):
        return abs(moved) / unit, "up" if moved > 0 or (moved == 0 and sign > 0) else "down"
    if which == SPREAD:
        return abs(wider) / unit, "wider" if sign > 0 else "narrower"
    return apart / unit, "shape"


def quantiles(attribute: Attribute, counts: Array, levels: Array) -> Array:
    """Quantiles of a numeric attribute, linear within bins.

    >>> quantiles(Attribute("x", (1.0, 2.0), 0.0, 3.0), np.array([2, 2, 4]), np.array([0.25, 0.5, 0.75])).tolist()
    [1.0, 2.0, 2.5]
    """
    low = min(attribute.low, *attribute.cuts) if attribute.cuts else attribute.low
    high = max(attribute.high, *attribute.cuts) if attribute.cuts else attribute.high
    edges = np.array([low, *attribute.cuts, high])
    reached = np.concatenate([[0.0], np.cumsum(counts)])
    return np.asarray(np.interp(levels * reached[-1], reached, edges))
