"""Instructions of PTX in inline assembly: each with its types against what the PTX ISA says it computes, in exact arithmetic
(Python's integers and fractions), rounded once. Packed types are elements in lanes: `pack` of them share a register.

A row's text is the instruction alone; registers follow from its types. References get what `of` makes of each operand:
integers, fractions (or None for NaN, "inf", "-inf", "-0") or bits."""
import functools
import math
from fractions import Fraction

import numpy as np

from batches import Case, Want, rng_of, shape_name
from elementwise import NAMES, operands
from formats import DTYPES, bits_of, decode, from_bits, largest_finite, nan_bits

SHAPES = {1: ((100,), (6, 17)), 2: ((256,), (15, 17)), 3: ((16, 16), (3, 5, 17)), 4: ((256,), (251,))}
PTX = {"u16": "u16", "u32": "u32", "u64": "u64", "s16": "i16", "s32": "i32", "s64": "i64", "b16": "u16", "b32": "u32",
       "b64": "u64", "f16": "fp16", "bf16": "bf16", "f32": "fp32", "f64": "fp64", "u8": "u8", "s8": "i8"}
LANES = {"u16x2": "u16", "s16x2": "s16", "f16x2": "f16", "bf16x2": "bf16"}
INTS = "u16 s16 u32 s32 u64 s64"


class Row:
    """text: one instruction, or several in braces; types of operands and results as in PTX; ref gives one element of each
    result from one of each operand."""

    def __init__(self, text, operands, result, ref, pack=1, ulp=0, gpu=0, domain=None, letters=None):
        self.text, self.ref, self.pack, self.ulp, self.gpu, self.domain = text, ref, pack, ulp, gpu, domain
        self.operands, self.results = operands.split(), result.split()
        self.letters = letters


# ---- numbers ----

def width(dt):
    return DTYPES[dt].bits


def unsigned(dt, x):
    return x & ((1 << width(dt)) - 1)


def signed(bits, x):
    x &= (1 << bits) - 1
    return x - (1 << bits) if x >> (bits - 1) else x


def wrapped(dt, x):
    return signed(width(dt), x) if DTYPES[dt].kind == "i" else unsigned(dt, x)


def clamped(dt, x):
    low, high = (-(1 << width(dt) - 1), (1 << width(dt) - 1) - 1) if DTYPES[dt].kind == "i" else (0, (1 << width(dt)) - 1)
    return max(low, min(high, x))


class Float:
    """A number of a float type: sign, and a fraction, "inf" or "nan"."""

    def __init__(self, negative, size):
        self.negative, self.size = bool(negative), size

    @staticmethod
    def of(dt, bits):
        d = DTYPES[dt]
        bits = int(bits)
        negative, size = bits >> (d.bits - 1), bits & ((1 << (d.bits - 1)) - 1)
        if size > largest_finite(dt):
            return Float(negative, "inf" if size == largest_finite(dt) + 1 and dt != "fp8e4nv" else "nan")
        exponent, fraction = size >> d.mantissa, size & ((1 << d.mantissa) - 1)
        if exponent:
            fraction |= 1 << d.mantissa
        bias = (1 << (d.exponent - 1)) - 1
        return Float(negative, Fraction(fraction) * Fraction(2) ** (max(exponent, 1) - bias - d.mantissa))

    @property
    def is_nan(self):
        return self.size == "nan"

    @property
    def is_finite(self):
        return isinstance(self.size, Fraction)

    @property
    def value(self):
        """For comparing: an ordered number."""
        size = math.inf if self.size == "inf" else self.size
        return -size if self.negative else size

    def bits(self, dt, mode="rn", ftz=False, sat=False, relu=False, satfinite=False):
        """Rounded once."""
        d = DTYPES[dt]
        sign = self.negative << (d.bits - 1)
        if self.is_nan:
            return 0 if sat else nan_bits(dt)
        top = largest_finite(dt)
        if self.size == "inf":
            size = top if satfinite or dt.startswith("fp8") else top + 1
        else:
            size = min(self.rounded(d, mode), top + 1)
            if size > top and (dt.startswith("fp8") or satfinite or mode == "rz" or
                               mode == ("rp" if self.negative else "rm")):
                size = top
        if ftz and size < 1 << d.mantissa:
            size = 0
        if sat:
            one = Float(0, Fraction(1)).bits(dt)
            return 0 if self.negative else min(size, one)
        return 0 if relu and self.negative else sign | size

    def rounded(self, d, mode):
        """Pattern of the size, overflow running into that of infinity."""
        if not self.size:
            return 0
        bias = (1 << (d.exponent - 1)) - 1
        exponent = max((self.size.numerator.bit_length() - self.size.denominator.bit_length()) - 1, 1 - bias)
        while exponent > 1 - bias and Fraction(2) ** exponent > self.size:
            exponent -= 1
        while Fraction(2) ** (exponent + 1) <= self.size:
            exponent += 1
        exact = self.size / Fraction(2) ** (exponent - d.mantissa)
        whole, rest = exact.numerator // exact.denominator, exact - exact.numerator // exact.denominator
        up = {"rn": rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole & 1), "rz": False,
              "rp": rest > 0 and not self.negative, "rm": rest > 0 and self.negative}[mode]
        whole += bool(up)
        return whole + ((exponent + bias - 1) << d.mantissa)

    def flushed(self, dt):
        small = self.is_finite and self.size < Fraction(2) ** (2 - (1 << (DTYPES[dt].exponent - 1)))
        return Float(self.negative, Fraction(0)) if small else self


