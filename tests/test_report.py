"""The report: its data compared with the library's functions, its text, and the page."""

from __future__ import annotations

import json
import re
from base64 import b64decode
from dataclasses import replace
from hashlib import sha256

import numpy as np
import pytest

import congruence as cg
from congruence.chance import bounds
from congruence.figures import layout
from congruence.inputs.column_kinds import with_memberships
from congruence.reporting import answer, html, members, model, together, words
from congruence.selection.choice import KChoice

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
#: places of the clusterings that count: the second is the same as the first, the sixth has one cluster
COUNTED = [0, 2, 3, 4, 6]
NASTY = "</script><script>document.title='gone'</script> & \"quoted\" '"


@pytest.fixture(scope="module")
def made() -> html.Report:
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


# --- the data ---------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_values_are_those_of_compare_all(made):
    """Six measures, the upper triangle of each, and the page's steps are within half a step of them."""
    m = made.model
    assert [s.measure.key for s in m.scales] == list(members.HARD)
    everything = cg.compare_all({"truth": TRUTH, **RUNS}, list(members.HARD))
    page = data_of(made.html)
    for scale, sent in zip(m.scales, page["measures"], strict=True):
        square = everything[scale.measure.key]
        assert np.array_equal(scale.values, square[np.triu_indices(8, 1)])
        steps = unpacked(sent["q"])
        assert len(steps) == 28
        back = sent["min"] + steps / 65534 * (sent["max"] - sent["min"])
        assert np.abs(back - scale.values).max() <= (sent["max"] - sent["min"]) / 65534
        assert sorted(unpacked(sent["order"]).tolist()) == list(range(8))
        assert (sent["place"] is not None) == scale.measure.is_metric


def test_undefined_values_are_their_own_step():
    """Two members without a common point have no value."""
    runs = {"a": [0, 1, 0, 1, None, None], "b": [None, None, None, None, 0, 1], "c": [0, 1, 0, 1, 0, 1]}
    scale = model.build(runs, progress=False).main
    low, high, steps = scale.quantised
    assert np.isnan(scale.values[0])
    assert steps[0] == 65535
    assert (low, high) == (1.0, 1.0)


def test_the_order_puts_the_alike_together(made):
    """Duplicates are neighbours in the order of every measure."""
    for scale in made.model.scales:
        order = scale.tree.order.tolist()
        same = [made.model.names.index(x) for x in ("good", "same as good")]
        assert abs(order.index(same[0]) - order.index(same[1])) == 1


def test_the_central_member_has_the_highest_mean(made):
    """Central is the clustering with the best mean agreement with the others that count: no duplicate, none of one cluster."""
    counted = {name: RUNS[name] for name in RUNS if name not in ("same as good", "one")}
    ranked = cg.member_agreement(counted, "ari")
    assert [made.model.names[i] for i in made.model.counted] == list(counted)
    assert made.model.members[made.model.central].name == next(iter(ranked))
    assert made.model.members[made.model.central].mean == pytest.approx(next(iter(ranked.values())), rel=1e-12)


def test_the_reference_is_ranked(made):
    """The rows are in order, with the values of compare_to, an interval around them and p-values that chance tells."""
    against = made.model.against
    values = [row.values["ari"] for row in against.rows]
    assert values == sorted(values, reverse=True)
    assert values[0] == cg.ari(TRUTH, RUNS["good"])
    best = against.rows[0]
    with_interval = [row for row in against.rows if row.interval is not None]
    assert with_interval
    for row in with_interval:
        assert row.interval[0] <= row.agreement <= row.interval[1] + 0.05
    assert all(row.note for row in against.rows if row.interval is None)  # too few differences, and said
    assert best.p_value < 0.001
    assert best.is_bound
    assert best.p_value <= best.p_corrected <= 1
    named = {made.model.names[row.member]: row for row in against.rows}
    assert named["random"].p_value > 0.01
    assert named["one"].p_value == 1.0
    assert "truth" not in named


def test_the_same_partition_has_the_same_interval():
    """Copies with other names for the clusters are not drawn again: their rows are equal to the last digit."""
    copy = (RUNS["good"] + 1) % (int(RUNS["good"].max()) + 1)
    rows = cg.report({"good": RUNS["good"], "other": RUNS["random"], "copy": copy}, reference=TRUTH).model.against.rows
    by_value = {}
    for row in rows:
        by_value.setdefault(row.values["ari"], []).append((row.interval, row.p_value, row.p_corrected))
    same, alone = sorted(by_value.values(), key=len, reverse=True)
    assert len(same) == 2
    assert same[0] == same[1]
    assert alone[0][0] != same[0][0]


