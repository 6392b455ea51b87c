"""Cover files: one cluster per line, points with their clusters, long tables, JSON."""

from __future__ import annotations

import bz2
import gzip
import json
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from os.path import isfile  # also for names that are too long
from pathlib import Path
from typing import Literal

from congruence.errors import InputError, known_name, path_of, some_of
from congruence.inputs.cover import Cover, Duplicates
from congruence.inputs.cover_reading import Keys, long_columns
from congruence.inputs.effects import refuse_idle
from congruence.inputs.files import existing_file, read_columns, readable, suffix_of
from congruence.typing import Frame, Json, Label, OptionValue

Format = Literal["cover", "points", "long", "json"]
FORMATS = ("cover", "points", "long", "json")
#: keys under which JSON files keep their clusters
JSON_NAMES = ("communities", "clusters", "cover", "groups")
_SEPARATORS = re.compile(r"[\s,;]+")


def read_cover(
    path: str | Path,
    format: Format | None = None,
    *,
    points: Sequence[Label] | int | None = None,
    duplicates: Duplicates = "keep",
    keys: Keys = "clusters",
) -> Cover:
    """The cover in a file.

    Args:
        path: The file; .gz and .bz2 files are decompressed.
        format: "cover" (one cluster per line, points separated by spaces, tabs, commas or semicolons; lines that begin
            with # are skipped), "points" (one point per line, followed by its clusters), "long" (a csv, tsv, parquet or
            feather table with a column of points and one of clusters), "json" (a list of clusters, a mapping, or either
            under the key "communities", "clusters", "cover" or "groups"). Default None: by the file's name, "json" for
            .json, "long" for tables, else "cover".
        points: All points, or their number; see `Cover`. Default None.
        duplicates: "keep" (default) or "drop" clusters that are given twice.
        keys: What the keys of a JSON mapping are, "clusters" (default) or "points".

    Returns:
        The cover, titled by the file's name. Points of text files are integers if all of them are.

    Raises:
        InputError: If the file does not exist or is not in this format.

    See also:
        `Cover`, `compare`, `compare_all`.

    >>> import tempfile, pathlib
    >>> import congruence as cg
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = pathlib.Path(folder.name) / "modules.cover"
    >>> _ = file.write_text("g1 g2 g3\\ng3 g4\\n")
    >>> cg.read_cover(file, points=6)
    Cover: 2 clusters of 6 points, up to 2 clusters per point, 2 points in none
    >>> folder.cleanup()
    """
    path = path_of(path)
    if format is None:
        suffix = suffix_of(path)
        format = (
            "json" if suffix == ".json" else "long" if suffix in (".csv", ".tsv", ".parquet", ".feather") else "cover"
        )
    known_name("format", format, FORMATS)
    refuse_idle(read_cover, locals())
    path = existing_file(path)
    with readable(path):
        cover = _read(path, format, points, duplicates, keys)
    cover.title = path.name.split(".")[0]
    return cover


def _read(path: Path, format: str, points: Sequence[Label] | int | None, duplicates: Duplicates, keys: Keys) -> Cover:
    options: dict[str, OptionValue] = {"points": points, "duplicates": duplicates, "who": str(path)}
    if format == "long":
        return Cover(_long_table(path), **options)
    text = _text(path)
    if format == "json":
        return Cover(_json(text, path), keys=keys, **options)
    lines = [
        [word for word in _SEPARATORS.split(line) if word]
        for line in text.splitlines()
        if not line.lstrip().startswith("#")
    ]
    lines = [words for words in lines if words]
    if not lines:
        raise InputError(f"{path} has no clusters")
    if format == "cover":
        numbers = _as_numbers(word for words in lines for word in words)
        return Cover([[numbers.get(word, word) for word in words] for words in lines], **options)
    firsts = [words[0] for words in lines]
    if len(set(firsts)) < len(firsts):
        twice = next(x for x in firsts if firsts.count(x) > 1)
        raise InputError(f"{path}: point {twice!r} has two lines; if lines are clusters, read it with format 'cover'")
    numbers, names = _as_numbers(firsts), _as_numbers(word for words in lines for word in words[1:])
    found = {numbers.get(words[0], words[0]): [names.get(word, word) for word in words[1:]] for words in lines}
    return Cover(found, keys="points", **options)


def _text(path: Path) -> str:
    suffix = path.suffix.lower()
    raw = path.read_bytes()
    data = gzip.decompress(raw) if suffix == ".gz" else bz2.decompress(raw) if suffix == ".bz2" else raw
    return data.decode("utf-8-sig")


def _as_numbers(words: Iterable[str]) -> dict[str, int]:
    """The words as integers, if all are integers as Python writes them; else empty."""
    different = set(words)
    try:
        numbers = {word: int(word) for word in different}
    except ValueError:
        return {}
    return numbers if all(str(number) == word for word, number in numbers.items()) else {}


def _json(text: str, path: Path) -> Json:
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(f"{path} is not JSON: {error}") from None
    if isinstance(data, dict):
        for name in JSON_NAMES:
            if isinstance(data.get(name), list | dict):
                data = data[name]
                break
    if not isinstance(data, list | dict):
        raise InputError(f"{path}: expected a list of clusters or a mapping, found {type(data).__name__}")
    return data


def is_json_cover(path: Path) -> bool:
    """Whether a JSON file holds a cover: lists of different lengths, in a list, by name, or under one of the usual keys.

    A table in JSON is a list of records, or columns of one length.

    Args:
        path: A file of any kind.
    """
    if suffix_of(path) != ".json" or not isfile(path):
        return False
    return _is_cover(path, path.stat().st_mtime_ns)


@lru_cache(maxsize=8)
def _is_cover(path: Path, _changed: int) -> bool:
    try:
        data = json.loads(_text(path))
    except (ValueError, OSError, EOFError):  # reading it raises the right error
        return False
    inner = next((data[name] for name in JSON_NAMES if isinstance(data, dict) and name in data), data)
    values = list(inner.values()) if isinstance(inner, dict) else inner if isinstance(inner, list) else []
    return all(isinstance(x, list) for x in values) and len({len(x) for x in values}) > 1


def _long_table(path: Path) -> Frame:
    import pyarrow as pa

    columns = read_columns(path)
    chosen = long_columns(list(columns))
    if chosen is None:
        raise InputError(
            f"{path}: a long table of a cover has a column 'point' and a column 'cluster'; it has: {some_of(columns)}"
        )
    return pa.table({"point": columns[chosen[0]], "cluster": columns[chosen[1]]})
