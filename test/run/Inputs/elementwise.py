"""The table of operations that work element by element: spellings, types, reference in numpy, accuracy.

A row's reference gets the operands as numbers (floats as float64, integers and int1 as they are) and gives numbers; the row's
result type says how they are rounded. Float results that must be exact are computed in float64 and rounded once more, which
changes nothing for + - * / and sqrt of types of at most 24 bits (53 >= 2 * 24 + 2)."""
import itertools
import math
from fractions import Fraction

import numpy as np

from formats import (ALL, ALL_FLOATS, DTYPES, FLOATS, FP8, INTS, NUMBERS, SIGNED, UNSIGNED, cast, decode, encode,
                     from_bits, integer_range,
                     random, special)
from batches import Case, Want, rng_of, shape_name

SHAPES = ((), (1,), (256,), (781,), (16, 16), (6, 10), (4, 8, 8), (3, 5, 7))
NAMES = "abc"


class Row:
    """spellings: the same thing written in other ways, taken in turn; {a} {b} {c} are operands and {t} {u} their types.
    domain: which special numbers and which random ones; ulp on cpu, gpu on a GPU."""

    def __init__(self, key, spellings, types, ref, result=None, ulp=0, gpu=None, atol=0.0, domain=None, any_zero=False, flushes=False):
        self.key, self.spellings = key, [spellings] if isinstance(spellings, str) else spellings
        self.types, self.ref, self.ulp, self.gpu, self.atol = types, ref, ulp, gpu, atol
        self.result = result or (lambda types: types[0])
        self.domain, self.any_zero, self.flushes = domain, any_zero, flushes


def same(dtypes, n):
    return [(dt,) * n for dt in dtypes]


def pool(dt, rng, domain):
    """All special numbers and as many random ones of a type, inside the domain of floats."""
    values = np.concatenate([special(dt), random(dt, 60, rng)])
    if domain is None or DTYPES[dt].kind != "f":
        return values if domain is None or not callable(domain) else values[domain(decode(dt, values))]
    if callable(domain):
        with np.errstate(all="ignore"):
            return values[domain(decode(dt, values))]
    low, high = domain
    number = decode(dt, values)
    inside = values[(number >= low) & (number <= high)]
    more = encode(dt, rng.uniform(max(low, -1e4), min(high, 1e4), 200))
    number = decode(dt, more)
    return np.concatenate([inside, more[(number >= low) & (number <= high)]])


def operands(types, n, rng, domains):
    """n tuples: every pair (or triple) of special numbers first, as far as they fit, shuffled; then random ones."""
    pools = [pool(dt, rng, domain) for dt, domain in zip(types, domains)]
    if len(types) == 1:
        picks = rng.permutation(len(pools[0]))
        return [pools[0][np.resize(picks, n)]]
    sizes = [min(len(p), len(special(dt))) for p, dt in zip(pools, types)]
    if int(np.prod(sizes)) > 3000:
        sizes = [min(s, 12) for s in sizes]
        for p in pools:
            rng.shuffle(p)
    grid = np.array(list(itertools.product(*map(range, sizes))))
    grid = grid[rng.permutation(len(grid))]
    if n > len(grid):
        extra = np.stack([rng.integers(0, len(p), n - len(grid)) for p in pools], axis=1)
        grid = np.concatenate([grid, extra])
    return [p[grid[:n, i]] for i, p in enumerate(pools)]


def cases(rows, shapes):
    for row in rows:
        for i, types in enumerate(row.types):
            for j, shape in enumerate(shapes):
                yield case(row, types, shape, row.spellings[(i * len(shapes) + j) % len(row.spellings)])


def case(row, types, shape, spelling):
    name = f"{row.key}: {spelling} {' '.join(types)} {shape_name(shape)}"
    rng = rng_of(name)
    n = int(np.prod(shape, dtype=np.int64))
    domains = row.domain if isinstance(row.domain, list) else [row.domain] * len(types)
    storages = [s.reshape(shape) for s in operands(types, n, rng, domains)]
    fields = {c: c for c in NAMES[:len(types)]}
    fields.update(t="tl." + DTYPES[types[0]].tl, u="tl." + DTYPES[types[-1]].tl)
    result = row.result(types)
    with np.errstate(all="ignore"):
        value = row.ref(*(decode(dt, s) for dt, s in zip(types, storages)))
    want = wanted(row, result, value, decode(types[0], storages[0]))
    blocks = {NAMES[i]: (dt, s) for i, (dt, s) in enumerate(zip(types, storages))}
    return Case(name, "r = " + spelling.format(**fields), blocks, {"r": want}, covers=[row.key])


