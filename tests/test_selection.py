"""Choosing k and the stability of clusters: every value is compared with a slow definition, and the choice with the known one."""

from __future__ import annotations

import csv
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import defaultdict
from importlib.util import find_spec
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans
from sklearn.mixture import GaussianMixture
from typer.testing import CliRunner

import congruence as cg
from congruence.cli import app
from congruence.ensembles import generators
from congruence.selection import agreement_curves as curves

DATA = Path(os.environ.get("CONGRUENCE_DATA", Path(__file__).parents[2] / "shared" / "data"))
RNG = np.random.default_rng(0)
TRUTH = np.repeat([0, 1, 2], 30)
BLOBS = RNG.normal(size=(90, 2)) + np.array([[0, 0], [9, 0], [0, 9]])[TRUTH]
AGREEMENT = ["ari", "ami_max", "vi", "certainty", "pac", "delta_area", "stability"]
NOISE = np.random.default_rng(1).normal(size=(150, 5))


def soft(rng, n=25, k=3):
    return rng.dirichlet(np.ones(k) * 0.5, n)


# --- the curves -------------------------------------------------------------------------------------------------


def test_criteria_are_the_functions_of_the_same_name():
    """Consensus index, certainty, PAC and Δ of an ensemble are what their own functions give."""
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
    """Identical soft members: the consensus index is below its best, the form against the self-values is at it."""
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
    """Crisp members that disagree a little beat soft ones that agree wholly by the plain index, and the sentence says so."""
    rng = np.random.default_rng(0)
    hard = np.repeat([0, 1], 30)
    crisp = [np.eye(2)[np.where(rng.random(60) < 0.03, 1 - hard, hard)] for _ in range(6)]
    blurred = 0.25 + 0.25 * np.eye(3)[np.arange(60) % 3]
    choice = cg.choose_k({2: crisp, 3: [blurred] * 6}, criteria=["ari_gram", "ari_gram/self"])
    assert choice.best == {"ari_gram": 2, "ari_gram/self": 3}
    assert "ari_gram: crisp memberships agree more" in choice.recommendation or choice.k == 2


def test_best_follows_the_direction():
    """Similarities have their best at the maximum, distances at the minimum; of equals the smallest k; NaN never."""
    values, no = np.array([0.5, 0.9, np.nan, 0.9]), np.full(4, np.nan)
    assert curves._best([2, 3, 4, 5], values, no, "higher") == (3, (5,))
    assert curves._best([2, 3, 4, 5], values, no, "lower") == (2, ())
    assert curves._best([2, 3], np.array([np.nan, np.nan]), no[:2], "higher") == (None, ())
    assert curves._best([2, 3, 4], np.ones(3), np.zeros(3), "higher") == (None, ())
    near = curves._best([2, 3, 4], np.array([1.0, 0.9, 0.5]), np.array([0.03, 0.05, 0.0]), "higher")
    assert near == (2, (3,))
    assert curves._best([2, 3], np.array([100.0, 99.5]), no[:2], "higher", bounded=False) == (2, (3,))


def test_the_area_names_the_number_of_equal_clusters():
    """Four equal clusters: two, three of them merged below, split above; the growth beyond equal ones is largest at 4."""
    parts = {2: [[0, 0, 1, 1]], 3: [[0, 0, 1, 2]], 4: [[0, 1, 2, 3]], 5: [[0, 1, 2, 3]]}
    found = {k: np.repeat(runs[0], 20) for k, runs in parts.items()}
    found[5][:10] = 4
    choice = cg.choose_k({k: [x, x] for k, x in found.items()}, criteria="delta_area")
    assert choice.best == {"delta_area": 4}


def test_the_vote():
    """Most votes win; of equals the one nearest to the median, then the smaller; those known to mislead do not vote."""

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


# --- the choice -------------------------------------------------------------------------------------------------


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
def test_noise_is_said_to_have_no_clusters():
    """On noise the members agree little, and the recommendation says it."""
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
def test_a_method_without_chance_leaves_it_to_subsamples():
    """Members that are all the same at every k cannot tell them apart; clusterings of subsamples can."""
    choice = cg.choose_k(BLOBS, range(2, 5), AgglomerativeClustering(), 3, AGREEMENT, random_state=0)
    assert choice.criteria["ari"].best is None
    assert set(choice.vote.counts) == {choice.criteria["stability"].best} == {3}
    same = cg.choose_k({2: [[0, 0, 1]] * 2, 3: [[0, 1, 2]] * 2}, criteria=["ari", "vi"])
    assert "ari and vi cannot tell" in same.recommendation


