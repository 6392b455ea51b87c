"""When to use compiled code: numba is imported only if there is enough work."""

from __future__ import annotations

import math
import os
import sys
from functools import cache
from threading import Lock

from congruence.errors import InputError
from congruence.machine.packages import is_installed
from congruence.typing import Dynamic, Function

KERNELS = "congruence.engine.kernels"
PAIR_KERNELS, TABLE_KERNELS = "congruence.engine.pair_kernels", "congruence.engine.table_kernels"
REFERENCE_KERNELS, LISTING_KERNELS = "congruence.engine.reference_kernels", "congruence.engine.listing_kernels"

#: Loading numba takes about half a second, once per process. Small amounts of work are therefore done without it: loops are
#: interpreted and tables are counted by numpy, up to this many steps or increments over all calls, and a loop up to so many
#: times the steps while nothing else has loaded numba: until interpreting took about as long as loading and compiling do.
INTERPRETED_STEPS, UNLOADED = 300_000, 5
COMPILED_FROM = 10_000_000

#: minimum number of increments for which the kernels of the engine are used once they are loaded; below it numpy is as fast
LOADED_FROM = 50_000

#: what the compiled counts of one pair save per call, in increments (a table less than sums alone), and the most points
PER_PAIR = {PAIR_KERNELS: 50_000, TABLE_KERNELS: 5_000, REFERENCE_KERNELS: 0, LISTING_KERNELS: 100_000}
MOST_OF_PAIR = 2_000_000

_compiled: dict[str, Function] = {}

#: helpers and subroutines that numba does not know yet, with numba's word for inlining them
_helpers: list[tuple[Function, str]] = []
_registering = Lock()

#: work done so far: by the name of a function in steps, by the name of a module in increments
_work: dict[str, float] = {}


@cache
def has_numba() -> bool:
    """Whether numba is installed; without it, tables are counted by numpy, with the same result."""
    return is_installed("numba")


def pays(what: str, work: float, enough: float) -> bool:
    """Whether the work of this function over all calls justifies loading compiled code."""
    _work[what] = _work.get(what, 0.0) + work
    return _work[what] >= enough


def compiled(function: Function, steps: float = math.inf, slp: bool = False) -> Function:
    """The function, compiled by numba once the steps of all its calls pay for that.

    `slp`: use LLVM's SLP vectoriser, which numba leaves off: it makes one vector of sums that are written out.
    """
    name = f"{function.__module__}.{function.__qualname__}"  # two modules may use one name
    if name not in _compiled:
        if not pays(name, steps, INTERPRETED_STEPS * (1 if "numba" in sys.modules else UNLOADED)):
            return function
        _compiled[name] = _with_slp(njit(function)) if slp else njit(function)
    return _compiled[name]


def _with_slp(kernel: Dynamic) -> Function:
    import numba

    settings: Dynamic = numba.config

    def called(*given: object) -> object:
        types = tuple(map(numba.typeof, given))
        if types not in kernel.overloads:
            with _registering:
                before, settings.SLP_VECTORIZE = settings.SLP_VECTORIZE, 1
                try:
                    kernel.compile(types)
                finally:
                    settings.SLP_VECTORIZE = before
        return kernel(*given)

    return called


def ready(function: Function) -> Function | None:
    """The compiled function, if it is compiled already."""
    return _compiled.get(f"{function.__module__}.{function.__qualname__}")


def use_kernels(increments: float) -> bool:
    """Whether to use the compiled kernels: for large work, and for work from LOADED_FROM on once they are loaded."""
    return increments >= LOADED_FROM and has_numba() and (loaded() or pays(KERNELS, increments, COMPILED_FROM))


def use_pair_kernels(points: int, kernels: str = PAIR_KERNELS) -> bool:
    """Whether to use the compiled counts of one pair: after some calls, unless there are so many points that threads pay."""
    steps = points + PER_PAIR[kernels]
    few = math.isfinite(LOADED_FROM) and has_numba() and steps <= MOST_OF_PAIR
    return few and (kernels in sys.modules or pays(kernels, steps, COMPILED_FROM))


def was_compiled(function: Function) -> bool:
    """Whether the function is compiled, or was on this machine, so that it takes no seconds to use it."""
    kernel: Dynamic = compiled(function)
    return hasattr(kernel, "overloads") and (
        bool(kernel.overloads) or kernel._cache.is_filled
    )  # not with NUMBA_DISABLE_JIT


def on_terminal() -> bool:
    """Whether stderr is a terminal; a service may have closed it, or have none."""
    return sys.stderr is not None and not sys.stderr.closed and sys.stderr.isatty()


def loaded() -> bool:
    """Whether the compiled kernels are loaded."""
    return KERNELS in sys.modules


def helper(function: Function) -> Function:
    """The function itself, which compiled functions of the same file may call; this does not import numba.

    Numba inlines it and counts references to its arrays at each call, so it must do more than one step of an inner loop.
    """
    _helpers.append((function, "always"))
    return function


def subroutine(function: Function) -> Function:
    """Like `helper`, but called, not inlined: for long functions, which numba inlines slowly (seconds for a hundred lines)."""
    _helpers.append((function, "never"))
    return function


def of_types(signature: str) -> Function:
    """Like `njit`, but compiled at once, and for these types only."""
    return lambda function: njit(function, signature)


def njit(function: Function, signature: str | None = None) -> Function:
    """numba.njit without the GIL, cached on disk if a folder is writable."""
    threads = os.environ.get("NUMBA_NUM_THREADS", "1")
    if threads.removeprefix("-").isdecimal() and int(threads) < 1:  # importing numba would fail
        raise InputError(f"the environment variable NUMBA_NUM_THREADS must be a number of at least 1; got {threads!r}")
    import numba
    from numba.core.typeinfer import register_dispatcher
    from numba.extending import register_jitable

    from congruence.machine.compiled_cache import CompiledCache

    with _registering:
        while _helpers:
            function_, inline = _helpers.pop()
            register_jitable(inline=inline)(function_)
    kernel: Dynamic = numba.njit(nogil=True)(function)
    if hasattr(kernel, "compile"):  # not with NUMBA_DISABLE_JIT
        kernel._cache = CompiledCache(function)
        if signature is not None:
            with register_dispatcher(kernel):
                kernel.compile(signature)
            kernel.disable_compile()
    found: Function = kernel
    return found
