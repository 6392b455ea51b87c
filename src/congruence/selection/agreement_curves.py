"""The number of clusters by the agreement of many clusterings for each k (Lei et al. 2014; Monti et al. 2003)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

import numpy as np

from congruence.comparison.many import compare_all, compare_to
from congruence.engine.plan import Progress
from congruence.ensembles.agreement import lone_value
from congruence.ensembles.distribution import consensus_cdf, delta_area
from congruence.ensembles.generators import Maker, counts_of, hard, made_members, makers_of, with_index
from congruence.ensembles.soft_generators import Mixtures
from congruence.errors import (
    MOST_RUNS,
    Caution,
    InputError,
    Option,
    counted,
    joined,
    real_number,
    some_of,
    whole_number,
)
from congruence.formulas import find, hint, names
from congruence.formulas.record import Better, Measure
from congruence.inputs.ensemble import Ensemble
from congruence.inputs.labels import Labels
from congruence.selection.choice import Criterion, KChoice, Leaning
from congruence.selection.criteria import PEERS
from congruence.selection.sentences import CRISP, stopped
from congruence.statistics.bonds import Frobenius
from congruence.statistics.concordance import Concordance
from congruence.statistics.tables import Array
from congruence.typing import EnsembleLike, Estimator, PointsLike, ProgressLike, Scalar, SparseMatrix

if TYPE_CHECKING:
    from congruence.inputs.kinds import Clustering

#: default criteria, for hard and for soft members
HARD = ("ari", "ami_max", "vi", "certainty", "pac", "delta_area", "stability")
SOFT = (
    "ari_gram", "nmi_sum", "vi", "ari_gram/self", "nmi_sum/self", "vi/self", "certainty", "pac", "delta_area", "stability",
)  # fmt: skip
#: the consensus indices of Lei et al. (2014), with EM by their protocol
PAPER = ("nmi_max", "ari", "nmi_joint", "nmi_sum", "nmi_sqrt", "vi", "mi", "nmi_min")
#: criteria that are not registered measures: their titles and directions
OTHERS: dict[str, tuple[str, Literal["higher", "lower", "elbow"]]] = {
    "pac": ("Proportion of ambiguous pairs", "lower"),
    "delta_area": ("Relative growth of the area under the consensus CDF", "elbow"),
    "stability": ("Mean ari between clusterings of subsamples", "higher"),
}
#: those that count whole points and are not defined for sample weights
UNWEIGHTED = ("ami_max", "pac", "delta_area")
#: statistics of measures that have the best value for memberships compared with themselves, and below it for others
SURE = (Concordance, Frobenius)
#: most points for an exact proportion of ambiguous pairs; above it, this many pairs are drawn
EXACT_POINTS, DRAWN_PAIRS = 1000, 100_000

#: which k a criterion of OTHERS favours, and why
LEANS: dict[str, tuple[Leaning, str]] = {
    "pac": ("many", "with many small clusters most pairs are apart in every member, which lowers it"),
    "delta_area": ("", "depends only on cluster sizes, not on whether members agree"),
    "stability": ("few", "agreement between subsamples is easier with few clusters"),
}


@dataclass(frozen=True)
class NamedCriterion:
    """A requested criterion: a measure of pairs of members or of the ensemble, or one of OTHERS."""

    name: str
    measure: Measure | None = None
    by_self: bool = False


@dataclass(frozen=True)
class Making:
    """How members are made from data: the data, clusterers, random streams and numbers of members."""

    frame: PointsLike
    X: Array | SparseMatrix
    makers: Sequence[tuple[str, Maker]]
    seeds: np.random.SeedSequence
    n_members: int
    n_subsamples: int
    fraction: float
    n_jobs: int | None

    @classmethod
    def of(
        cls, frame: PointsLike, X: PointsLike, method: str | Estimator, seeds: np.random.SeedSequence,
        counts: tuple[int, int], fraction: float, mixtures: Mixtures, n_jobs: int | None,
    ) -> Making:  # fmt: skip
        """A validated source of members; the counts are those of members and of subsamples."""
        n_members, n_subsamples = counts
        if not isinstance(n_members, int | np.integer) or n_members < 2:
            raise InputError(
                f"{Option('n_members')} must be a whole number of at least 2, because members are compared with "
                f"each other; got {n_members!r}"
            )
        whole_number(n_members, "n_members", 2, MOST_RUNS)
        fraction, n_subsamples = (
            real_number(fraction, "fraction"),
            whole_number(n_subsamples, "n_subsamples", 0, MOST_RUNS),
        )
        if not 0 < fraction <= 1 or n_subsamples < 2:
            raise InputError(
                f"fraction must be in (0, 1] and n_subsamples at least 2, not {fraction} and {n_subsamples}"
            )
        makers = makers_of(method, fraction, True, hasattr(X, "tocsr"), mixtures)
        check_counts(method)
        return cls(frame, X, makers, seeds, n_members, n_subsamples, fraction, n_jobs)


def member_curves(
    ks: Sequence[int],
    source: Making | Mapping[int, Ensemble],
    wanted: Sequence[NamedCriterion] | None,
    truth: Clustering | None,
    threads: int | None,
    progress: ProgressLike,
) -> KChoice:
    """The choice by a curve per criterion, from given ensembles or members made here; Ctrl-C keeps finished values of k."""
    made = source if isinstance(source, Making) else None
    given = {} if isinstance(source, Making) else dict(source)
    parts = 0
    if made is not None and (wanted is None or any(w.name == "stability" for w in wanted)):
        parts = made.n_subsamples
    notes: list[str] = []
    said: dict[str, list[str]] = {}
    rows: dict[int, dict[str, tuple[float, float]]] = {}
    agreed: dict[int, dict[str, Array]] = {}
    done: dict[int, Ensemble] = {}
    with Progress(len(ks) * (1 if made is None else made.n_members + parts), progress, "clusterings") as bar:
        try:
            for each in ks:
                found, apart = list[Said](), None
                if made is None:
                    e = given[each]
                    bar.add(1)
                else:
                    e, apart, found = _of_data(made, each, parts, bar)
                if wanted is None:
                    wanted = named_criteria(usual([e, *given.values()], made is None), made is None)
                rows[each], agreed[each], more = _scored(e, wanted, apart, truth, threads)
                done[each] = e
                for many, text in (*_sizes(e, each), *found, *(("", text) for text in more)):
                    said.setdefault(text, []).append(f"{each} ({many})" if many else str(each))
        except KeyboardInterrupt:
            if not done:
                raise
            notes.append(stopped(done, len(ks)))
    notes = [*(f"k = {', '.join(where)}: {text}" for text, where in said.items()), *notes]
    assert wanted is not None
    finished = [x for x in ks if x in done]
    few = min(len(e) for e in done.values())
    if few < max(len(e) for e in done.values()):
        notes.append(
            f"fewer members at some k: {joined([f'{len(e)} at k = {x}' for x, e in done.items() if len(e) == few])}"
        )
    if any(w.name == "delta_area" for w in wanted):
        for x, growth in delta_area({x: done[x] for x in finished}).items():
            rows[x]["delta_area"] = growth, math.nan
    curves = {w.name: _criterion(w, finished, rows, done) for w in wanted}
    with_reference, success, classes = _reference(truth, finished, agreed, notes)
    return KChoice(
        ks=tuple(finished), criteria=curves, with_reference=with_reference, success=success, n_reference=classes,
        ensembles=done, notes=tuple(notes), is_complete=len(finished) == len(ks),
    )  # fmt: skip


def check_counts(method: str | Estimator) -> None:
    """Refuse a clusterer that finds the number of clusters itself."""
    for clusterer in [] if isinstance(method, str) else method if isinstance(method, list | tuple) else [method]:
        if not counts_of(clusterer):
            name = type(clusterer).__name__
            raise InputError(
                f"{name} has no n_clusters parameter: it finds the number itself, so there is no k to choose"
            )


def checked_ensembles(data: Mapping[int, EnsembleLike]) -> tuple[list[int], dict[int, Ensemble]]:
    """The numbers of clusters in order, and the ensembles, which must have the same points and at least two members."""
    if not data or not all(isinstance(x, int | np.integer) and x >= 2 for x in data):
        shown = some_of(map(repr, data), 3) or "none"
        raise InputError(
            f"expected a mapping {{k: ensemble}} with whole numbers of at least 2 as keys; its keys are {shown}"
        )
    ensembles = {int(x): e if isinstance(e, Ensemble) else Ensemble(e) for x, e in data.items()}
    sizes = {e.n_points for e in ensembles.values()}
    if len(sizes) > 1:
        raise InputError(f"the ensembles are of {joined(sorted(sizes))} points; all must be of the same points")
    lone = [x for x, e in ensembles.items() if len(e) < 2]
    if lone:
        raise InputError(
            f"members are compared with each other, but k = {lone[0]} has only one; pass at least two per k"
        )
    return sorted(ensembles), ensembles


def usual(ensembles: Sequence[Ensemble], given: bool) -> list[str]:
    """Default criteria, depending on whether there are memberships, weights, or ensembles without data."""
    weighted = any(e.mass is not None and not e.mass.is_frequency for e in ensembles)
    usual = SOFT if any(e.is_soft for e in ensembles) else HARD
    return [c for c in usual if not (given and c == "stability") and not (weighted and c in UNWEIGHTED)]


def named_criteria(criteria: str | Measure | Iterable[str | Measure], given: bool) -> list[NamedCriterion]:
    """The requested criteria, each once; unknown names raise an error with similar names."""
    listed = [criteria] if isinstance(criteria, str | Measure) else list(criteria)
    if not listed:
        raise InputError(f"no criteria were named; omit {Option('criteria')} for the default")
    found: dict[str, NamedCriterion] = {}
    for item in listed:
        word = item.key if isinstance(item, Measure) else str(item).strip()
        word, _, form = word.partition("/")
        if form not in ("", "self"):
            raise InputError(f"there is no criterion {item!r}; a measure may be followed by /self only")
        if word in OTHERS:
            if form:
                raise InputError(f"{word} has no /self: that is for measures of two clusterings")
            if word == "stability" and given:
                raise InputError("stability clusters subsamples of the data; pass the data, not ensembles")
            found[word] = NamedCriterion(word)
            continue
        if not isinstance(item, Measure) and word.lower().replace("-", "_") not in names():
            raise InputError(f"there is no criterion {word!r}; {hint(word, [*names(), *OTHERS, *PEERS])}")
        m = item if isinstance(item, Measure) else find(word)
        if m.is_lone and form:
            raise InputError(f"{m.key} describes a whole ensemble; /self is for measures of two clusterings")
        name = m.key + ("/self" if form else "")
        found[name] = NamedCriterion(name, m, bool(form))
    return list(found.values())


#: what is said of some members or subsamples of one k: of how many, or "", and a text
Said = tuple[str, str]


def _of_data(making: Making, k: int, parts: int, bar: Progress) -> tuple[Ensemble, Ensemble | None, list[Said]]:
    """The ensemble of one k, the ensemble of subsamples, and notes on their members."""
    root, makers = making.seeds, making.makers
    whole, part = np.random.SeedSequence(root.entropy, spawn_key=(*root.spawn_key, k)).spawn(2)
    members, warned = made_members(makers, making.X, [k], whole.spawn(making.n_members), making.n_jobs, bar)
    titles = [f"{makers[i % len(makers)][0]} {i}" for i in range(making.n_members)]
    e = Ensemble(with_index(members, making.frame), names=titles, unassigned="partial")
    said = [(f"{many} of {making.n_members} members", text) for text, many in warned.items()]
    if not parts:
        return e, None, said
    on_parts = [(name, partial(_of_a_part, make, making.fraction)) for name, make in makers]
    pieces, more = made_members(on_parts, making.X, [k], part.spawn(parts), making.n_jobs, bar)
    said += [(f"{many} of {parts} subsamples", text) for text, many in more.items()]
    return e, Ensemble(pieces, unassigned="partial"), said


def _of_a_part(make: Maker, fraction: float, data: Array | SparseMatrix, k: int, rng: np.random.Generator) -> Array:
    """Labels of a random subsample of the points by this clusterer; other points have none."""
    n = data.shape[0]
    chosen = np.sort(rng.choice(n, max(k, round(fraction * n)), replace=False))
    labels = np.full(n, np.nan)
    labels[chosen] = hard(make(data[chosen], k, rng))
    return labels


def _sizes(e: Ensemble, k: int) -> list[Said]:
    """Notes on members that do not have k clusters."""
    others = Counter(c.k for c in e if c.k != k)
    return [
        (f"{many} of {len(e)} members", f"{'has' if many == 1 else 'have'} {counted(size, 'cluster')}")
        for size, many in sorted(others.items())
    ]


def _scored(
    e: Ensemble, wanted: Sequence[NamedCriterion], apart: Ensemble | None, truth: Clustering | None, threads: int | None
) -> tuple[dict[str, tuple[float, float]], dict[str, Array], list[str]]:
    """For one k: (value, standard error) of each criterion, each member's agreement with the reference, and notes."""
    found: dict[str, tuple[float, float]] = {}
    notes: list[str] = []
    of_pairs = {w.measure.key: w.measure for w in wanted if w.measure is not None and not w.measure.is_lone}
    table = compare_all(e, list(of_pairs.values()), threads=threads) if of_pairs else None
    for w in wanted:
        if w.measure is None:
            if w.name == "pac":
                found[w.name], more = _pac(e)
                notes += more
            elif w.name == "stability":
                assert apart is not None
                found[w.name] = _index(compare_all(apart, "ari", threads=threads)["ari"], apart.shares)
        elif w.measure.is_lone:
            found[w.name] = lone_value(w.measure.key, e, threads=threads), math.nan
        else:
            assert table is not None
            how = "none" if not w.by_self else "ratio" if w.measure.better == "higher" else "excess"
            found[w.name] = _index(table[w.measure.key], e.shares, how)
    agreed: dict[str, Array] = {}
    if truth is not None:
        keys = list(of_pairs.values()) or [find("ari_gram" if e.is_soft else "ari")]
        known, part = _where_known(truth, e)
        result = compare_to(known, part, keys, threads=threads, unassigned="drop" if part.has_gaps else "error")
        agreed = {m.key: result[m.key] for m in keys}
    return found, agreed, notes


