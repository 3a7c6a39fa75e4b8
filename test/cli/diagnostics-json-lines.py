# -fdiagnostics=json: whatever the command says on standard error, every line of it is a JSON object with the documented members.
# RUN: %python %s tkc %S/Inputs %t.dir | FileCheck %s
import json
import os
import subprocess
import sys

tkc, inputs, folder = sys.argv[1:]
os.makedirs(folder, exist_ok=True)
ADD = os.path.join(inputs, "add.tk")
RUN = ["-run", "-device", "cpu", ADD, "-grid", "1", "-DBLOCK=8"]
ARRAYS = ["n=8", "x=ones:f32[8]", "y=ones:f32[8]", "z=empty:f32[8]"]
MEMBERS = {"severity", "id", "text", "fixits", "settings", "notes", "rendered"}


def write(name, text):
    path = os.path.join(folder, name)
    with open(path, "w") as file:
        file.write(text)
    return path


def lines(*words, stdin=b""):
    """What is said; how to speak may be said anywhere on the line."""
    first = None
    for command in ([*words, "-fdiagnostics=json"], ["-fdiagnostics=json", *words]):
        run = subprocess.run([tkc, *command], capture_output=True, input=stdin)
        assert run.stderr.endswith(b"\n"), (command, run.stderr)
        said = [json.loads(line) for line in run.stderr.decode("utf-8").splitlines()]
        for d in said:
            assert MEMBERS <= d.keys() and d["text"] and d["rendered"].endswith("\n"), (command, d)
            assert isinstance(d.get("milliseconds"), float) == (d["id"] == "time"), (command, d)
        told = run.returncode, [(d["severity"], d["id"]) for d in said]
        assert first in (None, told), (first, told)
        first = told
    return run.returncode, said


def show(name, *words, **more):
    code, said = lines(*words, **more)
    print(name, code)
    for d in said:
        print(" ", d["severity"], d["id"], d["text"].replace(folder + "/", ""))


# CHECK: usage 2
# CHECK-NEXT: error usage there is no option '-bogus'
show("usage", "-bogus")
# CHECK: style 2
# CHECK-NEXT: error usage -fcolor takes auto, always or never, not 'x'
show("style", "-fcolor=x")
# CHECK: none 1
# CHECK-NEXT: error file
show("none", os.path.join(folder, "none.tk"))
# CHECK: times 0
# CHECK-NEXT: note time {{.*}} took {{[0-9.]+}} ms
# CHECK: note time total took
# CHECK-NEXT: note command with BLOCK=8
# CHECK-NEXT: note command add: 4 warps
show("times", ADD, "-DBLOCK=8", "-time-report", "-v", "-o", os.devnull)
# CHECK: run 0
# CHECK-NEXT: note time compile took {{[0-9.]+}} ms
# CHECK-NEXT: note command with BLOCK=8
# CHECK-NEXT: note command 4 warps, 3 stages
# CHECK-NEXT: note time run took {{[0-9.]+}} ms
# CHECK-NEXT: note command ran 1 x 1 x 1 programs
show("run", *RUN, *ARRAYS, "-time-report", "-v")
# CHECK: missing 1
# CHECK-NEXT: error command arguments are missing; add x=<FILE.npy or rand:f32[shape]> y=
show("missing", *RUN)
# CHECK: unknown 1
# CHECK-NEXT: error unknown-argument argument: the kernel has no parameter 'm'; it has x, y, z, n, BLOCK
show("unknown", *RUN, *ARRAYS, "m=3")
# CHECK: result 1
# CHECK-NEXT: error unknown-argument -print: the kernel has no parameter 'w'
show("result", *RUN, *ARRAYS, "-print", "w")
# CHECK: grid 1
# CHECK-NEXT: error command -grid 'm'
show("grid", *RUN, *ARRAYS, "-grid", "m")
# CHECK: fault 1
# CHECK-NEXT: error fault load outside 'x'
show("fault", *RUN, "n=8", "x=ones:f32[4]", "y=ones:f32[8]", "z=ones:f32[8]")
# CHECK: check 1
# CHECK-NEXT: note command ran
# CHECK-NEXT: error command z differs from z.npy in 8 of 8 elements
subprocess.run([tkc, *RUN, *ARRAYS, "-save", "x=" + os.path.join(folder, "z.npy")], capture_output=True, check=True)
show("check", *RUN, *ARRAYS, "-check", "z=" + os.path.join(folder, "z.npy"))
# CHECK: save 1
# CHECK-NEXT: note command ran
# CHECK-NEXT: error command cannot write '/none/z.npy'
show("save", *RUN, *ARRAYS, "-save", "z=/none/z.npy")
# CHECK: syntax 0
# CHECK-NEXT: warning unchecked
# CHECK: note command 0 kernels checked, 1 not
show("syntax", "-fsyntax-only", write("open.tk", "import triton\n@triton.jit\ndef k(x, B):\n    return\n"))
# CHECK: list 1
# CHECK-NEXT: error
show("list", "-list", write("bad.tk", "def k(:\n"))
# CHECK: batch 1
# CHECK-NEXT: error command cannot read 'none.txt': No such file or directory
show("batch", "-batch", os.path.join(folder, "none.txt"))
# CHECK: include 1
# CHECK-NEXT: error command -I /none: there is no such folder
show("include", ADD, "-I", "/none")
# Bytes that are no UTF-8, in a file's name and on standard input.
# CHECK: bytes 1
# CHECK-NEXT: error file
show("bytes", b"\xff\xfe.tk")
# CHECK: stdin 1
# CHECK-NEXT: error syntax byte 0xFF is not valid UTF-8
show("stdin", "-", stdin=b"import triton\n@triton.jit\ndef k():\n    \xff\n")
# CHECK: many 1
# CHECK-NEXT: error command arguments are missing; add p0_{{x+}}=<value> {{.*}} and {{[0-9]+}} more{{$}}
long = ["p%d_%s" % (i, "x" * 40) for i in range(300)]
show("many", "-run", "-device", "cpu", "-grid", "1", write("many.tk", "import triton\n@triton.jit\ndef k(%s):\n    return\n" % ", ".join(long)))
