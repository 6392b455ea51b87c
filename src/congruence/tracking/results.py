"""The result of `cg.track`, also in a file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from congruence.comparison.presenting import Result
from congruence.errors import InputError, Option, counted
from congruence.errors import joined as listing
from congruence.inputs.frames import make_frame
from congruence.inputs.steps import HeldStep, History, Step, incidence
from congruence.machine.writing import read_archive, write_archive
from congruence.statistics.tables import Array
from congruence.tracking.events import EVENT_COLUMNS, Event, Naming, Rules
from congruence.tracking.runs import runs_of
from congruence.typing import Frame, Label, PathLike, Record

if TYPE_CHECKING:
    from congruence.scanning.rows import Written


#: events less likely than this by chance are counted as clear
ALPHA = 0.05
#: points × clusters of all runs of one k above which modes are not looked for
MOST_RUNS = 2_000


@dataclass(frozen=True)
class Kept:
    """How many points keep the name of their cluster from one step to the next, beside two baselines.

    Attributes:
        points: Points present in both steps.
        lasting: Those whose cluster has the same lasting name.
        as_given: Those whose cluster has the same label as given.
        by_chance: Those expected with the same lasting name if points were shuffled among the clusters.
    """

    points: int
    lasting: int
    as_given: int
    by_chance: float

    @classmethod
    def of(cls, before: Step, after: Step, names: tuple[Sequence[Label], Sequence[Label]]) -> Kept:
        """The points that keep their names."""
        a, b, many = before.cells_with(after)
        n = int(many.sum())

        def same(first: Sequence[Label], second: Sequence[Label]) -> tuple[int, float]:
            place = {name: i for i, name in enumerate(second)}
            partner = np.array([place.get(name, -1) for name in first], dtype=np.int64)
            sizes = np.bincount(a, many, minlength=len(first)), np.bincount(b, many, minlength=len(second) + 1)
            by_chance = (sizes[0] * sizes[1][partner])[partner >= 0].sum() / max(n, 1)
            return int(many[partner[a] == b].sum()), float(by_chance)

        lasting, by_chance = same(*names)
        return cls(n, lasting, same(before.clusters, after.clusters)[0], by_chance)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Tracks(Result):
    """Lasting names of clusters over steps, and what became of each cluster.

    Attributes:
        history: The steps.
        names: For each step, the lasting name of each of its clusters.
        happened: The events, in order.
        kept: For each step after the first, how many points keep the name of their cluster.
        naming: How parts of a split are named.
        rules: The rules that link clusters.
        points: The data of each step, if steps have their own points.

    >>> import congruence as cg
    >>> t = cg.track({"may": list("aaaabbbb"), "june": list("xxxxyyzz")})
    >>> print(t.sentence)  # doctest: +NORMALIZE_WHITESPACE
    3 clusters over 2 steps, 2 of them from first to last; 1 split (1 of these with p above 0.05). 6 of 8 points keep their
    cluster's name (0 by the labels as given, 3 by chance).
    """

    history: History
    names: tuple[tuple[Label, ...], ...]
    happened: tuple[Event, ...]
    kept: tuple[Kept, ...]
    naming: Naming = "larger"
    rules: Rules = "overlap"
    points: tuple[Array, ...] | None = None

    @property
    def kind(self) -> str | None:  # type: ignore[override]
        """The library of the frames given."""
        return self.history.frame_kind

    @property
    def steps(self) -> tuple[str, ...]:
        """The names of the steps."""
        return tuple(step.name for step in self.history.steps)

    @cached_property
    def labels(self) -> Frame:
        """One column per step: the lasting name of each point's cluster, None where it is absent; lists for covers.

        Rows are those given, or the union of the ids; if every step has its own points, shorter steps end in None.
        """
        from importlib.util import find_spec

        kind, ids = self.kind or ("pandas" if find_spec("pandas") else "pyarrow"), self.history.ids
        if kind not in ("pandas", "modin", "cudf"):
            return make_frame(self.label_columns(), kind)
        frame = make_frame(self._named_labels(), kind)
        if ids is not None:
            frame.index = list(ids)
            frame.index.name = self.history.id_name
        return frame

    def label_columns(self) -> Record:
        """The columns of `labels`, after that of the ids if points have ids."""
        columns = {
            name: list(x) if isinstance(x, np.ndarray) and x.dtype == object else x
            for name, x in self._named_labels().items()
        }
        ids = self.history.ids
        return ({} if ids is None else {self.history.id_name or "id": list(ids)}) | columns

    def _named_labels(self) -> dict[str, list[Label] | Array]:
        rows = max(step.members.shape[0] for step in self.history.steps)
        return {
            step.name: self._column(step, names, rows)
            for step, names in zip(self.history.steps, self.names, strict=True)
        }

    def _column(self, step: Step, names: Sequence[Label], rows: int) -> list[Label] | Array:
        values = np.full(rows, None, dtype=object)
        if step.kind == "cover":
            indptr, indices = step.members.indptr.tolist(), step.members.indices.tolist()
            for i in range(len(indptr) - 1):
                if indptr[i] < indptr[i + 1]:
                    values[i] = [names[c] for c in indices[indptr[i] : indptr[i + 1]]]
            return values
        listed = np.empty(len(names) + 1, dtype=object)
        listed[:-1] = names
        codes = step.codes
        values[: len(codes)] = listed[codes]
        return (
            values.astype(np.int64)
            if all(isinstance(x, int) for x in names) and (codes >= 0).all() and len(codes) == rows
            else values
        )

    @cached_property
    def events(self) -> Frame:
        """One row per event: what became of linked clusters from one step to the next."""
        return make_frame(self.event_columns(), self.kind)

    def event_columns(self) -> Record:
        """The columns of `events`."""
        listed = list(zip(*self.happened, strict=True)) or [()] * len(EVENT_COLUMNS)
        return {name: list(values) for name, values in zip(EVENT_COLUMNS, listed, strict=True)}

    @cached_property
    def tracks(self) -> Frame:
        """One row per lasting name: its first and last step, in how many it occurs, and its sizes."""
        return make_frame(self.track_columns(), self.kind)

    def track_columns(self) -> Record:
        """The columns of `tracks`."""
        lives: dict[Label, list[tuple[str, float]]] = {}
        for step, names in zip(self.history.steps, self.names, strict=True):
            for name, size in zip(names, step.sizes.tolist(), strict=True):
                lives.setdefault(name, []).append((step.name, size))
        sizes = {name: [size for _, size in life] for name, life in lives.items()}
        return {
            "name": list(lives),
            "first": [life[0][0] for life in lives.values()], "last": [life[-1][0] for life in lives.values()],
            "n_steps": [len(life) for life in lives.values()], "size_first": [x[0] for x in sizes.values()],
            "size_last": [x[-1] for x in sizes.values()], "size_max": [max(x) for x in sizes.values()],
        }  # fmt: skip

    @cached_property
    def aligned(self) -> list[Array]:
        """For memberships: the matrices with columns in the order of the lasting names.

        If all have the same number of clusters, columns are matched one to one over all steps.
        """
        if not all(step.is_soft for step in self.history.steps):
            raise InputError("aligned is for memberships; for labels, see labels")
        if len({len(names) for names in self.names}) == 1:  # each column has a partner in every step
            runs = runs_of(self.history.steps)
            return [step.members[:, order] for step, order in zip(self.history.steps, runs.order, strict=True)]
        place = {name: i for i, name in enumerate(dict.fromkeys(name for names in self.names for name in names))}
        return [
            step.members[:, np.argsort([place[name] for name in names], kind="stable")]
            for step, names in zip(self.history.steps, self.names, strict=True)
        ]

    @cached_property
    def modes(self) -> Frame:
        """Runs that are the same solution up to the order of their clusters: one row per mode, for each number of clusters."""
        found: Record = {"mode": [], "n_clusters": [], "members": [], "size": [], "medoid": []}
        by_k: dict[int, list[int]] = {}
        for i, step in enumerate(self.history.steps):
            by_k.setdefault(len(step.clusters), []).append(i)
        for k, which in sorted(by_k.items()):
            runs = runs_of([self.history.steps[i] for i in which])
            for mode in runs.modes():
                found["mode"].append(len(found["mode"]) + 1)
                found["n_clusters"].append(k)
                found["members"].append([self.steps[which[i]] for i in mode])
                found["size"].append(len(mode))
                found["medoid"].append(self.steps[which[runs.medoid_of(mode)]])
        return make_frame(found, self.kind)

    @property
    def sentence(self) -> str:
        """What happened, in a sentence or two, with the share of points that keep a name beside its baselines."""
        lives = self.track_columns()
        through = sum(n == len(self.steps) for n in lives["n_steps"])
        kinds = Counter[str](event.event for event in self.happened)
        words = {"split": "split", "merged": "merger", "regrouped": "regrouping"}
        listed = [counted(kinds[kind], word) for kind, word in words.items() if kinds[kind]]
        listed += [f"{kinds[kind]:,} {kind}" for kind in ("new", "gone", "grew", "shrank") if kinds[kind]]
        unclear = sum(event.p_value > ALPHA for event in self.happened if event.event not in ("kept",))
        text = (
            f"{counted(len(lives['name']), 'cluster')} over {counted(len(self.steps), 'step')}, {through:,} of them from first "
            f"to last; {listing(listed) if listed else 'every cluster is kept'}"
        )
        text += f" ({unclear:,} of these with p above {ALPHA:g})." if unclear else "."
        if self.kept and not self.history.own_points:
            total = [
                sum(getattr(k, name) for k in self.kept) for name in ("points", "lasting", "as_given", "by_chance")
            ]
            text += (
                f" {total[1]:,} of {counted(total[0], 'point')} keep their cluster's name "
                f"({total[2]:,} by the labels as given, {total[3]:,.0f} by chance)."
            )
        return text

    def write_labels(self, out: PathLike) -> Written:
        """Write the lasting name of each row of scanned steps to a folder of Parquet files, with the column of row ids.

        Args:
            out: A new or empty folder.

        Returns:
            A `Written`: where the files are.

        Raises:
            InputError: If the steps are not columns of one scan.
        """
        from congruence.tracking.scanned import written_names  # late import; reads rows

        return written_names(self.history.steps, self.names, out)

    def joined(self, later: History, points: tuple[Array, ...] | None) -> tuple[History, tuple[Array, ...] | None]:
        """The history with later steps, on the points of both.

        Args:
            later: The later steps; those that this history has too are left out.
            points: Their data, if steps have their own points.
        """
        mine = self.history
        if (self.points is None) != (points is None):
            raise InputError(f"previous and steps must both have {Option('data', ...)}, or neither")
        new = [i for i, step in enumerate(later.steps) if step.name not in self.steps]
        steps = [later.steps[i] for i in new]
        if self.points is not None and points is not None:
            return replace(mine, steps=(*mine.steps, *steps)), (*self.points, *(points[i] for i in new))
        if (mine.ids is None) != (later.ids is None):
            raise InputError("the points of previous and of the later steps must both have ids, or neither")
        if mine.ids is None or later.ids is None:
            sizes = {step.members.shape[0] for step in (*mine.steps, *steps)}
            if len(sizes) > 1:
                raise InputError(
                    f"previous and the later steps have {min(sizes):,} and {max(sizes):,} points; name the points by ids"
                )
            return replace(mine, steps=(*mine.steps, *steps)), None
        place = {x: i for i, x in enumerate(dict.fromkeys((*mine.ids, *later.ids)))}
        rows = [np.array([place[x] for x in ids], dtype=np.int64) for ids in (mine.ids, later.ids)]
        all_steps = [s.placed(rows[0], len(place)) for s in mine.steps] + [s.placed(rows[1], len(place)) for s in steps]
        return replace(mine, steps=tuple(all_steps), ids=tuple(place)), None

    def save(self, path: PathLike) -> None:
        """Write to a file from which `cg.track(…, previous=path)` goes on.

        Args:
            path: The file, named .npz.
        """
        arrays: dict[str, Array] = {}
        for i, step in enumerate(self.history.steps):
            if step.is_soft:
                arrays[f"members{i}"] = step.members
            else:
                arrays[f"starts{i}"], arrays[f"clusters{i}"] = step.members.indptr, step.members.indices
            if self.points is not None:
                arrays[f"points{i}"] = self.points[i]
        facts = {
            "format": 1, "steps": [[s.name, s.kind, list(s.clusters), list(s.members.shape)] for s in self.history.steps],
            "names": [list(x) for x in self.names], "ids": self.history.ids,
            "id_name": self.history.id_name, "frame_kind": self.history.frame_kind,
            "events": [x._asdict() for x in self.happened], "kept": [asdict(x) for x in self.kept],
            "naming": self.naming, "rules": self.rules,
        }  # fmt: skip
        write_archive(path, arrays, facts)

    def table_columns(self) -> Record:
        """The columns of `to_frame`: the events."""
        return self.event_columns()

    def to_dict(self) -> Record:
        """The steps, lasting names, lives and events, as plain values."""
        return {
            "sentence": self.sentence, "steps": list(self.steps), "tracks": self.track_columns(),
            "events": [event._asdict() for event in self.happened], "kept": [asdict(k) for k in self.kept],
        }  # fmt: skip

    def __repr__(self) -> str:
        return f"Tracks: {self.sentence}"


def load_tracks(path: PathLike) -> Tracks:
    """Tracks from a file."""
    return read_archive(path, "tracks", _tracks)


def _tracks(arrays: dict[str, Array], facts: Record) -> Tracks:
    steps = []
    for i, (name, kind, clusters, shape) in enumerate(facts["steps"]):
        if kind == "memberships":
            members = arrays[f"members{i}"]
        else:
            rows = np.repeat(np.arange(shape[0]), np.diff(arrays[f"starts{i}"]))
            members = incidence(rows, arrays[f"clusters{i}"], tuple(shape))
        steps.append(HeldStep(name, tuple(clusters), members, kind))
    own = "points0" in arrays
    ids = None if facts["ids"] is None else tuple(facts["ids"])
    return Tracks(
        history=History(tuple(steps), ids, facts["id_name"], facts["frame_kind"], own),
        names=tuple(tuple(x) for x in facts["names"]),
        happened=tuple(Event(**x) for x in facts["events"]),
        kept=tuple(Kept(**x) for x in facts["kept"]),
        naming=facts["naming"],
        rules=facts["rules"],
        points=tuple(arrays[f"points{i}"] for i in range(len(steps))) if own else None,
    )
