"""Clusters over time: which cluster of one step is which of another, and what became of each."""
