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


#: boxes of the texts of an SVG, and pairs of them that overlap by more than two pixels
OVERLAPS = """(selector => {
  const texts = [...document.querySelectorAll(selector)].filter(t => t.textContent.trim());
  const boxes = texts.map(t => [t.textContent, t.getBoundingClientRect()]);
  const meets = (a, b) => a.left + 2 < b.right && b.left + 2 < a.right && a.top + 2 < b.bottom && b.top + 2 < a.bottom;
  return boxes.flatMap(([x, a], i) => boxes.slice(i + 1).filter(([_, b]) => meets(a, b)).map(([y]) => [x, y]));
})"""
#: texts that reach over the edge of their SVG
CUT = """[...document.querySelectorAll('#levels svg, #curve svg, #map svg')].flatMap(s => {
  const b = s.getBoundingClientRect(), box = (t) => t.getBoundingClientRect();
  const out = (t) => box(t).left < b.left - 1 || box(t).right > b.right + 1;
  return [...s.querySelectorAll('text')].filter(out).map(t => t.textContent);
})"""


def resolutions() -> dict[str, np.ndarray]:
    """Thirty clusterings with long names, in five steps of up to twelve clusters, and points of 26 groups among them."""
    rng = np.random.default_rng(0)
    big = rng.integers(0, 12, 600)
    return {
        f"leiden of the neighbours, resolution {r:.1f}, seed {s}": noisy(np.minimum(big, 3 + int(6 * r)), 0.1, rng)
        for r in (0.2, 0.6, 1.0, 1.4, 1.8)
        for s in range(6)
    }


@pytest.fixture(scope="module")
def thirty(tmp_path_factory):
    """A report on thirty clusterings."""
    path = tmp_path_factory.mktemp("thirty") / "r.html"
    cg.report(resolutions(), path, progress=False)
    return path


@pytest.mark.parametrize("width", [1400, 1000, 390])
def test_no_text_overlaps_and_nothing_is_wider_than_the_screen(browser, thirty, width):
    """At thirty clusterings with long names: no two texts of the tree or the curve overlap, and none is cut at the edge."""
    browser.size(width, 900, phone=width < 500)
    browser.open(thirty)
    for figure in ("#levels svg text", "#curve svg text"):
        assert browser.run(f"{OVERLAPS}({figure!r})") == [], figure
    assert browser.run("document.documentElement.scrollWidth") <= width
    assert browser.run(CUT) == []
    browser.size(1280)


def test_names_that_differ_at_their_end_stay_different(browser, thirty):
    """Long names are cut in the middle; each row of the tree names its clustering; sizes of ten groups are shown."""
    browser.open(thirty)
    rows = browser.run("[...document.querySelectorAll('#levels svg text')].map(t => t.textContent)")
    names = [x for x in rows if not x.startswith("k = ")]
    assert len(names) == len(set(names)) == len(rows) / 2
    assert all("…" in x and x.split("…")[1].endswith(tuple("012345")) for x in names)
    words = browser.run("[...document.querySelectorAll('#bars .words')].map(t => t.textContent)")
    assert len(words) > 6
    assert all(x.split(" · ")[0].isdigit() for x in words)


def test_ticks_are_round(browser, thirty):
    """The ticks of the agreement over k have few digits and equal steps."""
    browser.open(thirty)
    ticks = browser.run(
        "[...document.querySelectorAll('#curve svg text.muted')].map(t => Number(t.textContent)).filter(x => x < 1)"
    )
    steps = np.diff(ticks)
    assert len(ticks) >= 3
    assert steps == pytest.approx(np.full(len(steps), steps[0]))
    assert all(len(str(x)) <= 6 for x in ticks)


def test_no_colour_means_two_things(browser, tmp_path):
    """The strip of similar clusterings is grey, with numerals and a legend; the matrix has its scale."""
    rng = np.random.default_rng(1)
    first, second = rng.integers(0, 3, (2, 300))
    runs = {f"a {i}": noisy(first, 0.05, rng) for i in range(6)} | {
        f"b {i}": noisy(second, 0.05, rng) for i in range(6)
    }
    cg.report(runs, tmp_path / "r.html", progress=False)
    browser.open(tmp_path / "r.html")
    colours = "[...document.querySelectorAll({!r})].map(x => getComputedStyle(x).backgroundColor)"
    greys, groups = browser.run(colours.format("#front .numeral")), browser.run(colours.format(".card .swatch"))
    assert len(set(greys)) == 2
    assert all(len(set(x[4:-1].split(", "))) == 1 for x in greys)
    assert not set(greys) & set(groups)
    assert "agreement (adjusted Rand), higher is better" in browser.run("document.querySelector('#front').textContent")


