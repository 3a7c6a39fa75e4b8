#!/usr/bin/env python3
# Every operation of the language, executed over its types and over shapes, against numpy: ops.py TKC DEVICE [long] [-OPTION...] [NAME...]
# RUN: %python %s %build/tkc cpu | FileCheck %s
# RUN: %if long %{ %python %s %build/tkc cpu long | FileCheck %s %}
# RUN: %python %s %build/tkc simt spread=24 | FileCheck %s
# RUN: %if long && !asan %{ %python %s %build/tkc simt | FileCheck %s %}
# RUN: %if long && asan %{ %python %s %build/tkc simt spread=6 | FileCheck %s %}
# RUN: %if cuda %{ %python %s %build/tkc cuda | FileCheck %s %}
# CHECK: {{^[1-9][0-9]* passed, 0 failed$}}
"""The tables are in Inputs/, one module a family; a NAME picks the cases whose name holds it. `long` takes every shape with
every type; `spread=N` every N-th case."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs"))

import across
import assembly
import chance
import conversions
import elementwise
import libdevice
import memory
import shapes
from batches import Runner

FAMILIES = (assembly, elementwise, libdevice, conversions, shapes, memory, across, chance)


def all_cases(long=False):
    for family in FAMILIES:
        yield from family.all_cases(long)


def main():
    tkc, device, names = sys.argv[1], sys.argv[2], sys.argv[3:]
    options = [n for n in names if n.startswith("-")]
    long = "long" in names
    spread = next((int(n.partition("=")[2]) for n in names if n.startswith("spread=")), 1)
    names = [n for n in names if n != "long" and not n.startswith(("spread=", "-"))]
    chosen = [case for case in all_cases(long) if all(n in case.name for n in names)][::spread]
    runner = Runner(tkc, device, options=options)
    runner.run_all(chosen)
    for case, text in runner.failed:
        print(f"FAILED {case.name}\n{text}")
    print(f"{runner.passed} passed, {len(runner.failed)} failed")
    sys.exit(bool(runner.failed) or not chosen)


if __name__ == "__main__":
    main()
