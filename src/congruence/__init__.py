"""Compare clusterings: measures with chance correction, consensus, choice of k, alternatives and reports.

>>> import congruence as cg
>>> round(cg.ari([0, 0, 1, 1], ["a", "a", "b", "c"]), 4)
0.5714
"""

from importlib import import_module

import congruence.machine.packages  # noqa: F401 — says what to install if a package is missing

__version__ = "0.2.0"

#: modules of the public names; each is imported on first use, so that `import congruence` stays fast
_HOMES = {
    "comparison.pair": ("Comparison", "compare"),
    "comparison.many": ("compare_all", "compare_to"),
    "comparison.matching": ("Matching", "contingency", "element_scores", "match", "relabel"),
    "comparison.ranked": ("ranked_ari",),
    "comparison.results": ("AgainstReference", "AllPairs"),
    "comparison.scorers": ("scorer",),
    "inputs.memberships": ("Memberships",),
    "inputs.similarity": ("Similarity",),
    "inputs.cover": ("Cover",),
    "inputs.cover_files": ("read_cover",),
    "inputs.ensemble": ("Ensemble",),
    "inputs.hierarchy": ("Hierarchy",),
    "inputs.nested_cover": ("NestedCover",),
    "hierarchies.cuts": ("CutCurve", "CutTable", "compare_cuts", "cut_curve"),
    "hierarchies.tangling": ("Tanglegram", "tanglegram"),
    "hierarchies.sweep": ("Plateau", "Resolutions", "resolutions"),
    "tracking.lasting": ("track",),
    "tracking.results": ("Tracks",),
    "inputs.files": ("from_long",),
    "ensembles.agreement": (
        "consensus_blocks",
        "consensus_index",
        "consensus_matrix",
        "member_agreement",
    ),
    "ensembles.items": ("cluster_consensus", "consensus_silhouette", "item_consensus"),
    "ensembles.distribution": ("consensus_cdf", "delta_area"),
    "formulas.matrices": ("certainty_random",),
    "ensembles.block_sums": ("pair_sums", "PairSums"),
    "ensembles.generators": ("generate", "random_partitions"),
    "alternative_clustering.estimator": ("AlternativeClustering",),
    "alternative_clustering.quality": ("dissimilarity_quality", "dunn"),
    "alternative_clustering.results": ("Alternative",),
    "alternative_clustering.search": ("alternatives",),
    "density.binning": ("Binning",),
    "density.counting": ("density_profile",),
    "density.profile": ("Profile", "load_profile"),
    "density.similarity": ("ProfileComparison", "compare_profiles"),
    "density.changes": ("Drift",),
    "density.windows": ("drift",),
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
    "trust.cluster_check": ("ClusterCheck", "check_clusters"),
    "trust.ranking": ("Ranking", "rank"),
    "trust.settings": ("Sweep", "sweep"),
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
    globals()[name] = value
    return value


def _scorer(name: str) -> object:
    """The function of a measure; every key and alias has one, and that of lambda is lambda_statistic."""
    registry = import_module("congruence.formulas")
    key = "lambda" if name == "lambda_statistic" else name
    if key not in registry.names():
        near = registry.hint(name, [*__all__, *registry.names()], "see dir(congruence)")
        raise AttributeError(f"module 'congruence' has no attribute {name!r}; {near}")
    if registry.find(key).family == "profiles":
        return import_module("congruence.density.similarity").scorer(key)
    if registry.find(key).is_lone:
        return import_module("congruence.ensembles.agreement").lone_scorer(key)
    return import_module("congruence.comparison.scorers").measure_function(name if name != "lambda_statistic" else key)


def __dir__() -> list[str]:
    keys = import_module("congruence.formulas").names()
    return sorted({*__all__, *keys, "lambda_statistic"} - {"lambda"})
