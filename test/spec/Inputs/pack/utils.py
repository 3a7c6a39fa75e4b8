import triton
import triton.language as tl
from .consts import FACTOR
from .circle import *
from pack.sub.deep import deeper as deep_alias


@triton.jit
def helper(x):
    return x * FACTOR + deep_alias(x)
