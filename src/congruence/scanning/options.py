"""Options of a scan, given where scanned columns are compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import TypeVar, cast

from congruence.errors import Call, InputError, Option
from congruence.inputs.coerce import counted_there
from congruence.inputs.ensemble import Ensemble
from congruence.inputs.similarity import Similarity, is_dask_array
from congruence.scanning.columns import Column
from congruence.scanning.scan import Scan, scan
from congruence.scanning.sources import is_dask_frame
from congruence.typing import ColumnLike, Frame, OptionValue

T = TypeVar("T")
M = TypeVar("M")


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
    return cast("T", _with_options(data, options))


def _with_options(data: object, options: Mapping[str, OptionValue]) -> object:
    data = scan(data) if is_dask_frame(data) else counted_there(data)
    if isinstance(data, Scan):
        return data.with_options(**options)
    if _is_scanned(data):
        return _moved([data], options)[0]
    if type(data) is dict and any(map(_is_scanned, data.values())):
        return dict(zip(data, _moved(list(data.values()), options), strict=True))
    if isinstance(data, list | tuple) and any(map(_is_scanned, data)):
        return _moved(data, options)
    arrays = [x for x in data if isinstance(x, Similarity) and is_dask_array(x.matrix)] if type(data) is list else []
    for x in arrays:
        x.client = options.get("client")
    options = {**options, "client": None} if arrays else options
    given = [key for key, value in options.items() if value is not None and value is not False]
    if given:
        raise InputError(
            f"{Option(given[0], ...)} needs scanned columns: pass columns of {Call('cg.scan(…)')}; labels in memory "
            "are counted here, in threads"
        )
    return data


def _is_scanned(x: object) -> bool:
    """Whether it is a column of a scan, or an ensemble of such columns."""
    column = x.members[0] if isinstance(x, Ensemble) else x
    return isinstance(column, Column) and isinstance(column.source, Scan)


def _moved(data: Sequence[object], options: Mapping[str, OptionValue]) -> list[object]:
    """The input with its scanned columns replaced by those with these options."""

    def moved(x: M) -> M:
        if (
            not isinstance(x, Column | Ensemble)
            or not _is_scanned(x)
            or not any(value is not None for value in options.values())
        ):
            return x
        if isinstance(x, Column):
            other = cast("Scan", x.source).with_options(**options)
            return cast("M", replace(x, source=other))
        ensemble = copy(x)
        ensemble.members = tuple(moved(member) for member in x.members)
        return ensemble

    return [moved(x) for x in data]
