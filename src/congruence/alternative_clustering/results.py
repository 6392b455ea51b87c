"""Results of a search for alternatives: labels, their scores, and the scores of shuffled labels."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from itertools import combinations

import numpy as np

from congruence.alternative_clustering.quality import dissimilarity, dq, dunn_index
from congruence.comparison.presenting import Result, figure_of, number, plain
from congruence.errors import joined
from congruence.inputs.frames import html_grid, text_grid
from congruence.statistics.tables import Array
from congruence.typing import Backend, Figure, Record

SCORES = {
    "adco": "similarity of density profiles (low is different)",
    "optimality": "adco as a multiple of the smallest possible (1 is the smallest)",
    "dissimilarity": "1 − Jaccard (high is different)",
    "gdi": "generalised Dunn index (high is good)",
    "dq": "harmonic mean of dissimilarity and gdi",
    "silhouette": "mean silhouette (high is good)",
}


@dataclass(frozen=True, eq=False, kw_only=True)
class Alternative(Result):
    """An alternative clustering: labels, scores, the scores of shuffled labels, and how it was found.

    Attributes:
        labels: Cluster of each point.
        method: The method, or the one that "auto" kept.
        adco: ADCO with each known clustering.
        optimality: The same as a multiple of the smallest possible.
        dissimilarity: 1 − Jaccard with each known clustering.
        gdi: Generalised Dunn index; NaN for one cluster.
        dq: Harmonic mean of dissimilarity and Dunn index.
        silhouette: Mean silhouette.
        random: Mean of the same scores over five shuffles of the labels.
        status: Solver status.
        gap: Relative gap to the proved bound, NaN if unknown.
        seconds: Time used.
        notes: Cautions about the input or the search.
        tried: With method="auto", the merit of each method tried, the best first: what its labels explain of the data beyond
            the known clusterings and beyond chance.

    >>> import congruence as cg
    >>> X = [[a, b] for a in (0.0, 5.0) for b in (0.0, 9.0) for _ in range(5)]
    >>> found = cg.alternatives(X, [i // 10 for i in range(20)], random_state=0)[0]
    >>> cg.ari(found.labels, [i // 5 % 2 for i in range(20)]), found.sizes
    (1.0, (10, 10))
    >>> round(found.scores["dissimilarity"], 4), found.sizes
    (0.7143, (10, 10))
    """

    labels: Array = field(repr=False)
    method: str
    adco: dict[str, float]
    optimality: dict[str, float]
    dissimilarity: dict[str, float]
    gdi: float
    dq: float
    silhouette: float
    random: dict[str, float]
    status: str
    gap: float
    seconds: float
    notes: tuple[str, ...] = ()
    tried: dict[str, float] = field(default_factory=dict)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Points in each cluster."""
        return tuple(np.bincount(self.labels).tolist())

    @property
    def n_clusters(self) -> int:
        """Number of clusters that have points."""
        return len(self.sizes)

    @property
    def scores(self) -> dict[str, float]:
        """One number per score; the mean if there are several known clusterings."""
        values = {key: getattr(self, key) for key in SCORES}
        return {key: float(np.mean(list(x.values()))) if isinstance(x, dict) else x for key, x in values.items()}

    def to_dict(self) -> Record:
        """Everything except the labels, as plain values."""
        about = {name: getattr(self, name) for name in ("method", "sizes", *SCORES)} | {"random labels": self.random}
        about |= {name: getattr(self, name) for name in ("status", "gap", "seconds", "notes")}
        found: Record = plain(about | ({"tried": self.tried} if self.tried else {}))
        return found

    def facts(self) -> Record:
        """Everything, with the labels."""
        return {**self.to_dict(), "labels": self.labels}

    def table_columns(self) -> Record:
        """One row per score: its value, and that of shuffled labels."""
        values, random = list(self.scores.values()), [self.random[key] for key in SCORES]
        return {"score": list(SCORES), "value": values, "random": random}

    def _grid(self) -> tuple[list[list[str]], list[str], list[str]]:
        cells = [[number(self.scores[key]), number(self.random[key]), words] for key, words in SCORES.items()]
        return cells, list(SCORES), ["value", "random", ""]

    def _headline(self) -> str:
        return f"alternative by {self.method}: {self.n_clusters} clusters of {', '.join(map(str, self.sizes))} points"

    def __repr__(self) -> str:
        cells, rows, columns = self._grid()
        lines = text_grid([line[:-1] for line in cells], rows, columns[:-1]).split("\n")
        shown = [lines[0], *(f"{line}  {cell[-1]}" for line, cell in zip(lines[1:], cells, strict=True))]
        gap = "" if math.isnan(self.gap) else f", gap {self.gap:.2%}"
        end = [f"{self.status}{gap}, {self.seconds:.2f} s"]
        if self.tried:
            end.append("auto tried: " + ", ".join(f"{name} {value:.3f}" for name, value in self.tried.items()))
        return "\n".join([self._headline(), *shown, *end, *map("! {}".format, self.notes)])

    def _repr_html_(self) -> str:
        return html_grid(*self._grid(), caption=f"{self._headline()}; {self.status}")


class Alternatives(list[Alternative]):
    """The alternatives found, in order: a list with the prepared data, the given clusterings, a sentence and `plot()`."""

    def __init__(
        self, found: Iterable[Alternative], data: Array, given: Mapping[str, Array], is_complete: bool = False
    ) -> None:
        super().__init__(found)
        self.data, self.given = data, dict(given)
        #: whether nothing is left to find: `choose_k` finds no clusters in what all these leave unexplained
        self.is_complete = is_complete

    @property
    def sentence(self) -> str:
        """How many alternatives there are, of how many clusters, and whether others are left."""
        sizes = joined(found.n_clusters for found in self)
        if not self:
            return "No further view: no clusters were found in what the given ones leave unexplained."
        views = "One further view" if len(self) == 1 else f"{len(self)} further views"
        rest = "no other was found" if self.is_complete else "whether others are left was not tested"
        return f"{views}, of {sizes} clusters; {rest}."

    @cached_property
    def overall(self) -> dict[str, float]:
        """Dissimilarity and quality of the whole set, of the given clusterings and the alternatives (Bae et al. 2010).

        "dissimilarity" is the mean of 1 − Jaccard over all pairs (Definition 3), "quality" the mean generalised Dunn index
        δ4/Δ3 of those with at least two clusters (Definition 4), and "dq" the harmonic mean of the two.

        >>> import congruence as cg
        >>> X = [[a, b] for a in (0.0, 5.0) for b in (0.0, 9.0) for _ in range(5)]
        >>> views = cg.alternatives(X, [i // 10 for i in range(20)], random_state=0)
        >>> {name: round(value, 3) for name, value in views.overall.items()}
        {'dissimilarity': 0.714, 'quality': 1.0, 'dq': 0.833}
        """
        every = [*self.given.values(), *(found.labels for found in self)]
        apart = [dissimilarity(a, b) for a, b in combinations(every, 2)]
        quality = [dunn_index(self.data, np.unique(c, return_inverse=True)[1]) for c in every if len(np.unique(c)) > 1]
        found = {
            "dissimilarity": float(np.mean(apart)) if apart else math.nan,
            "quality": float(np.mean(quality)) if quality else math.nan,
        }
        return found | {"dq": dq(*found.values()) if apart and quality else math.nan}

    def __repr__(self) -> str:
        return "\n\n".join([*map(repr, self), *([self.sentence] if self.is_complete else [])]) or "no alternatives"

    def _repr_html_(self) -> str:
        return "".join(x._repr_html_() for x in self) + f"<p>{escape(self.sentence)}</p>"

    def plot(self, backend: Backend = "plotly") -> Figure:
        """A figure: the data in two dimensions, coloured by the given clusterings and by each alternative; see `cg.figure`."""
        return figure_of(self, backend)
