# Tuples, named ones and nested, as arguments: of arrays, numbers, constexprs, functions, None; on cpu and on the emulated GPU.
# REQUIRES: numpy
# RUN: %tkc-python %s cpu | FileCheck %s
# RUN: %tkc-python %s simt | FileCheck %s
import sys
from typing import NamedTuple

import numpy as np

import tkc
import tkc.language as tl

tkc.use(sys.argv[1])


class View(NamedTuple):
    data: any
    shape: tuple
    strides: tuple


class Closure(NamedTuple):
    fn: tl.constexpr
    captured: tuple


@tkc.jit
def mask_of(v, M: tl.constexpr, N: tl.constexpr):
    return (tl.arange(0, M)[:, None] < v.shape[0]) & (tl.arange(0, N)[None, :] < v.shape[1])


@tkc.jit
def apply(closure, x, y, M: tl.constexpr, N: tl.constexpr):
    i, j = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    tl.static_assert(x.strides[1] == 1)
    v = tl.load(x.data + i * x.strides[0] + j * x.strides[1], mask=mask_of(x, M, N), other=0.0)
    tl.store(y.data + i * y.strides[0] + j * y.strides[1], closure.fn(v, *closure.captured), mask=mask_of(y, M, N))


@tkc.jit
def times(v, by):
    return v * tl.load(by)


@tkc.jit
def plus(v, by, more):
    return v + tl.load(by) + more


def view(a):
    return View(a, a.shape, tuple(s // a.itemsize for s in a.strides))


x, by = np.arange(35, dtype=np.float32).reshape(5, 7), np.array([3], np.float32)
for fn, captured, want in ((times, (by,), x * 3), (plus, (by, 2), x + 5), (plus, (by, 4.5), x + 7.5)):
    y = np.zeros_like(x)
    apply[(1,)](Closure(fn, captured), view(x), view(y), 8, 8)
    assert (y == want).all(), (fn, y)
# A transposed view: its last stride is no 1, and the kernel of the ones that have it is not taken for it.
try:
    apply[(1,)](Closure(times, (by,)), view(x.T), view(y), 8, 8)
except tkc.KernelError as e:
    # CHECK: 'cond' of tl.static_assert must be known while compiling, found int1
    # CHECK: <launch of apply>:3:5: note: called from here
    print(e)


@tkc.jit
def inside(out, things, BLOCK: tl.constexpr, end=7):
    tl.static_assert(things[1] is None and things[2][1] == 4 and BLOCK == 8)
    tl.static_assert(len(things) == 4 and len(things[3]) == 0)
    tl.store(out, tl.load(things[0]) + things[2][0] + things[2][1] + end)


for first in (1, 5):
    out = np.zeros(1, np.int32)
    inside[(1,)](out, (np.array([100], np.int32), None, [first, tl.constexpr(4)], ()), BLOCK=8)
    # CHECK: 112
    # CHECK: 116
    print(out[0])


@tkc.jit
def sizes(out, shape: tl.constexpr, steps):
    tl.store(out + tl.arange(0, shape[0]) * steps[0], tl.arange(0, shape[0]))


out = np.zeros(16, np.int32)
sizes[(1,)](out, (8, 2), (2, 3))
# CHECK: [0 0 1 0 2 0 3 0 4 0 5 0 6 0 7 0]
print(out)
kernels = len(sizes.kernels)
sizes[(1,)](out, (8, 2), (1, 3))
sizes[(1,)](out, (8, 2), (2, 5))
# CHECK: one more kernel: 1
print("one more kernel:", len(sizes.kernels) - kernels)
try:
    sizes[(1,)](out, (8, 2), ({}, 3))
except TypeError as e:
    # CHECK: argument 'steps__0' is of type dict; kernels take arrays
    print(e)


@tkc.jit
def second(out, pairs):
    tl.store(out, pairs[1][0])


# CHECK: as they are nested: 40 30
for pairs in (((20, 30), (40,)), ((20,), (30, 40))):
    second[(1,)](out, pairs)
    print("as they are nested:" if len(pairs[0]) == 2 else "", out[0], end="" if len(pairs[0]) == 2 else "\n")
