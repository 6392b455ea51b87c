"""The memory limit of a scan, and the memory that the labels and tables of one pass take, in all threads."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from congruence.errors import InputError, Option
from congruence.machine.memory import trim, used
from congruence.statistics.tables import Array

if TYPE_CHECKING:
    from congruence.scanning.tables import PartialTables

#: bytes of labels that one thread reads at a time, and most rows
BATCH, MOST_ROWS = 40 << 20, 1 << 18

#: bytes of labels, empty tables and results that are not counted against the limit
FREE = 1 << 21

#: share of the memory for the rows that are read; the rest is for labels and tables
READING = 0.25

#: bytes of the buffers of readers; pyarrow reads some tens of blocks of a text file ahead
AHEAD, AHEAD_OF_TEXT = 12e6, 20e6

#: least memory to scan files that are larger than the second number: libraries take some tens of MB to read them
LEAST, SMALL = 100e6, 20e6

#: bytes per cell of the tables while their statistics are computed, and cells of the pairs computed together
PER_CELL, TILE = 130, 1 << 18

#: bytes of a new label of usual length, with its entries and copies while it is read
NEW_LABEL = 300

#: bytes of an empty table
PER_TABLE = 500

#: bytes of labels, with their copies when names are sorted and a dictionary grows, as a multiple of those of the labels
COPIES = 1.5


def bytes_of(memory: str | float) -> float:
    """Bytes of "2GB", "500 MB", "1.5GiB", or a number of bytes.

    >>> bytes_of("1.5kB"), bytes_of("1MiB"), bytes_of(10)
    (1500.0, 1048576.0, 10.0)
    """
    if isinstance(memory, str):
        found = re.fullmatch(r"\s*([0-9.]+)\s*([kmgt]?)(i?)b?\s*", memory.lower())
        try:
            value = float(found[1]) if found else -1.0
        except ValueError:
            value = -1.0
        size: float = value * (1024 if found and found[3] else 1000) ** " kmgt".index(
            (found[2] if found else "") or " "
        )
    else:
        size = float(memory)
    if not size > 0:
        raise InputError(f"memory must be a size, as in '2GB' or '500MB'; got {memory!r}")
    return size


def check_least(memory: float, files: float, text: str) -> None:
    """Raise if this is too little memory to read files of this size."""
    if memory < LEAST and files > SMALL:
        raise InputError(
            f"{Option('memory', f'{memory / 1e6:.0f}MB')} is too little to scan {text}, {files / 1e6:.0f} MB in files; "
            f"use at least {Option('memory', f'{LEAST / 1e6:.0f}MB')}"
        )


def for_tables(memory: float, kept: float, text: bool, stored: bool) -> float:
    """Bytes for the labels and tables of one pass, after those for reading and those kept from earlier passes."""
    ahead = min(AHEAD_OF_TEXT, 0.4 * memory) if text else min(AHEAD, memory / 8)
    most = (1 - READING) * memory - ahead - max(0.0, kept - FREE)
    return max(most / 2 if stored else most, min(memory, 1e6))  # parts are bytes before they are stored


def rows_of_batch(per_row: Sequence[float], memory: float, workers: int) -> int:
    """Rows that one thread reads at a time: each thread has one batch, another waits, and each is copied once.

    >>> rows_of_batch([8.0] * 20, 1e9, 2), rows_of_batch([8.0] * 20, 1e8, 2)
    (260416, 26041)
    """
    most = BATCH / (8 * max(len(per_row), 1))
    rows = min(most, READING * memory / (3 * workers * max(1.0, sum(per_row))), MOST_ROWS)
    return int(max(rows, min(1 << 12, most)))


class Overfull(Exception):
    """The labels and tables of a pass exceed their memory; holds the numbers of labels found so far, and of rows."""

    def __init__(self, widths: Array, size: float, rows: int) -> None:
        super().__init__(widths, size, rows)  # as pickle makes it again
        self.widths, self.size, self.rows = widths, size, rows


class Room:
    """The memory that labels and tables of one pass take, and its limit; shared by the threads of a process."""

    def __init__(self, limit: float) -> None:
        self.limit = limit
        #: rows counted so far
        self.rows = 0
        #: memory of the process above which what allocators hold unused is given back
        self._full = used() + limit
        self._held: dict[object, tuple[float, float]] = {}

    def hold(self, what: object, cells: float, other: float) -> None:
        """Record the bytes of the cells of an object, and its other bytes; of the latter, the first FREE do not count."""
        self._held[what] = cells, other

    def drop(self, what: object) -> None:
        """Record that an object was released."""
        self._held.pop(what, None)

    def tidy(self) -> None:
        """Give back what allocators hold unused, if the process grew by more than the limit, and more since the last time."""
        if used() > self._full:
            trim()
            self._full = max(self._full, used() + self.limit / 10)

    @property
    def size(self) -> float:
        """Bytes of all recorded objects that count."""
        held = list(self._held.values())
        return sum(cells for cells, _ in held) + max(0.0, sum(other for _, other in held) - FREE)

    @property
    def free(self) -> float:
        """Bytes that cells may still take."""
        return self.limit - self.size

    @property
    def free_for_labels(self) -> float:
        """Bytes that labels may still take."""
        return self.free + max(0.0, FREE - sum(other for _, other in list(self._held.values())))


def size_of(part: PartialTables) -> float:
    """Approximate bytes of the cells and labels of a part."""
    return float(part.nbytes + 100 * sum(map(len, part.labels)))


def all_different(name: str, labels: int, rows: int, memory: float, text: str) -> InputError:
    """The error for a column of ids that was read as a clustering."""
    said = (
        f"column {name!r} of {text} looks like ids, not clusters: {labels:,} different labels in the first {rows:,} rows, "
        f"which take more than {memory / 1e6:.0f} MB"
    )
    return InputError(
        f"{said}; leave it out with {Option('id', name)} or {Option('columns', ...)}, or allow more {Option('memory')}"
    )


def too_large(names: Sequence[str], over: Overfull, memory: float, once: bool) -> InputError:
    """The error for tables of these columns that do not fit in the memory, or not in one pass if rows are read once."""
    pair = " and ".join(repr(name) for name in names[:2])
    what = f"the table of {pair} takes" if len(names) <= 2 else f"the tables of {len(names)} columns take"
    more = "; an iterator can be read only once, so pass a function that creates it" if once else ""
    labels = f"{int(over.widths.max(initial=1)) - 1:,} labels in the first {over.rows:,} rows"
    far = f"at least {over.size / 1e6:.0f} MB, with {labels}, in addition to the rows that are read"
    return InputError(
        f"{what} more than {memory / 1e6:.0f} MB; allow more {Option('memory')}, fewer {Option('columns')} or fewer "
        f"{Option('threads')}{more} ({far})"
    )
