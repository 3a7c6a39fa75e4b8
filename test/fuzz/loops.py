#!/usr/bin/env python3
# Random loops of matrix products give the same bits on cpu and on a GPU: loops.py TKC DEVICE [-first N] [-n COUNT | -seconds S] [-seed N] [-show N]
# RUN: %python %s %build/tkc simt -n 12 | FileCheck %s
# RUN: %python %s %build/tkc simt -first 1000066 -n 1 | FileCheck %s
# RUN: %python %s %build/tkc simt -first 1000297 -n 1 | FileCheck %s
# RUN: %python %s %build/tkc simt -first 2000159 -n 1 | FileCheck %s
# RUN: %python %s %build/tkc simt -first 1000000 -n 12 | FileCheck %s
# RUN: %python %s %build/tkc simt -first 2000000 -n 12 | FileCheck %s
# RUN: %python %s %build/tkc simt -first 3000000 -n 12 | FileCheck %s
# RUN: %python %s %build/tkc simt -first 3010324 -n 1 | FileCheck %s
# RUN: %python %s %build/tkc simt -first 3400028 -n 1 | FileCheck %s
# RUN: %python %s %build/tkc simt -first 4000000 -n 12 | FileCheck %s
# RUN: %if long && !asan %{ %python %s %build/tkc simt -first 4001000 -seconds 60 | FileCheck %s %}
# RUN: %if cuda %{ %python %s %build/tkc cuda -first 4000000 -n 150 | FileCheck %s %}
# RUN: %python %s %build/tkc simt -first 5000000 -n 24 | FileCheck %s
# RUN: %python %s %build/tkc simt -first 5001785 -n 1 | FileCheck %s
# RUN: %if long && !asan %{ %python %s %build/tkc simt -first 5001000 -seconds 120 | FileCheck %s %}
# RUN: %if cuda %{ %python %s %build/tkc cuda -first 5000000 -n 150 | FileCheck %s %}
# RUN: %if long && !asan %{ %python %s %build/tkc simt -first 1000 -seconds 240 | FileCheck %s %}
# RUN: %if long && !asan %{ %python %s %build/tkc simt -first 1001000 -seconds 240 | FileCheck %s %}
# RUN: %if cuda %{ %python %s %build/tkc cuda -n 150 | FileCheck %s %}
# RUN: %if cuda %{ %python %s %build/tkc cuda -first 1000000 -n 150 | FileCheck %s %}
# RUN: %if long && !asan %{ %python %s %build/tkc simt -first 2001000 -seconds 120 | FileCheck %s %}
# RUN: %if cuda %{ %python %s %build/tkc cuda -first 2000000 -n 150 | FileCheck %s %}
# RUN: %if long && !asan %{ %python %s %build/tkc simt -first 3001000 -seconds 60 | FileCheck %s %}
# RUN: %if cuda %{ %python %s %build/tkc cuda -first 3000000 -n 150 | FileCheck %s %}
# RUN: %python %s %build/tkc simt -first 6000000 -n 12 | FileCheck %s
# RUN: %python %s %build/tkc simt -first 6000090 -n 1 | FileCheck %s
# RUN: %python %s %build/tkc simt -first 6000126 -n 1 | FileCheck %s
# RUN: %python %s %build/tkc simt -first 7000000 -n 12 | FileCheck %s
# RUN: %if long && !asan %{ %python %s %build/tkc simt -first 7001000 -seconds 60 | FileCheck %s %}
# RUN: %if cuda %{ %python %s %build/tkc cuda -first 7000000 -n 150 | FileCheck %s %}
# RUN: %if long && !asan %{ %python %s %build/tkc simt -first 6001000 -seconds 120 | FileCheck %s %}
# RUN: %if cuda %{ %python %s %build/tkc cuda -first 6000000 -n 150 | FileCheck %s %}
# RUN: %python %s %build/tkc simt -first 8000000 -n 12 | FileCheck %s
# RUN: %if long && !asan %{ %python %s %build/tkc simt -first 8001000 -seconds 240 | FileCheck %s %}
# RUN: %if cuda %{ %python %s %build/tkc cuda -first 8000000 -n 150 | FileCheck %s %}
# RUN: %python %s %build/tkc simt -first 9000000 -n 12 | FileCheck %s
# RUN: %if long && !asan %{ %python %s %build/tkc simt -first 9001000 -seconds 120 | FileCheck %s %}
# RUN: %if cuda %{ %python %s %build/tkc cuda -first 9000000 -n 150 | FileCheck %s %}
# RUN: %python %s %build/tkc simt -first 10000000 -n 12 | FileCheck %s
# RUN: %if long && !asan %{ %python %s %build/tkc simt -first 10001000 -seconds 120 | FileCheck %s %}
# RUN: %if cuda %{ %python %s %build/tkc cuda -first 10000000 -n 150 | FileCheck %s %}
# RUN: %python %s %build/tkc simt -first 11000000 -n 24 | FileCheck %s
# RUN: %if long && !asan %{ %python %s %build/tkc simt -first 11001000 -seconds 120 | FileCheck %s %}
# RUN: %if cuda %{ %python %s %build/tkc cuda -first 11000000 -n 150 | FileCheck %s %}
# RUN: %python %s %build/tkc simt -first 12000000 -n 48 | FileCheck %s
# RUN: %if long && !asan %{ %python %s %build/tkc simt -first 12001000 -seconds 120 | FileCheck %s %}
# RUN: %if cuda %{ %python %s %build/tkc cuda -first 12000000 -n 150 | FileCheck %s %}
# RUN: %python %s %build/tkc simt -first 13000000 -n 24 | FileCheck %s
# RUN: %if long && !asan %{ %python %s %build/tkc simt -first 13001000 -seconds 120 | FileCheck %s %}
# RUN: %if cuda %{ %python %s %build/tkc cuda -first 13000000 -n 150 | FileCheck %s %}
# CHECK: {{^[1-9][0-9]* loops, [0-9]+ too large for their chip, 0 wrong$}}
"""Each number is a kernel with one or two loops of one to three products each: operands that are loaded as they lie or turned, masked or not,
by rows that an array names, converted from fewer bits, the same in every turn, or made of a product before; sums that only add, are scaled, also by lines,
or begin anew; what is known of addresses, warps, stages, chips. Numbers are small whole ones, so that every sum is exact and so are results.

From 1000000 on (class Boxes) most operands come through tensor descriptors, whose base, shape and strides are parameters, products of them or constants,
and whose boxes may be partly or wholly outside; operands may be loaded before the loop; and mostly some programs share tiles in a loop around.
From 2000000 on (class Several) those descriptors have a third dim, first or in the middle, of which a box has one index, inside or not.
From 3000000 on (class Pointed) block pointers, checked along all dims, have the place of descriptors.
From 4000000 on (class Down) loops of the first kind go down.
From 5000000 on (class Small) they have products of few rows, columns and steps, less than an instruction's, whose first factor is often the same
each turn and computed before the loop.
From 6000000 on (class Counted) loops with descriptors say how many turns they have, from 7000000 on (class CountedPlain) those of the first kind.
From 8000000 on (class Mixed) turns of the first kind, and some of known number, scan, sort, gather, sum across warps, turn and reshape what they
multiplied, in branches and inner loops too.
From 9000000 on (class Chosen) a branch of each turn chooses the place of operands, for this turn and the next ones.
From 10000000 on (class Large) each turn of the first kind has products of 128 by 128 numbers by two warp groups or four.
From 11000000 on (class Alike) products without a loop, or all in a loop, have some blocks for their factors, each of them for several, as it lies or turned, and
what is multiplied is mostly one of these blocks.
From 12000000 on (class Named) operands are gathered by places that arrays name in each turn, or arrays of places in such an array, and by these names what is
multiplied, and what comes of it, is changed as well.
From 13000000 on (class Odd) blocks of those with descriptors have extents that are no powers of two."""
import os
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs"))
import numbered

