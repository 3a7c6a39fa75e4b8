"""Element types and their numbers, independent of the compiler: every float format is decoded to and encoded from double
precision by integer arithmetic, so bf16 and fp8 need nothing that numpy lacks.

An array is kept as it lies in memory (`storage`: bf16 and fp8 as unsigned integers); `decode` gives what it means (floats as
float64, which is exact for all of them, integers and int1 as they are), `encode` rounds float64 to storage."""
from collections import namedtuple

import numpy as np

np.seterr(all="ignore")  # edge values are the point

# kind: b bool, i signed, u unsigned, f float
Dtype = namedtuple("Dtype", "name tl kind bits storage exponent mantissa")

DTYPES = {d.name: d for d in (
    Dtype("i1", "int1", "b", 1, np.dtype("?"), 0, 0),
    Dtype("i8", "int8", "i", 8, np.dtype("i1"), 0, 0),
    Dtype("i16", "int16", "i", 16, np.dtype("i2"), 0, 0),
    Dtype("i32", "int32", "i", 32, np.dtype("i4"), 0, 0),
    Dtype("i64", "int64", "i", 64, np.dtype("i8"), 0, 0),
    Dtype("u8", "uint8", "u", 8, np.dtype("u1"), 0, 0),
    Dtype("u16", "uint16", "u", 16, np.dtype("u2"), 0, 0),
    Dtype("u32", "uint32", "u", 32, np.dtype("u4"), 0, 0),
    Dtype("u64", "uint64", "u", 64, np.dtype("u8"), 0, 0),
    Dtype("fp8e4nv", "float8e4nv", "f", 8, np.dtype("u1"), 4, 3),
    Dtype("fp8e5", "float8e5", "f", 8, np.dtype("u1"), 5, 2),
    Dtype("fp16", "float16", "f", 16, np.dtype("f2"), 5, 10),
    Dtype("bf16", "bfloat16", "f", 16, np.dtype("u2"), 8, 7),
    Dtype("fp32", "float32", "f", 32, np.dtype("f4"), 8, 23),
    Dtype("fp64", "float64", "f", 64, np.dtype("f8"), 11, 52))}

ALL = tuple(DTYPES)
SIGNED = ("i8", "i16", "i32", "i64")
UNSIGNED = ("u8", "u16", "u32", "u64")
INTS = SIGNED + UNSIGNED
FP8 = ("fp8e4nv", "fp8e5")
FLOATS = ("fp16", "bf16", "fp32", "fp64")
ALL_FLOATS = FP8 + FLOATS
NUMBERS = INTS + ALL_FLOATS


def bits_of(dt, storage):
    """The elements as unsigned integers of 64 bits."""
    width = np.dtype("u%d" % DTYPES[dt].storage.itemsize)
    return np.ascontiguousarray(storage).view(width).astype(np.uint64).reshape(np.shape(storage))


def from_bits(dt, bits):
    storage = DTYPES[dt].storage
    return np.asarray(bits, np.uint64).astype("u%d" % storage.itemsize).view(storage).reshape(np.shape(bits))


def largest_finite(dt):
    """Bits of the largest finite number: fp8e4nv uses its highest exponent for numbers, all ones but the last bit."""
    d = DTYPES[dt]
    return 0x7E if dt == "fp8e4nv" else (((1 << d.exponent) - 1) << d.mantissa) - 1


def nan_bits(dt):
    return 0x7F if dt in FP8 else largest_finite(dt) + 1 + (1 << (DTYPES[dt].mantissa - 1))


def decode(dt, storage):
    d = DTYPES[dt]
    if d.kind != "f":
        return np.asarray(storage)
    if d.storage.kind == "f":
        return np.asarray(storage).astype(np.float64)
    bits = bits_of(dt, storage).astype(np.int64)
    bias = (1 << (d.exponent - 1)) - 1
    exponent = bits >> d.mantissa & ((1 << d.exponent) - 1)
    fraction = bits & ((1 << d.mantissa) - 1)
    fraction = np.where(exponent > 0, fraction | 1 << d.mantissa, fraction)
    value = np.ldexp(fraction.astype(np.float64), np.maximum(exponent, 1) - bias - d.mantissa)
    magnitude = bits & ((1 << (d.bits - 1)) - 1)
    top = largest_finite(dt)
    value = np.where(magnitude > top, np.where((magnitude == top + 1) & (dt != "fp8e4nv"), np.inf, np.nan), value)
    return np.where(bits >> (d.bits - 1) & 1, -value, value)


def encode(dt, value, toward_zero=False):
    """Rounds float64 to nearest, ties to even (or toward zero). The 8-bit formats saturate, infinities too but in fp8e5 toward zero."""
    d = DTYPES[dt]
    value = np.asarray(value, np.float64)
    if dt == "fp64":
        return value
    raw = np.ascontiguousarray(value).view(np.int64).reshape(value.shape)
    sign = (raw >> 63 & 1).astype(np.uint64)
    exponent = raw >> 52 & 0x7FF
    fraction = (raw & ((1 << 52) - 1)) | np.where(exponent > 0, 1 << 52, 0)
    unbiased = np.maximum(exponent, 1) - 1023
    bias = (1 << (d.exponent - 1)) - 1
    is_subnormal = unbiased < 1 - bias
    drop = np.minimum(52 - d.mantissa + np.where(is_subnormal, 1 - bias - unbiased, 0), 60)
    kept = fraction >> drop
    rest = fraction - (kept << drop)
    half = np.left_shift(np.int64(1), drop - 1)
    if not toward_zero:
        kept = kept + ((rest > half) | ((rest == half) & (kept & 1 == 1)))
    magnitude = kept + np.where(is_subnormal, 0, (unbiased + bias - 1).clip(0, 4096)) * (1 << d.mantissa)
    top = largest_finite(dt)
    beyond = top if dt in FP8 or toward_zero else top + 1
    magnitude = np.where(magnitude > top, beyond, magnitude)
    saturates = dt == "fp8e4nv" or (dt == "fp8e5" and not toward_zero)
    magnitude = np.where(np.isinf(value), top if saturates else top + 1, magnitude).astype(np.uint64)
    bits = magnitude | sign << np.uint64(d.bits - 1)
    return from_bits(dt, np.where(np.isnan(value), np.uint64(nan_bits(dt)), bits))


