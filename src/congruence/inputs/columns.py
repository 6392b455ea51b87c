"""Label columns of arrays and frames."""

from __future__ import annotations

from typing import Any

import numpy as np

from congruence.errors import Caution, InputError
from congruence.inputs.frames import frame_kind
from congruence.inputs.labels import Labels
from congruence.machine import device


def check_columns(data: Any) -> None:
    """Refuse arrays that are not label columns."""
    if data.ndim != 2:
        raise InputError(
            f"expected several clusterings as a 2-D array, one column each; got a {data.ndim}-D array of shape {data.shape}"
        )


def card_columns(data: Any) -> list[tuple[str, Any]]:
    """Label columns of an array on a GPU, encoded there at once."""
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
    """The columns of an `.obs` frame that look like labels: categories, strings, booleans; not one value per point."""
    chosen, skipped = [], []
    for name in obs.columns:
        column = obs[name]
        kind = getattr(column.dtype, "kind", "O")
        label_like = kind in "Ob" or not isinstance(column.dtype, np.dtype)
        if label_like and getattr(column.dtype, "kind", "O") not in "iufmMc" and column.nunique() < len(column):
            chosen.append((str(name), column))
        else:
            skipped.append(str(name))
    if not chosen:
        raise InputError(
            f"none of the columns of .obs looks like labels ({', '.join(skipped[:5])}); pass the columns, as in "
            "x.obs[['leiden', 'louvain']]"
        )
    left = f"columns of .obs that do not look like labels were left out: {', '.join(skipped)}"
    return chosen, [Caution("not_labels", "", left)] if skipped else [], frame_kind(obs)
