"""Runs many small checks as few kernels: a Case is a piece of a kernel's body with the arrays that it reads and what it must
leave; cases with one grid are put into one kernel, one after the other, and one `tkc -run` executes it. A kernel that does
not compile is halved until the case at fault stands alone.

All arrays of one type lie in one argument: x_<type> for what is read, y_<type> for what is written. The gaps between arrays
hold a pattern, so that a stray store is seen. Every result's type and shape are asserted at compile time."""
import os
import subprocess
import tempfile
import zlib
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from formats import DTYPES, bits_of, decode, encode, ulps
from slowness import SLOWNESS

GAP = 16  # elements; also keeps each array aligned
HEADER = """import triton
import triton.language as tl
from triton.language.extra import libdevice
"""


class Want:
    """A result: its type, and numbers in storage, or (by) in float64 to be met within some ulp or absolutely. flushes: on a
    GPU, what fp32 would keep as a subnormal number is 0."""

    def __init__(self, dtype, storage=None, value=None, ulp=0, gpu=None, atol=0.0, any_zero=False, unseen=None, flushes=False):
        self.dtype = dtype
        self.storage = np.asarray(encode(dtype, value) if storage is None else storage, DTYPES[dtype].storage)
        self.value = decode(dtype, self.storage) if value is None else np.asarray(value)
        self.ulp, self.gpu, self.atol, self.any_zero = ulp, ulp if gpu is None else gpu, atol, any_zero
        self.flushes = flushes and dtype != "fp64"
        self.unseen = unseen  # elements that are not looked at
        self.shape = self.storage.shape

    def wrong(self, got, device):
        """Indices of the elements that differ."""
        got = got.reshape(self.shape)
        with np.errstate(all="ignore"):  # errstate is a thread's own
            return self.differences(got, device)

    def differences(self, got, device):
        ulp = self.ulp if device == "cpu" else self.gpu
        same = bits_of(self.dtype, got) == bits_of(self.dtype, self.storage)
        if DTYPES[self.dtype].kind == "f" and not same.all():
            a = decode(self.dtype, got)
            same |= np.isnan(a) & np.isnan(decode(self.dtype, self.storage))
            if self.any_zero or np.any(ulp):
                same |= (a == 0) & (self.storage_value() == 0)
            if np.any(ulp):
                same |= ulps(self.dtype, got, self.storage) <= ulp
            if self.flushes and device != "cpu":
                same |= (a == 0) & (np.abs(self.value) < 2.0 ** -126)
            if np.any(self.atol):
                same |= np.abs(a - self.value) <= self.atol
        if self.unseen is not None:
            same |= self.unseen
        return np.argwhere(~same)

    def storage_value(self):
        return decode(self.dtype, self.storage)


class Case:
    """body: lines that use the names of `blocks` (loaded), `pointers` (to arrays that are read) and `memory` (to arrays that
    are changed: type, before, Want) and assign the names of `results` (Want), which are stored."""

    def __init__(self, name, body, blocks=None, results=None, pointers=None, memory=None, helpers="", grid=1,
                 covers=()):
        self.name, self.body, self.helpers, self.grid, self.covers = name, body, helpers, grid, covers
        self.blocks, self.pointers = blocks or {}, pointers or {}
        self.results, self.memory = results or {}, memory or {}

    def text(self):
        return self.helpers + "\n" + self.body


def rng_of(name):
    return np.random.default_rng(zlib.crc32(name.encode()))


def shape_name(shape):
    return "x".join(map(str, shape)) if shape else "scalar"


def index_name(shape):
    return "i_" + "_".join(map(str, shape))


def index_text(shape):
    terms = []
    for axis, extent in enumerate(shape):
        stride = int(np.prod(shape[axis + 1:], dtype=np.int64))
        index = ", ".join(":" if a == axis else "None" for a in range(len(shape)))
        part = f"tl.arange(0, {extent})" + (f"[{index}]" if len(shape) > 1 else "")
        terms.append(part + (f" * {stride}" if stride != 1 else ""))
    return " + ".join(terms)