def _where_known(truth: Clustering, e: Ensemble) -> tuple[Clustering, Ensemble]:
    """The reference and the members on the points that the reference labels."""
    if not isinstance(truth, Labels) or not truth.gaps:
        return truth, e
    there = np.flatnonzero(truth.codes < truth.k)
    return truth.taken(there), e.taken(there)


def _index(values: Array, shares: Array, against_self: str = "none") -> tuple[float, float]:
    """Mean over pairs of different members, weighted by the products of their weights, and its jackknife standard error.

    The /self form divides it by the mean self-score (similarities), or subtracts the mean self-score (distances).
    """
    weight = np.outer(shares, shares)
    np.fill_diagonal(weight, 0.0)
    weighted, own = np.where(weight > 0, (values + values.T) / 2 * weight, 0.0), np.diag(values) * shares

    def of(total: Scalar, mass: Scalar, own_total: Scalar, own_mass: Scalar) -> Scalar:
        with np.errstate(divide="ignore", invalid="ignore"):
            mean, itself = total / mass, own_total / own_mass
            return {"none": mean, "ratio": mean / itself, "excess": mean - itself}[against_self]

    value = of(weighted.sum(), weight.sum(), own.sum(), shares.sum())
    if len(values) < 3:
        return float(value), math.nan
    without = of(
        weighted.sum() - 2 * weighted.sum(axis=1), weight.sum() - 2 * weight.sum(axis=1), own.sum() - own,
        shares.sum() - shares,
    )  # fmt: skip
    members = len(values)
    return float(value), float(np.sqrt((members - 1) / members * ((without - without.mean()) ** 2).sum()))


