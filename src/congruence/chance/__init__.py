"""Is it more than chance? Permutation tests, adjusted measures, confidence intervals."""
