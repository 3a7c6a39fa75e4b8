#!/usr/bin/env python3
# Lanes that a branch has parted meet again behind it, whatever the order of the blocks in the text: barriers there are met by whole warps.
# REQUIRES: numpy
# UNSUPPORTED: asan
# RUN: %python %s %driver/libcuda.so.1 300 2>&1 | FileCheck %s
# RUN: %if long %{ %python %s %driver/libcuda.so.1 1000 2>&1 | FileCheck %s %}
# CHECK: {{^[1-9][0-9]*}} programs, 0 wrong
"""Each program is made of branches and loops that threads take differently, loops that all go round equally often, some rounds cut short by jumps
back to the header, and tables of targets; there are barriers where all threads are. Its blocks lie in an order drawn by lot."""
import os
import random
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs"))

from driver import Driver, DriverError

os.environ.setdefault("SIMT_TIMEOUT", "20")

THREADS = 96
HEAD = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 y) {
.reg .pred %p<4>;
.reg .b32 %x, %t, %u, %i<16>;
.reg .b64 %a, %o;
mov.u32 %t, %tid.x; mov.u32 %x, %t; ld.param.u64 %a, [y]; mul.wide.u32 %o, %t, 4; add.s64 %a, %a, %o;
bra B0;
"""


class Program:
    """Blocks of PTX as they are made, and the same as steps of a Python function."""

    def __init__(self, rng):
        self.rng, self.blocks, self.lines, self.loops = rng, [[]], [], 0
        self.body(0, True, 0, None)
        self.emit("st.global.u32 [%a], %x; ret;")
        self.lines.append("    return x")

    def branch(self, predicate, yes, no):
        """Either may be what the branch names."""
        self.emit(self.rng.choice((f"@%{predicate} bra {yes};\nbra {no};", f"@!%{predicate} bra {no};\nbra {yes};")))

    def emit(self, text):
        self.blocks[-1].append(text)

    def new_label(self):
        self.loops += 1
        return f"L{self.loops}"

    def begin(self, label):
        self.blocks.append([label + ":"])

    def say(self, depth, text):
        self.lines.append("    " * (depth + 1) + text)

    def change(self, depth):
        a, b = self.rng.randrange(1, 1 << 31, 2), self.rng.randrange(1 << 31)
        self.emit(f"mad.lo.u32 %x, %x, {a}, {b};")
        self.say(depth, f"x = (x * {a} + {b}) & 0xffffffff")

    def test(self, most):
        """%u is some bits of x, below `most`."""
        shift = self.rng.randrange(8, 28)
        self.emit(f"bfe.u32 %u, %x, {shift}, {most.bit_length() - 1};")
        return f"(x >> {shift} & {most - 1})"

    def body(self, depth, together, level, header):
        for _ in range(self.rng.randint(1, 3)):
            kinds = ["change", "change", "if", "divergent"] + ["table"] * (level < 2) + ["uniform"] * (together and level < 2) + ["again"] * (header is not None)
            kind = self.rng.choice(kinds) if level < 4 else "change"
            getattr(self, "make_" + kind)(depth, together, level, header)
            if together:
                self.emit("bar.sync 0;")

    def make_change(self, depth, together, level, header):
        self.change(depth)

    def make_if(self, depth, together, level, header):
        other, end = self.new_label(), self.new_label()
        cond = self.test(2)
        then = self.new_label()
        self.emit("setp.eq.u32 %p0, %u, 0;")
        self.branch("p0", other, then)
        self.say(depth, f"if {cond}:")
        self.begin(then)
        self.change(depth + 1)
        self.body(depth + 1, False, level + 1, None)
        self.emit(f"bra {end};")
        self.say(depth, "else:")
        self.begin(other)
        self.change(depth + 1)
        self.emit(f"bra {end};")
        self.begin(end)

    def make_divergent(self, depth, together, level, header):
        """Threads go round differently often, which is looked at before a round or behind it."""
        begin, inside, end, i, first = self.new_label(), self.new_label(), self.new_label(), level, self.rng.random() < 0.5
        cond = self.test(4)
        self.emit(f"add.u32 %i{i}, %u, 1;\nbra {begin};")
        self.say(depth, f"for _ in range({cond} + {1 - first}):")
        self.begin(begin)
        if first:
            self.count(i, end, inside)
            self.begin(inside)
        self.change(depth + 1)
        self.body(depth + 1, False, level + 1, None)
        if first:
            self.emit(f"bra {begin};")
        else:
            self.count(i, end, begin)
        self.begin(end)

    def count(self, i, end, on):
        self.emit(f"sub.u32 %i{i}, %i{i}, 1;\nsetp.eq.u32 %p1, %i{i}, 0;")
        self.branch("p1", end, on)

    def make_uniform(self, depth, together, level, header):
        """A barrier in each round, and jumps back to the header from inside."""
        begin, inside, end, i = self.new_label(), self.new_label(), self.new_label(), level
        rounds = self.rng.randint(1, 3)
        self.emit(f"mov.u32 %i{i}, {rounds + 1};\nbra {begin};")
        self.say(depth, f"for _ in range({rounds}):")
        self.begin(begin)
        self.count(i, end, inside)
        self.begin(inside)
        self.emit("bar.sync 0;")
        self.change(depth + 1)
        self.body(depth + 1, False, level + 1, begin)
        self.emit(f"bra {begin};")
        self.begin(end)

    def make_again(self, depth, together, level, header):
        on, cond = self.new_label(), self.test(2)
        self.emit("setp.eq.u32 %p2, %u, 0;")
        self.branch("p2", header, on)
        self.say(depth, f"if not {cond}: continue")
        self.begin(on)

    def make_table(self, depth, together, level, header):
        ways, end = [self.new_label() for _ in range(4)], self.new_label()
        cond = self.test(4)
        self.emit(f"{end}T: .branchtargets {', '.join(ways)};\nbrx.idx %u, {end}T;")
        self.say(depth, f"way = {cond}")
        for k, way in enumerate(ways):
            self.begin(way)
            self.say(depth, f"if way == {k}:")
            self.change(depth + 1)
            self.emit(f"bra {end};")
        self.begin(end)

    def text(self):
        """Some blocks run into the one that they would jump to."""
        blocks = dict(("\n".join(b).split("\n")[0][:-1], "\n".join(b)) for b in [["B0:"] + self.blocks[0]] + self.blocks[1:])
        text, label = HEAD, None
        while blocks:
            label = label if label in blocks else self.rng.choice(list(blocks))
            body, _, last = blocks.pop(label).rpartition("\n")
            label = last[4:-1] if last.startswith("bra ") and self.rng.random() < 0.5 else None
            text += body + "\n" + ("" if label in blocks else last + "\n")
        return text + "}\n"

    def want(self):
        scope = {}
        exec("def f(x):\n" + "\n".join(self.lines), scope)
        return np.array([scope["f"](t) for t in range(THREADS)], np.uint32)


def run(driver, seed):
    program = Program(random.Random(seed))
    text, y = program.text(), driver.array(np.zeros(THREADS, np.uint32))
    driver.load(text).launch("k", (1, 1, 1), THREADS, [y.pointer])
    right = (y.read() == program.want()).all()
    y.free()
    if not right:
        print(text)
    return right


def main():
    driver, n, wrong = Driver(sys.argv[1]), int(sys.argv[2]), 0
    for seed in range(n):
        try:
            wrong += not run(driver, seed)
        except DriverError as error:
            print("program", seed, error)
            wrong += 1
            break
    print(n, "programs,", wrong, "wrong")


main()
