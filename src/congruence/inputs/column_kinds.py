"""What a column of a table is: the one rule for row names and references."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

#: names that say a column names the rows
ID_NAMES = frozenset({"", "id", "index", "unnamed: 0", "rownames", "row", "barcode", "cell", "cell_id"})
#: rows from which whole numbers that are all different are taken for row names: below, every point may be its own cluster
MANY_ROWS = 10


def is_row_name(name: str, column: Any, *, is_data: bool = False) -> bool:
    """Does a column name the rows? Its values are all different, and they are text, whole numbers, or its name says so.

    Args:
        name (str): The name of the column.
        column (Any): A pyarrow column; anything else is never taken for row names.
        is_data (bool): Is it among numbers to cluster? Then whole numbers are row names only if they count the rows.

    Returns:
        bool: Whether the column names the rows.

    >>> import pyarrow as pa
    >>> node = pa.chunked_array([list(range(115))])
    >>> is_row_name("node", node), is_row_name("k", pa.chunked_array([[0, 1] * 50])), is_row_name("x", node, is_data=True)
    (True, False, True)
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if not isinstance(column, pa.ChunkedArray) or len(column) < 2 or column.null_count:
        return False
    text = pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
    whole = pa.types.is_integer(column.type) and len(column) >= MANY_ROWS
    if not (text or whole or name.lower() in ID_NAMES):
        return False
    if whole and is_data and name.lower() not in ID_NAMES:
        ends = pc.min_max(column).as_py()
        if ends["max"] - ends["min"] != len(column) - 1:
            return False
    return len(column.unique()) == len(column)


def reference_among(names: Iterable[str]) -> str | None:
    """The first column whose name says that it is the reference: truth, class, label, reference, or with a number.

    >>> reference_among(["kmeans", "reference0", "reference1"]), reference_among(["Class", "a"]), reference_among(["labels2"])
    ('reference0', 'Class', None)
    """
    said = re.compile(r"(ground[_ ]?truth|truth|class|classes|label|reference)([_ ]?\d+)?", re.IGNORECASE)
    return next((name for name in names if said.fullmatch(name)), None)
