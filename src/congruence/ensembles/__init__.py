"""Ensembles: what they agree on, and how to make one."""
