"""Long runs that can be interrupted and resumed: one JSON line per finished item, computed by several processes."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any


def finished(
    work: Callable[[Any], dict[str, Any]],
    items: Iterable[Any],
    key: Callable[[Any], str],
    file: Path | None,
    jobs: int = 1,
) -> Iterator[dict[str, Any]]:
    """Yield the result of `work` for each item; finished items are read from the file, and new results are appended to it.

    Args:
        work: A function of one item, defined in a module, that returns plain values.
        items: The items.
        key: The name of an item in the file.
        file: The file of finished work, or None to keep nothing.
        jobs: Number of processes. It does not change the results.
    """
    done = {}
    if file is not None and file.exists():
        whole, _, _ = file.read_text().rpartition("\n")  # an incomplete last line is dropped
        file.write_text(whole + "\n" if whole else "")
        done = {found.pop("key"): found for found in map(json.loads, whole.splitlines())}
    left = [item for item in items if key(item) not in done]
    yield from (done[key(item)] for item in items if key(item) in done)
    for i, (item, found) in enumerate(_run(work, left, jobs)):
        if file is not None:
            with file.open("a") as out:
                out.write(json.dumps({"key": key(item), **found}) + "\n")
        print(f"{len(done) + i + 1} of {len(done) + len(left)}: {key(item)}", file=sys.stderr, flush=True)
        yield found


def _run(work: Callable[[Any], Any], items: list[Any], jobs: int) -> Iterator[tuple[Any, Any]]:
    if jobs == 1:
        yield from ((item, work(item)) for item in items)
        return
    from concurrent.futures import ProcessPoolExecutor, as_completed

    with ProcessPoolExecutor(jobs) as pool:
        waiting = {pool.submit(work, item): item for item in items}
        try:
            yield from ((waiting[future], future.result()) for future in as_completed(waiting))
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
