"""The table of the functions that CUDA code knows from libdevice, in the manner of elementwise.py."""
import math
from fractions import Fraction

import numpy as np

from elementwise import (Row, by_element, cases, device, finite, int32, no_nan, of_exponent, pred, round_away, same, scalar,
                         SHAPES, wide, wrapped)
from formats import FLOATS, INTS, cast

HALF_UP = FLOATS[:3]


# ---- references ----

def power(x, y):
    def one(a, b):
        try:
            return math.pow(a, b)
        except ValueError:  # a zero to a negative power, or a negative number to a broken one
            if a == 0:
                odd = b == math.trunc(b) and math.fmod(b, 2) != 0
                return math.copysign(math.inf, a) if odd else math.inf
            return math.nan
        except OverflowError:
            return -math.inf if a < 0 and math.fmod(b, 2) != 0 else math.inf
    return np.vectorize(one, otypes=[np.float64])(x, y)


def sine_of_pi(x):
    whole = np.rint(x)
    y = np.sin(PI * (x - whole)) * np.where(np.fmod(whole, 2) == 0, 1, -1)
    return np.where(y == 0, np.copysign(0, x), y)


def cosine_of_pi(x):
    whole = np.rint(x)
    return np.sin(PI * (np.longdouble(0.5) - np.abs(x - whole))) * np.where(np.fmod(whole, 2) == 0, 1, -1)


PI = np.longdouble(math.pi) + np.longdouble(1.2246467991473532e-16)
FORMATS = {"fp32": (24, -149, 127), "fp64": (53, -1074, 1023)}  # bits, the least exponent, the largest


def round_exactly(exact, mode, dt):
    """A fraction other than 0 as a float: rn to nearest, rz toward zero, rd down, ru up."""
    bits, least, most = FORMATS[dt]
    sign, size = -1 if exact < 0 else 1, abs(exact)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    exponent -= Fraction(2)**exponent > size
    unit = Fraction(2)**max(exponent - bits + 1, least)
    count, rest = divmod(size, unit)
    away = mode == ("rd" if exact < 0 else "ru")
    if rest and (away or mode == "rn" and (2 * rest > unit or 2 * rest == unit and count % 2)):
        count += 1
    if count * unit >= Fraction(2)**(most + 1):
        if mode != "rn" and not away:
            return sign * float((2**bits - 1) * Fraction(2)**(most - bits + 1))
        return sign * math.inf
    return sign * float(count * unit)


def directed(exact, nearest, mode, dt, zero=None):
    """An operation rounded as mode says: `nearest` does it in floats whose products do not overflow, for operands that are not finite and for exact zeros
    (`zero` says what those are when rounding down), `exact` in fractions."""
    def one(*x):
        x = [float(v) for v in x]
        if all(math.isfinite(v) for v in x):
            try:
                value = exact(*map(Fraction, x))
            except ZeroDivisionError:
                value = 0
            if value:
                return round_exactly(value, mode, dt)
            if mode == "rd" and zero:
                return zero(*x)
        with np.errstate(all="ignore"):
            return float(nearest(*map(np.longdouble, x)))
    return lambda *x: np.vectorize(one, otypes=[np.float64])(*x)


