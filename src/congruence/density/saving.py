"""Profiles in a file."""

from __future__ import annotations

from dataclasses import asdict, replace

from congruence.density.profile import Attribute, Profile
from congruence.errors import InputError
from congruence.machine.archives import read_archive, write_archive
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
    write_archive(path, arrays, facts)


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
    return read_archive(path, "a profile, as Profile.save writes", _profile)


def _profile(arrays: dict[str, Array], facts: Record) -> Profile:
    levels = []
    for i, level in enumerate(facts["profiles"]):
        counted: Record = {name: arrays[f"{name}{i}"] for name in ("counts", "sizes", "outside")}
        attributes = tuple(_attribute(a) for a in level["attributes"])
        levels.append(Profile(clusters=tuple(level["clusters"]), attributes=attributes, **counted))
    return replace(levels[0], detail=levels[1] if len(levels) > 1 else None)


def _attribute(facts: Record) -> Attribute:
    values = facts["values"]
    return Attribute(**{**facts, "cuts": tuple(facts["cuts"]), "values": None if values is None else tuple(values)})
