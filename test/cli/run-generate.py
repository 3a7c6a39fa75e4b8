# Generated arguments: the same bits on every machine, and what their kinds promise, for every element type.
# REQUIRES: numpy
# RUN: %python %s tkc %S/Inputs/nothing.tk %t.npy | FileCheck %s
import hashlib
import subprocess
import sys

import numpy as np

tkc, kernel, path = sys.argv[1:]
COUNT = 100001  # no multiple of the runs they are made in


def make(kind, dtype, seed=3, count=COUNT):
    array = "x=%s:%s[%d]" % (kind, dtype, count)
    command = [tkc, "-run", "-device", "cpu", kernel, "-k", "nothing", "-grid", "1", "-seed", str(seed), array, "-save", "x=" + path]
    subprocess.run(command, check=True, capture_output=True)
    return np.load(path)


def values(x, dtype):
    if dtype == "bf16":
        return (x.astype("u4") << 16).view("f4")
    if dtype == "f8e5":
        return (x.astype("u2") << 8).view("f2")
    if dtype == "f8e4":
        bits = x.astype("i8")
        exponent, mantissa = bits >> 3 & 15, bits & 7
        size = np.where(exponent == 0, mantissa / 8 * 2.0**-6, (1 + mantissa / 8) * 2.0 ** (exponent.astype("f8") - 7))
        return np.where(bits & 128, -size, size)
    return x


def digest(x):
    return hashlib.sha256(x.tobytes()).hexdigest()[:16]


for kind in ("rand", "randn"):
    for dtype in ("f64", "f32", "f16", "bf16", "f8e4", "f8e5", "i32", "u16", "i8", "i1"):
        print(kind, dtype, digest(make(kind, dtype)))
# CHECK: rand f64 b9cd8b7cca5d7445
# CHECK-NEXT: rand f32 56dbe270318fa897
# CHECK-NEXT: rand f16 a3f2544cacaab2db
# CHECK-NEXT: rand bf16 9646a33ec95f8bf2
# CHECK-NEXT: rand f8e4 f495ad893d739222
# CHECK-NEXT: rand f8e5 39732ae1c0b2d0c2
# CHECK-NEXT: rand i32 c7bf167db5eb44a8
# CHECK-NEXT: rand u16 e7d42487f8ab80be
# CHECK-NEXT: rand i8 c2f111504a9c5177
# CHECK-NEXT: rand i1 c55dba9c8bf95cd3
# CHECK-NEXT: randn f64 b56a5239aa3c75b0
# CHECK-NEXT: randn f32 cf612f33932ed2e2
# CHECK-NEXT: randn f16 9a59a8b132c5906b
# CHECK-NEXT: randn bf16 17f777d2d5a63247
# CHECK-NEXT: randn f8e4 293cc9f9c6c4b5f6
# CHECK-NEXT: randn f8e5 16b27e37a71851bf
# CHECK-NEXT: randn i32 2274b6b65ee83807
# CHECK-NEXT: randn u16 fe294eb739197006
# CHECK-NEXT: randn i8 cb1fd2b6e6aecac5
# CHECK-NEXT: randn i1 616d3cf992180d5f

normal = make("randn", "f64")
for dtype, ulp in (("f64", 2**-53), ("f32", 2**-24), ("f16", 2**-11), ("bf16", 2**-8), ("f8e4", 2**-4), ("f8e5", 2**-3)):
    x = values(make("rand", dtype), dtype).astype("f8")
    assert 0 <= x.min() and x.max() < 1 and (x.max() == 1 - ulp or ulp < 2**-16), (dtype, x.min(), x.max())
    assert (x / ulp == np.floor(x / ulp)).all(), dtype
    assert abs(x.mean() + ulp / 2 - 0.5) < 0.005 and abs(x.var() - 1 / 12 * (1 - ulp**2)) < 0.001, (dtype, x.mean(), x.var())
    n = values(make("randn", dtype), dtype).astype("f8")
    least = 2.0**-10 if dtype == "f8e4" else 2.0**-17 if dtype == "f8e5" else 2.0**-25
    assert (abs(n - normal) <= abs(normal) * ulp + least).all(), dtype
assert abs(normal.mean()) < 0.01 and abs(normal.std() - 1) < 0.01 and abs((normal**3).mean()) < 0.05
assert abs((normal**4).mean() - 3) < 0.1 and abs((abs(normal) > 2).mean() - 0.0455) < 0.002 and abs(normal).max() > 3.9
for lag in (1, 2, 3):
    assert abs((normal[:-lag] * normal[lag:]).mean()) < 0.01 and abs((abs(normal[:-lag]) * abs(normal[lag:])).mean() - 2 / np.pi) < 0.01
print("floats are right")
# CHECK: floats are right

for dtype, below in (("i64", 1000), ("u64", 1000), ("i32", 1000), ("u32", 1000), ("i16", 1000), ("u16", 1000), ("i8", 128), ("u8", 128), ("i1", 2)):
    x = make("rand", dtype).astype("i8")
    assert x.min() == 0 and x.max() == below - 1 and abs(x.mean() - (below - 1) / 2) < below / 100, (dtype, x)
    n = make("randn", dtype).astype("i8")
    want = normal > 0 if dtype == "i1" else abs(np.rint(normal)) if dtype[0] == "u" else np.rint(normal)
    assert (n == want).all(), (dtype, n, want)
    ones, arange = make("ones", dtype), make("arange", dtype, count=5000).astype("u8")
    assert (ones == 1).all(), dtype
    top = {"i1": 1, "i8": 127, "u8": 255}.get(dtype, 4999)
    assert (arange == np.minimum(np.arange(5000), top)).all(), (dtype, arange)
print("integers are right")
# CHECK: integers are right

f16 = make("arange", "f16", count=70000).astype("f8")
assert (f16[:65520] == np.arange(65520).astype("f2").astype("f8")).all() and np.isinf(f16[65520:]).all()
bf16 = values(make("arange", "bf16", count=70000), "bf16")
assert (abs(bf16 - np.arange(70000)) <= np.arange(70000) / 256).all() and bf16[257] == 256 and bf16[259] == 260
assert digest(make("randn", "f32", seed=4)) != digest(make("randn", "f32", seed=5))
print("edges are right")
# CHECK: edges are right
