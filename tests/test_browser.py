"""The report in Chromium without a network: it draws, answers, and offers downloads."""

from __future__ import annotations

import importlib.util
import json
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from browser import Browser, program

import congruence as cg
from congruence.cli import showcase
from congruence.cli.app import app
from congruence.reporting import answer, members

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
    """The demo's report, reopened at the width of a screen."""
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
    for box, place in ((0, a), (1, b)):
        page.run(
            f"(s => {{ s.value = {place}; s.dispatchEvent(new Event('change')); }})"
            f"(document.querySelectorAll('#compare-names select')[{box}])"
        )


def data(page: Browser, key: str):
    """Some of the data of the page."""
    return page.run(f"JSON.parse(document.getElementById('data').textContent)[{key!r}]")


def test_it_draws_every_part(page):
    """Every part has its picture or table."""
    drawn = "#bars button, .card, #check tbody tr, #features rect, #levels circle, #curve circle, #ranking-table tr, #map svg"
    tables = "#flow svg path, #pair-table table, #histogram rect, #point-table table, #cdf path, #methods table"
    for selector in f"{drawn}, {tables}".split(", "):
        assert page.run(f"document.querySelectorAll({selector!r}).length") > 0, selector
    for canvas in ("#front canvas", "#heat", "#consensus", "#scatter"):
        assert len(pixels(page, canvas)) > 2000, canvas


def test_the_answer_is_above_the_fold(page, demo):
    """At 1440 × 900 the sentence, the figures, the picture and the groups are in view, with at most 12 numbers."""
    page.size(1440, 900)
    page.open(demo)
    for selector in ("#sentence", "#figures", "#front canvas", "#bars"):
        assert page.run(f"document.querySelector({selector!r}).getBoundingClientRect().bottom") <= 900, selector
    text = page.run("document.querySelector('nav').innerText + document.querySelector('#answer').innerText")
    text = text.replace(page.run("document.querySelector('#use code').innerText"), "")  # a call, as it is to be typed
    numbers = re.findall(r"\d+(?:[.,]\d+)*", re.sub("“[^”]*”", "", text))
    assert 4 <= len(numbers) <= 12, numbers
    assert shown(page, "#sentence") == cg_answer(demo)


def test_the_demo_names_the_number_of_the_page(demo):
    """The terminal and the page of the demo count the same clusterings."""
    _, found = showcase.clusterings("wine")
    said = showcase.how_many(found)
    assert said == "28 clusterings (29 with near-trivial ones)"
    assert "these 28 clusterings" in cg_answer(demo)


def cg_answer(path: Path) -> str:
    found = re.search(r'id="sentence"[^>]*>([^<]*)<', path.read_text(encoding="utf-8"))
    assert found
    return found[1]


def test_no_key_of_a_measure_outside_the_glossary(page):
    """The page shows names, not the keys of the registry."""
    page.run("for (const d of document.querySelectorAll('details')) d.open = true")
    page.run("document.querySelector('#glossary').remove()")
    text = page.run("document.body.innerText")
    keys = [m.key for m in cg.measures() if "_" in m.key or m.key in ("ari", "ami", "nmi", "vi", "arimp", "anmi")]
    assert not [key for key in keys if re.search(rf"\b{re.escape(key)}\b", text)]


def test_it_switches_the_measure(page):
    """Choosing another measure changes the picture and the legend without a reload."""
    page.run("window.stayed = true")
    before, legend = pixels(page, "#heat"), shown(page, "#heat-legend")
    page.click(".measures label:nth-of-type(4)")
    page.until("document.querySelector('#heat-legend').textContent.includes('variation of information')")
    assert pixels(page, "#heat") != before
    assert shown(page, "#heat-legend") != legend
    assert page.run("window.stayed")


def in_view(page: Browser, selector: str) -> bool:
    return page.run(
        f"(b => b.width > 0 && b.top >= 0 && b.top < innerHeight && b.left >= 0 && b.right <= innerWidth + 1)"
        f"(document.querySelector({selector!r}).getBoundingClientRect())"
    )


