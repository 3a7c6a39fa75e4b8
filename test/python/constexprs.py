# What a tl.constexpr may be given: named tuples, tuples of functions, members of an Enum, dataclasses, and what these are made of.
# REQUIRES: numpy
# RUN: %tkc-python %s cpu | FileCheck %s
# RUN: %tkc-python %s simt | FileCheck %s
import dataclasses
import enum
import sys
from collections import namedtuple
from typing import NamedTuple

import numpy as np

import tkc
import tkc.language as tl

tkc.use(sys.argv[1])
Tile = namedtuple("Tile", "bm bn")


class Shape(NamedTuple):
    tile: Tile
    kind: tl.dtype = tl.float32

    @tkc.jit
    def count(self):
        return self.tile.bm * self.tile.bn


class Mode(enum.Enum):
    ADD = 0
    MUL = "mul"


class Name(str, enum.Enum):
    LEFT = "left"


@dataclasses.dataclass(frozen=True)
class Config:
    fn: object
    tile: Tile = Tile(2, 3)


@tkc.jit
def add1(x):
    return x + 1


@tkc.jit
def mul2(x):
    return x * 2


@tkc.jit
def tiled(o, C: tl.constexpr):
    tl.static_assert(isinstance(C, Tile))
    tl.store(o + tl.arange(0, C.bm), C.bn + 0.0)


@tkc.jit
def shaped(o, C: tl.constexpr):
    tl.store(o + tl.arange(0, 4), tl.full([4], C.count(), C.kind))


@tkc.jit
def composed(o, F: tl.constexpr, by: tl.constexpr):
    tl.store(o, F[0](F[1](3.0)))
    tl.store(o + 1, by["f"](5.0))


@tkc.jit
def moded(o, M: tl.constexpr, side: tl.constexpr):
    if M.value == "mul" and side == "left":
        tl.store(o, 5.0)
    else:
        tl.store(o, 6.0)


@tkc.jit
def configured(o, C: tl.constexpr):
    tl.store(o + tl.arange(0, C.tile.bn), C.fn(1.0))


@tkc.jit
def mixed(o, things):
    tl.store(o, things[0](things[1]))


def run(kernel, *args):
    o = np.zeros(4, np.float32)
    kernel[(1,)](o, *args)
    print(kernel.__name__, o.tolist())


# CHECK: tiled [7.0, 7.0, 7.0, 0.0]
# CHECK: tiled [8.0, 8.0, 0.0, 0.0]
run(tiled, Tile(3, 7))
run(tiled, Tile(2, 8))
# CHECK: shaped [6.0, 6.0, 6.0, 6.0]
run(shaped, Shape(Tile(2, 3)))
# CHECK: composed [7.0, 6.0, 0.0, 0.0]
# CHECK: composed [8.0, 10.0, 0.0, 0.0]
run(composed, (add1, mul2), {"f": add1})
run(composed, [mul2, add1], {"f": mul2})
# CHECK: moded [5.0, 0.0, 0.0, 0.0]
# CHECK: moded [6.0, 0.0, 0.0, 0.0]
run(moded, Mode.MUL, Name.LEFT)
run(moded, Mode.ADD, Name.LEFT)
# CHECK: configured [2.0, 2.0, 2.0, 0.0]
# CHECK: configured [2.0, 2.0, 0.0, 0.0]
run(configured, Config(add1))
run(configured, Config(tl.constexpr(mul2), Tile(1, 2)))
# CHECK: mixed [3.0, 0.0, 0.0, 0.0]
# CHECK: mixed [8.0, 0.0, 0.0, 0.0]
run(mixed, (tl.constexpr(add1), 2))
run(mixed, (tl.constexpr(tl.exp2), 3.0))
for value in (object(), Tile(object(), 1), (add1, object())):
    try:
        run(tiled, value)
    except TypeError as e:
        # CHECK-COUNT-3: an object of type {{object|Tile|tuple}} cannot be a constexpr; numbers,
        print(e)
