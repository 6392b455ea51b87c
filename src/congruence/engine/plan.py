"""Plans of work: engine, threads, random streams, runs of pairs, tiles within a memory budget and their results, progress."""

from __future__ import annotations

import inspect
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, ClassVar, Protocol, TypeVar

import numpy as np

from congruence.errors import InputError, Option, whole_number
from congruence.machine import device, jit
from congruence.statistics import Statistic
from congruence.statistics.tables import Array
from congruence.typing import DeviceArray, Dynamic, EngineName, ProgressLike, Seed

T = TypeVar("T")

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID

    from congruence.engine.interface import Engine

#: the engine for "auto"; None: the GPU if labels are on one, else the CPU
AUTO: EngineName | None = None


class OnCard(Protocol):
    """What may be on a GPU: labels, memberships, or columns of data."""

    @property
    def card(self) -> object:
        """The same on a GPU; None if it is on the host."""


def engine_for(engine: EngineName, members: Sequence[OnCard]) -> Engine:
    """The engine to count with: the requested one; with "auto", the GPU if the members (or data) are there, else the CPU.

    Scanned columns have an engine of their own, which counts where rows are read.
    """
    check_engine(engine)
    if engine == "auto":
        engine = AUTO or ("cpu" if all(c.card is None for c in members) else "cuda")
    if any(getattr(c, "matched_by", "") == "source" for c in members):
        if engine == "cuda":
            raise device.refusal("rows of a scan are counted on the CPU, where they are read")
        from congruence.scanning import columns  # late import; avoids a cycle

        return columns
    if engine == "cpu":
        from congruence.engine import cpu  # late import; avoids a cycle

        return cpu
    device.cupy()  # raises if something is missing
    from congruence.engine import cuda

    return cuda


def check_engine(engine: object) -> None:
    """Raise for an unknown engine."""
    if not isinstance(engine, str) or engine not in ("auto", "cpu", "cuda"):
        raise InputError(f"engine {engine!r} is not available; use 'cpu', 'cuda' or 'auto' (where the labels are)")


def on_card(data: T, engine: EngineName) -> T | DeviceArray:
    """With engine="cuda", integer arrays copied to the GPU, to be encoded there; other inputs unchanged."""
    if not isinstance(engine, str) or engine != "cuda":
        return data
    device.cupy()
    if isinstance(data, np.ndarray):
        integers = data.dtype.kind in "iu" and data.dtype.isnative and data.ndim in (1, 2) and data.size
        contiguous = data.flags.c_contiguous or data.flags.f_contiguous
        fits = 2 * data.nbytes <= device.free_memory()
        return device.moved(data) if integers and contiguous and fits else data
    return data


#: most threads; more would waste memory
MOST_THREADS = 256


def default_threads(threads: int | None) -> int:
    """The number of threads to use: as requested, else the number of available cores."""
    if threads is not None:
        known = threads if type(threads) is int and threads > 0 else whole_number(threads, "threads")
        return min(known, MOST_THREADS)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_threads(threads: int, jobs: Sequence[Callable[[], T]]) -> list[T]:
    """Results of the jobs, in order; Ctrl-C cancels jobs that have not started."""
    if threads == 1 or len(jobs) == 1:
        return [job() for job in jobs]
    pool = ThreadPoolExecutor(min(threads, len(jobs)))
    try:
        return [future.result() for future in [pool.submit(job) for job in jobs]]
    finally:
        pool.shutdown(cancel_futures=True)


def generator_of(random_state: Seed) -> np.random.Generator:
    """A random generator from a seed, a sequence of seeds, a generator or None."""
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise InputError(
            f"{Option('random_state')} must be a whole number from 0 up or a generator; got {random_state!r}"
        ) from None


def seed_sequence(random_state: Seed) -> np.random.SeedSequence:
    """The seed sequence of a random_state of any kind."""
    if random_state is None or isinstance(random_state, int | np.integer):
        if random_state is not None and random_state < 0:
            raise InputError(f"{Option('random_state')} must be 0 or more, not {random_state}")
        return np.random.SeedSequence(None if random_state is None else int(random_state))
    if isinstance(random_state, np.random.SeedSequence):
        return random_state
    if isinstance(random_state, np.random.Generator):
        return np.random.SeedSequence(int(random_state.integers(2**63)))
    if isinstance(random_state, np.random.RandomState):
        return np.random.SeedSequence(int(random_state.randint(2**31 - 1)))
    raise InputError(
        f"{Option('random_state')} must be None, an integer or a numpy generator, not {type(random_state).__name__}"
    )


#: bytes that the tables of one tile may take
MEMORY = 256 << 20


@dataclass(frozen=True)
class Run:
    """Clustering i against clusterings first … last−1."""

    i: int
    first: int
    last: int

    def __len__(self) -> int:
        return self.last - self.first


def all_pairs(members: int) -> list[Run]:
    """Every pair once, and every clustering with itself."""
    return [Run(i, i, members) for i in range(members)]


def against_first(members: int) -> list[Run]:
    """The first clustering against every other."""
    return [Run(0, 1, members)]


