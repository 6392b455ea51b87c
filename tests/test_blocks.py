"""Many points in memory: encoding on threads, and tables counted on one block of points after the other."""

from __future__ import annotations

import numpy as np
import pytest

import congruence as cg
from congruence.engine import fused, kernels
from congruence.inputs import labels as labels_module

MEASURES = ["ari", "nmi_sum", "vi", "ami_max", "purity", "van_dongen"]


@pytest.mark.slow
def test_blocks_give_the_same_bits(monkeypatch):
    """Counted by blocks, on any number of threads, every statistic has the same bits as counted pair by pair."""
    assert kernels.count_pairs  # loaded: the kernels are used for small work too
    rng = np.random.default_rng(0)
    columns = [rng.integers(0, k, 8_000) for k in (3, 7, 12, 60, 2)]
    expected = cg.compare_all(columns, MEASURES)
    monkeypatch.setattr(fused, "BLOCKED_FROM", 1_000)
    for block, threads in ((1_000, 1), (512, 3), (8_000, 2)):
        monkeypatch.setattr(fused, "BLOCK", block)
        found = cg.compare_all(columns, MEASURES, threads=threads)
        for key in MEASURES:
            assert (found[key] == expected[key]).all(), key


@pytest.mark.slow  # a loop is compiled for each type
@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.int64, np.uint64])
def test_compiled_codes_are_ranks(monkeypatch, dtype):
    """Codes of many integers are their ranks, with and without holes in their range, on one thread or several."""
    assert kernels.count_pairs
    rng = np.random.default_rng(0)
    low = 0 if np.dtype(dtype).kind == "u" else -5
    for names in ([low, low + 3, low + 4, low + 90], list(range(low, low + 11)), [0, 1, 2]):
        values = rng.choice(np.array(names, dtype=dtype), 60_000)
        for piece in (1 << 22, 7_000):
            monkeypatch.setattr(labels_module, "PIECE", piece)
            found = cg.Ensemble([values])[0]
            unique, codes = np.unique(values, return_inverse=True)
            assert found.names.tolist() == unique.tolist()
            assert (found.codes == codes).all()
            assert found.codes.base is not values  # a change of the labels later does not show
