"""One function per measure: `cg.ari(a, b)`; and scorers for scikit-learn."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from typing import overload

import numpy as np

from congruence.comparison.at_once import value_at_once
from congruence.comparison.pair import compare
from congruence.errors import hint, one_of
from congruence.formulas import find
from congruence.formulas.docstrings import LABELS, TREES, TWO, document
from congruence.formulas.record import Measure, chosen_measures
from congruence.inputs.memberships import Memberships
from congruence.inputs.similarity import Similarity
from congruence.typing import AverageMethod, ClusteringLike, MatrixLike, OptionValue, Several

#: options that every function of a measure takes: those of `compare`
OPTIONS = {p.name: p for p in inspect.signature(compare).parameters.values() if p.kind is p.KEYWORD_ONLY}
#: scikit-learn's names for the two sides
SIDES = {"a": "labels_true", "b": "labels_pred"}
#: scikit-learn's average_method, and the suffix of the key
AVERAGES: dict[AverageMethod, str] = {"arithmetic": "sum", "geometric": "sqrt", "min": "min", "max": "max"}


def measure_function(key: str) -> Callable[..., float]:
    """The function of one measure: `measure_function("ari")(a, b)` is the adjusted Rand index."""
    record = find(key)
    averaged = key in ("normalized_mutual_info_score", "adjusted_mutual_info_score")
    known = {*record.parameters, *OPTIONS, *(["average_method"] if averaged else [])}

    def score(*sides: ClusteringLike, **given: OptionValue) -> float:
        if not given and len(sides) == len(SIDES) and (value := value_at_once(record, *sides)) is not None:
            return value
        a, b = _two_sides(key, sides, given)
        for name in given.keys() - known:
            raise TypeError(
                f"{key}() has no option {name!r}; {hint(name, known, 'it has: ' + ', '.join(sorted(known)))}"
            )
        own = {name: given.pop(name) for name in list(given) if name in record.parameters}
        chosen = _averaged(record, given.pop("average_method")) if "average_method" in given else record
        if record.family == "matrices":
            a, b = (_as_matrix(x, who) for x, who in ((a, "a"), (b, "b")))
        return find(chosen, **own)(a, b, **given)

    plain = inspect.Parameter.POSITIONAL_OR_KEYWORD
    both = [inspect.Parameter(name, plain, annotation="ClusteringLike") for name in SIDES]
    average = inspect.Parameter(
        "average_method", inspect.Parameter.KEYWORD_ONLY, default="arithmetic", annotation="AverageMethod"
    )
    signature = inspect.Signature([*both, *([average] if averaged else []), *OPTIONS.values()])
    score.__signature__ = signature  # type: ignore[attr-defined]
    is_tree = record.family == "trees"
    sides = "cg.Hierarchy([[0, 1], [2, 3]]), cg.Hierarchy([[0, 1, 2], [3]])" if is_tree else LABELS
    mean = {"average_method": 'Mean of the entropies: "arithmetic" (default), "geometric", "min" or "max".'}
    args = {**(TREES if is_tree else TWO), **(mean if averaged else {})}
    return document(score, key, record, args, sides, "`cg.compare` for several measures at once.")


def _two_sides(
    key: str, sides: tuple[ClusteringLike, ...], given: dict[str, OptionValue]
) -> tuple[ClusteringLike, ClusteringLike]:
    """The two clusterings, by position, as a and b, or as labels_true and labels_pred."""
    found = dict(zip(SIDES, sides, strict=False))
    if len(sides) > len(SIDES):
        raise TypeError(f"{key}() takes two clusterings and options by name; {len(sides)} were given by position")
    for name, other in SIDES.items():
        for said in (name, other):
            if said in given:
                if name in found:
                    raise TypeError(f"{key}() got two values for {name} ({other})")
                found[name] = given.pop(said)
        if name not in found:
            raise TypeError(f"{key}() needs two clusterings: {name} ({other}) is missing")
    return found["a"], found["b"]


def _averaged(record: Measure, method: AverageMethod) -> Measure:
    """The same measure with another mean of the entropies."""
    one_of("average_method", method, tuple(AVERAGES))
    return find(f"{record.key.split('_')[0]}_{AVERAGES[method]}")


def _as_matrix(x: MatrixLike, who: str) -> MatrixLike:
    """Take square arrays as matrices in measures of matrices, and several label vectors or columns as an ensemble.

    `compare` needs `cg.Similarity` or `cg.Ensemble`.
    """
    shape: tuple[int, ...] = getattr(x, "shape", ())
    if len(shape) == 2 and shape[0] == shape[1] and shape[0] > 1 and not isinstance(x, Memberships):
        return Similarity(x, who=who)
    listed = x.values() if isinstance(x, Mapping) else x if isinstance(x, list | tuple) else []
    vectors = len(listed) > 0 and all(hasattr(v, "__len__") and not isinstance(v, str) for v in listed)
    columns = len(shape) == 2 and shape[1] > 1 and not hasattr(x, "tocsr") and not isinstance(x, Memberships)
    if not (vectors or columns) or _is_soft(x):
        return x
    from congruence.inputs.ensemble import Ensemble  # late import: a first `cg.ari` does not need the readers of files

    return Ensemble(x)


def _is_soft(x: MatrixLike) -> bool:
    """Whether it is one table of fractions, which are memberships and no labels."""
    if isinstance(x, Mapping):
        return False
    table = np.asarray(x, dtype=None if hasattr(x, "shape") else object)
    return bool(table.ndim == 2 and len(table) and all(isinstance(v, float | np.floating) for v in table[0].tolist()))


@overload
def scorer(measure: str | Measure, **options: OptionValue) -> Callable[..., float]: ...
@overload
def scorer(measure: Several[str | Measure], **options: OptionValue) -> dict[str, Callable[..., float]]: ...
def scorer(
    measure: str | Measure | Several[str | Measure], **options: OptionValue
) -> Callable[..., float] | dict[str, Callable[..., float]]:
    """A scorer for scikit-learn's GridSearchCV and cross_validate: higher is better, so distances change sign.

    With metadata routing, `.set_score_request(sample_weight=True)` of a scorer passes weights to the measure.

    Args:
        measure (str | Measure): Key, alias or record of a measure of two clusterings; or several of them.
        options (OptionValue): Parameters of the measure and options of `cg.compare`, such as `unassigned` or `noise`.

    Returns:
        Callable[..., float]: A function of (estimator, X, y) that compares `estimator.predict(X)` with y. For several
            measures a dictionary of them by key, as `scoring=` takes it.

    Raises:
        InputError: If there is no such measure.

    See also:
        `cg.ConsensusClustering`, `cg.measures`.

    >>> import congruence as cg
    >>> from sklearn.cluster import KMeans
    >>> X, y = [[0.0], [0.1], [5.0], [5.1]], [0, 0, 1, 1]
    >>> cg.scorer("ami_max")(KMeans(2, n_init=1, random_state=0).fit(X), X, y)
    1.0
    >>> sorted(cg.scorer(["ari", "vi"]))
    ['ari', 'vi']
    """
    if not isinstance(measure, str | Measure):
        return {each.key: scorer(each, **options) for each in chosen_measures(measure or [], ())[0]}
    from sklearn.metrics import make_scorer

    import congruence

    record = find(measure)
    function = getattr(congruence, "lambda_statistic" if record.key == "lambda" else record.key)
    own = {**({} if isinstance(measure, str) else dict(record.parameters)), **options}
    made: Callable[..., float] = make_scorer(
        partial(function, **own) if own else function, greater_is_better=record.better == "higher"
    )
    return made
