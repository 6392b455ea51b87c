"""The report in a real Chromium with the network cut off: it draws, answers, and lets tables down."""

from __future__ import annotations

import importlib.util
import shlex
from pathlib import Path

import numpy as np
import pytest
from browser import Browser, program

import congruence as cg
from congruence.cli import showcase
from congruence.cli.app import app
from congruence.reporting import pairs

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(program() is None, reason="there is no chromium here: apt-get install chromium"),
    pytest.mark.skipif(importlib.util.find_spec("websocket") is None, reason="websocket-client is not installed"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]
NASTY = "</script><img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def demo(tmp_path_factory) -> Path:
    """The demo's report on wine."""
    folder = tmp_path_factory.mktemp("demo")
    showcase.pages(folder, ["wine"])
    return folder / "wine.html"


@pytest.fixture(scope="module")
def browser():
    """One browser for all tests."""
    with Browser() as started:
        yield started


@pytest.fixture
def page(browser, demo):
    """The demo's report, opened anew at the width of a screen."""
    browser.size(1280)
    browser.scheme("light")
    browser.events.clear()
    browser.open(demo)
    yield browser
    assert browser.complaints == []


def shown(page: Browser, selector: str) -> str:
    return page.run(f"document.querySelector({selector!r}).textContent")


def pixels(page: Browser, selector: str) -> str:
    return page.run(f"document.querySelector({selector!r}).toDataURL()")


def choose(page: Browser, a: int, b: int) -> None:
    """Choose a pair by the two lists of names."""
    for box, place in (("pair-a", a), ("pair-b", b)):
        page.run(
            f"(s => {{ s.value = {place}; s.dispatchEvent(new Event('change')); }})(document.getElementById('{box}'))"
        )


def test_it_draws_every_part(page):
    """Every part has its picture or table."""
    drawn = (
        "#map svg, #flow svg path, #pair-table table, #against svg circle, #histogram rect, #unstable table, #cdf path"
    )
    for selector in (*drawn.split(", "), "#methods table", "#choice svg"):
        assert page.run(f"document.querySelectorAll({selector!r}).length") > 0, selector
    for canvas in ("#heat", "#consensus", "#scatter"):
        assert len(pixels(page, canvas)) > 2000, canvas


def test_it_switches_the_measure(page):
    """Another measure: another picture, another legend, no reload."""
    page.run("window.stayed = true")
    before, legend = pixels(page, "#heat"), shown(page, "#heat-legend")
    page.click(".measures label:nth-of-type(4)")
    page.until("document.querySelector('#heat-legend').textContent.includes('Variation of information')")
    assert pixels(page, "#heat") != before
    assert shown(page, "#heat-legend") != legend
    assert page.run("window.stayed")


def test_a_click_on_a_cell_changes_the_flow(page):
    """The flow diagram, the table and the chosen names are those of the cell."""
    before = page.run("document.querySelector('#flow svg').outerHTML")
    page.click("#heat", 0.97, 0.35)
    page.until("document.querySelector('#heat-said').textContent.startsWith('Chosen')")
    assert page.run("document.querySelector('#flow svg').outerHTML") != before
    a, b = (page.run(f"document.querySelector('#pair-{x}').selectedOptions[0].textContent") for x in "ab")
    assert a.replace("★ ", "") in shown(page, "#pair-said")
    assert b.replace("★ ", "") in shown(page, "#pair-table")


def test_the_table_of_a_pair_is_the_contingency_table(page, demo):
    """What the page counts from the labels is what the library counts."""
    names = page.run("Array.from(document.querySelector('#pair-a').options, o => o.textContent)")
    a, b = names.index("ward linkage"), names.index("kmeans, k=5")
    choose(page, a, b)
    page.click("#pair-csv")
    rows = [line.split(",") for line in page.downloaded("contingency.csv").strip().split("\n")]
    _, found = showcase.clusterings("wine")
    table = cg.contingency(found["ward linkage"], found["kmeans, k=5"]).to_frame("pandas")
    columns = rows[0][-5:]
    for name, *counts in rows[1:]:
        for column, count in zip(columns, counts, strict=True):
            assert int(count) == table.loc[int(name), int(column)]
    matched = float(shown(page, "#pair-said p").split(": ")[1].split("%")[0])
    assert matched == pytest.approx(100 * cg.accuracy(found["ward linkage"], found["kmeans, k=5"]), abs=0.06)


