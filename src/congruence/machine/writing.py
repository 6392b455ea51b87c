"""Write files atomically."""

from __future__ import annotations

import json
import os
import stat
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from glob import glob
from pathlib import Path
from typing import IO, TypeVar

from congruence.errors import InputError
from congruence.typing import DeviceArray, PathLike, Record, Scalar

#: kinds of files that are read from a folder
TABLES = (".parquet", ".feather", ".arrow", ".csv", ".tsv", ".txt")


def check_target(path: str | Path, inputs: Iterable[str | Path | None] = ()) -> None:
    """Refuse, before any computation, a path that cannot be written, or that is one of the inputs: files, folders, patterns."""
    path = Path(path)
    try:
        target = Path(os.path.realpath(path))  # where a symbolic link points
        path.exists()
    except (OSError, ValueError) as error:  # a name that is too long, or holds a null byte
        raise InputError(f"{path} cannot be written: {getattr(error, 'strerror', None) or error}") from None
    if path.is_dir():
        raise InputError(f"{path} is a folder; name a file to write")
    if not target.parent.is_dir():
        raise InputError(
            f"there is no folder {target.parent if path.is_symlink() else path.parent} to write {path.name} in"
        )
    if not os.access(target.parent, os.W_OK) or (path.exists() and not os.access(path, os.W_OK)):
        raise InputError(f"{path} cannot be written: permission denied")
    if path.exists() and any(path.samefile(x) for given in inputs if given is not None for x in _read_from(given)):
        raise InputError(f"{path} is read by this command; write the result to another file")


def _read_from(given: str | Path) -> Iterator[Path]:
    """The files that a path names: itself, those in a folder, or those that match a pattern."""
    path = Path(given)
    if path.is_dir():
        yield from (x for x in path.rglob("*") if {s.lower() for s in x.suffixes} & {*TABLES} and x.is_file())
    elif path.exists():
        yield path
    elif "*" in str(path):
        yield from (x for x in map(Path, glob(str(path), recursive=True)) if x.is_file())


def check_apart(**outputs: str | Path | None) -> None:
    """Refuse two outputs to the same file, of which only the last would be left; paths by the name of their option."""
    found: dict[str, str] = {}
    for option, path in outputs.items():
        if path is None:
            continue
        place = os.path.realpath(path)
        if place in found:
            raise InputError(f"--{found[place]} and --{option} write to the same file, {path}; name two files")
        found[place] = option


@contextmanager
def replacing(path: str | Path) -> Iterator[IO[bytes]]:
    """A stream whose bytes replace the file when all are written; on an error the file is unchanged.

    The bytes go to a new file of random name in the same folder, opened exclusively, with the permissions of the file it
    replaces. A symbolic link keeps pointing where it did. Devices and pipes are written to directly.

    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "result.txt"
    ...     with replacing(path) as stream:
    ...         _ = stream.write(b"done")
    ...     path.read_text()
    'done'
    """
    check_target(path)
    target = Path(os.path.realpath(path))
    with naming(path), _opened(target) as stream:
        yield stream


@contextmanager
def naming(path: str | Path) -> Iterator[None]:
    """Add the path to errors that do not name it, as those of a full disk."""
    try:
        yield
    except OSError as error:
        if error.filename is None and error.errno is not None:
            error.filename = str(path)
        elif error.filename is None:  # pyarrow
            raise OSError(f"{path}: {error}") from error
        raise


@contextmanager
def _opened(target: Path) -> Iterator[IO[bytes]]:
    if target.exists() and not target.is_file():
        with target.open("wb") as device:
            yield device
        return
    number, name = tempfile.mkstemp(prefix=f".{target.name[:40]}.", dir=target.parent)
    _unfinished.add(name)
    try:
        with os.fdopen(number, "wb") as stream:
            os.chmod(name, stat.S_IMODE(target.stat().st_mode) if target.exists() else 0o666 & ~_umask())
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(name, target)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(name)
        raise
    finally:
        _unfinished.discard(name)


#: files that are being written
_unfinished: set[str] = set()


def discard_unfinished() -> None:
    """Remove files that are being written, before the process ends at once."""
    for name in list(_unfinished):
        with suppress(OSError):
            os.unlink(name)


def write_text(path: str | Path, text: str) -> None:
    """Write a text file as UTF-8, atomically."""
    with replacing(path) as stream:
        stream.write(text.encode("utf-8", errors="replace"))


def _umask() -> int:
    """The mask of permissions of this process; it can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


# --- results in a file --------------------------------------------------------------------------------------------


T = TypeVar("T")


def write_archive(path: PathLike, arrays: Mapping[str, DeviceArray], facts: Record) -> None:
    """Write arrays, and facts as JSON; an InputError for names that are neither texts nor numbers."""
    import numpy as np  # late imports: `congruence --help` needs none

    try:
        text = json.dumps(facts, default=_plain)
    except TypeError as error:
        raise InputError(str(error)) from None
    with replacing(Path(path)) as file:
        np.savez_compressed(file, **arrays, facts=np.frombuffer(text.encode(), dtype=np.uint8))


def _plain(value: Scalar) -> object:
    if getattr(value, "ndim", 1) == 0:  # a number of numpy
        return value.item()
    raise TypeError(f"names of clusters and values must be texts or numbers to be saved; got {type(value).__name__}")


def read_archive(path: PathLike, what: str, made_of: Callable[[dict[str, DeviceArray], Record], T]) -> T:
    """What is made of the arrays and facts of a file; an InputError if it is not such a file."""
    import numpy as np

    try:
        with np.load(Path(path), allow_pickle=False) as found:
            arrays = {name: found[name] for name in found.files}
        return made_of(arrays, json.loads(arrays["facts"].tobytes()))
    except FileNotFoundError:
        raise InputError(f"there is no file {path}") from None
    except (OSError, ValueError, KeyError, TypeError, IndexError, EOFError) as error:
        raise InputError(f"{path} is not a file of {what}: {error}") from None
