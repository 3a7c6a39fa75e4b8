#!/usr/bin/env python3
# Loops that load ahead compute what loops do that do not: products with rings of 2 to 5 copies, no turn and many, masks, transposed operands, loops in loops;
# by warps and, on sm_90a, by warp groups.
# REQUIRES: numpy
# RUN: %python %s %build/tkc cpu | FileCheck %s
# RUN: %python %s %build/tkc simt | FileCheck %s
# RUN: %if long && !asan %{ %python %s %build/tkc simt 20 | FileCheck %s %}
# CHECK: {{^[1-9][0-9]* products, 0 wrong$}}
"""pipeline.py TKC DEVICE [SEEDS]. On `cpu` the interpreter runs the loops as the pass left them, one thing after the other; on `simt` copies
arrive at moments that the seed chooses, and who waits too little races."""
import itertools
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs"))

from formats import FP8, encode

PASSES = "-passes=desc,fold,cse,licm,ifconv,dce,layout,access,pipeline,groups,dce,expand"
TEXT = '''
import triton
import triton.language as tl


@triton.jit
def product(a, b, c, m, n, k, a_row, b_row, c_row, sum_type: tl.constexpr, A_FLIPPED: tl.constexpr, B_FLIPPED: tl.constexpr, STEP: tl.constexpr,
            BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, A_BOX: tl.constexpr = False, B_BOX: tl.constexpr = False):
    if A_BOX:
        a_boxes = tl.make_tensor_descriptor(a, [k, m] if A_FLIPPED else [m, k], [a_row, 1], [BK, BM] if A_FLIPPED else [BM, BK])
    if B_BOX:
        b_boxes = tl.make_tensor_descriptor(b, [n, k] if B_FLIPPED else [k, n], [b_row, 1], [BN, BK] if B_FLIPPED else [BK, BN])
    for tile in range(tl.program_id(0), tl.cdiv(m, BM) * tl.cdiv(n, BN), tl.num_programs(0)):
        row = tile // tl.cdiv(n, BN) * BM + tl.arange(0, BM)
        rows = row[:, None]
        cols = tile % tl.cdiv(n, BN) * BN + tl.arange(0, BN)
        sum = tl.zeros((BM, BN), dtype=sum_type)
        for at in range(0, k, BK * STEP):
            inner = at + tl.arange(0, BK)
            top, left = tile // tl.cdiv(n, BN) * BM, tile % tl.cdiv(n, BN) * BN
            if A_BOX and A_FLIPPED:
                x = a_boxes.load([at, top]).T
            elif A_BOX:
                x = a_boxes.load([top, at])
            elif A_FLIPPED:
                x = tl.load(a + inner[:, None] * a_row + row[None, :], mask=(row[None, :] < m) & (inner[:, None] < k), other=0.0).T
            else:
                x = tl.load(a + rows * a_row + inner[None, :], mask=(rows < m) & (inner[None, :] < k), other=0.0)
            if B_BOX and B_FLIPPED:
                y = b_boxes.load([left, at]).T
            elif B_BOX:
                y = b_boxes.load([at, left])
            elif B_FLIPPED:
                y = tl.load(b + cols[:, None] * b_row + inner[None, :], mask=(cols[:, None] < n) & (inner[None, :] < k), other=0.0).T
            else:
                y = tl.load(b + inner[:, None] * b_row + cols[None, :], mask=(inner[:, None] < k) & (cols[None, :] < n), other=0.0)
            sum = tl.dot(x.to(b.dtype.element_ty), y, sum)
        tl.store(c + rows * c_row + cols[None, :], sum, mask=(rows < m) & (cols[None, :] < n))
'''
SHAPES = [(64, 64, 0), (64, 48, 16), (33, 70, 100), (64, 64, 256), (16, 128, 130)]
TILES = [(32, 32, 32, 1), (64, 64, 32, 4), (16, 64, 64, 2), (64, 32, 16, 8)]
GROUP_SHAPES = [(64, 64, 0), (130, 100, 70), (200, 256, 96)]
ALONG_SHAPES = [(64, 64, 0), (130, 100, 272), (200, 256, 96)]  # k is known to be a multiple of 16: bytes are copied as far as masks hold
GROUP_TILES = [(64, 64, 32, 4), (64, 128, 32, 4), (128, 32, 64, 4), (64, 128, 16, 8), (128, 64, 128, 8), (256, 16, 64, 8), (128, 256, 32, 8), (128, 256, 16, 4)]
ALONG_TILES = [*GROUP_TILES, (64, 64, 256, 4)]  # of fp8 two sums a turn
# of a in memory, of b and of what is multiplied, of the sum
TYPES = {"fp16": ("float16", "float16", "float32"), "fp32": ("float32", "float32", "float32"), "int8": ("int8", "int8", "int32"),
         "mixed": ("float32", "float16", "float32"), "widened": ("float16", "float32", "float32"), "cut": ("int16", "int8", "int32"),
         "fp8e4nv": ("fp8e4nv", "fp8e4nv", "float32"), "fp8e5": ("fp8e5", "fp8e5", "float32"), "narrowed": ("float16", "fp8e4nv", "float32")}
# of the kinds that warp groups read along k only: those whose a they read, too, and those whose a comes from registers
ALONG_K, FROM_REGISTERS = ("fp32", "int8", "fp8e4nv", "fp8e5"), ("widened", "cut", "narrowed")
ARCHS = ["sm_80", "sm_90a", "sm_89"]


