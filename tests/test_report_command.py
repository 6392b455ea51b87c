"""`congruence report`, and the number of clusters by the data."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from report_cases import RNG, RUNS, TRUTH, data_of

import congruence as cg
from congruence.inputs.column_kinds import with_memberships
from congruence.reporting import html, words
from congruence.reporting.phrases import in_words
from congruence.selection.choice import KChoice

# --- the command -----------------------------------------------------------------------------------------------------


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
        (("labels.csv", "--out", "r.pdf"), "--out is written as .html or .htm"),
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
    assert len(said.refusal) == 1
    assert not list(tmp_path.glob("*.html"))


def test_memberships_in_columns():
    """Only fractions that add up to 1 over several columns are memberships."""
    half = np.array([0.5, 0.25])
    assert list(with_memberships({"u:1": half, "u:2": 1 - half})) == ["u"]
    assert list(with_memberships({"u:1": half, "u:2": half})) == ["u:1", "u:2"]
    assert list(with_memberships({"u:1": half, "v:1": half})) == ["u:1", "v:1"]
    assert list(with_memberships({"u:1": half, "u:2": 1 - half, "u": half})) == ["u:1", "u:2", "u"]


def test_unstable_groups_are_counted_in_the_answer():
    """Groups that the clusterings do not find again do not count as agreement: the answer says how many remain."""
    rng = np.random.default_rng(3)
    base = np.repeat([0, 1, 2, 3], [60, 60, 10, 10])
    runs = {}
    for i in range(9):
        run = base.copy()
        run[120:] = rng.integers(2, 4, 20)  # the small groups are redrawn in every clustering
        runs[f"run {i}"] = run
    r = cg.report(runs, n_clusters=4, progress=False)
    kinds = [in_words(x, "stability") for x in r.model.answer.stability]
    assert kinds.count("unstable") >= 1
    left = r.model.answer.k - kinds.count("unstable")
    assert f"All of these 9 clusterings agree on {left} of {r.model.answer.k} groups; the other" in r.summary.answer


# --- how many clusters, by the data ----------------------------------------------------------------------------------


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
    """Data of one group: the report says so, and that agreement of the clusterings is not evidence of clusters."""
    X = np.random.default_rng(0).normal(size=(80, 3))
    r = cg.report({"a": X[:, 0] > 0, "b": X[:, 0] > 0.1}, data=X, progress=False)
    kind, sentence, here = words.of_data(r.model)
    assert (kind, here) == ("none", "2 of 2 clusterings divide one group; their agreement is not evidence of clusters.")
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
    assert (kind, sentence) == ("tie", "Tie between 2 (45%) and 3 clusters (45%).")
    assert here == "2 of 3 clusterings have 2 (“two”) and 3 (“three”) clusters."
    part = html.page(tied).partition('id="data-verdict"')[2].partition('id="levels"')[0]
    assert ">Tie<" in part
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
