"""Tracks in a file."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np

from congruence.inputs.steps import History, Step, incidence
from congruence.machine.archives import read_archive, write_archive
from congruence.statistics.tables import Array
from congruence.tracking.events import Event
from congruence.tracking.results import Kept, Tracks
from congruence.typing import PathLike, Record


def save_tracks(t: Tracks, path: PathLike) -> None:
    """Write tracks to a file from which `track(previous=path)` goes on."""
    arrays: dict[str, Array] = {}
    for i, step in enumerate(t.history.steps):
        if step.is_soft:
            arrays[f"members{i}"] = step.members
        else:
            arrays[f"starts{i}"], arrays[f"clusters{i}"] = step.members.indptr, step.members.indices
        if t.points is not None:
            arrays[f"points{i}"] = t.points[i]
    facts = {
        "format": 1, "steps": [[s.name, s.kind, list(s.clusters), list(s.members.shape)] for s in t.history.steps],
        "names": [list(x) for x in t.names], "ids": t.history.ids,
        "id_name": t.history.id_name, "frame_kind": t.history.frame_kind,
        "events": [x.facts() for x in t.happened], "kept": [asdict(x) for x in t.kept], "naming": t.naming, "rules": t.rules,
    }  # fmt: skip
    write_archive(path, arrays, facts)


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
        steps.append(Step(name, tuple(clusters), members, kind))
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
