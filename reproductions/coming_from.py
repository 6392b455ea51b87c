"""The calls of docs/coming_from.md, run: values of other packages next to ours, and why some differ.

`python -m reproductions.coming_from` reads the values that `reproductions/coming_from.R` printed (kept in
docs/reproductions/coming_from_r.txt); `--run` runs that script again first, if Rscript is installed. The values of
clustree were printed by `reproductions/clustree.R`. scanpy is compared if it is installed.
"""

from __future__ import annotations

import argparse
import importlib.util
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import congruence as cg
from reproductions.rows import grid, heading, paragraph

HERE = Path(__file__).parent
KEPT = HERE.parent / "docs" / "reproductions" / "coming_from_r.txt"
KEPT_TREE = KEPT.with_name("clustree_r.txt")
A, B = [1, 2, 2, 2, 3, 3, 2, 2], [1, 1, 2, 2, 3, 3, 4, 4]
C, D = [2, 2, 1, 2, 2, 2, 1, 1, 2, 2, 2, 1], [5, 2, 5, 4, 5, 5, 5, 1, 1, 2, 1, 4]
PAIRS = {
    "a, b": (A, B),
    "b, a": (B, A),
    "c, d": (C, D),
    "singletons": ([1, 2, 3, 4],) * 2,
    "one cluster": ([1] * 4,) * 2,
}
SOFT = np.array([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.1, 0.9]])
RUNS = [
    [1, 1, 1, 2, 2, 2, 3, 3, 3],
    [1, 1, 2, 2, 2, 2, 3, 3, 3],
    [1, 1, 1, 2, 2, 3, 3, 3, 1],
    [1, 1, 1, 2, 2, 2, 3, 3, 2],
]
#: R's call of two clusterings, and ours
CALLS: dict[str, Callable[[Any, Any], float]] = {
    'cl_agreement({}, "Rand")': cg.rand,
    'cl_agreement({}, "cRand")': cg.ari,
    'cl_agreement({}, "NMI")': cg.nmi_sqrt,
    'cl_agreement({}, "diag")': cg.accuracy,
    'cl_agreement({}, "FM")': cg.wallace,
    'cl_agreement({}, "Jaccard")': cg.jaccard,
    'cl_agreement({}, "purity")': lambda x, y: cg.purity(y, x),
    'cl_dissimilarity({}, "symdiff")': lambda x, y: cg.mirkin(x, y) / 2,
    'cl_dissimilarity({}, "Rand")': lambda x, y: 1 - cg.rand(x, y),
    'cl_dissimilarity({}, "BA/A")': lambda x, y: len(x) * cg.clustering_error(x, y),
    'cl_dissimilarity({}, "BA/E")': cg.nvi,
    'cl_dissimilarity({}, "VI")': cg.vi,
    "adjustedRandIndex({})": cg.ari,
    "classError({})$errorRate": lambda x, y: 1 - min(cg.purity(x, y), cg.purity(y, x)),
}
#: how far two Monte Carlo estimates of a stability may differ
MONTE_CARLO = 0.03
SAME, DIFFERS, CLOSE = "same", "differs", "close"


@dataclass(frozen=True)
class Line:
    """One call: the other package's values (or its error), ours, and why they differ if they do."""

    package: str
    call: str
    theirs: str
    ours: tuple[float, ...]
    why: str = ""

    @property
    def verdict(self) -> str:
        """Same to nine digits; close, for random resamples; or different."""
        try:
            theirs = np.array([float(x) for x in self.theirs.split()])
        except ValueError:
            return DIFFERS
        if theirs.shape != np.shape(self.ours):
            return DIFFERS
        gap = np.abs(theirs - np.array(self.ours))
        if np.all(gap <= 1e-9 * np.maximum(1, np.abs(theirs))):
            return SAME
        return CLOSE if "clusterboot" in self.call and np.all(gap <= MONTE_CARLO) else DIFFERS


def read(path: Path = KEPT) -> tuple[list[str], list[tuple[str, str, str]]]:
    """The versions, and the (package, call, value) triples that coming_from.R printed."""
    lines = path.read_text(encoding="utf-8").splitlines()
    triples = [tuple(line.split("\t")) for line in lines if line.count("\t") == 2]
    return [line.strip() for line in lines if "\t" not in line], triples  # type: ignore[return-value]


