"""The agreement of members as a criterion for k, compared with slow definitions."""

from __future__ import annotations

import json
import re
from importlib.util import find_spec
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from selection_cases import AGREEMENT, BLOBS, NOISE, TRUTH
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.mixture import GaussianMixture

import congruence as cg
from congruence.selection import agreement_curves as curves


def soft(rng, n=25, k=3):
    return rng.dirichlet(np.ones(k) * 0.5, n)


# --- the curves ------------------------------------------------------------------------------------------------------


def test_criteria_are_the_functions_of_the_same_name():
    """Consensus index, certainty, PAC and Δ of an ensemble are those of the separate functions."""
    rng = np.random.default_rng(0)
    ensembles = {k: cg.Ensemble([rng.integers(0, k, 40) for _ in range(5)]) for k in (2, 3, 4)}
    keys = ["ari", "vi", "accuracy", "wallace_ab", "certainty", "uncertainty", "pac", "delta_area"]
    choice = cg.choose_k(ensembles, criteria=keys)
    for i, e in enumerate(ensembles.values()):
        for key in ("ari", "vi", "accuracy", "wallace_ab"):
            assert choice.criteria[key].values[i] == pytest.approx(cg.consensus_index(e, key), rel=1e-12)
        assert choice.criteria["certainty"].values[i] == cg.certainty(e)
        assert choice.criteria["pac"].values[i] == e.pac()
    assert choice.criteria["delta_area"].values.tolist() == list(cg.delta_area(ensembles).values())
    assert choice.best["uncertainty"] == choice.best["certainty"]


@pytest.mark.parametrize("weights", [None, [1, 2, 0.5, 3, 1]])
@pytest.mark.parametrize("how", ["none", "ratio", "excess"])
def test_standard_errors_are_the_jackknife(weights, how):
    """The error is that of the full jackknife over members."""
    rng = np.random.default_rng(3)
    members = [soft(rng) for _ in range(5)]
    shares = np.full(5, 0.2) if weights is None else np.array(weights) / np.sum(weights)
    values = cg.compare_all(members, "nmi_sum")["nmi_sum"]

    def slow(kept):
        pairs = list(combinations(kept, 2))
        mean = np.average([values[i, j] for i, j in pairs], weights=[shares[i] * shares[j] for i, j in pairs])
        own = np.average([values[i, i] for i in kept], weights=shares[kept])
        return {"none": mean, "ratio": mean / own, "excess": mean - own}[how]

    value, error = curves._index(values, shares, how)
    without = np.array([slow([i for i in range(5) if i != left]) for left in range(5)])
    assert value == pytest.approx(slow(list(range(5))), rel=1e-12)
    assert error == pytest.approx(np.sqrt(4 / 5 * ((without - without.mean()) ** 2).sum()), rel=1e-9)


def test_self_forms_do_not_reward_crispness():
    """For identical soft members, the consensus index is below its best value, and its /self form reaches it."""
    rng = np.random.default_rng(0)
    e = {2: [soft(rng, k=2)] * 4, 3: [soft(rng, k=3) for _ in range(4)]}
    choice = cg.choose_k(e, criteria=["nmi_sum", "nmi_sum/self", "vi", "vi/self", "ari_gram/self"])
    assert choice.criteria["nmi_sum"].values[0] < 0.9
    assert choice.criteria["vi"].values[0] > 0.1
    assert choice.criteria["nmi_sum/self"].values[0] == pytest.approx(1, rel=1e-12)
    assert choice.criteria["ari_gram/self"].values[0] == pytest.approx(1, rel=1e-12)
    assert choice.criteria["vi/self"].values[0] == pytest.approx(0, abs=1e-12)
    assert choice.best["nmi_sum/self"] == choice.best["vi/self"] == 2


