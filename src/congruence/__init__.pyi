"""Types of the public names; `congruence/__init__.py` imports them on first use. Written by `python -m tests.stub`."""

# fmt: off
from collections.abc import Sequence
from typing import Literal, Protocol, TypeAlias, Unpack, overload

from congruence.alternative_clustering.estimator import AlternativeClustering
from congruence.alternative_clustering.quality import dissimilarity_quality, dunn
from congruence.alternative_clustering.results import Alternative
from congruence.alternative_clustering.search import alternatives
from congruence.chance.adjusted import Adjusted, adjusted
from congruence.chance.intervals import ConfidenceInterval, confidence_interval
from congruence.chance.many_tests import PermutationTests, permutation_tests
from congruence.chance.permutation import PermutationTest, permutation_test
from congruence.comparison.many import compare_all, compare_to
from congruence.comparison.matching import Matching, contingency, element_scores, match, relabel
from congruence.comparison.pair import Comparison, PairKeywords, compare
from congruence.comparison.ranked import ranked_ari
from congruence.comparison.results import AgainstReference, AllPairs
from congruence.comparison.scorers import scorer
from congruence.consensus_clustering.estimator import ConsensusClustering
from congruence.consensus_clustering.members import select_members
from congruence.consensus_clustering.results import Consensus
from congruence.consensus_clustering.scanned import ConsensusFiles
from congruence.consensus_clustering.search import consensus
from congruence.density.binning import Binning
from congruence.density.changes import Drift
from congruence.density.counting import density_profile
from congruence.density.profile import Profile, load_profile
from congruence.density.similarity import ProfileComparison, compare_profiles
from congruence.density.windows import drift
from congruence.ensembles.agreement import consensus_blocks, consensus_index, consensus_matrix, member_agreement
from congruence.ensembles.block_sums import PairSums, pair_sums
from congruence.ensembles.distribution import consensus_cdf, delta_area
from congruence.ensembles.generators import generate, random_partitions
from congruence.ensembles.items import cluster_consensus, consensus_silhouette, item_consensus
from congruence.errors import InputError, NotApplicable
from congruence.figures import figure
from congruence.formulas import measures
from congruence.formulas.matrices import certainty_random
from congruence.formulas.record import Measure
from congruence.hierarchies.cuts import CutCurve, CutTable, compare_cuts, cut_curve
from congruence.hierarchies.sweep import Plateau, Resolutions, resolutions
from congruence.hierarchies.tangling import Tanglegram, tanglegram
from congruence.inputs.cover import Cover
from congruence.inputs.cover_files import read_cover
from congruence.inputs.ensemble import Ensemble
from congruence.inputs.files import from_long
from congruence.inputs.hierarchy import Hierarchy
from congruence.inputs.kinds import Unassigned
from congruence.inputs.memberships import Memberships
from congruence.inputs.nested_cover import NestedCover
from congruence.inputs.similarity import Similarity
from congruence.reporting.html import Report, report
from congruence.scanning.accumulate import merge, partial_tables
from congruence.scanning.rows import Written
from congruence.scanning.scan import Scan, scan
from congruence.scanning.tables import PartialTables
from congruence.selection import ClusterStability, Criterion, KChoice, Verdict, Vote, choose_k, stability
from congruence.statistics import Table
from congruence.tracking.lasting import track
from congruence.tracking.results import Tracks
from congruence.trust.cluster_check import ClusterCheck, check_clusters
from congruence.trust.ranking import Ranking, rank
from congruence.trust.settings import Sweep, sweep
from congruence.typing import (
    AverageMethod,
    ClusteringLike,
    EngineName,
    EnsembleLike,
    NoiseLike,
    OptionValue,
    PointsLike,
    Seed,
)

