"""Clusterings for the tests of the report."""

from __future__ import annotations

import json
import re
from base64 import b64decode
from functools import cache

import numpy as np

import congruence as cg
from congruence.reporting import html

RNG = np.random.default_rng(5)
TRUTH = np.repeat([0, 1, 2], 20)


def noisy(share: float, k: int = 3) -> np.ndarray:
    """The classes, with a share of the labels redrawn."""
    return np.where(RNG.random(len(TRUTH)) < share, RNG.integers(0, k, len(TRUTH)), TRUTH)


RUNS = {
    "good": noisy(0.04), "same as good": None, "fair": noisy(0.4), "four": noisy(0.2, 4), "other four": noisy(0.3, 4),
    "one": np.zeros(60, int), "random": RNG.integers(0, 3, 60),
}  # fmt: skip
RUNS["same as good"] = (RUNS["good"] + 1) % 3


@cache
def made_report() -> html.Report:
    """One report that several tests use."""
    X = np.eye(3)[TRUTH] * 4 + RNG.normal(size=(60, 3))
    return cg.report(
        {"truth": TRUTH, **RUNS},
        reference="truth",
        data=X,
        ids=[f"p{i}" for i in range(60)],
        title="a title",
        progress=False,
    )


def data_of(page: str) -> dict:
    """The data that the script of a page reads."""
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)[1])


def unpacked(x: dict) -> np.ndarray:
    kinds = {"u8": "<u1", "u16": "<u2", "u32": "<u4", "i32": "<i4", "f32": "<f4"}
    return np.frombuffer(b64decode(x["b"]), kinds[x["t"]])
