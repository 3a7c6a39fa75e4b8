"""What Triton's hosts catch: here each is tkc.KernelError, whose text and diagnostics say more."""
from .._library import KernelError as CompilationError

CompileTimeAssertionFailure = UnsupportedLanguageConstruct = CompilationError
