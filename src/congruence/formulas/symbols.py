"""Meanings of the symbols in definitions. n_ij points are in cluster i of a and j of b; a_i and b_j are cluster sizes."""

import re

from congruence.formulas.record import Measure
from congruence.statistics.pairs import Gram

#: by symbol, or by measure and symbol if its meaning is specific to a measure
SYMBOLS = {
    "n": "number of points",
    "k_a": "number of clusters of a",
    "k_b": "number of clusters of b",
    "pairs": "number of pairs of points, n (n − 1) / 2",
    "v11": "pairs of points together in both",
    "v10": "pairs together in a only",
    "v01": "pairs together in b only",
    "v00": "pairs together in neither",
    "s_a": "pairs together in a, v11 + v10",
    "s_b": "pairs together in b, v11 + v01",
    "H_a": "entropy of a, −Σ a_i/n log(a_i/n), natural logarithm",
    "H_b": "entropy of b",
    "H_ab": "entropy of both, −Σ n_ij/n log(n_ij/n)",
    "MI": "mutual information, H_a + H_b − H_ab",
    "E_MI": "mutual information expected of random clusterings with these cluster sizes",
    "homogeneity": "MI / H_a",
    "completeness": "MI / H_b",
    "matched": "points n_ij in matched clusters, under the one-to-one matching with the most points",
    "p_o": "share of the points in matched clusters",
    "p_exp": "the same share expected by chance, Σ a_i b_j / n² of the matched clusters",
    "k": "number of clusters of the side with more clusters",
    "p_max": "share of the points in matched clusters under the best matching",
    "NMI": "nmi_sqrt",
    "phi": "Σ (n_ij − e_ij)² / e_ij divided by n, with e_ij = a_i b_j / n",
    "points": "number of points",
    "cramers_v.k": "number of clusters of the side with fewer clusters",
    "shipped": "points moved between clusters, each worth the Jaccard index n_ij / (a_i + b_j − n_ij)",
    "best_of_a": "Σ_i max_j n_ij",
    "best_of_b": "Σ_j max_i n_ij",
    "best": "Σ_i a_i max_j 2 n_ij / (a_i + b_j)",
    "element_centric.shared": "Σ n_ij² / max(a_i, b_j)",
    "bcubed_precision.shared": "Σ n_ij² / b_j",
    "bcubed_recall.shared": "Σ n_ij² / a_i",
    "precision": "B-cubed precision",
    "recall": "B-cubed recall",
    "S": "Σ n_ij / max(a_i, b_j) of the clusters under the best matching",
    "psi.E": "value expected from the sizes: the same sum with a_i b_j / n instead of n_ij, clusters in order of size",
    "K": "number of clusters of the side with more clusters",
    "nca.K": "number of clusters of a",
    "recalls": "Σ n_ij / a_i of the clusters under the best matching",
    "theta": "share of the pairs together in both, v11 / pairs",
    "theta_0": "share of the pairs of disjoint pairs with the first together in a and the second in b",
    "theta_max": "(s_a + s_b) / 2 pairs",
    "length": "code length of the labels of a, in nats per point",
    "length_given_b": "the same given b",
    "nrmi.rmi": "rmi of a and b",
    "rmi_self": "rmi of a and a",
    "observed": "share of the pairs of points with the same number of common clusters in a and in b",
    "expected": "the same expected by chance, Σ_j N_j(a) N_j(b) / pairs², N_j pairs that share j clusters",
    "soft_observed": "mean over pairs of min / max of the numbers of clusters they share, 1 if they share none in either",
    "soft_expected": "the same expected by chance",
    "least": "Σ over pairs of the smaller number of clusters they share",
    "most": "Σ over pairs of the larger number of clusters they share",
    "discord": "mean over pairs of |E_a − E_b|, E = 1 − half the L1 distance of the two points' memberships",
    "chance": "the same mean over all pairs of pairs, one of a and one of b",
    "distance": "Σ (A_ij − B_ij)² over ordered pairs of points, A = UUᵀ and B = VVᵀ, each scaled so that Σ A_ij = Σ A_ij²",
    "fari.chance": "its mean when the points of b are permuted",
    "I": "(H_a − H(a given b) + H_b − H(b given a)) / 2, each cluster given its best match",
    "lost_a": "mean over clusters of a of H(X given b) / H(X)",
    "lost_b": "mean over clusters of b of H(Y given a) / H(Y)",
    "best_a": "mean over clusters of a of the best match in b",
    "best_b": "mean over clusters of b of the best match in a",
    "F": "mean F1 of the clusters of b with the cluster of a they share most points with",
    "coverage": "share of the clusters of a that are matched in this way",
    "redundancy": "number of clusters of b per such cluster",
    **{
        f"onmi_{norm}.H_{side}": f"Σ of the entropies of the clusters of {side} as 0/1 variables"
        for norm in ("max", "sum", "joint")
        for side in "ab"
    },
    "s_p": "sum of the entries of P above the diagonal",
    "s_q": "sum of the entries of Q above the diagonal",
    "s_pq": "sum of the products P_ij Q_ij above the diagonal",
    "s_pp": "sum of P_ij² above the diagonal",
    "s_qq": "sum of Q_ij² above the diagonal",
    "d_pq": "sum of the products P_ii Q_ii of the diagonals",
    "d_pp": "sum of P_ii²",
    "d_qq": "sum of Q_ii²",
    "members": "number of members",
    "anmi.mean_nmi_sqrt": "mean over the members of nmi_sqrt with the partition",
    "mean_nmi_sqrt": "mean of nmi_sqrt over pairs of different members",
    "s_uv": "sum over pairs of points of (u − mean u)(v − mean v), u and v the heights at which a and b merge the pair",
    "s_uu": "the same sum of (u − mean u)²",
    "s_vv": "the same sum of (v − mean v)²",
    "r_uv": "sum over pairs of points of the product of the centred mid-ranks of u and v",
    "r_uu": "the same sum of squared centred ranks of u",
    "r_vv": "the same sum of squared centred ranks of v",
    "concordant": "pairs of pairs of points that merge in the same order in both trees",
    "discordant": "pairs of pairs of points that merge in opposite order",
    "clades_a": "clusters of 2 … n − 1 points that are nodes of a",
    "clades_b": "clusters of 2 … n − 1 points that are nodes of b",
    "clades_ab": "clusters that are nodes of both",
    "I_ab": "hierarchical mutual information: over levels, the mutual information within the clusters of the level above",
    "I_aa": "the same for a with itself, the entropy of its finest level",
    "I_bb": "the same for b with itself",
    "E_I": "its exact mean over permutations of the points of b",
    "sim": "product of the profiles of a and b, Σ over clusters, attributes and bins, under the best matching of clusters",
    "sim_aa": "the same for a with itself",
    "sim_bb": "the same for b with itself",
}
#: for memberships and matrices the counts of pairs become sums over pairs of points
SUMS = {
    "v11": "sum of the products P_ij Q_ij over pairs of points",
    "s_a": "sum of P_ij over pairs of points; of a partition, pairs together",
    "s_b": "sum of Q_ij over pairs of points",
}
_WORD = re.compile(r"[^\W\d]\w*")


def symbols_of(measure: Measure) -> dict[str, str]:
    """The symbols in a measure's definition and their meanings, in order of occurrence.

    >>> import congruence as cg
    >>> symbols_of(cg.measure("purity"))
    {'best_of_b': 'Σ_j max_i n_ij', 'n': 'number of points'}
    """
    known = {**SYMBOLS, **(SUMS if issubclass(measure.needs, Gram) else {})}
    made = {line.split(" = ", 1)[0] for line in measure.definition}
    words = dict.fromkeys(word for line in measure.definition for word in _WORD.findall(line.split(" = ", 1)[1]))
    found = {word: known.get(f"{measure.key}.{word}", known.get(word, "")) for word in words if word not in made}
    return {word: meaning for word, meaning in found.items() if meaning}
