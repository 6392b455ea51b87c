"""Which engine counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from congruence.engine import cpu
from congruence.engine.interface import Engine
from congruence.errors import InputError
from congruence.machine import device

#: what "auto" means; None: the GPU if labels are on one, else the CPU
AUTO: str | None = None


def engine_for(engine: str, members: Sequence[Any]) -> Engine:
    """The engine to count with: the requested one; with "auto", the GPU if the members (or data) are there, else the CPU."""
    if engine not in ("auto", "cpu", "cuda"):
        raise InputError(f"engine {engine!r} is not available; use 'cpu', 'cuda' or 'auto' (where the labels are)")
    if engine == "auto":
        engine = AUTO or ("cpu" if all(c.card is None for c in members) else "cuda")
    if engine == "cpu":
        return cpu
    device.cupy()  # raises if something is missing
    from congruence.engine import cuda

    return cuda


def on_card(data: Any, engine: str) -> Any:
    """With engine="cuda", integer arrays copied to the GPU, to be encoded there; other inputs unchanged."""
    if engine != "cuda":
        return data
    device.cupy()
    if isinstance(data, np.ndarray):
        integers = data.dtype.kind in "iu" and data.dtype.isnative and data.ndim in (1, 2) and data.size
        contiguous = data.flags.c_contiguous or data.flags.f_contiguous
        fits = 2 * data.nbytes <= device.free_memory()
        return device.moved(data) if integers and contiguous and fits else data
    return data
