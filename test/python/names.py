# What the names in a kernel stand for is asked of Python: closures, helpers of this and of other files, values that change.
# REQUIRES: numpy
# RUN: %tkc-python %s | FileCheck %s
import math
import os
import sys
from collections import namedtuple

import numpy as np

import tkc
import tkc as triton
import tkc.language as tl
from tkc.language import store
from tkc.language.extra.cuda import gdc, utils
from tkc.language.extra.cuda.gdc import gdc_wait
from tkc.language.extra.cuda.libdevice import tanh
from tkc.language.extra.cuda.utils import num_threads

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs"))
import helpers  # noqa: E402
from helpers import halve, offset as other_offset  # noqa: E402

x = np.zeros(4, np.float32)
Pair = namedtuple("Pair", "first second")
SIZE = 4 if os.environ.get("NOBODY_SETS_THIS") is None else 8  # computed by Python
KIND = tl.float32


class Limits:
    LOW = -2


def run(kernel, *args, **kwargs):
    x[:] = 0
    kernel[(1,)](x, *args, **kwargs)
    print(kernel.__name__, x.tolist())


@tkc.jit
def offset(v):
    return v + 1


@tkc.jit
def globals_(x):
    i = tl.arange(0, SIZE)
    p = Pair(i, Limits.LOW)
    tl.store(x + p.first, (p.first * p.second).to(KIND) + math.pi)


# CHECK: globals_ [3.14159{{[0-9]*}}, 1.14159{{[0-9]*}}, -0.85840{{[0-9]*}}, -2.85840{{[0-9]*}}]
run(globals_)


@triton.jit
def files(x):
    tl.store(x, offset(1.0))  # this file's
    tl.store(x + 1, other_offset(1.0))  # another one's of the same name
    tl.store(x + 2, helpers.offset(0.0) + helpers.more.STEP)
    tl.store(x + 3, halve(10.0))


# CHECK: files [2.0, 101.0, 107.0, 5.0]
run(files)
helpers.more.STEP = 8
# CHECK: files [2.0, 101.0, 108.0, 5.0]
run(files)


def make(scale, function):
    def unused():
        return scale

    @tkc.jit
    def made(x):
        tl.store(x, function(1.0) * scale)
        tl.store(x + 1, later)
    later = 5
    return made


first, second = make(2, offset), make(3, other_offset)
# CHECK: made [4.0, 5.0, 0.0, 0.0]
run(first)
# CHECK: made [303.0, 5.0, 0.0, 0.0]
run(second)
# CHECK: made [4.0, 5.0, 0.0, 0.0]
run(first)


def scaled(k):
    @tkc.jit
    def by(v):
        return v * k
    return by


def scaled_more(k):
    @tkc.jit
    def by_more(v):
        return v * k + 0.5
    return by_more


by2, by3, by4 = scaled(2), scaled(3), scaled_more(4)


@tkc.jit
def captured(x):
    tl.store(x, by2(1.0))
    tl.store(x + 1, by3(1.0))
    tl.store(x + 2, by4(1.0))


# CHECK: captured [2.0, 3.0, 4.5, 0.0]
run(captured)


@tkc.jit
def chooses(x, F: tl.constexpr, n: tl.constexpr = 3):
    tl.store(x, F(n))


# CHECK: chooses [4.0, 0.0, 0.0, 0.0]
run(chooses, offset)
# CHECK: chooses [103.0, 0.0, 0.0, 0.0]
run(chooses, F=other_offset)
# CHECK: chooses [6.0, 0.0, 0.0, 0.0]
run(chooses, by2)
# CHECK: chooses [9.0, 0.0, 0.0, 0.0]
run(chooses, by3)


def replaced():
    global offset

    @tkc.jit
    def offset(v):
        return v - 1


replaced()
# CHECK: files [0.0, 101.0, 108.0, 5.0]
run(files)


STEPS, NESTED = [1.0, 2.0], ({"a": [1.0]},)


@tkc.jit
def in_place(x):
    tl.store(x, STEPS[0])
    tl.store(x + 1, STEPS[len(STEPS) - 1])
    tl.store(x + 2, NESTED[0]["a"][0])


# CHECK: in_place [1.0, 2.0, 1.0, 0.0]
run(in_place)
STEPS[0] = 5.0
# CHECK: in_place [5.0, 2.0, 1.0, 0.0]
run(in_place)
STEPS.append(7.0)
# CHECK: in_place [5.0, 7.0, 1.0, 0.0]
run(in_place)
NESTED[0]["a"][0] = 9.0
# CHECK: in_place [5.0, 7.0, 9.0, 0.0]
run(in_place)


@tkc.constexpr_function
def squared(n):
    return n * n


@tkc.jit
def squares(x, N: tl.constexpr):
    tl.store(x, squared(N) + triton.next_power_of_2(N) + tl.cdiv(N, 2) + triton.cdiv(N, 4))


# CHECK: squares [{{9\.0|38\.0}}, 0.0, 0.0, 0.0]
run(squares, 5)
# CHECK: 25
print(squared(5))


def halved(n):
    return n // 2


@tkc.constexpr_function
def steps(n):
    r = 0
    while n > 1:
        n = halved(n)
        r += 1
    return r


