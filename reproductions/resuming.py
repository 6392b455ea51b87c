"""Long runs that can be interrupted and resumed: one JSON line per finished item, computed by several processes."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np


def parser_of(name: str, about: str | None, items: str = "") -> argparse.ArgumentParser:
    """The options of a long run: --keep, --jobs, and --some if it may take a few of its items.

    Args:
        name: The name of the script.
        about: Its docstring.
        items: What the items are, for --some.
    """
    parser = argparse.ArgumentParser(prog=f"python -m reproductions.{name}", description=about)
    if items:
        parser.add_argument("--some", type=int, metavar="N", help=f"only N {items}, drawn at random")
    parser.add_argument("--keep", type=Path, metavar="FILE", help="file of finished work, read and added to")
    parser.add_argument("--jobs", type=int, default=1, help="number of processes; it does not change the results")
    return parser


def drawn(every: Sequence[Any], many: int | None) -> list[Any]:
    """The items in random order, so that a stopped run is a random sample; only the first ones if there is a number."""
    return [every[i] for i in np.random.default_rng(0).permutation(len(every))[:many]]


def outcomes_of(
    work: Callable[[Any], dict[str, Any]],
    every: Callable[[argparse.Namespace], Sequence[Any]],
    parser: argparse.ArgumentParser,
    argv: Sequence[str] | None,
) -> tuple[list[dict[str, Any]], int]:
    """The results for all items that the options ask for, or for some drawn at random, and the number of all."""
    args = parser.parse_args(argv)
    items = every(args)
    return results(work, drawn(items, args.some), args), len(items)


def by_half(outcomes: Iterable[dict[str, Any]]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """The outcomes of DEV and of TEST, as far as there are any."""
    found = list(outcomes)
    for half in ("DEV", "TEST"):
        if part := [o for o in found if o.get("half") == half]:
            yield half, part


def results(
    work: Callable[[Any], dict[str, Any]],
    items: Iterable[Any],
    args: argparse.Namespace,
    key: Callable[[Any], str] = str,
) -> list[dict[str, Any]]:
    """The results of `finished` with the options of `parser_of`; Ctrl-C keeps those that are done."""
    found: list[dict[str, Any]] = []
    try:
        found.extend(finished(work, items, key, args.keep, args.jobs))
    except KeyboardInterrupt:
        print("stopped: the tables are of what is done", file=sys.stderr)
    return found


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
