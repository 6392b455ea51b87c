"""What kind of array or frame was given, and its values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from congruence.errors import InputError
from congruence.inputs.frames import frame_kind
from congruence.machine import device
from congruence.statistics.tables import Array

# --- accepted inputs --------------------------------------------------------------------------------------------


def from_dlpack(data: Any) -> Array:
    """A numpy view of an array that supports DLPack (a copy if it is on another device)."""
    if device.is_on_card(data):
        return np.asarray(device.array(data).get())
    try:
        return np.from_dlpack(data)
    except (RuntimeError, BufferError, TypeError, ValueError):
        pass
    try:  # on another device: ask for a copy on the host
        return np.from_dlpack(data, device="cpu", copy=True)
    except (RuntimeError, BufferError, TypeError, ValueError, AttributeError) as error:
        raise InputError(
            f"a {type(data).__module__}.{type(data).__name__} could not be read through DLPack ({error}); pass it as a "
            "numpy array on the host"
        ) from None


def is_frame(data: Any) -> bool:
    """Is it a data frame of pandas, polars or arrow?"""
    return hasattr(data, "columns") and frame_kind(data) is not None


def is_sparse(data: Any) -> bool:
    """Is it a sparse matrix of scipy?"""
    return hasattr(data, "tocsr") and hasattr(data, "nnz")


def unwrap_2d(data: Any) -> tuple[Any, Any, str | None, str | None, Sequence[Any] | None]:
    """(matrix, index, name, frame kind, column names) of a 2-D input."""
    if is_frame(data):
        kind = frame_kind(data)
        names = list(data.column_names) if kind == "pyarrow" else list(data.columns)
        if kind == "pyarrow":
            matrix = np.column_stack([c.to_numpy() for c in data.columns]) if names else np.empty((0, 0))
        else:
            matrix = data.to_numpy()
        return matrix, getattr(data, "index", None), None, kind, names
    if is_sparse(data):
        return data, None, None, None, None
    if not isinstance(data, np.ndarray) and hasattr(data, "__dlpack__"):
        data = from_dlpack(data)
    try:
        return np.asarray(data), None, None, None, None
    except ValueError:
        raise InputError(
            "a list of lists of different lengths is not a matrix; give every row as many numbers"
        ) from None


def generator_of(random_state: Any) -> np.random.Generator:
    """A random generator from a seed, a sequence of seeds, a generator or None."""
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise InputError(
            f"random_state must be a whole number from 0 up or a generator; got {random_state!r}"
        ) from None
