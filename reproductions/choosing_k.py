"""How often each method to choose k is right, on data with a known number of clusters: `python -m reproductions.choosing_k`.

Sets are drawn from the families of `cluster_shapes` and split in two by a hash of their names. The weights of `choose_k`
are fitted on DEV by conditional logit (`--fit` writes them), and both halves are reported, with scores where the family
of a set was left out of the fit; then the answers for the same cell lines in 5 to 50 principal components. `--real` adds the
classes of real data sets, `--foreign` scores other people's sets instead. `--sets` says how many sets per family,
`--no-peers` leaves the published criteria out, `--kept` takes the weights of the package. All 1,830 sets take three hours on
one core; `--peers 10 --m3c 3` and `--jobs 15` take eight minutes on 16 cores.
`--keep` keeps finished work, so that a run can be stopped.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize

import congruence
from congruence.selection import calibration, halves, shapes
from congruence.selection.calibrated import evidence, is_long
from congruence.selection.criteria import PEERS, Context
from congruence.selection.halves import Fits, fits_of
from congruence.selection.points import Points, prepare
from reproductions import cluster_shapes, datasets, foreign_sets
from reproductions.cluster_scenarios import Drawn, cell_lines, is_test
from reproductions.resuming import finished

NAMES = ("one", "held", "icl", "fisher")
#: weight of data without clusters in the fit, to keep false alarms below 10 %
WEIGHT_OF_NULLS = 5.0
RIDGE = 0.01
#: classes that clustering has some chance of finding; standardised
REAL = ("iris", "wine", "breast_w_diagnostic", "breast_w_original", "new_thyroid", "glass", "vehicle", "ionosphere",
        "sonar", "pima", "haberman", "heart_statlog", "synthetic_control", "bupa")  # fmt: skip
#: m3c, which is slow, is run on other people's sets of up to this many points
FEW = 200
SILHOUETTE = PEERS["silhouette"]
GROUPS = ("compact", "suite", "curved", "null")
#: numbers of principal components in which the same cell lines are embedded
COLUMNS = ("5", "10", "15", "20", "30", "50")


@dataclass
class Set:
    """The results for one data set."""

    name: str
    seed: int
    group: str
    k: int
    ks: list[int]
    #: one row per k: the features of the probabilities
    features: dict[str, list[float]]
    rule: int
    #: agreement of the partition of each k with the truth
    ari: list[float]
    #: connected groups, those relative to the local density, spectral and overlapping clusters, and two along an axis: how many
    #: (0: none), and their agreement with the truth
    shapes: dict[str, tuple[int, float]]
    #: for which k k-means cuts connected groups and spectral clusters, if it is sure of its answer and if it is in doubt
    cuts: dict[str, tuple[list[bool], list[bool]]]
    #: over which span of distances the groups are connected
    span: float
    #: the k of published criteria
    peers: dict[str, int | None] = field(default_factory=dict)

    @property
    def is_test(self) -> bool:
        """Whether it is in the half that is not used for the weights."""
        return is_test(self.name, self.seed)


def found(task: tuple[str, int]) -> dict[str, Any]:
    """One set as `choose_k` sees it."""
    return vars(looked_at(*task))


def asked(task: tuple[str, int], slowly: bool = False) -> dict[str, Any]:
    """The k of each published criterion for one set: of m3c, which takes as long as all others together, or of these."""
    X, _, k = drawn(*task)
    root, parts, fits = fits_up_to(X, k)
    context = Context(parts, fits, root)
    found = {key: peer.curve(context).best for key, peer in PEERS.items() if (key == "m3c") == slowly}
    return {"name": Path(task[0]).stem, "seed": task[1]} | found


def answered(task: tuple[str, int]) -> dict[str, Any]:
    """The answers of `choose_k` itself for one set."""
    X, _, k = drawn(*task)
    ks = range(1, most_clusters(X, k) + 1)
    found = {"choose_k": congruence.choose_k(X, ks, progress=False).k}
    found["choose_k, k_min=2"] = congruence.choose_k(X, ks, k_min=2, progress=False).k if len(ks) > 1 else None
    return {"name": Path(task[0]).stem, "seed": task[1], "k": k} | found


def drawn(name: str, seed: int) -> tuple[np.ndarray, np.ndarray | None, int]:
    """Points of a set, the cluster of each if it is known, and the number of clusters; real data are standardised."""
    if "/" in name:
        points, k = foreign_sets.load_one(Path(name))
        return points, None, k
    made = cluster_shapes.draw if name in cluster_shapes.families() else _standardised
    X, y = made(name, seed)
    return X, y, len(np.unique(y[y >= 0]))


def _standardised(name: str, _seed: int) -> Drawn:
    return datasets.load(name, standardise=True)


def fits_up_to(
    X: np.ndarray, k: int, points: Points | None = None
) -> tuple[np.random.SeedSequence, halves.Sample, dict[int, Fits]]:
    """The fits for up to 10 clusters, or more where there are more than 8, of the data as they are unless points are given."""
    root = np.random.SeedSequence(0)
    points = points or prepare(X, X, False, root)
    most = most_clusters(points.given, k)
    parts = halves.Sample.of(points.sample, most, root)
    return root, parts, fits_of(parts, list(range(1, most + 1)))[0]


def most_clusters(points: np.ndarray, k: int) -> int:
    """Up to how many clusters are tried: 10, or more where there are more than 8."""
    return min(10 if k <= 8 else 20 if k <= 16 else 25, len(points) // 4, len(np.unique(points, axis=0)))


def looked_at(name: str, seed: int) -> Set:
    X, y, k = drawn(name, seed)
    prepared = prepare(X, X, False, np.random.SeedSequence(0), robust=True)
    root, parts, fits = fits_up_to(X, k, prepared)
    points, ks = parts.points, list(fits)
    made = name in cluster_shapes.families()
    group = cluster_shapes.group_of(name) if made else "real" if "/" not in name else foreign_sets.group_of(Path(name))
    returns, valley, fisher, icl = evidence(list(fits.values()))
    features = calibration.features(ks, returns, valley, fisher, icl)
    axis = shapes.two_along_an_axis(points)
    found = {
        "groups": shapes.connected_groups(points, ks), "spectral": shapes.spectral_clusters(points, ks, root),
        "local": shapes.connected_groups(points, ks, local=True), "overlapping": shapes.overlapping(fits),
        "axis": None if axis is None else shapes.Shapes("axis", 2, 1.0, axis),
    }  # fmt: skip
    if points.shape[1] == 1:
        found |= dict.fromkeys(("groups", "spectral", "local"))

    def cut(shape: str, p: float) -> list[bool]:
        there = found[shape]
        return [there is not None and shapes.is_cut(points, there.labels, each, p, fit) for each, fit in fits.items()]

    def right(labels: np.ndarray) -> float:
        if y is None:
            return 0.0
        truth = y if prepared.chosen is None else y[prepared.chosen]
        return congruence.ari(truth[truth >= 0], labels[truth >= 0])

    return Set(
        Path(name).stem, seed, group, k, ks, {key: value.tolist() for key, value in features.items()},
        calibration.by_rule(ks, returns, valley), [right(_labels(points, each, fit)) for each, fit in fits.items()],
        {shape: (0, 0.0) if each is None else (each.k, right(each.labels)) for shape, each in found.items()},
        {shape: (cut(shape, 1.0), cut(shape, 0.0)) for shape in ("groups", "spectral")},
        0.0 if found["groups"] is None else shapes.groups(points, ks[-1]).span,
    )  # fmt: skip


def _labels(points: np.ndarray, k: int, fit: Fits) -> np.ndarray:
    return fit.mixture if is_long(points, k, fit) else fit.halves.labels


# --- the weights ------------------------------------------------------------------------------------------------


def design(s: Set) -> np.ndarray:
    return np.stack([s.features[name] for name in NAMES], axis=1)


def fitted(sets: Iterable[Set]) -> np.ndarray:
    """Weights of the features: conditional logit with a small ridge, data without clusters weighted up."""
    rows = [(design(s), s.k - 1, WEIGHT_OF_NULLS if s.k == 1 else 1.0) for s in sets if s.k <= s.ks[-1]]

    def loss(w: np.ndarray) -> tuple[float, np.ndarray]:
        total, slope = 0.0, np.zeros(len(w))
        for A, right, weight in rows:
            u = A @ w
            p = np.exp(u - u.max())
            p /= p.sum()
            total -= weight * np.log(p[right] + 1e-300)
            slope -= weight * (A[right] - p @ A)
        return total / len(rows) + RIDGE * w @ w / 2, slope / len(rows) + RIDGE * w

    return np.asarray(minimize(loss, np.zeros(len(NAMES)), jac=True, method="L-BFGS-B").x)


def fitted_groups(sets: Sequence[Set], w: np.ndarray) -> tuple[float, float]:
    """Constant and slope of the probability that connected groups are right if k-means cuts through them."""
    cases = [(s.span, float(s.shapes["groups"][0] == s.k)) for s in sets if by_shape(s, *chosen(s, w)) == "groups"]
    x, y = np.array([min(c[0], 2.0) for c in cases]), np.array([c[1] for c in cases])

    def loss(b: np.ndarray) -> float:
        u = b[0] + b[1] * x
        return float(np.logaddexp(0, u).sum() - (y * u).sum() + 0.05 * b @ b)

    return tuple(minimize(loss, np.array([0.0, 1.0])).x.tolist())


def fitted_share(shape: str, sets: Sequence[Set], w: np.ndarray) -> float:
    """The share of "local" groups, or of "spectral", "overlapping" or "axis" clusters, that are right where they are the
    answer, with one right and one wrong added."""
    cases = [s.shapes[shape][0] == s.k for s in sets if by_shape(s, *chosen(s, w)) == shape]
    return float((sum(cases) + 1) / (len(cases) + 2))


def chosen(s: Set, w: np.ndarray, k_min: int = 1) -> tuple[int, float]:
    """The k of the highest probability, and that."""
    u = (design(s) @ w)[k_min - 1 :]
    p = np.exp(u - u.max())
    p /= p.sum()
    return int(p.argmax()) + k_min, float(p.max())


def by_shape(s: Set, k: int, p: float) -> str:
    """Whether connected groups or spectral clusters are the answer instead of k clusters, as in `selection.shapes`."""
    number = {shape: many for shape, (many, _) in s.shapes.items()}
    is_cut = {shape: (sure if p >= shapes.DOUBT else in_doubt)[k - 1] for shape, (sure, in_doubt) in s.cuts.items()}
    if is_cut["groups"]:
        return "groups"
    if k > 1 and (p >= shapes.DOUBT or number["groups"] == k):
        return "axis" if number["axis"] and k == 2 and p < shapes.HIDDEN else ""
    if k == 1 and number["local"]:
        return "local"
    if number["axis"] and (k == 1 or (k == 2 and p < shapes.HIDDEN)):
        return "axis"
    if is_cut["spectral"]:
        return "spectral"
    return "overlapping" if k == 1 and number["overlapping"] else ""


def auto(s: Set, w: np.ndarray, k_min: int = 1) -> tuple[int, float]:
    """As `choose_k`: connected groups or spectral clusters if k-means cuts through them."""
    k, p = chosen(s, w, k_min)
    shape = by_shape(s, k, p)
    if not shape:
        return k, p
    sure = calibration.certainty_of_groups(s.span) if shape == "groups" else calibration.certainty_of(shape)
    return s.shapes[shape][0], sure


def left_out(sets: Sequence[Set], dev: Sequence[Set]) -> dict[tuple[str, int], int]:
    """The k of every set, with weights fitted without its family."""
    answers = {}
    for name in sorted({s.name for s in sets}):
        w = fitted([s for s in dev if s.name != name and s.group != "curved"])
        answers |= {(s.name, s.seed): auto(s, w)[0] for s in sets if s.name == name}
    return answers


# --- the tables -------------------------------------------------------------------------------------------------


def wilson(right: int, n: int) -> str:
    """A share with its 95 % interval."""
    if not n:
        return "–"
    p, z = right / n, 1.96
    middle, half = p + z * z / (2 * n), z * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    low, high = (middle - half) / (1 + z * z / n), (middle + half) / (1 + z * z / n)
    text = f".{round(100 * p):02d} [{low:.2f}, {high:.2f}]"
    return text.replace(".100", "1.0").replace("[0.", "[.").replace(" 0.", " .")


def row(
    title: str, sets: Sequence[Set], answer: Callable[[Set], int | None], shape: Callable[[Set], str] = lambda s: ""
) -> str:
    """One line of the table; `shape` says whose labels an answer has, "" for k-means."""
    cells = []
    for group in GROUPS[:3]:
        given = [(s, answer(s)) for s in sets if s.group == group]
        given = [(s, k) for s, k in given if k is not None]
        exact = sum(k == s.k for s, k in given)
        near = np.mean([abs(k - s.k) <= 1 for s, k in given]) if given else np.nan
        ari = np.mean([_agreement(s, k, shape(s)) for s, k in given]) if given else np.nan
        cells.append(f"{wilson(exact, len(given))} {near:.2f} {ari:.2f}")
    nulls = [answer(s) for s in sets if s.group == "null"]
    nulls = [k for k in nulls if k is not None]
    return f"| {title} | {' | '.join(cells)} | {wilson(sum(k != 1 for k in nulls), len(nulls))} |"


def _agreement(s: Set, k: int, shape: str) -> float:
    if shape:
        return s.shapes[shape][1]
    return s.ari[k - 1] if k <= len(s.ari) else 0.0


HEAD = """| | compact: exact, ±1, ARI | suites: exact, ±1, ARI | curved: exact, ±1, ARI | no clusters: false alarms |
|---|---|---|---|---|"""


def report(sets: Sequence[Set], w: np.ndarray, without: dict[tuple[str, int], int]) -> None:
    for title, part in (("DEV", [s for s in sets if not s.is_test]), ("TEST", [s for s in sets if s.is_test])):
        many = {group: sum(s.group == group for s in part) for group in GROUPS}
        print(f"\n{title}: {', '.join(f'{n} {group}' for group, n in many.items())}\n\n{HEAD}")
        shape = partial(_shape, w, 1)
        print(row("**choose_k**", part, lambda s: auto(s, w)[0], shape))
        if without:
            print(row("its family left out of the fit", part, lambda s: without[s.name, s.seed], shape))
        print(row("k-means alone", part, lambda s: chosen(s, w)[0]))
        print(row("rule: returns ≥ .8, valley ≥ −.6", part, lambda s: s.rule))
        print(row("choose_k, k_min=2", part, lambda s: auto(s, w, 2)[0], partial(_shape, w, 2)))
        for key in [key for key in PEERS if any(key in s.peers for s in part)]:
            asked_of = sum(key in s.peers for s in part)
            title = key if asked_of == len(part) else f"{key} ({asked_of} of these sets)"
            print(row(title, part, lambda s, key=key: s.peers.get(key)))
        sure = [(auto(s, w)[1], auto(s, w)[0] == s.k) for s in part if s.group != "curved"]
        print(f"\nmean probability of right answers: {np.mean([p for p, right in sure if right]):.3f}")
        print("probability given, sets, share right:", end=" ")
        for low, high in ((0, 0.5), (0.5, 0.7), (0.7, 0.9), (0.9, 0.97), (0.97, 1.01)):
            inside = [right for p, right in sure if low <= p < high]
            print(f"{low}–{min(high, 1)}: {len(inside)}, {np.mean(inside) if inside else np.nan:.2f};", end=" ")
        print()
    ways: dict[str, Callable[[Set], int | None]] = {
        "choose_k": lambda s: auto(s, w)[0],
        "with k_min=2": lambda s: auto(s, w, 2)[0],
    }
    ways |= {key: partial(_of_peer, key) for key in ("silhouette", "prediction_strength") if key in PEERS}
    print(f"\nby family, TEST: {', '.join(ways)}")
    for name in cluster_shapes.families():
        part = [s for s in sets if s.name == name and s.is_test]
        known = [[(answer(s), s.k) for s in part if answer(s) is not None] for answer in ways.values()]
        scores = [np.mean([given == k for given, k in each]) if each else np.nan for each in known]
        print(f"{name:<16} {len(part):>3}  " + "  ".join(f"{x:.2f}" for x in scores))


def _shape(w: np.ndarray, k_min: int, s: Set) -> str:
    return by_shape(s, *chosen(s, w, k_min))


def _of_peer(key: str, s: Set) -> int | None:
    return s.peers.get(key)


def foreign(tasks: Sequence[tuple[str, int]], jobs: int, keep: Path | None) -> None:
    """Print how often each way finds the number of clusters of other people's sets; m3c of small ones."""
    few = [task for task in tasks if len(drawn(*task)[0]) <= FEW]
    answers: dict[str, dict[str, Any]] = {}
    for work, some, file in (
        (answered, tasks, "foreign.jsonl"),
        (asked, tasks, "foreign_peers.jsonl"),
        (partial(asked, slowly=True), few, "foreign_m3c.jsonl"),
    ):
        for each in finished(work, some, key_of, keep and keep / file, jobs):
            answers.setdefault(each["name"], {}).update(each)
    parts = [(group, half) for group in ("published", "drawn") for half in ("DEV", "TEST")]
    head = [f"{group}, {half}" for group, half in parts]
    sets = {name: (foreign_sets.group_of(Path(name)), "TEST" if is_test(name, 0) else "DEV") for name in answers}
    many = [sum(found == part for found in sets.values()) for part in parts]
    print(f"other people's sets: {', '.join(f'{n} {title}' for n, title in zip(many, head, strict=True))}\n")
    print(f"| share right | {' | '.join(head)} | all | all with k ≥ 2 | only choose_k, only it right |")
    print("|---|" + "---|" * (len(head) + 3))
    for way in ("choose_k", "choose_k, k_min=2", *PEERS):
        asked_of = [name for name in sets if way in answers[name]]
        groups = [[name for name in asked_of if sets[name] == part] for part in parts]
        groups += [asked_of, [name for name in asked_of if answers[name]["k"] > 1]]
        cells = [wilson(sum(answers[x][way] == answers[x]["k"] for x in names), len(names)) for names in groups]
        right = [(answers[x]["choose_k"] == answers[x]["k"], answers[x][way] == answers[x]["k"]) for x in asked_of]
        cells.append("" if way == "choose_k" else f"{right.count((True, False))}, {right.count((False, True))}")
        print(f"| {way}{f' (n ≤ {FEW})' if way == 'm3c' else ''} | {' | '.join(cells)} |")
    print("\nwhere choose_k is wrong: set, clusters, choose_k, with k_min=2, and the criteria that are right")
    for name, each in sorted(answers.items()):
        if each["choose_k"] != each["k"]:
            able = ", ".join(way for way in PEERS if each.get(way) == each["k"]) or "none"
            print(f"{name:<26} {each['k']:>2} {each['choose_k']!s:>4} {each['choose_k, k_min=2']!s:>4}  {able}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=30, help="sets per family; 0 for real data sets alone")
    parser.add_argument("--peers", type=int, help="sets per family for the published criteria; by default as many")
    parser.add_argument("--m3c", type=int, help="sets per family for m3c, the slowest criterion; by default as many")
    parser.add_argument("--jobs", type=int, default=1, help="processes; they do not change the answers")
    parser.add_argument("--no-peers", action="store_true", help="leave out the published criteria: ten times as fast")
    parser.add_argument("--kept", action="store_true", help="score with the weights in the package, without a fit")
    parser.add_argument("--fit", action="store_true", help="write the weights into the package")
    parser.add_argument("--real", action="store_true", help="the classes of real data sets too")
    parser.add_argument("--foreign", type=Path, metavar="FOLDER", help="only other people's sets: see foreign_sets")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="finished work is kept here, and taken from here")
    options = parser.parse_args()
    if options.keep:
        options.keep.mkdir(parents=True, exist_ok=True)
    if options.foreign:
        foreign([(str(file), 0) for file in foreign_sets.files(options.foreign)], options.jobs, options.keep)
        return
    if not options.sets:
        report_real(np.array([calibration.table()["weights"][name] for name in NAMES]))
        return
    if options.no_peers:
        PEERS.clear()
    asked_of = options.sets if options.peers is None else options.peers
    sets = collected(
        options.sets, asked_of, asked_of if options.m3c is None else options.m3c, options.jobs, options.keep
    )
    dev = [s for s in sets if not s.is_test]
    w = fitted([s for s in dev if s.group != "curved"])
    if options.kept:
        w = np.array([calibration.table()["weights"][name] for name in NAMES])
    constant, slope = fitted_groups(dev, w)
    others = {shape: round(fitted_share(shape, dev, w), 4) for shape in ("local", "spectral", "overlapping", "axis")}
    weights = dict(zip(NAMES, np.round(w, 3).tolist(), strict=True))
    print("weights:", weights, "groups:", round(constant, 2), round(slope, 2), "others:", others)
    if options.fit:
        table: dict[str, Any] = {
            "weights": dict(zip(NAMES, np.round(w, 4).tolist(), strict=True)),
            "connected": {"constant": round(constant, 4), "span": round(slope, 4)},
            **{shape: {"probability": share} for shape, share in others.items()},
        }
        Path(calibration.__file__).with_name("calibration.json").write_text(json.dumps(table, indent=2) + "\n")
        calibration.table.cache_clear()
    report(sets, w, {} if options.kept else left_out(sets, dev))
    report_columns(options.sets, options.jobs, options.keep)
    if options.real:
        report_real(w)