def _pac(e: Ensemble) -> tuple[tuple[float, float], list[str]]:
    """Proportion of ambiguous pairs, with its standard error if pairs were drawn."""
    if e.n_points <= EXACT_POINTS:
        return (consensus_cdf(e, progress=False).pac(), math.nan), []
    cdf = consensus_cdf(e, sample=DRAWN_PAIRS, random_state=0)
    share = cdf.pac()
    return (share, math.sqrt(share * (1 - share) / cdf.pairs)), [
        f"pac was estimated from {DRAWN_PAIRS:,} random pairs of points"
    ]


def _criterion(
    w: NamedCriterion,
    ks: Sequence[int],
    rows: Mapping[int, dict[str, tuple[float, float]]],
    ensembles: Mapping[int, Ensemble],
) -> Criterion:
    values, errors = (np.array([rows[k][w.name][i] for k in ks]) for i in (0, 1))
    soft = any(e.is_soft for e in ensembles.values())
    favours: Leaning = ""
    caution = ""
    better: Better | Literal["higher", "lower", "elbow"]
    if (m := w.measure) is None:
        favours, caution = ("", CRISP) if soft and w.name == "pac" else LEANS[w.name]
        title, better = OTHERS[w.name]
        votes = better != "elbow"
        best, near = _best(ks, values, errors, better) if votes else _elbow(ks, values)
    else:
        better = m.better
        title = m.title if m.is_lone else f"Consensus index: {m.title}" + " relative to self-scores" * w.by_self
        best, near = _best(ks, values, errors, better, _is_bounded(m))
        # if different clusterings can reach the best value, more clusters score higher even if members do not agree
        votes = m.is_lone or "definite" in m.axioms or m.needs in SURE
        if not votes:
            favours, caution = "many", m.caution or "clusterings that differ can reach its best value"
        elif soft and not w.by_self and m.needs not in SURE:
            caution = CRISP
        elif better == "lower" and math.isinf(m.range[1]):
            favours, caution = "few", "its values grow with the number of clusters"
        elif better == "higher" and not m.is_lone and "baseline" not in m.axioms:
            favours, caution = "many", "not corrected for chance, which raises it with more clusters"
    return Criterion(
        name=w.name, title=title, better=better, values=values, errors=errors, best=best, near=near, votes=votes,
        caution=_caution(w.name, caution), favours=favours,
    )  # fmt: skip


