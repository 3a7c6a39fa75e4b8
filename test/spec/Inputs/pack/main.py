import triton
import triton.language as tl
from . import utils
from .utils import *
from .consts import FACTOR as F3
import pack.sub.deep
import pack.sub.deep as dd
from pack import helper as h2
from pack.sub import deep
from .missing import nothing
from some.other.package import thing

try:
    from .nope import fast
    HAVE = True
except ImportError:
    HAVE = False
    fast = None

try:
    from triton.language.extra.cuda import no_such_operation
    OLD = True
except ImportError:
    OLD = False


@triton.jit
def k(x: "*i32"):
    tl.store(x, utils.helper(1))             # 1 * 3 + (1 - 3 - 7)
    tl.store(x + 1, plus_one(2) + F3)
    tl.store(x + 2, pack.sub.deep.deeper(30) + dd.deeper(0))
    tl.store(x + 3, h2(2) + deep.deeper(0))  # 6 - 8 - 10
    if HAVE or OLD:
        tl.store(x + 4, fast(1))


@triton.jit
def wrong(x: "*i32"):
    tl.store(x, plus_two(1))
