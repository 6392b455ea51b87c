"""Ensembles without an n × n matrix, compared with dense matrices: `python -m benchmarks.ensembles`.

Each line of the first table runs in a separate process, so that its peak memory can be measured.
"""

from __future__ import annotations

import argparse

import numpy as np

from benchmarks.timing import in_process, median, once, peak


def members(rng: np.random.Generator, count: int, n: int, k: int) -> np.ndarray:
    """Noisy copies of one structure, one column each."""
    base = rng.integers(0, k, n).astype(np.uint8)
    noise = rng.uniform(0.1, 0.6, count)
    columns = np.empty((n, count), dtype=np.uint8, order="F")
    for j in range(count):
        columns[:, j] = np.where(rng.random(n) < noise[j], rng.integers(0, k, n), base)
    return columns


def dense_arimm(p: np.ndarray, q: np.ndarray) -> float:
    """The usual way: both consensus matrices by one-hot products, then sums over the upper triangle."""
    matrices = []
    for labels in (p, q):
        n, count = labels.shape
        total = np.zeros((n, n))
        for j in range(count):
            one_hot = np.eye(int(labels[:, j].max()) + 1)[labels[:, j]]
            total += one_hot @ one_hot.T
        matrices.append(total / count)
    upper = np.triu_indices(len(p), 1)
    x, y = matrices[0][upper], matrices[1][upper]
    expected = x.sum() * y.sum() / len(x)
    return float(((x * y).sum() - expected) / ((x.sum() + y.sum()) / 2 - expected))


def measured(how: str, n: int, count: int) -> tuple[float, float, float]:
    """Value, seconds and peak memory (GB, the labels included) of one arimm."""
    rng = np.random.default_rng(0)
    p, q = members(rng, count, n, 10), members(rng, count, n, 10)
    if how == "congruence":
        import congruence as cg

        cg.arimm(cg.Ensemble(p[:200_000]), cg.Ensemble(q[:200_000]))  # load the compiled kernels
        seconds, _, value = once(lambda: cg.Ensemble(p).arimm(cg.Ensemble(q)))
    else:
        seconds, _, value = once(lambda: dense_arimm(p, q))
    return value, seconds, peak()


def consensus_matrix(n: int, count: int, k: int) -> None:
    """The consensus matrix in float32, compared with a sparse product and BLAS (numpy's syrk) of the one-hot matrix."""
    from scipy.sparse import csr_matrix

    import congruence as cg

    rng = np.random.default_rng(1)
    labels = rng.integers(0, k, (n, count))
    ensemble = cg.Ensemble(labels)
    hot = csr_matrix(
        (np.ones(n * count, np.float32), ((labels + k * np.arange(count)).ravel()), np.arange(0, n * count + 1, count)),
        shape=(n, k * count),
    )
    full = hot.toarray()

    def by_syrk() -> np.ndarray:
        return (full @ full.T) / np.float32(count)  # numpy calls syrk for a matrix with its own transpose

    def by_sparse() -> np.ndarray:
        return (hot @ hot.T).toarray() / count

    ours = ensemble.consensus_matrix(dtype="float32")
    assert np.allclose(ours, by_syrk(), atol=1e-5)
    mine = median(lambda: ensemble.consensus_matrix(dtype="float32"), 3)
    print(f"\nconsensus matrix, n = {n:,}, {count} members, k = {k}, float32, median of three")
    print(f"  {'congruence':<24} {mine:8.3f} s")
    for name, call in (("BLAS syrk of one-hot", by_syrk), ("scipy.sparse", by_sparse)):
        seconds = median(call, 3 if name.startswith("BLAS") else 1)
        print(f"  {name:<24} {seconds:8.3f} s  {seconds / mine:6.1f}×")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="smaller sizes")
    options = parser.parse_args()
    print(f"{'arimm of two ensembles':<24} {'n':>12} {'members':>9} {'value':>9} {'seconds':>9} {'peak GB':>8}")
    large = [("congruence", 10**5, 50)] if options.quick else [("congruence", 10**6, 50), ("congruence", 10**7, 10)]
    small = 2_000 if options.quick else 20_000
    for how, n, count in [("dense numpy", small, 50), ("congruence", small, 50), *large]:
        value, seconds, peak = in_process(measured, how, n, count)
        print(f"{how:<24} {n:>12,} {f'{count}+{count}':>9} {value:9.6f} {seconds:9.2f} {peak:8.2f}")
    for k in (20, 5):
        consensus_matrix(2_000 if options.quick else 10_000, 100, k)


if __name__ == "__main__":
    main()
