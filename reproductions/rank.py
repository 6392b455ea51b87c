"""What `cg.rank` is worth: ARI with the classes of the clustering it picks, beside that of the median member and of other
simple rules, on generated and real collections, DEV and TEST apart. Run `python -m reproductions.rank`; `--jobs` uses several
processes, `--keep FILE` can be resumed.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

import congruence as cg
from reproductions.collections_of_clusterings import Collection, collections, seed
from reproductions.consensus_quality import interval
from reproductions.resuming import by_half, outcomes_of, parser_of
from reproductions.rows import Claim, claims_text, grid, heading, paragraph, signed

#: draws of generated data: one of DEV, one of TEST; of those, every third collection
DRAWS, EVERY = (0, 4), 3
#: collections with fewer members are too small for "never worse than the median member"
MANY = 10
#: the rules, as they are called in the table; the first is the baseline
RULES = {
    "median": "median member",
    "silhouette": "largest silhouette",
    "agreement": "agrees most with the others",
    "nearest": "nearest to the consensus",
    "rank": "rank",
    "with_k": "rank, n_clusters = the classes",
    "with_x": "rank with the data",
    "consensus": "the consensus itself",
    "best": "best member (unknowable)",
}


@cache
def _collections() -> dict[str, Collection]:
    found = {f"{c.name}, {c.members}": c for c in collections(DRAWS)}
    made = [key for key, c in found.items() if c.source == "generated"]
    left_out = {key for i, key in enumerate(made) if i % EVERY}
    return {key: c for key, c in found.items() if key not in left_out}


def work(key: str) -> dict[str, Any]:
    """The outcome of one collection, by its name."""
    return outcome(_collections()[key])


def outcome(c: Collection) -> dict[str, Any]:
    """ARI with the classes of the member that each rule picks; a refusal counts as the median member."""
    members, truth = c.make()
    known = truth != -1 if truth.dtype.kind in "iu" else np.ones(len(truth), bool)
    hard = [np.asarray(m.dense()).argmax(axis=1) if m.soft else m.codes for m in members.members]
    scores = {name: cg.ari(codes[known], truth[known]) for name, codes in zip(members.names, hard, strict=True)}
    median = float(np.median(list(scores.values())))

    def of(r: cg.Ranking) -> float:
        return median if r.best is None else float(scores[r.best])

    started = time.perf_counter()
    plain = cg.rank(members, progress=False)
    seconds = time.perf_counter() - started
    classes = len(np.unique(truth[known]))
    X = None if c.data is None else c.data()
    assert plain.consensus is not None
    ari = {
        "median": median,
        "best": max(scores.values()),
        "agreement": scores[next(iter(cg.member_agreement(members)))],
        "nearest": _nearest(members, plain, scores),
        "rank": of(plain),
        "with_k": of(cg.rank(members, n_clusters=classes, progress=False)),
        "consensus": cg.ari(plain.consensus.labels[known], truth[known]),
    }
    if X is not None:
        ari["with_x"] = of(cg.rank(members, X, progress=False))
        ari["silhouette"] = scores[members.names[int(np.argmax([_silhouette(X, codes) for codes in hard]))]]
    rng = seed(f"unrelated {c.name} {c.members}")
    nothing = cg.Ensemble([rng.permutation(codes) for codes in hard[:MANY]])
    equal = [scores[name] for name in plain.equal]
    return {
        "name": c.name, "members": c.members, "source": c.source, "half": c.half, "n_members": len(hard), "ari": ari,
        "is_refused": plain.best is None, "is_refused_of_unrelated": cg.rank(nothing, progress=False).best is None,
        "equal": len(equal), "best_equal": max(equal, default=median), "seconds": seconds,
    }  # fmt: skip


def _nearest(members: cg.Ensemble, r: cg.Ranking, scores: dict[str, float]) -> float:
    """The score of the member nearest to the consensus, among those that count."""
    assert r.consensus is not None
    found = cg.compare_to(r.consensus.labels, members, ["ari"], unassigned="drop")["ari"]
    return scores[r.names[max(r.counting, key=lambda i: float(np.nan_to_num(found[i], nan=-2.0)))]]


def _silhouette(X: np.ndarray, labels: np.ndarray) -> float:
    from sklearn.metrics import silhouette_score

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return float(silhouette_score(X, labels)) if 1 < len(np.unique(labels)) < len(labels) else -1.0


def table(outcomes: Sequence[dict[str, Any]]) -> str:
    """One line per rule: mean ARI by half, and differences to the median member and to the one that agrees most."""
    lines = []
    for rule, title in RULES.items():
        ran = [o for o in outcomes if rule in o["ari"]]
        line = [title, str(len(ran))]
        for half in ("DEV", "TEST"):
            part = [o for o in ran if o["half"] == half]
            line.append(f"{np.mean([o['ari'][rule] for o in part]):.3f}" if part else "-")
        for half in ("DEV", "TEST"):
            part = [o for o in ran if o["half"] == half]
            line.append(signed(difference(part, rule, "median")) if part and rule != "median" else "")
        simplest = difference(ran, rule, "agreement") if ran else None
        line.append(signed(simplest) if simplest and rule not in ("median", "agreement") else "")
        lines.append(line)
    return grid(["", "n", "DEV", "TEST", "− median, DEV", "− median, TEST", "− agrees most, all"], lines)


def difference(outcomes: Sequence[dict[str, Any]], a: str, b: str) -> tuple[float, float, float]:
    """Mean difference of ARI of two rules, with its 95 % interval over sets of data."""
    return interval([o["ari"][a] - o["ari"][b] for o in outcomes], [o["name"] for o in outcomes])


def worse(outcomes: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Real collections of more than MANY members where the pick is worse than the median member."""
    real = [o for o in outcomes if o["source"] != "generated" and o["n_members"] > MANY]
    return sorted(
        (o for o in real if o["ari"]["rank"] < o["ari"]["median"] - 1e-9),
        key=lambda o: o["ari"]["rank"] - o["ari"]["median"],
    )


