#!/usr/bin/env python3
"""From the start of a process to its first result, softmax on a GPU: first_result.py BENCH-FOLDER SOFTMAX.tk [PROCESSES [PYTHON]]

BENCH-FOLDER has first_result (libtkc, whose kernels on disk are none yet, `cold`, or there, `warm`) and first_bare (the driver alone, which is given
a cubin). Each kind is started PROCESSES times (11), in turn; the time is that until the result is there, the median of all. The
driver's own cache of what it compiles is cold and warm with ours. PYTHON has torch and triton: Triton beside it, cold and warm."""
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

TRITON = os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs", "first_triton.py")
folder, source = sys.argv[1:3]
processes = int(sys.argv[3]) if len(sys.argv) > 3 else 11
python = sys.argv[4] if len(sys.argv) > 4 else None


def first(command, **environment):
    """Milliseconds until it says "ok", and the line that it says then."""
    begin = time.perf_counter()
    with subprocess.Popen(command, env=dict(os.environ, **environment), stdout=subprocess.PIPE, text=True) as p:
        said = p.stdout.readline()
        took = (time.perf_counter() - begin) * 1e3
        rest = p.stdout.read().strip()
    if said != "ok\n" or p.returncode:
        sys.exit("%s: %s %s" % (command, said, p.returncode))
    return took, rest


with tempfile.TemporaryDirectory() as own:
    cache, cubin = own + "/cache", own + "/k.cubin"
    os.environ["CUDA_CACHE_PATH"] = own + "/driver"
    ours = [os.path.join(folder, "first_result"), source]
    words = subprocess.run(ours + [cubin], check=True, capture_output=True, text=True).stdout.split()
    bare = [os.path.join(folder, "first_bare"), cubin, words[0], words[2]]

    def cold(command, name):
        for folder in (cache, own + "/driver"):
            shutil.rmtree(folder, ignore_errors=True)
        return first(command, **{name: cache})

    kinds = {"driver alone, cubin": lambda: first(bare), "tkc, cold": lambda: cold(ours, "TKC_CACHE_DIR"),
             "tkc, warm": lambda: first(ours, TKC_CACHE_DIR=cache)}
    if python:
        kinds["triton, cold"] = lambda: cold([python, TRITON], "TRITON_CACHE_DIR")
        kinds["triton, warm"] = lambda: first([python, TRITON], TRITON_CACHE_DIR=cache)
    runs = {kind: [] for kind in kinds}
    for f in kinds.values():
        f()
    for _ in range(processes):
        for kind, f in kinds.items():
            runs[kind].append(f())
    base = statistics.median(took for took, _ in runs["driver alone, cubin"])
    for kind, all_of in runs.items():
        took, rest = sorted(all_of)[len(all_of) // 2]
        print("%-20s %8.1f ms %6.2f  (%s)" % (kind, took, took / base, rest))
