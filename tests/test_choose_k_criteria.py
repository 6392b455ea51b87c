"""Published criteria for the number of clusters, compared with R, and sets of other authors."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import beta
from selection_cases import BLOBS, TRUTH
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris

import congruence as cg
from congruence.selection import halves, kmeans, mixtures
from congruence.selection.criteria import PEERS, Context, resampled
from congruence.selection.halves import fits_of
from reproductions import choosing_k, choosing_k_r, foreign_sets

# --- published criteria, against R -----------------------------------------------------------------------------------


GOLDEN = json.loads((Path(__file__).parent / "golden" / "choosing_k.json").read_text(encoding="utf-8"))
IRIS = load_iris().data


@pytest.fixture(scope="module")
def iris():
    """The evidence for one to six clusters of iris, with 100 halvings."""
    points = IRIS - IRIS.mean(axis=0)
    root = np.random.SeedSequence(0)
    axes = np.linalg.svd(points, full_matrices=False)[2].T
    parts = halves.Sample.of(points @ axes, 6, root, halvings=100)
    return Context(parts, fits_of(parts, list(range(1, 7)))[0], root)


@pytest.mark.slow
def test_gap_is_clusgap(iris):
    """Gap and its error are those of cluster::clusGap within the error of simulation, and both rules take its k."""
    values, errors = resampled.gap(iris, references=60)
    spread = np.array(GOLDEN["gap_error"]) * np.sqrt(1 / 60 + 1 / 200)
    assert (np.abs(values - GOLDEN["gap"]) < 4 * spread).all()
    assert errors == pytest.approx(GOLDEN["gap_error"], rel=0.4)
    theirs = np.array(GOLDEN["gap"]), np.array(GOLDEN["gap_error"])
    assert resampled.first_rule(iris.ks, *theirs) == GOLDEN["gap_rule"]["Tibs2001SEmax"] == 4
    assert resampled.global_rule(iris.ks, *theirs) == GOLDEN["gap_rule"]["globalSEmax"] == 5


def test_prediction_strength_is_fpcs(iris):
    """Mean prediction strength for two to four clusters within the error of simulation; 1 for one cluster."""
    found = PEERS["prediction_strength"].curve(iris)
    assert found.values[:4] == pytest.approx(GOLDEN["prediction_strength"][:4], abs=0.06)


def test_mixtures_are_mclusts(iris):
    """BIC and ICL of iris: mclust's at one to three components, where both reach the same maximum; the best is not worse."""
    models = {"full": "VVV", "tied": "EEE", "diag": "VVI", "spherical": "VII"}
    for k in (1, 2, 3):
        for f in mixtures.fits(IRIS, iris.fits[k].halves.labels, k, steps=2000, tolerance=1e-9, ridge=1e-7):
            assert f.bic == pytest.approx(GOLDEN[f"bic_{models[f.kind]}"][k - 1], abs=0.5)
            assert f.icl == pytest.approx(GOLDEN[f"icl_{models[f.kind]}"][k - 1], abs=1.5)
    best = PEERS["bic"].curve(iris)
    assert best.best == 2
    for i in range(6):
        theirs = [GOLDEN[f"bic_{m}"][i] for m in models.values()]
        if 0 < i < 5:  # one component: in principal axes "diag" is "full" with fewer parameters; six: other maxima
            assert best.values[i] > max(theirs) - 1


def test_geometry_is_that_of_r(iris):
    """Silhouette and Calinski–Harabasz are those of cluster::silhouette and fpc::calinhara where k-means agrees."""
    for name in ("silhouette", "calinski_harabasz"):
        found = PEERS[name].curve(iris).values
        assert found[1:4] == pytest.approx([GOLDEN[f"{name}_{k}"] for k in (2, 3, 4)], rel=1e-3)
        assert np.isnan(found[0])


def test_jump_by_hand(iris):
    """Sugar and James: the largest difference of distortions to the power of −d/2, from 0 for no cluster."""
    n, d = iris.points.shape
    power = [(fit.halves.inertia / (n * d)) ** (-d / 2) for fit in iris.fits.values()]
    jumps = np.diff([0, *power])
    found = PEERS["jump"].curve(iris)
    assert found.values / found.values[0] == pytest.approx(jumps / jumps[0], rel=1e-9)
    assert found.best == iris.ks[int(np.argmax(jumps))]


