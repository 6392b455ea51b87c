"""Ensembles of random partitions."""

from __future__ import annotations

from congruence.engine.plan import generator_of
from congruence.errors import MOST_RUNS, whole_number
from congruence.inputs.ensemble import Ensemble
from congruence.options import described
from congruence.typing import Seed

# --- random members ----------------------------------------------------------------------------------------------


@described
def random_partitions(n: int, n_members: int, kmax: int, random_state: Seed = 0) -> Ensemble:
    """Random members: each has k ~ U{2 … kmax} clusters and assigns every point to one of them at random.

    Args:
        n: Number of points.
        n_members: Number of members.
        kmax: Largest number of clusters, at least 2.
        random_state: See `congruence.options`.

    Returns:
        An `Ensemble`.

    Raises:
        InputError: If an argument is invalid.

    See also:
        `cg.certainty_random`.

    >>> import congruence as cg
    >>> cg.random_partitions(100, 5, 4, random_state=0)
    Ensemble: 5 clusterings of 100 points, 2 to 4 clusters each
    """
    n, n_members = whole_number(n, "n", 1, 2**40), whole_number(n_members, "n_members", 1, MOST_RUNS)
    kmax = whole_number(kmax, "kmax", 2, 2**62)
    rng = generator_of(random_state)
    return Ensemble([rng.integers(0, rng.integers(2, kmax + 1), n) for _ in range(n_members)])
