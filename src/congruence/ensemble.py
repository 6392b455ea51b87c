"""Several clusterings of the same points: aligned, named, with one rule for what is unassigned."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from congruence.clustering import (
    Align,
    Clustering,
    Labels,
    Mass,
    Memberships,
    Unassigned,
    aligned,
    as_clustering,
    as_mass,
    noise_caution,
    noise_for,
)
from congruence.frames import frame_kind
from congruence.statistics import InputError


class Ensemble:
    """Aligned, named clusterings of the same points.

    Takes label columns (a 2-D array or a frame), a list of label vectors or of membership matrices, a mapping from
    name to clustering, or any object with an `.obs` frame of label columns.

    >>> import congruence as cg
    >>> e = cg.Ensemble({"first": [0, 0, 1, 1], "second": ["a", "b", "b", "b"]})
    >>> len(e), e.names, e.n_points
    (2, ('first', 'second'), 4)
    >>> e["second"].names
    ('a', 'b')
    """

    def __init__(
        self,
        clusterings: Any,
        *,
        names: Sequence[str] | None = None,
        sample_weight: Any = None,
        frequency: Any = None,
        unassigned: Unassigned = "error",
        noise: Any = None,
        align: Align | None = None,
    ) -> None:
        found, notes, kind = _columns(clusterings)
        if not found:
            raise InputError("there are no clusterings to compare (an empty collection was given)")
        listed = [str(x) for x in names] if names is not None else [name for name, _ in found]
        if len(listed) != len(found):
            raise InputError(f"{len(listed)} names for {len(found)} clusterings")
        who = [_called(name, i) for i, name in enumerate(listed)]
        raw = [as_clustering(data, who[i]) for i, (_, data) in enumerate(found)]
        if names is None:
            listed = [c.title or name if name.isdigit() else name for c, name in zip(raw, listed, strict=True)]
        same_points, left_out = aligned(raw, align, who)
        self.members: tuple[Clustering, ...] = tuple(
            c.with_policy(unassigned, noise_for(noise, (name, w)), w)
            for c, name, w in zip(same_points, listed, who, strict=True)
        )
        self.names: tuple[str, ...] = tuple(listed)
        index = next((c.index for c in same_points if c.index is not None), None)
        self.mass: Mass | None = as_mass(sample_weight, frequency, self.n_points, index, align)
        self.kind = kind or next((c.kind for c in raw if c.kind), None)
        self.notes: tuple[str, ...] = (*notes, *left_out)
        self._check_noise = noise is None

    @property
    def n_points(self) -> int:
        """Number of points."""
        return len(self.members[0])

    @property
    def cautions(self) -> tuple[str, ...]:
        """What a reader of results should know about the members."""
        own = [caution for c in self.members for caution in c.cautions]
        if self._check_noise:
            for c, name in zip(self.members, self.names, strict=True):
                own += noise_caution(c.names, name) if isinstance(c, Labels) else []
        return tuple(own)

    @property
    def is_soft(self) -> bool:
        """Is any member given by memberships?"""
        return any(c.soft for c in self.members)

    def __len__(self) -> int:
        return len(self.members)

    def __getitem__(self, which: int | str) -> Clustering:
        return self.members[self.names.index(which) if isinstance(which, str) else which]

    def __iter__(self) -> Iterator[Clustering]:
        return iter(self.members)

    def __repr__(self) -> str:
        sizes = sorted({c.k for c in self.members})
        clusters = f"{sizes[0]}" if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}"
        return f"Ensemble: {len(self)} clusterings of {self.n_points} points, {clusters} clusters each"


def _called(name: str, i: int) -> str:
    return f"clustering {name}" if name.isdigit() else name


def _columns(data: Any) -> tuple[list[tuple[str, Any]], list[str], str | None]:
    """(name, clustering) of each member, notes, and the kind of frame they came in."""
    if isinstance(data, Ensemble):
        return list(zip(data.names, data.members, strict=True)), list(data.notes), data.kind
    if hasattr(data, "obs") and hasattr(data.obs, "columns"):
        return _label_columns(data.obs)
    if isinstance(data, Mapping):
        return [(str(name), column) for name, column in data.items()], [], None
    kind = frame_kind(data)
    if kind is not None and hasattr(data, "columns"):
        names = list(data.column_names) if kind == "pyarrow" else list(data.columns)
        if len(set(names)) < len(names):
            twice = next(x for x in names if names.count(x) > 1)
            raise InputError(f"the frame has two columns named {twice!r}; give them different names")
        return [(str(name), data[name]) for name in names], [], kind
    if isinstance(data, Labels | Memberships) or kind is not None:
        return [("0", data)], [], kind
    if isinstance(data, list | tuple):
        if data and not any(hasattr(x, "__len__") for x in data):
            raise InputError(
                f"expected several clusterings, got one flat list of {len(data)} labels; pass a list of label vectors, "
                "a 2-D array of label columns, a frame or a mapping"
            )
        return [(str(i), column) for i, column in enumerate(data)], [], None
    if not isinstance(data, np.ndarray) and hasattr(data, "__dlpack__"):
        from congruence.clustering import _from_dlpack

        data = _from_dlpack(data)
    if isinstance(data, np.ndarray):
        if data.ndim != 2:
            raise InputError(
                f"expected several clusterings as a 2-D array, one column each; got a {data.ndim}-D array of shape {data.shape}"
            )
        return [(str(j), data[:, j]) for j in range(data.shape[1])], [], None
    raise InputError(
        f"expected several clusterings (a 2-D array, a frame, a list or a mapping), got {type(data).__name__}"
    )


def _label_columns(obs: Any) -> tuple[list[tuple[str, Any]], list[str], str | None]:
    """The columns of an `.obs` frame that look like labels: categories, strings, booleans; not one value a point."""
    chosen, skipped = [], []
    for name in obs.columns:
        column = obs[name]
        kind = getattr(column.dtype, "kind", "O")
        label_like = kind in "Ob" or not isinstance(column.dtype, np.dtype)
        if label_like and getattr(column.dtype, "kind", "O") not in "iufmMc" and column.nunique() < len(column):
            chosen.append((str(name), column))
        else:
            skipped.append(str(name))
    if not chosen:
        raise InputError(
            f"none of the columns of .obs looks like labels ({', '.join(skipped[:5])}); pass the columns, as in "
            "x.obs[['leiden', 'louvain']]"
        )
    notes = [f"columns of .obs that do not look like labels were left out: {', '.join(skipped)}"] if skipped else []
    return chosen, notes, frame_kind(obs)
