"""Where parts are counted: in local threads, by an executor, or on a Dask cluster."""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from itertools import chain, zip_longest
from queue import Empty, LifoQueue, Queue
from typing import TYPE_CHECKING, TypeVar, cast

from congruence.engine.plan import Progress
from congruence.errors import InputError, counted
from congruence.scanning.accumulate import Accumulator, Counting, merged
from congruence.scanning.checkpoint import Checkpoint
from congruence.scanning.parts import Group, Held, Part, Partition, rows_of
from congruence.scanning.room import Room
from congruence.scanning.sampling import RowsToTake, Sample
from congruence.scanning.tables import PartialTables
from congruence.scanning.vocabulary import BadBatch, unreadable
from congruence.typing import Client, Frame, Function, Record

if TYPE_CHECKING:
    from distributed import Client as DaskClient
    from distributed import Future as DaskFuture

    from congruence.scanning.rows import Reading

T = TypeVar("T")

#: partial tables that one task of a tree adds up
BRANCHES = 8

#: seconds to wait for the workers of a cluster
PATIENCE = 60

#: seconds without a finished part before a warning, and before the run stops waiting
SILENT, GIVEN_UP = 30.0, 900.0

KEPT = "with a checkpoint folder, finished parts are kept and a second run resumes from there"
LOST = f"the connection to the Dask scheduler was lost before the count was done; {KEPT}"


class _Stopped(Exception):
    pass


def count_part(
    part: Part, total: Accumulator, stop: threading.Event | None = None, wanted: RowsToTake | None = None
) -> None:
    """Add the rows of a part, and take those that are wanted.

    Unreadable rows raise an error that names the part, or are skipped with `skip_bad`.
    """
    counting = total.counting
    into = total
    if counting.skip_bad:  # a part is skipped as a whole
        into = Accumulator(counting, Room(total.room.free_for_labels / counting.threads))
    try:
        rows = 0
        for batch in read_batches(part, counting):
            if stop is not None and stop.is_set():
                raise _Stopped
            try:
                new = into.add_batch(batch, part.where)
            except UnicodeDecodeError as error:
                raise BadBatch(f"{part.where} could not be read: {error}") from None
            if wanted is not None:
                into.taken |= wanted.found_in(batch, rows, new, part.where)
            rows += new
    except BadBatch as error:
        if not counting.skip_bad:
            raise
        total.left_out.append(f"left out: {error}")
        logging.getLogger("congruence").warning("left out: %s", error)  # at once; the result lists all
        return
    if into is not total:
        total.add(into.handed_over(total.room))


def read_batches(part: Part, counting: Counting | Reading) -> Iterator[Frame]:
    """The rows of a part, batch by batch, as many as its footer says; errors name the part."""
    rows = 0
    try:
        for batch in part.batches(counting.read, counting.rows):
            rows += rows_of(batch)
            yield batch
    except InputError:
        raise
    except Exception as error:  # file readers raise errors of many kinds
        raise unreadable(part.where, error) from None
    if part.rows is not None and rows != part.rows:
        raise BadBatch(f"{part.where} could not be read: it has {rows} rows, but its footer says {part.rows}")


def read_here(parts: Sequence[Part], counting: Counting, sample: Sample | None) -> Iterator[Group]:
    """Groups for few large parts: one thread reads and takes rows, and all threads count."""
    listed = () if sample is None else chain.from_iterable(map(sample.of, range(len(sample.groups))))
    for part, wanted in zip_longest(parts, listed):
        first = 0
        for batch in read_batches(part, counting):
            held = Held.of(batch, part.where)
            if sample is not None and wanted is not None:
                sample.found |= wanted.found_in(batch, first, held.rows, part.where)
            first += held.rows
            yield Group((held,))


def count_group(parts: Sequence[Part], about: Group, counting: Counting) -> PartialTables:
    """The tables of these parts, with the rows that are wanted; runs in an executor or a Dask worker."""
    total = Accumulator(counting)
    for part, rows in zip_longest(parts, about.wanted):
        count_part(part, total, None, rows)
    return total.partial()


