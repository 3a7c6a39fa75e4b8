#!/usr/bin/env python3
# The emulator's instructions give what a GPU gave: instructions.py --library libcuda.so.1 [--write]
# REQUIRES: measured-instructions
# UNSUPPORTED: asan
# RUN: %python %s --library %build/simt/libcuda.so.1 | FileCheck %s
# CHECK: {{^[1-9][0-9]* forms agree with sm_[0-9]+, 0 differ}}
"""Runs every form of every instruction of runtime/ptx/insn.def through a driver, over 256 operands (Inputs/instruction_forms.py).
With --write, on a machine with a GPU, what it gives is kept in Inputs/instructions.json.gz; without, it is held against that.

Kept of a form are a hash of two bytes for each 32 threads; of an approximation its results, which may differ by what the PTX ISA
allows, once for the GPU and once for rounding. A form that the GPU's driver refuses is kept as refused, and not compared."""
import argparse
import ctypes
import gzip
import hashlib
import json
import os
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "Inputs"))

from driver import Driver, DriverError
from instruction_forms import HEADER, RESULTS, THREADS, forms, inputs, kernel

DATA = os.path.join(HERE, "Inputs", "instructions.json.gz")
TABLE = os.path.join(HERE, "..", "..", "runtime", "ptx")
GROUP = 32
PIECE = 100  # forms in a module: one that is refused costs compiling its neighbours again

# What the ISA allows: relative error, absolute error, greatest operand that it speaks of.
BOUNDS = {"fdiv": (2**-22, 0, None), "frcp": (2**-23, 0, None), "fsqrt": (2**-23, 0, None), "frsqrt": (2**-22.9, 0, None),
          "fsin": (0, 2**-20.5, 2 * np.pi), "fcos": (0, 2**-20.5, 2 * np.pi), "flg2": (2**-22, 2**-22, None),
          "fex2": (2**-22, 0, None), "ftanh": (2**-11, 0, None)}
HALF_BOUNDS = {"f16": (2**-9.9, 2**-10.9), "bf16": (2**-7, 2**-8)}


# ---- running ----

def run_forms(driver, some, source, refused):
    """What each form gives: [form][result][thread]. Those that the driver refuses are found by halves."""
    out = driver.array(np.zeros((len(some), RESULTS, THREADS), np.uint64))
    try:
        module = driver.load(HEADER + "".join(kernel("k%d" % i, form) for i, form in enumerate(some)))
    except DriverError as error:
        out.free()
        if len(some) == 1:
            refused[some[0].text] = str(error)
            return {}
        middle = len(some) // 2
        return {**run_forms(driver, some[:middle], source, refused), **run_forms(driver, some[middle:], source, refused)}
    for i in range(len(some)):
        at = ctypes.c_uint64(out.pointer.value + i * RESULTS * THREADS * 8)
        module.launch("k%d" % i, (1, 1, 1), THREADS, [source.pointer, at])
    results = out.read()
    module.unload()
    out.free()
    return {form.text: results[i, :len(form.dests)] for i, form in enumerate(some)}


def hashes(results):
    groups = results.reshape(len(results), -1, GROUP)
    return "".join(hashlib.sha256(np.ascontiguousarray(groups[:, g]).tobytes()).hexdigest()[:4] for g in range(groups.shape[1]))


def kept(form, results):
    return ["%x" % x for x in results[0]] if form.is_approximate else hashes(results)


# ---- comparing ----

def numbers(first, bits):
    """Bits to fp64: (threads, lanes)."""
    bits = bits.astype(np.uint64)
    if first == "f64":
        return bits.view(np.float64)[:, None]
    if first == "f32":
        return bits.astype(np.uint32).view(np.float32).astype(np.float64)[:, None]
    lanes = bits.astype(np.uint32).view(np.uint16).reshape(-1, 2)
    lanes = lanes if first.endswith("x2") else lanes[:, :1]
    if first.startswith("bf16"):
        return (lanes.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return lanes.view(np.float16).astype(np.float64)


def is_close(form, got, wanted, operand):
    """Threads whose results differ by no more than is allowed."""
    with np.errstate(all="ignore"):
        got, wanted, operand = (numbers(form.first, x) for x in (got, wanted, operand))
    relative, absolute, most = BOUNDS[form.evaluator]
    for name, bounds in HALF_BOUNDS.items():
        if form.first.startswith(name):
            relative, absolute = bounds
    step = {"f64": 2**-52, "f32": 2**-23}.get(form.first, 2**-10 if form.first.startswith("f16") else 2**-7)
    with np.errstate(all="ignore"):
        near = np.abs(got - wanted) <= absolute + (relative + step) * np.abs(wanted) + 2**-148
        same = (got == wanted) | (np.isnan(got) & np.isnan(wanted))
        outside = np.abs(operand) > most if most else np.zeros_like(same)
    return (near | same | outside).all(axis=1)


def differing(form, results, measured, given):
    """A text about the first threads that differ, or None."""
    if not form.is_approximate:
        mine = hashes(results)
        groups = [i // 4 for i in range(0, len(mine), 4) if mine[i:i + 4] != measured[i:i + 4]]
        return "threads %s" % ", ".join("%d…%d" % (g * GROUP, g * GROUP + GROUP - 1) for g in groups) if groups else None
    wanted = np.array([int(x, 16) for x in measured], np.uint64)
    width = {16: 0, 32: 1, 64: 2}[form.sources[0]]
    bad = np.flatnonzero(~is_close(form, results[0], wanted, given[0, width]))
    return "thread %d: got 0x%x, a GPU gave 0x%x" % (bad[0], results[0, bad[0]], wanted[bad[0]]) if len(bad) else None


def compare(rows, results, refused, data, given):
    agree, bad, unknown = 0, [], 0
    for form in rows:
        measured = data["forms"].get(form.text)
        if measured is None:
            unknown += form.text not in data["refused"]
        elif form.text in refused:
            bad.append("%s: refused: %s" % (form.text, refused[form.text]))
        else:
            problem = differing(form, results[form.text], measured, given)
            agree += problem is None
            bad += ["%s: %s" % (form.text, problem)] if problem else []
    for line in bad:
        print(line)
    print("%d forms agree with %s, %d differ%s" % (agree, data["gpu"], len(bad), ", %d are not measured" % unknown if unknown else ""))


# ---- the command ----

def capability(driver):
    number = []
    for attribute in (75, 76):  # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, _MINOR
        value = ctypes.c_int()
        driver.call("cuDeviceGetAttribute", ctypes.byref(value), attribute, driver.device)
        number.append(value.value)
    return "sm_%d%d" % tuple(number)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--library", required=True)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--data", default=DATA)
    options = parser.parse_args()
    driver, given = Driver(options.library), inputs()
    source, rows, results, refused = driver.array(given), [], {}, {}
    for _, some in forms(TABLE):
        for at in range(0, len(some), PIECE):
            results.update(run_forms(driver, some[at:at + PIECE], source, refused))
        rows += some
    if options.write:
        data = {"gpu": capability(driver), "refused": sorted(refused),
                "forms": {form.text: kept(form, results[form.text]) for form in rows if form.text in results}}
        with gzip.GzipFile(options.data, "wb", mtime=0) as file:
            file.write(json.dumps(data, sort_keys=True, indent=0).encode())
        print("%d forms, %d refused by %s, %d bytes" % (len(results), len(refused), data["gpu"], os.path.getsize(options.data)))
        for text, why in sorted(refused.items()):
            print("refused: %s: %s" % (text, why.splitlines()[0]))
        return
    with gzip.open(options.data) as file:
        compare(rows, results, refused, json.load(file), given)


main()
