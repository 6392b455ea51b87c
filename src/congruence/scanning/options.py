"""Options of a scan, given where scanned columns are compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import TypeVar, cast

from congruence.errors import Call, InputError, Option
from congruence.inputs.coerce import counted_there
from congruence.inputs.ensemble import Ensemble
from congruence.inputs.similarity import Similarity
from congruence.scanning.columns import Column
from congruence.scanning.scan import Scan, scan
from congruence.scanning.sources import is_dask_frame
from congruence.typing import ColumnLike, Frame, OptionValue

T = TypeVar("T")


def columns_of_frames(*series: object) -> tuple[ColumnLike, ...]:
    """Dask series of one frame as columns of one scan, computed if others are in memory; other inputs unchanged."""
    dask: list[Frame] = [x for x in series if is_dask_frame(x, 1)]
    if not dask:
        return series
    from dask import dataframe

    named: dict[int, Frame] = {i: x for i, x in enumerate(series) if x is not None}
    if len(dask) < len(named):
        return tuple(named[i].compute() if is_dask_frame(x, 1) else x for i, x in enumerate(series))
    if len({x.npartitions for x in dask}) > 1:
        raise InputError(
            "Dask series can be compared only with Dask series of the same partitions; put them in one frame first"
        )
    together = dataframe.concat([x.to_frame(name=f"{i}") for i, x in named.items()], axis=1)
    made = scan(together)
    return tuple(None if x is None else made[f"{i}"] for i, x in enumerate(series))


def scan_options(data: T, options: Mapping[str, OptionValue]) -> T:
    """The same inputs, scanned ones with these options; options without scanned inputs are an error."""
    whole: object = scan(data) if is_dask_frame(data) else counted_there(data)
    many = whole.values() if type(whole) is dict else whole if isinstance(whole, list | tuple) else [whole]
    moved = [_moved(x, options) for x in many]
    if all(x is None for x in moved):
        _refuse(list(many), options)
        return cast("T", whole)
    found = [x if other is None else other for x, other in zip(many, moved, strict=True)]
    if type(whole) is dict:
        return cast("T", dict(zip(whole, found, strict=True)))
    return cast("T", found if isinstance(whole, list | tuple) else found[0])


def _moved(x: object, options: Mapping[str, OptionValue]) -> object:
    """A scan, a column of one, or an ensemble of such columns, with these options; None for anything else."""
    if isinstance(x, Scan):
        return x.with_options(**options)
    if isinstance(x, Column) and isinstance(x.source, Scan):
        return replace(x, source=x.source.with_options(**options))
    if isinstance(x, Ensemble) and (members := [_moved(member, options) for member in x.members])[0] is not None:
        ensemble = copy(x)
        ensemble.members = tuple(cast("list[Column]", members))
        return ensemble
    return None


def _refuse(several: Sequence[object], options: Mapping[str, OptionValue]) -> None:
    """Refuse options of a scan for inputs in memory, except the client of Dask arrays, which they keep."""
    arrays = [x for x in several if isinstance(x, Similarity) and x.form == "blocks"]
    for x in arrays:
        x.client = options.get("client")
    given = [key for key, x in options.items() if x is not None and x is not False and not (arrays and key == "client")]
    if given:
        raise InputError(
            f"{Option(given[0], ...)} needs scanned columns: pass columns of {Call('cg.scan(…)')}; labels in memory "
            "are counted here, in threads"
        )