def claims(outcomes: Sequence[dict[str, Any]]) -> list[Claim]:
    """What the documentation says of rank."""
    found = []
    for half, part in by_half(outcomes):
        gain = difference(part, "rank", "median")
        found.append(Claim.of(f"{half}: the pick is better than the median member", gain[1] > 0, signed(gain)))
    others = [o for o in outcomes if o["source"] != "generated"]
    for what, part in (*by_half(outcomes), ("real data and others' clusterings", others)):
        if part:
            gain = difference(part, "rank", "agreement")
            text = f"{what}: the pick is on average at least as good as the member that agrees most with the others"
            found.append(Claim.of(text, gain[0] >= 0, signed(gain)))
    real = [o for o in outcomes if o["source"] != "generated" and o["n_members"] > MANY]
    below = worse(outcomes)
    listed = ", ".join(
        f"{o['name']}, {o['members']} ({o['ari']['rank']:.3f}, median {o['ari']['median']:.3f})" for o in below
    )
    found.append(
        Claim.of(f"never worse than the median member of a real collection of more than {MANY} members", not below,
                 f"worse on {len(below)} of {len(real)}: {listed}" if below else f"{len(real)} collections")
    )  # fmt: skip
    refused = sum(o["is_refused_of_unrelated"] for o in outcomes)
    found.append(
        Claim.of("unrelated clusterings (labels permuted) get no recommendation, in at least 95 % of the collections",
                 refused >= 0.95 * len(outcomes), f"refused {refused} of {len(outcomes)}; of the collections themselves "
                 f"{sum(o['is_refused'] for o in outcomes)}")
    )  # fmt: skip
    return found


def main(argv: Sequence[str] | None = None) -> int:
    """Print the tables."""
    parser = parser_of("rank", __doc__, "collections")
    outcomes, many = outcomes_of(work, lambda args: list(_collections()), parser, argv)
    if not outcomes:
        return 1
    print(paragraph(f"""ARI with the classes of the clustering that each rule picks, in {len(outcomes)} of {many}
        collections of clusterings. DEV and TEST are different sets of data. Intervals: bootstrap over sets of data. Where rank
        makes no recommendation, the median member counts. The data are unknown for clusterings made by others."""))  # fmt: skip
    print()
    print(table(outcomes))
    for source in dict.fromkeys(o["source"] for o in outcomes):
        print(heading(source))
        print(table([o for o in outcomes if o["source"] == source]))
    equal = [o for o in outcomes if not o["is_refused"]]
    if equal:
        print(f"\nClusterings that cannot be told from the pick, with it: median {np.median([o['equal'] for o in equal]):.0f}; "
              f"the best of them has a mean ARI of {np.mean([o['best_equal'] for o in equal]):.3f}, the pick "
              f"{np.mean([o['ari']['rank'] for o in equal]):.3f}.")  # fmt: skip
    print(f"Seconds per call: median {np.median([o['seconds'] for o in outcomes]):.2f}, most "
          f"{max(o['seconds'] for o in outcomes):.1f}.")  # fmt: skip
    print(heading("What the documentation says"))
    print(claims_text(claims(outcomes)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
