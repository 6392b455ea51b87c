"""What the machine offers: compiled code, and a CUDA GPU."""
