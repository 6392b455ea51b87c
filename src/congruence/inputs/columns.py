"""Label columns of arrays and frames, with their names and weights."""

from __future__ import annotations

import math
from collections.abc import Hashable

import numpy as np

from congruence.errors import Caution, InputError, Option
from congruence.inputs.column_kinds import without_ids
from congruence.inputs.kinds import Clustering
from congruence.inputs.labels import Labels, frame_kind, names_of_columns
from congruence.inputs.weights import weights_in
from congruence.machine import device
from congruence.statistics.tables import Array
from congruence.typing import ColumnLike, DeviceArray, Frame, WeightsLike


def check_columns(data: DeviceArray) -> None:
    """Refuse arrays that are not label columns."""
    if data.ndim != 2:
        raise InputError(
            f"expected several clusterings as a 2-D array, one column each; got a {data.ndim}-D array of shape {data.shape}"
        )


def card_columns(data: DeviceArray) -> list[tuple[str, DeviceArray]]:
    """Label columns of an array on a GPU, encoded there together."""
    check_columns(data)
    found = device.encoded(data) if data.size else [None] * data.shape[1]
    return [
        (str(j), Labels(None, card=codes) if codes is not None else data[:, j].get()) for j, codes in enumerate(found)
    ]


def card_vectors(columns: list[tuple[str, DeviceArray]]) -> list[tuple[str, DeviceArray]]:
    """The same columns; integer vectors on a GPU that have the same type and length are encoded together."""
    groups: dict[Hashable, list[int]] = {}
    arrays: dict[int, DeviceArray] = {}
    for i, (_, column) in enumerate(columns):
        if device.is_on_card(column):
            arrays[i] = device.array(column)
            if arrays[i].ndim == 1 and arrays[i].size:
                groups.setdefault((arrays[i].dtype, len(arrays[i]), arrays[i].device.id), []).append(i)
    found = list(columns)
    for members in groups.values():
        if len(members) > 1:
            for i, codes in zip(members, device.encoded_together([arrays[i] for i in members]), strict=True):
                found[i] = (columns[i][0], Labels(None, card=codes) if codes is not None else columns[i][1])
    return found


def title_of(column: object) -> str | None:
    """The name of a series, if it has one."""
    own = (
        column.title
        if isinstance(column, Clustering)
        else getattr(column, "name", None)
        if frame_kind(column)
        else None
    )
    return str(own) if own not in (None, "") else None


def frame_columns(frame: Frame, who: str) -> tuple[list[tuple[str, ColumnLike]], list[Caution], str | None]:
    """The columns of a frame that are labels, by the rule for columns of every table, and what the others are."""
    kind = frame_kind(frame)
    names = names_of_columns(frame)
    if len(set(names)) < len(names):
        twice = next(x for x in names if names.count(x) > 1)
        raise InputError(f"{who} has two columns named {twice!r}; give them different names")
    columns, notes = without_ids({str(name): frame[name] for name in names}, who)
    said = f"{who}: " if who == ".obs" else ""
    return list(columns.items()), [Caution("not_labels", "", said + line) for line in notes], kind


def member_weights(given: WeightsLike, members: int) -> Array:
    """Validated weights of the members, scaled to sum to 1."""
    weights = weights_in(given, str(Option("member_weight"))).astype(np.float64)
    if weights.shape != (members,):
        raise InputError(f"member_weight has shape {weights.shape}, but there are {members} members")
    if not weights.any():
        raise InputError(f"{Option('member_weight')} is 0 for every member")
    weights = weights / weights.max()
    return np.asarray(weights / math.fsum(weights))  # exact, so that the order of the members does not matter
