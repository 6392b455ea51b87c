"""`cg.track`: lasting names of clusters, events, and their probability by chance."""

import itertools
import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.stats import hypergeom

import congruence as cg
from congruence.figures.time_pictures import lanes_of
from congruence.inputs.steps import history_of
from congruence.tracking.overlaps import upper_tail
from congruence.tracking.runs import runs_of
from reproductions.planted_tracks import STAYING, f1, found_in, memberships, planted


@pytest.mark.parametrize("seed", range(6))
def test_planted_events_are_found(seed):
    """Splits, mergers, growth, comers and leavers of a panel are found exactly, in spite of 2 % of noise."""
    labels, called, truth = planted(seed)
    assert f1(found_in(cg.track(labels), called), truth) == 1


@pytest.mark.parametrize("seed", range(4))
def test_lasting_names_follow_the_larger_part(seed):
    """A cluster has one name over all steps; the planted one up to a one-to-one renaming."""
    labels, called, _ = planted(seed)
    t = cg.track(labels)
    pairs = {
        (name, called[i][cluster])
        for i, names in enumerate(t.names)
        for name, cluster in zip(names, t.history.steps[i].clusters, strict=True)
    }
    assert len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs})


@pytest.mark.parametrize("seed", range(4))
def test_memberships_find_the_same_events_whatever_the_order_of_columns(seed):
    """Splits and mergers are found from memberships whose columns are in any order."""
    labels, called, truth = planted(seed, n=500, kinds=STAYING)
    assert f1(found_in(cg.track(memberships(labels, called)), called), truth) == 1


def test_names_never_change_when_steps_are_appended(tmp_path):
    """Tracking 4 steps, saving, and going on with 2 gives what tracking 6 gives, also from the file."""
    labels, _, _ = planted(3)
    steps = {f"s{i}": x for i, x in enumerate(labels)}
    whole = cg.track(steps)
    first = cg.track(dict(itertools.islice(steps.items(), 4)))
    later = dict(itertools.islice(steps.items(), 4, None))
    first.save(tmp_path / "t.npz")
    for previous in (first, tmp_path / "t.npz"):
        after = cg.track(later, previous=previous)
        assert after.names == whole.names
        assert after.happened == whole.happened
        assert after.labels.equals(whole.labels)
    assert cg.track(steps, previous=first).names == whole.names  # steps that it has are left out


def test_cluster_comes_back_under_its_name():
    """A cluster that is absent for two steps has its name again, and is new in that step."""
    here, gone = ["a"] * 9 + ["b"] * 9, ["a"] * 9 + [None] * 9
    t = cg.track([here, gone, gone, ["x"] * 9 + ["y"] * 9])
    assert t.names[3] == ("a", "b")
    assert [(e.step, e.event) for e in t.happened if e.event != "kept"] == [("1", "gone"), ("3", "new")]


def test_few_points_that_move_are_no_event():
    """Three of 400 points that change their cluster leave all clusters kept."""
    a = np.repeat([0, 1, 2, 3], 100)
    b = a.copy()
    b[:3] = 3
    assert [e.event for e in cg.track([a, b]).happened] == ["kept"] * 4


def test_unrelated_clusterings_have_large_p_values():
    """Where nothing is there, p-values of links are not small, and names are kept as often as by chance."""
    rng = np.random.default_rng(0)
    least = []
    for _ in range(40):
        t = cg.track([rng.integers(0, 3, 300), rng.integers(0, 3, 300)])
        least.append(min(e.p_value for e in t.happened))
    assert np.mean(np.array(least) <= 0.05) <= 0.1
    assert abs(t.kept[0].lasting - t.kept[0].by_chance) < 30


def test_upper_tail_is_hypergeometric():
    """The probability of shared points is scipy's, on either side of the mean and at the ends."""
    rng = np.random.default_rng(1)
    for _ in range(300):
        n = int(rng.integers(1, 400))
        a, b = rng.integers(0, n + 1, 2)
        x = rng.integers(-1, n + 2)
        assert upper_tail(np.array([x]), n, np.array([a]), np.array([b]))[0] == pytest.approx(
            hypergeom.sf(x - 1, n, a, b), abs=1e-11
        )


