#!/usr/bin/env python3
# Random loops of matrix products give the same bits on cpu and on a GPU: loops.py TKC DEVICE [-first N] [-n COUNT | -seconds S] [-show N]
# RUN: %python %s %build/tkc simt -n 12 | FileCheck %s
# RUN: %python %s %build/tkc simt -first 6147 -n 1 | FileCheck %s
# RUN: %if long && !asan %{ %python %s %build/tkc simt -first 1000 -seconds 240 | FileCheck %s %}
# RUN: %if cuda %{ %python %s %build/tkc cuda -n 150 | FileCheck %s %}
# CHECK: {{^[1-9][0-9]* loops, [0-9]+ too large for their chip, 0 wrong$}}
"""Each number is a kernel with one or two loops of one to three products each: operands that are loaded as they lie or turned, masked or not,
by rows that an array names, converted from fewer bits, the same in every turn, or made of a product before; sums that only add, are scaled,
or begin anew; what is known of addresses, warps, stages, chips. Numbers are small whole ones, so that every sum is exact and so are results."""
import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

PITCH = 256  # elements from row to row of the arrays that are read; they have as many rows
HEAD = "import triton\nimport triton.language as tl\n\n\n@triton.jit\n"
TOO_LARGE = "too large"  # for the shared memory of the chip
KEEP = "(({0}).to(tl.int32) & 3).to({1})"  # small whole numbers again


