"""One function per measure of density profiles: `cg.adco(a, b, X)`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from congruence.density.similarity import compare_profiles
from congruence.errors import InputError
from congruence.formulas import find
from congruence.formulas.docstrings import document


def scorer(key: str) -> Callable[..., float]:
    """The function of one measure of profiles: `scorer("adco")(a, b, X)`."""
    record = find(key)

    def score(a: Any, b: Any, X: Any = None, X_b: Any = None, **options: Any) -> float:
        if options.get("adjusted") and "adjusted" not in record.parameters:
            raise InputError(f"{key} has no adjusted form; cg.adco has one")
        return compare_profiles(a, b, X, X_b, **options)[key]

    args = {
        "a": "Labels or memberships of the points of X, or a `Profile`.",
        "b": "Labels or memberships of the points of X, or of X_b; or a `Profile`.",
        "X": "The data, points × attributes; None for profiles.",
        "X_b": "Data with the same attributes, if b labels other points. Default None.",
        "options": "Options of `compare_profiles`, as `binning` and `bins`.",
    }
    sides = "[0, 0, 1, 1], [0, 1, 1, 1], [[1.0], [2.0], [9.0], [8.0]]"
    return document(score, key, record, args, sides, "`cg.compare_profiles`, `cg.density_profile`.")