def test_the_keyboard_reaches_a_pair(page):
    """Arrow keys move over the matrix, Enter chooses."""
    page.run("document.querySelector('#heat').focus()")
    for key in ("ArrowUp", "ArrowUp", "ArrowLeft"):
        page.key(key)
    moved = shown(page, "#heat-said")
    assert "ari" in moved
    page.key("Enter")
    page.until("document.querySelector('#heat-said').textContent.startsWith('Chosen')")
    assert page.run("document.activeElement.id") == "heat"


def test_tables_are_let_down(page):
    """The matrix of the measure, with names on both sides."""
    page.click("[data-csv=matrix]")
    rows = page.downloaded("ari.csv").strip().split("\n")
    assert len(rows) == 1 + 39
    assert rows[0].startswith("clustering,")


def test_the_data_take_any_colouring(page):
    """The picture of the points changes with the clustering that colours it."""
    before = pixels(page, "#scatter")
    page.run(
        "(() => { const s = document.querySelector('#colour'); s.value = 3; s.dispatchEvent(new Event('change')); })()"
    )
    assert pixels(page, "#scatter") != before
    assert page.run("document.querySelectorAll('#scatter-legend .swatch').length") > 1


def test_phone_width(page, demo):
    """At 390 pixels nothing sticks out to the side."""
    page.size(390, 800, phone=True)
    page.open(demo)
    assert page.run("document.documentElement.scrollWidth") <= 390
    page.click("#heat", 0.6, 0.6)
    page.until("document.querySelector('#heat-said').textContent.startsWith('Chosen')")


def test_dark_mode(page):
    """The page follows the system, and its button."""
    light = page.run("getComputedStyle(document.body).backgroundColor")
    page.scheme("dark")
    dark = page.run("getComputedStyle(document.body).backgroundColor")
    assert light != dark
    page.click("#theme")
    assert page.run("getComputedStyle(document.body).backgroundColor") == light


def test_hover_shows_both_names(page):
    """The pointer over a cell shows the two names and every measure."""
    page.run("document.querySelector('#heat').scrollIntoView({block: 'center'})")
    box = page.run("(b => [b.left, b.top, b.width, b.height])(document.querySelector('#heat').getBoundingClientRect())")
    page.send("Input.dispatchMouseEvent", type="mouseMoved", x=box[0] + 0.9 * box[2], y=box[1] + 0.5 * box[3])
    page.until("!document.querySelector('#tip').hidden")
    assert page.run("document.querySelectorAll('#tip div').length") == 8


def test_names_stay_text(browser, tmp_path):
    """A name that is a script is shown as it is, and runs nothing."""
    cg.report(
        {NASTY: [NASTY, "b", "b", "c"], "b": [0, 0, 1, 1], "c": [0, 1, 1, 1]},
        tmp_path / "r.html",
        reference=NASTY,
        progress=False,
    )
    browser.events.clear()
    browser.open(tmp_path / "r.html")
    assert NASTY in shown(browser, "#flow")
    assert browser.run("document.querySelectorAll('img').length") == 0
    assert browser.complaints == []


