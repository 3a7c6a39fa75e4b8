#!/usr/bin/env python3
# ptxas takes every instruction that ops.py runs on the cpu device in inline assembly: assembly_ptxas.py TKC
# REQUIRES: ptxas
# RUN: %python %s %build/tkc
"""Where it refuses one, the cpu device runs what no GPU does."""
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs"))

import assembly
from batches import Kernel

ARCH = "sm_90"


def complaint(tkc, cases, folder):
    source, ptx = os.path.join(folder, "batch.tk"), os.path.join(folder, "batch.ptx")
    with open(source, "w") as f:
        f.write(Kernel(cases).text)
    compiled = subprocess.run([tkc, "-arch=" + ARCH, "-emit=ptx", source, "-k", "batch", "-o", ptx], capture_output=True, text=True)
    if compiled.returncode:
        return compiled.stderr
    done = subprocess.run(["ptxas", "-O0", "-arch=" + ARCH, ptx, "-o", os.path.join(folder, "cubin")], capture_output=True, text=True)
    if not done.returncode:
        return None
    lines = open(ptx).read().split("\n")
    numbers = [int(part.split(";")[0]) for part in done.stderr.split(", line ")[1:]]
    return done.stderr.split("\n")[0] + "\n" + "\n".join(sorted({lines[n - 1].strip() for n in numbers}))


def main():
    cases = list(assembly.all_cases())
    with tempfile.TemporaryDirectory() as folder:
        faults = [complaint(sys.argv[1], cases[i:i + 100], folder) for i in range(0, len(cases), 100)]
    for fault in filter(None, faults):
        print(fault)
    sys.exit(any(faults) or not cases)


main()
