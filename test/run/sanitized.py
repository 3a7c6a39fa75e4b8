#!/usr/bin/env python3
# Kernels on a GPU under a tool of compute-sanitizer, which has to find nothing: sanitized.py TKC TOOL [SUITE...]
# REQUIRES: cuda, long
# RUN: %python %s %build/tkc memcheck | FileCheck %s
# RUN: %python %s %build/tkc racecheck | FileCheck %s
# RUN: %python %s %build/tkc initcheck | FileCheck %s
# RUN: %python %s %build/tkc synccheck | FileCheck %s
# CHECK: {{^[1-9][0-9]* runs under [a-z]+, 0 with findings, 0 suites failed$}}
"""Each suite is run as on any GPU, but with a command that puts the tool before whatever runs a kernel. Small sizes, and
patience: a tool makes a kernel slower by a factor of ten and takes seconds to begin."""
import glob
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SUITES = ("ops", "models", "language", "kernels", "example_products", "example_attention")
OPTIONS = {"memcheck": "--report-api-errors no"}  # that the driver refuses a module, say, is what some kernels are for
WRAPPER = """#!/bin/bash
case " $* " in
*" -device cuda "*) exec compute-sanitizer --tool {tool} {options} --log-file {logs}/%p {tkc} "$@" ;;
*) exec {tkc} "$@" ;;
esac
"""


def write_wrapper(path, **what):
    with open(path, "w") as f:
        f.write(WRAPPER.format(**what))
    os.chmod(path, 0o755)


def findings(logs):
    """Of each log in which more is found than assertions that fail, as some are there to, its text."""
    for path in sorted(glob.glob(logs + "/*")):
        with open(path, errors="replace") as f:
            text = f.read()
        count = re.search(r"^========= (?:ERROR SUMMARY: (\d+) errors?|RACECHECK SUMMARY: (\d+) hazards?)", text, re.M)
        if not count or int(count[1] or count[2]) != text.count("\n========= Warp assert\n"):
            yield text


def main():
    tkc, tool, suites = os.path.abspath(sys.argv[1]), sys.argv[2], sys.argv[3:] or SUITES
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        logs, wrapper = os.path.join(folder, "logs"), os.path.join(folder, "tkc")
        os.mkdir(logs)
        write_wrapper(wrapper, tool=tool, options=OPTIONS.get(tool, ""), logs=logs, tkc=tkc)
        for suite in suites:
            done = subprocess.run([sys.executable, os.path.join(HERE, suite + ".py"), wrapper, "cuda"], stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, env={**os.environ, "TKC_TEST_SLOWNESS": "10"})
            failed += done.returncode != 0
            print(done.stdout if done.returncode else f"{suite}: {done.stdout.strip().splitlines()[0]}", flush=True)
        found = list(findings(logs))
        for text in found[:10]:
            print(text[:2000])
        print(f"{len(os.listdir(logs))} runs under {tool}, {len(found)} with findings, {failed} suites failed")
    sys.exit(bool(found or failed))


if __name__ == "__main__":
    main()
