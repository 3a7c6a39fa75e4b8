#!/usr/bin/env python3
"""The operations of ops.py under Triton itself: ops_triton.py [EVERY] [NAME...]

Are our expectations Triton's? Each generated kernel is imported and launched by Triton on the GPU, and judged as tkc's runs are. Blocks whose extents are
not powers of two are left out; EVERY takes each EVERY-th case. What Triton refuses is counted. Where Triton's result differs, either our
table is wrong or docs/language.md says why tkc differs on purpose. Needs a GPU, torch and triton."""
import importlib.util
import multiprocessing
import os
import sys
import tempfile

import ops
from batches import DTYPES, Runner, np

TORCH = {"i1": "bool", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "u8": "uint8", "u16": "uint16", "u32": "uint32",
         "u64": "uint64", "fp8e4nv": "float8_e4m3fn", "fp8e5": "float8_e5m2", "fp16": "float16", "bf16": "bfloat16", "fp32": "float32",
         "fp64": "float64"}
REFUSED = "Triton refuses it: "


class TritonRunner(Runner):
    def execute(self, kernel, folder):
        import torch
        source = os.path.join(folder, "batch.py")
        with open(source, "w") as f:
            f.write(kernel.text)
        to_gpu = lambda dtype, a: torch.from_numpy(a.view(np.uint8)).cuda().view(getattr(torch, TORCH[dtype]))
        arguments = {f"{m.prefix}_{dtype}": to_gpu(dtype, a) for m in (kernel.read, kernel.written) for dtype, a in m.arrays()}
        try:
            spec = importlib.util.spec_from_file_location("batch", source)
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            module.batch[(kernel.cases[0].grid,)](**arguments)
            torch.cuda.synchronize()
        except Exception as error:  # whatever Triton raises is its refusal
            return REFUSED + str(error).strip().split("\n")[-1], {}
        back = lambda dtype: arguments[f"y_{dtype}"].view(torch.uint8).cpu().numpy().view(DTYPES[dtype].storage)
        return None, {dtype: back(dtype) for dtype in kernel.written.parts}


def is_plain(case):
    shapes = [np.shape(s) for _, s in case.blocks.values()] + [w.shape for w in case.results.values()]
    return all(n & (n - 1) == 0 for shape in shapes for n in shape)


def run_batch(numbers):
    runner = TritonRunner(None, "cuda")
    return [(CASES.index(case), kind_of(text), text) for case, text in runner.run([CASES[i] for i in numbers])]


def kind_of(text):
    return "passed" if not text else "refused" if text.startswith(REFUSED) else "failed"


def main():
    every = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    global CASES
    CASES = [c for c in ops.all_cases() if is_plain(c) and all(n in c.name for n in sys.argv[2:])][::every]
    by_grid = {}
    for i, case in enumerate(CASES):
        by_grid.setdefault(case.grid, []).append(i)
    batches = [group[i:i + 12] for group in by_grid.values() for i in range(0, len(group), 12)]
    counts = {"passed": 0, "failed": 0, "refused": 0}
    with tempfile.TemporaryDirectory() as cache:
        os.environ["TRITON_CACHE_DIR"] = cache
        with multiprocessing.get_context("fork").Pool(os.cpu_count()) as pool:
            for outcome in pool.imap_unordered(run_batch, batches):
                for i, kind, text in outcome:
                    counts[kind] += 1
                    if kind != "passed":
                        print(f"{kind} {CASES[i].name}\n{text.rstrip()}", flush=True)
    print(", ".join(f"{n} {kind}" for kind, n in counts.items()))


if __name__ == "__main__":
    main()
