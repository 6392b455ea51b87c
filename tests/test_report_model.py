"""The data and the words of a report."""

from __future__ import annotations

import numpy as np
import pytest
from report_cases import RNG, RUNS, TRUTH, data_of, made_report, unpacked

import congruence as cg
from congruence.chance import draws
from congruence.figures import layout
from congruence.reporting import answer, consensus_section, members, model, words
from congruence.reporting.phrases import in_words

#: places of the clusterings that count: the second is the same as the first and counts, the sixth has one cluster
COUNTED = [0, 1, 2, 3, 4, 6]


@pytest.fixture
def made():
    """One report that several tests use."""
    return made_report()


# --- the data --------------------------------------------------------------------------------------------------------


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
    scale = model.build(members.Request(clusterings=runs, title="", unassigned="drop", progress=False)).main
    low, high, steps = scale.quantised
    assert np.isnan(scale.values[0])
    assert steps[0] == 65535
    assert (low, high) == (1.0, 1.0)


def test_similar_members_are_next_to_each_other(made):
    """Duplicates are neighbours in the order of every measure."""
    for scale in made.model.scales:
        order = scale.tree.order.tolist()
        same = [made.model.names.index(x) for x in ("good", "same as good")]
        assert abs(order.index(same[0]) - order.index(same[1])) == 1


def test_the_central_member_has_the_highest_mean(made):
    """Central is the clustering with the best mean agreement with the others that count: none of one cluster."""
    counted = {name: RUNS[name] for name in RUNS if name != "one"}
    ranked = cg.member_agreement(counted, "ari")
    assert [made.model.names[i] for i in made.model.counted] == list(counted)
    assert made.model.members[made.model.central].name == next(iter(ranked))
    assert made.model.members[made.model.central].mean == pytest.approx(next(iter(ranked.values())), rel=1e-12)


def test_the_reference_is_ranked(made):
    """The rows are in order, with the values of compare_to, an interval around them and p-values."""
    against = made.model.against
    values = [row.values["ari"] for row in against.rows]
    assert values == sorted(values, reverse=True)
    assert values[0] == cg.ari(TRUTH, RUNS["good"])
    best = against.rows[0]
    with_interval = [row for row in against.rows if row.interval is not None]
    assert with_interval
    for row in with_interval:
        assert row.interval[0] <= row.agreement <= row.interval[1] + 0.05
    assert all(row.note for row in against.rows if row.interval is None)  # too few differences, with a note
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
    """Every point counts once on a page; members may have weights, also with a separate reference."""
    for weights in ({"sample_weight": np.linspace(1, 2, 60)}, {"frequency": [2] * 60}):
        for options in ({}, {"reference": TRUTH}):
            with pytest.raises(cg.InputError, match="counts every point once"):
                cg.report(cg.Ensemble(RUNS, **weights), **options)
    e = cg.Ensemble(RUNS, member_weight=np.arange(1, len(RUNS) + 1))
    for options in ({}, {"reference": TRUTH}):
        assert cg.report(e, **options).model.together.certainty == pytest.approx(e[COUNTED].certainty(), rel=1e-12)


def test_very_many_clusters_are_left_to_the_command(monkeypatch):
    """If a consensus would take too long, the page says so, and is complete otherwise."""
    monkeypatch.setattr(consensus_section, "MOST_CENTRES", 5)
    r = cg.report(RUNS, reference=TRUTH)
    assert r.model.together.best is None
    assert r.model.together.methods == ()
    assert "takes minutes, so the groups are those of a vote; <code>congruence consensus</code> finds it" in r.html


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
    bound = draws.chance_bound(*e.members)
    if value > every.mean():
        assert bound == pytest.approx(every.var() / (every.var() + (value - every.mean()) ** 2), rel=1e-9)
    assert np.mean(every >= value - 1e-12) <= bound