@pytest.mark.slow
def test_the_answer_does_not_depend_on_jobs_or_on_the_other_k():
    """Two jobs give the scores of one to the bit, and a k its own whatever else is tried."""
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
    """An interrupt at the third k gives back two; before the first is finished it is an interrupt."""

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
    """Mean agreement and success rate are those worked out by hand; the vote is the same without the reference."""
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


def test_members_that_lack_clusters_are_said():
    """Three distinct points cannot make four clusters, and the notes say so, once for all k."""
    data = np.repeat([[0.0, 0], [1, 0], [0, 1]], 5, axis=0)
    choice = cg.choose_k(data, [2, 4, 5], n_members=3, criteria="ari", random_state=0)
    assert any(re.search(r"k = .*5 \(\d of 3 members\): have [123] clusters", note) for note in choice.notes)
    uneven = cg.choose_k({2: [[0, 0, 1, 1]] * 3, 3: [[0, 1, 2, 2], [0, 0, 1, 2]]}, criteria="ari")
    assert "fewer members at some k: 2 at k = 3" in uneven.notes


def test_many_points_are_drawn_for_pac_and_said():
    """Above 1000 points PAC is of drawn pairs: near the exact one, with an error, and a note."""
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


def test_a_plot_without_plotly_is_one_line(monkeypatch):
    """Where plotly is not installed, plot says what to install."""
    choice = cg.choose_k({2: [[0, 0, 1]] * 2, 3: [[0, 1, 2], [0, 1, 1]]}, criteria="ari")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(cg.InputError, match="pip install plotly"):
        choice.plot()


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
    with pytest.raises(cg.InputError, match=text) as error:
        cg.choose_k(**{"data": BLOBS, "k": [2, 3], "n_members": 2, **arguments})
    assert "\n" not in str(error.value)


# --- EM by the paper --------------------------------------------------------------------------------------------


def slow_em(data, k, rng, limit=100):
    """Section V.C by loops: random points as means, variances on the diagonal, equal priors; max change of means < 1e-3."""
    n, d = data.shape
    means = data[rng.choice(n, k, replace=False)].copy()
    covariances = [np.diag(data.var(axis=0, ddof=1)) for _ in range(k)]
    priors = np.full(k, 1 / k)

    def posterior():
        u = np.empty((n, k))
        for i in range(n):
            for j in range(k):
                gap = data[i] - means[j]
                density = np.exp(-0.5 * gap @ np.linalg.inv(covariances[j]) @ gap)
                u[i, j] = priors[j] * density / np.sqrt((2 * np.pi) ** d * np.linalg.det(covariances[j]))
            u[i] /= u[i].sum()
        return u

    for step in range(1, limit + 1):
        u = posterior()
        old = means.copy()
        for j in range(k):
            means[j] = sum(u[i, j] * data[i] for i in range(n)) / u[:, j].sum()
            covariances[j] = sum(u[i, j] * np.outer(data[i] - means[j], data[i] - means[j]) for i in range(n))
            covariances[j] = covariances[j] / u[:, j].sum()
            priors[j] = u[:, j].mean()
        if np.abs(means - old).max() < 1e-3:
            return posterior(), step
    return posterior(), limit


@pytest.mark.parametrize("seed", [0, 1])
def test_em_is_the_papers(seed):
    """The memberships are those of the protocol written out in loops."""
    rng = np.random.default_rng(seed)
    data = rng.normal(size=(40, 2)) * [1, 5] + np.array([[0, 0], [6, 9]])[rng.integers(0, 2, 40)]
    found = generators._em_of_the_paper(data, 2, np.random.default_rng(seed))
    expected, steps = slow_em(data, 2, np.random.default_rng(seed))
    assert steps < 100
    assert found == pytest.approx(expected, abs=1e-9)


@pytest.mark.slow
def test_em_of_the_paper_repairs_singular_covariances_and_says_so():
    """A feature that is constant, or one that repeats another, is no crash: the notes say how many members were repaired."""
    twice = np.column_stack([BLOBS, BLOBS[:, 0]])
    constant = np.column_stack([BLOBS, np.ones(90)])
    for data in (twice, constant, np.repeat(BLOBS[:4], 5, axis=0)):
        e = cg.generate(data, 3, 3, "em", random_state=0, protocol="paper")
        assert any("of 3 members: singular covariances were regularised" in note for note in e.notes)
        assert all(np.isfinite(c.matrix).all() for c in e)
    clean = cg.generate(BLOBS, 3, 3, "em", random_state=0, protocol="paper")
    assert not any("singular" in note for note in clean.notes)
    chosen = cg.choose_k(twice, [2, 3], "em", 4, "ari", protocol="paper", random_state=0)
    assert any("singular covariances" in note for note in chosen.notes)


