"""Density profiles: compare clusterings, even of different points, by where their clusters lie in the data."""

from congruence.density.binning import Binning
from congruence.density.counting import density_profile, similarity_matrix
from congruence.density.profile import Profile

__all__ = ["Binning", "Profile", "density_profile", "similarity_matrix"]
