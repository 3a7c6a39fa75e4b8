"""triton.backends: what to compile for."""
