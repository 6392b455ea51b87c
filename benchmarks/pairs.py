"""One pair and all pairs, compared with scikit-learn, genieclust and clusim: `python -m benchmarks.pairs`.

From raw int64 labels to scores, encoding included; median of five. Peers too slow for five full runs are timed on a
sample of the pairs and extrapolated, and the table says so. Peers that are not installed (extra `bench`) are left out by name.
"""

from __future__ import annotations

import argparse
import multiprocessing
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.sizes import has, table
from benchmarks.timing import median


def genie() -> Callable[..., float] | None:
    """The ARI of genieclust, if it is installed."""
    if not has("genieclust"):
        return None
    from genieclust.compare_partitions import adjusted_rand_score

    found: Callable[..., float] = adjusted_rand_score
    return found


@dataclass
class Line:
    what: str
    who: str
    seconds: float
    note: str = ""


def shown(lines: list[Line], ours: str = "congruence") -> None:
    width = max(len(line.who) for line in lines) + 2
    what = None
    for line in lines:
        if line.what != what:
            what = line.what
            base = next(x.seconds for x in lines if x.what == what and x.who == ours)
            print(f"\n{what}")
        ratio = line.seconds / base
        print(f"  {line.who:<{width}} {line.seconds * 1e3:12.3f} ms  {ratio:9.1f}×  {line.note}")


def agreeing(rng: np.random.Generator, n: int, k: int, agreement: float = 0.7) -> tuple[np.ndarray, np.ndarray]:
    """Two label vectors of which 70 % agree."""
    a = rng.integers(0, k, n)
    return a, np.where(rng.random(n) < agreement, a, rng.integers(0, k, n))


def ari_large(rng: np.random.Generator, n: int) -> list[Line]:
    from sklearn.metrics import adjusted_rand_score

    import congruence as cg

    theirs = genie()
    a, b = agreeing(rng, n, 100)
    what = f"ARI, n = {n:,}, k = 100, int64 labels"
    assert abs(cg.ari(a, b) - adjusted_rand_score(a, b)) < 1e-12
    text_a, text_b = a.astype(str), b.astype(str)
    in_order = np.sort(a), np.sort(b)
    return [
        Line(what, "congruence", median(lambda: cg.ari(a, b))),
        *([] if theirs is None else [Line(what, "genieclust", median(lambda: theirs(a, b)))]),
        Line(what, "scikit-learn", median(lambda: adjusted_rand_score(a, b), 3), "median of three"),
        Line(what, "congruence, one thread", _one_thread(a, b)),
        Line(what, "congruence, sorted", median(lambda: cg.ari(in_order[0], in_order[1]))),
        Line(what, "congruence, strings", median(lambda: cg.ari(text_a, text_b), 1), "numpy strings, once"),
    ]


def _one_thread(a: np.ndarray, b: np.ndarray) -> float:
    from congruence.engine.cpu import table_of
    from congruence.inputs.labels import Labels

    return median(lambda: table_of(Labels(a), Labels(b), threads=1))


def extra_memory(who: str, n: int) -> float:
    """Megabytes that one ARI needs beyond its two inputs: peak of a fresh process, minus that before the call."""
    queue: Any = multiprocessing.get_context("spawn").Queue()
    process = multiprocessing.get_context("spawn").Process(target=_memory, args=(queue, who, n))
    process.start()
    answer = float(queue.get())
    process.join()
    return answer


def _memory(queue: Any, who: str, n: int) -> None:
    rng = np.random.default_rng(0)
    a, b = agreeing(rng, n, 100)
    if who == "congruence":
        import congruence as cg

        call = cg.ari
    elif who == "genieclust":
        from genieclust.compare_partitions import adjusted_rand_score as call
    else:
        from sklearn.metrics import adjusted_rand_score as call
    # the same on a prefix, so that imports and compiled code are not counted; large enough for kernels and threads
    for _ in range(3):
        call(a[:6_000_000], b[:6_000_000])
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts again from what is in use now
    before = _memory_line("VmRSS")
    call(a, b)
    queue.put(_memory_line("VmHWM") - before)


