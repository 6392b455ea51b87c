"""Agreement and chance: permutation tests, adjusted measures, confidence intervals."""
