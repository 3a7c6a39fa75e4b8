#!/usr/bin/env python3
"""Kernels as libraries have them, tkc's beside Triton's, and on devices without a GPU: library_compare.py [OPTION] FOLDER [TKC] [NAME...]

    library_compare.py --pack CHECKOUTS FOLDER    cuts the kernels out of CHECKOUTS/Liger-Kernel, /unsloth, /attorch and /lightllm, checkouts of
                                                  linkedin/Liger-Kernel, unslothai/unsloth, BobMcDear/attorch and ModelTC/lightllm, into FOLDER:
                                                  a file for each kernel with the functions and constants that it reads, their text unchanged;
                                                  FOLDER (0.3 MB) is all that the other uses need
    library_compare.py FOLDER                     a table of times, on a machine with a GPU, torch and triton
    library_compare.py --simt FOLDER              the same calls with small sizes on tkc's devices cpu and simt, compared; torch and numpy, but no GPU
    library_compare.py --cuda FOLDER              the same on cpu and cuda
    library_compare.py --compile FOLDER           compiles what the table calls by tkc and by Triton for sm_90a; no GPU

A FOLDER that has a calls.py has kernels and calls of its own: Inputs/recurrent, linear attention, the delta rule and what is around them, written for this;
Inputs/operators, what an operator library and a server of language models launch; there may be more of them in files calls_*.py beside it. A call may have a reference by torch, which --simt and --cuda compare with, too.
Of one that --pack made the kernels have tl.dot, and the calls are in Inputs/library_calls.py.

Both sides have the same text, arguments and constexprs, warps and stages; tkc has what its launcher learns from the arguments.
Launches are captured into CUDA graphs that walk over copies of the arrays larger than the L2 cache; the graphs alternate for ROUNDS rounds. A ratio is the
median over the rounds of Triton's time over tkc's: above 1 tkc is faster. `off` is the largest difference of the results by the largest result. A call
that fails says why in its row. NAMEs choose the calls whose row has all of them.
"""
import ast
import importlib.machinery
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import types

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "Inputs"))
ROUNDS, L2_BYTES, WARMERS, LONGEST = 9, 256 << 20, 8, 90
ELEMENTS = {"float32": "fp32", "float16": "fp16", "bfloat16": "bf16", "float8_e4m3fn": "fp8e4nv", "uint8": "u8", "int8": "i8", "int32": "i32", "int64": "i64"}
OFF = {"fp32": 4e-3, "fp16": 8e-3, "bf16": 2e-2, "fp8e4nv": 7.2e-2, "i8": 1e-2, "u8": 7e-2, "i32": 0,
       "i64": 0}  # how far results may be apart, by the largest; fp32: of products of tf32, or of rounded numbers

# ---------------------------------------------------------------- cutting kernels out


class Source:
    """A file of a library: its functions, the constants and the imports of its top."""

    def __init__(self, path):
        self.path = path
        with open(path, encoding="utf-8") as f:
            self.lines = f.read().split("\n")
        self.functions, self.constants, self.imports = {}, {}, {}
        tree = ast.parse("\n".join(self.lines))
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                self.functions.setdefault(node.name, node)
            elif isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    self.imports[alias.asname or alias.name] = (node.level, node.module or "", alias.name)
        for node in tree.body:
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target if isinstance(node, ast.AnnAssign) else None
            if isinstance(target, ast.Name):
                self.constants[target.id] = node

    def text(self, node):
        part = self.lines[node.lineno - 1 : node.end_lineno]
        return "\n".join(line[node.col_offset:] if not line[: node.col_offset].strip() else line for line in part)

    def imported(self, root, name):
        """The file of the library that a name comes from, and its name there; None: it is no file of the library's."""
        level, module, inside = self.imports[name]
        base = os.path.dirname(self.path)
        for _ in range(level - 1):
            base = os.path.dirname(base)
        for base in [base] if level else [root, os.path.join(root, "src")]:
            path = os.path.join(base, *filter(None, module.split("."))) + ".py"
            if os.path.exists(path):
                return path, inside
        return None