@pytest.mark.parametrize("way", ["cell", "name", "dot"])
def test_a_click_shows_its_result_in_view(page, way):
    """A click on a cell, a name or a dot opens the comparison; Escape closes it."""
    target = {"cell": "#heat", "name": "#ranking-table button.link", "dot": "#map circle:last-of-type"}[way]
    page.click(target, 0.9 if way == "cell" else 0.5, 0.5)
    page.until("!document.querySelector('#panel').hidden")
    assert in_view(page, "#panel #pair-said")
    assert in_view(page, "#panel #flow svg")
    assert page.run("document.activeElement.id") == "panel-close"
    page.key("Escape")
    assert page.run("document.querySelector('#panel').hidden")
    assert page.run("document.querySelector('#compare-room #flow svg') !== null")


def test_the_table_of_a_pair_is_the_contingency_table(page, demo):
    """The page counts the same tables as the library."""
    names = data(page, "names")
    choose(page, names.index("ward linkage"), names.index("kmeans, k=5"))
    page.click("[data-save='contingency.csv']")
    rows = [line.split(",") for line in page.downloaded("contingency.csv").strip().split("\n")]
    _, found = showcase.clusterings("wine")
    table = cg.contingency(found["ward linkage"], found["kmeans, k=5"]).to_frame("pandas")
    columns = rows[0][-5:]
    for name, *counts in rows[1:]:
        for column, count in zip(columns, counts, strict=True):
            assert int(count) == table.loc[int(name), int(column)]
    matched = float(re.search(r"([\d.]+)% of the points", shown(page, "#pair-said"))[1])
    assert matched == pytest.approx(100 * cg.accuracy(found["ward linkage"], found["kmeans, k=5"]), abs=0.06)


def test_the_keyboard_reaches_a_pair(page):
    """Arrow keys move over the matrix, Enter compares, and the panel takes the focus."""
    page.run("document.querySelector('#heat').focus()")
    for key in ("ArrowUp", "ArrowUp", "ArrowLeft"):
        page.key(key)
    assert "agreement" in shown(page, "#heat-said")
    page.key("Enter")
    page.until("!document.querySelector('#panel').hidden")
    page.key("Escape")
    assert page.run("document.activeElement.id") == "heat"


def test_several_clusterings_flow(page):
    """Up to five clusterings are shown side by side."""
    for many in (3, 4, 5):
        page.run("document.querySelector('#compare-names button[aria-label^=Add]').click()")
        assert page.run("document.querySelectorAll('#compare-names select').length") == many
        assert page.run("document.querySelectorAll('#flow .ends strong').length") == many
    assert page.run("document.querySelector('#compare-names button[aria-label^=Add]') === null")


def test_hiding_recomputes_the_answer(page):
    """Hidden clusterings do not count; showing them again restores the answer."""
    before = shown(page, "#sentence")
    page.run("document.querySelector('#ranking-table button[aria-label=\"Hide ward linkage\"]').click()")
    assert "these 28 clusterings" in before
    assert "these 27 clusterings" in shown(page, "#sentence")
    page.run("[...document.querySelectorAll('#chips button')].find(b => b.textContent.includes('hidden')).click()")
    assert shown(page, "#sentence") == before


def test_the_address_restores_what_was_chosen(page, demo, browser):
    """Hidden clusterings, the comparison, the search and chosen points come back from the address."""
    page.run("document.querySelector('#ranking-table button[aria-label^=Hide]').click()")
    page.run("(s => { s.value = 'ward'; s.dispatchEvent(new Event('input')); })(document.querySelector('#search'))")
    page.run("document.querySelector('#ranking-table button.link').click()")
    page.run("document.querySelector('#histogram rect').dispatchEvent(new MouseEvent('click'))")
    page.until("location.hash.includes('search=ward')")
    drawn = "[...document.querySelectorAll('#flow path')].map(p => [p.dataset.count, p.getAttribute('class')].join())"
    said, address, flow = shown(page, "#sentence"), page.run("location.hash"), page.run(drawn)
    page.send("Page.navigate", url="about:blank")
    page.send("Page.navigate", url=demo.resolve().as_uri() + address)
    page.until("document.documentElement && document.documentElement.dataset.ready")
    assert shown(page, "#sentence") == said
    assert page.run("document.querySelector('#search').value") == "ward"
    assert not page.run("document.querySelector('#panel').hidden")
    assert page.run(drawn) == flow
    assert page.run("location.hash") == address


