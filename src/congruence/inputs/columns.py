"""Label columns of arrays and frames, with their names and weights."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping

import numpy as np

from congruence.errors import Caution, InputError, Option, check_different, some_of, warn
from congruence.inputs.column_kinds import sorted_columns
from congruence.inputs.column_names import DESCRIBE, Annotations, other_references, reference_among
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
        check_different(names, "columns", who)
    given = {str(name): frame[name] for name in names}
    columns, notes = without_ids(Annotations(given) if who == ".obs" else given, who, who != ".obs")
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


def without_ids(
    columns: Mapping[str, ColumnLike], source: str = "the table", is_frame: bool = False
) -> tuple[dict[str, ColumnLike], list[str]]:
    """The label columns, and a note on how the others are used, if any; warns about columns that may be clusterings.

    Args:
        columns: The columns by name.
        source: What warnings call the table. Default "the table".
        is_frame: Whether it is a frame, every column of which was given. Default False.
    """
    found = sorted_columns(columns, source=source)
    measured = {x: found.kinds[x] for x in found.left_out if found.kinds[x].kind == "measurements"}
    whole = [x for x, kind in measured.items() if not kind.is_fractional and not kind.is_named]
    if whole:
        warn(
            f"{source}: {some_of(whole)} {'look' if len(whole) > 1 else 'looks'} like measurements and not like labels "
            f"({measured[whole[0]].why}); convert labels to text"
        )
    rest = {x: word for x, word in found.left_out.items() if x not in whole and word != "ids"}
    if not is_frame:  # a file has measurements beside its labels
        rest = {x: word for x, word in rest.items() if word == DESCRIBE}
    if rest:
        words = [f"{some_of([x for x in rest if rest[x] == word])} ({word})" for word in dict.fromkeys(rest.values())]
        how = "to count a column as a clustering, pass a mapping of columns"
        warn(f"{source}: left out: {', '.join(words)}; {how}, as in {{{next(iter(rest))!r}: …}}")
    return found.taken, [] if found.is_plain else [found.line]


def without_reference(
    columns: list[tuple[str, ColumnLike]],
) -> tuple[list[tuple[str, ColumnLike]], tuple[str, ColumnLike] | None, list[Caution]]:
    """The columns of a table without the one named like a reference, if there are others; that one, and a note.

    Args:
        columns: The label columns of a table by name.

    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):
    ...     rest, reference, notes = without_reference([("x", [0, 1]), ("y", [0, 0]), ("truth", [1, 1])])
    >>> [name for name, _ in rest], reference, notes[0].code
    (['x', 'y'], ('truth', [1, 1]), 'reference')
    """
    names = [name for name, _ in columns]
    name = reference_among(names) if len(names) > 2 else None
    if name is None:
        return columns, None, []
    others = other_references(names, name)
    rest = [(x, column) for x, column in columns if x != name and x not in others]
    notes = [Caution("reference", name, f"{name!r} is the reference, by its name, and not a member")]
    if others:
        notes.append(Caution("left_out", "", f"further references, which are left out: {some_of(others)}"))
    warn(f"column {'; '.join(notes)}; to count it as a clustering, pass a mapping of columns, as in {{{name!r}: …}}")
    return rest, (name, dict(columns)[name]), notes
