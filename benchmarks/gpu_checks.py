"""The CUDA engine checked against the CPU engine: every kind of input, permutation tests, density profiles, and every kernel.

`python -m benchmarks.gpu` runs these checks before it measures, and `python -m benchmarks.gpu --check` runs only them.
"""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

import congruence as cg
from congruence.engine.cuda import draws, sums
from congruence.machine import device

MEASURES = ["ari", "nmi_sum", "vi", "jaccard"]


def line(what: str, value: str, note: str = "") -> None:
    print(f"  {what:<58} {value:>14}  {note}".rstrip(), flush=True)


def check(quick: bool) -> None:
    """Every kind of input, permutation test and density profile by both engines."""
    print("\nchecked against the CPU engine (largest difference of any measure)")
    check_labels(quick)
    check_draws(quick)
    check_profiles(quick)


def check_labels(quick: bool) -> None:
    """Every kind of input by both engines: the same bits; with weights and memberships floats to 1e-12."""
    rng = np.random.default_rng(0)
    keys = [m.key for m in cg.measures() if m.key in cg.compare([0, 0, 1, 1], [0, 1, 1, 1], "all")]
    keys = [key for key in keys if key != "lambda"]
    less = 10 if quick else 1
    hard = [rng.integers(0, k, 20_003 // less) for k in (2, 7, 20, 50, 120, 240)]
    large = [rng.integers(0, k, 60_001 // less) for k in (7, 300, 1_000, 5_000)]
    gaps = [np.where(rng.random(len(v)) < 0.05, np.nan, v) for v in hard]
    soft = [rng.dirichlet(np.ones(k), 2_000) for k in (2, 5, 9)]
    sums = ["ari", "vi", "ami_max", "purity", "van_dongen", "jaccard"]
    for what, data, measures, options in (
        ("labels, every measure", [v[:3_000] for v in hard[:5]], keys, {}),
        ("labels, k = 2 … 240", hard, sums, {}),
        ("labels, k = 7 … 5,000", large, sums, {}),
        ("labels, k = 9 … 100,000", [rng.integers(0, k, 200_003 // less) for k in (9, 60_000, 100_000)], sums, {}),
        ("labels with gaps", gaps, sums, {"unassigned": "drop"}),
        ("labels with frequency", hard, sums, {"frequency": rng.integers(0, 4, len(hard[0]))}),
        ("labels with sample_weight", hard, ["ari", "vi", "purity"], {"sample_weight": rng.random(len(hard[0]))}),
        ("memberships", [*soft, hard[1][:2_000]], ["ari", "nmi_sum", "ari_gram", "accuracy"], {}),
    ):
        cpu, gpu = (cg.compare_all(data, measures, engine=engine, **options) for engine in ("cpu", "cuda"))
        assert (cpu.n_used == gpu.n_used).all()
        worst = max(float(np.nanmax(np.abs(cpu[key] - gpu[key]) / np.maximum(1, np.abs(cpu[key])))) for key in cpu)
        assert worst < 1e-12, (what, worst)
        if what not in ("labels with sample_weight", "memberships"):
            assert all(cpu[key].tobytes() == gpu[key].tobytes() for key in cpu), (what, worst)
        line(what, f"{worst:.1e}")


def check_draws(quick: bool) -> None:
    """Permutation tests by both engines: the same value and mean, draws of the same distribution, for a seed the same."""
    from scipy.stats import ks_2samp

    rng = np.random.default_rng(8)
    n, many = (500, 40) if quick else (3_000, 2_000)
    a, b = rng.integers(0, 6, n), rng.integers(0, 9, n)
    b = np.where(rng.random(len(a)) < 0.02, a, b)
    for key, cells in product(("ari", "nmi_sum", "ami_max", "purity", "accuracy"), (draws.DRAWN_CELLS, 0.0)):
        before, draws.DRAWN_CELLS = draws.DRAWN_CELLS, cells
        try:
            there, here = (cg.permutation_test(a, b, key, many, 3, engine=engine) for engine in ("cuda", "cpu"))
            again = cg.permutation_test(a, b, key, many // 2, 3, engine="cuda")
        finally:
            draws.DRAWN_CELLS = before
        assert abs(there.value - here.value) < 1e-12
        assert not here.is_exact or abs(there.expected - here.expected) < 1e-12
        assert again.draws.tobytes() == there.draws[: many // 2].tobytes()
        alike = ks_2samp(there.draws, here.draws).pvalue
        assert alike > 1e-4, (key, alike)
        how = "tables drawn" if cells else "points permuted"
        line(f"permutation test of {key}, {how}", f"p = {alike:.2f}", "that both engines draw from one distribution")


def check_profiles(quick: bool) -> None:
    """Density profiles by both engines: the same integers."""
    rng = np.random.default_rng(9)
    X = rng.normal(size=(50_001 // (10 if quick else 1), 7))
    X[rng.random(X.shape) < 0.02] = np.nan
    a = rng.integers(0, 300, len(X))
    for method in ("width", "frequency", "mdl"):
        for bivariate in (False, True):
            p, q = (
                cg.density_profile(data, a % 12, cg.Binning(method), bivariate=bivariate)  # type: ignore[arg-type]
                for data in (X, device.moved(X.astype(np.float64)))
            )
            assert p.attributes == q.attributes
            assert (p.counts == q.counts).all()
            assert (p.outside == q.outside).all()
    p, q = (cg.density_profile(X.astype(np.float32), a, engine=engine) for engine in ("cpu", "cuda"))  # type: ignore[arg-type]
    assert (p.counts == q.counts).all()
    line("density profiles, also of pairs of attributes", "same integers")


def check_doors(quick: bool) -> None:
    """Labels on the card, consensus matrices, tables of every size, other null models."""
    rng = np.random.default_rng(1)
    columns = rng.integers(0, 9, (1_003, 21)).astype(np.int16)
    for there in (device.moved(columns), device.moved(np.asfortranarray(columns % 7))):
        e = cg.Ensemble(there)
        cg.compare_all(e, [*MEASURES, "purity", "ami_max"])
        cg.consensus_cdf(e)
        cg.item_consensus(e, columns[:, 0])
        for _ in cg.consensus_blocks(e, rows=100, dtype=np.uint8):
            pass
    wide = cg.Ensemble(device.moved(rng.integers(0, 700, (5_001, 3))))
    cg.consensus_cdf(wide)
    cg.compare_all(wide, ["ari", "vi"])
    for null in ("permutation", "n_clusters"):
        for key in ("ami_max", "purity", "accuracy"):
            cg.permutation_test(e[0], e[1], key, 50, 1, null=null, engine="cuda")  # type: ignore[arg-type]
    sums.SPLIT_FROM, sums.SPLIT_POINTS = 0, 100
    cg.compare_all(e, [*MEASURES, "purity"])
    line("labels on the card, consensus matrices, null models", "ran")


def check_shapes(quick: bool) -> None:
    """More clusters than any table holds, and one cluster much larger than the others."""
    rng = np.random.default_rng(1)
    n, k = 300_000, 150_000
    many = [rng.integers(0, k, n), (k * rng.random(n) ** 3).astype(np.int64)]
    many.append(np.where(np.arange(n) < 20_000, 0, many[0]))
    cg.compare_all(many, ["vi", "purity"], engine="cuda")
    cg.compare_all([device.moved(v) for v in many[:2]], ["ari"])
    uneven = (1_500 * rng.random((100_000, 2)) ** 4).astype(np.int16)
    cg.compare_all([uneven[:, 0], uneven[:, 1], rng.integers(0, 1_500, len(uneven))], ["vi", "purity"], engine="cuda")
    line("tables of any shape", "ran")


#: what `--check` runs, together every kernel
CHECKS = {
    "labels": check_labels,
    "draws": check_draws,
    "profiles": check_profiles,
    "doors": check_doors,
    "shapes": check_shapes,
}


def check_kernels(parts: list[str]) -> None:
    """Run these checks on small data, each array in its own memory so that a sanitizer sees its bounds; name kernels left out."""
    ran: set[str] = set()
    compiled = device._kernel

    def noted(which: device.Kernel, name: str, card: int) -> Any:
        ran.add(name.partition("<")[0])
        return compiled(which, name, card)

    device._kernel = noted  # type: ignore[assignment]
    device.cupy().cuda.set_allocator(None)
    for part in parts:
        CHECKS[part](True)
    device.cupy().cuda.Device().synchronize()
    source = Path(device.__file__).with_name("kernels.cu").read_text(encoding="utf-8")
    every = set(re.findall(r"__global__ void (?:__launch_bounds__\(.*\)\s+)?(\w+)\(", source))
    line(f"{len(ran & every)} of {len(every)} kernels ran", "", f"left out: {', '.join(sorted(every - ran)) or 'none'}")