def test_em_of_the_paper_says_when_it_was_stopped():
    """Runs that use all 100 steps are kept and counted in the notes."""
    e = cg.generate(NOISE, 4, 6, "em", random_state=0, protocol="paper")
    assert any("EM stopped after 100 steps" in note for note in e.notes)


# --- cluster by cluster -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["bootstrap", "subsample"])
def test_stability_by_hand(scheme):
    """Jaccard to the best match, and how often each point was in it, are those of loops over sets."""
    model = KMeans(4, n_init=1)
    s = cg.stability(NOISE[:40], model, scheme=scheme, n_resamples=6, fraction=0.7, random_state=3)
    streams = np.random.SeedSequence(3).spawn(7)
    inside, drawn = defaultdict(int), defaultdict(int)
    for r, stream in enumerate(streams[1:]):
        rng = np.random.default_rng(stream)
        if scheme == "bootstrap":
            chosen = sorted(set(rng.integers(0, 40, 40).tolist()))
        else:
            chosen = sorted(rng.choice(40, 28, replace=False).tolist())
        fitted = KMeans(4, n_init=1, random_state=int(rng.integers(2**31 - 1))).fit_predict(NOISE[chosen])
        new = [{p for p, x in zip(chosen, fitted, strict=True) if x == j} for j in range(4)]
        for p in chosen:
            drawn[p] += 1
        for c in s.clusters:
            mine = {p for p in chosen if s.labels[p] == c}
            scores = [len(mine & d) / len(mine | d) for d in new]
            assert s.jaccard[r, c] == max(scores)
            for p in new[int(np.argmax(scores))]:
                inside[p, c] += 1
    for p in range(40):
        for c in s.clusters:
            assert s.belonging[p, c] == inside[p, c] / drawn[p]


@pytest.mark.slow
def test_stability_tells_good_clusters_from_bad_and_names_the_points():
    """Two distant groups are stable; the halves of an arbitrarily split group are not, and points on the cut are listed."""
    rng = np.random.default_rng(0)
    bridge = np.array([[5.0, 0.0]])
    X = np.concatenate([rng.normal(size=(30, 2)), rng.normal(size=(30, 2)) + np.array([10, 0]), bridge])
    good = cg.stability(X, KMeans(2, n_init=5), n_resamples=30, random_state=0)
    assert min(good.mean.values()) > 0.9
    assert good.overall > 0.9
    worst = good.unstable(good.labels[-1].item(), limit=1)
    assert worst["point"].tolist() == [60]
    assert worst["does"].tolist() == ["leaves"]
    bad = cg.stability(X, KMeans(5, n_init=1), n_resamples=30, random_state=0)
    assert min(bad.mean.values()) < 0.7
    frame = bad.to_frame()
    assert frame["points"].sum() == 61
    assert ((frame["recovered"] + frame["dissolved"]) <= 1).all()
    assert "unreliable" in repr(bad) or "uncertain" in repr(bad)


def test_stability_takes_noise_mixtures_and_functions():
    """−1 is no cluster; mixtures and plain functions are clusterers; names of rows are kept."""
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(30, 2)) * 0.3, rng.normal(size=(30, 2)) * 0.3 + 5, [[50.0, 50.0]]])
    s = cg.stability(pd.DataFrame(X, index=[f"p{i}" for i in range(61)]), DBSCAN(), n_resamples=5, random_state=0)
    assert s.clusters == (0, 1)
    assert s.labels[-1] == -1
    assert s.points[3] == "p3"
    assert np.nan_to_num(s.belonging[-1]).sum() == 0
    assert len(cg.stability(X, GaussianMixture(2), n_resamples=3, random_state=0).clusters) == 2
    halves = cg.stability(X, lambda data: (data[:, 0] > 2.5).astype(int), n_resamples=5, random_state=0)
    assert set(halves.mean.values()) == {1.0}
    assert halves.unstable(0).empty