def both() -> tuple[list[str], list[tuple[str, str, str]]]:
    """The versions and triples of both R scripts."""
    (versions, triples), (others, tree) = read(), read(KEPT_TREE)
    return [*versions, *(x for x in others if x not in versions)], [*triples, *tree]


def pair_lines(values: dict[tuple[str, str], str]) -> list[Line]:
    """Measures of two hard clusterings."""
    found = []
    for call, ours in CALLS.items():
        package = "clue" if call.startswith("cl_") else "mclust"
        for name, (x, y) in PAIRS.items():
            theirs = values[package, call.format(name)]
            why = "0/0: identical clusterings get the best value here" if theirs == "NaN" else ""
            found.append(Line(package, call.format(name), theirs, (ours(x, y),), why))
    return found


def soft_lines(values: dict[tuple[str, str], str]) -> list[Line]:
    """Measures of a hard and a soft clustering."""
    refuses, hardens = "clue refuses soft partitions", "clue takes the largest membership of each point first"
    keys = {"Rand": ("rand", hardens), "cRand": ("ari_gram", refuses), "NMI": ("nmi_sqrt", refuses)}
    keys |= {"Jaccard": ("jaccard", hardens), "diag": ("accuracy", "")}
    hard = [1, 1, 2, 2]
    lines = []
    for method, (key, why) in keys.items():
        call = f'cl_agreement(hard, soft, "{method}")'
        lines.append(Line("clue", call, values["clue", call], (cg.compare(hard, SOFT, key)[key],), why))
    call = 'cl_dissimilarity(hard, soft, "VI")'
    return [*lines, Line("clue", call, values["clue", call], (cg.vi(hard, SOFT),))]


def ensemble_lines(values: dict[tuple[str, str], str]) -> list[Line]:
    """An ensemble: all pairs, the consensus and the medoid, the latter two as their agreement with clue's labels."""
    ari = cg.compare_all(RUNS)["ari"]
    lines = []
    for i in (0, 2):
        call = f'cl_agreement(ensemble, method = "cRand")[{i + 1}, ]'
        lines.append(Line("clue", call, values["clue", call], tuple(ari[i].tolist())))
    e = cg.Ensemble(RUNS)
    medoid = RUNS[e.names.index(next(iter(cg.member_agreement(e, "vi"))))]
    for call, ours in (
        ("cl_class_ids(cl_consensus(ensemble))", cg.consensus(e, 3, random_state=0).labels.tolist()),
        ("cl_class_ids(cl_medoid(ensemble))", medoid),
    ):
        theirs = [int(x) for x in values["clue", call].split()]
        lines.append(Line("clue", call, values["clue", call], tuple(map(float, cg.relabel(theirs, ours))), ""))
    return lines


def iris_lines(values: dict[tuple[str, str], str]) -> list[Line]:
    """fpc on the iris data."""
    from scipy.cluster.hierarchy import fcluster, linkage
    from sklearn.cluster import KMeans
    from sklearn.datasets import load_iris
    from sklearn.metrics import silhouette_score

    X, species = load_iris(return_X_y=True)
    cut = fcluster(linkage(X, "average"), 3, "maxclust")
    theirs = list(map(int, values["fpc", 'cutree(hclust(dist(X), "average"), 3)']))
    ours = {
        "corrected.rand": cg.ari(cut, species),
        "vi": cg.vi(cut, species),
        "dunn": cg.dunn(X, cut, inter=1, intra=1),
        "dunn2": cg.dunn(X, cut, inter=3, intra=2),
        "avg.silwidth": float(silhouette_score(X, cut)),
    }
    if cg.ari(cut, theirs) != 1:
        raise AssertionError("scipy and R cut the tree of iris differently")
    calls = {f"cluster.stats(d, cut3, species)${field}": value for field, value in ours.items()}
    lines = [Line("fpc", call, values["fpc", call], (value,)) for call, value in calls.items()]
    s = cg.stability(X, KMeans(3, n_init=10), n_resamples=400, random_state=1)
    sizes = {c: int((s.labels == c).sum()) for c in s.clusters}
    order = sorted(sizes, key=lambda c: sizes[c])
    call = "clusterboot(X, B = 400, kmeansCBI, k = 3)$bootmean"
    why = f"two random sets of 400 bootstrap samples: within {MONTE_CARLO}"
    return [*lines, Line("fpc", call, values["fpc", call], tuple(s.mean[c] for c in order), why)]


