"""triton.compiler.compiler: the same as tkc.compiler."""
from .._ahead import ASTSource, GPUTarget, compile
from .._launch import Kernel as CompiledKernel

__all__ = ["ASTSource", "CompiledKernel", "GPUTarget", "compile"]
