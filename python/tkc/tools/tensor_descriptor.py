"""`from tkc.tools.tensor_descriptor import TensorDescriptor`"""
from .._arrays import TensorDescriptor

__all__ = ["TensorDescriptor"]
