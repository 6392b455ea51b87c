"""Alternative clusterings: other groupings of the same data that are good and differ from those already known."""

from congruence.alternative_clustering.quality import dissimilarity_quality, dunn
from congruence.alternative_clustering.results import Alternative
from congruence.alternative_clustering.search import alternatives

__all__ = ["Alternative", "alternatives", "dissimilarity_quality", "dunn"]
