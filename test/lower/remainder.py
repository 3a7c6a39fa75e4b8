# Remainders of floats on the emulated GPU are C's fmod to the last bit: whatever is by what, and near whole quotients, large and small.
# RUN: %python %s %build/tkc
import os
import subprocess
import sys
import tempfile

import numpy as np

KERNEL = """import triton
import triton.language as tl


@triton.jit
def rest(x, y, z, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(z + i, tl.load(x + i) % tl.load(y + i))
"""
N = 1 << 15


def numbers(dtype, bits, rng):
    """Any bits; near whole multiples; whole; and each special number by each."""
    x, y = (rng.integers(0, np.iinfo(bits).max, N, dtype=bits).view(dtype) for _ in range(2))
    some = N // 2
    y[:some] = rng.standard_normal(some) * 10.0 ** rng.uniform(-3, 3, some)
    off = rng.choice([0, 1e-8, -1e-8, 0.5, 0.25, 1 - 1e-6], some)
    x[:some] = y[:some] * (rng.integers(-2000000, 2000000, some) + off)
    x[:1000], y[:1000] = rng.integers(-1000, 1000, 1000), rng.integers(-20, 20, 1000)
    special = np.array([0, -0.0, np.inf, -np.inf, np.nan, 1, -1, 1e-40, 3e-45, 2.0**-100, 2.0**100,
                        1.5e-38, 3.4e38], dtype)
    pairs = np.array(np.meshgrid(special, special)).reshape(2, -1)
    x[-pairs.shape[1]:], y[-pairs.shape[1]:] = pairs
    return x, y


def check(dtype, bits, name, folder):
    x, y = numbers(dtype, bits, np.random.default_rng(1))
    paths = [os.path.join(folder, n) for n in ("rest.tk", "x.npy", "y.npy", "z.npy")]
    with open(paths[0], "w") as text:
        text.write(KERNEL)
    np.save(paths[1], x)
    np.save(paths[2], y)
    subprocess.run([sys.argv[1], "-run", "-device", "simt", "-grid", str(N // 1024), paths[0], "x=" + paths[1],
                    "y=" + paths[2], "z=empty:%s[%d]" % (name, N), "-DBLOCK=1024", "-save", "z=" + paths[3]],
                   check=True, stderr=subprocess.DEVNULL)
    with np.errstate(all="ignore"):
        want = np.fmod(x, y)
    got = np.load(paths[3])
    wrong = (got.view(bits) != want.view(bits)) & ~(np.isnan(got) & np.isnan(want))
    for i in np.nonzero(wrong)[0][:5]:
        print("%s: %r %% %r is %r, found %r" % (name, x[i], y[i], want[i], got[i]))
    return int(wrong.sum())


with tempfile.TemporaryDirectory() as folder:
    sys.exit(check(np.float32, np.uint32, "f32", folder) + check(np.float64, np.uint64, "f64", folder) > 0)