def plus_lines(triples: list[tuple[str, str, str]]) -> list[Line]:
    """ConsensusClusterPlus: consensus matrices, items, clusters and areas of the resamples that it clustered."""
    package = "ConsensusClusterPlus"
    values = {(p, call): value for p, call, value in triples}
    pooled = "a pair counts here as often as it was drawn together, there once"
    lines, areas, ensembles = [], [], {}
    for k in (2, 3, 4):
        rows = [v for p, call, v in triples if p == package and call == f"labels of a resample, k = {k}"]
        members = [[None if x == "." else int(x) for x in row] for row in rows]
        e = ensembles[k] = cg.Ensemble(members, unassigned="partial")
        matrix = e.consensus_matrix()
        call = f"[[{k}]]$consensusMatrix[1, ]"
        lines.append(Line(package, call, values[package, call], tuple(matrix[0].tolist())))
        call = f"[[{k}]]$consensusClass"
        labels = np.array(list(map(int, values[package, call])))
        found = cg.relabel(labels, cg.consensus(e, k, "average").labels)
        lines.append(Line(package, call, " ".join(map(str, labels)), tuple(map(float, found))))
        means = [matrix[np.ix_(labels == c, labels == c)] for c in np.unique(labels)]
        call = f"calcICL()$clusterConsensus, k = {k}"
        ours = tuple(e.cluster_consensus(labels).values())
        lines.append(Line(package, call, values[package, call], ours, pooled))
        ours = tuple(float(m[np.triu_indices(len(m), 1)].mean()) for m in means)
        lines.append(Line(package, f"{call}, from our matrix", values[package, call], ours))
        call = f"calcICL()$itemConsensus, k = {k}, item 1"
        lines.append(Line(package, call, values[package, call], tuple(e.item_consensus(labels)[0].tolist()), pooled))
        areas.append(e.cdf().area)
    why = "exact area under the step function here, a sum over 100 bars there"
    call = "area under the CDF, k = 2, 3, 4"
    lines.append(Line(package, call, values[package, call], tuple(areas), why))
    call = "delta area, k = 2, 3, 4"
    lines.append(Line(package, call, values[package, call], tuple(cg.delta_area(ensembles).values()), why))
    return lines


def tree_lines(values: dict[tuple[str, str], str]) -> list[Line]:
    """clustree: nodes and edges of the tree of six k-means clusterings of iris."""
    from sklearn.datasets import load_iris

    columns = {f"K{k}": list(map(int, values["clustree", f"K{k}"].split())) for k in range(1, 7)}
    r, widths = cg.resolutions(columns), load_iris().data[:, 3]
    nodes, edges = r.nodes, r.edges[r.edges["in_prop"] >= 0.1]
    edges = edges.sort_values(["from_column", "to_cluster", "from_cluster"], kind="stable")
    named = list(zip(nodes["column"], nodes["cluster"].astype(int), strict=True))
    ours: dict[str, list[float]] = {
        "nodes: size": nodes["size"].tolist(),
        "nodes: sc3_stability": nodes["stability"].tolist(),
        "nodes: mean_width": [widths[np.array(columns[x]) == cluster].mean() for x, cluster in named],
        "edges: from_res": [int(x.removeprefix("K")) for x in edges["from_column"]],
        "edges: from_clust": edges["from_cluster"].astype(int).tolist(),
        "edges: to_clust": edges["to_cluster"].astype(int).tolist(),
        "edges: count": edges["count"].tolist(),
        "edges: in_prop": edges["in_prop"].tolist(),
    }
    return [Line("clustree", call, values["clustree", call], tuple(found)) for call, found in ours.items()]


