"""Finished parts of a long count on disk: written atomically, with a checksum, tied to their data."""

from __future__ import annotations

import json
import os
import platform
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from hashlib import blake2b
from pathlib import Path

from congruence.errors import InputError, path_of, visible
from congruence.machine.writing import replacing
from congruence.typing import PathLike

#: first bytes of every part: format and version
MAGIC = b"congruence part 2\n"

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
        if self.folder.exists() and any(x.name != LOCK for x in self.folder.iterdir()):
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
def checkpoint_in(folder: PathLike | None, fingerprint: Callable[[], str], what: str) -> Iterator[Checkpoint | None]:
    """The checkpoint in a folder, which is created, locked for this run; None without a folder.

    A second run on the same folder says that it waits, and then finds the parts of the first. The lock is on the folder
    itself and ends with the process. Windows and file systems without locks use a lock file instead, which expires a
    minute after its process ended. Half-written files of a killed run are removed. `what` is the name of the data in messages.
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
            raise InputError(f"checkpoint {place} cannot be created: {error.strerror or error}") from None
    with _alone_in(place):
        for left in [*place.glob(".*.part.*"), *place.glob(f".{HEAD}.*")] if place.is_dir() else []:
            left.unlink(missing_ok=True)
        yield Checkpoint(place, identity, what)


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder; waits with a note while another process has it."""
    if not folder.is_dir():
        yield
        return
    try:
        import fcntl

        number = os.open(folder, os.O_RDONLY)
    except (ImportError, OSError):  # Windows has no locks on folders
        with _alone_by_file(folder):
            yield
        return
    try:
        try:
            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            _say_waiting(folder)
            fcntl.flock(number, fcntl.LOCK_EX)
        except OSError:  # a file system without locks
            with _alone_by_file(folder):
                yield
            return
        yield
    finally:
        os.close(number)


#: name of the lock file where folders cannot be locked
LOCK = ".congruence-lock"
#: seconds between checks of another run's lock, between touches by its owner, and without a touch until it expires
LOOK, BEAT, ABANDONED = 0.5, 10.0, 60.0


@contextmanager
def _alone_by_file(folder: Path) -> Iterator[None]:
    """Hold a lock file, created exclusively; its owner touches it, and a file that is no longer touched expires."""
    path, seen, since = folder / LOCK, -1, time.monotonic()
    while True:
        try:
            number = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
            break
        except (FileExistsError, PermissionError) as error:  # Windows refuses names of files that are being deleted
            if isinstance(error, PermissionError) and not path.exists():
                raise InputError(f"checkpoint {folder} cannot be written: permission denied") from None
        if seen == -1:
            _say_waiting(folder)
        try:
            touched = path.stat().st_mtime_ns
        except FileNotFoundError:  # released just now
            continue
        if touched != seen:
            seen, since = touched, time.monotonic()
        elif time.monotonic() - since > ABANDONED:
            remove_abandoned(path, seen)
        time.sleep(LOOK)
    with os.fdopen(number, "w", encoding="utf-8") as stream:
        json.dump({"process": os.getpid(), "machine": platform.node(), "since": time.time()}, stream)
    done = threading.Event()

    def beat() -> None:
        while not done.wait(BEAT):
            with suppress(OSError):
                os.utime(path)

    thread = threading.Thread(target=beat, daemon=True, name="checkpoint lock")
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
        with suppress(OSError):
            path.unlink()


def remove_abandoned(path: Path, touched: int) -> None:
    """Remove a lock file that was last touched then, unless another run did so and has a new one."""
    mine = path.with_name(f"{path.name}.removing")  # one run at a time: the second finds the lock of the first
    try:
        os.close(os.open(mine, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
    except OSError:
        return
    with suppress(OSError):
        if path.stat().st_mtime_ns == touched:
            path.unlink()
    mine.unlink(missing_ok=True)


def _say_waiting(folder: Path) -> None:
    print(f"note: checkpoint {visible(str(folder))} is in use by another run; waiting for it", file=sys.stderr)


def _write(path: Path, data: bytes) -> None:
    """Write a file atomically and flush it to disk."""
    with replacing(path) as stream:
        stream.write(data)
