"""One clustering out of many: partitioners of graphs and hypergraphs, and the consensus functions on top of them."""