PITCH = 256  # elements from row to row of the arrays that are read; they have as many rows
HEAD = "import triton\nimport triton.language as tl\n\n\n@triton.jit\n"
TOO_LARGE = "too large"  # for the shared memory of the chip
KEEP = "(({0}).to(tl.int32) & 3).to({1})"  # small whole numbers again


class Loop:
    """Lines of one kernel. Blocks are (name, rows, columns)."""
    types, grid, tiles, read, written = ["fp16", "fp16", "bf16"], 1, 1, ["x", "y", "z"], []
    widths = [16, 32, 64]  # of what products of products have
    kept = 0.3  # how often there is a factor that no turn changes

    def __init__(self, number):
        self.r = random.Random(number)
        self.number, self.names = number, 0
        r = self.r
        self.arch = r.choice(["sm_90a"] * 8 + ["sm_80", "sm_75"])
        self.warps, self.stages = r.choice([4, 4, 4, 8, 8, 8, 2, 16]), r.choice([2, 2, 3, 3, 4, 5, 1])
        self.type = r.choice(self.types)
        self.m, self.n = r.choice([64, 64, 64, 128, 128, 32]), r.choice([16, 32, 64, 64, 128])
        self.k = r.choice([16, 32, 64])
        self.turns, self.divisible, self.even = r.choice([0, 1, 2, 3, 4, 5]), r.random() < 0.85, r.random() < 0.6
        self.lines, self.outputs = [], []
        self.early, self.late, self.is_inside = [], [], False  # lines before a loop and at the end of its turns; within it

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
        array = "bytes" if narrow else r.choice(self.read)
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

    def line(self, m, n, depth):
        """A number for each row or column of m×n, which is the loop's own or the same each turn."""
        r = self.r
        is_row, at, line = r.random() < 0.5, self.name("i"), self.name("w")
        self.say(f"{at} = {self.positions(m if is_row else n, r.random() < 0.8)}", depth)
        mask = f", mask={at} < limit, other=0.0" if r.random() < 0.5 else ""
        self.say(f"{line} = tl.load({r.choice('xyz')} + {at}{mask})", depth)
        return f"{line}{'[:, None]' if is_row else '[None, :]'}"

    def dtype(self):
        return {"fp16": "float16", "bf16": "bfloat16", "fp32": "float32"}[self.type]

    # ---- products ----

    def product(self, m, n, k, a, depth, sums):
        """A product of a (made here where None) and a block that is loaded; returns a block of the turn or None."""
        r = self.r
        a = a or self.load(m, k, 1 if r.random() < 0.8 else None, depth)
        b = self.load(k, n, 0 if r.random() < 0.9 else 1, depth)
        how = r.choice(["sum", "sum", "sum", "plus", "scaled", "masked", "lined", "turn", "turn"])
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
        elif how == "lined":
            self.say(f"{name} += tl.dot({a}, {b}) * {self.line(m, n, depth)}", depth)
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
            n2 = r.choice(self.widths)
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

    def bounds(self):
        return "0, length"

    def turns_of(self):
        return f"{self.bounds()}, {self.k}"

    def begin_turn(self, depth):
        """Lines that a turn begins with."""
        return []

    def end_turn(self, sums, depth):
        """What else a turn does."""

    def keep(self, block, depth):
        """What a factor that no turn changes is made of the block that was loaded for it."""
        return block

    def loop(self, depth):
        r, sums = self.r, []
        kept = None
        if r.random() < self.kept:
            kept = self.keep(self.load(self.m, self.k, None, depth), depth)
        where, self.is_inside = len(self.lines), True
        for _ in range(r.choice([1, 1, 2, 3])):
            block = self.product(self.m, self.n, self.k, kept if r.random() < 0.5 else None, depth + 1, sums)
            if block:
                self.use(block, self.m, self.n, depth + 1, sums)
        if len(self.lines) == where:
            self.say("pass", depth + 1)
        self.end_turn(sums, depth + 1)
        stages = r.choice(["", "", "", f", num_stages={r.choice([1, 2, 4])}"])
        body = self.begin_turn(depth + 1) + self.lines[where:] + self.late
        self.lines[where:] = self.early
        self.early, self.late, self.is_inside = [], [], False
        for name, m, n in sums:
            self.say(f"{name} = tl.zeros([{m}{'' if n is None else f', {n}'}], tl.float32)", depth)
        self.say(f"for at in {'tl.range' if stages else 'range'}({self.turns_of()}{stages}):", depth)
        self.lines += body
        return sums

    def place(self, at):
        """Of an output, in units of 16384 elements."""
        return f"{at}"

    def store(self, sums, depth):
        for name, m, n in sums:
            at = self.place(len(self.outputs))
            rows = f"tl.arange(0, {m})"
            if n is None:
                self.say(f"tl.store(out + {at} * 16384 + {rows}, {name})", depth)
            else:
                self.say(f"tl.store(out + {at} * 16384 + {rows}[:, None] * {n} + tl.arange(0, {n})[None, :], {name})", depth)
            self.outputs.append(name)

    def more_params(self):
        return []

    def text(self):
        self.write()
        element = f'"*{self.type}{":16" if self.divisible else ""}"'
        params = ", ".join([*(f"{n}: {element}" for n in "xyz"), 'bytes: "*i8:16"', 'index: "*i32:16"', 'out: "*fp32:16"',
                            f'pitch: "i32{":16" if self.divisible else ""}"', f'limit: "i32{":16" if self.even else ""}"', 'length: "i32"',
                            *self.more_params()])
        return HEAD + f"def kernel({params}):\n" + "\n".join(self.lines) + "\n"

    def write(self):
        around = self.r.random() < 0.2
        if around:
            self.say("for again in range(2):", 1)
        for _ in range(self.r.choice([1, 1, 2])):
            self.store(self.loop(2 if around else 1), 2 if around else 1)

    def values(self):
        """Of parameters, for the command."""
        limit = self.turns * self.k - ((16 if self.even else 5) if self.turns else 0)
        return [f"pitch={PITCH}", f"limit={limit}", f"length={self.turns * self.k}"]