class Loop:
    """Lines of one kernel. Blocks are (name, rows, columns)."""

    def __init__(self, number):
        self.r = random.Random(number)
        self.number, self.names = number, 0
        r = self.r
        self.arch = r.choice(["sm_90a"] * 8 + ["sm_80", "sm_75"])
        self.warps, self.stages = r.choice([4, 4, 4, 8, 8, 8, 2, 16]), r.choice([2, 2, 3, 3, 4, 5, 1])
        self.type = r.choice(["fp16", "fp16", "bf16"])
        self.m, self.n = r.choice([64, 64, 64, 128, 128, 32]), r.choice([16, 32, 64, 64, 128])
        self.k = r.choice([16, 32, 64])
        self.turns, self.divisible, self.even = r.choice([0, 1, 2, 3, 4, 5]), r.random() < 0.85, r.random() < 0.6
        self.lines, self.outputs, self.before = [], [], []

    def name(self, letter):
        self.names += 1
        return f"{letter}{self.names}"

    def say(self, text, depth):
        self.lines.append("    " * depth + text)

    # ---- operands ----

    def positions(self, extent, along):
        """The loop's own positions, where an operand lies along it; else a constant place."""
        return f"at + tl.arange(0, {extent})" if along else f"{self.r.choice([0, 16, 64])} + tl.arange(0, {extent})"

    def load(self, rows, columns, along, depth):
        """A block of which dim `along` (0, 1, or None) runs with the loop."""
        r = self.r
        narrow, turned = r.random() < 0.1, r.random() < 0.35
        array = "bytes" if narrow else r.choice(["x", "y", "z"])
        first, second = self.name("i"), self.name("j")
        self.say(f"{first} = {self.positions(rows, along == 0)}", depth)
        self.say(f"{second} = {self.positions(columns, along == 1)}", depth)
        if r.random() < 0.07 and not turned:
            self.say(f"{first} = tl.load(index + {first})", depth)
        down, right = f"{first}[:, None]", f"{second}[None, :]"
        way = "direct"
        if turned:
            way = r.choice(["pointers", "trans"])
        if way == "trans":
            down, right = f"{second}[:, None]", f"{first}[None, :]"
        where = f"{array} + {right} * pitch + {down}" if way == "pointers" else f"{array} + {down} * pitch + {right}"
        mask = ""
        if r.random() < 0.3:
            bound = {0: f"{first}", 1: f"{second}"}.get(along)
            if bound:
                is_down = (along == 0) != (way == "trans")
                mask = f", mask={bound}{'[:, None]' if is_down else '[None, :]'} < limit, other=0.0"
        block = self.name("v")
        self.say(f"{block} = tl.load({where}{mask})", depth)
        if narrow:
            self.say(f"{block} = {block}.to(tl.{self.dtype()})", depth)
        if way == "trans":
            self.say(f"{block} = tl.trans({block})", depth)
        if r.random() < 0.1:
            self.say(f"{block} = {block} + {block}", depth)
        return block

    def dtype(self):
        return {"fp16": "float16", "bf16": "bfloat16"}[self.type]

    # ---- products ----

    def product(self, m, n, k, a, depth, sums):
        """A product of a (made here where None) and a block that is loaded; returns a block of the turn or None."""
        r = self.r
        a = a or self.load(m, k, 1 if r.random() < 0.8 else None, depth)
        b = self.load(k, n, 0 if r.random() < 0.9 else 1, depth)
        how = r.choice(["sum", "sum", "sum", "plus", "scaled", "masked", "turn", "turn"])
        if how == "turn":
            block = self.name("t")
            self.say(f"{block} = tl.dot({a}, {b})", depth)
            return block
        name = self.name("sum")
        sums.append((name, m, n))
        product = f"tl.dot({a}, {b}, {name})"
        if how == "plus":
            self.say(f"{name} += tl.dot({a}, {b})", depth)
        elif how == "scaled":
            self.say(f"{name} = tl.dot({a}, {b}, {KEEP.format(name, 'tl.float32')})", depth)
        elif how == "masked":
            self.say(f"{name} = tl.maximum({product}, -5.0)", depth)
        else:
            self.say(f"{name} = {product}", depth)
        return None

    def use(self, block, m, n, depth, sums):
        """What a turn does with a product: reduce it, or multiply it further."""
        r = self.r
        if r.random() < 0.6:
            p = self.name("p")
            self.say(f"{p} = {KEEP.format(block, 'tl.' + self.dtype())}", depth)
            n2 = r.choice([16, 32, 64])
            name = self.name("sum")
            sums.append((name, m, n2))
            b = self.load(n, n2, None, depth)
            scale = r.choice([None, None, "tl.maximum({0}, 1.0)", "{0} * 2.0 - {0}"])
            self.say(f"{name} = tl.dot({p}, {b}, {scale.format(name) if scale else name})", depth)
        if r.random() < 0.5:
            name = self.name("row")
            sums.append((name, m, None))
            self.say(f"{name} += tl.sum({block}, 1)", depth)
        if r.random() < 0.3:
            name = self.name("most")
            sums.append((name, m, n))
            self.say(f"{name} = tl.maximum({name}, {block})", depth)

    def loop(self, depth):
        r, sums = self.r, []
        kept = None
        if r.random() < 0.3:
            kept = self.load(self.m, self.k, None, depth)
        where = len(self.lines)
        for _ in range(r.choice([1, 1, 2, 3])):
            block = self.product(self.m, self.n, self.k, kept if r.random() < 0.5 else None, depth + 1, sums)
            if block:
                self.use(block, self.m, self.n, depth + 1, sums)
        if len(self.lines) == where:
            self.say("pass", depth + 1)
        stages = r.choice(["", "", "", f", num_stages={r.choice([1, 2, 4])}"])
        body = self.lines[where:]
        self.lines[where:] = []
        for name, m, n in sums:
            self.say(f"{name} = tl.zeros([{m}{'' if n is None else f', {n}'}], tl.float32)", depth)
        self.say(f"for at in {'tl.range' if stages else 'range'}(0, length, {self.k}{stages}):", depth)
        self.lines += body
        return sums

    def store(self, sums, depth):
        for name, m, n in sums:
            at = len(self.outputs)
            rows = f"tl.arange(0, {m})"
            if n is None:
                self.say(f"tl.store(out + {at} * 16384 + {rows}, {name})", depth)
            else:
                self.say(f"tl.store(out + {at} * 16384 + {rows}[:, None] * {n} + tl.arange(0, {n})[None, :], {name})", depth)
            self.outputs.append(name)

    def text(self):
        around = self.r.random() < 0.2
        if around:
            self.say("for again in range(2):", 1)
        for _ in range(self.r.choice([1, 1, 2])):
            self.store(self.loop(2 if around else 1), 2 if around else 1)
        element = f'"*{self.type}{":16" if self.divisible else ""}"'
        params = ", ".join([*(f"{n}: {element}" for n in "xyz"), 'bytes: "*i8:16"', 'index: "*i32:16"', 'out: "*fp32:16"',
                            f'pitch: "i32{":16" if self.divisible else ""}"', f'limit: "i32{":16" if self.even else ""}"', 'length: "i32"'])
        return HEAD + f"def kernel({params}):\n" + "\n".join(self.lines) + "\n"


