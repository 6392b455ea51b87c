"""Compare clusterings: measures with chance correction, consensus, choice of k, alternatives and reports.

>>> import congruence as cg
>>> round(cg.ari([0, 0, 1, 1], ["a", "a", "b", "c"]), 4)
0.5714
"""

from functools import wraps
from importlib import import_module
from sys import modules
from types import FunctionType

__version__ = "0.2.0.dev0"

#: modules of the public names; each is imported on first use, so that `import congruence` stays fast
_HOMES = {
    "comparison.pair": ("Comparison", "compare"),
    "comparison.many": ("compare_all", "compare_to"),
    "comparison.matching": ("Matching", "contingency", "element_scores", "match", "relabel"),
    "comparison.results": ("AgainstReference", "AllPairs"),
    "comparison.scorers": ("scorer",),
    "inputs.memberships": ("Memberships",),
    "inputs.similarity": ("Similarity",),
    "inputs.cover": ("Cover",),
    "inputs.cover_files": ("read_cover",),
    "inputs.ensemble": ("Ensemble",),
    "inputs.hierarchy": ("Hierarchy",),
    "hierarchies.curves": ("CutCurve", "cut_curve"),
    "hierarchies.cut_tables": ("CutTable", "compare_cuts"),
    "hierarchies.tangling": ("Tanglegram", "tanglegram"),
    "resolution_sweeps.sweep": ("Plateau", "Resolutions", "resolutions"),
    "inputs.files": ("from_long",),
    "ensembles.agreement": (
        "consensus_blocks",
        "consensus_index",
        "consensus_matrix",
        "member_agreement",
    ),
    "ensembles.items": ("cluster_consensus", "consensus_silhouette", "item_consensus"),
    "ensembles.distribution": ("consensus_cdf", "delta_area"),
    "ensembles.randomness": ("random_partitions",),
    "formulas.matrices": ("certainty_random",),
    "ensembles.block_sums": ("pair_sums", "PairSums"),
    "ensembles.generators": ("generate",),
    "alternative_clustering.estimator": ("AlternativeClustering",),
    "alternative_clustering.quality": ("dissimilarity_quality", "dunn"),
    "alternative_clustering.results": ("Alternative",),
    "alternative_clustering.search": ("alternatives",),
    "density.binning": ("Binning",),
    "density.counting": ("density_profile",),
    "density.profile": ("Profile",),
    "density.similarity": ("ProfileComparison", "compare_profiles"),
    "density.windows": ("Drift", "drift"),
    "scanning.accumulate": ("merge", "partial_tables"),
    "scanning.tables": ("PartialTables",),
    "scanning.scan": ("Scan", "scan"),
    "scanning.rows": ("Written",),
    "consensus_clustering.estimator": ("ConsensusClustering",),
    "consensus_clustering.results": ("Consensus",),
    "consensus_clustering.scanned": ("ConsensusFiles",),
    "consensus_clustering.search": ("consensus",),
    "consensus_clustering.members": ("select_members",),
    "chance.permutation": ("permutation_test", "PermutationTest"),
    "chance.many_tests": ("permutation_tests", "PermutationTests"),
    "chance.adjusted": ("adjusted", "Adjusted"),
    "chance.intervals": ("confidence_interval", "ConfidenceInterval"),
    "selection": ("choose_k", "ClusterStability", "Criterion", "KChoice", "stability", "Verdict", "Vote"),
    "figures": ("figure",),
    "formulas": ("measures",),
    "formulas.record": ("Measure",),
    "reporting.html": ("Report", "report"),
    "errors": ("InputError", "NotApplicable"),
    "statistics": ("Table",),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}
__all__ = ["__version__", "measure", *sorted(_HOME)]


def __getattr__(name: str) -> object:
    if name in _HOME:
        value = getattr(import_module(f"congruence.{_HOME[name]}"), name)
    elif name == "measure":
        value = import_module("congruence.formulas").find
    elif name.startswith("_"):
        raise AttributeError(f"module 'congruence' has no attribute {name!r}")
    else:
        value = _scorer(name)
    value = globals()[name] = _checked(value)
    _check_classes()
    return value


# Functions check most of their arguments, with specific messages. An argument that they do not check fails deep inside,
# with an unclear message. Only then are the arguments compared with the signature, in one place for all public functions.
# Options that have no effect are refused here too, before the call, according to the `needs` of the function.


