"""Forty statements that were drawn together: checks by script, and how a reader checked the others."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import parquet

import congruence as cg
from reproductions.declared import checks, kept

#: the beginning of a statement that no script checks, and how a reader checked it
READ = {
    "Similarity matrices are read once, in tiles.": "engine/matrices.py: `_of_tiles` adds all sums in one loop over tiles",
    "The adjusted Rand index of all pairs, similar clusterings": "the picture in the gallery: a matrix of ari with its tree",
    "Its smallest possible value is known in closed form": "test_the_least_similarity_in_closed_form holds it against a program",
    "The wines come from three growers, and no clustering": "the code of the page: the class is used in its last section only",
    "Install `congruence[dask]` in the same version": "tests/test_dask.py::test_another_version_on_the_workers_is_an_error",
    "In a scan, labels are still met while points are counted": "scanning: codes begin at 1, and 0 is no label",
    "Look at the bins before you trust a value.": "advice",
    "**Different points.** Last week's clusters": "an introduction; the example below it is run by the tests",
    "**ari** or **ami_max** to judge agreement.": "advice; both are 0 by chance (the axiom baseline, tested)",
    "Without a GPU, `CONGRUENCE_CUDA_STAND_IN=1 pytest`": "tests/conftest.py; test_cuda_stand_in.py runs GPU tests on it",
    "It raises if a kernel writes beyond its memory": "test_cuda_stand_in.py: a write beyond an array, another type of argument, "
    "a second GPU; the order of the threads was read in the stand-in",
    "They were measured on a busy machine": "the kept output names the load of the machine",
    "`python -m benchmarks.streaming` creates the data": "benchmarks/streaming.py starts a process per line",
    "In the KDD stream of `python -m reproductions.kdd_snapshots`": "in the sample of the data, 21 of the 38 numeric attributes "
    "have more than 95% of the points in one of ten bins of equal width",
    "**Λ (Uglickich, Nagy, Vlčková)** is unsound.": "the sentences after it are in the kept output of lambda_statistic",
}


def _runs(many: int = 6, n: int = 90, share: float = 0.3) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    return [np.where(rng.random(n) < share, rng.integers(0, 4, n), np.repeat([0, 1, 2], n // 3)) for _ in range(many)]


@checks("`average_f1` even grows with the number of clusters.")
def _average_f1() -> tuple[str, bool]:
    rng, means = np.random.default_rng(0), []
    for k in (5, 20, 80):
        pairs = [[cg.Cover([rng.choice(100, 10, False) for _ in range(k)], 100) for _ in range(2)] for _ in range(10)]
        means.append(float(np.mean([cg.average_f1(a, b) for a, b in pairs])))
    return f"unrelated covers of 5, 20, 80 clusters: {', '.join(f'{x:.3f}' for x in means)}", means == sorted(means)


@checks("Use `aci`, or `fari` for more than a few thousand points")
def _left_out() -> tuple[str, bool]:
    few, many = (np.random.default_rng(0).dirichlet([1, 1, 1], (2, n)) for n in (4000, 4001))
    found = [set(cg.compare(*x).to_dict()) >= {"aci", "ndc"} for x in (few, many)]
    said = any("aci" in str(x) for x in cg.compare(*many).cautions)
    return f"aci and ndc at 4,000 points: {found[0]}, at 4,001: {found[1]}; said: {said}", found == [
        True,
        False,
    ] and said


@checks("Columns of very different scale get a caution")
def _scales() -> tuple[str, bool]:
    X = np.random.default_rng(0).normal(size=(100, 2)) * [1, 5000]
    notes = [str(x) for x in cg.choose_k(X, progress=False).notes]
    return notes[0][:60] if notes else "no note", any("differ in scale" in x for x in notes)


@checks("Nodes are coloured by their stability, the mean")
def _colours() -> tuple[str, bool]:
    r = cg.resolutions({"r_1": [0, 0, 0, 1, 1, 1], "r_2": [0, 0, 1, 1, 2, 2]})
    by = {"stability": r.plot(), "feature": r.plot(color=np.arange(6.0)), "reference": r.plot(color=list("aaabbb"))}
    different = len({str(x.to_dict()) for x in by.values()})
    return f"{different} pictures by {', '.join(by)}", different == 3


@checks("The consensus matrix is the share of the covers")
def _shares() -> tuple[str, bool]:
    rng = np.random.default_rng(0)
    sets = [rng.random((12, 3)) < 0.4 for _ in range(5)]
    slow = np.mean([(x.astype(int) @ x.T.astype(int)) > 0 for x in sets], axis=0)
    fast = np.asarray(cg.Ensemble([cg.Cover(x.astype(int)) for x in sets]).consensus_matrix())
    off = ~np.eye(12, dtype=bool)
    apart = float(np.abs(slow - fast)[off].max())
    return f"largest difference from the definition: {apart:.1g}", apart < 1e-12


@checks("On other data the order can be another")
def _collections() -> tuple[str, bool]:
    many = re.search(r"(\d+) collections", kept("reproductions/rank.txt"))
    return f"kept output: {many[0] if many else 'nothing'}", bool(many and many[1] == "111")


@checks("Clusters less than about 3 standard deviations apart")
def _apart() -> tuple[str, bool]:
    found = []
    for distance in (2.5, 4):
        right = 0
        for seed in range(6):
            X = np.random.default_rng(seed).normal(size=(200, 2)) + np.repeat([[0, 0], [distance, 0]], 100, axis=0)
            right += cg.choose_k(X, range(1, 5), random_state=0, progress=False).k == 2
        found.append(right)
    return f"two round clusters found in {found[0]} of 6 at 2.5 deviations, {found[1]} of 6 at 4", found[
        0
    ] <= 3 < found[1]


@checks("For ensembles with 60% useless members it is off")
def _confidence() -> tuple[str, bool]:
    text = kept("reproductions/consensus_confidence.txt")
    kinds = ("60 % poor", "mixed algorithms")
    rows = [re.findall(rf"^{kind} +4,394 +([\d.]+) +([\d.]+) +([\d.]+)", text, flags=re.MULTILINE) for kind in kinds]
    (right, ours, off), (right_mixed, ours_mixed, off_mixed) = (x[-1] for x in rows)
    text = f"kept output: {ours} for {right}, off by {off}; mixed {ours_mixed} for {right_mixed}, off by {off_mixed}"
    return text, abs(float(off) - 0.06) < 0.005 and abs(float(off_mixed) - 0.15) < 0.005 and ours_mixed < right_mixed


@checks("A point of weight 0 changes only `n_used`")
def _weight_zero() -> tuple[str, bool]:
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 3, (2, 50))
    with_it = cg.compare(a, b, "all", sample_weight=np.arange(50) > 0).to_dict()
    without = cg.compare(a[1:], b[1:], "all", sample_weight=np.ones(49)).to_dict()
    differ = {x for x in without if not np.isclose(with_it[x], without[x], rtol=1e-9, atol=1e-12, equal_nan=True)}
    return f"changed: {', '.join(sorted(differ)) or 'none'}", differ <= {"mirkin", "partition_difference", "chi_square"}


@checks("Names are sorted at the end, so the tables equal")
def _sorted_names() -> tuple[str, bool]:
    table = pa.table({"a": ["z", "b", "z", "a"] * 50, "b": [3, 1, 2, 2] * 50})
    with tempfile.TemporaryDirectory() as folder:
        parquet.write_table(table, Path(folder) / "x.parquet", row_group_size=30)
        scan = cg.scan(Path(folder) / "x.parquet")
        one = cg.contingency(scan["a"], scan["b"])
    other = cg.contingency(table["a"], table["b"])
    same = (one.rows, one.columns) == (other.rows, other.columns) and (one.to_array() == other.to_array()).all()
    return f"rows {', '.join(map(str, one.rows))}", bool(same)


@checks("A cover is compared with a whole hierarchy by")
def _cover_and_hierarchy() -> tuple[str, bool]:
    from scipy.cluster.hierarchy import linkage

    tree, cover = cg.Hierarchy(linkage(np.array([[0.0], [1], [5], [7]]))), cg.Cover([[0, 1], [1, 2, 3]], 4)
    value = cg.compare(cover, tree, ["element_centric"])["element_centric"]
    mean = float(np.mean(cg.element_scores(cover, tree)))
    return f"element_centric {value:.4f}, mean of the scores {mean:.4f}", abs(value - mean) < 1e-9


@checks("For this reason the score of each side with itself")
def _self_scores() -> tuple[str, bool]:
    u, v = np.random.default_rng(0).dirichlet([1, 1, 1], (2, 30))
    said = repr(cg.compare(u, v, ["ari_gram"]))
    return said.splitlines()[1].strip(), "self" in said


@checks("`agreement` is the mean adjusted Rand index with")
def _mean_agreement() -> tuple[str, bool]:
    r, square = cg.rank(_runs(), random_state=0, progress=False), cg.compare_all(_runs(), "ari")["ari"]
    apart = float(np.abs((square.sum(axis=0) - 1) / 5 - r.agreement).max())
    return f"largest difference: {apart:.1g}", apart < 1e-12


@checks("Its mean ARI is 0.621, that of the median member")
def _real_consensus() -> tuple[str, bool]:
    text = kept("reproductions/consensus_real.txt")
    found = [x for x in ("0.621", "0.398", "0.760") if x in text]
    return f"kept output: {', '.join(found)}", len(found) == 3


@checks("Each cluster of a clustering counts for the group")
def _votes() -> tuple[str, bool]:
    r = cg.report(dict(zip("abcdef", _runs(), strict=True)), progress=False)
    labels, shares = r.model.answer.labels, np.zeros(90)
    for run in _runs():
        votes = {c: np.bincount(labels[run == c], minlength=r.model.answer.k).argmax() for c in np.unique(run)}
        shares += np.array([votes[c] for c in run]) == labels
    apart = float(np.abs(shares / 6 - r.model.answer.placed).max())
    return f"largest difference from a count by hand: {apart:.1g}", apart < 1e-12


@checks("NSF as printed cannot fall below 1 − 1/N")
def _nsf() -> tuple[str, bool]:
    rng, low = np.random.default_rng(0), np.inf
    for _ in range(50):
        n = int(rng.integers(3, 9))
        a, b = (x @ x.T / np.diag(x @ x.T).max() for x in rng.random((2, n, 3)))
        low = min(low, cg.compare(cg.Similarity(a), cg.Similarity(b), ["nsf_printed"])["nsf_printed"] - (1 - 1 / n))
    return f"smallest distance above 1 − 1/N in 50 pairs: {low:.3f}", low >= 0


@checks("Different clusterings can score higher than identical")
def _lambda() -> tuple[str, bool]:
    return "kept output: 1.2634", "1.2634" in kept("reproductions/lambda_statistic.txt")


@checks("The bootstrap would be wrong here")
def _bootstrap() -> tuple[str, bool]:
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 8, (2, 40))
    drawn = [rng.integers(0, 40, 40) for _ in range(400)]
    mean = float(np.mean([cg.ari(a[x], b[x]) for x in drawn]))
    return f"two unrelated clusterings have {cg.ari(a, b):.3f}, their bootstrap {mean:.3f} on average", mean > cg.ari(
        a, b
    ) + 0.01


@checks("With the default, `wallace`, it is Fowlkes")
def _fowlkes() -> tuple[str, bool]:
    from scipy.cluster.hierarchy import cut_tree, linkage
    from sklearn.metrics import fowlkes_mallows_score

    rng = np.random.default_rng(0)
    trees = [linkage(rng.normal(size=(30, 3)), "average") for _ in range(2)]
    curve = cg.cut_curve(*map(cg.Hierarchy, trees))
    slow = [fowlkes_mallows_score(*(cut_tree(x, int(k)).ravel() for x in trees)) for k in curve.ks]
    apart = float(np.nanmax(np.abs(np.asarray(curve.values) - slow)))
    return f"largest difference over {len(slow)} cuts: {apart:.1g}", apart < 1e-9


@checks("The words follow from (*s* − *s*₀) / (1 − *s*₀)")
def _words() -> tuple[str, bool]:
    from congruence.reporting.phrases import in_words

    found = [in_words(x, "stability") for x in (0.85, 0.84, 0.75, 0.74, 0.6, 0.59)]
    return ", ".join(found), found == ["very stable", "stable", "stable", "uncertain", "uncertain", "unstable"]


@checks("The windows of a table are sorted")
def _windows() -> tuple[str, bool]:
    rng = np.random.default_rng(0)
    weeks = [f"week {i}" for i in (10, 9, 2)]
    table = pa.table({"w": np.repeat(weeks, 60), "x": rng.normal(size=180), "c": rng.integers(0, 2, 180)})
    windows = cg.drift(table, labels="c", window="w").windows
    return ", ".join(map(str, windows)), list(map(str, windows)) == ["week 2", "week 9", "week 10"]


@checks("`cg.permutation_test` permutes the points of such")
def _covers_permuted() -> tuple[str, bool]:
    rng = np.random.default_rng(0)
    covers = [cg.Cover((rng.random((30, 3)) < 0.4).astype(int)) for _ in range(3)]
    p = cg.permutation_test(cg.Ensemble(covers), rng.integers(0, 3, 30), "arimp", 99, random_state=0).p_value
    return f"p = {p:.2f} for unrelated labels", 0.01 <= p <= 1
