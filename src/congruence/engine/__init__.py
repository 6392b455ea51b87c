"""Counting: how tables are built. No engine knows a measure."""