def test_a_softer_but_repeatable_number_wins_by_the_self_forms_only():
    """By the plain index, crisp members that disagree a little beat soft ones that agree fully, and the sentence says so."""
    rng = np.random.default_rng(0)
    hard = np.repeat([0, 1], 30)
    crisp = [np.eye(2)[np.where(rng.random(60) < 0.03, 1 - hard, hard)] for _ in range(6)]
    blurred = 0.25 + 0.25 * np.eye(3)[np.arange(60) % 3]
    choice = cg.choose_k({2: crisp, 3: [blurred] * 6}, criteria=["ari_gram", "ari_gram/self"])
    assert choice.best == {"ari_gram": 2, "ari_gram/self": 3}
    assert "ari_gram: crisp memberships agree more" in choice.recommendation or choice.k == 2


def test_best_follows_the_direction():
    """Similarities are best at the maximum, distances at the minimum; ties go to the smallest k, and NaN never wins."""
    values, no = np.array([0.5, 0.9, np.nan, 0.9]), np.full(4, np.nan)
    assert curves._best([2, 3, 4, 5], values, no, "higher") == (3, (5,))
    assert curves._best([2, 3, 4, 5], values, no, "lower") == (2, ())
    assert curves._best([2, 3], np.array([np.nan, np.nan]), no[:2], "higher") == (None, ())
    assert curves._best([2, 3, 4], np.ones(3), np.zeros(3), "higher") == (None, ())
    near = curves._best([2, 3, 4], np.array([1.0, 0.9, 0.5]), np.array([0.03, 0.05, 0.0]), "higher")
    assert near == (2, (3,))
    assert curves._best([2, 3], np.array([100.0, 99.5]), no[:2], "higher", bounded=False) == (2, (3,))


def test_the_area_names_the_number_of_equal_clusters():
    """Four equal clusters, merged below k = 4 and split above: growth beyond that of equal clusters is largest at 4."""
    parts = {2: [[0, 0, 1, 1]], 3: [[0, 0, 1, 2]], 4: [[0, 1, 2, 3]], 5: [[0, 1, 2, 3]]}
    found = {k: np.repeat(runs[0], 20) for k, runs in parts.items()}
    found[5][:10] = 4
    choice = cg.choose_k({k: [x, x] for k, x in found.items()}, criteria="delta_area")
    assert choice.best == {"delta_area": 4}


def test_the_vote():
    """Most votes win; ties go to the k nearest to the median, then the smaller; misleading criteria do not vote."""

    def curve(name, best, votes=True):
        return cg.Criterion(
            name=name, title=name, better="higher", values=np.zeros(4), errors=np.zeros(4), best=best, votes=votes
        )

    def choice(*curves):
        return cg.KChoice(ks=(2, 3, 4, 5), criteria={c.name: c for c in curves})

    assert choice(curve("a", 2), curve("b", 5), curve("c", 5)).k == 5
    assert choice(curve("a", 2), curve("b", 3), curve("c", 5)).k == 3
    assert choice(curve("a", 2), curve("b", 4), curve("c", 4, votes=False)).k == 2
    vote = choice(curve("a", 2), curve("b", 3), curve("c", 3)).vote
    assert (vote.share, vote.spread, vote.counts) == (2 / 3, (2, 3), {2: 1, 3: 2})


@pytest.mark.slow
def test_measures_that_favour_many_clusters_do_not_vote():
    """mi and nmi_min grow with k on noise; they are shown, with the reason, and not counted."""
    choice = cg.choose_k(NOISE, range(2, 8), n_members=8, criteria=["ari", "mi", "nmi_min"], random_state=0)
    assert choice.best["mi"] == 7
    assert not choice.criteria["mi"].votes
    assert not choice.criteria["nmi_min"].votes
    assert sum(choice.vote.counts.values()) == 1
    assert "mi (7), grows with the number of clusters" in choice.recommendation
    only = cg.choose_k(NOISE, [2, 3], n_members=3, criteria="mi", random_state=0)
    assert only.recommendation.startswith("Cannot tell: none of the criteria has a vote (mi)")
    assert json.loads(only.to_json())["k"] is None
    assert "Cannot tell" in repr(only)
    with pytest.raises(cg.InputError, match="add ari or vi"):
        only.vote  # noqa: B018


