"""Resolution sweeps: which clusters stay, split or mix."""
