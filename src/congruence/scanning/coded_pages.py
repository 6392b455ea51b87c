"""Columns of a Parquet row group that are stored as codes of a dictionary, read as these codes.

pyarrow looks up the label of each code, and the labels then have to become codes again; reading only the codes takes a
fraction of the time. This is done for flat columns of integers and texts with few labels, with the footer that pyarrow
has read. A column or page that is stored in another way, or looks damaged, is left to pyarrow.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from io import FileIO
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from congruence.inputs.encoding import arrow_library
from congruence.machine import jit
from congruence.scanning.page_kernels import (
    CHECKSUM,
    COMPRESSED,
    DICTIONARY,
    KIND,
    LACKING,
    LEFT,
    LEVELS,
    MET,
    OTHER,
    PAGE,
    PAGE_COLUMNS,
    SIZE,
    START,
    STATE,
    STORED,
    VALUES,
    decoded,
    headers,
    unpack_pages,
)
from congruence.statistics.tables import Array

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

#: most labels of a dictionary of integers, and of texts, which are split in Python
MOST_LABELS, MOST_TEXTS = 1 << 16, 1 << 12

#: most bytes per row of a column of codes, with its dictionary
PER_ROW = 2.5

#: bytes of pages that are read, and decompressed, together; one page may have more
READ, DECOMPRESSED = 1 << 17, 1 << 19

#: bytes that are read for the page of labels; one page may have more
DICTIONARY_READ = 1 << 12

#: most pages in one reading
PAGES = 256

#: compressions that pyarrow undoes page by page; it has two kinds of LZ4 under one name
CODECS = ("UNCOMPRESSED", "SNAPPY", "GZIP", "BROTLI", "ZSTD")


#: what a footer says about a flat column, in one row group and in all
Chunk: TypeAlias = "tuple[pq.ColumnChunkMetaData, pq.ColumnSchema]"


class NotCoded(Exception):
    """A column that is not stored as codes, or not in a way that is known here."""


@contextmanager
def coded_columns(
    path: str, chunks: Mapping[str, Chunk], rows: int, types: Mapping[str, pa.DataType]
) -> Iterator[dict[str, CodedColumn]]:
    """The columns of a row group that are stored as codes, ready to be read from the first row."""
    found = dict[str, CodedColumn]()
    with open(path, "rb", buffering=0) as file:
        for name, (chunk, schema) in chunks.items():
            with suppress(NotCoded):
                found[name] = CodedColumn(file, chunk, schema, rows, types[name])
        yield found


class CodedColumn:
    """A column that is stored as codes, read some rows at a time; raises NotCoded if a page holds no codes.

    `chunk` is what the footer says about the column in this row group, `schema` in all of them.
    """

    def __init__(
        self, file: FileIO, chunk: pq.ColumnChunkMetaData, schema: pq.ColumnSchema, rows: int, type: pa.DataType
    ) -> None:
        kinds = arrow_library().types
        is_text = chunk.physical_type == "BYTE_ARRAY" and (kinds.is_string(type) or kinds.is_large_string(type))
        is_integer = chunk.physical_type in ("INT32", "INT64") and kinds.is_integer(type)
        is_flat = schema.max_repetition_level == 0 and schema.max_definition_level <= 1 and chunk.num_values == rows
        is_small = chunk.total_uncompressed_size <= PER_ROW * rows
        if not ((is_text or is_integer) and is_flat and is_small and chunk.has_dictionary_page):
            raise NotCoded
        self.file, self.optional = file, schema.max_definition_level == 1
        self.at = chunk.dictionary_page_offset
        self.end, self.most = self.at + chunk.total_compressed_size, chunk.total_uncompressed_size
        if chunk.compression not in CODECS:
            raise NotCoded
        self.codec = None if chunk.compression == "UNCOMPRESSED" else arrow_library().Codec(chunk.compression.lower())
        self.snappy = chunk.compression == "SNAPPY"
        page, *_ = self._load(1, DICTIONARY_READ)
        if page[KIND] != DICTIONARY or page[VALUES] > (MOST_TEXTS if is_text else MOST_LABELS):
            raise NotCoded
        many, data = int(page[VALUES]), self.data.tobytes()
        self.labels = _texts(data, many, type) if is_text else _integers(data, many, chunk.physical_type, type)
        self.wide = np.uint8 if many <= 1 << 8 else np.uint16
        #: pages that are decompressed, none so far
        self.pages = np.empty((0, PAGE_COLUMNS), np.int64)
        self.state, self.levels = np.zeros(STATE, np.int64), np.empty(0, self.wide)
        #: rows that are not read yet
        self.rows = rows

    def take(self, n: int) -> pa.DictionaryArray:
        """The labels of the next n rows."""
        pa = arrow_library()
        if self.optional and len(self.levels) < n:
            self.levels = np.empty(n, self.wide)
        codes, levels, done = np.empty(n, self.wide), self.levels[:n], 0
        kernel = jit.compiled(decoded)
        self.state[MET] = 0
        while True:
            more = kernel(self.data, self.pages, self.state, self.optional, codes[done:], levels[done:])
            if more < 0:
                raise NotCoded
            done += more
            if done == n:
                break
            self.pages = self._load(PAGES, READ)
            self.state[PAGE] = 0
            if (self.pages[:, KIND] == DICTIONARY).any():
                raise NotCoded
        gaps = levels == 0 if self.state[MET] else None
        self.rows -= n
        if self.rows == 0 and (self.state[LEFT] or self.state[PAGE] < len(self.pages) or self.at < self.end):
            raise NotCoded  # there are pages of more rows
        if n and codes.max() >= len(self.labels) and (gaps is None or not gaps.all()):
            raise NotCoded
        return pa.DictionaryArray.from_arrays(pa.array(codes, mask=gaps), self.labels, safe=False)

    def _load(self, most: int, size: int) -> Array:
        """Read and decompress at most so many of the next pages, some `size` bytes; returns the table of these pages."""
        pages = np.empty((most, PAGE_COLUMNS), np.int64)
        while True:
            size = min(size, self.end - self.at)
            self.file.seek(self.at)
            data = self.file.read(size)
            if len(data) < size or not size:
                raise NotCoded
            many = jit.compiled(headers)(np.frombuffer(data, np.uint8), DECOMPRESSED, pages)
            if many == OTHER or (many == 0 and size == self.end - self.at):
                raise NotCoded
            if many > 0:
                break
            size *= 4  # a long page
        pages = pages[:many]
        if pages[:, SIZE].max() > self.most:
            raise NotCoded
        self.at += int(pages[-1, START] + pages[-1, STORED])
        self.data = self._decompressed(data, pages)
        return pages

    def _decompressed(self, data: bytes, pages: Array) -> Array:
        """The bytes of pages, one after the other; the table then holds where they are."""
        if self.snappy and (pages[:, CHECKSUM] == LACKING).all():
            found = np.empty(int(pages[:, SIZE].sum()), np.uint8)
            if not jit.compiled(unpack_pages)(np.frombuffer(data, np.uint8), pages, found):
                raise NotCoded
            return found
        each = [self._page(data, page) for page in pages.tolist()]
        pages[:, SIZE] = [len(page) for page in each]
        pages[:, START] = np.cumsum(pages[:, SIZE]) - pages[:, SIZE]
        return np.frombuffer(b"".join(each), np.uint8)

    def _page(self, data: bytes, page: Sequence[int]) -> bytes:
        """The bytes of one page, of which this is the row in the table of pages."""
        start, stored, size, levels, checksum = (page[x] for x in (START, STORED, SIZE, LEVELS, CHECKSUM))
        whole = data[start : start + stored]
        if checksum != LACKING and zlib.crc32(whole) != checksum & 0xFFFFFFFF:
            raise NotCoded
        if self.codec is None or not page[COMPRESSED]:
            return whole
        try:
            values_: bytes = self.codec.decompress(whole[levels:], size - levels, asbytes=True)
        except (OSError, ValueError):  # pyarrow's errors for damaged data
            raise NotCoded from None
        return whole[:levels] + values_


def _integers(data: bytes, many: int, stored: str, type: pa.DataType) -> pa.Array:
    """The labels of a dictionary of integers."""
    width = np.dtype("<i4" if stored == "INT32" else "<i8")
    if len(data) < many * width.itemsize:
        raise NotCoded
    return arrow_library().array(np.frombuffer(data, width, many).astype(type.to_pandas_dtype()), type)


def _texts(data: bytes, many: int, type: pa.DataType) -> pa.Array:
    """The labels of a dictionary of texts, each after its length."""
    pa, texts, at = arrow_library(), [], 0
    for _ in range(many):
        start = at + 4
        at = start + int.from_bytes(data[at:start], "little")
        texts.append(data[start:at])
    if at > len(data):
        raise NotCoded
    try:
        return pa.array(texts, pa.binary()).cast(type)
    except pa.ArrowInvalid:  # not UTF-8
        raise NotCoded from None
