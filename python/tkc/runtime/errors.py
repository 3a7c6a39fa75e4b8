"""What Triton's hosts catch of launches. OutOfResources is tkc.KernelError: the text says which memory, how much, and the limit."""
from .._library import Error as InterpreterError
from .._library import KernelError as OutOfResources

PTXASError = AutotunerError = InterpreterError
