#!/usr/bin/env python3
# Every operation of the language, executed over its types and over shapes, against numpy: ops.py TKC DEVICE [long] [NAME...]
# RUN: %python %s %build/tkc cpu | FileCheck %s
# RUN: %if long %{ %python %s %build/tkc cpu long | FileCheck %s %}
# CHECK: {{^[0-9]+ passed, 0 failed, 0 refused$}}
"""The tables are in Inputs/, one module a family; a NAME picks the cases whose name holds it. `long` takes every shape with
every type. Run it by hand with DEVICE cuda where there is a GPU: what has no code there yet is counted as refused."""
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs"))

import across
import chance
import conversions
import elementwise
import memory
import shapes
from kernels import Runner

FAMILIES = (elementwise, conversions, shapes, memory, across, chance)


def all_cases(long=False):
    for family in FAMILIES:
        yield from family.all_cases(long)


def main():
    tkc, device, names = sys.argv[1], sys.argv[2], sys.argv[3:]
    long = "long" in names
    names = [n for n in names if n != "long"]
    chosen = [case for case in all_cases(long) if all(n in case.name for n in names)]
    runner = Runner(tkc, device, 48 if device == "cpu" else 12)
    runner.run_all(chosen)
    for case, text in runner.failed:
        print(f"FAILED {case.name}\n{text}")
    for case, text in runner.refused:
        print(f"refused {case.name}: {text.strip().splitlines()[0] if text.strip() else ''}")
    print(f"{runner.passed} passed, {len(runner.failed)} failed, {len(runner.refused)} refused")
    sys.exit(bool(runner.failed) or not chosen)


if __name__ == "__main__":
    main()
