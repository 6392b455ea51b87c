"""Density profiles and ADCO compared with numpy, and time as the number of points grows: `python -m benchmarks.density`."""

from __future__ import annotations

import argparse
import os

import numpy as np
from scipy.optimize import linear_sum_assignment

import congruence as cg
from benchmarks.timing import best


def data(n: int, attributes: int, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    a = rng.integers(0, k, n)
    X = rng.normal(size=(n, attributes)) + a[:, None]
    return X, a, np.where(rng.random(n) < 0.3, rng.integers(0, k, n), a)


def numpy_codes(X: np.ndarray, bins: int) -> np.ndarray:
    codes = np.empty(X.shape, dtype=np.int64)
    for i in range(X.shape[1]):
        edges = np.linspace(X[:, i].min(), X[:, i].max(), bins + 1)
        codes[:, i] = np.searchsorted(edges[1:-1], X[:, i], side="right")
    return codes


def numpy_profile(codes: np.ndarray, labels: np.ndarray, k: int, bins: int) -> np.ndarray:
    """One bincount per attribute."""
    parts = [np.bincount(labels * bins + codes[:, i], minlength=k * bins) for i in range(codes.shape[1])]
    return np.concatenate([part.reshape(k, bins) for part in parts], axis=1)


def histogram_profile(X: np.ndarray, labels: np.ndarray, k: int, bins: int) -> np.ndarray:
    """The usual way: np.histogram of each cluster and attribute."""
    rows = []
    for c in range(k):
        part = X[labels == c]
        rows.append(
            np.concatenate(
                [np.histogram(part[:, i], bins, (X[:, i].min(), X[:, i].max()))[0] for i in range(X.shape[1])]
            )
        )
    return np.array(rows)


def adco_of(p: np.ndarray, q: np.ndarray) -> float:
    product = p.astype(float) @ q.T
    i, j = linear_sum_assignment(product, maximize=True)
    return float(product[i, j].sum() / max((p.astype(float) ** 2).sum(), (q.astype(float) ** 2).sum()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the points")
    quick = parser.parse_args().quick
    scale = 10 if quick else 1
    n, attributes, k, bins = 1_000_000 // scale, 20, 10, 10
    X, a, b = data(n, attributes, k)
    cores = len(os.sched_getaffinity(0))
    cg.adco(a[:200_000], b[:200_000], X[:200_000])  # load the compiled kernels
    cg.density_profile(X, a)

    def by_numpy() -> float:
        codes = numpy_codes(X, bins)
        return adco_of(numpy_profile(codes, a, k, bins), numpy_profile(codes, b, k, bins))

    def by_histogram() -> float:
        return adco_of(histogram_profile(X, a, k, bins), histogram_profile(X, b, k, bins))

    print(
        f"adco of two clusterings, bins fitted: n = {n:,}, {attributes} attributes, {bins} bins, {k} clusters, {cores} cores"
    )
    ours = cg.adco(a, b, X, bins=bins)
    seconds = best(lambda: cg.adco(a, b, X, bins=bins))
    print(f"  {'congruence':28}{seconds:8.3f} s   adco {ours:.12f}")
    for name, function in (("numpy, bincount", by_numpy), ("numpy, histogram", by_histogram)):
        value, taken = function(), best(function, 3)
        assert abs(value - ours) < 1e-3, (value, ours)
        print(f"  {name:28}{taken:8.3f} s   adco {value:.12f}  {taken / seconds:5.1f}×")

    print(
        f"\none profile, bins given ({attributes} attributes, {bins} bins, {k} clusters), best of seven (numpy: of three)"
    )
    print(f"  {'n':>10}  {'congruence':>11}  {'ns/value':>10}  {'one thread':>11}  {'numpy':>9}")
    for size in (250_000, 500_000, 1_000_000, 2_000_000, 4_000_000):
        print(profile_line(size // scale, attributes, k, bins))


def profile_line(n: int, attributes: int, k: int, bins: int) -> str:
    """Times of one profile in given bins, ours and numpy's, after a check that both counts agree."""
    X, a, _ = data(n, attributes, k)
    binning = cg.Binning(bins=bins).fit(X)
    cuts = [np.array(c) for c in binning.cuts.values()]

    def peer() -> np.ndarray:
        codes = np.column_stack([np.searchsorted(c, X[:, i], side="right") for i, c in enumerate(cuts)])
        return numpy_profile(codes, a, k, bins)

    assert np.array_equal(peer(), cg.density_profile(X, a, binning).counts)
    two = best(lambda: cg.density_profile(X, a, binning))
    one = best(lambda: cg.density_profile(X, a, binning, threads=1))
    each = two / n / attributes * 1e9
    return f"  {n:10,}  {two:9.3f} s  {each:10.2f}  {one:9.3f} s  {best(peer, 3):7.3f} s"


if __name__ == "__main__":
    main()