def test_more_groups_than_colours_have_other_marks(browser, tmp_path):
    """Of 26 groups no two have the same colour and mark."""
    rng, base = np.random.default_rng(0), np.repeat(np.arange(26), 12)
    runs = {f"run {i}": noisy(base, 0.03, rng) for i in range(4)}
    cg.report(runs, tmp_path / "r.html", n_clusters=26, data=rng.normal(size=(312, 2)), progress=False)
    browser.open(tmp_path / "r.html")
    found = browser.run(
        "[...document.querySelectorAll('.card .swatch')].map(x => [getComputedStyle(x).backgroundColor, x.className].join())"
    )
    assert len(found) == len(set(found)) == 26


def test_svg_of_canvases_are_shapes_and_text(browser, thirty, tmp_path):
    """The matrix and the points are saved as rectangles, paths and names, without an embedded picture."""
    from xml.etree import ElementTree

    def parts(name: str) -> list[str]:
        browser.click(f"[data-save='{name}']")
        root = ElementTree.fromstring(browser.downloaded(name))
        return [node.tag.rpartition("}")[2] for node in root.iter()]

    browser.open(thirty)
    matrix = parts("matrix.svg")
    assert "image" not in matrix
    assert matrix.count("rect") >= 200
    assert matrix.count("text") >= 30
    rng = np.random.default_rng(0)
    runs = {f"run {i}": noisy(np.repeat([0, 1], 50), 0.1, rng) for i in range(4)}
    cg.report(runs, tmp_path / "r.html", data=rng.normal(size=(100, 2)), progress=False)
    browser.open(tmp_path / "r.html")
    points = parts("points.svg")
    assert "image" not in points
    assert points.count("path") >= 100
    assert browser.complaints == []


#: texts of an SVG whose box reaches over the edge of the picture
OUTSIDE = """(selector => [...document.querySelectorAll(selector)].flatMap(s => {
  const b = s.getBoundingClientRect(), box = (t) => t.getBoundingClientRect();
  const out = (t) => box(t).left < b.left - 1 || box(t).right > b.right + 1;
  return [...s.querySelectorAll('text')].filter(out).map(t => t.textContent);
}))"""


@pytest.mark.parametrize("width", [390, 1400])
def test_texts_of_memberships_are_whole_and_apart(browser, tmp_path, width):
    """Titles of criteria are broken into lines, no star covers a tick, and names on the map stand beside the dots."""
    rng, runs = np.random.default_rng(0), {}
    for i in range(13):
        k = 2 + i % 2
        runs[f"consensus run {i}"] = rng.dirichlet(np.full(k, 0.4), 40) / 2 + np.eye(k)[np.arange(40) % k] / 2
    cg.report(runs, tmp_path / "r.html", progress=False)
    browser.size(width, phone=width < 500)
    browser.open(tmp_path / "r.html")
    browser.run("for (const d of document.querySelectorAll('details')) d.open = true")
    browser.until("document.querySelectorAll('#choice svg').length > 3")
    assert browser.run(CUT.replace("#levels svg", "#choice svg, #levels svg") + ".join()") == ""
    assert browser.run("[...document.querySelectorAll('#choice svg')].some(s => s.textContent.includes('relative'))")
    for apart in ("#choice text, #choice .best", "#map circle, #map .halo"):
        named = f"JSON.stringify({OVERLAPS.replace('.filter(t => t.textContent.trim())', '')}('{apart}').filter(p => p.join('')))"
        assert browser.run(named) == "[]", apart
    assert browser.run("document.querySelectorAll('#map .halo').length") > 5
    assert browser.complaints == []


