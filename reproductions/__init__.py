"""Published results, recomputed: one module per paper, the paper's numbers next to ours."""
