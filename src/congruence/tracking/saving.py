"""Tracks in a file: arrays in .npz, without pickles."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import numpy as np

from congruence.errors import InputError
from congruence.inputs.steps import History, Step, incidence
from congruence.machine.writing import replacing
from congruence.statistics.tables import Array
from congruence.tracking.events import Event
from congruence.tracking.results import Kept, Tracks
from congruence.typing import PathLike


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
    try:
        arrays["facts"] = np.frombuffer(json.dumps(facts, default=_not_plain).encode(), dtype=np.uint8)
    except TypeError as error:
        raise InputError(str(error)) from None
    with replacing(Path(path)) as file:
        np.savez_compressed(file, **arrays)  # type: ignore[arg-type]


def _not_plain(value: object) -> object:
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"names of clusters and points must be texts or numbers to be saved; got {type(value).__name__}")


def load_tracks(path: PathLike) -> Tracks:
    """Tracks from a file."""
    try:
        with np.load(Path(path), allow_pickle=False) as found:
            arrays = {name: found[name] for name in found.files}
        facts = json.loads(arrays["facts"].tobytes())
        steps = []
        for i, (name, kind, clusters, shape) in enumerate(facts["steps"]):
            if kind == "memberships":
                members = arrays[f"members{i}"]
            else:
                starts = arrays[f"starts{i}"]
                members = incidence(
                    np.repeat(np.arange(shape[0]), np.diff(starts)), arrays[f"clusters{i}"], tuple(shape)
                )
            steps.append(Step(name, tuple(clusters), members, kind))
    except (OSError, ValueError, KeyError, TypeError, EOFError) as error:
        raise InputError(f"{path} is not a file of tracks: {error}") from None
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
