#!/usr/bin/env python3
"""tkc's kernels beside Triton's, from the same text, in one process on one GPU: gpu_compare.py [TKC] [-arch=sm_80] [examples] [NAME...]

Both sides run the same files (examples/, Inputs/): Triton imports them, tkc compiles them to PTX that the driver loads. Launches are captured into
CUDA graphs (so the time to issue them does not count) that walk over copies of the arrays larger than the L2 cache; graphs alternate for
ROUNDS rounds, each timed by device events. Each side uses its best number of warps, of a product its best configuration. Bytes are each
input read once plus each output written once; of products the operations count. A ratio is the median over the rounds of tkc's rate over
Triton's, with its 95 % interval. Where cuBLAS or cuDNN does the work, too, its graph is in the same rounds, and the last ratio is tkc's rate over its.
-arch: PTX of both sides for an older chip. `examples`: those of examples/ with their own lists of configurations. NAMEs choose the works whose name has all of them. Needs torch and triton.
"""
import ctypes
import importlib.machinery
import importlib.util
import itertools
import math
import os
import statistics
import subprocess
import sys
import tempfile

import torch
import triton

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ROUNDS, L2_BYTES = 24, 256 << 20
MAX_DYNAMIC_SHARED = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
cuda = ctypes.CDLL("libcuda.so.1")


def check(result, call):
    if result:
        text = ctypes.c_char_p()
        cuda.cuGetErrorString(result, ctypes.byref(text))
        sys.exit(f"{call}: {text.value.decode()}")


def example(name):
    return os.path.join(ROOT, "examples", name + ".tk")


def bench_input(name):
    return os.path.join(ROOT, "test/bench/Inputs", name + ".tk")


