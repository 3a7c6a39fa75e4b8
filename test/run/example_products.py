#!/usr/bin/env python3
# The products of matrices among the examples, on real input against numpy in double precision: example_products.py TKC DEVICE [NAME...]
# RUN: %python %s %build/tkc cpu | FileCheck %s
# RUN: %python %s %build/tkc simt | FileCheck %s
# RUN: %if cuda %{ %python %s %build/tkc cuda | FileCheck %s %}
# CHECK: {{^[1-9][0-9]* passed, 0 failed$}}
"""Epilogues, persistent programs, k shared out, batches, groups of different sizes, experts, weights in few bits, products for a few
tokens. Sizes are odd; where a run is slow, smaller."""
import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs"))

import launches
from formats import decode, encode
from launches import HALF_UNIT, Bits, Cases, bound, normal, rng, unwritten
from slowness import is_slow

SMALL = is_slow(sys.argv[2])
ODD = (100, 77, 33) if SMALL else (1000, 777, 333)


def tiles_of(*sizes):
    return dict(zip(("BM", "BN", "BK"), sizes))


def gelu(v):
    return 0.5 * v * (1 + np.tanh(0.7978845608028654 * (v + 0.044715 * v**3)))


ACTIVATIONS = {"none": lambda v: v, "relu": lambda v: np.maximum(v, 0), "gelu": gelu, "silu": lambda v: v / (1 + np.exp(-v))}


def epilogues(c):
    for (m, n, k), tiles, dtype, activation, bias, residual in (
            (ODD, (64, 64, 32), "fp16", "gelu", True, True), ((64, 48, 40), (32, 16, 16), "bf16", "silu", True, False),
            ((33, 65, 100), (16, 32, 32), "fp16", "relu", False, True), ((1, 1, 1), (16, 16, 16), "fp16", "none", False, False)):
        (a, x), (b, y), (w, bias_of), (r, rest) = normal(dtype, m, k, scale=0.3), normal(dtype, k, n, scale=0.3), normal("fp32", n), normal(dtype, m, n)
        want = ACTIVATIONS[activation](x @ y + bias_of * bias) + rest * residual
        given = {**({"bias": w} if bias else {}), **({"residual": r} if residual else {})}
        left_out = {name: None for name in ("bias", "residual") if name not in given}
        rtol, atol = bound(dtype, x, y, terms=k)
        c.add(f"matmul_act {m}x{n}x{k} {dtype} {activation}" + " bias" * bias + " residual" * residual, "matmul_epilogue", "matmul_act",
              "cdiv(m,BM)*cdiv(n,BN)", {**tiles_of(*tiles), "GROUP": 3, "ACTIVATION": f"'{activation}'", **left_out},
              {"a": a, "b": b, **given, "c": unwritten(dtype, m, n)}, {"m": m, "n": n, "k": k, "a_row": k, "b_row": n, "c_row": n},
              {"c": want}, rtol, 1.2 * atol + 4e-6)  # no activation is steeper than 1.13; its own error is a few units of fp32


