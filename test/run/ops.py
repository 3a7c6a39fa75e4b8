#!/usr/bin/env python3
# Every operation of the language, executed over its types and over shapes, against numpy: ops.py TKC DEVICE [long] [-OPTION...] [NAME...]
# RUN: %python %s %build/tkc cpu | FileCheck %s
# RUN: %if long %{ %python %s %build/tkc cpu long | FileCheck %s %}
# RUN: %python %s %build/tkc simt spread=24 | FileCheck %s
# RUN: %if long && !asan %{ %python %s %build/tkc simt | FileCheck %s %}
# RUN: %if long && asan %{ %python %s %build/tkc simt spread=6 | FileCheck %s %}
# RUN: %if cuda %{ %python %s %build/tkc cuda | FileCheck %s %}
# CHECK: {{^[0-9]+ passed, 0 failed, 0 refused, [0-9]+ known$}}
"""The tables are in Inputs/, one module a family; a NAME picks the cases whose name holds it. `long` takes every shape with
every type; `spread=N` every N-th case."""
import os
import re
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
from rows import KNOWN_BUGS

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
    known, failed = split_known(runner.failed)
    for case, text in failed:
        print(f"FAILED {case.name}\n{text}")
    for case, text in runner.refused:
        print(f"refused {case.name}: {text.strip().splitlines()[0] if text.strip() else ''}")
    whole = not names and not options and spread == 1
    gone = [] if not whole else [bug for bug in KNOWN_BUGS["ops"]
                             if not any(re.search(bug, case.name) for case, _ in known)]
    for bug in gone:
        print(f"FAILED the known bug '{bug}' is no more: take it out of Inputs/rows.py")
    print(f"{runner.passed} passed, {len(failed) + len(gone)} failed, {len(runner.refused)} refused, {len(known)} known")
    sys.exit(bool(failed or gone) or not chosen)


def split_known(failed):
    is_known = lambda case: any(re.search(bug, case.name) for bug in KNOWN_BUGS["ops"])
    return [f for f in failed if is_known(f[0])], [f for f in failed if not is_known(f[0])]


if __name__ == "__main__":
    main()
