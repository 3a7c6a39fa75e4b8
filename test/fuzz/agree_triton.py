#!/usr/bin/env python3
"""Do random kernels give what Triton makes of them? agree_triton.py TKC [-seconds S] [-first N] [-jobs J] [-ttir] [-out FOLDER]

The kernels are those of agree.py. Here the other side is Triton itself, which gets their text on a GPU of this machine; all that they leave in
memory is compared, within the same bounds. What Triton leaves undefined and tkc does not is left out: division by zero, shifts by too much, numbers that
their new type has not, the order in which `view` takes elements. -ttir: no GPU is asked, only whether Triton takes the text. A kernel that Triton
refuses, or of which something differs, is left in FOLDER with what is said. The last line counts kernels; none that is the same is a failure. Needs numpy, torch and triton."""
import argparse
import importlib.util
import os
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs", "agree"))

import numpy as np

import kernel as kernels
from generate import generate
from ops import OPS
from run import SECONDS, Way, arguments, errors_of, tolerances
from values import DTYPES

TORCH = {"i1": "bool", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "u8": "uint8", "u16": "uint16", "u32": "uint32",
         "u64": "uint64", "fp8e4nv": "float8_e4m3fn", "fp8e5": "float8_e5m2", "fp16": "float16", "bf16": "bfloat16", "fp32": "float32",
         "fp64": "float64"}


def imported(path):
    spec = importlib.util.spec_from_file_location(os.path.basename(path)[:-3], path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.k


def write(kernel, folder, number):
    path = os.path.join(folder, f"agree_{number}.py")
    with open(path, "w") as file:
        file.write(kernels.text(kernel, OPS).replace("tl.view(", "tl.reshape("))
    return path


def may_not_fit(x, to):
    """Of a float that becomes an integer."""
    most = 0 if to.kind == "u" else 2.0 ** (to.bits - 1)
    return x.dtype.is_float and not to.is_float and to.bits > 1 and not x.facts.mag < most


def is_undefined(kernel):
    """Whether Triton may make anything of it."""
    vals = kernels.infer(kernel, OPS).vals
    return any(n.op == "int" and n.attrs["how"] in ("div", "rem", "shl", "shr") or
               n.op == "cast" and may_not_fit(vals[n.args[0]], n.attrs["dtype"]) for n in kernels.walk(kernel.nodes))


class TtirOnly:
    """Whether Triton's front end takes a kernel."""

    def __init__(self):
        from triton._C.libtriton import ir
        from triton.backends.compiler import GPUTarget
        from triton.compiler import ASTSource
        from triton.compiler.compiler import make_backend
        self.ASTSource, self.ir, self.target = ASTSource, ir, GPUTarget("cuda", 90, 32)
        self.backend = make_backend(self.target)

    def differences(self, kernel, path, folder):
        signature = {a.name: f"*{a.dtype}" for a in kernel.arrays + kernel.written()}
        source = self.ASTSource(imported(path), {**signature, "n": "i32"}, {}, {})
        context, options = self.ir.context(), self.backend.parse_options({})
        self.ir.load_dialects(context)
        self.backend.load_dialects(context)
        source.make_ir(self.target, options, self.backend.get_codegen_implementation(options), self.backend.get_module_map(), context)
        return []


class OnGpu:
    def __init__(self, tkc):
        import torch
        self.tkc, self.torch = tkc, torch

    def ours(self, kernel, path, folder):
        """Every array, after tkc has run the kernel."""
        saves = [w for a in kernel.arrays + kernel.written() for w in ("-save", f"{a.name}={folder}/{a.name}.npy")]
        command = [self.tkc, "-run", path, "-x", "tk", "-k", "k", *arguments(kernel, Way("cuda")), *saves]
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, errors="replace")
        if done.returncode:
            raise OSError("tkc: " + errors_of(done.stderr))
        return {a.name: np.load(f"{folder}/{a.name}.npy") for a in kernel.arrays + kernel.written()}

    def tensor(self, dtype, values):
        bytes_ = np.ascontiguousarray(values).reshape(-1).view(np.uint8)
        return self.torch.from_numpy(bytes_.copy()).cuda().view(getattr(self.torch, TORCH[dtype]))

    def differences(self, kernel, path, folder):
        ours = self.ours(kernel, path, folder)
        fresh = {"zeros": self.torch.zeros, "ones": self.torch.ones, "arange": self.torch.arange}
        tensors = {a.name: self.tensor(a.dtype.name, ours[a.name]) for a in kernel.arrays}
        for a in kernel.written():
            tensors[a.name] = fresh[a.kind](a.count, device="cuda").to(getattr(self.torch, TORCH[a.dtype.name]))
        options = {} if kernel.contract else {"enable_fp_fusion": False}
        imported(path)[(kernel.programs,)](*tensors.values(), kernels.TRIPS, **options)
        self.torch.cuda.synchronize()
        bounds = tolerances(kernel)
        return [text for a in kernel.written() for text in [self.compare(a, ours[a.name], tensors[a.name], bounds[a.name])] if text]

    def compare(self, array, ours, theirs, bound):
        mine = self.tensor(array.dtype.name, ours)
        a, b = (t.to(self.torch.float64) if DTYPES[array.dtype.name].is_float else t.to(self.torch.int64) for t in (mine, theirs))
        same = (a == b) | ((a != a) & (b != b)) if array.dtype.is_float else a == b
        if bound:
            same |= (a - b).abs() <= bound
        at = (~same).nonzero()
        if len(at) == 0:
            return None
        i = int(at[0])
        return f"{array.name}[{i}] and {len(at) - 1} more: {a.reshape(-1)[i].item()} of tkc, {b.reshape(-1)[i].item()} of Triton, within {bound}"


