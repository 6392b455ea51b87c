"""The report on real files: every sentence and figure is true. Skipped if the files are missing."""

from __future__ import annotations

import importlib.util
import os
import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from browser import Browser, program

import congruence as cg
from congruence.figures.layout import flow_of
from congruence.inputs import files
from congruence.inputs.columns import without_ids
from congruence.reporting import html, words
from congruence.reporting.members import Request
from congruence.reporting.phrases import in_words

DATA = Path(os.environ.get("CONGRUENCE_DATA", Path(__file__).parents[2] / "shared" / "data"))
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (DATA / "clusterings").is_dir(), reason="the real files are not here: set CONGRUENCE_DATA"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]
in_browser = pytest.mark.skipif(
    program() is None or importlib.util.find_spec("websocket") is None,
    reason="there is no chromium, or no websocket-client",
)


@cache
def columns_of(name: str) -> dict:
    columns, _ = without_ids(files.read_columns(DATA / "clusterings" / f"{name}.csv.gz"))
    return columns


@cache
def report_of(name: str, reference: str | None = "reference0", only: tuple[str, ...] = ()) -> html.Report:
    columns = columns_of(name)
    kept = {key: x for key, x in columns.items() if key == reference or not key.startswith("reference")}
    kept = {key: x for key, x in kept.items() if not only or key in only or key == reference}
    return html.report_of(
        Request(clusterings=kept, reference=reference, title=name, source=f"{name}.csv", progress=False)
    )


def test_birch_flows_between_matched_clusters():
    """A hundred clusters on each side: matched ones are opposite one another and take more than 90% of the flow."""
    columns = columns_of("sipu_birch1")
    r = cg.compare(columns["reference0"], columns["sklearn_kmeans@k100"])
    flow = flow_of(r.table)
    joined = sum(flow.counts[i, j] for i, j in flow.matched)
    assert joined / flow.counts.sum() == pytest.approx(
        cg.accuracy(columns["reference0"], columns["sklearn_kmeans@k100"])
    )
    assert joined / flow.counts.sum() > 0.9
    (trace,) = r.plot().data
    drawn = dict(zip(zip(trace.link.source, trace.link.target, strict=True), trace.link.value, strict=True))
    rows = len(flow.rows)
    assert sum(drawn.get((i, rows + j), 0) for i, j in flow.matched) / sum(drawn.values()) > 0.9
    assert not [name for name in (*flow.rows, *flow.columns) if "others" in name]


def test_birch_labels_do_not_overlap_in_matplotlib():
    """No two names on one side overlap."""
    pytest.importorskip("matplotlib")
    columns = columns_of("sipu_birch1")
    shown = cg.compare(columns["reference0"], columns["sklearn_kmeans@k100"]).plot(backend="matplotlib")
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    FigureCanvasAgg(shown).draw()
    boxes = [text.get_window_extent() for axes in shown.axes for text in axes.texts]
    assert len(boxes) > 190
    assert not overlapping([(b.x0, b.y0, b.x1, b.y1) for b in boxes])


def overlapping(boxes: list[tuple[float, float, float, float]]) -> list:
    found = []
    for i, a in enumerate(boxes):
        for b in boxes[i + 1 :]:
            if a[0] < b[2] - 0.5 and b[0] < a[2] - 0.5 and a[1] < b[3] - 0.5 and b[1] < a[3] - 0.5:
                found.append((a, b))
    return found


def test_soft_runs_that_agree_as_well_as_they_can():
    """1000 genomes: two runs at their self-score have an agreement of 0.99 or more, and the report says that they agree."""
    r = report_of("soft_1kg_admixture", None, ("k3_run1", "k3_run2", "k3_run3", "k4_run1"))
    names = r.model.names
    i, j = names.index("k3_run1"), names.index("k3_run2")
    assert r.model.square(r.model.main)[i, j] == pytest.approx(1, abs=1e-6)
    assert r.model.agreement[i, j] >= 0.99
    assert in_words(r.model.agreement[i, j], "reading") == "almost completely"


