"""Which of several results to trust: which clustering, which of its clusters, which parameters."""