__version__: str
__all__ = [
    "__version__", "measure", "Adjusted", "AgainstReference", "AllPairs", "Alternative", "AlternativeClustering", "Binning",
    "ClusterCheck", "ClusterStability", "Comparison", "ConfidenceInterval", "Consensus", "ConsensusClustering",
    "ConsensusFiles", "Cover", "Criterion", "CutCurve", "CutTable", "Drift", "Ensemble", "Hierarchy", "InputError", "KChoice",
    "Matching", "Measure", "Memberships", "NestedCover", "NotApplicable", "PairSums", "PartialTables", "PermutationTest",
    "PermutationTests", "Plateau", "Profile", "ProfileComparison", "Ranking", "Report", "Resolutions", "Scan", "Similarity",
    "Sweep", "Table", "Tanglegram", "Tracks", "Verdict", "Vote", "Written", "adjusted", "alternatives", "certainty_random",
    "check_clusters", "choose_k", "cluster_consensus", "compare", "compare_all", "compare_cuts", "compare_profiles",
    "compare_to", "confidence_interval", "consensus", "consensus_blocks", "consensus_cdf", "consensus_index",
    "consensus_matrix", "consensus_silhouette", "contingency", "cut_curve", "delta_area", "density_profile",
    "dissimilarity_quality", "drift", "dunn", "element_scores", "figure", "from_long", "generate", "item_consensus",
    "load_profile", "match", "measures", "member_agreement", "merge", "pair_sums", "partial_tables", "permutation_test",
    "permutation_tests", "random_partitions", "rank", "ranked_ari", "read_cover", "relabel", "report", "resolutions", "scan",
    "scorer", "select_members", "stability", "sweep", "tanglegram", "track",
]

#: keys and aliases of the measures, and the consensus methods
MeasureName: TypeAlias = Literal[
    "rand", "rand_score", "rand_index", "mari", "ari", "adjusted_rand_score", "adjusted_rand_index", "ari_gram", "jaccard",
    "wallace", "fowlkes_mallows", "fowlkes_mallows_score", "wallace_ab", "wallace_ba", "mirkin", "partition_difference", "dice",
    "hubert", "mi", "mutual_info_score", "nmi_joint", "nmi_max", "nmi_sum", "nmi", "normalized_mutual_info_score", "nmi_sqrt",
    "nmi_min", "ami_max", "ami_sum", "ami", "adjusted_mutual_info_score", "ami_sqrt", "ami_min", "vi",
    "variation_of_information", "nvi", "homogeneity", "homogeneity_score", "completeness", "completeness_score", "v_measure",
    "v_measure_score", "rmi", "nrmi", "accuracy", "clustering_error", "kappa_max", "kappa_trace", "lambda", "irm", "irm_greedy",
    "van_dongen", "purity", "inverse_purity", "meila_heckerman", "f_measure", "element_centric", "bcubed_precision",
    "bcubed_recall", "bcubed_f", "psi", "nca", "npa", "chi_square", "cramers_v", "omega", "omega_soft", "comembership_jaccard",
    "ndc", "aci", "onmi_max", "onmi_sum", "onmi_joint", "onmi_lfk", "average_f1", "average_jaccard", "nf1", "fari",
    "rand_campello", "ari_campello", "jaccard_campello", "rand_brouwer", "ari_brouwer", "jaccard_brouwer", "arimp", "arimm",
    "kas", "nsf", "nsf_printed", "sms", "ssms", "anmi", "pooled_ami", "certainty", "uncertainty", "pnmi", "pnmi_sum", "adco",
    "adco_distance", "adco_metric", "adco_cosine", "cophenetic", "cophenetic_spearman", "bakers_gamma", "gamma",
    "robinson_foulds", "hmi", "nhmi", "ahmi",
]
MethodName: TypeAlias = Literal[
    "auto", "hbgf", "ncut", "kcc", "kmodes", "voting", "cumulative", "mcla", "cspa", "hgpa", "average", "single", "complete",
    "lwea", "lwgp", "kmeans_matrix", "em", "agglomerative", "balls", "k-modes", "cumulative_voting", "majority",
]

def measure(name: str | Measure, **parameters: OptionValue) -> Measure: ...