def _caution(criterion: str, text: str) -> Caution | None:
    """A bias of a criterion as a record."""
    return Caution("crisp" if text == CRISP else "bias", criterion, text) if text else None


def _best(
    ks: Sequence[int], values: Array, errors: Array, better: str, bounded: bool = True
) -> tuple[int | None, tuple[int, ...]]:
    """The best k (the smallest in a tie; None if all are equal), and those tied with it."""
    up = values if better == "higher" else -values
    if np.isnan(up).all() or (len(ks) > 1 and np.ptp(up) < 1e-12):
        return None, ()
    top = int(np.flatnonzero(up >= np.nanmax(up) - 1e-12)[0])
    error = np.nan_to_num(np.hypot(errors, errors[top]))
    near = up[top] - up <= np.maximum(2 * error, 0.01 * (1.0 if bounded else np.nanmax(np.abs(up))))
    return ks[top], tuple(k for i, k in enumerate(ks) if near[i] and i != top)


def _is_bounded(m: Measure) -> bool:
    return math.isfinite(m.range[1] if m.better == "higher" else m.range[1] - m.range[0])


def _elbow(ks: Sequence[int], growth: Array) -> tuple[int | None, tuple[int, ...]]:
    """The k whose area grows most beyond the growth for equal clusters, from 1 − 1/k' to 1 − 1/k; the first k if none does."""
    beyond = growth[1:] - np.array([(1 - 1 / k) / (1 - 1 / before) - 1 for before, k in pairwise(ks)])
    beyond = np.nan_to_num(beyond, nan=-1.0)
    return (ks[1 + int(beyond.argmax())] if len(beyond) and beyond.max() > -1e-12 else ks[0]), ()


