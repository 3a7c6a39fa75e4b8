#!/usr/bin/env python3
"""tkc's kernels beside Triton's, from the same text, in one process on one GPU: gpu_compare.py [TKC] [NAME...]

Both sides run the example files themselves: Triton imports them, tkc compiles them to PTX that the driver loads. Launches are captured into
CUDA graphs (so the time to issue them does not count) that walk over copies of the arrays larger than the L2 cache; graphs alternate for
ROUNDS rounds, each timed by device events. Each side uses its best number of warps. Bytes are each input read once plus
each output written once. A ratio is the median over the rounds of tkc's bandwidth over Triton's, with its 95 % interval.
Needs torch and triton.
"""
import ctypes
import importlib.machinery
import importlib.util
import os
import statistics
import subprocess
import sys
import tempfile

import torch
import triton

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ROUNDS, L2_BYTES = 11, 256 << 20
cuda = ctypes.CDLL("libcuda.so.1")


def check(result, call):
    if result:
        text = ctypes.c_char_p()
        cuda.cuGetErrorString(result, ctypes.byref(text))
        sys.exit(f"{call}: {text.value.decode()}")


def load_example(name):
    path = os.path.join(ROOT, "examples", name + ".tk")
    loader = importlib.machinery.SourceFileLoader("example_" + name, path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


class TkcKernel:
    """One kernel's PTX, loaded."""

    def __init__(self, tkc, example, kernel, defines, signature, warps, stages=3):
        with tempfile.TemporaryDirectory() as folder:
            ptx = os.path.join(folder, "k.ptx")
            major, minor = torch.cuda.get_device_capability()
            command = [tkc, os.path.join(ROOT, "examples", example + ".tk"), "-k", kernel, f"-num-warps={warps}", f"-num-stages={stages}",
                       f"-arch=sm_{major}{minor}{'a' if major >= 9 else ''}", "-sig", signature, "-v", "-o", ptx, *[f"-D{n}={v}" for n, v in defines.items()]]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                sys.exit(f"{' '.join(command)}\n{done.stderr}")
            text = open(ptx, "rb").read() + b"\0"
        self.shared = int(done.stderr.split(" bytes of shared")[0].split()[-1])
        self.threads = 32 * warps
        self.module, self.function = ctypes.c_void_p(), ctypes.c_void_p()
        check(cuda.cuModuleLoadData(ctypes.byref(self.module), text), "cuModuleLoadData")
        check(cuda.cuModuleGetFunction(ctypes.byref(self.function), self.module, kernel.encode()), "cuModuleGetFunction")

    def launch(self, grid, args):
        values = [ctypes.c_uint64(a.data_ptr()) if torch.is_tensor(a) else ctypes.c_int32(a) for a in args]
        params = (ctypes.c_void_p * len(values))(*[ctypes.cast(ctypes.pointer(v), ctypes.c_void_p) for v in values])
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        check(cuda.cuLaunchKernel(self.function, *grid, self.threads, 1, 1, self.shared, stream, params, None), "cuLaunchKernel")


def signature_of(fn, args):
    """What tkc's launcher learns from these arguments: types, and that addresses and numbers are multiples of 16."""
    types = {torch.float32: "*fp32", torch.float16: "*fp16", torch.uint8: "*u8"}
    parts = []
    for name, a in zip(fn.arg_names, args):
        value = a.data_ptr() if torch.is_tensor(a) else a
        parts.append(f"{name}={types[a.dtype] if torch.is_tensor(a) else 'i32'}{':1' if value == 1 else ':16' if value % 16 == 0 else ''}")
    return ",".join(parts)


def graph_of(launch, sets, repeats):
    """A graph of `repeats` launches over the argument sets in turn."""
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        launch(sets[0])
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        for i in range(repeats):
            launch(sets[i % len(sets)])
    return graph


def time_graph(graph, repeats):
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    graph.replay()
    end.record()
    end.synchronize()
    return start.elapsed_time(end) / repeats * 1e3  # us a launch


class Work:
    """name, example, kernel, defines, sets (argument lists), grid, bytes a launch, reference(args) -> (got, expected), warps to try"""

    rtol, atol = 2e-5, 1e-6

    def __init__(self, **kw):
        self.__dict__.update(kw)


def best(graphs, repeats):
    """The graph with the least median of five."""
    times = {w: statistics.median(time_graph(g, repeats) for _ in range(5)) for w, g in graphs.items()}
    return min(times, key=times.get)


def interval(values):
    """Order statistics around the median that hold it with 95 % (for 11 values: the 2nd and the 10th)."""
    s = sorted(values)
    k = max(0, int((len(s) - 1.96 * len(s) ** 0.5) / 2))
    return s[k], s[-1 - k]


def measure(tkc, work):
    module = load_example(work.example)
    repeats = max(len(work.sets), min(200, int(2e-3 / (work.bytes / 2.5e12)) + 1))
    fn, names = getattr(module, work.kernel), list(work.defines)
    ours, theirs = {}, {}
    for warps in work.warps:
        k = TkcKernel(tkc, work.example, work.kernel, work.defines, signature_of(fn, work.sets[0]), warps)
        ours[warps] = graph_of(lambda args, k=k: k.launch(work.grid, args), work.sets, repeats)
        got, expected = work.reference(work.sets[0])
        if not torch.allclose(got.double(), expected.double(), rtol=work.rtol, atol=work.atol):
            sys.exit(f"{work.name}, {warps} warps: tkc's result is wrong by {(got.double() - expected.double()).abs().max().item()}")
        theirs[warps] = graph_of(lambda args, w=warps: fn[work.grid](*args, **work.defines, num_warps=w), work.sets, repeats)
    torch.cuda.synchronize()
    a, b = best(ours, repeats), best(theirs, repeats)
    rounds = []
    for _ in range(ROUNDS):
        rounds.append((time_graph(ours[a], repeats), time_graph(theirs[b], repeats)))
    ratios = [t / o for o, t in rounds]
    o, t = (statistics.median(r[i] for r in rounds) for i in (0, 1))
    low, high = interval(ratios)
    print(f"| {work.name} | {work.bytes / o / 1e3:.0f} GB/s ({a} warps) | {work.bytes / t / 1e3:.0f} GB/s ({b} warps) | "
          f"{statistics.median(ratios):.3f} | {low:.3f} … {high:.3f} |", flush=True)


def copies(bytes_a_set):
    return max(1, min(64, L2_BYTES // bytes_a_set + 1))


def vector_add(n, block=1024):
    sets = [[torch.randn(n, device="cuda"), torch.randn(n, device="cuda"), torch.empty(n, device="cuda"), n] for _ in range(copies(12 * n))]
    return Work(name=f"vector add fp32, {n}", example="vector_add", kernel="add", defines={"BLOCK": block}, sets=sets,
                grid=(triton.cdiv(n, block), 1, 1), bytes=12 * n, reference=lambda a: (a[2], a[0] + a[1]), warps=(4, 8))


def softmax(rows, width):
    block = triton.next_power_of_2(width)
    stride = (width + 3) // 4 * 4
    sets = []
    for _ in range(copies(8 * rows * stride)):
        x = torch.randn(rows, stride, device="cuda")
        sets.append([torch.empty_like(x), x, stride, stride, width])
    return Work(name=f"softmax fp32 {rows}×{width}", example="softmax", kernel="softmax_masked", defines={"BLOCK": block}, sets=sets,
                grid=(rows, 1, 1), bytes=8 * rows * width,
                reference=lambda a: (a[0][:, :width], torch.softmax(a[1][:, :width], 1)), warps=[w for w in (1, 2, 4, 8, 16, 32) if block // w >= 32])


def grey(h, w, bh, bw):
    def reference(a):
        f = a[0].view(3, h, w).float()
        return a[1].view(h, w), (0.2989 * f[0] + 0.5870 * f[1] + 0.1140 * f[2]).to(torch.uint8)
    sets = [[torch.randint(0, 256, (3 * h * w,), device="cuda", dtype=torch.uint8), torch.empty(h * w, device="cuda", dtype=torch.uint8), h, w]
            for _ in range(copies(4 * h * w))]
    return Work(name=f"rgb to grey u8 {h}×{w} ({bh}×{bw})", example="rgb_to_grey", kernel="rgb_to_grey", defines={"BH": bh, "BW": bw}, 
                sets=sets, grid=(triton.cdiv(h, bh), triton.cdiv(w, bw), 1), bytes=4 * h * w, atol=1, reference=reference, warps=(4, 8))


def gelu(n):
    sets = [[torch.randn(n, device="cuda", dtype=torch.float16), torch.empty(n, device="cuda", dtype=torch.float16), n] for _ in range(copies(4 * n))]
    return Work(name=f"gelu fp16, {n}", example="gelu", kernel="gelu", defines={"BLOCK": 1024}, sets=sets,
                grid=(triton.cdiv(n, 1024), 1, 1), bytes=4 * n, rtol=2e-3,
                reference=lambda a: (a[1][:4096], torch.nn.functional.gelu(a[0][:4096].float(), approximate="tanh").half()), warps=(4, 8))


def main():
    tkc = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, "build/release/tkc"))
    torch.cuda.init()
    works = [lambda: vector_add(1 << 28), lambda: vector_add(1 << 24), lambda: vector_add(98432), lambda: softmax(4096, 1024), lambda: softmax(4096, 4096),
             lambda: softmax(4096, 8192), lambda: softmax(4096, 781), lambda: gelu(1 << 27), lambda: grey(8192, 8192, 32, 32),
             lambda: grey(8192, 8192, 4, 512)]
    print(f"{torch.cuda.get_device_name()}, Triton {triton.__version__}, {subprocess.run([tkc, '--version'], capture_output=True, text=True).stdout.strip()}\n")
    print("| work | tkc | Triton | ratio | 95 % interval |\n|---|---|---|---|---|")
    for make in works:
        work = make()
        if all(n in work.name for n in sys.argv[2:]):
            measure(tkc, work)
        del work
        torch.cuda.empty_cache()


main()
