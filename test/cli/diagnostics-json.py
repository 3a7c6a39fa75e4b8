# -fdiagnostics=json: one object a line, whatever bytes the input has; places, notes, fix-its and settings as data.
# RUN: %python %s tkc %t.dir | FileCheck %s
import json
import os
import subprocess
import sys

tkc, folder = sys.argv[1:]
os.makedirs(folder, exist_ok=True)


def run(text, *words):
    path = os.path.join(folder, "a.tk")
    with open(path, "wb") as file:
        file.write(text)
    result = subprocess.run([tkc, "-fdiagnostics=json", path, *words], capture_output=True)
    for line in result.stderr.split(b"\n")[:-1]:
        d = json.loads(line.decode("utf-8"))
        print("==", result.returncode, d["severity"], d["id"], d.get("line"), d.get("column"), d.get("end_column"), d["text"])
        for note in d["notes"]:
            print("note", note["severity"], note["id"], note.get("line"), note["text"])
        for fix in d["fixits"] + [f for n in d["notes"] for f in n["fixits"]]:
            print("fixit", os.path.basename(fix["file"]), fix["line"], fix["column"], fix["end_line"], fix["end_column"], fix["text"])
        for setting in d["settings"]:
            print("setting", setting["option"], setting["value"])
        print("flags", d.get("flags"))
        print("rendered", ascii(d["rendered"]))


HEAD = b"import triton, triton.language as tl\n@triton.jit\n"
# CHECK: == 1 error unknown-attribute 4 12 16 module 'triton.language' has no 'laod'
# CHECK-NEXT: note note unknown-attribute 4 did you mean 'load'?
# CHECK-NEXT: fixit a.tk 4 12 4 16 load
# CHECK-NEXT: flags None
# CHECK-NEXT: rendered {{.*}}a.tk:4:12: error: module 'triton.language' has no 'laod'\n    x = tl.laod(p)\n           ^~~~\n
run(HEAD + b'def k(p: "*fp32"):\n    x = tl.laod(p)\n')
# CHECK: == 1 error missing-types 3 5 8 kernel 'k_1' needs the value of 'B' and the type of 'x'
# CHECK-NEXT: setting defines B=<int>
# CHECK-NEXT: setting signature x=?
# CHECK-NEXT: flags -DB=<int> -sig "x=?"
run(HEAD + b"def k_1(x, B: tl.constexpr):\n    pass\n")
# Bytes that are no UTF-8, quotes, controls.
# CHECK: == 1 error syntax 4 9 10 byte 0xFF is not valid UTF-8
# CHECK: rendered {{.*}}    x = \ufffd"\\\ufffd\ufffd\ufffd??"\n
run(HEAD + b'def k():\n    x = \xff"\\\xed\xa0\x80\x07\x7f"\n')
# CHECK: == 2 error usage None None None there is no option '-bogus' (tkc --help lists the options)
run(b"", "-bogus")
# CHECK: == 1 error command None None None cannot write '/none/x'
run(HEAD + b"def k():\n    pass\n", "-o", "/none/x")
# CHECK: == 0 note command None None None k: 4 warps
run(HEAD + b"def k():\n    pass\n", "-v", "-o", os.devnull)
# CHECK: == 1 error fault 4
run(HEAD + b'def k(p: "*i32"):\n    tl.store(p - 1, 0)\n', "-run", "-device", "cpu", "-grid", "1", "p=zeros:i32[4]")