def test_points_come_and_go_by_index_or_id():
    """Series are joined by their index and frames by their column of ids, in any order."""
    old = pd.Series(["x", "x", "y", "y"], index=["p1", "p2", "p3", "p4"], name="old")
    new = pd.Series([7, 8, 8, 9], index=["p4", "p2", "p1", "p5"], name="new")
    t = cg.track([old, new])
    assert t.steps == ("old", "new")
    assert t.labels.loc["p1", "new"] == "x"
    assert t.labels.loc["p4", "new"] == "y"
    assert t.labels.loc["p3", "new"] is None
    frames = [pl.DataFrame({"customer": s.index.to_list(), "segment": s.to_list()}) for s in (old, new)]
    by_id = cg.track(frames, names=["old", "new"])
    assert by_id.names == t.names
    assert by_id.labels.columns == ["customer", "old", "new"]
    with pytest.raises(cg.InputError, match="4 and 3 points and nothing names them"):
        cg.track([["x"] * 4, ["x"] * 3])


def test_frame_with_gaps_keeps_integers():
    """Integer labels with gaps come back as integers, and gaps as None."""
    t = cg.track(pd.DataFrame({"a": [12.0, 12.0, None, 5.0], "b": [1, 1, 1, 2]}))
    assert t.labels["a"].tolist() == [12, 12, None, 5]
    assert [type(x) for x in t.labels["a"]] == [int, int, type(None), int]
    assert t.labels["b"].tolist() == [12, 12, 12, 5]


def test_nested_names():
    """With naming="nested" the parts of G008 are G008.1 and G008.2, the larger first."""
    t = cg.track([["G008"] * 10 + ["G1"] * 4, ["p"] * 4 + ["q"] * 6 + ["r"] * 4], naming="nested")
    assert t.names[1] == ("G008.2", "G008.1", "G1")


def test_rules_of_monic_and_greene():
    """A cluster that loses half of its points to many others survives for MONIC, and is gone for Greene's Jaccard of .3."""
    a = ["a"] * 20 + ["b"] * 20
    half = ["a"] * 10 + [None] * 10 + ["b"] * 20
    assert [e.event for e in cg.track([a, half], rules="monic").happened] == ["shrank", "kept"]
    fifth = ["a"] * 5 + [None] * 15 + ["b"] * 20
    assert [e.event for e in cg.track([a, fifth], rules="greene").happened] == ["gone", "kept", "new"]
    assert [e.event for e in cg.track([a, fifth], rules="monic").happened] == ["gone", "kept", "new"]


def test_covers_are_tracked_by_shared_points():
    """Overlapping clusters keep their names, and a point has the names of all its clusters."""
    before = cg.Cover({"x": [0, 1, 2, 3], "y": [3, 4, 5, 6]}, points=8)
    after = cg.Cover({"p": [3, 4, 5, 6], "q": [0, 1, 2, 3]}, points=8)
    t = cg.track([before, after])
    assert t.names[1] == ("y", "x")
    assert sorted(t.labels["1"][3]) == ["x", "y"]


def test_shared_points_of_covers_are_counted_beyond_8_bits():
    """Two clusters of a cover that share more than 127 points are linked."""
    a, b = (cg.Cover(x, points=500) for x in ([range(300), range(290, 500)], [range(290, 500), range(300)]))
    t = cg.track([a, b])
    assert sorted((e.event, e.shared) for e in t.happened) == [("kept", 210), ("kept", 300)]
    assert t.names[0] == t.names[1][::-1]