def test_features_that_distinguish_a_cluster(made):
    """The effect of a feature is the difference of means in pooled standard deviations, the largest first."""
    f, a, X = made.model.features, made.model.answer, made.model.points.numbers
    inside, outside = X[a.labels == 0], X[a.labels != 0]
    pooled = np.sqrt((inside.var(axis=0) * len(inside) + outside.var(axis=0) * len(outside)) / 58)
    expected = dict(
        zip(("column 1", "column 2", "column 3"), (inside.mean(axis=0) - outside.mean(axis=0)) / pooled, strict=True)
    )
    assert dict(f.named[0]) == pytest.approx(expected, rel=1e-9)
    assert [abs(d) for _, d in f.named[0]] == sorted((abs(d) for _, d in f.named[0]), reverse=True)


def test_the_groups_are_checked_in_the_data(made):
    """The page shows what check_clusters says of the groups of the answer, in their names; without data it says nothing."""
    m = made.model
    found = cg.check_clusters(m.points.numbers, m.answer.labels)
    rows = data_of(made.html)["check"]["rows"]
    assert [row[0] for row in rows] == ["A", "B", "C"]
    assert [row[1] for row in rows] == m.answer.sizes.tolist()
    assert [row[-1] for row in rows] == list(found.verdict)
    sentence = found.sentence.replace("“0”", "“A”").replace("“1”", "“B”").replace("“2”", "“C”")
    assert f"The groups in the data: {sentence}" in made.summary.findings
    bare = cg.report(RUNS, progress=False)
    assert bare.model.check is None
    assert data_of(bare.html)["check"] is None


def test_checked_groups_of_a_pair_have_their_own_names():
    """With two clusterings the groups are the clusters of the first, the largest first; so are their names in the check."""
    X = np.repeat([[0.0, 0.0], [9.0, 0.0]], [40, 60], axis=0) + RNG.normal(size=(100, 2))
    a = np.repeat(["small", "large"], [40, 60])
    found = cg.report({"a": a, "b": np.roll(a, 1)}, data=X, progress=False).model.check
    assert dict(zip(found.names, found.sizes.tolist(), strict=True)) == {"small": 40, "large": 60}


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
    """Certainty, its baseline, PAC and the consensus matrix are those of the ensemble."""
    t, e = made.model.together, cg.Ensemble(RUNS)[COUNTED]
    assert t.certainty == pytest.approx(e.certainty())
    assert t.random_certainty == cg.certainty_random(4, 6)
    assert t.pac == pytest.approx(e.pac())
    assert t.cells.values == pytest.approx(e.consensus_matrix()[np.ix_(t.cells.order, t.cells.order)])
    alone = cg.consensus(RUNS, random_state=0)
    assert made.labels.tolist() == alone.labels.tolist()  # the groups that the command finds
    assert [row["pooled_ami"] for row in t.methods] == [row["pooled_ami"] for row in alone.tried]
    assert t.choice.ks == (3, 4)


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
    """More points than cells: the page says how many points a cell represents."""
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
    assert sent["command"] == ["congruence compare 'my labels.csv'", ""]
    assert sent["arguments"] == "unassigned='error'"
    first = next(p for p in sent["tables"] if (p["a"], p["b"]) == (0, 1))
    assert unpacked(first["counts"]).sum() == 60
    assert any("too large for this page" in text for text in r.summary.careful)


def test_embedded_labels_are_the_partitions(made):
    """The labels in the page are those of the clusterings."""
    sent = data_of(made.html)
    for name, x in zip(sent["names"], sent["labels"], strict=True):
        assert cg.ari(unpacked(x), TRUTH if name == "truth" else RUNS[name]) == 1.0


# --- the words -------------------------------------------------------------------------------------------------------