def cut(root, file, kernel):
    """A file of its own for one kernel: what it reads of its file and of others, in the order in which it must be there."""
    sources, seen, heads, parts = {}, set(), ["import triton", "import triton.language as tl"], []

    def take(path, name):
        if (path, name) in seen:
            return
        seen.add((path, name))
        if path not in sources:
            sources[path] = Source(path)
        source = sources[path]
        node = source.functions.get(name) or source.constants.get(name)
        if node is None:
            raise LookupError(f"{name} of {path}")
        used = [n.id for part in ast.iter_child_nodes(node) if part not in getattr(node, "decorator_list", ()) for n in ast.walk(part)
                if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)]
        for other in dict.fromkeys(used):
            jitted = any("jit" in ast.unparse(d) for d in getattr(source.functions.get(other), "decorator_list", ()))
            if other != name and (jitted or other in source.constants):
                take(path, other)
            elif other in source.imports and other not in ("tl", "triton"):
                found = source.imported(root, other)
                if found:
                    take(*found)
                elif source.imports[other][1].startswith("triton"):
                    heads.append(f"from {source.imports[other][1]} import {source.imports[other][2]} as {other}")
        parts.append(("@triton.jit\n" if isinstance(node, ast.FunctionDef) else "") + source.text(node))

    take(os.path.join(root, file), kernel)
    return "\n".join(dict.fromkeys(heads)) + "\n\n\n" + "\n\n\n".join(parts) + "\n"


def own_calls(folder):
    """The file with calls of the folder's own, if there is one: they name files there."""
    path = os.path.join(folder, "calls.py")
    return path if os.path.exists(path) else None


def cut_name(call):
    parts = [p for p in call.file[:-3].split("/") if p != "triton_kernel"]
    return ".".join([call.library, *parts[-2:], call.kernel, "py"])


def pack(checkouts, folder):
    os.makedirs(folder, exist_ok=True)
    kernels, size = {cut_name(c): c for c in library_calls.CALLS}, 0
    for name, call in sorted(kernels.items()):
        text = cut(os.path.join(checkouts, call.library), call.file, call.kernel)
        with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
            f.write(text)
        size += len(text.encode())
    print(f"{len(kernels)} kernels, {size / 1e3:.0f} kB")


# ---------------------------------------------------------------- calls


