#!/usr/bin/env python3
# The commands that the examples' head comments show do what they say: example_commands.py TKC
# RUN: %python %s %build/tkc | FileCheck %s
# CHECK: {{^[1-9][0-9]* commands, 0 failed$}}
"""A command is a comment line that begins with three blanks and tkc, with the lines that a backslash joins to it. It runs in a folder of its
own that holds the examples; `-run` is given `-device cpu`."""
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples")


def commands(path):
    with open(path, encoding="utf-8") as f:
        text = f.read()
    for match in re.finditer(r"^#   tkc ((?:.*\\\n)*.*)$", text, re.MULTILINE):
        yield shlex.split(re.sub(r"\\\n#", " ", match.group(1)))


def main():
    tkc = os.path.abspath(sys.argv[1])
    count = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        names = sorted(n for n in os.listdir(EXAMPLES) if n.endswith(".tk"))
        for name in names:
            shutil.copy(os.path.join(EXAMPLES, name), folder)
        for name in names:
            shown = list(commands(os.path.join(EXAMPLES, name)))
            if not shown:
                print(f"FAILED {name} shows no command")
                failed += 1
            for arguments in shown:
                command = [tkc, "-verify-each", *arguments] + ["-device", "cpu"] * ("-run" in arguments)
                done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
                count += 1
                if done.returncode or not (done.stdout or "-o" in arguments):
                    print(f"FAILED {' '.join(command)}\n{done.stderr}")
                    failed += 1
    print(f"{count} commands, {failed} failed")
    sys.exit(failed != 0)


main()
