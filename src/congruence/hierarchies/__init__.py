"""Two hierarchies, cut by cut, and sweeps over resolutions: how clusters split and merge."""