def load(path):
    loader = importlib.machinery.SourceFileLoader(os.path.basename(path)[:-3].replace(".", "_").replace("-", "_"), path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


def element(array):
    return ELEMENTS[str(array.dtype).split(".")[-1]]


def parameters(path, kernel):
    """Names of a kernel's parameters that are no constexprs, from its text."""
    with open(path, encoding="utf-8") as f:
        node = next(n for n in ast.parse(f.read()).body if isinstance(n, ast.FunctionDef) and n.name == kernel)
    return [a.arg for a in node.args.args if "constexpr" not in (ast.unparse(a.annotation) if a.annotation else "")]


class Made:
    """A call's arguments by name: arrays and numbers; what is None is a constexpr."""

    def __init__(self, call, folder, small=False):
        self.call, self.launch = call, call.build(**(call.small if small else call.full))
        self.path = os.path.join(folder, call.file if own_calls(folder) else cut_name(call))
        names = parameters(self.path, call.kernel)
        if len(names) != len(self.launch.args):
            raise ValueError(f"{len(self.launch.args)} arguments for {len(names)} parameters")
        both = list(zip(names, self.launch.args))
        self.values = {n: a for n, a in both if a is not None}
        self.defines = {**self.launch.defines, **{n: None for n, a in both if a is None}}
        self.options = {"num_warps": self.launch.warps, "num_stages": self.launch.stages}

    def arrays(self):
        return {n: getattr(a, "array", a) for n, a in self.values.items() if hasattr(getattr(a, "array", a), "data_ptr")}

    def outputs(self):
        """Names of the arrays to compare, of one that is passed twice the last."""
        names = {id(a): n for n, a in self.arrays().items()}
        return [names[id(o)] for o in self.launch.outputs]

    def types(self):
        """{name: what tkc's launcher learns of an argument: its type, and of what it is a multiple; of a descriptor's parts only of the last extent}"""
        out = {}

        def whole(name, value, kind=None):
            kind = kind or ("i32" if -(1 << 31) <= value < 1 << 31 else "i64")
            out[name] = kind + (":1" if value == 1 and kind[0] == "i" else ":16" if value % 16 == 0 else "")
        for name, a in self.values.items():
            if isinstance(a, float):
                out[name] = "fp32"
            elif isinstance(a, int):
                whole(name, a)
            elif isinstance(a, library_calls.Box):
                out[name] = f"tensordesc<{element(a.array)}[{', '.join(map(str, a.block))}]>"
                if a.array.shape[-1] % 16 == 0:
                    out[f"{name}.shape{len(a.block) - 1}"] = "i32:16"
            else:
                whole(name, a.data_ptr(), "*" + element(a))
        return out

    def flat(self):
        """[(name, value)] as the compiled kernel takes them"""
        out = []
        for name, a in self.values.items():
            if isinstance(a, library_calls.Box):
                out += [(name, a.array), *((f"{name}.shape{i}", n) for i, n in enumerate(a.array.shape)),
                        *((f"{name}.stride{i}", n) for i, n in enumerate(a.array.stride()[:-1]))]
            else:
                out.append((name, a))
        return out

    def signature(self):
        return ",".join(f"{n}={t}" for n, t in self.types().items())

    def tkc_words(self):
        return ["-k", self.call.kernel, *(f"-D{n}={v!r}" for n, v in self.defines.items()), f"-num-warps={self.launch.warps}",
                f"-num-stages={self.launch.stages}"]


def title(call):
    return f"{call.library} | {cut_name(call)[len(call.library) + 1 : -3]} | {call.what}"


def off(got, want):
    """The largest difference by the largest number; what is not finite must be the same."""
    import torch
    got, want = got.float(), want.float()
    fine = torch.isfinite(want)
    if not torch.equal(fine, torch.isfinite(got)) or not torch.equal(torch.nan_to_num(got[~fine]), torch.nan_to_num(want[~fine])):
        return float("inf")
    if not fine.any():
        return float("nan")
    return ((got[fine] - want[fine]).abs().max() / want[fine].abs().max().clamp_min(1e-30)).item()


def first_line(text):
    lines = [line for line in str(text).split("\n") if line.strip()]
    return next((line for line in lines if "error" in line), lines[-1] if lines else "").strip()[:200].replace("|", "/")


# ---------------------------------------------------------------- small sizes on tkc's devices


def run_on(tkc, device, made, folder):
    """Results by name, and seconds."""
    import numpy
    import torch
    command = [tkc, "-run", "-device", device, made.path, *made.tkc_words(), "-grid", ",".join(map(str, made.launch.grid))]
    command += ["-arch=sm_90a"] if device == "simt" else ["-timeout", "300"] if device == "cpu" else []
    boxes = [f"{n}={t}" for n, t in made.types().items() if t.startswith("tensordesc")]
    command += ["-sig", ",".join(boxes)] if boxes else []
    for name, a in made.values.items():
        if not hasattr(a, "array") and not hasattr(a, "data_ptr"):
            command.append(f"{name}={a!r}")
            continue
        kind = element(getattr(a, "array", a))
        command.append(f"{name}={folder}/{name}.npy" + (f":{kind}" if kind in ("bf16", "fp8e4nv") else ""))
    for name in made.outputs():
        command += ["-save", f"{name}={folder}/{device}.{name}.npy"]
    start = time.time()
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode:
        raise RuntimeError(f"{device}: {first_line(done.stderr)}")
    results = {}
    for name in made.outputs():
        array = torch.from_numpy(numpy.load(f"{folder}/{device}.{name}.npy"))
        kind = {"bf16": torch.bfloat16, "fp8e4nv": torch.float8_e4m3fn}.get(element(made.arrays()[name]))
        results[name] = array.view(kind) if kind else array
    return results, time.time() - start


def save_arrays(made, folder):
    """What the pointer of each argument leads to, element after element."""
    import numpy
    import torch
    for name, a in made.arrays().items():
        if isinstance(made.values[name], library_calls.Box):
            flat = a.contiguous()
        else:
            reach = 1 + sum((n - 1) * s for n, s in zip(a.shape, a.stride()))
            flat = a.as_strided((reach,), (1,), a.storage_offset())
        kind = {"bf16": torch.uint16, "fp8e4nv": torch.uint8}.get(element(a))
        numpy.save(f"{folder}/{name}.npy", (flat.view(kind) if kind else flat).numpy())


def compare_small(tkc, device, call, folder):
    import torch
    torch.manual_seed(1)
    start = time.time()
    try:
        made = Made(call, folder, small=True)
        with tempfile.TemporaryDirectory() as here:
            save_arrays(made, here)
            want, seconds = run_on(tkc, "cpu", made, here)
            got, more = run_on(tkc, device, made, here)
        worst, text = 0.0, []
        for name in made.outputs():
            apart, kind = off(got[name], want[name]), element(made.arrays()[name])
            text.append(f"{name} {apart:.1e}" + ("" if apart <= OFF[kind] else " WRONG"))
            if not want[name].float().count_nonzero():
                text[-1] += " NOTHING WRITTEN"
        for name, right in zip(made.outputs(), made.launch.reference() if made.launch.reference else ()):
            apart, kind = off(want[name].flatten(), right.flatten()), element(made.arrays()[name])
            limit = OFF[kind] if made.launch.within is None else made.launch.within
            text.append(f"{name} from torch {apart:.1e}" + ("" if apart <= limit else " WRONG"))
        row = f"| {title(call)} | {'×'.join(map(str, made.launch.grid))} | {', '.join(text)} | {seconds:.1f} | {more:.1f} |"
        return row, "WRONG" not in row and "NOTHING" not in row
    except Exception as problem:
        return f"| {title(call)} | | {type(problem).__name__}: {first_line(problem)} | {time.time() - start:.1f} | |", False


def small(tkc, device, folder, calls):
    library_calls.DEVICE, library_calls.SMALL, library_calls.UNITS = "cpu", True, 5
    import torch
    torch.set_num_threads(1)
    print(f"| library | kernel | sizes of the table | programs | off | s on cpu | s on {device} |\n|---|---|---|---|---|---|---|", flush=True)
    good = 0
    for call in calls:
        row, fine = compare_small(tkc, device, call, folder)
        print(row, flush=True)
        good += fine
    print(f"\n{good} of {len(calls)} calls, of {len({cut_name(c) for c in calls})} kernels, agree")
    return good == len(calls)


# ---------------------------------------------------------------- compiling for a GPU that is not here


def triton_value(value):
    import triton.language as tl
    return eval(value, {"tl": tl}) if isinstance(value, library_calls.Type) else value


def triton_compile(made, fn):
    import triton
    from triton.backends.compiler import GPUTarget
    types, signature, constants, attributes = made.types(), {}, {}, {}
    for i, name in enumerate(fn.arg_names):
        kind = types.get(name)
        if kind is None or kind.endswith(":1"):
            signature[name] = "constexpr"
            constants[name] = 1 if kind else triton_value(made.defines[name]) if name in made.defines else fn.params[i].default
        else:
            signature[name] = kind.split(":")[0].replace(", ", ",") if kind.startswith("tensordesc") else kind.split(":")[0]
            if kind.endswith(":16"):
                attributes[(i,)] = [["tt.divisibility", 16]]
    return triton.compile(triton.compiler.ASTSource(fn, signature, constants, attributes), target=GPUTarget("cuda", 90, 32), options=made.options)


def room(shared):
    return f"fine, {shared} bytes of shared memory" + (": too much" if shared > 227 << 10 else "")


def compile_one(tkc, call, folder):
    start, row = time.time(), []
    try:
        made = Made(call, folder)
        command = [tkc, made.path, *made.tkc_words(), "-arch=sm_90a", "-sig", made.signature(), "-v", "-o", "/dev/null"]
        done = subprocess.run(command, capture_output=True, text=True)
        row.append(first_line(done.stderr) if done.returncode else room(int(done.stderr.split(" bytes of shared")[0].split()[-1])))
    except Exception as problem:
        return f"| {title(call)} | {type(problem).__name__}: {first_line(problem)} | | |", False
    ours = time.time() - start
    try:
        fn = getattr(load(made.path), call.kernel)
        row.append(room(triton_compile(made, fn).metadata.shared))
    except Exception as problem:
        row.append(f"{type(problem).__name__}: {first_line(problem)}")
    fine = all(r.startswith("fine") and "much" not in r for r in row)
    return f"| {title(call)} | {' | '.join(row)} | {ours:.1f} + {time.time() - start - ours:.1f} s |", fine


def compile_all(tkc, folder, calls):
    library_calls.DEVICE, library_calls.FILLED = "cpu", False
    print("| library | kernel | sizes | tkc | Triton | time |\n|---|---|---|---|---|---|", flush=True)
    good = 0
    for call in calls:
        row, fine = compile_one(tkc, call, folder)
        print(row, flush=True)
        good += fine
    print(f"\n{good} of {len(calls)} calls compile")
    return good == len(calls)


# ---------------------------------------------------------------- on a GPU


class Kernels:
    """Both sides of a call, compiled."""

    def __init__(self, gpu_compare, tkc, made):
        from triton.tools.tensor_descriptor import TensorDescriptor
        self.made, self.fn = made, getattr(load(made.path), made.call.kernel)
        self.constants = {n: triton_value(v) for n, v in made.defines.items()}
        self.constants.update(made.options)  # a kernel may have them as constexprs of its own
        names = [n for n, _ in made.flat()]
        wide = {n: "i64" for n in names if ".stride" in n or made.types().get(n, "").startswith("i64")}
        shape = types.SimpleNamespace(fn=types.SimpleNamespace(__name__=made.call.kernel, __annotations__=wide), arg_names=names)
        self.kernel = gpu_compare.TkcKernel(tkc, made.path, shape, made.defines, made.signature(), made.launch.warps, made.launch.stages)
        self.descriptor = lambda a: TensorDescriptor.from_tensor(a.array, a.block)

    def arguments(self, made):
        """For tkc, for Triton."""
        return [a for _, a in made.flat()], {n: self.descriptor(a) if isinstance(a, library_calls.Box) else a for n, a in made.values.items()}

    def tkc(self, arguments):
        self.kernel.launch(self.made.launch.grid, arguments[0])

    def triton(self, arguments):
        self.fn[self.made.launch.grid](**arguments[1], **self.constants)


def rounds(gpu_compare, tkc, call, folder):
    """A row, its ratio; None where Triton refuses."""
    import torch
    import triton
    torch.manual_seed(1)
    made = Made(call, folder)
    size = sum(a.numel() * a.element_size() for a in made.arrays().values())
    try:
        sides = Kernels(gpu_compare, tkc, made)
    except SystemExit as problem:
        raise RuntimeError(f"tkc: {first_line(str(problem).split(chr(10), 1)[-1])}") from None
    arguments, results = sides.arguments(made), {}
    for side in ("triton", "tkc"):
        for output in made.launch.outputs:
            output.zero_()
        try:
            getattr(sides, side)(arguments)
            torch.cuda.synchronize()
        except (triton.runtime.errors.TritonError, triton.CompilationError) as problem:
            return f"| {title(call)} | Triton refuses it: {first_line(problem)} | | | |", None
        results[side] = [o.clone() for o in made.launch.outputs]
    apart, wrong = [], False
    for output, got, want in zip(made.launch.outputs, results["tkc"], results["triton"]):
        apart.append(off(got, want))
        wrong |= not apart[-1] <= OFF[element(output)] or not want.float().count_nonzero().item()
    del results
    more = [Made(call, folder) for _ in range(min(8, L2_BYTES // size))]
    sets = [arguments, *(sides.arguments(m) for m in more)]
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record(), sides.triton(arguments), end.record(), end.synchronize()
    repeats = max(len(sets), min(100, int(2 / max(start.elapsed_time(end), 1e-3))))
    graphs = [gpu_compare.graph_of(launch, sets, repeats) for launch in (sides.tkc, sides.triton)]
    for graph in graphs:
        gpu_compare.time_graph(graph, repeats)
    times = [[gpu_compare.time_graph(g, repeats) for g in graphs] for _ in range(ROUNDS)]
    ratio = statistics.median(theirs / ours for ours, theirs in times)
    ours, theirs = (statistics.median(t) for t in zip(*times))
    return f"| {title(call)} | {ours:.1f} | {theirs:.1f} | {ratio:.3f} | {max(apart):.1e}{' WRONG' if wrong else ''} |", None if wrong else ratio


def open_gpu():
    import torch
    import triton
    library_calls.UNITS = torch.cuda.get_device_properties(0).multi_processor_count
    triton.set_allocator(lambda size, align, stream: torch.empty(size, dtype=torch.int8, device="cuda"))


def warm(folder, calls):
    """In a process of its own: Triton compiles some of the calls, and has them in its cache then."""
    import torch
    from triton.tools.tensor_descriptor import TensorDescriptor
    open_gpu()
    library_calls.FILLED = False
    for call in calls:
        try:
            made = Made(call, folder)
            values = {n: TensorDescriptor.from_tensor(a.array, a.block) if isinstance(a, library_calls.Box) else a for n, a in made.values.items()}
            constants = {**{n: triton_value(v) for n, v in made.defines.items()}, **made.options}
            getattr(load(made.path), call.kernel).warmup(**values, **constants, grid=made.launch.grid)
        except Exception:  # the table will say it
            pass
        made = values = None
        torch.cuda.empty_cache()


def rows(tkc, folder, calls, first):
    """In a process of its own: rows as lines of JSON, until a call leaves the GPU unusable."""
    import torch
    open_gpu()
    spec = importlib.util.spec_from_file_location("gpu_compare", os.path.join(HERE, "gpu_compare.py"))
    gpu_compare = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(gpu_compare)
    torch.cuda.init()
    for i, call in enumerate(calls[first:], first):
        try:
            row, ratio = rounds(gpu_compare, tkc, call, folder)
        except (Exception, SystemExit) as problem:
            row, ratio = f"| {title(call)} | {type(problem).__name__}: {first_line(problem)} | | | |", None
        print(json.dumps([i, row, ratio]), flush=True)
        try:
            torch.cuda.synchronize()
            torch.cuda.empty_cache()
        except Exception:
            os._exit(3)


def all_rows(command, calls):
    """(call, row, ratio) of each call; a process that fails or says nothing for LONGEST seconds is followed by another, for the calls behind."""
    at, idle = 0, 0
    while at < len(calls) and idle < 3:
        said = tempfile.TemporaryFile("w+")
        process = subprocess.Popen([*command[:2], f"--rows={at}", *command[2:]], stdout=subprocess.PIPE, stderr=said, text=True)
        before = at
        while at < len(calls):
            timer = threading.Timer(LONGEST, process.kill)
            timer.start()
            line = process.stdout.readline()
            timer.cancel()
            if not line:
                break
            if line.startswith("["):
                at, row, ratio = json.loads(line)
                at += 1
                yield calls[at - 1], row, ratio
        process.kill()
        code = process.wait()
        idle = idle + 1 if at == before else 0
        if at < len(calls) and (code != 3 or at == before):
            said.seek(0)
            yield calls[at], f"| {title(calls[at])} | it ended the process, by {code}: {first_line(said.read())} | | | |", None
            at += 1
    for call in calls[at:]:
        yield call, f"| {title(call)} | not tried | | | |", None


def table(tkc, folder, calls, names):
    import torch
    import triton
    begin, command = time.time(), [sys.executable, os.path.abspath(__file__), folder, tkc, *names]
    warmers = [subprocess.Popen([*command[:2], f"--warm={i}", *command[2:]], stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL) for i in range(min(WARMERS, len(calls)))]
    for process in warmers:
        process.wait()
    version = subprocess.run([tkc, "--version"], capture_output=True, text=True).stdout.strip()
    print(f"{torch.cuda.get_device_name()}, Triton {triton.__version__}, {version}; Triton compiled in {time.time() - begin:.0f} s\n")
    print("| library | kernel | sizes | tkc us | Triton us | ratio | off |\n|---|---|---|---|---|---|---|", flush=True)
    ratios, failed = {}, 0
    for call, row, ratio in all_rows(command, calls):
        print(row, flush=True)
        if ratio:
            ratios[call.kernel, title(call), len(ratios)] = call, ratio
        else:
            failed += 1
    values = [ratio for _, ratio in ratios.values()]
    if values:
        kernels = len({cut_name(c) for c, _ in ratios.values()})
        print(f"\n{len(values)} calls of {kernels} kernels: median {statistics.median(values):.3f}, {sum(v >= 1 for v in values)} at least 1, "
              f"{sum(v < 0.85 for v in values)} under 0.85; {failed} without a ratio; {time.time() - begin:.0f} s")
        for call, value in sorted(ratios.values(), key=lambda item: item[1]):
            if value < 0.85:
                print(f"  under 0.85: {value:.3f} {title(call)}")
    return not failed


def chosen(folder, names):
    more = sorted(f for f in os.listdir(folder) if f.startswith("calls_") and f.endswith(".py")) if own_calls(folder) else []
    files = [load(os.path.join(folder, f)) for f in ["calls.py", *more]] if own_calls(folder) else [library_calls]
    return [c for file in files for c in file.CALLS if all(n in title(c) for n in names)]


def main():
    options, words = [a for a in sys.argv[1:] if a.startswith("--")], [a for a in sys.argv[1:] if not a.startswith("--")]
    if options == ["--pack"]:
        return pack(*words)
    if not words:
        sys.exit(__doc__)
    folder, tkc, names = os.path.abspath(words[0]), os.path.abspath(words[1] if len(words) > 1 else os.path.join(HERE, "../../build/release/tkc")), words[2:]
    calls = chosen(folder, names)
    if options and options[0].startswith(("--warm=", "--rows=")):  # a process that the table begins
        what, number = options[0].split("=")
        return warm(folder, calls[int(number) :: WARMERS]) if what == "--warm" else rows(tkc, folder, calls, int(number))
    if options in (["--simt"], ["--cuda"]):
        fine = small(tkc, options[0][2:], folder, calls)
    elif options == ["--compile"]:
        fine = compile_all(tkc, folder, calls)
    elif options:
        sys.exit(__doc__)
    else:
        fine = table(tkc, folder, calls, names)
    sys.exit(not fine)


import library_calls  # noqa: E402  (its folder is put in front above)

if __name__ == "__main__":
    main()