NAN = Float(0, "nan")


def number(x, negative_zero=False):
    return Float(x < 0 or (x == 0 and negative_zero), abs(Fraction(x)))


def add(x, y, mode):
    if x.is_nan or y.is_nan or (x.size == y.size == "inf" and x.negative != y.negative):
        return NAN
    if x.size == "inf" or y.size == "inf":
        return x if x.size == "inf" else y
    if not x.size and not y.size and x.negative == y.negative:
        return x
    return number(x.value + y.value, mode == "rm")


def mul(x, y):
    if x.is_nan or y.is_nan or (x.size == "inf" and y.size == 0) or (y.size == "inf" and x.size == 0):
        return NAN
    negative = x.negative != y.negative
    return Float(negative, "inf" if "inf" in (x.size, y.size) else x.size * y.size)


def div(x, y):
    if x.is_nan or y.is_nan or (x.size == y.size and x.size in ("inf", 0)):
        return NAN
    negative = x.negative != y.negative
    if x.size == "inf" or y.size == 0:
        return Float(negative, "inf")
    return Float(negative, Fraction(0) if y.size == "inf" else x.size / y.size)


def sqrt(x):
    """To 200 bits, with the last one set where it is not exact: rounds as the root does."""
    if x.is_nan or (x.negative and x.size != 0):
        return NAN
    if not x.is_finite or not x.size:
        return x
    scaled = x.size * (1 << 2600)
    whole = scaled.numerator // scaled.denominator
    root = math.isqrt(whole)
    exact = root * root == whole and whole == scaled
    return Float(0, Fraction(2 * root + (not exact), 1 << 1301))


# ---- the rows ----

def ints(names, instruction, ref, n=2, extra="", result=None):
    """One row a type: ref takes the operands as the type's integers and gives an integer, which is wrapped."""
    for t in names.split():
        dt = PTX[LANES.get(t, t)]
        ops = [LANES.get(t, t)] * n
        to = result or ops[0]
        yield Row(f"{instruction}.{t} {registers(n)}{extra}", " ".join(ops), to,
                  lambda *x, dt=dt, to=PTX[to]: wrapped(to, ref(dt, *map(int, x))), pack=2 if t in LANES else 1)


def registers(n, results=1):
    return ", ".join(f"${i}" for i in range(n + results))


def bits_rows(text, operands, result, ref):
    """ref on patterns."""
    def of(*x):
        return wrapped(dtype_of(result), ref(*[unsigned(dtype_of(t), int(v)) for t, v in zip(operands.split(), x)]))
    return [Row(text, operands, result, of)]


def quotient(x, y):
    """All ones where y is 0: PTX leaves that open, GPUs give it."""
    return -1 if y == 0 else abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)


def bfe(dt, a, b, c):
    bits, pos, length = width(dt), b & 0xff, c & 0xff
    last = min(pos + length - 1, bits - 1)
    sign = DTYPES[dt].kind == "i" and length > 0 and a >> last & 1
    return sum((unsigned(dt, a) >> (pos + i) & 1 if i < length and pos + i < bits else int(sign)) << i for i in range(bits))


def bfi(bits, a, b, c, d):
    pos, length = c & 0xff, d & 0xff
    for i in range(length):
        if pos + i < bits:
            b = b & ~(1 << (pos + i)) | (a >> i & 1) << (pos + i)
    return b


def bfind(dt, a, shift=False):
    a = ~a if a < 0 else a
    return -1 if not a else width(dt) - a.bit_length() if shift else a.bit_length() - 1


def prmt(mode, a, b, c):
    both = [(b << 32 | a) >> (8 * i) & 0xff for i in range(8)]
    s = c & 3
    tables = {"f4e": [s, s + 1, s + 2, s + 3], "b4e": [s, s - 1, s - 2, s - 3], "rc8": [s] * 4,
              "ecl": [max(i, s) for i in range(4)], "ecr": [min(i, s) for i in range(4)], "rc16": [0, 1, 0, 1] if s % 2 == 0 else [2, 3, 2, 3]}
    if mode:
        return sum(both[at % 8] << (8 * i) for i, at in enumerate(tables[mode]))
    picks = [c >> (4 * i) & 15 for i in range(4)]
    return sum((both[p & 7] if p < 8 else 0xff * (both[p & 7] >> 7)) << (8 * i) for i, p in enumerate(picks))


def lop3(table, a, b, c):
    return sum((table >> ((a >> i & 1) << 2 | (b >> i & 1) << 1 | c >> i & 1) & 1) << i for i in range(32))


def bmsk(mode, a, b):
    if mode == "clamp":
        return ((1 << min(b, 32)) - 1) << a if a < 32 else 0
    return ((1 << (b & 31)) - 1) << (a & 31)


def szext(dt, mode, a, b):
    n = b & 31 if mode == "wrap" else min(b, 32)
    if n == 32:
        return a
    return 0 if not n else signed(n, a) if DTYPES[dt].kind == "i" else a & ((1 << n) - 1)