def work(options, numbers, end):
    side = TtirOnly() if options.ttir else OnGpu(options.tkc)
    for number in numbers:
        if time.monotonic() > end:
            return
        with tempfile.TemporaryDirectory() as folder:
            kernel = generate(number)
            if is_undefined(kernel):
                continue
            path = write(kernel, folder, number)
            kind, said = "same", ""
            try:
                found = side.differences(kernel, path, folder)
                if found:
                    kind, said = "differs", "\n".join(found)
            except OSError as error:
                kind, said = "tkc", str(error)
            except Exception as error:  # whatever Triton raises
                kind, said = "refused", f"{type(error).__name__}: {error}"
            if kind != "same":
                with open(os.path.join(options.out, f"{kind}-{number}.py"), "w") as file:
                    file.write("".join(f"# {line}\n" for line in said.splitlines()) + open(path).read())
            print(f"{kind} {number} {' '.join(said.split())[:160]}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tkc")
    parser.add_argument("-seconds", type=float, default=60)
    parser.add_argument("-first", type=int, default=1)
    parser.add_argument("-jobs", type=int, default=os.cpu_count())
    parser.add_argument("-ttir", action="store_true")
    parser.add_argument("-out", default=os.path.join("build", "fuzz-triton"))
    parser.add_argument("-worker", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    os.makedirs(options.out, exist_ok=True)
    if options.worker is not None:
        work(options, range(options.first + options.worker, 1 << 62, options.jobs), time.monotonic() + options.seconds)
        return 0
    workers = [subprocess.Popen([sys.executable, os.path.abspath(__file__), *sys.argv[1:], "-jobs", str(options.jobs), "-worker", str(i)],
                                stdout=subprocess.PIPE, text=True) for i in range(options.jobs)]
    counts = dict.fromkeys(("same", "differs", "refused", "tkc"), 0)
    for worker in workers:
        for line in worker.communicate()[0].splitlines():
            kind = line.split()[0]
            counts[kind] += 1
            if kind != "same":
                print(line)
    print(f"{sum(counts.values())} kernels, {counts['refused']} refused by Triton, {counts['differs'] + counts['tkc']} different")
    return bool(counts["differs"] + counts["tkc"] or not counts["same"] or any(w.returncode for w in workers))


if __name__ == "__main__":
    sys.exit(main())
