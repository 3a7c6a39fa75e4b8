#!/usr/bin/env python3
# Products of warp groups whose operands no loop loads ahead: they go to tiles in shared memory, before the product or before the loop.
# REQUIRES: numpy
# RUN: %python %s %build/tkc cpu | FileCheck %s
# RUN: %python %s %build/tkc simt | FileCheck %s
# RUN: %if long && !asan %{ %python %s %build/tkc simt 20 | FileCheck %s %}
# CHECK: {{^[1-9][0-9]* products, 0 wrong$}}
"""tiles.py TKC DEVICE [SEEDS]. Each kernel against numpy; on `cpu` the interpreter runs what the passes for sm_90a leave, on `simt` the PTX, which must
have no product by single warps."""
import os
import subprocess
import sys
import tempfile

import numpy as np

PASSES = "-passes=desc,fold,cse,licm,ifconv,dce,layout,access,pipeline,groups,dce,expand"
TEXT = '''
import triton
import triton.language as tl


@triton.jit
def tile(x, row, N: tl.constexpr, M: tl.constexpr):
    return tl.load(x + (row + tl.arange(0, M))[:, None] * N + tl.arange(0, N)[None, :])


# No loop at all; both operands change their layouts on the way, one lies the other way round.
@triton.jit
def alone(a: "*fp16:16", b: "*fp16:16", c: "*fp32:16", M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    tl.store(c + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :], tl.dot(tile(a, 0, K, M), tile(b, 0, K, N).T))


# The second operand is computed.
@triton.jit
def computed(a: "*fp16:16", b: "*fp16:16", c: "*fp32:16", M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    sum = tl.zeros((M, N), tl.float32)
    for k in range(0, K, 32):
        x = tl.load(a + tl.arange(0, M)[:, None] * K + k + tl.arange(0, 32)[None, :])
        y = tl.load(b + tl.arange(0, N)[None, :] * K + k + tl.arange(0, 32)[:, None])
        sum = tl.dot(x, y * 1, sum)
    tl.store(c + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :], sum)


# A loop with barriers loads nothing ahead; what does not change is stored before it, and so it is before both of two loops.
# What all warps sum while a product goes on has a place of its own.
@triton.jit
def steps(a: "*fp16:16", b: "*fp16:16", c: "*fp32:16", M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    y = tile(b, 0, K, N).T
    for twice in range(2):
        for row in range(0, M, 64):
            tl.debug_barrier()
            x = tile(a, row, K, 64)
            s = tl.dot(x, y)
            total = tl.sum(tl.sum(x.to(tl.float32), 0), 0)
            tl.store(c + (row + tl.arange(0, 64))[:, None] * N + tl.arange(0, N)[None, :], s + total - total)


# One block for two products, turned in one of them, and both in a branch; the first sum is asked for behind the second product, and rows of
# it go to other threads meanwhile.
@triton.jit
def twice(a: "*fp16:16", b: "*fp16:16", c: "*fp32:16", M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    sum = tl.zeros((M, N), tl.float32)
    for turn in range(3):
        if turn < 2:
            x, y = tile(a, 0, K, M), tile(b, 0, K, N)
            p = tl.dot(x, y.T)
            total = tl.sum(tl.sum(x.to(tl.float32), 0), 0)
            q = tl.dot(tl.dot(x, y.T).to(tl.float16), y)
            p += tl.sum(q, 1)[:, None] * 0.0 + total
            sum += p - total
        tl.store(c + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :], sum * 0.5)


# The second operand lies across in memory, where groups that share rows begin within a line.
@triton.jit
def across(a: "*fp16:16", b: "*fp16:16", c: "*fp32:16", M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    sum = tl.zeros((M, K), tl.float32)
    for n in range(0, N, 32):
        p = tl.load(a + tl.arange(0, M)[:, None] * K + n % K + tl.arange(0, 32)[None, :])
        sum = tl.dot(p, tile(b, n, K, 32), sum)
        tl.store(c + tl.arange(0, M)[:, None] * K + tl.arange(0, K)[None, :], sum)


# A loop that loads ahead blocks of which each has two readers.
@triton.jit
def both(a: "*fp16:16", b: "*fp16:16", c: "*fp32:16", M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    x = tile(a, 0, K, M)
    sum = tl.zeros((M, K), tl.float32)
    for row in range(0, N, 16):
        y = tile(b, row, K, 16)
        sum = tl.dot((tl.dot(x, y.T) * 0.125).to(tl.float16), y, sum)
    tl.store(c + tl.arange(0, M)[:, None] * K + tl.arange(0, K)[None, :], sum)
'''
SHAPES = [(64, 64, 64, 4), (128, 64, 32, 4), (128, 128, 64, 8), (64, 128, 128, 8), (64, 32, 64, 4), (64, 64, 64, 8), (64, 64, 128, 16)]