def fold(
    groups: Iterable[Group],
    counting: Counting,
    *,
    client: Client = None,
    threads: int = 1,
    progress: Progress | None = None,
    checkpoint: Checkpoint | None = None,
) -> PartialTables:
    """The sum of the tables of all groups; groups in the checkpoint are not counted again."""
    total = Accumulator(counting)
    # sums of weights are added in the order of the groups, whichever finished first; counts add in any order
    apart = checkpoint is not None or (counting.mass is not None and not counting.mass[1])
    order: dict[int, int] = {}
    finished: dict[int, PartialTables] = {}
    added = 0

    def add(number: int, part: PartialTables) -> None:
        nonlocal added
        finished[number] = part
        while added in finished:
            total.add(finished.pop(added))
            added += 1

    def done(group: Group, part: PartialTables | None = None) -> None:
        if part is not None:
            if checkpoint is not None:
                checkpoint.put(group.key, part.to_bytes())
            add(order.pop(id(group)), part)
        if progress is not None:  # the number of rows of a stream is unknown
            progress.total = max(progress.total, progress.done + group.guess)
            progress.add(group.guess)

    def left() -> Iterator[Group]:
        for number, group in enumerate(groups):
            stored = checkpoint.get(group.key) if checkpoint is not None else None
            if stored is None:
                order[id(group)] = number
                yield group
                continue
            add(number, PartialTables.from_bytes(stored))
            done(group)

    if client is None:
        _in_threads(left(), counting, threads, done, (lambda: len(finished)) if apart else None, total)
    else:
        work = partial(count_group, counting=counting)
        with connected(client) as (dask, executor):
            if dask is not None and not apart:
                _added_on_dask(dask, left(), work, done, total)
            else:
                for group, part in _elsewhere(dask, executor, left(), work):
                    done(group, part)
    if checkpoint is not None and checkpoint.damaged:
        total.left_out.append(f"counted again: {counted(len(checkpoint.damaged), 'damaged part')} of the checkpoint")
    return total.partial()


# --- any work on parts --------------------------------------------------------------------------------------------


#: work on the parts of a group; it is also given the group without its parts, which may be large
Work = Callable[[Sequence[Part], Group], T]


def each(
    groups: Iterable[Group],
    work: Work[T],
    *,
    client: Client = None,
    threads: int = 1,
    progress: Progress | None = None,
) -> Iterator[tuple[Group, T]]:
    """The results of the work on each group, as they finish; `work(parts, group)` runs where `client` says."""
    with ExitStack() as stack:
        if client is None:
            pool = ThreadPoolExecutor(threads)
            stack.callback(pool.shutdown, cancel_futures=True)
            found = _windowed(lambda g: pool.submit(work, g.parts, g.about), iter(groups), 2 * threads)
        else:
            dask, executor = stack.enter_context(connected(client))
            found = _elsewhere(dask, executor, iter(groups), work)
        for group, result in found:
            if progress is not None:
                progress.total = max(progress.total, progress.done + group.guess)
                progress.add(group.guess)
            yield group, result


def _elsewhere(
    dask: DaskClient | None, executor: Executor | None, groups: Iterator[Group], work: Work[T]
) -> Iterator[tuple[Group, T]]:
    """The same by any executor of `concurrent.futures`, or on the workers of Dask."""
    if executor is not None:
        running = max(4, 2 * int(getattr(executor, "_max_workers", 8) or 8))
        try:
            yield from _windowed(lambda g: executor.submit(work, g.parts, g.about), groups, running)
        except BrokenExecutor as error:
            raise InputError(f"a process of the executor was lost ({error}); {KEPT}") from None
        return
    assert dask is not None
    with _futures_on(dask, groups, work) as futures:
        for future in ended_on(dask, futures):
            yield futures[future], future.result()


@contextmanager
def _futures_on(dask: DaskClient, groups: Iterator[Group], work: Work[T]) -> Iterator[dict[DaskFuture, Group]]:
    """The futures of the work on each group, on workers of the same version; released at the end."""
    futures: dict[DaskFuture, Group] = {}
    try:
        with named_errors():
            version = _same_version(dask)
            for group in groups:
                futures[_submitted(dask, group, on_worker, work, group.about, version)] = group
            yield futures
    finally:
        for future in futures:  # cancels those that are no longer needed
            with suppress(Exception):
                future.release()


def on_worker(parts: Sequence[Part], work: Work[T], about: Group, version: str) -> T:
    """Work on parts on a worker, which must have the same version."""
    _check_version({"this worker": _version()}, version)
    return work(parts, about)