def load_file(path):
    loader = importlib.machinery.SourceFileLoader("kernels_" + os.path.basename(path)[:-3], path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


def tensor_map(line, values):
    """Of a line of a manifest and the parameters, one that cuTensorMapEncodeTiled fills (docs/embedding.md)."""
    base, size, box_rows, box_columns, swizzle, rank, *words = map(int, line.split()[1:])
    numbers = [math.prod([words[i], *(values[p].value for p in words[i + 2 : i + 5] if p >= 0)]) for i in range(0, 5 * (2 * rank - 1), 5)]
    extents, strides = [numbers[0], *numbers[1::2]], [size * n for n in numbers[2::2]]
    room = (ctypes.c_uint64 * 24)()
    at = (ctypes.addressof(room) + 63) // 64 * 64
    box, each = (ctypes.c_uint32 * rank)(box_columns, box_rows, *[1] * (rank - 2)), (ctypes.c_uint32 * rank)(*[1] * rank)
    check(cuda.cuTensorMapEncodeTiled(ctypes.c_void_p(at), {1: 0, 2: 1, 4: 2, 8: 4}[size], rank, ctypes.c_void_p(values[base].value),
                                      (ctypes.c_uint64 * rank)(*extents), (ctypes.c_uint64 * (rank - 1))(*strides), box, each, 0,
                                      {32: 1, 64: 2, 128: 3}[swizzle], 2, 0), "cuTensorMapEncodeTiled")
    return room, at


def own_arch():
    major, minor = torch.cuda.get_device_capability()
    return f"sm_{major}{minor}{'a' if major >= 9 else ''}"


class Loaded:
    """One kernel's PTX in the driver; beside: pointers that it takes behind its parameters, NULL."""

    maps, beside = (), 0

    def __init__(self, fn, text, warps, shared):
        self.names, self.notes, self.threads, self.shared = fn.arg_names, fn.fn.__annotations__, 32 * warps, shared
        self.module, self.function = ctypes.c_void_p(), ctypes.c_void_p()
        check(cuda.cuModuleLoadData(ctypes.byref(self.module), text + b"\0"), "cuModuleLoadData")
        check(cuda.cuModuleGetFunction(ctypes.byref(self.function), self.module, fn.fn.__name__.encode()), "cuModuleGetFunction")
        check(cuda.cuFuncSetAttribute(self.function, MAX_DYNAMIC_SHARED, self.shared), "cuFuncSetAttribute")

    def launch(self, grid, args):
        values = [c_value(self.notes.get(name), a) for name, a in zip(self.names, args)] + [ctypes.c_uint64(0)] * self.beside
        maps = [tensor_map(line, values) for line in self.maps]
        places = [ctypes.addressof(v) for v in values] + [at for _, at in maps]
        params = (ctypes.c_void_p * len(places))(*places)
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        check(cuda.cuLaunchKernel(self.function, *grid, self.threads, 1, 1, self.shared, stream, params, None), "cuLaunchKernel")


class TkcKernel(Loaded):
    def __init__(self, tkc, path, fn, defines, signature, warps, stages=3, arch=None):
        with tempfile.TemporaryDirectory() as folder:
            ptx = os.path.join(folder, "k.ptx")
            command = [tkc, path, "-k", fn.fn.__name__, f"-num-warps={warps}", f"-num-stages={stages}", "-arch=" + (arch or own_arch()), "-sig", signature,
                       *[f"-D{n}={v!r}" for n, v in defines.items()]]
            done = subprocess.run([*command, "-v", "-o", ptx], capture_output=True, text=True)
            if done.returncode:
                sys.exit(f"{' '.join(command)}\n{done.stderr}")
            text = open(ptx, "rb").read()
            about = subprocess.run([*command, "-emit=manifest", "-o", "-"], check=True, capture_output=True, text=True).stdout
            self.maps = [line for line in about.splitlines() if line.startswith("map ")]
        super().__init__(fn, text, warps, int(done.stderr.split(" bytes of shared")[0].split()[-1]))


class TritonKernel(Loaded):
    """Of its PTX for a chip that is not there; two arrays of scratch memory are its last parameters."""

    beside = 2

    def __init__(self, fn, defines, signature, warps, stages, arch):
        kinds = dict(word.split("=") for word in signature.split(","))
        source = triton.compiler.ASTSource(fn, {n: kinds[n].split(":")[0] if n in kinds else "constexpr" for n in fn.arg_names},
                                           {(fn.arg_names.index(n),): v for n, v in defines.items()},
                                           {(i,): [["tt.divisibility", 16]] for i, n in enumerate(fn.arg_names) if kinds.get(n, "").endswith(":16")})
        target = triton.backends.compiler.GPUTarget("cuda", int(arch[3:]), 32)
        compiled = triton.compile(source, target=target, options={"num_warps": warps, "num_stages": stages})
        super().__init__(fn, compiled.asm["ptx"].encode(), warps, compiled.metadata.shared)


def c_value(note, a):
    if torch.is_tensor(a):
        return ctypes.c_uint64(a.data_ptr())
    return ctypes.c_float(a) if isinstance(a, float) else ctypes.c_int64(a) if note == "i64" else ctypes.c_int32(a)


def signature_of(fn, args):
    """What tkc's launcher learns from these arguments: types, and that addresses and numbers are multiples of 16."""
    types = {torch.float32: "*fp32", torch.float16: "*fp16", torch.bfloat16: "*bf16", torch.float8_e4m3fn: "*fp8e4nv", torch.uint8: "*u8", torch.int8: "*i8", torch.int32: "*i32", torch.int64: "*i64"}
    parts = []
    for name, a in zip(fn.arg_names, args):
        if isinstance(a, float):
            parts.append(f"{name}=fp32")
            continue
        value = a.data_ptr() if torch.is_tensor(a) else a
        kind = types[a.dtype] if torch.is_tensor(a) else "i64" if fn.fn.__annotations__.get(name) == "i64" else "i32"
        parts.append(f"{name}={kind}{':1' if value == 1 else ':16' if value % 16 == 0 else ''}")
    return ",".join(parts)


def graph_of(launch, sets, repeats):
    """A graph of `repeats` launches over the argument sets in turn."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
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
    """name, path, kernel, defines, sets (argument lists), grid, bytes a launch, reference(args) -> (got, expected), warps to try;
    of a product `work` operations, and configs to try: (defines, warps, stages), where the grid is a function of the defines; or tuned:
    the defines that go with each configuration of the kernel's own list; library(args): the same by cuBLAS or cuDNN; imprecise: how much further
    than tkc's Triton's results may be off, which sums fp8 in fewer bits"""

    rtol, atol, imprecise, work, configs, tuned, library = 2e-5, 1e-6, 0, 0, None, None, None

    def __init__(self, **kw):
        self.__dict__.update(kw)

    def clear(self, args):
        self.reference(args)[0].zero_()


def time_behind_itself(graph, repeats):
    """Of a graph that just ran: what ran before would leave it a cooler or a hotter chip than its own work does."""
    graph.replay()
    return time_graph(graph, repeats)


def in_turns(n, rounds=ROUNDS):
    """The order of each round, such that each of n comes as often behind each other one: what runs hot leaves less of the clock to the next."""
    return itertools.islice(itertools.cycle(itertools.permutations(range(n))), rounds)


def best(graphs, repeats):
    """The graph with the least median: of five turns of all, then of twelve of the first three. The first to run after a pause would have the clock
    for itself."""
    turns = [{w: time_behind_itself(g, repeats) for w, g in graphs.items()} for _ in range(6)][1:]
    median = lambda w: statistics.median(t[w] for t in turns)
    first = sorted(graphs, key=median)[:3]
    turns = [{first[k]: time_behind_itself(graphs[first[k]], repeats) for k in order} for order in in_turns(len(first), 12)]
    return min(first, key=median)


def interval(values):
    """Order statistics around the median that hold it with 95 % (for 24 values: the 8th and the 17th)."""
    s = sorted(values)
    k = max(0, int((len(s) - 1.96 * len(s) ** 0.5) / 2))
    return s[k], s[-1 - k]


def measure(tkc, work, older):
    module = load_file(work.path)
    repeats = max(len(work.sets), min(200, int(2e-3 / (work.bytes / 2.5e12)) + 1))
    fn = getattr(module, work.kernel)
    if work.tuned is not None:  # the example's own list
        work.configs = [({**work.tuned, **c.kwargs}, c.num_warps, c.num_stages) for c in fn.configs]
    while not isinstance(fn, triton.runtime.JITFunction):
        fn = fn.fn
    ours, theirs = {}, {}
    for defines, warps, stages in work.configs or [(work.defines, w, 3) for w in work.warps]:
        grid = work.grid(defines) if callable(work.grid) else work.grid
        name = f"{'×'.join(str(d) for d in defines.values())}, {warps} warps, {stages} stages" if work.configs else f"{warps} warps"
        about = fn, defines, signature_of(fn, work.sets[0]), warps, stages
        k = TkcKernel(tkc, work.path, *about, older)
        sides = {"tkc": (ours, lambda args, k=k, grid=grid: k.launch(grid, args)),
                 "Triton": (theirs, lambda args, d=defines, w=warps, s=stages, grid=grid: fn[grid](*args, **d, num_warps=w, num_stages=s))}
        if older:
            sides["Triton"] = theirs, lambda args, k=TritonKernel(*about, older), grid=grid: k.launch(grid, args)
        for side, (graphs, launch) in sides.items():
            work.clear(work.sets[0])
            try:
                graphs[name] = graph_of(launch, work.sets, repeats)
            except triton.runtime.errors.OutOfResources:
                continue  # Triton has no room for this one
            got, expected = (x.double() for x in work.reference(work.sets[0]))
            if not torch.allclose(got, expected, rtol=work.rtol, atol=work.atol + (side == "Triton") * work.imprecise):
                sys.exit(f"{work.name}, {name}: {side}'s result is wrong by {(got - expected).abs().max().item()}")
    torch.cuda.synchronize()
    a, b = best(ours, repeats), best(theirs, repeats)
    graphs = [ours[a], theirs[b]] + ([graph_of(work.library, work.sets, repeats)] if work.library else [])
    rounds = []
    for order in in_turns(len(graphs)):
        times = {k: time_behind_itself(graphs[k], repeats) for k in order}
        rounds.append([times[k] for k in range(len(graphs))])
    ratios = [r[1] / r[0] for r in rounds]
    o, t, *library = (statistics.median(times) for times in zip(*rounds))
    low, high = interval(ratios)
    rate = lambda us: f"{work.work / us / 1e6:.0f} TFLOP/s" if work.work else f"{work.bytes / us / 1e3:.0f} GB/s"
    beside = f"{rate(library[0])} | {statistics.median(r[2] / r[0] for r in rounds):.3f}" if library else "|"
    print(f"| {work.name} | {rate(o)} ({a}) | {rate(t)} ({b}) | "
          f"{statistics.median(ratios):.3f} | {low:.3f} … {high:.3f} | {beside} |", flush=True)


def copies(bytes_a_set):
    return max(1, min(64, L2_BYTES // bytes_a_set + 1))


def vector_add(n, block=1024):
    sets = [[torch.randn(n, device="cuda"), torch.randn(n, device="cuda"), torch.empty(n, device="cuda"), n] for _ in range(copies(12 * n))]
    return Work(name=f"vector add fp32, {n}", path=example("vector_add"), kernel="add", defines={"BLOCK": block}, sets=sets,
                grid=(triton.cdiv(n, block), 1, 1), bytes=12 * n, reference=lambda a: (a[2], a[0] + a[1]), warps=(4, 8))


def softmax(rows, width):
    block = triton.next_power_of_2(width)
    stride = (width + 3) // 4 * 4
    sets = []
    for _ in range(copies(8 * rows * stride)):
        x = torch.randn(rows, stride, device="cuda")
        sets.append([torch.empty_like(x), x, stride, stride, width])
    return Work(name=f"softmax fp32 {rows}×{width}", path=example("softmax"), kernel="softmax_masked", defines={"BLOCK": block}, sets=sets,
                grid=(rows, 1, 1), bytes=8 * rows * width,
                reference=lambda a: (a[0][:, :width], torch.softmax(a[1][:, :width], 1)), warps=[w for w in (1, 2, 4, 8, 16, 32) if block // w >= 32])


def grey(h, w, bh, bw):
    def reference(a):
        f = a[0].view(3, h, w).float()
        return a[1].view(h, w), (0.2989 * f[0] + 0.5870 * f[1] + 0.1140 * f[2]).to(torch.uint8)
    sets = [[torch.randint(0, 256, (3 * h * w,), device="cuda", dtype=torch.uint8), torch.empty(h * w, device="cuda", dtype=torch.uint8), h, w]
            for _ in range(copies(4 * h * w))]
    return Work(name=f"rgb to grey u8 {h}×{w} ({bh}×{bw})", path=example("rgb_to_grey"), kernel="rgb_to_grey", defines={"BH": bh, "BW": bw}, 
                sets=sets, grid=(triton.cdiv(h, bh), triton.cdiv(w, bw), 1), bytes=4 * h * w, atol=1, reference=reference, warps=(4, 8))


def gelu(n):
    sets = [[torch.randn(n, device="cuda", dtype=torch.float16), torch.empty(n, device="cuda", dtype=torch.float16), n] for _ in range(copies(4 * n))]
    return Work(name=f"gelu fp16, {n}", path=example("gelu"), kernel="gelu", defines={"BLOCK": 1024}, sets=sets,
                grid=(triton.cdiv(n, 1024), 1, 1), bytes=4 * n, rtol=2e-3,
                reference=lambda a: (a[1][:4096], torch.nn.functional.gelu(a[0][:4096].float(), approximate="tanh").half()), warps=(4, 8))


def transpose(n, block):
    sets = [[torch.randn(n, n, device="cuda"), torch.empty(n, n, device="cuda"), n, n] for _ in range(copies(8 * n * n))]
    return Work(name=f"transpose fp32 {n}² ({block}×{block})", path=bench_input("gpu_kernels"), kernel="transpose", defines={"BH": block, "BW": block},
                sets=sets, grid=(triton.cdiv(n, block), triton.cdiv(n, block), 1), bytes=8 * n * n, reference=lambda a: (a[1], a[0].T), warps=(1, 2, 4, 8))


def half(*shape):
    return torch.randn(*shape, device="cuda", dtype=torch.float16)


def layer_norm(rows, width):
    block = triton.next_power_of_2(width)
    sets = [[half(rows, width), half(rows, width), half(width), half(width), width, 1e-5] for _ in range(copies(4 * rows * width))]

    def reference(a):
        return a[1], torch.nn.functional.layer_norm(a[0].float(), (width,), a[2].float(), a[3].float(), 1e-5)
    return Work(name=f"layer norm fp16 {rows}×{width}", path=bench_input("gpu_kernels"), kernel="layer_norm", defines={"BLOCK": block}, sets=sets,
                grid=(rows, 1, 1), bytes=4 * rows * width, rtol=2e-3, atol=2e-3, reference=reference, warps=(2, 4, 8, 16, 32))


def column_sums(height, width, bh, bw):
    sets = [[torch.randn(height, width, device="cuda"), torch.empty(width, device="cuda"), height, width] for _ in range(copies(4 * height * width))]
    return Work(name=f"column sums fp32 {height}×{width} ({bh}×{bw})", path=bench_input("gpu_kernels"), kernel="column_sums",
                defines={"BH": bh, "BW": bw}, sets=sets, grid=(triton.cdiv(width, bw), 1, 1), bytes=4 * height * width, rtol=1e-4, atol=1e-2,
                reference=lambda a: (a[1], a[0].double().sum(0)), warps=(4, 8, 16))


def matvec(height, width, bh, bw):
    sets = [[half(height, width), half(width), half(height), height, width] for _ in range(copies(2 * height * width))]
    return Work(name=f"matvec fp16 {height}×{width} ({bh}×{bw})", path=bench_input("gpu_kernels"), kernel="matvec", defines={"BH": bh, "BW": bw}, sets=sets,
                grid=(triton.cdiv(height, bh), 1, 1), bytes=2 * height * width, rtol=2e-3, atol=0.2,
                reference=lambda a: (a[2], a[0].double() @ a[1].double()), warps=(1, 2, 4, 8))


def rope(tokens, heads, size):
    sets = [[half(tokens, heads, size), half(tokens, size // 2), half(tokens, size // 2), half(tokens, heads, size), heads]
            for _ in range(copies(4 * tokens * heads * size))]

    def reference(a):
        x, cos, sin = a[0].float(), a[1].float()[:, None], a[2].float()[:, None]
        u, v = x[..., :size // 2], x[..., size // 2:]
        return a[3], torch.cat((u * cos - v * sin, v * cos + u * sin), -1)
    return Work(name=f"rope fp16 {tokens}×{heads}×{size}", path=bench_input("gpu_kernels"), kernel="rope",
                defines={"HEADS": triton.next_power_of_2(heads), "HALF": size // 2}, sets=sets, grid=(tokens, 1, 1),
                bytes=4 * tokens * heads * size, rtol=2e-3, atol=2e-3, reference=reference, warps=(1, 2, 4, 8))


def dropout(n, block=1024):
    sets = [[torch.randn(n, device="cuda"), torch.empty(n, device="cuda"), n, 0.3, 123] for _ in range(copies(8 * n))]
    fn = load_file(example("dropout")).dropout

    def reference(a):
        expected = torch.empty_like(a[1])
        fn[(triton.cdiv(n, block),)](a[0], expected, *a[2:], BLOCK=block)
        return a[1], expected
    return Work(name=f"dropout fp32, {n}", path=example("dropout"), kernel="dropout", defines={"BLOCK": block}, sets=sets,
                grid=(triton.cdiv(n, block), 1, 1), bytes=8 * n, reference=reference, warps=(2, 4, 8))


def quantize_rows(rows, width):
    sets = [[half(rows, width), torch.empty(rows, width, device="cuda", dtype=torch.int8), torch.empty(rows, device="cuda"), width]
            for _ in range(copies(3 * rows * width))]

    def reference(a):
        x = a[0].float()
        return a[1], torch.floor(x / (x.abs().amax(1, keepdim=True) / 127) + 0.5)
    return Work(name=f"quantize rows fp16 {rows}×{width}", path=bench_input("gpu_kernels"), kernel="quantize_rows",
                defines={"BLOCK": triton.next_power_of_2(width)}, sets=sets, grid=(rows, 1, 1), bytes=3 * rows * width, atol=1, reference=reference,
                warps=(1, 2, 4, 8, 16))


def cross_entropy(rows, width, dtype, block):
    bytes_each = 4 if dtype == torch.float32 else 2
    sets = [[torch.randn(rows, width, device="cuda").to(dtype), torch.randint(0, width, (rows,), device="cuda"), torch.empty(rows, device="cuda"),
             torch.empty(rows, device="cuda"), width, width] for _ in range(copies(bytes_each * rows * width))]
    return Work(name=f"cross entropy {str(dtype)[6:]} {rows}×{width}", path=example("cross_entropy"), kernel="cross_entropy",
                defines={"BLOCK": block, "SMOOTHING": 0.0, "IGNORED": -100}, sets=sets, grid=(rows, 1, 1), bytes=bytes_each * rows * width, rtol=1e-4, atol=1e-4,
                reference=lambda a: (a[2], torch.nn.functional.cross_entropy(a[0].float(), a[1], reduction="none")), warps=(4, 8, 16))


def along_rows(kernel, rows, width, expected):
    sets = [[torch.randn(rows, width, device="cuda"), torch.empty(rows, width, device="cuda"), width] for _ in range(copies(8 * rows * width))]
    return Work(name=f"{kernel} fp32 {rows}×{width}", path=bench_input("rows"), kernel=kernel, defines={"BLOCK": width}, sets=sets, grid=(rows, 1, 1),
                bytes=8 * rows * width, rtol=1e-4, atol=1e-2, reference=lambda a: (a[1], expected(a[0])), warps=(1, 2, 4, 8, 16))


def histogram(n, block, bins):
    sets = [[torch.randint(0, bins, (n,), device="cuda", dtype=torch.int32), torch.zeros(bins, device="cuda", dtype=torch.int32), n]
            for _ in range(copies(4 * n))]
    return Work(name=f"histogram {n}, {bins} bins", path=bench_input("gpu_kernels"), kernel="histogram", defines={"BLOCK": block, "BINS": bins}, sets=sets,
                grid=(triton.cdiv(n, block), 1, 1), bytes=4 * n, reference=lambda a: (a[1], torch.bincount(a[0], minlength=bins)), warps=(4, 8))


NAMES = {torch.float16: "fp16", torch.bfloat16: "bf16", torch.float32: "fp32"}


def matmul(n, configs, dtype=torch.float16):
    """fp32 is multiplied as such, not as tf32."""
    some = lambda: torch.randn(n, n, device="cuda", dtype=dtype)
    if dtype == torch.float32:
        configs = [({**d, "PRECISION": "ieee"}, w, s) for d, w, s in configs]
    sets = [[some(), some(), some(), n, n, n, n, n, n] for _ in range(copies(3 * dtype.itemsize * n * n))]
    return Work(name=f"matmul {NAMES[dtype]} {n}³", path=bench_input("products"), kernel="matmul", configs=configs, sets=sets,
                grid=lambda d: (triton.cdiv(n, d["BM"]) * triton.cdiv(n, d["BN"]), 1, 1), bytes=3 * dtype.itemsize * n * n, work=2 * n ** 3,
                rtol=2e-3 if dtype != torch.bfloat16 else 1e-2, atol=0.3, reference=lambda a: (a[2], a[0] @ a[1]), library=lambda a: torch.mm(a[0], a[1], out=a[2]))


def matmul_pointed(m, n, k, row, configs):
    """By block pointers, in rows of `row` numbers."""
    some = lambda down: torch.randn(down, row, device="cuda", dtype=torch.float16)
    sets = [[some(m), some(k), some(m), m, n, k, row, row, row] for _ in range(copies(2 * (2 * m + k) * row))]
    return Work(name=f"matmul fp16 {m}×{n}×{k} by block pointers", path=bench_input("products"), kernel="matmul_pointed", configs=configs, sets=sets,
                grid=lambda d: (triton.cdiv(m, d["BM"]) * triton.cdiv(n, d["BN"]), 1, 1), bytes=2 * (m * k + k * n + m * n), work=2 * m * n * k,
                rtol=2e-3, atol=0.3, reference=lambda a: (a[2][:, :n], a[0][:, :k] @ a[1][:, :n]),
                library=lambda a: torch.mm(a[0][:, :k], a[1][:, :n], out=a[2][:, :n]))


def library_along(kind):
    """cuBLAS: a and b along k, in the type of the result that it has for them."""
    if kind == "int8":
        return lambda a: torch._int_mm(a[0], a[1].T, out=a[2])
    if kind == "fp8":
        one = torch.ones((), device="cuda")
        return lambda a: torch._scaled_mm(a[0], a[1].T, one, one, out_dtype=torch.bfloat16)

    def tf32(a):
        torch.backends.cuda.matmul.allow_tf32 = True
        torch.mm(a[0], a[1].T, out=a[2])
        torch.backends.cuda.matmul.allow_tf32 = False
    return tf32


def matmul_along(n, kind, configs, most=None):
    """Of a and of b as [n, k], types that warp groups read along k only. `most` of k are summed imprecisely, or as many as either side does by itself."""
    dtype = {"tf32": torch.float32, "int8": torch.int8, "fp8": torch.float8_e4m3fn}[kind]
    some = lambda: torch.randint(-128, 128, (n, n), device="cuda", dtype=torch.int8) if kind == "int8" else torch.randn(n, n, device="cuda").to(dtype)
    out = torch.int32 if kind == "int8" else torch.float32
    sets = [[some(), some(), torch.empty(n, n, device="cuda", dtype=out), n, n, n] for _ in range(copies((2 * dtype.itemsize + 4) * n * n))]
    return Work(name=f"matmul {kind} {n}³, b along k" + f", {most} of k imprecise" * bool(most), path=bench_input("products"), kernel="matmul_along",
                configs=[({**d, "MOST": most}, w, s) for d, w, s in configs if d["BK"] >= (most or 0)], sets=sets, library=library_along(kind),
                grid=lambda d: (triton.cdiv(n, d["BM"]) * triton.cdiv(n, d["BN"]), 1, 1), bytes=(2 * dtype.itemsize + 4) * n * n, work=2 * n ** 3,
                rtol=0, atol={"int8": 0, "tf32": 2e-4, "fp8": 1e-3}[kind] * n,  # of fp8 Triton sums all imprecisely
                reference=lambda a: (a[2], a[0].double() @ a[1].double().T))


def matmul_boxes(n, kind, configs, most=None):
    """By descriptors, of fp8 with sums that become bf16, as cuBLAS's do; `most` as above."""
    triton.set_allocator(lambda size, align, stream: torch.empty(size, dtype=torch.int8, device="cuda"))
    dtype, out = {"tf32": (torch.float32, torch.float32), "fp8": (torch.float8_e4m3fn, torch.bfloat16)}[kind]
    some = lambda: torch.randn(n, n, device="cuda").to(dtype)
    size = (2 * dtype.itemsize + out.itemsize) * n * n
    sets = [[some(), some(), torch.empty(n, n, device="cuda", dtype=out), n, n, n] for _ in range(copies(size))]
    return Work(name=f"matmul {kind} {n}³ by descriptors" + f", {most} of k imprecise" * bool(most), path=bench_input("products"), kernel="matmul_boxes",
                configs=[({**d, "MOST": most}, w, s) for d, w, s in configs], sets=sets, library=library_along(kind), grid=(programs_that_fit(), 1, 1),
                bytes=size, work=2 * n ** 3, rtol=1e-2 if kind == "fp8" else 0, atol={"tf32": 2e-4, "fp8": 1e-3}[kind] * n,
                reference=lambda a: (a[2], a[0].double() @ a[1].double().T))


def matmul_from_boxes(n, dtype=torch.float16):
    """By descriptors, programs going from tile to tile."""
    triton.set_allocator(lambda size, align, stream: torch.empty(size, dtype=torch.int8, device="cuda"))
    some = lambda: torch.randn(n, n, device="cuda", dtype=dtype)
    configs = [({k: d[k] for k in ("BM", "BN", "BK")}, w, s) for d, w, s in LOOP_TILES]
    return Work(name=f"matmul {NAMES[dtype]} {n}³ from descriptors", path=example("matmul_persistent"), kernel="matmul_descriptors", configs=configs,
                sets=[[some(), some(), some(), n, n, n] for _ in range(copies(6 * n * n))], bytes=6 * n * n, work=2 * n ** 3,
                grid=lambda d: (min(programs_that_fit(), triton.cdiv(n, d["BM"]) * triton.cdiv(n, d["BN"])), 1, 1),
                rtol=2e-3 if dtype == torch.float16 else 1e-2, atol=0.3, reference=lambda a: (a[2], a[0] @ a[1]), library=lambda a: torch.mm(a[0], a[1], out=a[2]))


def cudnn_attention(causal):
    def run(a):
        with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.CUDNN_ATTENTION):
            torch.nn.functional.scaled_dot_product_attention(*(x[None] for x in a[:3]), is_causal=causal)
    return run