def persistent(c):
    m, n, k = 70, 50, 90
    tiles = {**tiles_of(16, 16, 32), "GROUP": 2}
    for programs in (1, 3, 100):
        (a, x), (b, y) = normal("fp16", m, k), normal("fp16", k, n)
        c.add(f"matmul_persistent {programs} programs", "matmul_persistent", "matmul_persistent", programs, tiles,
              {"a": a, "b": b, "c": unwritten("fp16", m, n)}, {"m": m, "n": n, "k": k}, {"c": x @ y}, *bound("fp16", x, y, terms=k))
    for kind in ("fp8e4nv", "fp8e5"):
        a, b = (encode(kind, rng.standard_normal(shape)) for shape in ((m, k), (k, n)))
        x, y = decode(kind, a), decode(kind, b)
        c.add(f"matmul_persistent {kind}", "matmul_persistent", "matmul_persistent", 4, tiles,
              {"a": Bits(a, kind), "b": Bits(b, kind), "c": unwritten("fp32", m, n)}, {"m": m, "n": n, "k": k}, {"c": x @ y},
              *bound("fp32", x, y, terms=k))
    a, b = (rng.integers(-128, 128, shape).astype(np.int8) for shape in ((m, k), (k, n)))
    c.add("matmul_persistent int8", "matmul_persistent", "matmul_persistent", 4, tiles,
          {"a": a, "b": b, "c": np.zeros((m, n), np.int32)}, {"m": m, "n": n, "k": k}, {"c": a.astype(np.int32) @ b.astype(np.int32)}, 0, 0)
    m, n, k = (100, 72, 40) if SMALL else (1000, 776, 336)
    for programs, dtype in ((1, "fp16"), (7, "bf16")):
        (a, x), (b, y) = normal(dtype, m, k), normal(dtype, k, n)
        c.add(f"matmul_descriptors {m}x{n}x{k} {programs} programs {dtype}", "matmul_persistent", "matmul_descriptors", programs,
              {**tiles_of(64, 32, 32), "GROUP": 3}, {"a": a, "b": b, "c": unwritten(dtype, m, n)}, {"m": m, "n": n, "k": k}, {"c": x @ y},
              *bound(dtype, x, y, terms=k))