# --- threads ----------------------------------------------------------------------------------------------------


def _in_threads(
    groups: Iterator[Group], counting: Counting, threads: int, done: Callable[..., None],
    waiting: Callable[[], int] | None, total: Accumulator,
) -> None:  # fmt: skip
    """Each thread has its own tables with the labels of all, added at the end; or, with `waiting`, those of each group."""
    stop = threading.Event()
    free: LifoQueue[Accumulator] = LifoQueue()
    for mine in [total, *(Accumulator(counting, total.room, total.words) for _ in range(threads - 1))]:
        free.put(mine)

    def work(group: Group) -> PartialTables | None:
        mine = free.get() if waiting is None else Accumulator(counting, total.room)
        try:
            for part, rows in zip_longest(group.parts, group.wanted):
                count_part(part, mine, stop, rows)
            if waiting is None:
                return None
            return mine.handed_over(total.room)
        finally:
            if waiting is None:
                free.put(mine)

    pool = ThreadPoolExecutor(threads)
    try:
        for group, part in _windowed(lambda g: pool.submit(work, g), groups, 2 * threads, waiting or (lambda: 0)):
            done(group, part)
    finally:
        stop.set()
        pool.shutdown(cancel_futures=True)
    while waiting is None and not free.empty():
        if (mine := free.get()) is not total:
            total.absorb(mine)


def _windowed(
    submit: Callable[[Group], Future[T]], groups: Iterator[Group], width: int, waiting: Callable[[], int] = lambda: 0
) -> Iterator[tuple[Group, T]]:
    """Results as they arrive, with at most `width` jobs running or waiting, so that few rows are read ahead."""
    running: dict[Future[T], Group] = {}
    for group in groups:
        running[submit(group)] = group
        while running and len(running) + waiting() >= width:
            yield from _ended(running)
    while running:
        yield from _ended(running)


def _ended(running: dict[Future[T], Group]) -> Iterator[tuple[Group, T]]:
    done = wait(running, return_when=FIRST_COMPLETED).done
    ended = [
        future for future in running if future in done
    ]  # in the order of the groups: the first failure is reported
    for future in sorted(ended, key=lambda f: f.exception() is not None):  # keep finished parts before stopping
        group = running.pop(future)
        yield group, future.result()


# --- other machines ---------------------------------------------------------------------------------------------


@contextmanager
def connected(client: Client) -> Iterator[tuple[DaskClient | None, Executor | None]]:
    """(Dask client, None) or (None, executor); a client created here from an address is closed here, others are not."""
    if isinstance(client, str):
        try:
            from distributed import Client
            from distributed.comm import get_address_host_port
        except ImportError:
            raise InputError(f'client={client!r} needs Dask: pip install "congruence[dask]"') from None
        try:
            if not client.startswith("inproc:"):
                get_address_host_port(client)  # a client of an invalid address takes 20 s to go, and prints a traceback
            dask = Client(client, set_as_default=False, timeout=10)
        except (OSError, ValueError, TimeoutError) as error:
            said = (str(error).splitlines() or [type(error).__name__])[0]
            raise InputError(f"no Dask scheduler answers at {client} ({said})") from None
        try:
            yield dask, None
        finally:
            with suppress(Exception):  # the scheduler is gone: nothing to close
                dask.close(timeout=2)
        return
    if type(client).__module__.split(".")[0] == "distributed" and hasattr(client, "get_executor"):
        yield client, None
    elif hasattr(client, "submit"):
        yield None, cast("Executor", client)  # or similar
    else:
        raise InputError(
            f"client must be a Dask client, the address of a scheduler as in 'tcp://host:8786', or an executor; got "
            f"{type(client).__name__}"
        )


def _version() -> str:
    import congruence

    return congruence.__version__


def _check_version(found: Record, version: str) -> None:
    for worker, theirs in found.items():
        if theirs != version:
            what = f"congruence {theirs}" if theirs else "no congruence"
            raise InputError(
                f"{worker} has {what} but this process has {version}; install the same version on all workers"
            )


