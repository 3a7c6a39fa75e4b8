"""`from tkc.language.extra.cuda.libdevice import fast_dividef`"""
from ...._types import names_of as _names_of

__getattr__ = _names_of("triton.language.extra.cuda.libdevice")
