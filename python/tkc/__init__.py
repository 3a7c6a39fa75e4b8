"""Kernels of Triton's language, compiled by libtkc: what host code of Triton's uses, so that `import tkc as triton` and
`import tkc.language as tl` are all that changes. docs/python.md has the rest."""
from . import language, runtime, testing
from ._arrays import TensorDescriptor
from ._jit import jit
from ._launch import host_device, use
from ._library import DeviceError, Diagnostic, Error, KernelError, KernelWarning, LibraryNotFound, OutOfMemory, version
from ._source import SourceUnavailable
from ._tune import Config, autotune, heuristics
from ._types import constexpr as _constexpr


def cdiv(x, y):
    """x / y, rounded up."""
    return (x + y - 1) // y


def next_power_of_2(n):
    """The least power of two that is not below n."""
    return 1 << max(int(n) - 1, 0).bit_length()


class constexpr_function:
    """Decorator: a function of what is known when compiling, for kernels and for Python."""

    def __init__(self, fn):
        self.fn = fn
        self.__name__, self.__doc__, self.__module__ = fn.__name__, fn.__doc__, fn.__module__

    def __call__(self, *args, **kwargs):
        return self.fn(*args, **kwargs)


def set_allocator(allocator):
    """Kernels of tkc need no memory beside their arguments: the allocator is never called."""
