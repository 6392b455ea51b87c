"""Counting: how tables are built. Engines do not depend on measures."""
