#!/usr/bin/env python3
# The examples about attention on real input against numpy in double precision: example_attention.py TKC DEVICE [NAME...]
# RUN: %python %s %build/tkc cpu | FileCheck %s
# RUN: %python %s %build/tkc simt | FileCheck %s
# RUN: %if cuda %{ %python %s %build/tkc cuda | FileCheck %s %}
# CHECK: {{^[1-9][0-9]* passed, 0 failed$}}
"""Attention with windows, shared keys and lengths that fit nothing, its way back, over pages of keys, and with a decay in chunks. Where
a run is slow, the longest are shorter."""
import math
import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs"))

import launches
from launches import HALF_UNIT, Cases, normal, rng, unwritten
from slowness import is_slow

LONG = 257 if is_slow(sys.argv[2]) else 4097
LOG2_E = 1 / math.log(2)


def masked(s, causal, window):
    """Scores of n queries and n_k keys, -inf where a query does not see."""
    n, n_k = s.shape[-2:]
    last, col = np.arange(n)[:, None] + n_k - n, np.arange(n_k)
    seen = (col <= last) | (not causal)
    if window:
        seen = seen & (col > last - window)
    return np.where(seen, s, -np.inf)


def softmax_of(s):
    """Probabilities, 0 in rows that see nothing, and the logarithm of base 2 of the sums."""
    top = s.max(axis=-1, keepdims=True)
    e = np.exp(s - np.where(top == -np.inf, 0, top))
    total = e.sum(axis=-1, keepdims=True)
    with np.errstate(divide="ignore"):
        lse = (np.where(top == -np.inf, 0, top) + np.log(total))[..., 0] * LOG2_E
    return e / np.where(total > 0, total, 1), lse


