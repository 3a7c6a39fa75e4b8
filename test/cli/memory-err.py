# Whichever allocation fails, the command ends with exit code 1 and says why, or does without it, and nothing crashes.
# UNSUPPORTED: asan, static
# RUN: %python %s %memory tkc %S/Inputs %t.npy | FileCheck %s
import os
import re
import subprocess
import sys

memory, tkc, inputs, array = sys.argv[1:]
RUN = [tkc, "-run", "-device", "cpu", inputs + "/memory.tk", "-grid", "3"]
ROW = RUN + ["-k", "row", "n=130", "y=ones:f32[130]", "-DBLOCK=64"]


# Holding less of what was compiled takes memory first, and so do more threads: where there is none, all of it is held, by fewer threads.
MOST_WITHOUT = 12


def messages(command):
    """What is said when one allocation after the other fails, numbers as N."""
    said, without, n = set(), 0, 1
    while True:
        environment = dict(os.environ, LD_PRELOAD=memory, FAKE_MEMORY_FAIL=str(n))
        run = subprocess.run(command, env=environment, capture_output=True, text=True, input="p v\nc\n")
        if "fake memory: only" in run.stderr:
            assert n > 5, "the program's allocations are not counted"
            assert without <= MOST_WITHOUT, without
            return said
        n += 1
        if run.returncode == 0 and run.stderr.startswith("tkc: ran "):
            without += 1
            continue
        assert run.returncode == 1 and "memory" in run.stderr, (n - 1, run)
        lines = run.stderr.strip().replace(inputs + "/", "").splitlines()
        why = next((line for line in lines if "memory" in line.replace("memory.tk", "")), lines[0])
        said.add(re.sub(r"\d+", "N", why))


def show(name, command):
    print("%s:" % name, *sorted(messages(command)), sep="\n  ")


subprocess.run(ROW + ["x=ones:f32[130]", "-save", "x=" + array], check=True)
show("row", ROW + ["x=" + array])
# CHECK: row:
# CHECK-DAG: {{^}}  tkc: error: out of memory{{$}}
# CHECK-DAG: {{^}}  tkc: error: x: cannot use '{{.*}}': no memory{{$}}
# CHECK-DAG: {{^}}  tkc: error: y: no memory for N bytes{{$}}
# CHECK-DAG: {{^}}  error: out of memory{{$}}
# CHECK-DAG: {{^}}  error: out of memory: N bytes asked for{{$}}
# CHECK-DAG: {{^}}  error: no memory for N bytes{{$}}
# CHECK-DAG: {{^}}  error: no memory for the blocks of the kernel (N bytes a thread){{$}}
# CHECK-DAG: {{^}}  error: out of memory, in program (N, N, N){{$}}
# CHECK-DAG: {{^}}  memory.tk:N:N: error: out of memory, in program (N, N, N){{$}}
show("far", RUN + ["-k", "far", "n=2000000000", "x=ones:f32[1]"])
# CHECK: far:
# CHECK: {{^}}  memory.tk:N:N: error: out of memory, in program (N, N, N){{$}}
show("break", ROW + ["x=ones:f32[130]", "-break", "9"])
# CHECK: break:
# CHECK: {{^}}  error: out of memory{{$}}
show("results", RUN + ["-k", "row", "n=130", "y=empty:f32[130]", "-DBLOCK=64", "x=" + array, "-check", "x=" + array, "-print", "y"])
# CHECK: results:
# CHECK-DAG: {{^}}  tkc: error: out of memory{{$}}
# CHECK-DAG: {{^}}  tkc: error: -check: cannot use '{{.*}}': no memory
show("simt", ROW + ["x=" + array, "-device", "simt"])
# CHECK: simt:
# CHECK: {{^}}  error: {{.*}}out of memory
show("syntax", [tkc, "-fsyntax-only", inputs + "/memory.tk", "-k", "row", "-DBLOCK=64"])
# CHECK: syntax:
# CHECK-DAG: {{^}}  error: out of memory
# CHECK-DAG: {{^}}  tkc: error: out of memory{{$}}
