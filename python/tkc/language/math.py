"""`from tkc.language.math import exp2`"""
from .._types import names_of as _names_of

__getattr__ = _names_of("triton.language.math")
