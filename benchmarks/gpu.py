"""The CUDA engine: checked against the CPU engine, then timed with CUDA events: `python -m benchmarks.gpu [--quick]`.

`compute-sanitizer python -m benchmarks.gpu --check` searches for invalid accesses in every kernel, on small data;
`--tool racecheck … --check labels` does so for races, one part at a time because it is slow.

Kernel rates exclude preparation on the host: the timed kernels are queued behind a kernel that only waits. Real collections are
read from `clusterings/` in the folder named by the environment variable CONGRUENCE_DATA.
"""

from __future__ import annotations

import argparse
import datetime
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import congruence as cg
from benchmarks.gpu_checks import CHECKS, MEASURES, check, check_kernels, line
from benchmarks.sizes import SIZES, has
from congruence.engine.cuda import chunks, draws, slices, stacks, sums
from congruence.machine import device

WAIT = 'extern "C" __global__ void wait(long long cycles) { long long t = clock64(); while (clock64() - t < cycles); }'


def on_card(call: Callable[[], Any], repeats: int) -> float:
    """Median seconds between CUDA events around a call, with its preparation hidden behind a waiting kernel."""
    cp = device.cupy()
    wait = cp.RawKernel(WAIT, "wait")
    call()
    times = []
    for _ in range(repeats):
        cp.cuda.Device().synchronize()
        wait((1,), (1,), (np.int64(100_000_000),))
        start, end = cp.cuda.Event(), cp.cuda.Event()
        start.record()
        held = call()
        end.record()
        end.synchronize()
        times.append(cp.cuda.get_elapsed_time(start, end) / 1e3)
        del held
    return statistics.median(times)


def on_clock(call: Callable[[], Any], repeats: int) -> float:
    """Median wall time of a whole call, after one to compile."""
    call()
    times = []
    for _ in range(repeats):
        device.cupy().cuda.Device().synchronize()
        start = time.perf_counter()
        call()
        device.cupy().cuda.Device().synchronize()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


# --- rates --------------------------------------------------------------------------------------------------------


def limit(clocks: float = 3.53) -> float:
    """Increments per second if shared memory did nothing but serve 32 of them in this many clocks.

    32 random addresses fall on 32 banks so that the fullest gets 3.53 on average; a bank serves one per clock.
    """
    sms = device.facts()[0]
    clock = device.cupy().cuda.Device().attributes["ClockRate"] * 1e3
    return float(sms * clock * 32 / clocks)


def sliced_limit(k: int, n: int) -> tuple[float, str]:
    """The same for rows of sorted points: a hashed label is written, read and counted; cells are read and cleared."""
    bits, _, _, cells = slices.slice_shape(k, int(n / k + 3 * (n / k) ** 0.5), n / k)
    return limit(3.53 * (3 if bits else 1) + 2 * cells * k / n), "hashed" if bits else "one cell per label"


def stacked(make: Callable[[], Any], members: int, k: int) -> stacks.Stack:
    cp = device.cupy()
    codes = device.stack_for(members, len(make()), np.uint8 if k <= 255 else np.uint16)
    for row in range(members):
        codes[row, :] = make()
    sizes = [cp.bincount(row, minlength=k).get() for row in codes] if k > 240 else [np.zeros(k)] * members
    return stacks.Stack(codes, codes.shape[1], np.full(members, k), sizes)


def kinds(k: int, n: int) -> dict[str, Callable[[], Any]]:
    cp = device.cupy()
    rng = cp.random.default_rng(1)
    base = rng.integers(0, k, n)
    return {
        "random": lambda: rng.integers(0, k, n),
        "sorted": lambda: cp.sort(rng.integers(0, k, n)),
        "agreeing (10 % noise)": lambda: cp.where(rng.random(n) < 0.1, rng.integers(0, k, n), base),
        "identical": lambda: base,
        "80 % in one cluster": lambda: cp.where(rng.random(n) < 0.8, 0, rng.integers(0, k, n)),
    }


