#!/usr/bin/env python3
# The interpreter beside numpy on the same sizes: cpu_compare.py BUILD-FOLDER [ROUNDS [work] [NAME...]]
# RUN: %python %s %build 1 add softmax sort | FileCheck %s
# RUN: %python %s %build 1 work add softmax sort | FileCheck %s
# CHECK: {{^}}vector add fp32, 10,000,000 {{[0-9.]+ [0-9.]+ [0-9.]+ [0-9.]+$}}
# CHECK: {{^}}softmax fp32 4096x1024 {{[0-9.]+ [0-9.]+ [0-9.]+ [0-9.]+$}}
# CHECK: {{^}}sort rows fp32 1024x1024 {{[0-9.]+ [0-9.]+ [0-9.]+ [0-9.]+$}}
"""Milliseconds, the least of ROUNDS (15): with memory checks, without, numpy's, and the ratio of the second to the third. numpy does
what one would write with it; it has one thread but in products of matrices, where it has its BLAS's. A NAME picks the rows that hold it.
`work` counts processor time, of all threads together, in place of time: on a machine that others use, and to be divided by the cores."""
import os
import subprocess
import sys
import time

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
EXAMPLES, ROWS = os.path.join(ROOT, "examples"), os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs/rows.tk")
RNG = np.random.default_rng(0)


def floats(*shape, dtype=np.float32):
    return (RNG.random(shape, dtype=np.float32) * 2 - 1).astype(dtype)


