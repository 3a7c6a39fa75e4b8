#!/usr/bin/env python3
# Products by warp groups are as near to the right ones as their types allow: int8 exactly; tf32, whose low bits a group cuts off, and 8-bit floats,
# of which a GPU keeps 13 bits behind the point of the largest, within a bound by the sizes of what is summed.
# REQUIRES: numpy
# RUN: %python %s %build/tkc simt 128 | FileCheck %s
# CHECK: {{^12 products, 0 too far$}}
"""group_accuracy.py TKC DEVICE K. On a GPU (`cuda`, sm_90a) a K of 8192 shows what is lost; the largest error in units of |a| |b| is printed for
each, and of 8-bit floats what it is where max_num_imprecise_acc leaves all sums to the instruction."""
import os
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs"))

from formats import FP8, decode, encode

TEXT = '''
import triton
import triton.language as tl


@triton.jit
def product(a, b, c, n, k, OUT: tl.constexpr, MOST: tl.constexpr, BM: tl.constexpr = 128, BN: tl.constexpr = 128, BK: tl.constexpr = 128):
    i, j, l = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN), tl.arange(0, BK)
    sum = tl.zeros((BM, BN), OUT)
    for at in range(0, k, BK):
        x = tl.load(a + i[:, None] * k + at + l[None, :])
        y = tl.load(b + j[:, None] * k + at + l[None, :])
        sum = tl.dot(x, y.T, sum, max_num_imprecise_acc=MOST, out_dtype=OUT)
    tl.store(c + i[:, None] * n + j[None, :], sum)
'''
M, N = 256, 256
BOUND = {"int8": 0, "fp32": 2.0**-9, "fp8e4nv": 2.0**-10, "fp8e5": 2.0**-10}
ROUNDING = 2.0**-20  # of fp32 sums


def numbers(rng, kind, sign, shape):
    """As they lie in memory, and what they are."""
    if kind == "int8":
        x = rng.integers(-128 if sign else 0, 128, shape)
        return x.astype(np.int8), x.astype(np.float64)
    x = rng.standard_normal(shape) if sign else rng.random(shape)
    stored = encode(kind, x)
    return stored, decode(kind, stored).astype(np.float64)


def run(tkc, device, folder, kind, a, b, k, most):
    paths = [os.path.join(folder, name) for name in ("k.tk", "a.npy", "b.npy", "c.npy")]
    with open(paths[0], "w") as text:
        text.write(TEXT)
    np.save(paths[1], a)
    np.save(paths[2], b)
    suffix, out = ":" + kind if kind in FP8 else "", "int32" if kind == "int8" else "float32"
    command = [tkc, "-run", paths[0], "-device", device, "-arch=sm_90a", "-num-warps=8", "-num-stages=3" if kind != "fp32" else "-num-stages=2",
               "-DOUT=tl." + out, "-DMOST=%s" % most, "-DBK=%d" % (64 if kind == "fp32" else 128), "-grid", "%d,%d" % (M // 128, N // 128), "a=" + paths[1] + suffix,
               "b=" + paths[2] + suffix, "c=zeros:%s[%d,%d]" % ("i32" if kind == "int8" else "f32", M, N), "n=%d" % N, "k=%d" % k, "-save", "c=" + paths[3]]
    if device != "simt":
        command.remove("-arch=sm_90a")
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit("%s\n%s%s" % (" ".join(command), done.stdout, done.stderr))
    return np.load(paths[3]).astype(np.float64)


def main():
    tkc, device, k = sys.argv[1], sys.argv[2], int(sys.argv[3])
    rng, count, far = np.random.default_rng(17), 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for kind in BOUND:
            for sign in (True, False):
                (a, x), (b, y) = (numbers(rng, kind, sign, (rows, k)) for rows in (M, N))
                wanted, size = x @ y.T, np.abs(x) @ np.abs(y.T)
                for most in (None, 1 << 30) if kind in FP8 else (None,):
                    error = (np.abs(run(tkc, device, folder, kind, a, b, k, most) - wanted) / size).max()
                    is_far = most is None and bool(error > BOUND[kind] + (ROUNDING if kind != "int8" else 0))
                    count, far = count + 1, far + is_far
                    print("%s, %s%s: %.3g of |a| |b|, %.3g of the bound%s" % (
                        kind, "any sign" if sign else "positive", ", all imprecise" if most else "", error,
                        error / BOUND[kind] if BOUND[kind] else error, " TOO FAR" * is_far))
    print("%d products, %d too far" % (count, far))
    sys.exit(far != 0)


main()