# --- the choice ------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("method", ["kmeans", "em", "fuzzy", KMeans(n_init=1), GaussianMixture()])
def test_three_groups_are_found(method):
    """Three groups far apart are three clusters by every method, and the sentence says so."""
    protocol = "paper" if method == "em" else None  # scikit-learn's mixture from random points misses them too often
    soft = method == "em" or method == "fuzzy" or isinstance(method, GaussianMixture)
    criteria = ["nmi_sum", "vi", "certainty", "pac"] if soft else AGREEMENT
    choice = cg.choose_k(BLOBS, range(2, 6), method, 10, criteria, random_state=0, protocol=protocol)
    assert choice.k == 3
    assert choice.recommendation.startswith("3 clusters: ")
    assert len(choice.scores) == 4


@pytest.mark.slow
def test_low_agreement_on_noise_is_reported():
    """On noise the members agree little, and the recommendation says so."""
    choice = cg.choose_k(NOISE, range(2, 6), n_members=12, criteria=AGREEMENT, random_state=0)
    assert "the data may have no clear clusters" in choice.recommendation
    assert "a clear choice" not in choice.recommendation


def test_a_choice_that_most_criteria_can_hardly_tell_is_not_clear():
    """All favour 3, but ari and ami_max are tied: probable, not clear."""
    runs = {k: [np.random.default_rng([k, i]).integers(0, k, 40) for i in range(4)] for k in (2, 4)}
    truth = np.arange(40) % 3
    runs[3] = [np.where(np.random.default_rng([3, i]).random(40) < 0.9, truth, i % 3) for i in range(4)]
    clear = cg.choose_k(runs, criteria=["ari", "vi"])
    assert "2 of 2 criteria favour it, a clear choice" in clear.recommendation
    runs[4] = [*runs[3][:3], np.roll(runs[3][3], 1)]
    doubtful = cg.choose_k(runs, criteria=["ari", "ami_max"])
    assert doubtful.k == 3
    assert "a clear choice" not in doubtful.recommendation


@pytest.mark.slow
def test_a_deterministic_method_is_judged_on_subsamples():
    """Identical members at every k cannot distinguish the k; clusterings of subsamples can."""
    choice = cg.choose_k(BLOBS, range(2, 5), AgglomerativeClustering(), 3, AGREEMENT, random_state=0)
    assert choice.criteria["ari"].best is None
    assert set(choice.vote.counts) == {choice.criteria["stability"].best} == {3}
    same = cg.choose_k({2: [[0, 0, 1]] * 2, 3: [[0, 1, 2]] * 2}, criteria=["ari", "vi"])
    assert "every criterion with a vote (ari and vi) is undefined, or the same" in same.recommendation


@pytest.mark.slow
def test_the_answer_does_not_depend_on_jobs_or_on_the_other_k():
    """Two jobs give the same bits as one, and the score of a k does not depend on the others tried."""
    one = cg.choose_k(NOISE, range(2, 5), "em", 4, random_state=5, n_subsamples=3, threads=1)
    two = cg.choose_k(NOISE, range(2, 5), "em", 4, random_state=5, n_subsamples=3, threads=1, n_jobs=2)
    alone = cg.choose_k(NOISE, 3, "em", 4, random_state=5, n_subsamples=3, threads=1)
    pd.testing.assert_frame_equal(one.scores, two.scores, check_exact=True)
    assert one.recommendation == two.recommendation
    for name in set(one.criteria) - {"delta_area"}:
        assert one.criteria[name].values[1] == alone.criteria[name].values[0]
    other = cg.choose_k(NOISE, 3, "em", 4, random_state=6, n_subsamples=3)
    assert other.criteria["vi"].values[0] != alone.criteria["vi"].values[0]