BOXES, SEVERAL, POINTED, DOWN, SMALL, COUNTED, PLAIN, MIXED, CHOSEN, LARGE, ALIKE, NAMED, ODD = range(1000000, 14000000, 1000000)


class Boxes(Loop):
    types = ["fp16", "fp16", "fp16", "bf16", "bf16", "fp32"]

    def __init__(self, number):
        super().__init__(number)
        r = self.r
        self.arch = r.choice(["sm_90a"] * 12 + ["sm_90", "sm_80"])
        self.warps, self.stages = r.choice([4, 4, 4, 8, 8, 8, 2, 16]), r.choice([2, 2, 3, 3, 4, 5])
        self.m, self.k = r.choice([64] * 5 + [128] * 4 + [32]), r.choice([16, 32, 32, 64, 64, 128])
        self.n = r.choice([16, 32, 64, 64, 128] if self.m == 128 else [16, 32, 64, 64, 128, 256])
        self.turns, self.divisible = r.choice([0, 1, 2, 3] if self.k == 128 else [0, 1, 2, 3, 4, 5]), r.random() < 0.92
        self.is_shared = r.random() < 0.7
        self.tiles, self.grid = (r.randint(1, 7), r.choice([1, 2, 2, 3])) if self.is_shared else (1, 1)
        self.rows, self.columns, self.h = r.choice([0, 1, 20, 33, 50, 50, 64, 64, 64]), r.choice([0, 24, 64, 100, 200, 256, 256]), r.choice([1, 2])
        # What it writes to what it reads. From turn to turn only accesses that stay where they are come in order: there are no others; or
        # they meet; or what is written is not read.
        self.writes = r.choice(["", "", "", "", "", "still", "meet", "apart"])
        self.read = ["x", "y", "z"]
        if self.writes:
            self.grid, self.written = 1, ["x", "y", "z"]
        if self.writes == "apart":
            self.read = ["x", "y"]
        self.head, self.oddity = [], r.choice([0.05, 0.3, 1])  # how often operands do not come as boxes of this turn

    # ---- descriptors ----

    def descriptor(self, array):
        """Base, extents, stride, padding. All that is inside lies in the array, which has 512 rows of PITCH."""
        r = self.r
        base = array or r.choice(self.read)
        stride = r.choice(["pitch", "pitch", "pitch", "2 * half", "h * pitch", "2 * h * half", f"{PITCH}", "pitch.to(tl.int64)", "128 + half"])
        if r.random() < 0.12 * self.oddity and "h *" not in stride:
            base += r.choice([" + 16", " + 16 * pitch", " + rows * pitch"])
        down = r.choice(["rows", "2 * h * rows", "2 * h * rows", "2 * h * rows", "256", "256", "200", "h.to(tl.int64) * rows", "rows + 5", "rows * h * 2"])
        right = r.choice(["pitch", "pitch", "columns", "columns", "2 * half", "72", "128", "256 - h"])
        padding = ', padding_option="nan"' if r.random() < 0.05 * self.oddity else ""
        return base, [down, right], [stride, "1"], padding

    def box(self, block, at, array=None):
        """A descriptor's name, the box's indices, and how a block of the box becomes one of two dims."""
        base, extents, strides, padding = self.descriptor(array)
        return self.make(base, extents, strides, block, padding), at, ""

    def make(self, base, extents, strides, block, padding):
        name, listed = self.name("d"), lambda values: "[" + ", ".join(map(str, values)) + "]"
        self.head.append(f"    {name} = tl.make_tensor_descriptor({base}, {listed(extents)}, {listed(strides)}, {listed(block)}{padding})")
        return name

    def load_of(self, box, at):
        return f"{box}.load([{', '.join(at)}])"

    def store_of(self, box, at, value):
        return f"{box}.store([{', '.join(at)}], {value})"

    def index(self, along, depth):
        r = self.r
        tile = r.choice(["", "", " + i", " + i", " + j", " - 16 * tile"]) if self.is_shared and self.writes != "still" else ""
        if not along or self.writes == "still":
            return r.choice(["0"] * 5 + ["16", "64", "16", "-16", "240", "400", "rows"]) + tile
        if r.random() < 0.8:
            return "at" + r.choice(["", "", "", " + 16", " - 16", " + 8", " + rows"]) + tile
        name = self.name("w")
        step = r.choice([f"{name} += {self.k}", f"{name} += {self.k}", f"{name} += rows", f"{name} = ({name} * 3 + 16) & 127"])
        self.early.append("    " * (depth - 1) + f"{name} = " + r.choice(["0", "16", "rows"]) + tile)
        self.late.append("    " * depth + step)
        return name

    def load(self, rows, columns, along, depth):
        r = self.r
        if self.is_inside and r.random() < 0.15 * self.oddity:
            lines, self.lines, self.is_inside = self.lines, self.early, False
            block = self.load(rows, columns, None, depth - 1)
            self.early, self.lines, self.is_inside = self.lines, lines, True
            return block
        if r.random() < 0.3 * self.oddity:
            return super().load(rows, columns, None if self.writes == "still" else along, depth)
        turned, block = r.random() < 0.35, self.name("v")
        first, second = self.index(along == 0, depth), self.index(along == 1, depth)
        if turned:
            rows, columns, first, second = columns, rows, second, first
        name, at, flat = self.box([rows, columns], [first, second])
        load = self.load_of(name, at) + flat
        self.say(f"{block} = " + (r.choice(["{0}.T", "tl.trans({0})"]).format(load) if turned else load), depth)
        if r.random() < 0.1 * self.oddity:
            self.say(f"{block} = {block} + {block}", depth)
        return block

    # ---- loops ----

    def bounds(self):
        if not self.is_shared:
            return "0, length"
        return self.r.choice(["0, length"] * 5 + [f"0, (tile % 3) * {self.k}", f"0, length - tile * {self.k}", f"(tile % 2) * {self.k}, length"])

    def write_back(self, sums, depth):
        """Into an array that operands come from."""
        r = self.r
        blocks = [x for x in sums if x[2]]
        if not blocks:
            return
        name, m, n = r.choice(blocks)
        value, array = KEEP.format(name, "tl." + self.dtype()), "z" if self.writes == "apart" else r.choice("xyz")
        tile = " + i" if self.is_shared and self.writes == "meet" and r.random() < 0.5 else ""
        if r.random() < 0.5:
            box, at, flat = self.box([m, n], [r.choice(["0", "16", "-16"]) + tile, r.choice(["0", "32"])], array)
            self.say(self.store_of(box, at, value + self.as_box(box) if flat else value), depth)
        else:
            rows = f"({r.choice([0, 16, 64])}{tile} + tl.arange(0, {m}))[:, None]"
            mask = f", mask={rows} < {PITCH}" if tile else ""
            self.say(f"tl.store({array} + {rows} * pitch + tl.arange(0, {n})[None, :], {value}{mask})", depth)

    def end_turn(self, sums, depth):
        if self.writes and self.r.random() < 0.3:
            self.write_back(sums, depth)
            self.meet(depth)

    def meet(self, depth):
        if self.writes == "meet":
            self.late.append("    " * depth + "tl.debug_barrier()")

    def place(self, at):
        return f"({at} * {self.tiles} + tile)" if self.is_shared else f"{at}"

    def loop_and_store(self, depth):
        r = self.r
        if self.is_shared and r.random() < 0.1:
            self.say(f"if tile % 2 == {r.choice([0, 1])}:", depth)
            depth += 1
        sums = self.loop(depth)
        self.store(sums, depth)
        if self.writes and r.random() < 0.8:
            self.write_back(sums, depth)

    def write(self):
        r, depth = self.r, 1
        if self.is_shared:
            self.say("for tile in range(tl.program_id(0), tiles, tl.num_programs(0)):", 1)
            wide = r.choice([1, 2, 3])
            self.say(f"i, j = tile // {wide} * {r.choice([16, 32, 64])}, tile % {wide} * {r.choice([16, 64])}", 2)
            depth = 2
        elif r.random() < 0.2:
            self.say("for again in range(2):", 1)
            depth = 2
        if not self.is_shared:
            self.say("i, j = 0, 0", depth)
        for _ in range(r.choice([1, 1, 2])):
            self.loop_and_store(depth)
        if depth > 1:
            self.meet(depth)
        self.lines += self.late
        self.lines = self.head + self.lines

    def more_params(self):
        return ['rows: "i32"', 'columns: "i32"', 'h: "i32"', 'half: "i32:16"', 'tiles: "i32"']

    def values(self):
        return super().values() + [f"rows={self.rows}", f"columns={self.columns}", f"h={self.h}", f"half={PITCH // 2}", f"tiles={self.tiles}"]


