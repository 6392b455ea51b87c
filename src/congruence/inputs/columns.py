"""Label columns of arrays and frames."""

from __future__ import annotations

from typing import Any

from congruence.errors import Caution, InputError
from congruence.inputs.files import without_ids
from congruence.inputs.labels import Labels, frame_kind
from congruence.machine import device


def check_columns(data: Any) -> None:
    """Refuse arrays that are not label columns."""
    if data.ndim != 2:
        raise InputError(
            f"expected several clusterings as a 2-D array, one column each; got a {data.ndim}-D array of shape {data.shape}"
        )


def card_columns(data: Any) -> list[tuple[str, Any]]:
    """Label columns of an array on a GPU, encoded there together."""
    check_columns(data)
    found = device.encoded(data) if data.size else [None] * data.shape[1]
    return [
        (str(j), Labels(None, card=codes) if codes is not None else data[:, j].get()) for j, codes in enumerate(found)
    ]


def card_vectors(columns: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """The same columns; integer vectors on a GPU that have the same type and length are encoded together."""
    groups: dict[Any, list[int]] = {}
    arrays: dict[int, Any] = {}
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


def title_of(column: Any) -> str | None:
    """The name of a series, if it has one."""
    name = (
        getattr(column, "title" if isinstance(column, Labels) else "name", None)
        if frame_kind(column) or isinstance(column, Labels)
        else None
    )
    return str(name) if name not in (None, "") else None


def frame_columns(frame: Any, who: str) -> tuple[list[tuple[str, Any]], list[Caution], str | None]:
    """The columns of a frame that are labels, by the rule for columns of every table, and what the others are."""
    kind = frame_kind(frame)
    names = list(frame.column_names) if kind == "pyarrow" else list(frame.columns)
    if len(set(names)) < len(names):
        twice = next(x for x in names if names.count(x) > 1)
        raise InputError(f"{who} has two columns named {twice!r}; give them different names")
    columns, notes = without_ids({str(name): frame[name] for name in names}, who)
    said = f"{who}: " if who == ".obs" else ""
    return list(columns.items()), [Caution("not_labels", "", said + line) for line in notes], kind
