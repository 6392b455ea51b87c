"""Data for the tests of choose_k and stability."""

from __future__ import annotations

import numpy as np

RNG = np.random.default_rng(0)
TRUTH = np.repeat([0, 1, 2], 30)
BLOBS = RNG.normal(size=(90, 2)) + np.array([[0, 0], [9, 0], [0, 9]])[TRUTH]
AGREEMENT = ["ari", "ami_max", "vi", "certainty", "pac", "delta_area", "stability"]
NOISE = np.random.default_rng(1).normal(size=(150, 5))
