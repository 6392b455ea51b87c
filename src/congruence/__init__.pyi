"""Types of the public names; `congruence/__init__.py` imports them when they are first asked for."""

from typing import Any

from congruence.alternative_clustering.estimator import (
    AlternativeClustering as AlternativeClustering,
)
from congruence.alternative_clustering.quality import (
    dissimilarity_quality as dissimilarity_quality,
)
from congruence.alternative_clustering.quality import (
    dunn as dunn,
)
from congruence.alternative_clustering.search import (
    Alternative as Alternative,
)
from congruence.alternative_clustering.search import (
    alternatives as alternatives,
)
from congruence.chance.adjusted import (
    Adjusted as Adjusted,
)
from congruence.chance.adjusted import (
    adjusted as adjusted,
)
from congruence.chance.intervals import (
    ConfidenceInterval as ConfidenceInterval,
)
from congruence.chance.intervals import (
    confidence_interval as confidence_interval,
)
from congruence.chance.many_tests import (
    PermutationTests as PermutationTests,
)
from congruence.chance.many_tests import (
    permutation_tests as permutation_tests,
)
from congruence.chance.permutation import (
    PermutationTest as PermutationTest,
)
from congruence.chance.permutation import (
    permutation_test as permutation_test,
)
from congruence.comparison.many import (
    compare_all as compare_all,
)
from congruence.comparison.many import (
    compare_to as compare_to,
)
from congruence.comparison.matching import (
    Matching as Matching,
)
from congruence.comparison.matching import (
    contingency as contingency,
)
from congruence.comparison.matching import (
    element_scores as element_scores,
)
from congruence.comparison.matching import (
    match as match,
)
from congruence.comparison.matching import (
    relabel as relabel,
)
from congruence.comparison.pair import (
    compare as compare,
)
from congruence.comparison.results import (
    AgainstReference as AgainstReference,
)
from congruence.comparison.results import (
    AllPairs as AllPairs,
)
from congruence.comparison.results import (
    Comparison as Comparison,
)
from congruence.consensus_clustering.estimator import (
    ConsensusClustering as ConsensusClustering,
)
from congruence.consensus_clustering.members import (
    select_members as select_members,
)
from congruence.consensus_clustering.results import (
    Consensus as Consensus,
)
from congruence.consensus_clustering.search import (
    consensus as consensus,
)
from congruence.density.binning import (
    Binning as Binning,
)
from congruence.density.counting import (
    density_profile as density_profile,
)
from congruence.density.profile import (
    Profile as Profile,
)
from congruence.density.similarity import (
    ProfileComparison as ProfileComparison,
)
from congruence.density.similarity import (
    compare_profiles as compare_profiles,
)
from congruence.density.windows import (
    Drift as Drift,
)
from congruence.density.windows import (
    drift as drift,
)
from congruence.ensembles.agreement import (
    consensus_blocks as consensus_blocks,
)
from congruence.ensembles.agreement import (
    consensus_index as consensus_index,
)
from congruence.ensembles.agreement import (
    consensus_matrix as consensus_matrix,
)
from congruence.ensembles.agreement import (
    member_agreement as member_agreement,
)
from congruence.ensembles.block_sums import (
    PairSums as PairSums,
)
from congruence.ensembles.block_sums import (
    pair_sums as pair_sums,
)
from congruence.ensembles.distribution import (
    consensus_cdf as consensus_cdf,
)
from congruence.ensembles.distribution import (
    delta_area as delta_area,
)
from congruence.ensembles.generators import (
    generate as generate,
)
from congruence.ensembles.items import (
    cluster_consensus as cluster_consensus,
)
from congruence.ensembles.items import (
    consensus_silhouette as consensus_silhouette,
)
from congruence.ensembles.items import (
    item_consensus as item_consensus,
)
from congruence.ensembles.randomness import (
    random_partitions as random_partitions,
)
from congruence.errors import (
    InputError as InputError,
)
from congruence.errors import (
    NotApplicable as NotApplicable,
)
from congruence.figures import (
    figure as figure,
)
from congruence.formulas import (
    measures as measures,
)
from congruence.formulas.matrices import (
    certainty_random as certainty_random,
)
from congruence.formulas.record import (
    Measure as Measure,
)
from congruence.hierarchies.curves import (
    CutCurve as CutCurve,
)
from congruence.hierarchies.curves import (
    cut_curve as cut_curve,
)
from congruence.hierarchies.cut_tables import (
    CutTable as CutTable,
)
from congruence.hierarchies.cut_tables import (
    compare_cuts as compare_cuts,
)
from congruence.hierarchies.tangling import (
    Tanglegram as Tanglegram,
)
from congruence.hierarchies.tangling import (
    tanglegram as tanglegram,
)
from congruence.inputs.cover import (
    Cover as Cover,
)
from congruence.inputs.cover_files import (
    read_cover as read_cover,
)
from congruence.inputs.ensemble import (
    Ensemble as Ensemble,
)
from congruence.inputs.files import (
    from_long as from_long,
)
from congruence.inputs.hierarchy import (
    Hierarchy as Hierarchy,
)
from congruence.inputs.memberships import (
    Memberships as Memberships,
)
from congruence.inputs.similarity import (
    Similarity as Similarity,
)
from congruence.reporting.html import (
    Report as Report,
)
from congruence.reporting.html import (
    report as report,
)
from congruence.resolution_sweeps.sweep import (
    Plateau as Plateau,
)
from congruence.resolution_sweeps.sweep import (
    Resolutions as Resolutions,
)
from congruence.resolution_sweeps.sweep import (
    resolutions as resolutions,
)
from congruence.scanning.accumulate import (
    merge as merge,
)
from congruence.scanning.accumulate import (
    partial_tables as partial_tables,
)
from congruence.scanning.scan import (
    Scan as Scan,
)
from congruence.scanning.scan import (
    scan as scan,
)
from congruence.scanning.tables import (
    PartialTables as PartialTables,
)
from congruence.selection import (
    ClusterStability as ClusterStability,
)
from congruence.selection import (
    Criterion as Criterion,
)
from congruence.selection import (
    KChoice as KChoice,
)
from congruence.selection import (
    Verdict as Verdict,
)
from congruence.selection import (
    Vote as Vote,
)
from congruence.selection import (
    choose_k as choose_k,
)
from congruence.selection import (
    stability as stability,
)
from congruence.statistics import (
    Table as Table,
)