@pytest.mark.slow
def test_stability_does_not_depend_on_jobs():
    """Two jobs give the numbers of one."""
    one = cg.stability(NOISE, KMeans(3, n_init=1), n_resamples=4, random_state=0)
    two = cg.stability(NOISE, KMeans(3, n_init=1), n_resamples=4, random_state=0, n_jobs=2)
    assert np.array_equal(one.jaccard, two.jaccard)
    assert np.array_equal(one.belonging, two.belonging, equal_nan=True)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"clusterer": "kmeans"}, r"must be a scikit-learn clusterer, as in KMeans\(3\)"),
        ({"clusterer": KMeans}, "must be a scikit-learn clusterer"),
        ({"scheme": "boot"}, "'bootstrap', 'subsample', 'jitter' or 'noise'"),
        ({"scheme": "noise", "noise": (2, 4)}, "noise must be a probability"),
        ({"scheme": "jitter", "jitter": 2}, "jitter must be a quantile"),
        ({"n_resamples": 0}, "n_resamples must be at least 1"),
        ({"clusterer": KMeans(89)}, "the clusterer failed on"),
        ({"clusterer": DBSCAN(eps=1e-9)}, "all points are noise"),
        ({"clusterer": lambda data: data.sum()}, "a whole number for each"),
    ],
)
def test_mistakes_in_stability_are_one_line(arguments, text):
    """Bad input says what was given and what was expected."""
    with pytest.raises(cg.InputError, match=text) as error:
        cg.stability(**{"X": BLOBS, "clusterer": KMeans(2), "n_resamples": 2, **arguments})
    assert "\n" not in str(error.value)


def test_an_unknown_cluster_is_one_line():
    """Asking for the points of a cluster that is not there names those that are."""
    s = cg.stability(BLOBS, KMeans(2), n_resamples=2, random_state=0)
    with pytest.raises(cg.InputError, match="there is no cluster 7; there are: 0 and 1"):
        s.unstable(7)


# --- the command ------------------------------------------------------------------------------------------------


@pytest.fixture
def table(tmp_path):
    file = tmp_path / "data.csv"
    frame = pd.DataFrame(BLOBS, columns=["x", "y"])
    frame["kind"] = [f"type {t}" for t in TRUTH]
    frame["note"] = ["a", "b"] * 45
    frame.to_csv(file, index=False)
    return file


def run(*words):
    return CliRunner().invoke(app, ["choose-k", *map(str, words)], catch_exceptions=True)