def attention(heads, n, size, causal):
    sets = [[half(heads, n, size), half(heads, n, size), half(heads, n, size), half(heads, n, size), torch.empty(heads, n, device="cuda"), heads, n, n,
             size ** -0.5] for _ in range(copies(8 * heads * n * size))]
    configs = [({"D": size, "BM": bm, "BN": bn, "CAUSAL": causal}, warps, stages)
               for bm, bn, warps, stages in ((128, 64, 4, 3), (128, 64, 8, 3), (128, 128, 8, 2), (64, 64, 4, 3))]
    return Work(name=f"attention fp16 {heads}×{n}×{size}{' causal' if causal else ''}", path=example("attention"), kernel="attention", configs=configs,
                sets=sets, grid=lambda d: (triton.cdiv(n, d["BM"]), heads, 1), bytes=8 * heads * n * size, work=(2 if causal else 4) * heads * n * n * size,
                library=cudnn_attention(causal),
                rtol=2e-3, atol=2e-3, reference=lambda a: (a[3], torch.nn.functional.scaled_dot_product_attention(*(x[None] for x in a[:3]), is_causal=causal)[0]))


# ---- the examples, each with its own list of configurations ----

def programs_that_fit():
    return torch.cuda.get_device_properties(0).multi_processor_count


def tile_grid(m, n, *rest):
    return lambda d: (triton.cdiv(m, d["BM"]) * triton.cdiv(n, d["BN"]), *(*rest, 1, 1)[:2])


