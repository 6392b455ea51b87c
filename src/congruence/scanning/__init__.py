"""Rows that stay where they are: files, datasets, streams and Dask frames, counted in parts."""
