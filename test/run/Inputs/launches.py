"""Cases that are one `tkc -run` each: a kernel of a file, arrays from numpy, and what must be in some of them afterwards.

Bounds are of rounding: half a unit of the output's type, and one unit of fp32 for each term of a sum."""
import os
import subprocess
import sys
import tempfile
from collections import namedtuple
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from formats import decode, encode

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
EXAMPLES = os.path.join(ROOT, "examples")
INPUTS = os.path.join(ROOT, "test", "run", "Inputs")

# expected: name of an array -> numbers, or (numbers, rtol, atol) where the case's own bounds do not fit
Case = namedtuple("Case", "name file kernel grid defines arrays numbers expected rtol atol options")
# An array of a type that numpy lacks: its bits as unsigned integers.
Bits = namedtuple("Bits", "storage dtype")

rng = np.random.default_rng(11)
HALF_UNIT = {"fp16": 2.0**-11, "bf16": 2.0**-8, "fp32": 2.0**-24, "fp64": 2.0**-53}
FACTOR_UNIT = {"tf32": 2.0**-11}  # of what tf32 keeps of a factor
STORAGE = {"fp16": np.float16, "fp32": np.float32, "fp64": np.float64}


def normal(dtype, *shape, scale=1.0):
    """The array, and its numbers in double precision."""
    x = rng.standard_normal(shape) * scale
    if dtype == "bf16":
        bits = encode("bf16", x)
        return Bits(bits, "bf16"), decode("bf16", bits)
    x = x.astype(STORAGE[dtype])
    return x, x.astype(np.float64)


def unwritten(dtype, *shape):
    if dtype == "bf16":
        return Bits(np.full(shape, 0x7FC0, np.uint16), "bf16")
    return np.full(shape, np.nan, STORAGE[dtype])


def bound(dtype, *factors, terms=1, precision="ieee"):
    """rtol and atol of a sum of `terms` products that is then rounded to dtype: the largest sum of magnitudes that can occur."""
    a, b = (np.abs(f) for f in factors)
    magnitude = (a @ b).max()
    return 1.01 * HALF_UNIT[dtype], magnitude * (terms * 2.0**-24 + 2.1 * FACTOR_UNIT.get(precision, 0.0))


class Cases:
    def __init__(self, folder=EXAMPLES):
        self.folder = folder
        self.cases = []

    def add(self, name, file, kernel, grid, defines, arrays, numbers, expected, rtol=2e-6, atol=1e-9, options=()):
        path = os.path.join(self.folder, file + ".tk")
        self.cases.append(Case(name, path, kernel, grid, defines, arrays, numbers, expected, rtol, atol, options))


def save(folder, name, array):
    path = os.path.join(folder, name + ".npy")
    np.save(path, array.storage if isinstance(array, Bits) else array)
    return path


def run(tkc, device, folder, case):
    """None, or what went wrong."""
    command = [tkc, "-verify-each", "-run", "-device", device, case.file, "-k", case.kernel, "-grid", str(case.grid), *case.options]
    command += [f"-D{n}={v}" for n, v in case.defines.items()]
    for n, a in case.arrays.items():
        command.append(f"{n}={save(folder, n, a)}" + (":" + a.dtype if isinstance(a, Bits) else ""))
    command += [f"{n}={v}" for n, v in case.numbers.items()]
    for n, expected in case.expected.items():
        values, rtol, atol = expected if isinstance(expected, tuple) else (expected, case.rtol, case.atol)
        command += ["-check", f"{n}={save(folder, 'expected_' + n, values)},rtol={rtol},atol={atol}"]
    done = subprocess.run(command, capture_output=True, text=True)
    return f"FAILED {case.name}\n  {' '.join(command)}\n{done.stdout}{done.stderr}" if done.returncode else None


def run_alone(tkc, device, case):
    with tempfile.TemporaryDirectory() as folder:
        return run(tkc, device, folder, case)


def main(cases):
    """TKC DEVICE [NAME...]: a NAME picks the cases that hold it."""
    tkc, device, names = sys.argv[1], sys.argv[2], sys.argv[3:]
    chosen = [case for case in cases if all(n in case.name for n in names)]
    with ThreadPoolExecutor(os.cpu_count() if device == "cuda" else 1) as pool:  # elsewhere a run takes all cores by itself
        problems = [problem for problem in pool.map(lambda case: run_alone(tkc, device, case), chosen) if problem]
    for problem in problems:
        print(problem)
    print(f"{len(chosen) - len(problems)} passed, {len(problems)} failed")
    sys.exit(bool(problems) or not chosen)
