"""Clusterings for the tests of results."""

from __future__ import annotations

import numpy as np

import congruence as cg

A = [0, 0, 0, 1, 1, 1, 2, 2]
B = ["x", "x", "y", "y", "y", "z", "z", "z"]
U = np.array([[0.5, 0.5], [1.0, 0.0], [0.0, 1.0], [0.25, 0.75], [1.0, 0.0], [0.0, 1.0], [0.9, 0.1], [0.3, 0.7]])
#: measures of pairs of labels with equal numbers of clusters
KEYS = tuple(cg.compare([0, 0, 1, 1], [0, 1, 1, 1], "all"))
