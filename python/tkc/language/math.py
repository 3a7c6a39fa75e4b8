"""`from tkc.language.math import exp2`"""
from .._types import Builtin as _Builtin


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return _Builtin("triton.language.math." + name)
