"""`from tkc.language.extra.cuda import libdevice`"""
from ...._types import Builtin as _Builtin


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return _Builtin("triton.language.extra.cuda." + name)