def wanted(row, result, value, operand):
    if DTYPES[result].kind != "f":
        return Want(result, storage=np.asarray(value).astype(DTYPES[result].storage))
    gpu = np.nan_to_num(row.gpu(operand), posinf=1e9) if callable(row.gpu) else row.gpu
    return Want(result, value=np.asarray(value).astype(np.float64), ulp=row.ulp, gpu=gpu, atol=row.atol,
                any_zero=row.any_zero, flushes=row.flushes)


def of_exponent(x):
    """A GPU computes exp(x) as 2^(x / ln 2): the product's rounding counts for more, the larger x is."""
    return 8 + 1.5 * np.abs(x)


# ---- references ----

def by_element(f, *arrays):
    return np.vectorize(f, otypes=[arrays[0].dtype])(*arrays) if arrays[0].size else arrays[0]


def wrapped(x, dtype):
    bits = dtype.itemsize * 8
    x &= (1 << bits) - 1
    return x - (1 << bits) if dtype.kind == "i" and x >> (bits - 1) else x


def int_div(x, y):
    def one(a, b):
        a, b = int(a), int(b)
        return wrapped(0 if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1), x.dtype)
    return by_element(one, x, y)


def int_rem(x, y):
    def one(a, b):
        a, b = int(a), int(b)
        return a if b == 0 else abs(a) % abs(b) * (-1 if a < 0 else 1)
    return by_element(one, x, y)


def shift_left(x, y):
    bits = x.dtype.itemsize * 8
    return by_element(lambda a, b: wrapped(int(a) << int(b), x.dtype) if 0 <= b < bits else 0, x, y)


def shift_right(x, y):
    bits = x.dtype.itemsize * 8
    return by_element(lambda a, b: int(a) >> int(b) if 0 <= b < bits else (-1 if a < 0 else 0), x, y)


def mul_high(x, y):
    bits = x.dtype.itemsize * 8
    mask = (1 << bits) - 1
    return by_element(lambda a, b: wrapped((int(a) & mask) * (int(b) & mask) >> bits, x.dtype), x, y)


def mul_high_signed(x, y):
    bits = x.dtype.itemsize * 8
    return by_element(lambda a, b: wrapped(int(a) * int(b) >> bits, x.dtype), x, y)


def as_fp32(x):
    return decode("fp32", encode("fp32", x.astype(np.float64))) if x.dtype.kind == "f" else x.astype(np.float32).astype(np.float64)


def int_true_div(x, y):
    return as_fp32(x) / as_fp32(y)


def float_max(x, y):
    return np.where(np.isnan(x), y, np.where(np.isnan(y), x, np.maximum(x, y)))


def float_min(x, y):
    return np.where(np.isnan(x), y, np.where(np.isnan(y), x, np.minimum(x, y)))


def lower(x, y):
    return float_min(x, y) if x.dtype.kind == "f" else np.minimum(x, y)


def upper(x, y):
    return float_max(x, y) if x.dtype.kind == "f" else np.maximum(x, y)


def fma_odd(x, y, z):
    """x * y + z of numbers whose product is exact in float64, rounded to odd there, so that one more rounding is right."""
    p = x * y
    s = p + z
    b = s - p
    error = (p - (s - b)) + (z - b)
    bits = np.ascontiguousarray(s).view(np.int64).reshape(np.shape(s))
    even = bits & 1 == 0
    away = np.where((error > 0) == (s > 0), 1, -1)
    fix = np.isfinite(s) & np.isfinite(error) & (error != 0) & even
    return np.where(fix, (bits + away).view(np.float64), s)