def test_stability_is_the_agreement_of_subsamples():
    """The criterion is the mean ari of clusterings of parts, on the points they share."""
    choice = cg.choose_k(NOISE, 3, n_members=2, criteria="stability", n_subsamples=4, fraction=0.5, random_state=1)
    _, part = np.random.SeedSequence(1, spawn_key=(3,)).spawn(2)
    labels = []
    for stream in part.spawn(4):
        rng = np.random.default_rng(stream)
        rng.choice([3])
        chosen = np.sort(rng.choice(150, 75, replace=False))
        full = np.full(150, -1)
        full[chosen] = (
            KMeans(3, init="random", n_init=1, random_state=int(rng.integers(2**31 - 1))).fit(NOISE[chosen]).labels_
        )
        labels.append(full)
    slow = [cg.ari(a[(a >= 0) & (b >= 0)], b[(a >= 0) & (b >= 0)]) for a, b in combinations(labels, 2)]
    assert choice.criteria["stability"].values[0] == pytest.approx(np.mean(slow), rel=1e-12)


def test_ctrl_c_keeps_what_is_done():
    """An interrupt at the third k returns two; before the first is finished it is raised."""

    def after(many):
        def report(done, total):
            if done > many:
                raise KeyboardInterrupt

        return report

    options = {"n_members": 3, "criteria": ["ari", "delta_area"], "random_state": 0, "reference": TRUTH}
    choice = cg.choose_k(BLOBS, range(2, 6), progress=after(7), **options)
    whole = cg.choose_k(BLOBS, range(2, 4), **options)
    assert (choice.ks, choice.is_complete) == ((2, 3), False)
    assert any("stopped: 2 of 4" in note for note in choice.notes)
    pd.testing.assert_frame_equal(choice.scores, whole.scores, check_exact=True)
    with pytest.raises(KeyboardInterrupt):
        cg.choose_k(BLOBS, range(2, 6), progress=after(1), **options)


@pytest.mark.slow
def test_the_reference_does_not_vote():
    """Mean agreement and success rate are those computed by hand; the vote is the same without the reference."""
    options = {"n_members": 8, "criteria": ["ari", "vi"], "random_state": 2}
    choice = cg.choose_k(BLOBS, range(2, 6), reference=TRUTH, **options)
    assert choice.vote == cg.choose_k(BLOBS, range(2, 6), **options).vote
    each = {k: [cg.vi(TRUTH, c) for c in e] for k, e in choice.ensembles.items()}
    means = [np.mean(x) for x in each.values()]
    assert choice.with_reference["vi with reference"].values == pytest.approx(means, rel=1e-12)
    found = [min(each, key=lambda k: each[k][run]) == 3 for run in range(8)]
    assert choice.success["vi"] == np.mean(found)
    assert choice.n_reference == 3
    assert "success rates: ari" in choice.recommendation
    far = cg.choose_k(BLOBS, [4, 5], reference=TRUTH, **options)
    assert far.success == {}
    assert any("no success rate" in note for note in far.notes)


def test_members_that_lack_clusters_are_reported():
    """Three distinct points cannot make four clusters, and the notes say so, once for all k."""
    data = np.repeat([[0.0, 0], [1, 0], [0, 1]], 5, axis=0)
    choice = cg.choose_k(data, [2, 4, 5], n_members=3, criteria="ari", random_state=0)
    assert any(re.search(r"k = .*5 \(\d of 3 members\): have [123] clusters", note) for note in choice.notes)
    uneven = cg.choose_k({2: [[0, 0, 1, 1]] * 3, 3: [[0, 1, 2, 2], [0, 0, 1, 2]]}, criteria="ari")
    assert "fewer members at some k: 2 at k = 3" in uneven.notes


