"""The script of the report: eslint for the code, axe-core for accessibility."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from browser import Browser, program

import congruence as cg
from congruence.cli import showcase
from congruence.reporting.html import SCRIPTS, page_script

HERE = Path(__file__).parent
MODULES = Path(os.environ.get("CONGRUENCE_NODE_MODULES", HERE.parent / "node_modules"))
needs = "npm install eslint axe-core, and CONGRUENCE_NODE_MODULES=…/node_modules"


@pytest.mark.slow
@pytest.mark.skipif(not (MODULES / "eslint").is_dir() or shutil.which("node") is None, reason=f"no eslint: {needs}")
def test_the_script_has_no_lint(tmp_path):
    """No unused or undefined name, no shadowing, no loose comparison."""
    (tmp_path / "page.js").write_text(page_script(), encoding="utf-8")
    shutil.copy(HERE / "eslint.config.mjs", tmp_path)
    done = subprocess.run(
        ["node", MODULES / "eslint" / "bin" / "eslint.js", "page.js"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_modules_are_short_and_all_there():
    """Every module of the page is used, and none is long."""
    found = list((HERE.parent / "src/congruence/reporting/page").glob("*.js"))
    if not found:
        pytest.skip("the source is not here")
    assert {p.stem for p in found} == set(SCRIPTS)
    assert all(len(p.read_text(encoding="utf-8").split("\n")) <= 250 for p in found)


@pytest.mark.slow
@pytest.mark.skipif(not (MODULES / "axe-core").is_dir(), reason=f"no axe-core: {needs}")
@pytest.mark.skipif(program() is None, reason="there is no chromium here: apt-get install chromium")
@pytest.mark.skipif(importlib.util.find_spec("websocket") is None, reason="websocket-client is not installed")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_axe_finds_nothing(tmp_path):
    """No violation of accessibility in light, in dark, at the width of a phone, and with the comparison open."""
    showcase.pages(tmp_path, ["wine"])
    axe = (MODULES / "axe-core" / "axe.min.js").read_text(encoding="utf-8")
    look = "axe.run().then(r => JSON.stringify(r.violations.map(v => [v.id, v.nodes.map(n => n.html.slice(0, 200))])))"
    with Browser() as page:
        for scheme, width in (("light", 1440), ("dark", 1440), ("light", 390), ("dark", 390)):
            page.size(width, 900)
            page.scheme(scheme)
            page.open(tmp_path / "wine.html")
            page.run("for (const d of document.querySelectorAll('details')) d.open = true")
            page.send("Runtime.evaluate", expression=axe)
            assert json.loads(page.run(look)) == [], (scheme, width)
            page.run("document.querySelector('#ranking-table button.link').click()")
            assert json.loads(page.run(look)) == [], (scheme, width, "panel")


@pytest.mark.slow
@pytest.mark.skipif(program() is None, reason="there is no chromium here: apt-get install chromium")
@pytest.mark.skipif(importlib.util.find_spec("websocket") is None, reason="websocket-client is not installed")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize("measures", [["vi", "ari"], ["ari", "vi"]])
@pytest.mark.parametrize("reference", [None, "r0"])
def test_the_page_has_the_words_of_python(measures, reference, tmp_path):
    """After hiding clusterings, figures and pair sentence of the page are those of a report without them, also for a distance."""
    rng, base = np.random.default_rng(0), np.repeat(range(4), 50)
    runs = {f"r{i}": np.where(rng.random(200) < 0.1 * i, rng.integers(0, 4, 200), base) for i in range(5)}
    cg.report(runs, tmp_path / "r.html", reference=reference, measures=measures, progress=False)
    with Browser() as browser:
        browser.open(tmp_path / "r.html")
        own = [name for name in runs if name != reference]
        while len(own) > 2:
            browser.run(f"document.querySelector('[aria-label=\"Hide {own.pop()}\"]').click()")
            rest = {name: runs[name] for name in runs if name in (*own, reference)}
            wanted = cg.report(rest, reference=reference, measures=measures, progress=False).summary
            parts = (
                "[...document.querySelectorAll('.tile')].map(t => [...t.children].map(x => x.firstChild.textContent))"
            )
            assert json.loads(browser.run(f"JSON.stringify({parts})")) == [list(x) for x in wanted.figures]
        assert browser.run("document.querySelector('#sentence').textContent") == wanted.answer
        assert browser.complaints == []


@pytest.mark.slow
@pytest.mark.skipif(program() is None, reason="there is no chromium here: apt-get install chromium")
@pytest.mark.skipif(importlib.util.find_spec("websocket") is None, reason="websocket-client is not installed")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_more_pages_have_the_words_of_python(tmp_path):
    """Families, with and without a reference: the page says what a report without the hidden ones says."""
    rng, base = np.random.default_rng(0), np.repeat(range(4), 50)
    other = rng.permutation(base)

    def noisy(labels):
        return np.where(rng.random(200) < 0.1, rng.integers(0, 4, 200), labels)

    two = {f"a{i}": noisy(base) for i in range(8)} | {f"b{i}": noisy(other) for i in range(6)}
    with Browser() as browser:
        for runs, reference in ((two, None), ({"truth": base, **two}, "truth")):
            cg.report(runs, tmp_path / "r.html", reference=reference, progress=False)
            browser.open(tmp_path / "r.html")
            own = [name for name in runs if name != reference]
            for _ in range(3):
                browser.run(f"document.querySelector('[aria-label=\"Hide {own.pop()}\"]').click()")
                rest = {name: runs[name] for name in runs if name in (*own, reference)}
                wanted = cg.report(rest, reference=reference, progress=False).summary
                assert browser.run("document.querySelector('#sentence').textContent") == wanted.answer
        assert browser.complaints == []


@pytest.mark.slow
@pytest.mark.skipif(program() is None, reason="there is no chromium here: apt-get install chromium")
@pytest.mark.skipif(importlib.util.find_spec("websocket") is None, reason="websocket-client is not installed")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_hiding_one_clustering_makes_no_groups(tmp_path):
    """If runs agree on no group, or on two of four, those left after one is hidden are not said to find all of them."""
    rng, base = np.random.default_rng(0), np.repeat(range(4), 50)
    unrelated = {f"u{i}": np.where(rng.random(200) < 0.7, 0, 1) for i in range(8)}
    halves = {f"u{i}": np.where((base > 1) & (rng.random(200) < 0.5), 5 - base, base) for i in range(8)}
    with Browser() as browser:
        for runs in (unrelated, halves):
            cg.report(runs, tmp_path / "r.html", progress=False)
            browser.open(tmp_path / "r.html")
            browser.run("document.querySelector('[aria-label=\"Hide u7\"]').click()")
            said = browser.run("document.querySelector('#sentence').textContent")
            assert "find the same 2 groups" not in said
            assert "find the same 4 groups" not in said
        assert "groups are adapted from those of all clusterings" in browser.run(
            "document.querySelector('#chips').textContent"
        )
