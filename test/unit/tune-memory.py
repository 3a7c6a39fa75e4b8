# Whichever allocation fails while configurations are measured: the fastest is chosen and runs, and a line is written whole or not at
# all, or the call says that there is no memory: no other is taken for the fastest.
# The quick suite lets one in five fail (the last word), the long one each.
# UNSUPPORTED: asan
# RUN: %python %s %unit/tune_test %memory %t.results 5 | FileCheck %s
# RUN: %if long %{ %python %s %unit/tune_test %memory %t.results 1 | FileCheck %s %}
import os
import re
import subprocess
import sys

program, memory, results, every = sys.argv[1:]
LINE = re.compile(r"wait \| interpreter of the block IR \| x=\*i32 n=1:i32 \| LOOPS=1 \| \S+ ms\n")


def attempt(n):
    if os.path.exists(results):
        os.remove(results)
    environment = dict(os.environ, LD_PRELOAD=memory, FAKE_MEMORY_FAIL=str(n), FAKE_MEMORY_CORES="1")
    run = subprocess.run([program, results, "once"], env=environment, capture_output=True, text=True)
    return run.returncode, run.stdout, "fake memory: only" in run.stderr


chosen = refused = 0
n = 1
while True:
    code, said, is_over = attempt(n)
    if is_over:
        break
    written = open(results).read() if os.path.exists(results) else ""
    assert not written or LINE.fullmatch(written), (n, written)
    if code == 0:
        assert re.fullmatch(r"chosen 1, launched\n", said), (n, said)
        chosen += 1
    else:
        assert code == 1 and "memory" in said, (n, code, said)
        refused += 1
    n += int(every)
assert code == 0 and said == "chosen 1, launched\n", (code, said)
print("%d refused, %d did without" % (refused, chosen))
# CHECK: {{^[1-9][0-9]+}} refused, {{[0-9]+}} did without
