#!/usr/bin/env python3
# The interpreter beside numpy on the same sizes: cpu_compare.py BUILD-FOLDER [ROUNDS]
# RUN: %python %s %build 1 | FileCheck %s
# CHECK: {{^add +[0-9.]+ +[0-9.]+ +[0-9.]+$}}
# CHECK: {{^softmax_masked +[0-9.]+ +[0-9.]+ +[0-9.]+$}}
"""Milliseconds, the least of ROUNDS (15): with memory checks, without, numpy's. Vector add of 10,000,000 fp32 into a given array; softmax of
4096 x 1024 fp32."""
import os
import subprocess
import sys
import time

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def least(f, rounds):
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        f()
        times.append(time.perf_counter() - start)
    return min(times) * 1e3


def softmax(a):
    e = np.exp(a - a.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def main():
    rounds = sys.argv[2] if len(sys.argv) > 2 else "15"
    rng = np.random.default_rng(0)
    x, y = rng.random((2, 10_000_000), dtype=np.float32)
    z, a = np.empty_like(x), rng.standard_normal((4096, 1024), dtype=np.float32)
    numpy = {"add": least(lambda: np.add(x, y, out=z), int(rounds)), "softmax_masked": least(lambda: softmax(a), int(rounds))}
    done = subprocess.run([os.path.join(sys.argv[1], "test/bench/cpu_speed"), os.path.join(ROOT, "examples"), rounds],
                          capture_output=True, text=True, check=True)
    print(f"{'':16} checks  without    numpy")
    for line in done.stdout.splitlines():
        name, on, off = line.split()
        print(f"{name:16} {float(on):6.2f} {float(off):8.2f} {numpy[name]:8.2f}")


main()
