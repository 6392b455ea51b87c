"""Distribution of the entries of a consensus matrix: CDF, PAC, ΔA."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from congruence.comparison.presenting import Result
from congruence.engine import matrices, tiles
from congruence.engine.plan import Progress, engine_for, generator_of
from congruence.ensembles.agreement import as_ensemble, complete_labels, no_pooled, point_mass
from congruence.errors import MOST_DRAWS, InputError, Option, real_number, whole_number
from congruence.inputs.effects import refuse_idle
from congruence.inputs.ensemble import Ensemble
from congruence.options import described
from congruence.statistics.tables import Array
from congruence.typing import EngineName, EnsembleLike, ProgressLike, Record, Scalar, Seed


@dataclass(frozen=True, eq=False, kw_only=True)
class ConsensusCdf(Result):
    """Distribution of the consensus values over pairs of points: `cdf(x)` is the share of pairs at or below x.

    >>> import congruence as cg
    >>> f = cg.consensus_cdf([[0, 0, 1, 1], [0, 1, 1, 1]])
    >>> f.values.tolist(), f.shares.round(3).tolist(), round(f.area, 3), round(f.pac(), 3)
    ([0.0, 0.5, 1.0], [0.333, 0.5, 0.167], 0.583, 0.5)
    """

    #: distinct consensus values, ascending, and their shares of the pairs
    values: Array
    shares: Array
    #: number of pairs of points used, and whether these are all pairs
    pairs: float
    is_exact: bool = True

    def __call__(self, x: Scalar) -> Scalar:
        """Share of the pairs with a consensus at or below x."""
        cumulative = np.concatenate([[0.0], np.cumsum(self.shares)])
        found = cumulative[np.searchsorted(self.values, np.asarray(x) + 1e-12, side="right")]
        return float(found) if np.ndim(x) == 0 else found

    def standard_error(self, x: float) -> float:
        """Standard error of `cdf(x)`: 0 if all pairs were used, √(F(1 − F) / pairs) for a sample."""
        share = float(self(x))
        return 0.0 if self.is_exact else float(np.sqrt(share * (1 - share) / self.pairs))

    @property
    def area(self) -> float:
        """Area under the distribution from 0 to 1, which is 1 − the mean consensus."""
        return float(1 - (self.values * self.shares).sum())

    def pac(self, lower: float = 0.1, upper: float = 0.9) -> float:
        """Proportion of ambiguous pairs: share of the pairs with a consensus above lower and up to upper."""
        lower, upper = real_number(lower, "lower"), real_number(upper, "upper")
        if not 0 <= lower < upper <= 1:
            raise InputError(f"pac needs 0 ≤ lower < upper ≤ 1, not {lower} and {upper}")
        return max(float(self(upper)) - float(self(lower)), 0.0)

    def table_columns(self) -> Record:
        """Columns: consensus value, share of the pairs, cumulative share."""
        return {"consensus": self.values, "share": self.shares, "cumulative": np.cumsum(self.shares)}

    def __repr__(self) -> str:
        how = "all" if self.is_exact else "a sample of"
        return f"ConsensusCdf: {how} {self.pairs:,.0f} pairs, area {self.area:.4f}, PAC {self.pac():.4f}"


@described
def consensus_cdf(
    ensemble: EnsembleLike,
    *,
    sample: int | None = None,
    missing: str = "ratio",
    random_state: Seed = 0,
    progress: ProgressLike = None,
    engine: EngineName = "auto",
) -> ConsensusCdf:
    """Distribution of the consensus values over all pairs of points, exactly, or over a `sample` of that many pairs.

    Points with the same labels in every member are merged, so complete ensembles need far fewer than n² steps.
    With engine="cuda" all pairs are compared on the GPU, in blocks that are not stored.

    Args:
        ensemble: See `congruence.options`.
        sample: Number of pairs of points to sample. Default None: all pairs, exactly.
        missing, random_state, progress, engine: See `congruence.options`.

    Returns:
        A `ConsensusCdf`: `f(x)`, `.area`, `.pac()`, `.to_frame()`.

    See also:
        `cg.delta_area`, `cg.consensus_matrix`.

    >>> import congruence as cg
    >>> round(cg.consensus_cdf([[0, 0, 1, 1], [0, 1, 1, 1]]).pac(), 3)
    0.5
    """
    refuse_idle(consensus_cdf, locals())
    e = as_ensemble(ensemble)
    no_pooled(missing)
    if e.mass is not None and not e.mass.is_frequency:
        raise InputError(
            f"the distribution of consensus values is over pairs of points; it has no {Option('sample_weight')}"
        )
    if sample is not None:
        return _sampled_cdf(e, whole_number(sample, "sample", 1, 10 * MOST_DRAWS), missing, random_state)
    if engine_for(engine, e.members).on_card:
        return _cdf_by_card(e, progress)
    if e.is_plain and e.member_weight is None and not e.has_gaps:
        codes = np.stack([c.codes for c in e.members], axis=1)
        _, first, group = np.unique(codes, axis=0, return_index=True, return_inverse=True)
        many = np.bincount(group.ravel(), weights=point_mass(e)[0])
        source = tiles.tiles_of(e.taken(first), missing)
    else:
        many, source = point_mass(e)[0], tiles.tiles_of(e, missing)
    matrices.check_pairs(len(source), len(e))
    found: dict[float, float] = {}
    pieces = tiles.slices(len(source), 512)
    with Progress(len(source) * (len(source) + 1) // 2, progress, "pairs of points") as bar:
        for x, rows in enumerate(pieces):
            for cols in pieces[x:]:
                values = source.tile(rows, cols) / source.scale
                weight = many[rows, None] * many[None, cols]
                if rows == cols:  # each pair once; the diagonal holds pairs of copies of a point
                    weight = np.triu(weight, 1) + np.diag(many[rows] * (many[rows] - 1) / 2)
                keep = ~np.isnan(values) & (weight > 0)
                different, where = np.unique(np.round(values[keep], 12), return_inverse=True)
                shares = np.bincount(where, weights=weight[keep], minlength=len(different))
                for value, share in zip(different.tolist(), shares.tolist(), strict=True):
                    found[value] = found.get(value, 0.0) + share
                bar.add(values.size)
    return _cdf_of(found, is_exact=True)


def _cdf_by_card(e: Ensemble, progress: ProgressLike) -> ConsensusCdf:
    from congruence.engine.cuda.points import Points

    points = Points(complete_labels(e))
    many = None if e.mass is None else e.mass.values
    with Progress(e.n_points * (e.n_points + 1) // 2, progress, "pairs of points") as bar:
        counts = points.histogram(many, bar)
    shares = np.round(np.arange(len(e) + 1) / len(e), 12)
    return _cdf_of({v: float(c) for v, c in zip(shares.tolist(), counts.tolist(), strict=True) if c}, is_exact=True)


def _cdf_of(found: Mapping[float, float], is_exact: bool) -> ConsensusCdf:
    values = np.array(sorted(found))
    counts = np.array([found[v] for v in values.tolist()])
    if not len(values):
        raise InputError("no member labels any pair of points")
    return ConsensusCdf(values=values, shares=counts / counts.sum(), pairs=float(counts.sum()), is_exact=is_exact)


def _sampled_cdf(e: Ensemble, sample: int, missing: str, random_state: Seed) -> ConsensusCdf:
    ends = np.cumsum(point_mass(e)[0]).astype(np.int64)  # a point that occurs twice counts twice
    total = int(ends[-1])
    if sample < 1 or total < 2:
        raise InputError(
            f"cannot draw {sample} pairs from {total} points; sample at least one pair of at least two points"
        )
    rng = generator_of(random_state)
    first = rng.integers(0, total, sample)
    second = (first + rng.integers(1, total, sample)) % total
    i, j = (np.searchsorted(ends, x, side="right") for x in (first, second))
    together, seen = np.zeros(sample), np.zeros(sample)
    for member, share in zip(e.members, e.shares.tolist(), strict=True):
        same, both = member.pairwise(i, j)
        together += share * same
        seen += share * both if missing == "ratio" else share
    known = seen > 0
    different, counts = np.unique(np.round(together[known] / seen[known], 12), return_counts=True)
    return _cdf_of(dict(zip(different.tolist(), counts.astype(float).tolist(), strict=True)), is_exact=False)


def delta_area(ensembles: Mapping[int, EnsembleLike]) -> dict[int, float]:
    """Relative growth of the area under the consensus distribution with k: A(k₀), then (A(k) − A(k−1)) / A(k−1).

    The area is 1 − the mean consensus, exact from cluster sizes alone if members are complete. `ensembles` maps
    numbers of clusters to ensembles.

    Args:
        ensembles: A mapping from number of clusters to ensemble.

    Returns:
        A mapping from number of clusters to the relative growth of the area.

    Raises:
        InputError: If an argument is invalid.

    See also:
        `cg.consensus_cdf`, `cg.choose_k`.

    >>> import congruence as cg
    >>> {k: round(v, 3) for k, v in cg.delta_area({2: [[0, 0, 1, 1]] * 3, 3: [[0, 0, 1, 2]] * 3}).items()}
    {2: 0.667, 3: 0.25}
    """
    if not isinstance(ensembles, Mapping) or not all(isinstance(k, int | np.integer) for k in ensembles):
        raise InputError("delta_area takes a mapping from numbers of clusters to ensembles, as in {2: …, 3: …}")
    areas = {}
    for k in sorted(ensembles):
        e = as_ensemble(ensembles[k])
        sums = matrices.sums_of(e, e if e.has_gaps else Ensemble([e.members[0]]), within=False)
        areas[k] = 1 - float(sums.s_p[0] / sums.pairs[0]) if sums.pairs[0] else float("nan")
    found: dict[int, float] = {}
    before: float | None = None
    for k, area in areas.items():
        found[k] = area if before is None else (area - before) / before if before else float("nan")
        before = area
    return found