def report_real(w: np.ndarray) -> None:
    """Print the answers for classes of real data."""
    print(
        "\nclasses of real data, standardised: classes, choose_k, with k_min=2, ARI there, silhouette, best ARI of any k"
    )
    for name in REAL:
        s = looked_at(name, 0)
        root, parts, fits = fits_up_to(drawn(name, 0)[0], s.k)
        silhouette = SILHOUETTE.curve(Context(parts, fits, root)).best
        k = auto(s, w, 2)[0]
        ari = _agreement(s, k, _shape(w, 2, s))
        print(f"{name:<20} {s.k:>2} {auto(s, w)[0]:>3} {k:>3} {ari:>6.2f} {silhouette!s:>3} {max(s.ari):>6.2f}")


def embedded(task: tuple[str, int]) -> dict[str, Any]:
    """The answer of `choose_k` for cell lines in a number of principal components, given as text."""
    columns, seed = task
    X, y = cell_lines(np.random.default_rng([seed, 2]), int(columns))
    found = congruence.choose_k(X, range(1, 11), progress=False)
    return {
        "name": columns,
        "seed": seed,
        "right": found.k == len(np.unique(y)),
        "p": max(found.probabilities.values()),
    }


def report_columns(many: int, jobs: int, keep: Path | None) -> None:
    """Print how the answers for embedded cell lines depend on the number of principal components that are kept."""
    tasks = [(columns, seed) for columns in COLUMNS for seed in range(many)]
    answers = list(finished(embedded, tasks, key_of, keep and keep / "columns.jsonl", jobs))
    print(f"\nthe same {many} embeddings of 3 to 8 cell lines in their first principal components\n")
    print("| columns | share right | wrong, p ≥ .7 | mean p where right |\n|---|---|---|---|")
    for columns in COLUMNS:
        own = [each for each in answers if each["name"] == columns]
        right = [each["p"] for each in own if each["right"]]
        sure = sum(each["p"] >= 0.7 and not each["right"] for each in own)
        print(f"| {columns} | {wilson(len(right), len(own))} | {sure} | {np.mean(right) if right else np.nan:.2f} |")


def key_of(task: tuple[str, int]) -> str:
    """The name of a set in a file of finished work."""
    return f"{Path(task[0]).stem}/{task[1]}"


def collected(many: int, many_peers: int, many_slow: int, jobs: int, keep: Path | None) -> list[Set]:
    """What was found for each set, with the published criteria; what is in the folder `keep` is taken from there."""
    tasks = [(name, seed) for seed in range(many) for name in cluster_shapes.families()]

    def run(work: Callable[[Any], dict[str, Any]], file: str, seeds: int = many) -> Iterable[dict[str, Any]]:
        return finished(work, [task for task in tasks if task[1] < seeds], key_of, keep and keep / file, jobs)

    sets = {(each["name"], each["seed"]): Set(**each) for each in run(found, "sets.jsonl")}
    if PEERS:
        for each in [*run(asked, "peers.jsonl", many_peers), *run(partial(asked, slowly=True), "m3c.jsonl", many_slow)]:
            sets[each.pop("name"), each.pop("seed")].peers.update(each)
    return [sets[key] for key in sorted(sets)]


if __name__ == "__main__":
    main()