@pytest.mark.parametrize("own", [0.5, 0.8])
def test_points_that_change_sides_are_found_in_noisy_memberships(own):
    """Two clusters that exchange 38 % of their points are regrouped, however little the memberships of both steps agree."""
    rng = np.random.default_rng(1)
    first = rng.integers(0, 7, 1200)
    later = first.copy()
    for a, b in ((0, 1), (1, 0)):
        there = np.flatnonzero(first == a)
        later[there[: int(0.38 * len(there))]] = b
    steps = []
    for codes in (first, later):
        u = (1 - own) * rng.dirichlet(np.full(7, 0.5), 1200)
        u[np.arange(1200), codes] += own
        steps.append(u)
    t = cg.track([steps[0], steps[1][:, ::-1]])
    assert sorted(e.event for e in t.happened) == ["kept"] * 5 + ["regrouped"]


@pytest.mark.parametrize("text", [False, True])
def test_scanned_steps_are_tracked_by_their_tables(tmp_path, text):
    """Columns of a scan give the names, events and figure of the same columns in memory, also for clusters that come back."""
    labels, _, _ = planted(5, n=400)
    labels += [[None if x == labels[-1][0] else x for x in labels[-1]], labels[-1]]  # one is gone, and comes back
    frame = pd.DataFrame({f"s{i}": pd.array(x, dtype="Int64") for i, x in enumerate(labels)})
    frame = frame.astype("string") if text else frame
    frame.insert(0, "id", [f"p{i}" for i in range(len(frame))])
    frame.to_parquet(tmp_path / "steps.parquet")
    scan = cg.scan(tmp_path / "steps.parquet", id="id")
    whole = cg.track(frame.set_index("id"), noise={"s2": "1" if text else 1})
    t = cg.track(scan, noise={"s2": "1" if text else 1})
    assert (t.names, t.happened, t.sentence) == (whole.names, whole.happened, whole.sentence)
    assert [lane.sizes for lane in lanes_of(t)] == [lane.sizes for lane in lanes_of(whole)]
    assert cg.track([scan["s0"], scan["s1"]]).names == cg.track(frame[["s0", "s1"]]).names
    written = t.write_labels(tmp_path / "names").read()
    for name in t.steps:
        lasting = [None if x is pd.NA else x for x in whole.labels[name].tolist()]
        assert written[name].to_pylist() == lasting
    for refused in (lambda: t.labels, lambda: t.modes, lambda: t.save(tmp_path / "t.npz")):
        with pytest.raises(cg.InputError, match="rows of these steps stay where they are"):
            refused()
    with pytest.raises(cg.InputError, match="leave out data and previous"):
        cg.track(scan, previous=whole)
    with pytest.raises(cg.InputError, match="rows have no label; pass unassigned='drop'"):
        cg.track(scan, unassigned="error")
    with pytest.raises(cg.InputError, match=r"their names are in t\.labels"):
        whole.write_labels(tmp_path / "other")


@pytest.mark.parametrize("largest", [7, 2**40])
def test_names_of_scanned_steps_are_whole_numbers(tmp_path, largest):
    """Lasting names that are whole numbers are written as such, however large; gaps stay gaps."""
    rows = {"s0": pa.array([largest, None, 3, 3]), "s1": pa.array([1, 1, None, 5])}
    t = cg.track(cg.scan(lambda: pa.table(rows).to_reader(), columns=["s0", "s1"]))
    written = t.write_labels(tmp_path / "out").read()
    assert pa.types.is_integer(written["s1"].type)
    assert written.to_pydict() == {"s0": [largest, None, 3, 3], "s1": [largest, largest, None, 3]}


def test_columns_of_lists_are_covers():
    """A frame whose columns hold lists of clusters has the steps of these covers; in a scan they are refused."""
    sets = {"may": [["a"], ["a", "b"], ["b"], ["b"]], "june": [[0], [0, 1], [1], [1]]}
    t = cg.track(pa.table(sets))
    assert [step.kind for step in t.history.steps] == ["cover", "cover"]
    assert t.label_columns()["june"] == sets["may"]
    with pytest.raises(cg.InputError, match="step may is a cover, whose clusters overlap; read the columns"):
        cg.track(cg.scan(lambda: pa.table(sets).to_reader()))


