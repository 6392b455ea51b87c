"""How many clusters, and which of them are stable."""

from congruence.selection.cluster_stability import ClusterStability, stability
from congruence.selection.number_of_clusters import Criterion, KChoice, Vote, choose_k

__all__ = ["ClusterStability", "Criterion", "KChoice", "Vote", "choose_k", "stability"]