def dot(at, bt, a, b, c):
    pick = lambda t, x, i: signed(8, x >> 8 * i) if t == "s32" else x >> 8 * i & 0xff
    return c + sum(pick(at, a, i) * pick(bt, b, i) for i in range(4))


def dot2(at, bt, half, a, b, c):
    wide = lambda x, i: signed(16, x >> 16 * i) if at == "s32" else x >> 16 * i & 0xffff
    byte = lambda x, i: signed(8, x >> 8 * i) if bt == "s32" else x >> 8 * i & 0xff
    return c + sum(wide(a, i) * byte(b, i + 2 * half) for i in range(2))


def mul24(dt, hi, a, b):
    cut = (lambda x: signed(24, x)) if DTYPES[dt].kind == "i" else (lambda x: x & 0xffffff)
    return cut(a) * cut(b) >> (16 if hi else 0)


def integer_rows():
    yield from ints(INTS + " u16x2 s16x2", "add", lambda dt, a, b: a + b)
    yield from ints(INTS, "sub", lambda dt, a, b: a - b)
    yield from ints("s32", "add.sat", lambda dt, a, b: clamped(dt, a + b))
    yield from ints("s32", "sub.sat", lambda dt, a, b: clamped(dt, a - b))
    yield from ints(INTS, "mul.lo", lambda dt, a, b: a * b)
    yield from ints(INTS, "mul.hi", lambda dt, a, b: a * b >> width(dt))
    yield from ints(INTS, "mad.lo", lambda dt, a, b, c: a * b + c, 3)
    yield from ints(INTS, "mad.hi", lambda dt, a, b, c: (a * b >> width(dt)) + c, 3)
    yield from ints("s32", "mad.hi.sat", lambda dt, a, b, c: clamped(dt, (a * b >> 32) + c), 3)
    for t, to in (("u16", "u32"), ("s16", "s32"), ("u32", "u64"), ("s32", "s64")):
        yield Row(f"mul.wide.{t} $0, $1, $2", f"{t} {t}", to, lambda a, b: int(a) * int(b))
        yield Row(f"mad.wide.{t} $0, $1, $2, $3", f"{t} {t} {to}", to,
                  lambda a, b, c, to=to: wrapped(PTX[to], int(a) * int(b) + int(c)))
    for hi in ("lo", "hi"):
        yield from ints("u32 s32", "mul24." + hi, lambda dt, a, b, hi=hi: mul24(dt, hi == "hi", a, b))
        yield from ints("u32 s32", "mad24." + hi, lambda dt, a, b, c, hi=hi: mul24(dt, hi == "hi", a, b) + c, 3)
    yield from ints(INTS, "sad", lambda dt, a, b, c: c + abs(a - b), 3)
    yield from ints(INTS, "div", lambda dt, a, b: quotient(a, b))
    yield from ints(INTS, "rem", lambda dt, a, b: a - quotient(a, b) * b if b else -1)
    yield from ints("s16 s32 s64", "abs", lambda dt, a: abs(a), 1)
    yield from ints("s16 s32 s64", "neg", lambda dt, a: -a, 1)
    yield from ints(INTS + " u16x2 s16x2", "min", lambda dt, a, b: min(a, b))
    yield from ints(INTS + " u16x2 s16x2", "max", lambda dt, a, b: max(a, b))
    yield from ints("s32 s16x2", "min.relu", lambda dt, a, b: max(min(a, b), 0))
    yield from ints("s32 s16x2", "max.relu", lambda dt, a, b: max(a, b, 0))
    yield from ints("b32 b64", "popc", lambda dt, a: bin(a).count("1"), 1, result="u32")
    yield from ints("b32 b64", "clz", lambda dt, a: width(dt) - a.bit_length(), 1, result="u32")
    yield from ints("u32 s32 u64 s64", "bfind", bfind, 1, result="u32")
    yield from ints("u32 s32 u64 s64", "bfind.shiftamt", lambda dt, a: bfind(dt, a, True), 1, result="u32")
    yield from ints("b32 b64", "brev", lambda dt, a: int(f"{a:0{width(dt)}b}"[::-1], 2), 1)
    # GPUs hold the numbers to 0 … 255, as PTX says, for 32 bits only
    in_range = "{ .reg .b32 p, n; and.b32 p, $%d, 255; and.b32 n, $%d, 255; %s, p, n; }"
    for t in ("u32", "s32", "u64", "s64"):
        text = f"bfe.{t} $0, $1, $2, $3" if "32" in t else in_range % (2, 3, f"bfe.{t} $0, $1")
        yield Row(text, f"{t} u32 u32", t, lambda a, b, c, dt=PTX[t]: wrapped(dt, bfe(dt, int(a), int(b), int(c))))
    for t in ("b32", "b64"):
        text = f"bfi.{t} $0, $1, $2, $3, $4" if "32" in t else in_range % (3, 4, f"bfi.{t} $0, $1, $2")
        yield Row(text, f"{t} {t} u32 u32", t,
                  lambda a, b, c, d, dt=PTX[t]: bfi(width(dt), int(a), int(b), int(c), int(d)))
    for mode in ("clamp", "wrap"):
        yield from ints("b32", "bmsk." + mode, lambda dt, a, b, mode=mode: bmsk(mode, a, b))
        for t in ("u32", "s32"):
            yield Row(f"szext.{mode}.{t} $0, $1, $2", f"{t} u32", t,
                      lambda a, b, mode=mode, dt=PTX[t]: wrapped(dt, szext(dt, mode, int(a), int(b))))
    for at in ("u32", "s32"):
        for bt in ("u32", "s32"):
            yield Row(f"dp4a.{at}.{bt} $0, $1, $2, $3", f"{at} {bt} {at}", at,
                      lambda a, b, c, at=at, bt=bt: wrapped(PTX[at], dot(at, bt, int(a), int(b), int(c))))
            for half in ("lo", "hi"):
                yield Row(f"dp2a.{half}.{at}.{bt} $0, $1, $2, $3", f"{at} {bt} {at}", at, lambda a, b, c, at=at, bt=bt, half=half:
                          wrapped(PTX[at], dot2(at, bt, half == "hi", int(a), int(b), int(c))))
    yield from carry_rows()