class Runner:
    def __init__(self, tkc, device, folder):
        import numpy as np
        self.tkc, self.device, self.folder = tkc, device, folder
        rng = np.random.default_rng(5)
        for name, kind in (("x", "fp"), ("y", "fp"), ("z", "fp"), ("bytes", np.int8), ("index", np.int32)):
            values = rng.integers(-2, 3, (2 * PITCH, PITCH))
            if name == "index":
                values = np.abs(np.arange(2 * PITCH) * 7 % (PITCH + 77))
            for dtype in ("fp16", "bf16") if kind == "fp" else ("",):
                data = values.astype(kind) if kind != "fp" else values.astype(np.float16) if dtype == "fp16" else \
                    (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16).reshape(values.shape)
                np.save(os.path.join(folder, name + dtype + ".npy"), data)

    def command(self, loop, text, device, more):
        limit = loop.turns * loop.k - ((16 if loop.even else 5) if loop.turns else 0)
        array = lambda n: f"{n}={self.folder}/{n}{loop.type}.npy:{loop.type}"
        return [self.tkc, "-run", text, "-device", device, f"-num-warps={loop.warps}", f"-num-stages={loop.stages}", "-arch=" + loop.arch, "-grid", "1",
                array("x"), array("y"), array("z"), f"bytes={self.folder}/bytes.npy", f"index={self.folder}/index.npy",
                f"out=zeros:f32[{max(1, len(loop.outputs)) * 16384}]", f"pitch={PITCH}", f"limit={limit}", f"length={loop.turns * loop.k}", *more]

    def wrong(self, number):
        """None, or what is wrong, or TOO_LARGE."""
        loop = Loop(number)
        text = os.path.join(self.folder, f"loop{number}.tk")
        with open(text, "w") as f:
            f.write(loop.text())
        expected = text[:-3] + ".npy"
        commands = [self.command(loop, text, "cpu", ["-save", "out=" + expected]),
                    self.command(loop, text, self.device, ["-seed", str(number % 17), "-check", f"out={expected},rtol=0,atol=0"])]
        for c in commands:
            done = subprocess.run(c, capture_output=True, text=True)
            if done.returncode:
                return TOO_LARGE if "bytes of shared memory" in done.stderr else f"{' '.join(c)}\n{done.stdout}{done.stderr}"
        os.remove(text)
        os.remove(expected)
        return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tkc")
    parser.add_argument("device")
    parser.add_argument("-first", type=int, default=1)
    parser.add_argument("-n", type=int, default=20)
    parser.add_argument("-seconds", type=float)
    parser.add_argument("-jobs", type=int, default=2)
    parser.add_argument("-show", type=int)
    args = parser.parse_args()
    if args.show is not None:
        print(Loop(args.show).text())
        return
    count = wrong = large = 0
    end = time.time() + args.seconds if args.seconds else None
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(args.jobs) as pool:
        runner, number = Runner(args.tkc, args.device, folder), args.first
        while time.time() < end if end else count < args.n:
            for at, found in enumerate(pool.map(runner.wrong, range(number, number + 2 * args.jobs))):
                count += 1
                large += found == TOO_LARGE
                if found not in (None, TOO_LARGE):
                    wrong += 1
                    print(f"loop {number + at}:\n{found}")
            number += 2 * args.jobs
    print(f"{count} loops, {large} too large for their chip, {wrong} wrong")
    sys.exit(wrong > 0 or 2 * large > count)


main()
