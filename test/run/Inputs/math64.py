"""math64.py STEM: arguments to STEM.x.npy, what functions of them are to STEM.y.npy. math64.py STEM FILE: how far FILE is off.

Sines and cosines are computed as whole numbers of 2^-DEEP, so the errors told are of the functions alone."""
import math
import sys
from fractions import Fraction

import numpy as np

N = 4096
DEEP = 192
TINY = 2.0**-30  # such angles are their own sines
NEAREST = 6381956970095103 * 2.0**797  # to a multiple of pi / 2, of all numbers
# Near multiples of pi / 2, and the lower word of their product with 2 / pi carries (1 of 2^11 does).
CARRYING = [float.fromhex(x) for x in ("0x1.8cc42b203c06dp+44", "0x1.c2a3c6387d97cp+41", "0x1.a8460ccb4b4f1p+42", "0x1.704f0f4fd92b2p+43")]


def arguments():
    rng = np.random.default_rng(64)
    edges = [0.0, -0.0, math.inf, -math.inf, math.nan, 5e-324, -2.2e-308, 2.0**19, -2.0**19, 2.0**19 - 2.0**-30, 1.7e308, NEAREST,
             0.85, -0.85, math.nextafter(0.85, 1), 5.9, 6.0, -6.1, 2.0**-30, math.nextafter(2.0**-30, 0), math.pi / 4, -math.pi / 4, *CARRYING]
    bits = rng.integers(0, 2**64, 1024, dtype=np.uint64).view(np.float64)
    quarters = rng.integers(-2**21, 2**21, 1024) * (math.pi / 2)
    whole = rng.integers(-2**62, 2**62, 512).astype(np.float64)
    return np.concatenate([edges, bits, quarters, whole, rng.uniform(-8, 8, N - len(edges) - 1024 - 1024 - 512)])


def half_pi(bits):
    """Machin's sum, in units of 2^-bits."""
    def arctangent_of_inverse(n):
        power, total, k = (1 << bits + 32) // n, 0, 1
        while power:
            total += power // k if k % 4 == 1 else -(power // k)
            power, k = power // n**2, k + 2
        return total

    return 8 * arctangent_of_inverse(5) - 2 * arctangent_of_inverse(239) >> 32


def series(x, first):
    """x^first / first! - x^(first + 2) / (first + 2)! + …, x and the sum in units of 2^-DEEP."""
    term, total, k = x if first else 1 << DEEP, 0, first
    while term:
        total, k = total + term, k + 2
        term = -(term * x * x >> 2 * DEEP) // (k * (k - 1))
    return total


def sine_and_cosine(x, half_pi_bits, half_pi_units):
    """In units of 2^-DEEP; of an angle of any size."""
    whole = int(Fraction(x) * 2**half_pi_bits)
    quarters = (2 * whole + half_pi_units) // (2 * half_pi_units)
    rest = whole - quarters * half_pi_units >> half_pi_bits - DEEP
    s, c = series(rest, 1), series(rest, 0)
    return [(s, c), (c, -s), (-s, -c), (-c, s)][quarters % 4]


def exact(x):
    """Rows of sines and cosines in units of 2^-DEEP; None for what has none."""
    bits = 1024 + DEEP + 64
    unit = half_pi(bits)
    pairs = [sine_and_cosine(v, bits, unit) if math.isfinite(v) else (None, None) for v in x]
    return list(zip(*pairs))


def nearest(units):
    return math.nan if units is None else float(Fraction(units, 2**DEEP))


def wanted(x):
    sines, cosines = exact(x)
    return np.array([[v if abs(v) < TINY else nearest(s) for v, s in zip(x, sines)], [nearest(c) for c in cosines], [math.erf(v) for v in x]])


def most_ulps(got, units, x):
    """The largest error, in units of the last place of the result; tiny angles aside."""
    far = [abs(Fraction(float(g)) - Fraction(u, 2**DEEP)) / Fraction(math.ulp(u / 2**DEEP)) for g, u, v in zip(got, units, x)
           if u is not None and abs(v) >= TINY]
    return math.ceil(max(far) * 100) / 100


def main():
    x = arguments()
    y = wanted(x)
    if len(sys.argv) == 2:
        np.save(sys.argv[1] + ".x.npy", x)
        np.save(sys.argv[1] + ".y.npy", y)
        return
    got = np.load(sys.argv[2])
    for name, a, b in zip(("sin", "cos", "erf"), got, y):
        number = ~np.isnan(b)
        away = np.abs(a[number].view(np.int64) - b[number].view(np.int64)).max()
        print(f"{name}: {away} ulp" if (np.isnan(a) == np.isnan(b)).all() else f"{name}: NaN at other places")
    for name, a, units in zip(("sin", "cos"), got, exact(x)):
        print(f"largest error of {name}: {most_ulps(a, units, x)}")
    zeros = x == 0
    signs = np.signbit(got[0][zeros]) == np.signbit(x[zeros]), np.signbit(got[2][zeros]) == np.signbit(x[zeros])
    print("signs of zero:", "right" if all(s.all() for s in signs) else "wrong")


main()
