"""Default measures of two clusterings, by their kinds."""

from collections.abc import Sequence

from congruence.errors import Option
from congruence.formulas.record import Measure
from congruence.statistics.bonds import Degrees
from congruence.statistics.concordance import Concordance

#: default measures of labels
DEFAULT = ("ari", "ami_max", "nmi_sum", "vi", "jaccard", "accuracy", "element_centric")
#: by whether a side is soft, and whether a side is a cover
BY_KIND = {
    (False, False): DEFAULT,
    (False, True): ("omega", "onmi_max", "average_f1", "bcubed_f", "element_centric"),
    (True, False): ("aci", "ndc", "fari", "nmi_sum", "vi", "accuracy", "element_centric"),
    (True, True): ("aci", "ndc"),
}
#: most points of memberships for which measures that were not named may compare all pairs of points, and their statistics
MOST_PAIRED = 4_000
OF_ALL_PAIRS = (Concordance, Degrees)


def quick(measures: Sequence[Measure], points: int) -> tuple[list[Measure], dict[str, str]]:
    """The measures of this many points of memberships that do not take long, and why the others are left out."""
    slow = [m.key for m in measures if m.needs in OF_ALL_PAIRS] if points > MOST_PAIRED else []
    why = f"it compares all pairs of the {points:,} points; name it in {Option('measures')}"
    return [m for m in measures if m.key not in slow], dict.fromkeys(slow, why)
