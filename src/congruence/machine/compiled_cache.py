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


class CompiledCache(caching.FunctionCache):
    """The cache of one function; it keeps nothing without a folder that can be written."""

    def __init__(self, function: Function) -> None:
        try:
            super().__init__(function)  # type: ignore[no-untyped-call]
        except RuntimeError:  # "no locator available": a read-only installation without a home folder
            self.disable()  # type: ignore[no-untyped-call]

    def load_overload(self, sig: object, target_context: object) -> Dynamic:
        """The compiled function, or None if it has to be compiled."""
        found: Dynamic = None
        try:
            found = super().load_overload(sig, target_context)  # type: ignore[no-untyped-call]
        except Exception:  # pickle raises errors of many kinds
            warn(f"the compiled functions in {self.cache_path} cannot be read; they are compiled again")
            with suppress(OSError):
                self.flush()  # type: ignore[no-untyped-call]
        if found is None:
            announce()
        return found

    def save_overload(self, sig: object, data: object) -> None:
        """Keep a compiled function, if there is room for it."""
        try:
            super().save_overload(sig, data)  # type: ignore[no-untyped-call]
        except OSError as error:
            warn(
                f"compiled functions cannot be kept in {self.cache_path} ({error.strerror}); each process compiles them"
            )
            self.disable()  # type: ignore[no-untyped-call]

    @property
    def is_filled(self) -> bool:
        """Whether the function was compiled before, for any types."""
        try:
            return bool(self._cache_file._load_index())  # type: ignore[no-untyped-call]
        except Exception:  # there is no folder, or its files are damaged, as above
            return False
