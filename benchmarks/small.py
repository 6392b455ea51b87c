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
from collections.abc import Callable
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


if __name__ == "__main__":
    main()