def _checked(public: object) -> object:
    """A public function that raises a clear one-line error for an argument of the wrong type or with a known wrong name."""
    if not isinstance(public, FunctionType) or hasattr(public, "_checked"):
        return public

    needs, misnamed = getattr(public, "needs", {}), getattr(public, "misnamed", {})
    places = public.__code__.co_varnames
    first = min((places.index(name) for name in needs if name in places), default=1_000)
    usual = {**dict.fromkeys(needs), **(public.__kwdefaults__ or {})}

    def is_given(name: str, value: object) -> bool:
        return value is not usual[name] and not (value is False and usual[name] is None)

    @wraps(public)
    def checked(*args: object, **given: object) -> object:
        try:
            unusual = any(name in given and is_given(name, given[name]) for name in needs)
            if len(args) > first or unusual or any(name in given for name in misnamed):
                import_module("congruence.inputs.arguments").check_names_and_effects(public, args, given)
            result = public(*args, **given)
        except MemoryError as error:
            errors = import_module("congruence.errors")
            if isinstance(error, errors.InputError):
                raise
            raise errors.TooLarge(f"not enough memory: {error or 'the data do not fit'}") from error
        except (
            TypeError, ValueError, AttributeError, ArithmeticError, LookupError, NotImplementedError, AssertionError,
        ) as error:  # fmt: skip
            if isinstance(error, import_module("congruence.errors").InputError):
                raise
            compare = import_module("congruence.comparison.pair").compare
            better = import_module("congruence.inputs.arguments").misfit(public, args, given, compare)
            if better is None:
                raise
            raise better from error
        kind = type(result)
        if kind not in _SEEN:
            _SEEN.add(kind)
            if kind.__module__.startswith("congruence."):  # a result that has no public name
                _check_methods(kind)
        return result

    checked._checked = True  # type: ignore[attr-defined]
    home = import_module(public.__module__)
    if vars(home).get(public.__name__) is public:
        setattr(home, public.__name__, checked)  # where pickle looks for it
    return checked


#: special methods that users call with arguments; modules whose classes are checked; types of results so far
_OPEN, _DONE, _SEEN = ("__init__", "__getitem__", "__call__"), set[str](), set[type]()


def _check_classes() -> None:
    """Check the methods of public classes in modules imported so far; result classes come with their functions."""
    for home in [home for home in _HOMES if f"congruence.{home}" in modules and home not in _DONE]:
        _DONE.add(home)
        for public in [getattr(modules[f"congruence.{home}"], name, None) for name in _HOMES[home]]:
            if isinstance(public, type) and not issubclass(public, BaseException):
                _check_methods(public)


def _check_methods(public: type) -> None:
    """Check the methods of a class and of its base classes in this package."""
    made_here = hasattr(public, "__dataclass_fields__")  # an internal record, which users do not create
    for kind in [kind for kind in public.__mro__ if kind.__module__.startswith("congruence.")]:
        for name, method in list(vars(kind).items()):
            if not isinstance(method, FunctionType) or (name == "__init__" and made_here):
                continue
            if (name in _OPEN or name[0] != "_") and _has_types(method):
                setattr(kind, name, _checked(method))


def _has_types(method: FunctionType) -> bool:
    """Whether some parameter has a type to check, or options of `compare` may be passed on (CO_VARKEYWORDS)."""
    unchecked = import_module("congruence.typing").UNCHECKED
    kinds = [kind for name, kind in method.__annotations__.items() if name != "return"]
    return any(kind not in unchecked for kind in kinds) or bool(method.__code__.co_flags & 8)


def _scorer(name: str) -> object:
    """The function of a measure; every key and alias has one, and that of lambda is lambda_statistic."""
    registry = import_module("congruence.formulas")
    key = "lambda" if name == "lambda_statistic" else name
    if key not in registry.names():
        near = registry.hint(name, [*__all__, *registry.names()], "see dir(congruence)")
        raise AttributeError(f"module 'congruence' has no attribute {name!r}; {near}")
    if registry.find(key).family == "profiles":
        return import_module("congruence.density.scorers").scorer(key)
    if registry.find(key).is_lone:
        return import_module("congruence.ensembles.agreement").lone_scorer(key)
    return import_module("congruence.comparison.scorers").measure_function(name if name != "lambda_statistic" else key)


def __dir__() -> list[str]:
    keys = import_module("congruence.formulas").names()
    return sorted({*__all__, *keys, "lambda_statistic"} - {"lambda"})
