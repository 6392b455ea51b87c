"""Alternative clusterings: other groupings of the same data that are good and differ from those already known."""

from congruence.alternative.quality import dissimilarity_quality, dunn
from congruence.alternative.search import Alternative, alternatives

__all__ = ["Alternative", "alternatives", "dissimilarity_quality", "dunn"]
