"""The front door opens."""

import congruence as cg


def test_ari_of_a_known_pair():
    """scikit-learn documents this pair with 0.5714…"""
    assert cg.ari([0, 0, 1, 2], [0, 0, 1, 1]) == 4 / 7