def test_the_command_for_a_pair_gives_the_values_of_the_page(browser, tmp_path, monkeypatch, capsys):
    """The command that the page prints runs, and counts noise and points without a label as the page does."""
    monkeypatch.setattr(pairs, "EMBEDDED", 10)
    rng = np.random.default_rng(0)
    rows = [f"p{i},run {r},{rng.integers(-1, 3)}" for i in range(60) for r in range(5) if rng.random() < 0.9]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs.csv").write_text("\n".join(["point,method,label", *rows]))
    app(["report", "runs.csv", "--long", "point,method,label", "--noise=-1", "--out", "r.html"], standalone_mode=False)
    browser.open(tmp_path / "r.html")
    central = browser.run("JSON.parse(document.getElementById('data').textContent).central")
    choose(browser, *[i for i in range(5) if i != central][:2])
    value = browser.run("document.querySelector('#pair-said tbody td').textContent")
    capsys.readouterr()
    app([*shlex.split(shown(browser, "#flow pre"))[1:], "--measures", "ari"], standalone_mode=False)
    assert value in capsys.readouterr().out


@pytest.mark.parametrize("width", [390, 1280])
def test_the_title_has_room(page, demo, width):
    """The title does not stick to the edge of the window, nor the last line to the end of the page."""
    page.size(width)
    page.open(demo)
    assert page.run("document.querySelector('h1').getBoundingClientRect().top") >= 20
    assert page.run("parseFloat(getComputedStyle(document.querySelector('footer')).paddingBottom)") >= 20


def test_pairs_without_labels(browser, tmp_path, monkeypatch):
    """Where labels are too large the page shows the pairs it has, and the command for the others."""
    monkeypatch.setattr(pairs, "EMBEDDED", 10)
    rng = np.random.default_rng(0)
    runs = {f"$& run {i}": rng.integers(0, 3, 50) for i in range(5)}
    r = cg.report(
        {"truth": np.arange(50) % 3, **runs}, tmp_path / "r.html", reference="truth", source="runs.csv", progress=False
    )
    browser.events.clear()
    browser.open(tmp_path / "r.html")
    assert browser.run("document.querySelectorAll('#flow path').length") > 0
    a, b = [i for i in range(1, 6) if i != r.model.central][:2]
    choose(browser, a, b)
    assert f"congruence compare runs.csv '$& run {a - 1}' '$& run {b - 1}' --unassigned drop" in shown(browser, "#flow")
    assert browser.complaints == []


@pytest.mark.parametrize("most", [10, pairs.EMBEDDED])
def test_pairs_without_points_in_common(browser, tmp_path, monkeypatch, most):
    """Two clusterings of different points: the page says so, and has no share of no points."""
    monkeypatch.setattr(pairs, "EMBEDDED", most)
    half = [0, 1, 1, *[None] * 27], [*[None] * 27, 1, 1, 0]
    cg.report({"a": half[0], "b": half[1], "c": np.arange(30) % 2}, tmp_path / "r.html", progress=False)
    browser.events.clear()
    browser.open(tmp_path / "r.html")
    choose(browser, 0, 1)
    assert "No point has a label in both" in shown(browser, "#flow")
    assert "NaN" not in browser.run("document.body.innerText")
    assert browser.complaints == []


def test_soft_pairs_have_a_flow(browser, tmp_path):
    """Memberships flow too: the table of the page is that of the library, to the steps they are written in."""
    rng = np.random.default_rng(1)
    u, v = rng.dirichlet([1, 1], 40), rng.dirichlet([1, 1, 1], 40)
    cg.report(
        {"u": cg.Memberships(u), "v": cg.Memberships(v), "w": np.arange(40) % 2}, tmp_path / "r.html", progress=False
    )
    browser.events.clear()
    browser.open(tmp_path / "r.html")
    choose(browser, 0, 1)
    browser.click("#pair-csv")
    rows = [line.split(",") for line in browser.downloaded("contingency.csv").strip().split("\n")]
    table = cg.contingency(u, v).to_array()
    for name, *counts in rows[1:]:
        for column, count in zip(rows[0][1:], counts, strict=True):
            assert float(count) == pytest.approx(table[int(name), int(column)], abs=1e-3)
    assert browser.run("document.querySelectorAll('#flow path').length") == 6
    assert browser.complaints == []
