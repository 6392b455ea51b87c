"""Vectors of integers without options: one measure of two from one count of sums, or of one with many, counted in place."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from congruence.engine import plan
from congruence.engine.cpu import OF_SUMS, sums_of
from congruence.errors import Caution
from congruence.formulas.record import Measure
from congruence.inputs.coerce import whole_numbers_of
from congruence.inputs.labels import noise_caution
from congruence.inputs.vectors import vector_of
from congruence.statistics.pairs import Sums
from congruence.statistics.tables import Array
from congruence.typing import ClusteringLike, DeviceArray


def value_at_once(measure: Measure, a: ClusteringLike, b: ClusteringLike) -> float | None:
    """The measure of two vectors of labels, with the same bits as `compare`; None if `compare` has to read them."""
    if measure.needs not in OF_SUMS or plan.AUTO is not None:
        return None
    (x, of_x), (y, of_y) = vector_of(a), vector_of(b)
    if x is None or y is None or not 1 < len(x) == len(y) or not (of_x is None or of_y is None or of_x.equals(of_y)):
        return None
    on_host = [isinstance(v, np.ndarray) for v in (x, y)]
    if any(on_host) and not all(on_host):
        return None
    sums = (sums_of if on_host[0] else _sums_on_card)(x, y, OF_SUMS[measure.needs])
    return None if sums is None else measure.value(measure.needs.of_sums(sums))  # type: ignore[attr-defined]


def _sums_on_card(a: DeviceArray, b: DeviceArray, entropies: bool) -> Sums | None:
    from congruence.engine.cuda.vectors import sums_of

    return sums_of(a, b, entropies)


#: containers of clusterings that may all be vectors of integers
Several = dict[str, ClusteringLike] | list[ClusteringLike] | tuple[ClusteringLike, ...] | Array

#: most points, and most labels of all vectors, that are counted in place
ROW, ROWS = 1 << 12, 1 << 22

#: types of integers that fit in int64, in the order of bytes of this machine
INTEGERS = frozenset(np.dtype(kind) for kind in "bhilqBHIL" if np.dtype(kind) != np.uint64)


@dataclass(frozen=True)
class IntegerVectors:
    """A reference and the clusterings compared with it, in this order, as vectors of integers."""

    names: list[str]
    values: list[Array]

    def cautions(self, low: Array) -> tuple[Caution, ...]:
        """Cautions about −1 among other labels, from the lowest label of each."""
        places = np.flatnonzero(low == -1).tolist()
        return tuple(x for i in places for x in noise_caution(np.unique(self.values[i]), self.names[i]))


def integer_vectors(reference: ClusteringLike, clusterings: Several) -> IntegerVectors | None:
    """A reference and several clusterings that are integers of few points; None if `Ensemble` has to read them."""
    if plan.AUTO is not None:
        return None
    title, given = "reference", _listed(clusterings)
    if isinstance(reference, str) and reference in given:
        title, reference = reference, given.pop(reference)
    is_array = isinstance(reference, np.ndarray) and reference.ndim == 1
    n = len(reference) if is_array or isinstance(reference, list | tuple) else 0  # type: ignore[arg-type]
    if len(given) < 2 or not 1 < n <= ROW or n * len(given) >= ROWS:
        return None
    values: list[Array] = []
    for x in (reference, *given.values()):
        vector = x if type(x) is np.ndarray else whole_numbers_of(x) if isinstance(x, list | tuple) else None
        if vector is None or vector.shape != (n,) or vector.dtype not in INTEGERS:
            return None
        values.append(vector)
    return IntegerVectors([title, *given], values)


def _listed(clusterings: Several) -> dict[str, ClusteringLike]:
    """Clusterings by name, if they are a dictionary of texts, a list, or columns of few points; else none."""
    if type(clusterings) is dict:
        return dict(clusterings) if all(isinstance(x, str) for x in clusterings) else {}
    if type(clusterings) is np.ndarray:
        clusterings = list(clusterings.T) if clusterings.ndim == 2 and len(clusterings) <= ROW else []
    return {str(i): x for i, x in enumerate(clusterings)}
