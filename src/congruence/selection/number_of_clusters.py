"""How many clusters the data support."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from congruence.agreement import consensus_cdf, delta_area, lone_scorer
from congruence.clustering import as_clustering, check_index
from congruence.comparison import compare_all, compare_to
from congruence.engine.plan import Progress
from congruence.ensemble import Ensemble
from congruence.formulas import find, hint, names
from congruence.frames import html_grid, make_frame, text_grid
from congruence.generators import (
    Maker,
    _made,
    _makers,
    as_data,
    counts_of,
    hard,
    numbers_of,
    seed_sequence,
    with_index,
)
from congruence.registry import Measure
from congruence.results import counted, plain
from congruence.statistics import Array, InputError

__all__ = ["Criterion", "KChoice", "Vote", "choose_k"]

Leaning = Literal["many", "few", ""]

#: what `criteria=None` means, for hard and for soft members
HARD = ("ari", "ami_max", "vi", "certainty", "pac", "delta_area", "stability")
SOFT = (
    "ari_gram", "nmi_sum", "vi", "ari_gram/self", "nmi_sum/self", "vi/self", "certainty", "pac", "delta_area", "stability",
)  # fmt: skip
#: criteria that are no measures of the registry: their titles, and which way is better
OTHERS: dict[str, tuple[str, Literal["higher", "lower", "elbow"]]] = {
    "pac": ("Proportion of ambiguous pairs", "lower"),
    "delta_area": ("Relative growth of the area under the consensus CDF", "elbow"),
    "stability": ("Mean ari between clusterings of subsamples", "higher"),
}
#: those of them that are of whole points, and so not defined for sample weights
UNWEIGHTED = ("ami_max", "pac", "delta_area")
#: up to so many points the proportion of ambiguous pairs is exact; above, this many pairs are drawn
EXACT_POINTS, DRAWN_PAIRS = 1000, 100_000

CRISP = "crisp memberships raise their agreement, so that crispness counts too; the /self forms take it out"
#: which way a criterion of OTHERS leans, and why
LEANS: dict[str, tuple[Leaning, str]] = {
    "pac": ("many", "with many small clusters most pairs are apart in every member, which lowers it"),
    "delta_area": ("", "depends on the sizes of the clusters alone, not on whether members agree"),
    "stability": ("few", "agreement between subsamples is easier with few clusters"),
}


# --- what comes out ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Criterion:
    """One curve over k: its values, their standard errors over the members (NaN: not known), and the k it favours."""

    name: str
    title: str
    better: Literal["higher", "lower", "elbow"]
    values: Array
    errors: Array
    #: the k it favours, None where it cannot tell, and others within two standard errors of it, or a hundredth of the scale
    best: int | None
    near: tuple[int, ...] = ()
    #: is it counted in the vote, and what is known to bias it
    votes: bool = True
    caution: str = ""
    favours: Leaning = ""


@dataclass(frozen=True)
class Vote:
    """How the criteria voted: the k with most votes (of equals the one nearest to the median, then the smaller)."""

    k: int
    counts: dict[int, int]

    @property
    def share(self) -> float:
        """Share of the votes that k has."""
        return self.counts[self.k] / sum(self.counts.values())

    @property
    def spread(self) -> tuple[int, int]:
        """The smallest and the largest k that got a vote."""
        return min(self.counts), max(self.counts)


@dataclass(frozen=True, eq=False)
class KChoice:
    """How many clusters: a curve for each criterion, the k each favours, and what they say together.

    >>> import congruence as cg
    >>> runs = {2: [[0, 0, 0, 1, 1, 1], [0, 0, 0, 0, 1, 1]], 3: [[0, 0, 1, 1, 2, 2]] * 2}
    >>> choice = cg.choose_k(runs, criteria=["ari", "vi", "mi"])
    >>> choice.best
    {'ari': 3, 'vi': 3, 'mi': 3}
    >>> choice.k, choice.vote.share, choice.vote.spread
    (3, 1.0, (3, 3))
    """

    ks: tuple[int, ...]
    criteria: dict[str, Criterion]
    #: mean agreement of the members with the reference, by measure
    with_reference: dict[str, Criterion] = field(default_factory=dict)
    #: share of the runs that agree best with the reference at its own number of clusters, by measure
    success: dict[str, float] = field(default_factory=dict)
    #: number of clusters of the reference
    n_reference: int | None = None
    ensembles: dict[int, Ensemble] = field(default_factory=dict, repr=False)
    notes: tuple[str, ...] = ()
    #: False where Ctrl-C came before the last k
    is_complete: bool = True

    @property
    def best(self) -> dict[str, int]:
        """The k that each criterion favours."""
        return {c.name: c.best for c in self._all if c.best is not None}

    @property
    def _all(self) -> list[Criterion]:
        return [*self.criteria.values(), *self.with_reference.values()]

    @property
    def _voters(self) -> list[Criterion]:
        return [c for c in self.criteria.values() if c.votes and c.best is not None]

    @cached_property
    def vote(self) -> Vote:
        """One vote a criterion, but for those that are known to favour many clusters or to say nothing of agreement."""
        cast = sorted(c.best for c in self._voters if c.best is not None)
        if not cast:
            raise InputError(_sentences(self)[0])
        counts, middle = Counter(cast), cast[(len(cast) - 1) // 2]
        k = min(counts, key=lambda x: (-counts[x], abs(x - middle), x))
        return Vote(k, dict(sorted(counts.items())))

    @property
    def k(self) -> int:
        """The number of clusters with most votes."""
        return self.vote.k

    @property
    def scores(self) -> Any:
        """A frame: one row a k, one column a criterion."""
        return self.to_frame()

    def to_frame(self, backend: str | None = None, *, errors: bool = False) -> Any:
        """The scores, one row a k; with `errors` the standard errors in columns of their own."""
        return make_frame(self.columns(errors), backend)

    def columns(self, errors: bool = False) -> dict[str, Any]:
        """The columns of the frame."""
        found: dict[str, Any] = {"k": list(self.ks), "members": [len(self.ensembles[k]) for k in self.ks]}
        for c in self._all:
            found[c.name] = c.values
            if errors and not np.isnan(c.errors).all():
                found[f"{c.name} error"] = c.errors
        return found

    def to_dict(self) -> dict[str, Any]:
        """The recommendation, the vote, what each criterion favours, and all scores."""
        return {
            "k": self.k if self._voters else None,
            "recommendation": self.recommendation,
            "votes": self.vote.counts if self._voters else {},
            "best": self.best,
            "not counted": [c.name for c in self.criteria.values() if not c.votes],
            "scores": self.columns(errors=True),
            "success": self.success,
            "n_reference": self.n_reference,
            "is_complete": self.is_complete,
            "notes": list(self.notes),
        }

    def to_json(self, **options: Any) -> str:
        """The same as JSON; undefined values are null."""
        return json.dumps(plain(self.to_dict()), ensure_ascii=False, **options)

    @property
    def recommendation(self) -> str:
        """What is recommended, how sure that is, which criteria disagree, and why they might."""
        return " ".join(_sentences(self))

    def _grid(self) -> tuple[list[list[str]], list[str], list[str]]:
        arrow = {"higher": "↑", "lower": "↓", "elbow": "⌐"}
        cells = [
            [_short(v) + ("*" if k == c.best else " ") for k, v in zip(self.ks, c.values.tolist(), strict=True)]
            for c in self._all
        ]
        return cells, [f"{arrow[c.better]} {c.name}" for c in self._all], [f"{k} " for k in self.ks]

    def __repr__(self) -> str:
        import textwrap

        lines = [text_grid(*self._grid()), *textwrap.wrap(self.recommendation, 80)]
        lines += [textwrap.fill(note, 80, initial_indent="! ", subsequent_indent="  ") for note in self.notes]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        from html import escape

        said = "".join(f"<li>{escape(note)}</li>" for note in self.notes)
        return html_grid(*self._grid(), caption=self.recommendation) + (f"<ul>{said}</ul>" if said else "")

    @property
    def curves(self) -> list[Criterion]:
        """All curves: the criteria, then the agreement with the reference."""
        return self._all

    @property
    def headline(self) -> str:
        """The first sentence of the recommendation."""
        return _sentences(self)[0]

    def plot(self, backend: Any = "plotly") -> Any:
        """A figure: a curve for each criterion, with its standard errors and the k it favours; see `cg.figure`."""
        import congruence  # through the public door: figures are a room above this one

        return congruence.figure(self, backend)


def _short(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.3f}" if abs(value) < 1e4 else f"{value:.3g}"


def _listed(words: Sequence[Any]) -> str:
    *most, last = [str(w) for w in words]
    return f"{', '.join(most)} and {last}" if most else last


def _sentences(choice: KChoice) -> list[str]:
    """The recommendation, sentence by sentence; the first says what, and how sure that is."""
    voters = choice._voters
    said = _in_favour(choice, voters) if voters else [_no_vote(choice)]
    silent = [c for c in choice.criteria.values() if not c.votes and c.best is not None]
    for caution, group in _by_caution(silent).items():
        favoured = _listed([f"{name} ({choice.best[name]})" for name in group])
        said.append(f"Not counted: {favoured}, {caution}.")
    if choice.n_reference is not None:
        found = [f"{c.name.removesuffix(' with reference')} {c.best}" for c in choice.with_reference.values()]
        rates = [f"{key} {rate:.0%}" for key, rate in choice.success.items()]
        said.append(
            f"The reference has {choice.n_reference} clusters; members agree best with it at {_listed(found)}"
            + (f"; success rates: {_listed(rates)}." if rates else ".")
        )
    return said


def _no_vote(choice: KChoice) -> str:
    flat = [c.name for c in choice.criteria.values() if c.votes]
    if flat:
        return f"No recommendation: {_listed(flat)} cannot tell the numbers of clusters apart, or are undefined."
    return f"No recommendation: none of the criteria has a vote ({_listed(list(choice.criteria))}); add ari or vi."


def _in_favour(choice: KChoice, voters: Sequence[Criterion]) -> list[str]:
    """What is recommended, how sure, who disagrees, and the known reasons."""
    vote = choice.vote
    level = _level(choice, vote.k)
    if len(choice.ks) == 1:
        agreed = f": the members agree at {level[0]} {level[1]:.2f}" if level is not None else ""
        return [f"Only {vote.k} clusters were tried, so there is nothing to choose between{agreed}."]
    weak = level is not None and level[1] < 0.5
    firm = [c for c in voters if c.best == vote.k and not c.near]
    crisp_only = all(c.caution == CRISP for c in firm)  # true also where none is firm
    sure = "the likelier choice" if vote.share > 0.5 else "no clear choice"
    if vote.share >= 0.8 and 2 * len(firm) >= vote.counts[vote.k] and not weak and not crisp_only:
        sure = "a clear choice"
    said = [f"{vote.k} clusters: {_counted_votes(vote.counts[vote.k], len(voters))} it, {sure}."]
    against = [k for k in vote.counts if k != vote.k]
    if against:
        dissent = [f"{_listed([c.name for c in voters if c.best == k])} for {k}" for k in against]
        said.append(f"Others: {'; '.join(dissent)}.")
    alike: dict[tuple[int, ...], list[str]] = {}
    for c in voters:
        if c.near:
            alike.setdefault(tuple(sorted([*c.near, c.best or 0])), []).append(c.name)
    if alike:
        shown = [f"{_listed(ks)} by {_listed(group)}" for ks, group in alike.items()]
        said.append(f"Hardly to be told apart: {'; '.join(shown)}.")
    flat = [c.name for c in choice.criteria.values() if c.votes and c.best is None]
    if flat:
        said.append(f"Without a vote, the same at every k: {_listed(flat)}.")
    leans = {"many": lambda k: k > vote.k, "few": lambda k: k < vote.k, "": lambda k: k != vote.k}
    doubtful = [c for c in voters if leans[c.favours](c.best) or (crisp_only and c in firm)]
    for caution, group in _by_caution(doubtful).items():
        said.append(f"{_listed(group)}: {caution}.")
    if level is not None:
        doubt = ": little, so the data may have no clear clusters" if weak else ""
        said.append(f"There the members agree at {level[0]} {level[1]:.2f}{doubt}.")
    if len(choice.ks) > 1 and vote.k == choice.ks[-1]:
        said.append(f"It is the largest k tried: try more than {vote.k}.")
    if vote.k == 2:
        said.append("A single cluster cannot be tested against two.")
    return said


def _counted_votes(many: int, of: int) -> str:
    return "the one criterion that can tell favours" if of == 1 else f"{many} of {of} criteria favour"


def _by_caution(criteria: Iterable[Criterion]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for c in criteria:
        if c.caution:
            found.setdefault(c.caution, []).append(c.name)
    return found


def _level(choice: KChoice, k: int) -> tuple[str, float] | None:
    """How well the members agree at this k, by a criterion that is 0 for independent and 1 for identical members."""
    soft = any(e.is_soft for e in choice.ensembles.values())
    for c in choice.criteria.values():
        measure, _, form = c.name.partition("/")
        level = measure in names() and "baseline" in find(measure).axioms and bool(form) == soft
        if level or c.name == "stability":
            return c.name, float(c.values[choice.ks.index(k)])
    return None


# --- choosing k -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Wanted:
    """A criterion as it was asked for: a measure of pairs of members or of the ensemble, or one of OTHERS."""

    name: str
    measure: Measure | None = None
    by_self: bool = False


def choose_k(
    data: Any,
    k: int | Iterable[int] = range(2, 11),
    method: Any = "kmeans",
    n_members: int = 100,
    criteria: Iterable[str | Measure] | str | Measure | None = None,
    *,
    reference: Any = None,
    random_state: Any = None,
    protocol: str | None = None,
    fraction: float = 0.8,
    n_subsamples: int = 20,
    n_jobs: int | None = None,
    threads: int | None = None,
    progress: Callable[[int, int], Any] | bool | None = None,
) -> KChoice:
    """How many clusters: for each k an ensemble of `n_members` clusterings, and for each criterion a curve over k.

    `data` is points × features, clustered as `cg.generate` does with this `method`, or a mapping {k: ensemble}.
    Criteria are keys of measures (the consensus index: their mean over pairs of members), a key with "/self" (the same
    divided by the mean self-value of the members; for distances, less it), "certainty", "pac", "delta_area", and
    "stability" (mean ari of `n_subsamples` clusterings, each of a `fraction` of the points, where they overlap).
    With a `reference` the members' mean agreement with it and the success rate are added, but do not vote. The same
    `random_state` gives the same answer for any `n_jobs`, and each k has random streams of its own. Ctrl-C ends the
    work: what is finished comes back, with `is_complete` False.

    >>> import congruence as cg
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(90, 2)) + np.repeat([[0, 0], [9, 0], [0, 9]], 30, axis=0)
    >>> choice = cg.choose_k(X, range(2, 6), n_members=10, random_state=0)
    >>> choice.k
    3
    """
    given = isinstance(data, Mapping)
    if given:
        ks, ensembles = _checked_ensembles(data)
        n_points = ensembles[ks[0]].n_points
        X, seeds, makers = None, None, []
    else:
        X = as_data(data)
        n_points = X.shape[0]
        ks = numbers_of(k, "k")
        if not ks or ks[0] < 2 or ks[-1] > n_points:
            raise InputError(f"k must be from 2 to the number of points ({n_points}), not {ks or 'none'}")
        if not isinstance(n_members, int | np.integer) or n_members < 2:
            raise InputError(
                f"members are compared with each other: n_members must be at least 2, a whole number, not {n_members!r}"
            )
        if not 0 < fraction <= 1 or n_subsamples < 2:
            raise InputError(
                f"fraction must be in (0, 1] and n_subsamples at least 2, not {fraction} and {n_subsamples}"
            )
        ensembles = {}
        seeds = seed_sequence(random_state)
        makers = _makers(method, fraction, True, hasattr(X, "tocsr"), protocol)
        _check_counts(method)
    truth = None if reference is None else as_clustering(reference, "reference")
    if truth is not None and len(truth) != n_points:
        raise InputError(
            f"the reference has {len(truth)} points and the data {n_points}; both must be of the same points"
        )
    notes: list[str] = []
    if truth is not None:
        if truth.gaps:
            if not truth.k:
                raise InputError("the reference has no label at all")
            notes.append(
                f"the reference lacks {truth.gaps} of {n_points} points: members are held against it on the others"
            )
        for other in ensembles.values() if given else [data]:
            check_index(truth, other, "the reference", "the ensembles" if given else "the data")
    wanted = None if criteria is None else _wanted(criteria, given)
    parts = n_subsamples if not given and (wanted is None or any(w.name == "stability" for w in wanted)) else 0

    rows: dict[int, dict[str, tuple[float, float]]] = {}
    agreed: dict[int, dict[str, Array]] = {}
    done: dict[int, Ensemble] = {}
    with Progress(len(ks) * (1 if given else n_members + parts), progress, "clusterings") as bar:
        try:
            for each in ks:
                said: list[str] = []
                apart = None
                if given:
                    e = ensembles[each]
                    bar.add(1)
                else:
                    assert seeds is not None
                    own = np.random.SeedSequence(seeds.entropy, spawn_key=(*seeds.spawn_key, each))
                    e, apart, said = _of_data(data, X, each, makers, own, n_members, parts, fraction, n_jobs, bar)
                if wanted is None:
                    wanted = _wanted(_usual([e, *ensembles.values()], given), given)
                rows[each], agreed[each], more = _scored(e, wanted, apart, truth, threads)
                done[each] = e
                notes += [f"k = {each}: {text}" for text in (*_sizes(e, each), *said, *more)]
        except KeyboardInterrupt:
            if not done:
                raise
            notes.append(f"stopped: {len(done)} of {len(ks)} numbers of clusters are done, {_listed(list(done))}")
    assert wanted is not None
    finished = [x for x in ks if x in done]
    few = min(len(e) for e in done.values())
    if few < max(len(e) for e in done.values()):
        notes.append(
            f"fewer members at some k: {_listed([f'{len(e)} at k = {x}' for x, e in done.items() if len(e) == few])}"
        )
    if any(w.name == "delta_area" for w in wanted):
        for x, growth in delta_area({x: done[x] for x in finished}).items():
            rows[x]["delta_area"] = growth, math.nan
    curves = {w.name: _criterion(w, finished, rows, done) for w in wanted}
    found, success, classes = _reference(truth, finished, agreed, notes)
    return KChoice(
        tuple(finished), curves, found, success, classes, done, tuple(_merged(notes)), len(finished) == len(ks)
    )


def _check_counts(method: Any) -> None:
    """Refuse a clusterer that finds its number of clusters itself: it is the same whatever the k."""
    for clusterer in [] if isinstance(method, str) else method if isinstance(method, list | tuple) else [method]:
        if not counts_of(clusterer):
            name = type(clusterer).__name__
            raise InputError(
                f"{name} has no n_clusters to set: it finds their number itself, and there is no k to choose"
            )


def _checked_ensembles(data: Mapping[Any, Any]) -> tuple[list[int], dict[int, Ensemble]]:
    if not data or not all(isinstance(x, int | np.integer) and x >= 2 for x in data):
        shown = ", ".join(repr(x) for x in list(data)[:3]) or "none"
        raise InputError(
            f"a mapping to choose from is {{k: ensemble}} with whole numbers from 2 up; its keys are {shown}"
        )
    ensembles = {int(x): e if isinstance(e, Ensemble) else Ensemble(e) for x, e in data.items()}
    sizes = {e.n_points for e in ensembles.values()}
    if len(sizes) > 1:
        raise InputError(f"the ensembles are of {_listed(sorted(sizes))} points; all must be of the same points")
    lone = [x for x, e in ensembles.items() if len(e) < 2]
    if lone:
        raise InputError(f"members are compared with each other, and k = {lone[0]} has only one; give two or more a k")
    return sorted(ensembles), ensembles


def _usual(ensembles: Sequence[Ensemble], given: bool) -> list[str]:
    """The criteria meant by none: those that are defined for memberships, for weights, for ensembles without the data."""
    weighted = any(e.mass is not None and not e.mass.is_frequency for e in ensembles)
    usual = SOFT if any(e.is_soft for e in ensembles) else HARD
    return [c for c in usual if not (given and c == "stability") and not (weighted and c in UNWEIGHTED)]


def _wanted(criteria: Any, given: bool) -> list[_Wanted]:
    """The criteria meant, each once; unknown ones answer with near names."""
    listed = [criteria] if isinstance(criteria, str | Measure) else list(criteria)
    if not listed:
        raise InputError("no criteria were named; leave `criteria` out for the usual ones")
    found: dict[str, _Wanted] = {}
    for item in listed:
        word = item.key if isinstance(item, Measure) else str(item).strip()
        word, _, form = word.partition("/")
        if form not in ("", "self"):
            raise InputError(f"there is no criterion {item!r}; a measure may be followed by /self only")
        if word in OTHERS:
            if form:
                raise InputError(f"{word} has no /self: that is for measures of two clusterings")
            if word == "stability" and given:
                raise InputError("stability clusters parts of the data anew: pass the data, not ensembles")
            found[word] = _Wanted(word)
            continue
        if not isinstance(item, Measure) and word.lower().replace("-", "_") not in names():
            raise InputError(f"there is no criterion {word!r}; {hint(word, [*names(), *OTHERS])}")
        m = item if isinstance(item, Measure) else find(word)
        if m.is_lone and form:
            raise InputError(f"{m.key} describes a whole ensemble; /self is for measures of two clusterings")
        name = m.key + ("/self" if form else "")
        found[name] = _Wanted(name, m, bool(form))
    return list(found.values())


def _of_data(
    frame: Any, X: Any, k: int, makers: Sequence[tuple[str, Maker]], seeds: np.random.SeedSequence, n_members: int,
    parts: int, fraction: float, n_jobs: int | None, bar: Progress,
) -> tuple[Ensemble, Ensemble | None, list[str]]:  # fmt: skip
    """The ensemble of one k, that of clusterings of parts of the points, and what was said of their members."""
    whole, part = seeds.spawn(2)
    members, said = _made(makers, X, [k], whole.spawn(n_members), n_jobs, bar)
    titles = [f"{makers[i % len(makers)][0]} {i}" for i in range(n_members)]
    e = Ensemble(with_index(members, frame), names=titles, unassigned="partial")
    if not parts:
        return e, None, list(said)
    on_parts = [(name, partial(_of_a_part, make, fraction)) for name, make in makers]
    pieces, more = _made(on_parts, X, [k], part.spawn(parts), n_jobs, bar)
    more = tuple(text.replace("members:", "subsamples:", 1) for text in more)
    return e, Ensemble(pieces, unassigned="partial"), [*said, *more]


def _of_a_part(make: Maker, fraction: float, data: Any, k: int, rng: np.random.Generator) -> Array:
    """Labels of a random part of the points by this maker; the others have none."""
    n = data.shape[0]
    chosen = np.sort(rng.choice(n, max(k, round(fraction * n)), replace=False))
    labels = np.full(n, np.nan)
    labels[chosen] = hard(make(data[chosen], k, rng))
    return labels


def _sizes(e: Ensemble, k: int) -> list[str]:
    """Members that do not have k clusters are said."""
    others = Counter(c.k for c in e if c.k != k)
    return [
        f"{many} of {len(e)} members: {'has' if many == 1 else 'have'} {counted(size, 'cluster')}"
        for size, many in sorted(others.items())
    ]


def _scored(
    e: Ensemble, wanted: Sequence[_Wanted], apart: Ensemble | None, truth: Any, threads: int | None
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
            found[w.name] = lone_scorer(w.measure.key)(e, threads=threads), math.nan
        else:
            assert table is not None
            how = "none" if not w.by_self else "ratio" if w.measure.better == "higher" else "excess"
            found[w.name] = _index(table[w.measure.key], e.shares, how)
    agreed: dict[str, Array] = {}
    if truth is not None:
        keys: list[Any] = list(of_pairs.values()) or [find("ari_gram" if e.is_soft else "ari")]
        known, part = _where_known(truth, e)
        result = compare_to(known, part, keys, threads=threads, unassigned="drop" if part.has_gaps else "error")
        agreed = {m.key: result[m.key] for m in keys}
    return found, agreed, notes


def _where_known(truth: Any, e: Ensemble) -> tuple[Any, Ensemble]:
    """The reference and the members on the points that the reference has."""
    if not truth.gaps:
        return truth, e
    there = np.flatnonzero(truth.codes < truth.k)
    return truth.taken(there), e.taken(there)


def _index(values: Array, shares: Array, against_self: str = "none") -> tuple[float, float]:
    """Mean over pairs of different members by the products of their shares, and its standard error by the jackknife.

    Against the self-values it is divided by their mean (similarities), or their mean is taken off (distances).
    """
    weight = np.outer(shares, shares)
    np.fill_diagonal(weight, 0.0)
    weighted, own = np.where(weight > 0, (values + values.T) / 2 * weight, 0.0), np.diag(values) * shares

    def of(total: Any, mass: Any, own_total: Any, own_mass: Any) -> Any:
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
    """Proportion of ambiguous pairs, with its standard error where pairs were drawn."""
    if e.n_points <= EXACT_POINTS:
        return (consensus_cdf(e, progress=False).pac(), math.nan), []
    cdf = consensus_cdf(e, sample=DRAWN_PAIRS, random_state=0)
    share = cdf.pac()
    return (share, math.sqrt(share * (1 - share) / cdf.pairs)), [
        f"pac is of {DRAWN_PAIRS:,} pairs of points drawn at random"
    ]


def _criterion(
    w: _Wanted, ks: Sequence[int], rows: Mapping[int, dict[str, tuple[float, float]]], ensembles: Mapping[int, Ensemble]
) -> Criterion:
    values, errors = (np.array([rows[k][w.name][i] for k in ks]) for i in (0, 1))
    soft = any(e.is_soft for e in ensembles.values())
    favours: Leaning = ""
    caution = ""
    if w.measure is None:
        favours, caution = ("", CRISP) if soft and w.name == "pac" else LEANS[w.name]
        title, better = OTHERS[w.name]
        best, near = _elbow(ks, values) if better == "elbow" else _best(ks, values, errors, better)
        return Criterion(w.name, title, better, values, errors, best, near, better != "elbow", caution, favours)
    m = w.measure
    best, near = _best(ks, values, errors, m.better, _is_bounded(m))
    # where clusterings that differ can score best, more clusters look better whether or not members agree
    votes = m.is_lone or "definite" in m.axioms
    if not votes:
        favours, caution = "many", m.caution or "clusterings that differ can reach its best value"
    elif soft and not w.by_self:
        caution = CRISP
    elif m.better == "lower" and math.isinf(m.range[1]):
        favours, caution = "few", "its values grow with the number of clusters"
    elif m.better == "higher" and not m.is_lone and "baseline" not in m.axioms:
        favours, caution = "many", "not corrected for chance, which raises it with more clusters"
    title = m.title if m.is_lone else f"Consensus index: {m.title}" + (" against self-values" if w.by_self else "")
    return Criterion(w.name, title, m.better, values, errors, best, near, votes, caution, favours)


def _best(
    ks: Sequence[int], values: Array, errors: Array, better: str, bounded: bool = True
) -> tuple[int | None, tuple[int, ...]]:
    """The best k (of equals the smallest; none where all are equal), and those that are hardly to be told from it."""
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
    """The k whose area grows most beyond that of equal clusters, from 1 − 1/k' to 1 − 1/k; the first if none grows so much."""
    beyond = growth[1:] - np.array([(1 - 1 / k) / (1 - 1 / before) - 1 for before, k in pairwise(ks)])
    beyond = np.nan_to_num(beyond, nan=-1.0)
    return (ks[1 + int(beyond.argmax())] if len(beyond) and beyond.max() > -1e-12 else ks[0]), ()


