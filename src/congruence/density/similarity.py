"""ADCO and related measures: two clusterings of the same or different points, compared by their density profiles."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from congruence.comparison.presenting import Result, number
from congruence.density.binning import Binning
from congruence.density.columns import as_columns, brought
from congruence.density.counting import counted, equal_samples, similarity_matrix
from congruence.density.profile import Profile
from congruence.engine.plan import on_card
from congruence.errors import Call, Caution, InputError, NoSuchName, Option, joined, one_of, some_of, yes_or_no
from congruence.formulas import find
from congruence.formulas.docstrings import described_arguments, document
from congruence.formulas.solvers import transport_plan
from congruence.inputs.alignment import InputOptions, check_index, decided
from congruence.inputs.coerce import as_disjoint
from congruence.inputs.effects import refuse_idle
from congruence.inputs.frames import make_frame, text_grid
from congruence.inputs.kinds import Clustering, Unassigned
from congruence.inputs.labels import noise_caution
from congruence.options import described
from congruence.statistics.profiles import Profiles
from congruence.statistics.tables import Array
from congruence.typing import ClusteringLike, EngineName, Frame, Label, NoiseLike, OptionValue, PointsLike, Record, Seed

KEYS = ("adco", "adco_distance", "adco_metric", "adco_cosine")
#: maximum number of pairs of clusters of a soft matching
MOST_PAIRS = 1_000_000


@dataclass(frozen=True, eq=False, kw_only=True)
class ProfileComparison(Result):
    """Two clusterings compared by their density profiles: values, matched clusters, attributes.

    Attributes:
        values: The values by key.
        statistic: The statistic that formulas read.
        matches: For each matched pair: cluster of a, cluster of b, weight of the pair, similarity, size in a, size in
            b.
        only_a: Clusters of a without a match.
        only_b: Clusters of b without a match.
        attributes: For each attribute: name, what it adds to adco, its own similarity, values outside the bins of a
            and of b.
        profiles: Both profiles.
        notes: Cautions about the input.

    >>> import congruence as cg
    >>> r = cg.compare_profiles(["p", "p", "q", "q"], [1, 1, 0, 0], [[0.0], [1.0], [9.0], [8.0]], bins=2)
    >>> r.mapping, r["adco"]
    ({1: 'p', 0: 'q'}, 1.0)
    """

    values: dict[str, float]
    statistic: Profiles = field(repr=False)
    matches: tuple[tuple[Label, Label, float, float, float, float], ...]
    only_a: tuple[Label, ...]
    only_b: tuple[Label, ...]
    attributes: tuple[tuple[str, float, float, int, int], ...]
    profiles: tuple[Profile, Profile] = field(repr=False)
    notes: tuple[str, ...] = ()

    def __getitem__(self, key: str) -> float:
        name = find(key).key
        if name not in self.values:
            raise NoSuchName(f"{name} is not a measure of density profiles; use {joined(self.values, 'or')}")
        return self.values[name]

    @property
    def mapping(self) -> dict[Label, Label]:
        """The matched cluster of a for each cluster of b."""
        best: dict[Label, tuple[float, Label]] = {}
        for a, b, weight, *_ in self.matches:
            best[b] = max(best.get(b, (-1.0, None)), (weight, a), key=lambda x: x[0])
        return {b: a for b, (_, a) in best.items()}

    def to_dict(self) -> dict[str, float]:
        """The values by key."""
        return dict(self.values)

    @described
    def to_frame(  # type: ignore[override]
        self, what: Literal["attributes", "clusters"] = "attributes", backend: str | None = None
    ) -> Frame:
        """One row per attribute, or one row per matched pair of clusters.

        Args:
            what: "attributes" (default) or "clusters".
            backend: See `congruence.options`.

        Returns:
            A data frame.

        Raises:
            InputError: If an argument is invalid.
        """
        if what not in ("attributes", "clusters"):
            raise InputError(f"to_frame gives 'attributes' or 'clusters', not {what!r}")
        rows = self.attribute_rows() if what == "attributes" else self.cluster_rows()
        return make_frame({name: [row[name] for row in rows] for name in rows[0]} if rows else {}, backend)

    def cluster_rows(self) -> list[Record]:
        """One row per matched pair of clusters."""
        return [dict(zip(("a", "b", "weight", "similarity", "size_a", "size_b"), m, strict=True)) for m in self.matches]

    def attribute_rows(self) -> list[Record]:
        """One row per attribute."""
        names = ("attribute", "adds", "similarity", "outside_a", "outside_b")
        return [dict(zip(names, row, strict=True)) for row in self.attributes]

    def facts(self) -> Record:
        """Everything in the comparison, for JSON."""
        return {
            "values": self.values,
            "n_points": [p.n for p in self.profiles],
            "n_clusters": [len(p.clusters) for p in self.profiles],
            "clusters": self.cluster_rows(),
            "only_a": self.only_a,
            "only_b": self.only_b,
            "attributes": self.attribute_rows(),
            "notes": self.notes,
        }

    def __repr__(self) -> str:
        p, q = self.profiles
        lines = [
            f"a: {_clusters(p)}, {p.n:g} points; b: {_clusters(q)}, {q.n:g} points; "
            f"{len(p.attributes)} attribute{'s' * (len(p.attributes) != 1)} in {p.counts.shape[1]} bins",
            text_grid([[number(v)] for v in self.values.values()], list(self.values), ["value"]),
            "",
        ]
        shown = self.matches[:20]
        cells = [[str(b), f"{w:.3g}", f"{s:.3f}", f"{x:g}", f"{y:g}"] for _, b, w, s, x, y in shown]
        lines.append(
            text_grid(cells, [str(a) for a, *_ in shown], ["b", "weight", "similarity", "size a", "size b"])
            + (f"\n… and {len(self.matches) - 20} more" if len(self.matches) > 20 else "")
        )
        for side, names in (("a", self.only_a), ("b", self.only_b)):
            if names:
                lines.append(f"only in {side}: {some_of(map(str, names), 10)}")
        worst = sorted(self.attributes, key=lambda row: row[2])[:8]
        cells = [[f"{adds:.4f}", f"{own:.3f}"] for _, adds, own, *_ in worst]
        head = "attributes" if len(worst) == len(self.attributes) else f"the {len(worst)} attributes that differ most"
        lines += ["", head, text_grid(cells, [name for name, *_ in worst], ["adds to adco", "similarity"])]
        return "\n".join([*lines, *(f"note: {n}" for n in self.notes)])


@described
def compare_profiles(
    a: ClusteringLike | Profile,
    b: ClusteringLike | Profile,
    X: PointsLike = None,
    X_b: PointsLike = None,
    *,
    binning: str | Binning = "width",
    bins: int = 10,
    nominal: Sequence[str | int] = (),
    adjusted: bool = False,
    bivariate: bool = False,
    matching: Literal["one", "soft"] = "one",
    sizes: Literal["given", "sample", "scaled"] = "given",
    unassigned: Unassigned = "error",
    noise: NoiseLike = None,
    random_state: Seed = 0,
    threads: int | None = None,
    engine: EngineName = "auto",
) -> ProfileComparison:
    """Compare two clusterings by their density profiles: values, matched clusters, contribution of each attribute.

    The bins are fitted on both sides together, "mdl" against `a`.

    Args:
        a: Labels or memberships of the points of X; or a `Profile`.
        b: Labels or memberships of the points of X, or of X_b; or a `Profile`.
        X: The data, points × attributes: an array or a frame. None for profiles.
        X_b: Data with the same attributes, if b labels other points. Default None.
        binning, bins, nominal: See `congruence.options`.
        adjusted: Whether to subtract the mean over matchings. Default False.
        bivariate: See `congruence.options`.
        matching: "one" (default; one to one) or "soft": clusters may split, and the value is the largest mean
            similarity when the points of a are transported onto those of b.
        sizes: How to treat sides of different size: "given" (default; unchanged), "sample" (a stratified sample of
            the larger side) or "scaled" (scale counts down, the mean of such samples).
        unassigned, noise, random_state, threads, engine: See `congruence.options`.

    Returns:
        A `ProfileComparison`: `r["adco"]`, `.mapping`, `.to_frame()` by attribute or cluster.

    See also:
        `cg.adco`, `cg.drift`, `cg.density_profile`.

    >>> import congruence as cg
    >>> X = [[0.0, 1], [1.0, 2], [9.0, 9], [10.0, 8]]
    >>> r = cg.compare_profiles(["p", "p", "q", "q"], [1, 1, 0, 0], X, bins=2)
    >>> r["adco"], r.mapping
    (1.0, {1: 'p', 0: 'q'})
    """
    refuse_idle(compare_profiles, locals())
    one_of("matching", matching, ("one", "soft"))
    one_of("sizes", sizes, ("given", "sample", "scaled"))
    if yes_or_no(adjusted, "adjusted") and matching == "soft":
        raise InputError(
            f"{Option('adjusted', True)} subtracts the mean over matchings, which soft matchings do not have"
        )
    cautions: list[Caution] = []
    if isinstance(a, Profile) or isinstance(b, Profile):
        p, q = _given_profiles(a, b, X, X_b, sizes)
        refuse_idle(compare_profiles, locals(), "for profiles, which are counted already")
    else:
        chosen = copy(binning) if isinstance(binning, Binning) else Binning(binning, bins, nominal=nominal)  # type: ignore[arg-type]
        options = InputOptions(unassigned=unassigned, noise=noise)
        how: Record = {"bivariate": bivariate, "threads": threads, "engine": engine}
        p, q = _counted_profiles((a, b), (X, X_b), chosen, options, sizes, random_state, how)
        if noise is None:
            cautions = [c for x, who in ((p, "a"), (q, "b")) for c in noise_caution(x.clusters, who)]
    if sizes == "scaled" and p.n != q.n and p.n and q.n:
        p, q = (x.scaled(min(p.n, q.n) / x.n) for x in (p, q))
    found = _compared(p, q, matching, adjusted)
    return replace(found, notes=(*cautions, *found.notes))


def _given_profiles(a: object, b: object, X: PointsLike, X_b: PointsLike, sizes: str) -> tuple[Profile, Profile]:
    if not (isinstance(a, Profile) and isinstance(b, Profile)):
        raise InputError(
            f"one side is a profile and the other is not; count both with {Call('cg.density_profile')} and one Binning"
        )
    if X is not None or X_b is not None:
        raise InputError("profiles are counted already; leave X out")
    if sizes == "sample":
        raise InputError(
            f"a profile has no points to sample; pass {Option('sizes', 'scaled')}, the mean of such samples"
        )
    a.check_same_bins(b)
    return a, b


def _counted_profiles(
    labels: tuple[ClusteringLike, ClusteringLike], data_of: tuple[PointsLike, PointsLike], chosen: Binning,
    options: InputOptions, sizes: str, random_state: Seed, how: Record,
) -> tuple[Profile, Profile]:  # fmt: skip
    """Both profiles in the same bins."""
    if data_of[0] is None:
        raise InputError("density profiles need the data that were clustered: pass X, points × attributes")
    X, X_b = (brought(x, how["engine"]) for x in data_of)
    raw: list[Clustering] = []
    for given, who in zip(labels, ("a", "b"), strict=True):
        raw.append(as_disjoint(on_card(given, how["engine"]), who))
        check_index(raw[-1], X if who == "a" or X_b is None else X_b, who)
    sides: Sequence[Clustering] = decided(raw, options, ("a", "b"))
    data = [as_columns(X, chosen.nominal_names)]
    data.append(data[0] if X_b is None else as_columns(X_b, chosen.nominal_names))
    for columns, clustering, who in zip(data, sides, ("a", "b"), strict=True):
        if len(columns) != len(clustering):
            more = "; pass X_b if b labels other points" if who == "b" and X_b is None else ""
            raise InputError(
                f"{who} has {len(clustering)} labels for {len(columns)} points; give one label per point{more}"
            )
    if not chosen.is_fitted:
        if chosen.method == "mdl":
            chosen.fit(data[0], sides[0])
        else:
            chosen.fit(data[0] if X_b is None else data[0] + data[1])
    data = [chosen.columns(columns) for columns in (data[:1] if X_b is None else data)]
    if sizes == "sample":
        data, sides = equal_samples(data * (2 if X_b is None else 1), sides, random_state)
    if len(data) == 1:
        p, q = counted(data[0], sides, chosen, **how)
    else:
        p, q = (
            counted(columns, [clustering], chosen, **how)[0] for columns, clustering in zip(data, sides, strict=True)
        )
    for profile, who in ((p, "a"), (q, "b")):
        if not profile.n:
            raise InputError(f"{who}: no point is assigned to a cluster")
    return p, q


# --- two profiles -----------------------------------------------------------------------------------------------


def _squares(profile: Profile) -> Array:
    """The sum of squared counts for each cluster and attribute."""
    return np.add.reduceat(np.square(profile.counts.astype(np.float64)), profile.starts[:-1], axis=1)


def _compared(p: Profile, q: Profile, matching: str, adjusted: bool) -> ProfileComparison:
    p.check_same_bins(q)
    product = similarity_matrix(p, q)
    own_p, own_q = _squares(p), _squares(q)
    square_p, square_q = own_p.sum(axis=1), own_q.sum(axis=1)
    if matching == "soft":
        statistic, pairs = _soft(p, q, product, square_p, square_q)
    else:
        statistic, pairs = _matched(product, square_p, square_q)
    values = {}
    for key in KEYS:
        record = find(key, adjusted=True) if adjusted and key == "adco" else find(key)
        values[key] = float(record.values(statistic)[0])
    k, m, weight, norm = pairs
    # each pair's product, attribute by attribute
    parts = np.add.reduceat(p.counts[k].astype(np.float64) * q.counts[m], p.starts[:-1], axis=1)
    adds = (weight / norm) @ parts
    if matching == "soft":
        scale = np.maximum(own_p[k] / np.square(p.sizes[k])[:, None], own_q[m] / np.square(q.sizes[m])[:, None])
        similar = weight @ (parts / scale)
    else:
        most = np.maximum(own_p.sum(axis=0), own_q.sum(axis=0))
        similar = np.divide(parts.sum(axis=0), most, out=np.ones_like(most), where=most > 0)
    if matching == "soft":
        weight = weight * p.sizes[k] * q.sizes[m]
        alike = product[k, m] / (p.sizes[k] * q.sizes[m] * norm)
    else:
        alike = product[k, m] / np.maximum(square_p[k], square_q[m])
    matches = tuple(
        (p.clusters[i], q.clusters[j], float(w), float(s), p.sizes[i].item(), q.sizes[j].item())
        for i, j, w, s in zip(k.tolist(), m.tolist(), weight.tolist(), alike.tolist(), strict=True)
    )
    rows = tuple(
        (name, float(x), float(y), int(out_p), int(out_q))
        for name, x, y, out_p, out_q in zip(p.names, adds, similar, p.outside, q.outside, strict=True)
    )
    return ProfileComparison(
        values=values, statistic=statistic, matches=matches, attributes=rows, profiles=(p, q), notes=_notes(p, q),
        only_a=tuple(c for i, c in enumerate(p.clusters) if i not in set(k.tolist())),
        only_b=tuple(c for j, c in enumerate(q.clusters) if j not in set(m.tolist())),
    )  # fmt: skip


def _clusters(p: Profile) -> str:
    return f"{len(p.clusters)} cluster{'s' * (len(p.clusters) != 1)}"


def _notes(p: Profile, q: Profile) -> tuple[str, ...]:
    found = []
    nominal = {a.name for a in p.attributes if a.values is not None}
    for profile, who in ((p, "a"), (q, "b")):
        for name, many in zip(profile.names, profile.outside.tolist(), strict=True):
            if many:
                end = "new, in an extra bin" if name in nominal else "outside, counted in the first or last bin"
                found.append(f"{many} value{'s' * (many != 1)} of {name} in {who} {'is' if many == 1 else 'are'} {end}")
    if not math.isclose(p.n, q.n, rel_tol=1e-9):  # scaled counts have equal sums up to rounding
        found.append(
            f"a has {p.n:g} points and b {q.n:g}: this alone lowers adco; see adco_cosine, or pass "
            f"{Option('sizes', 'sample', 'scaled')}"
        )
    return tuple(found[:10]) + ((f"and {len(found) - 10} more notes",) if len(found) > 10 else ())


def _matched(product: Array, square_p: Array, square_q: Array) -> tuple[Profiles, tuple[Array, Array, Array, Array]]:
    """The best one-to-one matching of clusters; unmatched clusters add to the norm only."""
    from scipy.optimize import linear_sum_assignment

    own = float(square_p.sum()), float(square_q.sum())
    k, m = linear_sum_assignment(product, maximize=True)
    statistic = Profiles.of(float(product[k, m].sum()), *own, float(product.sum() / max(1, *product.shape)))
    # clusters without a common bin are not matched
    shared = product[k, m] > 0
    k, m = k[shared], m[shared]
    return statistic, (k, m, np.ones(len(k)), np.full(len(k), max(own)))


def _soft(
    p: Profile, q: Profile, product: Array, square_p: Array, square_q: Array
) -> tuple[Profiles, tuple[Array, Array, Array, Array]]:
    """The transport of the points of a onto those of b with the largest mean similarity of clusters."""
    if not p.n or not q.n:
        raise InputError("a soft matching transports the points of a onto those of b, but one side has none")
    size_p, size_q = p.sizes.astype(np.float64), q.sizes.astype(np.float64)
    some_p, some_q = (np.where(x > 0, x, 1.0) for x in (size_p, size_q))  # an empty cluster moves nothing
    norm = np.maximum((square_p / some_p**2)[:, None], (square_q / some_q**2)[None, :])
    norm[norm == 0] = 1.0
    alike = product / np.outer(some_p, some_q) / norm
    rows, cols = alike.shape
    if rows * cols > MOST_PAIRS:
        raise InputError(
            f"a soft matching compares all pairs of clusters, but {rows} × {cols} is more than {MOST_PAIRS:,}"
        )
    whole = size_p.sum() * size_q.sum()
    total, flow = transport_plan(alike, size_p * size_q.sum(), size_q * size_p.sum())
    k, m = np.nonzero(flow)
    weight = flow[k, m] / whole / (size_p[k] * size_q[m])
    return Profiles.of(total / whole, 1.0, 1.0, np.nan), (k, m, weight, norm[k, m])


def scorer(key: str) -> Callable[..., float]:
    """The function of one measure of profiles: `scorer("adco")(a, b, X)`."""
    record = find(key)

    options = {p.name: p for p in inspect.signature(compare_profiles).parameters.values() if p.kind is p.KEYWORD_ONLY}

    def score(
        a: ClusteringLike | Profile,
        b: ClusteringLike | Profile,
        X: PointsLike = None,
        X_b: PointsLike = None,
        **given: OptionValue,
    ) -> float:
        if yes_or_no(given.get("adjusted"), "adjusted") and "adjusted" not in record.parameters:
            raise InputError(f"{key} has no adjusted form; cg.adco has one")
        return compare_profiles(a, b, X, X_b, **given)[key]

    sides_of = [p for p in inspect.signature(score).parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
    score.__signature__ = inspect.Signature([*sides_of, *options.values()])  # type: ignore[attr-defined]
    told = described_arguments(compare_profiles)
    args = {
        "a": "Labels or memberships of the points of X, or a `Profile`.",
        "b": "Labels or memberships of the points of X, or of X_b; or a `Profile`.",
        "X": "The data, points × attributes; None for profiles.",
        "X_b": "Data with the same attributes, if b labels other points. Default None.",
        **{name: told[name] for name in options},
    }
    sides = "[0, 0, 1, 1], [0, 1, 1, 1], [[1.0], [2.0], [9.0], [8.0]]"
    return document(score, key, record, args, sides, "`cg.compare_profiles`, `cg.density_profile`.")
