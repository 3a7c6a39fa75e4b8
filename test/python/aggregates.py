# Classes under @triton.aggregate, by each of its names: their text is compiled with the kernel's, with what it uses.
# REQUIRES: numpy
# RUN: %tkc-python %s | FileCheck %s
import numpy as np

import tkc as triton
import tkc.language as tl


SCALE = tl.constexpr(3)


@triton.jit
def scaled(x):
    return x * SCALE


@tl.core._aggregate
class Pair:
    first: tl.tensor
    second: tl.tensor
    N: tl.constexpr

    @triton.constexpr_function
    def __init__(self, first, second, N):
        self.first = first
        self.second = second
        self.N = tl.constexpr(N)

    @triton.jit
    def total(self):
        return scaled(self.first) + self.second

    @triton.jit
    def of_one(x, N: tl.constexpr):
        return Pair(x, x + 1, N)


@triton.language.core._aggregate
class Inner:
    pair: Pair

    def __init__(self, pair):
        self.pair = pair

    @triton.jit
    def times(self):
        return self.pair.total() * self.pair.N


@triton.aggregate
class Outer:
    inner: Inner

    def __init__(self, inner):
        self.inner = inner


@triton.jit
def kernel(y, STOP: tl.constexpr):
    i = tl.arange(0, STOP)
    outer = Outer(Inner(Pair.of_one(i, 2)))
    tl.store(y + i, Pair(i, 5, 7).total() + outer.inner.times())


y = np.zeros(4, np.int32)
kernel[(1,)](y, 4)
# CHECK: [ 7 18 29 40]
print(y)
print(y.tolist() == [3 * i + 5 + 2 * (3 * i + i + 1) for i in range(4)])
# CHECK: True

# A class is a class in Python, too.
# CHECK: 1 2
print(Outer(1).inner, Inner(2).pair)


# ---- results that have to be used ----
@triton.aggregate
class Square:
    side: tl.tensor

    @triton.must_use_result("It is an area.")
    @triton.jit
    def area(self):
        return self.side * self.side

    @triton.must_use_result
    @triton.constexpr_function
    def power(self):
        return 2


@triton.jit
def drops(y, WHICH: tl.constexpr):
    square = Square(tl.load(y))
    tl.store(y, square.area() + square.power())
    if WHICH:
        square.area()
    else:
        square.power()


for which in (True, False):
    try:
        drops[(1,)](y, which)
    except triton.KernelError as e:
        print(e.error_message)
# CHECK: The result of square.area is not being used. It is an area.
# CHECK: The result of square.power is not being used.
