"""Consensus clustering: graph and hypergraph partitioners, and the consensus methods that use them."""
