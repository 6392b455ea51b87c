"""cg.rank: which clustering to trust."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans

import congruence as cg
from congruence.trust.scores import numbers_of_clusters

TRUTH = np.repeat([0, 1, 2], 30)


def noisy(rng, share):
    """The truth with a share of the labels redrawn."""
    return np.where(rng.random(len(TRUTH)) < share, rng.integers(0, 3, len(TRUTH)), TRUTH)


def runs(seed=0, many=9):
    """Copies of the truth with more and more noise."""
    rng = np.random.default_rng(seed)
    return {f"r{i}": noisy(rng, 0.1 + 0.08 * i) for i in range(many)}


def test_the_best_agrees_with_the_others_and_their_consensus():
    """The agreement is that of member_agreement, the nearness ARI with the consensus; scores are their weighted mean."""
    r = cg.rank(runs())
    assert r.best == "r0"
    assert r.equal[0] == r.best
    labels = cg.consensus(runs(), r.consensus.n_clusters, random_state=np.random.SeedSequence(0).spawn(1)[0]).labels
    assert r.nearness.tolist() == [cg.ari(labels, x) for x in runs().values()]
    assert dict(zip(r.names, r.agreement.tolist(), strict=True)) == pytest.approx(cg.member_agreement(runs()))
    assert r.score.tolist() == pytest.approx(((r.agreement + r.nearness / 2) / 1.5).tolist())
    known = cg.rank(runs(), n_clusters=3)
    assert known.score.tolist() == pytest.approx(((r.agreement + r.nearness) / 2).tolist())
    assert np.isnan(r.fit).all()
    assert r.frame["clustering"][0] == "r0"
    assert r.frame["score"].is_monotonic_decreasing
    assert "“r0”" in r.sentence
    assert f"median clustering {np.median(r.score):.2f}" in r.sentence


def test_several_numbers_of_clusters_count_alike():
    """With members of 2 to 6 clusters the nearness is the mean over consensuses of 2 to 6; with more, up to 8."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(150, 2)) + 5 * rng.integers(0, 2, (150, 2))
    given = {f"{k} {i}": KMeans(k, n_init=1, random_state=i).fit_predict(X) for k in (2, 3, 4, 6) for i in range(3)}
    r = cg.rank(given)
    assert r.best.startswith("4")
    own = [cg.consensus(given, k, random_state=k).labels for k in range(2, 7)]
    assert r.nearness.tolist() == pytest.approx(
        [np.mean([cg.ari(a, x) for a in own]) for x in given.values()], abs=0.05
    )
    assert numbers_of_clusters([2, 3, 40]) == list(range(2, 9))
    assert numbers_of_clusters([100, 100]) == [100]


def test_many_points_are_sampled():
    """With 4,000 points the consensuses use some of the points, and the pick is the same."""
    rng = np.random.default_rng(4)
    truth = rng.integers(0, 3, 4_000)
    given = [
        np.where(rng.random(len(truth)) < 0.2 + 0.1 * i, rng.integers(0, 3 + i, len(truth)), truth) for i in range(5)
    ]
    r = cg.rank(given)
    assert r.best == "0"
    assert r.nearness[0] > r.nearness[1]


def test_unrelated_clusterings_get_no_recommendation():
    """Permuted labels: None in at least 18 of 20 draws; with two clusterings that agree perfectly, a recommendation."""
    rng = np.random.default_rng(1)
    refused = [cg.rank([rng.permutation(TRUTH) for _ in range(6)], random_state=i).best is None for i in range(20)]
    assert sum(refused) >= 18
    r = cg.rank([rng.permutation(TRUTH) for _ in range(6)])
    assert r.best is r.second is None
    assert r.equal == ()
    assert "no more than unrelated ones" in r.sentence
    assert cg.rank([TRUTH, noisy(rng, 0.1)]).best is not None


def test_near_trivial_clusterings_do_not_count():
    """One cluster, all singletons or one point apart are never the best, and do not change the pick."""
    more = {
        "one": np.zeros(90, int), "alone": np.arange(90), "apart": (np.arange(90) == 0).astype(int), **runs(),
    }  # fmt: skip
    r, plain = cg.rank(more), cg.rank(runs())
    assert r.best == plain.best
    assert [name for name, why in zip(r.names, r.trivial, strict=True) if why] == ["one", "alone", "apart"]
    assert set(r.frame["clustering"][-3:]) == {"one", "alone", "apart"}
    nothing = cg.rank([np.zeros(90, int), np.arange(90), TRUTH])
    assert nothing.best is None
    assert "1 of 3 has clusters" in nothing.sentence


