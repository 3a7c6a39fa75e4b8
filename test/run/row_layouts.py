#!/usr/bin/env python3
# Scans and sorts give what numpy gives in any layout that holds the axis inside a warp, scans also where warps share it.
# REQUIRES: numpy
# UNSUPPORTED: asan
# RUN: %python %s %build/tkc %driver/libcuda.so.1 160 2>&1 | FileCheck %s
# RUN: %if long %{ %python %s %build/tkc %driver/libcuda.so.1 400 2>&1 | FileCheck %s %}
# CHECK: {{^[0-9]+ kernels, 0 wrong$}}
"""Each kernel is IR with a layout drawn by lot: bits of the axis in registers and lanes in any order, register vectors that mix,
lanes, warps and registers that hold the same elements, extents that are no powers of two. The scan's combine does not commute."""
import ctypes
import os
import random
import subprocess
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs"))

from driver import Driver

LANE_BITS = 5


def mixed(rng, vectors):
    """Others with the same span."""
    vectors = list(vectors)
    for _ in range(len(vectors)):
        if len(vectors) > 1:
            i, j = rng.sample(range(len(vectors)), 2)
            vectors[i] ^= vectors[j]
    return vectors


def in_lanes(rng, vectors):
    """Those that lanes hold, often the ones between the others, which registers do."""
    vectors = list(vectors)
    if len(vectors) > 2 and rng.random() < 0.4:
        vectors = vectors[1:-1] + [vectors[0], vectors[-1]]
        n = len(vectors) - 2
    else:
        rng.shuffle(vectors)
        n = rng.randint(0, min(len(vectors), LANE_BITS))
    return vectors[:n], vectors[n:]


class Block:
    """A layout of rank 2 as vectors of index bits, held by registers, lanes and warps."""

    def __init__(self, rng, logs, axis, warp_bits):
        self.logs, self.axis = logs, axis
        rest, along = ([1 << bit for bit in self.bits_of(dim)] for dim in (1 - axis, axis))
        first = rng.randint(0, len(along)) if rng.random() < 0.5 and warp_bits else len(along)
        along, slots = along[:first], along[first:]
        warps, slots = slots[:1], slots[1:]
        lanes, registers = in_lanes(rng, along)
        rng.shuffle(rest), rng.shuffle(slots)
        while slots and len(warps) < warp_bits and rng.random() < 0.6:
            warps.append(slots.pop())
        self.is_in_warp = not warps
        registers += slots
        fills_lanes = rng.random() < 0.4
        for vector in mixed(rng, rest):
            room = [part for part, most in ((lanes, LANE_BITS), (registers, 9), (warps, warp_bits)) if len(part) < most]
            (room[0] if fills_lanes else rng.choice(room)).append(vector)
        lanes += [0] * (LANE_BITS - len(lanes))
        warps += [0] * (warp_bits - len(warps))
        rng.shuffle(lanes), rng.shuffle(warps)
        registers = mixed(rng, registers)
        if rng.random() < 0.2:
            registers.insert(rng.randint(0, len(registers)), 0)
        self.parts = [registers, lanes, warps]

    def sorts(self):
        return self.axis == 1 and self.is_in_warp

    def bits_of(self, dim):
        return range(self.logs[1], sum(self.logs)) if dim == 0 else range(self.logs[1])

    def text(self, dims=(0, 1), rank=2):
        """Of the block, or of the projection to a dim: as a block of extent 1 in the other, or of rank 1."""
        coords = lambda v: [v >> self.logs[1], v & (1 << self.logs[1]) - 1]
        parts = []
        for name, vectors in zip(("register", "lane", "warp"), self.parts):
            shown = [tuple(c if d in dims else 0 for d, c in enumerate(coords(v))) for v in vectors]
            if name == "register" and len(dims) == 1:
                shown = independent(shown)
            shown = [v if rank == 2 else (v[dims[0]],) for v in shown]
            parts.append(name + ":" + "".join(" (%s)" % ",".join(map(str, v)) for v in shown))
        extents = [1 << log if d in dims else 1 for d, log in enumerate(self.logs)]
        extents = extents if rank == 2 else [extents[dims[0]]]
        return "#l<%s; %s>" % ("x".join(map(str, extents)), "; ".join(parts))


def independent(vectors):
    """Those that the ones before do not span."""
    span, kept = {(0, 0)}, []
    for v in vectors:
        if v not in span:
            span |= {(v[0] ^ s[0], v[1] ^ s[1]) for s in span}
            kept.append(v)
    return kept


