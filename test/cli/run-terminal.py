# What a kernel prints does not steer a person's terminal; a file gets the bytes.
# RUN: %python %s tkc %t.tk | FileCheck %s
import os
import pty
import subprocess
import sys

tkc, path = sys.argv[1:]
with open(path, "w") as out:
    out.write('import triton.language as tl\n@jit\ndef k(x: "*i32"):\n')
    out.write('    tl.device_print("a\\x1b[31m\\tb\\x07\\x7f\u00e9\\u009b\u20ac\\u00a0", tl.load(x))\n')
command = [tkc, "-run", "-device", "cpu", path, "-grid", "1", "x=ones:i32[1]"]
ours, theirs = pty.openpty()
subprocess.run(command, stdout=theirs, stderr=subprocess.DEVNULL, check=True)
os.close(theirs)
print("terminal:", ascii(os.read(ours, 10000).decode()))
# CHECK: terminal: 'pid (0, 0, 0) idx () a\\x1b[31m\tb\\x07\\x7f\xe9\\xc2\\x9b\u20ac\xa0: 1\r\n'
print("file:", ascii(subprocess.run(command, capture_output=True, check=True).stdout.decode()))
# CHECK: file: 'pid (0, 0, 0) idx () a\x1b[31m\tb\x07\x7f\xe9\x9b\u20ac\xa0: 1\n'
