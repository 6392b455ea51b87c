"""The names of the consensus methods; commands read them for their help without loading the methods."""

from __future__ import annotations

#: module of each method; it has the record under the name of its key
METHODS = {
    "hbgf": "spectral", "ncut": "spectral", "kcc": "alternating", "kmodes": "alternating", "voting": "alternating",
    "cumulative": "cumulative", "mcla": "strehl", "cspa": "strehl", "hgpa": "strehl", "average": "linkage",
    "single": "linkage", "complete": "linkage", "lwea": "local_weights", "lwgp": "local_weights",
    "kmeans_matrix": "alternating", "em": "alternating", "agglomerative": "linkage", "balls": "linkage",
}  # fmt: skip
#: other names of methods
ALIASES = {"k-modes": "kmodes", "cumulative_voting": "cumulative", "majority": "voting"}