class _RandFunction(Protocol):
    @overload
    def __call__(self, a: ClusteringLike, b: ClusteringLike, **options: Unpack[PairKeywords]) -> float: ...
    @overload
    def __call__(self, *, labels_true: ClusteringLike, labels_pred: ClusteringLike, **options: Unpack[PairKeywords]) -> float: ...
class _Average(PairKeywords, total=False):
    average_method: AverageMethod
class _NormalizedMutualInfoScoreFunction(Protocol):
    @overload
    def __call__(self, a: ClusteringLike, b: ClusteringLike, **options: Unpack[_Average]) -> float: ...
    @overload
    def __call__(self, *, labels_true: ClusteringLike, labels_pred: ClusteringLike, **options: Unpack[_Average]) -> float: ...
class _Beta(PairKeywords, total=False):
    beta: float
class _VMeasureFunction(Protocol):
    @overload
    def __call__(self, a: ClusteringLike, b: ClusteringLike, **options: Unpack[_Beta]) -> float: ...
    @overload
    def __call__(self, *, labels_true: ClusteringLike, labels_pred: ClusteringLike, **options: Unpack[_Beta]) -> float: ...
class _Limit(PairKeywords, total=False):
    limit: int | None
class _AccuracyFunction(Protocol):
    @overload
    def __call__(self, a: ClusteringLike, b: ClusteringLike, **options: Unpack[_Limit]) -> float: ...
    @overload
    def __call__(self, *, labels_true: ClusteringLike, labels_pred: ClusteringLike, **options: Unpack[_Limit]) -> float: ...
class _Zero(PairKeywords, total=False):
    zero_cells: float
    limit: int | None
class _LambdaFunction(Protocol):
    @overload
    def __call__(self, a: ClusteringLike, b: ClusteringLike, **options: Unpack[_Zero]) -> float: ...
    @overload
    def __call__(self, *, labels_true: ClusteringLike, labels_pred: ClusteringLike, **options: Unpack[_Zero]) -> float: ...
class _R(PairKeywords, total=False):
    r: float
    path: str
    alpha: float
    limit: int | None
    sample: OptionValue
class _ElementCentricFunction(Protocol):
    @overload
    def __call__(self, a: ClusteringLike, b: ClusteringLike, **options: Unpack[_R]) -> float: ...
    @overload
    def __call__(self, *, labels_true: ClusteringLike, labels_pred: ClusteringLike, **options: Unpack[_R]) -> float: ...
class _Weights(PairKeywords, total=False):
    weights: str
    mean: str
class _AverageF1Function(Protocol):
    @overload
    def __call__(self, a: ClusteringLike, b: ClusteringLike, **options: Unpack[_Weights]) -> float: ...
    @overload
    def __call__(self, *, labels_true: ClusteringLike, labels_pred: ClusteringLike, **options: Unpack[_Weights]) -> float: ...
class _Missing(PairKeywords, total=False):
    missing: str
class _ArimpFunction(Protocol):
    @overload
    def __call__(self, a: ClusteringLike, b: ClusteringLike, **options: Unpack[_Missing]) -> float: ...
    @overload
    def __call__(self, *, labels_true: ClusteringLike, labels_pred: ClusteringLike, **options: Unpack[_Missing]) -> float: ...
class _CertaintyFunction(Protocol):
    def __call__(
        self, x: EnsembleLike, *, missing: str = ..., threads: int | None = ..., engine: EngineName = ...
    ) -> float: ...
class _AdcoFunction(Protocol):
    def __call__(
        self, a: ClusteringLike | Profile, b: ClusteringLike | Profile, X: PointsLike = ..., X_b: PointsLike = ..., *,
        binning: str | Binning = ..., bins: int = ..., nominal: Sequence[str | int] = ..., adjusted: bool = ...,
        bivariate: bool = ..., matching: Literal['one', 'soft'] = ..., sizes: Literal['given', 'sample',
        'scaled'] = ..., random_state: Seed = ..., unassigned: Unassigned = ..., noise: NoiseLike = ...,
        threads: int | None = ..., engine: EngineName = ...
    ) -> float: ...