def attention_forward(c):
    for heads, n, n_k, d, dtype, bm, bn, causal, share, window in (
            (2, 1, 1, 16, "fp16", 16, 16, True, 1, 0), (2, 63, 63, 32, "fp16", 32, 16, True, 2, 0), (4, 63, 100, 16, "bf16", 16, 32, True, 4, 7),
            (2, 100, 100, 16, "fp16", 32, 16, True, 1, 40), (2, 100, 70, 16, "fp16", 32, 16, True, 1, 20), (1, 64, 64, 16, "fp16", 16, 16, True, 1, 1),
            (1, 90, 90, 16, "fp16", 16, 32, True, 1, 1000), (1, 1, 200, 16, "fp16", 16, 32, True, 1, 50), (2, LONG, LONG, 16, "fp16", 64, 64, True, 2, LONG // 3),
            (1, 63, LONG, 32, "fp16", 64, 64, False, 1, 0)):
        (qs, q), (ks, k), (vs, v) = normal(dtype, heads, n, d), normal(dtype, heads // share, n_k, d), normal(dtype, heads // share, n_k, d)
        k, v = np.repeat(k, share, axis=0), np.repeat(v, share, axis=0)
        scale = round(d**-0.5, 4)
        p, lse = softmax_of(masked(q @ k.swapaxes(1, 2) * scale, causal, window))
        atol = (p @ np.abs(v)).max() * (2 * HALF_UNIT[dtype] + 2.0**-18)
        c.add(f"attention {heads} of {n} by {n_k}, D={d} {dtype} BM={bm} BN={bn}" + " causal" * causal + f" SHARE={share} WINDOW={window}", "attention",
              "attention", f"cdiv(n,BM),{heads}", {"D": d, "BM": bm, "BN": bn, "CAUSAL": causal, "SHARE": share, "WINDOW": window},
              {"q": qs, "k": ks, "v": vs, "o": unwritten(dtype, heads, n, d), "lse": unwritten("fp32", heads, n)},
              {"heads": heads, "n": n, "n_k": n_k, "scale": scale}, {"o": (p @ v, 1.01 * HALF_UNIT[dtype], atol), "lse": (lse, 1e-5, 2e-5)})


def attention_backward(c):
    for heads, n, d, bm, bn, causal, share, dtype in ((2, 50, 16, 16, 16, False, 1, "fp32"), (2, 77, 32, 32, 16, True, 1, "fp32"),
                                                      (1, 64, 64, 16, 64, True, 1, "fp32"), (1, 40, 24, 10, 20, True, 1, "fp32"),
                                                      (4, 63, 16, 16, 32, True, 2, "fp32"), (2, 1, 16, 16, 16, True, 1, "fp32"),
                                                      (2, 63, 32, 32, 32, True, 2, "fp16"), (1, 513 if LONG > 1000 else 129, 16, 64, 64, False, 1, "fp16")):
        (qs, q), (dos, do) = normal(dtype, heads, n, d), normal(dtype, heads, n, d)
        (ks, k), (vs, v) = normal(dtype, heads // share, n, d), normal(dtype, heads // share, n, d)
        k, v = np.repeat(k, share, axis=0), np.repeat(v, share, axis=0)
        scale = round(d**-0.5, 4)
        p, lse = softmax_of(masked(q @ k.swapaxes(1, 2) * scale, causal, 0))
        o = p @ v
        delta = (o * do).sum(axis=2)
        ds = p * (do @ v.swapaxes(1, 2) - delta[..., None])
        together = lambda x: x.reshape(heads // share, share, n, d).sum(axis=1)
        name = f"{heads}x{n} D={d} BM={bm} BN={bn} {dtype}" + " causal" * causal + f" SHARE={share}"
        os_, o_given = (o.astype(np.float32 if dtype == "fp32" else np.float16),) * 2
        c.add(f"row_delta {name}", "attention_backward", "row_delta", heads * n, {"D": d},
              {"o": os_, "do": dos, "delta": unwritten("fp32", heads, n)}, {}, {"delta": (o_given.astype(np.float64) * do).sum(axis=2)}, 1e-5, 2e-5)
        given = {"q": qs, "k": ks, "v": vs, "do": dos, "lse": lse.astype(np.float32), "delta": delta.astype(np.float32)}
        defines = {"D": d, "BM": bm, "BN": bn, "CAUSAL": causal, "SHARE": share, "PRECISION": "'ieee'"}
        # p and ds are rounded to dtype before they are multiplied
        near = lambda *factors: 1e-5 + (2 * HALF_UNIT[dtype] * (np.abs(factors[0]) @ np.abs(factors[1])).max() * share if dtype != "fp32" else 0)
        rtol = 1e-5 if dtype == "fp32" else 1.01 * HALF_UNIT[dtype]
        c.add(f"attention_dkv {name}", "attention_backward", "attention_dkv", f"cdiv(n,BN),{heads // share}", defines,
              {**given, "dk": unwritten(dtype, heads // share, n, d), "dv": unwritten(dtype, heads // share, n, d)}, {"n": n, "scale": scale},
              {"dk": (together(ds.swapaxes(1, 2) @ q * scale), rtol, near(ds.swapaxes(1, 2), q)),
               "dv": (together(p.swapaxes(1, 2) @ do), rtol, near(p.swapaxes(1, 2), do))})
        c.add(f"attention_dq {name}", "attention_backward", "attention_dq", f"cdiv(n,BM),{heads}", defines,
              {**given, "dq": unwritten(dtype, heads, n, d)}, {"n": n, "scale": scale}, {"dq": ds @ k * scale}, rtol, near(ds, k))


def paged_attention(c):
    for heads, group, d, page, part, dtype in ((6, 2, 24, 8, 32, "fp32"), (6, 3, 24, 8, 32, "fp16"), (6, 1, 32, 16, 32, "bf16"), (20, 20, 16, 16, 32, "fp32")):
        groups, parts, pages = heads // group, 4, 40
        lengths = np.array([1, 70, 32, 63], np.int32)
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
                    acc[i, h, j], top[i, h, j], total[i, h, j] = e @ v[rows, h // group][own], s[own].max() * LOG2_E, e.sum()
                e = np.exp(s - s.max())
                out[i, h] = e @ v[rows, h // group] / e.sum()
        # p is rounded to dtype before it multiplies v, relative to a maximum that may have been smaller than at the end
        near = 2e-5 if dtype == "fp32" else 2 * HALF_UNIT[dtype] * np.nanmax(total) * np.abs(v).max()
        name = f"HEADS={heads} GROUP={group} D={d} {dtype}"
        c.add(f"decode {name}", "attention_paged", "decode", f"4,{groups},{parts}",
              {"HEADS": heads, "GROUP": group, "D": d, "PAGE": page, "PART": part, "PRECISION": "'ieee'"},
              {"q": qs, "k_pages": ks, "v_pages": vs, "table": table, "lengths": lengths, "acc": unwritten("fp32", 4, heads, parts, d),
               "top": unwritten("fp32", 4, heads, parts), "total": unwritten("fp32", 4, heads, parts)},
              {"scale": scale, "table_stride": 9}, {"acc": (acc, 1e-5, near), "top": (top, 1e-5, 1e-5), "total": (total, 1e-5, 1e-5)})
        filled = [np.nan_to_num(x).astype(np.float32) for x in (acc, top, total)]
        c.add(f"combine {name}", "attention_paged", "combine", f"4,{heads}", {"D": d, "PART": part, "PARTS": parts},
              {**dict(zip(("acc", "top", "total"), filled)), "lengths": lengths, "o": unwritten(dtype, 4, heads, d)}, {}, {"o": out},
              1e-5 + 1.01 * HALF_UNIT[dtype], 1e-6)


def decayed_attention(c):
    for n, d, e, bt, be, steepest in ((50, 16, 16, 16, 16, 0.5), (33, 8, 24, 10, 16, 0.5), (64, 16, 8, 64, 8, 0.5), (1, 16, 16, 16, 16, 0.5), (63, 16, 40, 32, 16, 0.5),
                                      (LONG // 8, 16, 16, 32, 16, 10.0)):
        (qs, q), (ks, k), (vs, v) = normal("fp32", 2, n, d), normal("fp32", 2, n, d), normal("fp32", 2, n, e)
        g = -rng.uniform(0, steepest, (2, n)).astype(np.float32)
        want = np.empty((2, n, e))
        for h in range(2):
            state = np.zeros((d, e))
            for t in range(n):
                state = state * np.exp(g[h, t].astype(np.float64)) + np.outer(k[h, t], v[h, t])
                want[h, t] = q[h, t] @ state
        c.add(f"decayed_attention n={n} {d}x{e} BT={bt} to {steepest}", "linear_attention", "decayed_attention", "2,cdiv(E,BE)",
              {"D": d, "E": e, "BT": bt, "BE": be, "PRECISION": "'ieee'"}, {"q": qs, "k": ks, "v": vs, "g": g, "o": unwritten("fp32", 2, n, e)}, {"n": n},
              {"o": want}, 1e-5, 5e-5 if steepest < 1 else 4e-4)


def main():
    c = Cases()
    for group in (attention_forward, attention_backward, paged_attention, decayed_attention):
        group(c)
    launches.main(c.cases)


main()
