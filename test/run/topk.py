#!/usr/bin/env python3
# The first of rows of many lengths, by 1 to 16 warps, against numpy: topk.py TKC FOLDER DEVICE [COUNT]
# RUN: rm -rf %t && mkdir %t && %python %s %build/tkc %t cpu 40 | FileCheck %s
# RUN: rm -rf %t && mkdir %t && %python %s %build/tkc %t simt 60 | FileCheck %s
# RUN: %if cuda %{ rm -rf %t && mkdir %t && %python %s %build/tkc %t cuda 60 | FileCheck %s %}
# CHECK: {{^[1-9][0-9]* blocks, 0 wrong$}}
import os
import subprocess
import sys

import numpy as np

TKC, FOLDER, DEVICE = sys.argv[1:4]
KERNEL = """import triton
import triton.language as tl


@triton.jit
def first(x, y, R: tl.constexpr, N: tl.constexpr, K: tl.constexpr, DESCENDING: tl.constexpr):
    row = tl.arange(0, R)[:, None]
    a = tl.load(x + row * N + tl.arange(0, N)[None, :])
    if R == 1:
        a = tl.reshape(a, [N])
    a = tl.topk(a, K, descending=DESCENDING)
    tl.store(y + row * K + tl.arange(0, K)[None, :], tl.reshape(a, [R, K]))
"""
TYPES = {"f16": np.float16, "f32": np.float32, "f64": np.float64, "i8": np.int8, "u8": np.uint8, "i32": np.int32, "u32": np.uint32, "i64": np.int64}
rng = np.random.default_rng(7)


def values(name, shape):
    dtype = TYPES[name]
    if name[0] != "f":
        return rng.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, shape, dtype=dtype, endpoint=True)
    x = rng.standard_normal(shape).astype(dtype)
    x[rng.random(shape) < 0.02] = np.nan
    x[rng.random(shape) < 0.02] = -np.inf
    return x


def first(x, k, descending):
    """NaN comes last, whichever way"""
    up = np.sort(x, axis=-1)
    if not descending:
        return up[:, :k]
    rows = [np.concatenate([row[row == row][::-1], row[row != row]]) for row in up]
    return np.stack(rows)[:, :k]


def path(name):
    return os.path.join(FOLDER, name)


with open(path("first.tk"), "w") as f:
    f.write(KERNEL)
wrong = 0
for number in range(int(sys.argv[4])):
    name, descending = list(TYPES)[number % len(TYPES)], bool(rng.integers(2))
    rows, n = int(rng.choice([1, 1, 2, 3, 8, 32])), int(rng.choice([16, 64, 100, 128, 256, 781, 1024, 2048]))
    n = min(n, 256) if rows > 8 else n
    k, warps = min(int(rng.choice([1, 2, 4, 5, 8, 16, 31, 64, 300])), n), 1 << int(rng.integers(5))
    if number % 20 == 0:
        rows, n, k, warps = 1, 2048, 300 + number, 8  # more than a short row has
    x = values(name, (rows, n))
    np.save(path("x.npy"), x)
    subprocess.run([TKC, "-run", path("first.tk"), "-device", DEVICE, "-grid", "1", f"-num-warps={warps}", f"-DR={rows}", f"-DN={n}", f"-DK={k}",
                    f"-DDESCENDING={descending}", f"x={path('x.npy')}", f"y=zeros:{name}[{rows},{k}]", "-save", f"y={path('y.npy')}"],
                   check=True, capture_output=True)
    got, want = np.load(path("y.npy")), first(x, k, descending)
    if not np.array_equal(got, want, equal_nan=name[0] == "f"):
        wrong += 1
        print(f"{k} of {name} {rows}x{n}, descending {descending}, {warps} warps: {got}, not {want}")
print(f"{sys.argv[4]} blocks, {wrong} wrong")
sys.exit(wrong > 0)