def test_davies_bouldin_by_hand(iris):
    """Each cluster's worst ratio of spreads to the distance of centres, averaged over clusters."""
    for k, value in zip(iris.ks[1:], PEERS["davies_bouldin"].curve(iris).values[1:], strict=True):
        groups = [iris.points[iris.fits[k].halves.labels == j] for j in range(k)]
        centres = [g.mean(axis=0) for g in groups]
        spread = [np.mean([np.linalg.norm(x - c) for x in g]) for g, c in zip(groups, centres, strict=True)]
        worst = [
            max((spread[i] + spread[j]) / np.linalg.norm(centres[i] - centres[j]) for j in range(k) if j != i)
            for i in range(k)
        ]
        assert value == pytest.approx(np.mean(worst), rel=1e-9)


def test_clusterboot_is_fpcs(iris):
    """Mean Jaccard similarity of the worst cluster is that of fpc::clusterboot within the error of simulation."""
    found = PEERS["clusterboot"].curve(iris)
    theirs = np.array([GOLDEN[f"worst_{k}"] for k in (2, 3, 4, 5)])
    assert (np.abs(found.values[1:5] - theirs) < 3 * np.sqrt(1 + 30 / 100) * found.errors[1:5] + 0.005).all()


def test_nselectboot_is_fpcs(iris):
    """Instability of pairs of bootstrap samples is that of fpc::nselectboot within the error of simulation, and so is k."""
    found = PEERS["nselectboot"].curve(iris)
    errors = np.hypot(found.errors[1:5], GOLDEN["nselectboot_error"])
    assert (np.abs(found.values[1:5] - GOLDEN["nselectboot"]) < 4 * errors).all()
    assert found.best == GOLDEN["nselectboot_k"] == 2


def test_pac_is_that_of_consensus_cluster_plus():
    """PAC of k-means on 80 % of iris is that of ConsensusClusterPlus with the same number of starts."""
    found = resampled.ambiguous(IRIS - IRIS.mean(axis=0), [1, 2, 3, 4], np.random.default_rng(0), 120, 20)
    assert np.isnan(found[0])
    assert found[1:] == pytest.approx([GOLDEN[f"pac_{k}"] for k in (2, 3, 4)], abs=0.03)
    assert cg.choose_k(IRIS, range(1, 5), criteria="pac").best == {"pac": 2}
    runs = cg.choose_k(IRIS, range(2, 4), criteria="pac", n_members=5)
    assert runs.criteria["pac"].values[0] == runs.ensembles[2].pac()


def test_m3c_by_hand(monkeypatch):
    """PAC, the log ratio to the references and the p-value are those of the definition, pair by pair."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(24, 2)) + np.array([[0, 0], [5, 0]])[np.repeat([0, 1], 12)]
    labels = []
    monkeypatch.setattr(kmeans, "nearest", lambda *a, f=kmeans.nearest: labels.append(f(*a)) or labels[-1])
    rows = np.sort(np.argsort(np.random.default_rng(9).random((10, 24)), axis=1)[:, :19], axis=1)
    found = resampled.ambiguous(X, [3], np.random.default_rng(9), 10)
    ambiguous = pairs = 0
    for i in range(24):
        for j in range(i):
            both = [(r.tolist().index(i), r.tolist().index(j), row) for r, row in zip(rows, labels[0], strict=True)
                    if i in r and j in r]  # fmt: skip
            share = np.mean([row[a] == row[b] for a, b, row in both])
            ambiguous, pairs = ambiguous + (0.1 < share < 0.9), pairs + 1
    assert 0 < found[0] == pytest.approx(ambiguous / pairs, rel=1e-12)
    ours, references = np.array([0.0, 0.2]), rng.uniform(0.1, 0.3, (8, 2))
    index, p = resampled.relative(ours, references)
    for j in range(2):
        mean, var = references[:, j].mean(), references[:, j].var(ddof=1)
        assert index[j] == pytest.approx(np.log(mean) - np.log(max(ours[j], 1e-7)), rel=1e-12)
        a = ((1 - mean) / var - 1 / mean) * mean**2
        assert p[j] == pytest.approx(beta.cdf(max(ours[j], 1e-7), a, a * (1 / mean - 1)), rel=1e-9)


@pytest.mark.slow
def test_m3c_says_that_it_sampled():
    """Above 400 points M3C uses 400, and a note says so; noise has no clusters."""
    X = np.random.default_rng(0).normal(size=(450, 2))
    choice = cg.choose_k(X, range(1, 4), criteria="m3c")
    assert choice.k == 1
    assert "m3c used 400 of 450 points, drawn at random" in choice.notes


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(PEERS))
def test_every_criterion_finds_three_groups(name):
    """Each criterion, named alone, finds three distant groups and votes for three."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(90, 2)) + np.array([[0, 0], [12, 0], [5, 11]])[TRUTH]
    choice = cg.choose_k(X, range(1, 6), criteria=name)
    assert choice.best[name] == choice.k == 3
    assert choice.probability is None
    assert "clear" not in choice.sentence


