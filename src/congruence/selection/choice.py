"""The result of `choose_k`: a verdict, a probability for each k, and a curve for each criterion."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np

from congruence.comparison.presenting import Result
from congruence.errors import Call, Caution, InputError, Word, yes_or_no
from congruence.formulas.record import Better
from congruence.inputs.ensemble import Ensemble
from congruence.inputs.frames import html_grid, make_frame, text_grid
from congruence.options import described
from congruence.statistics.tables import Array
from congruence.typing import Frame, Record

__all__ = ["Criterion", "KChoice", "Verdict", "Vote"]

Leaning = Literal["many", "few", ""]
#: two numbers of clusters are tied if the less probable has at least this share of the other's probability
TIE = 0.7
#: below this probability of the best k, and without a tie, there is no answer
DOUBT = 0.4


class Verdict(Word):
    """The kinds of answer of `choose_k`.

    >>> import congruence as cg
    >>> cg.choose_k([[x + y / 10] for x in (0, 9) for y in range(20)], range(1, 4)).verdict
    'clusters'
    """

    CLUSTERS = "clusters"
    TIE = "tie"
    NONE = "none"
    CANNOT_TELL = "cannot tell"


class Judged(str):
    """A sentence that begins with a verdict; `.rest` is what it says after it.

    >>> said = Judged("Tie", " ", "between 2 and 3 clusters.")
    >>> said, said.rest
    ('Tie between 2 and 3 clusters.', 'Between 2 and 3 clusters.')
    """

    parts: tuple[str, ...]
    __slots__ = ("parts",)

    def __new__(cls, *parts: str) -> Judged:
        line = super().__new__(cls, "".join(parts))
        line.parts = parts
        return line

    def __getnewargs__(self) -> tuple[str, ...]:  # type: ignore[override]
        return self.parts

    @property
    def rest(self) -> str:
        """The sentence after the verdict, which begins with a capital letter."""
        rest = self.parts[-1]
        return rest[:1].upper() + rest[1:]

    @classmethod
    def doubt(cls, rest: str, between: str = ": ") -> Judged:
        """A sentence that no number can be told."""
        return cls("Cannot tell", between, rest)


@dataclass(frozen=True, eq=False, kw_only=True)
class Criterion(Result):
    """One curve over k: its values, their standard errors (NaN: unknown), and the k it favours.

    Attributes:
        name: Its name.
        title: Its name in full.
        better: "higher", "lower" or "elbow".
        values: Its value at each k.
        errors: Standard errors; NaN if unknown.
        best: The k it favours, None if it cannot tell.
        near: Other k within two standard errors, or a hundredth of the scale.
        votes: Whether it is counted in the vote.
        caution: A known bias, or None.
        favours: Which k the bias favours.
        measure: Key of the measure it averages, "" if it is not a measure.

    >>> import congruence as cg
    >>> choice = cg.choose_k([[x + y / 10] for x in (0, 9) for y in range(20)], range(1, 4))
    >>> curve = choice.criteria["probability"]
    >>> curve.best, curve.better
    (2, 'higher')
    """

    name: str
    title: str
    better: Better | Literal["higher", "lower", "elbow"]
    values: Array
    errors: Array
    best: int | None
    near: tuple[int, ...] = ()
    votes: bool = True
    caution: Caution | None = None
    favours: Leaning = ""
    measure: str = ""

    def table_columns(self) -> Record:
        """One row per k: the value and its standard error."""
        return {"value": self.values, "error": self.errors}


def curve_of(
    name: str, title: str, values: Array, best: int | None = None, votes: bool = False, *,
    better: Better | Literal["higher", "lower"] = "higher", errors: Array | None = None, measure: str = "",
) -> Criterion:  # fmt: skip
    """A curve, by default one whose larger values are better, without standard errors."""
    errors = np.full(len(values), np.nan) if errors is None else errors
    return Criterion(
        name=name, title=title, better=better, values=values, errors=errors, best=best, votes=votes, measure=measure
    )


@dataclass(frozen=True, kw_only=True)
class Vote(Result):
    """How the criteria voted: the k with most votes (ties: the one nearest to the median, then the smaller).

    Attributes:
        k: The k with most votes.
        counts: Number of votes of each k.

    >>> import congruence as cg
    >>> X = [[x + y / 10] for x in (0, 9) for y in range(20)]
    >>> runs = {k: cg.generate(X, n_clusters=k, n_members=3, random_state=0) for k in (2, 3)}
    >>> cg.choose_k(runs).vote
    Vote(k=2, counts={2: 5})
    """

    k: int
    counts: dict[int, int]

    def table_columns(self) -> Record:
        """One row per k that got a vote."""
        return {"k": list(self.counts), "votes": list(self.counts.values())}

    @property
    def share(self) -> float:
        """Share of the votes that k has."""
        return self.counts[self.k] / sum(self.counts.values())

    @property
    def spread(self) -> tuple[int, int]:
        """The smallest and the largest k that got a vote."""
        return min(self.counts), max(self.counts)


@dataclass(frozen=True, eq=False, kw_only=True)
class KChoice(Result):
    """The number of clusters: the verdict, a probability for each k, and a curve for each criterion.

    The answer comes from calibrated probabilities, or from a vote if criteria were named or ensembles given.

    Attributes:
        ks: Numbers of clusters tried.
        criteria: One curve per criterion.
        with_reference: Mean agreement of the members with the reference, by measure.
        success: Share of the runs that agree best with the reference at its true k, by measure.
        n_reference: Number of clusters of the reference.
        ensembles: Ensemble of each k.
        notes: Notes on the choice.
        is_complete: False if it was interrupted before the last k.
        probabilities: Calibrated probability of each k; empty if criteria vote.
        partitions: Clustering of all points for each k.
        method: The clusterer.
        reason: Why there is no answer.
        doubts: For each k, why its worst cluster is doubtful.

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
    with_reference: dict[str, Criterion] = field(default_factory=dict)
    success: dict[str, float] = field(default_factory=dict)
    n_reference: int | None = None
    ensembles: dict[int, Ensemble] = field(default_factory=dict, repr=False)
    notes: tuple[str, ...] = ()
    is_complete: bool = True
    probabilities: dict[int, float] = field(default_factory=dict)
    partitions: dict[int, Array] = field(default_factory=dict, repr=False)
    method: str = ""
    reason: str = ""
    doubts: dict[int, str] = field(default_factory=dict, repr=False)

    # --- the answer

    @property
    def _ranked(self) -> list[tuple[int, float]]:
        """Numbers of clusters and their support, the best first."""
        if self.probabilities:
            return sorted(self.probabilities.items(), key=lambda item: (-item[1], item[0]))
        if not self.voters:
            return []
        votes = self.vote
        others = sorted(votes.counts.items(), key=lambda item: (item[0] != votes.k, -item[1], item[0]))
        return [(k, count / sum(votes.counts.values())) for k, count in others]

    @property
    def k(self) -> int | None:
        """The number of clusters; None if there is no answer."""
        return self._ranked[0][0] if self._ranked else None

    @property
    def probability(self) -> float | None:
        """The calibrated probability of k; None if criteria voted."""
        return self.probabilities[self.k] if self.probabilities and self.k is not None else None

    @property
    def runner_up(self) -> int | None:
        """The second best number of clusters; if the answer is 1, the best of two or more; None if there is no other."""
        if len(self._ranked) > 1:
            return self._ranked[1][0]
        return self._best_of_several() if self.k == 1 and not self.probabilities else None

    def _best_of_several(self) -> int | None:
        """The best k of two or more by the first criterion with a vote."""
        first = next(iter(self.voters), None)
        curve = self.criteria.get("returns", first) if first is not None and first.name == "rule" else first
        if curve is None or curve.better == "elbow":
            return None
        values = np.where(np.asarray(self.ks) > 1, curve.values, np.nan)
        if np.isnan(values).all():
            return None
        return self.ks[int(np.nanargmax(values) if curve.better == "higher" else np.nanargmin(values))]

    @property
    def verdict(self) -> Verdict:
        """One of: clusters, tie, none, cannot tell."""
        ranked = self._ranked
        if ranked and self.probabilities.get(1) == 1.0:
            return Verdict.NONE
        if self.reason or not ranked or len(self.ks) == 1:
            return Verdict.CANNOT_TELL
        if len(ranked) > 1 and ranked[1][1] >= (TIE if self.probabilities else 1.0) * ranked[0][1]:
            return Verdict.TIE
        if self.probabilities and ranked[0][1] < DOUBT:
            return Verdict.CANNOT_TELL
        return Verdict.NONE if ranked[0][0] == 1 else Verdict.CLUSTERS

    @property
    def labels(self) -> Array:
        """Clusters of the points at the chosen k."""
        if self.k not in self.partitions:
            raise InputError(
                f"there are no labels, because the criteria voted on ensembles; use {Call('cg.consensus')} to get one clustering"
            )
        return self.partitions[self.k]

    @property
    def best(self) -> dict[str, int]:
        """The k that each criterion favours."""
        return {c.name: c.best for c in self.curves if c.best is not None}

    @property
    def curves(self) -> list[Criterion]:
        """All curves: the criteria, then the agreement with the reference."""
        return [*self.criteria.values(), *self.with_reference.values()]

    @property
    def voters(self) -> list[Criterion]:
        """The criteria that have a vote and favour some k."""
        return [c for c in self.criteria.values() if c.votes and c.best is not None]

    @cached_property
    def vote(self) -> Vote:
        """One vote per criterion, except those known to favour many clusters or to ignore agreement."""
        cast = sorted(c.best for c in self.voters if c.best is not None)
        if not cast:
            raise InputError(self.sentence)
        counts, middle = Counter(cast), cast[(len(cast) - 1) // 2]
        k = min(counts, key=lambda x: (-counts[x], abs(x - middle), x))
        return Vote(k=k, counts=dict(sorted(counts.items())))

    # --- as text

    @property
    def sentence(self) -> str:
        """The verdict in one sentence."""
        return self._sentences[0]

    @property
    def recommendation(self) -> str:
        """The verdict, how certain it is, and the reasons for and against it."""
        return " ".join(self._sentences)

    @property
    def headline(self) -> str:
        """The verdict in one sentence: the same as `sentence`."""
        return self.sentence

    @cached_property
    def _sentences(self) -> list[str]:
        from congruence.selection.sentences import sentences

        return sentences(self)

    # --- as tables

    @property
    def scores(self) -> Frame:
        """A frame: one row per k, one column per criterion."""
        return self.to_frame()

    @described
    def to_frame(self, backend: str | None = None, *, errors: bool = False) -> Frame:
        """The scores, one row per k.

        Args:
            backend: See `congruence.options`.
            errors: Whether to include standard errors.
        """
        return make_frame(self.columns(errors), backend)

    def table_columns(self) -> Record:
        """One row per k."""
        return self.columns()

    def columns(self, errors: bool = False) -> Record:
        """The columns of the frame.

        Args:
            errors: Whether to include standard errors.
        """
        yes_or_no(errors, "errors")
        found: Record = {"k": list(self.ks)}
        if self.ensembles:
            found["members"] = [len(self.ensembles[k]) if k in self.ensembles else 0 for k in self.ks]
        for c in self.curves:
            found[c.name] = c.values
            if errors and not np.isnan(c.errors).all():
                found[f"{c.name} error"] = c.errors
        return found

    def to_dict(self) -> Record:
        """The verdict, the probabilities or votes, what each criterion favours, and all scores."""
        return {
            "k": self.k,
            "verdict": str(self.verdict),
            "probability": self.probability,
            "runner_up": self.runner_up,
            "sentence": self.sentence,
            "recommendation": self.recommendation,
            "probabilities": self.probabilities,
            "votes": self.vote.counts if self.voters and not self.probabilities else {},
            "best": self.best,
            "not counted": [c.name for c in self.criteria.values() if not c.votes],
            "scores": self.columns(errors=True),
            "success": self.success,
            "n_reference": self.n_reference,
            "method": self.method,
            "is_complete": self.is_complete,
            "notes": list(self.notes),
        }

    def _grid(self) -> tuple[list[list[str]], list[str], list[str]]:
        """One row per k, one column per criterion."""
        arrow = {"higher": "↑", "lower": "↓", "elbow": "⌐"}
        cells = [
            [_short(c.values[i]) + ("*" if k == c.best else " ") for c in self.curves] for i, k in enumerate(self.ks)
        ]
        return cells, [str(k) for k in self.ks], [f"{arrow[c.better]} {c.name}" for c in self.curves]

    def __repr__(self) -> str:
        import textwrap

        lines = [textwrap.fill(note, 80, initial_indent="! ", subsequent_indent="  ") for note in self.notes]
        cells, rows, names = self._grid()
        if names:
            lines += ["", *_in_parts(cells, rows, names), textwrap.fill(self._legend, 80), ""]
        return "\n".join([*lines, *textwrap.wrap(self.recommendation, 80)]).lstrip("\n")

    @property
    def _legend(self) -> str:
        """What the signs of the table mean."""
        arrows = {"higher": "↑ higher is better", "lower": "↓ lower is better", "elbow": "⌐ the bend counts"}
        known = [text for key, text in arrows.items() if any(c.better == key for c in self.curves)]
        known += ["* the k that this criterion favours"] * any(c.best is not None for c in self.curves)
        known += ["– not defined"] * any(np.isnan(c.values).any() for c in self.curves)
        return f"One row per k; {', '.join(known)}."

    def _repr_html_(self) -> str:
        from html import escape

        said = "".join(f"<li>{escape(note)}</li>" for note in self.notes)
        legend = f"<p>{escape(self._legend)}</p>" if self.curves else ""
        return html_grid(*self._grid(), caption=self.recommendation) + legend + (f"<ul>{said}</ul>" if said else "")


#: widest table of a terminal
WIDE = 80


def _in_parts(cells: list[list[str]], rows: list[str], names: list[str]) -> list[str]:
    """The table in parts that are at most 80 columns wide, one below the other."""
    widths = [max(len(name), *(len(line[j]) for line in cells)) + 2 for j, name in enumerate(names)]
    parts: list[list[int]] = [[]]
    for j, width in enumerate(widths):
        if parts[-1] and len(max(rows, key=len)) + sum(widths[i] for i in parts[-1]) + width > WIDE:
            parts.append([])
        parts[-1].append(j)
    shown = [
        text_grid([[line[j] for j in part] for line in cells], rows, [names[j] + " " for j in part]) for part in parts
    ]
    return "\n\n".join(shown).split("\n")


def _short(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.3f}" if abs(value) < 1e4 else f"{value:.3g}"
