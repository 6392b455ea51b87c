"""The number of clusters, and the stability of each cluster."""

from congruence.selection.choice import Criterion, KChoice, Verdict, Vote
from congruence.selection.cluster_stability import ClusterStability, stability
from congruence.selection.number_of_clusters import choose_k

__all__ = ["ClusterStability", "Criterion", "KChoice", "Verdict", "Vote", "choose_k", "stability"]
