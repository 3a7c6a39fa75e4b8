# Kernels on disk, wherever the process dies that writes them, the disk is full or the memory ends: whoever comes next computes what is
# right, from an entry that is whole or by compiling it.
# REQUIRES: numpy
# UNSUPPORTED: asan
# RUN: %python %s %preloaded %disk %memory %t | FileCheck %s
import os
import re
import shutil
import subprocess
import sys

tkc, disk, memory, folder = sys.argv[1:]
KERNEL = """import triton
import triton.language as tl
@triton.jit
def fill(x: "*fp32", C: tl.constexpr):
    tl.store(x + tl.program_id(0), C)
"""
RIGHT, CUT, cache = "[3 3]", 700, folder + "/cache"
shutil.rmtree(folder, ignore_errors=True)
os.makedirs(folder)
with open(folder + "/fill.tk", "w") as f:
    f.write(KERNEL)


def run(**environment):
    """The exit code, what is printed and what is said."""
    command = [tkc, "-run", folder + "/fill.tk", "-device", "simt", "-grid", "2", "x=empty:f32[2]", "-print", "x", "-DC=3"]
    done = subprocess.run(command, env=dict(os.environ, TKC_CACHE_DIR=cache, **environment), capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def is_right(run):
    return run[0] == 0 and RIGHT in run[1]


def entries():
    return [n for n in os.listdir(cache) if re.fullmatch("[0-9a-f]{64}", n)] if os.path.isdir(cache) else []


def entry():
    """The bytes of the only one; None: there is none."""
    names = entries()
    assert len(names) <= 1, names
    return open(os.path.join(cache, names[0]), "rb").read() if names else None


def check_next(n):
    """Nothing half has got the name of an entry. Who comes next is right, and leaves an entry for the one after that."""
    assert entry() in (None, whole, whole[:CUT]), n
    after = run()
    assert is_right(after), (n, after)
    assert entry() == whole, n


def each(prepare, environment, only, judge):
    """Runs with each fault, from a folder that is prepared so; how many there are."""
    n = 1
    while True:
        prepare()
        done = run(**environment(n))
        if only in done[2]:
            assert is_right(done), (n, done)
            return n - 1
        judge(n, done)
        check_next(n)
        n += 1


def cold():
    shutil.rmtree(cache, ignore_errors=True)


def warm():
    cold()
    shutil.copytree(folder + "/whole", cache)


def damaged():
    warm()
    with open(os.path.join(cache, entries()[0]), "r+b") as f:
        f.truncate(CUT)


def killed(n, done):
    assert done[0] == -9, (n, done)


def full(n, done):
    """A launch does without the cache, and says nothing."""
    assert is_right(done) and done[2].startswith("tkc: ran 2 x 1") and done[2].count("\n") == 1, (n, done)


def short(n, done):
    """It says that there is no memory, or did without what it was for."""
    assert is_right(done) or (done[0] == 1 and "memory" in done[2]), (n, done)


def fails(how):
    return lambda n: {"LD_PRELOAD": disk, "FAKE_DISK": how, "FAKE_DISK_AT": str(n)}


def forgets(n):
    return {"LD_PRELOAD": memory, "FAKE_MEMORY_FAIL": str(n), "FAKE_MEMORY_CORES": "1"}


assert is_right(run())
shutil.copytree(cache, folder + "/whole")
whole = entry()
for name, prepare in (("cold", cold), ("warm", warm), ("damaged", damaged)):
    print("%s: killed at %d steps" % (name, each(prepare, fails("kill"), "fake disk: only", killed)))
    print("%s: full at %d steps" % (name, each(prepare, fails("full"), "fake disk: only", full)))
    if prepare == damaged:  # which is read as warm is, and compiled as cold
        break
    print("%s: without memory at %d steps" % (name, each(prepare, forgets, "fake memory: only", short)))
# CHECK: cold: killed at {{[1-9][0-9]*}} steps
# CHECK: cold: full at {{[1-9][0-9]*}} steps
# CHECK: cold: without memory at {{[1-9][0-9]+}} steps
# CHECK: warm: killed at {{[1-9][0-9]*}} steps
# CHECK: warm: full at {{[1-9][0-9]*}} steps
# CHECK: warm: without memory at {{[1-9][0-9]+}} steps
# CHECK: damaged: killed at {{[1-9][0-9]*}} steps
# CHECK: damaged: full at {{[1-9][0-9]*}} steps
