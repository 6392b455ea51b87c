"""How many clusters the agreement of runs finds in mixtures of three blobs: `python -m reproductions.soft_choice`.

`choose_k(criteria=["aci", "ndc", "fari"])` counts the votes of soft indices for runs of EM. Are its errors those of the indices,
or of the runs? The same runs are hardened and judged by ari, ami_max and nmi_sum; runs of k-means, and `choose_k` on the
data, are beside them.
"""

from __future__ import annotations

import argparse
import warnings
from collections import Counter
from collections.abc import Sequence

import numpy as np

import congruence as cg
from reproductions.rows import grid, paragraph

#: numbers of clusters, runs of each, points per blob, and centres four standard deviations apart
KS, RUNS, POINTS, CENTRES = range(2, 7), 10, 50, ((0, 0), (4, 0), (0, 4))
SOFT, HARD = ("aci", "ndc", "fari"), ("ari", "ami_max", "nmi_sum")
WAYS = (
    "EM, aci, ndc and fari", "EM, hardened, ari, ami_max and nmi_sum", "k-means, ari, ami_max and nmi_sum",
    "choose_k on the data",
)  # fmt: skip


def answers(seed: int) -> list[int | None]:
    """The number of clusters that each way finds in one set of three blobs."""
    rng = np.random.default_rng(seed)
    X = np.concatenate([rng.normal(centre, 1, size=(POINTS, 2)) for centre in CENTRES])
    soft = {k: cg.generate(X, RUNS, n_clusters=k, method="em", random_state=seed) for k in KS}
    hard = {k: cg.Ensemble([np.asarray(u.dense()).argmax(axis=1) for u in e.members]) for k, e in soft.items()}
    lloyd = {k: cg.generate(X, RUNS, n_clusters=k, random_state=seed) for k in KS}
    found: list[int | None] = [
        cg.choose_k(runs, criteria=list(criteria), random_state=0).k
        for runs, criteria in ((soft, SOFT), (hard, HARD), (lloyd, HARD))
    ]
    return [*found, cg.choose_k(X, KS, random_state=0).k]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=10, help="number of sets")
    sets = parser.parse_args(arguments).sets
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # mixtures that did not converge are still clusterings
        found = [answers(seed) for seed in range(sets)]
    print(
        paragraph(f"""{sets} sets of {len(CENTRES) * POINTS} points in three blobs, k = {KS[0]} to {KS[-1]}, {RUNS} runs
        for each k. EM has one start of random points per run. The criteria that agree most decide.""")
    )
    rows = []
    for way, own in zip(WAYS, zip(*found, strict=True), strict=True):
        counts = Counter("none" if k is None else str(k) for k in own)
        rows.append([way, f"{counts['3']} of {sets}", ", ".join(f"{k}: {m}" for k, m in sorted(counts.items()))])
    print(grid(["", "right", "answers"], rows, left=1))


if __name__ == "__main__":
    main()
