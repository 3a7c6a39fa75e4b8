#!/usr/bin/env python3
# The kernels people write first, on real input against numpy in double precision: kernels.py TKC DEVICE [NAME...]
# RUN: %python %s %build/tkc cpu | FileCheck %s
# RUN: %python %s %build/tkc simt | FileCheck %s
# RUN: %if cuda %{ %python %s %build/tkc cuda | FileCheck %s %}
# CHECK: {{^[1-9][0-9]* passed, 0 failed$}}
"""Products of matrices, layer norm, cross entropy, attention, dropout (examples/), and kernels built on block pointers, declared
extents, scans and sorts (Inputs/*.tk)."""
import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs"))

import launches
from launches import EXAMPLES, HALF_UNIT, INPUTS, Cases, bound, normal, rng, unwritten


# ---- products ----

def strided(c, kernel, m, n, k, tiles, dtype="fp16", out="fp32", transposed=False, **defines):
    a, x = normal(dtype, m, k)
    b, y = normal(dtype, k, n)
    b_row, b_col = (1, k) if transposed else (n, 1)
    given = np.ascontiguousarray(b.T) if transposed else b
    numbers = {"m": m, "n": n, "k": k, "a_row": k, "a_col": 1, "b_row": b_row, "b_col": b_col, "c_row": n, "c_col": 1}
    name = f"{kernel} {m}x{n}x{k} tiles {tiles} {dtype} to {out}" + " transposed" * transposed
    c.add(name, "matmul", kernel, "cdiv(m,BM),cdiv(n,BN)", {**dict(zip(("BM", "BN", "BK"), tiles)), **defines},
          {"a": a, "b": given, "c": unwritten(out, m, n)}, numbers, {"c": x @ y}, *bound(out, x, y, terms=k))


def matmul(c):
    for m, n, k, tiles in ((3, 5, 4, (16, 16, 16)), (64, 64, 64, (16, 32, 16)), (100, 70, 50, (32, 16, 64)), (65, 127, 33, (24, 40, 12)),
                           (1, 300, 129, (5, 128, 7))):
        strided(c, "matmul_naive", m, n, k, tiles)
        strided(c, "matmul_grouped", m, n, k, tiles, GROUP=3)
    strided(c, "matmul_naive", 512, 512, 512, (16, 16, 16), out="fp16")
    strided(c, "matmul_grouped", 512, 512, 512, (16, 16, 16), out="fp16", GROUP=32)
    strided(c, "matmul_naive", 80, 90, 100, (16, 16, 16), "fp32", transposed=True)
    strided(c, "matmul_grouped", 80, 90, 100, (16, 16, 16), "fp32", "fp16", transposed=True, GROUP=2)
    for m, n, k, tiles, dtype, out, precision in (
            (256, 256, 128, (64, 64, 32), "fp16", "fp32", "tf32"), (200, 136, 72, (64, 32, 32), "fp16", "fp16", "tf32"),
            (96, 112, 200, (48, 56, 40), "bf16", "bf16", "tf32"), (128, 64, 104, (64, 64, 64), "bf16", "fp32", "tf32"),
            (100, 120, 96, (32, 32, 32), "fp32", "fp32", "ieee"), (100, 120, 96, (32, 32, 32), "fp32", "fp32", "tf32"),
            (100, 120, 96, (32, 32, 32), "fp32", "fp32", "tf32x3")):
        (a, x), (b, y) = normal(dtype, m, k), normal(dtype, k, n)
        rounds = precision if dtype == "fp32" else "ieee"
        for relu in (False, True):
            expected = np.maximum(x @ y, 0) if relu else x @ y
            c.add(f"matmul {m}x{n}x{k} tiles {tiles} {dtype} to {out} {precision}" + " relu" * relu, "matmul", "matmul",
                  "cdiv(m,BM)*cdiv(n,BN)", {**dict(zip(("BM", "BN", "BK"), tiles)), "GROUP": 3, "RELU": relu, "PRECISION": f"'{precision}'"},
                  {"a": a, "b": b, "c": unwritten(out, m, n)}, {"m": m, "n": n, "k": k, "a_row": k, "b_row": n, "c_row": n},
                  {"c": expected}, *bound(out, x, y, terms=k, precision=rounds))
    for depth, m, n, k, s in ((5, 16, 16, 16, 2), (7, 6, 10, 3, 3)):
        (a, x), (b, y) = normal("fp32", depth, m, k), normal("fp32", depth, k, n)
        c.add(f"matmul_stack {depth} of {m}x{n}x{k}, {s} a program", "matmul", "matmul_stack", "cdiv(depth,S)",
              {"M": m, "N": n, "K": k, "S": s}, {"a": a, "b": b, "c": unwritten("fp32", depth, m, n)}, {"depth": depth}, {"c": x @ y},
              *bound("fp32", x, y, terms=k))