def fma_double(x, y, z):
    def one(a, b, c):
        if not (math.isfinite(a) and math.isfinite(b) and math.isfinite(c)):
            return a * b + c
        exact = Fraction(a) * Fraction(b) + Fraction(c)
        if exact == 0:
            return a * b + c
        try:
            return float(exact)
        except OverflowError:
            return math.inf if exact > 0 else -math.inf
    return np.vectorize(one, otypes=[np.float64])(x, y, z)


def wide(f):
    """A function in the widest float that numpy has."""
    return lambda *x: f(*(v.astype(np.longdouble) for v in x))


def scalar(f):
    """A function of Python's math by element: NaN where it refuses, infinity where it overflows."""
    def one(*x):
        try:
            return f(*x)
        except ValueError:
            return math.nan
        except OverflowError:
            return math.inf
    return lambda *x: np.vectorize(one, otypes=[np.float64])(*x)


def round_away(x):
    return np.copysign(np.floor(np.abs(x) + 0.5), x) if x.dtype != np.float64 else np.where(np.abs(x) < 2**51,
            np.copysign(np.trunc(np.abs(x) + 0.5 * (np.abs(x) != 0.49999999999999994)), x), x)


def widened(types):
    """maximum, minimum and clamp of bf16 are fp32, as in Triton."""
    return "fp32" if types[0] == "bf16" else types[0]


def pred(types):
    return "i1"


def int32(types):
    return "i32"


def divided(types):
    """`/` and `%`: integers give fp32 for `/`; halves are widened."""
    return "fp32" if types[0] in ("fp16", "bf16") or types[0] in INTS else types[0]


def compare(op):
    return [f"{{a}} {op} {{b}}"]


finite = lambda x: np.isfinite(x)
# the 8-bit floats saturate when rounded to; operations that only pass a number on need not
no_infinity = lambda x: ~np.isinf(x)
no_nan = lambda x: ~np.isnan(x) if x.dtype.kind == "f" else np.ones(x.shape, bool)


def both(name, operands="{a}"):
    """tl.name(a), a.name(), tl.math.name(a), libdevice.name(a)"""
    return [f"tl.{name}({operands})", f"tl.math.{name}({operands})", f"libdevice.{name}({operands})", f"{{a}}.{name}()"]


def device(name, operands="{a}"):
    return [f"libdevice.{name}({operands})", f"tl.math.{name}({operands})"]


def arithmetic():
    yield Row("+", ["{a} + {b}", "tl.add({a}, {b})", "tl.add({a}, {b}, sanitize_overflow=False)"], same(NUMBERS, 2),
              lambda x, y: x + y)
    yield Row("-", ["{a} - {b}", "tl.sub({a}, {b})", "tl.sub({a}, {b}, sanitize_overflow=False)"], same(NUMBERS, 2),
              lambda x, y: x - y)
    yield Row("*", ["{a} * {b}", "tl.mul({a}, {b})", "tl.mul({a}, {b}, sanitize_overflow=False)"], same(NUMBERS, 2),
              lambda x, y: x * y)
    yield Row("/", "{a} / {b}", same(FLOATS, 2), lambda x, y: x / y, divided, gpu=2)
    yield Row("/ of integers", "{a} / {b}", same(INTS, 2), int_true_div, divided, gpu=2)
    yield Row("//", "{a} // {b}", same(INTS, 2), int_div)
    yield Row("%", "{a} % {b}", same(INTS, 2), int_rem)
    yield Row("% of floats", "{a} % {b}", same(FLOATS, 2), np.fmod, divided)
    yield Row("-x", "-{a}", same(NUMBERS, 1), lambda x: -x, domain=no_infinity)
    yield Row("+x", "+{a}", same(NUMBERS, 1), lambda x: x, domain=no_infinity)
    yield Row("~", "~{a}", same(INTS + ("i1",), 1), np.invert)
    yield Row("&", "{a} & {b}", same(INTS + ("i1",), 2), np.bitwise_and)
    yield Row("|", "{a} | {b}", same(INTS + ("i1",), 2), np.bitwise_or)
    yield Row("^", "{a} ^ {b}", same(INTS + ("i1",), 2), np.bitwise_xor)
    yield Row("<<", "{a} << {b}", same(INTS, 2), shift_left)
    yield Row(">>", "{a} >> {b}", same(INTS, 2), shift_right)
    yield Row(">>", "{a} >> {b}", [("i8", "u8"), ("i16", "u16"), ("i32", "u32"), ("i64", "u64"), ("i8", "u32"), ("i16", "u64")],
              lambda x, y: shift_right(x.astype(y.dtype.str.replace("u", "i")), y), lambda types: types[-1])
    for op, f in (("==", np.equal), ("!=", np.not_equal), ("<", np.less), ("<=", np.less_equal), (">", np.greater),
                  (">=", np.greater_equal)):
        yield Row(op, compare(op), same(NUMBERS + ("i1",), 2), f, pred)
    yield Row("and", ["{a} and {b}", "{a}.logical_and({b})"], same(("i1",), 2), np.logical_and)
    yield Row("or", ["{a} or {b}", "{a}.logical_or({b})"], same(("i1",), 2), np.logical_or)
    yield Row("not", "not {a}", same(("i1",), 1), np.logical_not)


