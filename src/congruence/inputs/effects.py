"""Options that have no effect in a call: one table of them, which each function consults at its border in one line."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping

from congruence.errors import InputError, Option
from congruence.typing import Function, OptionValue

Given = Mapping[str, OptionValue]
Condition = Callable[[Given], object]
Text = str | tuple[str | Option, ...]


def _is(name: str, *values: str) -> Condition:
    return lambda given: isinstance(given[name], str) and given[name] in values


def _is_not(name: str, *values: str) -> Condition:
    return lambda given: not (isinstance(given[name], str) and given[name] in values)


def _is_none(name: str) -> Condition:
    return lambda given: given[name] is None


_NO_PARTITIONS = ("sided", ("without", Option("null", "n_clusters", "all")), _is("null", "permutation"))
_NO_CUTS = (
    "bins",
    ("without", Option("binning", "width", "frequency")),
    lambda given: given["binning"] == "mdl" if isinstance(given["binning"], str) else True,
)
_NO_NAME = ("nominal", "without the name of a binning", lambda given: not isinstance(given["binning"], str))
_NO_STARTS = "without a method with random starts, such as hbgf or kcc"
_NO_GRAPH = "without a method that cuts a graph, such as mcla"

#: function → its options, when they have no effect, and the condition on all arguments (None: the function decides)
IDLE: dict[str, tuple[tuple[str, Text, Condition | None], ...]] = {
    "Binning": (("bins", "without method 'width' or 'frequency'", _is("method", "mdl")),),
    "ConsensusClustering": (
        ("noise n_members member_clusters n_jobs", "for an Ensemble, which has its members", None),
        ("noise", "with a generator; it is for label columns", None),
        ("n_members member_clusters n_jobs", "for a generator that is a function, which makes them", None),
        ("member_clusters", "for a clusterer without a number of clusters", None),
    ),
    "Cover": (("keys", "without a mapping", lambda given: not isinstance(given["clusters"], Mapping)),),
    "Ensemble.plot": (("labels", ("with", Option("kind", "flow")), _is("kind", "flow")),),
    "InputOptions": (("noise", "for memberships, which have no labels", None),),
    "adjusted": (_NO_PARTITIONS,),
    "alternatives": (_NO_CUTS, ("n_init", "without a method with random starts", lambda given: not given["starts"])),
    "choose_k": (
        (
            "k method n_members k_min standardise protocol covariance_type fraction n_subsamples",
            "for ensembles; it is for data",
            None,
        ),
        ("method", "with the criteria of the paper, which are for method 'em'", None),
        ("n_members fraction n_subsamples", "without criteria that compare members", None),
        ("protocol covariance_type", "without method 'em'", None),
        ("fraction n_subsamples", "without the criterion 'stability'", None),
        ("standardise", "on criteria that compare members", None),
    ),
    "compare_all": (("progress", "for hierarchies", None),),
    "compare_profiles": (
        _NO_CUTS,
        _NO_NAME,
        ("random_state", ("without", Option("sizes", "sample")), _is_not("sizes", "sample")),
        ("binning bins nominal bivariate unassigned noise engine", "for profiles, which are counted already", None),
    ),
    "compare_to": (("progress", "for hierarchies", None),),
    "consensus": (
        ("solver", _NO_GRAPH, lambda given: "solver" not in given["taken"]),
        ("balance", _NO_GRAPH, lambda given: "balance" not in given["taken"]),
        ("n_init", _NO_STARTS, lambda given: "n_init" not in given["taken"]),
        ("X", ("without", Option("unseen", "nearest")), _is_not("unseen", "nearest")),
    ),
    "consensus_cdf": (
        ("random_state", "without sample", _is_none("sample")),
        ("progress engine", "without all pairs; leave sample out", lambda given: given["sample"] is not None),
    ),
    "drift": (
        _NO_CUTS,
        _NO_NAME,
        ("progress", "without a table; the number of windows of a stream is not known", _is_none("window")),
    ),
    "element_scores": (("sample_weight frequency", "on the scores of single points", lambda given: True),),
    "generate": (
        (
            "fraction complete",
            ("without", Option("method", "subsample", "mixed")),
            _is_not("method", "subsample", "mixed"),
        ),
        ("n_clusters", "without a clusterer that takes a number of clusters", lambda given: not given["numbered"]),
    ),
    "item_consensus": (("engine", "for scanned columns", None),),
    "lone_value": (
        ("missing", "for a matrix, which has no missing labels", None),
        ("missing", "on this measure, which counts no gaps", None),
    ),
    "permutation_test": (
        _NO_PARTITIONS,
        ("level progress", ("without draws;", Option("method", "moments"), "makes none"), _is("method", "moments")),
    ),
    "read_cover": (("keys", "without format 'json'", _is_not("format", "json")),),
    "report": (
        ("axes", "without data", lambda given: given["data"] is None and not hasattr(given["clusterings"], "obsm")),
        ("unassigned noise", "for an Ensemble, which was read with its own", None),
        ("data axes ids n_clusters distinct source", "for covers", None),
    ),
    "scan": (("id na_values", "for a scan, which is open already", None),),
    "select_members": (("alpha", ("without", Option("by", "joint")), _is_not("by", "joint")),),
    "stability": (
        ("fraction", ("without", Option("scheme", "subsample")), _is_not("scheme", "subsample")),
        ("jitter", ("without", Option("scheme", "jitter")), _is_not("scheme", "jitter")),
        ("noise", ("without", Option("scheme", "noise")), _is_not("scheme", "noise")),
    ),
    "sums_of": (("missing", "for matrices, which have no missing labels", None),),
}


def refuse_idle(function: Function, given: Given, when: str | None = None) -> None:
    """Refuse options that have no effect in this call, unless they have the default value of the function.

    Args:
        function: The public function, or the class, that was called.
        given: The arguments by name; False and an empty list count as not given if the default is None or empty.
        when: The row of the table that applies, if the function decides. Default None: all rows whose condition holds.

    >>> import congruence as cg
    >>> cg.adjusted("jaccard", sided="one")
    Traceback (most recent call last):
    congruence.errors.InputError: sided has no effect without null='n_clusters' or 'all'; leave it out
    """
    for options, text, holds in IDLE[function.__qualname__]:
        names = [name for name in options.split() if name in given]
        if text == when or (when is None and names and holds is not None and holds(given)):
            known = inspect.signature(function).parameters
            for name in names:
                if not _is_default(name, given[name], known[name].default):
                    why = text if isinstance(text, str) else " ".join(map(str, text))
                    raise InputError(f"{Option(name)} has no effect {why}; leave it out")


def _is_default(name: str, value: object, default: object) -> bool:
    if value is default or (name == "engine" and isinstance(value, str) and value == "cpu"):
        return True
    if default is None or default == ():
        return value is None or value is False or (isinstance(value, list | tuple) and not value)
    plain = isinstance(value, str | tuple | range) or not hasattr(value, "__len__")  # not an array
    return plain and bool(value == default)
