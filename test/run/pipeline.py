#!/usr/bin/env python3
# Loops that load ahead compute what loops do that do not: products with rings of 2 to 5 copies, no turn and many, masks, transposed operands, loops in loops.
# REQUIRES: numpy
# RUN: %python %s %build/tkc cpu | FileCheck %s
# RUN: %python %s %build/tkc simt | FileCheck %s
# RUN: %if long %{ %python %s %build/tkc simt 20 | FileCheck %s %}
# CHECK: {{^[1-9][0-9]* products, 0 wrong$}}
"""pipeline.py TKC DEVICE [SEEDS]. On `cpu` the interpreter runs the loops as the pass left them, one thing after the other; on `simt` copies
arrive at moments that the seed chooses, and who waits too little races."""
import itertools
import os
import subprocess
import sys
import tempfile

import numpy as np

PASSES = "-passes=desc,fold,cse,licm,ifconv,dce,layout,access,pipeline,dce,expand"
TEXT = '''
import triton
import triton.language as tl


@triton.jit
def product(a, b, c, m, n, k, a_row, b_row, c_row, sum_type: tl.constexpr, FLIPPED: tl.constexpr, STEP: tl.constexpr,
            BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    for tile in range(tl.program_id(0), tl.cdiv(m, BM) * tl.cdiv(n, BN), tl.num_programs(0)):
        rows = (tile // tl.cdiv(n, BN) * BM + tl.arange(0, BM))[:, None]
        cols = tile % tl.cdiv(n, BN) * BN + tl.arange(0, BN)
        sum = tl.zeros((BM, BN), dtype=sum_type)
        for at in range(0, k, BK * STEP):
            inner = at + tl.arange(0, BK)
            x = tl.load(a + rows * a_row + inner[None, :], mask=(rows < m) & (inner[None, :] < k), other=0.0)
            if FLIPPED:
                y = tl.load(b + cols[:, None] * b_row + inner[None, :], mask=(cols[:, None] < n) & (inner[None, :] < k), other=0.0).T
            else:
                y = tl.load(b + inner[:, None] * b_row + cols[None, :], mask=(inner[:, None] < k) & (cols[None, :] < n), other=0.0)
            sum = tl.dot(x, y, sum)
        tl.store(c + rows * c_row + cols[None, :], sum, mask=(rows < m) & (cols[None, :] < n))
'''
SHAPES = [(64, 64, 0), (64, 48, 16), (33, 70, 100), (64, 64, 256), (16, 128, 130)]
TILES = [(32, 32, 32, 1), (64, 64, 32, 4), (16, 64, 64, 2), (64, 32, 16, 8)]
TYPES = {"fp16": (np.float16, np.float32), "fp32": (np.float32, np.float32), "int8": (np.int8, np.int32)}
ARCHS = ["sm_80", "sm_90a", "sm_89"]


def rounded_up(n):
    return -(-n // 16) * 16


class Product:
    """Operands are small integers, so that sums are exact."""

    def __init__(self, number, folder, kind, flipped, shape, tile, stages, step):
        rng = np.random.default_rng(number)
        self.folder, self.number, self.kind, self.tile, self.stages, self.flipped, self.step = folder, number, kind, tile, stages, flipped, step
        (m, n, k), (self.from_type, self.sum_type) = shape, TYPES[kind]
        a, b = (rng.integers(-3, 4, (height, rounded_up(width) or 16)) for height, width in ((m, k), (n, k) if flipped else (k or 1, n)))
        x, y = a[:, :k].astype(np.int64), (b[:, :k].T if flipped else b[:k, :n]).astype(np.int64)
        bk = tile[2]
        kept = np.arange(k) // bk % step == 0
        c = np.zeros((m, rounded_up(n)), self.sum_type)
        c[:, :n] = x[:, kept] @ y[kept]
        self.numbers = {"m": m, "n": n, "k": k, "a_row": a.shape[1], "b_row": b.shape[1], "c_row": c.shape[1]}
        for name, array in (("a", a.astype(self.from_type)), ("b", b.astype(self.from_type)), ("c", c)):
            np.save(self.path(name), array)
        self.extent = c.shape

    def path(self, name):
        return os.path.join(self.folder, "%d.%s.npy" % (self.number, name))

    def command(self, tkc, device, text, seed):
        bm, bn, bk, warps = self.tile
        how = ["-arch=sm_90a", PASSES] if device == "cpu" else ["-arch=" + ARCHS[self.number % len(ARCHS)]]
        short = "f32" if self.sum_type is np.float32 else "i32"
        return [tkc, "-run", text, "-device", device, *how, "-num-warps=%d" % warps, "-num-stages=%d" % self.stages, "-DBM=%d" % bm, "-DBN=%d" % bn,
                "-DBK=%d" % bk, "-DFLIPPED=%s" % self.flipped, "-DSTEP=%d" % self.step, "-Dsum_type=%s" % ("fp32" if short == "f32" else "int32"),
                "-grid", "2", "-seed", str(seed), "a=" + self.path("a"), "b=" + self.path("b"), "c=zeros:%s[%d,%d]" % (short, *self.extent),
                *["%s=%d" % x for x in self.numbers.items()], "-check", "c=%s,rtol=0,atol=0" % self.path("c")]


def products(folder):
    chosen = itertools.product(TYPES, (False, True), SHAPES, TILES)
    for number, (kind, flipped, shape, tile) in enumerate(chosen):
        if number % 3 == 0:
            yield Product(number, folder, kind, flipped, shape, tile, 2 + number // 3 % 4, 1 + number // 3 % 5 // 4)


def main():
    tkc, device, seeds = sys.argv[1], sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 1
    wrong = count = 0
    with tempfile.TemporaryDirectory() as folder:
        text = os.path.join(folder, "product.tk")
        with open(text, "w") as out:
            out.write(TEXT)
        for p in products(folder):
            for seed in range(seeds):
                command = p.command(tkc, device, text, seed)
                done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "SIMT_SEED": str(seed)})
                count += 1
                if done.returncode:
                    wrong += 1
                    print("%s\n%s%s" % (" ".join(command), done.stdout, done.stderr))
    print("%d products, %d wrong" % (count, wrong))


main()
