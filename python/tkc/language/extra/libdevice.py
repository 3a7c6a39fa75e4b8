"""`from tkc.language.extra.libdevice import fast_dividef`"""
from ..._types import Builtin as _Builtin


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return _Builtin("triton.language.extra.libdevice." + name)