def swizzle(c):
    for h, w, group in ((5, 4, 3), (6, 3, 2), (1, 7, 4), (7, 1, 3), (4, 4, 1)):
        expected = np.zeros((h, w), np.int32)
        order = ((i, j) for first in range(0, h, group) for j in range(w) for i in range(first, min(first + group, h)))
        for number, (i, j) in enumerate(order):
            expected[i, j] = number
        c.add(f"swizzle {h}x{w} GROUP={group}", "swizzle", "swizzle", f"{h},{w}", {"GROUP": group}, {"z": np.full((h, w), -1, np.int32)}, {},
              {"z": expected}, 0, 0)


# ---- normalization and loss ----

def layer_norm(c):
    for rows, width, stride, block, dtype in ((7, 1000, 1000, 256, "fp32"), (5, 781, 784, 1024, "fp32"), (4, 64, 64, 64, "fp16"),
                                              (6, 300, 304, 100, "bf16"), (3, 1, 1, 8, "fp32")):
        xs, x = normal(dtype, rows, stride, scale=2)
        (weights, w), (biases, b) = normal(dtype, width), normal(dtype, width)
        v = x[:, :width] + 0.0
        mean, variance = v.mean(axis=1), v.var(axis=1)
        rstd = 1 / np.sqrt(variance + 1e-5)
        unit = (v - mean[:, None]) * rstd[:, None]
        expected = np.full((rows, stride), np.nan)
        expected[:, :width] = unit * w + b
        near = 1.01 * HALF_UNIT[dtype]
        c.add(f"layer_norm {rows}x{width} BLOCK={block} {dtype}", "layer_norm", "layer_norm", rows, {"BLOCK": block},
              {"x": xs, "weight": weights, "bias": biases, "y": unwritten(dtype, rows, stride), "mean": unwritten("fp32", rows),
               "rstd": unwritten("fp32", rows)}, {"width": width, "stride": stride, "eps": 1e-5},
              {"y": (expected, near, 1e-5), "mean": (mean, 1e-6, 1e-6), "rstd": (rstd, 1e-5, 0)})
        dys, dy = normal(dtype, rows, stride)
        d = dy[:, :width]
        g = d * w
        dx = np.full((rows, stride), np.nan)
        dx[:, :width] = (g - unit * (g * unit).mean(axis=1, keepdims=True) - g.mean(axis=1, keepdims=True)) * rstd[:, None]
        kept = {"mean": mean.astype(np.float32), "rstd": rstd.astype(np.float32)}
        c.add(f"layer_norm_dx {rows}x{width} {dtype}", "layer_norm", "layer_norm_dx", rows, {"BLOCK": 1 << (width - 1).bit_length()},
              {"dy": dys, "x": xs, "weight": weights, **kept, "dx": unwritten(dtype, rows, stride)}, {"width": width, "stride": stride},
              {"dx": dx}, near, 1e-5 * rstd.max())
        c.add(f"layer_norm_dw {rows}x{width} {dtype}", "layer_norm", "layer_norm_dw", "cdiv(width,BLOCK)", {"BLOCK_ROWS": 4, "BLOCK": 48},
              {"dy": dys, "x": xs, **kept, "dweight": unwritten("fp32", width), "dbias": unwritten("fp32", width)},
              {"rows": rows, "width": width, "stride": stride},
              {"dweight": (d * unit).sum(axis=0), "dbias": d.sum(axis=0)}, 1e-5, 1e-5)