def test_repeats_are_named_and_always_equal():
    """A repeated clustering is named and as good as the first; identical ones need no test."""
    r = cg.rank({**runs(), "again": runs()["r0"]})
    assert r.best == "r0"
    assert "again" in r.equal
    assert r.frame.set_index("clustering")["note"]["again"] == "the same as r0"
    same = cg.rank([TRUTH, TRUTH + 5, TRUTH])
    assert same.best == "0"
    assert same.sentence == "All 3 clusterings are the same; use “0”."


def test_worse_clusterings_are_not_equal():
    """The worst of four is not called equal because it was drawn often, and a higher score never has a lower p-value."""
    rng, truth = np.random.default_rng(0), np.repeat([0, 1, 2], 50)
    given = {f"run {i}": np.where(rng.random(150) < 0.1 * i, rng.integers(0, 3, 150), truth) for i in range(4)}
    r = cg.rank(given)
    assert r.best == "run 0"
    assert not {"run 2", "run 3"} & set(r.equal)
    assert r.frame["as_good"].is_monotonic_decreasing
    one = [np.where(rng.random(150) < x, rng.integers(0, 3, 150), truth) for x in (0.05, *(0.3,) * 6)]
    assert cg.rank(one).equal == ("0",)


def test_clusterings_of_one_level_and_twins_are_equal():
    """Most copies of the truth with the same noise are equal, also with many points; so is the best one with two points moved."""
    for n in (150, 3_000):
        rng, truth = np.random.default_rng(5), np.arange(n) % 3
        one = {f"r{i}": np.where(rng.random(n) < 0.2, rng.integers(0, 3, n), truth) for i in range(8)}
        r = cg.rank(one)
        assert len(r.equal) > 4
        twin = one[str(r.best)].copy()
        twin[:2] = (twin[:2] + 1) % 3
        assert {"twin", r.best} <= set(cg.rank({**one, "twin": twin}).equal)


