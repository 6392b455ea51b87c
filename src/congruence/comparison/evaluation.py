"""The requested measures, and their values for tiles of statistics."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from congruence.errors import InputError, NotApplicable
from congruence.formulas import current_measures, find
from congruence.formulas.record import Measure
from congruence.statistics.tables import Array, Table, Tables

#: default measures for covers
DEFAULT_OF_COVERS = ("omega", "onmi_max", "average_f1", "bcubed_f", "element_centric")

#: default measures for covers and memberships
BESIDE_MEMBERSHIPS = ("aci", "ndc")

#: default measures
DEFAULT = ("ari", "ami_max", "nmi_sum", "vi", "jaccard", "accuracy", "element_centric")

Measures = str | Measure | Iterable[str | Measure] | None


def chosen_measures(measures: Measures, default: Sequence[str] = DEFAULT) -> tuple[list[Measure], bool]:
    """The requested measures, and whether they were named (then one that does not apply is an error)."""
    if measures is None:
        return [find(key) for key in default], False
    if isinstance(measures, str) and measures == "all":
        return list(current_measures()), False
    if not isinstance(measures, str | Measure | Iterable):
        raise InputError(f"measures must be keys, as in ['ari', 'vi'], or 'all'; got {measures!r}")
    listed = [measures] if isinstance(measures, str | Measure) else list(measures)
    if not listed:
        raise InputError("no measures were named; leave `measures` out for the usual ones, or pass 'all'")
    chosen: dict[str, Measure] = {}
    for m in (find(x) for x in listed):
        if chosen.setdefault(m.key, m).parameters != m.parameters:
            raise InputError(f"{m.key} is named twice with different parameters; compare once with each")
    return list(chosen.values()), True


class Evaluation:
    """Applies measures to tiles of statistics; one that does not apply is left out, or is an error if it was named."""

    def __init__(self, measures: Measures, *, soft: bool, weighted: bool, covers: bool) -> None:
        default = DEFAULT if not covers else DEFAULT_OF_COVERS if not soft else BESIDE_MEMBERSHIPS
        chosen, self.strict = chosen_measures(measures, default)
        self.skipped: dict[str, str] = {}
        self.measures: dict[str, Measure] = {}
        for m in chosen:
            try:
                m.check(soft=soft, weighted=weighted, covers=covers)
            except NotApplicable as reason:
                self._leave_out(m, reason)
            else:
                self.measures[m.key] = m

    def _leave_out(self, m: Measure, reason: NotApplicable) -> None:
        if self.strict:
            raise reason
        self.skipped[m.key] = str(reason)
        self.measures.pop(m.key, None)

    @property
    def needs(self) -> set[type]:
        """The statistics that these measures read."""
        return {m.needs for m in self.measures.values()}

    def values(self, statistics: dict[type, Any], n_used: Array, swapped: bool = False) -> dict[str, Array]:
        """Each measure for every pair of a tile; NaN if no points are left to compare."""
        found = {}
        turned: dict[type, Any] = {}
        for m in list(self.measures.values()):
            if swapped and m.is_symmetric:
                continue
            kind = Tables if m.needs is Table else m.needs
            if swapped and kind not in turned:
                turned[kind] = statistics[kind].swapped()
            try:
                values = m.values((turned if swapped else statistics)[kind])
            except NotApplicable as reason:
                self._leave_out(m, reason)
            else:
                found[m.key] = np.where(n_used > 0, values, np.nan)
        return found