def _added_on_dask(
    client: DaskClient, groups: Iterator[Group], work: Work[PartialTables], done: Callable[[Group], None],
    total: Accumulator,
) -> None:  # fmt: skip
    """Count on the workers with the same kernel and add tables there in a tree; only small tables are sent."""
    tree: list[DaskFuture] = []
    try:
        with _futures_on(client, groups, work) as leaves:
            tree = _tree(client, list(leaves))
            for future in ended_on(client, leaves):
                done(leaves[future])
            for root in ended_on(client, tree):
                total.add(root.result())
    finally:
        for future in tree:
            with suppress(Exception):
                future.release()


def _same_version(client: DaskClient) -> str:
    """The version of congruence, which all workers must have; waits for the first worker."""

    def theirs() -> str | None:  # sent by value, so it also runs where congruence is not installed
        try:
            import congruence
        except ImportError:
            return None
        return congruence.__version__

    try:
        client.wait_for_workers(1, timeout=PATIENCE)
    except TimeoutError:
        raise InputError(f"the Dask cluster has no workers after {PATIENCE} s; start some") from None
    version = _version()
    _check_version(client.run(theirs), version)
    return version


@contextmanager
def named_errors() -> Iterator[None]:
    """Turn errors of a Dask cluster into messages that say what to do."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:
        name = type(error).__name__
        if name == "KilledWorker":
            raise InputError(f"a part of the rows killed every worker that counted it ({error}); {KEPT}") from None
        if isinstance(error, OSError | TimeoutError) or name in ("CancelledError", "FutureCancelledError"):
            raise InputError(LOST) from None
        raise


def ended_on(client: DaskClient, futures: Iterable[DaskFuture]) -> Iterator[DaskFuture]:
    """Futures as they finish on the workers; their errors are raised."""
    from distributed import as_completed

    for future in _heard(as_completed(list(futures), loop=client.loop), client):
        if future.status in ("cancelled", "lost"):
            raise InputError(LOST)
        if future.status == "error":
            raise future.exception()
        yield future


def _heard(futures: Iterable[DaskFuture], client: DaskClient) -> Iterator[DaskFuture]:
    """Futures as they finish; a cluster without progress is reported on stderr, and abandoned after a limit."""
    ended: Queue[DaskFuture | Exception | None] = Queue()

    def listen() -> None:
        try:
            for future in futures:
                ended.put(future)
        except Exception as error:
            ended.put(error)
        ended.put(None)

    threading.Thread(target=listen, daemon=True).start()
    quiet = 0.0
    while True:
        try:
            found = ended.get(timeout=SILENT)
        except Empty:
            quiet += SILENT
            state = _workers(client)
            if quiet >= GIVEN_UP:
                raise InputError(f"the Dask workers finished nothing for {quiet:.0f} s ({state}); {KEPT}") from None
            print(f"congruence: the Dask workers finished nothing for {quiet:.0f} s ({state})", file=sys.stderr)
            continue
        quiet = 0.0
        if found is None:
            return
        if isinstance(found, Exception):
            raise found
        yield found


def _workers(client: DaskClient) -> str:
    """The numbers of workers and of paused workers, as text."""
    try:
        found = client.scheduler_info(n_workers=-1)["workers"].values()
    except Exception:  # older versions take no number, or the scheduler does not answer
        return "their state is unknown"
    paused = sum(w.get("status") == "paused" for w in found)
    return f"{len(found)} workers, {paused} of them paused for lack of memory"


def _submitted(client: DaskClient, group: Group, work: Function, *more: object) -> DaskFuture:
    """The future of work on a group; partitions of a Dask frame are worked on where they are."""
    frames = [part for part in group.parts if isinstance(part, Partition)]
    if not frames:
        return client.submit(work, group.parts, *more, pure=False)
    from dask import delayed

    held, described = [part.delayed for part in frames], [part.described for part in frames]
    return client.compute(delayed(on_frames, pure=False)(held, described, work, *more))


def on_frames(frames: Sequence[Frame], described: Sequence[Partition], work: Callable[..., T], *more: object) -> T:
    """Work on partitions of a Dask frame, on the worker that has them."""
    return work([about.holding(frame) for about, frame in zip(described, frames, strict=True)], *more)


def _tree(client: DaskClient, futures: list[DaskFuture]) -> list[DaskFuture]:
    """One future of the sum of all tables, by a tree of sums."""
    while len(futures) > 1:
        futures = [
            client.submit(merged, futures[i : i + BRANCHES], pure=False) for i in range(0, len(futures), BRANCHES)
        ]
    return futures