def test_the_number_of_clusters_decides():
    """With three clusterings into 2 and two into 6 groups, n_clusters or the data decide which are near the consensus."""
    rng = np.random.default_rng(0)
    six = np.repeat(np.arange(6), 20)
    X = rng.normal(size=(120, 2)) * 0.3 + np.stack([six % 3 * 6, six // 3 * 6], axis=1)
    given = {f"two {i}": np.where(rng.random(120) < 0.05 * i, 0, six // 3) for i in range(3)}
    given |= {f"six {i}": np.where(rng.random(120) < 0.05 * i, 0, six) for i in range(2)}
    assert cg.rank(given).best == "two 0"
    assert cg.rank(given, n_clusters=6).best == "six 0"
    with_data = cg.rank(given, X)
    assert with_data.best == "six 0"
    assert any("from the data" in note for note in with_data.notes)


def test_the_second_candidate_is_that_of_another_rule():
    """`second` agrees most with the others; if that is the best one, it is nearest to the consensus; the sentence says which."""
    seen = set()
    for seed in range(5):
        given = runs(seed, 5)
        r = cg.rank(given)
        central, near = next(iter(cg.member_agreement(given))), r.names[int(r.nearness.argmax())]
        if r.best is not None:
            assert r.second == next((name for name in (central, near) if name != r.best), None)
            said = "agrees most with the others" if r.second == central else "is nearest to the consensus"
            assert (said in r.sentence) == (r.second is not None)
            seen.add(None if r.second is None else said)
    assert len(seen) > 1


def test_the_data_decide_between_equal_clusterings():
    """Of two families of equal size, the one that fits the data is recommended; the frame has a column for the fit."""
    rng = np.random.default_rng(3)
    X = np.column_stack([np.repeat([0, 8], 60), np.zeros(120)]) + rng.normal(size=(120, 2))
    right, wrong = np.repeat([0, 1], 60), np.tile([0, 1], 60)
    given = {
        f"{name} {i}": np.where(rng.random(120) < 0.1, 1 - y, y)
        for name, y in (("a", wrong), ("b", right))
        for i in range(4)
    }
    r = cg.rank(given, X)
    assert r.best.startswith("b")
    assert "the data" in r.sentence
    assert r.frame.set_index("clustering")["fit"][r.best] > 0.5


def test_data_may_be_a_frame():
    """A frame ranks like its values, without a warning of pandas."""
    X = np.random.default_rng(0).normal(size=(90, 2)) + 6 * np.eye(3)[TRUTH][:, :2]
    assert cg.rank(runs(), pd.DataFrame(X, columns=["x", "y"])).score.tolist() == cg.rank(runs(), X).score.tolist()


def test_what_may_be_passed():
    """Frames, gaps, memberships, weights and ensembles are taken; covers, one clustering, scans and wrong data are refused."""
    frame = pd.DataFrame(runs()).astype(object)
    frame.iloc[::7, 2] = None
    assert cg.rank(cg.Ensemble(frame, unassigned="partial")).best == "r0"
    soft = [np.eye(3)[x] * 0.9 + 0.1 / 3 for x in runs().values()]
    assert cg.Ensemble(soft).rank().best == "0"
    weighted = cg.Ensemble(runs(), member_weight=[0.0] * 5 + [1.0] * 4)
    assert weighted.rank().best == cg.rank(dict(list(runs().items())[5:])).best
    for given, text in (
        ([TRUTH], "only one"),
        ([cg.Cover([[0, 1], [1, 2]], points=3)] * 2, "covers, whose clusters overlap"),
        (cg.scan(lambda: iter([runs()])), "columns of a scan"),
    ):
        with pytest.raises(cg.InputError, match=text):
            cg.rank(given)
    with pytest.raises(cg.InputError, match="40 rows and the clusterings 90 points"):
        cg.rank(runs(), np.random.default_rng(0).normal(size=(40, 2)))


def test_data_may_be_a_list_a_frame_or_numbers_as_text():
    """The silhouettes are those of the numbers, whatever holds them; a list of rows raised an AttributeError."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 2)) + 5 * TRUTH[:, None]
    scores = [cg.rank(runs(many=3), x).score.tolist() for x in (X, X.tolist(), pd.DataFrame(X), X.astype(str))]
    assert scores[1:] == scores[:1] * 3


def test_soft_clusterings_of_one_point():
    """Resampled consensuses of one point have no number of clusters; no mean of nothing is taken."""
    r = cg.rank([np.array([[0.5, 0.5]])] * 2)
    assert r.agreement.tolist() == [1.0, 1.0]
    assert r.nearness.tolist() == [1.0, 1.0]


def test_memberships_are_not_ranked_by_how_crisp_they_are():
    """Memberships are compared by the Frobenius index, by which soft ones reach 1 with themselves."""
    rng = np.random.default_rng(0)
    hard = np.eye(3)[TRUTH]
    runs = [0.5 * hard + 0.5 * rng.dirichlet([3, 3, 3], len(TRUTH)) for _ in range(5)]
    runs.append(np.eye(3)[np.where(rng.random(len(TRUTH)) < 0.4, rng.integers(0, 3, len(TRUTH)), TRUTH)])
    r, square = cg.rank(runs, progress=False), cg.compare_all(runs, "fari")["fari"]
    assert r.agreement == pytest.approx((square.sum(axis=0) - 1) / 5, rel=1e-9)
    assert r.best != r.names[-1]


def test_the_same_seed_gives_the_same_ranking():
    """The result does not depend on threads; everything is in the dict."""
    assert cg.rank(runs(), random_state=3, threads=1) == cg.rank(runs(), random_state=3, threads=2)
    found = cg.rank(runs()).to_dict()
    assert found["best"] == "r0"
    assert found["rows"][0]["clustering"] == "r0"


def test_the_command(command, tmp_path):
    """`congruence rank` prints the same, sets the truth aside and compares with it, joins data by id, and refuses nonsense."""
    frame = pd.DataFrame({"cell": [f"c{i}" for i in range(90)], **runs(), "truth": TRUTH})
    frame.to_csv(tmp_path / "runs.csv", index=False)
    said = command("rank", "runs.csv", "--plot", "r.svg", "--out", "r.csv")
    assert said.code == 0
    assert said.out.startswith(str(cg.rank(runs())).split("\n")[0])
    assert "ari with truth, which did not take part: “r0”" in said.err
    assert pd.read_csv(tmp_path / "r.csv")["clustering"][0] == "r0"
    assert (tmp_path / "r.svg").stat().st_size > 1000
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"cell": frame["cell"], "x": TRUTH * 9 + rng.normal(size=90), "y": rng.normal(size=90)})
    data.sample(frac=1, random_state=0).to_csv(tmp_path / "data.csv", index=False)
    said = command("rank", "runs.csv", "--data", "data.csv", "--format", "json")
    assert '"best": "r0"' in said.out
    assert "n_clusters = 3, from the data" in said.out
    known = command("rank", "runs.csv", "--data", "data.csv", "--k", "3", "--format", "json")
    assert '"best": "r0"' in known.out
    assert "from the data" not in known.out


def test_of_two_clusterings_neither_agrees_more_with_the_other():
    """Two clusterings agree with each other alike, so none is named as the one that agrees most with the others."""
    a = np.repeat([0, 1], 31)
    r = cg.rank({"a": a, "b": np.where(np.arange(62) % 9 == 0, 2 + a, a)})
    assert r.agreement[0] == r.agreement[1]
    assert "agrees most with the others" not in r.sentence
    assert r.second is None