def test_mnist_names_its_near_trivial_members():
    """Four of twelve clusterings put over 97% of the digits into one cluster: they are named and set aside."""
    r = report_of("mnist_digits")
    trivial = [m.name for m in r.model.members if m.trivial]
    assert len(trivial) == 4
    said = " ".join(r.summary.stands_out)
    assert all(name in said for name in trivial)
    assert "Only 4 of these 8 clusterings" in r.summary.answer
    whole = " ".join([r.summary.answer, *r.summary.findings, *r.summary.stands_out, *r.summary.careful])
    assert "by chance" not in whole
    assert "chance may explain" not in whole


def test_an_integer_column_of_different_values_is_an_id(command, tmp_path):
    """Football: `node` names the rows; the one clustering is compared with the reference that was found."""
    assert list(columns_of("net_football")) == ["reference0", "louvain"]
    said = command(
        "report", str(DATA / "clusterings" / "net_football.csv.gz"), "--reference", "reference0", "--out", "r.html"
    )
    assert said.code == 0
    assert "labels: louvain · reference: reference0 · id: node" in said.err
    assert "“louvain” and the reference “reference0” agree well" in said.out


@pytest.mark.parametrize("name", ["sc_example_sc3_seurat", "uci_wine_allk", "nba_players", "uci_wine"])
def test_one_verdict_on_the_number_of_clusters(name):
    """Clear, probable, a tie, or cannot tell: one of the four, and its sentence says nothing else."""
    if name == "uci_wine_allk":
        some = tuple(key for i, key in enumerate(columns_of(name)) if i % 8 == 0)
        r = report_of(name, "reference0", some)
    else:
        r = report_of(name, next((x for x in columns_of(name) if x.startswith("reference")), None))
    kind, sentence = words.how_many(r.model)
    assert kind in ("clear", "probable", "tie", "cannot tell")
    assert ("probably" in sentence.lower()) == (kind == "probable")
    page = " ".join([r.summary.answer, *r.summary.findings, *r.summary.stands_out]).lower()
    assert ("tie between" in page) == (kind == "tie")
    assert ("cannot tell" in sentence.lower()) <= (kind == "cannot tell")
    assert "clear choice" not in page
    assert "largest k tried" not in page


def test_error_bars_stay_in_the_range():
    """No bar of a figure or of the page leaves the range of its measure."""
    some = tuple(key for i, key in enumerate(columns_of("uci_wine_allk")) if i % 8 == 0)
    choice = report_of("uci_wine_allk", "reference0", some).model.together.choice
    by_name = {c.name: c for c in choice.curves}
    for trace in choice.plot().data:
        if trace.name in ("ari", "vi") and trace.error_y.array is not None:
            value, c = np.asarray(trace.y), by_name[trace.name]
            low, high = cg.measure(c.name).range
            assert np.nanmax(value + np.asarray(trace.error_y.array)) <= high + 1e-12
            assert np.nanmin(value - np.asarray(trace.error_y.arrayminus)) >= low - 1e-12


def test_groups_agree_with_one_another():
    """What is called a group of clusterings has a median agreement of a half or more."""
    m = report_of("uci_wine").model
    assert len(m.groups) > 1
    for group in m.groups:
        inside = m.agreement[np.ix_(group, group)][np.triu_indices(len(group), 1)]
        assert not len(inside) or np.median(inside) >= 0.5


def test_the_class_stays_out_of_the_picture(command, tmp_path):
    """Wine's data have the class as a column: the scatter plot ignores it and lists its columns."""
    said = command(
        "report", str(DATA / "clusterings" / "uci_wine.csv.gz"), "--data", str(DATA / "sets" / "wine.csv.gz"),
        "--columns", "std:sklearn_kmeans@k3,std:fastcluster_ward@k3,sklearn_kmeans@k3", "--reference", "reference0",
        "--out", "r.html",
    )  # fmt: skip
    assert said.code == 0, said.err
    assert re.search(r"left out: .*\bclass\b", said.err)
    listed = re.search(r"columns of the scatter plot: (.*)", said.err)[1]
    assert "class" not in listed
    assert "Alcohol" in listed
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "<dt>columns of the scatter plot</dt>" in page


@pytest.fixture(scope="module")
def browser():
    """One browser for all tests."""
    with Browser() as started:
        yield started


def opened(browser: Browser, tmp_path: Path, r: html.Report, width: int = 1440) -> Browser:
    browser.size(width, 900)
    browser.scheme("light")
    browser.events.clear()
    browser.open(r.save(tmp_path / "r.html"))
    return browser