def root(mode, dt):
    def one(x):
        if not 0 < x < math.inf:
            return float(np.sqrt(np.float64(x)))
        shift = 2 * FORMATS["fp64"][0] + 1100  # 1 in the last place of an integer root is far below the last place
        scaled = Fraction(x) * 4**shift
        whole = math.isqrt(scaled.numerator // scaled.denominator)
        exact = Fraction(whole, 2**shift)
        if exact * exact != Fraction(x):
            exact += Fraction(1, 2**(shift + 1))
        return round_exactly(exact, mode, dt)
    return lambda x: np.vectorize(one, otypes=[np.float64])(x)


def of_integer(mode, dt):
    return lambda x: np.vectorize(lambda v: round_exactly(Fraction(int(v)), mode, dt) if v else 0.0, otypes=[np.float64])(x)


def negative_zero(*signs):
    """Rounded down, a sum of 0 is -0 unless no term is negative."""
    return lambda *x: -0.0 if any(math.copysign(1, s(*x)) < 0 for s in signs) else 0.0


def scaled(x, n):
    """x * 2^n in two steps of which the first is exact in the widest float."""
    return np.ldexp(x.astype(np.longdouble), np.clip(n, -5000, 5000))


def exponent(x):
    e = np.frexp(x)[1].astype(np.int64) - 1
    return np.where(np.isinf(x), 2**31 - 1, np.where((x == 0) | np.isnan(x), -2**31, e)).astype(np.int32)


def permuted(x, y, selector):
    both = int(y) << 32 | int(x)
    return sum((both >> 8 * (int(selector) >> 4 * i & 7) & 255) << 8 * i for i in range(4))


def by_number(f):
    """A function of one number in the widest float, element by element."""
    return lambda x: np.array([f(np.longdouble(v)) for v in np.ravel(x)], np.longdouble).reshape(np.shape(x))


ROOT_PI = np.sqrt(PI)


def complement(x):
    return np.longdouble(math.erfc(x))


def scaled_complement(x):
    """exp(x^2) erfc(x): by its asymptotic series where the factors leave the range."""
    if np.isnan(x):
        return x
    if x < 26:
        return np.exp(x * x) * complement(x)
    series = np.longdouble(1)
    for k in range(25, 0, -2):
        series = 1 - k / (2 * x * x) * series
    return series / (x * ROOT_PI)


def distribution(x):
    """The normal distribution up to x: erfc of the nearest float, and the slope for the rest."""
    if not np.isfinite(x):
        return np.longdouble(math.erfc(-x)) / 2
    z = -x / np.sqrt(np.longdouble(2))
    near = np.longdouble(float(z))
    return (complement(near) - 2 / ROOT_PI * np.exp(-near * near) * (z - near)) / 2


def inverse_complement(y):
    """z with erfc(z) = y, by Newton's steps in the widest float."""
    if not 0 < y < 2:
        return np.longdouble(math.inf if y == 0 else -math.inf if y == 2 else math.nan)
    if y > 0.5:
        return -inverse_complement(2 - y) if y > 1.5 else inverse(1 - y)
    z = np.sqrt(-np.log(y))
    for _ in range(12):
        z = np.longdouble(float(z))
        scaled = scaled_complement(z)
        z = z + (np.log(scaled / y) - z * z) * scaled * ROOT_PI / 2
    return z


def inverse(x):
    """z with erf(z) = x."""
    if not -1 < x < 1:
        return np.longdouble(math.copysign(math.inf, x) if abs(x) == 1 else math.nan)
    if abs(x) > 0.5:
        return np.copysign(inverse_complement(1 - abs(x)), x)
    z = x * ROOT_PI / 2
    for _ in range(8):
        near = np.longdouble(float(z))
        z = near - (np.longdouble(math.erf(near)) - x) * ROOT_PI / 2 * np.exp(near * near)
    return z


def log_factorial(x):
    """log(gamma(x)) for x >= 30, by Stirling's series."""
    s = 1 / (x * x)
    series = 1 / (12 * x) * (1 - s / 30 * (1 - s * 2 / 7 * (1 - s * 3 / 4)))
    return (x - np.longdouble(0.5)) * np.log(x) - x + np.log(2 * PI) / 2 + series


def rising_product(x):
    """x (x + 1) (x + 2) ... as far as the next factor is 30 or more, and that."""
    product = np.longdouble(1)
    while x < 30:
        product, x = product * x, x + 1
    return product, x


def gamma(x):
    if not np.isfinite(x) or x == 0:
        return np.longdouble(math.copysign(math.inf, x) if x == 0 else math.inf if x > 0 else math.nan)
    if x < 0:
        return np.longdouble(math.nan) if x == np.floor(x) else -PI / (x * sine_of_pi(x) * gamma(-x))
    product, x = rising_product(x)
    return np.exp(log_factorial(x)) / product


def log_gamma(x):
    if not np.isfinite(x) or x <= 0 and x == np.floor(x):
        return np.longdouble(math.nan if np.isnan(x) else math.inf)
    if x < 0:
        return np.log(PI / -x / abs(sine_of_pi(x))) - log_gamma(-x)
    product, x = rising_product(x)
    return log_factorial(x) - np.log(product)


def modified_bessel(order):
    """The series of (x / 2)^(2 k + order) / k! / (k + order)!."""
    def series(x):
        x = x.astype(np.longdouble)
        term = (x / 2) ** order
        total = term
        for k in range(1, 700):
            term = term * (x / 2) / k * (x / 2) / (k + order)
            total = total + term
        return total
    return series


def bessel_functions(x):
    """The function that gives j_n(x) for an order n: a series of powers below 1; from there on the mean of cos(n t - x sin t)
    over a turn, for which a sum over so many equal steps has no error while x < 24."""
    t = PI * (np.arange(120) * 2 + 1) / 120
    x = x.astype(np.longdouble)
    small = np.where(np.abs(x) < 1, x, 0)
    cosines, sines = np.cos(x[..., None] * np.sin(t)), np.sin(x[..., None] * np.sin(t))

    def value(n):
        term = (small / 2) ** n / np.longdouble(math.factorial(n))
        total = term
        for k in range(1, 16):
            term = -term * (small / 2) ** 2 / (k * (k + n))
            total = total + term
        mean = (cosines @ np.cos(n * t) + sines @ np.sin(n * t)) / len(t)
        return np.where(np.abs(x) < 1, total, mean)
    return value


def bessel(order):
    return lambda x: bessel_functions(x)(order)


def bessel_y(order):
    """Neumann's series, for the orders 0 and 1."""
    euler = np.longdouble("0.57721566490153286060651209")

    def value(x):
        j, x = bessel_functions(x), x.astype(np.longdouble)
        total = (np.log(x / 2) + euler - order) * j(order) - (j(0) / x if order else 0)
        for k in range(1, 30):
            total = total - (-1) ** k * j(2 * k + order) * (2 * k + order) / np.longdouble(k * (k + order))
        return np.where(x == 0, -np.inf, total * 2 / PI)
    return value


# ---- tables ----

MODES = ("rn", "rz", "rd", "ru")


def arithmetic():
    operations = (
        ("add", "{a}, {b}", 2, lambda x, y: x + y, negative_zero(lambda x, y: x, lambda x, y: y)),
        ("sub", "{a}, {b}", 2, lambda x, y: x - y, negative_zero(lambda x, y: x, lambda x, y: -y)),
        ("mul", "{a}, {b}", 2, lambda x, y: x * y, None),
        ("div", "{a}, {b}", 2, lambda x, y: x / y, None),
        ("rcp", "{a}", 1, lambda x: 1 / x, None),
        ("fma", "{a}, {b}, {c}", 3, lambda x, y, z: x * y + z,
         negative_zero(lambda x, y, z: math.copysign(1, x) * math.copysign(1, y), lambda x, y, z: z)))
    for name, operands, n, f, zero in operations:
        for mode in MODES:
            for dt in ("fp32", "fp64"):
                if name + mode != "divrn" and (name != "fma" or mode == "rn" or dt == "fp32"):
                    yield Row(f"{name}_{mode}", device(f"{name}_{mode}", operands), [(dt,) * n],
                              directed(f, f, mode, dt, zero))
    for mode in MODES:
        for dt in ("fp32", "fp64"):
            if mode != "rn":  # elementwise.py has it
                yield Row(f"sqrt_{mode}", device(f"sqrt_{mode}"), [(dt,)], root(mode, dt))


def conversions():
    integers = {"int": "i32", "uint": "u32", "ll": "i64", "ull": "u64"}
    roundings = {"rn": np.rint, "rz": np.trunc, "rd": np.floor, "ru": np.ceil}
    floats = {"float": "fp32", "double": "fp64"}
    for short, source in floats.items():
        for whole, to in integers.items():
            for mode, f in roundings.items():
                name = f"{short}2{whole}_{mode}"
                yield Row(name, device(name), [(source,)], lambda x, f=f, to=to: cast("fp64", to, f(x)),
                          lambda types, to=to: to)
    for mode in MODES:
        name = f"double2float_{mode}"
        yield Row(name, device(name), [("fp64",)], directed(lambda x: x, lambda x: x, mode, "fp32"), lambda types: "fp32")
        for whole, source in integers.items():
            for short, to in floats.items():
                name = f"{whole}2{short}_{mode}"
                if mode == "rn" or short == "float" or whole in ("ll", "ull"):
                    yield Row(name, device(name), [(source,)], of_integer(mode, to), lambda types, to=to: to)
    for name, source, view, to in (("longlong_as_double", "i64", np.float64, "fp64"),
                                   ("double_as_longlong", "fp64", np.int64, "i64"),
                                   ("int_as_float", "i32", np.float32, "fp32"), ("uint_as_float", "u32", np.float32, "fp32")):
        yield Row(name, device(name), [(source,)],
                  lambda x, view=view: np.ascontiguousarray(x).view(view).reshape(x.shape), lambda types, to=to: to,
                  domain=lambda x: ~np.isnan(x))
    yield Row("hiloint2double", device("hiloint2double", "{a}, {b}"), [("i32", "i32")],
              lambda x, y: (x.astype(np.int64) << 32 | y.view(np.uint32)).view(np.float64), lambda types: "fp64")
    for name, f in (("double2hiint", lambda b: b >> 32), ("double2loint", lambda b: b)):
        yield Row(name, device(name), [("fp64",)],
                  lambda x, f=f: f(np.ascontiguousarray(x).view(np.int64)).astype(np.int32).reshape(x.shape), int32,
                  domain=lambda x: ~np.isnan(x))


def integers():
    yield Row("popc", device("popc"), same(INTS, 1), lambda x: by_element(lambda v: bin(int(v) & ((1 << x.dtype.itemsize * 8) - 1)).count("1"), x), int32)
    yield Row("clz", device("clz"), same(INTS, 1), lambda x: by_element(lambda v: x.dtype.itemsize * 8 - (int(v) & ((1 << x.dtype.itemsize * 8) - 1)).bit_length(), x), int32)
    yield Row("ffs", device("ffs"), same(("i32", "i64"), 1),
              lambda x: by_element(lambda v: (int(v) & -int(v)).bit_length() if v else 0, x), int32)
    yield Row("brev", device("brev"), same(("i32", "u32"), 1),
              lambda x: by_element(lambda v: wrapped(int(f"{int(v) & 0xFFFFFFFF:032b}"[::-1], 2), x.dtype), x))
    yield Row("byte_perm", device("byte_perm", "{a}, {b}, {c}"), [("u32",) * 3], lambda x, y, z: by_element(permuted, x, y, z))
    low = lambda v, dtype: wrapped((int(v) & 0xFFFFFF) << 8, dtype) >> 8
    yield Row("mul24", device("mul24", "{a}, {b}"), same(("i32", "u32"), 2),
              lambda x, y: by_element(lambda a, b: wrapped(low(a, x.dtype) * low(b, x.dtype), x.dtype), x, y))
    yield Row("sad", device("sad", "{a}, {b}, {c}"), [("i32", "i32", "u32"), ("u32", "u32", "u32")],
              lambda x, y, z: by_element(lambda a, b, c: wrapped(abs(int(a) - int(b)) + int(c), x.dtype), x, y, z))
    for name, up in (("hadd", 0), ("rhadd", 1)):
        yield Row(name, device(name, "{a}, {b}"), same(("i32", "u32"), 2),
                  lambda x, y, up=up: by_element(lambda a, b: int(a) + int(b) + up >> 1, x, y))


def exponents():
    yield Row("nextafter", device("nextafter", "{a}, {b}"), [("fp32", "fp32")],
              lambda x, y: np.nextafter(x.astype(np.float32), y.astype(np.float32)).astype(np.float64))
    yield Row("nextafter", device("nextafter", "{a}, {b}"), [("fp64", "fp64")], np.nextafter)
    yield Row("ilogb", device("ilogb"), same(FLOATS, 1), exponent, int32)
    yield Row("logb", device("logb"), same(FLOATS, 1),
              lambda x: np.where(x == 0, -np.inf, np.where(np.isfinite(x), exponent(x), np.abs(x))))
    for name in ("ldexp", "scalbn"):
        yield Row(name, device(name, "{a}, {b} % 300"), [("fp32", "i32")], lambda x, n: scaled(x, np.fmod(n, 300)))
        yield Row(name, device(name, "{a}, {b} % 2200"), [("fp64", "i32")], lambda x, n: scaled(x, np.fmod(n, 2200)))
        yield Row(name, device(name, "{a}, {b}"), [("fp32", "i32"), ("fp64", "i32")], scaled)


def doubles():
    """Functions of fp64, to the units that CUDA states for its own."""
    positive = lambda f: lambda x: np.where(x < 0, np.nan, f(np.abs(x)))
    functions = (
        ("exp10", lambda x: np.power(np.longdouble(10), x)), ("expm1", np.expm1), ("log10", positive(np.log10)),
        ("log1p", np.log1p), ("sinh", np.sinh), ("cosh", np.cosh), ("asinh", np.arcsinh), ("acosh", np.arccosh),
        ("atanh", np.arctanh), ("cbrt", np.cbrt), ("rcbrt", lambda x: 1 / np.cbrt(x)), ("tan", np.tan),
        ("sinpi", sine_of_pi), ("cospi", cosine_of_pi), ("atan", np.arctan), ("asin", np.arcsin), ("acos", np.arccos))
    for name, f in functions:
        yield Row(name, device(name), [("fp64",)], wide(f), ulp=1)
    for name, f in (("pow", np.power), ("atan2", np.arctan2), ("hypot", np.hypot), ("rhypot", lambda x, y: 1 / np.hypot(x, y))):
        yield Row(name, device(name, "{a}, {b}"), [("fp64", "fp64")], wide(f), ulp=1)


def norms():
    for dt, ulp in (("fp32", 2), ("fp64", 1)):
        yield Row("rhypot", device("rhypot", "{a}, {b}"), [(dt, dt)], wide(lambda x, y: 1 / np.hypot(x, y)), ulp=ulp)
        three = lambda x, y, z: np.hypot(np.hypot(x, y), z)
        four = lambda x, y, z: np.hypot(np.hypot(x, y), np.hypot(z, x))
        for name, operands, f in (("norm3d", "{a}, {b}, {c}", three), ("norm4d", "{a}, {b}, {c}, {a}", four)):
            yield Row(name, device(name, operands), [(dt,) * 3], wide(f), ulp=ulp)
            yield Row("r" + name, device("r" + name, operands), [(dt,) * 3], wide(lambda x, y, z, f=f: 1 / f(x, y, z)), ulp=ulp)


def functions():
    yield Row("isnan", device("isnan"), same(FLOATS, 1), np.isnan, pred)
    yield Row("isinf", device("isinf"), same(FLOATS, 1), np.isinf, pred)
    for name in ("isfinited", "finitef", "isfinite"):
        yield Row(name, device(name), same(FLOATS, 1), np.isfinite, pred)
    yield Row("signbit", device("signbit"), same(FLOATS, 1), np.signbit, pred, domain=no_nan)
    yield Row("copysign", device("copysign", "{a}, {b}"), same(FLOATS, 2), np.copysign, domain=[None, no_nan])
    yield Row("fdim", device("fdim", "{a}, {b}"), same(FLOATS, 2), lambda x, y: np.where(x <= y, 0, x - y),
              any_zero=True, domain=finite)
    yield Row("round", device("round"), same(FLOATS, 1), round_away)
    for name, f, to in (("llrint", np.rint, "i64"), ("llround", round_away, "i64")):
        yield Row(name, device(name), same(("fp32", "fp64"), 1), lambda x, f=f, to=to: cast("fp64", to, f(x)),
                  lambda types, to=to: to)
    bits = lambda to: lambda x: np.ascontiguousarray(x).astype(np.float32).view(to).reshape(x.shape)
    yield Row("float_as_int", device("float_as_int"), same(("fp32",), 1), bits("i4"), lambda types: "i32",
              domain=no_nan)
    yield Row("float_as_uint", device("float_as_uint"), same(("fp32",), 1), bits("u4"), lambda types: "u32",
              domain=no_nan)
    yield Row("fmod", device("fmod", "{a}, {b}"), same(FLOATS, 2), np.fmod)
    small = lambda x: ~(np.abs(x) > 1e4)
    yield Row("remainder", device("remainder", "{a}, {b}"), same(("fp32", "fp64"), 2), scalar(math.remainder))
    yield Row("fast_dividef", device("fast_dividef", "{a}, {b}"), same(("fp32",), 2), lambda x, y: x / y, gpu=2,
              domain=small)
    yield Row("exp10", device("exp10"), same(HALF_UP, 1), wide(lambda x: np.power(np.longdouble(10), x)), ulp=2, gpu=16)
    yield Row("fast_exp10f", device("fast_exp10f"), same(("fp32",), 1), wide(lambda x: np.power(np.longdouble(10), x)),
              ulp=64, gpu=96, domain=(-30, 30))
    yield Row("log10", device("log10"), same(HALF_UP, 1), wide(np.log10), ulp=4, atol=3e-7)
    yield Row("fast_log10f", device("fast_log10f"), same(("fp32",), 1), wide(np.log10), ulp=8, atol=1e-6,
              domain=(0.001, 1e4))
    yield Row("expm1", device("expm1"), same(HALF_UP, 1), wide(np.expm1), ulp=2, gpu=8)
    yield Row("log1p", device("log1p"), same(HALF_UP, 1), wide(np.log1p), ulp=3, gpu=6)
    yield Row("pow", device("pow", "{a}, {b}"), same(HALF_UP, 2), power, ulp=1, gpu=8)
    yield Row("pow", "libdevice.pow({a}, {b})", [("fp32", "i32")], lambda x,
              y: power(x, y.astype(np.float32).astype(np.float64)), lambda types: "fp32", ulp=1, gpu=8,
              domain=[None, None])
    yield Row("fast_powf", device("fast_powf", "{a}, {b}"), same(("fp32",), 2), power, ulp=64, gpu=96,
              domain=[(0.1, 10), (-5, 5)])
    yield Row("cbrt", device("cbrt"), same(HALF_UP, 1), wide(np.cbrt), ulp=1, gpu=3)
    yield Row("rcbrt", device("rcbrt"), same(("fp32",), 1), wide(lambda x: 1 / np.cbrt(x)), ulp=2, gpu=6)
    yield Row("hypot", device("hypot", "{a}, {b}"), same(("fp32",), 2), wide(np.hypot), ulp=1)
    for name, f, ulp, gpu in (("sinh", np.sinh, 2, 8), ("cosh", np.cosh, 2, 8), ("asinh", np.arcsinh, 3, of_exponent),
                              ("acosh", np.arccosh, 4, of_exponent), ("atanh", np.arctanh, 3, of_exponent)):
        yield Row(name, device(name), same(HALF_UP, 1), wide(f), ulp=ulp, gpu=gpu, atol=1e-7 if name[0] == "a" else 0)
    yield Row("tan", device("tan"), same(("fp32",), 1), wide(np.tan), ulp=2, gpu=8, atol=3e-6,
              domain=(-1.4, 1.4))
    yield Row("fast_tanf", device("fast_tanf"), same(("fp32",), 1), wide(np.tan), ulp=4, gpu=16, atol=1e-5,
              domain=(-1.4, 1.4))
    for name, f in (("sinpi", sine_of_pi), ("cospi", cosine_of_pi)):
        yield Row(name, device(name), same(HALF_UP, 1), wide(f), ulp=2, gpu=2, domain=lambda x: ~(np.abs(x) > 1e6))
    for name, f in (("atan", np.arctan), ("asin", np.arcsin), ("acos", np.arccos)):
        yield Row(name, device(name), same(HALF_UP, 1), wide(f), ulp=3, gpu=6)
    yield Row("atan2", device("atan2", "{a}, {b}"), same(HALF_UP, 2), wide(np.arctan2), ulp=3, gpu=7)
    gelu = lambda x: 0.5 * x * (1 + np.tanh(np.longdouble(0.7978845608028654) * (x + np.longdouble(0.044715) * x**3)))
    yield Row("gelu_tanh", device("gelu_tanh"), same(("fp32",), 1), wide(gelu), ulp=8, gpu=16, atol=2e-7,
              domain=(-8, 20))
    yield Row("rsqrt_rn", device("rsqrt_rn"), same(("fp32",), 1), wide(lambda x: 1 / np.sqrt(x)))
    yield Row("rcp64h", device("rcp64h"), same(("fp64",), 1),
              lambda x: (np.ascontiguousarray(1 / x).view(np.int64) >> 32 << 32).view(np.float64).reshape(x.shape))
    yield Row("saturatef", device("saturatef"), same(("fp32",), 1),
              lambda x: np.where(x > 0, np.minimum(x, 1), 0))


def odd():
    """A zero stays what it is, with its sign."""
    for name in ("sin", "tan", "asin", "atan", "sinh", "tanh", "asinh", "atanh", "sinpi", "expm1", "log1p", "cbrt", "erf", "erfinv", "j1",
                 "cyl_bessel_i1"):
        yield Row(name, device(name), same(("fp32", "fp64"), 1), lambda x: x, domain=lambda x: x == 0)


def special():
    """The units are a few for fp64, where the reference has its own error; what is narrower is rounded from that."""
    inside = lambda x: (np.abs(x) < 700) | np.isnan(x)
    above = lambda x: ~(x < -26)  # the reference overflows before the function
    negative = lambda x: (x >= -20) & (x < 0)
    yield Row("lgamma", device("lgamma"), [("fp64",)], by_number(log_gamma), ulp=4, atol=1e-15, domain=negative)
    yield Row("lgamma", device("lgamma"), same(HALF_UP, 1), by_number(log_gamma), ulp=3, atol=2.5e-7, domain=negative)
    for name, f, ulp, fp32, atol, domain in (
            ("erfcx", by_number(scaled_complement), 5, 4, 0, above), ("erfinv", by_number(inverse), 4, 2, 0, None),
            ("erfcinv", by_number(inverse_complement), 4, 3, 0, None),
            ("normcdfinv", by_number(lambda x: -np.sqrt(np.longdouble(2)) * inverse_complement(2 * x)), 5, 3.5, 0, None),
            ("tgamma", by_number(gamma), 6, 1, 0, None), ("lgamma", by_number(log_gamma), 4, 3, 1e-15, lambda x: ~(x < 0)),
            ("cyl_bessel_i0", modified_bessel(0), 4, 3.5, 0, inside), ("cyl_bessel_i1", modified_bessel(1), 4, 3.5, 0, inside)):
        yield Row(name, device(name), [("fp64",)], f, ulp=ulp, atol=atol, domain=domain)
        yield Row(name, device(name), same(HALF_UP, 1), f, ulp=fp32, gpu=fp32 if fp32 == 1 else fp32 + 1, atol=atol,
                  domain=domain)
    for name, f, low in (("j0", bessel(0), -20), ("j1", bessel(1), -20), ("y0", bessel_y(0), 0), ("y1", bessel_y(1), 0)):
        near = lambda x, low=low: ((x >= max(low, -8)) & (x < 8)) | np.isnan(x)
        yield Row(name, device(name), [("fp64",)], f, ulp=5, atol=1e-18, domain=near)
        yield Row(name, device(name), [("fp64",)], f, atol=1e-15, domain=(8, 20))
        yield Row(name, device(name), same(HALF_UP, 1), f, ulp=1, domain=(low, 20))
    for name, f in (("erfc", by_number(complement)), ("normcdf", by_number(distribution))):
        yield Row(name, device(name), same(FLOATS, 1), f, ulp=5, gpu=8)


def rows():
    return [*arithmetic(), *conversions(), *integers(), *exponents(), *doubles(), *norms(), *special(), *functions(), *odd()]


def all_cases(long):
    shapes = SHAPES if long else ((), (781,), (16, 16), (6, 10), (3, 5, 7))
    yield from cases(rows(), shapes)