def carry_rows():
    """128 bits out of two halves, and 64 out of four."""
    low = (1 << 64) - 1
    yield Row("{ add.cc.u64 $0, $2, $4; addc.u64 $1, $3, $5; }", "u64 u64 u64 u64", "u64 u64",
              lambda a, b, c, d: split((int(b) << 64 | int(a)) + (int(d) << 64 | int(c)), 64))
    yield Row("{ sub.cc.u64 $0, $2, $4; subc.u64 $1, $3, $5; }", "u64 u64 u64 u64", "u64 u64",
              lambda a, b, c, d: split((int(b) << 64 | int(a)) - (int(d) << 64 | int(c)), 64))
    yield Row("{ add.cc.u32 $0, $1, $2; addc.cc.u32 $0, $0, $1; addc.u32 $0, 0, 0; }", "u32 u32", "u32",
              lambda a, b: (((int(a) + int(b)) & 0xffffffff) + int(a) + ((int(a) + int(b)) >> 32)) >> 32)
    yield Row("{ mad.lo.cc.u64 $0, $2, $3, $4; madc.hi.u64 $1, $2, $3, 0; }", "u64 u64 u64", "u64 u64",
              lambda a, b, c: split(int(a) * int(b) + int(c), 64))


def split(x, bits):
    return x & ((1 << bits) - 1), x >> bits & ((1 << bits) - 1)


def bit_rows():
    for t in ("b16", "b32", "b64"):
        top = (1 << width(PTX[t])) - 1
        yield from bits_rows(f"and.{t} $0, $1, $2", f"{t} {t}", t, lambda a, b: a & b)
        yield from bits_rows(f"or.{t} $0, $1, $2", f"{t} {t}", t, lambda a, b: a | b)
        yield from bits_rows(f"xor.{t} $0, $1, $2", f"{t} {t}", t, lambda a, b: a ^ b)
        yield from bits_rows(f"not.{t} $0, $1", t, t, lambda a, top=top: a ^ top)
        yield from bits_rows(f"cnot.{t} $0, $1", t, t, lambda a: a == 0)
        yield from bits_rows(f"shl.{t} $0, $1, $2", f"{t} u32", t, lambda a, b: a << b if b < 64 else 0)
        yield from bits_rows(f"shr.{t} $0, $1, $2", f"{t} u32", t, lambda a, b: a >> b if b < 64 else 0)
        yield from bits_rows(f"selp.{t} $0, $1, 5, $2", f"{t} i1", t, lambda a, p: a if p else 5)
    for t in INTS.split():
        yield Row(f"shr.{t} $0, $1, $2", f"{t} u32", t, lambda a, b: int(a) >> min(int(b), 64))
    for table in (0x80, 0xea, 0x96, 0x00, 0xff, 0x1a):
        yield from bits_rows(f"lop3.b32 $0, $1, $2, $3, {table:#x}", "b32 b32 b32", "b32",
                             lambda a, b, c, table=table: lop3(table, a, b, c))
    for mode in ("", "f4e", "b4e", "rc8", "ecl", "ecr", "rc16"):
        yield from bits_rows(f"prmt.b32{'.' * bool(mode)}{mode} $0, $1, $2, $3", "b32 b32 b32", "b32",
                             lambda a, b, c, mode=mode: prmt(mode, a, b, c))
    for way in ("l", "r"):
        for mode in ("clamp", "wrap"):
            by = (lambda c: c & 31) if mode == "wrap" else (lambda c: min(c, 32))
            yield from bits_rows(f"shf.{way}.{mode}.b32 $0, $1, $2, $3", "b32 b32 u32", "b32", lambda a, b, c, way=way, by=by:
                                 (b << 32 | a) << by(c) >> 32 if way == "l" else (b << 32 | a) >> by(c))
    yield from bits_rows("{ .reg .b16 l, h; mov.b32 {l, h}, $1; mov.b32 $0, {h, l}; }", "b32", "b32", lambda a: (a << 16 | a >> 16))
    yield from bits_rows("{ .reg .b8 a<4>; mov.b32 {a0, a1, _, a3}, $1; mov.b32 $0, {a3, a1, a1, a0}; }", "b32", "b32",
                         lambda a: a >> 24 | (a >> 8 & 0xff) * 0x10100 | a << 24)
    yield from bits_rows("{ .reg .b32 l, h; mov.b64 {l, h}, $1; mov.b64 $0, {h, l}; }", "b64", "b64", lambda a: (a << 32 | a >> 32))
    yield from bits_rows("{ .reg .b16 a<4>; mov.b64 {a0, a1, a2, a3}, $1; mov.b64 $0, {a2, a3, a0, a0}; }", "b64", "b64",
                         lambda a: (a >> 32 & 0xffffffff) | (a & 0xffff) * 0x1000100000000)
    yield Row("slct.f32.s32 $0, $1, $2, $3", "f32 f32 s32", "f32", lambda a, b, c: a if int(c) >= 0 else b)
    yield Row("slct.b64.f32 $0, $1, $2, $3", "b64 b64 f32", "b64",
              lambda a, b, c: a if not c.is_nan and (not c.negative or c.size == 0) else b)
    yield Row("and.pred $0, $1, $2", "i1 i1", "i1", lambda a, b: a and b)
    yield Row("{ xor.pred $0, $1, $2; not.pred $0, $0; }", "i1 i1", "i1", lambda a, b: a == b)


