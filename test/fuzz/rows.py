#!/usr/bin/env python3
# Random loops over elements, of which the last turns have some outside, give the same numbers on cpu and on a GPU: rows.py TKC DEVICE [-first N] [-n COUNT | -seconds S] [-show N]
# RUN: %python %s %build/tkc simt -n 40 | FileCheck %s
# RUN: %if long && !asan %{ %python %s %build/tkc simt -first 1000 -seconds 120 | FileCheck %s %}
# RUN: %if cuda %{ %python %s %build/tkc cuda -n 150 | FileCheck %s %}
# CHECK: {{^[1-9][0-9]* loops, [1-9][0-9]* of them made two, 0 wrong$}}
"""Each number is a kernel with one loop: by steps of a block, or with an index that is multiplied; from anywhere to an end that is a bound of the masks or
not, near nothing, a whole number of blocks, or the end of int32; masks that are the bound alone or more; what is carried, summed, chosen by the mask and
stored. Numbers are whole, so that results are the same in any order."""
import argparse
import os
import random
import subprocess
import sys
import tempfile
import time

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


def wrong(tkc, device, folder, number, counts):
    """What is said of a loop whose results differ; None: they do not."""
    loop, path = Loop(number), os.path.join(folder, "kernel.tk")
    with open(path, "w") as f:
        f.write(loop.text())
    words = [f"-num-warps={loop.warps}", path]
    text = subprocess.run([tkc, "-emit=layout", f"-arch={loop.arch}", *words], capture_output=True, text=True).stdout
    counts["two"] += "{num_stages = 1}" in text
    room = 9000 + 8 * loop.block
    arrays = [f"x=arange:{loop.kind}[{room}]", f"z=zeros:i32[{room}]", f"s=zeros:i32[{loop.block}]"]
    run = [tkc, "-run", "-grid", "1", *words, *arrays, f"n={loop.bound}", f"end={loop.end}"]
    first = subprocess.run([*run, "-device", "cpu", "-save", f"z={folder}/z.npy", "-save", f"s={folder}/s.npy"], capture_output=True, text=True)
    own = ["-verify-each", f"-arch={loop.arch}"] if device == "simt" else []
    then = subprocess.run([*run, "-device", device, *own, "-check", f"z={folder}/z.npy", "-check", f"s={folder}/s.npy"], capture_output=True, text=True)
    return first.stderr if first.returncode else then.stderr if then.returncode else None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tkc")
    parser.add_argument("device")
    parser.add_argument("-first", type=int, default=1)
    parser.add_argument("-n", type=int, default=20)
    parser.add_argument("-seconds", type=float)
    parser.add_argument("-show", type=int)
    args = parser.parse_args()
    if args.show is not None:
        print(Loop(args.show).text())
        return
    counts, end = {"loops": 0, "two": 0, "wrong": 0}, time.time() + args.seconds if args.seconds else None
    with tempfile.TemporaryDirectory() as folder:
        while time.time() < end if end else counts["loops"] < args.n:
            said = wrong(args.tkc, args.device, folder, args.first + counts["loops"], counts)
            if said:
                counts["wrong"] += 1
                print(f"loop {args.first + counts['loops']}:\n{said}")
            counts["loops"] += 1
    print(f"{counts['loops']} loops, {counts['two']} of them made two, {counts['wrong']} wrong")
    sys.exit(counts["wrong"] > 0)


main()
