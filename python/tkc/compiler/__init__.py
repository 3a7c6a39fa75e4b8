"""triton.compiler: compiling for types that are written down, without arguments and without a launch."""
from .._ahead import ASTSource, GPUTarget, compile
from .._launch import Kernel as CompiledKernel
from . import compiler
from .errors import CompilationError

__all__ = ["ASTSource", "CompilationError", "CompiledKernel", "GPUTarget", "compile"]
