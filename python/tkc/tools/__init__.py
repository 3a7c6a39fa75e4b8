"""triton.tools, as far as host code of kernels uses it."""
from . import tensor_descriptor

__all__ = ["tensor_descriptor"]
