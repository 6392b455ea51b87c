"""The result of a consensus: labels, their confidence, and how they were found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Literal, overload

import numpy as np

from congruence.comparison.presenting import Result, figure_of, number, plain, shortened
from congruence.consensus_clustering.methods import find
from congruence.engine.plan import seed_sequence
from congruence.errors import MOST_DRAWS, InputError, NoSuchName, counted, joined, whole_number
from congruence.formulas import find as measure_named
from congruence.formulas.record import Better
from congruence.inputs.frames import make_frame, text_grid
from congruence.options import described
from congruence.statistics.tables import Array
from congruence.typing import Backend, Figure, Frame, Index, PointsLike, Record, Seed


def _drawn(resamples: int, seeds: np.random.SeedSequence, members: int) -> Array:
    """How often each member occurs in each resample, the same for every clustering."""
    return np.random.default_rng(seeds).multinomial(members, np.full(members, 1 / members), size=resamples)


@dataclass(frozen=True, eq=False, kw_only=True)
class Consensus(Result):
    """One clustering of the points, its confidence for each point, and how it was found.

    Attributes:
        labels: Cluster of each point, the largest first; −1 if no member labels the point.
        confidence: Probability that each point is in the right cluster, calibrated on planted ensembles.
        votes: Function that gives the memberships.
        n_clusters: Number of clusters.
        method: The method that was kept.
        solver: Its solver.
        notes: Approximations and other notes.
        seconds: Time used.
        scored: Function that gives the rows of `tried`, and of `scores_by`.
        index: Index of the points, if they have one.
        kind: Kind of frame of the members.

    >>> import congruence as cg
    >>> r = cg.consensus([[0, 0, 1, 1, 2], [1, 1, 0, 0, 2], [0, 0, 0, 1, 2]], 3, method="average")
    >>> r.labels.tolist(), r.n_clusters, r.method
    ([0, 0, 1, 1, 2], 3, 'average')
    >>> r.vote_share.round(2).tolist()
    [0.89, 0.89, 0.78, 1.0, 1.0]
    """

    labels: Array
    confidence: Array = field(repr=False)
    votes: Callable[[], Array] = field(repr=False)
    n_clusters: int
    method: str
    solver: str
    notes: tuple[str, ...]
    seconds: float
    scored: Callable[..., tuple[Record, ...]] = field(repr=False)
    index: Index = field(default=None, repr=False)
    kind: str | None = field(default=None, repr=False)

    @cached_property
    def tried(self) -> tuple[Record, ...]:
        """One row per method tried, the kept one first: n_clusters, pooled_ami, arimp, anmi, its objective, seconds, solver."""
        return self.scored()

    @cached_property
    def memberships(self) -> Array:
        """Share of the votes of each point for each cluster, points × clusters; NaN if no member labels the point."""
        return self.votes()

    @property
    def vote_share(self) -> Array:
        """Share of each point's votes for its own cluster: the mean share of its member clusters in that cluster."""
        rows = np.arange(len(self.labels))
        return np.where(self.labels >= 0, self.memberships[rows, np.maximum(self.labels, 0)], np.nan)

    @property
    def approximations(self) -> tuple[str, ...]:
        """The same as `notes`."""
        return self.notes

    @overload
    def __getitem__(self, key: Literal["pooled_ami", "arimp", "anmi", "value", "seconds"]) -> float: ...
    @overload
    def __getitem__(self, key: Literal["method", "objective", "solver"]) -> str: ...
    @overload
    def __getitem__(self, key: str) -> str | float: ...
    def __getitem__(self, key: str) -> str | float:
        """A score of the clustering kept: r["pooled_ami"], r["arimp"], r["anmi"], r["objective"]."""
        row = self.tried[0]
        if key not in row:
            raise NoSuchName(f"there is no score {key!r}; there are: {joined(row)}")
        score: str | float = row[key]
        return score

    @property
    def scores(self) -> Frame:
        """A frame with one row per clustering tried: the one kept first, the others by pooled_ami."""
        return make_frame({name: [row[name] for row in self.tried] for name in self.tried[0]}, self.kind)

    @described
    def scores_by(self, measures: str | Sequence[str] = "irm", *, resamples: int = 0, random_state: Seed = 0) -> Frame:
        """The scores with the mean agreement with the members by other measures, and how much arimp depends on the members.

        Args:
            measures: Symmetric measures of two clusterings. Default "irm".
            resamples: Number of resamples of the members, drawn with replacement: arimp_low and arimp_high hold 95% of the
                arimp of each clustering with them. Default 0: none.
            random_state: See `congruence.options`.

        Returns:
            A frame: `scores` with a column per measure.

        Raises:
            InputError: If a measure is not symmetric.

        >>> import congruence as cg
        >>> r = cg.consensus([[0, 0, 1, 1, 2], [1, 1, 0, 0, 2], [0, 0, 0, 1, 2]], 3, method="average")
        >>> r.scores_by("irm", resamples=50, random_state=0)[["irm", "arimp_low", "arimp", "arimp_high"]].round(2).values.tolist()
        [[0.87, 0.21, 0.71, 1.0]]
        """
        keys = [measures] if isinstance(measures, str) else list(measures)
        for key in keys:
            if not measure_named(key).is_symmetric:
                raise InputError(
                    f"the agreement with members has no reference, so {key} does not fit; it is not symmetric"
                )
        resamples = whole_number(resamples, "resamples", 0, MOST_DRAWS)
        draws = None if resamples == 0 else partial(_drawn, resamples, seed_sequence(random_state))
        rows = self.scored(keys, draws)
        return make_frame({name: [row[name] for row in rows] for name in rows[0]}, self.kind)

    def table_columns(self) -> Record:
        """One row per point: its cluster and the confidence."""
        return {"cluster": self.labels, "confidence": self.confidence}

    @described
    def to_frame(self, backend: str | None = None) -> Frame:
        """Columns cluster and confidence, one row per point; a pandas frame has the index of the ensemble.

        Args:
            backend: See `congruence.options`.

        Returns:
            A data frame.
        """
        frame: Frame = super().to_frame(backend)
        if self.index is not None and type(frame).__module__.split(".")[0] == "pandas":
            frame.index = self.index
        return frame

    def to_dict(self) -> Record:
        """Everything except the memberships, as plain Python values."""
        about = {"method": self.method, "n_clusters": self.n_clusters, "solver": self.solver, "seconds": self.seconds}
        points = {"labels": self.labels, "confidence": self.confidence}
        found: Record = plain({**about, "notes": self.notes, "scores": list(self.tried), **points})
        return found

    def plot(self, backend: Backend = "plotly", data: PointsLike = None) -> Figure:  # type: ignore[override]
        """A card per cluster: its size, the share of votes, and its votes for other clusters or the features that distinguish it.

        Args:
            backend: "plotly" (default) or "matplotlib".
            data: Numbers of the same points, points × features. Default None: the bars are votes; else the five features
                in which each cluster differs most from the other points.

        Returns:
            A plotly or matplotlib figure.

        Raises:
            InputError: If the data have another number of points.
        """
        return figure_of(self, backend, data=data)

    def shown_columns(self) -> Record:
        """The scores, one row per clustering tried."""
        return {name: [row[name] for row in self.tried] for name in self.tried[0] if name != "solver"}

    def __repr__(self) -> str:
        from textwrap import fill

        sizes = np.bincount(self.labels[self.labels >= 0], minlength=self.n_clusters).tolist()
        shown = ", ".join(f"{s:,}" for s in sizes[:8]) + (", …" if len(sizes) > 8 else "")
        found = f"{counted(self.n_clusters, 'cluster')} of {counted(len(self.labels), 'point')}"
        head = f"{self.method}: {found} ({shown}), mean confidence "
        known = self.confidence[self.labels >= 0]
        lines = [head + (f"{known.mean():.3f}" if len(known) else "undefined"), fill(f"by {self.solver}", 80), ""]
        return "\n".join([*lines, grid_of_scores(self.tried, self.notes)])


def grid_of_scores(tried: Sequence[Record], notes: Sequence[str]) -> str:
    """A line per clustering that was tried, and the notes."""
    from textwrap import fill

    cells = []
    for r in tried:
        method = find(r["method"])
        own = f"{number(r['value'])}  {'↓' if method.better is Better.LOWER else '↑'} {method.objective}"
        scores = [number(r["pooled_ami"]), number(r["arimp"]), number(r["anmi"]), f"{r['seconds']:.2f}"]
        cells.append([str(r["n_clusters"]), *scores, shortened(own, 34)])
    names = [r["method"] + (", refined" if r["refined"] else "") for r in tried]
    columns = ["clusters", "pooled_ami", "arimp", "anmi", "seconds", "own objective"]
    listed = [fill(note, 80, initial_indent="! ", subsequent_indent="  ") for note in notes]
    return "\n".join([text_grid(cells, names, columns, left=True), *listed])