def rates(quick: bool) -> None:
    """Increments per second of the kernels alone."""
    n = 1_000_000
    most = limit()
    print(
        f"\nkernels, n = {n:,}, all pairs, G increments per second (limit: shared-memory atomics, {most / 1e9:,.0f} G/s)"
    )
    repeats = 2 if quick else 5
    for k in (2, 10, 20, 50, 80, 100, 128, 160, 200, 240):
        members = 256
        stack = stacked(kinds(k, n)["random"], members, k)
        i, j = np.triu_indices(members, 1)
        rate = len(i) * n / on_card(lambda s=stack, i=i, j=j: sums.Sums(s, i, j), repeats)  # type: ignore[misc]
        line(
            f"k = {k}, {members} members, tables in shared memory",
            f"{rate / 1e9:,.0f}",
            f"{rate / most:.0%} of the limit",
        )
    for k in (50, 200):
        for kind, make in kinds(k, n).items():
            stack = stacked(make, 256, k)
            i, j = np.triu_indices(256, 1)
            rate = len(i) * n / on_card(lambda s=stack, i=i, j=j: sums.Sums(s, i, j), repeats)  # type: ignore[misc]
            line(f"k = {k}, {kind}", f"{rate / 1e9:,.0f}")
    for k, members in (
        (300, 256),
        (1_000, 256),
        (2_000, 128),
        (3_000, 128),
        (10_000, 128),
        (30_000, 128),
        (60_000, 128),
    ):
        rate, sorting = sliced_rate(kinds(k, n)["random"], members, k, repeats)
        bound, how = sliced_limit(k, n)
        line(f"k = {k:,}, {members} members, rows of sorted points, {how}", f"{rate / 1e9:,.0f}",
             f"{rate / bound:.0%} of its limit, {bound / 1e9:,.0f}; sorting {sorting * 1e3:.2f} ms per member")  # fmt: skip
    for k in (300, 1_000, 3_000, 10_000, 30_000):
        for kind, make in kinds(k, n).items():
            rate, _ = sliced_rate(make, 128, k, repeats)
            line(f"k = {k:,}, {kind}", f"{rate / 1e9:,.0f}")


