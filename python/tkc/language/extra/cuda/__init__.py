"""`from tkc.language.extra.cuda import libdevice`"""
from ...._types import names_of as _names_of

__getattr__ = _names_of("triton.language.extra.cuda")
