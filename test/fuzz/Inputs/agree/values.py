"""Types, and what is known of a value without running anything: how large it can be, of what all its elements are multiples, and how far
two devices that are both right may be apart in it.

    mag    |x| <= mag in every element; infinite: anything, NaN and infinity too
    grain  all elements are multiples of 2^grain; None: nothing is known
    err    two right evaluations differ by at most this; 0: they are the same bits

A sum or product whose grain says that no bit is rounded off is exact in every order and in every fused form. What is rounded is the same
on every device as long as its operands are (IEEE), except where a device may choose: the order of a sum, a product that feeds a sum, an
approximation. Only there err grows, by the classical bounds: half a unit of the last place of the largest possible value for every rounding,
in each of the two evaluations."""
import math
from collections import namedtuple


class Reject(Exception):
    """This operand, attribute or kernel is not well-defined; another is tried."""


def need(condition):
    if not condition:
        raise Reject


class DType:
    def __init__(self, name, tl, kind, bits, precision=0, low=0, largest=0.0):
        self.name, self.tl, self.kind, self.bits = name, "tl." + tl, kind, bits
        self.precision, self.low = precision, low  # of floats: significant bits, exponent of the least number above 0
        self.mag = float(largest) if kind == "f" else float(2**bits)
        self.is_float, self.is_int = kind == "f", kind in "iu"

    def __repr__(self):
        return self.name


DTYPES = {d.name: d for d in (
    DType("i1", "int1", "b", 1), DType("i8", "int8", "i", 8), DType("i16", "int16", "i", 16), DType("i32", "int32", "i", 32),
    DType("i64", "int64", "i", 64), DType("u8", "uint8", "u", 8), DType("u16", "uint16", "u", 16), DType("u32", "uint32", "u", 32),
    DType("u64", "uint64", "u", 64), DType("fp8e4nv", "float8e4nv", "f", 8, 4, -9, 448), DType("fp8e5", "float8e5", "f", 8, 3, -16, 57344),
    DType("fp16", "float16", "f", 16, 11, -24, 65504), DType("bf16", "bfloat16", "f", 16, 8, -133, 2.0**127),
    DType("fp32", "float32", "f", 32, 24, -149, 2.0**127), DType("fp64", "float64", "f", 64, 53, -1074, 2.0**1022))}
I1, I32, U32, F32, F64 = (DTYPES[n] for n in ("i1", "i32", "u32", "fp32", "fp64"))
INTS = [d for d in DTYPES.values() if d.is_int]
FP8 = [DTYPES["fp8e4nv"], DTYPES["fp8e5"]]
FLOATS = [d for d in DTYPES.values() if d.is_float and d not in FP8]
WIDE = [d for d in INTS if d.bits >= 32]

Facts = namedtuple("Facts", "mag grain err")
Val = namedtuple("Val", "dtype shape facts")


def known_int(d, mag=None):
    return Facts(d.mag if mag is None else min(mag, d.mag), 0, 0.0)


def wild(facts):
    return math.isinf(facts.mag)


def exact(v):
    return v.facts.err == 0


def held(d, mag, grain):
    """Whether the type holds every multiple of 2^grain up to mag."""
    return grain is not None and grain >= d.low and mag <= 2.0**min(grain + d.precision, 1000) and mag <= d.mag


def unit(d, mag):
    """The spacing of the type's numbers at mag: two roundings differ by no more, one rounding by half of it."""
    return max(mag * 2.0**(1 - d.precision), 2.0**max(d.low, -1000))


def rounded(d, mag, grain, err, free=False):
    """Facts of a result rounded to d. free: the device chooses whether, or in which order, it rounds."""
    if math.isinf(mag) or mag * (1 + 2.0**-d.precision) > d.mag:
        need(err == 0 and not free)
        return Facts(math.inf, None, 0.0)
    if held(d, mag, grain):
        return Facts(mag, grain, err)
    if err or free:
        err += unit(d, mag)
    mag *= 1 + 2.0**-d.precision
    need(err < d.mag)
    return Facts(mag, None, err)


def coarser(a, b):
    """The grain of what is a multiple of one or of the other."""
    return None if a is None or b is None else min(a, b)


def either(a, b):
    """Facts of a choice between the two."""
    return Facts(max(a.mag, b.mag), coarser(a.grain, b.grain), max(a.err, b.err))


def numel(shape):
    return math.prod(shape)


def strides_of(shape, perm):
    """Of a dense array in which dim perm[-1] is the contiguous one."""
    out, step = [0] * len(shape), 1
    for d in reversed(perm):
        out[d], step = step, step * shape[d]
    return tuple(out)
