"""Runs LLVM's lit, which Debian installs as a package without a script, and sums up what it did.

run_lit.py LIT-PACKAGE-DIR SUMMARY-FILE ARGUMENTS
The summary, also the last line printed, is: N passed, N failed, N skipped
"""
import json
import os
import sys
import tempfile

sys.dont_write_bytecode = True
package, summary_path = sys.argv[1:3]
del sys.argv[1:3]
sys.path.insert(0, package)

from lit.main import main

PASSED = {"PASS", "XFAIL", "FLAKYPASS"}
SKIPPED = {"UNSUPPORTED", "SKIPPED", "EXCLUDED"}


def sum_up(results_path):
    with open(results_path) as results:
        codes = [test["code"] for test in json.load(results)["tests"]]
    passed = sum(code in PASSED for code in codes)
    skipped = sum(code in SKIPPED for code in codes)
    return "%d passed, %d failed, %d skipped" % (passed, len(codes) - passed - skipped, skipped)


def run():
    with tempfile.TemporaryDirectory() as folder:
        results_path = os.path.join(folder, "results.json")
        sys.argv += ["--output", results_path]
        try:
            main()
            status = 0
        except SystemExit as stop:
            status = stop.code
        if os.path.exists(results_path):
            line = sum_up(results_path)
            print(line)
            with open(summary_path, "w") as summary:
                summary.write(line + "\n")
        sys.exit(status)


if __name__ == "__main__":
    run()
