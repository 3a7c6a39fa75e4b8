#!/usr/bin/env python3
# The IR of every operation prints, parses back and prints the same: round-trip.py TKC
# RUN: %python %s %build/tkc | FileCheck %s
# CHECK: {{^[1-9][0-9]* functions, 0 differ$}}
"""The kernels are those of test/run/ops.py, as specialization makes them and, where a GPU has code for all of it, laid out."""
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "run"))

import ops
from batches import Kernel

BATCH = 96


def emit(tkc, folder, name, kind, *options):
    """The text of a file in the folder at a stage, or None when it is refused."""
    command = [tkc, f"-emit={kind}", "-arch=sm_90a", *options, os.path.join(folder, name)]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else None


def differs(tkc, folder, name, kind):
    """Whether the text, read again without passes, prints otherwise; None when the stage refuses the kernel."""
    text = emit(tkc, folder, name + ".tk", kind)
    if text is None:
        return None
    with open(os.path.join(folder, f"{name}-{kind}.ir"), "w") as f:
        f.write(text)
    return emit(tkc, folder, f"{name}-{kind}.ir", "ir", "-passes=") != text


def check(job):
    tkc, folder, number, cases = job
    name = f"batch{number}"
    with open(os.path.join(folder, name + ".tk"), "w") as f:
        f.write(Kernel(cases).text)
    answers = [differs(tkc, folder, name, kind) for kind in ("ir", "layout")]
    if answers[0] is None:
        print(f"batch of {cases[0].name}: no IR")
    for kind, answer in zip(("ir", "layout"), answers):
        if answer:
            print(f"batch of {cases[0].name}: its {kind} reads back as something else")
    return len([a for a in answers if a is not None]), sum(a is True for a in answers) + (answers[0] is None)


def main():
    groups = {}
    for case in ops.all_cases():
        groups.setdefault(case.grid, []).append(case)
    batches = [group[i:i + BATCH] for group in groups.values() for i in range(0, len(group), BATCH)]
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        results = list(pool.map(check, [(sys.argv[1], folder, i, cases) for i, cases in enumerate(batches)]))
    print(f"{sum(n for n, _ in results)} functions, {sum(bad for _, bad in results)} differ")


main()
