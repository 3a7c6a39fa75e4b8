# What arguments of a run cost, beside numpy, runs with few elements: run_speed.py TKC [COUNT]
# REQUIRES: numpy
# RUN: %python %s tkc 5000 | FileCheck %s
# CHECK: 5000 elements, seconds of processor time
# CHECK: FILE.npy, -save
"""What -run spends outside the kernel: making arguments, reading .npy, -save and -check.

run_speed.py TKC [COUNT]: seconds of processor time (user and system) of whole processes on COUNT fp32 elements
(50 million), the least of 3; the kernel is empty. Beside them numpy's own, in this process, where it has the like.
"""
import os
import resource
import subprocess
import sys
import tempfile
import time

import numpy as np

ROUNDS = 3
KERNEL = 'import triton.language as tl\n@jit\ndef k(x: "*T"):\n    pass\n'


def child_seconds(command):
    def spent():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    before = spent()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return spent() - before


def own_seconds(work):
    before = time.process_time()
    work()
    return time.process_time() - before


def least(measure, what):
    return min(measure(what) for _ in range(ROUNDS))


def main():
    tkc, n = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 50_000_000
    with tempfile.TemporaryDirectory() as folder:

        def run(*rest, dtype="fp32"):
            kernel = os.path.join(folder, dtype + ".tk")
            with open(kernel, "w") as out:
                out.write(KERNEL.replace("*T", "*" + dtype))
            return [tkc, "-run", "-device", "cpu", kernel, "-grid", "1", *rest]

        a, b = (os.path.join(folder, name) for name in ("a.npy", "b.npy"))
        random = np.random.default_rng(1)
        x = random.random(n, dtype=np.float32)
        y = x * np.float32(1 + 1e-7)
        np.save(a, x)
        np.save(b, y)
        works = [
            ("ones:f32", run("x=ones:f32[%d]" % n), lambda: np.ones(n, np.float32)),
            ("arange:f32", run("x=arange:f32[%d]" % n), lambda: np.arange(n, dtype=np.float32)),
            ("rand:f32", run("x=rand:f32[%d]" % n), lambda: random.random(n, dtype=np.float32)),
            ("randn:f32", run("x=randn:f32[%d]" % n), lambda: random.standard_normal(n, dtype=np.float32)),
            ("rand:f16", run("x=rand:f16[%d]" % n, dtype="fp16"), lambda: random.random(n, dtype=np.float32).astype(np.float16)),
            ("randn:bf16", run("x=randn:bf16[%d]" % n, dtype="bf16"), None),
            ("rand:i32", run("x=rand:i32[%d]" % n, dtype="i32"), lambda: random.integers(0, 1000, n, dtype=np.int32)),
            ("FILE.npy", run("x=" + a), lambda: np.load(a)),
            ("FILE.npy, -check, equal", run("x=" + a, "-check", "x=" + a), lambda: np.allclose(np.load(a), np.load(a))),
            ("FILE.npy, -check, near", run("x=" + a, "-check", "x=" + b), lambda: np.allclose(np.load(a), np.load(b))),
            ("FILE.npy, -save", run("x=" + a, "-save", "x=" + os.path.join(folder, "c.npy")), None),
        ]
        print("%d elements, seconds of processor time" % n)
        print("| work | tkc | numpy |\n|---|---|---|")
        for name, command, numpy in works:
            beside = "%.2f" % least(own_seconds, numpy) if numpy else ""
            print("| `%s` | %.2f | %s |" % (name, least(child_seconds, command), beside), flush=True)


if __name__ == "__main__":
    main()
