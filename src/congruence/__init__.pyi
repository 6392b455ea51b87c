"""Types of the public names; `congruence/__init__.py` imports them on first use."""

from collections.abc import Sequence
from typing import Literal, Protocol, overload

from congruence.alternative_clustering.estimator import (
    AlternativeClustering as AlternativeClustering,
)
from congruence.alternative_clustering.quality import (
    dissimilarity_quality as dissimilarity_quality,
)
from congruence.alternative_clustering.quality import (
    dunn as dunn,
)
from congruence.alternative_clustering.results import (
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
    Comparison as Comparison,
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
from congruence.comparison.scorers import (
    scorer as scorer,
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
from congruence.consensus_clustering.scanned import (
    ConsensusFiles as ConsensusFiles,
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
from congruence.hierarchies.sweep import (
    Plateau as Plateau,
)
from congruence.hierarchies.sweep import (
    Resolutions as Resolutions,
)
from congruence.hierarchies.sweep import (
    resolutions as resolutions,
)
from congruence.hierarchies.tangling import (
    Tanglegram as Tanglegram,
)
from congruence.hierarchies.tangling import (
    tanglegram as tanglegram,
)
from congruence.inputs.alignment import Align
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
from congruence.inputs.kinds import Unassigned
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
from congruence.scanning.accumulate import (
    merge as merge,
)
from congruence.scanning.accumulate import (
    partial_tables as partial_tables,
)
from congruence.scanning.rows import (
    Written as Written,
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
from congruence.tracking.lasting import (
    track as track,
)
from congruence.tracking.results import (
    Tracks as Tracks,
)
from congruence.typing import (
    Client,
    ClusteringLike,
    EnsembleLike,
    NoiseLike,
    OptionValue,
    PathLike,
    PointsLike,
    ProgressLike,
    Seed,
    WeightsLike,
)

__version__: str
__all__: list[str]

def measure(name: str | Measure, **parameters: OptionValue) -> Measure: ...

class _Pair(Protocol):
    @overload
    def __call__(
        self,
        a: ClusteringLike,
        b: ClusteringLike,
        *,
        unassigned: Unassigned = ...,
        noise: NoiseLike = ...,
        sample_weight: WeightsLike = ...,
        frequency: WeightsLike = ...,
        align: Align | None = ...,
        threads: int | None = ...,
        engine: str = ...,
        client: Client = ...,
        checkpoint: PathLike | None = ...,
        memory: str | float | None = ...,
        skip_bad: bool | None = ...,
        progress: ProgressLike = ...,
    ) -> float: ...
    @overload
    def __call__(
        self,
        *,
        labels_true: ClusteringLike,
        labels_pred: ClusteringLike,
        unassigned: Unassigned = ...,
        noise: NoiseLike = ...,
        sample_weight: WeightsLike = ...,
        frequency: WeightsLike = ...,
        align: Align | None = ...,
        threads: int | None = ...,
        engine: str = ...,
        client: Client = ...,
        checkpoint: PathLike | None = ...,
        memory: str | float | None = ...,
        skip_bad: bool | None = ...,
        progress: ProgressLike = ...,
    ) -> float: ...

rand: _Pair
rand_score: _Pair
rand_index: _Pair
mari: _Pair
ari: _Pair
adjusted_rand_score: _Pair
adjusted_rand_index: _Pair
ari_gram: _Pair
jaccard: _Pair
wallace: _Pair
fowlkes_mallows: _Pair
fowlkes_mallows_score: _Pair
wallace_ab: _Pair
wallace_ba: _Pair
mirkin: _Pair
dice: _Pair
hubert: _Pair
mi: _Pair
mutual_info_score: _Pair
nmi_joint: _Pair
nmi_max: _Pair
nmi_sum: _Pair
nmi: _Pair

@overload
def normalized_mutual_info_score(
    a: ClusteringLike,
    b: ClusteringLike,
    *,
    average_method: str = ...,
    unassigned: Unassigned = ...,
    noise: NoiseLike = ...,
    sample_weight: WeightsLike = ...,
    frequency: WeightsLike = ...,
    align: Align | None = ...,
    threads: int | None = ...,
    engine: str = ...,
    client: Client = ...,
    checkpoint: PathLike | None = ...,
    memory: str | float | None = ...,
    skip_bad: bool | None = ...,
    progress: ProgressLike = ...,
) -> float: ...
@overload
def normalized_mutual_info_score(
    *,
    labels_true: ClusteringLike,
    labels_pred: ClusteringLike,
    average_method: str = ...,
    unassigned: Unassigned = ...,
    noise: NoiseLike = ...,
    sample_weight: WeightsLike = ...,
    frequency: WeightsLike = ...,
    align: Align | None = ...,
    threads: int | None = ...,
    engine: str = ...,
    client: Client = ...,
    checkpoint: PathLike | None = ...,
    memory: str | float | None = ...,
    skip_bad: bool | None = ...,
    progress: ProgressLike = ...,
) -> float: ...

nmi_sqrt: _Pair
nmi_min: _Pair
ami_max: _Pair
ami_sum: _Pair
ami: _Pair

@overload
def adjusted_mutual_info_score(
    a: ClusteringLike,
    b: ClusteringLike,
    *,
    average_method: str = ...,
    unassigned: Unassigned = ...,
    noise: NoiseLike = ...,
    sample_weight: WeightsLike = ...,
    frequency: WeightsLike = ...,
    align: Align | None = ...,
    threads: int | None = ...,
    engine: str = ...,
    client: Client = ...,
    checkpoint: PathLike | None = ...,
    memory: str | float | None = ...,
    skip_bad: bool | None = ...,
    progress: ProgressLike = ...,
) -> float: ...
@overload
def adjusted_mutual_info_score(
    *,
    labels_true: ClusteringLike,
    labels_pred: ClusteringLike,
    average_method: str = ...,
    unassigned: Unassigned = ...,
    noise: NoiseLike = ...,
    sample_weight: WeightsLike = ...,
    frequency: WeightsLike = ...,
    align: Align | None = ...,
    threads: int | None = ...,
    engine: str = ...,
    client: Client = ...,
    checkpoint: PathLike | None = ...,
    memory: str | float | None = ...,
    skip_bad: bool | None = ...,
    progress: ProgressLike = ...,
) -> float: ...

ami_sqrt: _Pair
ami_min: _Pair
vi: _Pair
variation_of_information: _Pair
nvi: _Pair
homogeneity: _Pair
homogeneity_score: _Pair
completeness: _Pair
completeness_score: _Pair

@overload
def v_measure(
    a: ClusteringLike,
    b: ClusteringLike,
    *,
    beta: float = ...,
    unassigned: Unassigned = ...,
    noise: NoiseLike = ...,
    sample_weight: WeightsLike = ...,
    frequency: WeightsLike = ...,
    align: Align | None = ...,
    threads: int | None = ...,
    engine: str = ...,
    client: Client = ...,
    checkpoint: PathLike | None = ...,
    memory: str | float | None = ...,
    skip_bad: bool | None = ...,
    progress: ProgressLike = ...,
) -> float: ...
@overload
def v_measure(
    *,
    labels_true: ClusteringLike,
    labels_pred: ClusteringLike,
    beta: float = ...,
    unassigned: Unassigned = ...,
    noise: NoiseLike = ...,
    sample_weight: WeightsLike = ...,
    frequency: WeightsLike = ...,
    align: Align | None = ...,
    threads: int | None = ...,
    engine: str = ...,
    client: Client = ...,
    checkpoint: PathLike | None = ...,
    memory: str | float | None = ...,
    skip_bad: bool | None = ...,
    progress: ProgressLike = ...,
) -> float: ...
@overload
def v_measure_score(
    a: ClusteringLike,
    b: ClusteringLike,
    *,
    beta: float = ...,
    unassigned: Unassigned = ...,
    noise: NoiseLike = ...,
    sample_weight: WeightsLike = ...,
    frequency: WeightsLike = ...,
    align: Align | None = ...,
    threads: int | None = ...,
    engine: str = ...,
    client: Client = ...,
    checkpoint: PathLike | None = ...,
    memory: str | float | None = ...,
    skip_bad: bool | None = ...,
    progress: ProgressLike = ...,
) -> float: ...
@overload
def v_measure_score(
    *,
    labels_true: ClusteringLike,
    labels_pred: ClusteringLike,
    beta: float = ...,
    unassigned: Unassigned = ...,
    noise: NoiseLike = ...,
    sample_weight: WeightsLike = ...,
    frequency: WeightsLike = ...,
    align: Align | None = ...,
    threads: int | None = ...,
    engine: str = ...,
    client: Client = ...,
    checkpoint: PathLike | None = ...,
    memory: str | float | None = ...,
    skip_bad: bool | None = ...,
    progress: ProgressLike = ...,
) -> float: ...

rmi: _Pair
nrmi: _Pair

@overload
def accuracy(
    a: ClusteringLike,
    b: ClusteringLike,
    *,
    limit: int | None = ...,
    unassigned: Unassigned = ...,
    noise: NoiseLike = ...,
    sample_weight: WeightsLike = ...,
    frequency: WeightsLike = ...,
    align: Align | None = ...,
    threads: int | None = ...,
    engine: str = ...,
    client: Client = ...,
    checkpoint: PathLike | None = ...,
    memory: str | float | None = ...,
    skip_bad: bool | None = ...,
    progress: ProgressLike = ...,
) -> float: ...
@overload
def accuracy(
    *,
    labels_true: ClusteringLike,
    labels_pred: ClusteringLike,
    limit: int | None = ...,
    unassigned: Unassigned = ...,
    noise: NoiseLike = ...,
    sample_weight: WeightsLike = ...,
    frequency: WeightsLike = ...,
    align: Align | None = ...,
    threads: int | None = ...,
    engine: str = ...,
    client: Client = ...,
    checkpoint: PathLike | None = ...,
    memory: str | float | None = ...,
    skip_bad: bool | None = ...,
    progress: ProgressLike = ...,
) -> float: ...
@overload
def clustering_error(
    a: ClusteringLike,
    b: ClusteringLike,
    *,
    limit: int | None = ...,
    unassigned: Unassigned = ...,
    noise: NoiseLike = ...,
    sample_weight: WeightsLike = ...,
    frequency: WeightsLike = ...,
    align: Align | None = ...,
    threads: int | None = ...,
    engine: str = ...,
    client: Client = ...,
    checkpoint: PathLike | None = ...,
    memory: str | float | None = ...,
    skip_bad: bool | None = ...,
    progress: ProgressLike = ...,
) -> float: ...
@overload
def clustering_error(
    *,
    labels_true: ClusteringLike,
    labels_pred: ClusteringLike,
    limit: int | None = ...,
    unassigned: Unassigned = ...,
    noise: NoiseLike = ...,
    sample_weight: WeightsLike = ...,
    frequency: WeightsLike = ...,
    align: Align | None = ...,
    threads: int | None = ...,
    engine: str = ...,
    client: Client = ...,
    checkpoint: PathLike | None = ...,
    memory: str | float | None = ...,
    skip_bad: bool | None = ...,
    progress: ProgressLike = ...,
) -> float: ...
@overload
def kappa_max(
    a: ClusteringLike,
    b: ClusteringLike,
    *,
    limit: int | None = ...,
    unassigned: Unassigned = ...,
    noise: NoiseLike = ...,
    sample_weight: WeightsLike = ...,
    frequency: WeightsLike = ...,
    align: Align | None = ...,
    threads: int | None = ...,
    engine: str = ...,
    client: Client = ...,
    checkpoint: PathLike | None = ...,
    memory: str | float | None = ...,
    skip_bad: bool | None = ...,
    progress: ProgressLike = ...,
) -> float: ...
@overload
def kappa_max(
    *,
    labels_true: ClusteringLike,
    labels_pred: ClusteringLike,
    limit: int | None = ...,
    unassigned: Unassigned = ...,
    noise: NoiseLike = ...,
    sample_weight: WeightsLike = ...,
    frequency: WeightsLike = ...,
    align: Align | None = ...,
    threads: int | None = ...,
    engine: str = ...,
    client: Client = ...,
    checkpoint: PathLike | None = ...,
    memory: str | float | None = ...,
    skip_bad: bool | None = ...,
    progress: ProgressLike = ...,
) -> float: ...
@overload
def kappa_trace(
    a: ClusteringLike,
    b: ClusteringLike,
    *,
    limit: int | None = ...,
    unassigned: Unassigned = ...,
    noise: NoiseLike = ...,
    sample_weight: WeightsLike = ...,
    frequency: WeightsLike = ...,
    align: Align | None = ...,
    threads: int | None = ...,
    engine: str = ...,
    client: Client = ...,
    checkpoint: PathLike | None = ...,
    memory: str | float | None = ...,
    skip_bad: bool | None = ...,
    progress: ProgressLike = ...,
) -> float: ...
@overload
def kappa_trace(
    *,
    labels_true: ClusteringLike,
    labels_pred: ClusteringLike,
    limit: int | None = ...,
    unassigned: Unassigned = ...,
    noise: NoiseLike = ...,
    sample_weight: WeightsLike = ...,
    frequency: WeightsLike = ...,
    align: Align | None = ...,
    threads: int | None = ...,
    engine: str = ...,
    client: Client = ...,
    checkpoint: PathLike | None = ...,
    memory: str | float | None = ...,
    skip_bad: bool | None = ...,
    progress: ProgressLike = ...,
) -> float: ...
@overload
def lambda_statistic(
    a: ClusteringLike,
    b: ClusteringLike,
    *,
    zero_cells: float = ...,
    limit: int | None = ...,
    unassigned: Unassigned = ...,
    noise: NoiseLike = ...,
    sample_weight: WeightsLike = ...,
    frequency: WeightsLike = ...,
    align: Align | None = ...,
    threads: int | None = ...,
    engine: str = ...,
    client: Client = ...,
    checkpoint: PathLike | None = ...,
    memory: str | float | None = ...,
    skip_bad: bool | None = ...,
    progress: ProgressLike = ...,
) -> float: ...
@overload
def lambda_statistic(
    *,
    labels_true: ClusteringLike,
    labels_pred: ClusteringLike,
    zero_cells: float = ...,
    limit: int | None = ...,
    unassigned: Unassigned = ...,
    noise: NoiseLike = ...,
    sample_weight: WeightsLike = ...,
    frequency: WeightsLike = ...,
    align: Align | None = ...,
    threads: int | None = ...,
    engine: str = ...,
    client: Client = ...,
    checkpoint: PathLike | None = ...,
    memory: str | float | None = ...,
    skip_bad: bool | None = ...,
    progress: ProgressLike = ...,
) -> float: ...
@overload
def irm(
    a: ClusteringLike,
    b: ClusteringLike,
    *,
    limit: int | None = ...,
    unassigned: Unassigned = ...,
    noise: NoiseLike = ...,
    sample_weight: WeightsLike = ...,
    frequency: WeightsLike = ...,
    align: Align | None = ...,
    threads: int | None = ...,
    engine: str = ...,
    client: Client = ...,
    checkpoint: PathLike | None = ...,
    memory: str | float | None = ...,
    skip_bad: bool | None = ...,
    progress: ProgressLike = ...,
) -> float: ...
@overload
def irm(
    *,
    labels_true: ClusteringLike,
    labels_pred: ClusteringLike,
    limit: int | None = ...,
    unassigned: Unassigned = ...,
    noise: NoiseLike = ...,
    sample_weight: WeightsLike = ...,
    frequency: WeightsLike = ...,
    align: Align | None = ...,
    threads: int | None = ...,
    engine: str = ...,
    client: Client = ...,
    checkpoint: PathLike | None = ...,
    memory: str | float | None = ...,
    skip_bad: bool | None = ...,
    progress: ProgressLike = ...,
) -> float: ...

irm_greedy: _Pair
van_dongen: _Pair
purity: _Pair
inverse_purity: _Pair
meila_heckerman: _Pair
f_measure: _Pair

@overload
def element_centric(
    a: ClusteringLike,
    b: ClusteringLike,
    *,
    r: float = ...,
    path: str = ...,
    alpha: float = ...,
    limit: int | None = ...,
    sample: OptionValue = ...,
    unassigned: Unassigned = ...,
    noise: NoiseLike = ...,
    sample_weight: WeightsLike = ...,
    frequency: WeightsLike = ...,
    align: Align | None = ...,
    threads: int | None = ...,
    engine: str = ...,
    client: Client = ...,
    checkpoint: PathLike | None = ...,
    memory: str | float | None = ...,
    skip_bad: bool | None = ...,
    progress: ProgressLike = ...,
) -> float: ...
@overload
def element_centric(
    *,
    labels_true: ClusteringLike,
    labels_pred: ClusteringLike,
    r: float = ...,
    path: str = ...,
    alpha: float = ...,
    limit: int | None = ...,
    sample: OptionValue = ...,
    unassigned: Unassigned = ...,
    noise: NoiseLike = ...,
    sample_weight: WeightsLike = ...,
    frequency: WeightsLike = ...,
    align: Align | None = ...,
    threads: int | None = ...,
    engine: str = ...,
    client: Client = ...,
    checkpoint: PathLike | None = ...,
    memory: str | float | None = ...,
    skip_bad: bool | None = ...,
    progress: ProgressLike = ...,
) -> float: ...

bcubed_precision: _Pair
bcubed_recall: _Pair
bcubed_f: _Pair

@overload
def psi(
    a: ClusteringLike,
    b: ClusteringLike,
    *,
    limit: int | None = ...,
    unassigned: Unassigned = ...,
    noise: NoiseLike = ...,
    sample_weight: WeightsLike = ...,
    frequency: WeightsLike = ...,
    align: Align | None = ...,
    threads: int | None = ...,
    engine: str = ...,
    client: Client = ...,
    checkpoint: PathLike | None = ...,
    memory: str | float | None = ...,
    skip_bad: bool | None = ...,
    progress: ProgressLike = ...,
) -> float: ...
@overload
def psi(
    *,
    labels_true: ClusteringLike,
    labels_pred: ClusteringLike,
    limit: int | None = ...,
    unassigned: Unassigned = ...,
    noise: NoiseLike = ...,
    sample_weight: WeightsLike = ...,
    frequency: WeightsLike = ...,
    align: Align | None = ...,
    threads: int | None = ...,
    engine: str = ...,
    client: Client = ...,
    checkpoint: PathLike | None = ...,
    memory: str | float | None = ...,
    skip_bad: bool | None = ...,
    progress: ProgressLike = ...,
) -> float: ...
@overload
def nca(
    a: ClusteringLike,
    b: ClusteringLike,
    *,
    limit: int | None = ...,
    unassigned: Unassigned = ...,
    noise: NoiseLike = ...,
    sample_weight: WeightsLike = ...,
    frequency: WeightsLike = ...,
    align: Align | None = ...,
    threads: int | None = ...,
    engine: str = ...,
    client: Client = ...,
    checkpoint: PathLike | None = ...,
    memory: str | float | None = ...,
    skip_bad: bool | None = ...,
    progress: ProgressLike = ...,
) -> float: ...
@overload
def nca(
    *,
    labels_true: ClusteringLike,
    labels_pred: ClusteringLike,
    limit: int | None = ...,
    unassigned: Unassigned = ...,
    noise: NoiseLike = ...,
    sample_weight: WeightsLike = ...,
    frequency: WeightsLike = ...,
    align: Align | None = ...,
    threads: int | None = ...,
    engine: str = ...,
    client: Client = ...,
    checkpoint: PathLike | None = ...,
    memory: str | float | None = ...,
    skip_bad: bool | None = ...,
    progress: ProgressLike = ...,
) -> float: ...
@overload
def npa(
    a: ClusteringLike,
    b: ClusteringLike,
    *,
    limit: int | None = ...,
    unassigned: Unassigned = ...,
    noise: NoiseLike = ...,
    sample_weight: WeightsLike = ...,
    frequency: WeightsLike = ...,
    align: Align | None = ...,
    threads: int | None = ...,
    engine: str = ...,
    client: Client = ...,
    checkpoint: PathLike | None = ...,
    memory: str | float | None = ...,
    skip_bad: bool | None = ...,
    progress: ProgressLike = ...,
) -> float: ...
@overload
def npa(
    *,
    labels_true: ClusteringLike,
    labels_pred: ClusteringLike,
    limit: int | None = ...,
    unassigned: Unassigned = ...,
    noise: NoiseLike = ...,
    sample_weight: WeightsLike = ...,
    frequency: WeightsLike = ...,
    align: Align | None = ...,
    threads: int | None = ...,
    engine: str = ...,
    client: Client = ...,
    checkpoint: PathLike | None = ...,
    memory: str | float | None = ...,
    skip_bad: bool | None = ...,
    progress: ProgressLike = ...,
) -> float: ...

omega: _Pair
omega_soft: _Pair
comembership_jaccard: _Pair
ndc: _Pair
aci: _Pair
onmi_max: _Pair
onmi_sum: _Pair
onmi_joint: _Pair
onmi_lfk: _Pair

@overload
def average_f1(
    a: ClusteringLike,
    b: ClusteringLike,
    *,
    weights: str = ...,
    mean: str = ...,
    unassigned: Unassigned = ...,
    noise: NoiseLike = ...,
    sample_weight: WeightsLike = ...,
    frequency: WeightsLike = ...,
    align: Align | None = ...,
    threads: int | None = ...,
    engine: str = ...,
    client: Client = ...,
    checkpoint: PathLike | None = ...,
    memory: str | float | None = ...,
    skip_bad: bool | None = ...,
    progress: ProgressLike = ...,
) -> float: ...
@overload
def average_f1(
    *,
    labels_true: ClusteringLike,
    labels_pred: ClusteringLike,
    weights: str = ...,
    mean: str = ...,
    unassigned: Unassigned = ...,
    noise: NoiseLike = ...,
    sample_weight: WeightsLike = ...,
    frequency: WeightsLike = ...,
    align: Align | None = ...,
    threads: int | None = ...,
    engine: str = ...,
    client: Client = ...,
    checkpoint: PathLike | None = ...,
    memory: str | float | None = ...,
    skip_bad: bool | None = ...,
    progress: ProgressLike = ...,
) -> float: ...
@overload
def average_jaccard(
    a: ClusteringLike,
    b: ClusteringLike,
    *,
    weights: str = ...,
    mean: str = ...,
    unassigned: Unassigned = ...,
    noise: NoiseLike = ...,
    sample_weight: WeightsLike = ...,
    frequency: WeightsLike = ...,
    align: Align | None = ...,
    threads: int | None = ...,
    engine: str = ...,
    client: Client = ...,
    checkpoint: PathLike | None = ...,
    memory: str | float | None = ...,
    skip_bad: bool | None = ...,
    progress: ProgressLike = ...,
) -> float: ...
@overload
def average_jaccard(
    *,
    labels_true: ClusteringLike,
    labels_pred: ClusteringLike,
    weights: str = ...,
    mean: str = ...,
    unassigned: Unassigned = ...,
    noise: NoiseLike = ...,
    sample_weight: WeightsLike = ...,
    frequency: WeightsLike = ...,
    align: Align | None = ...,
    threads: int | None = ...,
    engine: str = ...,
    client: Client = ...,
    checkpoint: PathLike | None = ...,
    memory: str | float | None = ...,
    skip_bad: bool | None = ...,
    progress: ProgressLike = ...,
) -> float: ...

nf1: _Pair

@overload
def arimp(
    a: ClusteringLike,
    b: ClusteringLike,
    *,
    missing: str = ...,
    unassigned: Unassigned = ...,
    noise: NoiseLike = ...,
    sample_weight: WeightsLike = ...,
    frequency: WeightsLike = ...,
    align: Align | None = ...,
    threads: int | None = ...,
    engine: str = ...,
    client: Client = ...,
    checkpoint: PathLike | None = ...,
    memory: str | float | None = ...,
    skip_bad: bool | None = ...,
    progress: ProgressLike = ...,
) -> float: ...
@overload
def arimp(
    *,
    labels_true: ClusteringLike,
    labels_pred: ClusteringLike,
    missing: str = ...,
    unassigned: Unassigned = ...,
    noise: NoiseLike = ...,
    sample_weight: WeightsLike = ...,
    frequency: WeightsLike = ...,
    align: Align | None = ...,
    threads: int | None = ...,
    engine: str = ...,
    client: Client = ...,
    checkpoint: PathLike | None = ...,
    memory: str | float | None = ...,
    skip_bad: bool | None = ...,
    progress: ProgressLike = ...,
) -> float: ...
@overload
def arimm(
    a: ClusteringLike,
    b: ClusteringLike,
    *,
    missing: str = ...,
    unassigned: Unassigned = ...,
    noise: NoiseLike = ...,
    sample_weight: WeightsLike = ...,
    frequency: WeightsLike = ...,
    align: Align | None = ...,
    threads: int | None = ...,
    engine: str = ...,
    client: Client = ...,
    checkpoint: PathLike | None = ...,
    memory: str | float | None = ...,
    skip_bad: bool | None = ...,
    progress: ProgressLike = ...,
) -> float: ...
@overload
def arimm(
    *,
    labels_true: ClusteringLike,
    labels_pred: ClusteringLike,
    missing: str = ...,
    unassigned: Unassigned = ...,
    noise: NoiseLike = ...,
    sample_weight: WeightsLike = ...,
    frequency: WeightsLike = ...,
    align: Align | None = ...,
    threads: int | None = ...,
    engine: str = ...,
    client: Client = ...,
    checkpoint: PathLike | None = ...,
    memory: str | float | None = ...,
    skip_bad: bool | None = ...,
    progress: ProgressLike = ...,
) -> float: ...
@overload
def kas(
    a: ClusteringLike,
    b: ClusteringLike,
    *,
    missing: str = ...,
    unassigned: Unassigned = ...,
    noise: NoiseLike = ...,
    sample_weight: WeightsLike = ...,
    frequency: WeightsLike = ...,
    align: Align | None = ...,
    threads: int | None = ...,
    engine: str = ...,
    client: Client = ...,
    checkpoint: PathLike | None = ...,
    memory: str | float | None = ...,
    skip_bad: bool | None = ...,
    progress: ProgressLike = ...,
) -> float: ...
@overload
def kas(
    *,
    labels_true: ClusteringLike,
    labels_pred: ClusteringLike,
    missing: str = ...,
    unassigned: Unassigned = ...,
    noise: NoiseLike = ...,
    sample_weight: WeightsLike = ...,
    frequency: WeightsLike = ...,
    align: Align | None = ...,
    threads: int | None = ...,
    engine: str = ...,
    client: Client = ...,
    checkpoint: PathLike | None = ...,
    memory: str | float | None = ...,
    skip_bad: bool | None = ...,
    progress: ProgressLike = ...,
) -> float: ...
@overload
def nsf(
    a: ClusteringLike,
    b: ClusteringLike,
    *,
    missing: str = ...,
    unassigned: Unassigned = ...,
    noise: NoiseLike = ...,
    sample_weight: WeightsLike = ...,
    frequency: WeightsLike = ...,
    align: Align | None = ...,
    threads: int | None = ...,
    engine: str = ...,
    client: Client = ...,
    checkpoint: PathLike | None = ...,
    memory: str | float | None = ...,
    skip_bad: bool | None = ...,
    progress: ProgressLike = ...,
) -> float: ...
@overload
def nsf(
    *,
    labels_true: ClusteringLike,
    labels_pred: ClusteringLike,
    missing: str = ...,
    unassigned: Unassigned = ...,
    noise: NoiseLike = ...,
    sample_weight: WeightsLike = ...,
    frequency: WeightsLike = ...,
    align: Align | None = ...,
    threads: int | None = ...,
    engine: str = ...,
    client: Client = ...,
    checkpoint: PathLike | None = ...,
    memory: str | float | None = ...,
    skip_bad: bool | None = ...,
    progress: ProgressLike = ...,
) -> float: ...
@overload
def nsf_printed(
    a: ClusteringLike,
    b: ClusteringLike,
    *,
    missing: str = ...,
    unassigned: Unassigned = ...,
    noise: NoiseLike = ...,
    sample_weight: WeightsLike = ...,
    frequency: WeightsLike = ...,
    align: Align | None = ...,
    threads: int | None = ...,
    engine: str = ...,
    client: Client = ...,
    checkpoint: PathLike | None = ...,
    memory: str | float | None = ...,
    skip_bad: bool | None = ...,
    progress: ProgressLike = ...,
) -> float: ...
@overload
def nsf_printed(
    *,
    labels_true: ClusteringLike,
    labels_pred: ClusteringLike,
    missing: str = ...,
    unassigned: Unassigned = ...,
    noise: NoiseLike = ...,
    sample_weight: WeightsLike = ...,
    frequency: WeightsLike = ...,
    align: Align | None = ...,
    threads: int | None = ...,
    engine: str = ...,
    client: Client = ...,
    checkpoint: PathLike | None = ...,
    memory: str | float | None = ...,
    skip_bad: bool | None = ...,
    progress: ProgressLike = ...,
) -> float: ...
@overload
def sms(
    a: ClusteringLike,
    b: ClusteringLike,
    *,
    missing: str = ...,
    unassigned: Unassigned = ...,
    noise: NoiseLike = ...,
    sample_weight: WeightsLike = ...,
    frequency: WeightsLike = ...,
    align: Align | None = ...,
    threads: int | None = ...,
    engine: str = ...,
    client: Client = ...,
    checkpoint: PathLike | None = ...,
    memory: str | float | None = ...,
    skip_bad: bool | None = ...,
    progress: ProgressLike = ...,
) -> float: ...
@overload
def sms(
    *,
    labels_true: ClusteringLike,
    labels_pred: ClusteringLike,
    missing: str = ...,
    unassigned: Unassigned = ...,
    noise: NoiseLike = ...,
    sample_weight: WeightsLike = ...,
    frequency: WeightsLike = ...,
    align: Align | None = ...,
    threads: int | None = ...,
    engine: str = ...,
    client: Client = ...,
    checkpoint: PathLike | None = ...,
    memory: str | float | None = ...,
    skip_bad: bool | None = ...,
    progress: ProgressLike = ...,
) -> float: ...
@overload
def ssms(
    a: ClusteringLike,
    b: ClusteringLike,
    *,
    missing: str = ...,
    unassigned: Unassigned = ...,
    noise: NoiseLike = ...,
    sample_weight: WeightsLike = ...,
    frequency: WeightsLike = ...,
    align: Align | None = ...,
    threads: int | None = ...,
    engine: str = ...,
    client: Client = ...,
    checkpoint: PathLike | None = ...,
    memory: str | float | None = ...,
    skip_bad: bool | None = ...,
    progress: ProgressLike = ...,
) -> float: ...
@overload
def ssms(
    *,
    labels_true: ClusteringLike,
    labels_pred: ClusteringLike,
    missing: str = ...,
    unassigned: Unassigned = ...,
    noise: NoiseLike = ...,
    sample_weight: WeightsLike = ...,
    frequency: WeightsLike = ...,
    align: Align | None = ...,
    threads: int | None = ...,
    engine: str = ...,
    client: Client = ...,
    checkpoint: PathLike | None = ...,
    memory: str | float | None = ...,
    skip_bad: bool | None = ...,
    progress: ProgressLike = ...,
) -> float: ...

anmi: _Pair
pooled_ami: _Pair

def certainty(x: EnsembleLike, *, missing: str = ..., threads: int | None = ..., engine: str = ...) -> float: ...
def uncertainty(x: EnsembleLike, *, missing: str = ..., threads: int | None = ..., engine: str = ...) -> float: ...
def pnmi(x: EnsembleLike, *, missing: str = ..., threads: int | None = ..., engine: str = ...) -> float: ...
def pnmi_sum(x: EnsembleLike, *, missing: str = ..., threads: int | None = ..., engine: str = ...) -> float: ...
def adco(
    a: ClusteringLike | Profile,
    b: ClusteringLike | Profile,
    X: PointsLike = ...,
    X_b: PointsLike = ...,
    *,
    binning: str | Binning = ...,
    bins: int = ...,
    nominal: Sequence[str | int] = ...,
    adjusted: bool = ...,
    bivariate: bool = ...,
    matching: Literal["one", "soft"] = ...,
    sizes: Literal["given", "sample", "scaled"] = ...,
    random_state: Seed = ...,
    unassigned: Unassigned = ...,
    noise: NoiseLike = ...,
    threads: int | None = ...,
    engine: Literal["auto", "cpu", "cuda"] = ...,
) -> float: ...
def adco_distance(
    a: ClusteringLike | Profile,
    b: ClusteringLike | Profile,
    X: PointsLike = ...,
    X_b: PointsLike = ...,
    *,
    binning: str | Binning = ...,
    bins: int = ...,
    nominal: Sequence[str | int] = ...,
    adjusted: bool = ...,
    bivariate: bool = ...,
    matching: Literal["one", "soft"] = ...,
    sizes: Literal["given", "sample", "scaled"] = ...,
    random_state: Seed = ...,
    unassigned: Unassigned = ...,
    noise: NoiseLike = ...,
    threads: int | None = ...,
    engine: Literal["auto", "cpu", "cuda"] = ...,
) -> float: ...
def adco_metric(
    a: ClusteringLike | Profile,
    b: ClusteringLike | Profile,
    X: PointsLike = ...,
    X_b: PointsLike = ...,
    *,
    binning: str | Binning = ...,
    bins: int = ...,
    nominal: Sequence[str | int] = ...,
    adjusted: bool = ...,
    bivariate: bool = ...,
    matching: Literal["one", "soft"] = ...,
    sizes: Literal["given", "sample", "scaled"] = ...,
    random_state: Seed = ...,
    unassigned: Unassigned = ...,
    noise: NoiseLike = ...,
    threads: int | None = ...,
    engine: Literal["auto", "cpu", "cuda"] = ...,
) -> float: ...
def adco_cosine(
    a: ClusteringLike | Profile,
    b: ClusteringLike | Profile,
    X: PointsLike = ...,
    X_b: PointsLike = ...,
    *,
    binning: str | Binning = ...,
    bins: int = ...,
    nominal: Sequence[str | int] = ...,
    adjusted: bool = ...,
    bivariate: bool = ...,
    matching: Literal["one", "soft"] = ...,
    sizes: Literal["given", "sample", "scaled"] = ...,
    random_state: Seed = ...,
    unassigned: Unassigned = ...,
    noise: NoiseLike = ...,
    threads: int | None = ...,
    engine: Literal["auto", "cpu", "cuda"] = ...,
) -> float: ...

cophenetic: _Pair
cophenetic_spearman: _Pair
bakers_gamma: _Pair
gamma: _Pair

@overload
def robinson_foulds(
    a: ClusteringLike,
    b: ClusteringLike,
    *,
    normalised: bool = ...,
    unassigned: Unassigned = ...,
    noise: NoiseLike = ...,
    sample_weight: WeightsLike = ...,
    frequency: WeightsLike = ...,
    align: Align | None = ...,
    threads: int | None = ...,
    engine: str = ...,
    client: Client = ...,
    checkpoint: PathLike | None = ...,
    memory: str | float | None = ...,
    skip_bad: bool | None = ...,
    progress: ProgressLike = ...,
) -> float: ...
@overload
def robinson_foulds(
    *,
    labels_true: ClusteringLike,
    labels_pred: ClusteringLike,
    normalised: bool = ...,
    unassigned: Unassigned = ...,
    noise: NoiseLike = ...,
    sample_weight: WeightsLike = ...,
    frequency: WeightsLike = ...,
    align: Align | None = ...,
    threads: int | None = ...,
    engine: str = ...,
    client: Client = ...,
    checkpoint: PathLike | None = ...,
    memory: str | float | None = ...,
    skip_bad: bool | None = ...,
    progress: ProgressLike = ...,
) -> float: ...

hmi: _Pair

@overload
def nhmi(
    a: ClusteringLike,
    b: ClusteringLike,
    *,
    normaliser: str = ...,
    unassigned: Unassigned = ...,
    noise: NoiseLike = ...,
    sample_weight: WeightsLike = ...,
    frequency: WeightsLike = ...,
    align: Align | None = ...,
    threads: int | None = ...,
    engine: str = ...,
    client: Client = ...,
    checkpoint: PathLike | None = ...,
    memory: str | float | None = ...,
    skip_bad: bool | None = ...,
    progress: ProgressLike = ...,
) -> float: ...
@overload
def nhmi(
    *,
    labels_true: ClusteringLike,
    labels_pred: ClusteringLike,
    normaliser: str = ...,
    unassigned: Unassigned = ...,
    noise: NoiseLike = ...,
    sample_weight: WeightsLike = ...,
    frequency: WeightsLike = ...,
    align: Align | None = ...,
    threads: int | None = ...,
    engine: str = ...,
    client: Client = ...,
    checkpoint: PathLike | None = ...,
    memory: str | float | None = ...,
    skip_bad: bool | None = ...,
    progress: ProgressLike = ...,
) -> float: ...
@overload
def ahmi(
    a: ClusteringLike,
    b: ClusteringLike,
    *,
    normaliser: str = ...,
    unassigned: Unassigned = ...,
    noise: NoiseLike = ...,
    sample_weight: WeightsLike = ...,
    frequency: WeightsLike = ...,
    align: Align | None = ...,
    threads: int | None = ...,
    engine: str = ...,
    client: Client = ...,
    checkpoint: PathLike | None = ...,
    memory: str | float | None = ...,
    skip_bad: bool | None = ...,
    progress: ProgressLike = ...,
) -> float: ...
@overload
def ahmi(
    *,
    labels_true: ClusteringLike,
    labels_pred: ClusteringLike,
    normaliser: str = ...,
    unassigned: Unassigned = ...,
    noise: NoiseLike = ...,
    sample_weight: WeightsLike = ...,
    frequency: WeightsLike = ...,
    align: Align | None = ...,
    threads: int | None = ...,
    engine: str = ...,
    client: Client = ...,
    checkpoint: PathLike | None = ...,
    memory: str | float | None = ...,
    skip_bad: bool | None = ...,
    progress: ProgressLike = ...,
) -> float: ...
