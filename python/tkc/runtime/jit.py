"""triton.runtime.jit: kernels as objects, and tensors that stand for others."""
from .. import _types
from .._arrays import MockTensor, TensorWrapper, reinterpret
from .._jit import JitFunction as JITFunction
from .._jit import Launchable as KernelInterface
from .._jit import jit
from .._source import constexpr_function

JITCallable = JITFunction


class _Names:
    """Short names of types, by any that torch, numpy or Triton call them."""

    def __getitem__(self, name):
        return _types.dtype(name).short


type_canonicalisation_dict = _Names()