class Several(Boxes):
    def __init__(self, number):
        super().__init__(number)
        self.shapes = {}  # of boxes, by the descriptor's name

    def box(self, block, at, array=None):
        r = self.r
        base, extents, strides, padding = self.descriptor(array)
        far = r.choice(["64 * pitch"] * 3 + ["half", "16", "8 * rows"]) if "h *" not in strides[0] else "0 * half"
        which = r.choice(["0", "0", "1", "h - 1", "h", "-1"]) + (r.choice(["", " + tile % 2"]) if self.is_shared and self.writes != "still" else "")
        place, flat = r.choice([0, 0, 1]), f".reshape({block[0]}, {block[1]})"
        for values, outer in ((extents, r.choice(["h", "2", "3", "rows"])), (strides, far), (block, 1), (at, which)):
            values.insert(place, outer)
        name = self.make(base, extents, strides, block, padding)
        self.shapes[name] = block
        return name, at, flat

    def as_box(self, name):
        return f".reshape({', '.join(map(str, self.shapes[name]))})"


class Pointed(Boxes):
    def __init__(self, number):
        super().__init__(number)
        self.parts = {}  # of what boxes are of, by name

    def make(self, base, extents, strides, block, padding):
        name = self.name("d")
        self.parts[name] = base, extents, strides, block, padding
        return name

    def pointer(self, box, at):
        base, extents, strides, block, padding = self.parts[box]
        extents, strides, block, at = ("(" + ", ".join(map(str, values)) + ")" for values in (extents, strides, block, at))
        return f"tl.make_block_ptr({base}, {extents}, {strides}, {at}, {block}, (1, 0))", padding

    def load_of(self, box, at):
        said = self.r.choice([""] * 8 + [', eviction_policy="evict_first"'])
        return "tl.load({0}, boundary_check=(0, 1){1}{2})".format(*self.pointer(box, at), said)

    def store_of(self, box, at, value):
        return f"tl.store({self.pointer(box, at)[0]}, {value}, boundary_check=(0, 1))"