def integer_range(dt):
    d = DTYPES[dt]
    return (-(1 << (d.bits - 1)), (1 << (d.bits - 1)) - 1) if d.kind == "i" else (0, (1 << d.bits) - 1)


def integer_to_odd_double(value):
    """float64 of integers of 64 bits, rounded to odd: a second rounding to fewer bits is then the only one that counts."""
    negative = value < 0 if value.dtype.kind == "i" else np.zeros(value.shape, bool)
    magnitude = np.where(negative, np.uint64(0) - value.astype(np.uint64), value.astype(np.uint64))
    sticky = (magnitude & np.uint64(0x7FF) != 0) & (magnitude >> np.uint64(53) != 0)
    cut = np.where(magnitude >> np.uint64(53) != 0, magnitude & ~np.uint64(0x7FF) | sticky.astype(np.uint64) << np.uint64(11), magnitude)
    return np.where(negative, -1.0, 1.0) * cut.astype(np.float64)


def float_to_integer(dt, value):
    low, high = integer_range(dt)
    store = DTYPES[dt].storage
    inside = (value > low - 1.0) & (value < float(high) + (1.0 if DTYPES[dt].bits < 64 else 0.0))
    whole = np.trunc(np.where(inside, value, 0.0)).astype(store)
    end = np.where(value < 0, np.array(low, store), np.array(high, store))
    return np.where(inside, whole, np.where(np.isnan(value), np.array(0, store), end))


def cast(source, target, storage, toward_zero=False):
    """x.to(target) of every element."""
    s, t = DTYPES[source], DTYPES[target]
    value = decode(source, storage)
    if source == target:
        return np.asarray(storage)
    if t.kind == "b":
        return value != 0
    if s.kind == "f":
        return encode(target, value, toward_zero) if t.kind == "f" else float_to_integer(target, value)
    if t.kind != "f":
        return value.astype(t.storage)
    if target == "fp64":
        return value.astype(np.float64)
    return encode(target, integer_to_odd_double(value.astype(np.int64) if s.kind == "b" else value))


def to_float(dt, value):
    """decoded numbers of type dt as float64 (integers rounded to nearest)."""
    return np.asarray(value).astype(np.float64)


def ordered(dt, storage):
    """Integers that count the representable numbers, so that a difference is a distance in ulp."""
    d = DTYPES[dt]
    bits = bits_of(dt, storage).astype(object) if d.bits == 64 else bits_of(dt, storage).astype(np.int64)
    sign, rest = bits >> (d.bits - 1), bits & ((1 << (d.bits - 1)) - 1)
    return np.where(sign == 1, -rest, rest)


def ulps(dt, got, want):
    """How many ulp two numbers of one float type are apart; 0 for two NaN, a large number for one."""
    nan_got, nan_want = np.isnan(decode(dt, got)), np.isnan(decode(dt, want))
    apart = np.abs(ordered(dt, got) - ordered(dt, want)).astype(np.float64)
    return np.where(nan_got & nan_want, 0.0, np.where(nan_got | nan_want, 1e30, apart))


SMALL_INTEGERS = (0, 1, 2, 3, 5, 7, 8, 15, 16, 31, 32, 33, 63, 64, 100, -1, -2, -3, -7, -8, -33)


def special(dt):
    """Numbers at which something happens: zeros, ends of the ranges, infinities, NaN, halves, powers of two."""
    d = DTYPES[dt]
    if d.kind == "b":
        return np.array([False, True])
    if d.kind != "f":
        low, high = integer_range(dt)
        inside = [v for v in SMALL_INTEGERS if low <= v <= high]
        return np.array(inside + [low, low + 1, high, high - 1, high // 2, high // 2 + 1, low // 3],
                        dtype=object).astype(d.storage)
    top = largest_finite(dt)
    positive = [0, 1, (1 << d.mantissa) - 1, 1 << d.mantissa, top]
    bits = positive + [b | 1 << (d.bits - 1) for b in positive]
    if dt != "fp8e4nv":
        bits += [top + 1, top + 1 | 1 << (d.bits - 1)]
    values = np.array([0.5, 1, 1.5, 2, 2.5, 3, 7, 100, -0.5, -1, -1.5, -2.5, -3, 0.1, -0.3])
    return np.concatenate([from_bits(dt, bits + [nan_bits(dt)]), encode(dt, values)])


def random(dt, n, rng):
    """Plain numbers: integers over the whole range or small, floats of both signs over several binades."""
    d = DTYPES[dt]
    if d.kind == "b":
        return rng.integers(0, 2, n).astype(bool)
    if d.kind != "f":
        low, high = integer_range(dt)
        wide = rng.integers(low, high, n, dtype=d.storage, endpoint=True)
        return np.where(rng.integers(0, 2, n), wide, rng.integers(max(low, -20), 20, n).astype(d.storage))
    span = 4 if d.bits == 8 else 10
    return encode(dt, rng.standard_normal(n) * np.exp2(rng.uniform(-span, span, n)))