def sliced_rate(make: Callable[[], Any], members: int, k: int, repeats: int) -> tuple[float, float]:
    """(increments per second with points sorted before, seconds to sort the points of one member)."""
    stack = stacked(make, members, k)
    block = np.arange(min(64, members // 2))
    sort = sums.sorted_points
    upload = device.cupy().asarray
    sorting = on_card(lambda: sort(stack, block, upload), 1) / len(block)
    ready = sort(stack, block, upload)
    i, j = (x.ravel() for x in np.meshgrid(block, np.arange(len(block), members), indexing="ij"))
    sums.sorted_points = lambda *_: ready  # type: ignore[assignment]
    try:
        seconds = on_card(lambda: sums.Sums(stack, i, j), repeats)
    finally:
        sums.sorted_points = sort
    return len(i) * stack.n / seconds, sorting


def shapes(quick: bool) -> None:
    """Clusterings of any number of clusters: all pairs, with sorting the points."""
    cp = device.cupy()
    print("\ntables of any shape: all pairs of 16 members, points sorted within the time, CUDA events")
    rng = cp.random.default_rng(7)
    i, j = np.triu_indices(16, 1)
    for n, k in ((1_000_000, 100_000), (10_000_000, 100_000), (10_000_000, 1_000_000), (10_000_000, 5_000_000)):
        codes = device.stack_for(16, n, np.uint32)
        names = []
        for row in range(16):
            there, codes[row, :n] = cp.unique(rng.integers(0, k, n), return_inverse=True)
            names.append(len(there))
        sizes = [cp.bincount(row[:n]).get() for row in codes]
        stack = stacks.Stack(codes, n, np.array(names), sizes)
        seconds = on_card(lambda s=stack: sums.Sums(s, i, j), 1 if quick else 3)  # type: ignore[misc]
        clusters = chunks.by_size(stack, [0], cp.asarray)[0]
        sorting = on_card(lambda s=stack, c=clusters: chunks.sorted_points(s, 0, c), 1)  # type: ignore[misc]
        line(f"n = {n:,}, k = {k:,}", f"{len(i) * n / seconds / 1e9:,.0f}",
             f"G increments per second; sorting {sorting * 1e3:.2f} ms per member")  # fmt: skip
    n, k = 1_000_000, 62_042
    a, b = (cp.where(cp.arange(n) < 400_000, 0, rng.integers(0, k, n)) for _ in range(2))
    seconds = on_clock(lambda: cg.compare_all([a, b], ["ari", "vi"]), 3)
    line(f"n = {n:,}, k = {k:,}, 40 % in one cluster, one pair", f"{seconds * 1e3:.1f} ms", "wall time of compare_all")


# --- one pair, and the first calls of a process --------------------------------------------------------------------


def one_pair(quick: bool) -> None:
    """One ARI and one NMI of tensors on the GPU, beside torchmetrics."""
    if not (has("torch") and has("torchmetrics")):
        line("one pair of tensors", "not timed", "torch or torchmetrics is not installed")
        return
    import torch
    from torchmetrics.functional import clustering as torched

    print("\none pair of int64 tensors that agree on 70 % of the points: wall time per call, and times ours")
    ours = {"ari": cg.ari, "nmi": cg.nmi}
    theirs = {"ari": torched.adjusted_rand_score, "nmi": torched.normalized_mutual_info_score}
    for n, k in SIZES.items():
        if n < 1_000 or (quick and n > 1_000_000):
            continue
        rng = np.random.default_rng(n)
        a = rng.integers(0, k, n)
        b = np.where(rng.random(n) < 0.7, a, rng.integers(0, k, n))
        s, t = (torch.from_numpy(x).cuda() for x in (a, b))
        for key, call in ours.items():
            exact, repeats = call(a, b), 20 if n <= 1_000_000 else 7
            mine = on_clock(lambda call=call, s=s, t=t: call(s, t), repeats)  # type: ignore[misc]
            peer = on_clock(lambda call=theirs[key], s=s, t=t: float(call(s, t)), repeats)  # type: ignore[misc]
            apart = abs(float(theirs[key](s, t)) - exact)
            assert call(s, t) == exact
            wrong = f", which differs from the exact value by {apart:.1g}" if apart > 1e-5 else ""
            here = f"torchmetrics {peer * 1e3:.3f} ms ({peer / mine:.2f}×){wrong}"
            line(f"{key}, n = {n:,}, k = {k}", f"{mine * 1e3:.3f} ms", here)


#: a process of its own: seconds of the first call, of the first permutation test, and of the second
FIRST = """
import time, numpy as np, cupy as cp
rng = np.random.default_rng(0)
a, b = (cp.asarray(rng.integers(0, 10, 100_000)) for _ in range(2))
cp.cuda.Device().synchronize()
for code in ("import congruence as cg; cg.ari(a, b)", "cg.permutation_test(a, b, 'nmi_sum', 1000, 0)",
             "cg.permutation_test(a, b, 'nmi_sum', 1000, 0)"):
    start = time.perf_counter()
    exec(code)
    print(time.perf_counter() - start)
"""


def first_calls(quick: bool) -> None:
    """The first calls after installation, when nothing is compiled, and those of the next process."""
    print("\nfirst calls, n = 100,000, k = 10, after CuPy and its arrays: wall time")
    with tempfile.TemporaryDirectory() as empty:
        for what in ("nothing compiled before", "the next process"):
            own = {
                "CUPY_CACHE_DIR": f"{empty}/cupy",
                "CUDA_CACHE_PATH": f"{empty}/cuda",
                "NUMBA_CACHE_DIR": f"{empty}/numba",
            }
            said = subprocess.run(
                [sys.executable, "-c", FIRST], capture_output=True, text=True, check=True, env={**os.environ, **own}
            )
            pair, test, again = map(float, said.stdout.split())
            line(f"ari, {what}", f"{pair:.2f} s")
            line(f"then permutation_test, {what}", f"{test:.2f} s", f"the second {again * 1e3:.0f} ms")


# --- whole calls --------------------------------------------------------------------------------------------------


def whole(quick: bool) -> None:
    """compare_all from start to end."""
    cp = device.cupy()
    members, n, k = (200, 1_000_000, 50) if quick else (1_000, 1_000_000, 50)
    pairs = members * (members - 1) // 2
    print(
        f"\ncompare_all, {members:,} clusterings, n = {n:,}, k = {k}: {', '.join(MEASURES)} of {pairs:,} pairs, wall time"
    )
    columns = cp.empty((n, members), np.uint8, order="F")
    rng = cp.random.default_rng(2)
    for j in range(members):
        columns[:, j] = rng.integers(0, k, n)
    wide = [columns[:, j].astype(np.int64) for j in range(members)]
    for what, data, options in (
        ("labels on the GPU, column after column", columns, {}),
        ("labels on the GPU, a list of uint8 vectors", [columns[:, j] for j in range(members)], {}),
        ("labels on the GPU, a list of int64 vectors", wide, {}),
        ("labels on the GPU, row after row", cp.ascontiguousarray(columns), {}),
        ("labels in host memory, row after row", cp.ascontiguousarray(columns).get(), {"engine": "cuda"}),
    ):
        seconds = on_clock(lambda d=data, o=options: cg.compare_all(d, MEASURES, **o), 3 if quick else 5)  # type: ignore[misc]
        line(what, f"{seconds:.3f} s", f"{pairs * n / seconds / 1e9:,.0f} G increments per second")
    seconds = on_clock(lambda: cg.compare_all(columns, [*MEASURES, "ami_max", "purity"]), 3)
    line("on the GPU, with ami_max and purity", f"{seconds:.3f} s")
    few = cg.Ensemble(columns[:, :60].get())
    _ = [c.codes for c in few]
    seconds = on_clock(lambda: cg.compare_all(few, MEASURES, engine="cpu"), 1)
    scaled = seconds * members * (members + 1) / (len(few) * (len(few) + 1))
    line(
        f"CPU engine, {os.cpu_count()} threads",
        f"{scaled:.1f} s",
        f"{len(few)} of {members} members, encoded before; scaled",
    )


def streamed(quick: bool) -> None:
    """A GPU with little memory: blocks of members, the next copied while one is counted."""
    rng = np.random.default_rng(3)
    members, n = 96, 1_000_000
    labels = cg.Ensemble([rng.integers(0, 50, n).astype(np.uint8) for _ in range(members)])
    _ = [c.codes for c in labels]
    print(f"\nstreamed from the host: {members} clusterings, n = {n:,}, k = 50, as if the GPU had less free memory")
    resident = cg.compare_all(labels, MEASURES, engine="cuda")
    line("all at once", f"{on_clock(lambda: cg.compare_all(labels, MEASURES, engine='cuda'), 3):.3f} s")
    free = device.free_memory
    for share in (2, 4):
        device.free_memory = lambda share=share: int(members * n / share / stacks.SHARE)  # type: ignore[misc]
        try:
            found = cg.compare_all(labels, MEASURES, engine="cuda")
            seconds = on_clock(lambda: cg.compare_all(labels, MEASURES, engine="cuda"), 3)
        finally:
            device.free_memory = free
        for key in MEASURES:
            np.testing.assert_allclose(found[key], resident[key], rtol=1e-12, atol=1e-14)
        assert (found["ari"] == resident["ari"]).all()
        line(f"room for 1/{share} of the labels", f"{seconds:.3f} s", "same values")


def consensus(quick: bool) -> None:
    """The consensus matrix of many points, never copied to the host."""
    n, members, k = (20_000, 100, 20) if quick else (100_000, 100, 20)
    rng = np.random.default_rng(4)
    base = rng.integers(0, k, n)
    columns = np.where(rng.random((n, members)) < 0.3, rng.integers(0, k, (n, members)), base[:, None]).astype(np.uint8)
    e = cg.Ensemble(device.moved(columns))
    on_host = cg.Ensemble(columns)
    print(f"\nconsensus matrix, n = {n:,}, {members} members, wall time")
    small, small_host = (cg.Ensemble(x) for x in (device.moved(columns[:3_000].copy()), columns[:3_000]))
    a, b = cg.consensus_cdf(small), cg.consensus_cdf(small_host, engine="cpu")
    assert a.pairs == b.pairs
    assert (a.values == b.values).all()
    assert (a.shares == b.shares).all()
    seconds = on_clock(lambda: cg.consensus_cdf(e), 3)
    line("distribution over all pairs (CDF, PAC, area)", f"{seconds:.3f} s",
         f"{n * (n - 1) / 2 * members / seconds / 1e9:,.0f} G labels compared per second")  # fmt: skip
    line("uncertainty", f"{on_clock(lambda: cg.uncertainty(e), 3):.3f} s", "from tables")
    assert abs(cg.uncertainty(e) - cg.uncertainty(on_host, engine="cpu")) < 1e-12
    line("item consensus", f"{on_clock(lambda: cg.item_consensus(e, base), 3):.3f} s", "from tables")
    np.testing.assert_allclose(cg.item_consensus(e, base), cg.item_consensus(on_host, base, engine="cpu"), rtol=1e-12)

    def blocks() -> None:
        for _ in cg.consensus_blocks(e, rows=4_096, dtype=np.uint8):
            pass

    line(
        "the matrix itself, in blocks of counts (uint8)",
        f"{on_clock(blocks, 2):.3f} s",
        f"{n * n / 2**30:.1f} GB pass by",
    )


def permutations(quick: bool) -> None:
    """Permutation tests, whole calls."""
    n, many = 1_000_000, 1_000 if quick else 10_000
    rng = np.random.default_rng(5)
    print(f"\npermutation_test, {many:,} permutations, n = {n:,}, wall time (second call)")
    for k in (10, 50, 200, 500, 1_000):
        a, b = (device.moved(rng.integers(0, k, n).astype(np.int16)) for _ in range(2))
        for key in ("ari", "nmi_sum") if k < 1_000 else ("ari",):
            seconds = on_clock(lambda a=a, b=b, key=key: cg.permutation_test(a, b, key, many, 1), 3)  # type: ignore[misc]
            drawn = draws.by_tables(k, k, n)
            here = ""
            if k == 50:
                x, y = a.get(), b.get()
                cpu = on_clock(lambda x=x, y=y, key=key: cg.permutation_test(x, y, key, 1_000, 1), 1)  # type: ignore[misc]
                here = f"; CPU engine, {os.cpu_count()} threads {cpu * many / 1_000:.2f} s, 1,000 drawn, scaled"
            line(f"{key}, k = {k:,}", f"{seconds:.3f} s", ("tables drawn" if drawn else "points permuted") + here)
    a, b = (device.moved(rng.integers(0, 50, n).astype(np.int16)) for _ in range(2))
    sizes = [np.broadcast_to(np.bincount(x.get()), (1 << 14, 50)) for x in (a, b)]
    seconds = on_card(lambda: draws.random_sums(*sizes, [True, True], 1, False, False), 3)
    line("16,384 tables of 50 × 50 cells, CUDA events", f"{seconds * 1e3:.1f} ms")


def profiles(quick: bool) -> None:
    """Density profiles and ADCO."""
    cp = device.cupy()
    n, attributes = (1_000_000, 20) if quick else (10_000_000, 50)
    rng = cp.random.default_rng(6)
    X = rng.standard_normal((n, attributes), dtype=np.float32)
    a, b = (rng.integers(0, 20, n).astype(np.uint8) for _ in range(2))
    print(f"\ndensity profiles, n = {n:,}, {attributes} attributes, 10 bins, 20 clusters, float32, wall time")
    seconds = on_clock(lambda: cg.density_profile(X, a), 3)
    line("density_profile, row after row", f"{seconds:.3f} s", f"{X.nbytes / seconds / 1e9:,.0f} GB/s of data")
    by_column = cp.asfortranarray(X)
    seconds = on_clock(lambda: cg.density_profile(by_column, a), 3)
    line("density_profile, column after column", f"{seconds:.3f} s", f"{X.nbytes / seconds / 1e9:,.0f} GB/s of data")
    fitted = cg.Binning().fit(by_column)
    seconds = on_clock(lambda: cg.density_profile(by_column, a, fitted), 3)
    line("the same, bins fitted before", f"{seconds:.3f} s", f"{X.nbytes / seconds / 1e9:,.0f} GB/s of data")
    seconds = on_clock(lambda: cg.adco(a, b, by_column), 3)
    line("adco of two clusterings", f"{seconds:.3f} s")
    part = slice(0, n // 10)
    host = [np.asfortranarray(X[part].get()), a[part].get(), b[part].get()]
    seconds = on_clock(lambda: cg.adco(host[1], host[2], host[0]), 1)
    line(f"CPU engine, {os.cpu_count()} threads", f"{seconds * 10:.2f} s", "a tenth of the points; scaled")


def collections(quick: bool) -> None:
    """Real collections on both engines."""
    import pandas as pd

    folder = Path(os.environ.get("CONGRUENCE_DATA", "../shared/data")) / "clusterings"
    print("\nreal collections, all pairs, wall time (second call)")
    for name in ("uci_wine_allk", "mnist_digits", "sipu_birch1"):
        path = folder / f"{name}.csv.gz"
        if not path.exists():
            line(name, "not found", str(path))
            continue
        frame = pd.read_csv(path, keep_default_na=False)
        columns = np.asfortranarray(frame.to_numpy(dtype=np.int64))
        found = {e: cg.compare_all(columns, [*MEASURES, "ami_max"], engine=e) for e in ("cpu", "cuda")}
        worst = max(float(np.nanmax(np.abs(found["cpu"][key] - found["cuda"][key]))) for key in found["cpu"])
        assert worst < 1e-12, worst
        seconds = {
            e: on_clock(lambda e=e, c=columns: cg.compare_all(c, [*MEASURES, "ami_max"], engine=e), 3) for e in found
        }  # type: ignore[misc]
        n, members = columns.shape
        line(f"{name}: {members} partitions of {n:,} points", f"{seconds['cuda'] * 1e3:.1f} ms",
             f"CPU engine {seconds['cpu'] * 1e3:.1f} ms; largest difference {worst:.1e}")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="smaller sizes, fewer repeats")
    parser.add_argument(
        "--check",
        nargs="*",
        choices=CHECKS,
        help=f"only check, on small data (for compute-sanitizer): {', '.join(CHECKS)}, or all of them",
    )
    parser.add_argument(
        "--only",
        help="one part: check, first_calls, one_pair, rates, shapes, whole, streamed, consensus, permutations, profiles, "
        "collections",
    )
    asked = parser.parse_args()
    quick = asked.quick
    cp = device.cupy()
    name = cp.cuda.runtime.getDeviceProperties(0)["name"].decode()
    print(f"{name}, CUDA {cp.cuda.runtime.runtimeGetVersion()}, CuPy {cp.__version__}, {datetime.date.today()}")
    every = (
        check, first_calls, one_pair, rates, shapes, whole, streamed, consensus, permutations, profiles, collections,
    )  # fmt: skip
    if asked.check is not None:
        check_kernels(asked.check or list(CHECKS))
        return
    for part in [p for p in every if asked.only in (None, p.__name__)]:
        part(quick)
        pool, host = cp.get_default_memory_pool(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        line("peak memory", f"{pool.total_bytes() / 1e9:.1f} GB", f"on the card; {host / 2**20:.1f} GB of the process")
        pool.free_all_blocks()


if __name__ == "__main__":
    main()