@in_browser
def test_birch_labels_do_not_overlap_in_plotly(browser, tmp_path):
    """A hundred clusters on each side: no two names of the plotly figure overlap."""
    columns = columns_of("sipu_birch1")
    shown = cg.compare(columns["reference0"], columns["sklearn_kmeans@k100"]).plot()
    shown.write_html(tmp_path / "flow.html", include_plotlyjs=True)
    browser.size(1440, 900)
    browser.send("Page.navigate", url=(tmp_path / "flow.html").resolve().as_uri())
    browser.until("document.querySelectorAll('.sankey .node-label').length >= 200")
    box = "(b => [b.left, b.top, b.right, b.bottom])(t.getBoundingClientRect())"
    boxes = browser.run(f"[...document.querySelectorAll('.sankey .node-label')].map(t => {box})")
    assert not overlapping([tuple(b) for b in boxes])


@in_browser
def test_birch_in_the_browser(browser, tmp_path):
    """The drawn flow joins matched clusters, and no two labels overlap."""
    page = opened(browser, tmp_path, report_of("sipu_birch1", "reference0", ("sklearn_kmeans@k100", "Genie_G0.3@k100")))
    page.run("document.querySelector('#ranking-table button.link').click()")
    paths = page.run(
        "[...document.querySelectorAll('#flow .ribbon')].map(p => [Number(p.dataset.count), p.dataset.matched === 'yes'])"
    )
    total = sum(count for count, _ in paths)
    assert sum(count for count, is_matched in paths if is_matched) / total >= 0.9
    box = "(b => [b.left, b.top, b.right, b.bottom])(t.getBoundingClientRect())"
    boxes = page.run(f"[...document.querySelectorAll('#flow text')].map(t => {box})")
    assert len(boxes) >= 190
    assert not overlapping([tuple(b) for b in boxes])
    assert page.complaints == []


@in_browser
def test_mnist_in_the_browser(browser, tmp_path):
    """The near-trivial clusterings are named in the table, and putting them back changes the answer."""
    page = opened(browser, tmp_path, report_of("mnist_digits"))
    before = page.run("document.querySelector('#sentence').textContent")
    assert page.run("document.querySelector('#ranking-table').textContent").count("near-trivial") == 4
    page.run(
        "[...document.querySelectorAll('#chips button')].find(b => b.textContent.includes('near-trivial')).click()"
    )
    assert page.run("document.querySelector('#sentence').textContent") != before
    assert "12 clusterings" in page.run("document.querySelector('#sentence').textContent")
    assert page.complaints == []


@in_browser
def test_many_clusterings_are_quick(browser, tmp_path):
    """A heap under 60 MB, search and arrow keys work; with CONGRUENCE_TIMING=1 in 100 and 50 ms, and drawn in a second.

    With CONGRUENCE_TIMING=1 all 860 clusterings of the file, which takes half a minute; else every third one.
    """
    timed = "CONGRUENCE_TIMING" in os.environ  # the times hold only on an idle machine
    names = [key for key in columns_of("uci_wine_allk") if not key.startswith("reference")]
    r = report_of("uci_wine_allk", "reference0", tuple(names if timed else names[::3]))
    assert len(r.model.members) == (860 if timed else 288)
    page = opened(browser, tmp_path, r)
    page.send("HeapProfiler.collectGarbage")
    # matrices of all pairs take a ninth of the room
    assert page.send("Runtime.getHeapUsage")["usedSize"] < (60e6 if timed else 20e6)
    times = page.run(
        "(() => { const t0 = performance.now(); const s = document.querySelector('#search'); s.value = 'ward@k3'; "
        "s.dispatchEvent(new Event('input')); document.querySelector('#ranking-table button.link').click(); "
        "const t1 = performance.now(); document.querySelector('#panel-close').click(); "
        "const h = document.querySelector('#heat'); "
        "const t2 = performance.now(); h.dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowDown'})); "
        "return [t1 - t0, performance.now() - t2]; })()"
    )
    assert page.complaints == []
    if timed:
        assert times[0] < 100
        assert times[1] < 50
        assert float(page.run("document.documentElement.dataset.ready")) < 1000