def lines_of(triples: list[tuple[str, str, str]]) -> list[Line]:
    """Every call of R, next to ours."""
    values = {(package, call): value for package, call, value in triples}
    return [
        *pair_lines(values),
        *soft_lines(values),
        *ensemble_lines(values),
        *iris_lines(values),
        *plus_lines(triples),
        *tree_lines(values),
    ]


def shown(numbers: str) -> str:
    """Numbers with five digits, three of them at most."""
    cells = numbers.split()
    try:
        cells = [f"{float(x):.5g}" for x in cells]
    except ValueError:
        return numbers
    return " ".join(cells[:3]) + (" …" if len(cells) > 3 else "")


def text_of(lines: list[Line]) -> str:
    """The calls as a table."""
    rows = [
        (
            line.package,
            line.call,
            shown(line.theirs),
            shown(" ".join(f"{x:.10g}" for x in line.ours)),
            line.verdict,
            line.why,
        )
        for line in lines
    ]
    return grid(("package", "call", "theirs", "ours", "", ""), rows, left=6)


def scanpy_text() -> str:
    """scanpy's Leiden clusterings at several resolutions, compared in one pass, and its confusion matrix."""
    import scanpy as sc

    adata = sc.datasets.blobs(n_variables=10, n_centers=5, cluster_std=6.0, n_observations=400, random_state=0)
    sc.pp.neighbors(adata, use_rep="X", random_state=0)
    resolutions = (0.2, 1.0, 2.0)
    for r in resolutions:
        sc.tl.leiden(
            adata,
            resolution=r,
            key_added=f"leiden_{r}",
            flavor="igraph",
            n_iterations=2,
            directed=False,
            random_state=0,
        )
    columns = [f"leiden_{r}" for r in resolutions]
    pairs = cg.compare_all(adata.obs[[*columns, "blobs"]], ["ari"])
    theirs = sc.metrics.confusion_matrix("blobs", columns[1], adata.obs, normalize=False).to_numpy()
    ours = cg.contingency(adata.obs["blobs"], adata.obs[columns[1]]).to_array()
    from sklearn.metrics import adjusted_rand_score

    loop = [adjusted_rand_score(adata.obs["blobs"], adata.obs[column]) for column in columns]
    once = cg.compare_to("blobs", adata.obs[[*columns, "blobs"]], "ari")["ari"]
    return "\n".join(
        [
            f"scanpy {sc.__version__}, blobs of 400 observations, Leiden at resolutions {', '.join(map(str, resolutions))}",
            "",
            str(pairs),
            "",
            f"sc.metrics.confusion_matrix and cg.contingency hold the same counts: {bool((theirs == ours).all())}",
            f"adjusted_rand_score and cg.compare_to agree to 1e-12: {np.allclose(loop, once, rtol=1e-12)}",
        ]
    )


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Values of other packages next to ours.")
    parser.add_argument("--run", action="store_true", help="run coming_from.R again first")
    args = parser.parse_args(words)
    if args.run:
        if shutil.which("Rscript") is None:
            print("Rscript is not installed: apt-get install r-base-core r-cran-clue r-cran-mclust r-cran-fpc "
                  "r-bioc-consensusclusterplus", file=sys.stderr)  # fmt: skip
            return 2
        done = subprocess.run(["Rscript", str(HERE / "coming_from.R")], capture_output=True, text=True, check=True)
        KEPT.write_text(done.stdout, encoding="utf-8")
    versions, triples = both()
    lines = lines_of(triples)
    print("python -m reproductions.coming_from\n")
    print(paragraph(f"{'; '.join(versions)}. The R values are printed by reproductions/coming_from.R and clustree.R."))
    print(heading("R packages"))
    print(text_of(lines))
    counts = {verdict: sum(line.verdict == verdict for line in lines) for verdict in (SAME, CLOSE, DIFFERS)}
    print(
        f"\n{len(lines)} calls: {counts[SAME]} the same to nine digits, {counts[CLOSE]} close, {counts[DIFFERS]} different"
    )
    if importlib.util.find_spec("scanpy") is not None:
        print(heading("scanpy"))
        print(scanpy_text())
    return 0


if __name__ == "__main__":
    sys.exit(main())
