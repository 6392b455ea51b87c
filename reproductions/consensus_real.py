"""Consensus functions on published ensembles: clusterings of real and benchmark data by many algorithms, with a
reference. Run `python -m reproductions.consensus_real`; `--jobs` uses several processes, `--keep FILE` can be resumed.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import congruence as cg
from congruence.consensus_clustering.evidence import evidence
from congruence.consensus_clustering.method_names import METHODS
from congruence.consensus_clustering.search import AUTO
from congruence.errors import InputError
from reproductions import datasets
from reproductions.resuming import parser_of, results
from reproductions.rows import Claim, claims_text, grid, heading, paragraph


@dataclass(frozen=True)
class Source:
    """A file of clusterings, which of its columns is the reference, and the label of its noise."""

    title: str
    file: str
    what: str
    reference: str = "reference0"
    noise: int | None = None
    large: bool = False


SETS = (
    Source("cassini", "cassini_kmeans_ensemble", "50 runs of k-means on the Cassini shape"),
    Source("wine", "uci_wine", "many algorithms, k = 3"),
    Source("wine, all k", "uci_wine_allk", "many algorithms, k = 2..16"),
    Source("ionosphere", "uci_ionosphere", "many algorithms, k = 2"),
    Source("glass", "uci_glass", "many algorithms, k = 6"),
    Source("x2", "wut_x2", "many algorithms, k = 3, 4"),
    Source("compound", "sipu_compound", "many algorithms, k = 4, 5, 6"),
    Source("fuzzyx", "graves_fuzzyx", "many algorithms, k = 2, 4, 5"),
    Source("NBA", "nba_players", "k-means, k = 1..5", reference="reference_position"),
    Source("yeast", "uci_yeast", "many algorithms, k = 10", large=True),
    Source("engytime", "fcps_engytime", "many algorithms, k = 2", large=True),
    Source("1000 genomes", "soft_1kg_admixture", "ADMIXTURE: memberships, k = 2..9", "reference_superpop", large=True),
    Source("D31", "sipu_d31", "many algorithms, k = 31", large=True),
    Source("chameleon", "other_chameleon_t4_8k", "many algorithms, k = 6", noise=0, large=True),
    Source("MNIST", "mnist_digits", "many algorithms, k = 10", large=True),
    Source("birch1", "sipu_birch1", "many algorithms, k = 100", large=True),
)


#: the methods of which the highest ARImp used to be kept
BY_ARIMP = ("hbgf", "ncut", "kcc", "voting", "mcla", "average")


@dataclass(eq=False)
class Outcome:
    """What each method gave on one ensemble: ARI with the reference, ARImp with the members, seconds, or why not."""

    source: Source
    points: int
    members: int
    signatures: int
    classes: int
    #: points of the reference that are not noise
    compared: int
    #: ARI of each member, and of those with as many clusters as there are classes
    single: np.ndarray
    right_k: np.ndarray
    ari: dict[str, float] = field(default_factory=dict)
    arimp: dict[str, float] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    clusters: dict[str, int] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    #: the method that auto kept
    kept: str = "-"

    def by_arimp(self, among: Sequence[str] = tuple(METHODS)) -> str:
        """The method with the highest ARImp."""
        return max((m for m in among if m in self.arimp), key=lambda m: self.arimp[m])


def path_of(source: Source) -> Path | None:
    """The file of a set, if one of the data folders has it."""
    for folder in datasets.folders():
        path = folder / "clusterings" / f"{source.file}.csv.gz"
        if path.is_file():
            return path
    return None


def load(source: Source) -> tuple[cg.Ensemble, np.ndarray]:
    """The ensemble, members of every number of clusters in it, and the reference."""
    import pandas as pd

    path = path_of(source)
    if path is None:
        looked = " or ".join(str(folder / "clusterings") for folder in datasets.folders())
        raise datasets.DataMissing(
            f"{source.file}.csv.gz is not in {looked}; set CONGRUENCE_DATA to the folder that has it"
        )
    frame = pd.read_csv(path, keep_default_na=False)
    truth = frame[source.reference].to_numpy()
    columns = [c for c in frame.columns if not c.startswith("reference") and c != "id"]
    if not source.file.startswith("soft_"):
        return cg.Ensemble({c: frame[c].to_numpy() for c in columns}), truth
    members: dict[str, list[Any]] = {}
    for c in columns:
        members.setdefault(c.rpartition(":")[0], []).append(frame[c].to_numpy(dtype=float))
    return cg.Ensemble({name: np.column_stack(parts) for name, parts in members.items()}), truth


def outcome(source: Source, seed: int = 0, methods: Sequence[str] = (*METHODS, "auto")) -> Outcome:
    """Every consensus function on one ensemble, into as many clusters as the reference has."""
    members, truth = load(source)
    known = np.ones(len(truth), bool) if source.noise is None else truth != source.noise
    classes = len(np.unique(truth[known]))
    hard = [np.asarray(c.dense()).argmax(axis=1) if c.soft else c.codes for c in members.members]
    single = np.array([cg.ari(codes[known], truth[known]) for codes in hard])
    right = np.array([c.k == classes for c in members.members])
    votes = evidence(members)
    found = Outcome(
        source, members.n_points, len(members), votes.n_rows, classes, int(known.sum()), single, single[right]
    )
    for method in methods:
        try:
            started = time.perf_counter()
            r = cg.consensus(members, classes, method, seed, progress=False)
            found.seconds[method] = time.perf_counter() - started
        except InputError as problem:
            found.refused[method] = str(problem)
            continue
        found.ari[method] = cg.ari(r.labels[known], truth[known])
        found.arimp[method] = r["arimp"]
        found.clusters[method] = r.n_clusters
        if method == "auto":
            found.kept = r.method
    return found


def work(item: tuple[str, int]) -> dict[str, Any]:
    """The outcome of one ensemble, by its file, as plain values."""
    found = vars(outcome(next(s for s in SETS if s.file == item[0]), item[1]))
    return found | {key: found[key].tolist() for key in ("single", "right_k")} | {"source": item[0]}


def as_outcome(found: dict[str, Any]) -> Outcome:
    """The outcome of plain values."""
    source = next(s for s in SETS if s.file == found["source"])
    return Outcome(**found | {key: np.array(found[key]) for key in ("single", "right_k")} | {"source": source})


# --- tables -----------------------------------------------------------------------------------------------------


def show(outcomes: Sequence[Outcome], values: str, digits: int = 3) -> str:
    """One line per set, one column per method; 'limit' where it refused, a star where it gave fewer clusters than asked."""
    lines = []
    for o in outcomes:
        cells = []
        for m in METHODS:
            star = "*" if o.clusters.get(m, o.classes) < o.classes else ""
            cells.append(
                f"{getattr(o, values)[m]:.{digits}f}{star}" if m in o.ari else ("limit" if m in o.refused else "-")
            )
        end = []
        if values == "ari":
            right = f"{np.median(o.right_k):.3f}" if len(o.right_k) else "-"
            end = [f"{o.ari['auto']:.3f} {o.kept}" if "auto" in o.ari else "-", f"{np.median(o.single):.3f}", right,
                   f"{o.single.max():.3f}"]  # fmt: skip
        lines.append([o.source.title, *cells, *end])
    last = ["auto", "median", "median, right k", "best member"] if values == "ari" else []
    return grid(["", *METHODS, *last], lines)


def show_sets(outcomes: Sequence[Outcome]) -> str:
    """What the ensembles are."""
    lines = [
        [o.source.title, o.source.what, f"{o.points:,}", str(o.members), f"{o.signatures:,}", str(o.classes),
         f"{o.compared:,}"]
        for o in outcomes
    ]  # fmt: skip
    return grid(["", "members", "points", "members", "kinds", "classes", "points in ARI"], lines, left=2)


def claims(outcomes: Sequence[Outcome]) -> list[Claim]:
    """Expectations of a consensus, over all sets."""

    def share(better: Sequence[bool]) -> str:
        return f"{sum(better)} of {len(better)}"

    lines = []
    above: dict[str, list[bool]] = {
        m: [o.ari[m] > np.median(o.single) for o in outcomes if m in o.ari] for m in METHODS
    }
    autos = [o.ari["auto"] for o in outcomes]
    medians, bests = [float(np.median(o.single)) for o in outcomes], [float(o.single.max()) for o in outcomes]
    means = [float(np.mean([o.ari[m] for m in AUTO if m in o.ari])) for o in outcomes]
    by_arimp = [o.ari[o.by_arimp(BY_ARIMP)] for o in outcomes]
    lines.append(
        Claim.of("a consensus is better than the median member (ours: auto, on more than half of the sets)",
                 sum(a > b for a, b in zip(autos, medians, strict=True)) > len(outcomes) / 2,
                 f"auto on {share([a > b for a, b in zip(autos, medians, strict=True)])}; "
                 + ", ".join(f"{m} {share(v)}" for m, v in above.items() if v))
    )  # fmt: skip
    lines.append(
        Claim.of("a consensus is better than every member (ours: auto, on any set)",
                 any(a > b for a, b in zip(autos, bests, strict=True)),
                 f"auto on {share([a > b for a, b in zip(autos, bests, strict=True)])}; on average it has "
                 f"{np.mean(autos):.3f}, the median member {np.mean(medians):.3f}, the best {np.mean(bests):.3f}, which "
                 "nobody knows without the reference")
    )  # fmt: skip
    lines.append(
        Claim.of("auto is a better choice than one of its methods taken blindly (ours: on more than half of the sets)",
                 sum(a > b for a, b in zip(autos, means, strict=True)) > len(outcomes) / 2,
                 f"above the mean of the methods tried on {share([a > b for a, b in zip(autos, means, strict=True)])}; on "
                 f"average {np.mean(autos):.3f} against {np.mean(means):.3f}; the highest ARImp of {', '.join(BY_ARIMP)} "
                 f"has {np.mean(by_arimp):.3f}")
    )  # fmt: skip
    return lines


def main(argv: Sequence[str] | None = None) -> int:
    """Print the tables."""
    parser = parser_of("consensus_real", __doc__)
    parser.add_argument("--quick", action="store_true", help="only the small ensembles")
    parser.add_argument("--sets", nargs="+", metavar="FILE", help=f"of {', '.join(s.file for s in SETS)}")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args(argv)
    chosen = [s for s in SETS if not (args.quick and s.large)]
    if args.sets is not None:
        known = {s.file: s for s in SETS} | {s.title.lower(): s for s in SETS}
        if any(name.lower() not in known for name in args.sets):
            parser.error(f"--sets: the ensembles are {', '.join(s.file for s in SETS)}")
        chosen = [known[name.lower()] for name in args.sets]
    for source in [s for s in chosen if path_of(s) is None]:
        print(f"{source.title} is left out: {source.file}.csv.gz is missing; set CONGRUENCE_DATA", file=sys.stderr)
    items = [(s.file, args.seed) for s in chosen if path_of(s) is not None]
    done = {
        found["source"]: as_outcome(found)
        for found in results(work, items[::-1], args, lambda item: f"{item[0]}/{item[1]}")
    }
    outcomes = [done[file] for file, _ in items if file in done]
    if not outcomes:
        return 1
    print(paragraph("""Ensembles of clusterings that others made, and consensus functions into as many clusters as the reference
        has. Members with another number of clusters, with one cluster or with nearly all points in one are kept: nobody would
        know them without the reference. 'kinds': points that no member tells apart are one kind."""))  # fmt: skip
    print()
    print(show_sets(outcomes))
    print(heading("ARI with the reference"))
    print(paragraph("""auto: method="auto", and the method it kept. Median and best of the
        single members (memberships: the largest). 'median, right k': of the members with as many clusters as the reference.
        limit: the method refuses so many points, see below; *: fewer clusters came out than were asked for."""))  # fmt: skip
    print()
    print(show(outcomes, "ari"))
    print(heading("ARImp with the members"))
    print(show(outcomes, "arimp"))
    print(heading("Seconds"))
    print(show(outcomes, "seconds", 2))
    refused = {f"{o.source.title}: {text}" for o in outcomes for text in o.refused.values()}
    if refused:
        print(heading("Limits"))
        for text in sorted(refused):
            print(paragraph(text))
    print(heading("Expectations of a consensus"))
    print(claims_text(claims(outcomes)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
