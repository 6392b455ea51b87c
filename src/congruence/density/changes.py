"""The result of `cg.drift`: one row per window, and what moved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np

from congruence.comparison.presenting import Result, number, plain
from congruence.density.evidence import drawn_windows
from congruence.density.profile import Profile
from congruence.density.refining import folded
from congruence.density.similarity import ProfileComparison, compare_profiles
from congruence.density.watching import MOVED_COLUMNS, Finding, Moved
from congruence.errors import InputError, one_of
from congruence.formulas import find
from congruence.inputs.frames import make_frame, text_grid
from congruence.statistics.tables import Array
from congruence.typing import Frame, Label, Record

#: number of changes named per window
SHOWN = 3
#: changes of more standard deviations are not told apart in words
MOST_SD = 100
#: windows drawn from the reference for the band of the figure
BAND_DRAWS = 60


@dataclass(frozen=True, eq=False, kw_only=True)
class Drift(Result):
    """ADCO of each window with the previous and with the first, and what changed.

    Attributes:
        windows: Names of the windows.
        profiles: Profile of each window.
        steps: Comparison of each window with the previous one.
        from_first: Comparison of each window with the first.
        reference: Profile of the reference: that of the first window, or the one given.
        findings: What the tests of each window say; None for a window that is the reference.
        alpha: Probability of any false alarm over all windows.
        threshold: Value of the measure with the first window (or the reference) beyond which there is an alarm too, or None.
        measure: Key of the measure.
        notes: Cautions about the input.

    >>> import congruence as cg
    >>> early, late = [[0.0], [1.0], [9.0], [10.0]], [[0.0], [1.0], [4.0], [5.0]]
    >>> d = cg.drift([(early, [0, 0, 1, 1]), (early, [1, 1, 0, 0]), (late, [0, 0, 1, 1])], bins=5)
    >>> d.previous.tolist(), d.first.tolist()
    ([1.0, 0.5], [1.0, 0.5])
    >>> d.moved_clusters(2)
    [(0, None, 0.0), (None, 1, 0.0)]
    """

    windows: tuple[Label, ...]
    profiles: tuple[Profile, ...] = field(repr=False)
    steps: tuple[ProfileComparison, ...] = field(repr=False)
    from_first: tuple[ProfileComparison, ...] = field(repr=False)
    reference: Profile = field(repr=False)
    findings: tuple[Finding | None, ...] = field(repr=False)
    alpha: float = 0.01
    threshold: float | None = None
    measure: str = "adco"
    notes: tuple[str, ...] = ()

    @property
    def previous(self) -> Array:
        """The measure of each window, from the second on, with the previous one."""
        return np.array([step[self.measure] for step in self.steps])

    @property
    def first(self) -> Array:
        """The measure of each window with the reference: from the second on with the first, or all with the profile given."""
        return np.array([step[self.measure] for step in self.from_first])

    def moved_attributes(
        self, window: int, since: Literal["previous", "first"] = "previous"
    ) -> list[tuple[str, float]]:
        """Attributes of a window (1 is the second), the most changed first, with their similarity to the earlier window.

        Args:
            window: Number of the window; 1 is the second.
            since: "previous" (default) or "first": what it is compared with.

        Raises:
            InputError: If an argument is invalid.
        """
        rows = self._step(window, since).attributes
        return sorted(((name, own) for name, _, own, *_ in rows), key=lambda row: row[1])

    def moved_clusters(
        self, window: int, since: Literal["previous", "first"] = "previous"
    ) -> list[tuple[Label, Label, float]]:
        """Clusters before and now, the most changed first, with their similarity; None if one has no counterpart.

        Args:
            window: Number of the window; 1 is the second.
            since: "previous" (default) or "first": what it is compared with.

        Raises:
            InputError: If an argument is invalid.

        See also:
            `moved`, which lists changes that chance does not explain.
        """
        step = self._step(window, since)
        rows: list[tuple[Label, Label, float]] = [
            (a, b, similar) for a, b, _, similar, *_ in step.matches if similar < 1 - 1e-12
        ]
        rows += [(a, None, 0.0) for a in step.only_a] + [(None, b, 0.0) for b in step.only_b]
        return sorted(rows, key=lambda row: row[2])

    def _step(self, window: int, since: str) -> ProfileComparison:
        one_of("since", since, ("previous", "first"))
        if not 1 <= window < len(self.windows):
            raise InputError(f"window must be from 1 (the second) to {len(self.windows) - 1}, not {window}")
        return self.steps[window - 1] if since == "previous" else self._from_first(window)

    def _from_first(self, window: int) -> ProfileComparison:
        return self.from_first[window - len(self.windows) + len(self.from_first)]

    @property
    def p_values(self) -> list[float | None]:
        """The p-value of each window; None for the reference."""
        return [None if x is None else x.p_value for x in self.findings]

    @property
    def alarms(self) -> list[bool]:
        """Whether each window is an alarm: by its p-value, or because the measure passes the threshold."""
        return [
            x is not None and (x.alarm or is_beyond(self._from_first(i), self.measure, self.threshold))
            for i, x in enumerate(self.findings)
        ]

    @cached_property
    def frame(self) -> Frame:
        """One row per window: points, clusters, the measure with the previous and the first window, p-value, alarm, changes."""
        return self.to_frame()

    @cached_property
    def moved(self) -> Frame:
        """One row per change: window, cluster, feature, kind, amount, direction, p_value, alarm; the strongest evidence first."""
        return make_frame(self.moved_columns(), self.kind)

    def moved_columns(self) -> Record:
        """The columns of `moved`."""
        listed = [row for x in self.findings if x is not None for row in x.moved]
        columns = dict(zip(MOVED_COLUMNS, map(list, zip(*listed, strict=True)), strict=True)) if listed else {}
        return {name: one_type(columns.get(name, [])) for name in MOVED_COLUMNS}

    @cached_property
    def band(self) -> tuple[float, float]:
        """The 1% and 99% quantiles of the measure between the reference and windows drawn from it."""
        fine = self.reference.detail or self.reference
        many = int(np.median([p.n for p in self.profiles]))
        drawn = drawn_windows(fine, many, BAND_DRAWS)
        coarse = [folded(p, self.reference.attributes) for p in drawn]
        values = [compare_profiles(self.reference, p)[self.measure] for p in coarse]
        low, high = np.quantile(values, [0.01, 0.99])
        return float(low), float(high)

    def rows(self) -> list[Record]:
        """One row per window: points, clusters, the measure with the previous and with the first, p-value, alarm, changes."""
        return [
            row_of(
                name, profile, finding, self.alarms[i], self.steps[i - 1] if i else None,
                self._from_first(i) if finding is not None else None, self.measure,
            )
            for i, (name, profile, finding) in enumerate(zip(self.windows, self.profiles, self.findings, strict=True))
        ]  # fmt: skip

    def table_columns(self) -> Record:
        """One row per window: points, clusters, the measure, p-value, alarm, and what changed most."""
        rows = self.rows()
        columns = {name: [row[name] for row in rows] for name in rows[0]}
        return {**columns, "window": one_type(columns["window"])}

    def to_dict(self) -> Record:
        """The measure, one row per window, all changes and steps, and the notes, as plain Python values."""
        return dict(
            plain(
                {
                    "measure": self.measure, "alpha": self.alpha,
                    "windows": self.rows(),
                    "moved": [row._asdict() for x in self.findings if x is not None for row in x.moved],
                    "steps": [step.facts() for step in self.steps],
                    "from_first": [step.facts() for step in self.from_first],
                    "notes": self.notes,
                }
            )
        )  # fmt: skip

    @property
    def sentence(self) -> str:
        """How many windows are alarms, and what the first one is about."""
        found = [(name, x) for name, x, alarm in zip(self.windows, self.findings, self.alarms, strict=True) if alarm]
        tested = sum(x is not None for x in self.findings)
        if not found:
            return f"No alarm in {tested:,} windows (alpha {self.alpha:g} over all of them)."
        name, first = found[0]
        what = f": {said(first.moved[0])}" if first is not None and first.moved else ""
        return f"{len(found):,} of {tested:,} windows are alarms (alpha {self.alpha:g}), the first is {name}{what}."

    def __repr__(self) -> str:
        rows = self.rows()
        head = ["points", "clusters", "previous", "first", "p-value", "alarm", "changes"]
        cells = [
            [
                f"{row['points']:g}", str(row["clusters"]),
                *("" if row[x] is None else number(row[x]) for x in ("previous", "first")),
                "" if row["p_value"] is None else f"{row['p_value']:.2g}", "alarm" if row["alarm"] else "",
                row["clusters moved"],
            ]
            for row in rows
        ]  # fmt: skip
        title = f"{len(rows)} windows, {self.measure} with the previous and with the first"
        grid = text_grid(cells, [str(row["window"]) for row in rows], head, left=True)
        return "\n".join([title, grid, self.sentence, *(f"note: {n}" for n in self.notes)])


def is_beyond(found: ProfileComparison, measure: str, threshold: float | None) -> bool:
    """Whether a measure is worse than the threshold."""
    if threshold is None:
        return False
    value = found[measure]
    return value > threshold if find(measure).better == "lower" else value < threshold


def row_of(
    name: Label, profile: Profile, finding: Finding | None, alarm: bool, previous: ProfileComparison | None,
    first: ProfileComparison | None, measure: str,
) -> Record:  # fmt: skip
    """The row of a window."""
    moved = () if finding is None else [x for x in finding.moved if x.alarm]
    features = dict.fromkeys(x.feature for x in moved if x.feature is not None)
    return {
        "window": name, "points": profile.n, "clusters": len(profile.clusters),
        "previous": None if previous is None else previous[measure], "first": None if first is None else first[measure],
        "p_value": None if finding is None else finding.p_value, "alarm": alarm, "outside": int(profile.outside.sum()),
        "attributes": ", ".join(list(features)[:SHOWN]), "clusters moved": ", ".join(map(said, moved[:SHOWN])),
    }  # fmt: skip


def one_type(values: Sequence[object]) -> list[object]:
    """Values of one column: as they are if they have one type, else as text.

    >>> one_type([1, None, 2]), one_type([1, "a"])
    ([1, None, 2], ['1', 'a'])
    """
    types = {type(x) for x in values if x is not None}
    plain_types = types <= {int} or types <= {float} or types <= {str} or types <= {bool}
    return list(values) if plain_types else [None if x is None else str(x) for x in values]


def said(row: Moved) -> str:
    """A change in a few words.

    >>> said(Moved("day 3", "busy", "x0", "moved", 1.23, "up", 0.001, True))
    'busy: x0 up 1.2 sd'
    >>> said(Moved(3, "a", None, "gone", 0.2, "down", 0.01, True))
    'a gone (20%)'
    """
    if row.kind == "moved":
        far = f"{row.amount:.1f}" if row.amount < MOST_SD else f"over {MOST_SD}"
        return f"{row.cluster}: {row.feature} {row.direction} {far} sd"
    if row.kind == "size":
        return f"{row.cluster}: size {row.direction} {row.amount:.0%}"
    if row.kind in ("new", "gone"):
        return f"{row.cluster} {row.kind} ({row.amount:.0%})"
    return f"{row.cluster} {row.kind} {row.direction}"
