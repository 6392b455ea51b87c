"""The names of the consensus methods; commands read them for their help without loading the methods."""

from __future__ import annotations

#: module of each method; it has the record under the name of its key
METHODS = {
    "hbgf": "spectral", "ncut": "spectral", "kcc": "lloyd", "kmodes": "lloyd", "voting": "voting", "cumulative": "cumulative",
    "mcla": "strehl", "cspa": "strehl", "hgpa": "strehl", "average": "linkage", "single": "linkage", "complete": "linkage",
    "lwea": "local_weights", "lwgp": "local_weights", "kmeans_matrix": "kmeans_matrix", "em": "em",
    "agglomerative": "aggregation", "balls": "aggregation",
}  # fmt: skip
#: other names of methods
ALIASES = {"k-modes": "kmodes", "cumulative_voting": "cumulative", "majority": "voting"}