__version__: str
__all__: list[str]

def measure(name: str | Measure, **parameters: Any) -> Measure: ...
def rand(a: Any, b: Any, **options: Any) -> float: ...
def mari(a: Any, b: Any, **options: Any) -> float: ...
def ari(a: Any, b: Any, **options: Any) -> float: ...
def ari_gram(a: Any, b: Any, **options: Any) -> float: ...
def jaccard(a: Any, b: Any, **options: Any) -> float: ...
def wallace(a: Any, b: Any, **options: Any) -> float: ...
def fowlkes_mallows(a: Any, b: Any, **options: Any) -> float: ...
def wallace_ab(a: Any, b: Any, **options: Any) -> float: ...
def wallace_ba(a: Any, b: Any, **options: Any) -> float: ...
def mirkin(a: Any, b: Any, **options: Any) -> float: ...
def dice(a: Any, b: Any, **options: Any) -> float: ...
def hubert(a: Any, b: Any, **options: Any) -> float: ...
def mi(a: Any, b: Any, **options: Any) -> float: ...
def nmi_joint(a: Any, b: Any, **options: Any) -> float: ...
def nmi_max(a: Any, b: Any, **options: Any) -> float: ...
def nmi_sum(a: Any, b: Any, **options: Any) -> float: ...
def nmi_sqrt(a: Any, b: Any, **options: Any) -> float: ...
def nmi_min(a: Any, b: Any, **options: Any) -> float: ...
def ami_max(a: Any, b: Any, **options: Any) -> float: ...
def ami_sum(a: Any, b: Any, **options: Any) -> float: ...
def ami_sqrt(a: Any, b: Any, **options: Any) -> float: ...
def ami_min(a: Any, b: Any, **options: Any) -> float: ...
def vi(a: Any, b: Any, **options: Any) -> float: ...
def nvi(a: Any, b: Any, **options: Any) -> float: ...
def homogeneity(a: Any, b: Any, **options: Any) -> float: ...
def completeness(a: Any, b: Any, **options: Any) -> float: ...
def v_measure(a: Any, b: Any, *, beta: float = ..., **options: Any) -> float: ...
def rmi(a: Any, b: Any, **options: Any) -> float: ...
def nrmi(a: Any, b: Any, **options: Any) -> float: ...
def accuracy(a: Any, b: Any, *, limit: int | None = ..., **options: Any) -> float: ...
def clustering_error(a: Any, b: Any, *, limit: int | None = ..., **options: Any) -> float: ...
def kappa_max(a: Any, b: Any, *, limit: int | None = ..., **options: Any) -> float: ...
def kappa_trace(a: Any, b: Any, *, limit: int | None = ..., **options: Any) -> float: ...
def lambda_statistic(a: Any, b: Any, *, zero_cells: float = ..., limit: int | None = ..., **options: Any) -> float: ...
def irm(a: Any, b: Any, *, limit: int | None = ..., **options: Any) -> float: ...
def irm_greedy(a: Any, b: Any, **options: Any) -> float: ...
def van_dongen(a: Any, b: Any, **options: Any) -> float: ...
def purity(a: Any, b: Any, **options: Any) -> float: ...
def inverse_purity(a: Any, b: Any, **options: Any) -> float: ...
def meila_heckerman(a: Any, b: Any, **options: Any) -> float: ...
def f_measure(a: Any, b: Any, **options: Any) -> float: ...
def element_centric(
    a: Any,
    b: Any,
    *,
    r: float = ...,
    path: str = ...,
    alpha: float = ...,
    limit: int | None = ...,
    sample: Any = ...,
    **options: Any,
) -> float: ...
def bcubed_precision(a: Any, b: Any, **options: Any) -> float: ...
def bcubed_recall(a: Any, b: Any, **options: Any) -> float: ...
def bcubed_f(a: Any, b: Any, **options: Any) -> float: ...
def psi(a: Any, b: Any, *, limit: int | None = ..., **options: Any) -> float: ...
def nca(a: Any, b: Any, *, limit: int | None = ..., **options: Any) -> float: ...
def npa(a: Any, b: Any, *, limit: int | None = ..., **options: Any) -> float: ...
def omega(a: Any, b: Any, **options: Any) -> float: ...
def omega_soft(a: Any, b: Any, **options: Any) -> float: ...
def comembership_jaccard(a: Any, b: Any, **options: Any) -> float: ...
def ndc(a: Any, b: Any, **options: Any) -> float: ...
def aci(a: Any, b: Any, **options: Any) -> float: ...
def onmi_max(a: Any, b: Any, **options: Any) -> float: ...
def onmi_sum(a: Any, b: Any, **options: Any) -> float: ...
def onmi_joint(a: Any, b: Any, **options: Any) -> float: ...
def onmi_lfk(a: Any, b: Any, **options: Any) -> float: ...
def average_f1(a: Any, b: Any, *, weights: str = ..., mean: str = ..., **options: Any) -> float: ...
def average_jaccard(a: Any, b: Any, *, weights: str = ..., mean: str = ..., **options: Any) -> float: ...
def nf1(a: Any, b: Any, **options: Any) -> float: ...
def arimp(a: Any, b: Any, *, missing: str = ..., **options: Any) -> float: ...
def arimm(a: Any, b: Any, *, missing: str = ..., **options: Any) -> float: ...
def kas(a: Any, b: Any, *, missing: str = ..., **options: Any) -> float: ...
def nsf(a: Any, b: Any, *, missing: str = ..., **options: Any) -> float: ...
def nsf_printed(a: Any, b: Any, *, missing: str = ..., **options: Any) -> float: ...
def sms(a: Any, b: Any, *, missing: str = ..., **options: Any) -> float: ...
def ssms(a: Any, b: Any, *, missing: str = ..., **options: Any) -> float: ...
def anmi(a: Any, b: Any, **options: Any) -> float: ...
def pooled_ami(a: Any, b: Any, **options: Any) -> float: ...
def certainty(x: Any, *, missing: str = ..., threads: int | None = ..., engine: str = ...) -> float: ...
def uncertainty(x: Any, *, missing: str = ..., threads: int | None = ..., engine: str = ...) -> float: ...
def pnmi(x: Any, *, missing: str = ..., threads: int | None = ..., engine: str = ...) -> float: ...
def pnmi_sum(x: Any, *, missing: str = ..., threads: int | None = ..., engine: str = ...) -> float: ...
def adco(a: Any, b: Any, X: Any = ..., X_b: Any = ..., *, adjusted: bool = ..., **options: Any) -> float: ...
def adco_distance(a: Any, b: Any, X: Any = ..., X_b: Any = ..., **options: Any) -> float: ...
def adco_metric(a: Any, b: Any, X: Any = ..., X_b: Any = ..., **options: Any) -> float: ...
def adco_cosine(a: Any, b: Any, X: Any = ..., X_b: Any = ..., **options: Any) -> float: ...
def cophenetic(a: Any, b: Any, **options: Any) -> float: ...
def cophenetic_spearman(a: Any, b: Any, **options: Any) -> float: ...
def bakers_gamma(a: Any, b: Any, **options: Any) -> float: ...
def gamma(a: Any, b: Any, **options: Any) -> float: ...
def robinson_foulds(a: Any, b: Any, *, normalised: bool = ..., **options: Any) -> float: ...
def hmi(a: Any, b: Any, **options: Any) -> float: ...
def nhmi(a: Any, b: Any, *, normaliser: str = ..., **options: Any) -> float: ...
def ahmi(a: Any, b: Any, *, normaliser: str = ..., **options: Any) -> float: ...
