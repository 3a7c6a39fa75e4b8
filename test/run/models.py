#!/usr/bin/env python3
# The kernels that models are trained and served with, on real input against numpy in double precision: models.py TKC DEVICE [NAME...]
# RUN: %python %s %build/tkc cpu | FileCheck %s
# RUN: %python %s %build/tkc simt | FileCheck %s
# RUN: %if cuda %{ %python %s %build/tkc cuda | FileCheck %s %}
# CHECK: {{^[1-9][0-9]* passed, 0 failed$}}
"""A product with 4-bit weights interleaved, norms, rotary embedding, gated activations, embeddings, sums under a lock, quantization,
convolution. Their text is in Inputs/."""
import math
import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs"))

import launches
from launches import HALF_UNIT, INPUTS, Cases, bound, normal, rng, unwritten


def tiles_of(*sizes):
    return dict(zip(("BM", "BN", "BK"), sizes))


def interleaved_int4(c):
    m, n, k, group = 20, 24, 128, 64
    a, x = normal("fp32", m, k)
    nibbles = rng.integers(0, 16, (n, k)).astype(np.uint8)
    scales = rng.uniform(0.01, 0.1, (n, k // group)).astype(np.float32)
    y = ((nibbles.astype(np.float64) - 8) * np.repeat(scales, group, axis=1)).T
    for precision, bk in (("tf32", 32), ("tf32", 64)):
        c.add(f"int4 BK={bk}", "int4", "int4", "cdiv(m,BM),cdiv(n,BN)", {**tiles_of(16, 16, bk), "GROUP": group},
              {"a": a, "packed": nibbles[:, ::2] | nibbles[:, 1::2] << 4, "scales": scales, "c": unwritten("fp32", m, n)},
              {"m": m, "n": n, "k": k}, {"c": x @ y}, *bound("fp32", x, y, terms=k, precision=precision))


def norms(c):
    for dtype, offset, width, block in (("fp32", False, 300, 512), ("fp16", True, 64, 64), ("bf16", False, 100, 100)):
        (xs, x), (weights, w) = normal(dtype, 5, width), normal(dtype, width)
        expected = x / np.sqrt((x * x).mean(axis=1, keepdims=True) + 1e-6) * (w + offset)
        c.add(f"rms_norm {dtype} OFFSET={offset}", "layers", "rms_norm", 5, {"OFFSET": offset, "BLOCK": block},
              {"x": xs, "weight": weights, "y": unwritten(dtype, 5, width)}, {"width": width, "eps": 1e-6}, {"y": expected},
              4 * HALF_UNIT[dtype] + 1e-6, 16 * HALF_UNIT[dtype] * offset)


def rotary(c):
    positions, heads, d = 6, 3, 32
    angle = np.arange(positions)[:, None] * 10000.0 ** (-np.arange(d // 2) / (d // 2))
    cos, sin = np.cos(angle).astype(np.float32), np.sin(angle).astype(np.float32)
    for neighbours in (False, True):
        for back in (False, True):
            xs, x = normal("fp32", positions, heads, d)
            i, j = (slice(0, None, 2), slice(1, None, 2)) if neighbours else (slice(0, d // 2), slice(d // 2, None))
            s = -sin if back else sin
            expected = np.empty_like(x)
            expected[..., i] = x[..., i] * cos[:, None] - x[..., j] * s[:, None]
            expected[..., j] = x[..., j] * cos[:, None] + x[..., i] * s[:, None]
            c.add(f"rotary NEIGHBOURS={neighbours} BACK={back}", "layers", "rotary", f"{positions},heads",
                  {"D": d, "NEIGHBOURS": neighbours, "BACK": back}, {"x": xs, "cos": cos, "sin": sin}, {"heads": heads}, {"x": expected}, 1e-6, 1e-6)


def gated(c):
    functions = {"silu": lambda v: v / (1 + np.exp(-v)), "gelu": lambda v: 0.5 * v * (1 + np.vectorize(math.erf)(v / math.sqrt(2))),
                 "gelu_tanh": lambda v: 0.5 * v * (1 + np.tanh(math.sqrt(2 / math.pi) * (v + 0.044715 * v**3)))}
    for name, f in functions.items():
        for dtype, block in (("fp32", 128), ("bf16", 100), ("fp16", 256)):
            xs, x = normal(dtype, 4, 2, 300, scale=2)
            c.add(f"gated {name} {dtype}", "layers", "gated", "4,cdiv(width,BLOCK)", {"ACTIVATION": f"'{name}'", "BLOCK": block},
                  {"x": xs, "y": unwritten(dtype, 4, 300)}, {"width": 300}, {"y": f(x[:, 0]) * x[:, 1]},
                  4e-6 + 2.1 * HALF_UNIT[dtype], 2e-6)  # 1 + tanh cancels, whatever the result's type


def tables(c):
    entries, width, rows = 20, 70, 12
    table, t = normal("fp16", entries, width)
    index = rng.integers(-2, entries + 2, rows).astype(np.int64)
    expected = np.where(((index >= 0) & (index < entries))[:, None], t[index.clip(0, entries - 1)], 0)
    c.add("embedding", "layers", "embedding", f"{rows},cdiv(width,BLOCK)", {"BLOCK": 32},
          {"table": table, "index": index, "y": unwritten("fp16", rows, width)}, {"entries": entries, "width": width}, {"y": expected}, 0, 0)
    index = rng.integers(0, 5, 40).astype(np.int32)
    dys, dy = normal("fp16", 40, width)
    expected = np.zeros((5, width))
    np.add.at(expected, index, dy)
    c.add("embedding_dtable", "layers", "embedding_dtable", 40, {"BLOCK": 128},
          {"dy": dys, "index": index, "dtable": np.zeros((5, width), np.float32)}, {"width": width}, {"dtable": expected}, 1e-6, 1e-5)
    groups = 3
    expected = np.stack([dy[g::groups].sum(axis=0) for g in range(groups)])
    c.add("partial_sums under a lock", "layers", "partial_sums", 40, {"BLOCK": 128},
          {"dy": dys, "partial": unwritten("fp32", groups, width), "locks": np.zeros(2 * groups, np.int32)}, {"width": width, "groups": groups},
          {"partial": expected, "locks": np.array([0, 0, 0, 1, 1, 1], np.int32)}, 1e-6, 1e-5)


def quantize(c):
    xs, x = normal("fp32", 6, 200)
    scale = np.abs(xs).max(axis=1) / np.float32(127)
    c.add("quantize", "layers", "quantize", 6, {"BLOCK": 256}, {"x": xs, "q": np.zeros((6, 200), np.int8), "scale": unwritten("fp32", 6)},
          {"width": 200}, {"q": (np.rint(xs / scale[:, None]).astype(np.int8), 0, 0), "scale": scale}, 2e-7, 0)


def convolution(c):
    for channels, h, w, out_channels, kh, kw, stride, pad, bias in ((3, 12, 10, 8, 3, 3, 1, 1, True), (20, 9, 9, 5, 2, 3, 2, 0, False),
                                                                  (16, 7, 7, 16, 1, 1, 1, 0, True)):
        (xs, x), (ws, k), (bs, b) = normal("fp32", 2, channels, h, w), normal("fp32", out_channels, channels, kh, kw), normal("fp32", out_channels)
        padded = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
        oh, ow = (h + 2 * pad - kh) // stride + 1, (w + 2 * pad - kw) // stride + 1
        want = np.zeros((2, out_channels, oh, ow)) + (b[:, None, None] if bias else 0)
        for i in range(kh):
            for j in range(kw):
                want += np.einsum("bchw,oc->bohw", padded[:, :, i : i + oh * stride : stride, j : j + ow * stride : stride], k[:, :, i, j])
        arrays = {"x": xs, "w": ws, "y": unwritten("fp32", 2, out_channels, oh, ow), **({"bias": bs} if bias else {})}
        c.add(f"convolution {channels}x{h}x{w} by {out_channels}x{kh}x{kw} STRIDE={stride} PAD={pad}", "convolution", "convolution",
              "cdiv(out_height*out_width,BM),cdiv(out_channels,BN),2",
              {"KH": kh, "KW": kw, "STRIDE": stride, "PAD": pad, "BM": 16, "BN": 16, "BC": 16, **({} if bias else {"bias": None})}, arrays,
              {"channels": channels, "height": h, "width": w, "out_channels": out_channels, "out_height": oh, "out_width": ow}, {"y": want},
              1e-5, 2e-5)


def main():
    c = Cases(INPUTS)
    for group in (interleaved_int4, norms, rotary, gated, tables, quantize, convolution):
        group(c)
    launches.main(c.cases)


if __name__ == "__main__":
    main()
