"""`cg.track`: lasting names of the clusters of a history, and what became of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count

import numpy as np

from congruence.errors import Call, InputError, one_of, unused_name, warn
from congruence.formulas.matching import assignment
from congruence.inputs.coerce import counted_there
from congruence.inputs.kinds import Unassigned
from congruence.inputs.steps import History, Step, history_of, points_of
from congruence.tracking.events import LEAST_PROFILE, LEAST_SHARE, Groups, Naming, Rules, events_of, groups, linked
from congruence.tracking.overlaps import Overlap, overlap_of_members, overlap_of_profiles
from congruence.tracking.results import Kept, Tracks, load_tracks
from congruence.tracking.runs import modes_of
from congruence.tracking.scanned import counted_history
from congruence.typing import EnsembleLike, Label, NoiseLike, PathLike, PointsLike


def track(
    steps: EnsembleLike,
    *,
    data: Sequence[PointsLike] | Mapping[str, PointsLike] | None = None,
    unassigned: Unassigned = "drop",
    noise: NoiseLike = None,
    names: Sequence[str] | None = None,
    previous: Tracks | PathLike | None = None,
    naming: Naming = "larger",
    rules: Rules = "overlap",
) -> Tracks:
    """Lasting names for the clusters of successive steps, and what became of each: kept, split, merged, new, gone, ….

    Two clusters of successive steps are linked if they share at least a quarter of either. Linked clusters are one event.
    Within them, the assignment with the most points in common passes the names on; a cluster that was absent for some
    steps comes back under its name.

    Args:
        steps: A frame or 2-D array with one label column per step (missing: the point is absent), or a list or mapping of
            label vectors, memberships (2-D floats) or covers. Series and frames with their own index or a column of ids
            are joined by it: points may come and go. Columns of a scan, or tables already counted, stay where they are:
            `write_labels` writes the names.
        data: One array or frame per step, points × features, if every step has its own points: clusters are then linked by
            their density profiles, if the least overlap over the features is at least half. Default None.
        unassigned: What points without a label are: "drop" (default) absent in that step, "error", "singletons" or
            "cluster" as in `compare`.
        noise: Labels that mean "in no cluster": one label, several, or a mapping from step to labels. Default None.
        names: Names of the steps. Default None: those of the columns or series, else their numbers.
        previous: A result, or the path of a saved one, to go on from: its names never change, and `steps` are the later steps.
            Default None.
        naming: "larger" (default): of a cluster that splits, the part with most of its points keeps the name; "nested": the
            parts of G get the names G.1, G.2, ….
        rules: "overlap" (default), or the definitions of Spiliopoulou et al. (2006), "monic", or Greene et al. (2010),
            "greene".

    Returns:
        A `Tracks`: `.labels`, `.events`, `.tracks`, `.sentence`; for memberships `.aligned` and `.modes`.

    Raises:
        InputError: If the steps cannot be read or joined, or an option is unknown.

    See also:
        `cg.relabel` for two clusterings, `cg.resolutions` for a sweep over k.

    >>> import congruence as cg
    >>> t = cg.track({"may": list("aaaabbbb"), "june": list("xxxxyyzz")})
    >>> t.labels["june"].tolist()
    ['a', 'a', 'a', 'a', 'b', 'b', 'z', 'z']
    >>> t.events[["event", "before", "after"]].values.tolist()
    [['kept', ['a'], ['a']], ['split', ['b'], ['b', 'z']]]
    """
    one_of("naming", naming, ("larger", "nested"))
    one_of("rules", rules, ("overlap", "monic", "greene"))
    if isinstance(previous, str | os.PathLike):
        previous = load_tracks(previous)
    if previous is not None and not isinstance(previous, Tracks):
        raise InputError(f"previous must be a result of {Call('cg.track')} or its path, got {type(previous).__name__}")
    begun = 0 if previous is None else len(previous.history)
    if data is None and previous is None and unassigned in ("drop", "error"):
        steps = counted_there(steps)
    history = counted_history(steps, unassigned, noise, names)
    if history is None:
        history = history_of(
            steps, unassigned=unassigned, noise=noise, names=names, own_points=data is not None, first_number=begun
        )
    elif data is not None or previous is not None:
        raise InputError("scanned steps are tracked by their tables: leave out data and previous")
    points = None if data is None else tuple(points_of(data, history))
    if previous is not None:
        history, points = previous.joined(history, points)
        naming, rules = previous.naming, previous.rules
    least = LEAST_SHARE if points is None else LEAST_PROFILE

    def overlap_between(i: int, j: int) -> tuple[Overlap, Groups]:
        a, b = history.steps[i], history.steps[j]
        overlap = overlap_of_members(a, b) if points is None else overlap_of_profiles(a, b, points[i], points[j])
        return overlap, groups(overlap, linked(overlap, rules, least))

    neighbours = {(t - 1, t): overlap_between(t - 1, t) for t in range(max(begun, 1), len(history))}
    given = [] if previous is None else list(previous.names)
    given += _named(
        history, naming, given, lambda i, j: neighbours.get((i, j)) or overlap_between(i, j), points is not None
    )
    events = [] if previous is None else list(previous.happened)
    kept = [] if previous is None else list(previous.kept)
    for (i, j), (overlap, found) in neighbours.items():
        pair, lasting = (history.steps[i], history.steps[j]), (given[i], given[j])
        events += events_of(found, overlap, pair, lasting, rules)
        if points is None:
            kept.append(Kept.of(*pair, lasting))
            if not kept[-1].points:
                warn(f"steps {pair[0].name} and {pair[1].name} have no point in common, so no cluster keeps its name")
    return Tracks(
        history=history, names=tuple(given), happened=tuple(events), kept=tuple(kept), naming=naming, rules=rules,
        points=points,
    )  # fmt: skip


def _named(
    history: History,
    naming: Naming,
    given: Sequence[tuple[Label, ...]],
    overlap_between: Callable[[int, int], tuple[Overlap, Groups]],
    own_points: bool,
) -> list[tuple[Label, ...]]:
    """The lasting names of the clusters of each step that has none yet."""
    steps = history.steps
    if not given and not own_points and all(step.is_soft for step in steps):
        return _named_by_modes(steps, naming, overlap_between)
    names = Names(naming, list(given))
    for t in range(len(given), len(steps)):
        overlap, found = overlap_between(t - 1, t) if t else (None, None)
        names.go_on(steps[: t + 1], overlap, found, own_points)
    return names.steps[len(given) :]


def _named_by_modes(
    steps: Sequence[Step], naming: Naming, overlap_between: Callable[[int, int], tuple[Overlap, Groups]]
) -> list[tuple[Label, ...]]:
    """Names of memberships: those of the medoid of each mode, so that they do not depend on the order of similar runs.

    The medoid of a mode is compared with that of the step before the mode's first.
    """
    mode_of, medoids, partner = modes_of(steps)
    named: dict[int, tuple[Label, ...]] = {}
    for t in range(len(steps)):
        mode = mode_of[t]
        if mode in named:
            continue
        before = mode_of[t - 1] if t else None
        earlier = [m for m in named if m != before] + ([] if before is None else [before])
        names = Names(naming, [named[m] for m in earlier])
        overlap = overlap_between(medoids[before], medoids[mode]) if before is not None else (None, None)
        names.go_on([steps[medoids[m]] for m in (*earlier, mode)], *overlap)
        named[mode] = names.steps[-1]
    return [tuple(named[mode_of[t]][c] for c in partner[t]) for t in range(len(steps))]


#: a cluster that was absent comes back under its name if it holds half of either and a quarter of both
RETURN_EITHER, RETURN_BOTH = 0.5, 0.25


@dataclass
class Names:
    """The lasting names given so far.

    Attributes:
        naming: How the parts of a split are named.
        steps: For each step, the names of its clusters.
    """

    naming: Naming
    steps: list[tuple[Label, ...]]

    @property
    def used(self) -> set[Label]:
        """All names given so far."""
        return {name for names in self.steps for name in names}

    def _new(self, labels: Sequence[Label], taken: set[Label]) -> Iterator[Label]:
        """Names for new clusters: their own labels if these are texts and free, else the next free numbers or texts."""
        numbers = self.naming == "larger" and all(isinstance(x, int) and not isinstance(x, bool) for x in taken)
        largest = max([-1, *taken]) if numbers else None
        for label in labels:
            if largest is not None and isinstance(label, int) and not isinstance(label, bool):
                largest += 1
                name: Label = largest
            else:
                largest = None
                name = str(label) if str(label) not in taken else unused_name(str(label), taken)
            taken.add(name)
            yield name

    def go_on(
        self, steps: Sequence[Step], overlap: Overlap | None, found: Groups | None, own_points: bool = False
    ) -> None:
        """Name the clusters of the newest step; none comes back under its name if steps have their own points."""
        step = steps[-1]
        if overlap is None or found is None:
            self.steps.append(tuple(str(x) if self.naming == "nested" else x for x in step.clusters))
            return
        names: dict[int, Label] = {}
        last = self.steps[-1]
        for before, after in zip(overlap.row[found.single].tolist(), overlap.col[found.single].tolist(), strict=True):
            names[after] = last[before]
        for group in found.several:
            pairs = np.array(group.pairs)
            at_a = np.searchsorted(group.before, overlap.row[pairs])
            at_b = np.searchsorted(group.after, overlap.col[pairs])
            best = assignment(at_a, at_b, overlap.shared[pairs].astype(float), (len(group.before), len(group.after)))
            for at in best.tolist():
                names[group.after[at_b[at]]] = last[group.before[at_a[at]]]
            if self.naming == "nested" and len(group.before) == 1 and len(group.after) > 1:
                parent = last[group.before[0]]
                parts = self._parts(parent)
                for cluster in sorted(group.after, key=lambda c: -overlap.sizes[1][c]):
                    names[cluster] = next(parts)
        if not own_points:
            names.update(self._returning(steps, [c for c in range(len(step.clusters)) if c not in names]))
        new = [c for c in range(len(step.clusters)) if c not in names]
        taken = set(names.values()) | self.used if new else set[Label]()
        names.update(zip(new, self._new([step.clusters[c] for c in new], taken), strict=True))
        self.steps.append(tuple(names[i] for i in range(len(step.clusters))))

    def _parts(self, parent: Label) -> Iterator[str]:
        """Names for the parts of a cluster that splits: those that were never used."""
        used = self.used
        return (name for i in count(1) if (name := f"{parent}.{i}") not in used)

    def _returning(self, steps: Sequence[Step], unnamed: list[int]) -> dict[int, Label]:
        """Clusters without a name that are clusters of earlier steps which were absent since, and their names."""
        step, alive, found = steps[-1], set(self.steps[-1]), dict[int, Label]()
        for earlier, names in zip(reversed(steps[:-2]), reversed(self.steps[:-1]), strict=True):
            gone = [i for i, name in enumerate(names) if name not in alive]
            alive.update(names)
            left = [c for c in unnamed if c not in found]
            if not gone or not left:
                continue
            table = earlier.shared(step, gone, left)
            row, col, shared = table.row, table.col, table.data
            share_a, share_b = shared / earlier.sizes[gone][row], shared / step.sizes[left][col]
            fits = (np.maximum(share_a, share_b) >= RETURN_EITHER) & (np.minimum(share_a, share_b) >= RETURN_BOTH)
            row, col = row[fits], col[fits]
            for at in assignment(row, col, shared[fits].astype(float), (len(gone), len(left))).tolist():
                found[left[col[at]]] = names[gone[row[at]]]
        return found