def rounded_up(n):
    return -(-n // 16) * 16


class Product:
    """Operands are small integers, so that sums are exact."""

    def __init__(self, number, folder, arch, kind, flipped, shape, tile, stages, step, boxes=(False, False)):
        rng = np.random.default_rng(number)
        self.folder, self.number, self.arch, self.tile, self.stages, self.flipped, self.step = folder, number, arch, tile, stages, flipped, step
        self.boxes = boxes
        (m, n, k), (*self.types, self.sum_type) = shape, TYPES[kind]
        a, b = (rng.integers(-3, 4, (height, rounded_up(width) or 16))
                for height, width in ((k or 1, m) if flipped[0] else (m, k), (n, k) if flipped[1] else (k or 1, n)))
        x, y = ((z[:high, :wide].T if turned else z[:high, :wide]).astype(np.int64)
                for z, turned, high, wide in ((a, flipped[0], *((k, m) if flipped[0] else (m, k))), (b, flipped[1], *((n, k) if flipped[1] else (k, n)))))
        bk = tile[2]
        kept = np.arange(k) // bk % step == 0
        c = np.zeros((m, rounded_up(n)), self.sum_type)
        c[:, :n] = x[:, kept] @ y[kept]
        self.numbers = {"m": m, "n": n, "k": k, "a_row": a.shape[1], "b_row": b.shape[1], "c_row": c.shape[1]}
        for name, array, dtype in zip("abc", (a, b, c), (*self.types, self.sum_type)):
            np.save(self.path(name), encode(dtype, array) if dtype in FP8 else array.astype(dtype))
        self.extent = c.shape

    def path(self, name):
        return os.path.join(self.folder, "%d.%s.npy" % (self.number, name))

    def command(self, tkc, device, text, seed):
        bm, bn, bk, warps = self.tile
        how = ["-arch=sm_90a", PASSES] if device == "cpu" else ["-arch=" + self.arch]
        short = "f32" if self.sum_type == "float32" else "i32"
        a, b = (self.path(name) + (":" + dtype if dtype in FP8 else "") for name, dtype in zip("ab", self.types))
        return [tkc, "-run", text, "-device", device, *how, "-num-warps=%d" % warps, "-num-stages=%d" % self.stages, "-DBM=%d" % bm, "-DBN=%d" % bn,
                "-DBK=%d" % bk, "-DA_FLIPPED=%s" % self.flipped[0], "-DB_FLIPPED=%s" % self.flipped[1], "-DSTEP=%d" % self.step,
                *["-D%s_BOX=True" % name for name, is_box in zip("AB", self.boxes) if is_box], "-Dsum_type=%s" % ("fp32" if short == "f32" else "int32"),
                "-grid", "2", "-seed", str(seed), "a=" + a, "b=" + b, "c=zeros:%s[%d,%d]" % (short, *self.extent),
                *["%s=%d" % x for x in self.numbers.items()], "-check", "c=%s,rtol=0,atol=0" % self.path("c")]


FLIPS = list(itertools.product((False, True), (False, True)))


def products(folder):
    for number, (kind, flipped, shape, tile) in enumerate(itertools.product(("fp16", "fp32", "int8"), FLIPS, SHAPES, TILES)):
        if number % 5 == 0:
            n = number // 5
            yield Product(number, folder, ARCHS[n % len(ARCHS)], kind, flipped, shape, tile, 2 + n % 4, 1 + n % 5 // 4)
    for number, (kind, flipped, shape, tile) in enumerate(itertools.product(("fp16", "mixed"), FLIPS, GROUP_SHAPES, GROUP_TILES)):
        if number % 5 == 0:
            n = number // 5
            yield Product(1000 + number, folder, "sm_90a", kind, flipped, shape, tile, 2 + n % 4, 1 + n % 5 // 4)
    for number, (kind, shape, tile) in enumerate(itertools.product(ALONG_K + FROM_REGISTERS, ALONG_SHAPES, ALONG_TILES)):
        if number % 5 == 0:
            n = number // 5
            yield Product(2000 + number, folder, "sm_90a", kind, (False, True), shape, tile, 2 + n % 4, 1 + n % 5 // 4)
    for number, (kind, flipped, tile) in enumerate(itertools.product(ALONG_K, FLIPS, GROUP_TILES)):
        if number % 9 == 0:
            yield Product(3000 + number, folder, "sm_90a", kind, flipped, ALONG_SHAPES[1], tile, 3, 1)


def products_of_boxes(folder):
    """By TMA, both operands or one beside copies of the threads."""
    kinds = [(kind, flipped) for kind in ("fp16", "mixed") for flipped in FLIPS] + [(kind, (False, True)) for kind in ALONG_K]
    for number, ((kind, flipped), shape, tile, boxes) in enumerate(itertools.product(kinds, ALONG_SHAPES, GROUP_TILES, ((True, True), (True, False), (False, True)))):
        if number % 17 == 0:
            n = number // 17
            yield Product(4000 + number, folder, "sm_90a", kind, flipped, shape, tile, 2 + n % 4, 1 + n % 5 // 4, boxes)


def main():
    tkc, device, seeds = sys.argv[1], sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 1
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        text = os.path.join(folder, "product.tk")
        with open(text, "w") as out:
            out.write(TEXT)
        commands = [p.command(tkc, device, text, seed) for p in (*products(folder), *products_of_boxes(folder)) for seed in range(seeds)]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            for command, done in zip(commands, pool.map(lambda c: subprocess.run(c, capture_output=True, text=True), commands)):
                if done.returncode:
                    wrong += 1
                    print("%s\n%s%s" % (" ".join(command), done.stdout, done.stderr))
    print("%d products, %d wrong" % (len(commands), wrong))


main()
