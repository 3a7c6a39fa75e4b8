#!/usr/bin/env python3
"""What a launch from Python costs, tkc's beside Triton's, on one GPU: python_launch.py

    PYTHONPATH=python TKC_LIBRARY=build/release/libtkc.so.0 python3 test/bench/python_launch.py

The same kernel object is launched by both on the same tensors, on torch's current stream, with a grid that is a tuple and one that is a
function. Launches are issued in runs that fit the GPU's queue, which is empty at the begin of each; a time is that of the host alone. Runs of the two
alternate; a figure is the median of the runs, in microseconds, a ratio that of the medians. Then the results of a few kernels are held
against torch's, on a stream that is not the default one, too. Needs torch and triton.
"""
import statistics
import sys
import time

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

import tkc

RUNS, LAUNCHES = 41, 200


@triton.jit
def add(x, y, z, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(z + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


@triton.jit
def many(a, b, c, d, e, f, m, n, k, sa, sb, sc, alpha, BLOCK: tl.constexpr, KIND: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(a + i) + tl.load(b + i) + tl.load(c + i) + tl.load(d + i) + tl.load(e + i)
    tl.store(f + i, (v + m + n + k + sa + sb + sc) * alpha)


@triton.jit
def blocks(x, y, BLOCK: tl.constexpr):
    y.store([0, 0], x.load([0, 0]))


tuned = triton.autotune([triton.Config({"BLOCK": 512}), triton.Config({"BLOCK": 1024}, num_warps=8)], key=["n"])(add)


@triton.jit
def rows(x, y, stride, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    v = tl.load(x + tl.program_id(0) * stride + at, mask=at < n, other=-float("inf"))
    e = tl.exp(v - tl.max(v, 0))
    tl.store(y + tl.program_id(0) * stride + at, e / tl.sum(e, 0), mask=at < n)


def cost(launch):
    torch.cuda.synchronize()
    begin = time.perf_counter()
    for _ in range(LAUNCHES):
        launch()
    took = time.perf_counter() - begin
    torch.cuda.synchronize()
    return took / LAUNCHES * 1e6


def compare(name, triton_launch, tkc_launch):
    theirs, ours = [], []
    for launch in (triton_launch, tkc_launch):
        for _ in range(3):
            cost(launch)
    for _ in range(RUNS):
        theirs.append(cost(triton_launch))
        ours.append(cost(tkc_launch))
    a, b = statistics.median(theirs), statistics.median(ours)
    print("%-28s Triton %6.2f us   tkc %6.2f us   %.2f of it%s" % (name, a, b, b / a, "" if 3 * b <= a else "   (more than a third)"))
    return 3 * b <= a


def results(ours_add, ours_rows):
    """Against torch's: types, alignments, streams, sizes."""
    for dtype in (torch.float32, torch.float16, torch.bfloat16, torch.int32):
        for off in (0, 1, 3):
            x = (torch.rand(10007, device="cuda") * 50).to(dtype)
            z = torch.empty_like(x)
            ours_add[(10,)](x[off:], x[off:], z[off:], 10007 - off, BLOCK=1024)
            assert torch.equal(z[off:], x[off:] + x[off:]), (dtype, off)
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        x = torch.randn(1000, 781, device="cuda")
        for _ in range(20):
            x = x * 1.0001
            y = torch.empty_like(x)
            ours_rows[(1000,)](x, y, 781, 781, BLOCK=1024, num_warps=8)
            want = torch.softmax(x, 1)
            assert torch.allclose(y, want, atol=1e-6)
    if torch.cuda.device_count() > 1:
        x = torch.rand(64, device="cuda:1")
        z = torch.empty_like(x)
        ours_add[(1,)](x, x, z, 64, BLOCK=64)
        assert torch.equal(z, x + x)
    try:
        ours_add[(1,)](x, x.cpu(), x, 64, BLOCK=64)
        raise AssertionError("a tensor of the host was taken")
    except ValueError:
        pass
    graph = torch.cuda.CUDAGraph()
    x = torch.rand(64, device="cuda")
    z = torch.zeros_like(x)
    ours_add[(1,)](x, x, z, 64, BLOCK=64)  # nothing compiles while a stream is captured
    z.zero_()
    with torch.cuda.graph(graph):
        ours_add[(1,)](x, x, z, 64, BLOCK=64)
    graph.replay()
    torch.cuda.synchronize()
    assert torch.equal(z, x + x)
    print("results agree with torch's; a launch can be captured into a graph")


def main():
    print("%s, torch %s, triton %s, tkc %s, Python %s" % (torch.cuda.get_device_name(), torch.__version__, triton.__version__, tkc.version(),
                                                         sys.version.split()[0]))
    ours_add, ours_many, ours_rows, ours_blocks, ours_tuned = (tkc.jit(k) for k in (add, many, rows, blocks, tuned))
    results(ours_add, ours_rows)
    x = torch.rand(1024, device="cuda")
    y, z = x.clone(), x.clone()
    six = (x, y, x, y, x, z, 3, 5, 7, 16, 32, 64, 0.5)
    square = torch.rand(32, 32, device="cuda")
    described = lambda kind: kind.from_tensor(square, [32, 32])
    theirs, ours = ([described(kind) for _ in "xy"] for kind in (TensorDescriptor, tkc.tools.tensor_descriptor.TensorDescriptor))
    ok = [compare("3 tensors, a tuple", lambda: add[(1,)](x, y, z, 1024, BLOCK=1024), lambda: ours_add[(1,)](x, y, z, 1024, BLOCK=1024)),
          compare("3 tensors, a function",
                  lambda: add[lambda meta: (triton.cdiv(1024, meta["BLOCK"]),)](x, y, z, 1024, BLOCK=1024),
                  lambda: ours_add[lambda meta: (tkc.cdiv(1024, meta["BLOCK"]),)](x, y, z, 1024, BLOCK=1024)),
          compare("6 tensors, 7 numbers", lambda: many[(1,)](*six, BLOCK=1024, KIND="a", num_warps=4),
                  lambda: ours_many[(1,)](*six, BLOCK=1024, KIND="a", num_warps=4)),
          compare("options", lambda: add[(1,)](x, y, z, 1024, BLOCK=1024, num_warps=8, num_stages=2, num_ctas=1),
                  lambda: ours_add[(1,)](x, y, z, 1024, BLOCK=1024, num_warps=8, num_stages=2, num_ctas=1)),
          compare("autotuned", lambda: tuned[(1,)](x, y, z, 1024), lambda: ours_tuned[(1,)](x, y, z, 1024)),
          compare("2 descriptors", lambda: blocks[(1,)](*theirs, BLOCK=32), lambda: ours_blocks[(1,)](*ours, BLOCK=32)),
          compare("2 descriptors, made anew", lambda: blocks[(1,)](*(described(TensorDescriptor) for _ in "xy"), BLOCK=32),
                  lambda: ours_blocks[(1,)](*(described(tkc.tools.tensor_descriptor.TensorDescriptor) for _ in "xy"), BLOCK=32)),
          compare("warmup", lambda: add.warmup(x, y, z, 1024, BLOCK=1024, grid=(1,)), lambda: ours_add.warmup(x, y, z, 1024, BLOCK=1024, grid=(1,)))]
    return 0 if all(ok) else 1


if __name__ == "__main__":
    sys.exit(main())