HEAD = """func @k(%%a: *int32, %%b: *int32, %%r: *int32, %%s: *int32, %%t: *%(dt)s) attributes {target = "sm_80", num_warps = %(warps)d, num_stages = 1} {
  %%i = arange {start = 0} : block<%(m)dxint32, #1>
  %%j = arange {start = 0} : block<%(n)dxint32, #3>
  %%ie = expand_dims %%i {axis = 1} : block<%(m)dx1xint32, #2>
  %%je = expand_dims %%j {axis = 0} : block<1x%(n)dxint32, #4>
  %%ib = broadcast %%ie : block<%(shape)sxint32, #0>
  %%jb = broadcast %%je : block<%(shape)sxint32, #0>
  %%width = const %(n)d : block<%(shape)sxint32, #0>
  %%row = mul %%ib, %%width : block<%(shape)sxint32, #0>
  %%at = add %%row, %%jb : block<%(shape)sxint32, #0>
"""
POINTERS = """  %%%(p)ss = splat %%%(p)s : block<%(shape)sx*%(to)s, #0>
  %%%(p)sp = addptr %%%(p)ss, %%at : block<%(shape)sx*%(to)s, #0>
"""
BODY = """  %%x = load %%ap : block<%(shape)sxint32, #0>
  %%y = load %%bp : block<%(shape)sxint32, #0>
  %%f, %%g = scan %%x, %%y (%%p: int32, %%q: int32, %%u: int32, %%v: int32) {
    %%pu = mul %%p, %%u : int32
    %%qu = mul %%q, %%u : int32
    %%quv = add %%qu, %%v : int32
    yield %%pu, %%quv
  } {axis = %(axis)d%(reverse)s} : block<%(shape)sxint32, #0>, block<%(shape)sxint32, #0>
  store %%rp, %%f
  store %%sp, %%g
%(sort)s  return
}
"""
SORT = """  %%w = load %%tp : block<%(shape)sx%(dt)s, #0>
  %%z = sort %%w%(descending)s : block<%(shape)sx%(dt)s, #0>
  store %%tp, %%z
"""


def text_of(block, values):
    layouts = [block.text(), block.text((0,), 1), block.text((0,)), block.text((1,), 1), block.text((1,))]
    text = "".join("#%d = %s\n" % pair for pair in enumerate(layouts)) + HEAD % values
    for p in "abrst":
        text += POINTERS % dict(values, p=p, to=values["dt"] if p == "t" else "int32")
    return text + BODY % dict(values, sort=SORT % values if block.sorts() else "")


def scanned(a, b, axis, reverse):
    turned = lambda v: np.moveaxis(np.flip(v, axis) if reverse else v, axis, 0).copy()
    x, y = turned(a), turned(b)
    for k in range(1, len(x)):
        x[k], y[k] = x[k - 1] * x[k], y[k - 1] * x[k] + y[k]
    back = lambda v: np.flip(np.moveaxis(v, 0, axis), axis) if reverse else np.moveaxis(v, 0, axis)
    return back(x), back(y)


def run(tkc, driver, seed):
    """Whether what the kernel leaves is right."""
    rng, nrng = random.Random(seed), np.random.default_rng(seed)
    axis, warp_bits, reverse, descending = rng.randint(0, 1), rng.randint(0, 2), rng.random() < 0.5, rng.random() < 0.5
    logs = [rng.randint(0, 5), rng.randint(0, 5)]
    logs[axis] = rng.randint(0, 7)
    shape = [rng.randint((1 << log >> 1) + 1, 1 << log) for log in logs]
    dt, storage = rng.choice((("int32", np.int32), ("fp32", np.float32), ("int64", np.int64), ("uint8", np.uint8)))
    block = Block(rng, logs, axis, warp_bits)
    values = dict(m=shape[0], n=shape[1], shape="%dx%d" % tuple(shape), warps=1 << warp_bits, axis=axis, dt=dt,
                  reverse=", reverse = 1" if reverse else "", descending=" {descending = 1}" if descending else "")
    text = text_of(block, values)
    made = subprocess.run([tkc, "-x", "ir", "-emit=ptx", "-passes=expand,place,sync", "-verify-each", "-v", "-"], input=text, capture_output=True, text=True)
    if made.returncode:
        print(text, made.stderr)
        return False
    a, b = (nrng.integers(-2**31, 2**31, shape).astype(np.int32) for _ in range(2))
    t = nrng.integers(0, 60, shape).astype(storage)
    arrays = [driver.array(v) for v in (a, b, np.zeros_like(a), np.zeros_like(a), t)]
    shared = int(made.stderr.split(" bytes of shared")[0].split()[-1])
    driver.load(made.stdout).launch("k", (1, 1, 1), 32 << warp_bits, [array.pointer for array in arrays], shared)
    r, s, sorted_t = (array.read() for array in arrays[2:])
    want_r, want_s = scanned(a, b, axis, reverse)
    want_t = (-np.sort(-t.astype(np.int64), 1) if descending else np.sort(t, 1)).astype(storage) if block.sorts() else t
    right = (r == want_r).all() and (s == want_s).all() and (sorted_t == want_t).all()
    for array in arrays:
        array.free()
    if not right:
        print(text)
    return right


def main():
    tkc, driver, n = sys.argv[1], Driver(sys.argv[2]), int(sys.argv[3])
    wrong = sum(not run(tkc, driver, seed) for seed in range(n))
    print(n, "kernels,", wrong, "wrong")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
