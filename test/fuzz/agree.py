#!/usr/bin/env python3
# Random kernels give the same results on every device, with any warps and passes, and in whatever way they are written.
# RUN: %python %s %build/tkc -first 1 -n 40 -jobs 1 -out %t | FileCheck %s
# RUN: %if long && !asan %{ %python %s %build/tkc -first 1000 -seconds 300 -out %t | FileCheck %s %}
# RUN: %if cuda %{ %python %s %build/tkc -first 1 -n 100 -device cuda -out %t | FileCheck %s %}
# CHECK: {{^[0-9]+ kernels, [1-9][0-9]* comparisons, 0 problems, }}
"""Do devices agree? agree.py TKC [-seconds S | -n COUNT] [-first N] [-jobs J] [-device simt|cuda|cpu]... [-out FOLDER] [-show N]

Each number is a random well-defined kernel (Inputs/agree/generate.py). It runs on cpu, the reference, then on cpu with other passes and written
another way, and on each device (simt unless given) as it is and written another way, with random warps and chips. Results are compared: bit by
bit, or, of sums, products and functions of floats that devices may round differently, within a bound computed from what rounds (values.py).

A kernel that fails is made as small as possible while it fails the same way, and left in FOLDER as a lit test. The last line counts kernels,
comparisons and how often each operation was in them."""
import argparse
import collections
import os
import shutil
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor, as_completed

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs", "agree"))

import kernel as kernels
from generate import generate
from ops import OPS
from reduce import reduce
from run import Problem, Runner, test_text, ways

Result = collections.namedtuple("Result", "number held limited ops text")


def used(kernel):
    return collections.Counter(n.op for n in kernels.walk(kernel.nodes) if n.op != "next")


def try_number(tkc, devices, out, reduces, number):
    """One kernel, all its ways; Result.text says what is wrong, and where the reduced kernel lies."""
    kernel = generate(number)
    folder = tempfile.mkdtemp(prefix="agree-")
    runner = Runner(tkc, folder)
    try:
        held, limited = runner.try_all(kernel, ways(number, devices))
        return Result(number, held, limited, used(kernel), None)
    except Problem as problem:
        if problem.kind == "limit":
            return Result(number, 0, 1, used(kernel), None)
        return Result(number, 0, 0, used(kernel), tell(runner, kernel, problem, out if reduces else None, number))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def tell(runner, kernel, problem, out, number):
    said = f"kernel {number} {problem.kind}: {problem.way}\n{problem.said[-1000:]}\n"
    if not out:
        return said
    way = None if problem.way.device == "cpu" and problem.way.style is None and not problem.way.passes else problem.way
    small, way = reduce(runner, kernel, way, problem.kind)
    path = os.path.join(out, f"agree-{number}.tk")
    with open(path, "w") as file:
        file.write(test_text(small, way, problem))
    return said + f"reduced to {sum(1 for _ in kernels.walk(small.nodes))} nodes: {path}"


def numbers(options):
    end = time.monotonic() + options.seconds if options.seconds else None
    number = options.first
    while (time.monotonic() < end if end else number < options.first + options.n):
        yield number
        number += 1


def run_all(options):
    """Results, as they come; as many at once as there are jobs."""
    with ProcessPoolExecutor(options.jobs) as pool:
        coming, waiting = numbers(options), set()
        while True:
            while len(waiting) < options.jobs:
                number = next(coming, None)
                if number is None:
                    break
                waiting.add(pool.submit(try_number, options.tkc, options.device, options.out, not options.no_reduce, number))
            if not waiting:
                return
            done = next(as_completed(waiting))
            waiting.discard(done)
            yield done.result()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tkc")
    parser.add_argument("-seconds", type=float)
    parser.add_argument("-n", type=int, default=100)
    parser.add_argument("-first", type=int, help="the number of the first kernel (by the clock)")
    parser.add_argument("-jobs", type=int, default=os.cpu_count())
    parser.add_argument("-device", action="append", choices=["cpu", "simt", "cuda"])
    parser.add_argument("-out", default=os.path.join("build", "fuzz"))
    parser.add_argument("-most", type=int, default=10, help="problems to look for before it ends")
    parser.add_argument("-no-reduce", action="store_true")
    parser.add_argument("-show", type=int, help="print a kernel and end")
    options = parser.parse_args()
    options.device = options.device or ["simt"] + ["cuda"] * os.path.exists("/dev/nvidia0")
    options.first = int(time.time()) * 1000 if options.first is None else options.first
    if options.show is not None:
        print(kernels.text(generate(options.show), OPS), end="")
        return 0
    os.makedirs(options.out, exist_ok=True)
    count, held, limited, problems, ops = 0, 0, 0, 0, collections.Counter()
    for result in run_all(options):
        count, held, limited = count + 1, held + result.held, limited + result.limited
        ops += result.ops
        if result.text:
            problems += 1
            print(result.text, flush=True)
        if problems >= options.most:
            break
    used_text = ", ".join(f"{name} {n}" for name, n in ops.most_common())
    print(f"{count} kernels from number {options.first} on, on cpu, {', '.join(options.device)}", file=sys.stderr)
    print(f"{count} kernels, {held} comparisons, {problems} problems, {limited} past a limit of the chip; {used_text}")
    return problems != 0


if __name__ == "__main__":
    sys.exit(main())
