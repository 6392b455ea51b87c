"""Label columns of arrays and frames."""

from __future__ import annotations

from typing import Any

from congruence.errors import Caution, InputError
from congruence.inputs.arrays import frame_kind
from congruence.inputs.files import without_ids
from congruence.inputs.labels import Labels
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


def title_of(column: Any) -> str | None:
    """The name of a series, if it has one."""
    name = (
        getattr(column, "title" if isinstance(column, Labels) else "name", None)
        if frame_kind(column) or isinstance(column, Labels)
        else None
    )
    return str(name) if name not in (None, "") else None


def label_columns(obs: Any) -> tuple[list[tuple[str, Any]], list[Caution], str | None]:
    """The label columns of an `.obs` frame, by the rule for all tables, and the kinds of the others."""
    columns, notes = without_ids({str(name): obs[name] for name in obs.columns}, ".obs")
    return list(columns.items()), [Caution("not_labels", "", f".obs: {line}") for line in notes], frame_kind(obs)