def _reference(
    truth: Any, ks: Sequence[int], agreed: Mapping[int, dict[str, Array]], notes: list[str]
) -> tuple[dict[str, Criterion], dict[str, float], int | None]:
    """The mean agreement with the reference by measure, the share of runs that find its number of clusters, and that."""
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
            name, f"{m.title}: mean with the reference", m.better, values, errors, best, near, False
        )
        if truth.k in ks:
            by_run = np.stack([x[:runs] for x in each]) * (1 if m.better == "higher" else -1)
            success[key] = float((np.asarray(ks)[by_run.argmax(axis=0)] == truth.k).mean())
    if truth.k not in ks:
        notes.append(f"there is no success rate: the reference has {truth.k} clusters, which is not among the k tried")
    return found, success, truth.k


def _merged(notes: Sequence[str]) -> list[str]:
    """Notes of several k that say the same, as one: 'k = 5 (3 of 100 members), 6 (7 of 100 members): …'."""
    groups: dict[str, list[str]] = {}
    for note in notes:
        match = re.fullmatch(r"k = (\d+): (?:(\d+ of \d+ \w+): )?(.*)", note)
        k, many, text = match.groups() if match else ("", "", note)
        groups.setdefault(text, []).append(f"{k} ({many})" if many else k)
    return [f"k = {', '.join(where)}: {text}" if where[0] else text for text, where in groups.items()]
