"""Small pairs, compared with scikit-learn: `python -m benchmarks.small`.

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
import time
from collections.abc import Callable
from typing import Any

import numpy as np

SIZES = (10, 100, 1_000, 10_000)
RUNS = 15


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


def fastest(calls: list[Callable[[], Any]], runs: int = RUNS) -> list[float]:
    """Seconds per call of each, the smallest of some runs in turn; a run takes about 10 ms."""
    many, best = [], [float("inf")] * len(calls)
    for call in calls:
        call()
        start = time.process_time()
        call()
        many.append(max(1, int(0.01 / max(time.process_time() - start, 1e-7))))
    for _ in range(runs):
        for i, call in enumerate(calls):
            start = time.process_time()
            for _ in range(many[i]):
                call()
            best[i] = min(best[i], (time.process_time() - start) / many[i])
    return best


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
    path = parser.parse_args().before
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