def product(name, file, kernel, sets, m, n, k, reference, grid=None, tuned={}, work=1, **kw):
    """Of m x n x k, `work` times."""
    return Work(**{"name": name, "path": example(file), "kernel": kernel, "tuned": tuned, "sets": sets, "grid": grid or tile_grid(m, n),
                   "bytes": 2 * (m * n + n * k + m * k), "work": 2 * work * m * n * k, "rtol": 4e-3, "atol": 0.3, "reference": reference, **kw})


def grouped_matmul(n):
    sets = [[half(n, n), half(n, n), half(n, n), n, n, n, n, n, n] for _ in range(copies(6 * n * n))]
    return product(f"example matmul fp16 {n}³", "matmul", "matmul", sets, n, n, n, lambda a: (a[2], a[0] @ a[1]))


def matmul_act(n):
    sets = [[half(n, n), half(n, n), torch.randn(n, device="cuda"), half(n, n), half(n, n), n, n, n, n, n, n] for _ in range(copies(8 * n * n))]
    return product(f"matmul, bias, gelu, residual fp16 {n}³", "matmul_epilogue", "matmul_act", sets, n, n, n, tuned={"ACTIVATION": "gelu"},
                   reference=lambda a: (a[4], torch.nn.functional.gelu((a[0] @ a[1]).float() + a[2], approximate="tanh") + a[3]))