def test_every_figure_is_saved_and_every_svg_parses(page, demo):
    """SVG, PNG and CSV of every figure; each SVG is well-formed."""
    from xml.etree import ElementTree

    page.run("for (const d of document.querySelectorAll('details')) d.open = true")
    names = page.run("[...document.querySelectorAll('[data-save]')].map(b => b.dataset.save)")
    assert {name.rpartition(".")[2] for name in names} == {"svg", "png", "csv"}
    assert len(names) >= 24
    for place, name in enumerate(dict.fromkeys(names)):
        if place % 8 == 7:  # Chromium drops the eleventh file of one page
            page.open(demo)
            page.run("for (const d of document.querySelectorAll('details')) d.open = true")
        page.click(f"[data-save='{name}']")
        if name.endswith(".svg"):
            assert ElementTree.fromstring(page.downloaded(name)).tag.endswith("svg")
        elif name.endswith(".csv"):
            assert len(page.downloaded(name).split("\n")) > 2, name
        else:
            assert page.downloaded_bytes(name).startswith(b"\x89PNG"), name


def test_print_has_every_name(page, tmp_path):
    """The printed page has the name of every clustering, duplicates too, and all rows of the table."""
    import shutil
    import subprocess

    (tmp_path / "r.pdf").write_bytes(page.pdf())
    if shutil.which("pdftotext") is None:
        page.send("Emulation.setEmulatedMedia", media="print")
        page.run("window.dispatchEvent(new Event('beforeprint'))")
        text = page.run("document.body.innerText")
        page.run("window.dispatchEvent(new Event('afterprint'))")
        page.send("Emulation.setEmulatedMedia", media="")
    else:
        subprocess.run(["pdftotext", "-layout", tmp_path / "r.pdf", tmp_path / "r.txt"], check=True)
        text = (tmp_path / "r.txt").read_text()
    for name in data(page, "names"):
        assert name in text, name


def test_brushing_links_everything(page):
    """Points chosen with a rectangle are counted in the table and marked in the flow; a point shows its labels."""
    page.run("document.querySelector('#scatter').scrollIntoView({block: 'center'})")
    box = page.run(
        "(b => [b.left, b.top, b.width, b.height])(document.querySelector('#scatter').getBoundingClientRect())"
    )
    at = lambda x, y: {"x": box[0] + x * box[2], "y": box[1] + y * box[3]}  # noqa: E731
    page.send("Input.dispatchMouseEvent", type="mousePressed", button="left", clickCount=1, **at(0.05, 0.1))
    page.send("Input.dispatchMouseEvent", type="mouseMoved", button="left", **at(0.5, 0.6))
    page.send("Input.dispatchMouseEvent", type="mouseReleased", button="left", clickCount=1, **at(0.5, 0.6))
    page.until("document.querySelector('#point-said').textContent.includes('chosen')")
    chosen = int(re.match(r"(\d+)", shown(page, "#point-said"))[1])
    assert 0 < chosen < 178
    assert page.run("document.querySelectorAll('#flow .ribbon.chosen').length") > 0
    assert page.run("document.querySelectorAll('#histogram rect.chosen').length") > 0
    page.run("document.querySelector('#point-table button.link').click()")
    assert page.run("document.querySelectorAll('#point-detail tbody tr').length") == 30


def test_algorithms_are_those_of_the_library(page):
    """Contingency table, matching, adjusted Rand index, votes and flow: the same inputs, the same values as in Python."""
    rng = np.random.default_rng(7)
    for ka, kb, n in ((3, 4, 60), (7, 2, 40), (30, 30, 200), (1, 1, 5), (5, 5, 5)):
        a, b = rng.integers(0, ka, n), rng.integers(0, kb, n)
        send = f"const a = {a.tolist()}, b = {b.tolist()};"
        cells = page.run(f"(() => {{ {send} return congruence.contingency(a, {ka}, b, {kb}); }})()")
        row, col, count = answer.cells_of_pair(a, ka, b, kb)
        assert cells == [list(x) for x in zip(row.tolist(), col.tolist(), count.tolist(), strict=True)]
        ari = page.run(f"(() => {{ {send} return congruence.ariOf(congruence.contingency(a, {ka}, b, {kb})); }})()")
        assert ari == pytest.approx(cg.ari(a, b), rel=1e-12, abs=1e-15)
        agreed = page.run(
            f"(() => {{ {send} return congruence.flowOf({ka}, {kb}, congruence.contingency(a, {ka}, b, {kb}), 4).agreed; }})()"
        )
        assert agreed == pytest.approx(cg.accuracy(a, b), rel=1e-12)
        votes = page.run(
            f"(() => {{ {send} const v = congruence.votesOf(a, {ka}, [[b, {kb}, true]], false);"
            " const known = v.stability.map(x => Number.isNaN(x) ? null : x);"
            " return [Array.from(v.placed), Array.from(v.elsewhere), known, v.agreement]; })()"
        )
        expected = answer.votes_of(a, ka, [(b, kb)], [True], False)
        assert votes[0] == pytest.approx(expected.placed.tolist())
        assert votes[1] == expected.elsewhere.tolist()
        assert [np.nan if x is None else x for x in votes[2]] == pytest.approx(expected.stability.tolist(), nan_ok=True)
        assert votes[3] == pytest.approx(expected.agreement.tolist(), rel=1e-12, abs=1e-12)


