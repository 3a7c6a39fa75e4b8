"""What a case of foreign.py is: a kernel in Triton's text, its arguments and what numpy says it gives."""
from dataclasses import dataclass, field

import numpy as np

rng = np.random.default_rng(11)
CASES = []
POINTERS = {"float64": "*fp64", "float32": "*fp32", "float16": "*fp16", "int64": "*i64", "int32": "*i32", "int16": "*i16", "int8": "*i8",
            "uint64": "*u64", "uint32": "*u32", "uint16": "*u16", "uint8": "*u8", "bool": "*i1"}
NARROW = {"bf16": (8, 7, np.uint16), "fp8e5": (5, 2, np.uint8), "fp8e4nv": (4, 3, np.uint8)}


@dataclass
class Narrow:
    """Numbers of a type that numpy lacks, as bits."""
    kind: str
    array: np.ndarray


@dataclass
class Case:
    name: str
    kernel: object
    args: dict  # arrays and numbers; what the kernel's constants are
    grid: tuple
    wanted: dict  # of some arrays: the values, relative and absolute error
    warps: int = 4
    stages: int = 2
    archs: tuple = (80, 90)
    says: tuple = ()  # lines that the kernel prints
    constants: dict = field(default_factory=dict)


def case(kernel, args, grid, wanted, name=None, **options):
    CASES.append(Case(name or kernel.__name__, kernel, args, (tuple(np.atleast_1d(grid)) + (1, 1))[:3], wanted, **options))


# ---- numbers ----

def narrow(kind, values):
    """Rounded to nearest even; values stay within the type."""
    exponent, mantissa, word = NARROW[kind]
    v = np.asarray(values, np.float64)
    with np.errstate(divide="ignore"):
        scale = np.floor(np.log2(np.abs(v)))
    least = 2 - (1 << (exponent - 1))
    scale = np.maximum(np.where(v == 0, least, scale), least)
    units = np.rint(np.abs(v) * 2.0 ** (mantissa - scale)).astype(np.int64)
    bits = (scale - least).astype(np.int64) * (1 << mantissa) + units
    return Narrow(kind, (bits | np.signbit(v).astype(np.int64) << (exponent + mantissa)).astype(word))


def widen(x):
    if not isinstance(x, Narrow):
        return x
    exponent, mantissa, _ = NARROW[x.kind]
    bits = x.array.astype(np.int64)
    size = bits & ((1 << (exponent + mantissa)) - 1)
    e = np.maximum(size >> mantissa, 1)
    m = (size & ((1 << mantissa) - 1)) + np.where(size >> mantissa, 1 << mantissa, 0)
    v = m * 2.0 ** (e - ((1 << (exponent - 1)) - 1) - mantissa)
    return np.where(bits >> (exponent + mantissa), -v, v)


def normal(kind, *shape, scale=1.0):
    x = rng.standard_normal(shape) * scale
    if kind in NARROW:
        return narrow(kind, x)
    return x.astype({"fp32": np.float32, "fp16": np.float16, "fp64": np.float64}[kind])


def whole(dtype, low, high, *shape):
    return rng.integers(low, high, shape).astype(dtype)


def unwritten(dtype, *shape):
    if dtype in NARROW:
        return Narrow(dtype, np.full(shape, 0x5a, NARROW[dtype][2]))
    dtype = np.dtype({"fp32": "float32", "fp16": "float16", "fp64": "float64"}.get(dtype, dtype))
    return np.full(shape, 90, dtype)


def exact(values):
    return values, 0, 0


def near(values, relative=2e-6, absolute=2e-6):
    return values, relative, absolute
