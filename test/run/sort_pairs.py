#!/usr/bin/env python3
# PyTorch's sort of values with their indices, against Python's: sort_pairs.py TKC FOLDER
# RUN: rm -rf %t && mkdir %t && %python %s %build/tkc %t | FileCheck %s
# CHECK: {{^[1-9][0-9]* rows, 0 wrong$}}
import itertools
import os
import subprocess
import sys

import numpy as np

TKC, FOLDER = sys.argv[1:3]
KERNEL = """import triton
import triton.language as tl
from torch._inductor.runtime import triton_helpers


@triton.jit
def pairs(x, y, z, n, DESCENDING: tl.constexpr, WHOLE: tl.constexpr, NARROW: tl.constexpr):
    row, column = tl.arange(0, 4)[:, None], tl.arange(0, 32)[None, :]
    low: tl.constexpr = -(1 << 30) if WHOLE else 0
    index = column.to(tl.int16) if NARROW else column + low
    a, b = triton_helpers.sort_with_index(tl.load(x + row * 32 + column), index, None if WHOLE else n, 1, stable=True, descending=DESCENDING)
    inside = column < n
    tl.store(y + row * 32 + column, a, mask=inside)
    tl.store(z + row * 32 + column, b.to(tl.int32) - (0 if NARROW else low), mask=inside)
"""
TYPES = {"f16": np.float16, "f32": np.float32, "f64": np.float64, "i8": np.int8, "u8": np.uint8, "i32": np.int32, "u32": np.uint32, "i64": np.int64}
rng = np.random.default_rng(1)


def values(name):
    """A row of few values, one of the ends of the type, NaN among them where there is such."""
    dtype = TYPES[name]
    if name[0] == "f":
        x = rng.integers(-4, 5, (4, 32)).astype(dtype)
        x[1, ::5], x[2, 3], x[2, 7], x[2, 9] = np.nan, np.inf, -np.inf, -np.nan
        x[3] = rng.choice(np.array([-0.0, 0.0, 1], dtype), 32)
        return x
    ends = np.iinfo(dtype)
    x = rng.integers(ends.min, ends.max, (4, 32), dtype=dtype, endpoint=True)
    x[0] %= 3
    x[1, 4], x[1, 5], x[1, 30] = ends.max, ends.min, ends.max
    return x


def order(row, descending):
    def key(i):
        nan = row[i] != row[i]
        value = 0 if nan else float(row[i]) if row.dtype.kind == "f" else int(row[i])
        return (nan != descending, -value if descending else value, i)
    return sorted(range(len(row)), key=key)


def path(name):
    return os.path.join(FOLDER, name)


with open(path("pairs.tk"), "w") as f:
    f.write(KERNEL)
rows = wrong = 0
for number, (name, descending, whole, narrow) in enumerate(itertools.product(TYPES, (False, True), (False, True), (False, True))):
    x, n = values(name), 32 if whole else 20
    np.save(path("x.npy"), x)
    for device in ("cpu", "simt") if number % 3 == 0 else ("cpu",):
        subprocess.run([TKC, "-run", path("pairs.tk"), "-device", device, "-grid", "1", f"-DDESCENDING={descending}", f"-DWHOLE={whole}",
                        f"-DNARROW={narrow}", f"n={n}", f"x={path('x.npy')}", f"y=zeros:{name}[4,32]", "z=zeros:i32[4,32]",
                        "-save", f"y={path('y.npy')}", "-save", f"z={path('z.npy')}"], check=True, capture_output=True)
        y, z = np.load(path("y.npy")), np.load(path("z.npy"))
        for row, got, index in zip(x[:, :n], y[:, :n], z[:, :n]):
            want = order(row, descending)
            rows += 1
            zero = got == 0
            if list(index) != want or not np.array_equal(got, row[want], equal_nan=name[0] == "f") or \
                    not np.array_equal(np.signbit(got[zero]), np.signbit(row[want][zero])):
                wrong += 1
                print(f"{name}, descending {descending}, whole {whole}, narrow {narrow}, {device}: {list(index)}, not {want}")
print(f"{rows} rows, {wrong} wrong")
sys.exit(wrong > 0)
