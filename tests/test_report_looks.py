"""Pages with few and many clusterings in Chromium: what is drawn is readable, and clicks change it."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest
from browser import Browser, program

import congruence as cg

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(program() is None, reason="there is no chromium here: apt-get install chromium"),
    pytest.mark.skipif(importlib.util.find_spec("websocket") is None, reason="websocket-client is not installed"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


@pytest.fixture(scope="module")
def browser():
    """One browser for all tests."""
    with Browser() as started:
        yield started


def noisy(base: np.ndarray, share: float, rng: np.random.Generator) -> np.ndarray:
    """The labels, a share of them redrawn."""
    return np.where(rng.random(len(base)) < share, rng.integers(0, base.max() + 1, len(base)), base)


def test_distinct_clusterings_are_one_click_away(browser, tmp_path):
    """Duplicates count; the chip sets them aside, and the sentence is then that of a report on distinct clusterings."""
    rng, base = np.random.default_rng(0), np.repeat([0, 1, 2], 40)
    runs = {f"run {i}": noisy(base, 0.1, rng) for i in range(6)}
    runs |= {f"again {i}": runs["run 0"] for i in range(5)}
    r = cg.report(runs, tmp_path / "r.html", progress=False)
    once = cg.report(runs, distinct=True, progress=False)
    browser.open(tmp_path / "r.html")
    sentence = "document.querySelector('#sentence').textContent"
    assert browser.run(sentence) == r.summary.answer
    assert "these 11 clusterings" in r.summary.answer
    browser.run(
        "[...document.querySelectorAll('#chips button')].find(b => b.textContent.includes('Duplicates')).click()"
    )
    assert browser.run(sentence) == once.summary.answer
    assert "these 6 different clusterings" in once.summary.answer
    assert "count=distinct" in browser.run("location.hash")
    assert browser.complaints == []