@tkc.jit
def stepped(x, N: tl.constexpr, F: tl.constexpr):
    COUNT: tl.constexpr = steps(N)
    tl.store(x + tl.arange(0, COUNT), F(4 * N) + 0.0)


# Numbers stay Python's in a function that runs while compiling, and it calls what it likes.
# CHECK: stepped [4.0, 4.0, 0.0, 0.0]
run(stepped, 4, steps)


@tkc.jit
def in_helper(x):
    tl.store(x, helpers.broken(1.0))


try:
    run(in_helper)
except tkc.KernelError as e:
    # CHECK: {{^.*}}Inputs/helpers.py:22:16: error: the name 'nobody' is not defined
    # CHECK-NEXT: return v + nobody
    # CHECK: names.py:{{[0-9]+}}:17: note: called from here
    print(e)

    def indented(x):
            tl.store(x, absent)

    try:
        run(tkc.jit(indented))
    except tkc.KernelError as e:
        # CHECK: names.py:[[@LINE-5]]:25: error: the name 'absent' is not defined
        # CHECK-NEXT: {{^}}            tl.store(x, absent)
        print(e)


# The first of an autotuner's configurations on the host, after pruning; heuristics; their order does not matter.
@tkc.autotune([tkc.Config({"N": 1}, num_warps=2), tkc.Config({"N": 2}), tkc.Config({"N": 3})], key=["k"],
              prune_configs_by={"early_config_prune": lambda configs, args, **kw: [c for c in configs if c.kwargs["N"] >= args["k"]]})
@tkc.heuristics({"M": lambda args: args["N"] * 10})
@tkc.jit
def tuned(x, k, N: tl.constexpr, M: tl.constexpr):
    tl.store(x, N)
    tl.store(x + 1, M + k)


# CHECK: tuned [1.0, 11.0, 0.0, 0.0]
run(tuned, 1)
# CHECK: tuned [2.0, 22.0, 0.0, 0.0]
run(tuned, 2)
# CHECK: Config(N=2)
print(tuned.best_config)
asked = []


# What is given by position, and what by keywords, as Triton tells them apart; the model's best of them.
@tkc.autotune([tkc.Config({"N": 1}), tkc.Config({"N": 2})], key=[], prune_configs_by={
    "early_config_prune": lambda configs, args, **kw: asked.append((sorted(args), sorted(kw))) or configs, "perf_model": lambda **kw: -kw["N"],
    "top_k": 1})
@tkc.jit
def modelled(x, k, N: tl.constexpr):
    tl.store(x, N + k)


values = np.zeros(1, np.float32)
modelled[(1,)](values, k=4)
# CHECK: modelled (['x'], ['k']) 6.0
print("modelled", *asked, values[0])
none = tkc.autotune([tkc.Config({"N": 1}), tkc.Config({"N": 2})], key=[], prune_configs_by={"early_config_prune": lambda configs, args, **kw: []})(modelled.fn)
try:
    none[(1,)](values, k=4)
except tkc.Error as e:
    # CHECK: modelled(): early_config_prune left no configuration
    print(e)

# A file's kernels, with what the file itself says.
from_file = tkc.jit(os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs", "kernels.tk"), kernel="fill")
# CHECK: fill [7.0, 7.0, 7.0, 7.0]
run(from_file, 7)
# CHECK: fill [6.5, 6.5, 0.0, 0.0]
run(from_file, 6.5, BLOCK=2)
# CHECK: fill [3.0, 3.0, 3.0, 3.0]
run(from_file)


# ---- annotations that a decorator makes ----
def annotated(**types):
    def mark(function):
        function.__annotations__ = types
        return function
    return mark


@tkc.jit
@annotated(n=tl.int64, v="tl.float64", p="*fp32", x=np.ndarray, BLOCK=tl.constexpr)
def annotations(x, p, v, n: tl.int8,
                BLOCK):
    tl.static_assert(v.dtype == tl.float64)
    tl.static_assert(n.dtype == tl.int8)
    tl.store(x + tl.arange(0, BLOCK), v + n)


# CHECK: annotations [2.5, 2.5, 2.5, 2.5]
run(annotations, x, 0.5, 2, 4)


# ---- functions of the language as constexprs ----
@tkc.jit
def applies(x, F: tl.constexpr):
    at = x + tl.arange(0, 4)
    tl.store(at, F(tl.load(at)))


# CHECK: language exp2 16.000
# CHECK: language sqrt 2.000
# CHECK: language sigmoid 0.982
# CHECK: language floor 4.000
for function in (tl.exp2, tl.math.sqrt, tl.sigmoid, tl.extra.libdevice.floor):
    x[:] = 4
    applies[(1,)](x, function)
    print("language %s %.3f" % (function.dotted.rsplit(".", 1)[1], x[0]))
# CHECK: cannot be a constexpr
try:
    applies[(1,)](x, tl.math)
except TypeError as e:
    print(e)


# ---- a name of the language alone, in a statement ----
@tkc.jit
def bare(x):
    store(x, 3.0)


# CHECK: bare [3.0, 0.0, 0.0, 0.0]
run(bare)


# ---- what only a chip knows ----
@tkc.jit
def chip(x):
    gdc_wait()
    gdc.gdc_launch_dependents()
    tl.store(x, num_threads() + utils.num_warps() + tanh(0.0))


# CHECK: chip [132.0, 0.0, 0.0, 0.0]
run(chip)
