"""Profiles in a file: arrays in .npz, without pickles."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np

from congruence.density.profile import Attribute, Profile
from congruence.errors import InputError
from congruence.machine.writing import replacing
from congruence.statistics.tables import Array
from congruence.typing import PathLike, Record

FORMAT = 1


def save_profile(p: Profile, path: PathLike) -> None:
    """Write a profile to a file that `load_profile` reads."""
    levels = [p] if p.detail is None else [p, p.detail]
    arrays: dict[str, Array] = {}
    facts: Record = {"format": FORMAT, "profiles": []}
    for i, level in enumerate(levels):
        arrays |= {f"{name}{i}": getattr(level, name) for name in ("counts", "sizes", "outside")}
        if any(a.pair is not None for a in level.attributes):
            raise InputError("profiles of pairs of attributes cannot be saved; save the one of single attributes")
        facts["profiles"].append(
            {"clusters": list(level.clusters), "attributes": [asdict(replace(a, pair=None)) for a in level.attributes]}
        )
    try:
        text = json.dumps(facts, default=_not_plain)
    except TypeError as error:
        raise InputError(str(error)) from None
    arrays["facts"] = np.frombuffer(text.encode(), dtype=np.uint8)
    with replacing(Path(path)) as file:
        np.savez_compressed(file, **arrays)  # type: ignore[arg-type]


def _not_plain(value: object) -> object:
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"names of clusters and values must be texts or numbers to be saved; got {type(value).__name__}")


def load_profile(path: PathLike) -> Profile:
    """The profile in a file that `Profile.save` wrote.

    Args:
        path: The file.

    Returns:
        A `Profile` with the same bins, clusters and counts.

    Raises:
        InputError: If there is no such file, or it holds no profile.

    See also:
        `cg.density_profile`, `cg.drift`.

    >>> import congruence as cg, tempfile, pathlib
    >>> p = cg.density_profile([[0.0], [1.0], [9.0], [10.0]], ["x", "x", "y", "y"], cg.Binning(bins=2))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "p.npz"
    ...     p.save(path)
    ...     cg.load_profile(path).counts.tolist()
    [[2, 0], [0, 2]]
    """
    try:
        with np.load(Path(path), allow_pickle=False) as found:
            arrays = {name: found[name] for name in found.files}
        facts = json.loads(arrays["facts"].tobytes())
        levels = [
            Profile(
                clusters=tuple(level["clusters"]), attributes=tuple(_attribute(a) for a in level["attributes"]),
                **{name: arrays[f"{name}{i}"] for name in ("counts", "sizes", "outside")},
            )
            for i, level in enumerate(facts["profiles"])
        ]  # fmt: skip
        return replace(levels[0], detail=levels[1] if len(levels) > 1 else None)
    except FileNotFoundError:
        raise InputError(f"there is no file {path}") from None
    except (OSError, ValueError, KeyError, TypeError, IndexError, EOFError) as error:
        raise InputError(f"{path} is not a file of a profile, as Profile.save writes: {error}") from None


def _attribute(facts: Record) -> Attribute:
    values = facts["values"]
    return Attribute(**{**facts, "cuts": tuple(facts["cuts"]), "values": None if values is None else tuple(values)})
