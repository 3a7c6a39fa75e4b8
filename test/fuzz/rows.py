#!/usr/bin/env python3
# Random loops over elements, of which the last turns have some outside, give the same numbers on cpu and on a GPU: rows.py TKC DEVICE [-first N] [-n COUNT | -seconds S] [-show N]
# RUN: %python %s %build/tkc simt -n 40 | FileCheck %s
# RUN: %if long && !asan %{ %python %s %build/tkc simt -first 1000 -seconds 120 | FileCheck %s %}
# RUN: %if cuda %{ %python %s %build/tkc cuda -n 150 | FileCheck %s %}
# CHECK: {{^[1-9][0-9]* loops, [1-9][0-9]* of them made two, 0 wrong$}}
"""Each number is a kernel with one loop: by steps of a block, or with an index that is multiplied; from anywhere to an end that is a bound of the masks or
not, near nothing, a whole number of blocks, or the end of int32; masks that are the bound alone or more; what is carried, summed, chosen by the mask and
stored. Numbers are whole, so that results are the same in any order."""
import os
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs"))
import numbered

MOST = 2**31 - 1


class Loop:
    def __init__(self, number):
        self.rng = rng = random.Random(number)
        self.block = rng.choice((128, 256, 512, 1024))
        self.warps = rng.choice((1, 1, 2, 4))
        self.index = rng.choice(("i32", "i32", "i64"))
        self.kind = rng.choice(("i8", "i16", "i32", "i64"))
        self.arch = rng.choice(("sm_80", "sm_90a"))
        self.multiplied = rng.random() < 0.4
        self.low = rng.choice((0, 0, 1, 3)) if self.multiplied else rng.choice((0, 0, 1, 77, self.block, MOST - 3000, -MOST - 1))
        self.base = max(min(self.low, MOST - 9000), -MOST - 1) if abs(self.low) > 9000 else 0
        self.step = 1 if self.multiplied else rng.choice((self.block, self.block, self.block + 1, 2 * self.block))
        self.bound = self.end_of()
        self.end = self.bound if rng.random() < 0.6 else self.end_of()
        self.lines = self.turn()

    def end_of(self):
        """Where elements are outside: a few turns from the first."""
        first = self.low * (self.block if self.multiplied else 1)
        far = self.rng.choice((-5, 0, 1, self.block - 1, self.block, self.block + 1, 3 * self.block, self.rng.randrange(4 * self.block)))
        return max(min(first + far, MOST), -MOST - 1)

    def index_of_elements(self):
        block = self.block
        if self.multiplied:
            return self.rng.choice((f"i * {block} + tl.arange(0, {block})", f"tl.arange(0, {block}) + {block} * i"))
        return self.rng.choice((f"i + tl.arange(0, {block})", f"tl.max_contiguous(i + tl.arange(0, {block}), {block})"))

    def turn(self):
        rng, at = self.rng, self.index_of_elements()
        mask = rng.choice(("at < n", "n > at", "(at < n) & (at % 3 != 1)", "(at % 5 > 0) & (n > at)"))
        lines = [f"at = {at}", f"m = {mask}", "p = x + (at - BASE)"]
        lines.append(f"a = tl.load(p, mask=m, other={rng.choice((0, 1, -1))}).to(tl.int32)")
        value = rng.choice(("a * 3", "a + at.to(tl.int32)", "tl.where(m, a, 5)"))
        if rng.random() < 0.7:
            lines.append(rng.choice((f"t += {value}", f"t = tl.maximum(t, {value})", "t = tl.where(m, t + a, t - 1)")))
        if rng.random() < 0.4:
            lines.append(f"c += {rng.choice(('tl.sum(a)', 'tl.max(a)', 'tl.sum(tl.where(m, 1, 7))'))}")
        if rng.random() < 0.3:
            lines += ["if i % 2 == 0:", "    c += 1"]
        if rng.random() < 0.7:
            lines.append(f"tl.store(z + (at - BASE), {value} + t, mask=m)")
        return lines

    def text(self):
        body = "\n        ".join(self.lines).replace("BASE", str(self.base))
        end = f"tl.cdiv(end, {self.block})" if self.multiplied else "end"
        return f"""import triton
import triton.language as tl


@triton.jit
def kernel(x: "*{self.kind}", z: "*i32:16", s: "*i32:16", n: "{self.index}", end: "{self.index}"):
    t = tl.zeros([{self.block}], tl.int32)
    c = 0
    for i in range({self.low}, {end}, {self.step}):
        {body}
    tl.store(s + tl.arange(0, {self.block}), t + c)
"""


class Runner:
    def __init__(self, tkc, device, folder, seed):
        self.tkc, self.device, self.folder, self.seed = tkc, device, folder, seed

    def command(self, words):
        return subprocess.run([self.tkc, *words], capture_output=True, text=True)

    def judge(self, number):
        """Whether it was made two loops, and what is said of it where its results differ, or None."""
        loop, path = Loop(number), os.path.join(self.folder, f"loop{number}.tk")
        with open(path, "w") as f:
            f.write(loop.text())
        words, room = [f"-num-warps={loop.warps}", path], 9000 + 8 * loop.block
        layout = self.command(["-emit=layout", f"-arch={loop.arch}", *words])
        arrays = [f"x=arange:{loop.kind}[{room}]", f"z=zeros:i32[{room}]", f"s=zeros:i32[{loop.block}]"]
        run = ["-run", "-grid", "1", *words, *arrays, f"n={loop.bound}", f"end={loop.end}"]
        z, s = f"z={path}.z.npy", f"s={path}.s.npy"
        device = ["-device", self.device, "-seed", str(number % 17 + self.seed), *(["-verify-each", f"-arch={loop.arch}"] if self.device == "simt" else [])]
        for how in (["-device", "cpu", "-save", z, "-save", s], [*device, "-check", z, "-check", s]):
            done = self.command([*run, *how])
            if done.returncode:
                return False, done.stderr
        for saved in (z, s):
            os.remove(saved[2:])
        return "{num_stages = 1}" in layout.stdout, None


def main():
    args = numbered.arguments(lambda number: Loop(number).text())
    count = two = wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for number, (is_two, said) in numbered.results(args, Runner(args.tkc, args.device, folder, args.seed).judge):
            count += 1
            two += is_two
            if said:
                wrong += 1
                print(f"loop {number}:\n{said}")
    print(f"{count} loops, {two} of them made two, {wrong} wrong")
    sys.exit(wrong > 0)


main()