def _reference(
    truth: Clustering | None, ks: Sequence[int], agreed: Mapping[int, dict[str, Array]], notes: list[str]
) -> tuple[dict[str, Criterion], dict[str, float], int | None]:
    """The mean agreement with the reference by measure, the success rates, and the reference's number of clusters."""
    if truth is None:
        return {}, {}, None
    found, success = {}, {}
    runs = min(len(next(iter(agreed[k].values()))) for k in ks)
    for key in agreed[ks[0]]:
        m, each = find(key), [agreed[k][key] for k in ks]
        values = np.array([x.mean() for x in each])
        errors = np.array([x.std(ddof=1) / math.sqrt(len(x)) for x in each])
        best, near = _best(ks, values, errors, m.better, _is_bounded(m))
        name = f"{key} with reference"
        found[name] = Criterion(
            name=name, title=f"{m.title}: mean with the reference", better=m.better, values=values, errors=errors,
            best=best, near=near, votes=False, measure=key,
        )  # fmt: skip
        if truth.k in ks:
            by_run = np.stack([x[:runs] for x in each]) * (1 if m.better == "higher" else -1)
            success[key] = float((np.asarray(ks)[by_run.argmax(axis=0)] == truth.k).mean())
    if truth.k not in ks:
        notes.append(f"there is no success rate: the reference has {truth.k} clusters, and that k was not tried")
    return found, success, truth.k
