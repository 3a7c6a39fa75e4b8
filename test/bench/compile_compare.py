#!/usr/bin/env python3
"""How long tkc and Triton take from a kernel's source to its PTX for sm_90a, in one process: compile_compare.py [ROUNDS]

Both read the same text, of examples/; tkc's with `tkc` for `triton`. Each round asks both for the whole way,
without any cache and without the imports; the first round is left out. Median milliseconds of ROUNDS (9 unless told otherwise), and
Triton's over tkc's. Needs triton and the package tkc, no GPU.
"""
import importlib.util
import inspect
import os
import re
import statistics
import sys
import tempfile
import time

import tkc.compiler
import triton
from triton._C.libtriton import ir
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.compiler.compiler import make_backend

EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples")
TILE = {"BM": 128, "BN": 256, "BK": 64}
# file, kernel, types, constexprs, warps, stages
KERNELS = [
    ("softmax", "softmax_masked", "y=*fp32 x=*fp32 y_stride=i32 x_stride=i32 width=i32", {"BLOCK": 1024}, 4, 3),
    ("matmul", "matmul", "a=*fp16 b=*fp16 c=*fp16 m=i32 n=i32 k=i32 a_row=i32 b_row=i32 c_row=i32", TILE, 8, 3),
    ("matmul_persistent", "matmul_descriptors", "a=*fp16 b=*fp16 c=*fp16 m=i32 n=i32 k=i32", TILE, 8, 3),
    ("attention", "attention", "q=*fp16 k=*fp16 v=*fp16 o=*fp16 lse=*fp32 scale=fp32 n=i32 n_k=i32 heads=i32",
     {"BM": 128, "BN": 128, "D": 128, "CAUSAL": True, "WINDOW": 0}, 8, 3),
]


def load(name, by, folder):
    with open(os.path.join(EXAMPLES, name + ".tk")) as file:
        text = file.read()
    path = os.path.join(folder, "%s_%s.py" % (name, by))
    with open(path, "w") as file:
        file.write(re.sub(r"\btriton\b", by, text))
    spec = importlib.util.spec_from_file_location("%s_%s" % (name, by), path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def plain(function):
    while hasattr(function, "configs") or hasattr(function, "values"):
        function = function.fn
    return function


def constexprs(function, types, given):
    parameters = inspect.signature(function.fn).parameters.values()
    defaults = {p.name: p.default for p in parameters if p.default is not p.empty}
    return {**{n: v for n, v in defaults.items() if n not in types}, **given}


def divisible(names, types):
    return {(names.index(n),): [["tt.divisibility", 16]] for n in types if types[n][0] in "*i"}


def triton_ptx(function, types, values, warps, stages):
    """Triton's own stages, the last being PTX, without its cache and without ptxas."""
    names, target = function.arg_names, GPUTarget("cuda", 90, 32)
    signature = {n: types.get(n, "constexpr") for n in names}
    source = ASTSource(function, signature, {(names.index(n),): v for n, v in values.items()}, divisible(names, types))
    backend = make_backend(target)
    options = backend.parse_options({"num_warps": warps, "num_stages": stages, "arch": "sm90"})
    steps = {}
    backend.add_stages(steps, options, source.language)
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    made = source.make_ir(target, options, backend.get_codegen_implementation(options), backend.get_module_map(), context)
    metadata = {"target": target, **options.__dict__}
    for name, step in steps.items():
        made = step(made, metadata)
        if name == "ptx":
            return made


def tkc_ptx(function, types, values, warps, stages):
    source = tkc.compiler.ASTSource(function, types, values, divisible(function.arg_names, types))
    target = tkc.compiler.GPUTarget("cuda", 90, 32)
    return tkc.compile(source, target, {"num_warps": warps, "num_stages": stages}).asm["ptx"]


def timed(make, *args):
    start = time.perf_counter()
    text = make(*args)
    elapsed = 1e3 * (time.perf_counter() - start)
    if ".entry" not in text:
        sys.exit("no PTX of %s" % args[0])
    return elapsed


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 9
    print("%-28s %8s %8s %7s" % ("source to PTX", "tkc", "Triton", "ratio"))
    with tempfile.TemporaryDirectory() as folder:
        for file, name, types, given, warps, stages in KERNELS:
            types = dict(pair.split("=") for pair in types.split())
            sides = []
            for by, make in (("tkc", tkc_ptx), ("triton", triton_ptx)):
                function = plain(getattr(load(file, by, folder), name))
                values = given if by == "tkc" else constexprs(function, types, given)
                sides.append((make, function, types, values, warps, stages))
            times = [[timed(*side) for side in sides] for _ in range(rounds + 1)][1:]
            ours, theirs = (statistics.median(row[i] for row in times) for i in (0, 1))
            print("%-28s %5.1f ms %5.0f ms %7.1f" % (name, ours, theirs, theirs / ours), flush=True)


main()