def persistent(kernel, n):
    triton.set_allocator(lambda size, align, stream: torch.empty(size, dtype=torch.int8, device="cuda"))
    sets = [[half(n, n), half(n, n), half(n, n), n, n, n] for _ in range(copies(6 * n * n))]
    return product(f"{kernel} fp16 {n}³", "matmul_persistent", kernel, sets, n, n, n, lambda a: (a[2], a[0] @ a[1]), grid=(programs_that_fit(), 1, 1))


def split_k(kernel, m, n, k):
    def one():
        return [half(m, k), half(k, n), torch.zeros(*((8,) if kernel == "split_k_parts" else ()), m, n, device="cuda"), m, n, k]

    def reference(a):  # zeros, where fewer than 8 programs share k, add nothing
        return (a[2].sum(0) if a[2].dim() == 3 else a[2]), a[0].float() @ a[1].float()
    work = product(f"{kernel} fp16 {m}×{n}×{k}", "matmul_split_k", kernel, [one() for _ in range(copies(2 * (m + n) * k))], m, n, k, reference,
                   grid=lambda d: (triton.cdiv(m, d["BM"]) * triton.cdiv(n, d["BN"]), d["SPLIT"], 1), atol=0.5)
    work.clear = lambda a: a[2].zero_()  # what is compared is a sum of it
    return work


