"""Results in a file: arrays and plain facts in .npz, without pickles."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

import numpy as np

from congruence.errors import InputError
from congruence.machine.writing import replacing
from congruence.typing import DeviceArray, PathLike, Record

T = TypeVar("T")


def write_archive(path: PathLike, arrays: Mapping[str, DeviceArray], facts: Record) -> None:
    """Write arrays, and facts as JSON; an InputError for names that are neither texts nor numbers."""
    try:
        text = json.dumps(facts, default=_plain)
    except TypeError as error:
        raise InputError(str(error)) from None
    with replacing(Path(path)) as file:
        np.savez_compressed(file, **arrays, facts=np.frombuffer(text.encode(), dtype=np.uint8))


def _plain(value: object) -> object:
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"names of clusters and values must be texts or numbers to be saved; got {type(value).__name__}")


def read_archive(path: PathLike, what: str, made_of: Callable[[dict[str, DeviceArray], Record], T]) -> T:
    """What is made of the arrays and facts of a file; an InputError if it is not such a file."""
    try:
        with np.load(Path(path), allow_pickle=False) as found:
            arrays = {name: found[name] for name in found.files}
        return made_of(arrays, json.loads(arrays["facts"].tobytes()))
    except FileNotFoundError:
        raise InputError(f"there is no file {path}") from None
    except (OSError, ValueError, KeyError, TypeError, IndexError, EOFError) as error:
        raise InputError(f"{path} is not a file of {what}: {error}") from None
