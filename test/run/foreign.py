#!/usr/bin/env python3
# What Triton makes of kernels of ours runs on the emulator and agrees with numpy: foreign.py LIBCUDA CACHE [NAME...]
# REQUIRES: long
# UNSUPPORTED: asan
# RUN: %python %s %build/simt/libcuda.so.1 %build/foreign | FileCheck %s
# CHECK: {{^([1-9][0-9]* passed, 0 failed|skipped: .*)$}}
"""Judges the emulator by code that tkc did not make: PTX for sm_80 and sm_90a of the kernels in Inputs/foreign_*.py. Triton comes from
PyPI into the folder CACHE and needs no GPU to compile; where it cannot be installed, the reason is told. With the driver of a real GPU
for LIBCUDA the same kernels run there, those for its architecture and older ones. A NAME picks the cases that hold it."""
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TRITON = "triton==3.6.0"


def has_triton(python):
    probe = "import numpy, triton; assert triton.__version__ >= '%s'" % TRITON.partition("==")[2]
    return os.path.exists(python) and subprocess.run([python, "-c", probe], capture_output=True).returncode == 0


def python_with_triton(folder):
    """This Python, or that of a virtual environment, which is made the first time. Else None and why."""
    python, why = os.path.join(folder, "venv", "bin", "python"), "no Python with venv"
    for there in (sys.executable, python):
        if has_triton(there):
            return there, None
    for base in (sys.executable, "python3"):
        made = subprocess.run([base, "-m", "venv", "--clear", os.path.join(folder, "venv")], capture_output=True, text=True)
        if made.returncode == 0:
            got = subprocess.run([python, "-m", "pip", "install", "-q", TRITON, "numpy"], capture_output=True, text=True, timeout=600)
            if got.returncode == 0:
                return python, None
            why = (got.stderr.strip().splitlines() or ["pip failed"])[-1]
    return None, why


def main():
    library, cache, *names = sys.argv[1:]
    os.makedirs(cache, exist_ok=True)
    python, why = python_with_triton(os.path.abspath(cache))
    if not python:
        print("skipped: %s cannot be installed: %s" % (TRITON, why))
        return 0
    environment = dict(os.environ, TRITON_CACHE_DIR=os.path.join(os.path.abspath(cache), "triton"))
    return subprocess.run([python, os.path.join(HERE, "Inputs", "foreign_run.py"), library, *names], env=environment).returncode


sys.exit(main())