def batched(batch, n):
    sets = [[half(batch, n, n), half(batch, n, n), half(batch, n, n), n, n, n, n * n, n, n * n, n] for _ in range(copies(6 * batch * n * n))]
    return product(f"batched fp16 {batch} of {n}³", "matmul_batched", "matmul_batched", sets, n, n, n, lambda a: (a[2], a[0] @ a[1]),
                   grid=tile_grid(n, n, batch), work=batch, bytes=6 * batch * n * n)


def groups(sizes):
    starts = [[0, 0, 0]]
    for m, n, k in sizes:
        starts.append([x + y for x, y in zip(starts[-1], (m * k, k * n, m * n))])
    ends, operations = starts.pop(), sum(m * n * k for m, n, k in sizes)
    table = lambda rows, dtype: torch.tensor(rows, device="cuda", dtype=dtype)
    sets = [[*(half(x) for x in ends), table(sizes, torch.int32), table(starts, torch.int64), len(sizes)] for _ in range(copies(2 * sum(ends)))]

    def reference(a):
        parts = [a[0][x : x + m * k].view(m, k) @ a[1][y : y + k * n].view(k, n) for (m, n, k), (x, y, _) in zip(sizes, starts)]
        return a[2], torch.cat([p.flatten() for p in parts])
    return product(f"groups fp16 {len(sizes)} of {sizes[0][0]}…{sizes[-1][0]}×{sizes[0][1]}×{sizes[0][2]}", "matmul_batched", "matmul_many", sets, 1, 1,
                   operations, reference, grid=(programs_that_fit(), 1, 1), tuned={"EVEN": 8}, bytes=2 * sum(ends))