def test_the_command_names_columns_of_odd_scale(tmp_path):
    """The note on scales names the columns of the file, and says what to do."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"height": rng.normal(size=60), "income": 1e4 * rng.normal(size=60)})
    frame.to_csv(tmp_path / "people.csv", index=False)
    said = run(tmp_path / "people.csv", "--k", "1..3").output.replace("\n  ", " ")
    assert "income varies" in said
    assert "as much as height" in said
    assert "--standardise" in said


@pytest.mark.slow
def test_the_command(table, tmp_path):
    """Scores and curves are written, the recommendation is printed, columns of words are left out and said."""
    out, plot = tmp_path / "scores.csv", tmp_path / "k.html"
    words = [table, "--k", "2..4", "--members", 5, "--reference", "kind", "--out", out]
    if find_spec("plotly"):
        words += ["--plot", plot]
    done = run(*words)
    assert done.exit_code == 0, done.output
    assert "3 clusters (probability " in done.output
    assert "left out: note (labels)" in done.output
    with out.open() as stream:
        rows = list(csv.DictReader(stream))
    assert [row["k"] for row in rows] == ["1", "2", "3", "4"]
    direct = cg.choose_k(BLOBS, range(2, 5), n_members=5, reference=TRUTH, random_state=0)
    for name in ("probability", "ari"):
        assert float(rows[1][name]) == pytest.approx(direct.criteria[name].values[1], rel=1e-12)
    if find_spec("plotly"):
        assert "plotly" in plot.read_text(encoding="utf-8").lower()
    assert not list(tmp_path.glob("*.part"))


@pytest.mark.parametrize("kind", ["json", "csv", "markdown"])
def test_the_command_prints_in_every_format(table, kind):
    """JSON has the k, csv and markdown the scores."""
    done = CliRunner().invoke(
        app, ["choose-k", str(table), "--k", "2,3", "--members", "3", "--criteria", "ari,vi/self", "--format", kind]
    )
    assert done.exit_code == 0, done.output
    if kind == "json":
        assert json.loads(done.stdout[done.stdout.index("{") :])["k"] == 3
    assert "vi/self" in done.output


@pytest.mark.slow
def test_the_command_reads_arrays(tmp_path):
    """A 2-D npy file is data."""
    np.save(tmp_path / "x.npy", BLOBS)
    done = run(tmp_path / "x.npy", "--k", 3, "--members", 3, "--standardise", "--out", tmp_path / "s.json")
    assert done.exit_code == 0, done.output
    assert json.loads((tmp_path / "s.json").read_text())["scores"]["k"] == [1, 3]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--k", "two"], "--k takes numbers of clusters, as in 2..12"),
        (["--k", "5..2"], "--k takes numbers of clusters"),
        (["--out", "s.xls"], "results can be written as"),
        (["--out", "s.npz"], "scores can be written as"),
        (["--plot", "k.txt"], "figures are written as .html"),
        (["--columns", "x,note"], "'note' is not numbers"),
        (["--reference", "kin"], "has no column 'kin'; did you mean kind"),
        (["--criteria", "arri"], "there is no criterion 'arri'"),
        (["--protocol", "paper"], "'paper' with method 'em'"),
    ],
)
def test_mistakes_on_the_command_line(table, words, text):
    """Each is an InputError, which the command prints as one line."""
    if "--plot" in words and find_spec("plotly") is None:
        pytest.skip("plotly is not installed")
    done = run(table, "--members", 2, *words)
    assert isinstance(done.exception, cg.InputError)
    assert text in str(done.exception)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="interrupts are signals elsewhere")
def test_ctrl_c_writes_what_is_done(tmp_path):
    """An interrupt of the running command: the finished k are written, and the exit code says it was stopped."""
    rng = np.random.default_rng(0)
    np.save(tmp_path / "x.npy", rng.normal(size=(400, 8)))
    out = tmp_path / "s.csv"
    script = (
        "import sys, congruence.selection.agreement_curves as s\n"
        "from congruence.cli import main\n"
        "scored = s._scored\n"
        "def said(e, *rest):\n"
        "    found = scored(e, *rest)\n"
        "    print('scored', flush=True)\n"
        "    return found\n"
        "s._scored = said\n"
        f"sys.argv = ['congruence', 'choose-k', {str(tmp_path / 'x.npy')!r}, '--k', '2..60']\n"
        f"sys.argv += ['--criteria', 'ari,pac', '--out', {str(out)!r}]\n"
        "main()\n"
    )
    started = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert started.stdout is not None
    assert started.stdout.readline() == "scored\n"
    assert started.stdout.readline() == "scored\n"
    time.sleep(0.05)
    started.send_signal(signal.SIGINT)
    printed, errors = started.communicate(timeout=60)
    assert started.returncode == 130, errors
    rows = out.read_text().splitlines()
    assert 2 <= len(rows) - 1 < 59
    assert rows[1].startswith("2,")
    assert "stopped: " in printed
    assert "Traceback" not in errors


# --- real memberships -------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_ancestry_of_1000_genomes():
    """ADMIXTURE runs for k = 2 … 9: five superpopulations by the reference; what repeats, and what crispness adds, is said."""
    file = DATA / "clusterings" / "soft_1kg_admixture.csv.gz"
    if not file.is_file():
        pytest.skip("the ADMIXTURE runs are not here")
    frame = pd.read_csv(file, keep_default_na=False)
    runs = defaultdict(lambda: defaultdict(list))
    for column in frame.columns:
        match = re.fullmatch(r"k(\d+)_run(\d+):\d+", column)
        if match:
            runs[int(match[1])][int(match[2])].append(column)
    ensembles = {k: cg.Ensemble([frame[c].to_numpy() for c in members.values()]) for k, members in runs.items()}
    choice = cg.choose_k(ensembles, reference=frame["reference_superpop"].tolist())
    assert choice.ks == tuple(range(2, 10))
    assert choice.n_reference == 5
    assert {c.best for c in choice.with_reference.values()} == {5}
    assert set(choice.success.values()) == {1.0}
    assert choice.k == 2
    repeatable = choice.criteria["ari_gram/self"]
    assert {3, 5} <= set(repeatable.near)
    assert repeatable.values[[0, 1, 3]] == pytest.approx(1, abs=1e-3)
    said = choice.recommendation
    assert "probably 2" in said
    assert "rewards crispness" in said
    assert "delta_area" in said
    assert "fewer members at some k: 3 at k = 9" in choice.notes


def test_a_clusterer_without_a_number_of_clusters_has_no_k_to_choose():
    """DBSCAN gives the same result for every k; it is refused before anything is clustered."""
    with pytest.raises(cg.InputError, match="DBSCAN has no n_clusters"):
        cg.choose_k(np.zeros((9, 2)), [2, 3], [KMeans(), DBSCAN()])


@pytest.mark.slow
def test_a_reference_in_another_order_is_refused():
    """An index that is not that of the data, or of the ensembles, means other rows."""
    names = [f"p{i}" for i in range(20)]
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(20, 2)), index=names)
    classes = pd.Series([0, 1] * 10, index=names)
    c = cg.choose_k(X, [2, 3], n_members=3, random_state=0, reference=classes)
    assert c.ensembles[2].index.tolist() == names
    for data in (X, c.ensembles):
        with pytest.raises(cg.InputError, match="index of the reference"):
            cg.choose_k(data, [2, 3], n_members=3, random_state=0, reference=classes[::-1])
    for k in ("23", 2.0):
        with pytest.raises(cg.InputError, match="k must be a whole number"):
            cg.choose_k(X, k)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["kmeans", "em"])
def test_a_reference_may_lack_points(method):
    """Members are compared with a partial reference on the points that it labels, with a note."""
    X, classes = BLOBS, TRUTH.tolist()
    partial = cg.choose_k(X, [2, 3], method, n_members=3, random_state=0, reference=[None] * 9 + classes[9:])
    e = partial.ensembles[3]
    key = "ari_gram" if method == "em" else "ari"
    at = partial.ks.index(3)
    own = [cg.compare(classes[9:], c.taken(np.arange(9, len(X))), [key])[key] for c in e]
    assert partial.with_reference[f"{key} with reference"].values[at] == pytest.approx(np.mean(own))
    assert any("the reference has no label for 9 of" in note for note in partial.notes)
    with pytest.raises(cg.InputError, match="the reference has no labels"):
        cg.choose_k(X, [2, 3], reference=[None] * len(X))


def test_weighted_ensembles_have_usual_criteria():
    """Criteria that are of whole points are left out where points have weights."""
    rng = np.random.default_rng(0)
    runs = {k: cg.Ensemble(list(rng.integers(0, k, (3, 30))), sample_weight=rng.random(30)) for k in (2, 3)}
    assert list(cg.choose_k(runs).criteria) == ["ari", "vi", "certainty"]


@pytest.mark.slow
def test_one_k_is_no_choice():
    """With one number of clusters nothing was chosen, and no criterion is said to favour it."""
    choice = cg.choose_k(BLOBS, 3, n_members=3, criteria=AGREEMENT, random_state=0)
    assert choice.headline.startswith("Only 3 clusters were tried, so there is nothing to choose between")
    assert "favour" not in choice.recommendation


@pytest.mark.slow
def test_criteria_that_cannot_tell_are_named():
    """Runs that are the same at every k do not vote, and it is said."""
    choice = cg.choose_k(BLOBS, [2, 3, 4], AgglomerativeClustering(), 3, AGREEMENT, random_state=0)
    assert "the one criterion that can tell favours it" in choice.headline
    assert "the same at every k: ari, ami_max, vi, certainty and pac." in choice.recommendation


@pytest.mark.parametrize(("label", "words"), [(np.nan, "nan"), (0.5, "0.5")])
def test_labels_that_are_no_whole_numbers_are_refused(label, words):
    """A label of 0.5 is not rounded to another cluster, and NaN is no number."""
    with pytest.raises(cg.InputError, match=f"whole numbers, −1 for noise; it returned {words}"):
        cg.stability(BLOBS, lambda x: np.where(x[:, 0] > 4, label, 0.0), n_resamples=2, random_state=0)


@pytest.mark.filterwarnings("error")
def test_a_cluster_that_was_never_drawn_is_said():
    """With few resamples a small cluster may never be drawn: undefined, without a warning, and not in the mean."""
    s = cg.stability(np.arange(8.0)[:, None], DBSCAN(eps=0.1, min_samples=1), n_resamples=1, random_state=0)
    missed = [cluster for cluster, mean in s.mean.items() if np.isnan(mean)]
    assert missed
    assert "never drawn" in repr(s)
    assert s.overall == 1.0
    frame = s.to_frame()
    assert frame["recovered"].isna().tolist() == [c in missed for c in s.clusters]