def test_runs_are_aligned_to_one_order():
    """Runs of one k have their columns in one order, none is farther from another than the best order of the two."""
    rng = np.random.default_rng(0)
    u = rng.dirichlet([0.2] * 4, 200)
    runs = [u[:, rng.permutation(4)] for _ in range(6)]
    t = cg.track(runs)
    assert all(np.array_equal(x, t.aligned[0]) for x in t.aligned)
    assert len(set(map(frozenset, t.names))) == 1
    assert t.modes["size"].tolist() == [6]
    other = rng.dirichlet([0.2] * 4, 200)
    assert cg.track([*runs, other]).modes["size"].tolist() == [6, 1]
    noisy = [np.abs(x + rng.normal(0, 0.05, x.shape)) for x in runs]
    noisy = [x / x.sum(axis=1, keepdims=True) for x in noisy]
    aligned = cg.track(noisy).aligned
    found = runs_of(history_of(noisy).steps)
    for i, j in itertools.combinations(range(6), 2):
        assert ((aligned[i] - aligned[j]) ** 2).sum() / 400 == pytest.approx(found.distance[i, j], rel=1e-9)


def test_different_points_are_matched_by_their_profiles():
    """Clusters of other points in the same place have the same name; a far cluster is new."""
    rng = np.random.default_rng(0)
    centres = np.array([[0, 0, 0], [8, 0, 0], [0, 8, 0], [9, 9, 9.0]])

    def step(which, sizes):
        x = np.vstack([centres[c] + rng.normal(size=(m, 3)) for c, m in zip(which, sizes, strict=True)])
        return x, np.repeat(np.arange(len(which)), sizes)

    (x0, a), (x1, b) = step([0, 1, 2], [80, 90, 70]), step([2, 0, 3, 1], [75, 85, 60, 95])
    t = cg.track([a, b], data=[x0, x1])
    assert t.names[1] == (2, 0, 3, 1)
    assert [e.event for e in t.happened] == ["kept", "kept", "kept", "new"]
    assert max(e.p_value for e in t.happened) < 0.1
    with pytest.raises(cg.InputError, match="data of step 1 have 10 rows, but the step has 315 points"):
        cg.track([a, b], data=[x0, x1[:10]])


def test_sentence_has_its_baselines():
    """The sentence tells the share that keeps its name, by the labels as given, and by chance."""
    t = cg.track([[0] * 50 + [1] * 50, [1] * 50 + [0] * 50])
    assert t.sentence == (
        "2 clusters over 2 steps, 2 of them from first to last; every cluster is kept. 100 of 100 points keep their cluster's "
        "name (0 by the labels as given, 50 by chance)."
    )
    assert json.loads(t.to_json())["sentence"] == t.sentence


@pytest.mark.parametrize(
    ("steps", "options", "message"),
    [
        ([], {}, "there are no steps"),
        ([[0, 1], [0, 1]], {"naming": "nest"}, "naming must be 'larger' or 'nested', not 'nest'"),
        ([[0, 1], [0, 1]], {"names": ["a"]}, "1 names for 2 steps"),
        ([[0, 1], [0, 1]], {"previous": 3}, "previous must be a result of cg.track or its path, got int"),
        ([0, 1, 1], {}, "got one list of labels"),
        (5, {}, "expected steps as a frame with one column per step"),
    ],
)
def test_refusals(steps, options, message):
    """What cannot be tracked is refused in one line."""
    with pytest.raises(cg.InputError, match=message):
        cg.track(steps, **options)


def test_relabel_puts_memberships_in_the_order_of_the_reference():
    """Columns of memberships are matched one to one by the least sum of squares; columns without a match come last."""
    rng = np.random.default_rng(0)
    u = rng.dirichlet([0.3] * 4, 50)
    order = np.array([2, 0, 3, 1])
    assert np.array_equal(cg.relabel(u, u[:, order]), u)
    assert np.array_equal(cg.relabel(u.argmax(axis=1), u[:, order]), u)
    more = np.column_stack([u[:, 3] / 2, u[:, 1], u[:, 0], u[:, 2], u[:, 3] / 2])
    assert np.allclose(cg.relabel(u, more)[:, :3], u[:, :3])
    assert cg.relabel(u, more).shape == (50, 5)
