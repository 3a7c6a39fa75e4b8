"""Kernels of Triton's language, compiled by libtkc: what host code of Triton's uses, so that `import tkc as triton` and
`import tkc.language as tl` are all that changes. docs/python.md has the rest."""
from . import compiler, errors, knobs, language, runtime, testing, tools
from ._arrays import MockTensor, TensorDescriptor, TensorWrapper, reinterpret
from ._jit import JitFunction as JITFunction
from ._jit import Launchable as KernelInterface
from ._jit import jit
from ._launch import host_device, use
from ._quick import launches_by
from ._library import DeviceError, Diagnostic, Error, KernelError, KernelWarning, LibraryNotFound, OutOfMemory, version
from ._source import SourceUnavailable, constexpr_function, must_use_result
from ._tune import Config, autotune, heuristics
from ._types import plain as _plain
from .compiler import CompilationError, compile
from .errors import TritonError
from .language import aggregate
from .runtime import InterpreterError, OutOfResources
from .runtime._allocation import set_allocator


def cdiv(x, y):
    """x / y, rounded up. Grids call it at each launch: not by way of constexpr_function."""
    n = (x + y - 1) // y
    return n if n.__class__ is int else _plain(n)


@constexpr_function
def next_power_of_2(n):
    """The least power of two that is not below n."""
    return 1 << max(int(n) - 1, 0).bit_length()
