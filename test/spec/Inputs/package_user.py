import triton
import triton.language as tl

from . import package_helper as whole
from .package_helper import scale

LIMIT = 1000


@triton.jit
def k(x: "*i32"):
    tl.store(x, scale(2))
    tl.store(x, whole.FACTOR)