def run(tkc, device, folder, kernel, shape, seed, arch="sm_90a"):
    m, n, k, warps = shape
    rng = np.random.default_rng(len(kernel) + m + n + k)
    a, b = (rng.standard_normal(s).astype(np.float16) for s in ((m, k), (n, k)))
    np.save(f"{folder}/a.npy", a)
    np.save(f"{folder}/b.npy", b)
    want = a.astype(np.float64) @ b.astype(np.float64).T
    if kernel == "both":
        want = (want * 0.125).astype(np.float16).astype(np.float64) @ b.astype(np.float64)
    if kernel == "across":
        want = sum(a[:, i % k:i % k + 32].astype(np.float64) @ b[i:i + 32].astype(np.float64) for i in range(0, n, 32))
    np.save(f"{folder}/c.npy", np.full(want.shape, np.nan, np.float32))
    command = [tkc, "-run", "-device", device, f"{folder}/tiles.tk", "-k", kernel, f"-DM={m}", f"-DN={n}", f"-DK={k}", f"-num-warps={warps}",
               f"-arch={arch}", "-grid", "1", "-seed", str(seed), f"a={folder}/a.npy", f"b={folder}/b.npy", f"c={folder}/c.npy",
               "-save", f"c={folder}/out.npy", *([PASSES, "-verify-each"] if device == "cpu" else [])]
    p = subprocess.run(command, capture_output=True, text=True)
    if p.returncode:
        return p.stderr.strip()[-600:]
    wrong = np.abs(np.load(f"{folder}/out.npy") - want)
    return None if wrong.max() < 2e-2 else f"wrong by {wrong.max()}"


def by_warps(tkc, folder, kernel, shape):
    m, n, k, warps = shape
    p = subprocess.run([tkc, f"{folder}/tiles.tk", "-k", kernel, f"-DM={m}", f"-DN={n}", f"-DK={k}", f"-num-warps={warps}", "-arch=sm_90a", "-o", "-"],
                       capture_output=True, text=True)
    return "mma.sync" in p.stdout or "wgmma.mma_async" not in p.stdout


def main():
    tkc, device, seeds = sys.argv[1], sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 1
    products = wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/tiles.tk", "w") as f:
            f.write(TEXT)
        for kernel in ("alone", "computed", "steps", "twice", "across", "both"):
            for shape in SHAPES:
                trouble = [r for seed in range(seeds) if (r := run(tkc, device, folder, kernel, shape, seed))]
                if kernel != "both" and by_warps(tkc, folder, kernel, shape):
                    trouble.append("products by single warps")
                if kernel == "both":
                    trouble += [r for seed in range(seeds) if (r := run(tkc, device, folder, kernel, shape, seed, "sm_80"))]
                products += 1
                wrong += bool(trouble)
                if trouble:
                    print("WRONG", kernel, shape, trouble[0])
    print(f"{products} products, {wrong} wrong")


main()
