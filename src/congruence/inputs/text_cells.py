"""Cells of csv and tsv files: text that a spreadsheet does not run."""

from __future__ import annotations

from collections.abc import Mapping

from congruence.errors import unused_name
from congruence.inputs.encoding import arrow_library, arrow_texts
from congruence.typing import ColumnLike, Scalar

#: how a formula of a spreadsheet begins, also in full width and after spaces that it ignores
FORMULAS = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def guarded(cell: Scalar) -> Scalar:
    """A csv cell that a spreadsheet does not run as a formula: text that begins with =, +, - or @ is prefixed with '.

    Text that is a number is unchanged.

    >>> guarded("=1+1"), guarded("-1"), guarded(-1), guarded("a")
    ("'=1+1", '-1', -1, 'a')
    """
    if not isinstance(cell, str) or not cell.startswith(FORMULAS):
        return cell
    try:
        float(cell)
    except ValueError:
        return f"'{cell}"
    return cell


def as_text(columns: Mapping[str, ColumnLike], raw: bool) -> tuple[dict[str, ColumnLike], int]:
    """Columns that a text file can hold (no bytes, no lists), and the number of cells that were prefixed."""
    pa = arrow_library()
    kept = (pa.types.is_primitive, pa.types.is_string, pa.types.is_large_string, pa.types.is_null)
    found: dict[str, ColumnLike] = {}
    changed = 0
    for name, values in columns.items():
        cells = values.to_pylist() if hasattr(values, "to_pylist") else list(values)
        if not raw:
            given, called = cells, name
            cells, name = [guarded(x) for x in cells], unused_name(str(guarded(name)), found)
            changed += (name != called) + sum(x is not y for x, y in zip(cells, given, strict=True))
        try:
            column = pa.array(cells)
        except (pa.ArrowException, OverflowError):  # integers above 2⁶³, or of mixed types
            found[name] = arrow_texts(cells)
            continue
        found[name] = column if any(of(column.type) for of in kept) else arrow_texts(cells)
    return found, changed
