"""Comparing clusterings: one pair, several against a reference, all pairs."""