def experts(tokens, count, n, k):
    order = torch.arange(tokens, device="cuda", dtype=torch.int32)
    expert = torch.arange(tokens // 64, device="cuda", dtype=torch.int32) * count // (tokens // 64)
    sets = [[half(tokens, k), half(count, n, k), half(tokens, n), order, expert, tokens, n, k] for _ in range(copies(2 * (count * n * k + tokens * (n + k))))]
    return product(f"experts fp16 {tokens} tokens, {count} of {n}×{k}", "matmul_batched", "experts", sets, tokens, n, k,
                   lambda a: (a[2], torch.bmm(a[0].view(count, -1, k), a[1].mT).view(tokens, n)),
                   grid=lambda d: (tokens // 64, triton.cdiv(n, d["BN"]), 1), bytes=2 * (count * n * k + tokens * (n + k)))


def int4_numbers(packed, scales, group=128):
    byte = packed.view(packed.shape[0], -1, group // 2).to(torch.int32)
    return ((torch.cat((byte & 15, byte >> 4), 2) - 8).half() * scales[:, :, None]).flatten(1)


def weights_of(bits, n, k):
    """Arrays of a layer's weights as the kernels want them, how many bytes they have, and their numbers."""
    if bits == 4:
        return lambda: [torch.randint(0, 256, (n, k // 2), device="cuda", dtype=torch.uint8), half(n, k // 128) / 16], n * k // 2 + n * k // 64, int4_numbers
    if bits == 8:
        return (lambda: [torch.randint(-128, 128, (n, k), device="cuda", dtype=torch.int8), torch.rand(n, device="cuda") / 64], n * k,
                lambda w, s: (w.float() * s[:, None]).half())
    return lambda: [half(n, k)], 2 * n * k, lambda w: w


def few_bits(bits, n):
    weights, size, numbers = weights_of(bits, n, n)
    sets = [[half(n, n), *weights(), half(n, n), n, n, n, *([n // 2] if bits == 4 else [])] for _ in range(copies(4 * n * n + size))]
    return product(f"int{bits} weights {n}³", "matmul_quantized", f"matmul_int{bits}", sets, n, n, n, lambda a: (a[3], a[0] @ numbers(*a[1:3]).T))


def fp8(n):
    eight = lambda: half(n, n).to(torch.float8_e4m3fn)
    sets = [[eight(), eight(), torch.rand(n, device="cuda"), torch.rand(n, device="cuda"), half(n, n), n, n, n] for _ in range(copies(4 * n * n))]
    return product(f"fp8 with row scales {n}³", "matmul_quantized", "matmul_fp8", sets, n, n, n, bytes=4 * n * n,
                   reference=lambda a: (a[4], (a[0].float() @ a[1].float().T) * a[2][:, None] * a[3][None, :]), atol=0.5, imprecise=1e-3 * n)


def decoding(tokens, bits, n, k):
    weights, size, numbers = weights_of(bits, n, k)
    kernel = ("decode_row" if tokens == 1 else "decode_rows") + "_int4" * (bits == 4)
    result = lambda: half(n) if tokens == 1 else torch.zeros(tokens, n, device="cuda")
    sizes = ([n, k] if tokens == 1 else [tokens, n, k]) + [k // 2] * (bits == 4)
    sets = [[half(tokens, k), *weights(), result(), *sizes] for _ in range(copies(size))]
    output = 2 + (bits == 4)
    return product(f"decode {tokens}×{n}×{k} {'int4' if bits == 4 else 'fp16'}", "matmul_decode", kernel, sets, tokens, n, k, work=0, bytes=size,
                   reference=lambda a: (a[output].view(tokens, n), a[0].float() @ numbers(*a[1:output]).float().T), atol=0.5,
                   grid=lambda d: (triton.cdiv(n, d["BN"]), d.get("SPLIT", 1), 1))


def window_attention(heads, n, size, share, window):
    sets = [[half(heads, n, size), half(heads // share, n, size), half(heads // share, n, size), half(heads, n, size), torch.empty(heads, n, device="cuda"),
             heads, n, n, size ** -0.5] for _ in range(copies(4 * heads * n * size))]

    def reference(a):
        row, col = torch.arange(n, device="cuda")[:, None], torch.arange(n, device="cuda")[None, :]
        return a[3][:1], torch.nn.functional.scaled_dot_product_attention(a[0][None, :1], a[1][None, :1], a[2][None, :1], (col <= row) & (col > row - window))[0]
    return Work(name=f"attention fp16 {heads}×{n}×{size} causal, window {window}, {share} heads share keys", path=example("attention"), kernel="attention",
                tuned={"D": size, "CAUSAL": True, "SHARE": share, "WINDOW": window}, sets=sets, grid=lambda d: (triton.cdiv(n, d["BM"]), heads, 1),
                bytes=4 * heads * n * size, work=4 * heads * n * window * size, rtol=2e-3, atol=2e-3, reference=reference)


def attention_back(kernel, heads, n, size, causal):
    scale = size ** -0.5
    q, k, v, do = (half(heads, n, size) for _ in range(4))
    results = {"attention_dkv": 2, "attention_dq": 1}[kernel]
    lse, delta, want = torch.empty(heads, n, device="cuda"), torch.empty(heads, n, device="cuda"), []
    for h in range(heads):
        s = q[h].float() @ k[h].float().T * scale
        if causal:
            s = s.masked_fill(torch.ones_like(s, dtype=torch.bool).triu(1), float("-inf"))
        lse[h] = torch.logsumexp(s, 1) / 0.6931471805599453
        p, dp = torch.softmax(s, 1), do[h].float() @ v[h].float().T
        delta[h] = (p * dp).sum(1)
        if h == 0:
            ds = p * (dp - delta[h][:, None]) * scale
            want = ds.T @ q[h].float() if results == 2 else ds @ k[h].float()
    sets = [[q, k, v, do, lse, delta, *(torch.empty_like(q) for _ in range(results)), n, scale] for _ in range(2)]
    return Work(name=f"{kernel} fp16 {heads}×{n}×{size}{' causal' if causal else ''}", path=example("attention_backward"), kernel=kernel,
                tuned={"D": size, "CAUSAL": causal}, sets=sets, bytes=(8 + 2 * results) * heads * n * size, rtol=1e-2, atol=1e-2,
                grid=lambda d: (triton.cdiv(n, d["BN" if results == 2 else "BM"]), heads, 1), reference=lambda a: (a[6][0], want),
                work=(4 if results == 2 else 3) * (1 if causal else 2) * heads * n * n * size)


def paged(sequences, heads, group, size, length, page=64, part=512):
    groups, pages = heads // group, sequences * length // page
    table = torch.randperm(pages, device="cuda").to(torch.int32).view(sequences, -1)
    lengths = torch.full((sequences,), length, device="cuda", dtype=torch.int32)
    parts = triton.cdiv(length, part)
    numbers = lambda *shape: torch.empty(sequences, heads, parts, *shape, device="cuda")
    bytes_read = 4 * sequences * length * groups * size
    sets = [[half(sequences, heads, size), half(pages, page, groups, size), half(pages, page, groups, size), table, lengths, numbers(size), numbers(), numbers(),
             size ** -0.5, table.shape[1]] for _ in range(copies(bytes_read))]

    def reference(a):
        of = lambda x: x[table[0].long()].view(length, groups, size)[:part, 0].float()
        s = a[0][0, :group].float() @ of(a[1]).T * size ** -0.5
        return a[5][0, :group, 0], torch.exp(s - s.amax(1, keepdim=True)) @ of(a[2])
    return Work(name=f"paged attention fp16 {sequences} of {length} keys, {heads} heads in {groups} groups of {size}", path=example("attention_paged"),
                kernel="decode", tuned={"HEADS": heads, "GROUP": group, "D": size, "PAGE": page, "PART": part}, sets=sets, grid=(sequences, groups, parts),
                bytes=bytes_read, rtol=1e-2, atol=0.1, reference=reference)


def linear_attention(heads, n, size):
    sets = [[half(heads, n, size), half(heads, n, size), half(heads, n, size), -torch.rand(heads, n, device="cuda") / 8, half(heads, n, size), n]
            for _ in range(copies(8 * heads * n * size))]

    def reference(a):  # the first head's first 256
        q, k, v, decay = a[0][0, :256].double(), a[1][0, :256].double(), a[2][0, :256].double(), a[3][0, :256].double().cumsum(0)
        return a[4][0, :256], ((q @ k.T) * torch.exp((decay[:, None] - decay[None, :]).tril()).tril()) @ v
    return Work(name=f"linear attention fp16 {heads}×{n}×{size}", path=example("linear_attention"), kernel="decayed_attention",
                tuned={"D": size, "E": size}, sets=sets, grid=lambda d: (heads, triton.cdiv(size, d["BE"]), 1), bytes=8 * heads * n * size, rtol=2e-2, atol=1.0,
                reference=reference)


EXAMPLES = [
    lambda: grouped_matmul(4096), lambda: matmul_act(4096), lambda: persistent("matmul_descriptors", 4096), lambda: persistent("matmul_persistent", 4096),
    lambda: split_k("split_k_atomic", 512, 512, 16384), lambda: split_k("split_k_parts", 512, 512, 16384), lambda: batched(64, 512),
    lambda: groups([(m, 2048, 1024) for m in (128, 512, 1000, 2048, 24, 4096)]), lambda: experts(8192, 16, 2048, 1024),
    lambda: few_bits(8, 4096), lambda: few_bits(4, 4096), lambda: fp8(4096),
    *(lambda m=m, bits=bits: decoding(m, bits, 8192, 8192) for bits in (16, 4) for m in (1, 4, 16)),
    lambda: window_attention(32, 8192, 128, 4, 1024), lambda: attention_back("attention_dkv", 32, 4096, 64, True),
    lambda: attention_back("attention_dq", 32, 4096, 64, True), lambda: paged(64, 32, 4, 128, 4096), lambda: linear_attention(128, 4096, 64),
]


def tiles(*rows):
    return [({"BM": bm, "BN": bn, "BK": bk, "GROUP": 8}, warps, stages) for bm, bn, bk, warps, stages in rows]


TILES = tiles((128, 128, 64, 4, 3), (128, 256, 64, 8, 3), (128, 128, 32, 4, 4), (128, 128, 64, 8, 3), (64, 128, 64, 4, 3), (256, 128, 64, 8, 3),
              (128, 256, 64, 8, 4), (256, 128, 64, 8, 4))
BYTE_TILES = tiles((128, 128, 128, 4, 3), (128, 256, 128, 8, 3), (256, 128, 128, 8, 3), (64, 128, 128, 4, 3), (128, 128, 64, 4, 4), (128, 128, 128, 8, 3))
BOX_TILES = tiles((128, 256, 128, 8, 3), (128, 256, 128, 8, 4), (256, 128, 128, 8, 3), (256, 128, 128, 8, 4), (128, 128, 128, 4, 3))
LOOP_TILES = tiles((128, 256, 64, 8, 3), (256, 128, 64, 8, 3), (128, 128, 64, 4, 4), (128, 128, 64, 8, 3), (128, 64, 64, 4, 4))
WORD_TILES = tiles((128, 128, 32, 4, 3), (128, 256, 32, 8, 3), (256, 128, 32, 8, 3), (128, 128, 32, 8, 4), (128, 256, 32, 8, 4))
FLOAT_TILES = tiles((128, 128, 16, 8, 3), (64, 128, 16, 8, 3), (128, 64, 16, 4, 3), (128, 128, 32, 8, 2), (64, 64, 16, 4, 3))

WORKS = [
    *(lambda n=n: matmul_along(n, "tf32", WORD_TILES) for n in (4096, 8192)), lambda: matmul_along(4096, "int8", BYTE_TILES), lambda: matmul_along(4096, "fp8", BYTE_TILES),
    lambda: matmul_along(4096, "fp8", BYTE_TILES, 128), lambda: matmul_along(8192, "fp8", BYTE_TILES),
    *(lambda n=n, most=most: matmul_boxes(n, "fp8", BOX_TILES, most) for n in (4096, 8192) for most in (None, 128)),
    *(lambda n=n: matmul_boxes(n, "tf32", WORD_TILES) for n in (4096, 8192)),
    *(lambda n=n: matmul(n, TILES) for n in (1024, 2048, 4096, 8192, 16384)), lambda: matmul(4096, TILES, torch.bfloat16),
    lambda: matmul_pointed(4096, 4096, 4096, 4096, TILES), lambda: matmul_pointed(4000, 4001, 3999, 4096, TILES),
    *(lambda n=n: matmul_from_boxes(n) for n in (1024, 2048, 4096, 8192, 16384)), *(lambda n=n: matmul_from_boxes(n, torch.bfloat16) for n in (4096, 8192)),
    lambda: matmul(8192, TILES, torch.bfloat16), lambda: matmul(4096, FLOAT_TILES, torch.float32),
    *(lambda size=size, causal=causal: attention(128, 4096, size, causal) for size in (64, 128) for causal in (False, True)),
    lambda: vector_add(1 << 28), lambda: vector_add(1 << 24), lambda: vector_add(98432), lambda: softmax(4096, 1024), lambda: softmax(4096, 4096),
    lambda: softmax(4096, 8192), lambda: softmax(4096, 781), lambda: gelu(1 << 27), lambda: grey(8192, 8192, 32, 32),
    lambda: grey(8192, 8192, 4, 512), lambda: transpose(8192, 32), lambda: transpose(8192, 64), lambda: transpose(8191, 64),
    lambda: layer_norm(4096, 1024), lambda: layer_norm(4096, 4096), lambda: layer_norm(4096, 8192), lambda: layer_norm(4096, 5000), lambda: column_sums(8192, 8192, 32, 64), lambda: column_sums(8192, 8192, 64, 32),
    lambda: matvec(8192, 8192, 16, 512), lambda: matvec(8192, 8192, 1, 2048), lambda: rope(8192, 32, 128), lambda: dropout(1 << 26),
    lambda: quantize_rows(8192, 4096), lambda: quantize_rows(8192, 5000), lambda: cross_entropy(4096, 50257, torch.float16, 4096),
    lambda: cross_entropy(4096, 32000, torch.float32, 4096), lambda: along_rows("cumsum_rows", 8192, 4096, lambda x: x.double().cumsum(1)),
    lambda: along_rows("sort_rows", 8192, 1024, lambda x: x.sort(1).values), lambda: histogram(1 << 26, 4096, 256),
    *EXAMPLES,
]


def main():
    tkc = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, "build/release/tkc"))
    torch.cuda.init()
    print(f"{torch.cuda.get_device_name()}, Triton {triton.__version__}, {subprocess.run([tkc, '--version'], capture_output=True, text=True).stdout.strip()}\n")
    print("| work | tkc | Triton | ratio | 95 % interval | library | ratio |\n|---|---|---|---|---|---|---|")
    wrong = False
    words = sys.argv[2:]
    older = words.pop(0)[6:] if words[:1] and words[0].startswith("-arch=") else None
    which = words[:1] == ["examples"]
    for make in EXAMPLES if which else WORKS:
        work = make()
        try:
            if all(n in work.name for n in words[which:]):
                measure(tkc, work, older)
        except SystemExit as reason:
            wrong = True
            print(f"| {work.name} | {reason} | | | | | |", flush=True)
        del work
        torch.cuda.empty_cache()
    sys.exit(wrong)


if __name__ == "__main__":
    main()