def test_criteria_vote_together():
    """Published criteria and the agreement of members in one vote; a tie is called one."""
    choice = cg.choose_k(IRIS, range(1, 6), criteria=["silhouette", "calinski_harabasz"])
    assert choice.best == {"silhouette": 2, "calinski_harabasz": 3}
    assert choice.verdict == "tie"
    assert choice.sentence == "Tie between 2 and 3 clusters: 1 of 2 criteria each."
    mixed = cg.choose_k(BLOBS, range(1, 5), criteria=["silhouette", "ari"], n_members=5)
    assert set(mixed.best) == {"silhouette", "ari"}
    assert mixed.k == 3
    with pytest.raises(cg.InputError, match="did you mean silhouette"):
        cg.choose_k(BLOBS, criteria="silhouete")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "k", "scheme"),
    [
        (name, k, scheme)
        for name, k in (("iris", 3), ("wine", 3), ("three", 4), ("square", 4), ("unequal", 3))
        for scheme in ("boot", "subset", "noise", "jitter")
        if scheme in ("boot", "subset") or name not in ("wine", "unequal")
    ],
)
def test_stability_is_clusterboot(name, k, scheme):
    """Mean Jaccard similarity of each cluster is that of fpc::clusterboot within the error of simulation."""
    ours = {"boot": "bootstrap", "subset": "subsample"}.get(scheme, scheme)
    clusterer = KMeans(k, n_init=3 if name in ("iris", "square") else 10)  # the others have more local optima
    share = {"fraction": 0.5} if ours == "subsample" else {}
    s = cg.stability(choosing_k_r.data(name), clusterer, scheme=ours, n_resamples=60, random_state=0, **share)
    table = s.to_frame().sort_values("points", ascending=False)
    assert table["points"].tolist() == GOLDEN["sizes"][name][scheme]
    theirs = np.array(GOLDEN["clusterboot"][name][scheme])
    errors = table["error"].to_numpy() * np.sqrt(1 + 60 / 100)
    assert (np.abs(table["mean"].to_numpy() - theirs) < 4 * errors + 0.02).all()


# --- other people's sets ---------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_other_peoples_sets_are_scored(tmp_path, capsys, monkeypatch):
    """Each method runs on each data set of a folder; finished work is kept and read again."""
    monkeypatch.setattr(choosing_k, "PEERS", {"silhouette": PEERS["silhouette"], "m3c": PEERS["jump"]})
    np.savetxt(tmp_path / "two_2.csv", BLOBS[:60:2], delimiter=",")
    np.savetxt(tmp_path / "qiu_joe-1_5.csv", BLOBS[::2], delimiter=",")
    tasks = [(str(file), 0) for file in foreign_sets.files(tmp_path)]
    keep = tmp_path / "keep"
    keep.mkdir()
    choosing_k.foreign(tasks, 1, keep)
    said = capsys.readouterr().out
    rows = {line.split("|")[1].strip(): line.split("|")[2:-1] for line in said.splitlines() if line.startswith("| ")}
    assert list(rows) == ["share right", "choose_k", "choose_k, k_min=2", "silhouette", "m3c (n ≤ 200)"]
    assert rows["choose_k"][-2].startswith(" .50 ")  # the data do not have five clusters
    assert "qiu_joe-1_5                 5    3    3" in said
    choosing_k.foreign(tasks, 1, keep)
    assert capsys.readouterr().out == said
    with pytest.raises(FileNotFoundError, match=r"run `python -m reproductions\.foreign_sets"):
        foreign_sets.files(keep)