def test_tables_can_be_downloaded(page):
    """The matrix of the measure, with names on both sides."""
    page.click("[data-save='matrix.csv']")
    rows = page.downloaded("matrix.csv").strip().split("\n")
    assert len(rows) == 1 + 30
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
    """At 390 pixels nothing overflows, and a click still shows its result."""
    page.size(390, 800, phone=True)
    page.open(demo)
    assert page.run("document.documentElement.scrollWidth") <= 390
    page.click("#heat", 0.6, 0.6)
    page.until("!document.querySelector('#panel').hidden")
    assert page.run("document.querySelector('#panel').scrollWidth") <= 390


def luminance(colour: str) -> float:
    return float(np.dot([int(x) for x in re.findall(r"\d+", colour)[:3]], (0.3, 0.59, 0.11)))


def test_dark_mode(page):
    """The page follows the system theme and its button; disputed points are visible in both themes."""
    light = page.run("getComputedStyle(document.body).backgroundColor")
    colours = "[...document.querySelectorAll('#levels circle')].map(c => c.getAttribute('fill'))"
    before = json.dumps(page.run(colours))
    page.scheme("dark")
    page.until(f"getComputedStyle(document.body).backgroundColor !== {light!r}")
    page.until(f"JSON.stringify({colours}) !== JSON.stringify({before})")  # drawn again after the background changed
    fills = page.run(colours)
    stability = [node[3] for node in data(page, "levels")["nodes"]]
    doubtful, certain = (fills[place] for place in (int(np.argmin(stability)), int(np.argmax(stability))))
    assert luminance(doubtful) > luminance(certain) + 30
    ring = page.run("getComputedStyle(document.documentElement).getPropertyValue('--ring').trim()")
    assert ring == "#fff"  # of disputed points, on a page that is nearly black
    page.click("#theme")
    assert page.run("getComputedStyle(document.body).backgroundColor") == light


def test_the_network_stays_silent(page, demo):
    """Opened, searched, clicked through and saved from, the page requests nothing else."""
    page.events.clear()
    page.open(demo)
    page.run("(s => { s.value = 'ward'; s.dispatchEvent(new Event('input')); })(document.querySelector('#search'))")
    page.run("document.querySelector('#ranking-table button.link').click()")
    page.key("Escape")
    page.run("for (const d of document.querySelectorAll('details')) d.open = true")
    page.click("[data-save='matrix.csv']")
    page.downloaded("matrix.csv")
    page.click("[data-save='map.png']")
    page.downloaded_bytes("map.png")
    asked = [e["params"]["request"]["url"] for e in page.events if e["method"] == "Network.requestWillBeSent"]
    assert [url for url in asked if not url.startswith(("data:", "blob:"))] == [demo.resolve().as_uri()]
    assert not [e for e in page.events if e["method"] in ("Network.webSocketCreated", "Network.webTransportCreated")]
    assert page.run("fetch('https://example.org').then(() => 'sent', () => 'refused')") == "refused"
    assert page.run("performance.getEntriesByType('resource').filter(r => r.name.startsWith('http')).length") == 0
    page.events.clear()  # the refusal is a complaint


