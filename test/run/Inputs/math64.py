"""math64.py STEM: arguments to STEM.x.npy, what functions of them are to STEM.y.npy. math64.py STEM FILE: how far FILE is off."""
import math
import sys

import numpy as np

N = 4096
NEAREST = 6381956970095103 * 2.0**797  # to a multiple of pi / 2, of all numbers; C's cos is some units off there


def arguments():
    rng = np.random.default_rng(64)
    edges = [0.0, -0.0, math.inf, -math.inf, math.nan, 5e-324, -2.2e-308, 2.0**19, -2.0**19, 2.0**19 - 2.0**-30, 1.7e308, NEAREST,
             0.85, -0.85, math.nextafter(0.85, 1), 5.9, 6.0, -6.1, 2.0**-30, math.nextafter(2.0**-30, 0), math.pi / 4, -math.pi / 4]
    bits = rng.integers(0, 2**64, 1024, dtype=np.uint64).view(np.float64)
    quarters = rng.integers(-2**21, 2**21, 1024) * (math.pi / 2)
    whole = rng.integers(-2**62, 2**62, 512).astype(np.float64)
    x = np.concatenate([edges, bits, quarters, whole, rng.uniform(-8, 8, N - len(edges) - 1024 - 1024 - 512)])
    return x


def by_element(f, x):
    return np.array([f(v) if math.isfinite(v) else math.nan for v in x])


def wanted(x):
    finite = lambda f: by_element(f, x)
    cosines = np.where(x == NEAREST, float.fromhex("-0x1.14ae72e6ba22fp-61"), finite(math.cos))
    return np.stack([finite(math.sin), cosines, np.array([math.erf(v) for v in x])])


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
    zeros = x == 0
    signs = np.signbit(got[0][zeros]) == np.signbit(x[zeros]), np.signbit(got[2][zeros]) == np.signbit(x[zeros])
    print("signs of zero:", "right" if all(s.all() for s in signs) else "wrong")


main()