class Down(Loop):
    def turns_of(self):
        least = self.r.choice(["-1", f"-{self.k}", "0", f"{self.k} - 1"])
        return f"length - {self.k}, {least}, -{self.k}"


class Small(Loop):
    types, widths, kept = ["fp16", "bf16", "fp32"], [1, 4, 8, 16, 32], 0.6

    def __init__(self, number):
        super().__init__(number)
        r = self.r
        self.arch = r.choice(["sm_90a", "sm_89", "sm_80", "sm_75"])
        self.warps = r.choice([1, 1, 2, 4, 8])
        self.m, self.n = r.choice([1, 2, 8, 16, 32, 64]), r.choice([1, 4, 8, 16, 32, 64])
        self.k = r.choice([1, 2, 4, 8, 8, 16, 32])
        self.even &= self.k % 16 == 0

    def keep(self, block, depth):
        r, name = self.r, self.name("kept")
        how = r.choice(["{0}", "({0}.to(tl.float32) * 2.0).to({1})", "({0} - 1.0).to({1})", "tl.where({0} > 0, {0}, 1.0).to({1})"])
        self.say(f"{name} = " + how.format(block, "tl." + self.dtype()), depth)
        return name


class Large(Loop):
    types, widths, kept = ["fp16", "bf16"], [64, 128], 0.6

    def __init__(self, number):
        super().__init__(number)
        r = self.r
        self.arch, self.warps, self.stages = "sm_90a", r.choice([8, 8, 8, 16]), r.choice([2, 3, 3, 4])
        self.m, self.n, self.k = 128, 128, r.choice([64, 128])
        self.turns = r.choice([0, 1, 2] if self.k == 128 else [0, 1, 2, 3, 4])


