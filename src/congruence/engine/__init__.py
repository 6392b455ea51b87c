"""Counting: how tables are made. No engine knows a measure."""