COMPARE = {"eq": lambda a, b: a == b, "ne": lambda a, b: a != b, "lt": lambda a, b: a < b, "le": lambda a, b: a <= b,
           "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b}


def holds(name, a, b):
    """Of floats."""
    ordered = not a.is_nan and not b.is_nan
    if name in ("num", "nan"):
        return ordered == (name == "num")
    if name in COMPARE:
        return ordered and COMPARE[name](a.value, b.value)
    return not ordered or COMPARE[name[:-1]](a.value, b.value)


def compare_rows():
    for name, ref in COMPARE.items():
        for t in INTS.split():
            yield Row(f"setp.{name}.{t} $0, $1, $2", f"{t} {t}", "i1", lambda a, b, ref=ref: ref(int(a), int(b)))
        yield Row(f"set.{name}.u32.s32 $0, $1, $2", "s32 s32", "u32", lambda a, b, ref=ref: 0xffffffff * ref(int(a), int(b)))
        yield Row(f"set.{name}.f32.u16 $0, $1, $2", "u16 u16", "f32", lambda a, b, ref=ref: number(int(ref(int(a), int(b)))))
    for name, same in (("lo", "lt"), ("ls", "le"), ("hi", "gt"), ("hs", "ge")):
        yield Row(f"setp.{name}.u32 $0, $1, $2", "u32 u32", "i1", lambda a, b, ref=COMPARE[same]: ref(int(a), int(b)))
    for name in [*COMPARE, *(n + "u" for n in COMPARE), "num", "nan"]:
        for t in ("f32", "f64", "f16", "bf16"):
            yield Row(f"setp.{name}.{t} $0, $1, $2", f"{t} {t}", "i1", lambda a, b, name=name: holds(name, a, b))
        yield Row(f"set.{name}.f16x2.f16x2 $0, $1, $2", "f16 f16", "f16", lambda a, b, name=name: number(int(holds(name, a, b))), pack=2)
        yield Row(f"set.{name}.u32.bf16x2 $0, $1, $2", "bf16 bf16", "u16", lambda a, b, name=name: 0xffff * holds(name, a, b), pack=2)
    yield Row("{ .reg .pred p, q; setp.lt.and.s32 p|q, $2, $3, $4; selp.u32 $0, 1, 0, p; selp.u32 $1, 1, 0, q; }", "s32 s32 i1", "u32 u32",
              lambda a, b, c: (int(a < b and c), int(not a < b and c)))
    yield Row("setp.gt.or.s32 $0, $1, $2, !$3", "s32 s32 i1", "i1", lambda a, b, c: a > b or not c)
    yield Row("setp.ge.xor.f32 $0, $1, $2, $3", "f32 f32 i1", "i1", lambda a, b, c: holds("ge", a, b) != c)
    for t in ("f32", "f64"):
        normal = Fraction(2) ** (2 - (1 << (DTYPES[PTX[t]].exponent - 1)))
        for name, ref in (("finite", lambda a: a.is_finite), ("infinite", lambda a: a.size == "inf"), ("number", lambda a: not a.is_nan),
                          ("notanumber", lambda a: a.is_nan), ("normal", lambda a, n=normal: a.is_finite and not 0 < a.size < n),
                          ("subnormal", lambda a, n=normal: a.is_finite and 0 < a.size < n)):
            yield Row(f"testp.{name}.{t} $0, $1", t, "i1", ref)


def floats(names, instruction, ref, n, **more):
    """ref gives a Float before it is rounded; qualifiers that matter for that are read off the instruction."""
    parts = instruction.split(".")
    mode = next((m for m in ("rz", "rm", "rp") if m in parts), "rn")
    flags = {flag: flag in parts for flag in ("ftz", "sat", "relu")}
    for t in names.split():
        base = LANES.get(t, t)

        def of(*x, dt=PTX[base]):
            x = [v.flushed(dt) for v in x] if flags["ftz"] else x
            return ref(mode, *x).bits(dt, mode, **flags)
        yield Row(f"{instruction}.{t} {registers(n)}", " ".join([base] * n), base, of, pack=2 if t in LANES else 1, **more)


def extremum(greatest, nan_wins, instruction):
    def of(mode, x, y):
        flip = "xorsign" in instruction and x.negative != y.negative
        if "abs" in instruction:
            x, y = Float(0, x.size), Float(0, y.size)
        if x.is_nan or y.is_nan:
            if nan_wins or (x.is_nan and y.is_nan):
                return NAN
            r = y if x.is_nan else x
        else:
            key = lambda v: (v.value, not v.negative)
            r = (max if greatest else min)(x, y, key=key)
        return Float(r.negative != flip, r.size)
    return of


def arithmetic_rows():
    for mode in ("", ".rn", ".rz", ".rm", ".rp"):
        for name, ref in (("add", add), ("sub", lambda x, y, m: add(x, Float(not y.negative, y.size), m)), ("mul", lambda x, y, m: mul(x, y))):
            f = lambda m, x, y, ref=ref: ref(x, y, m)
            yield from floats("f32 f64", name + mode, f, 2)
            if mode in ("", ".rn"):
                yield from floats("f16 f16x2 bf16 bf16x2", name + mode, f, 2)
            yield from floats("f32", name + mode + ".ftz", f, 2)
            yield from floats("f32", name + mode + ".ftz.sat", f, 2)
        if mode:
            fma = lambda m, x, y, z: add(mul(x, y), z, m)
            yield from floats("f32 f64", "fma" + mode, fma, 3)
            yield from floats("f32", "mad" + mode + ".sat", fma, 3)
            yield from floats("f32 f64", "div" + mode, lambda m, x, y: div(x, y), 2)
            yield from floats("f32 f64", "rcp" + mode, lambda m, x: div(number(1), x), 1)
            yield from floats("f32 f64", "sqrt" + mode, lambda m, x: sqrt(x), 1)
            yield from floats("f32", "sqrt" + mode + ".ftz", lambda m, x: sqrt(x), 1)
    for name, types in (("fma.rn", "f16 f16x2 bf16 bf16x2"), ("fma.rn.relu", "f16 f16x2 bf16 bf16x2"), ("fma.rn.ftz.sat", "f16 f16x2"), ("add.ftz.sat", "f16x2")):
        yield from floats(types, name, (lambda m, x, y, z: add(mul(x, y), z, m)) if "fma" in name else (lambda m, x, y: add(x, y, m)), 3 if "fma" in name else 2)
    for name in ("min", "max"):
        for form, types in (("", "f32 f64 f16 f16x2 bf16 bf16x2"), (".NaN", "f32 f16x2 bf16x2"), (".ftz", "f32 f16"), (".xorsign.abs", "f32 f16x2 bf16"), (".NaN.xorsign.abs", "bf16x2")):
            yield from floats(types, name + form, extremum(name == "max", ".NaN" in form, form), 2)
    for types, form in (("f32 f64 f16 f16x2 bf16 bf16x2", ""), ("f32 f16x2", ".ftz")):
        yield from floats(types, "neg" + form, lambda m, x: Float(not x.negative, x.size), 1)
        yield from floats(types, "abs" + form, lambda m, x: Float(0, x.size), 1)
    yield from floats("f32 f64", "copysign", lambda m, x, y: Float(x.negative, y.size), 2)


def approximations():
    """Against numpy in fp64. A GPU's are as the PTX ISA bounds them."""
    def function(text, types, f, ulp, domain=None):
        for t in types.split():
            base = LANES.get(t, t)

            def of(x, dt=PTX[base], ftz="ftz" in text):
                x = (x.flushed(dt) if ftz else x)
                v = f(np.float64(math.nan if x.is_nan else -0.0 if x.negative and not x.size else float(x.value)))
                r = NAN if np.isnan(v) else Float(np.signbit(v), "inf" if np.isinf(v) else Fraction(float(abs(v))))
                return r.bits(dt, ftz=ftz)
            yield Row(f"{text}.{t} $0, $1", base, base, of, pack=2 if t in LANES else 1, ulp=1, gpu=ulp, domain=domain)
    near = (-6.0, 6.0)
    yield from function("ex2.approx", "f32 f16 f16x2", np.exp2, 4)
    yield from function("ex2.approx.ftz", "f32 bf16 bf16x2", np.exp2, 4)
    yield from function("lg2.approx", "f32", np.log2, 1e7)
    yield from function("lg2.approx.ftz", "f32", np.log2, 1e7)
    yield from function("sin.approx", "f32", np.sin, 1e7, near)
    yield from function("cos.approx.ftz", "f32", np.cos, 1e7, near)
    yield from function("tanh.approx", "f32", np.tanh, 1 << 13)
    yield from function("tanh.approx", "f16 f16x2 bf16 bf16x2", np.tanh, 4)
    yield from function("sqrt.approx", "f32", np.sqrt, 4)
    yield from function("sqrt.approx.ftz", "f32", np.sqrt, 4)
    yield from function("rsqrt.approx", "f32", lambda x: np.float64(1) / np.sqrt(x), 4)
    yield from function("rsqrt.approx", "f64", lambda x: np.float64(1) / np.sqrt(x), 1 << 30)
    yield from function("rcp.approx.ftz", "f32", lambda x: np.float64(1) / x, 4)
    small = (-1e30, 1e30)
    yield from floats("f32", "div.full", lambda m, x, y: div(x, y), 2, gpu=4, domain=small)
    yield from floats("f32", "div.approx.ftz", lambda m, x, y: div(x, y), 2, gpu=4, domain=small)


def to_integral(x, how):
    if not x.is_finite:
        return x
    down = math.floor(x.value)
    whole = {"rmi": down, "rpi": math.ceil(x.value), "rzi": math.trunc(x.value), "rni": round(x.value)}[how]
    return Float(x.negative, Fraction(abs(whole)))


def to_int(dt, source, x, how):
    if x.is_nan:
        return wrapped(dt, 1 << (width(dt) - 1)) if source == "fp64" or width(dt) == 64 else 0
    if not x.is_finite:
        return clamped(dt, -(1 << 99) if x.negative else 1 << 99)
    return clamped(dt, int(to_integral(x, how).value))


def conversion_rows():
    whole = ("u8", "s8", *INTS.split())
    for to in whole:
        for t in whole:
            yield Row(f"cvt.{to}.{t} $0, $1", t, to, lambda a, dt=PTX[to]: wrapped(dt, int(a)))
            low, high = (clamped(PTX[to], v) for v in (-1 << 99, 1 << 99))
            if not low <= clamped(PTX[t], -1 << 99) <= clamped(PTX[t], 1 << 99) <= high:
                yield Row(f"cvt.sat.{to}.{t} $0, $1", t, to, lambda a, dt=PTX[to]: clamped(dt, int(a)))
        for t in ("f16", "bf16", "f32", "f64"):
            byte = to if t == "bf16" and to in ("u8", "s8") else ""  # which bf16 wants in a register of its own size
            for how in ("rni", "rzi", "rmi", "rpi"):
                text = f"cvt.{how}.{to}.{t} $0, $1"
                if byte:
                    text = f"{{ .reg .{to} x; cvt.{how}.{to}.{t} x, $1; cvt.u16.{to} $0, x; }}"
                yield Row(text, t, to, lambda a, dt=PTX[to], s=PTX[t], how=how: to_int(dt, s, a, how))
            for mode in ("rn", "rz", "rm", "rp"):
                text = f"cvt.{mode}.{t}.{to} $0, $1"
                if byte:
                    text = f"{{ .reg .{to} x; cvt.{to}.u16 x, $1; cvt.{mode}.{t}.{to} $0, x; }}"
                yield Row(text, to, t, lambda a, dt=PTX[t], mode=mode: number(int(a)).bits(dt, mode))
    for to, t in (("f32", "f16"), ("f32", "bf16"), ("f64", "f16"), ("f64", "bf16"), ("f64", "f32")):
        yield Row(f"cvt.{to}.{t} $0, $1", t, to, lambda a, dt=PTX[to]: a.bits(dt))
    for mode in ("rn", "rz", "rm", "rp"):
        for to, t in (("f16", "f32"), ("f16", "f64"), ("bf16", "f32"), ("bf16", "f64"), ("f32", "f64"), ("bf16", "f16"), ("f16", "bf16")):
            yield Row(f"cvt.{mode}.{to}.{t} $0, $1", t, to, lambda a, dt=PTX[to], mode=mode: a.bits(dt, mode))
    for to, t in (("bf16", "f16"), ("f16", "bf16")):
        yield Row(f"cvt.{to}.{t} $0, $1", t, to, lambda a, dt=PTX[to]: a.bits(dt))
    yield Row("cvt.rn.ftz.f16.f32 $0, $1", "f32", "f16", lambda a: a.flushed("fp32").bits("fp16"))
    yield Row("cvt.rn.ftz.sat.f32.f64 $0, $1", "f64", "f32", lambda a: a.bits("fp32", ftz=True, sat=True))
    for to in ("f16", "bf16"):
        for flags in ("relu", "satfinite", "relu.satfinite"):
            yield Row(f"cvt.rz.{flags}.{to}.f32 $0, $1", "f32", to, lambda a, dt=PTX[to], flags=flags:
                      a.bits(dt, "rz", relu="relu" in flags, satfinite="satfinite" in flags))
    for how in ("rni", "rzi", "rmi", "rpi"):
        for t in ("f16", "bf16", "f32", "f64"):
            yield Row(f"cvt.{how}.{t}.{t} $0, $1", t, t, lambda a, dt=PTX[t], how=how: to_integral(a, how).bits(dt))
    yield from pair_rows()


def tf32(x, away):
    """Patterns of fp32."""
    size = x & 0x7fffffff
    if size > 0x7f800000:
        return 0x7fffffff
    rest, kept = size & 0x1fff, size & ~0x1fff
    return (x & 0x80000000) | (kept + 0x2000 * (rest > 0x1000 or (rest == 0x1000 and (away or kept >> 13 & 1))) if size < 0x7f800000 else size)


def pair_rows():
    """Elements swap their places where the instruction puts its first operand on top."""
    for to in ("f16", "bf16"):
        for flags in ("rn", "rz", "rn.relu", "rz.satfinite"):
            yield Row(f"cvt.{flags}.{to}x2.f32 $0, $2, $1", "f32", to, lambda a, dt=PTX[to], flags=flags.split("."):
                      a.bits(dt, flags[0], relu="relu" in flags, satfinite="satfinite" in flags), pack=2)
    for name, dt in (("e4m3x2", "fp8e4nv"), ("e5m2x2", "fp8e5")):
        yield Row(f"cvt.rn.satfinite.{name}.f32 $0, $2, $1", "f32", dt, lambda a, dt=dt: a.bits(dt), pack=2)
        yield Row(f"cvt.rn.satfinite.relu.{name}.f32 $0, $2, $1", "f32", dt, lambda a, dt=dt: a.bits(dt, relu=True), pack=2)
        yield Row(f"cvt.rn.satfinite.{name}.f16x2 $0, $1", "f16", dt, lambda a, dt=dt: a.bits(dt), pack=2)
        yield Row(f"cvt.rn.f16x2.{name} $0, $1", dt, "f16", lambda a: a.bits("fp16"), pack=2)
    for how in ("rna", "rn"):  # which NaN comes of a NaN is not said: it is read as a float
        yield Row(f"{{ .reg .b32 t; cvt.{how}.tf32.f32 t, $1; mov.b32 $0, t; }}", "f32", "f32",
                  lambda a, how=how: tf32(a.pattern, how == "rna"))
    for t in ("u16", "s16"):
        yield Row(f"cvt.pack.sat.{t}.s32 $0, $1, $2", "s32 s32", "u32",
                  lambda a, b, t=PTX[t]: unsigned(t, clamped(t, int(a))) << 16 | unsigned(t, clamped(t, int(b))))
    for t in ("u8", "s8"):
        yield Row(f"cvt.pack.sat.{t}.s32.b32 $0, $1, $2, $3", "s32 s32 u32", "u32", lambda a, b, c, t=PTX[t]:
                  (int(c) << 16 | unsigned(t, clamped(t, int(a))) << 8 | unsigned(t, clamped(t, int(b)))) & 0xffffffff)


# ---- cases ----

def dtype_of(t):
    return PTX.get(t, t)


def letter(dt, count):
    bits = DTYPES[dt].bits * count
    if dt == "i1":
        return "b"
    if dt in ("fp32", "fp64"):
        return "f" if dt == "fp32" else "d"
    return "h" if bits <= 16 else "r" if bits == 32 else "l"


def registers_of(dt, pack):
    each = min(max(32 // DTYPES[dt].bits, 1), pack)
    return [letter(dt, each)] * (pack // each)


@functools.lru_cache(None)
def float_of(dt, bits):
    x = Float.of(dt, bits)
    x.pattern = bits
    return x


def values_of(dt, storage):
    """The elements as references take them."""
    return [float_of(dt, int(b)) for b in bits_of(dt, storage)] if DTYPES[dt].kind == "f" else storage


def stored(dt, values):
    """What references give, as the type lies in memory."""
    if DTYPES[dt].kind == "f":
        return from_bits(dt, [v.bits(dt) if isinstance(v, Float) else int(v) for v in values])
    return np.array([v if dt != "i1" else bool(v) for v in values], object).astype(DTYPES[dt].storage)


def case(row, shape):
    ins, outs = [dtype_of(t) for t in row.operands], [dtype_of(t) for t in row.results]
    name = f"assembly: {row.text} {shape_name(shape)}"
    n = int(np.prod(shape, dtype=np.int64))
    storages = operands(ins, n, rng_of(name), [row.domain] * len(ins))
    results = [row.ref(*x) for x in zip(*(values_of(dt, s) for dt, s in zip(ins, storages)))]
    results = [r if isinstance(r, tuple) else (r,) for r in results]
    letters = ["=" + l for dt in outs for l in registers_of(dt, row.pack)] + [l for dt in ins for l in registers_of(dt, row.pack)]
    args = "abcd"[:len(ins)]
    types = ", ".join("tl." + DTYPES[dt].tl for dt in outs)
    text = row.text if row.text.startswith("{") else row.text + ";"
    body = (f'{", ".join("rst"[:len(outs)])} = tl.inline_asm_elementwise("{text}", "{",".join(letters)}", '
            f'[{", ".join(args)}], {types if len(outs) == 1 else f"({types})"}, True, {row.pack})')
    wants = {"rst"[k]: Want(dt, storage=stored(dt, [r[k] for r in results]).reshape(shape), ulp=row.ulp, gpu=row.gpu,
                            any_zero=row.ulp > 0, atol=2e-6 if row.gpu == 1e7 else 0.0) for k, dt in enumerate(outs)}
    blocks = {c: (dt, s.reshape(shape)) for c, dt, s in zip(args, ins, storages)}
    return Case(name, body, blocks, wants, covers=["inline_asm_elementwise"])


def all_cases(long=False):
    rows = [*integer_rows(), *bit_rows(), *compare_rows(), *arithmetic_rows(), *approximations(), *conversion_rows()]
    for i, row in enumerate(rows):
        shapes = SHAPES[len(row.operands)]
        for shape in shapes if long else (shapes[i % 2],):
            yield case(row, shape)