def softmax(a):
    e = np.exp(a - a.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def gelu(v):
    return 0.5 * v * (1 + np.tanh(np.float32(0.79788456) * (v + np.float32(0.044715) * v * v * v)))


def layer_norm(x, w, b):
    mu = x.mean(axis=1, keepdims=True)
    d = x - mu
    return d / np.sqrt((d * d).mean(axis=1, keepdims=True) + np.float32(1e-5)) * w + b


def cross_entropy(x, label):
    top = x.max(axis=1)
    lse = top + np.log(np.exp(x - top[:, None]).sum(axis=1))
    return lse - x[np.arange(len(x)), label]


def attention(q, k, v):
    return softmax(q @ k.transpose(0, 2, 1) * np.float32(0.125)) @ v


def recurrence(x):
    y, state = np.empty_like(x), np.zeros_like(x[:, 0])
    for i in range(x.shape[1]):
        state = state * (x[:, i] * np.float32(0.5)) + x[:, i]
        y[:, i] = state
    return y


def table():
    """Name, row of cpu_speed, and what numpy does."""
    n, m, w = 10_000_000, 4096, 1024
    x, y, a = floats(n), floats(n), floats(m, w)
    z = np.empty_like(x)
    yield "vector add fp32, 10,000,000", f"{EXAMPLES}/vector_add.tk add {-(-n // 4096)} 1 *fp32:{n} *fp32:{n} *fp32:{n} i={n} c=4096", \
        lambda: np.add(x, y, out=z)
    yield "softmax fp32 4096x1024", f"{EXAMPLES}/softmax.tk softmax_masked {m} 1 *fp32:{m * w} *fp32:{m * w} i={w} i={w} i={w} c=1024", \
        lambda: softmax(a)
    yield "gelu fp32, 4,194,304", f"{EXAMPLES}/gelu.tk gelu 1024 1 *fp32:{m * w} *fp32:{m * w} i={m * w} c=4096", lambda: gelu(a)
    h = a.astype(np.float16)
    yield "gelu fp16, 4,194,304", f"{EXAMPLES}/gelu.tk gelu 1024 1 *fp16:{m * w} *fp16:{m * w} i={m * w} c=4096", \
        lambda: gelu(h.astype(np.float32)).astype(np.float16)
    g, b = floats(w), floats(w)
    yield "layer norm fp32 4096x1024", f"{EXAMPLES}/layer_norm.tk layer_norm {m} 1 *fp32:{m * w} *fp32:{w} *fp32:{w} *fp32:{m * w} " \
        f"*fp32:{m} *fp32:{m} i={w} i={w} f=1e-5 c=1024", lambda: layer_norm(a, g, b)
    logits, label = floats(512, 32000), RNG.integers(0, 32000, 512)
    yield "cross entropy fp32 512x32000", f"{EXAMPLES}/cross_entropy.tk cross_entropy 512 1 *fp32:{512 * 32000} *i32:512:32000 *fp32:512 " \
        "*fp32:512 i=32000 i=32000 c=4096 c=0.0 c=-100", lambda: cross_entropy(logits, label)
    for dtype, name in ((np.float32, "fp32"), (np.float16, "fp16")):
        s, t = floats(512, 512, dtype=dtype), floats(512, 512, dtype=dtype)
        yield f"matmul {name} 512x512x512", f"{EXAMPLES}/matmul.tk matmul_naive 8 8 *{name}:262144 *{name}:262144 *fp32:262144 i=512 i=512 i=512 " \
            "i=512 i=1 i=512 i=1 i=512 i=1 c=64 c=64 c=32", lambda s=s, t=t: s.astype(np.float32) @ t.astype(np.float32)
    q, k, v = (floats(8, 512, 64) for _ in range(3))
    yield "attention fp32 8x512x64", f"{EXAMPLES}/attention.tk attention 8 8 *fp32:262144 *fp32:262144 *fp32:262144 *fp32:262144 *fp32:4096 " \
        "i=8 i=512 i=512 f=0.125 c=64 c=64 c=64 c=False c=1 c='ieee'", lambda: attention(q, k, v)

    def of_rows(kernel):
        return f"{ROWS} {kernel} {m} 1 *fp32:{m * w} *fp32:{m * w} i={w} c={w}"

    yield "sum rows fp32 4096x1024", of_rows("sum_rows"), lambda: a.sum(axis=1)
    yield "argmax rows fp32 4096x1024", of_rows("argmax_rows").replace("*fp32", "*i32", 2).replace("*i32", "*fp32", 1).replace(
        f"*i32:{m * w}", f"*i32:{m}:1"), lambda: a.argmax(axis=1)
    yield "reduce rows by a function fp32 4096x1024", of_rows("reduce_rows"), lambda: a.max(axis=1)
    yield "sum columns fp32 4096x1024", f"{ROWS} sum_columns 8 1 *fp32:{m * w} *fp32:{w} i={m} i={w} c=32 c=128", lambda: a.sum(axis=0)
    yield "cumsum rows fp32 4096x1024", of_rows("cumsum_rows"), lambda: a.cumsum(axis=1)
    yield "recurrence rows fp32 4096x1024", of_rows("recurrence_rows"), lambda: recurrence(a)
    head = a[:1024]
    yield "sort rows fp32 1024x1024", of_rows("sort_rows").replace(f" {m} 1 ", " 1024 1 "), lambda: np.sort(head, axis=1)
    index, many = RNG.integers(0, m, m), RNG.integers(0, m * w, 1_000_000)
    yield "embedding fp32 4096 of 1024", f"{ROWS} embed {m} 1 *fp32:{m * w} *i32:{m}:{m} *fp32:{m * w} i={w} c={w}", lambda: a[index]
    yield "gather fp32, 1,000,000", f"{ROWS} pick 977 1 *fp32:{m * w} *i32:1000000:{m * w} *fp32:1000000 i=1000000 c=1024", \
        lambda: a.reshape(-1)[many]
    some, bins = floats(1_000_448), np.zeros(m, np.float32)
    where = RNG.integers(0, m, 1_000_448)
    yield "scatter add fp32, 1,000,448", f"{ROWS} scatter_add 977 1 *fp32:1000448 *i32:1000448:{m} *fp32:{m} c=1024", \
        lambda: np.add.at(bins, where, some)
    yield "transpose fp32 4096x1024", f"{ROWS} transpose {m // 64} {w // 64} *fp32:{m * w} *fp32:{m * w} i={m} i={w} c=64", \
        lambda: np.ascontiguousarray(a.T)
    rng = np.random.Generator(np.random.Philox(1))
    yield "philox fp32, 4,194,304", f"{ROWS} random_numbers {m} 1 *fp32:{m * w} i=1 c={w}", lambda: rng.random((m, w), dtype=np.float32)


def least(f, rounds, clock):
    times = []
    for _ in range(rounds):
        start = clock()
        f()
        times.append(clock() - start)
    return min(times) * 1e3


def main():
    rounds, names = int(sys.argv[2]) if len(sys.argv) > 2 else 15, sys.argv[3:]
    work = names[:1] == ["work"]
    names, clock = names[work:], time.process_time if work else time.perf_counter
    chosen = [row for row in table() if not names or any(name in row[0] for name in names)]
    width = max(len(name) for name, _, _ in chosen)
    print(f"{'':{width}}    checks   without     numpy   ratio")
    for name, row, numpy in chosen:
        command = [os.path.join(sys.argv[1], "test/bench/cpu_speed"), str(rounds)] + ["work"] * work
        done = subprocess.run(command, input=row + "\n", capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{name}: {done.stderr}")
        on, off = (float(word) for word in done.stdout.split())
        beside = least(numpy, rounds, clock)
        print(f"{name:{width}} {on:9.3f} {off:9.3f} {beside:9.3f} {off / beside:7.2f}", flush=True)


main()
