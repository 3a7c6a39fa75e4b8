import triton
from .utils import *


@triton.jit
def plus_one(x):
    return x + 1
