"""`from tkc.backends.compiler import GPUTarget`"""
from .._ahead import GPUTarget

__all__ = ["GPUTarget"]
