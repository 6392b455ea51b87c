"""numba's cache on disk: a damaged file is replaced, a full disk is no error, and compiling is announced."""

from __future__ import annotations

import sys
from contextlib import suppress

from numba.core import caching

from congruence.errors import warn
from congruence.machine.jit import on_terminal
from congruence.typing import Dynamic, Function

#: whether this process has said that it compiles
_said = False


def announce() -> None:
    """Say once per process, to a person, that functions are compiled: it takes seconds."""
    global _said
    if not _said and (on_terminal() or "ipykernel" in sys.modules):
        print(
            "congruence: compiling loops for this machine; this takes some seconds, once", file=sys.stderr, flush=True
        )
    _said = True


class CompiledCache:
    """The cache of one function, with the methods that numba calls; it keeps nothing without a folder that can be written."""

    def __init__(self, function: Function) -> None:
        self.kept: Dynamic = None
        with suppress(RuntimeError):  # numba: "no locator available", a read-only installation without a home folder
            self.kept = caching.FunctionCache(function)  # type: ignore[no-untyped-call]

    @property
    def cache_path(self) -> str | None:
        """The folder."""
        return None if self.kept is None else str(self.kept.cache_path)

    def load_overload(self, sig: object, target_context: object) -> Dynamic:
        """The compiled function, or None if it has to be compiled."""
        found = None
        if self.kept is not None:
            try:
                found = self.kept.load_overload(sig, target_context)
            except Exception:  # pickle raises errors of many kinds
                warn(f"the compiled functions in {self.cache_path} cannot be read; they are compiled again")
                with suppress(OSError):
                    self.kept.flush()
        if found is None:
            announce()
        return found

    def save_overload(self, sig: object, data: object) -> None:
        """Keep a compiled function, if there is room for it."""
        if self.kept is None:
            return
        try:
            self.kept.save_overload(sig, data)
        except OSError as error:
            warn(
                f"compiled functions cannot be kept in {self.cache_path} ({error.strerror}); each process compiles them"
            )
            self.kept = None

    @property
    def is_filled(self) -> bool:
        """Whether the function was compiled before, for any types."""
        try:
            return self.kept is not None and bool(self.kept._cache_file._load_index())
        except Exception:  # damaged, as above
            return False
