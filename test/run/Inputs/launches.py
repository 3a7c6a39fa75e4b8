"""Cases that are one `tkc -run` each: a kernel of a file, arrays from numpy, and what must be in some of them afterwards."""
import os
import subprocess
import sys
import tempfile
from collections import namedtuple

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
EXAMPLES = os.path.join(ROOT, "examples")
INPUTS = os.path.join(ROOT, "test", "run", "Inputs")

# expected: name of an array -> numbers, or (numbers, rtol, atol) where the case's own bounds do not fit
Case = namedtuple("Case", "name file kernel grid defines arrays numbers expected rtol atol options")
# An array of a type that numpy lacks: its bits as unsigned integers.
Bits = namedtuple("Bits", "storage dtype")


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
    command = [tkc, "-run", "-device", device, case.file, "-k", case.kernel, "-grid", str(case.grid), *case.options]
    command += [f"-D{n}={v}" for n, v in case.defines.items()]
    for n, a in case.arrays.items():
        command.append(f"{n}={save(folder, n, a)}" + (":" + a.dtype if isinstance(a, Bits) else ""))
    command += [f"{n}={v}" for n, v in case.numbers.items()]
    for n, expected in case.expected.items():
        values, rtol, atol = expected if isinstance(expected, tuple) else (expected, case.rtol, case.atol)
        command += ["-check", f"{n}={save(folder, 'expected_' + n, values)},rtol={rtol},atol={atol}"]
    done = subprocess.run(command, capture_output=True, text=True)
    return f"FAILED {case.name}\n  {' '.join(command)}\n{done.stdout}{done.stderr}" if done.returncode else None


def main(cases):
    """TKC DEVICE [NAME...]: a NAME picks the cases that hold it."""
    tkc, device, names = sys.argv[1], sys.argv[2], sys.argv[3:]
    chosen = [case for case in cases if all(n in case.name for n in names)]
    passed = 0
    with tempfile.TemporaryDirectory() as folder:
        for case in chosen:
            problem = run(tkc, device, folder, case)
            passed += problem is None
            if problem:
                print(problem)
    print(f"{passed} passed, {len(chosen) - passed} failed")
    sys.exit(passed != len(chosen) or not chosen)