def _memory_line(name: str) -> float:
    """A line of /proc/self/status, in megabytes (Linux)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith(name)).split()[1]) / 1024


def ami_large(rng: np.random.Generator, n: int, k: int) -> list[Line]:
    from sklearn.metrics import adjusted_mutual_info_score

    import congruence as cg

    a, b = agreeing(rng, n, k)
    what = f"AMI (mean), n = {n:,}, k = {k}"
    ours = median(lambda: cg.ami_sum(a, b))
    start = time.perf_counter()
    theirs = adjusted_mutual_info_score(a, b)
    seconds = time.perf_counter() - start
    note = f"one run; values differ by {abs(theirs - cg.ami_sum(a, b)):.1e}"
    return [Line(what, "congruence", ours), Line(what, "scikit-learn", seconds, note)]


def collection(rng: np.random.Generator, members: int, n: int, k_low: int, k_high: int) -> np.ndarray:
    """Label columns that agree with a common structure to different degrees."""
    base = rng.random(n)
    k = rng.integers(k_low, k_high + 1, members)
    noise = rng.uniform(0.1, 0.9, members)
    columns = [
        np.where(rng.random(n) < x, rng.integers(0, kk, n), (base * kk).astype(np.int64))
        for kk, x in zip(k, noise, strict=True)
    ]
    return np.column_stack(columns)


def all_pairs(rng: np.random.Generator, members: int, n: int, sample: int) -> list[Line]:
    from sklearn import metrics

    import congruence as cg

    theirs = genie()

    labels = collection(rng, members, n, 2, 40)
    pairs = [(i, j) for i in range(members) for j in range(i + 1, members)]
    some = [pairs[x] for x in rng.choice(len(pairs), min(sample, len(pairs)), replace=False)]
    scale = len(pairs) / len(some)
    five = ("ari", "nmi_sum", "vi", "rand", "jaccard")
    amis = ("ami_max", "ami_sum", "ami_sqrt", "ami_min")

    def loop(*scores: Callable[..., float]) -> Callable[[], None]:
        def run() -> None:
            for i, j in some:
                a, b = labels[:, i], labels[:, j]
                for score in scores:
                    score(a, b)

        return run

    result = cg.compare_all(labels, five)
    for i, j in some[:20]:
        assert abs(result["ari"][i, j] - metrics.adjusted_rand_score(labels[:, i], labels[:, j])) < 1e-12
        assert abs(result["nmi_sum"][i, j] - metrics.normalized_mutual_info_score(labels[:, i], labels[:, j])) < 1e-12
    scaled = f"{len(some)} of {len(pairs)} pairs, scaled"
    what = f"all pairs of {members} clusterings, n = {n:,}, k in 2..40: ARI + NMI + VI + Rand + Jaccard"
    also = "the same and the four AMI, against scikit-learn's AMI alone"
    match = "accuracy, irm, kappa_max for all pairs"
    by_clusim = []
    if has("clusim"):
        import clusim.sim as clusim_sim
        from clusim.clustering import Clustering

        objects = [Clustering().from_membership_list(column.tolist()) for column in labels.T[:2]]

        def one_pair() -> None:
            clusim_sim.nmi(*objects, norm_type="sum")
            clusim_sim.adjrand_index(*objects)

        seconds = median(one_pair, 3) * len(pairs)
        by_clusim = [Line(what, "clusim, ARI + NMI", seconds, "one pair, scaled; objects made before")]

    return [
        Line(what, "congruence", median(lambda: cg.compare_all(labels, five))),
        Line(what, "congruence, one thread", median(lambda: cg.compare_all(labels, five, threads=1))),
        *([] if theirs is None else [Line(what, "genieclust, ARI alone", median(loop(theirs), 3) * scale, scaled)]),
        Line(
            what, "scikit-learn, ARI + NMI",
            median(loop(metrics.adjusted_rand_score, metrics.normalized_mutual_info_score), 3) * scale, scaled,
        ),
        *by_clusim,
        Line(also, "congruence", median(lambda: cg.compare_all(labels, five + amis))),
        Line(also, "scikit-learn, AMI", median(loop(metrics.adjusted_mutual_info_score), 1) * scale, scaled),
        Line(match, "congruence", median(lambda: cg.compare_all(labels, ("accuracy", "irm", "kappa_max")), 1)),
        Line(match, "of this, irm", median(lambda: cg.compare_all(labels, "irm"), 1)),
    ]  # fmt: skip


def few_clusters(rng: np.random.Generator, members: int, n: int, k: int) -> list[Line]:
    """All pairs of clusterings with few clusters: by tables of groups of clusterings, and one pair at a time."""
    from unittest.mock import patch

    import congruence as cg
    from congruence.engine import fused

    labels = cg.Ensemble(collection(rng, members, n, k, k))
    what = f"all pairs of {members} clusterings, n = {n:,}, k = {k}: ARI + NMI"
    together = cg.compare_all(labels, ("ari", "nmi_sum"))
    lines = [Line(what, "congruence", median(lambda: cg.compare_all(labels, ("ari", "nmi_sum"))))]
    with patch.object(fused, "MOST_JOINT", 0):
        alone = cg.compare_all(labels, ("ari", "nmi_sum"))
        lines.append(Line(what, "one pair at a time", median(lambda: cg.compare_all(labels, ("ari", "nmi_sum")))))
    assert all((together[key] == alone[key]).all() for key in ("ari", "nmi_sum"))
    for line in lines:
        line.note = f"{line.seconds / (members * (members + 1) / 2 * n) * 1e9:.2f} ns per pair and point"
    return lines


def kernel_floor(rng: np.random.Generator, members: int, n: int, k: int) -> list[Line]:
    """The fused kernel, compared with the best loop that computes only Σn² for uint8 labels with the same k."""
    from numba import njit

    from congruence.engine.kernels import fused
    from congruence.statistics.information import terms_below, unit_of

    @njit(nogil=True)
    def floor(labels, k, squares):  # type: ignore[no-untyped-def]
        count, n = labels.shape
        width = np.uint64(k)
        t0, t1 = np.zeros(k * k, np.uint32), np.zeros(k * k, np.uint32)
        t2, t3 = np.zeros(k * k, np.uint32), np.zeros(k * k, np.uint32)
        for i in range(count):
            a = labels[i]
            for j in range(i, count):
                b = labels[j]
                for quad in range(n // 4):
                    p = np.uint64(4 * quad)
                    t0[np.uint64(a[p]) * width + np.uint64(b[p])] += np.uint32(1)
                    p += np.uint64(1)
                    t1[np.uint64(a[p]) * width + np.uint64(b[p])] += np.uint32(1)
                    p += np.uint64(1)
                    t2[np.uint64(a[p]) * width + np.uint64(b[p])] += np.uint32(1)
                    p += np.uint64(1)
                    t3[np.uint64(a[p]) * width + np.uint64(b[p])] += np.uint32(1)
                total = np.int64(0)
                for c in range(k * k):
                    v = np.int64(t0[c] + t1[c] + t2[c] + t3[c])
                    t0[c] = t1[c] = t2[c] = t3[c] = np.uint32(0)
                    total += v * v
                squares[i, j] = total

    labels = rng.integers(0, k, (members, n)).astype(np.uint8)
    sizes = np.full(members, k, dtype=np.int64)
    terms, unit = terms_below(n, n + 1), float(unit_of(n))
    squares, logs = np.zeros((members, members), np.int64), np.zeros(members, np.int64)
    none = np.zeros(members, np.int64)
    ours = np.zeros((members, members), np.int64)

    def run() -> None:
        for i in range(members):
            fused(labels, sizes, i, i, members, terms, unit, False, ours[i, i:], logs[i:], none, none)

    what = f"kernel alone, one thread, {members} clusterings, n = {n:,}, k = {k}, uint8"
    turns = [(median(run, 1), median(lambda: floor(labels, k, squares), 1)) for _ in range(15)]
    ours_s, floor_s = (statistics.median(times) for times in zip(*turns, strict=True))
    lines = [
        Line(what, "congruence", ours_s, "Σn² and Σ n log n; median of 15 turns"),
        Line(what, "floor: Σn² only", floor_s, "4 tables, k fixed, n divisible by 4; in turn with ours"),
    ]
    assert (np.triu(squares) == np.triu(ours)).all()
    increments = members * (members + 1) / 2 * n
    for line in lines:
        line.note += f"; {line.seconds / increments * 1e9:.2f} ns per increment"
    return lines


def growth(rng: np.random.Generator) -> list[tuple[int, float]]:
    """Nanoseconds per point of one ARI as n grows; they should stay constant."""
    import congruence as cg

    rows = []
    for n in (10**4, 10**5, 10**6, 10**7, 3 * 10**7):
        a, b = agreeing(rng, n, 50)
        rows.append((n, median(lambda a=a, b=b: cg.ari(a, b), 3) / n * 1e9))
    return rows


def many_clusters(rng: np.random.Generator) -> list[Line]:
    """Millions of clusters on either side: pair, information and maxima measures in O(n)."""
    from sklearn.metrics import adjusted_rand_score

    import congruence as cg

    n, k = 5_000_000, 1_000_000
    a, b = agreeing(rng, n, k)
    what = f"n = {n:,} in {k:,} clusters: ARI + NMI + VI + purity"
    keys = ("ari", "nmi_sum", "vi", "purity", "van_dongen")
    start = time.perf_counter()
    theirs = adjusted_rand_score(a, b)
    seconds = time.perf_counter() - start
    note = f"one run; ARI differs by {abs(theirs - cg.ari(a, b)):.1e}"
    return [
        Line(what, "congruence", median(lambda: cg.compare(a, b, keys), 3)),
        Line(what, "scikit-learn, ARI", seconds, note),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="smaller sizes, under a minute")
    parser.add_argument("--full", action="store_true", help="time the peers on all pairs, not on a sample")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    large = 10**6 if options.quick else 10**7
    print("times are medians of five after a warm-up, ratios are to congruence in the same run")
    missing = [peer for peer in ("genieclust", "clusim") if not has(peer)]
    if missing:
        print(f"left out, because not installed: {', '.join(missing)}")
    table(large)
    lines = ari_large(rng, large)
    shown(lines)
    print(f"\nextra memory of one ARI, n = {large:,}, beyond the inputs")
    for who in ("congruence", *(["genieclust"] if has("genieclust") else []), "scikit-learn"):
        print(f"  {who:<14} {extra_memory(who, large):8.1f} MB")
    shown(ami_large(rng, 10**5 if options.quick else 10**6, 300 if options.quick else 1000))
    shown(all_pairs(rng, 30 if options.quick else 100, 10_000, 10**9 if options.full else 100))
    for k in (4, 10, 14, 30):
        shown(few_clusters(rng, 20, large // 10, k))
    shown(kernel_floor(rng, 60, 10_000, 20))
    shown(many_clusters(rng))
    print("\nnanoseconds per point of one ARI, k = 50")
    for n, each in growth(rng):
        print(f"  n = {n:>11,}  {each:6.2f}")


if __name__ == "__main__":
    main()