@pytest.mark.slow
def test_weights_of_points_are_refused_and_those_of_members_kept():
    """Every point counts once on a page; members may weigh, with a reference from elsewhere too."""
    for weights in ({"sample_weight": np.linspace(1, 2, 60)}, {"frequency": [2] * 60}):
        for options in ({}, {"reference": TRUTH}):
            with pytest.raises(cg.InputError, match="counts every point once"):
                cg.report(cg.Ensemble(RUNS, **weights), **options)
    e = cg.Ensemble(RUNS, member_weight=np.arange(1, len(RUNS) + 1))
    for options in ({}, {"reference": TRUTH}):
        assert cg.report(e, **options).model.together.certainty == pytest.approx(e[COUNTED].certainty(), rel=1e-12)


def test_very_many_clusters_are_left_to_the_command(monkeypatch):
    """If a consensus would take too long, the page says so for each method, and is complete otherwise."""
    monkeypatch.setattr(together, "MOST_CENTRES", 5)
    monkeypatch.setattr(together, "FEW", 10)
    r = cg.report(RUNS, reference=TRUTH)
    assert r.model.together.best is None
    assert {row["method"] for row in r.model.together.methods} == set(together.METHODS)
    assert all("congruence consensus --method" in row["left_out"] for row in r.model.together.methods)
    assert "left_out" in r.html


def test_the_answer_is_counted_point_by_point(made):
    """A clustering puts a point with its group if its cluster has most points in common with that group."""
    a = made.model.answer
    assert a.source == "consensus"
    agree = np.zeros(60)
    for i in COUNTED:
        labels = list(RUNS.values())[i]
        for p in range(60):
            here = a.labels[labels == labels[p]]
            agree[p] += np.bincount(here).argmax() == a.labels[p]
    assert a.placed == pytest.approx(agree / len(COUNTED), rel=1e-12)
    assert sorted(a.disputed.tolist()) == np.flatnonzero(agree / len(COUNTED) < 0.75).tolist()
    assert a.consistent == pytest.approx(np.mean(agree / len(COUNTED) >= 0.75))
    assert made.model.points.ids[7] == "p7"
    assert made.model.points.place.shape == (60, 2)


def test_groups_are_numbered_by_size(made):
    """The largest group is the first, and its stability is the mean Jaccard similarity with the points voted into it."""
    a = made.model.answer
    assert a.sizes.tolist() == sorted(a.sizes.tolist(), reverse=True)
    assert a.sizes.sum() == 60
    found = []
    for i in COUNTED:
        labels = list(RUNS.values())[i]
        vote = np.array([np.bincount(a.labels[labels == x]).argmax() for x in labels])
        found.append(
            [np.sum((vote == c) & (a.labels == c)) / np.sum((vote == c) | (a.labels == c)) for c in range(a.k)]
        )
    assert a.stability == pytest.approx(np.mean(found, axis=0), rel=1e-12)