@pytest.fixture(scope="module")
def with_data(tmp_path_factory):
    """A report on thirty clusterings with long names of points with long names of features."""
    rng = np.random.default_rng(0)
    base = np.repeat([0, 1, 2], 50)
    names = ["OD280/OD315_OF_DILUTED_WINES", "WWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWW", "ash"]
    X = {name: base * (1 + i) + rng.normal(size=150) for i, name in enumerate(names)}
    runs = {f"fastcluster_complete_linkage_{i:02d}": noisy(base, 0.02 * i, rng) for i in range(30)}
    runs |= {f"almost everything in one cluster {i}": np.arange(150) < 1 + i % 2 for i in range(4)}
    path = tmp_path_factory.mktemp("data") / "r.html"
    cg.report(runs, path, reference=base, data=X, progress=False)
    return path


@pytest.mark.parametrize("width", [1400, 1000, 390])
def test_no_text_of_features_points_or_map_is_cut(browser, with_data, width):
    """Names of features are cut to the room there is; the words below the histogram stay inside it."""
    browser.size(width, 900, phone=width < 500)
    browser.open(with_data)
    assert browser.run("document.querySelectorAll('#features svg text').length") > 3
    assert browser.run(f"{OUTSIDE}('#features svg, #histogram svg, #map svg')") == []
    browser.size(1280)


def test_names_of_thirty_rows_can_be_read_on_a_phone(browser, with_data):
    """The matrix around the chosen pair has as many rows as there is room for their names."""
    browser.size(390, 900, phone=True)
    browser.open(with_data)
    browser.run("document.querySelector('#zoom').scrollIntoView()")
    painted = browser.run(
        "(() => { const c = document.querySelector('#zoom'), g = c.getContext('2d'); "
        "const d = g.getImageData(0, 0, 60, c.height).data; let n = 0; "
        "for (let i = 3; i < d.length; i += 4) n += d[i] > 0; return 4 * n / d.length; })()"
    )
    assert 0.05 < painted < 0.5  # letters, and not the cells of the matrix
    browser.size(1280)


def test_names_in_the_ranking_are_not_broken_where_there_is_room(browser, with_data):
    """At 1,000 pixels every name of up to 34 letters stands in one line."""
    browser.size(1000)
    browser.open(with_data)
    heights = browser.run(
        "[...document.querySelectorAll('#ranking-table tbody th button')].map(x => x.getClientRects().length && x.offsetHeight)"
    )
    assert max(heights) < 30
    browser.size(1280)


def test_one_clustering_has_a_page(browser, tmp_path):
    """The page of one clustering has its bars, points and cards, no sections on comparing, and draws without complaint."""
    rng = np.random.default_rng(0)
    X = np.repeat([[0.0, 0], [6, 0], [0, 6]], 40, axis=0) + rng.normal(size=(120, 2))
    cg.report({"kmeans": np.repeat([0, 1, 2], 40)}, tmp_path / "r.html", data=X, progress=False)
    browser.open(tmp_path / "r.html")
    shown = "[...document.querySelectorAll('main > section')].filter(x => x.offsetHeight).map(x => x.id)"
    assert browser.run(shown) == ["answer", "clusters", "many", "points", "details"]
    assert "stable" not in browser.run("document.querySelector('#bars').textContent")
    assert "silhouette" in browser.run("document.querySelector('.card').textContent")
    assert browser.complaints == []


def test_a_picture_stands_beside_the_answer_if_one_of_two_is_near_trivial(browser, tmp_path):
    """Then too, the table of the two clusterings is drawn."""
    cg.report({"a": np.repeat([0, 1, 2], 40), "b": np.arange(120) == 0}, tmp_path / "r.html", progress=False)
    browser.open(tmp_path / "r.html")
    assert browser.run("document.querySelectorAll('#front canvas').length") == 1
    assert "stable" not in browser.run("document.querySelector('#bars').textContent")


def test_nothing_is_cut_on_paper(browser, with_data):
    """Printed, the notes of the ranking are wrapped, buttons that show more are gone, and folded parts are open."""
    browser.size(700)
    browser.open(with_data)
    browser.run("dispatchEvent(new Event('beforeprint'))")
    browser.send("Emulation.setEmulatedMedia", media="print")
    assert browser.run("document.querySelector('#ranking-table table').getBoundingClientRect().right") <= 700
    assert browser.run("[...document.querySelectorAll('details')].every(x => x.open)")
    assert not browser.run("[...document.querySelectorAll('#point-table > button')].some(x => x.offsetHeight)")
    browser.send("Emulation.setEmulatedMedia", media="")
    browser.run("dispatchEvent(new Event('afterprint'))")
    browser.size(1280)
