# Whichever allocation fails, the command ends with exit code 1 and says why, or does without it, and nothing crashes.
# UNSUPPORTED: asan
# RUN: %python %s %memory %preloaded %S/Inputs %t.npy | FileCheck %s
import os
import re
import subprocess
import sys

memory, tkc, inputs, array = sys.argv[1:]
halves = array + ".halves.npy"
RUN = [tkc, "-run", "-device", "cpu", inputs + "/memory.tk", "-grid", "3"]
ROW = RUN + ["-k", "row", "n=130", "y=ones:f32[130]", "-DBLOCK=64"]


# Holding less of what was compiled takes memory first, and so do more threads: where there is none, all of it is held, by fewer threads.
MOST_WITHOUT = 12
ONLY = re.compile(r"fake memory: only (\d+) allocations\n")


def attempt(command, n, cores):
    """The exit code and what is said, numbers as N, when the n-th allocation fails; how many there are, if they are fewer."""
    environment = dict(os.environ, LD_PRELOAD=memory, FAKE_MEMORY_FAIL=str(n), **({"FAKE_MEMORY_CORES": str(cores)} if cores else {}))
    run = subprocess.run(command, env=environment, capture_output=True, text=True, input="p v\nc\n")
    only = ONLY.search(run.stderr)
    said = ONLY.sub("", run.stderr).replace(inputs + "/", "").replace("memory.tk", "kernel.tk")
    return run.returncode, re.sub(r"\d+(\.\d+)?", "N", said).strip(), only and int(only.group(1))


def messages(command, cores, first):
    """What is said of memory when one allocation after the other fails."""
    told, without, n = set(), 0, first
    code, said, count = attempt(command, 10 ** 9, cores)
    assert count > 5, "the program's allocations are not counted"
    while True:
        failed, why, only = attempt(command, n, cores)
        if only is not None:
            assert without <= MOST_WITHOUT, without
            return told
        if (failed, why) == (code, said):
            without += 1
        else:
            lines = [line for line in why.splitlines() if "memory" in line]
            assert failed == 1 and lines, (n, failed, why)
            assert "race in shared memory" not in why and "that nothing has written" not in why, (n, why)
            told.update(lines)
        n += 1


def show(name, command, first=1):
    """By one thread: by several the allocations are not the same each time, and what the last of them are for is not seen."""
    print("%s:" % name, *sorted(messages(command, 1, first)), sep="\n  ")


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
# CHECK-DAG: {{^}}  kernel.tk:N:N: error: out of memory, in program (N, N, N){{$}}
messages(ROW + ["x=" + array], None, 1)
with open(halves, "wb") as file:  # what they are as numbers is in a table
    header = "{'descr': '<f2', 'fortran_order': False, 'shape': (130,)}".ljust(117) + "\n"
    file.write(b"\x93NUMPY\x01\x00" + bytes((len(header), 0)) + header.encode() + bytes((0, 0x3c) * 130))
show("far", RUN + ["-k", "far", "n=2000000000", "x=ones:f32[1]"])
# CHECK: far:
# CHECK: {{^}}  kernel.tk:N:N: error: out of memory, in program (N, N, N){{$}}
show("break", ROW + ["x=ones:f32[130]", "-break", "9"])
# CHECK: break:
# CHECK: {{^}}  error: out of memory{{$}}
show("results", RUN + ["-k", "row", "n=130", "y=empty:f32[130]", "-DBLOCK=64", "x=" + array, "-check", "x=" + halves, "-print", "y"])
# CHECK: results:
# CHECK-DAG: {{^}}  tkc: error: out of memory{{$}}
# CHECK-DAG: {{^}}  tkc: error: -check: cannot use '{{.*}}': no memory
show("simt", ROW + ["x=" + array, "-device", "simt"])
# CHECK: simt:
# CHECK-DAG: {{^}}  error: {{.*}}out of memory
# CHECK-DAG: {{^}}  note: no memory to look for races in shared memory
STARTED = [inputs + "/memory.tk", "-k", "started", "-arch=sm_90a"]
show("started", [tkc, "-run", "-device", "simt", "-grid", "1", "x=ones:f32[128]"] + STARTED, attempt([tkc, "-emit=ptx"] + STARTED, 10 ** 9, 1)[2])
# CHECK: started:
# CHECK-DAG: {{^}}  note: no memory for a copy
# CHECK-DAG: {{^}}  note: no memory for what is started
# CHECK-DAG: {{^}}  note: no memory for an mbarrier
# CHECK-DAG: {{^}}  note: no memory to look for races in shared memory
# CHECK-DAG: {{^}}  note: out of memory
# CHECK-DAG: {{^}}  note: the emulator says: line N: no memory for a variable of N bytes
# CHECK-DAG: {{^}}  note: the emulator says: line N: out of memory
show("syntax", [tkc, "-fsyntax-only", inputs + "/memory.tk", "-k", "row", "-DBLOCK=64"])
# CHECK: syntax:
# CHECK-DAG: {{^}}  error: out of memory
# CHECK-DAG: {{^}}  tkc: error: out of memory{{$}}
show("bench", [tkc, "-bench", "-warmup", "0.001", "-time", "0.001"] + ROW[2:] + ["x=" + array, "-sweep", "N=64", "-plot", array + ".svg", "-line", "a: -DBLOCK=64"])
# CHECK: bench:
# CHECK-DAG: {{^}}  error: out of memory: N bytes asked for
# CHECK-DAG: {{^}}  tkc: error: -plot: cannot write '{{.*}}.svg': Cannot allocate memory
# CHECK-DAG: {{^}}  tkc: error: out of memory{{$}}
# CHECK-DAG: {{^}}  tkc: error: x: cannot use '{{.*}}': no memory{{$}}
SCALE = [inputs + "/memory.tk", "-k", "row", "-DBLOCK=64", "-arch=sm_90a"]
before = attempt([tkc, "-emit=ptx"] + SCALE, 10 ** 9, 1)[2]
show("header", [tkc, "-emit=header", "-ptxas=none", "-o", array + ".h"] + SCALE, before - 20)
show("manifest", [tkc, "-emit=manifest"] + SCALE, before - 20)
# CHECK: header:
# CHECK-DAG: {{^}}  tkc: error: cannot write '{{.*}}.h': Cannot allocate memory
# CHECK-DAG: {{^}}  tkc: error: out of memory{{$}}
# CHECK: manifest:
# CHECK-DAG: {{^}}  tkc: error: out of memory{{$}}