def cross_entropy(c):
    for rows, classes, block, dtype, smoothing in ((9, 1000, 256, "fp32", 0), (9, 777, 1024, "fp32", 0.1), (5, 4099, 1000, "fp16", 0),
                                                   (6, 513, 128, "bf16", 0.25)):
        logits, x = normal(dtype, rows, classes, scale=3)
        labels = rng.integers(0, classes, rows)
        labels[rows // 2] = -100
        counted = labels != -100
        target = np.full((rows, classes), smoothing / classes)
        target[np.arange(rows), np.where(counted, labels, 0)] += 1 - smoothing
        top = x.max(axis=1, keepdims=True)
        lse = (top + np.log(np.exp(x - top).sum(axis=1, keepdims=True)))[:, 0]
        loss = np.where(counted, lse - (target * x).sum(axis=1), 0)
        defines = {"BLOCK": block, **({"SMOOTHING": smoothing} if smoothing else {})}
        name = f"{rows}x{classes} BLOCK={block} {dtype} SMOOTHING={smoothing}"
        c.add("cross_entropy " + name, "cross_entropy", "cross_entropy", rows, defines,
              {"logits": logits, "labels": labels, "loss": unwritten("fp32", rows), "lse": unwritten("fp32", rows)},
              {"classes": classes, "stride": classes}, {"loss": loss, "lse": lse}, 2e-6, 2e-6)
        given, dloss = normal("fp32", rows)
        expected = (np.exp(x - lse[:, None]) - target) * np.where(counted, dloss, 0)[:, None]
        c.add("cross_entropy_backward " + name, "cross_entropy", "cross_entropy_backward", f"{rows},cdiv(classes,BLOCK)", defines,
              {"logits": logits, "labels": labels, "lse": lse.astype(np.float32), "dloss": given, "dlogits": unwritten(dtype, rows, classes)},
              {"classes": classes, "stride": classes}, {"dlogits": expected}, 2e-6 + 1.01 * HALF_UNIT[dtype],
              1e-7 if dtype != "fp16" else 2.0**-24)


def softmax_backward(c):
    for rows, width, block in ((9, 781, 1024), (16, 64, 64), (5, 100, 100)):
        logits = rng.standard_normal((rows, width))
        e = np.exp(logits)
        y = (e / e.sum(axis=1, keepdims=True)).astype(np.float32)
        dys, dy = normal("fp32", rows, width)
        p = y.astype(np.float64)
        expected = p * (dy - (p * dy).sum(axis=1, keepdims=True))
        arrays = {"y": y, "dy": dys, "dx": unwritten("fp32", rows, width)}
        c.add(f"softmax_dx {rows}x{width}", "softmax_backward", "softmax_dx", rows, {"BLOCK": block}, arrays,
              {"width": width, "stride": width}, {"dx": expected}, 2e-6, 1e-6 * p.max())
        c.add(f"softmax_dx_rows {rows}x{width}", "softmax_backward", "softmax_dx_rows", "cdiv(rows,BLOCK_ROWS)",
              {"BLOCK_ROWS": 4, "BLOCK": block}, arrays, {"rows": rows, "width": width}, {"dx": expected}, 2e-6, 1e-6 * p.max())
    n = 77
    xs, x = normal("fp16", n, n)
    e = np.tril(np.exp(x * 0.5))
    c.add("softmax_causal", "softmax_backward", "softmax_causal", n, {"BLOCK": 128}, {"x": xs, "y": unwritten("fp32", n, n)},
          {"width": n, "scale": 0.5}, {"y": e / e.sum(axis=1, keepdims=True)}, 4e-6, 0)


# ---- attention ----

def attention(c):
    for batch, heads, n, n_k, d, dtype, bm, bn, causal, share, precision in (
            (1, 2, 128, 128, 64, "fp16", 64, 32, False, 1, "tf32"), (1, 2, 128, 128, 64, "fp16", 64, 32, True, 1, "tf32"),
            (2, 2, 100, 75, 32, "fp32", 32, 16, False, 1, "ieee"), (2, 4, 100, 100, 16, "fp32", 32, 64, True, 2, "ieee"),
            (1, 2, 50, 130, 128, "bf16", 16, 64, True, 1, "tf32"), (1, 3, 70, 41, 80, "fp16", 24, 20, True, 3, "tf32"),
            (1, 1, 200, 200, 48, "fp32", 64, 64, True, 1, "tf32"), (1, 4, 1, 333, 64, "fp16", 1, 64, False, 4, "tf32")):
        (qs, q), (ks, k), (vs, v) = (normal(dtype, batch, h, rows, d) for h, rows in ((heads, n), (heads // share, n_k), (heads // share, n_k)))
        k, v = np.repeat(k, share, axis=1), np.repeat(v, share, axis=1)
        scale = round(d**-0.5, 4)
        scores = q @ k.swapaxes(2, 3) * scale
        if causal:
            scores = np.where(np.arange(n_k) <= np.arange(n)[:, None] + n_k - n, scores, -np.inf)
        top = scores.max(axis=3, keepdims=True)
        e = np.exp(scores - np.where(top == -np.inf, 0, top))
        total = e.sum(axis=3, keepdims=True)
        p = e / np.where(total > 0, total, 1)
        with np.errstate(divide="ignore"):
            lse = (np.where(top == -np.inf, 0, top) + np.log(total))[..., 0] / np.log(2)
        unit = HALF_UNIT[dtype] if dtype != "fp32" else HALF_UNIT["fp16"] if precision == "tf32" else 2.0**-22
        wrong_score = 0 if dtype != "fp32" else (np.abs(q) @ np.abs(k).swapaxes(2, 3)).max() * scale * 2 * unit  # factors rounded to tf32
        atol = (np.abs(p) @ np.abs(v)).max() * (2 * unit + 2 * wrong_score + 2.0**-18)
        c.add(f"attention {batch}x{heads} {n} by {n_k}, D={d} {dtype} BM={bm} BN={bn}" + " causal" * causal + f" SHARE={share} {precision}",
              "attention", "attention", f"cdiv(n,BM),{batch * heads}",
              {"D": d, "BM": bm, "BN": bn, "CAUSAL": causal, "SHARE": share, "PRECISION": f"'{precision}'"},
              {"q": qs, "k": ks, "v": vs, "o": unwritten(dtype, batch, heads, n, d), "lse": unwritten("fp32", batch, heads, n)},
              {"heads": heads, "n": n, "n_k": n_k, "scale": scale},
              {"o": (p @ v, 1.01 * HALF_UNIT[dtype], atol), "lse": (lse, 1e-5, 2e-5 + 2 * wrong_score)})


# ---- chance ----

def philox(seed, counter):
    """Philox with 10 rounds on 32-bit words, as published (Salmon and others, 2011): four words for each counter (counter, 0, 0, 0)."""
    low = np.uint64(0xFFFFFFFF)
    c = [counter.astype(np.uint64)] + [np.zeros(counter.shape, np.uint64)] * 3
    k = [seed & 0xFFFFFFFF, seed >> 32]
    for _ in range(10):
        a, b = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [b >> np.uint64(32) ^ c[1] ^ np.uint64(k[0]), b & low, a >> np.uint64(32) ^ c[3] ^ np.uint64(k[1]), a & low]
        k = [k[0] + 0x9E3779B9 & 0xFFFFFFFF, k[1] + 0xBB67AE85 & 0xFFFFFFFF]
    return [w.astype(np.uint32) for w in c]


def uniform(word):
    """[0, 1): distance from zero of the word as a signed integer, times a little less than 2^-31."""
    signed = word.view(np.int32)
    return np.where(signed < 0, ~signed, signed).astype(np.float32) * np.float32(4.6566127342e-10)


def dropout(c):
    for n, p, seed, block, dtype in ((10000, 0.25, 123, 1024, "fp32"), (777, 0.5, 0, 781, "fp16"), (5000, 0.75, 2**31 - 1, 512, "bf16")):
        xs, x = normal(dtype, n)
        stays = uniform(philox(seed, np.arange(n))[0]) > np.float32(p)
        assert abs(stays.mean() - (1 - p)) < 0.05
        c.add(f"dropout n={n} p={p} seed={seed} {dtype}", "dropout", "dropout", "cdiv(n,BLOCK)", {"BLOCK": block},
              {"x": xs, "y": unwritten(dtype, n)}, {"n": n, "p": p, "seed": seed}, {"y": np.where(stays, x / (1 - p), 0)},
              2e-7 + 1.01 * HALF_UNIT[dtype], 0)
    rows, width, block, p = 3, 1000, 128, 0.25
    (xs, x), (rs, r) = normal("fp32", rows, width), normal("fp32", rows, width)
    seeds = np.array([7, 0, 12345], np.int32)
    col = np.arange(width)
    counter, word = col // (4 * block) * 4 * block + col % block, col // block % 4
    chance = np.stack([uniform(np.choose(word, philox(int(s), counter))) for s in seeds])
    c.add("dropout_add", "dropout", "dropout_add", f"{rows},cdiv(width,4*BLOCK)", {"BLOCK": block},
          {"x": xs, "residual": rs, "y": unwritten("fp32", rows, width), "seeds": seeds}, {"width": width, "p": p},
          {"y": np.where(chance > p, x / (1 - p), 0) + r}, 2e-7, 1e-6)


# ---- other ways to name memory ----

def stencil(c):
    for h, w, bh, bw in ((30, 50, 16, 16), (7, 5, 10, 3), (64, 64, 8, 64), (1, 1, 4, 4)):
        xs, x = normal("fp32", h, w)
        p = np.pad(x, 1)
        c.add(f"stencil {h}x{w} tiles {bh}x{bw}", "stencil", "stencil", "cdiv(h,BH),cdiv(w,BW)", {"BH": bh, "BW": bw},
              {"x": xs, "y": unwritten("fp32", h, w)}, {"h": h, "w": w},
              {"y": (p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:]) / 4}, 1e-6, 1e-6)


def extents(c):
    for m, n, k, tiles in ((33, 47, 29, (16, 16, 16)), (64, 32, 16, (32, 32, 16)), (5, 100, 50, (7, 33, 10))):
        (a, x), (b, y) = normal("fp32", m, k), normal("fp32", k, n)
        c.add(f"extents product {m}x{n}x{k} tiles {tiles}", "extents", "product", "cdiv(m,BM),cdiv(n,BN)", dict(zip(("BM", "BN", "BK"), tiles)),
              {"a": a, "b": b, "c": unwritten("fp32", m, n)}, {"m": m, "n": n, "k": k}, {"c": x @ y}, *bound("fp32", x, y, terms=k))
    flat, numbers = normal("fp16", 4 * 112 + 100)
    rows = np.stack([numbers[i * 112 : i * 112 + 100] for i in range(5)])
    c.add("extents norms", "extents", "norms", 8, {"BW": 64}, {"x": flat, "y": unwritten("fp32", 5)}, {"h": 5, "w": 100, "pitch": 112},
          {"y": np.sqrt((rows * rows).sum(axis=1))}, 1e-5, 0)


def block_pointers(c):
    for m, n, k, tiles, dtype in ((33, 47, 29, (16, 16, 16), "fp16"), (64, 32, 16, (32, 32, 16), "fp32"), (70, 50, 90, (20, 50, 30), "bf16")):
        (a, x), (b, y) = normal(dtype, m, k), normal(dtype, n, k)
        c.add(f"block_pointers product {m}x{n}x{k} tiles {tiles} {dtype}", "block_pointers", "product", "cdiv(m,BM),cdiv(n,BN)",
              dict(zip(("BM", "BN", "BK"), tiles)), {"a": a, "b": b, "c": unwritten(dtype, m, n)}, {"m": m, "n": n, "k": k},
              {"c": x @ y.T}, *bound(dtype, x, y.T, terms=k))
    x = rng.standard_normal((20, 30)).astype(np.float32)
    for top, left, bh, bw, padding in ((-2, -3, 16, 16, "nan"), (10, 20, 16, 16, "zero"), (-1, -1, 22, 32, "nan"), (30, 0, 4, 4, "zero")):
        framed = np.full((100, 100), np.nan if padding == "nan" else 0, np.float32)
        framed[40:60, 40:70] = x
        c.add(f"block_pointers framed at {top},{left} {bh}x{bw} {padding}", "block_pointers", "framed", 1,
              {"BH": bh, "BW": bw, "PADDING": f"'{padding}'"}, {"x": x, "y": np.full((bh, bw), 7, np.float32)},
              {"h": 20, "w": 30, "top": top, "left": left}, {"y": framed[40 + top : 40 + top + bh, 40 + left : 40 + left + bw]}, 0, 0)
    # Nothing is inside: no rows, fewer than none, and rows whose numbers pass the ends of int32.
    for h, top, left in ((0, 0, 0), (-3, 0, 0), (20, 2**31 - 8, 0), (20, -(2**31), 3), (2**31 - 1, -16, 0), (20, 0, -(2**31))):
        c.add(f"block_pointers framed of {h} rows at {top},{left}", "block_pointers", "framed", 1, {"BH": 16, "BW": 16, "PADDING": "'nan'"},
              {"x": x, "y": np.full((16, 16), 7, np.float32)}, {"h": h, "w": 30, "top": top, "left": left}, {"y": np.full((16, 16), np.nan, np.float32)}, 0, 0)
    c.add("block_pointers beyond int32", "block_pointers", "beyond", 1, {}, {"x": x.reshape(-1), "y": unwritten("fp32", 64)}, {"h": 600, "far": 2**31 - 1},
          {"y": np.append(np.zeros(48, np.float32), x.reshape(-1)[:16])}, 0, 0)
    c.add("block_pointers column_sums", "block_pointers", "column_sums", 1, {"W": 30, "BH": 8}, {"x": x, "y": unwritten("fp32", 30)}, {"h": 20},
          {"y": x.astype(np.float64).sum(axis=0)}, 1e-5, 1e-5)
    for dtype in (np.float32, np.float16, np.int8, np.int64):
        x = rng.integers(0, 100, (40, 64)).astype(dtype)
        c.add(f"block_pointers transpose {x.dtype}", "block_pointers", "transpose", "cdiv(h,BH),cdiv(w,BW)", {"BH": 16, "BW": 16},
              {"x": x, "y": np.zeros((64, 40), x.dtype)}, {"h": 40, "w": 64}, {"y": x.T.copy()}, 0, 0)


def signature(**blocks):
    """-sig for descriptors: a parameter's name, its elements, its block and its padding."""
    types = (f"{name}=tensordesc<{dtype}{list(block)}{''.join(f', padding={p}' for p in padding)}>"
             for name, (dtype, block, *padding) in blocks.items())
    return ("-sig", ",".join(types))


def descriptor_products(c):
    for m, n, k, tiles, dtype, out in ((64, 32, 48, (16, 16, 16), "fp16", "fp32"), (100, 72, 56, (32, 16, 32), "fp16", "fp16"),
                                       (33, 40, 24, (16, 24, 12), "bf16", "bf16"), (20, 12, 8, (16, 16, 32), "fp32", "fp32")):
        (a, x), (b, y) = normal(dtype, m, k), normal(dtype, n, k)
        bm, bn, bk = tiles
        name = f"{m}x{n}x{k} tiles {tiles} {dtype} to {out}"
        c.add("descriptors product " + name, "descriptors", "product", f"{-(-m // bm)},{-(-n // bn)}", {},
              {"a": a, "b": b, "c": unwritten(out, m, n)}, {}, {"c": x @ y.T}, *bound(out, x, y.T, terms=k),
              options=signature(a=(dtype, (bm, bk)), b=(dtype, (bn, bk)), c=(out, (bm, bn), "nan")))
        (b, y), (bias, w) = normal(dtype, k, n), normal("fp32", n)
        blocks = {"a": (dtype, (bm, bk)), "b": (dtype, (bk, bn)), "c": (out, (bm, bn))}
        arrays = {"a": a, "b": b, "c": unwritten(out, m, n)}
        c.add("descriptors persistent " + name, "descriptors", "persistent", 5, {}, arrays, {"bias": None}, {"c": x @ y},
              *bound(out, x, y, terms=k), options=signature(**blocks))
        factors = np.hstack([x, np.ones((m, 1))]), np.vstack([y, w[None]])
        c.add("descriptors persistent with bias " + name, "descriptors", "persistent", 3, {}, {**arrays, "bias": bias}, {}, {"c": x @ y + w},
              *bound(out, *factors, terms=k + 1), options=signature(**blocks, bias=("fp32", (bn,))))


WINDOWS = (((40,), (16,), (30,)), ((5, 32), (4, 16), (3, -8)), ((3, 5, 16), (2, 8, 16), (2, -1, 4)), ((2, 3, 4, 16), (2, 1, 4, 16), (1, 1, 2, 10)),
           ((2, 2, 3, 2, 16), (1, 2, 2, 5, 16), (1, 0, 2, -1, 1)))


def descriptor_windows(c):
    for (shape, block, at), dtype in ((w, d) for w in WINDOWS for d in ("fp32", "fp16", "bf16", "int32", "uint8", "int64")):
        is_float = dtype in HALF_UNIT
        x = normal(dtype, *shape) if is_float else (rng.integers(0, 100, shape).astype(dtype),) * 2
        for padding in ("zero", "nan") if is_float else ("zero",):
            framed = np.pad(x[1], [(n, n) for n in block], constant_values=np.nan if padding == "nan" else 0)
            expected = framed[tuple(slice(n + a, 2 * n + a) for a, n in zip(at, block))]
            c.add(f"descriptors window of rank {len(shape)} {dtype} {padding}", "descriptors", "window", 1,
                  {"AT": f"({','.join(map(str, at))},)", "FIRST": f"({'0,' * len(at)})"},
                  {"x": x[0], "y": unwritten(dtype, *block) if is_float else np.full(block, 7, dtype)}, {}, {"y": expected.copy()}, 0, 0,
                  options=signature(x=(dtype, block, padding), y=(dtype, block)))


def descriptors(c):
    x = rng.integers(-50, 50, (30, 40)).astype(np.int32)
    c.add("descriptors increase", "descriptors", "increase", "8,2", {}, {"x": x}, {"by": 3}, {"x": x + 3}, 0, 0,
          options=signature(x=("i32", (4, 32))))
    xs, y = normal("fp16", 37, 104)
    c.add("descriptors row_sums", "descriptors", "row_sums", 5, {}, {"x": xs, "y": unwritten("fp32", 37)}, {}, {"y": y.sum(axis=1)},
          1e-5, 1e-5, options=signature(x=("fp16", (8, 48)), y=("fp32", (8,))))
    a, b = (rng.integers(0, 99, n).astype(np.int16) for n in (100, 70))
    pieces = [np.pad(b if i % 2 else a, (0, 30))[16 * i : 16 * i + 16] for i in range(6)]
    c.add("descriptors either", "descriptors", "either", 6, {}, {"a": a, "b": b, "y": np.zeros(90, np.int16)}, {},
          {"y": np.concatenate(pieces)[:90]}, 0, 0, options=signature(**{n: ("i16", (16,)) for n in "aby"}))
    rows, to = np.array([3, 29, 0, 7, 7, 30, -1, 2], np.int32), np.array([5, 1, 0, 11, 2, 3, 4, 12], np.int32)
    moved = np.full((12, 40), -99, np.int32)
    for i, j in zip(rows, to):
        if j < 12:
            moved[j, 24:] = x[i, 24:] if 0 <= i < 30 else 0
    c.add("descriptors move_rows", "descriptors", "move_rows", 1, {"N": 8, "COLUMN": 24},
          {"x": x, "rows": rows, "y": np.full((12, 40), -99, np.int32), "to": to}, {}, {"y": moved}, 0, 0,
          options=signature(x=("i32", (1, 32)), y=("i32", (1, 32))))
    x = rng.integers(0, 1000, (60, 12)).astype(np.int32)
    blocks = np.pad(x, ((0, 4), (0, 0))).reshape(8, 8, 12)[:, :5]  # the results have 5 rows
    c.add("descriptors combine", "descriptors", "combine", 8, {}, {"x": x, **{n: np.zeros((5, 12), np.int32) for n in ("total", "largest", "bits")}},
          {}, {"total": blocks.sum(axis=0).astype(np.int32), "largest": blocks.max(axis=0), "bits": np.bitwise_or.reduce(blocks)}, 0, 0,
          options=signature(**{n: ("i32", (8, 16)) for n in ("x", "total", "largest", "bits")}))


# ---- across elements ----

def scans(c):
    for n in (128, 100):
        for dtype in (np.float32, np.int32):
            x = (rng.standard_normal(n) * 100).astype(dtype)
            for reverse in (False, True):
                expected = np.maximum.accumulate(x[::-1])[::-1].copy() if reverse else np.maximum.accumulate(x)
                c.add(f"running_max n={n} {x.dtype} REVERSE={reverse}", "scans", "running_max", 1, {"BLOCK": n, "REVERSE": reverse},
                      {"x": x, "y": np.zeros_like(x)}, {}, {"y": expected}, 0, 0)
    for steps, channels, bt, bc in ((100, 20, 16, 8), (37, 5, 10, 5), (64, 64, 64, 32)):
        a = rng.uniform(-1, 1, (steps, channels)).astype(np.float32)
        b, _ = normal("fp32", steps, channels)
        h, state = np.zeros((steps, channels)), np.zeros(channels)
        for t in range(steps):
            h[t] = state = a[t].astype(np.float64) * state + b[t]
        c.add(f"recurrence {steps}x{channels} tiles {bt}x{bc}", "scans", "recurrence", "cdiv(channels,BC)", {"BT": bt, "BC": bc},
              {"a": a, "b": b, "h": unwritten("fp32", steps, channels)}, {"steps": steps, "channels": channels}, {"h": h}, 1e-5, 1e-5)
    x = rng.integers(-5, 6, 90).astype(np.int32)
    kept = x[x > 0]
    expected = np.concatenate([kept, np.full(90 - len(kept), -1)]).astype(np.int32)
    c.add("compact", "scans", "compact", 1, {"BLOCK": 128}, {"x": x, "y": np.full(90, -1, np.int32), "count": np.zeros(1, np.int32)}, {"n": 90},
          {"y": expected, "count": np.array([len(kept)], np.int32)}, 0, 0)


def selection(c):
    x = rng.integers(-50, 50, (6, 300)).astype(np.float32)  # with ties: the first counts
    c.add("row_argmax", "selection", "row_argmax", 6, {"BLOCK": 128}, {"x": x, "best": np.zeros(6, np.int64), "value": np.zeros(6, np.float32)},
          {"width": 300, "stride": 300}, {"best": x.argmax(axis=1), "value": x.max(axis=1)}, 0, 0)
    for dtype in (np.float32, np.float16, np.float64):
        c.add(f"row_argmin {np.dtype(dtype)}", "selection", "row_argmin", 6, {"BLOCK": 300}, {"x": x.astype(dtype), "at": np.zeros(6, np.int32)},
              {"width": 300}, {"at": x.argmin(axis=1).astype(np.int32)}, 0, 0)
    for width, k, dtype in ((64, 8, np.float32), (128, 1, np.float16), (256, 32, np.int32), (100, 8, np.float32)):
        x = (rng.standard_normal((5, width)) * 1000).astype(dtype)
        c.add(f"row_topk {k} of {width} {x.dtype}", "selection", "row_topk", 5, {"WIDTH": width, "K": k},
              {"x": x, "y": np.zeros((5, k), dtype)}, {}, {"y": -np.sort(-x, axis=1)[:, :k]}, 0, 0)
    for width, descending in ((128, False), (128, True), (100, False), (33, True)):
        x = rng.integers(-20, 20, (4, width)).astype(np.int32)
        order = np.argsort(x, axis=1, kind="stable")
        if descending:  # a later place counts as larger
            order = order[:, ::-1]
        c.add(f"row_sort {width} DESCENDING={descending}", "selection", "row_sort", 4, {"WIDTH": width, "DESCENDING": descending},
              {"x": x, "y": np.zeros_like(x), "order": np.zeros_like(x)}, {},
              {"y": np.take_along_axis(x, order, axis=1), "order": order.astype(np.int32)}, 0, 0)
    for n, bins, block in ((1000, 16, 256), (777, 50, 100)):
        x = rng.integers(0, bins, n).astype(np.int32)
        c.add(f"count n={n} BINS={bins} BLOCK={block}", "selection", "count", "cdiv(n,BLOCK)", {"BINS": bins, "BLOCK": block},
              {"x": x, "bins": np.zeros(bins, np.int32)}, {"n": n}, {"bins": np.bincount(x, minlength=bins).astype(np.int32)}, 0, 0)
    p = 2.0 ** -rng.permuted(np.tile(np.r_[1:12, 11], (5, 1)), axis=1)[:, :12]  # exact: sums have no rounding
    p = np.pad(p, ((0, 0), (0, 4)))
    u = rng.uniform(0, 1, 5).astype(np.float32)
    largest = -np.sort(-p, axis=1)
    before = np.cumsum(largest, axis=1) - largest
    size = (before < 0.9).sum(axis=1)
    least = np.where(before < 0.9, largest, np.inf).min(axis=1)
    chosen = np.where(p >= least[:, None], p, 0)
    token = (np.cumsum(chosen, axis=1) > (u * chosen.sum(axis=1).astype(np.float32))[:, None]).argmax(axis=1)
    c.add("nucleus", "selection", "nucleus", 5, {"WIDTH": 16},
          {"probs": p.astype(np.float32), "uniform": u, "token": np.zeros(5, np.int32), "kept": np.zeros(5, np.int32)}, {"p": 0.9},
          {"token": token.astype(np.int32), "kept": size.astype(np.int32)}, 0, 0)
    xs, x = normal("fp16", 5, 300)
    c.add("row_moments", "selection", "row_moments", 5, {"BLOCK": 512},
          {"x": xs, "mean": np.zeros(5, np.float32), "variance": np.zeros(5, np.float32)}, {"width": 300},
          {"mean": x.mean(axis=1), "variance": x.var(axis=1)}, 1e-5, 1e-6)


def main():
    shown, other = Cases(EXAMPLES), Cases(INPUTS)
    for group in (matmul, swizzle, layer_norm, cross_entropy, attention, dropout, stencil):
        group(shown)
    for group in (softmax_backward, extents, block_pointers, descriptor_products, descriptor_windows, descriptors, scans, selection):
        group(other)
    launches.main(shown.cases + other.cases)


if __name__ == "__main__":
    main()
