"""`congruence choose-k`, ensembles of memberships, and references."""

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
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from selection_cases import AGREEMENT, BLOBS, TRUTH
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans
from typer.testing import CliRunner

import congruence as cg
from congruence.cli import app

DATA = Path(os.environ.get("CONGRUENCE_DATA", Path(__file__).parents[2] / "shared" / "data"))


# --- the command -----------------------------------------------------------------------------------------------------


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
    """Scores and curves are written, the recommendation is printed, columns of words are left out, with a note."""
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
        (["--out", "s.xls"], "--out is written as .csv"),
        (["--out", "s.npz"], "--out is written as .csv"),
        (["--plot", "k.txt"], "--plot is written as .html"),
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
    np.save(tmp_path / "x.npy", rng.normal(size=(60, 3)))
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


# --- real memberships ------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_ancestry_of_1000_genomes():
    """ADMIXTURE runs for k = 2 … 9: five superpopulations by the reference; notes say what repeats, and what crispness adds."""
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
    for call in (lambda **r: cg.choose_k(X, [2, 3], n_members=3, **r), lambda **r: cg.choose_k(c.ensembles, **r)):
        with pytest.raises(cg.InputError, match="index of the reference"):
            call(random_state=0, reference=classes[::-1])
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
    """Criteria of whole points are left out if points have weights."""
    rng = np.random.default_rng(0)
    runs = {k: cg.Ensemble(list(rng.integers(0, k, (3, 30))), sample_weight=rng.random(30)) for k in (2, 3)}
    assert list(cg.choose_k(runs).criteria) == ["ari", "vi", "certainty"]


@pytest.mark.slow
def test_one_k_is_not_a_choice():
    """With one number of clusters there is no choice, and no criterion is said to favour it."""
    choice = cg.choose_k(BLOBS, 3, n_members=3, criteria=AGREEMENT, random_state=0)
    assert choice.headline.startswith("Only 3 clusters were tried, so there is nothing to choose between")
    assert "favour" not in choice.recommendation


@pytest.mark.slow
def test_criteria_that_cannot_tell_are_named():
    """Runs that are the same at every k do not vote, and the text says so."""
    choice = cg.choose_k(BLOBS, [2, 3, 4], AgglomerativeClustering(), 3, AGREEMENT, random_state=0)
    assert "the only criterion with a preference favours it" in choice.headline
    assert "the same at every k: ari, ami_max, vi, certainty and pac." in choice.recommendation


def test_criteria_of_memberships_are_means_over_pairs_of_members():
    """aci, ndc and fari of the runs of each k, which a caution about covers must not throw out."""
    rng = np.random.default_rng(3)
    exact = np.eye(3)[np.repeat([0, 1, 2], 8)]
    noise = {2: 1.0, 3: 0.05, 4: 1.0}
    runs = {k: [rng.dirichlet(np.ones(k), 24) * noise[k] for _ in range(3)] for k in noise}
    runs[3] = [0.95 * exact + x for x in runs[3]]
    ensembles = {k: cg.Ensemble([cg.Memberships(u) for u in members]) for k, members in runs.items()}
    choice = cg.choose_k(ensembles, criteria=["aci", "ndc", "fari"], random_state=0)
    assert choice.best == {"aci": 3, "ndc": 3, "fari": 3}
    for key in ("aci", "ndc", "fari"):
        for at, (k, members) in enumerate(runs.items()):
            pairs = [cg.compare(a, b, key)[key] for i, a in enumerate(members) for b in members[:i]]
            assert choice.scores[key].to_list()[at] == pytest.approx(np.mean(pairs), rel=1e-9), (key, k)
