#!/usr/bin/env python3
# Every example kernel on real input against numpy: examples.py TKC DEVICE [NAME...]
# RUN: %python %s %build/tkc cpu | FileCheck %s
# RUN: %python %s %build/tkc simt | FileCheck %s
# RUN: %if cuda %{ %python %s %build/tkc cuda | FileCheck %s %}
# CHECK: {{^[1-9][0-9]* passed, 0 failed$}}
"""Each case is one `tkc -run` with arrays from numpy and a reference computed in double precision. Run it by hand with DEVICE
cuda where there is a GPU; a NAME picks the cases that hold it."""
import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs"))

import launches
from launches import Cases

rng = np.random.default_rng(7)


def softmax(x):
    e = np.exp(x.astype(np.float64) - x.max(axis=-1, keepdims=True).astype(np.float64))
    return e / e.sum(axis=-1, keepdims=True)


def vector_add(c):
    for n, block in ((1, 1024), (6, 8), (98432, 1024), (98432, 781), (10_000_000, 1024)):
        x, y = (rng.standard_normal(n, dtype=np.float32) for _ in range(2))
        c.add(f"vector_add n={n} BLOCK={block}", "vector_add", "add", "cdiv(n,BLOCK)", {"BLOCK": block},
              {"x": x, "y": y, "z": np.full_like(x, np.nan)}, {"n": n}, {"z": x + y}, 0, 0)


def copy(c):
    for dtype in ("u1", "i1", "u2", "i2", "f2", "u4", "i4", "f4", "u8", "i8", "f8"):
        for n, block in ((5000, 781), (4096, 1024)):
            x = rng.integers(0, 100, n).astype(dtype)
            c.add(f"copy {dtype} BLOCK={block}", "copy", "copy", "cdiv(n,BLOCK)", {"BLOCK": block}, {"x": x, "y": np.zeros_like(x)},
                  {"n": n}, {"y": x}, 0, 0)


def gelu(c):
    for dtype, rtol in (("f4", 4e-6), ("f2", 1e-3), ("f8", 4e-6)):
        x = (rng.standard_normal(10000) * 3).astype(dtype)
        v = x.astype(np.float64)
        expected = 0.5 * v * (1 + np.tanh(0.7978845608028654 * (v + 0.044715 * v**3)))
        c.add(f"gelu {dtype}", "gelu", "gelu", "cdiv(n,BLOCK)", {"BLOCK": 1024}, {"x": x, "y": np.full_like(x, np.nan)}, {"n": 10000},
              {"y": expected}, rtol, 1e-6 if dtype != "f2" else 1e-4)


def rgb_to_grey(c):
    for h, w, bh, bw in ((150, 225, 32, 32), (64, 512, 4, 512), (33, 17, 6, 10), (1, 1, 32, 32)):
        rgb = rng.integers(0, 256, (3, h, w)).astype(np.uint8)
        f = rgb.astype(np.float32)
        expected = np.float32(0.2989) * f[0] + np.float32(0.5870) * f[1] + np.float32(0.1140) * f[2]
        c.add(f"rgb_to_grey {h}x{w} tiles {bh}x{bw}", "rgb_to_grey", "rgb_to_grey", "cdiv(h,BH),cdiv(w,BW)", {"BH": bh, "BW": bw},
              {"rgb": rgb, "grey": np.zeros((h, w), np.uint8)}, {"h": h, "w": w}, {"grey": expected.astype(np.uint8)}, 0, 1)


def softmaxes(c):
    for width in (1, 6, 781, 1024, 4096):
        x = rng.standard_normal(width, dtype=np.float32)
        c.add(f"softmax_row WIDTH={width}", "softmax", "softmax_row", "1", {"WIDTH": width}, {"y": np.full_like(x, np.nan), "x": x}, {},
              {"y": softmax(x)}, 4e-6)
    for width, stride in ((6, 8), (781, 784), (1024, 1024)):
        x = rng.standard_normal((37, stride), dtype=np.float32)
        expected = np.full(x.shape, np.nan)
        expected[:, :width] = softmax(x[:, :width])
        y = np.full_like(x, np.nan)
        c.add(f"softmax_rows WIDTH={width}", "softmax", "softmax_rows", "37", {"WIDTH": width}, {"y": y, "x": x},
              {"y_stride": stride, "x_stride": stride}, {"y": expected}, 4e-6)
        for block in {6: (6, 8), 781: (781, 1024), 1024: (1024, 2048)}[width]:
            for warps in (1, 4, 8):
                c.add(f"softmax_masked width={width} BLOCK={block} warps={warps}", "softmax", "softmax_masked", "37", {"BLOCK": block},
                      {"y": y, "x": x}, {"y_stride": stride, "x_stride": stride, "width": width}, {"y": expected}, 4e-6,
                      options=(f"-num-warps={warps}",))
        c.add(f"softmax_persistent width={width}", "softmax", "softmax_persistent", "5", {"BLOCK": 1024}, {"y": y, "x": x},
              {"y_stride": stride, "x_stride": stride, "rows": 37, "width": width}, {"y": expected}, 4e-6)


def exact(c):
    """Rows 784 apart, 781 wide, the arrays ending with the last row's last element: whoever reads past the width reads past the array. On
    a GPU: compute-sanitizer --target-processes all python3 examples.py TKC cuda exact"""
    rows, stride = 5, 784
    for n, block in ((781, 1024), (780, 1024), (6, 8), (781, 781)):
        flat = rng.standard_normal((rows - 1) * stride + n, dtype=np.float32)
        expected = np.full(flat.shape, np.nan)
        for r in range(rows):
            expected[r * stride : r * stride + n] = softmax(flat[r * stride : r * stride + n])
        c.add(f"exact softmax width={n} BLOCK={block}", "softmax", "softmax_masked", str(rows), {"BLOCK": block},
              {"y": np.full_like(flat, np.nan), "x": flat}, {"y_stride": stride, "x_stride": stride, "width": n}, {"y": expected}, 4e-6)
    for n in (1, 781, 1023):
        x = rng.standard_normal(n, dtype=np.float32)
        c.add(f"exact vector_add n={n}", "vector_add", "add", "2", {"BLOCK": 1024}, {"x": x, "y": x, "z": np.full_like(x, np.nan)}, {"n": n},
              {"z": x + x}, 0, 0)


def main():
    c = Cases()
    for group in (vector_add, copy, gelu, rgb_to_grey, softmaxes, exact):
        group(c)
    launches.main(c.cases)


main()