class Memory:
    """The arrays of one side of a kernel, one argument a type."""

    def __init__(self, prefix):
        self.prefix, self.parts, self.length = prefix, {}, {}

    def add(self, dtype, storage):
        """Text of a pointer to the array's first element, and its offset."""
        at = self.length.get(dtype, GAP)
        storage = np.asarray(storage, DTYPES[dtype].storage).reshape(-1)
        self.parts.setdefault(dtype, []).append((at, storage))
        self.length[dtype] = at + (len(storage) + 2 * GAP - 1) // GAP * GAP
        return f"{self.prefix}_{dtype} + {at}", at

    def arrays(self):
        for dtype, parts in self.parts.items():
            whole = np.full(self.length[dtype] * DTYPES[dtype].storage.itemsize, 1 if dtype == "i1" else 0xA5, np.uint8)
            whole = whole.view(DTYPES[dtype].storage)
            for at, storage in parts:
                whole[at:at + len(storage)] = storage
            yield dtype, whole


class Kernel:
    """One kernel that holds some cases, and how to judge what it left."""

    def __init__(self, cases):
        self.cases = cases
        self.read, self.written = Memory("x"), Memory("y")
        self.checks = []  # case, what, Want, offset
        self.shapes = {}
        parts = [self.case_text(case) for case in cases]
        parameters = [f'{m.prefix}_{dtype}: "*{dtype}"' for m in (self.read, self.written) for dtype in m.parts]
        lines = ["@triton.jit", f"def batch({', '.join(parameters)}):"]
        lines += [f"    {name} = {text}" for name, text in self.shapes.items()]
        helpers = list(dict.fromkeys(case.helpers.strip() for case in cases if case.helpers))
        self.text = HEADER + "\n".join(helpers) + "\n" + "\n".join(lines) + "\n" + "".join(parts)

    def index(self, shape):
        if not shape:
            return ""
        self.shapes[index_name(shape)] = index_text(shape)
        return " + " + index_name(shape)

    def case_text(self, case):
        lines = [f"# {case.name}"]
        for name, (dtype, storage) in case.blocks.items():
            pointer, _ = self.read.add(dtype, storage)
            lines.append(f"{name} = tl.load({pointer}{self.index(np.shape(storage))})")
        for name, (dtype, storage) in case.pointers.items():
            lines.append(f"{name} = {self.read.add(dtype, storage)[0]}")
        for name, (dtype, before, want) in case.memory.items():
            pointer, at = self.written.add(dtype, before)
            lines.append(f"{name} = {pointer}")
            self.checks.append((case, name, want, at))
        lines += case.body.strip("\n").split("\n")
        for name, want in case.results.items():
            tl = DTYPES[want.dtype].tl
            lines.append(f'tl.static_assert({name}.dtype == tl.{tl}, "{name} is not {tl}")')
            if want.shape:
                shape = "(" + "".join(f"{n}, " for n in want.shape) + ")"
                lines.append(f'tl.static_assert({name}.shape == {shape}, "the shape of {name} is not {shape}")')
            filler = np.full(want.storage.size * DTYPES[want.dtype].storage.itemsize, 1 if want.dtype == "i1" else 0xA5,
                             np.uint8)
            pointer, at = self.written.add(want.dtype, filler.view(DTYPES[want.dtype].storage))
            lines.append(f"tl.store({pointer}{self.index(want.shape)}, {name})")
            self.checks.append((case, name, want, at))
        return "".join(f"    {line}\n" for line in lines)