def test_clusters_that_split_a_group_find_it():
    """A clustering that splits the groups further finds them; one that merges two does not."""
    base = np.repeat([0, 1, 2], 20)
    votes = answer.votes_of(base, 3, [(np.arange(60) // 10, 6), (np.minimum(base, 1), 2)], [True, True], False)
    assert votes.agreement[0] == 1.0
    assert votes.agreement[1] == cg.ari(base, np.minimum(base, 1))


def test_points_with_gaps_and_many_clusters():
    """Points without a label are not counted; tables with many clusters take another path to the same numbers."""
    base, other = np.array([0, 0, 1, 1, 1]), np.array([0, 2, 1, 1, 2])
    votes = answer.votes_of(base, 2, [(other, 2)], [True], False)
    assert votes.placed[[0, 2, 3]].tolist() == [1, 1, 1]
    assert np.isnan(votes.placed[[1, 4]]).all()
    left, right = RNG.integers(0, 900, 1000), RNG.integers(0, 900, 1000)
    row, col, count = answer.cells_of_pair(left, 900, right, 900)
    table = cg.contingency(left, right)
    assert count.sum() == 1000
    assert len(count) == len(table.count)
    assert answer.ari_of_cells(row, col, count) == pytest.approx(cg.ari(left, right), rel=1e-12)


@pytest.mark.parametrize("soft", [False, True])
def test_the_bound_of_chance_is_above_the_p_value(soft):
    """The bound without draws is from the exact mean and variance over all permutations, and no p-value exceeds it."""
    from itertools import permutations

    a, b = (RNG.dirichlet([0.3, 0.3], 6) if soft else np.array(x) for x in ([0, 0, 1, 1, 1, 1], [0, 0, 0, 1, 1, 1]))
    e = cg.Ensemble([cg.Memberships(x) if soft else x for x in (a, b)])
    left, right = (x @ x.T if soft else (x[:, None] == x).astype(float) for x in (a, b))
    np.fill_diagonal(left, 0)
    np.fill_diagonal(right, 0)
    every = np.array([(left * right[np.ix_(p, p)]).sum() for p in map(list, permutations(range(6)))])
    value = (left * right).sum()
    bound = bounds.chance_bound(*e.members)
    if value > every.mean():
        assert bound == pytest.approx(every.var() / (every.var() + (value - every.mean()) ** 2), rel=1e-9)
    assert np.mean(every >= value - 1e-12) <= bound


def test_what_sets_a_cluster_apart(made):
    """The effect of a feature is the difference of means in pooled standard deviations, the largest first."""
    f, a, X = made.model.features, made.model.answer, made.model.points.numbers
    inside, outside = X[a.labels == 0], X[a.labels != 0]
    pooled = np.sqrt((inside.var(axis=0) * len(inside) + outside.var(axis=0) * len(outside)) / 58)
    expected = dict(
        zip(("column 1", "column 2", "column 3"), (inside.mean(axis=0) - outside.mean(axis=0)) / pooled, strict=True)
    )
    assert dict(f.named[0]) == pytest.approx(expected, rel=1e-9)
    assert [abs(d) for _, d in f.named[0]] == sorted((abs(d) for _, d in f.named[0]), reverse=True)


def test_the_tree_over_k(made):
    """One clustering for each number of clusters; every point of a level flows to the next."""
    x = made.model.levels
    assert x.ks == (3, 4)
    assert sum(n.size for n in x.nodes if n.y == 0) == 60
    assert sum(edge.count for edge in x.edges) == 60
    assert {k for k, *_ in x.curve} == {3, 4}
    value = np.mean([cg.ari(RUNS["four"], RUNS["other four"])])
    assert {k: v for k, v, *_ in x.curve}[4] == pytest.approx(value, rel=1e-12)


def test_the_ensemble_is_that_of_the_library(made):
    """Certainty, its baseline, PAC and the consensus matrix are the ensemble's own."""
    t, e = made.model.together, cg.Ensemble(RUNS)[COUNTED]
    assert t.certainty == pytest.approx(e.certainty())
    assert t.random_certainty == cg.certainty_random(4, 5)
    assert t.pac == pytest.approx(e.pac())
    assert t.cells.values == pytest.approx(e.consensus_matrix()[np.ix_(t.cells.order, t.cells.order)])
    assert {row["method"] for row in t.methods} == {*together.METHODS, "average"}
    assert t.methods[0]["arimp"] == max(row["arimp"] for row in t.methods)
    assert t.choice.ks == (3, 4)
    assert t.n_clusters == t.choice.k


def test_cells_are_means_of_the_consensus():
    """An aggregated cell is the mean of the consensus over its pairs of different points."""
    e = cg.Ensemble(RNG.integers(0, 4, (30, 6)))
    cells = layout.cells_of(e, most=7)
    matrix = e.consensus_matrix()[np.ix_(cells.order, cells.order)]
    np.fill_diagonal(matrix, np.nan)
    assert cells.is_aggregated
    assert cells.values.shape == (7, 7)
    for i, j in np.ndindex(7, 7):
        rows, cols = (slice(cells.edges[x], cells.edges[x + 1]) for x in (i, j))
        assert cells.values[i, j] == pytest.approx(np.nanmean(matrix[rows, cols]), rel=1e-12)


def test_large_ensembles_are_aggregated_and_say_so():
    """More points than cells: the page says how many points a cell stands for."""
    r = cg.report({str(i): np.where(RNG.random(1500) < 0.2, 0, np.arange(1500) % 3) for i in range(3)}, progress=False)
    assert r.model.together.cells.values.shape == (400, 400)
    assert "1,500 points in 400 × 400 cells: each cell is the mean over about 4 × 4 pairs of points" in r.html


def test_flow_and_worst_matches():
    """A flow keeps every point, the others together; the worst match is the cluster that is scattered."""
    a = np.repeat(np.arange(30), np.arange(1, 31))
    b = np.where(a == 29, np.arange(len(a)) % 7, a)
    table = cg.contingency(a, b)
    flow = layout.flow_of(table, most=5)
    assert flow.rows[:6] == ("29", "28", "27", "26", "25", "24 other pairs")
    assert flow.columns[1:6] == ("28", "27", "26", "25", "24 other pairs")
    assert flow.matched == tuple((i, i) for i in range(6))
    assert flow.counts.sum() == len(a)
    assert np.diag(flow.counts)[1:5].tolist() == [29, 28, 27, 26]
    worst = members.worst_matches(table)
    assert worst[0][:2] == ("29", 0)
    assert members.compare_matched(table) == pytest.approx(cg.accuracy(a, b))


@pytest.mark.slow
def test_labels_beyond_the_limit_become_tables(monkeypatch):
    """Too many labels: tables of the reference and the central member against all, and the command for the others."""
    monkeypatch.setattr(members, "EMBEDDED", 100)
    r = cg.report({"truth": TRUTH, **RUNS}, reference="truth", source="my labels.csv", progress=False)
    embedded = r.model.pairs
    assert embedded.labels is None
    wanted = {(0, i) for i in range(1, 8)} | {
        tuple(sorted((r.model.central, i))) for i in range(8) if i != r.model.central
    }
    assert {(p.a, p.b) for p in embedded.tables} == wanted
    sent = data_of(r.html)
    assert sent["labels"] is None
    assert sent["command"] == ["congruence compare 'my labels.csv'", "--unassigned drop"]
    assert sent["arguments"] == "unassigned='drop'"
    first = next(p for p in sent["tables"] if (p["a"], p["b"]) == (0, 1))
    assert unpacked(first["counts"]).sum() == 60
    assert any("too large for this page" in text for text in r.summary.careful)


def test_embedded_labels_are_the_partitions(made):
    """What the page knows of the labels is the labels."""
    sent = data_of(made.html)
    for name, x in zip(sent["names"], sent["labels"], strict=True):
        assert cg.ari(unpacked(x), TRUTH if name == "truth" else RUNS[name]) == 1.0


# --- the words --------------------------------------------------------------------------------------------------


def test_the_summary_names_what_stands_out(made):
    """The answer, duplicates, the member of one cluster, and the best with the reference are named."""
    said = " ".join([made.summary.answer, *made.summary.findings, *made.summary.stands_out, *made.summary.careful])
    assert (
        made.summary.answer.startswith("All of these 5 different clusterings find the same 3 groups.")
        or "of these 5 different" in said
    )
    assert "There are 7 clusterings of 60 points, with 1 to 4 clusters." in said
    assert "2 clusterings are not counted" in said
    assert "Duplicates: one is the same partition as another (“good” and “same as good”)" in said
    assert "Near-trivial: “one” (all points in one cluster)" in said
    assert "Closest to the reference are “good” and “same as good”" in said
    assert "The most central is “" in said
    assert "trust agreement (adjusted Rand) and shared information, adjusted for chance first" in said


@pytest.mark.slow
def test_noise_and_gaps_are_said():
    """Points without a label are said, and −1 among labels is a caution."""
    runs = {"a": [0, 0, 1, 1, None, 1], "b": [0, 0, 1, 1, 1, 1], "c": [-1, 0, 1, 1, 1, 1]}
    said = cg.report(runs, progress=False).summary
    assert any("“a” (16.7% of the points)" in text for text in said.stands_out)
    assert any("label −1" in text for text in said.careful)
    gone = cg.report(runs, noise=-1, progress=False).summary
    assert any("2 clusterings" in text for text in gone.stands_out)


def test_readings():
    """The words for an adjusted index, from unrelated to identical, do not mention chance."""
    assert [words.reading(x) for x in (1.0, 0.85, 0.7, 0.5, 0.3, 0.0, -0.4)] == [
        "almost completely", "well", "moderately", "partly", "weakly", "hardly at all", "hardly at all",
    ]  # fmt: skip


def test_lists_of_names():
    """Names stand in quotes; long lists are cut."""
    assert words.listed(["a"]) == "“a”"
    assert words.listed(["a", "b"]) == "“a” and “b”"
    assert words.listed(list("abcdef")) == "“a”, “b”, “c”, “d” and 2 more"


# --- small and strange ------------------------------------------------------------------------------------------


def test_data_of_other_rows_are_refused():
    """A frame whose index is not that of the clusterings is not taken row by row; its values are."""
    import pandas as pd

    runs = pd.DataFrame({"a": [0, 0, 1, 1], "b": [0, 1, 1, 1]}, index=list("wxyz"))
    data = pd.DataFrame({"x": [1.0, 2, 3, 4], "y": [0.0, 1, 0, 1]}, index=list("zyxw"))
    with pytest.raises(cg.InputError, match="index of the data differs from that of the clusterings; reindex"):
        cg.report(runs, data=data, progress=False)
    for same, x in ((data.loc[runs.index], [4, 3, 2, 1]), (data.to_numpy(), [1, 2, 3, 4])):
        assert cg.report(runs, data=same, progress=False).model.points.place[:, 0].tolist() == x


def test_members_that_agree_on_no_point():
    """Unrelated clusterings: the answer says that they do not find the same groups."""
    rng = np.random.default_rng(0)
    said = cg.report({str(i): rng.integers(0, 4, 200) for i in range(6)}, progress=False).summary
    assert said.answer.startswith("These 6 clusterings do not find the same groups.")
    assert "disputed" in said.answer


@pytest.mark.parametrize("k", [0, -1, 61])
def test_numbers_of_clusters_that_cannot_be(k):
    """No consensus of no clusters, or of more clusters than points, is said to be there."""
    with pytest.raises(cg.InputError, match="n_clusters must be from 1 to the number of points"):
        cg.report(RUNS, n_clusters=k, progress=False)


@pytest.mark.filterwarnings("error")
def test_data_without_variance():
    """Data that are all the same have a picture of one place, and 0% of the variance."""
    r = cg.report(RUNS, data=np.ones((60, 3)), progress=False)
    assert r.model.points.axes == ("component 1 (0% of the variance)", "component 2 (0%)")
    assert (r.model.points.place == 0).all()


def test_measures_to_trust_are_those_of_the_page():
    """The caution about numbers of clusters names the measures that are shown, and no others."""
    runs = {"a": [0, 0, 1, 1, 2], "b": [0, 0, 1, 1, 1]}
    said = cg.report(runs, measures=["vi", "ari_gram"], progress=False).summary.careful[0]
    assert "chance (distance (variation of information)) change" in said
    assert "trust agreement (adjusted Rand of memberships) first" in said
    alone = cg.report(runs, measures="ari", progress=False).summary.careful
    assert not any("corrected for chance" in text for text in alone)


def test_one_clustering_and_the_reference():
    """A single clustering is described in the singular."""
    said = cg.report({"a": [0, 0, 1, 1], "t": [0, 1, 1, 1]}, reference="t", progress=False).summary.findings[0]
    assert "There is 1 clustering" in said
    assert "It is compared with the reference" in said


def test_names_of_clusters_that_look_like_numbers():
    """Clusters called '--1' or '²', or by numbers beyond what a script can count with, keep their names."""
    codes = np.array([0, 1, 2, 2, 1])
    big = 2**53 + 1
    runs = {
        "dashes": np.array(["--1", "--2", "--3"])[codes],
        "powers": np.array(["²", "³", "¹"])[codes],
        "big": codes + big,
    }
    sent = data_of(cg.report({**runs, "below": codes - 2}, progress=False).html)
    assert sent["clusters"] == [
        ["--1", "--2", "--3"], ["²", "³", "¹"], [str(big), str(big + 1), str(big + 2)], {"first": -2},
    ]  # fmt: skip


@pytest.mark.parametrize("most", [100, members.EMBEDDED])
@pytest.mark.parametrize("reference", [None, "b"])
def test_members_without_a_point_in_common(monkeypatch, most, reference):
    """Two clusterings of different points have a page, with or without their labels; it says that nothing can be compared."""
    monkeypatch.setattr(members, "EMBEDDED", most)
    half = [0, 1, 1, *[None] * 57], [*[None] * 57, 1, 1, 0]
    r = cg.report({"a": half[0], "b": half[1]}, reference=reference, progress=False)
    sent = data_of(r.html)
    assert sorted(sent["first"]) == [0, 1]
    assert sent["tables"] == []
    assert any("No point is assigned in both" in text for text in r.summary.careful)
    assert not any("Closest to the reference" in text for text in r.summary.findings)


@pytest.mark.parametrize(
    "runs",
    [
        {"a": [0, 1], "b": [0, 1]},
        {"a": [0, 0, 0], "b": [0, 0, 0]},
        {"a": [0, 1, 2], "b": [0, 1, 2], "c": [2, 1, 0]},
        {"a": [0, 0, 1, 1], "b": ["x", None, "y", None], "c": [None, 1, None, 2]},
        {str(i): [0, 1, 0, 1, 1] for i in range(12)},
        {"long": [f"cluster number {i}" for i in range(40)], "b": [0, 1] * 20},
    ],
)
@pytest.mark.parametrize("with_reference", [False, True])
def test_strange_clusterings_have_a_report(runs, with_reference):
    """Identical, trivial, tiny, partial clusterings: the page is made, and its data are JSON without NaN."""
    first = next(iter(runs))
    r = cg.report(runs, reference=first if with_reference else None, progress=False)
    sent = data_of(r.html)
    assert sent["names"][0] == first
    assert "NaN" not in json.dumps(sent)


def test_soft_clusterings_have_a_report():
    """Memberships are compared by the measures for them, and the page knows them to 1/65535."""
    u = RNG.dirichlet([1, 1, 1], 40)
    r = cg.report([cg.Memberships(u), cg.Memberships(RNG.dirichlet([1, 1], 40)), u.argmax(axis=1)], progress=False)
    assert [s.measure.key for s in r.model.scales] == list(members.SOFT)
    sent = data_of(r.html)
    assert unpacked(sent["labels"][0]).reshape(40, 3) / 65535 == pytest.approx(u, abs=1e-5)
    assert any("Soft clusterings" in text for text in r.summary.careful)


def test_an_empty_member_is_left_out():
    """A column without any label is left out, and that is said."""
    r = cg.report({"a": [0, 1, 1], "b": [None] * 3, "c": [0, 0, 1]}, progress=False)
    assert r.model.names == ("a", "c")
    assert any("no point has a label: b" in text for text in r.summary.careful)


def test_two_of_one_name_are_two():
    """Members of the same name get a number."""
    import pandas as pd

    columns = [pd.Series([0, 1, 1], name="x"), pd.Series([0, 0, 1], name="x")]
    assert cg.report(columns, progress=False).model.names == ("x", "x (2)")


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"clusterings": {"a": [0, 1]}}, "at least two clusterings, and there is only one"),
        ({"reference": "trith"}, "there is no clustering 'trith' to use as reference; did you mean truth"),
        ({"measures": ["homogeneity"]}, "homogeneity depends on the order"),
        ({"measures": ["ari"] * 7}, "one to six measures, not 7"),
        ({"data": np.zeros((5, 2))}, "the data have 5 rows and the clusterings 60 points"),
        ({"data": np.zeros((60, 3)), "axes": ["column 1"]}, "a scatter plot has two axes, not 1"),
        ({"data": np.zeros((60, 3)), "axes": ["column 1", "7"]}, "the data have no column '7'"),
        ({"ids": ["p"]}, "1 ids for 60 points"),
        ({"out": "report.pdf"}, "a report is written as .html"),
        ({"out": "/nowhere/at/all/report.html"}, "there is no folder"),
    ],
)
def test_bad_input_is_one_line(options, text):
    """What is wrong, and what would be right."""
    with pytest.raises(cg.InputError, match=re.escape(text)) as error:
        cg.report(**{"clusterings": {"truth": TRUTH, **RUNS}, "progress": False, **options})
    assert "\n" not in str(error.value)


