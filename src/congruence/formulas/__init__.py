"""The measures, one family a file; importing this package declares them all, in this order."""

from congruence.formulas import pairs  # noqa: F401, I001  (pairs first, as people know them)
from congruence.formulas import information, matching  # noqa: F401