def tiles(runs: Sequence[Run], cost: Callable[[int, Array], Array], budget: float) -> Iterator[list[Run]]:
    """Group runs, in order, so that the cost of each group stays under the budget (a single pair may exceed it)."""
    tile: list[Run] = []
    spent = 0.0
    for run in runs:
        total = np.cumsum(np.asarray(cost(run.i, np.arange(run.first, run.last)), dtype=np.float64))
        first = 0
        while first < len(run):
            before = total[first - 1] if first else 0.0
            last = int(np.searchsorted(total, before + budget - spent, side="right"))
            last = max(last, first + 1) if not tile else max(last, first)
            if last > first:
                tile.append(Run(run.i, run.first + first, run.first + last))
                spent += total[last - 1] - before
            first = last
            if first < len(run):
                yield tile
                tile, spent = [], 0.0
    if tile:
        yield tile


def pairs_of(runs: Sequence[Run]) -> tuple[Array, Array]:
    """The two members of each pair of the runs, in order."""
    i = np.repeat([r.i for r in runs], [len(r) for r in runs])
    j = np.concatenate([np.arange(r.first, r.last) for r in runs]) if runs else np.empty(0, np.int64)
    return i.astype(np.int64), j.astype(np.int64)


@dataclass(frozen=True)
class Counted:
    """A tile of pairs and their statistics."""

    i: Array
    j: Array
    n_used: Array
    statistics: dict[type, Statistic]


def _takes_two(function: object) -> bool:
    """Whether this is a function that can be called with two values, as far as its signature tells."""
    if not callable(function):
        return False
    try:
        inspect.signature(function).bind(0, 0)
    except TypeError:
        return False
    except ValueError:  # some functions of C libraries have no signature
        return True
    return True


def in_notebook() -> bool:
    """Whether this is the kernel of a notebook, which draws HTML."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    return hasattr(shell, "kernel")


class NotebookBar:
    """A bar below the cell of a notebook, gone when the work is done."""

    #: least seconds between two pictures
    PAUSE = 0.1

    def __init__(self, total: int, what: str) -> None:
        self.total, self.what = total, what
        self.drawn = -1.0
        self.handle: Dynamic = None

    def show(self, done: int) -> None:
        """Draw the bar, or move it."""
        if time.monotonic() - self.drawn >= self.PAUSE or done >= self.total:
            self.drawn = time.monotonic()
            bar = f"<progress max='{self.total}' value='{done}' style='width:20em'></progress>"
            self._put(f"{bar} {done:,} of {self.total:,} {self.what}")

    def close(self) -> None:
        """Remove the bar."""
        if self.handle is not None:
            self._put("")

    def _put(self, html: str) -> None:
        shown = sys.modules["IPython"].display
        if self.handle is None:
            self.handle = shown.display(shown.HTML(html), display_id=True)
        else:
            self.handle.update(shown.HTML(html))


class Progress:
    """Progress in pairs: calls the given function, else shows a bar on a terminal after 2 s; True shows one in a notebook.

    Elsewhere True, or `in_lines`, prints one line per 10% on stderr. Nested work prints nothing there, nor in a notebook.
    """

    #: print lines without a terminal, even if not requested
    in_lines: ClassVar[bool] = False
    _printing: ClassVar[Progress | None] = None

    def __init__(self, total: int, report: ProgressLike, what: str = "pairs") -> None:
        if not _takes_two(report) and not isinstance(report, bool | np.bool_ | None):
            raise InputError(f"progress must be a function of (done, total), True, False or None; got {report!r}")
        self.total, self.done, self.what = total, 0, what
        self.report = report if callable(report) else None
        self.bar_wanted = report is not False and self.report is None and jit.on_terminal()
        wanted = report is True or (self.in_lines and report is None)
        self.lines_wanted = wanted and self.report is None and not self.bar_wanted
        self.cell = NotebookBar(total, what) if self.lines_wanted and report is True and in_notebook() else None
        self.tenths = 0
        self.bar: Bar | None = None
        self.task: TaskID | None = None
        self.started = time.monotonic()

    def __enter__(self) -> Progress:
        self.lines_wanted = self.lines_wanted and Progress._printing is None
        if self.lines_wanted:
            Progress._printing = self
        else:
            self.cell = None
        return self

    def add(self, pairs: int) -> None:
        """Report this many more pairs as done."""
        self.done += pairs
        if self.report is not None:
            self.report(self.done, self.total)
        elif self.bar_wanted:
            if self.bar is None and time.monotonic() - self.started > 2 and self.done < self.total:
                self._open()
            if self.bar is not None and self.task is not None:
                self.bar.update(self.task, completed=self.done)
        elif self.cell is not None:
            self.cell.show(self.done)
        elif self.lines_wanted:
            tenths = 10 * self.done // max(self.total, 1)
            if tenths > self.tenths:
                self.tenths = tenths
                print(f"{10 * tenths}% ({self.done:,} of {self.total:,} {self.what})", file=sys.stderr, flush=True)

    def _open(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        columns = (TextColumn(self.what), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        bar = Bar(*columns, console=Console(stderr=True), transient=True)
        self.bar, self.task = bar, bar.add_task(self.what, total=self.total)
        bar.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if Progress._printing is self:
            Progress._printing = None
        if self.cell is not None:
            self.cell.close()
        if self.bar is not None:
            self.bar.stop()