def test_the_summary_names_what_stands_out(made):
    """The answer, the duplicates, the member of one cluster, and the one that agrees best with the reference are named."""
    said = " ".join([made.summary.answer, *made.summary.findings, *made.summary.stands_out, *made.summary.careful])
    assert (
        "All of these 6 clusterings find the same 3 groups." in made.summary.answer or "of these 6 clusterings" in said
    )
    assert "There are 7 clusterings of 60 points, with 1 to 4 clusters." in said
    assert "One clustering is not counted because it is near-trivial" in said
    assert "Duplicates: one is the same partition as another (“good” and “same as good”)" in said
    assert "Near-trivial: “one” (all points in one cluster)" in said
    assert "Closest to the reference are “good” and “same as good”" in said
    assert "The most central is “" in said
    assert "trust agreement (adjusted Rand) and chance-adjusted shared information first" in said


@pytest.mark.slow
def test_noise_and_gaps_are_reported():
    """Points without a label are reported, and −1 among labels gives a caution."""
    runs = {"a": [0, 0, 1, 1, None, 1], "b": [0, 0, 1, 1, 1, 1], "c": [-1, 0, 1, 1, 1, 1]}
    said = cg.report(runs, unassigned="drop", progress=False).summary
    assert any("“a” (16.7% of the points)" in text for text in said.stands_out)
    assert any("label −1" in text for text in said.careful)
    gone = cg.report(runs, noise=-1, unassigned="drop", progress=False).summary
    assert any("2 clusterings" in text for text in gone.stands_out)


def test_readings():
    """The words for an adjusted index, from unrelated to identical, do not mention chance."""
    assert [in_words(x, "reading") for x in (1.0, 0.85, 0.7, 0.5, 0.3, 0.0, -0.4)] == [
        "almost completely", "well", "moderately", "partly", "weakly", "hardly at all", "hardly at all",
    ]  # fmt: skip


def test_lists_of_names():
    """Names are in quotes; long lists are shortened."""
    assert words.listed(["a"]) == "“a”"
    assert words.listed(["a", "b"]) == "“a” and “b”"
    assert words.listed(list("abcdef")) == "“a”, “b”, “c”, “d” and 2 more"


def test_a_similarity_without_a_largest_value():
    """mi has no upper bound: its distances are counted from the largest value, and the report is written."""
    away = layout.distances(np.array([[1.0, 0.25], [0.25, 0.5]]), cg.measure("mi"))
    assert away.tolist() == [[0.0, 0.75], [0.75, 0.0]]
    assert cg.report({name: RUNS[name] for name in list(RUNS)[:3]}, measures=["mi"]).model


@pytest.mark.slow
def test_steps_with_data_show_what_changed(tmp_path):
    """With data, steps have a figure of the changes: those of cg.drift on the lasting clusters. Without data there is none."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 600)
    X = rng.normal(size=(600, 3)) + 8 * np.eye(3)[y]
    labels = [np.where((y == 1) & (X[:, 2] > 0.3), 0, y) if w == 3 else y for w in range(4)]
    steps = {f"week {w + 1}": [f"c{(c + w) % 3}" for c in own] for w, own in enumerate(labels)}
    data = {f"f{i}": X[:, i] for i in range(3)}
    r = cg.report(steps, tmp_path / "steps.html", data=data)
    found, names = r.model.drift, cg.track(steps).label_columns()
    expected = cg.drift([(step, data, names[step]) for step in steps])
    assert found.alarms == expected.alarms == [False, False, False, True]
    assert found.moved_columns() == expected.moved_columns()
    assert found.moved_columns()["cluster"][0] == names["week 1"][int(np.flatnonzero(y == 1)[0])]
    for text in (f"<p>{found.sentence}", "week 4 is an alarm", "week 4, c1: f2: p = 10^−", 'id="drift-save"'):
        assert text in r.html, text
    assert 'id="drift"' not in cg.report(steps).html
    few = cg.report(steps, data=rng.normal(size=(600, 201)))
    assert few.model.drift is None
    assert "shown for dense data of at most 200 features" in few.html
