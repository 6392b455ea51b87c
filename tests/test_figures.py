"""Figures by plotly and matplotlib show the values of the result, and names stay text."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import pytest
from scipy.cluster.hierarchy import linkage

import congruence as cg
from congruence.ensembles import items
from congruence.figures import layout
from congruence.inputs.coerce import as_clustering

pytest.importorskip("plotly")
RNG = np.random.default_rng(3)
TRUTH = np.repeat([0, 1, 2], 15)
X = np.eye(3)[TRUTH] * 6 + RNG.normal(size=(45, 3))
RUNS = {"<b>truth</b>": TRUTH, "$x$": np.where(RNG.random(45) < 0.2, 0, TRUTH), "c": RNG.integers(0, 4, 45)}
TREES = [
    cg.Hierarchy(linkage(X, method), points=[f"<i>{i}</i>" for i in range(45)]) for method in ("average", "complete")
]
SWEEP = {"<b>r1</b>": TRUTH * 0, "<b>r2</b>": TRUTH, "<b>r3</b>": TRUTH * 2 + (X[:, 0] > 3)}


def results() -> dict:
    """One result of every kind that has a figure."""
    return {
        "all pairs": cg.compare_all(RUNS, ["ari", "vi"]),
        "comparison": cg.compare(TRUTH, RUNS["c"]),
        "ensemble": cg.Ensemble(RUNS),
        "choose_k": cg.choose_k(X, [2, 3, 4], n_members=3, n_subsamples=2, random_state=0),
        "drift": cg.drift([(X[i::3], TRUTH[i::3]) for i in range(3)], bins=3),
        "alternatives": cg.alternatives(X, TRUTH, n_alternatives=1, method="orthogonal", random_state=0),
        "cut curve": cg.cut_curve(*TREES),
        "cut table": cg.compare_cuts(*TREES, range(2, 6)),
        "tanglegram": cg.tanglegram(*TREES),
        "resolutions": cg.resolutions(SWEEP),
        "tracks": cg.track(SWEEP),
        "ranking": cg.rank(RUNS),
        "sweep": cg.sweep(X, lambda x, seed, cut: x[:, 0] > cut, {"cut": [1, 2, 3]}, n_repeats=2),
        "clusters": cg.check_clusters(X, [f"<b>{x}</b>" for x in TRUTH]),
    }


@pytest.fixture(scope="module")
def made() -> dict:
    return results()


KINDS = (
    "all pairs", "comparison", "ensemble", "choose_k", "drift", "alternatives", "cut curve", "cut table", "tanglegram",
    "resolutions", "tracks", "ranking", "clusters", "sweep",
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_a_plotly_figure(made, kind):
    """plot() and cg.figure give the same plotly figure, and it can be written without a network."""
    shown = made[kind].plot()
    assert type(shown).__module__.startswith("plotly")
    assert shown.to_json() == cg.figure(made[kind]).to_json()
    assert "<html>" in shown.to_html(include_plotlyjs=False)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_a_matplotlib_figure(made, kind, tmp_path):
    """The same by matplotlib: a new Figure without a window, saved as pdf."""
    pytest.importorskip("matplotlib")
    shown = made[kind].plot(backend="matplotlib")
    shown.savefig(tmp_path / "figure.pdf")
    assert (tmp_path / "figure.pdf").stat().st_size > 1000


def test_the_heatmap_is_the_matrix_in_order(made):
    """The cells are the values in the order of the tree; distances are dark where they are large."""
    r = made["all pairs"]
    for key in ("ari", "vi"):
        shown = r.plot(key)
        tree, heat = shown.data
        order = layout.tree_of(layout.distances(r[key], r.measures[key])).order
        assert np.array_equal(heat.z, r[key][np.ix_(order, order)])
        assert heat.reversescale == (key == "vi")
        assert len(tree.x) == 5 * 2
    assert {"&lt;b&gt;truth&lt;/b&gt;", "$x$", "c"} == set(shown.layout.xaxis2.ticktext)


def test_the_flow_is_the_table(made):
    """Every cell of the contingency table is a link, and the links have all points."""
    r = made["comparison"]
    (trace,) = r.plot().data
    table = r.table.to_array()
    assert sorted(trace.link.value) == sorted(table[table > 0].tolist())
    assert sum(trace.link.value) == 45
    assert len(trace.node.label) == sum(table.shape)
    (few,) = r.plot(most=1).data
    assert sum(few.link.value) == 45
    assert [x for x in few.node.label if " " in x] == ["2 other pairs", "2 other pairs"]


def test_the_consensus_matrix_is_ordered(made):
    """The picture of an ensemble is its consensus matrix in the order of cells_of, and its distribution ends at 1."""
    e = made["ensemble"]
    heat, curve = e.plot().data
    (span,) = e.plot().layout.shapes
    assert (span.x0, span.x1) == (0.1, 0.9)
    cells = layout.cells_of(e)
    assert np.array_equal(heat.z, cells.values)
    assert heat.z == pytest.approx(e.consensus_matrix()[np.ix_(cells.order, cells.order)])
    assert (curve.y[-1], curve.x[-1]) == (1.0, 1.0)
    assert (np.diff(curve.y) >= 0).all()


def test_the_curves_of_drift(made):
    """Two curves, with the previous window and with the first, and the evidence per cluster and feature."""
    d = made["drift"]
    before, first, cells = d.plot().data
    assert list(before.y) == d.previous.tolist()
    assert list(first.y) == d.first.tolist()
    assert list(cells.y)[:2] == ["0: size", "0: x0"]
    assert np.asarray(cells.z)[1, 2] == pytest.approx(-d.findings[2].log10_p[0, 1])
    low, high = d.band
    assert 0 < low < high <= 1


def test_alternatives_are_a_list_with_a_picture(made):
    """alternatives returns a list; its figure has the given clustering and each alternative."""
    found = made["alternatives"]
    assert isinstance(found, list)
    assert len(found) == 1
    given, other = found.plot().data
    assert len(given.x) == 45
    assert list(other.customdata) == found[0].labels.tolist()
    assert cg.ari(np.asarray(given.customdata), TRUTH) == 1.0


def test_a_tree_of_one_and_two():
    """One member has no branch, two have one."""
    assert layout.tree_of(np.zeros((1, 1))).branches.shape == (0, 5)
    assert layout.tree_of(np.array([[0, 2.0], [2.0, 0]])).branches.tolist() == [[0, 1, 0, 0, 2]]


def test_groups():
    """Two clear groups are found, the larger first; points without structure are one group."""
    place = np.array([0.0, 0.1, 9, 9.1, 9.2])
    labels, clear = layout.groups_of(np.abs(place[:, None] - place))
    assert labels.tolist() == [1, 1, 0, 0, 0]
    assert clear > 0.9
    spread = np.ones((6, 6)) - np.eye(6)
    assert layout.groups_of(spread)[0].tolist() == [0] * 6


def test_map_shows_plane_distances():
    """Points of a plane come back with their distances; the share shown is 1."""
    points = RNG.normal(size=(8, 2))
    away = np.linalg.norm(points[:, None] - points, axis=2)
    place, share = layout.map_of(away)
    assert np.linalg.norm(place[:, None] - place, axis=2) == pytest.approx(away, abs=1e-9)
    assert share == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: cg.figure(3), "there is no figure of a int"),
        (
            lambda: cg.compare([0, 1], [0, 1]).plot(backend="tikz"),
            "backend must be 'plotly' or 'matplotlib', not 'tikz'",
        ),
        (lambda: cg.compare_all(RUNS).plot("arii"), "there is no measure 'arii'"),
    ],
)
def test_mistakes(call, text):
    """One line that lists what is available."""
    with pytest.raises(cg.InputError, match=re.escape(text)):
        call()


@pytest.mark.parametrize("backend", ["plotly", "matplotlib"])
def test_a_measure_that_was_not_measured(backend):
    """A figure of a measure that the result does not have is refused, with those it has."""
    pairs = cg.compare_all({"a": [0, 0, 1], "b": [0, 1, 1], "c": [0, 1, 2]}, ["ari", "rand"])
    with pytest.raises(cg.InputError, match="vi was not measured here; there are: ari and rand"):
        pairs.plot("vi", backend=backend)


@pytest.mark.slow
def test_few_clusterings_show_their_values():
    """Cells show their values for up to twelve clusterings; for more they would not be legible."""
    few, many = (cg.compare_all([TRUTH, RUNS["c"]] * n, "ari") for n in (2, 7))
    assert few.plot().data[-1].texttemplate == "%{z:.2f}"
    assert many.plot().data[-1].texttemplate is None
    written = {text.get_text() for axes in few.plot(backend="matplotlib").axes for text in axes.texts}
    assert f"{cg.ari(TRUTH, RUNS['c']):.2f}" in written
    assert not [text for axes in many.plot(backend="matplotlib").axes for text in axes.texts]


def test_the_curve_and_its_band(made):
    """The line is the curve, and the band is 2 standard deviations around the mean."""
    curve = made["cut curve"]
    band, mean, line = curve.plot().data
    assert np.array_equal(line.y, curve.values)
    assert np.array_equal(mean.y, curve.mean)
    assert list(band.y) == [*curve.band[1].tolist(), *curve.band[0][::-1].tolist()]
    assert len(cg.cut_curve(*TREES, "jaccard").plot().data) == 1


def test_the_table_of_cuts_is_the_heat_map(made):
    """Cells are the values, rows the cuts of a."""
    table = made["cut table"]
    (heat,) = table.plot().data
    assert np.array_equal(heat.z, table.values)
    assert list(heat.y) == [str(k) for k in table.ks_a]


def test_the_tanglegram_joins_equal_points(made):
    """A line leads from the place of each point in one order to its place in the other; names stay text."""
    tangle = made["tanglegram"]
    shown = tangle.plot()
    lines = next(trace for trace in shown.data if trace.opacity == 0.5)
    ends = list(zip(lines.y[::3], lines.y[1::3], strict=True))
    for i, point in enumerate(tangle.order_a.tolist()):
        assert ends[i] == (i, tangle.order_b.tolist().index(point))
    assert "<i>0</i>" not in str(shown.data[-1].text)
    assert "&lt;i&gt;0&lt;/i&gt;" in str(shown.data[-1].text)


def test_the_tree_of_clusters(made):
    """A mark per cluster; colours are stability, the mean of a feature, or the most frequent label; names stay text."""
    r = made["resolutions"]
    nodes = r.plot().data[-1]
    assert len(nodes.x) == len(r.node_columns["cluster"])
    assert list(nodes.marker.color) == pytest.approx(r.node_columns["stability"])
    assert "<b>r1</b>" not in str(r.plot().layout.yaxis.ticktext)
    feature = r.plot(color=X[:, 0]).data[-1]
    assert feature.marker.color[0] == pytest.approx(X[:, 0].mean())
    labels = np.array(["<u>x</u>", "y", "z"])[TRUTH]
    named = [trace for trace in r.plot(color=labels).data if trace.showlegend]
    assert {trace.name for trace in named} == {"&lt;u&gt;x&lt;/u&gt;", "y", "z"}
    r.plot("matplotlib", color=labels)
    edges = sum(len(trace.x) // 3 for trace in r.plot(least=0).data if trace.mode == "lines")
    assert edges == len(r.edge_columns["count"])
    for bad in ("size", np.zeros(3), np.full(45, np.nan)):
        with pytest.raises(cg.InputError, match="color"):
            r.plot(color=bad)
    with pytest.raises(cg.InputError, match="least"):
        r.plot(least=2)


@pytest.mark.parametrize("backend", ["plotly", "matplotlib"])
def test_an_ensemble_flows(backend):
    """Several clusterings side by side: every point flows from each to the next."""
    e = cg.Ensemble({"a": TRUTH, "b": RUNS["$x$"], "c": RUNS["c"]})
    shown = e.plot("flow", backend=backend)
    if backend == "plotly":
        assert sum(shown.data[0].link.value) == 2 * 45
        assert len(shown.data[0].node.label) == sum(c.k for c in e.members)
    else:
        assert {"a", "b", "c"} <= {text.get_text() for axes in shown.axes for text in axes.texts}
    with pytest.raises(cg.InputError, match="2 to 8 clusterings, not 9"):
        cg.Ensemble([TRUTH] * 9).plot("flow", backend=backend)
    with pytest.raises(cg.InputError, match="kind must be 'consensus' or 'flow'"):
        e.plot("sunburst")


@pytest.mark.parametrize("backend", ["plotly", "matplotlib"])
def test_a_consensus_has_a_card_per_cluster(backend):
    """A card names size and votes; its bars are votes for clusters that add up to 1, or with data five features."""
    if backend == "matplotlib":
        pytest.importorskip("matplotlib")
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], [30, 20, 10])
    runs = [np.where(rng.random(60) < 0.2, rng.integers(0, 3, 60), truth) for _ in range(8)]
    found = cg.consensus(runs, 3, random_state=0)
    X = rng.normal(size=(60, 7)) + 5 * np.eye(3, 7)[truth]
    votes = found.plot(backend=backend)
    apart = found.plot(backend=backend, data=X)
    if backend == "plotly":
        assert [sum(trace.x) for trace in votes.data] == pytest.approx([1, 1, 1])
        sizes = np.bincount(found.labels)
        assert [trace.name for trace in votes.data] == [f"cluster {c}: {size} points" for c, size in enumerate(sizes)]
        shown = [getattr(apart.layout, axis).ticktext for axis in ("yaxis", "yaxis2", "yaxis3")]
        assert [names[0] for names in shown] == ["column 1", "column 2", "column 3"]
        assert all(len(trace.x) == 5 and trace.x[0] > 2 for trace in apart.data)
    else:
        titles = [axes.get_title() for axes in votes.axes]
        assert re.match(r"cluster 0: \d+ points\nvote share 0\.", titles[0])
        assert [axes.get_yticklabels()[0].get_text() for axes in apart.axes] == ["column 1", "column 2", "column 3"]
    with pytest.raises(cg.InputError, match="the data have 5 rows"):
        found.plot(backend=backend, data=X[:5])


@pytest.mark.parametrize("given", [{}, {"gaps": True}, {"frequency": True}, {"sample_weight": True, "gaps": True}])
def test_points_of_many_clusters_are_ordered_as_those_of_few(given, monkeypatch):
    """The order from the cells that are not 0 is that from all points × clusters; so are its sums and second-best clusters."""
    rng = np.random.default_rng(1)
    n = 300
    codes = np.unique(rng.integers(0, 40, n), return_inverse=True)[1]
    runs = [np.where(rng.random(n) < 0.4, rng.integers(0, 40, n), codes).astype(float) for _ in range(4)]
    if "gaps" in given:
        for run in runs[1:]:
            run[rng.random(n) < 0.2] = np.nan
    more = {name: rng.integers(1, 4, n) for name in given if name != "gaps"}
    e = cg.Ensemble(runs, member_weight=[1, 2, 3, 4], unassigned="partial", **more)
    every = np.nan_to_num(cg.item_consensus(e, codes))
    cells = items.item_cells(e, as_clustering(codes)).toarray()
    np.testing.assert_allclose(cells, every, rtol=1e-12, atol=1e-12)
    dense = items.neighbours(e, codes)
    monkeypatch.setattr(items, "MOST_DENSE", 0)
    for ours, theirs in zip(items.neighbours(e, codes), dense, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12)


def test_a_tanglegram_says_which_tree_is_which():
    """Its trees are called a and b, as in the table of the command; one crossing is one crossing."""
    trees = [cg.Hierarchy(linkage(np.array([[0.0], [1.0], [3.0], [x]]), "single")) for x in (6.0, 0.4)]
    tangle = cg.tanglegram(*trees)
    assert repr(tangle).removeprefix("Tanglegram: ") == tangle.plot().layout.title.text
    assert {"a", "b"} <= {text for trace in tangle.plot().data for text in (trace.text or ())}
    assert "4 points, 1 crossing (" in repr(dataclasses.replace(tangle, crossings=1))


@pytest.mark.parametrize("letters", [6, 20, 45])
def test_long_names_of_a_tanglegram_have_room(letters):
    """The names of both trees end before the lines between them begin; those of more than 30 letters are cut in the middle."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 4))
    points = [f"{'a' * (letters - 3)} {i:02d}" for i in range(30)]
    trees = [cg.Hierarchy(linkage(X + s * rng.normal(size=X.shape)), points=points) for s in (0, 0.5)]
    shown = cg.tanglegram(*trees).plot()
    lines, left, right = (trace for trace in shown.data if len(trace.y) in (30, 90))
    texts = [left, right]
    per_unit = 800 / max(x for trace in shown.data for x in trace.x if x is not None)  # pixels, without the margins
    longest = max(len(x) for x in texts[0].text)
    assert longest == min(letters, 30)
    assert len(set(texts[0].text)) == 30
    begins, ends = lines.x[0], lines.x[1]
    assert 4 * longest <= per_unit * (begins - left.x[0])
    assert 4 * longest <= per_unit * (right.x[0] - ends)
    assert (shown.layout.height - 180) / 30 >= 12  # a row is higher than its letters