def split_k(c):
    for (m, n, k), tiles, split, dtype in (((48, 40, 300), (16, 16, 16), 4, "fp16"), ((33, 17, 100), (16, 16, 24), 3, "bf16"),
                                           ((5, 7, 20), (16, 16, 16), 4, "fp16"), ((20, 30, 4097 // (8 if SMALL else 1)), (16, 32, 32), 8, "fp16")):
        (a, x), (b, y) = normal(dtype, m, k), normal(dtype, k, n)
        defines, numbers, name = {**tiles_of(*tiles), "SPLIT": split}, {"m": m, "n": n, "k": k}, f"{m}x{n}x{k} SPLIT={split} {dtype}"
        c.add(f"split_k_atomic {name}", "matmul_split_k", "split_k_atomic", "cdiv(m,BM)*cdiv(n,BN),SPLIT", defines,
              {"a": a, "b": b, "c": np.zeros((m, n), np.float32)}, numbers, {"c": x @ y}, *bound("fp32", x, y, terms=k))
        piece = np.arange(k) // tiles[2] % split
        parts = np.stack([x[:, piece == p] @ y[piece == p] for p in range(split)])
        c.add(f"split_k_parts {name}", "matmul_split_k", "split_k_parts", "cdiv(m,BM)*cdiv(n,BN),SPLIT", defines,
              {"a": a, "b": b, "parts": unwritten("fp32", split, m, n)}, numbers, {"parts": parts}, *bound("fp32", x, y, terms=k))
        given = parts.astype(np.float32)
        c.add(f"sum_parts {name}", "matmul_split_k", "sum_parts", "cdiv(count,BLOCK)", {"SPLIT": split, "BLOCK": 128},
              {"parts": given, "c": unwritten("fp16", m, n)}, {"count": m * n}, {"c": given.astype(np.float64).sum(axis=0)}, 1.01 * HALF_UNIT["fp16"], 1e-4)


def many(c):
    for (m, n, k), batch, shared, dtype in ((ODD, 2, False, "fp16"), ((17, 40, 50), 3, True, "bf16")):
        (a, x), (b, y) = normal(dtype, batch, m, k), normal(dtype, *(() if shared else (batch,)), k, n)
        c.add(f"matmul_batched {batch} of {m}x{n}x{k} {dtype}" + " shared" * shared, "matmul_batched", "matmul_batched",
              f"cdiv(m,BM)*cdiv(n,BN),{batch}", tiles_of(32, 32, 32), {"a": a, "b": b, "c": unwritten(dtype, batch, m, n)},
              {"m": m, "n": n, "k": k, "a_batch": m * k, "a_row": k, "b_batch": 0 if shared else k * n, "b_row": n}, {"c": x @ y},
              *bound(dtype, x, y, terms=k))
    sizes = [(20, 30, 40), (16, 16, 16), (5, 70, 33), (64, 1, 8), (1, 63, 100)]
    parts = [(normal("fp16", m, k), normal("fp16", k, n)) for m, n, k in sizes]
    starts = np.cumsum([(0, 0, 0)] + [(m * k, k * n, m * n) for m, n, k in sizes], axis=0)[:-1].astype(np.int64)
    a, b = (np.concatenate([p[i][0].ravel() for p in parts]) for i in (0, 1))
    want = np.concatenate([(p[0][1] @ p[1][1]).ravel() for p in parts])
    for programs in (1, 3):
        c.add(f"matmul_many {programs} programs", "matmul_batched", "matmul_many", programs, tiles_of(16, 16, 16),
              {"a": a, "b": b, "c": unwritten("fp16", want.size), "sizes": np.array(sizes, np.int32), "starts": starts}, {"count": len(sizes)},
              {"c": want}, *bound("fp16", np.ones((1, 100)), np.full((100, 1), 4.0), terms=100))


def experts(c):
    tokens, n, k, count, bm = 30, 40, 50, 4, 16
    (xs, x), (ws, w) = normal("fp16", tokens, k), normal("fp16", count, n, k)
    chosen = rng.integers(0, count - 1, tokens)  # nobody asks the last
    order, expert, want = [], [], np.empty((tokens, n))
    for e in range(count):
        own = np.flatnonzero(chosen == e)
        own_runs = -(-len(own) // bm)
        order += [*own, *[tokens] * (own_runs * bm - len(own))]
        expert += [e] * own_runs
        want[own] = x[own] @ w[e].T
    order += [tokens] * bm
    expert += [-1]
    c.add("experts", "matmul_batched", "experts", f"{len(expert)},cdiv(n,BN)", tiles_of(bm, 16, 32),
          {"x": xs, "weights": ws, "y": unwritten("fp16", tokens, n), "order": np.array(order, np.int32), "expert": np.array(expert, np.int32)},
          {"tokens": tokens, "n": n, "k": k}, {"y": want}, *bound("fp16", x, w[0].T, terms=2 * k))


def int4_weights(n, k, group, dtype):
    """Packed bytes, scales, and the k x n numbers they stand for: in a group, byte i holds elements i and i + group / 2. What the kernel
    rounds to dtype, (q - 8) * scale, is rounded here, too."""
    nibbles = rng.integers(0, 16, (n, k // group, group)).astype(np.uint8)
    scales, s = normal(dtype, n, k // group, scale=0.1)
    packed = (nibbles[..., : group // 2] | nibbles[..., group // 2 :] << 4).reshape(n, k // 2)
    y = (nibbles.astype(np.float64) - 8) * s[..., None]
    return packed, scales, y.reshape(n, k).T


def rounded(dtype, x):
    return x.astype(np.float16).astype(np.float64) if dtype == "fp16" else decode(dtype, encode(dtype, x))


def quantized(c):
    for (m, n, k), tiles, dtype in ((ODD, (32, 64, 32), "fp16"), ((20, 24, 99), (16, 16, 32), "bf16")):
        xs, x = normal(dtype, m, k)
        w, (scales, s) = rng.integers(-128, 128, (n, k)).astype(np.int8), normal("fp32", n, scale=0.01)
        y = (w * s[:, None]).T
        c.add(f"matmul_int8 {m}x{n}x{k} {dtype}", "matmul_quantized", "matmul_int8", "cdiv(m,BM)*cdiv(n,BN)", tiles_of(*tiles),
              {"x": xs, "w": w, "scales": scales, "y": unwritten(dtype, m, n)}, {"m": m, "n": n, "k": k}, {"y": x @ y}, *bound(dtype, x, y, terms=k))
    for (m, n, k), tiles, group, dtype in (((33, 77, 256), (32, 32), 64, "fp16"), ((50, 24, 384), (16, 64), 128, "bf16")):
        xs, x = normal(dtype, m, k)
        packed, scales, y = int4_weights(n, k, group, dtype)
        y = rounded(dtype, y)
        c.add(f"matmul_int4 {m}x{n}x{k} GROUP={group} {dtype}", "matmul_quantized", "matmul_int4", "cdiv(m,BM)*cdiv(n,BN)",
              {**tiles_of(*tiles), "GROUP": group}, {"x": xs, "packed": packed, "scales": scales, "y": unwritten(dtype, m, n)},
              {"m": m, "n": n, "k": k, "w_row": k // 2}, {"y": x @ y}, *bound(dtype, x, y, terms=k))
    m, n, k = (50, 77, 96) if SMALL else (1000, 777, 336)
    for kind in ("fp8e4nv", "fp8e5"):
        a, b = (encode(kind, rng.standard_normal(shape)) for shape in ((m, k), (n, k)))
        (sa, s), (sb, t) = normal("fp32", m), normal("fp32", n)
        x, y = decode(kind, a) * s[:, None], decode(kind, b).T * t
        c.add(f"matmul_fp8 {m}x{n}x{k} {kind}", "matmul_quantized", "matmul_fp8", "cdiv(m,BM)*cdiv(n,BN)", tiles_of(32, 32, 64),
              {"x": Bits(a, kind), "w": Bits(b, kind), "x_scales": sa, "w_scales": sb, "y": unwritten("fp32", m, n)},
              {"m": m, "n": n, "k": k}, {"y": x @ y}, *bound("fp32", x, y, terms=k))


def decoding(c):
    for n, k, bn, bk in ((70, 999, 8, 256), (33, 64, 16, 128)):
        (xs, x), (w, y) = normal("fp16", k), normal("fp16", n, k)
        c.add(f"decode_row {n}x{k}", "matmul_decode", "decode_row", "cdiv(n,BN)", {"BN": bn, "BK": bk},
              {"x": xs, "w": w, "y": unwritten("fp16", n)}, {"n": n, "k": k}, {"y": y @ x}, *bound("fp16", x[None], y.T, terms=k))
    for n, k, bn, groups, group in ((70, 640, 8, 4, 64), (33, 384, 4, 4, 128)):
        xs, x = normal("fp16", k)
        packed, scales, y = int4_weights(n, k, group, "fp16")
        c.add(f"decode_row_int4 {n}x{k} GROUP={group}", "matmul_decode", "decode_row_int4", "cdiv(n,BN)", {"BN": bn, "GROUPS": groups, "GROUP": group},
              {"x": xs, "packed": packed, "scales": scales, "y": unwritten("fp16", n)}, {"n": n, "k": k, "w_row": k // 2}, {"y": x @ y},
              *bound("fp16", x[None], np.abs(y) + 16 * np.abs(y).max(), terms=k))  # the sums of 15 q and of 8 that are taken apart again
    for m in (1, 4, 16):
        n, k = 70, 999
        (xs, x), (w, y) = normal("fp16", m, k), normal("fp16", n, k)
        behind = np.full(-xs.size % 8, np.nan, np.float16)  # no copy reads it; compute-sanitizer takes each for 16 bytes
        c.add(f"decode_rows {m}x{n}x{k}", "matmul_decode", "decode_rows", "cdiv(n,BN),SPLIT", {"BN": 64, "BK": 128, "SPLIT": 3},
              {"x": np.append(xs, behind), "w": w, "y": np.zeros((m, n), np.float32)}, {"m": m, "n": n, "k": k}, {"y": x @ y.T}, *bound("fp32", x, y.T, terms=k))
        n, k, group = 33, 640, 64
        xs, x = normal("fp16", m, k)
        packed, scales, y = int4_weights(n, k, group, "fp16")
        y = rounded("fp16", y)
        c.add(f"decode_rows_int4 {m}x{n}x{k}", "matmul_decode", "decode_rows_int4", "cdiv(n,BN),SPLIT", {"BN": 16, "SPLIT": 4, "GROUP": group},
              {"x": xs, "packed": packed, "scales": scales, "y": np.zeros((m, n), np.float32)}, {"m": m, "n": n, "k": k, "w_row": k // 2}, {"y": x @ y},
              *bound("fp32", x, y, terms=k))


def main():
    c = Cases()
    for group in (epilogues, persistent, split_k, many, experts, quantized, decoding):
        group(c)
    launches.main(c.cases)


main()