class Runner:
    def __init__(self, tkc, device, size=48, options=()):
        self.tkc, self.device, self.size, self.options = tkc, device, size, list(options)
        self.passed, self.failed = 0, []

    def execute(self, kernel, folder):
        """Error text or None, then the arrays written."""
        source = os.path.join(folder, "batch.tk")
        with open(source, "w") as f:
            f.write(kernel.text)
        command = [self.tkc, "-verify-each", "-run", "-device", self.device, source, "-k", "batch", "-grid", str(kernel.cases[0].grid),
                   "-timeout", "50", *self.options]
        for memory in (kernel.read, kernel.written):
            for dtype, array in memory.arrays():
                path = os.path.join(folder, f"{memory.prefix}_{dtype}.npy")
                np.save(path, array)
                suffix = ":" + dtype if dtype in ("bf16", "fp8e4nv", "fp8e5") else ""
                command.append(f"{memory.prefix}_{dtype}={path}{suffix}")
        for dtype in kernel.written.parts:
            command += ["-save", f"y_{dtype}={folder}/saved_{dtype}.npy"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=60 * SLOWNESS, errors="replace")
        except subprocess.TimeoutExpired:
            return "did not end", {}
        if done.returncode:
            return (f"exit {done.returncode}\n" if done.returncode != 1 else "") + (done.stderr or done.stdout), {}
        return None, {dtype: np.load(f"{folder}/saved_{dtype}.npy").reshape(-1) for dtype in kernel.written.parts}

    def run(self, cases):
        """What happened to each: (case, None or what is wrong)."""
        kernel = Kernel(cases)
        with tempfile.TemporaryDirectory() as folder:
            error, arrays = self.execute(kernel, folder)
        if error is None:
            return self.judge(kernel, arrays)
        if len(cases) == 1:
            return [(cases[0], error)]
        half = len(cases) // 2
        return self.run(cases[:half]) + self.run(cases[half:])

    def judge(self, kernel, arrays):
        faults = {}
        touched = {dtype: np.zeros(len(a), bool) for dtype, a in arrays.items()}
        for case, name, want, at in kernel.checks:
            size = want.storage.size
            touched[want.dtype][at:at + size] = True
            got = arrays[want.dtype][at:at + size].view(DTYPES[want.dtype].storage)
            wrong = want.wrong(got, self.device)
            if len(wrong):
                faults[id(case)] = faults.get(id(case), "") + explain(case, name, want, got.reshape(want.shape), wrong)
        pattern = dict(kernel.written.arrays())
        for dtype, array in arrays.items():
            stray = np.flatnonzero(~touched[dtype] & (bits_of(dtype,
                    array.view(DTYPES[dtype].storage)) != bits_of(dtype, pattern[dtype])))
            if len(stray):
                faults[id(kernel.cases[0])] = f"a store of this kernel strayed to y_{dtype}[{stray[0]}]\n"
        return [(case, faults.get(id(case))) for case in kernel.cases]

    def run_all(self, cases):
        batches, by_grid = [], {}
        for case in cases:
            by_grid.setdefault(case.grid, []).append(case)
        for group in by_grid.values():
            count = -(-len(group) // self.size)
            batches += [group[i::count] for i in range(count)]  # what is large to compile, sorts, is spread: ptxas took two minutes for 48 of them
        with ThreadPoolExecutor(2 if self.device == "cpu" else os.cpu_count()) as pool:  # a run on cpu takes all cores by itself
            for outcome in pool.map(self.run, batches):
                self.failed += [(case, text) for case, text in outcome if text]
                self.passed += sum(not text for _, text in outcome)


def explain(case, name, want, got, wrong):
    where = tuple(wrong[0])
    lines = [f"{name}[{', '.join(map(str, where))}] ({len(wrong)} of {want.storage.size}): got {show(want.dtype, got[where])}, "
             f"expected {show(want.dtype, want.storage[where])}"]
    for block, (dtype, storage) in case.blocks.items():
        if np.shape(storage) == want.shape:
            lines.append(f"with {block} = {show(dtype, np.asarray(storage)[where])}")
    return "  " + " ".join(lines) + "\n"


def show(dtype, element):
    value = decode(dtype, np.asarray(element))[()]
    if DTYPES[dtype].kind == "f":
        return f"{float(value)!r} (0x{int(bits_of(dtype, np.asarray(element))):x})"
    return str(value)
