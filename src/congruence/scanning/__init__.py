"""Scans: label columns in files, datasets, streams and Dask frames, counted in parts without loading them."""
