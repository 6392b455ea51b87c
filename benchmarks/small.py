"""One pair of all sizes beside other packages, and small pairs beside scikit-learn: `python -m benchmarks.small`.

First one ARI and one NMI from 10 to 10⁷ points (see `benchmarks.sizes`; `--picture docs/images/times.svg` draws them).

Microseconds of processor time per call, from numpy integers, Python lists and strings to values. The two packages take
turns, and the smallest of many runs counts, so that other work on the machine does not decide. With `--before PATH`,
the source folder of another version (as in `git archive c5cc846 src | tar -x -C before`, `--before before/src`) is timed
on the same inputs in a separate process.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from benchmarks.sizes import SIZES as ALL_SIZES
from benchmarks.sizes import picture, seconds_of, table

SIZES = (10, 100, 1_000, 10_000)


def inputs(n: int) -> dict[str, tuple[Any, Any]]:
    """Two clusterings of n points that agree on about 70 % of them, as integers, lists and strings."""
    rng = np.random.default_rng(n)
    k = min(10, max(2, n // 5))
    a = rng.integers(0, k, n)
    b = np.where(rng.random(n) < 0.7, a, rng.integers(0, k, n))
    return {"integers": (a, b), "lists": (a.tolist(), b.tolist()), "strings": (a.astype(str), b.astype(str))}


def ours() -> dict[str, Callable[[Any, Any], Any]]:
    import congruence as cg

    return {
        "ari": cg.ari,
        "nmi": cg.nmi_sum,
        "ami": cg.ami_max,
        "seven measures": lambda a, b: cg.compare(a, b).to_dict(),
    }


def theirs() -> dict[str, Callable[[Any, Any], Any]]:
    from sklearn import metrics

    def seven(a: Any, b: Any) -> list[float]:
        """As many scores as `compare` has by default; scikit-learn counts each from the labels."""
        return [
            metrics.adjusted_rand_score(a, b),
            metrics.adjusted_mutual_info_score(a, b, average_method="max"),
            metrics.normalized_mutual_info_score(a, b),
            metrics.v_measure_score(a, b),
            metrics.rand_score(a, b),
            metrics.fowlkes_mallows_score(a, b),
            metrics.mutual_info_score(a, b),
        ]

    return {
        "ari": metrics.adjusted_rand_score,
        "nmi": metrics.normalized_mutual_info_score,
        "ami": lambda a, b: metrics.adjusted_mutual_info_score(a, b, average_method="max"),
        "seven measures": seven,
    }


def fastest(calls: list[Callable[[], Any]]) -> list[float]:
    """Seconds per call of each, the smallest of some runs in turn."""
    return list(seconds_of({str(i): call for i, call in enumerate(calls)}).values())


def readings(n: int) -> Iterator[tuple[str, Callable[[], Any], Callable[[], Any]]]:
    """Kind of labels, one ARI of two of them, and what their own library needs to make codes of both."""
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    import congruence as cg

    def both(call: Callable[[Any], Any], x: Any, y: Any) -> Callable[[], Any]:
        return lambda: (call(x), call(y))

    by_kind = inputs(n)
    a, b = by_kind["strings"]
    texts, numbers = (a.astype(object), b.astype(object)), by_kind["integers"]
    encodings: dict[str, tuple[Any, Any, Callable[[Any], Any]]] = {
        "lists of integers": (*by_kind["lists"], np.array),
        "lists of texts": (a.tolist(), b.tolist(), lambda x: pa.array(x).dictionary_encode()),
        "numpy texts": (a, b, lambda x: pa.array(x).dictionary_encode()),
        "pandas integers": (*map(pd.Series, numbers), lambda x: x.to_numpy()),
        "pandas texts": (*map(pd.Series, texts), pd.factorize),
        "polars integers": (*map(pl.Series, numbers), lambda x: x.to_numpy()),
        "polars texts": (*map(pl.Series, texts), lambda x: x.to_arrow().dictionary_encode()),
        "arrow texts": (*map(pa.array, texts), lambda x: x.dictionary_encode()),
    }
    for kind, (x, y, encode) in encodings.items():
        yield kind, lambda x=x, y=y: cg.ari(x, y), both(encode, x, y)


def kinds_of_labels() -> None:
    """What labels of other kinds cost beyond integers, beside their encoding; and the slowest measure of sums."""
    import congruence as cg
    from congruence.engine.cpu import OF_SUMS

    print(
        "\nOne ARI beside the encoding of both inputs by their library, microseconds; more: times the encoding beyond integers."
    )
    print(f"{'labels':<20}{'n':>7}{'ari':>9}{'encoding':>10}{'more':>8}")
    for n in (1_000, 10_000):
        a, b = inputs(n)["integers"]
        for kind, ari, encode in readings(n):
            plain, ours, theirs = fastest([lambda a=a, b=b: cg.ari(a, b), ari, encode])
            print(
                f"{kind:<20}{n:>7,}{ours * 1e6:>9.1f}{theirs * 1e6:>10.1f}{(ours - plain) / theirs:>8.2f}", flush=True
            )
    a, b = inputs(1_000)["integers"]
    keys = [m.key for m in cg.measures() if m.needs in OF_SUMS]
    took = fastest([partial(getattr(cg, key), a, b) for key in keys])
    slowest = sorted(zip(took, keys, strict=True))[::-1][:3]
    shown = ", ".join(f"{key} {seconds * 1e6:.1f}" for seconds, key in slowest)
    print(f"\nSlowest of {len(keys)} measures of sums, two arrays of 1,000 integers, microseconds: {shown}")


def answer() -> None:
    """Time the cases that are named on standard input, one per line; another version does this in its own process."""
    import congruence as cg

    print(cg.__version__, flush=True)
    for line in sys.stdin:
        what, kind, n = json.loads(line)
        call, (a, b) = ours()[what], inputs(n)[kind]
        print(fastest([lambda call=call, a=a, b=b: call(a, b)])[0], flush=True)


class Before:
    """Another version of congruence, timed case by case right after this one."""

    def __init__(self, path: str) -> None:
        program = f"import sys; sys.path[:0] = [{path!r}, '.']; from benchmarks.small import answer; answer()"
        command = [sys.executable, "-c", program]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.version = self._line()

    def _line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def seconds(self, what: str, kind: str, n: int) -> float:
        """Seconds per call of one case."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps([what, kind, n]) + "\n")
        self.process.stdin.flush()
        return float(self._line())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--before", metavar="PATH", help="source folder of another version to time alongside")
    parser.add_argument("--picture", metavar="FILE", help="draw the times of all sizes as SVG")
    parser.add_argument("--most", type=int, default=max(ALL_SIZES), help="largest number of points")
    options = parser.parse_args()
    path = options.before
    times = table(options.most)
    if options.picture:
        picture(times, options.picture)
    print()
    print("Microseconds of processor time per call, and how many times as long as congruence scikit-learn takes.")
    print("ami: maximum of the entropies; seven measures: cg.compare(a, b) and seven scores of scikit-learn.")
    before = Before(path) if path else None
    older = f"{before.version:>11}" if before else ""
    print(f"\n{'':<16}{'labels':<10}{'n':>7}{'congruence':>12}{'scikit-learn':>14}{'ratio':>8}{older}")
    slower = []
    for what, call in ours().items():
        peer = theirs()[what]
        for n in SIZES:
            for kind, (a, b) in inputs(n).items():
                if what != "seven measures":
                    assert abs(call(a, b) - peer(a, b)) < 1e-9
                mine, their = fastest([lambda call=call, a=a, b=b: call(a, b), lambda peer=peer, a=a, b=b: peer(a, b)])
                then = f"{before.seconds(what, kind, n) * 1e6:11.0f}" if before else ""
                row = f"{what:<16}{kind:<10}{n:>7,}{mine * 1e6:>12.0f}{their * 1e6:>14.0f}{their / mine:>8.1f}{then}"
                print(row, flush=True)
                if their < mine:
                    slower.append(row.split())
    print(f"\n{len(slower)} of {len(SIZES) * 3 * len(ours())} rows in which scikit-learn is faster")
    kinds_of_labels()


if __name__ == "__main__":
    main()
