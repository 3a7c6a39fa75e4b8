"""`from tkc.language.extra import libdevice`"""
from ..._types import Builtin as _Builtin

libdevice = _Builtin("triton.language.extra.libdevice")
cuda = _Builtin("triton.language.extra.cuda")
