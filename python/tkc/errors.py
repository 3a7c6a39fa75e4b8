"""Triton's name of what all its exceptions are."""
from ._library import Error as TritonError

__all__ = ["TritonError"]
