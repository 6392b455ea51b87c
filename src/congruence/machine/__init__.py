"""The machine: compiled code, CUDA GPU, and writing files."""
