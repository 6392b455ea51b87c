"""Statistics of two clusterings, which can be swapped: fields of one side end in _a, _aa or _uu, those of the other in _b, …"""

from __future__ import annotations

from dataclasses import fields, replace
from functools import cache
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from _typeshed import DataclassInstance as Sides
else:
    Sides = object

#: the last word of a field, and of the same field of the other side
OTHER = {"a": "b", "b": "a", "aa": "bb", "bb": "aa", "uu": "vv", "vv": "uu"}


@cache
def _turned(kind: type[TwoSided]) -> dict[str, str]:
    """Each field of one side, and the same field of the other; empty if the statistic is symmetric."""
    ends = {f.name: f.name.rpartition("_") for f in fields(kind)}
    return {name: f"{stem}_{OTHER[end]}" for name, (stem, _, end) in ends.items() if stem and end in OTHER}


class TwoSided(Sides):
    """A statistic of two clusterings, which can be swapped."""

    def swapped(self) -> Self:
        """The same with the two sides swapped; itself if it is symmetric."""
        turned = _turned(type(self))
        return replace(self, **{name: getattr(self, other) for name, other in turned.items()}) if turned else self