# --- the page ---------------------------------------------------------------------------------------------------


def test_names_cannot_become_markup(tmp_path):
    """A name with a script in it stays text: in the summary, in the data, in the clusters."""
    runs = {NASTY: [NASTY, "b", "b", NASTY], "<b>": ["&amp;", "&lt;", "&lt;", "&lt;"], "c": [0, 0, 1, 1]}
    r = cg.report(
        runs,
        tmp_path / "r.html",
        reference=NASTY,
        ids=[NASTY, "1", "2", "3"],
        title=NASTY,
        command=NASTY,
        progress=False,
    )
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert page == r.html
    assert page.count("<script") == 2
    assert "document.title='gone'</script>" not in page
    assert "<b>x" not in page
    assert data_of(page)["names"][0] == NASTY
    assert data_of(page)["clusters"][0] == [NASTY, "b"]


def test_the_page_may_run_its_own_script_only(made):
    """The policy in the page allows the one script by its hash and no request at all."""
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', made.html)[1]
    script = re.findall(r"<script>(.*?)</script>", made.html, re.S)
    assert len(script) == 1
    from base64 import b64encode

    digest = b64encode(sha256(script[0].encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy
    assert not re.search(r'(src|href)="https?:', made.html)


def test_the_parts_are_in_order(made):
    """The answer, then its parts; with two clusterings the comparison comes first."""
    parts = re.findall(r'<section id="(\w+)">', made.html)
    assert parts == ["answer", "clusters", "many", "ranking", "relations", "compare", "points", "details"]
    two = re.findall(r'<section id="(\w+)">', cg.report({"a": [0, 0, 1], "b": [0, 1, 1]}, progress=False).html)
    assert two[:2] == ["answer", "compare"]
    for m in made.model.scales:
        assert m.measure.title in made.html
        assert m.reference.split(".")[0] in made.html


def test_results_show_themselves(made):
    """In a terminal the findings fit 80 columns, in a notebook the page is in a frame of its own."""
    assert all(len(line) <= 80 for line in repr(made).split("\n"))
    assert made._repr_html_().startswith('<iframe srcdoc="&lt;!doctype html&gt;')


@pytest.mark.slow
def test_the_same_seed_gives_the_same_page(made):
    """Two builds have the same data."""
    runs = {"truth": TRUTH, **RUNS}
    one, two = (data_of(cg.report(runs, reference="truth", progress=False).html) for _ in range(2))
    for x in (one, two):
        for row in x["together"]["methods"]:
            row.pop("seconds")
    assert one == two


# --- the command ------------------------------------------------------------------------------------------------


def write(path, columns) -> None:
    names = list(columns)
    rows = [",".join(names), *(",".join(str(columns[n][i]) for n in names) for i in range(len(columns[names[0]])))]
    path.write_text("\n".join(rows) + "\n")


@pytest.mark.slow
def test_the_command_writes_the_page(command, tmp_path):
    """`congruence report` prints the summary and writes the page, with ids from the column that names the rows."""
    cells = [f"cell{i}" for i in range(60)]
    write(tmp_path / "labels.csv", {"cell": cells, "truth": TRUTH, **RUNS})
    write(tmp_path / "numbers.csv", {"x": np.arange(60) / 7, "y": np.arange(60) % 5, "z": np.arange(60) % 3})
    said = command(
        "report", "labels.csv", "--reference", "truth", "--data", "numbers.csv", "--axes", "x,z", "--out", "r.html"
    )
    assert said.code == 0
    assert "Closest to the reference are “good” and “same as good”" in said.out
    assert "wrote r.html" in said.err
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    sent = data_of(page)
    assert sent["points"]["ids"][3] == "cell3"
    assert "x to the right, z upwards" in page
    assert "congruence report labels.csv --reference truth --data numbers.csv --axes x,z --out r.html" in page


@pytest.mark.slow
def test_the_data_are_joined_by_id(command, tmp_path):
    """Rows in another order are refused or joined on the ids, never drawn as other points; a long table has ids too."""
    cells = [f"cell{i:02}" for i in range(60)]
    numbers = {"cell": cells, "x": np.arange(60) / 7, "y": np.sin(np.arange(60))}
    order = np.random.default_rng(0).permutation(60)
    mixed = {name: np.asarray(column)[order] for name, column in numbers.items()}
    write(tmp_path / "labels.csv", {"cell": cells, **RUNS})
    write(tmp_path / "numbers.csv", numbers)
    write(tmp_path / "mixed.csv", mixed)
    write(tmp_path / "few.csv", {name: column[:50] for name, column in mixed.items()})
    write(tmp_path / "bare.csv", {"x": numbers["x"], "y": numbers["y"]})
    long = [(cell, name, label) for name, labels in RUNS.items() for cell, label in zip(cells, labels, strict=True)]
    write(tmp_path / "long.csv", dict(zip(("cell", "run", "label"), zip(*long, strict=True), strict=True)))

    def drawn(*words_: str) -> tuple[str, list[str]]:
        said = command("report", *words_, "--out", "r.html")
        assert said.code == 0, said.err
        sent = data_of((tmp_path / "r.html").read_text(encoding="utf-8"))["points"]
        return sent["place"]["b"], sent["ids"]

    expected = drawn("labels.csv", "--data", "numbers.csv")
    assert drawn("labels.csv", "--data", "mixed.csv", "--id", "cell") == expected
    assert drawn("labels.csv", "--data", "mixed.csv", "--id", "cell", "--axes", "x,y") == expected
    assert drawn("long.csv", "--long", "cell,run,label", "--data", "mixed.csv") == expected
    assert drawn("labels.csv", "--data", "mixed.csv") == expected
    said = command("report", "labels.csv", "--data", "few.csv", "--id", "cell")
    assert said.code == 2
    assert "10 of the 60 ids of labels.csv are not in few.csv" in said.err
    said = command("report", "labels.csv", "--data", "bare.csv", "--id", "cell")
    assert "bare.csv has no column 'cell'" in said.err


@pytest.mark.slow
def test_the_command_reads_memberships(command, tmp_path):
    """Columns NAME:CLUSTER of fractions are soft clusterings; columns of labels with a colon are not."""
    u = RNG.dirichlet([1, 1], 20).round(3)
    u[:, 1] = 1 - u[:, 0]
    columns = {"run:1": u[:, 0], "run:2": u[:, 1], "std:a": np.arange(20) % 3, "std:b": np.arange(20) % 2}
    write(tmp_path / "soft.csv", columns)
    said = command("report", "soft.csv")
    assert said.code == 0
    assert "labels: std:a, std:b · memberships: run" in said.err
    assert data_of((tmp_path / "report.html").read_text(encoding="utf-8"))["names"] == ["run", "std:a", "std:b"]


@pytest.mark.parametrize(
    ("words_", "text"),
    [
        (("labels.csv", "--out", "r.pdf"), "a report is written as .html"),
        (("labels.csv", "--reference", "good2"), "has no column 'good2'; did you mean good"),
        (("labels.csv", "--axes", "x,y"), "pass them with --data FILE"),
        (("missing.csv",), "there is no file missing.csv"),
        (("labels.csv", "--measures", "arii"), "there is no measure 'arii'; did you mean ari"),
    ],
)
def test_mistakes_on_the_command_line(command, tmp_path, words_, text):
    """One line, exit code 2, and no page."""
    write(tmp_path / "labels.csv", RUNS)
    said = command("report", *words_)
    assert said.code == 2
    assert text in said.err
    assert said.err.count("\n") == 1
    assert not list(tmp_path.glob("*.html"))


def test_memberships_in_columns():
    """Only fractions that add up to 1 over several columns are memberships."""
    half = np.array([0.5, 0.25])
    assert list(with_memberships({"u:1": half, "u:2": 1 - half})) == ["u"]
    assert list(with_memberships({"u:1": half, "u:2": half})) == ["u:1", "u:2"]
    assert list(with_memberships({"u:1": half, "v:1": half})) == ["u:1", "v:1"]
    assert list(with_memberships({"u:1": half, "u:2": 1 - half, "u": half})) == ["u:1", "u:2", "u"]


def test_unstable_groups_are_counted_in_the_answer():
    """Groups that the clusterings do not find again are no agreement: the answer says how many are left."""
    rng = np.random.default_rng(3)
    base = np.repeat([0, 1, 2, 3], [60, 60, 10, 10])
    runs = {}
    for i in range(9):
        run = base.copy()
        run[120:] = rng.integers(2, 4, 20)  # the small groups are redrawn in every clustering
        runs[f"run {i}"] = run
    r = cg.report(runs, n_clusters=4, progress=False)
    kinds = [words.stability_in_words(x) for x in r.model.answer.stability]
    assert kinds.count("unstable") >= 1
    left = r.model.answer.k - kinds.count("unstable")
    assert f"All of these 9 clusterings agree on {left} of {r.model.answer.k} groups; the other" in r.summary.answer


# --- how many clusters, by the data -----------------------------------------------------------------------------


def blobs() -> tuple[np.ndarray, np.ndarray]:
    truth = np.repeat([0, 1, 2], 30)
    return np.eye(3)[truth] * 9 + np.random.default_rng(3).normal(size=(90, 3)), truth


def test_the_data_decide_as_choose_k_does():
    """With data the report has the answer of choose_k: k, probability, runner-up, sentence; and says which clusterings have k."""
    X, truth = blobs()
    runs = {"two": truth > 0, "three": truth, "other": (truth + 1) % 2}
    r = cg.report(runs, data=X, progress=False)
    wanted = cg.choose_k(X)
    found = r.model.support.choice
    assert (found.k, found.probability, found.runner_up, found.sentence) == (
        wanted.k, wanted.probability, wanted.runner_up, wanted.sentence,
    )  # fmt: skip
    kind, sentence, here = words.of_data(r.model)
    assert (kind, sentence) == ("clusters", wanted.sentence)
    assert here == (
        "1 of 3 clusterings has 3 clusters: “three”. Closest to the 3 clusters found is “three” (agreement 1.00)."
    )
    assert any(wanted.sentence in line for line in r.summary.findings)
    part = r.html[r.html.index('id="data-verdict"') :].partition('id="levels"')[0]
    assert wanted.sentence in part
    assert "choose_k tried 1 to 10 clusters" in part
    assert (
        'class="kind"' not in part.partition('id="verdict"')[2]
    )  # the vote of the clusterings has no verdict beside it


def test_without_clusters_in_the_data():
    """Data of one group: the report says so, and that agreement of the clusterings is no sign of clusters."""
    X = np.random.default_rng(0).normal(size=(80, 3))
    r = cg.report({"a": X[:, 0] > 0, "b": X[:, 0] > 0.1}, data=X, progress=False)
    kind, sentence, here = words.of_data(r.model)
    assert (kind, here) == ("none", "2 of 2 clusterings divide one group, and their agreement is no sign of clusters.")
    assert sentence == cg.choose_k(X).sentence
    assert words.of_data(cg.report({"a": X[:, 0] > 0, "b": X[:, 1] > 0}, progress=False).model) is None


def test_a_tie_in_the_data_is_not_called_clear():
    """Two numbers as probable as each other: a tie on the page, with the clusterings of both numbers."""
    X, truth = blobs()
    r = cg.report(
        {"two": truth > 0, "three": truth, "four": truth * 2 + (X[:, 0] > 0.1 * truth)}, data=X, progress=False
    )
    tie = KChoice(ks=(1, 2, 3), criteria={}, probabilities={1: 0.1, 2: 0.45, 3: 0.45})
    tied = replace(r.model, support=replace(r.model.support, choice=tie, nearest=None))
    kind, sentence, here = words.of_data(tied)
    assert (kind, sentence) == ("tie", "Tie between 2 (45 %) and 3 clusters (45 %).")
    assert here == "2 of 3 clusterings have 2 (“two”) and 3 (“three”) clusters."
    part = html.page(tied).partition('id="data-verdict"')[2].partition('id="levels"')[0]
    assert ">tie<" in part
    assert "clear" not in part.replace('data-kind="clear"', "")


def test_wide_data_are_left_to_choose_k():
    """What would take minutes is left out with a sentence."""
    rng = np.random.default_rng(0)
    r = cg.report({"a": rng.integers(0, 2, 300), "b": rng.integers(0, 2, 300)}, data=rng.normal(size=(300, 3400)),
                  progress=False)  # fmt: skip
    assert words.of_data(r.model) == (
        "cannot tell",
        "Cannot tell: 3,400 columns are too many for a report; use `congruence choose-k`.",
        "",
    )


def test_the_command_says_what_the_data_say(command, tmp_path):
    """`report --data` prints the sentence of choose_k, and writes it into the page."""
    X, truth = blobs()
    rows = [f"{t},{int(t > 0)},{','.join(map(str, x))}" for t, x in zip(truth, X, strict=True)]
    (tmp_path / "all.csv").write_text("three,two,x,y,z\n" + "\n".join(rows) + "\n")
    said = command("report", "all.csv", "--columns", "three,two", "--data", "all.csv", "--data-columns", "x,y,z")
    assert said.code == 0
    wanted = cg.choose_k(X).sentence
    assert wanted in " ".join(said.out.split())
    assert wanted in (tmp_path / "report.html").read_text(encoding="utf-8")
