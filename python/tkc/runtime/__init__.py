"""triton.runtime: kernels, their errors, and which device host code is on."""
from . import autotuner
from .._tune import Autotuner, Config, Heuristics, autotune, heuristics
from .driver import driver
from .errors import InterpreterError, OutOfResources
from .jit import JITFunction, KernelInterface, MockTensor, TensorWrapper, reinterpret
