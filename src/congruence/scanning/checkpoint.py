"""Finished parts of a long count on disk: written atomically, with a checksum, tied to their data."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path

from congruence.errors import InputError, path_of, visible
from congruence.machine.writing import replacing

#: first bytes of every part: format and version
MAGIC = b"congruence part 1\n"

HEAD = "congruence-checkpoint.json"


def digest(*parts: bytes | str) -> str:
    """A digest of these bytes."""
    found = blake2b(digest_size=16)
    for part in parts:
        raw = part.encode() if isinstance(part, str) else part
        found.update(len(raw).to_bytes(8, "little"))
        found.update(raw)
    return found.hexdigest()


class Checkpoint:
    """A folder of finished parts, by key; a folder of other data is refused, a damaged part is recomputed.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Checkpoint(folder, "these data", "labels.parquet").put("part 1", b"counts")
    ...     Checkpoint(folder, "these data", "labels.parquet").get("part 1")
    b'counts'
    """

    def __init__(self, folder: str | Path, fingerprint: str, what: str) -> None:
        self.folder = Path(folder)
        self.damaged: list[str] = []
        head = self.folder / HEAD
        if self.folder.exists() and not self.folder.is_dir():
            raise InputError(f"checkpoint {self.folder} is a file; name a folder")
        if head.exists():
            try:
                there = json.loads(head.read_text(encoding="utf-8"))
                same, of = there["fingerprint"] == fingerprint, there["input"]
            except (ValueError, KeyError, TypeError):
                raise InputError(f"checkpoint {self.folder}: {HEAD} cannot be read; name another folder") from None
            if not same:
                raise InputError(
                    f"checkpoint {self.folder} is of other data ({of}, as it was then), not of {what} as it is now; use "
                    "another folder, or delete it"
                )
            return
        if self.folder.exists() and any(self.folder.iterdir()):
            raise InputError(f"checkpoint {self.folder} holds other files; name an empty or a new folder")
        self.folder.mkdir(parents=True, exist_ok=True)
        _write(head, json.dumps({"format": 1, "fingerprint": fingerprint, "input": what}).encode())

    def _path(self, key: str) -> Path:
        return self.folder / f"{digest(key)}.part"

    def get(self, key: str) -> bytes | None:
        """The part stored under this key, or None; a part with a wrong checksum is deleted and recorded."""
        path = self._path(key)
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            return None
        head = len(MAGIC) + 32
        payload = data[head:]
        if data[: len(MAGIC)] == MAGIC and data[len(MAGIC) : head] == digest(key, payload).encode():
            return payload
        self.damaged.append(path.name)
        path.unlink()
        return None

    def put(self, key: str, payload: bytes) -> None:
        """Store a part under this key."""
        _write(self._path(key), MAGIC + digest(key, payload).encode() + payload)


@contextmanager
def checkpoint_in(folder: str | Path | None, fingerprint: Callable[[], str], what: str) -> Iterator[Checkpoint | None]:
    """The checkpoint in a folder, locked for this run; None without a folder.

    A second run on the same folder says that it waits, and then finds the parts of the first. The lock is on the folder
    itself: it ends with the process in any case. Half-written files of a killed run are removed.

    Args:
        folder: The folder, which is made if there is none.
        fingerprint: Gives the identity of the data.
        what: What messages call the data.
    """
    if folder is None:
        yield None
        return
    place = path_of(folder, "checkpoint")
    identity = fingerprint()
    if not place.exists():
        try:
            place.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"checkpoint {place} cannot be made: {error.strerror or error}") from None
    with _alone_in(place):
        for left in [*place.glob(".*.part.*"), *place.glob(f".{HEAD}.*")] if place.is_dir() else []:
            left.unlink(missing_ok=True)
        yield Checkpoint(place, identity, what)


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder; waits with a note while another process has it."""
    try:
        import fcntl
    except ImportError:  # Windows has no locks on folders: parts are written whole, so that both runs are right
        yield
        return
    if not folder.is_dir():
        yield
        return
    number = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(f"note: checkpoint {visible(str(folder))} is in use by another run; waiting for it", file=sys.stderr)
            fcntl.flock(number, fcntl.LOCK_EX)
        except OSError:  # a file system without locks
            pass
        yield
    finally:
        os.close(number)


def _write(path: Path, data: bytes) -> None:
    """Write a file atomically and flush it to disk."""
    with replacing(path) as stream:
        stream.write(data)