class CountedPlain(Loop):
    def bounds(self):
        return f"0, {self.turns * self.k}"


class Counted(Boxes):
    bounds = CountedPlain.bounds


class Mixed(CountedPlain):
    def __init__(self, number):
        super().__init__(number)
        self.is_counted, self.is_apart = self.r.random() < 0.5, False
        self.m, self.n = self.r.choice([32, 64, 64, 128]), self.r.choice([16, 32, 64])

    def bounds(self):
        return super().bounds() if self.is_counted else "0, length"

    def product(self, m, n, k, a, depth, sums):
        r = self.r
        if self.is_apart or r.random() < 0.7:
            return super().product(m, n, k, a, depth, sums)
        where = r.choice([f"at % {2 * self.k} == 0", "length > 64", "tl.load(index + at) > 3", f"at >= {self.k}"])
        self.is_apart = True
        self.say(f"if {where}:", depth)
        block = super().product(m, n, k, a, depth + 1, sums)
        if block:
            self.use(block, m, n, depth + 1, sums)
        self.is_apart = False

    def use(self, block, m, n, depth, sums):
        r = self.r
        for _ in range(r.choice([1, 1, 2])):
            small, name, axis = self.name("s"), self.name("mixed"), r.choice([0, 1])
            self.say(f"{small} = {KEEP.format(block, 'tl.float32')}", depth)
            other = f"[{'None, :' if axis == 0 else ':, None'}]"
            back = f"({m - 1} - tl.arange(0, {m}))[:, None] + tl.zeros([{m}, {n}], tl.int32)"
            value, rows, columns = r.choice([
                (f"tl.cumsum({small}, {axis}{', reverse=True' if r.random() < 0.3 else ''})", m, n),
                (f"tl.sort({small}, 1)", m, n), (f"tl.gather({small}, {back}, 0)", m, n),
                (f"{small} * tl.sum({small}, {axis}){other}", m, n), (f"tl.trans({small})", n, m),
                (f"tl.reshape({small}, [{m // 2}, {2 * n}])", m // 2, 2 * n), (f"tl.max({small}, 0)", n, None), (f"tl.sum({small}, 1)", m, None)])
            sums.append((name, rows, columns))
            inside = depth
            if r.random() < 0.25:
                inside += 1
                self.say(f"for {self.name('q')} in range({r.choice(['2', 'length // 32', '0, at, 32'])}):", depth)
            self.say(f"{name} = {KEEP.format(name, 'tl.float32')} + {value}", inside)
        if r.random() < 0.4:
            super().use(block, m, n, depth, sums)


class Chosen(Loop):
    def __init__(self, number):
        super().__init__(number)
        self.ways = set()  # lengths of blocks of places

    def positions(self, extent, along):
        if not (self.is_inside and along):
            return super().positions(extent, along)
        if self.r.random() < 0.5:
            return f"at + place + tl.arange(0, {extent})"
        self.ways.add(extent)
        return f"at + way{extent}"

    def begin_turn(self, depth):
        r, before = self.r, "    " * (depth - 1)
        self.early += [f"{before}place = 0"] + [f"{before}way{n} = tl.arange(0, {n})" for n in sorted(self.ways)]
        lines = [f"if {r.choice([f'at % {2 * self.k} == 0', f'at % {3 * self.k} == {self.k}', 'length > 64', 'place < 40'])}:", "    place = (place * 5 + at // 8 + 16) % 64"]
        lines += [f"    way{n} = place + tl.arange(0, {n})" for n in sorted(self.ways)]
        if r.random() < 0.3:
            lines += ["    if at > 64:", "        place += 8"]
        if r.random() < 0.4:
            lines += ["else:", "    place = (place + 8) % 48"]
        self.ways = set()
        return ["    " * depth + line for line in lines]


class Alike(Loop):
    types = ["fp32", "fp32", "fp32", "fp16", "bf16"]

    def factors(self, blocks):
        """Two blocks, one or both turned, that fit: a block fits itself turned."""
        both = blocks + [(f"tl.trans({x})", n, m) for x, m, n in blocks]
        return self.r.choice([(a, b) for a in both for b in both if a[2] == b[1]])

    def write(self):
        r = self.r
        sides, sums, depth = [r.choice([16, 64, 64, 128, 128]) for _ in range(3)], [], r.choice([1, 1, 2])
        if depth == 2:
            self.say(f"for again in range({r.choice(['2', 'length // 32'])}):", 1)
        blocks = [(self.load(m, n, None, depth), m, n) for m, n in (r.choices(sides, k=2) for _ in range(r.choice([1, 2, 3])))]
        for _ in range(r.choice([2, 3, 4])):
            (a, m, _), (b, _, n) = self.factors(blocks)
            name, kept = self.name("sum"), self.name("p")
            precision = r.choice(["", "", "", ', input_precision="ieee"', ', input_precision="tf32x3"']) if self.type == "fp32" and m * n <= 4096 else ""
            self.say(f"{name} = tl.dot({a}, {b}{precision})", depth)
            sums.append((name, m, n))
            if r.random() < 0.5:
                self.say(f"{kept} = {KEEP.format(name, 'tl.' + self.dtype())}", depth)
                blocks.append((kept, m, n))
        self.store(sums, depth)


class Named(Loop):
    def __init__(self, number):
        super().__init__(number)
        self.named, self.depth = [], 0  # names of this loop's turn, and how many

    def positions(self, extent, along):
        r, at = self.r, super().positions(extent, along)
        if not (self.is_inside and along) or r.random() < 0.3:
            return at
        name = self.name("n")
        load = f"tl.load(index + {at}{r.choice(['', f', mask={at} < limit, other=0', f', mask={at} < limit, other=-1'])})"
        if r.random() < 0.3:
            load = f"tl.load(index + tl.abs({load}))"
        self.say(f"{name} = {load}", self.depth)
        self.named.append((name, extent))
        return r.choice(["tl.abs({0})", "tl.maximum({0}, 0)", "tl.where({0} % 3 != 1, tl.abs({0}), 0)", "tl.where({0} < limit, tl.abs({0}), 0)"]).format(name)

    def load(self, rows, columns, along, depth):
        self.depth, known = depth, len(self.named)
        block = super().load(rows, columns, along, depth)
        for name, _ in self.named[known:]:
            if self.r.random() < 0.3:
                self.say(f"{block} = {block} * ({name} & 1){'[:, None]' if along == 0 else '[None, :]'}.to(tl.{self.dtype()})", depth)
        return block

    def use(self, block, m, n, depth, sums):
        for name, extent in self.named:
            if extent in (m, n) and self.r.random() < 0.5:
                self.say(f"{block} = tl.where(({name} % 2 == 0){'[None, :]' if extent == n else '[:, None]'}, {block}, 1.0)", depth)
        super().use(block, m, n, depth, sums)

    def loop(self, depth):
        self.named = []
        return super().loop(depth)


class Odd(Boxes):
    widths = [12, 16, 24, 40]

    def __init__(self, number):
        super().__init__(number)
        r = self.r
        self.m, self.n, self.k = r.choice([12, 48, 64, 80, 100]), r.choice([8, 12, 24, 40, 48, 80]), r.choice([3, 12, 16, 20, 48])
        self.even &= self.k % 16 == 0


def loop_of(number):
    starts = [(ODD, Odd), (NAMED, Named), (ALIKE, Alike), (LARGE, Large), (CHOSEN, Chosen), (MIXED, Mixed), (PLAIN, CountedPlain), (COUNTED, Counted), (SMALL, Small), (DOWN, Down), (POINTED, Pointed), (SEVERAL, Several), (BOXES, Boxes), (0, Loop)]
    return next(kind for start, kind in starts if number >= start)(number)


class Runner:
    def __init__(self, tkc, device, folder, seed):
        import numpy as np
        self.tkc, self.device, self.folder, self.seed = tkc, device, folder, seed
        rng = np.random.default_rng(5)
        for name, kind in (("x", "fp"), ("y", "fp"), ("z", "fp"), ("bytes", np.int8), ("index", np.int32)):
            values = rng.integers(-2, 3, (2 * PITCH, PITCH))
            if name == "index":
                values = np.abs(np.arange(2 * PITCH) * 7 % (PITCH + 77))
            for dtype in ("fp16", "bf16", "fp32") if kind == "fp" else ("",):
                data = values.astype(kind) if kind != "fp" else values.astype(np.float16) if dtype == "fp16" else \
                    values.astype(np.float32) if dtype == "fp32" else \
                    (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16).reshape(values.shape)
                np.save(os.path.join(folder, name + dtype + ".npy"), data)

    def command(self, loop, text, device, more):
        array = lambda n: f"{n}={self.folder}/{n}{loop.type}.npy:{loop.type}"
        return [self.tkc, "-run", text, "-device", device, f"-num-warps={loop.warps}", f"-num-stages={loop.stages}", "-arch=" + loop.arch, "-grid", str(loop.grid),
                array("x"), array("y"), array("z"), f"bytes={self.folder}/bytes.npy", f"index={self.folder}/index.npy",
                f"out=zeros:f32[{max(1, len(loop.outputs)) * loop.tiles * 16384}]", *loop.values(), *more]

    def wrong(self, number):
        """None, or what is wrong, or TOO_LARGE."""
        loop = loop_of(number)
        text = os.path.join(self.folder, f"loop{number}.tk")
        with open(text, "w") as f:
            f.write(loop.text())
        expected = {n: f"{text[:-3]}.{n}.npy" for n in ["out", *loop.written]}
        save = [w for n, path in expected.items() for w in ("-save", f"{n}={path}")]
        check = [w for n, path in expected.items() for w in ("-check", f"{n}={path},rtol=0,atol=0")]
        commands = [self.command(loop, text, "cpu", save),
                    self.command(loop, text, self.device, ["-seed", str(number % 17 + self.seed), *check])]
        for c in commands:
            done = subprocess.run(c, capture_output=True, text=True)
            if done.returncode:
                return TOO_LARGE if "bytes of shared memory" in done.stderr else f"{' '.join(c)}\n{done.stdout}{done.stderr}"
        for path in (text, *expected.values()):
            os.remove(path)
        return None


def main():
    args = numbered.arguments(lambda number: loop_of(number).text())
    count = wrong = large = 0
    with tempfile.TemporaryDirectory() as folder:
        for number, found in numbered.results(args, Runner(args.tkc, args.device, folder, args.seed).wrong):
            count += 1
            large += found == TOO_LARGE
            if found not in (None, TOO_LARGE):
                wrong += 1
                print(f"loop {number}:\n{found}")
    print(f"{count} loops, {large} too large for their chip, {wrong} wrong")
    sys.exit(wrong > 0 or 2 * large > count)


main()