def test_many_points_are_sampled_for_pac_with_a_note():
    """Above 1000 points PAC is estimated from random pairs: close to the exact value, with an error and a note."""
    rng = np.random.default_rng(0)
    e = cg.Ensemble([rng.integers(0, 3, 1200) for _ in range(4)])
    choice = cg.choose_k({3: e}, criteria="pac")
    exact, drawn = e.pac(), choice.criteria["pac"]
    assert 0 < drawn.errors[0] < 0.01
    assert abs(drawn.values[0] - exact) < 4 * drawn.errors[0]
    assert any("random pairs of points" in note for note in choice.notes)


@pytest.mark.slow
def test_results_in_every_form():
    """Frames, dictionaries, JSON, text, HTML and the figure hold the same numbers."""
    choice = cg.choose_k(BLOBS, range(2, 5), n_members=5, criteria=AGREEMENT, reference=TRUTH, random_state=0)
    frame = choice.to_frame("pyarrow", errors=True)
    assert frame["k"].to_pylist() == [2, 3, 4]
    assert {"ari", "ari error", "pac", "vi with reference"} <= set(frame.column_names)
    assert "pac error" not in frame.column_names
    again = json.loads(choice.to_json())
    assert (again["k"], again["best"]) == (3, choice.best)
    assert again["scores"]["ari"] == choice.criteria["ari"].values.tolist()
    assert "1.000*" in repr(choice)
    assert "<table>" in choice._repr_html_()
    if find_spec("plotly") is None:
        pytest.skip("plotly is not installed")
    figure = choice.plot()
    drawn = {trace.name: list(trace.y) for trace in figure.data}
    for c in [*choice.criteria.values(), *choice.with_reference.values()]:
        assert drawn[c.name] == pytest.approx(c.values.tolist())
        if c.best is not None:
            assert drawn[f"{c.name} best"] == [c.values[choice.ks.index(c.best)]]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"k": [0, 2]}, r"k must be from 1 to the number of points \(90\), not \[0, 2\]"),
        ({"k": []}, "not none"),
        ({"k": 91}, "number of points"),
        ({"n_members": 1}, "n_members must be a whole number of at least 2"),
        ({"criteria": ["arri"]}, "there is no criterion 'arri'; did you mean ari"),
        ({"criteria": "stabilty"}, "did you mean stability"),
        ({"criteria": []}, "no criteria were named"),
        ({"criteria": "pac/self"}, "pac has no /self"),
        ({"criteria": "certainty/self"}, "certainty describes a whole ensemble"),
        ({"criteria": "ari/other"}, "followed by /self only"),
        ({"criteria": "ami_max", "method": "em"}, "ami_max is not defined for soft memberships"),
        ({"reference": TRUTH[:9]}, "the reference has 9 points and the data 90"),
        ({"fraction": 2}, "fraction must be in"),
        ({"method": "kmean"}, "did you mean kmeans"),
        ({"method": "kmeans", "protocol": "paper"}, "'paper' with method 'em'"),
        ({"data": {"a": [[0, 1]]}}, "its keys are 'a'"),
        ({"data": {}}, "its keys are none"),
        ({"data": {2: [[0, 1, 1]]}}, "k = 2 has only one"),
        ({"data": {2: [[0, 1]] * 2, 3: [[0, 1, 2]] * 2}}, "the ensembles are of 2 and 3 points"),
        ({"data": {2: [[0, 1]] * 2}, "criteria": "stability"}, "pass the data, not ensembles"),
    ],
)
def test_mistakes_are_one_line(arguments, text):
    """Bad input says what was given and what was expected."""
    making = {} if isinstance(arguments.get("data"), dict) else {"k": [2, 3], "n_members": 2}
    with pytest.raises(cg.InputError, match=text) as error:
        cg.choose_k(**{"data": BLOBS, **making, **arguments})
    assert "\n" not in str(error.value)