def test_two_clusterings_show_their_table(browser, tmp_path):
    """The picture of two clusterings is the table of their clusters, above the fold; the comparison comes next."""
    rng = np.random.default_rng(0)
    a = rng.integers(0, 5, 200)
    b = np.where(rng.random(200) < 0.1, rng.integers(0, 5, 200), a)
    cg.report({"a": a, "b": b}, tmp_path / "r.html", progress=False)
    browser.size(1440, 900)
    browser.events.clear()
    browser.open(tmp_path / "r.html")
    bottom = browser.run("document.querySelector('#front canvas[data-kind=table]').getBoundingClientRect().bottom")
    assert 300 < bottom <= 900
    assert browser.run("[...document.querySelectorAll('main section')].map(s => s.id)")[:2] == ["answer", "compare"]
    browser.click("[data-save='table-of-clusters.csv']")
    rows = [line.split(",") for line in browser.downloaded("table-of-clusters.csv").strip().split("\n")]
    assert sum(int(x) for row in rows[1:] for x in row[1:]) == 200
    assert browser.complaints == []


def test_hover_shows_both_names(page):
    """The pointer over a cell shows the two names and every measure."""
    page.run("document.querySelector('#heat').scrollIntoView({block: 'center'})")
    box = page.run("(b => [b.left, b.top, b.width, b.height])(document.querySelector('#heat').getBoundingClientRect())")
    page.send("Input.dispatchMouseEvent", type="mouseMoved", x=box[0] + 0.9 * box[2], y=box[1] + 0.5 * box[3])
    page.until("!document.querySelector('#tip').hidden")
    assert page.run("document.querySelectorAll('#tip div').length") == 8


def test_names_stay_text(browser, tmp_path):
    """A name that contains a script is shown as text and not run."""
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
    monkeypatch.setattr(members, "EMBEDDED", 10)
    rng = np.random.default_rng(0)
    rows = [f"p{i},run {r},{rng.integers(-1, 3)}" for i in range(60) for r in range(5) if rng.random() < 0.9]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs.csv").write_text("\n".join(["point,method,label", *rows]))
    app(shlex.split("report runs.csv --long point,method,label --noise=-1 --unassigned drop"), standalone_mode=False)
    browser.open(tmp_path / "report.html")
    central = data(browser, "central")
    choose(browser, *[i for i in range(5) if i != central][:2])
    value = browser.run("document.querySelector('#pair-measures tbody td').textContent")
    capsys.readouterr()
    app([*shlex.split(shown(browser, "#flow pre"))[1:], "--measures", "ari"], standalone_mode=False)
    assert value in capsys.readouterr().out


@pytest.mark.parametrize("width", [390, 1280])
def test_the_title_has_room(page, demo, width):
    """The navigation does not cover the title, and the last line is above the end of the page."""
    page.size(width)
    page.open(demo)
    box = "document.querySelector('{}').getBoundingClientRect()"
    assert page.run(f"{box.format('h1')}.top - {box.format('nav')}.bottom") >= 8
    assert page.run("parseFloat(getComputedStyle(document.querySelector('footer')).paddingBottom)") >= 20


def test_pairs_without_labels(browser, tmp_path, monkeypatch):
    """If labels are too large, the page shows the pairs it has, and the command for the others."""
    monkeypatch.setattr(members, "EMBEDDED", 10)
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
    assert f"compare runs.csv '$& run {a - 1}' '$& run {b - 1}'" in shown(browser, "#flow")
    assert browser.complaints == []


@pytest.mark.parametrize("most", [10, members.EMBEDDED])
def test_pairs_without_points_in_common(browser, tmp_path, monkeypatch, most):
    """For two clusterings of different points the page says so, and shows no percentages."""
    monkeypatch.setattr(members, "EMBEDDED", most)
    runs = {"a": [0, 1, 1, *[None] * 27], "b": [*[None] * 27, 1, 1, 0], "c": np.arange(30) % 2}
    cg.report(runs, tmp_path / "r.html", unassigned="drop", progress=False)
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
    browser.click("[data-save='contingency.csv']")
    rows = [line.split(",") for line in browser.downloaded("contingency.csv").strip().split("\n")]
    table = cg.contingency(u, v).to_array()
    for name, *counts in rows[1:]:
        for column, count in zip(rows[0][1:], counts, strict=True):
            assert float(count) == pytest.approx(table[int(name), int(column)], abs=1e-3)
    assert browser.run("document.querySelectorAll('#flow path').length") == 6
    assert browser.complaints == []