def mathematics():
    yield Row("abs", both("abs") + ["abs({a})", "libdevice.fabs({a})", "tl.math.fabs({a})"], same(NUMBERS, 1), np.abs,
              domain=no_infinity)
    yield Row("cdiv", ["tl.cdiv({a}, {b})", "{a}.cdiv({b})"], same(INTS, 2), lambda x,
              y: int_div(x + (y - np.array(1, y.dtype)), y))
    for name, f in (("ceil", np.ceil), ("floor", np.floor)):
        yield Row(name, both(name), same(FLOATS, 1), f)
    for name, f in (("trunc", np.trunc), ("rint", np.rint), ("nearbyint", np.rint)):
        yield Row(name, device(name), same(FLOATS, 1), f)
    for name, f, domain in (("exp", np.exp, None), ("exp2", np.exp2, None), ("log", np.log, None),
                            ("log2", np.log2, None),
                            ("cos", np.cos, lambda x: ~(np.abs(x) > 30) | np.isinf(x)),
                            ("sin", np.sin, lambda x: ~(np.abs(x) > 30) | np.isinf(x))):
        yield Row(name, both(name), same(FLOATS, 1), wide(f), ulp=2, gpu=of_exponent if name == "exp" else 4,
                  atol=0.0 if name[0] in "el" else 1e-6, domain=domain, flushes=name == "exp2")
    yield Row("erf", both("erf"), same(FLOATS, 1), scalar(math.erf), ulp=4)
    yield Row("tanh", ["tl.math.tanh({a})", "libdevice.tanh({a})", "tl.tanh({a})", "libdevice.fast_tanhf({a})",
                       "tl.math.fast_tanhf({a})"], same(FLOATS, 1), wide(np.tanh), ulp=4)
    yield Row("sqrt", both("sqrt"), same(FLOATS, 1), np.sqrt, ulp=0, gpu=1)
    yield Row("sqrt_rn", ["tl.sqrt_rn({a})", "tl.math.sqrt_rn({a})", "{a}.sqrt_rn()"], same(FLOATS, 1), np.sqrt)
    yield Row("rsqrt", both("rsqrt"), same(FLOATS, 1), wide(lambda x: 1 / np.sqrt(x)), ulp=1, gpu=2)
    for name, f, domain in (("fast_expf", np.exp, (-60, 60)), ("fast_logf", np.log, (0.01, 1e4)),
                            ("fast_log2f", np.log2, (0.01, 1e4)),
                            ("fast_sinf", np.sin, (-3, 3)), ("fast_cosf", np.cos, (-3, 3))):
        yield Row(name, device(name), same(("fp32",), 1), wide(f), ulp=4, gpu=of_exponent, atol=1e-5, domain=domain)
    exact = ["tl.div_rn({a}, {b})", "tl.math.div_rn({a}, {b})", "libdevice.div_rn({a}, {b})",
             "tl.fdiv({a}, {b}, ieee_rounding=True)"]
    yield Row("div_rn", exact, same(FLOATS, 2), lambda x, y: x / y)
    yield Row("fdiv", ["tl.fdiv({a}, {b})", "tl.math.fdiv({a}, {b})", "tl.fdiv({a}, {b}, ieee_rounding=False)"],
              same(FLOATS, 2), lambda x, y: x / y, gpu=2)
    yield Row("fdiv", ["tl.fdiv({a}, {b}, approx=True)"], same(("fp32",), 2), lambda x, y: x / y, gpu=2)
    fma = ["tl.fma({a}, {b}, {c})", "tl.math.fma({a}, {b}, {c})", "libdevice.fma({a}, {b}, {c})"]
    yield Row("fma", fma, same(FLOATS[:3], 3), fma_odd)
    yield Row("fma", fma, same(("fp64",), 3), fma_double)
    yield Row("umulhi", ["tl.umulhi({a}, {b})", "tl.math.umulhi({a}, {b})"], same(("i32", "i64", "u32", "u64"), 2),
              mul_high)
    yield Row("mulhi", device("mulhi", "{a}, {b}"), same(("i32", "i64", "u32", "u64"), 2), mul_high_signed)
    for name, f, g in (("maximum", upper, np.maximum), ("minimum", lower, np.minimum)):
        short = name[:3]
        plain = ["tl.%s({a}, {b})" % name, "{a}.%s({b})" % name,
                 "tl.%s({a}, {b}, propagate_nan=tl.PropagateNan.NONE)" % name,
                 "libdevice.%s({a}, {b})" % short, "libdevice.%s({a}, {b}, propagate_nan=tl.PropagateNan.NONE)" % short,
                 "tl.math.%s({a}, {b})" % short, "%s({a}, {b})" % short]
        yield Row(name, plain, same(INTS, 2), f)
        yield Row(name, plain + ["libdevice.f%s({a}, {b})" % short,
                                 "libdevice.f%s({a}, {b}, propagate_nan=None)" % short], same(FLOATS, 2), f, widened,
                  any_zero=True)
        yield Row(name, plain[:3], same(FP8, 2), f, any_zero=True, domain=no_infinity)
        yield Row(name, ["tl.%s({a}, {b}, propagate_nan=tl.PropagateNan.ALL)" % name], same(FLOATS, 2), g, widened,
                  any_zero=True)
        yield Row(name, ["tl.%s({a}, {b}, propagate_nan=tl.PropagateNan.ALL)" % name], same(FP8, 2), g, any_zero=True,
                  domain=no_infinity)
    clamp = lambda x, lo, hi: float_min(float_max(x, lo), hi)
    yield Row("clamp", ["tl.clamp({a}, {b}, {c})", "{a}.clamp({b}, {c})", "tl.clamp({a}, min={b}, max={c})",
                        "tl.clamp({a}, {b}, {c}, propagate_nan=tl.PropagateNan.NONE)"],
              same(FLOATS, 3), clamp, widened, any_zero=True)
    yield Row("clamp", ["tl.clamp({a}, {b}, {c}, propagate_nan=tl.PropagateNan.ALL)"], same(FLOATS, 3), lambda x, lo,
              hi: np.where(np.isnan(x), x, clamp(x, lo, hi)), widened,
              any_zero=True, domain=[None, no_nan, no_nan])
    yield Row("where", ["tl.where({a}, {b}, {c})", "tl.where(condition={a}, x={b}, y={c})"],
              [("i1", dt, dt) for dt in ALL], np.where, lambda types: types[1], domain=no_infinity)
    yield Row("where", "tl.where({a}, {b}, {c})", [(dt, "fp32", "fp32") for dt in ALL if dt != "i1"], lambda c, x,
              y: np.where(c != 0, x, y), lambda types: "fp32")
    yield Row("sigmoid", ["tl.sigmoid({a})", "{a}.sigmoid()"], same(("fp32", "fp64"), 1),
              wide(lambda x: 1 / (1 + np.exp(-x))), ulp=3, gpu=of_exponent, domain=lambda x: ~(x < -88))


def rows():
    return [*arithmetic(), *mathematics()]


def all_cases(long):
    shapes = SHAPES if long else ((), (781,), (16, 16), (6, 10), (3, 5, 7))
    yield from cases(rows(), shapes)
