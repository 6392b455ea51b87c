"""One function per measure of density profiles: `cg.adco(a, b, X)`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING

from congruence.density.similarity import compare_profiles
from congruence.errors import InputError, yes_or_no
from congruence.formulas import find
from congruence.formulas.docstrings import described_arguments, document
from congruence.typing import ClusteringLike, OptionValue, PointsLike

if TYPE_CHECKING:
    from congruence.density.profile import Profile


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