class _Normalised(PairKeywords, total=False):
    normalised: bool
class _RobinsonFouldsFunction(Protocol):
    @overload
    def __call__(self, a: ClusteringLike, b: ClusteringLike, **options: Unpack[_Normalised]) -> float: ...
    @overload
    def __call__(self, *, labels_true: ClusteringLike, labels_pred: ClusteringLike, **options: Unpack[_Normalised]) -> float: ...
class _Normaliser(PairKeywords, total=False):
    normaliser: str
class _NhmiFunction(Protocol):
    @overload
    def __call__(self, a: ClusteringLike, b: ClusteringLike, **options: Unpack[_Normaliser]) -> float: ...
    @overload
    def __call__(self, *, labels_true: ClusteringLike, labels_pred: ClusteringLike, **options: Unpack[_Normaliser]) -> float: ...

_randfunction: _RandFunction
_vmeasurefunction: _VMeasureFunction
rand = rand_score = rand_index = _randfunction
"""Rand index: higher is better, 0 to 1. For memberships: -1 to 1."""
mari: _RandFunction
"""Modified adjusted Rand index: higher is better, -inf to 1."""
ari = adjusted_rand_score = adjusted_rand_index = _randfunction
"""Adjusted Rand index: higher is better, -0.5 to 1. With sample_weight: -1 to 1. For memberships: -inf to inf."""
ari_gram: _RandFunction
"""Adjusted Rand index of the co-membership matrices: higher is better, -1 to 1. For memberships: -inf to inf."""
jaccard: _RandFunction
"""Jaccard index of pairs: higher is better, 0 to 1. For memberships: -inf to inf."""
wallace = fowlkes_mallows = fowlkes_mallows_score = _randfunction
"""Wallace index, geometric mean (Fowlkes–Mallows): higher is better, 0 to 1. For memberships: -inf to inf."""
wallace_ab: _RandFunction
"""Wallace coefficient: pairs of a kept in b: higher is better, 0 to 1. For memberships: -inf to inf."""
wallace_ba: _RandFunction
"""Wallace coefficient: pairs of b found in a: higher is better, 0 to 1. For memberships: -inf to inf."""
mirkin: _RandFunction
"""Mirkin distance: lower is better, 0 to inf."""
partition_difference: _RandFunction
"""Partition difference: higher is better, 0 to inf."""
dice: _RandFunction
"""Dice index of pairs (pair F1): higher is better, 0 to 1. For memberships: -inf to inf."""
hubert: _RandFunction
"""Hubert index: higher is better, -1 to 1. For memberships: -3 to 1."""
mi = mutual_info_score = _randfunction
"""Mutual information: higher is better, 0 to inf."""
nmi_joint: _RandFunction
"""Normalised mutual information (joint): higher is better, 0 to 1."""
nmi_max: _RandFunction
"""Normalised mutual information (max): higher is better, 0 to 1."""
nmi_sum = nmi = _randfunction
"""Normalised mutual information (mean): higher is better, 0 to 1."""
normalized_mutual_info_score: _NormalizedMutualInfoScoreFunction
"""Normalised mutual information (mean): higher is better, 0 to 1."""
nmi_sqrt: _RandFunction
"""Normalised mutual information (geometric): higher is better, 0 to 1."""
nmi_min: _RandFunction
"""Normalised mutual information (min): higher is better, 0 to 1."""
ami_max: _RandFunction
"""Adjusted mutual information (max): higher is better, -inf to 1."""
ami_sum = ami = _randfunction
"""Adjusted mutual information (mean): higher is better, -inf to 1."""
adjusted_mutual_info_score: _NormalizedMutualInfoScoreFunction
"""Adjusted mutual information (mean): higher is better, -inf to 1."""
ami_sqrt: _RandFunction
"""Adjusted mutual information (geometric): higher is better, -inf to 1."""
ami_min: _RandFunction
"""Adjusted mutual information (min): higher is better, -inf to 1."""
vi = variation_of_information = _randfunction
"""Variation of information: lower is better, 0 to inf."""
nvi: _RandFunction
"""Normalised variation of information: lower is better, 0 to 1."""
homogeneity = homogeneity_score = _randfunction
"""Homogeneity: higher is better, 0 to 1."""
completeness = completeness_score = _randfunction
"""Completeness: higher is better, 0 to 1."""
v_measure = v_measure_score = _vmeasurefunction
"""V-measure: higher is better, 0 to 1."""
rmi: _RandFunction
"""Reduced mutual information: higher is better, -inf to inf."""
nrmi: _RandFunction
"""Normalised reduced mutual information: higher is better, -inf to 1."""
accuracy: _AccuracyFunction
"""Accuracy of the best matching: higher is better, 0 to 1."""
clustering_error: _AccuracyFunction
"""Clustering error: lower is better, 0 to 1."""
kappa_max: _AccuracyFunction
"""Largest Cohen's kappa over all matchings: higher is better, 0 to 1."""
kappa_trace: _AccuracyFunction
"""Cohen's kappa of the matching with the largest trace: higher is better, -1 to 1."""
lambda_statistic: _LambdaFunction
"""Λ statistic of kappa and entropy: higher is better, 0 to 1.35914."""
irm: _AccuracyFunction
"""IRM index, transportation optimum: higher is better, 0 to 1."""
irm_greedy: _RandFunction
"""IRM index by the paper's greedy rule: higher is better, 0 to 1."""
van_dongen: _RandFunction
"""Van Dongen distance: lower is better, 0 to 1."""
purity: _RandFunction
"""Purity of b: higher is better, 0 to 1."""
inverse_purity = meila_heckerman = _randfunction
"""Inverse purity: higher is better, 0 to 1."""
f_measure: _RandFunction
"""F-measure of best matches (Larsen & Aone): higher is better, 0 to 1."""
element_centric: _ElementCentricFunction
"""Element-centric similarity: higher is better, 0 to 1."""
bcubed_precision: _RandFunction
"""B-cubed precision: higher is better, 0 to 1."""
bcubed_recall: _RandFunction
"""B-cubed recall: higher is better, 0 to 1."""
bcubed_f: _RandFunction
"""B-cubed F1: higher is better, 0 to 1."""
psi: _AccuracyFunction
"""Pair sets index: higher is better, 0 to 1."""
nca: _AccuracyFunction
"""Normalised clustering accuracy: higher is better, -1 to 1."""
npa: _AccuracyFunction
"""Normalised pivoted accuracy: higher is better, 0 to 1."""
chi_square: _RandFunction
"""Chi-squared statistic of the table: higher is better, 0 to inf."""
cramers_v: _RandFunction
"""Cramér’s V: higher is better, 0 to 1."""
omega: _RandFunction
"""Omega index: higher is better, -1 to 1."""
omega_soft: _RandFunction
"""Omega index with partial credit: higher is better, -1 to 1."""
comembership_jaccard: _RandFunction
"""Jaccard index of shared clusters: higher is better, 0 to 1."""
ndc: _RandFunction
"""Normalised degree of concordance: higher is better, 0 to 1."""
aci: _RandFunction
"""Adjusted concordance index: higher is better, -1 to 1."""
onmi_max: _RandFunction
"""Overlapping NMI (max): higher is better, 0 to 1."""
onmi_sum: _RandFunction
"""Overlapping NMI (mean): higher is better, 0 to 1."""
onmi_joint: _RandFunction
"""Overlapping NMI (joint): higher is better, 0 to 1."""
onmi_lfk: _RandFunction
"""Overlapping NMI of Lancichinetti, Fortunato and Kertész: higher is better, 0 to 1."""
average_f1: _AverageF1Function
"""Average F1 of best matches: higher is better, 0 to 1."""
average_jaccard: _AverageF1Function
"""Average Jaccard index of best matches: higher is better, 0 to 1."""
nf1: _RandFunction
"""Normalised F1: higher is better, 0 to 1."""
fari: _RandFunction
"""Frobenius adjusted Rand index: higher is better, -0.5 to 1. For memberships: -inf to 1."""
rand_campello: _RandFunction
"""Fuzzy Rand index of Campello: higher is better, 0 to 1."""
ari_campello: _RandFunction
"""Fuzzy adjusted Rand index of Campello: higher is better, -0.5 to 1. For memberships: -1 to 1."""
jaccard_campello: _RandFunction
"""Fuzzy Jaccard index of Campello: higher is better, 0 to 1."""
rand_brouwer: _RandFunction
"""Fuzzy Rand index of Brouwer: higher is better, 0 to 1."""
ari_brouwer: _RandFunction
"""Fuzzy adjusted Rand index of Brouwer: higher is better, -0.5 to 1. With sample_weight: -1 to 1. For memberships: -1 to 1."""
jaccard_brouwer: _RandFunction
"""Fuzzy Jaccard index of Brouwer: higher is better, 0 to 1."""
arimp: _ArimpFunction
"""Adjusted Rand index of a matrix and a partition: higher is better, -1 to 1. For memberships: -inf to inf."""
arimm: _ArimpFunction
"""Adjusted Rand index of two matrices: higher is better, -1 to 1. For memberships: -inf to inf."""
kas: _ArimpFunction
"""Kernel alignment: higher is better, -1 to 1."""
nsf: _ArimpFunction
"""Normalised similarity by Frobenius norm: higher is better, 0 to 1."""
nsf_printed: _ArimpFunction
"""Normalised similarity by Frobenius norm, as printed: higher is better, 0 to 1."""
sms: _ArimpFunction
"""Standardised Mantel statistic: higher is better, -1 to 1."""
ssms: _ArimpFunction
"""Standardised Mantel statistic, scaled to 0 … 1: higher is better, 0 to 1."""
anmi: _RandFunction
"""Average normalised mutual information: higher is better, 0 to 1."""
pooled_ami: _RandFunction
"""Pooled adjusted mutual information: higher is better, -inf to 1."""
certainty: _CertaintyFunction
"""Certainty of a consensus matrix: higher is better, 0 to 1."""
uncertainty: _CertaintyFunction
"""Uncertainty of a consensus matrix: lower is better, 0 to 1."""
pnmi: _CertaintyFunction
"""Pairwise normalised mutual information of members: higher is better, 0 to 1."""
pnmi_sum: _CertaintyFunction
"""Pairwise normalised mutual information, summed as printed: higher is better, 0 to inf."""
adco: _AdcoFunction
"""Attribute distribution clustering orthogonality: higher is better, 0 to 1."""
adco_distance: _AdcoFunction
"""1 − ADCO: lower is better, 0 to 1."""
adco_metric: _AdcoFunction
"""2 − ADCO, or 0 for equal profiles: lower is better, 0 to 2."""
adco_cosine: _AdcoFunction
"""Cosine of matched density profiles: higher is better, 0 to 1."""
cophenetic: _RandFunction
"""Cophenetic correlation: higher is better, -1 to 1."""
cophenetic_spearman = bakers_gamma = _randfunction
"""Rank correlation of merge heights (Baker's gamma): higher is better, -1 to 1."""
gamma: _RandFunction
"""Goodman–Kruskal gamma of merge heights: higher is better, -1 to 1."""
robinson_foulds: _RobinsonFouldsFunction
"""Robinson–Foulds distance (rooted): lower is better, 0 to inf."""
hmi: _RandFunction
"""Hierarchical mutual information: higher is better, 0 to inf."""
nhmi: _NhmiFunction
"""Normalised hierarchical mutual information: higher is better, 0 to 1."""
ahmi: _NhmiFunction
"""Adjusted hierarchical mutual information: higher is better, -inf to 1."""
