"""Published results computed again: one module a paper, the paper's number beside ours."""
