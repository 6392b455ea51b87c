"""Which annotations of the points of an AnnData object are clusterings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from congruence.inputs.column_names import DESCRIBING_NAMES, LABEL_NAMES, reference_among
from congruence.typing import ColumnLike

if TYPE_CHECKING:
    from congruence.inputs.column_kinds import ColumnKind

#: why a column of annotations is left out
DESCRIBE = "describe the points"


class Annotations(dict[str, ColumnLike]):
    """The columns of the `.obs` of an AnnData object: some are clusterings, others describe the points."""


def describing_columns(kinds: Mapping[str, ColumnKind], reference: str | None = None) -> dict[str, str]:
    """The label columns of annotations that describe the points (batch, donor, sex) and are no clusterings, and the reason.

    A name such as batch, one value for all points, or floats under a name of another kind say that a column is none. Among the
    others, those named like clusterings and those whose labels are numbers are clusterings; texts are, if no column is named
    like a clustering.

    Args:
        kinds: The kinds of the columns by name.
        reference: A column that was named as the reference. Default None.

    >>> import numpy as np
    >>> from congruence.inputs.column_kinds import kind_of_column
    >>> obs = {"leiden": list("0011"), "run_a": list("0112"), "sex": list("FFMM"), "mood": list("aabb")}
    >>> describing_columns({name: kind_of_column(name, np.array(column)) for name, column in obs.items()})
    {'sex': 'describes the points, by its name', 'mood': 'describes the points: its labels are not numbers'}
    """
    labels = {
        x: kind for x, kind in kinds.items() if kind.kind == "labels" and x != reference and not reference_among([x])
    }
    found: dict[str, str] = {}
    for name, kind in labels.items():
        if DESCRIBING_NAMES.fullmatch(name.strip()):
            found[name] = "describes the points, by its name"
        elif kind.is_flag and not LABEL_NAMES.fullmatch(name.strip()):
            found[name] = f"describes the points: {kind.why}"
        elif kind.is_float and not LABEL_NAMES.fullmatch(name.strip()):
            found[name] = f"describes the points: floats, and no name of a clustering ({kind.why})"
    rest = [name for name in labels if name not in found]
    named = [name for name in rest if LABEL_NAMES.fullmatch(name.strip())]
    if named:
        words = "describes the points: its labels are not numbers"
        others = [name for name in rest if name not in named]
        found |= {name: words for name in others if not labels[name].is_number and not labels[name].is_codes}
    return found if rest else {}
