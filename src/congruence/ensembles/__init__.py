"""Ensembles: their agreement, and how to generate them."""
