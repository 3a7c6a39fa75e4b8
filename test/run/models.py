#!/usr/bin/env python3
# The kernels that models are trained and served with, on real input against numpy in double precision: models.py TKC DEVICE [NAME...]
# RUN: %python %s %build/tkc cpu | FileCheck %s
# RUN: %python %s %build/tkc simt | FileCheck %s --check-prefix=CUDA
# RUN: %if cuda %{ %python %s %build/tkc cuda | FileCheck %s --check-prefix=CUDA %}
# CHECK: {{^[0-9]+ passed, 0 failed$}}
# CUDA: {{^[0-9]+ passed, 0 failed(, [0-9]+ refused)?$}}
"""Products with k shared out, in 4 and 8 bits, of many sizes at once; attention's way back; norms, rotary embedding, gated activations,
embeddings, sums under a lock, quantization, pages of keys, experts, convolution, a recurrence in chunks. Their text is in Inputs/."""
import math
import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs"))

import launches
from formats import decode, encode
from launches import HALF_UNIT, INPUTS, Bits, Cases, bound, normal, rng, unwritten


def tiles_of(*sizes):
    return dict(zip(("BM", "BN", "BK"), sizes))


def products(c):
    for m, n, k, tiles, split, dtype in ((48, 40, 300, (16, 16, 16), 4, "fp16"), (33, 17, 100, (16, 16, 24), 3, "bf16")):
        (a, x), (b, y) = normal(dtype, m, k), normal(dtype, k, n)
        c.add(f"split_k {m}x{n}x{k} SPLIT={split} {dtype}", "matmul_variants", "split_k", "cdiv(m,BM)*cdiv(n,BN),SPLIT",
              {**tiles_of(*tiles), "SPLIT": split}, {"a": a, "b": b, "c": np.zeros((m, n), np.float32)}, {"m": m, "n": n, "k": k},
              {"c": x @ y}, *bound("fp32", x, y, terms=k))
    m, n, k = 70, 50, 90
    for programs in (1, 3, 100):
        (a, x), (b, y) = normal("fp16", m, k), normal("fp16", k, n)
        c.add(f"persistent {programs} programs", "matmul_variants", "persistent", programs, {**tiles_of(16, 16, 32), "GROUP": 2},
              {"a": a, "b": b, "c": unwritten("fp16", m, n)}, {"m": m, "n": n, "k": k}, {"c": x @ y}, *bound("fp16", x, y, terms=k))
    for kind in ("fp8e4nv", "fp8e5"):
        a, b = (encode(kind, rng.standard_normal(shape)) for shape in ((m, k), (k, n)))
        x, y = decode(kind, a), decode(kind, b)
        c.add(f"persistent {kind}", "matmul_variants", "persistent", 4, {**tiles_of(16, 16, 32), "GROUP": 2},
              {"a": Bits(a, kind), "b": Bits(b, kind), "c": unwritten("fp32", m, n)}, {"m": m, "n": n, "k": k}, {"c": x @ y},
              *bound("fp32", x, y, terms=k))
    a, b = (rng.integers(-128, 128, shape).astype(np.int8) for shape in ((m, k), (k, n)))
    c.add("persistent int8", "matmul_variants", "persistent", 4, {**tiles_of(16, 16, 32), "GROUP": 2},
          {"a": a, "b": b, "c": np.zeros((m, n), np.int32)}, {"m": m, "n": n, "k": k}, {"c": a.astype(np.int32) @ b.astype(np.int32)}, 0, 0)
    sizes = [(20, 30, 40), (16, 16, 16), (5, 70, 33), (64, 1, 8)]
    parts = [(normal("fp16", m, k), normal("fp16", k, n)) for m, n, k in sizes]
    starts = np.cumsum([(0, 0, 0)] + [(m * k, k * n, m * n) for m, n, k in sizes], axis=0)[:-1].astype(np.int64)
    a, b = (np.concatenate([p[i][0].ravel() for p in parts]) for i in (0, 1))
    want = np.concatenate([(p[0][1] @ p[1][1]).ravel() for p in parts])
    c.add("many products of different sizes", "matmul_variants", "many", 3, tiles_of(16, 16, 16),
          {"a": a, "b": b, "c": unwritten("fp16", want.size), "sizes": np.array(sizes, np.int32), "starts": starts}, {"count": len(sizes)},
          {"c": want}, *bound("fp16", np.ones((1, 40)), np.full((40, 1), 4.0), terms=40))
    m, n, k, group = 20, 24, 128, 64
    a, x = normal("fp32", m, k)
    nibbles = rng.integers(0, 16, (n, k)).astype(np.uint8)
    scales = rng.uniform(0.01, 0.1, (n, k // group)).astype(np.float32)
    y = ((nibbles.astype(np.float64) - 8) * np.repeat(scales, group, axis=1)).T
    for precision, bk in (("tf32", 32), ("tf32", 64)):
        c.add(f"int4 BK={bk}", "matmul_variants", "int4", "cdiv(m,BM),cdiv(n,BN)", {**tiles_of(16, 16, bk), "GROUP": group},
              {"a": a, "packed": nibbles[:, ::2] | nibbles[:, 1::2] << 4, "scales": scales, "c": unwritten("fp32", m, n)},
              {"m": m, "n": n, "k": k}, {"c": x @ y}, *bound("fp32", x, y, terms=k, precision=precision))


def attention_backward(c):
    for heads, n, d, bm, bn, causal in ((2, 50, 16, 16, 16, False), (2, 77, 32, 32, 16, True), (1, 64, 64, 16, 64, True), (1, 40, 24, 10, 20, True)):
        (qs, q), (ks, k), (vs, v), (dos, do) = (normal("fp32", heads, n, d) for _ in range(4))
        scale = round(d**-0.5, 4)
        s = q @ k.swapaxes(1, 2) * scale
        if causal:
            s = np.where(np.tri(n, dtype=bool), s, -np.inf)
        e = np.exp(s - s.max(axis=2, keepdims=True))
        p = e / e.sum(axis=2, keepdims=True)
        lse = (s.max(axis=2) + np.log(e.sum(axis=2))) / math.log(2)
        o = p @ v
        delta = (o * do).sum(axis=2)
        ds = p * (do @ v.swapaxes(1, 2) - delta[..., None])
        name = f"{heads}x{n} D={d} BM={bm} BN={bn}" + " causal" * causal
        c.add(f"row_delta {name}", "attention_backward", "row_delta", heads * n, {"D": d},
              {"o": o.astype(np.float32), "do": dos, "delta": unwritten("fp32", heads, n)}, {}, {"delta": delta}, 1e-5, 2e-5)
        given = {"q": qs, "k": ks, "v": vs, "do": dos, "lse": lse.astype(np.float32), "delta": delta.astype(np.float32)}
        defines = {"D": d, "BM": bm, "BN": bn, "CAUSAL": causal}
        c.add(f"attention_dkv {name}", "attention_backward", "attention_dkv", f"cdiv(n,BN),{heads}", defines,
              {**given, "dk": unwritten("fp32", heads, n, d), "dv": unwritten("fp32", heads, n, d)}, {"n": n, "scale": scale},
              {"dk": ds.swapaxes(1, 2) @ q * scale, "dv": p.swapaxes(1, 2) @ do}, 1e-5, 1e-5)
        c.add(f"attention_dq {name}", "attention_backward", "attention_dq", f"cdiv(n,BM),{heads}", defines,
              {**given, "dq": unwritten("fp32", heads, n, d)}, {"n": n, "scale": scale}, {"dq": ds @ k * scale}, 1e-5, 1e-5)


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
                  4e-6 + 2.1 * HALF_UNIT[dtype], 2e-6 if dtype != "fp16" else 2.0**-22)


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


# ---- serving ----

def paged_attention(c):
    heads, d, page, part, pages = 6, 24, 8, 32, 40
    for group, dtype in ((2, "fp32"), (3, "fp16"), (1, "bf16")):
        groups = heads // group
        lengths = np.array([1, 70, 32, 33], np.int32)
        parts = 4
        table = rng.permutation(pages)[:36].reshape(4, 9).astype(np.int32)
        qs, q = normal(dtype, 4, heads, d)
        (ks, k), (vs, v) = (normal(dtype, pages * page, groups, d) for _ in range(2))
        scale, out = 0.2, np.empty((4, heads, d))
        acc, top, total = (np.full(shape, np.nan) for shape in ((4, heads, parts, d), (4, heads, parts), (4, heads, parts)))
        for i, length in enumerate(lengths):
            rows = (table[i][:, None] * page + np.arange(page)).ravel()[:length]
            for h in range(heads):
                s = k[rows, h // group] @ q[i, h] * scale
                for j in range(0, -(-length // part)):
                    own = slice(j * part, (j + 1) * part)
                    e = np.exp(s[own] - s[own].max())
                    acc[i, h, j], top[i, h, j], total[i, h, j] = e @ v[rows, h // group][own], s[own].max(), e.sum()
                e = np.exp(s - s.max())
                out[i, h] = e @ v[rows, h // group] / e.sum()
        name = f"GROUP={group} {dtype}"
        c.add(f"decode {name}", "serving", "decode", f"4,{groups},{parts}",
              {"HEADS": heads, "GROUP": group, "D": d, "D_PADDED": 32, "PAGE": page, "PART": part},
              {"q": qs, "k_pages": ks, "v_pages": vs, "table": table, "lengths": lengths, "acc": unwritten("fp32", 4, heads, parts, d),
               "top": unwritten("fp32", 4, heads, parts), "total": unwritten("fp32", 4, heads, parts)},
              {"scale": scale, "table_stride": 9}, {"acc": acc, "top": top, "total": total}, 1e-5, 1e-5, options=("-sig", "scale=fp32,table_stride=i32"))
        filled = [np.nan_to_num(x).astype(np.float32) for x in (acc, top, total)]
        c.add(f"combine {name}", "serving", "combine", f"4,{heads}", {"D": d, "PART": part, "PARTS": parts},
              {**dict(zip(("acc", "top", "total"), filled)), "lengths": lengths, "o": unwritten(dtype, 4, heads, d)}, {}, {"o": out},
              1e-5 + 1.01 * HALF_UNIT[dtype], 1e-6)


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
    c.add("experts", "serving", "experts", f"{len(expert)},cdiv(n,BN)", tiles_of(bm, 16, 32),
          {"x": xs, "weights": ws, "y": unwritten("fp16", tokens, n), "order": np.array(order, np.int32), "expert": np.array(expert, np.int32)},
          {"tokens": tokens, "n": n, "k": k}, {"y": want}, *bound("fp16", x, w[0].T, terms=2 * k))


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
        c.add(f"convolution {channels}x{h}x{w} by {out_channels}x{kh}x{kw} STRIDE={stride} PAD={pad}", "serving", "convolution",
              "cdiv(out_height*out_width,BM),cdiv(out_channels,BN),2",
              {"KH": kh, "KW": kw, "STRIDE": stride, "PAD": pad, "BM": 16, "BN": 16, "BC": 16, **({} if bias else {"bias": None})}, arrays,
              {"channels": channels, "height": h, "width": w, "out_channels": out_channels, "out_height": oh, "out_width": ow}, {"y": want},
              1e-5, 2e-5)


def decayed_attention(c):
    for n, d, e, bt in ((50, 16, 16, 16), (33, 8, 24, 10), (64, 16, 8, 64)):
        (qs, q), (ks, k), (vs, v) = normal("fp32", 2, n, d), normal("fp32", 2, n, d), normal("fp32", 2, n, e)
        g = -rng.uniform(0, 0.5, (2, n)).astype(np.float32)
        want = np.empty((2, n, e))
        for h in range(2):
            state = np.zeros((d, e))
            for t in range(n):
                state = state * np.exp(g[h, t].astype(np.float64)) + np.outer(k[h, t], v[h, t])
                want[h, t] = q[h, t] @ state
        c.add(f"decayed_attention n={n} {d}x{e} BT={bt}", "serving", "decayed_attention", 2, {"D": d, "E": e, "BT": bt},
              {"q": qs, "k": ks, "v": vs, "g": g, "o": unwritten("fp32", 2, n, e)}, {"n": n}, {"o": want}, 1e-5, 5e-5)


def main():
    c = Cases(INPUTS)
    for group in (products, attention_backward, norms, rotary, gated, tables, quantize, paged_attention, experts, convolution,
                  decayed_attention):
        group(c)
    launches.main(c.cases)


if __name__ == "__main__":
    main()
