# Each folder keeps to its budget of lines: what grows past it pays with lines that leave, or raises it here for a reason told in its commit.
# RUN: %python %s %src | FileCheck %s
# CHECK: {{^[1-9][0-9]*}} lines, 0 folders above their budget
import os
import sys

ROOT = sys.argv[1]
SOURCES = (".c", ".h", ".def", ".l", ".y", ".tk")
BUDGET = {
    "grammar": 822,
    "include": 1719,
    "lib/analysis": 2052,
    "lib/base": 1807,
    "lib/ir": 7048,
    "lib/layout": 3910,
    "lib/linear": 2234,
    "lib/lower": 8713,
    "lib/memory": 5201,
    "lib/spec": 16041,
    "lib/std": 2406,
    "lib/syntax": 3495,
    "lib/target": 1839,
    "lib/transform": 2512,
    "lib": 3564,
    "runtime/debug": 702,
    "runtime/device": 2000,
    "runtime/interp": 5515,
    "runtime/jit": 3532,
    "runtime/ptx": 2341,
    "runtime/simt": 10682,
    "src": 6042,
}


def lines_of(folder):
    """Of the sources in a folder, without those in folders that have a budget of their own."""
    count = 0
    for here, below, names in os.walk(os.path.join(ROOT, folder)):
        below[:] = [b for b in below if os.path.relpath(os.path.join(here, b), ROOT) not in BUDGET]
        for name in names:
            if name.endswith(SOURCES):
                with open(os.path.join(here, name), errors="replace") as text:
                    count += sum(1 for _ in text)
    return count


total = above = 0
for folder, budget in BUDGET.items():
    count = lines_of(folder)
    total += count
    if count > budget:
        above += 1
        print("%s: %d lines, its budget is %d" % (folder, count, budget))
missing = [f for top in ("lib", "runtime") for f in sorted(os.listdir(os.path.join(ROOT, top)))
           if os.path.isdir(os.path.join(ROOT, top, f)) and "%s/%s" % (top, f) not in BUDGET]
assert not missing, "folders without a budget: %s" % missing
print("%d lines, %d folders above their budget" % (total, above))
