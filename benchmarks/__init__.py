"""Speed benchmarks: each script times congruence and a peer in one run and prints the ratio."""
