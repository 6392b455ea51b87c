"""Clusterings of every kind."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import congruence as cg

NUMBERS = [2, 0, 0, 5, 2, 2, 0, 5, 1, 1, 7, 7]
WORDS = [f"c{x}" for x in NUMBERS]
OTHER = [1, 1, 2, 2, 3, 1, 1, 3, 3, 2, 1, 4]
#: memberships of six points
U = np.array([[0.5, 0.5], [1.0, 0.0], [0.0, 1.0], [0.25, 0.75], [1.0, 0.0], [0.0, 1.0]])
SIX = [0, 0, 1, 1, 2, 2]


class OverDLPack:
    """An array of an unknown library that supports only DLPack."""

    def __init__(self, values: Any) -> None:
        self._values = np.asarray(values)

    def __dlpack__(self, **options: Any) -> Any:
        return self._values.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self._values.__dlpack_device__()


def read_only(values: Any) -> Any:
    found = np.array(values)
    found.flags.writeable = False
    return found


def objects(values: Any) -> Any:
    found = np.empty(len(values), dtype=object)
    found[:] = values
    return found


def everything(a: Any, b: Any, **options: Any) -> dict[str, float]:
    """Every measure that applies."""
    return cg.compare(a, b, "all", **options).to_dict()


def one_line(error: pytest.ExceptionInfo[BaseException]) -> str:
    message = str(error.value)
    assert "\n" not in message
    return message
